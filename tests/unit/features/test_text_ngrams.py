"""N-grams of candidates are those of a plain count, whether lists say their words or not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.data import CandidateLists, CandidateWords, Group
from disambig.errors import UserError
from disambig.features import TextNgrams, known_ngrams_from_state, name_keys, transform_checked
from disambig.features import candidate_ngrams as counting
from disambig.formats import list_instances

GROUP = Group("lists", ())
WORDS = st.lists(st.sampled_from(["a", "b", "ab", "猫", "<s>", "</s>", "<", ">"]), max_size=6)
LISTS = st.lists(st.lists(WORDS, min_size=1, max_size=4), max_size=5)
UNITS = ["words", "characters"]


def counted(text, unit, order):
    """The n-grams of a text, one after the other: what arrays have to give as well."""
    units = text.split() if unit == "words" else list(text)
    found = Counter(units)
    padded = ["<s>", *units, "</s>"]
    for n in range(2, order + 1):
        for start in range(len(padded) - n + 1):
            found[(" " if unit == "words" else "").join(padded[start : start + n])] += 1
    return found


def expected(lists, unit, order, least):
    """The names that are kept."""
    seen = Counter()
    for candidates in lists:
        texts = [counted(text, unit, order) for text in candidates]
        seen.update(each for each in set().union(*texts) if len({text[each] for text in texts}) > 1)
    return sorted(each for each, n in seen.items() if n >= least)


def own_of(lists, said=False):
    own = CandidateLists.from_texts([[" ".join(words) for words in candidates] for candidates in lists])
    if said:
        own = replace(
            own, words=CandidateWords.from_words(words for candidates in lists for words in candidates)
        )
    return own


def shown(features):
    """Each row as a dict of its names and counts."""
    rows, names = features.batch.rows, list(features.batch.columns.names)
    return [
        {names[c]: v for c, v in zip(row.indices, row.data, strict=True)}
        for row in (rows[[i]] for i in range(rows.shape[0]))
    ]


@given(LISTS, LISTS, st.sampled_from(UNITS), st.integers(1, 5), st.integers(1, 2), st.booleans())
def test_the_counts_are_those_of_a_plain_count(learned, tried, unit, order, least, said):
    """Words that lists say, in vocabularies of their own, count as words that are cut from the text."""
    own, other = own_of(learned, said), own_of(tried, said)
    fitted = TextNgrams(unit=unit, order=order, least=least).fit(None, list_instances(own), ())
    texts = [[" ".join(words) for words in candidates] for candidates in learned]
    names = expected(texts, unit, order, least)
    assert list(fitted.known.names) == names
    features = transform_checked(fitted, None, list_instances(other), GROUP)
    plain = [counted(text, unit, order) for text in other.texts]
    assert shown(features) == [{name: n for name, n in each.items() if name in names} for each in plain]
    assert features.asked.tolist() == [len(each) for each in plain]
    assert features.found.tolist() == [sum(name in names for name in each) for each in plain]
    assert features.batch.columns.group_names == (f"n-grams of {unit}",)
    again = TextNgrams(unit=unit, order=order).from_state(fitted.state())
    assert shown(transform_checked(again, None, list_instances(other), GROUP)) == shown(features)


@given(LISTS, st.sampled_from(UNITS))
def test_blocks_of_one_list_each_make_no_difference(lists, unit):
    instances, extractor = list_instances(own_of(lists)), TextNgrams(unit=unit, order=3, least=2)
    whole = extractor.fit(None, instances, ())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "BLOCK", 0)
        parted = extractor.fit(None, instances, ())
        rows = transform_checked(parted, None, instances, GROUP)
    assert list(parted.known.names) == list(whole.known.names)
    assert shown(rows) == shown(transform_checked(whole, None, instances, GROUP))


def test_words_need_not_be_those_between_blanks():
    """Japanese has none; and a word may hold a blank, which its name shows as an open box."""
    own = CandidateLists.from_texts([["猫がいる", "New York"]])
    own = replace(own, words=CandidateWords.from_words([["猫", "が", "いる"], ["New York"]]))
    found = TextNgrams(least=1).fit(None, list_instances(own), ())
    names = list(found.known.names)
    assert "猫 が" in names and "New␣York" in names and "New␣York </s>" in names
    two = replace(own, words=CandidateWords.from_words([["猫"], ["New", "York"]]))
    assert shown(transform_checked(found, None, list_instances(two), GROUP)) == [
        {"<s> 猫": 1.0, "猫": 1.0},
        {},
    ]


@pytest.mark.parametrize("unit", UNITS)
def test_a_state_without_keys_is_read(unit):
    """Models of 0.1.0 have the names alone."""
    own = own_of([[["a", "b"], ["b", "a", "a"]], [["a"], ["b"]]])
    fitted = TextNgrams(unit=unit, order=4, least=1).fit(None, list_instances(own), ())
    state = {name: array for name, array in fitted.state().items() if name != "keys"}
    assert set(state) == {"n", "letters", "ends"}
    again = TextNgrams(unit=unit, order=4).from_state(state)
    assert np.array_equal(again.known.keys, fitted.known.keys)
    assert np.array_equal(again.known.columns, fitted.known.columns)


def test_states_that_do_not_fit_are_refused():
    own = own_of([[["a", "b"], ["b", "a", "a"]]])
    state = TextNgrams(least=1).fit(None, list_instances(own), ()).state()
    for name, array in (
        ("keys", state["keys"][:-1]),
        ("keys", state["keys"].astype(float)),
        ("n", np.array([3])),
    ):
        with pytest.raises(ValueError, match=r"n-grams|names of columns"):
            known_ngrams_from_state({**state, name: array}, "words")
    with pytest.raises(ValueError, match="not fitted"):
        transform_checked(TextNgrams(), None, list_instances(own), GROUP)
    assert TextNgrams().from_state({}).state() == {}


def test_keys_tell_the_order_of_units_and_where_they_end():
    names = ["a b", "b a", "a", "b", "ab", "a b a", "<s> a", "a </s>", ""]
    assert len(set(name_keys(names, "words").tolist())) == len(names)
    assert name_keys(["a b"], "words") != name_keys(["a b"], "characters")


@pytest.mark.parametrize("settings", [{"unit": "letters"}, {"order": 0}, {"order": 6}, {"least": 0}])
def test_settings_without_sense(settings):
    with pytest.raises(UserError, match="D452"):
        TextNgrams(**settings)
