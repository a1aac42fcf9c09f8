"""What stands at the top of a page, added up document by document; and how much of a corpus is shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

WHOLE = 1_000_000
"""Characters of text up to which a page shows all of it; above, only paragraphs with flags."""
MOST = 6_000_000
"""Characters of HTML after which no further document is shown."""
_LISTED = 500
_CORRECTIONS = 20
_LABELS = 10


@dataclass(slots=True)
class Summary:
    """Counts of a page.

    Attributes
    ----------
    documents, words, characters, flags : int
    tasks : dict from task to [decisions, flags]
    labels : dict from task to {(label, gloss): count}
    listed : list of (number, title, words, flags)
        The first documents that have flags.
    flagged_documents : int
        How many there are of these.
    last : int
        Number of the last document that is shown where not everything is.
    """

    documents: int = 0
    words: int = 0
    characters: int = 0
    flags: int = 0
    tasks: dict[str, list[int]] = field(default_factory=dict)
    labels: dict[str, dict[tuple[str, str], int]] = field(default_factory=dict)
    listed: list[tuple[int, str, int, int]] = field(default_factory=list)
    flagged_documents: int = 0
    last: int = 0
    _size: int = 0
    _corrections: dict[tuple[str, str, str], list[Any]] = field(default_factory=dict)

    def add(self, document: dict[str, Any]) -> None:
        """Count a document (see `format`)."""
        self.documents += 1
        self.words += document["words"]
        self.characters += document["characters"]
        flags = 0
        for task, (decisions, flagged) in document["tasks"].items():
            counts = self.tasks.setdefault(task, [0, 0])
            counts[0] += decisions
            counts[1] += flagged
            flags += flagged
        for task, *named, count in document["labels"]:
            labels, key = self.labels.setdefault(task, {}), (named[0], named[1])
            labels[key] = labels.get(key, 0) + count
        if self._size < MOST:
            self.last = self.documents
        self._size += document["size"]
        for *key, mark in document["corrections"]:
            entry = self._corrections.setdefault((key[0], key[1], key[2]), [0, self.documents, mark])
            entry[0] += 1
        self.flags += flags
        if flags:
            self.flagged_documents += 1
            if len(self.listed) < _LISTED:
                self.listed.append((self.documents, document["title"], document["words"], flags))

    @property
    def decisions(self) -> int:
        """How many decisions all tasks took."""
        return sum(decisions for decisions, _ in self.tasks.values())

    @property
    def only_labels(self) -> bool:
        """Whether every decision gives a label, so that none could be flagged."""
        return 0 < self.decisions == sum(sum(labels.values()) for labels in self.labels.values())

    def frequent_labels(self, task: str) -> list[tuple[str, str, int]]:
        """Return a task's most frequent labels, their glosses and how often they are given."""
        ranked = sorted(self.labels.get(task, {}).items(), key=lambda item: (-item[1], item[0]))
        return [(*key, count) for key, count in ranked[:_LABELS]]

    @property
    def whole(self) -> bool:
        """Whether all text is shown."""
        return self.characters <= WHOLE

    def shows(self, number: int, document: dict[str, Any]) -> bool:
        """Tell whether a document is on the page, wholly or in part."""
        return self.whole or (number <= self.last and bool(document["corrections"]))

    def corrections(self) -> list[tuple[str, str, str, int, str | None]]:
        """Return the most frequent ones: task, from, to, how often, anchor of the first if it is shown.

        One that came once is not frequent.
        """
        repeated = [item for item in self._corrections.items() if item[1][0] > 1]
        ranked = sorted(repeated, key=lambda item: (-item[1][0], item[1][1:], item[0]))
        return [
            (*key, count, f"d{document}-{mark}" if self.whole or document <= self.last else None)
            for key, (count, document, mark) in ranked[:_CORRECTIONS]
        ]
