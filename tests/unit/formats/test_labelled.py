"""Labelled examples: tables, JSON Lines, folders and XML; marked places; errors with their line."""

from __future__ import annotations

import csv
import gzip
import json
import os

import pytest
from format_samples import CORPUS, corpus, instance
from hypothesis import given, strategies as st

from disambig.errors import UserError
from disambig.formats import Labelled, place_at_mark, read_labelled, remove_marks

PLAIN = st.text(
    st.characters(exclude_characters="[]\t\n\r\x00\ufeff", exclude_categories=["Cs"]), max_size=12
)


def write(path, *rows):
    """Write lines of text, or objects as lines of JSON; return the path."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf8", newline="")
    return path


@given(st.lists(st.tuples(PLAIN, PLAIN, PLAIN, PLAIN, PLAIN), min_size=1, max_size=4))
def test_columns_and_json_give_the_same(tmp_path_factory, examples):
    folder = tmp_path_factory.mktemp("labelled")
    columns, lines, expected = [], [], []
    for before, inside, after, label, document in examples:
        columns.append(f"{before}[[{inside}]]{after}\t{label}\t{document}")
        text, end = before + inside + after, len(before) + len(inside)
        place = {"start": len(before), "end": end, "label": label}
        lines.append(json.dumps({"text": text, "document": document, "places": [place]}))
        expected.append((text, len(before), end, label.strip(), document or text))
    (folder / "a.tsv").write_bytes("\n".join(columns).encode())
    (folder / "a.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    for name in ("a.tsv", "a.jsonl.gz"):
        actual = read_labelled(folder / name)
        assert [(e.text, e.start, e.end, e.label, e.document) for e in actual] == expected


def test_documents_without_a_name_and_with_a_quoted_header(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("\ufeffWas [[it]] you?\treferential\r\n\nA [[]] b\t\n", encoding="utf8")
    first, second = read_labelled(path)
    assert first == Labelled("Was it you?", 4, 6, "referential", "Was it you?", f"{path}, line 1")
    assert (second.text, second.start, second.end, second.label) == ("A  b", 2, 2, "")
    path = write(tmp_path / "a.tsv", '"text"\t"label"\r\n"A ball."\t"sport"\r\n')
    assert as_tuples(read_labelled(path)) == [("A ball.", 0, 7, "sport")]


def test_a_text_may_name_its_domain_and_be_marked_as_selected(tmp_path):
    place, file = {"start": 0, "end": 2, "label": "no"}, tmp_path / "a.jsonl"
    one, two = (
        {"text": "it rains", "domain": "letters"},
        {"text": "it rains", "label": "no", "domain": "news"},
    )
    rows = {**one, "places": [place, place]}, two, {"text": "it rains", "label": "no"}
    assert [item.domain for item in read_labelled([write(file, *rows)])] == ["letters", "letters", "news", ""]
    row = {"text": "it rains", **place}
    assert [e.picked for e in read_labelled([write(file, row, row | {"picked": True})])] == [False, True]
    for wrong in ({"domain": 3}, {"picked": "yes"}):
        with pytest.raises(UserError, match=rf"D460.*{next(iter(wrong))}"):
            read_labelled([write(file, row | wrong)])


TEXT = st.text(st.characters(exclude_characters="\x00\ufeff\r", exclude_categories=["Cs"]), max_size=20)
LABEL = st.sampled_from(["sport", "cooking", "Wetter, schön"])


def as_tuples(examples):
    return [(e.text, e.start, e.end, e.label) for e in examples]


@given(st.lists(st.tuples(TEXT, LABEL), min_size=1, max_size=5))
def test_folders_tables_and_json_give_the_same(tmp_path_factory, documents):
    home = tmp_path_factory.mktemp("documents")
    documents = sorted(documents, key=lambda pair: pair[1])
    for number, (text, label) in enumerate(documents):
        (home / "folders" / label).mkdir(parents=True, exist_ok=True)
        (home / "folders" / label / f"{number:03}").write_bytes(text.encode())
    for name, delimiter in (("a.csv", ","), ("b.csv", ";"), ("c.tsv", "\t")):
        with open(home / name, "w", encoding="utf8", newline="") as file:
            rows = csv.writer(file, delimiter=delimiter)
            rows.writerows([("id", "text", "label"), *((i, *row) for i, row in enumerate(documents))])
    lines = [json.dumps({"text": text, "label": label}) for text, label in documents]
    (home / "d.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    expected = [(text, 0, len(text), label) for text, label in documents]
    for name in ("folders", "a.csv", "b.csv", "c.tsv", "d.jsonl.gz"):
        assert as_tuples(read_labelled(home / name)) == expected, name


def test_folders_hold_documents_at_any_depth_and_nothing_hidden(tmp_path):
    for name in "b/x.txt b/in/y a/z.md a/.hidden .git/config README.md a/.cache/q".split():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    actual = read_labelled(tmp_path)
    assert [(e.text, e.label) for e in actual] == [("a/z.md", "a"), ("b/x.txt", "b"), ("b/in/y", "b")]
    assert actual[0].document == actual[0].where == str(tmp_path / "a" / "z.md")


def test_several_sources_add_up_and_the_document_column_is_kept(tmp_path):
    (tmp_path / "a.csv").write_text("label,document,text\nsport,one,A ball.\nsport,,Another.\n")
    (tmp_path / "b.jsonl").write_text('{"text": "Bread.", "label": "cooking", "document": "two"}\n')
    actual = read_labelled([tmp_path / "a.csv", tmp_path / "b.jsonl"])
    assert [e.document for e in actual] == ["one", "Another.", "two"]
    assert actual[0].where == f"{tmp_path / 'a.csv'}, line 2"


def test_another_encoding_must_be_given(tmp_path):
    (tmp_path / "food").mkdir()
    (tmp_path / "food" / "1").write_bytes("Crème brûlée".encode("latin-1"))
    with pytest.raises(UserError, match=r"D469.*food.1: not utf-8: byte 0xe8 at offset 2;.*--encoding"):
        read_labelled(tmp_path)
    assert read_labelled(tmp_path, encoding="latin-1")[0].text == "Crème brûlée"
    (tmp_path / "a.csv").write_bytes("text,label\nCrème,food\n".encode("utf-16"))
    assert read_labelled(tmp_path / "a.csv", encoding="utf-16")[0].text == "Crème"
    with pytest.raises(UserError, match=r"D469.*ascii"):
        read_labelled(tmp_path, encoding="ascii")
    for name in ("latin-99", "hex", "undefined", "a\0b"):
        with pytest.raises(UserError, match="D470"):
            read_labelled(tmp_path, encoding=name)
    with pytest.raises(UserError, match=r"food.1.*not punycode"):
        read_labelled(tmp_path, encoding="punycode")


@pytest.mark.parametrize(
    ("text", "written", "read", "hint"),
    [
        ("Une crème brûlée très légère à Orléans.", "latin-1", "utf-8", "latin-1"),
        ("He said \u201cyes\u201d \u2013 twice.", "cp1252", "utf-8", "cp1252"),
        ("これは日本語の文章です。", "shift_jis", "utf-8", "shift_jis"),
        ("これは日本語の文章です。", "euc_jp", "utf-8", "euc-jp"),
        ("Une crème brûlée très légère.", "utf-8", "ascii", "utf-8"),
        ("Это предложение написано по-русски.", "koi8-r", "utf-8", "ENCODING"),
    ],
)
def test_the_likely_encoding_is_an_example(tmp_path, text, written, read, hint):
    (tmp_path / "a.csv").write_bytes(f"text,label\n{text},a\n".encode(written))
    with pytest.raises(UserError, match=rf"D469.*not {read}: .*, such as --encoding {hint}$"):
        read_labelled(tmp_path / "a.csv", encoding=read)
    if hint != "ENCODING":
        assert read_labelled(tmp_path / "a.csv", encoding=hint)[0].text == text


def test_blanks_around_a_label_are_not_part_of_it(tmp_path):
    place = {"start": 4, "end": 8, "label": " shore\n", "word": " bank.n"}
    write(tmp_path / "a.csv", "text,label\nA ball., sport \n")
    write(tmp_path / "b.jsonl", {"text": "A ball.", "label": " sport "})
    write(tmp_path / "c.tsv", "The [[bank]] was steep.\tshore \nA [[]] gap.\t \n")
    write(tmp_path / "d.jsonl", {"text": "The bank.", "places": [place, place | {"label": ""}]})
    for name, labels in (("a.csv", ["sport"]), ("b.jsonl", ["sport"]), ("c.tsv", ["shore", ""])):
        assert [e.label for e in read_labelled(tmp_path / name)] == labels
    words = [(item.label, item.word) for item in read_labelled(tmp_path / "d.jsonl")]
    assert words == [("shore", "bank.n"), ("", "bank.n")]


PLACE = '"text": "a", "start": 0, "end": 1'


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.tsv", "\nno marks\tx", "line 2.*one place"),
        ("a.tsv", "\n[[a]] [[b]]\tx", "line 2.*one place"),
        ("a.tsv", "\n]]a[[\tx", "line 2.*one place"),
        ("a.tsv", "\n[[a]]", "line 2.*1 column instead"),
        ("a.tsv", "\n[[a]]\tb\tc\td", "line 2.*4 columns"),
        ("a.tsv", "\n \n", "D461"),
        ("a.tsv", "some text\tsport\n", "D460.*line 1.*text and label"),
        ("a.tsv", "text\tlabel\ttext\na\tb\tc\n", "D460.*'text' occurs twice"),
        ("a.jsonl", "\n{", "line 2.*not JSON"),
        ("a.jsonl", "\n" + "[" * 100_000, "line 2.*not JSON"),
        ("a.jsonl", "\n[]", 'line 2.*not an object with a "text"'),
        ("a.jsonl", '\n{"text": "a", "start": 0}', "line 2.*as whole numbers"),
        ("a.jsonl", '\n{"text": "a", "start": 0, "end": true, "label": "x"}', "line 2.*as whole numbers"),
        (
            "a.jsonl",
            '\n{"text": "a", "start": 0, "end": 2, "label": "x"}',
            "line 2.*not a range in 1 characters",
        ),
        ("a.jsonl", '\n{"text": "a", "places": 3}', "line 2.*not a list"),
        ("a.jsonl", '\n{"text": "a", "places": [3]}', "line 2.*as whole numbers"),
        ("a.jsonl", '{"text": "a", "label": 3}', 'D460.*line 1.*"label"'),
        ("a.jsonl", '{"text": "a"}', 'D460.*line 1.*"label"'),
        ("a.jsonl", '{"text": "a", "label": ""}', "D460.*label is empty"),
        ("a.jsonl", '{"text": "a", "label": "\\ud800"}', "D460.*surrogate.*label"),
        ("a.jsonl", f'{{{PLACE}, "label": "\\ud800"}}', "D460.*surrogate.*label"),
        ("a.jsonl", f'{{{PLACE}, "label": "x", "word": "\\ud800"}}', "D460.*surrogate.*word"),
        ("a.jsonl", f'{{{PLACE}, "label": "x", "gloss": "\\ud800"}}', "D460.*surrogate.*gloss"),
        ("a.csv", "a,b\n1,2\n", "D471.*no column 'text', only 'a', 'b'"),
        ("a.csv", "text;topic\n1;2\n", "D471.*no column 'label', only 'text', 'topic'"),
        ("a.csv", "text,label,label\na,b,c\n", "D460.*'label' occurs twice"),
        ("a.csv", "document,text,label,document\na,b,c,d\n", "D460.*'document' occurs twice"),
        ("a.csv", "text,label\na\n", "D326.*line 2.*1 field"),
        ("a.csv", 'text,label\n"a,b\n', "D326.*never ends"),
        ("a.csv", "text,label\na, \n", "D460.*line 2.*label is empty"),
        ("a.csv", "", "D302"),
        ("a.csv", "text,label\n", "D461"),
        ("a.csv", "text,label\na\0b,x\n", "D303"),
        # all invalid lines are named
        (
            "a.tsv",
            "no\tx\n[[a]]\tx\n[[a]]\n\n[[a]] [[b]]\tx\n",
            "line 1: no place.*; 2 more lines are invalid: 3, 5$",
        ),
        ("a.jsonl", '[]\n{"text": "a", "label": "x"}\n{', 'line 1: .*"text"; 1 more line is invalid: 3$'),
        (
            "a.csv",
            "text,label\na\nb,x\nc, \n",
            "D326.*line 2: 1 field, .*; 1 more line is invalid: 4; correct",
        ),
        (
            "a.csv",
            "text,label,word\na,x,y\n[[b]],x,y\nc,x\n",
            "D460.*line 2: no .*; 1 more line is invalid: 4$",
        ),
        ("a.jsonl", "[]\n" * 12, "line 1: .*; 11 more lines are invalid: 2, 3, 4, 5, 6, 7, 8, 9, [.][.][.]$"),
    ],
)
def test_invalid_examples_are_errors(tmp_path, name, content, problem):
    with pytest.raises(UserError, match=problem):
        read_labelled(write(tmp_path / name, content))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, "D300"),
        (b"[[\xff]]\ta", r"D469.*a\.tsv.*0xff at offset 2.*--encoding"),
        (b"\x89PNG\r\n\x1a\n\0\0", r"D303.*NUL byte at offset 8$"),
        ("text\tlabel\nCrème\tfood\n".encode("utf-16"), r"D303.*--encoding utf-16"),
        ("text\tlabel\nCrème\tfood\n".encode("utf-32"), r"D303.*--encoding utf-32"),
        ("日本語".encode("utf-16"), r"D469.*--encoding utf-16"),
    ],
    ids=["missing", "not UTF-8", "picture", "UTF-16", "UTF-32", "UTF-16 without NUL"],
)
def test_names_unreadable_files(tmp_path, data, problem):
    if data is not None:
        (tmp_path / "a.tsv").write_bytes(data)
    with pytest.raises(UserError, match=problem):
        read_labelled(tmp_path / "a.tsv")


def test_directories_without_folders_or_documents_are_named(tmp_path):
    (tmp_path / "a.txt").write_text("no label")
    with pytest.raises(UserError, match="D468"):
        read_labelled(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"D461.*empty"):
        read_labelled(tmp_path)
    (tmp_path / "a").mkdir()
    for name in ("a/1", "empty/.hidden"):
        (tmp_path / name).write_text("A ball.")
    with pytest.raises(UserError, match=r"D461.*empty"):
        read_labelled(tmp_path)
    (tmp_path / "empty" / "b").write_bytes(b"\x00\x01")
    with pytest.raises(UserError, match=r"D303.*empty.b"):
        read_labelled(tmp_path)


def test_an_unreadable_folder_of_a_label_is_named(tmp_path, monkeypatch):
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    (tmp_path / "a" / "locked").mkdir(parents=True)
    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(UserError, match=r"D308.*a.locked: Permission denied"):
        read_labelled(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_and_dangling_links_among_documents_are_named(tmp_path):
    (tmp_path / "a").mkdir()
    os.mkfifo(tmp_path / "a" / "1")  # which would block a reader
    with pytest.raises(UserError, match=r"D308.*a.1.*not a regular file"):
        read_labelled(tmp_path)
    (tmp_path / "a" / "1").unlink()
    (tmp_path / "a" / "1").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError, match="D300"):
        read_labelled(tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("The bank.", r"no place is marked: put one place between \[\[ and \]\]"),
        ("The bank]].", "no place is marked"),
        ("The [[bank]] and a [[bank]].", "2 places are marked .*repeat the text for each"),
        ("The [[bank.", r"a \[\[ has no \]\] after it: put one place"),
        ("The [[bank [[bank]].", r"a \[\[ has no \]\]"),
        ("The [[bank]] and a [[bank.", r"a \[\[ has no \]\]"),
        ("The [[[[bank]]]].", r"a \[\[ has no \]\]"),
        ("The [[bank]] x]].", r"a \]\] has no \[\["),
    ],
)
def test_errors_in_marks(text, problem):
    with pytest.raises(UserError, match=rf"D460.*a\.tsv, line 1: {problem}"):
        remove_marks(text, "a.tsv, line 1")


@given(st.text("[]a", max_size=12))
def test_marks_give_one_place_or_an_error(text):
    example = Labelled(text, 0, len(text), "x", text)
    try:
        read = place_at_mark(example)
    except UserError as error:
        assert error.code == "D460" and "[[" in text
        return
    if "[[" not in text:
        assert read is example
        return
    assert read.document == read.text
    assert read.text[: read.start] + "[[" + read.text[read.start : read.end] + "]]" in text
    assert len(read.text) == len(text) - 4


def test_a_mark_in_a_whole_text_is_that_of_its_place(tmp_path):
    rows = [("The [[bank]].", "shore"), ("No mark.", "money")]
    with open(tmp_path / "a.csv", "w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    write(tmp_path / "a.tsv", *map("\t".join, [("text", "label"), *rows]))
    write(tmp_path / "a.jsonl", *({"text": text, "label": label, "word": "bank.n"} for text, label in rows))
    for name, word in (("a.csv", ""), ("a.tsv", ""), ("a.jsonl", "bank.n")):
        first, second = read_labelled(tmp_path / name)
        assert (first.text, first.start, first.end) == ("The [[bank]].", 0, 13)  # documents keep it
        actual = place_at_mark(first)
        assert actual == Labelled("The bank.", 4, 8, "shore", "The bank.", first.where, word)
        assert place_at_mark(actual) is actual and place_at_mark(second) is second
        assert second.word == ""
    with_document = Labelled("The [[bank]].", 0, 13, "shore", "mine")
    assert place_at_mark(with_document).document == "mine"
    part = Labelled("The [[bank]].", 6, 10, "shore", "")
    assert place_at_mark(part) is part


@pytest.mark.parametrize(("name", "sign"), [("a.tsv", "\t"), ("a.csv", ",")])
def test_marks_are_places_in_a_table_with_a_column_of_words_only(tmp_path, name, sign):
    rows = [("text", "label", "word", "document"), ("The [[bank]] was steep.", "shore", "bank.n", "d1")]
    rows.append(("Its [[banks]] closed.", " money", "", ""))
    path = write(tmp_path / name, *map(sign.join, rows))
    assert read_labelled(path) == [
        Labelled("The bank was steep.", 4, 8, "shore", "d1", f"{path}, line 2", "bank.n"),
        Labelled("Its banks closed.", 4, 9, "money", "Its banks closed.", f"{path}, line 3", ""),
    ]
    path.write_text(path.read_text().replace("[[banks]]", "banks"))
    with pytest.raises(UserError, match=r"D460.*line 3"):
        read_labelled(path)
    (only,) = read_labelled(write(path, sign.join(("text", "label")), sign.join(("The [[bank]].", "x"))))
    assert (only.text, only.start, only.end, only.word) == ("The [[bank]].", 0, 13, "")


def test_json_names_words_and_glosses(tmp_path):
    path = tmp_path / "a.jsonl"
    place = {"start": 4, "end": 8, "label": "shore", "word": "bank.n", "gloss": "bank%1:17:01::"}
    write(path, {"text": "The bank.", "places": [place, place | {"word": None, "gloss": None}]})
    first, second = read_labelled(path)
    assert (first.word, first.gloss, second.word, second.gloss) == ("bank.n", "bank%1:17:01::", "", "")
    with pytest.raises(UserError, match=r"D460.*line 1"):
        read_labelled(write(path, {"text": "The bank.", **place, "word": 3}))
    for text in ("A ball.", "A [[ball]]."):  # in a whole document, any word is accepted
        (only,) = read_labelled(write(path, {"text": text, "label": "sport", "word": 3}))
        assert only.word == ""


def test_senseval_gives_the_instances_that_have_a_sense(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(CORPUS, encoding="iso-8859-1")
    actual = read_labelled(path, tell=lambda message: None)
    assert [item.also for item in actual] == [(), ("money%1",), (), ()]
    assert [item.word for item in actual] == ["bank.n", "bank.n", "call.v", "call.v"]
    assert [item.label for item in actual] == ["shore%1", "P", "call_up%2", "U"]
    path = tmp_path / "EnglishLS.train.xml"
    name = "smell.v.bnc.00000042"
    text = corpus(
        smell_v=[instance(name, "It <head>smelt</head> of R & D , <b .", ["1913001"], ' docsrc="BNC"')]
    )
    path.write_text(text.replace("<corpus", '<!DOCTYPE corpus SYSTEM "lexical-sample.dtd">\n<corpus'))
    (only,) = read_labelled(path, strict=True)
    assert (only.text, only.word, only.label) == ("It smelt of R & D , <b .", "smell.v", "1913001")
    assert (only.text[only.start : only.end], only.document) == ("smelt", name)


def test_broken_instances_other_xml_and_a_test_without_answers(tmp_path):
    path, bank = tmp_path / "a.xml", instance("1", "A <head>bank</head>.", ["s"])
    write(path, corpus(bank_n=[bank, instance("2", "None.", ["s"])]))
    notes = []
    assert len(read_labelled(path, tell=notes.append)) == len(notes) == 1
    assert len(read_labelled(path)) == 1
    with pytest.raises(UserError, match="D488"):
        read_labelled(path, strict=True)
    notes = []
    write(path, corpus(bank_n=[bank, *(instance(n, "A <head>bank</head>.") for n in "23")]))
    assert len(read_labelled(path, tell=notes.append)) == len(read_labelled(path, strict=True)) == 1
    assert notes == [f"[D489] {path}: left out: 2 instances without an answer"]
    without = corpus(bank_n=[instance("1", "A <head>bank</head>.")])
    for text, code in (("<html><p>x</p></html>", "D491"), ("nothing", "D491"), (without, "D461")):
        with pytest.raises(UserError, match=code):
            read_labelled(write(path, text))
