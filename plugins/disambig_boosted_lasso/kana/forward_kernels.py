"""Numba kernels of the way forward: the best score of every node of the lattice, and what leads to it.

A *node* is a place with a state of the language model (two of a mixture). What leads to it are *streams*,
each a set of nodes with one arc: of kind `ONE` a node behind whose two words the arc's word was seen;
`GROUP` the nodes of a place that end in the same word, behind which it was seen; `ALL` all nodes of a
place. What a stream gives is bounded by what the arc gives at most (`bound`) and what each of its nodes
brings, the best first; nodes that another stream has with the same arc are passed over. So every path is
there once, with what the model says of it, in a number of steps that grows with the n-grams that were seen
and not with nodes times words.
"""

# Numba finds the types of compiled functions.
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled, fmix64

from .ngram_kernels import (
    back_off,
    last_of,
    mixed,
    pair_of,
    second,
    seen_behind_two,
    step,
    triple_of,
)

ONE, GROUP, ALL = 0, 1, 2
NODES, STREAMS, GROUPS, FULL = 0, 1, 2, 3
_FEW = 16
_STEP = np.uint64(0x9E3779B97F4A7C15)


@compiled
def forward(tables, n, arcs, work):
    """Find all nodes of a lattice of `n` characters and their best scores; return False for want of room."""
    tally, nodes, slots, places = work.tally, work.nodes, work.slots, work.places
    for place in range(n + 2):
        places[place].head = -1
    places[0].order = 0
    other = tables.starts[1] if len(tables.starts) > 1 else -1
    _reach(tally, nodes, slots, places, 0, tables.starts[0], other, 0.0)
    for place in range(n + 1):
        _gather(tables, work, place)
        first, last = places[place].arc, places[place + 1].arc
        if last - first > len(work.stamps):
            tally[FULL] = 1
        if tally[FULL]:
            return False
        for arc in range(first, last):
            work.after[0, arc - first] = work.heads[arcs[arc].number]
            work.heads[arcs[arc].number] = arc
            if other >= 0:
                work.after[1, arc - first] = work.heads[arcs[arc].other]
                work.heads[arcs[arc].other] = arc
        _behind_two(tables, arcs, work, place)
        _behind_one(tables, arcs, work, place)
        _behind_any(tables, arcs, work, place)
        for arc in range(first, last):
            work.heads[arcs[arc].number] = -1
            if other >= 0:
                work.heads[arcs[arc].other] = -1
        if tally[FULL]:
            return False
    _gather(tables, work, n + 1)
    return tally[FULL] == 0


@compiled
def clear(tally, nodes, slots):
    """Forget the nodes of a line."""
    for node in range(tally[NODES]):
        slots[nodes[node].slot] = -1
    tally[:] = 0


@compiled
def _reach(tally, nodes, slots, places, place, state, other, score):
    """Return the node at a place with these states, which `score` reaches; -1 for want of room."""
    key = fmix64((np.uint64(state) * _STEP + np.uint64(other)) * _STEP + np.uint64(place))
    mask = np.uint64(len(slots) - 1)
    at = key & mask
    while slots[at] >= 0:
        node = np.int64(slots[at])
        if nodes[node].place == place and nodes[node].state == state and nodes[node].other == other:
            if score > nodes[node].best:
                nodes[node].best = score
            return node
        at = (at + np.uint64(1)) & mask
    node = tally[NODES]
    if node == len(nodes):
        tally[FULL] = 1
        return np.int64(-1)
    tally[NODES] += 1
    slots[at] = node
    nodes[node].slot, nodes[node].place, nodes[node].best = at, place, score
    nodes[node].state, nodes[node].other = state, other
    nodes[node].chain, nodes[node].stream, nodes[node].taken = places[place].head, -1, 0
    places[place].head = node
    return node


@compiled
def _add(tally, nodes, streams, node, kind, source, arc, bound):
    """Add a stream to those that lead to a node."""
    stream = tally[STREAMS]
    if node < 0 or stream == len(streams):
        tally[FULL] = 1
        return
    tally[STREAMS] += 1
    streams[stream].kind, streams[stream].source, streams[stream].arc = kind, source, arc
    streams[stream].bound, streams[stream].after = bound, nodes[node].stream
    nodes[node].stream = stream


