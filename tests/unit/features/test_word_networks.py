"""WordNetwork and WordVectors in both backends and any batch; features of tokens and word classes."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from failing_checks import failures
from feature_places import EveryToken, instances_at
from hypothesis import given, settings, strategies as st

from disambig.data import CandidateFinder, Group, SequenceRows
from disambig.errors import UserError
from disambig.features import (
    CLASS,
    FIRST_KNOWN,
    OUTSIDE,
    SHAPE,
    TOPIC_SHIFT,
    UNKNOWN,
    NetworkWeights,
    TokenContext,
    Vectors,
    WordClasses,
    WordNetwork,
    WordVectors,
    learn_classes,
    learn_usage,
    learn_vectors,
    transform_checked,
    word_network,
)
from disambig.tasks import OwnCandidates
from disambig.testing import check_extractor
from disambig.text import SpacyTokens, Words, hash_word, hash_words, view_of_texts

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
    networks = (WordNetwork(**few, seed=seed) for seed in (0, 0, 1))
    first, second, other = (network.fit(view, instances, [SAND]).state() for network in networks)
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


def test_the_contract_finds_groups_that_differ_together(monkeypatch):
    class Hasty(WordNetwork):
        def transform(self, view, table):
            blind = replace(self, weights=None) if len(table.groups) > 1 else self
            return WordNetwork.transform(blind, view, table)

    def failed(kind):
        task = OwnCandidates(sets=["in/on", "at/in to/to"])
        texts = ["We sat in town at noon.", "They ran in to town in May.", "On it at one, to it in time."] * 4
        extractor = kind(near=2, far=2, dimensions=4, hidden=6, epochs=3)
        return list(failures(check_extractor(extractor, task, texts)))

    monkeypatch.setattr(word_network, "_CHUNK", 5)  # of places, in each of which there may be two groups
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
    assert (np.diff(word_vectors.words) > 0).all() and word_vectors.directions.dtype == np.int8

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


TOKENS = SpacyTokens()
TEXTS = ["The cat sat. A dog-house burned, didn't it?", "In 2010 THE cats ran.", "", "x"]
TAGS = EveryToken()


def extract_rows(extractor, texts):
    view = TOKENS(texts)
    return extractor.rows(view, TAGS.instances(view).positions)[0].matrix()


def fitted(texts, **settings):
    view = TOKENS(texts)
    return TokenContext(**settings).fit(view, TAGS.instances(view), TAGS.groups)


def test_the_batch_is_sequences_of_sentences():
    view = TOKENS(TEXTS)
    features = transform_checked(fitted(TEXTS), view, TAGS.instances(view), TAGS.groups[0])
    assert isinstance(features.batch, SequenceRows)
    assert np.diff(features.batch.layout).tolist() == [4, 10, 6, 1]
    assert (features.n_hits == features.n_queries).all()  # everything occurred in training


def test_features_of_tokens_end_with_the_sentence_and_show_case_in_the_shape():
    extractor = fitted(["One two. Three four.", "Six two. Three four."])
    first, second = (
        extract_rows(extractor, [text]) for text in ("One two. Three four.", "Six two. Three four.")
    )
    assert (first[[3, 4, 5]] != second[[3, 4, 5]]).nnz == 0
    assert (first[[0, 1, 2]] != second[[0, 1, 2]]).nnz > 0
    extractor = fitted(["cat Cat 12 77"])
    rows = [set(extract_rows(extractor, [text]).indices.tolist()) for text in ("cat", "Cat", "12", "77")]
    assert rows[2] == rows[3]
    assert rows[0] != rows[1] and len(rows[0] & rows[1]) > len(rows[0]) / 2
    extractor = fitted(["cat"])
    rows = extract_rows(extractor, ["xylophonic\u4e00"])
    assert rows.shape[1] == len(extractor.state()["keys"])
    assert rows.nnz < len(extractor.state()["keys"])


def test_columns_can_be_removed_and_joined():
    often, all_of_them = (fitted(["cat dog", "cat cow"], least=n) for n in (2, 1))
    assert 0 < len(often.state()["keys"]) < len(all_of_them.state()["keys"])
    extractor = fitted(TEXTS)
    kept = np.arange(len(extractor.state()["keys"])) % 3 == 0
    whole, part = extract_rows(extractor, TEXTS), extract_rows(extractor.only(kept), TEXTS)
    assert (whole[:, np.flatnonzero(kept)] != part).nnz == 0
    one, other = fitted(["the cat"]), fitted(["a dog"])
    both = one.joined_with(other)
    assert set(both.keys) == set(one.keys) | set(other.keys)


@given(st.lists(st.text(max_size=30), max_size=5))
@settings(deadline=None, max_examples=30)
def test_backends_and_batches_agree_on_any_text(texts):
    classes = WordClasses(np.sort(hash_words(["the", "cat"])), np.ones((2, 2), np.uint16))
    result = {}
    for engine in ("numpy", "numba"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DISAMBIG_ENGINE", engine)
            extractor = fitted([*TEXTS, "".join(texts)[:40]], classes=classes)
            result[engine] = extractor.keys, extract_rows(extractor, [*texts, *TEXTS])
    assert (result["numpy"][0] == result["numba"][0]).all()
    first, second = (result[engine][1] for engine in ("numpy", "numba"))
    assert (first.indptr == second.indptr).all() and (first.indices == second.indices).all()
    alone = [np.zeros(0, int), *(extract_rows(extractor, [text]).indices for text in texts)]
    expected = np.concatenate(alone)  # the batch has no effect
    assert np.array_equal(second.indices[: len(expected)], expected)


def test_classes_are_shared_by_words_and_joined():
    classes = WordClasses(np.sort(hash_words(["cat", "dog"])), np.array([[3], [3]], np.uint16))
    with_classes = fitted(["cat"], classes=classes)
    without = fitted(["cat"])
    gained = extract_rows(with_classes, ["dog"]).nnz - extract_rows(without, ["dog"]).nnz
    assert gained > extract_rows(with_classes, ["cow"]).nnz - extract_rows(without, ["cow"]).nnz
    one = WordClasses(np.array([1, 2], np.uint64), np.array([[4], [5]], np.uint16))
    other = WordClasses(np.array([2, 3], np.uint64), np.array([[7], [8]], np.uint16))
    both = one.joined_with(other)
    assert both.words.tolist() == [1, 2, 3]
    assert both.classes.tolist() == [[5, 0], [6, 8], [0, 9]]


def text_of_two_kinds(n, rng):
    """Return sentences in which words of the same kind occur in the same contexts."""
    things, acts = [f"t{i}" for i in range(8)], [f"a{i}" for i in range(8)]
    return [hash_words(["the", things[rng.integers(8)], "can", acts[rng.integers(8)], "."]) for _ in range(n)]


def test_words_in_the_same_contexts_share_a_class():
    text = text_of_two_kinds(800, np.random.default_rng(0))
    result = learn_classes(text, n_words=19, n_contexts=5, sizes=(4,))
    of = {kind: {int(result.lookup(hash_words([f"{kind}{i}"]))[0, 0]) for i in range(8)} for kind in "ta"}
    assert len(of["t"]) == len(of["a"]) == 1 and of["t"] != of["a"]
    assert result.lookup(np.array([hash_word("never")], np.uint64)).tolist() == [[0]]


def test_too_few_words_for_classes_are_an_error():
    with pytest.raises(UserError, match=r"D458.*3 different words, too few for 64"):
        learn_classes([hash_words(["a", "b", "c"])], sizes=(64,))
    many = hash_words([f"w{i}" for i in range(100)])
    with pytest.raises(UserError, match=r"D458.*10 different words, too few for 64"):
        learn_classes([many], n_words=10, sizes=(64,))
    for texts, message in (([], "D458"), ([tagged(["One two."])], r"D458.*0 different words")):
        with pytest.raises(UserError, match=message):
            learn_usage(texts, 3, sizes=(2,))


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("keys", np.array([3, 2], np.uint32)),
        ("keys", np.array([[1]], np.uint32)),
        ("keys", np.array([1.0])),
        ("class_words", np.array([5, 5], np.uint64)),
        ("classes", np.zeros((1, 2), np.uint16)),
        ("classes", np.zeros((2, 1), np.float64)),
    ],
)
def test_a_damaged_state_is_refused(name, array):
    classes = WordClasses(np.array([1, 2], np.uint64), np.zeros((2, 1), np.uint16))
    state = fitted(["cat"], classes=classes).state()
    with pytest.raises(ValueError, match=r"token context|word classes"):
        TokenContext().from_state({**state, name: array})


def test_templates_of_classes_round_trip_and_are_checked():
    words, columns = np.sort(hash_words(["the", "cat"])), np.ones((2, 1), np.uint16)
    wide = WordClasses(words, columns, np.array([[CLASS, 2, -1, 0], [CLASS, 0, SHAPE, 0]]))
    extractor = fitted(["the cat sat the cat"], classes=wide)
    usual = fitted(["the cat sat the cat"], classes=WordClasses(words, columns))
    assert not np.array_equal(extractor.keys, usual.keys)
    again = TokenContext().from_state(extractor.state())
    assert (extract_rows(again, TEXTS) != extract_rows(extractor, TEXTS)).nnz == 0
    for broken in ([[CLASS + 1, 0, -1, 0]], [[0, 0, -2, 0]], [[0, 101, -1, 0]], [[0, 0, 0]]):
        with pytest.raises(ValueError, match="word classes"):
            WordClasses.from_state({**wide.state(), "class_templates": np.array(broken, np.int8)})


NAMES, THINGS = ["Anna", "Berlin", "Chile", "Doris"], ["apple", "brick", "chair", "door"]


def tagged(texts):
    """Tag names with 0, things with 1, and other words with 2."""
    view = SpacyTokens()(texts)
    words = np.flatnonzero(view.ends > view.starts)
    kinds = dict.fromkeys(hash_words([n.lower() for n in NAMES]).tolist(), 0)
    kinds |= dict.fromkeys(hash_words(THINGS).tolist(), 1)
    return view, np.array([kinds.get(h, 2) for h in view.hashes[words].tolist()])


def test_words_with_the_same_tags_and_capitals_share_a_class():
    texts = [f"She gave {name} the {thing}." for name in NAMES for thing in THINGS] * 2
    # headings are not informative
    texts += [f"{thing.title()} Of {name}" for name in NAMES for thing in THINGS]
    result = learn_usage([tagged(texts)], 3, sizes=(3,))
    names, things = (result.lookup(hash_words([w.lower() for w in some])) for some in (NAMES, THINGS))
    assert (names == names[0]).all() and (things == things[0]).all()
    assert names[0, 0] != things[0, 0] and names[0, 1] != things[0, 1]


def test_capitals_count_inside_sentences_and_words_in_all_capitals_form_a_class():
    texts = ["Door after door shut. The door was open.", "Door to door they went."] * 4
    texts += ["He saw Anna and Anna saw him."] * 4
    result = learn_usage([tagged(texts)], 3, sizes=(2,))
    door, anna = result.lookup(hash_words(["door", "anna"]))[:, -1].tolist()
    assert (door, anna) == (2, 8)  # never, and nearly always; one more, since 0 is an unknown word
    texts = ["We asked NASA and the man from NASA then left."] * 8
    assert learn_usage([tagged(texts)], 3, sizes=(2,)).lookup(hash_words(["nasa"]))[0, -1] == 9
