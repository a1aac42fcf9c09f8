"""Annotate documents in batches of limited size, with a time limit, and join the pieces of long ones."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from disambig.data import (
    CandidateLists,
    Decisions,
    OverlapResolution,
    join_offsets,
    join_resolutions,
    minibatch,
)
from disambig.errors import UserError
from disambig.files import without_compression
from disambig.formats import AnnotatedDocument, Document, UnreadableDocument
from disambig.formatting import describe_failure
from disambig.markup import PlainText, invalid_markup, read_markup
from disambig.models.sources import Annotate, annotator_languages
from disambig.registry import plugin_packages
from disambig.runtime import DeadlineExceeded, return_free_memory, time_limit
from disambig.text import foreign_to_all

BATCH = PIECE = 100_000  # characters
_BACK = 20_000
_BATCH_DOCUMENTS = 2_000
_log = logging.getLogger(__name__)


def batch_documents(documents: Iterable[Document], *, size: int = BATCH) -> Iterator[list[Document]]:
    """Yield batches of documents with at least `size` characters in all."""
    return minibatch(documents, size, lambda document: len(document.text), most=_BATCH_DOCUMENTS)


def annotate_documents(
    documents: Sequence[Document], annotate: Annotate, *, seconds: float | None = None
) -> tuple[list[AnnotatedDocument], list[UnreadableDocument]]:
    """Annotate a batch.

    If `annotate` fails, or takes longer than `seconds`, the documents are retried one at a time; those that
    fail again are returned as unreadable.
    """
    try:
        with time_limit(seconds):
            parts_and_errors = _annotate(documents, annotate)
        return parts_and_errors, []
    except (Exception, DeadlineExceeded) as problem:  # DeadlineExceeded is a BaseException
        if len(documents) > 1:
            _log.debug("a batch of %d documents failed; trying one by one", len(documents), exc_info=True)
            parts = [annotate_documents([document], annotate, seconds=seconds) for document in documents]
            return [good for results, _ in parts for good in results], [
                bad for _, results in parts for bad in results
            ]
        _log.debug("%s could not be annotated", documents[0].id, exc_info=True)
        where = documents[0].path if not documents[0].line else f"{documents[0].path}:{documents[0].line}"
        packages = () if isinstance(problem, UserError) else plugin_packages()
        text = str(problem) if isinstance(problem, UserError) else describe_failure(problem, packages)
        text = ": ".join([*getattr(problem, "__notes__", ()), text])  # a note names the model
        text = f"it took longer than {seconds:g} seconds" if isinstance(problem, DeadlineExceeded) else text
        failed = UserError("D313", path=where, problem=text)
        failed.__cause__ = problem
        if isinstance(problem, UserError) and problem.code == "D344":  # it names the path itself
            failed = problem
        return [], [UnreadableDocument(documents[0].path, failed)]


def _annotate(documents: Sequence[Document], annotate: Annotate) -> list[AnnotatedDocument]:
    """Annotate documents in pieces of limited size, and join the decisions of each document."""
    texts: list[str] = []
    places: list[list[tuple[int, int]]] = []  # for each document: (index in texts, offset)
    read = [_plain(document) for document in documents]
    plain = [read_text.text for read_text in read]
    for text in plain:
        pieces = cut_pieces(text)
        places.append([(len(texts) + i, start) for i, (start, _) in enumerate(pieces)])
        texts.extend(text[start:end] for start, end in pieces)
    by_text: list[list[Decisions]] = []
    for first, last in _runs([len(text) for text in texts]):
        batch = texts[first:last]
        results = annotate(batch)
        for index in range(last - first):
            by_text.append([decisions.in_document(index) for decisions in results])
        del results
        return_free_memory(sum(map(len, batch)))
    languages = annotator_languages(annotate)
    annotated = [
        AnnotatedDocument(
            document,
            _in_file(join_pieces([(by_text[index], offset) for index, offset in place]), read_text),
            tuple(foreign_to_all(read_text.text, languages)),
        )
        for document, place, read_text in zip(documents, places, read, strict=True)
    ]
    for result in annotated:  # a function of a plugin that names rules may fail: then only for its documents
        for decisions in result.decisions:
            for row in np.flatnonzero(decisions.flagged).tolist():
                decisions.rule_name(row, result.document.text)
    return annotated


def _plain(document: Document) -> PlainText:
    """Return the text with its markup painted over, if it is a whole file."""
    path = without_compression(document.path)
    if document.kind != "file":
        return PlainText(document.text)
    plain = read_markup(path, document.text)
    if plain.problem:
        raise invalid_markup(path, plain)
    return plain


def _in_file(decisions: Sequence[Decisions], plain: PlainText) -> tuple[Decisions, ...]:
    """Return decisions of a plain text with offsets into the file; the start of a word is always the same."""
    if not plain.shortened:
        return tuple(decisions)
    return tuple(
        dataclasses.replace(
            of_task,
            ends=np.array([plain.file_offset(end) for end in of_task.ends.tolist()], np.int32),
            settled=None if of_task.settled is None else _settled_in_file(of_task.settled, plain),
        )
        for of_task in decisions
    )


def _settled_in_file(settled: OverlapResolution, plain: PlainText) -> OverlapResolution:
    alternatives = (
        dataclasses.replace(other, end=plain.file_offset(other.end)) for other in settled.alternatives
    )
    return dataclasses.replace(settled, alternatives=tuple(alternatives))


def cut_pieces(text: str, *, size: int = PIECE, back: int = _BACK) -> list[tuple[int, int]]:
    """Split a long text at the ends of paragraphs, lines, sentences or words, in this order of preference.

    Parameters
    ----------
    text : str
    size : int
        Maximum number of characters of a piece.
    back : int
        A piece may end up to this number of characters earlier; if nothing ends there, a word is cut.

    Returns
    -------
    list of (int, int)
        Start and end of each piece; the pieces cover the text.
    """
    pieces, start = [], 0
    while len(text) - start > size:
        end = start + size
        for mark in ("\n\n", "\n", ". ", " "):
            position = text.rfind(mark, max(start, end - back), end)
            if position >= 0:
                end = position + len(mark)
                break
        pieces.append((start, end))
        start = end
    return [*pieces, (start, len(text))]


def _runs(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts with about `PIECE` characters together."""
    first, held = 0, 0
    for index, length in enumerate(lengths):
        if index > first and held + length > PIECE:
            yield first, index
            first, held = index, 0
        held += length
    if lengths:
        yield first, len(lengths)


