"""Files of the current directory are data: no command and no worker imports modules from there.

Every folder here holds a file for each module of the standard library and for much else, which leaves a trace
where it is imported, an installed plugin, and settings of Numba and Matplotlib.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from commands import here
from lsp_wire import Wire

import disambig

TEXT = "I worked in Russia during 1997 to 2001, and it was hard to find a quite place.\n"
PLANTED = (
    {*sys.stdlib_module_names}
    | {"disambig", "disambig_dask", "disambig_en", "numpy", "numba", "llvmlite", "scipy", "sklearn", "spacy"}
    | {"typer", "click", "rich", "yaml", "dask", "distributed", "tornado", "uvicorn", "starlette", "pygls"}
    | {"sitecustomize", "usercustomize", "conftest", "evil_plugin"}
)
ENTRIES = "".join(
    f"[{group}]\n{name} = evil_plugin\n"
    for group, name in [("disambig", "evil"), ("disambig_packs", "evil"), ("spacy_factories", "disambig")]
)
ENDS = {
    "Please bring": ("me a chair.", "it home.", "me the salt.", "a friend."),
    "Please take": ("care of it.", "a seat.", "your time.", "care of her."),
}
EXPERIMENT = """
from disambig.api import hookimpl
from disambig.api.experiments import ExperimentResult, ResultRow, run_parts

class Small:
    title = description = "a small table"
    needs = ()
    def run(self, **how):
        return run_parts(self, **how)
    def parts(self, **how):
        return ["one", "two"]
    def part(self, name, **how):
        return len(name)
    def joined(self, results, *, quick):
        rows = [ResultRow(name, "", float(score), None, 5) for name, score in results.items()]
        return ExperimentResult(rows, [])

@hookimpl
def disambig_register_experiments(register):
    register("paper.table1.v1", "paper_plugin:Small")
