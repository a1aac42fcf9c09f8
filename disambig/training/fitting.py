"""Fit a learner and check its result, and the protocols of resampling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.data import Columns, Group, convert, segments
from disambig.errors import UserError, contract_error
from disambig.models import LinearScorer, Model
from disambig.types import (
    CalibrationData,
    CandidateBatch,
    FeatureExtractor,
    FindsBest,
    FitsPath,
    Fitted,
    Learner,
    Scorer,
    Task,
    takes,
)

Progress = Callable[[str, int, int], None]


class FittedResampling(Protocol):
    """A plan whose extractors are fitted."""

    @property
    def extractors(self) -> tuple[FeatureExtractor, ...]:
        """Those of the model."""
        ...

    def shared(self, model: Model, learner: Learner, rng: np.random.Generator) -> Scorer | None:
        """Return what all groups share; None where the plan or the examples allow none."""
        ...

    def fit(
        self, model: Model, learner: Learner, group: int, rng: np.random.Generator
    ) -> tuple[Scorer | None, dict[str, Any]]:
        """Return a group's scorer and its report; None where there is too little to learn from."""
        ...

    def material(self, model: Model, rng: np.random.Generator) -> CalibrationData:
        """Return what the judge is fitted to: examples that their scorers did not learn from."""
        ...

    def provenance(self, model: Model) -> dict[str, Any]:
        """Return what is to be said of the examples, as plain values."""
        ...


@runtime_checkable
class HasTrialScores(Protocol):
    """A plan whose extractors are fitted, and that can tell how good they are before anything is taken."""

    def hits(self, task: Task, learner: Learner, baseline: Learner) -> NDArray[np.bool_]:
        """Return which examples are decided right by scorers that did not see them."""
        ...

    def with_tuned(self, learner: Learner) -> Learner:
        """Return a learner with what it leaves open as it came out in the fits so far."""
        ...


@runtime_checkable
class FitsFolds(Protocol):
    """A learner that learns from all examples, and from all but each fold, in one go: sooner than in turn."""

    def fit_folds(
        self, batch: CandidateBatch, folds: NDArray[np.int64]
    ) -> tuple[Fitted, NDArray[np.float64]] | None:
        """Return what was found on all instances, and the score of each row by what did not see its fold.

        None where a batch is learned from in turn: `fit` is called then. `folds`, shape (n,), are numbers
        from 0 on, two of them at least. A setting left open is the one by which most instances are decided
        right by what did not see them.
        """
        ...


class Resampling(Protocol):
    """Held-out examples (`held_out`) or folds of all of them (`folds`)."""

    def prepare(self, parts: dict[str, Any], tell: Progress) -> FittedResampling:
        """Fit the extractors of a resolved config."""
        ...


EMPTY_CANDIDATE = ""


