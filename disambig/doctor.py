"""What ``disambig doctor`` looks at: installation, packs, models, a sample; compiling in advance.

Nothing is mended here. Functions are compiled by running a small amount of each kind of work.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np

from disambig import __version__
from disambig.errors import UserError
from disambig.features import BIAS, CONTEXTS, NgramCounts, transform_checked
from disambig.formatting import describe_exception, describe_failure, on_one_line, pluralize
from disambig.registry import distribution_name, entry_points, load_all, load_plugins, plugin_packages
from disambig.runtime import VARIABLE
from disambig.type_aliases import Progress, no_progress

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from disambig.models import Model

OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclass(frozen=True, slots=True)
class CheckResultLine:
    """The result of one check."""

    area: str  # the area of the check, such as ``"plugins"``
    status: str  # {"ok", "warning", "problem"}
    what: str  # the finding, on one line
    mend: str = ""  # how to fix it, if there is a problem
    numbers: Mapping[str, float] = field(default_factory=dict)  # measured values, for programs


def guard_check(
    area: str, check: Callable[[], Iterable[CheckResultLine]], *, subject: str = "", mend: str = ""
) -> Iterator[CheckResultLine]:
    """Yield the results of a check; an exception becomes a problem and does not stop other checks.

    `subject`: what is checked, such as a model; it is named before an exception.
    `mend`: how to fix an exception, if the caller knows better advice than the error gives. An exception in
    the code of a plugin has advice of its own.
    """
    prefix = f"{subject}: " if subject else ""
    try:
        yield from check()
    except UserError as problem:
        yield CheckResultLine(area, PROBLEM, f"{prefix}{problem}", mend or "follow the message")
    except ImportError as problem:
        package = (problem.name or "disambig").partition(".")[0]
        yield CheckResultLine(
            area, PROBLEM, prefix + describe_exception(problem), f"pip install --force-reinstall {package}"
        )
    except (Exception, SystemExit) as problem:  # the doctor exists to report anything that is broken
        general = "install disambig again; if that does not help, report this line"
        what, plain = describe_failure(problem, plugin_packages()), describe_exception(problem)
        if what != plain:  # it has the line of a plugin
            mend = "correct the plugin, or report this line to its author"
        yield CheckResultLine(area, PROBLEM, prefix + what, mend or general)


DISTRIBUTION = "disambig"


def install_source(name: str) -> str:
    """Return the argument of ``pip install`` for a distribution: where it was installed from, or its name."""
    try:
        origin = json.loads(distribution(name).read_text("direct_url.json") or "{}")
        url, repository = str(origin["url"]), origin.get("vcs_info")
        if repository:
            url = f"{repository['vcs']}+{url}@{repository['commit_id']}"
    except PackageNotFoundError:
        source = Path(__file__).parents[2]
        is_source = name == DISTRIBUTION and (source / "pyproject.toml").is_file()
        return shlex.quote(str(source)) if is_source else name
    except (AttributeError, LookupError, TypeError, ValueError):
        return name
    return shlex.quote(url2pathname(urlsplit(url).path) if url.startswith("file:") else url)


def check_versions() -> Iterator[CheckResultLine]:
    """Compare the installed versions with the requirements of disambig."""
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

    python = platform.python_version()
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    yield CheckResultLine("versions", OK, f"disambig {__version__}, Python {python}, {system}")
    try:
        wanted = [Requirement(text) for text in requires(DISTRIBUTION) or ()]
        pythons = SpecifierSet(str(distribution(DISTRIBUTION).metadata.json.get("requires_python") or ""))
    except PackageNotFoundError:
        what = "disambig is importable but not installed: its requirements are unknown"
        yield CheckResultLine("versions", WARNING, what, f"pip install {install_source(DISTRIBUTION)}")
        return
    if not pythons.contains(python, prereleases=True):
        yield CheckResultLine(
            "versions", PROBLEM, f"Python {python} is not {pythons}", f"use Python {pythons}"
        )
    satisfied = []
    for requirement in wanted:
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        if problem := _unmet(requirement):
            yield CheckResultLine("versions", PROBLEM, problem, f"pip install '{requirement}'")
        else:
            satisfied.append(f"{requirement.name} {version(requirement.name)}")
    if satisfied:
        yield CheckResultLine("versions", OK, ", ".join(satisfied))


def _unmet(requirement: Requirement) -> str:
    """Return how the installed version violates a requirement, or an empty string."""
    from packaging.version import InvalidVersion

    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return f"{requirement.name} is missing"
    try:
        fits = requirement.specifier.contains(installed, prereleases=True)
    except InvalidVersion:
        fits = False
    return "" if fits else f"{requirement.name} {installed} is not {requirement.specifier}"


def _unmet_requirements(name: str) -> list[Requirement]:
    """Return the requirements of a distribution that the installed versions violate."""
    from packaging.requirements import InvalidRequirement, Requirement

    if name == DISTRIBUTION:
        return []  # see `check_versions`
    try:
        texts = requires(name) or ()
    except PackageNotFoundError:
        return []
    unmet = []
    for text in texts:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            unmet += [requirement] if _unmet(requirement) else []
    return unmet


def check_plugins() -> Iterator[CheckResultLine]:
    """Load every plugin and import all its entries."""
    reports = load_plugins()
    if not reports:
        what = "none is installed, not even disambig's own"
        yield CheckResultLine("plugins", PROBLEM, what, f"pip install {install_source(DISTRIBUTION)}")
    for report in reports:
        name = f"{report.name} ({report.distribution} {report.version})"
        if report.error is not None:
            what = f"{name} could not be loaded: {on_one_line(report.error)}"
            is_core = report.distribution == DISTRIBUTION
            again = f"pip install --force-reinstall --no-deps {install_source(DISTRIBUTION)}"
            update = f"update or uninstall {report.distribution}"
            mend = f"see the other problems first; then {again}" if is_core else update
            yield CheckResultLine("plugins", PROBLEM, what, mend)
            continue
        for requirement in _unmet_requirements(report.distribution):
            what = f"{name} needs {requirement}, but {_unmet(requirement)}"
            yield CheckResultLine("plugins", PROBLEM, what, f"pip install '{requirement}'")
        broken = report.broken_entries()
        for problem in broken.values():
            yield CheckResultLine("plugins", PROBLEM, problem, f"update or uninstall {report.distribution}")
        if report.warning is not None:
            yield CheckResultLine(
                "plugins", WARNING, f"{name}: {report.warning}", f"update {report.distribution}"
            )
        elif not broken:
            yield CheckResultLine("plugins", OK, f"{name}: entries: {len(report.registered):,}")


def check_spacy() -> Iterator[CheckResultLine]:
    """Import spaCy and every component factory that it loads when a pipeline is created."""
    try:
        import spacy
    except (Exception, SystemExit) as problem:  # incompatible compiled packages raise all kinds of errors
        mend = "pip install --force-reinstall spacy numpy"
        yield CheckResultLine(
            "spaCy", PROBLEM, f"spaCy cannot be imported: {describe_exception(problem)}", mend
        )
        return
    own_factories = []
    plugins = {distribution_name(entry) for entry in entry_points(group="disambig")}
    for entry in sorted(entry_points(group="spacy_factories"), key=lambda entry: entry.name):
        owner = distribution_name(entry)
        if failure := _load_error(entry):
            what = f"the factory {entry.name} of {owner} fails, so no pipeline can be created: {failure}"
            yield CheckResultLine("spaCy", PROBLEM, what, f"update or uninstall {owner}")
        elif owner in plugins:
            own_factories.append(entry.name)
    components = ", ".join(dict.fromkeys(own_factories)) or "no component of disambig"
    what = f"spaCy {spacy.__version__} with {components}"
    mend = "" if own_factories else f"pip install {install_source(DISTRIBUTION)}"
    yield CheckResultLine("spaCy", OK if own_factories else PROBLEM, what, mend)


def _load_error(entry: EntryPoint) -> str:
    """Load an entry point; return its exception as text, or an empty string."""
    try:
        entry.load()
    except (Exception, SystemExit) as problem:
        return describe_failure(problem, (entry.value.partition(":")[0].partition(".")[0],))
    return ""


def check_compiler() -> Iterator[CheckResultLine]:
    """Compile a function and check whether it is cached for the next process."""
    from disambig.text import fmix64

    with np.errstate(over="ignore"):  # compiled code does not report overflows
        fmix64(np.uint64(1))
    if not hasattr(fmix64, "stats"):
        what = "NUMBA_DISABLE_JIT is set: nothing is compiled, large batches fail or are very slow"
        yield CheckResultLine("compiler", PROBLEM, what, "unset NUMBA_DISABLE_JIT")
        return
    if path := fmix64.stats.cache_path:
        yield CheckResultLine("compiler", OK, f"compiled code is cached in {path}")
    else:
        what = "compiled code cannot be cached: neither the installation nor the home directory is writable"
        mend = "set NUMBA_CACHE_DIR to a writable directory, or every process compiles again"
        yield CheckResultLine("compiler", WARNING, what, mend)
    if engine := os.environ.get("DISAMBIG_ENGINE"):
        what = f"DISAMBIG_ENGINE is {engine}: disambig always uses this backend"
        yield CheckResultLine("compiler", WARNING, what, "unset it unless this is intended")


def check_terminal() -> Iterator[CheckResultLine]:
    """Check the encoding of standard output."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    if encoding not in ("utf8", "utf8sig", ""):
        what = f"the encoding of standard output is {sys.stdout.encoding}, not UTF-8"
        yield CheckResultLine(
            "terminal", WARNING, what, "set PYTHONUTF8=1, or some characters cannot be shown"
        )


