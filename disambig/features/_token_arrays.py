"""Features of tokens as hashes, computed with NumPy; `_row_kernels` has the compiled versions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.data import HashVocabulary, offsets_from_sizes
from disambig.features.contexts import (
    BASIS,
    LONG_SHAPE,
    LONGEST_PREFIX,
    LONGEST_RUN,
    LONGEST_SUFFIX,
    LOWER,
    OUTSIDE,
    PREFIX,
    PRIME,
    SHAPE,
    STEP,
    SUFFIX,
)
from disambig.text import characters as ch, fmix
from disambig.type_aliases import Hashes

Codes = NDArray[np.uint32]
Offsets = NDArray[np.integer]
with np.errstate(over="ignore"):
    _BEHIND = OUTSIDE + STEP  # hash of a place after the sentence


def attributes(codes: Codes, table: Codes, starts: Offsets, ends: Offsets, out: Hashes) -> None:
    """Fill the first columns of `out` (n, CLASS or more) with attributes of tokens.

    Token i is ``codes[starts[i]:ends[i]]``.
    """
    lengths = ends - starts
    lower, shape, long_shape = (np.full(len(starts), BASIS) for _ in range(3))
    before, run = np.zeros(len(starts), np.uint64), np.zeros(len(starts), np.int64)
    for j in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > j)
        code = codes[starts[rows] + j]
        entry = _entries(code, table)
        lower[rows] = (lower[rows] ^ (entry & np.uint32(ch.CODE_MASK))) * PRIME
        sign = _signs(entry >> np.uint32(ch.CLASS_SHIFT), code)
        goes_on = np.where(sign == before[rows], run[rows] + 1, 1)
        for hashes, most in ((shape, 1), (long_shape, LONGEST_RUN)):
            some = goes_on <= most
            hashes[rows[some]] = (hashes[rows[some]] ^ sign[some]) * PRIME
        before[rows], run[rows] = sign, goes_on
        if j < LONGEST_PREFIX:
            out[:, PREFIX + j + 1] = OUTSIDE
            out[rows, PREFIX + j + 1] = lower[rows]
    for j in range(int(lengths.max(initial=0)), LONGEST_PREFIX):
        out[:, PREFIX + j + 1] = OUTSIDE
    suffix = np.full(len(starts), BASIS)
    for j in range(LONGEST_SUFFIX):
        rows = np.flatnonzero(lengths > j)
        small = _entries(codes[ends[rows] - 1 - j], table) & np.uint32(ch.CODE_MASK)
        suffix[rows] = (suffix[rows] ^ small) * PRIME
        out[:, SUFFIX + j + 1] = OUTSIDE
        out[rows, SUFFIX + j + 1] = suffix[rows]
    out[:, LOWER], out[:, SHAPE], out[:, LONG_SHAPE] = lower, shape, long_shape


def _entries(code: Codes, table: Codes) -> Codes:
    """Return class and folded code point of characters; those beyond the table are symbols."""
    in_table = code < len(table)
    symbol = np.uint32(ch.SYMBOL << ch.CLASS_SHIFT) | code
    return np.where(in_table, table[np.where(in_table, code, 0)], symbol)


def _signs(kind: Codes, code: Codes) -> Hashes:
    """Return the symbols of shapes: upper case, other letter, digit, or the character itself."""
    other = code.astype(np.uint64) + np.uint64(4)
    sign = np.where(kind == ch.DIGIT, np.uint64(3), other)
    sign = np.where(kind >= ch.LETTER, np.uint64(2), sign)
    return np.where(kind == ch.UPPER, np.uint64(1), sign)


def features(values: Hashes, templates: NDArray[np.int64], sentences: Offsets, out: Codes) -> None:
    """Fill `out` (n, len(templates)) with the features of tokens from their attributes.

    Sentence i is ``sentences[i]:sentences[i + 1]``; outside of it, all attributes have the same value.
    """
    lengths = np.diff(sentences)
    first, last = (np.repeat(edges, lengths) for edges in (sentences[:-1], sentences[1:]))
    tokens = np.arange(sentences[0], sentences[-1])

    def attribute_at(attribute: int, place: int) -> Hashes:
        at = tokens + place
        inside = (at >= first) & (at < last)
        hashes = values[np.where(inside, at, 0), attribute]
        return np.where(inside, hashes, np.where(at < first, OUTSIDE, _BEHIND))

    for t, (attribute, place, other, other_place) in enumerate(templates.tolist()):
        key = attribute_at(attribute, place)
        if other >= 0:
            key = key * PRIME + fmix(attribute_at(other, other_place))
        mixed = fmix(key + np.uint64((t + 1) * int(STEP) & 0xFFFFFFFFFFFFFFFF))
        out[tokens, t] = np.maximum((mixed >> np.uint64(32)).astype(np.uint32), 1)


def look_up(wanted: Codes, keys: Codes) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the indices of the features that are among `keys` (ascending), as rows of a sparse matrix.

    Returns
    -------
    indptr : array of int32, shape (n + 1,)
    indices : array of int32
    """
    places = HashVocabulary(keys).lookup(wanted)
    is_key = places >= 0
    indptr = offsets_from_sizes(is_key.sum(axis=1))
    return indptr.astype(np.int32), places[is_key].astype(np.int32)
