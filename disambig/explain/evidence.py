"""Counts and probabilities behind a flag."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from disambig.explain.contributions import Contribution, explain_decision, with_names
from disambig.models import Model
from disambig.text import NOTHING, SENTENCE_END, SENTENCE_START, TokenView, view_of_texts

NO_WORD = "_"
"""A place without a word, for people."""


@dataclass(frozen=True, slots=True)
class NgramPair:
    """Two n-grams of the same place.

    Attributes
    ----------
    written, proposed : str
    written_count, proposed_count : int
        How often each was seen; 0 where the table does not have it.
    least : int, optional
        How often the first must have been seen to be in the table; None where nobody says it.
    """

    written: str
    written_count: int
    proposed: str
    proposed_count: int
    least: int | None = 1

    @property
    def log_ratio(self) -> float:
        """How much they speak for what is proposed: the logarithm of the ratio of their counts."""
        return math.log((self.proposed_count + 0.5) / (self.written_count + 0.5))

    @property
    def at_most(self) -> int | None:
        """How often the first was seen, at most; None where nobody knows."""
        return self.written_count or (None if self.least is None else max(self.least - 1, 0))


def compare_ngrams(model: Model, text: str, start: int, end: int, proposed: str) -> list[NgramPair]:
    """Return the n-grams of a place that were seen, the shorter first; none where the model asks for none.

    Parameters
    ----------
    model : Model
        Which decides there.
    text : str
        Without markup, what is around the place.
    start, end : int
        The place, as offsets into `text`.
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
    """Return the n-grams of a place that were seen, of the parts of its candidates' scores.

    Parameters
    ----------
    reasons : sequence of Reason
        As `disambig.explain.contributions.explain_decision` returns them.
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


def strongest(beside: Sequence[NgramPair], most: int) -> list[NgramPair]:
    """Return those that speak for what is proposed, the strongest first, `most` at most.

    Those that reach beyond the sentence are left out: people would have to know how its ends are written.
    """
    supporting = [
        count for count in beside if count.proposed_count > count.written_count and _in_sentence(count)
    ]
    return sorted(supporting, key=lambda count: -count.log_ratio)[:most]


def _in_sentence(beside: NgramPair) -> bool:
    return not {SENTENCE_START, SENTENCE_END} & {*beside.written.split(), *beside.proposed.split()}


def ngram_sentence(beside: Sequence[NgramPair]) -> str:
    """Say which n-grams speak most for what is proposed; "" where none does."""
    first = strongest(beside, 1)
    if not first:
        return ""
    most = first[0]
    seen = f"only {most.written_count:,} times" if most.written_count > 1 else "only once"
    if not most.written_count:  # what was seen too seldom is not kept
        seen = (
            "never" if most.least == 1 else f"fewer than {most.least} times" if most.least else "was not kept"
        )
    often = f'"{most.proposed}" was seen {most.proposed_count:,} times in the counted text'
    return f'{often}, "{most.written}" {seen}.'


def counted_ngrams(reasons: Sequence[Contribution], candidate: str) -> list[Contribution]:
    """Return what was counted of a candidate, each n-gram once: of two counts of one that of the first table.

    Where no word stands between the others, `NO_WORD` is shown.
    """
    ngrams: dict[str, Contribution] = {}
    for reason in reasons:
        if reason.candidate == candidate and reason.count is not None:
            shown = " ".join(NO_WORD if word == NOTHING else word for word in reason.evidence.split(" "))
            ngrams.setdefault(shown, replace(reason, evidence=shown))
    return list(ngrams.values())


MOST_CANDIDATES = 5
MOST_COUNTS = 6
"""Of each word: the shortest n-grams and those that were seen come first."""


@dataclass(frozen=True, slots=True)
class LikelyCandidate:
    """A candidate other than what is written, and how probable that it belongs there; "" for no word."""

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
    """What stands behind a flag.

    Attributes
    ----------
    candidates : tuple of Likely
        The most probable first.
    counts : tuple of Counted
        Of the word that was written and of the one proposed.
    """

    candidates: tuple[LikelyCandidate, ...] = ()
    counts: tuple[NgramCount, ...] = ()


def flag_evidence(
    model: Model, text: str, start: int, end: int, proposed: str, probability: float = 1.0
) -> FlagEvidence:
    """Return what a model knows of a place; nothing where it decides nothing there.

    Parameters
    ----------
    text : str
        What is around the place, without markup.
    start, end : int
        The place, as offsets into `text`.
    proposed : str
        The word that is proposed, in any case.
    probability : float
        That another word should stand there than does: what the candidates share.
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
