"""Whether a call runs its Numba kernel or its NumPy / Python path. The rule only, no kernel.

Both paths give the same answer. Numba's import and a kernel's first call cost most of a second, so
a process that sees little work should never pay for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar

from disambig.errors import UserError

VARIABLE = "DISAMBIG_ENGINE"
ENGINES = ("numpy", "numba")

_seen = 0
_warming: ContextVar[bool] = ContextVar("warming", default=False)


def use_numba(units: int, *, at_once: int = 200_000, in_all: int = 2_000_000) -> bool:
    """Say whether this call is worth the Numba kernel.

    Parameters
    ----------
    units : int
        The size of this call's work: characters of text, lookups, features; about 0.2 microseconds
        each on the slow path.
    at_once : int
        A call of this size uses the kernel at once.
    in_all : int
        After this much work in the process (in all rooms together) every call uses the kernel.

    Raises
    ------
    UserError
        D200, where the environment variable DISAMBIG_ENGINE is neither ``numpy`` nor ``numba``.
    """
    global _seen
    engine = os.environ.get(VARIABLE, "")
    if engine:
        if engine not in ENGINES:
            raise UserError("D200", value=engine)
        return engine == "numba"
    if _warming.get():
        return True
    _seen += units
    return units >= at_once or _seen >= in_all


def warm(work: Callable[[], object]) -> None:
    """Run `work` with the kernels, then let all calls of this process use them, little work or not.

    For a process that answers for hours: other threads go on without the kernels until these are ready.
    """
    global _seen
    token = _warming.set(True)
    try:
        work()
    finally:
        _warming.reset(token)
    _seen = 1 << 62
