"""Hidden flags: directives in comments of all formats and of code, and baselines of known flags."""

from __future__ import annotations

import json

import pytest
from fake_models import annotate_texts
from hypothesis import given, strategies as st

from disambig.checking import (
    Baseline,
    Flag,
    TextLines,
    find_flags,
    has_checked_suffix,
    new_baseline,
    read_baseline,
    read_directives,
    unused_directive,
)
from disambig.checking.flags import _DIRECTIVES
from disambig.errors import UserError
from disambig.markup import CODE, read_markup

QUIET = "a quite place"
BOTH = "a quite place during 1997"
OFF = "<!-- disambig: off -->"


def check_text(text, path="x.md"):
    plain = read_markup(path, text)
    return find_flags(path, text, plain, annotate_texts([plain.text]))


def flagged_and_unused(text, path="x.md"):
    """Return the flagged words, and the directives that do not suppress any flag."""
    result = check_text(text, path)
    assert not result.problems
    return [flag.observed for flag in result.flags], [item.directive for item in result.unused]


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("x.md", f"{QUIET} <!-- disambig: ignore quite -->", []),
        ("x.md", f"<!-- disambig: IGNORE then, Quite -->\n\n{QUIET}", []),
        ("x.md", f"{QUIET} <!-- disambig: ignore-line -->\n{QUIET}", ["quite"]),
        ("x.md", f"<!-- disambig: ignore-next-line -->\n{QUIET}\n{QUIET}", ["quite"]),
        ("x.md", f"<!-- disambig:\nignore-next-line -->\n\n  \n{QUIET}\n{QUIET}", ["quite"]),
        ("x.md", f"{QUIET} <!-- disambig: ignore-next-line -->", ["quite"]),
        ("x.md", f"{QUIET} {OFF} {QUIET}\n\n{QUIET} <!-- disambig: on --> {QUIET}", ["quite"] * 2),
        ("x.md", f"{QUIET} {OFF}\n{QUIET}", ["quite"]),
        ("x.md", f"{QUIET}\n\n<!-- disambig: ignore-file -->", []),
        ("x.md", f"{QUIET} <!-- something else -->", ["quite"]),
        ("x.md", f"{{/* disambig: ignore-next-line */}}\n{QUIET}\n{QUIET}", ["quite"]),
        ("x.md", f"{QUIET} `<!-- disambig: ignore quite -->`", ["quite"]),
        ("x.md", f"disambig: ignore-file {QUIET}", ["quite"]),
        ("x.org", f"- a\n  # disambig: ignore-next-line\n- {QUIET}\n- {QUIET}", ["quite"]),
        ("x.tex", f"% disambig: ignore quite\n{QUIET}", []),
        ("x.tex", f"{QUIET} % disambig: ignore-line\n{QUIET}", ["quite"]),
        ("x.tex", f"%% disambig: ignore-next-line task:spelling\n{BOTH}", ["during"]),
    ],
)
def test_directives_hide_flags(path, text, words):
    assert flagged_and_unused(text, path)[0] == words


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
        ("ignore-line[rule:preposition]", ["quite"]),
        ("ignore-line [task:Spelling, rule:it]", ["during"]),
        ("ignore-line[rule:spelling] quite", ["during"]),
        ("ignore-line[preposition] task:spelling", []),
    ],
)
def test_tasks_and_words_in_directives(path, what, words):
    assert flagged_and_unused(f"{BOTH} <!-- disambig: {what} -->", path)[0] == words


def test_a_directive_for_an_overlapping_task_hides_the_flag():
    comment = "<!-- disambig: ignore-file task:article -->"
    directives = read_directives("x.md", f"{comment} a apple", [(0, len(comment))], TextLines(comment))
    assert directives.hiding(len(comment), "a", "spelling", "article") == list(directives.hidden)
    assert directives.hiding(len(comment), "a", "spelling") == []


