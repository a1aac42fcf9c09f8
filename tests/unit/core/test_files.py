"""Files: atomic writes, temporary files, folders of arrays, JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
from examples import fewer_examples
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as np_st

from disambig.errors import UserError
from disambig.files import (
    HEADER,
    ArrayFolder,
    TempFiles,
    digest_arrays,
    is_process_alive,
    is_special,
    json_text,
    lock_file,
    read_json,
    replace_nonfinite,
    save_file,
    save_output,
    saved_folder,
    saving as saving,
    temp_folder,
)


@pytest.mark.parametrize("old", ["old", None], ids=["replaced", "created"])
def test_writes_the_target_of_a_link(tmp_path, old):
    real, link, chain = tmp_path / "deep" / "real.txt", tmp_path / "link.txt", tmp_path / "chain.txt"
    real.parent.mkdir()
    if old is not None:
        real.write_text(old)
    link.symlink_to(real)
    chain.symlink_to("link.txt")
    with save_output(chain) as write:
        write(b"new")
    assert chain.is_symlink()
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert [path.name for path in real.parent.iterdir()] == ["real.txt"]


def test_reports_a_cycle_of_links(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UserError, match="D309"), save_output(tmp_path / "a") as write:
        write(b"new")


def test_writes_to_a_pipe(tmp_path):
    pipe, result = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: result.append(pipe.read_bytes()))
    reader.start()
    assert is_special(pipe)
    with save_output(pipe) as write:
        write(b"new")
    reader.join()
    assert result == [b"new"]
    assert pipe.is_fifo()


def test_a_folder_named_fd_is_not_special(tmp_path):
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
def test_writes_to_inherited_handles(tmp_path, name):
    """The path is a link, so that a failing test does not replace a device of this machine."""
    if not Path(name).exists():
        pytest.skip("no such handle here")
    link = tmp_path / "link"
    link.symlink_to(name)
    assert is_special(Path(name))
    command = [sys.executable, "-c", WRITES_TO, str(link)]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"new"
    with open(tmp_path / "log", "ab") as log:  # like >>
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
def test_removes_temporary_files_of_a_killed_writer(tmp_path, kind):
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


def test_keeps_temporary_files_of_a_running_writer(tmp_path):
    temp = TempFiles.for_target(tmp_path / "target")
    with save_file(tmp_path / "target") as write, temp_folder(temp) as folder:
        write(b"one")
        temp.clean()
        with save_file(tmp_path / "target") as other:
            other(b"two")
        assert folder.is_dir()
    assert (tmp_path / "target").read_bytes() == b"one"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=80))
def test_temporary_names_are_short(name):
    assert len(os.fsencode(TempFiles.for_target(Path("folder") / name).new().name)) < 60


def test_temporary_names_for_names_of_any_bytes():
    one, other = (TempFiles.for_target(Path(name)) for name in (os.fsdecode(b"\xff\xfe"), "other"))
    assert one.mark != other.mark


def watch_renames(monkeypatch, target):
    """Record for every rename whether the target existed after it."""
    result, rename = [], os.rename

    def watch(source, to):
        rename(source, to)
        result.append(target.is_dir())

    monkeypatch.setattr(os, "rename", watch)
    return result


def test_replaces_a_folder_atomically(tmp_path, monkeypatch):
    target, new_folder = tmp_path / "target", tmp_path / "draft"
    target.mkdir()
    (target / "old").write_text("old")
    if not saving.exchange_names(target, target):
        pytest.skip("this file system cannot exchange names")
    result = watch_renames(monkeypatch, target)
    new_folder.mkdir()
    (new_folder / "new").write_text("new")
    saving.replace_atomically(new_folder, target)
    assert [path.name for path in target.iterdir()] == ["new"]
    assert all(result)
    assert not new_folder.exists()


def test_restores_a_folder_after_a_killed_replacement(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "exchange_names", lambda one, other: False)
    target, new_folder = tmp_path / "target", tmp_path / "draft"
    target.mkdir()
    (target / "old").write_text("old")
    new_folder.mkdir()
    rename = os.rename

    def killed(source, to):
        if Path(source) == new_folder:
            raise KeyboardInterrupt
        rename(source, to)

    monkeypatch.setattr(os, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        saving.replace_atomically(new_folder, target)
    monkeypatch.setattr(os, "rename", rename)
    saving.restore(target)
    assert (target / "old").read_text() == "old"
    saving.replace_atomically(new_folder, target)
    assert list(target.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_a_failed_replacement_keeps_the_old_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "exchange_names", lambda one, other: False)
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(OSError, match="No such file"):
        saving.replace_atomically(tmp_path / "missing", target)
    assert target.is_dir()


def test_saved_folder_appears_only_on_success(tmp_path):
    target, link = tmp_path / "deep" / "target", tmp_path / "link"
    link.symlink_to(target)
    with saved_folder(link) as new_folder:
        (new_folder / "one").write_text("one")
        assert not target.exists()
    assert (link / "one").read_text() == "one"
    with pytest.raises(ValueError, match="no"), saved_folder(target) as new_folder:
        (new_folder / "two").write_text("two")
        raise ValueError("no")
    assert [path.name for path in target.iterdir()] == ["one"]
    with saved_folder(target) as new_folder:
        (new_folder / "two").write_text("two")
    assert [path.name for path in target.iterdir()] == ["two"]
    assert [path.name for path in target.parent.iterdir()] == ["target"]
    assert link.is_symlink()


def test_reports_a_folder_that_cannot_be_created(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="D309"), saved_folder(tmp_path / "file" / "target"):
        pytest.fail("it began")


NAMES = ("words", "counts")
LAYOUT = ArrayFolder("table.npz", NAMES, "D655", "test.table.v1")

arrays_of_any_kind = np_st.arrays(
    st.sampled_from([np.int8, np.uint64, np.float32, np.bool_]), np_st.array_shapes(max_dims=2, min_side=0)
)

NOTE = {"note": "für"}
ARRAYS = {"words": np.arange(4, dtype=np.uint64), "counts": np.ones(4, np.int32)}


def change_header(folder, **changes):
    header = json.loads((folder / HEADER).read_text("utf8"))
    (folder / HEADER).write_text(json.dumps({**header, **changes}), "utf8")


@fewer_examples
@given(arrays_of_any_kind, arrays_of_any_kind)
def test_array_folder_round_trips(words, counts):
    arrays = {"words": words, "counts": counts}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "new" / "folder"
        assert not LAYOUT.is_in(folder)
        LAYOUT.write(folder, NOTE, arrays)
        assert LAYOUT.is_in(folder)
        assert sorted(path.name for path in folder.iterdir()) == [HEADER, LAYOUT.file]
        again, read = LAYOUT.read(folder)
    assert again == {**NOTE, "format": LAYOUT.format, "digest": digest_arrays(arrays)}
    assert list(read) == list(NAMES)
    for name in NAMES:
        assert read[name].dtype == arrays[name].dtype
        assert np.array_equal(read[name], arrays[name], equal_nan=arrays[name].dtype.kind == "f")


@given(st.permutations(NAMES), arrays_of_any_kind)
def test_digest_depends_on_names_types_shapes_and_contents(order, values):
    arrays = {"words": values, "counts": np.arange(3)}
    digest = digest_arrays(arrays)
    assert digest_arrays({name: arrays[name] for name in order}) == digest
    assert digest_arrays({**arrays, "counts": np.arange(3)[:, None]}) != digest
    assert digest_arrays({**arrays, "counts": np.arange(3, dtype=np.uint64)}) != digest
    assert digest_arrays({**arrays, "counts": np.array([0, 1, 3])}) != digest
    assert digest_arrays({"word": values, "counts": np.arange(3)}) != digest
    assert digest_arrays(arrays, b"start") != digest


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda folder: (folder / HEADER).unlink(), "No such file"),
        (lambda folder: (folder / LAYOUT.file).write_bytes(b"PK"), ""),
        (lambda folder: (folder / HEADER).write_text("[]"), "format"),
        (lambda folder: change_header(folder, format="test.table.v2"), "its header is not test.table.v1"),
        (lambda folder: change_header(folder, digest="0"), "do not match"),
    ],
)
def test_rejects_damaged_folders(tmp_path, damage, problem):
    LAYOUT.write(tmp_path, NOTE, ARRAYS)
    damage(tmp_path)
    with pytest.raises(UserError, match="D655") as caught:
        LAYOUT.read(tmp_path)
    assert problem in str(caught.value)


def test_header_has_format_and_digest(tmp_path):
    LAYOUT.write(tmp_path, {"format": "test.old.v0", "digest": "of other arrays"}, ARRAYS)
    assert LAYOUT.read(tmp_path)[0] == {"format": LAYOUT.format, "digest": digest_arrays(ARRAYS)}
    LAYOUT.write(str(tmp_path / "named by a text"), NOTE, ARRAYS)
    assert LAYOUT.read(str(tmp_path / "named by a text"))[0]["note"] == NOTE["note"]
    without_digest = ArrayFolder(LAYOUT.file, NAMES, "D655", LAYOUT.format, has_digest=False)
    without_digest.write(tmp_path, {"digest": "computed otherwise"}, ARRAYS)
    assert without_digest.read(tmp_path)[0] == {"format": LAYOUT.format, "digest": "computed otherwise"}


def test_writes_the_header_last_and_cleans_up_on_failure(tmp_path):
    LAYOUT.write(tmp_path, NOTE, ARRAYS)
    before = (tmp_path / HEADER).read_bytes()
    (tmp_path / LAYOUT.file).unlink()
    (tmp_path / LAYOUT.file).mkdir()  # cannot be replaced by a file
    with pytest.raises(UserError, match=r"D309.*table\.npz"):
        LAYOUT.write(tmp_path, {"note": "another"}, ARRAYS)
    assert (tmp_path / HEADER).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [HEADER, LAYOUT.file]


def test_array_folder_reports_a_folder_that_cannot_be_created(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UserError, match="D309"):
            LAYOUT.write(folder, NOTE, ARRAYS)


ODD = {"value": float("nan"), "interval": (1.5, float("inf")), "rows": [{"p": float("-inf")}], "n": 3}


def test_json_text_has_null_for_nonfinite_numbers():
    read = json.loads(json_text(ODD), parse_constant=lambda name: f"not JSON: {name}")
    assert read == {"value": None, "interval": [1.5, None], "rows": [{"p": None}], "n": 3}


def test_json_text_keeps_other_values():
    plain = {"a": [True, None, "x", 0.5], "b": {}}
    assert replace_nonfinite(plain) == plain
    assert json_text({"a": "\u00e4"}, indent=None, ensure_ascii=False) == '{"a": "\u00e4"}'


def test_json_files_have_a_maximum_size(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("[1, 2]", encoding="utf8")
    assert read_json(path, limit=6) == [1, 2]
    with pytest.raises(ValueError, match="it has more than 5 bytes"):
        read_json(path, limit=5)


def test_a_lock_excludes_others_unless_both_are_shared(tmp_path):
    path = tmp_path / "lock"
    path.touch()
    with open(path, "rb") as first, open(path, "rb") as second, open(path, "rb") as third:
        assert lock_file(first.fileno())
        assert not lock_file(second.fileno()) and not lock_file(second.fileno(), shared=True)
        first.close()
        assert lock_file(second.fileno(), shared=True) and lock_file(third.fileno(), shared=True)
        assert not lock_file(third.fileno())


@pytest.mark.skipif(os.name != "posix", reason="other systems have no numbers of processes")
def test_other_processes_are_alive_until_they_end():
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    assert is_process_alive(child.pid)
    child.communicate()
    assert not is_process_alive(child.pid) and not is_process_alive(os.getpid())
