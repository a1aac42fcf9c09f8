"""Edits that correct mistakes or do not, and the figures that come of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from disambig.checking import decisions_to_edits, text_stretches
from disambig.data import Decisions, Group
from disambig.errors import UserError
from disambig.evaluation import (
    MistakeTrial,
    ProposedEdit,
    compare_trials,
    corrects,
    limit_for,
    mistake_figures,
    touches,
)
from disambig.formats import Clean, Fix, FlagReading, fix_kind, paragraph_digest


def fix(marked: str, new: str, category: str = "preposition", repo: str = "a") -> Fix:
    """Return the mistake marked ``[so]``, or ``[]`` before a word that lacks another."""
    left, _, rest = marked.partition("[")
    old, _, right = rest.partition("]")
    start, end = len(left), len(left) + len(old)
    return Fix(left + old + right, start, end, old, new, category, "", fix_kind(old, new), 1, repo)


def edit(marked: str, new: str | None, *others: str) -> ProposedEdit:
    made = fix(marked, "x")
    return ProposedEdit(made.start, made.end, new, "all", others=others)


REPLACED = fix("We rely [in] it.", "on")
MISSING = fix("We rely []it.", "on")
EXTRA = fix("We met [with] her.", "")
DOUBLED = fix("See [the] the page.", "")


@pytest.mark.parametrize(
    ("made", "corrected"),
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
def test_the_corrected_text(made, corrected):
    assert made.corrected() == corrected


@pytest.mark.parametrize(
    ("made", "proposed"),
    [
        (REPLACED, edit("We rely [in] it.", "on")),
        (REPLACED, edit("We [rely in] it.", "rely on")),
        (REPLACED, edit("We rely [in] it.", "at", "on")),
        (MISSING, edit("We rely []it.", "on ")),
        (MISSING, edit("We rely[] it.", "on")),
        (MISSING, edit("We [rely] it.", "rely on")),
        (MISSING, edit("We rely [it].", "on it")),
        (EXTRA, edit("We met [with ]her.", "")),
        (EXTRA, edit("We met[ with] her.", "")),
        (EXTRA, edit("We [met with] her.", "met")),
        (DOUBLED, edit("See the [the ]page.", "")),
        (DOUBLED, edit("See [the the] page.", "the")),
        (fix("[at] home we rest", "In"), edit("[at] home we rest", "in")),
        (fix("I know [its] late", "it's"), edit("I know [its] late", "it\u2019s")),
    ],
)
def test_what_gives_the_same_words_is_right(made, proposed):
    assert corrects(proposed, made)


@pytest.mark.parametrize(
    ("made", "proposed"),
    [
        (REPLACED, edit("We rely [in] it.", "at")),
        (REPLACED, edit("We rely [in] it.", None)),
        (REPLACED, edit("We rely [in ]it.", "")),
        (MISSING, edit("We [rely] it.", "on")),
        (MISSING, edit("We rely it[].", "on")),
        (EXTRA, edit("We [met ]with her.", "")),
        (fix("I know [its] late", "it's"), edit("I know [its] late", "it")),
    ],
)
def test_what_gives_other_words_is_wrong(made, proposed):
    assert not corrects(proposed, made)


@pytest.mark.parametrize(
    ("made", "proposed", "there"),
    [
        (REPLACED, edit("We rely [in] it.", None), True),
        (REPLACED, edit("We [rely in] it.", None), True),
        (REPLACED, edit("We [rely] in it.", None), False),
        (REPLACED, edit("We rely in [it].", None), False),
        (MISSING, edit("We rely []it.", "at "), True),
        (MISSING, edit("We rely[] it.", "at"), True),
        (MISSING, edit("We [rely it].", None), True),
        (MISSING, edit("We [rely] it.", None), False),
        (MISSING, edit("We rely [it].", None), False),
        (EXTRA, edit("We met [with] her.", "at"), True),
        (EXTRA, edit("We met with []her.", "at "), False),
    ],
)
def test_whether_a_flag_is_at_the_place(made, proposed, there):
    assert touches(proposed, made) is there


@dataclass
class Said:
    """A checker that proposes what it was told to."""

    proposals: dict[str, list[ProposedEdit]]
    name: str = "said"
    tasks: tuple[str, ...] = ("one", "two")
    asked: list[int] = field(default_factory=list)

    def edits(self, texts):
        self.asked.append(len(texts))
        return [self.proposals.get(text, []) for text in texts]


FIXES = [
    fix("We rely [in] it.", "on", repo="a"),
    fix("They count [in] us.", "on", repo="a"),
    fix("We rely []her.", "on", repo="b"),
    fix("I know [its] late.", "it's", "confusion", repo="b"),
]
CLEAN = [Clean("one two three four", "a"), Clean("one two three four five six", "b")]
CHECKER = Said(
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


def test_a_checker_is_asked_once(trial):
    assert CHECKER.asked == [6]


def test_figures_without_limits(trial):
    found = mistake_figures(trial)
    assert found["projects"] == 2
    of_all = found["all"]
    assert (of_all["n"], of_all["found"], of_all["right"], of_all["wrong"]) == (4, 1.0, 0.75, 0.25)
    assert of_all["right_interval"] == (0.5, 1.0) and of_all["found_interval"] == (1.0, 1.0)
    prepositions = found["classes"]["preposition"]
    assert {kind: (at["n"], at["right"]) for kind, at in prepositions["kinds"].items()} == {
        "replace": (2, 0.5),
        "insert": (1, 1.0),
    }
    assert found["classes"]["confusion"]["subs"] == {"-": {"n": 1, "found": 1, "right": 1}}
    clean = found["clean"]
    assert (clean["words"], clean["flags"], clean["per_1000"]) == (10, 3, 300.0)
    assert clean["interval"] == pytest.approx((1000 / 6, 500.0))
    assert {task: at["flags"] for task, at in clean["tasks"].items()} == {"one": 1, "two": 2}


def test_limits_are_of_tasks(trial):
    found = mistake_figures(trial, {"one": 0.5, "two": 0.6})
    assert (found["all"]["found"], found["all"]["right"]) == (0.5, 0.25)
    assert {task: at["flags"] for task, at in found["clean"]["tasks"].items()} == {"one": 0, "two": 1}


def test_of_edits_that_overlap_the_surest_above_its_limit_counts():
    mistake, clean = fix("We rely [in] it.", "on"), Clean("one two", "a")
    wrong, right = ProposedEdit(8, 10, "at", "one", 0.7), ProposedEdit(8, 10, "on", "two", 0.6)
    flags = [ProposedEdit(0, 3, "a", "one", 0.7), ProposedEdit(0, 7, "b", "two", 0.8)]
    said = {mistake.before: [wrong, right], clean.text: flags}
    trial = MistakeTrial.from_checker(Said(said), [mistake], [clean])
    found = trial.at_limits()
    assert (found.found.all(), found.right.all(), found.flags.tolist()) == (True, False, [[0], [1]])
    found = trial.at_limits({"one": 0.75})
    assert (found.found.all(), found.right.all(), found.flags.tolist()) == (True, True, [[0], [1]])
    assert trial.at_limits({"two": 0.85}).flags.tolist() == [[1], [0]]
    said[mistake.before] = [right, ProposedEdit(3, 10, "x", "two", 0.8)]  # over a place that is right
    assert not MistakeTrial.from_checker(Said(said), [mistake]).at_limits().right.any()


def test_a_limit_for_so_many_flags(trial):
    assert limit_for(trial, "two", 1) == 0.5
    for flags in (0, 1):
        assert trial.at_limits({"two": limit_for(trial, "two", flags)}).flags[1].sum() == flags
    assert limit_for(trial, "two", 2) == -np.inf


def test_one_project_has_no_interval():
    found = mistake_figures(MistakeTrial.from_checker(CHECKER, FIXES[:2], CLEAN[:1]))
    assert found["all"]["right"] == 0.5 and found["all"]["right_interval"] is None
    assert found["clean"]["interval"] is None
    assert mistake_figures(MistakeTrial.from_checker(CHECKER, FIXES[:2]))["clean"] is None


def test_two_checkers(trial):
    other = MistakeTrial.from_checker(
        Said({"We rely in it.": [ProposedEdit(8, 10, "on", "one")]}, name="other"), FIXES, CLEAN
    )
    found = compare_trials((other, trial), (None, {"one": 0.5}))
    assert [system["value"] for system in found["systems"]] == [0.25, 0.5]
    assert found["table"] == {"both": 1, "first": 0, "second": 1, "neither": 2}
    assert found["units"] == {"what": "projects", "n": 2}
    low, high = found["difference"]["interval"]
    assert (found["difference"]["value"], low, high) == (0.25, 0.0, 0.5)


def test_texts_go_in_stretches():
    texts = ["aaa", "bb", "cccc", "d", ""]
    assert list(text_stretches(texts, size=4)) == [["aaa", "bb"], ["cccc"], ["d", ""]]
    assert list(text_stretches([], size=4)) == []


def decisions(places):
    """Return flagged decisions between no word, "on" and "with": (text, start, end, observed, chosen)."""
    table = (Group("g", ("", "on", "with")),)
    documents, starts, ends, observed, chosen = np.array(places, np.int32).T
    n = len(places)
    numbers = {"margins": 1.0, "probabilities": 0.75, "flagged": True, "found": 1, "asked": 1, "groups": 0}
    types = (np.float32, np.float32, np.bool_, np.int32, np.int32, np.int32)
    columns = {
        name: np.full(n, value, dtype) for (name, value), dtype in zip(numbers.items(), types, strict=True)
    }
    return Decisions(
        task="toy",
        model="toy 1",
        table=table,
        documents=documents,
        starts=starts,
        ends=ends,
        observed=observed,
        chosen=chosen,
        offsets=np.arange(n + 1, dtype=np.int64) * 3,
        scores=np.zeros(3 * n, np.float32),
        **columns,
    )


def test_models_that_put_words_in_and_take_them_out():
    capital = fix("[On] tomorrow we go.", "")
    mistakes = [MISSING, EXTRA, capital]
    places = [(0, 8, 8, 0, 1), (1, 7, 11, 2, 0), (2, 0, 2, 1, 0)]
    edits = decisions_to_edits([decisions(places)], [each.before for each in mistakes])
    assert [(e.start, e.end, e.new) for (e,) in edits] == [(8, 8, "on "), (7, 12, ""), (0, 4, "T")]
    for (made,), mistake in zip(edits, mistakes, strict=True):
        assert corrects(made, mistake) and touches(made, mistake)
        assert (made.task, made.sure) == ("toy", 0.75)


def reading(marked: str, new: str, label: str, *, right: bool = False) -> FlagReading:
    made = fix(marked, "x")
    return FlagReading(paragraph_digest(made.before), made.start, made.end, new, label, right)


@pytest.mark.parametrize(
    ("read", "flag", "label", "right"),
    [
        (
            reading("We rely [in] it.", "on", "mistake", right=True),
            edit("We rely [in] it.", "on"),
            "mistake",
            1,
        ),
        (
            reading("We rely [in] it.", "on", "mistake", right=True),
            edit("We [rely in] it.", "rely on"),
            "mistake",
            1,
        ),
        (
            reading("We rely [in] it.", "on", "mistake", right=True),
            edit("We rely [in] it.", "at"),
            "mistake",
            0,
        ),
        (reading("We rely [in] it.", "at", "mistake"), edit("We rely [in] it.", "at"), "mistake", 0),
        (reading("We rely [in] it.", "at", "mistake"), edit("We rely in [it].", "her"), "unread", 0),
        (reading("We rely []it.", "on ", "mistake", right=True), edit("We rely[] it.", " on"), "mistake", 1),
        (
            reading("See the [the ]page.", "", "mistake", right=True),
            edit("See the[ the] page.", ""),
            "mistake",
            1,
        ),
        (reading("They [can not] go.", "cannot", "taste"), edit("They [can not] go.", "cannot"), "taste", 0),
        (reading("We met [with ]her.", "", "wrong"), edit("We met[ with] her.", ""), "wrong", 0),
        (reading("We met [with] her.", "at", "wrong"), edit("We met [with] her.", "by"), "unread", 0),
        (reading("We met [with] her.", "at", "wrong"), edit("We met [with] her.", None), "unread", 0),
        (reading("Not [this] one.", "that", "wrong"), edit("We met [with] her.", "at"), "unread", 0),
    ],
)
def test_flags_that_were_read(read, flag, label, right):
    texts = ("We rely in it.", "We rely it.", "See the the page.", "They can not go.", "We met with her.")
    text = next((t for t in texts if paragraph_digest(t) == read.paragraph), texts[-1])
    proposed = {text: [ProposedEdit(flag.start, flag.end, flag.new, "one")]}
    clean = [Clean(text, "a"), Clean("It is so.", "b")]
    trial = MistakeTrial.from_checker(Said({**proposed, "It is so.": []}), [], clean, [read])
    of_clean = mistake_figures(trial)["clean"]
    for at in (of_clean, of_clean["tasks"]["one"]):
        counts = {name: line["flags"] for name, line in at["readings"].items()}
        names = ("mistake", "taste", "wrong", "unread")
        bound = int(label in ("wrong", "unread"))
        assert counts == {name: int(name == label) for name in names} | {"wrong_or_unread": bound}
        assert at["readings"]["mistake"]["right"] == right
        assert sum(at["readings"][name]["per_1000"] for name in names) == pytest.approx(at["per_1000"])
        assert at["readings"][label]["interval"][0] == 0
    assert of_clean["n_readings"] == (read.paragraph == paragraph_digest(text))


def test_without_readings_nothing_is_said_of_them():
    of_clean = mistake_figures(MistakeTrial.from_checker(CHECKER, FIXES, CLEAN))["clean"]
    assert "readings" not in of_clean and "n_readings" not in of_clean
    of_clean = mistake_figures(MistakeTrial.from_checker(CHECKER, FIXES, CLEAN, []))["clean"]
    assert of_clean["readings"]["unread"]["flags"] == of_clean["flags"] and of_clean["n_readings"] == 0


@pytest.mark.parametrize("marked", ["We met with her[.   ]", "We met [with] her."])
def test_a_reading_that_does_not_fit_its_paragraph(marked):
    text = "We met with her."
    made = fix(marked, "x")
    read = FlagReading(paragraph_digest(text), made.start, made.end, "with", "wrong", where="r.jsonl, line 3")
    with pytest.raises(UserError, match=r"D347.*r.jsonl, line 3"):
        MistakeTrial.from_checker(Said({text: []}), [], [Clean(text, "a")], [read])
