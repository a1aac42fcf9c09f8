"""Adaptation of a converter to a user's text: cross-fitted lists, reranker, mixed language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, FeatureExtractor, LinearScorer, Model, UserError, resolve
from disambig.api.packs import saved_folder, writing
from disambig.api.tasks import CandidateLists, decide_lists
from disambig.api.training import save_model, train_candidates

from .characters import full_width, is_native
from .conversion import CONVERTER, RERANKER, Conversion, ConverterLocation
from .converter import Converter, converter_fingerprint, is_converter
from .decoding import LONGEST
from .segmentation import SegmentedText, segment_lines

Rows = NDArray[np.int64]
BLOCK = 20
"""Neighbouring sentences that stay together."""


def fold_blocks(n: int, size: int = BLOCK) -> Rows:
    """Return the block of each of n sentences: neighbours are of one text, and alike."""
    return np.arange(n) // size


def cross_fit_lists(
    text: SegmentedText,
    folds: Rows,
    learn: Callable[[Rows], Converter],
    *,
    asked: NDArray[np.bool_] | None = None,
    k: int = 20,
    tell: Callable[[str, int, int], Any] | None = None,
) -> tuple[CandidateLists, Rows]:
    """Return the candidates of sentences, with costs, and which sentences these are.

    Parameters
    ----------
    text : Segmented
    folds : array of int64, shape (n_sentences,)
        Part of each sentence, from 0.
    learn : callable
        Gets the sentences outside a part (their rows, rising), and returns a converter of them.
    asked : array of bool, shape (n_sentences,), optional
        Whose candidates are wanted; by default those of all.
    k : int
        Candidates of a sentence.
    tell : callable, optional
        Gets ``(stage, done, total)``.
    """
    wanted = np.ones(len(text), np.bool_) if asked is None else asked
    lists, rows = [], []
    n = int(folds.max(initial=-1)) + 1
    for fold in range(n):
        if tell is not None:
            tell("converting what others learned from", fold, n)
        within = np.flatnonzero((folds == fold) & wanted)
        if not len(within):
            continue
        some = text.take(within)
        converter = learn(np.flatnonzero(folds != fold))
        lists.append(converter.nbest(some.column(1), k, references=some.column(0)))
        rows.append(within)
    return CandidateLists.joined(lists), np.concatenate(rows)


_SENTENCE = re.compile("[^。！？!?]*[。！？!?]+[」』）)】〉》”’\"']*|[^。！？!?]+")
_SPACE = " \t\u3000"


def split_sentences(lines: Iterable[str]) -> Iterator[str]:
    """Yield the sentences of lines; those without kana and kanji, and very long ones, are left out.

    A closing bracket or quotation mark behind the end belongs to the sentence. Half-width kana become
    full-width.
    """
    for line in lines:
        for match in _SENTENCE.finditer(full_width(line)):
            sentence = match[0].strip(_SPACE)
            if len(sentence) <= LONGEST and is_native(sentence):
                yield sentence


EPS = 0.1
CONFIG: dict[str, Any] = {
    "task": {"@disambig_tasks": "boosted_lasso.KanaKanji.v1"},
    "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
    "extractors": {
        "source": {"@disambig_extractors": "disambig.SourceFeatures.v1", "rank": False},
        "words": {"@disambig_extractors": "disambig.TextNgrams.v1", "order": 2, "least": 2},
    },
    "learner": {"@disambig_learners": "boosted_lasso.BLasso.v1", "eps": EPS},
    "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
}
CONTENT = ["名詞", "代名詞", "動詞", "形容詞", "形状詞", "副詞"]
"""Tags of head words: nouns, pronouns, verbs, adjectives of both kinds, adverbs."""
HEADWORDS = {"@disambig_extractors": "disambig.HeadwordBigrams.v1", "tags": CONTENT, "least": 2}
MOST = 1_000_000
"""Lists: all there are."""


def learn_reranker(
    lists: CandidateLists,
    documents: Sequence[str],
    converter: str | Path,
    *,
    name: str,
    version: str = "0.1.0",
    eps: float = EPS,
    headwords: bool = False,
    tune: CandidateLists | None = None,
    progress: Callable[[str, int, int], Any] | None = None,
) -> Model:
    """Learn to rank the candidates of a converter again.

    Parameters
    ----------
    lists : CandidateLists
        Of text that the converter has not learned from (`cross_fit_lists`), with costs.
    documents : sequence of str
        What must not be split between learning and tuning.
    converter : path
        The converter's folder.
    eps : float
        Length of a step.
    headwords : bool
        Whether pairs of content words are features, too.
    tune : CandidateLists, optional
        Lists that say when to stop; else a fifth of the documents.

    Returns
    -------
    Model
        Without the features whose weights are zero.
    """
    config = {**CONFIG, "learner": {**CONFIG["learner"], "eps": eps}}
    config["task"] = {
        **config["task"],
        "converter": str(converter),
        "digest": converter_fingerprint(converter),
    }
    if headwords:
        config["extractors"] = {**config["extractors"], "heads": HEADWORDS}
    parts = resolve(config)
    about: dict[str, Any] = {"name": name, "version": version, "config": config, "max_examples": MOST}
    model = train_candidates(parts, lists, documents, tune=tune, progress=progress, **about)
    return drop_zero_weights(model)


def drop_zero_weights(model: Model) -> Model:
    """Return a model of lists without the n-grams whose weights are zero: it decides alike."""
    (scorer,) = model.scorers
    if not isinstance(scorer, LinearScorer):
        return model
    weights, done = np.asarray(scorer.weights), 0
    extractors, kept = [], []
    for extractor in model.extractors:
        n = _columns(extractor, model)
        own = weights[done : done + n]
        done += n
        chosen = np.flatnonzero(own)
        if "keys" in (state := extractor.state()) and len(chosen) < n:
            extractors.append(extractor.from_state(_sample_lists(state, chosen)))
            own = own[chosen]
        else:
            extractors.append(extractor)
        kept.append(own)
    if done != len(weights):
        raise ValueError(f"{len(weights)} weights for {done} columns")
    return replace(model, extractors=tuple(extractors), scorers=(LinearScorer(np.concatenate(kept)),))


def mean_cost(lists: CandidateLists, model: Model | None = None) -> float:
    """Return what the first candidates cost on average, or those that a model chooses."""
    rows = lists.offsets[:-1]
    if model is not None:
        rows = rows + decide_lists(model, lists).chosen
    return float(lists.costs[rows].mean()) if len(rows) else 0.0


def _columns(extractor: FeatureExtractor, model: Model) -> int:
    """Return how many columns an extractor makes."""
    none = model.task.instances(view := model.tokenisation([]))
    return len(extractor.transform(view, none, model.task.groups[0]).batch.columns)


def _sample_lists(state: Arrays, chosen: NDArray[np.int64]) -> Arrays:
    """Return the state of n-grams of which some columns are left: their names tell their keys."""
    ends = state["ends"]
    begins = np.concatenate([[0], ends[:-1]])
    letters = [state["letters"][a:b] for a, b in zip(begins[chosen], ends[chosen], strict=True)]
    return {
        "n": np.array([len(chosen)]),
        "letters": np.concatenate([np.zeros(0, np.uint8), *letters]),
        "ends": np.cumsum((ends - begins)[chosen], dtype=np.int64),
    }


LEAST = 20
"""Sentences below which there is nothing to adapt to."""
ENOUGH = 2000
"""Sentences from which on ranks are learned again."""
MOST_LISTS = 40_000
MOST_TESTED = 500
FOLDS = 4
_TENTH = 10
Tell = Callable[[str, int, int], object]


@dataclass(frozen=True, slots=True)
class AdaptationReport:
    """What came of adapting.

    Attributes
    ----------
    learned, tested : int
        Sentences learned from, and left aside to test on.
    before, after : float
        Share of the characters of the latter that came out wrong (edits over characters); NaN where
        none were left aside.
    weight : float
        Of the language model that was adapted, in the mixture.
    ranked : str
        By whose weights candidates are ranked again: ``"new"``, ``"old"`` or ``"none"``.
    """

    learned: int
    tested: int
    before: float
    after: float
    weight: float
    ranked: str


def adapt_converter(
    sentences: Sequence[str],
    place: ConverterLocation,
    output: Path,
    *,
    weight: float | None = None,
    rerank: bool = True,
    tell: Tell | None = None,
) -> AdaptationReport:
    """Adapt a converter to some sentences, and write it into a folder, whole or not at all.

    A tenth of the sentences, in stretches and `MOST_TESTED` at most, is left aside to test on.

    Parameters
    ----------
    sentences : sequence of str
    place : Place
        Of the converter; of one that was adapted before that adaptation is replaced.
    output : Path
        A converter that was adapted before is replaced.
    weight : float, optional
        Of the language model that is adapted; by default the one under which a tenth of the sentences
        is most probable.
    rerank : bool
        Whether candidates are ranked again: by new weights, learned where there are `ENOUGH` sentences and
        better than the old ones on some more.

    Raises
    ------
    UserError
        D694 for too few sentences, D695 for a weight that is none, D670 without SudachiPy; D696 for an
        output that holds something else, D309 where it cannot be written: all before the long work.
    """
    check_texts(sentences, weight)
    check_output(output)
    with saved_folder(output) as draft:
        return _adapt_text(sentences, place, draft, output, weight, rerank, tell or _no_progress)


def _adapt_text(
    sentences: Sequence[str],
    place: ConverterLocation,
    draft: Path,
    output: Path,
    weight: float | None,
    rerank: bool,
    tell: Tell,
) -> AdaptationReport:
    """Adapt a converter into a draft of the output."""
    base = Conversion(Converter.load(place.converter), place.model() if rerank else None)
    text = _segment_texts(sentences, base.converter, tell)
    apart = _split_held_out(text)
    learn, test = text.take(np.flatnonzero(~apart)), _unseen_share(text, apart)
    tell("mixing language models", 0, 1)
    adapted = base.converter.adapted(learn, weight=weight)
    mixed = float(getattr(adapted.model, "weight", 1.0))
    with writing(output):
        adapted.save(draft / CONVERTER, bits=8)
    adapted = Converter.load(draft / CONVERTER)
    ranked, model = _train_reranker(base, learn, mixed, draft, tell) if rerank else ("none", None)
    if model is not None:
        save_model(model, draft / RERANKER)
    tell("testing", 0, 1)
    before, after = error_rate(base, test), error_rate(Conversion(adapted, model), test)
    return AdaptationReport(len(learn), len(test), before, after, mixed, ranked)


def check_texts(sentences: Sequence[str], weight: float | None) -> None:
    """Refuse what cannot be adapted to, before the long work.

    Raises
    ------
    UserError
        D694, D695.
    """
    if weight is not None and not 0 < weight < 1:
        raise UserError("D695", value=weight)
    if len(sentences) < LEAST:
        raise UserError("D694", n=len(sentences), least=LEAST)


def check_output(output: Path) -> None:
    """Refuse to replace what is neither an empty folder nor an adapted converter.

    Raises
    ------
    UserError
        D696; D309 where it cannot be looked at.
    """
    with writing(output):
        is_free = not output.exists() or (output.is_dir() and not any(output.iterdir()))
    if not is_free and not is_converter(output / CONVERTER):
        raise UserError("D696", path=output)


def error_rate(conversion: Conversion, text: SegmentedText) -> float:
    """Return the edits that conversions of text need, over its characters; NaN for no text."""
    if not len(text):
        return float("nan")
    lists = conversion.converter.nbest(text.column(1), 20, references=(written := text.column(0)))
    return mean_cost(lists, conversion.reranker) * len(text) / max(sum(map(len, written)), 1)


def _segment_texts(sentences: Sequence[str], converter: Converter, tell: Tell) -> SegmentedText:
    segmented = []
    for number, words in enumerate(segment_lines(sentences, mode=converter.settings.mode)):
        if number % 1000 == 0:
            tell("cutting into words", number, len(sentences))
        segmented.append(words)
    return SegmentedText.from_sentences(segmented)


def _split_held_out(text: SegmentedText) -> NDArray[np.bool_]:
    """Return which sentences are left aside: each tenth stretch of neighbours."""
    blocks = fold_blocks(len(text), max(1, min(20, len(text) // 50)))
    apart = blocks % _TENTH == _TENTH - 1
    rows = np.flatnonzero(apart)
    if len(rows) > MOST_TESTED:
        apart[rows[MOST_TESTED:]] = False
    return apart


def _unseen_share(text: SegmentedText, apart: NDArray[np.bool_]) -> SegmentedText:
    """Return the sentences left aside that are not learned from as well."""
    written = text.column(0)
    known_forms = {written[row] for row in np.flatnonzero(~apart).tolist()}
    return text.take(
        np.array([r for r in np.flatnonzero(apart).tolist() if written[r] not in known_forms], int)
    )


def _train_reranker(
    base: Conversion, text: SegmentedText, weight: float, draft: Path, tell: Tell
) -> tuple[str, Model | None]:
    """Return whose weights rank the candidates best, and the model that has them."""
    models: dict[str, Model | None] = {"none": None}
    if base.reranker is not None:
        models = {"old": _replace_folder(base.reranker, draft / CONVERTER), **models}
    if len(text) < ENOUGH:
        return next(iter(models.items()))
    blocks = fold_blocks(len(text))
    asked = np.zeros(len(text), np.bool_)
    asked[np.random.default_rng(0).permutation(len(text))[:MOST_LISTS]] = True

    def learn(rows: NDArray[np.int64]) -> Converter:
        return base.converter.adapted(text.take(rows), weight=weight)

    lists, rows = cross_fit_lists(text, blocks % FOLDS, learn, asked=asked, tell=tell)
    judging = blocks[rows] // FOLDS % 5 == 0
    tell("learning to rank", 0, 1)
    documents = [str(block) for block in blocks[rows][~judging].tolist()]
    models["new"] = learn_reranker(
        lists.take(~judging), documents, draft / CONVERTER, name=f"adapted/{RERANKER}"
    )
    judged = lists.take(judging)
    costs = {name: mean_cost(judged, model) for name, model in models.items()}
    best = min(costs, key=lambda name: costs[name])
    return best, models[best]


def _replace_folder(model: Model, converter: Path) -> Model:
    """Return a model that ranks the candidates of another converter, as it is."""
    provenance = {"converter": str(converter), "digest": converter_fingerprint(converter)}
    config = {**model.config, "task": {**model.config["task"], **provenance}}
    return replace(model, task=replace(model.task, **provenance), config=config)  # type: ignore[type-var]


def _no_progress(stage: str, done: int, total: int) -> None:
    """Tell nobody."""
