"""What a run has done so far: counts that add up over batches and shards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from disambig.formats.results import Annotated, count_words

if TYPE_CHECKING:
    from disambig.data.decisions import Decisions


@dataclass(slots=True)
class Totals:
    """Documents, words (runs of non-space with a letter or digit), and of each task decisions and flags.

    Of labels flags are None: they are compared with nothing in the text, so that none could be flagged.
    """

    documents: int = 0
    words: int = 0
    tasks: dict[str, tuple[int, int | None]] = field(default_factory=dict)

    def add(self, other: Totals) -> None:
        """Add what another part of the run has done."""
        self.documents += other.documents
        self.words += other.words
        for task, (decisions, flags) in other.tasks.items():
            before, flagged = self.tasks.get(task, (0, None))
            none = flags is None and flagged is None
            self.tasks[task] = (before + decisions, None if none else (flagged or 0) + (flags or 0))

    def plain(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        tasks = {task: list(counts) for task, counts in self.tasks.items()}
        return {"documents": self.documents, "words": self.words, "tasks": tasks}


def totals_of(results: Iterable[Annotated]) -> Totals:
    """Count what was done to some documents."""
    totals = Totals()
    for result in results:
        if result.document.blank:
            continue
        tasks = {decisions.task: (len(decisions), _flags(decisions)) for decisions in result.decisions}
        totals.add(Totals(1, count_words(result.document.text), tasks))
    return totals


def _flags(decisions: Decisions) -> int | None:
    return int(decisions.flagged.sum()) if (decisions.observed >= 0).any() else None


def from_plain(values: Mapping[str, Any]) -> Totals:
    """Return the totals that `Totals.plain` wrote."""
    tasks = {
        task: (int(decisions), None if flags is None else int(flags))
        for task, (decisions, flags) in values["tasks"].items()
    }
    return Totals(int(values["documents"]), int(values["words"]), tasks)
