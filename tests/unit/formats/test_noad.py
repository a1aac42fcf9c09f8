"""NOAD-MASC: the text comes back from words and breaks, what is broken is told, archives are bounded."""

from __future__ import annotations

import io
import os
import tarfile
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.formats import BREAKS, read_document, read_labelled, read_noad
from disambig.formats import noad as noad_files

SENSE = "/dictionary/sense/d1/"
SIGNS = st.sampled_from(
    [*'<word|text="a"|break_level="NO_BREAK"|sense="s"|lemma="|/>|&#39;'.split("|"), *'<> "\n']
)


def word(text, gap="SPACE", **more):
    said = "".join(f" {name}={quoteattr(value)}" for name, value in more.items())
    return f'  <word text={quoteattr(text)}{said} break_level="{gap}_BREAK"/>\n'


def document(name, *words):
    head = f'<?xml version="1.0"?>\n<!DOCTYPE d SYSTEM "x.dtd">\n<SimpleWsdDoc name={quoteattr(name)}>\n'
    path = "".join(word(part, "NO") for part in ("/", "written", "/", "jokes", "/", name.rpartition("/")[2]))
    return f"{head}{path}{''.join(words)}</SimpleWsdDoc>\n"


def sensed(text, lemma, sense, pos="NOUN", gap="SPACE"):
    return word(text, gap, lemma=lemma, pos=pos, sense=SENSE + sense)


