"""Merged and pruned tables equal those that are counted at once; damaged and forged tables are errors."""

from __future__ import annotations

import copy
import os
import struct
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from counts_by_hand import rewrite, table_header, with_header
from hypothesis import HealthCheck, given, settings, strategies as st

from disambig.counts import (
    PATTERN,
    CountTable,
    build as derive,
    build_table,
    describe_least_counts,
    describe_table,
    entries,
    file as files,
    least_counts,
    merge_tables,
    prune_table,
    write_table,
)
from disambig.errors import UserError
from disambig.text import Web1T, Words

VIEWS = {"words": [Words()], "web1t": [Web1T()], "both": [Words(), Web1T()]}
any_words = st.sampled_from(["in", "the", "house", "it's", "cards", "of", ".", "A", "old", "and"])
any_texts = st.lists(st.lists(any_words, max_size=40).map(" ".join), min_size=1, max_size=8)


def build(path, any_texts, views="words", **options):
    cut = VIEWS[views]
    sources = [{"name": f"{text[:20]}.txt"} for text in any_texts]
    return CountTable.open(build_table(path, any_texts, cut, sources=sources, force=True, **options))


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


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    any_texts.filter(lambda any_texts: all(text.strip() for text in any_texts)),
    st.lists(st.integers(0, 10), max_size=3),
    st.sampled_from(sorted(VIEWS)),
    choices,
    st.dictionaries(st.integers(1, 5), st.integers(1, 3)),
    st.sampled_from([30, 200, 1 << 17]),
    st.sampled_from([50, 1 << 19]),
    st.sampled_from(["exact", "compact", "small"]),
)
def test_merged_tables_equal_counting_at_once(
    tmp_path, any_texts, places, views, options, min_counts, keys_per_part, at_once, record
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "KEYS_PER_PART", keys_per_part)
        patch.setattr(derive, "_AT_ONCE", at_once)
        try:
            parts = [
                build(tmp_path / f"part-{i}", part, views, keys=True, **options)
                for i, part in enumerate(cut_into(any_texts, places))
            ]
        except UserError as problem:
            assert problem.code == "D126" and options["keep_words"]  # a part has none of these words
            return
        final = {"min_counts": min_counts, "record": record, "keys": record == "exact"}
        try:
            build(tmp_path / "once", any_texts, views, **options, **final)
        except UserError as problem:
            assert problem.code == "D125"  # nothing is left
            with pytest.raises(UserError, match="D125"):
                merge_tables(tmp_path / "merged", parts, **final, force=True)
            return
        merge_tables(tmp_path / "merged", parts, **final, force=True)
        once = (tmp_path / "once").read_bytes()
        assert (tmp_path / "merged").read_bytes() == once
        merge_tables(tmp_path / "whole", parts, keys=True, force=True)
        prune_table(tmp_path / "pruned", CountTable.open(tmp_path / "whole"), **final, force=True)
        assert (tmp_path / "pruned").read_bytes() == once


def test_merges_tables_of_different_tokenisations(tmp_path):
    one = ["The house of cards.", "An old house."]
    two = ["The cards of the house."]
    parts = [
        build(tmp_path / "a", one, "words", keys=True, gaps=True),
        build(tmp_path / "b", one, "web1t", keys=True, gaps=True),
        build(tmp_path / "c", two, "both", keys=True, gaps=True),
    ]
    merge_tables(tmp_path / "merged", parts)
    build(tmp_path / "once", one + two, "both", gaps=True)
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "once").read_bytes()
    # only one of the views may have patterns with a gap
    plain = build(tmp_path / "d", one, "web1t", keys=True)
    table = CountTable.open(merge_tables(tmp_path / "mixed", [parts[0], plain]))
    assert (table.tokenisations, table.gaps) == ((Words.name, Web1T.name), (Words.name,))
    assert table.count("the * of") == 1
    with pytest.raises(UserError, match="D117"):
        table.count("the * of", tokenisation=Web1T.name)


def test_pruning_to_fewer_words_and_pruning_again(tmp_path):
    any_texts = ["The house of cards of the house.", "The house of the rising sun."]
    table = build(tmp_path / "a", any_texts, keys=True, gaps=True)
    prune_table(tmp_path / "b", table, orders=3, min_counts={2: 2})
    build(tmp_path / "once", any_texts, gaps=True, orders=3, min_counts={2: 2})
    assert (tmp_path / "b").read_bytes() == (tmp_path / "once").read_bytes()
    half = CountTable.open(prune_table(tmp_path / "c", table, min_counts={2: 2}, keys=True))
    prune_table(tmp_path / "d", half, min_counts={2: 1, 3: 2})
    build(tmp_path / "once", any_texts, gaps=True, min_counts={2: 2, 3: 2})
    assert (tmp_path / "d").read_bytes() == (tmp_path / "once").read_bytes()


