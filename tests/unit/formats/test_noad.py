"""NOAD-MASC: texts from words and breaks, errors in files, and limits on archives."""

from __future__ import annotations

import io
import os
import tarfile
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given, strategies as st

from disambig.errors import UserError
from disambig.formats import BREAKS, noad as noad_files, read_document, read_labelled, read_map, read_noad

SENSE = "/dictionary/sense/d1/"
SIGNS = st.sampled_from(
    [*'<word|text="a"|break_level="NO_BREAK"|sense="s"|lemma="|/>|&#39;'.split("|"), *'<> "\n']
)


def word_xml(text, gap="SPACE", **more):
    output = "".join(f" {name}={quoteattr(value)}" for name, value in more.items())
    return f'  <word text={quoteattr(text)}{output} break_level="{gap}_BREAK"/>\n'


def doc_xml(name, *words):
    head = f'<?xml version="1.0"?>\n<!DOCTYPE d SYSTEM "x.dtd">\n<SimpleWsdDoc name={quoteattr(name)}>\n'
    path = "".join(
        word_xml(part, "NO") for part in ("/", "written", "/", "jokes", "/", name.rpartition("/")[2])
    )
    return f"{head}{path}{''.join(words)}</SimpleWsdDoc>\n"


def sensed(text, lemma, sense, pos="NOUN", gap="SPACE"):
    return word_xml(text, gap, lemma=lemma, pos=pos, sense=SENSE + sense)


WORDS = [
    word_xml("She", "PARAGRAPH"),
    sensed("saw", "see", "m2.001", "VERB"),
    word_xml("``", "SPACE"),
    sensed("Banks", "bank", "m1.003", gap="NO"),
    word_xml("''", "NO"),
    word_xml("&", "LINE"),
    sensed("well", "well", "m3.001", "ADV", gap="PARAGRAPH"),
    word_xml("!", "NO"),
    sensed("OK", "OK", "m4.001", "X", gap="SENTENCE"),
]
FILES = {
    "noad/masc/written/jokes/a.xml": doc_xml("/written/jokes/a's.txt", *WORDS),
    "noad/masc/written/jokes/b.xml": doc_xml("/written/jokes/b.txt", word_xml("Hm", "PARAGRAPH")),
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
    actual = read_noad(folder, strict=True)
    first, second = actual.documents
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
    bank = actual.labelled()[1]
    assert (bank.label, bank.word, bank.document) == ("m1.003", "bank.n", "written/jokes/a's.txt")
    assert bank.gloss == "bank%1:17:01::,bank%1:17:00::"
    assert "character 9" in bank.where


def test_the_archive_equals_the_folder_and_other_files_are_reported(folder, tmp_path):
    path = packed(tmp_path / "noad.tar.xz", FILES)
    assert read_noad(path).documents == read_noad(folder).documents
    assert [item.label for item in read_labelled(path)] == ["m2.001", "m1.003", "m3.001", "m4.001"]
    single = read_labelled(folder / "masc/written/jokes/a.xml")
    assert [item.word for item in single] == ["see.v", "bank.n", "well.r", "OK.x"]
    (folder / "masc" / "other.xml").write_text("<other/>")
    notes = []
    assert len(read_noad(folder, tell=notes.append).documents) == 2
    assert "other.xml, line 1" in notes[0] and "SimpleWsdDoc" in notes[0]
    with pytest.raises(UserError, match=r"D491.*<other"):
        read_labelled(folder / "masc" / "other.xml")


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
    for item in (path, folder):
        with pytest.raises(UserError, match="D493"):
            read_noad(item)


def test_unreadable_archives_and_empty_folders(tmp_path):
    whole = packed(tmp_path / "a.tar.xz", FILES).read_bytes()
    (tmp_path / "empty").mkdir()
    names = [("none.xml", "D300"), ("empty", "D490")]
    for number, broken in enumerate((b"", b"no archive", whole[: len(whole) // 2])):
        (tmp_path / f"{number}.tar.xz").write_bytes(broken)
        names.append((f"{number}.tar.xz", "D308"))
    for name, code in names:
        with pytest.raises(UserError, match=code):
            read_noad(tmp_path / name)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('<word text="a" break_level="NO_BREAK"\n', "does not end"),
        ('<word break_level="NO_BREAK"/>\n', "has no text"),
        (word_xml("a", "NEW"), "no known break"),
        (word_xml("a", sense="m1"), "no lemma"),
    ],
)
def test_a_broken_word_is_reported_with_its_line_or_raises(tmp_path, line, problem):
    path = tmp_path / "a.xml"
    path.write_text(doc_xml("/written/jokes/a.txt", word_xml("One", "PARAGRAPH"), line, word_xml("two")))
    notes = []
    (actual,) = read_noad(path, tell=notes.append).documents
    assert actual.text in ("One two", "One a two")
    assert len(notes) == 1 and "line 11:" in notes[0] and problem in notes[0]
    with pytest.raises(UserError, match=r"D488.*line 11:"):
        read_noad(path, strict=True)


@given(st.lists(SIGNS, max_size=30).map("".join))
def test_nothing_crashes_the_scanner(text):
    read_document('<SimpleWsdDoc name="n">' + text, "x", lambda where, problem: None)


TOKENS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)


@given(st.lists(st.tuples(TOKENS.filter(str.strip), st.sampled_from(sorted(BREAKS))), min_size=1, max_size=8))
def test_words_and_breaks_round_trip(words):
    source = doc_xml("/a.txt", *(word_xml(text, gap.removesuffix("_BREAK")) for text, gap in words))
    source = source.replace("/a.txt", "\u2020")  # a path that no word begins
    actual = read_document(source, "x", lambda where, problem: pytest.fail(problem))
    shown = {"``": '"', "''": '"'}
    texts = ["/", "written", "/", "jokes", "/", "a.txt"] + [shown.get(text, text) for text, _ in words]
    gaps = ["NO_BREAK"] * 6 + [gap for _, gap in words]
    assert actual.text == "".join(BREAKS[gap] + text for text, gap in zip(texts, gaps, strict=True))


@pytest.mark.slow
@pytest.mark.data
def test_noad_masc_is_whole():
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    actual = read_noad(f"{data}/labelled/noad-masc/noad-masc.tar.xz", strict=True)
    assert len(actual.documents) == len({item.name for item in actual.documents}) == 390
    assert sum(len(item.places) for item in actual.documents) == 136_544 - 205  # with the paths in the files
    assert len(actual.wordnet) == 18_932
    assert len({item.genre for item in actual.documents}) == 20
    assert not any(item.text.startswith("/") for item in actual.documents)
    for item in actual.documents[::40]:
        for place in item.places:
            assert not any(map(str.isspace, item.text[place.start : place.end]))


def test_keys_of_one_lemma_written_together():
    text, notes = "x/m1.003\tbe%2:42:00::;2:42:03::,be%2:42:03::, am%1\n\nx/m2\n", []
    actual = read_map(text, "map", lambda *say: notes.append(say))
    assert list(actual.values()) == [("be%2:42:00::", "be%2:42:03::", "am%1")]
    assert [where for where, _ in notes] == ["map, line 3"]
