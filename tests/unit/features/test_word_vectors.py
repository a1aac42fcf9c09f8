"""Word vectors: what they learn of a text, what a row has, and the contract."""

from __future__ import annotations

import numpy as np
import pytest
from feature_places import instances_at

from disambig.features import Vectors, WordVectors, learn_vectors, transform_checked
from disambig.tasks import OwnCandidates
from disambig.text import Words, hash_word, hash_words, view_of_texts

TASK = OwnCandidates(candidates=["quite", "quiet"])


def sentences(n=400, seed=0):
    """Animals eat and metals shine."""
    rng = np.random.default_rng(seed)
    animals, metals = ["cat", "dog", "horse", "cow"], ["iron", "copper", "silver", "gold"]
    for _ in range(n):
        yield ["the", str(rng.choice(animals)), str(rng.choice(["eats", "sleeps", "runs"]))]
        yield ["the", str(rng.choice(metals)), str(rng.choice(["shines", "melts", "rusts"]))]


def vectors(**settings):
    return learn_vectors([hash_words(words) for words in sentences()], **settings)


def test_words_in_like_contexts_have_like_vectors():
    known = vectors(dimensions=6)
    assert known.words.tolist() == sorted(known.words.tolist()) and known.directions.dtype == np.int8

    def like(one, other):
        a, b = known.rows(hash_words([one, other]))
        return float(known.units[a] @ known.units[b])

    assert like("cat", "horse") > 0.8 > like("cat", "gold")
    assert like("iron", "gold") > 0.8 > like("iron", "cow")
    the, cat = known.rows(hash_words(["the", "cat"]))
    assert known.worth[the] < known.worth[cat] <= 1


def test_only_frequent_words_have_vectors():
    known = vectors(n_words=3, dimensions=2)
    assert len(known.words) == 3 and known.directions.shape == (3, 2)
    assert known.rows(hash_words(["nowhere"])).tolist() == [3]
    assert not known.units[3].any() and known.worth[3] == 0
    assert not len(learn_vectors([]).words)


def test_a_row_joins_three_vectors():
    known = vectors(dimensions=5)
    extractor = WordVectors(beside=1, near=2, around=4, vectors=known)
    view = view_of_texts(["the cat eats gold"], Words())
    at = int(np.flatnonzero(view.hashes == np.uint64(hash_word("eats")))[0])
    places = instances_at([at])
    assert extractor.fit(view, places, TASK.groups) is extractor
    features = transform_checked(extractor, view, places, TASK.groups[0])
    row = features.batch.rows.toarray()[0]
    assert row.shape == (4 * 5,)
    beside, near, topic = np.split(row, [10, 15])
    for part in (beside, near, topic):
        assert np.linalg.norm(part) == pytest.approx(1, abs=1e-6)
    cat, gold = known.units[known.rows(hash_words(["cat", "gold"]))]
    np.testing.assert_allclose(beside, np.append(cat, gold) / np.sqrt(2), atol=1e-6)
    assert near @ cat > 0.5


def test_a_state_that_does_not_fit_is_refused():
    state = WordVectors(vectors=vectors(dimensions=3)).state()
    again = WordVectors().from_state(state).vectors
    assert isinstance(again, Vectors) and np.array_equal(again.directions, state["directions"])
    for name, broken in (("words", np.flip), ("directions", lambda a: a[1:]), ("shares", lambda a: -1 - a)):
        with pytest.raises(ValueError, match="word vectors"):
            WordVectors().from_state({**state, name: broken(state[name])})
