"""Find, read and write the checked files, and make unified diffs of corrections."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from disambig.configuration import is_inside
from disambig.errors import UserError
from disambig.files import (
    COMPRESSED,
    STDIN,
    TempFiles,
    decode_marked,
    exchange_names,
    is_dangling,
    open_bytes,
    read_error,
    reading,
    remove_temp,
    sync_directory,
)
from disambig.formats import SkippedFiles, unsupported_error
from disambig.formatting import quoted_path
from disambig.markup import reading as markup

if TYPE_CHECKING:
    from disambig.checking.changes import WorkTrees

SUFFIXES = (".txt", *markup.SUFFIXES)
"""Suffixes of files that are checked in directories, unless settings have `include`."""
NOT_TEXT_SUFFIXES = (".jsonl", ".ndjson", ".csv", ".tsv", ".conllu", ".spacy", ".parquet", *COMPRESSED)
"""Suffixes of files that hold data or several texts."""
MAX_FILE_BYTES = 1 << 27
_MAX_DEPTH = 256
"""Maximum depth of folders, since `os.walk` is recursive before Python 3.12."""
_MAX_BACKUPS = 10_000


@dataclass(frozen=True, slots=True)
class TextFile:
    """The contents of a file."""

    path: str  # path as the user named it; ``-`` is standard input
    data: bytes
    text: str  # the decoded `data`, including a byte order mark and all line ends
    state: tuple[int, ...] = ()  # properties of the file by which a later change is noticed
    encoding: str = "utf-8"


def has_checked_suffix(path: str) -> bool:
    """Return True if the name of a file ends in one of `SUFFIXES`, or the file begins like a document."""
    return path.lower().endswith(SUFFIXES) or markup.begins_like_document(path, is_named=False)


PACKAGE_FOLDERS = frozenset(
    ("node_modules", "bower_components", "venv", "site-packages", "__pycache__", "__pypackages__")
)
"""Names of folders with installed packages or compiled files."""
_PACKAGE_SUFFIXES = (".egg-info", ".dist-info")
_BUILD_FOLDERS = frozenset(("build", "dist", "_build", "htmlcov"))
"""Names of folders that usually hold generated files; they are searched only if git tracks files in them."""


def find_files(
    paths: Sequence[str],
    takes: Callable[[str], bool] = has_checked_suffix,
    report: Callable[[UserError], object] = lambda problem: None,
    *,
    left_out: SkippedFiles | None = None,
    git: WorkTrees | None = None,
) -> Iterator[str]:
    """Yield the files in `paths` and in directories among them, without duplicates.

    Links come last, and only one link to a file is yielded, and none if the file itself is. In directories,
    these are skipped: hidden files and folders, links to directories, links to missing files or to files
    outside the directory, pipes, devices, files that git ignores, and folders with installed packages or
    generated files. Files that `paths` names are never skipped.

    `takes`: decides whether a file in a directory is checked.
    `report`: called with D308 for a directory that cannot be read and D976 for one that is nested too deeply.
    `left_out`: updated with what is skipped in directories, except files that `takes` refuses.
    `git`: without it, git is not used.
    """
    left_out = left_out or SkippedFiles()
    seen: set[str] = set()
    links: list[str] = []
    for path in paths:
        is_folder = path != STDIN and os.path.isdir(path)
        for file in _walk(path, takes, report, left_out, git) if is_folder else [path]:
            if file != STDIN and os.path.islink(file):  # git and --fix work on the file, not on the link
                links.append(file)
            elif (name := file if file == STDIN else os.path.realpath(file)) not in seen:
                seen.add(name)
                yield file
    for link in links:
        if (name := os.path.realpath(link)) not in seen:
            seen.add(name)
            yield link


def _walk(
    directory: str,
    takes: Callable[[str], bool],
    report: Callable[[UserError], object],
    left_out: SkippedFiles,
    git: WorkTrees | None,
) -> Iterator[str]:
    """Yield the checked files of a directory in sorted order; count the others in `left_out`."""

    def report_unreadable(problem: OSError) -> None:
        report(read_error(str(problem.filename), problem))

    top_depth = directory.rstrip(os.sep).count(os.sep)
    for folder, folders, files in os.walk(directory, onerror=report_unreadable):
        folders[:] = sorted(
            name for name in folders if _is_entered(os.path.join(folder, name), directory, left_out, git)
        )
        if folders and folder.count(os.sep) - top_depth >= _MAX_DEPTH:
            report(UserError("D976", path=os.path.join(folder, folders[0])[:200], limit=_MAX_DEPTH))
            folders.clear()
        for name in sorted(files):
            path = os.path.join(folder, name)
            if name.startswith("."):
                left_out.hidden += has_checked_suffix(name)
            elif takes(path):
                if (skipped := _special_files_list(path, directory, left_out)) is not None:
                    skipped.append(path)
                elif git is not None and git.ignores(path):
                    left_out.ignored += 1
                else:
                    yield path


def _is_entered(path: str, directory: str, left_out: SkippedFiles, git: WorkTrees | None) -> bool:
    """Return True if a folder inside a checked directory is searched; count it in `left_out` otherwise."""
    name = os.path.basename(path)
    if name.startswith("."):
        if git is not None and git.tracks(path):  # .github, but neither .git nor a cache
            left_out.folders[name] += 1
        return False
    if os.path.islink(path):
        if not is_inside(path, os.path.realpath(directory)):
            left_out.outside.append(path)
        return False
    if (
        name in PACKAGE_FOLDERS
        or name.endswith(_PACKAGE_SUFFIXES)
        or os.path.isfile(os.path.join(path, "pyvenv.cfg"))
    ):
        left_out.folders[name] += 1
        return False
    if git is not None and git.ignores(path):
        left_out.ignored += 1
        return False
    if name in _BUILD_FOLDERS and (git is None or not git.tracks(path)):
        left_out.folders[name] += 1
        return False
    return True


def _special_files_list(path: str, directory: str, left_out: SkippedFiles) -> list[str] | None:
    """Return the list of `left_out` for a link or special file that must not be read, or None.

    Reading a pipe or a device might never end, and a link out of `directory` might expose a private file.
    """
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            if is_dangling(path):
                return left_out.dangling
            status = os.stat(path)
            if not is_inside(path, os.path.realpath(directory)):
                return left_out.outside
    except OSError:
        return None  # the error is reported when the file is read
    return None if stat.S_ISREG(status.st_mode) else left_out.special


def read_text(path: str) -> TextFile:
    """Read a text file in UTF-8, or in UTF-16 with a byte order mark.

    Raises D300, D303, D304, D308 or D320 if it cannot be read; D339, D340 or D640 if its suffix shows that it
    is not a text.
    """
    shown = "<stdin>" if path == STDIN else path
    with reading(shown):
        state = () if path == STDIN else _file_state(os.stat(path))
        _check_name(path)
        with open_bytes(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise UserError("D320", path=shown, limit=MAX_FILE_BYTES)
    text, encoding = decode_marked(data, shown)
    return TextFile(path, data, text, state, encoding)


def as_text(path: str, data: bytes) -> TextFile:
    """Return a text file for contents that do not come from the file system; it cannot be written.

    Raises D303, D304 or D320 if `data` is not a valid text; D339, D340 or D640 if the suffix shows that it is
    not a text.
    """
    _check_name(path)
    if len(data) > MAX_FILE_BYTES:
        raise UserError("D320", path=path, limit=MAX_FILE_BYTES)
    text, encoding = decode_marked(data, path)
    return TextFile(path, data, text, encoding=encoding)


_DATA_HINT = "if it is a text nevertheless, pass it on standard input: `disambig check - < FILE`"


def _check_name(path: str) -> None:
    if path.lower().endswith(NOT_TEXT_SUFFIXES):
        raise UserError("D640", path=path, suffix=os.path.splitext(path)[1])
    if path != STDIN and (error := unsupported_error(path, hint=_DATA_HINT)):
        raise error


def check_writable(file: TextFile) -> None:
    """Check that a file can be written.

    Raises D642 for a link, a file with hard links, or a read-only file or directory; D643 if the file has
    changed since it was read.
    """
    path = file.path
    with reading(path):
        status = os.lstat(path)
        folder = os.stat(os.path.dirname(path) or ".")
    if stat.S_ISLNK(status.st_mode):
        raise UserError("D642", path=path, problem=f"is a link: name the file {os.path.realpath(path)}")
    if not stat.S_ISREG(status.st_mode):
        raise UserError("D642", path=path, problem="is not an ordinary file")
    if status.st_nlink > 1:
        raise UserError(
            "D642", path=path, problem="has other names (hard links), which would keep the old text"
        )
    if not status.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise UserError("D642", path=path, problem="is read-only: make it writable, or leave out --fix")
    if not folder.st_mode & 0o222 or not os.access(os.path.dirname(path) or ".", os.W_OK | os.X_OK):
        raise UserError("D642", path=path, problem="lies in a read-only directory: make that writable")
    if _file_state(status) != file.state:
        raise UserError("D643", path=path)


def write_text(file: TextFile, text: str, *, backup: str | None) -> str | None:
    """Replace the contents of a file atomically, keeping its mode.

    Raises D642, D643 if the file must not be written, D309 if it cannot be written.

    `text`: the new text.
    `backup`: suffix of the backup file; None for no backup. An existing backup is never replaced: the next
    free name is used, ``notes.md.bak``, ``notes.md.bak2``, ...
    Returns the name of the backup file.
    """
    check_writable(file)
    path = Path(file.path)
    temp_files = TempFiles.for_target(path)
    temp_files.clean()
    temporary = temp_files.new()
    backup_name = None
    try:
        status = os.stat(path)
        _write_new(temporary, text.encode(file.encoding), status)
        backup_name = None if backup is None else _back_up(file, backup, status)
        if path.read_bytes() != file.data or _file_state(os.lstat(path)) != file.state:
            raise UserError("D643", path=path)
        _replace_unchanged(temporary, path, file.data)
        sync_directory(path.parent)
    except (UserError, OSError) as problem:
        if backup_name is not None:
            remove_temp(Path(backup_name))
        if isinstance(problem, UserError):
            raise
        raise UserError("D309", path=path, problem=problem.strerror or str(problem)) from problem
    finally:
        remove_temp(temporary)
    return backup_name


def _replace_unchanged(temporary: Path, path: Path, old: bytes) -> None:
    """Move `temporary` to `path` if the file there still contains `old` and no program is writing it.

    The two names are exchanged before the old file is checked, so that no other program can write between the
    check and the replacement. If the system cannot exchange names, the file is replaced without this check.

    Raises D643 if another program has written the file or has it open for writing; its file is restored.
    """
    new_status = os.lstat(temporary)
    if not exchange_names(temporary, path):
        os.replace(temporary, path)
        return
    # From here on, `temporary` is the name of the old file.
    if temporary.read_bytes() == old and not _is_open_for_writing(temporary):
        return
    exchange_names(temporary, path)
    if not os.path.samestat(os.lstat(temporary), new_status):
        exchange_names(temporary, path)  # another program has replaced the new file: keep that program's file
    raise UserError("D643", path=path)


def _is_open_for_writing(path: Path) -> bool:
    """Return True if a program is known to have a file open for writing; only Linux reports that."""
    try:
        import fcntl

        set_lease, set_signal = fcntl.F_SETLEASE, fcntl.F_SETSIG
        with open(path, "rb") as file:
            # Opening the file while the lease is held sends a signal; SIGURG is ignored by default.
            fcntl.fcntl(file, set_signal, signal.SIGURG)
            fcntl.fcntl(file, set_lease, fcntl.F_RDLCK)
            fcntl.fcntl(file, set_lease, fcntl.F_UNLCK)
    except BlockingIOError:  # there is a writer
        return True
    except (ImportError, AttributeError, OSError):
        return False  # leases are not supported, or not for files of other users
    return False


def _back_up(file: TextFile, suffix: str, status: os.stat_result) -> str:
    """Write the contents of a file to the first free backup name, and return the name."""
    for number in range(1, _MAX_BACKUPS):
        name = f"{file.path}{suffix}{number if number > 1 else ''}"
        try:
            _write_new(Path(name), file.data, status)
        except FileExistsError:
            continue
        return name
    raise UserError("D309", path=f"{file.path}{suffix}", problem="too many older backups")


def _write_new(path: Path, data: bytes, status: os.stat_result) -> None:
    """Write a new file with the mode and, if permitted, the owner that `status` has."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as sink:
        sink.write(data)
        sink.flush()
        if hasattr(os, "fchown"):
            with suppress(OSError):
                os.fchown(sink.fileno(), status.st_uid, status.st_gid)
        os.chmod(path, stat.S_IMODE(status.st_mode))
        os.fsync(sink.fileno())


