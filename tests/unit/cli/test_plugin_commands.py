"""Commands of plugins, and what ``disambig plugins`` shows of entries."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from disambig import registry
from disambig.cli import main
from disambig.cli.commands.plugins import entry_lines, format_parameters
from disambig.cli.names import COMMANDS
from disambig.registry import Entry

HEAD = "from disambig.api import hookimpl\n@hookimpl\ndef disambig_register_commands(register):\n"
COMMAND = """
import typer
from disambig.errors import UserError

def shout(word: str, times: int = 1) -> None:
    '''Say a word loudly.'''
    if not word.isalpha():
        raise UserError("D307", what="the word")
    typer.echo(" ".join([word.upper()] * times))

app = typer.Typer()
app.command("loud")(shout)
app.command("soft")(lambda: typer.echo("hush"))
number = 3
empty = typer.Typer()
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write modules that can be imported in this test only."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def write(name, *lines, code=""):
        text = HEAD + "".join(f"    register({line})\n" for line in lines) if lines else code
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf8")

    write("good_commands", code=COMMAND)
    yield write
    for name in set(sys.modules) - before:
        if name.endswith(("_plugin", "_commands")):
            del sys.modules[name]


def run_and_read(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main.run([*arguments])
    return (end.value.code, *capsys.readouterr())


def test_a_command_is_imported_when_it_is_called(write, load_with, capsys):
    write("good_plugin", '"good.shout_out.v1", "good_commands:shout", "Say it loudly."')
    load_with(good="good_plugin")
    status, out, err = run_and_read(capsys, "--help")
    assert (status, err) == (0, "")
    lines = out.partition("Commands:\n")[2].splitlines()
    assert ["shout-out", "Say", "it", "loudly."] in [line.split() for line in lines]
    assert run_and_read(capsys, "check", "--help")[0] == 0
    assert "good_commands" not in sys.modules
    assert run_and_read(capsys, "shout-out", "hey", "--times", "2") == (0, "HEY HEY\n", "")
    status, out, err = run_and_read(capsys, "shout-out", "--help")
    assert "Usage: disambig shout-out [OPTIONS] WORD" in out and "--times TIMES" in out
    assert "Say a word loudly." in out and "completion" not in out
    message = "disambig: [D307] the word: contains no word to annotate\n"
    assert run_and_read(capsys, "shout-out", "3") == (2, "", message)
    status, out, err = run_and_read(capsys, "shout-out", "--loud")
    assert status == 2 and "[D600]" in err and "see `disambig shout-out --help`" in err
    assert "Did you mean 'shout-out'?" in run_and_read(capsys, "shout-uot")[2]


def test_an_app_of_several_commands(write, load_with, capsys):
    write("good_plugin", '"good.voice.v1", "good_commands:app", "Speak."')
    load_with(good="good_plugin")
    assert run_and_read(capsys, "voice", "loud", "a")[:2] == (0, "A\n")
    assert run_and_read(capsys, "voice", "soft")[:2] == (0, "hush\n")


def test_plugins_lists_commands(write, load_with, capsys):
    write("good_plugin", '"good.shout.v1", "good_commands:shout", "Say it loudly."')
    load_with(good="good_plugin")
    assert "  command: good.shout.v1\n" in run_and_read(capsys, "plugins")[1]
    assert "    disambig shout: Say it loudly.\n" in run_and_read(capsys, "plugins", "good")[1]
    assert "disambig shout: Say it loudly.\n" in run_and_read(capsys, "plugins", "good.shout.v1")[1]
    listed = {item["name"]: item for item in json.loads(run_and_read(capsys, "plugins", "--json")[1])}
    assert listed["good"]["registered"] == [["commands", "good.shout.v1"]]


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("no_such_module_at_all:shout", "No module named"),
        ("good_commands:nothing", "AttributeError"),
        ("good_commands:number", "is not a class or function but int"),
        ("good_commands:empty", "RuntimeError"),
    ],
)
def test_a_broken_command_stops_no_other(place, problem, write, load_with, capsys):
    write("bad_plugin", f'"bad.shout.v1", {place!r}, "Say it loudly."')
    load_with(bad="bad_plugin")
    assert run_and_read(capsys, "--help")[0] == 0
    status, out, err = run_and_read(capsys, "shout", "a")
    assert (status, out) == (2, "")
    assert err.startswith("disambig: [D007] command 'bad.shout.v1' of plugin 'bad'") and problem in err
    assert err.count("\n") == 1
    for name in ("bad", "bad.shout.v1") if problem != "RuntimeError" else ():  # it is raised when called
        status, out, _ = run_and_read(capsys, "plugins", name)
        assert status == 1 and "BROKEN: [D007]" in out


@pytest.mark.parametrize("code", ["1 / 0", "import sys; sys.exit(3)", "def (:", HEAD + "    raise KeyError"])
def test_a_broken_plugin_does_not_break_help(code, write, load_with, capsys):
    write("broken_plugin", code=code)
    write("good_plugin", '"good.shout.v1", "good_commands:shout", "Say it loudly."')
    load_with(broken="broken_plugin", good="good_plugin")
    status, out, _ = run_and_read(capsys, "--help")
    assert status == 0 and all(f"\n  {name} " in out for name in [*COMMANDS, "shout"])
    assert run_and_read(capsys, "shout", "a")[:2] == (0, "A\n")


