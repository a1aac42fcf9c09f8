"""Commands that plugins bring: listed without being imported, loaded when called, never in the core's way."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

from disambig import registry
from disambig.cli import main
from disambig.cli.names import COMMANDS

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

    yield write
    for name in set(sys.modules) - before:
        if name.endswith(("_plugin", "_commands")):
            del sys.modules[name]


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main.run([*arguments])
    return (end.value.code, *capsys.readouterr())


def test_a_command_is_listed_with_its_line_and_imported_when_called(write, load_with, capsys):
    write("good_plugin", '"good.shout_out.v1", "good_commands:shout", "Say it loudly."')
    write("good_commands", code=COMMAND)
    load_with(good="good_plugin")
    status, out, err = call(capsys, "--help")
    assert (status, err) == (0, "")
    lines = out.partition("Commands:\n")[2].splitlines()
    assert ["shout-out", "Say", "it", "loudly."] in [line.split() for line in lines]
    assert call(capsys, "check", "--help")[0] == 0
    assert "good_commands" not in sys.modules
    assert call(capsys, "shout-out", "hey", "--times", "2") == (0, "HEY HEY\n", "")
    status, out, err = call(capsys, "shout-out", "--help")
    assert "Usage: disambig shout-out [OPTIONS] WORD" in out and "--times TIMES" in out
    assert "Say a word loudly." in out and "completion" not in out
    assert call(capsys, "shout-out", "3")[::2] == (
        2,
        "disambig: [D307] the word: contains no word to annotate\n",
    )
    status, out, err = call(capsys, "shout-out", "--loud")
    assert status == 2 and "[D600]" in err and "see `disambig shout-out --help`" in err
    assert "Did you mean 'shout-out'?" in call(capsys, "shout-uot")[2]


def test_a_typer_may_hold_several(write, load_with, capsys):
    write("good_plugin", '"good.voice.v1", "good_commands:app", "Speak."')
    write("good_commands", code=COMMAND)
    load_with(good="good_plugin")
    assert call(capsys, "voice", "loud", "a")[:2] == (0, "A\n")
    assert call(capsys, "voice", "soft")[:2] == (0, "hush\n")


def test_plugins_lists_commands(write, load_with, capsys):
    write("good_plugin", '"good.shout.v1", "good_commands:shout", "Say it loudly."')
    write("good_commands", code=COMMAND)
    load_with(good="good_plugin")
    assert "  command: good.shout.v1\n" in call(capsys, "plugins")[1]
    assert "    disambig shout: Say it loudly.\n" in call(capsys, "plugins", "good")[1]
    assert "disambig shout: Say it loudly.\n" in call(capsys, "plugins", "good.shout.v1")[1]
    (found,) = [each for each in json.loads(call(capsys, "plugins", "--json")[1]) if each["name"] == "good"]
    assert found["registered"] == [["commands", "good.shout.v1"]]


BROKEN = {
    "no_such_module_at_all:shout": "No module named",
    "bad_commands:nothing": "AttributeError",
    "bad_commands:number": "is not a class or function but int",
    "bad_commands:empty": "RuntimeError",
}


@pytest.mark.parametrize("place", BROKEN)
def test_a_broken_command_stops_no_other(place, write, load_with, capsys):
    write("bad_plugin", f'"bad.shout.v1", {place!r}, "Say it loudly."')
    write("bad_commands", code=COMMAND)
    load_with(bad="bad_plugin")
    assert call(capsys, "--help")[0] == 0
    status, out, err = call(capsys, "shout", "a")
    assert (status, out) == (2, "")
    assert err.startswith("disambig: [D007] command 'bad.shout.v1' of plugin 'bad'") and BROKEN[place] in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("code", ["1 / 0", "import sys; sys.exit(3)", "def (:", HEAD + "    raise KeyError"])
def test_a_broken_plugin_takes_no_help_and_no_command_away(code, write, load_with, capsys):
    write("broken_plugin", code=code)
    write("good_plugin", '"good.shout.v1", "good_commands:shout", "Say it loudly."')
    write("good_commands", code=COMMAND)
    load_with(broken="broken_plugin", good="good_plugin")
    status, out, _ = call(capsys, "--help")
    assert status == 0 and all(f"\n  {name} " in out for name in [*COMMANDS, "shout"])
    assert call(capsys, "shout", "a")[:2] == (0, "A\n")


def test_names_of_the_core_and_of_others_are_left_out_alone(write, load_with, capsys, caplog):
    """The rest of the plugin stays: that another has the same idea is no fault of it."""
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
    write("good_commands", code=COMMAND)
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
    status, out, _ = call(capsys, "plugins", "b")
    assert status == 0 and "WARNING: command 'shout' is ignored: a already has" in out
    out = call(capsys, "--help")[1]
    assert "The first." in out and "Its own." in out
    assert not any(said in out for said in ("The second.", "Takes the core's.", "again"))


WRONG = {
    '"bad.Shout.v1", "x:y", "Loud."': "[D016]",
    '"bad.shout", "x:y", "Loud."': "[D004]",
    '"bad.more.shout.v1", "x:y", "Loud."': "[D016]",
    '"bad.shout.v1", "x:y"': "summary",
    '"bad.shout.v1", "x:y", ""': "[D017]",
    '"bad.shout.v1", "x:y", "Two\\nlines."': "[D017]",
    '"bad.shout.v1", "x:y", 3': "[D017]",
    '"good.shout.v1", "x:y", "Loud."': "[D006]",
    '"bad.shout.v1", "somewhere", "Loud."': "[D011]",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_is_no_command_is_said(line, write, load_with, capsys):
    write("bad_plugin", line)
    load_with(bad="bad_plugin")
    status, out, _ = call(capsys, "plugins", "bad")
    assert status == 1 and WRONG[line] in out, out


def test_other_hooks_take_no_line_of_help(write, load_with):
    code = HEAD.replace("commands", "learners") + '    register("bad.L.v1", dict, "Learns.")\n'
    write("bad_plugin", code=code)
    (report,) = [each for each in load_with(bad="bad_plugin") if each.name == "bad"]
    assert "TypeError" in report.error


def test_commands_of_the_core_do_without_plugins():
    code = (
        "from disambig.cli import main\nimport sys\n"
        "try: main.run(['new-plugin', '--help'])\nexcept SystemExit: pass\n"
        "assert 'pluggy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
