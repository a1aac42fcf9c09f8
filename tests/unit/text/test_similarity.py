"""How similar words are spelled."""

from __future__ import annotations

import pytest

from disambig.text import common_prefix, edit_distance


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("form", "from", 1), ("to", "too", 1), ("abc", "xyz", 3), ("a", "abcdefgh", 7), ("", "ab", 2)],
)
def test_edit_distance(old, new, expected):
    assert edit_distance(old, new) == edit_distance(new, old) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"), [("form", "from", "f"), ("plan", "planned", "plan"), ("", "a", "")]
)
def test_common_prefix(first, second, expected):
    assert common_prefix(first, second) == common_prefix(second, first) == expected
