"""Where the n-grams of a table come from, by slices of keys: the runs of a job's shards, or other tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from disambig.counts.building.counter import kinds_of
from disambig.counts.building.derive import Pruned, merged, slice_places
from disambig.counts.building.merging import Merge, Merged
from disambig.counts.building.runs import Run
from disambig.counts.jobs.shards import runs_of
from disambig.counts.locate import open_table
from disambig.counts.table import CountTable


class Stretch(Protocol):
    """The n-grams of some slices, pruned; how many of each kind passed is known when all did."""

    seen: list[int]
    distinct: list[int]
    kept: list[int]

    def chunks(self, first: int, stop: int) -> Iterator[Merged]:
        """Yield the n-grams of the slices ``first:stop``."""
        ...


class Opened(Protocol):
    """A source whose files are open."""

    edges: NDArray[np.int64]
    """How many n-grams lie before each slice, shape ``(SLICES + 1,)``."""

    def stretch(self) -> Stretch:
        """Return what gives n-grams and counts them from 0."""
        ...


class Source(Protocol):
    """Small and can be pickled: what a worker opens."""

    def open(self) -> Opened:
        """Open the files."""
        ...


@dataclass(frozen=True, slots=True)
class Shards:
    """The runs of the shards of a job."""

    directory: Path
    shards: int
    orders: int
    gaps: bool
    min_counts: Mapping[int, int] | None

    def open(self) -> Opened:
        """Read where the runs lie; D877 for a shard that is not what was written."""
        kinds = kinds_of(self.orders, gaps=self.gaps)
        return _OpenShards(self, kinds, runs_of(self.directory, self.shards, len(kinds)))


class _OpenShards:
    def __init__(self, source: Shards, kinds: tuple[int, ...], runs: list[list[Run]]) -> None:
        self._source, self._kinds, self._runs = source, kinds, runs
        self.edges = self.stretch().edges

    def stretch(self) -> Merge:
        return Merge(self._source.orders, self._kinds, self._runs, self._source.min_counts)


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables that keep their keys."""

    paths: tuple[str, ...]
    orders: int
    gaps: bool
    min_counts: Mapping[int, int] | None

    def open(self) -> Opened:
        """Open the tables."""
        return _OpenTables(self, [open_table(path) for path in self.paths])


class _OpenTables:
    def __init__(self, source: Tables, tables: list[CountTable]) -> None:
        self._source, self._tables = source, tables
        self.edges = slice_places(tables).sum(axis=0)

    def stretch(self) -> _Joined:
        return _Joined(self._source, self._tables)


class _Joined:
    def __init__(self, source: Tables, tables: list[CountTable]) -> None:
        self._tables = tables
        self._pruned = Pruned(source.orders, source.gaps, source.min_counts)
        self.seen, self.distinct, self.kept = self._pruned.seen, self._pruned.distinct, self._pruned.kept

    def chunks(self, first: int, stop: int) -> Iterator[Merged]:
        stretch = merged(self._tables, self._pruned.kinds, first, stop)
        return self._pruned.chunks(stretch, 0, None)
