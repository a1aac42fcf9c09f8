"""Shares of flags as users write them."""

from __future__ import annotations

import pytest

from disambig.data import EXAMPLES, parse_share
from disambig.errors import UserError


@pytest.mark.parametrize("said", [*EXAMPLES, "8 out of 10", 0.8])
def test_one_share_in_many_words(said):
    assert parse_share(said) == 0.8


@pytest.mark.parametrize("said", ["0", "5/4", "0 in 5", "1/0", "nan", "101 %", "many", 0, 1.5, True, None])
def test_what_is_no_share_is_told_its_bounds(said):
    with pytest.raises(UserError) as caught:
        parse_share(said)
    assert caught.value.code == "D860"
    assert "above 0 and at most 1" in str(caught.value)
