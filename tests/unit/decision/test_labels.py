"""Labels: probabilities, offsets and thresholds, compared with brute force and scikit-learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from disambig.decision import Labels, best_threshold, labels
from disambig.errors import UserError
from disambig.testing.checks import make_calibration_data


def two_labels(n=400, seed=0):
    rng = np.random.default_rng(seed)
    gold = (rng.random(n) < 0.15).astype(np.int32)
    margin = 3.0 * rng.normal(size=n) + 6.0 * gold - 4.0
    return np.stack([np.zeros(n), margin], axis=1), gold


def test_probabilities_of_two_labels_are_those_of_a_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    scores, gold = two_labels(4000)
    fitted = labels.fit_labels([scores], [gold], metric=("accuracy", None))
    chosen, margin, probability = fitted.choose(scores, 0)
    other = LogisticRegression(C=1e6).fit(scores[:, 1:], gold)
    expected = other.predict_proba(scores[:, 1:])
    np.testing.assert_allclose(probability, expected.max(axis=1), atol=0.02)
    assert (chosen == other.predict(scores[:, 1:])).mean() > 0.99
    assert (margin >= 0).all()


def test_units_of_the_scores_do_not_matter():
    scores, gold = two_labels()
    one, other = (labels.fit_labels([k * scores], [gold], metric=("f1", 1)) for k in (1.0, 1e-5))
    np.testing.assert_array_equal(one.choose(scores, 0)[0], other.choose(1e-5 * scores, 0)[0])


def test_offset_improves_f1():
    from sklearn.metrics import f1_score

    scores, gold = two_labels()
    plain, offset = (labels.fit_labels([scores], [gold], metric=m) for m in (("accuracy", None), ("f1", 1)))
    f1 = [f1_score(gold, fitted.choose(scores, 0)[0]) for fitted in (plain, offset)]
    assert f1[1] >= f1[0]
    assert not plain.offset.any() and offset.offset.any()


@given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=1, max_size=30))
def test_threshold_maximises_f1(examples):
    scores = np.array([score for score, _ in examples], float)
    positive = np.array([label for _, label in examples])

    def f1(threshold):
        called = scores > threshold
        return 2 * (called & positive).sum() / max(called.sum() + positive.sum(), 1)

    best = max(f1(t) for t in np.arange(-6.5, 6))
    if positive.any():
        assert f1(best_threshold(scores, positive)) == pytest.approx(best)
    else:
        assert best_threshold(scores, positive) == 0.0


def test_chooses_the_most_probable_label():
    scores, gold = two_labels()
    fitted = labels.fit_labels([scores], [gold], metric=("f1", 1))
    shifted = replace(fitted, offset=np.array([[0.0, 2.0]]))
    chosen, margin, probability = shifted.choose(scores, 0)
    assert (probability >= 0.5).all() and (chosen != fitted.choose(scores, 0)[0]).any()
    np.testing.assert_allclose(np.log(probability / (1 - probability)), margin, atol=1e-6)


def test_probabilities_of_a_favoured_rare_label_are_calibrated():
    rng = np.random.default_rng(0)
    gold = (rng.random(4000) < 0.1).astype(np.int32)
    lead = rng.normal(size=4000) - 3.0 + 3.0 * gold
    gold = np.where(rng.random(4000) < 0.05, 1 - gold, gold)  # wrong labels can be anywhere
    scores = np.stack([-lead, lead], axis=1)
    fitted = labels.fit_labels([scores], [gold], metric=("f1", 1))
    rare = labels.label_softmax(fitted.logits(scores, 0))[:, 1]
    plain = labels.label_softmax(replace(fitted, sides=None).logits(scores, 0))[:, 1]
    assert ((rare >= 0.5) == (plain >= 0.5)).all() and (rare >= 0.5).mean() > 0.08
    assert abs(rare.mean() - gold.mean()) < 0.03 < 0.04 < plain.mean() - gold.mean()


def test_reads_a_state_without_sides():
    built = make_calibration_data("labels")
    fitted = replace(Labels.unfitted().fit(built), sides=np.full((2, 2), 0.5))
    state = fitted.state()
    again = Labels.unfitted().from_state(state, built.task.groups)
    assert again.sides is not None and (again.sides == 0.5).all()
    without = {name: array for name, array in state.items() if name != "sides"}
    assert Labels.unfitted().from_state(without, built.task.groups).sides is None
    for sides in (np.ones((1, 2)), np.zeros((2, 2))):
        with pytest.raises(ValueError, match="calibration"):
            Labels.unfitted().from_state({**state, "sides": sides}, built.task.groups)


def test_three_labels_and_groups_of_other_sizes():
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, 300).astype(np.int32)
    scores = rng.normal(size=(300, 3)) + 2 * np.eye(3)[gold]
    pair, right = two_labels()
    fitted = labels.fit_labels([scores, pair], [gold, right], metric=("accuracy", None))
    chosen, _, probability = fitted.choose(scores, 0)
    assert (chosen == gold).mean() > 0.7
    assert (probability >= 1 / 3 - 1e-9).all() and (probability <= 1).all()
    assert fitted.bias.shape == (2, 3)
    np.testing.assert_allclose(labels.label_softmax(fitted.logits(scores, 0)).sum(axis=1), 1)


def test_probability_of_an_only_candidate_follows_the_rule_of_succession():
    few, many = (
        labels.fit_labels([np.zeros((n, 1))], [np.zeros(n, np.int32)], metric=("accuracy", None))
        for n in (3, 98)
    )
    for fitted, n in ((few, 3), (many, 98)):
        chosen, margin, probability = fitted.choose(np.array([[-3.0], [2.0]]), 0)
        assert chosen.tolist() == [0, 0]
        np.testing.assert_allclose(probability, (n + 1) / (n + 2))  # Laplace's rule of succession
        np.testing.assert_allclose(margin, np.log(n + 1))
    assert len(few.choose(np.zeros((0, 1)), 0)[0]) == 0


@pytest.mark.parametrize(
    "change",
    [
        {"scale": np.ones(3)},
        {"scale": np.array([1.0, 0.0])},
        {"bias": np.zeros((2, 2))},
        {"offset": np.zeros((1, 3))},
        {"least_margin": np.array([-1.0])},
        {"least_margin": np.array([np.nan])},
    ],
)
def test_rejects_a_state_that_does_not_fit(change):
    built = make_calibration_data("labels")
    state = Labels.unfitted().fit(built).state()
    with pytest.raises(ValueError, match="calibration of labels"):
        Labels.unfitted().from_state({**state, **change}, built.task.groups)


def many_groups(n_groups=40, n=60, seed=0):
    """Return scores with the same meaning in all groups, each of which has too few examples alone."""
    rng = np.random.default_rng(seed)
    gold = [(rng.random(n) < 0.2).astype(np.int32) for _ in range(n_groups)]
    lead = [rng.normal(size=n) + 2 * right - 1 + np.log(0.25) / 2 for right in gold]
    return [np.stack([np.zeros(n), item], axis=1) for item in lead], gold


def test_shrinks_groups_to_their_common_calibration():
    scores, gold = many_groups()
    drawn, alone = (labels.fit_labels(scores, gold, metric=("accuracy", None), drawn=d) for d in (60.0, 0.0))
    assert drawn.scale.std() < 0.5 * alone.scale.std()
    assert np.abs(drawn.bias).mean() < 0.5 * np.abs(alone.bias).mean()
    fresh, right = many_groups(seed=1)

    def loss(fitted):
        shares = [labels.label_softmax(fitted.logits(s, g)) for g, s in enumerate(fresh)]
        result = [share[np.arange(len(share)), gold] for share, gold in zip(shares, right, strict=True)]
        return -np.mean(np.log(np.concatenate(result)))

    assert loss(drawn) < loss(alone)


def test_one_group_and_uninformative_scores_are_not_shrunk():
    scores, gold = many_groups(4)
    (one, other) = (
        labels.fit_labels(scores[:1], gold[:1], metric=("accuracy", None), drawn=d) for d in (60.0, 0.0)
    )
    assert np.array_equal(one.bias, other.bias)
    scores.append(np.zeros((90, 2)))
    gold.append(np.repeat([0, 1], [30, 60]).astype(np.int32))
    fitted = labels.fit_labels(scores, gold, metric=("accuracy", None), drawn=60.0)
    chosen, _, probability = fitted.choose(np.zeros((1, 2)), 4)
    assert chosen.tolist() == [1] and 0.6 < probability[0] < 0.7


def test_state_keeps_margin_and_shrinkage_and_shrinkage_is_validated():
    built = make_calibration_data("labels")
    fitted = Labels.unfitted(0.3, 9.0).fit(built)
    again = Labels.unfitted(drawn=9.0).from_state(fitted.state(), built.task.groups)
    assert (again.drawn, again.least_margin) == (fitted.drawn, fitted.least_margin) == (9.0, 0.3)
    scored = built.scored(0)
    assert np.array_equal(again.judge(scored).answered, fitted.judge(scored).margins.astype("f4") >= 0.3)
    with pytest.raises(UserError, match="D780"):
        Labels.unfitted(drawn=-1.0)


@pytest.mark.parametrize("value", [-0.5, float("nan"), True, "1"])
@pytest.mark.parametrize("setting", ["least_margin", "drawn"])
def test_rejects_invalid_settings(setting, value):
    with pytest.raises(UserError, match=rf"D780.*Labels.{setting}"):
        Labels.unfitted(**{setting: value})
