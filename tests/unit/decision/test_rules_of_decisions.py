"""Decision rules: corrections, labels, the best of a list; calibration of their scores."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st

from disambig.data import CandidateLists, Group, ScoreBatch
from disambig.decision import (
    ERROR_RATE,
    RATES,
    BestOfList,
    Calibration,
    Corrections,
    Labels,
    Mistakes,
    OperatingPoint,
    SecondLook,
    best_threshold,
    compare_with_observed,
    error_probabilities,
    fit_calibration,
    fit_logistic,
    labels,
    tune_operating_point,
    variant_matrix,
)
from disambig.errors import UserError
from disambig.testing.checks import LISTS, MadeCalibrationData, make_calibration_data

FITTED = Corrections(
    flags_per_1000=1.0,
    calibration=Calibration(
        np.array([1.0, 0.0, 0.0, 0.0]),
        np.array([[1.7, 0.4, -0.3, -0.2]]),
        scales=np.array([1.3, 1.0]),
        certainty=np.array([[0.8, 0.1], [1.0, 0.0]]),
    ),
    operating=OperatingPoint(np.array([0.5, 2.0]), np.array([1.2, 0.4])),
)
WEIGHTS = FITTED.calibration.groups[0]


def decide_list(scores, counts, observed):
    """Return chosen candidate, margin, probability and flag of one list, by definition."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    margin = scores[order[0]] - scores[order[1]] if len(scores) > 1 else np.inf
    others = [i for i in order if i != observed]
    if observed < 0 or not others:
        return order[0], margin, 0.0, False
    other, lead = others[0], scores[others[0]] - scores[observed]
    features = [np.sign(lead) * np.log1p(abs(lead)), np.log1p(counts[other]), np.log1p(counts[observed]), 1.0]
    odds = float(np.dot(features, WEIGHTS))
    prior = np.log(ERROR_RATE / (1 - ERROR_RATE))
    threshold = np.interp(np.log(1.0), np.log([0.5, 2.0]), [1.2, 0.4])
    flagged = order[0] == other and lead > 0 and counts[other] > 0 and odds > threshold
    return order[0], margin, 1 / (1 + np.exp(-odds - prior)), flagged


def shares(scores):
    """Return the probability of each candidate of one list, by definition."""
    if len(scores) == 1:
        return np.ones(1)
    plain = np.exp(1.3 * scores) / np.exp(1.3 * scores).sum()
    best = int(np.argmax(scores))
    rest = np.delete(plain, best)
    odds = np.log(plain[best] / rest.sum())
    certain = 1 / (1 + np.exp(-(0.8 * odds + 0.1)))
    parts = rest / rest.sum()
    certain = max(certain, parts.max() / (1 + parts.max()))
    return np.insert(parts * (1 - certain), best, certain)


@pytest.mark.parametrize("seed", range(5))
def test_decides_lists_of_unequal_length_one_at_a_time(seed):
    scored = make_calibration_data("lists", 80, seed=seed).scored(0)
    observed = scored.observed.copy()
    observed[::7] = -1
    scored = replace(scored, observed=observed, scores=2 * scored.scores)
    assert len(set(np.diff(scored.offsets))) == 6
    decided, probable = FITTED.judge(scored), FITTED.probabilities(scored)
    assert decided.answered.all() and decided.flagged.any() and not decided.flagged.all()
    for i, (low, high) in enumerate(zip(scored.offsets, scored.offsets[1:], strict=False)):
        expected = decide_list(scored.scores[low:high], scored.n_hits[low:high], observed[i])
        actual = [
            column[i] for column in (decided.chosen, decided.margins, decided.probabilities, decided.flagged)
        ]
        assert actual == pytest.approx(list(expected)), i
        assert probable[low:high] == pytest.approx(shares(scored.scores[low:high])), i


def test_variants_of_a_group_do_not_apply_to_lists():
    """In lists, no candidate is a variant of another one, even if the group declares variants."""
    group = Group("g", ("to", "too"), (("to", "too"),))
    fixed = make_calibration_data("words").scored(0).take(np.arange(1))
    fixed = replace(fixed, groups=(group,), scores=np.array([0.0, 9.0]), observed=np.zeros(1, np.int32))
    lists = replace(fixed, lists=CandidateLists.from_texts([["to", "too"]]))
    flat = replace(FITTED, operating=OperatingPoint(np.array([1.0]), np.array([-50.0])))
    for scored, flagged in ((fixed, False), (replace(lists, n_hits=np.ones(2, np.int32)), True)):
        assert flat.judge(scored).flagged.tolist() == [flagged]


