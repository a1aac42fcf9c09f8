"""Settings and fixtures of all tests: plugins for one test, a small count table, the number of processes."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import catalogue  # noqa: F401  caches the entry points on import, before any test installs its own
import pytest
from hypothesis import HealthCheck, settings

if "PYTEST_XDIST_WORKER" in os.environ:  # before NumPy: one process per core, so no threads for BLAS
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import disambig
from disambig import registry as plugins
from disambig.registry import PluginReport

ROOT = Path(__file__).parents[1]
gc.set_threshold(100_000, 50, 100)  # fewer garbage collections save a tenth of the time
# The tests start hundreds of processes, each of which would compile the package to byte code again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
if Path(disambig.__file__).parents[1] != ROOT:
    # The installed package is tested, in child processes as well: they must not import the sources from the
    # current directory (this variable has an effect since Python 3.11).
    os.environ["PYTHONSAFEPATH"] = "1"
for folder in ("integration", "contracts"):  # the unit tests use the fake models and toy plugins, too
    sys.path.insert(0, str(Path(__file__).parent / folder))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background processes with SIGINT ignored, and child processes would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("DISAMBIG_TELL_COMPILING", "0")  # so that output is the same in a fresh clone

_EXAMPLES = {  # settings of hypothesis, by DISAMBIG_TEST_EXAMPLES
    "few": settings(deadline=None, max_examples=5),
    "new": settings(deadline=None, max_examples=25),  # new ones in every run
    "same": settings(deadline=None, derandomize=True, max_examples=50),  # the same in every run: .ci/run
    "many": settings(deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow]),
}
for name, profile in _EXAMPLES.items():  # without deadlines, since the machine can be busy
    settings.register_profile(name, profile)
settings.load_profile(os.environ.get("DISAMBIG_TEST_EXAMPLES", "new"))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return the number of processes for ``-n auto``: one per core, at most eight; 0 for none but this one.

    Measurements must run alone, and for a few files, starting processes takes longer than it saves.
    """
    alone = re.search(r"(?<!not )\b(benchmark|replication)\b", config.option.markexpr)
    files = [argument for argument in config.args if ".py" in argument]
    if alone or len(files) == len(config.args) < 4:
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 8) if cores > 1 else 0


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore folders in which no test would be selected: importing them takes seconds in each process."""
    mark = {"benchmarks": "benchmark", "faults": "slow"}.get(collection_path.name)
    if mark and collection_path.parent == ROOT / "tests" and f"not {mark}" in config.option.markexpr:
        return True
    return None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exclude what was imported and collected from garbage collection, since it is needed until the end."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Find the errors of unreachable objects once: pytest would search all objects five times."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def load_with(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[PluginReport]]]:
    """Reload the plugins together with additional ones: ``load_with(name="module")``."""
    installed = plugins._entry_points()

    def load(**modules: str) -> list[PluginReport]:
        extra = [EntryPoint(name, module, plugins.GROUP) for name, module in modules.items()]
        monkeypatch.setattr(plugins, "_entry_points", lambda: [*installed, *extra])
        return plugins.reload_plugins()

    yield load
    monkeypatch.undo()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins, "_entry_points", lambda: installed)  # reading them again takes a while
        plugins.reload_plugins()


@pytest.fixture
def sense_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the pack of word senses for one test; return the directory of packages."""
    return _install("disambig_en_sense", "en_sense", tmp_path, monkeypatch)


@pytest.fixture
def japanese_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the Japanese pack for one test; return the directory of packages."""
    return _install("disambig_ja", "ja", tmp_path, monkeypatch)


@pytest.fixture
def parser_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the pack of the parser for one test; return the directory of packages."""
    return _install("disambig_en_parser", "en_parser", tmp_path, monkeypatch)


def _install(name: str, entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a pack in a new directory of packages, also for child processes (by PYTHONPATH)."""
    source = Path(__file__).parents[1] / "corpora" / name
    site = tmp_path / "site"
    site.mkdir(exist_ok=True)
    (site / name).symlink_to(source, target_is_directory=True)
    info = site / f"{name}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(f"[disambig_packs]\n{entry} = {name}\n")
    monkeypatch.syspath_prepend(str(site))
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *paths]))
    return site


@pytest.fixture
def short_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `disambig doctor` measure the speed on one sample instead of 100,000 words."""
    from disambig import doctor

    monkeypatch.setattr(doctor, "SPEED_WORDS", 1)


@pytest.fixture(scope="session")
def small_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a count table of the toy sentences."""
    from toy_texts import SENTENCES

    from disambig.counts import build_table
    from disambig.text import Words

    path = tmp_path_factory.mktemp("counts") / "small.counts"
    return build_table(path, SENTENCES, Words())
