"""The installation: versions against what is required, plugins, spaCy, whether compiled code can be kept."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points, requires, version
from typing import TYPE_CHECKING

from disambig import __version__
from disambig.doctor.finding import OK, PROBLEM, WARNING, Finding, said
from disambig.plural import many

if TYPE_CHECKING:
    from packaging.requirements import Requirement

DISTRIBUTION = "disambig"


def check_versions() -> Iterator[Finding]:
    """Compare what is installed with what disambig requires."""
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

    python = platform.python_version()
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    yield Finding("versions", OK, f"disambig {__version__}, Python {python}, {system}")
    try:
        wanted = [Requirement(text) for text in requires(DISTRIBUTION) or ()]
        pythons = SpecifierSet(str(distribution(DISTRIBUTION).metadata.json.get("requires_python") or ""))
    except PackageNotFoundError:
        what = "disambig is importable but not installed: nothing says what it requires"
        yield Finding("versions", WARNING, what, "pip install disambig")
        return
    if not pythons.contains(python, prereleases=True):
        yield Finding("versions", PROBLEM, f"Python {python} is not {pythons}", f"use Python {pythons}")
    fitting = []
    for requirement in wanted:
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        problem = _unmet(requirement)
        if problem:
            yield Finding("versions", PROBLEM, problem, f"pip install '{requirement}'")
        else:
            fitting.append(f"{requirement.name} {version(requirement.name)}")
    if fitting:
        yield Finding("versions", OK, ", ".join(fitting))


def _unmet(requirement: Requirement) -> str:
    """Say how what is installed does not meet a requirement; nothing where it does."""
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


def check_plugins() -> Iterator[Finding]:
    """Load every plugin, and import all that it brings."""
    from disambig.plugins import load_plugins

    reports = load_plugins()
    if not reports:
        what = "none is installed, not even disambig's own"
        yield Finding("plugins", PROBLEM, what, "pip install disambig")
    for report in reports:
        name = f"{report.name} ({report.distribution} {report.version})"
        if report.error is not None:
            what = f"{name} could not be loaded: {' '.join(report.error.split())}"
            own = report.distribution == DISTRIBUTION
            mend = "see the other problems first; then pip install --force-reinstall --no-deps disambig"
            mend = mend if own else f"update or uninstall {report.distribution}"
            yield Finding("plugins", PROBLEM, what, mend)
            continue
        broken = report.broken_parts()
        for problem in broken.values():
            yield Finding("plugins", PROBLEM, problem, f"update or uninstall {report.distribution}")
        if report.warning is not None:
            yield Finding("plugins", WARNING, f"{name}: {report.warning}", f"update {report.distribution}")
        elif not broken:
            yield Finding("plugins", OK, f"{name}: {many(len(report.registered), 'part')}")


def check_spacy() -> Iterator[Finding]:
    """Import spaCy and every component factory that it loads when a pipeline is made, whoever brings it."""
    try:
        import spacy
    except (Exception, SystemExit) as problem:  # compiled packages that do not fit each other raise anything
        mend = "pip install --force-reinstall spacy numpy"
        yield Finding("spaCy", PROBLEM, f"spaCy cannot be imported: {said(problem)}", mend)
        return
    ours = []
    for entry in sorted(entry_points(group="spacy_factories"), key=lambda entry: entry.name):
        owner = entry.dist.name if entry.dist else "?"
        failure = _load(entry)
        if failure:
            what = f"the factory {entry.name} of {owner} fails, so no pipeline can be made: {failure}"
            yield Finding("spaCy", PROBLEM, what, f"update or uninstall {owner}")
        elif entry.value.startswith("disambig"):
            ours.append(entry.name)
    what = f"spaCy {spacy.__version__} with {', '.join(dict.fromkeys(ours)) or 'no component of disambig'}"
    yield Finding("spaCy", OK if ours else PROBLEM, what, "" if ours else "pip install disambig")


def _load(entry: EntryPoint) -> str:
    try:
        entry.load()
    except (Exception, SystemExit) as problem:
        return said(problem)
    return ""


def check_compiler() -> Iterator[Finding]:
    """Compile a kernel and tell whether it is kept for the next process."""
    import numpy as np

    from disambig.text.hash_kernels import fmix64

    with np.errstate(over="ignore"):  # which compiled code does not tell of
        fmix64(np.uint64(1))
    if not hasattr(fmix64, "stats"):
        what = "NUMBA_DISABLE_JIT is set: nothing is compiled, large batches fail or crawl"
        yield Finding("compiler", PROBLEM, what, "unset NUMBA_DISABLE_JIT")
        return
    path = fmix64.stats.cache_path
    if path:
        yield Finding("compiler", OK, f"compiled code is kept in {path}")
    else:
        what = "compiled code cannot be kept: neither the installation nor the home directory can be written"
        mend = "set NUMBA_CACHE_DIR to a directory that can be written, or every process compiles anew"
        yield Finding("compiler", WARNING, what, mend)
    engine = os.environ.get("DISAMBIG_ENGINE")
    if engine:
        what = f"DISAMBIG_ENGINE is {engine}: disambig does not choose by itself"
        yield Finding("compiler", WARNING, what, "unset it unless you mean it")


def check_terminal() -> Iterator[Finding]:
    """Look at what text is written in."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    if encoding not in ("utf8", "utf8sig", ""):
        what = f"standard output is written in {sys.stdout.encoding}, not UTF-8"
        yield Finding("terminal", WARNING, what, "set PYTHONUTF8=1, or some characters cannot be shown")
