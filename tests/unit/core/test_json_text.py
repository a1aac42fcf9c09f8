"""JSON has no NaN and no infinities: readers of other languages stop at them."""

from __future__ import annotations

import json

from disambig.files import json_text, replace_nonfinite

ODD = {"value": float("nan"), "interval": (1.5, float("inf")), "rows": [{"p": float("-inf")}], "n": 3}


def test_numbers_that_are_none_are_null():
    read = json.loads(json_text(ODD), parse_constant=lambda name: f"not JSON: {name}")
    assert read == {"value": None, "interval": [1.5, None], "rows": [{"p": None}], "n": 3}


def test_all_else_stays_as_it_is():
    plain = {"a": [True, None, "x", 0.5], "b": {}}
    assert replace_nonfinite(plain) == plain
    assert json_text({"a": "\u00e4"}, indent=None, ensure_ascii=False) == '{"a": "\u00e4"}'
