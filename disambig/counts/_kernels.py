"""Compiled functions that count n-grams, build and search tables, and parse lines of count files."""

from __future__ import annotations

import numpy as np

from disambig.counts.counter import MAX_TOTAL
from disambig.counts.file import C1, C2, PILOTS
from disambig.jit import compiled, eight_bytes
from disambig.text import (
    END_HASH,
    GAP_HASH,
    MAX_ORDER,
    MURMUR_MULTIPLIER,
    ORDER_STEP,
    PLACE,
    START_HASH,
    WORD_SEED,
    fmix64,
)

# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_S32 = np.uint64(32)
_GAP = np.uint64(GAP_HASH)
_START = np.uint64(START_HASH)
_END = np.uint64(END_HASH)


@compiled
def fill_set(words, table):
    """Insert the hashes `words` (uint64, none 0) into the hash set `table`: zeros, length a power of two."""
    mask = np.uint64(len(table) - 1)
    for word in words:
        at = ((word * _MIX) >> _S32) & mask
        while table[at] != _ZERO and table[at] != word:
            at = (at + _ONE) & mask
        table[at] = word


@compiled
def mark_members(words, table, member):
    """Set ``member[i]`` (uint8) to whether ``words[i]`` is in the hash set `table`; 0 never is."""
    mask = np.uint64(len(table) - 1)
    for i in range(len(words)):
        word = words[i]
        at = ((word * _MIX) >> _S32) & mask
        while table[at] != _ZERO and table[at] != word:
            at = (at + _ONE) & mask
        member[i] = word != _ZERO and table[at] == word


@compiled
def add_keys(hashes, sentences, first, last, seed, member, orders, keys, filled):
    """Append the keys of the n-grams that start at tokens ``first:last`` to the rows of `keys`.

    Row k < `orders` takes n-grams of k + 1 words; the other rows, if any, take patterns with a gap of
    k - `orders` + 3 words. `keys` is uint64 of shape (kinds, capacity) and must have room for
    ``last - first`` more keys after each ``filled[k]``, and n - 2 times as many for patterns of n words.
    An n-gram stays within its sentence and has no unknown word (0). With `member` (uint8, one per token, else
    empty) only n-grams are taken that contain a token with bit 1, or a token with bit 2 and the token before
    it. The word in a gap does not count for this, and is never a sentence boundary.
    """
    gaps = len(keys) > orders
    restricted = len(member) > 0
    sentence, above = 0, len(sentences)  # binary search for the first sentence after `first`
    while sentence < above:
        middle = (sentence + above) // 2
        if sentences[middle] <= first:
            sentence = middle + 1
        else:
            above = middle
    for begin in range(first, last):
        while sentences[sentence] <= begin:
            sentence += 1
        stop = min(begin + orders, sentences[sentence])
        total = seed
        is_kept = not restricted
        for i in range(begin, stop):
            word = hashes[i]
            if word == _ZERO:
                break
            n = i - begin
            total += word * PLACE[n]
            if restricted:
                is_kept |= (member[i] & 1) != 0 or ((member[i] & 2) != 0 and i > begin)
            with_order = total + np.uint64(n + 1) * ORDER_STEP
            if is_kept:
                keys[n, filled[n]] = fmix64(with_order)
                filled[n] += 1
            if gaps and n >= 2 and is_kept:
                k = orders + n - 2
                for gap in range(begin + 1, i):
                    inner = hashes[gap]
                    if inner == _START or inner == _END:
                        continue
                    if restricted and not _has_member(member, begin, i, gap):
                        continue
                    # replaces the word in the sum by the gap; the arithmetic is modulo 2 ** 64
                    key = with_order + (_GAP - inner) * PLACE[gap - begin]
                    keys[k, filled[k]] = fmix64(key)
                    filled[k] += 1


@compiled
def _has_member(member, begin, last, gap):
    """Return whether the tokens from `begin` to `last`, without `gap`, have what `add_keys` requires."""
    for i in range(begin, last + 1):
        if i != gap and ((member[i] & 1) != 0 or ((member[i] & 2) != 0 and i > begin and i - 1 != gap)):
            return True
    return False