REINSTALL = "install the pack again: pip install --force-reinstall --no-deps {name}"
COPY = "retrain it or copy it again"
MANY_FLAGS = 4.0
CANDIDATE_KINDS = {"words": "words", "labels": "labels", "lists": "candidates of lists"}


@dataclass(slots=True)
class CheckedPacks:
    """What has been checked so far."""

    quick: bool = False  # whether to open tables without reading them completely
    models: list[Model] = field(default_factory=list)  # models that could be loaded
    tables: set[Path] = field(default_factory=set)  # files of tables that were checked


def check_packs(checked: CheckedPacks) -> Iterator[CheckResultLine]:
    """Check every installed pack with its table and its models."""
    from disambig.packs import GROUP

    entries = {entry.value: entry for entry in entry_points(group=GROUP)}
    if not entries:
        what = "no pack is installed: components and commands have no model"
        mend = f"pip install {install_source(DISTRIBUTION)}, or give your own models with --model"
        yield CheckResultLine("packs", PROBLEM, what, mend)
    for _, entry in sorted(entries.items()):
        mend = REINSTALL.format(name=install_source(distribution_name(entry)))
        lines = guard_check("packs", lambda e=entry, m=mend: _check_pack(e, m, checked), mend=mend)  # type: ignore[misc]
        # models of other packs that need a damaged pack also fail; it is reported once, with its own remedy
        yield from (line for line in lines if line.area == "packs" or "[D403]" not in line.what)


