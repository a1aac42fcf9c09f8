"""Chains against the list of all sequences: best, k best, loss-augmented, marginals, max-marginals."""

from __future__ import annotations

import itertools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disambig.decode import Chain, best_path, best_states, best_with_states, max_marginals


@st.composite
def chains(draw):
    """Return scores of places, (L, K), and of steps, (L - 1, K, K); some are forbidden."""
    n, k = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    place, step = rng.normal(size=(n, k)), rng.normal(size=(n - 1, k, k))
    if draw(st.booleans()) and k > 1:
        place[rng.integers(n), rng.integers(k)] = -np.inf
    return place, step


def best_paths(place, step, starts, path):
    """Put the best states of each sequence into `path`; `step` is that of every place."""
    longest, k = int(np.diff(starts).max()), place.shape[1]
    total, back = np.empty((2, k), place.dtype), np.empty((longest, k), np.int32)
    for first, last in pairwise(starts):
        if last > first:
            best_path(place[first:last], step, total, back, path[first:last])


def everything(place, step):
    """Return all sequences with their scores, best first."""
    n, k = place.shape
    found = []
    for states in itertools.product(range(k), repeat=n):
        score = sum(place[t, states[t]] for t in range(n))
        score += sum(step[t, states[t], states[t + 1]] for t in range(n - 1))
        found.append((score, states))
    return sorted(found, key=lambda each: -each[0])


def rows_of(place, step):
    """Return the scores of the edges, a state's own score on each edge into it."""
    return np.concatenate([place[0], (step + place[1:, None, :]).ravel()])


def states_of(chain, mass):
    """Return the states of the only sequence of `mass`."""
    k = chain.n_states
    steps = mass[k:].reshape(-1, k, k)
    return (int(mass[:k].argmax()), *(int(each.sum(axis=0).argmax()) for each in steps))


@given(chains())
@settings(deadline=None)
def test_the_best_sequence_is_that_of_brute_force(problem):
    place, step = problem
    rows = rows_of(place, step)
    chain = Chain(place.shape[1])
    mass = chain.best(rows, np.array([0, len(rows)]))
    assert states_of(chain, mass) == everything(place, step)[0][1]
    assert mass.sum() == len(place)


@given(chains(), st.integers(1, 9))
@settings(deadline=None)
def test_the_k_best_sequences_are_those_of_brute_force(problem, k):
    place, step = problem
    rows = rows_of(place, step)
    ((scores, states),) = Chain(place.shape[1]).top(rows, np.array([0, len(rows)]), k)
    expected = [each for each in everything(place, step) if each[0] > -np.inf][:k]
    assert [tuple(each) for each in states.tolist()] == [states for _, states in expected]
    assert scores == pytest.approx([score for score, _ in expected])


def test_with_costs_the_best_is_loss_augmented():
    rng = np.random.default_rng(3)
    place, step = rng.normal(size=(4, 3)), rng.normal(size=(3, 3, 3))
    wrong = (np.arange(3) != np.array([0, 2, 1, 1])[:, None]).astype(float)
    cost = rows_of(wrong, np.zeros((3, 3, 3)))
    rows = rows_of(place, step) + cost
    chain = Chain(3)
    assert (
        states_of(chain, chain.best(rows, np.array([0, len(rows)]))) == everything(place + wrong, step)[0][1]
    )


@given(chains())
@settings(deadline=None)
def test_marginals_sum_to_one_at_every_place(problem):
    place, step = problem
    rows = rows_of(place, step)
    k = place.shape[1]
    mass, partition = Chain(k).marginals(rows, np.array([0, len(rows)]))
    assert mass[:k].sum() == pytest.approx(1.0)
    assert mass[k:].reshape(-1, k * k).sum(axis=1) == pytest.approx(np.ones(len(place) - 1))
    total = np.logaddexp.reduce([score for score, _ in everything(place, step)])
    assert partition[0] == pytest.approx(total)


