"""Two tasks that flag the same places: all front ends and formats show the same flags."""

from __future__ import annotations

import csv
import html
import io
import json
import re

import pytest
import spacy
from commands import here
from overlapping import CORRECTED, DOUBLED, FLAGS, FORM, MODELS, TEXT
from spacy.tokens import DocBin

from disambig.formats import Document, corrected_text, flagged_records
from disambig.models import ModelSource, annotate, annotate_documents
from disambig.spacy.annotations import read_decisions
from disambig.spacy.component import Disambiguator
from disambig.spacy.core_components import Proofreader


@pytest.fixture(autouse=True)
def installed(monkeypatch, tmp_path):
    monkeypatch.setattr("disambig.packs.available", lambda: dict.fromkeys(MODELS, tmp_path))
    monkeypatch.setattr("disambig.packs.default_tasks", lambda: tuple(sorted(MODELS)))
    monkeypatch.setattr("disambig.models.sources.load", MODELS.__getitem__)
    (tmp_path / "notes.md").write_text(TEXT)
    return tmp_path


def to_flag(record):
    others = [(other["task"], other["replacement"]) for other in record["alternatives"]]
    return record["task"], record["observed"], record["replacement"], others


def shown_flags(records):
    """Return flagged records in the form of `FLAGS`."""
    flagged = (record for record in records if record["flagged"])
    return [to_flag(record) for record in sorted(flagged, key=lambda r: (r["start"], r["end"]))]


PLAIN = [(task, old, new) for task, old, new, _ in FLAGS]
PLACES = ["1:7", "1:18", "3:1", "3:24", "3:42", "3:55"]


def places(lines):
    return [line.split(" ")[0].removeprefix("notes.md:").rstrip(":") for line in lines.splitlines()]


def plain(elements):
    return [html.unescape(re.sub(r"<[^>]+>", "", element)) for element in elements]


