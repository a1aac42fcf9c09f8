"""TF-IDF of documents, words around a place and pairs, compared with scikit-learn and plain counts."""

from __future__ import annotations

import math
import weakref
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from examples import fewer_examples
from feature_places import fit_and_transform, instances_at
from hypothesis import HealthCheck, given, settings, strategies as st
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from spacy.tokens import Doc
from spacy.vocab import Vocab

from disambig.data import Group, word_tokens
from disambig.errors import UserError
from disambig.features import TermSelector, Tfidf, rows as one_row, transform_checked
from disambig.runtime import VARIABLE
from disambig.text import SpacyTokens, Words, hash_word, hash_words

TEXTS = (
    "The ball went over the net; the crowd sang. Then it rained!",
    "Bake the bread for 45 minutes, then let the bread rest.",
    "A ball, a ball! 3.14 nets, 1997 crowds and it's over.",
)
GROUP = Group("topic", ("cooking", "sport", "weather"))
TEXT_WORDS = st.sampled_from("the ball Bread it's 1997 2001 , ! . Then — naïve ß é".split())
TEXT = st.lists(TEXT_WORDS, min_size=1, max_size=12)


def documents(texts):
    """Return a view of texts, and for each document with tokens an instance that covers all of them."""
    view = Words()(list(texts))
    lengths = np.diff(view.documents)
    return view, instances_at(view.documents[:-1][lengths > 0], lengths[lengths > 0])


def fitted(texts, **settings):
    return Tfidf(**settings).fit(*documents(texts), [GROUP])


def feature_rows(extractor, texts):
    return transform_checked(extractor, *documents(texts), GROUP).batch.rows


def normal_words(text):
    """Return the words that TF-IDF counts, by the tokenisation's method `words`."""
    view = Words()([text])
    kept = word_tokens(view)
    return [word for word, keep in zip(Words().words(text), kept, strict=False) if keep]


def inside(texts):
    """Return a view, and an instance per text from its first to its last token inside a sentence."""
    view = Words()(list(texts))
    return view, instances_at(view.documents[:-1] + 1, np.diff(view.documents) - 2)


ENDS = {"<S>", "</S>"}


