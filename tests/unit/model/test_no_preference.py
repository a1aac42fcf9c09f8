"""The learner that learns nothing: it passes the contract, and candidates tie."""

from __future__ import annotations

import pytest

from disambig.models import NoPreference
from disambig.testing import blocks, check_learner, crossed


@pytest.mark.parametrize(
    "check", [*check_learner(NoPreference()), *check_learner(NoPreference(), crossed())], ids=str
)
def test_contract(check):
    check()


def test_all_candidates_score_the_same():
    batch = blocks()
    scores = NoPreference().fit(batch).scorer.scores(batch)
    assert len(scores) == len(batch.cost) and not scores.any()
