"""Messages for users: codes, lists of names, plurals, p-values."""

from __future__ import annotations

import pickle
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import disambig
from disambig.errors import MESSAGES, UserError, nearest_first
from disambig.formatting import format_p, pluralize
from disambig.training import dataset_report, report_line


@given(st.text(max_size=8), st.sets(st.text("abcdef", min_size=1, max_size=8), min_size=1, max_size=12))
def test_lists_few_names_completely(name, names):
    assert sorted(nearest_first(name, names).split(", ")) == sorted(names)


def test_lists_the_nearest_three_of_many_names():
    names = [f"paper{number}.table{n}" for number in range(50) for n in (1, 2)] + ["svm.SumLM.v1"]
    listed = nearest_first("paper7.tabel1", names)
    assert listed.startswith("paper7.table1, ") and listed.endswith(" and 98 more")
    assert len(listed.partition(" and ")[0].split(", ")) == 3
    assert nearest_first("sumlm", names).startswith("svm.SumLM.v1, ")


def test_lists_the_nearest_name_first():
    assert nearest_first("speling", ["preposition", "it", "spelling"]).startswith("spelling, ")
    assert nearest_first("x", []).startswith("none")


def test_messages_begin_with_a_code_and_have_one_line():
    problem = UserError("D005", path="a.cfg", problem="two\nlines")
    assert str(problem) == "[D005] config a.cfg: two lines"
    assert isinstance(problem, ValueError)


def test_errors_can_be_pickled():
    again = pickle.loads(pickle.dumps(UserError("D401", rate=-1)))
    assert (again.code, str(again)) == ("D401", "[D401] " + MESSAGES["D401"].format(rate=-1))


def test_messages_name_extras_that_exist():
    """Messages name extras with versions, but never disambig itself, whose source only the user knows."""
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf8")
    requirements = set(re.findall(r'"([\w-]+(?:\[\w+\])?[<>=][^";]*)"', text)) | {"sudachidict_core"}
    named = 0
    for code, message in MESSAGES.items():
        _, _, command = message.partition("pip install ")
        command = command.partition(" (")[0]
        if command and "./corpora" not in command:
            named += 1
            assert set(shlex.split(command)) <= requirements, code
    assert named >= 8


def test_pluralize():
    texts = [pluralize(n, "document") for n in (0, 1, 2, 12_345)]
    assert texts == ["0 documents", "1 document", "2 documents", "12,345 documents"]


def test_reports_use_the_right_number():
    assert report_line(dataset_report(1, what="documents")) == "read 1 document: 1 used, none left out"
    assert report_line(dataset_report(2, what="lists")) == "read 2 lists: 2 used, none left out"


def test_commands_do_not_form_plurals_themselves():
    """``{n:,} documents`` would be wrong for the number one: commands must use `pluralize`."""
    home = Path(disambig.__file__).parent
    counted = re.compile(
        r"\{[^{}]*:,\} (documents|words|examples|lists|lines|models|flags|decisions|groups)\b"
    )
    packages = ("cli", "checking", "training", "evaluation", "models")
    modules = [path for package in packages for path in (home / package).rglob("*.py")]
    assert len(modules) > 50
    assert not [
        f"{path.name}: {match[0]}" for path in modules for match in counted.finditer(path.read_text("utf8"))
    ]


@pytest.mark.parametrize(
    ("value", "draws", "listed"),
    [
        (0.0, None, "< 0.0001"),
        (1e-300, None, "< 0.0001"),
        (0.0123, None, "0.0123"),
        (1.0, None, "1.0000"),
        (0.0, 2000, "< 0.0005"),
        (0.0004, 50_000, "0.0004"),
        (None, None, "-"),
        (float("nan"), 100, "-"),
    ],
)
def test_p_values_are_never_zero(value, draws, listed):
    assert format_p(value, draws=draws) == listed
