"""The record of a finished shard: what it counted, and size and digest of each file that it wrote."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disambig.batch.manifest import RECORDS, drafts_of
from disambig.batch.totals import Totals, from_plain
from disambig.files.json_text import read_json
from disambig.files.saving import save_json, writing
from disambig.files.seals import Seal

BROKEN = (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
"""What reading a record of another shape raises."""


@dataclass(slots=True)
class ShardRecord:
    """What became of a shard: counts, messages for bad documents, files written, seconds.

    Attributes
    ----------
    files : dict of (int, str)
        Size in bytes and BLAKE2b-128 of each file, by its name under the job's directory.
    said : dict
        What else the work has to say of it, plain values.
    """

    totals: Totals = field(default_factory=Totals)
    bad: list[str] = field(default_factory=list)
    files: dict[str, tuple[int, str]] = field(default_factory=dict)
    seconds: float = 0.0
    said: dict[str, Any] = field(default_factory=dict)

    def seal(self, name: str, seal: Seal) -> None:
        """Note a file that was written."""
        self.files[name] = (seal.size, seal.digest())


def record_path(directory: Path, index: int) -> Path:
    """Return where the record of a finished shard lies."""
    return directory / RECORDS / f"{index:05}.json"


def save_record(directory: Path, index: int, record: ShardRecord) -> None:
    """Write a shard's record: from now on it is finished."""
    path = record_path(directory, index)
    with writing(path):
        path.parent.mkdir(exist_ok=True)
    values: dict[str, Any] = {
        **record.totals.plain(),
        "seconds": round(record.seconds, 3),
        "files": record.files,
        "bad": record.bad,
        **({"said": record.said} if record.said else {}),
    }
    save_json(path, values, drafts=drafts_of(directory))


def load_record(directory: Path, index: int) -> ShardRecord | None:
    """Return the record of a shard if it is finished: its record is there, and its files in their sizes."""
    found = read_record(directory, index)
    return found if isinstance(found, ShardRecord) else None


def read_record(directory: Path, index: int) -> ShardRecord | str | None:
    """Return the record of a finished shard, what is wrong with it, or None where there is none."""
    path = record_path(directory, index)
    try:
        record = record_of(read_json(path))
        for name, (size, _) in record.files.items():
            found = _size(directory, name)
            if found != size:
                return f"{name}: is gone" if found < 0 else f"{name}: has {found:,} bytes, not {size:,}"
        return record
    except FileNotFoundError:
        return None
    except BROKEN:
        return f"{path.relative_to(directory)}: cannot be read as a record"


def record_of(values: Any) -> ShardRecord:
    """Return what `save_record` wrote; one of `BROKEN` for else."""
    totals = from_plain(values)
    seconds = float(values["seconds"])
    bad, said = values["bad"], values.get("said", {})
    if not (isinstance(bad, list) and all(isinstance(one, str) for one in bad)):
        raise TypeError("no list of messages")
    if not isinstance(said, dict):
        raise TypeError("no object")
    if not (min(totals.documents, totals.words) >= 0 and seconds >= 0):
        raise ValueError("a negative count")
    files = {name: _sealed(*said) for name, said in values["files"].items()}
    return ShardRecord(totals, bad, files, seconds, said)


def _sealed(size: Any, digest: Any) -> tuple[int, str]:
    if type(size) is not int or not isinstance(digest, str):
        raise TypeError("no size and digest")
    return size, digest


def _size(directory: Path, name: str) -> int:
    """Return the size of a file that a record may name: inside the directory; -1 for another."""
    if Path(name).is_absolute() or ".." in Path(name).parts or not (directory / name).is_file():
        return -1
    return (directory / name).stat().st_size
