"""The bootstrap, compared with all possible draws, with a naive loop, and with theory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from disambig.metrics import (
    AUC,
    F1,
    Accuracy,
    ErrorRate,
    MacroF1,
    MeanCost,
    Outcomes,
    bootstrap_interval,
    paired_bootstrap,
    resample_figures,
    times_drawn,
)
from disambig.testing import outcomes


@dataclass(frozen=True)
class Plain:
    """A measure with nothing but a value."""

    measure: object

    def value(self, outcomes):
        return self.measure.value(outcomes)


def labels(right):
    right = np.asarray(right)
    return Outcomes.from_group(("yes", "no"), np.zeros(len(right), int), 1 - right)


def test_agrees_with_all_draws_of_three_instances():
    first, second = labels([1, 0, 0]), labels([1, 1, 0])
    exact = np.array([np.mean(np.array([0, 1, 0])[list(draw)]) for draw in product(range(3), repeat=3)])
    result = paired_bootstrap(Accuracy(), first, second, draws=200_000)
    assert result.difference == pytest.approx(1 / 3)
    expected = np.mean(np.abs(exact - exact.mean()) >= 1 / 3 - 1e-12)
    assert result.p == pytest.approx(expected, abs=0.005)
    drawn = resample_figures(Accuracy(), [first, second], draws=200_000, seed=0)
    for value in (0, 1 / 3, 2 / 3, 1):
        share = np.mean(np.isclose(exact, value))
        assert np.mean(np.isclose(drawn[:, 1] - drawn[:, 0], value)) == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize("measure", [ErrorRate(), MacroF1(), AUC("to"), MeanCost()], ids=lambda m: m.name)
def test_agrees_with_a_naive_loop_over_the_same_draws(measure):
    first, second = outcomes(40, seed=1), outcomes(40, seed=2)
    second = replace(second, units=first.units)
    systems, draws = [first, second], 30
    members = [np.flatnonzero(first.units == unit) for unit in np.unique(first.units)]
    counts = np.concatenate(list(times_drawn(len(members), draws, np.random.default_rng(7))))
    naive = [
        [
            measure.value(
                system.take(
                    np.concatenate([members[u] for u in np.repeat(np.arange(len(row)), row.astype(int))])
                )
            )
            for system in systems
        ]
        for row in counts
    ]
    assert counts.sum(axis=1).tolist() == [len(members)] * draws
    for variant in (measure, Plain(measure)):
        figures = resample_figures(variant, systems, draws=draws, seed=7)
        assert figures == pytest.approx(np.array(naive), nan_ok=True)


def test_interval_agrees_with_theory_and_with_drawing_row_by_row():
    rng = np.random.default_rng(0)
    first, second = labels(rng.random(2000) < 0.7), labels(rng.random(2000) < 0.7)
    result = paired_bootstrap(Accuracy(), first, second)
    deviation = np.std(second.right.astype(float) - first.right) / np.sqrt(2000)
    low, high = result.interval
    expected = result.difference - 1.96 * deviation, result.difference + 1.96 * deviation
    assert (low, high) == pytest.approx(expected, abs=0.12 * deviation)
    assert result.p == pytest.approx(2 * norm.sf(abs(result.difference) / deviation), abs=0.03)
    # all rows differ, so that equal rows cannot be drawn together
    slow = resample_figures(AddsNoise(), [first, second], draws=4000, seed=1)
    quick = resample_figures(Accuracy(), [first, second], draws=4000, seed=1)
    assert np.std(slow, axis=0) == pytest.approx(np.std(quick, axis=0), rel=0.08)
    assert np.corrcoef(slow.T)[0, 1] == pytest.approx(np.corrcoef(quick.T)[0, 1], abs=0.08)


class AddsNoise(Accuracy):
    def terms(self, outcomes):
        terms = super().terms(outcomes)
        return terms + np.arange(len(terms))[:, None] * 1e-9


def test_detects_an_improvement_and_no_chance_difference():
    rng = np.random.default_rng(3)
    one = rng.random(3000) < 0.7
    better = one | (rng.random(3000) < 0.1)
    assert paired_bootstrap(Accuracy(), labels(one), labels(better)).p < 0.001
    other = rng.permutation(one)
    assert paired_bootstrap(Accuracy(), labels(one), labels(other)).p > 0.01


def test_a_system_does_not_differ_from_itself():
    given = outcomes(30)
    for measure in (Accuracy(), ErrorRate(), AUC("to")):
        result = paired_bootstrap(measure, given, given, draws=500)
        assert (result.p, result.difference, result.interval) == (1.0, 0.0, (0.0, 0.0))
        assert (
            result.first_interval == result.second_interval == bootstrap_interval(measure, given, draws=500)
        )


def test_same_seed_gives_identical_results():
    first, second = outcomes(30, seed=1), outcomes(30, seed=2)
    again = [paired_bootstrap(ErrorRate(), first, second, draws=300, seed=s) for s in (5, 5, 6)]
    assert again[0] == again[1] != again[2]


def test_resamples_whole_units():
    # ten documents, in each of which all decisions are right or none
    right = np.repeat([1, 0, 1, 0, 1, 0, 1, 0, 1, 0], 20)
    alone = labels(right)
    together = replace(alone, units=np.repeat(np.arange(10), 20))
    narrow, wide = (bootstrap_interval(Accuracy(), given) for given in (alone, together))
    assert wide[1] - wide[0] > 3 * (narrow[1] - narrow[0])
    assert paired_bootstrap(Accuracy(), together, together, draws=10).n_units == 10


def test_leaves_out_draws_without_a_defined_value():
    rare = Outcomes.from_group(("a", "b"), [0, 0, 1], [0, 0, 1])
    result = paired_bootstrap(F1("b"), rare, rare, draws=1000)
    assert 600 < result.draws < 800  # 1 - (2/3) ** 3 of them contain the third instance
    nowhere = paired_bootstrap(F1("c"), rare, rare, draws=100)
    assert nowhere.draws == 0
    assert np.isnan(nowhere.p)
    assert np.isnan(nowhere.interval).all()


def test_systems_must_have_the_same_instances():
    with pytest.raises(ValueError, match="30 and 20 instances"):
        paired_bootstrap(Accuracy(), outcomes(30), outcomes(20))
