"""Annotating in one stream: documents in, one output in their order; nothing is kept for a restart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from disambig.batch.annotation import annotate_documents, batches, telling
from disambig.batch.job import Listener, Report
from disambig.batch.runners import InProcess
from disambig.batch.sources import Source
from disambig.batch.totals import Totals, totals_of
from disambig.batch.work import Function, Runner, Tell
from disambig.errors import UserError
from disambig.formats.documents import Bad, Document
from disambig.formats.writers import Format


@dataclass(frozen=True, slots=True)
class Chunk:
    """A batch, done: its output, counts, messages and characters."""

    data: bytes
    totals: Totals
    bad: list[str]


@dataclass(frozen=True, slots=True)
class StreamWork:
    """The work of a stream on its batches."""

    source: Source
    format: Format
    seconds: float | None = None

    def describe(self) -> dict[str, Any]:
        """Return the models, as they are where this is asked."""
        return self.source.describe()

    def start(self) -> Function:
        """Load the models and return the function that annotates a batch of documents."""
        annotate = self.source.load()

        def work(batch: Sequence[Document], tell: Tell) -> Chunk:
            told = telling(annotate, tell, _characters(batch))
            results, bad = annotate_documents(batch, told, seconds=self.seconds)
            messages = [str(found.error) for found in bad]
            return Chunk(self.format.encode(results), totals_of(results), messages)

        return work


def annotate_stream(
    documents: Iterable[Document | Bad],
    *,
    source: Source,
    format: Format,
    write: Callable[[bytes], object],
    runner: Runner | None = None,
    seconds: float | None = None,
    listener: Listener = lambda amount, messages: None,
) -> Report:
    """Annotate `documents` and write them in order; memory holds some batches at a time.

    Parameters
    ----------
    documents : iterable of Document or Bad
        From `disambig.formats.readers`.
    source : Source
        Where the annotator comes from.
    format : Format
    write : callable
        Takes the bytes of the output; never called where no document has a word.
    runner : Runner, optional
        Where batches are worked on; here if not given.
    seconds : float, optional
        That a document may take.
    listener : callable
        Told of progress in characters.
    """
    report = Report()

    def good() -> Iterator[Document]:
        for document in documents:
            if isinstance(document, Bad):
                report.bad.append(str(document.error))
                listener(0, [str(document.error)])
            else:
                yield document

    def chunks() -> Iterator[bytes]:
        work = StreamWork(source, format, seconds)
        run = (runner or InProcess()).run
        for outcome in run(work, batches(good()), ordered=True, tell=lambda more: listener(more, ())):
            amount = _characters(outcome.item) - outcome.told
            if outcome.problem is not None:
                what = f"documents {outcome.item[0].id} to {outcome.item[-1].id}"
                report.left_out.append(str(UserError("D314", what=what, problem=outcome.problem)))
                listener(amount, report.left_out[-1:])
                continue
            chunk = outcome.result
            report.done(chunk.totals)
            report.bad.extend(chunk.bad)
            listener(amount, chunk.bad)
            yield chunk.data

    made = chunks()
    first = list(_until_a_word(made, report))
    if report.totals.words:
        format.join(chain(first, made), write)
    return report


def _until_a_word(chunks: Iterator[bytes], report: Report) -> Iterator[bytes]:
    """Yield chunks up to the first in which there is a word: without one nothing shall be written."""
    while not report.totals.words:
        chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk


def _characters(batch: Sequence[Document]) -> int:
    return sum(len(document.text) for document in batch)
