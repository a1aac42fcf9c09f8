"""Smoothed context probabilities of lists of places: a list that is a group's has the group's numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_ways import OwnLists

from disambig.counts import CountTable, build_table
from disambig.data import CandidateLists, DenseLists, Group
from disambig.features import BIAS, ContextProbabilities, transform_checked
from disambig.tasks import OwnCandidates
from disambig.testing import check_extractor
from disambig.text import Words

TEXTS = [
    "We sat in town.",
    "We sat in town today.",
    "We sat on top.",
    "They ran in to town.",
    "They sat in town. They sat.",
]
ANY = Group("any", ())


@pytest.fixture(scope="module")
def extractor(tmp_path_factory):
    path = tmp_path_factory.mktemp("counts") / "few.counts"
    build_table(path, TEXTS, Words())
    return ContextProbabilities(counts=CountTable.open(path))


def listed(instances, lists):
    return replace(instances, own=CandidateLists.from_texts(lists))


@given(
    st.lists(st.sampled_from("we they sat ran in on to town top today .".split()), max_size=25),
    st.sampled_from([("in", "on"), ("in", "on", ""), ("", "in"), ("in", "in to", ""), ("unheard", "")]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_list_that_is_the_groups_has_the_groups_numbers(extractor, monkeypatch, words, candidates):
    view = Words()([" ".join(words)])
    task = OwnCandidates(candidates=candidates)
    found, (group,) = task.instances(view), task.groups
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        of_group = transform_checked(extractor, view, found, group)
        of_lists = transform_checked(extractor, view, listed(found, [group.candidates] * len(found)), ANY)
        assert isinstance(of_lists.batch, DenseLists)
        expected = of_group.batch.values.reshape(-1, BIAS + 1)
        assert of_lists.batch.values == pytest.approx(expected, rel=1e-6)
        assert np.array_equal(of_lists.batch.cost, of_group.batch.costs.ravel())
        assert np.array_equal(of_lists.found, of_group.found)
        assert np.array_equal(of_lists.asked, of_group.asked)


lists = st.lists(
    st.lists(
        st.sampled_from(["in", "on", "in to", "to", "", "on top of it all", "unheard"]),
        min_size=1,
        unique=True,
    ),
    min_size=1,
    max_size=8,
)


@given(lists)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_list_does_not_depend_on_the_others(extractor, monkeypatch, lists):
    """With the candidate of no word or without it, beside longer lists or alone, by either engine."""
    view = Words()(TEXTS)
    found = OwnCandidates(candidates=["in", "on", ""]).instances(view).without_labels()
    found = found.take(np.arange(min(len(lists), len(found))))
    given_lists = lists[: len(found)]
    values = []
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        values.append(transform_checked(extractor, view, listed(found, given_lists), ANY).batch)
    assert np.array_equal(values[0].values, values[1].values)
    for i, own in enumerate(given_lists):
        alone = transform_checked(extractor, view, listed(found.take(np.array([i])), [own]), ANY).batch.values
        assert np.array_equal(alone, values[0].values[slice(*values[0].offsets[i : i + 2])])
        assert np.exp(alone[:, :BIAS]).sum(axis=0) == pytest.approx(1.0, abs=1e-4)


def test_without_instances_there_are_no_rows_of_lists(extractor):
    for texts in ([], [""], ["Nobody."]):
        view = Words()(texts)
        none = OwnCandidates(candidates=["in", "on"]).instances(view)
        assert transform_checked(extractor, view, listed(none, []), ANY).batch.values.shape == (0, BIAS + 1)


def test_evidence_is_of_the_contexts_that_were_used(extractor):
    view = Words()(["They sat in town."])
    found = OwnCandidates(candidates=["in", "on"]).instances(view)
    one = listed(found, [("in", "")])
    shown = extractor.evidence(view, one, ANY)
    group = Group("in or none", ("in", ""))
    assert shown == extractor.evidence(view, found, group)
    assert shown["in", ". _"].text == "sat in" and shown["in", ". _"].count > 0


@pytest.mark.parametrize("candidates", [("in", "on", ""), ("in", "on")])
def test_the_suite_for_lists_of_ones_own(extractor, candidates):
    for check in check_extractor(extractor, OwnLists(candidates), TEXTS):
        check()
