"""Annotate documents and rerank n-best lists in one stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from disambig.errors import UserError
from disambig.formats import (
    Document,
    Format,
    NBestList,
    UnreadableDocument,
    format_lines,
    name_error_place,
    read_nbest,
    to_candidate_lists,
)
from disambig.jobs.annotation import AnnotatorSource, annotate_documents, batch_documents, with_progress
from disambig.jobs.job import JobReport, Listener
from disambig.jobs.records import Totals, count_totals
from disambig.jobs.runners import InProcessRunner
from disambig.jobs.work import Function, ProgressCallback, Runner
from disambig.models import Model, decide_lists


@dataclass(frozen=True, slots=True)
class StreamChunk:
    """A batch, done: its output, counts, messages and characters."""

    data: bytes
    totals: Totals
    bad: list[str]


@dataclass(frozen=True, slots=True)
class StreamWork:
    """The work of a stream on its batches."""

    source: AnnotatorSource
    format: Format
    seconds: float | None = None

    def describe(self) -> dict[str, Any]:
        """Return the models, as they are where this is asked."""
        return self.source.describe()

    def start(self) -> Function:
        """Load the models and return the function that annotates a batch of documents."""
        annotate = self.source.load()

        def work(batch: Sequence[Document], tell: ProgressCallback) -> StreamChunk:
            annotate_reporting = with_progress(annotate, tell, _characters(batch))
            results, bad = annotate_documents(batch, annotate_reporting, seconds=self.seconds)
            messages = [str(document.error) for document in bad]
            return StreamChunk(self.format.encode(results), count_totals(results), messages)

        return work


def annotate_stream(
    documents: Iterable[Document | UnreadableDocument],
    *,
    source: AnnotatorSource,
    format: Format,
    write: Callable[[bytes], object],
    runner: Runner | None = None,
    seconds: float | None = None,
    listener: Listener = lambda amount, messages: None,
) -> JobReport:
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
    report = JobReport()

    def good() -> Iterator[Document]:
        for document in documents:
            if isinstance(document, UnreadableDocument):
                report.bad.append(str(document.error))
                listener(0, [str(document.error)])
            else:
                yield document

    def chunks() -> Iterator[bytes]:
        work = StreamWork(source, format, seconds)
        run = (runner or InProcessRunner()).run
        for outcome in run(work, batch_documents(good()), ordered=True, tell=lambda more: listener(more, ())):
            amount = _characters(outcome.item) - outcome.progress
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


def _until_a_word(chunks: Iterator[bytes], report: JobReport) -> Iterator[bytes]:
    """Yield chunks up to the first in which there is a word: without one nothing shall be written."""
    while not report.totals.words:
        chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk


def _characters(batch: Sequence[Document]) -> int:
    return sum(len(document.text) for document in batch)


AT_ONCE = 2000
"""Lists decided at a time."""


def rerank(
    model: Model,
    paths: Sequence[str],
    write: Callable[[bytes], object],
    *,
    bad: Callable[[UserError], object] | None = None,
) -> int:
    """Write the lists of files with their best candidate first; return how many there were.

    Parameters
    ----------
    bad : callable, optional
        Gets the error of a line that is no list, and the rest goes on; else it is raised.

    Raises
    ------
    UserError
        D334 for a line that is no list; D300 to D308 for a file; D336 for a model of another kind.
    """
    n = 0
    for items in _batches(read_nbest(paths, bad=bad)):
        with name_error_place(items):
            decisions = decide_lists(model, to_candidate_lists(items))
        write("".join(f"{line}\n" for line in format_lines(items, decisions)).encode())
        n += len(items)
    return n


def _batches(items: Iterator[NBestList]) -> Iterator[list[NBestList]]:
    while batch := list(islice(items, AT_ONCE)):
        yield batch
