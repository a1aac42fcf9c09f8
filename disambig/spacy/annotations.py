"""Annotations on a Doc: span groups, records and the packed decisions."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span, SpanGroup, Token

from disambig.data import (
    CandidateLists,
    Decisions,
    Group,
    candidate_gloss,
    offsets_from_sizes,
    replacement,
    unique_inverse,
)
from disambig.decision import resolve_overlaps, restore_flags
from disambig.errors import UserError
from disambig.rules import Correction, Rule, RuleSet, default_rules
from disambig.text import align_tokens

LAYOUT, WITH_GLOSSES, WITH_LISTS = 1, 2, 3
"""Versions of the stored layout: rows of (name, candidates); rows with glosses; additional candidate lists
per decision."""
LAYOUTS = (LAYOUT, WITH_GLOSSES, WITH_LISTS)
_ROW = np.dtype(
    [(name, "<i4") for name in ("starts", "ends", "groups", "observed", "chosen", "n_hits", "n_queries")]
    + [("margins", "<f4"), ("probabilities", "<f4"), ("flagged", "?")]
)
_SCORE = np.dtype("<f4")


def pack_decisions(
    decisions: Decisions, docs: Sequence[Doc], bounds: list[int], spans_key: str, *, scope: str = ""
) -> list[dict[str, Any]]:
    """Return each document's decisions as strings, tuples and bytes, with only the groups that occur.

    `bounds`: start of the decisions of each document, and the end of the last ones.
    `scope`: overlapping flags of the same scope compete; ``""`` for components with one task each.
    """
    lists, glossed = decisions.lists, decisions.glossed
    common = {
        "layout": WITH_LISTS if lists is not None else WITH_GLOSSES if glossed else LAYOUT,
        **({} if lists is None else {"lists": {"texts": (), "sizes": b"", "scores": b"", "ranks": b""}}),
        "task": decisions.task,
        "spans_key": spans_key,
        "model": decisions.model,
        **({"scope": scope} if scope else {}),
        "table": (),
    }
    nothing = {**common, "rows": b"", "scores": b""}  # of a document without decisions: the usual case
    packed = [dict(nothing) for _ in docs]
    if bounds[0] == bounds[-1]:
        return packed
    raised = decisions.raised
    rows = np.empty(len(raised), _ROW)
    for name in _ROW.names or ():
        rows[name] = raised if name == "flagged" else getattr(decisions, name)
    n_groups = len(decisions.table)
    # the groups that occur, numbered within each document; `firsts` (n_documents + 1,) is where they begin
    documents = decisions.documents.astype(np.int64)
    used, inverse = unique_inverse(documents * n_groups + decisions.groups)
    firsts = used.searchsorted(np.arange(len(bounds)) * n_groups)
    rows["groups"] = inverse - firsts[documents]
    table: list[tuple[Any, ...]] = []
    for index in (used % n_groups).tolist():
        group = decisions.table[index]
        glosses = (group.glosses or ("",) * len(group.candidates),) if glossed else ()
        table.append((group.name, group.candidates, *glosses))
    tables = firsts.tolist()
    scores = np.asarray(decisions.scores, _SCORE)
    offsets = decisions.offsets[bounds].tolist()
    for i, (start, end) in enumerate(pairwise(bounds)):
        if start < end:
            of_document = slice(start, end)
            flags = (start + raised[of_document].nonzero()[0]).tolist()
            packed[i] = {
                **common,
                **({} if lists is None else {"lists": _packed_lists(lists.take(of_document))}),
                "table": tuple(table[tables[i] : tables[i + 1]]),
                **(_packed_flags(decisions, flags, start, docs[i]) if flags else {}),
                "rows": rows[of_document].tobytes(),
                "scores": scores[offsets[i] : offsets[i + 1]].tobytes(),
            }
    return packed


def unpack_decisions(packed: Mapping[str, Any]) -> Decisions:
    """Return the decisions from the plain values of `pack_decisions`.

    Raises D502 for another version of the layout.
    """
    if packed.get("layout") not in LAYOUTS:
        raise UserError("D502", seen=packed.get("layout"), known=f"{LAYOUT} to {WITH_LISTS}")
    table = tuple(
        Group(name, tuple(candidates), glosses=tuple(*glosses))
        for name, candidates, *glosses in packed["table"]
    )
    rows = np.frombuffer(packed["rows"], _ROW)
    columns: dict[str, Any] = {  # in the byte order of this computer
        name: rows[name].astype(rows[name].dtype.newbyteorder("=")) for name in _ROW.names or ()
    }
    sizes = np.array([len(group.candidates) for group in table], np.int64)
    lists = _unpacked_lists(packed["lists"]) if "lists" in packed else None
    return Decisions(
        task=packed["task"],
        model=packed["model"],
        table=table,
        documents=np.zeros(len(rows), np.int32),
        offsets=offsets_from_sizes(sizes[columns["groups"]]) if lists is None else lists.offsets,
        scores=np.frombuffer(packed["scores"], _SCORE).astype(np.float32),
        lists=lists,
        rules=_unpacked_rules(packed["task"], packed.get("rules", ())),
        **columns,
    )


def _packed_flags(decisions: Decisions, rows: Sequence[int], first: int, doc: Doc) -> dict[str, Any]:
    """Return the rules of the flags of a Doc, and which flags lost to others if overlaps are resolved.

    A rule is what each flag corrects, and its name. `first`: the first decision of the Doc.
    """
    packed: dict[str, Any] = {}
    if decisions.rules is not None:
        text = doc.text
        named = [(*decisions.correction(i, text), decisions.rule_name(i, text)) for i in rows]
        packed["rules"] = tuple(dict.fromkeys(named))
    if decisions.settled is not None:
        lost = set(decisions.settled.lost.tolist())
        packed["lost"] = tuple(row - first for row in rows if row in lost)
    return packed


@dataclass(frozen=True, slots=True)
class _StoredNames:
    """Returns the stored rule name of a correction, or else the name of the task."""

    names: Mapping[Correction, str]
    default: str

    def __call__(self, correction: Correction) -> str:
        return self.names.get(correction, self.default)


def _unpacked_rules(task: str, stored: Sequence[Sequence[str]]) -> RuleSet | None:
    """Return the rules that are stored in a Doc, which have names but no descriptions."""
    if not stored:
        return None
    names = {Correction(*map(str, row[:3])): str(row[3]) for row in stored}
    (default,) = default_rules(task, object).rules
    rules = {default.name: default} | {name: Rule(name, "") for name in names.values()}
    return RuleSet(tuple(rules.values()), _StoredNames(names, default.name))


_LISTS = {"sizes": "<i4", "scores": "<f8", "ranks": "<i4"}
"""Arrays of candidate lists, with the types that they are stored in."""


def _packed_lists(lists: CandidateLists) -> dict[str, Any]:
    arrays: tuple[NDArray[Any], ...] = np.diff(lists.offsets), lists.scores, lists.ranks
    columns = zip(_LISTS.items(), arrays, strict=True)
    return {
        "texts": tuple(lists.texts),
        **{name: values.astype(kind).tobytes() for (name, kind), values in columns},
    }


def _unpacked_lists(packed: Mapping[str, Any]) -> CandidateLists:
    sizes, scores, ranks = (np.frombuffer(packed[name], kind) for name, kind in _LISTS.items())
    return CandidateLists(
        offsets_from_sizes(sizes),
        tuple(packed["texts"]),
        scores.astype(np.float64),
        ranks.astype(np.int32),
        np.full(len(scores), np.nan, np.float32),
    )


EXTENSION = "disambig"
PREFIX = "disambig."


@dataclass(frozen=True, slots=True, eq=False)
class _CachedDecisions:
    user_data: dict[Any, Any]  # of the Doc
    packed: dict[str, Any]
    decisions: Decisions
    text: str


_recent: dict[str, _CachedDecisions] = {}
"""The last unpacked decisions of each id, since the records of a Doc are usually read one after another."""


def write_annotations(doc: Doc, decisions: Decisions, *, spans_key: str) -> None:
    """Write the decisions of one document and one task, replacing earlier ones under the same key.

    `decisions`: of this document only; offsets refer to ``doc.text``.
    `spans_key`: key of the span group.
    """
    write_batch([doc], replace(decisions, documents=np.zeros(len(decisions), np.int32)), spans_key=spans_key)


def write_batch(docs: Sequence[Doc], decisions: Decisions, *, spans_key: str) -> None:
    """Write the decisions of one task to a batch of documents, like `write_annotations`.

    `decisions`: ``decisions.documents`` indexes `docs`.
    `spans_key`: key of the span group.
    """
    hashes = _add_strings(docs, _labels(decisions))
    glosses = _add_strings(docs, _glosses(decisions)) if decisions.glossed else [0] * len(hashes)
    bounds = decisions.documents.searchsorted(np.arange(len(docs) + 1)).tolist()
    packed = pack_decisions(decisions, docs, bounds, spans_key)
    _recent.clear()  # new annotations may change which of several overlapping flags is kept
    for doc, packed_decisions, first, last in zip(docs, packed, bounds, bounds[1:], strict=False):
        name = id_under(doc, decisions.task, spans_key)
        spans = []
        if doc.spans.get(spans_key):
            spans = _spans_of_other_tasks(doc, spans_key, name)
            warn_of_replaced_spans(doc, spans_key, [decisions.task])
        if first < last:
            n_others = len(spans)
            rows = slice(first, last)
            start, stop = tokens_of_places(doc, decisions.starts[rows], decisions.ends[rows])
            span_id = doc.vocab.strings.add(name)
            for i, j, label, gloss in zip(start, stop, hashes[rows], glosses[rows], strict=True):
                # keyword arguments and a hash in the StringStore are the fastest way to create a span
                spans.append(Span(doc, i, j, label=label, kb_id=gloss, span_id=span_id))
            if n_others:
                spans.sort(key=lambda span: (span.start, span.end))
        doc.spans[spans_key] = SpanGroup(doc, name=spans_key, spans=spans)
        doc.user_data[PREFIX + name] = packed_decisions


def tokens_of_places(
    doc: Doc, starts: NDArray[np.integer[Any]], ends: NDArray[np.integer[Any]]
) -> tuple[list[int], list[int]]:
    """Return the first token of places in a text and the end of the last one.

    An empty place has the token after it, because spaCy has no empty spans.
    """
    first, last = align_tokens(doc, starts, ends)
    last = np.where(starts == ends, np.minimum(first + 1, len(doc)), last)
    return first.tolist(), last.tolist()


def id_under(doc: Doc, task: str, spans_key: str) -> str:
    """Return the id of a task's spans under a key: the task, unless spans under another key use that id."""
    stored = doc.user_data.get(PREFIX + task)
    is_free = stored is None or stored["spans_key"] == spans_key
    return task if is_free else f"{spans_key}/{task}"


