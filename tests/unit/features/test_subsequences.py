"""Subsequences: inner products of rows equal the string kernel, computed by dynamic programming."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from examples import fewer_examples
from feature_places import fit_and_transform, places, texts_and_spans
from hypothesis import HealthCheck, given, settings, strategies as st

from disambig.data import Group
from disambig.features import Subsequences, rows as one_row, transform_checked
from disambig.text import SpacyTokens, hash_words

GROUP = Group("bank.n", ("river", "money"))


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


def view_of(documents):
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
    own = ["*"] if target else symbols[begin:end]
    return symbols[max(0, begin - window) : begin] + own + symbols[end : end + window]


@pytest.mark.parametrize("target", [True, False])
@pytest.mark.parametrize("layer", ["word", "tag"])
@given(
    texts_and_spans(st.sampled_from("abx"), longest=7, most=3, widest=2),
    *(st.integers(1, 4), st.integers(1, 4), st.booleans(), st.sampled_from([0.3, 0.5, 1.0])),
)
@settings(fewer_examples, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_inner_product_is_the_string_kernel(engine, target, layer, drawn, window, length, several, decay):
    documents, spans = drawn
    view = view_of(documents)
    where, shortest = places(view, *spans), 1 if several else None
    options = {"layer": layer, "window": window, "target": target}
    extractor = Subsequences(length=length, shortest=shortest, decay=decay, **options)
    features = fit_and_transform(extractor, view, where, GROUP)
    strings = [context(documents[d], first, n, **options) for d, first, n in spans]
    sizes = range(1 if several else length, length + 1)
    expected = [[sum(string_kernel(s, t, n, decay) for n in sizes) for t in strings] for s in strings]
    rows = features.batch.rows
    np.testing.assert_allclose((rows @ rows.T).toarray(), expected, rtol=1e-9)
    assert (features.found == features.asked).all()


def test_the_example_of_the_paper():
    """ "cat" and "car" share c-a alone: decay ** 4 of the kernel, before it is normalised."""
    assert string_kernel("cat", "car", 2, 0.5) == 0.5**4
    assert string_kernel("cat", "cat", 2, 0.5) == 2 * 0.5**4 + 0.5**6


def test_backends_and_blocks_give_the_same_rows(monkeypatch):
    rng = np.random.default_rng(0)
    view = view_of([list(rng.choice(list("abcdefx"), 30)) for _ in range(20)])
    where = places(view, *[(d, 3 * i, 1 + i % 2) for d in range(20) for i in range(9)])
    extractor = Subsequences(length=3, shortest=2).fit(view, where.take(slice(60)), [GROUP])
    monkeypatch.setenv("DISAMBIG_ENGINE", "numpy")
    expected = transform_checked(extractor, view, where, GROUP)
    monkeypatch.setattr(one_row, "AT_ONCE", 50)
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        features = transform_checked(extractor, view, where, GROUP)
        for name in ("indptr", "indices"):
            one, other = (getattr(item.batch.rows, name) for item in (features, expected))
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(features.found, expected.found)
        np.testing.assert_array_equal(features.asked, expected.asked)
        np.testing.assert_allclose(features.batch.rows.data, expected.batch.rows.data)
    assert 0 < expected.found.sum() < expected.asked.sum()


def test_without_gaps_it_is_the_spectrum_kernel():
    view = view_of([list("abab")])
    where, settings = places(view, (0, 3, 1)), {"decay": 1.0, "window": 4, "target": False}
    values = fit_and_transform(Subsequences(gaps=False, **settings), view, where, GROUP).batch.rows.data
    assert sorted(values.tolist()) == [1, 1, 1, 2]  # <S> a, b a, b </S>, and twice a b
    assert fit_and_transform(Subsequences(**settings), view, where, GROUP).batch.rows.data.sum() == 15


def test_the_target_is_one_symbol():
    view = view_of([list("acb"), list("ab"), ["a", "c", "c", "b"]])
    where = places(view, (0, 1, 1), (1, 1, 0), (2, 1, 2))
    rows = fit_and_transform(Subsequences(window=2), view, where, GROUP).batch.rows.toarray()
    np.testing.assert_array_equal(rows[0], rows[2])
    np.testing.assert_array_equal(rows[0], rows[1])
    rows = fit_and_transform(Subsequences(window=2, target=False), view, where, GROUP).batch.rows.toarray()
    assert (rows[0] != rows[2]).any()


def test_without_the_layer_there_are_no_features():
    tagged = view_of([list("ab")])
    view, where = replace(tagged, layers={}), places(tagged, (0, 1, 1))
    features = fit_and_transform(Subsequences(layer="tag"), view, where, GROUP)
    assert features.batch.rows.shape == (1, 0)
    assert features.asked.tolist() == [0, 0]
    known = Subsequences(layer="tag").fit(tagged, where, [GROUP])
    assert transform_checked(known, view, where, GROUP).batch.rows.nnz == 0
    assert transform_checked(known, tagged, where, GROUP).batch.rows.nnz == 1


def test_rare_subsequences_are_left_out():
    view = view_of([list("ab"), list("ab"), list("xb")])
    where = places(view, *[(d, 1, 1) for d in range(3)])
    extractor = Subsequences(window=1, least=3).fit(view, where, [GROUP])
    features = transform_checked(extractor, view, where, GROUP)
    assert len(extractor.seen) == 1  # the place and the sentence's end
    assert features.batch.rows.toarray().tolist() == [[0.25]] * 3
    assert features.found.tolist() == [1] * 6 and features.asked.tolist() == [3] * 6


def test_invalid_states_are_refused():
    view = view_of([list("abaab")])
    where = places(view, (0, 1, 1), (0, 3, 1))
    state = Subsequences().fit(view, where, [GROUP]).state()
    assert set(state) == {"keys"}
    with pytest.raises(ValueError, match="context features"):
        Subsequences().from_state({"keys": state["keys"][::-1]})
    assert Subsequences().state() == {}
    with pytest.raises(ValueError, match="not fitted"):
        transform_checked(Subsequences().from_state({}), view, where, GROUP)
