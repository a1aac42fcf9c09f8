"""Build or merge count tables as a job that can be resumed."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from disambig.counts import (
    EXACT,
    MEMORY,
    BuildOptions,
    CountTable,
    TableOptions,
    TextFiles,
    bits_for,
    file as files,
    header_info,
    make_counter,
    merge_headers,
    ngram_numbers,
    record_form,
    refuse_existing,
    refuse_no_ngrams,
)
from disambig.errors import UserError
from disambig.files import STDIN, read_json, save_json
from disambig.formats import Input
from disambig.jobs._count_pieces import (
    CountSource,
    CountWork,
    KeyRange,
    PieceWork,
    ShardSource,
    TablePiece,
    TableSource,
    assemble,
    finished_piece,
    finished_shard,
    load_ranked,
    ranges,
    ranked_counts,
    save_ranked,
)
from disambig.jobs.manifest import (
    ShardPlan,
    begin_or_resume,
    check_directory,
    discard,
    input_folders,
    job_temp_files,
    locked,
    new_manifest,
    plan_shards,
)
from disambig.jobs.records import ShardRecord
from disambig.jobs.runners import InProcessRunner
from disambig.jobs.work import Runner, Work, persistent_runner, run_checked
from disambig.text import MAX_ORDER
from disambig.type_aliases import OpenProgress, no_progress

if TYPE_CHECKING:
    from typing_extensions import Unpack

MIN_SHARD_SIZE, MAX_SHARD_SIZE = 8_000_000, 128_000_000
"""Bounds of the default shard size in bytes, which is about a sixteenth of the text."""
_SHARDS = 16
_ITEMS_MULTIPLE = 4  # numbers of shards and ranges are multiples, so that 2 or 4 workers finish together
_MAX_RANGES = 256
_BYTES_PER_RANGE, _NGRAMS_PER_RANGE = 4_000_000, 3_000_000  # of text, and of merged tables
_TABLE_NOTE = "table.json"
"""In the directory of a job: which file is its finished table."""


@dataclass(frozen=True, slots=True)
class JobPlace:
    """The directory and the runner of a job."""

    directory: Path  # contains all files of the job; must be shared by all workers
    stays: bool = True  # whether to keep it after the table is written
    runner: Runner = field(default_factory=InProcessRunner)
    command: dict[str, Any] | None = None  # the command that started the job, stored in its manifest


def build_in_job(
    path: str | os.PathLike[str],
    paths: Sequence[str],
    tokenisations: Sequence[str],
    place: JobPlace,
    *,
    gaps: bool = False,
    shard_size: int | None = None,
    **choices: Unpack[BuildOptions],
) -> Path:
    """Count the n-grams of text files as a job, with the same result as `disambig.counts.build_table`.

    Raises the errors of `build_table` and `TextFiles`; D910 for standard input, D911 if a shard
    failed; D309, D312, D319, D870, D877, D912 to D915 for the job.

    `path`: file of the table.
    `paths`: see `disambig.counts.TextFiles`; not standard input.
    `tokenisations`: registered names.
    `shard_size`: bytes of text per shard; uncompressed files are split between lines.
    `**choices`: see `disambig.counts.BuildOptions`; `memory` is the limit of each worker, `temporary` is not
    used.
    """
    output, form = Path(path), record_form(choices.get("record", "exact"), keys=choices.get("keys", False))
    force = choices.get("force", False)
    _discard_finished(output, place)
    refuse_existing(output, force=force)
    if STDIN in paths:
        raise UserError("D910")
    counting = BuildOptions(
        orders=choices.get("orders", MAX_ORDER),
        keep_words=choices.get("keep_words"),
        memory=choices.get("memory", MEMORY),
    )
    with make_counter(tokenisations, gaps=gaps, **counting) as counter:  # raises an error for invalid options
        orders, kinds = counter.orders, len(counter.kinds)
    text = TextFiles(paths)
    size = shard_size or _shard_size(text.total)
    plan = plan_shards([Input(path, path, "line") for path in text.paths], shard_size=size)
    folders = input_folders(text.paths)
    job = _CountingJob(
        place, plan, text.total // _BYTES_PER_RANGE, force, choices.get("progress", no_progress)
    )
    config = {"tokenisations": tokenisations, "gaps": gaps, "shard_size": size, **_config(choices)}
    with job.begun({"counts": "build", **config}):
        work = CountWork(place.directory, tuple(tokenisations), gaps, counting, folders)
        records = job.run("count", work, plan.shards, lambda shard: finished_shard(work, shard, kinds))
        totals = [sum(record.details["totals"][row] for record in records) for row in range(kinds)]
        refuse_no_ngrams(totals, choices.get("keep_words"))
        source = ShardSource(place.directory, len(plan.shards), orders, gaps, choices.get("min_counts"))
        text_info = {"texts": sum(record.totals.documents for record in records), "sources": text.sources}
        info = header_info({name: text_info for name in tokenisations}, **choices)
        names = list(tokenisations)
        header = {
            "tokenisations": names,
            "gaps": names if gaps else [],
            "record": form.name,
            "orders": orders,
        }
        job.table(output, source, header, info, choices, totals, folders)
    return output


def merge_in_job(
    path: str | os.PathLike[str],
    tables: Sequence[CountTable],
    place: JobPlace,
    **choices: Unpack[TableOptions],
) -> Path:
    """Merge tables as a job, one range of keys at a time, as `disambig.counts.merge_tables` does.

    Parameters are those of `merge_tables` and `place`; errors are those of `merge_tables` and `build_in_job`.
    """
    output, form = Path(path), record_form(choices.get("record", "exact"), keys=choices.get("keys", False))
    force = choices.get("force", False)
    _discard_finished(output, place)
    refuse_existing(output, force=force)
    names, gaps, info = merge_headers(tables)
    inputs = tuple(
        {"name": str(table.path), "size": os.path.getsize(table.path), "identity": _identity(table.path)}
        for table in tables
    )
    n_ranges = sum(table.n_ngrams for table in tables) // _NGRAMS_PER_RANGE
    job = _CountingJob(place, ShardPlan(inputs, ()), n_ranges, force, choices.get("progress", no_progress))
    orders = tables[0].orders
    with job.begun({"counts": "merge", **_config(cast("BuildOptions", choices))}):
        header = {"tokenisations": names, "gaps": gaps, "record": form.name, "orders": orders}
        paths = tuple(str(table.path) for table in tables)
        source = TableSource(paths, orders, bool(gaps), choices.get("min_counts"))
        job.table(output, source, header, info, choices, None, input_folders(source.paths))
    return output


class _CountingJob:
    """A job whose items are the shards of a plan and ranges of keys."""

    def __init__(
        self, place: JobPlace, plan: ShardPlan, n_ranges: int, force: bool, progress: OpenProgress
    ) -> None:
        self._place, self._plan, self._force = place, plan, force
        self._runner = place.runner
        self._ranges = min(_round_to_workers(n_ranges), _MAX_RANGES)
        self._progress = progress

    @contextmanager
    def begun(self, config: dict[str, Any]) -> Iterator[None]:
        """Lock the directory during the job, and remove it at the end unless it is to be kept."""
        directory = self._place.directory
        manifest = new_manifest(self._plan, config, self._place.command)
        manifest["shards"] += self._ranges
        inputs = self._plan.inputs
        with _errors_about_job():
            # before anything is written
            check_directory(directory, manifest, force=self._force, inputs=inputs)
        with locked(directory):
            begin_or_resume(directory, manifest, force=self._force, inputs=inputs)
            (directory / _TABLE_NOTE).unlink(missing_ok=True)
            temp_files = job_temp_files(directory)
            temp_files.clean()
            try:
                with persistent_runner(self._place.runner) as self._runner:
                    yield
                    if not self._place.stays:
                        _discard(directory)  # before the workers stop, so that a kill then leaves no files
            finally:
                temp_files.clean()  # temporary files of workers that were killed

    def run(
        self, stage: str, work: Work, items: Sequence[Any], finished: Callable[[Any], ShardRecord | None]
    ) -> list[ShardRecord]:
        """Process the unfinished items; return the records of all items in order.

        Raises D911 for items that failed; all others are finished then.
        """
        records = {item.index: record for item in items if (record := finished(item)) is not None}
        amount = sum(item.size for item in items if item.index in records)

        def report_progress(more: int) -> None:
            nonlocal amount
            amount += more
            self._progress(stage, amount, None)

        report_progress(0)
        problems = []
        remaining = [item for item in items if item.index not in records]
        for outcome in run_checked(self._runner, work, remaining, report_progress=report_progress):
            report_progress(outcome.item.size - outcome.progress)
            if outcome.problem is not None:
                problems.append(f"shard {outcome.item.index}: {outcome.problem}")
            else:
                records[outcome.item.index] = outcome.result
        if problems:
            raise UserError("D911", problem=problems[0], n=len(problems))
        return [records[item.index] for item in items]

    def table(
        self,
        output: Path,
        source: CountSource,
        header: dict[str, Any],
        info: dict[str, Any],
        choices: TableOptions,
        totals: list[int] | None,
        folders: tuple[str, ...],
    ) -> None:
        """Write the missing pieces, and then the table.

        `totals` are the numbers of n-grams of each kind, if they are known.
        """
        opened = source.open()
        bits, _ = bits_for(opened.stretch().chunks())
        items = ranges(opened.edges, bits, self._ranges, index=len(self._plan.shards))
        del opened
        keys = choices.get("keys", False)
        ranked = load_ranked(self._place.directory)
        work = PieceWork(self._place.directory, source, header["record"], keys, bits, ranked, folders)
        pieces = self._pieces(work, items)
        form = record_form(header["record"], keys=keys)
        if ranked is None:
            ranked, all_ranked = ranked_counts(pieces)
            ranked.sort()
            if form is EXACT and not all_ranked:
                save_ranked(self._place.directory, ranked)
                pieces = self._pieces(dataclasses.replace(work, ranked=ranked), items)
        seen, distinct, kept = (_sums(pieces, name) for name in ("seen", "distinct", "kept"))
        if totals is not None and seen != totals:
            raise UserError("D877", path=self._place.directory)
        info.update(ngram_numbers(header["orders"], seen, distinct, kept, choices.get("min_counts")))
        assemble(
            output,
            pieces,
            form=form,
            ranked=ranked,
            header={**header, "info": info},
            keys=keys,
            consume=not self._place.stays,
            written=None if self._place.stays else self._note_table,
        )

    def _note_table(self, status: os.stat_result) -> None:
        """Write which file the job has written, so that a later run can tell that the job was finished."""
        directory = self._place.directory
        save_json(directory / _TABLE_NOTE, _file_identity(status), temp_files=job_temp_files(directory))

    def _pieces(self, work: PieceWork, items: list[KeyRange]) -> list[TablePiece]:
        old = {item.index for item in items if finished_piece(work, item) is not None}
        records = self.run("write", work, items, lambda item: finished_piece(work, item))
        return [
            TablePiece.from_record(work.directory, record, keys=work.keys, old=item.index in old)
            for item, record in zip(items, records, strict=True)
        ]


def _discard_finished(output: Path, place: JobPlace) -> None:
    """Remove the directory of a job that was killed after it had written its table."""
    if place.stays:
        return
    try:
        finished = read_json(place.directory / _TABLE_NOTE) == _file_identity(os.stat(output))
    except (OSError, ValueError):  # no such job, or no table yet
        return
    if finished:
        with locked(place.directory):
            _discard(place.directory)


def _discard(directory: Path) -> None:
    # The note of the table goes last: while any other file is left, a later run can still finish this.
    discard(directory)
    (directory / _TABLE_NOTE).unlink(missing_ok=True)
    with suppress(OSError):
        directory.rmdir()


def _file_identity(status: os.stat_result) -> dict[str, int]:
    return {"device": status.st_dev, "inode": status.st_ino, "size": status.st_size}


def _shard_size(total: int) -> int:
    """Return the default shard size for `total` bytes of text."""
    wanted = min(max(total // _SHARDS, MIN_SHARD_SIZE), MAX_SHARD_SIZE)
    n_shards = _round_to_workers(-(-total // wanted))
    return -(-total // n_shards) or MIN_SHARD_SIZE


def _round_to_workers(number: int) -> int:
    """Round up to a number of items that keeps all workers busy."""
    return -(-number // _ITEMS_MULTIPLE) * _ITEMS_MULTIPLE if number > 1 else 1


@contextmanager
def _errors_about_job() -> Iterator[None]:
    """Replace errors that mention --output with those that mention --job."""
    try:
        yield
    except UserError as problem:
        code = {"D310": "D912", "D311": "D913", "D318": "D914", "D871": "D915"}.get(problem.code)
        if code is None:
            raise
        raise UserError(code, **problem.values) from problem


def _sums(pieces: Iterable[TablePiece], name: str) -> list[int]:
    return [int(n) for n in np.sum([piece.details[name] for piece in pieces], axis=0, dtype=object)]


def _config(choices: BuildOptions) -> dict[str, Any]:
    """Return the options that identify the job."""
    words = choices.get("keep_words")
    return {
        "orders": choices.get("orders", MAX_ORDER),
        "min_counts": dict(choices.get("min_counts") or {}),
        "keep_words": None if words is None else _digest("\n".join(sorted(words)).encode()),
        "record": choices.get("record", "exact"),
        "keys": choices.get("keys", False),
        "licence": choices.get("licence", ""),
    }


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _identity(path: Path) -> str:
    mapped, *_ = files.map_file(path)
    try:
        return files.identity(mapped)
    finally:
        mapped.close()
