"""Writing that is whole or not there: to a draft, synced, renamed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from disambig.errors import UserError
from disambig.files.drafts import Drafts, hold, remove
from disambig.files.opening import pack
from disambig.files.seals import Seal

_MOST_LINKS = 40


@contextmanager
def saved(
    path: Path, *, drafts: Drafts | None = None, seal: Seal | None = None
) -> Iterator[Callable[[bytes], object]]:
    """Give a function that writes bytes; they stand under `path` only if all went well.

    The bytes are packed if the name ends in .gz, .xz or .zst. A link that stands there is replaced (see
    `saved_output`).

    Parameters
    ----------
    drafts : Drafts, optional
        Where the draft lies; whoever gives them cleans them. Beside `path` if not given, where what a
        killed writer of the same file left is removed.
    seal : Seal, optional
        Learns size and digest of the file.

    Raises
    ------
    UserError
        D309 where it cannot be written (a full disk); no draft stays behind.
    """
    if drafts is None:
        drafts = Drafts.beside(path)
        drafts.clean()
    draft = drafts.new()
    with ExitStack() as last:
        last.callback(remove, draft)  # said before it is there: an interrupt may come at once
        with writing(path):
            file = open(draft, "xb")  # noqa: SIM115  closed at the end
        last.callback(_close, file)
        hold(file.fileno())
        sink: Any = file if seal is None else seal.around(file)
        packed = pack(sink, path.name)
        last.callback(_close, packed)
        yield writer(packed, path)
        with writing(path):
            if packed is not sink:
                packed.close()
            file.flush()
            os.fsync(file.fileno())
            file.close()
            os.replace(draft, path)
            sync_directory(path.parent)


@contextmanager
def saved_output(path: Path) -> Iterator[Callable[[bytes], object]]:
    """As `saved`, for a name that a user gave: through links, and straight into a pipe or device.

    Raises
    ------
    UserError
        D309.
    """
    with writing(path):
        special = is_special(path)
        target = path if special else followed(path)
    if not special:
        with saved(target) as write:
            yield write
        return
    with ExitStack() as last:
        with writing(path):
            file = open(path, "ab")  # noqa: SIM115  closed at the end; to the end of what a shell opened
        last.callback(_close, file)
        packed = pack(file, path.name)
        last.callback(_close, packed)
        yield writer(packed, path)
        with writing(path):
            if packed is not file:
                packed.close()
            file.close()


def followed(path: Path) -> Path:
    """Return what a name leads to through links; OSError for a ring of them."""
    target = os.path.realpath(path)
    if os.path.islink(target):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return Path(target)


def is_special(path: Path) -> bool:
    """Tell whether `path` is written to, not replaced: a pipe, a device, a file that a shell opened."""
    if not path.exists():
        return False
    return _among_handles(path) or not (path.is_file() or path.is_dir())


def _among_handles(path: Path) -> bool:
    """Tell whether `path` leads, by any number of links, through a handle such as /dev/stdout."""
    for _ in range(_MOST_LINKS):
        parts = path.absolute().parts
        if parts[1:2] in (("dev",), ("proc",)) and parts[-2] == "fd" and not path.is_dir():
            return True
        if not path.is_symlink():
            return False
        path = path.parent / os.readlink(path)
    return False


def _close(handle: IO[bytes]) -> None:
    with suppress(OSError, ValueError):
        handle.close()


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


def save_json(path: Path, value: Any, *, drafts: Drafts | None = None) -> None:
    """Write `value` as JSON, whole or not at all."""
    with saved(path, drafts=drafts) as write:
        write(json.dumps(value, indent=1).encode() + b"\n")


def sync_directory(directory: Path) -> None:
    """Make a rename last, where the system lets directories be synced."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
