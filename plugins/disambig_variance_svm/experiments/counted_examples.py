"""Examples of the five sets in counted text, each with counts from which its own paragraph is taken off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import DenseBlocks, Words
from disambig.api.counts import NgramCounts, batches, columns_of
from disambig.api.experiments import Progress, cached, text_lines, with_left_out
from disambig.api.text import view_of_texts

from ..plain_text import COUNTED, files
from .enough import check_parts
from .spelling_sets import FiveSets

LAYOUT = 1


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Examples of one set, and the fold of the paragraph of each."""

    batch: DenseBlocks
    folds: NDArray[np.int64]


def counted_examples(data: Path, counts: Path, *, progress: Progress) -> Mapping[str, DenseBlocks]:
    """Return all examples of the counted text by set; they are cached."""
    task = FiveSets()
    sources = files(data, COUNTED)

    def make(path: Path) -> None:
        extractor = NgramCounts(counts=counts)
        parts: list[list[DenseBlocks]] = [[] for _ in task.groups]
        for number, source in enumerate(sources):
            progress("finding examples in counted text", number, len(sources))
            for texts in batches(text_lines(source)):
                view = view_of_texts(texts, Words())
                instances = task.instances(view)
                for g, group in enumerate(task.groups):
                    here = instances.take(np.flatnonzero(instances.groups == g))
                    if len(here):
                        parts[g].append(with_left_out(extractor, view, here, group))
        arrays = {}
        for g, found in enumerate(parts):
            check_parts(data, task.groups[g].name, {"in counted text": len(found)})
            arrays[f"values{g}"] = np.concatenate([batch.values for batch in found])
            arrays[f"costs{g}"] = np.concatenate([batch.costs for batch in found])
        with path.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)

    about = {
        "layout": LAYOUT,
        "sets": [list(group.candidates) for group in task.groups],
        "counts": counts.name,
    }
    path = cached("five-sets", ".npz", sources=sources, about=about, make=make)
    found = {}
    with np.load(path, allow_pickle=False) as arrays:
        for g, group in enumerate(task.groups):
            values = arrays[f"values{g}"]
            _, k, a = values.shape
            column_of = np.arange(k * a).reshape(k, a)
            found[group.name] = DenseBlocks(values, column_of, columns_of(group), arrays[f"costs{g}"])
    return found
