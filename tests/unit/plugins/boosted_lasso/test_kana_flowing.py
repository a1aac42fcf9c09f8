"""What is written for lines of kana."""

from __future__ import annotations

import json

from disambig_boosted_lasso.kana import Conversion, format_lines
from kana_words import converter

from disambig.formats import read_nbest


def test_what_is_shown(tmp_path):
    conversion = Conversion(converter())
    block = [("a.txt:1", "ねこ。"), ("a.txt:2", ""), ("a.txt:3", "はし")]
    assert format_lines(conversion, block, 0, None, jsonl=False) == "猫。\n\n橋\n"
    rows = [line.split("\t") for line in format_lines(conversion, block, 7, 2, jsonl=False).splitlines()]
    assert [row[0] for row in rows] == ["8", "8", "9", "10", "10"]
    assert [row[2] for row in rows][-2:] == ["橋", "箸"]
    assert float(rows[0][1]) > float(rows[1][1])
    path = tmp_path / "lists.jsonl"
    path.write_text(format_lines(conversion, block, 0, 2, jsonl=True), encoding="utf8")
    first = json.loads(path.read_text(encoding="utf8").splitlines()[0])
    assert first["id"] == "a.txt:1" and first["kana"] == "ねこ。"
    assert first["candidates"][0]["words"] == ["猫", "。"]
    assert [len(item.source["candidates"]) for item in read_nbest([str(path)])] == [2, 1, 2]
