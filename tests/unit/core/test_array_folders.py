"""Folders of arrays: what was written is read again, and damage is found."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as np_st

from disambig.errors import UserError
from disambig.files import HEADER, ArrayFolder, digest_arrays

NAMES = ("words", "counts")
LAYOUT = ArrayFolder("table.npz", NAMES, "D655", "test.table.v1")
arrays_of_any_kind = np_st.arrays(
    st.sampled_from([np.int8, np.uint64, np.float32, np.bool_]), np_st.array_shapes(max_dims=2, min_side=0)
)


NOTE = {"note": "für"}


def change_header(folder, **changes):
    header = json.loads((folder / HEADER).read_text("utf8"))
    (folder / HEADER).write_text(json.dumps({**header, **changes}), "utf8")


@given(arrays_of_any_kind, arrays_of_any_kind)
def test_what_was_written_is_read_again(words, counts):
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
def test_the_digest_depends_on_names_types_shapes_and_contents_but_not_on_order(order, values):
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
        (
            lambda folder: change_header(folder, format="test.table.v2"),
            "format in its header is not test.table.v1",
        ),
        (lambda folder: change_header(folder, digest="0"), "do not match"),
    ],
)
def test_damaged_folders_are_one_error(tmp_path, damage, problem):
    LAYOUT.write(tmp_path, NOTE, ARRAYS)
    damage(tmp_path)
    with pytest.raises(UserError, match="D655") as caught:
        LAYOUT.read(tmp_path)
    assert problem in str(caught.value)


ARRAYS = {"words": np.arange(4, dtype=np.uint64), "counts": np.ones(4, np.int32)}


def test_format_and_digest_are_those_of_the_layout_and_the_arrays(tmp_path):
    LAYOUT.write(tmp_path, {"format": "test.old.v0", "digest": "of other arrays"}, ARRAYS)
    assert LAYOUT.read(tmp_path)[0] == {"format": LAYOUT.format, "digest": digest_arrays(ARRAYS)}
    own = ArrayFolder(LAYOUT.file, NAMES, "D655", LAYOUT.format, has_digest=False)
    own.write(tmp_path, {"digest": "computed otherwise"}, ARRAYS)
    assert own.read(tmp_path)[0] == {"format": LAYOUT.format, "digest": "computed otherwise"}


def test_the_header_is_written_last_and_failure_leaves_no_temporary_file(tmp_path):
    LAYOUT.write(tmp_path, NOTE, ARRAYS)
    before = (tmp_path / HEADER).read_bytes()
    (tmp_path / LAYOUT.file).unlink()
    (tmp_path / LAYOUT.file).mkdir()  # cannot be replaced by a file
    with pytest.raises(UserError, match=r"D309.*table\.npz"):
        LAYOUT.write(tmp_path, {"note": "another"}, ARRAYS)
    assert (tmp_path / HEADER).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [HEADER, LAYOUT.file]


def test_a_folder_that_cannot_be_created_is_one_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UserError, match="D309"):
            LAYOUT.write(folder, NOTE, ARRAYS)
