"""Features of the context: ContextWindow, Subsequences ContextWords against references in plain Python."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from examples import fewer_examples
from feature_places import fit_and_transform, instances_at, places, texts_and_spans
from hypothesis import HealthCheck, example, given, settings, strategies as st

from disambig.data import CandidateFinder, CrossedColumns, Group, PackedStrings
from disambig.errors import UserError
from disambig.features import ContextWindow, ContextWords, Subsequences, rows as one_row, transform_checked
from disambig.text import SpacyTokens, Words, hash_word, hash_words

GROUP = Group("bank.n", ("river", "money"))
SENTENCES = [["The", "Bank", "rose", "."], ["We", "saw", "the", "river", "bank"], ["bank"]]
WORDS = st.sampled_from("The the Bank bank of a river , .".split())
at = partial(places, observed=-1)


def make_view(documents, tags=True):
    """Return a view of documents (each a list of words, one sentence); tags are their first letters."""
    view = SpacyTokens().of_sentences(documents)
    if not tags:
        return view
    layer = np.zeros(len(view), np.uint64)
    layer[view.ends > view.starts] = hash_words([word[0] for words in documents for word in words])
    return replace(view, layers={"tag": layer})


def expected(document, first, n, *, window, words=True, tags=True, target=True, boundaries=True):
    """Return the features of one place as a set of names."""
    around = ["<S>", *document, "</S>"]
    begin, end = first + 1, first + 1 + n
    result = set()
    for d in range(1, window + 1):
        for side, at in ((-d, begin - d), (d, end - 1 + d)):
            if not 0 <= at < len(around):
                continue
            inside = 0 < at < len(around) - 1
            if words and (inside or boundaries):
                result.add(f"word{side:+d}={around[at].lower() if inside else around[at]}")
            if tags and inside:
                result.add(f"tag{side:+d}={around[at][0]}")
    if target and n:
        result.add("target=" + " ".join(document[first : first + n]))
        if tags:
            result.add("target tag=" + " ".join(word[0] for word in document[first : first + n]))
    return result


CHOICES = st.fixed_dictionaries({name: st.booleans() for name in ("words", "tags", "target", "boundaries")})
TWO_TAGS = {"words": False, "tags": True, "target": True, "boundaries": False}


@given(texts_and_spans(WORDS), st.integers(0, 4), CHOICES, st.integers(1, 6))
@example(([["The", "bank", "The"]], [(0, 0, 2), (0, 1, 2)]), 0, TWO_TAGS, 6)  # in reverse order
def test_inner_products_count_shared_features(drawn, window, choice, at_once):
    documents, spans = drawn
    view = make_view(documents)
    extractor = ContextWindow(window=window, named=True, **choice)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_row, "AT_ONCE", at_once)
        features = fit_and_transform(extractor, view, at(view, *spans), GROUP)
    sets = [expected(documents[d], first, n, window=window, **choice) for d, first, n in spans]
    rows = features.batch.rows
    shared = [[len(one & other) for other in sets] for one in sets]
    assert (rows @ rows.T).toarray().tolist() == shared
    assert rows.shape[1] == len(set().union(*sets)) == len(features.batch.columns.names) // 2
    assert features.n_queries.reshape(-1, 2)[:, 0].tolist() == [len(item) for item in sets]
    assert (features.n_hits == features.n_queries).all()


def test_names_of_features():
    view = make_view([["We", "saw", "the", "River", "bank", "."]])
    where = at(view, (0, 3, 2))
    columns = fit_and_transform(ContextWindow(window=2, named=True), view, where, GROUP).batch.columns
    assert isinstance(columns, CrossedColumns)
    words = "word-2=saw word-1=the word+1=. word+2=</S>".split()
    tags = ["tag-2 of saw", "tag-1 of the", "tag+1=."]  # as in spaCy's glossary
    assert set(columns.own.names) == {*words, *tags, "target=River bank", "tag of River bank"}
    assert columns.names[0] == f"river: {columns.own.names[0]}"
    assert len(fit_and_transform(ContextWindow(), view, where, GROUP).batch.columns.names) == 0


def test_features_of_known_tags_are_named_after_the_tags():
    view = make_view([["Old", "banks", "fail"], ["We", "fail"]], tags=False)
    layer = np.zeros(len(view), np.uint64)
    layer[view.ends > view.starts] = [hash_word(tag) for tag in ("JJ", "NNS", "own-tag", "PRP", "VBP")]
    view = replace(view, layers={"tag": layer})
    where = at(view, (0, 1, 1), (1, 1, 1))
    fitted = ContextWindow(window=1, words=False, named=True).fit(view, where, [GROUP])
    names = ["tag-1=JJ", "tag=NNS", "tag+1 of fail", "tag-1=PRP", "tag=VBP", "target=banks", "target=fail"]
    assert sorted(fitted.seen.names) == sorted(names)
    row = transform_checked(fitted, view, where, GROUP).batch.rows[[0]]
    assert {fitted.seen.names[i] for i in row.indices} == {*names[:3], "target=banks"}
    words = ["tag of banks" if name == "tag=NNS" else name for name in fitted.seen.names]
    state = fitted.state() | PackedStrings.from_words(words).state()
    assert list(fitted.from_state(state).seen.names) == list(fitted.seen.names)


@given(st.lists(st.text(max_size=4)), st.data())
def test_words_are_replaced(words, data):
    numbers = st.integers(0, max(len(words) - 1, 0))
    others = data.draw(st.dictionaries(numbers, st.text(max_size=5))) if words else {}
    encoded = [others.get(i, word).encode("utf8", "replace").decode() for i, word in enumerate(words)]
    assert list(PackedStrings.from_words(words).replaced(others)) == encoded


def test_unseen_features_are_not_found_and_kinds_are_kept_apart():
    view = make_view(SENTENCES)
    extractor = ContextWindow(window=1).fit(view, at(view, (0, 1, 1)), [GROUP])
    features = transform_checked(extractor, view, at(view, (0, 1, 1), (1, 4, 1)), GROUP)
    assert features.n_hits.tolist() == [6, 6, 0, 0]  # "Bank" and "bank" differ in form and tag
    assert features.n_queries.tolist() == [6, 6, 5, 5]  # the end of a sentence has no tag
    assert features.batch.costs.tolist() == [[1, 1], [1, 1]]
    assert features.batch.columns.group_names == ("local",)
    view = make_view([["t", "t", "t"]])  # the word, its tag and the target have the same hash
    assert view.layers["tag"][1] == view.hashes[1] == hash_word("t")
    extractor = ContextWindow(window=1).fit(view, at(view, (0, 1, 1)), [GROUP])
    assert len(extractor.seen) == 6


def test_without_tags_their_features_are_left_out():
    view = make_view(SENTENCES, tags=False)
    where = at(view, (0, 1, 1), (1, 4, 1))
    with_setting = ContextWindow(window=2).fit(view, where, [GROUP])
    without = ContextWindow(window=2, tags=False).fit(make_view(SENTENCES), where, [GROUP])
    np.testing.assert_array_equal(with_setting.seen.keys, without.seen.keys)
    tagged = ContextWindow(window=2).fit(make_view(SENTENCES), where, [GROUP])
    few = transform_checked(tagged, view, where, GROUP)
    assert few.n_queries.reshape(-1, 2)[:, 0].tolist() == [5, 4]  # only words and target
    assert (few.n_hits == few.n_queries).all()


def test_near_words_can_weigh_more():
    view = make_view([["a", "b", "c", "d", "e"]])
    where = at(view, (0, 2, 2))
    near = ContextWindow(window=2, nearness=0.5, named=True).fit(view, where, [GROUP])
    row = transform_checked(near, view, where, GROUP).batch.rows.toarray()[0]
    values = dict(zip(near.seen.names, row.tolist(), strict=True))
    assert values.pop("target=c d") == values.pop("tag of c d") == 1
    distances = {"word-2=a": 2, "word-1=b": 1, "word+1=e": 1, "word+2=</S>": 2}
    distances |= {"tag-2 of a": 2, "tag-1 of b": 1, "tag+1 of e": 1}
    assert {name: round(value**-2) for name, value in values.items()} == distances


def test_boundary_words_and_rare_features_can_be_left_out():
    view = make_view([["</S>", "rose", "."], ["a", "rose"]])  # the first "</S>" counts like any word
    where = at(view, (0, 1, 1), (1, 1, 1))
    settings = {"tags": False, "target": False, "named": True}
    bare = ContextWindow(boundaries=False, **settings).fit(view, where, [GROUP])
    assert sorted(bare.seen.names) == ["word+1=.", "word-1=</s>", "word-1=a"]
    features = transform_checked(bare, view, where, GROUP)
    assert features.n_queries.reshape(-1, 2)[:, 0].tolist() == [2, 1]
    with_them = ContextWindow(**settings).fit(view, where, [GROUP])
    more = {"word-2=<S>", "word+1=</S>", "word+2=</S>"}
    assert set(with_them.seen.names) - set(bare.seen.names) == more
    view = make_view(SENTENCES)
    where = at(view, (0, 1, 1), (1, 4, 1), (2, 0, 1))
    extractor = ContextWindow(window=1, tags=False, least=2)
    rows = fit_and_transform(extractor, view, where, GROUP).batch.rows.toarray()
    assert rows.sum(axis=0).tolist() == [2, 2]
    assert rows.sum(axis=1).tolist() == [0, 2, 2]  # "</S>" after it, and the form "bank"


def test_columns_are_built_once_and_the_state_has_keys_and_names():
    view = make_view(SENTENCES)
    where = at(view, (0, 1, 1), (1, 4, 1))
    extractor = ContextWindow().fit(view, where, [GROUP])
    one, other = (transform_checked(extractor, view, at(view, (d, 0, 1)), GROUP) for d in range(2))
    assert one.batch.columns.own is other.batch.columns.own
    assert {name: array.dtype for name, array in extractor.state().items()} == {"keys": np.uint32}
    named = ContextWindow(named=True).fit(view, where, [GROUP])
    assert list(ContextWindow().from_state(named.state()).seen.names) == list(named.seen.names)


DAMAGE = {
    "keys": [np.flip, np.uint64, lambda a: a[:, None], lambda a: a[1:], lambda a: np.repeat(a[:1], len(a))],
    "letters": [lambda a: a[1:], np.int64],
    "ends": [np.flip, np.float64],
}


@pytest.mark.parametrize(("name", "damage"), [(name, damage) for name in DAMAGE for damage in DAMAGE[name]])
def test_states_that_do_not_fit_are_refused(name, damage):
    view = make_view(SENTENCES)
    state = dict(ContextWindow(named=True).fit(view, at(view, (1, 2, 1)), [GROUP]).state())
    state[name] = damage(state[name])
    with pytest.raises(ValueError, match=r"context features|names of columns"):
        ContextWindow().from_state(state)


@pytest.mark.parametrize("kind", [ContextWindow, Subsequences])
def test_an_unfitted_extractor_has_no_state_and_no_features(kind):
    view = make_view(SENTENCES)
    with pytest.raises(ValueError, match="not fitted"):
        transform_checked(kind().from_state({}), view, at(view, (0, 0, 1)), GROUP)
    assert kind().state() == {}
    state = kind().fit(view, at(view, (0, 1, 1), (1, 3, 1)), [GROUP]).state()
    assert set(state) == {"keys"} and len(state["keys"]) > 1
    with pytest.raises(ValueError, match="context features"):
        kind().from_state({"keys": state["keys"][::-1]})


def string_kernel(s, t, n, decay):
    """Return the gap-weighted kernel of two strings by Lodhi's recursion; None matches nothing."""
    before = [[1.0] * (len(t) + 1) for _ in range(len(s) + 1)]  # K'_0
    for _ in range(1, n):
        now = [[0.0] * (len(t) + 1) for _ in range(len(s) + 1)]
        for i in range(1, len(s) + 1):
            run = 0.0  # K''
            for j in range(1, len(t) + 1):
                same = s[i - 1] is not None and s[i - 1] == t[j - 1]
                run = decay * run + (decay**2 * before[i - 1][j - 1] if same else 0.0)
                now[i][j] = decay * now[i - 1][j] + run
        before = now
    same = ((i, j) for i in range(len(s)) for j in range(len(t)) if s[i] is not None and s[i] == t[j])
    return sum(decay**2 * before[i][j] for i, j in same)


