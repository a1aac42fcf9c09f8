"""Fitting learners: accepted storages, checked results, and training from lists."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from toy_learners import MeanDifference, Perceptron
from toy_plugin import Pairs

from disambig.config import resolve
from disambig.data import CandidateLists, CandidateWords, CrossedRows, DenseBlocks, DenseLists, SparseRows
from disambig.errors import UserError
from disambig.formats import parse_line, to_candidate_lists
from disambig.models import LinearScorer, decide_lists
from disambig.testing import blocks, crossed, dense_lists, lists
from disambig.training import check_scores, fit, mean_cost, to_accepted_storage, train_candidates, train_lists
from disambig.types import Fitted


@dataclass(frozen=True)
class Sparse(Perceptron):
    """Learns from sparse rows alone."""

    takes = (SparseRows,)
    seen: list = field(default_factory=list)

    def fit(self, batch, *, dev=None, rng=None):
        self.seen.append((type(batch), type(dev)))
        return super().fit(batch)


@pytest.mark.parametrize("batch", [blocks(), lists(), dense_lists(), crossed()])
def test_converts_examples_to_the_accepted_storage(batch):
    learner = Sparse(epochs=30)
    fitted = fit(learner, batch, dev=batch)
    assert learner.seen == [(SparseRows, SparseRows)]
    assert mean_cost(fitted.scorer, batch) == 0.0
    assert learner.from_state(fitted.scorer.state()).scores(batch).shape == batch.cost.shape


def test_keeps_accepted_storages_and_converts_others():
    @dataclass(frozen=True)
    class Several(Perceptron):
        takes = (DenseBlocks, SparseRows, DenseLists)

    for batch in (blocks(3), lists(3), dense_lists(3)):
        assert to_accepted_storage(Several(), batch) is batch
    assert type(to_accepted_storage(Several(), crossed(3))) is SparseRows
    assert to_accepted_storage(Perceptron(), crossed(3)).rows.shape == (3, 8)  # it says nothing: any

    class Rows(Perceptron):
        takes = (CrossedRows,)

    with pytest.raises(UserError, match=r"D459.*CrossedRows.*SparseRows"):
        fit(Rows(), lists(3))


def returning(scorer=None, **report):
    """Return a learner that gives this."""

    @dataclass(frozen=True)
    class Given(Perceptron):
        def fit(self, batch, *, dev=None, rng=None):
            return Fitted(LinearScorer(np.zeros(len(batch.columns))) if scorer is None else scorer, report)

    return Given()


class Scores:
    """A scorer that gives something."""

    def __init__(self, scores, state=None):
        self.gives, self.keeps = scores, {} if state is None else state

    def scores(self, batch):
        return self.gives(batch)

    def state(self):
        return self.keeps


def zeros_for(batch):
    return np.zeros(len(batch.cost))


@pytest.mark.parametrize(
    ("scorer", "message"),
    [
        (Scores(lambda b: np.zeros((len(b.cost), 1))), r"shape \(\d+, 1\).*one finite float for"),
        (Scores(lambda b: np.zeros(3)), r"scores gave an array of shape \(3,\)"),
        (Scores(lambda b: np.zeros(len(b.cost), int)), "an array of int64"),
        (Scores(lambda b: [0.0] * len(b.cost)), "scores gave a list"),
        (Scores(lambda b: None), "scores gave None"),
        (Scores(lambda b: np.full(len(b.cost), np.nan)), "scores are nan, the first of row 0"),
        (Scores(zeros_for, {"words": np.array(["a"])}), "under 'words'.*arrays of numbers"),
        (Scores(zeros_for, [1.0]), "state returned a list"),
        (type("Half", (), {"scores": staticmethod(zeros_for)})(), "Half of .* no method state"),
        (type("Half", (), {"state": dict})(), "no method scores"),
    ],
)
def test_names_a_scorer_that_breaks_the_contract(scorer, message):
    with pytest.raises(UserError, match=message) as caught:
        fit(returning(scorer), lists(), part="the learner mine.Given.v1")
    assert caught.value.code == "D414"
    assert "mine.Given.v1" in str(caught.value)
    assert "a mistake in the plugin" in str(caught.value)


def test_names_a_learner_that_breaks_the_contract():
    class Silent(Perceptron):
        def fit(self, batch, *, dev=None, rng=None):
            return None

    class Names(Perceptron):
        takes = ("SparseRows",)

    for learner, message in (
        (returning(found=np.zeros(3)), "report has an array.*under 'found'.*plain values"),
        (Silent(), "learner Silent: fit gave None; expected Fitted"),
        (object(), "no method fit"),
        (Names(), r"takes is \('SparseRows',\)"),
    ):
        with pytest.raises(UserError, match=f"D414.*{message}"):
            fit(learner, lists())
    check_scores(np.zeros(len(lists().cost), np.float32), lists(), part="anything")


def test_names_a_learner_whose_fit_lacks_a_parameter():
    class Alone(Perceptron):
        def fit(self, batch, rng=None):
            raise AssertionError("not called")

    with pytest.raises(
        UserError, match=r"D414.*Alone: fit\(batch, rng=None\) .* 'dev'; .*fit\(batch, \*, dev"
    ):
        fit(Alone(), lists())


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


def make_lists(n=60, seed=0):
    """Return lists of texts without blanks; the right candidate has the head words a and b."""
    draw = np.random.default_rng(seed)
    words, tags = [], []
    for _ in range(n):
        between = ["x"] * int(draw.integers(0, 3))
        words += [["a", *between, "c"], ["a", *between, "b"]]
        tags += [["N", *["P"] * len(between), "N"]] * 2
    texts = ["".join(of_candidate) for of_candidate in words]
    without_blanks = CandidateLists.from_texts(list(zip(texts[::2], texts[1::2], strict=True)))
    costs = np.tile(np.array([1, 0], np.float32), n)
    return replace(without_blanks, costs=costs, words=CandidateWords.from_words(words, tags))


@dataclass(frozen=True)
class ReportsSizes(MeanDifference):
    """Reports the numbers of lists for fitting and for tuning."""

    def fit(self, batch, *, dev=None, rng=None):
        result = super().fit(batch, dev=dev, rng=rng)
        sizes = {"learned": len(batch.offsets) - 1, "dev": None if dev is None else len(dev.offsets) - 1}
        return Fitted(result.scorer, {**result.report, **sizes})


def train_on_lists(lists, documents=DOCUMENTS, learner=MeanDifference, **settings):
    parts = {**resolve(CONFIG), "learner": learner()}
    return train_candidates(parts, lists, documents, name="made", min_examples=2, **settings)


def test_lists_are_learned_from_and_decided():
    model, other = train_on_lists(make_lists()), make_lists(seed=1)
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


def test_learners_get_the_tuning_lists():
    (report,) = train_on_lists(make_lists(), learner=ReportsSizes).provenance["groups"].values()
    assert report["dev"] == 12 and report["learned"] == 48  # a fifth of the documents
    model = train_on_lists(make_lists(), learner=ReportsSizes, tune=make_lists(7, seed=2))
    (report,) = model.provenance["groups"].values()
    assert report["dev"] == 7 and report["learned"] == 60


def test_lists_without_costs_are_left_out_and_reported():
    without_blanks = make_lists()
    costs = without_blanks.costs.copy()
    costs[:20] = np.nan
    sizes = train_on_lists(replace(without_blanks, costs=costs)).provenance["examples"]["account"]
    assert (sizes["read"], sizes["used"]) == (60, 50) and list(sizes["left_out"].values()) == [10]
    for none in (np.nan, 1.0):
        with pytest.raises(UserError, match=r"D337.*60 lists"):
            train_on_lists(replace(without_blanks, costs=np.full(120, none, np.float32)))
    with pytest.raises(UserError, match=r"D337.*3 lists"):
        train_on_lists(without_blanks, tune=replace(make_lists(3), costs=np.full(6, np.nan, np.float32)))
    with pytest.raises(ValueError, match="expected one document per list: 2 documents for 60 lists"):
        train_on_lists(without_blanks, documents=["a", "b"])


def test_tunes_on_the_training_lists_if_there_are_few_documents():
    model = train_on_lists(make_lists(4), documents=["one"] * 4, learner=ReportsSizes)
    (report,) = model.provenance["groups"].values()
    assert (report["learned"], report["dev"]) == (4, 4)
    assert "too few to hold any out for tuning: 1 document" in model.provenance["notes"][0]
    with pytest.raises(UserError, match="D336"):  # a model of places
        decide_lists(replace(model, task=Pairs(("quite/quiet",))), make_lists())


def test_files_and_columns_give_the_same_model():
    items = []
    for i in range(40):
        one = {"text": f"a {i}", "cost": 0, "words": ["a", str(i % 7)], "tags": ["N", "N"]}
        other = {"text": f"b {i}", "cost": 1, "words": ["b", str(i % 5)], "tags": ["N", "N"]}
        line = {"id": str(i), "document": str(i // 2), "candidates": [one, other]}
        items.append(parse_line(json.dumps(line), f"x:{i}"))
    parts = {**resolve(CONFIG), "learner": MeanDifference()}
    by_file = train_lists(parts, items, name="made", min_examples=2)
    columns = to_candidate_lists(items), [item.document for item in items]
    by_columns = train_candidates(parts, *columns, name="made", min_examples=2)
    assert np.array_equal(by_file.scorers[0].weights, by_columns.scorers[0].weights)
    assert by_file.provenance == by_columns.provenance
