"""Annotate documents and rerank n-best lists in one stream."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from disambig.data import minibatch
from disambig.errors import UserError
from disambig.formats import (
    Document,
    Format,
    UnreadableDocument,
    format_lines,
    name_error_place,
    read_nbest,
    to_candidate_lists,
)
from disambig.jobs.job import JobReport, Listener, readable, with_progress
from disambig.jobs.records import Totals, count_totals
from disambig.jobs.runners import InProcessRunner
from disambig.jobs.work import Function, ProgressCallback, Runner
from disambig.models import (
    AnnotatorSource,
    Model,
    annotate_documents,
    batch_documents,
    decide_lists,
)


@dataclass(frozen=True, slots=True)
class StreamChunk:
    """The result of a batch: its output, counts and messages."""

    data: bytes
    totals: Totals
    bad: list[str]


@dataclass(frozen=True, slots=True)
class StreamWork:
    """Annotate the batches of a stream."""

    source: AnnotatorSource
    format: Format
    seconds: float | None = None

    def describe(self) -> dict[str, Any]:
        """Return the models as seen by this process."""
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
    """Annotate `documents` and write them in order, with only a few batches in memory.

    Parameters
    ----------
    documents : iterable of Document or UnreadableDocument
        As read by `disambig.formats.read_all`.
    source : AnnotatorSource
        Creates the annotator.
    write : callable
        Called with the bytes of the output; not called if no document contains a word.
    runner : Runner, optional
        Processes the batches; by default in this process.
    seconds : float, optional
        Maximum time per document.
    listener : callable
        Called with the progress in characters.
    """
    report = JobReport()

    def report_bad(message: str) -> None:
        report.bad.append(message)
        listener(0, [message])

    def chunks() -> Iterator[bytes]:
        work = StreamWork(source, format, seconds)
        run = (runner or InProcessRunner()).run
        batches = batch_documents(readable(documents, report_bad))
        for outcome in run(work, batches, ordered=True, tell=lambda more: listener(more, ())):
            amount = _characters(outcome.item) - outcome.progress
            if outcome.problem is not None:
                what = f"documents {outcome.item[0].id} to {outcome.item[-1].id}"
                report.left_out.append(str(UserError("D314", what=what, problem=outcome.problem)))
                listener(amount, report.left_out[-1:])
                continue
            chunk = outcome.result
            report.add(chunk.totals)
            report.bad.extend(chunk.bad)
            listener(amount, chunk.bad)
            yield chunk.data

    stream = chunks()
    first = deque(_chunks_to_first_word(stream, report))
    if report.totals.words:
        format.join(chain(_drain(first), stream), write)
    return report


def _chunks_to_first_word(chunks: Iterator[bytes], report: JobReport) -> Iterator[bytes]:
    """Yield chunks up to the first that contains a word, since without a word nothing is written."""
    while not report.totals.words:
        chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk


def _drain(chunks: deque[bytes]) -> Iterator[bytes]:
    """Yield chunks and hold none of them: one can have 40 times the size of its text."""
    while chunks:
        yield chunks.popleft()


def _characters(batch: Sequence[Document]) -> int:
    return sum(len(document.text) for document in batch)


_LISTS_PER_BATCH = 2000
"""Number of lists per batch."""


def rerank(
    model: Model,
    paths: Sequence[str],
    write: Callable[[bytes], object],
    *,
    bad: Callable[[UserError], object] | None = None,
) -> int:
    """Write the lists of files with the best candidate first; return the number of lists.

    `bad` is called with the error of an invalid line, which is then skipped; by default the error is raised.
    Raises D334 for an invalid line, D300 to D308 for a file, D336 for a model of another kind.
    """
    n = 0
    for items in minibatch(read_nbest(paths, bad=bad), _LISTS_PER_BATCH):
        with name_error_place(items):
            decisions = decide_lists(model, to_candidate_lists(items))
        lines = "".join(f"{line}\n" for line in format_lines(items, decisions))
        write(lines.encode(errors="backslashreplace"))  # half a surrogate pair is escaped as JSON escapes it
        n += len(items)
    return n
