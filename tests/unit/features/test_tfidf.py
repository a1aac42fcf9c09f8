"""TF-IDF: equal to scikit-learn's on the same words, in both forms; states that do not fit are refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

from disambig.data import Group, Instances, word_tokens
from disambig.errors import UserError
from disambig.features import Tfidf, transform_checked
from disambig.text import Words, hash_words

TEXTS = (
    "The ball went over the net; the crowd sang. Then it rained!",
    "Bake the bread for 45 minutes, then let the bread rest.",
    "A ball, a ball! 3.14 nets, 1997 crowds and it's over.",
)
GROUP = Group("topic", ("cooking", "sport", "weather"))
TEXT = st.lists(
    st.sampled_from("the ball Bread it's 1997 2001 , ! — naïve ß é".split()), min_size=1, max_size=12
)


def documents(texts):
    """Return a view of texts and an instance a document that has tokens, all of its tokens in it."""
    view = Words()(list(texts))
    lengths = np.diff(view.documents)
    first = view.documents[:-1][lengths > 0]
    n = len(first)
    instances = Instances(
        first, lengths[lengths > 0].astype(np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    )
    return view, instances


def fitted(texts, **settings):
    return Tfidf(**settings).fit(*documents(texts), [GROUP])


def rows_of(extractor, texts):
    view, instances = documents(texts)
    return transform_checked(extractor, view, instances, GROUP).batch.rows


def normal_words(text):
    """Return the words that TF-IDF counts, by way of the tokenisation's own list."""
    view = Words()([text])
    kept = word_tokens(view)
    return [word for word, keep in zip(Words().words(text), kept, strict=False) if keep]


@pytest.mark.parametrize("sublinear", [False, True])
@pytest.mark.parametrize("least", [1, 2])
@given(st.lists(TEXT, min_size=2, max_size=6), st.lists(TEXT, min_size=1, max_size=3))
def test_rows_are_those_of_scikit_learn_on_the_same_words(sublinear, least, learned, asked):
    learned, asked = [" ".join(words) for words in learned], [" ".join(words) for words in asked]
    theirs = TfidfVectorizer(analyzer=normal_words, min_df=least, sublinear_tf=sublinear)
    try:
        theirs.fit(learned)
    except ValueError:  # no word is left
        with pytest.raises(UserError, match="D475"):
            fitted(learned, min_documents=least, sublinear_tf=sublinear)
        return
    ours = fitted(learned, min_documents=least, sublinear_tf=sublinear)
    names = [ours.known.word(i) for i in range(len(ours.known))]
    assert sorted(names) == sorted(theirs.vocabulary_)
    order = [theirs.vocabulary_[name] for name in names]
    np.testing.assert_allclose(rows_of(ours, asked).toarray(), theirs.transform(asked).toarray()[:, order])


@given(st.lists(TEXT, min_size=2, max_size=6), st.lists(TEXT, min_size=1, max_size=3))
def test_hashed_columns_are_those_of_scikit_learn_on_the_same_hashes(learned, asked):
    def counts(texts):
        found = np.zeros((len(texts), 16))
        for row, words in zip(found, texts, strict=True):
            hashes = hash_words(normal_words(" ".join(words)))
            np.add.at(row, (hashes & np.uint64(15)).astype(int), 1.0)
        return found

    ours = fitted([" ".join(words) for words in learned], bits=4)
    theirs = TfidfTransformer().fit(counts(learned)).transform(counts(asked))
    np.testing.assert_allclose(
        rows_of(ours, [" ".join(words) for words in asked]).toarray(), theirs.toarray()
    )


@given(st.lists(TEXT, min_size=1, max_size=5))
def test_rows_have_length_one_or_no_known_word(texts):
    rows = rows_of(fitted(TEXTS), [" ".join(words) for words in texts])
    norms = np.sqrt((rows.toarray() ** 2).sum(axis=1))
    assert all(norm == 0 or abs(norm - 1) < 1e-12 for norm in norms)


def test_the_most_frequent_words_are_kept():
    extractor = fitted(
        TEXTS, kept=2
    )  # "the" stands five times, "ball" three times, no other word more than twice
    assert len(extractor.known) == 2
    assert {extractor.known.word(i) for i in range(2)} == {"the", "ball"}


def test_words_of_training_alone_count_and_the_evidence_says_how_many():
    extractor = fitted(TEXTS[:2])
    view, instances = documents(["the zebra sang, the zebra!", "zebra"])
    features = transform_checked(extractor, view, instances, GROUP)
    assert features.asked.reshape(2, 3).tolist() == [[5] * 3, [1] * 3]
    assert features.found.reshape(2, 3).tolist() == [[3] * 3, [0] * 3]
    assert features.batch.rows[[1]].nnz == 0
    assert features.batch.costs.tolist() == [[0, 1, 1]] * 2


