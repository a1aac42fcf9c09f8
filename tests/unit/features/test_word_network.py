"""WordNetwork: exact in both backends and in any batch; WordVectors and their rows."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from feature_places import instances_at

from disambig.data import CandidateFinder, Group, GroupedInstances
from disambig.features import (
    FIRST_KNOWN,
    OUTSIDE,
    TOPIC_SHIFT,
    UNKNOWN,
    NetworkWeights,
    Vectors,
    WordNetwork,
    WordVectors,
    learn_vectors,
    transform_checked,
    word_network,
)
from disambig.tasks import OwnCandidates
from disambig.testing import check_extractor
from disambig.text import Words, hash_word, hash_words, view_of_texts

SAND = Group("sand", ("desert", "dessert"))
PLACE = Group("place", ("in", "on", "at"))
NEVER = Group("never", ("whose", "who's"))
SMALL = {"near": 2, "far": 8, "vocabulary": 40, "dimensions": 8, "hidden": 24, "epochs": 40}
DRY, SWEET = ("camel", "sand", "sun"), ("cream", "cake", "sugar")


def make_texts(n, seed=0):
    """Return texts in which near words decide one group, and distant words the other."""
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(n):
        sweet = rng.random() < 0.5
        topic = (SWEET if sweet else DRY)[rng.integers(3)]
        place, noun = (("in", "town"), ("on", "top"), ("at", "noon"))[rng.integers(3)]
        texts.append(f"Some {topic} came. We saw the {'dessert' if sweet else 'desert'} {place} {noun}.")
    return texts


def find(texts, *groups):
    view = Words()(list(texts))
    return view, CandidateFinder.from_groups(groups).find(view)


@pytest.fixture(scope="module")
def learned():
    view, instances = find(make_texts(150), SAND, PLACE, NEVER)
    return WordNetwork(**SMALL).fit(view, instances, [SAND, PLACE, NEVER])


def scores(extractor, texts, group):
    view, instances = find(texts, group)
    return transform_checked(extractor, view, instances, group).batch.values[:, :, 0], instances.observed


def test_near_words_of_the_sentence_and_far_words_of_the_document_are_learned(learned):
    for group in (SAND, PLACE):
        values, right = scores(learned, make_texts(60, seed=1), group)
        assert (values.argmax(axis=1) == right).mean() > 0.95
        assert np.exp(values).sum(axis=1) == pytest.approx(1.0, abs=0.03)  # log-probabilities, rounded
    values, _ = scores(learned, ["Nobody knew whose it was."], NEVER)
    assert (values == 0).all()
    assert (scores(WordNetwork(**SMALL), make_texts(3), SAND)[0] == 0).all()
    text, sugar = "We saw the desert in town.", "Some sugar came."
    assert np.array_equal(scores(learned, [sugar, text], PLACE)[0], scores(learned, [text], PLACE)[0])
    near, alone = (scores(learned, [before + text], SAND)[0] for before in (f"{sugar} {sugar} ", ""))
    assert not np.array_equal(near, alone)


def written_out(extractor, view, position):
    """Return the unnormalised scores of SAND at one place, computed with Python's integers."""
    w = extractor.weights
    rows = {int(key): i + FIRST_KNOWN for i, key in enumerate(w.vocabulary)}
    sentence, document = (
        (max(start for start in edges if start <= position), min(end for end in edges if end > position))
        for edges in (view.sentences, view.documents)
    )

    def row(at, bounds):
        return rows.get(int(view.hashes[at]) >> 32, UNKNOWN) if bounds[0] <= at < bounds[1] else OUTSIDE

    steps = [-1 - d for d in range(extractor.near)] + [1 + d for d in range(extractor.near)]
    inputs = [int(x) for step in steps for x in w.near[row(position + step, sentence)]]
    off = [s * d for d in range(extractor.near + 1, extractor.far + 1) for s in (-1, 1)]
    total = [sum(int(w.far[row(position + d, document), j]) for d in off) for j in range(w.far.shape[1])]
    inputs += [value >> TOPIC_SHIFT for value in total]
    units = []
    for j in range(w.hidden.shape[1]):
        value = sum(x * int(y) for x, y in zip(inputs, w.hidden[:, j], strict=True))
        unit = np.floor(np.float32(value) * w.hidden_scale[j] + w.hidden_bias[j] + np.float32(0.5))
        units.append(int(min(max(unit, 0), 255)))
    outputs = [sum(u * int(x) for u, x in zip(units, w.output[r], strict=True)) for r in range(2)]
    return np.array([np.float32(o) * w.output_scale[r] + w.output_bias[r] for r, o in enumerate(outputs)])


def test_both_backends_compute_the_network_written_out(learned, engine):
    more = ["desert", "A dessert of unheard-of splendour, said the man from the desert."]
    view, instances = find([*make_texts(5, seed=3), *more], SAND)
    values = transform_checked(learned, view, instances, SAND).batch.values[:, :, 0]
    for value, position in zip(values, instances.positions, strict=True):
        plain = written_out(learned, view, int(position))
        assert value[0] - value[1] == pytest.approx(plain[0] - plain[1], abs=1 / 64)


