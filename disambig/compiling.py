"""The one door to Numba: `compiled` marks a function that becomes machine code on its first call.

Importing this module imports Numba (half a second), so only modules named ``kernels`` or
``*_kernels`` import it, and those are imported inside the functions that use them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import cgutils
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


@intrinsic  # type: ignore[untyped-decorator]
def eight_products(_: Any, indices: Any, data: Any, start: Any, end: Any, table: Any, sums: Any) -> Any:
    """Write the sum of ``data[at] * table[indices[at]]``, at from `start` to `end`, to `sums`.

    For kernels; nothing checks that they lie in the arrays. `table` has shape (n, 8), `sums` (8,), both and
    `data` are of float64, `indices` of uint32, `start` and `end` uint64. The eight are added in vectors, each
    in the order of the row: twice as fast as the loop, which Numba leaves as it is, and the same to the bit.
    """

    def add(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def pointer(place: int) -> Any:
            return arrayobj.make_array(signature.args[place])(context, builder, arguments[place]).data

        whole, eight = ir.IntType(64), ir.VectorType(ir.DoubleType(), 8)
        nothing, everywhere = (
            ir.Constant(eight, ir.Undefined),
            ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8),
        )
        found = cgutils.alloca_once_value(builder, ir.Constant(eight, [0.0] * 8))
        with cgutils.for_range_slice(builder, arguments[2], arguments[3], whole(1), whole) as (at, _):
            row = builder.zext(builder.load(builder.gep(pointer(0), [at])), whole)
            number = builder.insert_element(
                nothing, builder.load(builder.gep(pointer(1), [at])), ir.IntType(32)(0)
            )
            here = builder.gep(pointer(4), [builder.mul(row, whole(8))])
            weights = builder.load(builder.bitcast(here, eight.as_pointer()), align=8)
            product = builder.fmul(weights, builder.shuffle_vector(number, nothing, everywhere))
            builder.store(builder.fadd(builder.load(found), product), found)
        builder.store(builder.load(found), builder.bitcast(pointer(5), eight.as_pointer()), align=8)
        return context.get_dummy_value()

    return numba.types.void(indices, data, start, end, table, sums), add