@given(chains())
@settings(deadline=None)
def test_max_marginals_are_the_best_scores_with_a_state_fixed(problem):
    place, step = problem
    found = np.empty(place.shape)
    starts = np.array([0, len(place)])
    max_marginals(place, step if len(step) else np.zeros((1, *step.shape[1:])), starts, found)
    for t, b in np.ndindex(place.shape):
        expected = max(score for score, states in everything(place, step) if states[t] == b)
        assert found[t, b] == pytest.approx(expected)


def test_sequences_that_share_their_steps_are_decoded_one_by_one():
    rng = np.random.default_rng(5)
    place, step = rng.normal(size=(7, 3)), rng.normal(size=(1, 3, 3))
    starts, path = np.array([0, 3, 3, 7]), np.zeros(7, np.int64)
    best_paths(place, step, starts, path)
    for first, last in ((0, 3), (3, 7)):
        steps = np.repeat(step, last - first - 1, axis=0)
        assert tuple(path[first:last]) == everything(place[first:last], steps)[0][1]


def test_rows_that_are_no_chain_are_refused():
    with pytest.raises(ValueError, match="5 rows are not a chain of 2 states"):
        Chain(2).best(np.zeros(5), np.array([0, 5]))


def test_a_chain_of_ten_thousand_places():
    rng = np.random.default_rng(0)
    place, step = rng.normal(size=(10_000, 4)), rng.normal(size=(1, 4, 4))
    rows = rows_of(place, np.repeat(step, 9_999, axis=0))
    mass, _ = Chain(4).marginals(rows, np.array([0, len(rows)]))
    assert mass.sum() == pytest.approx(10_000)


def test_no_sequence_at_all_is_an_error():
    chain, layout = Chain(2), np.array([0, 6])
    with pytest.raises(ValueError, match="every sequence is forbidden"):
        chain.best(np.full(6, -np.inf), layout)
    with pytest.raises(ValueError, match="every sequence is forbidden"):
        chain.marginals(np.full(6, -np.inf), layout)
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        chain.top(np.zeros(6), layout, 0)
    assert len(chain.top(np.full(6, -np.inf), layout, 3)[0][0]) == 0


def test_long_sequences_lose_nothing_in_single_precision():
    rng = np.random.default_rng(1)
    n, k = 60_000, 3
    place, step = 5 + rng.normal(size=(n, k)), rng.normal(size=(1, k, k))
    starts, exact, single = np.array([0, n]), np.zeros(n, np.int64), np.zeros(n, np.int64)
    best_paths(place, step, starts, exact)
    best_paths(place.astype(np.float32), step.astype(np.float32), starts, single)
    assert (exact != single).mean() < 1e-3


@given(
    st.integers(0, 2**32),
    st.integers(1, 4),
    st.lists(st.integers(0, 6), min_size=1, max_size=4),
    st.booleans(),
)
@settings(deadline=None)
def test_numpy_and_kernels_agree_to_the_bit(seed, k, lengths, forbidden):
    """Scores in steps of an eighth make ties, which both must break alike."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    kind = rng.choice([np.float32, np.float64])
    place = (
        rng.normal(size=(starts[-1], k)) if rng.random() < 0.5 else rng.integers(9, size=(starts[-1], k)) / 8
    )
    step = rng.integers(-5, 5, size=(k, k)) / 8
    if forbidden and len(place):
        place[rng.integers(len(place)), rng.integers(k)] = step[rng.integers(k), rng.integers(k)] = -np.inf
    place, step = place.astype(kind), step.astype(kind)
    path, marginals = np.zeros(len(place), np.int64), np.empty(place.shape, kind)
    best_paths(place, step[None], starts, path)
    max_marginals(place, step[None], starts, marginals)
    assert (best_states(place, step, starts) == path).all()
    assert best_with_states(place, step, starts).tobytes() == marginals.tobytes()
