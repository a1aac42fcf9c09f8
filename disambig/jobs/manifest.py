"""Plan the shards of a job, and write and check its manifest and its lock."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from disambig import __version__
from disambig.errors import UserError
from disambig.files import READ_ERRORS, TempFiles, read_json, save_json, writing
from disambig.formats import Input, Kind, conllu_cuts, csv_cuts

SHARD_SIZE = 8_000_000  # bytes
_BLOCK = 1 << 20
_UNPACKED = 4  # approximate expansion of compressed text


@dataclass(frozen=True, slots=True)
class ShardPart:
    """A whole input, or the documents from byte `start` to `end`, of which the first is in `line`."""

    path: str
    name: str
    kind: Kind
    size: int
    start: int = 0
    end: int | None = None
    line: int = 1

    @property
    def input(self) -> Input:
        """The input that contains this part."""
        return Input(self.path, self.name, self.kind)


@dataclass(frozen=True, slots=True)
class Shard:
    """Parts of one kind that are annotated and written together."""

    index: int
    parts: tuple[ShardPart, ...]

    @property
    def size(self) -> int:
        """Bytes of input."""
        return sum((part.end or part.size) - part.start for part in self.parts)


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """The inputs (plain dicts of name, kind, size and hash) and the shards."""

    inputs: tuple[dict[str, Any], ...]
    shards: tuple[Shard, ...]


def plan_shards(
    inputs: Iterable[Input],
    *,
    shard_size: int = SHARD_SIZE,
    field: str = "text",
    whole: Collection[Kind] = (),
) -> ShardPlan:
    """Hash all inputs and divide them, in order, into shards of about `shard_size` bytes.

    Small files are grouped. Files of lines or JSONL are split between lines, CSV between rows, CoNLL-U
    between documents (or sentences, if there are no documents). Other files, compressed files and the kinds
    in `whole` are not split. A file that cannot be read has an empty hash; it is reported when it is
    annotated. `field` is the column of the text in CSV.
    """
    described: list[dict[str, Any]] = []
    shards: list[Shard] = []
    parts: list[ShardPart] = []
    held = 0
    for source in inputs:
        size, digest, cuts = _scan(source, shard_size, field, whole)
        described.append({"name": source.name, "kind": source.kind, "size": size, "sha256": digest})
        ends = [offset for offset, _ in cuts[1:]]
        for (start, line), end in zip(cuts, [*ends, None], strict=True):
            part = ShardPart(source.path, source.name, source.kind, size, start, end, line)
            weight = ((end or size) - start) * (_UNPACKED if source.compressed else 1)
            if parts and (held + weight > shard_size or parts[0].kind != part.kind):
                shards.append(Shard(len(shards), tuple(parts)))
                parts, held = [], 0
            parts.append(part)
            held += weight
    if parts:
        shards.append(Shard(len(shards), tuple(parts)))
    return ShardPlan(tuple(described), tuple(shards))


def plain(shards: Iterable[Shard]) -> list[dict[str, Any]]:
    """Return shards as plain values."""
    return [asdict(shard) for shard in shards]


def _scan(
    source: Input, shard_size: int, field: str, uncut: Collection[Kind]
) -> tuple[int, str, list[tuple[int, int]]]:
    """Return the size and hash of a file, and the (byte, line number) at which each part begins."""
    may_cut = not source.compressed and source.kind not in uncut
    cut = may_cut and source.kind in ("line", "json")
    whole, offset, line = hashlib.sha256(), 0, 1
    cuts = [(0, 1)]
    try:
        with open(source.path, "rb") as file:
            while block := file.read(_BLOCK):
                whole.update(block)
                if cut:
                    _add_cuts(cuts, block, offset, line, shard_size)
                    line += block.count(b"\n")
                offset += len(block)
            if may_cut and offset > shard_size and source.kind in ("conllu", "csv"):
                file.seek(0)
                if source.kind == "conllu":
                    cuts = conllu_cuts(file, shard_size)
                else:
                    cuts = csv_cuts(file, source.path, shard_size, field=field)
    except READ_ERRORS:
        return source.size, "", [(0, 1)]
    if cuts[-1][0] == offset > 0:  # the last line end is the end of the file: no empty part after it
        cuts.pop()
    return offset, whole.hexdigest(), cuts


def _add_cuts(cuts: list[tuple[int, int]], block: bytes, offset: int, line: int, shard_size: int) -> None:
    """Add line starts in `block` that are at least `shard_size` bytes after the previous cut."""
    counted, position = line, 0
    while True:
        earliest = max(cuts[-1][0] + shard_size - 1 - offset, position)
        newline = block.find(b"\n", earliest)
        if newline < 0:
            return
        counted += block.count(b"\n", position, newline + 1)
        position = newline + 1
        cuts.append((offset + position, counted))


NAME = "manifest.json"
LAYOUT = "disambig.job.v2"
_FIRST = "disambig.job.v1"
"""Layout of older versions; rejected, since its records have no digests to check."""
LOCK = ".lock"
INDEX = "index.html"
"""Page with links to the parts of an HTML job."""
RECORDS_FOLDER = "shards"
"""Folder of the records and of temporary files."""
_PART = re.compile(r"part-[0-9]{5,}\.[a-z]+")


def new_manifest(
    plan: ShardPlan, config: dict[str, Any], command: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the manifest of a job: layout, versions, resolved config, inputs and number of shards.

    `command` is the command that started the job, for `disambig job resume`; it does not identify the job.
    """
    return {
        "layout": LAYOUT,
        "versions": {"disambig": __version__},
        "config": json.loads(json.dumps(config)),  # as it will be read again, for comparison
        "inputs": list(plan.inputs),
        "shards": len(plan.shards),
        **({} if command is None else {"command": command}),
    }