def test_fits_lists_of_one_length_as_a_group_of_that_size():
    words = make_calibration_data("words")
    group = Group("abc", ("a", "b", "c"))
    scored = replace(words.scored(1), groups=(group,), numbers=(0,))
    task = replace(words.task, groups=(group,))
    lists = replace(scored, lists=CandidateLists.from_texts([["x", "y", "z"]] * len(scored.observed)))
    states = [Corrections().fit(replace(words, task=task, parts=(part,))).state() for part in (scored, lists)]
    assert states[0].keys() == states[1].keys()
    for name, array in states[0].items():
        assert np.array_equal(array, states[1][name]), name


def test_scale_of_unequal_lists_maximises_the_likelihood():
    built = make_calibration_data("lists", 300)
    fitted, scored = Corrections().fit(built), built.scored(0)

    def likelihood(scale):
        total = 0.0
        for i, (low, high) in enumerate(zip(scored.offsets, scored.offsets[1:], strict=False)):
            values = scale * scored.scores[low:high]
            total += values[scored.observed[i]] - np.logaddexp.reduce(values)
        return total

    scale = fitted.calibration.scales[-1]
    assert likelihood(scale) > max(likelihood(0.98 * scale), likelihood(1.02 * scale))


@pytest.mark.parametrize(
    ("kind", "settings", "code"),
    [
        (Corrections, {"flags_per_1000": -1.0}, "D401"),
        (Corrections, {"flags_per_1000": float("nan")}, "D401"),
        (Corrections, {"max_examples": 0}, "D452.*Corrections.max_examples is 0"),
        (Mistakes, {"flags_per_1000": -0.5}, "D401"),
        (Mistakes, {"most_right": -5}, "D452.*Mistakes.most_right is -5"),
        (partial(SecondLook, Mistakes()), {"flags_per_1000": -2.0}, "D401"),
        (partial(SecondLook, Mistakes()), {"per_1000": 0}, "D760.*SecondLook.per_1000 is 0"),
        (partial(SecondLook, Mistakes()), {"most_missed": 1.0}, "D770.*SecondLook.most_missed is 1.0"),
        (partial(SecondLook, Mistakes()), {"most_missed": -0.1}, "D770.*SecondLook.most_missed is -0.1"),
        *(
            (Labels.unfitted, {setting: value}, f"D780.*Labels.{setting}")
            for setting in ("least_margin", "drawn")
            for value in (-0.5, float("nan"), True, "1")
        ),
    ],
)
def test_rejects_invalid_settings(kind, settings, code):
    with pytest.raises(UserError, match=code):
        kind(**settings)


def test_restores_its_state_and_rejects_one_of_other_groups():
    groups = make_calibration_data("lists").task.groups
    restored = FITTED.from_state(FITTED.state(), groups)
    assert FITTED.state().keys() == restored.state().keys()
    assert restored.calibration.certainty.tolist() == FITTED.calibration.certainty.tolist()
    assert restored.calibration.scales.tolist() == FITTED.calibration.scales.tolist()
    for state, others in ((FITTED.state(), groups * 2), ({"flags_per_1000": np.array([-1.0])}, groups)):
        with pytest.raises(ValueError, match="shapes of the calibration"):
            FITTED.from_state(FITTED.state() | state, others)


@pytest.mark.parametrize("rule", [Corrections(), Mistakes()], ids=["corrections", "mistakes"])
def test_evidence_is_only_needed_if_an_extractor_looks_something_up(rule):
    """A model whose extractors look nothing up flags like one whose look-ups always succeed."""
    built = make_calibration_data("words")
    silent = [replace(part, n_hits=0 * part.n_hits, n_queries=0 * part.n_queries) for part in built.parts]
    right = silent[0]
    wrong = replace(right, observed=np.where(right.observed == 0, 1, 0).astype(np.int32))
    for fitted, flags in ((rule.fit(replace(built, parts=tuple(silent))), True), (rule.fit(built), False)):
        restored = rule.from_state(fitted.state(), built.task.groups)
        assert restored.needs_evidence == fitted.needs_evidence
        for judge in (fitted, restored):
            assert judge.judge(wrong, flags_per_1000=100.0).flagged.any() == flags


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


def test_state_keeps_margin_and_shrinkage():
    built = make_calibration_data("labels")
    fitted = Labels.unfitted(0.3, 9.0).fit(built)
    again = Labels.unfitted(drawn=9.0).from_state(fitted.state(), built.task.groups)
    assert (again.drawn, again.least_margin) == (fitted.drawn, fitted.least_margin) == (9.0, 0.3)
    scored = built.scored(0)
    assert np.array_equal(again.judge(scored).answered, fitted.judge(scored).margins.astype("f4") >= 0.3)


