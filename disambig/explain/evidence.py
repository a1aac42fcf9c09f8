"""The n-gram counts and probabilities behind a flag."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from disambig.explain.contributions import Contribution, explain_decision, with_names
from disambig.models import Model
from disambig.text import NOTHING, SENTENCE_END, SENTENCE_START, TokenView, view_of_texts

NO_WORD = "_"
"""Shown for a place without a word."""


@dataclass(frozen=True, slots=True)
class NgramPair:
    """Two n-grams of the same place: with the written word and with the proposed one.

    Attributes
    ----------
    written, proposed : str
    written_count, proposed_count : int
        How often each was seen; 0 if it is not in the table.
    least : int, optional
        Minimum count for the first n-gram to be in the table; None if unknown.
    """

    written: str
    written_count: int
    proposed: str
    proposed_count: int
    least: int | None = 1

    @property
    def log_ratio(self) -> float:
        """The logarithm of the ratio of their counts, positive if the counts favour the proposal."""
        # 0.5 is added so that an absent n-gram has a finite ratio
        return math.log((self.proposed_count + 0.5) / (self.written_count + 0.5))

    @property
    def at_most(self) -> int | None:
        """Upper bound of the count of the first n-gram; None if unknown."""
        return self.written_count or (None if self.least is None else max(self.least - 1, 0))


def compare_ngrams(model: Model, text: str, start: int, end: int, proposed: str) -> list[NgramPair]:
    """Return the n-grams of a place that were seen, shorter ones first; empty if the model uses no n-grams.

    Parameters
    ----------
    model : Model
        The model that decides the place.
    text : str
        The text around the place, without markup.
    start, end : int
        Offsets of the place in `text`.
    proposed : str
        A candidate of the place.
    """
    view = view_of_texts([text], model.tokenisation, protected=True)
    instances = model.instances(view)
    last = instances.positions + instances.lengths - 1
    starts = view.starts[instances.positions]
    ends = np.where(instances.lengths > 0, view.ends[last], starts)
    at = np.flatnonzero((starts == start) & (ends == end))
    if not len(at):
        return []
    index, own = int(at[0]), instances.own
    names = (
        model.task.groups[instances.groups[index]].candidates
        if own is None
        else own.instance_candidates(index)
    )
    observed = int(instances.observed[index])
    reasons = explain_decision(model, view, index)
    if reasons is None or observed < 0:
        return []
    return ngram_pairs(reasons, names[observed], proposed)


def ngram_pairs(reasons: Sequence[Contribution], written: str, proposed: str) -> list[NgramPair]:
    """Return the n-grams of a place that were seen, from the contributions to its candidates' scores.

    Parameters
    ----------
    reasons : sequence of Contribution
        As returned by `disambig.explain.contributions.explain_decision`.
    written, proposed : str
        Candidates of the place.
    """
    proposals = {ngram.attribute: ngram for ngram in counted_ngrams(reasons, proposed)}
    pairs = ((one, proposals.get(one.attribute)) for one in counted_ngrams(reasons, written))
    return [
        NgramPair(one.evidence, one.count or 0, other.evidence, other.count or 0, one.least)
        for one, other in pairs
        if other is not None and (one.count or other.count)
    ]


def strongest(pairs: Sequence[NgramPair], most: int) -> list[NgramPair]:
    """Return at most `most` n-gram pairs that favour the proposal, the strongest first.

    N-grams that cross a sentence boundary are left out, since their boundary symbols mean nothing to a
    reader.
    """
    supporting = [
        count for count in pairs if count.proposed_count > count.written_count and _in_sentence(count)
    ]
    return sorted(supporting, key=lambda count: -count.log_ratio)[:most]


def _in_sentence(pair: NgramPair) -> bool:
    return not {SENTENCE_START, SENTENCE_END} & {*pair.written.split(), *pair.proposed.split()}


def ngram_sentence(pairs: Sequence[NgramPair]) -> str:
    """Return a sentence on the n-grams that most favour the proposal; "" if there are none."""
    first = strongest(pairs, 1)
    if not first:
        return ""
    most = first[0]
    seen = f"only {most.written_count:,} times" if most.written_count > 1 else "only once"
    if not most.written_count:  # rare n-grams are not in the table
        rarely = f"fewer than {most.least} times" if most.least else "is not stored"
        seen = "never" if most.least == 1 else rarely
    often = f'"{most.proposed}" was seen {most.proposed_count:,} times in the counted text'
    return f'{often}, "{most.written}" {seen}.'


def counted_ngrams(reasons: Sequence[Contribution], candidate: str) -> list[Contribution]:
    """Return the contributions of a candidate that have counts, each n-gram once, from the first table.

    `NO_WORD` is shown in an n-gram for a place without a word.
    """
    ngrams: dict[str, Contribution] = {}
    for reason in reasons:
        if reason.candidate == candidate and reason.count is not None:
            shown = " ".join(NO_WORD if word == NOTHING else word for word in reason.evidence.split(" "))
            ngrams.setdefault(shown, replace(reason, evidence=shown))
    return list(ngrams.values())


MOST_CANDIDATES = 5
MOST_COUNTS = 6
"""Maximum number of n-grams per word: those that were seen come first, then the shortest."""


@dataclass(frozen=True, slots=True)
class LikelyCandidate:
    """A candidate other than the written word, with the probability that it is intended; "" for no word."""

    word: str
    probability: float


@dataclass(frozen=True, slots=True)
class NgramCount:
    """An n-gram with a candidate in its place, and how often it was seen in the counted text."""

    word: str
    ngram: str
    count: int


@dataclass(frozen=True, slots=True)
class FlagEvidence:
    """The evidence behind a flag.

    Attributes
    ----------
    candidates : tuple of LikelyCandidate
        The candidates, the most probable first.
    counts : tuple of NgramCount
        Counts of n-grams with the written word and with the proposed one.
    """

    candidates: tuple[LikelyCandidate, ...] = ()
    counts: tuple[NgramCount, ...] = ()


def flag_evidence(
    model: Model, text: str, start: int, end: int, proposed: str, probability: float = 1.0
) -> FlagEvidence:
    """Return the evidence of a model for a place; empty if it decides nothing there.

    Parameters
    ----------
    text : str
        The text around the place, without markup.
    start, end : int
        Offsets of the place in `text`.
    proposed : str
        The proposed word, in any letter case.
    probability : float
        Probability that the written word is wrong, which is divided among the candidates.
    """
    view = view_of_texts([text], model.tokenisation, protected=True)
    model = with_names(model, view)
    decisions = model.decide(view)
    rows = np.flatnonzero((decisions.starts == start) & (decisions.ends == end))
    names = {int(row): decisions.candidate_texts(int(row)) for row in rows}
    fits = [row for row in names if proposed.lower().strip() in names[row]]
    if not fits:
        return FlagEvidence()
    row = fits[0]
    first, stop = decisions.offsets[row : row + 2].tolist()
    shares = model.candidate_probabilities(decisions)
    candidates: list[LikelyCandidate] = []
    observed = int(decisions.observed[row])
    if shares is not None:
        own = np.array(shares[first:stop], np.float64)
        own[[observed] if observed >= 0 else []] = 0.0
        own *= probability / (own.sum() or 1.0)
        order = [i for i in np.argsort(-own, kind="stable").tolist() if i != observed]
        candidates = [
            LikelyCandidate(names[row][i], round(float(own[i]), 4)) for i in order[:MOST_CANDIDATES]
        ]
    words = [*([names[row][observed]] if observed >= 0 else []), proposed.lower().strip()]
    return FlagEvidence(tuple(candidates), tuple(_ngram_counts(model, view, row, words)))


def _ngram_counts(model: Model, view: TokenView, row: int, words: list[str]) -> list[NgramCount]:
    reasons = explain_decision(model, view, row) or []
    rows: list[NgramCount] = []
    for word in dict.fromkeys(words):
        own = {ngram.evidence: ngram.count or 0 for ngram in counted_ngrams(reasons, word)}
        order = sorted(own, key=lambda ngram: (own[ngram] == 0, len(ngram.split()), ngram))
        rows += [NgramCount(word, ngram, own[ngram]) for ngram in order[:MOST_COUNTS]]
    return rows
