"""Every registered learner with every storage that it accepts, and those that take a decoder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from disambig import registry
from disambig.config import resolve
from disambig.data import Columns, DenseBlocks, DenseLists, JoinedRows, convert
from disambig.errors import UserError
from disambig.testing import blocks, chains, check_learner, crossed, crossed_lists, dense_lists, lists
from disambig.training import to_accepted_storage
from disambig.types import needs_training


def shared(n):
    """Return blocks whose candidates share their columns: lists of equal length."""
    batch = blocks(n)
    columns = Columns(np.full(5, -1, np.int32), np.arange(5, dtype=np.int32), batch.columns.group_names)
    return DenseBlocks(batch.values, np.tile(np.arange(5), (3, 1)), columns, batch.costs)


PROBLEMS = {
    "blocks": blocks(30),
    "crossed rows": crossed(30),
    "words and counts": JoinedRows.from_parts([blocks(30), replace(crossed(30), costs=blocks(30).costs)]),
    "sparse lists": lists(30),
    "dense lists": dense_lists(30),
    "equal lists": convert(shared(30), DenseLists),
    "crossed lists": crossed_lists(30),
    "joined lists": JoinedRows.from_parts([lists(30), dense_lists(30)]),
    "chains": chains(15),
}


LISTS = {"sparse lists", "dense lists", "equal lists", "crossed lists", "joined lists"}


"""What every linear learner learns from."""


SETTINGS = {
    "random_subspace.RandomSubspaces.v1": {"n_subspaces": 9},
    "variance_svm.KSVM.v1": {"C": 0.3},
    "variance_svm.OneVersusAll.v1": {"C": 0.3},
}


WITH_GROUPS = {"variance_svm.VarianceSVM.v1": "variance", "variance_svm.SumLM.v1": "patterns"}


"""The setting that names feature groups: all that there are."""


CHAIN = {"@disambig_decoders": "disambig.Chain.v1"}


REFUSED = {
    "boosted_lasso.AveragedPerceptron.v1": {"chains"},
    "boosted_lasso.BLasso.v1": {"chains"},
    "boosted_lasso.Boosting.v1": {"chains"},
    "boosted_lasso.FBoosting.v1": {"chains"},
    "boosted_lasso.FSLR.v1": {"chains"},
    "boosted_lasso.PairwiseL2.v1": {"chains"},
    "exponentiated_gradient.EG.v1": {"chains"},
    "kernel_rls.RLSC.v1": {"chains"},
    "kernel_rls.RLSCComb.v1": {"chains"},
    "kernel_rls.RLSCLin.v1": {"chains"},
    "kernel_rls.SVMComb.v1": {"chains"},
    "kernel_rls.SVMLin.v1": {"chains"},
    "random_subspace.ConfidenceWeighted.v1": {"chains"},
    "random_subspace.PassiveAggressive.v1": {"chains"},
    "random_subspace.Perceptron.v1": {"chains"},
    "random_subspace.RandomSubspaces.v1": {"chains"},
    "random_subspace.SGD.v1": {"chains"},
    "random_subspace.StructuredPerceptron.v1": set(PROBLEMS) - {"chains"},
    "variance_svm.KSVM.v1": {"chains"},
    "variance_svm.OneVersusAll.v1": {"chains"},
    "variance_svm.VarianceSVM.v1": {"chains"},
}


"""The storages that a learner says it does not take; without a decoder sequences are none."""


LEARNERS = sorted(registry.load_all("learners"))


CASES = [(name, problem) for name in LEARNERS for problem in PROBLEMS if problem not in REFUSED.get(name, ())]


def learner_of(name, batch, **settings):
    """Return a learner that is built from a config."""
    section = {"@disambig_learners": name, **SETTINGS.get(name, {}), **settings}
    if name in WITH_GROUPS:
        section[WITH_GROUPS[name]] = [group for group in batch.columns.group_names if group != "bias"]
    return resolve({"learner": section})["learner"]


@pytest.mark.parametrize(("name", "problem"), CASES, ids=[f"{name}-{problem}" for name, problem in CASES])
def test_learners_keep_their_contract(name, problem):
    batch = PROBLEMS[problem]
    if name == "variance_svm.Majority.v1" and "bias" not in batch.columns.group_names:
        pytest.skip("it counts by bias columns")
    for check in check_learner(learner_of(name, batch), batch, least=0.0):
        check()


@pytest.mark.parametrize("name", [name for name in LEARNERS if name in REFUSED])
def test_other_storages_are_refused(name):
    for problem in REFUSED[name]:
        batch = PROBLEMS[problem]
        with pytest.raises(UserError, match="D459"):
            to_accepted_storage(learner_of(name, batch), batch)


def test_every_linear_learner_learns_from_lists():
    for name in LEARNERS:
        if needs_training(learner_of(name, PROBLEMS["blocks"])):
            assert name == "random_subspace.StructuredPerceptron.v1" or not REFUSED.get(name, set()) & LISTS


LEARN_STRUCTURES = (
    "exponentiated_gradient.EG.v1",
    "random_subspace.SGD.v1",
    "variance_svm.ConditionalLogit.v1",
)


@pytest.mark.parametrize("problem", ["chains", "sparse lists"])
@pytest.mark.parametrize("name", [*LEARN_STRUCTURES, "random_subspace.StructuredPerceptron.v1"])
def test_a_decoder_comes_from_the_config(name, problem):
    if name not in LEARNERS:
        pytest.skip("no plugin")
    decoder = CHAIN if problem == "chains" else {"@disambig_decoders": "disambig.Enumerated.v1"}
    learner = learner_of(name, PROBLEMS[problem], decoder=decoder)
    for check in check_learner(learner, PROBLEMS[problem], least=0.9):
        check()


@pytest.mark.parametrize("problem", sorted(LISTS))
def test_learners_of_lists_learn(problem):
    batch = PROBLEMS[problem]
    for name in ("random_subspace.ConfidenceWeighted.v1", "variance_svm.KSVM.v1"):
        if name in LEARNERS:
            learns = {check.name: check for check in check_learner(learner_of(name, batch), batch, least=0.9)}
            learns["learns"]()
