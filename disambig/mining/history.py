"""The commits of a git repository and the files that they changed.

Only objects are read: nothing is checked out, and no command that the repository configures is run, such as a
hook, a filter, a text converter or a file system monitor (see `disambig.checking.Repository`).
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from disambig.checking import Repositories, Repository
from disambig.errors import UserError

MAX_BLOB_BYTES = 2_000_000
"""Maximum number of bytes of a file."""
_MAX_FIELD = 1 << 20
"""Maximum number of bytes of a commit message or path."""
_BLOCK = 1 << 16
_FORMAT = "--format=%H%x00%ct%x00%at%x00%B"
_LOG = (
    "log",
    "-z",
    "--raw",
    "--no-abbrev",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-show-signature",
    "--no-notes",
    "--no-mailmap",
    "--no-merges",
    "--ignore-submodules=all",
    "--find-renames=60%",
    "-l200",
    "--diff-filter=MR",
    "--encoding=UTF-8",
    _FORMAT,
)
_REGULAR = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a commit changed."""

    path: str  # path after the commit
    # object names of the contents before and after the commit
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that is not a merge."""

    id: str
    time: int  # time of the commit in seconds since 1970
    year: int  # year in which the change was written
    message: str
    files: tuple[ChangedFile, ...]  # the changed and renamed files, without new and deleted ones


class History:
    """The history of the repository that contains a folder.

    `folder` is a work tree or a folder in it. Raises D540 if git is not installed, D541
    for a folder outside all repositories, D542 if there is no commit; D964, D968 and D969 if git fails.
    """

    def __init__(self, folder: str) -> None:
        path = os.path.realpath(folder)
        if not os.path.isdir(path):
            raise UserError("D541", path=folder)
        try:
            self.repository: Repository = Repositories().get(path)
        except UserError as problem:
            if problem.code == "D961":
                raise UserError("D540") from None
            if problem.code == "D962":
                raise UserError("D541", path=folder) from None
            raise
        head = self.repository.head()
        if head is None:
            raise UserError("D542", path=folder)
        self.head: str = head

    @property
    def top(self) -> str:
        """The top folder of the work tree."""
        return self.repository.top

    @property
    def is_shallow(self) -> bool:
        """Whether older commits are missing."""
        return self.repository.is_shallow

    def n_commits(self) -> int:
        """Return the number of commits that are not merges."""
        with self._output(["rev-list", "--count", "--no-merges", self.head, "--"]) as output:
            return int(output.read(100) or 0)

    def commits(self) -> Iterator[Commit]:
        """Yield the commits that changed files, the newest first. Raises D964 if git fails."""
        with self._output([*_LOG, self.head, "--"]) as output:
            fields = _fields(output)
            field = next(fields, None)
            while field is not None:
                commit_id = field.decode("ascii", "replace")
                committed, written, message = (next(fields, b"") for _ in range(3))
                files = []
                while (field := next(fields, None)) is not None and field.lstrip(b"\n").startswith(b":"):
                    old_mode, new_mode, old, new, status = field.decode("ascii").lstrip("\n:").split()
                    path = next(fields, b"")
                    if status.startswith("R"):
                        path = next(fields, b"")
                    if old_mode in _REGULAR and new_mode in _REGULAR and old != new:
                        files.append(ChangedFile(os.fsdecode(path), old, new))
                text = message.decode("utf-8", "replace")
                yield Commit(commit_id, _number(committed), _year(written), text, tuple(files))

    def commit_time(self, commit: str) -> int:
        """Return the time of a commit, in seconds since 1970. Raises D964 if git fails."""
        with self._output(["log", "-1", "--no-show-signature", "--format=%ct", commit, "--"]) as output:
            return _number(output.read(100).strip())

    def commit_at(self, time: int) -> str | None:
        """Return the last commit at a time or before it, in seconds since 1970; None if there is none.

        Raises D964 if git fails.
        """
        command = ["rev-list", "-1", f"--min-age={max(0, time)}", self.head, "--"]
        with self._output(command) as output:
            return output.read(200).decode("ascii").strip() or None

    def files(self, commit: str) -> Iterator[tuple[str, str]]:
        """Yield the path and the object name of each regular file in a commit. Raises D964 if git fails."""
        with self._output(["ls-tree", "-r", "-z", "--full-tree", commit]) as output:
            for field in _fields(output):
                properties, _, path = field.partition(b"\t")
                mode, kind, blob = properties.decode("ascii").split()
                if kind == "blob" and mode in _REGULAR:
                    yield os.fsdecode(path), blob

    @contextmanager
    def blobs(self) -> Iterator[BlobReader]:
        """Yield a reader of the contents of files. Raises D964 if git cannot be started."""
        process = self.repository.start(["cat-file", "--batch"])
        try:
            yield BlobReader(process, self.top)
        finally:
            _end(process)

    @contextmanager
    def _output(self, command: list[str]) -> Iterator[IO[bytes]]:
        """Yield the output of a git command; raise D964 if the output was read to its end and git failed."""
        process = self.repository.start(command)
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.close()
            yield process.stdout
            if not process.stdout.read(1) and process.wait():
                problem = (
                    f"`git {command[0]}` failed; if this is a partial clone, `git fetch --refetch "
                    "--no-filter` fetches the objects that are missing"
                )
                raise UserError("D964", path=self.top, problem=problem)
        finally:
            _end(process)


class BlobReader:
    """Reads the contents of files from one git process."""

    def __init__(self, process: subprocess.Popen[bytes], top: str) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._input, self._output, self._top = process.stdin, process.stdout, top

    def read(self, blob: str) -> bytes | None:
        """Return the contents of an object; None if it is missing or has more than `MAX_BLOB_BYTES` bytes.

        Raises D964 if git ends.
        """
        try:
            self._input.write(f"{blob}\n".encode("ascii"))
            self._input.flush()
        except OSError as problem:
            raise self._error() from problem
        header = self._output.readline(1_000).split()
        if not header:
            raise self._error()
        if len(header) < 3:
            return None  # "... missing"
        size = int(header[2])
        data = bytearray()
        for start in range(0, size, _BLOCK):  # a large file is read too, but not kept
            block = self._output.read(min(_BLOCK, size - start))
            if size <= MAX_BLOB_BYTES:
                data += block
        self._output.read(1)
        return bytes(data) if size <= MAX_BLOB_BYTES else None

    def _error(self) -> UserError:
        return UserError("D964", path=self._top, problem="`git cat-file` ended early")


def _fields(output: IO[bytes]) -> Iterator[bytes]:
    """Yield the fields of an output, each of which ends with a zero byte; long ones are cut."""
    start_of_field = bytearray()
    is_cut = False
    while block := output.read(_BLOCK):
        *ended, last = block.split(b"\0")
        for end_of_field in ended:
            yield bytes(start_of_field) + (b"" if is_cut else end_of_field)
            start_of_field.clear()
            is_cut = False
        if len(start_of_field) < _MAX_FIELD:
            start_of_field += last
        else:
            is_cut = True


def _number(field: bytes) -> int:
    """Return a time as a number; 0 for an invalid one."""
    try:
        return max(0, min(int(field), 1 << 40))
    except ValueError:
        return 0


def _year(field: bytes) -> int:
    try:
        return time.gmtime(_number(field)).tm_year
    except (OverflowError, ValueError, OSError):
        return 1970


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and close its pipes."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    if process.poll() is None:
        process.kill()
    process.wait()