WORDS = [
    word("She", "PARAGRAPH"),
    sensed("saw", "see", "m2.001", "VERB"),
    word("``", "SPACE"),
    sensed("Banks", "bank", "m1.003", gap="NO"),
    word("''", "NO"),
    word("&", "LINE"),
    sensed("well", "well", "m3.001", "ADV", gap="PARAGRAPH"),
    word("!", "NO"),
    sensed("OK", "OK", "m4.001", "X", gap="SENTENCE"),
]
FILES = {
    "noad/masc/written/jokes/a.xml": document("/written/jokes/a's.txt", *WORDS),
    "noad/masc/written/jokes/b.xml": document("/written/jokes/b.txt", word("Hm", "PARAGRAPH")),
    "noad/manual_map.txt": f"{SENSE}m1.003\tbank%1:17:01::,bank%1:17:00::\n{SENSE}m9.001\tx%1\n",
    "noad/README.md": "nothing",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf8")
    return tmp_path / "noad"


def packed(path, files, extra=()):
    with tarfile.open(path, "w:xz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
        for member in extra:
            archive.addfile(member)
    return path


def test_text_places_and_glosses(folder):
    found = read_noad(folder, strict=True)
    first, second = found.documents
    assert (first.name, first.genre) == ("written/jokes/a's.txt", "jokes")
    assert first.text == 'She saw "Banks"\n&\n\nwell! OK'
    shown = [(first.text[p.start : p.end], p.word, p.sense) for p in first.places]
    assert shown == [
        ("saw", "see.v", "m2.001"),
        ("Banks", "bank.n", "m1.003"),
        ("well", "well.r", "m3.001"),
        ("OK", "OK.x", "m4.001"),
    ]
    assert (second.text, second.places) == ("Hm", ())
    bank = found.labelled()[1]
    assert (bank.label, bank.word, bank.document) == ("m1.003", "bank.n", "written/jokes/a's.txt")
    assert bank.gloss == "bank%1:17:01::,bank%1:17:00::"
    assert "character 9" in bank.where


def test_the_archive_says_the_same_and_is_read_as_labelled_examples(folder, tmp_path):
    path = packed(tmp_path / "noad.tar.xz", FILES)
    assert read_noad(path).documents == read_noad(folder).documents
    assert [each.label for each in read_labelled(path)] == ["m2.001", "m1.003", "m3.001", "m4.001"]
    single = read_labelled(folder / "masc/written/jokes/a.xml")
    assert [each.word for each in single] == ["see.v", "bank.n", "well.r", "OK.x"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_only_plain_files_are_read(tmp_path, kind):
    member = tarfile.TarInfo("noad/masc/c.xml")
    member.type, member.linkname = kind, "/etc/hosts"
    with pytest.raises(UserError, match=r"D494.*c\.xml"):
        read_noad(packed(tmp_path / "a.tar.xz", FILES, [member]))


@pytest.mark.parametrize(("name", "most"), [("LARGEST", 400), ("TOTAL", 500), ("MEMBERS", 2)])
def test_sizes_are_bounded(folder, tmp_path, monkeypatch, name, most):
    path = packed(tmp_path / "a.tar.xz", FILES)
    monkeypatch.setattr(noad_files, name, most)
    for each in (path, folder):
        with pytest.raises(UserError, match="D493"):
            read_noad(each)


def test_what_cannot_be_read(tmp_path):
    whole = packed(tmp_path / "a.tar.xz", FILES).read_bytes()
    for broken in (b"", b"no archive", whole[: len(whole) // 2]):
        (tmp_path / "b.tar.xz").write_bytes(broken)
        with pytest.raises(UserError, match="D308"):
            read_noad(tmp_path / "b.tar.xz")
    with pytest.raises(UserError, match="D300"):
        read_noad(tmp_path / "none.xml")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="D490"):
        read_noad(tmp_path / "empty")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('<word text="a" break_level="NO_BREAK"\n', "does not end"),
        ('<word break_level="NO_BREAK"/>\n', "has no text"),
        (word("a", "NEW"), "no known break"),
        (word("a", sense="m1"), "no lemma"),
    ],
)
def test_a_broken_word_is_told_with_its_line_or_stops(tmp_path, line, problem):
    path = tmp_path / "a.xml"
    path.write_text(document("/written/jokes/a.txt", word("One", "PARAGRAPH"), line, word("two")))
    told = []
    (found,) = read_noad(path, tell=told.append).documents
    assert found.text in ("One two", "One a two")
    assert len(told) == 1 and "line 11:" in told[0] and problem in told[0]
    with pytest.raises(UserError, match=r"D488.*line 11:"):
        read_noad(path, strict=True)


def test_a_file_that_is_none_is_told(folder):
    (folder / "masc" / "other.xml").write_text("<other/>")
    told = []
    assert len(read_noad(folder, tell=told.append).documents) == 2
    assert "other.xml, line 1" in told[0] and "SimpleWsdDoc" in told[0]
    with pytest.raises(UserError, match=r"D491.*<other"):
        read_labelled(folder / "masc" / "other.xml")


@given(st.lists(SIGNS, max_size=30).map("".join))
def test_nothing_crashes_the_scanner(text):
    read_document('<SimpleWsdDoc name="n">' + text, "x", lambda where, problem: None)


TOKENS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)


@given(st.lists(st.tuples(TOKENS.filter(str.strip), st.sampled_from(sorted(BREAKS))), min_size=1, max_size=8))
def test_words_and_breaks_come_back(words):
    source = document("/a.txt", *(word(text, gap.removesuffix("_BREAK")) for text, gap in words))
    source = source.replace("/a.txt", "\u2020")  # a path that no word begins
    found = read_document(source, "x", lambda where, problem: pytest.fail(problem))
    shown = {"``": '"', "''": '"'}
    texts = ["/", "written", "/", "jokes", "/", "a.txt"] + [shown.get(text, text) for text, _ in words]
    gaps = ["NO_BREAK"] * 6 + [gap for _, gap in words]
    assert found.text == "".join(BREAKS[gap] + text for text, gap in zip(texts, gaps, strict=True))


@pytest.mark.slow
@pytest.mark.data
def test_noad_masc_is_whole():
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    found = read_noad(f"{data}/labelled/noad-masc/noad-masc.tar.xz", strict=True)
    assert len(found.documents) == len({each.name for each in found.documents}) == 390
    assert sum(len(each.places) for each in found.documents) == 136_544 - 205  # in the files' own paths
    assert len(found.wordnet) == 18_932
    assert len({each.genre for each in found.documents}) == 20
    assert not any(each.text.startswith("/") for each in found.documents)
    for each in found.documents[::40]:
        for place in each.places:
            assert not any(map(str.isspace, each.text[place.start : place.end]))


def test_keys_of_one_lemma_written_together():
    from disambig.formats import read_map

    told = []
    found = read_map(
        "x/m1.003\tbe%2:42:00::;2:42:03::,be%2:42:03::, am%1\n\nx/m2\n", "map", lambda *say: told.append(say)
    )
    assert list(found.values()) == [("be%2:42:00::", "be%2:42:03::", "am%1")]
    assert [where for where, _ in told] == ["map, line 3"]
