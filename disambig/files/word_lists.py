"""Small files that users write: words to leave alone."""

from __future__ import annotations

from collections.abc import Iterator

from disambig.files.opening import decode, read_small

MAX_BYTES = 20_000_000
"""Maximum size of a file of words."""


def read_words(path: str) -> tuple[str, ...]:
    """Return the words of a file, one a line; ``#`` begins a comment.

    Raises
    ------
    UserError
        D300, D303, D304 or D308 where it cannot be read, D975 where it is too large.
    """
    return tuple(word for _, word in _lines(path))


def _lines(path: str) -> Iterator[tuple[int, str]]:
    text = decode(read_small(path, limit=MAX_BYTES), path)
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = line.split("#")[0].strip()
        if line:
            yield number, line
