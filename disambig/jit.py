"""Compile functions with Numba, and cache the machine code on disk."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, ParamSpec, TypeVar, cast

_SETTINGS = ".numba_config.yaml"


def _import_numba_without_settings() -> None:
    """Import Numba without reading its settings from the current directory, which is untrusted."""
    if "numba" in sys.modules:  # the program imported it and is responsible for its settings
        return
    if os.path.lexists(_SETTINGS):  # only then: other threads may need the real yaml
        stub, real = ModuleType("yaml"), sys.modules.get("yaml")
        stub.safe_load = lambda _: None  # type: ignore[attr-defined]
        sys.modules["yaml"] = stub
        try:
            import numba.core.config
        finally:
            del sys.modules["yaml"]
            if real is not None:
                sys.modules["yaml"] = real
    import numba.core.config

    # Numba looks for the file again whenever it compiles a function.
    numba.core.config._config_fname = ""


_import_numba_without_settings()

import numba  # noqa: E402
from llvmlite import ir  # noqa: E402
from numba.core import cgutils, event  # noqa: E402
from numba.core.caching import FunctionCache  # noqa: E402
from numba.core.runtime import rtsys  # noqa: E402
from numba.extending import intrinsic  # noqa: E402
from numba.np import arrayobj  # noqa: E402

from disambig.runtime import pause_time_limit, resume_time_limit  # noqa: E402

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with Numba, without the GIL, and cache it on disk if possible.

    If no cache can be written (a read-only installation without a home directory), Numba raises an error
    when the cache is created; the function is then compiled once per process.

    Compiled functions have no annotations, since Numba infers their types: their modules need
    ``# mypy: allow-untyped-defs``, and type checkers only check the number of arguments of calls.
    """
    return _compile(function)


