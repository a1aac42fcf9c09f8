"""Write files and folders atomically, with checksums."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import io
import json
import math
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from disambig.errors import UserError
from disambig.files.opening import pack


def is_plain(value: object) -> bool:
    """Return True if `json_text` can write a value and `json.loads` returns an equal one, except for NaN."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(is_plain(item) for item in value)
    return value is None or type(value) in (str, int, float, bool)


def json_text(value: Any, *, indent: int | None = 1, ensure_ascii: bool = True) -> str:
    """Return plain values as JSON, with null for NaN and infinities, which JSON does not have."""
    return json.dumps(replace_nonfinite(value), indent=indent, ensure_ascii=ensure_ascii, allow_nan=False)


def replace_nonfinite(value: Any) -> Any:
    """Return plain values with None for NaN and infinite numbers."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: replace_nonfinite(item) for key, item in value.items()}
    return [replace_nonfinite(item) for item in value] if isinstance(value, list | tuple) else value


def parse_json(data: str | bytes | bytearray, *, unique_keys: bool = False) -> Any:
    """Return the value of a JSON text.

    `unique_keys` says whether to reject duplicate keys, of which other readers may use the first. Raises
    `ValueError` if the text is not JSON, is nested too deep, or has a number that is not finite or too long.
    The standard library raises `RecursionError` for depth and accepts NaN.
    """
    pairs = _reject_duplicates if unique_keys else None
    try:
        return json.loads(
            data, parse_constant=_refuse_constant, parse_float=_finite_float, object_pairs_hook=pairs
        )
    except RecursionError:
        raise ValueError("values are nested too deep") from None
    except ValueError as problem:
        if isinstance(problem, json.JSONDecodeError | UnicodeDecodeError | _NotStrict):
            raise
        raise ValueError(_long_number(problem)) from None


def read_json(path: Path, *, limit: int = 100_000_000) -> Any:
    """Return the value of a JSON file.

    Raises `OSError` if it cannot be read. Raises `ValueError` if it is not JSON (see `parse_json`), not an
    ordinary file, or has more than `limit` bytes.
    """
    if path.exists() and not path.is_file():
        raise ValueError("it is not an ordinary file")  # opening a pipe would wait for a writer
    with open(path, "rb") as file:
        # `read` allocates as many bytes as it is asked for
        data = file.read(min(limit, os.fstat(file.fileno()).st_size) + 1)
    if len(data) > limit:
        raise ValueError(f"it has more than {limit:,} bytes")
    return parse_json(data)


class _NotStrict(ValueError):
    """A number that JSON does not have, or a duplicate key."""


def _refuse_constant(name: str) -> Any:
    raise _NotStrict(f"{name} is not a number of JSON")


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _NotStrict(f"the number {text[:20]} is too large")
    return value


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        duplicate = next(name for name in names if names.count(name) > 1)
        raise _NotStrict(f"the key {duplicate!r} occurs twice")
    return values


def _long_number(problem: ValueError) -> str:
    return "a number has too many digits" if "digits" in str(problem) else str(problem)


PREFIX = ".tmp-"
_NAME = re.compile(r"\.tmp-([0-9a-f]{16})-([0-9]+)-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class TempFiles:
    """The folder and the names of the temporary files of one target."""

    folder: Path  # on the file system of the target, so that a temporary file can be renamed
    mark: str  # part of the names: sixteen hexadecimal digits that identify the target

    @classmethod
    def for_name(cls, folder: Path, target: str) -> TempFiles:
        """Return the temporary files in a folder for a target."""
        return cls(folder, hashlib.blake2b(os.fsencode(target), digest_size=8).hexdigest())

    @classmethod
    def for_target(cls, target: Path) -> TempFiles:
        """Return the temporary files in the same folder as their target."""
        return cls.for_name(target.parent, target.name)

    def new(self) -> Path:
        """Return a new name for a temporary file."""
        return self.folder / f"{PREFIX}{self.mark}-{os.getpid()}-{secrets.token_hex(4)}"

    def clean(self) -> None:
        """Remove the files of writers that no longer exist, as far as possible."""
        with suppress(OSError):
            for path in [*self.folder.iterdir()]:
                match = _NAME.fullmatch(path.name)
                if match is not None and match[1] == self.mark and not is_process_alive(int(match[2])):
                    _remove_unheld(path)


def remove_temp(path: Path) -> None:
    """Remove a temporary file or folder if possible."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def lock_file(handle: int, *, shared: bool = False) -> bool:
    """Lock an open file until it is closed; return False if another process holds the lock.

    Return True, too, if the system or the file system has no locks.
    """
    try:
        import fcntl

        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass
    return True


