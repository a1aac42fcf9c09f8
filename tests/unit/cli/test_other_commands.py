"""``explain``, commands of plugins, ``rules``; control characters never reach a terminal."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from commands import here, process
from fake_models import annotate_texts, install_fakes
from hypothesis import given, strategies as st
from made_decisions import make_decisions

from disambig import registry
from disambig.checking import FORMATS, Flag, flag_line, left_flags_line
from disambig.cli import COMMANDS, main
from disambig.cli.commands.explain import Console, explain_text
from disambig.cli.commands.plugins import entry_lines, format_parameters
from disambig.cli.main import fail
from disambig.cli.output import StandardOutput, say
from disambig.data import CandidateFinder, Group, Instances
from disambig.decision import Labels, label_softmax
from disambig.explain import Contribution, verdict
from disambig.formats import AnnotatedDocument, Document, make_format
from disambig.formatting import escape_control_chars
from disambig.packs import available
from disambig.registry import Entry
from disambig.rules import CATALOGUE
from disambig.text import Words
from disambig.types import Decides

JUDGE = SimpleNamespace(flags_per_1000=1.0, limit=lambda rate: 0.169)


@dataclass(frozen=True)
class ExplainableModel:
    """The fake annotator as a model; leaves protected words alone."""

    task: SimpleNamespace
    name: str = "fake/spelling"
    version: str = "0.0.1"
    flags_per_1000: float = 1.0
    tokenisation: object = None
    judge: object = field(default_factory=lambda: JUDGE)
    extractors: tuple = (SimpleNamespace(table="a table of counts"),)

    def instances(self, view):
        none = np.empty(
            0, np.int32
        )  # asked only for the mistakes that the task knows by a rule: there are none
        return Instances(none.astype(np.int64), none, none, none)

    def decide(self, view, *, flags_per_1000=None):
        (result,) = annotate_texts(view.texts, [self.task.name])
        protected = view.layers.get("protected")
        if protected is None:
            return result
        kept = [i for i, start in enumerate(result.starts) if not protected[view.starts == start].any()]
        parts = [result.slice(i, i + 1) for i in kept]
        return parts[0] if parts else result.slice(0, 0)


REASONS = [
    Contribution("quiet", "a quiet [place]", 7.1, 1200, 0.5, 1.5),
    Contribution("quite", "a quite [place]", 1.4, 3, 0.5, -0.25),
    Contribution("quite", "bias", 1.0, None, 0.5, 0.125),
    Contribution("quite", "unheard of", 0.1, 1, 0.0, 0.0),
    Contribution("quiet", "quiet [place] <S>", -3.0, 0, 0.25, -0.75, 6),
    Contribution("quite", "quite [place] <S>", 0.0, 0, 0.25, 0.0, None),
]


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setattr("disambig.explain.account.explain_decision", lambda model, view, index: REASONS)
    return ExplainableModel(SimpleNamespace(name="spelling", groups=()), tokenisation=Words())


def test_candidates_evidence_and_protected_words_are_shown(capsys, model):
    explain_text('We saw a quite place. He said "it was a quite place" to [b] us.', model, console=Console())
    out = capsys.readouterr().out
    assert "spelling (fake/spelling 0.0.1, 1 flags per 1,000 words)" in out
    assert "9-14: We saw a [quite] place. He said" in out
    assert "-> quiet" in out
    assert "flagged: probability 0.900 of an error, threshold 0.169; 3 of 14 n-grams" in out
    rows = [" ".join(line.split()) for line in out.splitlines()]
    first = rows.index("quiet a quiet [place] 1,200 +7.100 +0.500 +1.500")
    assert rows[first : first + 8] == [
        "quiet a quiet [place] 1,200 +7.100 +0.500 +1.500",
        "quiet quiet [place] <S> <6 -3.000 +0.250 -0.750",
        "quiet sum: the score +0.750",
        "quite a quite [place] 3 +1.400 +0.500 -0.250",
        "quite bias +1.000 +0.500 +0.125",
        "quite 2 others, 1 of them absent +0.000",
        "quite sum: the score -0.125",
        "count <6: not in the table, which omits rarer n-grams; used as 0 (absence is evidence too)",
    ]
    assert "unheard of" not in out
    assert "protected: quote" in out
    assert "\x1b" not in out


def test_a_text_without_candidates(capsys, model):
    explain_text("Nothing here.", model, console=Console())
    assert "no decision: the text contains no word that this task decides" in capsys.readouterr().out
    explain_text('He said "it was a quite place".', model, console=Console())
    out = capsys.readouterr().out
    assert "no decision: all candidate words are protected" in out and "protected: quote" in out


class LearnsFromMore:
    """A task that learns from "quite", "quiet" and "quit" but decides none of them."""

    name = "spelling"
    groups = (Group("quite", ("quite", "quiet", "quit")),)

    def instances(self, view):
        return self.examples(view).take(np.empty(0, np.int64))

    def examples(self, view):
        return CandidateFinder.from_groups(self.groups).find(view)


def test_candidate_words_that_are_not_decided_are_named(capsys, model):
    silent = replace(model, task=LearnsFromMore())
    explain_text("Quit it. We quit.", silent, console=Console())
    line = 'no decision: "Quit", "quit": no other candidate fits nearly as well, or the task leaves'
    assert line in capsys.readouterr().out
    explain_text('We quit. He said "it was a quite place".', silent, console=Console())
    out = capsys.readouterr().out
    assert 'no decision: "quit": no other' in out and "protected: quote" in out
    for text in ('He said "it was a quite place".', "Read `quite a place`."):
        explain_text(text, silent, console=Console())
        assert "no decision: all candidate words are protected" in capsys.readouterr().out
    explain_text("Read `the place`.", silent, console=Console())
    none = "no decision: the text contains no unprotected word that this task decides"
    assert none in capsys.readouterr().out


@dataclass(frozen=True)
class LabellingModel(ExplainableModel):
    """Treats "quite" and "quiet" as labels of each place where one of them occurs."""

    def with_least_margin(self, least_margin):
        return self

    def decide(self, view, *, flags_per_1000=None):
        (result,) = annotate_texts(view.texts, ["spelling"])
        scores = result.scores.reshape(-1, 2).astype(float)
        chosen, margins, probabilities = self.judge.choose(scores, 0)
        nothing = {"observed": np.full(len(result), -1, np.int32), "flagged": np.zeros(len(result), bool)}
        judged = {"chosen": chosen.astype(np.int32), "margins": margins, "probabilities": probabilities}
        return replace(result, table=(self.group,), **nothing, **judged)

    @property
    def group(self):
        return Group("place", ("quite", "quiet"), glosses=("quite%4:02:00::", ""))

    def candidate_probabilities(self, decisions):
        scores = decisions.scores.reshape(-1, 2).astype(float)
        return label_softmax(self.judge.logits(scores, 0)).ravel()


def shown_labels(capsys, monkeypatch, *, bias, offset, reasons=()):
    monkeypatch.setattr("disambig.explain.account.explain_decision", lambda model, view, index: reasons)
    fitted = Labels(np.ones(1), np.array([bias]), np.array([offset]))
    task = SimpleNamespace(name="spelling", decides=Decides(between="labels"))
    model = LabellingModel(task, tokenisation=Words(), judge=fitted)
    explain_text("A quite place.", model, console=Console())
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_labels_are_ordered_by_probability(capsys, monkeypatch):
    rows = shown_labels(capsys, monkeypatch, bias=(4.0, 0.0), offset=(0.0, 0.0))
    assert "quite, with probability 0.852; 3 of 14 n-grams are in the table" in rows
    head = rows.index("candidate gloss probability score")
    assert rows[head + 1 : head + 3] == ["quite quite%4:02:00:: 0.852 0.000", "quiet 0.148 2.250"]


def test_the_f1_offset_is_part_of_the_probability(capsys, monkeypatch):
    reasons = [Contribution(name, "near", 1.0, None, 0.5, 0.5) for name in ("quiet", "quite")]
    rows = shown_labels(capsys, monkeypatch, bias=(4.0, 0.0), offset=(0.0, 9.0), reasons=reasons)
    assert "quiet, with probability 0.999; 3 of 14 n-grams are in the table" in rows
    assert rows.index("quiet near +1.000 +0.500 +0.500") < rows.index("quite near +1.000 +0.500 +0.500")
    after = rows.index("quiet sum: the score +0.500") + 1  # the fake scores are no sums of these reasons
    assert rows[after : after + 3] == [
        "quiet calibrated score: 1 times +2.250",
        "quiet offset for the best F1 +9.000",
        "quiet sum: decides +11.250",
    ]
    assert "quite bias of the label +4.000" in rows and "quite sum: decides +4.000" in rows


def test_without_counts_there_is_no_column_and_other_scores_have_no_table(capsys, monkeypatch):
    reasons = [Contribution("quite", "near", 1.0, None, 0.5, 0.5)]
    rows = shown_labels(capsys, monkeypatch, bias=(4.0, 0.0), offset=(0.0, 0.0), reasons=reasons)
    assert "candidate n-gram value weight adds" in rows and "quite near +1.000 +0.500 +0.500" in rows
    rows = shown_labels(capsys, monkeypatch, bias=(4.0, 0.0), offset=(0.0, 0.0), reasons=None)
    assert "the scores are not sums of weights: there are no contributions to show" in rows


@pytest.mark.parametrize(
    ("observed", "chosen", "result", "part"),
    [
        (0, 0, 5, "has the highest score"),
        (0, 2, 5, "probability 0.200 of an error is below the threshold 0.300"),
        (0, 1, 5, "toward and towards are variants"),
        (0, 2, 0, "no evidence, none of 14"),
        (-1, 2, 5, "to, with probability 0.200; 5 of 14"),
    ],
)
def test_reasons_without_a_flag(observed, chosen, result, part):
    group = Group("p", ("toward", "towards", "to"), (("toward", "towards"),))
    row = (0, 0, 6, 0, observed, chosen)
    decisions = make_decisions([group], [row], probabilities=0.2, flagged=False, n_hits=result, n_queries=14)
    assert part in verdict(decisions, 0, "toward", threshold=0.3)


@pytest.mark.parametrize(("observed", "flagged"), [(0, False), (0, True), (-1, False)])
def test_evidence_is_not_counted_if_nothing_was_looked_up(observed, flagged):
    group, row = Group("p", ("toward", "to")), (0, 0, 6, 0, observed, 0)
    decisions = make_decisions([group], [row], probabilities=0.2, flagged=flagged, n_hits=0, n_queries=0)
    shown = verdict(decisions, 0, "toward", threshold=0.1, what="features")
    unflagged = "not flagged: the word" if observed == 0 else "toward, with"
    assert shown.startswith("flagged" if flagged else unflagged)
    assert " of 0" not in shown and "evidence" not in shown


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


def test_a_command_is_imported_when_it_is_called(write, load_with):
    write("good_plugin", '"good.shout_out.v1", "good_commands:shout", "Say it loudly."')
    load_with(good="good_plugin")
    status, out, err = here("--help")
    assert (status, err) == (0, "")
    lines = out.partition("Commands:\n")[2].splitlines()
    assert ["shout-out", "Say", "it", "loudly."] in [line.split() for line in lines]
    assert here("check", "--help")[0] == 0
    assert "good_commands" not in sys.modules
    assert here("shout-out", "hey", "--times", "2") == (0, "HEY HEY\n", "")
    status, out, err = here("shout-out", "--help")
    assert "Usage: disambig shout-out [OPTIONS] WORD" in out and "--times TIMES" in out
    assert "Say a word loudly." in out and "completion" not in out
    message = "disambig: [D307] the word: contains no word to annotate\n"
    assert here("shout-out", "3") == (2, "", message)
    status, out, err = here("shout-out", "--loud")
    assert status == 2 and "[D600]" in err and "see `disambig shout-out --help`" in err
    assert "see `disambig shout-out --help`" in here("shout-out", "hey", "--times")[2]
    assert "Did you mean 'shout-out'?" in here("shout-uot")[2]


def test_an_app_of_several_commands(write, load_with):
    write("good_plugin", '"good.voice.v1", "good_commands:app", "Speak."')
    load_with(good="good_plugin")
    assert here("voice", "loud", "a")[:2] == (0, "A\n")
    assert here("voice", "soft")[:2] == (0, "hush\n")


def test_plugins_lists_commands(write, load_with):
    write("good_plugin", '"good.shout.v1", "good_commands:shout", "Say it loudly."')
    load_with(good="good_plugin")
    assert "  command: good.shout.v1\n" in here("plugins")[1]
    assert "    disambig shout: Say it loudly.\n" in here("plugins", "good")[1]
    assert "disambig shout: Say it loudly.\n" in here("plugins", "good.shout.v1")[1]
    listed = {item["name"]: item for item in json.loads(here("plugins", "--json")[1])}
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
def test_a_broken_command_stops_no_other(place, problem, write, load_with):
    write("bad_plugin", f'"bad.shout.v1", {place!r}, "Say it loudly."')
    load_with(bad="bad_plugin")
    assert here("--help")[0] == 0
    status, out, err = here("shout", "a")
    assert (status, out) == (2, "")
    assert err.startswith("disambig: [D007] command 'bad.shout.v1' of plugin 'bad'") and problem in err
    assert err.count("\n") == 1
    for name in ("bad", "bad.shout.v1") if problem != "RuntimeError" else ():  # it is raised when called
        status, out, _ = here("plugins", name)
        assert status == 1 and "BROKEN: [D007]" in out


@pytest.mark.parametrize("code", ["1 / 0", "import sys; sys.exit(3)", "def (:", HEAD + "    raise KeyError"])
def test_a_broken_plugin_does_not_break_help(code, write, load_with):
    write("broken_plugin", code=code)
    write("good_plugin", '"good.shout.v1", "good_commands:shout", "Say it loudly."')
    load_with(broken="broken_plugin", good="good_plugin")
    status, out, _ = here("--help")
    assert status == 0 and all(f"\n  {name} " in out for name in [*COMMANDS, "shout"])
    assert here("shout", "a")[:2] == (0, "A\n")


def test_taken_names_are_ignored(write, load_with, caplog):
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
    status, out, _ = here("plugins", "b")
    assert status == 0 and "WARNING: command 'shout' is ignored: a already has" in out
    out = here("--help")[1]
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
def test_invalid_commands_are_reported(line, write, load_with):
    write("bad_plugin", line)
    load_with(bad="bad_plugin")
    status, out, _ = here("plugins", "bad")
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
    """Learn as in Someone et al. (2006). Then forget.

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
    assert first == "Learn as in Someone et al. (2006)."
    assert parameters == [f"  {parameter}" for parameter in format_parameters(ToyLearner)]
    full = list(entry_lines(part, full=True))
    assert full[:4] == ["Learn as in Someone et al. (2006). Then forget.", "", "The second paragraph.", ""]
    assert full[4:] == parameters
    assert next(entry_lines(Entry("learners", "toys.F.v1", "toys", by_function))) == "  rate=0.5"
    (broken,) = entry_lines(Entry("learners", "toys.B.v1", "toys", "no_such_module_anywhere:B"))
    assert broken.startswith("BROKEN: [D007]")


