"""What a config leaves open of an extractor is chosen on folds, and the model has that one alone."""

from __future__ import annotations

import numpy as np
import pytest
from topic_documents import config

from disambig.config import resolve
from disambig.evaluation import assessment as judging
from disambig.evaluation import cross_validate, evaluate_labelled
from disambig.formats import Labelled
from disambig.models import annotate, load_model, save_model
from disambig.training import read_plan, train, train_labelled
from disambig.training.trainer import _better

ANIMALS = "dog cat horse bird cow goat pig hen".split()
OPTIONS = {
    "words": {"@disambig_extractors": "disambig.Tfidf.v1"},
    "pairs": {"@disambig_extractors": "disambig.Tfidf.v1", "pairs": True},
}


def open_config():
    said = config(labels=["after", "before"])
    said["extractors"] = {"terms": {"@disambig_extractors": "disambig.OneOf.v1", "options": OPTIONS}}
    return said


def documents(*, ordered, n=120):
    """Return texts whose label is told by the order of the same two words, or by words of its own."""
    rng, found = np.random.default_rng(0), []
    for i in range(n):
        label = ("after", "before")[i % 2]
        order = "early late" if label == "after" else "late early"
        own = ("late", "soon") if label == "after" else ("early", "now")
        told = order if ordered else own[i % 4 > 1]
        rest = " ".join(rng.choice(ANIMALS, 4))
        text = f"{rest} {told} {i}"
        found.append(Labelled(text, 0, len(text), label, f"{label} {i}", f"made, line {i}"))
    return found


def test_where_only_the_order_tells_pairs_are_taken_and_else_the_first_stays(tmp_path):
    for ordered, taken in ((True, "pairs"), (False, "words")):
        said = open_config()
        labelled = documents(ordered=ordered)
        model = train_labelled(resolve(said), labelled, name="t", config=said)
        chosen = model.provenance["chosen"]["terms"]
        assert chosen["taken"] == taken and set(chosen["accuracy"]) == {"words", "pairs"}
        assert (chosen["accuracy"]["words"] < 0.7) == ordered
        assert chosen["accuracy"]["pairs"] > 0.9
        assert model.extractors[0].pairs == ordered
        assert model.config["extractors"]["terms"] == OPTIONS[taken]
        assert any(note.startswith(f"terms: {taken}, ") for note in model.provenance["notes"])
        save_model(model, tmp_path / taken)
        texts = [example.text for example in labelled]
        (one,), (other,) = annotate(texts, [model]), annotate(texts, [load_model(tmp_path / taken)])
        assert one.scores.tolist() == other.scores.tolist()
        assert evaluate_labelled(model, labelled)["overall"]["accuracy"] > 0.9


def test_the_options_are_chosen_anew_without_each_tested_fold():
    found = cross_validate(resolve(open_config()), documents(ordered=True), folds=4)
    assert found["systems"]["model"]["topic"]["accuracy"] > 0.9


def test_another_than_the_first_takes_more_than_chance():
    hits = np.zeros(100, bool)
    hits[:50] = True
    one_more, other_ones = hits.copy(), hits[::-1].copy()
    one_more[50] = True
    assert not _better(one_more, hits) and not _better(other_ones, hits) and not _better(hits, hits)
    one_more[51:60] = True
    assert _better(one_more, hits)


def test_where_there_are_no_folds_the_first_option_is_taken():
    said = {
        "task": {"@disambig_tasks": "disambig.Candidates.v1", "candidates": ["bring", "take"]},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {
            "around": {
                "@disambig_extractors": "disambig.OneOf.v1",
                "options": {
                    "near": {"@disambig_extractors": "disambig.Tfidf.v1", "around": 2},
                    "far": {"@disambig_extractors": "disambig.Tfidf.v1", "around": 9},
                },
            }
        },
        "learner": {"@disambig_learners": "random_subspace.SGD.v1"},
        "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
    }
    texts = [
        f"They {word} it {place} number {i}."
        for i in range(40)
        for word, place in (("bring", "here"), ("take", "away"))
    ]
    model = train(resolve(said), {"train": texts[:60], "dev": texts[60:]}, name="t", config=said)
    assert model.extractors[0].around == 2 and model.config["extractors"]["around"]["around"] == 2
    assert model.provenance["chosen"] == {"around": {"taken": "near", "accuracy": {}}}
    assert any("the first option" in note for note in model.provenance["notes"])


def test_the_config_that_ships_prefers_pairs_for_short_texts():
    labelled = documents(ordered=True)
    plan = read_plan("topic").with_learned_settings(labelled)
    assert list(plan.parts["extractors"]["words"].options) == ["pairs", "signs", "words"]
    model = train_labelled(plan.parts, labelled, name="t", config=plan.config)
    assert model.provenance["chosen"]["words"]["taken"] == "pairs"
    report = model.provenance["groups"]["topic"]
    assert f"{report['alpha']:g}" in report["accuracy"]


@pytest.mark.parametrize(
    ("enough", "decided", "n"), [(None, 4, 120), (30, 1, 30), (31, 2, 60), (500, 4, 120)]
)
def test_no_more_folds_are_tested_than_are_enough(enough, decided, n):
    found = cross_validate(resolve(open_config()), documents(ordered=True), folds=4, enough=enough)
    assert (found["folds"], found["decided"], found["n"], found["documents"]) == (4, decided, n, n)
    assert {groups["topic"]["n"] for groups in found["systems"].values()} == {n}
    assert found["overall"]["model"]["accuracy"] > 0.9


def test_a_card_says_that_not_all_folds_were_tested(monkeypatch):
    labelled = documents(ordered=True)
    parts = resolve(open_config())
    model = train_labelled(parts, labelled, name="t")
    assert (
        judging.assess_model(model, parts, labelled=labelled)["how"]
        == "5-fold cross-validation over documents"
    )
    monkeypatch.setattr(judging, "ENOUGH", 40)
    test = judging.assess_model(model, parts, labelled=labelled)
    assert test["how"] == "5-fold cross-validation over documents, 2 of them tested" and test["n"] == 48
