"""A model goes to disk and comes back; whatever else is found there is refused in one line."""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_files import VIEW, arrays_of, configure, put_arrays, refused, say, sign

from disambig.counts import build_table
from disambig.errors import UserError
from disambig.models import load_model, save_model
from disambig.text import Words

ARRAYS = ("weights.npz", "judge.npz")
FILES = ["README.md", "config.cfg", "judge.npz", "model.json", "weights.npz"]


def test_round_trip(model, home):
    again = load_model(home)
    assert (again.name, again.version, again.language) == ("small", "1.2.3", "")
    judge = {"@disambig_judges": "disambig.Corrections.v1"}  # the usual one of its task
    assert again.config == {"judge": judge, **model.config}
    assert again.provenance == json.loads(json.dumps(model.provenance))
    assert again.flags_per_1000 == model.flags_per_1000
    first, second = model.decide(VIEW), again.decide(VIEW)
    for column in ("scores", "probabilities", "flagged", "margins", "found", "asked", "chosen"):
        assert np.array_equal(getattr(first, column), getattr(second, column)), column
    assert len(first) == 5
    assert sorted(path.name for path in home.iterdir()) == FILES


def test_what_is_left_out_of_the_description_is_refused(home):
    said = json.loads((home / "model.json").read_text())
    for key in ("name", "version", "groups", "trained", "counts", "files", "provenance"):
        (home / "model.json").write_text(json.dumps({name: said[name] for name in said if name != key}))
        refused(home, "D405")


def test_saving_a_loaded_model_gives_the_same_files(home, tmp_path):
    save_model(load_model(home), tmp_path / "again")
    for name in ("config.cfg", "model.json"):
        assert (tmp_path / "again" / name).read_bytes() == (home / name).read_bytes()
    for name in ARRAYS:
        ours, theirs = arrays_of(home, name), arrays_of(tmp_path / "again", name)
        assert {key: array.tobytes() for key, array in ours.items()} == {
            key: array.tobytes() for key, array in theirs.items()
        }


def test_an_existing_directory_is_replaced_only_when_asked(model, home):
    before = (home / "model.json").read_bytes()
    with pytest.raises(UserError) as caught:
        save_model(model, home)
    assert caught.value.code == "D406"
    assert (home / "model.json").read_bytes() == before
    (home / "junk").write_text("old")
    save_model(model, home, force=True)
    assert not (home / "junk").exists()
    assert [path.name for path in home.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", ["letter.txt", "model.json"])
def test_what_is_no_model_is_never_replaced(model, tmp_path, name, force):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / name).write_text('{"format": "of a letter"}')
    for target in (folder, folder / name):
        with pytest.raises(UserError, match="D940"):
            save_model(model, target, force=force)
    assert [path.name for path in folder.iterdir()] == [name]
    assert (folder / name).read_text() == '{"format": "of a letter"}'
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_an_empty_directory_and_a_damaged_model_are_replaced_when_asked(model, home, tmp_path):
    (tmp_path / "empty").mkdir()
    (home / "weights.npz").write_bytes(b"cut")
    for target in (tmp_path / "empty", home):
        with pytest.raises(UserError, match="D406"):
            save_model(model, target)
        save_model(model, target, force=True)
        assert load_model(target).name == "small"


def test_where_nothing_can_be_written(model, tmp_path):
    (tmp_path / "file").write_text("a file")
    with pytest.raises(UserError) as caught:
        save_model(model, tmp_path / "file" / "model")
    assert caught.value.code == "D309"


