"""Mistakes: likelihood, learned confusions, rates, gains, state; kinds of edits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from disambig.data import CandidateLists, Group, ScoreBatch
from disambig.decision import (
    ALONE,
    EARLIER,
    EVERYWHERE,
    FEATURES,
    MAX_ALTERNATIVES,
    MIN_SEEN,
    MIN_WEIGHT,
    NO_KEY,
    RATES,
    RIDGE,
    RIDGES,
    ErrorWeights,
    HashedWeights,
    Mistakes,
    _alternatives as edits,
    alternatives_repeat,
    edit_change,
    edit_kind,
    find_alternatives,
    fit_weights,
    join_cases,
    term_keys,
    weighted_cases,
)
from disambig.testing import check_judge
from disambig.testing.checks import MadeCalibrationData, MadeTask, make_calibration_data
from disambig.text import hash_word, hash_words
from disambig.types import Decides, HasErrorCorpus

NO_TERMS = np.empty(0, np.uint64), np.empty(0)
GROUP = Group("its/it's/is", ("its", "it's", "is"))


def scored(scores, observed, cost=None, *, group=GROUP, n_hits=1, neighbours=None):
    """Scores (n, K) of instances of a group."""
    n, k = np.shape(scores)
    offsets = np.arange(n + 1, dtype=np.int64) * k
    costs = np.ones((n, k), np.float32) if cost is None else np.asarray(cost, np.float32)
    counts = np.full(n * k, n_hits, np.int32)
    flat = np.asarray(scores, float).ravel()
    actual = np.asarray(observed, np.int32)
    columns = flat, actual, counts, counts, costs.ravel(), hashed(neighbours)
    return ScoreBatch.from_group(group, 0, offsets, *columns)


def hashed(words):
    """Return the hashes of rows of words; None if there are none."""
    if words is None:
        return None
    return np.array([[hash_word(word) for word in row] for row in words], np.uint64)


def writers(n, *, habit, seed=0, lead=2.0):
    """Return correct words, and mistakes of writers who mostly confuse "its" and "it's"."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    scores = rng.normal(size=(n, 3)) + lead * (np.arange(3) == truth[:, None])
    right = scored(scores, truth)
    meant = np.where(rng.random(n // 10) < habit, 1, 2)
    written = np.where(meant == 1, 0, 1)
    scores = rng.normal(size=(n // 10, 3)) + lead * (np.arange(3) == meant[:, None])
    return right, scored(scores, written, np.arange(3) != meant[:, None])


@dataclass(frozen=True)
class WithMistakes(MadeCalibrationData):
    """Calibration data with an error corpus; its correct words are also its examples."""

    wrong: ScoreBatch | None = None

    @property
    def n_mistakes(self):
        return 2 * len(self.wrong.observed)  # as many again are mistakes of other tasks

    @property
    def n_right_words(self):
        return self.n_words

    def right(self, group):
        return self.scored(group)

    def mistakes(self, group):
        return self.wrong


def with_mistakes(n=2000, **about):
    right, wrong = writers(n, **about)
    return WithMistakes(MadeTask(Decides(), (GROUP,)), (right,), 10 * n, wrong)


FITTED = Mistakes(flags_per_1000=12.0).fit(with_mistakes(habit=0.9))


def test_alternatives_are_the_best_other_candidates_in_order():
    alternatives = find_alternatives(scored([[1.0, 3.0, 2.0], [0.0, -1.0, 5.0]], [0, -1]))
    assert alternatives.candidates.tolist() == [[1, 2, -1], [-1, -1, -1]]
    margin = FEATURES.index("margin, replacement")
    assert alternatives.features[0, :, margin].tolist() == [2.0, 1.0, 0.0]
    assert not alternatives.features[1].any()


def test_number_of_alternatives_is_limited():
    group = Group("many", tuple("abcdefghij"))
    alternatives = find_alternatives(scored([np.arange(10.0)], [3], group=group))
    assert alternatives.candidates.shape == (1, MAX_ALTERNATIVES)
    assert alternatives.candidates[0].tolist() == [9, 8, 7, 6, 5, 4]


def test_variants_are_not_alternatives():
    group = Group("on", ("on", "upon", "in"), (("on", "upon"),))
    assert find_alternatives(scored([[0.0, 9.0, 1.0]], [0], group=group)).candidates.tolist() == [[2, -1, -1]]


def test_fit_maximises_the_penalised_likelihood():
    """At the solution, the gradient of the objective is zero in all directions that are tried."""
    right, wrong = writers(300, habit=0.8)
    parts = [
        weighted_cases(right, right.observed.astype(np.int64)),
        weighted_cases(wrong, np.where(wrong.observed, 2, 1)),
    ]
    cases = join_cases(parts)
    decided = fit_weights(cases)
    others = cases.alternatives
    keys = term_keys(others.words, others.changes, others.neighbours)[:, :, :ALONE]
    possible = cases.alternatives.possible
    spread = np.sqrt((cases.alternatives.features[possible].astype(float) ** 2).mean(axis=0))

    def objective(dense, terms):
        total = 0.5 * RIDGE * float(((dense * spread) ** 2).sum())
        ridge = dict.fromkeys(terms, 0.0)
        for kind in range(ALONE):
            for key in np.unique(keys[possible][:, kind]).tolist():
                ridge[key] = RIDGES[kind]
        total += sum(0.5 * ridge[key] * weight**2 for key, weight in terms.items())
        for i in range(len(cases.meant)):
            odds = [0.0]
            for r in range(possible.shape[1]):
                if possible[i, r]:
                    known_terms = sum(terms.get(int(key), 0.0) for key in keys[i, r])
                    odds.append(float(cases.alternatives.features[i, r] @ dense) + known_terms)
                else:
                    odds.append(-np.inf)
            total += cases.weights[i] * float(np.logaddexp.reduce(odds) - odds[cases.meant[i]])
        return total

    terms = dict(zip(decided.terms.keys.tolist(), decided.terms.weights.tolist(), strict=True))
    least = objective(decided.dense, terms)
    rng = np.random.default_rng(1)
    for _ in range(5):
        step = rng.normal(size=len(decided.dense)) * 0.02 * (spread > 0)
        assert objective(decided.dense + step, terms) > least
    for key in terms:
        for step in (-0.05, 0.05):
            assert objective(decided.dense, terms | {key: terms[key] + step}) > least


def test_learns_frequent_confusions():
    rule = Mistakes().fit(with_mistakes(habit=0.95))
    same = [[0.0, 1.5, -9.0], [-9.0, 0.0, 1.5]]  # "its", where "it's" is better; "it's", where "is" is better
    probable = rule.judge(scored(same, [0, 1])).probabilities
    assert probable[0] > 3 * probable[1]


def test_generalises_an_edit_to_other_words():
    """The mistakes are "walks" for "walk"; "jumps" for "jump" does not occur in them, nor "jumped"."""
    rules = []
    for written in ("walks", "walked"):
        group = Group("walk", ("walk", written, "stroll"))
        right = replace(writers(2000, habit=0.95)[0], groups=(group,))
        scores = np.random.default_rng(1).normal((1.0, 0.0, -2.0), size=(200, 3))
        wrong = scored(scores, np.ones(200), np.tile([0, 1, 1], (200, 1)), group=group)
        built = WithMistakes(MadeTask(Decides(), (group,)), (right,), 20_000, wrong)
        rules.append(Mistakes().fit(built))
    other = scored([[1.5, 0.0, -9.0]], [1], group=Group("jump", ("jump", "jumps", "hop")))
    one, two = (float(rule.judge(other).probabilities[0]) for rule in rules)
    assert one > 2 * two


def test_suggests_the_intended_word_and_not_the_best_score():
    rule = Mistakes(flags_per_1000=12.0).fit(with_mistakes(habit=0.98, lead=1.0))
    tie = scored([[-4.0, 2.0, 2.05]], [0])
    decided = rule.judge(tie)
    assert decided.flagged.all() and decided.chosen.tolist() == [1]
    assert rule.judge(tie, flags_per_1000=0.0).chosen.tolist() == [2]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    GROUP,
                    Group("on", ("on", "upon", "in", ""), (("on", "upon"),)),
                    Group("pair", ("lose", "loose")),
                    Group("one", ("alone",)),
                ]
            ),
            st.integers(0, 4),
        ),
        min_size=1,
        max_size=6,
    ),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_decides_groups_together_as_one_at_a_time(group_sizes, listed, seed):
    """Groups of different sizes, variants, per-instance lists, unobserved candidates, no instances."""
    rng, parts = np.random.default_rng(seed), []
    for group, n in group_sizes:
        k = 5 if listed else len(group.candidates)
        part = scored(4 * rng.normal(size=(n, k)), rng.integers(-1, k, n), group=group)
        lists = CandidateLists.from_texts([["a", "an", "the", "", "am"]] * n) if listed else None
        if rng.random() < 0.5:  # some rows occur twice
            part = replace(part, neighbours=rng.choice(hash_words(["its", "on", "in", "a"]), (n, 2)))
        parts.append(replace(part, lists=lists, n_hits=rng.integers(0, 3, n * k).astype(np.int32)))
    for rate in (None, 500.0):
        together = FITTED.judge(ScoreBatch.joined(parts), flags_per_1000=rate)
        alone = [FITTED.judge(part, flags_per_1000=rate) for part in parts]
        for name in ("chosen", "margins", "probabilities", "flagged", "answered"):
            one_by_one = np.concatenate([getattr(item, name) for item in alone])
            np.testing.assert_allclose(getattr(together, name), one_by_one, rtol=1e-9)


