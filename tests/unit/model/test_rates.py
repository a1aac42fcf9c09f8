"""The rate of each model, of what is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from disambig.errors import UserError
from disambig.models import task_rates
from disambig.types import RaisesFlags


@dataclass(frozen=True)
class Flagging:
    """A judge that flags."""

    flags_per_1000: float = 0.5

    def limit(self, flags_per_1000=None):
        return 0.5


@dataclass(frozen=True)
class Knowing(Flagging):
    """One that knows what it finds."""

    found: tuple[float, float] = (0.0, 0.0)

    def gains(self):
        return np.array([1.0, 2.0]), np.array(self.found)


def models(**judges):
    return [SimpleNamespace(task=SimpleNamespace(name=task), judge=judge) for task, judge in judges.items()]


MUCH, LITTLE = Knowing(found=(0.5, 0.6)), Knowing(found=(0.05, 0.08))


def test_what_flags():
    assert isinstance(Flagging(), RaisesFlags)


def test_one_number_is_shared_by_what_is_gained():
    assert task_rates(models(much=MUCH, little=LITTLE), 1.0) == {"much": 1.0, "little": 0.0}
    assert task_rates(models(little=LITTLE, much=MUCH), 3.0) == pytest.approx({"little": 1.0, "much": 2.0})
    assert sum(task_rates(models(much=MUCH, little=LITTLE), 3.0).values()) == pytest.approx(3.0)


def test_where_one_does_not_know_its_gains_all_get_the_same():
    assert task_rates(models(much=MUCH, other=Flagging()), 1.0) == {"much": 0.5, "other": 0.5}


def test_what_labels_has_no_part_in_it():
    assert task_rates(models(much=MUCH, labels=object()), 1.5) == {"much": 1.5}
    with pytest.raises(UserError, match=r"D950.*'labels'.*available: much"):
        task_rates(models(much=MUCH, labels=object()), {"labels": 1.0})


def test_one_a_task_leaves_the_others_alone():
    assert task_rates(models(much=MUCH, little=LITTLE), {"little": 2}) == {"little": 2.0}
    assert task_rates(models(much=MUCH), None) == {}


@pytest.mark.parametrize("asked", [-1.0, float("nan"), {"much": -1.0}])
def test_impossible_rates(asked):
    with pytest.raises(UserError, match="D401"):
        task_rates(models(much=MUCH), asked)
