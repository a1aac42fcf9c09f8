"""From a name to an open table."""

from __future__ import annotations

from disambig.counts import build_table, open_table
from disambig.text import Words


def test_a_table_is_opened_once_and_anew_when_it_was_replaced(tmp_path):
    path = tmp_path / "a.counts"
    build_table(path, ["in the house"], Words())
    first = open_table(path)
    assert open_table(path) is first
    build_table(path, ["in the garden, in the house"], Words(), force=True)
    assert open_table(path).count("in the") == 2
    assert first.count("in the") == 1
