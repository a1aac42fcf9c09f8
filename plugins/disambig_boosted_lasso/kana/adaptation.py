"""Adaptation of a converter to a user's text: cross-fitted lists, reranker, mixed language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, LinearScorer, Model, UserError, resolve
from disambig.api.experiments import Progress, no_progress
from disambig.api.features import transform_checked
from disambig.api.packs import saved_folder, standalone_card, writing
from disambig.api.tasks import CandidateLists, decide_lists
from disambig.api.training import save_model, train_candidates

from .characters import full_width, is_native
from .conversion import CONVERTER, RERANKER, Conversion, ConverterLocation
from .converter import Converter, converter_fingerprint, is_converter
from .decoding import LONGEST
from .segmentation import SegmentedText, segment_lines

Rows = NDArray[np.int64]
BLOCK = 20
"""Number of adjacent sentences that stay in the same fold."""


def fold_blocks(n: int, size: int = BLOCK) -> Rows:
    """Return the block of each of n sentences: adjacent sentences belong to one text and are similar."""
    return np.arange(n) // size


def cross_fit_lists(
    text: SegmentedText,
    folds: Rows,
    learn: Callable[[Rows], Converter],
    *,
    selected: NDArray[np.bool_] | None = None,
    k: int = 20,
    progress: Progress = no_progress,
) -> tuple[CandidateLists, Rows]:
    """Return the candidates of sentences, with costs, and the indices of these sentences.

    `folds`, shape ``(n_sentences,)``, has the fold of each sentence, from 0; `learn` is called with the
    sorted rows outside a fold and returns a converter trained on them. Only `selected` sentences get their
    `k` candidates, by default all.
    """
    wanted = np.ones(len(text), np.bool_) if selected is None else selected
    lists, rows = [], []
    n = int(folds.max(initial=-1)) + 1
    for fold in range(n):
        progress("converting with models of other folds", fold, n)
        fold_rows = np.flatnonzero((folds == fold) & wanted)
        if not len(fold_rows):
            continue
        sentences = text.take(fold_rows)
        converter = learn(np.flatnonzero(folds != fold))
        lists.append(converter.nbest(sentences.column(1), k, references=sentences.column(0)))
        rows.append(fold_rows)
    return CandidateLists.joined(lists), np.concatenate(rows)


_SENTENCE = re.compile("[^。！？!?]*[。！？!?]+[」』）)】〉》”’\"']*|[^。！？!?]+")
_SPACE = " \t\u3000"


def split_sentences(lines: Iterable[str]) -> Iterator[str]:
    """Yield the sentences of lines, except those without kana and kanji and very long ones.

    A closing bracket or quotation mark after the end belongs to the sentence. Half-width kana become
    full-width.
    """
    for line in lines:
        for match in _SENTENCE.finditer(full_width(line)):
            sentence = match[0].strip(_SPACE)
            if len(sentence) <= LONGEST and is_native(sentence):
                yield sentence


CONFIG: dict[str, Any] = {
    "task": {"@disambig_tasks": "boosted_lasso.KanaKanji.v1"},
    "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
    "extractors": {
        "source": {"@disambig_extractors": "disambig.SourceFeatures.v1", "rank": False},
        "words": {"@disambig_extractors": "disambig.TextNgrams.v1", "order": 2, "least": 2},
    },
    "learner": {"@disambig_learners": "boosted_lasso.BLasso.v1", "eps": 0.1},
    "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
}
MAX_EXAMPLES = 1_000_000
"""Maximum number of lists; in effect all."""


def learn_reranker(
    lists: CandidateLists, documents: Sequence[str], converter: str | Path, *, name: str
) -> Model:
    """Train a reranker for the candidates of a converter.

    The model has no features with zero weights. `lists` have costs and come from text that the converter was
    not trained on (`cross_fit_lists`); a document is not split between training and tuning. `converter` is
    the converter's folder.
    """
    provenance = {"converter": str(converter), "digest": converter_fingerprint(converter)}
    config = {**CONFIG, "task": {**CONFIG["task"], **provenance}}
    options: dict[str, Any] = {"name": name, "config": config, "max_examples": MAX_EXAMPLES}
    return drop_zero_weights(train_candidates(resolve(config), lists, documents, **options))


def drop_zero_weights(model: Model) -> Model:
    """Return a model of lists without the n-grams of zero weight; its decisions are the same."""
    (scorer,) = model.scorers
    if not isinstance(scorer, LinearScorer):
        return model
    weights, done = np.asarray(scorer.weights), 0
    extractors, kept = [], []
    view = model.tokenisation([])
    none, group = model.task.instances(view), model.task.groups[0]
    for extractor in model.extractors:
        n = len(transform_checked(extractor, view, none, group).batch.columns)
        part = weights[done : done + n]
        done += n
        chosen = np.flatnonzero(part)
        if "keys" in (state := extractor.state()) and len(chosen) < n:
            extractors.append(extractor.from_state(_select_ngrams(state, chosen)))
            part = part[chosen]
        else:
            extractors.append(extractor)
        kept.append(part)
    if done != len(weights):
        raise ValueError(f"{len(weights)} weights for {done} columns")
    return replace(model, extractors=tuple(extractors), scorers=(LinearScorer(np.concatenate(kept)),))


def mean_cost(lists: CandidateLists, model: Model | None = None) -> float:
    """Return the mean cost of the first candidates, or of a model's choices."""
    rows = lists.offsets[:-1]
    if model is not None:
        rows = rows + decide_lists(model, lists).chosen
    return float(lists.costs[rows].mean()) if len(rows) else 0.0


