"""Mixtures of two models; saved models load unchanged, damaged ones do not; ARPA files agree with KenLM."""

from __future__ import annotations

import json

import numpy as np
import pytest
from examples import fewer_examples
from hypothesis import given, strategies as st
from slow_models import MODELS, TEXTS, make_sentences, random_text

from disambig.errors import UserError
from disambig.files import HEADER, write_stored
from disambig.language_models import (
    Mixture,
    Sentences,
    WordVocabulary,
    adapt,
    cross_entropy,
    estimate,
    pack_levels,
    perplexity,
    quantise,
    score_word,
    sentence_scores,
    start_state,
    storage as stored,
    to_arpa,
    word_log_probability,
    word_scores,
)


@pytest.fixture(scope="module")
def background():
    return estimate(*make_sentences(random_text(300)))


@given(TEXTS, TEXTS, st.floats(0, 1), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**32))
def test_mixtures_are_weighted_sums(text, other, weight, least, order, seed):
    first = estimate(*make_sentences(text, least), order=order)
    mixture = adapt(first, other, weight=weight)
    vocabulary, second = mixture.vocabulary, mixture.adaptation
    shared = len(vocabulary) - len(first.vocabulary) + 1
    rng = np.random.default_rng(seed)
    for n in range(5):
        history = rng.integers(len(vocabulary), size=n).astype(np.int32)
        if weight == 1:
            history %= len(first.vocabulary)
        total = 0.0
        for word in range(len(vocabulary)):
            one = np.exp(word_log_probability(first.arrays, history, n, word))
            if word == 0 or word >= len(first.vocabulary):
                one /= shared
            two = np.exp(word_log_probability(second.arrays, history, n, word))
            result = np.exp(word_log_probability(mixture.arrays, history, n, word))
            assert result == pytest.approx(weight * one + (1 - weight) * two, rel=1e-5, abs=1e-12)
            total += result
        assert total == pytest.approx(1, abs=1e-5)


def test_a_weight_of_one_is_the_background_bit_for_bit(background):
    text = random_text(200, seed=1)
    mixture = adapt(background, [[*sentence, "strange"] for sentence in text], weight=1)
    indexed = Sentences.from_words(background.vocabulary, text)
    assert (indexed.ids > 0).all() and len(mixture.vocabulary) == len(background.vocabulary) + 1
    assert sentence_scores(mixture, indexed).tobytes() == sentence_scores(background, indexed).tobytes()


def test_states_of_a_mixture_are_those_of_both(background):
    mixture = adapt(background, random_text(30, seed=2), weight=0.3)
    ids = Sentences.from_words(mixture.vocabulary, random_text(5, seed=3)).ids
    state = start_state(mixture.arrays)
    for at, word in enumerate(ids):
        history = np.concatenate([[np.int32(1)], ids[:at]]).astype(np.int32)
        expected = word_log_probability(mixture.arrays, history, len(history), word)
        result, state = score_word(mixture.arrays, state, word)
        assert result == pytest.approx(expected, abs=1e-12)


def test_the_weight_is_at_least_as_good_as_any_of_a_grid(background):
    changed = {"w3": "w3x", "w5": "w5x"}
    text = [[changed.get(word, word) for word in sentence] for sentence in random_text(400, seed=4)]
    mixture = adapt(background, text[:200], held_out=text[200:300])
    held_out = Sentences.from_words(mixture.vocabulary, text[200:300])
    assert 0.05 < mixture.weight < 0.95
    best = perplexity(mixture, held_out)
    assert all(perplexity(mixture.reweighted(mu), held_out) >= best - 1e-9 for mu in np.linspace(0, 1, 41))
    unseen = Sentences.from_words(mixture.vocabulary, text[300:])
    assert perplexity(mixture, unseen) < min(perplexity(mixture.reweighted(mu), unseen) for mu in (0.0, 1.0))
    assert 0 < adapt(background, text[:200]).weight < 1


def test_the_best_weight_may_be_zero_or_one(background):
    text = random_text(20, seed=5)
    only = adapt(background, text, weight=0.5)
    held_out = Sentences.from_words(only.vocabulary, text)
    assert only.best_weight(held_out) == pytest.approx(0, abs=1e-9)
    assert Mixture(background, background, 0.5).best_weight(held_out) in (0.0, pytest.approx(0, abs=1e-9))