def test_stored_keys(tmp_path):
    table = build(tmp_path / "a", ["The house of cards.", "Of the house."], keys=True, gaps=True)
    table.verify()
    keys, counts, kinds = entries(table, 0, table.n_ngrams)
    assert np.array_equal(table.counts(keys), counts)
    assert set(kinds.tolist()) == {1, 2, 3, 4, 5, 3 + PATTERN, 4 + PATTERN, 5 + PATTERN}
    assert any("merged" in line for line in describe_table(table))
    assert not any("merged" in line for line in describe_table(build(tmp_path / "b", ["The house."])))


def test_errors_of_merging(tmp_path):
    text = ["The house of cards of the house."]
    good = build(tmp_path / "a", text, keys=True)
    for options, code in (
        ({}, "D120.*--keys"),
        ({"keys": True, "min_counts": {3: 2}}, "D121.*of 3 words.*2 times"),
        ({"keys": True, "orders": 4}, "D122.*longest"),
        ({"keys": True, "keep_words": ["of"]}, "D122.*kept for"),
        ({"keys": True, "gaps": True}, "D122.*gap"),
    ):
        other = build(tmp_path / "b", text, **options)
        with pytest.raises(UserError, match=code):
            merge_tables(tmp_path / "c", [good, other])
    with pytest.raises(UserError, match="D120"):
        prune_table(tmp_path / "c", build(tmp_path / "b", text))
    with pytest.raises(UserError, match="D111"):
        prune_table(tmp_path / "c", good, orders=6)
    with pytest.raises(UserError, match="D106"):
        merge_tables(tmp_path / "b", [good, good])
    with pytest.raises(UserError, match="D119"):
        build(tmp_path / "c", text, keys=True, record="small")
    assert not (tmp_path / "c").exists()
    merge_tables(tmp_path / "a", [good, good], force=True)  # the output can be one of the inputs
    assert CountTable.open(tmp_path / "a").count("house") == 4


@pytest.fixture
def with_keys(tmp_path):
    build(tmp_path / "good", ["The house of cards of the house. An old house!"], keys=True)
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
def test_rejects_forged_headers_of_keys(with_keys, tmp_path, change):
    with pytest.raises(UserError, match="D105"):
        CountTable.open(rewrite(with_keys, tmp_path / "x", change))


def swap(stored):
    stored[:2] = stored[[1, 0]]


def other_key(stored):
    stored[0] += np.uint64(8)


def other_kind(stored):
    stored |= np.uint64(7)


