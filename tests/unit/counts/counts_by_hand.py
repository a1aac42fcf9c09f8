"""Slow reference counts of n-grams, and small tables, for the tests of counting."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import numpy as np
from hypothesis import strategies as st

from disambig.counts import file as files
from disambig.text import TokenView, Words, hash_word, hash_words, ngram_keys

SEED = hash_word(Words.name)
any_sentences = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "d", ""]), min_size=1, max_size=12), max_size=12
)
"""A sentence is a list of words; "" stands for an unknown one."""


def compute_key(ngram):
    return int(ngram_keys(hash_words(ngram)[None], SEED)[0])


def count_slowly(sentences, orders, keep=None):
    """Count the n-grams of sentences; only those with a word of `keep`, if it is given."""
    counts = Counter()
    for sentence in sentences:
        for n in range(1, orders + 1):
            for at in range(len(sentence) - n + 1):
                ngram = tuple(sentence[at : at + n])
                if "" not in ngram and (keep is None or keep & set(ngram)):
                    counts[ngram] += 1
    return counts


def make_view(sentences):
    """Return a view of the words of sentences."""
    words = [word for sentence in sentences for word in sentence]
    hashes = hash_words(words)
    hashes[[word == "" for word in words]] = 0
    ends = np.append(0, np.cumsum([len(sentence) for sentence in sentences])).astype(np.int64)
    none = np.zeros(len(words), dtype=np.int32)
    return TokenView(Words.name, [""], hashes, none, none, ends, np.array([0, len(words)]))


def counted(counter, **options):
    """Return (count, order) of each key of a counter; check that the keys are in ascending order."""
    entries, last = {}, -1
    for keys, counts, orders in counter.partitions(**options):
        assert int(keys[0]) > last
        assert np.all(keys[1:] > keys[:-1])
        last = int(keys[-1])
        for key, count, order in zip(keys.tolist(), counts.tolist(), orders.tolist(), strict=True):
            entries[key] = (count, order)
    return entries


def table_header(data):
    """Return where the header of a table begins, and the header."""
    at = files._PREAMBLE.unpack_from(data)[4]
    return at, json.loads(data[at:])


def with_header(data, header):
    """Return a table with another header and valid checksums."""
    at, _ = table_header(data)
    text = json.dumps(header).encode()
    return files._preamble(at, text) + bytes(data[files.PAGE : at]) + text


def rewrite(good, path, change):
    """Write a table after `change` has altered its header and sections, with valid checksums."""
    data = bytearray(good.read_bytes())
    _, header = table_header(data)
    change(data, header)
    for entry in header["sections"].values():
        if isinstance(entry, dict) and isinstance(entry.get("offset"), int):
            part = data[entry["offset"] : entry["offset"] + files.padded(entry["size"])]
            entry["digest"] = hashlib.blake2b(part, digest_size=32).hexdigest()
    path.write_bytes(with_header(data, header))
    return path
