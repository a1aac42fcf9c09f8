"""Compiled functions that search the lattice: the forward pass, and the k best strings backwards.

A node is a place of the line with a state (the last one or two words) of each language model; there are one
or two, called *parts*. To look up a triple for each node and arc would take most of the time, so each arc
reaches its next node by three kinds of streams, depending on the longest n-gram that ends with its word:

* `ONE`: a triple. The stream has one node, and `bound` is the exact score of the arc.
* `GROUP`: a pair. The nodes of a group have the same last word, and thus the same pair; they differ in the
  back-off weight of their state (`off`) and their score: they are sorted by `brings_group`, the sum of both.
* `ALL`: neither. The nodes of a place differ in the back-off weights down to single words (`far`); they are
  sorted by `brings`.

With two parts, `brings` and `bound` are upper bounds, since the logarithm of a sum is not the sum of the
logarithms. The backward search takes hypotheses from a heap in the order of the score of the whole line: the
score from the start to its first node, which the forward pass has computed, and that of the stretch after it.
So lines are finished best first (A* with an exact estimate).
"""

from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled_in_place, fmix64

from ._lattice_kernels import (
    LAST,
    back_off,
    bigram_step,
    build_lattice,
    find_pair,
    find_triple,
    find_triple_after,
    last_word,
    log_add,
    step,
)

# Numba infers the types of compiled functions.
# mypy: allow-untyped-defs


