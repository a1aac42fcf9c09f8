"""Every message a user can cause, each with its code.

A message says what happened, what was seen and what to do, in one line. Nothing but
messages lives here. Errors that are *our* fault stay ordinary exceptions with a traceback.

Codes: D0xx plugins, registry and configs; D1xx count tables; D2xx text and tokenisations;
D3xx corpora and jobs; D4xx models, packs and training; D5xx spaCy; D6xx command line.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MESSAGES: dict[str, str] = {
    # plugins, registry and configs
    "D001": "unknown {kind} {name!r}: there are {names}",
    "D002": "plugin {name!r} ({distribution}) could not be loaded: {problem}; run `disambig plugins` to see all",
    "D003": "{kind} {name!r} is registered twice: by {first} and by {second}; rename or remove one of them",
    "D004": "{name!r} is no registry name: use package.Name.v1",
    "D005": "config {path}: {problem}",
    # text and tokenisations
    "D200": "the environment variable DISAMBIG_ENGINE is {value!r}: set it to numpy or numba, or leave it unset",
    "D201": "text {number} of the batch has {length:,} characters, more than 2,147,483,647: split it",
}


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
        message = " ".join(MESSAGES[code].format(**values).split("\n"))
        super().__init__(f"[{code}] {message}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.code, self.values)


def _rebuild(code: str, values: dict[str, object]) -> UserError:
    return UserError(code, **values)


def nearest_first(name: str, names: Iterable[str]) -> str:
    """Join `names` for a message, those nearest to `name` first; every name is listed."""
    known = sorted(names)
    if not known:
        return "none (is the plugin that brings it installed? see `disambig plugins`)"
    near = difflib.get_close_matches(name, known, n=len(known), cutoff=0.5)
    return ", ".join(near + [other for other in known if other not in near])
