"""The suite shipped to plugin authors finds what is broken, and says so."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace

import numpy as np
import pytest
from toy_learners import Constant, Perceptron
from toy_plugin import NearbyWords, Pairs

from disambig import testing
from disambig.api import Fitted, LinearScorer, SparseRows
from disambig.testing import blocks, check_extractor, check_learner, check_task, crossed, lists
from disambig.testing.checks import require_batch

TEXTS = ["It is quite quiet.", "A piece of cake."]


def failures(checks):
    failed = {}
    for check in checks:
        try:
            check()
        except AssertionError as problem:
            failed[check.name] = str(problem)
    return failed


def test_a_check_is_a_pair_of_a_name_and_a_function():
    name, run = check_learner(Constant())[0]
    assert name == str(check_learner(Constant())[0]) == "says_whether_it_needs_training"
    assert run() is None


def test_every_function_of_the_suite_is_in_its_documentation():
    said = inspect.getdoc(testing)
    assert said is not None
    assert "check_learner(MyLearner())" in said
    assert {name for name in testing.__all__ if name.startswith("check_")} == {
        "check_batch",
        "check_decoder",
        "check_extractor",
        "check_judge",
        "check_kernel",
        "check_learner",
        "check_measure",
        "check_reader",
        "check_runner",
        "check_task",
    }


@pytest.mark.parametrize("batch", [blocks(), lists(), crossed()], ids=lambda batch: type(batch).__name__)
def test_the_shipped_problems_are_in_order_and_can_be_solved(batch):
    require_batch(batch, "problem")
    assert failures(check_learner(Perceptron(), batch, least=1.0)) == {}


class Moody(Perceptron):
    """Differs from call to call and forgets what it knew."""

    def fit(self, batch, *, dev=None, rng=None):
        noise = np.random.default_rng().normal(size=len(batch.columns))
        return Fitted(LinearScorer(noise), {"array": noise})

    def from_state(self, arrays):
        return LinearScorer(np.zeros_like(arrays["weights"]))


def test_a_broken_learner_is_found_out():
    failed = failures(check_learner(Moody(), least=1.0))
    assert {"is_repeatable", "reports_plain_values", "keeps_all_in_its_state", "learns"} <= set(failed)
    assert "expected at least 100.0%" in failed["learns"]
    assert "gives_one_finite_score_a_row" not in failed


class Greedy(Perceptron):
    """Changes the examples it was given."""

    def fit(self, batch, *, dev=None, rng=None):
        batch.values[:] = 0
        return super().fit(batch)


def test_a_learner_that_spoils_its_examples_is_found_out():
    assert "leaves_examples_alone" in failures(check_learner(Greedy(epochs=3), blocks(20)))


@dataclass(frozen=True)
class Shuffled(Pairs):
    """Finds things from the end, and takes the full stop for a word."""

    def instances(self, view):
        found = super().instances(view)
        return replace(found, positions=found.positions[::-1] + 1)


def test_a_broken_task_is_found_out():
    assert failures(check_task(Pairs(), TEXTS)) == {}
    failed = failures(check_task(Shuffled(), TEXTS))
    assert {"keeps_text_order", "observes_what_stands_there"} <= set(failed)
    assert failures(check_task(Pairs(("same/same",)), TEXTS)).keys() >= {"has_groups_of_candidates"}
    assert (
        "give texts with something to decide"
        in failures(check_task(Pairs(), ["Nothing."]))["finds_instances"]
    )


class Forgetful(NearbyWords):
    """Its state comes back empty, and it finds more than it asks for."""

    def fit(self, view, instances, groups):
        return Forgetful(self.reach, super().fit(view, instances, groups).vocabulary)

    def transform(self, view, instances, group):
        features = super().transform(view, instances, group)
        return replace(features, asked=features.found - 1)

    def from_state(self, arrays):
        return Forgetful(self.reach, arrays["vocabulary"][::-1])


def test_a_broken_extractor_is_found_out():
    failed = failures(check_extractor(Forgetful(), Pairs(), TEXTS))
    assert set(failed) == {"counts_its_evidence", "keeps_all_in_its_state"}


class Lopsided(SparseRows):
    """Its adjoint is another matrix's."""

    def adjoint(self, mass):
        return 2 * super().adjoint(mass)


def test_a_broken_batch_is_found_out():
    good = lists(5)
    bad = Lopsided(good.rows, good.offsets, good.cost, good.columns)
    with pytest.raises(AssertionError, match="adjoint and scores do not match"):
        require_batch(bad, "lists")
    with pytest.raises(AssertionError, match="an instance has no row"):
        require_batch(replace(good, offsets=np.insert(good.offsets, 1, 0)), "lists")