def _check_pack(entry: EntryPoint, mend: str, checked: CheckedPacks) -> Iterator[CheckResultLine]:
    """Yield what was found out about a pack, its table, models and folders."""
    from disambig.packs import read_pack

    spec = find_spec(entry.value)
    homes = list(spec.submodule_search_locations or ()) if spec else []
    if not homes or not (Path(homes[0]) / "pack.json").is_file():
        yield CheckResultLine("packs", PROBLEM, f"{entry.value} has no pack.json", mend)
        return
    pack = read_pack(Path(homes[0]))
    yield CheckResultLine("packs", OK, f"{pack.name} {pack.version}, language {pack.language}: {pack.home}")
    if pack.counts is not None:
        yield from check_table(pack.counts, checked, mend=mend)
    for task, path in sorted(pack.models.items()):
        yield from check_model(path, checked, mend=mend, task=task, sampled=task not in pack.by_name)
    for key, path in sorted(pack.folders.items()):
        yield from check_standalone(f"{pack.name}/{key}", path, mend=mend)


def check_table(path: Path, checked: CheckedPacks, *, mend: str) -> Iterator[CheckResultLine]:
    """Open a count table and, unless `quick`, verify its checksums."""

    def check() -> Iterator[CheckResultLine]:
        from disambig.counts import CountTable

        checked.tables.add(path.resolve())
        table = CountTable.open(path)
        if not checked.quick:
            table.verify()
        how = "opened, not read completely" if checked.quick else "checksums verified"
        views = ", ".join(name + " with gaps" * (name in table.gaps) for name in table.tokenisations)
        what = f"{path.name}: {table.n_ngrams:,} n-grams of {views}, {table.header['record']} records, {how}"
        yield CheckResultLine("tables", OK, what, numbers={"ngrams": table.n_ngrams})

    yield from guard_check("tables", check, mend=mend)


def _is_in_a_pack(path: Path) -> bool:
    return any((parent / "pack.json").is_file() for parent in path.resolve().parents)


