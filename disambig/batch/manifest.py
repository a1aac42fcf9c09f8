"""The manifest of a job: what it was begun with, and whether it is still the same job."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from disambig import __version__
from disambig.batch.planning import Plan
from disambig.errors import UserError
from disambig.files.saving import save_json, writing

NAME = "manifest.json"
LAYOUT = "disambig.job.v1"


def new_manifest(plan: Plan, config: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a job: layout, versions, resolved config, inputs and number of shards."""
    return {
        "layout": LAYOUT,
        "versions": {"disambig": __version__},
        "config": json.loads(json.dumps(config)),
        "inputs": list(plan.inputs),
        "shards": len(plan.shards),
    }


def begin_or_resume(directory: Path, manifest: dict[str, Any], *, force: bool) -> None:
    """Make `directory` hold this job, or check that it does.

    Raises
    ------
    UserError
        D310 for a directory with other things in it, D318 for a damaged manifest, D311 for another
        job; none of them with `force`, which clears what a job wrote and nothing else.
    """
    path = directory / NAME
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
        others = [entry for entry in directory.iterdir() if not entry.name.startswith(".")]
    if path.exists():
        try:
            changes = _changes(_load(path), manifest)
        except UserError:
            if not force:
                raise
            changes = ["all"]
        if not changes:
            return
        if not force:
            raise UserError("D311", path=directory, changes="; ".join(changes))
        clear(directory)
    elif others and not force:
        raise UserError("D310", path=directory)
    save_json(path, manifest)


def clear(directory: Path) -> None:
    """Remove all that a job wrote: what its records name, its parts, its records, its manifest."""
    for record in sorted((directory / "shards").glob("*.json")):
        try:
            files = json.loads(record.read_bytes()).get("files", [])
        except (ValueError, AttributeError):
            files = []
        for name in files:
            file = directory / name
            if directory.resolve() in file.resolve().parents:
                file.unlink(missing_ok=True)
        record.unlink()
    for part in directory.glob("part-[0-9]*"):
        part.unlink()
    (directory / NAME).unlink(missing_ok=True)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold a job against other processes; the system lets go when this one ends, however it ends.

    Raises
    ------
    UserError
        D312 where another process holds it.
    """
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
        lock = open(directory / ".lock", "w")  # noqa: SIM115  closed below
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError("D312", path=directory) from None
        except OSError:
            pass  # a file system without locks
        yield


def _load(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as problem:
        raise UserError("D318", path=path, problem=problem) from None
    if not isinstance(found, dict) or found.get("layout") != LAYOUT:
        raise UserError("D318", path=path, problem=f"its layout is not {LAYOUT}")
    return found


def _changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Say in a few words how two manifests differ; nothing if they are the same."""
    changes = []
    for section in ("versions", "config"):
        before, after = old.get(section) or {}, new[section]
        for key in sorted({*before, *after}):
            if before.get(key) != after.get(key):
                changes.append(f"{key} was {_short(before.get(key))}, is {_short(after.get(key))}")
    first = {entry["name"]: entry for entry in old.get("inputs", ())}
    second = {entry["name"]: entry for entry in new["inputs"]}
    counts = {
        "added": len(second.keys() - first.keys()),
        "gone": len(first.keys() - second.keys()),
        "changed": sum(first[name] != second[name] for name in first.keys() & second.keys()),
    }
    told = [f"{number} {word}" for word, number in counts.items() if number]
    if told:
        changes.append(f"inputs: {', '.join(told)}")
    elif old.get("inputs") != new["inputs"] or old.get("shards") != new["shards"]:
        changes.append("inputs are in another order")
    return changes


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
