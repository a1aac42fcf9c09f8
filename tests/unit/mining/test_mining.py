"""Mining a history: kept and skipped changes, hostile repositories, and the commands."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from commands import here

from disambig.errors import UserError
from disambig.formats import read_clean, read_fixes
from disambig.mining import Miner, ProjectLayer, summarise, tuned_settings, write_mined

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


GOOD = "Nobody has touched this old paragraph about the river."


WRONG, RIGHT = "The boats was late, as they often are.", "The boats were late, as they often are."


def page(*paragraphs):
    return "\n\n".join(paragraphs) + "\n"


def mine(history, vocabulary, **options):
    return Miner(str(history.home), vocabulary, "en", **options).mine()


def pairs(mined):
    return [one.edit.pair for one in mined.corrections]


def test_a_correction_and_a_clean_paragraph(history, vocabulary, tmp_path):
    history.commit("first", {"docs/a.md": page(GOOD, WRONG), "code.py": "x = 1\n"})
    commit = history.commit("Fix a typo", {"docs/a.md": page(GOOD, RIGHT), "code.py": "x = 2\n"})
    history.commit("last", {"b.md": page("A new paragraph that is too young.")}, days=400)
    mined = mine(history, vocabulary)
    assert pairs(mined) == [("was", "were")]
    assert {one.text for one in mined.clean} == {GOOD, RIGHT}
    assert (mined.commits, mined.files, mined.skipped["files of other formats"]) == (3, 1, 1)
    record = mined.corrections[0].record("project")
    assert record | {"id": ""} == {
        "id": "", "repo": "project", "licence": "", "commit": commit, "path": "docs/a.md", "year": 2020,
        "class": "agreement", "sub": "function", "kind": "replace", "old": "was", "new": "were",
        "before": WRONG, "start": 10, "end": 13, "after": RIGHT, "said_fix": True, "said_strong": True,
        "small": True, "same": True, "cut": False, "multi": 0, "tier": 1,
    }  # fmt: skip
    output = tmp_path / "mined"
    write_mined(output, [mined], summarise([mined]))
    (fix,) = read_fixes(output / "fixes.jsonl")
    assert (fix.before, fix.corrected(), fix.category) == (WRONG, RIGHT, "agreement")
    assert {one.text for one in read_clean(output / "clean.jsonl")} == {GOOD, RIGHT}
    for file in output.iterdir():
        assert "zaphod" not in file.read_text().lower()  # no authors


def test_tiers(history, vocabulary):
    others = [f"The other paragraph with number {word} is here." for word in "one two three four".split()]
    wrong = [f"The boats of {name} was late that evening." for name in ("Rome", "Paris", "Oslo")]
    right = [text.replace("was", "were") for text in wrong]
    history.commit("first", {"a.md": page(*wrong), "b.md": page(*others)})
    history.commit("Update", {"a.md": page(right[0], *wrong[1:])})  # nothing else is changed
    changed = [text.replace("is here", "stood in this place") for text in others]
    history.commit("Update", {"a.md": page(*right[:2], wrong[2]), "b.md": page(*changed * 3)})
    history.commit("Grammar", {"a.md": page(*right), "b.md": page(*others * 3)})
    assert [one.tier for one in mine(history, vocabulary).corrections] == [1, 2, 1]


def test_reverted_changes_are_left_out(history, vocabulary):
    history.commit("first", {"a.md": page(GOOD, WRONG)})
    history.commit("Fix a typo", {"a.md": page(GOOD, RIGHT)})
    history.commit("Rewrite", {"a.md": page(GOOD, WRONG)})
    mined = mine(history, vocabulary)
    assert not mined.corrections
    assert mined.skipped["changed words: undone, or changed back and forth"] == 2
    history.commit('Revert "Rewrite"', {"a.md": page(GOOD, RIGHT)})
    assert mine(history, vocabulary).skipped["commits that revert others"] == 1


def test_renaming_everywhere_is_not_a_correction(history, vocabulary):
    lines = [f"The modes of part {word} are described in this text." for word in "abcdefghijkl"]
    history.commit("first", {"a.md": page(*lines)})
    history.commit("Update", {"a.md": page(*(line.replace("modes", "models") for line in lines))})
    mined = mine(history, vocabulary)
    assert not mined.corrections
    assert mined.skipped["changed words: renamed everywhere in a commit"] == 12


def test_a_renamed_file_and_a_name_that_is_not_utf8(history, vocabulary):
    history.commit("first", {b"caf\xe9.md": page(GOOD, WRONG), "a.md": page(GOOD, *["More text here."] * 9)})
    history.git("mv", "a.md", "b.md")
    changed = page(GOOD.replace("about", "of"), *["More text here."] * 9)
    history.commit("Fix typos", {b"caf\xe9.md": page(GOOD, RIGHT), "b.md": changed})
    mined = mine(history, vocabulary)
    assert sorted(pairs(mined)) == [("about", "of"), ("was", "were")]
    paths = {one.record("x")["path"] for one in mined.corrections}
    assert paths == {"b.md", "caf\\xe9.md"}
    json.dumps(summarise([mined])).encode("utf8")


def test_unreadable_files_are_counted(history, vocabulary):
    files = {"a.md": page(GOOD, WRONG).encode("utf-16"), "b.md": page(GOOD) + "x y z " * 400_000}
    history.commit("first", files)
    history.commit("Fix typos", {"a.md": page(GOOD, RIGHT).encode("utf-16"), "b.md": page(RIGHT) * 90_000})
    mined = mine(history, vocabulary)
    assert not mined.corrections
    assert mined.skipped["files that are too large, or missing in the clone"]
    assert mined.skipped["files that are not UTF-8"]


def test_comments_of_code_are_read_on_request(history, vocabulary):
    from disambig.configuration import ProjectSettings, SettingsSource

    history.commit("first", {"a.py": f"# {WRONG}\nwas = 1\n"})
    history.commit("Fix", {"a.py": f"# {RIGHT}\nwere = 1\n"})
    assert not mine(history, vocabulary).corrections
    settings = ProjectSettings(SettingsSource("--include", {"include": ["*.py"]}))
    assert pairs(mine(history, vocabulary, settings=settings)) == [("was", "were")]


def test_the_settings_of_the_project_decide_which_files_are_read(history, vocabulary):
    history.commit("first", {"a.md": page(WRONG), "old/a.md": page(WRONG.replace("boats", "ships"))})
    history.commit(
        "Fix", {"a.md": page(RIGHT), "old/a.md": page(RIGHT.replace("boats", "ships")),
                "disambig.toml": 'exclude = ["old/"]\n'},
    )  # fmt: skip
    assert [one.path for one in mine(history, vocabulary).corrections] == ["a.md"]


def test_a_young_history_has_no_clean_paragraphs(history, vocabulary):
    history.commit("first", {"a.md": page(GOOD, WRONG)})
    history.commit("second", {"a.md": page(GOOD, RIGHT)})
    mined = mine(history, vocabulary)
    assert not mined.clean
    assert mined.notes == ["no paragraph is older than 365 days"]


def test_a_shallow_clone_is_noted(history, vocabulary, tmp_path):
    history.commit("first", {"a.md": page(GOOD, WRONG)})
    history.commit("second", {"a.md": page(GOOD, RIGHT)})
    history.git("clone", "-q", "--depth=1", history.home.as_uri(), str(tmp_path / "shallow"))
    mined = Miner(str(tmp_path / "shallow"), vocabulary, "en").mine()
    assert not mined.corrections
    assert "shallow" in mined.notes[0]


def test_folders_without_a_history(tmp_path, history, vocabulary):
    (tmp_path / "plain").mkdir()
    for folder, code in ((tmp_path / "plain", "D541"), (tmp_path / "none", "D541"), (history.home, "D542")):
        with pytest.raises(UserError) as raised:
            Miner(str(folder), vocabulary, "en")
        assert raised.value.code == code


@pytest.mark.skipif(os.name == "nt", reason="the traps are shell scripts")
def test_a_hostile_repository_runs_nothing(history, vocabulary, tmp_path):
    history.commit("first", {"a.md": page(GOOD, WRONG)})
    history.commit("Fix", {"a.md": page(GOOD, RIGHT), ".gitattributes": "*.md filter=x diff=x merge=x\n"})
    mark, trap = tmp_path / "ran", tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    trap.chmod(0o755)
    keys = """
        core.fsmonitor core.pager core.sshCommand core.askPass core.editor core.gitProxy
        core.alternateRefsCommand filter.x.clean filter.x.smudge filter.x.process diff.external
        diff.x.command diff.x.textconv pager.log
        pager.cat-file gpg.program gpg.ssh.program credential.helper uploadpack.packObjectsHook
        sequence.editor alias.log alias.cat-file alias.rev-list remote.origin.uploadpack
    """
    for key in keys.split():
        history.git("config", key, f"!{trap}" if key.startswith("alias") else str(trap))
    for key, value in {
        "log.showSignature": "true",
        "core.hooksPath": str(tmp_path / "hooks"),
        "core.attributesFile": str(tmp_path / "attributes"),
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": f"ext::{trap}",
        "remote.origin.promisor": "true",
        "protocol.ext.allow": "always",
        "include.path": str(tmp_path / "more"),
    }.items():
        history.git("config", key, value)
    (tmp_path / "attributes").write_text("* filter=x diff=x\n")
    (tmp_path / "more").write_text(f"[core]\n\tfsmonitor = {trap}\n")
    hooks = (history.home / ".git" / "hooks", tmp_path / "hooks")
    for folder in hooks:
        folder.mkdir(exist_ok=True)
        for name in ("post-checkout", "post-index-change", "pre-auto-gc", "reference-transaction"):
            shutil.copy(trap, folder / name)
    mark.unlink(missing_ok=True)
    mined = mine(history, vocabulary)
    assert pairs(mined) == [("was", "were")]
    assert not mark.exists()
    history.git("log", "-p", "--ext-diff")
    assert mark.exists()  # the traps do work


def test_output_replaces_only_its_own_results(history, vocabulary, tmp_path):
    history.commit("first", {"a.md": page(GOOD, WRONG)})
    history.commit("Fix", {"a.md": page(GOOD, RIGHT)})
    mined = mine(history, vocabulary)
    output = tmp_path / "mined"
    write_mined(output, [mined], summarise([mined]))
    with pytest.raises(UserError, match="D310"):
        write_mined(output, [mined], summarise([mined]))
    write_mined(output, [mined], summarise([mined]), force=True)
    (output / "mine.txt").write_text("my own notes")
    with pytest.raises(UserError, match="D544"):
        write_mined(output, [mined], summarise([mined]), force=True)
    assert (output / "mine.txt").read_text() == "my own notes"


OLD_PARAGRAPH = "Nobody has touched this old paragraph about the long river."


WRONG_PARAGRAPH = "The weather was better then we had hoped, and we stayed."


RIGHT_PARAGRAPH = WRONG_PARAGRAPH.replace("then", "than")


@pytest.fixture
def project(history):
    history.commit(
        "first", {"a.md": f"{OLD_PARAGRAPH}\n\n{WRONG_PARAGRAPH}\n\nThey waited for for an hour there.\n"}
    )
    history.commit(
        "Fix",
        {"a.md": f"{OLD_PARAGRAPH}\n\n{RIGHT_PARAGRAPH}\n\nThey waited for for an hour there.\n"},
        days=800,
    )
    history.commit(
        "Fix", {"a.md": f"{OLD_PARAGRAPH}\n\n{RIGHT_PARAGRAPH}\n\nThey waited for an hour there.\n"}, days=800
    )
    history.commit("last", {"b.md": "A young paragraph stands alone in this file.\n"}, days=800)
    return history.home


def test_mine_writes_what_evaluate_reads(project, tmp_path):
    done = here("fixes", "mine", project, "--output", tmp_path / "mined", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "project: 2 corrections (2 very likely)" in done.stdout
    assert "confusion" in done.stdout and "doubled" in done.stdout
    files = tmp_path / "mined" / "fixes.jsonl", tmp_path / "mined" / "clean.jsonl"
    done = here("evaluate", "--fixes", files[0], "--clean", files[1], "--json")
    assert json.loads(done.stdout)["all"]["n"] == 2
    again = here("fixes", "mine", project, "--output", tmp_path / "mined")
    assert (again.returncode, "D310" in again.stderr) == (2, True)
    forced = here("fixes", "mine", project, "--output", tmp_path / "mined", "--force", "--json", "-q")
    assert json.loads(forced.stdout)["projects"][0]["tier_1"] == 2


def test_tune_measures_both_halves_and_writes_nothing_if_it_learns_nothing(project):
    done = here("tune", project, "-q")
    assert done.returncode == 0, done.stderr
    assert "newer, tuned" in done.stdout and "nothing to set: the models do as well" in done.stdout
    assert "disambig.toml" not in done.stdout + done.stderr
    done = here("tune", project, "--json", "-q")
    assert json.loads(done.stdout)["measured"]["older, as shipped"]["mistakes"] == 1
    assert not list(project.glob("disambig*"))


def test_tune_writes_settings(project, monkeypatch):
    learned = ProjectLayer({}, ("quite",))
    monkeypatch.setattr("disambig.mining.tuned_settings", lambda top, layer: tuned_settings(top, learned))
    done = here("tune", project, "--dry-run", "-q")
    assert f"# {project / 'disambig.toml'}" in done.stdout and "disambig-ignore.txt" in done.stdout
    assert not list(project.glob("disambig*"))
    done = here("tune", project)
    assert f"written: {project / 'disambig.toml'}, {project / 'disambig-ignore.txt'}" in done.stderr
    assert here("check", "--show-settings", "a.md", folder=project).returncode == 0


def test_a_folder_without_a_history_is_one_line(tmp_path):
    for command in (["fixes", "mine", tmp_path, "--output", tmp_path / "x"], ["tune", tmp_path]):
        done = here(*command)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1 and "D541" in done.stderr