def compiled_in_place(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that creates and returns no arrays, but writes to its arguments.

    Like `compiled`, but without reference counts of arrays. In a small function that is not inlined and has
    many arrays among its arguments, counting takes longer than the work itself. Numba raises an error when it
    compiles such a function that allocates an array. The functions that it calls should be compiled in the
    same way, because each function counts references itself.
    """
    return _compile(function, _nrt=False)


def _compile(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    dispatcher = numba.njit(nogil=True, error_model="numpy", **options)(function)
    with suppress(RuntimeError, OSError):
        dispatcher._cache = _TolerantCache(function)
    _dispatchers.append(dispatcher)
    return cast("Callable[P, R]", dispatcher)


class _TolerantCache(FunctionCache):  # type: ignore[misc]
    """Numba's disk cache, but damaged files are not an error: the function is compiled and saved again.

    Numba itself passes on any exception from unpickling a truncated file. If two processes save a function
    for different types at the same time, it can also return the code for the wrong types.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            # `super().load_overload` also refreshes the context: it imports the implementations of all
            # functions that code may call, and SciPy, which takes 0.3 s. Only compilation needs these, and
            # it refreshes the context itself. Cached code needs no more than the runtime of arrays.
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                overload = self._load_overload(sig, target_context)
        except Exception:  # such as a truncated file, a file of another user, or a directory
            overload = None
            self._forget()
        if overload is not None and tuple(overload.signature.args) != tuple(sig):
            self._forget()
            return None
        return overload

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:
            _log.debug("cannot save compiled code in %s", self.cache_path, exc_info=True)

    def _forget(self) -> None:
        """Remove the index, so that it is written again."""
        with suppress(OSError):
            Path(self._cache_file._index_path).unlink()


def compiled_functions() -> list[Any]:
    """Return the compiled functions of all modules imported so far."""
    return list(_dispatchers)


def cache_location(dispatcher: Any) -> str | None:
    """Return the directory of the cached code of a compiled function for messages, or None without a cache.

    Without NUMBA_CACHE_DIR, the code is in a ``__pycache__`` beside each module; then the directory of the
    top-level package is returned.
    """
    path = dispatcher.stats.cache_path if hasattr(dispatcher, "stats") else None
    if not path:
        return None
    if numba.config.CACHE_DIR:
        return str(numba.config.CACHE_DIR)
    place = Path(path)
    if place.name != "__pycache__":
        return str(place.parent)
    depth = dispatcher.py_func.__module__.count(".")
    return str(place.parents[depth] if depth < len(place.parents) else place)


class _CompilationListener(event.Listener):  # type: ignore[misc]
    """Log the first compilation only, and suspend document time limits while it runs."""

    def __init__(self) -> None:
        self._logged = False

    def on_start(self, compilation: Any) -> None:
        pause_time_limit()
        dispatcher = compilation.data.get("dispatcher")
        if self._logged or not any(dispatcher is ours for ours in _dispatchers):
            return
        self._logged = True
        folder = cache_location(dispatcher)
        where = f"saved in {folder}" if folder else "it cannot be saved (see `disambig doctor`)"
        _log.info("compiling code that is new on this machine: %s", where)

    def on_end(self, compilation: Any) -> None:
        resume_time_limit()


_log = logging.getLogger(__name__)
_dispatchers: list[Any] = []
_listener = _CompilationListener()
event.register("numba:compile", _listener)


def _as_intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an intrinsic for compiled functions; its first argument is Numba's typing context."""
    return intrinsic(function)


@_as_intrinsic
def eight_bytes(_: Any, array: Any, at: Any) -> Any:
    """Return the eight bytes of a uint8 array that start at index `at` (uint64) as a little-endian uint64.

    For compiled functions; bounds are not checked. Eight loads of one byte would take four times as long.
    """

    def load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = arrayobj.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        return builder.load(place, align=1)

    return numba.types.uint64(array, at), load


@_as_intrinsic
def eight_products(_: Any, indices: Any, data: Any, start: Any, end: Any, table: Any, sums: Any) -> Any:
    """Write the sum of ``data[at] * table[indices[at]]`` over ``at = start, ..., end - 1`` to `sums`.

    For compiled functions; bounds are not checked. `table` has shape (n, 8) and is float64 or uint8; `sums`,
    shape (8,), and `data` are float64, `indices` is uint32, `start` and `end` are uint64. The eight sums are
    computed as a vector, each in the order of the row: twice as fast as the loop, which Numba does not
    vectorise, and bit-identical to it.
    """

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = _RowArguments(context, builder, signature, arguments)
        vector = cgutils.alloca_once_value(builder, ir.Constant(_EIGHT, [0.0] * 8))
        with rows.iterate(arguments[2], arguments[3]) as (row, number):
            product = builder.fmul(rows.load(4, row), number)
            builder.store(builder.fadd(builder.load(vector), product), vector)
        rows.store(builder.load(vector), 5, _WHOLE(0))
        return context.get_dummy_value()

    return numba.types.void(indices, data, start, end, table, sums), write


@_as_intrinsic
def add_eight(
    _: Any, indices: Any, data: Any, start: Any, end: Any, table: Any, steps: Any, keep: Any
) -> Any:
    """Add ``data[at] * steps * keep[indices[at]]`` to ``table[indices[at]]``, ``at = start, ..., end - 1``.

    See `eight_products`; `table` is float64, `keep` float64 or uint8, `steps` float64 of shape (8,).
    """

    def add(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = _RowArguments(context, builder, signature, arguments)
        eight_steps = rows.load(5, _WHOLE(0))
        with rows.iterate(arguments[2], arguments[3]) as (row, number):
            product = builder.fmul(builder.fmul(number, eight_steps), rows.load(6, row))
            rows.store(builder.fadd(rows.load(4, row), product), 4, row)
        return context.get_dummy_value()

    return numba.types.void(indices, data, start, end, table, steps, keep), add


_WHOLE = ir.IntType(64)
_EIGHT = ir.VectorType(ir.DoubleType(), 8)


class _RowArguments:
    """The arguments of an intrinsic over rows of eight numbers; `indices` and `data` come first."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self._builder, self._types = builder, signature.args
        self._data = [
            arrayobj.make_array(kind)(context, builder, value).data
            if isinstance(kind, numba.types.Array)
            else None
            for kind, value in zip(signature.args, arguments, strict=True)
        ]

    @contextmanager
    def iterate(self, start: Any, end: Any) -> Iterator[tuple[Any, Any]]:
        """Emit a loop over the range; yield the index of a table row, and the number broadcast to eight."""
        builder, indices, data = self._builder, self._data[0], self._data[1]
        # LLVM has no broadcast: the number is put into the first place, which is then copied to all eight
        nothing, first = ir.Constant(_EIGHT, ir.Undefined), ir.IntType(32)(0)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8)
        with cgutils.for_range_slice(builder, start, end, _WHOLE(1), _WHOLE) as (at, _):
            number = builder.insert_element(nothing, builder.load(builder.gep(data, [at])), first)
            row = builder.zext(builder.load(builder.gep(indices, [at])), _WHOLE)
            yield row, builder.shuffle_vector(number, nothing, everywhere)

    def load(self, argument: int, row: Any) -> Any:
        """Return eight numbers of an argument as floats."""
        place, builder = self._place(argument, row), self._builder
        if self._types[argument].dtype == numba.types.uint8:
            eight = ir.VectorType(ir.IntType(8), 8).as_pointer()
            return builder.uitofp(builder.load(builder.bitcast(place, eight), align=1), _EIGHT)
        return builder.load(builder.bitcast(place, _EIGHT.as_pointer()), align=8)

    def store(self, value: Any, argument: int, row: Any) -> None:
        place = self._builder.bitcast(self._place(argument, row), _EIGHT.as_pointer())
        self._builder.store(value, place, align=8)

    def _place(self, argument: int, row: Any) -> Any:
        return self._builder.gep(self._data[argument], [self._builder.mul(row, _WHOLE(8))])