def scored(lists, costs=None):
    """Return a ScoreBatch of lists of scores."""
    sizes = [len(item) for item in lists]
    n, rows = len(lists), sum(sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    scores = np.array([score for item in lists for score in item], float)
    cost = np.ones(rows) if costs is None else np.concatenate(costs)
    zeros = np.zeros(rows, np.int32)
    return ScoreBatch.from_group(
        LISTS[0], 0, offsets, scores, np.full(n, -1, np.int32), zeros, zeros, cost.astype("f4")
    )


def calibration(part):
    return replace(make_calibration_data("lists"), parts=(part,))


def test_chooses_the_first_of_the_best():
    decided = BestOfList().judge(scored([[1.0], [0.0, 2.0, 2.0], [3.0, 3.0], [-5.0, -7.0]]))
    assert decided.chosen.tolist() == [0, 1, 0, 0]
    assert decided.margins.tolist() == [np.inf, 0.0, 0.0, 2.0]
    expected = [1.0, 1 / (2 + np.exp(-2)), 0.5, 1 / (1 + np.exp(-2))]
    assert decided.probabilities == pytest.approx(expected)
    assert not decided.flagged.any() and decided.answered.all()


def test_probabilities_are_a_stable_softmax_at_the_scale():
    lists = scored([[0.0, 1.0], [3.0], [1e4, 0.0, -1e4]])
    probabilities = BestOfList(scale=2.0).probabilities(lists)
    assert probabilities == pytest.approx([1 / (1 + np.exp(2)), 1 / (1 + np.exp(-2)), 1.0, 1.0, 0.0, 0.0])


def test_fit_recovers_the_scale_that_generated_the_data():
    rng = np.random.default_rng(0)
    lists = [rng.normal(size=rng.integers(1, 8)) for _ in range(4000)]
    costs = []
    for item in lists:
        p = np.exp(2.5 * item) / np.exp(2.5 * item).sum()
        costs.append((np.arange(len(item)) != rng.choice(len(item), p=p)).astype(float))
    fitted = BestOfList().fit(calibration(scored(lists, costs)))
    assert fitted.scale == pytest.approx(2.5, rel=0.1)
    # the units of the scores do not matter
    again = BestOfList().fit(calibration(scored([1e-4 * item for item in lists], costs)))
    assert again.scale == pytest.approx(1e4 * fitted.scale, rel=1e-3)


def test_likelihood_sums_right_candidates_and_skips_lists_without_any():
    def likelihood(scale, lists, costs):
        return sum(
            np.logaddexp.reduce(scale * s[c == 0]) - np.logaddexp.reduce(scale * s)
            for s, c in zip(lists, costs, strict=True)
            if (c == 0).any()
        )

    rng = np.random.default_rng(1)
    lists = [rng.normal(size=4) for _ in range(200)]
    costs = [(rng.random(4) > 1 / (1 + np.exp(-2 * s))).astype(float) for s in lists]
    assert {int((c == 0).sum()) for c in costs} >= {0, 1, 2, 3}
    scale = BestOfList().fit(calibration(scored(lists, costs))).scale
    best = likelihood(scale, lists, costs)
    assert best > max(likelihood(0.97 * scale, lists, costs), likelihood(1.03 * scale, lists, costs))


@pytest.mark.parametrize("lists", [[], [[1.0], [2.0]], [[1.0, 1.0]]])
def test_scale_stays_if_nothing_can_be_learned(lists):
    assert BestOfList(scale=3.0).fit(calibration(scored(lists))).scale == 3.0


def test_scale_is_finite_if_no_list_has_a_right_candidate():
    assert 0 < BestOfList().fit(calibration(scored([[0.0, 1.0], [2.0, 0.0]]))).scale < np.inf


def test_fits_groups_together():
    task = replace(make_calibration_data("lists").task, groups=(Group("one", ()), Group("two", ())))
    rng = np.random.default_rng(2)
    lists = [rng.normal(size=3) for _ in range(400)]
    costs = [(np.arange(3) != np.argmax(s + rng.gumbel(size=3))).astype(float) for s in lists]
    one, two = scored(lists[:250], costs[:250]), scored(lists[250:], costs[250:])
    two = replace(two, numbers=(1,), groups=task.groups[1:])
    apart = BestOfList().fit(MadeCalibrationData(task, (one, two)))
    assert apart.scale == pytest.approx(BestOfList().fit(calibration(scored(lists, costs))).scale, rel=1e-3)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_rejects_an_invalid_scale(scale):
    with pytest.raises(ValueError, match="scale"):
        BestOfList().from_state({"scale": np.array([scale])}, ())


@given(st.lists(st.floats(-30, 30), max_size=200), st.integers(1, 100_000))
def test_thresholds_keep_their_rate_on_the_tuning_text(values, n_words):
    log_odds = np.array(values)
    point = tune_operating_point(log_odds, n_words)
    assert (np.diff(point.thresholds) <= 0).all()
    for rate in RATES:
        flags = np.count_nonzero(log_odds > point.threshold(rate))
        assert flags * 1000 <= rate * n_words + 1e-9
    assert point.threshold(0) == np.inf
    rule = Corrections(flags_per_1000=0.5, operating=point)  # the default rate
    assert rule.limit() == rule.limit(0.5) == error_probabilities(np.float64(point.threshold(0.5)))


def test_interpolates_between_rates():
    point = tune_operating_point(np.linspace(-5, 5, 1000), 100_000)
    assert point.threshold(2.0) < point.threshold(1.7) < point.threshold(1.5)
    assert point.threshold(1e-9) == point.threshold(RATES[0])
    assert point.threshold(1e9) == point.threshold(RATES[-1])


@pytest.mark.parametrize("rate", [-1, -0.001, float("nan")])
def test_rejects_impossible_rates(rate):
    with pytest.raises(UserError, match="D401"):
        tune_operating_point(np.zeros(3), 10).threshold(rate)


def test_compares_the_best_other_candidate():
    group = Group("g", ("to", "toward", "towards"), (("toward", "towards"),))
    same = variant_matrix(group)
    assert same.tolist() == [[True, False, False], [False, True, True], [False, True, True]]
    scores = np.array([[1.0, 5.0, 3.0]] * 4)
    result = np.array([[1, 2, 3]] * 4, np.int32)
    observed = np.array([0, 1, 2, -1], np.int32)
    comparison = compare_with_observed(scores, result, observed, same[observed])
    # a variant of the observed candidate does not count as another one
    assert comparison.other.tolist() == [1, 0, 0, -1]
    margins = comparison.features[:3, 0]
    assert np.sign(margins).tolist() == [1, -1, -1]
    assert margins[1] < margins[2]
    assert comparison.features[0, 1:].tolist() == [np.log1p(2), np.log1p(1), 1.0]


def test_variants_only_have_no_other_candidate():
    same = np.ones((3, 2), bool)
    three = np.zeros((3, 2)), np.ones((3, 2), np.int32), np.zeros(3, np.int32)
    comparison = compare_with_observed(*three, same)
    assert comparison.other.tolist() == [-1] * 3
    assert np.isfinite(comparison.features).all()
    nothing = np.zeros((0, 2)), np.zeros((0, 2), np.int32), np.zeros(0, np.int32), same[:0]
    assert compare_with_observed(*nothing).other.size == 0


def test_calibration_recovers_the_odds_that_generated_the_data():
    rng = np.random.default_rng(0)
    truth = np.array([1.5, 0.5, -1.0, -0.3])
    x = np.column_stack([rng.normal(size=20_000), rng.random((20_000, 2)) * 2, np.ones(20_000)])
    wrong = rng.random(20_000) < 1 / (1 + np.exp(-(x @ truth)))
    weights = np.ones(20_000)
    assert fit_logistic(x, wrong, weights) == pytest.approx(truth, abs=0.12)
    few = slice(0, 15)
    groups = [x, x[few], x[:0]], [wrong, ~wrong[few], wrong[:0]], [weights, weights[few], weights[:0]]
    calibration = fit_calibration(*groups)
    assert calibration.groups[0] == pytest.approx(truth, abs=0.15)
    assert calibration.groups[1] == pytest.approx(calibration.pooled, abs=1.0)  # few examples
    assert calibration.groups[2] == pytest.approx(calibration.pooled)
    assert calibration.log_odds(x[:2], 7) == pytest.approx(x[:2] @ calibration.pooled)


def test_weight_of_the_margin_is_positive():
    x = np.array([[-1.0, 0, 0, 1], [1.0, 0, 0, 1]] * 20)
    assert fit_logistic(x, x[:, 0] < 0, np.ones(40))[0] > 0


def test_error_probabilities_include_the_prior():
    values = error_probabilities(np.array([-1000.0, 0.0, 4.6, 1000.0]))
    assert (np.diff(values) > 0).all()
    assert values[1] == pytest.approx(0.01)
    assert ((values >= 0) & (values <= 1)).all()
