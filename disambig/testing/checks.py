"""What a check is, and how objects offer theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.types import Arrays, CandidateBatch


class Check(NamedTuple):
    """A pair: what is checked, and the function that raises `AssertionError` where it does not hold."""

    name: str
    run: Callable[[], None]

    def __call__(self) -> None:
        """Run the check."""
        self.run()

    def __str__(self) -> str:
        return self.name


def checks_of(owner: Any) -> list[Check]:
    """Return the methods of `owner` that are not private, in the order in which they are written."""
    return [Check(name, getattr(owner, name)) for name in vars(type(owner)) if not name.startswith("_")]


def require(holds: bool | np.bool_, message: str) -> None:
    """Raise `AssertionError` with `message` unless `holds` (``assert`` goes away under ``python -O``)."""
    if not holds:
        raise AssertionError(message)


def require_equal(seen: Any, expected: Any, what: str) -> None:
    """Raise unless two arrays are equal bit for bit."""
    seen, expected = np.asarray(seen), np.asarray(expected)
    require(seen.shape == expected.shape, f"{what}: shape {seen.shape}, expected {expected.shape}")
    require(np.array_equal(seen, expected), f"{what}: {seen} is not {expected}")


def require_close(seen: Any, expected: Any, what: str, *, within: float = 1e-6) -> None:
    """Raise unless two arrays agree up to `within`, relative to the largest value."""
    seen, expected = np.asarray(seen, np.float64), np.asarray(expected, np.float64)
    require(seen.shape == expected.shape, f"{what}: shape {seen.shape}, expected {expected.shape}")
    if seen.size:
        require(bool(np.isfinite(seen).all()), f"{what}: not finite: {seen}")
        worst = float(np.abs(seen - expected).max())
        scale = max(1.0, float(np.abs(expected).max()))
        require(worst <= within * scale, f"{what}: off by {worst:.3g}: {seen} is not {expected}")


def require_state(arrays: Arrays, what: str) -> None:
    """Raise unless `arrays` can be saved without pickle: named NumPy arrays of plain numbers."""
    for name, array in arrays.items():
        kind = getattr(getattr(array, "dtype", None), "kind", "O")
        require(kind in "biuf", f"{what}: state {name!r} is no array of numbers but {type(array).__name__}")


def require_batch(batch: CandidateBatch, what: str) -> None:
    """Raise unless a batch is in order and its `adjoint` is the adjoint of its `scores`."""
    n_rows, n_columns = len(batch.cost), len(batch.columns)
    offsets = batch.offsets
    steps = np.diff(offsets)
    require(offsets[0] == 0 and offsets[-1] == n_rows, f"{what}: offsets do not cover the {n_rows} rows")
    require(bool((steps > 0).all()), f"{what}: an instance has no row")
    require(bool((batch.cost >= 0).all()), f"{what}: a cost is negative")
    rng = np.random.default_rng(0)
    weights, mass = rng.normal(size=n_columns), rng.normal(size=n_rows)
    scores, sums = batch.scores(weights), batch.adjoint(mass)
    require(scores.shape == (n_rows,), f"{what}: scores of shape {scores.shape} for {n_rows} rows")
    require(sums.shape == (n_columns,), f"{what}: adjoint of shape {sums.shape} for {n_columns} columns")
    require_close(mass @ scores, weights @ sums, f"{what}: adjoint is not that of scores", within=1e-4)
    require(batch.row_sqnorm().shape == (n_rows,), f"{what}: row_sqnorm of another shape than ({n_rows},)")
    if len(steps):
        index = np.array([len(steps) - 1, 0])
        rows = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in index])
        require_close(
            batch.take(index).scores(weights), scores[rows], f"{what}: take changes scores", within=1e-5
        )


def plain(value: Any) -> bool:
    """Tell whether `value` can be written as JSON."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(plain(item) for item in value)
    return value is None or type(value) in (str, int, float, bool)


def accuracy(batch: CandidateBatch, scores: NDArray[np.float64]) -> float:
    """Return the share of instances whose best row costs nothing."""
    from disambig.data import segments

    best = batch.offsets[:-1] + segments.argmax(scores, batch.offsets)
    return float(np.mean(batch.cost[best] == 0))
