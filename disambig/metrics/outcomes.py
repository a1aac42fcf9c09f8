"""Outcomes, which compare decisions with the right candidates, and the protocols of metrics."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from disambig.data import (
    CandidateLists,
    Decisions,
    offsets_from_sizes,
    row_owners,
    row_ranks,
    segments,
    take_rows,
)
from disambig.type_aliases import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The decisions of one system on n instances.

    Attributes
    ----------
    offsets : array of int64, shape (n + 1,)
        Offsets of the candidates of each instance, which has at least one.
    scores : array of float64, shape (n_candidates,)
        Higher is better; zeros if unknown.
    chosen : array of int64, shape (n,)
        Candidate, as an index among the instance's own; -1 for no answer.
    gold : array of int64, shape (n,)
        The right candidate, the first one if there are several; -1 if none is right.
    cost : array of float64, shape (n_candidates,)
        Cost of choosing a candidate, zero for all right ones.
    names : sequence of str
        Names of the candidates; a name may occur once, or once per candidate that has it.
    ids : array of int64, shape (n_candidates,)
        Index in `names` of each candidate.
    ranks : array of int64, shape (n_candidates,)
        Rank in the order of the source, from 0.
    units : array of int64, shape (n,)
        Index of the sentence or document of each instance; the bootstrap draws these units.
    references : sequence of str, optional
        The right text of each instance, which need not be a candidate.
    """

    offsets: Ints
    scores: Floats
    chosen: Ints
    gold: Ints
    cost: Floats
    names: Sequence[str]
    ids: Ints
    ranks: Ints
    units: Ints
    references: Sequence[str] | None = None

    @classmethod
    def from_group(
        cls,
        candidates: Sequence[str],
        gold: ArrayLike,
        chosen: ArrayLike,
        *,
        scores: ArrayLike | None = None,
        right: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> Outcomes:
        """Return the outcomes of instances that share their candidates.

        Parameters
        ----------
        candidates : sequence of str, length K
        gold, chosen : arrays of int, shape (n,)
        scores : array of float, shape (n, K) or (n * K,), optional
        right : array of bool, shape (n, K), optional
            All right candidates; by default only `gold`.
        units : array of int, shape (n,), optional
            By default each instance is a unit.
        """
        k, gold = len(candidates), np.asarray(gold, np.int64)
        n = len(gold)
        is_right = gold[:, None] == np.arange(k) if right is None else np.asarray(right, bool)
        return cls(
            np.arange(n + 1, dtype=np.int64) * k,
            np.zeros(n * k) if scores is None else np.asarray(scores, np.float64).reshape(n * k),
            np.asarray(chosen, np.int64),
            gold,
            1.0 - is_right.reshape(n * k),
            tuple(candidates),
            np.tile(np.arange(k), n),
            np.tile(np.arange(k), n),
            np.arange(n) if units is None else np.asarray(units, np.int64),
        )

    @classmethod
    def from_lists(
        cls,
        lists: CandidateLists,
        *,
        scores: ArrayLike | None = None,
        chosen: ArrayLike | None = None,
        references: Sequence[str] | None = None,
        units: ArrayLike | None = None,
    ) -> Outcomes:
        """Return the outcomes of lists of candidates.

        Parameters
        ----------
        lists : CandidateLists
            Lists with known costs. With `references`, costs may be unknown: then only exact matches are
            right.
        scores : array of float, shape (n_candidates,), optional
            By default the scores of the source.
        chosen : array of int, shape (n,), optional
            By default the candidates with the best score.
        references : sequence of str, optional
        units : array of int, shape (n,), optional
        """
        n = len(lists)
        scores = lists.scores if scores is None else np.asarray(scores, np.float64)
        cost = lists.costs.astype(np.float64)
        if references is not None:
            right_texts = [references[i] for i in row_owners(lists.offsets).tolist()]
            differs = np.array([a != b for a, b in zip(lists.texts, right_texts, strict=True)], np.float64)
            cost = np.where(np.isnan(cost), differs, cost)
        best = segments.argmax(-cost, lists.offsets)
        right = cost[lists.offsets[:-1] + best] == 0
        return cls(
            lists.offsets,
            scores,
            segments.argmax(scores, lists.offsets) if chosen is None else np.asarray(chosen, np.int64),
            np.where(right, best, -1),
            cost,
            lists.texts,
            np.arange(len(cost)),
            lists.ranks.astype(np.int64),
            np.arange(n) if units is None else np.asarray(units, np.int64),
            references,
        )

    @classmethod
    def from_decisions(cls, decisions: Decisions) -> Outcomes:
        """Return the outcomes of decisions in correct text; decisions without a word are left out."""
        labelled = decisions.take(np.flatnonzero(decisions.observed >= 0))
        firsts = offsets_from_sizes(len(group.candidates) for group in labelled.table)
        inside = row_ranks(labelled.offsets)
        of_row = np.repeat(labelled.groups, np.diff(labelled.offsets))
        names: Sequence[str] = tuple(name for group in labelled.table for name in group.candidates)
        ids = firsts[of_row] + inside
        if labelled.lists is not None:
            names, ids = labelled.lists.texts, np.arange(len(inside))
        return cls(
            labelled.offsets,
            labelled.scores.astype(np.float64),
            labelled.chosen.astype(np.int64),
            labelled.observed.astype(np.int64),
            (inside != np.repeat(labelled.observed, np.diff(labelled.offsets))).astype(np.float64),
            names,
            ids,
            inside,
            labelled.documents.astype(np.int64),
        )

    @classmethod
    def joined(cls, parts: Sequence[Outcomes]) -> Outcomes:
        """Return the concatenated outcomes of several parts."""
        first_rows = offsets_from_sizes(part.offsets[-1] for part in parts)
        first_names = offsets_from_sizes(len(part.names) for part in parts)
        references = [part.references for part in parts if part.references is not None]
        ends = (part.offsets[1:] + first for part, first in zip(parts, first_rows, strict=False))
        return cls(
            np.concatenate([[0], *ends]).astype(np.int64),
            np.concatenate([np.zeros(0), *(part.scores for part in parts)]),
            _joined(part.chosen for part in parts),
            _joined(part.gold for part in parts),
            np.concatenate([np.zeros(0), *(part.cost for part in parts)]),
            [name for part in parts for name in part.names],
            _joined(part.ids + first for part, first in zip(parts, first_names, strict=False)),
            _joined(part.ranks for part in parts),
            _joined(part.units for part in parts),
            list(chain(*references)) if references and len(references) == len(parts) else None,
        )

    def __len__(self) -> int:
        return len(self.chosen)

    def take(self, index: NDArray[np.generic]) -> Outcomes:
        """Return some of the outcomes, in the order of `index`; an outcome may occur several times."""
        instances = np.arange(len(self))[index]
        rows, offsets = take_rows(self.offsets, instances)
        references = self.references
        return Outcomes(
            offsets,
            self.scores[rows],
            self.chosen[instances],
            self.gold[instances],
            self.cost[rows],
            self.names,
            self.ids[rows],
            self.ranks[rows],
            self.units[instances],
            None if references is None else [references[i] for i in instances.tolist()],
        )

    def with_chosen(self, chosen: Ints) -> Outcomes:
        """Return the outcomes of another choice."""
        return replace(self, chosen=chosen)

    @property
    def first(self) -> Ints:
        """The first candidate of the source, shape ``(n,)``."""
        return segments.argmax(-self.ranks.astype(np.float64), self.offsets)

    @property
    def chosen_cost(self) -> Floats:
        """Cost of each choice, shape ``(n,)``; no answer costs as much as the most expensive candidate."""
        highest = segments.maxima(self.cost, self.offsets)
        return np.where(self.chosen >= 0, self._at_chosen(self.cost), highest)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each choice is right, shape ``(n,)``; no answer counts as wrong."""
        return (self.chosen >= 0) & (self._at_chosen(self.cost) == 0)

    @property
    def chosen_ids(self) -> Ints:
        """Index in `names` of each choice, shape ``(n,)``; -1 for no answer."""
        return np.where(self.chosen >= 0, self._at_chosen(self.ids), -1)

    @property
    def gold_ids(self) -> Ints:
        """Index in `names` of the right candidate, preferably the chosen one; -1 if none is right."""
        first_right = np.where(self.gold >= 0, self.ids[self.offsets[:-1] + np.maximum(self.gold, 0)], -1)
        return np.where(self.right, self.chosen_ids, first_right)

    @property
    def chosen_texts(self) -> list[str]:
        """The chosen texts, shape ``(n,)``; empty for no answer."""
        return [self.names[i] if i >= 0 else "" for i in self.chosen_ids.tolist()]

    def _at_chosen(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return the values of the chosen candidates, or of the first candidate if there is no answer."""
        return values[self.offsets[:-1] + np.maximum(self.chosen, 0)]


def _joined(parts: Iterable[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *parts])


@runtime_checkable
class Measure(Protocol):
    """A measure of the quality of decisions, as one number."""

    @property
    def name(self) -> str:
        """Display name, such as ``"accuracy"`` or ``"F1 of 'to'"``."""

    @property
    def unit(self) -> str:
        """Unit, such as ``"edits per character"``; ``"share"`` is displayed as a percentage."""

    @property
    def more_is_better(self) -> bool:
        """Whether larger values are better."""

    def value(self, outcomes: Outcomes) -> float:
        """Return the value, which does not depend on the order of instances; NaN if it is not defined."""


class MeasureTraits:
    """Optional traits of a measure, with their default values."""

    for_lists: bool = True
    """Whether it applies to lists whose candidates occur in no other list, such as n-best lists."""


@runtime_checkable
class AddsUp(Protocol):
    """A measure made of sums over instances, whose bootstrap is one matrix product."""

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return the contribution of each instance to each sum, shape ``(n, k)``."""

    def of_sums(self, sums: Floats) -> Floats:
        """Return the value for each row of sums, from shape ``(..., k)`` to shape ``(...)``."""


@runtime_checkable
class Reweighs(Protocol):
    """A measure that is not a sum but can be computed for weighted instances."""

    def reweighed(self, outcomes: Outcomes, weights: Floats) -> Floats:
        """Return the value for each row of weights, from shape ``(m, n)`` to shape ``(m,)``."""


@runtime_checkable
class CostsTexts(Protocol):
    """A measure that defines the cost of a text, given the right text."""

    def costs(self, texts: Sequence[str], references: Sequence[str]) -> Floats:
        """Return the cost of each text given its reference, zero if it is right, shape ``(n,)``."""


def applies_to_lists(measure: Measure) -> bool:
    """Return True if a measure applies to lists whose candidates occur in no other list."""
    return bool(getattr(measure, "for_lists", MeasureTraits.for_lists))


class SumMeasure:
    """Base class of measures that are the quotient of two sums over all instances."""

    __slots__ = ()

    @abstractmethod
    def terms(self, outcomes: Outcomes) -> Floats:
        """Return the contribution of each instance to each sum, shape ``(n, k)``."""

    def of_sums(self, sums: Floats) -> Floats:
        """Return the first sum divided by the second."""
        return divide(sums[..., 0], sums[..., 1])

    def value(self, outcomes: Outcomes) -> float:
        """Return the value; NaN if it is not defined."""
        return float(self.of_sums(self.terms(outcomes).sum(axis=0)))


def divide(above: Floats, below: Floats) -> Floats:
    """Return the quotients; NaN for division by zero."""
    shape = np.broadcast_shapes(np.shape(above), np.shape(below))
    return np.divide(above, below, out=np.full(shape, np.nan), where=np.asarray(below) != 0)


def stack_terms(*terms: NDArray[np.generic]) -> Floats:
    """Stack terms as columns, shape ``(n, k)``."""
    return np.stack([np.asarray(term, np.float64) for term in terms], axis=1)


N_BINS = 10


def reliability(predicted: NDArray[np.float64], right: NDArray[np.bool_]) -> dict[str, Any]:
    """Compare the probabilities of decisions with how often they were right.

    `predicted` (float (n,)): predicted probability that each decision is right.
    `right`: bool (n,).
    Returns ``n``; ``bins``, a list of the nonempty ones of `N_BINS` equal ranges, each with ``low``,
    ``high``, ``predicted`` and ``observed`` (means) and ``n``; ``expected_calibration_error``, the mean
    absolute difference of the two over the bins, weighted by size (None for no decision); ``brier``, the mean
    squared difference of probability and outcome (0 is best; None for no decision).
    """
    predicted = np.asarray(predicted, np.float64)
    bin_numbers = np.minimum((predicted * N_BINS).astype(np.int64), N_BINS - 1)
    bins = []
    for number in np.unique(bin_numbers).tolist():
        inside = bin_numbers == number
        bins.append(
            {
                "low": number / N_BINS,
                "high": (number + 1) / N_BINS,
                "predicted": float(predicted[inside].mean()),
                "observed": float(right[inside].mean()),
                "n": int(inside.sum()),
            }
        )
    n = len(predicted)
    gaps = [abs(at["predicted"] - at["observed"]) * at["n"] for at in bins]
    return {
        "n": n,
        "bins": bins,
        "expected_calibration_error": float(sum(gaps) / n) if n else None,
        "brier": float(np.mean((predicted - right) ** 2)) if n else None,
    }


def reliability_lines(result: dict[str, Any]) -> list[str]:
    """Format the result of `reliability` as lines of text."""
    if not result["n"]:
        return []
    lines = [
        f"probability of the chosen candidate: expected calibration error "
        f"{result['expected_calibration_error']:.2%}, Brier score {result['brier']:.4f}",
        "       probability    mean  observed         n",
    ]
    for bin_ in result["bins"]:
        bounds = f"{bin_['low']:.0%} to {bin_['high']:.0%}"
        lines.append(f"  {bounds:>16} {bin_['predicted']:7.1%}  {bin_['observed']:8.1%} {bin_['n']:9,}")
    return lines


def choice_reliability(
    probabilities: NDArray[np.float64],
    offsets: NDArray[np.int64],
    chosen: NDArray[np.int32],
    observed: NDArray[np.int32],
) -> dict[str, Any]:
    """Return the `reliability` of the chosen candidates.

    `probabilities`: float (n_candidates,).
    `offsets` (int64 (n + 1,)): offsets of the candidates of each decision.
    `chosen` and `observed` (int (n,)): the chosen and the right candidate; decisions whose right candidate is
    below 0 are left out.
    """
    labelled = observed >= 0
    return reliability(probabilities[offsets[:-1] + chosen][labelled], (chosen == observed)[labelled])
