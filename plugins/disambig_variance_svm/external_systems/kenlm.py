"""KenLM language models: build and open them, score candidates, and check texts with them.

Only the words whose probability depends on the candidate are scored: its own words and those after it that
the model's order reaches; all other words add the same value to every candidate (Heafield 2011). The empty
candidate is scored as the sentence without a word.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import (
    Arrays,
    Columns,
    DenseBlocks,
    Features,
    Group,
    Instances,
    TokenView,
    UserError,
    Words,
    by_group,
)
from disambig.api.arrays import minibatch
from disambig.api.evaluation import ProposedEdit, decisions_to_edits, text_stretches
from disambig.api.experiments import Progress, cached
from disambig.api.judges import JudgedScores, ScoreBatch
from disambig.api.text import hash_words, view_of_texts

from ..learners.baselines import SumLM
from ..plain_text import EVERY_NTH, PACK_COUNTED, PACK_DOMAINS, find_files, pack_paragraphs


def one_attribute(
    name: str,
    values: NDArray[np.float64],
    n_hits: NDArray[np.int32],
    n_queries: int,
    observed: NDArray[np.int32],
) -> Features:
    """Return one attribute as features.

    `name` is that of the feature group and of its only column, which all candidates share. `values` and
    `n_hits`, the number of the `n_queries` look-ups that succeeded, have the shape ``(n, K)``.
    """
    n, k = values.shape
    columns = Columns.of_group(name, 1, names=[name])
    costs = (np.arange(k) != observed[:, None]).astype(np.float32)
    batch = DenseBlocks(values[:, :, None].astype(np.float32), np.zeros((k, 1), np.int64), columns, costs)
    return Features(batch, n_hits.ravel().astype(np.int32), np.full(n * k, n_queries, np.int32))


NAME = "kenlm"
"""Feature group of the attribute."""


class KenLM:
    """Extractor of one attribute: log10 of the probability according to a KenLM model.

    Parameters
    ----------
    path : str or path
        A KenLM model: an ARPA file, or a binary file made from one by ``build_binary``.
    """

    describes: ClassVar[str] = "group"

    def __init__(self, *, path: str | Path) -> None:
        self.path = path
        self._candidates: tuple[str, ...] = ()
        self._last: tuple[TokenView | None, list[str]] = (None, [])

    @cached_property
    def model(self) -> Any:
        """The language model, opened on first use.

        Raises D740 if KenLM is not installed; D741 if it cannot read the file.
        """
        try:
            import kenlm  # type: ignore[import-not-found, unused-ignore]
        except ImportError as error:
            raise UserError("D740") from error
        config = kenlm.Config()
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE
        try:
            return kenlm.Model(str(self.path), config)
        except (OSError, RuntimeError) as error:
            problem = str(error).splitlines()[0] if str(error) else "cannot be read"
            raise UserError("D741", path=self.path, problem=problem) from error

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> KenLM:
        """Return an extractor that stores the spelling of all candidates.

        A view may contain the hashes of candidates that its texts do not contain (see `words`).
        """
        fitted = KenLM(path=self.path)
        words = {word for group in groups for candidate in group.candidates for word in candidate.split()}
        fitted._candidates = tuple(sorted(words))
        return fitted

    def state(self) -> Arrays:
        """Return the words of the candidates; the model file is referenced, not copied."""
        return {"candidates": np.frombuffer("\n".join(self._candidates).encode(), np.uint8)}

    def from_state(self, arrays: Arrays) -> KenLM:
        """Return an extractor with the candidates in `arrays`."""
        fitted = KenLM(path=self.path)
        fitted._candidates = tuple(arrays["candidates"].tobytes().decode().split())
        return fitted

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return log10 of the probability of the sentence with each candidate, up to a shared constant.

        Raises D740, D741 (see `model`); D742 if `view` has another tokenisation.
        """
        if view.tokenisation != Words.name:
            raise UserError("D742", asked=view.tokenisation, words=Words.name)
        words = self.words(view)
        candidates = [candidate.split() for candidate in group.candidates]
        in_model = [int(all(word in self.model for word in candidate)) for candidate in candidates]
        values = np.array([list(row) for row in self._scores(view, words, instances, candidates)], np.float64)
        n, k = len(instances), len(candidates)
        n_hits = np.broadcast_to(np.array(in_model, np.int32), (n, k))
        return one_attribute(NAME, values.reshape(n, k), n_hits, 1, instances.observed)

    def _scores(
        self, view: TokenView, words: list[str], instances: Instances, candidates: list[list[str]]
    ) -> Iterator[Iterator[float]]:
        """Yield the log probability of each candidate and the words that follow it, for each instance.

        The model's order limits how many words before and after a candidate matter.
        """
        import kenlm

        model, reach = self.model, self.model.order - 1
        sentence = np.searchsorted(view.sentences, instances.positions, side="right")
        firsts, stops = view.sentences[sentence - 1].tolist(), view.sentences[sentence].tolist()
        here, there = kenlm.State(), kenlm.State()
        columns = firsts, stops, instances.positions.tolist(), instances.lengths.tolist()
        for first, stop, position, length in zip(*columns, strict=True):
            before = kenlm.State()
            if position - reach <= first:
                model.BeginSentenceWrite(before)
            else:
                model.NullContextWrite(before)
            for word in words[max(first + 1, position - reach) : position]:
                model.BaseScore(before, word, here)
                before, here = here, before
            after = words[position + length : min(stop, position + length + reach)]

            def score(candidate: list[str], start: Any = before, after: list[str] = after) -> float:
                nonlocal here, there
                total, state = 0.0, start
                for word in (*candidate, *after):
                    total += model.BaseScore(state, word, there)
                    state, here, there = there, there, here
                return total

            yield map(score, candidates)

    def words(self, view: TokenView) -> list[str]:
        """Return the words of a view as strings, with boundary words in KenLM's spelling.

        The hashes decide, not the texts: errors are made by replacing hashes. The last view's words are
        cached.
        """
        if self._last[0] is view:
            return self._last[1]
        hashes, first, at = np.unique(view.hashes, return_index=True, return_inverse=True)
        strings = [Words.normal_form(view.written(i)) for i in first.tolist()]
        special_words = ("<S>", "</S>", *self._candidates)
        spelled = dict(zip(hash_words(special_words).tolist(), special_words, strict=True))
        for i in np.flatnonzero(hash_words(strings) != hashes).tolist():
            strings[i] = spelled.get(int(hashes[i]), "") or _find_spelling(view, hashes[i])
        strings.append("</s>")
        at = at.ravel()
        if len(at):
            at[view.sentences[1:] - 1] = len(strings) - 1
        words: list[str] = np.array(strings, object)[at].tolist()
        self._last = (view, words)
        return words

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "_candidates": self._candidates, "_last": (None, [])}


