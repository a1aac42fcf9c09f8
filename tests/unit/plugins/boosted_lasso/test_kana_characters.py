"""Kana as an input method gets it: iteration marks, in runs too."""

from __future__ import annotations

import re

import pytest
from disambig_boosted_lasso.kana import characters, normalise_kana
from hypothesis import given, strategies as st

MARK = re.compile("([ぁ-ゖ])([ゝゞ])")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("いすゞ", "いすず"),
        ("こゝろ", "こころ"),
        ("がゝゞ", "がかが"),
        ("アヽヾ", "あああ"),
        ("ゝかゝ", "ゝかか"),
        ("漢ゝ", "漢ゝ"),
        ("ゔゝゞ", "ゔうゔ"),
    ],
)
def test_marks_repeat_the_kana_before_them(text, wanted):
    assert normalise_kana(text) == wanted


@given(st.text(st.sampled_from("かがんゔぁーゝゞ漢"), max_size=20))
def test_a_run_of_marks_is_read_mark_by_mark(text):
    wanted = text
    while (found := MARK.search(wanted)) is not None:
        wanted = wanted[: found.start()] + normalise_kana(found[0]) + wanted[found.end() :]
    assert normalise_kana(text) == wanted


def test_a_run_of_marks_is_one_replacement(monkeypatch):
    repeat, calls = characters._repeat, []
    monkeypatch.setattr(characters, "_repeat", lambda found: calls.append(0) or repeat(found))
    assert normalise_kana("か" + "ゝ" * 500 + "は" + "ゞゝ" * 250) == "か" * 501 + "は" + "ばは" * 250
    assert len(calls) == 2