@compiled
def merge(keys_a, counts_a, keys_b, counts_b, keys, counts):
    """Merge two ascending lists of distinct keys, adding counts of equal ones; return the length."""
    a = b = n = 0
    while a < len(keys_a) and b < len(keys_b):
        key_a, key_b = keys_a[a], keys_b[b]
        take_a, take_b = key_a <= key_b, key_b <= key_a
        keys[n] = key_a if take_a else key_b
        counts[n] = (counts_a[a] if take_a else _ZERO) + (counts_b[b] if take_b else _ZERO)
        a += take_a
        b += take_b
        n += 1
    while a < len(keys_a):
        keys[n] = keys_a[a]
        counts[n] = counts_a[a]
        a += 1
        n += 1
    while b < len(keys_b):
        keys[n] = keys_b[b]
        counts[n] = counts_b[b]
        b += 1
        n += 1
    return n


@compiled
def interleave(keys_a, payload_a, keys_b, payload_b, keys, payload):
    """Merge two ascending lists of keys with their payloads (uint64), without adding; return the length."""
    a = b = 0
    for n in range(len(keys)):
        if b == len(keys_b) or (a < len(keys_a) and keys_a[a] <= keys_b[b]):
            keys[n] = keys_a[a]
            payload[n] = payload_a[a]
            a += 1
        else:
            keys[n] = keys_b[b]
            payload[n] = payload_b[b]
            b += 1
    return len(keys)


_C1 = np.uint64(C1)
_C2 = np.uint64(C2)
_S16 = np.uint64(16)
_SIX = np.uint64(6)
_63 = np.uint64(63)
_PILOTS = PILOTS


@compiled
def find_pilots(keys, bits, seed, n_slots, pilots, slots):
    """Choose a pilot for each bucket of a part; return False if a bucket has none.

    `keys` (uint64) are the keys of the part, sorted and distinct; `bits`, `seed` and `n_slots` are uint64.
    Fills `pilots` (uint16, one per bucket) and `slots` (uint64, one per key).

    This is a perfect hash function as in PTHash (Pibiri and Trani 2021): the bits of a key select a bucket,
    and the key and the pilot of its bucket select a slot, such that no two keys have the same slot. A number
    below n is drawn from 32 random bits by ``(bits * n) >> 32``, which needs no division.
    """
    n_keys = len(keys)
    n_buckets = len(pilots)
    # first[b + 1] is the size of bucket b, and later the end of its keys
    first = np.zeros(n_buckets + 1, dtype=np.int64)
    for i in range(n_keys):
        bucket = (((keys[i] << bits) >> _S32) * np.uint64(n_buckets)) >> _S32
        first[np.int64(bucket) + 1] += 1
    largest = 0
    for b in range(n_buckets):
        if first[b + 1] > largest:
            largest = first[b + 1]
    # process buckets by falling size (counting sort): large buckets need many free slots
    start = np.zeros(largest + 2, dtype=np.int64)
    for b in range(n_buckets):
        start[largest - first[b + 1] + 1] += 1
    for s in range(largest + 1):
        start[s + 1] += start[s]
    order = np.empty(n_buckets, dtype=np.int64)
    for b in range(n_buckets):
        place = largest - first[b + 1]
        order[start[place]] = b
        start[place] += 1
    for b in range(n_buckets):
        first[b + 1] += first[b]

    # one bit per slot; try the pilots of each bucket in turn until all its keys get a free slot of their own
    taken = np.zeros((np.int64(n_slots) >> 6) + 1, dtype=np.uint64)
    for o in range(n_buckets):
        begin = first[order[o]]
        end = first[order[o] + 1]
        if begin == end:
            pilots[order[o]] = 0
            continue
        has_pilot = False
        first_key = keys[begin]
        mixed = (seed << _S16) * _C1
        for pilot in range(_PILOTS):
            slot = ((((first_key ^ mixed) * _C2) >> _S32) * n_slots) >> _S32
            free = not (taken[slot >> _SIX] >> (slot & _63)) & _ONE  # rarely free: test the first key alone
            if free:
                slots[begin] = slot
                for i in range(begin + 1, end):
                    slot = ((((keys[i] ^ mixed) * _C2) >> _S32) * n_slots) >> _S32
                    if (taken[slot >> _SIX] >> (slot & _63)) & _ONE:
                        free = False
                        break
                    slots[i] = slot
            mixed += _C1
            if not free:
                continue
            for i in range(begin, end):  # two keys of the bucket may map to the same slot
                for j in range(begin, i):
                    if slots[i] == slots[j]:
                        free = False
            if free:
                for i in range(begin, end):
                    taken[slots[i] >> _SIX] |= _ONE << (slots[i] & _63)
                pilots[order[o]] = pilot
                has_pilot = True
                break
        if not has_pilot:
            return False
    return True


_S10 = np.uint64(10)
_S24 = np.uint64(24)
_S64 = np.uint64(64)
_LOW10 = np.uint64(0x3FF)
_LOW24 = np.uint64(0xFFFFFF)
_LOW32 = np.uint64(0xFFFFFFFF)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_BLOCK = 128


