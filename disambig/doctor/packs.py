"""Packs and models: that their files are whole, that they load, that tables and models agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from disambig.doctor.finding import OK, PROBLEM, WARNING, Finding, guarded

if TYPE_CHECKING:
    from disambig.model.model import Model
    from disambig.model.packs import Pack

REINSTALL = "install the pack again: pip install --force-reinstall --no-deps {name}"


def check_packs(loaded: list[Model], *, quick: bool) -> Iterator[Finding]:
    """Check every installed pack; models that load are put into `loaded`.

    Parameters
    ----------
    quick : bool
        Do not read the tables through.
    """
    from disambig.model.packs import GROUP, read_pack

    entries = {entry.value: entry for entry in entry_points(group=GROUP)}
    if not entries:
        what = "no pack is installed: components and commands have no model"
        yield Finding("packs", PROBLEM, what, "pip install disambig, or name models of your own with --model")
    for name, entry in sorted(entries.items()):
        distribution = entry.dist.name if entry.dist else name
        spec = find_spec(name)
        homes = list(spec.submodule_search_locations or ()) if spec else []
        if not homes or not (Path(homes[0]) / "pack.json").is_file():
            yield Finding("packs", PROBLEM, f"{name} has no pack.json", REINSTALL.format(name=distribution))
            continue
        home = Path(homes[0])

        def whole(home: Path = home, distribution: str = distribution) -> Iterator[Finding]:
            yield from _check_pack(read_pack(home), distribution, loaded, quick=quick)

        yield from guarded("packs", whole)


def _check_pack(pack: Pack, distribution: str, loaded: list[Model], *, quick: bool) -> Iterator[Finding]:
    yield Finding("packs", OK, f"{pack.name} {pack.version}, language {pack.language}: {pack.counts.parent}")

    def table() -> Iterator[Finding]:
        from disambig.counts.table import CountTable

        opened = CountTable.open(pack.counts)
        if not quick:
            opened.verify()
        how = "opened" if quick else "checked byte by byte"
        views = ", ".join(opened.tokenisations)
        what = f"{pack.counts.name}: {opened.n_ngrams:,} n-grams of {views}, {how}"
        yield Finding("tables", OK, what)

    yield from _mending(guarded("tables", table), REINSTALL.format(name=distribution))
    for task, path in sorted(pack.models.items()):
        yield from _mending(check_model(path, loaded, task=task), REINSTALL.format(name=distribution))


def check_model(path: Path, loaded: list[Model], *, task: str | None = None) -> Iterator[Finding]:
    """Load a model's directory and let it decide nothing: checksums, table and tokenisation are compared."""

    def check() -> Iterator[Finding]:
        from disambig.model.store import load_model

        model = load_model(path)
        learned = sum(scorer is not None for scorer in model.scorers)
        what = f"{model.name} {model.version}: {learned} of {len(model.scorers)} groups learned"
        if task is not None and model.task.name != task:
            said = f"{path} decides {model.task.name!r}, the pack calls it {task!r}"
            yield Finding("models", PROBLEM, said)
            return
        loaded.append(model)
        yield Finding("models", OK, what)
        if model.labels is None and model.flags_per_1000 > 4:
            said = f"{model.name} raises {model.flags_per_1000} false flags per 1,000 words by default"
            yield Finding(
                "models", WARNING, said, "train it with a lower flags_per_1000, or set one when asking"
            )

    yield from guarded("models", check)


def _mending(findings: Iterator[Finding], mend: str) -> Iterator[Finding]:
    """Say how problems with the files of a pack are mended."""
    for finding in findings:
        problem = finding.status == PROBLEM
        yield Finding(finding.area, finding.status, finding.what, mend) if problem else finding


def named(models: Sequence[str], loaded: list[Model]) -> Iterator[Finding]:
    """Check models that the user names, by directory."""
    for path in models:
        yield from _mending(check_model(Path(path), loaded), "train it again, or copy it again")