def check_directory(directory: Path, manifest: dict[str, Any], *, force: bool) -> bool:
    """Return True if `directory` already contains this job, without changing anything.

    Raises
    ------
    UserError
        D310 if the directory contains other files, D871 if it is a file, D318 for a damaged manifest, D311
        for another job; with `force` only D871.
    """
    path = directory / NAME
    with writing(directory):
        if not os.path.lexists(directory):
            return False
        if not directory.is_dir():
            raise UserError("D871", path=directory)
        others = [entry for entry in directory.iterdir() if not entry.name.startswith(".")]
    if not os.path.lexists(path):
        if others and not force:
            raise UserError("D310", path=directory)
        return False
    try:
        changes = _changes(load_manifest(path), manifest)
    except UserError:
        if not force:
            raise
        changes = ["all"]
    if changes and not force:
        raise UserError("D311", path=directory, changes="; ".join(changes))
    return not changes


def begin_or_resume(directory: Path, manifest: dict[str, Any], *, force: bool) -> None:
    """Start the job in `directory`, or resume it if it is there.

    With `force`, the files of another job are removed, and nothing else.

    Raises
    ------
    UserError
        As for `check_directory`; D309.
    """
    if not check_directory(directory, manifest, force=force):
        with writing(directory):
            clear(directory)
        save_json(
            directory / NAME, manifest
        )  # replaces an old one atomically, so that a manifest always exists
    with writing(directory / RECORDS_FOLDER):
        (directory / RECORDS_FOLDER).mkdir(exist_ok=True)


def clear(directory: Path) -> None:
    """Remove the files of a job except its manifest: files named in records, parts, and records."""
    home = directory.resolve()
    for record in sorted((directory / RECORDS_FOLDER).glob("*.json")):
        # a record may have been damaged or forged: only files inside the job are removed
        for name in _named_by(record):
            file = directory / name
            with suppress(OSError):  # names that the file system does not support
                if home in file.resolve().parents and not file.is_dir():
                    file.unlink(missing_ok=True)
        if not record.is_dir():
            record.unlink()
    with suppress(UserError, OSError):
        if load_manifest(directory / NAME)["config"].get("shard_index"):
            (directory / INDEX).unlink(missing_ok=True)
    for part in directory.glob("part-[0-9]*"):
        if _PART.fullmatch(part.name) and not part.is_dir():
            part.unlink()


def _named_by(record: Path) -> list[str]:
    """Return the files that a record names, or none if it cannot be read."""
    try:
        files = read_json(record)["files"]
        return [name for name in files if isinstance(name, str) and "\0" not in name]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []


