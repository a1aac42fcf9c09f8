"""The five confusion sets of the paper, and the task of deciding in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from disambig.api import Finder, Group, Instances, TokenView
from disambig.api.tasks import confusion_set

SETS = (
    ("among", "between"),
    ("amount", "number"),
    ("cite", "sight", "site"),
    ("peace", "piece"),
    ("raise", "rise"),
)
WORDS = tuple(word for group in SETS for word in group)


@dataclass(frozen=True)
class FiveSets:
    """Finds every occurrence of a member of the five sets."""

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The five sets."""
        return tuple(confusion_set("/".join(words)) for words in SETS)

    def instances(self, view: TokenView) -> Instances:
        """Return the occurrences."""
        return Finder.of(self.groups).find(view)
