"""Smoothed context probabilities against the formula, for groups and for per-instance candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from feature_places import instances_at
from hypothesis import HealthCheck, given, settings, strategies as st

from disambig.counts import CountTable, build_table
from disambig.data import CandidateFinder, CandidateLists, DenseLists, Group, GroupedInstances
from disambig.features import (
    BIAS,
    CONTEXTS,
    DISCOUNT,
    ONE_SIDED,
    ContextProbabilities,
    NgramCounts,
    transform_checked,
)
from disambig.tasks import OwnCandidates
from disambig.text import Words

GROUP = Group("place", ("in", "on", "in to"))
TEXTS = [
    "We sat in town.",
    "We sat in town today.",
    "We sat on top.",
    "They ran in to town.",
    "They sat in town. They sat.",
]
ANY = Group("any", ())
WORDS = st.lists(st.sampled_from("we they sat ran in on to town top today .".split()), max_size=25)
fixture_may_stay = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50
)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("counts") / "few.counts"
    return CountTable.open(build_table(path, TEXTS, Words()))


@pytest.fixture(scope="module")
def extractor(table):
    return ContextProbabilities(counts=table)


def transform(extractor, texts, group=GROUP):
    view = Words()(texts)
    return view, transform_checked(extractor, view, CandidateFinder.from_groups([group]).find(view), group)


def written_out(table, words, position, length, group):
    """Return the probabilities (K, 14) of one place, by the formula, from counts of texts."""

    def count(left, candidate, right):
        ngram = [*words[position - left : position], *candidate.split()]
        return table.count(" ".join([*ngram, *words[position + length : position + length + right]]))

    prior = np.array([count(0, candidate, 0) + 1.0 for candidate in group.candidates])
    result = {(0, 0): prior / prior.sum()}
    for left, right in CONTEXTS:
        shorter = [result[c] for c in ((left - 1, right), (left, right - 1)) if c in result and c != (0, 0)]
        back = sum(shorter) / len(shorter) if shorter else result[0, 0]
        outside = position - left < 0 or position + length + right > len(words) or left + right + 2 > 5
        counts = np.array([0 if outside else count(left, candidate, right) for candidate in group.candidates])
        if counts.sum():
            given_back = DISCOUNT * (counts > 0).sum() * back
            back = (np.maximum(counts - DISCOUNT, 0) * (counts > 0) + given_back) / counts.sum()
        result[left, right] = back
    return np.stack([result[context] for context in CONTEXTS], axis=1)


def test_scores_follow_the_formula(table, extractor, engine):
    for text in ["We sat in town.", "They sat on town today.", "We ran in to top.", "On."]:
        view, features = transform(extractor, [text])
        place = CandidateFinder.from_groups([GROUP]).find(view)
        at = int(place.positions[0]), int(place.lengths[0])
        expected = written_out(table, Words().words(text), *at, GROUP)
        assert np.exp(features.batch.values[0, :, :BIAS]) == pytest.approx(expected, rel=1e-5)


@given(WORDS)
@fixture_may_stay
def test_backends_agree_bit_for_bit_and_probabilities_sum_to_one(extractor, monkeypatch, words):
    values = []
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        _, features = transform(extractor, [" ".join(words)])
        values.append(features.batch.values)
    assert np.array_equal(*values)
    assert np.exp(values[0][:, :, :BIAS]).sum(axis=1) == pytest.approx(1.0, abs=1e-5)


def test_columns_and_evidence_equal_those_of_the_counts(table, extractor):
    _, smooth = transform(extractor, TEXTS)
    _, raw = transform(NgramCounts(counts=table), TEXTS)
    assert np.array_equal(smooth.found, raw.found)
    assert np.array_equal(smooth.asked, raw.asked)
    assert list(smooth.batch.columns.names) == list(raw.batch.columns.names)
    assert (smooth.batch.values[:, :, BIAS] == 1).all()


def test_the_empty_candidate_has_a_probability_and_keeps_the_ratios_of_words(extractor):
    view, group = Words()(["We sat in town."]), Group("to", ("", "in"))
    places = OwnCandidates(name="place", candidates=["", "in"]).instances(view)
    values = transform_checked(extractor, view, places, group).batch.values
    assert len(places) and np.isfinite(values).all()
    assert np.exp(values[:, :, :BIAS]).sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    view, words = Words()(["They sat in"]), Group("place", ("in", "on"))
    place = CandidateFinder.from_groups([words]).find(view)
    beside, alone = (
        transform_checked(extractor, view, place, group).batch.values[0, :2, :BIAS][:, ONE_SIDED]
        for group in (Group("place", ("in", "on", "")), words)
    )
    assert np.diff(beside, axis=0) == pytest.approx(np.diff(alone, axis=0), rel=1e-5)


@given(WORDS)
@fixture_may_stay
def test_one_sided_contexts_give_the_empty_candidate_half(extractor, monkeypatch, words):
    task = OwnCandidates(name="place", candidates=["in", "on", ""])
    view, values = Words()([" ".join(words)]), []
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        values.append(transform_checked(extractor, view, task.instances(view), task.groups[0]).batch.values)
    assert np.array_equal(*values)
    shares = np.exp(values[0][:, :, :BIAS])
    assert shares.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert shares[:, 2, ONE_SIDED] == pytest.approx(0.5)


@pytest.mark.parametrize("kind", [NgramCounts, ContextProbabilities])
def test_groups_decided_together_equal_each_group_alone(table, engine, kind):
    lists = ("in", "on"), ("in to", "on", "at"), ("in", "", "of")
    groups, view = [Group("/".join(candidates), candidates) for candidates in lists], Words()(TEXTS)
    places = instances_at(np.flatnonzero(view.ends > view.starts), observed=-1)
    parts = [(places.take(slice(g, None, 2)), group) for g, group in enumerate(groups)]
    for asked in (parts, parts[:2], [(places.take(slice(0, 0)), groups[1]), parts[0]]):
        together = kind(counts=table).transform(view, GroupedInstances.from_parts(asked))
        for (part, group), result in zip(asked, together, strict=True):
            alone = transform_checked(kind(counts=table), view, part, group)
            assert np.array_equal(result.batch.values, alone.batch.values)
            assert result.batch.columns is alone.batch.columns
            assert np.array_equal(result.found, alone.found) and np.array_equal(result.asked, alone.asked)
    assert together[1].found.any()


def listed(instances, any_lists):
    return replace(instances, own=CandidateLists.from_texts(any_lists))


@given(
    WORDS, st.sampled_from([("in", "on"), ("in", "on", ""), ("", "in"), ("in", "in to", ""), ("unheard", "")])
)
@fixture_may_stay
def test_a_list_equal_to_the_group_has_the_values_of_the_group(extractor, monkeypatch, words, candidates):
    view = Words()([" ".join(words)])
    task = OwnCandidates(candidates=candidates)
    result, (group,) = task.instances(view), task.groups
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        of_group = transform_checked(extractor, view, result, group)
        of_lists = transform_checked(extractor, view, listed(result, [group.candidates] * len(result)), ANY)
        assert isinstance(of_lists.batch, DenseLists)
        expected = of_group.batch.values.reshape(-1, BIAS + 1)
        assert of_lists.batch.values == pytest.approx(expected, rel=1e-6)
        assert np.array_equal(of_lists.batch.cost, of_group.batch.costs.ravel())
        assert np.array_equal(of_lists.found, of_group.found)
        assert np.array_equal(of_lists.asked, of_group.asked)


some_texts = st.sampled_from(["in", "on", "in to", "to", "", "on top of it all", "unheard"])
any_lists = st.lists(st.lists(some_texts, min_size=1, unique=True), min_size=1, max_size=8)


@given(any_lists)
@fixture_may_stay
def test_a_list_does_not_depend_on_the_others(extractor, monkeypatch, any_lists):
    """With or without the empty candidate, beside longer lists or alone, in both backends."""
    view = Words()(TEXTS)
    result = OwnCandidates(candidates=["in", "on", ""]).instances(view).without_labels()
    result = result.take(np.arange(min(len(any_lists), len(result))))
    given_lists = any_lists[: len(result)]
    values = []
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        values.append(transform_checked(extractor, view, listed(result, given_lists), ANY).batch)
    assert np.array_equal(values[0].values, values[1].values)
    for i, own in enumerate(given_lists):
        place = listed(result.take(np.array([i])), [own])
        alone = transform_checked(extractor, view, place, ANY).batch.values
        assert np.array_equal(alone, values[0].values[slice(*values[0].offsets[i : i + 2])])
        assert np.exp(alone[:, :BIAS]).sum(axis=0) == pytest.approx(1.0, abs=1e-4)


def test_evidence_is_of_the_contexts_that_were_used(extractor):
    view = Words()(["They sat in town."])
    result = OwnCandidates(candidates=["in", "on"]).instances(view)
    one = listed(result, [("in", "")])
    shown = extractor.evidence(view, one, ANY)
    group = Group("in or none", ("in", ""))
    assert shown == extractor.evidence(view, result, group)
    assert shown["in", ". _"].text == "sat in" and shown["in", ". _"].count > 0
