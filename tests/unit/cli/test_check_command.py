"""``disambig check`` with the fake models: one file, and projects with settings, baselines and git."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import types
from functools import partial
from xml.etree import ElementTree

import pytest
from commands import here, process
from fake_models import annotate_texts

from disambig.checking import FORMATS, correcting_source
from disambig.decision import Labels
from disambig.errors import UserError
from disambig.models import ModelSource
from disambig.types import Decides

NOTE = "# A title\r\n\r\nIt was a quite place, and I lived there during 1997.\r\n"
FIXED = NOTE.replace("quite", "quiet").replace("during", "from")


@pytest.fixture(autouse=True)
def fakes(monkeypatch):
    def load(settings):
        correcting_source(settings)  # it reads the confusion sets
        return annotate_texts

    monkeypatch.setattr("disambig.checking.load_checker", load)


@pytest.fixture
def note(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "note.md"
    path.write_bytes(NOTE.encode())
    return path


check_file = partial(here, "check")


def test_one_line_per_flag(note):
    status, out, err = check_file("note.md")
    assert status == 1
    assert out == ("note.md:3:10: quite -> quiet (spelling)\nnote.md:3:41: during -> from (preposition)\n")
    assert err == "disambig: 2 flags in 1 of 1 file, 13 words\n"
    assert note.read_bytes() == NOTE.encode()
    note.write_text("All is well.")
    assert check_file("note.md") == (0, "", "disambig: no flags in 1 file, 3 words\n")


def test_a_pattern_that_no_shell_expanded(note):
    (note.parent / "sub").mkdir()
    (note.parent / "sub" / "b[1].md").write_text(NOTE)
    status, out, err = check_file("**/*.md", "note.*", "none*.md")
    assert [line.partition(":")[0] for line in out.splitlines()] == ["note.md"] * 2 + ["sub/b[1].md"] * 2
    assert status == 2 and "[D300] none*.md: no such file" in err and "2 of 2 files" in err
    assert check_file("sub/b[1].md")[1].count("sub/b[1].md") == 2  # a name, not a pattern


def test_a_file_with_an_error_does_not_stop_the_others(note):
    (note.parent / "bad.md").write_bytes(b"\xff")
    status, out, err = check_file("gone.md", "bad.md", note.parent)
    assert status == 2
    assert out.count("note.md:3:") == 2
    assert "[D300] gone.md" in err and err.count("[D304]") == 1 and "1 file, 13 words; 2 problems" in err
    (note.parent / "bad.md").write_text("RAISE an error")
    status, out, err = check_file("bad.md", "note.md")
    assert status == 2
    assert out.count("note.md:3:") == 2 and "[D313] bad.md" in err


def test_diff_and_fix(note):
    status, out, _ = check_file("--diff", "note.md")
    assert status == 1
    assert out.startswith("--- note.md\n+++ note.md\n@@ -1,3 +1,3 @@\n")
    assert note.read_bytes() == NOTE.encode()
    status, out, err = check_file("--fix", "note.md")
    assert status == 1
    assert note.read_bytes() == FIXED.encode()
    assert (note.parent / "note.md.bak").read_bytes() == NOTE.encode()
    assert out.splitlines()[0] == "note.md:3:10: quite -> quiet (spelling), fixed"
    assert "the old text is in note.md.bak" in err and "2 corrected" in err
    assert check_file("--fix", "note.md")[0] == 0
    assert not (note.parent / "note.md.bak2").exists()


def test_quiet_runs_do_not_mention_written_files(note):
    assert check_file("--quiet", "--write-baseline", "flags.json", "note.md") == (0, "", "")
    status, out, err = check_file("--quiet", "--fix", "note.md")
    assert status == 1 and "fixed" in out and not err
    assert (note.parent / "note.md.bak").exists() and (note.parent / "flags.json").exists()


def test_the_report_is_written_to_a_file_at_the_end(note):
    report = note.with_name("flags.txt")
    report.write_text("an older report: a quite place")
    status, out, err = check_file(".", "--output", "flags.txt")  # which is not checked
    assert (status, out) == (1, "") and "2 flags in 1 of 1 file" in err
    assert err.endswith("disambig: the report is in flags.txt\n")
    assert report.read_text().splitlines()[0] == "./note.md:3:10: quite -> quiet (spelling)"
    assert check_file("note.md", "-o", "-", "--quiet")[1].startswith("note.md:3:10: ")
    assert check_file("--quiet", "--diff", "note.md", "-o", "a.diff")[:2] == (1, "")
    assert note.with_name("a.diff").read_text().startswith("--- note.md\n+++ note.md\n")
    # an error before the end leaves the older report as it is
    assert check_file("note.md", "--output", "flags.txt", "--baseline", "gone.json")[0] == 2
    assert report.read_text().startswith("./note.md:3:10: ")
    assert sorted(path.name for path in note.parent.iterdir()) == ["a.diff", "flags.txt", "note.md"]


def test_the_report_never_replaces_a_text(note):
    other = note.with_name("other.rst")
    other.write_text("Text.")
    for output, code in (
        ("note.md", "D316"),
        ("./note.md", "D316"),
        ("other.rst", "D600"),
        ("no/a.txt", "D309"),
    ):
        status, out, err = check_file("note.md", "--output", output)
        assert (status, out) == (2, "") and f"[{code}]" in err and "Traceback" not in err
    assert note.read_bytes() == NOTE.encode() and other.read_text() == "Text."
    for output in ("", "."):  # found before anything is checked
        message = f"disambig: [D309] cannot write {output or '--output'}: give the name of a file\n"
        assert check_file("note.md", "--output", output) == (2, "", message)


def test_fix_without_a_backup_or_with_another_suffix(note):
    check_file("--fix", "--no-backup", "note.md")
    assert [path.name for path in note.parent.iterdir()] == ["note.md"]
    note.write_bytes(NOTE.encode())
    check_file("--fix", "--backup-suffix", "~", "note.md")
    assert (note.parent / "note.md~").read_bytes() == NOTE.encode()


def test_a_read_only_file_is_not_fixed(note):
    note.chmod(0o444)
    other = note.with_name("other.md")
    other.write_bytes(NOTE.encode())
    status, out, err = check_file("--fix", "note.md", "other.md")
    assert status == 2
    assert "[D642] note.md" in err
    assert out.splitlines()[0].endswith(", left: the file was not written") and out.splitlines()[2].endswith(
        ", fixed"
    )
    assert note.read_bytes() == NOTE.encode() and other.read_bytes() == FIXED.encode()


def test_standard_input(note):
    assert check_file("-", given=NOTE)[1].startswith("<stdin>:3:10: quite -> quiet")
    status, out, err = check_file("--fix", "--stdin-filename", "x.md", "-", given=NOTE)
    assert (status, out) == (1, FIXED.replace("\r\n", "\n") if "\r\n" not in out else FIXED)
    assert "x.md:3:10: quite -> quiet (spelling), fixed" in err


def test_maximum_of_flags_and_ignored_words(note):
    status, out, err = check_file("--max-flags-per-1000", "1", "note.md")
    assert (status, out.count("\n")) == (1, 1)
    assert "1 flag left out by --max-flags-per-1000 (note.md: 1)" in err
    (note.parent / "words").write_text("Quite # a word\nduring\n")
    assert check_file("--ignore", "words", "note.md")[0] == 0


def test_a_pattern_in_a_file_of_words_to_ignore(note):
    (note.parent / "words").write_text("during\nqu*\n")
    status, out, err = check_file("--ignore", "words", "note.md")
    assert (status, out) == (2, "")
    assert "[D971] words: line 2 is 'qu*': patterns are not supported" in err


def test_an_unknown_directive_is_an_error_but_an_empty_directory_is_not(note):
    note.write_text("Well. <!-- disambig: ingore well -->")
    status, _, err = check_file("note.md")
    assert status == 2 and "[D641] note.md, line 1: unknown directive 'ingore well'" in err
    assert "followed by [RULE], WORD" in err
    note.unlink()
    assert check_file(".") == (0, "", "disambig: no file to check\n")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fix", "--diff"], "D600"),
        (["--diff", "--format", "json"], "D600"),
        (["--fix", "--format", "sarif"], "D600"),
        (["--fix", "--staged"], "D600"),
        (["--since", "HEAD", "--staged"], "D600"),
        (["--since", "HEAD", "-"], "D600"),
        (["--write-baseline", "x", "--fix"], "D600"),
        (["--write-baseline", "x", "--format", "json"], "D600"),
        (["--write-baseline", "note.md"], "D967"),
        (["--baseline", "nowhere"], "D300"),
        (["--since", "HEAD"], "D962"),
        (["--backup-suffix", ""], "D600"),
        (["--backup-suffix", "/x"], "D600"),
        (["--format", "xml"], "D601"),
        (["--max-flags-per-1000", "-1"], "D602"),
        (["--flags-per-1000", "nan"], "D602"),
        (["--ignore", "quite"], "D600] Invalid value for '--ignore': there is no file 'quite': name a file"),
        (["--sets", "quite/quiet"], "D600] Invalid value for '--sets': there is no file 'quite/quiet'"),
    ],
)
def test_invalid_options(note, options, code):
    status, out, err = check_file(*options, "note.md")
    assert (status, out) == (2, "")
    assert err.startswith(f"disambig: [{code}") and err.count("\n") == 1


def test_models_of_labels_give_no_flags(monkeypatch):
    monkeypatch.undo()
    task = types.SimpleNamespace(name="it")
    label = types.SimpleNamespace(name="en/it", judge=Labels.unfitted(), task=task)
    monkeypatch.setattr(ModelSource, "load_models", lambda source: [label])
    assert ModelSource().load_correcting()(["it rains"]) == []
    with pytest.raises(UserError, match=r"D644.*the decision rule Labels, which raises no flags, since"):
        ModelSource(models=("it",)).load_correcting()
    task.decides = Decides("tokens", "labels")
    with pytest.raises(UserError, match=r"D644.*\(it\) chooses labels, and does not correct words"):
        ModelSource(models=("it",)).load_correcting()


TEXT = "It was a quite place.\n\nI lived there during 1997.\n"


@pytest.fixture
def loaded_sources(monkeypatch):
    """The sources of the models that were loaded."""
    sources = []

    def load(settings):
        sources.append(correcting_source(settings))
        return annotate_texts

    monkeypatch.setattr("disambig.checking.load_checker", load)
    return sources


@pytest.fixture
def home(tmp_path, loaded_sources):
    write_file(tmp_path / "note.md", TEXT)
    return tmp_path


def write_file(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf8")


def check_project(home, *arguments, given=""):
    return here("check", *arguments, folder=home, given=given)


def test_settings_apply_to_files_and_directories(home, loaded_sources):
    settings = '[tool.disambig]\nignore = ["Quite"]\nexclude = ["gen/"]\nflags_per_1000 = {spelling = 0.1}\n'
    write_file(home / "pyproject.toml", settings)
    write_file(home / "gen" / "note.md", TEXT)
    done = check_project(home, ".", "gen/note.md")
    assert done.stdout == "./note.md:3:15: during -> from (preposition)\n"
    assert "gen/note.md: left out by `exclude`" in done.stderr
    assert [source.flags_per_1000 for source in loaded_sources] == [{"spelling": 0.1}]


def test_overrides_use_other_models(home, loaded_sources):
    override = '[overrides."docs/"]\nflags_per_1000 = 2\nmax_flags_per_1000 = 1\nsets = ["lie/lay"]\n'
    write_file(home / "disambig.toml", override)
    write_file(home / "docs" / "a.md", TEXT)
    write_file(home / "z.md", TEXT)
    done = check_project(home, "note.md", "docs/a.md", "z.md")
    names = [line.partition(":")[0] for line in done.stdout.splitlines()]
    assert names == ["note.md", "note.md", "docs/a.md", "z.md", "z.md"]
    assert [(source.flags_per_1000, len(source.sets)) for source in loaded_sources] == [(None, 0), (2, 1)]


def test_options_override_settings(home, loaded_sources):
    write_file(home / "disambig.toml", 'flags_per_1000 = 0.5\nignore = ["quite"]\nmodels = ["mine"]\n')
    write_file(home / "words.txt", "during\n")
    options = "--flags-per-1000 3 --ignore words.txt --task spelling"
    done = check_project(home, *options.split(), "note.md")
    assert (done.returncode, done.stdout) == (0, "")
    assert [(source.models, source.flags_per_1000) for source in loaded_sources] == [(("spelling",), 3)]


def test_settings_are_shown_or_stop_the_run(home):
    write_file(home / "disambig.toml", 'tasks = ["spelling"]\n')
    done = check_project(home, "--show-settings", "--max-flags-per-1000", "2", "note.md", "-")
    assert done.returncode == 0
    assert done.stdout.count('tasks = ["spelling"]  # disambig.toml\n') == 2
    assert "max_flags_per_1000 = 2.0  # command line\n" in done.stdout
    assert "# <stdin>: checked\n" in done.stdout
    write_file(home / "disambig.toml", "flag_per_1000 = 1\n")
    done = check_project(home, "note.md")
    assert (done.returncode, done.stdout) == (2, "")
    assert "[D970]" in done.stderr and "the nearest first: flags_per_1000" in done.stderr
    assert done.stderr.count("\n") == 1


def test_standard_input_has_the_settings_of_its_file_name(home):
    write_file(home / "docs" / "disambig.toml", 'ignore = ["quite"]\n')
    done = check_project(home, "--stdin-filename", "docs/new.md", "--format", "github", "-", given=TEXT)
    assert done.returncode == 1
    assert done.stdout.startswith("::notice file=docs/new.md,line=3,") and done.stdout.count("\n") == 1
    write_file(home / "docs" / "disambig.toml", 'exclude = ["*.md"]\n')
    done = check_project(home, "--fix", "--stdin-filename", "docs/new.md", "-", given=TEXT)
    assert (done.returncode, done.stdout) == (0, TEXT)


def test_a_baseline_hides_known_flags(home):
    done = check_project(home, "--write-baseline", "known.json", ".")
    assert (done.returncode, done.stdout) == (0, "")
    assert "2 flags written to known.json" in done.stderr
    write_file(home / "disambig.toml", 'baseline = "known.json"\n')
    done = check_project(home, "note.md")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no flags in 1 file, 10 words; 2 already in the baseline" in done.stderr
    write_file(home / "note.md", f"A new paragraph.\n\n{TEXT}\nAnother quite place.\n")
    done = check_project(home, "note.md")
    assert (done.returncode, done.stdout) == (1, "note.md:7:9: quite -> quiet (spelling)\n")
    write_file(home / "note.md", "All is well.\n")
    assert "known.json: 2 flags in it no longer found" in check_project(home, "note.md").stderr
    write_file(home / "note.md", TEXT)
    assert check_project(home, "--baseline", "known.json", "--fix", "note.md").stdout == ""
    assert (home / "note.md").read_text() == TEXT


def test_the_maximum_counts_only_new_flags(home):
    check_project(home, "--write-baseline", "known.json", "note.md", "--max-flags-per-1000", "0")
    write_file(home / "note.md", f"{TEXT}\nAnother quite place. One more quite place.\n")
    done = check_project(home, "--baseline", "known.json", "--max-flags-per-1000", "1", "note.md")
    assert done.stdout == "note.md:5:9: quite -> quiet (spelling)\n"
    assert "1 flag left out by --max-flags-per-1000 (note.md: 1)" in done.stderr


def test_writing_a_baseline_with_unreadable_files(home):
    done = check_project(home, "--write-baseline", "known.json", "note.md", "gone.md")
    assert done.returncode == 2 and "[D300] gone.md" in done.stderr
    assert len(json.loads((home / "known.json").read_text())["flags"]) == 2


def test_a_dangling_link_is_reported_and_skipped(home):
    (home / "gone.md").symlink_to(home / "nowhere.md")
    done = check_project(home, ".")
    assert done.returncode == 1 and done.stdout.startswith("./note.md:1:10: quite -> quiet")
    assert "[D342] not read: 1 dangling link (./gone.md)\n" in done.stderr and "D300" not in done.stderr
    done = check_project(home, "gone.md", "note.md")
    assert done.returncode == 2 and "[D300] gone.md" in done.stderr and done.stdout


def test_ignored_standard_input_is_reported(tmp_path):
    done = process("check", folder=tmp_path, given=TEXT)
    assert (done.returncode, done.stdout) == (0, "")
    assert "disambig: [D343] standard input is not read" in done.stderr
    assert "give - for standard input" in done.stderr
    with open(os.devnull, "rb") as nothing:
        assert "D343" not in process("check", folder=tmp_path, stdin=nothing, input=None).stderr
    assert "D343" not in process("check", folder=tmp_path).stderr
    assert "D343" not in process("check", "-q", folder=tmp_path, given=TEXT).stderr
    assert "D343" not in process("check", ".", folder=tmp_path, given=TEXT).stderr


def test_unused_directives_are_reported(home):
    write_file(home / "note.md", f"<!-- disambig: ignore then, quite -->\n\n{TEXT}")
    done = check_project(home, "note.md")
    assert done.returncode == 1
    assert "[D960] note.md, line 1: 'ignore then' does not suppress any flag; remove it\n" in done.stderr
    assert "[D960]" not in check_project(home, "--task", "spelling", "note.md").stderr
    assert "[D960]" not in check_project(home, "--quiet", "note.md").stderr


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_only_changed_lines(home, monkeypatch):
    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=home, check=True)

    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "x")
    done = check_project(home, "--since", "HEAD", ".")
    assert (done.returncode, done.stderr) == (0, "disambig: no file was changed\n")
    assert check_project(home, "--since", "HEAD", "--quiet", ".").stderr == ""
    write_file(home / "note.md", f"{TEXT}\nAnother quite place.\n")
    done = check_project(home, "--since", "HEAD", ".")
    assert (done.returncode, done.stdout) == (1, "./note.md:5:9: quite -> quiet (spelling)\n")
    assert "; 2 in unchanged lines" in done.stderr
    assert check_project(home, "--staged", ".").returncode == 0
    git("add", "-A")
    write_file(home / "note.md", "Changed again.\n")
    assert check_project(home, "--staged", ".").stdout == "./note.md:5:9: quite -> quiet (spelling)\n"
    done = check_project(home, "--since", "nothing", ".")
    assert done.returncode == 2 and "[D963] --since nothing" in done.stderr


@pytest.mark.parametrize("format", FORMATS)
def test_reports_are_complete_with_errors_and_without_files(home, format):
    write_file(home / "bad.md", "RAISE an error")
    done = check_project(home, "--format", format, "note.md", "gone.md", "bad.md")
    assert done.returncode == 2
    assert "[D300] gone.md" in done.stderr and "[D313] bad.md" in done.stderr
    assert "note.md" in done.stdout
    (home / "empty").mkdir()
    nothing = check_project(home, "--format", format, "empty")
    assert nothing.returncode == 0
    if format in ("json", "sarif", "gitlab", "rdjson"):
        json.loads(done.stdout)
        json.loads(nothing.stdout)
    elif format == "junit":
        (error, *_) = ElementTree.fromstring(done.stdout).iterfind("testsuite/testcase/error")
        assert "gone.md" in error.get("message")
        (suite,) = ElementTree.fromstring(nothing.stdout)
        assert suite.get("tests") == "1" and suite.get("failures") == suite.get("errors") == "0"
    elif format == "checkstyle":
        (file,) = ElementTree.fromstring(done.stdout)
        assert file.get("name") == "note.md" and not list(ElementTree.fromstring(nothing.stdout))
    else:
        assert nothing.stdout == ""


def test_corrections_as_json(home):
    done = check_project(home, "--fix", "--format", "json", "note.md")
    assert [flag["outcome"] for flag in json.loads(done.stdout)["flags"]] == ["fixed", "fixed"]
    right = TEXT.replace("quite", "quiet").replace("during", "from")
    assert check_project(home, "--fix", "--format", "json", "-", given=TEXT).stdout == right
    wide = ("\ufeff" + TEXT).encode("utf-16-be")
    done = check_project(home, "--fix", "-", given=wide)
    assert done.stdout.encode(errors="surrogateescape") == ("\ufeff" + right).encode("utf-16-be")
    done = check_project(home, "--fix", "--format", "json", "-o", "flags.json", "-", given=TEXT)
    assert (done.returncode, done.stdout) == (1, right)
    report = json.loads((home / "flags.json").read_text())
    assert [flag["outcome"] for flag in report["flags"]] == ["fixed", "fixed"]
