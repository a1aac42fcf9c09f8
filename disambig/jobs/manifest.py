"""Plan the shards of a job, and write and check its manifest and its lock."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from disambig import __version__
from disambig.data import LazySequence
from disambig.errors import UserError
from disambig.files import READ_ERRORS, TempFiles, lock_file, read_json, save_file, save_json, writing
from disambig.formats import Input, Kind, conllu_cuts, csv_cuts, text_cuts
from disambig.settings import NON_NEGATIVE_COUNT

SMALLEST_SHARD, LARGEST_SHARD = 250_000, 8_000_000
"""Limits of `default_shard_size`, in bytes."""
_SHARDS = 16
_BLOCK = 1 << 20
_EXPANSION = 4  # approximate expansion of compressed text


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

    @property
    def length(self) -> int:
        """Bytes of input."""
        return (self.end or self.size) - self.start

    @property
    def has_changed(self) -> bool:
        """Whether the file has another size now; False if it cannot be read, which its reader reports."""
        try:
            return os.stat(self.path).st_size != self.size
        except OSError:
            return False


@dataclass(frozen=True, slots=True)
class Shard:
    """Parts that are annotated and written together."""

    index: int
    parts: tuple[ShardPart, ...]

    @property
    def size(self) -> int:
        """Bytes of input."""
        return sum(part.length for part in self.parts)


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """The inputs (plain dicts of name, kind, size and hash), the shards, and the bytes of input of each.

    `plan_shards` makes inputs and shards when they are asked for, so that a plan of very many files takes
    little memory.
    """

    inputs: Sequence[Mapping[str, Any]]
    shards: Sequence[Shard]
    sizes: Sequence[int] = ()


_Cuts = list[tuple[int, int]]
"""The byte at which each part of a file begins, and the number of its first line."""
_NO_CUTS: _Cuts = [(0, 1)]
_DIGEST = hashlib.sha256().digest_size


@dataclass(slots=True)
class _ScannedInputs(LazySequence[Mapping[str, Any]]):
    """What was found in inputs: 40 bytes for each, and the cuts of those that have several parts."""

    inputs: Sequence[Input]
    sizes: array[int] = field(default_factory=lambda: array("q"))
    digests: bytearray = field(default_factory=bytearray)
    unreadable: set[int] = field(default_factory=set)
    cuts: dict[int, _Cuts] = field(default_factory=dict)

    def append(self, size: int, digest: bytes | None, cuts: _Cuts) -> None:
        """Add what was found in the next input."""
        index = len(self.sizes)
        self.sizes.append(size)
        self.digests += digest or bytes(_DIGEST)
        if digest is None:
            self.unreadable.add(index)
        if cuts != _NO_CUTS:
            self.cuts[index] = cuts

    def parts(self, index: int, first: int = 0) -> Iterator[ShardPart]:
        """Yield the parts of an input from part number `first` on."""
        entry, size = self.inputs[index], self.sizes[index]
        cuts = self.cuts.get(index, _NO_CUTS)
        for number in range(first, len(cuts)):
            start, line = cuts[number]
            end = cuts[number + 1][0] if number + 1 < len(cuts) else None
            yield ShardPart(entry.path, entry.name, entry.kind, size, start, end, line)

    def __len__(self) -> int:
        return len(self.sizes)

    def make_item(self, index: int) -> dict[str, Any]:
        """Return the description of an input."""
        entry = self.inputs[index]
        digest = self.digests[index * _DIGEST : (index + 1) * _DIGEST].hex()
        digest = "" if index in self.unreadable else digest
        return {"name": entry.name, "kind": entry.kind, "size": self.sizes[index], "sha256": digest}


@dataclass(slots=True)
class _PlannedShards(LazySequence[Shard]):
    """The shards of scanned inputs: for each the input and the part of it with which the shard begins."""

    scanned: _ScannedInputs
    inputs: array[int] = field(default_factory=lambda: array("q"))
    parts: array[int] = field(default_factory=lambda: array("q"))

    def begin(self, index: int, part: int) -> None:
        """Begin the next shard."""
        self.inputs.append(index)
        self.parts.append(part)

    def __len__(self) -> int:
        return len(self.inputs)

    def make_item(self, index: int) -> Shard:
        """Return a shard."""
        return Shard(index, tuple(self._parts(index)))

    def _parts(self, index: int) -> Iterator[ShardPart]:
        entry, first = self.inputs[index], self.parts[index]
        end, end_part = len(self.scanned), 0
        if index + 1 < len(self):
            end, end_part = self.inputs[index + 1], self.parts[index + 1]
        while entry < end:
            yield from self.scanned.parts(entry, first)
            entry, first = entry + 1, 0
        if end_part:  # of the last input only the parts before those of the next shard
            parts = self.scanned.parts(entry, first)
            yield from islice(parts, end_part - first)


def default_shard_size(inputs: Sequence[Input]) -> int:
    """Return the size, in bytes, of about sixteen shards of the inputs, within limits.

    Several workers then share a small corpus, and little of a large one is repeated after an interruption.
    """
    return min(max(sum(entry.size for entry in inputs) // _SHARDS, SMALLEST_SHARD), LARGEST_SHARD)


def plan_shards(
    inputs: Sequence[Input],
    *,
    shard_size: int = LARGEST_SHARD,
    field: str = "text",
    whole: Collection[Kind] = (),
) -> ShardPlan:
    """Hash all inputs and divide them, in order, into shards of about `shard_size` bytes.

    Small files are grouped; if there are kinds in `whole`, files of different kinds are not. Files of lines
    or JSONL are split between lines, plain text between its parts, CSV between rows, CoNLL-U between
    documents (or sentences, if there are no documents). Other files, compressed files and the kinds in
    `whole` are not split. A file that cannot be read has an empty hash; it is reported when it is annotated.
    `field` is the column of the text in CSV.
    """
    scanned = _ScannedInputs(inputs)
    shards, sizes = _PlannedShards(scanned), array("q")
    shard_weight, kind = 0, None
    for index, source in enumerate(inputs):
        scanned.append(*_scan(source, shard_size, field, whole))
        for number, part in enumerate(scanned.parts(index)):
            weight = part.length * (_EXPANSION if source.compressed else 1)
            differs = bool(whole) and kind != part.kind
            if not index + number or shard_weight + weight > shard_size or differs:
                shards.begin(index, number)
                sizes.append(0)
                shard_weight = 0
            shard_weight, kind = shard_weight + weight, part.kind
            sizes[-1] += part.length
    return ShardPlan(scanned, shards, sizes)


def _scan(
    source: Input, shard_size: int, field: str, uncut: Collection[Kind]
) -> tuple[int, bytes | None, _Cuts]:
    """Return the size and hash of a file, and the (byte, line number) at which each part begins."""
    may_be_cut = not source.compressed and source.kind not in uncut
    cut_at_lines = may_be_cut and source.kind in ("line", "json")
    file_hash, offset, line = hashlib.sha256(), 0, 1
    cuts = list(_NO_CUTS)
    try:
        with open(source.path, "rb") as file:
            while block := file.read(_BLOCK):
                file_hash.update(block)
                if cut_at_lines:
                    _add_cuts(cuts, block, offset, line, shard_size)
                    line += block.count(b"\n")
                offset += len(block)
            if may_be_cut and offset > shard_size:
                file.seek(0)
                if source.kind == "conllu":
                    cuts = conllu_cuts(file, shard_size)
                elif source.kind == "csv":
                    cuts = csv_cuts(file, source.path, shard_size, field=field)
                elif source.may_be_cut:
                    cuts = text_cuts(file, source.path, shard_size)
    except READ_ERRORS:
        return source.size, None, _NO_CUTS
    if cuts[-1][0] == offset > 0:  # the last line end is the end of the file: no empty part after it
        cuts.pop()
    return offset, file_hash.digest(), cuts


def _add_cuts(cuts: _Cuts, block: bytes, offset: int, line: int, shard_size: int) -> None:
    """Add line starts in `block` that are at least `shard_size` bytes after the previous cut."""
    counted, position = line, 0
    while True:
        # a line that starts `shard_size` bytes after the cut follows a line end one byte before that
        earliest = max(cuts[-1][0] + shard_size - 1 - offset, position)
        newline = block.find(b"\n", earliest)
        if newline < 0:
            return
        counted += block.count(b"\n", position, newline + 1)
        position = newline + 1
        cuts.append((offset + position, counted))


NAME = "manifest.json"
LAYOUT = "disambig.job.v4"
LOCK = ".lock"
INDEX = "index.html"
"""Page with links to the parts of an HTML job."""
RECORDS_FOLDER = "shards"
"""The folder that contains the records, the list of inputs and temporary files."""
INPUTS = "inputs.jsonl"
"""The inputs, one in a line; the manifest has the digest of this file."""
_MAX_FOLDERS = 20  # maximum number of input folders that workers on other machines check
_PART = re.compile(r"part-[0-9]{5,}\.[a-z]+")


def new_manifest(
    plan: ShardPlan, config: dict[str, Any], command: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the manifest of a job: layout, versions, resolved config, inputs and number of shards.

    Of the inputs it has the number, and the digest of their list (see `INPUTS`). `command` is the command
    that started the job, for `disambig job resume`; it does not identify the job.
    """
    return {
        "layout": LAYOUT,
        "versions": {"disambig": __version__},
        "config": json.loads(json.dumps(config)),  # as it will be read again, for comparison
        "inputs": {"files": len(plan.inputs), "sha256": _digest(_input_lines(plan.inputs))},
        "shards": len(plan.shards),
        **({} if command is None else {"command": command}),
    }


