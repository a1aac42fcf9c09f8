"""Runs of ``disambig check`` in a project: settings, baselines, git, reports, with the fake models."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest
from commands import here, process
from fake_models import annotate_texts

from disambig.checking import FORMATS
from disambig.models import ModelSource

TEXT = "It was a quite place.\n\nI lived there during 1997.\n"


@pytest.fixture
def asked(monkeypatch):
    """What models were asked for."""
    sources = []

    def load(source):
        sources.append(source)
        return annotate_texts

    monkeypatch.setattr(ModelSource, "load_correcting", load)
    return sources


@pytest.fixture
def home(tmp_path, asked):
    write(tmp_path / "note.md", TEXT)
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf8")


def check(home, *arguments, given=""):
    return here("check", *arguments, folder=home, given=given)


def test_settings_hold_for_named_files_and_for_those_of_directories(home, asked):
    settings = '[tool.disambig]\nignore = ["Quite"]\nexclude = ["gen/"]\nflags_per_1000 = {spelling = 0.1}\n'
    write(home / "pyproject.toml", settings)
    write(home / "gen" / "note.md", TEXT)
    done = check(home, ".", "gen/note.md")
    assert done.stdout == "./note.md:3:15: during -> from (preposition)\n"
    assert "gen/note.md: left out by `exclude`" in done.stderr
    assert [source.flags_per_1000 for source in asked] == [{"spelling": 0.1}]


def test_files_of_other_settings_are_checked_by_other_models_in_their_order(home, asked):
    override = '[overrides."docs/"]\nflags_per_1000 = 2\nmax_flags_per_1000 = 1\nsets = ["lie/lay"]\n'
    write(home / "disambig.toml", override)
    write(home / "docs" / "a.md", TEXT)
    write(home / "z.md", TEXT)
    done = check(home, "note.md", "docs/a.md", "z.md")
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == [
        "note.md", "note.md", "docs/a.md", "z.md", "z.md",
    ]  # fmt: skip
    assert [(source.flags_per_1000, len(source.sets)) for source in asked] == [(None, 0), (2, 1)]


def test_options_hold_above_settings(home, asked):
    write(home / "disambig.toml", 'flags_per_1000 = 0.5\nignore = ["quite"]\nmodels = ["mine"]\n')
    write(home / "words.txt", "during\n")
    done = check(home, "--flags-per-1000", "3", "--ignore", "words.txt", "--task", "spelling", "note.md")
    assert (done.returncode, done.stdout) == (0, "")
    assert [(source.models, source.flags_per_1000) for source in asked] == [(("spelling",), 3)]


def test_show_settings(home):
    write(home / "disambig.toml", 'tasks = ["spelling"]\n')
    done = check(home, "--show-settings", "--max-flags-per-1000", "2", "note.md", "-")
    assert done.returncode == 0
    assert done.stdout.count('tasks = ["spelling"]  # disambig.toml\n') == 2
    assert "max_flags_per_1000 = 2.0  # command line\n" in done.stdout
    assert "# <stdin>: checked\n" in done.stdout


def test_wrong_settings_stop_the_run(home):
    write(home / "disambig.toml", "flag_per_1000 = 1\n")
    done = check(home, "note.md")
    assert (done.returncode, done.stdout) == (2, "")
    assert "[D970]" in done.stderr and "the nearest first: flags_per_1000" in done.stderr
    assert done.stderr.count("\n") == 1


def test_standard_input_has_the_settings_of_its_name(home):
    write(home / "docs" / "disambig.toml", 'ignore = ["quite"]\n')
    done = check(home, "--stdin-filename", "docs/new.md", "--format", "github", "-", given=TEXT)
    assert done.returncode == 1
    assert done.stdout.startswith("::notice file=docs/new.md,line=3,") and done.stdout.count("\n") == 1
    write(home / "docs" / "disambig.toml", 'exclude = ["*.md"]\n')
    done = check(home, "--fix", "--stdin-filename", "docs/new.md", "-", given=TEXT)
    assert (done.returncode, done.stdout) == (0, TEXT)


def test_a_baseline_shows_what_is_new(home):
    done = check(home, "--write-baseline", "known.json", ".")
    assert (done.returncode, done.stdout) == (0, "")
    assert "2 flags written to known.json" in done.stderr
    write(home / "disambig.toml", 'baseline = "known.json"\n')
    done = check(home, "note.md")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no flags in 1 file, 10 words; 2 known by the baseline" in done.stderr
    write(home / "note.md", f"A new paragraph.\n\n{TEXT}\nAnother quite place.\n")
    done = check(home, "note.md")
    assert (done.returncode, done.stdout) == (1, "note.md:7:9: quite -> quiet (spelling)\n")
    write(home / "note.md", "All is well.\n")
    assert "known.json: 2 flags in it no longer found" in check(home, "note.md").stderr
    write(home / "note.md", TEXT)
    assert check(home, "--baseline", "known.json", "--fix", "note.md").stdout == ""
    assert (home / "note.md").read_text() == TEXT


def test_a_bound_is_of_flags_that_are_new(home):
    check(home, "--write-baseline", "known.json", "note.md", "--max-flags-per-1000", "0")
    write(home / "note.md", f"{TEXT}\nAnother quite place. One more quite place.\n")
    done = check(home, "--baseline", "known.json", "--max-flags-per-1000", "1", "note.md")
    assert done.stdout == "note.md:5:9: quite -> quiet (spelling)\n"
    assert "1 flag left out by --max-flags-per-1000 (note.md: 1)" in done.stderr


def test_a_baseline_with_files_that_fail_is_told(home):
    done = check(home, "--write-baseline", "known.json", "note.md", "gone.md")
    assert done.returncode == 2 and "[D300] gone.md" in done.stderr
    assert len(json.loads((home / "known.json").read_text())["flags"]) == 2


def test_a_link_to_nowhere_is_named_and_the_run_goes_on(home):
    (home / "gone.md").symlink_to(home / "nowhere.md")
    done = check(home, ".")
    assert done.returncode == 1 and done.stdout.startswith("./note.md:1:10: quite -> quiet")
    assert "[D342] not read: 1 dangling link (./gone.md)\n" in done.stderr and "D300" not in done.stderr
    done = check(home, "gone.md", "note.md")
    assert done.returncode == 2 and "[D300] gone.md" in done.stderr and done.stdout


def test_standard_input_that_is_not_named_is_told(tmp_path):
    done = process("check", folder=tmp_path, given=TEXT)
    assert (done.returncode, done.stdout) == (0, "")
    assert (
        "disambig: [D343] standard input is not read" in done.stderr
        and "name - for standard input" in done.stderr
    )
    with open(os.devnull, "rb") as nothing:
        assert "D343" not in process("check", folder=tmp_path, stdin=nothing, input=None).stderr
    assert "D343" not in process("check", folder=tmp_path).stderr
    assert "D343" not in process("check", "-q", folder=tmp_path, given=TEXT).stderr
    assert "D343" not in process("check", ".", folder=tmp_path, given=TEXT).stderr


def test_directives_that_hide_nothing_are_told(home):
    write(home / "note.md", f"<!-- disambig: ignore then, quite -->\n\n{TEXT}")
    done = check(home, "note.md")
    assert done.returncode == 1
    assert "[D960] note.md, line 1: 'ignore then' does not suppress any flag; remove it\n" in done.stderr
    assert "[D960]" not in check(home, "--task", "spelling", "note.md").stderr
    assert "[D960]" not in check(home, "--quiet", "note.md").stderr


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_only_lines_that_are_new_in_git(home, monkeypatch):
    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=home, check=True)

    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "x")
    done = check(home, "--since", "HEAD", ".")
    assert (done.returncode, done.stderr) == (0, "disambig: no file was changed\n")
    write(home / "note.md", f"{TEXT}\nAnother quite place.\n")
    done = check(home, "--since", "HEAD", ".")
    assert (done.returncode, done.stdout) == (1, "./note.md:5:9: quite -> quiet (spelling)\n")
    assert "; 2 in unchanged lines" in done.stderr
    assert check(home, "--staged", ".").returncode == 0
    git("add", "-A")
    write(home / "note.md", "Changed again.\n")
    assert check(home, "--staged", ".").stdout == "./note.md:5:9: quite -> quiet (spelling)\n"
    done = check(home, "--since", "nothing", ".")
    assert done.returncode == 2 and "[D963] --since nothing" in done.stderr


@pytest.mark.parametrize("format", FORMATS)
def test_a_report_is_whole_where_files_fail_and_where_there_are_none(home, format):
    write(home / "bad.md", "RAISE an error")
    done = check(home, "--format", format, "note.md", "gone.md", "bad.md")
    assert done.returncode == 2
    assert "[D300] gone.md" in done.stderr and "[D313] bad.md" in done.stderr
    assert "note.md" in done.stdout
    (home / "empty").mkdir()
    nothing = check(home, "--format", format, "empty")
    assert nothing.returncode == 0
    if format in ("json", "sarif", "gitlab", "rdjson"):
        json.loads(done.stdout)
        json.loads(nothing.stdout)
    else:
        assert nothing.stdout == ""


def test_corrections_as_json(home):
    done = check(home, "--fix", "--format", "json", "note.md")
    assert [flag["outcome"] for flag in json.loads(done.stdout)["flags"]] == ["fixed", "fixed"]
    done = check(home, "--fix", "--format", "json", "-", given=TEXT)
    assert done.stdout == TEXT.replace("quite", "quiet").replace("during", "from")