def make_subsequence_view(documents):
    """Return a view of one-sentence documents of one-letter words; each word but "x" has a tag of its own."""
    view = SpacyTokens().of_sentences(documents)
    layer = np.zeros(len(view), np.uint64)
    words = [word for words in documents for word in words]
    layer[view.ends > view.starts] = np.where(np.array(words, object) == "x", 0, hash_words(words))
    return replace(view, layers={"tag": layer})


def context(words, first, n, *, window, layer, target):
    """Return the symbols around a place."""
    symbols = ["<S>", *words, "</S>"] if layer == "word" else [None, *words, None]
    if layer == "tag":
        symbols = [None if symbol == "x" else symbol for symbol in symbols]
    begin, end = first + 1, first + 1 + n
    middle = ["*"] if target else symbols[begin:end]
    return symbols[max(0, begin - window) : begin] + middle + symbols[end : end + window]


@pytest.mark.parametrize("target", [True, False])
@pytest.mark.parametrize("layer", ["word", "tag"])
@given(
    texts_and_spans(st.sampled_from("abx"), longest=7, most=3, widest=2),
    *(
        st.integers(1, 4),
        st.integers(1, 4),
        st.booleans(),
        st.sampled_from([0.3, 0.5, 1.0]),
        st.integers(1, 6),
    ),
)
@settings(fewer_examples, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_inner_product_is_the_string_kernel(
    target, layer, drawn, window, length, several, decay, at_once
):
    documents, spans = drawn
    view = make_subsequence_view(documents)
    where, shortest = places(view, *spans), 1 if several else None
    options = {"layer": layer, "window": window, "target": target}
    extractor = Subsequences(length=length, shortest=shortest, decay=decay, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_row, "AT_ONCE", at_once)
        features = fit_and_transform(extractor, view, where, GROUP)
    strings = [context(documents[d], first, n, **options) for d, first, n in spans]
    sizes = range(1 if several else length, length + 1)
    expected = [[sum(string_kernel(s, t, n, decay) for n in sizes) for t in strings] for s in strings]
    rows = features.batch.rows
    np.testing.assert_allclose((rows @ rows.T).toarray(), expected, rtol=1e-9)
    assert (features.n_hits == features.n_queries).all()


def test_the_example_of_the_paper():
    """ "cat" and "car" share c-a alone: decay ** 4 of the kernel, before it is normalised."""
    assert string_kernel("cat", "car", 2, 0.5) == 0.5**4
    assert string_kernel("cat", "cat", 2, 0.5) == 2 * 0.5**4 + 0.5**6


def test_without_gaps_it_is_the_spectrum_kernel():
    view = make_subsequence_view([list("abab")])
    where, settings = places(view, (0, 3, 1)), {"decay": 1.0, "window": 4, "target": False}
    values = fit_and_transform(Subsequences(gaps=False, **settings), view, where, GROUP).batch.rows.data
    assert sorted(values.tolist()) == [1, 1, 1, 2]  # <S> a, b a, b </S>, and twice a b
    assert fit_and_transform(Subsequences(**settings), view, where, GROUP).batch.rows.data.sum() == 15


def test_without_the_layer_there_are_no_features():
    tagged = make_subsequence_view([list("ab")])
    view, where = replace(tagged, layers={}), places(tagged, (0, 1, 1))
    features = fit_and_transform(Subsequences(layer="tag"), view, where, GROUP)
    assert features.batch.rows.shape == (1, 0)
    assert features.n_queries.tolist() == [0, 0]
    fitted_extractor = Subsequences(layer="tag").fit(tagged, where, [GROUP])
    assert transform_checked(fitted_extractor, view, where, GROUP).batch.rows.nnz == 0
    assert transform_checked(fitted_extractor, tagged, where, GROUP).batch.rows.nnz == 1


def test_rare_subsequences_are_left_out():
    view = make_subsequence_view([list("ab"), list("ab"), list("xb")])
    where = places(view, *[(d, 1, 1) for d in range(3)])
    extractor = Subsequences(window=1, least=3).fit(view, where, [GROUP])
    features = transform_checked(extractor, view, where, GROUP)
    assert len(extractor.seen) == 1  # the place and the sentence's end
    assert features.batch.rows.toarray().tolist() == [[0.25]] * 3
    assert features.n_hits.tolist() == [1] * 6 and features.n_queries.tolist() == [3] * 6


BAG_GROUP = Group("sand", ("desert", "dessert"))
PAIR = Group("chance", ("maybe", "may be"))
BAG_WORDS = ("camel", "cream", "dry", "sweet", "the", "we", ".", "desert", "dessert", "maybe", "may", "be")
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
    view, instances = find(TEXTS * 10, BAG_GROUP)
    return ContextWords(C=1.0).fit(view, instances, [BAG_GROUP])


def scores(extractor, text, group=BAG_GROUP):
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
                    sums[i] += table.get(find_key(extractor, view.hashes[at], kind), 0)
    return sums / 32


def find_key(extractor, word, kind):
    """Return the key of a feature, read from a view that has no other feature."""
    distance = 2 if kind == "bag" else abs(kind)
    left = kind == "bag" or kind < 0
    hashes = np.zeros(2 * extractor.window + 3, np.uint64)
    middle = extractor.window + 1
    hashes[middle + (-distance if left else distance)] = word
    whole = np.array([0, len(hashes)])
    view = replace(Words()([""]), hashes=hashes, documents=whole, sentences=whole)
    places = 0 if kind == "bag" else extractor.places
    alone = replace(extractor, places=places)
    keys = {int(key) for key in alone._keys(view, instances_at([middle]))[0]} - {0}
    if kind != "bag":
        keys -= {find_key(extractor, word, "bag")}
    (key,) = keys
    return key


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    texts=st.lists(st.lists(st.sampled_from(BAG_WORDS), max_size=15).map(" ".join), min_size=1, max_size=3)
)
def test_the_attribute_is_the_sum_of_known_weights_inside_the_document(learned, texts):
    view, instances = find(texts, BAG_GROUP)
    values = transform_checked(learned, view, instances, BAG_GROUP).batch.values
    assert values.shape == (len(instances), 2, 1)
    np.testing.assert_array_equal(values[:, :, 0], written_out(learned, view, instances, BAG_GROUP))


