"""Models of words in context: their scores by the formula, their files, and their extractor."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from feature_places import instances_at
from hypothesis import HealthCheck, given, settings, strategies as st
from toy_cloze import articles, by_hand, random_cloze

from disambig import packs
from disambig.data import CandidateFinder, CandidateLists, Group
from disambig.errors import UserError
from disambig.features import (
    CLOZE_ARRAYS,
    CLOZE_FILE,
    PRODUCT_STEP,
    STATE_STEP,
    UNKNOWN_WORD_SCORE,
    Cloze,
    ContextPlaces,
    WordsInContext,
    cloze,
    context_vectors,
    open_cloze,
    score_candidates,
    transform_checked,
)
from disambig.text import SpacyTokens, Web1T, Words

VOCABULARY = "the a to in it was home we they cat . ,".split()
TEXTS = [
    "They went to the home in town. We saw it.",
    "It was a cat, wasn\N{RIGHT SINGLE QUOTATION MARK}t it?\r\nThe cat \N{GRINNING FACE} was in.",
    "",
    "Naïve cafe\N{COMBINING ACUTE ACCENT}s in 1997",
]
MODEL = random_cloze(VOCABULARY)


def every_place(view):
    """Return each token, and each empty place before a token, as a place."""
    tokens = np.flatnonzero(view.ends > view.starts)
    return ContextPlaces(np.concatenate([tokens, tokens]), np.concatenate([tokens + 1, tokens]))


def all_scores(view, places, model=MODEL):
    n, k = len(places.positions), model.nothing + 1
    rows, candidates = np.repeat(np.arange(n), k), np.tile(np.arange(k, dtype=np.int32), n)
    return score_candidates(model, context_vectors(model, view, places), rows, candidates).reshape(n, k)


def written_out(model, numbers, view, position, behind):
    """Return the scores of all candidates at one place, computed by the formula word by word."""
    (sentence,) = [(a, b) for a, b in pairwise(view.sentences) if a <= position < b]
    around = [position - 1 - i for i in range(model.left)] + [behind + i for i in range(model.right)]
    sums = np.rint(model.hidden_bias / PRODUCT_STEP)
    for place, at in enumerate(around):
        word = numbers[at] if sentence[0] <= at < sentence[1] else model.vocabulary.outside
        given = model.embeddings[word].astype(float) @ model.inputs[place].astype(float)
        sums += np.rint(given * np.float32(model.word_scale[word] * model.input_scale[0] / PRODUCT_STEP))
    hidden = np.clip(np.rint(sums * PRODUCT_STEP / model.hidden_step[0]), 0, 255)
    scale = model.state_scale * model.hidden_step[0] / STATE_STEP
    state = np.rint((hidden @ model.states.astype(float)) * scale + model.state_bias / STATE_STEP)
    state = np.clip(state, -4095, 4095)
    return (model.outputs.astype(float) @ state) * STATE_STEP * model.output_scale + model.output_bias


def test_scores_follow_the_formula(engine):
    view = Words()(TEXTS)
    places = every_place(view)
    result, numbers = all_scores(view, places), MODEL.vocabulary.view_numbers(view)
    assert len(result) > 40 and np.ptp(result) > 5
    for row, position, behind in zip(result, places.positions, places.ends, strict=True):
        expected = written_out(MODEL, numbers, view, position, behind)
        assert row == pytest.approx(expected, abs=0.1)  # float32 may round to the neighbouring step


def test_the_place_itself_and_other_sentences_do_not_count():
    one, other = Words()(["We saw a cat. It was."]), Words()(["We saw the cat. They went home."])
    place = ContextPlaces(np.array([3]), np.array([4]))
    assert np.array_equal(all_scores(one, place), all_scores(other, place))
    # they share a hash, so their order in a batch must not matter
    long = ["We saw " + letter * 300 + " at home." for letter in "xy"]
    for texts in (long, long[::-1]):
        view = Words()(texts)
        at = np.flatnonzero(view.hashes == 0)
        assert len(at) == 2
        assert np.ptp(all_scores(view, ContextPlaces(at - 1, at)), axis=0).max() == 0


some_words = st.sampled_from([*VOCABULARY, "town", "naïve", "Cat", "x" * 300, "y" * 300])
texts_of_words = st.lists(some_words, max_size=30)


@given(st.lists(texts_of_words.map(" ".join), max_size=4), st.integers(1, 9))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_backends_batches_and_blocks_agree_bit_for_bit(monkeypatch, texts, block):
    view = Words()(texts)
    places, result = every_place(view), {}
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        monkeypatch.setattr(cloze, "BLOCK", 4096)
        result[engine] = all_scores(view, places)
    monkeypatch.setattr(cloze, "BLOCK", block)
    assert np.array_equal(result["numpy"], result["numba"])
    assert np.array_equal(result["numpy"], all_scores(view, places))
    apart = [Words()([text]) for text in texts]
    single = [all_scores(item, every_place(item)) for item in apart]
    halves = [item[: len(item) // 2] for item in single] + [item[len(item) // 2 :] for item in single]
    assert np.array_equal(np.concatenate([np.empty((0, MODEL.nothing + 1)), *halves]), result["numpy"])


@pytest.mark.parametrize("tokenisation", [Words(), Web1T(), SpacyTokens("en")], ids=lambda item: item.name)
def test_unknown_words_are_numbered_by_their_endings(tokenisation):
    model = replace(MODEL, header={"tokenisation": tokenisation.name})
    view = tokenisation(["walking talking walked \N{LEFT DOUBLE QUOTATION MARK}"])
    numbers = zip(view.starts, view.ends, model.vocabulary.view_numbers(view), strict=True)
    spelled = {view.texts[0][start:end]: number for start, end, number in numbers}
    assert spelled["walking"] == spelled["talking"] != spelled["walked"]
    assert all(0 <= number < model.vocabulary.outside for number in spelled.values())


def test_candidates_are_tokenised_like_the_text():
    texts = ("it", "It", "", "went", "the cat", "the")
    it, the = VOCABULARY.index("it"), VOCABULARY.index("the")
    assert MODEL.numbers_of_candidates(texts).tolist() == [it, it, MODEL.nothing, -1, -1, the]
    curly = random_cloze(["isn't"]).numbers_of_candidates(["isn\N{RIGHT SINGLE QUOTATION MARK}t"])
    assert curly.tolist() == [0] and MODEL.numbers_of_candidates(()).tolist() == []


# The extractor


@pytest.fixture(scope="module")
def cloze_folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cloze") / "words"
    MODEL.save(path)
    return path


def test_unknown_candidates_score_below_the_others(cloze_folder):
    view, extractor = Words()(["They went to town."]), WordsInContext(words=cloze_folder)

    def scores(*candidates):
        place = replace(instances_at([3]), lists=CandidateLists.from_texts([candidates]))
        return transform_checked(extractor, view, place, Group("any", ())).batch.values[:, 0].tolist()

    to, into, out_of, unheard, nothing = scores("to", "in", "out of", "unheard", "")
    assert out_of == unheard == pytest.approx(max(to, into, nothing) - UNKNOWN_WORD_SCORE)
    assert scores("unheard") == [-UNKNOWN_WORD_SCORE]


TO_OR_IN = Group("to/in", ("to", "in"))


def transformed_values(extractor, view):
    instances = CandidateFinder.from_groups([TO_OR_IN]).find(view)
    return transform_checked(extractor, view, instances, TO_OR_IN).batch.values


@pytest.mark.parametrize("text", ["They went to town.", "Nothing"])
def test_another_tokenisation_is_refused(cloze_folder, text):
    with pytest.raises(UserError, match=r"D992.*disambig\.words\.v1, not of web1t\.v1"):
        transformed_values(WordsInContext(words=cloze_folder), Web1T()([text]))


def test_a_pickle_does_not_hold_the_model(cloze_folder):
    extractor, view = WordsInContext(words=str(cloze_folder)), Words()(TEXTS)
    before, pickled = transformed_values(extractor, view), pickle.dumps(extractor)
    assert len(pickled) < 500
    assert np.array_equal(transformed_values(pickle.loads(pickled), view), before)


@pytest.mark.parametrize("frequent", [0, 3, 1000])
def test_projections_of_frequent_words_are_computed_once(frequent, monkeypatch):
    monkeypatch.setattr(cloze, "FREQUENT", frequent)
    model, computed = random_cloze(VOCABULARY), []
    plain = cloze._compute_projections
    monkeypatch.setattr(
        cloze, "_compute_projections", lambda *of: computed.append(of[1].tolist()) or plain(*of)
    )
    texts_of_words = np.arange(model.vocabulary.outside + 1, dtype=np.int32)
    places = len(model.inputs)
    for part in (texts_of_words[1::2], texts_of_words, texts_of_words[:0], texts_of_words):
        for few in (0, 1000):
            monkeypatch.setattr(cloze, "_FEW", few)
            projections, rows = cloze.project_words(model, part)
            of_both = np.concatenate([projections.frequent, projections.rare])
            assert np.array_equal(of_both[rows], plain(model, part))
            which = np.repeat(rows[:, None], places, axis=1)
            taken = projections.take(which, len(model.hidden_bias))
            assert np.array_equal(taken.reshape(plain(model, part).shape), plain(model, part))
    often, n_frequent = [word for part in computed for word in part], min(frequent, len(VOCABULARY))
    for word in texts_of_words.tolist():
        is_kept = word < n_frequent or word == model.vocabulary.outside
        assert often.count(word) == (1 if is_kept else 2 * (2 + word % 2))


STORED = random_cloze(["the", "a", "cat", "sat"])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored") / "new" / "words"
    STORED.save(folder)
    return {name: (folder / name).read_bytes() for name in ("header.json", CLOZE_FILE)}


def write_folder(home, files):
    home.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (home / name).write_bytes(content)
    return home


def refused(folder):
    """Return True if loading a folder fails with one line that names it."""
    try:
        model = Cloze.load(folder)
    except UserError as problem:
        assert problem.code == "D990" and str(folder) in str(problem) and "\n" not in str(problem)
        return True
    view = Words()(["The cat sat."])  # a folder that is accepted must be usable
    if model.header["tokenisation"] == Words.name:
        context_vectors(model, view, ContextPlaces(np.array([1, 2]), np.array([2, 2])))
    return False


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
    home = write_folder(tmp_path / "damaged", {**saved, name: bytes(content)})
    assert refused(home) or how != "other"


header_values = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats()),
    *(st.text(max_size=5), st.lists(st.integers(), max_size=2)),
)


@given(st.sampled_from(["left", "right", "endings", "tokenisation"]), header_values)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_another_value_in_the_header_is_refused(saved, tmp_path, name, value):
    header = json.loads(saved["header.json"])
    if header[name] == value and type(header[name]) is type(value):
        return
    changed = {**saved, "header.json": json.dumps({**header, name: value}).encode()}
    may_differ = name == "tokenisation" and isinstance(value, str)
    assert refused(write_folder(tmp_path / "header", changed)) or may_differ


@pytest.mark.parametrize("header", [b"[]", b"3", b'"left"', b"null", b"{}", b"\xff", b""])
def test_invalid_headers_are_refused(saved, tmp_path, header):
    assert refused(write_folder(tmp_path, {**saved, "header.json": header}))


def with_arrays(saved, **changes):
    with np.load(io.BytesIO(saved[CLOZE_FILE])) as arrays:
        held = {name: arrays[name] for name in CLOZE_ARRAYS}
    for name, change in changes.items():
        held[name] = change(held[name])
    written = io.BytesIO()
    np.savez(written, **{name: array for name, array in held.items() if array is not None})
    return {**saved, CLOZE_FILE: written.getvalue()}


def wide(array, axis, size):
    return np.zeros([size if i == axis else n for i, n in enumerate(array.shape)], array.dtype)


def replaced(array, value):
    changed = array.copy()
    changed.flat[0] = value
    return changed


BROKEN = [
    *((name, lambda array: None) for name in CLOZE_ARRAYS),
    *((name, lambda array: array[:-1]) for name in CLOZE_ARRAYS),
    *((name, lambda array: array.astype(np.float64)) for name in CLOZE_ARRAYS),
    *((name, lambda array: array.astype(array.dtype.newbyteorder())) for name in ("words", "state_bias")),
    *((name, lambda array: array.reshape(-1)) for name in ("embeddings", "inputs", "states", "outputs")),
    *((name, lambda array: replaced(array, np.nan)) for name in ("word_scale", "output_bias", "hidden_step")),
    *((name, lambda a: replaced(a, np.inf)) for name in ("input_scale", "state_scale", "hidden_bias")),
    *(("hidden_step", lambda array, value=value: replaced(array, value)) for value in (0, -1, 1e-30)),
    ("words", lambda array: replaced(array, array[1])),
    ("words", lambda array: array[:0]),
    ("words", lambda array: np.uint64(7)),
]


@pytest.mark.parametrize(("name", "change"), BROKEN)
def test_arrays_that_do_not_fit_are_refused(saved, tmp_path, name, change):
    assert refused(write_folder(tmp_path, with_arrays(saved, **{name: change})))


@pytest.mark.parametrize("size", [0, 4_001])
def test_layers_without_bounds_are_refused(saved, tmp_path, size):
    """Sums of such products would overflow 32 bits."""
    changes = {name: lambda array: wide(array, 1, size) for name in ("states", "outputs")}
    changes |= {name: lambda array: wide(array, 0, size) for name in ("state_scale", "state_bias")}
    assert refused(write_folder(tmp_path, with_arrays(saved, **changes)))
    changes = {"embeddings": lambda array: wide(array, 1, size), "inputs": lambda array: wide(array, 1, size)}
    assert refused(write_folder(tmp_path, with_arrays(saved, **changes)))


def test_objects_are_never_read(saved, tmp_path):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name in CLOZE_ARRAYS:
            array = io.BytesIO()
            np.save(array, np.array([{}], object), allow_pickle=True)
            archive.writestr(f"{name}.npy", array.getvalue())
    assert refused(write_folder(tmp_path, {**saved, CLOZE_FILE: written.getvalue()}))


@pytest.mark.parametrize("words", ["", None, 3, ["a"], "no/such/folder", "nul\0/byte", Path("some.npz")])
def test_an_invalid_folder_is_refused(words):
    with pytest.raises(UserError, match="D990"):
        open_cloze(words)


def test_a_model_of_a_pack(saved, tmp_path, monkeypatch):
    write_folder(tmp_path / "words", saved)
    brought = {"with": {"words": tmp_path / "words"}, "without": {}}
    monkeypatch.setattr(packs, "pack", lambda name: SimpleNamespace(folders=brought[name]))
    assert open_cloze("with").nothing == 4
    with pytest.raises(UserError, match=r"D991.*'without'"):
        open_cloze("without")
    monkeypatch.undo()
    with pytest.raises(UserError, match="D402"):
        open_cloze("no_such_pack")


def test_a_folder_is_read_once_until_it_changes(saved, tmp_path, monkeypatch):
    first = open_cloze(write_folder(tmp_path / "words", saved))
    assert open_cloze(str(tmp_path / "words")) is first
    monkeypatch.chdir(tmp_path)
    assert open_cloze("words") is first
    articles().save(tmp_path / "words")
    os.utime(tmp_path / "words" / CLOZE_FILE, (1, 1))
    second = open_cloze("words")
    assert second is not first and second.left == 2
    header = tmp_path / "words" / "header.json"
    header.write_text(header.read_text().replace("for a test", "another one"))
    assert open_cloze("words").header["made"] == "another one"