def _spans_of_other_tasks(doc: Doc, spans_key: str, name: str) -> list[Span]:
    """Return the spans of our other tasks under the same key; all other spans are replaced."""
    return [span for span in doc.spans[spans_key] if span.id_ != name and PREFIX + span.id_ in doc.user_data]


def warn_of_replaced_spans(doc: Doc, spans_key: str, tasks: Iterable[str]) -> None:
    """Warn (D522) if spans under a key are lost that none of our components wrote, such as those of a ruler.

    Spans of these tasks are ours even without records: ``DocBin`` stores no records by default.
    """
    if spans_key not in doc.spans or not doc.spans[spans_key]:
        return
    ours = {name for task in tasks for name in (task, f"{spans_key}/{task}")}
    ids = {span.id_ for span in doc.spans[spans_key]} - ours
    if any(PREFIX + span_id not in doc.user_data for span_id in ids):
        warnings.warn(str(UserError("D522", key=spans_key)), stacklevel=3)


def _labels(decisions: Decisions) -> list[str]:
    """Return the chosen candidate of each decision."""
    if (lists := decisions.lists) is not None:
        return [lists.texts[row] for row in (lists.offsets[:-1] + decisions.chosen).tolist()]
    choices = zip(decisions.groups.tolist(), decisions.chosen.tolist(), strict=True)
    return [decisions.table[group].candidates[candidate] for group, candidate in choices]


