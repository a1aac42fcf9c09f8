"""What a task of somebody else's gives is held against its contract, and the part at fault is named."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from disambig.data import Group, Instances, find_instances
from disambig.errors import UserError
from disambig.text import Words

VIEW = Words()(["It was quiet."])
ONE = np.zeros(1, np.int32)
FOUND = Instances(np.ones(1, np.int64), ONE + 1, ONE, ONE)


def task(found):
    return SimpleNamespace(groups=(Group("a/b", ("a", "b")),), instances=lambda view: found)


def test_what_is_right_is_handed_on():
    assert find_instances(task(FOUND), VIEW) is FOUND


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "instances returned NoneType; the contract says Instances"),
        (
            replace(FOUND, lengths=np.ones(1)),
            "lengths is of float64 and shape (1,); the contract says integers",
        ),
        (
            replace(FOUND, observed=np.zeros(2, np.int32)),
            "observed is of int32 and shape (2,); the contract says integers",
        ),
        (
            replace(FOUND, groups=ONE + 1),
            "an instance is of group 1, with 1 in groups; the contract says an index",
        ),
    ],
)
def test_what_is_wrong_is_named(found, said):
    with pytest.raises(UserError) as caught:
        find_instances(task(found), VIEW)
    assert caught.value.code == "D414"
    assert said in str(caught.value)


def test_a_task_without_the_method():
    with pytest.raises(UserError, match="it has no method instances"):
        find_instances(SimpleNamespace(groups=()), VIEW)
