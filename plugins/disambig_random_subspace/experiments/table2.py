"""``sogaard2012.table2``: part-of-speech tagging of web text with training on news, and other taggers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Scorer, UserError
from disambig.api.arrays import offsets_from_sizes
from disambig.api.decoding import ChainScorer
from disambig.api.experiments import EWT, EWT_GENRES, Claim, ExperimentResult, Progress, ResultRow
from disambig.api.features import TokenContext, WordClasses
from disambig.api.text import SpacyTokens

from ..learners.random_subspaces import RandomSubspaces
from ..tagger.structured_perceptron import StructuredPerceptron
from ..tagger.task import distinct_tags, make_batch, word_positions
from ..tagger.training import PLAIN, learn_word_classes
from .tag_data import CONLL2000, PENN, Sentence, conll2000, ewt, penn_sample
from .tagger_baselines import (
    CRF,
    SPACY,
    Tagger,
    TaggerRun,
    baseline_taggers,
    cpu_seconds,
    run_tagger,
    train_baselines,
)

DIFFERENT = re.compile(r"(?i:to|both|either|neither)|[-\u2010-\u2015]+|\.{2,}|\u2026|[;/#]")
"""Words with different tags in the treebanks, by counts of both (Penn, then EWT).

``to``: always TO; IN before a noun. ``both, either, neither``: DT; CC before what they join. Dashes: ":";
any of HYPH, ",", ":", NFP and SYM. Dots and ";": ":"; "," or ".". "/": a part of its word; any of ",",
SYM and HYPH. "#": its own tag; NN. Quotes and brackets agree once they are read as they were written.
"""
FLIPS, _CHUNK = 10_000, 500
Hits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class KnownWords:
    """Contents of the training sentences: words as written, and tags."""

    words: frozenset[str]
    tags: frozenset[str]

    @staticmethod
    def from_sentences(train: Sequence[Sentence]) -> KnownWords:
        """Return the words and tags of some sentences."""
        return KnownWords(
            frozenset(word for words, _ in train for word in words),
            frozenset(tag for _, tags in train for tag in tags),
        )

    def alike(self, word: str, tag: str) -> bool:
        """Return True if a token is annotated as in the training sentences, by this module's rule."""
        return tag in self.tags and not DIFFERENT.fullmatch(word)


@dataclass(frozen=True, slots=True, eq=False)
class GoldTokens:
    """The tokens of a text, in order."""

    tags: list[str]
    sentence: NDArray[np.int64]  # sentence number of each token
    # whether the token is annotated alike, and whether its word is not in any training sentence
    alike: Hits
    unknown: Hits

    @staticmethod
    def from_sentences(sentences: Sequence[Sentence], known_words: KnownWords) -> GoldTokens:
        """Return the tokens of tagged sentences."""
        tokens = [pair for words, tags in sentences for pair in zip(words, tags, strict=True)]
        lengths = [len(words) for words, _ in sentences]
        return GoldTokens(
            [tag for _, tag in tokens],
            np.repeat(np.arange(len(lengths)), lengths),
            np.array([known_words.alike(word, tag) for word, tag in tokens], bool),
            np.array([word not in known_words.words for word, _ in tokens], bool),
        )

    def hits(self, tags: Sequence[Sequence[str]]) -> Hits:
        """Return for each token whether a tagger's tag is right.

        Raises `ValueError` if the number of tags differs from the number of tokens.
        """
        answered = [tag for sentence in tags for tag in sentence]
        return np.array([mine == gold for mine, gold in zip(answered, self.tags, strict=True)], bool)

    def accuracies(self, hits: Hits) -> dict[str, Any]:
        """Return accuracies in %, None for a set without tokens, and the numbers of tokens."""
        parts = {
            "all": np.ones(len(hits), bool),
            "alike": self.alike,
            "known words": ~self.unknown,
            "unknown words": self.unknown,
            "unknown words, alike": self.unknown & self.alike,
        }
        accuracy = {
            name: 100 * float(hits[part].mean()) if part.any() else None for name, part in parts.items()
        }
        return {**accuracy, "tokens": {name: int(part.sum()) for name, part in parts.items()}}


def join_texts(golds: Sequence[GoldTokens]) -> GoldTokens:
    """Return the concatenation of several texts."""
    starts = offsets_from_sizes(int(gold.sentence[-1]) + 1 if len(gold.sentence) else 0 for gold in golds)
    return GoldTokens(
        [tag for gold in golds for tag in gold.tags],
        np.concatenate([gold.sentence + start for gold, start in zip(golds, starts[:-1], strict=True)]),
        np.concatenate([gold.alike for gold in golds]),
        np.concatenate([gold.unknown for gold in golds]),
    )


