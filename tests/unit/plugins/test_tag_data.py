"""Tagged text as it is read: trees, CoNLL-2000 and CoNLL-U, and what is refused with its place."""

from __future__ import annotations

import io
import lzma
import os
import tarfile
from collections import Counter
from pathlib import Path

import pytest
from disambig_random_subspace.experiments import (
    CONLL2000,
    EWT,
    PENN,
    conll2000,
    conllu_sentences,
    ewt,
    penn_archive,
    penn_sample,
    penn_sentences,
    unescape_word,
)
from disambig_random_subspace.experiments import tag_data as tag_data_penn
from disambig_random_subspace.experiments.table2 import DIFFERENT
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError

DATA = os.environ.get("DISAMBIG_DATA")
TREES = """
( (S (NP-SBJ (DT The) (NN cat) )
    (VP (VBD slept) (NP (-NONE- *T*-1) ))
    (. .) ))
( (NP (-NONE- 0)) )
(FRAG (-LRB- -LRB-) (NN 1\\/2) (`` ``) (: --))
"""

symbols = st.text(st.characters(categories=["L", "N"], include_characters="-$.,'*"), min_size=1, max_size=5)
blanks = st.text(" \n\t", min_size=1, max_size=3)
leaves = st.tuples(symbols, symbols)
trees = st.recursive(
    leaves.map(lambda leaf: (leaf[0], leaf[1])),
    lambda below: st.tuples(symbols | st.just(""), st.lists(below, min_size=1, max_size=4)),
    max_leaves=12,
)


def shown(tree, blank):
    label, rest = tree
    body = rest if isinstance(rest, str) else "".join(shown(child, blank) + blank for child in rest)
    return f"({label}{blank}{body})"


def leaves_of(tree):
    label, rest = tree
    return [(label, rest)] if isinstance(rest, str) else [leaf for child in rest for leaf in leaves_of(child)]


@given(st.lists(trees, max_size=4), blanks)
def test_the_leaves_of_any_trees_come_back(made, blank):
    text = blank.join(shown(tree, blank) for tree in made)
    expected = [[leaf for leaf in leaves_of(tree) if leaf[0] != "-NONE-"] for tree in made]
    found = [list(zip(tags, words, strict=True)) for words, tags in penn_sentences(text)]
    assert found == [[(tag, unescape_word(word)) for tag, word in tree] for tree in expected if tree]


@given(st.text("()ab \n", max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        found = list(penn_sentences(text))
    except UserError as error:
        assert error.code == "D733"
        assert 1 <= int(error.values["line"]) <= text.count("\n") + 1
    else:
        assert text.count("(") == text.count(")")
        assert all(len(words) == len(tags) > 0 for words, tags in found)


def test_traces_are_left_out_and_words_are_as_written():
    assert list(penn_sentences(TREES)) == [
        (["The", "cat", "slept", "."], ["DT", "NN", "VBD", "."]),
        (["(", "1/2", '"', "--"], ["-LRB-", "NN", "``", ":"]),
    ]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("(S (NN cat)", 1, "never closed"),
        ("(NN cat)\n)", 2, "none opened"),
        ("(NN cat)\n\nstray", 3, "outside"),
        ("(S\n(NN cat dog))", 2, "already has"),
        ("(S (NN cat)\n(NP ))", 2, "nothing in (NP"),
        ("(S (NN cat) dog)", 1, "already has"),
        ("(S cat\n(NN dog))", 2, "behind the word"),
        ("()", 1, "nothing in"),
    ],
)
def test_broken_trees_are_refused_with_their_line(text, line, problem):
    with pytest.raises(UserError, match="D733") as caught:
        list(penn_sentences(text, "x.mrg"))
    assert caught.value.values["line"] == line
    assert caught.value.values["path"] == "x.mrg"
    assert problem in str(caught.value.values["problem"])


def write_archive(path, files, *, links=()):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:xz") as archive:
        for name, text in files:
            info = tarfile.TarInfo(name)
            data = text.encode() if isinstance(text, str) else text
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return path


def test_an_archive_is_read_by_file_name_and_nothing_else_of_it(tmp_path):
    secret = tmp_path / "secret.mrg"
    secret.write_text("((NN secret))")
    path = write_archive(
        tmp_path / PENN,
        [("t/b.mrg", "((NN two))"), ("t/a.mrg", "((NN one))"), ("../README", "(no tree")],
        links=[("t/c.mrg", str(secret))],
    )
    assert penn_archive(path) == {"a.mrg": [(["one"], ["NN"])], "b.mrg": [(["two"], ["NN"])]}
    assert penn_sample(tmp_path) == penn_archive(path)


