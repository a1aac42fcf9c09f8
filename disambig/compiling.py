"""The one door to Numba: `compiled` marks a function that becomes machine code on its first call.

Importing this module imports Numba (half a second), so only modules named ``kernels`` or
``*_kernels`` import it, and those are imported inside the functions that use them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.extending import intrinsic
from numba.np import arrayobj

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


@intrinsic  # type: ignore[untyped-decorator]
def eight_bytes(_: Any, array: Any, at: Any) -> Any:
    """Return the eight bytes of an array of uint8 from place `at` (uint64) on as one uint64, lowest first.

    For kernels; nothing checks that they lie in the array. Eight loads of one byte take four times as long.
    """

    def load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = arrayobj.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        return builder.load(place, align=1)

    return numba.types.uint64(array, at), load
