"""Damaged, truncated and forged tables: one clear error for each, and no read outside the file."""

from __future__ import annotations

import copy
import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from counts_by_hand import rewrite
from hypothesis import given, strategies as st

from disambig.counts import CountTable, build_table, describe_table, file as files, write_table
from disambig.errors import UserError
from disambig.files import TempFiles
from disambig.text import Words

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


def with_header(**changes):
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
        *(with_header(tokenisations=names) for names in ([], "disambig.words.v1", [5])),
        *(with_header(record="other"), with_header(orders="many"), with_header(gaps=["other.v1"])),
        *(with_section("values", size=size) for size in (-8, 7, 8 * 65537)),
        *(with_section("values", offset=2**70), with_section("overflow", size=8)),
        *(with_section("index", size=0), with_section("directory", size=0)),
    ],
)
def test_rejects_forged_headers(good, tmp_path, change):
    with pytest.raises(UserError, match="D105"):
        CountTable.open(rewrite(good, tmp_path / "x", change))


def test_leftovers_of_killed_builds_are_removed(tmp_path):
    target = tmp_path / "table"
    (tmp_path / f".tmp-{TempFiles.for_target(target).mark}-999999999-00000000").write_bytes(b"half")
    build_table(target, ["a b c"], Words())
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


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


ANY_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    place, texts = tmp_path_factory.mktemp("forged") / "table", ["in the garden", "in the house"]
    return build_table(place, texts, Words(), keys=True, gaps=True, licence="none")


def forge(table: Path, header: dict) -> Path:
    """Write the table with another header and valid checksums."""
    data = table.read_bytes()
    at = struct.unpack_from("<16sIIQQQ32s", data)[4]
    output = json.dumps(header).encode()
    path = table.with_name("forged")
    path.write_bytes(files._preamble(at, output) + data[files.PAGE : at] + output)
    return path


def header_of(table: Path) -> dict:
    data = table.read_bytes()
    return json.loads(data[struct.unpack_from("<16sIIQQQ32s", data)[4] :])


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
    again, first = (
        list(describe_table(CountTable.open(path))) for path in (forge(table, header_of(table)), table)
    )
    assert again[1:] == first[1:]


@pytest.mark.parametrize(
    "value",
    [None, 5, -1, 2.5, True, "text", [], [1], ["a"], {}, {"a": 1}, {"1": {}}, [[]], 10**30, "9" * 5000],
)
def test_a_wrong_value_anywhere_is_an_error_or_text(table, value):
    header = header_of(table)
    for path in places(header):
        check(table, with_value(header, path, value))


@given(data=st.data(), value=ANY_VALUE)
def test_any_value_in_a_header_is_an_error_or_text(table, data, value):
    header = header_of(table)
    check(table, with_value(header, data.draw(st.sampled_from(list(places(header)))), value))