def discard(directory: Path) -> None:
    """Remove all files of a job, and its directory if that is then empty."""
    job_temp_files(directory).clean()
    clear(directory)
    for name in (NAME, LOCK):
        (directory / name).unlink(missing_ok=True)
    with suppress(OSError):
        (directory / RECORDS_FOLDER).rmdir()
        directory.rmdir()


def resolve_inputs(directory: Path, folders: Iterable[str]) -> dict[str, Any]:
    """Return the job and its input folders as seen by this process."""
    try:
        manifest = hashlib.sha256((directory / NAME).read_bytes()).hexdigest()
    except OSError:
        manifest = "missing"
    return {
        f"the job {directory}": manifest,
        **{f"the folder {path}": os.path.isdir(path) for path in folders},
    }


def job_temp_files(directory: Path) -> TempFiles:
    """Return the temporary files of a job."""
    return TempFiles.for_name(directory / RECORDS_FOLDER, LAYOUT)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Lock a job against other processes; the system releases the lock when this process ends.

    The content of an existing lock file is not changed.

    Raises
    ------
    UserError
        D312 if another process holds the lock, D870 if the lock is a link or not a regular file.
    """
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # the system has no such locks
        yield
        return
    path = directory / LOCK
    lock = _open_lock(path)
    try:
        if not stat.S_ISREG(os.fstat(lock).st_mode):
            raise UserError("D870", path=path)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError("D312", path=directory) from None
        except OSError:
            pass  # the file system has no locks
        yield
    finally:
        os.close(lock)


def is_running(directory: Path) -> bool:
    """Return True if a process holds the lock of a job, without writing anything."""
    try:
        import fcntl

        # O_NONBLOCK, since opening a named pipe in place of the lock would wait for a writer
        lock = os.open(directory / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # the file system has no locks
        return False
    finally:
        os.close(lock)
    return False


def _open_lock(path: Path) -> int:
    """Open a lock file, or create it; links are not followed and its content is not changed."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise UserError("D870", path=path) from problem
        raise UserError("D309", path=path, problem=problem.strerror or str(problem)) from problem


def load_manifest(path: Path) -> dict[str, Any]:
    """Read a manifest and validate the types of its values.

    Raises
    ------
    UserError
        D318; D873 for a job of an older disambig.
    """
    try:
        manifest = read_json(path)
    except OSError as problem:
        raise UserError("D318", path=path, problem=problem.strerror or problem) from None
    except (ValueError, RecursionError) as problem:
        raise UserError("D318", path=path, problem=problem) from None
    if isinstance(manifest, dict) and manifest.get("layout") == _FIRST:
        raise UserError("D873", path=path.parent)
    if not isinstance(manifest, dict) or manifest.get("layout") != LAYOUT:
        raise UserError("D318", path=path, problem=f"its layout is not {LAYOUT}")
    for key, fits in _TYPES.items():
        if not fits(manifest.get(key)):
            raise UserError("D318", path=path, problem=f"its {key!r} has the wrong type")
    return manifest


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _are_inputs(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(entry, dict) and isinstance(entry.get("name"), str) for entry in value
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_TYPES = {"versions": _is_object, "config": _is_object, "inputs": _are_inputs, "shards": _is_number}


def _changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return short descriptions of the differences between two manifests."""
    changes = []
    for section in ("versions", "config"):
        before, after = old[section], new[section]
        for key in sorted({*before, *after}):
            if before.get(key) != after.get(key):
                changes.append(f"{key} was {_short(before.get(key))}, is {_short(after.get(key))}")
    first = {entry["name"]: entry for entry in old["inputs"]}
    second = {entry["name"]: entry for entry in new["inputs"]}
    counts = {
        "added": len(second.keys() - first.keys()),
        "gone": len(first.keys() - second.keys()),
        "changed": sum(first[name] != second[name] for name in first.keys() & second.keys()),
    }
    of_inputs = [f"{number} {word}" for word, number in counts.items() if number]
    if of_inputs:
        changes.append(f"inputs: {', '.join(of_inputs)}")
    elif old["inputs"] != new["inputs"] or old["shards"] != new["shards"]:
        changes.append("inputs are in another order")
    return changes


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
