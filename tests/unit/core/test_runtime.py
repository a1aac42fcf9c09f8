"""Runtime: choice of the backend, warm-up, returning free memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from disambig import runtime as runtime
from disambig.errors import UserError


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.delenv("DISAMBIG_ENGINE", raising=False)
    monkeypatch.setattr(runtime, "_work_seconds", 0)
    monkeypatch.setattr(runtime, "has_compiled_code", lambda: True)


def test_uses_numba_after_much_small_work():
    nanoseconds = 2e7 * runtime.TOTAL_SECONDS  # fifty of these reach the limit
    assert not any(runtime.use_numba(1, nanoseconds=nanoseconds) for _ in range(40))
    assert [runtime.use_numba(1, nanoseconds=nanoseconds) for _ in range(12)][-2:] == [True, True]


def test_uses_numba_for_a_large_call():
    assert not runtime.use_numba(1, nanoseconds=0.9e9 * runtime.CALL_SECONDS)
    assert runtime.use_numba(1, nanoseconds=1e9 * runtime.CALL_SECONDS)


def test_needs_more_work_before_the_first_compilation(monkeypatch):
    monkeypatch.setattr(runtime, "has_compiled_code", lambda: False)
    once = 1e9 * runtime.CALL_SECONDS
    assert not runtime.use_numba(1, nanoseconds=once)
    assert runtime.use_numba(1, nanoseconds=runtime.UNCOMPILED_FACTOR * once)
    nanoseconds = runtime.UNCOMPILED_FACTOR * 1e8 * runtime.TOTAL_SECONDS  # ten of these reach the limit
    answers = [runtime.use_numba(1, nanoseconds=nanoseconds / 10) for _ in range(100)]
    assert not answers[0] and answers[-1]


def test_finds_compiled_code_in_the_cache(monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    runtime.has_compiled_code.cache_clear()
    try:
        assert not runtime.has_compiled_code()
        runtime.has_compiled_code.cache_clear()
        (tmp_path / "features_1").mkdir()
        (tmp_path / "features_1" / "kernels.fill-12.py311.nbi").touch()
        assert runtime.has_compiled_code()
    finally:
        runtime.has_compiled_code.cache_clear()


@pytest.mark.parametrize(("value", "answer"), [("numpy", False), ("numba", True)])
def test_environment_variable_decides(monkeypatch, value, answer):
    monkeypatch.setenv("DISAMBIG_ENGINE", value)
    assert runtime.use_numba(1) is answer
    assert runtime.use_numba(10**9) is answer


def test_rejects_an_unknown_backend(monkeypatch):
    monkeypatch.setenv("DISAMBIG_ENGINE", "gpu")
    with pytest.raises(UserError, match=r"\[D200\].*'gpu'"):
        runtime.use_numba(1)


def test_warm_up_uses_numba_in_its_thread_first():
    choices = {}

    def elsewhere():
        choices["elsewhere"] = runtime.use_numba(1)

    def work():
        choices["here"] = runtime.use_numba(1)
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()

    runtime.warm_up(work)
    assert choices == {"here": True, "elsewhere": False}
    assert runtime.use_numba(1)


def test_failed_warm_up_changes_nothing():
    with pytest.raises(ZeroDivisionError):
        runtime.warm_up(lambda: 1 // 0)
    assert not runtime.use_numba(1)


RETURNED = """
from disambig import runtime

def own_memory():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))

before = own_memory()
held = [bytes(2000) for _ in range(50_000)]
last = bytes(2000)  # lies behind the others, so that they are not at the end, which is returned anyway
most = own_memory()
del held
runtime.return_free_memory(10)
kept = own_memory()
runtime.return_free_memory(runtime.CHARACTERS_PER_TRIM)
print(most - before, most - kept, most - own_memory(), runtime._malloc_trim() is not None)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks into /proc")
def test_returns_free_memory():
    done = subprocess.run([sys.executable, "-c", RETURNED], capture_output=True, text=True, check=True)
    taken, at_first, returned, can = done.stdout.split()
    assert int(taken) > 80e6
    assert int(at_first) < 20e6  # a small batch is not worth the time
    assert can == "False" or int(returned) > 80e6