MANY = {"n": 10_000, "habit": 0.8, "lead": 3.0}


@pytest.fixture(scope="module")
def rule_of_many():
    return Mistakes(flags_per_1000=4.0).fit(with_mistakes(**MANY))


def test_rate_holds_on_new_words_also_if_it_was_fitted_on_a_sample(rule_of_many):
    right, _ = writers(**MANY, seed=7)
    for rule in (rule_of_many, replace(rule_of_many, most_right=1000).fit(with_mistakes(**MANY))):
        flags = int(rule.judge(right).flagged.sum())
        assert 0.6 * 4.0 < flags / (MANY["n"] / 100) < 1.5 * 4.0


def test_flags_nothing_without_evidence():
    rule = Mistakes(flags_per_1000=12.0).fit(with_mistakes(habit=0.95))
    sure = [[-9.0, 9.0, -9.0]]
    assert rule.judge(scored(sure, [0])).flagged.all()
    assert not rule.judge(scored(sure, [0], n_hits=0)).flagged.any()


def test_fits_without_an_error_corpus():
    built = make_calibration_data()
    assert not isinstance(built, HasErrorCorpus)
    rule = Mistakes(flags_per_1000=12.0).fit(built)
    sure = rule.judge(scored([[-5.0, 5.0]], [0], group=built.task.groups[0]))
    unsure = rule.judge(scored([[5.0, -5.0]], [0], group=built.task.groups[0]))
    assert sure.probabilities[0] > unsure.probabilities[0]


