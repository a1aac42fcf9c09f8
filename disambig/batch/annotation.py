"""Annotating many documents: in batches for speed, long ones in pieces, one bad one on its own."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from disambig.alarm import TooLong, limited
from disambig.batch.sources import Annotate
from disambig.batch.work import Tell
from disambig.errors import UserError
from disambig.files.opening import without_compression
from disambig.formats.documents import Bad, Document
from disambig.formats.results import Annotated
from disambig.text.markup import plain_text

if TYPE_CHECKING:
    from disambig.data.decisions import Decisions

BATCH = 200_000  # characters
PIECE = 500_000
_BACK = 50_000
_BATCH_DOCUMENTS = 2_000
_log = logging.getLogger(__name__)


def batches(documents: Iterable[Document], *, size: int = BATCH) -> Iterator[list[Document]]:
    """Group documents until a group has `size` characters."""
    batch: list[Document] = []
    held = 0
    for document in documents:
        batch.append(document)
        held += len(document.text)
        if held >= size or len(batch) >= _BATCH_DOCUMENTS:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def annotate_documents(
    documents: Sequence[Document], annotate: Annotate, *, seconds: float | None = None
) -> tuple[list[Annotated], list[Bad]]:
    """Annotate a batch.

    A document on which `annotate` fails is tried alone and, failing again, is reported; the others
    get their decisions. So does one that alone takes longer than `seconds` (see `limited`).
    """
    try:
        with limited(seconds):
            found = _annotate(documents, annotate)
        return found, []
    except (Exception, TooLong) as problem:
        if len(documents) > 1:
            _log.debug("a batch of %d documents failed; trying one by one", len(documents), exc_info=True)
            parts = [annotate_documents([document], annotate, seconds=seconds) for document in documents]
            return [good for found, _ in parts for good in found], [
                bad for _, found in parts for bad in found
            ]
        _log.debug("%s could not be annotated", documents[0].id, exc_info=True)
        where = documents[0].path if not documents[0].line else f"{documents[0].path}:{documents[0].line}"
        text = str(problem) if isinstance(problem, UserError) else f"{type(problem).__name__}: {problem}"
        text = f"it took longer than {seconds:g} seconds" if isinstance(problem, TooLong) else text
        failed = UserError("D313", path=where, problem=text)
        failed.__cause__ = problem
        return [], [Bad(documents[0].path, failed)]


def telling(annotate: Annotate, tell: Tell, most: int) -> Annotate:
    """Return `annotate` that tells after each call how many characters it was given so far, up to `most`."""
    done = 0

    def run(texts: Sequence[str]) -> list[Decisions]:
        nonlocal done
        found = annotate(texts)
        done += sum(map(len, texts))
        tell(min(done, most))
        return found

    return run


def _annotate(documents: Sequence[Document], annotate: Annotate) -> list[Annotated]:
    texts: list[str] = []
    places: list[list[tuple[int, int]]] = []  # of each document: (index in texts, offset)
    for text in map(_plain, documents):
        cuts = pieces(text)
        places.append([(len(texts) + i, start) for i, (start, _) in enumerate(cuts)])
        texts.extend(text[start:end] for start, end in cuts)
    by_text: list[list[Decisions]] = []
    for first, last in _runs([len(text) for text in texts]):
        found = annotate(texts[first:last])
        for index in range(last - first):
            by_text.append([decisions.of_document(index) for decisions in found])
    return [
        Annotated(document, joined([(by_text[index], offset) for index, offset in place]))
        for document, place in zip(documents, places, strict=True)
    ]


def _plain(document: Document) -> str:
    """Return the text without its markup, of the same length, if it is a whole file in Markdown or LaTeX."""
    if document.kind != "file":
        return document.text
    return plain_text(without_compression(document.path), document.text)


def pieces(text: str, *, size: int = PIECE, back: int = _BACK) -> list[tuple[int, int]]:
    """Cut a long text where a paragraph, line, sentence or word ends; a short one stays whole."""
    cuts, start = [], 0
    while len(text) - start > size:
        end = start + size
        for mark in ("\n\n", "\n", ". ", " "):
            found = text.rfind(mark, max(start, end - back), end)
            if found >= 0:
                end = found + len(mark)
                break
        cuts.append((start, end))
        start = end
    return [*cuts, (start, len(text))]


def _runs(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield stretches of texts that have about a piece's characters together."""
    first, held = 0, 0
    for index, length in enumerate(lengths):
        if index > first and held + length > PIECE:
            yield first, index
            first, held = index, 0
        held += length
    if lengths:
        yield first, len(lengths)


def joined(parts: Sequence[tuple[Sequence[Decisions], int]]) -> tuple[Decisions, ...]:
    """Return one `Decisions` a task for a document whose pieces lie at the given offsets."""
    if len(parts) == 1 and not parts[0][1]:
        return tuple(parts[0][0])
    return tuple(
        _join([(found[task], offset) for found, offset in parts]) for task in range(len(parts[0][0]))
    )


def _join(parts: Sequence[tuple[Decisions, int]]) -> Decisions:
    import numpy as np

    from disambig.data.lists import CandidateLists
    from disambig.data.settled import joined

    first = parts[0][0]
    columns: dict[str, Any] = {
        field.name: np.concatenate([getattr(part, field.name) for part, _ in parts])
        for field in dataclasses.fields(first)
        if field.name
        not in ("task", "model", "table", "starts", "ends", "offsets", "own", "settled", "trust")
    }
    columns["documents"] = np.zeros(len(columns["documents"]), np.int32)
    for name in ("starts", "ends"):
        columns[name] = np.concatenate([getattr(part, name) + np.int32(offset) for part, offset in parts])
    sizes = np.concatenate([np.diff(part.offsets) for part, _ in parts])
    columns["offsets"] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if first.own is not None:
        columns["own"] = CandidateLists.joined([part.own for part, _ in parts if part.own is not None])
    columns["settled"] = joined([(part.settled, len(part), offset) for part, offset in parts])
    return dataclasses.replace(first, **columns)
