"""Transitions and the oracle of the dependency parser against exhaustive search."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from disambig_dependencies import _kernels as transitions, make_projective
from hypothesis import given, settings, strategies as st

SHIFT, LEFT, RIGHT = 0, 1, 2
"""The actions of one label."""


def is_tree(heads):
    """Return True if 1-based heads, 0 for the root's, form a tree with one root."""
    if sum(head == 0 for head in heads) != 1:
        return False
    for word in range(1, len(heads) + 1):
        above, steps = word, 0
        while above and steps <= len(heads):
            above, steps = heads[above - 1], steps + 1
        if above:
            return False
    return True


def is_projective(heads):
    """Return True if all words between a word and its head descend from the head."""
    for child, head in enumerate(heads, 1):
        for word in range(min(child, head) + 1, max(child, head)) if head else ():
            above = word
            while above not in (0, head):
                above = heads[above - 1]
            if above != head:
                return False
    return True


def projective_trees(n):
    candidates = product(range(n + 1), repeat=n)
    return [heads for heads in candidates if is_tree(heads) and is_projective(heads)]


class State:
    """A parser state in Python: the stack, the first word of the buffer, the arcs."""

    def __init__(self, n, stack=(), first=1, arcs=()):
        self.n, self.stack, self.first, self.arcs = n, stack, first, arcs

    def actions(self):
        can = (SHIFT,) if self.first <= self.n else ()
        can += (LEFT,) if self.stack and self.first <= self.n else ()
        return can + ((RIGHT,) if len(self.stack) > 1 else ())

    def after(self, action):
        if action == SHIFT:
            return State(self.n, (*self.stack, self.first), self.first + 1, self.arcs)
        head = self.first if action == LEFT else self.stack[-2]
        return State(self.n, self.stack[:-1], self.first, (*self.arcs, (self.stack[-1], head)))

    def key(self):
        return self.stack, self.first, self.arcs


def compiled_state(n, actions):
    rows, place = np.zeros((transitions.N_ROWS, n + 2), np.int32), np.zeros(2, np.int64)
    transitions.start(rows, place)
    for action in actions:
        transitions.apply(rows, place, action, 1)
    return rows, place


def gold_arrays(heads):
    return np.array([0, *heads], np.int32), np.array([0, *[int(head > 0) for head in heads]], np.int32)


def derive(heads):
    """Return the actions of the static oracle, and the heads that they build."""
    n = len(heads)
    gold, labels = gold_arrays(heads)
    rows, place = compiled_state(n, [])
    actions = []
    for _ in range(2 * n - 1):
        actions.append(int(transitions.static_action(rows, place, n, gold, labels, 1)))
        assert actions[-1] >= 0
        transitions.apply(rows, place, actions[-1], 1)
    return actions, tuple(rows[transitions.HEAD, 1 : n + 1].tolist())


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_static_oracle(n):
    all_trees = projective_trees(n)
    assert len(all_trees) == (1, 2, 7, 30, 143)[n - 1]  # Yuret (1998)
    for heads in all_trees:
        assert derive(heads)[1] == heads


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_all_sequences_of_actions(n):
    built = set()

    def walk(state, actions):
        if len(actions) == 2 * n - 1:
            heads = [0] * n
            for child, head in state.arcs:
                heads[child - 1] = head
            rows, place = compiled_state(n, actions)
            assert tuple(rows[transitions.HEAD, 1 : n + 1].tolist()) == tuple(heads)
            assert place.tolist() == [1, n + 1]
            built.add(tuple(heads))
            return
        for action in state.actions():
            walk(state.after(action), (*actions, action))

    walk(State(n), ())
    assert built == set(projective_trees(n))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_costs_of_the_dynamic_oracle(n):
    for heads in projective_trees(n):
        gold, _ = gold_arrays(heads)

        @cache
        def most_right(key, heads=heads):
            state = State(n, *key)
            if state.first > n and len(state.stack) == 1:
                built = dict(state.arcs)
                return sum(built.get(child, 0) == head for child, head in enumerate(heads, 1))
            return max(most_right(state.after(action).key()) for action in state.actions())

        seen, waiting = set(), [((), State(n))]
        while waiting:
            actions, state = waiting.pop()
            if state.key() in seen or (state.first > n and len(state.stack) == 1):
                continue
            seen.add(state.key())
            rows, place = compiled_state(n, actions)
            costs = transitions.action_costs(rows, place, n, gold)
            can = transitions.possible(place, n)
            assert [a for a in (SHIFT, LEFT, RIGHT) if can[a]] == sorted(state.actions())
            for action in state.actions():
                lost = most_right(state.key()) - most_right(state.after(action).key())
                assert costs[action] == lost, (heads, actions, action)
                waiting.append(((*actions, action), state.after(action)))


@st.composite
def any_trees(draw, most=40):
    """Heads of any tree with one root, 0-based and -1 for the root."""
    n = draw(st.integers(1, most))
    order = draw(st.permutations(range(n)))
    heads = [-1] * n
    for i, word in enumerate(order[1:], 1):
        heads[word] = order[draw(st.integers(0, i - 1))]
    return heads


@settings(deadline=None, max_examples=60)
@given(any_trees())
def test_make_projective(heads):
    lifted = [head + 1 for head in make_projective(heads)]
    assert is_tree(lifted) and is_projective(lifted)
    if is_projective([head + 1 for head in heads]):
        assert lifted == [head + 1 for head in heads]
    assert derive(lifted)[1] == tuple(lifted)


@settings(deadline=None, max_examples=60)
@given(any_trees(25), st.lists(st.integers(0, 2), max_size=20))
def test_dynamic_oracle_after_mistakes(heads, wrong):
    lifted = [head + 1 for head in make_projective(heads)]
    n = len(lifted)
    gold, _ = gold_arrays(lifted)
    rows, place = compiled_state(n, [])
    lost = 0
    for step in range(2 * n - 1):
        costs, can = transitions.action_costs(rows, place, n, gold), transitions.possible(place, n)
        possible = [action for action in (SHIFT, LEFT, RIGHT) if can[action]]
        action = min(possible, key=lambda action: costs[action])
        assert costs[action] == 0  # an action that loses nothing always exists
        if step < len(wrong) and wrong[step] in possible:
            action = wrong[step]
        lost += costs[action]
        transitions.apply(rows, place, action, 1)
    assert int((rows[transitions.HEAD, 1 : n + 1] != gold[1:]).sum()) == lost
