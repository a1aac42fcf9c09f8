"""TF-IDF around a place: equal to counting by hand; reach over sentences, layers, distances, portions."""

from __future__ import annotations

import gc
import math
import weakref
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from disambig.data import Group, Instances
from disambig.errors import UserError
from disambig.features import TermSelector, Tfidf, transform_checked
from disambig.features import rows as one_row
from disambig.tasks import OwnCandidates
from disambig.testing import check_extractor
from disambig.text import SpacyTokens, hash_word

GROUP = Group("bank.n", ("river", "money"))
DOCUMENTS = ["The bank rose. We saw it!", "A bank by the river; a bank of sand.", "Money."]
WORD = st.sampled_from(["the", "bank", "Bank", "of", "rivers", ",", ".", "a1"])


def view_of(texts):
    """Return a view of texts; the "stem" of a word is its first two letters, of short words none."""
    view = SpacyTokens()(texts)
    words = [view.texts[d][s:e].lower() for d, s, e in spans_of(view)]
    stems = [hash_word(word[:2]) if len(word) > 2 else 0 for word in words]
    return replace(view, layers={"stem": np.array(stems, np.uint64)})


def spans_of(view):
    documents = view.document_indices(np.arange(len(view)))
    return zip(documents.tolist(), view.starts.tolist(), view.ends.tolist(), strict=True)


def words_of(view):
    """Return the token numbers of each document's words, without boundary words."""
    found = [[] for _ in view.texts]
    for token, (document, start, end) in enumerate(spans_of(view)):
        if end > start:
            found[document].append(token)
    return found


def places(view, *spans):
    """Return instances at (document, number of the first word, number of words)."""
    tokens = words_of(view)
    positions = [tokens[d][first] for d, first, _ in spans]
    lengths = np.array([n for _, _, n in spans], np.int32)
    none = np.zeros(len(spans), np.int32)
    return Instances(np.array(positions, np.int64), lengths, none, none)


def counted(view, d, first, n, *, around, layer, nearness=0.0):
    """Return the terms around one place, and what each counts."""
    tokens = words_of(view)[d]
    found = Counter()
    for at, token in enumerate(tokens):
        distance = max(first - at, at - (first + n - 1))
        if first <= at < first + n or (around != "document" and distance > around):
            continue
        word = view.texts[d][view.starts[token] : view.ends[token]].lower()
        term = word[: 2 if layer else None] if not layer or len(word) > 2 else ""
        if term and (layer or word[0].isalnum()):
            found[term] += distance**-nearness
    return found


TEXTS = st.lists(st.lists(WORD, min_size=1, max_size=9).map(" ".join), min_size=1, max_size=4)
DRAWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(1, 2)), min_size=1, max_size=6)


def spans_from(view, draws):
    """Return draws as (document, first word, number of words) inside of one sentence."""
    tokens, spans = words_of(view), []
    for d, first, n in draws:
        d %= len(tokens)
        first %= len(tokens[d])
        run = first + 1 < len(tokens[d]) and tokens[d][first + 1] == tokens[d][first] + 1
        spans.append((d, first, n if run else 1))
    return spans


@pytest.mark.parametrize("layer", [None, "stem"])
@pytest.mark.parametrize("around", [1, 3, "document"])
@given(TEXTS, DRAWS, st.sampled_from([0.0, 1.0]), st.integers(1, 9))
def test_inner_products_are_those_of_counts_by_hand(layer, around, texts, draws, nearness, at_once):
    view = view_of(texts)
    spans = spans_from(view, draws)
    where = places(view, *spans)
    extractor = Tfidf(around=around, layer=layer, nearness=nearness, weighting="count")
    counts = [counted(view, *span, around=around, layer=layer, nearness=nearness) for span in spans]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_row, "AT_ONCE", at_once)
        if not any(counts):
            with pytest.raises(UserError, match="D475"):
                extractor.fit(view, where, [GROUP])
            return
        fitted = extractor.fit(view, where, [GROUP])
        features = transform_checked(fitted, view, where, GROUP)
    expected = [[sum(one[term] * other[term] for term in one) for other in counts] for one in counts]
    rows = features.batch.rows
    np.testing.assert_allclose((rows @ rows.T).toarray(), expected)
    holding = Counter(term for each in counts for term in each)
    assert sorted(fitted.known.documents.tolist()) == sorted(holding.values())
    assert (features.found == features.asked).all()


