"""Tagged text: trees, CoNLL-2000, CoNLL-U and sentences with some tags; errors with their place."""

from __future__ import annotations

import io
import lzma
import os
import tarfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from disambig_random_subspace.experiments import (
    CONLL2000,
    CRAFT,
    EWT,
    NOAD,
    PENN,
    conll2000,
    conllu_sentences,
    craft_partly,
    ewt,
    noad_partly,
    penn_archive,
    penn_sample,
    penn_sentences,
    tag_data as tag_data_penn,
    unescape_word,
)
from disambig_random_subspace.experiments.table2 import DIFFERENT
from disambig_random_subspace.tagger import fill_in_tags, predict_tags, token_views, train_tagger
from hypothesis import given, strategies as st

from disambig.errors import UserError

DATA = os.environ.get("DISAMBIG_DATA")
TREES = """
( (S (NP-SBJ (DT The) (NN cat) )
    (VP (VBD slept) (NP (-NONE- *T*-1) ))
    (. .) ))
( (NP (-NONE- 0)) )
(FRAG (-LRB- -LRB-) (NN 1\\/2) (`` ``) (: --))
"""
any_symbols = st.text(
    st.characters(categories=["L", "N"], include_characters="-$.,'*"), min_size=1, max_size=5
)
any_blanks = st.text(" \n\t", min_size=1, max_size=3)
any_leaves = st.tuples(any_symbols, any_symbols)
any_trees = st.recursive(
    any_leaves.map(lambda leaf: (leaf[0], leaf[1])),
    lambda below: st.tuples(any_symbols | st.just(""), st.lists(below, min_size=1, max_size=4)),
    max_leaves=12,
)


def write_tree(tree, blank):
    label, rest = tree
    body = rest if isinstance(rest, str) else "".join(write_tree(child, blank) + blank for child in rest)
    return f"({label}{blank}{body})"


def leaves_of(tree):
    label, rest = tree
    return [(label, rest)] if isinstance(rest, str) else [leaf for child in rest for leaf in leaves_of(child)]


@given(st.lists(any_trees, max_size=4), any_blanks)
def test_leaves_of_any_trees(trees, blank):
    text = blank.join(write_tree(tree, blank) for tree in trees)
    expected = [[leaf for leaf in leaves_of(tree) if leaf[0] != "-NONE-"] for tree in trees]
    result = [list(zip(tags, words, strict=True)) for words, tags in penn_sentences(text)]
    assert result == [[(tag, unescape_word(word)) for tag, word in tree] for tree in expected if tree]


