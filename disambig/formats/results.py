"""Annotated documents, the records of their decisions that formats write, and flags as lines for people."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain
from typing import TYPE_CHECKING, Any

from disambig.formats.documents import Document, Kind
from disambig.formatting import describe_share, escape_control_chars, shown_path

if TYPE_CHECKING:
    from disambig.data import Decisions
    from disambig.text import ForeignParagraph


CANDIDATES_KEPT = 5
_WORD = re.compile(r"\w")
_AT_ONCE = 4096


class JoinsChunks:
    """Base of formats whose output is their chunks, one after the other."""

    __slots__ = ()

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the chunks returned by `encode`, in order."""
        for chunk in chunks:
            write(chunk)


@dataclass(frozen=True, slots=True)
class AnnotatedDocument:
    """A document with its decisions: one `Decisions` per task, with offsets into its text.

    Attributes
    ----------
    foreign : tuple of ForeignParagraph
        Paragraphs that were left alone, since they are not in the language of the models.
    """

    document: Document
    decisions: tuple[Decisions, ...]
    foreign: tuple[ForeignParagraph, ...] = ()

    @property
    def flags(self) -> int:
        """The number of flagged decisions."""
        return sum(int(decisions.flagged.sum()) for decisions in self.decisions)


def count_words(text: str) -> int:
    """Return the number of words separated by white space; 0 if the text has no letter or digit."""
    return len(text.split()) if _WORD.search(text) else 0


def records(result: AnnotatedDocument, *, kept: int = CANDIDATES_KEPT) -> Iterator[dict[str, Any]]:
    """Yield the decisions of all tasks as plain values, in text order, with bounded memory.

    They are the records of `Decisions.record` without the model, which is the same for all, and with the best
    `kept` candidates only, which always include the observed one.
    """
    text = result.document.text
    task_records = [_task_records(decisions, text, kept) for decisions in result.decisions]
    if sum(map(len, result.decisions)) <= _AT_ONCE:
        return iter(sorted(chain(*task_records), key=_span))
    return merge(*task_records, key=_span)


def _span(record: dict[str, Any]) -> tuple[int, int]:
    return record["start"], record["end"]


def _task_records(decisions: Decisions, text: str, kept: int) -> Iterator[dict[str, Any]]:
    for first in range(0, len(decisions), _AT_ONCE):
        yield from _slice_records(decisions.slice(first, min(first + _AT_ONCE, len(decisions))), text, kept)


def _slice_records(decisions: Decisions, text: str, kept: int) -> Iterator[dict[str, Any]]:
    """Yield the records of `Decisions.record` for many decisions; values are read from columns, for speed.

    `kept` is the maximum number of candidates of a record, to which the observed one is added.
    """
    import numpy as np

    from disambig.data import candidate_gloss, excerpt, replacement, row_owners

    has_glosses = decisions.glossed
    owner = row_owners(decisions.offsets)
    order = np.lexsort((-decisions.scores, owner))
    ranked = (order - decisions.offsets[owner]).tolist()
    scores = np.round(decisions.scores[order].astype(np.float64), 4).tolist()
    offsets = decisions.offsets.tolist()
    columns = zip(
        decisions.starts.tolist(),
        decisions.ends.tolist(),
        decisions.groups.tolist(),
        decisions.observed.tolist(),
        decisions.chosen.tolist(),
        decisions.flagged.tolist(),
        np.round(decisions.probabilities.astype(np.float64), 6).tolist(),
        np.round(decisions.margins.astype(np.float64), 4).tolist(),
        decisions.found.tolist(),
        decisions.asked.tolist(),
        strict=True,
    )
    for i, row in enumerate(columns):
        (
            start,
            end,
            group_index,
            observed_at,
            chosen_at,
            flagged,
            probability,
            margin,
            n_hits,
            n_queries,
        ) = row
        group = decisions.table[group_index]
        low, high = offsets[i], offsets[i + 1]
        names = decisions.candidate_texts(i)
        observed, chosen = excerpt(text, start, end), names[chosen_at]
        top = list(range(low, min(high, low + kept)))
        if observed_at >= 0 and observed_at not in ranked[low : low + kept]:
            top.append(ranked.index(observed_at, low, high))
        yield {
            "task": decisions.task,
            "group": group.name,
            "start": start,
            "end": end,
            "observed": observed,
            "chosen": chosen,
            **({"gloss": candidate_gloss(group, chosen_at)} if has_glosses else {}),
            "replacement": observed
            if observed_at in (-1, chosen_at)
            else replacement(chosen, text, start, end),
            "flagged": flagged,
            **decisions.flag_fields(i, text),
            "probability": probability,
            "margin": margin if margin < float("inf") else None,
            "candidates": [(names[ranked[rank]], scores[rank]) for rank in top],
            **decisions.source_record(i),
            "found": n_hits,
            "asked": n_queries,
        }