@pytest.mark.parametrize("around", [None, 2, "document"])
def test_long_documents_are_looked_at_in_portions(monkeypatch, around):
    view = view_of(["The bank of rivers, a1 bank. " * 40, "", "Of banks."])
    where = places(view, *[(0, number, 1) for number in range(0, 200, 5)], (2, 1, 1))
    whole = Tfidf(around=around).fit(view, where, [GROUP])
    expected = transform_checked(whole, view, where, GROUP)
    monkeypatch.setattr(one_row, "TOKENS_AT_ONCE", 700)
    looked_at = []
    counted = TermSelector.counted
    monkeypatch.setattr(
        TermSelector, "counted", lambda *given: looked_at.append(len(given[2])) or counted(*given)
    )
    parts = Tfidf(around=around).fit(view, where, [GROUP])
    np.testing.assert_array_equal(parts.known.documents, whole.known.documents)
    features = transform_checked(parts, view, where, GROUP)
    np.testing.assert_array_equal(features.batch.rows.toarray(), expected.batch.rows.toarray())
    np.testing.assert_array_equal(features.asked, expected.asked)
    assert max(looked_at) <= 700 + len(view)
    assert (
        len(
            transform_checked(
                Tfidf(around=around).fit(view, where, [GROUP]), view, where.take(slice(0)), GROUP
            ).found
        )
        == 0
    )


def test_weights_are_those_of_tf_idf_over_instances():
    view = view_of(DOCUMENTS)
    where = places(view, (0, 1, 1), (1, 1, 1), (1, 6, 1))
    fitted = Tfidf(around="document").fit(view, where, [GROUP])
    assert fitted.known.n_documents == 3
    row = transform_checked(fitted, view, where, GROUP).batch.rows.toarray()[1]
    names = list(fitted.known.names)
    raw = counted(view, 1, 1, 1, around="document", layer=None)
    df = Counter({"a": 2, "bank": 2, "by": 2, "the": 3, "river": 2, "of": 2, "sand": 2})
    weights = {term: raw[term] * (math.log(4 / (1 + df[term])) + 1) for term in raw}
    norm = math.sqrt(sum(value**2 for value in weights.values()))
    assert raw["a"] == 2
    for term, weight in weights.items():
        assert row[names.index(term)] == pytest.approx(weight / norm)


def test_a_sentence_ending_in_between_does_not_shorten_the_reach():
    view = view_of(["One two. Three four."])
    assert len(view.sentences) == 3
    fitted = Tfidf(around=2, weighting="binary").fit(view, places(view, (0, 3, 1)), [GROUP])
    assert set(fitted.known.names) == {"two", "four"}  # the stop is a token too
    fitted = Tfidf(around=3, weighting="binary").fit(view, places(view, (0, 1, 1)), [GROUP])
    assert set(fitted.known.names) == {"one", "three", "four"}


def test_other_documents_are_not_looked_at():
    view = view_of(["Alpha beta.", "gamma", "Delta."])
    fitted = Tfidf(around=9).fit(view, places(view, (0, 1, 1), (2, 0, 1)), [GROUP])
    assert list(fitted.known.names) == ["alpha"]
    features = transform_checked(fitted, view, places(view, (1, 0, 1)), GROUP)
    assert features.batch.rows.nnz == 0
    assert features.asked.tolist() == [0, 0]


def test_counts_and_ones_are_not_scaled():
    view = view_of(["a b b c b"])
    where = places(view, (0, 0, 1))
    for settings, values in (
        ({"weighting": "count"}, [1, 3]),
        ({"weighting": "binary"}, [1, 1]),
        ({"weighting": "count", "sublinear_tf": True}, [1, 1 + math.log(3)]),
    ):
        fitted = Tfidf(around="document", **settings).fit(view, where, [GROUP])
        data = transform_checked(fitted, view, where, GROUP).batch.rows.data
        assert sorted(data.tolist()) == pytest.approx(values)


def test_every_token_can_count_by_its_stem_or_else_as_it_stands():
    view = view_of(["Sand is sandy, bank!", "is bank"])
    where = places(view, (0, 4, 1), (1, 1, 1))
    settings = {"around": "document", "weighting": "count", "every_token": True}
    fitted = Tfidf(layer="stem", **settings).fit(view, where, [GROUP])
    row = transform_checked(fitted, view, where, GROUP).batch.rows.toarray()[0]
    names = dict(zip(fitted.known.names, row.tolist(), strict=True))
    assert names == {"sand": 2, "is": 1, ",": 1, "!": 1}
    words = Tfidf(**settings).fit(view, where, [GROUP])
    assert set(words.known.names) == {"sand", "is", "sandy", ",", "!"}
    lemmas = Tfidf(layer="lemma", **settings).fit(view, where, [GROUP])
    np.testing.assert_array_equal(lemmas.known.hashes, words.known.hashes)


