"""What a run came to, in numbers and in a line for people."""

from __future__ import annotations

from dataclasses import dataclass, field

from disambig.errors import UserError
from disambig.plural import many
from disambig.visible import visible


@dataclass(slots=True)
class Tally:
    """What a run came to so far.

    Attributes
    ----------
    left_out : dict
        By file: flags above the most that were wanted.
    known, elsewhere : int
        Flags that a baseline knows, and those in lines that were not changed.
    """

    files: int = 0
    flagged_files: int = 0
    words: int = 0
    flags: int = 0
    fixed: int = 0
    known: int = 0
    elsewhere: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    problems: list[UserError] = field(default_factory=list)
    notes: list[UserError] = field(default_factory=list)

    def bounded(self) -> str:
        """Say how many flags a bound left out, and of which files; "" where none did."""
        if not self.left_out:
            return ""
        files = ", ".join(f"{visible(name)}: {n:,}" for name, n in list(self.left_out.items())[:5])
        more = f", and {len(self.left_out) - 5:,} more files" if len(self.left_out) > 5 else ""
        return f"{many(sum(self.left_out.values()), 'flag')} left out by --max-flags-per-1000 ({files}{more})"

    def line(self, *, fixing: bool) -> str:
        """Say what the run came to."""
        found = many(self.flags, "flag")
        if self.flags:
            found += f" in {self.flagged_files:,} of {many(self.files, 'file')}"
        else:
            found = f"no flags in {many(self.files, 'file')}"
        said = f"{found}, {many(self.words, 'word')}"
        said += f", {self.fixed:,} corrected" if fixing else ""
        said += f"; {self.known:,} known by the baseline" if self.known else ""
        said += f"; {self.elsewhere:,} in unchanged lines" if self.elsewhere else ""
        said += f"; {many(len(self.problems), 'problem')}" if self.problems else ""
        return said
