"""What people write on a command line or in a config about counting, turned into values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from disambig.errors import UserError
from disambig.files.opening import READ_ERRORS, decode, read_error
from disambig.text.hashing import MAX_ORDER
from disambig.text.view import Tokenisation

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_THRESHOLD = re.compile(r"([1-9]\d*):(\d+)")


def size(text: str) -> int:
    """Return a number of bytes written as ``800M`` or ``2G`` (powers of 1024); D116 if it is none."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UserError("D116", value=text, example="800M or 2G")
    return int(float(match[1]) * 2 ** _UNITS[match[2].upper()])


def thresholds(texts: Iterable[str], *, orders: int = MAX_ORDER) -> dict[int, int]:
    """Return ``{order: count}`` from texts like ``3:2``: what holds from that order on.

    Raises
    ------
    UserError
        D116 for a text that is none of these; D602 for an order that is not counted, or given twice.
    """
    found = {}
    for text in texts:
        match = _THRESHOLD.fullmatch(text.strip())
        if match is None:
            raise UserError(
                "D116", value=text, example="3:2 (n-grams of 3 words and longer must be seen twice)"
            )
        if int(match[1]) > orders:
            problem = f"n-grams of {match[1]} words are not counted, the longest have {orders}"
            raise UserError("D602", option="--min-count", value=text, problem=problem)
        if int(match[1]) in found:
            problem = f"n-grams of {match[1]} words have a least count already; give one for each length"
            raise UserError("D602", option="--min-count", value=text, problem=problem)
        found[int(match[1])] = int(match[2])
    return found


def word_file(path: Path | None) -> list[str] | None:
    """Return the lines of a file of words, white space as one space; None for no file.

    Raises
    ------
    UserError
        D300, D303, D304, D308 (as for text); D302, where there is no word in it.
    """
    if path is None:
        return None
    try:
        text = decode(path.read_bytes(), str(path))
    except READ_ERRORS as problem:
        raise read_error(str(path), problem) from problem
    lines = [" ".join(line.split()) for line in text.removeprefix("\ufeff").splitlines()]
    if not any(lines):
        raise UserError("D302", path=path)
    return [line for line in lines if line]


def normal_words(
    lines: list[str] | None, tokenisations: Iterable[Tokenisation], *, stand: bool = False
) -> list[str] | None:
    """Return the words of all lines in the normal forms of the tokenisations; None for no lines.

    With `stand` the words are taken as they stand between white space.
    """
    if lines is None:
        return None
    if stand:
        return sorted({word for line in lines for word in line.split()})
    return sorted({word for cut in tokenisations for line in lines for word in cut.words(line)[1:-1]})
