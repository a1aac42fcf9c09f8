"""Small weights are left out and the others kept in half precision: a pack is to be downloaded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from disambig.model.model import Model

SHARE = 0.05
"""Weights below this share of a word's largest are left out."""


def pruned(model: Model) -> Model:
    """Return the model with the columns of each word that matter.

    What all senses of a word have in common decides nothing: each column's mean is taken off first.
    """
    scorers = []
    for scorer in model.scorers:
        if scorer is None:
            scorers.append(None)
            continue
        k, d = len(scorer.bias), len(scorer.columns)
        weights = scorer.weights.reshape(k, d)
        weights = weights - weights.mean(axis=0)
        size = np.abs(weights).max(axis=0, initial=0.0)
        kept = size >= SHARE * size.max(initial=0.0)
        half = weights[:, kept].astype(np.float16)
        scorers.append(replace(scorer, columns=scorer.columns[kept], weights=half.ravel()))
    return replace(model, scorers=tuple(scorers))
