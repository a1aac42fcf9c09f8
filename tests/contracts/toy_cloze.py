"""Tiny models of words in context: from simple rules, and with random weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from disambig.features import Cloze, ClozeVocabulary, quantise
from disambig.text import Words, hash_words

HEADER = {"tokenisation": Words.name, "made": "for a test"}

ARTICLES = {
    (1, "apple"): {"an": 8, "the": 4, "": -4},
    (1, "old"): {"an": 8, "the": 4, "": -4},
    (1, "pear"): {"a": 8, "the": 4, "": -4},
    (1, "house"): {"a": 6, "the": 6, "": -4},
    (-1, "hates"): {"the": 1},
}
"""Scores of candidates given the next (1) or previous (-1) word; elsewhere, no word is most likely."""


def by_hand(
    words: Sequence[str],
    rules: Mapping[tuple[int, str], Mapping[str, float]],
    *,
    bias: Mapping[str, float] | None = None,
    reach: int = 2,
    endings: int = 4,
) -> Cloze:
    """Return a model whose score of a candidate is its bias plus the scores of the rules that apply.

    Parameters
    ----------
    words : sequence of str
        The vocabulary; the words of the rules are appended.
    rules : mapping
        From (place, word) to scores of candidates, which can include ``""``; the place is -1 for the word
        before, 1 for the word after.
    """
    spellings = list(dict.fromkeys([*words, *(word for _, word in rules)]))
    candidates = {word: i for i, word in enumerate([*spellings, ""])}
    n, h = len(spellings), len(rules)
    embeddings = np.zeros((n + endings + 1, h), np.float32)
    inputs = np.zeros((2 * reach, h, h), np.float32)
    outputs = np.zeros((n + 1, h), np.float32)
    biases = np.zeros(n + 1, np.float32)
    for unit, ((place, word), scores) in enumerate(rules.items()):
        embeddings[spellings.index(word), unit] = 1.0
        inputs[-place - 1 if place < 0 else reach + place - 1, unit, unit] = 1.0
        for candidate, score in scores.items():
            outputs[candidates[candidate], unit] = score
    for candidate, score in (bias or {}).items():
        biases[candidates[candidate]] = score
    weights = {
        "embeddings": embeddings,
        "inputs": inputs,
        "hidden_bias": np.zeros(h, np.float32),
        "states": np.eye(h, dtype=np.float32),
        "state_bias": np.zeros(h, np.float32),
        "outputs": outputs,
        "output_bias": biases,
    }
    vocabulary = ClozeVocabulary(hash_words(spellings), endings)
    return quantise(vocabulary, weights, left=reach, right=reach, most_hidden=1.0, header=dict(HEADER))


def articles() -> Cloze:
    """Return a model that predicts a, an and the before a few words, and no word elsewhere."""
    return by_hand(["a", "an", "the", "she", "ate", "saw", "likes"], ARTICLES, bias={"": 3})


def random_cloze(words: Sequence[str], seed: int = 0, *, left: int = 3, right: int = 2) -> Cloze:
    """Return a small model with random weights."""
    rng = np.random.default_rng(seed)
    n, endings, d, h, s = len(words), 5, 6, 9, 7

    def random_array(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    weights = {
        "embeddings": random_array(n + endings + 1, d),
        "inputs": random_array(left + right, d, h),
        "hidden_bias": random_array(h),
        "states": random_array(h, s),
        "state_bias": random_array(s),
        "outputs": random_array(n + 1, s),
        "output_bias": random_array(n + 1),
    }
    vocabulary = ClozeVocabulary(hash_words(list(words)), endings)
    return quantise(vocabulary, weights, left=left, right=right, most_hidden=8.0, header=dict(HEADER))
