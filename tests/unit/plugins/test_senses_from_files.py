"""Senses learned from files: every form of labelled examples, and what training says of them."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import spacy
from disambig_kernel_rls.senses import SenseTask

from disambig.errors import UserError
from disambig.evaluation import assess_model, cross_validate, evaluate_labelled
from disambig.formats import Labelled, read_labelled
from disambig.text import SpacyTokens, hash_word, view_of_docs
from disambig.training import label_instances, read_plan, run, train_labelled

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
    expected = plan.with_learned_settings(read_labelled(plain)).parts["task"].words
    for file in files:
        task = plan.with_learned_settings(read_labelled(file)).parts["task"]
        assert task.words == expected, file
    model = run("sense", labelled=[files[0]])
    for file in files:
        found = evaluate_labelled(model, read_labelled(file))
        assert found["n"] == 12 and found["unused"] == 0
    examples = read_labelled(files[2])
    systems = cross_validate(plan.with_learned_settings(examples).parts, examples, folds=3)["systems"]
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


@dataclass(frozen=True)
class Tagged:
    """Cuts as spaCy does; a word has the tag that a test names, or none."""

    name: str
    tags: dict[str, str] = field(default_factory=dict)

    def __call__(self, texts):
        view = SpacyTokens()(texts)
        layer = np.zeros(len(view), np.uint64)
        for text, first, end in zip(texts, view.documents[:-1], view.documents[1:], strict=True):
            for i in range(first, end):
                tag = self.tags.get(text[view.starts[i] : view.ends[i]])
                layer[i] = hash_word(tag) if tag else 0
        return replace(view, layers={"tag": layer})


def marked(n, form, word):
    texts = [f"Clause {i} says at {form} that" for i in range(n)]
    return [
        Labelled(text, text.index(form), text.index(form) + len(form), "x", text, "", word) for text in texts
    ]


@pytest.mark.parametrize(
    ("word", "tag", "certain"),
    [("least.r", "JJS", ["least"]), ("least.r", "RBS", []), ("least.r", "", []), ("least.n", "NN", [])],
)
def test_forms_are_certain_where_tags_are_of_another_part_of_speech(word, tag, certain):
    tags = Tagged(f"test.{word}{tag}", {"least": tag} if tag else {})
    examples = marked(12, "least", word)
    learned = SenseTask().learn_settings(examples, tags)
    assert learned == SenseTask().learn_settings(examples) | {"certain": certain}
    view = Tagged("test.verbs", {"least": "VB"})(["at least"])
    assert len(SenseTask(**learned).instances(view)) == len(certain)


def test_labelled_places_whose_tags_do_not_suit_the_word_are_told_of():
    tags = Tagged("test.nouns", {"bank": "NN"})
    for n, then in (
        (12, "it is decided regardless of its tag"),
        (9, "in other text such places get no decision"),
    ):
        examples = marked(n, "bank", "bank.v")
        task = SenseTask(**SenseTask().learn_settings(examples, tags))
        found = label_instances(task, tags, examples).examples
        (note,) = task.warnings(found.view, found.instances)
        assert note == f"bank.v: {n} of {n} labelled places are not verbs by their tags: {then}"
    for name in ("bank.n", "bank", "bank.x"):
        examples = marked(12, "bank", name)
        task = SenseTask(**SenseTask().learn_settings(examples, tags))
        found = label_instances(task, tags, examples).examples
        assert len(found.instances) == 12 and task.warnings(found.view, found.instances) == []


def test_a_noun_learned_from_marks_is_no_verb_where_the_text_has_tags(tmp_path):
    examples = [(text, label, f"{word}.n") for text, label, word in rows()]
    model = run("sense", labelled=[written(tmp_path / "a.csv", ("text", "label", "word"), examples)])
    assert not any("by their tags" in note for note in model.provenance["notes"])
    doc = spacy.blank("en")("They bank with us, and the bank closed.")
    for token, tag in zip(doc, "PRP VBP IN PRP , CC DT NN VBD .".split(), strict=True):
        token.tag_ = tag
    decisions = model.decide(view_of_docs([doc], model.tokenisation))
    assert [model.task.groups[g].name for g in decisions.groups] == ["bank.n"]
    verbs = [(text, label, "bank.v") for text, label, _ in rows()]
    model = run("sense", labelled=[written(tmp_path / "b.csv", ("text", "label", "word"), verbs)])
    assert any("bank.v: 12 of 12 labelled places are not verbs" in note for note in model.provenance["notes"])


def test_there_is_one_accuracy_the_cross_validated_one(tmp_path):
    path = written(tmp_path / "a.csv", ("text", "label"), rows())
    fitted = [note for note in run("sense", labelled=[path]).provenance["notes"] if "accuracy" in note]
    assert len(fitted) == 1 and "12 labelled examples: accuracy" in fitted[0]
    tested = run("sense", labelled=[path], judge=assess_model).provenance
    assert tested["test"]["n"] == 12 and not any("accuracy" in note for note in tested["notes"])
    assert any("12 labelled examples are few" in note for note in tested["notes"])
    one = written(tmp_path / "b.csv", ("text", "label", "document"), [(*row[:2], "d") for row in rows()])
    (note,) = (
        n
        for n in run("sense", labelled=[one], judge=assess_model).provenance["notes"]
        if "cannot be estimated" in n
    )
    assert note == "12 labelled examples of one document: accuracy cannot be estimated"


def test_the_majority_of_equally_frequent_labels_is_right_half_of_the_time(tmp_path):
    examples = read_labelled(written(tmp_path / "a.csv", ("text", "label"), rows(8)))
    plan = read_plan("sense").with_learned_settings(examples)
    for folds in (2, 5, 16):
        majority = cross_validate(plan.parts, examples, folds=folds)["systems"]["majority"]["bank"]
        assert majority["accuracy"] == 0.5


def test_a_word_of_one_sense_is_named(tmp_path):
    examples = [*rows(), *((f"A [[plant]] grows {n}.", "flora", "") for n in range(6))]
    notes = run("sense", labelled=[written(tmp_path / "a.csv", ("text", "label"), examples)]).provenance[
        "notes"
    ]
    assert "plant: only one label (flora), which is always chosen" in notes


def test_numbers_of_one_are_written_as_one(tmp_path):
    path = written(tmp_path / "a.csv", ("text", "label"), rows())
    parts = read_plan("sense").with_learned_settings(read_labelled(path)).parts
    notes = train_labelled(parts, read_labelled(path)[:1], name="test").provenance["notes"]
    assert notes[0] == "1 labelled example is little: do not rely on this model yet"
    assert "(1)" in str(UserError("D467", n=1, label="x"))
    assert "folds: 1, documents: 32 (identical texts count once): use" in str(
        UserError("D464", folds=1, documents=32)
    )
    said = "the minimum margin of the model my/sense cannot be -1: it must be a number from 0 to 99, and only models"  # noqa: E501
    assert said in str(UserError("D477", value=-1, model="my/sense", most=99))
