"""Output formats: records, corrected documents, readable text; files are saved completely or not at all."""

from __future__ import annotations

import builtins
import csv
import io
import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import spacy
from annotated_documents import annotated, encode
from fake_models import annotate_texts
from hypothesis import given, strategies as st
from spacy.tokens import DocBin

from disambig.data import PrecisionPoint, PrecisionTable
from disambig.errors import UserError
from disambig.files import save_file
from disambig.formats import (
    FORMATS,
    AnnotatedDocument,
    Document,
    apply_records,
    corrected_text,
    guess_format,
    make_format,
    records,
)

result = partial(annotated, name="a/b.txt", id="an id")


def shown(name: str, *documents: AnnotatedDocument, **options) -> str:
    return encode(name, *documents, **options).decode()


def written_record(*documents: AnnotatedDocument, **options) -> dict:
    return json.loads(shown("jsonl", *documents, **options))


TEXT = "In Russia\r\n\U0001f600 During 1997 to\r2001 \N{COMBINING ACUTE ACCENT}QUITE PLACE, quite\nwith him."
PIECES = ["quite place", "Quite", "during 1997", "IN", " ", "\r\n", "\n", "\U00020000", "\u00e9", "word", '"']


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_records_are_those_of_the_decisions_shortened(monkeypatch, at_once):
    monkeypatch.setattr("disambig.formats.results._AT_ONCE", at_once)
    whole = result(TEXT)
    expected = [decisions.record(i, TEXT) for decisions in whole.decisions for i in range(len(decisions))]
    for record in expected:
        del record["model"]
    expected.sort(key=lambda record: record["start"])
    actual = list(records(whole, kept=99))
    assert [{**record, "candidates": tuple(record["candidates"])} for record in actual] == expected
    for record in records(whole, kept=1):
        names = [name for name, _ in record["candidates"]]
        assert names[0] == record["chosen"]
        assert record["observed"].lower() in names
        assert len(names) <= 2


@given(text=st.lists(st.sampled_from(PIECES)).map("".join))
def test_offsets_index_the_original_text(text):
    for record in written_record(result(text))["decisions"]:
        assert text[record["start"] : record["end"]] == record["observed"]
        assert record["observed"].lower() in [candidate["text"] for candidate in record["candidates"]]


def test_jsonl_holds_flags_models_and_other_keys(monkeypatch):
    data = shown("jsonl", result(TEXT, line=3, kind="json", meta={"id": "an id", "n": 1}))
    actual = json.loads(data)
    assert (actual["id"], actual["path"], actual["line"], actual["text"]) == ("an id", "a/b.txt", 3, TEXT)
    assert json.loads(actual["meta"]) == {"n": 1}
    assert actual["flags"] == 2 == sum(record["flagged"] for record in actual["decisions"])
    assert [entry["model"] for entry in actual["models"]] == ["fake/preposition 0.0.1", "fake/spelling 0.0.1"]
    assert written_record(result(TEXT), text=False)["text"] is None
    assert data.count("\n") == 1
    whole = shown("jsonl", result(TEXT), result("?"))
    monkeypatch.setattr("disambig.formats.jsonl._AT_ONCE", 2)  # decisions, of many
    assert shown("jsonl", result(TEXT), result("?")) == whole


@pytest.mark.parametrize("version", [1, 2])
def test_jsonl_escapes_text_that_utf8_cannot_encode(version):
    meta = written_record(result("a", meta={"odd": "\ud800"}), records=version)["meta"]
    assert (json.loads(meta) if version == 2 else meta) == {"odd": "\ud800"}
    odd = replace(annotate_texts(['quite \\ "so'])[1], task='\ud800\n"')
    record = written_record(replace(result("a"), decisions=(odd,)), records=version)
    assert record["decisions"][0]["task"] == '\ud800\n"'


def test_corrections_follow_case_and_the_more_probable_of_two_is_made():
    expected = TEXT.replace("During", "From").replace("QUITE PLACE", "QUIET PLACE")
    assert corrected_text(result(TEXT)) == expected
    text = "a quite place " * 300
    assert corrected_text(result(text)) == text.replace("quite", "quiet")
    one = result("a quite place in it")
    spelling = one.decisions[1]
    likely = spelling.probabilities + np.float32(0.05)
    other = replace(spelling, starts=spelling.starts - np.int32(2), probabilities=likely)
    for both in ((spelling, other), (other, spelling)):
        assert corrected_text(AnnotatedDocument(one.document, both)) == "quiet place in it"


def test_records_of_a_document_can_be_applied():
    record = written_record(result(TEXT), records=2)
    assert apply_records(record["text"], record["decisions"][::-1]) == corrected_text(result(TEXT)) != TEXT
    removed = {"task": "article", "start": 3, "end": 6, "observed": "The", "replacement": ""}
    records = [removed | {"flagged": flagged, "probability": 0.9} for flagged in (True, False)]
    assert apply_records("So The the end.", records) == "So The end."
    assert apply_records("So The the end.", records[1:]) == "So The the end."


