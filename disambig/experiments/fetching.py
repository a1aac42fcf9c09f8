"""Download data sets and make their files, with checks of sizes and digests."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import IO, Any

from disambig.errors import UserError
from disambig.experiments.data import VARIABLE, DataFile, DataSet, Download, cache_directory, stays_inside
from disambig.files import READ_ERRORS, lock_file, open_bytes, save_file, writing
from disambig.type_aliases import OpenProgress, no_progress

MAX_DOWNLOAD = 4 << 30
"""Maximum size of a download whose size is not known."""
MAX_UNPACKED = 8 << 30
"""Maximum size of an archive without compression: a small file can unpack to any size."""
MAX_MEMBERS = 1_000_000
TIMEOUT = (30.0, 60.0)
"""Seconds to wait for a connection, and for the next bytes."""
ATTEMPTS = 5
"""Attempts in a row without a new byte before a download is given up."""
_BLOCK = 1 << 20
_CHUNK = 1 << 16
"""Bytes of a connection at a time; the last, incomplete chunk before it breaks is lost."""
_TEMPORARY = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses of HTTP after which another attempt can succeed."""


_DAMAGED = (*READ_ERRORS, tarfile.TarError, zipfile.BadZipFile, RuntimeError)
"""What readers of archives raise; RuntimeError is for a member of a zip file that has a password."""


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetch data sets into a data directory."""

    data: Path  # the data directory; it is made if it does not exist
    # a directory that contains the downloads under their file names; nothing is fetched then
    local: Path | None = None
    # Accept files that differ from those behind the published figures. A download whose own digest is known
    # must have this digest all the same
    unchecked: bool = False
    progress: OpenProgress = no_progress  # called with numbers of bytes
    # called with a line of text for each file that is accepted although it differs
    tell: Callable[[str], object] = lambda line: None
    pause: float = 1.0  # seconds before the second attempt; each further attempt waits twice as long

    def fetch(self, entry: DataSet) -> list[Path]:
        """Fetch what is missing of a data set, and return the files that were made.

        Files that exist are checked, not made again. A download is removed when its files are in place;
        until then it is kept in the cache, so that the next call continues it.

        Raises D534 if a download fails, D535 if its size or digest is wrong, D536 if the data set cannot be
        fetched, D538 if an archive is damaged or unsafe, D539 if a file differs from the one behind the
        published figures, D309 or D722 if something cannot be written.
        """
        if not entry.files:
            raise UserError("D536", name=entry.name)
        made: list[Path] = []
        for download in entry.downloads:
            files = [file for file in entry.files if file.source == download.file]
            missing = [file for file in files if not self._is_there(file)]
            if not missing:
                continue
            archive = (
                self.download(entry.name, download) if self.local is None else self._local_file(download)
            )
            for file in missing:
                self.progress(f"making {file.path}", 0, None)
                made.append(self._make(file, archive))
            if self.local is None:
                with suppress(OSError):
                    archive.unlink()
                    archive.parent.rmdir()
        return made

    def _is_there(self, file: DataFile) -> bool:
        """Return whether a file exists; D539 if its content is another one."""
        target = self.data / file.path
        if not target.exists():
            return False
        problem = file_difference(file, target)
        if problem and not self.unchecked:
            raise UserError("D539", path=target, problem=problem)
        return True

    def download(self, name: str, download: Download) -> Path:
        """Return the path of a download in the cache, fetched and checked (errors: see `fetch`)."""
        folder = cache_directory() / "downloads" / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise UserError("D722", path=folder, problem=problem.strerror, variable=VARIABLE) from problem
        path = folder / download.file
        if not path.is_file():
            partial = PartialDownload(download, folder / f"{download.file}.part")
            with partial.locked():
                partial.complete(self.progress, pause=self.pause)
                with writing(path):
                    partial.path.replace(path)
        return path

    def _local_file(self, download: Download) -> Path:
        """Return the path of a download in the local directory, checked."""
        assert self.local is not None
        path = self.local / download.file
        if not path.is_file():
            problem = f"{path} does not exist"
            raise UserError("D534", url=download.url, problem=problem, advice="copy it there")
        problem = download_difference(download, path)
        if problem:
            raise UserError("D535", path=path, problem=problem)
        return path

    def _make(self, file: DataFile, archive: Path) -> Path:
        """Make one file from a download; nothing is left if it differs."""
        target = self.data / file.path
        with writing(target.parent):
            target.parent.mkdir(parents=True, exist_ok=True)
        content = _Content(MAX_UNPACKED if self.unchecked else file.size)
        with save_file(target) as write:
            for block in content.blocks(file, archive):
                write(block)
            problem = content.difference(file)
            if problem and not self.unchecked:
                raise UserError("D539", path=target, problem=problem)
        if problem:
            self.tell(f"{target}: {problem}; accepted, since differences are not checked")
        return target


@dataclass(frozen=True, slots=True)
class PartialDownload:
    """A download that may be incomplete; beside it, a small file says which version of the file it is."""

    source: Download
    path: Path

    @property
    def _about(self) -> Path:
        return self.path.with_name(f"{self.path.name}.json")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the download, so that no other process on this machine writes to it at the same time."""
        with writing(self.path):
            file = open(self.path, "ab")  # noqa: SIM115  closed below
        with closing(file):
            if not lock_file(file.fileno()):
                raise self._failed("another process is fetching this file", "wait until it has finished")
            yield
        with suppress(OSError):
            self._about.unlink()

    def complete(self, progress: OpenProgress, *, pause: float) -> None:
        """Fetch the rest, and check size and digest; D534 or D535 if that fails."""
        import requests

        failures, restarted = 0, False
        while True:
            before = self._size()
            try:
                with requests.Session() as session:
                    self._continue(session, progress)
            except (requests.RequestException, _TransientError) as problem:
                failures = 1 if self._size() > before else failures + 1
                if failures >= ATTEMPTS:
                    advice = "run the command again: it continues where it stopped"
                    raise self._failed(_describe(problem), advice) from None
                time.sleep(min(60.0, pause * 2 ** (failures - 1)))
                continue
            difference = download_difference(self.source, self.path)
            if not difference:
                return
            self._clear()
            # bytes of an earlier run can belong to another version of the file
            if before and not restarted:
                restarted = True
                continue
            raise UserError("D535", path=self.source.url, problem=difference)

    def _size(self) -> int:
        with writing(self.path):
            return self.path.stat().st_size

    def _clear(self) -> None:
        with writing(self.path):
            os.truncate(self.path, 0)  # not removed, since this process holds the file

    def _continue(self, session: Any, progress: OpenProgress) -> None:
        """Make one request and append its bytes; raise `_TransientError` if another one can bring more."""
        # `requests` would unpack what a server sends compressed: sizes and ranges count the bytes of the file
        done, headers = self._size(), {"Accept-Encoding": "identity"}
        if done and done == self.source.size:
            return
        version = self._version()
        if done and not (version or self.source.sha256):
            done = 0  # without a version or a digest, the rest could belong to another file
        if done:
            headers["Range"] = f"bytes={done}-"
            if version:  # the server sends the whole file if it has another version now
                headers["If-Range"] = version
        with session.get(self.source.url, headers=headers, stream=True, timeout=TIMEOUT) as answer:
            if self.source.url.startswith("https:") and not answer.url.startswith("https:"):
                raise self._failed(f"it leads to {answer.url}, without encryption")
            status, content_range = answer.status_code, answer.headers.get("Content-Range", "")
            if status == 416:  # there is nothing after these bytes
                if _total(content_range) == done:
                    return
                self._clear()
                raise _TransientError("the file on the server is smaller than what was fetched before")
            if status in _TEMPORARY:
                raise _TransientError(f"status {status} {answer.reason}")
            if status not in (200, 206):
                raise self._failed(f"status {status} {answer.reason}")
            if status == 206 and not content_range.startswith(f"bytes {done}-"):
                self._clear()
                raise _TransientError("the server sent another part of the file")
            self._append(answer, 0 if status == 200 else done, progress)

    def _failed(self, problem: str, advice: str = "see its homepage") -> UserError:
        return UserError("D534", url=self.source.url, problem=problem, advice=advice)

    def _append(self, answer: Any, done: int, progress: OpenProgress) -> None:
        """Append the bytes of an answer to the first `done` bytes of the file."""
        length = answer.headers.get("Content-Length", "")
        total = done + int(length) if length.isdecimal() else self.source.size
        limit = self.source.size if self.source.size is not None else MAX_DOWNLOAD
        with writing(self.path):
            etag = answer.headers.get("ETag", "")  # a weak one, W/"...", does not promise the same bytes
            version = etag if etag and not etag.startswith("W/") else answer.headers.get("Last-Modified", "")
            self._about.write_text(json.dumps({"url": self.source.url, "version": version}), encoding="utf8")
            file = open(self.path, "ab" if done else "wb")  # noqa: SIM115  closed below
        with closing(file):
            for block in answer.iter_content(_CHUNK):
                with writing(self.path):
                    file.write(block)
                    file.flush()
                done += len(block)
                if done > limit:
                    file.truncate(0)
                    problem = f"it has more than {limit:,} bytes"
                    raise UserError("D535", path=self.source.url, problem=problem)
                progress(f"fetching {self.source.file}", done, total)
        if total is not None and length and done < total:
            raise _TransientError(f"the connection ended after {done:,} of {total:,} bytes")

    def _version(self) -> str:
        """Return the strong ETag or the date of the bytes that were fetched, or an empty string."""
        try:
            details = json.loads(self._about.read_text(encoding="utf8"))
            return str(details["version"]) if details["url"] == self.source.url else ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""