def _glosses(decisions: Decisions) -> list[str]:
    """Return the gloss of the chosen candidate of each decision."""
    choices = zip(decisions.groups.tolist(), decisions.chosen.tolist(), strict=True)
    return [candidate_gloss(decisions.table[group], candidate) for group, candidate in choices]


def _add_strings(docs: Sequence[Doc], texts: Sequence[str]) -> list[int]:
    """Add texts to the vocabularies of all Docs and return their hashes; 0 for an empty text."""
    hash_of = dict.fromkeys(texts, 0)
    for strings in {doc.vocab.strings for doc in docs}:
        hash_of = {text: strings.add(text) for text in hash_of}
    return [hash_of[text] for text in texts]


def read_decisions(doc: Doc, key: str) -> Decisions | None:
    """Return the decisions that are stored in `doc` under a spans key, or None.

    `key` is a component's `spans_key`, by default the name of its task; or the name of the task, which also
    works if several tasks share a key. Raises D502 for a Doc that another version of disambig annotated.
    """
    cached = _cached(doc, key)
    if cached is None or cached.packed["spans_key"] != key:
        names = (name for name, packed in _stored(doc) if packed.get("spans_key") == key)
        cached = _cached(doc, next(names, key))
    return None if cached is None else cached.decisions


def _stored(doc: Doc) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the ids under which decisions are stored in a Doc, with the packed decisions."""
    for key, packed in doc.user_data.items():  # spaCy's own keys are tuples
        if isinstance(key, str) and key.startswith(PREFIX) and isinstance(packed, dict):
            yield key.removeprefix(PREFIX), packed


def clear_cache() -> None:
    """Clear the cache, because new annotations may change which of several overlapping flags is kept."""
    _recent.clear()


def _cached(doc: Doc, name: str) -> _CachedDecisions | None:
    packed = doc.user_data.get(PREFIX + name)
    if packed is None:
        return None
    cached = _recent.get(name)
    if cached is None or cached.packed is not packed or cached.user_data is not doc.user_data:
        _recent.update(_resolved_decisions(doc, name, packed))
    return _recent[name]


def _resolved_decisions(doc: Doc, name: str, packed: dict[str, Any]) -> dict[str, _CachedDecisions]:
    """Return the decisions of an id and of the ids that it competes with, without overlapping flags."""
    decisions_by_id, text = {name: unpack_decisions(packed)}, doc.text
    if decisions_by_id[name].flagged.any():
        for other in _competing_ids(doc, packed):
            decisions_by_id[other] = unpack_decisions(doc.user_data[PREFIX + other])
    resolved = resolve_overlaps(list(decisions_by_id.values()), [text])
    if packed.get("scope"):  # a component with several models flags both of two neighbouring mistakes
        stored = [doc.user_data[PREFIX + span_id] for span_id in decisions_by_id]
        resolved = restore_flags(resolved, _restored_rows(resolved, stored))
    cached = {
        span_id: _CachedDecisions(doc.user_data, doc.user_data[PREFIX + span_id], decisions, text)
        for span_id, decisions in zip(decisions_by_id, resolved, strict=True)
    }
    return cached if name == packed["task"] else {name: cached[name]}


def _restored_rows(
    resolved: Sequence[Decisions], stored: Sequence[Mapping[str, Any]]
) -> list[tuple[int, int]]:
    """Return the task and row of flags that lose to others here, but did not for the component."""
    return [
        (task, row)
        for task, (decisions, packed) in enumerate(zip(resolved, stored, strict=True))
        if decisions.settled is not None and "lost" in packed
        for row in decisions.settled.lost.tolist()
        if row not in packed["lost"]
    ]


def _competing_ids(doc: Doc, packed: dict[str, Any]) -> list[str]:
    """Return the ids of the other tasks in the same scope; the shortest id for a task with several."""
    ids: dict[str, str] = {}
    for name, other in _stored(doc):
        competes = other.get("scope") == packed.get("scope") and other.get("layout") in LAYOUTS
        if competes and other["task"] != packed["task"]:
            ids[other["task"]] = min(name, ids.get(other["task"], name), key=len)
    return list(ids.values())


def span_record(span: Span) -> dict[str, Any] | None:
    """Return the record of a span of our components; None for any other span.

    The span's id names the task, and the key if needed. If several groups decide at the same place, the
    span's label identifies the decision; if the labels are the same, a flagged decision comes first.

    A span whose tokens were merged or split after it was written covers other words: it has no record, and a
    warning says so once.
    """
    packed = span.doc.user_data.get(PREFIX + span.id_) if span.id_ else None
    if packed is not None and _is_moved(span):
        warnings.warn(str(UserError("D507", key=packed["spans_key"])), stacklevel=4)
        return None
    cached = _cached(span.doc, span.id_) if span.id_ else None
    if cached is None:
        return None
    decisions, label, end = cached.decisions, span.label_, span.end_char
    first, last = np.searchsorted(decisions.starts, (span.start_char, end)).tolist()
    inside = [i for i in range(first, last) if decisions.ends[i] <= end]

    def match_quality(i: int) -> tuple[bool, bool]:
        chosen = decisions.candidate_texts(i)[decisions.chosen[i]]
        start, stop = int(decisions.starts[i]), int(decisions.ends[i])
        same = label in (chosen, replacement(chosen, cached.text, start, stop).strip())
        return same, bool(decisions.flagged[i])

    return decisions.record(max(inside, key=match_quality), cached.text) if inside else None


def _is_moved(span: Span) -> bool:
    """Return True if the tokens of a span do not cover its characters: spaCy does not move spans."""
    doc = span.doc
    if not 0 <= span.start < span.end <= len(doc):
        return True
    last = doc[span.end - 1]
    return doc[span.start].idx > span.start_char or last.idx + len(last) < span.end_char


@dataclass(frozen=True)
class _ValueOfLabel:
    """The getter of `token_extension`; a class, because it is pickled for other processes."""

    task: str
    values: Mapping[str, Any]

    def __call__(self, token: Token) -> Any:
        usual = f"{self.task}/{self.task}"  # the id if another key used the task's name first
        cached = _cached(token.doc, usual) or _cached(token.doc, self.task)
        if cached is None:
            return None
        decisions = cached.decisions
        first, last = np.searchsorted(decisions.starts, (token.idx, token.idx + len(token))).tolist()
        if first == last:
            return None
        return self.values.get(decisions.candidate_texts(first)[decisions.chosen[first]])


def token_extension(name: str, *, task: str, values: Mapping[str, Any]) -> None:
    """Define an attribute ``token._.NAME`` with a value for the label that a task gave to the token.

    An attribute of this name that other code has defined is kept; components of the task then raise D521.

    Parameters
    ----------
    task : str
    values : mapping from label to value
        Values of the attribute; tokens without a label have None.
    """
    _TOKEN_EXTENSIONS[name] = task
    if not Token.has_extension(name) or _is_our_extension(Token, name):
        Token.set_extension(name, getter=_ValueOfLabel(task, values), force=True)


_TOKEN_EXTENSIONS: dict[str, str] = {}
"""The task of each attribute of tokens that `token_extension` was asked to define."""


def _is_our_extension(owner: type[Span | Token], name: str) -> bool:
    _, _, getter, _ = owner.get_extension(name)
    return getattr(getter, "__module__", None) == __name__


def check_extensions(component: str, tasks: Collection[str]) -> None:
    """Raise D521 if other code has defined one of the attributes in which users read our annotations.

    This is checked when a component is made, not when this package is imported: spaCy imports it with every
    pipeline, also in programs that have no component of ours.
    """
    names = [name for name, task in _TOKEN_EXTENSIONS.items() if task in tasks]
    for owner, name in ((Span, EXTENSION), *((Token, name) for name in names)):
        if not _is_our_extension(owner, name):
            raise UserError("D521", name=component, owner=owner.__name__, attribute=name)


if not Span.has_extension(EXTENSION) or _is_our_extension(Span, EXTENSION):
    Span.set_extension(EXTENSION, getter=span_record, force=True)
