"""Why a decision came out as it did: each n-gram asked for, its count, its weight and what it added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disambig.model.model import Model
from disambig.text.view import SENTENCE_END, SENTENCE_START, TokenView


@dataclass(frozen=True, slots=True)
class Reason:
    """One attribute of one candidate.

    Attributes
    ----------
    candidate : str
    evidence : str
        The n-gram, or the attribute's name where it is no n-gram.
    value : float
        The attribute; for counts log(count + 1).
    count : int or None
        The count, for n-grams.
    weight : float
    contribution : float
        ``weight * value``; a candidate's contributions sum to its score.
    """

    candidate: str
    evidence: str
    value: float
    count: int | None
    weight: float
    contribution: float


def explain(model: Model, view: TokenView, index: int) -> list[Reason]:
    """Return the reasons behind decision `index` of ``model.decide(view)``, candidate by candidate.

    Attributes of value zero are left out. For scorers without weights the list is empty.
    """
    from disambig.features.contexts import CONTEXTS

    instances = model.instances(view).take(np.array([index]))
    group = int(instances.groups[0])
    features = model.features(view, instances, group)
    weights = getattr(model.scorer(group, features), "weights", None)
    values = getattr(features.batch, "values", None)
    if weights is None or values is None:
        return []
    columns, column_of = features.batch.columns, features.batch.column_of  # type: ignore[attr-defined]
    position, length = int(instances.positions[0]), int(instances.lengths[0])
    reasons = []
    for r, candidate in enumerate(model.task.groups[group].candidates):
        for a, value in enumerate(values[0, r]):
            if value == 0:
                continue
            column = int(column_of[r, a])
            is_count = columns.group_names[columns.groups[column]].endswith("-gram") and a < len(CONTEXTS)
            name = str(columns.names[column]).partition(": ")[2]
            reasons.append(
                Reason(
                    candidate,
                    _filled(view, position, length, CONTEXTS[a], candidate) if is_count else name,
                    float(value),
                    round(float(np.expm1(value))) if is_count else None,
                    float(weights[column]),
                    float(weights[column] * value),
                )
            )
    return reasons


def _filled(view: TokenView, position: int, length: int, context: tuple[int, int], candidate: str) -> str:
    left, right = context
    before = [_word(view, position - left + i) for i in range(left)]
    after = [_word(view, position + length + i) for i in range(right)]
    return " ".join([*before, *candidate.split(), *after])


def _word(view: TokenView, token: int) -> str:
    start, end = int(view.starts[token]), int(view.ends[token])
    if start == end:
        is_start = token in view.sentences
        return SENTENCE_START if is_start else SENTENCE_END
    document = int(view.document_of(np.array([token]))[0])
    return view.texts[document][start:end].lower()
