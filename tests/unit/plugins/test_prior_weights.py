"""Weights of a trained model as the prior of another: found by their columns, never guessed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from disambig_variance_svm.learners import SharedScorer, VarianceSVM, weights_from_prior
from disambig_variance_svm.learners import variance_svm as prior_weights
from toy_texts import SENTENCES

from disambig.config import resolve
from disambig.errors import UserError
from disambig.models import load_model, save_model
from disambig.testing import blocks
from disambig.text import Words, view_of_texts
from disambig.training import train

TEXTS = {"train": SENTENCES * 3, "dev": SENTENCES}


def trained(table, *, pairs=("quite/quiet", "peace/piece"), name="VarianceSVM", **learner):
    settings = {"variance": ["3-gram"]} if name == "VarianceSVM" else {}
    config = {
        "task": {"@disambig_tasks": "toys.Pairs.v1", "pairs": list(pairs)},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {"ngrams": {"@disambig_extractors": "disambig.NgramCounts.v1", "counts": str(table)}},
        "learner": {"@disambig_learners": f"variance_svm.{name}.v1", **settings, **learner},
        "baseline": {"@disambig_learners": "variance_svm.SumLM.v1"},
    }
    return train(resolve(config), TEXTS, name="small", config=config, min_examples=3)


@pytest.fixture
def home(load_with, small_table, tmp_path):
    load_with(toys="toy_plugin")
    save_model(trained(small_table, C=1.0, variance=[]), tmp_path / "other")
    return tmp_path / "other"


def batch_of(model, group):
    view = view_of_texts(SENTENCES, Words())
    instances = model.task.instances(view)
    return model.features(view, instances.take(instances.groups == group), group).batch


def test_each_group_gets_the_weights_of_its_own_columns(home):
    model = load_model(home)
    for group, scorer in enumerate(model.scorers):
        assert (weights_from_prior(str(home), batch_of(model, group)) == scorer.weights).all()
    assert not np.array_equal(model.scorers[0].weights, model.scorers[1].weights)


def test_without_evidence_the_weights_stay_those_of_the_prior_but_for_the_free_mean(home, small_table):
    model = trained(small_table, C=1e-9, prior=str(home))
    for mine, given in zip(model.scorers, load_model(home).scorers, strict=True):
        gap = mine.weights - given.weights
        in_subset = batch_of(model, 0).columns.in_groups(["3-gram"])
        assert np.ptp(gap[in_subset]) < 1e-4 and np.abs(gap[~in_subset]).max() < 1e-4
    assert not np.allclose(trained(small_table, C=1e-9).scorers[0].weights, model.scorers[0].weights)


def test_the_order_of_the_groups_does_not_matter(home, small_table):
    turned = trained(small_table, pairs=("peace/piece", "quite/quiet"), C=1e-9, prior=str(home))
    known = load_model(home).scorers[0].weights
    assert (weights_from_prior(str(home), batch_of(turned, 1)) == known).all()


TOO_FEW = ("quite/quiet", "desert/dessert")


def test_a_group_that_the_other_model_could_not_learn_is_named(load_with, small_table, tmp_path):
    load_with(toys="toy_plugin")
    save_model(trained(small_table, pairs=TOO_FEW), tmp_path / "other")
    model = load_model(tmp_path / "other")
    assert model.scorers[1] is None
    with pytest.raises(UserError, match="too few examples to learn weights for 'desert/dessert'") as caught:
        weights_from_prior(str(tmp_path / "other"), batch_of(model, 1))
    assert caught.value.code == "D750"


def test_a_group_without_weights_of_its_own_has_the_shared_ones(load_with, small_table, tmp_path):
    load_with(toys="toy_plugin")
    save_model(trained(small_table, pairs=TOO_FEW, name="ConditionalLogit"), tmp_path / "other")
    model = load_model(tmp_path / "other")
    batch = batch_of(model, 1)
    assert model.scorers[1] is None and model.shared.weights.any()
    found = weights_from_prior(str(tmp_path / "other"), batch)
    assert (found == np.tile(model.shared.weights, 2)).all()
    assert (found != weights_from_prior(str(tmp_path / "other"), batch_of(model, 0))).any()
    assert batch.scores(found) == pytest.approx(model.shared.scores(batch))


def test_shared_weights_of_other_attributes_are_refused(load_with, small_table, tmp_path, monkeypatch):
    load_with(toys="toy_plugin")
    save_model(trained(small_table, pairs=TOO_FEW, name="ConditionalLogit"), tmp_path / "other")
    model = load_model(tmp_path / "other")
    short = replace(model, shared=SharedScorer(model.shared.weights[:-1]))
    monkeypatch.setattr(prior_weights, "load_model", lambda prior: short)
    with pytest.raises(
        UserError, match="its scorer for 'desert/dessert' is not one weight a column"
    ) as caught:
        weights_from_prior("other", batch_of(model, 1))
    assert caught.value.code == "D750"


def test_other_candidates_and_unnamed_columns_are_refused(home, small_table):
    with pytest.raises(UserError) as caught:
        trained(small_table, pairs=("maybe/may be",), prior=str(home))
    assert caught.value.code == "D750" and "maybe" in str(caught.value)
    with pytest.raises(UserError) as caught:
        VarianceSVM(variance=(), prior=str(home)).fit(blocks(5))
    assert caught.value.code == "D750"


def test_a_model_that_does_not_exist_is_named():
    with pytest.raises(UserError) as caught:
        VarianceSVM(prior="no/such/model").fit(blocks(5))
    assert caught.value.code == "D404" and "no/such/model" in str(caught.value)


def test_scorers_that_are_not_one_weight_a_column_are_refused(load_with, small_table, tmp_path):
    load_with(toys="toy_plugin")
    save_model(trained(small_table, C=1.0, full_matrix=True), tmp_path / "other")
    model = load_model(tmp_path / "other")
    with pytest.raises(UserError) as caught:
        weights_from_prior(str(tmp_path / "other"), batch_of(model, 0))
    assert caught.value.code == "D750"
