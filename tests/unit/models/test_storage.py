"""Saved models: round trips, rejected damage, paths, measured precision, stacked states."""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from model_files import (
    VIEW,
    assert_rejected,
    change_description,
    edit_config,
    read_arrays,
    update_checksums,
    write_arrays,
)

from disambig import registry
from disambig.counts import build_table
from disambig.data import PrecisionPoint, PrecisionTable
from disambig.errors import UserError
from disambig.files import TempFiles, exchange_names
from disambig.models import (
    PRECISION_FILE,
    absolute_paths,
    load_model,
    read_precision,
    relative_paths,
    save_model,
    stack,
    unstack,
    write_precision,
)
from disambig.text import Words

ARRAYS = ("weights.npz", "judge.npz")
FILES = ["README.md", "config.cfg", "judge.npz", "model.json", "weights.npz"]


def test_round_trip(model, home, tmp_path):
    again = load_model(home)
    assert (again.name, again.version, again.language) == ("small", "1.2.3", "")
    judge = {"@disambig_judges": "disambig.Corrections.v1"}  # the default of its task
    assert again.config == {"judge": judge, **model.config}
    assert again.provenance == json.loads(json.dumps(model.provenance))
    assert again.flags_per_1000 == model.flags_per_1000
    first, second = model.decide(VIEW), again.decide(VIEW)
    for column in ("scores", "probabilities", "flagged", "margins", "n_hits", "n_queries", "chosen"):
        assert np.array_equal(getattr(first, column), getattr(second, column)), column
    assert len(first) == 5
    assert sorted(path.name for path in home.iterdir()) == FILES
    save_model(load_model(home), tmp_path / "again")
    for name in ("config.cfg", "model.json"):
        assert (tmp_path / "again" / name).read_bytes() == (home / name).read_bytes()
    for name in ARRAYS:
        ours, theirs = read_arrays(home, name), read_arrays(tmp_path / "again", name)
        assert ours.keys() == theirs.keys()
        assert all(ours[key].tobytes() == theirs[key].tobytes() for key in ours)


def test_force_replaces_models_links_and_empty_folders(model, home, tmp_path):
    before = (home / "model.json").read_bytes()
    with pytest.raises(UserError, match="D406"):
        save_model(model, home)
    assert (home / "model.json").read_bytes() == before
    (home / "junk").write_text("old")
    save_model(model, home, force=True)
    assert not (home / "junk").exists()
    assert [path.name for path in home.parent.iterdir()] == ["model"]
    (tmp_path / "empty").mkdir()
    (home / "weights.npz").write_bytes(b"cut")
    for target in (tmp_path / "empty", home):
        with pytest.raises(UserError, match="D406"):
            save_model(model, target)
        save_model(model, target, force=True)
        assert load_model(target).name == "small"
    link = tmp_path / "link"
    link.symlink_to(home, target_is_directory=True)
    (home / "junk").write_text("old")
    save_model(model, link, force=True)
    assert link.is_symlink()
    assert load_model(link).name == "small"
    assert not (home / "junk").exists()


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", ["letter.txt", "model.json"])
def test_never_replaces_other_files(model, tmp_path, name, force):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / name).write_text('{"format": "of a letter"}')
    for target in (folder, folder / name):
        with pytest.raises(UserError, match="D940"):
            save_model(model, target, force=force)
    assert [path.name for path in folder.iterdir()] == [name]
    assert (folder / name).read_text() == '{"format": "of a letter"}'
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


class State:
    """A component of a model with some state."""

    def __init__(self, **arrays):
        self.arrays = arrays

    def state(self):
        return self.arrays