@compiled
def find_slot(words, directory, shift, width, key):
    """Return the place in `words` of the only record that `key` can have (see `find_pilots`)."""
    part = key >> shift
    low = (key << (_S64 - shift)) >> _S32
    bucket = (low * directory[part, 3]) >> _S32
    pilot = np.uint64(words[directory[part, 2] + bucket])
    mixed = (key ^ ((pilot + directory[part, 4]) * _C1)) * _C2
    return directory[part, 0] + width * (((mixed >> _S32) * directory[part, 1]) >> _S32)


@compiled
def rank_at(words, width, at, key):
    """Return the rank (uint64) of the record at `at` if it belongs to `key`, else 0.

    A record holds low bits of its key and the rank: 10 and 6 bits in a word, 24 and 8 bits in two words, or
    32 and 16 bits in three words.
    """
    if width == _ONE:
        small = np.uint64(words[at])
        return small >> _S10 if (small & _LOW10) == (key & _LOW10) else _ZERO
    record = np.uint64(words[at]) | (np.uint64(words[at + _ONE]) << _S16)
    if width == _THREE:
        rank = np.uint64(words[at + _TWO])
        return rank if record == (key & _LOW32) else _ZERO
    return record >> _S24 if (record & _LOW24) == (key & _LOW24) else _ZERO


@compiled
def lookup_block(words, directory, shift, width, keys, ranks):
    """Fill `ranks` (uint16) for `keys` (uint64), block by block so that cache misses overlap."""
    places = np.empty(_BLOCK, dtype=np.uint64)
    for begin in range(0, len(keys), _BLOCK):
        size = min(_BLOCK, len(keys) - begin)
        for i in range(size):
            places[i] = find_slot(words, directory, shift, width, keys[begin + i])
        if width == _THREE:
            for i in range(size):
                ranks[begin + i] = rank_at(words, _THREE, places[i], keys[begin + i])
        elif width == _ONE:
            for i in range(size):
                ranks[begin + i] = rank_at(words, _ONE, places[i], keys[begin + i])
        else:
            for i in range(size):
                ranks[begin + i] = rank_at(words, _TWO, places[i], keys[begin + i])


TSV, GOOGLE_2, GOOGLE_3 = 0, 1, 2
NO_TAB, NO_COUNT, NO_NGRAM, TOO_LONG, WRONG_ORDER, NO_YEARS, TOO_MANY = 1, 2, 3, 4, 5, 6, 7
CUT, TAGGED = 0, 1
"""Values in a word map, in place of a hash, for words whose n-grams are left out."""
_FINE, _LEFT_OUT, _DEFERRED = 0, 1, 2
_SEVEN = np.uint64(7)
_BYTE = np.uint64(255)
_EIGHT = np.uint64(8)
_TAGGED = np.uint64(TAGGED)
_S56 = np.uint64(56)
_M = np.uint64(MURMUR_MULTIPLIER)
_R = np.uint64(47)
_SEED = np.uint64(WORD_SEED)
_BYTES_1 = np.uint64(0x0101010101010101)
_BYTES_33 = np.uint64(0x2121212121212121)
_BYTES_128 = np.uint64(0x8080808080808080)
_MAX_ORDER = MAX_ORDER
_DIGITS = np.uint64(18)
_MAX_TOTAL = np.uint64(MAX_TOTAL)
_TEN = np.uint64(10)
_TAB, _LF, _CR, _SPACE, _COMMA = (np.uint64(code) for code in b"\t\n\r ,")
_DIGIT_0 = np.uint64(48)
_NINE = np.uint64(9)


@compiled
def _next_word(data, at):
    """Return the offset of the next space, TAB or line end (uint64), that byte, and the hash of the word.

    The hash is MurmurHash64A with seed 1, as in `disambig.text.hash_word`.
    """
    # All eight bytes are compared at once. Subtracting 33 from a byte below 33 sets its highest bit; the
    # borrow makes the bytes above it unreliable, but only the lowest marked byte matters.
    block = eight_bytes(data, at)
    low = (block - _BYTES_33) & ~block & _BYTES_128  # its lowest bit marks the first byte below 33
    below = (low - _ONE) & ~low  # all bits below it
    # the multiplication adds up one bit of each byte, so that the highest byte of the product counts them
    size = ((below & _BYTES_1) * _BYTES_1 >> _S56) - _ONE
    byte = (block >> ((size & _SEVEN) << _THREE)) & _BYTE
    if low == _ZERO or (byte != _SPACE and byte != _TAB and byte != _LF):
        return _next_long_word(data, at)
    value = _SEED ^ (size * _M)
    value = (value ^ (block & (below >> _SEVEN))) * _M if size > _ZERO else value
    value ^= value >> _R
    value *= _M
    return at + size, byte, value ^ (value >> _R)