def words_and_pairs(text):
    """Return words and pairs of tokens, by the tokenisation's method `words`."""
    words = Words().words(text)
    return normal_words(text) + [f"{a} {b}" for a, b in pairwise(words) if not {a, b} <= ENDS]


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("least", [1, 2])
@given(st.lists(TEXT, min_size=2, max_size=6), st.lists(TEXT, min_size=1, max_size=3), st.booleans())
@settings(fewer_examples, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_are_those_of_scikit_learn_on_the_same_terms(engine, least, pairs, learned, texts, sublinear):
    learned, texts = [" ".join(words) for words in learned], [" ".join(words) for words in texts]
    analyzer = words_and_pairs if pairs else normal_words
    theirs = TfidfVectorizer(analyzer=analyzer, min_df=least, sublinear_tf=sublinear)
    extractor = Tfidf(pairs=pairs, min_documents=least, sublinear_tf=sublinear)
    try:
        theirs.fit(learned)
    except ValueError:  # no word remains
        with pytest.raises(UserError, match="D475"):
            extractor.fit(*inside(learned), [GROUP])
        return
    ours = extractor.fit(*inside(learned), [GROUP])
    names = [ours.vocabulary.word(i) for i in range(len(ours.vocabulary))]
    assert sorted(names) == sorted(theirs.vocabulary_)
    order = [theirs.vocabulary_[name] for name in names]
    rows = transform_checked(ours, *inside(texts), GROUP).batch.rows
    np.testing.assert_allclose(rows.toarray(), theirs.transform(texts).toarray()[:, order])


@given(st.lists(TEXT, min_size=2, max_size=6), st.lists(TEXT, min_size=1, max_size=3))
def test_hashed_columns_are_those_of_scikit_learn_on_the_same_hashes(learned, transformed):
    def counts(texts):
        result = np.zeros((len(texts), 16))
        for row, words in zip(result, texts, strict=True):
            hashes = hash_words(normal_words(" ".join(words)))
            np.add.at(row, (hashes & np.uint64(15)).astype(int), 1.0)
        return result

    ours = fitted([" ".join(words) for words in learned], bits=4)
    theirs = TfidfTransformer().fit(counts(learned)).transform(counts(transformed))
    rows = feature_rows(ours, [" ".join(words) for words in transformed])
    np.testing.assert_allclose(rows.toarray(), theirs.toarray())


def test_the_most_frequent_words_are_kept():
    """ "the" stands five times, "ball" three times, no other word more than twice."""
    extractor = fitted(TEXTS, kept=2)
    assert len(extractor.vocabulary) == 2
    assert {extractor.vocabulary.word(i) for i in range(2)} == {"the", "ball"}


def test_only_words_of_the_training_text_count_and_the_evidence_is_their_number():
    extractor = fitted(TEXTS[:2])
    view, instances = documents(["the zebra sang, the zebra!", "zebra"])
    features = transform_checked(extractor, view, instances, GROUP)
    assert features.n_queries.reshape(2, 3).tolist() == [[5] * 3, [1] * 3]
    assert features.n_hits.reshape(2, 3).tolist() == [[3] * 3, [0] * 3]
    assert features.batch.rows[[1]].nnz == 0
    assert features.batch.costs.tolist() == [[0, 1, 1]] * 2


def test_columns_are_named_by_label_and_word_without_making_them_all():
    extractor = fitted(TEXTS)
    view, instances = documents(TEXTS)
    columns = transform_checked(extractor, view, instances, GROUP).batch.columns
    d = len(extractor.vocabulary)
    assert len(columns) == len(columns.names) == 3 * d
    assert columns.names[d + 1] == f"sport: {extractor.vocabulary.word(1)}"
    assert columns.names[-1] == f"weather: {extractor.vocabulary.word(d - 1)}"
    assert columns.labels.tolist() == [0] * d + [1] * d + [2] * d
    assert columns.in_groups(["words"]).all()
    assert columns.groups.strides == (0,)
    assert "cooking: it's" in columns.names
    assert "cooking: 0000" in columns.names  # 1997, as the tokenisation has numbers
    hashed = transform_checked(fitted(TEXTS, bits=5), view, instances, GROUP).batch.columns
    assert len(hashed) == 3 * 32 and not hashed.names


DAMAGE = {
    "documents": [lambda a: a + 3, lambda a: a * 0, lambda a: a[:-1], np.float64, lambda a: a[:, None]],
    "n_documents": [lambda a: a * 0, lambda a: a[:0], lambda a: a.astype(float), lambda a: a + 2**40],
    "hashes": [np.flip, lambda a: a.astype(np.int64), lambda a: a[1:], lambda a: np.repeat(a[:1], len(a))],
    "letters": [lambda a: a[:-1], lambda a: np.append(a, a), np.int64, lambda a: a[:, None]],
    "ends": [np.flip, lambda a: a - a[-1], lambda a: a.astype(float), lambda a: a[:-1]],
}


@pytest.mark.parametrize(("name", "damage"), [(name, damage) for name in DAMAGE for damage in DAMAGE[name]])
def test_states_that_do_not_fit_are_refused(name, damage):
    state = dict(fitted(TEXTS).state())
    state[name] = damage(state[name])
    with pytest.raises(ValueError, match="tf-idf"):
        Tfidf().from_state(state)


def test_a_state_of_the_other_form_is_refused_and_any_letters_are_shown():
    with pytest.raises((KeyError, ValueError)):
        Tfidf().from_state(fitted(TEXTS, bits=4).state())
    for state in (fitted(TEXTS).state(), fitted(TEXTS, bits=5).state()):
        with pytest.raises(ValueError, match="tf-idf"):
            Tfidf(bits=4).from_state(state)
    state = dict(fitted(TEXTS).state())
    state["letters"] = np.full_like(state["letters"], 255)
    assert Tfidf().from_state(state).vocabulary.word(0).startswith("\ufffd")


def test_an_unfitted_extractor_is_an_error():
    with pytest.raises(ValueError, match="not fitted"):
        feature_rows(Tfidf(), TEXTS)
    with pytest.raises(UserError, match="D475"):
        fitted(["!!!", "... ?"])


BANK = Group("bank.n", ("river", "money"))
DOCUMENTS = ["The bank rose. We saw it!", "A bank by the river; a bank of sand.", "Money."]
WORD = st.sampled_from(["the", "bank", "Bank", "of", "rivers", ",", ".", "a1"])


def make_view(texts):
    """Return a view of texts; the "stem" of a word is its first two letters, short words have none."""
    view = SpacyTokens()(texts)
    words = [view.texts[d][s:e].lower() for d, s, e in list_spans(view)]
    stems = [hash_word(word[:2]) if len(word) > 2 else 0 for word in words]
    return replace(view, layers={"stem": np.array(stems, np.uint64)})


def list_spans(view):
    documents = view.document_indices(np.arange(len(view)))
    return zip(documents.tolist(), view.starts.tolist(), view.ends.tolist(), strict=True)


def list_words(view):
    """Return the token numbers of each document's words, without boundary words."""
    result = [[] for _ in view.texts]
    for token, (document, start, end) in enumerate(list_spans(view)):
        if end > start:
            result[document].append(token)
    return result


def places(view, *spans):
    """Return instances at (document, number of the first word, number of words)."""
    tokens = list_words(view)
    return instances_at([tokens[d][first] for d, first, _ in spans], [n for _, _, n in spans])


def counted(view, d, first, n, *, around, layer, nearness=0.0):
    """Return the terms around one place with their counts."""
    tokens = list_words(view)[d]
    result = Counter()
    for at, token in enumerate(tokens):
        distance = max(first - at, at - (first + n - 1))
        if first <= at < first + n or (around != "document" and distance > around):
            continue
        word = view.texts[d][view.starts[token] : view.ends[token]].lower()
        term = word[: 2 if layer else None] if not layer or len(word) > 2 else ""
        if term and (layer or word[0].isalnum()):
            result[term] += distance**-nearness
    return result


ANY_TEXTS = st.lists(st.lists(WORD, min_size=1, max_size=9).map(" ".join), min_size=1, max_size=4)
DRAWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(1, 2)), min_size=1, max_size=6)