def compare_hits(gold: GoldTokens, first: Hits, second: Hits, *, alike: bool = False) -> tuple[float, float]:
    """Return the difference of two systems in points, and the p-value of so large a difference.

    The test is approximate randomisation (Yeh 2000), two-sided: the systems' answers to whole sentences are
    exchanged `FLIPS` times, since tokens of one sentence are not independent.
    """
    counted = gold.alike if alike else np.ones(len(first), bool)
    if not counted.any():
        return 0.0, 1.0
    gained = (first.astype(np.int64) - second) * counted
    by_sentence = np.bincount(gold.sentence, gained)
    moved = by_sentence[by_sentence != 0]
    total = abs(moved.sum())
    rng = np.random.default_rng(0)
    as_large = 0
    for _ in range(0, FLIPS, _CHUNK):
        signs = 2 * rng.integers(0, 2, (_CHUNK, len(moved)), dtype=np.int8) - 1
        as_large += int((np.abs(signs @ moved) >= total).sum())
    return 100 * float(gained.sum()) / int(counted.sum()), (1 + as_large) / (1 + FLIPS)


AP, CLASSES = "AP", "word classes"
SUBSPACES, CHOSEN = f"{AP}-RLRS, K=", f"{AP}-RLRS, chosen"
IN_DOMAIN, WEB, DEV_GENRE = "Penn", "web", "email"
TESTED = tuple(genre for genre in EWT_GENRES if genre != DEV_GENRE)
"""The paper's four genres; features and settings were chosen on the fifth, as in the paper."""
SIGNIFICANCE, TIMES_AS_FAST = 0.05, 8
ALIKE = ", alike"


def compare_taggers(
    hits: Mapping[str, Mapping[str, Hits]], golds: Mapping[str, GoldTokens]
) -> dict[str, Any]:
    """Return for each AP-RLRS the difference to AP in points and its p, over all tokens and tokens alike."""
    places = [(text, alike) for alike in (False, True) for text in (*TESTED, WEB, DEV_GENRE, IN_DOMAIN)]
    comparison: dict[str, Any] = {}
    for system, by_text in hits.items():
        if system.startswith(AP) and system != AP:  # one of our systems
            comparison[system] = {}
            for text, alike in places:
                points, p = compare_hits(golds[text], by_text[text], hits[AP][text], alike=alike)
                comparison[system][f"{text}{ALIKE if alike else ''}"] = {"points": points, "p": p}
    return comparison


def claim_gains(tests_of: Mapping[str, Any]) -> Iterator[Claim]:
    """Claim that RLRS is significantly better than AP in each genre, and over all of them."""
    for system, by_text in tests_of.items():
        if system == CHOSEN or system.endswith(CLASSES):
            continue  # the paper has no such result
        for kind, suffix in (("", ""), (ALIKE, ", tokens annotated alike")):
            genres = {genre: by_text[f"{genre}{kind}"] for genre in TESTED}
            evidence = ", ".join(f"{name} {_claim_text(test)}" for name, test in genres.items())
            is_significant = all(_surely(test) for test in genres.values())
            yield Claim(
                f"{system} is better than AP in each of the four genres{suffix}", is_significant, evidence
            )
            web = by_text[f"{WEB}{kind}"]
            yield Claim(
                f"{system} is better than AP over the four genres{suffix}", _surely(web), _claim_text(web)
            )


def compare_with_baselines(
    runs: Sequence[TaggerRun], hits: Mapping[str, Mapping[str, Hits]], golds: Mapping[str, GoldTokens]
) -> Iterator[Claim]:
    """Claim that our systems are as accurate on the web as the best other tagger, and much faster.

    Our systems are AP-RLRS with the most subspaces, with tuned settings, and with word classes.
    """
    others = [run for run in runs if run.system in (SPACY, CRF) and run.tags]
    added = [run for run in runs if run.system == CHOSEN or run.system.endswith(CLASSES)]
    plain = [run for run in runs if run.system.startswith(AP) and run not in added]
    if others:
        for ours in (plain[-1], *added):
            yield from _compare_with(ours, others, hits, golds)


