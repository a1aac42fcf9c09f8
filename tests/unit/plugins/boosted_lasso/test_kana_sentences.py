"""Sentences of running text, parts of it for cross-fitting, and what adapting refuses."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_boosted_lasso.kana import (
    Converter,
    adaptation as adapting,
    cross_fit_lists,
    fold_blocks,
    split_sentences,
)
from kana_words import segmented

from disambig.errors import UserError


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["猫がいる。犬もいる！ほんと？"], ["猫がいる。", "犬もいる！", "ほんと？"]),
        (["「いる。」と言った"], ["「いる。」", "と言った"]),
        (["", "　", "---", "12,000", "。。"], []),
        (["　猫。\t", "ｶﾀｶﾅ｡次"], ["猫。", "カタカナ。", "次"]),
        (["え!?うん"], ["え!?", "うん"]),
        (["あ" * 300, "い" * 256], ["い" * 256]),
    ],
)
def test_sentences(lines, wanted):
    assert list(split_sentences(lines)) == wanted


def test_a_converter_never_converts_what_it_has_learned_from():
    text = segmented()
    folds = np.arange(len(text)) % 3
    asked = np.arange(len(text)) != 4
    outside, told = [], []

    def learn(rows):
        outside.append(rows)
        return Converter.learn(text.take(rows))

    lists, rows = cross_fit_lists(text, folds, learn, asked=asked, k=5, tell=lambda *a: told.append(a))
    assert sorted(rows.tolist()) == np.flatnonzero(asked).tolist()
    for fold, learned in enumerate(outside):
        assert learned.tolist() == np.flatnonzero(folds != fold).tolist()
    assert folds[rows].tolist() == sorted(folds[rows].tolist())
    written = text.column(0)
    for at, row in enumerate(rows.tolist()):
        costs = lists.costs[lists.offsets[at] : lists.offsets[at + 1]]
        right = [text == written[row] for text in lists.instance_candidates(at)]
        assert [cost == 0 for cost in costs] == right
    assert [stage[1:] for stage in told] == [(0, 3), (1, 3), (2, 3)]
    assert fold_blocks(5, 2).tolist() == [0, 0, 1, 1, 2]


def test_some_sentences():
    text = segmented()
    some = text.take(np.array([3, 0, 3]))
    assert some.column(0) == [text.column(0)[row] for row in (3, 0, 3)]
    assert some.sentence(1) == text.sentence(0)
    assert len(text.take(np.array([], int))) == 0


@pytest.mark.parametrize("weight", [0.0, 1.0, -1.0, float("nan")])
def test_weights_that_are_none(weight):
    with pytest.raises(UserError, match="D695"):
        adapting.check_texts(["猫。"] * 50, weight)


def test_too_little_text():
    with pytest.raises(UserError, match=r"D694.* 3 Japanese sentences .*at least 20"):
        adapting.check_texts(["猫。"] * 3, None)
    adapting.check_texts(["猫。"] * adapting.LEAST, 0.5)
