"""A plugin of tasks that read their confusion sets from a file, for tests of saved models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from toy_plugin import Pairs

from disambig.api import Group, hookimpl


@dataclass(frozen=True)
class Numbered(Pairs):
    """Confusion sets from a file, named by their numbers, as a third party could write it."""

    sets: str = ""
    name: str = "numbered"

    @cached_property
    def groups(self):
        lines = Path(self.sets).read_text().splitlines()
        return tuple(Group(f"set{i}", tuple(line.split("/"))) for i, line in enumerate(lines))


@dataclass(frozen=True)
class Kept(Numbered):
    """The same task, which also accepts the groups of a saved model."""

    saved_groups: tuple[Group, ...] | None = None

    @cached_property
    def groups(self):
        return super().groups if self.saved_groups is None else self.saved_groups

    def of_groups(self, groups):
        return replace(self, saved_groups=groups)


@hookimpl
def disambig_register_tasks(register):
    register("files.Numbered.v1", Numbered)
    register("files.Kept.v1", Kept)