def _compare_with(
    ours: TaggerRun,
    others: Sequence[TaggerRun],
    hits: Mapping[str, Mapping[str, Hits]],
    golds: Mapping[str, GoldTokens],
) -> Iterator[Claim]:
    """Yield the claims that our tagger is as good as the best other one, and faster than spaCy's."""
    for alike, kind in ((False, "all tokens"), (True, "tokens annotated alike")):
        part = golds[WEB].alike if alike else np.ones(len(golds[WEB].tags), bool)
        if not part.any():
            continue
        share = {run.system: 100 * float(hits[run.system][WEB][part].mean()) for run in (ours, *others)}
        best = max((run.system for run in others), key=share.__getitem__)
        points, p = compare_hits(golds[WEB], hits[ours.system][WEB], hits[best][WEB], alike=alike)
        evidence = f"{share[ours.system]:.2f} and {share[best]:.2f}: {points:+.2f} points, p = {p:.2g}"
        claim = f"{ours.system} is as good over the four genres as the best other tagger, {best} ({kind})"
        yield Claim(claim, points >= 0, evidence)
    spacy = next((run.words_per_second for run in others if run.system == SPACY), None)
    if spacy and ours.words_per_second:
        times = ours.words_per_second / spacy
        evidence = f"{ours.words_per_second:,.0f} and {spacy:,.0f} words/s: {times:.1f} times"
        claim = f"{ours.system} tags at least {TIMES_AS_FAST} times as fast as spaCy's tagger"
        yield Claim(claim, times >= TIMES_AS_FAST, evidence)


def _surely(test: Mapping[str, float]) -> bool:
    return bool(test["points"] > 0 and test["p"] < SIGNIFICANCE)


def _claim_text(test: Mapping[str, float]) -> str:
    return f"{test['points']:+.2f} (p = {test['p']:.2g})"


PASSES, REMOVAL_RATE = 5, 0.1
CHOSEN_PASSES, CHOSEN_RATE = 8, 0.5
"""Best on e-mail among 3 to 12 passes and rates of 0.1 to 0.8, with 24 subspaces; not in the paper."""


def our_runs(
    train: Sequence[Sentence],
    tests: Mapping[str, Sequence[Sentence]],
    *,
    sizes: Sequence[int],
    progress: Progress,
    classes: WordClasses | None = None,
) -> list[TaggerRun]:
    """Return the results of AP, and of AP-RLRS with each number of subspaces.

    The largest is also run with tuned settings, and the first also with word classes.

    All numbers of subspaces are trained in one run; the time of each is its share of the largest one's time.
    """
    progress(f"training: {AP}", 0, 3)
    warm, _ = make_batch(train[:2], distinct_tags(train[:2]))
    StructuredPerceptron(passes=1).fit(warm)  # compile before the clock starts
    began = cpu_seconds()
    tags = distinct_tags(train)
    batch, extractor = make_batch(train, tags)
    prepared = cpu_seconds() - began
    base = StructuredPerceptron(passes=PASSES)
    learned = [(AP, base.fit(batch), cpu_seconds() - began)]
    progress(f"training: {AP}-RLRS", 1, 3)
    began = cpu_seconds()
    path = RandomSubspaces(base=base, removal_rate=REMOVAL_RATE).fit_sizes(batch, sizes)
    spent = cpu_seconds() - began
    for size, fitted in zip(sizes, path, strict=True):
        learned.append((f"{SUBSPACES}{size}", fitted, prepared + spent * size / max(sizes)))
    progress(f"training: {CHOSEN}", 2, 3)
    began = cpu_seconds()
    longer = StructuredPerceptron(passes=CHOSEN_PASSES)
    subspaces = RandomSubspaces(base=longer, n_subspaces=max(sizes), removal_rate=CHOSEN_RATE)
    learned.append((CHOSEN, subspaces.fit(batch), prepared + cpu_seconds() - began))
    runs = [
        run_tagger(name, make_tagger(fitted.scorer, extractor, tags), tests, training_seconds=seconds)
        for name, fitted, seconds in learned
    ]
    if classes is None:
        return runs
    progress(f"training: {AP}-RLRS, {CLASSES}", 0, 1)
    began = cpu_seconds()
    batch, extractor = make_batch(train, tags, classes=classes)
    fitted = RandomSubspaces(base=base, n_subspaces=sizes[0], removal_rate=REMOVAL_RATE).fit(batch)
    seconds = cpu_seconds() - began
    name = f"{SUBSPACES}{sizes[0]}, {CLASSES}"
    return [
        *runs,
        run_tagger(name, make_tagger(fitted.scorer, extractor, tags), tests, training_seconds=seconds),
    ]