def test_saves_only_what_can_be_loaded_again_and_else_leaves_no_files(model, tmp_path):
    strange, (weights,) = State(weights=np.array([object()])), model.scorers[0].state().values()
    with pytest.raises(TypeError, match="plain arrays"):
        save_model(replace(model, scorers=(strange, None)), tmp_path / "model")
    missing, more = State(other=np.zeros(3)), State(weights=weights, other=np.zeros(3))
    for change, message in (
        ({"judge": strange}, r"D414.*weights: it contains Python objects;.*a plain array"),
        ({"judge": State(weights=[1.0])}, r"D414.*weights: it is of type list;.*a plain array"),
        ({"scorers": (missing, None)}, r"D415.*/model: it could not be loaded again .*'weights'.*state\(\)"),
        ({"scorers": (more, None)}, r"D415.*\(scorers.other.* would be different\)"),
    ):
        with pytest.raises(UserError, match=message):
            save_model(replace(model, **change), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# Damage
@pytest.mark.parametrize("name", ["model.json", "config.cfg", *ARRAYS])
def test_rejects_damaged_files(home, name):
    data = (home / name).read_bytes()
    damaged = [data[:-1], data[: len(data) // 2], b"", data[:40] + bytes([data[40] ^ 1]) + data[41:]]
    if name == "model.json":
        damaged = [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000]
    for content in damaged:
        (home / name).write_bytes(content)
        assert_rejected(home, "D405", name)
    (home / name).unlink()
    assert_rejected(home, "D405", name)
    (home / name).mkdir()
    assert_rejected(home, "D405", name)
    assert_rejected(home / "nothing", "D405", "model.json")


def test_rejects_other_formats(home):
    change_description(home, format=3)
    assert_rejected(home, "D407", "3", "1 and 2")
    change_description(home, format=None)
    assert_rejected(home, "D407")


def test_rejects_another_count_table(model, home, saved, tmp_path):
    other = build_table(tmp_path / "other.counts", ["It was quite another text."], Words())
    edit_config(home, str(saved / "small.counts"), str(other))
    assert_rejected(home, "D408")
    change_description(home, counts=["0" * 32])
    assert_rejected(home, "D408")


def test_rejects_unknown_entries_other_groups_and_wrong_arguments(home):
    edit_config(home, '"toys.Pairs.v1"', '"toys.Pairs.v1"\npairs = ["quite/quiet", "lose/loose"]')
    assert_rejected(home, "D409", "pairs")
    edit_config(home, 'pairs = ["quite/quiet", "lose/loose"]', "paris = 1")
    assert_rejected(home, "D005", "paris", "config.cfg")
    edit_config(home, "toys.Pairs.v1", "toys.Paris.v1")
    assert_rejected(home, "D001", "toys.Pairs.v1")
    edit_config(home, "toys.Paris.v1", "os.system.v1")
    assert_rejected(home, "D001", "os.system.v1", f"needed by the model {home}: install the plugin")
    edit_config(home, "@disambig_tasks", "@disambig_task")
    assert_rejected(home, "D001", "@disambig_task", "@disambig_tasks")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('@disambig_tasks = "toys.Pairs.v1"', "words = 1"),
        ('@disambig_learners = "toys.Perceptron.v1"', '@disambig_tasks = "toys.Pairs.v1"'),
        ('@disambig_extractors = "disambig.NgramCounts.v1"', '@disambig_learners = "toys.Constant.v1"'),
        ('@disambig_tokenisations = "disambig.words.v1"', '@disambig_learners = "toys.Constant.v1"'),
        ("[tokenisation]", "[tokenization]"),
        ("[learner]", "[teacher]"),
    ],
)
def test_rejects_a_config_whose_sections_make_other_objects(home, old, new):
    edit_config(home, old, new)
    with pytest.raises(UserError, match=r"\[D405\]|\[D005\]"):
        load_model(home)


@pytest.mark.parametrize("text", ["[task", "no section", "\0", "[a]\nx = ${b.c}"])
def test_rejects_text_that_is_not_a_config(home, text):
    (home / "config.cfg").write_text(text)
    update_checksums(home)
    assert_rejected(home, "D005", "config.cfg")


class Bomb:
    """An object that creates a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("file", ARRAYS)
def test_never_unpickles(home, tmp_path, file):
    arrays = read_arrays(home, file)
    for name in arrays:
        write_arrays(home, arrays | {name: np.array([Bomb(tmp_path / "mark")], object)}, file)
        assert_rejected(home, "D405", file)
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("file", ARRAYS)
def test_rejects_compressed_arrays(home, file):
    np.savez_compressed(home / file, **read_arrays(home, file))
    update_checksums(home)
    assert_rejected(home, "D405", "compressed")


FLOATS = "{'descr': '<f8', 'fortran_order': False, 'shape': SHAPE, }\n"


@pytest.mark.parametrize(
    "header",
    [
        FLOATS.replace("SHAPE", "(1000000000000000,)"),
        FLOATS.replace("SHAPE", "(-1,)"),
        FLOATS.replace("SHAPE", "(4,)"),
        FLOATS.replace("SHAPE", "(1,)").replace("<f8", "|O"),
        "{'descr': '<f8', 'shape': (\n",
        "__import__('os').mkdir('mark')\n",
        "(" * 5000,
    ],
)
@pytest.mark.parametrize(("file", "member"), [("weights.npz", "scorers.weights"), ("judge.npz", "pooled")])
def test_rejects_invalid_array_headers(home, header, file, member, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    npy = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode("latin1")
    with zipfile.ZipFile(home / file, "w") as archive:
        archive.writestr(f"{member}.npy", npy)
    update_checksums(home)
    assert_rejected(home, "D405")
    assert not (tmp_path / "mark").exists()


def test_archive_members_are_not_extracted(home, tmp_path):
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(4))
    for name in ARRAYS:
        with zipfile.ZipFile(home / name, "a") as archive:
            archive.writestr("../../outside.npy", buffer.getvalue())
    update_checksums(home)
    load_model(home)  # an array that is not used
    assert not list(tmp_path.rglob("outside*"))


CHANGES = {
    "pooled": [np.zeros(3), np.zeros((4, 1)), np.array(["a", "b", "c", "d"]), np.full(4, np.nan)],
    "groups": [np.zeros((1, 4)), np.zeros((2, 5)), np.zeros(8), np.full((2, 4), 1e308)],
    "rates": [np.zeros(16), np.arange(16.0)[::-1], np.ones(3), np.empty(0)],
    "thresholds": [np.zeros(2), np.full(16, np.inf), np.arange(16.0)],
    "flags_per_1000": [np.array([-1.0]), np.empty(0), np.array([np.nan]), np.array(["many"]), np.array(1.0)],
    "scales": [np.ones(2), np.zeros(3), -np.ones(3), np.ones((3, 1)), np.full(3, np.nan)],
    "certainty": [np.ones(3), np.ones((2, 2)), np.full((3, 2), np.inf), np.ones((3, 2), complex)],
    "scorers.weights": [np.zeros(3), np.zeros((30, 2)), np.full(60, np.nan), np.zeros(61)],
    "scorers.weights.sizes": list(
        map(np.array, [[30], [60, 0], [-7, 67], [2**62, 60 - 2**62], [30.0, 30.0], [31, 29]])
    ),
}


def test_deferred_checks_reject_scorers_at_first_use(home):
    arrays = read_arrays(home)
    write_arrays(home, arrays | {"scorers.weights.sizes": np.array([31, 29])})
    model = load_model(home, defer_checks=True)
    for _ in range(2):
        with pytest.raises(UserError, match=r"\[D405\].*inconsistent") as caught:
            model.decide(VIEW)
        assert str(home) in str(caught.value)
    write_arrays(home, arrays)
    decisions = load_model(home, defer_checks=True).decide(VIEW)
    assert np.array_equal(decisions.scores, load_model(home).decide(VIEW).scores)


def test_an_exception_of_a_plugin_while_loading_is_one_line(home, monkeypatch):
    def fails(self, view, table):
        raise ZeroDivisionError("no words")

    (extractor, *_) = load_model(home).extractors
    monkeypatch.setattr(type(extractor), "transform", fails)
    message = (
        r"D414\] the model .*: loading it raised ZeroDivisionError: no words \(.*_storage.py:\d+, in fails"
    )
    with pytest.raises(UserError, match=message) as caught:
        load_model(home)
    assert str(home) in str(caught.value)


def test_a_mistake_of_a_plugin_that_looks_like_a_damaged_model_is_shown_with_its_line(home, monkeypatch):
    def fails(self, view, table):
        raise KeyError("no words")

    (extractor, *_) = load_model(home).extractors
    monkeypatch.setattr(type(extractor), "transform", fails)
    message = r"D405.*or a plugin that it uses is broken: KeyError: 'no words' \(.*_storage.py:\d+"
    with pytest.raises(UserError, match=message):
        load_model(home)
    with pytest.raises(UserError, match=message):
        load_model(home, defer_checks=True).decide(VIEW)


def test_deferred_checks_reject_extractors_at_first_use(home):
    class NoFeatures:
        def transform(self, view, table):
            return None

    model = replace(load_model(home, defer_checks=True), extractors=(NoFeatures(),))
    with pytest.raises(UserError, match=r"\[D414\] the extractor NoFeatures: transform returned None"):
        model.decide(VIEW)


OPTIONAL = {"scales", "certainty"}


@pytest.mark.parametrize("name", CHANGES)
def test_rejects_invalid_arrays(home, name):
    file = "weights.npz" if name.startswith("scorers.") else "judge.npz"
    arrays = read_arrays(home, file)
    assert name in arrays
    for change in CHANGES[name]:
        write_arrays(home, arrays | {name: change}, file)
        assert_rejected(home, "D405")
    write_arrays(home, {other: array for other, array in arrays.items() if other != name}, file)
    if name in OPTIONAL:  # older models have none, so they return no probabilities of candidates
        assert getattr(load_model(home).judge.calibration, name) is None
    else:
        assert_rejected(home, "D405")
    write_arrays(home, arrays, file)
    load_model(home)


def test_rejects_invalid_and_incomplete_descriptions(home):
    whole = json.loads((home / "model.json").read_text())
    changes = [("trained", [True]), ("trained", 3), ("files", []), ("files", {}), ("provenance", 5)]
    invalid = [{**whole, name: value} for name, value in changes]
    invalid.append({**whole, "name": None, "provenance": None})
    for key in ("name", "version", "groups", "trained", "counts", "files", "provenance"):
        invalid.append({name: whole[name] for name in whole if name != key})
    for description in invalid:
        (home / "model.json").write_text(json.dumps(description))
        assert_rejected(home, "D405")


@pytest.mark.filterwarnings("ignore:.*single-quoted")  # confection reports some damage in this way
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_damage_raises_user_error_at_most(home, data):
    name = data.draw(st.sampled_from([*ARRAYS, "config.cfg", "model.json"]))
    good = (home / name).read_bytes()
    others = {path: path.read_bytes() for path in home.iterdir()}
    at = data.draw(st.integers(0, len(good) - 1))
    damage = data.draw(st.one_of(st.binary(min_size=1, max_size=3), st.just(b"\0" * 9)))
    cut = data.draw(st.booleans())
    (home / name).write_bytes(good[:at] + damage + (b"" if cut else good[at + len(damage) :]))
    try:
        if name != "model.json":
            update_checksums(home)
        load_model(home).decide(VIEW)
    except UserError as problem:
        assert "\n" not in str(problem)
    finally:
        for path, content in others.items():
            path.write_bytes(content)


def test_creates_folders_and_removes_temporary_ones_of_killed_runs(model, tmp_path):
    save_model(model, Path(tmp_path) / "deep" / "er" / "model")
    assert load_model(str(tmp_path / "deep" / "er" / "model")).name == "small"
    (tmp_path / "file").write_text("a file")
    with pytest.raises(UserError, match="D309"):
        save_model(model, tmp_path / "file" / "model")
    target = tmp_path / "deep" / "model"
    temp = TempFiles.for_target(target)
    left = temp.folder / f".tmp-{temp.mark}-999999999-00000000"
    left.mkdir()
    (left / "weights.npz").write_bytes(b"half")
    save_model(model, target)
    assert sorted(path.name for path in target.parent.iterdir()) == ["er", "model"]


def test_replacing_always_leaves_a_model(model, home, monkeypatch):
    """A model can be loaded after each single change of the file system."""
    if not exchange_names(home, home):
        pytest.skip("this file system cannot exchange names")
    result = []
    for module, name in ((os, "rename"), (os, "replace"), (os, "rmdir"), (os, "unlink")):
        real = getattr(module, name)

        def watch(*arguments, real=real, **options):
            real(*arguments, **options)
            result.append(load_model(home).name)

        monkeypatch.setattr(module, name, watch)
    save_model(model, home, force=True)
    assert set(result) <= {"small"}
    assert result


dtypes = st.sampled_from([np.float32, np.float64, np.int8, np.int64, np.uint64, np.bool_])


@given(st.lists(st.booleans(), min_size=1, max_size=4), dtypes, st.integers(0, 3), st.integers(0, 2**32))
def test_stack_round_trips(present, dtype, ndim, seed):
    rng = np.random.default_rng(seed)
    states = []
    for there in present:
        shape = tuple(rng.integers(0, 4, size=ndim))
        array = rng.integers(0, 2, size=shape).astype(dtype) if ndim else np.array(rng.integers(2), dtype)
        other = {"count": np.array([2**53 + 1, 2**63], np.uint64)}
        states.append({"array": array, **other} if there else {})
    again = unstack(stack(states), len(states))
    for state, back in zip(states, again, strict=True):
        assert state.keys() == back.keys()
        for key, array in state.items():
            assert back[key].dtype == array.dtype
            assert back[key].shape == array.shape
            assert (back[key] == array).all()


def test_stack_rejects_mixed_types():
    with pytest.raises(TypeError, match="one dtype in every group"):
        stack([{"a": np.zeros(2)}, {"a": np.zeros(2, int)}])
    with pytest.raises(TypeError, match="plain arrays"):
        stack([{"a": np.array([None])}])


def config_with_counts(counts) -> dict:
    extractors = {"c": {"@disambig_extractors": "x.v1", "counts": counts}, "w": {}}
    return {"task": {"a": 1}, "extractors": extractors}


def stored_counts(made: dict) -> str:
    return made["extractors"]["c"]["counts"]


def test_tables_next_to_a_model_have_relative_paths(tmp_path, monkeypatch):
    (tmp_path / "one" / "tables").mkdir(parents=True)
    table = tmp_path / "one" / "tables" / "my.counts"
    table.write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    description = relative_paths(config_with_counts("one/tables/my.counts"), Path("one/model"))
    assert stored_counts(description) == "../tables/my.counts"
    (tmp_path / "one").rename(tmp_path / "two")
    (tmp_path / "two" / "model").mkdir()
    monkeypatch.chdir("/")
    read = absolute_paths(description, tmp_path / "two" / "model")
    assert stored_counts(read) == str((tmp_path / "two" / "tables" / "my.counts").resolve())
    assert relative_paths(read, tmp_path / "two" / "model") == description
    (tmp_path / "link").symlink_to(tmp_path / "two" / "model", target_is_directory=True)
    assert absolute_paths(description, tmp_path / "link") == read


def test_other_tables_and_packs_keep_their_names(tmp_path, monkeypatch):
    elsewhere = tmp_path / "far" / "my.counts"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(b"")
    description = relative_paths(config_with_counts(str(elsewhere)), tmp_path / "deep" / "model")
    assert stored_counts(description) == str(elsewhere.resolve())
    assert absolute_paths(description, tmp_path / "deep" / "model") == description
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    for counts in ("disambig_en", "gone/my.counts", 5):
        stored = relative_paths(config_with_counts(counts), tmp_path / "model")
        assert absolute_paths(stored, tmp_path / "model") == config_with_counts(counts)
    for config in ({"task": {}}, {"task": 5}):
        assert relative_paths(config, tmp_path / "model") == config


def test_folders_of_tasks_and_extractors_have_relative_paths(tmp_path, monkeypatch):
    for name in ("kinds", "odds"):
        (tmp_path / "one" / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "one")
    extractors = {"h": {"parts_of_speech": "kinds"}, "p": {"gaps": "odds", "counts": "odds"}}
    built = {"task": {"gaps": "./odds", "or_none": True}, "extractors": extractors}
    description = relative_paths(built, Path("model"))
    assert description["task"] == {"gaps": "../odds", "or_none": True}
    assert description["extractors"]["h"] == {"parts_of_speech": "../kinds"}
    assert description["extractors"]["p"] == {"gaps": "../odds", "counts": "odds"}  # a folder is not a table
    monkeypatch.chdir("/")
    (tmp_path / "one").rename(tmp_path / "two")
    home = tmp_path / "two" / "model"
    home.mkdir()
    read = absolute_paths(description, home)
    assert read["extractors"]["h"]["parts_of_speech"] == str((tmp_path / "two" / "kinds").resolve())
    assert read["task"]["gaps"] == str((tmp_path / "two" / "odds").resolve())
    assert relative_paths(read, home) == description
    words = {"task": {"gaps": "all"}}  # a word of another task, with any folders
    (tmp_path / "two" / "all").mkdir()
    monkeypatch.chdir(tmp_path / "two")
    assert absolute_paths(relative_paths(words, home), home) == words


def test_declared_folders_of_tasks_have_relative_paths(tmp_path, monkeypatch):
    """Tasks of plugins declare their folders, such as the converter of the task kana."""
    declaring = SimpleNamespace(load=lambda: type("Declaring", (), {"folders": ("converter",)}))
    monkeypatch.setattr(registry, "entries", lambda kind: {"own.Declaring.v1": declaring})
    (tmp_path / "one" / "converter").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    kind = {"@disambig_tasks": "own.Declaring.v1"}
    description = relative_paths({"task": {**kind, "converter": "one/converter"}}, Path("one/model"))
    assert description["task"]["converter"] == "../converter"
    (tmp_path / "one").rename(tmp_path / "two")
    home = tmp_path / "two" / "model"
    home.mkdir()
    converter = absolute_paths(description, home)["task"]["converter"]
    assert converter == str((tmp_path / "two" / "converter").resolve())
    for other in ({**kind, "converter": "disambig_ja"}, {"converter": "two/converter"}):
        assert relative_paths({"task": other}, tmp_path / "two" / "model")["task"] == other


LOW, HIGH = PrecisionPoint(0.0, 0.4, 0.2, 0.6, 20, 1, 9), PrecisionPoint(0.7, 0.9, 0.6, 0.98, 15, 0, 1)
TRUST = PrecisionTable("spelling", "notes of 3 projects", 5.0, (LOW, HIGH), {"it's/its": (LOW,)})


@pytest.fixture
def measured_home(tmp_path):
    (tmp_path / "model.json").write_text('{"name": "a"}')
    write_precision(tmp_path, TRUST)
    return tmp_path


def test_precision_round_trips_unless_the_model_was_retrained(measured_home):
    assert read_precision(measured_home) == TRUST
    (measured_home / "model.json").write_text('{"name": "b"}')
    assert read_precision(measured_home) is None
    (measured_home / PRECISION_FILE).unlink()
    assert read_precision(measured_home) is None
    (measured_home / "model.json").unlink()
    with pytest.raises(UserError, match="D405"):
        write_precision(measured_home, TRUST)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"points": []},
        {"points": [{"least": 0.5}]},
        {"points": [dict.fromkeys(PrecisionPoint.__slots__, 2)]},
        {"pairs": []},
        {"pairs": {"a/b": None}},
        {"text": None, "per_1000": None},
        *["", "{", "[]", "1", "\xff"],
    ],
)
def test_rejects_damaged_precision(measured_home, change):
    path = measured_home / PRECISION_FILE
    if isinstance(change, dict):
        change = json.dumps(json.loads(path.read_text()) | change)
    path.write_bytes(change.encode("latin-1"))
    with pytest.raises(UserError) as caught:
        read_precision(measured_home)
    assert caught.value.code == "D862" and str(path) in caught.value.text
