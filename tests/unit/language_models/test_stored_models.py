"""Models in folders come back as they were; damaged and hostile ones are refused with one line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_texts import MODELS, TEXTS, random_text, sentences_of

from disambig.errors import UserError
from disambig.files import HEADER, write_stored
from disambig.language_models import (
    adapt,
    estimate,
    pack_levels,
    perplexity,
    quantise,
    sentence_scores,
    word_log_probability,
)
from disambig.language_models import storage as stored

COLUMNS = ("begins", "words", "log_probs", "back_offs")


@pytest.fixture(scope="module")
def model():
    return estimate(*sentences_of(random_text(2000, words=200), least=2))


@given(text=TEXTS, settings=st.fixed_dictionaries(MODELS), least=st.integers(1, 3))
def test_models_come_back_to_the_bit(tmp_path_factory, text, settings, least):
    model = estimate(*sentences_of(text, least), **settings)
    folder = tmp_path_factory.mktemp("model")
    stored.save_language_model(model, folder)
    again = stored.load_language_model(folder)
    assert again.vocabulary == model.vocabulary and again.header.items() >= model.header.items()
    for one, other in zip(model.levels, again.levels, strict=True):
        assert all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in COLUMNS)


def test_eight_bits_are_nearly_as_good(model, tmp_path):
    unseen = sentences_of(random_text(2000, words=200), least=2)[0]
    stored.save_language_model(model, tmp_path / "small", bits=8)
    stored.save_language_model(model, tmp_path / "large")
    small = stored.load_language_model(tmp_path / "small")
    size = {name: (tmp_path / name / stored.FILE).stat().st_size for name in ("small", "large")}
    assert size["small"] < 0.6 * size["large"]
    assert perplexity(small, unseen) == pytest.approx(perplexity(model, unseen), rel=1e-3)
    history = np.array([3, 4], np.int32)
    chances = [word_log_probability(small.arrays, history, 2, word) for word in range(len(model.vocabulary))]
    assert np.exp(chances).sum() == pytest.approx(1, abs=0.01)


@given(st.lists(st.floats(-20, 0, width=32), max_size=600))
def test_values_are_near(values):
    numbers = np.array(values, np.float32)
    codes, book = quantise(numbers)
    assert codes.dtype == np.uint8 and book.shape == (256,) and (np.diff(book) >= 0).all()
    width = np.ptp(numbers) / 256 if len(numbers) else 0
    assert (np.abs(book[codes] - numbers) <= width * 1.001 + 1e-5).all()


def test_a_weight_that_is_none_is_one_message(model, tmp_path):
    mixture = adapt(model, [["w1", "new"], ["w2", "w1"]], weight=0.25)
    stored.save_mixture(mixture, tmp_path / "mixture")
    header = json.loads((tmp_path / "mixture" / HEADER).read_text(encoding="utf8"))
    write_stored(tmp_path / "mixture", "mixture.npz", header, weight=np.array([7.0]))
    with pytest.raises(UserError, match=r"^\[D655\][^\[]*7\.0") as found:
        stored.load_mixture(tmp_path / "mixture", model)
    assert str(found.value).count("[D") == 1


def test_mixtures_come_back_with_their_background(model, tmp_path):
    mixture = adapt(model, [["w1", "new"], ["w2", "w1"]], weight=0.25)
    stored.save_mixture(mixture, tmp_path / "mixture")
    again = stored.load_mixture(tmp_path / "mixture", model)
    held_out = sentences_of(random_text(10, words=200))[0]
    assert again.weight == 0.25
    assert sentence_scores(again, held_out).tobytes() == sentence_scores(mixture, held_out).tobytes()
    other = estimate(*sentences_of([["b", "a"]]))
    with pytest.raises(UserError, match=r"^\[D655\].*other words"):
        stored.load_mixture(tmp_path / "mixture", other)
    (tmp_path / "mixture" / HEADER).write_text('{"format": 3}')
    with pytest.raises(UserError, match=r"^\[D655\].*the format in its header is not"):
        stored.load_mixture(tmp_path / "mixture", model)


def test_missing_and_strange_files_are_said(model, tmp_path):
    with pytest.raises(UserError, match=r"^\[D655\]"):
        stored.load_language_model(tmp_path / "nowhere")
    stored.save_language_model(model, tmp_path / "model")
    for header in ("[]", "{}", "{", '{"format": "disambig.language_model.v1"}'):
        (tmp_path / "model" / HEADER).write_text(header)
        with pytest.raises(UserError, match=r"^\[D655\]"):
            stored.load_language_model(tmp_path / "model")
    with pytest.raises(UserError, match=r"^\[D654\].*8, 32"):
        stored.save_language_model(model, tmp_path / "model", bits=7)


@pytest.fixture(scope="module")
def small():
    return estimate(*sentences_of(random_text(12, words=6)))


@given(st.data())
def test_damaged_files_are_refused(small, tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("model")
    stored.save_language_model(small, folder, bits=data.draw(st.sampled_from([8, 32])))
    path = folder / data.draw(st.sampled_from([stored.FILE, HEADER]))
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content[: data.draw(st.sampled_from([len(content), at]))])
    try:
        again = stored.load_language_model(folder)
    except UserError as problem:
        assert problem.code == "D655" and "\n" not in str(problem)
    else:  # a byte that says nothing: of the directory of the archive, or of the header's figures
        assert again.vocabulary == small.vocabulary
        assert all(
            one.words.tobytes() == other.words.tobytes()
            for one, other in zip(small.levels, again.levels, strict=True)
        )


@given(st.data())
def test_hostile_arrays_are_refused_or_harmless(small, tmp_path_factory, data):
    """Arrays with a digest of their own: whatever they hold, nothing is asked beyond them."""
    folder = tmp_path_factory.mktemp("model")
    arrays = {**pack_levels(small.levels, data.draw(st.sampled_from([8, 32]))), **small.vocabulary.state()}
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name].copy()
    if array.size and data.draw(st.booleans()):
        extremes = [0, 1, 255, np.iinfo(np.int32).max]
        extremes += [-1, np.iinfo(np.int64).max] if array.dtype.kind == "i" else []
        extremes += [np.nan, np.inf, -np.inf, -1.5] if array.dtype.kind == "f" else []
        value = data.draw(st.sampled_from(extremes))
        array.flat[data.draw(st.integers(0, array.size - 1))] = np.array(value).astype(array.dtype)
    else:
        spoilt = [
            array[:-1],
            array[..., None],
            array.astype(np.float64),
            array.astype("U5"),
            array[:0],
            array.T,
        ]
        array = data.draw(st.sampled_from(spoilt))
    arrays[name] = array
    header = {"format": stored.FORMAT, "digest": stored.digest_arrays(arrays)}
    write_stored(folder, stored.FILE, json.loads(json.dumps(header)), **arrays)
    try:
        again = stored.load_language_model(folder)
    except UserError as problem:
        assert problem.code == "D655"
        return
    history = np.arange(2, dtype=np.int32) + 3
    for word in range(len(again.vocabulary) + 1):
        chance = word_log_probability(again.arrays, history, 2, word)
        assert np.isfinite(chance) or word == 1