def spans_from(view, draws):
    """Convert draws to (document, first word, number of words) within one sentence."""
    tokens, spans = list_words(view), []
    for d, first, n in draws:
        d %= len(tokens)
        first %= len(tokens[d])
        run = first + 1 < len(tokens[d]) and tokens[d][first + 1] == tokens[d][first] + 1
        spans.append((d, first, n if run else 1))
    return spans


@pytest.mark.parametrize("layer", [None, "stem"])
@pytest.mark.parametrize("around", [1, 3, "document"])
@fewer_examples
@given(ANY_TEXTS, DRAWS, st.sampled_from([0.0, 1.0]), st.integers(1, 9))
def test_inner_products_are_those_of_counts_by_hand(layer, around, texts, draws, nearness, at_once):
    view = make_view(texts)
    spans = spans_from(view, draws)
    where = places(view, *spans)
    extractor = Tfidf(around=around, layer=layer, nearness=nearness, weighting="count")
    counts = [counted(view, *span, around=around, layer=layer, nearness=nearness) for span in spans]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_row, "AT_ONCE", at_once)
        if not any(counts):
            with pytest.raises(UserError, match="D475"):
                extractor.fit(view, where, [BANK])
            return
        fitted = extractor.fit(view, where, [BANK])
        features = transform_checked(fitted, view, where, BANK)
    expected = [[sum(one[term] * other[term] for term in one) for other in counts] for one in counts]
    rows = features.batch.rows
    np.testing.assert_allclose((rows @ rows.T).toarray(), expected)
    holding = Counter(term for item in counts for term in item)
    assert sorted(fitted.vocabulary.documents.tolist()) == sorted(holding.values())
    assert (features.n_hits == features.n_queries).all()


