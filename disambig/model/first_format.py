"""Format 1 of models, that of disambig 0.1.0: the judge's arrays lie with the weights, no config names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
FILES = ("config.cfg", "weights.npz")
_LABELS, _CALIBRATION, _OPERATING = "labels.", "calibration.", "operating."


def with_judge(config: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the config with the judge that the arrays are of."""
    labels = any(name.startswith(_LABELS) for name in arrays)
    name = "disambig.Labels.v1" if labels else "disambig.Corrections.v1"
    return {**config, "judge": {"@disambig_judges": name}}


def judge_arrays(arrays: Mapping[str, NDArray[Any]], said: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the state of the judge; LookupError, TypeError or ValueError where it is not whole."""
    labels = _part(arrays, _LABELS)
    if labels:
        return {"least_margin": np.zeros(1), **labels}  # the oldest had none
    rate = np.array([float(said["flags_per_1000"])])
    return {**_part(arrays, _CALIBRATION), **_part(arrays, _OPERATING), "flags_per_1000": rate}


def _part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
