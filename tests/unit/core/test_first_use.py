"""The first use of compiled code: by several at once, with a cache that is damaged, closed or another user's.

The cache is really written: a module with a kernel of its own is imported by processes of their own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MODULE = """
import numpy as np
from disambig.jit import compiled, cache_location

@compiled
def added(values):
    total = 0
    for value in values:
        total += value
    return total

if __name__ != "__main__":
    print(added(np.arange(5)), sum(added.stats.cache_hits.values()), cache_location(added))
"""
AS_USER = """
import os, sys, numba, numpy
from disambig import jit as compiling
if len(sys.argv) > 1:
    numba.njit(lambda values: values.sum())(numpy.arange(3))  # all of Numba that is loaded late
    os.setgroups([]), os.setgid(int(sys.argv[1])), os.setuid(int(sys.argv[1]))
sys.path.insert(0, ".")
import toy_kernels
"""
NOBODY = 65534
is_root = os.name == "posix" and os.getuid() == 0
as_root = pytest.mark.skipif(not is_root, reason="only root can become another user")


@contextmanager
def new_place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "toy_kernels.py").write_text(MODULE)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user can enter, with the module in it; pytest closes its own ones to others."""
    with new_place() as folder:
        yield folder


def start(place: Path, *, user: int | None = None, **environment: str | None) -> subprocess.Popen:
    """Start a process that uses the kernel."""
    given = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(place / "cache"),
        **environment,
    }
    return subprocess.Popen(
        [sys.executable, "-c", AS_USER, *([] if user is None else [str(user)])],
        cwd=place,
        env={name: value for name, value in given.items() if value is not None},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def use(place: Path, **how) -> tuple[int, str]:
    """Use the kernel; return how often it was found compiled, and where it is kept."""
    return outcome(start(place, **how))


def outcome(process: subprocess.Popen) -> tuple[int, str]:
    told, problems = process.communicate(timeout=120)
    assert process.returncode == 0, problems
    total, hits, kept = told.strip().split(" ", 2)
    assert total == "10"
    return int(hits), kept


def files(place: Path) -> list[Path]:
    return [path for path in (place / "cache").rglob("*.nb?") if path.is_file()]


@pytest.mark.slow
def test_three_at_once(place):
    found = [outcome(process) for process in [start(place) for _ in range(3)]]
    assert len(found) == 3
    assert {path.suffix for path in files(place)} == {".nbi", ".nbc"}
    assert not [path for path in (place / "cache").rglob("*") if path.is_file() and path not in files(place)]
    assert use(place)[0] == 1, "what they wrote together can be used"


DAMAGES = ["half", "empty", "other", "directory"]


def test_a_damaged_cache_is_written_anew(place):
    """Each damage befalls one of the two files of a module of its own; one process uses them all."""
    damaged = {f"toy_{damage}_{suffix}": (damage, suffix) for damage in DAMAGES for suffix in ("nbi", "nbc")}
    for name in damaged:
        (place / f"{name}.py").write_text(MODULE)
    (place / "toy_kernels.py").write_text("".join(f"import {name}\n" for name in damaged))
    assert all_hits(place) == [0] * len(damaged)
    for name, (damage, suffix) in damaged.items():
        (path,) = [path for path in files(place) if path.name.startswith(name) and path.suffix[1:] == suffix]
        whole = path.read_bytes()
        if damage == "directory":
            path.unlink()
            path.mkdir()
        else:
            path.write_bytes({"half": whole[: len(whole) // 2], "empty": b"", "other": b"\xff" * 500}[damage])
    all_hits(place)
    mended = dict(zip(damaged, all_hits(place), strict=True))
    assert all(mended[name] == 1 for name in mended if "directory" not in name), "they are whole again"


def all_hits(place: Path) -> list[int]:
    """Use several modules in one process; return how often the kernel of each was found compiled."""
    told, problems = start(place).communicate(timeout=120)
    lines = [line.split(" ", 2) for line in told.splitlines()]
    assert lines and all(total == "10" for total, _, _ in lines), problems
    return [int(hits) for _, hits, _ in lines]


def test_a_cache_that_cannot_be_made(place):
    (place / "cache").write_text("a file where the cache belongs")
    assert use(place)[0] == 0


@as_root
def test_a_cache_that_cannot_be_written(place):
    (place / "cache").mkdir()
    (place / "cache").chmod(0o555)
    assert use(place, user=NOBODY)[0] == 0
    assert not files(place)


@as_root
@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_the_cache_of_another_user(place, mode):
    use(place)
    for path in (place / "cache").rglob("*"):
        path.chmod(mode if path.is_dir() else mode & 0o644)
    (place / "cache").chmod(mode)
    use(place, user=NOBODY)


@as_root
@pytest.mark.parametrize("home", [None, "/nowhere/at/all"])
def test_without_a_home(place, home):
    hits, kept = use(place, user=NOBODY, HOME=home, NUMBA_CACHE_DIR=None, XDG_CACHE_HOME=None)
    assert (hits, kept) == (0, "None")


def test_files_of_experiments_without_a_home(monkeypatch, tmp_path):
    from disambig.errors import UserError
    from disambig.experiments import cache_directory, cached

    for name in ("HOME", "XDG_CACHE_HOME", "DISAMBIG_CACHE"):
        monkeypatch.delenv(name, raising=False)

    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    with pytest.raises(UserError, match=r"D722.*DISAMBIG_CACHE"):
        cached("a", ".txt", sources=[], about={}, make=lambda path: path.write_text("made"))
    monkeypatch.setenv("DISAMBIG_CACHE", str(tmp_path))
    assert cache_directory() == tmp_path
    made = cached("a", ".txt", sources=[], about={}, make=lambda path: path.write_text("made"))
    assert made.read_text() == "made"
    shutil.rmtree(tmp_path)
