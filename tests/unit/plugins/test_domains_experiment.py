"""The experiment over domains, on small made batches: its systems, its rows and what its claims say."""

from __future__ import annotations

import numpy as np
from disambig_variance_svm import HELD_OUT
from disambig_variance_svm.experiments import (
    AS_IS,
    NEAR,
    PLAIN,
    POOLED,
    PRIOR,
    SUM,
    Bergsma2010Domains,
    domains,
)

from disambig.testing import blocks


def made(seed, n=60):
    return {part: blocks(n, seed=seed + i) for i, part in enumerate(("train", "dev", "test"))}


def test_every_system_is_tried_at_every_size_there_are_examples_for():
    found = domains.run_trials(made(1), [made(11), made(21)], sizes=(10, 30, 1000), quick=True)
    assert set(found) == {PLAIN, PRIOR, NEAR, POOLED, AS_IS, SUM}
    assert {size for size in found[PLAIN]} == {10, 30} and set(found[SUM]) == set(found[AS_IS]) == {0}
    assert [len(found[PRIOR][10]), len(found[POOLED][10])] == [2, domains.POOLED_DRAWS]
    assert all(hit.shape == (60,) for by_size in found.values() for hits in by_size.values() for hit in hits)


def test_a_lead_is_a_claim_that_holds_only_where_the_test_says_so():
    right, wrong = np.ones(100, bool), np.arange(100) % 2 == 0
    even = {10: [wrong, wrong]}
    found = {
        name: {
            PLAIN: even,
            PRIOR: even,
            POOLED: even,
            NEAR: {10: [right]},
            AS_IS: {0: [right]},
            SUM: {0: [wrong]},
        }
        for name in ("first", "second")
    }
    held = {claim.claim: claim for claim in domains.domain_claims(found)}
    assert held[domains.CLAIMS[PLAIN].format(10)].holds
    assert "+50.00 points, ahead in 2 of 2" in held[domains.CLAIMS[PLAIN].format(10)].evidence
    assert not held[domains.CLAIMS[AS_IS].format(10)].holds
    rows = list(domains.domain_rows(found))
    mean = next(row for row in rows if (row.system, row.setting) == (PLAIN, "10"))
    assert (mean.ours, mean.n, mean.spread) == (50.0, 200, 0.0)
    assert {row.setting for row in rows if row.system == SUM} == {"", "first", "second"}


def test_pooling_is_compared_with_the_draw_it_has():
    right, wrong, half = np.ones(100, bool), np.zeros(100, bool), np.arange(100) % 2 == 0
    one = {PLAIN: {10: [half, half]}, PRIOR: {10: [half, half]}, POOLED: {10: [half]}, AS_IS: {0: [half]}}
    one |= {NEAR: {10: [right, wrong]}, SUM: {0: [half]}}
    leads = {at["rival"]: at["lead"] for at in domains.domain_pairs({"one": one}).values()}
    assert leads == {PLAIN: 0.0, AS_IS: 0.0, PRIOR: 0.0, POOLED: 50.0}
    said = {claim.claim: claim.evidence for claim in domains.domain_claims({"one": one})}
    assert "+50.00 points, ahead in 1 of 1 domains (first draw)" in said[domains.CLAIMS[POOLED].format(10)]
    assert "(all draws), McNemar p" in said[domains.CLAIMS[PLAIN].format(10)]


def test_the_first_examples_are_taken():
    assert domains.first(blocks(12, seed=1), 5).values.shape[0] == 5


def test_it_says_what_it_needs():
    assert (
        Bergsma2010Domains().needs == HELD_OUT
        and Bergsma2010Domains().title
        and Bergsma2010Domains().description
    )