def test_mistakes_whose_correction_is_not_an_alternative_have_no_weight():
    group = Group("many", tuple("abcdefghij"))
    case = weighted_cases(scored([np.arange(10.0)], [9], group=group), np.array([0]))
    assert case.weights.tolist() == [0.0]


def test_right_words_without_an_alternative_have_no_weight():
    group = Group("on", ("on", "upon"), (("on", "upon"),))  # variants are no alternatives
    assert weighted_cases(scored([[0.0, 1.0]], [0], group=group), np.array([0])).weights.tolist() == [0.0]
    assert weighted_cases(scored([[0.0, 1.0, 2.0]], [0]), np.array([0])).weights.tolist() == [1.0]


@pytest.mark.parametrize(
    "broken",
    [
        {"dense": np.zeros(3)},
        {"dense": np.zeros(EARLIER + 1)},
        {"shift": np.array([np.nan])},
        {"keys": np.array([2, 1], np.uint64), "weights": np.zeros(2)},
        {"weights": np.zeros(1)},
        {"scales": np.array([1.0])},
        {"thresholds": np.array([0.0, 1.0]), "rates": np.array([1.0, 2.0])},
        {"found": np.zeros(3)},
        {"found": np.linspace(1.0, 0.0, len(RATES))},
        {"found": np.linspace(0.0, 1.1, len(RATES))},
    ],
)
def test_rejects_a_broken_state(broken):
    rule = Mistakes().fit(with_mistakes(200, habit=0.8))
    state = dict(rule.state())
    assert isinstance(Mistakes().from_state(state, (GROUP,)), Mistakes)
    with pytest.raises((ValueError, KeyError)):
        Mistakes().from_state({**state, **broken}, (GROUP,))


