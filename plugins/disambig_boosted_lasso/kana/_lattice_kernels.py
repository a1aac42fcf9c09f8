"""Compiled functions that build the lattice of a line and look up its n-grams."""

from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled_in_place, fmix64

# Numba infers the types of compiled functions.
# mypy: allow-untyped-defs


@compiled_in_place
def find(words, first, last, word):
    """Return the position of a word in an ascending range, -1 if it is not there.

    The loop has no branch that depends on the words, since the processor would often predict it wrongly.
    """
    size = last - first
    if size <= 0:
        return np.int64(-1)
    while size > 1:
        half = size >> 1
        first += half * (words[first + half - 1] < word)
        size -= half
    first += words[first] < word
    return first if first < last and words[first] == word else np.int64(-1)


@compiled_in_place
def find_pair(tables, word, behind):
    """Return the number of a pair of words, -1 for an unseen pair."""
    return find(tables.pair_words, tables.singles[word].begin, tables.singles[word + 1].begin, behind)


@compiled_in_place
def find_triple(tables, pair, behind):
    """Return the number of a triple of words, -1 for an unseen triple."""
    return find(tables.triple_words, tables.pairs[pair].begin, tables.pairs[pair + 1].begin, behind)


@compiled_in_place
def last_word(tables, state):
    """Return the last word of a state."""
    n = len(tables.singles) - 1
    return np.int64(state) if state < n else np.int64(tables.pair_words[state - n])


@compiled_in_place
def find_states(tables):
    """Write the state after each triple: that of its last two words."""
    for pair in range(len(tables.pairs) - 1):
        for triple in range(tables.pairs[pair].begin, tables.pairs[pair + 1].begin):
            word = tables.triple_words[triple]
            below = find_pair(tables, tables.pair_words[pair], word)
            tables.triples[triple].state = tables.pairs[below].state if below >= 0 else word


@compiled_in_place
def bigram_step(tables, last, word, pair):
    """Return ln P of a word after one word, and the state after both; `pair` is their number or -1."""
    if pair >= 0:
        return np.float64(tables.pairs[pair].log_prob), np.int64(tables.pairs[pair].state)
    return np.float64(tables.singles[last].back_off) + tables.singles[word].log_prob, np.int64(word)


@compiled_in_place
def back_off(tables, state):
    """Return ln of the back-off weight of one word, for words unseen after two words."""
    n = len(tables.singles) - 1
    return 0.0 if state < n else np.float64(tables.pairs[state - n].back_off)


@compiled_in_place
def step(tables, state, word, triple):
    """Return ln P of a word after a state, and the next state; `triple` is the number of all words or -1."""
    if triple >= 0:
        return np.float64(tables.triples[triple].log_prob), np.int64(tables.triples[triple].state)
    last = last_word(tables, state)
    below, behind = bigram_step(tables, last, word, find_pair(tables, last, word))
    return back_off(tables, state) + below, behind


@compiled_in_place
def find_triple_after(tables, state, word):
    """Return the number of the triple of a state and a word, -1 if it is unseen or the state is one word."""
    n = len(tables.singles) - 1
    return find_triple(tables, state - n, word) if state >= n else np.int64(-1)


@compiled_in_place
def log_add(one, other):
    """Return ln of the sum of two probabilities given as logarithms."""
    maximum = max(one, other)
    if maximum == -np.inf:
        return maximum
    return maximum + np.log1p(np.exp(min(one, other) - maximum))


# ---- the lattice of a line

HIRAGANA, KATAKANA, AS_TYPED, NUMBER, LAST = -1, -2, -3, -4, -5
_BASE = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_FIRST_KANA, _LAST_KANA, _LONG = 0x3041, 0x3096, 0x30FC
_KATAKANA = 0x60


@compiled_in_place
def letter(code):
    """Return the number of a hiragana, starting at 1; 0 for any other character."""
    if _FIRST_KANA <= code <= _LAST_KANA:
        return code - _FIRST_KANA + 1
    return _LAST_KANA - _FIRST_KANA + 2 if code == _LONG else 0