def balanced_sample(
    rows: NDArray[np.int64],
    observed: NDArray[np.int32],
    group: Group,
    *,
    most: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return a sample of at most `most` rows in which empty places are no more than the others.

    Parameters
    ----------
    rows : array of int64, shape (n,)
        All instances of the group.
    observed : array of int32, shape (n,)
        What stands at each.
    """
    empty = observed == group.candidates.index(EMPTY_CANDIDATE)
    others, empties = rows[~empty], rows[empty]
    room = max(most // 2, most - len(empties))
    if len(others) > room:
        others = rng.choice(others, room, replace=False)
    n = min(len(empties), max(len(others), 1), most - len(others))
    return np.sort(np.concatenate([others, rng.choice(empties, n, replace=False)]))


def bias_column(columns: Columns, group: Group) -> int | None:
    """Return the column that adds to the zero candidate's score whatever the place; None without one."""
    if EMPTY_CANDIDATE not in group.candidates or "bias" not in columns.group_names:
        return None
    bias = columns.groups == columns.group_names.index("bias")
    found = np.flatnonzero(bias & (columns.labels == group.candidates.index(EMPTY_CANDIDATE)))
    return int(found[0]) if len(found) else None


def restore_bias(
    scorer: LinearScorer, column: int, scores: NDArray[np.float64], gold: NDArray[np.int32], group: Group
) -> tuple[Scorer, float]:
    """Return a scorer whose zero candidate wins as often as is right, and the constant that was added.

    Parameters
    ----------
    column : int
        Of the zero candidate's bias, whose value is one everywhere.
    scores : array of float64, shape (n, K)
        Of development instances at their true rate.
    gold : array of int32, shape (n,)
    """
    zero = group.candidates.index(EMPTY_CANDIDATE)
    rivals = np.delete(np.arange(scores.shape[1]), zero)
    best = rivals[scores[:, rivals].argmax(axis=1)]
    needed = scores[np.arange(len(scores)), best] - scores[:, zero]
    order = np.argsort(needed, kind="stable")
    # right answers where the first i places, in the order of what they need, are left empty
    gained = np.concatenate([[0], np.cumsum((gold == zero)[order])])
    kept = np.concatenate([[0], np.cumsum((gold == best)[order])])
    right = gained + kept[-1] - kept
    ordered = needed[order]
    ends = np.concatenate([[ordered[0] - 1.0], ordered, [ordered[-1] + 1.0]])
    middles = (ends[:-1] + ends[1:]) / 2
    possible = ends[:-1] < ends[1:]  # places that need the same are decided alike
    top = np.flatnonzero(possible & (right == right[possible].max()))
    shift = float(middles[top[np.abs(middles[top]).argmin()]])
    weights = scorer.weights.copy()
    weights[column] += shift
    return replace(scorer, weights=weights), shift


_LOOKED_AT = 100
"""Instances whose scores are looked at."""


def fit(
    learner: Learner,
    batch: CandidateBatch,
    *,
    dev: CandidateBatch | None = None,
    rng: np.random.Generator | None = None,
    part: str = "",
    step: str | None = None,
) -> Fitted:
    """Return what a learner found, in order.

    Parameters
    ----------
    learner : Learner
        One that `FitsPath` gives a scorer a step, of which that of least mean cost on `dev` is taken, the
        first of equals; without development data the last. The report then has ``path``, a list of ``step``
        and ``dev_cost``, and ``chosen``.
    batch, dev : CandidateBatch
        As the extractors give them.
    part : str, optional
        What the learner is called in messages; by default by its class.
    step : str, optional
        Of a path, the step to take: chosen before, on folds. The last where the path has none of this name.

    Raises
    ------
    UserError
        D414 where the learner, or its scorer, breaks the contract; D459 for examples that have no form that
        the learner takes; and what the learner raises.
    """
    part = part or f"the learner {type(learner).__name__}"
    examples = to_accepted_storage(learner, batch, part=part)
    development = None if dev is None else to_accepted_storage(learner, dev, part=part)
    if isinstance(learner, FitsPath):
        return _fit_path(learner, examples, batch, dev, rng, part, step)
    fitted = learner.fit(examples, dev=development, rng=rng)
    check_fitted(fitted, _sample_rows(batch if dev is None or not _n(dev) else dev), part=part)
    return fitted


def fit_folds(
    learner: FitsFolds, batch: CandidateBatch, folds: NDArray[np.int64]
) -> tuple[Fitted, NDArray[np.float64]] | None:
    """Return what a learner found on all examples, and the scores of each fold by what did not see it.

    None where it is to learn in turn.

    Raises
    ------
    UserError
        As `fit`.
    """
    part = f"the learner {type(learner).__name__}"
    found = learner.fit_folds(to_accepted_storage(learner, batch, part=part), folds)  # type: ignore[arg-type]
    if found is None:
        return None
    if not (isinstance(found, tuple) and len(found) == 2):
        wanted = "(Fitted(scorer, report), scores), or None"
        raise contract_error(part, f"fit_folds gave {_shown(found)}", wanted)
    fitted, scores = found
    check_fitted(fitted, _sample_rows(batch), part=part)
    check_scores(scores, batch, part=f"fit_folds of {part}")
    return fitted, scores


def to_accepted_storage(learner: Learner, batch: CandidateBatch, *, part: str = "") -> CandidateBatch:
    """Return a batch in the best storage that a learner takes: its own, if that is one of these.

    Raises
    ------
    UserError
        D414 where `takes` is no tuple of classes; D459 for a batch that has no such form.
    """
    part = part or f"the learner {type(learner).__name__}"
    storages: Any = takes(learner)
    if not all(isinstance(storage, type) for storage in storages):
        raise contract_error(part, f"takes is {storages!r}", "a tuple of classes, such as (SparseRows,)")
    if not callable(getattr(learner, "fit", None)):
        raise contract_error(part, "it has no method fit", "fit(batch, *, dev, rng) -> Fitted")
    if not callable(getattr(learner, "from_state", None)):
        raise contract_error(
            part, "it has no method from_state", "from_state(arrays), which rebuilds a saved scorer"
        )
    taken: CandidateBatch = convert(batch, *storages) if storages else batch
    return taken


def check_fitted(fitted: object, batch: CandidateBatch, *, part: str) -> None:
    """Refuse what is no `Fitted` whose scorer gives one finite number for each row of a batch.

    Raises
    ------
    UserError
        D414, which names the part, what it gave and what the contract is.
    """
    if not isinstance(fitted, Fitted):
        raise contract_error(part, f"fit gave {_shown(fitted)}", "Fitted(scorer, report)")
    of_scorer = f"the scorer {type(fitted.scorer).__name__} of {part}"
    for method, contract in (("scores", "scores(batch), one number a row"), ("state", "state(), its arrays")):
        if not callable(getattr(fitted.scorer, method, None)):
            raise contract_error(of_scorer, f"it has no method {method}", contract)
    try:
        scores = fitted.scorer.scores(batch)
    except (TypeError, ValueError, LookupError) as problem:
        if isinstance(problem, UserError):
            raise
        raise contract_error(
            of_scorer, f"scores raised {problem!r}", "one number for each row of a batch"
        ) from problem
    check_scores(scores, batch, part=of_scorer)
    state = fitted.scorer.state()
    for name, array in state.items() if hasattr(state, "items") else [("", state)]:
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
            gave = f"state gave {_shown(array)}" + (f" under {name!r}" if name else "")
            raise contract_error(of_scorer, gave, "arrays of numbers by name")
    if not isinstance(fitted.report, dict):
        raise contract_error(part, f"its report is {_shown(fitted.report)}", "a dict")
    for key, value in fitted.report.items():
        if not isinstance(key, str) or not _plain(value):
            raise contract_error(
                part, f"its report has {_shown(value)} under {key!r}", "plain values, as in JSON"
            )


def check_scores(scores: object, batch: CandidateBatch, *, part: str) -> None:
    """Refuse what is not one finite float for each row of a batch (D414)."""
    n, wanted = len(batch.cost), f"one finite float for each of {len(batch.cost):,} rows"
    if not isinstance(scores, np.ndarray):
        raise contract_error(part, f"scores gave {_shown(scores)}", wanted)
    if scores.shape != (n,):
        raise contract_error(part, f"scores gave an array of shape {scores.shape}", wanted)
    if scores.dtype.kind != "f":
        raise contract_error(part, f"scores gave an array of {scores.dtype}", wanted)
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        raise contract_error(
            part, f"{len(bad):,} scores are {scores[bad[0]]}, the first of row {bad[0]:,}", wanted
        )


def mean_cost(scorer: Scorer, batch: CandidateBatch) -> float:
    """Return what a scorer's best candidates cost, on average."""
    if isinstance(scorer, FindsBest):
        best = np.asarray(scorer.best(batch))
    else:
        best = segments.argmax(np.asarray(scorer.scores(batch)), batch.offsets)
    return float(np.mean(batch.cost[batch.offsets[:-1] + best], dtype=np.float64))


def _fit_path(
    learner: FitsPath,
    examples: CandidateBatch,
    batch: CandidateBatch,
    dev: CandidateBatch | None,
    rng: np.random.Generator | None,
    part: str,
    wanted: str | None,
) -> Fitted:
    path: list[dict[str, Any]] = []
    chosen: tuple[float, str, Fitted] | None = None
    for step in learner.fit_path(examples, rng=rng):
        if not (isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str)):
            raise contract_error(part, f"fit_path gave {_shown(step)}", "pairs of a name and a Fitted")
        name, fitted = step
        tried = dev is not None and _n(dev) > 0
        given = dev if dev is not None and tried else batch
        check_fitted(fitted, _sample_rows(given), part=f"{part}, step {name},")
        cost = mean_cost(fitted.scorer, dev) if dev is not None and tried else None
        path.append({"step": name, "dev_cost": cost})
        if wanted is not None:
            better = chosen is None or chosen[1] != wanted
        else:
            better = chosen is None or cost is None or cost < chosen[0]
        if better:
            chosen = (0.0 if cost is None else cost), name, fitted
    if chosen is None:
        raise contract_error(part, "fit_path gave nothing", "one step at least")
    _, name, fitted = chosen
    return Fitted(fitted.scorer, {**fitted.report, "path": path, "chosen": name})


def _sample_rows(batch: CandidateBatch) -> CandidateBatch:
    """Return a few of the instances: what is wrong with scores is seen in any."""
    return batch.take(np.arange(min(_n(batch), _LOOKED_AT)))


def _n(batch: CandidateBatch) -> int:
    return len(batch.offsets) - 1


def _shown(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return "None" if value is None else f"a {type(value).__name__}"


def _plain(value: object) -> bool:
    """Tell whether a value can be written as JSON."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(_plain(item) for item in value)
    return value is None or type(value) in (str, int, float, bool)