@compiled
def _gather(tables, work, place):
    """Order the nodes of a place by the most that they can bring, and in groups of the same last word."""
    singles, pairs, tally, nodes = tables.singles, tables.pairs, work.tally, work.nodes
    first, count, node = work.places[place].order, 0, work.places[place].head
    while node >= 0:
        state, other = nodes[node].state, nodes[node].other
        last = last_of(singles, pairs, state)
        off = back_off(singles, pairs, state)
        far = off + singles[last].back_off
        nodes[node].last, nodes[node].off, nodes[node].far = last, off, far
        if other >= 0:
            last = last_of(singles, pairs, other)
            other_off = back_off(singles, pairs, other)
            other_far = other_off + singles[last].back_off
            nodes[node].other_last = last
            nodes[node].other_off, nodes[node].other_far = other_off, other_far
            off, far = max(off, other_off), max(far, other_far)
        nodes[node].brings, nodes[node].brings_group = nodes[node].best + far, nodes[node].best + off
        work.order[first + count] = node
        work.keys[count] = -nodes[node].brings
        count += 1
        node = nodes[node].chain
    work.places[place + 1].order = first + count
    order = work.order[first : first + count]
    order[:] = order[np.argsort(work.keys[:count])]
    work.places[place].group = tally[GROUPS]
    for node in order:
        _into_group(tally, nodes, work.groups, work.group_heads, node)
    begin = first
    for group in range(work.places[place].group, tally[GROUPS]):
        work.groups[group].begin = begin
        begin += work.groups[group].size
        work.groups[group].size = 0
        work.group_heads[work.groups[group].last] = -1
    work.groups[tally[GROUPS]].begin = begin
    for node in order:
        _sort_in(nodes, work.groups, work.members, node)


@compiled
def _into_group(tally, nodes, groups, heads, node):
    """Find the group of a node, those of its place with the same last word in both parts, or begin it."""
    last, other = nodes[node].last, nodes[node].other_last if nodes[node].other >= 0 else -1
    group = heads[last]
    while group >= 0 and groups[group].other != other:
        group = groups[group].after
    if group < 0:
        group = tally[GROUPS]
        tally[GROUPS] += 1
        groups[group].last, groups[group].other, groups[group].size = last, other, 0
        groups[group].after, heads[last] = heads[last], group
    groups[group].size += 1
    nodes[node].group = group


@compiled
def _sort_in(nodes, groups, members, node):
    """Put a node into its group at its place by what it brings."""
    group = nodes[node].group
    begin = groups[group].begin
    at = begin + groups[group].size
    groups[group].size += 1
    while at > begin and nodes[members[at - 1]].brings_group < nodes[node].brings_group:
        members[at] = members[at - 1]
        at -= 1
    members[at] = node


@compiled
def _behind_two(tables, arcs, work, place):
    """Follow the arcs whose words were seen behind both words of a node."""
    singles, pairs, triples = tables.singles, tables.pairs, tables.triples
    nodes, stamps, heads, after = work.nodes, work.stamps, work.heads, work.after
    first, last = work.places[place].arc, work.places[place + 1].arc
    stamps[: last - first] = -1
    for i in range(work.places[place].order, work.places[place + 1].order):
        node = work.order[i]
        for part in range(len(tables.starts)):
            pair = (nodes[node].other if part else nodes[node].state) - (len(singles) - 1)
            if pair < 0:
                continue
            begin, end = pairs[pair].begin, pairs[pair + 1].begin
            few = end - begin <= _FEW * (last - first)
            at, until = (begin, end) if few else (np.int64(first), np.int64(last))
            while at < until:
                if few:
                    arc = heads[triples[at].word]
                else:
                    number = arcs[at].other if part else arcs[at].number
                    arc = at if triple_of(pairs, triples, pair, number) >= 0 else -1
                while arc >= 0:
                    if stamps[arc - first] != node:
                        stamps[arc - first] = node
                        one = nodes[node]
                        gain, state, other = after_both(
                            singles, pairs, triples, one.state, one.other, arcs, arc
                        )
                        score = nodes[node].best + gain
                        to = _reach(
                            work.tally, nodes, work.slots, work.places, arcs[arc].end, state, other, score
                        )
                        _add(work.tally, nodes, work.streams, to, ONE, node, arc, gain)
                    arc = after[part, arc - first] if few else -1
                at += 1


@compiled
def after_both(singles, pairs, triples, state, other, arcs, arc):
    """Return what an arc gives behind a state, and the states behind it."""
    gain, state = step(singles, pairs, triples, state, arcs[arc].number)
    gain += arcs[arc].share
    if other >= 0:
        its, other = step(singles, pairs, triples, other, arcs[arc].other)
        gain = mixed(gain, its + arcs[arc].other_share)
    return gain + arcs[arc].extra, state, other


