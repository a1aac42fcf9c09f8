"""Learning curves of every registered learner, over words and over labels, and of sets of one's own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from toy_plugin import Pairs

from disambig import registry
from disambig.config import resolve
from disambig.counts import build_table
from disambig.evaluation import curve_of_labelled, curve_of_texts
from disambig.features import NgramCounts
from disambig.formats import Labelled
from disambig.text import Words
from disambig.types import Decides

PLACES = "house street room garden village valley harbour library chapel forest".split()
TEXTS = [
    sentence.format(place, number)
    for number in range(8)
    for place in PLACES
    for sentence in ("The {} is quite old, says number {}.", "We like a quiet {} with number {}.")
]
LABELLED = [
    Labelled(text, start, start + 5, "quiet" if "quite" in text else "quite", text, f"line {number}")
    for number, text in enumerate(TEXTS[:30])
    for start in [text.index("qui")]
]
SETTINGS = {
    "variance_svm.VarianceSVM.v1": (
        {},
        {"variance": []},
        {"variance": [], "sum": ["3-gram", "4-gram"]},
        {"variance": [["2-gram"], ["3-gram"]]},
        {"free": ["bias"]},
        {"full_matrix": True},
    )
}
LEARNERS = [  # a learner's further settings are slow only because there are many
    pytest.param(name, settings, id=f"{name}-{settings}", marks=pytest.mark.slow if number else ())
    for name, factory in sorted(registry.load_all("learners").items())
    if not name.startswith("toys.") and not getattr(factory, "of_sequences", False)
    for number, settings in enumerate(SETTINGS.get(name, ({},)))
]


@dataclass(frozen=True)
class Speed(Pairs):
    """Labels of places, not words: "quite" and "quiet" only mark where."""

    decides = Decides(between="labels")

    def instances(self, view):
        found = Pairs.instances(self, view)
        return replace(found, observed=np.full_like(found.observed, -1))


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    path = tmp_path_factory.mktemp("curve") / "small.counts"
    build_table(path, [f"We like a quiet {place}. The {place} is quite old." for place in PLACES], Words())
    return path


def parts(counts, name, settings, task=None):
    learner = {"@disambig_learners": name, **settings}
    built = resolve({"learner": learner, "baseline": {"@disambig_learners": "variance_svm.SumLM.v1"}})
    return {
        "task": task or Pairs(pairs=("quite/quiet",)),
        "tokenisation": Words(),
        "extractors": {"ngrams": NgramCounts(counts=counts)},
        **built,
    }


@pytest.mark.parametrize(("name", "settings"), LEARNERS)
def test_every_learner_has_a_curve(counts, name, settings):
    made = parts(counts, name, settings)
    found = curve_of_texts(made, TEXTS, sizes=(4, 40), draws=2)
    few, many = found["points"]
    assert found["baseline"] > 0.9
    learns = "Majority" not in name and "NoPreference" not in name
    assert many["accuracy"] > (0.9 if learns else 0.3)
    assert few["p_before"] is None and 0 <= many["p_before"] <= 1 and 0 <= many["p_baseline"] <= 1
    labels = curve_of_labelled(
        parts(counts, name, settings, task=Speed(pairs=("quite/quiet",))), LABELLED, sizes=(20,), draws=5
    )
    assert labels["tested"] == 30 and 0 <= labels["points"][0]["p_baseline"] <= 1


def test_own_candidates_have_one(counts):
    task = resolve({"task": {"@disambig_tasks": "disambig.Candidates.v1", "candidates": ["quite", "quiet"]}})[
        "task"
    ]
    made = parts(counts, "variance_svm.VarianceSVM.v1", {}, task=task)
    found = curve_of_texts(made, TEXTS, sizes=(10,), draws=1)
    assert found["points"][0]["accuracy"] > 0.9


def test_what_is_plainly_better_is_so_by_the_test(counts):
    majority = parts(counts, "variance_svm.Majority.v1", {})
    found = curve_of_texts(majority, TEXTS, sizes=(4, 40), draws=1)
    assert found["points"][1]["p_baseline"] < 0.01  # the baseline is right everywhere
    assert np.isclose(found["baseline"], 1.0)
