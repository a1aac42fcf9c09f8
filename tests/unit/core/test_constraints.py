"""Constraints of settings, compared with plain conditions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.settings import (
    ABOVE_ZERO,
    COUNT,
    DECODER,
    NON_NEGATIVE,
    NON_NEGATIVE_COUNT,
    SVM_C,
    choice,
    validate_settings,
)

anything = st.one_of(
    st.integers(-3, 3),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=2),
    st.sampled_from([np.int32(2), np.float32(0.5), np.bool_(True), Fraction(1, 3), 10**400, -(10**400), [1]]),
)


def is_real(value):
    return isinstance(value, int | float | np.integer | np.floating | Fraction) and not isinstance(
        value, bool
    )


def is_integer(value):
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


@given(anything)
def test_against_plain_conditions(value):
    fits = is_real(value) and not (isinstance(value, int) and abs(value) > 10**308)
    assert ABOVE_ZERO.accepts(value) == (fits and 0 < value < math.inf)
    assert NON_NEGATIVE.accepts(value) == (fits and 0 <= value < math.inf)
    assert SVM_C.accepts(value) == (fits and 0 < value <= 1e12)
    assert COUNT.accepts(value) == (is_integer(value) and value >= 1)
    assert NON_NEGATIVE_COUNT.accepts(value) == (is_integer(value) and value >= 0)
    assert COUNT.or_none.accepts(value) == (value is None or COUNT.accepts(value))


@dataclass(frozen=True)
class Learner:
    passes: object = 1
    alpha: object = 1.0
    decoder: object = None

    def __post_init__(self):
        validate_settings(self, passes=COUNT, alpha=ABOVE_ZERO.or_none, decoder=DECODER)


def test_the_first_invalid_setting_is_named():
    Learner(alpha=None)
    with pytest.raises(UserError, match=r"\[D452\] Learner\.passes is 0: "):
        Learner(passes=0, alpha=-1)
    with pytest.raises(UserError, match=r"\[D760\] Learner\.alpha is -1: "):
        Learner(alpha=-1)
    with pytest.raises(UserError, match=r"\[D711\] Learner\.decoder is a str"):
        Learner(decoder="chain")


@given(st.one_of(anything, st.sampled_from(["row", "rows", "none"])))
def test_a_choice_takes_its_names_alone(value):
    assert choice("D778", ("row", "none")).accepts(value) == (
        value in ("row", "none") if isinstance(value, str) else False
    )


def test_the_message_of_a_choice_names_the_nearest_first():
    with pytest.raises(UserError, match=r"\[D778\].*row.*none"):
        choice("D778", ("none", "row")).check("kernel", "rows")
