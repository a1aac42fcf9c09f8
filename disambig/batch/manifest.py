"""The manifest of a job: what it was begun with, and whether it is still the same job."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from disambig import __version__
from disambig.batch.planning import Plan
from disambig.errors import UserError
from disambig.files.drafts import Drafts
from disambig.files.json_text import read_json
from disambig.files.saving import save_json, writing

NAME = "manifest.json"
LAYOUT = "disambig.job.v2"
_FIRST = "disambig.job.v1"
"""Its records have no digests, so what they say is finished cannot be checked: refused."""
LOCK = ".lock"
INDEX = "index.html"
"""The page that leads to the parts of an HTML job."""
RECORDS = "shards"
"""The folder of the records, and of drafts."""
_PART = re.compile(r"part-[0-9]{5,}\.[a-z]+")


def new_manifest(plan: Plan, config: dict[str, Any], command: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the manifest of a job: layout, versions, resolved config, inputs and number of shards.

    `command` is what it was begun by, with which `disambig job resume` goes on; another one is no other job.
    """
    return {
        "layout": LAYOUT,
        "versions": {"disambig": __version__},
        "config": json.loads(json.dumps(config)),
        "inputs": list(plan.inputs),
        "shards": len(plan.shards),
        **({} if command is None else {"command": command}),
    }


def check_directory(directory: Path, manifest: dict[str, Any], *, force: bool) -> bool:
    """Return whether `directory` holds this job already; nothing in it is touched.

    Raises
    ------
    UserError
        D310 for a directory with other things in it, D871 for a file, D318 for a damaged manifest, D311 for
        another job; with `force` D871 alone.
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
    """Make `directory` hold this job, or check that it does.

    With `force` what another job wrote is cleared, and nothing else.

    Raises
    ------
    UserError
        As for `check_directory`; D309.
    """
    if not check_directory(directory, manifest, force=force):
        with writing(directory):
            clear(directory)
        save_json(directory / NAME, manifest)  # in the place of an old one: killed in between, that one holds
    with writing(directory / RECORDS):
        (directory / RECORDS).mkdir(exist_ok=True)


def clear(directory: Path) -> None:
    """Remove what a job wrote but for its manifest: what its records name, its parts, its records."""
    home = directory.resolve()
    for record in sorted((directory / RECORDS).glob("*.json")):
        for name in _named_by(record):
            file = directory / name
            with suppress(OSError):  # what cannot be the name of a file
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
    """Return the files that a record names, none where it cannot be read."""
    try:
        files = read_json(record)["files"]
        return [name for name in files if isinstance(name, str) and "\0" not in name]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []


def discard(directory: Path) -> None:
    """Remove a job and all that it wrote; its directory too, if nothing else is in it."""
    drafts_of(directory).clean()
    clear(directory)
    for name in (NAME, LOCK):
        (directory / name).unlink(missing_ok=True)
    with suppress(OSError):
        (directory / RECORDS).rmdir()
        directory.rmdir()


def seen_from_here(directory: Path, folders: Iterable[str]) -> dict[str, Any]:
    """Return the job and the folders of its inputs as they are seen where this is asked."""
    try:
        manifest = hashlib.sha256((directory / NAME).read_bytes()).hexdigest()
    except OSError:
        manifest = "missing"
    return {
        f"the job {directory}": manifest,
        **{f"the folder {path}": os.path.isdir(path) for path in folders},
    }


def drafts_of(directory: Path) -> Drafts:
    """Return where all drafts of a job lie."""
    return Drafts.of(directory / RECORDS, LAYOUT)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold a job against other processes; the system lets go when this one ends, however it ends.

    A lock file that is there already stays as it is, whatever is in it.

    Raises
    ------
    UserError
        D312 where another process holds it, D870 for a lock that is a link or no file.
    """
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    path = directory / LOCK
    lock = _opened(path)
    try:
        if not stat.S_ISREG(os.fstat(lock).st_mode):
            raise UserError("D870", path=path)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError("D312", path=directory) from None
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(lock)


def is_at_work(directory: Path) -> bool:
    """Tell whether a process holds a job; nothing is written."""
    try:
        import fcntl

        lock = os.open(directory / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(lock)
    return False


def _opened(path: Path) -> int:
    """Open a lock file, made if need be; not through a link, and nothing in it is changed."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise UserError("D870", path=path) from problem
        raise UserError("D309", path=path, problem=problem.strerror or str(problem)) from problem


def load_manifest(path: Path) -> dict[str, Any]:
    """Read a manifest and check the types of all that is in it.

    Raises
    ------
    UserError
        D318; D873 for a job of an older disambig.
    """
    try:
        found = read_json(path)
    except OSError as problem:
        raise UserError("D318", path=path, problem=problem.strerror or problem) from None
    except (ValueError, RecursionError) as problem:
        raise UserError("D318", path=path, problem=problem) from None
    if isinstance(found, dict) and found.get("layout") == _FIRST:
        raise UserError("D873", path=path.parent)
    if not isinstance(found, dict) or found.get("layout") != LAYOUT:
        raise UserError("D318", path=path, problem=f"its layout is not {LAYOUT}")
    for key, fits in _TYPES.items():
        if not fits(found.get(key)):
            raise UserError("D318", path=path, problem=f"its {key!r} is not what a job writes there")
    return found


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
    """Say in a few words how two manifests differ; nothing if they are the same."""
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
    told = [f"{number} {word}" for word, number in counts.items() if number]
    if told:
        changes.append(f"inputs: {', '.join(told)}")
    elif old["inputs"] != new["inputs"] or old["shards"] != new["shards"]:
        changes.append("inputs are in another order")
    return changes


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
