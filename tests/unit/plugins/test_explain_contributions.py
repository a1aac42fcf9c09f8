"""Explanations: contributions sum to the score for every linear learner, whatever the columns it weighs."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
import pytest
from toy_learners import Constant, KernelRidge, Perceptron
from toy_plugin import NearbyWords, Pairs

from disambig import registry
from disambig.config import resolve
from disambig.counts import build_table
from disambig.explain import OFFSET, explain_decision, rule_terms
from disambig.features import ContextProbabilities, ContextWindow, NgramCounts, SentenceWords
from disambig.formats import Labelled
from disambig.text import Words
from disambig.training import train, train_labelled
from disambig.types import Decides

PLACES = "house street room garden village valley harbour library chapel forest".split()
TEXTS = [
    sentence.format(place, number)
    for number in range(3)
    for place in PLACES
    for sentence in ("The {} is quite old, says number {}.", "We like a quiet {} with number {}.")
]
VIEW = Words()(["We like a quiet garden, and the harbour is quite old."])
SETTINGS = {
    "variance_svm.VarianceSVM.v1": ({}, {"variance": [], "sum": ["3-gram"]}, {"full_matrix": True}),
}
OF_COUNTS = {f"variance_svm.{name}.v1" for name in ("Majority", "SumLM", "VarianceSVM")}
LEARNERS = [
    (name, settings)
    for name, factory in sorted(registry.load_all("learners").items())
    if not name.startswith("toys.") and not getattr(factory, "of_sequences", False)
    for settings in SETTINGS.get(name, ({},))
]


@dataclass(frozen=True)
class Speed(Pairs):
    """Labels of places."""

    decides = Decides(between="labels")

    def instances(self, view):
        found = Pairs.instances(self, view)
        return replace(found, observed=np.full_like(found.observed, -1))


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    path = tmp_path_factory.mktemp("explain") / "small.counts"
    build_table(path, [f"We like a quiet {place}. The {place} is quite old." for place in PLACES], Words())
    return path


def trained(learner, *extractors, task=None):
    parts = {
        "task": task or Pairs(pairs=("quite/quiet",)),
        "tokenisation": Words(),
        "extractors": {str(i): extractor for i, extractor in enumerate(extractors)},
        "learner": learner,
        "baseline": Constant(),
    }
    return train(parts, {"train": TEXTS, "dev": TEXTS[:20]}, name="small", min_examples=2)


def by_candidate(reasons):
    sums = defaultdict(float)
    for reason in reasons:
        sums[reason.candidate] += reason.contribution
    return sums


def check_sums(model):
    decisions = model.decide(VIEW)
    assert len(decisions) == 2
    for index in range(2):
        record = decisions.record(index, VIEW.texts[0])
        sums = by_candidate(explain_decision(model, VIEW, index) or [])
        for candidate, score in record["candidates"]:
            assert sums[candidate] == pytest.approx(score, abs=2e-4, rel=1e-6)  # records are float32


@pytest.mark.parametrize(("name", "settings"), LEARNERS, ids=[f"{name}-{s}" for name, s in LEARNERS])
def test_every_registered_learner(counts, name, settings):
    learner = resolve({"learner": {"@disambig_learners": name, **settings}})["learner"]
    check_sums(trained(learner, NgramCounts(counts=counts)))


@pytest.mark.parametrize("name", ["variance_svm.VarianceSVM.v1", "variance_svm.ConditionalLogit.v1"])
def test_extractors_side_by_side_and_smoothed(counts, name):
    learner = resolve({"learner": {"@disambig_learners": name}})["learner"]
    model = trained(learner, NgramCounts(counts=counts), SentenceWords())
    check_sums(model)
    model = trained(learner, ContextProbabilities(counts=counts))
    check_sums(model)
    shown = {
        (r.candidate, r.evidence): r.count for r in explain_decision(model, VIEW, 0) if r.count is not None
    }
    assert shown[("quiet", "a quiet garden")] == 1  # the count itself, not what is made of it
    assert shown[("quiet", "like a quiet")] == len(PLACES)
    assert shown.get(("quite", "like a quite"), 0) == 0


def test_full_matrix_names_whose_ngram_it_is(counts):
    learner = resolve({"learner": {"@disambig_learners": "variance_svm.VarianceSVM.v1", "full_matrix": True}})
    reasons = explain_decision(trained(learner["learner"], NgramCounts(counts=counts)), VIEW, 0)
    against = [r for r in reasons if r.candidate == "quite" and r.evidence == "a quiet garden"]
    assert len(against) == 1 and against[0].count == 1
    assert {"bias", "quiet: bias"} <= {r.evidence for r in reasons if r.candidate == "quite"}


def test_crossed_rows_have_their_columns_by_number(load_with):
    load_with(toys="toy_plugin")
    model = trained(Perceptron(), NearbyWords())
    check_sums(model)
    shown = [reason.evidence for reason in explain_decision(model, VIEW, 0)]
    assert all(re.fullmatch(r"feature \d+ of words \(it has no name\)", each) for each in shown)


def labels_learned(learner, *extractors):
    marks = [
        Labelled(text, start, start + 5, "quiet" if "quite" in text else "quite", text, str(number))
        for number, text in enumerate(TEXTS)
        for start in [text.index("qui")]
    ]
    parts = {
        "task": Speed(pairs=("quite/quiet",)),
        "tokenisation": Words(),
        "extractors": {str(i): extractor for i, extractor in enumerate(extractors)},
        "learner": learner,
        "baseline": Constant(),
    }
    return train_labelled(parts, marks, name="small", min_examples=2)


def test_labels_are_explained(counts):
    learner = resolve({"learner": {"@disambig_learners": "variance_svm.VarianceSVM.v1"}})["learner"]
    check_sums(labels_learned(learner, NgramCounts(counts=counts)))


@pytest.mark.parametrize(
    ("name", "settings"),
    [each for each in LEARNERS if each[0] not in OF_COUNTS],
    ids=str,
)
def test_labels_of_every_registered_learner(name, settings):
    """Biases of labels, wherever a learner has them, are parts of the scores."""
    learner = resolve({"learner": {"@disambig_learners": name, **settings}})["learner"]
    check_sums(labels_learned(learner, ContextWindow(named=True)))


@pytest.mark.parametrize("offset", [(0.0, 0.0), (0.0, 0.5), (9.0, 0.0)], ids=str)
def test_what_a_judge_of_labels_adds_decides(offset):
    """Sums of all parts, the judge's among them, give the choice, its margin and the probabilities."""
    model = labels_learned(Perceptron(), ContextWindow())
    judge = replace(model.judge, offset=np.array([offset]), bias=np.array([[0.25, -0.25]]))
    model = replace(model, judge=judge)
    decisions = model.decide(VIEW)
    shares = model.candidate_probabilities(decisions)
    for index in range(len(decisions)):
        first, last = decisions.offsets[index : index + 2]
        scores = dict(zip(("quite", "quiet"), decisions.scores[first:last].tolist(), strict=True))
        terms = rule_terms(model.judge, int(decisions.groups[index]), scores)
        totals = np.array([each.total for each in terms.values()])
        record = decisions.record(index, VIEW.texts[0])
        assert list(terms)[int(totals.argmax())] == record["chosen"]
        assert abs(totals[0] - totals[1]) == pytest.approx(record["margin"], rel=1e-4)
        offsets = [sum(part for name, part in each.parts if name == OFFSET) for each in terms.values()]
        assert offsets == list(offset)
        odds = np.exp(totals)
        assert odds / odds.sum() == pytest.approx(shares[first:last], rel=1e-4)


