"""A corpus job: a directory that holds a manifest and one output for each finished shard.

Started again, a job skips what is finished. Killed anywhere it loses nothing and doubles nothing:
a shard counts as finished once its record is there, and its record is written last.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disambig.batch.bounds import Bounds
from disambig.batch.faults import at_fault
from disambig.batch.indexing import write_index
from disambig.batch.manifest import begin_or_resume, check_directory, drafts_of, locked, new_manifest
from disambig.batch.planning import SHARD_SIZE, Plan, plan
from disambig.batch.records import load_record
from disambig.batch.runners import InProcess
from disambig.batch.shards import ShardWork, part_name
from disambig.batch.sources import Source
from disambig.batch.totals import Totals
from disambig.batch.work import Runner
from disambig.errors import UserError
from disambig.files.opening import STDIN
from disambig.formats.flags_alone import FlagsAlone
from disambig.formats.inputs import Input
from disambig.formats.writers import Format

_HALVED = 5  # shards in which the document at fault is looked for; where more fail, the machine does
_FOLDERS = 20  # of the inputs, that each worker of another machine must see


@dataclass(slots=True)
class Report:
    """What a run has done: in all, now, and what went wrong.

    Attributes
    ----------
    totals, fresh : Totals
        Of the whole job, and of this run alone.
    bad : list of str
        A message for each document that could not be read or annotated.
    left_out : list of str
        A message for each shard (or batch) that was given up.
    shards, skipped : int
        Number of shards, and of those that an earlier run had finished.
    """

    totals: Totals = field(default_factory=Totals)
    fresh: Totals = field(default_factory=Totals)
    bad: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    shards: int = 0
    skipped: int = 0

    def done(self, totals: Totals) -> None:
        """Add what was done in this run."""
        self.totals.add(totals)
        self.fresh.add(totals)


Listener = Callable[[int, Sequence[str]], None]
"""Told of progress: how much input more is done, and the messages that came of it."""


def run_job(
    directory: Path,
    inputs: Sequence[Input],
    *,
    source: Source,
    format: Format,
    field: str = "text",
    shard_size: int = SHARD_SIZE,
    bounds: Bounds | None = None,
    runner: Runner | None = None,
    force: bool = False,
    command: dict[str, Any] | None = None,
    shard_index: bool = False,
    listener: Listener = lambda amount, messages: None,
    planned: Callable[[int], None] = lambda size: None,
) -> Report:
    """Annotate `inputs` into `directory`, or go on where an earlier run was stopped.

    Parameters
    ----------
    directory : Path
        Made if need be.
    inputs : sequence of Input
    source : Source
        Where the annotator comes from; its description is part of the manifest.
    format : Format
    field : str
        Key of the text in JSONL inputs.
    shard_size : int
        Bytes of input a shard.
    bounds : Bounds, optional
        What single inputs and documents may take.
    runner : Runner, optional
        Where the shards are worked on; here if not given.
    force : bool
        Begin anew in a directory that holds something else.
    command : dict, optional
        What began the job, kept in its manifest: with it `disambig job resume` goes on.
    shard_index : bool
        Write a page that leads to the parts, too: of HTML.
    listener, planned : callables
        Told of progress in bytes of input, and of their number before the first.

    Raises
    ------
    UserError
        D309 to D312, D316 to D318, D332, D870, D871; D4xx from the models.
    """
    if any(entry.path == STDIN for entry in inputs):
        raise UserError("D317")
    _check_targets(directory, inputs)
    bounds = bounds or Bounds()
    config = {
        **source.describe(),
        "format": format.name,
        "field": field,
        "shard_size": shard_size,
        "text": getattr(format, "text", None),
        **({"only_flags": True} if isinstance(format, FlagsAlone) else {}),
        **({} if (cells := getattr(format, "safe_cells", None)) is None else {"safe_cells": cells}),
        **({"shard_index": True} if shard_index else {}),
        **bounds.plain(),
    }
    made = plan(inputs, shard_size=shard_size, field=field, whole=format.mirrors)
    _check_names(made, format)
    manifest, drafts = new_manifest(made, config, command), drafts_of(directory)
    check_directory(directory, manifest, force=force)  # before anything is written there
    with locked(directory):
        begin_or_resume(directory, manifest, force=force)
        drafts.clean()
        planned(sum(shard.size for shard in made.shards))
        folders = sorted({os.path.dirname(entry.path) or "." for entry in inputs})
        work = ShardWork(directory, source, format, field, tuple(folders[:_FOLDERS]), bounds)
        try:
            report = _run(made, work, runner or InProcess(), listener)
            if shard_index:
                write_index(directory, made.shards, language=source.language())
            return report
        finally:
            drafts.clean()  # of workers that were killed


def _run(made: Plan, work: ShardWork, runner: Runner, listener: Listener) -> Report:
    report = Report(shards=len(made.shards))
    todo, failed = [], []
    for shard in made.shards:
        record = load_record(work.directory, shard.index)
        if record is None:
            todo.append(shard)
            continue
        report.skipped += 1
        report.totals.add(record.totals)
        report.bad.extend(record.bad)
        listener(shard.size, record.bad)
    for outcome in runner.run(work, todo, tell=lambda amount: listener(amount, ())):
        shard = outcome.item
        left = shard.size - outcome.told
        if outcome.problem is not None:
            failed.append((shard, outcome.problem, left))
            continue
        report.done(outcome.result.totals)
        report.bad.extend(outcome.result.bad)
        listener(left, outcome.result.bad)
    for shard, problem, left in failed:  # looked into when no other worker has to be watched
        what = f"shard {shard.index} ({shard.parts[0].path}{' ...' if len(shard.parts) > 1 else ''})"
        if len(report.left_out) < _HALVED and (named := at_fault(shard, work, runner)) is not None:
            problem = f"{problem}; at fault is {named}"
        message = str(UserError("D314", what=what, problem=problem))
        report.left_out.append(message)
        listener(left, [message])
    return report


def _check_names(made: Plan, format: Format) -> None:
    """Make sure that no file under its own name takes the place of a part."""
    mirrored, parts = {}, set()
    for shard in made.shards:
        if shard.parts[0].kind in format.mirrors:
            mirrored.update({part.name: part.path for part in shard.parts})
        else:
            parts.add(part_name(shard, format))
    for name in sorted(parts & mirrored.keys()):
        raise UserError("D332", path=mirrored[name])


def _check_targets(directory: Path, inputs: Sequence[Input]) -> None:
    """Make sure that no output can take the place of an input."""
    for entry in inputs:
        if os.path.realpath(directory / entry.name) == os.path.realpath(entry.path):
            raise UserError("D316", path=entry.path)