@pytest.mark.parametrize("rate", [0.5, 4.0, 50.0, float("inf")])
def test_skipping_improbable_places_changes_no_flag(rate):
    """If scores are far apart, most places are skipped, but flags and corrections are the same."""
    built = with_mistakes(4000, habit=0.9, lead=6.0)
    rule = Mistakes().fit(built)
    assert rule.weighed_from > -12
    everywhere = replace(rule, weighed_from=EVERYWHERE)
    for part in (built.right(0), built.wrong):
        quick, slow = rule.judge(part, flags_per_1000=rate), everywhere.judge(part, flags_per_1000=rate)
        assert np.array_equal(quick.flagged, slow.flagged) and np.array_equal(quick.chosen, slow.chosen)
        assert quick.flagged.any() == slow.flagged.any() and np.array_equal(quick.margins, slow.margins)
        weighed = slow.probabilities > 1e-4
        assert np.array_equal(quick.probabilities[weighed], slow.probabilities[weighed])
    far = rule.judge(built.right(0), flags_per_1000=1.0).probabilities < 1e-20
    assert far.mean() > 0.5 and (rate <= 4 or not (quick.probabilities < 1e-20).any())


ZERO = Group("many", (*"abcdefgh", ""))
LAST = np.append(np.arange(8.0), -50.0)  # the empty candidate is improbable


def test_deletion_is_an_alternative_for_a_repeated_word():
    twice = find_alternatives(scored([LAST, LAST], [2, 2], group=ZERO, neighbours=["cx", "xc"]))
    assert twice.candidates.tolist() == [[7, 6, 5, 4, 3, 8], [7, 6, 5, 4, 3, 1]]
    names = [name.split(", ")[1] for name in FEATURES[EARLIER:]]
    assert names == ["replacement", "deletion"]
    assert twice.features[:, :, EARLIER:].tolist() == [[[1, 0]] * 5 + [[0, 1]], [[0, 0]] * 6]
    assert alternatives_repeat(twice).tolist() == [True, False]


def test_an_empty_place_is_not_a_repetition():
    assert not alternatives_repeat(
        find_alternatives(scored([LAST], [8], group=ZERO, neighbours=["aa"]))
    ).any()


def test_neighbours_have_keys_only_if_they_are_known():
    words = hashed(["abc", "abc"])
    changes = hashed(["de", "de"])
    keys = term_keys(words, changes, hashed(["xy", "yx"]))
    assert len(np.unique(keys)) == (1 + 2 + 2 + 2) + 2 * (1 + 2 + 1 + 2)
    unknown = term_keys(words, changes, np.array([[0, hash_word("y")], [0, 0]], np.uint64))
    assert np.array_equal(unknown[:, :, :ALONE], keys[:, :, :ALONE])
    assert (unknown[0, :, ALONE:] == NO_KEY).tolist() == [[True, True, False, False]] * 2
    assert (unknown[1, :, ALONE:] == NO_KEY).all()
    assert np.array_equal(term_keys(words, changes, np.zeros((2, 2), np.uint64)), keys[:, :, :ALONE])
    without = term_keys(words, np.full((2, 2), edits.NO_CHANGE, np.uint64), hashed(["xy", "yx"]))
    assert (without[:, :, ALONE - 1] == NO_KEY).all()
    assert (np.delete(without, ALONE - 1, axis=2) == np.delete(keys, ALONE - 1, axis=2)).all()


