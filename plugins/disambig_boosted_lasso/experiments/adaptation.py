"""Shared by the conversion experiments: corpora, lists of conversions, and the ways of adaptation."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, FeatureExtractor, Group, Instances, Scorer, Words, resolve
from disambig.api.batches import join, segments
from disambig.api.experiments import Progress, cached, text_lines
from disambig.api.features import transform_checked
from disambig.api.formats import list_instances
from disambig.api.measures import Outcomes, measure_named
from disambig.api.tasks import CandidateLists

from ..kana.adaptation import cross_fit_lists
from ..kana.converter import Converter, ConverterSettings
from ..kana.lexicon import KanaLexicon, sudachi_lexicon
from ..kana.segmentation import SegmentedText, read_segmented, segment_lines, sudachi_version, write_segmented

BACKGROUND = ("livedoor", "wikinews")
SETTINGS = ConverterSettings(numbers="words")
"""Candidates are words of the lexicon only, as in the paper."""
SIZES = (800, 8_000, 72_000)
DEV_SIZE, TEST_SIZE = 1_500, 3_000
"""Maximum numbers of sentences for tuning and for testing."""
DEV_SHARE = 0.3
"""Share of the held-out documents, the first ones, for tuning; the others are for testing."""
QUICK_LINES, QUICK_DEV, QUICK_TEST = 1_500, 200, 300
"""Numbers of lines of each file, and of sentences for tuning and testing, of a quick run."""


@dataclass(frozen=True, slots=True)
class ConversionDomain:
    """A target domain of adaptation."""

    name: str
    like: str = ""  # the most similar domain of the paper; empty if there is none
    sizes: tuple[int, ...] = SIZES  # numbers of training sentences


DOMAINS = (
    ConversionDomain("dialogue"),
    ConversionDomain("wikipedia", "Encarta", SIZES[:2]),
    ConversionDomain("law"),
    ConversionDomain("novels", "Shincho"),
)


@dataclass(frozen=True, slots=True)
class DomainParts:
    """Sentences of a domain for training, tuning and testing; no document is in more than one part."""

    train: SegmentedText  # all training sentences; `sample_train` takes a part of them
    dev: SegmentedText
    test: SegmentedText

    def sample_train(self, size: int) -> SegmentedText:
        """Return a number of training sentences, spread evenly over the documents."""
        return spread_sentences(self.train, size)


def corpus_files(names: Sequence[str]) -> tuple[str, ...]:
    """Return the files of some corpora that must be in the data directory."""
    return tuple(f"japanese/{name}{part}.txt.xz" for name in names for part in ("", ".heldout"))


def read_background(data: Path, progress: Progress, *, quick: bool = False) -> SegmentedText:
    """Return the background text; with `quick` some sentences of it."""
    return SegmentedText.concat(
        [
            read_segmented_cached(data / f"japanese/{name}.txt.xz", progress, quick=quick)
            for name in BACKGROUND
        ]
    )


def read_domain(data: Path, name: str, progress: Progress, *, quick: bool = False) -> DomainParts:
    """Return the sentences of a domain; with `quick` a few."""
    held_out = read_segmented_cached(data / f"japanese/{name}.heldout.txt.xz", progress, quick=quick)
    first = int(DEV_SHARE * len(held_out))
    return DomainParts(
        read_segmented_cached(data / f"japanese/{name}.txt.xz", progress, quick=quick),
        spread_sentences(held_out[:first], QUICK_DEV if quick else DEV_SIZE),
        spread_sentences(held_out[first:], QUICK_TEST if quick else TEST_SIZE),
    )


def spread_sentences(text: SegmentedText, maximum: int) -> SegmentedText:
    """Return at most a given number of sentences, spread evenly."""
    return text if len(text) <= maximum else text.take(spread_rows(np.arange(len(text)), maximum))


def spread_rows(rows: NDArray[np.int64], maximum: int) -> NDArray[np.int64]:
    """Return at most a given number of rows, spread evenly."""
    if len(rows) <= maximum:
        return rows
    return rows[np.linspace(0, len(rows) - 1, maximum).astype(np.int64)]


def read_segmented_cached(path: Path, progress: Progress, *, quick: bool = False) -> SegmentedText:
    """Return the segmented sentences of a file with their readings; they are kept in the user's cache.

    With `quick`, only `QUICK_LINES` lines are segmented, which takes most of the time of a first run.

    Raises D670 if SudachiPy or its dictionary is not installed; the errors of `text_lines` for the file.
    """
    mode = SETTINGS.mode
    progress(f"cutting {path.name} into words", 0, 1)

    def make(unfinished: Path) -> None:
        lines = text_lines(path)
        if quick:
            every = list(lines)
            lines = (every[i] for i in spread_rows(np.arange(len(every)), QUICK_LINES).tolist())
        write_segmented(unfinished, segment_lines(lines, mode=mode))

    details: dict[str, Any] = {"mode": mode, "cut by": sudachi_version()}
    details |= {"lines": QUICK_LINES} if quick else {}
    return read_segmented(cached("segmented", ".tsv", sources=[path], details=details, make=make))


K = 20
CER = measure_named("cer")
_GROUP = Group("conversion", ())
CONTENT = ["名詞", "代名詞", "動詞", "形容詞", "形状詞", "副詞"]
"""Tags of head words: nouns, pronouns, verbs, adjectives of both kinds, adverbs."""
HEADWORDS = {"@disambig_extractors": "disambig.HeadwordBigrams.v1", "tags": CONTENT, "least": 2}
_BASE = {"@disambig_extractors": "disambig.SourceFeatures.v1", "rank": False, "features": False}
_WORDS = {"@disambig_extractors": "disambig.TextNgrams.v1", "unit": "words", "order": 2, "least": 2}


@dataclass(frozen=True, slots=True, eq=False)
class ConversionLists:
    """Sentences with their n-best lists."""

    lists: CandidateLists  # costs are character edits
    references: list[str]

    @classmethod
    def from_text(cls, converter: Converter, text: SegmentedText, k: int = K) -> ConversionLists:
        """Return the k best conversions of the readings of a text."""
        references = text.column(0)
        return cls(converter.nbest(text.column(1), k, references=references), references)

    @property
    def characters(self) -> int:
        """Number of characters in all references."""
        return sum(map(len, self.references))

    def first(self) -> list[str]:
        """Return the first candidate of each list."""
        return [self.lists.texts[i] for i in self.lists.offsets[:-1].tolist()]

    def best_texts(self, scorer: Scorer, batch: CandidateBatch) -> list[str]:
        """Return the candidates that a scorer chooses."""
        at = segments.best_rows(scorer.scores(batch), self.lists.offsets)
        return [self.lists.texts[i] for i in at.tolist()]

    def error_rate(self, texts: Sequence[str]) -> float:
        """Return the character error rate of some choices."""
        return conversion_error_rate(texts, self.references)

    def oracle(self) -> float:
        """Return the character error rate of the best candidates."""
        minimum = np.minimum.reduceat(self.lists.costs, self.lists.offsets[:-1])
        return float(minimum.sum(dtype=np.float64)) / max(self.characters, 1)


def conversion_outcomes(
    texts: Sequence[str], references: Sequence[str], *, units: Sequence[int] | None = None
) -> Outcomes:
    """Return the outcomes of conversions against their references; by default each sentence is a unit."""
    lists = CandidateLists.from_texts([[text] for text in texts])
    return Outcomes.from_lists(lists, references=references, units=units)


def conversion_error_rate(texts: Sequence[str], references: Sequence[str]) -> float:
    """Return the character error rate of conversions."""
    return CER.value(conversion_outcomes(texts, references))


@dataclass(frozen=True, slots=True, eq=False)
class ConversionFeatures:
    """Features of lists, fitted on training lists."""

    extractors: list[FeatureExtractor]
    train: CandidateBatch

    @classmethod
    def from_lists(cls, lists: CandidateLists, *, heads: bool = False) -> ConversionFeatures:
        """Return features with the base score, word unigrams and bigrams; with `heads`, also head words."""
        config = {"extractors": {"base": _BASE, "words": _WORDS, **({"heads": HEADWORDS} if heads else {})}}
        instances, view = list_instances(lists), Words()([])
        made = resolve(config)["extractors"].values()
        extractors = [extractor.fit(view, instances, [_GROUP]) for extractor in made]
        return cls(extractors, _make_batch(extractors, instances))

    def batch(self, lists: CandidateLists) -> CandidateBatch:
        """Return the features of other lists."""
        return _make_batch(self.extractors, list_instances(lists))


def _make_batch(extractors: Sequence[FeatureExtractor], instances: Instances) -> CandidateBatch:
    view = Words()([])
    return join([transform_checked(extractor, view, instances, _GROUP) for extractor in extractors]).batch


def make_learner(name: str, **settings: Any) -> Any:
    """Return a learner of this plugin by its name."""
    return resolve({"learner": {"@disambig_learners": f"boosted_lasso.{name}.v1", **settings}})["learner"]


SIZE, QUICK_SIZE = 8_000, 400


@dataclass(frozen=True, slots=True, eq=False)
class DomainLists:
    """The lists of one domain, made with the background's language model."""

    domain: str
    train: ConversionLists
    dev: ConversionLists
    test: ConversionLists


