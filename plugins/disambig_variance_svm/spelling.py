"""Task *spelling*: decide which of two or more easily confused words was meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateFinder, Group, Instances, TokenView, fitted_field
from disambig.api.tasks import ENGLISH_RULES, RuleSet, read_confusion_sets
from disambig.api.text import CODE_SIGNS, START_HASH, begins_gerund_subject

A_AN = {"a", "an"}
ITS = "its"
ITS_SET = {ITS, "it's"}
_SPELT_OUT = re.compile(rf"\d|[A-Z]{{2}}|[{CODE_SIGNS}]")
ENGLISH_CONFUSION_SETS = Path(__file__).parent / "confusion_sets" / "english.tsv"
ENGLISH_STYLE = Path(__file__).parent / "confusion_sets" / "english.style.tsv"
"""Sets whose candidates are all right: which one is written is a matter of style."""


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """Decide between the members of confusion sets.

    Parameters
    ----------
    sets : path, optional
        A file of sets, one per line (see `read_confusion_sets`); by default the English sets of this plugin.
    name, language : str
        Name and language of the task; the name is the default key of its annotations.
    """

    sets: str | Path | None = None
    fitted_groups: tuple[Group, ...] | None = fitted_field(None)
    extra: tuple[Group, ...] = fitted_field(())
    name: str = "spelling"
    concerns: ClassVar[str] = "confusion"
    rules: ClassVar[RuleSet] = ENGLISH_RULES
    language: str = "en"

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group per set; sets added at run time come last."""
        return (
            *(
                _read(str(self.sets or ENGLISH_CONFUSION_SETS))
                if self.fitted_groups is None
                else self.fitted_groups
            ),
            *self.extra,
        )

    def of_groups(self, groups: Sequence[Group]) -> Spelling:
        """Return the task with these sets in place of its own, such as the sets of a saved model."""
        return replace(self, fitted_groups=tuple(groups), extra=())

    def with_groups(self, groups: Sequence[Group]) -> Spelling:
        """Return the task with more sets after its own."""
        return replace(self, extra=(*self.extra, *groups))

    @cached_property
    def finder(self) -> CandidateFinder:
        """The index of the candidates."""
        return CandidateFinder.from_groups(self.groups)

    def instances(self, view: TokenView) -> Instances:
        """Return each occurrence of a member of a set, except those whose choice the counts do not show.

        These are "a" and "an" before numbers, acronyms and code, where it depends on how they are spoken (all
        digits share one hash, and so do "SQL" and "sql"), and "its" before a gerund that is the subject of a
        sentence, as in "Its being late is fine". English sets in `ENGLISH_STYLE` are left out, unless
        they were added at run time or the task has a file of `sets`.
        """
        instances = self.finder.find(view)
        kept = ~self._of_style[instances.groups]
        rows = np.flatnonzero(self._articles[instances.groups])
        following = (instances.positions + instances.lengths)[rows]
        spelt_out = [_SPELT_OUT.match(text, start) is not None for text, start, _ in view.locate(following)]
        kept[rows] &= ~np.array(spelt_out, bool)
        rows = np.flatnonzero(self._possessives[instances.groups])
        rows = rows[view.hashes[instances.positions[rows] - 1] == START_HASH]
        of_gerund = [
            text[start:end].lower() == ITS and begins_gerund_subject(text, end)
            for text, start, end in view.locate(instances.positions[rows])
        ]
        kept[rows] &= ~np.array(of_gerund, bool)
        return instances if kept.all() else instances.take(np.flatnonzero(kept))

    @cached_property
    def _articles(self) -> NDArray[np.bool_]:
        """Mask of the groups of "a" and "an"."""
        return self._groups_with([A_AN])

    @cached_property
    def _possessives(self) -> NDArray[np.bool_]:
        """Mask of the groups of "its" and "it's"."""
        return self._groups_with([ITS_SET])

    @cached_property
    def _of_style(self) -> NDArray[np.bool_]:
        """Mask of the groups that are a matter of style."""
        if self.sets is not None or self.language != "en":
            return np.zeros(len(self.groups), bool)
        style = self._groups_with([set(group.candidates) for group in _read(str(ENGLISH_STYLE))])
        style[len(self.groups) - len(self.extra) :] = False
        return style

    def _groups_with(self, sets: Sequence[set[str]]) -> NDArray[np.bool_]:
        """Return a mask of the groups with the candidates of one of the sets."""
        return np.array([set(group.candidates) in sets for group in self.groups], bool)


@lru_cache(maxsize=8)
def _read(path: str) -> Sequence[Group]:
    return read_confusion_sets(path)
