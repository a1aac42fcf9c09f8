"""Compiled functions that count n-grams, build the index of a table and look up n-grams in it."""

from __future__ import annotations

import numpy as np

from disambig.counts.layout import C1, C2, PILOTS
from disambig.jit import compiled
from disambig.text import END_HASH, GAP_HASH, ORDER_STEP, PLACE, START_HASH, fmix64

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
                    key = with_order + (_GAP - inner) * PLACE[gap - begin]
                    keys[k, filled[k]] = fmix64(key)
                    filled[k] += 1


@compiled
def _has_member(member, begin, last, gap):
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
    """
    n_keys = len(keys)
    n_buckets = len(pilots)
    first = np.zeros(n_buckets + 1, dtype=np.int64)
    for i in range(n_keys):
        bucket = (((keys[i] << bits) >> _S32) * np.uint64(n_buckets)) >> _S32
        first[np.int64(bucket) + 1] += 1
    largest = 0
    for b in range(n_buckets):
        if first[b + 1] > largest:
            largest = first[b + 1]
    # process buckets by falling size: large buckets need many free slots
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
    """Return the place in `words` of the only record that `key` can have."""
    part = key >> shift
    low = (key << (_S64 - shift)) >> _S32
    bucket = (low * directory[part, 3]) >> _S32
    pilot = np.uint64(words[directory[part, 2] + bucket])
    mixed = (key ^ ((pilot + directory[part, 4]) * _C1)) * _C2
    return directory[part, 0] + width * (((mixed >> _S32) * directory[part, 1]) >> _S32)


@compiled
def rank_at(words, width, at, key):
    """Return the rank (uint64) of the record at `at` if it belongs to `key`, else 0."""
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
