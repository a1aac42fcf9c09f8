"""The installation: versions against what is required, plugins, whether compiled code can be kept."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from disambig import __version__
from disambig.doctor.finding import OK, PROBLEM, WARNING, Finding

DISTRIBUTION = "disambig"


def check_versions() -> Iterator[Finding]:
    """Compare what is installed with what disambig requires."""
    from packaging.requirements import Requirement

    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    yield Finding("versions", OK, f"disambig {__version__}, Python {platform.python_version()}, {system}")
    try:
        wanted = [Requirement(text) for text in requires(DISTRIBUTION) or ()]
    except PackageNotFoundError:
        yield Finding(
            "versions", WARNING, "disambig is not installed, only importable", "pip install disambig"
        )
        return
    seen = []
    for requirement in wanted:
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            installed = version(requirement.name)
        except PackageNotFoundError:
            yield Finding(
                "versions", PROBLEM, f"{requirement.name} is missing", f"pip install '{requirement}'"
            )
            continue
        if not requirement.specifier.contains(installed, prereleases=True):
            what = f"{requirement.name} {installed} is not {requirement.specifier}"
            yield Finding("versions", PROBLEM, what, f"pip install '{requirement}'")
        else:
            seen.append(f"{requirement.name} {installed}")
    yield Finding("versions", OK, ", ".join(seen))


def check_plugins() -> Iterator[Finding]:
    """Load every plugin."""
    from disambig.plugins import load_plugins

    reports = load_plugins()
    if not reports:
        yield Finding(
            "plugins", PROBLEM, "none is installed, not even disambig's own", "pip install disambig"
        )
    for report in reports:
        said = f"{report.name} ({report.distribution} {report.version})"
        if report.error is not None:
            what = f"{said} could not be loaded: {' '.join(report.error.split())}"
            yield Finding("plugins", PROBLEM, what, f"update or uninstall {report.distribution}")
        else:
            yield Finding("plugins", OK, f"{said}: {len(report.registered)} parts")


def check_compiler() -> Iterator[Finding]:
    """Compile a kernel and tell whether it is kept for the next process."""
    import numpy as np

    from disambig.text.hash_kernels import fmix64

    fmix64(np.uint64(1))  # type: ignore[no-untyped-call]
    path = getattr(getattr(fmix64, "stats", None), "cache_path", None)
    if not path:
        what = "compiled code cannot be kept: neither the installation nor the home directory can be written"
        mend = "set NUMBA_CACHE_DIR to a directory that can be written, or every process compiles anew"
        yield Finding("compiler", WARNING, what, mend)
    else:
        yield Finding("compiler", OK, f"compiled code is kept in {path}")
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
