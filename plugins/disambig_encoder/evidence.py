"""The extractor that compares each candidate with the written word."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, Columns, DenseBlocks, Features, Group, Instances, TokenView, by_group
from disambig.api.batches import DenseLists
from disambig.api.packs import packs

from .encoder import EVIDENCE, Encoder

NAME = "encoder"
"""Feature group of the attributes."""


def encoder_folder(name: str | Path) -> Path:
    """Return the folder of the encoder in an installed pack, or else the folder of this name."""
    brought = packs().get(str(name))
    return brought.folders["encoder"] if brought and "encoder" in brought.folders else Path(name)


@lru_cache(maxsize=2)
def _opened(folder: Path, threads: int | None) -> Encoder:
    """Return an encoder, which all models that use it share: it takes 100 MB of memory."""
    return Encoder.load(folder, threads=threads)


class EncoderEvidence:
    """Extractor of the evidence of an encoder for each candidate against the observed one.

    The attributes are the columns of `Encoder.compare`; those of the observed candidate are zero. Every
    sentence with an instance is read once as written and once with each candidate, which takes milliseconds:
    use it for few instances.

    As evidence of the decision rule `disambig.SecondLook.v1`, it only reads sentences in which a correction
    is proposed.

    Parameters
    ----------
    folder : path
        Folder of the encoder, or the name of an installed pack that has one.
    threads : int, optional
        See `Encoder.load`.

    Raises
    ------
    UserError
        On first use D747, D748 (see `Encoder.load`).
    """

    folders: ClassVar[tuple[str, ...]] = ("folder",)

    def __init__(self, *, folder: str | Path, threads: int | None = None) -> None:
        self.folder = folder
        self.threads = threads

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, opened on first use."""
        return _opened(encoder_folder(self.folder).resolve(), self.threads)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> EncoderEvidence:
        """Return self; the encoder was trained beforehand."""
        return self

    def state(self) -> Arrays:
        """Return nothing; the folder is referenced, not copied."""
        return {}

    def from_state(self, arrays: Arrays) -> EncoderEvidence:
        """Return self."""
        return self

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the evidence for the candidates of instances of one group."""
        values = self._evidence(view, instances, group)
        costs = instances.costs(group)
        n_columns = len(EVIDENCE)
        none = np.zeros(len(values), np.int32)
        columns = Columns(np.full(n_columns, -1, np.int32), np.zeros(n_columns, np.int32), (NAME,), EVIDENCE)
        if instances.own is not None:
            return Features(DenseLists(values, instances.own.offsets, costs, columns), none, none)
        k = len(group.candidates)
        shared = np.tile(np.arange(n_columns), (k, 1))
        batch = DenseBlocks(values.reshape(-1, k, n_columns), shared, columns, costs.reshape(-1, k))
        return Features(batch, none, none)

    def _evidence(self, view: TokenView, instances: Instances, group: Group) -> NDArray[np.float32]:
        """Return the columns of each candidate, shape ``(n_candidates, len(EVIDENCE))``."""
        offsets = instances.offsets(group)
        last = instances.positions + instances.lengths - 1
        starts = view.starts[instances.positions]
        ends = np.where(instances.lengths > 0, view.ends[last], starts)
        documents = view.document_indices(instances.positions)
        candidates = instances.texts(group)
        texts, edits, rows = [], [], []
        for i in range(len(instances)):
            for j, candidate in enumerate(candidates[int(offsets[i]) : int(offsets[i + 1])]):
                if j != instances.observed[i]:
                    texts.append(view.texts[documents[i]])
                    edits.append((int(starts[i]), int(ends[i]), candidate))
                    rows.append(int(offsets[i]) + j)
        values = np.zeros((int(offsets[-1]), len(EVIDENCE)), np.float32)
        if rows:
            values[rows] = self.encoder.compare(texts, edits)
        return values

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "threads": self.threads}
