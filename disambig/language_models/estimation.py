"""Estimates n-gram models from sentences: modified Kneser-Ney, or absolute discounting, interpolated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.counts.building.pruning import least_counts
from disambig.errors import UserError, nearest_first
from disambig.language_models.counting import Counted, count_ngrams, pruned
from disambig.language_models.discounts import SMOOTHINGS, discounts_of
from disambig.language_models.levels import Level
from disambig.language_models.model import LanguageModel
from disambig.language_models.sentences import Sentences
from disambig.language_models.vocabulary import START, Vocabulary

MOST = 5
Numbers = NDArray[np.float64]


def estimate(
    sentences: Sentences,
    vocabulary: Vocabulary,
    *,
    order: int = 3,
    smoothing: str = "kneser_ney",
    min_counts: Mapping[int, int] | None = None,
) -> LanguageModel:
    """Estimate a model of words that depend on the ``order - 1`` words before them.

    Parameters
    ----------
    sentences : Sentences
        The text, by the numbers of `vocabulary`.
    vocabulary : Vocabulary
        What can be predicted: these words, an unknown one, and the end of a sentence.
    order : int
        1 to 5.
    smoothing : {"kneser_ney", "absolute"}
        Modified Kneser-Ney with three discounts an order (Chen and Goodman 1998), or absolute discounting
        with one; both interpolate with the shorter context, and single words with the same probability for
        every word, as KenLM's lmplz does.
    min_counts : mapping of int to int
        For an order from 2 on, the count below which n-grams are left out, and longer ones up to the next
        order that is named; a longer n-gram never needs fewer. What was left out is backed off to.

    Raises
    ------
    UserError
        D652 (no word), D653 (order), D654 (smoothing).
    """
    if not 1 <= order <= MOST:
        raise UserError("D653", order=order, most=MOST)
    if smoothing not in SMOOTHINGS:
        raise UserError("D654", what="smoothing", name=smoothing, names=nearest_first(smoothing, SMOOTHINGS))
    if not len(sentences.ids):
        raise UserError("D652")
    if int(sentences.ids.max()) >= len(vocabulary):
        raise ValueError("a word has a number beyond the vocabulary")
    counted = count_ngrams(sentences, len(vocabulary), order)
    thresholds = _thresholds(min_counts, order)
    kept = [level.counts >= least for level, least in zip(counted, thresholds.values(), strict=True)]
    lower = np.full(len(vocabulary), 1.0 / (len(vocabulary) - 1))  # of any word but the start of a sentence
    lower[START] = 0.0
    discounts, fallbacks, probabilities, weights = [], [], [], []
    for length, level in enumerate(counted, 1):
        adjusted = _adjusted(counted, length, smoothing)
        given, intended = discounts_of(adjusted, smoothing)
        behind = lower[level.suffixes] if length > 1 else lower
        lower, weight = _interpolated(level, adjusted, given, kept[length - 1], behind)
        probabilities.append(lower)
        weights.append(weight)
        discounts.append(list(given))
        fallbacks += [] if intended else [length]
    header: dict[str, Any] = {
        "smoothing": smoothing,
        "tokens": len(sentences.ids),
        "sentences": int((np.diff(sentences.offsets) > 0).sum()),
        "min_counts": {str(n): least for n, least in thresholds.items()},
        "discounts": discounts,
        "fallbacks": fallbacks,
    }
    return LanguageModel(vocabulary, _levels(counted, kept, probabilities, weights), header)


def _thresholds(min_counts: Mapping[int, int] | None, order: int) -> dict[int, int]:
    """Return the least count of each order: none of single words, of others never less than of shorter."""
    found, least = {1: 0}, 1
    for n, asked in least_counts(min_counts, orders=order).items():
        if n > 1:
            found[n] = least = max(least, asked)
    return found


def _adjusted(counted: list[Counted], length: int, smoothing: str) -> NDArray[np.int64]:
    """Return the counts that are discounted: for Kneser-Ney, of shorter n-grams, how many words come before.

    Nothing comes before the start of a sentence: n-grams that begin with it keep their counts.
    """
    level = counted[length - 1]
    adjusted = level.counts
    if smoothing == "kneser_ney" and length < len(counted):
        before = np.bincount(counted[length].suffixes, minlength=len(level.words))
        adjusted = np.where(level.at_start, level.counts, before)
    if length == 1:
        adjusted = np.where(level.at_start, 0, adjusted)
    return adjusted


def _interpolated(
    level: Counted,
    adjusted: NDArray[np.int64],
    discounts: tuple[float, ...],
    kept: NDArray[np.bool_],
    behind: Numbers,
) -> tuple[Numbers, Numbers]:
    """Return P of each n-gram of a level, and the weight of each context's shorter one.

    Chen and Goodman 1998, eq. 25: P(w | h) = max(c(h w) - D, 0) / sum_w c(h w) + gamma(h) P(w | h'), where
    gamma(h) is all that was discounted, and what n-grams that are left out had, over the same sum.
    """
    contexts, n_contexts = level.contexts, len(level.begins) - 1
    taken = np.array([0.0, *discounts])[np.minimum(adjusted, 3)]
    taken = np.where(kept, np.minimum(taken, adjusted), adjusted)
    totals = np.bincount(contexts, adjusted, n_contexts)
    freed = np.bincount(contexts, taken, n_contexts)
    some = np.bincount(contexts[kept], minlength=n_contexts) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = np.where(some & (totals > 0), freed / totals, 1.0)
        own = np.where(totals[contexts] > 0, (adjusted - taken) / totals[contexts], 0.0)
    return own + weights[contexts] * behind, weights


def _levels(
    counted: list[Counted],
    kept: list[NDArray[np.bool_]],
    probabilities: list[Numbers],
    weights: list[Numbers],
) -> list[Level]:
    levels = []
    for n, (begins, words) in enumerate(pruned(counted, kept)):
        with np.errstate(divide="ignore"):  # the start of a sentence
            log_probs = np.log(probabilities[n][kept[n]]).astype(np.float32)
        back_offs = np.zeros(len(words), np.float32)
        if n + 1 < len(counted):
            with np.errstate(divide="ignore"):
                back_offs = np.log(weights[n + 1][kept[n]]).astype(np.float32)
        levels.append(Level(begins, words, log_probs, back_offs))
    return levels