def test_entropies_add_up(background):
    mixture = adapt(background, random_text(20, seed=6), weight=0.5)
    sentences = Sentences.from_words(mixture.vocabulary, [["w1", "new", "w2"], [], ["w0"]])
    for model in (background, mixture):
        entropy = cross_entropy(model, sentences)
        scores = word_scores(model.arrays, sentences.take(np.array([0, 2])))
        assert len(scores) == 6
        assert entropy.bits == pytest.approx(-scores.sum() / np.log(2))
        assert entropy.known_bits == pytest.approx(-np.delete(scores, 1).sum() / np.log(2))
        assert (entropy.words, entropy.unknown, entropy.sentences, entropy.characters) == (4, 1, 2, 9)
        assert entropy.per_word == entropy.bits / 6 and entropy.per_known_word == entropy.known_bits / 5
        assert entropy.per_character == entropy.bits / 11
        assert entropy.perplexity == perplexity(model, sentences)
        assert entropy.known_perplexity == 2**entropy.per_known_word
        assert sentence_scores(model, sentences)[[0, 2]].sum() == pytest.approx(scores.sum())
    assert np.isnan(cross_entropy(background, Sentences(sentences.ids, sentences.offsets)).per_character)


def test_errors_of_mixtures(background):
    with pytest.raises(UserError, match=r"^\[D656\].*vocabulary"):
        Mixture(background, estimate(*make_sentences([["b", "a"]])), 0.5)
    for weight in (-0.1, 1.5, float("nan"), "0.5"):
        with pytest.raises(UserError, match=r"^\[D657\]"):
            adapt(background, [["a"]], weight=weight)
    with pytest.raises(UserError, match=r"^\[D656\].*two sentences"):
        adapt(background, [["a"]])
    with pytest.raises(UserError, match=r"^\[D656\].*held-out"):
        adapt(background, [["a"]], held_out=[[]])
    with pytest.raises(UserError, match=r"^\[D652\]"):
        adapt(background, [], weight=0.5)
    with pytest.raises(UserError, match=r"^\[D652\]"):
        cross_entropy(background, Sentences.from_words(WordVocabulary.from_words([]), [[]]))


COLUMNS = ("begins", "words", "log_probs", "back_offs")


@pytest.fixture(scope="module")
def model():
    return estimate(*make_sentences(random_text(2000, words=200), least=2))


@fewer_examples
@given(text=TEXTS, settings=st.fixed_dictionaries(MODELS), least=st.integers(1, 3))
def test_models_round_trip_bit_for_bit(tmp_path_factory, text, settings, least):
    model = estimate(*make_sentences(text, least), **settings)
    folder = tmp_path_factory.mktemp("model")
    stored.save_language_model(model, folder)
    again = stored.load_language_model(folder)
    assert again.vocabulary == model.vocabulary and again.header.items() >= model.header.items()
    for one, other in zip(model.levels, again.levels, strict=True):
        assert all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in COLUMNS)


def test_eight_bits_are_nearly_as_good(model, tmp_path):
    unseen = make_sentences(random_text(2000, words=200), least=2)[0]
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
def test_quantised_values_are_near(values):
    numbers = np.array(values, np.float32)
    codes, book = quantise(numbers)
    assert codes.dtype == np.uint8 and book.shape == (256,) and (np.diff(book) >= 0).all()
    width = np.ptp(numbers) / 256 if len(numbers) else 0
    assert (np.abs(book[codes] - numbers) <= width * 1.001 + 1e-5).all()


