"""Flags for people, as compilers and linters print theirs: ``path:line:column: ...``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from disambig.corpora.documents import Kind
from disambig.corpora.results import Annotated, flagged_records


@dataclass(frozen=True, slots=True)
class ReadableFormat:
    """One line a flag; nothing for decisions that are not flagged.

    Line and column count from 1, columns in characters. Of a JSONL document the line is that of its
    object, the column that in its text.
    """

    name: str = "text"
    suffix: str = ".txt"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return the lines of the flags of some documents."""
        return "".join(line for result in results for line in _lines(result)).encode()

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write what `encode` returned, in order."""
        for chunk in chunks:
            write(chunk)


def _lines(result: Annotated) -> Iterable[str]:
    document = result.document
    number, position, line_start = document.line or 1, 0, 0
    path = document.path.encode(errors="backslashreplace").decode()
    for record in flagged_records(result):
        start = record["start"]
        if document.kind == "file":
            newlines = document.text.count("\n", position, start)
            if newlines:
                line_start = document.text.rfind("\n", position, start) + 1
            number, position = number + newlines, start
        yield (
            f"{path}:{number}:{start - line_start + 1}: {_on_one_line(record['observed'])} -> "
            f"{record['replacement']} ({record['task']}, {record['probability']:.2f})\n"
        )


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
