"""Files and folders that are whole or not there, whatever stood under their names before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.files import TempFiles, is_special, save_file, save_output, saved_folder, temp_folder
from disambig.files import saving as swapping


def test_through_a_link_the_file_behind_it_is_written(tmp_path):
    real, link, chain = tmp_path / "deep" / "real.txt", tmp_path / "link.txt", tmp_path / "chain.txt"
    real.parent.mkdir()
    real.write_text("old")
    link.symlink_to(real)
    chain.symlink_to("link.txt")
    with save_output(chain) as write:
        write(b"new")
    assert chain.is_symlink()
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert [path.name for path in real.parent.iterdir()] == ["real.txt"]


def test_a_link_to_nothing_becomes_a_link_to_the_file(tmp_path):
    link = tmp_path / "link.txt"
    link.symlink_to("real.txt")
    with save_output(link) as write:
        write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "real.txt").read_bytes() == b"new"


def test_a_ring_of_links_is_a_message(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UserError, match="D309"), save_output(tmp_path / "a") as write:
        write(b"new")


def test_a_pipe_is_written_to(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    assert is_special(pipe)
    with save_output(pipe) as write:
        write(b"new")
    reader.join()
    assert found == [b"new"]
    assert pipe.is_fifo()


def test_a_folder_called_fd_is_a_folder(tmp_path):
    (tmp_path / "fd").mkdir()
    (tmp_path / "fd" / "1").write_text("old")
    with save_output(tmp_path / "fd" / "1") as write:
        write(b"new")
    assert (tmp_path / "fd" / "1").read_bytes() == b"new"


WRITES_TO = """
import sys
from pathlib import Path
from disambig.files import save_output
with save_output(Path(sys.argv[1])) as write:
    write(b"new")
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_what_a_shell_opened_is_written_to(tmp_path, name):
    """Through a link of its own: where this fails no device of the machine is replaced."""
    if not Path(name).exists():
        pytest.skip("no such handle here")
    link = tmp_path / "link"
    link.symlink_to(name)
    assert is_special(Path(name))
    command = [sys.executable, "-c", WRITES_TO, str(link)]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"new"
    with open(tmp_path / "log", "ab") as log:  # as >> does
        log.write(b"before, ")
        log.flush()
        subprocess.run(command, stdout=log, check=True)
    assert (tmp_path / "log").read_bytes() == b"before, new"
    assert link.is_symlink()


KILLED = """
import os, signal, sys
from pathlib import Path
from disambig.files import TempFiles, save_file, temp_folder
path = Path(sys.argv[1])
if sys.argv[2] == "file":
    with save_file(path) as write:
        write(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
with temp_folder(TempFiles.for_target(path)) as folder:
    (folder / "inside").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_writer_left_goes_with_the_next(tmp_path, kind):
    target = tmp_path / "target.txt"
    command = [sys.executable, "-c", KILLED, str(target), kind]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    with save_file(tmp_path / "other.txt") as write:
        write(b"whole")
    assert left.exists(), "it belongs to another target"
    with save_file(target) as write:
        write(b"whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.txt", "target.txt"]


def test_the_draft_of_a_living_writer_stays(tmp_path):
    drafts = TempFiles.for_target(tmp_path / "target")
    with save_file(tmp_path / "target") as write, temp_folder(drafts) as folder:
        write(b"one")
        drafts.clean()
        with save_file(tmp_path / "target") as other:
            other(b"two")
        assert folder.is_dir()
    assert (tmp_path / "target").read_bytes() == b"one"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=80))
def test_the_names_of_drafts_are_short(name):
    assert len(os.fsencode(TempFiles.for_target(Path("folder") / name).new().name)) < 60


def test_names_of_any_bytes_have_drafts():
    assert (
        TempFiles.for_target(Path(os.fsdecode(b"\xff\xfe"))).mark != TempFiles.for_target(Path("other")).mark
    )


def watched(monkeypatch, target):
    """Tell of every rename whether the target was there after it."""
    found, rename = [], os.rename

    def watch(source, to):
        rename(source, to)
        found.append(target.is_dir())

    monkeypatch.setattr(os, "rename", watch)
    return found


def test_a_folder_is_replaced_without_a_moment_without_it(tmp_path, monkeypatch):
    target, draft = tmp_path / "target", tmp_path / "draft"
    target.mkdir()
    (target / "old").write_text("old")
    if not swapping.exchange_names(target, target):
        pytest.skip("this file system cannot exchange names")
    found = watched(monkeypatch, target)
    draft.mkdir()
    (draft / "new").write_text("new")
    swapping.replace_atomically(draft, target)
    assert [path.name for path in target.iterdir()] == ["new"]
    assert all(found)
    assert not draft.exists()


def test_without_exchange_a_killed_swap_is_mended(tmp_path, monkeypatch):
    monkeypatch.setattr(swapping, "exchange_names", lambda one, other: False)
    target, draft = tmp_path / "target", tmp_path / "draft"
    target.mkdir()
    (target / "old").write_text("old")
    draft.mkdir()
    rename = os.rename

    def killed(source, to):
        if Path(source) == draft:
            raise KeyboardInterrupt
        rename(source, to)

    monkeypatch.setattr(os, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        swapping.replace_atomically(draft, target)
    monkeypatch.setattr(os, "rename", rename)
    swapping.restore(target)
    assert (target / "old").read_text() == "old"
    swapping.replace_atomically(draft, target)
    assert list(target.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_a_swap_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    monkeypatch.setattr(swapping, "exchange_names", lambda one, other: False)
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(OSError, match="No such file"):
        swapping.replace_atomically(tmp_path / "missing", target)
    assert target.is_dir()


def test_a_folder_stands_when_all_went_well(tmp_path):
    target, link = tmp_path / "deep" / "target", tmp_path / "link"
    link.symlink_to(target)
    with saved_folder(link) as draft:
        (draft / "one").write_text("one")
        assert not target.exists()
    assert (link / "one").read_text() == "one"
    with pytest.raises(ValueError, match="no"), saved_folder(target) as draft:
        (draft / "two").write_text("two")
        raise ValueError("no")
    assert [path.name for path in target.iterdir()] == ["one"]
    with saved_folder(target) as draft:
        (draft / "two").write_text("two")
    assert [path.name for path in target.iterdir()] == ["two"]
    assert [path.name for path in target.parent.iterdir()] == ["target"]
    assert link.is_symlink()


def test_a_folder_that_cannot_be_made_is_said_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="D309"), saved_folder(tmp_path / "file" / "target"):
        pytest.fail("it began")
