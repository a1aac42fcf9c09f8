"""Counting one shard of text: its runs first, in one file, its record last."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from disambig.batch.manifest import drafts_of, seen_from_here
from disambig.batch.planning import Part, Shard
from disambig.batch.records import BROKEN, ShardRecord, load_record, save_record
from disambig.batch.totals import Totals
from disambig.batch.work import Function, Tell
from disambig.counts.building.build import Choices, count_texts, counter_for
from disambig.counts.building.inputs import paragraphs
from disambig.counts.building.runs import SLICES, Counted, DiskRun, Run, RunFile
from disambig.errors import UserError
from disambig.files.saving import saved
from disambig.files.seals import Seal
from disambig.text.tokenisations.by_name import tokenisation_named
from disambig.text.view import Tokenisation


@dataclass(frozen=True, slots=True)
class CountWork:
    """The work of a job on its shards of text; `inputs` are folders in which files are read."""

    directory: Path
    tokenisations: tuple[str, ...]
    gaps: bool
    choices: Choices
    inputs: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return the job and the folders of its inputs, as they are seen where this is asked."""
        return seen_from_here(self.directory, self.inputs)

    def start(self) -> Function:
        """Load the tokenisations and return the function that counts a shard."""
        cuts = [tokenisation_named(name) for name in self.tokenisations]
        return lambda shard, tell: count_shard(shard, cuts, tell, self)


def count_shard(shard: Shard, cuts: Sequence[Tokenisation], tell: Tell, work: CountWork) -> ShardRecord:
    """Count a shard and write its runs and its record into the job's directory.

    Raises
    ------
    UserError
        D303, D304, D308 for the text, D319 for a file that changed; D309 where something cannot be written.
    """
    began = time.monotonic()
    name, seal = f"part-{shard.index:05}.runs", Seal()
    with saved(work.directory / name, drafts=drafts_of(work.directory), seal=seal) as write:
        file = RunFile(work.directory / name, write)  # type: ignore[arg-type]
        with counter_for(work.tokenisations, gaps=work.gaps, runs_to=file, **work.choices) as counter:
            n_texts = count_texts(counter, _texts(shard, tell), *cuts)
            runs = [
                [row, run.offset, run.counts.itemsize, file.add(run.edges)]
                for row, of_kind in enumerate(counter.spill())
                for run in of_kind
                if isinstance(run, DiskRun)
            ]
    record = ShardRecord(Totals(n_texts, counter.totals[0]), said={"runs": runs, "totals": counter.totals})
    record.seal(name, seal)
    record.seconds = time.monotonic() - began
    save_record(work.directory, shard.index, record)
    return record


def finished_shard(work: CountWork, shard: Shard, kinds: int) -> ShardRecord | None:
    """Return the record of a shard that is counted, in so many kinds of n-grams."""
    record = load_record(work.directory, shard.index)
    if record is None or not isinstance(record.said.get("runs"), list):
        return None
    totals = record.said.get("totals")
    right = isinstance(totals, list) and [type(total) for total in totals] == [int] * kinds
    return record if right else None


def _texts(shard: Shard, tell: Tell) -> Iterator[str]:
    before = told = 0
    for part in shard.parts:
        _check_size(part)
        for line, done in paragraphs(part.path, part.start, part.end):
            yield line
            if before + done > told:
                told = before + done
                tell(told)
        before += (part.end or part.size) - part.start


def _check_size(part: Part) -> None:
    if os.path.exists(part.path) and os.stat(part.path).st_size != part.size:
        raise UserError("D319", path=part.path)


class KeptRun(DiskRun):
    """A run that an earlier process may have written."""

    def read(self, first: int, last: int) -> Counted:
        """Return the n-grams of the slices ``first:last``; D877 where they cannot be what was written."""
        keys, counts = DiskRun.read(self, first, last)
        size = int(self.edges[last] - self.edges[first])
        whole = len(keys) == len(counts) == size and bool(np.all(keys[1:] > keys[:-1]) and np.all(counts))
        if not whole or (size and not (first <= int(keys[0]) >> 52 and int(keys[-1]) >> 52 < last)):
            raise UserError("D877", path=self.path)
        return keys, counts


def runs_of(directory: Path, shards: int, kinds: int) -> list[list[Run]]:
    """Return the runs of all shards, for each kind.

    Raises
    ------
    UserError
        D877 for a shard whose record or runs cannot be what was written.
    """
    found: list[list[Run]] = [[] for _ in range(kinds)]
    for index in range(shards):
        path = directory / f"part-{index:05}.runs"
        record = load_record(directory, index)
        try:
            if record is None:
                raise ValueError("no record")
            for row, offset, size, at in record.said["runs"]:
                edges = np.fromfile(path, np.int64, SLICES + 1, offset=at)
                if edges[0] or np.any(edges[1:] < edges[:-1]):
                    raise ValueError("edges that do not ascend")
                found[row].append(KeptRun(path, offset, edges, np.dtype(f"u{size}")))
        except BROKEN as problem:
            raise UserError("D877", path=path) from problem
    return found
