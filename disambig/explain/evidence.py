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
    starts, ends = instances.spans(view)
    rows = np.flatnonzero((starts == start) & (ends == end))
    if not len(rows):
        return []
    index, own = int(rows[0]), instances.own
    if own is None:
        names = model.task.groups[instances.groups[index]].candidates
    else:
        names = own.instance_candidates(index)
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
    pairs = []
    for ngram in counted_ngrams(reasons, written):
        proposal = proposals.get(ngram.attribute)
        if proposal is not None and (ngram.count or proposal.count):
            counts = ngram.count or 0, proposal.count or 0
            pairs.append(NgramPair(ngram.evidence, counts[0], proposal.evidence, counts[1], ngram.least))
    return pairs


def strongest(pairs: Sequence[NgramPair], most: int) -> list[NgramPair]:
    """Return at most `most` n-gram pairs that favour the proposal, the strongest first.

    N-grams that cross a sentence boundary are left out, since their boundary symbols mean nothing to a
    reader.
    """
    supporting = [pair for pair in pairs if pair.proposed_count > pair.written_count and _in_sentence(pair)]
    return sorted(supporting, key=lambda pair: -pair.log_ratio)[:most]


def _in_sentence(pair: NgramPair) -> bool:
    return not {SENTENCE_START, SENTENCE_END} & {*pair.written.split(), *pair.proposed.split()}


def ngram_sentence(pairs: Sequence[NgramPair]) -> str:
    """Return a sentence on the n-grams that most favour the proposal; "" if there are none."""
    pair = next(iter(strongest(pairs, 1)), None)
    if pair is None:
        return ""
    if pair.written_count:
        seen = f"only {pair.written_count:,} times" if pair.written_count > 1 else "only once"
    elif pair.least == 1:
        seen = "never"
    else:  # rare n-grams are not in the table
        seen = f"fewer than {pair.least} times" if pair.least else "is not stored"
    proposed = f'"{pair.proposed}" was seen {pair.proposed_count:,} times in the counted text'
    return f'{proposed}, "{pair.written}" {seen}.'


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
    """The evidence behind a flag."""

    candidates: tuple[LikelyCandidate, ...] = ()  # the candidates, the most probable first
    counts: tuple[NgramCount, ...] = ()  # counts of n-grams with the written word and with the proposed one


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
    matching = [row for row in names if proposed.lower().strip() in names[row]]
    if not matching:
        return FlagEvidence()
    row = matching[0]
    first, stop = decisions.offsets[row : row + 2].tolist()
    all_probabilities = model.candidate_probabilities(decisions)
    candidates: list[LikelyCandidate] = []
    observed = int(decisions.observed[row])
    if all_probabilities is not None:
        probabilities = np.array(all_probabilities[first:stop], np.float64)
        probabilities[[observed] if observed >= 0 else []] = 0.0
        probabilities *= probability / (probabilities.sum() or 1.0)
        order = [i for i in np.argsort(-probabilities, kind="stable").tolist() if i != observed]
        candidates = [
            LikelyCandidate(names[row][i], round(float(probabilities[i]), 4)) for i in order[:MOST_CANDIDATES]
        ]
    words = [*([names[row][observed]] if observed >= 0 else []), proposed.lower().strip()]
    return FlagEvidence(tuple(candidates), tuple(_ngram_counts(model, view, row, words)))


def _ngram_counts(model: Model, view: TokenView, row: int, words: list[str]) -> list[NgramCount]:
    reasons = explain_decision(model, view, row) or []
    rows: list[NgramCount] = []
    for word in dict.fromkeys(words):
        counts = {ngram.evidence: ngram.count or 0 for ngram in counted_ngrams(reasons, word)}
        order = sorted(counts, key=lambda ngram: (counts[ngram] == 0, len(ngram.split()), ngram))
        rows += [NgramCount(word, ngram, counts[ngram]) for ngram in order[:MOST_COUNTS]]
    return rows
