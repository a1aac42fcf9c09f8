"""What `disambig check` reads, and that it says what it leaves out: after reports on other linters."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest
from commands import here

SLIP = "The bridge was better then the road.\n"
needs_git = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a function that writes files of an empty folder, the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path

    return write


def git(*arguments):
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def flagged(done):
    """Return the files of the flags."""
    return sorted(line.split(":")[0].removeprefix("./") for line in done.stdout.splitlines())


def test_suffixes_in_any_case(project):
    home = project(REPORT_dot_TXT=SLIP, notes_dot_Md=SLIP)
    assert flagged(here("check", ".", folder=home)) == ["REPORT.TXT", "notes.Md"]


def test_skipped_files_of_a_directory_are_reported(project):
    home = project(
        a_dot_md=SLIP,
        b_dot_png=b"\x89PNG",
        c_dot_PNG=b"\x89PNG",
        d_dot_rs="// " + SLIP,
        z_dot_txt=b"no text \0\1\2",
        node_modules__x__README_dot_md=SLIP,
        venv__lib__top_dot_txt=SLIP,
        mine__pyvenv_dot_cfg="home = /usr/bin\n",
        mine__x_dot_txt=SLIP,
        build__out_dot_md=SLIP,
    )
    done = here("check", ".", folder=home)
    assert (done.returncode, flagged(done)) == (1, ["a.md"])
    (line,) = [line for line in done.stderr.splitlines() if "[D342]" in line]
    assert "3 files by suffix (.png 2, .rs 1)" in line
    assert "4 folders (build, mine, node_modules, ...)" in line
    assert "1 binary (./z.txt)" in line
    (note,) = json.loads(here("check", ".", "--format", "json", folder=home).stdout)["notes"]
    assert note["code"] == "D342"
    assert "[D342]" not in here("check", ".", "-q", folder=home).stderr


def test_no_note_if_nothing_was_skipped(project):
    assert "D342" not in here("check", ".", folder=project(a_dot_md=SLIP)).stderr


def test_what_is_named_is_read(project):
    home = project(node_modules__x_dot_md=SLIP, build__b_dot_md=SLIP, d_dot_rs="// " + SLIP)
    done = here("check", "node_modules", "build/b.md", "d.rs", folder=home)
    assert flagged(done) == ["build/b.md", "d.rs", "node_modules/x.md"]


@pytest.mark.parametrize("name", ["notes.xyz", "notes.orig", "COPYING"])
def test_a_named_file_of_an_unknown_suffix_is_read_with_a_remark(project, name):
    home = project(**{name.replace(".", "_dot_"): SLIP})
    done = here("check", name, folder=home)
    assert (done.returncode, flagged(done)) == (1, [name])
    assert ("[D341]" in done.stderr) == ("." in name)


@pytest.mark.parametrize(
    ("name", "code", "hint"),
    [
        ("a.docx", "D339", "pandoc"),
        ("a.ODT", "D339", "pandoc"),
        ("a.pdf", "D339", "pdftotext"),
        ("a.eps", "D339", "ps2ascii"),
        ("a.json", "D340", ".json files"),
        ("a.conll", "D340", ".conll files"),
        ("a.tei", "D340", ".tei files"),
        ("a.xliff", "D340", ".xliff files"),
        ("a.VRT", "D340", ".vrt files"),
        ("a.JSONL.GZ", "D640", "annotate"),
        ("a.txt.bz2", "D640", "annotate"),
    ],
)
def test_values_other_than_texts_are_rejected(project, name, code, hint):
    home = project(**{name.replace(".", "_dot_"): SLIP, "b_dot_md": SLIP})
    done = here("check", name, "b.md", folder=home)
    assert (done.returncode, flagged(done)) == (2, ["b.md"])
    (line,) = [line for line in done.stderr.splitlines() if f"[{code}]" in line]
    assert hint in line


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("a.xml", "convert it to .txt, .jsonl or .conllu"),
        ("a.tei", "convert it to .txt, .jsonl or .conllu"),
        ("a.vrt.gz", "convert it to .txt, .jsonl or .conllu"),
        ("a.json", "--from jsonl"),
        ("a.conll", "--from conllu"),
        ("a.xlsx", "convert it to .csv or .jsonl"),
    ],
)
def test_annotate_refuses_data_and_says_how_to_convert_it(tmp_path, name, hint):
    tmp_path.joinpath(name).write_text(f"<p>{SLIP}</p>")
    done = here("annotate", name, "--task", "spelling", "--quiet", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"[D340] {name}: " in done.stderr and hint in done.stderr
    assert ("--from" in done.stderr) == ("--from" in hint)


@needs_git
def test_what_git_ignores_is_left_out(project):
    home = project(
        a_dot_md=SLIP,
        log_dot_txt=SLIP,
        out__x_dot_md=SLIP,
        docs__build__kept_dot_md=SLIP,
        build__gone_dot_md=SLIP,
        _dot_gitignore="/out/\nlog.txt\n",
    )
    git("init", "-q", ".")
    git("add", "docs")
    done = here("check", folder=home)
    assert flagged(done) == ["a.md", "docs/build/kept.md"]
    assert "2 ignored by git, 1 folder (build)" in done.stderr
    assert flagged(here("check", "log.txt", "out", folder=home)) == ["log.txt", "out/x.md"]
    git("add", "-f", "log.txt")  # git ignores no file that it tracks
    assert flagged(here("check", folder=home)) == ["a.md", "docs/build/kept.md", "log.txt"]


@needs_git
def test_ignoring_runs_nothing_of_the_repository(project, tmp_path_factory):
    home = project(a_dot_md=SLIP, b_dot_md=SLIP, _dot_gitignore="b.md\n")
    mark = tmp_path_factory.mktemp("trap") / "ran"
    trap = mark.with_name("trap")
    trap.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
    trap.chmod(0o755)
    git("init", "-q", ".")
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "filter.x.clean", "diff.external"):
        git("config", key, str(trap))
    hook = home / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    shutil.copy(trap, hook)
    (home / ".gitattributes").write_text("* filter=x\n")
    assert flagged(here("check", folder=home)) == ["a.md"]
    assert not mark.exists()


@needs_git
def test_a_folder_that_only_looks_like_a_repository(project):
    home = project(a_dot_md=SLIP, _dot_git__x="")
    done = here("check", folder=home)
    assert (done.returncode, flagged(done)) == (1, ["a.md"])


def test_without_a_path_the_current_directory_is_checked(project):
    home = project(a_dot_md=SLIP)
    assert flagged(here("check", folder=home)) == ["a.md"]


@needs_git
def test_staged_without_a_path(project):
    home = project(a_dot_md=SLIP, b_dot_md=SLIP)
    git("init", "-q", ".")
    git("add", "a.md")
    assert flagged(here("check", "--staged", folder=home)) == ["a.md"]


GERMAN = "Das ist better then nichts, und es wird auch nicht schlechter.\n"
FRENCH = "Ce n'est pas mieux then rien, mais il ne sera jamais pire.\n"


def test_a_text_in_another_language_says_so(project):
    home = project(a_dot_md=f"{GERMAN}\n{GERMAN}\n{FRENCH}")
    done = here("check", "a.md", folder=home)
    assert (done.returncode, done.stdout) == (0, "")
    message = "[D342] not read: 3 paragraphs that are not in English (most look like German)"
    assert done.stderr.count(message) == 1
    assert "D342" not in here("check", "-q", "a.md", folder=home).stderr
    (note,) = json.loads(here("check", "a.md", "--format", "json", folder=home).stdout)["notes"]
    assert note["code"] == "D342"


def test_paragraphs_in_another_language_are_left_alone(project):
    quoted = f"They wrote: {GERMAN.strip()} It was worse then that.\n"
    home = project(
        a_dot_md=f"{SLIP}\n{GERMAN}\n- {GERMAN}- {SLIP}\n{quoted}", b_dot_py=f"# {GERMAN}x = 1\n# {SLIP}"
    )
    done = here("check", "a.md", "b.py", folder=home)
    lines = [line.split(":")[:2] for line in done.stdout.splitlines()]
    assert lines == [["a.md", "1"], ["a.md", "6"], ["a.md", "8"], ["a.md", "8"], ["a.md", "8"], ["b.py", "3"]]
    assert "3 paragraphs that are not in English (they look like German)" in done.stderr


def test_all_languages_are_checked_on_request(project):
    home = project(a_dot_md=GERMAN)
    assert set(flagged(here("check", "a.md", "--no-detect-language", folder=home))) == {"a.md"}
    home = project(disambig_dot_toml="detect_language = false\n")
    assert set(flagged(here("check", "a.md", folder=home))) == {"a.md"}
    assert flagged(here("check", "a.md", "--detect-language", folder=home)) == []


@pytest.mark.parametrize("job", [False, True])
def test_annotate_counts_paragraphs_in_another_language(project, job):
    home = project(a_dot_md=f"{SLIP}\n{GERMAN}", b_dot_md=GERMAN)
    arguments = ["annotate", "a.md", "b.md", *(["--output", "out"] if job else [])]
    done = here(*arguments, folder=home)
    message = "[D342] not read: 2 paragraphs that are not in English (they look like German)"
    assert done.stderr.count(message) == 1
    if not job:
        first, second = map(json.loads, done.stdout.splitlines())
        assert (first["flags"], second["flags"]) == (1, 0)
        assert json.loads(first["other_languages"]) == [
            {"start": len(SLIP) + 1, "end": len(SLIP) + len(GERMAN) + 1, "language": "de"}
        ]
    assert message not in here(*arguments, "--no-detect-language", "--force", folder=home).stderr


def test_fields_of_yaml_are_text_if_settings_name_them(project):
    text = f"name: {SLIP}description: {SLIP}Summary: >\n  A name.\n  {SLIP}other: {{summary: 1}}\n"
    home = project(a_dot_yml=text)
    assert here("check", "a.yml", folder=home).returncode == 0
    home = project(disambig_dot_toml='yaml_fields = ["Description", "summary"]\n')
    done = here("check", "a.yml", folder=home)
    assert [line.split(":")[1] for line in done.stdout.splitlines()] == ["2", "5"]
    here("check", "--fix", "a.yml", folder=home)
    assert home.joinpath("a.yml").read_text().count("than") == 2


def test_explain_says_why_there_is_no_decision_of_it():
    done = here("explain", "It's life.", "--task", "it")
    assert """or only an "it's" that is probably meant as "its\"""" in done.stdout


@pytest.mark.parametrize("task", ["article", "form"])
def test_explain_finds_candidates_that_exist(task):
    done = here("explain", "It depends of the weather.", "--task", task)
    words = {"article": '"the": no other', "form": '"It", "depends", '}
    assert f"no decision: {words[task]}" in done.stdout


def test_explain_says_what_check_leaves_alone():
    done = here("explain", GERMAN, "--task", "spelling")
    assert "1 paragraph that is not in English (it looks like German): check leaves" in done.stdout
    assert "not in English" not in here("explain", SLIP, "--task", "spelling").stdout
