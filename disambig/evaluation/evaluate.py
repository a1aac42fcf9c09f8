"""How good a model is on text that it has not seen: accuracy, false alarms, made errors found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.decisions import Decisions
from disambig.evaluation.intervals import mean_interval, wilson
from disambig.evaluation.substitution import substitute
from disambig.model.model import Model
from disambig.text.documents import view_of_texts
from disambig.text.view import TokenView

ROUNDS = 4
SHARE = 0.05
"""Errors are made in several rounds, in one instance of twenty each, so that few meet in a context."""


def evaluate(
    model: Model,
    texts: Sequence[str],
    *,
    rates: Sequence[float] = (0.3, 1.0, 4.0),
    seed: int = 0,
    groups: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Score a model on text whose words are taken as right.

    Parameters
    ----------
    model : Model
    texts : sequence of str
        Documents that took no part in training, tuning or counting.
    rates : sequence of float
        Operating points, in flags per 1,000 correct words.
    groups : sequence of str, optional
        Report the mean over these groups only.

    Returns
    -------
    dict
        ``words``, ``decisions``; ``accuracy`` pooled (with a Wilson interval); ``mean_accuracy`` over
        groups (with a bootstrap interval); ``groups`` with each group's figures; ``rates``: for each
        operating point the false alarms measured and the share of made errors found.
        Accuracy is over all instances, protected ones included; flags leave these alone.
    """
    view = view_of_texts(texts, model.tokenisation, protected=True)
    open_view = TokenView(
        view.tokenisation, view.texts, view.hashes, view.starts, view.ends, view.sentences, view.documents
    )
    words = int(np.count_nonzero(view.ends > view.starts))
    decided = model.decide(open_view)
    wanted = set(groups) if groups is not None else None
    figures: dict[str, Any] = {"words": words, "decisions": len(decided)}
    figures |= _accuracy(decided, wanted)
    figures["rates"] = {f"{rate:g}": _at_rate(model, view, words, rate, seed, wanted) for rate in rates}
    return figures


def _accuracy(decided: Decisions, wanted: set[str] | None) -> dict[str, Any]:
    right = decided.chosen == decided.observed
    by_group: dict[str, Any] = {}
    hits = []
    for g, group in enumerate(decided.table):
        mine = right[decided.groups == g]
        if len(mine) == 0 or (wanted is not None and group.name not in wanted):
            continue
        hits.append(mine)
        most = np.bincount(decided.observed[decided.groups == g]).max()
        by_group[group.name] = {
            "n": len(mine),
            "majority": float(most / len(mine)),
            "accuracy": float(mine.mean()),
            "interval": wilson(int(mine.sum()), len(mine)),
        }
    if not hits:
        return {"accuracy": None, "mean_accuracy": None, "groups": {}}
    pooled = np.concatenate(hits)
    return {
        "accuracy": float(pooled.mean()),
        "interval": wilson(int(pooled.sum()), len(pooled)),
        "mean_accuracy": float(np.mean([h.mean() for h in hits])),
        "mean_interval": mean_interval([(int(h.sum()), len(h)) for h in hits]),
        "groups": by_group,
    }


def _at_rate(
    model: Model, view: TokenView, words: int, rate: float, seed: int, wanted: set[str] | None
) -> dict[str, Any]:
    """Count false alarms on the text as it is, and made errors found in it."""
    rng = np.random.default_rng(seed)
    plain = model.decide(view, flags_per_1000=rate)
    instances = model.instances(view)
    made, found, mended = [], [], []
    for _ in range(ROUNDS):
        errors = substitute(view, instances, model.task.groups, share=SHARE, rng=rng)
        decided = model.decide(errors.view, flags_per_1000=rate)
        at = _matching(decided, view, instances.positions[errors.rows], instances.groups[errors.rows])
        hit = (at >= 0) & decided.flagged[np.maximum(at, 0)] if len(decided) else np.zeros(len(at), bool)
        made.append(instances.groups[errors.rows])
        found.append(hit)
        truth = instances.observed[errors.rows]
        mended.append(hit & (decided.chosen[np.maximum(at, 0)] == truth) if len(decided) else hit)
    group_of, hits, fixed = np.concatenate(made), np.concatenate(found), np.concatenate(mended)
    per_group = {
        group.name: float(hits[group_of == g].mean())
        for g, group in enumerate(model.task.groups)
        if (group_of == g).any() and (wanted is None or group.name in wanted)
    }
    return {
        "false_flags": int(plain.flagged.sum()),
        "false_flags_per_1000": float(plain.flagged.sum() / max(words, 1) * 1000),
        "errors_made": len(hits),
        "errors_found": float(hits.mean()) if len(hits) else None,
        "errors_found_interval": wilson(int(hits.sum()), len(hits)),
        "errors_mended": float(fixed.mean()) if len(hits) else None,
        "mean_found_over_groups": float(np.mean(list(per_group.values()))) if per_group else None,
        "groups": per_group,
    }


def _matching(
    decided: Decisions, view: TokenView, positions: NDArray[np.int64], groups: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return the decision at each position and group, -1 where none was taken there."""
    document = view.document_of(positions)
    wanted = _key(document, view.starts[positions], groups)
    present = _key(decided.documents, decided.starts, decided.groups)
    order = np.argsort(present)
    at = np.minimum(np.searchsorted(present[order], wanted), max(len(present) - 1, 0))
    if not len(present):
        return np.full(len(wanted), -1, np.int64)
    return np.where(present[order][at] == wanted, order[at], -1)


def _key(
    document: NDArray[np.integer], start: NDArray[np.integer], group: NDArray[np.integer]
) -> NDArray[np.uint64]:
    return (
        (document.astype(np.uint64) << np.uint64(42))
        ^ (start.astype(np.uint64) << np.uint64(11))
        ^ group.astype(np.uint64)
    )
