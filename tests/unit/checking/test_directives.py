"""What comments say: one grammar in all markups, and what of it is of no use."""

from __future__ import annotations

import pytest
from fake_models import annotate_texts
from hypothesis import given
from hypothesis import strategies as st

from disambig.checking import TextLines, find_flags, read_directives
from disambig.checking.flags import _DIRECTIVES
from disambig.markup import read_markup

QUIET = "a quite place"
BOTH = "a quite place during 1997"


def check(text, path="x.md"):
    plain = read_markup(path, text)
    return find_flags(path, text, plain, annotate_texts([plain.text]))


def said(text, path="x.md"):
    """Return the words that are flagged, and the directives that hide nothing."""
    found = check(text, path)
    assert not found.problems
    return [flag.observed for flag in found.flags], [each.directive for each in found.unused]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{QUIET} <!-- disambig: ignore quite -->", []),
        (f"<!-- disambig: IGNORE then, Quite -->\n\n{QUIET}", []),
        (f"{QUIET} <!-- disambig: ignore-line -->\n{QUIET}", ["quite"]),
        (f"<!-- disambig: ignore-next-line -->\n{QUIET}\n{QUIET}", ["quite"]),
        (f"<!-- disambig:\nignore-next-line -->\n\n  \n{QUIET}\n{QUIET}", ["quite"]),
        (f"{QUIET} <!-- disambig: ignore-next-line -->", ["quite"]),
        (f"{QUIET} <!-- disambig: off --> {QUIET}\n\n{QUIET} <!-- disambig: on --> {QUIET}", ["quite"] * 2),
        (f"{QUIET} <!-- disambig: off -->\n{QUIET}", ["quite"]),
        (f"{QUIET}\n\n<!-- disambig: ignore-file -->", []),
        (f"{QUIET} <!-- something else -->", ["quite"]),
        (f"{QUIET} `<!-- disambig: ignore quite -->`", ["quite"]),
        (f"disambig: ignore-file {QUIET}", ["quite"]),
    ],
)
def test_comments_say_what_is_left_alone(text, words):
    assert said(text)[0] == words


@pytest.mark.parametrize("path", ["x.md", "x.txt"])
@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("ignore-line", []),
        ("ignore-line quite", ["during"]),
        ("ignore-line task:preposition", ["quite"]),
        ("ignore-line task:Preposition, QUITE", []),
        ("ignore-line task:it, then", ["quite", "during"]),
        ("ignore-file task:spelling", ["during"]),
        ("ignore during", ["quite"]),
        ("ignore-line[preposition]", ["quite"]),
        ("ignore-line [Preposition, it]", ["quite"]),
        ("ignore[spelling]", ["during"]),
        ("ignore-file[preposition, spelling]", []),
        ("ignore-line[spelling] quite, during", ["during"]),
        ("ignore-line[preposition] quite", ["quite", "during"]),
        ("ignore-line rule:preposition", ["quite"]),
        ("ignore-line[preposition] task:spelling", []),
    ],
)
def test_tasks_and_words_behind_each(path, what, words):
    assert said(f"{BOTH} <!-- disambig: {what} -->", path)[0] == words


def test_a_task_that_objects_as_well_takes_the_flag_along():
    comment = "<!-- disambig: ignore-file task:article -->"
    directives = read_directives("x.md", f"{comment} a apple", [(0, len(comment))], TextLines(comment))
    assert directives.hiding(len(comment), "a", "spelling", "article") == list(directives.hidden)
    assert directives.hiding(len(comment), "a", "spelling") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"% disambig: ignore quite\n{QUIET}", []),
        (f"{QUIET} % disambig: ignore-line\n{QUIET}", ["quite"]),
        (f"%% disambig: ignore-next-line task:spelling\n{BOTH}", ["during"]),
    ],
)
def test_comments_of_latex(text, words):
    assert said(text, "x.tex")[0] == words


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- disambig: ignore quite -->",
        "% disambig: ignore quite",
        ".. disambig: ignore quite",
        "# disambig: ignore quite",
        "// disambig: ignore quite",
        "/* disambig: ignore quite */",
        "{# disambig: ignore quite #}",
        "-- disambig: ignore quite",
        "disambig: ignore quite",
    ],
)
def test_the_marks_of_any_markup(comment):
    text = f"{comment}\n{QUIET}"
    (hidden,) = read_directives("x", text, [(0, len(comment))], TextLines(text)).hidden
    assert (hidden.word, hidden.directive, hidden.start) == ("quite", "ignore quite", 0)


def test_blocks_of_tasks_and_words():
    off, on = "<!-- disambig: off task:spelling, during -->", "<!-- disambig: on {} -->"
    one = f"{off}\n{BOTH}\n{on.format('during')}\n{BOTH}\n{on.format('')}\n{BOTH}"
    assert said(one) == (["during", "quite", "during"], [])


def test_what_hides_nothing_is_told():
    text = (
        f"<!-- disambig: ignore quite, then -->\n{BOTH} <!-- disambig: ignore-line task:preposition -->\n\n"
        "<!-- disambig: ignore-next-line task:speling -->\nAll is well. <!-- disambig: on -->\n"
    )
    found = check(text)
    assert [(each.line, each.directive) for each in found.unused] == [
        (1, "ignore then"),
        (4, "ignore-next-line[speling]"),
        (5, "on"),
    ]


def test_of_two_that_hide_the_same_none_is_useless():
    assert said(f"<!-- disambig: off -->\n{QUIET} <!-- disambig: ignore-line -->") == ([], [])


@pytest.mark.parametrize(
    "what",
    [
        "",
        "of",
        "ignore",
        "ignore , ",
        "ignore-file task:",
        "ignore-lines",
        "ignore[]",
        "off[ ]",
        "off[article",
    ],
)
def test_what_the_checker_does_not_know_is_said(what):
    text = f"a\n<!-- disambig: {what} -->"
    found = read_directives("x.md", text, [(2, len(text))], TextLines(text))
    (problem,) = found.problems
    assert str(problem).startswith("[D641] x.md, line 2:")
    assert not found.hidden


SAID = st.lists(
    st.sampled_from([*_DIRECTIVES, " ", "\n", ",", "task:", "x", "--", "\u00a0", "-->"]), max_size=8
)


@given(st.lists(SAID, max_size=5))
def test_each_comment_hides_something_or_is_a_problem(comments):
    text, places = "", []
    for said in comments:
        start = len(text)
        text += f"<!-- disambig: {''.join(said)} -->"
        places.append((start, len(text)))
        text += " words\n"
    found = read_directives("x.md", text, places, TextLines(text))
    assert all(0 <= each.start <= each.end <= len(text) + 1 for each in found.hidden)
    assert bool(found.hidden or found.problems) or not comments
    assert all(problem.code == "D641" for problem in found.problems)
