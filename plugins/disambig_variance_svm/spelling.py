"""Task *spelling*: decide which of two or more easily confused words was meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from disambig.api import CandidateFinder, Group, Instances, TokenView, fitted_field
from disambig.api.tasks import read_confusion_sets
from disambig.api.text import SPOKEN_CONSONANT, SPOKEN_VOWEL

A_AN = {"a", "an"}
_SPELT_OUT = re.compile(rf"\d|[A-Z]{{2}}|[\ufffc{SPOKEN_VOWEL}{SPOKEN_CONSONANT}]")
ENGLISH_CONFUSION_SETS = Path(__file__).parent / "confusion_sets" / "english.tsv"


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
    own: tuple[Group, ...] | None = fitted_field(None)
    extra: tuple[Group, ...] = fitted_field(())
    name: str = "spelling"
    concerns: ClassVar[str] = "confusion"
    language: str = "en"

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group per set; sets added at run time come last."""
        return (
            *(_read(str(self.sets or ENGLISH_CONFUSION_SETS)) if self.own is None else self.own),
            *self.extra,
        )

    def of_groups(self, groups: Sequence[Group]) -> Spelling:
        """Return the task with these sets in place of its own, such as the sets of a saved model."""
        return replace(self, own=tuple(groups), extra=())

    def with_groups(self, groups: Sequence[Group]) -> Spelling:
        """Return the task with more sets after its own."""
        return replace(self, extra=(*self.extra, *groups))

    @cached_property
    def finder(self) -> CandidateFinder:
        """The index of the candidates."""
        return CandidateFinder.from_groups(self.groups)

    def instances(self, view: TokenView) -> Instances:
        """Return each occurrence of a member of a set, except "a" and "an" before numbers, acronyms and code.

        The choice before these depends on how they are spoken, which counts do not show: all digits share
        one hash, and so do "SQL" and "sql".
        """
        instances = self.finder.find(view)
        article_sets = [i for i, group in enumerate(self.groups) if set(group.candidates) == A_AN]
        rows = np.flatnonzero(np.isin(instances.groups, article_sets))
        if not len(rows):
            return instances
        behind = (instances.positions + instances.lengths)[rows]
        places = zip(view.document_indices(behind).tolist(), view.starts[behind].tolist(), strict=True)
        kept = np.ones(len(instances), bool)
        kept[rows] = [not _SPELT_OUT.match(view.texts[document], start) for document, start in places]
        return instances.take(np.flatnonzero(kept))


@lru_cache(maxsize=8)
def _read(path: str) -> Sequence[Group]:
    return read_confusion_sets(path)
