"""Accuracy, precision and recall of decisions, per group and overall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Instances, segments
from disambig.metrics import wilson
from disambig.type_aliases import Floats, Ints


def number_candidates(instances: Instances, group: Group) -> tuple[Sequence[str], Ints]:
    """Return the distinct candidate names of a group's instances, and the number of each candidate's name.

    Returns
    -------
    names : sequence of str
        The distinct names.
    numbers : array of int64, shape (n_candidates,)
    """
    if instances.own is None:
        return group.candidates, np.tile(np.arange(len(group.candidates)), len(instances))
    ids: dict[str, int] = {}
    texts = instances.own.texts
    numbers = np.fromiter((ids.setdefault(text, len(ids)) for text in texts), np.int64, len(texts))
    return list(ids), numbers


def most_frequent_candidates(
    instances: Instances,
    group: Group,
    *,
    right: NDArray[np.bool_] | None = None,
    seen: Instances | None = None,
) -> Ints:
    """Return for each instance the candidate that is right most often; the first if there are several.

    Observed per-instance candidates that are right only once are not counted: many lists occur once, and
    would always be decided rightly.

    Parameters
    ----------
    instances : Instances
        Instances of `group`.
    right : array of bool, shape (n_candidates,), optional
        Which candidates of the instances are right; by default the observed ones.
    seen : Instances, optional
        Instances in which right candidates are counted; by default `instances`.
    """
    names, numbers = number_candidates(instances, group)
    if seen is None:
        rows = _right(instances, group) if right is None else right
        counts = np.bincount(numbers[rows], minlength=len(names))
        if instances.own is not None and right is None:
            counts[counts == 1] = 0
    else:
        seen_names, seen_numbers = number_candidates(seen, group)
        frequencies = np.bincount(seen_numbers[_right(seen, group)], minlength=len(seen_names)).tolist()
        totals = dict(zip(seen_names, frequencies, strict=True))
        counts = np.array([totals.get(name, 0) for name in names], np.int64)
    return segments.argmax(counts[numbers].astype(np.float64), instances.offsets(group))


def _right(instances: Instances, group: Group) -> Ints:
    """Return the rows of the observed candidates."""
    labelled = instances.observed >= 0
    return instances.offsets(group)[:-1][labelled] + instances.observed[labelled]


MOST_CONFUSED = 5
"""Number of most frequent errors that are listed."""
MOST_NAMED = 20
"""Maximum number of per-instance candidates with their own figures: those that are right most often."""


def figures(
    instances: Instances, group: Group, gold: NDArray[np.int32], chosen: Ints, logits: Floats | None = None
) -> dict[str, Any]:
    """Return accuracy (with a Wilson interval), balanced accuracy, each candidate's precision, recall and F1.

    A choice of -1 is an abstention: it counts as wrong, and ``attempted`` is the share of the others.
    ``confusions`` are the most frequent errors. Groups with two candidates also have ``auc``, the area under
    the ROC curve of the second candidate's logit. Per-instance candidates are identified by their texts.

    Parameters
    ----------
    instances : Instances
        Instances of `group`.
    gold, chosen : arrays of int, shape (n,)
        Indices of candidates in the group, or in the list of each instance.
    logits : array of float64, shape (n, K), optional
    """
    n, n_right = len(gold), int((gold == chosen).sum())
    names, numbers = number_candidates(instances, group)
    first = instances.offsets(group)[:-1]
    gold_numbers = numbers[first + gold]
    chosen_numbers = np.where(chosen >= 0, numbers[first + np.maximum(chosen, 0)], -1)
    is_hit = gold_numbers == chosen_numbers
    n_gold, n_hits, n_chosen = (
        np.bincount(numbers, minlength=len(names))
        for numbers in (gold_numbers, gold_numbers[is_hit], chosen_numbers[chosen_numbers >= 0])
    )
    listed = range(len(names))
    if instances.own is not None:
        listed = np.argsort(-n_gold, kind="stable")[: min(MOST_NAMED, int((n_gold > 0).sum()))].tolist()
    result = {
        "n": n,
        "accuracy": n_right / n,
        "interval": wilson(n_right, n),
        "attempted": float((chosen >= 0).mean()),
        "balanced_accuracy": float(np.mean(n_hits[n_gold > 0] / n_gold[n_gold > 0])),
        "candidates": {names[c]: _rates(int(n_gold[c]), int(n_hits[c]), int(n_chosen[c])) for c in listed},
        "confusions": _confusions(names, gold_numbers, chosen_numbers),
    }
    if instances.own is None and logits is not None and logits.shape[1] == 2 and 0 < int(n_gold[1]) < n:
        from sklearn.metrics import roc_auc_score

        result["auc"] = float(roc_auc_score(gold == 1, logits[:, 1] - logits[:, 0]))
    return result


def overall(
    groups: Mapping[str, Mapping[str, Any]], unknown: int = 0, unknown_labels: int = 0
) -> dict[str, Any]:
    """Combine the `figures` of all groups: n, accuracy, its interval and the share attempted.

    Parameters
    ----------
    unknown : int
        Number of further examples, of words without a group, which count as not attempted.
    unknown_labels : int
        Number of further examples whose right candidate is in no group, so that each answer is wrong.
    """
    parts = list(groups.values())
    n = sum(part["n"] for part in parts) + unknown + unknown_labels
    n_right = round(sum(part["accuracy"] * part["n"] for part in parts))
    n_attempted = round(sum(part["attempted"] * part["n"] for part in parts))
    return {
        "n": n,
        "accuracy": n_right / n,
        "interval": wilson(n_right, n),
        "attempted": (n_attempted + unknown_labels) / n,
    }


def _rates(n_gold: int, n_hits: int, n_chosen: int) -> dict[str, Any]:
    return {
        "n": n_gold,
        "precision": n_hits / n_chosen if n_chosen else None,
        "recall": n_hits / n_gold if n_gold else None,
        "f1": 2 * n_hits / (n_chosen + n_gold) if n_chosen + n_gold else None,
    }


def _confusions(names: Sequence[str], gold: Ints, chosen: Ints) -> list[dict[str, Any]]:
    """Return the most frequent errors: the right candidate, the chosen one, and the count."""
    wrong = np.flatnonzero((gold != chosen) & (chosen >= 0))
    pairs, counts = np.unique(gold[wrong] * np.int64(len(names)) + chosen[wrong], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_CONFUSED]
    return [
        {"right": names[right], "chosen": names[wrong_choice], "n": int(n)}
        for pair, n in zip(pairs[order].tolist(), counts[order], strict=True)
        for right, wrong_choice in [divmod(pair, len(names))]
    ]
