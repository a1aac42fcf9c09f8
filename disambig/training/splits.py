"""Splits by document, never by instance, and the same on every machine: by the hash of the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from disambig.text.hashing import hash_word

FOLDS = 10
PARTS = {"train": range(6), "dev": range(6, 8), "test": range(8, 10)}


def fold_of(text: str) -> int:
    """Return the fold (0 to 9) of a document: white space at its ends does not matter."""
    return hash_word(text.strip()) % FOLDS


def split(texts: Iterable[str]) -> dict[str, list[str]]:
    """Sort documents into train (60 %), dev (20 %) and test (20 %)."""
    parts: dict[str, list[str]] = {name: [] for name in PARTS}
    names: Sequence[str] = [next(name for name, folds in PARTS.items() if f in folds) for f in range(FOLDS)]
    for text in texts:
        parts[names[fold_of(text)]].append(text)
    return parts