def test_showing_a_plugin_and_an_entry(load_with):
    load_with(toys="toy_plugin")
    status, out, _ = here("plugins", "toys")
    assert status == 0 and "core" not in out
    assert "  task: toys.Pairs.v1\n    Decide between words of a pair, wherever one stands.\n" in out
    assert "      name: str = 'pairs'\n" in out
    assert here("plugins", "toy_plugin")[:2] == (status, out)  # the package, as the name of its folder
    status, out, _ = here("plugins", "toys.Pairs.v1")
    assert status == 0 and out.startswith("task toys.Pairs.v1 of toys, ")
    status, _, err = here("plugins", "cor")
    assert status == 2 and "[D010] no plugin or entry 'cor' is installed; available: core, " in err
    assert len(err.splitlines()) == 1 and len(err) < 200


TEXT = "It depends of the weather, and its hard to find a quite place. I ate a apple.\n"


def test_rules_are_listed_and_explained():
    done = here("rules")
    assert (done.returncode, done.stderr) == (0, "")
    listed = [line.split()[0] for line in done.stdout.splitlines()]
    assert listed == sorted(listed) and {rule.name for rule in CATALOGUE} <= set(listed)
    assert "a-an " in done.stdout and " % right)" in done.stdout
    done = here("rules", "a-an")
    assert done.returncode == 0
    assert "wrong: I ate a apple." in done.stdout and "right: I ate an apple." in done.stdout
    assert "disambig: ignore-next-line[a-an]" in done.stdout
    done = here("rules", "agrement")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("disambig: [D519] unknown rule 'agrement'; available: agreement, ")
    assert done.stderr.endswith("; see `disambig rules`\n")