def run_annotate(folder, name, *more):
    done = here("annotate", "notes.md", "--format", name, "--quiet", *more, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("models", [(FORM, DOUBLED), (DOUBLED, FORM)])
def test_in_python(models):
    result = annotate([TEXT], models)
    assert shown_flags(item.record(i, TEXT) for item in result for i in range(len(item))) == FLAGS


def test_check(installed):
    done = here("check", "notes.md", "--format", "jsonl", "--quiet", folder=installed)
    flags = [json.loads(line) for line in done.stdout.splitlines()]
    assert [to_flag(flag) for flag in flags] == [(*flag[:2], flag[2].strip(), flag[3]) for flag in FLAGS]
    assert [f"{flag['line']}:{flag['column']}" for flag in flags] == PLACES
    assert places(here("check", "notes.md", "--quiet", folder=installed).stdout) == PLACES
    assert here("check", "notes.md", "--fix", "--quiet", folder=installed).returncode == 1
    assert (installed / "notes.md").read_text() == CORRECTED


def test_records_text_and_tables(installed):
    document = json.loads(run_annotate(installed, "jsonl"))
    for decision in document["decisions"]:
        decision["alternatives"] = json.loads(decision["alternatives"])
    assert shown_flags(document["decisions"]) == FLAGS and document["flags"] == len(FLAGS)
    assert [decision["flagged"] for decision in document["decisions"]].count(False) == 4
    assert places(run_annotate(installed, "text")) == PLACES
    rows = list(csv.DictReader(io.StringIO(run_annotate(installed, "csv", "--only-flags"))))
    assert [(row["task"], row["observed"], row["replacement"]) for row in rows] == PLAIN


def test_corrected_text_edits_and_conllu(installed):
    assert run_annotate(installed, "corrected") == CORRECTED
    edit = re.compile(r"^A \d+ \d+\|\|\|\w:(\w+)\|\|\|(.*?)\|\|\|", re.MULTILINE)
    result = edit.findall(run_annotate(installed, "m2"))
    assert result == [(task.upper(), "A" if old == "The" else new.strip()) for task, old, new in PLAIN]
    values = re.findall(r"Disambig=(\S+)", run_annotate(installed, "conllu"))
    flags = [value.split(":") for item in values for value in item.split(";") if value.endswith(":flag")]
    result = [(task, old.replace("%20", " "), new) for task, old, new, *_ in flags]
    assert result == [(task, old, new.strip().lower()) for task, old, new in PLAIN]


def test_html(installed):
    page = run_annotate(installed, "html")
    heads = plain(re.findall(r'<span class="h">(<s>.*?</b>)</span>', page))
    assert sorted(heads) == sorted(f"{old or '∅'} → {new.strip() or '∅'}" for _, old, new in PLAIN)
    others = ["or an (form)", "or An (form)", "or to → ∅ (form)", "or ∅ → have (doubled)"]
    assert plain(re.findall(r'<span class="m">(or .*?)</span>', page)) == others


@pytest.mark.parametrize("order", [(FORM, DOUBLED), (DOUBLED, FORM)])
def test_components_in_any_order(order):
    doc = NLP(TEXT)
    for model in order:
        doc = annotated_by(model, doc)
    for item in (doc, *DocBin(store_user_data=True, docs=[doc]).get_docs(NLP.vocab)):
        spans = [span for task in MODELS for span in item.spans[task]]
        assert shown_flags(span._.disambig for span in spans) == FLAGS
        result = [read_decisions(item, task) for task in MODELS]
        assert shown_flags(one.record(i, TEXT) for one in result for i in range(len(one))) == FLAGS


NLP = spacy.blank("en")


def annotated_by(model, doc, key=None, **settings):
    key = key or model.task.name
    return Disambiguator(NLP, model, name=key, spans_key=key, **settings)(doc)


def test_later_components_update_flags_of_their_doc_only():
    doc = annotated_by(FORM, NLP(TEXT))
    first = doc.spans["form"][0]
    assert first._.disambig["flagged"] and first._.disambig["alternatives"] == ()
    doc = annotated_by(DOUBLED, doc)
    assert not first._.disambig["flagged"]
    assert annotated_by(DOUBLED, doc, flags_per_1000=0).spans["form"][0]._.disambig["flagged"]
    doc = annotated_by(FORM, NLP(TEXT))
    copy = annotated_by(DOUBLED, doc.copy())
    copy.user_data["disambig.form"] = doc.user_data["disambig.form"]
    first = [item.spans["form"][0] for item in (doc, copy, doc)]
    assert [span._.disambig["flagged"] for span in first] == [True, False, True]
    doc = annotated_by(FORM, annotated_by(FORM, NLP(TEXT)), "again")
    both = [[span._.disambig for span in doc.spans[key]] for key in ("form", "again")]
    assert both[0] == both[1] and all(r["flagged"] and not r["alternatives"] for r in both[0])


@pytest.mark.parametrize("order", [(FORM, DOUBLED), (DOUBLED, FORM)])
def test_proofreader_component(order):
    doc = Proofreader(NLP, order, name="all")(NLP(TEXT))
    spans = doc.spans["proofread"]
    assert shown_flags(span._.disambig for span in spans) == FLAGS
    assert [(span.id_, span.label_) for span in spans] == [(task, new.strip()) for task, _, new in PLAIN]


def test_docbin_of_a_corpus(installed):
    here("annotate", "notes.md", "--output", "notes.spacy", "--quiet", folder=installed)
    kept = DocBin(store_user_data=True).from_disk(installed / "notes.spacy")
    (doc,) = kept.get_docs(spacy.blank("en").vocab)
    assert shown_flags(span._.disambig for task in MODELS for span in doc.spans[task]) == FLAGS


def test_long_texts_in_pieces():
    before = "Nothing here to see. " * 30_000
    (result,), _ = annotate_documents([Document("a", before + TEXT, "a.txt")], ModelSource().load())
    records = flagged_records(result)
    assert shown_flags(records) == FLAGS and corrected_text(result) == before + CORRECTED
    assert all(other["start"] > len(before) for record in records for other in record["alternatives"])


def test_selected_tasks(installed):
    lines = here("check", "notes.md", "--task", "form", "--quiet", folder=installed).stdout.splitlines()
    assert len(lines) == 6 and all("(form)" in line for line in lines)
    lines = here("annotate", "notes.md", "--task", "doubled", "--format", "text", "--quiet", folder=installed)
    assert len(lines.stdout.splitlines()) == 4
