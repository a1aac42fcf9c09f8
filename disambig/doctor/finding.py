"""One thing that was looked at, what was seen, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from disambig.errors import UserError

OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes
    ----------
    area : str
        What was looked at, such as ``"plugins"``.
    status : {"ok", "warning", "problem"}
    what : str
        What was seen, on one line.
    mend : str
        What to do, where something is off.
    """

    area: str
    status: str
    what: str
    mend: str = ""


def guarded(area: str, check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """Yield what a check finds; a check that fails is a finding too, never the end of the others."""
    try:
        yield from check()
    except UserError as problem:
        yield Finding(area, PROBLEM, str(problem), "see the message")
    except Exception as problem:  # whatever is broken in an installation: that is what this is for
        what = " ".join(f"{type(problem).__name__}: {problem}".split())
        yield Finding(area, PROBLEM, what, "install disambig again; if that does not help, report this line")