COMMENT_SYNTAX = """<!-- {} -->|% {}|.. {}|# {}|// {}|/* {} */|{{# {} #}}|-- {}|{}|dnl {}|C {}
<%# {} %>|<%#{}-%>|{{{{! {} }}}}|{{{{!-- {} --}}}}|{{{{~!-- {} --~}}}}|{{{{/* {} */}}}}
{{{{- /* {} */ -}}}}|{{#- {} -#}}|{{* {} *}}""".replace("\n", "|").split("|")


@pytest.mark.parametrize("comment", COMMENT_SYNTAX)
def test_directives_in_every_comment_syntax(comment):
    comment = comment.format("disambig: ignore quite")
    text = f"{comment}\n{QUIET}"
    (hidden,) = read_directives("x", text, [(0, len(comment))], TextLines(text)).hidden
    assert (hidden.word, hidden.directive, hidden.start) == ("quite", "ignore quite", 0)


def test_off_and_on_with_words_and_tasks_and_two_directives_for_one_flag():
    off, on = "<!-- disambig: off task:spelling, during -->", "<!-- disambig: on {} -->"
    one = f"{off}\n{BOTH}\n{on.format('during')}\n{BOTH}\n{on.format('')}\n{BOTH}"
    assert flagged_and_unused(one) == (["during", "quite", "during"], [])
    assert flagged_and_unused(f"{OFF}\n{QUIET} <!-- disambig: ignore-line -->") == ([], [])


def test_unused_directives_are_reported():
    text = (
        f"<!-- disambig: ignore quite, then -->\n{BOTH} <!-- disambig: ignore-line task:preposition -->\n\n"
        "<!-- disambig: ignore-next-line task:speling -->\nAll is well. <!-- disambig: on -->\n"
    )
    unused = [(item.line, item.directive) for item in check_text(text).unused]
    assert unused == [(1, "ignore then"), (4, "ignore-next-line[speling]"), (5, "on")]
    text = "# disambig: ignore-next-line quite, then\n# in a quite place\n# disambig: ignore peace\n"
    assert flagged_and_unused(text, "a.py") == ([], ["ignore-next-line then", "ignore peace"])


UNKNOWN = "|of|ignore|ignore , |ignore-file task:|ignore-lines|ignore[]|off[ ]|off[rule:]|off[article".split(
    "|"
)


@pytest.mark.parametrize("what", UNKNOWN)
def test_unknown_directives_are_reported(what):
    text = f"a\n<!-- disambig: {what} -->"
    result = read_directives("x.md", text, [(2, len(text))], TextLines(text))
    (problem,) = result.problems
    assert str(problem).startswith("[D641] x.md, line 2:")
    assert not result.hidden


def notes(text, path):
    return [unused_directive(path, item, ("spelling",)).text for item in check_text(text, path).unused]


BEHIND = "does not suppress any flag; it is after text of its comment: write it as a comment of its own"


@pytest.mark.parametrize(
    ("path", "text", "note"),
    [
        ("a.py", f"x = 1  # In {QUIET}. disambig: ignore-line\n",
         f"a.py, line 1: 'ignore-line' {BEHIND}, # disambig: ignore-line"),
        ("a.js", f"f() // In {QUIET}. disambig:  ignore-line quite, then\n",
         f"a.js, line 1: 'ignore-line quite, then' {BEHIND}, // disambig: ignore-line quite, then"),
        ("a.c", f"/* In\n * {QUIET}. Disambig: ignore-line[spelling] */\n",
         f"a.c, line 2: 'ignore-line[spelling]' {BEHIND}, // disambig: ignore-line[spelling]"),
        ("a.tex", f"{QUIET} % so disambig: off\n", f"a.tex, line 1: 'off' {BEHIND}, % disambig: off"),
        ("a.md", f"{QUIET} <!-- so disambig: ignore-line -->\n",
         f"a.md, line 1: 'ignore-line' {BEHIND}, <!-- disambig: ignore-line -->"),
    ],
)  # fmt: skip
def test_a_directive_after_text_is_reported(path, text, note):
    assert notes(text, path) == [note]
    assert flagged_and_unused(text, path)[0] == ["quite"]