def load_domain_lists(
    data: Path, names: Sequence[str], *, quick: bool, progress: Progress
) -> Iterator[DomainLists]:
    """Yield the lists of some domains."""
    text = read_background(data, progress, quick=quick)
    progress("learning the background", 0, 1)
    converter = Converter.learn(text, settings=SETTINGS, dictionary=None if quick else sudachi_lexicon())
    for number, name in enumerate(names):
        progress("converting kana", number, len(names))
        parts = read_domain(data, name, progress, quick=quick)
        learned = parts.sample_train(QUICK_SIZE if quick else SIZE)
        yield DomainLists(
            name, *(ConversionLists.from_text(converter, part) for part in (learned, parts.dev, parts.test))
        )


BASELINE, MAP, BOOSTING, FSLR, F_BOOSTING, BLASSO = (
    "Baseline",
    "MAP",
    "Boosting",
    "FSLR",
    "F-Boosting",
    "BLasso",
)
OF_THE_PAPER = BOOSTING, FSLR, F_BOOSTING, BLASSO
PERCEPTRON, PAIRS = "averaged perceptron", "L2, pairs"
ALL_LEARNERS = f"{MAP}, {BLASSO}"
"""Lists of the adapted language model, reranked."""
LEARNERS: Mapping[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    BOOSTING: tuple(("Boosting", {"smoothing": smoothing}) for smoothing in (1e-5, 1e-4, 1e-3)),
    FSLR: (("FSLR", {}),),
    F_BOOSTING: (("FBoosting", {}),),
    BLASSO: (("BLasso", {}),),
    PERCEPTRON: (("AveragedPerceptron", {}),),
    PAIRS: (("PairwiseL2", {}),),
}
"""The settings that each system chooses among on development sentences."""
FOLDS = 5
LISTS = 8_000
"""Maximum number of training sentences with lists from adapted language models."""


