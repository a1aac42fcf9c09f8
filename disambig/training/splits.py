"""Splits by document, never by instance, and the same on every machine: by the hash of the text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from disambig.plural import many
from disambig.text.hashing import hash_word

FOLDS = 10
PARTS = {"train": range(6), "dev": range(6, 8), "test": range(8, 10)}
AIMS = {"train": "to learn from", "dev": "to tune on", "test": "to test on"}


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


def why_empty(texts: Mapping[str, Sequence[str]], part: str, task: str) -> str:
    """Say why a part of a split holds nothing for a task, though another part may.

    Parameters
    ----------
    texts : mapping of str to sequence of str
        See `split`.
    part : str
        One of `AIMS`.
    task : str
        Its name.
    """
    all_texts = [text.strip() for name in AIMS for text in texts.get(name, ()) if text.strip()]
    n, different = len(all_texts), len(set(all_texts))
    said = f"no document that is kept {AIMS[part]} has a candidate of the task {task}"
    if different < n:
        same = f"of {many(n, 'document')} only {different:,} {'is' if different == 1 else 'are'} different"
        return f"{said}; {same}, and equal ones are never split: give more different ones"
    return f"{said}; {many(n, 'document')} in all: give more of them (with --lines each line is one)"