def _file_state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns


_CONTEXT_LINES = 3
_NO_FINAL_NEWLINE = "\\ No newline at end of file\n"


def unified_diff(path: str, old: str, new: str) -> str:
    """Return the diff of two texts with the same number of lines; "" if they are equal.

    It can be applied with ``patch -p0`` and ``git apply -p0``. Line ends are LF or CR LF.
    """
    before, after = old.split("\n"), new.split("\n")
    if len(before) != len(after):
        raise ValueError("the texts have different numbers of lines")
    changed = [i for i, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    if not changed:
        return ""
    n_lines = len(before) - (before[-1] == "")  # without the empty string after the last line end
    name = quoted_path(path.removeprefix(os.path.join(os.curdir, "")))  # git refuses "./a.md"
    parts = [f"--- {name}\n+++ {name}\n"]
    for first, stop in _hunk_bounds(changed, n_lines):
        length = stop - first
        parts.append(f"@@ -{first + 1},{length} +{first + 1},{length} @@\n")
        parts += _hunk_lines(before, after, first, stop)
    return "".join(parts)


def _hunk_bounds(changed: list[int], n_lines: int) -> Iterator[tuple[int, int]]:
    """Yield the first line and the end of each hunk, including its context."""
    first = stop = -1
    for line in changed:
        if stop >= 0 and line - _CONTEXT_LINES > stop:
            yield first, stop
            first = -1
        first = max(0, line - _CONTEXT_LINES) if first < 0 else first
        stop = min(n_lines, line + _CONTEXT_LINES + 1)
    yield first, stop


def _hunk_lines(before: list[str], after: list[str], first: int, stop: int) -> Iterator[str]:
    """Yield the lines of a hunk; of adjacent changed lines, all old ones come before all new ones."""
    for is_changed, group in groupby(range(first, stop), lambda i: before[i] != after[i]):
        numbers = list(group)
        if is_changed:
            yield from (_diff_line("-", before, i) for i in numbers)
            yield from (_diff_line("+", after, i) for i in numbers)
        else:
            yield from (_diff_line(" ", before, i) for i in numbers)


def _diff_line(mark: str, lines: list[str], number: int) -> str:
    return f"{mark}{lines[number]}\n" + (_NO_FINAL_NEWLINE if number == len(lines) - 1 else "")
