"""What a judge of mistakes knows of what it will find: at each rate, of mistakes that it has not seen."""

from __future__ import annotations

import numpy as np
import pytest
from test_judge_of_mistakes import FITTED, GROUP, WithMistakes, scored, with_mistakes, writers

from disambig.data import Group
from disambig.decision import RATES, Mistakes
from disambig.testing import check_judge
from disambig.testing.checks import MadeTask, make_calibration_data
from disambig.types import Decides


def test_what_it_will_find_of_all_mistakes_is_known_at_each_rate():
    """Said of mistakes that it learned from, it holds of others; mistakes of other tasks count as well."""
    judge = Mistakes().fit(with_mistakes(20_000, habit=0.8, lead=3.0))
    rates, gains = judge.gains()
    assert rates.tolist() == list(RATES) and (np.diff(gains) >= 0).all() and gains[-1] > gains[0]
    _, wrong = writers(20_000, habit=0.8, lead=3.0, seed=7)
    meant = wrong.cost.reshape(-1, 3).argmin(axis=1)
    for rate, gain in list(zip(rates.tolist(), gains.tolist(), strict=True))[::5]:
        found = judge.judge(wrong, flags_per_1000=rate)
        assert gain == pytest.approx((found.flagged & (found.chosen == meant)).mean() / 2, abs=0.025)
    again = Mistakes().from_state(judge.state(), (GROUP,))
    assert np.array_equal(again.gains()[1], gains)


def test_what_it_finds_is_said_by_weights_that_were_learned_without():
    """Each writer makes a mistake of his own, which says nothing of others: learned by heart, not found."""
    n = 40
    group = Group("many", tuple(f"w{i}" for i in range(2 * n)))
    rng = np.random.default_rng(0)
    right = scored(rng.normal(size=(4000, 2 * n)), rng.integers(0, 2 * n, 4000), group=group)
    cost = np.ones((n, 2 * n))
    cost[np.arange(n), n + np.arange(n)] = 0
    scores = rng.normal(size=(n, 2 * n))
    scores[np.arange(n), n + np.arange(n)] += 2.0  # among the best, seldom the best
    wrong = scored(scores, np.arange(n), cost, group=group)
    made = WithMistakes(MadeTask(Decides(), (group,)), (right,), 40_000, wrong)
    judge = Mistakes(flags_per_1000=12.0).fit(made)
    by_heart = judge.judge(wrong)
    seen = (by_heart.flagged & (by_heart.chosen == n + np.arange(n))).mean() / 2
    assert judge.gains()[1][-1] < 0.7 * seen


def test_a_judge_that_learned_from_no_people_or_long_ago_knows_of_no_gains():
    assert Mistakes().fit(make_calibration_data()).gains() is None
    state = dict(FITTED.state())
    del state["found"]
    assert Mistakes().from_state(state, (GROUP,)).gains() is None


@pytest.mark.parametrize("check", check_judge(Mistakes(), with_mistakes(habit=0.9)), ids=str)
def test_the_contract_holds_with_mistakes_of_people(check):
    check()
