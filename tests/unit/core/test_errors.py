"""Messages for people: one line, coded, with the true lists."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import MESSAGES, UserError, nearest_first


@given(st.text(max_size=8), st.sets(st.text("abcdef", min_size=1, max_size=8), min_size=1))
def test_every_name_is_listed_once(name, names):
    assert sorted(nearest_first(name, names).split(", ")) == sorted(names)


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
