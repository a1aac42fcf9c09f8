"""Which rules raise flags, as users choose them by their names or by the names of tasks."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from disambig.errors import UserError, nearest_first


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """The rules that raise flags.

    Attributes
    ----------
    only : frozenset of str
        Rules or tasks whose flags are shown; all if it is empty.
    ignored : frozenset of str
        Rules or tasks whose flags are hidden.
    """

    only: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.only or self.ignored)

    def shows(self, *names: str) -> bool:
        """Return True if a flag with these names, its rule and its task, is shown."""
        return (not self.only or not self.only.isdisjoint(names)) and self.ignored.isdisjoint(names)

    def check(self, available: Collection[str]) -> None:
        """Check that every name is one of `available`.

        Raises
        ------
        UserError
            D519 for an unknown name.
        """
        for name in sorted(self.only | self.ignored):
            if name not in available:
                raise UserError("D519", where="", name=name, names=nearest_first(name, available))


ALL_RULES = RuleSelection()
"""Every rule raises flags."""