ONE, GROUP, ALL = 0, 1, 2
"""Kinds of streams."""
NODES, STREAMS, GROUPS, FORWARD_FULL = 0, 1, 2, 3
"""Indices into the `tally` of the forward pass: three numbers, and whether a buffer was too small."""
_FEW = 16
"""Up to this many seen words for each arc, the words are looked up among the arcs and not vice versa."""
_STEP = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: multiples of it are spread evenly."""


@compiled_in_place
def forward(tables, n, margin, arcs, work):
    """Find the nodes of a lattice of `n` characters and their best scores; return False if room is short.

    Nodes whose score is less than the best of their place by more than `margin` are not followed.
    """
    tally, nodes, slots, places = work.tally, work.nodes, work.slots, work.places
    for place in range(n + 2):
        places[place].head = -1
    places[0].order = 0
    other = tables.starts[1] if len(tables.starts) > 1 else -1
    _reach(tally, nodes, slots, places, 0, tables.starts[0], other, 0.0)
    for place in range(n + 1):
        _gather(tables, work, place, margin)
        first, last = places[place].arc, places[place + 1].arc
        n_marks = (places[place + 1].order - places[place].order) * (last - first)
        if last - first > work.after.shape[1] or n_marks > len(work.behind_two):
            tally[FORWARD_FULL] = 1
        if tally[FORWARD_FULL]:
            return False
        # for each node (group) and each arc, whether the arc's word was seen after both words (the last word)
        work.behind_two[:n_marks] = 0
        work.behind_one[:n_marks] = 0  # a group has at least one node
        for arc in range(first, last):
            work.after[0, arc - first] = work.heads[arcs[arc].number]
            work.heads[arcs[arc].number] = arc
            if other >= 0:
                work.after[1, arc - first] = work.heads[arcs[arc].other]
                work.heads[arcs[arc].other] = arc
        _behind_two(tables, arcs, work, place)
        _behind_one(tables, arcs, work, place)
        _behind_any(tables, arcs, work, place)
        # `heads` has an entry for each word of the vocabulary: only those used here are cleared
        for arc in range(first, last):
            work.heads[arcs[arc].number] = -1
            if other >= 0:
                work.heads[arcs[arc].other] = -1
        if tally[FORWARD_FULL]:
            return False
    _gather(tables, work, n + 1, margin)
    return tally[FORWARD_FULL] == 0


@compiled_in_place
def clear(tally, nodes, slots):
    """Remove the nodes of a line."""
    for node in range(tally[NODES]):
        slots[nodes[node].slot] = -1
    tally[:] = 0


@compiled_in_place
def _reach(tally, nodes, slots, places, place, state, other, score):
    """Return the node at a place with these states, updated with `score`; -1 if room is missing."""
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
        tally[FORWARD_FULL] = 1
        return np.int64(-1)
    tally[NODES] += 1
    slots[at] = node
    nodes[node].slot, nodes[node].place, nodes[node].best = at, place, score
    nodes[node].state, nodes[node].other = state, other
    nodes[node].chain, nodes[node].stream, nodes[node].taken = places[place].head, -1, 0
    places[place].head = node
    return node


@compiled_in_place
def _add(tally, nodes, streams, node, kind, source, arc, bound):
    """Add a stream to the incoming streams of a node."""
    stream = tally[STREAMS]
    if node < 0 or stream == len(streams):
        tally[FORWARD_FULL] = 1
        return
    tally[STREAMS] += 1
    streams[stream].kind, streams[stream].source, streams[stream].arc = kind, source, arc
    streams[stream].bound, streams[stream].after = bound, nodes[node].stream
    nodes[node].stream = stream


@compiled_in_place
def _gather(tables, work, place, margin):
    """Sort the nodes of a place by their maximum score, and into groups with the same last word."""
    singles, tally, nodes = tables.singles, work.tally, work.nodes
    first, count, node = work.places[place].order, 0, work.places[place].head
    minimum = -np.inf
    while node >= 0:
        minimum = max(minimum, nodes[node].best)
        node = nodes[node].chain
    minimum -= margin
    node = work.places[place].head
    while node >= 0:
        if nodes[node].best < minimum:
            node = nodes[node].chain
            continue
        state, other = nodes[node].state, nodes[node].other
        last = last_word(tables, state)
        off = back_off(tables, state)
        far = off + singles[last].back_off
        nodes[node].last, nodes[node].off, nodes[node].far = last, off, far
        if other >= 0:
            last = last_word(tables, other)
            other_off = back_off(tables, other)
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
    _sort_by(work.keys, order, count)
    work.places[place].group = tally[GROUPS]
    for rank in range(count):
        node = order[rank]
        nodes[node].rank = rank
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


@compiled_in_place
def _sort_by(keys, order, count):
    """Sort nodes by ascending key, in place (Shell's method; compiling NumPy's sort takes eight seconds)."""
    gap = 1
    while gap < count:
        gap = 3 * gap + 1
    while gap > 1:
        gap //= 3
        for i in range(gap, count):
            key, node, at = keys[i], order[i], i
            while at >= gap and keys[at - gap] > key:
                keys[at], order[at] = keys[at - gap], order[at - gap]
                at -= gap
            keys[at], order[at] = key, node


@compiled_in_place
def _into_group(tally, nodes, groups, heads, node):
    """Return the group of a node, by place and last word in both parts, or start a new one."""
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


@compiled_in_place
def _sort_in(nodes, groups, members, node):
    """Insert a node into its group, sorted by score."""
    group = nodes[node].group
    begin = groups[group].begin
    at = begin + groups[group].size
    groups[group].size += 1
    while at > begin and nodes[members[at - 1]].brings_group < nodes[node].brings_group:
        members[at] = members[at - 1]
        at -= 1
    members[at] = node


@compiled_in_place
def _behind_two(tables, arcs, work, place):
    """Follow the arcs whose words were seen after both words of a node, and mark them."""
    nodes, heads, after, marks = work.nodes, work.heads, work.after, work.behind_two
    first, last = work.places[place].arc, work.places[place + 1].arc
    row = -first
    for i in range(work.places[place].order, work.places[place + 1].order):
        node = work.order[i]
        for part in range(len(tables.starts)):
            pair = (nodes[node].other if part else nodes[node].state) - (len(tables.singles) - 1)
            if pair < 0:
                continue
            begin, end = tables.pairs[pair].begin, tables.pairs[pair + 1].begin
            # The words seen after this pair are met with the arcs of this place from the smaller side: either
            # each seen word looks up its arcs, or each arc looks up its word.
            few = end - begin <= _FEW * (last - first)
            at, until = (begin, end) if few else (np.int64(first), np.int64(last))
            while at < until:
                if few:
                    triple, arc = at, np.int64(heads[tables.triple_words[at]])
                else:
                    triple = find_triple(tables, pair, arcs[at].other if part else arcs[at].number)
                    arc = at if triple >= 0 else np.int64(-1)
                while arc >= 0:
                    # with two language models an arc may be reached twice
                    if marks[row + arc] == 0:
                        marks[row + arc] = 1
                        gain, state, other = _after_both(
                            tables, nodes[node].state, nodes[node].other, arcs, arc, part, triple
                        )
                        score = nodes[node].best + gain
                        to = _reach(
                            work.tally, nodes, work.slots, work.places, arcs[arc].end, state, other, score
                        )
                        _add(work.tally, nodes, work.streams, to, ONE, node, arc, gain)
                    arc = np.int64(after[part, arc - first]) if few else np.int64(-1)
                at += 1
        row += last - first


@compiled_in_place
def _after_both(tables, state, other, arcs, arc, part, triple):
    """Return the score of an arc after a state, and the next states.

    `triple` is the number of the state's words and the arc's in the model `part`.
    """
    number = np.int64(arcs[arc].number)
    gain, behind = step(tables, state, number, find_triple_after(tables, state, number) if part else triple)
    gain += arcs[arc].share
    if other >= 0:
        number = np.int64(arcs[arc].other)
        other_gain, other = step(
            tables, other, number, triple if part else find_triple_after(tables, other, number)
        )
        gain = log_add(gain, other_gain + arcs[arc].other_share)
    return gain + arcs[arc].extra, behind, other


@compiled_in_place
def _behind_one(tables, arcs, work, place):
    """Follow the arcs whose words were seen after the last word of a group of nodes, and mark them."""
    heads, after, marks = work.heads, work.after, work.behind_one
    first, last = work.places[place].arc, work.places[place + 1].arc
    row = -first
    for group in range(work.places[place].group, work.tally[GROUPS]):
        for part in range(len(tables.starts)):
            word = work.groups[group].other if part else work.groups[group].last
            begin, end = tables.singles[word].begin, tables.singles[word + 1].begin
            few = end - begin <= _FEW * (last - first)
            at, until = (begin, end) if few else (np.int64(first), np.int64(last))
            while at < until:
                if few:
                    pair, arc = at, np.int64(heads[tables.pair_words[at]])
                else:
                    pair = find_pair(tables, word, arcs[at].other if part else arcs[at].number)
                    arc = at if pair >= 0 else np.int64(-1)
                while arc >= 0:
                    if marks[row + arc] == 0:
                        marks[row + arc] = 1
                        _group(tables, arcs, work, place, group, arc, part, pair)
                    arc = np.int64(after[part, arc - first]) if few else np.int64(-1)
                at += 1
        row += last - first


@compiled_in_place
def _group(tables, arcs, work, place, group, arc, part, pair):
    """Follow an arc from the best node of a group for which its word was not seen after both words.

    `pair` is the number of the group's last word and the arc's in the model `part`.
    """
    nodes, groups = work.nodes, work.groups
    first, n_arcs = work.places[place].arc, work.places[place + 1].arc - work.places[place].arc
    last, number = groups[group].last, np.int64(arcs[arc].number)
    one, state = bigram_step(tables, last, number, find_pair(tables, last, number) if part else pair)
    one += arcs[arc].share + arcs[arc].extra
    bound, two, other = one, -np.inf, np.int64(-1)
    if groups[group].other >= 0:
        last, number = groups[group].other, np.int64(arcs[arc].other)
        two, other = bigram_step(tables, last, number, pair if part else find_pair(tables, last, number))
        two += arcs[arc].other_share + arcs[arc].extra
        bound = log_add(one, two)
    best = -np.inf
    for i in range(groups[group].begin, groups[group + 1].begin):
        node = work.members[i]
        # members are sorted by their bound: no later one can be better
        if not nodes[node].brings_group + bound > best:
            break
        value = nodes[node].off + one
        if other >= 0:
            value = log_add(value, nodes[node].other_off + two)
        value += nodes[node].best
        if value > best and work.behind_two[nodes[node].rank * n_arcs + arc - first] == 0:
            best = value
    if best > -np.inf:
        to = _reach(work.tally, nodes, work.slots, work.places, arcs[arc].end, state, other, best)
        _add(work.tally, nodes, work.streams, to, GROUP, group, arc, bound)


@compiled_in_place
def _is_seen(tables, nodes, node, arcs, arc):
    """Return True if the word of an arc was seen after the two words of a node, in any part."""
    if find_triple_after(tables, nodes[node].state, arcs[arc].number) >= 0:
        return True
    other = nodes[node].other
    return other >= 0 and find_triple_after(tables, other, arcs[arc].other) >= 0


@compiled_in_place
def _behind_any(tables, arcs, work, place):
    """Follow each arc from the best node of a place for which its word was not seen after the last word."""
    singles, nodes = tables.singles, work.nodes
    first, last = work.places[place].order, work.places[place + 1].order
    first_group = work.places[place].group
    first_arc, n_arcs = work.places[place].arc, work.places[place + 1].arc - work.places[place].arc
    for arc in range(first_arc, first_arc + n_arcs):
        number, other = np.int64(arcs[arc].number), np.int64(arcs[arc].other)
        one = singles[number].log_prob + arcs[arc].share + arcs[arc].extra
        bound, two, best = one, -np.inf, -np.inf
        if other >= 0:
            two = singles[other].log_prob + arcs[arc].other_share + arcs[arc].extra
            bound = log_add(one, two)
        for i in range(first, last):
            node = work.order[i]
            # nodes are sorted by their bound: no later one can be better
            if not nodes[node].brings + bound > best:
                break
            value = nodes[node].far + one
            if other >= 0:
                value = log_add(value, nodes[node].other_far + two)
            value += nodes[node].best
            if value > best:
                at, group = (i - first) * n_arcs, (nodes[node].group - first_group) * n_arcs
                if not (work.behind_two[at + arc - first_arc] or work.behind_one[group + arc - first_arc]):
                    best = value
        if best > -np.inf:
            to = _reach(work.tally, nodes, work.slots, work.places, arcs[arc].end, number, other, best)
            _add(work.tally, nodes, work.streams, to, ALL, place, arc, bound)


# ---- the k best strings, from the end of a line to its beginning

DONE, NO_ROOM = 0, 1
HYPOTHESES, HEAP, NBEST_FULL, SEEN = 0, 1, 2, 3
"""Indices into the `tally` of the backward search."""


@compiled_in_place
def find_conversions(tables, words, spoken, codes, offsets, first, k, work, search, output):
    """Convert lines from `first` on; return the first unfinished line, and whether room was missing.

    Each line's candidates are written to `output`, the best first. If there is not enough room for a line's
    lattice or candidates, the caller enlarges it and continues from there.
    """
    output.tally[:] = 0
    for line in range(first, len(offsets) - 1):
        start, end = offsets[line], offsets[line + 1]
        n = end - start
        if len(output.scores) - output.tally[0] < k or len(output.words) - output.tally[1] < k * (n + 1):
            return line, DONE
        kept, written = output.tally[0], output.tally[1]
        done = n + 3 <= len(work.places)
        arcs, places, unknown = work.arcs, work.places, work.unknown
        done = done and build_lattice(tables, words, spoken, codes, start, end, k, arcs, places, unknown) >= 0
        done = done and forward(tables, n, words.margin[0], work.arcs, work)
        done = done and _back(tables, n, k, work, search, output)
        clear(work.tally, work.nodes, work.slots)
        _forget(search.tally, search.seen, search.seen_at)
        if not done:
            output.tally[0], output.tally[1] = kept, written
            return line, NO_ROOM
        output.line_ends[line] = output.tally[0]
    return len(offsets) - 1, DONE


@compiled_in_place
def _back(tables, n, k, work, search, output):
    """Write the best strings of a line; return False if room is missing."""
    nodes, streams, arcs, tally = work.nodes, work.streams, work.arcs, search.tally
    stretches, heap, items = search.stretches, search.heap, search.items
    stretches[0].parent, stretches[0].node, stretches[0].arc = -1, work.places[n + 1].head, -1
    stretches[0].behind, stretches[0].hash, stretches[0].power = 0.0, np.uint64(0), np.uint64(1)
    tally[HYPOTHESES] = 1
    count = 0
    _open(work, stretches, 0, tally, heap, items)
    while tally[HEAP] and count < k and not tally[NBEST_FULL]:
        score, stretch, stream, rank, node, arc = _pop(tally, heap, items)
        # An item without a node has the bound of its stream: compute the exact score of the stream's next
        # node, and put it back if another item is better by now.
        if node < 0:
            node = _next_in_stream(work, stretches, tally, heap, items, stretch, stream, rank)
            gain = _gain(tables, nodes, node, arcs, arc, streams[stream].kind)
            if gain == -np.inf:
                continue
            score = nodes[node].best + gain + stretches[stretch].behind
            if tally[HEAP] and heap[0] > score:
                _push(tally, heap, items, score, stretch, stream, rank, node, arc)
                continue
        # the next unknown word of the same stretch of the line, which only differs in `extra`
        if arcs[arc].next >= 0:
            worse = score - arcs[arc].extra + arcs[arcs[arc].next].extra
            _push(tally, heap, items, worse, stretch, stream, rank, node, np.int64(arcs[arc].next))
        # At most k different strings may continue from a node: the k best lines need no more.
        text = arcs[arc].hash * stretches[stretch].power + stretches[stretch].hash
        if nodes[node].taken >= k or not _is_new(search, node, text):
            continue
        nodes[node].taken += 1
        new = tally[HYPOTHESES]
        if new == len(stretches):
            return False
        tally[HYPOTHESES] += 1
        stretches[new].parent, stretches[new].node, stretches[new].arc = stretch, node, arc
        stretches[new].behind, stretches[new].hash = score - nodes[node].best, text
        stretches[new].power = stretches[stretch].power * arcs[arc].power
        if nodes[node].place == 0:
            _write(arcs, stretches, new, score, output)
            count += 1
        else:
            _open(work, stretches, new, tally, heap, items)
    return tally[NBEST_FULL] == 0


@compiled_in_place
def _open(work, stretches, stretch, tally, heap, items):
    """Push the predecessors of the node where a stretch begins."""
    nodes, streams = work.nodes, work.streams
    # one type of integer for all calls of `_push`: each other one would be compiled as well
    none, rank, stretch = np.int64(-1), np.int64(0), np.int64(stretch)
    stream, behind = np.int64(nodes[stretches[stretch].node].stream), stretches[stretch].behind
    while stream >= 0:
        source, arc = np.int64(streams[stream].source), np.int64(streams[stream].arc)
        bound = streams[stream].bound + behind
        if streams[stream].kind == ONE:
            _push(tally, heap, items, nodes[source].best + bound, stretch, stream, rank, source, arc)
        elif streams[stream].kind == GROUP:
            node = work.members[work.groups[source].begin]
            _push(tally, heap, items, nodes[node].brings_group + bound, stretch, stream, rank, none, arc)
        else:
            node = work.order[work.places[source].order]
            _push(tally, heap, items, nodes[node].brings + bound, stretch, stream, rank, none, arc)
        stream = np.int64(streams[stream].after)


@compiled_in_place
def _next_in_stream(work, stretches, tally, heap, items, stretch, stream, rank):
    """Return the node with a rank in a stream, and push the next rank."""
    nodes, one = work.nodes, work.streams[stream]
    none, arc = np.int64(-1), np.int64(one.arc)
    bound = one.bound + stretches[stretch].behind
    if one.kind == GROUP:
        at, end = work.groups[one.source].begin + rank, work.groups[one.source + 1].begin
        node = np.int64(work.members[at])
        if at + 1 < end:
            following = nodes[work.members[at + 1]].brings_group + bound
            _push(tally, heap, items, following, stretch, stream, rank + 1, none, arc)
    else:
        at, end = work.places[one.source].order + rank, work.places[one.source + 1].order
        node = np.int64(work.order[at])
        if at + 1 < end:
            following = nodes[work.order[at + 1]].brings + bound
            _push(tally, heap, items, following, stretch, stream, rank + 1, none, arc)
    return node


@compiled_in_place
def _gain(tables, nodes, node, arcs, arc, kind):
    """Return the score of an arc after a node of a stream; minus infinity for an arc that is skipped."""
    number, other = np.int64(arcs[arc].number), np.int64(arcs[arc].other)
    last, other_last = nodes[node].last, nodes[node].other_last
    pair = find_pair(tables, last, number)
    other_pair = find_pair(tables, other_last, other) if other >= 0 else np.int64(-1)
    if (kind == ALL and (pair >= 0 or other_pair >= 0)) or _is_seen(tables, nodes, node, arcs, arc):
        return -np.inf
    if kind == ALL:
        gain = nodes[node].far + tables.singles[number].log_prob
    else:
        gain = nodes[node].off + bigram_step(tables, last, number, pair)[0]
    gain += arcs[arc].share
    if other >= 0:
        if kind == ALL:
            other_gain = nodes[node].other_far + tables.singles[other].log_prob
        else:
            other_gain = nodes[node].other_off + bigram_step(tables, other_last, other, other_pair)[0]
        gain = log_add(gain, other_gain + arcs[arc].other_share)
    return gain + arcs[arc].extra


@compiled_in_place
def _write(arcs, stretches, stretch, score, output):
    """Write a candidate: its score, and its words from the start on."""
    start = 0
    while stretches[stretch].parent >= 0 and arcs[stretches[stretch].arc].kind != LAST:
        arc, at = stretches[stretch].arc, output.tally[1]
        end = arcs[arc].end
        output.words[at].kind, output.words[at].start, output.words[at].end = arcs[arc].kind, start, end
        start = end
        output.tally[1] += 1
        stretch = stretches[stretch].parent
    output.scores[output.tally[0]] = score
    output.word_ends[output.tally[0]] = output.tally[1]
    output.tally[0] += 1


@compiled_in_place
def _is_new(search, node, text):
    """Return True if a string is new at a node, and store it."""
    tally, seen = search.tally, search.seen
    # the lowest bit is set, since 0 marks an empty slot
    key = fmix64(text + np.uint64(node) * np.uint64(0xD6E8FEB86659FD93)) | np.uint64(1)
    mask = np.uint64(len(seen) - 1)
    at = (key >> np.uint64(1)) & mask
    while seen[at] != 0:
        if seen[at] == key:
            return False
        at = (at + np.uint64(1)) & mask
    if 2 * tally[SEEN] >= len(seen):
        tally[NBEST_FULL] = 1
        return True
    seen[at], search.seen_at[tally[SEEN]] = key, at
    tally[SEEN] += 1
    return True


@compiled_in_place
def _forget(tally, seen, seen_at):
    """Clear the strings that were seen in a line."""
    for i in range(tally[SEEN]):
        seen[seen_at[i]] = 0
    tally[:] = 0


@compiled_in_place
def _push(tally, heap, items, score, stretch, stream, rank, node, arc):
    """Push onto the heap, if there is room."""
    at = tally[HEAP]
    if at == len(heap):
        tally[NBEST_FULL] = 1
        return
    tally[HEAP] += 1
    while at > 0:
        above = (at - 1) >> 1
        if heap[above] >= score:
            break
        heap[at] = heap[above]
        _move(items, above, at)
        at = above
    heap[at] = score
    items[at].stretch, items[at].stream, items[at].rank = stretch, stream, rank
    items[at].node, items[at].arc = node, arc


@compiled_in_place
def _move(items, source, target):
    items[target].stretch, items[target].stream = items[source].stretch, items[source].stream
    items[target].rank, items[target].node = items[source].rank, items[source].node
    items[target].arc = items[source].arc


@compiled_in_place
def _pop(tally, heap, items):
    """Pop the best element from the heap."""
    score, stretch, stream = heap[0], np.int64(items[0].stretch), np.int64(items[0].stream)
    rank, node, arc = np.int64(items[0].rank), np.int64(items[0].node), np.int64(items[0].arc)
    tally[HEAP] -= 1
    n = tally[HEAP]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= n:
            break
        if below + 1 < n and heap[below + 1] > heap[below]:
            below += 1
        if heap[below] <= heap[n]:
            break
        heap[at] = heap[below]
        _move(items, below, at)
        at = below
    heap[at] = heap[n]
    _move(items, n, at)
    return score, stretch, stream, rank, node, arc


def sample() -> None:
    """Run a small example, so that `disambig doctor --compile` compiles the functions."""
    from disambig.api.language_models import Sentences, WordVocabulary, estimate

    from .characters import learn_spelling
    from .converter import ConverterSettings, build_lexicon_tables
    from .decoding import LatticeDecoder, build_ngram_tables
    from .lexicon import KanaLexicon

    vocabulary = WordVocabulary.from_words(["a"])
    levels = estimate(Sentences.from_words(vocabulary, [["a", "a", "a"]]), vocabulary).levels
    words, _ = build_lexicon_tables(
        KanaLexicon.counted([("a", "か", "x")], [1]),
        vocabulary,
        learn_spelling([], shares=(0.5, 0.5)),
        ConverterSettings(),
    )
    LatticeDecoder(build_ngram_tables([(levels, 0.0)], len(vocabulary)), words).paths(["か1"], 2)
