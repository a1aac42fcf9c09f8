"""Which document is at fault where a shard ends its worker again and again: found by halving.

A half is annotated as the shard would be, and nothing is written. A shard of n documents takes about
2 log2(n) tries, each in a worker of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from disambig.batch.annotation import annotate_documents, batches
from disambig.batch.planning import Shard
from disambig.batch.shards import ShardWork, documents_of
from disambig.batch.work import Function, Runner, Tell
from disambig.formats.documents import Bad, Document


@dataclass(frozen=True, slots=True)
class Probe:
    """Documents of a shard, from `first` up to `last`: annotated, or only counted and named."""

    shard: Shard
    first: int = 0
    last: int | None = None
    annotated: bool = True


@dataclass(frozen=True, slots=True)
class ProbeWork:
    """The work of a job on parts of a shard, without its output: how many documents, and the first's id."""

    work: ShardWork

    def describe(self) -> dict[str, Any]:
        """Return what the job's work does."""
        return self.work.describe()

    def start(self) -> Function:
        """Load the models and return the function that tries a probe."""
        work = self.work
        load = cache(work.source.load)  # not for those that only count and name

        def run(probe: Probe, tell: Tell) -> tuple[int, str]:
            found = islice(_documents(probe.shard, work), probe.first, probe.last)
            if not probe.annotated:
                names = [document.id for document in found]
                return len(names), names[0] if names else ""
            n = 0
            for batch in batches(found):
                results, _ = annotate_documents(batch, load(), seconds=work.bounds.seconds)
                work.format.encode(results)
                n += len(batch)
            return n, ""

        return run


def at_fault(shard: Shard, work: ShardWork, runner: Runner) -> str | None:
    """Return the id of a document that fails on its own as its shard does; None where none does."""
    trying = ProbeWork(work)

    def tried(probe: Probe) -> Any:
        """Return the result of a probe, None where it fails."""
        (outcome,) = runner.run(trying, [probe])
        return None if outcome.problem is not None else outcome.result

    seen = tried(Probe(shard, annotated=False))
    if seen is None or not seen[0]:
        return None
    first, last = 0, seen[0]
    while last - first > 1:
        middle = (first + last) // 2
        if tried(Probe(shard, first, middle)) is None:
            last = middle
        elif tried(Probe(shard, middle, last)) is None:
            first = middle
        else:
            return None  # both halves come through: what fails is all of it together
    if seen[0] == 1 and tried(Probe(shard, first, last)) is not None:
        return None
    named = tried(Probe(shard, first, last, annotated=False))
    return None if named is None else str(named[1])


def _documents(shard: Shard, work: ShardWork) -> Iterator[Document]:
    return (found for found in documents_of(shard.parts, work) if not isinstance(found, Bad))
