"""Measures, their intervals and significance, reliability: known answers and references."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from examples import fewer_examples
from failing_checks import failures
from hypothesis import given, strategies as st
from scipy.stats import binomtest, chi2_contingency, norm

from disambig.config import resolve
from disambig.data import CandidateLists
from disambig.decision import Calibration, fit_choices
from disambig.errors import UserError
from disambig.metrics import (
    AUC,
    F1,
    Accuracy,
    ErrorRate,
    ExactMatch,
    FirstCandidate,
    MacroF1,
    MeanCost,
    Oracle,
    Outcomes,
    bootstrap_interval,
    chi_squared,
    choice_reliability,
    list_measure_named,
    mcnemar,
    mcnemar_from_counts,
    mean_interval,
    measure_named,
    paired_bootstrap,
    reliability,
    reliability_lines,
    resample_figures,
    short_names,
    text_costs,
    times_drawn,
    wilcoxon,
    wilson,
)
from disambig.tasks import Lists
from disambig.testing import check_measure, outcomes

# gold 0 0 1 1 2, chosen 0 1 1 - 2: three of five are right
GROUP_OUTCOMES = Outcomes.from_group(("a", "b", "c"), [0, 0, 1, 1, 2], [0, 1, 1, -1, 2])
NBEST = replace(
    CandidateLists.from_texts([["the cat", "a cat"], ["sat", "sad", "sit"], ["here"]]),
    costs=np.array([4, 0, 1, 0, 2, 1], np.float32),
)
LIST_OUTCOMES = Outcomes.from_lists(NBEST, chosen=[0, 2, 0], references=["a cat", "sad", "there"])

KNOWN = [
    (Accuracy(), GROUP_OUTCOMES, 3 / 5),
    (Accuracy(), LIST_OUTCOMES, 0.0),
    (MeanCost(), GROUP_OUTCOMES, 2 / 5),
    (MeanCost(), LIST_OUTCOMES, (4 + 2 + 1) / 3),
    (F1("a"), GROUP_OUTCOMES, 2 * 1 / (1 + 2)),
    (F1("b"), GROUP_OUTCOMES, 2 * 1 / (2 + 2)),
    (MacroF1(), GROUP_OUTCOMES, (2 / 3 + 1 / 2 + 1) / 3),
    (ErrorRate(), LIST_OUTCOMES, (3 + 2 + 1) / (5 + 3 + 5)),
    (ErrorRate("words"), LIST_OUTCOMES, (1 + 1 + 1) / (2 + 1 + 1)),
    (ExactMatch(), LIST_OUTCOMES, 0.0),
    (ExactMatch(), LIST_OUTCOMES.with_chosen(np.array([1, -1, 0])), 1 / 3),
    (ExactMatch(), replace(LIST_OUTCOMES, references=["the cat", "sad", "there"]), 1 / 3),
    (Oracle(), LIST_OUTCOMES, 2 / 3),
    (Oracle(MeanCost()), LIST_OUTCOMES, 1 / 3),
    (Oracle(ErrorRate()), LIST_OUTCOMES, 1 / 13),
    (FirstCandidate(ErrorRate()), LIST_OUTCOMES, (3 + 1 + 1) / 13),
    (FirstCandidate(), GROUP_OUTCOMES, 2 / 5),
    (FirstCandidate(MeanCost()), replace(LIST_OUTCOMES, ranks=np.array([1, 0, 2, 0, 1, 0])), 1 / 3),
]


@pytest.mark.parametrize(("measure", "given", "answer"), KNOWN, ids=lambda value: getattr(value, "name", ""))
def test_known_answers(measure, given, answer):
    assert measure.value(given) == pytest.approx(answer, rel=1e-12)


MEASURES = [Accuracy(), MeanCost(), MacroF1(), FirstCandidate(), F1("to"), AUC("to"), AUC(), ErrorRate()]
MEASURES += [ErrorRate("words"), ExactMatch(), Oracle(ErrorRate("words")), FirstCandidate(F1("to"))]


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_measures_keep_the_contract(measure):
    for check in check_measure(measure, answers=[(g, v) for m, g, v in KNOWN if m == measure]):
        check()


class BrokenAccuracy(Accuracy):
    """An accuracy with faults: wrong direction, dependence on the order, and wrong sums."""

    more_is_better = False
    unit = ""

    def value(self, outcomes):
        return super().value(outcomes) + (float(outcomes.scores[0]) / 100 if len(outcomes) else 0.0)


def test_suite_reports_a_broken_measure():
    failed = failures(check_measure(BrokenAccuracy(), answers=[(GROUP_OUTCOMES, 0.1)]))
    assert set(failed) == {
        "describes_itself",
        "returns_known_values",
        "is_best_if_everything_is_right",
        "does_not_depend_on_order",
        "value_of_sums_equals_value",
    }
    assert "is more_is_better reversed?" in failed["is_best_if_everything_is_right"]


label_rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(-3, 3)), min_size=1, max_size=40
)


@fewer_examples
@given(label_rows)
def test_auc_and_f1_agree_with_scikit_learn(rows):
    from sklearn.metrics import f1_score, roc_auc_score

    gold, chosen, score = np.array(rows).T
    given = Outcomes.from_group(("no", "yes"), gold, chosen, scores=np.stack([0 * score, score], axis=1))
    if 0 < gold.sum() < len(gold):
        expected = roc_auc_score(gold, score)
        assert AUC("yes").value(given) == pytest.approx(expected)
        assert AUC().value(given) == pytest.approx(expected)
        assert AUC("no").value(given) == pytest.approx(expected)
    else:
        assert np.isnan(AUC("yes").value(given))
    if gold.any() or chosen.any():
        assert F1("yes").value(given) == pytest.approx(f1_score(gold, chosen, zero_division=0))
    else:
        assert np.isnan(F1("yes").value(given))


def test_auc_leaves_out_instances_without_its_candidate():
    lists = CandidateLists.from_texts([["to", "from"], ["too", "two"], ["to"], ["from", "to"]])
    given = Outcomes.from_lists(
        lists, scores=[2.0, 1.0, 9.0, 0.0, 9.0, 0.0, 0.5], references=["to", "two", "to", "from"]
    )
    assert AUC("to").value(given) == 1.0
    assert np.isnan(AUC("of").value(given))


def test_any_of_several_right_candidates_counts():
    right = [[True, True, False], [True, True, False]]
    given = Outcomes.from_group(("a", "b", "c"), [0, 0], [1, 2], right=right)
    assert Accuracy().value(given) == 0.5
    assert given.gold_ids.tolist() == [1, 0]  # the chosen candidate if it is right, else the first one
    assert F1("b").value(given) == 1.0


def test_joins_and_slices_outcomes():
    parts = [outcomes(5, seed=1), outcomes(7, seed=2)]
    both = Outcomes.joined(parts)
    assert len(both) == 12
    for measure in (Accuracy(), MeanCost(), ErrorRate(), AUC("to"), MacroF1()):
        again = measure.value(Outcomes.joined([both.take(np.arange(5)), both.take(np.arange(5, 12))]))
        assert measure.value(both) == pytest.approx(again)
        assert measure.value(both.take(np.arange(5))) == pytest.approx(measure.value(parts[0]), nan_ok=True)
    assert Outcomes.joined([GROUP_OUTCOMES, LIST_OUTCOMES]).references is None


def test_costs_of_texts():
    assert text_costs(ErrorRate(), ["to", "two", ""], ["too", "two", "a"]).tolist() == [1, 0, 1]
    assert text_costs(ExactMatch(), ["to", "two"], ["too", "two"]).tolist() == [1, 0]
    assert text_costs(ErrorRate(), ["a"], ["b"]).dtype == np.float32
    with pytest.raises(UserError, match=r"D430.*accuracy"):
        text_costs(Accuracy(), ["a"], ["b"])


def test_text_measures_need_references():
    for measure in (ErrorRate(), ExactMatch(), Oracle(ErrorRate())):
        with pytest.raises(UserError, match="D433"):
            measure.value(GROUP_OUTCOMES)


def test_names():
    assert measure_named("cer") == ErrorRate()
    assert measure_named("wer") == ErrorRate("words")
    assert measure_named("f1:to") == F1("to")
    assert measure_named("f1:") == F1("")
    assert measure_named("oracle:cer") == Oracle(ErrorRate())
    assert measure_named("disambig.MacroF1.v1") == MacroF1()
    for name in short_names():
        filled = name.replace("CANDIDATE", "a").replace("MEASURE", "accuracy")
        assert measure_named(filled).name
    with pytest.raises(UserError, match=r"D431.*'acuracy'; available: accuracy"):
        measure_named("acuracy")
    with pytest.raises(UserError, match=r"D435.*candidate"):
        measure_named("disambig.F1.v1")
    with pytest.raises(UserError, match="D434"):
        measure_named("oracle:auc")
    with pytest.raises(UserError, match=r"D432.*'lines'"):
        ErrorRate("lines")


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"name": ""}, "its name is ''; expected a text"),
        ({"unit": None}, "its unit is None; expected a text"),
        ({"more_is_better": "yes"}, "more_is_better is 'yes'; expected True or False"),
        ({"value": 0.5}, "it has no method value"),
    ],
)
def test_what_a_measure_of_a_plugin_declares_is_checked(monkeypatch, traits, message):
    odd = type("Odd", (MacroF1,), traits)
    monkeypatch.setattr("disambig.registry.load_all", lambda kind: {"theirs.Odd.v1": odd})
    with pytest.raises(UserError, match=f"D414.*{message}"):
        measure_named("theirs.Odd.v1")


def test_a_measure_gives_a_number():
    for wrong in (None, [0.5], True):
        odd = type("Odd", (MacroF1,), {"value": lambda self, outcomes, wrong=wrong: wrong})()
        with pytest.raises(UserError, match=r"D414.*value returned .*; expected one number"):
            paired_bootstrap(odd, GROUP_OUTCOMES, GROUP_OUTCOMES, draws=10)


def test_sums_of_a_measure_have_the_shapes_that_the_bootstrap_needs():
    wrong_shapes = {
        "terms": lambda self, outcomes: np.ones(len(outcomes)),
        "of_sums": lambda self, sums: sums,
    }
    for method, wrong in wrong_shapes.items():
        odd = type("Odd", (Accuracy,), {"value": lambda self, outcomes: 0.5, method: wrong})()
        with pytest.raises(UserError, match=rf"D414.*{method} returned .*; expected an array of shape"):
            paired_bootstrap(odd, GROUP_OUTCOMES, GROUP_OUTCOMES, draws=10)


def test_measures_from_configs():
    inner = {"@disambig_measures": "disambig.ErrorRate.v1", "by": "words"}
    config = {"@disambig_measures": "disambig.Oracle.v1", "measure": inner}
    assert resolve({"m": config})["m"] == Oracle(ErrorRate("words"))


def test_lists_reject_measures_of_fixed_groups():
    assert list_measure_named("oracle:cer") == Oracle(ErrorRate())
    assert list_measure_named("cost") == MeanCost()
    for name in ("auc", "auc:to", "f1:to", "macro_f1", "disambig.MacroF1.v1", "oracle:macro_f1"):
        with pytest.raises(UserError, match=r"D437.*; available: accuracy, cer, cost, exact, wer"):
            list_measure_named(name)
    with pytest.raises(UserError, match=r"D437.*AUC does not apply to lists"):
        Lists(measure="auc")


@dataclass(frozen=True)
class Plain:
    """A measure with nothing but a value."""

    measure: object

    def value(self, outcomes):
        return self.measure.value(outcomes)


def labels(right):
    right = np.asarray(right)
    return Outcomes.from_group(("yes", "no"), np.zeros(len(right), int), 1 - right)


def test_agrees_with_all_draws_of_three_instances():
    first, second = labels([1, 0, 0]), labels([1, 1, 0])
    exact = np.array([np.mean(np.array([0, 1, 0])[list(draw)]) for draw in product(range(3), repeat=3)])
    result = paired_bootstrap(Accuracy(), first, second, draws=200_000)
    assert result.difference == pytest.approx(1 / 3)
    expected = np.mean(np.abs(exact - exact.mean()) >= 1 / 3 - 1e-12)
    assert result.p == pytest.approx(expected, abs=0.005)
    drawn = resample_figures(Accuracy(), [first, second], draws=200_000, seed=0)
    for value in (0, 1 / 3, 2 / 3, 1):
        share = np.mean(np.isclose(exact, value))
        assert np.mean(np.isclose(drawn[:, 1] - drawn[:, 0], value)) == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize("measure", [ErrorRate(), MacroF1(), AUC("to"), MeanCost()], ids=lambda m: m.name)
def test_agrees_with_a_naive_loop_over_the_same_draws(measure):
    first, second = outcomes(40, seed=1), outcomes(40, seed=2)
    second = replace(second, units=first.units)
    systems, draws = [first, second], 30
    members = [np.flatnonzero(first.units == unit) for unit in np.unique(first.units)]
    counts = np.concatenate(list(times_drawn(len(members), draws, np.random.default_rng(7))))
    naive = [
        [
            measure.value(
                system.take(
                    np.concatenate([members[u] for u in np.repeat(np.arange(len(row)), row.astype(int))])
                )
            )
            for system in systems
        ]
        for row in counts
    ]
    assert counts.sum(axis=1).tolist() == [len(members)] * draws
    for variant in (measure, Plain(measure)):
        figures = resample_figures(variant, systems, draws=draws, seed=7)
        assert figures == pytest.approx(np.array(naive), nan_ok=True)


def test_interval_agrees_with_theory_and_with_drawing_row_by_row():
    rng = np.random.default_rng(0)
    first, second = labels(rng.random(2000) < 0.7), labels(rng.random(2000) < 0.7)
    result = paired_bootstrap(Accuracy(), first, second)
    deviation = np.std(second.right.astype(float) - first.right) / np.sqrt(2000)
    low, high = result.interval
    expected = result.difference - 1.96 * deviation, result.difference + 1.96 * deviation
    assert (low, high) == pytest.approx(expected, abs=0.12 * deviation)
    assert result.p == pytest.approx(2 * norm.sf(abs(result.difference) / deviation), abs=0.03)
    # all rows differ, so that equal rows cannot be drawn together
    slow = resample_figures(AddsNoise(), [first, second], draws=4000, seed=1)
    quick = resample_figures(Accuracy(), [first, second], draws=4000, seed=1)
    assert np.std(slow, axis=0) == pytest.approx(np.std(quick, axis=0), rel=0.08)
    assert np.corrcoef(slow.T)[0, 1] == pytest.approx(np.corrcoef(quick.T)[0, 1], abs=0.08)


class AddsNoise(Accuracy):
    def terms(self, outcomes):
        terms = super().terms(outcomes)
        return terms + np.arange(len(terms))[:, None] * 1e-9


def test_detects_an_improvement_and_no_chance_difference():
    rng = np.random.default_rng(3)
    one = rng.random(3000) < 0.7
    better = one | (rng.random(3000) < 0.1)
    assert paired_bootstrap(Accuracy(), labels(one), labels(better)).p < 0.001
    other = rng.permutation(one)
    assert paired_bootstrap(Accuracy(), labels(one), labels(other)).p > 0.01


def test_a_system_does_not_differ_from_itself():
    given = outcomes(30)
    for measure in (Accuracy(), ErrorRate(), AUC("to")):
        result = paired_bootstrap(measure, given, given, draws=500)
        assert (result.p, result.difference, result.interval) == (1.0, 0.0, (0.0, 0.0))
        assert (
            result.first_interval == result.second_interval == bootstrap_interval(measure, given, draws=500)
        )


def test_same_seed_gives_identical_results():
    first, second = outcomes(30, seed=1), outcomes(30, seed=2)
    again = [paired_bootstrap(ErrorRate(), first, second, draws=300, seed=s) for s in (5, 5, 6)]
    assert again[0] == again[1] != again[2]


def test_resamples_whole_units():
    # ten documents, in each of which all decisions are right or none
    right = np.repeat([1, 0, 1, 0, 1, 0, 1, 0, 1, 0], 20)
    alone = labels(right)
    together = replace(alone, units=np.repeat(np.arange(10), 20))
    narrow, wide = (bootstrap_interval(Accuracy(), given) for given in (alone, together))
    assert wide[1] - wide[0] > 3 * (narrow[1] - narrow[0])
    assert paired_bootstrap(Accuracy(), together, together, draws=10).n_units == 10


def test_leaves_out_draws_without_a_defined_value():
    rare = Outcomes.from_group(("a", "b"), [0, 0, 1], [0, 0, 1])
    result = paired_bootstrap(F1("b"), rare, rare, draws=1000)
    assert 600 < result.draws < 800  # 1 - (2/3) ** 3 of them contain the third instance
    nowhere = paired_bootstrap(F1("c"), rare, rare, draws=100)
    assert nowhere.draws == 0
    assert np.isnan(nowhere.p)
    assert np.isnan(nowhere.interval).all()


def test_systems_must_have_the_same_instances():
    with pytest.raises(ValueError, match="30 and 20 instances"):
        paired_bootstrap(Accuracy(), outcomes(30), outcomes(20))


def random_scores(n, k, scale, seed):
    """Return scores, and labels drawn from the softmax of the scaled scores."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, k)) * 3
    noise = rng.gumbel(size=(n, k))
    return scores, (scale * scores + noise).argmax(axis=1).astype(np.int32)


