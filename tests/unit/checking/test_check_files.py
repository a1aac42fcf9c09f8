"""Checked files: finding, reading and writing them, and diffs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from examples import fewer_examples
from hypothesis import example, given, strategies as st

from disambig.checking import files, find_files, read_text, unified_diff, write_text
from disambig.errors import UserError
from disambig.formats import SkippedFiles

ROUNDS = 200


def write(path, data=b"old\r\ntext"):
    path.write_bytes(data)
    return read_text(str(path))


def code_of(call, *arguments, **settings):
    with pytest.raises(UserError) as caught:
        call(*arguments, **settings)
    return caught.value.code


def test_files_of_a_directory(tmp_path):
    for name in ("b.txt", "a.MD", "c.tex", "d.py", ".e.md", "f.md.bak", ".git/g.md", "sub/h.markdown"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    given = [str(tmp_path), str(tmp_path / "b.txt")]
    inside = [os.path.relpath(path, tmp_path) for path in find_files(given)]
    assert inside == ["a.MD", "b.txt", "c.tex", os.path.join("sub", "h.markdown")]
    (tmp_path / "z.txt").symlink_to(tmp_path / "b.txt")
    assert len(list(find_files([str(tmp_path)]))) == len(inside)  # the link is the same file
    assert list(find_files(["nowhere", "-", "-"])) == ["nowhere", "-"]


def test_a_file_is_read_instead_of_a_link_to_it(tmp_path):
    """Git and --fix work on the file, not on links to it."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.md").write_text("x")
    (tmp_path / "a.md").symlink_to(tmp_path / "docs" / "b.md")
    (tmp_path / "c.md").symlink_to(tmp_path / "docs" / "b.md")
    for paths in ([tmp_path], [tmp_path / "a.md", tmp_path]):
        assert list(find_files(map(str, paths))) == [str(tmp_path / "docs" / "b.md")]
    links = [str(tmp_path / "c.md"), str(tmp_path / "a.md")]
    assert list(find_files(links)) == links[:1]


def test_skipped_files_of_a_directory_are_counted(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "out.md").write_text("x")
    (home / "out.md").symlink_to(tmp_path / "out.md")
    (home / "up").symlink_to(tmp_path)
    (home / "again").symlink_to(home)
    os.mkfifo(home / "pipe.md")
    for name in (".github", ".cache"):
        (home / name).mkdir()
    git = SimpleNamespace(tracks=lambda folder: folder.endswith(".github"), ignores=lambda path: False)
    left_out = SkippedFiles()
    assert list(find_files([str(home)], left_out=left_out, git=git)) == []
    assert left_out.describe() == (
        f"1 folder (.github), 2 links out of the directory ({home / 'up'}, {home / 'out.md'}), "
        f"1 special file ({home / 'pipe.md'})"
    )


def test_unreadable_files(tmp_path, monkeypatch):
    assert code_of(read_text, str(tmp_path / "a.md")) == "D300"
    assert code_of(read_text, str(tmp_path)) == "D308"
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 3)
    unreadable = [("a.md", b"\xff", "D304"), ("a.md", b"a\0", "D303"), ("a.md", b"long", "D320")]
    unreadable += [("a.jsonl", b"", "D640"), ("a.txt.gz", b"", "D640")]
    for name, data, code in unreadable:
        (tmp_path / name).write_bytes(data)
        assert code_of(read_text, str(tmp_path / name)) == code


def test_a_written_file_keeps_its_mode_and_gets_a_backup(tmp_path):
    path = tmp_path / "a.md"
    file = write(path, b"\xef\xbb\xbfold\r\ntext")
    path.chmod(0o640)
    copy = write_text(file, file.text.replace("old", "new"), backup=".bak")
    assert path.read_bytes() == b"\xef\xbb\xbfnew\r\ntext"
    assert (tmp_path / "a.md.bak").read_bytes() == file.data
    assert copy == str(tmp_path / "a.md.bak")
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["a.md", "a.md.bak"]


def test_older_backups_are_kept_and_backups_are_optional(tmp_path):
    path = tmp_path / "a.md"
    assert write_text(write(path), "new", backup=None) is None
    assert os.listdir(tmp_path) == ["a.md"]
    for number in range(3):
        write_text(write(path, b"old %d" % number), "new", backup=".bak")
    copies = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path) if name != "a.md"}
    assert copies == {"a.md.bak": b"old 0", "a.md.bak2": b"old 1", "a.md.bak3": b"old 2"}


def test_links_and_read_only_files_are_not_written(tmp_path):
    real, link, twin = (tmp_path / f"{name}.md" for name in ("real", "link", "twin"))
    write(real)

    def refused(path):
        return code_of(write_text, read_text(str(path)), "new", backup=".bak") == "D642"

    link.symlink_to(real)
    assert refused(link)
    os.link(real, twin)
    assert refused(real)
    twin.unlink()
    real.chmod(0o444)
    assert refused(real)
    real.chmod(0o644)
    tmp_path.chmod(0o555)
    assert refused(real)
    tmp_path.chmod(0o755)
    assert real.read_bytes() == b"old\r\ntext"
    assert sorted(os.listdir(tmp_path)) == ["link.md", "real.md"]


