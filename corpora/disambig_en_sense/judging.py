"""Cross-validation over documents, as a user meets the model: on text, with tags by the tagger."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from disambig.formats.labelled.reader import Labelled
from disambig.model.model import Model
from disambig.text.hashing import hash_word

MARGINS = (0.0, 0.35, 0.7, 1.1, 1.6, 2.3)
"""Margins, in log-odds, at which the answers are counted: odds of 1, 1.4, 2, 3, 5 and 10."""
PARTS = {"n": "nouns", "v": "verbs", "a": "adjectives", "r": "adverbs"}


def judged(
    examples: Sequence[Labelled], train: Callable[[Sequence[Labelled]], Model], *, folds: int, progress: Any
) -> dict[str, Any]:
    """Return how good models are on the documents of each fold that they did not learn from.

    Returns
    -------
    dict
        Under each part of speech, and ``all``: ``n`` labelled occurrences; how often the most frequent sense
        is right (``majority``); under ``margins`` how many are answered, and right, at each of `MARGINS`. The
        same for each word under ``words``.
    """
    documents = sorted({example.document for example in examples}, key=hash_word)
    fold_of = {document: number % folds for number, document in enumerate(documents)}
    tallies: dict[str, Counter[str]] = defaultdict(Counter)
    words: dict[str, Counter[str]] = defaultdict(Counter)
    for fold in range(folds):
        progress("cross-validating", fold, folds)
        learn = [example for example in examples if fold_of[example.document] != fold]
        test = [example for example in examples if fold_of[example.document] == fold]
        model = train(learn).with_least_margin(0.0)
        seen: dict[str, Counter[str]] = defaultdict(Counter)
        for example in learn:
            seen[example.word][example.label] += 1
        texts = list(dict.fromkeys(example.text for example in test))
        decisions = model.decide(model.tokenisation(texts))
        places = {
            (int(document), int(start)): i
            for i, (document, start) in enumerate(zip(decisions.documents, decisions.starts, strict=True))
        }
        number = {text: i for i, text in enumerate(texts)}
        for example in test:
            outcome = Counter(n=1, majority=int(_most_frequent(seen[example.word]) == example.label))
            at = places.get((number[example.text], example.start))
            if at is not None and decisions.table[decisions.groups[at]].name == example.word:
                chosen = decisions.table[decisions.groups[at]].candidates[decisions.chosen[at]]
                for margin in MARGINS:
                    if decisions.margins[at] >= margin:
                        outcome[f"answered {margin}"] += 1
                        outcome[f"right {margin}"] += int(chosen == example.label)
            for name in ("all", PARTS[example.word[-1]]):
                tallies[name] += outcome
            words[example.word] += outcome
    return {"folds": folds, "documents": len(documents), "parts": _plain(tallies), "words": _plain(words)}


def _most_frequent(seen: Counter[str]) -> str:
    return seen.most_common(1)[0][0] if seen else ""


def _plain(tallies: dict[str, Counter[str]]) -> dict[str, Any]:
    return {
        name: {
            "n": at["n"],
            "majority": at["majority"],
            "margins": {
                str(margin): {"answered": at[f"answered {margin}"], "right": at[f"right {margin}"]}
                for margin in MARGINS
            },
        }
        for name, at in sorted(tallies.items())
    }
