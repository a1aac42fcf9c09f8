"""Whether a worker has what this process has: versions, models by name and content, the job's folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

from disambig.api import UserError
from disambig.api.runners import Describes, Work

_LONG = 20  # characters of a digest that are shown


def expected_of(work: Work) -> dict[str, Any]:
    """Return what each worker must say."""
    described = work.describe() if isinstance(work, Describes) else {}
    return {"the version of disambig": version("disambig"), **described}


def check_alike(expected: Mapping[str, Any], seen: Mapping[str, Any], address: str) -> None:
    """Make sure that a worker said what was expected.

    Raises
    ------
    UserError
        D856 with the first difference.
    """
    here, there = dict(_flat(expected)), dict(_flat(seen))
    for what in here | there:
        ours, theirs = here.get(what), there.get(what)
        if ours != theirs:
            raise UserError("D856", address=address, what=what, there=_short(theirs), here=_short(ours))


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}, ")
        else:
            yield f"{before}{name}", list(value) if isinstance(value, tuple) else value


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 3 * _LONG else f"{text[:_LONG]}..."
