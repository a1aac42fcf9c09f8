"""What ``disambig explain`` prints."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest
from commands import here
from fake_models import annotate_texts
from made_decisions import make_decisions

import disambig
from disambig.cli.commands.explain import Console, explain_text
from disambig.data import CandidateFinder, Group
from disambig.decision import Labels, label_softmax
from disambig.explain import Contribution, verdict
from disambig.text import Words
from disambig.types import Decides

JUDGE = SimpleNamespace(flags_per_1000=1.0, limit=lambda rate: 0.169)


@dataclass(frozen=True)
class ExplainableModel:
    """The fake annotator as a model; leaves protected words alone."""

    task: SimpleNamespace
    name: str = "fake/spelling"
    version: str = "0.0.1"
    flags_per_1000: float = 1.0
    tokenisation: object = None
    judge: object = field(default_factory=lambda: JUDGE)
    extractors: tuple = (SimpleNamespace(table="a table of counts"),)

    def decide(self, view, *, flags_per_1000=None):
        (result,) = annotate_texts(view.texts, [self.task.name])
        protected = view.layers.get("protected")
        if protected is None:
            return result
        kept = [i for i, start in enumerate(result.starts) if not protected[view.starts == start].any()]
        parts = [result.slice(i, i + 1) for i in kept]
        return parts[0] if parts else result.slice(0, 0)


REASONS = [
    Contribution("quiet", "a quiet [place]", 7.1, 1200, 0.5, 1.5),
    Contribution("quite", "a quite [place]", 1.4, 3, 0.5, -0.25),
    Contribution("quite", "bias", 1.0, None, 0.5, 0.125),
    Contribution("quite", "unheard of", 0.1, 1, 0.0, 0.0),
    Contribution("quiet", "quiet [place] <S>", -3.0, 0, 0.25, -0.75, 6),
    Contribution("quite", "quite [place] <S>", 0.0, 0, 0.25, 0.0, None),
]


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setattr("disambig.explain.account.explain_decision", lambda model, view, index: REASONS)
    return ExplainableModel(SimpleNamespace(name="spelling"), tokenisation=Words())


def test_candidates_evidence_and_protected_words_are_shown(capsys, model):
    explain_text('We saw a quite place. He said "it was a quite place" to [b] us.', model, console=Console())
    out = capsys.readouterr().out
    assert "spelling (fake/spelling 0.0.1, 1 flags per 1,000 words)" in out
    assert "9-14: We saw a [quite] place. He said" in out
    assert "-> quiet" in out
    assert "flagged: probability 0.900 of an error, threshold 0.169; 3 of 14 n-grams" in out
    rows = [" ".join(line.split()) for line in out.splitlines()]
    first = rows.index("quiet a quiet [place] 1,200 +7.100 +0.500 +1.500")
    assert rows[first : first + 8] == [
        "quiet a quiet [place] 1,200 +7.100 +0.500 +1.500",
        "quiet quiet [place] <S> <6 -3.000 +0.250 -0.750",
        "quiet sum: the score +0.750",
        "quite a quite [place] 3 +1.400 +0.500 -0.250",
        "quite bias +1.000 +0.500 +0.125",
        "quite 2 others, 1 of them absent +0.000",
        "quite sum: the score -0.125",
        "count <6: not in the table, which omits rarer n-grams; used as 0 (absence is evidence too)",
    ]
    assert "unheard of" not in out
    assert "protected: quote" in out
    assert "\x1b" not in out


def test_a_text_without_candidates(capsys, model):
    explain_text("Nothing here.", model, console=Console())
    assert "no decision: the text contains no word that this task decides" in capsys.readouterr().out
    explain_text('He said "it was a quite place".', model, console=Console())
    out = capsys.readouterr().out
    assert "no decision: all candidate words are protected" in out and "protected: quote" in out


class LearnsFromMore:
    """A task that learns from "quite", "quiet" and "quit" but decides none of them."""

    name = "spelling"
    groups = (Group("quite", ("quite", "quiet", "quit")),)

    def instances(self, view):
        return self.examples(view).take(np.empty(0, np.int64))

    def examples(self, view):
        return CandidateFinder.from_groups(self.groups).find(view)


def test_candidate_words_that_are_not_decided_are_named(capsys, model):
    silent = replace(model, task=LearnsFromMore())
    explain_text("Quit it. We quit.", silent, console=Console())
    line = 'no decision: "Quit", "quit": no other candidate fits nearly as well, or the task leaves'
    assert line in capsys.readouterr().out
    explain_text('We quit. He said "it was a quite place".', silent, console=Console())
    out = capsys.readouterr().out
    assert 'no decision: "quit": no other' in out and "protected: quote" in out
    for text in ('He said "it was a quite place".', "Read `quite a place`."):
        explain_text(text, silent, console=Console())
        assert "no decision: all candidate words are protected" in capsys.readouterr().out
    explain_text("Read `the place`.", silent, console=Console())
    none = "no decision: the text contains no unprotected word that this task decides"
    assert none in capsys.readouterr().out


@dataclass(frozen=True)
class LabellingModel(ExplainableModel):
    """Treats "quite" and "quiet" as labels of each place where one of them occurs."""

    def with_least_margin(self, least_margin):
        return self

    def decide(self, view, *, flags_per_1000=None):
        (result,) = annotate_texts(view.texts, ["spelling"])
        scores = result.scores.reshape(-1, 2).astype(float)
        chosen, margins, probabilities = self.judge.choose(scores, 0)
        nothing = {"observed": np.full(len(result), -1, np.int32), "flagged": np.zeros(len(result), bool)}
        judged = {"chosen": chosen.astype(np.int32), "margins": margins, "probabilities": probabilities}
        return replace(result, table=(self.group,), **nothing, **judged)

    @property
    def group(self):
        return Group("place", ("quite", "quiet"), glosses=("quite%4:02:00::", ""))

    def candidate_probabilities(self, decisions):
        scores = decisions.scores.reshape(-1, 2).astype(float)
        return label_softmax(self.judge.logits(scores, 0)).ravel()


def shown_labels(capsys, monkeypatch, *, bias, offset, reasons=()):
    monkeypatch.setattr("disambig.explain.account.explain_decision", lambda model, view, index: reasons)
    fitted = Labels(np.ones(1), np.array([bias]), np.array([offset]))
    task = SimpleNamespace(name="spelling", decides=Decides(between="labels"))
    model = LabellingModel(task, tokenisation=Words(), judge=fitted)
    explain_text("A quite place.", model, console=Console())
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_labels_are_ordered_by_probability(capsys, monkeypatch):
    rows = shown_labels(capsys, monkeypatch, bias=(4.0, 0.0), offset=(0.0, 0.0))
    assert "quite, with probability 0.852; 3 of 14 n-grams are in the table" in rows
    head = rows.index("candidate gloss probability score")
    assert rows[head + 1 : head + 3] == ["quite quite%4:02:00:: 0.852 0.000", "quiet 0.148 2.250"]


def test_the_f1_offset_is_part_of_the_probability(capsys, monkeypatch):
    reasons = [Contribution(name, "near", 1.0, None, 0.5, 0.5) for name in ("quiet", "quite")]
    rows = shown_labels(capsys, monkeypatch, bias=(4.0, 0.0), offset=(0.0, 9.0), reasons=reasons)
    assert "quiet, with probability 0.999; 3 of 14 n-grams are in the table" in rows
    assert rows.index("quiet near +1.000 +0.500 +0.500") < rows.index("quite near +1.000 +0.500 +0.500")
    after = rows.index("quiet sum: the score +0.500") + 1  # the fake scores are no sums of these reasons
    assert rows[after : after + 3] == [
        "quiet calibrated score: 1 times +2.250",
        "quiet offset for the best F1 +9.000",
        "quiet sum: decides +11.250",
    ]
    assert "quite bias of the label +4.000" in rows and "quite sum: decides +4.000" in rows


def test_without_counts_there_is_no_column_and_other_scores_have_no_table(capsys, monkeypatch):
    reasons = [Contribution("quite", "near", 1.0, None, 0.5, 0.5)]
    rows = shown_labels(capsys, monkeypatch, bias=(4.0, 0.0), offset=(0.0, 0.0), reasons=reasons)
    assert "candidate n-gram value weight adds" in rows and "quite near +1.000 +0.500 +0.500" in rows
    rows = shown_labels(capsys, monkeypatch, bias=(4.0, 0.0), offset=(0.0, 0.0), reasons=None)
    assert "the scores are not sums of weights: there are no contributions to show" in rows


@pytest.mark.parametrize(
    ("observed", "chosen", "result", "part"),
    [
        (0, 0, 5, "has the highest score"),
        (0, 2, 5, "probability 0.200 of an error is below the threshold 0.300"),
        (0, 1, 5, "toward and towards are variants"),
        (0, 2, 0, "no evidence, none of 14"),
        (-1, 2, 5, "to, with probability 0.200; 5 of 14"),
    ],
)
def test_reasons_without_a_flag(observed, chosen, result, part):
    group = Group("p", ("toward", "towards", "to"), (("toward", "towards"),))
    row = (0, 0, 6, 0, observed, chosen)
    decisions = make_decisions([group], [row], probabilities=0.2, flagged=False, found=result, asked=14)
    assert part in verdict(decisions, 0, "toward", threshold=0.3)


@pytest.mark.parametrize(("observed", "flagged"), [(0, False), (0, True), (-1, False)])
def test_evidence_is_not_counted_if_nothing_was_looked_up(observed, flagged):
    group, row = Group("p", ("toward", "to")), (0, 0, 6, 0, observed, 0)
    decisions = make_decisions([group], [row], probabilities=0.2, flagged=flagged, found=0, asked=0)
    shown = verdict(decisions, 0, "toward", threshold=0.1, what="features")
    unflagged = "not flagged: the word" if observed == 0 else "toward, with"
    assert shown.startswith("flagged" if flagged else unflagged)
    assert " of 0" not in shown and "evidence" not in shown


def test_explain_and_check_agree_on_what_is_flagged():
    text = "They asks for help, because the users likely does not want to wait for it.\n\nIt depends of us."
    explained = [line.strip() for line in here("explain", text).stdout.splitlines()]
    verdicts = [number for number, line in enumerate(explained) if line.startswith("flagged")]
    raised = {explained[i - 1] for i in verdicts if explained[i].startswith("flagged:")}
    checked = {
        (flag.observed, flag.replacement or "(no word)", str(flag.start)) for flag in disambig.check(text)
    }
    assert {
        (line.split("[")[1].split("]")[0], line.rsplit(" -> ", 1)[1], line.split("-")[0]) for line in raised
    } == checked
    remarks = [explained[i + 1] for i in verdicts if explained[i].startswith("flagged by this task:")]
    assert len(remarks) == len(verdicts) - len(raised) > 0
    surer = '"asks" -> "ask" and "does" -> "do"'
    assert f"check drops this flag: with the surer {surer} corrected, nothing is wrong here" in remarks
    assert "check raises this flag once, for the task slip, which is more certain" in remarks
