"""Cross-validation over documents and genres as a user would run it: on plain text with predicted tags."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from disambig.formats import Labelled
from disambig.metrics import reliability
from disambig.models import Model
from disambig.text import hash_word

MARGINS = (0.0, 0.35, 0.7, 1.1, 1.6, 2.3)
"""Margins, in log-odds, at which the answers are counted: odds of 1, 1.4, 2, 3, 5 and 10."""
PARTS = {"n": "nouns", "v": "verbs", "a": "adjectives", "r": "adverbs"}


def document_folds(examples: Sequence[Labelled], n: int) -> dict[str, int]:
    """Return the fold of each document, in the order of the hashes of their names."""
    documents = sorted({example.document for example in examples}, key=hash_word)
    return {document: number % n for number, document in enumerate(documents)}


def genre_folds(examples: Sequence[Labelled]) -> dict[str, int]:
    """Return the fold of each document: one fold per genre."""
    genres = sorted({example.domain for example in examples})
    return {example.document: genres.index(example.domain) for example in examples}


def cross_validate(
    examples: Sequence[Labelled],
    fold_of: Mapping[str, int],
    train: Callable[[Sequence[Labelled]], Model],
    *,
    progress: Any,
) -> dict[str, Any]:
    """Train on all folds but one and test on that one, for each fold.

    Returns
    -------
    dict
        ``parts``: for each part of speech and for ``all``, the number of labelled occurrences (``n``), of
        those whose most frequent sense is right (``majority``), and, for each of `MARGINS`, of answers and of
        right answers. ``words`` and ``genres``: the same for each word and each genre. ``reliability``: for
        all and for each genre, the expected calibration error, the mean probability and the accuracy of the
        answers without a margin.
    """
    tallies: dict[str, Counter[str]] = defaultdict(Counter)
    words: dict[str, Counter[str]] = defaultdict(Counter)
    genres: dict[str, Counter[str]] = defaultdict(Counter)
    answers: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    folds = sorted(set(fold_of.values()))
    for fold in folds:
        progress("cross-validating", fold, len(folds))
        learn = [example for example in examples if fold_of[example.document] != fold]
        test = [example for example in examples if fold_of[example.document] == fold]
        model = train(learn).with_least_margin(0.0)  # answers everywhere: margins are counted below
        seen: dict[str, Counter[str]] = defaultdict(Counter)
        for example in learn:
            seen[example.word][example.label] += 1
        for example, answer in zip(test, _answers(model, test), strict=True):
            outcome = Counter(n=1, majority=int(_most_frequent(seen[example.word]) == example.label))
            if answer is not None:
                is_right = answer.sense == example.label
                for margin in MARGINS:
                    if answer.margin >= margin:
                        outcome[f"answered {margin}"] += 1
                        outcome[f"right {margin}"] += is_right
                for name in ("all", example.domain):
                    answers[name].append((answer.probability, is_right))
            for name in ("all", PARTS[example.word[-1]]):
                tallies[name] += outcome
            words[example.word] += outcome
            genres[example.domain] += outcome
    return {
        "folds": len(folds),
        "documents": len(fold_of),
        "parts": _plain(tallies),
        "words": _plain(words),
        "genres": _plain(genres),
        "reliability": {name: _reliability(pairs) for name, pairs in sorted(answers.items())},
    }


class _Answer(NamedTuple):
    sense: str
    margin: float  # log-odds against the second best sense
    probability: float


def _answers(model: Model, examples: Sequence[Labelled]) -> Iterator[_Answer | None]:
    """Yield the answer of a model to each example; None if it decides no such word there."""
    texts = list(dict.fromkeys(example.text for example in examples))
    decisions = model.decide(model.tokenisation(texts))
    places = zip(decisions.documents.tolist(), decisions.starts.tolist(), strict=True)
    row_by_place = {place: row for row, place in enumerate(places)}
    for example in examples:
        row = row_by_place.get((texts.index(example.text), example.start))
        group = None if row is None else decisions.table[decisions.groups[row]]
        if group is None or group.name != example.word:
            yield None
        else:
            sense = group.candidates[decisions.chosen[row]]
            yield _Answer(sense, decisions.margins[row], float(decisions.probabilities[row]))


def most_frequent(examples: Sequence[Labelled], fold_of: Mapping[str, int]) -> dict[str, Any]:
    """Return how often the most frequent sense in the other folds is right, with given parts of speech."""
    seen: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    every: dict[str, Counter[str]] = defaultdict(Counter)
    folds = [fold_of.get(example.document, -1) for example in examples]
    for example, fold in zip(examples, folds, strict=True):
        seen[example.word, fold][example.label] += 1
        every[example.word][example.label] += 1
    hits = 0
    for example, fold in zip(examples, folds, strict=True):
        others = every[example.word] - seen[example.word, fold]
        hits += _most_frequent(others) == example.label
    return {"n": len(examples), "words": len(every), "right": hits}


def _reliability(pairs: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """Return the calibration error, the mean probability and the accuracy of answers."""
    predicted, right = (np.array(column) for column in zip(*pairs, strict=True))
    calibration = reliability(predicted, right.astype(bool))
    return {
        "n": calibration["n"],
        "error": round(calibration["expected_calibration_error"], 5),
        "said": round(float(predicted.mean()), 5),
        "right": round(float(right.mean()), 5),
    }


def _most_frequent(seen: Counter[str]) -> str:
    return seen.most_common(1)[0][0] if seen else ""


def _plain(tallies: dict[str, Counter[str]]) -> dict[str, Any]:
    figures = {}
    for name, at in sorted(tallies.items()):
        margins = {
            str(margin): {what: at[f"{what} {margin}"] for what in ("answered", "right")}
            for margin in MARGINS
        }
        figures[name] = {"n": at["n"], "majority": at["majority"], "margins": margins}
    return figures
