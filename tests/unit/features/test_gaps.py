"""Places where a word may be missing: learning, both implementations of sums, files, sentence ends."""

from __future__ import annotations

import json

import numpy as np
import pytest
from feature_places import instances_at, spoiled_folders
from hypothesis import given, strategies as st

from disambig.data import Group, apart, empty_places
from disambig.errors import UserError
from disambig.features import (
    MULTIPLIERS,
    SEEDS,
    Gaps,
    MissingWordOdds,
    feature_buckets,
    gaps as room,
    learn_gaps,
    transform_checked,
)
from disambig.tasks import OwnCandidates
from disambig.text import END_HASH, START_HASH, Words, hash_word

WHO = "She He Anna Paul We They".split()
WHAT = "music songs plans news work".split()
TEXTS = [f"{a} listened to {b} then. {a} discussed {b} loudly." for a in WHO for b in WHAT]


@pytest.fixture(scope="module")
def gaps():
    return learn_gaps([Words()(TEXTS)] * 8, ["to", "at"], bits=14, header={"licence": "none"})


def odds_before(gaps, text, word):
    view = Words()([text])
    at = np.flatnonzero(view.hashes == hash_word(word.lower()))
    return float(gaps.log_odds(view, at - 1, at)[0])


def test_an_obvious_pattern_is_learned_from_the_words_around(gaps):
    assert odds_before(gaps, "Maria listened music then.", "music") > 1
    assert odds_before(gaps, "Maria discussed music loudly.", "music") < -1
    assert odds_before(gaps, "Maria listened music then.", "then") < -1
    one, other = (Words()([f"Anna listened {word} music then."]) for word in ("to", "quietly"))
    place = np.array([2]), np.array([4])  # after the start of the sentence
    assert gaps.log_odds(one, *place) == gaps.log_odds(other, *place)


def test_places_end_with_the_sentence_and_are_not_beside_a_candidate(gaps):
    view = Words()(["We like music. They listened"])
    places = empty_places(view)
    words = [view.texts[0][s:e] for s, e in zip(view.starts[places], view.ends[places], strict=True)]
    assert words == ["like", "music", "listened"]
    first = np.flatnonzero(view.hashes == hash_word("they"))
    assert view.hashes[first - 1] == START_HASH and view.hashes[first - 2] == END_HASH
    alone = Words()(["They listened"])
    assert gaps.log_odds(view, first - 1, first) == gaps.log_odds(alone, np.array([0]), np.array([1]))
    last = np.array([len(view) - 1])
    assert gaps.log_odds(view, last - 1, last) == gaps.log_odds(alone, np.array([2]), np.array([3]))
    view = Words()(["He went out of town early today"])
    places = empty_places(view)
    assert places[apart(places, instances_at([3], 2), len(view))].tolist() == [2, 6, 7]


@given(st.lists(st.text("ab .-é'", max_size=30), max_size=4))
def test_empty_places_are_between_separate_words(texts):
    view = Words()(texts)
    for place in empty_places(view).tolist():
        assert view.document_indices(np.array([place])) == view.document_indices(np.array([place - 1]))
        text = texts[int(view.document_indices(np.array([place]))[0])]
        between = text[view.ends[place - 1] : view.starts[place]]
        assert between and not between.strip()


def by_hand(view, left, right, bits):
    """Return the features of each place, computed one at a time."""
    hashes = view.hashes.tolist()
    rows = []
    for i, j in zip(left.tolist(), right.tolist(), strict=True):
        k = hashes[i] if hashes[i] == START_HASH or i == 0 else hashes[i - 1]
        s = hashes[j] if hashes[j] == END_HASH or j + 1 == len(hashes) else hashes[j + 1]
        row = []
        for seed, factors in zip(SEEDS.tolist(), MULTIPLIERS.tolist(), strict=True):
            around = k, hashes[i], hashes[j], s
            total = seed + sum(f * word for f, word in zip(factors, around, strict=True))
            row.append((total % 2**64) >> (64 - bits))
        rows.append(row)
    return np.array(rows, np.uint64).T


