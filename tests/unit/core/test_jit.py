"""Compiled functions: primitives, the cache on first use, and the message about compilation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numba.core.errors import TypingError

from disambig.jit import add_eight, compiled, compiled_in_place, eight_products

ROWS = {
    "seed": st.integers(0, 2**32),
    "n": st.integers(1, 50),
    "ends": st.tuples(st.integers(0, 50), st.integers(0, 50)),
    "whole": st.booleans(),
}


@compiled
def summed(indices, data, start, end, table, sums):
    eight_products(indices, data, start, end, table, sums)


@compiled
def added(indices, data, start, end, table, steps, keep):
    add_eight(indices, data, start, end, table, steps, keep)


def random_rows(seed, n, ends, whole):
    """Return indices, data, the two ends of a row, and a table of small integers or of any floats."""
    rng = np.random.default_rng(seed)
    table = rng.integers(3, size=(n, 8)).astype(np.uint8) if whole else rng.normal(size=(n, 8))
    row = rng.integers(n, size=50).astype(np.uint32), rng.normal(size=50)
    return (*row, *(np.uint64(end) for end in sorted(ends))), table, rng.normal(size=8)


@given(**ROWS)
def test_eight_products_equal_a_loop(seed, n, ends, whole):
    (indices, data, start, end), table, _ = random_rows(seed, n, ends, whole)
    expected = np.zeros(8)
    for at in range(start, end):
        expected += table[indices[at]] * data[at]
    sums = np.full(8, np.nan)
    summed(indices, data, start, end, table, sums)
    assert sums.tobytes() == expected.tobytes()


@given(**ROWS)
def test_add_eight_equals_a_loop(seed, n, ends, whole):
    (indices, data, start, end), keep, steps = random_rows(seed, n, ends, whole)
    table = np.random.default_rng(seed + 1).normal(size=(n, 8))
    expected = table.copy()
    for at in range(start, end):
        expected[indices[at]] += data[at] * steps * keep[indices[at]]
    added(indices, data, start, end, table, steps, keep)
    assert table.tobytes() == expected.tobytes()


@compiled_in_place
def doubled(values, sums):
    for at in range(len(values)):
        values[at] *= 2
        sums[at % len(sums)] += values[at]


@compiled_in_place
def doubled_copy(values):
    copied = np.zeros(len(values))
    copied[:] = values
    doubled(copied, copied)


def test_functions_in_place_write_to_arguments_and_keep_no_references():
    values, sums = np.arange(5.0), np.zeros(2)
    before = sys.getrefcount(values)
    doubled(values, sums)
    assert values.tolist() == [0, 2, 4, 6, 8]
    assert sums.tolist() == [12, 8]
    assert sys.getrefcount(values) == before


def test_functions_in_place_cannot_allocate():
    with pytest.raises(TypingError, match="zeros"):
        doubled_copy(np.arange(5.0))


CODE = """
import sys
if "listen" in sys.argv:
    from disambig.cli import output
    output.begin_command()
import numpy as np
from disambig.text import fmix64
fmix64(np.uint64(1))
fmix64(1)
"""


def run_code(folder, *arguments):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "DISAMBIG_TELL_COMPILING": "1"}
    command = [sys.executable, "-c", CODE, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stderr


def test_commands_report_compilation_once_and_libraries_never(tmp_path):
    assert run_code(tmp_path / "silent") == ""
    kept = tmp_path / "kept"
    note = run_code(kept, "listen")
    assert note == f"disambig: compiling code that is new on this machine: saved in {kept}\n"
    assert run_code(kept, "listen") == ""  # it is cached


CACHED_MODULE = """
from disambig.jit import compiled, cache_location

@compiled
def added(n):
    total = 0
    for value in range(n):
        total += value
    return total

if __name__ != "__main__":
    print(added(5), sum(added.stats.cache_hits.values()), cache_location(added))
"""

AS_USER = """
import os, sys, numba
from disambig import jit
if len(sys.argv) > 1:
    numba.njit(lambda n: sum([value for value in range(n)]))(3)  # all of Numba that is loaded late
    os.setgroups([]), os.setgid(int(sys.argv[1])), os.setuid(int(sys.argv[1]))
