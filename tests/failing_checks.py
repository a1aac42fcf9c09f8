"""Which of the checks for plugin authors fail, by name, and with which message."""

from __future__ import annotations

from collections.abc import Iterable

from disambig.testing.checks import Check


def failures(checks: Iterable[Check], *, also: tuple[type[Exception], ...] = ()) -> dict[str, str]:
    """Return the message of each check that raises an `AssertionError` or one of the exceptions `also`."""
    failed = {}
    for check in checks:
        try:
            check()
        except (AssertionError, *also) as problem:
            failed[check.name] = str(problem)
    return failed