def _input_lines(inputs: Collection[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield the lines of the list of inputs."""
    return (json.dumps(entry).encode() + b"\n" for entry in inputs)


def _digest(lines: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return digest.hexdigest()


def check_directory(
    directory: Path, manifest: dict[str, Any], *, force: bool, inputs: Collection[Mapping[str, Any]] = ()
) -> bool:
    """Return True if `directory` already contains this job, without changing anything.

    `inputs` are those of the plan, to say which of them differ from those of a job that is there.

    Raises D310 if the directory contains other files, D871 if it is a file, D318 for a damaged manifest, D311
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
        changes = _changes(load_manifest(path), manifest, directory, inputs)
    except UserError:
        if not force:
            raise
        changes = ["all"]
    if changes and not force:
        raise UserError("D311", path=directory, changes="; ".join(changes))
    return not changes


def begin_or_resume(
    directory: Path, manifest: dict[str, Any], *, force: bool, inputs: Collection[Mapping[str, Any]]
) -> None:
    """Start the job in `directory`, or resume it if it is there.

    With `force`, the files of another job are removed, and nothing else.

    Raises `UserError` as for `check_directory`; D309.
    """
    if not check_directory(directory, manifest, force=force, inputs=inputs):
        with writing(directory):
            clear(directory)
        # replaces an old one atomically, so that a manifest always exists
        save_json(directory / NAME, manifest)
    with writing(directory / RECORDS_FOLDER):
        (directory / RECORDS_FOLDER).mkdir(exist_ok=True)
    if not _has_input_list(directory, manifest):
        with save_file(_inputs_path(directory), temp_files=job_temp_files(directory)) as write:
            for line in _input_lines(inputs):
                write(line)


def _inputs_path(directory: Path) -> Path:
    return directory / RECORDS_FOLDER / INPUTS


def _has_input_list(directory: Path, manifest: dict[str, Any]) -> bool:
    """Return True if the list of inputs is there and whole."""
    try:
        with open(_inputs_path(directory), "rb") as file:
            return _digest(file) == manifest["inputs"]["sha256"]
    except OSError:
        return False


def clear(directory: Path) -> None:
    """Remove the files of a job except its manifest: files named in records, parts, and records."""
    home = directory.resolve()
    for record in sorted((directory / RECORDS_FOLDER).glob("*.json")):
        # a record may have been damaged or forged: only files inside the job are removed
        for name in _recorded_files(record):
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


def _recorded_files(record: Path) -> list[str]:
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
    _inputs_path(directory).unlink(missing_ok=True)
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


def input_folders(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of inputs that workers on other machines check."""
    return tuple(sorted({os.path.dirname(path) or "." for path in paths})[:_MAX_FOLDERS])


def job_temp_files(directory: Path) -> TempFiles:
    """Return the temporary files of a job."""
    return TempFiles.for_name(directory / RECORDS_FOLDER, LAYOUT)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Lock a job against other processes; the system releases the lock when this process ends.

    The content of an existing lock file is not changed.

    Raises D312 if another process holds the lock, D870 if the lock is a link or not a regular file.
    """
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
    if os.name != "posix":  # the system has no such locks
        yield
        return
    path = directory / LOCK
    lock = _open_lock(path)
    try:
        if not stat.S_ISREG(os.fstat(lock).st_mode):
            raise UserError("D870", path=path)
        if not lock_file(lock):
            raise UserError("D312", path=directory)
        yield
    finally:
        os.close(lock)


def is_running(directory: Path) -> bool:
    """Return True if a process holds the lock of a job, without writing anything."""
    if os.name != "posix":
        return False
    try:
        # O_NONBLOCK, since opening a named pipe in place of the lock would wait for a writer
        lock = os.open(directory / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return not lock_file(lock, shared=True)
    finally:
        os.close(lock)


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

    Raises D318; D873 for a job of an older disambig.
    """
    try:
        manifest = read_json(path)
    except OSError as problem:
        raise UserError("D318", path=path, problem=problem.strerror or problem) from None
    except (ValueError, RecursionError) as problem:
        raise UserError("D318", path=path, problem=problem) from None
    layout = manifest.get("layout") if isinstance(manifest, dict) else None
    if layout != LAYOUT:
        if str(layout).startswith("disambig.job."):
            raise UserError("D873", path=path.parent)
        raise UserError("D318", path=path, problem=f"its layout is not {LAYOUT}")
    inputs = manifest.get("inputs")
    has_type = {
        "versions": isinstance(manifest.get("versions"), dict),
        "config": isinstance(manifest.get("config"), dict),
        "inputs": isinstance(inputs, dict)
        and NON_NEGATIVE_COUNT.accepts(inputs.get("files"))
        and isinstance(inputs.get("sha256"), str),
        "shards": NON_NEGATIVE_COUNT.accepts(manifest.get("shards")),
    }
    for key, is_right in has_type.items():
        if not is_right:
            raise UserError("D318", path=path, problem=f"its {key!r} has the wrong type")
    return manifest


def _changes(
    old: dict[str, Any], new: dict[str, Any], directory: Path, inputs: Collection[Mapping[str, Any]]
) -> list[str]:
    """Return short descriptions of the differences between two manifests."""
    changes = []
    for section in ("versions", "config"):
        before, after = old[section], new[section]
        for key in sorted({*before, *after}):
            if before.get(key) != after.get(key):
                changes.append(f"{key} was {_shortened(before.get(key))}, is {_shortened(after.get(key))}")
    if old["inputs"] != new["inputs"]:
        changes.append(_input_changes(old, directory, inputs))
    elif old["shards"] != new["shards"] and not changes:
        changes.append(f"shards were {old['shards']:,}, are {new['shards']:,}")
    return changes


def _input_changes(old: dict[str, Any], directory: Path, inputs: Collection[Mapping[str, Any]]) -> str:
    """Return a short description of how the inputs differ from those of the job in the directory."""
    if not _has_input_list(directory, old):
        return "inputs: others"
    with open(_inputs_path(directory), "rb") as file:
        old_lines = {json.loads(line)["name"]: line for line in file}
    added = changed = 0
    for entry, line in zip(inputs, _input_lines(inputs), strict=True):
        before = old_lines.pop(entry["name"], None)
        added += before is None
        changed += before not in (None, line)
    counts = {"added": added, "gone": len(old_lines), "changed": changed}
    changes = [f"{number} {word}" for word, number in counts.items() if number]
    return f"inputs: {', '.join(changes)}" if changes else "inputs are in another order"


def _shortened(value: Any) -> str:
    text = "not set" if value is None else json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
