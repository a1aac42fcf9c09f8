"""What a report is told, and what it gives: the text of a file's flags at once, or all of it at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from disambig.checking.flags import Flag
from disambig.checking.places import Places
from disambig.errors import UserError
from disambig.visible import visible

if TYPE_CHECKING:
    from disambig.explaining.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Finding:
    """A flag with all that a report may say of it.

    Attributes
    ----------
    name : str
        Of the file, as the user gave it.
    path : str
        Of the file, with slashes, relative to the repository.
    flag : Flag
    places : Places
        Lines and columns of the file.
    fingerprint : str
        No other finding of the run has it, and it stays when lines move.
    outcome : str
        What became of it where files are corrected; else "".
    evidence : Evidence, optional
        What stands behind it, where that was asked for.
    """

    name: str
    path: str
    flag: Flag
    places: Places
    fingerprint: str
    outcome: str = ""
    evidence: Evidence | None = None

    @property
    def rule(self) -> str:
        """The name of its rule."""
        return f"disambig/{self.flag.task}"

    @property
    def message(self) -> str:
        """The flag as a question, without line ends."""
        observed, meant = (
            visible(" ".join(text.split())) for text in (self.flag.observed, self.flag.replacement)
        )
        if not observed:
            asked = f'Is "{meant}" missing here?'
        elif not meant:
            asked = f'Is "{observed}" one word too many?'
        else:
            asked = f'Did you mean "{meant}" in place of "{observed}"?'
        trust = self.flag.trust
        measured = "" if trust is None else f"; of such flags {round(100 * trust.share)} % were right"
        return f"{asked} ({self.flag.task}, {self.flag.probability:.2f}{measured})"


@dataclass(frozen=True, slots=True)
class Ended:
    """What a run came to.

    Attributes
    ----------
    status : int
        Its exit status.
    files, words : int
    problems : sequence of UserError
        Files that could not be checked or corrected, and what else went wrong.
    notes : sequence of UserError
        What is good to know and no problem.
    """

    status: int
    files: int
    words: int
    problems: Sequence[UserError] = ()
    notes: Sequence[UserError] = ()


class Report(Protocol):
    """A report in the making; what it returns is written to standard output in this order."""

    def add(self, findings: Sequence[Finding]) -> str:
        """Take the flags of one file, in text order, and return what can be written already."""

    def end(self, ended: Ended) -> str:
        """Return the rest."""
