"""Subsequences: the rows' inner products are the string kernel, found by dynamic programming."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from disambig.data import Group, Instances
from disambig.errors import UserError
from disambig.features import Subsequences, rows as one_row, transform_checked
from disambig.text import SpacyTokens, hash_words

GROUP = Group("bank.n", ("river", "money"))


ENGINES = pytest.mark.parametrize("engine", ["numpy", "numba"])


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
    return sum(
        decay**2 * before[i][j]
        for i in range(len(s))
        for j in range(len(t))
        if s[i] is not None and s[i] == t[j]
    )


def view_of(documents):
    """Return a view of documents of one-letter words, one sentence each; "x" has no tag, others their own."""
    view = SpacyTokens().of_sentences(documents)
    layer = np.zeros(len(view), np.uint64)
    words = [word for words in documents for word in words]
    layer[view.ends > view.starts] = np.where(np.array(words, object) == "x", 0, hash_words(words))
    return replace(view, layers={"tag": layer})


def places(view, *spans):
    """Return instances at (document, first word, number of words)."""
    positions = [int(view.documents[d]) + 1 + first for d, first, _ in spans]
    lengths = np.array([n for _, _, n in spans], np.int32)
    none = np.zeros(len(spans), np.int32)
    return Instances(np.array(positions, np.int64), lengths, none, none)


def context(words, first, n, *, window, layer, target):
    """Return the symbols around a place."""
    symbols = ["<S>", *words, "</S>"] if layer == "word" else [None, *words, None]
    if layer == "tag":
        symbols = [None if symbol == "x" else symbol for symbol in symbols]
    begin, end = first + 1, first + 1 + n
    own = ["*"] if target else symbols[begin:end]
    return symbols[max(0, begin - window) : begin] + own + symbols[end : end + window]


@st.composite
def texts_and_spans(draw):
    documents = draw(
        st.lists(st.lists(st.sampled_from("abx"), min_size=1, max_size=7), min_size=1, max_size=3)
    )
    spans = []
    for _ in range(draw(st.integers(1, 3))):
        d = draw(st.integers(0, len(documents) - 1))
        first = draw(st.integers(0, len(documents[d]) - 1))
        spans.append((d, first, draw(st.integers(0, min(2, len(documents[d]) - first)))))
    return documents, spans


@ENGINES
@pytest.mark.parametrize("target", [True, False])
@pytest.mark.parametrize("layer", ["word", "tag"])
@given(
    texts_and_spans(), st.integers(1, 4), st.integers(1, 4), st.booleans(), st.sampled_from([0.3, 0.5, 1.0])
)
def test_the_inner_product_is_the_string_kernel(engine, target, layer, drawn, window, length, several, decay):
    documents, spans = drawn
    view = view_of(documents)
    where = places(view, *spans)
    extractor = Subsequences(
        layer=layer, window=window, length=length, shortest=1 if several else None, decay=decay, target=target
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISAMBIG_ENGINE", engine)
        features = transform_checked(extractor.fit(view, where, [GROUP]), view, where, GROUP)
    strings = [
        context(documents[d], first, n, window=window, layer=layer, target=target) for d, first, n in spans
    ]
    sizes = range(1 if several else length, length + 1)
    expected = [[sum(string_kernel(s, t, n, decay) for n in sizes) for t in strings] for s in strings]
    rows = features.batch.rows
    np.testing.assert_allclose((rows @ rows.T).toarray(), expected, rtol=1e-9)
    assert (features.found == features.asked).all()


def test_the_example_of_the_paper():
    """ "cat" and "car" share c-a alone: decay ** 4 of the kernel, before it is normalised."""
    assert string_kernel("cat", "car", 2, 0.5) == 0.5**4
    assert string_kernel("cat", "cat", 2, 0.5) == 2 * 0.5**4 + 0.5**6


@ENGINES
def test_both_engines_give_the_same_rows(engine, monkeypatch):
    rng = np.random.default_rng(0)
    documents = [list(rng.choice(list("abcdefx"), 30)) for _ in range(20)]
    view = view_of(documents)
    where = places(view, *[(d, 3 * i, 1 + i % 2) for d in range(20) for i in range(9)])
    extractor = Subsequences(length=3, shortest=2).fit(view, where.take(slice(60)), [GROUP])
    monkeypatch.setenv("DISAMBIG_ENGINE", "numpy")
    expected = transform_checked(extractor, view, where, GROUP)
    monkeypatch.setenv("DISAMBIG_ENGINE", engine)
    monkeypatch.setattr(one_row, "AT_ONCE", 50)
    features = transform_checked(extractor, view, where, GROUP)
    for one, other in (
        (features.batch.rows.indptr, expected.batch.rows.indptr),
        (features.batch.rows.indices, expected.batch.rows.indices),
        (features.found, expected.found),
        (features.asked, expected.asked),
    ):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(features.batch.rows.data, expected.batch.rows.data)
    assert 0 < features.found.sum() < features.asked.sum()


def test_without_gaps_it_is_the_spectrum_kernel():
    view = view_of([list("abab")])
    where = places(view, (0, 3, 1))
    spectrum = Subsequences(gaps=False, decay=1.0, window=4, target=False).fit(view, where, [GROUP])
    values = transform_checked(spectrum, view, where, GROUP).batch.rows.data
    assert sorted(values.tolist()) == [1, 1, 1, 2]  # <S> a, b a, b </S>, and a b twice
    gapped = Subsequences(decay=1.0, window=4, target=False).fit(view, where, [GROUP])
    assert transform_checked(gapped, view, where, GROUP).batch.rows.data.sum() == 15


def test_the_target_is_one_symbol():
    view = view_of([list("acb"), list("ab"), ["a", "c", "c", "b"]])
    where = places(view, (0, 1, 1), (1, 1, 0), (2, 1, 2))
    rows = transform_checked(Subsequences(window=2).fit(view, where, [GROUP]), view, where, GROUP).batch.rows
    np.testing.assert_array_equal(rows[[0]].toarray(), rows[[2]].toarray())
    np.testing.assert_array_equal(rows[[0]].toarray(), rows[[1]].toarray())
    rows = transform_checked(
        Subsequences(window=2, target=False).fit(view, where, [GROUP]), view, where, GROUP
    ).batch.rows
    assert (rows[[0]].toarray() != rows[[2]].toarray()).any()


def test_without_the_layer_there_are_no_features():
    view = replace(view_of([list("ab")]), layers={})
    where = places(view, (0, 1, 1))
    features = transform_checked(Subsequences(layer="tag").fit(view, where, [GROUP]), view, where, GROUP)
    assert features.batch.rows.shape == (1, 0)
    assert features.asked.tolist() == [0, 0]
    tagged = view_of([list("ab")])
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


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"layer": "tags"}, "D510"),
        ({"window": 0}, "D513"),
        ({"window": 16}, "D513"),
        ({"length": 0}, "D513"),
        ({"length": 6}, "D513"),
        ({"shortest": 3}, "D513"),
        ({"shortest": 0}, "D513"),
        ({"decay": 0.0}, "D512"),
        ({"decay": 1.1}, "D512"),
        ({"least": 0}, "D452"),
    ],
)
def test_invalid_settings_are_refused(settings, code):
    with pytest.raises(UserError, match=code):
        Subsequences(**settings)
