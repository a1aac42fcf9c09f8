"""Tasks whose candidates a config lists, and the task of candidate lists."""

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
from disambig.rules import RuleSet, default_rules
from disambig.settings import fitted_field
from disambig.text import TokenView
from disambig.types import Decides

ZERO = ""
"""The empty candidate, which means that no word belongs here."""
GAPS = ("all", "none")
Sets = str | Path | Sequence[str | Sequence[str]]


@dataclass(frozen=True)
class OwnCandidates:
    """Decide between the words of one list or of several lists.

    Parameters
    ----------
    candidates : sequence of str, optional
        One list, such as ``["a", "an", "the", ""]``; the empty candidate means that no word belongs there.
    sets : path or sequence, optional
        Several lists instead of one: a file of sets (see `read_confusion_sets`), or
        ``["bring/take", ["may be", "maybe"]]``.
    gaps : str
        Applies if there is an empty candidate. ``"all"`` also decides every empty place between two words of
        a sentence that are separated by a space and are not next to another candidate; ``"none"`` decides
        only occurrences of candidates (is the word superfluous?).
    name, language : str
        Name and language of the task; the name is the default key of its annotations.

    Raises
    ------
    UserError
        D411 for invalid candidates, D485 if not exactly one of `candidates` and `sets` is given, D486 for an
        unknown value of `gaps`, D663 for a string instead of a list. A file of sets is read when `groups` is
        first used.
    """

    candidates: Sequence[str] | None = None
    sets: Sets | None = None
    gaps: str = "all"
    name: str = "candidates"
    language: str = ""
    fitted_groups: tuple[Group, ...] | None = fitted_field(None)
    extra: tuple[Group, ...] = fitted_field(())

    def __post_init__(self) -> None:
        if (self.candidates is None) == (self.sets is None):
            raise UserError("D485")
        for name, value in (("candidates", self.candidates), ("sets", self.sets)):
            if isinstance(value, str) and (name == "candidates" or value.lstrip().startswith("[")):
                raise UserError("D663", setting=name, value=value)
        if self.gaps not in GAPS:
            raise UserError("D486", value=self.gaps, names=", ".join(GAPS))
        if not self.name.isidentifier():
            raise UserError("D487", name=self.name)
        if not isinstance(self.sets, str | Path):  # a file is read when it is needed
            _ = self.groups

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group for each list."""
        return (
            *(_groups(self.candidates, self.sets) if self.fitted_groups is None else self.fitted_groups),
            *self.extra,
        )

    @property
    def rules(self) -> RuleSet:
        """One rule with the name of the task. The class has none: each model has a name of its own."""
        return default_rules(self.name, type(self))

    def of_groups(self, groups: Sequence[Group]) -> OwnCandidates:
        """Return the task with other lists, such as those that a saved model was trained on."""
        return replace(self, fitted_groups=tuple(groups), extra=())

    def with_groups(self, groups: Sequence[Group]) -> OwnCandidates:
        """Return the task with further lists after its own."""
        return replace(self, extra=(*self.extra, *groups))

    @cached_property
    def finder(self) -> CandidateFinder:
        """The index of the candidates that are words."""
        return CandidateFinder.from_groups(self.groups, zero=True)

    def instances(self, view: TokenView) -> Instances:
        """Return every occurrence of a candidate, and the empty places where no candidate occurs."""
        occurrences = self.finder.find(view)
        with_empty = [g for g, group in enumerate(self.groups) if ZERO in group.candidates]
        if not with_empty or self.gaps == "none" or not len(view):
            return occurrences
        places = empty_places(view)
        parts = [occurrences]
        for g in with_empty:
            free = places[apart(places, occurrences.take(occurrences.groups == g), len(view))]
            empty = self.groups[g].candidates.index(ZERO)
            lengths, groups, observed = (np.full(len(free), value, np.int32) for value in (0, g, empty))
            parts.append(Instances(free, lengths, groups, observed))
        joined = Instances.joined(parts)
        return joined.take(np.lexsort((joined.groups, joined.positions)))


def _groups(candidates: Sequence[str] | None, sets: Sets | None) -> tuple[Group, ...]:
    """Return the group of `candidates`, or those of `sets`; D411 if there is none or one occurs twice."""
    if candidates is not None:
        return (_group(candidates),)
    if isinstance(sets, str | Path):
        return tuple(read_confusion_sets(sets))
    groups = tuple(_group(members) for members in sets or ())
    names = [group.name for group in groups]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise UserError("D411", name=repeated[0], problem="it occurs twice")
    if not groups:
        raise UserError("D411", name="sets", problem="none given")
    return groups


def _group(value: str | Sequence[str]) -> Group:
    """Return a group; one member of a list may be the empty candidate, which becomes the last one."""
    if isinstance(value, str):
        return confusion_set(value)
    words = [str(member) for member in value if str(member).strip()]
    n_empty = len(value) - len(words)
    name = "/".join(map(str, value))
    if n_empty > 1:
        raise UserError("D411", name=name, problem="the empty candidate occurs twice")
    if not n_empty:
        return confusion_set(words)
    if not words:
        raise UserError("D411", name=name, problem="it needs a word in addition to the empty candidate")
    group = confusion_set(words) if len(words) > 1 else _single_word_group(words[0])
    return Group(f"{group.name}/-", (*group.candidates, ZERO))


def _single_word_group(word: str) -> Group:
    """Return a group of one word, which is checked like a member of a set."""
    checked = confusion_set([word, "x" if word.strip().lower() != "x" else "y"])
    return Group(checked.candidates[0], checked.candidates[:1])


@dataclass(frozen=True)
class Lists:
    """Find the best candidate of each list that a reader provides; nothing is decided in a text.

    Parameters
    ----------
    name, language : str
        Name and language of the task.
    measure : str
        Cost of a candidate given the reference, if the list has no costs: ``"cer"`` (edits of characters),
        ``"wer"`` (edits of words) or ``"exact"``.

    Raises
    ------
    UserError
        D487 for an invalid name; D431 for an unknown measure, D437 for one that does not apply to lists.
    """

    name: str = "rerank"
    language: str = ""
    measure: str = "cer"
    decides: ClassVar[Decides] = Decides("items", "lists")

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise UserError("D487", name=self.name)
        list_measure_named(self.measure)

    @property
    def metric(self) -> tuple[str, None]:
        """The measure by which decisions are evaluated."""
        return self.measure, None

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group without candidates, since each list has its own."""
        return (Group(self.name, ()),)

    def instances(self, view: TokenView) -> Instances:
        """Return no instances, since lists do not occur in texts."""
        none = np.empty(0, np.int32)
        return Instances(np.empty(0, np.int64), none, none, none, CandidateLists.from_texts([]))
