"""Fingerprints of flags, and baseline files with flags to hide."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from disambig.checking.flags import Flag
from disambig.errors import UserError
from disambig.files import decode, parse_json, read_small, save_output
from disambig.formatting import escaped_json, on_one_line
from disambig.markup import BREAK

_SENTENCE_END = re.compile(rf"[.!?:;][\"'\u201d\u2019)\]]*\s+|(?:\r\n|\r|\n)[^\S\r\n]*(?:\r\n|\r|\n)|{BREAK}")
_MAX_DISTANCE = 500
"""Maximum number of characters of a sentence on each side of a flag."""


@dataclass(frozen=True, slots=True)
class FlagIdentity:
    """What identifies a flag, also after its line has moved.

    The task is left out, since mistakes elsewhere in the paragraph can change which task is the most certain.
    """

    path: str  # path of the file with slashes, relative to the baseline or the repository
    observed: str
    sentence: str  # the sentence that contains the flag, with single spaces

    @property
    def without_path(self) -> tuple[str, str]:
        """The properties that stay if the file is renamed."""
        return self.observed, self.sentence

    @property
    def digest(self) -> str:
        """A hash of 32 hexadecimal digits, the same in every version of Python."""
        joined = "\0".join((self.path, self.observed, self.sentence))
        return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def flag_identity(path: str, plain: str, flag: Flag) -> FlagIdentity:
    """Return the identity of a flag.

    `path`: path of the file with slashes, relative to the baseline or the repository.
    `plain`: the text without markup, of the same length.
    """
    observed = on_one_line(flag.observed)
    return FlagIdentity(path, observed, sentence_around(plain, flag.start, flag.end))


def number_fingerprints(identities: Iterable[FlagIdentity]) -> list[str]:
    """Return a fingerprint for each identity; equal identities are numbered, so that all are unique."""
    seen: Counter[FlagIdentity] = Counter()
    fingerprints = []
    for identity in identities:
        seen[identity] += 1
        fingerprints.append(f"{identity.digest}:{seen[identity]}")
    return fingerprints


def sentence_around(plain: str, start: int, end: int) -> str:
    """Return the sentence around ``start:end`` with single spaces.

    At most `_MAX_DISTANCE` characters on each side are returned.
    """
    first = max(0, start - _MAX_DISTANCE)
    for match in _SENTENCE_END.finditer(plain, first, start):
        first = match.end()
    following = _SENTENCE_END.search(plain, end, end + _MAX_DISTANCE)
    last = following.end() if following else min(len(plain), end + _MAX_DISTANCE)
    return on_one_line(plain[first:last])


VERSION = 1
_VERSION_KEY = "disambig_baseline"
MAX_BYTES = 100_000_000
"""Maximum size of a baseline file."""
_MAX_COUNT = 1_000_000_000
_FIELDS = ("path", "observed", "sentence")


class Baseline:
    """Known flags that a check hides. Each entry of a baseline hides one flag, and is then used up.

    The entries of a file that no longer exists hide the same flags in any other file, because the file may
    have been renamed.

    `path`: path of the baseline file; paths in it are relative to its folder.
    `known_flags`: the flags to hide, repeated as often as they occur.
    """

    def __init__(self, path: str, known_flags: Iterable[FlagIdentity] = ()) -> None:
        self.path = path
        self._folder = os.path.dirname(os.path.abspath(path))
        self._remaining = Counter(known_flags)
        self._checked_paths: set[str] = set()
        self._moved: dict[tuple[str, str], list[FlagIdentity]] | None = None

    def new_flags(self, name: str, plain: str, flags: Sequence[Flag]) -> list[Flag]:
        """Return the flags of a file that are not in the baseline, and use up its entries."""
        self._checked_paths.add(self._relative(name))
        new_flags = []
        for flag in flags:
            identity = self._find(self._identity(name, plain, flag))
            if identity is not None:
                self._remaining[identity] -= 1
            else:
                new_flags.append(flag)
        return new_flags

    def peek_new_flags(self, name: str, plain: str, flags: Sequence[Flag]) -> list[Flag]:
        """Return the same as `new_flags` without using up entries, for texts that are checked repeatedly."""
        before = self._remaining
        self._remaining = before.copy()
        try:
            return self.new_flags(name, plain, flags)
        finally:
            self._remaining = before

    def add(self, name: str, plain: str, flags: Sequence[Flag]) -> None:
        """Add the flags of a file to the baseline."""
        self._remaining.update(self._identity(name, plain, flag) for flag in flags)

    def write(self) -> None:
        """Write the baseline file atomically; an older baseline is replaced.

        Raises D309 if it cannot be written.
        """
        entries = [
            {name: getattr(identity, name) for name in _FIELDS} | ({"count": n} if n > 1 else {})
            for identity, n in sorted(self._remaining.items(), key=lambda pair: astuple(pair[0]))
        ]
        text = json.dumps({_VERSION_KEY: VERSION, "flags": entries}, indent=1, ensure_ascii=False) + "\n"
        with save_output(Path(self.path)) as write:
            write(escaped_json(text).encode())

    def n_unmatched(self) -> int:
        """Return the number of entries for checked files that matched no flag."""
        return sum(n for identity, n in self._remaining.items() if identity.path in self._checked_paths)

    def _find(self, identity: FlagIdentity) -> FlagIdentity | None:
        """Return the entry that hides a flag: that of its file, or of a file that no longer exists."""
        if self._remaining[identity] > 0:
            return identity
        if self._moved is None:
            self._moved = {}
            paths = {entry.path for entry in self._remaining}
            missing = {path for path in paths if not os.path.lexists(os.path.join(self._folder, path))}
            for entry in self._remaining:
                if entry.path in missing:
                    self._moved.setdefault(entry.without_path, []).append(entry)
        moved = self._moved.get(identity.without_path, ())
        return next((entry for entry in moved if self._remaining[entry] > 0), None)

    def _identity(self, name: str, plain: str, flag: Flag) -> FlagIdentity:
        return flag_identity(self._relative(name), plain, flag)

    def _relative(self, name: str) -> str:
        return os.path.relpath(os.path.abspath(name), self._folder).replace(os.sep, "/")


def read_baseline(path: str) -> Baseline:
    """Read a baseline file.

    Raises D30x if it cannot be read, D975 if it is too large, D966 if it is not a baseline.
    """
    text = decode(read_small(path, limit=MAX_BYTES), path)
    try:
        known_flags = _known_flags(parse_json(text, unique_keys=True))
    except ValueError as problem:
        raise UserError("D966", path=path, problem=problem) from None
    return Baseline(path, known_flags)


def _known_flags(value: Any) -> Counter[FlagIdentity]:
    """Return how often each flag is recorded; raise ValueError if `value` is not a baseline."""
    if not isinstance(value, dict) or _VERSION_KEY not in value:
        raise ValueError(f"it has no key {_VERSION_KEY!r}")
    version, entries = value[_VERSION_KEY], value.get("flags")
    if version != VERSION or isinstance(version, bool):
        raise ValueError(f"its version is {repr(version)[:40]}, not {VERSION}")
    if not isinstance(entries, list):
        raise ValueError("it has no list 'flags' of a baseline")
    counts: Counter[FlagIdentity] = Counter()
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise ValueError(f"flag {number:,} is not an object")
        texts: list[Any] = [entry.get(name) for name in _FIELDS]
        count = entry.get("count", 1)
        for name, text in zip(_FIELDS, texts, strict=True):
            if not isinstance(text, str):
                raise ValueError(f"flag {number:,} has no text {name!r} of a baseline")
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MAX_COUNT:
            raise ValueError(f"the count of flag {number:,} is not an integer from 1 to {_MAX_COUNT:,}")
        counts[FlagIdentity(*texts)] += count
    return counts


def new_baseline(path: str) -> Baseline:
    """Return an empty baseline to be written to `path`.

    Raises D967 if `path` is a file that is not a baseline.
    """
    if os.path.lexists(path):
        try:
            read_baseline(path)
        except UserError as problem:
            raise UserError("D967", path=path, problem=problem.values.get("problem", problem.text)) from None
    return Baseline(path)
