"""Models of words in context on disk: kept as they were, found by folder or pack; refused where damaged."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_cloze import articles, by_hand, random_cloze

from disambig import packs
from disambig.errors import UserError
from disambig.features import FILE, NAMES, Cloze, ContextPlaces, context_vectors, open_cloze
from disambig.text import Words

MODEL = random_cloze(["the", "a", "cat", "sat"])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored") / "new" / "words"
    MODEL.save(folder)
    return {name: (folder / name).read_bytes() for name in ("header.json", FILE)}


def folder_of(home, files):
    home.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (home / name).write_bytes(content)
    return home


def refused(folder):
    """Whether a folder is refused in one line that names it."""
    try:
        model = Cloze.load(folder)
    except UserError as problem:
        assert problem.code == "D990" and str(folder) in str(problem) and "\n" not in str(problem)
        return True
    view = Words()(["The cat sat."])  # what is not refused can be asked
    if model.header["tokenisation"] == Words.name:
        context_vectors(model, view, ContextPlaces(np.array([1, 2]), np.array([2, 2])))
    return False


def test_what_is_saved_is_read(saved, tmp_path):
    again = Cloze.load(folder_of(tmp_path, saved))
    assert (again.left, again.right, again.vocabulary.endings) == (3, 2, 5)
    assert again.header["made"] == "for a test" and again.nothing == 4
    assert np.array_equal(again.vocabulary.words, MODEL.vocabulary.words)
    for name in NAMES[1:]:
        one, other = getattr(MODEL, name), getattr(again, name)
        assert one.dtype == other.dtype and np.array_equal(one, other), name


def test_weights_without_size_are_kept_too():
    model = by_hand(["a", "b"], {(1, "c"): {}})
    assert not model.outputs.any() and np.isfinite(model.output_scale).all()


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_damaged_bytes_are_refused_or_harmless(saved, tmp_path, data):
    name = data.draw(st.sampled_from(sorted(saved)))
    content = bytearray(saved[name])
    how = data.draw(st.sampled_from(["cut", "change", "other"]))
    if how == "cut":
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    elif how == "change":
        for at in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
            content[at] = data.draw(st.integers(0, 255))
    else:
        content = data.draw(st.binary(max_size=60))
    home = folder_of(tmp_path / "damaged", {**saved, name: bytes(content)})
    assert refused(home) or how != "other"


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=2),
)


@given(st.sampled_from(["left", "right", "endings", "tokenisation"]), values)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_another_value_in_the_header_is_refused(saved, tmp_path, name, value):
    header = json.loads(saved["header.json"])
    if header[name] == value and type(header[name]) is type(value):
        return
    changed = {**saved, "header.json": json.dumps({**header, name: value}).encode()}
    assert refused(folder_of(tmp_path / "header", changed)) or (
        name == "tokenisation" and isinstance(value, str)
    )


@pytest.mark.parametrize("header", [b"[]", b"3", b'"left"', b"null", b"{}", b"\xff", b""])
def test_headers_that_are_none(saved, tmp_path, header):
    assert refused(folder_of(tmp_path, {**saved, "header.json": header}))


def with_arrays(saved, **changes):
    with np.load(io.BytesIO(saved[FILE])) as arrays:
        held = {name: arrays[name] for name in NAMES}
    for name, change in changes.items():
        held[name] = change(held[name])
    written = io.BytesIO()
    np.savez(written, **{name: array for name, array in held.items() if array is not None})
    return {**saved, FILE: written.getvalue()}


def wide(array, axis, size):
    return np.zeros([size if i == axis else n for i, n in enumerate(array.shape)], array.dtype)


def replaced(array, value):
    changed = array.copy()
    changed.flat[0] = value
    return changed


BROKEN = [
    *((name, lambda array: None) for name in NAMES),
    *((name, lambda array: array[:-1]) for name in NAMES),
    *((name, lambda array: array.astype(np.float64)) for name in NAMES),
    *((name, lambda array: array.astype(array.dtype.newbyteorder())) for name in ("words", "state_bias")),
    *((name, lambda array: array.reshape(-1)) for name in ("embeddings", "inputs", "states", "outputs")),
    *((name, lambda array: replaced(array, np.nan)) for name in ("word_scale", "output_bias", "hidden_step")),
    *(
        (name, lambda array: replaced(array, np.inf))
        for name in ("input_scale", "state_scale", "hidden_bias")
    ),
    *(("hidden_step", lambda array, value=value: replaced(array, value)) for value in (0, -1, 1e-30)),
    ("words", lambda array: replaced(array, array[1])),
    ("words", lambda array: array[:0]),
    ("words", lambda array: np.uint64(7)),
]


@pytest.mark.parametrize(("name", "change"), BROKEN)
def test_arrays_that_do_not_fit_are_refused(saved, tmp_path, name, change):
    assert refused(folder_of(tmp_path, with_arrays(saved, **{name: change})))


@pytest.mark.parametrize("size", [0, 4_001])
def test_layers_without_bounds_are_refused(saved, tmp_path, size):
    """Sums of 32 bits would not hold the products of such states."""
    changes = {name: lambda array: wide(array, 1, size) for name in ("states", "outputs")}
    changes |= {name: lambda array: wide(array, 0, size) for name in ("state_scale", "state_bias")}
    assert refused(folder_of(tmp_path, with_arrays(saved, **changes)))
    changes = {"embeddings": lambda array: wide(array, 1, size), "inputs": lambda array: wide(array, 1, size)}
    assert refused(folder_of(tmp_path, with_arrays(saved, **changes)))


def test_objects_are_never_read(saved, tmp_path):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name in NAMES:
            array = io.BytesIO()
            np.save(array, np.array([{}], object), allow_pickle=True)
            archive.writestr(f"{name}.npy", array.getvalue())
    assert refused(folder_of(tmp_path, {**saved, FILE: written.getvalue()}))


@pytest.mark.parametrize("name", ["header.json", FILE])
def test_a_file_that_is_not_there(saved, tmp_path, name):
    folder_of(tmp_path, saved)
    (tmp_path / name).unlink()
    assert refused(tmp_path)
    with pytest.raises(UserError, match="D990"):
        open_cloze(tmp_path)


@pytest.mark.parametrize("words", ["", None, 3, ["a"], "no/such/folder", "nul\0/byte", Path("some.npz")])
def test_what_names_no_folder_is_refused(words):
    with pytest.raises(UserError, match="D990"):
        open_cloze(words)


def test_a_pack_brings_one_or_says_that_it_does_not(saved, tmp_path, monkeypatch):
    folder_of(tmp_path / "words", saved)
    brought = {"with": {"words": tmp_path / "words"}, "without": {}}
    monkeypatch.setattr(packs, "pack", lambda name: SimpleNamespace(folders=brought[name]))
    assert open_cloze("with").nothing == 4
    with pytest.raises(UserError, match=r"D991.*'without'"):
        open_cloze("without")
    monkeypatch.undo()
    with pytest.raises(UserError, match="D402"):
        open_cloze("no_such_pack")


def test_a_folder_is_read_once_until_it_changes(saved, tmp_path, monkeypatch):
    first = open_cloze(folder_of(tmp_path / "words", saved))
    assert open_cloze(str(tmp_path / "words")) is first
    monkeypatch.chdir(tmp_path)
    assert open_cloze("words") is first
    articles().save(tmp_path / "words")
    os.utime(tmp_path / "words" / FILE, (1, 1))
    second = open_cloze("words")
    assert second is not first and second.left == 2
    header = tmp_path / "words" / "header.json"
    header.write_text(header.read_text().replace("for a test", "another one"))
    assert open_cloze("words").header["made"] == "another one"
