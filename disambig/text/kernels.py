"""Compiled functions that hash words and cut texts into words."""

from __future__ import annotations

import numpy as np

from disambig.jit import compiled
from disambig.text import characters as ch
from disambig.text.view import (
    END_HASH,
    FMIX,
    LONGEST_WORD,
    MURMUR_MULTIPLIER,
    ORDER,
    PLACES,
    START_HASH,
    UNKNOWN,
    WORD_SEED,
)

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


_FMIX_1 = np.uint64(FMIX[0])
_FMIX_2 = np.uint64(FMIX[1])
_S33 = np.uint64(33)
ORDER_STEP: np.uint64 = np.uint64(ORDER)
PLACE = np.array(PLACES, dtype=np.uint64)


@compiled
def fmix64(key):
    """Return the finaliser of MurmurHash3 for one 64-bit value."""
    key ^= key >> _S33
    key *= _FMIX_1
    key ^= key >> _S33
    key *= _FMIX_2
    key ^= key >> _S33
    return key


_M = np.uint64(MURMUR_MULTIPLIER)
_SEED = np.uint64(WORD_SEED)
_R = np.uint64(47)
_START = np.uint64(START_HASH)
_END = np.uint64(END_HASH)
_UNKNOWN = np.uint64(UNKNOWN)
_SHIFT = np.uint32(ch.CLASS_SHIFT)
_CODE = np.uint32(ch.CODE_MASK)

_LAST_SPACE, _LINE_FEED, _RETURN, _PARAGRAPH = ch.LAST_SPACE, ch.LINE_FEED, ch.CARRIAGE_RETURN, ch.PARAGRAPH
_OPENING, _CLOSING, _QUOTE, _QUOTE_OPENING = ch.OPENING, ch.CLOSING, ch.QUOTE, ch.QUOTE_OPENING
_APOSTROPHE, _DOT_CLASS, _COMMA, _STOP, _WIDE = ch.APOSTROPHE, ch.DOT, ch.COMMA, ch.STOP, ch.WIDE_STOP
_DIGIT, _FIRST_LETTER, _UPPER, _CASELESS = ch.DIGIT, ch.FIRST_LETTER, ch.UPPER, ch.CASELESS
# what the words so far end with: no stop, a run of stops, or marks that close after such a run
_NONE, _RUN, _CLOSED = 0, 1, 2


@compiled
def _finish(blocks, block, length):
    """Return MurmurHash64A of `length` bytes, from complete blocks of eight and the remainder in `block`."""
    value = _SEED ^ (np.uint64(length) * _M)
    for i in range(length >> 3):
        part = blocks[i] * _M
        part ^= part >> _R
        part *= _M
        value ^= part
        value *= _M
    if length & 7:
        value ^= block
        value *= _M
    value ^= value >> _R
    value *= _M
    return value ^ (value >> _R)


@compiled
def _hash(codes, start, stop, table, blocks):
    """Return the hash of the folded ``codes[start:stop]``, computed from their UTF-8 bytes.

    `blocks` is filled with the bytes, eight in each number, little-endian as MurmurHash64A reads them.
    """
    block = np.uint64(0)
    length = 0
    for at in range(start, stop):
        # pack the UTF-8 bytes of the character into one number, the first one in the lowest bits
        code = np.uint64(table[codes[at]] & _CODE)
        if code < 0x80:
            size = 1
            packed = code
        elif code < 0x800:
            size = 2
            packed = np.uint64(0x80C0) | code >> np.uint64(6) | (code & np.uint64(63)) << np.uint64(8)
        elif code < 0x10000:
            size = 3
            packed = (
                np.uint64(0x8080E0)
                | code >> np.uint64(12)
                | (code >> np.uint64(6) & np.uint64(63)) << np.uint64(8)
                | (code & np.uint64(63)) << np.uint64(16)
            )
        else:
            size = 4
            packed = (
                np.uint64(0x808080F0)
                | code >> np.uint64(18)
                | (code >> np.uint64(12) & np.uint64(63)) << np.uint64(8)
                | (code >> np.uint64(6) & np.uint64(63)) << np.uint64(16)
                | (code & np.uint64(63)) << np.uint64(24)
            )
        if length + size > LONGEST_WORD:
            return _UNKNOWN
        held = length & 7
        block |= packed << np.uint64(8 * held)
        length += size
        if held + size >= 8:
            blocks[(length >> 3) - 1] = block
            # a shift by 64 is undefined; nothing is left over if the block was empty
            block = packed >> np.uint64(8 * (8 - held)) if held else np.uint64(0)
    return _finish(blocks, block, length)


