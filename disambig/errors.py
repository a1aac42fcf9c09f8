"""Errors that a user can correct; their codes and messages are in `disambig.messages`.

Bugs of disambig raise ordinary exceptions with a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from disambig.formatting import escape_control_chars
from disambig.messages import commands, core

MESSAGES: dict[str, str] = {**core.MESSAGES, **commands.MESSAGES}
_NAMES = ("path", "where", "output", "directory", "folder", "copy")
"""Fields that can be file names, in which a line end is shown as an escape, not as a blank."""


class UserError(ValueError):
    """An error that the user can correct, shown as one line without a traceback; exit status 2.

    Parameters
    ----------
    code : str
        A key of `MESSAGES`.
    **values
        Values of the fields of the message.
    """

    def __init__(self, code: str, **values: object) -> None:
        self.code = code
        self.values = values
        super().__init__(f"[{code}] {self.text}")

    @property
    def text(self) -> str:
        """The message as one line, without its code, for use inside another message."""
        values = {
            name: str(value).replace("\n", "\\x0a") if name in _NAMES else value
            for name, value in self.values.items()
        }
        return escape_control_chars(" ".join(MESSAGES[self.code].format(**values).split("\n")))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.code, self.values)


def contract_error(part: str, problem: str, wanted: str) -> UserError:
    """Return the error for a component that violates its contract, a mistake of the plugin's author."""
    return UserError("D414", part=part, problem=problem, wanted=wanted)


def _rebuild(code: str, values: dict[str, object]) -> UserError:
    return UserError(code, **values)


def nearest_first(name: str, names: Iterable[str]) -> str:
    """Join `names` for a message, those nearest to `name` first; every name is listed."""
    candidates = sorted(names)
    if not candidates:
        return "none (is the plugin that provides it installed? see `disambig plugins`)"
    near = difflib.get_close_matches(name, candidates, n=len(candidates), cutoff=0.5)
    return ", ".join(near + [other for other in candidates if other not in near])