@compiled_in_place
def _is_digit(code):
    return 0x30 <= code <= 0x39 or 0xFF10 <= code <= 0xFF19


@compiled_in_place
def _is_latin(code):
    if 0x41 <= code <= 0x5A or 0x61 <= code <= 0x7A or 0xFF21 <= code <= 0xFF3A or 0xFF41 <= code <= 0xFF5A:
        return True
    return 0xC0 <= code <= 0x24F and code != 0xD7 and code != 0xF7


@compiled_in_place
def _joins_digits(code):
    return code == 0x2E or code == 0x2C or code == 0xFF0E or code == 0xFF0C


@compiled_in_place
def run_end(codes, start, end):
    """Return the end of a run that is written as typed: a number, a Latin word, else one character."""
    at = start + 1
    if _is_digit(codes[start]):
        while at < end:
            if _is_digit(codes[at]):
                at += 1
            elif at + 1 < end and _joins_digits(codes[at]) and _is_digit(codes[at + 1]):
                at += 2
            else:
                break
    elif _is_latin(codes[start]):
        while at < end and _is_latin(codes[at]):
            at += 1
    return at


@compiled_in_place
def hash_texts(codes, offsets, hashes, powers):
    """Write the hash of each text, and the base to the power of its length.

    With these, hashes of concatenated texts can be computed: ``hash(ab) = hash(a) * power(b) + hash(b)``.
    """
    for i in range(len(hashes)):
        value, power = np.uint64(0), _ONE
        for at in range(offsets[i], offsets[i + 1]):
            value = value * _BASE + fmix64(np.uint64(codes[at]))
            power *= _BASE
        hashes[i], powers[i] = value, power


@compiled_in_place
def build_lattice(tables, words, spoken, codes, start, end, k, arcs, places, unknown):
    """Write the arcs of one line; return their number, or -1 if there is not enough room.

    The line is ``codes[start:end]``; its n characters have the places 0 to n, and one more arc leads from n
    to n + 1: the end of the sentence. Of the unknown words between two places only the best one is an arc; up
    to k are linked to it (`next`, from the end of `arcs`), since the language model cannot separate them.
    `unknown` is a buffer: row i has the first and last unknown word of i characters, and their number.
    """
    n, count = end - start, np.int64(0)
    spare = np.int64(len(arcs))
    for place in range(n):
        places[place].arc = count
        # words of the lexicon: follow the trie as far as the line fits
        at, node = start + place, np.int64(0)
        unknown[:, 2] = 0
        while at < end:
            edge = find(words.labels, words.begins[node], words.begins[node + 1], codes[at])
            if edge < 0:
                break
            node, at = edge + 1, at + 1
            length = at - start - place
            for entry in range(words.entry_begins[node], words.entry_begins[node + 1]):
                one = words.entries[entry]
                if one.word == 0:
                    if unknown[length, 2] == k:
                        break  # the others are worse: unknown words come last, the best ones first
                    if spare - count < 2:
                        return -1
                    made = _link_unknown(arcs, count, spare, unknown[length], one.hash)
                    count, spare = count + (made == count), spare - (made == spare - 1)
                    if made >= 0:
                        _write_arc(arcs, made, at - start, entry, 0, one.extra, one.hash, one.power)
                else:
                    if spare - count < 2:
                        return -1
                    _write_arc(arcs, count, at - start, entry, one.word, one.extra, one.hash, one.power)
                    count += 1
        # characters that are written as typed, or unknown words in hiragana and katakana
        if spare - count < 2 * words.longest[0] + 2:
            return -1
        if letter(codes[start + place]) == 0:
            count = _add_typed(words.numbers, codes, start + place, end, start, arcs, count)
        else:
            last = min(end, start + place + words.longest[0])
            for script in range(2):
                count, spare = _add_unknown_words(
                    words.spelling, codes, start + place, last, start, script, k, arcs, count, spare, unknown
                )
        # numbers spelt out in kana
        for one in range(spoken.begins[start + place], spoken.begins[start + place + 1]):
            if spare - count < 2:
                return -1
            word = words.numbers[min(spoken.n_digits[one], len(words.numbers) - 1)]
            until, extra = spoken.ends[one] - start, spoken.extras[one]
            _write_arc(
                arcs, count, until, spoken.kinds[one], word, extra, spoken.hashes[one], spoken.powers[one]
            )
            count += 1
    places[n].arc = count
    if spare - count < 1:
        return -1
    _write_arc(arcs, count, n + 1, LAST, 2, 0.0, np.uint64(0), _ONE)
    count += 1
    places[n + 1].arc = count
    # The number of each word in the language models, and its share of that number's probability. Arcs linked
    # from the end of `arcs` need none: they differ from the first one only in `extra`.
    two = len(tables.starts) > 1
    for arc in range(count):
        word = arcs[arc].word
        arcs[arc].number, arcs[arc].share = tables.numbers[0, word], tables.shares[0, word]
        arcs[arc].other = tables.numbers[1, word] if two else -1
        arcs[arc].other_share = tables.shares[1, word] if two else 0.0
    return count


