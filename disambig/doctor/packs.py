"""Packs and models: that their files are whole, that they load, that tables and models agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from disambig.doctor.finding import OK, PROBLEM, WARNING, Finding, guarded
from disambig.plural import many

if TYPE_CHECKING:
    from disambig.model.model import Model

REINSTALL = "install the pack again: pip install --force-reinstall --no-deps {name}"
COPY = "train it again, or copy it again"
MANY_FLAGS = 4.0
KINDS = {"words": "words", "labels": "labels", "own": "candidates of lists"}


@dataclass(slots=True)
class Looked:
    """What was looked at so far.

    Attributes
    ----------
    quick : bool
        Tables are opened, not read through.
    models : list of Model
        Those that load.
    tables : set of Path
        Files of tables that need no second look.
    """

    quick: bool = False
    models: list[Model] = field(default_factory=list)
    tables: set[Path] = field(default_factory=set)


def check_packs(looked: Looked) -> Iterator[Finding]:
    """Check every installed pack, its table and its models."""
    from disambig.packs import GROUP

    entries = {entry.value: entry for entry in entry_points(group=GROUP)}
    if not entries:
        what = "no pack is installed: components and commands have no model"
        yield Finding("packs", PROBLEM, what, "pip install disambig, or name models of your own with --model")
    for name, entry in sorted(entries.items()):
        mend = REINSTALL.format(name=entry.dist.name if entry.dist else name)
        yield from guarded("packs", lambda e=entry, m=mend: _check_pack(e, m, looked), mend=mend)  # type: ignore[misc]


def _check_pack(entry: EntryPoint, mend: str, looked: Looked) -> Iterator[Finding]:
    from disambig.packs import read_pack

    spec = find_spec(entry.value)
    homes = list(spec.submodule_search_locations or ()) if spec else []
    if not homes or not (Path(homes[0]) / "pack.json").is_file():
        yield Finding("packs", PROBLEM, f"{entry.value} has no pack.json", mend)
        return
    pack = read_pack(Path(homes[0]))
    yield Finding("packs", OK, f"{pack.name} {pack.version}, language {pack.language}: {pack.home}")
    if pack.counts is not None:
        yield from check_table(pack.counts, looked, mend=mend)
    for task, path in sorted(pack.models.items()):
        yield from check_model(path, looked, mend=mend, task=task, sampled=task not in pack.by_name)


def check_table(path: Path, looked: Looked, *, mend: str) -> Iterator[Finding]:
    """Open a count table and, unless quick, check its every byte."""

    def check() -> Iterator[Finding]:
        from disambig.counts.table import CountTable

        looked.tables.add(path.resolve())
        table = CountTable.open(path)
        if not looked.quick:
            table.verify()
        how = "opened, not read through" if looked.quick else "checked byte by byte"
        views = ", ".join(name + " with gaps" * (name in table.gaps) for name in table.tokenisations)
        what = f"{path.name}: {table.n_ngrams:,} n-grams of {views}, {table.header['record']} records, {how}"
        yield Finding("tables", OK, what, numbers={"ngrams": table.n_ngrams})

    yield from guarded("tables", check, mend=mend)


def check_model(
    path: Path, looked: Looked, *, mend: str, task: str | None = None, sampled: bool = True
) -> Iterator[Finding]:
    """Load a model's directory: checksums, table and tokenisation are compared.

    Parameters
    ----------
    task : str, optional
        What its pack says that it decides.
    sampled : bool
        Whether it is to decide in the sample text, as all do that run where none is named.
    """

    def check() -> Iterator[Finding]:
        from disambig.fields import decides
        from disambig.model.store import load_model
        from disambig.types import HasFiles, ReadsTable

        model = load_model(path)
        if task is not None and model.task.name != task:
            what = f"{path} decides {model.task.name!r}, the pack calls it {task!r}"
            yield Finding("models", PROBLEM, what, mend)
            return
        for extractor in model.extractors:
            if not isinstance(extractor, ReadsTable):
                continue
            table = extractor.table
            table.require(model.tokenisation.name)
            if table.path.resolve() not in looked.tables:
                yield from check_table(table.path, looked, mend=mend)
        if isinstance(model.task, HasFiles):
            yield Finding("models", OK, f"{model.name}: {model.task.check_files()}")
        if sampled:
            looked.models.append(model)
        learned = sum(scorer is not None for scorer in model.scorers)
        kind = KINDS[decides(model.task).between]
        what = (
            f"{model.name} {model.version}, decides between {kind} of {model.tokenisation.name}: "
            f"{learned} of {many(len(model.scorers), 'group')} learned"
        )
        yield Finding("models", OK, what)
        if model.flags_per_1000 > MANY_FLAGS:
            what = f"{model.name} raises {model.flags_per_1000:g} false flags per 1,000 words by default"
            better = "train it with a lower flags_per_1000, or set one when asking"
            yield Finding("models", WARNING, what, better)

    yield from guarded("models", check, mend=mend)


def check_named(models: Sequence[str], looked: Looked) -> Iterator[Finding]:
    """Check models that the user names, by directory."""
    for path in models:
        yield from check_model(Path(path), looked, mend=COPY)