def test_a_doc_without_lemmas_gets_the_same_row_beside_one_that_has_them():
    vocab = Vocab()
    bare = Doc(vocab, words=["Dogs", "ran", "to", "banks", "."])
    full = Doc(vocab, words=["Dogs", "ran"], lemmas=["dog", "run"])
    tokens = SpacyTokens(layers=["lemma"])
    with pytest.warns(UserWarning, match="no lemmas"):
        alone, beside = tokens.of_docs([bare]), tokens.of_docs([bare, full])
    for every_token in (False, True):
        tfidf = Tfidf(around="document", layer="lemma", every_token=every_token, weighting="count")
        fitted = tfidf.fit(beside, places(beside, (0, 3, 1), (1, 1, 1)), [GROUP])
        rows = [
            transform_checked(fitted, view, places(view, (0, 3, 1)), GROUP).batch.rows
            for view in (alone, beside)
        ]
        assert rows[0].toarray().tolist() == rows[1].toarray().tolist()
        assert rows[0].sum() == (4 if every_token else 0)


def test_a_stem_is_named_by_a_word_that_has_it_and_names_can_be_left_out():
    view = view_of(["Sand sandy bank", "sands bank"])
    where = places(view, (0, 2, 1), (1, 1, 1))
    fitted = Tfidf(around="document", layer="stem", name="broad").fit(view, where, [GROUP])
    columns = transform_checked(fitted, view, where, GROUP).batch.columns
    assert list(columns.names) == ["river: sand", "money: sand"]
    assert columns.group_names == ("broad",)
    bare = Tfidf(around="document", layer="stem", named=False).fit(view, where, [GROUP])
    assert set(bare.state()) == {"documents", "n_documents", "hashes"}
    again = Tfidf(around="document", layer="stem", named=False).from_state(bare.state())
    features = transform_checked(again, view, where, GROUP)
    assert len(features.batch.columns.names) == 0
    assert again.known.word(0) == ""
    np.testing.assert_array_equal(
        features.batch.rows.toarray(), transform_checked(fitted, view, where, GROUP).batch.rows.toarray()
    )


def test_without_the_layer_there_are_no_terms():
    view = view_of(DOCUMENTS)
    where = places(view, (0, 1, 1), (1, 1, 1))
    fitted = Tfidf(around="document", layer="lemma").fit(view, where, [GROUP])
    features = transform_checked(fitted, view, where, GROUP)
    assert features.batch.rows.shape == (2, 0)
    assert features.asked.tolist() == [0] * 4
    assert len(Tfidf(layer="lemma").from_state(fitted.state()).known) == 0
    known = Tfidf(around=2, layer="stem").fit(view, where, [GROUP])
    bare = replace(view, layers={})
    assert transform_checked(known, bare, where, GROUP).batch.rows.nnz == 0


@pytest.mark.parametrize(
    "settings", [{"around": 2}, {"around": "document", "bits": 5}, {"weighting": "count"}]
)
def test_it_keeps_the_contract(settings):
    task = OwnCandidates(candidates=["a", "the"])
    texts = ["The cat saw a dog.", "the", "A bird of the sea, or a fish?"]
    for check in check_extractor(Tfidf(**settings), task, texts):
        check()


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"around": 0}, "D511"),
        ({"around": -2}, "D511"),
        ({"around": "sentence"}, "D511"),
        ({"around": 10**30}, "D511"),
        ({"layer": "stems"}, "D510"),
        ({"weighting": "log"}, "D510"),
        ({"around": 2, "nearness": -1.0}, "D514"),
        ({"around": 2, "nearness": 11.0}, "D514"),
        ({"nearness": 1.0}, "D515"),
        ({"around": 2, "nearness": 1.0, "sublinear_tf": True}, "D515"),
        ({"around": 2, "nearness": 1.0, "weighting": "binary"}, "D515"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, code):
    with pytest.raises(UserError, match=code):
        Tfidf(**settings)


def test_what_is_far_away_counts_next_to_nothing_and_stays_a_number():
    view = view_of(["bank " + ", " * 500 + "river " + "boat " * 50])
    extractor = Tfidf(around="document", nearness=10.0)
    instances = places(view, (0, 0, 1))
    row = transform_checked(extractor.fit(view, instances, [GROUP]), view, instances, GROUP).batch.rows
    assert (row.data > 0).all() and np.linalg.norm(row.data) == pytest.approx(1.0)
    extractor = replace(Tfidf(around="document"), nearness=1.0).fit(view, instances, [GROUP])
    object.__setattr__(extractor, "nearness", 1100.0)  # as large as only zeros are left
    row = transform_checked(extractor, view, instances, GROUP).batch.rows
    assert (row.data == 0).all()


def test_texts_and_names_live_no_longer_than_their_view_and_extractor():
    view = view_of(DOCUMENTS)
    where = places(view, (0, 1, 1), (1, 1, 1))
    extractor = Tfidf(around=2).fit(view, where, [GROUP])
    features = transform_checked(extractor, view, where, GROUP)
    assert features.batch.columns.own is transform_checked(extractor, view, where, GROUP).batch.columns.own
    gone = [weakref.ref(view), weakref.ref(features.batch.columns.own)]
    del view, where, extractor, features
    gc.collect()
    assert [each() for each in gone] == [None, None]