def _find_spelling(view: TokenView, wanted: np.uint64) -> str:
    """Return the spelling of a hash from any place whose text has the word, else ``<unk>``."""
    for position in np.flatnonzero(view.hashes == wanted).tolist():
        word: str = Words.normal_form(view.written(position))
        if hash_words([word])[0] == wanted:
            return word
    return "<unk>"


@dataclass(frozen=True, slots=True)
class KenLMChecker:
    """A checker that replaces the scores of trained models by a language model.

    It decides at the same places as the models and protects the same spans. Every candidate that makes the
    sentence more probable is proposed, with the difference of the log10 probabilities as its certainty. The
    empty candidate is scored as the sentence without a word. The caller sets the thresholds.
    """

    models: tuple[Any, ...]  # the models whose tasks it decides
    kenlm: KenLM
    name: str = "KenLM"

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the models' tasks."""
        return tuple(model.task.name for model in self.models)

    def edits(self, texts: Sequence[str]) -> list[list[ProposedEdit]]:
        """Return every edit that makes a sentence more probable. Raises D740 to D742 (see `KenLM`)."""
        edits: list[list[ProposedEdit]] = []
        for stretch in text_stretches(texts):
            decisions = []
            for model in self.models:
                view = view_of_texts(stretch, model.tokenisation, protected=True)
                fitted = self.kenlm.fit(view, model.instances(view), model.task.groups)
                decisions.append(with_scores(model, fitted).decide(view).without_empty())
            edits += decisions_to_edits(decisions, stretch)
        return edits