def test_corrected_documents_and_lines_for_people():
    line = result("a quite place", line=1, kind="line", ending="\r\n")
    blank = result("", line=2, kind="line", ending="\n")
    assert shown("corrected", line, blank) == "a quiet place\r\n\n"
    row = result("a quite place", line=1, kind="json", meta={"id": 7, "n": None})
    record = json.loads(shown("corrected", row, field="body"))
    assert record == {"id": 7, "n": None, "body": "a quiet place"}
    assert shown("text", result(TEXT)).splitlines() == [
        "a/b.txt:2:3: During -> From (preposition, 0.90)",
        f"a/b.txt:2:{TEXT.index('QUITE') - TEXT.index(chr(0x1F600)) + 1}: QUITE -> QUIET (spelling, 0.90)",
    ]
    row = result("x\na quite place", line=5, kind="json")
    assert shown("text", row) == "a/b.txt:5:5: quite -> quiet (spelling, 0.90)\n"


def measured(text: str, flags: int) -> AnnotatedDocument:
    """Return a document with measured precision: 8 in 10 flags are right."""
    point = PrecisionPoint(0.0, 0.8, 0.7, 0.9, round(0.8 * flags), 0, round(0.2 * flags))
    whole = result(text)
    tables = [PrecisionTable(item.task, "a text", 5.0, (point,)) for item in whole.decisions]
    pairs = zip(whole.decisions, tables, strict=True)
    return AnnotatedDocument(whole.document, tuple(replace(item, trust=table) for item, table in pairs))


@pytest.mark.parametrize(
    ("flags", "share", "short"), [(100, "80 %", "80\u00a0%"), (20, "about 8 in 10", "about 80\u00a0%")]
)
def test_the_measured_share_is_shown_where_it_is_known(flags, share, short):
    one = measured("a quite place", flags)
    assert shown("text", one) == f"a/b.txt:1:3: quite -> quiet (spelling, {share} right)\n"
    page = shown("html", one)
    assert f'data-p="{short}"' in page
    assert f"{share.replace(' %', chr(0xA0) + '%')} of such flags are right" in page
    assert "90\u00a0%" not in page  # the probability
    (decision,) = [decision for decision in written_record(one)["decisions"] if decision["flagged"]]
    assert (decision["precision"], decision["precision_flags"]) == (0.8, flags)
    (row,) = [row for row in csv_rows(one) if row["flagged"] == "true"]
    assert (row["rule"], row["precision"]) == ("spelling", "0.8")


def csv_rows(result: AnnotatedDocument) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(shown("csv", result))))


def test_records_and_tables_without_measured_precision():
    decisions = written_record(result(TEXT))["decisions"]
    assert {(d["precision"], d["precision_flags"]) for d in decisions} == {(-1.0, 0)}
    assert {row["precision"] for row in csv_rows(result(TEXT))} == {""}


def test_labels_have_one_line_each_in_text():
    (decisions,) = annotate_texts(["Quite\na quiet place"], ["spelling"])
    group = replace(decisions.table[0], glosses=("gloss%1", ""))
    labels = replace(decisions, table=(group,), observed=np.full(len(decisions), -1, np.int32))
    document = Document("an id", "Quite\na quiet place", "a.txt")
    assert shown("text", AnnotatedDocument(document, (labels,))).splitlines() == [
        "a.txt:1:1: Quite: quite (spelling, 0.10, gloss%1)",
        "a.txt:2:3: quiet: quiet (spelling, 0.10)",
    ]
    words = annotate_texts(["Quite\na quiet place"])  # another task found no word: these are not only labels
    for others in (words[:1], [labels, words[0]]):
        assert shown("text", AnnotatedDocument(document, tuple(others))) == ""


def test_spacy_docs_of_several_chunks_are_joined():
    data = encode("spacy", result(TEXT), result("a quite place", meta={"n": 1}), chunks=2)
    docs = list(DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab))
    assert [doc.text for doc in docs] == [TEXT, "a quite place"]
    assert [span.label_ for span in docs[1].spans["spelling"]] == ["quiet"]
    assert docs[1].user_data["meta"] == {"n": 1}


def test_formats_have_names_and_the_output_says_which():
    assert [make_format(name).name for name in FORMATS] == list(FORMATS)
    with pytest.raises(UserError, match=r"D601.*available: jsonl"):
        make_format("json")
    assert guess_format(None, terminal=True) == "text"
    assert guess_format(None, terminal=False) == "jsonl"
    for path, name in (("a.spacy", "spacy"), ("a.txt", "text"), ("a.jsonl.gz", "jsonl")):
        assert guess_format(path, terminal=False) == name


def test_files_are_saved_whole_or_not_at_all(tmp_path):
    with pytest.raises(RuntimeError), save_file(tmp_path / "a.txt") as write:
        write(b"half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with save_file(tmp_path / "a.txt.gz") as write:
        write(b"whole")
        assert not (tmp_path / "a.txt.gz").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt.gz"]


def test_an_interrupt_after_a_file_is_created_leaves_no_files(tmp_path, monkeypatch):
    def interrupted(file, name):
        assert len(list(tmp_path.iterdir())) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr("disambig.files.saving.pack", interrupted)
    with pytest.raises(KeyboardInterrupt), save_file(tmp_path / "a.txt"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif("not __import__('os').path.exists('/dev/full')")
def test_a_full_disk_is_a_one_line_error_and_leaves_no_files(tmp_path, monkeypatch):
    real = builtins.open

    def on_a_full_disk(path, mode="r"):
        return real("/dev/full", "wb") if "x" in mode else real(path, mode)

    monkeypatch.setattr(builtins, "open", on_a_full_disk)
    for name in ("a.jsonl", "a.jsonl.gz"):
        full = pytest.raises(UserError, match=r"D309.*a.jsonl.*No space left")
        with full, save_file(tmp_path / name) as write:
            write(b"x" * 100_000)
    assert list(tmp_path.iterdir()) == []
