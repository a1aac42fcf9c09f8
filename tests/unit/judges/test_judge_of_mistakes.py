"""The judge of mistakes: its likelihood against one written out, what it learns of writers, its rates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.data import CandidateLists, Group, ScoreBatch
from disambig.decision import (
    ALONE,
    EARLIER,
    EVERYWHERE,
    FEATURES,
    LEAST_SEEN,
    LEAST_WEIGHT,
    MOST,
    NO_KEY,
    RATES,
    RIDGE,
    RIDGES,
    ErrorWeights,
    HashedWeights,
    Mistakes,
    alternatives_repeat,
    find_alternatives,
    fit_weights,
    join_cases,
    term_keys,
    weighted_cases,
)
from disambig.decision import _rivals as edits
from disambig.testing.checks import MadeCalibrationData, MadeTask, make_calibration_data
from disambig.text import hash_word, hash_words
from disambig.types import Decides, HasErrorCorpus

NO_TERMS = np.empty(0, np.uint64), np.empty(0)
GROUP = Group("its/it's/is", ("its", "it's", "is"))


def scored(scores, observed, cost=None, *, group=GROUP, found=1, beside=None):
    """Scores (n, K) of instances of a group."""
    n, k = np.shape(scores)
    offsets = np.arange(n + 1, dtype=np.int64) * k
    costs = np.ones((n, k), np.float32) if cost is None else np.asarray(cost, np.float32)
    counts = np.full(n * k, found, np.int32)
    flat = np.asarray(scores, float).ravel()
    seen = np.asarray(observed, np.int32)
    columns = flat, seen, counts, counts, costs.ravel(), hashed(beside)
    return ScoreBatch.from_group(group, 0, offsets, *columns)


def hashed(words):
    """Hashes of rows of words; None for none."""
    if words is None:
        return None
    return np.array([[hash_word(word) for word in row] for row in words], np.uint64)


def writers(n, *, habit, seed=0, lead=2.0):
    """Right words and mistakes of people who write "its" for "it's", and hardly ever another for another."""
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
    """Examples to tune on, which are the right words as well, and mistakes."""

    wrong: ScoreBatch | None = None

    @property
    def n_mistakes(self):
        return 2 * len(self.wrong.observed)  # as many again are other tasks'

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


def test_rivals_are_the_best_others_in_order():
    rivals = find_alternatives(scored([[1.0, 3.0, 2.0], [0.0, -1.0, 5.0]], [0, -1]))
    assert rivals.candidates.tolist() == [[1, 2, -1], [-1, -1, -1]]
    margin = FEATURES.index("margin, replacement")
    assert rivals.features[0, :, margin].tolist() == [2.0, 1.0, 0.0]
    assert not rivals.features[1].any()


def test_no_more_rivals_than_are_weighed():
    group = Group("many", tuple("abcdefghij"))
    rivals = find_alternatives(scored([np.arange(10.0)], [3], group=group))
    assert rivals.candidates.shape == (1, MOST)
    assert rivals.candidates[0].tolist() == [9, 8, 7, 6, 5, 4]


def test_variants_are_no_rivals():
    group = Group("on", ("on", "upon", "in"), (("on", "upon"),))
    assert find_alternatives(scored([[0.0, 9.0, 1.0]], [0], group=group)).candidates.tolist() == [[2, -1, -1]]


def test_fit_is_where_the_penalised_likelihood_is_greatest():
    """The slope of the objective written out, at the solution, is zero in every direction tried."""
    right, wrong = writers(300, habit=0.8)
    parts = [
        weighted_cases(right, right.observed.astype(np.int64)),
        weighted_cases(wrong, np.where(wrong.observed, 2, 1)),
    ]
    cases = join_cases(parts)
    found = fit_weights(cases)
    keys = term_keys(cases.rivals.words, cases.rivals.changes, cases.rivals.neighbours)[:, :, :ALONE]
    possible = cases.rivals.possible
    spread = np.sqrt((cases.rivals.features[possible].astype(float) ** 2).mean(axis=0))

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
                    known = sum(terms.get(int(key), 0.0) for key in keys[i, r])
                    odds.append(float(cases.rivals.features[i, r] @ dense) + known)
                else:
                    odds.append(-np.inf)
            total += cases.weights[i] * float(np.logaddexp.reduce(odds) - odds[cases.meant[i]])
        return total

    terms = dict(zip(found.terms.keys.tolist(), found.terms.weights.tolist(), strict=True))
    least = objective(found.dense, terms)
    rng = np.random.default_rng(1)
    for _ in range(5):
        step = rng.normal(size=len(found.dense)) * 0.02 * (spread > 0)
        assert objective(found.dense + step, terms) > least
    for key in terms:
        for step in (-0.05, 0.05):
            assert objective(found.dense, terms | {key: terms[key] + step}) > least


def test_what_people_mix_up_is_learned():
    judge = Mistakes().fit(with_mistakes(habit=0.95))
    same = [[0.0, 1.5, -9.0], [-9.0, 0.0, 1.5]]  # "its", where "it's" is better; "it's", where "is" is better
    probable = judge.judge(scored(same, [0, 1])).probabilities
    assert probable[0] > 3 * probable[1]


def test_what_people_do_with_one_word_they_do_with_others():
    """All write "walks" for "walk"; "jumps" for "jump" was never seen, nor "jumped"."""
    judges = []
    for written in ("walks", "walked"):
        group = Group("walk", ("walk", written, "stroll"))
        right = replace(writers(2000, habit=0.95)[0], groups=(group,))
        scores = np.random.default_rng(1).normal((1.0, 0.0, -2.0), size=(200, 3))
        wrong = scored(scores, np.ones(200), np.tile([0, 1, 1], (200, 1)), group=group)
        made = WithMistakes(MadeTask(Decides(), (group,)), (right,), 20_000, wrong)
        judges.append(Mistakes().fit(made))
    other = scored([[1.5, 0.0, -9.0]], [1], group=Group("jump", ("jump", "jumps", "hop")))
    one, two = (float(judge.judge(other).probabilities[0]) for judge in judges)
    assert one > 2 * two


def test_what_is_flagged_is_the_word_that_was_meant_and_not_the_best_scored():
    judge = Mistakes(flags_per_1000=12.0).fit(with_mistakes(habit=0.98, lead=1.0))
    tie = scored([[-4.0, 2.0, 2.05]], [0])
    found = judge.judge(tie)
    assert found.flagged.all() and found.chosen.tolist() == [1]
    assert judge.judge(tie, flags_per_1000=0.0).chosen.tolist() == [2]


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
def test_groups_are_judged_together_as_one_by_one(asked, listed, seed):
    """Groups of other sizes, variants, lists of their own, places where none of them stands, no places."""
    rng, parts = np.random.default_rng(seed), []
    for group, n in asked:
        k = 5 if listed else len(group.candidates)
        part = scored(4 * rng.normal(size=(n, k)), rng.integers(-1, k, n), group=group)
        own = CandidateLists.from_texts([["a", "an", "the", "", "am"]] * n) if listed else None
        if rng.random() < 0.5:  # some of them stand there twice
            part = replace(part, neighbours=rng.choice(hash_words(["its", "on", "in", "a"]), (n, 2)))
        parts.append(replace(part, own=own, found=rng.integers(0, 3, n * k).astype(np.int32)))
    for rate in (None, 500.0):
        together = FITTED.judge(ScoreBatch.joined(parts), flags_per_1000=rate)
        alone = [FITTED.judge(part, flags_per_1000=rate) for part in parts]
        for name in ("chosen", "margins", "probabilities", "flagged", "answered"):
            one_by_one = np.concatenate([getattr(each, name) for each in alone])
            np.testing.assert_allclose(getattr(together, name), one_by_one, rtol=1e-9)


def test_the_rate_holds_on_other_words_of_the_same_kind():
    judge = Mistakes(flags_per_1000=4.0).fit(with_mistakes(20_000, habit=0.8, lead=3.0))
    right, _ = writers(20_000, habit=0.8, lead=3.0, seed=7)
    flags = int(judge.judge(right).flagged.sum())
    assert 0.6 * 4.0 < flags / 200 < 1.5 * 4.0


def test_the_rate_holds_where_it_learns_from_a_sample():
    judge = Mistakes(flags_per_1000=4.0, most_right=1000).fit(with_mistakes(20_000, habit=0.8, lead=3.0))
    right, _ = writers(20_000, habit=0.8, lead=3.0, seed=7)
    flags = int(judge.judge(right).flagged.sum())
    assert 0.6 * 4.0 < flags / 200 < 1.5 * 4.0


def test_without_evidence_nothing_is_flagged():
    judge = Mistakes(flags_per_1000=12.0).fit(with_mistakes(habit=0.95))
    sure = [[-9.0, 9.0, -9.0]]
    assert judge.judge(scored(sure, [0])).flagged.all()
    assert not judge.judge(scored(sure, [0], found=0)).flagged.any()


def test_without_real_mistakes_made_ones_do():
    made = make_calibration_data()
    assert not isinstance(made, HasErrorCorpus)
    judge = Mistakes(flags_per_1000=12.0).fit(made)
    sure = judge.judge(scored([[-5.0, 5.0]], [0], group=made.task.groups[0]))
    unsure = judge.judge(scored([[5.0, -5.0]], [0], group=made.task.groups[0]))
    assert sure.probabilities[0] > unsure.probabilities[0]


def test_mistakes_whose_meant_word_is_out_of_reach_teach_nothing():
    group = Group("many", tuple("abcdefghij"))
    case = weighted_cases(scored([np.arange(10.0)], [9], group=group), np.array([0]))
    assert case.weights.tolist() == [0.0]


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
def test_broken_state_is_refused(broken):
    judge = Mistakes().fit(with_mistakes(200, habit=0.8))
    state = dict(judge.state())
    assert isinstance(Mistakes().from_state(state, (GROUP,)), Mistakes)
    with pytest.raises((ValueError, KeyError)):
        Mistakes().from_state({**state, **broken}, (GROUP,))


def test_the_state_decides_as_the_judge_does():
    judge = Mistakes(flags_per_1000=8.0).fit(with_mistakes(500, habit=0.8))
    again = Mistakes().from_state(judge.state(), (GROUP,))
    right, wrong = writers(200, habit=0.5, seed=3)
    for some in (right, wrong):
        one, other = judge.judge(some), again.judge(replace(some))
        assert np.array_equal(one.flagged, other.flagged)
        assert one.probabilities == pytest.approx(other.probabilities, rel=1e-4)


@pytest.mark.parametrize("rate", [0.5, 4.0, 50.0, float("inf")])
def test_what_is_far_from_any_flag_is_not_weighed_and_nothing_is_lost(rate):
    """Scores far apart: most places are never weighed; flags, and what is meant, are the same."""
    made = with_mistakes(4000, habit=0.9, lead=6.0)
    judge = Mistakes().fit(made)
    assert judge.weighed_from > -12
    everywhere = replace(judge, weighed_from=EVERYWHERE)
    for part in (made.right(0), made.wrong):
        quick, slow = judge.judge(part, flags_per_1000=rate), everywhere.judge(part, flags_per_1000=rate)
        assert np.array_equal(quick.flagged, slow.flagged) and np.array_equal(quick.chosen, slow.chosen)
        assert quick.flagged.any() == slow.flagged.any() and np.array_equal(quick.margins, slow.margins)
        weighed = slow.probabilities > 1e-4
        assert np.array_equal(quick.probabilities[weighed], slow.probabilities[weighed])
    far = judge.judge(made.right(0), flags_per_1000=1.0).probabilities < 1e-20
    assert far.mean() > 0.5 and (rate <= 4 or not (quick.probabilities < 1e-20).any())


ZERO = Group("many", (*"abcdefgh", ""))
LAST = np.append(np.arange(8.0), -50.0)  # no word at all is far from probable


def test_no_word_is_a_rival_where_the_word_before_stands_there_once_more():
    twice = find_alternatives(scored([LAST, LAST], [2, 2], group=ZERO, beside=["cx", "xc"]))
    assert twice.candidates.tolist() == [[7, 6, 5, 4, 3, 8], [7, 6, 5, 4, 3, 1]]
    names = [name.split(", ")[1] for name in FEATURES[EARLIER:]]
    assert names == ["replacement", "deletion"]
    assert twice.features[:, :, EARLIER:].tolist() == [[[1, 0]] * 5 + [[0, 1]], [[0, 0]] * 6]
    assert alternatives_repeat(twice).tolist() == [True, False]


def test_an_empty_place_repeats_nothing():
    assert not alternatives_repeat(find_alternatives(scored([LAST], [8], group=ZERO, beside=["aa"]))).any()


def test_words_beside_have_keys_of_their_own_and_none_where_they_are_not_known():
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


def beside(n, *, wrong):
    """Words of which one stands before mistakes, and hardly ever before a right word."""
    rng = np.random.default_rng(5)
    return ["qz" if rng.random() < (0.9 if wrong else 0.01) else "rz" for _ in range(n)]


def test_what_stands_beside_mistakes_is_learned_and_kept_in_the_state():
    right, wrong = writers(4000, habit=0.8)
    right = replace(right, neighbours=hashed(beside(4000, wrong=False)))
    wrong = replace(wrong, neighbours=hashed(beside(400, wrong=True)))
    made = WithMistakes(MadeTask(Decides(), (GROUP,)), (right,), 40_000, wrong)
    judge = Mistakes().fit(made)
    for each in (judge, Mistakes().from_state(judge.state(), (GROUP,))):
        one = scored([[0.0, 1.0, -9.0]] * 2, [0, 0], beside=["qz", "rz"])
        probable = each.judge(one).probabilities
        assert probable[0] > 3 * probable[1]


def test_words_beside_that_are_rare_or_weigh_little_are_not_kept():
    right, wrong = writers(400, habit=0.8)
    cases = join_cases(
        [weighted_cases(right, right.observed.astype(np.int64)), weighted_cases(wrong, np.ones(40, int))]
    )
    own = np.arange(1, 2 * len(cases.meant) + 1, dtype=np.uint64).reshape(-1, 2)
    rare = fit_weights(replace(cases, rivals=replace(cases.rivals, neighbours=own)))
    assert np.array_equal(rare.terms.keys, fit_weights(cases).terms.keys)
    assert LEAST_SEEN > 2
    same = fit_weights(replace(cases, rivals=replace(cases.rivals, neighbours=np.full_like(own, 7))))
    more = ~np.isin(same.terms.keys, rare.terms.keys)
    assert more.any() and (np.abs(same.terms.weights[more]) > LEAST_WEIGHT).all()


def test_repeated_words_are_weighed_however_low_the_margin():
    group = Group("many", ("a", "b", ""))
    dense = 9.0 * np.array([name == "repeats the word before, deletion" for name in FEATURES])
    weighing = ErrorWeights(dense, HashedWeights(*NO_TERMS))
    judge = Mistakes(weighing=weighing, weighed_from=5.0)
    found = judge.judge(scored([[9.0, -9.0, -9.0]] * 2, [0, 0], group=group, beside=["ax", "xa"]))
    assert found.flagged.tolist() == [True, False]


def test_a_judge_from_before_words_were_looked_at_beside_a_place_judges_as_it_did():
    judge = Mistakes(flags_per_1000=8.0).fit(with_mistakes(500, habit=0.8))
    state = dict(judge.state())
    again = Mistakes().from_state({**state, "dense": state["dense"][:EARLIER]}, (GROUP,))
    right, _ = writers(200, habit=0.5, seed=3)
    assert np.array_equal(judge.judge(right).probabilities, again.judge(right).probabilities)
