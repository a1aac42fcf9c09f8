"""Compiling all that ships at once, by a little of each work, and how much is compiled already."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from disambig.doctor.finding import OK, WARNING, Finding
from disambig.doctor.works import kernel_modules, works
from disambig.engine import VARIABLE
from disambig.plural import many

Progress = Callable[[str, int, int], None]


def compile_all(progress: Progress = lambda stage, done, total: None) -> Iterator[Finding]:
    """Do a little of each work with compiled code, and tell how much of it is there then."""
    with _by_kernels(), tempfile.TemporaryDirectory(prefix="disambig-compile-") as place:
        todo = list(works(Path(place)))
        for number, (name, work) in enumerate(todo):
            progress(f"compiling: {name}", number, len(todo))
            with suppress(Exception):  # what is broken is found elsewhere
                work()
    yield compiled_finding()


def compiled_finding() -> Finding:
    """Return how many of the kernels are compiled, and where they are kept."""
    from disambig import compiling

    for module in kernel_modules():
        with suppress(Exception):
            import_module(module)
    kernels = compiling.kernels()
    done = sum(map(_is_compiled, kernels))
    place = next(filter(None, map(compiling.kept_in, kernels)), None)
    if place is None:
        what = "compiled code cannot be kept: every process compiles what it needs anew"
        mend = "set NUMBA_CACHE_DIR to a directory that can be written"
        return Finding("compiled code", WARNING, what, mend)
    numbers = {"kernels": float(len(kernels)), "compiled": float(done)}
    if not done:
        what = f"nothing yet: commands compile what they need, once, and keep it in {place}"
    else:
        rest = "" if done == len(kernels) else ", the others when needed"
        what = f"{done} of {many(len(kernels), 'piece')} compiled{rest}; kept in {place}"
    mend = "" if done else "disambig doctor --compile does it now"
    return Finding("compiled code", OK, what, mend, numbers)


@contextmanager
def _by_kernels() -> Iterator[None]:
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "numba"
    try:
        yield
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before


def _is_compiled(kernel: Any) -> bool:
    """Tell whether code of a kernel is kept, or in memory."""
    try:
        return bool(kernel.signatures or kernel._cache._cache_file.load_index())
    except AttributeError:
        with suppress(Exception):  # Numba's own affair, and named otherwise in other versions
            return bool(kernel._cache._cache_file._load_index())
    return False
