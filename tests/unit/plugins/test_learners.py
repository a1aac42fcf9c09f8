"""The learners of the plugin keep the contract and do what they say."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm.learners import GRID, Majority, SumLM, VarianceSVM, dev_accuracy, variance_svm

from disambig.data import SparseRows, convert
from disambig.errors import UserError
from disambig.testing import blocks, check_learner

LEARNERS = {
    "sum": check_learner(SumLM(patterns=("3-gram",))),
    "majority": check_learner(Majority()),
    "variance": check_learner(VarianceSVM(C=0.1, variance=("3-gram", "4-gram")), least=1.0),
    "variance-path": check_learner(VarianceSVM(variance=("3-gram",), free=("bias",)), least=1.0),
}


@pytest.mark.parametrize(
    "check",
    [pytest.param(check, id=f"{name}-{check}") for name, checks in LEARNERS.items() for check in checks],
)
def test_contract(check):
    check()


def test_the_sum_is_the_sum_of_the_chosen_patterns():
    batch = blocks(7)
    scorer = SumLM(patterns=("3-gram", "5-gram")).fit(batch).scorer
    expected = batch.values[:, :, 1] + batch.values[:, :, 3]
    assert scorer.scores(batch) == pytest.approx(expected.ravel())
    assert not SumLM().needs_training


def test_the_majority_is_what_was_right_most_often():
    batch = blocks(50)
    scores = Majority().fit(batch).scorer.scores(batch).reshape(50, 3)
    assert (scores == (batch.costs == 0).sum(axis=0)).all()


def test_an_unknown_feature_group_is_the_users_to_put_right():
    for learner in (
        SumLM(patterns=("7-gram",)),
        VarianceSVM(variance=("7-gram",)),
        VarianceSVM(free=("none",)),
    ):
        with pytest.raises(UserError) as caught:
            learner.fit(blocks(5))
        assert caught.value.code == "D451"
        assert "bias" in str(caught.value)


def test_c_is_chosen_on_development_data_from_the_grid():
    train, dev = blocks(40, seed=1), blocks(40, seed=2)
    fitted = VarianceSVM(variance=("2-gram", "4-gram")).fit(train, dev=dev)
    tried = {float(c): share for c, share in fitted.report["dev_accuracy"].items()}
    assert list(tried) == [float(f"{c / 40:g}") for c in GRID[: len(tried)]]
    assert tried[fitted.report["C"]] == max(tried.values())
    assert dev_accuracy(dev, fitted.scorer.scores(dev)) == max(tried.values())
    alone = VarianceSVM(C=fitted.report["C"], variance=("2-gram", "4-gram")).fit(train)
    assert alone.report["objective"] == pytest.approx(fitted.report["objective"], rel=2e-3)


def test_a_given_c_is_kept_and_the_first_of_equals_is_chosen():
    train, dev = blocks(30, seed=3), blocks(30, seed=4)
    assert VarianceSVM(C=0.5, variance=("3-gram",)).fit(train, dev=dev).report["C"] == 0.5
    fitted = VarianceSVM(variance=("3-gram",)).fit(train, dev=dev)  # right everywhere from the start
    assert fitted.report["C"] == float(f"{GRID[0] / 30:g}")
    assert len(fitted.report["dev_accuracy"]) == 1  # nothing can be better


def test_repeatable_bit_for_bit_with_a_path():
    train, dev = blocks(40, seed=5), blocks(40, seed=6)
    learner = VarianceSVM(variance=("2-gram",))
    first, second = (learner.fit(train, dev=dev, rng=np.random.default_rng(i)) for i in range(2))
    assert np.array_equal(first.scorer.weights, second.scorer.weights)
    assert first.report == second.report


def test_learns_more_than_the_sum_where_weights_differ():
    batch = blocks(80, seed=7)
    patterns = ("2-gram", "3-gram", "4-gram", "5-gram")
    unsupervised = dev_accuracy(batch, SumLM(patterns=patterns).fit(batch).scorer.scores(batch))
    learned = VarianceSVM(C=1.0, variance=patterns).fit(batch).scorer.scores(batch)
    assert unsupervised < 0.9
    assert dev_accuracy(batch, learned) == 1.0


def test_a_full_matrix_needs_class_blocks():
    with pytest.raises(UserError, match=r"D459.*accepts DenseBlocks.*produce SparseRows"):
        VarianceSVM(full_matrix=True).fit(convert(blocks(3), SparseRows))


def test_a_level_stretch_does_not_end_the_search_for_c(monkeypatch):
    """Small values of C may decide all for the most frequent class; the better ones lie behind."""
    shares = [0.8] * 7 + [0.79, 0.8, 0.9, 0.89, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6]
    said = iter(shares)
    monkeypatch.setattr(variance_svm, "dev_quality", lambda batch, scores: next(said))
    fitted = VarianceSVM(variance=("3-gram",)).fit(blocks(20, seed=1), dev=blocks(40, seed=2))
    assert fitted.report["C"] == float(f"{GRID[9] / 20:g}")
    assert list(fitted.report["dev_accuracy"].values()) == shares[:14]


BAD = {
    "D700 string": {"C": "a"},
    "D700 truth": {"C": True},
    "D700 array": {"C": np.array([1.0, 2.0])},
    "D700 beyond": {"C": 1e300},
    "D702 string": {"p": {"bias": "x"}},
    "D702 truth": {"p": {"bias": True}},
    "D702 list": {"p": [1, 2]},
    "D704 strings": {"prior": ["a"] * 15},
    "D704 matrix": {"prior": np.ones((15, 2))},
    "D704 ragged": {"prior": [[1.0], [1.0, 2.0]]},
    "D704 truths": {"prior": [True] * 15},
    "D710 variance": {"variance": "3-gram"},
    "D710 none": {"variance": None},
    "D710 number": {"variance": (("3-gram", 4),)},
    "D710 free": {"free": "bias"},
    "D710 nested": {"free": (("bias",),)},
    "D710 sum": {"sum": "3-gram"},
    "D760 below": {"tolerance": -1},
    "D760 NaN": {"tolerance": float("nan")},
    "D760 string": {"tolerance": "x"},
}


@pytest.mark.parametrize("case", BAD)
def test_settings_of_other_kinds_are_named(case):
    with pytest.raises(UserError) as caught:
        VarianceSVM(**{"variance": ("3-gram",)} | BAD[case]).fit(blocks(10))
    assert caught.value.code == case[:4]
    name = next(iter(BAD[case]))
    assert str(caught.value)[7:].startswith((f"{name} ", f"VarianceSVM.{name} "))


def test_a_weighting_counts_by_its_proportions_however_large():
    """The sum of large numbers is infinite: nothing would be regularised."""
    batch, names = blocks(30, seed=1), ("2-gram", "3-gram", "4-gram", "5-gram", "bias")

    def fitted(scale):
        p = {name: scale * (i + 1) for i, name in enumerate(names)}
        return VarianceSVM(C=0.01, variance=("3-gram",), p=p).fit(batch).scorer.weights

    assert fitted(2e307) == pytest.approx(fitted(1.0))
    assert fitted(1e-300) == pytest.approx(fitted(1.0))


def test_the_largest_c_allowed_has_an_answer():
    batch = blocks(20, seed=1)
    assert np.isfinite(VarianceSVM(C=1e12, variance=("3-gram",)).fit(batch).scorer.weights).all()


def test_development_attributes_that_are_no_numbers_are_named():
    dev = blocks(10, seed=1)
    dev.values[4, 1, 2] = np.inf
    with pytest.raises(UserError, match=r"D703.*example 4, attribute 2"):
        VarianceSVM(variance=("3-gram",)).fit(blocks(10), dev=dev)
