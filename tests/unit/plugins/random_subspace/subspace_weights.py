"""A hash of learned weights; another process imports this module without pytest and the tests."""

from __future__ import annotations

import hashlib

from disambig_random_subspace.learners import (
    SGD,
    ConfidenceWeighted,
    PassiveAggressive,
    Perceptron,
    RandomSubspaces,
)

from disambig.testing import crossed


def fingerprint() -> str:
    """Return a hash of the weights of all learners over random subspaces."""
    result = hashlib.sha256()
    for learner in (Perceptron, SGD, PassiveAggressive, ConfidenceWeighted):
        subspaces = RandomSubspaces(base=learner(seed=3), n_subspaces=21, removal_rate=0.25, seed=7)
        result.update(subspaces.fit(crossed(labels=3)).scorer.weights.tobytes())
    return result.hexdigest()