def test_bins_have_predicted_and_observed_shares():
    predicted = np.array([0.62, 0.68, 0.95, 1.0, 0.05])
    result = reliability(predicted, np.array([True, False, True, True, False]))
    assert [(bin["low"], bin["n"]) for bin in result["bins"]] == [(0.0, 1), (0.6, 2), (0.9, 2)]
    middle = result["bins"][1]
    assert (middle["predicted"], middle["observed"]) == (pytest.approx(0.65), 0.5)
    assert result["expected_calibration_error"] == pytest.approx((0.05 + 2 * 0.15 + 2 * 0.025) / 5)
    assert result["brier"] == pytest.approx((0.38**2 + 0.68**2 + 0.05**2 + 0.05**2) / 5)
    assert len(reliability_lines(result)) == 5


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40))
def test_bins_contain_every_decision_once(pairs):
    predicted, right = np.array([p for p, _ in pairs]), np.array([r for _, r in pairs], bool)
    result = reliability(predicted, right)
    assert sum(bin["n"] for bin in result["bins"]) == result["n"] == len(pairs)
    assert all(bin["low"] - 1e-9 <= bin["predicted"] <= bin["high"] + 1e-9 for bin in result["bins"])
    if pairs:
        assert 0 <= result["expected_calibration_error"] <= 1 and 0 <= result["brier"] <= 1
    else:
        assert result["brier"] is None and reliability_lines(result) == []


