"""What the three tables compute by themselves: thresholds, added attributes, claims."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm.experiments import (
    PAPER,
    SYSTEMS,
    WORDS,
    FiveConfusionSets,
    as_in_the_paper,
    best_threshold,
    check_folds,
    check_parts,
    claim_free_bias_helps,
    complete,
    with_difference,
)
from disambig_variance_svm.experiments import learning_curves as curves
from hypothesis import given
from hypothesis import strategies as st

from disambig.data import Columns, DenseBlocks
from disambig.errors import UserError
from disambig.experiments import CurveOutcome
from disambig.text import Words, view_of_texts


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=12))
def test_no_threshold_is_better_than_the_best(examples):
    scores = np.array([float(score) for score, _ in examples])
    gold = np.array([label for _, label in examples])
    limit = best_threshold(scores, gold)
    share = ((scores > limit) == gold).mean()
    tried = [((scores > t) == gold).mean() for t in (-np.inf, *np.arange(-3.5, 4.0), np.inf)]
    assert share == max(tried)


def it_batch(n=6):
    values = np.zeros((n, 2, 4), np.float32)
    values[:, 1] = np.random.default_rng(0).random((n, 4))
    columns = Columns(
        np.ones(4, np.int32), np.array([0, 1, 2, 3], np.int32), ("it", "they", "other", "bias"), list("abcd")
    )
    costs = np.tile(np.array([[0.0, 1.0]], np.float32), (n, 1))
    costs[0] = [1.0, 0.0]
    return DenseBlocks(values, np.tile(np.arange(4), (2, 1)), columns, costs)


def test_the_added_attribute_is_it_less_they():
    batch = it_batch()
    wider = with_difference(batch)
    assert wider.values[:, 1, 4] == pytest.approx(batch.values[:, 1, 0] - batch.values[:, 1, 1])
    assert not wider.values[:, 0].any()
    weights = np.zeros(5)
    weights[4] = 1.0
    plain = np.array([1.0, -1.0, 0.0, 0.0])
    assert wider.scores(weights) == pytest.approx(batch.scores(plain))
    assert wider.columns.in_groups(["sum"]).tolist() == [False] * 4 + [True]


def test_the_papers_share_of_non_referential_ones():
    rows = as_in_the_paper(it_batch(10))
    assert 0 in rows
    assert len(rows) == 1 + round(0.594 / 0.406)


def outcomes(**shares):
    """100 examples; a system that got k right got the first k right."""
    found = {}
    for name, by_size in shares.items():
        for size, right in by_size.items():
            system = {"K": "K-SVM", "CS": "CS-SVM", "VAR": "VAR-SVM"}[name]
            found[system, size] = CurveOutcome([np.arange(100) < right], [{"C": 1.0}], [0.1])
    return found


def test_claims_hold_and_fail_by_their_figures():
    good = curves.mean_accuracies(outcomes(K={10: 20, 100: 50, 10_000: 70}, VAR={10: 70, 100: 71, 1000: 72}))
    assert [curves.claim_no_worse_than_sum(good, least)[0].holds for least in (70.4, 70.6)] == [True, False]
    assert [claim.holds for claim in curves.claim_worth_ten_times(good, "K-SVM")] == [True]
    assert curves.claim_worth_ten_times(good, "CS-SVM") == []
    assert [claim.holds for claim in curves.claim_order(good, ("K-SVM", "VAR-SVM"))] == [True, True]
    assert [claim.holds for claim in curves.claim_order(good, ("VAR-SVM", "K-SVM"))] == [False, False]
    (shrinking,) = curves.claim_gains_shrink(good, "K-SVM")
    assert shrinking.holds
    assert shrinking.evidence == "10: +50.0, 100: +21.0"


def test_differences_are_tested_both_ways():
    found = outcomes(K={10: 20, 100: 69}, VAR={10: 70, 100: 71})
    tests = curves.differences(found, "VAR-SVM")
    assert tests["10"]["K-SVM"]["difference"] == 50.0
    assert tests["10"]["K-SVM"]["chi_squared"] < 1e-9
    assert tests["10"]["K-SVM"]["mcnemar"] < 1e-9
    assert tests["100"]["K-SVM"]["chi_squared"] > 0.5
    assert tests["100"]["K-SVM"]["mcnemar"] == 0.5
    (claim,) = curves.claim_significantly_best(tests, ["K-SVM"])
    assert not claim.holds
    assert "K-SVM at 100" in claim.evidence
    assert "K-SVM at 10 " not in claim.evidence


def test_no_claim_is_made_of_sizes_that_were_not_tried():
    few = curves.mean_accuracies(outcomes(K={1000: 50}, VAR={1000: 70}))
    assert curves.claim_no_worse_than_sum(few, 60.0) == curves.claim_worth_ten_times(few, "K-SVM") == []
    assert curves.claim_order(few, ("K-SVM", "VAR-SVM")) == curves.claim_gains_shrink(few, "K-SVM") == []
    assert curves.claim_significantly_best({}, ["K-SVM"]) == claim_free_bias_helps(few, {}) == []
    (claim,) = curves.claim_significantly_best(
        {"100": {"K-SVM": {"difference": 9, "chi_squared": 0.01, "mcnemar": 0.01}}}, ["K-SVM"]
    )
    assert claim.holds
    assert "up to 100 examples" in claim.claim
    said = curves.claim_worth_ten_times({"VAR-SVM": {1000: 70}, "K-SVM": {10_000: 69}}, "K-SVM", unfinished=2)
    assert "did not converge in 2 draws" in said[0].evidence


def test_a_free_bias_helps_only_where_that_is_sure():
    figures = {"VAR-SVM+FreeB": {100: 80.0}, "VAR-SVM": {100: 79.0}}
    for p, holds in ((0.5, False), (0.01, True)):
        tests = {"100": {"VAR-SVM": {"difference": 1.0, "mcnemar": p}}}
        assert claim_free_bias_helps(figures, tests)[0].holds is holds


def test_sets_are_averaged_over_whole_turns_of_the_folds_only():
    found = outcomes(K={10: 20, 100: 69})
    assert [len(each.hits) for each in complete(found, {10: 1, 100: 2}).values()] == [1, 0]


def test_table_1_has_the_papers_systems():
    assert [system.name for system in SYSTEMS] == list(PAPER)


def test_every_fold_and_part_needs_an_example(tmp_path):
    check_folds(tmp_path, "it", np.array([2, 0, 1, 1]), 3)
    with pytest.raises(UserError, match=r"D725.*only 2 of 3 folds have an example of it"):
        check_folds(tmp_path, "it", np.array([2, 0, 2]), 3)
    check_parts(tmp_path, "it", {"to test on": 1})
    with pytest.raises(UserError, match=r"D725.*no example of it to tune on and to test on"):
        check_parts(tmp_path, "it", {"to learn from": 1, "to tune on": 0, "to test on": 0})


def test_the_five_sets_find_their_words():
    view = view_of_texts(["The number of sites that raise the peace ."], Words())
    found = FiveConfusionSets().instances(view)
    names = [
        FiveConfusionSets().groups[g].candidates[o] for g, o in zip(found.groups, found.observed, strict=True)
    ]
    assert names == ["number", "raise", "peace"]
    assert len(WORDS) == 11
