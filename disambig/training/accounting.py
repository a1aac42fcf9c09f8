"""How many examples were read and used, and why the others were left out: one line, always said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from disambig.plural import many

MOST_REASONS = 5
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_PLACE = re.compile(r"^.*?(, line \d+|:\d+|/[^:]*)?: ")


def account(used: int, problems: Sequence[str] = (), what: str = "examples") -> dict[str, Any]:
    """Return the account of some examples as plain values.

    Parameters
    ----------
    used : int
    problems : sequence of str
        One for each example that was left out: its place, a colon, what is wrong.
    what : str
        What examples are: ``"lists"``, ``"documents"``.
    """
    reasons = Counter(_QUOTED.sub("...", _PLACE.sub("", problem, count=1)) for problem in problems)
    return {"what": what, "read": used + len(problems), "used": used, "left_out": dict(reasons.most_common())}


def line(said: Mapping[str, Any]) -> str:
    """Return an account for people: ``read 3,097 examples: 3,090 used, 7 left out (...)``."""
    reasons = list(said["left_out"].items())
    n = sum(count for _, count in reasons)
    why = "; ".join(f"{count:,}: {reason}" for reason, count in reasons[:MOST_REASONS])
    more = f"; {many(len(reasons) - MOST_REASONS, 'more reason')}" if len(reasons) > MOST_REASONS else ""
    left = f"{n:,} left out ({why}{more})" if n else "none left out"
    read = many(said["read"], said["what"].removesuffix("s"))
    return f"read {read}: {said['used']:,} used, {left}"