def test_taken_names_are_ignored(write, load_with, capsys, caplog):
    """The other entries of the plugin are kept: it is not at fault if another plugin uses the name."""
    write("a_plugin", '"a.shout.v1", "good_commands:shout", "The first."')
    write(
        "b_plugin",
        '"b.shout.v1", "good_commands:shout", "The second."',
        '"b.train.v1", "good_commands:shout", "Takes the core\'s."',
        '"b.new_plugin.v2", "good_commands:shout", "Takes the core\'s."',
        '"b.whisper.v1", "good_commands:shout", "Its own."',
        '"b.whisper.v2", "good_commands:shout", "Its own again."',
        '"b.hum.v1", "good_commands:shout", "Hum.")\n@hookimpl\ndef disambig_register_learners(register):\n'
        '    register("b.L.v1", dict',
    )
    with caplog.at_level("WARNING", logger="disambig.registry"):
        reports = {report.name: report for report in load_with(b="b_plugin", a="a_plugin")}
    assert not caplog.text  # not at every command: `disambig plugins` says it
    assert reports["a"].warning is None
    assert reports["b"].error is None
    kept = {("commands", "b.whisper.v1"), ("commands", "b.hum.v1"), ("learners", "b.L.v1")}
    assert set(reports["b"].registered) == kept
    assert reports["b"].warning.split("; ") == [
        "command 'shout' is ignored: a already has a command of that name",
        "command 'train' is ignored: core already has a command of that name",
        "command 'new-plugin' is ignored: core already has a command of that name",
        "command 'whisper' is ignored: b already has a command of that name",
    ]
    assert "b.train.v1" not in registry.entries("commands")
    status, out, _ = run_and_read(capsys, "plugins", "b")
    assert status == 0 and "WARNING: command 'shout' is ignored: a already has" in out
    out = run_and_read(capsys, "--help")[1]
    assert "The first." in out and "Its own." in out
    assert not any(expected in out for expected in ("The second.", "Takes the core's.", "again"))


WRONG = {
    '"bad.Shout.v1", "x:y", "Loud."': "[D016]",
    '"bad.shout", "x:y", "Loud."': "[D004]",
    '"bad.more.shout.v1", "x:y", "Loud."': "[D016]",
    '"bad.shout.v1", "x:y"': "[D017]",
    '"bad.shout.v1", "x:y", ""': "[D017]",
    '"bad.shout.v1", "x:y", "Two\\nlines."': "[D017]",
    '"bad.shout.v1", "x:y", 3': "[D017]",
    '"good.shout.v1", "x:y", "Loud."': "[D006]",
    '"bad.shout.v1", "somewhere", "Loud."': "[D011]",
}


@pytest.mark.parametrize("line", WRONG)
def test_invalid_commands_are_reported(line, write, load_with, capsys):
    write("bad_plugin", line)
    load_with(bad="bad_plugin")
    status, out, _ = run_and_read(capsys, "plugins", "bad")
    assert status == 1 and WRONG[line] in out, out


def test_only_commands_have_a_summary(write, load_with):
    code = HEAD.replace("commands", "learners") + '    register("bad.L.v1", dict, "Learns.")\n'
    write("bad_plugin", code=code)
    (report,) = [item for item in load_with(bad="bad_plugin") if item.name == "bad"]
    assert "TypeError" in report.error


def test_commands_of_the_core_do_not_load_plugins():
    code = (
        "from disambig.cli import main\nimport sys\n"
        "try: main.run(['new-plugin', '--help'])\nexcept SystemExit: pass\n"
        "assert 'pluggy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@dataclass
class ToyLearner:
    """Learn as in Someone et al. 2006. Then forget.

    The second paragraph.
    """

    words: Sequence[str]
    C: float | None = None
    more: list[int] = field(default_factory=lambda: [3])


def by_function(rate=0.5, *, seed: int = 3, **rest):
    return rate, seed, rest


def test_entry_lines_and_parameters():
    settings = ["words: Sequence[str]", "C: float | None = None", "more: list[int] = [3]"]
    assert format_parameters(ToyLearner) == settings
    assert format_parameters(by_function) == ["rate=0.5", "seed: int = 3", "**rest"]
    part = Entry("learners", "toys.Toy.v1", "toys", ToyLearner)
    first, *parameters = entry_lines(part)
    assert first == "Learn as in Someone et al. 2006."
    assert parameters == [f"  {parameter}" for parameter in format_parameters(ToyLearner)]
    full = list(entry_lines(part, full=True))
    assert full[:4] == ["Learn as in Someone et al. 2006. Then forget.", "", "The second paragraph.", ""]
    assert full[4:] == parameters
    assert next(entry_lines(Entry("learners", "toys.F.v1", "toys", by_function))) == "  rate=0.5"
    (broken,) = entry_lines(Entry("learners", "toys.B.v1", "toys", "no_such_module_anywhere:B"))
    assert broken.startswith("BROKEN: [D007]")


def test_showing_a_plugin_and_an_entry(load_with, capsys):
    load_with(toys="toy_plugin")
    status, out, _ = run_and_read(capsys, "plugins", "toys")
    assert status == 0 and "core" not in out
    assert "  task: toys.Pairs.v1\n    Decide between words of a pair, wherever one stands.\n" in out
    assert "      name: str = 'pairs'\n" in out
    status, out, _ = run_and_read(capsys, "plugins", "toys.Pairs.v1")
    assert status == 0 and out.startswith("task toys.Pairs.v1 of toys, ")
    status, _, err = run_and_read(capsys, "plugins", "cor")
    assert status == 2 and "[D010] no plugin or entry 'cor' is installed; available: core, " in err
    assert len(err.splitlines()) == 1 and len(err) < 200
