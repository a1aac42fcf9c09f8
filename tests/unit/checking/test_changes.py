"""Changed lines, in repositories that git made."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from disambig.checking import Changes, Flag
from disambig.errors import UserError

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one commit of three files, and the current folder in it."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@b.c")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    top = tmp_path / "top"
    (top / "docs").mkdir(parents=True)
    monkeypatch.chdir(top)
    call("init", "-q", "-b", "main")
    for name in ("a.md", "docs/b.md", "c.md"):
        (top / name).write_bytes(b"one\r\ntwo\r\nthree\r\n")
    commit()
    return top


def call(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout.decode()


def commit():
    call("add", "-A")
    call("commit", "-q", "-m", "x")


def flag(start, end=None):
    return Flag(start, end or start + 1, 1, 1, "x", "y", "t", 0.9, (start, start, ""))


def code_of(call, *arguments):
    with pytest.raises(UserError) as caught:
        call(*arguments)
    return caught.value.code


def shown(changes, path, words):
    """Return which of the words of a file stand in new lines."""
    text = changes.read(path).text
    return [word for word in words if changes.keep(path, text, [flag(text.index(word))])]


def test_new_lines_of_the_files_as_they_are(repository):
    (repository / "a.md").write_bytes(b"one\r\nTWO\r\nthree\r\nfour")
    (repository / "c.md").write_bytes(b"one\r\nthree\r\n")
    (repository / "new.md").write_bytes(b"all of it")
    changes = Changes("HEAD")
    assert shown(changes, "a.md", ["one", "TWO", "three", "four"]) == ["TWO", "four"]
    assert shown(changes, "new.md", ["all", "it"]) == ["all", "it"]
    assert [changes.has(name) for name in ("a.md", "docs/b.md", "c.md", "new.md")] == [
        True,
        False,
        False,
        True,
    ]


def test_a_flag_over_two_lines_counts_where_one_is_new(repository):
    text = "one\r\nTWO\r\nthree\r\n"
    (repository / "a.md").write_bytes(text.encode())
    changes = Changes("HEAD")
    flags = [flag(0, 5), flag(0, 6), flag(9, 11), flag(10, 11)]
    assert changes.keep("a.md", text, flags) == flags[1:3]


def test_a_lone_return_is_no_line_for_git(repository):
    (repository / "a.md").write_bytes(b"one\rx\r\ntwo\r\nNEW\r\n")
    assert shown(Changes("HEAD"), "a.md", ["x", "two", "NEW"]) == ["x", "NEW"]


def test_since_is_since_the_histories_parted(repository):
    call("checkout", "-q", "-b", "mine")
    (repository / "a.md").write_bytes(b"one\r\nMINE\r\nthree\r\n")
    commit()
    call("checkout", "-q", "main")
    (repository / "c.md").write_bytes(b"THEIRS\r\n")
    commit()
    call("checkout", "-q", "mine")
    changes = Changes("main")
    assert (changes.has("a.md"), changes.has("c.md")) == (True, False)


def test_what_is_staged_is_read_as_it_is_staged(repository):
    (repository / "a.md").write_bytes(b"one\r\nSTAGED\r\nthree\r\n")
    (repository / "new.md").write_bytes(b"new")
    call("add", "a.md")
    (repository / "a.md").write_bytes(b"first\r\none\r\nLATER\r\n")
    changes = Changes()
    assert shown(changes, "a.md", ["one", "STAGED", "three"]) == ["STAGED"]
    assert not changes.has("new.md")


def test_the_first_commit_may_be_checked(tmp_path, monkeypatch, repository):
    monkeypatch.chdir(tmp_path)
    call("init", "-q", "young")
    monkeypatch.chdir("young")
    (tmp_path / "young" / "a.md").write_bytes(b"text")
    call("add", "a.md")
    assert Changes().has("a.md")
    assert code_of(Changes("HEAD").has, "a.md") == "D963"


@pytest.mark.parametrize("name", ["a b.md", "é\u4e2d.md", 'q"\\.md', "t\ta.md", "-x.md"])
def test_names_of_all_kinds(repository, name):
    (repository / name).write_bytes(b"one\n" * 20 + b"two\n")
    commit()
    (repository / name).write_bytes(b"one\n" * 20 + b"++ b/other.md\n-- x\n")  # renamed, in git's eyes
    call("mv", "--", name, f"docs/{name}")
    assert shown(Changes("HEAD"), f"docs/{name}", ["one", "++", "-- x"]) == ["++", "-- x"]
    call("add", "-A")
    assert Changes().has(f"docs/{name}") and not Changes().has("other.md")


def test_whatever_a_user_set_for_diffs(repository):
    text = "".join(f"{n}\n" for n in range(9))
    (repository / "a.md").write_text(text)
    commit()
    settings = ("noprefix", "mnemonicPrefix", "relative", "interHunkContext=9", "context=3", "external=false")
    for name in settings:
        call("config", f"diff.{name.partition('=')[0]}", name.partition("=")[2] or "true")
    call("config", "color.ui", "always")
    (repository / "a.md").write_text(text.replace("2", "two").replace("6", "six"))
    assert shown(Changes("HEAD"), "a.md", ["1", "two", "3", "4", "six", "7"]) == ["two", "six"]


def test_from_a_folder_below_and_through_a_link(repository, tmp_path, monkeypatch):
    (repository / "docs" / "b.md").write_bytes(b"NEW\r\n")
    monkeypatch.chdir("docs")
    assert Changes("HEAD").has("b.md") and not Changes("HEAD").has("../a.md")
    (tmp_path / "link").symlink_to(repository)
    assert Changes("HEAD").has(str(tmp_path / "link" / "docs" / "b.md"))


def test_as_a_hook_calls_it(repository, monkeypatch):
    (repository / "docs" / "b.md").write_bytes(b"NEW\r\n")
    call("add", "-A")
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert Changes().has("docs/b.md")


def test_each_file_belongs_to_its_own_repository(repository):
    call("init", "-q", "docs/inner")
    (repository / "docs" / "inner" / "i.md").write_bytes(b"text")
    call("-C", "docs/inner", "add", "-A")
    (repository / "a.md").write_bytes(b"other")
    assert Changes().has("docs/inner/i.md") and not Changes().has("a.md")


def test_what_git_cannot_say(repository, tmp_path, monkeypatch):
    assert code_of(Changes("nothing").has, "a.md") == "D963"
    assert code_of(Changes("--all").has, "a.md") == "D963"
    assert code_of(Changes().read, "nothing.md") == "D964"
    assert code_of(Changes().read, "no/folder.md") == "D300"
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("x")
    assert code_of(Changes().has, str(tmp_path / "outside" / "a.md")) == "D962"
    call("checkout", "-q", "--orphan", "other")
    (repository / "a.md").write_text("x")
    commit()
    assert code_of(Changes("main").has, "a.md") == "D965"
    (repository / ".git" / "index").write_bytes(b"damaged")
    assert code_of(Changes().has, "a.md") == "D964"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert code_of(Changes().has, "a.md") == "D961"