def test_backends_and_batches_of_any_size_agree_bit_for_bit(learned, monkeypatch):
    view, instances = find(make_texts(40, seed=4), PLACE)
    answers = []
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        whole = transform_checked(learned, view, instances, PLACE).batch.values
        singles = [instances.take(np.array([i])) for i in range(len(instances))]
        one_by_one = [transform_checked(learned, view, one, PLACE).batch.values for one in singles]
        answers += [whole, np.concatenate(one_by_one)]
    assert all(np.array_equal(answers[0], other) for other in answers[1:])


def test_without_far_words_only_the_sentence_counts():
    view, instances = find(make_texts(60), PLACE)
    settings = {**SMALL, "far": 2, "epochs": 10}
    extractor = WordNetwork(**settings).fit(view, instances, [PLACE])
    assert extractor.weights.far.shape == (FIRST_KNOWN, 8)
    again = WordNetwork(**settings).from_state(extractor.state())
    text = "We saw the desert in town."
    before = scores(again, [text], PLACE)[0]
    assert np.array_equal(scores(extractor, ["Sugar and cream and cake. " + text], PLACE)[0], before)


def test_the_same_seed_gives_the_same_weights():
    view, instances = find(make_texts(40), SAND)
    few = {**SMALL, "epochs": 2}
    first, second, other = (
        WordNetwork(**few, seed=seed).fit(view, instances, [SAND]).state() for seed in (0, 0, 1)
    )
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not np.array_equal(first["near"], other["near"])


def test_the_number_of_examples_of_a_group_is_limited():
    texts = make_texts(80)
    view, instances = find(texts, SAND)
    few = WordNetwork(**{**SMALL, "examples": 1, "epochs": 60}).fit(view, instances, [SAND])
    values, _ = scores(few, texts, SAND)
    assert len(np.unique(values.argmax(axis=1))) == 1  # one example: always the same answer


def test_states_that_do_not_fit_are_refused(learned):
    state = learned.state()
    assert set(state) == {field.name for field in fields(NetworkWeights)}
    for name in ("near", "far", "hidden", "hidden_bias", "output", "output_scale", "sizes", "groups"):
        with pytest.raises(ValueError, match="differ in size"):
            WordNetwork(**SMALL).from_state({**state, name: state[name][:-1]})
    for name in ("near", "hidden", "dimensions"):
        with pytest.raises(ValueError, match="differ in size"):
            replace(WordNetwork(**SMALL), **{name: 3}).from_state(state)


def sized(sizes, rows):
    """Return a function that changes the outputs of `learned` to those of groups of other sizes."""

    def change(state):
        cut = {name: state[name][:rows] for name in ("output", "output_scale", "output_bias")}
        return cut | {"sizes": np.array(sizes), "groups": np.arange(len(sizes))}

    return change


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda s: {"vocabulary": np.zeros_like(s["vocabulary"])}, "ascending"),
        (lambda s: {"vocabulary": s["vocabulary"][::-1]}, "ascending"),
        (lambda s: {"vocabulary": s["vocabulary"][:0], "near": s["near"][:2], "far": s["far"][:2]}, "empty"),
        (lambda s: {"vocabulary": s["vocabulary"][:, None]}, "differ in size"),
        (lambda s: {"groups": s["groups"][None], "sizes": s["sizes"][None]}, "differ in size"),
        (lambda s: {"near": np.int8(1)}, "differ in size"),
        (sized([2**62] * 4, 0), "differ in size"),  # sizes that wrap round
        (sized([6, -1], 5), "differ in size"),
        (lambda s: {"sizes": s["sizes"] + 0.2}, "sizes is of another type"),
        (lambda s: {"sizes": s["sizes"].astype(np.int8)}, "sizes is of another type"),
        (lambda s: {"output_scale": s["output_scale"] > 0}, "output_scale is of another type"),
        (lambda s: {"hidden_bias": s["hidden_bias"] * np.float32(np.nan)}, "without bounds"),
        (lambda s: {"output_bias": s["output_bias"] + np.float32(np.inf)}, "without bounds"),
        (lambda s: {"output_scale": np.full_like(s["output_scale"], -3e38)}, "bounds"),
        (lambda s: {"hidden": np.full_like(s["hidden"], -128)}, "-128"),  # beyond the exact range
    ],
)
def test_hostile_states_are_refused(learned, change, named):
    state = learned.state()
    with pytest.raises(ValueError, match=named):
        WordNetwork(**SMALL).from_state({**state, **change(state)})
    WordNetwork(**SMALL).from_state(state)


def test_a_group_of_another_size_is_refused_even_without_instances(learned):
    numbers = learned.weights.groups[::-1].copy()  # those of SAND, of two candidates, and of PLACE, of three
    other = WordNetwork(**SMALL).from_state({**learned.state(), "groups": numbers})
    view, instances = find(["Nothing to be found here."], SAND)
    assert len(instances) == 0
    with pytest.raises(ValueError, match="3 outputs for 2 candidates"):
        transform_checked(other, view, instances, SAND)