def words_beside(n, *, wrong):
    """Return words before the places; one of them precedes mistakes, and rarely a correct word."""
    rng = np.random.default_rng(5)
    return ["qz" if rng.random() < (0.9 if wrong else 0.01) else "rz" for _ in range(n)]


def test_learns_neighbours_of_mistakes_and_keeps_them_in_the_state():
    right, wrong = writers(4000, habit=0.8)
    right = replace(right, neighbours=hashed(words_beside(4000, wrong=False)))
    wrong = replace(wrong, neighbours=hashed(words_beside(400, wrong=True)))
    built = WithMistakes(MadeTask(Decides(), (GROUP,)), (right,), 40_000, wrong)
    rule = Mistakes().fit(built)
    for item in (rule, Mistakes().from_state(rule.state(), (GROUP,))):
        one = scored([[0.0, 1.0, -9.0]] * 2, [0, 0], neighbours=["qz", "rz"])
        probable = item.judge(one).probabilities
        assert probable[0] > 3 * probable[1]


def test_drops_rare_or_light_neighbours():
    right, wrong = writers(400, habit=0.8)
    cases = join_cases(
        [weighted_cases(right, right.observed.astype(np.int64)), weighted_cases(wrong, np.ones(40, int))]
    )
    unique_ids = np.arange(1, 2 * len(cases.meant) + 1, dtype=np.uint64).reshape(-1, 2)
    rare = fit_weights(replace(cases, alternatives=replace(cases.alternatives, neighbours=unique_ids)))
    assert np.array_equal(rare.terms.keys, fit_weights(cases).terms.keys)
    assert MIN_SEEN > 2
    same = fit_weights(
        replace(cases, alternatives=replace(cases.alternatives, neighbours=np.full_like(unique_ids, 7)))
    )
    more = ~np.isin(same.terms.keys, rare.terms.keys)
    assert more.any() and (np.abs(same.terms.weights[more]) > MIN_WEIGHT).all()


def test_weighs_repeated_words_at_any_margin():
    group = Group("many", ("a", "b", ""))
    dense = 9.0 * np.array([name == "repeats the word before, deletion" for name in FEATURES])
    weighing = ErrorWeights(dense, HashedWeights(*NO_TERMS))
    rule = Mistakes(weighing=weighing, weighed_from=5.0)
    decided = rule.judge(scored([[9.0, -9.0, -9.0]] * 2, [0, 0], group=group, neighbours=["ax", "xa"]))
    assert decided.flagged.tolist() == [True, False]


def test_reads_a_state_without_neighbours():
    rule = Mistakes(flags_per_1000=8.0).fit(with_mistakes(500, habit=0.8))
    state = dict(rule.state())
    again = Mistakes().from_state({**state, "dense": state["dense"][:EARLIER]}, (GROUP,))
    right, _ = writers(200, habit=0.5, seed=3)
    assert np.array_equal(rule.judge(right).probabilities, again.judge(right).probabilities)


def test_gains_estimate_the_recall_at_each_rate(rule_of_many):
    """The gains are right for unseen mistakes, although they were computed on the training mistakes."""
    rule = rule_of_many
    rates, gains = rule.gains()
    assert rates.tolist() == list(RATES) and (np.diff(gains) >= 0).all() and gains[-1] > gains[0]
    _, wrong = writers(**MANY, seed=7)
    meant = wrong.cost.reshape(-1, 3).argmin(axis=1)
    for rate, gain in list(zip(rates.tolist(), gains.tolist(), strict=True))[::5]:
        decided = rule.judge(wrong, flags_per_1000=rate)
        assert gain == pytest.approx((decided.flagged & (decided.chosen == meant)).mean() / 2, abs=0.025)
    again = Mistakes().from_state(rule.state(), (GROUP,))
    assert np.array_equal(again.gains()[1], gains)


