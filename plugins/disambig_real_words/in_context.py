"""What the tasks of this plugin share: a model of words in context, and candidates of each place's own."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from disambig.api import Decides, Group
from disambig.api.features import Cloze, open_cloze


@dataclass(frozen=True, kw_only=True)
class InContext:
    """A task that asks a model of words in context where something is to be decided.

    Parameters
    ----------
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that brings one.
    name, language : str
        Of the task: the name is the default key of its annotations.
    """

    words: str | Path = "disambig_en"
    name: str = "words"
    language: str = "en"
    decides: ClassVar[Decides] = Decides("words", "own")
    folders: ClassVar[tuple[str, ...]] = ("words", "relations")

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group, whose candidates are each place's own."""
        return (Group(self.name, ()),)

    @cached_property
    def model(self) -> Cloze:
        """The model of words in context."""
        return open_cloze(self.words)

    def check_files(self) -> str:
        """Read the model, and return a line about it."""
        return f"a model of {len(self.model.vocabulary):,} words in context"

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings alone: what was read is read again in another process."""
        return {each.name: getattr(self, each.name) for each in fields(self)}