def test_informative_words_around_the_place_are_learned(learned):
    dry = scores(learned, "Any camel likes that dry dessert now.")
    sweet = scores(learned, "Her cream is in that sweet desert now.")
    assert dry[0, 0] > dry[0, 1]
    assert sweet[0, 1] > sweet[0, 0]
    assert np.abs(scores(learned, "Nobody knew which desert.")).max() < np.abs(dry).max()
    one, other = (scores(learned, f"A camel and the {word} behind it.") for word in BAG_GROUP.candidates)
    np.testing.assert_array_equal(one, other)


def test_words_of_the_next_sentence_count_but_not_of_the_next_document(learned):
    near, alone = (scores(learned, f"He saw that desert.{more}") for more in (" Some camel stood there.", ""))
    view, instances = find(["He saw that desert.", "Some camel stood there."], BAG_GROUP)
    apart = transform_checked(learned, view, instances, BAG_GROUP).batch.values[:, :, 0]
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
    view, instances = find(TEXTS, BAG_GROUP)
    features = transform_checked(learned, view, instances, BAG_GROUP)
    assert features.batch.values.any()
    assert not features.n_hits.any() and not features.n_queries.any()
    assert features.batch.columns.group_names == ("context",)


@pytest.mark.parametrize("candidates", [("desert", "dessert"), ("desert",)])
def test_groups_without_a_choice_are_not_learned(candidates):
    """One of the candidates does not occur, or there is only one."""
    group = Group("sand", candidates)
    view, instances = find(TEXTS[: 2 * len(candidates) % 4 or 2], group)
    assert ContextWords().fit(view, instances, [group]).tables == {}