def test_groups_decided_together_equal_each_group_alone(monkeypatch):
    hidden_units = WordNetwork._units
    groups = (Group("a", ("in", "on")), Group("b", ("on", "at", "in to")))
    texts = [
        "We sat in town on Monday.",
        "They ran in to town at noon.",
        "On it, in it, at it.",
        "In on at in to",
    ]
    view, instances = find(texts * 3, *groups)
    network = WordNetwork(near=2, far=4, dimensions=4, hidden=6, epochs=2).fit(view, instances, groups)
    parts = [(instances.take(np.flatnonzero(instances.groups == g)[::-1]), groups[g]) for g in (1, 0, 1)]
    units = []
    monkeypatch.setattr(word_network, "_CHUNK", 5)
    monkeypatch.setattr(
        WordNetwork, "_units", lambda *asked: units.append(len(asked[2])) or hidden_units(*asked)
    )
    together = network.transform(view, GroupedInstances.from_parts(parts))
    assert len(units) == -(-sum(len(part) for part, _ in parts) // 5)
    for (part, group), features in zip(parts, together, strict=True):
        alone = transform_checked(network, view, part, group)
        assert np.array_equal(features.batch.values, alone.batch.values) and features.batch.values.any()
        assert np.array_equal(features.batch.costs, alone.batch.costs)
    none = instances.take([])
    with_none = network.transform(view, GroupedInstances.from_parts([(none, groups[0]), parts[0]]))
    assert [len(item.found) for item in with_none] == [0, len(parts[0][0]) * 3]


def test_the_contract_finds_groups_that_differ_together():
    class Hasty(WordNetwork):
        def transform(self, view, table):
            blind = replace(self, weights=None) if len(table.groups) > 1 else self
            return WordNetwork.transform(blind, view, table)

    def failed(kind):
        task = OwnCandidates(sets=["in/on", "at/to"])
        texts = ["We sat in town at noon.", "They ran on to town in May.", "On it at one, to it in time."] * 4
        names = []
        for check in check_extractor(kind(near=2, far=2, dimensions=4, hidden=6, epochs=3), task, texts):
            try:
                check()
            except AssertionError:
                names.append(check.name)
        return names

    assert failed(WordNetwork) == []
    assert failed(Hasty) == ["groups_do_not_affect_each_other"]


TASK = OwnCandidates(candidates=["quite", "quiet"])


def sentences(n=400, seed=0):
    """Return sentences in which animals eat and metals shine."""
    rng = np.random.default_rng(seed)
    animals, metals = ["cat", "dog", "horse", "cow"], ["iron", "copper", "silver", "gold"]
    for _ in range(n):
        yield ["the", str(rng.choice(animals)), str(rng.choice(["eats", "sleeps", "runs"]))]
        yield ["the", str(rng.choice(metals)), str(rng.choice(["shines", "melts", "rusts"]))]


def vectors(**settings):
    return learn_vectors([hash_words(words) for words in sentences()], **settings)


def test_frequent_words_in_similar_contexts_have_similar_vectors():
    word_vectors = vectors(dimensions=6)
    assert (
        word_vectors.words.tolist() == sorted(word_vectors.words.tolist())
        and word_vectors.directions.dtype == np.int8
    )

    def like(one, other):
        a, b = word_vectors.rows(hash_words([one, other]))
        return float(word_vectors.units[a] @ word_vectors.units[b])

    assert like("cat", "horse") > 0.8 > like("cat", "gold")
    assert like("iron", "gold") > 0.8 > like("iron", "cow")
    the, cat = word_vectors.rows(hash_words(["the", "cat"]))
    assert word_vectors.weights[the] < word_vectors.weights[cat] <= 1
    word_vectors = vectors(n_words=3, dimensions=2)
    assert len(word_vectors.words) == 3 and word_vectors.directions.shape == (3, 2)
    assert word_vectors.rows(hash_words(["nowhere"])).tolist() == [3]
    assert not word_vectors.units[3].any() and word_vectors.weights[3] == 0
    assert not len(learn_vectors([]).words)


def test_a_row_joins_three_vectors():
    word_vectors = vectors(dimensions=5)
    extractor = WordVectors(beside=1, near=2, around=4, vectors=word_vectors)
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
    cat, gold = word_vectors.units[word_vectors.rows(hash_words(["cat", "gold"]))]
    np.testing.assert_allclose(beside, np.append(cat, gold) / np.sqrt(2), atol=1e-6)
    assert near @ cat > 0.5


def test_a_state_that_does_not_fit_is_refused():
    state = WordVectors(vectors=vectors(dimensions=3)).state()
    again = WordVectors().from_state(state).vectors
    assert isinstance(again, Vectors) and np.array_equal(again.directions, state["directions"])
    for name, broken in (("words", np.flip), ("directions", lambda a: a[1:]), ("shares", lambda a: -1 - a)):
        with pytest.raises(ValueError, match="word vectors"):
            WordVectors().from_state({**state, name: broken(state[name])})