def _select_ngrams(state: Arrays, chosen: NDArray[np.int64]) -> Arrays:
    """Return the state of n-grams restricted to some columns; keys are recovered from the names."""
    ends = state["ends"]
    starts = np.concatenate([[0], ends[:-1]])
    letters = [state["letters"][a:b] for a, b in zip(starts[chosen], ends[chosen], strict=True)]
    return {
        "n": np.array([len(chosen)]),
        "letters": np.concatenate([np.zeros(0, np.uint8), *letters]),
        "ends": np.cumsum((ends - starts)[chosen], dtype=np.int64),
    }


MIN_SENTENCES = 20
"""Minimum number of sentences for an adaptation."""
ENOUGH = 2000
"""Minimum number of sentences to train the reranker again."""
MAX_LISTS = 40_000
MAX_TESTED = 500
FOLDS = 4
_TENTH = 10


@dataclass(frozen=True, slots=True)
class AdaptationReport:
    """Results of an adaptation."""

    # number of sentences for training, and of held-out sentences
    learned: int
    tested: int
    # character error rate on the held-out sentences (edits over characters); NaN without held-out sentences
    before: float
    after: float
    weight: float  # weight of the original language model in the mixture
    ranked: str  # the weights that rank the candidates: ``"new"``, ``"old"`` or ``"none"``

    def lines(self, name: str) -> list[str]:
        """Return lines that summarise the adaptation; `name` is that of the folder."""
        ranks = {
            "new": "candidates are reranked with weights learned from the text",
            "old": "candidates are reranked with the previous weights",
            "none": "candidates are not reranked",
        }
        lines = [
            f"{name}: learned from {self.learned:,} sentences; weight of the original language "
            f"model {self.weight:.2f}; {ranks[self.ranked]}"
        ]
        if self.tested:
            lines.append(
                f"character error rate on {self.tested:,} held-out sentences: "
                f"{100 * self.before:.2f}% before, {100 * self.after:.2f}% after"
            )
        return lines


def adapt_converter(
    sentences: Sequence[str],
    place: ConverterLocation,
    output: Path,
    *,
    weight: float | None = None,
    rerank: bool = True,
    progress: Progress = no_progress,
) -> AdaptationReport:
    """Adapt a converter to some sentences, and write it atomically into a folder.

    A tenth of the sentences, at most `MAX_TESTED`, is held out in blocks for testing.

    Raises D694 for too few sentences, D695 for an invalid weight, D670 without SudachiPy; D696 for an output
    with other contents, D309 if it cannot be written: all before the long work.

    An adaptation of the converter at `place` is replaced, and so is an adapted converter in `output`.
    `weight` is that of the original language model, by default the one that maximises the probability of a
    tenth of the sentences. With `rerank`, candidates are reranked: with new weights if there are at least
    `ENOUGH` sentences and the new weights are better than the old ones on further sentences.
    """
    check_texts(sentences, weight)
    check_output(output)
    with saved_folder(output) as draft:
        base = Conversion(Converter.load(place.converter), place.model() if rerank else None)
        text = _segment_texts(sentences, base.converter, progress)
        is_held_out = _split_held_out(text)
        learn, test = text.take(np.flatnonzero(~is_held_out)), _unseen_sentences(text, is_held_out)
        progress("mixing language models", 0, 1)
        adapted = base.converter.adapted(learn, weight=weight)
        mixed = float(getattr(adapted.model, "weight", 1.0))
        with writing(output):
            adapted.save(draft / CONVERTER, bits=8)
        adapted = Converter.load(draft / CONVERTER)
        ranked, model = _train_reranker(base, learn, mixed, draft, progress) if rerank else ("none", None)
        if model is not None:
            save_model(model, draft / RERANKER)
        progress("testing", 0, 1)
        before, after = error_rate(base, test), error_rate(Conversion(adapted, model), test)
        report = AdaptationReport(len(learn), len(test), before, after, mixed, ranked)
        use = f"disambig convert --model {output.name} lines.txt"
        card = standalone_card(adapted, output.name, use=use, training=report.lines(output.name))
        with writing(output):
            (draft / "README.md").write_text(card, encoding="utf8")
        return report