@pytest.mark.parametrize("around", [None, 2, "document"])
def test_long_documents_are_processed_in_blocks(monkeypatch, around):
    view = make_view(["The bank of rivers, a1 bank. " * 40, "", "Of banks."])
    where = places(view, *[(0, number, 1) for number in range(0, 200, 5)], (2, 1, 1))
    whole = Tfidf(around=around).fit(view, where, [BANK])
    expected = transform_checked(whole, view, where, BANK)
    monkeypatch.setattr(one_row, "TOKENS_AT_ONCE", 700)
    looked_at, plain = [], TermSelector.counted
    monkeypatch.setattr(TermSelector, "counted", lambda *of: looked_at.append(len(of[2])) or plain(*of))
    parts = Tfidf(around=around).fit(view, where, [BANK])
    np.testing.assert_array_equal(parts.vocabulary.documents, whole.vocabulary.documents)
    features = transform_checked(parts, view, where, BANK)
    np.testing.assert_array_equal(features.batch.rows.toarray(), expected.batch.rows.toarray())
    np.testing.assert_array_equal(features.n_queries, expected.n_queries)
    assert max(looked_at) <= 700 + len(view)
    assert len(transform_checked(parts, view, where.take(slice(0)), BANK).n_hits) == 0


def test_weights_are_those_of_tf_idf_over_instances():
    view = make_view(DOCUMENTS)
    where = places(view, (0, 1, 1), (1, 1, 1), (1, 6, 1))
    fitted = Tfidf(around="document").fit(view, where, [BANK])
    assert fitted.vocabulary.n_documents == 3
    row = transform_checked(fitted, view, where, BANK).batch.rows.toarray()[1]
    names = list(fitted.vocabulary.names)
    raw = counted(view, 1, 1, 1, around="document", layer=None)
    df = Counter({"a": 2, "bank": 2, "by": 2, "the": 3, "river": 2, "of": 2, "sand": 2})
    weights = {term: raw[term] * (math.log(4 / (1 + df[term])) + 1) for term in raw}
    norm = math.sqrt(sum(value**2 for value in weights.values()))
    assert raw["a"] == 2
    for term, weight in weights.items():
        assert row[names.index(term)] == pytest.approx(weight / norm)


def test_the_reach_crosses_sentences_and_ends_with_the_document():
    view = make_view(["One two. Three four."])
    assert len(view.sentences) == 3
    fitted = Tfidf(around=2, weighting="binary").fit(view, places(view, (0, 3, 1)), [BANK])
    assert set(fitted.vocabulary.names) == {"two", "four"}  # the stop is a token too
    fitted = Tfidf(around=3, weighting="binary").fit(view, places(view, (0, 1, 1)), [BANK])
    assert set(fitted.vocabulary.names) == {"one", "three", "four"}
    view = make_view(["Alpha beta.", "gamma", "Delta."])
    fitted = Tfidf(around=9).fit(view, places(view, (0, 1, 1), (2, 0, 1)), [BANK])
    assert list(fitted.vocabulary.names) == ["alpha"]
    features = transform_checked(fitted, view, places(view, (1, 0, 1)), BANK)
    assert features.batch.rows.nnz == 0
    assert features.n_queries.tolist() == [0, 0]