def join_pieces(parts: Sequence[tuple[Sequence[Decisions], int]]) -> tuple[Decisions, ...]:
    """Join the decisions of the pieces of a document, which begin at the given offsets, for each task."""
    if len(parts) == 1 and not parts[0][1]:
        return tuple(parts[0][0])
    return tuple(
        _join_task([(predictions[task], offset) for predictions, offset in parts])
        for task in range(len(parts[0][0]))
    )


def _join_task(parts: Sequence[tuple[Decisions, int]]) -> Decisions:
    first = parts[0][0]
    columns: dict[str, Any] = {
        field.name: np.concatenate([getattr(part, field.name) for part, _ in parts])
        for field in dataclasses.fields(first)
        if field.name
        not in ("task", "model", "table", "starts", "ends", "offsets", "own", "settled", "trust", "rules")
    }
    columns["documents"] = np.zeros(len(columns["documents"]), np.int32)
    for name in ("starts", "ends"):
        columns[name] = np.concatenate([getattr(part, name) + np.int32(offset) for part, offset in parts])
    columns["offsets"] = join_offsets(part.offsets for part, _ in parts)
    if first.own is not None:
        columns["own"] = CandidateLists.joined([part.own for part, _ in parts if part.own is not None])
    columns["settled"] = join_resolutions([(part.settled, len(part), offset) for part, offset in parts])
    return dataclasses.replace(first, **columns)