@compiled
def tokenise(codes, offsets, table, hashes, starts, ends, sentences, documents):
    """Write the words of the documents in `codes`, which are separated by blank lines.

    Returns the numbers of tokens, sentences and code points processed. If the output arrays are too short,
    it stops early, so that the caller can retry with larger ones. A sentence has at least three tokens.

    The rules are those of the module `disambig.text.tokenisations`. Each step of the loop skips white space,
    or reads a word, decides whether a sentence ends before it, and writes it.
    """
    n = len(codes)
    blocks = np.empty(LONGEST_WORD // 8 + 1, np.uint64)
    capacity = len(hashes) - 4  # a word may add </S>, <S> and itself, and the text ends with one more </S>
    tokens = n_sentences = 0
    document = -1
    base = offsets[0]
    open_sentence = False
    last_end = -1  # end of the last word, in codes
    last_length = 0
    last_first = 0  # class of the first character of the last word
    state = _NONE
    run_length = 0  # number of stops in the run
    wide = False  # whether a full-width stop is among them, after which no space is needed
    blocked = False  # the stop is a single "." after an abbreviation
    lines = 0  # number of line ends since the last word; two are a blank line
    at = 0
    while at < n:
        kind = table[codes[at]] >> _SHIFT
        if kind <= _LAST_SPACE:
            if kind == _LINE_FEED:
                if at == 0 or table[codes[at - 1]] >> _SHIFT != _RETURN:
                    lines += 1
            elif kind == _RETURN:
                lines += 1
            elif kind == _PARAGRAPH:
                lines += 2
            at += 1
            continue
        # a word consists of the code points [start, at)
        start = at
        first = kind
        at += 1
        if kind >= _DIGIT:
            # letters and digits; an apostrophe between letters or a sign between digits is part of the word
            before = kind
            while at < n:
                kind = table[codes[at]] >> _SHIFT
                if kind < _DIGIT:
                    if at + 1 >= n:
                        break
                    if kind == _APOSTROPHE:
                        if before < _FIRST_LETTER or table[codes[at + 1]] >> _SHIFT < _FIRST_LETTER:
                            break
                    elif kind == _DOT_CLASS or kind == _COMMA:
                        if before != _DIGIT or table[codes[at + 1]] >> _SHIFT != _DIGIT:
                            break
                    else:
                        break
                before = kind
                at += 1
        else:  # a run of the same other character
            code = codes[start]
            while at < n and codes[at] == code:
                at += 1
        # decide whether a sentence ends before this word
        adjacent = last_end == start
        ends_here = lines >= 2
        stop = first == _DOT_CLASS or first == _STOP or first == _WIDE
        belongs_to_stop = False  # more stops, or a closing mark after them
        if state != _NONE and not ends_here:
            if adjacent and stop and state == _RUN:
                belongs_to_stop = True
                run_length += at - start
                wide = wide or first == _WIDE
                blocked = False
            elif adjacent and (
                first == _CLOSING
                or first == _QUOTE
                or first == _APOSTROPHE
                or (first == _QUOTE_OPENING and not wide)
            ):
                belongs_to_stop = True
                state = _CLOSED
            elif wide:
                ends_here = True
            elif not adjacent and not blocked:
                ends_here = (
                    first == _DIGIT
                    or first >= _UPPER
                    or first == _OPENING
                    or first == _QUOTE
                    or first == _QUOTE_OPENING
                    or first == _APOSTROPHE
                )
        if not belongs_to_stop:  # an ordinary word, or the first stop of a run
            state = _NONE
            if stop:
                state = _RUN
                run_length = at - start
                wide = first == _WIDE
                blocked = (
                    first == _DOT_CLASS
                    and run_length == 1
                    and adjacent
                    and (
                        (last_length == 1 and last_first >= _FIRST_LETTER)
                        or (last_length <= 3 and last_first == _UPPER)
                    )
                )
        # write the word, with the end of a sentence, the start of documents and of a sentence before it
        if tokens >= capacity:
            return tokens, n_sentences, start
        if open_sentence and ends_here:
            hashes[tokens] = _END
            starts[tokens] = ends[tokens] = last_end - base
            tokens += 1
            open_sentence = False
        while document + 1 < len(offsets) and start >= offsets[document + 1]:
            document += 1
            documents[document] = tokens
            base = offsets[document]
        if not open_sentence:
            sentences[n_sentences] = tokens
            n_sentences += 1
            hashes[tokens] = _START
            starts[tokens] = ends[tokens] = start - base
            tokens += 1
            open_sentence = True
        hashes[tokens] = _hash(codes, start, at, table, blocks)
        starts[tokens] = start - base
        ends[tokens] = at - base
        tokens += 1
        last_end = at
        last_length = at - start
        last_first = first
        lines = 0
    # the end of the last sentence, and the documents without words after the last one with words
    if open_sentence:
        hashes[tokens] = _END
        starts[tokens] = ends[tokens] = last_end - base
        tokens += 1
    for rest in range(document + 1, len(documents)):
        documents[rest] = tokens
    sentences[n_sentences] = tokens
    return tokens, n_sentences, n