OWN = "after text: write it as a comment of its own, "
BETWEEN = f"does not suppress any flag; it is in a paragraph or {OWN}between"


@pytest.mark.parametrize(
    ("path", "text", "note"),
    [
        ("a.rst", f"Well.\n.. disambig: off\n{QUIET}\n",
         f"a.rst, line 2: 'off' {BETWEEN} blank lines, .. disambig: off"),
        ("a.rst", f"{QUIET} .. disambig: ignore-line[spelling]\r\n",
         f"{BETWEEN} blank lines, .. disambig: ignore-line[spelling]"),
        ("a.org", f"{QUIET} # disambig: ignore-line", f"{BETWEEN} paragraphs, # disambig: ignore-line"),
        ("a.adoc", f"{QUIET} // disambig: ignore quite\n",
         f"; it is {OWN}in a line of its own, // disambig: ignore quite"),
    ],
)  # fmt: skip
def test_a_directive_where_a_comment_is_text_is_reported(path, text, note):
    (only,) = notes(text, path)
    assert note in only
    assert flagged_and_unused(text, path)[0] == ["quite"]


@pytest.mark.parametrize(
    "text",
    [
        f".. disambig: off\n\n{QUIET}\n\n.. disambig: on\n",
        f"* Well.\n\n  .. disambig: off\n\n  {QUIET}\n",
        f"..\n   disambig: off\n\n{QUIET}\n",
        f"Well.\n\n.. disambig: ignore-next-line\n\n{QUIET}\n",
        f".. disambig: ignore-next-line\n.. note:: {QUIET}\n",
        "Write ``.. disambig: off``\n\n::\n\n   .. disambig: off\n",
    ],
)
def test_directives_in_restructured_text(text):
    assert flagged_and_unused(text, "a.rst") == ([], [])


@pytest.mark.parametrize(
    "comment",
    [
        "# Write disambig: ignore-line at the end of the line.",
        "# Write `disambig: ignore-line`",
        "# - disambig: ignore-line",
        "# About disambig: ignore",
        "# About disambig: offers",
    ],
)
def test_prose_that_mentions_a_directive_is_not_reported(comment):
    assert notes(f"{comment}\n", "a.py") == []


def test_text_after_a_directive_is_reported_as_words():
    (note,) = notes(f"// disambig: ignore-line In {QUIET} here.\n", "a.js")
    assert note.startswith(
        "a.js, line 1: 'ignore-line in a quite place here.' does not suppress any flag; 'in a "
    )
    assert "is read as the words to ignore, which commas separate: if it is text, write it in another" in note
    (note,) = notes("<!-- disambig: ignore login -> log in -->\n", "a.md")
    assert note.endswith("; remove it")


SIGNS = [*_DIRECTIVES, " ", "\n", ",", "task:", "x", "--", "\u00a0", "-->"]
COMMENTS = st.lists(st.sampled_from(SIGNS), max_size=8).map("".join)


@pytest.mark.parametrize(
    ("directive", "advice"),
    [
        ("ingore well", "unknown directive 'ingore well': did you mean 'ignore well'? use ignore-line,"),
        ("disable-next-line", "did you mean 'ignore-next-line'?"),
        ("disable [a-an]", "did you mean 'off [a-an]'?"),
        ("ignore", "ignore needs a word or a rule, as in `ignore WORD`"),
        ("off [", "name a rule in brackets, as in `off [RULE]`"),
        ("zzz", "unknown directive 'zzz': use ignore-line,"),
    ],
)
def test_an_unknown_directive_comes_with_a_suggestion(directive, advice):
    text = f"<!-- disambig: {directive} -->"
    (problem,) = read_directives("x.md", text, [(0, len(text))], TextLines(text)).problems
    assert advice in str(problem)


