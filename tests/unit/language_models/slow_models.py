"""Random texts, and textbook probabilities of their models, with dictionaries and recursion."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache

import numpy as np
from hypothesis import strategies as st

from disambig.language_models import SPECIAL, Sentences, WordVocabulary, estimate_discounts

TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=7), min_size=1, max_size=25)


MODELS = {
    "order": st.integers(1, 5),
    "smoothing": st.sampled_from(["kneser_ney", "absolute"]),
    "min_counts": st.sampled_from([None, {2: 2}, {3: 2}, {2: 2, 3: 3}, {4: 2}]),
}


def random_text(n, seed=0, words=30):
    """Return `n` sentences of words with Zipf's frequencies."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, words + 1)
    draw = rng.choice(words, size=(n, 12), p=shares / shares.sum())
    return [[f"w{word}" for word in row[: rng.integers(1, 12)]] for row in draw]


def make_sentences(text, least=1):
    vocabulary = WordVocabulary.from_sentences(text, least=least)
    return Sentences.from_words(vocabulary, text), vocabulary


def textbook_probabilities(text, vocabulary, order, smoothing, min_counts):
    """Return the function P(word, context) of words, following Chen and Goodman with plain dictionaries."""
    counts = [Counter() for _ in range(order + 1)]
    for sentence in text:
        padded = ("<s>", *(word if word in vocabulary else "<unk>" for word in sentence), "</s>")
        for n in range(1, order + 1):
            counts[n].update(padded[at : at + n] for at in range(len(padded) - n + 1))
    before = defaultdict(set)
    for n in range(2, order + 1):
        for ngram in counts[n]:
            before[ngram[1:]].add(ngram[0])
    given, discounts, least = {}, {}, 1
    kept = {}
    for n in range(1, order + 1):
        lower = smoothing == "kneser_ney" and n < order
        given[n] = {
            ngram: len(before[ngram]) if lower and ngram[0] != "<s>" else count
            for ngram, count in counts[n].items()
            if ngram != ("<s>",)
        }
        discounts[n] = estimate_discounts(np.array(list(given[n].values()), np.int64), smoothing)[0]
        if n > 1:
            least = max(least, (min_counts or {}).get(n, least))
        kept[n] = {ngram for ngram in given[n] if n == 1 or counts[n][ngram] >= least}
    words = [word for word in vocabulary.spellings if word != SPECIAL[1]]

    @cache
    def probability(word, context):
        n = len(context) + 1
        behind = probability(word, context[1:]) if context else 1 / len(words)
        following = {ngram: c for ngram, c in given[n].items() if ngram[:-1] == context}
        if not following:
            return behind
        total, mass, free = sum(following.values()), 0.0, 0.0
        for ngram, count in following.items():
            taken = discounts[n][min(count, 3) - 1] if ngram in kept[n] else count
            free += taken
            if ngram[-1] == word:
                mass = count - taken
        return mass / total + free / total * behind

    return lambda word, context: probability(word, tuple(context[-(order - 1) :] if order > 1 else ()))