def make_tagger(scorer: Scorer, extractor: TokenContext, tags: Sequence[str]) -> Tagger:
    """Return a function that tags sentences given as words."""
    assert isinstance(scorer, ChainScorer)
    tokens = SpacyTokens()
    names = np.array(tags, object)

    def tags_of_text(text: Sequence[list[str]]) -> list[list[str]]:
        view = tokens.of_sentences(text)
        rows, _ = extractor.rows(view, word_positions(view))
        ends = offsets_from_sizes(map(len, text))
        starts = np.unique(ends)  # a sentence without words is left out
        tags = names[scorer.decode(rows, starts)].tolist()
        return [tags[start:end] for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]

    return tags_of_text


SIZES, QUICK_SIZES = (25, 50, 100), (2, 5)
QUICK_TRAIN, QUICK_TEST, QUICK_WORDS = 400, 250, 50_000
"""Training sentences, test sentences per genre, and words of plain text per domain."""
EVERY, OF_TEST, OF_DEV = 10, 9, 4
"""Of every ten files of the Penn Treebank, the last is for testing, the fifth for early stopping of spaCy."""
PAPER = {
    AP: (85.22, 86.82, 84.92, 87.00),
    "AP-RLRS, K=25": (85.63, 87.26, 85.32, 87.54),
    "AP-RLRS, K=50": (85.69, 87.36, 85.31, 87.52),
    "AP-RLRS, K=100": (85.68, 87.26, 85.35, 87.61),
}
"""The paper's accuracies on the genres in `TESTED`."""


