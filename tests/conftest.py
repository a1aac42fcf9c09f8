"""What all tests share: plugins made for a test, one small count table, and how many processes run them."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import catalogue  # noqa: F401  lists the entry points on import; it must not list what a test installs
import pytest
from hypothesis import HealthCheck, settings

if "PYTEST_XDIST_WORKER" in os.environ:  # before NumPy: a process a core needs no threads of linear algebra
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import disambig
from disambig import registry as plugins
from disambig.registry import PluginReport

ROOT = Path(__file__).parents[1]
gc.set_threshold(100_000, 50, 100)  # looking for garbage less often saves a tenth of the time
# Hundreds of processes are started here, which would all compile the package anew. Compiled functions stand
# in the same __pycache__ anyway.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
if Path(disambig.__file__).parents[1] != ROOT:  # what is installed is tested: in commands begun here as well,
    os.environ["PYTHONSAFEPATH"] = "1"  # which would find the sources before it (from Python 3.11 on)
for folder in ("integration", "contracts"):  # fake models and toys, for the unit tests as well
    sys.path.insert(0, str(Path(__file__).parent / folder))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so a shell begins what runs in the background, and
    signal.signal(signal.SIGINT, signal.default_int_handler)  # commands begun here would not hear it, too

os.environ.setdefault("DISAMBIG_TELL_COMPILING", "0")  # what commands say is the same in a fresh clone

_EXAMPLES = {  # how many examples hypothesis makes, by DISAMBIG_TEST_EXAMPLES
    "few": settings(deadline=None, max_examples=5),
    "new": settings(deadline=None, max_examples=25),  # others in every run; no wall clock: it may be busy
    "same": settings(deadline=None, derandomize=True),  # what passed once passes again, as in .ci/run
    "many": settings(deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow]),
}
for name, made in _EXAMPLES.items():
    settings.register_profile(name, made)
settings.load_profile(os.environ.get("DISAMBIG_TEST_EXAMPLES", "new"))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many processes ``-n auto`` means: one a core, at most eight; 0: all in this one.

    What measures must be alone, and for a few files more processes cost more than they give.
    """
    alone = re.search(r"(?<!not )\b(benchmark|replication)\b", config.option.markexpr)
    files = [argument for argument in config.args if ".py" in argument]
    if alone or len(files) == len(config.args) < 4:
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 8) if cores > 1 else 0


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the folders of which no test would be chosen: importing them costs seconds a process."""
    mark = {"benchmarks": "benchmark", "faults": "slow"}.get(collection_path.name)
    if mark and collection_path.parent == ROOT / "tests" and f"not {mark}" in config.option.markexpr:
        return True
    return None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Look for no garbage in what was imported and collected, which stays to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def load_with(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[PluginReport]]]:
    """Load the plugins anew, with further ones: ``load_with(name="module")``."""
    real = plugins._entry_points()

    def load(**modules: str) -> list[PluginReport]:
        extra = [EntryPoint(name, module, plugins.GROUP) for name, module in modules.items()]
        monkeypatch.setattr(plugins, "_entry_points", lambda: [*real, *extra])
        return plugins.reload_plugins()

    yield load
    monkeypatch.undo()
    plugins.reload_plugins()


@pytest.fixture
def sense_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the pack of senses, a distribution of its own, for one test; return where it was put."""
    return _installed("disambig_en_sense", "en_sense", tmp_path, monkeypatch)


@pytest.fixture
def japanese_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the Japanese pack, a distribution of its own, for one test; return where it was put."""
    return _installed("disambig_ja", "ja", tmp_path, monkeypatch)


@pytest.fixture
def parser_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the pack of parsing, a distribution of its own, for one test; return where it was put."""
    return _installed("disambig_en_parser", "en_parser", tmp_path, monkeypatch)


def _installed(name: str, entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a pack where it is found; child processes find it through PYTHONPATH."""
    source = Path(__file__).parents[1] / "corpora" / name
    site = tmp_path / "site"
    site.mkdir(exist_ok=True)
    (site / name).symlink_to(source, target_is_directory=True)
    info = site / f"{name}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(f"[disambig_packs]\n{entry} = {name}\n")
    monkeypatch.syspath_prepend(str(site))
    known = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *known]))
    return site


@pytest.fixture
def short_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the doctor measure its speed on one sample, not on 100,000 words."""
    from disambig.doctor import sample

    monkeypatch.setattr(sample, "SPEED_WORDS", 1)


@pytest.fixture(scope="session")
def small_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a count table of the toy sentences."""
    from toy_texts import SENTENCES

    from disambig.counts import build_table
    from disambig.text import Words

    path = tmp_path_factory.mktemp("counts") / "small.counts"
    return build_table(path, SENTENCES, Words())
