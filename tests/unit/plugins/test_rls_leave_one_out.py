"""Leave-one-out of the learners: against models learned without one, and what chose lambda."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from disambig_kernel_rls.rls import RLSC, GaussianKernel, PolynomialKernel, RLSCComb, RLSCLin
from sense_rows import made

WEIGHTS = {"local": 1.0, "broad": 3.0}


@pytest.mark.parametrize(
    "learner",
    [RLSC(kernel=GaussianKernel(), regularisation=1e-2), RLSCLin(), RLSCComb(weights=WEIGHTS)],
    ids=["gaussian", "lin", "comb"],
)
@pytest.mark.parametrize("width", [25, 90], ids=["narrow", "wide"])
def test_it_is_the_share_right_of_models_without_one(learner, width):
    batch, hits = made(30, width, several=0.2), 0
    for i in range(30):
        rest, one = batch.take(np.delete(np.arange(30), i)), batch.take(np.array([i]))
        same = replace(learner, regularisation=learner.regularisation * 30 / 29)
        hits += batch.costs[i, same.fit(rest).scorer.scores(one).argmax()] == 0
    assert learner.leave_one_out(batch) == pytest.approx(hits / 30) and 0 < hits < 30


@pytest.mark.parametrize(
    "learner",
    [
        RLSC(kernel=PolynomialKernel(normalise="groups"), regularisation="loo"),
        RLSCLin(regularisation="loo"),
        RLSCComb(weights="loo", regularisation="loo"),
    ],
    ids=["polynomial", "lin", "comb"],
)
def test_it_is_what_chose_lambda(learner):
    batch = made(several=0.2)
    assert learner.leave_one_out(batch) == learner.fit(batch).report["leave_one_out"]


def test_learning_that_does_not_ask_does_not_report_it():
    assert "leave_one_out" not in RLSCComb().fit(made()).report