def test_rules_as_json():
    listed = {item["name"]: item for item in json.loads(here("rules", "--json").stdout)}
    assert 0 < listed["a-an"]["share"] < 1 and listed["extra-word"]["share"] is None
    (alone,) = json.loads(here("rules", "doubled-word", "--json").stdout)
    assert alone == listed["doubled-word"]
    assert alone["examples"] == [{"wrong": "We saw the the cat.", "right": "We saw the cat."}]


needs_pack = pytest.mark.skipif("spelling" not in available(), reason="needs the English pack")


@needs_pack
@pytest.mark.parametrize(
    ("options", "settings", "rules"),
    [
        ((), "", ["wrong-preposition", "confused-words", "confused-words", "a-an"]),
        (("--rule", "a-an", "--rule", "wrong-preposition"), "", ["wrong-preposition", "a-an"]),
        (("--ignore-rule", "confused-words"), "", ["wrong-preposition", "a-an"]),
        ((), 'rules = ["confused-words"]', ["confused-words", "confused-words"]),
        ((), 'ignore_rules = ["confused-words", "a-an"]', ["wrong-preposition"]),
        (("--ignore-rule", "a-an"), 'ignore_rules = ["confused-words"]', ["wrong-preposition"]),
    ],
)
def test_rules_are_shown_and_hidden(tmp_path, options, settings, rules):
    (tmp_path / "notes.md").write_text(TEXT)
    (tmp_path / "disambig.toml").write_text(settings)
    done = here("check", "notes.md", "--format", "jsonl", "-q", *options, folder=tmp_path)
    assert [json.loads(line)["rule"] for line in done.stdout.splitlines()] == rules, done.stderr