def test_choice_reliability_skips_places_without_an_observed_word():
    probabilities = np.array([0.7, 0.3, 0.1, 0.2, 0.7, 0.5, 0.5])
    chosen, observed = np.array([0, 2, 0], np.int32), np.array([0, 1, -1], np.int32)
    result = choice_reliability(probabilities, np.array([0, 2, 5, 7]), chosen, observed)
    assert result["n"] == 2
    assert result["brier"] == pytest.approx((0.3**2 + 0.7**2) / 2)


def candidates(scores, scales, certainty):
    return Calibration(np.zeros(4), np.zeros((len(scales) - 1, 4)), scales, certainty).candidates(scores, 0)


def calibration_error(probabilities, truth):
    n, k = probabilities.shape
    chosen = probabilities.argmax(axis=1)
    figures = choice_reliability(probabilities.ravel(), np.arange(n + 1) * k, chosen, truth)
    return figures["expected_calibration_error"]


@pytest.mark.parametrize("certainty", [(1.0, 0.0), (0.5, 0.3)])
def test_fit_recovers_the_probabilities_that_generated_the_data(certainty):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(4000, 5)) * 3
    true_probabilities = candidates(scores, np.array([0.7, 0.7]), np.tile(certainty, (2, 1)))
    assert true_probabilities.sum(axis=1) == pytest.approx(np.ones(4000))
    truth = (
        (np.log(true_probabilities) + rng.gumbel(size=true_probabilities.shape))
        .argmax(axis=1)
        .astype(np.int32)
    )
    result = candidates(scores, *fit_choices([scores], [truth]))
    assert result.sum(axis=1) == pytest.approx(np.ones(4000))
    assert np.abs(result - true_probabilities).mean() < 0.03 and calibration_error(result, truth) < 0.03