class _TransientError(Exception):
    """A request failed, but another one may succeed."""


def _describe(problem: Exception) -> str:
    """Return an error of a connection in a few words; the messages of `requests` contain whole objects."""
    if isinstance(problem, _TransientError):
        return str(problem)
    name = type(problem).__name__
    descriptions = {
        "ConnectionError": "no connection",
        "ProxyError": "no connection to the proxy",
        "ConnectTimeout": "no answer in time",
        "ReadTimeout": "no answer in time",
        "ChunkedEncodingError": "the connection ended early",
        "SSLError": "the certificate of the server is not accepted",
        "TooManyRedirects": "too many redirects",
    }
    return descriptions.get(name, name)


def _total(content_range: str) -> int:
    """Return the size of the file from a header Content-Range; -1 if it is not given."""
    total = content_range.rpartition("/")[2]
    return int(total) if total.isdecimal() else -1


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: file.read(_BLOCK), b"")


def download_difference(source: Download, path: Path) -> str:
    """Return how a downloaded file differs from its manifest, or an empty string."""
    size, digest = 0, hashlib.sha256()
    with writing(path), open(path, "rb") as file:
        for block in _blocks(file):
            size += len(block)
            digest.update(block)
    if source.size is not None and size != source.size:
        return f"it has {size:,} bytes, not {source.size:,}"
    if source.sha256 is not None and digest.hexdigest() != source.sha256:
        return f"its SHA-256 is {digest.hexdigest()}, not {source.sha256}"
    return ""