@needs_pack
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('ignore_rules = ["articel"]',
         r"\[D519\] \S+disambig.toml, ignore_rules: unknown rule 'articel'; .*: article"),
        ('[overrides."*.md"]\nrules = ["articel"]', r"\[D519\] \S+disambig.toml, \*.md, rules: unknown rule"),
        ('tasks = ["speling"]',
         r"\[D404\] .* in \S+disambig.toml, `tasks` .*; give a directory in `models` or one "
         r"of spelling, (?!.*\b(it|tag)\b)"),
        ("flags_per_1000 = { speling = 1 }", r"\[D950\] \S+disambig.toml, flags_per_1000: no .* 'speling'"),
        ('[overrides."*.md"]\nflags_per_1000 = { it = 1 }', r"\[D950\] \S+.toml, \*.md, flags_per_1000: no"),
        ('tasks = ["preposition"]\nsets = ["then/than"]', r"\[D322\] \S+disambig.toml, sets: none of"),
        ('ignore_files = ["words.txt"]', r"\[D974\] \S+words.txt does not exist; .*.toml, ignore_files"),
        ('sets_files = ["sets.txt"]', r"\[D974\] \S+sets.txt does not exist; .*disambig.toml, sets_files"),
        ('models = ["model"]', r"\[D974\] \S+model does not exist; it is named in \S+disambig.toml, models"),
        ('baseline = "old.json"', r"\[D974\] \S+old.json does not exist; .*, baseline; --write-baseline"),
    ],
)  # fmt: skip
def test_unknown_names_in_settings_are_reported_with_the_file(tmp_path, settings, message):
    (tmp_path / "disambig.toml").write_text(f"{settings}\n")
    (tmp_path / "notes.md").write_text(TEXT)
    done = here("check", "notes.md", folder=tmp_path)
    assert done.returncode == 2 and re.search(message, done.stderr), done.stderr