def test_gains_are_cross_fitted():
    """Every mistake occurs once, so that nothing learned from one mistake helps with another."""
    n = 40
    group = Group("many", tuple(f"w{i}" for i in range(2 * n)))
    rng = np.random.default_rng(0)
    right = scored(rng.normal(size=(4000, 2 * n)), rng.integers(0, 2 * n, 4000), group=group)
    cost = np.ones((n, 2 * n))
    cost[np.arange(n), n + np.arange(n)] = 0
    scores = rng.normal(size=(n, 2 * n))
    scores[np.arange(n), n + np.arange(n)] += 2.0  # among the best, rarely the best
    wrong = scored(scores, np.arange(n), cost, group=group)
    built = WithMistakes(MadeTask(Decides(), (group,)), (right,), 40_000, wrong)
    rule = Mistakes(flags_per_1000=12.0).fit(built)
    by_heart = rule.judge(wrong)
    actual = (by_heart.flagged & (by_heart.chosen == n + np.arange(n))).mean() / 2
    assert rule.gains()[1][-1] < 0.7 * actual


def test_gains_are_unknown_without_an_error_corpus_or_in_an_old_state():
    assert Mistakes().fit(make_calibration_data()).gains() is None
    state = dict(FITTED.state())
    del state["found"]
    assert Mistakes().from_state(state, (GROUP,)).gains() is None


@pytest.mark.parametrize("check", check_judge(Mistakes(), with_mistakes(400, habit=0.9)), ids=str)
def test_keeps_the_contract_with_an_error_corpus(check):
    check()


@pytest.mark.parametrize(
    ("written", "meant", "kind"),
    [
        ("its", "it's", edits.MARK),
        ("everyday", "every day", edits.MARK),
        ("loose", "lose", edits.LETTER),
        ("form", "from", edits.LETTER),
        ("than", "then", edits.LETTER),
        ("lead", "led", edits.LETTER),
        ("affect", "effect", edits.LETTER),
        ("to", "for", edits.OTHER),
        ("diary", "dairy", edits.LETTER),
        ("weather", "whether", edits.OTHER),
        ("", "to", edits.INSERTION),
        ("to", "", edits.DELETION),
    ],
)
def test_edit_kinds(written, meant, kind):
    assert edit_kind(written, meant) == kind


@pytest.mark.parametrize(
    ("pair", "other", "same"),
    [
        (("walks", "walk"), ("Uses", "use"), True),
        (("walks", "walk"), ("walk", "walks"), False),
        (("walked", "walking"), ("used", "using"), True),
        (("was", "were"), ("has", "have"), False),
        (("its", "it's"), ("ones", "one's"), True),
    ],
)
def test_edit_changes(pair, other, same):
    assert (edit_change(*pair) == edit_change(*other)) == same
    assert edit_change(*pair) != edits.NO_CHANGE


@pytest.mark.parametrize("pair", [("", "to"), ("to", ""), ("organise", "organisation")])
def test_no_edit_change_between_distant_or_missing_words(pair):
    assert edit_change(*pair) == edits.NO_CHANGE


@given(st.text("abc", min_size=1, max_size=5), st.text("abc", min_size=1, max_size=5))
def test_edit_kinds_of_words_are_symmetric(a, b):
    assert edit_kind(a, b) == edit_kind(b, a)


def test_hashed_weights_are_equal_in_both_backends(monkeypatch):
    rng = np.random.default_rng(0)
    edges = np.array([1, 2**40, 2**40 + 1, 2**64 - 1], np.uint64)
    keys = np.unique(np.concatenate([rng.integers(0, 2**64, 200, np.uint64), edges]))
    terms = HashedWeights(keys, rng.normal(size=len(keys)))
    queries = rng.choice(np.concatenate([terms.keys, terms.keys + np.uint64(1), [np.uint64(0)]]), (9, 4, 7))
    sums = {}
    for backend in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", backend)
        sums[backend] = terms.sums(queries)
        assert np.array_equal(terms.sums(queries[:, :, ::-1][:, :, ::-1]), sums[backend])
        assert terms.sums(queries[:0]).shape == (0, 4)
    assert np.array_equal(sums["numpy"], sums["numba"])
    weights = dict(zip(terms.keys.tolist(), terms.weights.tolist(), strict=True))
    expected = [[sum(weights.get(key, 0.0) for key in cell) for cell in row] for row in queries.tolist()]
    np.testing.assert_allclose(sums["numba"], expected, rtol=1e-12, atol=1e-12)
