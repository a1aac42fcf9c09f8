"""Refuses data with too few examples for an experiment, before anything is learned from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError


def check_parts(path: Path, what: str, parts: Mapping[str, int]) -> None:
    """Refuse data where a part is without examples.

    Parameters
    ----------
    path : path
        Where the data are, for the message.
    what : str
        What an example is of.
    parts : mapping of str to int
        Examples by what they are for (``"to test on"``).

    Raises
    ------
    UserError
        D725, with the parts that are empty.
    """
    empty = [name for name, n in parts.items() if not n]
    if empty:
        raise UserError("D725", path=path, problem=f"no example of {what} {' and '.join(empty)}")


def check_folds(path: Path, what: str, fold_of: NDArray[np.int64], folds: int) -> None:
    """Refuse data where a fold is without examples (D725): each is tested on, tuned on and learned from."""
    used = len(np.unique(fold_of))
    if used < folds:
        problem = f"only {used} of {folds} folds have an example of {what}; every one needs some"
        raise UserError("D725", path=path, problem=problem)