@pytest.mark.parametrize("certainty", [(1.0, 0.0), (0.1, 0.0), (1e-3, -5.0), (3.0, 4.0), (1.0, 1e4)])
@pytest.mark.parametrize("spread", [0.0, 1e-3, 3.0, 1e4])
def test_probabilities_sum_to_one_and_the_choice_has_the_largest(certainty, spread):
    for k in (2, 3, 34):
        scores = np.random.default_rng(k).normal(size=(500, k)) * spread
        result = candidates(scores, np.ones(2), np.tile(certainty, (2, 1)))
        assert result.sum(axis=1) == pytest.approx(np.ones(500), abs=1e-12)
        assert (result >= 0).all()
        chosen = result[np.arange(500), scores.argmax(axis=1)]
        assert (chosen == result.max(axis=1)).all()


def test_distant_candidates_share_the_rest():
    certainty = np.tile((0.1, 0.0), (2, 1))
    assert candidates(np.array([[0.0, -1e4]]), np.ones(2), certainty).sum() == pytest.approx(1.0)
    (sure, *others) = candidates(np.array([[0.0, -1e4, -1e4]]), np.ones(2), certainty)[0]
    assert sure > 0.8 and others == pytest.approx([(1 - sure) / 2] * 2)


def test_certainty_is_at_least_that_of_the_second_best():
    result = candidates(np.array([[0.01, 0.0], [1.0, 0.0]]), np.ones(2), np.tile((1.0, -0.5), (2, 1)))
    assert result[0].tolist() == [0.5, 0.5]
    assert result[1, 0] == pytest.approx(1 / (1 + np.exp(-0.5)))  # the log-odds of its share are 1