@compiled_in_place
def _write_arc(arcs, arc, end, kind, word, extra, value, power):
    arcs[arc].end, arcs[arc].kind, arcs[arc].word, arcs[arc].extra = end, kind, word, extra
    arcs[arc].hash, arcs[arc].power, arcs[arc].next = value, power, -1


@compiled_in_place
def _link_unknown(arcs, count, spare, unknown, text):
    """Return the arc for one more unknown word, no better than the earlier ones; -1 for a duplicate."""
    if unknown[2] == 0:
        unknown[0] = unknown[1] = count
        unknown[2] = 1
        return count
    arc = unknown[0]
    while arc >= 0:
        if arcs[arc].hash == text:
            return np.int64(-1)
        arc = np.int64(arcs[arc].next)
    arcs[unknown[1]].next = spare - 1
    unknown[1] = spare - 1
    unknown[2] += 1
    return spare - 1


@compiled_in_place
def _add_typed(numbers, codes, at, end, start, arcs, count):
    """Write the arc of characters other than kana."""
    last = run_end(codes, at, end)
    value, power, digits = np.uint64(0), _ONE, 0
    for i in range(at, last):
        value = value * _BASE + fmix64(np.uint64(codes[i]))
        power *= _BASE
        digits += _is_digit(codes[i])
    word = numbers[min(digits, len(numbers) - 1)]
    _write_arc(arcs, count, last - start, NUMBER if digits else AS_TYPED, word, 0.0, value, power)
    return count + 1


@compiled_in_place
def _add_unknown_words(spelling, codes, at, end, start, script, k, arcs, count, spare, unknown):
    """Write the prefixes of a stretch of kana as unknown words in one script, sorted by score."""
    value, power, total, before = np.uint64(0), _ONE, 0.0, 0
    shift = _KATAKANA if script else 0
    for i in range(at, end):
        code = codes[i]
        number = letter(code)
        if number == 0:
            break
        total += spelling[script, before, number]
        before = number
        value = value * _BASE + fmix64(np.uint64(code if code == _LONG else code + shift))
        power *= _BASE
        kind, extra = KATAKANA if script else HIRAGANA, total + spelling[script, number, 0]
        length = i + 1 - at
        if unknown[length, 2] == 0:
            unknown[length, 0] = unknown[length, 1] = count
            unknown[length, 2] = 1
            _write_arc(arcs, count, i + 1 - start, kind, 0, extra, value, power)
            count += 1
            continue
        above, below, is_there = np.int64(-1), unknown[length, 0], False
        while below >= 0 and arcs[below].extra >= extra:
            is_there = is_there or arcs[below].hash == value
            above, below = below, np.int64(arcs[below].next)
        if is_there:
            continue
        spare -= 1
        if above < 0:  # the first arc keeps its position; its former content is linked after it
            arcs[spare] = arcs[below]
            _write_arc(arcs, below, i + 1 - start, kind, 0, extra, value, power)
            arcs[below].next = spare
        else:
            _write_arc(arcs, spare, i + 1 - start, kind, 0, extra, value, power)
            arcs[above].next, arcs[spare].next = spare, below
        unknown[length, 2] += 1
    return count, spare
