"""The one reader of CoNLL-U's lines: words, tokens, the text spelt out of them, and what is refused."""

from __future__ import annotations

import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.api.formats import read_conllu
from disambig.errors import UserError
from disambig.formats import sentences

TEXT = """# newdoc id = first
# newpar
# sent_id = 1
# text = Don't go.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
3.1\tgone\tgo\tVERB\tVB\t_\t_\t_\t_\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

1\tNo\tno\tINTJ\tUH\t_\t0\troot\t_\t_

# newdoc id = second
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\tSpaceAfter=No|x=y
"""


@pytest.mark.parametrize("name", ["a.conllu", "a.conllu.xz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sentences(tmp_path, name, end):
    data = TEXT.replace("\n", end).encode()
    (tmp_path / name).write_bytes(lzma.compress(data) if name.endswith("xz") else data)
    one, two, three = read_conllu(tmp_path / name)
    assert [row[1] for row in one.words] == ["Do", "n't", "go", "."]
    assert one.lines == [6, 7, 8, 10]
    assert one.spelt == "Don't go. "
    assert [one.spelt[token.start : token.end] for token in one.tokens] == ["Don't", "go", "."]
    assert [list(token.words) for token in one.tokens] == [[0, 1], [2], [3]]
    assert [token.line for token in one.tokens] == [5, 8, 10]
    assert [token.spaced for token in one.tokens] == [True, False, True]
    assert (one.line, one.text_line, one.comments["sent_id"]) == (1, 4, "1")
    assert [s.document for s in (one, two, three)] == ["first", "first", "second"]
    assert [s.begins_document for s in (one, two, three)] == [True, False, True]
    assert [s.begins_paragraph for s in (one, two, three)] == [True, False, False]
    assert (three.spelt, three.tokens[0].spaced) == ("Yes", False)


ROW = "\t_" * 8
forms = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=6)
made = st.lists(st.lists(st.tuples(forms, st.booleans()), min_size=1, max_size=5), max_size=4)


@given(made)
def test_what_is_written_is_read(rows):
    lines = []
    for sentence in rows:
        for number, (form, spaced) in enumerate(sentence, 1):
            lines.append(f"{number}\t{form}{ROW[:-1]}{'_' if spaced else 'SpaceAfter=No'}")
        lines.append("")
    found = list(sentences(lines, "made"))
    assert [[word[1] for word in each.words] for each in found] == [[form for form, _ in s] for s in rows]
    assert [each.spelt for each in found] == ["".join(f + " " * spaced for f, spaced in s) for s in rows]
    for each in found:
        assert [each.spelt[t.start : t.end] for t in each.tokens] == [t.columns[1] for t in each.tokens]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1\tgo", "2 columns instead of 10"),
        (f"x\tgo{ROW}", "invalid id 'x'"),
        (f"2\tgo{ROW}", "id 2 instead of 1"),
        (f"1-2\tgo{ROW}", "ends before word 2"),
        (f"1.1\tgo{ROW}", "id 1.1 instead of 0.1"),
        (f"1\t{ROW}", "an empty form"),
    ],
)
def test_malformed_rows_are_refused_with_their_line(tmp_path, row, problem):
    path = tmp_path / "a.conllu"
    path.write_text(f"# sent_id = 1\n{row}\n")
    with pytest.raises(UserError, match=r"D324.*line 2") as caught:
        list(read_conllu(path))
    assert problem in str(caught.value)


def test_a_file_that_is_missing_or_no_text(tmp_path):
    with pytest.raises(UserError, match="D300"):
        list(read_conllu(tmp_path / "none.conllu"))
    (tmp_path / "a.conllu").write_bytes(b"1\t\0")
    with pytest.raises(UserError, match="D303"):
        list(read_conllu(tmp_path / "a.conllu"))