@compiled
def _next_long_word(data, at):
    """Return the result of `_next_word` for a word of eight bytes or more, or with control characters."""
    end = _long_end(data, at)
    value = _SEED ^ ((end - at) * _M)
    while end - at >= _EIGHT:
        block = eight_bytes(data, at) * _M
        block ^= block >> _R
        value = (value ^ (block * _M)) * _M
        at += _EIGHT
    if at < end:
        rest = (_ONE << ((end - at) << _THREE)) - _ONE
        value = (value ^ (eight_bytes(data, at) & rest)) * _M
    value ^= value >> _R
    value *= _M
    return end, np.uint64(data[end]), value ^ (value >> _R)


@compiled
def _long_end(data, at):
    """Return the offset of the next space, TAB or line end; the bits are explained in `_next_word`."""
    while True:
        block = eight_bytes(data, at)
        low = (block - _BYTES_33) & ~block & _BYTES_128
        if low == _ZERO:
            at += _EIGHT
            continue
        at += (((low - _ONE) & ~low & _BYTES_1) * _BYTES_1 >> _S56) - _ONE
        byte = data[at]
        if byte == _SPACE or byte == _TAB or byte == _LF:
            return at
        at += _ONE  # another control character: part of the word


@compiled
def _is_member(word, table):
    mask = np.uint64(len(table) - 1)
    at = ((word * _MIX) >> _S32) & mask
    while table[at] != _ZERO and table[at] != word:
        at = (at + _ONE) & mask
    return table[at] == word


@compiled
def find_row(words, word):
    """Return the row of `word` in a map, or the row where it would be inserted (uint64)."""
    mask = np.uint64(len(words) - 1)
    at = ((word * _MIX) >> _S32) & mask
    while words[at, 0] != _ZERO and words[at, 0] != word:
        at = (at + _ONE) & mask
    return at


@compiled
def insert_words(words, raw, values):
    """Insert words into a map that has room for them; return how many were new."""
    new = 0
    for i in range(len(raw)):
        at = find_row(words, raw[i])
        new += words[at, 0] == _ZERO
        words[at, 0] = raw[i]
        words[at, 1] = values[i]
    return new


@compiled
def _number(data, at):
    """Return the number at `at` and its end; the end is `at` if there is no number or it is too long.

    Numbers have at most 18 digits, so that they are below 2 ** 63.
    """
    value = _ZERO
    begin = at
    while True:
        digit = np.uint64(data[at]) - _DIGIT_0  # wraps around for bytes below "0"
        if digit > _NINE:
            break
        value = value * _TEN + digit
        at += _ONE
    if at - begin > _DIGITS:
        return value, begin
    return value, at


@compiled
def _next_line(data, at):
    """Return the start of the next line if this one ends at `at`, else 0."""
    if data[at] == _CR:
        at += _ONE
    return at + _ONE if data[at] == _LF else _ZERO


@compiled
def _counts(data, at, form, first_year, last_year):
    """Read what follows the TAB after an n-gram; return the count, the next line, and the error code."""
    if form == 0:
        total, end = _number(data, at)
        following = _next_line(data, end)
        is_invalid = end == at or following == _ZERO or total == _ZERO
        return total, following, NO_COUNT if is_invalid else 0
    separator = _TAB if form == 1 else _COMMA
    total = _ZERO
    while True:
        year, end = _number(data, at)
        if end == at or data[end] != separator:
            return total, _ZERO, NO_YEARS
        at = end + _ONE
        matches, end = _number(data, at)
        if end == at or data[end] != separator:
            return total, _ZERO, NO_YEARS
        at = end + _ONE
        _, end = _number(data, at)
        if end == at:
            return total, _ZERO, NO_YEARS
        if first_year <= year <= last_year:
            total += matches
            if total >= _MAX_TOTAL:
                return total, _ZERO, TOO_MANY
        if form == 2 and data[end] == _TAB:
            at = end + _ONE
            continue
        following = _next_line(data, end)
        return total, following, NO_YEARS if following == _ZERO else 0


