"""Training from labelled examples: matching, folds, few examples, cross-validation, the saved model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from disambig_variance_svm.pronoun_it import It, NormalisedWords, count_fillers

from disambig.config import resolve
from disambig.counts import build_table, write_table
from disambig.decision import Labels
from disambig.errors import UserError
from disambig.evaluation import cross_validate, evaluate, evaluate_labelled
from disambig.formats import Labelled
from disambig.models import annotate, load_model, save_model
from disambig.text import Words
from disambig.training import label_instances, train_labelled

ADJECTIVES = "important good hard easy nice late cold true wise fair".split()
VERBS = "ate broke lost sold won made took kept found used".split()
REFERENTIAL, NON_REFERENTIAL = "referential", "non-referential"


def make_examples(n=10):
    result = []
    for i in range(n):
        first = f"It is {ADJECTIVES[i]} to know that. Case {i}."
        second = f"Then it {VERBS[i]} the bread. Case {i}."
        result.append(Labelled(first, 0, 2, NON_REFERENTIAL, first, f"line {2 * i}"))
        result.append(Labelled(second, 5, 7, REFERENTIAL, second, f"line {2 * i + 1}"))
    return result


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    texts = [e.text for e in make_examples()] + ["They ate the bread. They sold the bread."]
    path = tmp_path_factory.mktemp("counts") / "it.counts"
    name = NormalisedWords.name
    write_table(path, [count_fillers(lambda: texts, least=1)], tokenisations=[name], gaps=[name])
    variance = {"@disambig_learners": "variance_svm.VarianceSVM.v1", "variance": [["it"], ["they"]]}
    return {
        "task": {"@disambig_tasks": "variance_svm.It.v1"},
        "tokenisation": {"@disambig_tokenisations": name},
        "extractors": {
            "counts": {"@disambig_extractors": "variance_svm.FillerCounts.v1", "counts": str(path)},
            "words": {"@disambig_extractors": "disambig.SentenceWords.v1"},
        },
        "learner": {**variance, "C": 1e-3},
        "baseline": {"@disambig_learners": "variance_svm.SumLM.v1", "patterns": ["it"], "minus": ["they"]},
    }


def train_it(config, examples):
    return train_labelled(resolve(config), examples, name="it", config=config)


@pytest.fixture(scope="module")
def model(config):
    return train_it(config, make_examples())


def decide(model, text):
    (decisions,) = annotate([text], [model])
    return [decisions.record(i, text) for i in range(len(decisions))]


@pytest.mark.parametrize("rows", [[0, 3, 4, 11, 12], [7], [], list(range(20))])
def test_compacted_examples_equal_separately_labelled_ones(config, rows):
    parts, examples = resolve(config), make_examples()
    every = [  # two places of a text, and two texts of a document
        replace(e, text=pair, start=e.start + shift, end=e.end + shift, document=str(i // 4))
        for i, e in enumerate(examples)
        for pair in [f"{examples[i // 2 * 2].text} {examples[i // 2 * 2 + 1].text}"]
        for shift in [pair.index(e.text)]
    ]
    marked = label_instances(parts["task"], parts["tokenisation"], every)
    alone = marked.compacted(np.array(rows, np.int64))
    if not rows:
        assert len(alone.examples.view) == len(alone.documents) == alone.n_documents == 0
        return
    again = label_instances(parts["task"], parts["tokenisation"], [marked.labelled[i] for i in rows])
    assert alone.labelled == again.labelled
    assert alone.documents.tolist() == again.documents.tolist()
    assert alone.examples.n_words == again.examples.n_words
    assert alone.examples.view.texts == again.examples.view.texts
    for name in ("positions", "lengths", "groups", "observed"):
        mine, other = getattr(alone.examples.instances, name), getattr(again.examples.instances, name)
        assert mine.dtype == other.dtype and mine.tolist() == other.tolist()


def test_labels_are_matched_to_instances():
    text = "It's late. It ate it."
    labelled = [
        Labelled(text, 0, 4, NON_REFERENTIAL, "a", "line 1"),  # the whole word that the author sees
        Labelled(text, 18, 20, REFERENTIAL, "a", "line 2"),
        Labelled(text, 5, 9, REFERENTIAL, "a", "line 3"),
        Labelled(text, 11, 13, "neither", "b", "line 4"),
    ]
    marked = label_instances(It(), NormalisedWords(), labelled)
    view, result = marked.examples.view, marked.examples.instances
    assert view.starts[result.positions].tolist() == [0, 18]
    assert result.observed.tolist() == [1, 0]
    assert [e.where for e in marked.labelled] == ["line 1", "line 2"]
    assert marked.documents.tolist() == [0, 0] and marked.n_documents == 1
    assert ("line 3", "the task it decides nothing at 'late'") in marked.problems
    unknown = "the label 'neither' is not one of 'referential', 'non-referential'"
    assert ("line 4", unknown) in marked.problems
    with pytest.raises(UserError, match=r"D462.*line 0.*'is'"):
        label_instances(It(), NormalisedWords(), [replace(make_examples()[0], start=3, end=5)])


def test_folds_keep_documents_together(config):
    labelled = [replace(e, document=f"d{i % 7}") for i, e in enumerate(make_examples())]
    marked = label_instances(It(), NormalisedWords(), labelled)
    folds = marked.folds(3)
    for document in range(7):
        assert len(set(folds[marked.documents == document])) == 1
    sizes = np.bincount([int(folds[marked.documents == d][0]) for d in range(7)])
    assert sizes.tolist() == [3, 2, 2]
    for n in (1, 21):
        with pytest.raises(UserError, match="D464"):
            cross_validate(resolve(config), make_examples(), folds=n)


def test_models_of_labels_decide_and_are_saved(model, tmp_path):
    text = 'It was good to see. "It broke the cup."'
    first, second = decide(model, text)
    assert (first["chosen"], second["chosen"]) == (NON_REFERENTIAL, REFERENTIAL)
    assert second["observed"] == second["replacement"] == "It"  # quotes are left alone by corrections only
    for record in (first, second):
        assert not record["flagged"] and 0 < record["probability"] <= 1 and record["margin"] >= 0
    assert not annotate([text], [model], flags_per_1000=1000)[0].flagged.any()
    damaged = replace(model, judge=Labels(np.ones(2), np.zeros((1, 2)), np.zeros((1, 2))))
    with pytest.raises(UserError, match=r"D415.*calibration of labels"):
        save_model(damaged, tmp_path / "it")
    save_model(model, tmp_path / "it")
    again = load_model(tmp_path / "it")
    text = "It is wise to wait. It took the bread."
    assert decide(again, text) == decide(model, text)
    assert again.provenance["notes"] == model.provenance["notes"]


def test_notes_on_few_examples(model, config):
    (first, *rest) = (note for note in model.provenance["notes"] if "counts it.counts" not in note)
    assert "20 labelled examples are few" in first
    assert "95 % interval" in rest[-1] and "calibration was fitted to" in rest[-1]
    notes = train_it(config, make_examples(5)).provenance["notes"]
    assert any("10 labelled examples" in note and "more examples are needed" in note for note in notes)
    one = train_it(config, make_examples(1))
    assert one.scorers == (None,)  # nothing to learn from: the baseline decides
    assert len(decide(one, "It is late.")) == 1
    two = train_it(config, [replace(e, document=e.label) for e in make_examples()])
    assert two.scorers == (None,)
    assert "it: too few documents to learn from; add more of each label" in two.provenance["notes"]


def test_cross_validation(config):
    examples = make_examples()
    result = cross_validate(resolve(config), examples, folds=5)
    systems = result["systems"]
    assert result["n"] == 20 and result["documents"] == 20 and result["folds"] == 5
    assert systems["majority"]["it"]["accuracy"] <= 0.5
    assert systems["model"]["it"]["accuracy"] > 0.8 and systems["model"]["it"]["auc"] > 0.7
    labels = np.random.default_rng(1).permutation([e.label for e in examples])
    shuffled = [replace(e, label=label) for e, label in zip(examples, labels, strict=True)]
    chance = cross_validate(resolve(config), shuffled, folds=2)["systems"]["model"]["it"]
    assert chance["accuracy"] < 0.8  # labels that mean nothing cannot be foretold


def test_models_of_labels_are_evaluated_on_labels(model, config):
    result = evaluate_labelled(model, make_examples())
    at = result["groups"]["it"]
    assert at["n"] == 20 and at["accuracy"] > 0.9 and at["candidates"][NON_REFERENTIAL]["f1"] > 0.9
    with pytest.raises(UserError, match="D463"):
        evaluate(model, ["It is late."])
    again = train_it(config, make_examples()[::-1])
    np.testing.assert_allclose(again.scorers[0].weights, model.scorers[0].weights)


def test_labelled_examples_train_a_task_of_words_too(tmp_path):
    texts = [f"a {word} place to be {i}" for i in range(30) for word in ("quiet", "nice")]
    texts += [f"it is quite nice here {i}" for i in range(30)]
    path = build_table(tmp_path / "t.counts", texts, Words())
    sets = tmp_path / "sets.tsv"
    sets.write_text("quite/quiet\n")
    config = {
        "task": {"@disambig_tasks": "variance_svm.Spelling.v1", "sets": str(sets)},
        "tokenisation": {"@disambig_tokenisations": Words.name},
        "extractors": {"counts": {"@disambig_extractors": "disambig.NgramCounts.v1", "counts": str(path)}},
        "learner": {"@disambig_learners": "variance_svm.VarianceSVM.v1"},
        "baseline": {"@disambig_learners": "variance_svm.SumLM.v1"},
    }
    pairs = ("a quite place to be", "quiet"), ("it is quite nice here", "quite")
    labelled = [
        Labelled(f"{text} {i}", start, start + 5, label, f"{text} {i}", f"line {i}")
        for i in range(20)
        for text, label in pairs
        for start in [text.index("quite")]
    ]
    model = train_labelled(resolve(config), labelled, name="q", config=config, min_examples=5)
    assert decide(model, "a quite place to be")[0]["chosen"] == "quiet"
    assert evaluate_labelled(model, labelled)["groups"]["quite/quiet"]["accuracy"] == 1.0