def test_units_of_the_scores_do_not_matter():
    scores, truth = random_scores(300, 4, 1.0, seed=2)
    plain = candidates(scores, *fit_choices([scores], [truth]))
    for unit in (1e-4, 1e4):
        result = candidates(scores * unit, *fit_choices([scores * unit], [truth]))
        assert result == pytest.approx(plain, abs=1e-3)


def test_shrinks_groups_with_few_examples():
    many, few = random_scores(3000, 3, 2.0, seed=3), random_scores(6, 3, 0.2, seed=4)
    empty = (np.empty((0, 3)), np.empty(0, np.int32))
    scales, certainty = fit_choices([many[0], few[0], empty[0]], [many[1], few[1], empty[1]])
    assert scales[2] == scales[3] and (certainty[2] == certainty[3]).all()
    assert 0.5 * scales[3] < scales[1] < scales[3]
    alone, _ = fit_choices([few[0]], [few[1]])
    assert alone[0] < scales[1]


def test_scale_stays_without_examples():
    assert (fit_choices([np.zeros((5, 2))], [np.zeros(5, np.int32)])[0] == 1.0).all()
    assert (fit_choices([], [])[0] == 1.0).all()
    assert Calibration(np.zeros(4), np.zeros((0, 4))).candidates(np.ones((2, 2)), 0) is None


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_agrees_with_the_exact_binomial_test(b, c):
    expected = binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar_from_counts(b, c) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_counts_where_only_one_is_right():
    first = np.repeat([True, True, False, False], [50, 12, 2, 9])
    second = np.repeat([True, False, True, False], [50, 12, 2, 9])
    assert mcnemar(first, second) == mcnemar_from_counts(12, 2) == mcnemar(second, first) < 0.05
    assert mcnemar(first, first) == 1.0


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 60), st.integers(1, 60))
def test_chi_squared_agrees_with_scipy(a, b, c, d):
    expected = chi2_contingency([[a, b], [c, d]], correction=False).pvalue
    assert chi_squared(a, a + b, c, c + d) == pytest.approx(expected, rel=1e-6)


