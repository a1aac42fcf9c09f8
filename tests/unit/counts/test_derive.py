"""Tables made of tables: merged and pruned ones are those counted at once, byte for byte."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_damage import rewritten

from disambig.counts import (
    PATTERN,
    CountTable,
    build_table,
    describe_table,
    entries,
    layout,
    merge_tables,
    prune_table,
    write_table,
)
from disambig.counts import build as derive
from disambig.errors import UserError
from disambig.text import Web1T, Words

VIEWS = {"words": [Words()], "web1t": [Web1T()], "both": [Words(), Web1T()]}
words = st.sampled_from(["in", "the", "house", "it's", "cards", "of", ".", "A", "old", "and"])
texts = st.lists(st.lists(words, max_size=40).map(" ".join), min_size=1, max_size=8)


def built(path, texts, views="words", **options):
    cut = VIEWS[views]
    sources = [{"name": f"{text[:20]}.txt"} for text in texts]
    return CountTable.open(build_table(path, texts, cut, sources=sources, force=True, **options))


def cut_into(items, places):
    edges = [0, *sorted(place % (len(items) + 1) for place in places), len(items)]
    return [items[a:b] for a, b in pairwise(edges) if b > a]


choices = st.fixed_dictionaries(
    {
        "orders": st.integers(1, 5),
        "gaps": st.booleans(),
        "keep_words": st.none() | st.just(["in", "cards", "old and"]),
        "licence": st.sampled_from(["", "CC0"]),
    }
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts.filter(lambda texts: all(text.strip() for text in texts)),
    st.lists(st.integers(0, 10), max_size=3),
    st.sampled_from(sorted(VIEWS)),
    choices,
    st.dictionaries(st.integers(1, 5), st.integers(1, 3)),
    st.sampled_from([30, 200, 1 << 17]),
    st.sampled_from([50, 1 << 19]),
    st.sampled_from(["exact", "compact", "small"]),
)
def test_merged_is_counted_at_once(
    tmp_path, texts, places, views, options, min_counts, keys_per_part, at_once, record
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "KEYS_PER_PART", keys_per_part)
        patch.setattr(derive, "_AT_ONCE", at_once)
        parts = [
            built(tmp_path / f"part-{i}", part, views, keys=True, **options)
            for i, part in enumerate(cut_into(texts, places))
        ]
        final = {"min_counts": min_counts, "record": record, "keys": record == "exact"}
        built(tmp_path / "once", texts, views, **options, **final)
        merge_tables(tmp_path / "merged", parts, **final, force=True)
        once = (tmp_path / "once").read_bytes()
        assert (tmp_path / "merged").read_bytes() == once
        merge_tables(tmp_path / "whole", parts, keys=True, force=True)
        prune_table(tmp_path / "pruned", CountTable.open(tmp_path / "whole"), **final, force=True)
        assert (tmp_path / "pruned").read_bytes() == once


def test_views_counted_apart_are_merged(tmp_path):
    one = ["The house of cards.", "An old house."]
    two = ["The cards of the house."]
    parts = [
        built(tmp_path / "a", one, "words", keys=True, gaps=True),
        built(tmp_path / "b", one, "web1t", keys=True, gaps=True),
        built(tmp_path / "c", two, "both", keys=True, gaps=True),
    ]
    merge_tables(tmp_path / "merged", parts)
    built(tmp_path / "once", one + two, "both", gaps=True)
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "once").read_bytes()
    # the patterns of one view may be counted, those of another not
    plain = built(tmp_path / "d", one, "web1t", keys=True)
    table = CountTable.open(merge_tables(tmp_path / "mixed", [parts[0], plain]))
    assert (table.tokenisations, table.gaps) == ((Words.name, Web1T.name), (Words.name,))
    assert table.count("the * of") == 1
    with pytest.raises(UserError, match="D117"):
        table.count("the * of", tokenisation=Web1T.name)


def test_pruned_to_fewer_words_and_pruned_twice(tmp_path):
    texts = ["The house of cards of the house.", "The house of the rising sun."]
    table = built(tmp_path / "a", texts, keys=True, gaps=True)
    prune_table(tmp_path / "b", table, orders=3, min_counts={2: 2})
    built(tmp_path / "once", texts, gaps=True, orders=3, min_counts={2: 2})
    assert (tmp_path / "b").read_bytes() == (tmp_path / "once").read_bytes()
    half = CountTable.open(prune_table(tmp_path / "c", table, min_counts={2: 2}, keys=True))
    prune_table(tmp_path / "d", half, min_counts={2: 1, 3: 2})
    built(tmp_path / "once", texts, gaps=True, min_counts={2: 2, 3: 2})
    assert (tmp_path / "d").read_bytes() == (tmp_path / "once").read_bytes()


def test_keys_are_those_of_the_table(tmp_path):
    table = built(tmp_path / "a", ["The house of cards.", "Of the house."], keys=True, gaps=True)
    table.verify()
    keys, counts, kinds = entries(table, 0, table.n_ngrams)
    assert np.array_equal(table.counts(keys), counts)
    assert set(kinds.tolist()) == {1, 2, 3, 4, 5, 3 + PATTERN, 4 + PATTERN, 5 + PATTERN}
    assert any("merged" in line for line in describe_table(table))
    assert not any("merged" in line for line in describe_table(built(tmp_path / "b", ["The house."])))


def test_tables_that_cannot_be_merged(tmp_path):
    text = ["The house of cards of the house."]
    good = built(tmp_path / "a", text, keys=True)
    for options, code in (
        ({}, "D120.*--keys"),
        ({"keys": True, "min_counts": {3: 2}}, "D121.*of 3 words.*2 times"),
        ({"keys": True, "orders": 4}, "D122.*longest"),
        ({"keys": True, "keep_words": ["of"]}, "D122.*kept for"),
        ({"keys": True, "gaps": True}, "D122.*gap"),
    ):
        other = built(tmp_path / "b", text, **options)
        with pytest.raises(UserError, match=code):
            merge_tables(tmp_path / "c", [good, other])
    with pytest.raises(UserError, match="D120"):
        prune_table(tmp_path / "c", built(tmp_path / "b", text))
    with pytest.raises(UserError, match="D111"):
        prune_table(tmp_path / "c", good, orders=6)
    with pytest.raises(UserError, match="D106"):
        merge_tables(tmp_path / "b", [good, good])
    with pytest.raises(UserError, match="D119"):
        built(tmp_path / "c", text, keys=True, record="small")
    assert not (tmp_path / "c").exists()
    merge_tables(tmp_path / "a", [good, good], force=True)  # the output may be an input
    assert CountTable.open(tmp_path / "a").count("house") == 4


@pytest.fixture
def with_keys(tmp_path):
    built(tmp_path / "good", ["The house of cards of the house. An old house!"], keys=True)
    return tmp_path / "good"


@pytest.mark.parametrize(
    "change",
    [
        lambda data, header: header["sections"]["keys"].update(size=header["sections"]["keys"]["size"] - 8),
        lambda data, header: header["sections"]["keys"].update(size=7),
        lambda data, header: header["sections"]["keys"].update(size=0),
        lambda data, header: header.pop("key_edges"),
        lambda data, header: header.update(key_edges="many"),
        lambda data, header: header.update(key_edges=[0, 5]),
        lambda data, header: header["key_edges"].reverse(),
        lambda data, header: header["key_edges"].__setitem__(-1, 10**6),
        lambda data, header: header["key_edges"].__setitem__(3, 10**30),
        lambda data, header: header.update(record="compact"),
    ],
)
def test_hostile_headers_of_keys(with_keys, tmp_path, change):
    with pytest.raises(UserError, match="D105"):
        CountTable.open(rewritten(with_keys, tmp_path / "x", change))


def test_hostile_keys(with_keys, tmp_path):
    def changed(change):
        def at(data, header):
            place, size = (header["sections"]["keys"][what] for what in ("offset", "size"))
            stored = np.frombuffer(data, dtype=np.uint64, offset=place, count=size // 8)
            change(stored)

        return CountTable.open(rewritten(with_keys, tmp_path / "x", at))

    def swap(stored):
        stored[:2] = stored[[1, 0]]

    def other_key(stored):
        stored[0] += np.uint64(8)

    def other_kind(stored):
        stored |= np.uint64(7)

    for change in (swap, other_key, other_kind):
        for derived in (
            lambda t: merge_tables(tmp_path / "y", [t]),
            lambda t: prune_table(tmp_path / "y", t),
        ):
            with pytest.raises(UserError, match=r"D105.*keys"):
                derived(changed(change))
    for said in (
        {"min_counts": {"a": 1}},
        {"min_counts": [1]},
        {"views": [5]},
        {"views": {Words.name: {"texts": "x"}}},
    ):
        path = rewritten(
            with_keys, tmp_path / "x", lambda data, header, said=said: header["info"].update(said)
        )
        table = CountTable.open(path)
        with pytest.raises(UserError, match=r"D105.*header"):
            merge_tables(tmp_path / "y", [CountTable.open(with_keys), table])
    assert not (tmp_path / "y").exists()


def test_sums_beyond_64_bits_are_refused(tmp_path):
    keys, kinds = np.array([1 << 40], dtype=np.uint64), np.ones(1, dtype=np.uint8)
    counts = np.array([2**63], dtype=np.uint64)
    info = {"min_counts": {"1": 1}}
    for name in ("a", "b"):
        write_table(
            tmp_path / name, [(keys, counts, kinds)], tokenisations=[Words.name], keys=True, info=info
        )
    tables = [CountTable.open(tmp_path / name) for name in ("a", "b")]
    with pytest.raises(UserError, match="D118"):
        merge_tables(tmp_path / "c", tables)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_progress(tmp_path, monkeypatch):
    monkeypatch.setattr(derive, "_AT_ONCE", 5)
    table = built(tmp_path / "a", ["The house of cards of the house."], keys=True)
    told = []
    merge_tables(tmp_path / "b", [table, table], progress=lambda *what: told.append(what))
    assert len(told) > 2
    assert told[-1] == ("write", table.n_ngrams, 2 * table.n_ngrams)


CODE = """
import sys
from itertools import pairwise
from pathlib import Path
from disambig.counts.build import merge_tables
from disambig.counts.table import CountTable
tables = [CountTable.open(path) for path in sys.argv[2:]]
def peak(): return 1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
merge_tables(sys.argv[1] + ".small", [CountTable.open(sys.argv[1])])
before = peak()
merge_tables(sys.argv[1] + ".all", tables, keys=True)
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc/self/status on this system")
def test_memory_does_not_grow_with_the_tables(tmp_path):
    rng = np.random.default_rng(0)
    built(tmp_path / "tiny", ["The house."], keys=True)
    for name in "abc":
        keys = np.unique(rng.integers(0, 2**64, 2_000_000, dtype=np.uint64))
        chunks = [
            (part, np.full(len(part), 3, dtype=np.uint64), np.full(len(part), 2, dtype=np.uint8))
            for part in np.array_split(keys, 10)
        ]
        info = {"keep_words": None, "min_counts": {"1": 1}, "views": {}}
        write_table(tmp_path / name, chunks, tokenisations=[Words.name], keys=True, info=info)
    command = [sys.executable, "-c", CODE, *(str(tmp_path / name) for name in ("tiny", "a", "b", "c"))]
    kernels = {
        **os.environ,
        "DISAMBIG_ENGINE": "numba",
    }  # so that the small merge before loads what the large needs
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=kernels)
    assert int(done.stdout) < 120 << 20  # the tables together are 90 MB, their n-grams as arrays 100
    assert CountTable.open(tmp_path / "tiny.all").n_ngrams > 5_900_000