def test_mixtures_round_trip_and_invalid_ones_are_refused(model, tmp_path):
    mixture = adapt(model, [["w1", "new"], ["w2", "w1"]], weight=0.25)
    stored.save_mixture(mixture, tmp_path / "mixture")
    again = stored.load_mixture(tmp_path / "mixture", model)
    held_out = make_sentences(random_text(10, words=200))[0]
    assert again.weight == 0.25
    assert sentence_scores(again, held_out).tobytes() == sentence_scores(mixture, held_out).tobytes()
    other = estimate(*make_sentences([["b", "a"]]))
    with pytest.raises(UserError, match=r"^\[D655\].*other words"):
        stored.load_mixture(tmp_path / "mixture", other)
    header = json.loads((tmp_path / "mixture" / HEADER).read_text(encoding="utf8"))
    write_stored(tmp_path / "mixture", "mixture.npz", header, weight=np.array([7.0]))
    with pytest.raises(UserError, match=r"^\[D655\][^\[]*7\.0[^\[]*$"):
        stored.load_mixture(tmp_path / "mixture", model)
    (tmp_path / "mixture" / HEADER).write_text('{"format": 3}')
    with pytest.raises(UserError, match=r"^\[D655\].*the format in its header is not"):
        stored.load_mixture(tmp_path / "mixture", model)


def test_missing_and_invalid_files(model, tmp_path):
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
    return estimate(*make_sentences(random_text(12, words=6)))


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
    else:  # a byte without meaning: in the directory of the archive, or in the figures of the header
        assert again.vocabulary == small.vocabulary
        for one, other in zip(small.levels, again.levels, strict=True):
            assert one.words.tobytes() == other.words.tobytes()


@given(st.data())
def test_hostile_arrays_are_refused_or_harmless(small, tmp_path_factory, data):
    """Arrays with a valid digest: for any contents, nothing outside them is read."""
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
        others = array.astype(np.float64), array.astype("U5"), array[:0], array.T
        array = data.draw(st.sampled_from([array[:-1], array[..., None], *others]))
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


def test_an_arpa_file_by_hand(tmp_path):
    to_arpa(estimate(*make_sentences(["a b".split(), "a c".split()]), order=2), tmp_path / "toy.arpa")
    lines = (tmp_path / "toy.arpa").read_text(encoding="utf8").splitlines()
    assert lines[:5] == ["\\data\\", "ngram 1=6", "ngram 2=5", "", "\\1-grams:"]
    entries = {words: values for *values, words in (entry(line) for line in lines if "\t" in line)}
    assert entries["<s>"] == pytest.approx([-99, np.log10(1 / 3)], abs=1e-6)
    assert entries["a"] == pytest.approx([np.log10(0.176), np.log10(2 / 3)], abs=1e-6)
    assert entries["a b"] == pytest.approx([np.log10(1 / 6 + 2 / 3 * 0.176)], abs=1e-6)
    assert lines[-1] == "\\end\\" and len(entries) == 11


def entry(line):
    first, words, *weight = line.split("\t")
    return (float(first), *map(float, weight), words)


def test_words_with_spaces_are_refused(tmp_path):
    for word in ("New York", "", "a\n"):
        with pytest.raises(UserError, match=r"^\[D658\]"):
            to_arpa(estimate(*make_sentences([["a", word]])), tmp_path / "model.arpa")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("smoothing", ["kneser_ney", "absolute"])
@pytest.mark.parametrize("settings", [{}, {"order": 2}, {"order": 5}, {"min_counts": {3: 2}}, {"least": 3}])
def test_kenlm_agrees(tmp_path, smoothing, settings):
    kenlm = pytest.importorskip("kenlm")
    settings = dict(settings)
    sentences, vocabulary = make_sentences(random_text(500, words=60), settings.pop("least", 1))
    model = estimate(sentences, vocabulary, smoothing=smoothing, **settings)
    to_arpa(model, tmp_path / "model.arpa")
    theirs = kenlm.Model(str(tmp_path / "model.arpa"))
    text = [*random_text(100, seed=1, words=70), ["w1"], ["nowhere", "w2"]]
    ours = Sentences.from_words(vocabulary, text)
    expected = np.array([theirs.score(" ".join(sentence)) for sentence in text]) * np.log(10)
    assert sentence_scores(model, ours) == pytest.approx(expected, abs=1e-4)
    entropy = cross_entropy(model, ours)
    assert entropy.unknown > 0
    whole = 10 ** (-expected.sum() / np.log(10) / (len(ours.ids) + len(ours)))
    assert entropy.perplexity == pytest.approx(whole, rel=1e-6)
