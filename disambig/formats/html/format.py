"""Decisions as a page to read: documents are drawn in the workers, the page is put together at the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile, gettempdir
from typing import Any

from disambig.files.saving import writer, writing
from disambig.formats.documents import Kind
from disambig.formats.html.page import foot, head, section
from disambig.formats.html.passages import label_records, passages, shown
from disambig.formats.html.summary import Summary
from disambig.formats.results import Annotated, count_words, flagged_records
from disambig.visible import visible


@dataclass(frozen=True, slots=True)
class HtmlFormat:
    """One page, complete in itself. Long corpora: only paragraphs with flags (see `Summary`).

    Documents wait in a temporary file, since the summary stands before them.
    """

    language: str = "en"
    name: str = "html"
    suffix: str = ".html"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return some documents as JSON, a line each: their figures and paragraphs."""
        drawn = (_drawn(result) for result in results if not result.document.blank)
        return b"".join(json.dumps(document).encode() + b"\n" for document in drawn)

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the page."""
        with TemporaryFile() as held:
            keep, summary = writer(held, gettempdir()), Summary()
            for chunk in chunks:
                keep(chunk)
                for line in chunk.splitlines():
                    summary.add(json.loads(line))
            write(head(summary, language=self.language).encode())
            with writing(gettempdir()):
                held.seek(0)
            labels = summary.only_labels
            for number, line in enumerate(held, 1):
                document = json.loads(line)
                if summary.shows(number, document):
                    write(section(document, number, whole=summary.whole, labels=labels).encode())
            write(foot().encode())


def _drawn(result: Annotated) -> dict[str, Any]:
    flagged, labelled = flagged_records(result), label_records(result)
    found = list(passages(result, [*flagged, *labelled]))
    labels = Counter((record["task"], record["chosen"], record.get("gloss", "")) for record in labelled)
    return {
        "title": visible(result.document.id),
        "row": result.document.kind in ("line", "json", "csv", "parquet"),
        "characters": len(result.document.text),
        "words": count_words(result.document.text),
        "tasks": {
            decisions.task: [len(decisions), int(decisions.flagged.sum())] for decisions in result.decisions
        },
        "labels": [[*key, count] for key, count in labels.items()],
        "corrections": [_correction(record) for record in flagged],
        "passages": [[passage.flags, passage.verse, passage.line, passage.html] for passage in found],
        "size": sum(len(passage.html) for passage in found if passage.flags),
    }


def _correction(record: dict[str, Any]) -> list[Any]:
    return [
        record["task"],
        shown(record["observed"]).lower(),
        shown(record["replacement"]).lower(),
        record["mark"],
    ]
