"""Weights of terms: the kernel finds those that the table has."""

from __future__ import annotations

import numpy as np

from disambig.decision import HashedWeights


def test_terms_weigh_the_same_with_and_without_the_kernel(monkeypatch):
    rng = np.random.default_rng(0)
    edges = np.array([1, 2**40, 2**40 + 1, 2**64 - 1], np.uint64)
    known = np.unique(np.concatenate([rng.integers(0, 2**64, 200, np.uint64), edges]))
    terms = HashedWeights(known, rng.normal(size=len(known)))
    asked = rng.choice(np.concatenate([terms.keys, terms.keys + np.uint64(1), [np.uint64(0)]]), (9, 4, 7))
    found = {}
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        found[engine] = terms.sums(asked)
        assert np.array_equal(terms.sums(asked[:, :, ::-1][:, :, ::-1]), found[engine])
        assert terms.sums(asked[:0]).shape == (0, 4)
    assert np.array_equal(found["numpy"], found["numba"])
    weights = dict(zip(terms.keys.tolist(), terms.weights.tolist(), strict=True))
    wanted = [[sum(weights.get(key, 0.0) for key in each) for each in row] for row in asked.tolist()]
    np.testing.assert_allclose(found["numba"], wanted, rtol=1e-12, atol=1e-12)
