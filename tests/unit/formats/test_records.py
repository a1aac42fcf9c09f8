"""Records have the same schema for any input, and data tools read them."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from annotated_documents import annotated as annotated_document

from disambig.data import Alternative, CandidateLists, OverlapResolution
from disambig.errors import UserError
from disambig.formats import (
    AnnotatedDocument,
    arrow_schema,
    make_format,
    record_schema,
    record_schema_text,
)
from disambig.text import ForeignParagraph

TEXT = "We met during 1997 in\na quite place.\n"


def annotated(text: str = TEXT, **more) -> AnnotatedDocument:
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
    return replace(result, decisions=(replace(spelling, own=lists),))


def with_labels(result: AnnotatedDocument) -> AnnotatedDocument:
    (spelling,) = result.decisions[1:]
    group = replace(spelling.table[0], glosses=("quite%1", "quiet%1"))
    labels = replace(spelling, table=(group,), observed=np.full(len(spelling), -1, np.int32))
    return replace(result, decisions=(labels,))


MIXED = [
    annotated(),
    annotated(kind="line", line=3, name="lines.txt:3"),
    annotated(kind="json", line=1, name="7", meta={"id": 7, "n": 1, "meta": {"author": "x"}}),
    annotated(kind="json", line=2, name="rows.jsonl:2", meta={"n": "one", "deep": {"a": [1, {}]}}),
    annotated(kind="csv", line=2, name="rows.csv:2", meta={"n": "1"}),
    annotated(kind="spacy", line=1, name="docs.spacy:1"),
    annotated("Nothing to decide.\n"),
    with_alternative(annotated()),
    with_labels(annotated()),
    with_lists(annotated()),
    replace(annotated(f"{TEXT}\nEin Haus.\n"), foreign=(ForeignParagraph(39, 48, "de"),)),
    annotated(name="caf\udce9.txt"),  # a file name in Latin-1
]


def lines_of(results=MIXED, **options) -> bytes:
    return make_format("jsonl", **options).encode(results)


def rows_of(results=MIXED, **options) -> list[dict]:
    return [json.loads(line) for line in lines_of(results, **options).splitlines()]


def keys_of(schema: dict) -> dict:
    """Return the keys of objects in a JSON Schema, in order."""
    if "properties" in schema:
        return {key: keys_of(value) for key, value in schema["properties"].items()}
    return keys_of(schema["items"]) if "items" in schema else {}


def test_records_of_all_inputs_fit_the_schema():
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    validator.check_schema(record_schema())
    check = validator(record_schema()).validate
    parts = record_schema()["properties"]
    parts |= parts["decisions"]["items"]["properties"]
    for row in [*rows_of(), *rows_of(text=False)]:
        check(row)
        for key in ("meta", "other_languages"):
            validator(parts[key]["contentSchema"]).validate(json.loads(row[key]))
        for decision in row["decisions"]:
            validator(parts["alternatives"]["contentSchema"]).validate(json.loads(decision["alternatives"]))


def test_keys_are_always_the_same_and_in_the_order_of_the_schema():
    names = keys_of(record_schema())
    for row in rows_of():
        assert list(row) == list(names)
        for decision in row["decisions"]:
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
    assert {row["schema"] for row in rows_of()} == {name}


def test_values_of_a_record():
    row = rows_of()[7]
    flag = next(decision for decision in row["decisions"] if decision["flagged"])
    assert flag["candidates"][0] == {"text": "from", "score": 2.25}
    (other,) = json.loads(flag["alternatives"])
    assert other == {"task": "slip", "start": 7, "end": 13, "replacement": "until", "probability": 0.25}
    assert flag["rule"] == "preposition"
    assert {decision["rule"] for decision in row["decisions"] if not decision["flagged"]} == {""}
    assert (row["schema"], row["line"], row["flags"]) == ("disambig/records/2", 1, 2)
    named = {entry["task"]: entry["model"] for entry in row["models"]}
    assert named == {task: f"fake/{task} 0.0.1" for task in ("preposition", "spelling")}
    assert json.loads(rows_of()[10]["other_languages"]) == [{"start": 39, "end": 48, "language": "de"}]
    assert {decision["gloss"] for decision in rows_of()[8]["decisions"]} == {"quiet%1"}
    assert {decision["rank"] for decision in rows_of()[9]["decisions"]} == {1}
    assert rows_of()[-1]["path"] == "caf\\udce9.txt"
    assert {row["text"] for row in rows_of(text=False)} == {None}


def test_a_replacement_is_a_proposal_and_only_a_flag_asks_for_it():
    decisions = [decision for row in rows_of([annotated()]) for decision in row["decisions"]]
    silent = replace(annotated().decisions[0], flagged=np.zeros(len(annotated().decisions[0]), bool))
    decisions += rows_of([replace(annotated(), decisions=(silent,))])[0]["decisions"]
    assert any(not one["flagged"] and one["replacement"] != one["observed"] for one in decisions)
    keys = record_schema()["properties"]["decisions"]["items"]["properties"]
    assert "only a proposal" in keys["replacement"]["description"]


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
    (row,) = rows_of([annotated(kind="json", line=1, id="1", meta=keys)])
    assert json.loads(row["meta"]) == meta


@pytest.mark.parametrize("version", [1, 2])
def test_a_record_read_again_keeps_only_its_metadata(version):
    before = annotated(kind="json", line=4, meta={"n": 1})
    (record,) = rows_of([replace(before, foreign=(ForeignParagraph(0, 2, "de"),))], records=version)
    del record["text"]
    (row,) = rows_of([annotated(kind="json", line=1, meta={**record, "label": "x"})])
    assert json.loads(row["meta"]) == {"n": 1, "label": "x"}
    assert len(row["decisions"]) == len(record["decisions"])


def test_the_former_records_can_still_be_written():
    old, new = rows_of([annotated(line=3, kind="json", meta={"n": 1})] * 2, records=1)[0], rows_of()[2]
    assert list(old) == ["id", "path", "line", "text", "meta", "models", "flags", "decisions"]
    assert old["meta"] == {"n": 1} and isinstance(old["models"], dict)
    for before, after in zip(old["decisions"], new["decisions"], strict=True):
        assert before["candidates"] == [[one["text"], one["score"]] for one in after["candidates"]]
        assert before["probability"] == after["probability"]
    with pytest.raises(UserError, match=r"D530.*1, 2"):
        make_format("jsonl", records=3)


def test_the_arrow_schema_has_the_keys_of_the_json_schema():
    pytest.importorskip("pyarrow")
    schema, keys = arrow_schema(), keys_of(record_schema())
    assert schema.names == list(keys)
    decisions = schema.field("decisions").type.value_type
    names = [decisions.field(i).name for i in range(decisions.num_fields)]
    assert names == list(keys["decisions"])


def test_without_pyarrow_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"D531.*pyarrow"):
        arrow_schema()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write a file of 15 MB that ends with the rare values, after data tools have inferred the types."""
    path = tmp_path_factory.mktemp("records") / "mixed.jsonl"
    common = [annotated(), annotated(kind="json", line=1, meta={"n": 1})]
    many = [annotated(TEXT * 20), *common] * 6
    block = lines_of(many)
    with path.open("wb") as file:
        for _ in range(15_000_000 // len(block) + 1):
            file.write(block)
        file.write(lines_of(MIXED))
    return path, (15_000_000 // len(block) + 1) * len(many) + len(MIXED)


def test_pyarrow_reads_records(written):
    reader = pytest.importorskip("pyarrow.json")
    path, n = written
    table = reader.read_json(path)
    assert table.num_rows == n
    assert table.schema.equals(arrow_schema())
    options = reader.ParseOptions(explicit_schema=arrow_schema(), unexpected_field_behavior="error")
    exact = reader.read_json(path, parse_options=options)
    assert exact.schema.equals(arrow_schema())
    assert exact.column("text").to_pylist()[-2] == f"{TEXT}\nEin Haus.\n"


def test_datasets_reads_records(written, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    path, n = written
    rows = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(tmp_path))
    assert rows.num_rows == n
    assert rows.features.arrow_schema.remove_metadata().equals(arrow_schema())
    assert rows[n - len(MIXED) + 7] == rows_of()[7]


def test_duckdb_reads_records(written):
    duckdb = pytest.importorskip("duckdb")
    path, n = written
    actual = duckdb.sql(f"SELECT * FROM '{path}'")
    assert actual.columns == list(keys_of(record_schema()))
    assert duckdb.sql("SELECT count(*) FROM found").fetchall() == [(n,)]
    flags = duckdb.sql(
        "SELECT decision.replacement, decision.candidates[1].text, json(decision.alternatives)->>'$[0].task' "
        "FROM (SELECT unnest(decisions) AS decision FROM found) "
        "WHERE decision.flagged AND decision.alternatives <> '[]'"
    )
    assert flags.fetchall() == [("from", "from", "slip")]


def test_pandas_reads_records(written):
    pandas = pytest.importorskip("pandas")
    path, n = written
    frame = pandas.read_json(path, lines=True)
    assert frame.shape == (n, len(keys_of(record_schema())))
    assert frame["flags"].sum() == frame["decisions"].map(lambda row: sum(d["flagged"] for d in row)).sum()
    flat = pandas.json_normalize(rows_of(), "decisions", ["id", "path"])
    assert set(flat["task"]) == {"preposition", "spelling"}
