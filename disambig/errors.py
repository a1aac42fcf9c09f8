"""The error that a user can put right: its message and code are in `disambig.messages`.

Errors that are *our* fault stay ordinary exceptions with a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from disambig.formatting import escape_control_chars
from disambig.messages import commands, core

MESSAGES: dict[str, str] = {**core.MESSAGES, **commands.MESSAGES}
_NAMES = ("path", "where", "output", "directory", "folder", "copy")
"""Values that may be names of files: a line end in one is no blank."""


class UserError(ValueError):
    """Something the user can put right: shown as one line, without a traceback, exit status 2.

    Parameters
    ----------
    code : str
        A key of `MESSAGES`.
    **values
        What the message's fields are filled with.
    """

    def __init__(self, code: str, **values: object) -> None:
        self.code = code
        self.values = values
        super().__init__(f"[{code}] {self.text}")

    @property
    def text(self) -> str:
        """What it says, in one line, without its code: for a message that this one is the problem of."""
        values = {
            name: str(value).replace("\n", "\\x0a") if name in _NAMES else value
            for name, value in self.values.items()
        }
        return escape_control_chars(" ".join(MESSAGES[self.code].format(**values).split("\n")))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.code, self.values)


def contract_error(part: str, problem: str, wanted: str) -> UserError:
    """Return the error of a part that breaks its contract: a mistake of whoever wrote it."""
    return UserError("D414", part=part, problem=problem, wanted=wanted)


def _rebuild(code: str, values: dict[str, object]) -> UserError:
    return UserError(code, **values)


def nearest_first(name: str, names: Iterable[str]) -> str:
    """Join `names` for a message, those nearest to `name` first; every name is listed."""
    candidates = sorted(names)
    if not candidates:
        return "none (is the plugin that brings it installed? see `disambig plugins`)"
    near = difflib.get_close_matches(name, candidates, n=len(candidates), cutoff=0.5)
    return ", ".join(near + [other for other in candidates if other not in near])
