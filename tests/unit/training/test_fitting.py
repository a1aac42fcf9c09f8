"""A learner is run: what it takes, its path, and what it must give back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from toy_learners import Perceptron

from disambig.data import CrossedRows, DenseBlocks, DenseLists, SparseRows
from disambig.errors import UserError
from disambig.models import LinearScorer
from disambig.testing import blocks, crossed, dense_lists, lists
from disambig.training import check_scores, fit, mean_cost, to_accepted_storage
from disambig.types import Fitted


@dataclass(frozen=True)
class Sparse(Perceptron):
    """Learns from sparse rows alone."""

    takes = (SparseRows,)
    seen: list = field(default_factory=list)

    def fit(self, batch, *, dev=None, rng=None):
        self.seen.append((type(batch), type(dev)))
        return super().fit(batch)


@pytest.mark.parametrize("batch", [blocks(), lists(), dense_lists(), crossed()])
def test_examples_are_converted_and_the_scorer_scores_them_as_they_are(batch):
    learner = Sparse(epochs=30)
    fitted = fit(learner, batch, dev=batch)
    assert learner.seen == [(SparseRows, SparseRows)]
    assert mean_cost(fitted.scorer, batch) == 0.0
    assert learner.from_state(fitted.scorer.state()).scores(batch).shape == batch.cost.shape


def test_what_is_taken_is_left_as_it_is_and_else_the_best_is_made():
    @dataclass(frozen=True)
    class Several(Perceptron):
        takes = (DenseBlocks, SparseRows, DenseLists)

    for batch in (blocks(3), lists(3), dense_lists(3)):
        assert to_accepted_storage(Several(), batch) is batch
    assert type(to_accepted_storage(Several(), crossed(3))) is SparseRows
    assert to_accepted_storage(Perceptron(), crossed(3)).rows.shape == (3, 8)  # it says nothing: any
    with pytest.raises(UserError, match=r"D459.*CrossedRows.*SparseRows"):

        @dataclass(frozen=True)
        class Rows(Perceptron):
            takes = (CrossedRows,)

        fit(Rows(), lists(3))


def given(scorer=None, **report):
    """Return a learner that gives this."""

    @dataclass(frozen=True)
    class Given(Perceptron):
        def fit(self, batch, *, dev=None, rng=None):
            return Fitted(LinearScorer(np.zeros(len(batch.columns))) if scorer is None else scorer, report)

    return Given()


class Scores:
    """A scorer that gives something."""

    def __init__(self, scores, state=None):
        self.gives, self.keeps = scores, {} if state is None else state

    def scores(self, batch):
        return self.gives(batch)

    def state(self):
        return self.keeps


def some(batch):
    return np.zeros(len(batch.cost))


BROKEN = {
    "another shape": (
        Scores(lambda b: np.zeros((len(b.cost), 1))),
        r"shape \(\d+, 1\).*one finite float for",
    ),
    "too few": (Scores(lambda b: np.zeros(3)), r"scores gave an array of shape \(3,\)"),
    "whole numbers": (Scores(lambda b: np.zeros(len(b.cost), int)), "an array of int64"),
    "a list": (Scores(lambda b: [0.0] * len(b.cost)), "scores gave a list"),
    "nothing": (Scores(lambda b: None), "scores gave None"),
    "NaN": (Scores(lambda b: np.full(len(b.cost), np.nan)), "scores are nan, the first of row 0"),
    "texts kept": (Scores(some, {"words": np.array(["a"])}), "under 'words'.*arrays of numbers"),
    "no arrays kept": (Scores(some, [1.0]), "state gave a list"),
    "no state": (type("Half", (), {"scores": staticmethod(some)})(), "Half of .* no method state"),
    "no scores": (type("Half", (), {"state": dict})(), "no method scores"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_scorer_that_breaks_its_contract_is_named(case):
    scorer, message = BROKEN[case]
    with pytest.raises(UserError, match=message) as caught:
        fit(given(scorer), lists(), part="the learner mine.Given.v1")
    assert caught.value.code == "D414"
    assert "mine.Given.v1" in str(caught.value)
    assert "a mistake in the plugin" in str(caught.value)


def test_a_learner_that_breaks_its_contract_is_named():
    with pytest.raises(UserError, match=r"D414.*report has an array.*under 'found'.*plain values"):
        fit(given(found=np.zeros(3)), lists())

    class Silent(Perceptron):
        def fit(self, batch, *, dev=None, rng=None):
            return None

    with pytest.raises(UserError, match=r"D414.*learner Silent: fit gave None; the contract says Fitted"):
        fit(Silent(), lists())
    with pytest.raises(UserError, match=r"D414.*no method fit"):
        fit(object(), lists())

    class Names(Perceptron):
        takes = ("SparseRows",)

    with pytest.raises(UserError, match=r"D414.*takes is \('SparseRows',\)"):
        fit(Names(), lists())


def test_good_scores_are_good():
    check_scores(np.zeros(len(lists().cost), np.float32), lists(), part="anything")
