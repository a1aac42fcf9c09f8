"""Resolve overlapping flags: the most probable flag is kept, the others become its alternatives."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Alternative, OverlapResolution, record_edit
from disambig.text import CODE_SIGNS
from disambig.type_aliases import Floats, Ints

if TYPE_CHECKING:
    from disambig.data import Decisions

_TAG_OR_WORD = re.compile(rf"</?[A-Za-z][^<>]{{0,1000}}>|([^\W_]|[{CODE_SIGNS}])")
"""Matches tags, which are skipped, and the first character of a word or of code masked out in prose."""
_SENTENCE_END = re.compile(r"[.!?][^\w\s]*\s")


def edit_slots(starts: Ints, ends: Ints, removes: NDArray[np.bool_]) -> Ints:
    """Return the first and the last slot of each edit, shape ``(2, n)``.

    `starts` and `ends` (int64 (n,)): offsets of the replaced characters; equal for an insertion.
    `removes` (bool (n,)): whether the replacement is empty.
    """
    # Even slots are the gaps between characters, odd slots the characters. A replacement covers its
    # characters, a removal also the gaps around them, an insertion its gap and the next character: so
    # nothing is inserted right before a word that another edit replaces or removes.
    first, last = 2 * starts, 2 * ends
    inside = first < last
    return np.stack([first + (inside & ~removes), last - (inside & ~removes) + ~inside])


def extend_to_next_word(slots: Ints, documents: Ints, ends: Ints, texts: Sequence[str]) -> Ints:
    """Extend the slots of edits to the next word of the sentence, so that edits of adjacent words overlap.

    `slots` (int64 (2, n)): as returned by `edit_slots`.
    `documents` (int64 (n,)): index into `texts` for each edit.
    `ends` (int64 (n,)): end offsets of the edits.
    """
    last = slots[1].copy()
    for i, (document, end) in enumerate(zip(documents.tolist(), ends.tolist(), strict=True)):
        matches = _TAG_OR_WORD.finditer(texts[document], end)
        start = next((match.start() for match in matches if match[1]), None)
        # The first word of the next sentence does not depend on how this one is corrected.
        if start is not None and not _SENTENCE_END.search(texts[document], end, start):
            last[i] = max(last[i], 2 * start + 1)
    return np.stack([slots[0], last])


def surviving_edits(documents: Ints, slots: Ints, probabilities: Floats, tasks: Ints) -> Ints:
    """Return, for each edit, the one that is kept in its place: itself or the most probable overlapping one.

    `documents` (int64 (n,)): edits of different documents never overlap.
    `slots` (int64 (2, n)): as returned by `edit_slots`.
    `probabilities` (float64 (n,)): of equally probable edits the longer one is kept, then the one of the
    first task.
    `tasks` (int64 (n,)): rank of each edit's task by its name.
    """
    first, last = slots
    survivors = np.arange(len(first))
    order = np.lexsort((last, first, documents))
    base = documents[order] * (last.max(initial=0) + 1)  # as if the documents were one text
    furthest = np.maximum.accumulate(base + last[order])
    is_first = np.ones(len(order), bool)
    is_first[1:] = (base + first[order])[1:] > furthest[:-1]
    if is_first.all():
        return survivors
    chain = np.empty(len(order), np.int64)  # number of the run of edits linked by overlaps, for each edit
    chain[order] = np.cumsum(is_first) - 1
    linked = np.flatnonzero((np.bincount(chain) > 1)[chain])
    surest_first = np.lexsort((tasks, first - last, -probabilities, chain))
    by_rank = surest_first[np.isin(surest_first, linked)].tolist()
    # Maps a slot to the kept edit that covers it; comparing with all kept edits would be quadratic.
    kept_at: dict[int, int] = {}
    current = -1
    for rank, i in enumerate(by_rank):
        if chain[i] != current:
            kept_at, current = {}, int(chain[i])
        slots_of_edit = range(int(first[i]), int(last[i]) + 1)
        overlapped = [kept_at[slot] for slot in slots_of_edit if slot in kept_at]
        if overlapped:
            survivors[i] = by_rank[min(overlapped)]
        else:
            kept_at.update(dict.fromkeys(slots_of_edit, rank))
    return survivors


def edits_to_keep(
    edits: Sequence[tuple[int, int, str]], probabilities: Sequence[float], tasks: Sequence[str]
) -> list[int]:
    """Return the indices of the edits of one text that may be applied together, in text order.

    Edits of adjacent words do not overlap: of these, the models decide which are flagged together.

    `edits`: sequence of (start, end, replacement).
    `tasks`: name of the task of each edit.
    """
    if len(edits) < 2:
        return list(range(len(edits)))
    starts, ends = np.array([edit[:2] for edit in edits], np.int64).T
    removes = np.array([not new for _, _, new in edits]) & (starts < ends)
    documents = np.zeros(len(edits), np.int64)
    slots = edit_slots(starts, ends, removes)
    survivors = surviving_edits(documents, slots, np.array(probabilities, np.float64), task_ranks(tasks))
    return sorted(set(survivors.tolist()), key=lambda i: (edits[i][0], edits[i][1]))


def task_ranks(names: Sequence[str]) -> Ints:
    """Return the rank of each name in alphabetical order, for `surviving_edits`."""
    return np.unique(np.array(names), return_inverse=True)[1].astype(np.int64)


def resolve_overlaps(decisions: Sequence[Decisions], texts: Sequence[str]) -> list[Decisions]:
    """Keep one flag in every place, the most probable one; the others become its alternatives.

    Earlier resolutions of the decisions are discarded, and all flags are resolved again.

    `decisions`: decisions of all tasks over the same documents.
    `texts`: the documents.
    """
    raised = [np.flatnonzero(batch.raised) for batch in decisions]
    flags = list(zip(decisions, raised, strict=True))
    if sum(map(len, raised)) < 2:
        return [_with_resolution(batch, rows, rows[:0], None) for batch, rows in flags]
    owner = np.repeat(np.arange(len(decisions)), [len(rows) for rows in raised])
    row = np.concatenate(raised)
    places = zip(owner.tolist(), row.tolist(), strict=True)
    proposed = [decisions[k].candidate_texts(i)[decisions[k].chosen[i]] for k, i in places]

    def column(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(batch, name)[rows] for batch, rows in flags])

    documents, starts, ends = (column(name).astype(np.int64) for name in ("documents", "starts", "ends"))
    probabilities = column("probabilities").astype(np.float64)
    tasks = task_ranks([batch.task for batch in decisions])[owner]
    slots = _slots(starts, ends, proposed, documents, texts)
    survivors = surviving_edits(documents, slots, probabilities, tasks)
    losers = np.flatnonzero(survivors != np.arange(len(survivors)))
    losers = losers[np.lexsort((tasks[losers], -probabilities[losers], row[survivors[losers]]))]

    def alternative(i: int) -> Alternative:
        batch, text = decisions[int(owner[i])], texts[int(documents[i])]
        place = int(starts[i]), int(ends[i])
        return Alternative(
            batch.task, *place, proposed[i], float(probabilities[i]), batch.precision(int(row[i]), text)
        )

    resolved = []
    for k, (batch, rows) in enumerate(flags):
        lost = np.sort(row[losers[owner[losers] == k]])
        beaten = losers[owner[survivors[losers]] == k]  # flags that lost to one of these decisions
        resolution = None
        if len(lost) or len(beaten):
            others = tuple(map(alternative, beaten.tolist()))
            resolution = OverlapResolution(lost, row[survivors[beaten]], others)
        resolved.append(_with_resolution(batch, rows, lost, resolution))
    return resolved


def restore_flags(decisions: Sequence[Decisions], restored: Collection[tuple[int, int]]) -> list[Decisions]:
    """Flag decisions that lost to others; they are no longer alternatives of these.

    Alternatives that overlap a restored flag become alternatives of that flag.

    `decisions`: as `resolve_overlaps` returns them.
    `restored` (collection of (index of the decisions, row)): decisions in ``settled.lost``.
    """
    if not restored:
        return list(decisions)
    winners: list[list[tuple[int, Alternative]]] = [[] for _ in decisions]
    for k, batch in enumerate(decisions):
        settled = batch.settled
        for row, other in zip(settled.won.tolist(), settled.alternatives, strict=True) if settled else ():
            document = int(batch.documents[row])
            inside = [(i, r) for i, r in restored if _covers(decisions[i], r, document, other)]
            if any(_is_place(decisions[i], r, other) for i, r in inside):
                continue  # it is the restored flag itself
            owner, winner = inside[0] if inside else (k, row)
            winners[owner].append((winner, other))
    changed = []
    for k, batch in enumerate(decisions):
        if batch.settled is None:
            changed.append(batch)
            continue
        rows = [row for owner, row in restored if owner == k]
        flagged = batch.flagged.copy()
        flagged[rows] = True
        pairs = sorted(winners[k], key=lambda pair: (pair[0], -pair[1].probability))
        resolution = OverlapResolution(
            np.setdiff1d(batch.settled.lost, rows),
            np.array([row for row, _ in pairs], np.int64),
            tuple(other for _, other in pairs),
        )
        changed.append(replace(batch, flagged=flagged, settled=resolution))
    return changed


def _covers(decisions: Decisions, row: int, document: int, other: Alternative) -> bool:
    """Return True if an alternative overlaps a decision, or is at the same empty place."""
    start, end = int(decisions.starts[row]), int(decisions.ends[row])
    overlaps = max(start, other.start) < min(end, other.end) or (start, end) == (other.start, other.end)
    return int(decisions.documents[row]) == document and overlaps


def _is_place(decisions: Decisions, row: int, other: Alternative) -> bool:
    """Return True if an alternative and a decision have the same task and place."""
    place = int(decisions.starts[row]), int(decisions.ends[row])
    return decisions.task == other.task and place == (other.start, other.end)


def _with_resolution(
    decisions: Decisions, raised: Ints, lost: Ints, settled: OverlapResolution | None
) -> Decisions:
    """Return the decisions with the flags that are left after a resolution."""
    if settled is None and decisions.settled is None:
        return decisions
    flagged = np.zeros(len(decisions), bool)
    flagged[raised] = True
    flagged[lost] = False
    return replace(decisions, flagged=flagged, settled=settled)


def _slots(starts: Ints, ends: Ints, proposed: Sequence[str], documents: Ints, texts: Sequence[str]) -> Ints:
    """Return the slots of the edits that the decisions propose, extended to the next word."""
    removes = np.array([not new for new in proposed]) & (starts < ends)
    if removes.any():
        starts, ends = starts.copy(), ends.copy()
    for i in np.flatnonzero(removes).tolist():
        text, start, end = texts[int(documents[i])], int(starts[i]), int(ends[i])
        edit = record_edit({"start": start, "end": end, "observed": text[start:end], "replacement": ""}, text)
        starts[i], ends[i] = edit["start"], edit["end"]
    return extend_to_next_word(edit_slots(starts, ends, removes), documents, ends, texts)