def rule_name(record: dict[str, Any]) -> str:
    """Return the name of the rule of a flag: its task, unless the record names a rule."""
    return str(record.get("rule") or record["task"])


def describe_flag(record: dict[str, Any]) -> str:
    """Return the rule of a flag and how often such flags are right: ``a-an, 98 % right``.

    If that was not measured, the model's probability stands in its place: ``a-an, 0.98``.
    """
    if record["precision"] < 0:
        return f"{rule_name(record)}, {record['probability']:.2f}"
    return f"{rule_name(record)}, {describe_share(record['precision'], record['precision_flags'])} right"


def only_labels(result: AnnotatedDocument) -> bool:
    """Return True if all decisions are labels, that is, have no observed candidate."""
    return bool(result.decisions) and all(
        len(decisions) and (decisions.observed < 0).all() for decisions in result.decisions
    )


def flagged_records(result: AnnotatedDocument) -> list[dict[str, Any]]:
    """Return the records of the flagged decisions only, which is fast if there are few."""
    import numpy as np

    flagged = [
        decisions.record(int(index), result.document.text)
        for decisions in result.decisions
        for index in np.flatnonzero(decisions.flagged)
    ]
    return sorted(flagged, key=_span)


@dataclass(frozen=True, slots=True)
class ReadableFormat(JoinsChunks):
    """One line per flag; or one line per decision if all decisions are labels.

    Lines and columns of the file are counted from 1, columns in characters. For a row of JSONL or CSV, the
    line is the first line of the row and the column is counted in its text; for a Doc or a row of Parquet,
    the line is its number.
    """

    name: str = "text"
    suffix: str = ".txt"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Return the lines of the flags of some documents."""
        return "".join(line for result in results for line in _lines(result)).encode()


def _lines(result: AnnotatedDocument) -> Iterable[str]:
    document = result.document
    number, position, line_start = document.line or 1, 0, 0
    path = shown_path(document.path)
    locate = _token_locator(document) if document.kind == "conllu" else None
    is_labelled = only_labels(result)
    for record in records(result) if is_labelled else flagged_records(result):
        start = record["start"]
        if locate is not None:
            number, line_start = locate(start)
        if document.kind == "file":
            newlines = document.text.count("\n", position, start)
            if newlines:
                line_start = document.text.rfind("\n", position, start) + 1
            number, position = number + newlines, start
        observed, gloss = one_line_text(record["observed"]), record.get("gloss")
        new = escape_control_chars(record["chosen"]) if is_labelled else one_line_text(record["replacement"])
        change = f"{observed}: {new}" if is_labelled else f"{observed} -> {new}"
        certainty = f"{record['task']}, {record['probability']:.2f}" if is_labelled else describe_flag(record)
        details = escape_control_chars(", ".join(filter(None, [certainty, gloss])))
        yield f"{path}:{number}:{start - line_start + 1}: {change} ({details})\n"


def _token_locator(document: Document) -> Callable[[int], tuple[int, int]]:
    """Return a function from a text offset to its CoNLL-U line, and the offset of the start of that line."""
    from disambig.formats.conllu import parse_document

    source = document.source.decode()
    parsed, lines = parse_document(source, document.path, document.line), source.split("\n")

    def place(start: int) -> tuple[int, int]:
        token = bisect_right(parsed.starts, start) - 1
        line = parsed.lines[token]
        return document.line + line, parsed.starts[token] - lines[line].index("\t") - 1

    return place


def one_line_text(text: str) -> str:
    """Return a text on one line with control characters escaped; the empty text is shown as ``""``."""
    return escape_control_chars(" ".join(text.split())) or '""'
