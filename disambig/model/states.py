"""Scorers' arrays side by side: one array a key for all groups, so that a file holds few of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.types import Arrays

ABSENT = -1
"""The size of an array that a group does not have."""


def stack(states: Sequence[Arrays]) -> dict[str, NDArray[Any]]:
    """Put the arrays of equal keys behind one another; dtypes and shapes are kept.

    Each key gets two arrays: the values of all groups, flat, and ``KEY.sizes``, shape ``(n_groups,)``;
    a third, ``KEY.shapes``, shape ``(n_groups, ndim)``, where the arrays are not one-dimensional.

    Raises
    ------
    TypeError
        For arrays of Python objects, and for a key whose arrays differ in dtype or dimensions.
    """
    stacked: dict[str, NDArray[Any]] = {}
    for key in sorted({key for state in states for key in state}):
        arrays = [np.asarray(state[key]) if key in state else None for state in states]
        present = [array for array in arrays if array is not None]
        kinds = {(array.dtype, array.ndim) for array in present}
        if len(kinds) > 1 or present[0].dtype.hasobject:
            raise TypeError(f"state {key!r} needs plain arrays of one dtype in every group, not {kinds}")
        stacked[key] = np.concatenate([array.ravel() for array in present])
        stacked[f"{key}.sizes"] = np.array([ABSENT if array is None else array.size for array in arrays])
        if present[0].ndim != 1:
            none = (0,) * present[0].ndim
            shapes = [none if array is None else array.shape for array in arrays]
            stacked[f"{key}.shapes"] = np.array(shapes, np.int64).reshape(len(states), present[0].ndim)
    return stacked


def unstack(stacked: Mapping[str, NDArray[Any]], n: int) -> list[dict[str, NDArray[Any]]]:
    """Return the states of `n` groups from what `stack` made of them.

    Raises
    ------
    KeyError, ValueError
        Where arrays are missing or do not fit together.
    """
    states: list[dict[str, NDArray[Any]]] = [{} for _ in range(n)]
    for key in [key for key in stacked if not key.endswith((".sizes", ".shapes"))]:
        values, sizes = stacked[key], stacked[f"{key}.sizes"]
        shapes = stacked.get(f"{key}.shapes")
        whole = sizes.dtype.kind == "i" and sizes.shape == (n,) and bool((sizes >= ABSENT).all())
        lengths = np.maximum(sizes, 0) if whole else sizes
        if not whole or values.ndim != 1 or lengths.sum() != len(values) or (lengths > len(values)).any():
            raise ValueError(f"{key} and its sizes")
        for group, part in enumerate(np.split(values, np.cumsum(lengths)[:-1]) if n else []):
            if sizes[group] != ABSENT:
                states[group][key] = part if shapes is None else part.reshape(shapes[group])
    return states