"""
LISTENING = re.compile(r"listening on http://127\.0\.0\.1:(\d+)")


class Hostile:
    """A folder with two texts and many planted modules, none of which may run."""

    def __init__(self, home: Path) -> None:
        self.path, self.trace = home / "clone", home / "trace"
        self.path.mkdir()
        for name in ("one.txt", "two.txt"):
            (self.path / name).write_text(TEXT)
        info = self.path / "evil-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(ENTRIES)
        (self.path / ".numba_config.yaml").write_text("cache_dir: from_the_clone\ndisable_jit: 1\n")
        (self.path / "matplotlibrc").write_text("text.usetex: True\nsavefig.facecolor: red\n")
        # as pip writes it, for a test of a checkout
        self.script = home / "bin" / "disambig"
        self.script.parent.mkdir()
        run = 'from disambig.cli.main import run\nif __name__ == "__main__":\n    run()\n'
        self.script.write_text(run)
        installed = Path(sys.executable).with_name("disambig")
        if installed.exists():
            shutil.copy(installed, self.script)

    def plant(self, *, without: frozenset[str] = frozenset()) -> None:
        program = f"open({str(self.trace)!r}, 'a').write(__name__ + ' ')\nraise SystemExit('planted')\n"
        for name in PLANTED - without:
            (self.path / f"{name}.py").write_text(program)

    def environment(self) -> dict[str, str]:
        environment = {**os.environ, "DISAMBIG_TELL_COMPILING": "0"}
        for name in ("PYTHONSAFEPATH", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT"):
            environment.pop(name, None)  # a setting that protects the tests does not protect users
        return environment

    def begin(self, *arguments: str, python: tuple[str, ...] = (), **streams) -> subprocess.Popen:
        command = [sys.executable, *(python or (str(self.script),)), *arguments]
        return subprocess.Popen(command, cwd=self.path, env=self.environment(), **streams)

    def run(self, *arguments: str, python: tuple[str, ...] = ()) -> str:
        """Run a command, which must succeed; return its standard output."""
        pipe = subprocess.PIPE
        with self.begin(*arguments, python=python, stdout=pipe, stderr=pipe, text=True) as process:
            written, problems = process.communicate(timeout=300)
        self.check()
        assert process.returncode in (0, 1), problems
        return written

    def check(self) -> None:
        assert not self.trace.exists(), f"imported from the current directory: {self.trace.read_text()}"
        assert not (self.path / "from_the_clone").exists(), "compiled code was kept in a folder of the clone"


@pytest.fixture
def clone(tmp_path) -> Hostile:
    return Hostile(tmp_path)


@pytest.fixture
def planted(clone) -> Hostile:
    clone.plant()
    return clone


def test_files_do_not_replace_the_contents_of_a_pack(clone):
    """The names of the table and the model of words in `disambig_en` could also be paths."""
    usual = here("check", "one.txt", "--format", "json", folder=clone.path).stdout
    words = clone.path / "disambig_en" / "words"
    words.mkdir(parents=True)
    (words / "ngrams.counts").write_bytes(b"not a table")
    assert clone.run("check", "one.txt", "--format", "json") == usual
    shutil.rmtree(clone.path / "disambig_en")
    (clone.path / "disambig_en").write_bytes(b"not a table")
    assert clone.run("check", "one.txt", "--format", "json") == usual


def counted(clone: Hostile, *python: str) -> None:
    built = ("counts", "build", "one.txt", "two.txt", "--output", "my.counts", "--workers", "2", "--quiet")
    clone.run(*built, python=python)
    output = clone.run("counts", "query", "my.counts", "a quite place", python=python)
    assert re.search(r"\b2\b", output), output


def annotated(clone: Hostile, output: str, *options: str) -> None:
    clone.run("annotate", "one.txt", "two.txt", "--output", output, "--workers", "2", *options)
    written = "".join(path.read_text() for path in (clone.path / output).glob("part-*.jsonl"))
    rows = [json.loads(line) for line in written.splitlines()]
    assert sorted(row["id"] for row in rows) == ["one.txt", "two.txt"]
    assert all(row["flags"] for row in rows)


def test_counting_by_two_workers(planted):
    counted(planted)


@pytest.mark.slow
def test_annotating_by_two_workers(planted):
    annotated(planted, "out")


@pytest.mark.slow
def test_annotating_by_dask(planted):
    pytest.importorskip("distributed")
    annotated(planted, "out", "--task", "spelling", "--engine", "dask")


@pytest.mark.slow
def test_annotating_by_a_worker_that_may_be_ended(planted):
    annotated(planted, "out", "--task", "spelling", "--timeout", "200")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check one.txt", "plugins", "doctor", "train --example", "reproduce"])
def test_commands_of_one_process(planted, command):
    written = planted.run(*command.split())
    assert written and "evil" not in written


@pytest.mark.slow
def test_training(planted):
    (planted.path / "my.cfg").write_text(planted.run("train", "--example"))
    lines = [f"{word} {end}" for word, ends in ENDS.items() for end in ends]
    (planted.path / "texts.txt").write_text("\n".join(lines * 20) + "\n")
    planted.run("train", "my.cfg", "--text", "texts.txt", "--lines", "--output", "model")
    assert (planted.path / "model").is_dir()


@pytest.mark.slow
def test_reproducing_by_two_workers(planted, tmp_path, monkeypatch):
    site = tmp_path / "site"
    info = site / "paper-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "paper_plugin.py").write_text(EXPERIMENT)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: paper\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[disambig]\npaper = paper_plugin\n")
    usual = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *usual]))
    written = planted.run("reproduce", "paper.table1", "--data", str(tmp_path), "--workers", "2")
    assert re.search(r"one\b.*3", written), written


@pytest.mark.slow
def test_the_server(planted):
    pytest.importorskip("uvicorn")
    pipe = subprocess.PIPE
    with planted.begin("serve", "--port", "0", stderr=pipe, text=True) as process:
        try:
            lines: list[str] = []
            while not (listening := LISTENING.search(lines[-1] if lines else "")):
                lines.append(process.stderr.readline())
                assert lines[-1], lines
            address = f"http://127.0.0.1:{listening[1]}/v2/check"
            with urlopen(address, b"language=en&text=It+was+a+quite+place.", timeout=120) as answer:
                assert json.load(answer)["matches"]
        finally:
            process.kill()
    planted.check()


@pytest.mark.slow
def test_the_language_server(planted):
    pytest.importorskip("pygls")
    pipe = subprocess.PIPE
    process = planted.begin("lsp", stdin=pipe, stdout=pipe)
    with Wire(process.stdout, process.stdin, process) as wire:
        wire.initialize(root=planted.path)
        wire.open("It was a quite place.\n")
        assert wire.diagnostics()["diagnostics"]
        assert wire.end() == 0
    planted.check()


@contextmanager
def probe(folder: Path):
    (folder / "probe_of_modules.py").write_text("import sys\nprint(*sys.modules)\n")
    yield ("-m", "probe_of_modules")
    (folder / "probe_of_modules.py").unlink()


@pytest.mark.slow
def test_python_m_leaves_the_current_directory_as_soon_as_it_can(clone):
    """Modules that Python imports before the module given by ``-m`` cannot be protected."""
    with probe(clone.path) as python:
        before = clone.run(python=python)
    clone.plant(without=frozenset(before.split()) | {"disambig"})
    counted(clone, "-m", "disambig")


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info < (3, 11), reason="python -P is there from 3.11 on")
def test_python_safely_m_imports_nothing(planted):
    counted(planted, "-P", "-m", "disambig")


def test_python_m_in_the_folder_of_the_package(tmp_path):
    root = Path(disambig.__file__).parents[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [sys.executable, "-m", "disambig", "--version"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_workers_of_a_script_import_its_neighbours(tmp_path):
    """Workers have the import path of their parent, including the folder of a script and added folders."""
    (tmp_path / "beside.py").write_text(
        "class Doubled:\n"
        "    def start(self):\n        return lambda item, report_progress: 2 * item\n"
        "    def describe(self):\n        return {}\n"
    )
    (tmp_path / "program.py").write_text(
        "from disambig.jobs.runners import local_runner\n"
        "from beside import Doubled\n"
        "if __name__ == '__main__':\n"
        "    print(sorted(outcome.result for outcome in local_runner(2).run(Doubled(), [1, 2, 3])))\n"
    )
    # the tests of an installed distribution set it for all commands, but a user's program starts without it
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, env=env
    )
    assert done.stdout == "[2, 4, 6]\n", done.stderr


def drawn(folder: Path, environment: dict[str, str]) -> bytes:
    program = (
        "from disambig.evaluation.plots import plot_curve\n"
        "points = [{'size': n, 'accuracy': 0.5 + n / 100, 'spread': 0.1} for n in (1, 10)]\n"
        "curve = {'points': points, 'baseline_is': 'SumLM', 'baseline': 0.6, 'majority': 0.5, 'task': 't'}\n"
        "plot_curve(curve, 'curve.svg')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    return (folder / "curve.svg").read_bytes()


def test_a_plot_takes_no_settings_from_the_current_directory(clone, tmp_path):
    pytest.importorskip("matplotlib")
    assert drawn(clone.path, clone.environment()) == drawn(tmp_path, clone.environment())


NUMBA: Callable[[str], str] = """
import yaml
{first}
from disambig.jit import compiled
import numba

@compiled
def twice(number):
    return 2 * number

assert twice(3) == 6
assert yaml.safe_load("a: 1") == {{"a": 1}}
print(numba.config.DISABLE_JIT, numba.config.CACHE_DIR or None)
""".format


@pytest.mark.parametrize(
    ("first", "printed"), [("", "0 None"), ("import numba", "1 from_the_clone")], ids=["first", "second"]
)
def test_numba_takes_no_settings_from_the_current_directory(clone, first, printed):
    """A program that imports Numba itself decides which settings apply."""
    pytest.importorskip("yaml")
    (clone.script.parent / "program.py").write_text(NUMBA(first=first))
    done = clone.begin(python=(str(clone.script.with_name("program.py")),), stdout=subprocess.PIPE, text=True)
    assert done.communicate(timeout=300)[0].strip() == printed