def test_counts_and_ones_are_not_scaled():
    view = make_view(["a b b c b"])
    where = places(view, (0, 0, 1))
    sublinear = {"weighting": "count", "sublinear_tf": True}, [1, 1 + math.log(3)]
    for options, values in (({"weighting": "count"}, [1, 3]), ({"weighting": "binary"}, [1, 1]), sublinear):
        data = fit_and_transform(Tfidf(around="document", **options), view, where, BANK).batch.rows.data
        assert sorted(data.tolist()) == pytest.approx(values)


def test_every_token_counts_by_its_stem_or_its_form():
    view = make_view(["Sand is sandy, bank!", "is bank"])
    where = places(view, (0, 4, 1), (1, 1, 1))
    settings = {"around": "document", "weighting": "count", "every_token": True}
    fitted = Tfidf(layer="stem", **settings).fit(view, where, [BANK])
    row = transform_checked(fitted, view, where, BANK).batch.rows.toarray()[0]
    names = dict(zip(fitted.vocabulary.names, row.tolist(), strict=True))
    assert names == {"sand": 2, "is": 1, ",": 1, "!": 1}
    words = Tfidf(**settings).fit(view, where, [BANK])
    assert set(words.vocabulary.names) == {"sand", "is", "sandy", ",", "!"}
    lemmas = Tfidf(layer="lemma", **settings).fit(view, where, [BANK])
    np.testing.assert_array_equal(lemmas.vocabulary.hashes, words.vocabulary.hashes)


def test_a_doc_without_lemmas_gets_the_same_row_in_any_batch():
    vocab = Vocab()
    bare = Doc(vocab, words=["Dogs", "ran", "to", "banks", "."])
    full = Doc(vocab, words=["Dogs", "ran"], lemmas=["dog", "run"])
    tokens = SpacyTokens(layers=["lemma"])
    with pytest.warns(UserWarning, match="no lemmas"):
        alone, beside = tokens.of_docs([bare]), tokens.of_docs([bare, full])
    for every_token in (False, True):
        tfidf = Tfidf(around="document", layer="lemma", every_token=every_token, weighting="count")
        fitted = tfidf.fit(beside, places(beside, (0, 3, 1), (1, 1, 1)), [BANK])
        one, other = (transform_checked(fitted, v, places(v, (0, 3, 1)), BANK) for v in (alone, beside))
        assert one.batch.rows.toarray().tolist() == other.batch.rows.toarray().tolist()
        assert one.batch.rows.sum() == (4 if every_token else 0)


def test_stems_are_named_by_a_word_and_names_are_optional():
    view = make_view(["Sand sandy bank", "sands bank"])
    where = places(view, (0, 2, 1), (1, 1, 1))
    fitted = Tfidf(around="document", layer="stem", name="broad").fit(view, where, [BANK])
    columns = transform_checked(fitted, view, where, BANK).batch.columns
    assert list(columns.names) == ["river: sand", "money: sand"]
    assert columns.group_names == ("broad",)
    bare = Tfidf(around="document", layer="stem", named=False).fit(view, where, [BANK])
    assert set(bare.state()) == {"documents", "n_documents", "hashes"}
    again = Tfidf(around="document", layer="stem", named=False).from_state(bare.state())
    features = transform_checked(again, view, where, BANK)
    assert len(features.batch.columns.names) == 0
    assert again.vocabulary.word(0) == ""
    expected = transform_checked(fitted, view, where, BANK).batch.rows
    np.testing.assert_array_equal(features.batch.rows.toarray(), expected.toarray())


def test_without_the_layer_there_are_no_terms():
    view = make_view(DOCUMENTS)
    where = places(view, (0, 1, 1), (1, 1, 1))
    fitted = Tfidf(around="document", layer="lemma").fit(view, where, [BANK])
    features = transform_checked(fitted, view, where, BANK)
    assert features.batch.rows.shape == (2, 0)
    assert features.n_queries.tolist() == [0] * 4
    assert len(Tfidf(layer="lemma").from_state(fitted.state()).vocabulary) == 0
    fitted_extractor = Tfidf(around=2, layer="stem").fit(view, where, [BANK])
    bare = replace(view, layers={})
    assert transform_checked(fitted_extractor, bare, where, BANK).batch.rows.nnz == 0


