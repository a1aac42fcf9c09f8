"""Weights of feature groups: alignment by its definition, the search by leave-one-out."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_kernel_rls.rls import (
    DualSystem,
    FeatureGroups,
    PrimalSystem,
    RLSCComb,
    alignment_weights,
    alignments,
    leave_one_out_qualities,
    search_weights,
)
from hypothesis import given
from hypothesis import strategies as st
from sense_rows import made, rows_of
from sklearn.preprocessing import normalize

NAMES = ("signal", "noise", "more noise")


def informative(n=60, *, seed=0):
    """Return instances of which the first of three feature groups says the sense and the others nothing."""
    rng = np.random.default_rng(seed)
    right = rng.integers(3, size=n)
    signal = (rng.random((n, 60)) < np.where(np.arange(60) % 3 == right[:, None], 0.25, 0.1)).astype(float)
    noise = (rng.random((n, 120)) < 0.1).astype(float)
    groups = np.repeat(np.arange(3), 60).astype(np.int32)
    return rows_of(np.hstack([signal, noise]), right, 3, groups=groups, group_names=NAMES)


@given(n=st.integers(2, 25), seed=st.integers(0, 10**6), several=st.sampled_from([0.0, 0.4]))
def test_alignment_is_the_cosine_of_centred_matrices(n, seed, several):
    batch = made(n, 30, seed=seed, several=several)
    groups = FeatureGroups.from_batch(batch)
    targets = np.where(batch.costs == 0, 1.0, -1.0)
    centring = np.eye(n) - 1 / n
    ideal = centring @ targets @ targets.T @ centring
    expected = []
    for g in (0, 1):
        part = normalize(batch.rows.toarray()[:, g::2])
        assert groups.grams[g] == pytest.approx(part @ part.T)
        gram = centring @ part @ part.T @ centring
        lengths = np.linalg.norm(gram) * np.linalg.norm(ideal)
        expected.append((gram * ideal).sum() / lengths if lengths > 1e-10 else 0.0)
    found = alignments(groups.grams, targets)
    assert found == pytest.approx(expected, abs=1e-9)
    shares = alignment_weights(groups)
    assert shares.sum() == pytest.approx(1.0) and (shares >= 0).all()
    positive = np.maximum(expected, 0)
    if positive.sum() > 1e-6:
        assert shares == pytest.approx(positive / positive.sum(), abs=1e-6)


def test_the_targets_own_kernel_is_aligned_best():
    targets = np.where(made(30).costs == 0, 1.0, -1.0)
    grams = np.array([targets @ targets.T, 7 * targets @ targets.T + 3, np.ones((30, 30)), np.eye(30)])
    found = alignments(grams, targets)
    assert found[:3] == pytest.approx([1.0, 1.0, 0.0])
    assert 0 < found[3] < 1
    assert alignments(grams, np.ones((30, 1))).tolist() == [0.0] * 4


@pytest.mark.parametrize("weights", ["alignment", "loo"])
def test_the_feature_group_that_says_the_sense_weighs_most(weights):
    found = RLSCComb(weights=weights).fit(informative()).report["weights"]
    assert tuple(found) == NAMES
    assert found["signal"] > 0.5
    assert sum(found.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("weights", ["alignment", "loo"])
def test_found_weights_do_better_on_new_instances(weights):
    test = informative(400, seed=1)
    right = test.costs == 0

    def accuracy(learner):
        scores = learner.fit(informative(60)).scorer.scores(test).reshape(right.shape)
        return right[np.arange(len(right)), scores.argmax(axis=1)].mean()

    assert accuracy(RLSCComb(weights=weights)) > accuracy(RLSCComb()) + 0.01


def test_the_search_goes_half_the_way_to_the_best_weights_found():
    groups = FeatureGroups.from_batch(informative(50))
    shares = search_weights(groups, 1e-3)
    best = 2 * shares - 1 / 3
    assert best.sum() == pytest.approx(1.0) and (best > -1e-12).all()
    by = {
        name: leave_one_out_qualities(groups.problem, groups.system(at), [1e-3])[0]
        for name, at in {"equal": groups.equal(), "best": np.maximum(best, 0)}.items()
    }
    assert by["best"] > by["equal"]
    for giver, taker in ((0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)):  # no step from it is better
        moved = np.maximum(best, 0)
        part = min(1 / 16, moved[giver])
        moved[giver] -= part
        moved[taker] += part
        assert leave_one_out_qualities(groups.problem, groups.system(moved), [1e-3])[0] <= by["best"]


def test_both_forms_know_the_same_weights():
    batch = made(70, 40)
    groups, weights = FeatureGroups.from_batch(batch), {"local": 1.0, "broad": 4.0}
    shares = groups.shares(weights)
    assert shares.tolist() == [0.2, 0.8]
    primal = groups.system(shares)
    assert isinstance(primal, PrimalSystem)
    dual = DualSystem(groups.gram(shares))
    rows = groups.rows(shares)
    assert (rows @ rows.T).toarray() == pytest.approx(dual.gram)
    targets = groups.problem.targets
    (ours,), (theirs,) = (list(system.left_out(targets, [0.7])) for system in (primal, dual))
    assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("weights", [None, "alignment", "loo"])
def test_groups_without_features_or_one_group_alone(weights):
    empty = rows_of(np.zeros((4, 6)), [0, 1, 1, 0])
    assert RLSCComb(weights=weights).fit(empty).report["weights"] == {"local": 0.5, "broad": 0.5}
    one = rows_of(np.eye(4), [0, 1, 1, 0], groups=np.zeros(4, np.int32), group_names=("words",))
    assert RLSCComb(weights=weights).fit(one).report["weights"] == {"words": 1.0}
    half = rows_of(np.eye(4), [0, 1, 1, 0], groups=np.zeros(4, np.int32))
    found = RLSCComb(weights=weights).fit(half).report["weights"]
    assert sum(found.values()) == pytest.approx(1.0)
