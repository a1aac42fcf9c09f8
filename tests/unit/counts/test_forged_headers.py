"""Tables whose headers say what none of ours says: told of as far as they can be, or refused in one line."""

from __future__ import annotations

import copy
import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.counts import CountTable, build_table, describe_table
from disambig.counts import file as files
from disambig.errors import UserError
from disambig.text import Words

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("forged") / "table"
    return build_table(
        place, ["in the garden", "in the house"], Words(), keys=True, gaps=True, licence="none"
    )


def forged(table: Path, header: dict) -> Path:
    """Write the table again under another header, signed as it should be."""
    data = table.read_bytes()
    at = struct.unpack_from("<16sIIQQQ32s", data)[4]
    said = json.dumps(header).encode()
    path = table.with_name("forged")
    path.write_bytes(files._preamble(at, said) + data[files.PAGE : at] + said)
    return path


def header_of(table: Path) -> dict:
    data = table.read_bytes()
    return json.loads(data[struct.unpack_from("<16sIIQQQ32s", data)[4] :])


def places(value, path=()):
    """Yield the path of every value in a header."""
    if path:
        yield path
    for key, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from places(inner, (*path, key))


def changed(header: dict, path: tuple, value) -> dict:
    header = copy.deepcopy(header)
    at = header
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return header


def check(table: Path, header: dict) -> None:
    try:
        lines = list(describe_table(CountTable.open(forged(table, header))))
    except UserError as error:
        assert error.code in ("D105", "D109")
        assert "\n" not in str(error)
    else:
        assert all(isinstance(line, str) for line in lines)


def test_an_honest_header_is_shown(table):
    assert (
        list(describe_table(CountTable.open(forged(table, header_of(table)))))[1:]
        == list(describe_table(CountTable.open(table)))[1:]
    )


@pytest.mark.parametrize(
    "value",
    [None, 5, -1, 2.5, True, "text", [], [1], ["a"], {}, {"a": 1}, {"1": {}}, [[]], 10**30, "9" * 5000],
)
def test_any_value_anywhere_is_a_message(table, value):
    header = header_of(table)
    for path in places(header):
        check(table, changed(header, path, value))


@given(data=st.data(), value=ANY)
def test_nothing_that_a_header_says_raises(table, data, value):
    header = header_of(table)
    check(table, changed(header, data.draw(st.sampled_from(list(places(header)))), value))