def check_model(
    path: Path, checked: CheckedPacks, *, mend: str, task: str | None = None, sampled: bool = True
) -> Iterator[CheckResultLine]:
    """Load a model and check its checksums, table and tokenisation.

    `task`: the task of the model according to its pack.
    `sampled`: whether to use it on the sample text, like all models that are used by default.
    """

    def check() -> Iterator[CheckResultLine]:
        from disambig.models import load_model
        from disambig.types import ReadsCountTable, TaskTraits, decides, get_trait

        model = load_model(path)
        if task is not None and model.task.name != task:
            what = f"{path} decides {model.task.name!r}, but its pack lists it as {task!r}"
            yield CheckResultLine("models", PROBLEM, what, mend)
            return
        for extractor in model.extractors:
            if not isinstance(extractor, ReadsCountTable):
                continue
            table = extractor.table
            table.require(model.tokenisation.name)
            if table.path.resolve() not in checked.tables:
                yield from check_table(table.path, checked, mend=mend)
            if task is not None and not _is_in_a_pack(table.path):
                what = (
                    f"{model.name} of a pack reads {table.path}, which is in no pack: other machines lack it"
                )
                advice = 'put the table into the pack, train again with `counts = "NAME OF THE PACK"`'
                yield CheckResultLine("models", WARNING, what, advice)
        if files := get_trait(model.task, TaskTraits, "check_files")():
            yield CheckResultLine("models", OK, f"{model.name}: {files}")
        if sampled:
            checked.models.append(model)
        learned = sum(scorer is not None for scorer in model.scorers)
        kind = CANDIDATE_KINDS[decides(model.task).between]
        what = (
            f"{model.name} {model.version}, decides between {kind} of {model.tokenisation.name}: "
            f"{learned} of {pluralize(len(model.scorers), 'group')} learned"
        )
        yield CheckResultLine("models", OK, what)
        if model.flags_per_1000 > MANY_FLAGS:
            what = f"{model.name} raises {model.flags_per_1000:g} false flags per 1,000 words by default"
            advice = "train it with a lower flags_per_1000, or set one when using it"
            yield CheckResultLine("models", WARNING, what, advice)

    yield from guard_check("models", check, mend=mend)


def check_standalone(name: str, folder: Path, *, mend: str) -> Iterator[CheckResultLine]:
    """Check a model of a pack that is not a model of a task; folders of other kinds are skipped."""

    def check() -> Iterator[CheckResultLine]:
        from disambig.models import is_standalone, load_standalone

        if is_standalone(folder):
            model = load_standalone(folder)
            yield CheckResultLine("models", OK, f"{name}, language {model.language}: {model.describe()}")

    yield from guard_check("models", check, mend=mend)


def check_named(models: Sequence[str], checked: CheckedPacks) -> Iterator[CheckResultLine]:
    """Check the models in the given directories."""
    for path in models:
        yield from check_model(Path(path), checked, mend=COPY)


SAMPLE = (
    "I have lived in this town since the winter of 1997, and it is still hard to find a quiet place to read. "
    "Last week we went to the library with our neighbours, who were on their way from the market. It was "
    "raining, so they stayed for an hour and talked about the the weather, the price of bread and school."
)
LANGUAGE = "en"
MIN_COVERAGE = 0.05
SLOW_WORDS_PER_SECOND = 20_000
SPEED_WORDS = 100_000
_MIN_WORDS = 20
_INSTANCES_PER_BLOCK = 1024


def check_sample(models: Sequence[Model], text: str | None) -> Iterator[CheckResultLine]:
    """Annotate the sample, or the user's text, with every model."""
    from disambig.models import annotate

    timed_text = text if text and len(text.split()) >= _MIN_WORDS else SAMPLE
    speed: list[tuple[Model, float]] = []  # working models, and the seconds for the first words
    for model in models:

        def check(model: Model = model) -> Iterator[CheckResultLine]:
            start = time.perf_counter()
            annotate([timed_text], [model])
            cold = time.perf_counter() - start
            yield _coverage(model, text)
            speed.append((model, cold))

        mend = "train the model again, or install its pack again"
        yield from guard_check("coverage", check, subject=model.name, mend=mend)
    if speed:
        cold = sum(seconds for _, seconds in speed)
        yield from guard_check("speed", lambda: [_speed([model for model, _ in speed], timed_text, cold)])


