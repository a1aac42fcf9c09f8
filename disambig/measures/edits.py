"""Levenshtein's distance of many pairs of texts: characters, or words, put in, left out or changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from disambig.engine import use_numba

Ints = NDArray[np.int64]
Unit = Literal["characters", "words"]


def edits(first: Sequence[str], second: Sequence[str], by: Unit = "characters") -> Ints:
    """Return the distance of each text to the one beside it, shape ``(n,)``.

    Parameters
    ----------
    first, second : sequences of str
    by : str
        ``"characters"``: code points; ``"words"``: what white space parts.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} texts beside {len(second)}")
    if not use_numba(int((sizes(first, by) * sizes(second, by)).sum())):
        rows = (_rows(texts, by) for texts in (first, second))
        return np.array([distance(a, b) for a, b in zip(*rows, strict=True)], np.int64)
    from disambig.measures.edit_kernels import distances

    ids, n_symbols, offsets = _symbols([*first, *second], by)
    n = len(first)
    before, behind = offsets[: n + 1], offsets[n:]
    shorter = int(np.minimum(np.diff(before), np.diff(behind)).max(initial=0))
    blocks = -(-shorter // 64)
    found = np.zeros(n, np.int64)
    slots = np.full(n_symbols, -1, np.int64)
    equal = np.zeros((min(shorter, n_symbols), blocks), np.uint64)
    plus, minus = np.zeros((2, blocks), np.uint64)
    distances(ids, before, behind, slots, equal, plus, minus, found)
    return found


def sizes(texts: Sequence[str], by: Unit) -> Ints:
    """Return how many characters, or words, each text has."""
    return np.fromiter(map(len, _rows(texts, by)), np.int64, len(texts))


def distance(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the distance of one pair, cell by cell: what the kernel is held to."""
    row = list(range(len(second) + 1))
    for i, one in enumerate(first, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(second, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1]


def _rows(texts: Sequence[str], by: Unit) -> Sequence[Sequence[str]]:
    return [text.split() for text in texts] if by == "words" else texts


def _symbols(texts: Sequence[str], by: Unit) -> tuple[Ints, int, Ints]:
    """Return the number of each symbol of all texts, how many there are, and where each text begins."""
    offsets = np.concatenate([[0], np.cumsum(sizes(texts, by))]).astype(np.int64)
    if by == "words":
        number: dict[str, int] = {}
        words = [number.setdefault(word, len(number)) for text in texts for word in text.split()]
        return np.array(words, np.int64), len(number), offsets
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    seen = np.zeros(int(codes.max(initial=0)) + 1, np.int64)
    seen[codes] = 1
    return (np.cumsum(seen) - 1)[codes], int(seen.sum()), offsets
