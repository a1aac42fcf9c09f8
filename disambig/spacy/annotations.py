"""The layout of annotations on a Doc: a span group a task, and its records in ``doc.user_data``.

``doc.spans[KEY]`` holds one Span a decision: ``label_`` is the chosen candidate, ``id_`` the task.
``doc.user_data["disambig.TASK"]`` holds the decisions of that task by columns, as bytes, so that they
survive ``to_bytes``, DocBin (``store_user_data=True``) and pickling. ``span._.disambig`` makes the
record of its own task into a dict when it is asked for; it is set when this module is imported.

spaCy loses some of it: ``Doc.to_json`` drops span ids, ``Span.as_doc`` drops span groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from disambig.data.decisions import Decisions
from disambig.data.groups import Group
from disambig.text.documents import tokens_of

EXTENSION = "disambig"
PREFIX = "disambig."
_DTYPES = {
    "starts": np.int32,
    "ends": np.int32,
    "groups": np.int32,
    "observed": np.int32,
    "chosen": np.int32,
    "offsets": np.int64,
    "scores": np.float32,
    "margins": np.float32,
    "probabilities": np.float32,
    "flagged": np.bool_,
    "found": np.int32,
    "asked": np.int32,
}


def write_annotations(doc: Doc, decisions: Decisions, *, spans_key: str) -> None:
    """Write the decisions of one document and one task; those of the task before are replaced.

    Parameters
    ----------
    doc : Doc
    decisions : Decisions
        Of this document only; offsets refer to ``doc.text``.
    spans_key : str
        Key of the span group.
    """
    first, stop = tokens_of(doc, decisions.starts, decisions.ends)
    task = doc.vocab.strings.add(decisions.task)
    labels = _labels(doc, decisions)
    spans = [
        Span(doc, start, end, label=label, span_id=task)
        for start, end, label in zip(first.tolist(), stop.tolist(), labels, strict=True)
    ]
    doc.spans[spans_key] = SpanGroup(doc, name=spans_key, spans=spans)
    doc.user_data[PREFIX + decisions.task] = packed(decisions)


def _labels(doc: Doc, decisions: Decisions) -> list[int]:
    """Return the label (a hash in the StringStore) of each decision's chosen candidate."""
    add = doc.vocab.strings.add
    known: dict[tuple[int, int], int] = {}
    labels = []
    for pair in zip(decisions.groups.tolist(), decisions.chosen.tolist(), strict=True):
        label = known.get(pair)
        if label is None:
            label = known[pair] = add(decisions.table[pair[0]].candidates[pair[1]])
        labels.append(label)
    return labels


def packed(decisions: Decisions) -> dict[str, Any]:
    """Return decisions as strings, tuples and bytes; only groups that occur are kept."""
    used, groups = np.unique(decisions.groups, return_inverse=True)
    columns = {name: np.asarray(getattr(decisions, name), dtype).tobytes() for name, dtype in _DTYPES.items()}
    columns["groups"] = groups.astype(np.int32).tobytes()
    table = tuple((group.name, group.candidates) for group in map(decisions.table.__getitem__, used.tolist()))
    return {"task": decisions.task, "model": decisions.model, "table": table, **columns}


def unpacked(kept: dict[str, Any]) -> Decisions:
    """Return the decisions that `packed` made into plain values."""
    columns = {name: np.frombuffer(kept[name], dtype) for name, dtype in _DTYPES.items()}
    return Decisions(
        task=kept["task"],
        model=kept["model"],
        table=tuple(Group(name, tuple(candidates)) for name, candidates in kept["table"]),
        documents=np.zeros(len(columns["starts"]), np.int32),
        **columns,
    )


def decisions_of(doc: Doc, task: str) -> Decisions | None:
    """Return the decisions of a task that `doc` carries, None where that task never ran."""
    kept = doc.user_data.get(PREFIX + task)
    return None if kept is None else unpacked(kept)


def record_of(span: Span) -> dict[str, Any] | None:
    """Return the record of a span that one of our components made; None for any other span.

    The span's id names the task. Where several groups decide at the same place, the span's label
    tells them apart.
    """
    decisions = decisions_of(span.doc, span.id_) if span.id_ else None
    if decisions is None:
        return None
    text = span.doc.text
    end = span.start_char + len(span.text)
    first = int(np.searchsorted(decisions.ends, span.start_char, side="right"))
    best = None
    for index in range(first, len(decisions)):
        if decisions.starts[index] >= end:
            break
        group = decisions.table[decisions.groups[index]]
        if group.candidates[decisions.chosen[index]] == span.label_:
            return decisions.record(index, text)
        best = index if best is None else best
    return None if best is None else decisions.record(best, text)


Span.set_extension(EXTENSION, getter=record_of, force=True)
