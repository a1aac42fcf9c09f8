"""How good a model is on text that it has not seen: accuracy, false alarms, made errors found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.decisions import Decisions
from disambig.data.instances import Instances
from disambig.errors import UserError
from disambig.evaluation.called import most_frequent
from disambig.evaluation.rewriting import rewrite
from disambig.evaluation.substitution import Substituted, substitute
from disambig.fields import decides
from disambig.measures.intervals import mean_interval, wilson
from disambig.measures.reliability import of_choices
from disambig.model.model import Model
from disambig.text.documents import PROTECTED, view_of_texts
from disambig.text.view import TokenView
from disambig.types import Flags

FALSE_ALARM_SHARES = (0.005,)
"""Shares of right words flagged at which errors found are also reported, as spelling papers do."""
MOST_FLAGS = 1000.0
"""A rate beyond any: so low is the threshold at which flags are looked at."""
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
        ``documents``, ``words``, ``decisions``; ``accuracy`` pooled (with a Wilson interval);
        ``mean_accuracy`` over groups (with a bootstrap interval); ``groups`` with each group's figures;
        ``rates``: for each operating point the false alarms measured and the share of made errors found;
        ``false_alarm_shares``: the same where that share of the right candidates is flagged, the
        threshold set on this very text; ``reliability``: how far the probabilities of the chosen candidates
        can be believed (see `disambig.measures.reliability`), None for models that have none. A model whose
        judge flags nothing has no rates.
        Accuracy is over all instances, protected ones included; flags leave these alone.
    """
    judge = model.judge
    if decides(model.task).where == "items":
        raise UserError("D338", model=model.name)
    if decides(model.task).between == "labels":
        raise UserError("D463", task=model.task.name)
    view = view_of_texts(texts, model.tokenisation, protected=True)
    layers = {name: layer for name, layer in view.layers.items() if name != PROTECTED}
    open_view = replace(view, layers=layers)
    words = int(np.count_nonzero(view.ends > view.starts))
    decided = model.decide(open_view)
    decided = decided.take(np.flatnonzero(decided.observed >= 0))  # elsewhere nothing is known to be right
    wanted = set(groups) if groups is not None else None
    figures: dict[str, Any] = {"documents": len(texts), "words": words, "decisions": len(decided)}
    figures |= _accuracy(decided, wanted)
    figures["reliability"] = _reliability(model, decided, wanted)
    if not isinstance(judge, Flags):
        return figures | {"rates": {}, "false_alarm_shares": {}}
    trial = _Trial.of(model, view, seed=seed)
    figures["rates"] = {f"{rate:g}": trial.figures(model, judge.limit(rate), words, wanted) for rate in rates}
    figures["false_alarm_shares"] = {
        f"{share:g}": trial.figures(model, trial.limit(model, share, wanted), words, wanted)
        for share in FALSE_ALARM_SHARES
    }
    return figures


def _reliability(model: Model, decided: Decisions, wanted: set[str] | None) -> dict[str, Any] | None:
    if wanted is not None:
        inside = np.array([group.name in wanted for group in decided.table])
        decided = decided.take(np.flatnonzero(inside[decided.groups]))
    probabilities = model.candidate_probabilities(decided)
    if probabilities is None:
        return None
    return of_choices(probabilities, decided.offsets, decided.chosen, decided.observed)


