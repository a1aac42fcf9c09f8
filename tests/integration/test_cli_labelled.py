"""A task of labels from the shell: count with gaps, train on ten labelled examples, validate, annotate."""

from __future__ import annotations

import json

import pytest
from commands import here

CONFIG = """
[model]
name = "my/it"

[task]
@disambig_tasks = "variance_svm.It.v1"

[tokenisation]
@disambig_tokenisations = "variance_svm.NormalisedWords.v1"

[extractors]

[extractors.counts]
@disambig_extractors = "variance_svm.FillerCounts.v1"
counts = "my.counts"

[extractors.words]
@disambig_extractors = "disambig.SentenceWords.v1"

[learner]
@disambig_learners = "variance_svm.VarianceSVM.v1"
variance = [["it"], ["they"]]

[baseline]
@disambig_learners = "variance_svm.SumLM.v1"
patterns = ["it"]
minus = ["they"]
"""
PAIRS = [
    ("is important to know that", "ate the bread"),
    ("was hard to find a room", "broke the new cup"),
    ("is easy to see why", "lost the long race"),
    ("was nice to meet you", "sold three old cars"),
    ("is wise to wait here", "made a loud noise"),
]


def run(folder, *arguments, status=0):
    done = here(*arguments, folder=folder)
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labelled")
    lines, texts = [], []
    for place_holder, referential in PAIRS:
        lines += [f"[[It]] {place_holder}.\tnon-referential", f"Then [[it]] {referential}.\treferential"]
        texts += [f"It {place_holder}.", f"Then it {referential}.", f"Then they {referential}."]
    (folder / "ten.tsv").write_text("\n".join(lines) + "\n", encoding="utf8")
    (folder / "texts.txt").write_text("\n".join(texts) + "\n", encoding="utf8")
    (folder / "it.cfg").write_text(CONFIG, encoding="utf8")
    view = "variance_svm.NormalisedWords.v1"
    run(folder, "counts", "build", "texts.txt", "--gaps", "--tokenisation", view, "--output", "my.counts")
    return folder


@pytest.fixture(scope="module")
def trained(folder):
    return run(folder, "train", "it.cfg", "--labelled", "ten.tsv", "--output", "model")


def test_ten_examples_are_enough_to_run_and_are_told_honestly(folder, trained):
    assert "10 labelled examples are few: do not rely on this model yet" in trained.stderr
    assert "accuracy 100.0% (72.2% to 100.0%) on 10 examples" in trained.stderr
    assert trained.stderr.count("accuracy") == 1
    done = run(
        folder, "annotate", "-", "--model", "model", "--format", "jsonl", "--output", "out.jsonl", status=2
    )
    assert "disambig:" in done.stderr  # standard input was empty
    (folder / "new.txt").write_text("It was easy to find a cup.\n", encoding="utf8")
    run(folder, "annotate", "new.txt", "--model", "model", "--output", "new.jsonl")
    (decision,) = json.loads((folder / "new.jsonl").read_text(encoding="utf8"))["decisions"]
    assert decision["chosen"] == "non-referential" and not decision["flagged"]
    assert decision["replacement"] == decision["observed"] == "It"


def test_the_model_and_the_config_are_scored_on_examples(folder, trained):
    done = run(folder, "evaluate", "model", "--labelled", "ten.tsv")
    assert "10 examples in 10 documents" in done.stdout and "non-referential: precision" in done.stdout
    done = run(folder, "evaluate", "it.cfg", "--labelled", "ten.tsv", "--folds", "5", "--json")
    found = json.loads(done.stdout)
    assert set(found["systems"]) == {"model", "baseline", "majority"} and found["folds"] == 5
    done = run(folder, "evaluate", "it.cfg", "--labelled", "ten.tsv", "--folds", "5")
    assert "unsupervised baseline, it: accuracy" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("train", "it.cfg", "--text", "texts.txt", "-o", "other"), "D463"),
        (("train", "it.cfg", "--labelled", "missing.tsv", "-o", "other"), "D300"),
        (("train", "it.cfg", "--labelled", "texts.txt", "-o", "other"), "D460"),
        (("evaluate", "it.cfg", "--labelled", "ten.tsv", "--folds", "11"), "D464"),
        (("evaluate", "it.cfg", "--folds", "5"), "D465"),
        (("evaluate", "model", "--text", "texts.txt", "--labelled", "ten.tsv"), "D465"),
        (("evaluate", "model", "nowhere", "--labelled", "ten.tsv"), "D942"),
        (("evaluate", "model", "nowhere", "--lists", "lists.jsonl"), "D942"),
        (("evaluate", "model", ".", "--labelled", "ten.tsv"), "D525"),
        (("evaluate", "model", "texts.txt"), "D525"),
        (("evaluate", "model", "--text", "texts.txt"), "D463"),
        (("evaluate", "model"), "D600"),
    ],
)
def test_what_cannot_be_done_is_one_line(folder, trained, arguments, code):
    done = run(folder, *arguments, status=2)
    assert f"[{code}]" in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert not (folder / "other").exists()


def test_the_model_is_a_component(folder, trained):
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_it", config={"model": str(folder / "model")})
    doc = nlp("It's easy to see why. Then it ate the cup.")
    assert [(span.text, span.label_) for span in doc.spans["it"]] == [
        ("It", "non-referential"),
        ("it", "referential"),
    ]
    values = {token.text: token._.is_referential for token in doc if token._.is_referential is not None}
    assert values == {"It": False, "it": True}
    assert doc.spans["it"][0]._.disambig["flagged"] is False
