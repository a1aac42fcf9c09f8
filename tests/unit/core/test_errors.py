"""Messages for people: one line, coded, with the true lists."""

from __future__ import annotations

import pickle
import re
import shlex
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import MESSAGES, UserError, nearest_first


@given(st.text(max_size=8), st.sets(st.text("abcdef", min_size=1, max_size=8), min_size=1, max_size=12))
def test_of_few_names_every_one_is_listed_once(name, names):
    assert sorted(nearest_first(name, names).split(", ")) == sorted(names)


def test_of_many_names_the_nearest_three_are_listed():
    names = [f"paper{number}.table{n}" for number in range(50) for n in (1, 2)] + ["svm.SumLM.v1"]
    shown = nearest_first("paper7.tabel1", names)
    assert shown.startswith("paper7.table1, ") and shown.endswith(" and 98 more")
    assert len(shown.partition(" and ")[0].split(", ")) == 3
    assert nearest_first("sumlm", names).startswith("svm.SumLM.v1, ")


def test_the_nearest_comes_first():
    assert nearest_first("speling", ["preposition", "it", "spelling"]).startswith("spelling, ")
    assert nearest_first("x", []).startswith("none")


def test_codes_lead_and_lines_are_one():
    problem = UserError("D005", path="a.cfg", problem="two\nlines")
    assert str(problem) == "[D005] config a.cfg: two lines"
    assert isinstance(problem, ValueError)


def test_errors_cross_processes():
    again = pickle.loads(pickle.dumps(UserError("D401", rate=-1)))
    assert (again.code, str(again)) == ("D401", "[D401] " + MESSAGES["D401"].format(rate=-1))


def test_messages_name_packages_that_can_be_installed():
    """Those of the extras, with their versions; never disambig itself, whose source only the user knows."""
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf8")
    known = set(re.findall(r'"([\w-]+(?:\[\w+\])?[<>=][^";]*)"', text)) | {"sudachidict_core"}
    named = 0
    for code, message in MESSAGES.items():
        _, _, command = message.partition("pip install ")
        command = command.partition(" (")[0]
        if command and "./corpora" not in command:
            named += 1
            assert set(shlex.split(command)) <= known, code
    assert named >= 8