@contextmanager
def temp_folder(temp_files: TempFiles, *, private: bool = False) -> Iterator[Path]:
    """Yield an empty folder, which is removed at the end unless it was renamed.

    A `private` folder is accessible to this user only.

    Raises `OSError` if it cannot be created.
    """
    temp_files.clean()
    folder = temp_files.new()
    handle = -1
    try:
        folder.mkdir(0o700 if private else 0o777)
        with suppress(OSError):  # the system has no handles of folders
            handle = os.open(folder, os.O_RDONLY)
            lock_file(handle)
        yield folder
    finally:
        if handle >= 0:
            os.close(handle)
        remove_temp(folder)


def is_process_alive(process: int) -> bool:
    """Return True if another process on this machine has this number."""
    if process == os.getpid() or os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return not _has_ended(process)


def _has_ended(process: int) -> bool:
    """Return True if a process is a zombie, if the system reports that."""
    try:
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    except (OSError, IndexError):
        return False


def _remove_unheld(path: Path) -> None:
    """Remove a temporary file unless it is locked, possibly by a process on another machine."""
    try:
        import fcntl

        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (ImportError, OSError):
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_temp(path)
    except OSError:
        pass
    finally:
        os.close(handle)


_BLOCK = 1 << 20


class Checksum:
    """Size in bytes and BLAKE2b-128 digest of written data."""

    def __init__(self) -> None:
        self.size = 0
        self._hash = hashlib.blake2b(digest_size=16)

    def add(self, data: Any) -> None:
        """Add the next bytes."""
        self._hash.update(data)
        self.size += len(data)

    def digest(self) -> str:
        """Return the digest of all bytes so far in hexadecimal."""
        return self._hash.hexdigest()

    def wrap(self, file: IO[bytes]) -> IO[bytes]:
        """Return a file that writes to `file` and updates the checksum; closing it leaves `file` open."""
        return _ChecksumWriter(file, self)  # type: ignore[return-value]

    @classmethod
    def from_file(cls, path: Path) -> Checksum:
        """Return the checksum of a file; raise OSError if it cannot be read."""
        checksum = cls()
        with open(path, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                checksum.add(block)
        return checksum


class _ChecksumWriter(io.RawIOBase):
    def __init__(self, file: IO[bytes], checksum: Checksum) -> None:
        self._file, self._checksum = file, checksum

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._file.write(view)
        self._checksum.add(view)
        return len(view)

    def flush(self) -> None:
        if not self._file.closed:
            self._file.flush()


_MAX_LINKS = 40


@contextmanager
def save_file(
    path: Path, *, temp_files: TempFiles | None = None, checksum: Checksum | None = None
) -> Iterator[Callable[[bytes], object]]:
    """Yield a function that writes bytes; they appear under `path` only if the block succeeds.

    The bytes are compressed if the name ends in .gz, .bz2, .xz or .zst. A link at `path` is replaced (see
    `save_output`).

    Raises D309 if it cannot be written (a full disk); no temporary file is left.

    `temp_files`: where to put the temporary file; the caller is responsible for cleaning. By default in the
    folder of `path`, where files of killed writers of the same target are removed.
    `checksum`: updated with the bytes of the file.
    """
    if temp_files is None:
        temp_files = TempFiles.for_target(path)
        temp_files.clean()
    temporary = temp_files.new()
    with ExitStack() as cleanup:
        cleanup.callback(remove_temp, temporary)  # first: an interrupt can come right after
        with writing(path):
            file = open(temporary, "xb")  # noqa: SIM115  closed at the end
        cleanup.callback(_close, file)
        # On a shared file system, this process is unknown to other machines: the lock keeps `clean` off.
        lock_file(file.fileno())
        sink: Any = file if checksum is None else checksum.wrap(file)
        packed = pack(sink, path.name)
        cleanup.callback(_close, packed)
        yield checked_writer(packed, path)
        with writing(path):
            if packed is not sink:
                packed.close()
            file.flush()
            # The content first: otherwise the new name may lead to an empty file after a crash of the system.
            os.fsync(file.fileno())
            file.close()
            os.replace(temporary, path)
            sync_directory(path.parent)


@contextmanager
def save_output(path: Path) -> Iterator[Callable[[bytes], object]]:
    """Like `save_file`, for a name given by a user: links are followed, pipes and devices written directly.

    Raises D309.
    """
    with writing(path):
        is_direct = is_special(path)
        target = path if is_direct else follow_links(path)
    if not is_direct:
        with save_file(target) as write:
            yield write
        return
    with ExitStack() as cleanup:
        with writing(path):
            file = open(path, "ab")  # noqa: SIM115  closed at the end; appends to a file that a shell opened
        cleanup.callback(_close, file)
        packed = pack(file, path.name)
        cleanup.callback(_close, packed)
        yield checked_writer(packed, path)
        with writing(path):
            if packed is not file:
                packed.close()
            file.close()


def follow_links(path: Path) -> Path:
    """Return the target of a name after following links; raise OSError for a cycle."""
    target = os.path.realpath(path)
    if os.path.islink(target):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return Path(target)


def is_special(path: Path) -> bool:
    """Return True if `path` must be written directly: a pipe, a device, or a file that a shell opened."""
    if not path.exists():
        return False
    return _is_open_handle(path) or not (path.is_file() or path.is_dir())


def _is_open_handle(path: Path) -> bool:
    """Return True if `path` leads through links to an open handle such as /dev/stdout."""
    for _ in range(_MAX_LINKS):
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


def checked_writer(sink: IO[bytes], path: Path | str) -> Callable[[bytes], object]:
    """Return a function that writes to `sink` and names `path` in errors."""

    def write(data: bytes) -> None:
        with writing(path):
            sink.write(data)

    return write


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Convert an OSError to D309, except BrokenPipeError, which means that the reader has exited."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        reason = problem.strerror or str(problem)
        parent = Path(path).parent
        if isinstance(problem, FileNotFoundError) and not parent.exists():
            reason = f"there is no directory {parent}"
        raise UserError("D309", path=path, problem=reason) from problem


def save_json(path: Path, value: Any, *, temp_files: TempFiles | None = None) -> None:
    """Write `value` as JSON atomically."""
    with save_file(path, temp_files=temp_files) as write:
        write(json.dumps(value, indent=1).encode() + b"\n")


def sync_directory(directory: Path) -> None:
    """Make a rename durable, if the system can sync directories."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


_AT_FDCWD = -100
"""Value of AT_FDCWD in Linux: paths are relative to the working directory."""
_EXCHANGE = 2
"""Value of RENAME_EXCHANGE in Linux and of RENAME_SWAP in macOS."""


def replace_atomically(temporary: Path, target: Path) -> None:
    """Rename a temporary file or folder to its target, and remove the old target.

    Raises `OSError` if it cannot be renamed; then the old target is kept.
    """
    if not os.path.lexists(target):
        os.rename(temporary, target)
    elif exchange_names(temporary, target):
        remove_temp(temporary)
    else:
        old = _backup_path(target)
        remove_temp(old)
        os.rename(target, old)
        try:
            os.rename(temporary, target)
        except OSError:
            os.rename(old, target)
            raise
        remove_temp(old)
    sync_directory(target.parent)


def restore(target: Path) -> None:
    """Restore the old target if `replace_atomically` was killed between its two renames."""
    old = _backup_path(target)
    if not os.path.lexists(target) and os.path.lexists(old):
        os.rename(old, target)


def exchange_names(first_path: Path, second_path: Path) -> bool:
    """Exchange two names atomically; return True if the system and the file system support that."""
    try:
        system = ctypes.CDLL(None, use_errno=True)
        first, second = os.fsencode(first_path), os.fsencode(second_path)
        if sys.platform == "darwin":
            return bool(system.renamex_np(first, second, _EXCHANGE) == 0)
        return bool(system.renameat2(_AT_FDCWD, first, _AT_FDCWD, second, _EXCHANGE) == 0)
    except (AttributeError, OSError, TypeError):
        return False


def _backup_path(target: Path) -> Path:
    """Return the name of the old target while `replace_atomically` renames the new one."""
    return target.parent / f".old-{TempFiles.for_target(target).mark}"


@contextmanager
def saved_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder that is renamed to `path` only if the block succeeds.

    The old content of `path` is kept until then. Links are followed and parent folders are created. If
    nothing can be written there, the error is raised at the start.

    Raises
    ------
    UserError
        D309 if it cannot be created or renamed; no temporary folder is left.
    """
    with ExitStack() as cleanup:
        with writing(path):
            target = follow_links(path)
            restore(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = cleanup.enter_context(temp_folder(TempFiles.for_target(target)))
        yield temporary
        with writing(path):
            replace_atomically(temporary, target)
