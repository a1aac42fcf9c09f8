"""The page of a job in HTML that leads to its parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from disambig.batch.manifest import INDEX, drafts_of
from disambig.batch.planning import Shard
from disambig.batch.records import load_record
from disambig.files.saving import saved
from disambig.formats.documents import encodable
from disambig.formats.html.parts import PartOfJob, parts_page


def write_index(directory: Path, shards: Sequence[Shard], *, language: str) -> None:
    """Write ``index.html`` with a row for each finished shard.

    Raises
    ------
    UserError
        D309.
    """
    parts, left = [], 0
    for shard in shards:
        record = load_record(directory, shard.index)
        if record is None:
            left += 1
            continue
        for name in record.files:
            totals = record.totals
            flags = sum(flags or 0 for _, flags in totals.tasks.values())
            part = shard.parts[0]
            source = encodable(part.name) + (f":{part.line}" if part.line > 1 else "")
            parts.append(PartOfJob(name, source, totals.documents, totals.words, flags))
    page = parts_page(parts, left=left, language=language)
    with saved(directory / INDEX, drafts=drafts_of(directory)) as write:
        write(page.encode())