def test_far_words_weigh_little_and_stay_finite():
    view = make_view(["bank " + ", " * 500 + "river " + "boat " * 50])
    extractor, instances = Tfidf(around="document", nearness=10.0), places(view, (0, 0, 1))
    row = fit_and_transform(extractor, view, instances, BANK).batch.rows
    assert (row.data > 0).all() and np.linalg.norm(row.data) == pytest.approx(1.0)
    extractor = replace(Tfidf(around="document"), nearness=1.0).fit(view, instances, [BANK])
    object.__setattr__(extractor, "nearness", 1100.0)  # as large as only zeros are left
    row = transform_checked(extractor, view, instances, BANK).batch.rows
    assert (row.data == 0).all()


def test_names_are_freed_with_their_extractor():
    view = make_view(DOCUMENTS)
    where = places(view, (0, 1, 1), (1, 1, 1))
    extractor = Tfidf(around=2).fit(view, where, [BANK])
    features = transform_checked(extractor, view, where, BANK)
    assert features.batch.columns.own is transform_checked(extractor, view, where, BANK).batch.columns.own
    gone = [weakref.ref(view), weakref.ref(features.batch.columns.own)]
    del view, where, extractor, features
    assert [item() for item in gone] == [None, None]


TOPIC = Group("topic", ("cooking", "sport"))
PIECES = "the ball Bread it's 1997 , ! . Then é".split()


def rows_and_evidence(extractor, texts):
    features = transform_checked(extractor, *inside(texts), TOPIC)
    return features.batch.rows.toarray(), features.n_hits, features.n_queries


@pytest.mark.parametrize(
    "settings", [{}, {"pairs": True}, {"pairs": "words"}, {"pairs": True, "every_token": True, "kept": 9}]
)
def test_the_compiled_function_and_numpy_give_the_same_bits(settings, monkeypatch):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(PIECES, size)) for size in (1, 3, 200, 12, 500)]
    extractor = Tfidf(**settings).fit(*inside(texts), [TOPIC])
    result = []
    for engine in ("numpy", "numba"):
        monkeypatch.setenv(VARIABLE, engine)
        result.append(rows_and_evidence(extractor, [*texts, "Nothing known"]))
    for one, other in zip(*result, strict=True):
        np.testing.assert_array_equal(one, other)


def list_names(terms):
    return {terms.word(i).lower() for i in range(len(terms))}


def test_pairs_of_words_have_no_punctuation_and_no_boundaries():
    extractor = Tfidf(pairs="words").fit(*inside(["Dogs bite, men run. They bark."]), [TOPIC])
    pairs = {name for name in list_names(extractor.vocabulary) if " " in name}
    assert pairs == {"dogs bite", "men run", "they bark"}


def test_pairs_are_not_evidence_and_their_names_can_be_restored():
    texts = ["Dogs bite men.", "Men bite dogs!"]
    extractor = Tfidf(pairs=True).fit(*inside(texts), [TOPIC])
    _, n_hits, n_queries = rows_and_evidence(extractor, ["Dogs bite cats."])
    assert n_hits.tolist() == [2, 2] and n_queries.tolist() == [3, 3]  # one for each candidate
    assert {"dogs", "<s> dogs", "dogs bite", "bite men", "men .", ". </s>"} < list_names(extractor.vocabulary)
    extractor = Tfidf(pairs=True, named=False).fit(*inside(texts), [TOPIC])
    assert not len(extractor.vocabulary.names)
    assert list_names(extractor.with_names(*inside(texts[:1])).vocabulary) >= {
        "",
        "dogs",
        "dogs bite",
        "men .",
    }
