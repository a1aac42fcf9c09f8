"""Compiling all that ships at once, by a little of each work, and how much is compiled already."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from disambig.doctor.finding import OK, WARNING, Finding
from disambig.doctor.sample import SAMPLE
from disambig.engine import VARIABLE

Progress = Callable[[str, int, int], None]
_STRANGE = "\U00020000 \u201cna\u00efve\u201d"
"""So that texts beyond ASCII are read, too."""


def compile_all(progress: Progress = lambda stage, done, total: None) -> Iterator[Finding]:
    """Do a little of each work with compiled code, and tell how much of it is there then."""
    with _by_kernels(), tempfile.TemporaryDirectory(prefix="disambig-compile-") as place:
        works: list[tuple[str, Callable[[], object]]]
        works = [*_of_models(), ("counting", partial(_count, Path(place))), *_of_learners()]
        for number, (name, work) in enumerate(works):
            progress(f"compiling: {name}", number, len(works))
            with suppress(Exception):  # what is broken is found elsewhere
                work()
    yield compiled_finding()


def compiled_finding() -> Finding:
    """Return how many of the kernels are compiled, and where they are kept."""
    from disambig import compiling

    for module in _modules():
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
        what = f"{done} of {len(kernels)} pieces compiled, the others when needed; kept in {place}"
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


def _modules() -> Iterator[str]:
    """Yield the modules of kernels of the core and of all plugins."""
    tops = {entry.value.partition(":")[0].partition(".")[0] for entry in entry_points(group="disambig")}
    for top in sorted({"disambig", *tops}):
        spec = find_spec(top)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            for path in sorted(Path(folder).rglob("*kernels.py")):
                yield ".".join([top, *path.relative_to(folder).with_suffix("").parts])


def _is_compiled(kernel: Any) -> bool:
    """Tell whether code of a kernel is kept, or in memory."""
    try:
        return bool(kernel.signatures or kernel._cache._cache_file.load_index())
    except AttributeError:
        with suppress(Exception):  # Numba's own affair, and named otherwise in other versions
            return bool(kernel._cache._cache_file._load_index())
    return False


def _of_models() -> Iterator[tuple[str, Callable[[], object]]]:
    from disambig.packs import packs

    for pack in packs().values():
        for task in sorted(pack.models):
            yield task, partial(_annotate, f"{pack.name}/{task}")


def _annotate(name: str) -> None:
    from disambig.model.annotate import annotate
    from disambig.model.loading import load

    annotate([SAMPLE, _STRANGE], [load(name)])


def _count(place: Path) -> None:
    """Build, merge, prune and import small tables of every form."""
    from disambig.counts.building.build import build_table
    from disambig.counts.building.derive import merge_tables, prune_table
    from disambig.counts.importing.readers import import_table
    from disambig.counts.locate import open_table
    from disambig.text.tokenisations.words import Words

    texts = [SAMPLE, _STRANGE]
    build_table(place / "plain", texts, Words(), keys=True)
    build_table(place / "gaps", texts, Words(), gaps=True, keep_words=["the"], record="compact")
    table = open_table(place / "plain")
    merge_tables(place / "merged", [table, table], keys=True)
    prune_table(place / "pruned", table, min_counts={2: 2}, record="small")
    (place / "counts.tsv").write_text("the house\t12\nof the house\t3\n", encoding="utf8")
    import_table(place / "imported", [(str(place / "counts.tsv"), 0)], "disambig.words.v1")
    for name in ("plain", "gaps", "pruned", "imported"):
        open_table(place / name).counts_of_texts(["the", "of the house"])


def _of_learners() -> Iterator[tuple[str, Callable[[], object]]]:
    from disambig.registry import everything
    from disambig.testing import problems

    batches = [problems.blocks(), problems.crossed(), problems.lists()]
    for name, make in sorted(everything("learners").items()):
        yield name, partial(_learn, make, batches)


def _learn(make: Callable[..., Any], batches: Sequence[Any]) -> None:
    for batch in batches:
        with suppress(Exception):  # each learner takes some of the storages
            make().fit(batch).scorer.scores(batch)
