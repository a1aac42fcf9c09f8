"""What stands behind one flag: other words of the place with their probabilities, n-grams with counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disambig.explaining.ngrams import counted
from disambig.explaining.reasons import explain, with_names
from disambig.model.model import Model
from disambig.text.documents import view_of_texts
from disambig.text.view import TokenView

MOST_CANDIDATES = 5
MOST_COUNTS = 6
"""Of each word: the shortest n-grams and those that were seen come first."""


@dataclass(frozen=True, slots=True)
class Likely:
    """A candidate other than what is written, and how probable that it belongs there; "" for no word."""

    word: str
    probability: float


@dataclass(frozen=True, slots=True)
class Counted:
    """An n-gram with a candidate in its place, and how often it was seen in the counted text."""

    word: str
    ngram: str
    count: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What stands behind a flag.

    Attributes
    ----------
    candidates : tuple of Likely
        The most probable first.
    counts : tuple of Counted
        Of the word that was written and of the one proposed.
    """

    candidates: tuple[Likely, ...] = ()
    counts: tuple[Counted, ...] = ()


def evidence_of(
    model: Model, text: str, start: int, end: int, proposed: str, probability: float = 1.0
) -> Evidence:
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
    names = {int(row): decisions.candidates_of(int(row)) for row in rows}
    fits = [row for row in names if proposed.lower().strip() in names[row]]
    if not fits:
        return Evidence()
    row = fits[0]
    first, stop = decisions.offsets[row : row + 2].tolist()
    shares = model.candidate_probabilities(decisions)
    candidates: list[Likely] = []
    observed = int(decisions.observed[row])
    if shares is not None:
        own = np.array(shares[first:stop], np.float64)
        own[[observed] if observed >= 0 else []] = 0.0
        own *= probability / (own.sum() or 1.0)
        order = [i for i in np.argsort(-own, kind="stable").tolist() if i != observed]
        candidates = [Likely(names[row][i], round(float(own[i]), 4)) for i in order[:MOST_CANDIDATES]]
    words = [*([names[row][observed]] if observed >= 0 else []), proposed.lower().strip()]
    return Evidence(tuple(candidates), tuple(_counted(model, view, row, words)))


def _counted(model: Model, view: TokenView, row: int, words: list[str]) -> list[Counted]:
    reasons = explain(model, view, row) or []
    found: list[Counted] = []
    for word in dict.fromkeys(words):
        own = {each.evidence: each.count or 0 for each in counted(reasons, word)}
        order = sorted(own, key=lambda ngram: (own[ngram] == 0, len(ngram.split()), ngram))
        found += [Counted(word, ngram, own[ngram]) for ngram in order[:MOST_COUNTS]]
    return found
