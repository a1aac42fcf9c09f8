"""Output formats: records and their schema, corrected documents, readable text; files are whole or absent."""

from __future__ import annotations

import builtins
import csv
import io
import json
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import spacy
from fake_models import annotate_texts
from format_samples import annotated, annotated as annotated_document, encode
from hypothesis import given, strategies as st
from spacy.tokens import DocBin

from disambig.data import Alternative, CandidateLists, OverlapResolution, PrecisionPoint, PrecisionTable
from disambig.errors import UserError
from disambig.files import save_file
from disambig.formats import (
    FORMATS,
    AnnotatedDocument,
    Document,
    apply_records,
    arrow_schema,
    corrected_text,
    guess_format,
    make_format,
    record_schema,
    record_schema_text,
    records,
)
from disambig.text import ForeignParagraph

result = partial(annotated, name="a/b.txt", id="an id")


def shown(name: str, *documents: AnnotatedDocument, **options) -> str:
    return encode(name, *documents, **options).decode()


def written_record(*documents: AnnotatedDocument, **options) -> dict:
    return json.loads(shown("jsonl", *documents, **options))


TEXT = "In Russia\r\n\U0001f600 During 1997 to\r2001 \N{COMBINING ACUTE ACCENT}QUITE PLACE, quite\nwith him."
PIECES = ["quite place", "Quite", "during 1997", "IN", " ", "\r\n", "\n", "\U00020000", "\u00e9", "word", '"']


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_records_are_those_of_the_decisions_shortened(monkeypatch, at_once):
    monkeypatch.setattr("disambig.formats.jsonl._DECISIONS_PER_SLICE", at_once)
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
    monkeypatch.setattr("disambig.formats.jsonl._DECISIONS_PER_BLOCK", 2)  # decisions, of many
    assert shown("jsonl", result(TEXT), result("?")) == whole


@pytest.mark.parametrize("version", [1, 2])
def test_jsonl_escapes_text_that_utf8_cannot_encode(version):
    meta = written_record(result("a", meta={"odd": "\ud800"}), records=version)["meta"]
    assert (json.loads(meta) if version == 2 else meta) == {"odd": "\ud800"}
    if version == 2:
        assert meta == '{"odd": "\\ud800"}'  # pyarrow and DuckDB would refuse half a surrogate pair
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


MEETING = "We met during 1997 in\na quite place.\n"


def meeting(text: str = MEETING, **more) -> AnnotatedDocument:
    return annotated_document(text, **more)


def with_alternative(result: AnnotatedDocument) -> AnnotatedDocument:
    """Return the document with a suggestion of another task for its first flag."""
    preposition, spelling = result.decisions
    (row, *_) = np.flatnonzero(preposition.flagged).tolist()
    other = Alternative("slip", 7, 13, "until", 0.25)
    settled = OverlapResolution(np.zeros(0, np.int64), np.array([row]), (other,))
    return replace(result, decisions=(replace(preposition, settled=settled), spelling))


def with_lists(result: AnnotatedDocument) -> AnnotatedDocument:
    """Return the document with per-instance candidate lists at its places."""
    (spelling,) = result.decisions[1:]
    lists = CandidateLists.from_texts([("quite", "quiet")] * len(spelling))
    return replace(result, decisions=(replace(spelling, lists=lists),))


def with_labels(result: AnnotatedDocument) -> AnnotatedDocument:
    (spelling,) = result.decisions[1:]
    group = replace(spelling.table[0], glosses=("quite%1", "quiet%1"))
    labels = replace(spelling, table=(group,), observed=np.full(len(spelling), -1, np.int32))
    return replace(result, decisions=(labels,))


MIXED = [
    meeting(),
    meeting(kind="line", line=3, name="lines.txt:3"),
    meeting(kind="json", line=1, name="7", meta={"id": 7, "n": 1, "meta": {"author": "x"}}),
    meeting(kind="json", line=2, name="rows.jsonl:2", meta={"n": "one", "deep": {"a": [1, {}]}}),
    meeting(kind="csv", line=2, name="rows.csv:2", meta={"n": "1"}),
    meeting(kind="spacy", line=1, name="docs.spacy:1"),
    meeting("Nothing to decide.\n"),
    with_alternative(meeting()),
    with_labels(meeting()),
    with_lists(meeting()),
    replace(meeting(f"{MEETING}\nEin Haus.\n"), foreign=(ForeignParagraph(39, 48, "de"),)),
    meeting(name="caf\udce9.txt"),  # a file name in Latin-1
]


def encode_lines(results=MIXED, **options) -> bytes:
    return make_format("jsonl", **options).encode(results)


def written_rows(results=MIXED, **options) -> list[dict]:
    return [json.loads(line) for line in encode_lines(results, **options).splitlines()]


def collect_keys(schema: dict) -> dict:
    """Return the keys of objects in a JSON Schema, in order."""
    if "properties" in schema:
        return {key: collect_keys(value) for key, value in schema["properties"].items()}
    return collect_keys(schema["items"]) if "items" in schema else {}


def test_records_of_all_inputs_fit_the_schema_and_keep_its_order():
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    validator.check_schema(record_schema())
    check = validator(record_schema()).validate
    parts = record_schema()["properties"]
    parts |= parts["decisions"]["items"]["properties"]
    names = collect_keys(record_schema())
    for row in [*written_rows(), *written_rows(text=False)]:
        check(row)
        assert list(row) == list(names)  # always in the same order
        for key in ("meta", "other_languages"):
            validator(parts[key]["contentSchema"]).validate(json.loads(row[key]))
        for decision in row["decisions"]:
            validator(parts["alternatives"]["contentSchema"]).validate(json.loads(decision["alternatives"]))
            assert list(decision) == list(names["decisions"])
            for candidate in decision["candidates"]:
                assert list(candidate) == list(names["decisions"]["candidates"])