@pytest.mark.parametrize("change", [swap, other_key, other_kind])
def test_rejects_forged_keys(with_keys, tmp_path, change):
    def at(data, header):
        place, size = (header["sections"]["keys"][what] for what in ("offset", "size"))
        change(np.frombuffer(data, dtype=np.uint64, offset=place, count=size // 8))

    for derive_from in (lambda path, table: merge_tables(path, [table]), prune_table):
        with pytest.raises(UserError, match=r"D105.*keys"):
            derive_from(tmp_path / "y", CountTable.open(rewrite(with_keys, tmp_path / "x", at)))
    assert not (tmp_path / "y").exists()


@pytest.mark.parametrize(
    "info",
    [{"min_counts": {"a": 1}}, {"min_counts": [1]}, {"views": [5]}, {"views": {Words.name: {"texts": "x"}}}],
)
def test_rejects_forged_descriptions(with_keys, tmp_path, info):
    path = rewrite(with_keys, tmp_path / "x", lambda data, header: header["info"].update(info))
    with pytest.raises(UserError, match=r"D105.*header"):
        merge_tables(tmp_path / "y", [CountTable.open(with_keys), CountTable.open(path)])
    assert not (tmp_path / "y").exists()


def test_rejects_sums_beyond_64_bits(tmp_path):
    keys, kinds = np.array([1 << 40], dtype=np.uint64), np.ones(1, dtype=np.uint8)
    counts = np.array([2**63], dtype=np.uint64)
    info = {"min_counts": {"1": 1}}
    options = {"tokenisations": [Words.name], "keys": True, "info": info}
    for name in ("a", "b"):
        write_table(tmp_path / name, [(keys, counts, kinds)], **options)
    tables = [CountTable.open(tmp_path / name) for name in ("a", "b")]
    with pytest.raises(UserError, match="D118"):
        merge_tables(tmp_path / "c", tables)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_progress(tmp_path, monkeypatch):
    monkeypatch.setattr(derive, "_AT_ONCE", 5)
    table = build(tmp_path / "a", ["The house of cards of the house."], keys=True)
    notes = []
    merge_tables(tmp_path / "b", [table, table], progress=lambda *what: notes.append(what))
    assert len(notes) > 2
    assert notes[-1] == ("write", table.n_ngrams, 2 * table.n_ngrams)


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
    build(tmp_path / "tiny", ["The house."], keys=True)
    for name in "abc":
        keys = np.unique(rng.integers(0, 2**64, 2_000_000, dtype=np.uint64))
        chunks = [
            (part, np.full(len(part), 3, dtype=np.uint64), np.full(len(part), 2, dtype=np.uint8))
            for part in np.array_split(keys, 10)
        ]
        info = {"keep_words": None, "min_counts": {"1": 1}, "views": {}}
        write_table(tmp_path / name, chunks, tokenisations=[Words.name], keys=True, info=info)
    command = [sys.executable, "-c", CODE, *(str(tmp_path / name) for name in ("tiny", "a", "b", "c"))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 120 << 20  # the tables take 90 MB, their n-grams as arrays 100 MB
    assert CountTable.open(tmp_path / "tiny.all").n_ngrams > 5_900_000


def test_a_threshold_holds_for_longer_ngrams_too():
    for given_counts, orders, least in (
        (None, 3, [1, 1, 1]),
        ({3: 2}, 5, [1, 1, 2, 2, 2]),
        ({1: 200, 2: 40}, 4, [200, 40, 40, 40]),
        ({3: 2, 5: 1}, 5, [1, 1, 2, 2, 1]),
        ({4: 9}, 3, [1, 1, 1]),
    ):
        assert least_counts(given_counts, orders=orders) == dict(enumerate(least, 1))


def test_thresholds_in_words():
    assert describe_least_counts(least_counts(None, orders=5)) == ""
    for least, described in (
        (least_counts({3: 2}, orders=5), "n-grams of 3 to 5 words seen less than 2 times"),
        ({1: 1, 2: 1, 3: 2, 4: 1, 5: 1}, "n-grams of 3 words seen less than 2 times"),
        (
            {1: 200, 2: 40},
            "n-grams of 1 word seen less than 200 times, n-grams of 2 words seen less than 40 times",
        ),
    ):
        assert describe_least_counts(least) == described


NAME = "disambig.words.v1"


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A table in which no section is empty."""
    path = tmp_path_factory.mktemp("good") / "x.counts"
    rng = np.random.default_rng(0)
    keys = np.unique(rng.integers(0, 2**64, 70_000, dtype=np.uint64))
    counts = np.arange(1, len(keys) + 1, dtype=np.uint64)
    write_table(path, [(keys, counts)], tokenisations=[NAME], info={"licence": "CC0"})
    return path


def sections(path):
    mapped, _, result = files.map_file(path)
    mapped.close()
    return result


def opened_and_verified(path):
    CountTable.open(path).verify()


def test_flipped_bytes_are_named(good, tmp_path):
    data = good.read_bytes()
    result = sections(good)
    assert all(section.size for section in result.values())
    header = max(section.offset + files.padded(section.size) for section in result.values())
    spots = {"preamble": [0, 20, 24, 60, 4095], "header": [header, len(data) - 1]}
    for name, section in result.items():
        spots[name] = [section.offset, section.offset + section.size // 2, section.offset + section.size - 1]
    for name, places in spots.items():
        for place in places:
            changed = bytearray(data)
            changed[place] ^= 0x10
            path = tmp_path / "bad.counts"
            path.write_bytes(changed)
            with pytest.raises(UserError) as error:
                opened_and_verified(path)
            if name != "preamble":
                assert error.value.code == "D105"
                assert error.value.values["section"] == name, place


def test_rejects_truncated_files(good, tmp_path):
    data = good.read_bytes()
    cuts = {1, 10, 48, files.PAGE - 1, files.PAGE, len(data) - 1}
    for section in sections(good).values():
        cuts |= {section.offset, section.offset + section.size, section.offset + section.size // 2}
    for cut in sorted(cuts):
        path = tmp_path / "cut.counts"
        path.write_bytes(data[:cut])
        with pytest.raises(UserError, match=r"D104.*is truncated: "):
            CountTable.open(path)
    (tmp_path / "cut.counts").write_bytes(data + b"more")
    with pytest.raises(UserError, match="D104"):
        CountTable.open(tmp_path / "cut.counts")


def test_files_that_are_not_tables(tmp_path):
    path = tmp_path / "x"
    for content, code in ((b"", "D101"), (b"in the house\t3\n", "D102"), (b"x" * 10_000, "D102")):
        path.write_bytes(content)
        with pytest.raises(UserError, match=code):
            CountTable.open(path)
    with pytest.raises(UserError, match=r"D100.*No such file"):
        CountTable.open(tmp_path / "missing")
    with pytest.raises(UserError, match="D100"):
        CountTable.open(tmp_path)


def test_other_versions_and_hash_constants(good, tmp_path):
    data = bytearray(good.read_bytes())
    struct.pack_into("<I", data, 16, 9)
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(UserError, match=r"D103.*version 9.*reads 1 and 2"):
        CountTable.open(tmp_path / "x")
    for change in (
        lambda data, header: header.update(seed=5),
        lambda data, header: header["hashes"].update(word_seed=2),
    ):
        with pytest.raises(UserError, match="D109"):
            CountTable.open(rewrite(good, tmp_path / "x", change))


def test_hostile_directories_are_refused_and_hostile_records_are_bounded(good, tmp_path):
    at = sections(good)["directory"].offset

    def put(row, column, value):
        return lambda data, header: struct.pack_into("<Q", data, at + 8 * (5 * row + column), value)

    for column in range(5):
        for value in (2**64 - 1, 2**63, 2**40, 2**32) + ((0,) if column in (1, 3) else ()):
            for row in (0, 1):
                path = rewrite(good, tmp_path / "x", put(row, column, value))
                with pytest.raises(UserError, match=r"D105.*directory"):
                    CountTable.open(path)

    def fill(data, header):
        section = header["sections"]["index"]
        data[section["offset"] : section["offset"] + section["size"]] = b"\xff" * section["size"]

    table = CountTable.open(rewrite(good, tmp_path / "y", fill))
    keys = np.random.default_rng(0).integers(0, 2**64, 10_000, dtype=np.uint64) | np.uint64(0xFFFFFFFF)
    for backend in ("numpy", "numba"):
        assert set(table.ranks(keys, backend=backend).tolist()) == {65535}
        assert not table.counts(keys, backend=backend).any()


def with_entries(**changes):
    return lambda data, header: header.update(changes)


def with_section(name, **changes):
    return lambda data, header: header["sections"][name].update(changes)


@pytest.mark.parametrize(
    "change",
    [
        lambda data, header: header.pop("record"),
        lambda data, header: header.pop("tokenisations"),
        lambda data, header: header["sections"].pop("values"),
        lambda data, header: header["sections"].update(values=[1, 2]),
        *(with_entries(tokenisations=names) for names in ([], "disambig.words.v1", [5])),
        *(with_entries(record="other"), with_entries(orders="many"), with_entries(gaps=["other.v1"])),
        *(with_section("values", size=size) for size in (-8, 7, 8 * 65537)),
        *(with_section("values", offset=2**70), with_section("overflow", size=8)),
        *(with_section("index", size=0), with_section("directory", size=0)),
    ],
)
def test_rejects_forged_headers(good, tmp_path, change):
    with pytest.raises(UserError, match="D105"):
        CountTable.open(rewrite(good, tmp_path / "x", change))


def test_a_link_to_a_table_stays_a_link_and_a_pipe_is_not_overwritten(tmp_path):
    (tmp_path / "link").symlink_to("table")
    build_table(tmp_path / "table", ["a b"], Words())
    build_table(tmp_path / "link", ["a b c"], Words(), force=True)
    assert (tmp_path / "link").is_symlink()
    assert CountTable.open(tmp_path / "table").n_ngrams == 15  # with sentence marks
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="D107"):
        build_table(tmp_path / "pipe", ["a b"], Words(), force=True)
    assert (tmp_path / "pipe").is_fifo()


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    place, texts = tmp_path_factory.mktemp("forged") / "table", ["in the garden", "in the house"]
    return build_table(place, texts, Words(), keys=True, gaps=True, licence="none")


def forge(table: Path, header: dict) -> Path:
    path = table.with_name("forged")
    path.write_bytes(with_header(table.read_bytes(), header))
    return path


def places(value, path=()):
    """Yield the path (keys and indices) of every value in a header."""
    if path:
        yield path
    inside = enumerate(value) if isinstance(value, list) else ()
    for key, inner in value.items() if isinstance(value, dict) else inside:
        yield from places(inner, (*path, key))


def with_value(header: dict, path: tuple, value) -> dict:
    header = copy.deepcopy(header)
    at = header
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return header


def check(table: Path, header: dict) -> None:
    try:
        lines = list(describe_table(CountTable.open(forge(table, header))))
    except UserError as error:
        assert error.code in ("D105", "D109")
        assert "\n" not in str(error)
    else:
        assert all(isinstance(line, str) for line in lines)


def test_an_unchanged_header_is_described(table):
    _, header = table_header(table.read_bytes())
    again, first = (list(describe_table(CountTable.open(path))) for path in (forge(table, header), table))
    assert again[1:] == first[1:]


@pytest.mark.parametrize(
    "value",
    [None, 5, -1, 2.5, True, "text", [], [1], ["a"], {}, {"a": 1}, {"1": {}}, [[]], 10**30, "9" * 5000],
)
def test_a_wrong_value_anywhere_is_an_error_or_text(table, value):
    _, header = table_header(table.read_bytes())
    for path in places(header):
        check(table, with_value(header, path, value))