def test_archives_that_cannot_be_used(tmp_path, monkeypatch):
    def refused(path):
        with pytest.raises(UserError) as caught:
            penn_archive(path)
        return caught.value

    assert refused(tmp_path / "none.tar.xz").code == "D732"
    text = tmp_path / "text.tar.xz"
    text.write_text("no archive")
    assert refused(text).code == "D732"
    assert "ends with .mrg" in str(refused(write_archive(tmp_path / "0.tar.xz", [("a", "b")])))
    whole = write_archive(tmp_path / "a.tar.xz", [("a.mrg", "((NN a))" * 5000)])
    cut = tmp_path / "cut.tar.xz"
    cut.write_bytes(whole.read_bytes()[:100])
    assert refused(cut).code == "D732"
    assert refused(write_archive(tmp_path / "l.tar.xz", [("a.mrg", b"((NN \xff))")])).code == "D732"
    broken = refused(write_archive(tmp_path / "b.tar.xz", [("t/a.mrg", "((NN a))\n((NN")]))
    assert (broken.code, broken.values["line"]) == ("D733", 2)
    assert str(broken.values["path"]).endswith("b.tar.xz: t/a.mrg")
    monkeypatch.setattr(tag_data_penn, "BYTES", 1000)
    assert "more than" in str(refused(whole))
    monkeypatch.setattr(tag_data_penn, "BYTES", 1 << 20)
    monkeypatch.setattr(tag_data_penn, "FILES", 0)
    assert "more than" in str(refused(whole))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wt", encoding="utf8") as out:
        out.write(text)
    return path


def test_conll2000_with_its_brackets_as_the_penn_treebank_has_them(tmp_path):
    write(tmp_path / CONLL2000.replace("*", "train"), "A DT B-NP\ncat NN I-NP\n\n-LRB- ( O\n-RRB- ) O\n\n\n")
    write(tmp_path / CONLL2000.replace("*", "test"), "Dogs NNS B-NP")
    assert conll2000(tmp_path) == [
        (["A", "cat"], ["DT", "NN"]),
        (["(", ")"], ["-LRB-", "-RRB-"]),
        (["Dogs"], ["NNS"]),
    ]
    write(tmp_path / CONLL2000.replace("*", "test"), "A DT B-NP\ncat NN\n")
    with pytest.raises(UserError, match=r"D734.*line 2"):
        conll2000(tmp_path)


CONLLU = """# sent_id = 1
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
2.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_

# sent_id = 2
1\tNo\tno\tINTJ\tUH\t_\t0\troot\t_\t_
"""


def test_conllu_words_without_ranges_and_empty_nodes(tmp_path):
    for split in ("train", "test"):
        write(tmp_path / EWT.replace("*", f"answers.{split}"), CONLLU)
    first = (["Do", "n't", "go"], ["VB", "RB", "VB"])
    assert ewt(tmp_path, ["answers"], ["train", "test"]) == [first, (["No"], ["UH"])] * 2


@pytest.mark.parametrize(
    ("row", "code", "problem"),
    [
        ("1\tgo\tgo\tVERB\tVB", "D324", "5 columns"),
        ("x\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_", "D324", "invalid id 'x'"),
        ("1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_", "D735", "no tag"),
        ("1\t\tgo\tVERB\tVB\t_\t0\troot\t_\t_", "D324", "an empty form"),
    ],
)
def test_malformed_rows_are_refused_with_their_line(tmp_path, row, code, problem):
    path = write(tmp_path / "x.conllu.xz", f"# text = go\n{row}\n")
    with pytest.raises(UserError, match=rf"{code}.*line 2") as caught:
        list(conllu_sentences(path))
    assert problem in str(caught.value)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_the_treebanks_differ_in_what_the_rule_leaves_out():
    penn = [sentence for file in penn_sample(Path(str(DATA))).values() for sentence in file]
    assert (len(penn), sum(len(words) for words, _ in penn)) == (3914, 94_084)
    web = ewt(Path(str(DATA)))
    assert (len(web), sum(len(words) for words, _ in web)) == (16_622, 254_818)

    def tags_of(sentences):
        found: dict[str, Counter[str]] = {}
        for words, tags in sentences:
            for word, tag in zip(words, tags, strict=True):
                found.setdefault(word.lower(), Counter())[tag] += 1
        return found

    here, there = tags_of(penn), tags_of(web)
    known = {tag for counts in here.values() for tag in counts}
    assert {tag for counts in there.values() for tag in counts} - known == {"HYPH", "NFP", "ADD", "GW", "AFX"}
    # frequent in both, with a tag on the web that the Penn Treebank never gives the word, more often than not
    new = {
        word
        for word, counts in there.items()
        if counts.total() >= 60
        and word in here
        and here[word].total() >= 4
        and sum(n for tag, n in counts.items() if tag not in here[word]) > counts.total() / 2
    }
    assert {"-", "--", "...", ";", "both"} <= new
    # "visit" is a noun four times in the Penn Treebank, by chance; no other word is left in
    assert {word for word in new if not DIFFERENT.fullmatch(word)} == {"visit"}
