"""Corrections as M2, the format of tasks on grammatical errors (Dahlmeier and Ng 2012): tokens and edits.

A line of text is a sentence ``S``, its tokens parted by spaces: runs of letters and digits, apostrophes
inside of them, and every other sign alone. Each edit is a line over tokens,
``A first last|||TYPE|||words|||REQUIRED|||-NONE-|||0``; TYPE is R, M or U (replaced, missing, unneeded) and
the task. A sentence without one says noop.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from disambig.formats.corrected import Made, made_edits
from disambig.formats.documents import Kind
from disambig.formats.results import Annotated

_TOKEN = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")
_LINE = re.compile(r"[^\r\n]+")
_NOOP = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n"


@dataclass(frozen=True, slots=True)
class M2Format:
    """Sentences and edits of one annotator; lines without a token are left out."""

    name: str = "m2"
    suffix: str = ".m2"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return the sentences of some documents, a blank line behind each."""
        said = "".join(block for result in results for block in _sentences(result))
        return said.encode(errors="backslashreplace")

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write what `encode` returned, in order."""
        for chunk in chunks:
            write(chunk)


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a line."""
    return _TOKEN.findall(text)


def _sentences(result: Annotated) -> Iterator[str]:
    text, edits = result.document.text, made_edits(result)
    starts = [edit.start for edit in edits]
    for line in _LINE.finditer(text):
        spans = [match.span() for match in _TOKEN.finditer(text, line.start(), line.end())]
        if not spans:
            continue
        first, last = bisect_left(starts, line.start()), bisect_right(starts, line.end())
        said = "".join(_edits(text, spans, edits[first:last], line.end()))
        yield f"S {' '.join(text[start:end] for start, end in spans)}\n{said or _NOOP}\n"


def _edits(text: str, spans: Sequence[tuple[int, int]], edits: Iterable[Made], end: int) -> Iterator[str]:
    """Yield the lines of edits in a line of text, widened to whole tokens: of two in one token the first."""
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    done = 0
    for edit in edits:
        stop = min(edit.end, end)
        first, last = bisect_right(ends, edit.start), bisect_left(starts, stop)
        new = edit.replacement
        if first < last:
            new = text[starts[first] : edit.start] + new + text[stop : ends[last - 1]]
        else:
            last = first
        words = tokens_of(new)
        if first < done or words == [text[start:stop] for start, stop in spans[first:last]]:
            continue
        done = last
        kind = "U" if not words else "M" if first == last else "R"
        yield (f"A {first} {last}|||{kind}:{edit.task.upper()}|||{' '.join(words)}|||REQUIRED|||-NONE-|||0\n")