def test_a_file_that_changed_since_it_was_read_is_not_written(tmp_path):
    path = tmp_path / "a.md"
    file = write(path)
    path.write_bytes(b"newer text")
    assert code_of(write_text, file, "new", backup=".bak") == "D643"
    state = path.stat()
    file = read_text(str(path))
    path.write_bytes(b"NEWER TEXT")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert code_of(write_text, file, "new", backup=".bak") == "D643"
    assert path.read_bytes() == b"NEWER TEXT"
    assert os.listdir(tmp_path) == ["a.md"]


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.md"
    file = write(path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    assert code_of(write_text, file, "new", backup=".bak") == "D309"
    assert path.read_bytes() == file.data
    assert os.listdir(tmp_path) == ["a.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
@pytest.mark.parametrize("mode", ["ab", "r+b"])
@pytest.mark.parametrize("backup", [".bak", None])
def test_an_editor_that_has_the_file_open_keeps_it(tmp_path, mode, backup):
    path = tmp_path / "a.md"
    file = write(path)
    with open(path, mode) as editor:
        assert code_of(write_text, file, "new", backup=backup) == "D643"
        editor.write(b"by hand")
    assert b"by hand" in path.read_bytes()
    assert os.listdir(tmp_path) == ["a.md"]


def write_in_place(path, text):
    with open(path, "w") as file:
        file.write(text)


def write_and_rename(path, text):
    draft = path.with_suffix(".new")
    draft.write_text(text)
    os.replace(draft, path)


@pytest.mark.parametrize("save", [write_in_place, write_and_rename])
def test_concurrent_writes_of_an_editor_are_kept(tmp_path, save):
    """After both, the file has the text of the editor, corrected or not, but never an older one."""
    path = tmp_path / "a.md"
    path.write_text("0 quite\n")
    together = threading.Barrier(2, timeout=60)

    def edit():
        for number in range(1, ROUNDS):
            together.wait()
            time.sleep(number % 20 / 20_000)
            save(path, f"{number} quite\n")
            together.wait()

    editor = threading.Thread(target=edit)
    editor.start()
    outcomes, texts = [], []
    for _ in range(1, ROUNDS):
        together.wait()
        try:
            file = read_text(str(path))
            write_text(file, file.text.replace("quite", "quiet"), backup=None)
            outcomes.append("")
        except UserError as problem:
            outcomes.append(problem.code)
        together.wait()
        texts.append(path.read_text())
    editor.join()
    written = [(f"{number} quite\n", f"{number} quiet\n") for number in range(1, ROUNDS)]
    assert [pair for pair in zip(texts, written, strict=True) if pair[0] not in pair[1]] == []
    assert set(outcomes) <= {"", "D643"}
    assert os.listdir(tmp_path) == ["a.md"]


def test_unified_diff():
    old = "".join(f"{i}\n" for i in range(20))
    new = old.replace("\n2\n", "\nx\n").replace("\n15\n", "\ny\n")
    assert unified_diff("a b", old, new) == (
        "--- a b\t\n+++ a b\t\n@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+x\n 3\n 4\n 5\n"
        "@@ -13,7 +13,7 @@\n 12\n 13\n 14\n-15\n+y\n 16\n 17\n 18\n"
    )
    assert unified_diff("a", old, old) == ""
    no_end = "\\ No newline at end of file\n"
    assert unified_diff("a", "b", "c").endswith(f"-b\n{no_end}+c\n{no_end}")


LINES = st.lists(st.sampled_from(["a", "b", "a\r", "", "\ufeffc", "é"]), min_size=1, max_size=30)
TOOLS = (["patch", "-p0", "-s", "--binary"], ["git", "apply", "-p0", "--whitespace=nowarn"])
needs_tools = pytest.mark.skipif(
    not shutil.which("patch") or not shutil.which("git"), reason="needs patch and git"
)


@needs_tools
@fewer_examples
@given(LINES, st.data())
def test_a_diff_can_be_applied(tmp_path_factory, lines, data):
    old = "\n".join(lines)
    new = "\n".join(data.draw(st.sampled_from([line, line and line + "x"])) for line in lines)
    diff = unified_diff("a.md", old, new)
    for command in TOOLS:
        home = tmp_path_factory.mktemp("diff")
        (home / "a.md").write_bytes(old.encode())
        if diff:
            subprocess.run(command, input=diff.encode(), cwd=home, check=True, capture_output=True)
        assert (home / "a.md").read_bytes() == new.encode()


EVIL = "\n--- evil.md\n+++ evil.md\n@@ -1 +1 @@\n-old\n+evil\n"
PIECES = [
    " ", "\t", '"', "\\", "\n", "\r", "\x1b[31m", "\u202e", "\u200f", "\xa0", "\udcff", "é", "日", "a",
    "b.md", "--- ", "+++ ", "@@ -1,1 +1,1 @@", EVIL,
    "evil.md", "\tevil.md", "2026-01-01 00:00:00.000000000 +0000", "\\n", "\\303", "'", "%", "..", "-",
    "\x7f",
]  # fmt: skip
FILE_NAMES = (
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6)
    .map("".join)
    .filter(lambda name: name not in (".", "..") and len(os.fsencode(name)) < 200)
)


@needs_tools
@pytest.mark.parametrize("tool", TOOLS, ids=["patch", "git apply"])
@example(f"x{EVIL}")
@given(FILE_NAMES)
def test_a_diff_changes_only_its_own_file(tool, tmp_path_factory, name):
    home = tmp_path_factory.mktemp("named")
    others = {"evil.md", "a", "b.md", "a b.md", *name.split(), *name.split("\n"), *name.split("\t")}
    others -= {name, "", ".", ".."}
    for other in others:
        (home / other).write_text("old\n")
    (home / name).write_text("old\n")
    diff = unified_diff(name, "old\n", "new\n").encode("utf-8", "surrogateescape")
    assert diff.count(b"\n") == 5
    done = subprocess.run(tool, input=diff, cwd=home, capture_output=True, timeout=60).returncode == 0
    if "\n" not in name:  # which patch never takes
        assert done
    assert (home / name).read_text() == ("new\n" if done else "old\n")
    assert {other for other in others if (home / other).read_text() != "old\n"} == set()
    assert set(os.listdir(home)) == {name, *others}
