"""One thing that was looked at, what was seen, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

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
    numbers : mapping of str to float
        What was measured, for programs.
    """

    area: str
    status: str
    what: str
    mend: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)


def guarded(area: str, check: Callable[[], Iterable[Finding]], *, mend: str = "") -> Iterator[Finding]:
    """Yield what a check finds; a check that fails is a finding too, never the end of the others.

    Parameters
    ----------
    mend : str
        What to do if it fails, where the caller knows better than the error.
    """
    try:
        yield from check()
    except UserError as problem:
        yield Finding(area, PROBLEM, str(problem), mend or "do as the message says")
    except ImportError as problem:
        package = (problem.name or "disambig").partition(".")[0]
        yield Finding(area, PROBLEM, said(problem), f"pip install --force-reinstall {package}")
    except (Exception, SystemExit) as problem:  # whatever is broken: that is what this is for
        general = "install disambig again; if that does not help, report this line"
        yield Finding(area, PROBLEM, said(problem), mend or general)


def said(problem: BaseException) -> str:
    """Return an exception on one line."""
    return " ".join(f"{type(problem).__name__}: {problem}".split())
