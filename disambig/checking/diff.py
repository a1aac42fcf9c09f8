"""A unified diff of a text and its correction, for ``patch`` and ``git apply``.

A correction replaces words within lines, so lines stand against each other one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

from disambig.visible import quoted_path

CONTEXT = 3
_NO_END = "\\ No newline at end of file\n"


def unified_diff(path: str, old: str, new: str) -> str:
    """Return the diff of two texts that have as many lines; "" where they are equal.

    It applies with ``patch -p0`` and ``git apply -p0``; a text ends its lines with LF or CR LF.
    """
    before, after = old.split("\n"), new.split("\n")
    if len(before) != len(after):
        raise ValueError("the texts have different lines")
    changed = [i for i, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    if not changed:
        return ""
    last = len(before) - (1 if before[-1] == "" else 0)  # what split leaves behind the last line end
    name = quoted_path(path)
    parts = [f"--- {name}\n+++ {name}\n"]
    for first, stop in _hunks(changed, last):
        length = stop - first
        parts.append(f"@@ -{first + 1},{length} +{first + 1},{length} @@\n")
        parts += _lines(before, after, first, stop)
    return "".join(parts)


def _hunks(changed: list[int], last: int) -> Iterator[tuple[int, int]]:
    first = stop = -1
    for line in changed:
        if stop >= 0 and line - CONTEXT > stop:
            yield first, stop
            first = -1
        first = max(0, line - CONTEXT) if first < 0 else first
        stop = min(last, line + CONTEXT + 1)
    yield first, stop


def _lines(before: list[str], after: list[str], first: int, stop: int) -> Iterator[str]:
    at = first
    while at < stop:
        end = at
        while end < stop and before[end] != after[end]:
            end += 1
        if end == at:
            yield _line(" ", before, at)
            at += 1
            continue
        yield from (_line("-", before, i) for i in range(at, end))
        yield from (_line("+", after, i) for i in range(at, end))
        at = end


def _line(mark: str, lines: list[str], at: int) -> str:
    return f"{mark}{lines[at]}\n" + (_NO_END if at == len(lines) - 1 else "")
