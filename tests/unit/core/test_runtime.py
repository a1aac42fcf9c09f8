"""Choice of the backend, warm-up, returning free memory; errors with codes."""

from __future__ import annotations

import os
import pickle
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import disambig
from disambig import runtime as runtime
from disambig.errors import MESSAGES, UserError, nearest_first
from disambig.formatting import format_p, pluralize
from disambig.training import dataset_report, report_line


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.delenv("DISAMBIG_ENGINE", raising=False)
    monkeypatch.setattr(runtime, "_work_seconds", 0)
    monkeypatch.setattr(runtime, "has_compiled_code", lambda: True)


def test_many_small_calls_add_up():
    """Calls for single sentences are small, but each of them is slower with NumPy."""
    n_calls = int(runtime.TOTAL_SECONDS / runtime.OVERHEAD_SECONDS)
    answers = [runtime.use_numba(1, nanoseconds=0.0) for _ in range(n_calls + 2)]
    assert not any(answers[: n_calls - 2])
    assert answers[-1]


def test_uses_numba_after_much_small_work():
    nanoseconds = 2e7 * runtime.TOTAL_SECONDS  # fifty of these reach the limit
    assert not any(runtime.use_numba(1, nanoseconds=nanoseconds) for _ in range(40))
    assert [runtime.use_numba(1, nanoseconds=nanoseconds) for _ in range(12)][-2:] == [True, True]


def test_uses_numba_for_a_large_call():
    assert not runtime.use_numba(1, nanoseconds=0.9e9 * runtime.CALL_SECONDS)
    assert runtime.use_numba(1, nanoseconds=1e9 * runtime.CALL_SECONDS)
    assert runtime.use_numba(1)  # it is loaded by now


def test_uses_numba_for_a_call_that_much_work_follows():
    assert not runtime.use_numba(1, nanoseconds=0.0, nanoseconds_after=0.9e9 * runtime.CALL_SECONDS)
    assert runtime.use_numba(1, nanoseconds=0.0, nanoseconds_after=1e9 * runtime.CALL_SECONDS)


def test_work_that_follows_a_call_is_counted_when_it_is_done():
    after = 0.4e9 * runtime.CALL_SECONDS
    assert not any(runtime.use_numba(1, nanoseconds=0.0, nanoseconds_after=after) for _ in range(100))


def test_needs_more_work_before_the_first_compilation(monkeypatch):
    monkeypatch.setattr(runtime, "has_compiled_code", lambda: False)
    once = 1e9 * runtime.CALL_SECONDS
    assert not runtime.use_numba(1, nanoseconds=once)
    assert runtime.use_numba(1, nanoseconds=runtime.UNCOMPILED_FACTOR * once)
    monkeypatch.setattr(runtime, "_work_seconds", 0)
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


@given(st.text(max_size=8), st.sets(st.text("abcdef", min_size=1, max_size=8), min_size=1, max_size=12))
def test_lists_few_names_completely(name, names):
    assert sorted(nearest_first(name, names).split(", ")) == sorted(names)


def test_lists_the_nearest_three_of_many_names():
    names = [f"paper{number}.table{n}" for number in range(50) for n in (1, 2)] + ["svm.SumLM.v1"]
    listed = nearest_first("paper7.tabel1", names)
    assert listed.startswith("paper7.table1, ") and listed.endswith(" and 98 more")
    assert len(listed.partition(" and ")[0].split(", ")) == 3
    assert nearest_first("sumlm", names).startswith("svm.SumLM.v1, ")


def test_lists_the_nearest_name_first():
    assert nearest_first("speling", ["preposition", "it", "spelling"]).startswith("spelling, ")
    assert nearest_first("x", []).startswith("none")


def test_messages_begin_with_a_code_and_have_one_line():
    problem = UserError("D005", path="a.cfg", problem="two\nlines")
    assert str(problem) == "[D005] config a.cfg: two lines"
    assert isinstance(problem, ValueError)


def test_errors_can_be_pickled():
    again = pickle.loads(pickle.dumps(UserError("D401", rate=-1)))
    assert (again.code, str(again)) == ("D401", "[D401] " + MESSAGES["D401"].format(rate=-1))


def test_messages_name_extras_that_exist():
    """Messages name extras with versions, but never disambig itself, whose source only the user knows."""
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf8")
    requirements = set(re.findall(r'"([\w-]+(?:\[\w+\])?[<>=][^";]*)"', text)) | {"sudachidict_core"}
    named = 0
    for code, message in MESSAGES.items():
        _, _, command = message.partition("pip install ")
        command = command.partition(" (")[0]
        if command and "./corpora" not in command:
            named += 1
            assert set(shlex.split(command)) <= requirements, code
    assert named >= 8


def test_pluralize():
    texts = [pluralize(n, "document") for n in (0, 1, 2, 12_345)]
    assert texts == ["0 documents", "1 document", "2 documents", "12,345 documents"]


def test_reports_use_the_right_number():
    assert report_line(dataset_report(1, what="documents")) == "read 1 document: 1 used, none left out"
    assert report_line(dataset_report(2, what="lists")) == "read 2 lists: 2 used, none left out"
    reasons = ["the label 'a' is not one of 'b', 'c'", "the label 'd' is not one of 'e'"]
    assert report_line(dataset_report(0, reasons)).endswith("(2: the label ... is not one of ...)")


def test_commands_do_not_form_plurals_themselves():
    """``{n:,} documents`` would be wrong for the number one: commands must use `pluralize`."""
    home = Path(disambig.__file__).parent
    counted = re.compile(
        r"\{[^{}]*:,\} (documents|words|examples|lists|lines|models|flags|decisions|groups)\b"
    )
    packages = ("cli", "checking", "training", "evaluation", "models")
    modules = [path for package in packages for path in (home / package).rglob("*.py")]
    assert len(modules) > 50
    assert not [
        f"{path.name}: {match[0]}" for path in modules for match in counted.finditer(path.read_text("utf8"))
    ]


@pytest.mark.parametrize(
    ("value", "draws", "listed"),
    [
        (0.0, None, "< 0.0001"),
        (1e-300, None, "< 0.0001"),
        (0.0123, None, "0.0123"),
        (1.0, None, "1.0000"),
        (0.0, 2000, "< 0.0005"),
        (0.0004, 50_000, "0.0004"),
        (None, None, "-"),
        (float("nan"), 100, "-"),
    ],
)
def test_p_values_are_never_zero(value, draws, listed):
    assert format_p(value, draws=draws) == listed