def file_difference(file: DataFile, path: Path) -> str:
    """Return how the content of a file of a data directory differs from its manifest, or an empty string."""
    content = _Content(MAX_UNPACKED)
    try:
        if file.members:
            content.members = _describe_members(_members(path, "", file.members))
        else:
            with open_bytes(str(path)) as opened:
                for _ in content.counted(_blocks(opened)):
                    pass
    except _DAMAGED as problem:
        return f"it cannot be read: {problem}"
    return content.difference(file)


def digest_members(members: Iterable[tuple[str, bytes]]) -> tuple[int, str]:
    """Return the total size of the members of an archive and the digest of their list.

    The list has a line per member, sorted by name: the SHA-256 of its content, two spaces and its name, as
    `sha256sum` prints them.
    """
    return _digest_list(_describe_members(members))


_Members = dict[str, tuple[int, str]]


def _describe_members(members: Iterable[tuple[str, bytes]]) -> _Members:
    return {name: (len(content), hashlib.sha256(content).hexdigest()) for name, content in members}


def _digest_list(members: _Members) -> tuple[int, str]:
    lines = "".join(f"{digest}  {name}\n" for name, (_, digest) in sorted(members.items()))
    return sum(size for size, _ in members.values()), hashlib.sha256(lines.encode("utf8")).hexdigest()