@given(st.lists(COMMENTS, max_size=5))
def test_every_directive_hides_flags_or_is_an_error(comments):
    text, places = "", []
    for comment in comments:
        start = len(text)
        text += f"<!-- disambig: {comment} -->"
        places.append((start, len(text)))
        text += " words\n"
    result = read_directives("x.md", text, places, TextLines(text))
    assert all(0 <= item.start <= item.end <= len(text) + 1 for item in result.hidden)
    assert bool(result.hidden or result.problems) or not comments
    assert all(problem.code == "D641" for problem in result.problems)


COMMENT = "in a quite place"


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("a.py", f"x = 1  # {COMMENT}\n", [1]),
        ("a.py", "quite = 1  # a place\n", []),
        ("a.py", f"# {COMMENT}  # disambig: ignore-line\n", []),  # as pragmas stand
        ("a.py", f"x = 1  # {COMMENT}  # disambig: ignore-line then\n", [1]),
        ("a.py", f"# {COMMENT} # of disambig: ignore-line\n", [1]),
        ("a.py", f"# disambig: ignore-next-line\nx = 1  # {COMMENT}\n# so a quite place\n", [3]),
        ("a.py", '"""In a quite place."""\n# disambig: ignore quite\n', []),
        ("a.py", '"""In a quite place. <!-- disambig: ignore-line -->"""\n', []),
        ("a.rs", f"// disambig: off\n/// {COMMENT}\n// disambig: on\n/// {COMMENT}\n", [4]),
        ("a.c", f"/* disambig: ignore-file task:spelling */\n/* {COMMENT} */\n", []),
        ("a.js", f"f() // {COMMENT}\ng() /* disambig: ignore-line */ // {COMMENT}\n", [1]),
        ("a.go", f"/* disambig:ignore-next-line quite */\n\n// {COMMENT}\n", []),
        ("a.java", f"\t/*\n\t * disambig: ignore-next-line\n\t */\n\t// {COMMENT}\n", []),
        ("a.ts", f"/**\n * {COMMENT}\n */ // disambig: ignore-line\n", [2]),
        ("a.sh", f"# disambig: ignore-next-line\n# {COMMENT}\n# so a quite place\n", [3]),
        ("a.py", f's = "# disambig: ignore-file"  # {COMMENT}\n', [1]),
        ("a.py", "# in a\r\n# quite place\r\n", [2]),
    ],
)
def test_directives_in_comments_of_code(path, text, lines):
    result = check_text(text, path)
    assert not result.problems
    assert [(flag.observed, flag.line) for flag in result.flags] == [("quite", line) for line in lines]


def test_only_comments_of_code_are_checked_and_only_if_it_is_named():
    assert not any(has_checked_suffix("a" + suffix) for suffix in CODE)
    assert has_checked_suffix("a.md") and has_checked_suffix("a.TEX")
    text = "quite = 1  # in a quite place\n"
    (flag,) = check_text(text, "a.py").flags
    start, end, new = flag.edit
    assert text[:start] + new + text[end:] == "quite = 1  # in a quiet place\n"


def flag(start, observed="quite", task="spelling"):
    end = start + len(observed)
    return Flag(start, end, 1, start + 1, observed, "quiet", task, 0.9, (start, end, "quiet"))


TEXT = "A quite place. A quite place. A quite day."
FLAGS = [flag(2), flag(17), flag(32)]


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    baseline = new_baseline("known.json")
    baseline.add("docs/a.md", TEXT, FLAGS)
    baseline.write()
    return tmp_path / "known.json"


def test_baseline_file_format(path):
    entry = {"path": "docs/a.md", "observed": "quite"}
    flags = [{**entry, "sentence": "A quite day."}, {**entry, "sentence": "A quite place.", "count": 2}]
    assert json.loads(path.read_text()) == {"disambig_baseline": 1, "flags": flags}


