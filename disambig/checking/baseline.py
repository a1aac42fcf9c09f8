"""Fingerprints of flags, and the baseline of known flags."""

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
from disambig.formatting import escaped_json
from disambig.markup import BREAK

_ENDS = re.compile(rf"[.!?:;][\"'\u201d\u2019)\]]*\s+|(?:\r\n|\r|\n)[^\S\r\n]*(?:\r\n|\r|\n)|{BREAK}")
_FURTHEST = 500
"""Characters to look for the end of a sentence, on each side."""


@dataclass(frozen=True, slots=True)
class FlagIdentity:
    """What a flag is known by.

    Attributes
    ----------
    path : str
        Of its file, relative to whatever compares, with slashes.
    task : str
    observed : str
    sentence : str
        With single blanks.
    """

    path: str
    task: str
    observed: str
    sentence: str

    @property
    def digest(self) -> str:
        """A hash of it, 32 hexadecimal digits; the same in every version of Python."""
        whole = "\0".join((self.path, self.task, self.observed, self.sentence))
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def flag_identity(path: str, plain: str, flag: Flag) -> FlagIdentity:
    """Return what a flag is known by.

    Parameters
    ----------
    path : str
        Of its file, relative to whatever compares, with slashes.
    plain : str
        The text without its markup, of the same length.
    """
    observed = " ".join(flag.observed.split())
    return FlagIdentity(path, flag.task, observed, sentence_around(plain, flag.start, flag.end))


def number_fingerprints(known: Iterable[FlagIdentity]) -> list[str]:
    """Return a fingerprint for each, no two alike: those that are alike are numbered, in their order."""
    seen: Counter[FlagIdentity] = Counter()
    fingerprints = []
    for each in known:
        seen[each] += 1
        fingerprints.append(f"{each.digest}:{seen[each]}")
    return fingerprints


def sentence_around(plain: str, start: int, end: int) -> str:
    """Return the sentence that holds ``start:end``, with single blanks; of a long one what is near."""
    first = max(0, start - _FURTHEST)
    for match in _ENDS.finditer(plain, first, start):
        first = match.end()
    following = _ENDS.search(plain, end, end + _FURTHEST)
    last = following.end() if following else min(len(plain), end + _FURTHEST)
    return " ".join(plain[first:last].split())


VERSION = 1
_MARK = "disambig_baseline"
MAX_BYTES = 100_000_000
"""Maximum size of the file."""
_MAX_COUNT = 1_000_000_000
_FIELDS = ("path", "task", "observed", "sentence")


class Baseline:
    """The flags that are known, those of a file that was looked at taken out one by one.

    Parameters
    ----------
    path : str
        Of the file; paths in it are relative to its folder.
    known : iterable of Known
        As often as each is known.
    """

    def __init__(self, path: str, known: Iterable[FlagIdentity] = ()) -> None:
        self.path = path
        self._folder = os.path.dirname(os.path.abspath(path))
        self._left = Counter(known)
        self._looked_at: set[str] = set()

    def new(self, name: str, plain: str, flags: Sequence[Flag]) -> list[Flag]:
        """Return the flags of a file that are not known; a flag known twice hides two."""
        self._looked_at.add(self._relative(name))
        found = []
        for flag in flags:
            known = self._known(name, plain, flag)
            if self._left[known] > 0:
                self._left[known] -= 1
            else:
                found.append(flag)
        return found

    def unknown(self, name: str, plain: str, flags: Sequence[Flag]) -> list[Flag]:
        """Return what `new` would, and change nothing: for a text that is looked at again and again."""
        before = self._left
        self._left = before.copy()
        try:
            return self.new(name, plain, flags)
        finally:
            self._left = before

    def add(self, name: str, plain: str, flags: Sequence[Flag]) -> None:
        """Make the flags of a file known."""
        self._left.update(self._known(name, plain, flag) for flag in flags)

    def write(self) -> None:
        """Write the file, whole or not at all; an older baseline is replaced.

        Raises
        ------
        UserError
            D309 where it cannot be written.
        """
        entries = [
            {name: getattr(each, name) for name in _FIELDS} | ({"count": n} if n > 1 else {})
            for each, n in sorted(self._left.items(), key=lambda pair: astuple(pair[0]))
        ]
        text = json.dumps({_MARK: VERSION, "flags": entries}, indent=1, ensure_ascii=False) + "\n"
        with save_output(Path(self.path)) as write:
            write(escaped_json(text).encode())

    def n_not_seen(self) -> int:
        """Return how many known flags were not found in the files that were looked at."""
        return sum(n for known, n in self._left.items() if known.path in self._looked_at)

    def _known(self, name: str, plain: str, flag: Flag) -> FlagIdentity:
        return flag_identity(self._relative(name), plain, flag)

    def _relative(self, name: str) -> str:
        return os.path.relpath(os.path.abspath(name), self._folder).replace(os.sep, "/")


def read_baseline(path: str) -> Baseline:
    """Read a baseline.

    Raises
    ------
    UserError
        D30x where it cannot be read, D975 where it is too large, D966 where it is no baseline.
    """
    text = decode(read_small(path, limit=MAX_BYTES), path)
    try:
        known = _known_flags(parse_json(text, unique_keys=True))
    except ValueError as problem:
        raise UserError("D966", path=path, problem=problem) from None
    return Baseline(path, known)


def _known_flags(value: Any) -> Counter[FlagIdentity]:
    """Return the flags of a baseline, each as often as it is known; ValueError if it is not a baseline."""
    if not isinstance(value, dict) or _MARK not in value:
        raise ValueError(f"it has no {_MARK!r} of a baseline")
    version, entries = value[_MARK], value.get("flags")
    if version != VERSION or isinstance(version, bool):
        raise ValueError(f"it is of version {repr(version)[:40]}, not {VERSION}")
    if not isinstance(entries, list):
        raise ValueError("it has no list 'flags' of a baseline")
    known: Counter[FlagIdentity] = Counter()
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise ValueError(f"flag {number:,} is not an object")
        texts: list[Any] = [entry.get(name) for name in _FIELDS]
        count = entry.get("count", 1)
        for name, text in zip(_FIELDS, texts, strict=True):
            if not isinstance(text, str):
                raise ValueError(f"flag {number:,} has no text {name!r} of a baseline")
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MAX_COUNT:
            raise ValueError(f"the count of flag {number:,} is not a whole number from 1 to {_MAX_COUNT:,}")
        known[FlagIdentity(*texts)] += count
    return known


def new_baseline(path: str) -> Baseline:
    """Return an empty baseline, to be written.

    Raises
    ------
    UserError
        D967 where another file stands there.
    """
    if os.path.lexists(path):
        try:
            read_baseline(path)
        except UserError as problem:
            raise UserError("D967", path=path, problem=problem.text) from None
    return Baseline(path)
