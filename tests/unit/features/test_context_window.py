"""ContextWindow: a reference in plain Python, boundaries, places of several tokens, missing tags."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from feature_places import fit_and_transform, places, texts_and_spans
from hypothesis import example, given, strategies as st

from disambig.data import CrossedColumns, Group, PackedStrings
from disambig.features import ContextWindow, rows as one_row, transform_checked
from disambig.text import SpacyTokens, hash_word, hash_words

GROUP = Group("bank.n", ("river", "money"))
SENTENCES = [["The", "Bank", "rose", "."], ["We", "saw", "the", "river", "bank"], ["bank"]]
WORDS = st.sampled_from("The the Bank bank of a river , .".split())
at = partial(places, observed=-1)


def view_of(documents, tags=True):
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


@given(texts_and_spans(WORDS), st.integers(0, 4), CHOICES)
@example(([["The", "bank", "The"]], [(0, 0, 2), (0, 1, 2)]), 0, TWO_TAGS)  # in reverse order
def test_inner_products_count_shared_features(drawn, window, choice):
    documents, spans = drawn
    view = view_of(documents)
    features = fit_and_transform(ContextWindow(window=window, **choice), view, at(view, *spans), GROUP)
    sets = [expected(documents[d], first, n, window=window, **choice) for d, first, n in spans]
    rows = features.batch.rows
    shared = [[len(one & other) for other in sets] for one in sets]
    assert (rows @ rows.T).toarray().tolist() == shared
    assert rows.shape[1] == len(set().union(*sets))
    assert features.asked.reshape(-1, 2)[:, 0].tolist() == [len(item) for item in sets]
    assert (features.found == features.asked).all()


def test_names_of_features():
    view = view_of([["We", "saw", "the", "River", "bank", "."]])
    where = at(view, (0, 3, 2))
    columns = fit_and_transform(ContextWindow(window=2, named=True), view, where, GROUP).batch.columns
    assert isinstance(columns, CrossedColumns)
    words = "word-2=saw word-1=the word+1=. word+2=</S>".split()
    tags = ["tag-2 of saw", "tag-1 of the", "tag+1=."]  # as in spaCy's glossary
    assert set(columns.own.names) == {*words, *tags, "target=River bank", "tag of River bank"}
    assert columns.names[0] == f"river: {columns.own.names[0]}"
    assert len(fit_and_transform(ContextWindow(), view, where, GROUP).batch.columns.names) == 0


def test_features_of_known_tags_are_named_after_the_tags():
    view = view_of([["Old", "banks", "fail"], ["We", "fail"]], tags=False)
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
    view = view_of(SENTENCES)
    extractor = ContextWindow(window=1).fit(view, at(view, (0, 1, 1)), [GROUP])
    features = transform_checked(extractor, view, at(view, (0, 1, 1), (1, 4, 1)), GROUP)
    assert features.found.tolist() == [6, 6, 0, 0]  # "Bank" and "bank" differ in form and tag
    assert features.asked.tolist() == [6, 6, 5, 5]  # the end of a sentence has no tag
    assert features.batch.costs.tolist() == [[1, 1], [1, 1]]
    assert features.batch.columns.group_names == ("local",)
    view = view_of([["t", "t", "t"]])  # the word, its tag and the target have the same hash
    assert view.layers["tag"][1] == view.hashes[1] == hash_word("t")
    extractor = ContextWindow(window=1).fit(view, at(view, (0, 1, 1)), [GROUP])
    assert len(extractor.seen) == 6


def test_without_tags_their_features_are_left_out():
    view = view_of(SENTENCES, tags=False)
    where = at(view, (0, 1, 1), (1, 4, 1))
    with_setting = ContextWindow(window=2).fit(view, where, [GROUP])
    without = ContextWindow(window=2, tags=False).fit(view_of(SENTENCES), where, [GROUP])
    np.testing.assert_array_equal(with_setting.seen.keys, without.seen.keys)
    tagged = ContextWindow(window=2).fit(view_of(SENTENCES), where, [GROUP])
    few = transform_checked(tagged, view, where, GROUP)
    assert few.asked.reshape(-1, 2)[:, 0].tolist() == [5, 4]  # only words and target
    assert (few.found == few.asked).all()


def test_near_words_can_weigh_more():
    view = view_of([["a", "b", "c", "d", "e"]])
    where = at(view, (0, 2, 2))
    near = ContextWindow(window=2, nearness=0.5, named=True).fit(view, where, [GROUP])
    row = transform_checked(near, view, where, GROUP).batch.rows.toarray()[0]
    values = dict(zip(near.seen.names, row.tolist(), strict=True))
    assert values.pop("target=c d") == values.pop("tag of c d") == 1
    distances = {"word-2=a": 2, "word-1=b": 1, "word+1=e": 1, "word+2=</S>": 2}
    distances |= {"tag-2 of a": 2, "tag-1 of b": 1, "tag+1 of e": 1}
    assert {name: round(value**-2) for name, value in values.items()} == distances


def test_boundary_words_and_rare_features_can_be_left_out():
    view = view_of([["</S>", "rose", "."], ["a", "rose"]])  # the first "</S>" counts like any word
    where = at(view, (0, 1, 1), (1, 1, 1))
    settings = {"tags": False, "target": False, "named": True}
    bare = ContextWindow(boundaries=False, **settings).fit(view, where, [GROUP])
    assert sorted(bare.seen.names) == ["word+1=.", "word-1=</s>", "word-1=a"]
    features = transform_checked(bare, view, where, GROUP)
    assert features.asked.reshape(-1, 2)[:, 0].tolist() == [2, 1]
    with_them = ContextWindow(**settings).fit(view, where, [GROUP])
    more = {"word-2=<S>", "word+1=</S>", "word+2=</S>"}
    assert set(with_them.seen.names) - set(bare.seen.names) == more
    view = view_of(SENTENCES)
    where = at(view, (0, 1, 1), (1, 4, 1), (2, 0, 1))
    extractor = ContextWindow(window=1, tags=False, least=2)
    rows = fit_and_transform(extractor, view, where, GROUP).batch.rows.toarray()
    assert rows.sum(axis=0).tolist() == [2, 2]
    assert rows.sum(axis=1).tolist() == [0, 2, 2]  # "</S>" after it, and the form "bank"


def test_many_instances_are_processed_in_blocks(monkeypatch):
    view = view_of(SENTENCES * 3)
    where = at(view, *[(d, 0, 1) for d in range(9)])
    whole = ContextWindow(named=True).fit(view, where, [GROUP])
    expected = transform_checked(whole, view, where, GROUP)
    monkeypatch.setattr(one_row, "AT_ONCE", 2)
    parts = ContextWindow(named=True).fit(view, where, [GROUP])
    np.testing.assert_array_equal(parts.seen.keys, whole.seen.keys)
    assert list(parts.seen.names) == list(whole.seen.names)
    features = transform_checked(parts, view, where, GROUP)
    np.testing.assert_array_equal(features.batch.rows.toarray(), expected.batch.rows.toarray())
    np.testing.assert_array_equal(features.found, expected.found)


def test_columns_are_built_once_and_the_state_has_keys_and_names():
    view = view_of(SENTENCES)
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
    view = view_of(SENTENCES)
    state = dict(ContextWindow(named=True).fit(view, at(view, (1, 2, 1)), [GROUP]).state())
    state[name] = damage(state[name])
    with pytest.raises(ValueError, match=r"context features|names of columns"):
        ContextWindow().from_state(state)


def test_an_unfitted_extractor_has_no_state_and_no_features():
    view = view_of(SENTENCES)
    with pytest.raises(ValueError, match="not fitted"):
        transform_checked(ContextWindow(), view, at(view, (0, 0, 1)), GROUP)
    assert ContextWindow().state() == {}
    assert ContextWindow().from_state({}).seen is None
