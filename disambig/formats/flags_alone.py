"""Another format with nothing in it but flags: for people, who look for mistakes and not for decisions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from disambig.errors import UserError
from disambig.formats.documents import Kind
from disambig.formats.results import Annotated
from disambig.formats.writers import Format

OF_DECISIONS = ("jsonl", "csv", "tsv", "parquet", "text")
"""The formats that can do without a decision; the others hold the whole text."""


@dataclasses.dataclass(frozen=True, slots=True)
class FlagsAlone:
    """A format that gets the flagged decisions only, and only the documents that have any."""

    format: Format

    @property
    def name(self) -> str:
        """That of the format."""
        return self.format.name

    @property
    def suffix(self) -> str:
        """That of the format."""
        return self.format.suffix

    @property
    def mirrors(self) -> tuple[Kind, ...]:
        """Those of the format."""
        return self.format.mirrors

    @property
    def text(self) -> bool | None:
        """Whether the format repeats the text, if it can."""
        return getattr(self.format, "text", None)

    @property
    def safe_cells(self) -> bool | None:
        """Whether the format makes cells harmless, if it has any."""
        return getattr(self.format, "safe_cells", None)

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return the flags of some documents as a chunk."""
        return self.format.encode(
            [found for found in map(_flagged, results) if any(map(len, found.decisions))]
        )

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write chunks as the format does."""
        self.format.join(chunks, write)


def _flagged(result: Annotated) -> Annotated:
    decisions = tuple(each.take(np.flatnonzero(each.flagged)) for each in result.decisions)
    return dataclasses.replace(result, decisions=decisions)


def only_flags(format: Format, *, can_flag: bool) -> FlagsAlone:
    """Return `format` with flags alone.

    Parameters
    ----------
    can_flag : bool
        Whether there is a model that can flag anything.

    Raises
    ------
    UserError
        D650 for a format that holds the whole text, D651 where nothing can be flagged.
    """
    if format.name not in OF_DECISIONS:
        raise UserError("D650", format=format.name, formats=", ".join(OF_DECISIONS))
    if not can_flag:
        raise UserError("D651")
    return FlagsAlone(format)
