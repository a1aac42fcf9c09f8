"""A small artificial language, and models of words in context learned from it."""

from __future__ import annotations

import numpy as np

from disambig.features import count_vocabulary, learn_cloze
from disambig.text import Words

ENDINGS = 4
RIVALS = (("a", "an"), ("walk", "walks"), ("sleep", "sleeps"))
NONE_BESIDE = ("a", "an", "the")
SMALL = {"dimensions": 12, "hidden": 24, "left": 4, "right": 3, "batch": 400, "rate": 0.02}
_NUMBERED = (("the girl", "s"), ("the boy", "s"), ("the girls", ""), ("the boys", ""))
_SOUNDS = ("a", ("pear", "melon")), ("an", ("apple", "orange"))


def sentences(n, seed=0):
    """Return sentences in which the verb agrees over two words, and the article with the next sound."""
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(n):
        who, ending = _NUMBERED[rng.integers(4)]
        article, fruits = _SOUNDS[rng.integers(2)]
        verb, fruit = ("walk", "sleep")[rng.integers(2)], fruits[rng.integers(2)]
        where = ("near", "behind")[rng.integers(2)]
        result.append(f"{who.capitalize()} {where} Tom {verb}{ending} with {article} {fruit}.")
    return result


def material(texts, n_words=60):
    """Return blocks of text, the vocabulary, rivals, and the words beside which no word is missing."""
    return numbered(texts, n_words)[:4]


def numbered(texts, n_words=60):
    """Return the same as `material`, and the spellings of the words."""
    view = Words()(texts)
    vocabulary, _, spellings = count_vocabulary([view], n_words, ENDINGS)
    numbers = vocabulary.view_numbers(view).astype(np.uint16)
    cuts = view.sentences[:: max(1, len(texts) // 40)][1:-1]
    number = {word: i for i, word in enumerate(spellings)}
    lists = [[] for _ in spellings]
    for one, other in RIVALS:
        lists[number[one]].append(number[other])
        lists[number[other]].append(number[one])
    offsets = np.concatenate([[0], np.cumsum([len(item) for item in lists])])
    rivals = offsets, np.array([other for item in lists for other in item])
    beside = np.array([number[word] for word in NONE_BESIDE])
    return np.split(numbers, cuts), vocabulary, rivals, beside, spellings


def learned(texts, **settings):
    """Return a model that was learned from some texts."""
    blocks, vocabulary, rivals, beside = material(texts)
    return learn_cloze(blocks, vocabulary, rivals, none_beside=beside, **{**SMALL, **settings})