def test_learning_is_repeatable_and_the_number_of_features_is_bounded():
    view, instances = find(TEXTS * 20, BAG_GROUP)
    first, second = (ContextWords(examples=30).fit(view, instances, [BAG_GROUP]).state() for _ in range(2))
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name])
    state = ContextWords(kept=5).fit(*find(TEXTS * 10, BAG_GROUP), [BAG_GROUP]).state()
    assert state["sizes"].tolist() == [5]
    assert state["keys"].dtype == np.uint32 and state["weights"].dtype == np.int8


def test_the_order_of_groups_does_not_matter():
    three = Group("sound", ("their", "there", "they're"))
    texts = [*TEXTS, "They lost their way.", "There it is.", "They're late."] * 10
    view, instances = find(texts, three, BAG_GROUP)
    both = ContextWords(C=1.0).fit(view, instances, [three, BAG_GROUP])
    again = ContextWords(C=1.0).from_state(both.state())
    for number, group in enumerate((three, BAG_GROUP)):
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
        few.fit(*find(TEXTS, BAG_GROUP), [BAG_GROUP])
    learned = few.fit(*find([*TEXTS * 10, "Maybe.", "May be."], BAG_GROUP, PAIR), [BAG_GROUP, PAIR])
    assert len(learned.tables) == 1
    assert scores(learned, "Maybe we ride.", PAIR).tolist() == [[0.0, 0.0]]
