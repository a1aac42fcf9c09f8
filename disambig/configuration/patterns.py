"""Patterns of ``.gitignore``, matched in linear time.

The usual libraries turn a pattern into one regular expression, which backtracks: five ``*`` take a minute
on a long name. Settings come with cloned repositories and are not trusted, so a match must take linear time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAX_LENGTH = 500
"""Maximum number of characters in a pattern."""
MAX_PATTERNS = 1_000
"""Maximum number of patterns in a settings file."""
MAX_TOTAL_LENGTH = 50_000
"""Maximum number of characters in all patterns of a settings file."""
MAX_TOTAL_SEGMENTS = 4_000
"""Maximum number of path segments (names between slashes) in all patterns of a settings file."""

_ANY_FOLDERS = "**"
# A match of the file itself takes precedence over a match of one of its folders.
_FILE, _FOLDER, _NO_MATCH = 2, 1, 0


class GitIgnorePatterns:
    """Patterns of ``.gitignore``: the last matching pattern decides; a pattern with ``!`` excludes files.

    Raises `ValueError` if a pattern is invalid.

    `lines`: one pattern per line; blank lines and comments match nothing.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        patterns = [pattern for line in lines if (pattern := _compile(line)) is not None]
        self._last_first = patterns[::-1]

    def match(self, path: str) -> bool:
        """Return True if the patterns match the file at `path`, which is relative to their folder."""
        parts = path.replace("\\", "/").split("/") if _BACKSLASH_SEPARATES else path.split("/")
        best_rank, includes = _NO_MATCH, False
        for pattern in self._last_first:
            rank = pattern.match(parts)
            if rank > best_rank:
                best_rank, includes = rank, pattern.includes
            if best_rank == _FILE:
                break
        return includes


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A compiled pattern."""

    includes: bool  # false after ``!``
    # runs of consecutive segments; any number of folders may lie between two groups (``**``)
    groups: tuple[tuple[_Segment, ...], ...]
    # ``"/"`` for a pattern that matches only folders and their contents, ``"**"`` for one that matches only
    # the contents of folders, ``""`` for one without such an ending
    ending: str

    def match(self, parts: Sequence[str]) -> int:
        """Return `_FILE`, `_FOLDER` or `_NO_MATCH` for the names on a path."""
        # The first group is tied to the beginning of the path; it is empty if the pattern starts with ``**``.
        first, *others = self.groups
        end = len(first)
        if end > len(parts) or not _match_at(first, parts, 0):
            return _NO_MATCH
        *middle, last = others or [()]
        # The leftmost match of a group leaves the most room for the next groups, so that backtracking is not
        # needed.
        for group in middle:
            end = _leftmost(group, parts, end)
            if end < 0:
                return _NO_MATCH
        if others:
            if not self.ending:  # a match at the end of the path, of the file itself, takes precedence
                start = len(parts) - len(last)
                if start >= end and _match_at(last, parts, start):
                    return _FILE
            end = _leftmost(last, parts, end)
            if end < 0:
                return _NO_MATCH
        if not self.ending:
            return _FILE if end == len(parts) else _FOLDER
        if self.ending == "/":  # the pattern matches at least one folder, also if no group is left (``**/``)
            return _FOLDER if max(end, 1) < len(parts) else _NO_MATCH
        return _FILE if end < len(parts) else _NO_MATCH


class _Segment:
    """A pattern of one name: pieces of fixed length, separated by any characters (``*``)."""

    __slots__ = ("_lengths", "_pieces")

    def __init__(self, glob: str) -> None:
        pieces, self._lengths = _pieces(glob)
        self._pieces = [re.compile(piece, re.DOTALL) for piece in pieces]

    def match(self, name: str) -> bool:
        """Return True if the whole of `name` matches."""
        first, *others = self._pieces
        if not others:
            return first.fullmatch(name) is not None
        position = self._lengths[0]
        end = len(name) - self._lengths[-1]
        *middle, last = others
        if end < position or first.match(name) is None or last.match(name, end) is None:
            return False
        for piece in middle:
            match = piece.search(name, position, end)
            if match is None:
                return False
            position = match.end()
        return True


_BACKSLASH_SEPARATES = os.sep == "\\"


def _match_at(group: Sequence[_Segment], parts: Sequence[str], start: int) -> bool:
    return all(segment.match(part) for segment, part in zip(group, parts[start:], strict=False))


def _leftmost(group: Sequence[_Segment], parts: Sequence[str], start: int) -> int:
    """Return the end of the first match of a group at or after `start`; -1 if there is none."""
    for first in range(start, len(parts) - len(group) + 1):
        if _match_at(group, parts, first):
            return first + len(group)
    return -1


def _compile(line: str) -> _Pattern | None:
    """Compile the pattern of one line; return None if it matches nothing, as in git.

    Raises `ValueError` if the line is not a valid pattern.
    """
    if not line.endswith("\\ "):
        line = line.rstrip()
    if not line or line.startswith("#") or line == "/":
        return None
    # A pattern with a slash before its end is tied to the folder of the settings; others match at any depth.
    includes = not line.startswith("!")
    segments = line.removeprefix("!").split("/")
    only_folders = not segments[-1]
    if not segments[0]:
        del segments[0]
    elif len(segments) == 1 or (len(segments) == 2 and not segments[1]):
        segments.insert(0, _ANY_FOLDERS)
    if not segments:
        raise ValueError("it is empty")
    # ``docs/`` is read as ``docs/**``, but is a match of the folder; several ``**`` at the end are one.
    if not segments[-1]:
        segments[-1] = _ANY_FOLDERS
    ending = ""
    if segments[-1] == _ANY_FOLDERS:
        ending = "/" if only_folders else _ANY_FOLDERS
        while segments and segments[-1] == _ANY_FOLDERS:
            segments.pop()
    groups: list[list[_Segment]] = [[]]
    try:
        for i, segment in enumerate(segments):
            if segment != _ANY_FOLDERS:
                groups[-1].append(_Segment(segment))
            elif i == 0 or segments[i - 1] != _ANY_FOLDERS:
                groups.append([])
    except _Unclosed:
        return None
    except re.error as problem:
        raise ValueError(f"it is not a pattern of .gitignore ({problem})") from None
    return _Pattern(includes, tuple(map(tuple, groups)), ending)


class _Unclosed(Exception):
    """A bracket is not closed; in git, such a pattern matches nothing."""


def _pieces(glob: str) -> tuple[list[str], list[int]]:
    """Return the regular expressions of the pieces between stars, and the number of characters of each."""
    pieces, lengths = [""], [0]
    i = 0
    while i < len(glob):
        char = glob[i]
        i += 1
        if char == "*":
            pieces.append("")
            lengths.append(0)
            continue
        if char == "\\":
            if i == len(glob):
                raise ValueError("nothing follows the last backslash")
            piece = re.escape(glob[i])
            i += 1
        elif char == "?":
            piece = "."
        elif char == "[":
            piece, i = _bracket(glob, i)
        else:
            piece = re.escape(char)
        pieces[-1] += piece
        lengths[-1] += 1
    return pieces, lengths


def _bracket(glob: str, start: int) -> tuple[str, int]:
    """Return the character set at `start` as a regular expression, and the offset of its end."""
    negated = glob[start : start + 1] in ("!", "^")
    first = start + negated
    end = glob.find("]", first + 1)  # a "]" at the beginning is a member of the set
    if end < 0:
        raise _Unclosed
    members = glob[first:end].replace("\\", "\\\\").replace("[", "\\[")
    # Python warns of "&&", "~~" and "||" in a set, because they may become set operations.
    members = re.sub(r"([&~|])(?=\1)", r"\\\1", members)
    if members.startswith(("]", "^")):
        members = "\\" + members
    return f"[{'^' if negated else ''}{members}]", end + 1
