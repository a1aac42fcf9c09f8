"""KenLM: the log probability of the sentence with each candidate in the place.

The model (Heafield 2011) is made beforehand by its tools, ``lmplz`` and ``build_binary``, from text in the
words of `disambig.words.v1`, a sentence a line. Only the words that depend on the candidate are scored: its
own and those after it that a 5-gram still reaches; the others add the same to all candidates. The candidate
of no word (``""``) is scored as the sentence without one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api import Arrays, Features, Group, Instances, TokenView, UserError, Words
from disambig.api.text import hash_words

from .attribute import one_attribute

NAME = "kenlm"
"""Feature group of the attribute."""


class KenLM:
    """Extractor of one attribute: log10 of the probability that a KenLM model gives.

    Parameters
    ----------
    path : str or path
        A model of KenLM: an ARPA file, or what its ``build_binary`` made of one.
    """

    describes: ClassVar[str] = "group"

    def __init__(self, *, path: str | Path) -> None:
        self.path = path
        self._candidates: tuple[str, ...] = ()
        self._last: tuple[TokenView | None, list[str]] = (None, [])

    @cached_property
    def model(self) -> Any:
        """The language model, opened on first use.

        Raises
        ------
        UserError
            D740 where KenLM is not installed; D741 where it cannot read the file.
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
        """Return an extractor that knows all candidates as words, also where a view's texts have others."""
        fitted = KenLM(path=self.path)
        words = {word for group in groups for candidate in group.candidates for word in candidate.split()}
        fitted._candidates = tuple(sorted(words))
        return fitted

    def state(self) -> Arrays:
        """Return the words of the candidates; the model is referred to, not copied."""
        return {"candidates": np.frombuffer("\n".join(self._candidates).encode(), np.uint8)}

    def from_state(self, arrays: Arrays) -> KenLM:
        """Return an extractor that knows the candidates of `arrays`."""
        fitted = KenLM(path=self.path)
        fitted._candidates = tuple(arrays["candidates"].tobytes().decode().split())
        return fitted

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return log10 of the probability of the sentence with each candidate, less what all share.

        Raises
        ------
        UserError
            D740, D741 (see `model`); D742 where `view` is of another tokenisation.
        """
        if view.tokenisation != Words.name:
            raise UserError("D742", asked=view.tokenisation, words=Words.name)
        words = self.words(view)
        candidates = [candidate.split() for candidate in group.candidates]
        known = [int(all(word in self.model for word in candidate)) for candidate in candidates]
        values = np.array([list(row) for row in self._scores(view, words, instances, candidates)], np.float64)
        n, k = len(instances), len(candidates)
        found = np.broadcast_to(np.array(known, np.int32), (n, k))
        return one_attribute(NAME, values.reshape(n, k), found, 1, instances.observed)

    def _scores(
        self, view: TokenView, words: list[str], instances: Instances, candidates: list[list[str]]
    ) -> Iterator[Iterator[float]]:
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
            behind = words[position + length : min(stop, position + length + reach)]

            def score(candidate: list[str], start: Any = before, behind: list[str] = behind) -> float:
                nonlocal here, there
                total, state = 0.0, start
                for word in (*candidate, *behind):
                    total += model.BaseScore(state, word, there)
                    state, here, there = there, there, here
                return total

            yield map(score, candidates)

    def words(self, view: TokenView) -> list[str]:
        """Return the words of a view as strings, boundary words as KenLM writes them; kept for one view.

        They follow the hashes: a word that was replaced there is not the one in the text.
        """
        if self._last[0] is view:
            return self._last[1]
        hashes, first, at = np.unique(view.hashes, return_index=True, return_inverse=True)
        strings = [_written(view, i) for i in first.tolist()]
        known = ("<S>", "</S>", *self._candidates)
        spelled = dict(zip(hash_words(known).tolist(), known, strict=True))
        for i in np.flatnonzero(hash_words(strings) != hashes).tolist():
            strings[i] = spelled.get(int(hashes[i]), "") or _elsewhere(view, hashes[i])
        strings.append("</s>")
        at = at.ravel()
        if len(at):
            at[view.sentences[1:] - 1] = len(strings) - 1
        found: list[str] = np.array(strings, object)[at].tolist()
        self._last = (view, found)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "_candidates": self._candidates, "_last": (None, [])}


def _written(view: TokenView, position: int) -> str:
    text = view.texts[int(view.document_of(np.array([position]))[0])]
    word: str = Words.normal_form(text[view.starts[position] : view.ends[position]])
    return word


def _elsewhere(view: TokenView, wanted: np.uint64) -> str:
    """Return the word of a hash from a place where the text still has it; an unknown word if none has."""
    for position in np.flatnonzero(view.hashes == wanted).tolist():
        word = _written(view, position)
        if hash_words([word])[0] == wanted:
            return word
    return "<unk>"
