"""Every registered linear learner: contributions to scores, learning curves, shared weights on disk."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest
from toy_learners import Constant, KernelRidge, Perceptron
from toy_plugin import Marks, NearbyWords, Pairs
from toy_texts import PLACES, QUIET_PLACES, SENTENCES, WORDS_CONFIG

from disambig import registry
from disambig.config import resolve
from disambig.counts import build_table
from disambig.errors import UserError
from disambig.evaluation import curve_of_labelled, curve_of_texts
from disambig.explain import OFFSET, explain_decision, rule_terms
from disambig.features import ContextProbabilities, ContextWindow, NgramCounts, SentenceWords
from disambig.formats import Labelled
from disambig.models import load_model, save_model
from disambig.text import Words
from disambig.training import read_plan, train, train_labelled

TEXTS = QUIET_PLACES[: 3 * 2 * len(PLACES)]
VIEW = Words()(["We like a quiet garden, and the harbour is quite old."])
SETTINGS = {"variance_svm.VarianceSVM.v1": ({}, {"variance": [], "sum": ["3-gram"]}, {"full_matrix": True})}
OF_COUNTS = {f"variance_svm.{name}.v1" for name in ("Majority", "SumLM", "VarianceSVM")}
LEARNERS = [
    (name, settings)
    for name, factory in sorted(registry.load_all("learners").items())
    if not name.startswith("toys.") and not getattr(factory, "of_sequences", False)
    for settings in SETTINGS.get(name, ({},))
]


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    path = tmp_path_factory.mktemp("explain") / "small.counts"
    build_table(path, [f"We like a quiet {place}. The {place} is quite old." for place in PLACES], Words())
    return path


def make_learner(name, **settings):
    return resolve({"learner": {"@disambig_learners": name, **settings}})["learner"]


def train_model(learner, *extractors, task=None):
    parts = {
        "task": task or Pairs(pairs=("quite/quiet",)),
        "tokenisation": Words(),
        "extractors": {str(i): extractor for i, extractor in enumerate(extractors)},
        "learner": learner,
        "baseline": Constant(),
    }
    return train(parts, {"train": TEXTS, "dev": TEXTS[:20]}, name="small", min_examples=2)


def sum_by_candidate(reasons):
    sums = defaultdict(float)
    for reason in reasons:
        sums[reason.candidate] += reason.contribution
    return sums


def check_sums(model, n=2):
    decisions = model.decide(VIEW)
    assert len(decisions) == n
    for index in range(n):
        record = decisions.record(index, VIEW.texts[0])
        sums = sum_by_candidate(explain_decision(model, VIEW, index) or [])
        for candidate, score in record["candidates"]:
            assert sums[candidate] == pytest.approx(score, abs=2e-4, rel=1e-6)  # records are float32


@pytest.mark.parametrize(("name", "settings"), LEARNERS, ids=[f"{name}-{s}" for name, s in LEARNERS])
def test_contributions_of_every_learner(counts, name, settings):
    learner = make_learner(name, **settings)
    check_sums(train_model(learner, NgramCounts(counts=counts)))


@pytest.mark.parametrize("name", ["variance_svm.VarianceSVM.v1", "variance_svm.ConditionalLogit.v1"])
def test_contributions_of_several_extractors(counts, name):
    learner = make_learner(name)
    model = train_model(learner, NgramCounts(counts=counts), SentenceWords())
    check_sums(model)
    model = train_model(learner, ContextProbabilities(counts=counts))
    check_sums(model)
    shown = {
        (r.candidate, r.evidence): r.count for r in explain_decision(model, VIEW, 0) if r.count is not None
    }
    assert shown[("quiet", "a quiet garden")] == 1  # the count itself, not what is made of it
    assert shown[("quiet", "like a quiet")] == len(PLACES)
    assert shown.get(("quite", "like a quite"), 0) == 0


def test_contributions_without_names_or_weights(load_with):
    load_with(toys="toy_plugin")
    model = train_model(Perceptron(), NearbyWords())
    check_sums(model)
    shown = [reason.evidence for reason in explain_decision(model, VIEW, 0)]
    assert all(re.fullmatch(r"feature \d+ of words \(it has no name\)", item) for item in shown)
    model = train_model(KernelRidge(), NearbyWords())
    assert explain_decision(model, VIEW, 0) is None


def train_labels(learner, *extractors):
    marks = [
        Labelled(text, start, start + 5, "quiet" if "quite" in text else "quite", text, str(number))
        for number, text in enumerate(TEXTS)
        for start in [text.index("qui")]
    ]
    parts = {
        "task": Marks(pairs=("quite/quiet",)),
        "tokenisation": Words(),
        "extractors": {str(i): extractor for i, extractor in enumerate(extractors)},
        "learner": learner,
        "baseline": Constant(),
    }
    return train_labelled(parts, marks, name="small", min_examples=2)


def test_contributions_of_labels_shared_weights_and_full_matrices(counts):
    learner = make_learner("variance_svm.VarianceSVM.v1")
    check_sums(train_labels(learner, NgramCounts(counts=counts)))
    learner = make_learner("variance_svm.ConditionalLogit.v1")
    task = Pairs(pairs=("quite/quiet", "like/says", "old/garden"))
    model = train_model(learner, NgramCounts(counts=counts), task=task)
    model = replace(model, scorers=(None, *model.scorers[1:]))
    assert model.shared is not None
    check_sums(model, 5)
    learner = make_learner("variance_svm.VarianceSVM.v1", full_matrix=True)
    reasons = explain_decision(train_model(learner, NgramCounts(counts=counts)), VIEW, 0)
    against = [r for r in reasons if r.candidate == "quite" and r.evidence == "a quiet garden"]
    assert len(against) == 1 and against[0].count == 1
    assert {"bias", "quiet: bias"} <= {r.evidence for r in reasons if r.candidate == "quite"}


@pytest.mark.parametrize(
    ("name", "settings"), [item for item in LEARNERS if item[0] not in OF_COUNTS], ids=str
)
def test_contributions_of_labels_of_every_learner(name, settings):
    """Biases of labels are parts of the scores."""
    learner = make_learner(name, **settings)
    check_sums(train_labels(learner, ContextWindow(named=True)))


def terms_of_decisions(model):
    """Yield the record of each decision, the terms of its candidates and their probabilities."""
    decisions = model.decide(VIEW)
    shares = model.candidate_probabilities(decisions)
    for index in range(len(decisions)):
        first, last = decisions.offsets[index : index + 2]
        scores = dict(zip(("quite", "quiet"), decisions.scores[first:last].tolist(), strict=True))
        terms = rule_terms(model.judge, int(decisions.groups[index]), scores)
        yield decisions.record(index, VIEW.texts[0]), terms, shares[first:last]


@pytest.mark.parametrize("offset", [(0.0, 0.0), (0.0, 0.5), (9.0, 0.0)], ids=str)
def test_terms_of_the_decision_rule(offset):
    """The sums of all terms give the choice, its margin and the probabilities."""
    model = train_labels(Perceptron(), ContextWindow())
    judge = replace(model.judge, offset=np.array([offset]), bias=np.array([[0.25, -0.25]]))
    for record, terms, shares in terms_of_decisions(replace(model, judge=judge)):
        totals = np.array([item.total for item in terms.values()])
        assert list(terms)[int(totals.argmax())] == record["chosen"]
        assert abs(totals[0] - totals[1]) == pytest.approx(record["margin"], rel=1e-4)
        offsets = [sum(part for name, part in item.parts if name == OFFSET) for item in terms.values()]
        assert offsets == list(offset)
        odds = np.exp(totals)
        assert odds / odds.sum() == pytest.approx(shares, rel=1e-4)


def test_factors_of_both_sides():
    model = train_labels(Perceptron(), ContextWindow())
    judge = replace(model.judge, offset=np.array([[0.0, 0.5]]), sides=np.array([[0.5, 3.0]]))
    for _, terms, shares in terms_of_decisions(replace(model, judge=judge)):
        odds = np.exp([item.total for item in terms.values()])
        assert odds / odds.sum() == pytest.approx(shares, rel=1e-4)


CURVE_LABELS = [
    Labelled(text, start, start + 5, "quiet" if "quite" in text else "quite", text, f"line {number}")
    for number, text in enumerate(QUIET_PLACES[:30])
    for start in [text.index("qui")]
]
CURVE_SETTINGS = {
    "variance_svm.VarianceSVM.v1": (
        {},
        {"variance": []},
        {"variance": [], "sum": ["3-gram", "4-gram"]},
        {"variance": [["2-gram"], ["3-gram"]]},
        {"free": ["bias"]},
        {"full_matrix": True},
    )
}
CURVE_LEARNERS = [  # a learner's further settings are slow only because there are many
    pytest.param(name, settings, id=f"{name}-{settings}", marks=pytest.mark.slow if number else ())
    for name, factory in sorted(registry.load_all("learners").items())
    if not name.startswith("toys.") and not getattr(factory, "of_sequences", False)
    for number, settings in enumerate(CURVE_SETTINGS.get(name, ({},)))
]


def make_parts(counts, name, settings, task=None):
    return {
        "task": task or Pairs(pairs=("quite/quiet",)),
        "tokenisation": Words(),
        "extractors": {"ngrams": NgramCounts(counts=counts)},
        "learner": make_learner(name, **settings),
        "baseline": make_learner("variance_svm.SumLM.v1"),
    }


@pytest.mark.parametrize(("name", "settings"), CURVE_LEARNERS)
def test_curves_of_every_learner(counts, name, settings):
    created = make_parts(counts, name, settings)
    result = curve_of_texts(created, QUIET_PLACES, sizes=(4, 40), draws=2)
    few, many = result["points"]
    assert result["baseline"] > 0.9
    learns = "Majority" not in name and "NoPreference" not in name
    assert many["accuracy"] > (0.9 if learns else 0.3)
    assert few["p_before"] is None and 0 <= many["p_before"] <= 1 and 0 <= many["p_baseline"] <= 1
    labels = curve_of_labelled(
        make_parts(counts, name, settings, task=Marks(pairs=("quite/quiet",))),
        CURVE_LABELS,
        sizes=(20,),
        draws=3,
    )
    assert labels["tested"] == 18 and 0 <= labels["points"][0]["p_baseline"] <= 1


def test_significance_and_own_candidates_in_curves(counts):
    task = resolve({"task": {"@disambig_tasks": "disambig.Candidates.v1", "candidates": ["quite", "quiet"]}})[
        "task"
    ]
    created = make_parts(counts, "variance_svm.VarianceSVM.v1", {}, task=task)
    result = curve_of_texts(created, QUIET_PLACES, sizes=(10,), draws=1)
    assert result["points"][0]["accuracy"] > 0.9
    majority = make_parts(counts, "variance_svm.Majority.v1", {})
    result = curve_of_texts(majority, QUIET_PLACES, sizes=(4, 40), draws=1)
    assert result["points"][1]["p_baseline"] < 0.01  # the baseline is right everywhere
    assert np.isclose(result["baseline"], 1.0)


@pytest.fixture
def saved_model(load_with, small_table, tmp_path):
    """Save a model of two groups with own and shared weights."""
    load_with(toys="toy_plugin")
    config = {
        "task": {"@disambig_tasks": "toys.Pairs.v1"},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {
            "ngrams": {"@disambig_extractors": "disambig.NgramCounts.v1", "counts": str(small_table)}
        },
        "learner": {"@disambig_learners": "variance_svm.ConditionalLogit.v1"},
        "baseline": {"@disambig_learners": "toys.Constant.v1"},
    }
    texts = {"train": SENTENCES * 3, "dev": SENTENCES}
    save_model(train(resolve(config), texts, name="small", config=config, min_examples=3), tmp_path / "model")
    return tmp_path / "model"


def replace_shared_weights(saved_model, weights):
    """Replace the shared weights, and make model.json agree with the file again."""
    with np.load(saved_model / "weights.npz") as archive:
        arrays = dict(archive)
    np.savez(saved_model / "weights.npz", **arrays | {"shared.weights": weights})
    data = (saved_model / "weights.npz").read_bytes()
    manifest = json.loads((saved_model / "model.json").read_text())
    manifest["files"]["weights.npz"] = {
        "size": len(data),
        "blake2b": blake2b(data, digest_size=16).hexdigest(),
    }
    (saved_model / "model.json").write_text(json.dumps(manifest))


def test_damaged_shared_weights(saved_model):
    model = load_model(saved_model)
    assert None not in model.scorers
    good = model.shared.weights
    for bad in (good[:-1], good[:, None], good[0], good * np.nan, good + 1e308):
        replace_shared_weights(saved_model, bad)
        with pytest.raises(UserError, match="D405"):
            load_model(saved_model)
    replace_shared_weights(saved_model, good)
    assert (load_model(saved_model).shared.weights == good).all()


def test_a_trained_baseline_is_refused(tmp_path):
    path = tmp_path / "my.cfg"
    path.write_text(WORDS_CONFIG.replace("disambig.NoPreference", "variance_svm.ConditionalLogit"))
    with pytest.raises(UserError) as caught:
        read_plan(path)
    assert caught.value.code == "D005"
    assert "ConditionalLogit.v1 cannot be the [baseline]: name a learner" in str(caught.value)