def _accuracy(decided: Decisions, wanted: set[str] | None) -> dict[str, Any]:
    right = decided.chosen == decided.observed
    by_group: dict[str, Any] = {}
    hits = []
    for g, group in enumerate(decided.table):
        mine = right[decided.groups == g]
        if len(mine) == 0 or (wanted is not None and group.name not in wanted):
            continue
        hits.append(mine)
        part = decided.take(np.flatnonzero(decided.groups == g))
        commonest = most_frequent(part.places(), group) == part.observed
        by_group[group.name] = {
            "n": len(mine),
            "majority": float(commonest.mean()),
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


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """Flags on a text as it is, and on the same text with errors made in it.

    Attributes
    ----------
    groups, made_groups : arrays of int32
        Group of each decision on the text as it is, and of each made error.
    alarms, found : arrays of float32
        Probability of each decision that can be flagged, and of the decision at each made error; 0
        where no flag is possible.
    mended : array of bool
        Whether the right word is suggested at each made error.
    """

    groups: NDArray[np.int32]
    alarms: NDArray[np.float32]
    made_groups: NDArray[np.int32]
    found: NDArray[np.float32]
    mended: NDArray[np.bool_]

    @classmethod
    def of(cls, model: Model, view: TokenView, *, seed: int) -> _Trial:
        """Decide on the text, then on the text with errors, a twentieth of the words at a time."""
        rng = np.random.default_rng(seed)
        most = MOST_FLAGS
        plain = model.decide(view, flags_per_1000=most)
        instances = model.instances(view)
        groups, found, mended = [], [], []
        for _ in range(ROUNDS):
            errors = _errors(model, view, instances, rng)
            decided = model.decide(errors.view, flags_per_1000=most)
            group = instances.groups[errors.rows]
            at = _matching(decided, errors.documents, errors.starts, group)
            there = at >= 0
            hit = np.zeros(len(at), np.float32)
            hit[there] = (decided.probabilities * decided.flagged)[at[there]]
            right = np.zeros(len(at), bool)
            right[there] = _are_chosen(decided, at[there], instances.take(errors.rows[there]))
            groups.append(group)
            found.append(hit)
            mended.append(right)
        return cls(
            plain.groups,
            plain.probabilities * plain.flagged,
            np.concatenate(groups),
            np.concatenate(found),
            np.concatenate(mended),
        )

    def limit(self, model: Model, share: float, wanted: set[str] | None) -> float:
        """Return the probability above which that share of the right words is flagged."""
        falling = np.sort(self.alarms[self._of(self.groups, model, wanted)])[::-1]
        return float(falling[int(share * len(falling))]) if len(falling) else 1.0

    def figures(self, model: Model, limit: float, words: int, wanted: set[str] | None) -> dict[str, Any]:
        """Return false alarms and errors found where a flag needs a probability above `limit`."""
        alarms = self.alarms[self._of(self.groups, model, wanted)] > limit
        inside = self._of(self.made_groups, model, wanted)
        hits = self.found[inside] > limit
        mended = hits & self.mended[inside]
        made = self.made_groups[inside]
        by_group = {model.task.groups[g].name: float(hits[made == g].mean()) for g in np.unique(made)}
        return {
            "false_flags": int(alarms.sum()),
            "false_flags_per_1000": float(alarms.sum() / max(words, 1) * 1000),
            "errors_made": len(hits),
            "errors_found": float(hits.mean()) if len(hits) else None,
            "errors_found_interval": wilson(int(hits.sum()), len(hits)),
            "errors_mended": float(mended.mean()) if len(hits) else None,
            "mean_found_over_groups": float(np.mean(list(by_group.values()))) if by_group else None,
            "groups": by_group,
        }

    def _of(self, groups: NDArray[np.int32], model: Model, wanted: set[str] | None) -> NDArray[np.bool_]:
        if wanted is None:
            return np.ones(len(groups), bool)
        return np.array([group.name in wanted for group in model.task.groups])[groups]


def _errors(model: Model, view: TokenView, instances: Instances, rng: np.random.Generator) -> Substituted:
    if instances.own is not None:
        return rewrite(view, instances, model.tokenisation, share=SHARE, rng=rng)
    return substitute(view, instances, model.task.groups, share=SHARE, rng=rng)


def _are_chosen(decided: Decisions, at: NDArray[np.int64], right: Instances) -> NDArray[np.bool_]:
    """Tell which decisions chose what was observed in some instances, whose lists may have been others."""
    chosen, own = decided.chosen[at], decided.own
    if own is None or right.own is None:
        return np.asarray(chosen == right.observed)
    taken, wanted = own.offsets[at] + chosen, right.own.offsets[:-1] + right.observed
    pairs = zip(taken.tolist(), wanted.tolist(), strict=True)
    return np.array([own.texts[one] == right.own.texts[other] for one, other in pairs], bool)


def _matching(
    decided: Decisions,
    documents: NDArray[np.int64],
    starts: NDArray[np.int32],
    groups: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Return the decision at each place and of each group, -1 where none was taken there."""
    wanted = _key(documents, starts, groups)
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
