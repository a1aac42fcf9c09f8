"""Decisions from rows of numbers, for tests of how decisions are processed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from disambig.data import Decisions, Group


def make_decisions(
    table: Sequence[Group], rows: Sequence[tuple[int, ...]], *, task: str = "t", **columns: Any
) -> Decisions:
    """Return flagged decisions from rows (document, start, end, group, observed, chosen).

    `columns` overrides the default values of other columns, such as ``probabilities``.
    """
    documents, starts, ends, groups, observed, chosen = np.array(rows, np.int32).reshape(-1, 6).T
    n = len(rows)
    sizes = [len(table[group].candidates) for group in groups]
    values = {
        "offsets": np.append(0, np.cumsum(sizes)).astype(np.int64),
        "scores": np.zeros(sum(sizes), np.float32),
        "margins": np.ones(n, np.float32),
        "probabilities": np.full(n, 0.9, np.float32),
        "flagged": np.ones(n, bool),
        "n_hits": np.zeros(n, np.int32),
        "n_queries": np.zeros(n, np.int32),
    }
    for name, value in columns.items():
        values[name] = np.broadcast_to(np.asarray(value, values[name].dtype), values[name].shape).copy()
    places = {"documents": documents, "starts": starts, "ends": ends, "groups": groups}
    return Decisions(
        task=task, model="made 1", table=tuple(table), **places, observed=observed, chosen=chosen, **values
    )
