"""Tasks whose candidates a config names, and the task of candidate lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from disambig.data import (
    CandidateFinder,
    CandidateLists,
    Group,
    Instances,
    apart,
    confusion_set,
    empty_places,
    read_confusion_sets,
)
from disambig.errors import UserError
from disambig.metrics import list_measure_named
from disambig.settings import fitted_field
from disambig.text import TokenView
from disambig.types import Decides

ZERO = ""
"""The candidate that is no word."""
GAPS = ("all", "none")
Sets = str | Path | Sequence[str | Sequence[str]]


@dataclass(frozen=True)
class OwnCandidates:
    """Decide between the words of a list, or of several lists.

    Parameters
    ----------
    candidates : sequence of str, optional
        One list, such as ``["a", "an", "the", ""]``; the empty one is no word.
    sets : path or sequence, optional
        Several lists in place of one: a file of sets (see `read_confusion_sets`), or
        ``["bring/take", ["may be", "maybe"]]``.
    gaps : str
        With the zero candidate: ``"all"`` decides every empty place between two words of a sentence that
        are written apart, next to no other candidate; ``"none"`` decides where a candidate stands only (is
        it one too many?).
    name, language : str
        Of the task: the name is the default key of its annotations.

    Raises
    ------
    UserError
        D411 for candidates that make no sense, D485 for both or none of `candidates` and `sets`,
        D486 for an unknown value of `gaps`, D663 for a text in place of a list. A file of sets is read when
        `groups` is asked for.
    """

    candidates: Sequence[str] | None = None
    sets: Sets | None = None
    gaps: str = "all"
    name: str = "candidates"
    language: str = ""
    own: tuple[Group, ...] | None = fitted_field(None)
    extra: tuple[Group, ...] = fitted_field(())

    def __post_init__(self) -> None:
        if (self.candidates is None) == (self.sets is None):
            raise UserError("D485")
        for name, given in (("candidates", self.candidates), ("sets", self.sets)):
            if isinstance(given, str) and (name == "candidates" or given.lstrip().startswith("[")):
                raise UserError("D663", setting=name, value=given)
        if self.gaps not in GAPS:
            raise UserError("D486", value=self.gaps, names=", ".join(GAPS))
        if not self.name.isidentifier():
            raise UserError("D487", name=self.name)
        if not isinstance(self.sets, str | Path):  # a file is read when it is needed
            _ = self.groups

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group a list."""
        return (*(_groups(self.candidates, self.sets) if self.own is None else self.own), *self.extra)

    def of_groups(self, groups: Sequence[Group]) -> OwnCandidates:
        """Return the task with these lists in place of its own: those that a saved model was trained for."""
        return replace(self, own=tuple(groups), extra=())

    def with_groups(self, groups: Sequence[Group]) -> OwnCandidates:
        """Return the task with further lists behind its own."""
        return replace(self, extra=(*self.extra, *groups))

    @cached_property
    def finder(self) -> CandidateFinder:
        """The index of the candidates that are words."""
        return CandidateFinder.from_groups(self.groups, zero=True)

    def instances(self, view: TokenView) -> Instances:
        """Return every occurrence of a candidate, and the empty places where none stands."""
        found = self.finder.find(view)
        zeros = [g for g, group in enumerate(self.groups) if ZERO in group.candidates]
        if not zeros or self.gaps == "none" or not len(view):
            return found
        places = empty_places(view)
        parts = [found]
        for g in zeros:
            free = places[apart(places, found.take(found.groups == g), len(view))]
            n = len(free)
            zero = self.groups[g].candidates.index(ZERO)
            parts.append(
                Instances(free, np.zeros(n, np.int32), np.full(n, g, np.int32), np.full(n, zero, np.int32))
            )
        together = Instances(
            np.concatenate([part.positions for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.groups for part in parts]),
            np.concatenate([part.observed for part in parts]),
        )
        return together.take(np.lexsort((together.groups, together.positions)))


def _groups(candidates: Sequence[str] | None, sets: Sets | None) -> tuple[Group, ...]:
    if candidates is not None:
        return (_group(candidates),)
    if isinstance(sets, str | Path):
        return tuple(read_confusion_sets(sets))
    groups = tuple(_group(one) for one in sets or ())
    names = [group.name for group in groups]
    twice = [name for name in names if names.count(name) > 1]
    if twice or not groups:
        raise UserError(
            "D411", name=(twice or ["sets"])[0], problem="is there twice" if twice else "none given"
        )
    return groups


def _group(said: str | Sequence[str]) -> Group:
    """Return a group; of a list one member may be no word, and is the last then."""
    if isinstance(said, str):
        return confusion_set(said)
    words = [str(one) for one in said if str(one).strip()]
    n_empty = len(said) - len(words)
    name = "/".join(map(str, said))
    if n_empty > 1:
        raise UserError("D411", name=name, problem="no word (the empty candidate) is there twice")
    if not n_empty:
        return confusion_set(words)
    if not words:
        raise UserError("D411", name=name, problem="it needs a word beside the empty candidate")
    known = confusion_set(words) if len(words) > 1 else _alone(words[0])
    return Group(f"{known.name}/-", (*known.candidates, ZERO))


def _alone(word: str) -> Group:
    """Return a group of one word, which must be one that a set could have."""
    checked = confusion_set([word, "x" if word.strip().lower() != "x" else "y"])
    return Group(checked.candidates[0], checked.candidates[:1])


@dataclass(frozen=True)
class Lists:
    """Find the best candidate of each list that a reader brings; in a text there is nothing to decide.

    Parameters
    ----------
    name, language : str
        Of the task.
    measure : str
        What a candidate costs beside the reference, where a list says no costs: ``"cer"`` (edits of
        characters), ``"wer"`` (of words) or ``"exact"``.

    Raises
    ------
    UserError
        D487 for a name that is none; D431, D437 for a measure that is none, or none of lists.
    """

    name: str = "rerank"
    language: str = ""
    measure: str = "cer"
    decides: ClassVar[Decides] = Decides("items", "own")

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise UserError("D487", name=self.name)
        list_measure_named(self.measure)

    @property
    def metric(self) -> tuple[str, None]:
        """The measure that decisions serve."""
        return self.measure, None

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group, whose candidates are those of each list."""
        return (Group(self.name, ()),)

    def instances(self, view: TokenView) -> Instances:
        """Return nothing: lists do not stand in texts."""
        none = np.empty(0, np.int32)
        return Instances(np.empty(0, np.int64), none, none, none, CandidateLists.from_texts([]))
