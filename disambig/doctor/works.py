"""A little of each work that has compiled code: models, counting, and every part that plugins bring."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from disambig.doctor.sample import SAMPLE

Work = tuple[str, Callable[[], object]]
_STRANGE = "\U00020000 \u201cna\u00efve\u201d"
"""So that texts beyond ASCII are read, too."""
_TEXTS = (SAMPLE, _STRANGE)
_CANDIDATES = ("the", "of")
"""Words of the sample, between which the extractors' examples decide."""


def works(place: Path) -> Iterator[Work]:
    """Yield the name of each work and the work; tables are made in the directory `place`.

    The extractors' works ask the tables that the work before them has built.
    """
    yield from _of_models()
    yield "counting", partial(_count, place)
    for kind, work in (
        ("extractors", partial(_describe, place)),
        ("measures", _measure),
        ("learners", _learn),
    ):
        yield from _of_parts(kind, work)
    for module in kernel_modules():
        if hasattr(loaded := import_module(module), "sample"):
            yield module, loaded.sample


def kernel_modules() -> Iterator[str]:
    """Yield the modules of kernels of the core and of all plugins.

    Such a module may have a function ``sample()``, which does a little of what no part does by itself.
    """
    tops = {entry.value.partition(":")[0].partition(".")[0] for entry in entry_points(group="disambig")}
    for top in sorted({"disambig", *tops}):
        spec = find_spec(top)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            for path in sorted(Path(folder).rglob("*kernels.py")):
                yield ".".join([top, *path.relative_to(folder).with_suffix("").parts])


def _of_parts(kind: str, work: Callable[[Callable[..., Any]], object]) -> Iterator[Work]:
    from disambig.registry import everything

    for name, make in sorted(everything(kind).items()):
        yield name, partial(work, make)


def _of_models() -> Iterator[Work]:
    from disambig.packs import packs

    for pack in packs().values():
        for task in sorted(pack.models):
            yield task, partial(_annotate, f"{pack.name}/{task}")


def _annotate(name: str) -> None:
    from disambig.model.annotate import annotate
    from disambig.model.loading import load

    annotate(list(_TEXTS), [load(name)])


def _count(place: Path) -> None:
    """Build, merge, prune and import small tables of every form."""
    from disambig.counts.building.build import build_table
    from disambig.counts.building.derive import merge_tables, prune_table
    from disambig.counts.importing.readers import import_table
    from disambig.counts.locate import open_table
    from disambig.text.tokenisations.words import Words

    build_table(place / "plain", _TEXTS, Words(), keys=True)
    build_table(place / "gaps", _TEXTS, Words(), gaps=True, keep_words=["the"], record="compact")
    table = open_table(place / "plain")
    merge_tables(place / "merged", [table, table], keys=True)
    prune_table(place / "pruned", table, min_counts={2: 2}, record="small")
    (place / "counts.tsv").write_text("the house\t12\nof the house\t3\n", encoding="utf8")
    import_table(place / "imported", [(str(place / "counts.tsv"), 0)], "disambig.words.v1")
    for name in ("plain", "gaps", "pruned", "imported"):
        open_table(place / name).counts_of_texts(["the", "of the house"])


def _describe(place: Path, make: Callable[..., Any]) -> None:
    """Fit an extractor to the words of the sample, and describe them."""
    from disambig.settings import settings_of
    from disambig.tasks.candidates import OwnCandidates
    from disambig.text.documents import view_of_texts
    from disambig.text.tokenisations.words import Words

    task = OwnCandidates(candidates=_CANDIDATES)
    view = view_of_texts(list(_TEXTS), Words())
    instances = task.instances(view)
    given = {"counts": place / "plain"} if "counts" in settings_of(make) else {}
    fitted = make(**given).fit(view, instances, task.groups)
    fitted.transform(view, instances, task.groups[0])


def _measure(make: Callable[..., Any]) -> None:
    from disambig.testing.measures import outcomes

    make().value(outcomes())


def _learn(make: Callable[..., Any]) -> None:
    from disambig.testing import problems

    learner = make()
    for problem in (
        problems.blocks,
        problems.crossed,
        problems.lists,
        problems.dense_lists,
        problems.crossed_lists,
        problems.chains,
    ):
        with suppress(Exception):  # each learner takes some of the storages
            batch = problem()
            learner.fit(batch).scorer.scores(batch)
