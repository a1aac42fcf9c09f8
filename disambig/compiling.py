"""The one door to Numba: `compiled` marks a function that becomes machine code on its first call.

Importing this module imports Numba (half a second), so only modules named ``kernels`` or
``*_kernels`` import it, and those are imported inside the functions that use them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile `function` with Numba: no Python objects, no GIL, cached on disk where that can be.

    Where no cache can be written (a read-only installation without a home directory) Numba
    refuses ``cache=True`` already at import; the function is then compiled once a process.
    """
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:
        return numba.njit(nogil=True, error_model="numpy")(function)