def test_known_flags_are_hidden_from_any_folder(path, monkeypatch):
    assert read_baseline("known.json").new_flags("docs/a.md", TEXT, FLAGS) == []
    (path.parent / "docs").mkdir()
    monkeypatch.chdir("docs")
    baseline = read_baseline("../known.json")
    assert baseline.new_flags("a.md", TEXT, FLAGS) == []
    assert baseline.n_unmatched() == 0
    baseline = new_baseline("odd.json")
    baseline.add("b\udcff.md", TEXT, FLAGS)  # a file name that is not UTF-8
    baseline.write()
    assert read_baseline("odd.json").new_flags("b\udcff.md", TEXT, FLAGS) == []


def test_repeated_flags_are_counted_and_unmatched_entries_reported(path):
    (path.parent / "docs").mkdir()
    (path.parent / "docs" / "a.md").touch()
    text = f"{TEXT} A quite place. A quiet quite. "
    more = [*FLAGS, flag(45), flag(60)]
    assert read_baseline("known.json").new_flags("docs/a.md", text, more) == more[3:]
    assert read_baseline("known.json").new_flags("docs/b.md", TEXT, FLAGS) == FLAGS
    baseline = read_baseline("known.json")
    assert baseline.n_unmatched() == 0
    baseline.new_flags("docs/a.md", TEXT, FLAGS[:1])
    assert baseline.n_unmatched() == 2


def test_known_flags_are_hidden_if_another_task_raises_them(path):
    others = [flag(2, task="form"), *FLAGS[1:]]
    assert read_baseline("known.json").new_flags("docs/a.md", TEXT, others) == []
    recorded = json.loads(path.read_text())
    for entry in recorded["flags"]:
        entry["task"] = "spelling"  # as in files of earlier versions
    path.write_text(json.dumps(recorded))
    assert read_baseline("known.json").new_flags("docs/a.md", TEXT, others) == []


def test_flags_of_a_renamed_file_are_hidden(path):
    baseline = read_baseline("known.json")
    assert baseline.peek_new_flags("docs/b.md", TEXT, FLAGS) == []
    assert baseline.new_flags("docs/b.md", TEXT, FLAGS) == []
    assert baseline.new_flags("docs/copy.md", TEXT, FLAGS) == FLAGS  # each entry hides one flag


FLAG = '{"path": "a", "observed": "o", "sentence": "s", "count": COUNT}'
COUNTS = ("1e400", "10" + "0" * 300, "NaN", "-1", "0", "null", '"2"', "[]", "true", "1.5")


def document(flags, version=1, more=""):
    return f'{{"disambig_baseline": {version}, "flags": {flags}{more}}}'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "D966"),
        ("[]", "D966"),
        ("{}", "D966"),
        ("\0", "D303"),
        ("[" * 100_000, "D966"),
        (document("[]", version=2), "D966"),
        (document("[]", version="true"), "D966"),
        (document('[{"path": "a"}]'), "D966"),
        (document("1"), "D966"),
        ('{"disambig_baseline": 1, "flags": ' + "[" * 100_000, "D966"),
        (document("[" + "9" * 5_000 + "]"), "D966"),
        (document("[]", more=', "x": NaN'), "D966"),
        (document("[]", more=', "x": 1e400'), "D966"),
        (document("[]", more=', "disambig_baseline": 1'), "D966"),
        *((document(f"[{FLAG.replace('COUNT', count)}]"), "D966") for count in COUNTS),
        (document('[{"path": 1, "observed": {}, "sentence": 0}]'), "D966"),
    ],
)
def test_invalid_baselines_are_rejected(tmp_path, text, code):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        read_baseline(str(path))
    assert caught.value.code == code
    with pytest.raises(UserError) as caught:
        new_baseline(str(path))
    assert caught.value.code == "D967" and caught.value.text.count("is not a baseline") == 1
    assert path.read_text() == text


def test_missing_baselines_and_overwriting(path, tmp_path):
    with pytest.raises(UserError, match="D300"):
        read_baseline(str(tmp_path / "no.json"))
    new_baseline("known.json").write()
    assert json.loads(path.read_text())["flags"] == []
    assert isinstance(read_baseline("known.json"), Baseline)
