"""Labels for documents from the shell: a folder of folders, a table; train, evaluate, annotate, explain."""

from __future__ import annotations

import csv
import json
import re

import pytest
from commands import here, process

SPORT = "ball goal team match coach player referee stadium league trainer".split()
COOKING = "bread flour oven butter soup pan recipe onion dough sugar".split()
TOPICS = {"cooking": COOKING, "sport": SPORT}


def texts(label, n=15):
    words = TOPICS[label]
    for i in range(n):
        first, second, third = (words[(i * step + step) % 10] for step in (1, 3, 7))
        yield f"We spoke of the {first}.\n\nThe {second} was there, and a {third}! Number {i}.\n"


def run(folder, *arguments, status=0):
    done = here(*arguments, folder=folder)
    assert done.returncode == status, done.stderr
    if status:
        assert done.stderr.startswith("disambig: [D") and done.stderr.count("\n") == 1, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("topic")
    rows = [("text", "label")]
    for label in TOPICS:
        (folder / "documents" / label).mkdir(parents=True)
        for number, text in enumerate(texts(label)):
            (folder / "documents" / label / f"{number}.txt").write_text(text, encoding="utf8")
            rows.append((text, label))
    (folder / "documents" / "sport" / "empty").write_text("")
    (folder / "documents" / "sport" / "signs").write_text("?! ...")
    with open(folder / "table.csv", "w", encoding="utf8", newline="") as file:
        csv.writer(file).writerows(rows)
    (folder / "new.txt").write_text("The referee had no whistle.\n\nShe left the stadium.\n", encoding="utf8")
    return folder


@pytest.fixture(scope="module")
def trained(folder):
    return run(folder, "train", "topic", "--labelled", "documents", "--output", "topic")


def test_a_folder_of_folders_trains_without_a_config(folder, trained):
    assert "topic: topic, 1 of 1 group learned" in trained.stderr
    assert "30 examples, most frequent candidate" in trained.stderr
    assert "not used: documents/sport/empty: the task topic decides nothing at ''" in trained.stderr
    assert 'labels = ["cooking","sport"]' in (folder / "topic" / "config.cfg").read_text().replace(", ", ",")
    card = (folder / "topic" / "README.md").read_text(encoding="utf8")
    assert "*cooking* / *sport*" in card and "5-fold cross-validation over documents" in card


def test_a_table_trains_a_model_that_decides_the_same(folder, trained):
    run(folder, "train", "topic", "--labelled", "table.csv", "--output", "table", "--no-test")
    said = []
    for model, call in (("topic", here), ("table", process)):
        done = call("annotate", "-", "--model", model, folder=folder, given="The onion met the butter.")
        said.append(json.loads(done.stdout)["decisions"][0])
    assert said[0]["chosen"] == said[1]["chosen"] == "cooking"
    assert said[0]["found"] == said[1]["found"] == 4


@pytest.mark.parametrize("format", ["jsonl", "csv", "html", "conllu", "text"])
def test_documents_are_annotated_in_every_format(folder, trained, format):
    done = run(folder, "annotate", "new.txt", "--model", "topic", "--format", format)
    assert "topic: 1 decision" in done.stderr
    if format == "jsonl":
        (decision,) = json.loads(done.stdout)["decisions"]
        assert (decision["start"], decision["end"], decision["chosen"]) == (0, 50, "sport")
    elif format == "text":
        assert re.fullmatch(
            r"new\.txt:1:1: The referee .* stadium\.: sport \(topic, [01]\.\d\d\)\n", done.stdout
        )
    else:
        assert "sport" in done.stdout
    if format == "html":
        assert done.stdout.count("She left the stadium.") == 2  # in the text and on the card


def test_the_model_is_evaluated_and_explained(folder, trained):
    done = run(folder, "evaluate", "topic", "--labelled", "table.csv")
    assert re.match(r"30 examples in 30 documents\nmodel, topic: accuracy (9\d|100)\.\d\d%", done.stdout)
    assert "\n  cooking: precision" in done.stdout
    done = run(folder, "explain", "--model", "topic", "The referee saw zebras.")
    assert "sport, with probability" in done.stdout
    assert "2 of 4 words occurred in training" in done.stdout
    assert any("referee" in line and "+" in line for line in done.stdout.splitlines())


def test_the_config_is_validated_and_gives_a_curve(folder):
    config = run(folder, "train", "topic", "--example").stdout
    (folder / "my.cfg").write_text(config.replace("n_subspaces = 25", "n_subspaces = 2"), encoding="utf8")
    done = run(folder, "evaluate", "my.cfg", "--labelled", "documents", "--folds", "3")
    assert "30 examples in 30 documents, 3 folds, 2 not used" in done.stdout
    assert "majority, topic" in done.stdout and "unsupervised" not in done.stdout
    done = run(folder, "curve", "my.cfg", "--labelled", "table.csv", "--sizes", "10", "--draws", "1")
    assert "most frequent (" in done.stdout


def test_a_model_that_cannot_be_tested_is_kept(folder):
    (folder / "two.csv").write_text("text,label\nA ball in the net.,sport\nBread in the oven.,cooking\n")
    done = run(folder, "train", "topic", "--labelled", "two.csv", "--output", "two")
    assert "note: not tested: [D475] no word occurs in at least 2 of the 1 texts" in done.stderr
    card = (folder / "two" / "README.md").read_text(encoding="utf8")
    assert "* not tested: [D475]" in card and "No figures are stored" in card


def test_what_cannot_be_learned_from_is_one_line(folder, tmp_path):
    def fails(code, *arguments):
        done = run(folder, "train", "topic", "--output", str(tmp_path / "x"), *arguments, status=2)
        assert f"[{code}]" in done.stderr, done.stderr

    latin = tmp_path / "latin"
    for label in ("a", "b"):
        (latin / label).mkdir(parents=True)
        (latin / label / "1").write_bytes("Très bien".encode("latin-1"))
    fails("D469", "--labelled", str(latin))
    fails("D470", "--labelled", str(latin), "--encoding", "latin-99")
    (tmp_path / "one.csv").write_text("text,label\nA ball.,sport\nA goal.,sport\n")
    fails("D467", "--labelled", str(tmp_path / "one.csv"))
    (tmp_path / "none.csv").write_text("text,label\n!!!,a\n?,b\n")
    fails("D462", "--labelled", str(tmp_path / "none.csv"))
    (tmp_path / "column.csv").write_text("text,topic\nA ball.,sport\n")
    fails("D471", "--labelled", str(tmp_path / "column.csv"))
    fails("D468", "--labelled", str(latin / "a"))
    fails("D463", "--text", str(folder / "new.txt"))
    fails("D300", "--labelled", str(tmp_path / "missing"))
    run(folder, "train", "topics", "--labelled", "table.csv", "--output", "y", status=2)
    run(folder, "train", "topic", "--labelled", "table.csv", status=2)
    run(folder, "train", status=2)
