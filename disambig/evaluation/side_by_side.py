"""Compare several systems on one test set: the same instances, the same synthetic errors.

`evaluate` scores one model as it would be used; here every system decides the same instances, so that systems
can be compared instance by instance. Thresholds are set on other text.

All systems decide between the candidates of the test set. A model with further candidates, such as no word at
all (``""``), is restricted to these. If ``""`` is a candidate of the test set, empty places are decided too,
but synthetic errors only replace words by words: none is removed and none inserted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Instances, ScoreBatch
from disambig.evaluation.unseen_text import ERROR_SHARE, ROUNDS, substitute
from disambig.features import CandidateHashes
from disambig.models import BLOCK, Model
from disambig.text import Tokenisation, TokenView, view_of_texts
from disambig.type_aliases import Bools, Floats
from disambig.types import DecisionRule, RaisesFlags, Task

_UNLIMITED = float("inf")
"""The rate at which a decision rule raises every flag that it can."""


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticErrors:
    """One round of synthetic errors: a view with wrong words in it, and their instances."""

    view: TokenView
    rows: NDArray[np.int64]  # (m,): the instances of the test set that were changed
    instances: Instances  # the changed instances; the wrong candidate is the observed one
    # bool (m,): whether the task still finds an instance there; otherwise no system can find the error
    seen: Bools


@dataclass(frozen=True, slots=True, eq=False)
class SharedTestSet:
    """Instances and synthetic errors on which systems are compared.

    Attributes
    ----------
    task : Task
    view : TokenView
    instances : Instances
        All instances, protected ones included, in text order.
    parts : array of int32, shape (n,)
        The part of the text (a domain) of each instance, as an index into `names`.
    names : tuple of str
    shielded : array of bool, shape (n,)
        Whether the instance is a protected word, which is decided but never flagged.
    errors : tuple of SyntheticErrors
    """

    task: Task
    view: TokenView
    instances: Instances
    parts: NDArray[np.int32]
    names: tuple[str, ...]
    shielded: Bools
    errors: tuple[SyntheticErrors, ...]

    @classmethod
    def from_texts(
        cls,
        task: Task,
        texts: Mapping[str, Sequence[str]],
        tokenisation: Tokenisation,
        *,
        groups: Sequence[str] | None = None,
    ) -> SharedTestSet:
        """Find the instances in some parts of text, and make synthetic errors in them.

        Parameters
        ----------
        texts : mapping of str to sequence of str
            The documents of each part, by its name.
        groups : sequence of str, optional
            The groups whose instances are kept.
        """
        view = view_of_texts([text for part in texts.values() for text in part], tokenisation, protected=True)
        protected = view.layers["protected"].astype(bool)
        # Without the layer, the task finds protected instances too: accuracy is measured on all of them, and
        # each system must decide the same ones.
        view = replace(view, layers={})
        instances = task.instances(view)
        if groups is not None:
            wanted = [g for g, group in enumerate(task.groups) if group.name in groups]
            instances = instances.take(np.isin(instances.groups, wanted))
        last = instances.positions + instances.lengths - 1
        shielded = protected[instances.positions] | protected[last]
        part_numbers = np.repeat(
            np.arange(len(texts), dtype=np.int32), [len(part) for part in texts.values()]
        )
        return cls(
            task,
            view,
            instances,
            part_numbers[view.document_indices(instances.positions)],
            tuple(texts),
            shielded,
            tuple(_errors(task, view, instances, np.flatnonzero(~shielded))),
        )


def _errors(
    task: Task, view: TokenView, instances: Instances, free: NDArray[np.int64]
) -> list[SyntheticErrors]:
    """Return rounds of synthetic errors: each replaces some of the `free` instances by other candidates."""
    rng = np.random.default_rng(0)
    rounds = []
    for _ in range(ROUNDS):
        errors = substitute(view, instances.take(free), task.groups, share=ERROR_SHARE, rng=rng)
        rows = free[errors.rows]
        changed = instances.take(rows)
        lengths = changed.lengths.copy()
        for g in np.unique(changed.groups):
            in_group = changed.groups == g
            candidates = CandidateHashes.from_group(task.groups[g])
            lengths[in_group] = candidates.lengths[errors.substituted[in_group]]
        # an error may remove an instance, for example if the wrong word joins a longer candidate
        remaining = task.instances(errors.view)
        n = len(task.groups)
        seen = np.isin(changed.positions * n + changed.groups, remaining.positions * n + remaining.groups)
        changed = replace(changed, lengths=lengths, observed=errors.substituted)
        rounds.append(SyntheticErrors(errors.view, rows, changed, seen))
    return rounds


@dataclass(frozen=True, slots=True, eq=False)
class SystemDecisions:
    """The decisions of one system on a test set.

    Attributes
    ----------
    chosen : array of int32, shape (n,)
        The candidate with the best score, whatever is observed.
    right : array of bool, shape (n,)
        Whether that is the observed candidate.
    odds : array of float64, shape (n,)
        Log-odds of a flag at each correct word, from the probability of the decision rule; minus infinity if
        no flag is possible.
    margins : array of float64, shape (n,)
        Score of the proposed candidate minus that of the observed one; minus infinity as for `odds`.
    rows : array of int64, shape (m,)
        The instance of each synthetic error of all rounds.
    error_odds, error_margins : arrays of float64, shape (m,)
        The same for the flag at each synthetic error.
    """

    chosen: NDArray[np.int32]
    right: Bools
    odds: Floats
    margins: Floats
    rows: NDArray[np.int64]
    error_odds: Floats
    error_margins: Floats


def judge(model: Model, test_set: SharedTestSet) -> SystemDecisions:
    """Decide every instance and every synthetic error; groups and candidates are matched by name.

    Raises
    ------
    TypeError
        For a model whose decision rule raises no flags.
    ValueError
        If the model lacks a group, or a candidate of one.
    """
    if not isinstance(model.judge, RaisesFlags):
        raise TypeError(
            f"{model.name} does not correct words: its rule {type(model.judge).__name__} raises no flags"
        )
    chosen, odds, margins = _decide_instances(model, test_set.task, test_set.view, test_set.instances)
    odds[test_set.shielded] = margins[test_set.shielded] = -np.inf
    tested = [
        _decide_instances(model, test_set.task, errors.view, errors.instances) for errors in test_set.errors
    ]
    truth = test_set.instances.observed
    rows = np.concatenate([errors.rows for errors in test_set.errors])
    seen = np.concatenate([errors.seen for errors in test_set.errors])
    _, error_odds, error_margins = (np.concatenate(column) for column in zip(*tested, strict=True))
    error_odds[~seen] = error_margins[~seen] = -np.inf
    right = chosen == truth
    return SystemDecisions(chosen, right, odds, margins, rows, error_odds, error_margins)


def _decide_instances(
    model: Model, task: Task, view: TokenView, instances: Instances
) -> tuple[NDArray[np.int32], Floats, Floats]:
    """Return the chosen candidates, and log-odds and margins of the flags, each of shape (n,)."""
    n = len(instances)
    chosen, odds, margins = np.zeros(n, np.int32), np.full(n, -np.inf), np.full(n, -np.inf)
    for g in np.unique(instances.groups).tolist():
        group = task.groups[g]
        model_group, candidate_indices = _known_candidates(model, group)
        rows_of_group = np.flatnonzero(instances.groups == g)
        for rows in np.split(rows_of_group, range(BLOCK, len(rows_of_group), BLOCK)):
            part = instances.take(rows)
            renumbered = replace(part, observed=candidate_indices[part.observed].astype(np.int32))
            scored = model.scored(
                model.features(view, renumbered, model_group), renumbered, model_group, view
            )
            chosen[rows], odds[rows], margins[rows] = _flags(
                model.judge, _restrict_scores(scored, group, candidate_indices, part.observed)
            )
    return chosen, odds, margins


def _known_candidates(model: Model, group: Group) -> tuple[int, NDArray[np.int64]]:
    """Return the number of a group in a model, and the index of each of its candidates there."""
    for number, model_group in enumerate(model.task.groups):
        if model_group.name == group.name and set(group.candidates) <= set(model_group.candidates):
            return number, np.array([model_group.candidates.index(one) for one in group.candidates])
    raise ValueError(f"{model.name} does not decide {group.name!r} between {group.candidates}")


def _restrict_scores(
    scored: ScoreBatch, group: Group, candidate_indices: NDArray[np.int64], observed: NDArray[np.int32]
) -> ScoreBatch:
    """Return the scores restricted to the candidates of `group`, given their indices in the scored group."""
    n, k = len(observed), len(candidate_indices)

    def restrict(values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape(n, -1)[:, candidate_indices].ravel()

    return replace(
        scored,
        groups=(group,),
        offsets=np.arange(n + 1, dtype=np.int64) * k,
        scores=restrict(scored.scores),
        observed=observed,
        found=restrict(scored.found),
        asked=restrict(scored.asked),
        cost=restrict(scored.cost),
    )


def _flags(judge: DecisionRule, scored: ScoreBatch) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return the best candidate of each instance, and log-odds and margin of its flag, each of shape (n,)."""
    n = len(scored.observed)
    scores, rows = scored.scores.reshape(n, -1), np.arange(n)
    predictions = judge.judge(scored, flags_per_1000=_UNLIMITED)
    with np.errstate(divide="ignore"):
        # log-odds, since probabilities close to one are equal in floating point and could not be ordered
        odds = np.log(predictions.probabilities) - np.log1p(-predictions.probabilities)
    margins = scores[rows, predictions.chosen] - scores[rows, scored.observed]
    return (
        scores.argmax(axis=1),
        np.where(predictions.flagged, odds, -np.inf),
        np.where(predictions.flagged, margins, -np.inf),
    )


def limits(test_set: SharedTestSet, flags: Floats, share: float, *, by_group: bool = False) -> Floats:
    """Return the limit above which the given share of correct words is flagged, shape ``(n_groups,)``.

    Parameters
    ----------
    flags : array of float64, shape (n,)
        `SystemDecisions.odds` or `SystemDecisions.margins` on `test_set`, which should be development text.
    by_group : bool
        Whether each group has its own limit.
    """
    groups, free = test_set.instances.groups, ~test_set.shielded

    def limit(values: Floats) -> float:
        descending = np.sort(values)[::-1]
        return float(descending[int(share * len(descending))]) if len(descending) else np.inf

    n = len(test_set.task.groups)
    if not by_group:
        return np.full(n, limit(flags[free]))
    return np.array([limit(flags[free & (groups == g)]) for g in range(n)])


def flagged(test_set: SharedTestSet, flags: Floats, rows: NDArray[np.int64] | None, limit: Floats) -> Bools:
    """Return which `flags` exceed the limit of their group; `rows` are their instances (None: all)."""
    groups = test_set.instances.groups if rows is None else test_set.instances.groups[rows]
    return flags > limit[groups]
