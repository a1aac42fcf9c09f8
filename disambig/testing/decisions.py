"""Contracts of batches, decoders, decision rules and metrics."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CandidateLists,
    Predictions,
    ScoreBatch,
    SparseRows,
    convert,
    offsets_from_sizes,
    segments,
)
from disambig.decision import check_fit, check_methods, check_predictions
from disambig.errors import UserError, check_call, describe_value
from disambig.metrics import AddsUp, CostsTexts, Measure, Outcomes, Reweighs, times_drawn
from disambig.registry import describe_component
from disambig.testing.checks import (
    Check,
    collect_checks,
    make_calibration_data,
    require,
    require_close,
    require_equal,
    require_state,
)
from disambig.types import (
    CalibrationData,
    CandidateBatch,
    DecisionRule,
    DecisionRuleTraits,
    Decoder,
    FindsTop,
    RaisesFlags,
    get_trait,
    judged_between,
)


def check_batch(batch: CandidateBatch) -> list[Check]:
    """Return the checks of a batch.

    Parameters
    ----------
    batch : CandidateBatch
        A few instances with a few columns, since all features are compared.
    """
    return collect_checks(_BatchChecks(batch))


@dataclass
class _BatchChecks:
    _batch: CandidateBatch

    def offsets_are_valid(self) -> None:
        offsets, n_rows = self._batch.offsets, len(self._batch.cost)
        require(offsets.dtype == np.int64, f"offsets of {offsets.dtype}, not int64")
        covered = offsets[0] == 0 and offsets[-1] == n_rows
        require(covered, f"offsets do not cover the {n_rows} rows")
        require((np.diff(offsets) > 0).all(), "an instance has no row")

    def costs_are_valid(self) -> None:
        cost = self._batch.cost
        require(cost.dtype == np.float32, f"costs of {cost.dtype}, not float32")
        require((cost >= 0).all(), "a cost is negative or NaN")

    def columns_are_valid(self) -> None:
        columns = self._batch.columns
        n = len(columns)
        require(columns.labels.shape == (n,), f"labels of shape {columns.labels.shape} for {n} columns")
        require(columns.groups.shape == (n,), f"groups of shape {columns.groups.shape} for {n} columns")
        in_range = (columns.groups >= 0) & (columns.groups < len(columns.group_names))
        require(in_range.all(), "a column belongs to a feature group without a name")
        require(len(columns.names) in (0, n), f"{len(columns.names)} names for {n} columns")

    def scores_are_linear(self) -> None:
        rows, rng = _rows(self._batch), np.random.default_rng(0)
        for _ in range(3):
            weights = rng.normal(size=len(self._batch.columns))
            scores = self._batch.scores(weights)
            require(scores.dtype == np.float64, f"scores of {scores.dtype}, not float64")
            require_close(scores, rows @ weights, "scores", within=1e-5)

    def adjoint_matches_scores(self) -> None:
        mass = np.random.default_rng(0).normal(size=len(self._batch.cost))
        sums = self._batch.adjoint(mass)
        require(sums.dtype == np.float64, f"adjoint of {sums.dtype}, not float64")
        require_close(sums, _rows(self._batch).T @ mass, "adjoint", within=1e-4)

    def row_norms_are_right(self) -> None:
        squares = (_rows(self._batch) ** 2).sum(axis=1)
        require_close(self._batch.row_sqnorm(), squares, "row_sqnorm", within=1e-4)

    def take_accepts_any_order(self) -> None:
        n, offsets, rows = len(self._batch.offsets) - 1, self._batch.offsets, _rows(self._batch)
        for index in (np.arange(n)[::-1], np.array([0]), np.array([n - 1, 0, 0]), np.arange(0)):
            part = self._batch.take(index)
            rows_by_instance = [np.arange(offsets[i], offsets[i + 1]) for i in index]
            wanted = np.concatenate([np.zeros(0, np.int64), *rows_by_instance])
            require_equal(np.diff(part.offsets), np.diff(offsets)[index], f"candidates of {index}")
            require_equal(part.cost, self._batch.cost[wanted], f"costs of {index}")
            require(len(part.columns) == len(self._batch.columns), "take changes the columns")
            if len(index):
                require_close(_rows(part), rows[wanted], f"features of {index}", within=1e-5)

    def sparse_form_is_equal(self) -> None:
        """If the batch can be converted to sparse rows, they have the same features."""
        try:
            sparse = convert(self._batch, SparseRows)
        except UserError:
            return
        require_close(_rows(sparse), _rows(self._batch), "features as sparse rows", within=1e-5)
        require_equal(sparse.cost, self._batch.cost, "costs as sparse rows")
        require_equal(sparse.offsets, self._batch.offsets, "offsets as sparse rows")


def _rows(batch: CandidateBatch) -> NDArray[np.float64]:
    """Return all features, shape (n_rows, n_columns), computed only from scores."""
    units = np.eye(len(batch.columns))
    return np.array([batch.scores(unit) for unit in units]).reshape(len(units), -1).T


Structures = Sequence[Sequence[Sequence[int]]]


def check_decoder(decoder: Decoder, layout: Any, structures: Structures) -> list[Check]:
    """Return the checks of a decoder.

    Parameters
    ----------
    decoder : Decoder
    layout : object
        How rows combine, in the form that the decoder accepts; a small example.
    structures : sequence (instance) of sequence (candidate) of sequence of int
        The rows of each candidate of each instance: all candidates, enumerated by hand or by brute force. The
        decoder must give the same answers without enumerating them.
    """
    return collect_checks(_DecoderChecks(decoder, layout, structures))


@dataclass
class _DecoderChecks:
    _decoder: Decoder
    _layout: Any
    _structures: Structures

    def keeps_its_contract(self) -> None:
        """Check the methods, and the shapes and types of what they return."""
        part = describe_component("decoders", self._decoder)
        check_call(part, self._decoder, "best", "best(scores, layout)", None, None)
        check_call(part, self._decoder, "marginals", "marginals(scores, layout)", None, None)
        scores = self._random_scores()[0]
        scores_copy = scores.copy()
        _require_numbers(self._decoder.best(scores_copy, self._layout), self._n_rows, "best returned")
        require_equal(scores_copy, scores, "scores after best")
        both: Any = self._decoder.marginals(scores_copy, self._layout)
        require_equal(scores_copy, scores, "scores after marginals")
        is_pair = isinstance(both, tuple) and len(both) == 2
        require(is_pair, f"marginals returned {describe_value(both)}; expected a tuple of two arrays")
        _require_numbers(both[0], self._n_rows, "the first result of marginals is")
        _require_numbers(both[1], len(self._structures), "the second result of marginals is")

    def finds_the_best(self) -> None:
        for scores in self._random_scores():
            mass = self._decoder.best(scores, self._layout)
            expected = np.zeros(len(scores))
            for candidates in self._structures:
                totals = [scores[list(rows)].sum() for rows in candidates]
                expected[list(candidates[int(np.argmax(totals))])] += 1.0
            require_close(mass, expected, "rows of the best candidates")

    def breaks_ties(self) -> None:
        mass = self._decoder.best(np.zeros(self._n_rows), self._layout)
        for i, candidates in enumerate(self._structures):
            inside = {row for rows in candidates for row in rows}
            chosen = [row for row in np.flatnonzero(mass) if row in inside]
            require(
                chosen in [sorted(rows) for rows in candidates],
                f"instance {i}: not exactly one candidate was chosen when all scores are equal",
            )

    def log_partition_is_right(self) -> None:
        for scores in self._random_scores():
            partition = self._decoder.marginals(scores, self._layout)[1]
            require_close(partition, self._exhaustive(scores)[1], "log partition of each instance")

    def marginals_are_right(self) -> None:
        for scores in self._random_scores():
            marginals = self._decoder.marginals(scores, self._layout)[0]
            require_close(marginals, self._exhaustive(scores)[0], "marginals of the rows")

    def marginals_are_the_gradient(self) -> None:
        scores, step = next(iter(self._random_scores())), 1e-5
        marginals = self._decoder.marginals(scores, self._layout)[0]
        for row in range(self._n_rows):
            change = np.zeros(self._n_rows)
            change[row] = step
            above = self._decoder.marginals(scores + change, self._layout)[1].sum()
            below = self._decoder.marginals(scores - change, self._layout)[1].sum()
            require_close(marginals[row], (above - below) / (2 * step), f"gradient at row {row}", within=1e-5)

    def accepts_large_scores(self) -> None:
        for scores in self._random_scores():
            mass = self._decoder.best(scores * 1e4, self._layout)
            marginals = self._decoder.marginals(scores * 1e4, self._layout)[0]
            require_close(marginals, mass, "marginals of scores in the thousands")

    def finds_the_k_best_if_declared(self) -> None:
        """`FindsTop.top` returns the k best candidates in order, or all if there are fewer."""
        if not isinstance(self._decoder, FindsTop):
            return
        for scores in self._random_scores():
            for k in (1, 2, 5):
                best = self._decoder.top(scores, self._layout, k)
                n = len(self._structures)
                require(len(best) == n, f"{len(best)} of {n} instances")
                for (totals, names), candidates in zip(best, self._structures, strict=True):
                    expected = sorted((scores[list(rows)].sum() for rows in candidates), reverse=True)[:k]
                    require_close(totals, expected, f"scores of the {k} best")
                    require(len(names) == len(totals), f"{len(names)} candidates for {len(totals)} scores")
                    different = {np.asarray(name).tobytes() for name in names}
                    require(len(different) == len(names), f"some of the {k} best are equal")

    def never_chooses_forbidden_rows(self) -> None:
        """Rows with score minus infinity are forbidden, which learners use to find the right candidate."""
        for wanted in (0, -1):
            scores = np.full(self._n_rows, -np.inf)
            for candidates in self._structures:
                scores[list(candidates[wanted])] = 0.0
            expected = np.where(np.isfinite(scores), 1.0, 0.0)
            require_close(self._decoder.best(scores, self._layout), expected, "the only allowed candidate")
            marginals = self._decoder.marginals(scores, self._layout)[0]
            require_close(marginals, expected, "marginals with one allowed candidate")

    @property
    def _n_rows(self) -> int:
        return 1 + max(row for candidates in self._structures for rows in candidates for row in rows)

    def _random_scores(self) -> list[NDArray[np.float64]]:
        rng = np.random.default_rng(0)
        return [rng.normal(size=self._n_rows) for _ in range(5)]

    def _exhaustive(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        mass, partition = np.zeros(len(scores)), []
        for candidates in self._structures:
            totals = np.array([scores[list(rows)].sum() for rows in candidates])
            log_sum = float(np.logaddexp.reduce(totals))
            partition.append(log_sum)
            for rows, total in zip(candidates, totals, strict=True):
                mass[list(rows)] += np.exp(total - log_sum)
        return mass, np.array(partition)


def _require_numbers(array: object, n: int, what: str) -> None:
    """Raise `AssertionError` unless `array` holds `n` numbers; the message begins with `what`."""
    is_valid = isinstance(array, np.ndarray) and array.dtype.kind in "iuf" and array.shape == (n,)
    require(is_valid, f"{what} {describe_value(array)}; expected an array of numbers of shape ({n},)")


RATES = (0.0, 0.1, 1.0, 10.0, 1000.0, float("inf"))
_COLUMNS = ("chosen", "margins", "probabilities", "flagged", "answered")


def check_judge(judge: DecisionRule, data: CalibrationData | None = None) -> list[Check]:
    """Return the checks of a decision rule.

    Parameters
    ----------
    judge : DecisionRule
        The decision rule as a config describes it, not yet fitted.
    data : CalibrationData, optional
        Examples of a task that the rule is for; by default a few examples of words.
        Its `rng` must be reproducible.
    """
    return collect_checks(_DecisionRuleChecks(judge, make_calibration_data() if data is None else data))


@dataclass
class _DecisionRuleChecks:
    _judge: DecisionRule
    _data: CalibrationData

    def fit_returns_a_decision_rule(self) -> None:
        check_fit(self._judge)
        judged_between(self._judge)
        before = self._judge.state()
        require_state(before, "the unfitted decision rule")
        fitted = self._fit()
        returned = f"fit returned {describe_value(fitted)}, which has no fit"
        require(callable(getattr(fitted, "fit", None)), returned)
        check_methods(fitted)
        for name, array in self._judge.state().items():
            require_equal(array, before[name], f"{name} of the unfitted decision rule: fit changed it")

    def is_repeatable(self) -> None:
        first, second = self._fit(), self._fit()
        for name, array in first.state().items():
            require_equal(second.state()[name], array, f"{name} of a second fit")
        for scored in self._parts():
            self._require_same(first.judge(scored), first.judge(scored), "judged again")

    def keeps_its_contract(self) -> None:
        """Check the decisions of a fitted rule, as training does."""
        fitted = self._fit()
        for scored in self._parts():
            check_predictions(fitted, scored)

    def candidate_probabilities_add_up_to_one(self) -> None:
        fitted = self._fit()
        for scored in self._parts():
            probabilities = fitted.probabilities(scored)
            if probabilities is None or not len(scored.observed):
                continue
            sums = np.add.reduceat(probabilities, scored.offsets[:-1])
            for i in np.flatnonzero(~np.isclose(sums, 1.0, atol=1e-9))[:1]:
                require(False, f"probabilities of an instance sum to {sums[i]:g} (instance {i})")

    def state_is_complete(self) -> None:
        fitted, groups = self._fit(), self._data.task.groups
        state = fitted.state()
        require_state(state, "judge")
        again = self._judge.from_state({name: array.copy() for name, array in state.items()}, groups)
        for scored in self._parts():
            self._require_same(again.judge(scored), fitted.judge(scored), "after from_state")
            first, second = fitted.probabilities(scored), again.probabilities(scored)
            require((first is None) == (second is None), "from_state adds or loses probabilities")
            if first is not None:
                require_equal(second, first, "probabilities of candidates after from_state")

    def instances_are_decided_independently(self) -> None:
        fitted = self._fit()
        for scored in self._parts():
            together, n = fitted.judge(scored), len(scored.observed)
            for i in range(n):
                alone = fitted.judge(scored.take(np.array([i])))
                self._require_near(fitted, alone, _take_rows(together, slice(i, i + 1)), f"of instance {i}")

    def groups_are_decided_independently(self) -> None:
        fitted, parts = self._fit(), self._parts()
        if not parts:
            return
        joined = ScoreBatch.joined(parts)
        judged, together = fitted.judge(joined), fitted.probabilities(joined)
        if together is not None:
            separate = [p for part in parts if (p := fitted.probabilities(part)) is not None]
            require_close(together, np.concatenate(separate), "probabilities of all groups", within=1e-9)
        ends = offsets_from_sizes(map(len, parts)).tolist()
        for name in _COLUMNS:
            n_values = len(getattr(judged, name))
            require(
                n_values == ends[-1], f"{name} of shape ({n_values},) for {ends[-1]} instances of all groups"
            )
        for scored, start, end in zip(parts, ends, ends[1:], strict=False):
            of_group = _take_rows(judged, slice(start, end))
            self._require_near(
                fitted, fitted.judge(scored), of_group, f"of {scored.group.name}, with other groups,"
            )

    def does_not_change_scores(self) -> None:
        fitted = self._fit()
        for scored in self._parts():
            scored_copy = replace(scored, scores=scored.scores.copy())
            fitted.judge(scored_copy)
            fitted.probabilities(scored_copy)
            require_equal(scored_copy.scores, scored.scores, "scores after deciding")

    def accepts_no_instances(self) -> None:
        fitted = self._fit()
        for number in range(len(self._data.task.groups)):
            nothing = self._data.scored(number).take(np.empty(0, np.int64))
            judged = fitted.judge(nothing)
            for name in _COLUMNS:
                require(len(getattr(judged, name)) == 0, f"{name} is not empty without instances")

    def flags_are_valid(self) -> None:
        fitted = self._fit()
        for scored in self._parts():
            if not isinstance(fitted, RaisesFlags):
                flagged = (fitted.judge(scored, flags_per_1000=rate).flagged.any() for rate in (None, *RATES))
                require(not any(flagged), "it flags, but it is not RaisesFlags: it has no flags_per_1000")
                continue
            require(fitted.flags_per_1000 >= 0, f"flags_per_1000 is {fitted.flags_per_1000}")
            seen = np.zeros(len(scored.observed), bool)
            for rate in RATES:
                judged, limit = fitted.judge(scored, flags_per_1000=rate), fitted.limit(rate)
                require(rate > 0 or not judged.flagged.any(), "it flags at a rate of 0")
                keeps = (judged.flagged | ~seen).all()
                require(keeps, f"it flags fewer decisions at {rate} than at a lower rate")
                seen = judged.flagged
                probabilities = judged.probabilities[seen]
                above = (probabilities >= limit - 1e-9).all()
                require(above, f"it flags at probabilities {probabilities}, but its limit is {limit}")
                right = judged.chosen[seen] != scored.observed[seen]
                require(right.all(), "it flags a word without choosing another one")

    def rejects_invalid_rates(self) -> None:
        fitted = self._fit()
        if not isinstance(fitted, RaisesFlags):
            return
        for rate in (-1.0, float("nan")):
            try:
                fitted.limit(rate)
            except UserError:
                continue
            require(False, f"a rate of {rate} does not raise UserError")

    def gains_are_valid(self) -> None:
        fitted = self._fit()
        again = fitted.from_state(fitted.state(), self._data.task.groups)
        first, second = (get_trait(rule, DecisionRuleTraits, "gains")() for rule in (fitted, again))
        require((first is None) == (second is None), "from_state adds or loses gains")
        for rates, gains in filter(None, (first, second)):
            require(rates.shape == gains.shape and rates.ndim == 1, "rates and gains have different shapes")
            require((rates > 0).all() and (np.diff(rates) > 0).all(), f"rates do not ascend: {rates}")
            valid = (gains >= 0).all() and (gains <= 1).all() and (np.diff(gains) >= 0).all()
            require(valid, f"gains are not ascending shares: {gains}")

    def abstains_below_its_least_margin(self) -> None:
        fitted: Any = self._fit()
        if get_trait(fitted, DecisionRuleTraits, "least_margin") is None:
            return
        groups = self._data.task.groups
        for scored in self._parts():
            plain = fitted.with_least_margin(0.0).judge(scored)
            require(plain.answered.all(), "with a least margin of 0 it abstains")
            margins = plain.margins.astype(np.float32)  # at the precision of records
            for minimum in (float(np.median(margins)), float(margins.max()) + 1.0):
                abstaining = fitted.with_least_margin(minimum)
                seen = get_trait(abstaining, DecisionRuleTraits, "least_margin")
                lost = "with_least_margin returned a decision rule without this least margin"
                require(seen == minimum, lost)
                for judge in (abstaining, abstaining.from_state(abstaining.state(), groups)):
                    require_equal(
                        judge.judge(scored).answered,
                        margins >= minimum,
                        f"answered at a least margin of {minimum}",
                    )

    def _fit(self) -> DecisionRule:
        return self._judge.fit(self._data)

    def _parts(self) -> list[ScoreBatch]:
        parts = [self._data.scored(number) for number in range(len(self._data.task.groups))]
        return [replace(part, scores=part.scores.copy()) for part in parts if len(part.observed)]

    def _require_near(
        self, fitted: DecisionRule, alone: Predictions, together: Predictions, what: str
    ) -> None:
        """Raise if decisions made together differ from decisions made separately, except for rounding."""
        probabilities = np.asarray(together.probabilities)
        for name in _COLUMNS:
            one, other = np.asarray(getattr(alone, name)), np.asarray(getattr(together, name))
            same = np.isclose(one, other, rtol=1e-9, atol=1e-12)
            # exactly at the limit, rounding decides
            if name == "flagged" and isinstance(fitted, RaisesFlags):
                same = same | np.isclose(probabilities, fitted.limit(), rtol=1e-9)
            require(same.all(), f"{name} {what} is {other}, but {one} if decided alone")

    def _require_same(self, seen: Predictions, expected: Predictions, what: str) -> None:
        for name in _COLUMNS:
            require_equal(getattr(seen, name), getattr(expected, name), f"{name} {what}")


def _take_rows(judged: Predictions, rows: slice) -> Predictions:
    return Predictions(*(getattr(judged, name)[rows] for name in _COLUMNS))


NAMES = ("from", "to", "too", "two ", "tattoo")


def outcomes(n: int = 60, *, seed: int = 0) -> Outcomes:
    """Return decisions between some of `NAMES`, one of which is right; three decisions per document."""
    rng = np.random.default_rng(seed)
    lists = [[NAMES[i] for i in rng.permutation(len(NAMES))[: rng.integers(2, 5)]] for _ in range(n)]
    references = [texts[rng.integers(len(texts))] for texts in lists]
    candidates = CandidateLists.from_texts(lists)
    wrong = [text != right for texts, right in zip(lists, references, strict=True) for text in texts]
    # wrong candidates cost 1 to 3
    candidates = replace(
        candidates, costs=(np.array(wrong) * rng.integers(1, 4, len(wrong))).astype(np.float32)
    )
    outcomes = Outcomes.from_lists(
        candidates, scores=rng.normal(size=len(wrong)) - wrong, references=references, units=np.arange(n) // 3
    )
    chosen = np.where(rng.random(n) < 0.1, -1, outcomes.chosen)
    return outcomes.with_chosen(chosen)


def check_measure(
    measure: Measure,
    problem: Outcomes | None = None,
    *,
    answers: Sequence[tuple[Outcomes, float]] = (),
    within: float = 1e-9,
) -> list[Check]:
    """Return the checks of a measure.

    Parameters
    ----------
    measure : Measure
    problem : Outcomes, optional
        Outcomes on which it is defined; by default `disambig.testing.outcomes`.
    answers : sequence of (Outcomes, float)
        Outcomes with the value of the measure.
    within : float
        Tolerance, relative to the largest value.
    """
    return collect_checks(
        _MeasureChecks(measure, outcomes() if problem is None else problem, answers, within)
    )


@dataclass
class _MeasureChecks:
    _measure: Measure
    _problem: Outcomes
    _answers: Sequence[tuple[Outcomes, float]]
    _within: float

    def describes_itself(self) -> None:
        for what in ("name", "unit"):
            text = getattr(self._measure, what, None)
            require(isinstance(text, str) and text, f"its {what} is {text!r}: give a text")
        part = describe_component("measures", self._measure)
        check_call(part, self._measure, "value", "value(outcomes)", None)
        more = getattr(self._measure, "more_is_better", None)
        require(isinstance(more, bool), f"more_is_better is {more!r}: set it to True or False")

    def does_not_change_outcomes(self) -> None:
        # before other checks, which compute values of the outcomes themselves
        outcomes_copy = copy.deepcopy(self._problem)
        self._measure.value(outcomes_copy)
        for what in ("offsets", "scores", "chosen", "gold", "cost", "ids", "ranks", "units"):
            require_equal(getattr(outcomes_copy, what), getattr(self._problem, what), what)

    def returns_one_number(self) -> None:
        value = self._measure.value(self._problem)
        is_finite = isinstance(value, float) and np.isfinite(value)
        require(is_finite, f"the value is {value!r}, not a finite float")

    def returns_known_values(self) -> None:
        for number, (problem, answer) in enumerate(self._answers):
            seen = self._measure.value(problem)
            require_close([seen], [answer], f"answer {number}", within=self._within)

    def is_best_if_everything_is_right(self) -> None:
        best, worst = (self._measure.value(self._decided_by(sign * self._problem.cost)) for sign in (-1, 1))
        holds = best >= worst if self._measure.more_is_better else best <= worst
        require(holds, f"{best} if all is right, {worst} if all is wrong: is more_is_better reversed?")

    def does_not_depend_on_order(self) -> None:
        order = np.random.default_rng(0).permutation(len(self._problem))
        seen = self._measure.value(self._problem.take(order))
        self._agree([seen], [self._measure.value(self._problem)], "in another order")

    def accepts_no_instances(self) -> None:
        value = self._measure.value(self._problem.take(np.zeros(0, np.int64)))
        require(
            isinstance(value, float), f"the value without instances is {value!r}: return a float, such as NaN"
        )

    def value_of_sums_equals_value(self) -> None:
        counts = next(times_drawn(len(self._problem), 20, np.random.default_rng(0)))
        instances = np.arange(len(self._problem))
        expected = [
            self._measure.value(self._problem.take(np.repeat(instances, row.astype(int)))) for row in counts
        ]
        if isinstance(self._measure, AddsUp):
            terms = self._measure.terms(self._problem)
            n = len(self._problem)
            require(terms.ndim == 2 and len(terms) == n, f"terms of shape {terms.shape} for {n}")
            self._agree(self._measure.of_sums(counts @ terms), expected, "of_sums")
        if isinstance(self._measure, Reweighs):
            self._agree(self._measure.reweighed(self._problem, counts), expected, "reweighed")

    def right_texts_have_no_cost(self) -> None:
        if isinstance(self._measure, CostsTexts):
            texts = ["to", "too", "to"]
            costs = self._measure.costs(texts, ["to", "to", "to"])
            are_right = costs[0] == costs[2] == 0 < costs[1]
            require(are_right, f"costs of {texts} with the reference 'to' are {costs}")

    def _decided_by(self, scores: np.ndarray) -> Outcomes:
        chosen = segments.argmax(scores, self._problem.offsets)
        return replace(self._problem, scores=scores, chosen=chosen)

    def _agree(self, seen: object, expected: object, what: str) -> None:
        values = np.asarray(seen, np.float64), np.asarray(expected, np.float64)
        require_equal(np.isnan(values[0]), np.isnan(values[1]), f"{what}: whether it is defined")
        defined = ~np.isnan(values[0])
        require_close(values[0][defined], values[1][defined], what, within=self._within)
