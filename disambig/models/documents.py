"""Annotate documents in batches of limited size, with a time limit, and join the pieces of long ones."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from disambig.data import Decisions, OverlapResolution, minibatch
from disambig.errors import UserError
from disambig.files import without_compression
from disambig.formats import AnnotatedDocument, Document, UnreadableDocument
from disambig.formatting import describe_failure
from disambig.markup import PlainText, invalid_markup, read_markup
from disambig.models.sources import Annotate, annotator_languages
from disambig.registry import plugin_packages
from disambig.runtime import DeadlineExceeded, return_free_memory, time_limit
from disambig.text import foreign_to_all

BATCH_CHARACTERS = PIECE_CHARACTERS = 100_000
_CUT_WINDOW = 20_000
"""Number of characters before the maximum size in which the end of a piece is searched for."""
_BATCH_DOCUMENTS = 2_000
_log = logging.getLogger(__name__)


def batch_documents(
    documents: Iterable[Document], *, size: int = BATCH_CHARACTERS
) -> Iterator[list[Document]]:
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
            return _annotate(documents, annotate), []
    except (Exception, DeadlineExceeded) as problem:  # DeadlineExceeded is a BaseException
        if len(documents) > 1:
            _log.debug("a batch of %d documents failed; trying one by one", len(documents), exc_info=True)
            annotated, unreadable = [], []
            for document in documents:
                good, bad = annotate_documents([document], annotate, seconds=seconds)
                annotated += good
                unreadable += bad
            return annotated, unreadable
        _log.debug("%s could not be annotated", documents[0].id, exc_info=True)
        return [], [UnreadableDocument(documents[0].path, _failure(documents[0], problem, seconds))]


def _failure(document: Document, problem: BaseException, seconds: float | None) -> UserError:
    """Return the error for a document whose annotation raised `problem`."""
    if isinstance(problem, UserError) and problem.code == "D344":  # it names the path itself
        return problem
    if isinstance(problem, DeadlineExceeded):
        text = f"it took longer than {seconds:g} seconds"
    else:
        is_user_error = isinstance(problem, UserError)
        text = str(problem) if is_user_error else describe_failure(problem, plugin_packages())
        text = ": ".join([*getattr(problem, "__notes__", ()), text])  # a note names the model
    path = f"{document.path}:{document.line}" if document.line else document.path
    error = UserError("D313", path=path, problem=text)
    error.__cause__ = problem
    return error


def _annotate(documents: Sequence[Document], annotate: Annotate) -> list[AnnotatedDocument]:
    """Annotate documents in pieces of limited size, and join the decisions of each document."""
    plain_texts = [_plain_text(document) for document in documents]
    pieces: list[str] = []
    places: list[list[tuple[int, int]]] = []  # for each document: (index in pieces, offset)
    for plain in plain_texts:
        bounds = cut_pieces(plain.text)
        places.append([(len(pieces) + i, start) for i, (start, _) in enumerate(bounds)])
        pieces += [plain.text[start:end] for start, end in bounds]
    by_piece: list[list[Decisions]] = []
    for first, last in _batch_bounds([len(piece) for piece in pieces]):
        batch = pieces[first:last]
        by_task = annotate(batch)
        by_piece += [[decisions.in_document(index) for decisions in by_task] for index in range(len(batch))]
        del by_task
        return_free_memory(sum(map(len, batch)))
    languages = annotator_languages(annotate)
    annotated = [
        AnnotatedDocument(
            document,
            _in_file(join_pieces([(by_piece[index], offset) for index, offset in place]), plain),
            tuple(foreign_to_all(plain.text, languages)),
        )
        for document, place, plain in zip(documents, places, plain_texts, strict=True)
    ]
    for result in annotated:  # a function of a plugin that names rules may fail: then only for its documents
        for decisions in result.decisions:
            for row in np.flatnonzero(decisions.flagged).tolist():
                decisions.rule_name(row, result.document.text)
    return annotated


def _plain_text(document: Document) -> PlainText:
    """Return the text with its markup painted over, if it is a whole file."""
    if document.kind != "file":
        return PlainText(document.text)
    path = without_compression(document.path)
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
            part,
            ends=np.array([plain.file_offset(end) for end in part.ends.tolist()], np.int32),
            settled=None if part.settled is None else _settled_in_file(part.settled, plain),
        )
        for part in decisions
    )


def _settled_in_file(settled: OverlapResolution, plain: PlainText) -> OverlapResolution:
    alternatives = (
        dataclasses.replace(other, end=plain.file_offset(other.end)) for other in settled.alternatives
    )
    return dataclasses.replace(settled, alternatives=tuple(alternatives))


def cut_pieces(
    text: str, *, size: int = PIECE_CHARACTERS, window: int = _CUT_WINDOW
) -> list[tuple[int, int]]:
    """Split a long text at the ends of paragraphs, lines, sentences or words, in this order of preference.

    Parameters
    ----------
    size : int
        Maximum number of characters of a piece.
    window : int
        A piece may be up to this number of characters shorter; if nothing ends there, a word is cut.

    Returns
    -------
    list of (int, int)
        Start and end of each piece; the pieces cover the text.
    """
    pieces, start = [], 0
    while len(text) - start > size:
        end = start + size
        for mark in ("\n\n", "\n", ". ", " "):
            position = text.rfind(mark, max(start, end - window), end)
            if position >= 0:
                end = position + len(mark)
                break
        pieces.append((start, end))
        start = end
    return [*pieces, (start, len(text))]


def _batch_bounds(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts with at most `BATCH_CHARACTERS` characters together, or of one longer text."""
    first, size = 0, 0
    for index, length in enumerate(lengths):
        if index > first and size + length > BATCH_CHARACTERS:
            yield first, index
            first, size = index, 0
        size += length
    if lengths:
        yield first, len(lengths)


def join_pieces(parts: Sequence[tuple[Sequence[Decisions], int]]) -> tuple[Decisions, ...]:
    """Join the decisions of the pieces of a document, which begin at the given offsets, for each task."""
    if len(parts) == 1 and not parts[0][1]:
        return tuple(parts[0][0])
    return tuple(
        Decisions.joined([(by_task[task], offset) for by_task, offset in parts])
        for task in range(len(parts[0][0]))
    )
