"""How tagged text is judged: over all tokens, those that both treebanks annotate alike, and unknown words.

The Penn Treebank and the English Web Treebank differ in more than their text. A token is *alike* if its tag
occurs in the training sentences (``HYPH``, ``NFP``, ``ADD``, ``GW`` and ``AFX`` do not in the Penn Treebank)
and its word is none of `DIFFERENT`, whose tags follow another rule there. The rule knows nothing of what a
system answers: every system is judged on the same tokens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .tag_data_penn import Sentence

DIFFERENT = re.compile(r"(?i:to|both|either|neither)|[-\u2010-\u2015]+|\.{2,}|\u2026|[;/#]")
"""Words with other tags in the treebanks, as a count of both says (Penn, then EWT).

``to``: always TO; IN before a noun. ``both, either, neither``: DT; CC before what they join. Dashes: ":";
any of HYPH, ",", ":", NFP and SYM. Dots and ";": ":"; "," or ".". "/": a part of its word; any of ",",
SYM and HYPH. "#": its own tag; NN. Quotes and brackets agree once they are read as they were written.
"""
FLIPS, _CHUNK = 10_000, 500
Hits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What the training sentences hold: words as they are written, and tags."""

    words: frozenset[str]
    tags: frozenset[str]

    @staticmethod
    def of(train: Sequence[Sentence]) -> Known:
        """Return what some sentences hold."""
        return Known(
            frozenset(word for words, _ in train for word in words),
            frozenset(tag for _, tags in train for tag in tags),
        )

    def alike(self, word: str, tag: str) -> bool:
        """Tell whether a token is annotated as in the training sentences, by the module's rule."""
        return tag in self.tags and not DIFFERENT.fullmatch(word)


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """The tokens of a text, one after the other.

    Attributes
    ----------
    tags : list of str
    sentence : array of int64
        Of each token.
    alike, unknown : arrays of bool
        Whether the token is annotated alike, and whether its word is in no training sentence.
    """

    tags: list[str]
    sentence: NDArray[np.int64]
    alike: Hits
    unknown: Hits

    @staticmethod
    def of(sentences: Sequence[Sentence], known: Known) -> Gold:
        """Return the tokens of tagged sentences."""
        tokens = [pair for words, tags in sentences for pair in zip(words, tags, strict=True)]
        lengths = [len(words) for words, _ in sentences]
        return Gold(
            [tag for _, tag in tokens],
            np.repeat(np.arange(len(lengths)), lengths),
            np.array([known.alike(word, tag) for word, tag in tokens], bool),
            np.array([word not in known.words for word, _ in tokens], bool),
        )

    def hits(self, tags: Sequence[Sequence[str]]) -> Hits:
        """Return for each token whether a tagger's tag is right.

        Raises
        ------
        ValueError
            Where there is not one tag for each token.
        """
        answered = [tag for sentence in tags for tag in sentence]
        return np.array([mine == gold for mine, gold in zip(answered, self.tags, strict=True)], bool)

    def accuracies(self, hits: Hits) -> dict[str, Any]:
        """Return accuracies in %, None where there is no such token, and the numbers of tokens."""
        parts = {
            "all": np.ones(len(hits), bool),
            "alike": self.alike,
            "known words": ~self.unknown,
            "unknown words": self.unknown,
            "unknown words, alike": self.unknown & self.alike,
        }
        accuracy = {
            name: 100 * float(hits[part].mean()) if part.any() else None for name, part in parts.items()
        }
        return {**accuracy, "tokens": {name: int(part.sum()) for name, part in parts.items()}}


def joined(golds: Sequence[Gold]) -> Gold:
    """Return several texts as one."""
    begins = np.cumsum([0, *(int(gold.sentence[-1]) + 1 if len(gold.sentence) else 0 for gold in golds)])
    return Gold(
        [tag for gold in golds for tag in gold.tags],
        np.concatenate([gold.sentence + begin for gold, begin in zip(golds, begins[:-1], strict=True)]),
        np.concatenate([gold.alike for gold in golds]),
        np.concatenate([gold.unknown for gold in golds]),
    )


def compare(gold: Gold, first: Hits, second: Hits, *, alike: bool = False) -> tuple[float, float]:
    """Return how many points the first system is better, and how likely so large a difference is by chance.

    The p is of approximate randomisation (Yeh 2000): two-sided, `FLIPS` times the systems' answers to
    whole sentences are exchanged, as tokens of one sentence do not err independently.
    """
    counted = gold.alike if alike else np.ones(len(first), bool)
    if not counted.any():
        return 0.0, 1.0
    gained = (first.astype(np.int64) - second) * counted
    by_sentence = np.bincount(gold.sentence, gained)
    moved = by_sentence[by_sentence != 0]
    total = abs(moved.sum())
    rng = np.random.default_rng(0)
    as_large = 0
    for _ in range(0, FLIPS, _CHUNK):
        signs = 2 * rng.integers(0, 2, (_CHUNK, len(moved)), dtype=np.int8) - 1
        as_large += int((np.abs(signs @ moved) >= total).sum())
    return 100 * float(gained.sum()) / int(counted.sum()), (1 + as_large) / (1 + FLIPS)


def figures(hits: Mapping[str, Hits], golds: Mapping[str, Gold]) -> dict[str, Any]:
    """Return the accuracies of one system, text by text."""
    return {name: golds[name].accuracies(of_text) for name, of_text in hits.items()}
