"""Candidates of instances of several groups in one table."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.data import CandidateLists, Group, Instances, Predictions, ScoreBatch, offsets_from_sizes

GROUPS = (Group("two", ("a", "b")), Group("three", ("c", "d", "e")), Group("one", ("f",)))


def scores_of(g, n, *, listed=False, seed=0):
    """Made-up scores of n instances of a group, or of lists of one to three candidates."""
    rng = np.random.default_rng((seed, g, n))
    sizes = rng.integers(1, 4, n) if listed else np.full(n, len(GROUPS[g].candidates))
    offsets = offsets_from_sizes(sizes)
    m = int(offsets[-1])
    counts = rng.integers(0, 9, m).astype(np.int32)
    columns = rng.normal(size=m), rng.integers(0, sizes).astype(np.int32), counts, counts + 1
    own = CandidateLists.from_texts([[f"{i}" for i in range(size)] for size in sizes]) if listed else None
    return ScoreBatch.from_group(GROUPS[g], g, offsets, *columns, rng.random(m).astype(np.float32), own=own)


def lead(scored):
    """Decide for the first candidate, by the number of the group."""
    n = len(scored)
    first = scored.scores[scored.offsets[:-1]]
    return Predictions(np.zeros(n, np.int64), first, np.full(n, scored.number), first > 0, first < 9)


PARTS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=5)


@given(PARTS, st.booleans())
def test_what_is_joined_comes_apart_again(parts, listed):
    batches = [scores_of(g, n, listed=listed) for g, n in parts]
    joined = ScoreBatch.joined(batches)
    assert len(joined) == sum(map(len, batches)) == len(joined.sizes)
    given_back = [batch for batch in batches if len(batch)] if len(batches) > 1 else batches
    for one, (index, part) in zip(given_back, joined.by_group(), strict=True):
        assert part.group is one.group and part.number == one.number and len(index) == len(one)
        for name in ("offsets", "scores", "observed", "found", "asked", "cost"):
            assert np.array_equal(getattr(part, name), getattr(one, name)), name
        assert (part.own is not None) == listed
        assert not listed or list(part.own.texts) == list(one.own.texts)


@given(PARTS, st.booleans(), st.integers(0, 9))
def test_groups_are_decided_in_any_order_of_instances(parts, listed, seed):
    joined = ScoreBatch.joined([scores_of(g, n, listed=listed, seed=seed) for g, n in parts])
    order = np.random.default_rng(seed).permutation(len(joined))
    mixed = Predictions.by_group(joined.take(order), lead)
    in_order = Predictions.by_group(joined, lead)
    for field in fields(Predictions):
        assert np.array_equal(getattr(mixed, field.name), getattr(in_order, field.name)[order])
    doubled = joined.take(order).map_groups(lambda part: part.scores * 2)
    assert np.array_equal(doubled, joined.take(order).scores * 2)
    if len(joined):
        assert joined.map_groups(lambda part: None) is None


def test_several_groups_have_no_only_group():
    joined = ScoreBatch.joined([scores_of(0, 1), scores_of(1, 1)])
    for name in ("group", "number"):
        with pytest.raises(ValueError, match="too many values"):
            getattr(joined, name)


def test_neighbours_that_are_not_known_are_unknown():
    known, unknown = scores_of(0, 2), scores_of(1, 1)
    known = ScoreBatch(
        **{f.name: getattr(known, f.name) for f in fields(known)} | {"neighbours": np.ones((2, 2), np.uint64)}
    )
    assert ScoreBatch.joined([known, unknown]).neighbours.tolist() == [[1, 1], [1, 1], [0, 0]]


def test_instances_know_the_candidates_of_their_groups():
    groups = np.array([1, 0, 1], np.int32)
    instances = Instances(np.arange(3), np.ones(3, np.int32), groups, np.array([0, -1, 2], np.int32))
    assert instances.candidate_offsets(GROUPS).tolist() == [0, 3, 5, 8]
    assert instances.costs_at(instances.candidate_offsets(GROUPS)).tolist() == [0, 1, 1, 1, 1, 1, 1, 0]
    threes = instances.take(groups == 1)
    assert list(threes.texts(GROUPS[1])) == ["c", "d", "e"] * 2
    assert instances.candidates(1, GROUPS[0]) == ("a", "b")
    lists = CandidateLists.from_texts([["x"], ["y", "z"]])
    own = Instances(threes.positions, threes.lengths, threes.groups, threes.observed, lists)
    assert own.candidate_offsets(GROUPS).tolist() == [0, 1, 3] and list(own.texts(GROUPS[1])) == [
        "x",
        "y",
        "z",
    ]
    assert own.candidates(1, GROUPS[1]) == ("y", "z")
    joined = Instances.joined([own, own])
    assert joined.own.offsets.tolist() == [0, 1, 3, 4, 6] and joined.positions.tolist() == [0, 2, 0, 2]
    assert Instances.joined([threes, instances]).observed.tolist() == [0, 2, 0, -1, 2]
