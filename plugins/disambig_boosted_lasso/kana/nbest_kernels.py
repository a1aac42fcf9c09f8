"""Numba kernels of the way back: the k best strings of a lattice, each once, the best first.

From the end of the sentence stretches are grown towards its start, always the one whose best whole path is
the best (A*; the scores of `forward_kernels` say exactly how good that is). Of two stretches with the same
string behind the same node only the first one counts, and each node needs no more than k strings: a further
one could only begin strings that are worse than k others.
"""

# Numba finds the types of compiled functions.
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled, fmix64

from .forward_kernels import ALL, GROUP, ONE, clear, forward, is_seen, is_seen_at_all
from .lattice_kernels import LAST, lay
from .ngram_kernels import mixed, second

DONE, NO_ROOM = 0, 1
HYPOTHESES, HEAP, FULL, SEEN = 0, 1, 2, 3


@compiled
def convert(tables, words, codes, offsets, first, k, work, search, found):
    """Convert lines from `first` on; return the line that was not done, and whether room was wanting.

    Each line's candidates are written to `found`, the best first. With no room for a line's lattice or for
    its candidates the caller gives more and goes on from there.
    """
    found.tally[:] = 0
    for line in range(first, len(offsets) - 1):
        start, end = offsets[line], offsets[line + 1]
        n = end - start
        if len(found.scores) - found.tally[0] < k or len(found.words) - found.tally[1] < k * (n + 1):
            return line, DONE
        kept, written = found.tally[0], found.tally[1]
        done = n + 3 <= len(work.places)
        done = done and lay(tables, words, codes, start, end, k, work.arcs, work.places) >= 0
        done = done and forward(tables, n, work.arcs, work)
        done = done and _back(tables, n, k, work, search, found)
        clear(work.tally, work.nodes, work.slots)
        _forget(search.tally, search.seen, search.seen_at)
        if not done:
            found.tally[0], found.tally[1] = kept, written
            return line, NO_ROOM
        found.line_ends[line] = found.tally[0]
    return len(offsets) - 1, DONE


@compiled
def _back(tables, n, k, work, search, found):
    """Write the best strings of a line; return False for want of room."""
    singles, pairs, triples = tables.singles, tables.pairs, tables.triples
    nodes, streams, arcs, tally = work.nodes, work.streams, work.arcs, search.tally
    stretches, heap, items, seen, seen_at = (
        search.stretches,
        search.heap,
        search.items,
        search.seen,
        search.seen_at,
    )
    stretches[0].parent, stretches[0].node, stretches[0].arc = -1, work.places[n + 1].head, -1
    stretches[0].behind, stretches[0].hash, stretches[0].power = 0.0, np.uint64(0), np.uint64(1)
    tally[HYPOTHESES] = 1
    count = 0
    _open(work, stretches, 0, tally, heap, items)
    while tally[HEAP] and count < k and not tally[FULL]:
        score, stretch, stream, rank, node, arc = _pop(tally, heap, items)
        if node < 0:
            node = _next_of(work, stretches, tally, heap, items, stretch, stream, rank)
            gain = _gain(singles, pairs, triples, nodes, node, arcs, arc, streams[stream].kind)
            if gain == -np.inf:
                continue
            score = nodes[node].best + gain + stretches[stretch].behind
            if tally[HEAP] and heap[0] > score:
                _push(tally, heap, items, score, stretch, stream, rank, node, arc)
                continue
        if arcs[arc].next >= 0:
            worse = score - arcs[arc].extra + arcs[arcs[arc].next].extra
            _push(tally, heap, items, worse, stretch, stream, rank, node, arcs[arc].next)
        text = arcs[arc].hash * stretches[stretch].power + stretches[stretch].hash
        if nodes[node].taken >= k or not _is_new(tally, seen, seen_at, node, text):
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
            _write(arcs, stretches, new, score, found)
            count += 1
        else:
            _open(work, stretches, new, tally, heap, items)
    return tally[FULL] == 0


@compiled
def _open(work, stretches, stretch, tally, heap, items):
    """Push what leads to the node where a stretch begins."""
    nodes, streams = work.nodes, work.streams
    stream, behind = nodes[stretches[stretch].node].stream, stretches[stretch].behind
    while stream >= 0:
        source, bound, arc = streams[stream].source, streams[stream].bound + behind, streams[stream].arc
        if streams[stream].kind == ONE:
            _push(tally, heap, items, nodes[source].best + bound, stretch, stream, 0, source, arc)
        elif streams[stream].kind == GROUP:
            node = work.members[work.groups[source].begin]
            _push(tally, heap, items, nodes[node].brings_group + bound, stretch, stream, 0, -1, arc)
        else:
            node = work.order[work.places[source].order]
            _push(tally, heap, items, nodes[node].brings + bound, stretch, stream, 0, -1, arc)
        stream = streams[stream].after