@dataclass(slots=True)
class AdaptationResults:
    """Results of adaptation."""

    # the texts that each system chooses for the test sentences
    texts: dict[str, list[str]] = field(default_factory=dict)
    # details of each system as plain values: seconds, the learner's report
    details: dict[str, dict[str, Any]] = field(default_factory=dict)
    # error rate of the best candidates in the lists of each language model
    oracles: dict[str, float] = field(default_factory=dict)


def adapt_every_way(
    background: Converter,
    parts: DomainParts,
    dev: ConversionLists,
    test: ConversionLists,
    size: int,
    *,
    one_lexicon: bool = False,
) -> AdaptationResults:
    """Adapt a converter to a number of sentences of a domain, with every method.

    Parameters
    ----------
    background : Converter
        With `one_lexicon`, its lexicon has the words of the domains (`add_words`).
    dev, test : ConversionLists
        The lists of `background`.
    one_lexicon : bool
        Whether all systems choose from the same lists, as in the paper.
    """
    results = AdaptationResults({BASELINE: test.first()}, oracles={BASELINE: test.oracle()})
    train = parts.sample_train(size)
    adapted, seconds = _timed(lambda: background.adapted(train, held_out=parts.dev))
    weight = adapted.model.weight
    results.details[MAP] = {"seconds": seconds, "weight of the background": weight}
    train_lists, systems = ConversionLists.from_text(background, train), {name: name for name in LEARNERS}
    if not one_lexicon:
        own_dev, own_test = (ConversionLists.from_text(adapted, part) for part in (parts.dev, parts.test))
        results.texts[MAP], results.oracles[MAP] = own_test.first(), own_test.oracle()
        rerank_lists(train_lists, dev, test, systems, results)
        adapted_lists = cross_fitted_lists(background, train, weight)
        rerank_lists(adapted_lists, own_dev, own_test, {ALL_LEARNERS: BLASSO}, results)
        return results
    _, scores = background.nbest_and_scores(adapted, parts.test.column(1), K)
    best = segments.best_rows(scores, test.lists.offsets)
    results.texts[MAP] = [test.lists.texts[row] for row in best.tolist()]
    features = rerank_lists(train_lists, dev, test, systems, results)
    test_batch = features.batch(test.lists)
    for name in (BOOSTING, BLASSO):
        details = results.details[name]
        chosen = {setting: details[setting] for _, settings in LEARNERS[name] for setting in settings}
        learner = make_learner(LEARNERS[name][0][0], **chosen, steps=max(PAPER_STEPS))
        path = learner.path(features.train)
        scorers = {step: path.scorer(min(step, len(path))) for step in PAPER_STEPS}
        details["by steps"] = {
            str(step): {
                "CER": 100 * test.error_rate(test.best_texts(scorer, test_batch)),
                "non-zero": int(np.count_nonzero(scorer.weights)),
            }
            for step, scorer in scorers.items()
        }
    return results