def _coverage(model: Model, text: str | None) -> CheckResultLine:
    """Check how many n-grams or words of a text the model knows."""
    from disambig.models import annotate, evidence_name
    from disambig.types import RaisesFlags

    (decisions,) = annotate([text or SAMPLE], [model])
    if not len(decisions):
        if text is None and model.language != LANGUAGE:
            what = f"{model.name}: the sample is in {LANGUAGE!r}, not in {model.language!r}: give a text"
            return CheckResultLine("coverage", OK, what)
        what = f"{model.name}: nothing to decide in the {'sample' if text is None else 'text'}"
        mend = "give a text in which the model has something to decide, or check it with `disambig explain`"
        if text:
            return CheckResultLine("coverage", OK, what)
        return CheckResultLine("coverage", WARNING, what, mend)
    n_hits, n_queries = int(decisions.n_hits.sum()), int(decisions.n_queries.sum())
    numbers = {"decisions": len(decisions), "asked": n_queries, "found": n_hits}
    what = f"{model.name}: {pluralize(len(decisions), 'decision')}"
    if isinstance(model.judge, RaisesFlags):
        numbers["flagged"] = int(decisions.flagged.sum())
        what += f", {numbers['flagged']} flagged"
    if not n_queries:
        return CheckResultLine(
            "coverage", OK, f"{what}, no {evidence_name(model)} looked up", numbers=numbers
        )
    what += f", {n_hits:,} of {n_queries:,} {evidence_name(model)} found ({n_hits / n_queries:.0%})"
    if orders := queries_by_order(model, text or SAMPLE):
        shares = [f"{order}-grams {n_found / total:.0%}" for order, (n_found, total) in orders.items()]
        what += f": {', '.join(shares)}"
        for order, (n_found, total) in orders.items():
            numbers |= {f"asked_{order}": total, f"found_{order}": n_found}
    if n_hits / n_queries >= MIN_COVERAGE:
        return CheckResultLine("coverage", OK, what, numbers=numbers)
    mend = "the table covers little of this language or domain: count text of your own"
    if evidence_name(model) == "words":
        mend = "the model covers little of this language or domain: train it on suitable text"
        if text is None and model.language != LANGUAGE:  # the sample can be in another language
            return CheckResultLine("coverage", OK, what, numbers=numbers)
    return CheckResultLine("coverage", WARNING, what, mend, numbers)


def queries_by_order(model: Model, text: str) -> dict[int, tuple[int, int]]:
    """Return the numbers of n-grams found and looked up, by their number of words.

    Only n-gram count extractors are considered. A candidate of two words counts as one word.
    """
    from disambig.text import view_of_texts

    extractors = [extractor for extractor in model.extractors if isinstance(extractor, NgramCounts)]
    view = view_of_texts([text], model.tokenisation, protected=True)
    instances = model.instances(view)
    n_queries, n_hits = np.zeros(BIAS, np.int64), np.zeros(BIAS, np.int64)
    for extractor in extractors:
        for g, rows in instances.rows_by_group():
            for start in range(0, len(rows), _INSTANCES_PER_BLOCK):
                part = instances.take(rows[start : start + _INSTANCES_PER_BLOCK])
                ranks, usable = extractor.ranks_of_candidates(view, part, model.task.groups[g])
                n_queries += usable.sum(axis=0)
                n_hits += np.count_nonzero(ranks, axis=0)
    sizes = np.array([1 + left + right for left, right in CONTEXTS])
    return {
        order: (int(n_hits[sizes == order].sum()), int(n_queries[sizes == order].sum()))
        for order in np.unique(sizes).tolist()
        if n_queries[sizes == order].sum()
    }


def _speed(models: Sequence[Model], text: str, cold: float) -> CheckResultLine:
    """Measure the speed of the models on copies of a text."""
    from disambig.models import annotate

    n_words = len(text.split())
    texts = [f"{text} {i}" for i in range(max(1, SPEED_WORDS // n_words))]
    # compile or load the functions for large batches before timing
    annotate(texts[: len(texts) // 4 + 1], models)
    start = time.perf_counter()
    annotate(texts, models)
    rate = n_words * len(texts) / (time.perf_counter() - start)
    fast = f"the first {n_words} words in {cold:.2f} s, then {rate:,.0f} words/s"
    what = f"{pluralize(len(models), 'model')}, one core: {fast}"
    numbers = {"first_words": n_words, "first_seconds": round(cold, 4), "words_per_second": round(rate)}
    mend = "is the machine busy, or DISAMBIG_ENGINE=numpy set?"
    slow = rate < SLOW_WORDS_PER_SECOND
    return CheckResultLine("speed", WARNING if slow else OK, what, mend if slow else "", numbers)


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
