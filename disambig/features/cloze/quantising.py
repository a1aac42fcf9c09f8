"""From weights as they are learned to integers of 8 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.features.cloze.model import LARGEST, Cloze
from disambig.features.cloze.vocabulary import Vocabulary

Floats = NDArray[np.float32]
_LEAST = 1e-9
"""What is smaller counts as this, so that a row of zeros has a step, too."""


def quantised(
    vocabulary: Vocabulary,
    weights: dict[str, Floats],
    *,
    left: int,
    right: int,
    most_hidden: float,
    header: dict[str, Any],
) -> Cloze:
    """Return the model of learned weights.

    Parameters
    ----------
    weights : dict of arrays of float32
        ``embeddings``, ``inputs`` (of shape ``(places, D, H)``), ``hidden_bias``, ``states``, ``state_bias``,
        ``outputs``, ``output_bias`` (see `Cloze`).
    most_hidden : float
        The largest value of a hidden unit that is told from larger ones.
    """
    embeddings, word_scale = _rows(weights["embeddings"])
    input_scale = np.float32(max(float(np.abs(weights["inputs"]).max()), _LEAST) / LARGEST)
    states, state_scale = _rows(weights["states"].T)
    outputs, output_scale = _rows(weights["outputs"])
    return Cloze(
        vocabulary,
        left,
        right,
        embeddings,
        word_scale,
        np.round(weights["inputs"] / input_scale).astype(np.int8),
        np.array([input_scale], np.float32),
        weights["hidden_bias"].astype(np.float32),
        np.array([most_hidden / 255], np.float32),
        np.ascontiguousarray(states.T),
        state_scale,
        weights["state_bias"].astype(np.float32),
        outputs,
        output_scale,
        weights["output_bias"].astype(np.float32),
        header,
    )


def _rows(values: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Return each row in steps of its own, and the steps."""
    steps = np.maximum(np.abs(values).max(axis=1), _LEAST) / LARGEST
    return np.round(values / steps[:, None]).astype(np.int8), steps.astype(np.float32)
