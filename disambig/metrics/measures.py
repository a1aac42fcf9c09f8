"""The metrics of the core, and look-up of metrics by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from disambig import registry
from disambig.data import distinct_texts, offsets_from_sizes, row_owners, segments, take_rows
from disambig.errors import UserError, contract_error, nearest_first
from disambig.metrics.outcomes import (
    AddsUp,
    CostsTexts,
    Measure,
    Outcomes,
    SumMeasure,
    applies_to_lists,
    divide,
    stack_terms,
)
from disambig.runtime import use_numba
from disambig.text import characters
from disambig.type_aliases import Floats, Ints

Unit = Literal["characters", "words"]


def edit_distances(first: Sequence[str], second: Sequence[str], by: Unit = "characters") -> Ints:
    """Return the Levenshtein distance of each pair of texts, shape ``(n,)``.

    `by`: ``"characters"``: code points; ``"words"``: separated by white space.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} texts and {len(second)} texts: expected pairs")
    if not use_numba(int((text_sizes(first, by) * text_sizes(second, by)).sum())):
        rows = (_rows(texts, by) for texts in (first, second))
        return np.array([edit_distance_reference(a, b) for a, b in zip(*rows, strict=True)], np.int64)
    from disambig.metrics._kernels import distances

    ids, n_symbols, offsets = _symbols([*first, *second], by)
    n = len(first)
    first_offsets, second_offsets = offsets[: n + 1], offsets[n:]
    shorter = int(np.minimum(np.diff(first_offsets), np.diff(second_offsets)).max(initial=0))
    blocks = -(-shorter // 64)
    result = np.zeros(n, np.int64)
    slots = np.full(n_symbols, -1, np.int64)
    equal = np.zeros((min(shorter, n_symbols), blocks), np.uint64)
    plus, minus = np.zeros((2, blocks), np.uint64)
    distances(ids, first_offsets, second_offsets, slots, equal, plus, minus, result)
    return result


def text_sizes(texts: Sequence[str], by: Unit) -> Ints:
    """Return the number of characters, or of words, in each text."""
    return np.fromiter(map(len, _rows(texts, by)), np.int64, len(texts))


def edit_distance_reference(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the distance of one pair, computed cell by cell: the reference for the compiled function."""
    row = list(range(len(second) + 1))
    for i, symbol in enumerate(first, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(second, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (symbol != other))
    return row[-1]


def _rows(texts: Sequence[str], by: Unit) -> Sequence[Sequence[str]]:
    return [text.split() for text in texts] if by == "words" else texts


def _symbols(texts: Sequence[str], by: Unit) -> tuple[Ints, int, Ints]:
    """Return the index of each symbol of all texts, the number of symbols, and the offset of each text."""
    offsets = offsets_from_sizes(text_sizes(texts, by))
    if by == "words":
        distinct, numbers = distinct_texts([word for text in texts for word in text.split()])
        return numbers, len(distinct), offsets
    codes = characters.code_points("".join(texts))
    occurs = np.zeros(int(codes.max(initial=0)) + 1, np.int64)
    occurs[codes] = 1
    return (np.cumsum(occurs) - 1)[codes], int(occurs.sum()), offsets


@dataclass(frozen=True, slots=True)
class Accuracy(SumMeasure):
    """The share of choices that are right; no answer counts as wrong."""

    name = "accuracy"
    unit = "share"
    more_is_better = True

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return two columns: 1 for a right choice, else 0; and 1 for each instance."""
        return stack_terms(outcomes.right, np.ones(len(outcomes)))


@dataclass(frozen=True, slots=True)
class MeanCost(SumMeasure):
    """The average cost of choices; no answer costs as much as the most expensive candidate."""

    name = "mean cost"
    unit = "cost"
    more_is_better = False

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return the cost of each choice, and one."""
        return stack_terms(outcomes.chosen_cost, np.ones(len(outcomes)))


@dataclass(frozen=True, slots=True)
class F1(SumMeasure):
    """The harmonic mean of precision and recall of one candidate; NaN if it is never chosen and never right.

    Attributes
    ----------
    candidate : str
        Name of the candidate.
    """

    candidate: str
    unit = "share"
    for_lists = False
    more_is_better = True

    @property
    def name(self) -> str:
        """``F1 of 'to'``."""
        return f"F1 of {self.candidate!r}"

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return twice whether it is both chosen and right, and in how many of the two it occurs."""
        candidate_ids = [i for i, name in enumerate(outcomes.names) if name == self.candidate]
        is_chosen, is_gold = (np.isin(ids, candidate_ids) for ids in (outcomes.chosen_ids, outcomes.gold_ids))
        return stack_terms(2.0 * (is_chosen & is_gold), is_chosen.astype(np.float64) + is_gold)


@dataclass(frozen=True, slots=True)
class MacroF1(SumMeasure):
    """The mean F1 of all candidates that are chosen or right at least once; equal names are one candidate."""

    name = "macro F1"
    unit = "share"
    for_lists = False
    more_is_better = True

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return the terms of `F1.terms` for each candidate: all first terms, then all second terms."""
        names, candidates = distinct_texts(outcomes.names)
        n, k = len(outcomes), len(names)
        is_chosen, is_gold = np.zeros((n, k)), np.zeros((n, k))
        for ids, table in ((outcomes.chosen_ids, is_chosen), (outcomes.gold_ids, is_gold)):
            rows = np.flatnonzero(ids >= 0)
            table[rows, candidates[ids[rows]]] = 1.0
        return np.hstack([2.0 * is_chosen * is_gold, is_chosen + is_gold])

    def of_sums(self, sums: Floats) -> Floats:
        """Return the mean of the quotients that are defined."""
        k = sums.shape[-1] // 2
        values = divide(sums[..., :k], sums[..., k:])
        defined = ~np.isnan(values)
        return divide(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))


@dataclass(frozen=True, slots=True)
class ErrorRate(SumMeasure):
    """Edits from the chosen texts to the references, divided by the references' length (CER, WER).

    Attributes
    ----------
    by : str
        ``"characters"``, or ``"words"`` separated by white space.
    """

    by: Unit = "characters"
    more_is_better = False

    def __post_init__(self) -> None:
        if self.by not in ("characters", "words"):
            raise UserError("D432", value=self.by)

    @property
    def name(self) -> str:
        """``CER`` or ``WER``."""
        return "CER" if self.by == "characters" else "WER"

    @property
    def unit(self) -> str:
        """``edits per character`` or ``edits per word``."""
        return f"edits per {self.by[:-1]}"

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return the number of edits of each choice, and the length of its reference."""
        references = outcome_references(self, outcomes)
        return stack_terms(self.costs(outcomes.chosen_texts, references), text_sizes(references, self.by))

    def costs(self, texts: Sequence[str], references: Sequence[str]) -> Floats:
        """Return the number of edits from each text to its reference."""
        return edit_distances(texts, references, self.by).astype(np.float64)


@dataclass(frozen=True, slots=True)
class ExactMatch(SumMeasure):
    """The share of choices that equal their references, character by character."""

    name = "exact match"
    unit = "share"
    more_is_better = True

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return two columns: 1 for a choice that equals its reference, else 0; and 1 for each instance."""
        costs = self.costs(outcomes.chosen_texts, outcome_references(self, outcomes))
        return stack_terms((costs == 0) & (outcomes.chosen >= 0), np.ones(len(outcomes)))

    def costs(self, texts: Sequence[str], references: Sequence[str]) -> Floats:
        """Return one for each text that differs from its reference, zero for the others."""
        pairs = zip(texts, references, strict=True)
        return np.fromiter((text != right for text, right in pairs), np.float64, len(texts))


def text_costs(measure: Measure, texts: Sequence[str], references: Sequence[str]) -> NDArray[np.float32]:
    """Return the cost of choosing each text instead of its reference, shape ``(n,)``.

    The cost is the number of edits for an error rate, and 0 or 1 for exact match.

    Parameters
    ----------
    measure : Measure
    texts, references : sequences of str
        Pairs of texts; the reference of a list is repeated for each of its candidates.

    Raises
    ------
    UserError
        D430 for a measure that does not define the cost of texts.
    """
    if not isinstance(measure, CostsTexts):
        raise UserError("D430", name=measure.name)
    return np.asarray(measure.costs(texts, references), np.float32)


def outcome_references(measure: Measure, outcomes: Outcomes) -> Sequence[str]:
    """Return the references of some outcomes. Raises D433 if there are none."""
    if outcomes.references is None:
        raise UserError("D433", name=measure.name)
    return outcomes.references


@dataclass(frozen=True, slots=True)
class AUC:
    """The area under the ROC curve of one candidate.

    It is the share of pairs, of one instance in which the candidate is right and one in which it is not, that
    the scores order correctly; ties count half. The score of an instance is the candidate's lead over the
    best other candidate. Instances without the candidate, or without another one, are left out. NaN without
    any pair.

    Attributes
    ----------
    candidate : str
        Name of the candidate; if empty, the second candidate of each instance.
    """

    candidate: str = ""
    unit = "share of pairs"
    for_lists = False
    more_is_better = True

    @property
    def name(self) -> str:
        """``AUC of 'to'``, or ``AUC``."""
        return f"AUC of {self.candidate!r}" if self.candidate else "AUC"

    def value(self, outcomes: Outcomes) -> float:
        """Return the value; NaN if it is not defined."""
        return float(self.reweighed(outcomes, np.ones((1, len(outcomes))))[0])

    def reweighed(self, outcomes: Outcomes, weights: Floats) -> Floats:
        """Return the value for each row of weights, shape ``(m,)``."""
        used, leads, positive = self._leads(outcomes)
        if not len(used):
            return np.full(len(weights), np.nan)
        order = np.argsort(leads, kind="stable")
        # starts of runs of ties; the first is 0, also for a lead of -inf, whose difference is NaN
        starts = np.flatnonzero(np.diff(leads[order], prepend=-np.inf) != 0)
        sorted_weights = weights[:, used[order]]
        above, below = (
            np.add.reduceat(np.where(kind[order], sorted_weights, 0.0), starts, axis=1)
            for kind in (positive, ~positive)
        )
        below_before = np.cumsum(below, axis=1) - below
        n_ordered = (above * (below_before + below / 2)).sum(axis=1)
        return divide(n_ordered, above.sum(axis=1) * below.sum(axis=1))

    def _leads(self, outcomes: Outcomes) -> tuple[NDArray[np.int64], Floats, NDArray[np.bool_]]:
        """Return the instances that count, the lead of the candidate, and whether it is right."""
        rows = self._rows(outcomes)
        sizes = np.diff(outcomes.offsets)
        used = np.flatnonzero((rows >= 0) & (sizes > 1))
        part_rows, offsets = take_rows(outcomes.offsets, used)
        candidate_rows = rows[used]
        others = outcomes.scores.copy()
        others[candidate_rows] = -np.inf
        leads = outcomes.scores[candidate_rows] - segments.maxima(others[part_rows], offsets)
        positive = outcomes.gold_ids[used] == outcomes.ids[candidate_rows]
        return used, leads, positive

    def _rows(self, outcomes: Outcomes) -> NDArray[np.int64]:
        """Return the row of the candidate in each instance, -1 if the instance does not have it."""
        first, sizes = outcomes.offsets[:-1], np.diff(outcomes.offsets)
        if not self.candidate:
            return np.where(sizes > 1, first + 1, -1)
        named = np.fromiter((name == self.candidate for name in outcomes.names), bool, len(outcomes.names))
        hits = np.flatnonzero(named[outcomes.ids]) if len(named) else np.zeros(0, np.int64)
        rows = np.full(len(outcomes), -1, np.int64)
        rows[np.searchsorted(first, hits, side="right") - 1] = hits
        return rows


@dataclass(frozen=True, slots=True)
class _OtherChoice:
    """Base class of measures of a choice other than the system's."""

    # A measure made of sums (`AddsUp`); no factory, since a config reads the default
    measure: Measure = Accuracy()

    def __post_init__(self) -> None:
        if not isinstance(self.measure, AddsUp):
            raise UserError("D434", name=self.measure.name)

    @property
    def unit(self) -> str:
        """The unit of the underlying measure."""
        return self.measure.unit

    @property
    def more_is_better(self) -> bool:
        """The direction of the underlying measure."""
        return self.measure.more_is_better

    @property
    def for_lists(self) -> bool:
        """Whether the underlying measure applies to lists."""
        return applies_to_lists(self.measure)

    def value(self, outcomes: Outcomes) -> float:
        """Return the measure of the other choice."""
        return self.measure.value(outcomes.with_chosen(self.choice(outcomes)))

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return the measure's terms for the other choice."""
        assert isinstance(self.measure, AddsUp)
        return self.measure.terms(outcomes.with_chosen(self.choice(outcomes)))

    def of_sums(self, sums: Floats) -> Floats:
        """Return the value for each row of sums."""
        assert isinstance(self.measure, AddsUp)
        return self.measure.of_sums(sums)

    def choice(self, outcomes: Outcomes) -> NDArray[np.int64]:
        """Return the other choice, shape ``(n,)``."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Oracle(_OtherChoice):
    """The best possible value: the choice is the candidate of least cost.

    The cost is that of the measure if it defines the cost of texts, else that of the candidates.

    Parameters
    ----------
    measure : Measure
        A measure made of sums (`AddsUp`); the default is accuracy.
    """

    @property
    def name(self) -> str:
        """``oracle accuracy``."""
        return f"oracle {self.measure.name}"

    def choice(self, outcomes: Outcomes) -> NDArray[np.int64]:
        """Return the candidate of least cost of each instance."""
        cost = outcomes.cost
        if isinstance(self.measure, CostsTexts):
            references = outcome_references(self.measure, outcomes)
            owners = row_owners(outcomes.offsets).tolist()
            texts = [outcomes.names[i] for i in outcomes.ids.tolist()]
            cost = self.measure.costs(texts, [references[i] for i in owners])
        return segments.argmax(-cost, outcomes.offsets)


@dataclass(frozen=True, slots=True)
class FirstCandidate(_OtherChoice):
    """The value of the candidates' source: the choice is its first candidate.

    Parameters
    ----------
    measure : Measure
        See `Oracle`.
    """

    @property
    def name(self) -> str:
        """``first candidate's accuracy``."""
        return f"first candidate's {self.measure.name}"

    def choice(self, outcomes: Outcomes) -> NDArray[np.int64]:
        """Return the first candidate of the source."""
        return outcomes.first


_MEASURES: dict[str, Callable[[], Measure]] = {
    "accuracy": Accuracy,
    "auc": AUC,
    "cer": ErrorRate,
    "cost": MeanCost,
    "exact": ExactMatch,
    "macro_f1": MacroF1,
    "wer": lambda: ErrorRate("words"),
}
_OF_CANDIDATE: dict[str, Callable[[str], Measure]] = {"auc": AUC, "f1": F1}
_OF_MEASURE: dict[str, Callable[[Measure], Measure]] = {"first": FirstCandidate, "oracle": Oracle}


def measure_named(name: str) -> Measure:
    """Return a measure by its name.

    Parameters
    ----------
    name : str
        One of `short_names`, such as ``"cer"``, ``"f1:to"`` (for a candidate) or ``"oracle:cer"`` (for a
        measure); or a registered name whose parameters all have defaults, such as ``"disambig.MacroF1.v1"``.

    Raises
    ------
    UserError
        D431 for an unknown name, D434 for a measure without baselines, D435 if an argument is missing, D414
        for a measure of a plugin that does not say how it is shown.
    """
    kind, colon, argument = name.partition(":")
    if not colon and name in _MEASURES:
        return _MEASURES[name]()
    if colon and kind in _OF_CANDIDATE:
        return _OF_CANDIDATE[kind](argument)
    if colon and kind in _OF_MEASURE:
        return _OF_MEASURE[kind](measure_named(argument))
    registered = registry.load_all("measures")
    if name in registered:
        try:
            measure: Measure = registered[name]()
        except TypeError as problem:
            raise UserError("D435", name=name, problem=problem) from problem
        _check_declared(measure)
        return measure
    raise UserError("D431", name=name, names=nearest_first(name, [*short_names(), *registered]))


def _check_declared(measure: object) -> None:
    """Raise D414 if a measure of a plugin does not declare how it is shown."""
    component = registry.describe_component("measures", measure)
    for name in ("name", "unit"):
        value = getattr(measure, name, None)
        if not isinstance(value, str) or not value:
            raise contract_error(component, f"its {name} is {value!r}", "a text")
    more = getattr(measure, "more_is_better", None)
    if not isinstance(more, bool):
        raise contract_error(component, f"more_is_better is {more!r}", "True or False")
    if not callable(getattr(measure, "value", None)):
        raise contract_error(component, "it has no method value", "value(outcomes), which returns a number")


def list_measure_named(name: str) -> Measure:
    """Return a measure that applies to lists of candidates by its name (see `measure_named`).

    Raises D437 for a measure that does not apply to lists, and the errors of `measure_named`.
    """
    measure = measure_named(name)
    if not applies_to_lists(measure):
        names = ", ".join(sorted(plain for plain, make in _MEASURES.items() if applies_to_lists(make())))
        raise UserError("D437", name=measure.name, names=names)
    return measure


def short_names() -> tuple[str, ...]:
    """Return the short names; placeholders after a colon are in capitals."""
    of_candidates = (f"{name}:CANDIDATE" for name in _OF_CANDIDATE)
    of_measures = (f"{name}:MEASURE" for name in _OF_MEASURE)
    return tuple(sorted([*_MEASURES, *of_candidates, *of_measures]))
