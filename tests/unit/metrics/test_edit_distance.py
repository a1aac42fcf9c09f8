"""Levenshtein distance: known answers, the compiled function against the table, properties of a metric."""

from __future__ import annotations

import pytest
from examples import fewer_examples
from hypothesis import given, strategies as st

from disambig.metrics import edit_distance_reference, edit_distances, text_sizes

short_text = st.text("abc", max_size=12)
any_text = st.text(max_size=90)
long_text = st.text("ab", min_size=50, max_size=300)


@pytest.fixture(params=["numpy", "numba"], autouse=True)
def backend(request, monkeypatch):
    monkeypatch.setenv("DISAMBIG_ENGINE", request.param)


def test_known_answers():
    first = ["kitten", "", "abc", "flaw", "ça va", "same"]
    second = ["sitting", "abc", "", "lawn", "ca va", "same"]
    assert edit_distances(first, second).tolist() == [3, 3, 3, 2, 1, 0]
    first, second = ["the cat sat", "a b", ""], ["the cats sat down", "a  b", "a"]
    assert edit_distances(first, second, "words").tolist() == [2, 0, 1]
    assert text_sizes(["a bc", ""], "words").tolist() == [2, 0]
    assert text_sizes(["a bc", ""], "characters").tolist() == [4, 0]
    assert edit_distances([], []).tolist() == []


def test_rejects_lists_of_unequal_length():
    with pytest.raises(ValueError, match="1 texts and 2 texts"):
        edit_distances(["a"], ["a", "b"])


def test_astral_characters_and_lone_surrogates_count_as_one():
    assert edit_distances(["a\U0001f600b", "x\ud800"], ["ab", "x"]).tolist() == [1, 1]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 127, 128, 129, 200])
def test_lengths_at_the_edges_of_blocks(n):
    first = ["a" * n, "a" * n, "ab" * n, "x" + "a" * n]
    second = ["b" * n, "a" * (n - 1), "ba" * n, "a" * n + "y"]
    expected = [edit_distance_reference(a, b) for a, b in zip(first, second, strict=True)]
    assert expected[:2] == [n, 1]
    assert edit_distances(first, second).tolist() == expected


@fewer_examples
@given(st.lists(st.tuples(short_text | any_text | long_text, short_text | any_text | long_text), max_size=5))
def test_agrees_with_the_reference(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    assert edit_distances(first, second).tolist() == [edit_distance_reference(a, b) for a, b in pairs]
    words = [edit_distance_reference(a.split(), b.split()) for a, b in pairs]
    assert edit_distances(first, second, "words").tolist() == words


@given(short_text, short_text, short_text)
def test_is_a_metric(a, b, c):
    ab, ba, bc, ac, aa = edit_distances([a, b, b, a, a], [b, a, c, c, a]).tolist()
    assert ab == ba
    assert aa == 0
    assert (ab == 0) == (a == b)
    assert ac <= ab + bc
    assert abs(len(a) - len(b)) <= ab <= max(len(a), len(b))
