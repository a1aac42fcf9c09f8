"""Senses learned from files: every form of labelled examples, and what training says of them."""

from __future__ import annotations

import csv
import json

import pytest

from disambig.corpora.labelled import read_labelled
from disambig.errors import UserError
from disambig.evaluation.labelled import cross_validate, evaluate_labelled
from disambig.training.run import read_plan, run

TEXTS = [
    ("We sat on the muddy [[{}]] of river {}.", "shore"),
    ("The rich [[{}]] lent cash {} times.", "money"),
]


def rows(n=6, form="bank", word="bank"):
    return [(text.format(form, i), label, word) for i in range(n) for text, label in TEXTS]


def written(path, columns, examples):
    """Write a table or JSON Lines, by the ending, with the first columns of the examples."""
    cut = [row[: len(columns)] for row in examples]
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in cut))
    else:
        with open(path, "w", encoding="utf-8-sig", newline="") as file:
            sign = "," if path.suffix == ".csv" else "\t"
            csv.writer(file, delimiter=sign).writerows([columns, *cut])
    return str(path)


def test_marks_are_read_in_every_form(tmp_path):
    whole = ("text", "label")
    plain = tmp_path / "plain.tsv"
    plain.write_text("".join(f"{text}\t{label}\n" for text, label, _ in rows()))
    files = [written(tmp_path / f"a{ending}", whole, rows()) for ending in (".csv", ".tsv", ".jsonl")]
    files.append(written(tmp_path / "b.jsonl", (*whole, "word"), rows()))
    files.append(written(tmp_path / "b.csv", (*whole, "document"), [(*row[:2], row[0]) for row in rows()]))
    plan = read_plan("sense")
    expected = plan.with_settings_of(read_labelled(plain)).parts["task"].words
    for file in files:
        task = plan.with_settings_of(read_labelled(file)).parts["task"]
        assert task.words == expected, file
    model = run("sense", labelled=[files[0]])
    for file in files:
        found = evaluate_labelled(model, read_labelled(file))
        assert found["n"] == 12 and found["unused"] == 0
    examples = read_labelled(files[2])
    systems = cross_validate(plan.with_settings_of(examples).parts, examples, folds=3)["systems"]
    assert systems["model"]["bank"]["n"] == 12


def test_examples_without_a_mark_are_told_of(tmp_path):
    bare = [(text.replace("[[", "").replace("]]", ""), *more) for text, *more in rows()]
    with pytest.raises(UserError, match=r"D496.*mark one word"):
        run("sense", labelled=[written(tmp_path / "a.csv", ("text", "label"), bare)])
    path = written(tmp_path / "b.csv", ("text", "label"), [*rows(), *bare[:1]])
    (note,) = (note for note in run("sense", labelled=[path]).provenance["notes"] if "not used" in note)
    assert "b.csv, line 14: no place is marked in 'We sat" in note


def test_texts_of_topics_keep_their_brackets(tmp_path):
    texts = [(f"A [[ball]] in a [[net]] of day {n}", f"We ate [[cake on day {n}") for n in range(6)]
    examples = [(text, label) for pair in texts for text, label in zip(pair, "ab", strict=True)]
    path = written(tmp_path / "a.csv", ("text", "label"), examples)
    model = run("topic", labelled=[path])
    assert model.provenance["examples"]["labelled"] == 12
    assert evaluate_labelled(model, read_labelled(path))["n"] == 12