def objects_in(schema):
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for value in schema.values():
            yield from objects_in(value)


def test_every_key_of_the_schema_is_required_and_no_other_is_allowed():
    for schema in objects_in(record_schema()):
        assert schema["required"] == list(schema["properties"])
        assert schema["additionalProperties"] is False
        assert all(value["description"] for value in schema["properties"].values())
    assert json.loads(record_schema_text()) == record_schema()  # a file of the package
    name = record_schema()["properties"]["schema"]["const"]
    assert {row["schema"] for row in written_rows()} == {name}


def test_values_of_a_record():
    row = written_rows()[7]
    flag = next(decision for decision in row["decisions"] if decision["flagged"])
    assert flag["candidates"][0] == {"text": "from", "score": 2.25}
    (other,) = json.loads(flag["alternatives"])
    assert other == {"task": "slip", "start": 7, "end": 13, "replacement": "until", "probability": 0.25}
    assert flag["rule"] == "preposition"
    assert {decision["rule"] for decision in row["decisions"] if not decision["flagged"]} == {""}
    assert (row["schema"], row["line"], row["flags"]) == ("disambig/records/2", 1, 2)
    named = {entry["task"]: entry["model"] for entry in row["models"]}
    assert named == {task: f"fake/{task} 0.0.1" for task in ("preposition", "spelling")}
    assert json.loads(written_rows()[10]["other_languages"]) == [{"start": 39, "end": 48, "language": "de"}]
    assert {decision["gloss"] for decision in written_rows()[8]["decisions"]} == {"quiet%1"}
    assert {decision["rank"] for decision in written_rows()[9]["decisions"]} == {1}
    assert written_rows()[-1]["path"] == "caf\\udce9.txt"
    assert {row["text"] for row in written_rows(text=False)} == {None}


@pytest.mark.parametrize(
    ("keys", "meta"),
    [
        ({"id": 1, "n": 1}, {"n": 1}),
        ({"id": None, "n": 1}, {"n": 1}),
        ({"id": {"a": 1}}, {"id": {"a": 1}}),
        ({"id": True}, {"id": True}),
        ({"meta": {"author": "x"}}, {"author": "x"}),
        ({"n": 1, "meta": {"author": "x"}}, {"n": 1, "author": "x"}),
        ({"n": 1, "meta": {"n": 2}}, {"n": 1, "meta": {"n": 2}}),
        ({"meta": "note"}, {"meta": "note"}),
        ({"n": float("nan"), "m": [float("inf"), {"k": -1.5}]}, {"n": None, "m": [None, {"k": -1.5}]}),
        ({"odd": "\ud800"}, {"odd": "\ud800"}),
    ],
)
def test_meta_has_the_other_keys_of_the_input_once(keys, meta):
    (row,) = written_rows([meeting(kind="json", line=1, id="1", meta=keys)])
    assert json.loads(row["meta"]) == meta


@pytest.mark.parametrize("version", [1, 2])
def test_a_record_read_again_keeps_only_its_metadata(version):
    before = meeting(kind="json", line=4, meta={"n": 1})
    (record,) = written_rows([replace(before, foreign=(ForeignParagraph(0, 2, "de"),))], records=version)
    del record["text"]
    (row,) = written_rows([meeting(kind="json", line=1, meta={**record, "label": "x"})])
    assert json.loads(row["meta"]) == {"n": 1, "label": "x"}
    assert len(row["decisions"]) == len(record["decisions"])


def test_the_former_records_can_still_be_written():
    old, new = (
        written_rows([meeting(line=3, kind="json", meta={"n": 1})] * 2, records=1)[0],
        written_rows()[2],
    )
    assert list(old) == ["id", "path", "line", "text", "meta", "models", "flags", "decisions"]
    assert old["meta"] == {"n": 1} and isinstance(old["models"], dict)
    for before, after in zip(old["decisions"], new["decisions"], strict=True):
        assert before["candidates"] == [[one["text"], one["score"]] for one in after["candidates"]]
        assert before["probability"] == after["probability"]
    with pytest.raises(UserError, match=r"D530.*1, 2"):
        make_format("jsonl", records=3)


def test_the_arrow_schema_has_the_keys_of_the_json_schema():
    pytest.importorskip("pyarrow")
    schema, keys = arrow_schema(), collect_keys(record_schema())
    assert schema.names == list(keys)
    decisions = schema.field("decisions").type.value_type
    names = [decisions.field(i).name for i in range(decisions.num_fields)]
    assert names == list(keys["decisions"])


def test_without_pyarrow_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"D531.*pyarrow"):
        arrow_schema()


def test_pyarrow_reads_records(tmp_path):
    reader = pytest.importorskip("pyarrow.json")
    path = tmp_path / "mixed.jsonl"
    common = [meeting(), meeting(kind="json", line=1, meta={"n": 1})]
    many = [meeting(MEETING * 20), *common] * 6
    block = encode_lines(many)
    n_blocks = 15_000_000 // len(block) + 1
    # the rare values come last, after the types have been inferred
    path.write_bytes(block * n_blocks + encode_lines(MIXED))
    table = reader.read_json(path)
    assert table.num_rows == n_blocks * len(many) + len(MIXED)
    assert table.schema.equals(arrow_schema())
    options = reader.ParseOptions(explicit_schema=arrow_schema(), unexpected_field_behavior="error")
    exact = reader.read_json(path, parse_options=options)
    assert exact.schema.equals(arrow_schema())
    assert exact.column("text").to_pylist()[-2] == f"{MEETING}\nEin Haus.\n"
