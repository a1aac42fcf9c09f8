"""Features of contexts a second, beside scikit-learn's vectorizers over the same windows, in one run.

    pytest -s -m benchmark tests/benchmarks/test_context_features_benchmarks.py

Made documents in the size of a lexical sample: 2,000 contexts of 130 words and signs with a place in each.
Both sides start from tokens and end with sparse rows, the same ones; the two are timed in turns, in the
processor's time, and the best of each counts. Nothing here fails for being slow.
"""

from __future__ import annotations

import time
from collections import defaultdict

import numpy as np
import pytest
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer

from disambig.data import Group, Instances
from disambig.features import ContextWindow, Subsequences, Tfidf, transform_checked
from disambig.text import SpacyTokens

pytestmark = pytest.mark.benchmark
N, LENGTH, WORDS = 2_000, 130, 20_000
GROUP = Group("bank.n", ("river", "money"))
ROUNDS = 3


@pytest.fixture(scope="module")
def contexts():
    """Return lists of words, the place in each, and the same as a view with instances."""
    rng = np.random.default_rng(0)
    shares = 1.0 / np.arange(1, WORDS + 1)
    numbers = rng.choice(WORDS, (N, LENGTH), p=shares / shares.sum())
    texts = [[f"w{number}" for number in row] for row in numbers.tolist()]
    places = rng.integers(20, LENGTH - 20, N)
    view = SpacyTokens().of_sentences(texts)
    none = np.zeros(N, np.int32)
    instances = Instances(view.documents[:-1] + 1 + places, none + 1, none, none)
    return texts, places.tolist(), view, instances


def windows(texts, places):
    for words, at in zip(texts, places, strict=True):
        found = {f"word{d:+d}={words[at + d]}": 1 for d in range(-3, 4) if d}
        yield found | {f"target={words[at]}": 1}


def bags(texts, places):
    for words, at in zip(texts, places, strict=True):
        yield words[at - 50 if at > 50 else 0 : at] + words[at + 1 : at + 51]


def pairs(texts, places):
    for words, at in zip(texts, places, strict=True):
        symbols = [*words[at - 5 : at], "*", *words[at + 1 : at + 6]]
        found = defaultdict(float)
        for i, first in enumerate(symbols):
            for span, second in enumerate(symbols[i + 1 :], start=2):
                found[first, second] += 0.5**span
        yield {" ".join(pair): value for pair, value in found.items()}


class ByDict:
    """What a user would take for windows: dictionaries of features."""

    def __init__(self, made):
        self.made, self.vectorizer = made, DictVectorizer()

    def fit(self, *given):
        self.vectorizer.fit(self.made(*given))

    def rows(self, *given):
        return self.vectorizer.transform(self.made(*given))


class ByCount(ByDict):
    """What a user would take for bags: counts of words."""

    def __init__(self, made):
        self.made, self.vectorizer = made, CountVectorizer(analyzer=lambda words: words, dtype=np.float64)


CASES = {
    "window": (ContextWindow(tags=False), ByDict(windows)),
    "bag of 50 words on each side": (Tfidf(around=50, weighting="count"), ByCount(bags)),
    "gap-weighted pairs": (Subsequences(), ByDict(pairs)),
}


@pytest.mark.parametrize("case", CASES)
def test_rows_a_second(case, contexts, benchmark):
    texts, places, view, instances = contexts
    extractor, theirs = CASES[case]
    fitted = extractor.fit(view, instances, [GROUP])
    theirs.fit(texts, places)
    best = [np.inf, np.inf]
    for _ in range(ROUNDS):
        for which, call in enumerate(
            (
                lambda: transform_checked(fitted, view, instances, GROUP).batch.rows,
                lambda: theirs.rows(texts, places),
            )
        ):
            start = time.process_time()
            made = call()
            best[which] = min(best[which], time.process_time() - start)
            if which == 0:
                own = made
    some = np.arange(0, N, 40)
    np.testing.assert_allclose((own[some] @ own[some].T).toarray(), (made[some] @ made[some].T).toarray())
    benchmark.extra_info.update(
        rows_a_second=round(N / best[0]), scikit_learn=round(N / best[1]), ratio=round(best[1] / best[0], 1)
    )
    print(f"\n{case}: {N / best[0]:,.0f} rows/s, scikit-learn {N / best[1]:,.0f}: {best[1] / best[0]:.1f} x")
    benchmark(lambda: transform_checked(fitted, view, instances, GROUP))