def test_columns_are_named_by_label_and_word_without_making_them_all():
    extractor = fitted(TEXTS)
    view, instances = documents(TEXTS)
    columns = transform_checked(extractor, view, instances, GROUP).batch.columns
    d = len(extractor.known)
    assert len(columns) == len(columns.names) == 3 * d
    assert columns.names[d + 1] == f"sport: {extractor.known.word(1)}"
    assert columns.names[-1] == f"weather: {extractor.known.word(d - 1)}"
    assert columns.labels.tolist() == [0] * d + [1] * d + [2] * d
    assert columns.in_groups(["words"]).all()
    assert columns.groups.strides == (0,)
    assert "cooking: it's" in columns.names
    assert "cooking: 0000" in columns.names  # 1997, as the tokenisation has numbers
    hashed = transform_checked(fitted(TEXTS, bits=5), view, instances, GROUP).batch.columns
    assert len(hashed) == 3 * 32 and not hashed.names


@pytest.mark.parametrize(
    "settings", [{}, {"bits": 6}, {"kept": 4}, {"min_documents": 2, "sublinear_tf": True}]
)
def test_the_state_holds_all(settings):
    extractor = fitted(TEXTS, **settings)
    state = {name: array.copy() for name, array in extractor.state().items()}
    again = Tfidf(**settings).from_state(state)
    np.testing.assert_array_equal(rows_of(again, TEXTS).toarray(), rows_of(extractor, TEXTS).toarray())
    names = [e.known.word(i) for e in (extractor, again) for i in range(len(e.known))]
    assert names[: len(extractor.known)] == names[len(extractor.known) :]
    copied = pickle.loads(pickle.dumps(extractor))
    np.testing.assert_array_equal(rows_of(copied, TEXTS).toarray(), rows_of(extractor, TEXTS).toarray())


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("documents", lambda a: a + 3),
        ("documents", lambda a: a * 0),
        ("documents", lambda a: a[:-1]),
        ("documents", lambda a: a.astype(float)),
        ("documents", lambda a: a[:, None]),
        ("n_documents", lambda a: a * 0),
        ("n_documents", lambda a: a[:0]),
        ("n_documents", lambda a: a.astype(float)),
        ("n_documents", lambda a: a + 2**40),
        ("hashes", lambda a: a[::-1]),
        ("hashes", lambda a: a.astype(np.int64)),
        ("hashes", lambda a: a[1:]),
        ("hashes", lambda a: np.repeat(a[:1], len(a))),
        ("letters", lambda a: a[:-1]),
        ("letters", lambda a: np.append(a, a)),
        ("letters", lambda a: a.astype(np.int64)),
        ("letters", lambda a: a[:, None]),
        ("ends", lambda a: a[::-1]),
        ("ends", lambda a: a - a[-1]),
        ("ends", lambda a: a.astype(float)),
        ("ends", lambda a: a[:-1]),
    ],
)
def test_states_that_do_not_fit_are_refused(name, damage):
    state = dict(fitted(TEXTS).state())
    state[name] = damage(state[name])
    with pytest.raises(ValueError, match="tf-idf"):
        Tfidf().from_state(state)


def test_a_state_of_the_other_form_is_refused():
    with pytest.raises((KeyError, ValueError)):
        Tfidf().from_state(fitted(TEXTS, bits=4).state())
    for state in (fitted(TEXTS).state(), fitted(TEXTS, bits=5).state()):
        with pytest.raises(ValueError, match="tf-idf"):
            Tfidf(bits=4).from_state(state)


def test_letters_that_are_no_utf_8_still_have_names():
    state = dict(fitted(TEXTS).state())
    state["letters"] = np.full_like(state["letters"], 255)
    assert Tfidf().from_state(state).known.word(0).startswith("\ufffd")


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"min_documents": 0}, "D452"),
        ({"kept": 0}, "D452"),
        ({"bits": 0}, "D473"),
        ({"bits": 23}, "D473"),
        ({"bits": 4, "kept": 3}, "D474"),
        ({"bits": 4, "min_documents": 2}, "D474"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(settings, code):
    with pytest.raises(UserError, match=code):
        Tfidf(**settings)


def test_without_fitting_there_is_nothing_to_say():
    with pytest.raises(ValueError, match="not fitted"):
        rows_of(Tfidf(), TEXTS)
    with pytest.raises(UserError, match="D475"):
        fitted(["!!!", "... ?"])
