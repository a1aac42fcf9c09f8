"""What is wrong with one text among the candidates of many lists, told with the list that it is from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from disambig.errors import UserError
from disambig.formats.nbest.reader import NBest


@contextmanager
def located(items: Sequence[NBest]) -> Iterator[None]:
    """Name file, line and candidate in errors of the block that say which text they are about.

    Such an error has the values ``text``, of a candidate or a reference, and ``path``, which is replaced.
    """
    try:
        yield
    except UserError as error:
        where = _where(items, error.values.get("text")) if "path" in error.values else ""
        if not where:
            raise
        raise UserError(error.code, **(error.values | {"path": where})) from None


def _where(items: Sequence[NBest], text: object) -> str:
    for item in items:
        if text in item.candidates:
            return f"{item.where}, candidate {item.candidates.index(str(text)) + 1:,}"
        if text is not None and text == item.reference:
            return f"{item.where}, reference"
    return ""