def test_chi_squared_of_equal_shares_is_one():
    assert chi_squared(5, 5, 7, 7) == chi_squared(0, 5, 0, 7) == chi_squared(0, 0, 3, 7) == 1.0


def test_wilcoxon_on_a_known_case():
    # ranks of the differences 1, 2, 3, 4, -5: 10 against 5
    first = np.array([1.0, 2.0, 3.0, 4.0, 0.0])
    second = np.array([0.0, 0.0, 0.0, 0.0, 5.0])
    ranks = [1, 2, 3, 4, 5]
    patterns = [sum(r for r, bit in zip(ranks, f"{n:05b}", strict=True) if bit == "1") for n in range(32)]
    expected = sum(min(total, 15 - total) <= 5 for total in patterns) / 32
    assert wilcoxon(first, second) == pytest.approx(expected)
    assert wilcoxon(second, first) == pytest.approx(expected)


PAIR = st.tuples(st.integers(0, 5), st.integers(0, 5))


# for 9 to 13 differences with ties, SciPy tries all signs, which takes long
@given(st.lists(PAIR, max_size=8) | st.lists(PAIR, min_size=25, max_size=40))
def test_wilcoxon_leaves_out_ties(pairs):
    first, second = np.array(pairs, float).reshape(-1, 2).T
    p = wilcoxon(first, second)
    assert 0 <= p <= 1
    assert p == wilcoxon(np.append(first, [0.3, 7.0]), np.append(second, [0.1 + 0.2, 7.0]))


def test_wilson_on_known_cases() -> None:
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 5000), st.data())
def test_wilson_contains_the_share(n: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, n))
    low, high = wilson(right, n)
    assert 0 <= low <= right / n + 1e-9
    assert right / n - 1e-9 <= high <= 1


def test_wilson_of_none_and_all_stays_between_0_and_1() -> None:
    assert all(wilson(0, n)[0] >= 0 and wilson(n, n)[1] <= 1 for n in range(1, 200))
    assert f"{wilson(0, 7)[0]:.1%}" == "0.0%"


def test_interval_of_the_mean_narrows_with_examples() -> None:
    few = mean_interval([(8, 10), (18, 20)])
    many = mean_interval([(800, 1000), (1800, 2000)])
    assert few[0] < 0.85 < few[1]
    assert many[1] - many[0] < few[1] - few[0]
    assert few == mean_interval([(8, 10), (18, 20)])
