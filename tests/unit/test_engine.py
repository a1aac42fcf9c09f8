from __future__ import annotations

import os
import subprocess
import sys

import pytest

from disambig import runtime as engine
from disambig.errors import UserError


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.delenv("DISAMBIG_ENGINE", raising=False)
    monkeypatch.setattr(engine, "_seen", 0)
    monkeypatch.setattr(engine, "has_compiled_code", lambda: True)


def test_little_work_stays_off_numba_until_there_was_much_of_it():
    nanoseconds = 2e7 * engine.IN_ALL  # fifty of these reach the limit
    assert not any(engine.use_numba(1, nanoseconds=nanoseconds) for _ in range(40))
    assert [engine.use_numba(1, nanoseconds=nanoseconds) for _ in range(12)][-2:] == [True, True]


def test_a_large_call_uses_numba_at_once():
    assert not engine.use_numba(1, nanoseconds=0.9e9 * engine.AT_ONCE)
    assert engine.use_numba(1, nanoseconds=1e9 * engine.AT_ONCE)


def test_as_long_as_nothing_is_compiled_it_takes_more(monkeypatch):
    monkeypatch.setattr(engine, "has_compiled_code", lambda: False)
    once = 1e9 * engine.AT_ONCE
    assert not engine.use_numba(1, nanoseconds=once)
    assert engine.use_numba(1, nanoseconds=engine.UNCOMPILED * once)
    nanoseconds = engine.UNCOMPILED * 1e8 * engine.IN_ALL  # ten of these reach the limit
    answers = [engine.use_numba(1, nanoseconds=nanoseconds / 10) for _ in range(100)]
    assert not answers[0] and answers[-1]


def test_compiled_code_is_found_in_the_cache(monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    engine.has_compiled_code.cache_clear()
    try:
        assert not engine.has_compiled_code()
        engine.has_compiled_code.cache_clear()
        (tmp_path / "features_1").mkdir()
        (tmp_path / "features_1" / "kernels.fill-12.py311.nbi").touch()
        assert engine.has_compiled_code()
    finally:
        engine.has_compiled_code.cache_clear()


@pytest.mark.parametrize(("value", "answer"), [("numpy", False), ("numba", True)])
def test_the_environment_decides(monkeypatch, value, answer):
    monkeypatch.setenv("DISAMBIG_ENGINE", value)
    assert engine.use_numba(1) is answer
    assert engine.use_numba(10**9) is answer


def test_an_unknown_engine_is_named(monkeypatch):
    monkeypatch.setenv("DISAMBIG_ENGINE", "gpu")
    with pytest.raises(UserError, match=r"\[D200\].*'gpu'"):
        engine.use_numba(1)


def test_warming_uses_kernels_in_its_own_thread_and_then_everywhere():
    import threading

    seen = {}

    def elsewhere():
        seen["elsewhere"] = engine.use_numba(1)

    def work():
        seen["here"] = engine.use_numba(1)
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()

    engine.warm_up(work)
    assert seen == {"here": True, "elsewhere": False}
    assert engine.use_numba(1)


def test_what_could_not_be_warmed_changes_nothing():
    with pytest.raises(ZeroDivisionError):
        engine.warm_up(lambda: 1 // 0)
    assert not engine.use_numba(1)


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
runtime.return_free_memory()
print(most - before, most - own_memory(), runtime._malloc_trim() is not None)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks into /proc")
def test_free_memory_is_returned_where_the_system_can():
    done = subprocess.run([sys.executable, "-c", RETURNED], capture_output=True, text=True, check=True)
    taken, returned, can = done.stdout.split()
    assert int(taken) > 80e6
    assert can == "False" or int(returned) > 80e6
