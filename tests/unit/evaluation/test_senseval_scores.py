"""Senseval's scorer: credit by hand, the known scores of the most frequent sense."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.evaluation import credit, most_frequent, score
from disambig.formats import SenseInstance, read_key, read_sensemap, read_senseval

KEY = {"1": ("a",), "2": ("a", "b"), "3": ("P",), "4": ("c", "U")}


def test_any_right_sense_has_full_credit_and_what_is_not_answered_lowers_recall():
    found = score({"1": "a", "2": "b", "3": "a", "99": "a"}, KEY)
    assert (found.right, found.tried, found.n) == (2.0, 3.0, 4)
    assert (found.precision, found.recall, found.attempted) == (2 / 3, 2 / 4, 3 / 4)


def test_several_senses_share_the_credit_and_weights_say_how():
    assert credit({"1": ["a", "b"], "2": ["a", "b"], "4": ()}, KEY) == {"1": 0.5, "2": 1.0}
    assert credit({"1": {"a": 0.75, "b": 0.25}}, KEY) == {"1": 0.75}
    half = score({"1": {"a": 0.5}}, KEY)
    assert (half.precision, half.recall, half.attempted) == (1.0, 1 / 8, 1 / 8)
    assert credit({"1": ["a", "b"]}, KEY, any_of=True) == {"1": 1.0}
    assert credit({"1": ["x", "b"]}, KEY, any_of=True) == {"1": 0.0}


def test_a_sense_map_makes_senses_of_a_group_equal():
    groups = {"a": frozenset("a"), "b": frozenset("ab"), "c": frozenset("ca")}
    assert credit({"1": "b", "2": "x", "4": "b"}, KEY) == {"1": 0.0, "2": 0.0, "4": 0.0}
    assert credit({"1": "b", "2": "x", "4": "b"}, KEY, groups) == {"1": 1.0, "2": 0.0, "4": 1.0}


def test_nothing_answered_and_no_key():
    assert score({}, KEY).precision == score({}, {}).recall == 0.0


@given(st.dictionaries(st.sampled_from("1234"), st.lists(st.sampled_from("abcPU"), max_size=3)))
def test_coarse_is_no_less_than_fine_and_all_lie_between_0_and_1(answers):
    groups = {"a": frozenset("a"), "b": frozenset("ab")}
    fine, coarse = score(answers, KEY), score(answers, KEY, groups)
    assert 0 <= fine.recall <= coarse.recall <= 1 and fine.recall <= fine.attempted <= 1
    assert score(answers, KEY, any_of=True).recall >= fine.recall


def test_the_most_frequent_sense_by_each_way_of_counting():
    senses = [("P", "a"), ("a", "b"), ("b",), ("b", "P"), ("P",), ("P",)]
    given_ = [SenseInstance(str(i), "w.n", "w", 0, 1, each) for i, each in enumerate(senses)]
    given_.append(SenseInstance("9", "only.n", "w", 0, 1, ("U",)))
    assert most_frequent(given_) == {"w.n": "a", "only.n": "U"}
    assert most_frequent(given_, every=True) == {"w.n": "b", "only.n": "U"}
    assert most_frequent(given_, every=True, unassigned=True)["w.n"] == "P"


@pytest.mark.data
def test_senseval_2_most_frequent_sense():
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    folder = f"{data}/labelled/senseval2"
    train = read_senseval(f"{folder}/eng-lex-sample.training.xml.xz")
    test = read_senseval(f"{folder}/eng-lex-sample.evaluation.xml.xz")
    key, groups = read_key(f"{folder}/key.sorted.xz"), read_sensemap(f"{folder}/sensemap.xz")
    assert set(key) == {each.id for each in test}
    assert len(groups) == 814 and not {"P", "U"} & set(groups)

    def found(**how):
        senses = most_frequent(train, **how)
        answers = {each.id: senses[each.word] for each in test}
        fine = score(answers, key)
        assert fine.attempted == 1.0 and fine.precision == fine.recall
        return round(fine.recall, 3), round(score(answers, key, groups).recall, 3)

    assert found() == (0.476, 0.552)
    assert found(every=True) == (0.482, 0.558)
    assert found(every=True, unassigned=True) == (0.483, 0.557)
