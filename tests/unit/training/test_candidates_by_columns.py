"""Lists by columns are learned from and decided without a file; what is tuned on is the learner's dev."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from toy_learners import MeanDifference
from toy_plugin import Pairs

from disambig.config import resolve
from disambig.data import CandidateLists, CandidateWords
from disambig.errors import UserError
from disambig.formats import parse_line, to_candidate_lists
from disambig.models import decide_lists
from disambig.training import train_candidates, train_lists
from disambig.types import Fitted

CONFIG = {
    "task": {"@disambig_tasks": "disambig.Lists.v1"},
    "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
    "extractors": {
        "heads": {"@disambig_extractors": "disambig.HeadwordBigrams.v1", "tags": ["N"]},
        "words": {"@disambig_extractors": "disambig.TextNgrams.v1"},
    },
    "learner": {"@disambig_learners": "disambig.NoPreference.v1"},
    "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
}
DOCUMENTS = [f"document {i // 2}" for i in range(60)]


def made(n=60, seed=0):
    """Lists without blanks: the right candidate has the heads a and b, whatever lies between."""
    draw = np.random.default_rng(seed)
    words, tags = [], []
    for _ in range(n):
        between = ["x"] * int(draw.integers(0, 3))
        words += [["a", *between, "c"], ["a", *between, "b"]]
        tags += [["N", *["P"] * len(between), "N"]] * 2
    own = CandidateLists.from_texts([["".join(words[2 * i]), "".join(words[2 * i + 1])] for i in range(n)])
    costs = np.tile(np.array([1, 0], np.float32), n)
    return replace(own, costs=costs, words=CandidateWords.from_words(words, tags))


@dataclass(frozen=True)
class Remembers(MeanDifference):
    """Says how many lists it was given to learn from and to tune on."""

    def fit(self, batch, *, dev=None, rng=None):
        found = super().fit(batch, dev=dev, rng=rng)
        told = {"learned": len(batch.offsets) - 1, "dev": None if dev is None else len(dev.offsets) - 1}
        return Fitted(found.scorer, {**found.report, **told})


def trained(lists, documents=DOCUMENTS, learner=MeanDifference, **settings):
    parts = {**resolve(CONFIG), "learner": learner()}
    return train_candidates(parts, lists, documents, name="made", min_examples=2, **settings)


def test_lists_are_learned_from_and_decided():
    model, other = trained(made()), made(seed=1)
    decisions = decide_lists(model, other)
    assert decisions.chosen.tolist() == [1] * 60
    assert len(decisions.scores) == len(other.texts)
    names = list(model.extractors[0].known.names)
    assert names == ["a b", "a c"]
    unknown = replace(other, costs=np.full(120, np.nan, np.float32))
    assert np.array_equal(decide_lists(model, unknown).scores, decisions.scores)  # costs are not looked at
    examples = model.provenance["examples"]
    assert (examples["lists"], examples["documents"]) == (60, 30)
    assert examples["account"] == {"what": "lists", "read": 60, "used": 60, "left_out": {}}


def test_what_is_tuned_on_is_the_development_data_of_learners():
    (report,) = trained(made(), learner=Remembers).provenance["groups"].values()
    assert report["dev"] == 12 and report["learned"] == 48  # a fifth of the documents
    (report,) = trained(made(), learner=Remembers, tune=made(7, seed=2)).provenance["groups"].values()
    assert report["dev"] == 7 and report["learned"] == 60


def test_lists_without_costs_are_left_out_and_told_of():
    own = made()
    costs = own.costs.copy()
    costs[:20] = np.nan
    told = trained(replace(own, costs=costs)).provenance["examples"]["account"]
    assert (told["read"], told["used"]) == (60, 50) and list(told["left_out"].values()) == [10]
    for none in (np.nan, 1.0):
        with pytest.raises(UserError, match=r"D337.*60 lists"):
            trained(replace(own, costs=np.full(120, none, np.float32)))
    with pytest.raises(UserError, match=r"D337.*3 lists"):
        trained(own, tune=replace(made(3), costs=np.full(6, np.nan, np.float32)))
    with pytest.raises(ValueError, match="expected one document per list: 2 documents for 60 lists"):
        trained(own, documents=["a", "b"])


def test_few_documents_are_learned_from_and_tuned_on():
    model = trained(made(4), documents=["one"] * 4, learner=Remembers)
    (report,) = model.provenance["groups"].values()
    assert (report["learned"], report["dev"]) == (4, 4)
    assert "too few to hold any out for tuning: 1 document" in model.provenance["notes"][0]


def test_a_file_and_columns_give_the_same_model():
    items = [
        parse_line(
            f'{{"id": "{i}", "document": "{i // 2}", "candidates": ['
            f'{{"text": "a {i}", "cost": 0, "words": ["a", "{i % 7}"], "tags": ["N", "N"]}},'
            f'{{"text": "b {i}", "cost": 1, "words": ["b", "{i % 5}"], "tags": ["N", "N"]}}]}}',
            f"x:{i}",
        )
        for i in range(40)
    ]
    parts = {**resolve(CONFIG), "learner": MeanDifference()}
    by_file = train_lists(parts, items, name="made", min_examples=2)
    by_columns = train_candidates(
        parts, to_candidate_lists(items), [item.document for item in items], name="made", min_examples=2
    )
    assert np.array_equal(by_file.scorers[0].weights, by_columns.scorers[0].weights)
    assert by_file.provenance == by_columns.provenance


def test_a_model_of_places_decides_no_lists():
    model = trained(made())
    places = replace(model, task=Pairs(("quite/quiet",)))
    with pytest.raises(UserError, match="D336"):
        decide_lists(places, made())
