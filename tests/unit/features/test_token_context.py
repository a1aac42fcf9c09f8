"""Features of tokens, and word classes learned from texts and from tagged texts."""

from __future__ import annotations

import numpy as np
import pytest
from feature_places import EveryToken
from hypothesis import given, settings, strategies as st

from disambig.data import SequenceRows
from disambig.errors import UserError
from disambig.features import (
    CLASS,
    SHAPE,
    TokenContext,
    WordClasses,
    learn_classes,
    learn_usage,
    transform_checked,
)
from disambig.text import SpacyTokens, hash_word, hash_words

TOKENS = SpacyTokens()
TEXTS = ["The cat sat. A dog-house burned, didn't it?", "In 2010 THE cats ran.", "", "x"]
TAGS = EveryToken()


def rows_of(extractor, texts):
    view = TOKENS(texts)
    return extractor.rows(view, TAGS.instances(view).positions)[0]


def fitted(texts, **settings):
    view = TOKENS(texts)
    return TokenContext(**settings).fit(view, TAGS.instances(view), TAGS.groups)


def test_the_batch_is_sequences_of_sentences():
    view = TOKENS(TEXTS)
    features = transform_checked(fitted(TEXTS), view, TAGS.instances(view), TAGS.groups[0])
    assert isinstance(features.batch, SequenceRows)
    assert np.diff(features.batch.layout).tolist() == [4, 10, 6, 1]
    assert (features.found == features.asked).all()  # everything occurred in training


def test_features_of_tokens_end_with_the_sentence_and_show_case_in_the_shape():
    extractor = fitted(["One two. Three four.", "Six two. Three four."])
    first, second = (rows_of(extractor, [text]) for text in ("One two. Three four.", "Six two. Three four."))
    assert (first[[3, 4, 5]] != second[[3, 4, 5]]).nnz == 0
    assert (first[[0, 1, 2]] != second[[0, 1, 2]]).nnz > 0
    extractor = fitted(["cat Cat 12 77"])
    rows = [set(rows_of(extractor, [text]).indices.tolist()) for text in ("cat", "Cat", "12", "77")]
    assert rows[2] == rows[3]
    assert rows[0] != rows[1] and len(rows[0] & rows[1]) > len(rows[0]) / 2
    extractor = fitted(["cat"])
    rows = rows_of(extractor, ["xylophonic\u4e00"])
    assert rows.shape[1] == len(extractor.state()["keys"])
    assert rows.nnz < len(extractor.state()["keys"])


def test_columns_can_be_removed_and_joined():
    often, all_of_them = (fitted(["cat dog", "cat cow"], least=n) for n in (2, 1))
    assert 0 < len(often.state()["keys"]) < len(all_of_them.state()["keys"])
    extractor = fitted(TEXTS)
    kept = np.arange(len(extractor.state()["keys"])) % 3 == 0
    whole, part = rows_of(extractor, TEXTS), rows_of(extractor.only(kept), TEXTS)
    assert (whole[:, np.flatnonzero(kept)] != part).nnz == 0
    one, other = fitted(["the cat"]), fitted(["a dog"])
    both = one.joined_with(other)
    assert set(both.keys) == set(one.keys) | set(other.keys)


@given(st.lists(st.text(max_size=30), max_size=5))
@settings(deadline=None, max_examples=40)
def test_any_text_has_features_that_do_not_depend_on_the_batch(texts):
    extractor = fitted(TEXTS)
    together = rows_of(extractor, texts)
    start = 0
    for text in texts:
        alone = rows_of(extractor, [text])
        assert (together[start : start + alone.shape[0]] != alone).nnz == 0
        start += alone.shape[0]
    assert start == together.shape[0]


@given(st.lists(st.text(max_size=30), max_size=5))
@settings(deadline=None, max_examples=40)
def test_backends_agree(texts):
    classes = WordClasses(np.sort(hash_words(["the", "cat"])), np.ones((2, 2), np.uint16))
    result = {}
    for engine in ("numpy", "numba"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DISAMBIG_ENGINE", engine)
            extractor = fitted([*TEXTS, "".join(texts)[:40]], classes=classes)
            result[engine] = extractor.keys, rows_of(extractor, [*texts, *TEXTS])
    assert (result["numpy"][0] == result["numba"][0]).all()
    first, second = (result[engine][1] for engine in ("numpy", "numba"))
    assert (first.indptr == second.indptr).all() and (first.indices == second.indices).all()


def test_classes_are_shared_by_words_and_joined():
    classes = WordClasses(np.sort(hash_words(["cat", "dog"])), np.array([[3], [3]], np.uint16))
    with_classes = fitted(["cat"], classes=classes)
    without = fitted(["cat"])
    gained = rows_of(with_classes, ["dog"]).nnz - rows_of(without, ["dog"]).nnz
    assert gained > rows_of(with_classes, ["cow"]).nnz - rows_of(without, ["cow"]).nnz
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
    result = learn_classes(
        text_of_two_kinds(800, np.random.default_rng(0)), n_words=19, n_contexts=5, sizes=(4,)
    )
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
    state = dict(fitted(["cat"], classes=classes).state())
    with pytest.raises(ValueError, match=r"token context|word classes"):
        TokenContext().from_state({**state, name: array})


def test_templates_of_classes_round_trip_and_are_checked():
    words, columns = np.sort(hash_words(["the", "cat"])), np.ones((2, 1), np.uint16)
    wide = WordClasses(words, columns, np.array([[CLASS, 2, -1, 0], [CLASS, 0, SHAPE, 0]]))
    extractor = fitted(["the cat sat the cat"], classes=wide)
    usual = fitted(["the cat sat the cat"], classes=WordClasses(words, columns))
    assert not np.array_equal(extractor.keys, usual.keys)
    again = TokenContext().from_state(extractor.state())
    assert (rows_of(again, TEXTS) != rows_of(extractor, TEXTS)).nnz == 0
    for broken in ([[CLASS + 1, 0, -1, 0]], [[0, 0, -2, 0]], [[0, 101, -1, 0]], [[0, 0, 0]]):
        with pytest.raises(ValueError, match="word classes"):
            WordClasses.from_state({**wide.state(), "class_templates": np.array(broken, np.int8)})


NAMES, THINGS = ["Anna", "Berlin", "Chile", "Doris"], ["apple", "brick", "chair", "door"]


def tagged(texts):
    """Tag names with 0, things with 1, and other words with 2."""
    view = SpacyTokens()(texts)
    words = np.flatnonzero(view.ends > view.starts)
    kinds = {**dict.fromkeys(hash_words([n.lower() for n in NAMES]).tolist(), 0)}
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
