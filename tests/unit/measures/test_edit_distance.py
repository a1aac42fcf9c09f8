"""Levenshtein's distance: by hand, the kernel against the table cell by cell, and what a distance must be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.metrics import edit_distance_reference, edit_distances, text_sizes

few = st.text("abc", max_size=12)
any_text = st.text(max_size=90)
long = st.text("ab", min_size=50, max_size=300)


@pytest.fixture(params=["numpy", "numba"], autouse=True)
def engine(request, monkeypatch):
    monkeypatch.setenv("DISAMBIG_ENGINE", request.param)


def test_by_hand():
    first = ["kitten", "", "abc", "flaw", "ça va", "same"]
    second = ["sitting", "abc", "", "lawn", "ca va", "same"]
    assert edit_distances(first, second).tolist() == [3, 3, 3, 2, 1, 0]
    assert edit_distances(
        ["the cat sat", "a b", ""], ["the cats sat down", "a  b", "a"], "words"
    ).tolist() == [
        2,
        0,
        1,
    ]
    assert text_sizes(["a bc", ""], "words").tolist() == [2, 0]
    assert text_sizes(["a bc", ""], "characters").tolist() == [4, 0]
    assert edit_distances([], []).tolist() == []


def test_texts_must_stand_beside_each_other():
    with pytest.raises(ValueError, match="1 texts and 2 texts"):
        edit_distances(["a"], ["a", "b"])


def test_characters_outside_the_basic_plane_and_half_of_a_pair_are_one_each():
    assert edit_distances(["a\U0001f600b", "x\ud800"], ["ab", "x"]).tolist() == [1, 1]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 127, 128, 129, 200])
def test_at_the_edges_of_blocks(n):
    first = ["a" * n, "a" * n, "ab" * n, "x" + "a" * n]
    second = ["b" * n, "a" * (n - 1), "ba" * n, "a" * n + "y"]
    expected = [edit_distance_reference(a, b) for a, b in zip(first, second, strict=True)]
    assert expected[:2] == [n, 1]
    assert edit_distances(first, second).tolist() == expected


@given(st.lists(st.tuples(few | any_text | long, few | any_text | long), max_size=5))
def test_as_the_table_says(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    assert edit_distances(first, second).tolist() == [edit_distance_reference(a, b) for a, b in pairs]
    words = [edit_distance_reference(a.split(), b.split()) for a, b in pairs]
    assert edit_distances(first, second, "words").tolist() == words


@given(few, few, few)
def test_is_a_distance(a, b, c):
    ab, ba, bc, ac, aa = edit_distances([a, b, b, a, a], [b, a, c, c, a]).tolist()
    assert ab == ba
    assert aa == 0
    assert (ab == 0) == (a == b)
    assert ac <= ab + bc
    assert abs(len(a) - len(b)) <= ab <= max(len(a), len(b))


@given(long, long, any_text)
def test_what_both_have_in_front_and_behind_costs_nothing(a, b, more):
    assert (
        edit_distances([more + a, a + more], [more + b, b + more]).tolist()
        == edit_distances([a, a], [b, b]).tolist()
    )
