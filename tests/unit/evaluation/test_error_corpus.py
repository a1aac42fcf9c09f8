"""Scores on corrected mistakes, and on mistakes that are put into clean text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from made_decisions import make_decisions
from toy_components import toy_components
from toy_learners import MeanDifference

from disambig.checking import decisions_to_edits, text_stretches
from disambig.counts import build_table
from disambig.data import (
    LEVELS,
    PUT_IN,
    TAKEN_OUT,
    CandidateFinder,
    CandidateLists,
    Group,
    Instances,
    PrecisionTable,
    edit_kind,
    unordered_pair,
)
from disambig.errors import UserError
from disambig.evaluation import (
    MIN_FLAGS,
    MistakeTrial,
    ProposedEdit,
    compare_trials,
    corrects,
    evaluate,
    limit_for,
    measure_precision,
    mistake_figures,
    rewrite,
    share_at,
    substitute,
    touches,
)
from disambig.features import NgramCounts
from disambig.formats import Clean, Fix, FlagReading, fix_kind, paragraph_digest
from disambig.models import NoPreference
from disambig.tasks import OwnCandidates
from disambig.text import Words, hash_word
from disambig.training import train


def fix(marked: str, new: str, category: str = "preposition", repo: str = "a") -> Fix:
    """Return the mistake that is marked as ``[so]``, or as ``[]`` if a word is missing there."""
    left, _, rest = marked.partition("[")
    old, _, right = rest.partition("]")
    start, end = len(left), len(left) + len(old)
    return Fix(left + old + right, start, end, old, new, category, "", fix_kind(old, new), 1, repo)


def make_edit(marked: str, new: str | None, *others: str) -> ProposedEdit:
    mistake = fix(marked, "x")
    return ProposedEdit(mistake.start, mistake.end, new, "all", others=others)


REPLACED = fix("We rely [in] it.", "on")
MISSING = fix("We rely []it.", "on")
EXTRA = fix("We met [with] her.", "")
DOUBLED = fix("See [the] the page.", "")


@pytest.mark.parametrize(
    ("mistake", "corrected"),
    [
        (REPLACED, "We rely on it."),
        (MISSING, "We rely on it."),
        (EXTRA, "We met her."),
        (DOUBLED, "See the page."),
        (fix("What is it []?", "for"), "What is it for?"),
        (fix("Wait here[]", "for"), "Wait here for"),
        (fix("He asked what it is [at].", ""), "He asked what it is."),
        (fix("[At] next week we go.", ""), "Next week we go."),
        (fix("They [maybe] late.", "may be"), "They may be late."),
    ],
)
def test_the_corrected_text(mistake, corrected):
    assert mistake.corrected() == corrected


@pytest.mark.parametrize(
    ("mistake", "proposed", "expected"),
    [
        (REPLACED, make_edit("We rely [in] it.", "on"), True),
        (REPLACED, make_edit("We [rely in] it.", "rely on"), True),
        (REPLACED, make_edit("We rely [in] it.", "at", "on"), True),
        (MISSING, make_edit("We rely []it.", "on "), True),
        (MISSING, make_edit("We rely[] it.", "on"), True),
        (MISSING, make_edit("We [rely] it.", "rely on"), True),
        (MISSING, make_edit("We rely [it].", "on it"), True),
        (EXTRA, make_edit("We met [with ]her.", ""), True),
        (EXTRA, make_edit("We met[ with] her.", ""), True),
        (EXTRA, make_edit("We [met with] her.", "met"), True),
        (DOUBLED, make_edit("See the [the ]page.", ""), True),
        (DOUBLED, make_edit("See [the the] page.", "the"), True),
        (fix("[at] home we rest", "In"), make_edit("[at] home we rest", "in"), True),
        (fix("I know [its] late", "it's"), make_edit("I know [its] late", "it\u2019s"), True),
        (REPLACED, make_edit("We rely [in] it.", "at"), False),
        (REPLACED, make_edit("We rely [in] it.", None), False),
        (REPLACED, make_edit("We rely [in ]it.", ""), False),
        (MISSING, make_edit("We [rely] it.", "on"), False),
        (MISSING, make_edit("We rely it[].", "on"), False),
        (EXTRA, make_edit("We [met ]with her.", ""), False),
        (fix("I know [its] late", "it's"), make_edit("I know [its] late", "it"), False),
    ],
)
def test_edits_that_correct(mistake, proposed, expected):
    assert corrects(proposed, mistake) is expected


@pytest.mark.parametrize(
    ("mistake", "proposed", "expected"),
    [
        (REPLACED, make_edit("We rely [in] it.", None), True),
        (REPLACED, make_edit("We [rely in] it.", None), True),
        (REPLACED, make_edit("We [rely] in it.", None), False),
        (REPLACED, make_edit("We rely in [it].", None), False),
        (MISSING, make_edit("We rely []it.", "at "), True),
        (MISSING, make_edit("We rely[] it.", "at"), True),
        (MISSING, make_edit("We [rely it].", None), True),
        (MISSING, make_edit("We [rely] it.", None), False),
        (MISSING, make_edit("We rely [it].", None), False),
        (EXTRA, make_edit("We met [with] her.", "at"), True),
        (EXTRA, make_edit("We met with []her.", "at "), False),
    ],
)
def test_touches(mistake, proposed, expected):
    assert touches(proposed, mistake) is expected


@dataclass
class ScriptedChecker:
    """A checker with fixed proposals."""

    proposals: dict[str, list[ProposedEdit]]
    name: str = "said"
    tasks: tuple[str, ...] = ("one", "two")
    batch_sizes: list[int] = field(default_factory=list)

    def edits(self, texts):
        self.batch_sizes.append(len(texts))
        return [self.proposals.get(text, []) for text in texts]


FIXES = [
    fix("We rely [in] it.", "on", repo="a"),
    fix("They count [in] us.", "on", repo="a"),
    fix("We rely []her.", "on", repo="b"),
    fix("I know [its] late.", "it's", "confusion", repo="b"),
]
CLEAN = [Clean("one two three four", "a"), Clean("one two three four five six", "b")]
CHECKER = ScriptedChecker(
    {
        "We rely in it.": [ProposedEdit(8, 10, "on", "one", 0.9), ProposedEdit(0, 2, "Us", "two", 0.9)],
        "They count in us.": [ProposedEdit(11, 13, "at", "one", 0.8)],
        "We rely her.": [ProposedEdit(8, 8, "on ", "one", 0.3)],
        "I know its late.": [ProposedEdit(7, 10, "it's", "two", 0.6)],
        CLEAN[0].text: [ProposedEdit(0, 3, "won", "two", 0.7), ProposedEdit(8, 13, "tree", "two", 0.5)],
        CLEAN[1].text: [ProposedEdit(4, 7, "to", "one", 0.2)],
    }
)


@pytest.fixture(scope="module")
def trial():
    return MistakeTrial.from_checker(CHECKER, FIXES, CLEAN)


def test_checks_all_texts_in_one_batch():
    CHECKER.batch_sizes.clear()
    MistakeTrial.from_checker(CHECKER, FIXES, CLEAN)
    assert CHECKER.batch_sizes == [6]
    texts = ["aaa", "bb", "cccc", "d", ""]
    assert list(text_stretches(texts, size=4)) == [["aaa", "bb"], ["cccc"], ["d", ""]]
    assert list(text_stretches([], size=4)) == []


def test_figures_without_limits(trial):
    result = mistake_figures(trial)
    assert result["projects"] == 2
    overall = result["all"]
    assert (overall["n"], overall["found"], overall["right"], overall["wrong"]) == (4, 1.0, 0.75, 0.25)
    assert overall["right_interval"] == (0.5, 1.0) and overall["found_interval"] == (1.0, 1.0)
    prepositions = result["classes"]["preposition"]
    kinds = {kind: (part["n"], part["right"]) for kind, part in prepositions["kinds"].items()}
    assert kinds == {"replace": (2, 0.5), "insert": (1, 1.0)}
    assert result["classes"]["confusion"]["subs"] == {"-": {"n": 1, "found": 1, "right": 1}}
    clean = result["clean"]
    assert (clean["words"], clean["flags"], clean["per_1000"]) == (10, 3, 300.0)
    assert clean["interval"] == pytest.approx((1000 / 6, 500.0))
    assert {task: part["flags"] for task, part in clean["tasks"].items()} == {"one": 1, "two": 2}


def test_limits_per_task_and_for_a_number_of_flags(trial):
    result = mistake_figures(trial, {"one": 0.5, "two": 0.6})
    assert (result["all"]["found"], result["all"]["right"]) == (0.5, 0.25)
    assert {task: part["flags"] for task, part in result["clean"]["tasks"].items()} == {"one": 0, "two": 1}
    assert limit_for(trial, "two", 1) == 0.5
    for flags in (0, 1):
        assert trial.at_limits({"two": limit_for(trial, "two", flags)}).flags[1].sum() == flags
    assert limit_for(trial, "two", 2) == -np.inf


def test_most_certain_of_overlapping_edits_above_its_limit_counts():
    mistake, clean = fix("We rely [in] it.", "on"), Clean("one two", "a")
    wrong, right = ProposedEdit(8, 10, "at", "one", 0.7), ProposedEdit(8, 10, "on", "two", 0.6)
    flags = [ProposedEdit(0, 3, "a", "one", 0.7), ProposedEdit(0, 7, "b", "two", 0.8)]
    message = {mistake.before: [wrong, right], clean.text: flags}
    trial = MistakeTrial.from_checker(ScriptedChecker(message), [mistake], [clean])
    result = trial.at_limits()
    assert (result.detected.all(), result.right.all(), result.flags.tolist()) == (True, False, [[0], [1]])
    result = trial.at_limits({"one": 0.75})
    assert (result.detected.all(), result.right.all(), result.flags.tolist()) == (True, True, [[0], [1]])
    assert trial.at_limits({"two": 0.85}).flags.tolist() == [[1], [0]]
    message[mistake.before] = [right, ProposedEdit(3, 10, "x", "two", 0.8)]  # covers a correct place
    assert not MistakeTrial.from_checker(ScriptedChecker(message), [mistake]).at_limits().right.any()


def test_one_project_has_no_interval():
    result = mistake_figures(MistakeTrial.from_checker(CHECKER, FIXES[:2], CLEAN[:1]))
    assert result["all"]["right"] == 0.5 and result["all"]["right_interval"] is None
    assert result["clean"]["interval"] is None
    assert mistake_figures(MistakeTrial.from_checker(CHECKER, FIXES[:2]))["clean"] is None


def test_two_checkers(trial):
    checker = ScriptedChecker({"We rely in it.": [ProposedEdit(8, 10, "on", "one")]}, name="other")
    other = MistakeTrial.from_checker(checker, FIXES, CLEAN)
    result = compare_trials((other, trial), (None, {"one": 0.5}))
    assert [system["value"] for system in result["systems"]] == [0.25, 0.5]
    assert result["table"] == {"both": 1, "first": 0, "second": 1, "neither": 2}
    assert result["units"] == {"what": "projects", "n": 2}
    low, high = result["difference"]["interval"]
    assert (result["difference"]["value"], low, high) == (0.25, 0.0, 0.5)


def toy_decisions(places):
    """Return flagged decisions between no word, "on" and "with": (text, start, end, observed, chosen)."""
    rows = [(*place[:3], 0, *place[3:]) for place in places]
    return make_decisions([Group("g", ("", "on", "with"))], rows, task="toy", probabilities=0.75)


def test_edits_of_insertions_and_deletions():
    capital = fix("[On] tomorrow we go.", "")
    mistakes = [MISSING, EXTRA, capital]
    places = [(0, 8, 8, 0, 1), (1, 7, 11, 2, 0), (2, 0, 2, 1, 0)]
    edits = decisions_to_edits([toy_decisions(places)], [item.before for item in mistakes])
    assert [(e.start, e.end, e.new) for (e,) in edits] == [(8, 8, "on "), (7, 12, ""), (0, 4, "T")]
    for (proposed,), mistake in zip(edits, mistakes, strict=True):
        assert corrects(proposed, mistake) and touches(proposed, mistake)
        assert (proposed.task, proposed.sure) == ("toy", 0.75)


def reading(marked: str, new: str, label: str, *, right: bool = False) -> FlagReading:
    mistake = fix(marked, "x")
    return FlagReading(paragraph_digest(mistake.before), mistake.start, mistake.end, new, label, right)


RIGHT = reading("We rely [in] it.", "on", "mistake", right=True)
PUT_ON = reading("We rely []it.", "on ", "mistake", right=True)
ONE_THE = reading("See the [the ]page.", "", "mistake", right=True)
TASTE = reading("They [can not] go.", "cannot", "taste")
OTHER = reading("We rely [in] it.", "at", "mistake")
WITH_AT = reading("We met [with] her.", "at", "wrong")


@pytest.mark.parametrize(
    ("read", "flag", "label", "right"),
    [
        (RIGHT, make_edit("We rely [in] it.", "on"), "mistake", 1),
        (RIGHT, make_edit("We [rely in] it.", "rely on"), "mistake", 1),
        (RIGHT, make_edit("We rely [in] it.", "at"), "mistake", 0),
        (OTHER, make_edit("We rely [in] it.", "at"), "mistake", 0),
        (OTHER, make_edit("We rely in [it].", "her"), "unread", 0),
        (PUT_ON, make_edit("We rely[] it.", " on"), "mistake", 1),
        (ONE_THE, make_edit("See the[ the] page.", ""), "mistake", 1),
        (TASTE, make_edit("They [can not] go.", "cannot"), "taste", 0),
        (reading("We met [with ]her.", "", "wrong"), make_edit("We met[ with] her.", ""), "wrong", 0),
        (WITH_AT, make_edit("We met [with] her.", "by"), "unread", 0),
        (WITH_AT, make_edit("We met [with] her.", None), "unread", 0),
        (reading("Not [this] one.", "that", "wrong"), make_edit("We met [with] her.", "at"), "unread", 0),
    ],
)
def test_counts_reviewed_flags(read, flag, label, right):
    texts = ("We rely in it.", "We rely it.", "See the the page.", "They can not go.", "We met with her.")
    text = next((t for t in texts if paragraph_digest(t) == read.paragraph), texts[-1])
    proposed = {text: [ProposedEdit(flag.start, flag.end, flag.new, "one")]}
    clean = [Clean(text, "a"), Clean("It is so.", "b")]
    trial = MistakeTrial.from_checker(ScriptedChecker({**proposed, "It is so.": []}), [], clean, [read])
    clean_figures = mistake_figures(trial)["clean"]
    for part in (clean_figures, clean_figures["tasks"]["one"]):
        counts = {name: line["flags"] for name, line in part["readings"].items()}
        names = ("mistake", "taste", "wrong", "unread")
        bound = int(label in ("wrong", "unread"))
        assert counts == {name: int(name == label) for name in names} | {"wrong_or_unread": bound}
        assert part["readings"]["mistake"]["right"] == right
        assert sum(part["readings"][name]["per_1000"] for name in names) == pytest.approx(part["per_1000"])
        assert part["readings"][label]["interval"][0] == 0
    assert clean_figures["n_readings"] == (read.paragraph == paragraph_digest(text))


def test_no_figures_of_reviews_without_reviews():
    clean_figures = mistake_figures(MistakeTrial.from_checker(CHECKER, FIXES, CLEAN))["clean"]
    assert "readings" not in clean_figures and "n_readings" not in clean_figures
    clean_figures = mistake_figures(MistakeTrial.from_checker(CHECKER, FIXES, CLEAN, []))["clean"]
    assert clean_figures["readings"]["unread"]["flags"] == clean_figures["flags"]
    assert clean_figures["n_readings"] == 0


@pytest.mark.parametrize("marked", ["We met with her[.   ]", "We met [with] her."])
def test_rejects_a_review_that_does_not_fit_its_paragraph(marked):
    text = "We met with her."
    mistake, digest = fix(marked, "x"), paragraph_digest(text)
    read = FlagReading(digest, mistake.start, mistake.end, "with", "wrong", where="r.jsonl, line 3")
    with pytest.raises(UserError, match=r"D347.*r.jsonl, line 3"):
        MistakeTrial.from_checker(ScriptedChecker({text: []}), [], [Clean(text, "a")], [read])


WORDS = 1000


def make_trial(flags, *, n_fixes=100, task="one"):
    """Return a trial with flags of (probability, "right", "wrong", "false" or "elsewhere", new word)."""
    fixes = [fix(f"We rely [in] it {i}.", "on") for i in range(n_fixes)]
    clean = [Clean(f"see in it {i} {'word ' * 6}", "a") for i in range(WORDS // 10)]
    proposals = {}
    texts = {"fix": iter(fixes), "clean": iter(clean)}
    for probability, kind, *new in flags:
        if kind == "false":
            text = next(texts["clean"]).text
            proposals[text] = [ProposedEdit(4, 6, *(new or ["at"]), task, probability)]
        else:
            text = next(texts["fix"]).before
            place = (0, 2, "us") if kind == "elsewhere" else (8, 10, "on" if kind == "right" else "at")
            proposals[text] = [ProposedEdit(*place, task, probability)]
    return MistakeTrial.from_checker(ScriptedChecker(proposals, tasks=("one", "two")), fixes, clean)


def test_precision_is_for_the_stated_density_of_mistakes():
    trial = make_trial([(0.9, "right")] * 39 + [(0.9, "wrong")] * 9 + [(0.9, "false")] * 2)
    (point,) = measure_precision(trial, {}, text="t", per_1000=10)["one"].points
    assert (point.right, point.wrong, point.false) == (39, 9, 2)
    # of 100 mistakes, 40 (one more than observed) are corrected: 4 of 10 in 1,000 words; 0.9 wrongly,
    # and 3 flags (also one more) are false in 1,000 words
    assert point.share == pytest.approx(4 / (4 + 0.9 + 3), abs=1e-4)
    assert point.low < point.share < point.high
    (denser,) = measure_precision(trial, {}, text="t", per_1000=20)["one"].points
    assert denser.share == pytest.approx(8 / (8 + 1.8 + 3), abs=1e-4)


def test_precision_needs_flags_that_count_and_rises():
    right_flags = [(0.9, "right")] * 30
    more = [*right_flags, *[(0.9, "elsewhere")] * 30]
    one, other = (measure_precision(make_trial(flags), {}, text="t") for flags in (right_flags, more))
    assert one == other
    flags = [(0.9, "false")] * 20 + [(0.8, "right")] * 20 + [(0.1, "false")] * 5
    table = measure_precision(make_trial(flags), {}, text="t")["one"]
    points = [(point.least, point.right, point.false) for point in table.points]
    assert points == [(0.0, 20, 25), (0.8, 20, 20)]
    few = [(0.9, "right")] * (MIN_FLAGS - 1)
    assert measure_precision(make_trial(few), {}, text="t") == {}
    assert set(measure_precision(make_trial([*few, (0.1, "false")]), {}, text="t")) == {"one"}
    assert measure_precision(make_trial([(0.9, "false")] * 50), {}, text="t") == {}


def test_precision_rises_with_probability():
    flags = [(0.9, "right")] * 30 + [(0.5, "right")] * 20 + [(0.5, "false")] * 20
    table = measure_precision(make_trial(flags), {"one": 1.0}, text="the text")["one"]
    low, high = table.points
    assert (low.least, high.least) == (0.0, 0.9)
    assert (low.right, low.false, high.right, high.false) == (50, 20, 30, 0)
    assert low.share < high.share
    upper, lower = table.estimate("a", "an", 0.95), table.estimate("a", "an", 0.89)
    assert (upper.share, upper.flags, upper.of, upper.text) == (high.share, 30, "one", "the text")
    assert (lower.share, lower.flags) == (low.share, 70)
    assert table.least_for(low.share) == 0.0
    assert table.least_for(high.share) == 0.9
    assert table.least_for(1.0) is None


def test_frequent_pairs_have_their_own_precision():
    flags = [(0.9, "right")] * 40 + [(0.9, "false", "at")] * 40 + [(0.3, "false", "of")] * 20
    table = measure_precision(make_trial(flags), {"one": 0.5}, text="t")["one"]
    assert set(table.pairs) == {"in/on", "at/in"}
    pairs = ("in", "On"), ("in", "of"), ("at", "IN")
    shares = [table.estimate(*pair, 0.9).share for pair in pairs]
    assert shares[0] > shares[1] > shares[2]
    assert table.estimate("in", "On", 0.9).of == "in/on"
    assert table.least_for(shares[0]) == 0.0  # flags of the pair are equally good at any probability


def test_insertions_and_deletions_have_their_own_precision():
    """Deletions may be wrong although most flags of the task are right."""
    flags = [(0.9, "right")] * 60 + [(0.9, "false", "")] * MIN_FLAGS
    table = measure_precision(make_trial(flags), {"one": 1.0}, text="t")["one"]
    assert set(table.pairs) == {TAKEN_OUT}
    proposals = table.estimate("it", "", 0.9)
    assert (proposals.of, proposals.flags) == (TAKEN_OUT, MIN_FLAGS) and proposals.share < 0.1
    assert table.estimate("in", "on", 0.9).of == table.estimate("", "in", 0.9).of == "one"
    of_both = replace(table, pairs={**table.pairs, PUT_IN: table.points})
    assert of_both.estimate("", "in", 0.9).of == PUT_IN


def test_pairs_their_kinds_and_levels():
    pairs = {"/the": PUT_IN, "the/": TAKEN_OUT, "a/the": "", "may be/maybe": ""}
    assert {pair: edit_kind(pair) for pair in pairs} == pairs
    assert unordered_pair("It\u2019s", "its") == unordered_pair("its", "it's") == "it's/its"
    assert unordered_pair("", "The ") == "/the" and unordered_pair(" the", "") == "the/"
    assert unordered_pair("may  be", "maybe") == "may be/maybe"
    points = measure_precision(make_trial([(0.9, "right")] * 30), {}, text="")["one"].points
    estimate = type(PrecisionTable("t", "", 5, points).estimate("a", "b", 0.9))
    for share, level in ((1, "very-high"), (0.8, "high"), (0.79, "medium"), (0.1, "low")):
        assert estimate(share, 0, 1, 30, "t", "").level == level
    assert [least for _, least in LEVELS] == sorted((least for _, least in LEVELS), reverse=True)


def test_share_at_a_probability():
    trial = make_trial([(0.9, "right")] * 10 + [(0.5, "false")] * 10)
    point = share_at(trial, "one", 0.6, per_1000=10)
    assert (point.right, point.wrong, point.false) == (10, 0, 0)
    assert share_at(trial, "one", 0.95) is None and share_at(trial, "two", 0.0) is None


KINDS = st.sampled_from(["right", "wrong", "false", "elsewhere"])
FLAG = st.tuples(st.floats(0.001, 1).map(lambda x: round(x, 2)), KINDS)


@given(st.lists(FLAG, min_size=MIN_FLAGS, max_size=90))
@settings(deadline=None)
def test_precision_tables_are_monotone_and_count_flags(flags):
    result = measure_precision(make_trial(flags), {}, text="t")
    for table in result.values():
        leasts = [point.least for point in table.points]
        shares = [point.share for point in table.points]
        assert leasts[0] == 0 and leasts == sorted(set(leasts)) and shares == sorted(set(shares))
        for point in table.points:
            above = [kind for probability, kind in flags if probability >= point.least]
            counts = [above.count(kind) for kind in ("right", "wrong", "false")]
            assert counts == [point.right, point.wrong, point.false]
            assert 0 <= point.low <= point.share <= point.high <= 1
            assert len([kind for kind in above if kind != "elsewhere"]) >= MIN_FLAGS


def test_ignores_flags_on_uncorrected_mistakes():
    flags = [(0.9, "right")] * 30 + [(0.8, "false")] * 10
    trial = make_trial(flags)
    places = [(0, 4, 6), (1, 0, 5), (2, 6, 9), (3, 7, 9), (4, 0, 3), (99, 4, 6)]
    # edits are at 4 to 6: the first two flags touch them, those that end or begin beside them do not
    kept = trial.without(places)
    assert len(trial.on_clean.rows) == 10
    assert kept.on_clean.rows.tolist() == [2, 3, 4, 5, 6, 7, 8, 9]
    assert kept.on_fixes is trial.on_fixes
    before, after = (measure_precision(item, {}, text="t")["one"].points[0] for item in (trial, kept))
    assert (before.false, after.false) == (10, 8) and before.share < after.share
    assert trial.without([]).on_clean.rows.tolist() == trial.on_clean.rows.tolist()


GROUPS = (
    Group("toward/towards/to", ("toward", "towards", "to"), (("toward", "towards"),)),
    Group("maybe/may be", ("maybe", "may be")),
    Group("quiet/quite", ("quiet", "quite")),
)
TEXTS = ["We went toward the quiet lake, maybe to rest, towards a quite distant shore."] * 30


def substitute_words(share: float):
    view = Words()(TEXTS)
    instances = CandidateFinder.from_groups(GROUPS).find(view)
    return view, instances, substitute(view, instances, GROUPS, share=share, rng=np.random.default_rng(7))


def test_changes_selected_words_only() -> None:
    view, instances, rewrite_texts = substitute_words(0.3)
    changed = np.flatnonzero(rewrite_texts.view.hashes != view.hashes)
    assert set(changed) == set(instances.positions[rewrite_texts.rows])
    assert 0 < len(changed) < len(instances)
    assert rewrite_texts.view.texts is view.texts
    again = substitute_words(0.3)[2]
    assert (again.rows == rewrite_texts.rows).all() and (again.substituted == rewrite_texts.substituted).all()


def test_replacements_are_candidates_of_as_many_words_but_not_variants() -> None:
    _, instances, rewrite_texts = substitute_words(1.0)
    for row, swapped in zip(rewrite_texts.rows, rewrite_texts.substituted, strict=True):
        group = GROUPS[instances.groups[row]]
        assert not group.same(int(instances.observed[row]), int(swapped))
        word = hash_word(group.candidates[swapped])
        assert rewrite_texts.view.hashes[instances.positions[row]] == np.uint64(word)
    assert not (instances.groups[rewrite_texts.rows] == 1).any()


def places(texts, lists):
    """Return a view and the places of some words in it; ``(word, after)`` is empty, before `after`."""
    view = Words()(texts)
    spans = zip(view.document_indices(np.arange(len(view))), view.starts, view.ends, strict=True)
    words = [view.texts[document][start:end] for document, start, end in spans]
    at = [(i, word, lists[word]) for i, word in enumerate(words) if word in lists]
    lengths = np.array([int(candidates[0] != "") for _, _, candidates in at], np.int32)
    observed = np.array([candidates.index(word) if candidates[0] else 0 for _, word, candidates in at])
    candidate_lists = CandidateLists.from_texts([candidates for _, _, candidates in at])
    positions = np.array([i for i, _, _ in at], np.int64)
    return view, Instances(positions, lengths, np.zeros(len(at), np.int32), observed, candidate_lists)


def rewrite_texts(texts, lists, share=1.0, seed=0):
    view, instances = places(texts, lists)
    return instances, rewrite(view, instances, Words(), share=share, rng=np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("text", "lists", "expected", "begins"),
    [
        ("The cat sat.", {"cat": ("cat", "house cat")}, "The house cat sat.", "house cat sat"),
        ("Go home.", {"Go": ("Go", "went")}, "Went home.", "Went"),
        ("I saw the cat.", {"the": ("the", "")}, "I saw cat.", "cat."),
        ("I saw cat.", {"cat": ("", "the")}, "I saw the cat.", "the cat."),
        ("GO HOME NOW", {"HOME": ("HOME", "house")}, "GO HOUSE NOW", "HOUSE"),
    ],
)
def test_rewritten_text(text, lists, expected, begins):
    _, result = rewrite_texts([text], lists)
    assert result.view.texts == (expected,)
    assert expected[result.starts[0] :].startswith(begins)


def test_moves_later_places():
    texts = ["a cat and a dog", "no such words", "a dog"]
    lists = {"cat": ("cat", "kitten"), "dog": ("dog", "hound"), "a": ("a", "")}
    instances, result = rewrite_texts(texts, lists)
    assert result.view.texts == ("kitten and hound", "no such words", "hound")
    columns = (result.documents, result.starts, result.rows, result.substituted)
    for document, start, row, swapped in zip(*columns, strict=True):
        candidate = instances.lists.instance_candidates(row)[swapped]
        assert result.view.texts[document][start:].startswith(candidate or ("kitten", "hound"))
    assert result.documents.tolist() == [0, 0, 0, 0, 2, 2]


def test_keeps_texts_without_a_replacement():
    assert rewrite_texts(["so it is."], {"is": ("is", ""), "so": ("so",)})[1].view.texts == ("so it is.",)
    view, instances = places(["a cat"], {"a": ("a", "the")})
    nothing = replace(instances, observed=np.array([-1]))
    result = rewrite(view, nothing, Words(), share=1.0, rng=np.random.default_rng(0))
    assert result.view.texts == ("a cat",) and not len(result.rows)


def test_replaces_a_share_within_the_lists():
    lists = {"one": ("one", "two", "three"), "red": ("blue", "red")}
    instances, result = rewrite_texts(["one red one red"] * 50, lists, share=0.3)
    assert 20 < len(result.rows) < 100
    assert (result.substituted != instances.observed[result.rows]).all()
    actual = set(re.findall(r"\w+", " ".join(result.view.texts)))
    assert actual == {"one", "two", "three", "blue", "red"}
    again = rewrite_texts(["one red one red"] * 50, lists, share=0.3)[1]
    assert again.view.texts == result.view.texts


def test_finds_the_same_errors_among_thousands_of_groups(tmp_path):
    texts = [f"i form no {k} . they come from it {k} ." for k in range(60)]
    counts = NgramCounts(counts=build_table(tmp_path / "forms.counts", texts, Words()))
    components = toy_components(
        OwnCandidates(sets=["form/from", "i/they"]),
        baseline=NoPreference(),
        extractors={"counts": counts},
        learner=MeanDifference(),
    )
    model = train(components, {"train": texts[:40], "dev": texts[40:]}, name="forms", min_examples=2)
    letters = [f"{a}{b}{c}" for a, b, c in product("bcdfghjklmnpqrst", repeat=3)]
    others = [f"q{word}/z{word}" for word in letters[:4095]]
    many = replace(model, task=OwnCandidates(sets=["form/from", *others, "i/they"]))
    expected, result = (evaluate(m, texts, rates=(1000.0,))["rates"]["1000"] for m in (model, many))
    assert expected["groups"]["form/from"] == result["groups"]["form/from"] == 1.0