class MoreProbable:
    """A decision rule that flags an instance if its best candidate is not the observed one or a variant."""

    def judge(self, scored: ScoreBatch, *, flags_per_1000: float | None = None) -> JudgedScores:
        """Return the best candidate of each instance, with its lead over the observed one as probability."""
        return JudgedScores.by_group(scored, self._judge_group)

    def _judge_group(self, scored: ScoreBatch) -> JudgedScores:
        n, k = len(scored.observed), len(scored.group.candidates)
        scores = np.asarray(scored.scores, np.float64).reshape(n, k)
        rows, observed = np.arange(n), np.asarray(scored.observed)
        chosen = scores.argmax(axis=1) if n else np.empty(0, np.int64)
        ordered = np.sort(scores, axis=1)
        same = np.array([[scored.group.same(i, j) for j in range(k)] for i in range(k)], bool)
        is_known = np.asarray(scored.n_hits).reshape(n, k)[rows, chosen] > 0
        return JudgedScores(
            chosen=chosen,
            margins=ordered[:, -1] - ordered[:, -2] if k > 1 else np.full(n, np.inf),
            probabilities=scores[rows, chosen] - scores[rows, observed],
            flagged=~same[observed, chosen] & is_known,
            answered=np.ones(n, bool),
        )


def with_scores(model: Any, kenlm: KenLM) -> Any:
    """Return a model that decides at the same places as `model`, but by a language model."""
    return replace(
        model,
        extractors=(kenlm,),
        baseline=SumLM(patterns=[NAME]),
        scorers=(),
        shared=None,
        judge=MoreProbable(),
    )


PROGRAMS = ("lmplz", "build_binary")
ORDER = 5
PRUNE = ("0", "0", "0", "1", "1")
"""4- and 5-grams seen once are pruned."""
_AT_ONCE = 20_000
"""Number of paragraphs that are tokenised at once."""
_LAYOUT = 1


def missing(data: Path) -> str:
    """Return what is missing to make a model, or an empty string if nothing is."""
    if find_spec("kenlm") is None:
        return "its Python module: pip install kenlm"
    programs = [name for name in PROGRAMS if shutil.which(name) is None]
    if programs:
        return f"its program{'s' * (len(programs) > 1)} {' and '.join(programs)} on the PATH"
    return next((f"{name} in the data" for name in PACK_COUNTED if not (data / name).exists()), "")


def load_or_make_kenlm(data: Path, *, progress: Progress) -> KenLM:
    """Return a 5-gram model of the text that the pack counts; it is made if it is not in the cache.

    Raises D746 if a program fails, D722 if the cache is not writable; errors of `text_lines`.
    """
    sources = find_files(data, PACK_COUNTED)

    def paragraphs() -> Iterator[str]:
        for number, domain in enumerate(PACK_DOMAINS):
            progress("making KenLM's model", number, len(PACK_DOMAINS))
            yield from pack_paragraphs(data, domain)

    details = {
        "order": ORDER,
        "prune": PRUNE,
        "tokenisation": Words.name,
        "layout": _LAYOUT,
        "every": dict(EVERY_NTH),
    }
    path = cached(
        "kenlm", ".bin", sources=sources, details=details, make=lambda path: make_kenlm(paragraphs(), path)
    )
    return KenLM(path=path)


def make_kenlm(paragraphs: Iterable[str], path: Path) -> None:
    """Make a model from paragraphs by running ``lmplz`` and ``build_binary``.

    Raises D746 if one of them fails.
    """
    with TemporaryDirectory(dir=path.parent) as folder, open(Path(folder, "log"), "w+") as log:
        arpa = Path(folder, "model.arpa")
        orders = ["-o", str(ORDER), "--prune", *PRUNE, "--discount_fallback"]
        command = ["lmplz", *orders, "-S", "30%", "-T", folder, "--arpa", str(arpa)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log, stdout=log, text=True) as counting:
            assert counting.stdin is not None
            with suppress(BrokenPipeError):  # lmplz has failed; `_check_status` reports why
                for batch in minibatch(paragraphs, _AT_ONCE):
                    counting.stdin.writelines(f"{sentence}\n" for sentence in kenlm_sentences(batch))
        _check_status("lmplz", counting.returncode, log)
        command = ["build_binary", "trie", str(arpa), str(path)]
        _check_status("build_binary", subprocess.run(command, stderr=log, stdout=log).returncode, log)


def kenlm_sentences(texts: list[str]) -> Iterator[str]:
    """Yield the sentences of texts as words of `disambig.words.v1`, without boundary words."""
    view = Words()(texts)
    words = KenLM(path="").words(view)
    for first, stop in pairwise(view.sentences.tolist()):
        yield " ".join(words[first + 1 : stop - 1])


def _check_status(program: str, status: int, log: IO[str]) -> None:
    """Raise D746 with the last line of the log if a program failed."""
    if status:
        log.seek(0)
        lines = log.read().split("\n")
        problem = next((line for line in lines[::-1] if line.strip()), "it printed nothing")
        raise UserError("D746", program=program, status=status, problem=problem.strip())