@dataclass(frozen=True, slots=True)
class Sogaard2012Table2:
    """AP, AP-RLRS and other taggers on genres that they were not trained on.

    Parameters
    ----------
    silver : bool
        Also train on CoNLL-2000, whose tags were assigned by another tagger.
    """

    silver: bool = False
    title: ClassVar[str] = (
        "Søgaard and Johannsen 2012, table 2: part-of-speech tagging, accuracy in % (paper / ours)"
    )
    description: ClassVar[str] = (
        "part-of-speech tagging, newspaper to web: AP, AP-RLRS, spaCy and CRFsuite by genre"
    )

    @property
    def needs(self) -> tuple[str, ...]:
        """Files that must be in the data directory."""
        return (PENN, EWT, *PLAIN, *((CONLL2000,) if self.silver else ()))

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Train each tagger on the same sentences; with `quick` on 400 of them, and for a short time."""
        progress("reading tagged text", 0, 1)
        train, dev, tests = load_sentences(data, silver=self.silver, quick=quick)
        sizes = QUICK_SIZES if quick else SIZES
        plain = [data / name for name in PLAIN]
        if quick:
            classes = learn_word_classes(
                plain, maximum=QUICK_WORDS, n_words=2_000, sizes=(64,), progress=progress
            )
        else:
            classes = learn_word_classes(plain, progress=progress)
        runs = [
            *our_runs(train, tests, sizes=sizes, progress=progress, classes=classes),
            *train_baselines(train, dev, tests, systems=baseline_taggers(quick=quick), progress=progress),
        ]
        known_words = KnownWords.from_sentences(train)
        golds = {name: GoldTokens.from_sentences(sentences, known_words) for name, sentences in tests.items()}
        golds[WEB] = join_texts([golds[genre] for genre in TESTED])
        hits = {run.system: tagger_hits(run, golds) for run in runs}
        figures = {
            system: {name: golds[name].accuracies(of_text) for name, of_text in by_text.items()}
            for system, by_text in hits.items()
        }
        tests_of = compare_taggers(hits, golds)
        return ExperimentResult(
            rows=[row for run in runs for row in table2_rows(run, figures[run.system], golds)],
            claims=[*claim_gains(tests_of), *compare_with_baselines(runs, hits, golds)],
            notes=[
                *table2_notes(train, dev, golds, self.silver),
                *(run.note for run in runs if run.note),
                tagging_speeds(runs),
            ],
            details={
                "sentences": {"train": len(train), "dev": len(dev)},
                "tags": sorted(known_words.tags),
                "tokens": tokens(golds),
                "systems": {
                    run.system: {
                        "training_seconds": _rounded(run.training_seconds, 1),
                        "words_per_second": _rounded(run.words_per_second, 0),
                        "accuracy": figures[run.system],
                    }
                    for run in runs
                },
                "over_AP": tests_of,
            },
        )


def load_sentences(
    data: Path, *, silver: bool, quick: bool
) -> tuple[list[Sentence], list[Sentence], dict[str, list[Sentence]]]:
    """Return sentences for training, for early stopping of spaCy's training, and for testing, by text.

    Raises D725 for a part without sentences; the errors of `tag_data` for a file.
    """
    files = list(penn_sample(data).values())
    train, dev, test = (
        [s for number, file in enumerate(files) if treebank_part(number) == part for s in file]
        for part in ("train", "dev", "test")
    )
    if silver:
        train += conll2000(data)
    tests = {IN_DOMAIN: test, **{genre: ewt(data, [genre]) for genre in EWT_GENRES}}
    empty = [name for name, part in {"train": train, "dev": dev, **tests}.items() if not part]
    if empty:
        raise UserError("D725", path=data, problem=f"no tagged sentence for {', '.join(empty)}")
    if quick:
        train, dev = train[:QUICK_TRAIN], dev[:QUICK_TEST]
        tests = {name: test[:QUICK_TEST] for name, test in tests.items()}
    return train, dev, tests


def treebank_part(file: int) -> str:
    """Return the purpose of a file of the Penn Treebank, given its position among the files."""
    return {OF_TEST: "test", OF_DEV: "dev"}.get(file % EVERY, "train")


def tagger_hits(run: TaggerRun, golds: Mapping[str, GoldTokens]) -> dict[str, Hits]:
    """Return for each text where a tagger is right; empty if the tagger is not installed."""
    if not run.tags:
        return {}
    hits = {name: golds[name].hits(tags) for name, tags in run.tags.items()}
    return {**hits, WEB: np.concatenate([hits[genre] for genre in TESTED])}


def table2_rows(
    run: TaggerRun, results: Mapping[str, Any], golds: Mapping[str, GoldTokens]
) -> Iterator[ResultRow]:
    """Yield the figures to show: each genre, all genres, in domain; and over subsets of tokens."""
    paper = dict(zip(TESTED, PAPER.get(run.system, ()), strict=False))
    counts = tokens(golds)
    for kind, names in (
        ("all", (*TESTED, WEB, DEV_GENRE, IN_DOMAIN)),
        ("alike", (*TESTED, WEB, DEV_GENRE, IN_DOMAIN)),
        ("unknown words", (WEB, IN_DOMAIN)),
    ):
        for name in names:
            ours = results[name][kind] if results else None
            setting = name if kind == "all" else f"{name}, {kind}"
            yield ResultRow(
                run.system, setting, paper.get(name) if kind == "all" else None, ours, counts[name][kind]
            )


def tokens(golds: Mapping[str, GoldTokens]) -> dict[str, dict[str, int]]:
    """Return the number of tokens of each kind, for each text."""
    return {name: gold.accuracies(np.zeros(len(gold.tags), bool))["tokens"] for name, gold in golds.items()}


def table2_notes(
    train: Sequence[Sentence], dev: Sequence[Sentence], golds: Mapping[str, GoldTokens], silver: bool
) -> list[str]:
    """Return notes that readers of the figures need."""
    web, more = golds[WEB], " and CoNLL-2000" if silver else ""
    return [
        f"Trained on {len(train):,} sentences of the Penn Treebank sample{more} (the paper: sections "
        f"2-21), tested on all parts of UD English EWT, which is not used for training, {len(web.tags):,} "
        "tokens of the paper's four genres, and on other files of the sample, "
        f"{len(golds[IN_DOMAIN].tags):,} tokens. {len(dev):,} further sentences decide when spaCy's "
        "training stops; the other systems do not use them.",
        f"AP and AP-RLRS make {PASSES} passes and remove {REMOVAL_RATE:.0%}, as in the paper; {CHOSEN!r} has "
        f"the most subspaces, makes {CHOSEN_PASSES} passes and removes {CHOSEN_RATE:.0%}.",
        f"{WEB!r} is the four genres together; the features of AP, the settings of {CHOSEN!r} and those "
        f"of CRFsuite were chosen on the fifth, e-mail, as in the paper. {web.unknown.mean():.1%} of the "
        f"tokens of {WEB!r} are words that do not occur in the training sentences.",
        f"'alike' leaves out what the treebanks annotate by different rules, {1 - web.alike.mean():.1%} "
        'of the web: tags that do not occur in the training sentences, "to", "both", "either", '
        '"neither", dashes, dots, ";", "/" and "#".',
        f"{CLASSES!r} (ours, not the paper's): features from classes that words have in plain English "
        "text of other sources, learned without tags (not included in its time below); the other taggers "
        "have no such text.",
        "p is from approximate randomisation over sentences, 10,000 times.",
    ]


def tagging_speeds(runs: Sequence[TaggerRun]) -> str:
    """Return training times and speeds as a sentence."""
    lines = [
        f"{run.system} {run.training_seconds:,.0f} s and {run.words_per_second:,.0f} words/s"
        for run in runs
        if run.training_seconds is not None and run.words_per_second is not None
    ]
    return f"Processor time of training, and speed on one core from words to tags: {'; '.join(lines)}."


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