PAPER_STEPS = (18_000, 20_000, 25_000)
"""Numbers of steps that the paper names: BLasso leads from 18,000 or 25,000 on, FSLR is best after 20,000."""


def add_words(dictionary: KanaLexicon | None, texts: Sequence[SegmentedText]) -> KanaLexicon:
    """Return a dictionary with the words of some texts, without their counts.

    The language model treats them as words that it has never seen.
    """
    entries = [entry for text in texts for entry in text.entries]
    words = KanaLexicon.counted(entries, [0] * len(entries))
    return words if dictionary is None else dictionary.with_more(words)


def rerank_lists(
    train: ConversionLists,
    dev: ConversionLists,
    test: ConversionLists,
    systems: Mapping[str, str],
    results: AdaptationResults,
    *,
    heads: bool = False,
) -> ConversionFeatures:
    """Train rerankers on lists, add their results, and return the features.

    `systems` maps names to entries of `LEARNERS`.
    """
    features = ConversionFeatures.from_lists(train.lists, heads=heads)
    dev_batch, test_batch = features.batch(dev.lists), features.batch(test.lists)
    for called, name in systems.items():
        tried: list[tuple[float, int, dict[str, Any], Any, float]] = []
        for registered, settings in LEARNERS[name]:
            made = make_learner(registered, **settings)
            fitted, seconds = _timed(lambda made=made: made.fit(features.train, dev=dev_batch))
            rate = dev.error_rate(dev.best_texts(fitted.scorer, dev_batch))
            tried.append((rate, len(tried), settings, fitted, seconds))
        rate, _, settings, fitted, seconds = min(tried, key=lambda row: row[:2])
        results.texts[called] = test.best_texts(fitted.scorer, test_batch)
        results.details[called] = {
            "seconds": seconds,
            "CER on development sentences": 100 * rate,
            "features": features.train.rows.shape[1],  # type: ignore[attr-defined]
            "non-zero": int(np.count_nonzero(fitted.scorer.weights)),
            **settings,
            **{name: fitted.report[name] for name in ("steps", "l1", "exp_loss") if name in fitted.report},
        }
    return features


def cross_fitted_lists(background: Converter, train: SegmentedText, weight: float) -> ConversionLists:
    """Return lists of at most `LISTS` sentences, each from a language model adapted to the other folds."""
    folds = np.arange(len(train)) % FOLDS
    selected = np.zeros(len(train), np.bool_)
    for fold in range(FOLDS):
        selected[spread_rows(np.flatnonzero(folds == fold), LISTS // FOLDS)] = True
    lists, rows = cross_fit_lists(
        train, folds, lambda others: background.adapted(train.take(others), weight=weight), selected=selected
    )
    return ConversionLists(lists, train.take(rows).column(0))


def _timed(work: Any) -> tuple[Any, float]:
    start = time.process_time()
    done = work()
    return done, round(time.process_time() - start, 2)
