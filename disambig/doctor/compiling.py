"""Compile all functions in advance by running a small amount of each kind of work."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from disambig.doctor.checks import OK, SAMPLE, WARNING, CheckResultLine
from disambig.features import transform_checked
from disambig.formatting import pluralize
from disambig.namespaces import entry_points
from disambig.runtime import VARIABLE
from disambig.type_aliases import Progress, no_progress

Work = tuple[str, Callable[[], object]]
_NON_ASCII_TEXT = "\U00020000 \u201cna\u00efve\u201d"
"""Text with characters beyond ASCII, which other compiled functions process."""
_TEXTS = (SAMPLE, _NON_ASCII_TEXT)
_CANDIDATES = ("the", "of")
"""Candidates in the sample text for the extractors."""


def compile_works(place: Path) -> Iterator[Work]:
    """Yield name and function of each piece of work; count tables are created in the directory `place`.

    The work of extractors uses the tables that earlier work has built.
    """
    yield from _model_works()
    yield "counting", partial(_count, place)
    for kind, work in (
        ("extractors", partial(_transform, place)),
        ("measures", _measure),
        ("learners", _learn),
    ):
        yield from _entry_works(kind, work)
    for module in kernel_modules():
        loaded = import_module(module)
        for name in dir(loaded):
            if name == "sample" or name.startswith("sample_"):
                yield f"{module}.{name}", getattr(loaded, name)


def kernel_modules() -> Iterator[str]:
    """Yield the modules of compiled functions in the core and in all plugins.

    Such a module may contain functions ``sample`` and ``sample_...``, which call compiled functions that no
    registered entry calls on small examples.
    """
    packages = {entry.value.partition(":")[0].partition(".")[0] for entry in entry_points(group="disambig")}
    for package in sorted({"disambig", *packages}):
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            for path in sorted(Path(folder).rglob("*kernels.py")):
                yield ".".join([package, *path.relative_to(folder).with_suffix("").parts])


def _entry_works(kind: str, work: Callable[[Callable[..., Any]], object]) -> Iterator[Work]:
    from disambig.registry import load_all

    for name, make in sorted(load_all(kind).items()):
        yield name, partial(work, make)


def _model_works() -> Iterator[Work]:
    from disambig.packs import packs

    for pack in packs().values():
        for task in sorted(pack.models):
            yield task, partial(_annotate, f"{pack.name}/{task}")


def _annotate(name: str) -> None:
    from disambig.models import annotate, load

    annotate(list(_TEXTS), [load(name)])


def _count(place: Path) -> None:
    """Build, merge, prune and import small tables of every form."""
    from disambig.counts import build_table, import_table, merge_tables, open_table, prune_table
    from disambig.text import Words

    build_table(place / "plain", _TEXTS, Words(), keys=True)
    build_table(place / "gaps", _TEXTS, Words(), gaps=True, keep_words=["the"], record="compact")
    table = open_table(place / "plain")
    merge_tables(place / "merged", [table, table], keys=True)
    prune_table(place / "pruned", table, min_counts={2: 2}, record="small")
    (place / "counts.tsv").write_text("the house\t12\nof the house\t3\n", encoding="utf8")
    import_table(place / "imported", [(str(place / "counts.tsv"), 0)], "disambig.words.v1")
    for name in ("plain", "gaps", "pruned", "imported"):
        open_table(place / name).counts_of_texts(["the", "of the house"])


def _transform(place: Path, make: Callable[..., Any]) -> None:
    """Fit an extractor to the sample and transform it."""
    from disambig.settings import get_settings
    from disambig.tasks import OwnCandidates
    from disambig.text import Words, view_of_texts

    task = OwnCandidates(candidates=_CANDIDATES)
    view = view_of_texts(list(_TEXTS), Words())
    instances = task.instances(view)
    settings = {"counts": place / "plain"} if "counts" in get_settings(make) else {}
    fitted = make(**settings).fit(view, instances, task.groups)
    transform_checked(fitted, view, instances, task.groups[0])


def _measure(make: Callable[..., Any]) -> None:
    from disambig.testing.decisions import outcomes

    make().value(outcomes())


def _learn(make: Callable[..., Any]) -> None:
    from disambig.testing import checks

    learner = make()
    for problem in (
        checks.blocks,
        checks.crossed,
        checks.lists,
        checks.dense_lists,
        checks.crossed_lists,
        checks.chains,
    ):
        with suppress(Exception):  # each learner accepts only some of the batches
            batch = problem()
            learner.fit(batch).scorer.scores(batch)


def compile_all(progress: Progress = no_progress) -> Iterator[CheckResultLine]:
    """Run all work with the Numba backend, and report how many functions are compiled afterwards."""
    with _with_numba(), tempfile.TemporaryDirectory(prefix="disambig-compile-") as place:
        todo = list(compile_works(Path(place)))
        for number, (name, work) in enumerate(todo):
            progress(f"compiling: {name}", number, len(todo))
            with suppress(Exception):  # other checks report what is broken
                work()
    yield compiled_finding()


def compiled_finding() -> CheckResultLine:
    """Return how many functions are compiled, and where they are cached."""
    from disambig import jit

    for module in kernel_modules():
        with suppress(Exception):
            import_module(module)
    functions = jit.compiled_functions()
    done = sum(map(is_compiled, functions))
    place = next(filter(None, map(jit.cache_location, functions)), None)
    if place is None:
        what = "compiled code cannot be cached: every process compiles the functions that it needs again"
        mend = "set NUMBA_CACHE_DIR to a writable directory"
        return CheckResultLine("compiled code", WARNING, what, mend)
    numbers = {"kernels": float(len(functions)), "compiled": float(done)}
    if not done:
        what = f"none yet: commands compile each function on first use and cache it in {place}"
    else:
        rest = "" if done == len(functions) else ", the others when needed"
        what = f"{done} of {pluralize(len(functions), 'function')} compiled{rest}; cached in {place}"
    mend = "" if done else "disambig doctor --compile compiles everything now"
    return CheckResultLine("compiled code", OK, what, mend, numbers)


@contextmanager
def _with_numba() -> Iterator[None]:
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "numba"
    try:
        yield
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before


def is_compiled(function: Any) -> bool:
    """Return True if code of a compiled function is in memory or cached on disk."""
    try:
        return bool(function.signatures or function._cache._cache_file.load_index())
    except AttributeError:
        with suppress(Exception):  # private in Numba, with other names in other versions
            return bool(function._cache._cache_file._load_index())
    return False
