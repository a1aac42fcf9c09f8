"""Small files that users write: words to leave alone, and confusion sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from disambig.corpora.opening import READ_ERRORS, decode, open_bytes, read_error
from disambig.errors import UserError

if TYPE_CHECKING:
    from disambig.data.groups import Group


def read_words(path: str) -> tuple[str, ...]:
    """Return the words of a file, one a line; ``#`` begins a comment.

    Raises
    ------
    UserError
        D300, D303, D304 or D308 where it cannot be read.
    """
    return tuple(word for _, word in _lines(path))


def read_sets(path: str) -> tuple[Group, ...]:
    """Return the confusion sets of a file: candidates between ``/``, one set a line.

    A tab and a gloss may follow; ``#`` begins a comment.

    Raises
    ------
    UserError
        As `read_words`, and D321 for a line that is no set.
    """
    from disambig.data.groups import Group

    groups: dict[str, Group] = {}
    for number, line in _lines(path):
        candidates = tuple(" ".join(word.lower().split()) for word in line.split("\t")[0].split("/"))
        problem = ""
        if len(candidates) < 2:
            problem = f"{line!r} names one candidate"
        elif not all(candidates):
            problem = "a candidate is empty"
        elif len(set(candidates)) < len(candidates):
            problem = "a candidate is there twice"
        if problem:
            raise UserError("D321", path=path, line=number, problem=problem)
        name = "/".join(candidates)
        groups.setdefault(name, Group(name, candidates))
    if not groups:
        raise UserError("D302", path=path)
    return tuple(groups.values())


def _lines(path: str) -> Iterator[tuple[int, str]]:
    try:
        with open_bytes(path) as file:
            text = decode(file.read(), path)
    except READ_ERRORS as problem:
        raise read_error(path, problem) from None
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = line.split("#")[0].strip()
        if line:
            yield number, line
