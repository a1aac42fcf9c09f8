"""Small files that users write: words to leave alone."""

from __future__ import annotations

from collections.abc import Iterator

from disambig.files.opening import READ_ERRORS, decode, open_bytes, read_error


def read_words(path: str) -> tuple[str, ...]:
    """Return the words of a file, one a line; ``#`` begins a comment.

    Raises
    ------
    UserError
        D300, D303, D304 or D308 where it cannot be read.
    """
    return tuple(word for _, word in _lines(path))


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
