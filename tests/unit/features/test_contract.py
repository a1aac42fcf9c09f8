"""What an extractor gives is held against its contract: the part at fault is named, with what it gave."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from toy_learners import Constant, Perceptron
from toy_plugin import NearbyWords, Pairs
from toy_texts import SENTENCES

from disambig.data import CandidateLists
from disambig.errors import UserError
from disambig.features import fit_checked, transform_checked
from disambig.text import Words
from disambig.training import train

TASK = Pairs(("quite/quiet",))
VIEW = Words()(["It is quite quiet here.", "A quiet place."])
INSTANCES = TASK.instances(VIEW)
N = len(INSTANCES)


@dataclass(frozen=True, eq=False)
class Faulty(NearbyWords):
    """Nearby words, spoiled in one way."""

    fault: str = ""

    def fit(self, view, instances, groups):
        if self.fault == "fit":
            return None
        if self.fault == "no state":
            return Stateless()
        return replace(self, vocabulary=super().fit(view, instances, groups).vocabulary)

    def transform(self, view, instances, group):
        found = super().transform(view, instances, group)
        n = len(found.found)
        changes = {
            "rows": {"batch": found.batch.take(np.arange(len(instances) - 1))},
            "length": {"found": found.found[:-1]},
            "asked": {"asked": np.append(found.asked, np.int32(1)).astype(np.int32)},
            "dtype": {"found": found.found.astype(float)},
            "list": {"found": [0] * n},
            "table": {"found": found.found.reshape(-1, 2)},
            "flat": {"batch": replace(found.batch, costs=found.batch.costs.ravel())},
        }
        return (found.batch, found.found) if self.fault == "tuple" else replace(found, **changes[self.fault])


class ForTables(NearbyWords):
    """Nearby words, which gives something else than features for each group."""

    answer: object = None

    def transform(self, view, table):
        return self.answer


@pytest.mark.parametrize(("answer", "seen"), [(None, "NoneType"), ([], "a list of 0")])
def test_a_table_gives_features_for_each_group(answer, seen):
    extractor = ForTables()
    object.__setattr__(extractor, "answer", answer)
    with pytest.raises(UserError, match=f"D414.*transform returned {seen};.*list of 1 Features"):
        transform_checked(extractor, VIEW, INSTANCES, TASK.groups[0])


def test_transform_may_have_the_parameters_of_earlier_releases():
    class Earlier:
        def transform(self, view, instances, group):
            return fitted.transform(view, instances, group)

    fitted = NearbyWords().fit(VIEW, INSTANCES, TASK.groups)
    features = transform_checked(Earlier(), VIEW, INSTANCES, TASK.groups[0])
    assert len(features.batch.offsets) == len(INSTANCES) + 1


class Stateless:
    """An extractor that was fitted and cannot be saved."""

    def transform(self, view, instances, group):
        raise NotImplementedError

    def from_state(self, arrays):
        return self


@pytest.mark.parametrize(
    ("fault", "seen", "wanted"),
    [
        ("tuple", "transform returned tuple", "Features"),
        (
            "rows",
            f"transform gave {N - 1} instances with {2 * N - 2} rows",
            f"{N} with {2 * N}: one row per candidate",
        ),
        (
            "length",
            f"found is of int32 and shape ({2 * N - 1},)",
            f"an integer array of shape ({2 * N},), one per candidate",
        ),
        ("asked", f"asked is of int32 and shape ({2 * N + 1},)", f"an integer array of shape ({2 * N},)"),
        ("dtype", f"found is of float64 and shape ({2 * N},)", f"an integer array of shape ({2 * N},)"),
        (
            "flat",
            f"transform gave CrossedRows with costs of float32 and shape ({2 * N},)",
            f"shape ({N}, 2): one row per instance",
        ),
        ("list", "found is list", f"an integer array of shape ({2 * N},)"),
        ("table", f"found is of int32 and shape ({N}, 2)", f"an integer array of shape ({2 * N},)"),
    ],
)
def test_what_transform_gives_is_checked(fault, seen, wanted):
    extractor = Faulty(fault=fault).fit(VIEW, INSTANCES, TASK.groups)
    with pytest.raises(UserError) as caught:
        transform_checked(extractor, VIEW, INSTANCES, TASK.groups[0])
    message = str(caught.value)
    assert caught.value.code == "D414" and "\n" not in message
    assert message.startswith(f"[D414] the extractor Faulty: {seen}; the contract says {wanted}")


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("fit", "fit returned NoneType without transform"),
        ("no state", "fit returned Stateless without state"),
    ],
)
def test_what_fit_returns_is_checked(fault, seen):
    with pytest.raises(UserError, match="D414") as caught:
        fit_checked(Faulty(fault=fault), VIEW, INSTANCES, TASK.groups)
    assert f"the extractor Faulty: {seen}; the contract says an extractor" in str(caught.value)


def test_what_is_in_order_is_returned_as_it_is():
    extractor = fit_checked(NearbyWords(), VIEW, INSTANCES, TASK.groups)
    found = transform_checked(extractor, VIEW, INSTANCES, TASK.groups[0])
    assert found.found.shape == (2 * N,)


def test_lists_of_ones_own_have_a_row_a_candidate_each():
    """Rows by the group are not rows by the lists, even where there are as many in all."""
    own = CandidateLists.from_texts([["a"], ["a", "b", "c"], ["a", "b"]])
    assert own.offsets[-1] == 2 * N
    extractor = NearbyWords().fit(VIEW, INSTANCES, TASK.groups)
    with pytest.raises(
        UserError, match=f"D414.*{N} instances with {2 * N} rows; the contract says {N} with {2 * N}"
    ):
        transform_checked(extractor, VIEW, replace(INSTANCES, own=own), TASK.groups[0])


@pytest.mark.parametrize("fault", ["rows", "length", "dtype", "fit", "no state"])
def test_training_ends_with_the_name_of_the_part(fault):
    parts = {
        "task": TASK,
        "tokenisation": Words(),
        "extractors": {"near": Faulty(fault=fault)},
        "learner": Perceptron(),
        "baseline": Constant(),
    }
    with pytest.raises(UserError, match=r"D414.*the extractor Faulty"):
        train(parts, {"train": SENTENCES * 3, "dev": SENTENCES}, name="t", min_examples=2)
