"""Lists of trees in a file, for they take minutes to make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api.tasks import CandidateLists
from disambig_exponentiated_gradient.treebank.parseval import Parseval

from .lists import TreeLists

_COUNTS = tuple(each.name for each in fields(Parseval))


def write_lists(path: Path, found: TreeLists) -> None:
    """Write lists to a file of arrays (``.npz``)."""
    own = found.lists
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            offsets=own.offsets,
            scores=own.scores,
            ranks=own.ranks,
            costs=own.costs,
            texts=_packed(own.texts),
            references=_packed(found.references),
            **{name: getattr(found.counts, name) for name in _COUNTS},
        )


def read_lists(path: Path) -> TreeLists:
    """Return what `write_lists` wrote."""
    with np.load(path) as file:
        said: dict[str, NDArray[Any]] = dict(file)
    own = CandidateLists(
        said["offsets"], _unpacked(said["texts"]), said["scores"], said["ranks"], said["costs"]
    )
    counts = Parseval(*(said[name] for name in _COUNTS))
    return TreeLists(own, counts, tuple(_unpacked(said["references"])))


def _packed(texts: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def _unpacked(letters: NDArray[np.uint8]) -> list[str]:
    return letters.tobytes().decode().split("\n")