def check_texts(sentences: Sequence[str], weight: float | None) -> None:
    """Check the sentences and the weight before the long work. Raises D694, D695."""
    if weight is not None and not 0 < weight < 1:
        raise UserError("D695", value=weight)
    if len(sentences) < MIN_SENTENCES:
        raise UserError("D694", n=len(sentences), least=MIN_SENTENCES)


def check_output(output: Path) -> None:
    """Raise an error for an output that is neither an empty folder nor an adapted converter.

    Raises D696; D309 if it cannot be read.
    """
    with writing(output):
        is_free = not output.exists() or (output.is_dir() and not any(output.iterdir()))
    if not is_free and not is_converter(output / CONVERTER):
        raise UserError("D696", path=output)


def error_rate(conversion: Conversion, text: SegmentedText) -> float:
    """Return the character error rate of conversions of a text; NaN for an empty text."""
    if not len(text):
        return float("nan")
    lists = conversion.converter.nbest(text.column(1), 20, references=(written := text.column(0)))
    return mean_cost(lists, conversion.reranker) * len(text) / max(sum(map(len, written)), 1)


def _segment_texts(sentences: Sequence[str], converter: Converter, progress: Progress) -> SegmentedText:
    """Split sentences into words as the converter's settings require."""
    segmented = []
    for number, words in enumerate(segment_lines(sentences, mode=converter.settings.mode)):
        if number % 1000 == 0:
            progress("splitting into words", number, len(sentences))
        segmented.append(words)
    return SegmentedText.from_sentences(segmented)


def _split_held_out(text: SegmentedText) -> NDArray[np.bool_]:
    """Return which sentences are held out: every tenth block of adjacent sentences."""
    blocks = fold_blocks(len(text), max(1, min(20, len(text) // 50)))
    is_held_out = blocks % _TENTH == _TENTH - 1
    return is_held_out & (np.cumsum(is_held_out) <= MAX_TESTED)


def _unseen_sentences(text: SegmentedText, is_held_out: NDArray[np.bool_]) -> SegmentedText:
    """Return the held-out sentences that do not also occur in the training part."""
    written = np.array(text.column(0), object)
    return text.take(np.flatnonzero(is_held_out & ~np.isin(written, written[~is_held_out])))


def _train_reranker(
    base: Conversion, text: SegmentedText, weight: float, draft: Path, progress: Progress
) -> tuple[str, Model | None]:
    """Return which weights rank the candidates best, and the model with them."""
    models: dict[str, Model | None] = {"none": None}
    if base.reranker is not None:
        models = {"old": _replace_folder(base.reranker, draft / CONVERTER), **models}
    if len(text) < ENOUGH:
        return next(iter(models.items()))
    blocks = fold_blocks(len(text))
    selected = np.zeros(len(text), np.bool_)
    selected[np.random.default_rng(0).permutation(len(text))[:MAX_LISTS]] = True

    def learn(rows: NDArray[np.int64]) -> Converter:
        return base.converter.adapted(text.take(rows), weight=weight)

    lists, rows = cross_fit_lists(text, blocks % FOLDS, learn, selected=selected, progress=progress)
    is_judged = blocks[rows] // FOLDS % 5 == 0
    progress("learning to rank", 0, 1)
    documents = [str(block) for block in blocks[rows][~is_judged].tolist()]
    models["new"] = learn_reranker(
        lists.take(~is_judged), documents, draft / CONVERTER, name=f"adapted/{RERANKER}"
    )
    judged = lists.take(is_judged)
    costs = {name: mean_cost(judged, model) for name, model in models.items()}
    best = min(costs, key=lambda name: costs[name])
    return best, models[best]


def _replace_folder(model: Model, converter: Path) -> Model:
    """Return a model that ranks the candidates of another converter without changes."""
    provenance = {"converter": str(converter), "digest": converter_fingerprint(converter)}
    config = {**model.config, "task": {**model.config["task"], **provenance}}
    return replace(model, task=replace(model.task, **provenance), config=config)  # type: ignore[type-var]
