from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import types
from importlib.metadata import EntryPoint

import pytest
import typer

from disambig.cli import main
from disambig.errors import UserError


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main.run(list(arguments))
    return end.value.code


@pytest.fixture
def command(monkeypatch):
    """A command ``train`` that raises what it is given."""

    def make(problem: BaseException | None) -> None:
        module = types.ModuleType("disambig.cli.commands.train")
        module.app = typer.Typer()

        @module.app.command()
        def train() -> None:
            if problem is not None:
                raise problem

        monkeypatch.setitem(sys.modules, "disambig.cli.commands.train", module)

    return make


def test_help_lists_every_command_with_its_line(capsys):
    assert call("--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    for name, summary in main.COMMANDS.items():
        assert f"{name} {summary}" in shown
    assert call() == 0


def test_each_line_of_help_is_the_first_of_its_command(capsys):
    for name in ("annotate", "explain", "plugins"):
        assert call(name, "--help") == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert f"Usage: disambig {name} [OPTIONS]" in shown
        first = main.COMMANDS[name].rstrip(".").split(":")[0]
        assert first in shown


def test_help_imports_no_command_and_nothing_heavy():
    code = (
        "import sys; sys.argv = ['disambig', '--help']\n"
        "from disambig.cli import main\n"
        "try: main.run()\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    heavy = {"numpy", "spacy", "numba", "sklearn", "scipy", "rich", "tqdm", "multiprocessing"}
    assert not loaded & heavy
    assert not [
        name for name in loaded if name.startswith("disambig.cli.") and name.split(".")[2] in main.COMMANDS
    ]


def test_version(capsys):
    from disambig import __version__

    assert call("--version") == 0
    assert capsys.readouterr().out == f"disambig {__version__}\n"


def test_what_a_user_can_put_right_is_one_line(capsys, command):
    command(UserError("D300", path="a\nb"))
    assert call("train") == 2
    assert capsys.readouterr() == ("", "disambig: [D300] a\\x0ab: no such file or directory\n")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["anotate"], "Did you mean 'annotate'?; see `disambig --help`"),
        (["plugins", "--jsn"], "--jsn"),
        (["annotate"], "see `disambig annotate --help`"),
        (["annotate", "--workers", "0", "x"], "--workers"),
    ],
)
def test_wrong_usage_is_one_line(capsys, arguments, part):
    assert call(*arguments) == 2
    out, err = capsys.readouterr()
    assert err.startswith("disambig: [D600] ")
    assert err.count("\n") == 1
    assert part in err
    assert out == ""


def test_an_interrupt_has_its_own_status(command):
    command(KeyboardInterrupt())
    assert call("train") == 130


def test_a_handler_of_the_process_stays(command, monkeypatch):
    def own(*_):
        pass

    before = signal.signal(signal.SIGTERM, own)
    try:
        command(None)
        assert call("train") == 0
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)
    assert call("train") == 0
    assert signal.getsignal(signal.SIGTERM) is before
    thread = threading.Thread(target=call, args=("train",))
    thread.start()
    thread.join()


def test_a_bug_shows_its_traceback(command):
    command(ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError):
        main.run(["train"])


def test_plugins_lists_broken_ones_and_goes_on(capsys, monkeypatch):
    from disambig import registry as plugins

    monkeypatch.setattr(
        plugins, "_entry_points", lambda: [EntryPoint("broken", "no_such_module_here", "disambig")]
    )
    plugins.reload_plugins()
    try:
        assert call("plugins") == 1
        out, _ = capsys.readouterr()
        assert "broken" in out
        assert "BROKEN: ModuleNotFoundError" in out
        assert call("plugins", "--json") == 1
        (row,) = json.loads(capsys.readouterr().out)
        assert row["name"] == "broken"
        assert "no_such_module_here" in row["error"]
    finally:
        monkeypatch.undo()
        plugins.reload_plugins()


def test_a_reader_who_goes_away_makes_no_noise():
    done = subprocess.run(
        f'"{sys.executable}" -m disambig.cli.main --help | true; exit "${{PIPESTATUS[0]}}"',
        shell=True,
        check=False,
        executable="/bin/bash",
        capture_output=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert done.stderr == b""


def test_a_rate_that_is_none_is_refused_under_its_own_name(capsys):
    assert call("evaluate", "spelling", "--text", "missing.txt", "--rate", "-1") == 2
    shown = capsys.readouterr().err
    assert shown.startswith("disambig: [D602] --rate -1.0:")
    assert shown.count("\n") == 1


TERMINATED_TWICE = """
import atexit, os, signal, sys
import disambig.cli.main as main

def again(*_):
    os.kill(os.getpid(), signal.SIGTERM)
    return 0

main._run = again
if sys.argv[1] == "closing":
    main._close_stdout = again
atexit.register(again)
main.run([])
"""


@pytest.mark.skipif(os.name != "posix", reason="no signals")
@pytest.mark.parametrize("where", ["closing", "ending"])
def test_terminated_once_more_while_it_ends(where):
    done = subprocess.run([sys.executable, "-c", TERMINATED_TWICE, where], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (143, b"")
