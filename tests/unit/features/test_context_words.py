"""ContextWords: a plain sum, both backends, learning, and the stored weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from feature_places import instances_at
from hypothesis import HealthCheck, given, settings, strategies as st

from disambig.data import CandidateFinder, Group
from disambig.errors import UserError
from disambig.features import ContextWords, transform_checked
from disambig.text import Words

GROUP = Group("sand", ("desert", "dessert"))
PAIR = Group("chance", ("maybe", "may be"))
WORDS = ("camel", "cream", "dry", "sweet", "the", "we", ".", "desert", "dessert", "maybe", "may", "be")
STATE = ("keys", "sizes", "groups", "weights")
TEXTS = (
    "We rode a camel through the hot and dry desert for a week.",
    "The camel drank, and the dry desert lay behind us.",
    "Sweet cream makes a fine dessert for all of us.",
    "They had ice cream, and the sweet dessert was gone.",
)  # the informative words occur in every second text


def find(texts, *groups):
    view = Words()(list(texts))
    return view, CandidateFinder.from_groups(groups).find(view)


@pytest.fixture(scope="module")
def learned():
    view, instances = find(TEXTS * 10, GROUP)
    return ContextWords(C=1.0).fit(view, instances, [GROUP])


def scores(extractor, text, group=GROUP):
    view, instances = find([text], group)
    return transform_checked(extractor, view, instances, group).batch.values[:, :, 0]


def written_out(extractor, view, instances, group):
    """Add up the weights feature by feature; the key of a word is read from a text with only that word."""
    ((keys, weights),) = extractor.tables.values()
    table = {int(key): row for key, row in zip(keys, weights.astype(int), strict=True)}
    sums, places = np.zeros((len(instances), len(group.candidates))), extractor.places
    for i, (position, length) in enumerate(zip(instances.positions, instances.lengths, strict=True)):
        document = int(view.document_indices(instances.positions)[i])
        low, high = view.documents[document], view.documents[document + 1]
        for distance in range(1, extractor.window + 1):
            for at, side in ((position - distance, -1), (position + length - 1 + distance, 1)):
                if not low <= at < high or view.hashes[at] == 0:
                    continue
                for kind in ["bag"] * (distance > 1) + [side * distance] * (distance <= places):
                    sums[i] += table.get(key_of(extractor, view.hashes[at], kind), 0)
    return sums / 32


def key_of(extractor, word, kind):
    """Return the key of a feature, read from a view that has no other feature."""
    distance = 2 if kind == "bag" else abs(kind)
    left = kind == "bag" or kind < 0
    hashes = np.zeros(2 * extractor.window + 3, np.uint64)
    middle = extractor.window + 1
    hashes[middle + (-distance if left else distance)] = word
    whole = np.array([0, len(hashes)])
    view, one = (
        replace(Words()([""]), hashes=hashes, documents=whole, sentences=whole),
        instances_at([middle]),
    )
    places = 0 if kind == "bag" else extractor.places
    keys = {int(key) for key in replace(extractor, places=places)._keys(view, one)[0]} - {0}
    if kind != "bag":
        keys -= {key_of(extractor, word, "bag")}
    (key,) = keys
    return key


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=15).map(" ".join), min_size=1, max_size=3))
def test_the_attribute_is_the_sum_of_known_weights_inside_the_document(engine, learned, texts):
    view, instances = find(texts, GROUP)
    values = transform_checked(learned, view, instances, GROUP).batch.values
    assert values.shape == (len(instances), 2, 1)
    np.testing.assert_array_equal(values[:, :, 0], written_out(learned, view, instances, GROUP))


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_any_table_gives_the_same_sums_by_both_backends(engine, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    extractor = ContextWords(window=data.draw(st.integers(0, 6)), places=data.draw(st.integers(0, 4)))
    view, instances = find([" ".join(rng.choice(WORDS, 40)) for _ in range(3)], PAIR)
    if not len(instances) or not extractor._templates:
        return
    asked = np.unique(extractor._keys(view, instances))
    keys = rng.choice(asked[asked != 0], data.draw(st.integers(1, 30)))
    keys = np.unique(np.append(keys, rng.integers(1, 2**32, 3, dtype=np.uint32)))
    weights = rng.integers(-127, 128, (len(keys), 2)).astype(np.int8)
    table, zero = dict(zip(keys.tolist(), weights.astype(int), strict=True)), np.zeros(2, int)
    rows = extractor._keys(view, instances)
    expected = [sum((table.get(int(key), zero) for key in row), zero) for row in rows]
    np.testing.assert_array_equal(extractor._sums(view, instances, (keys, weights)), expected)


def test_informative_words_around_the_place_are_learned(learned):
    dry = scores(learned, "Any camel likes that dry dessert now.")
    sweet = scores(learned, "Her cream is in that sweet desert now.")
    assert dry[0, 0] > dry[0, 1]
    assert sweet[0, 1] > sweet[0, 0]
    assert np.abs(scores(learned, "Nobody knew which desert.")).max() < np.abs(dry).max()
    one, other = (scores(learned, f"A camel and the {word} behind it.") for word in GROUP.candidates)
    np.testing.assert_array_equal(one, other)


def test_words_of_the_next_sentence_count_but_not_of_the_next_document(learned):
    near, alone = (scores(learned, f"He saw that desert.{more}") for more in (" Some camel stood there.", ""))
    view, instances = find(["He saw that desert.", "Some camel stood there."], GROUP)
    apart = transform_checked(learned, view, instances, GROUP).batch.values[:, :, 0]
    assert near[0, 0] - near[0, 1] > apart[0, 0] - apart[0, 1]
    np.testing.assert_array_equal(apart, alone)


def test_candidates_of_two_words():
    texts = ["Perhaps it is late, maybe so, perhaps.", "It may be seen that this may be done."] * 10
    view, instances = find(texts, PAIR)
    extractor = ContextWords(C=1.0).fit(view, instances, [PAIR])
    values = transform_checked(extractor, view, instances, PAIR).batch.values[:, :, 0]
    np.testing.assert_array_equal(values.argmax(axis=1), instances.observed)
    one, two = scores(extractor, "this maybe done", PAIR), scores(extractor, "this may be done", PAIR)
    np.testing.assert_array_equal(one, two)  # the words after it begin after the second word


def test_groups_that_were_not_learned_have_no_scores_and_no_evidence(learned):
    view, instances = find(["It may be late."], PAIR)
    features = transform_checked(learned, view, instances, PAIR)
    assert not features.batch.values.any()
    view, instances = find(TEXTS, GROUP)
    features = transform_checked(learned, view, instances, GROUP)
    assert features.batch.values.any()
    assert not features.found.any() and not features.asked.any()
    assert features.batch.columns.group_names == ("context",)


@pytest.mark.parametrize("candidates", [("desert", "dessert"), ("desert",)])
def test_groups_without_a_choice_are_not_learned(candidates):
    """One of the candidates does not occur, or there is only one."""
    group = Group("sand", candidates)
    view, instances = find(TEXTS[: 2 * len(candidates) % 4 or 2], group)
    assert ContextWords().fit(view, instances, [group]).tables == {}


def test_learning_is_repeatable_and_the_number_of_features_is_bounded():
    view, instances = find(TEXTS * 20, GROUP)
    first, second = (ContextWords(examples=30).fit(view, instances, [GROUP]).state() for _ in range(2))
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name])
    state = ContextWords(kept=5).fit(*find(TEXTS * 10, GROUP), [GROUP]).state()
    assert state["sizes"].tolist() == [5]
    assert state["keys"].dtype == np.uint32 and state["weights"].dtype == np.int8


def test_the_order_of_groups_does_not_matter(learned):
    three = Group("sound", ("their", "there", "they're"))
    texts = [*TEXTS, "They lost their way.", "There it is.", "They're late."] * 10
    view, instances = find(texts, three, GROUP)
    both = ContextWords(C=1.0).fit(view, instances, [three, GROUP])
    again = ContextWords(C=1.0).from_state(both.state())
    for number, group in enumerate((three, GROUP)):
        part = instances.take(instances.groups == number)
        values = transform_checked(both, view, part, group).batch.values
        assert values.shape[1] == len(group.candidates) and values.any()
        np.testing.assert_array_equal(values, transform_checked(again, view, part, group).batch.values)


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: {**state, "keys": state["keys"][1:]},
        lambda state: {**state, "sizes": state["sizes"] + 1},
        lambda state: {**state, "groups": state["groups"][:0]},
        lambda state: {**state, "weights": state["weights"].astype(np.float64)},
        lambda state: {**state, "weights": state["weights"].ravel()},
        *(lambda state, n=name: {**state, n: state[n][None]} for name in STATE),
        *(lambda state, n=name: {**state, n: state[n][..., None]} for name in STATE),
    ],
)
def test_a_damaged_state_is_refused(learned, damage):
    with pytest.raises(ValueError, match=r"context words|dimension"):
        ContextWords().from_state(damage(dict(learned.state())))


def test_too_few_words_are_an_error_unless_another_group_is_learned():
    few, message = ContextWords(window=1, places=1), r"cannot learn.*\(4\): no word occurs near at least 4"
    with pytest.raises(UserError, match=f"D423.*ContextWords {message}"):
        few.fit(*find(TEXTS, GROUP), [GROUP])
    learned = few.fit(*find([*TEXTS * 10, "Maybe.", "May be."], GROUP, PAIR), [GROUP, PAIR])
    assert len(learned.tables) == 1
    assert scores(learned, "Maybe we ride.", PAIR).tolist() == [[0.0, 0.0]]
