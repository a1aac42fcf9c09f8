"""Writing that is whole or not there: to a temporary name, synced, renamed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from disambig.errors import UserError
from disambig.files.opening import pack

TEMPORARY = ".tmp-"


@contextmanager
def saved(path: Path) -> Iterator[Callable[[bytes], object]]:
    """Give a function that writes bytes; they stand under `path` only if all went well.

    The bytes are packed if the name ends in .gz or .xz.

    Raises
    ------
    UserError
        D309 where it cannot be written (a full disk); no temporary file stays behind.
    """
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}")
    with ExitStack() as last:
        last.callback(_remove, temporary)  # said before it is there: an interrupt may come at once
        with writing(path):
            file = open(temporary, "wb")  # noqa: SIM115  closed at the end
        last.callback(_close, file)
        packed = pack(file, path.name)
        last.callback(_close, packed)
        yield writer(packed, path)
        with writing(path):
            if packed is not file:
                packed.close()
            file.flush()
            os.fsync(file.fileno())
            file.close()
            os.replace(temporary, path)
            sync_directory(path.parent)


def _close(handle: IO[bytes]) -> None:
    with suppress(OSError, ValueError):
        handle.close()


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def writer(sink: IO[bytes], path: Path | str) -> Callable[[bytes], object]:
    """Return a function that writes to `sink` and names `path` where that fails."""

    def write(data: bytes) -> None:
        with writing(path):
            sink.write(data)

    return write


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Turn a failure of the system into D309; a reader who went away stays a BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise UserError("D309", path=path, problem=problem.strerror or str(problem)) from problem


def save_json(path: Path, value: Any) -> None:
    """Write `value` as JSON, whole or not at all."""
    with saved(path) as write:
        write(json.dumps(value, indent=1).encode() + b"\n")


def sync_directory(directory: Path) -> None:
    """Make a rename last, where the system lets directories be synced."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_temporaries(directory: Path) -> None:
    """Remove what killed writers left behind in `directory` and below."""
    for path in directory.rglob(f"{TEMPORARY}[0-9]*-*"):
        _remove(path)