@given(st.text("()ab \n", max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        result = list(penn_sentences(text))
    except UserError as error:
        assert error.code == "D733"
        assert 1 <= int(error.values["line"]) <= text.count("\n") + 1
    else:
        assert text.count("(") == text.count(")")
        assert all(len(words) == len(tags) > 0 for words, tags in result)


def test_traces_and_escapes():
    assert list(penn_sentences(TREES)) == [
        (["The", "cat", "slept", "."], ["DT", "NN", "VBD", "."]),
        (["(", "1/2", '"', "--"], ["-LRB-", "NN", "``", ":"]),
    ]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("(S (NN cat)", 1, "never closed"),
        ("(NN cat)\n)", 2, "no opening one"),
        ("(NN cat)\n\nstray", 3, "outside"),
        ("(S\n(NN cat dog))", 2, "already has"),
        ("(S (NN cat)\n(NP ))", 2, "nothing in (NP"),
        ("(S (NN cat) dog)", 1, "already has"),
        ("(S cat\n(NN dog))", 2, "after the word"),
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


def test_only_trees_of_an_archive_are_read(tmp_path):
    secret = tmp_path / "secret.mrg"
    secret.write_text("((NN secret))")
    path = write_archive(
        tmp_path / PENN,
        [("t/b.mrg", "((NN two))"), ("t/a.mrg", "((NN one))"), ("../README", "(no tree")],
        links=[("t/c.mrg", str(secret))],
    )
    assert penn_archive(path) == {"a.mrg": [(["one"], ["NN"])], "b.mrg": [(["two"], ["NN"])]}
    assert penn_sample(tmp_path) == penn_archive(path)


def test_invalid_archives(tmp_path, monkeypatch):
    def refused(path):
        with pytest.raises(UserError) as caught:
            penn_archive(path)
        return caught.value

    text = tmp_path / "text.tar.xz"
    text.write_text("no archive")
    whole = write_archive(tmp_path / "a.tar.xz", [("a.mrg", "((NN a))" * 5000)])
    cut = tmp_path / "cut.tar.xz"
    cut.write_bytes(whole.read_bytes()[:100])
    latin = write_archive(tmp_path / "l.tar.xz", [("a.mrg", b"((NN \xff))")])
    for path in (tmp_path / "none.tar.xz", text, cut, latin):
        assert refused(path).code == "D732"
    assert "ends with .mrg" in str(refused(write_archive(tmp_path / "0.tar.xz", [("a", "b")])))
    broken = refused(write_archive(tmp_path / "b.tar.xz", [("t/a.mrg", "((NN a))\n((NN")]))
    assert (broken.code, broken.values["line"]) == ("D733", 2)
    assert str(broken.values["path"]).endswith("b.tar.xz: t/a.mrg")
    for bounds in ({"BYTES": 1000}, {"BYTES": 1 << 20, "FILES": 0}):
        for name, value in bounds.items():
            monkeypatch.setattr(tag_data_penn, name, value)
        assert "more than" in str(refused(whole))


def write_xz(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wt", encoding="utf8") as out:
        out.write(text)
    return path


def test_conll2000(tmp_path):
    train, test = (tmp_path / CONLL2000.replace("*", part) for part in ("train", "test"))
    write_xz(train, "A DT B-NP\ncat NN I-NP\n\n-LRB- ( O\n-RRB- ) O\n\n\n")
    write_xz(test, "Dogs NNS B-NP")
    expected = [(["A", "cat"], ["DT", "NN"]), (["(", ")"], ["-LRB-", "-RRB-"]), (["Dogs"], ["NNS"])]
    assert conll2000(tmp_path) == expected
    write_xz(test, "A DT B-NP\ncat NN\n")
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
        write_xz(tmp_path / EWT.replace("*", f"answers.{split}"), CONLLU)
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
def test_malformed_rows(tmp_path, row, code, problem):
    path = write_xz(tmp_path / "x.conllu.xz", f"# text = go\n{row}\n")
    with pytest.raises(UserError, match=rf"{code}.*line 2") as caught:
        list(conllu_sentences(path))
    assert problem in str(caught.value)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs DISAMBIG_DATA")
def test_differences_between_the_treebanks():
    penn = [sentence for file in penn_sample(Path(str(DATA))).values() for sentence in file]
    assert (len(penn), sum(len(words) for words, _ in penn)) == (3914, 94_084)
    web = ewt(Path(str(DATA)))
    assert (len(web), sum(len(words) for words, _ in web)) == (16_622, 254_818)

    def tags_of(sentences):
        result: dict[str, Counter[str]] = {}
        for words, tags in sentences:
            for word, tag in zip(words, tags, strict=True):
                result.setdefault(word.lower(), Counter())[tag] += 1
        return result

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


SENTENCES = [
    ("the dog barks".split(), "DT NN VBZ".split()),
    ("a cat sleeps".split(), "DT NN VBZ".split()),
    ("dogs bark".split(), "NNS VBP".split()),
    ("the walks end".split(), "DT NNS VBP".split()),
    ("she walks".split(), "PRP VBZ".split()),
] * 3


@pytest.fixture(scope="module")
def model():
    return train_tagger(SENTENCES, SENTENCES, name="toy")


def test_taggers_of_partly_tagged_and_plain_text(model, tmp_path):
    words = "the walks end".split()
    free, bound, strange = fill_in_tags(
        model, [(words, [(), (), ()]), (words, [(), ("NN", "VBZ"), ()]), (words, [("XX",), (), ()])]
    )
    assert free == strange == (words, "DT NNS VBP".split())
    assert bound[1][1] in ("NN", "VBZ") and bound[1][0] == "DT"
    more = [("the ferret sings".split(), "DT NN VBZ".split())] * 3
    tagger = train_tagger(SENTENCES, SENTENCES, name="toy", more=more)
    assert len(tagger.extractors[0].keys) > len(model.extractors[0].keys)
    assert tagger.provenance["groups"]["tag"]["more"] == 9
    seldom = train_tagger(SENTENCES, SENTENCES, name="toy", more=more, seldom=4)
    assert len(seldom.extractors[0].keys) == len(model.extractors[0].keys)
    path = tmp_path / "plain.txt"
    path.write_text("The dog barks. A cat sleeps.\n\nDogs bark.\n" * 3, encoding="utf8")
    views = list(token_views(path, 1_000))
    for view in views:
        np.testing.assert_array_equal(predict_tags(model, view), model.choose(view)[1])
    assert len(list(token_views(path, 0))) == 0 and sum(map(len, views)) > 30


def test_tags_from_senses(tmp_path):
    word = '<word text="{}" break_level="{}"/>'
    sense = '<word text="{}" lemma="{}" pos="{}" sense="/d/{}" break_level="{}"/>'
    lines = [
        '<SimpleWsdDoc name="/a.txt">',
        word.format("a.txt", "NO_BREAK"),
        word.format("We", "PARAGRAPH_BREAK"),
        sense.format("run", "run", "VERB", "s1", "SPACE_BREAK"),
        sense.format("races", "race", "NOUN", "s2", "LINE_BREAK"),
        word.format("No", "SENTENCE_BREAK"),
        "</SimpleWsdDoc>",
    ]
    write_archive(tmp_path / NOAD, [("masc/a.xml", "\n".join(lines))])
    ((words, may),) = noad_partly(tmp_path)
    assert words == ["We", "run", "races"]
    assert not may[0] and "VBP" in may[1] and "NN" not in may[1] and "NNS" in may[2]


def test_tags_from_trees(tmp_path):
    tree = "( (S (NP (DT The) (NN wnt-gene)) (VP (VBZ acts) (NP (-NONE- *T*)))  (: ;)) )\n((NP (NN Note)))"
    write_archive(tmp_path / CRAFT, [("penn/1.tree", tree), ("penn/readme", "no")])
    ((words, may),) = craft_partly(tmp_path)
    assert words == ["The", "wnt-gene", "acts", ";"]
    assert [tuple(item) for item in may] == [("DT",), ("NN", "NNP"), ("VBZ",), ()]
    write_archive(tmp_path / CRAFT, [("penn/1.txt", "no")])
    with pytest.raises(UserError, match="D732"):
        list(craft_partly(tmp_path))