def test_the_factors_of_both_sides_are_part_of_the_terms():
    model = labels_learned(Perceptron(), ContextWindow())
    judge = replace(model.judge, offset=np.array([[0.0, 0.5]]), sides=np.array([[0.5, 3.0]]))
    model = replace(model, judge=judge)
    decisions = model.decide(VIEW)
    shares = model.candidate_probabilities(decisions)
    for index in range(len(decisions)):
        first, last = decisions.offsets[index : index + 2]
        scores = dict(zip(("quite", "quiet"), decisions.scores[first:last].tolist(), strict=True))
        terms = rule_terms(model.judge, int(decisions.groups[index]), scores)
        odds = np.exp([each.total for each in terms.values()])
        assert odds / odds.sum() == pytest.approx(shares[first:last], rel=1e-4)


def test_without_weights_nothing_is_said():
    model = trained(KernelRidge(), NearbyWords())
    assert explain_decision(model, VIEW, 0) is None


def test_weights_that_groups_share_are_those_of_their_columns(counts):
    learner = resolve({"learner": {"@disambig_learners": "variance_svm.ConditionalLogit.v1"}})["learner"]
    task = Pairs(pairs=("quite/quiet", "like/says", "old/garden"))
    model = trained(learner, NgramCounts(counts=counts), task=task)
    model = replace(model, scorers=(None, *model.scorers[1:]))
    assert model.shared is not None
    decisions = model.decide(VIEW)
    for index in range(len(decisions)):
        sums = by_candidate(explain_decision(model, VIEW, index) or [])
        for candidate, score in decisions.record(index, VIEW.texts[0])["candidates"]:
            assert sums[candidate] == pytest.approx(score, abs=2e-4, rel=1e-6)  # records are float32