@compiled
def _same_ngram(data, one, other, size):
    """Return whether `size` bytes are equal at both offsets and a TAB follows."""
    if data[other + size] != _TAB:
        return False
    compared = _ZERO
    while compared + _EIGHT <= size:
        if eight_bytes(data, one + compared) != eight_bytes(data, other + compared):
            return False
        compared += _EIGHT
    rest = (_ONE << ((size - compared) << _THREE)) - _ONE
    return (eight_bytes(data, one + compared) ^ eight_bytes(data, other + compared)) & rest == _ZERO


@compiled
def _specific_error(data, begin, size, error, form):
    """Return the most specific error code for the line at `begin`."""
    tabs = 0
    while begin < size and data[begin] != _LF:
        tabs += data[begin] == _TAB
        begin += _ONE
    if tabs == 0:
        return NO_TAB
    return NO_NGRAM if form == 0 and tabs > 1 else error


@compiled
def parse(
    data, n_bytes, form, order, years, seed, table, words, keys, counts, orders, missing, deferred, tallies
):
    """Parse the lines of ``data[:n_bytes]`` (uint8); the last line must have a line end too.

    `table`: hash set of words (see `fill_set`) of which an n-gram must contain one, or empty.
    `words`: map (see `find_row`) from words as written to their normal forms, or empty.
    `keys`, `counts` (uint64), `orders` (uint8): filled; must have room for a quarter of the bytes plus two.
    `missing`: filled with words that are not in the map: rows of hash, start, end (uint64).
    `deferred`: filled with start and end (int64) of the lines with such words, which are not counted yet.
    `tallies` (int64): filled with the numbers of n-grams, lines, missing words, deferred lines, and of lines
    left out because a word is cut or tagged.
    Returns 0, or the error code of the last line read.
    """
    tallies[:] = 0
    filled = lines = n_missing = n_deferred = 0
    size = np.uint64(n_bytes)
    restricted, mapped = len(table) > 0, len(words) > 0
    before = before_size = begin = _ZERO
    total = seed
    n = 0
    wanted = counted = False
    state, reason = _FINE, 0
    while begin < size:
        lines += 1
        following = _next_line(data, begin)
        if following != _ZERO:  # an empty line
            begin = following
            continue
        # the n-gram: in version 2 of Google Books, lines with the same one follow each other
        error = 0
        fits = before_size > _ZERO and begin + before_size < size
        if form == 1 and fits and _same_ngram(data, before, begin, before_size):
            at = begin + before_size
        else:
            n = 0
            total = seed
            wanted = not restricted
            counted = False  # whether the n-gram is the last one in `keys`
            state = _FINE
            at = begin
            while True:
                end, last, word = _next_word(data, at)
                if end == at:
                    error = NO_NGRAM
                    break
                if n == _MAX_ORDER:
                    error = TOO_LONG
                    break
                if mapped:
                    place = find_row(words, word)
                    if words[place, 0] == _ZERO:  # the caller looks it up, and parses the line again
                        state = _DEFERRED
                        if n_missing < len(missing):
                            missing[n_missing, 0] = word
                            missing[n_missing, 1] = at
                            missing[n_missing, 2] = end
                            n_missing += 1
                    word = words[place, 1]
                    if word <= _TAGGED and state == _FINE:
                        state = _LEFT_OUT
                        reason = 4 + np.int64(word)
                total += word * PLACE[n]
                if restricted and not wanted:
                    wanted = _is_member(word, table)
                n += 1
                if last == _SPACE:
                    at = end + _ONE
                    continue
                if last == _LF:
                    error = NO_TAB
                at = end
                break
            if error == 0 and order > 0 and n != order:
                error = WRONG_ORDER
            before, before_size = begin, at - begin
        # its count, which is stored, added to the one before, or left out
        count = following = _ZERO
        if error == 0:
            count, following, error = _counts(data, at + _ONE, form, years[0], years[1])
        if error == 0:
            if state == _DEFERRED:
                deferred[n_deferred, 0] = np.int64(begin)
                deferred[n_deferred, 1] = np.int64(following)
                n_deferred += 1
            elif state == _LEFT_OUT:
                tallies[reason] += 1
            elif counted:
                counts[filled - 1] += count
                if counts[filled - 1] >= _MAX_TOTAL:
                    error = TOO_MANY
            elif wanted and count > _ZERO:
                keys[filled] = fmix64(total + np.uint64(n) * ORDER_STEP)
                counts[filled] = count
                orders[filled] = n
                filled += 1
                counted = True
        if error != 0:
            tallies[0], tallies[1] = filled, lines
            return _specific_error(data, begin, size, error, form)
        begin = following
    tallies[0], tallies[1], tallies[2], tallies[3] = filled, lines, n_missing, n_deferred
    return 0
