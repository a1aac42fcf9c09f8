"""What a run has done so far: counts that add up over batches and shards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from disambig.corpora.results import Annotated, count_words


@dataclass(slots=True)
class Totals:
    """Documents, words (runs of non-space with a letter or digit), and of each task decisions and flags."""

    documents: int = 0
    words: int = 0
    tasks: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, other: Totals) -> None:
        """Add what another part of the run has done."""
        self.documents += other.documents
        self.words += other.words
        for task, (decisions, flags) in other.tasks.items():
            first, second = self.tasks.get(task, (0, 0))
            self.tasks[task] = (first + decisions, second + flags)

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
        tasks = {
            decisions.task: (len(decisions), int(decisions.flagged.sum())) for decisions in result.decisions
        }
        totals.add(Totals(1, count_words(result.document.text), tasks))
    return totals


def from_plain(values: Mapping[str, Any]) -> Totals:
    """Return the totals that `Totals.plain` wrote."""
    tasks = {task: (int(counts[0]), int(counts[1])) for task, counts in values["tasks"].items()}
    return Totals(int(values["documents"]), int(values["words"]), tasks)