def test_nothing_is_left_behind_where_saving_fails(model, tmp_path):
    from dataclasses import replace

    class Strange:
        def state(self):
            return {"weights": np.array([object()])}

    class Listed:
        def state(self):
            return {"weights": [1.0]}

    with pytest.raises(TypeError, match="plain arrays"):
        save_model(replace(model, scorers=(Strange(), None)), tmp_path / "model")
    with pytest.raises(UserError, match=r"D414.*weights: it contains Python objects;.*a plain array"):
        save_model(replace(model, judge=Strange()), tmp_path / "model")
    with pytest.raises(UserError, match=r"D414.*weights: it is of type list;.*a plain array"):
        save_model(replace(model, judge=Listed()), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_what_could_not_be_loaded_again_is_not_saved(model, tmp_path):
    from dataclasses import replace

    class Partial:
        def __init__(self, **arrays):
            self.arrays = arrays

        def state(self):
            return self.arrays

    missing = replace(model, scorers=(Partial(other=np.zeros(3)), None))
    with pytest.raises(UserError, match=r"D415.*/model: it could not be loaded again .*'weights'.*state\(\)"):
        save_model(missing, tmp_path / "model")
    (weights,) = model.scorers[0].state().values()
    more = replace(model, scorers=(Partial(weights=weights, other=np.zeros(3)), None))
    with pytest.raises(UserError, match=r"D415.*\(scorers.other.* would be different\)"):
        save_model(more, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# Damage


@pytest.mark.parametrize("name", ["model.json", "config.cfg", *ARRAYS])
def test_a_missing_file(home, name):
    (home / name).unlink()
    refused(home, "D405", name)


@pytest.mark.parametrize("name", ["config.cfg", *ARRAYS])
def test_a_file_cut_short_or_with_a_flipped_byte(home, name):
    data = (home / name).read_bytes()
    for damaged in (data[:-1], data[: len(data) // 2], b"", data[:40] + bytes([data[40] ^ 1]) + data[41:]):
        (home / name).write_bytes(damaged)
        refused(home, "D405", name)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_a_broken_model_json(home, content):
    (home / "model.json").write_bytes(content)
    refused(home, "D405", "model.json")


@pytest.mark.parametrize("name", ARRAYS)
def test_a_directory_in_place_of_a_file(home, name):
    (home / name).unlink()
    (home / name).mkdir()
    refused(home, "D405", name)


def test_no_directory_at_all(tmp_path):
    refused(tmp_path / "nothing", "D405", "model.json")


def test_another_format(home):
    say(home, format=3)
    refused(home, "D407", "3", "1 and 2")
    say(home, format=None)
    refused(home, "D407")


def test_another_count_table(model, home, saved, tmp_path):
    other = build_table(tmp_path / "other.counts", ["It was quite another text."], Words())
    configure(home, str(saved / "small.counts"), str(other))
    refused(home, "D408")
    say(home, counts=["0" * 32])
    refused(home, "D408")


def test_other_groups(home):
    configure(home, '"toys.Pairs.v1"', '"toys.Pairs.v1"\npairs = ["quite/quiet", "lose/loose"]')
    refused(home, "D409", "pairs")


def test_a_config_that_asks_for_what_is_not_there(home, tmp_path):
    configure(home, "toys.Pairs.v1", "toys.Paris.v1")
    refused(home, "D001", "toys.Pairs.v1")
    configure(home, "toys.Paris.v1", "os.system.v1")
    refused(home, "D001", "os.system.v1")
    configure(home, "@disambig_tasks", "@disambig_task")
    refused(home, "D001", "@disambig_task", "@disambig_tasks")


def test_a_config_with_a_wrong_argument(home):
    configure(home, '"toys.Pairs.v1"', '"toys.Pairs.v1"\nparis = 1')
    refused(home, "D005", "paris", "config.cfg")


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
def test_a_config_whose_sections_make_other_things(home, old, new):
    configure(home, old, new)
    with pytest.raises(UserError) as caught:
        load_model(home)
    assert caught.value.code in ("D405", "D005")


@pytest.mark.parametrize("text", ["[task", "no section", "\0", "[a]\nx = ${b.c}"])
def test_a_config_that_is_none(home, text):
    (home / "config.cfg").write_text(text)
    sign(home)
    refused(home, "D005", "config.cfg")


class Bomb:
    """Would leave a mark if it were ever unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("file", ARRAYS)
def test_pickled_objects_are_never_loaded(home, tmp_path, file):
    arrays = arrays_of(home, file)
    for name in arrays:
        put_arrays(home, arrays | {name: np.array([Bomb(tmp_path / "mark")], object)}, file)
        refused(home, "D405", file)
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("file", ARRAYS)
def test_compressed_arrays_are_refused(home, file):
    np.savez_compressed(home / file, **arrays_of(home, file))
    sign(home)
    refused(home, "D405", "compressed")


def npy(header, data=b""):
    header = header.encode("latin1")
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }\n",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }\n",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }\n",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n",
        "{'descr': '<f8', 'shape': (\n",
        "__import__('os').mkdir('mark')\n",
        "(" * 5000,
    ],
)
@pytest.mark.parametrize(("file", "member"), [("weights.npz", "scorers.weights"), ("judge.npz", "pooled")])
def test_arrays_with_absurd_headers(home, header, file, member, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile(home / file, "w") as archive:
        archive.writestr(f"{member}.npy", npy(header))
    sign(home)
    refused(home, "D405")
    assert not (tmp_path / "mark").exists()


def test_a_member_that_points_elsewhere_writes_nothing(home, tmp_path):
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(4))
    for name in ARRAYS:
        with zipfile.ZipFile(home / name, "a") as archive:
            archive.writestr("../../outside.npy", buffer.getvalue())
    sign(home)
    load_model(home)  # an array that nobody asks for
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
    "scorers.weights.sizes": [
        np.array([30]),
        np.array([60, 0]),
        np.array([-7, 67]),
        np.array([2**62, 60 - 2**62]),
        np.array([30.0, 30.0]),
        np.array([31, 29]),
    ],
}


def test_scorers_that_do_not_fit_can_be_refused_when_they_are_first_used(home):
    arrays = arrays_of(home)
    put_arrays(home, arrays | {"scorers.weights.sizes": np.array([31, 29])})
    model = load_model(home, defer_checks=True)
    for _ in range(2):
        with pytest.raises(UserError, match=r"\[D405\].*inconsistent") as caught:
            model.decide(VIEW)
        assert str(home) in str(caught.value)
    put_arrays(home, arrays)
    decisions = load_model(home, defer_checks=True).decide(VIEW)
    assert np.array_equal(decisions.scores, load_model(home).decide(VIEW).scores)


class NoFeatures:
    """An extractor that breaks its contract."""

    def transform(self, view, table):
        return None


def test_extractors_of_a_stored_model_are_checked_when_it_is_first_used(home):
    model = replace(load_model(home, defer_checks=True), extractors=(NoFeatures(),))
    with pytest.raises(UserError, match=r"\[D414\] the extractor NoFeatures: transform returned NoneType"):
        model.decide(VIEW)


OPTIONAL = {"scales", "certainty"}


@pytest.mark.parametrize("name", CHANGES)
def test_absurd_arrays(home, name):
    file = "weights.npz" if name.startswith("scorers.") else "judge.npz"
    arrays = arrays_of(home, file)
    assert name in arrays
    for change in CHANGES[name]:
        put_arrays(home, arrays | {name: change}, file)
        refused(home, "D405")
    put_arrays(home, {other: array for other, array in arrays.items() if other != name}, file)
    if name in OPTIONAL:  # models of before had none: they give no probabilities of candidates
        assert getattr(load_model(home).judge.calibration, name) is None
    else:
        refused(home, "D405")
    put_arrays(home, arrays, file)
    load_model(home)


@pytest.mark.parametrize(
    "changes",
    [
        {"trained": [True]},
        {"trained": 3},
        {"files": []},
        {"files": {}},
        {"provenance": 5},
        {"name": None, "provenance": None},
    ],
)
def test_absurd_values_in_model_json(home, changes):
    say(home, **changes)
    refused(home, "D405")


@pytest.mark.filterwarnings("ignore:.*single-quoted")  # which is what confection calls some damage
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_damage_to_signed_files_is_one_error_or_none(home, data):
    name = data.draw(st.sampled_from([*ARRAYS, "config.cfg", "model.json"]))
    good = (home / name).read_bytes()
    others = {path: path.read_bytes() for path in home.iterdir()}
    at = data.draw(st.integers(0, len(good) - 1))
    damage = data.draw(st.one_of(st.binary(min_size=1, max_size=3), st.just(b"\0" * 9)))
    cut = data.draw(st.booleans())
    (home / name).write_bytes(good[:at] + damage + (b"" if cut else good[at + len(damage) :]))
    try:
        if name != "model.json":
            sign(home)
        load_model(home).decide(VIEW)
    except UserError as problem:
        assert "\n" not in str(problem)
    finally:
        for path, content in others.items():
            path.write_bytes(content)


def test_paths_are_kept_as_paths(model, tmp_path):
    save_model(model, Path(tmp_path) / "deep" / "er" / "model")
    assert load_model(str(tmp_path / "deep" / "er" / "model")).name == "small"


def test_what_killed_trainings_left_goes_with_the_next(model, tmp_path):
    from disambig.files import TempFiles

    target = tmp_path / "model"
    left = (
        TempFiles.for_target(target).folder / f".tmp-{TempFiles.for_target(target).mark}-999999999-00000000"
    )
    left.mkdir()
    (left / "weights.npz").write_bytes(b"half")
    save_model(model, target)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_there_is_a_model_at_every_moment(model, home, monkeypatch):
    """Every name that is given or taken while a model is replaced leaves one that loads."""
    from disambig.files import saving as swapping

    if not swapping.exchange_names(home, home):
        pytest.skip("this file system cannot exchange names")
    found = []
    for module, name in ((os, "rename"), (os, "replace"), (os, "rmdir"), (os, "unlink")):
        real = getattr(module, name)

        def watch(*arguments, real=real, **options):
            real(*arguments, **options)
            found.append(load_model(home).name)

        monkeypatch.setattr(module, name, watch)
    save_model(model, home, force=True)
    assert set(found) <= {"small"}
    assert found


def test_a_link_to_a_model_stays_a_link(model, home, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(home, target_is_directory=True)
    (home / "junk").write_text("old")
    save_model(model, link, force=True)
    assert link.is_symlink()
    assert load_model(link).name == "small"
    assert not (home / "junk").exists()