@pytest.mark.parametrize("numba", [False, True])
def test_both_backends_return_the_sum_by_hand(gaps, monkeypatch, numba):
    monkeypatch.setattr(room, "use_numba", lambda size: numba)
    monkeypatch.setattr(room, "_BLOCK", 7)
    view = Words()(["", "Go.", *TEXTS[:3], "Well, listened to the end"])
    right = np.arange(1, len(view))
    left = right - 1
    result = by_hand(view, left, right, 14)
    assert np.array_equal(feature_buckets(view.hashes, left, right, 14), result)
    sums = gaps.weights[result].astype(int).sum(axis=0)
    assert gaps.log_odds(view, left, right) == pytest.approx(sums * gaps.header["scale"], rel=1e-6)
    assert gaps.log_odds(view, left[:0], right[:0]).shape == (0,)


def test_saving_and_loading_and_words_of_another_tokenisation(gaps, tmp_path):
    gaps.save(tmp_path / "new" / "gaps")
    again = Gaps.load(tmp_path / "new" / "gaps")
    assert again.header == gaps.header and np.array_equal(again.weights, gaps.weights)
    assert again.header["licence"] == "none" and again.header["tokenisation"] == Words.name
    other = Gaps(gaps.weights, {**gaps.header, "tokenisation": "web1t.v1"})
    with pytest.raises(UserError, match=r"D425.*web1t.v1.*disambig.words.v1"):
        odds_before(other, "They listened music.", "music")


def changed_header(folder, **changes):
    header = json.loads((folder / "header.json").read_text())
    (folder / "header.json").write_text(json.dumps({**header, **changes}))


@pytest.mark.parametrize(
    "spoil",
    [
        *spoiled_folders("weights.npz"),
        lambda folder: np.savez(folder / "weights.npz", other=np.zeros(4, np.int8)),
        lambda folder: np.savez(folder / "weights.npz", weights=np.zeros(4)),
        lambda folder: np.savez(folder / "weights.npz", weights=np.zeros(6, np.int8)),
        lambda folder: np.savez(folder / "weights.npz", weights=np.zeros((2, 2), np.int8)),
        lambda folder: changed_header(folder, tokenisation=3),
        lambda folder: changed_header(folder, scale=0.0),
        lambda folder: changed_header(folder, scale="large"),
    ],
)
def test_broken_files_are_refused(gaps, tmp_path, spoil):
    gaps.save(tmp_path)
    spoil(tmp_path)
    with pytest.raises(UserError, match="D424") as caught:
        Gaps.load(tmp_path)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("texts", [[], [[]], [[""]], [["Hm."]]])
def test_texts_without_places_are_an_error(texts):
    with pytest.raises(ValueError, match="no text"):
        learn_gaps([Words()(item) for item in texts], ["to"], bits=8)


def test_only_the_empty_candidate_has_an_attribute(gaps, tmp_path):
    gaps.save(tmp_path)
    view, extractor = Words()(["They listened music then."]), MissingWordOdds(gaps=tmp_path)
    task = OwnCandidates(candidates=["to", "at", ""])
    instances = task.instances(view)
    values = transform_checked(extractor, view, instances, task.groups[0]).batch.values
    assert values.shape == (3, 3, 1) and not values[:, :2].any()
    assert values[:, 2, 0].tolist() == (-gaps.log_odds(view, np.arange(1, 4), np.arange(2, 5))).tolist()
    assert values[1, 2, 0] < 0 < values[2, 2, 0]  # "listened music" lacks a word, "music then" does not
    words = transform_checked(extractor, view, instances.take([]), Group("to/at", ("to", "at")))
    assert words.batch.values.shape == (0, 2, 1) and not words.found.any()