@compiled
def _behind_one(tables, arcs, work, place):
    """Follow the arcs whose words were seen behind the last word of a group of nodes."""
    singles, pairs, triples = tables.singles, tables.pairs, tables.triples
    _nodes, stamps, heads, after = work.nodes, work.stamps, work.heads, work.after
    first, last = work.places[place].arc, work.places[place + 1].arc
    stamps[: last - first] = -1
    for group in range(work.places[place].group, work.tally[GROUPS]):
        for part in range(len(tables.starts)):
            word = work.groups[group].other if part else work.groups[group].last
            begin, end = singles[word].begin, singles[word + 1].begin
            few = end - begin <= _FEW * (last - first)
            at, until = (begin, end) if few else (np.int64(first), np.int64(last))
            while at < until:
                if few:
                    arc = heads[pairs[at].word]
                else:
                    number = arcs[at].other if part else arcs[at].number
                    arc = at if pair_of(singles, pairs, word, number) >= 0 else -1
                while arc >= 0:
                    if stamps[arc - first] != group:
                        stamps[arc - first] = group
                        _group(singles, pairs, triples, arcs, work, group, arc)
                    arc = after[part, arc - first] if few else -1
                at += 1


@compiled
def _group(singles, pairs, triples, arcs, work, group, arc):
    """Follow an arc from the best node of a group behind whose two words its word was not seen."""
    nodes, groups = work.nodes, work.groups
    one, state = second(singles, pairs, groups[group].last, arcs[arc].number)
    one += arcs[arc].share + arcs[arc].extra
    bound, two, other = one, -np.inf, np.int64(-1)
    if groups[group].other >= 0:
        two, other = second(singles, pairs, groups[group].other, arcs[arc].other)
        two += arcs[arc].other_share + arcs[arc].extra
        bound = mixed(one, two)
    best = -np.inf
    for i in range(groups[group].begin, groups[group + 1].begin):
        node = work.members[i]
        if not nodes[node].brings_group + bound > best:
            break
        value = nodes[node].off + one
        if other >= 0:
            value = mixed(value, nodes[node].other_off + two)
        value += nodes[node].best
        if value > best and not is_seen(singles, pairs, triples, nodes, node, arcs, arc):
            best = value
    if best > -np.inf:
        to = _reach(work.tally, nodes, work.slots, work.places, arcs[arc].end, state, other, best)
        _add(work.tally, nodes, work.streams, to, GROUP, group, arc, bound)


@compiled
def is_seen(singles, pairs, triples, nodes, node, arcs, arc):
    """Return whether the word of an arc was seen behind the two words of a node, in any part."""
    if seen_behind_two(singles, pairs, triples, nodes[node].state, arcs[arc].number):
        return True
    other = nodes[node].other
    return other >= 0 and seen_behind_two(singles, pairs, triples, other, arcs[arc].other)


@compiled
def is_seen_at_all(singles, pairs, triples, nodes, node, arcs, arc):
    """Return whether the word of an arc was seen behind the last word of a node, or the two, in any part."""
    if pair_of(singles, pairs, nodes[node].last, arcs[arc].number) >= 0:
        return True
    if nodes[node].other >= 0 and pair_of(singles, pairs, nodes[node].other_last, arcs[arc].other) >= 0:
        return True
    return is_seen(singles, pairs, triples, nodes, node, arcs, arc)


@compiled
def _behind_any(tables, arcs, work, place):
    """Follow each arc from the best node of a place behind whose last word its word was not seen."""
    singles, pairs, triples, nodes = tables.singles, tables.pairs, tables.triples, work.nodes
    first, last = work.places[place].order, work.places[place + 1].order
    for arc in range(work.places[place].arc, work.places[place + 1].arc):
        number, other = np.int64(arcs[arc].number), np.int64(arcs[arc].other)
        one = singles[number].log_prob + arcs[arc].share + arcs[arc].extra
        bound, two, best = one, -np.inf, -np.inf
        if other >= 0:
            two = singles[other].log_prob + arcs[arc].other_share + arcs[arc].extra
            bound = mixed(one, two)
        for i in range(first, last):
            node = work.order[i]
            if not nodes[node].brings + bound > best:
                break
            value = nodes[node].far + one
            if other >= 0:
                value = mixed(value, nodes[node].other_far + two)
            value += nodes[node].best
            if value > best and not is_seen_at_all(singles, pairs, triples, nodes, node, arcs, arc):
                best = value
        if best > -np.inf:
            to = _reach(work.tally, nodes, work.slots, work.places, arcs[arc].end, number, other, best)
            _add(work.tally, nodes, work.streams, to, ALL, place, arc, bound)
