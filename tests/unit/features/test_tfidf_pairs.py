"""TF-IDF of pairs: equal to scikit-learn's on the same words and pairs, by the kernel and by NumPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from disambig.data import Group, Instances, word_tokens
from disambig.errors import UserError
from disambig.features import Tfidf, transform_checked
from disambig.runtime import VARIABLE
from disambig.text import Words

GROUP = Group("topic", ("cooking", "sport"))
TEXT = st.lists(st.sampled_from("the ball Bread it's 1997 , ! . Then é".split()), min_size=1, max_size=12)
ENDS = {"<S>", "</S>"}


def inside(texts):
    """Return a view, and an instance a text from its first token that is no end of a sentence to its last."""
    view = Words()(list(texts))
    first, lengths = view.documents[:-1] + 1, np.diff(view.documents) - 2
    n = len(first)
    return view, Instances(first, lengths.astype(np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32))


def terms(text):
    """Return words and pairs of tokens, by way of the tokenisation's own list."""
    words, is_word = Words().words(text), word_tokens(Words()([text]))
    pairs = [f"{a} {b}" for a, b in pairwise(words) if not {a, b} <= ENDS]
    return [word for word, keep in zip(words, is_word, strict=True) if keep] + pairs


def rows_of(extractor, texts):
    features = transform_checked(extractor, *inside(texts), GROUP)
    return features.batch.rows.toarray(), features.found, features.asked


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@given(texts=st.lists(TEXT, min_size=2, max_size=6), asked=st.lists(TEXT, min_size=1, max_size=3))
def test_rows_are_those_of_scikit_learn_on_the_same_words_and_pairs(engine, texts, asked):
    texts, asked = [" ".join(words) for words in texts], [" ".join(words) for words in asked]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, engine)
        theirs = TfidfVectorizer(analyzer=terms, sublinear_tf=True).fit(texts)
        ours = Tfidf(pairs=True, sublinear_tf=True).fit(*inside(texts), [GROUP])
        names = [ours.known.word(i) for i in range(len(ours.known))]
        assert sorted(names) == sorted(theirs.vocabulary_)
        order = [theirs.vocabulary_[name] for name in names]
        rows, _, _ = rows_of(ours, asked)
        np.testing.assert_allclose(rows, theirs.transform(asked).toarray()[:, order])


@pytest.mark.parametrize(
    "settings", [{}, {"pairs": True}, {"pairs": "words"}, {"pairs": True, "every_token": True, "kept": 9}]
)
def test_the_kernel_and_numpy_give_the_same_bits(settings, monkeypatch):
    rng = np.random.default_rng(0)
    words = "the ball Bread it's 1997 , ! . Then é".split()
    texts = [" ".join(rng.choice(words, size)) for size in (1, 3, 200, 12, 500)]
    extractor = Tfidf(**settings).fit(*inside(texts), [GROUP])
    found = []
    for engine in ("numpy", "numba"):
        monkeypatch.setenv(VARIABLE, engine)
        found.append(rows_of(extractor, [*texts, "Nothing known"]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_pairs_of_words_have_no_punctuation_and_no_boundaries():
    extractor = Tfidf(pairs="words").fit(*inside(["Dogs bite, men run. They bark."]), [GROUP])
    names = {extractor.known.word(i).lower() for i in range(len(extractor.known))}
    assert {name for name in names if " " in name} == {"dogs bite", "men run", "they bark"}
    with pytest.raises(UserError, match="D510"):
        Tfidf(pairs="all")


def test_pairs_are_no_evidence_and_have_names():
    extractor = Tfidf(pairs=True).fit(*inside(["Dogs bite men.", "Men bite dogs!"]), [GROUP])
    _, found, asked = rows_of(extractor, ["Dogs bite cats."])
    assert found.tolist() == [2, 2] and asked.tolist() == [3, 3]  # one for each candidate
    names = {extractor.known.word(i).lower() for i in range(len(extractor.known))}
    assert {"dogs", "<s> dogs", "dogs bite", "bite men", "men .", ". </s>"} < names


def test_names_come_from_the_text_where_they_are_not_kept():
    texts = ["Dogs bite men.", "Men bite dogs!"]
    extractor = Tfidf(pairs=True, named=False).fit(*inside(texts), [GROUP])
    assert not len(extractor.known.names)
    named = extractor.with_names(*inside(texts[:1])).known
    assert {named.word(i).lower() for i in range(len(named))} >= {"", "dogs", "dogs bite", "men ."}


@pytest.mark.parametrize("settings", [{"around": 3}, {"layer": "stem"}])
def test_pairs_are_of_an_instance_s_own_words(settings):
    with pytest.raises(UserError, match="D517"):
        Tfidf(pairs=True, **settings)
