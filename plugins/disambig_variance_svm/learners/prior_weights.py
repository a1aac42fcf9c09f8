"""Prior weights from a trained model, such as one learned in another domain: found by their columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, Columns, Scorer, UserError, load_model

Floats = NDArray[np.float64]
Meaning = tuple[tuple[str, str], ...]


def weights_of(prior: str, batch: CandidateBatch) -> Floats:
    """Return the weights that a trained model has for the columns of `batch`.

    Columns are the same where their names and feature groups are, in the same order: the same
    candidates, seen by the same extractors. Where the model had too few examples of these candidates, its
    weights are those that all its groups share.

    Parameters
    ----------
    prior : str
        A task, PACK/TASK or a model directory.

    Returns
    -------
    array of float64, shape (n_columns,)

    Raises
    ------
    UserError
        D402 to D409 where there is no such model, D750 where it has no such columns, or not one weight
        for each.
    """
    model = load_model(prior)
    wanted = _meaning(batch.columns)
    group = _groups(model).get(wanted) if wanted else None
    if group is None:
        names: Sequence[str] = batch.columns.names
        shown = f"such as {names[0]!r}" if len(names) else "without names"
        problem = f"none of its groups has these {len(batch.columns)} columns, {shown}"
        raise UserError("D750", prior=prior, problem=problem)
    name = model.task.groups[group].name
    scorer = model.scorers[group] if model.scorers[group] is not None else model.shared
    if scorer is None:
        problem = f"it had too few examples to learn weights for {name!r}"
        raise UserError("D750", prior=prior, problem=problem)
    weights = _weights(scorer, batch)
    if weights is None:
        problem = f"its scorer for {name!r} is not one weight a column"
        raise UserError("D750", prior=prior, problem=problem)
    return weights


def _weights(scorer: Scorer, batch: CandidateBatch) -> Floats | None:
    """Return a scorer's weight for each column; None where it has other ones."""
    linear = getattr(scorer, "linear", None)
    if linear is None:
        return None
    try:
        same, weights = linear(batch)
    except (TypeError, ValueError):  # of other attributes
        return None
    return np.asarray(weights) if len(weights) == len(batch.columns) and same is batch else None


@lru_cache(maxsize=4)
def _groups(model: Any) -> dict[Meaning, int]:
    """Return the group of each set of columns of a model."""
    nothing = model.tokenisation([])
    nowhere = model.task.instances(nothing)
    return {_meaning(model.features(nothing, nowhere, g).batch.columns): g for g in range(len(model.scorers))}


def _meaning(columns: Columns) -> Meaning:
    """Return name and feature group of each column; nothing where they have no names."""
    groups = columns.groups.tolist()
    return tuple((str(name), columns.group_names[g]) for name, g in zip(columns.names, groups, strict=False))