sys.path.insert(0, ".")
import toy_kernels
"""

NOBODY = 65534
is_root = os.name == "posix" and os.getuid() == 0
as_root = pytest.mark.skipif(not is_root, reason="only root can become another user")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder with the module that every user can enter (folders of pytest are private)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "toy_kernels.py").write_text(CACHED_MODULE)
        folder.chmod(0o755)
        yield folder


def start(folder: Path, *, user: int | None = None, **environment: str | None) -> subprocess.Popen:
    """Start a process that calls the compiled function."""
    defaults = {"PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(folder / "cache")}
    given = {**os.environ, **defaults, **environment}
    return subprocess.Popen(
        [sys.executable, "-c", AS_USER, *([] if user is None else [str(user)])],
        cwd=folder,
        env={name: value for name, value in given.items() if value is not None},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def use(folder: Path, **options) -> tuple[int, str]:
    """Call the compiled function; return its number of cache hits and the directory of its cache."""
    return outcome(start(folder, **options))


def outcome(process: subprocess.Popen) -> tuple[int, str]:
    messages, problems = process.communicate(timeout=120)
    assert process.returncode == 0, problems
    total, hits, kept = messages.strip().split(" ", 2)
    assert total == "10"
    return int(hits), kept


def files(folder: Path) -> list[Path]:
    return [path for path in (folder / "cache").rglob("*.nb?") if path.is_file()]


@pytest.mark.slow
def test_concurrent_first_uses(folder):
    result = [outcome(process) for process in [start(folder) for _ in range(3)]]
    assert len(result) == 3
    assert {path.suffix for path in files(folder)} == {".nbi", ".nbc"}
    assert not [
        path for path in (folder / "cache").rglob("*") if path.is_file() and path not in files(folder)
    ]
    assert use(folder)[0] == 1, "what they wrote together can be used"


def run_python(folder: Path, code: str) -> list[str]:
    """Return the lines that a new process prints."""
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return process.stdout.splitlines()


def test_cached_code_is_loaded_without_what_compiles_it(folder):
    use(folder)
    code = "import sys; sys.path.insert(0, '.'); import toy_kernels; print('numba.np.linalg' in sys.modules)"
    result, compiler = run_python(folder, code)
    assert result.startswith("10 1 ")
    assert compiler == "False"


MANY_NEEDS = """
import numpy as np
from disambig.jit import compiled

@compiled
def product(matrix):
    return matrix @ matrix

@compiled
def hashed(text):
    return hash(text), str(len(set(text)))

@compiled
def drawn(seed):
    np.random.seed(seed)
    return np.sort(np.random.random(3))

@compiled
def raised(n):
    if n > 2:
        raise ValueError("too many")
    return [n]

print(product(np.eye(2) * 3).tolist(), hashed("hello"), drawn(1).tolist(), raised(1))
try:
    raised(3)
except ValueError as problem:
    print(problem)
print([sum(function.stats.cache_hits.values()) for function in (product, hashed, drawn, raised)])
"""


@pytest.mark.slow
def test_cached_code_has_all_that_it_needs(folder, monkeypatch):
    """BLAS, hashes of strings, random numbers and exceptions work in code from the cache."""
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    (folder / "toy_needs.py").write_text(MANY_NEEDS)
    code = "import sys; sys.path.insert(0, '.'); import toy_needs"
    *first, compiled_now = run_python(folder, code)
    *second, hits = run_python(folder, code)
    assert first == second
    assert (compiled_now, hits) == ("[0, 0, 0, 0]", "[1, 1, 1, 1]")


DAMAGES = [("half", "nbi"), ("half", "nbc"), ("empty", "nbi"), ("other", "nbc"), ("directory", "nbc")]


def test_rewrites_a_damaged_cache(folder):
    """In the cache of each module, one file is damaged in a different way; one process uses all modules."""
    damaged = {f"toy_{damage}_{suffix}": (damage, suffix) for damage, suffix in DAMAGES}
    for name in damaged:
        (folder / f"{name}.py").write_text(CACHED_MODULE)
    (folder / "toy_kernels.py").write_text("".join(f"import {name}\n" for name in damaged))
    assert all_hits(folder) == [0] * len(damaged)
    for name, (damage, suffix) in damaged.items():
        (path,) = [path for path in files(folder) if path.name.startswith(name) and path.suffix[1:] == suffix]
        whole = path.read_bytes()
        if damage == "directory":
            path.unlink()
            path.mkdir()
        else:
            path.write_bytes({"half": whole[: len(whole) // 2], "empty": b"", "other": b"\xff" * 500}[damage])
    all_hits(folder)
    mended = dict(zip(damaged, all_hits(folder), strict=True))
    assert all(mended[name] == 1 for name in mended if "directory" not in name), "they are whole again"


def all_hits(folder: Path) -> list[int]:
    """Use several modules in one process; return the number of cache hits of each compiled function."""
    messages, problems = start(folder).communicate(timeout=120)
    lines = [line.split(" ", 2) for line in messages.splitlines()]
    assert lines and all(total == "10" for total, _, _ in lines), problems
    return [int(hits) for _, hits, _ in lines]


def test_works_if_the_cache_cannot_be_created(folder):
    (folder / "cache").write_text("a file where the cache belongs")
    assert use(folder)[0] == 0


@as_root
def test_works_if_the_cache_is_read_only(folder):
    (folder / "cache").mkdir()
    (folder / "cache").chmod(0o555)
    assert use(folder, user=NOBODY)[0] == 0
    assert not files(folder)


@as_root
def test_works_with_the_cache_of_another_user(folder):
    use(folder)
    for mode in (0o755, 0o700):
        for path in (folder / "cache").rglob("*"):
            path.chmod(mode if path.is_dir() else mode & 0o644)
        (folder / "cache").chmod(mode)
        use(folder, user=NOBODY)


@as_root
@pytest.mark.parametrize("home", [pytest.param(None, marks=pytest.mark.slow), "/nowhere/at/all"])
def test_works_without_a_home_directory(folder, home):
    hits, kept = use(folder, user=NOBODY, HOME=home, NUMBA_CACHE_DIR=None, XDG_CACHE_HOME=None)
    assert (hits, kept) == (0, "None")