class _Content:
    """The content of a file, counted while it is made.

    `limit` is the maximum number of bytes: what is larger differs in any case.
    """

    def __init__(self, limit: int) -> None:
        self.members: _Members | None = None
        self._limit = limit
        self._size, self._digest = 0, hashlib.sha256()

    def blocks(self, file: DataFile, archive: Path) -> Iterator[bytes]:
        """Yield the blocks of a file that is made from a download; D538 if it is damaged."""
        try:
            if file.members:
                self.members = {}
                yield from self._tar_blocks(_members(archive, file.below, file.members))
                return
            with open_bytes(str(archive)) as opened:
                yield from self.counted(_sentences(opened, file.genre) if file.genre else _blocks(opened))
        except _DAMAGED as problem:
            raise UserError("D538", path=archive, problem=problem) from problem

    def counted(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield blocks, and count them; stop after the limit."""
        for block in blocks:
            self._size += len(block)
            self._digest.update(block)
            if self._size > self._limit:
                return
            yield block

    def difference(self, file: DataFile) -> str:
        """Return how the content differs from the manifest, or an empty string."""
        if self.members is None:
            size, digest = self._size, self._digest.hexdigest()
        else:
            size, digest = _digest_list(self.members)
        if size > self._limit:
            return f"its content has more than {self._limit:,} bytes"
        if size != file.size:
            return f"its content has {size:,} bytes, not {file.size:,}"
        return "" if digest == file.sha256 else f"the SHA-256 of its content is {digest}, not {file.sha256}"

    def _tar_blocks(self, members: Iterator[tuple[str, bytes]]) -> Iterator[bytes]:
        """Yield the blocks of a tar file of the members, without times and owners."""
        assert self.members is not None
        written, remaining = io.BytesIO(), self._limit

        def take() -> bytes:
            block = written.getvalue()
            written.seek(0)
            written.truncate()
            return block

        # "w|": tarfile does not seek, so that what was written can be taken away
        with tarfile.open(fileobj=written, mode="w|") as archive:
            for name, content in members:
                self.members[name] = len(content), hashlib.sha256(content).hexdigest()
                remaining -= len(content)
                if remaining < 0:
                    return
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
                yield take()
        yield take()


class _Limited(io.RawIOBase):
    """A file that cannot be read beyond a limit."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self._file, self._left = file, limit

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise tarfile.ReadError("it unpacks to too many bytes")
        return data


def _members(path: Path, below: str, patterns: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of the regular files below a folder in an archive that match a pattern.

    Nothing is written. Names that lead outside, links, devices, duplicates and too many bytes are errors:
    tarfile.ReadError.
    """
    seen: set[str] = set()
    remaining = MAX_UNPACKED
    for name, size, content in _zip_members(path) if path.name.endswith(".zip") else _tar_members(path):
        short = name.removeprefix(below)
        if not name.startswith(below) or not any(fnmatchcase(short, pattern) for pattern in patterns):
            continue
        if not stays_inside(short):
            raise tarfile.ReadError(f"the name {name!r} leads outside")
        if size < 0:
            raise tarfile.ReadError(f"{name!r} is a link or a device")
        if short in seen:
            raise tarfile.ReadError(f"{name!r} occurs twice")
        seen.add(short)
        remaining -= size
        if remaining < 0:
            raise tarfile.ReadError(f"its members have more than {MAX_UNPACKED:,} bytes")
        yield short, content(size)


_Member = tuple[str, int, Callable[[int], bytes]]
"""Name, size in bytes (-1: not a regular file), and a function that reads up to a number of bytes."""


def _tar_members(path: Path) -> Iterator[_Member]:
    """Yield the members of a tar archive, compressed or not, except directories."""
    with (
        open_bytes(str(path)) as opened,
        tarfile.open(fileobj=_Limited(opened, MAX_UNPACKED), mode="r|") as archive,
    ):
        for number, member in enumerate(archive):
            if number >= MAX_MEMBERS:
                raise tarfile.ReadError(f"it has more than {MAX_MEMBERS:,} members")
            # tarfile keeps every member, which only costs memory when the archive is read once
            archive.members = []  # type: ignore[attr-defined]
            if member.isdir():
                continue
            file = archive.extractfile(member) if member.isreg() else None
            yield member.name, member.size if file else -1, file.read if file else lambda size: b""


def _zip_members(path: Path) -> Iterator[_Member]:
    """Yield the members of a zip archive, except directories."""
    with zipfile.ZipFile(path) as archive:
        for number, member in enumerate(archive.infolist()):
            if number >= MAX_MEMBERS:
                raise tarfile.ReadError(f"it has more than {MAX_MEMBERS:,} members")
            if member.is_dir():
                continue
            # the type in the mode of Unix (`stat.S_IFMT`); 0 from systems without modes
            is_regular = (member.external_attr >> 16) & 0o170000 in (0, 0o100000)

            def read(size: int, member: zipfile.ZipInfo = member) -> bytes:
                with archive.open(member) as file:
                    content = file.read(size + 1)
                if len(content) != size:
                    raise tarfile.ReadError(f"{member.filename!r} does not have the size that it declares")
                return content

            yield member.filename, member.file_size if is_regular else -1, read


def _sentences(lines: Iterable[bytes], genre: str) -> Iterator[bytes]:
    """Yield the sentences of a CoNLL-U file whose identifier begins with a genre and a hyphen."""
    start = f"# sent_id = {genre}-".encode()
    sentence: list[bytes] = []
    for line in chain(lines, [b""]):  # an empty line ends a sentence
        sentence.append(line)
        if not line.strip():
            if any(part.startswith(start) for part in sentence):
                yield b"".join(sentence)
            sentence = []