@needs_pack
def test_unknown_tasks_are_reported_with_those_that_correct_words(tmp_path):
    (tmp_path / "notes.md").write_text(TEXT)
    done = here("check", "notes.md", "--task", "speling", folder=tmp_path)
    assert done.returncode == 2 and re.search(r"D404\].*or one of spelling, (?!.*\b(it|tag)\b)", done.stderr)


@needs_pack
def test_a_comment_silences_a_rule(tmp_path):
    silent = "<!-- disambig: ignore-next-line[a-an, confused-words] -->\n"
    (tmp_path / "notes.md").write_text(f"{silent}{TEXT}")
    done = here("check", "notes.md", folder=tmp_path)
    assert [line.split(" (")[0] for line in done.stdout.splitlines()] == ["notes.md:2:12: of -> on"]
    assert "D960" not in done.stderr
    (tmp_path / "notes.md").write_text(f"{TEXT}\n{silent}All is well.\n")
    stderr = here("check", "notes.md", folder=tmp_path).stderr
    assert "[D960] notes.md, line 3: 'ignore-next-line[a-an]' does not suppress any flag" in stderr
    done = here("check", "notes.md", "--rule", "artcle", folder=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("disambig: [D519] unknown rule 'artcle'; ")


@needs_pack
@pytest.mark.parametrize(
    ("expected", "advice"),
    [
        ("ignore-file[agrement]", "there is no rule or task 'agrement': correct it; available: agreement, "),
        ("ignore task:prepositon", "there is no rule or task 'prepositon': correct it; available: "),
        ("ignore agrement", "'agrement' is read as a word: for a rule or task, write ignore[agreement]; "),
        ("ignore horse", "remove it\n"),
    ],
)
def test_a_comment_with_an_unknown_rule_gets_the_nearest_names(tmp_path, expected, advice):
    (tmp_path / "notes.md").write_text(f"<!-- disambig: {expected} -->\n\nAll is well.\n")
    output = here("check", "notes.md", folder=tmp_path).stderr
    assert f"does not suppress any flag; {advice}" in output


@needs_pack
def test_reports_link_to_the_published_rules(tmp_path):
    (tmp_path / "notes.md").write_text("I ate a apple.\n")
    check = ("check", "--format", "github", "notes.md")
    environment = {**os.environ, "DISAMBIG_RULES_PAGE": "https://example.org/rules.html"}
    done = process(*check, folder=tmp_path, env=environment)
    assert "https://example.org/rules.html#a-an" in done.stdout and "pypi" not in done.stdout, done.stderr
    done = here(*check, folder=tmp_path)
    assert done.stdout.endswith(" - disambig rules a-an\n") and "pypi" not in done.stdout


EVIL = "a\x1b[31m\x07\x9b2J\u202eb"
SHOWN = "a\\x1b[31m\\x07\\x9b2J\\u202eb"
RAW = ("\x1b", "\x07", "\x9b", "\u202e")


def is_escaped(text: str) -> bool:
    return SHOWN in text and not any(raw in text for raw in RAW)


def test_control_characters_are_escaped_as_text():
    assert escape_control_chars(EVIL) == SHOWN
    assert escape_control_chars("a\tb\n") == "a\\x09b\\x0a"
    assert escape_control_chars("a\tb\n", lines=True) == "a\tb\n"
    assert escape_control_chars("Zürich, 東京 \U0001f600 e\u0301") == "Zürich, 東京 \U0001f600 e\u0301"
    assert escape_control_chars("\udcff") == "\\udcff"


@given(st.text())
def test_escaping_is_idempotent(text):
    shown = escape_control_chars(text)
    assert escape_control_chars(shown) == shown
    shown.encode()
    assert "\x1b" not in shown


def test_control_characters_in_annotations_flags_messages_and_explanations(capsys, monkeypatch):
    document, decisions = Document("x", "a quite\x1b[2J place", EVIL), annotate_texts(["a quite place"])
    page = make_format("text").encode([AnnotatedDocument(document, tuple(decisions))])
    assert is_escaped(page.decode())
    flag = Flag(0, 1, 1, 1, EVIL, EVIL, "spelling", 0.9, (0, 1, ""))
    assert is_escaped(flag_line(EVIL, flag))
    assert is_escaped(left_flags_line([(flag, "reason")]))
    say(EVIL)
    StandardOutput().note(EVIL + "\n")
    fail(EVIL)
    output = capsys.readouterr().err
    assert output.count(SHOWN) == 3
    assert is_escaped(output)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    console = Console()
    console._console.file = sys.stdout
    console.line(EVIL)
    console.table(SimpleNamespace(head=(EVIL, "b"), rows=[(EVIL, EVIL)], numbers=1))
    assert sys.stdout.getvalue().count(SHOWN) == 4
    assert is_escaped(sys.stdout.getvalue())


def on_a_terminal(*arguments: str, cwd: Path) -> str:
    """Return the output of a command with fake models on a terminal."""
    ours, theirs = pty.openpty()
    parts = []

    def read() -> None:
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(ours, 1 << 16):
                parts.append(part)

    reader = threading.Thread(target=read)
    reader.start()
    with open(theirs, "w", encoding="utf8") as terminal, pytest.MonkeyPatch.context() as patch:
        install_fakes(patch)
        for name in ("stdout", "stderr"):
            patch.setattr(sys, name, terminal)
        patch.chdir(cwd)
        with pytest.raises(SystemExit):
            main.run([*arguments])
    reader.join()
    os.close(ours)
    return b"".join(parts).decode()


@pytest.mark.parametrize("format", ["text", "corrected", "csv", "jsonl", "html"])
def test_annotated_text_on_a_terminal(tmp_path, format):
    name = f"{EVIL}.txt"
    (tmp_path / name).write_text(f"It was a quite place. {EVIL} Then a quite place.")
    output = on_a_terminal("annotate", name, "--format", format, "--quiet", cwd=tmp_path)
    assert "[31m" in output or "u001b" in output or format == "html"
    assert not any(raw in output for raw in ("\x1b[31m", "\x07", "\x9b2J", "\u202e"))


NAMES = (
    "a\n::error::evil\n--- b.md.md",
    "::error::evil.md",
    "##[error]evil.md",
    "a\x1b[31m\x07\x9b2J\u202e\u200f\u2066.md",
    "a\r::stop-commands::x.md",
    "a\udcff\tb.md",
    'a,line=9%0A::b".md',
)
RUNS = (
    *(("--format", name) for name in FORMATS),
    ("--diff",),
    ("--fix", "--no-backup"),
    ("--fix",),
    ("--write-baseline", "known.json"),
    ("--max-flags-per-1000", "1"),
)


@pytest.mark.parametrize("options", RUNS, ids=" ".join)
def test_file_names_in_every_output(tmp_path, monkeypatch, options):
    names = [os.fsencode(name if name.endswith(".md") else f"{name}.md") for name in NAMES]
    for name in names:
        with open(os.fsencode(tmp_path) + b"/" + name, "w") as file:
            file.write(
                "A quite place.\n\nA quite place, where quite\nplace <!-- disambig: ignore-x --> is.\n"
            )
    install_fakes(monkeypatch)
    done = here("check", *options, "--", *map(os.fsdecode, names), folder=tmp_path)  # decodes as UTF-8
    assert done.returncode in (1, 2), done.stderr
    for text in (done.stdout, done.stderr, *(item.read_text("utf8") for item in tmp_path.glob("known.json"))):
        assert escape_control_chars(text, lines=True) == text
        for line in text.splitlines():
            assert not line.lstrip().startswith(("::error", "::stop", "##[")), line
            assert "\t" not in line or options == ("--diff",)
