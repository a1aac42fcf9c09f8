"""Smoothed context probabilities against the formula written out, by both engines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from disambig.counts import CountTable, build_table
from disambig.data import CandidateFinder, Group, GroupedInstances, Instances
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
from disambig.testing import check_extractor
from disambig.text import Words

GROUP = Group("place", ("in", "on", "in to"))
TEXTS = [
    "We sat in town.",
    "We sat in town today.",
    "We sat on top.",
    "They ran in to town.",
    "They sat in town.",
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("counts") / "few.counts"
    build_table(path, TEXTS, Words())
    return CountTable.open(path)


def transform(extractor, texts, group=GROUP):
    view = Words()(texts)
    return view, transform_checked(extractor, view, CandidateFinder.from_groups([group]).find(view), group)


def written_out(table, words, position, length, group):
    """Return the probabilities (K, 14) of one place, by the formula, from counts of texts."""

    def count(left, candidate, right):
        ngram = [*words[position - left : position], *candidate.split()]
        return table.count(" ".join([*ngram, *words[position + length : position + length + right]]))

    prior = np.array([count(0, candidate, 0) + 1.0 for candidate in group.candidates])
    found = {(0, 0): prior / prior.sum()}
    for left, right in CONTEXTS:
        shorter = [found[c] for c in ((left - 1, right), (left, right - 1)) if c in found and c != (0, 0)]
        back = sum(shorter) / len(shorter) if shorter else found[0, 0]
        outside = position - left < 0 or position + length + right > len(words) or left + right + 2 > 5
        counts = np.array([0 if outside else count(left, candidate, right) for candidate in group.candidates])
        if counts.sum():
            given_back = DISCOUNT * (counts > 0).sum() * back
            back = (np.maximum(counts - DISCOUNT, 0) * (counts > 0) + given_back) / counts.sum()
        found[left, right] = back
    return np.stack([found[context] for context in CONTEXTS], axis=1)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_it_is_the_formula(table, engine, monkeypatch):
    monkeypatch.setenv("DISAMBIG_ENGINE", engine)
    texts = ["We sat in town.", "They sat on town today.", "We ran in to top.", "On."]
    for text in texts:
        view, features = transform(ContextProbabilities(counts=table), [text])
        words = Words().words(text)
        place = CandidateFinder.from_groups([GROUP]).find(view)
        expected = written_out(table, words, int(place.positions[0]), int(place.lengths[0]), GROUP)
        assert np.exp(features.batch.values[0, :, :BIAS]) == pytest.approx(expected, rel=1e-5)


@given(st.lists(st.sampled_from("we they sat ran in on to town top today .".split()), max_size=25))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
def test_engines_agree_bit_for_bit_and_probabilities_sum_to_one(table, monkeypatch, words):
    values = []
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        _, features = transform(ContextProbabilities(counts=table), [" ".join(words)])
        values.append(features.batch.values)
    assert np.array_equal(*values)
    assert np.exp(values[0][:, :, :BIAS]).sum(axis=1) == pytest.approx(1.0, abs=1e-5)


def test_columns_evidence_and_bias_are_those_of_the_counts(table):
    _, smooth = transform(ContextProbabilities(counts=table), TEXTS)
    _, raw = transform(NgramCounts(counts=table), TEXTS)
    assert np.array_equal(smooth.found, raw.found)
    assert np.array_equal(smooth.asked, raw.asked)
    assert list(smooth.batch.columns.names) == list(raw.batch.columns.names)
    assert (smooth.batch.values[:, :, BIAS] == 1).all()


def test_the_candidate_of_no_word_has_a_share_too(table):
    group = Group("to", ("", "in"))
    view = Words()(["We sat in town."])
    task = OwnCandidates(name="place", candidates=["", "in"])
    places = task.instances(view)
    values = transform_checked(ContextProbabilities(counts=table), view, places, group).batch.values
    assert len(places) and np.isfinite(values).all()
    assert np.exp(values[:, :, :BIAS]).sum(axis=1) == pytest.approx(1.0, abs=1e-5)


def test_it_passes_the_checks_of_extractors(table):
    task = OwnCandidates(name="place", candidates=["in", "on"])
    for check in check_extractor(ContextProbabilities(counts=table), task, TEXTS):
        check()


@given(st.lists(st.sampled_from("we they sat ran in on town top today .".split()), max_size=25))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
def test_words_on_one_side_say_which_word_but_not_whether_there_is_one(table, monkeypatch, words):
    task = OwnCandidates(name="place", candidates=["in", "on", ""])
    view = Words()([" ".join(words)])
    values = []
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        extractor = ContextProbabilities(counts=table)
        values.append(transform_checked(extractor, view, task.instances(view), task.groups[0]).batch.values)
    assert np.array_equal(*values)
    shares = np.exp(values[0][:, :, :BIAS])
    assert shares.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert shares[:, 2, ONE_SIDED] == pytest.approx(0.5)


def test_words_beside_the_candidate_of_no_word_are_to_each_other_as_without_it(table):
    view = Words()(["They sat in"])
    group = Group("place", ("in", "on", ""))
    place = CandidateFinder.from_groups([Group("place", ("in", "on"))]).find(view)
    beside = transform_checked(ContextProbabilities(counts=table), view, place, group).batch.values[
        0, :2, :BIAS
    ]
    alone = transform_checked(ContextProbabilities(counts=table), view, place, Group("place", ("in", "on")))
    assert np.diff(beside[:, ONE_SIDED], axis=0) == pytest.approx(
        np.diff(alone.batch.values[0][:, :BIAS][:, ONE_SIDED], axis=0), rel=1e-5
    )


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("kind", [NgramCounts, ContextProbabilities])
def test_groups_together_are_as_each_alone(table, engine, kind, monkeypatch):
    monkeypatch.setenv("DISAMBIG_ENGINE", engine)
    groups = (
        Group("words", ("in", "on")),
        Group("two", ("in to", "on", "at")),
        Group("zero", ("in", "", "of")),
    )
    view = Words()(TEXTS)
    tokens = np.flatnonzero(view.ends > view.starts)
    ones, zeros = np.ones(len(tokens), np.int32), np.zeros(len(tokens), np.int32)
    places = Instances(tokens, ones, zeros, zeros - 1)
    parts = [(places.take(slice(g, None, 2)), group) for g, group in enumerate(groups)]
    for asked in (parts, parts[:2], [(places.take(slice(0, 0)), groups[1]), parts[0]]):
        together = kind(counts=table).transform(view, GroupedInstances.from_parts(asked))
        for (part, group), found in zip(asked, together, strict=True):
            alone = transform_checked(kind(counts=table), view, part, group)
            assert np.array_equal(found.batch.values, alone.batch.values)
            assert found.batch.columns is alone.batch.columns
            assert np.array_equal(found.found, alone.found) and np.array_equal(found.asked, alone.asked)
    assert together[1].found.any()