@compiled
def _next_of(work, stretches, tally, heap, items, stretch, stream, rank):
    """Return the node of a rank in a stream; what comes behind it is pushed."""
    nodes, one = work.nodes, work.streams[stream]
    bound = one.bound + stretches[stretch].behind
    if one.kind == GROUP:
        at, end = work.groups[one.source].begin + rank, work.groups[one.source + 1].begin
        node = np.int64(work.members[at])
        if at + 1 < end:
            following = nodes[work.members[at + 1]].brings_group + bound
            _push(tally, heap, items, following, stretch, stream, rank + 1, -1, one.arc)
    else:
        at, end = work.places[one.source].order + rank, work.places[one.source + 1].order
        node = np.int64(work.order[at])
        if at + 1 < end:
            following = nodes[work.order[at + 1]].brings + bound
            _push(tally, heap, items, following, stretch, stream, rank + 1, -1, one.arc)
    return node


@compiled
def _gain(singles, pairs, triples, nodes, node, arcs, arc, kind):
    """Return what an arc gives behind a node of a stream; minus infinity for one that is passed over."""
    number, other = np.int64(arcs[arc].number), np.int64(arcs[arc].other)
    if kind == ALL:
        if is_seen_at_all(singles, pairs, triples, nodes, node, arcs, arc):
            return -np.inf
        gain = nodes[node].far + singles[number].log_prob
    else:
        if is_seen(singles, pairs, triples, nodes, node, arcs, arc):
            return -np.inf
        gain = nodes[node].off + second(singles, pairs, nodes[node].last, number)[0]
    gain += arcs[arc].share
    if other >= 0:
        if kind == ALL:
            its = nodes[node].other_far + singles[other].log_prob
        else:
            its = nodes[node].other_off + second(singles, pairs, nodes[node].other_last, other)[0]
        gain = mixed(gain, its + arcs[arc].other_share)
    return gain + arcs[arc].extra


@compiled
def _write(arcs, stretches, stretch, score, found):
    """Write a candidate: its score, and its words from the start on."""
    start = 0
    while stretches[stretch].parent >= 0 and arcs[stretches[stretch].arc].kind != LAST:
        arc, at = stretches[stretch].arc, found.tally[1]
        found.words[at].kind, found.words[at].start, found.words[at].end = (
            arcs[arc].kind,
            start,
            arcs[arc].end,
        )
        start = arcs[arc].end
        found.tally[1] += 1
        stretch = stretches[stretch].parent
    found.scores[found.tally[0]] = score
    found.word_ends[found.tally[0]] = found.tally[1]
    found.tally[0] += 1


@compiled
def _is_new(tally, seen, seen_at, node, text):
    """Return whether a string was not seen behind a node before, and keep it."""
    key = fmix64(text + np.uint64(node) * np.uint64(0xD6E8FEB86659FD93)) | np.uint64(1)
    mask = np.uint64(len(seen) - 1)
    at = (key >> np.uint64(1)) & mask
    while seen[at] != 0:
        if seen[at] == key:
            return False
        at = (at + np.uint64(1)) & mask
    if 2 * tally[SEEN] >= len(seen):
        tally[FULL] = 1
        return True
    seen[at], seen_at[tally[SEEN]] = key, at
    tally[SEEN] += 1
    return True


@compiled
def _forget(tally, seen, seen_at):
    """Forget what was seen of a line."""
    for i in range(tally[SEEN]):
        seen[seen_at[i]] = 0
    tally[:] = 0


@compiled
def _push(tally, heap, items, score, stretch, stream, rank, node, arc):
    """Push onto the heap, if there is room."""
    at = tally[HEAP]
    if at == len(heap):
        tally[FULL] = 1
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


@compiled
def _move(items, source, target):
    items[target].stretch, items[target].stream = items[source].stretch, items[source].stream
    items[target].rank, items[target].node = items[source].rank, items[source].node
    items[target].arc = items[source].arc


@compiled
def _pop(tally, heap, items):
    """Return and take away the best of the heap."""
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
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    from disambig.api.language_models import Sentences, Vocabulary, estimate

    from .decoding import Decoder
    from .lexicon import Lexicon
    from .lexicon_tables import lexicon_tables
    from .ngrams import tables_of
    from .settings import ConverterSettings
    from .spelling import learn_spelling

    vocabulary = Vocabulary.of(["a"])
    levels = estimate(Sentences.of(vocabulary, [["a", "a", "a"]]), vocabulary).levels
    words, _ = lexicon_tables(
        Lexicon.counted([("a", "か", "x")], [1]),
        vocabulary,
        learn_spelling([], shares=(0.5, 0.5)),
        ConverterSettings(),
    )
    Decoder(tables_of([(levels, 0.0)], len(vocabulary)), words).paths(["か1"], 2)
