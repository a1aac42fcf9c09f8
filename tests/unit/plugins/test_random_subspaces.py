"""Averages over random subspaces: masks, sums, the same bits everywhere, other people's learners, configs."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from disambig_random_subspace.learners import (
    SGD,
    ConfidenceWeighted,
    PassiveAggressive,
    Perceptron,
    RandomSubspaces,
    keep_masks,
)
from disambig_variance_svm.learners import OneVersusAll
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from toy_learners import KernelRidge
from toy_learners import Perceptron as ToyPerceptron

from disambig.config import resolve
from disambig.data import CrossedRows
from disambig.errors import UserError
from disambig.models import load_model, save_model
from disambig.testing import blocks, check_learner, crossed
from disambig.training import train

BASES = {
    "perceptron": Perceptron(seed=3),
    "sgd": SGD(seed=3),
    "pa": PassiveAggressive(seed=3),
    "cw": ConfidenceWeighted(seed=3),
}


def copies(batch, masks):
    return [CrossedRows(csr_array(batch.rows.toarray() * mask), batch.costs, batch.columns) for mask in masks]


# Masks


@given(
    dimensions=st.integers(1, 3000),
    rate=st.floats(0, 1, exclude_max=True),
    first=st.integers(0, 300),
    n=st.integers(0, 9),
    seed=st.integers(0, 2**40),
)
def test_exactly_the_asked_share_is_removed(dimensions, rate, first, n, seed):
    masks = keep_masks(first, first + n, dimensions=dimensions, removal_rate=rate, seed=seed)
    assert masks.shape == (n, dimensions)
    assert (np.sum(~masks, axis=1) == round(rate * dimensions)).all()


@given(first=st.integers(0, 20), last=st.integers(20, 40), seed=st.integers(0, 2**16))
def test_a_mask_depends_on_its_number_and_the_seed_alone(first, last, seed):
    settings = {"dimensions": 50, "removal_rate": 0.3, "seed": seed}
    assert (keep_masks(first, last, **settings) == keep_masks(0, 40, **settings)[first:last]).all()
    other = keep_masks(first, last, **{**settings, "seed": seed + 1})
    assert (keep_masks(first, last, **settings) != other).any() or first == last


def test_all_dimensions_are_removed_equally_often():
    masks = keep_masks(0, 2000, dimensions=20, removal_rate=0.25, seed=0)
    assert np.abs(np.mean(~masks, axis=0) - 0.25).max() < 0.05


# Averages


@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("name", BASES)
def test_without_removal_it_is_the_base_learner(name, labels):
    batch, base = crossed(labels=labels), BASES[name]
    averaged = RandomSubspaces(base=base, n_subspaces=11, removal_rate=0.0).fit(batch).scorer
    assert averaged.weights == pytest.approx(base.fit(batch).scorer.weights, abs=1e-12)
    few = RandomSubspaces(base=base, n_subspaces=11, removal_rate=0.04).fit(batch)
    assert few.report["removed"] == 0  # a 25th of 8 dimensions is none
    assert few.scorer.weights.tobytes() == averaged.weights.tobytes()


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("name", BASES)
def test_the_average_decides_by_the_mean_of_all_decision_values(name, labels):
    batch, base = crossed(labels=labels), BASES[name]
    masks = keep_masks(0, 13, dimensions=8, removal_rate=0.3, seed=5)
    each = [base.fit(copy).scorer for copy in copies(batch, masks)]
    averaged = RandomSubspaces(base=base, n_subspaces=13, removal_rate=0.3, seed=5).fit(batch)
    assert averaged.report == {"n_subspaces": 13, "dimensions": 8, "removed": 2}
    mean = np.mean([scorer.scores(batch) for scorer in each], axis=0)
    assert averaged.scorer.scores(batch) == pytest.approx(mean, abs=1e-12)
    assert averaged.scorer.weights == pytest.approx(np.mean([s.weights for s in each], axis=0), abs=1e-12)


@pytest.mark.parametrize("name", BASES)
def test_a_path_is_the_fit_of_each_size_bit_for_bit(name):
    batch, sizes = crossed(labels=3), [24, 1, 9, 16, 25, 9]
    path = RandomSubspaces(base=BASES[name], seed=2).fit_sizes(batch, sizes)
    assert [fitted.report["n_subspaces"] for fitted in path] == sizes
    for size, fitted in zip(sizes, path, strict=True):
        alone = RandomSubspaces(base=BASES[name], seed=2, n_subspaces=size).fit(batch).scorer
        assert fitted.scorer.weights.tobytes() == alone.weights.tobytes()


def fingerprint():
    """Return a hash of the weights of all bases."""
    found = hashlib.sha256()
    for base in BASES.values():
        learner = RandomSubspaces(base=base, n_subspaces=21, removal_rate=0.25, seed=7)
        found.update(learner.fit(crossed(labels=3)).scorer.weights.tobytes())
    return found.hexdigest()


def test_a_seed_means_the_same_bits_in_another_process_with_other_threads():
    code = "import test_random_subspaces; print(test_random_subspaces.fingerprint())"
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == fingerprint(), done.stderr[-2000:]


def test_another_seed_is_another_average():
    batch = crossed()
    first, second = (RandomSubspaces(n_subspaces=3, seed=seed).fit(batch).scorer.weights for seed in (0, 1))
    assert (first != second).any()


# Other people's learners


@pytest.mark.parametrize(
    "check", check_learner(RandomSubspaces(base=ToyPerceptron(), n_subspaces=5), crossed())
)
def test_the_contract_around_a_learner_that_knows_no_masks(check):
    check()


@pytest.mark.parametrize("base", [ToyPerceptron(), OneVersusAll(C=0.1)], ids=["toy", "other-plugin"])
@pytest.mark.parametrize("dense", [False, True])
def test_a_learner_that_knows_no_masks_gets_masked_copies(base, dense):
    batch = crossed()
    if dense or isinstance(base, OneVersusAll):  # LIBLINEAR's rows are arrays
        batch = CrossedRows(batch.rows.toarray(), batch.costs, batch.columns)
    masks = keep_masks(0, 10, dimensions=8, removal_rate=0.25, seed=0)
    rows = batch.rows if isinstance(batch.rows, np.ndarray) else batch.rows.toarray()
    each = [base.fit(CrossedRows(rows * mask, batch.costs, batch.columns)).scorer.weights for mask in masks]
    found = RandomSubspaces(base=base, n_subspaces=10, removal_rate=0.25).fit(batch).scorer
    assert found.weights == pytest.approx(np.mean(each, axis=0), abs=1e-9)
    assert found.scores(batch).shape == batch.cost.shape


def test_what_cannot_be_averaged_is_named():
    with pytest.raises(UserError, match=r"D774.*KernelRidge.*not linear"):
        RandomSubspaces(base=KernelRidge(), n_subspaces=2).fit(crossed())
    with pytest.raises(UserError, match=r"D774.*OneVersusAll.*DenseBlocks"):
        RandomSubspaces(base=OneVersusAll(), n_subspaces=2).fit(blocks())
    with pytest.raises(UserError, match=r"D774.*str.*not a learner"):
        RandomSubspaces(base="sgd")


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        *(({"n_subspaces": bad}, "D452") for bad in (0, -1, 2.5, True, None)),
        *(({"removal_rate": bad}, "D770") for bad in (1, 1.0, -0.1, np.nan, True, "x", None)),
        *(({"seed": bad}, "D457") for bad in (-1, 0.5, None)),
    ],
)
def test_settings_that_make_no_sense_are_refused_at_once(settings, code):
    with pytest.raises(UserError, match=rf"RandomSubspaces\.{next(iter(settings))} is") as caught:
        RandomSubspaces(**settings)
    assert caught.value.code == code
    if "n_subspaces" in settings:
        with pytest.raises(UserError, match="D452"):
            RandomSubspaces().fit_sizes(crossed(), [5, settings["n_subspaces"]])


# Configs and models

PLACES = "house street room garden village valley harbour library chapel forest".split()
TEXTS = [
    sentence.format(place, number)
    for number in range(4)
    for place in PLACES
    for sentence in ("The {} is quite old, says number {}.", "We like a quiet {} with number {}.")
]


@pytest.mark.parametrize("name", ["Perceptron", "SGD", "PassiveAggressive", "ConfidenceWeighted"])
def test_a_learner_within_a_learner_is_saved_with_its_model(name, tmp_path):
    base = {"@disambig_learners": f"random_subspace.{name}.v1", "passes": 2}
    config = {
        "task": {"@disambig_tasks": "disambig.Candidates.v1", "candidates": ["quite", "quiet"]},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {"words": {"@disambig_extractors": "disambig.SentenceWords.v1"}},
        "learner": {
            "@disambig_learners": "random_subspace.RandomSubspaces.v1",
            "n_subspaces": 9,
            "base": base,
        },
        "baseline": {"@disambig_learners": "variance_svm.SumLM.v1", "patterns": []},
    }
    parts = resolve(config)
    assert parts["learner"].base.passes == 2
    model = train(parts, {"train": TEXTS, "dev": TEXTS[:20]}, name="small", config=config, min_examples=2)
    save_model(model, tmp_path / "small")
    again = load_model(tmp_path / "small")
    assert again.config["learner"]["base"] == base
    view = parts["tokenisation"](["We like a quite garden, and the harbour is quite old."])
    assert again.decide(view).scores.tobytes() == model.decide(view).scores.tobytes()
    assert model.scorers[0].weights.any()
