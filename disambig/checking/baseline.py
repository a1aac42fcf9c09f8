"""A baseline: the flags that an old text has, known by their content, so that later runs show new ones only.

The file is JSON with a flag in each object, its sentence in clear, made to be kept beside the texts and to
be read in a diff.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from disambig.checking.fingerprints import Known, known_by
from disambig.checking.flags import Flag
from disambig.errors import UserError
from disambig.files.json_text import parse_json
from disambig.files.opening import decode, read_small
from disambig.files.saving import saved_output
from disambig.visible import escaped_json

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

    def __init__(self, path: str, known: Iterable[Known] = ()) -> None:
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
        with saved_output(Path(self.path)) as write:
            write(escaped_json(text).encode())

    def gone(self) -> int:
        """Return how many known flags were not found in the files that were looked at."""
        return sum(n for known, n in self._left.items() if known.path in self._looked_at)

    def _known(self, name: str, plain: str, flag: Flag) -> Known:
        return known_by(self._relative(name), plain, flag)

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


def _known_flags(value: Any) -> Counter[Known]:
    """Return the flags of a baseline, each as often as it is known; ValueError if it is not a baseline."""
    if not isinstance(value, dict) or _MARK not in value:
        raise ValueError(f"it has no {_MARK!r} of a baseline")
    version, entries = value[_MARK], value.get("flags")
    if version != VERSION or isinstance(version, bool):
        raise ValueError(f"it is of version {repr(version)[:40]}, not {VERSION}")
    if not isinstance(entries, list):
        raise ValueError("it has no list 'flags' of a baseline")
    known: Counter[Known] = Counter()
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
        known[Known(*texts)] += count
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
