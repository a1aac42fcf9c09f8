"""Columns with one more for each label, its intercept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from disambig.api import Columns


def wider_columns(columns: Columns, k: int) -> Columns:
    """Return the columns of `k` labels with one more for each, its intercept."""
    width = len(columns) // k
    ends = np.arange(1, k + 1) * width
    return Columns(
        np.insert(columns.labels, ends, np.arange(k, dtype=np.int32)),
        np.insert(columns.groups, ends, len(columns.group_names)),
        (*columns.group_names, "intercept"),
        _Names(columns.names, width) if len(columns.names) else (),
    )


class _Names(Sequence[str]):
    """The names of columns with one more for each label, made when they are asked for."""

    def __init__(self, names: Sequence[str], width: int) -> None:
        self._names, self._width = names, width

    def __len__(self) -> int:
        return len(self._names) // self._width * (self._width + 1)

    def __getitem__(self, at: Any) -> Any:
        label, column = divmod(range(len(self))[at], self._width + 1)
        return "intercept" if column == self._width else self._names[label * self._width + column]
