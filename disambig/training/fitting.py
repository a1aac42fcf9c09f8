"""A learner is run: the storage that it takes, its path, and what came back, held against the contract.

A learner says which storages it learns from (`disambig.types.LearnerOptions.takes`); examples in another one
are converted. Scorers get batches as the extractors give them, for a scorer is rebuilt from its state alone
(`Learner.from_state`), which does not know what `fit` was given. Nothing has to be added to it: conversions
keep the columns, what flat weights mean, so `LinearScorer` and its like score either form, and those whose
weights mean something else (`CrossedRows` of class blocks) call `convert` themselves, as any scorer may.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import segments
from disambig.data.batches.conversions import convert
from disambig.errors import UserError, broken
from disambig.fields import takes
from disambig.training.plan import FitsFolds
from disambig.types import CandidateBatch, FindsBest, FitsPath, Fitted, Learner, Scorer

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
    examples = as_taken(learner, batch, part=part)
    development = None if dev is None else as_taken(learner, dev, part=part)
    if isinstance(learner, FitsPath):
        return _from_path(learner, examples, batch, dev, rng, part, step)
    fitted = learner.fit(examples, dev=development, rng=rng)
    check_fitted(fitted, _some(batch if dev is None or not _n(dev) else dev), part=part)
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
    found = learner.fit_folds(as_taken(learner, batch, part=part), folds)  # type: ignore[arg-type]
    if found is None:
        return None
    if not (isinstance(found, tuple) and len(found) == 2):
        wanted = "(Fitted(scorer, report), scores), or None"
        raise broken(part, f"fit_folds gave {_shown(found)}", wanted)
    fitted, scores = found
    check_fitted(fitted, _some(batch), part=part)
    check_scores(scores, batch, part=f"fit_folds of {part}")
    return fitted, scores


def as_taken(learner: Learner, batch: CandidateBatch, *, part: str = "") -> CandidateBatch:
    """Return a batch in the best storage that a learner takes: its own, if that is one of these.

    Raises
    ------
    UserError
        D414 where `takes` is no tuple of classes; D459 for a batch that has no such form.
    """
    part = part or f"the learner {type(learner).__name__}"
    storages: Any = takes(learner)
    if not all(isinstance(storage, type) for storage in storages):
        raise broken(part, f"takes is {storages!r}", "a tuple of classes, such as (SparseRows,)")
    if not callable(getattr(learner, "fit", None)):
        raise broken(part, "it has no method fit", "fit(batch, *, dev, rng) -> Fitted")
    if not callable(getattr(learner, "from_state", None)):
        raise broken(part, "it has no method from_state", "from_state(arrays), which rebuilds a saved scorer")
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
        raise broken(part, f"fit gave {_shown(fitted)}", "Fitted(scorer, report)")
    of_scorer = f"the scorer {type(fitted.scorer).__name__} of {part}"
    for method, contract in (("scores", "scores(batch), one number a row"), ("state", "state(), its arrays")):
        if not callable(getattr(fitted.scorer, method, None)):
            raise broken(of_scorer, f"it has no method {method}", contract)
    try:
        scores = fitted.scorer.scores(batch)
    except (TypeError, ValueError, LookupError) as problem:
        if isinstance(problem, UserError):
            raise
        raise broken(
            of_scorer, f"scores raised {problem!r}", "one number for each row of a batch"
        ) from problem
    check_scores(scores, batch, part=of_scorer)
    state = fitted.scorer.state()
    for name, array in state.items() if hasattr(state, "items") else [("", state)]:
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
            gave = f"state gave {_shown(array)}" + (f" under {name!r}" if name else "")
            raise broken(of_scorer, gave, "arrays of numbers by name")
    if not isinstance(fitted.report, dict):
        raise broken(part, f"its report is {_shown(fitted.report)}", "a dict")
    for key, value in fitted.report.items():
        if not isinstance(key, str) or not _plain(value):
            raise broken(part, f"its report has {_shown(value)} under {key!r}", "plain values, as in JSON")


def check_scores(scores: object, batch: CandidateBatch, *, part: str) -> None:
    """Refuse what is not one finite float for each row of a batch (D414)."""
    n, wanted = len(batch.cost), f"one finite float for each of {len(batch.cost):,} rows"
    if not isinstance(scores, np.ndarray):
        raise broken(part, f"scores gave {_shown(scores)}", wanted)
    if scores.shape != (n,):
        raise broken(part, f"scores gave an array of shape {scores.shape}", wanted)
    if scores.dtype.kind != "f":
        raise broken(part, f"scores gave an array of {scores.dtype}", wanted)
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        raise broken(part, f"{len(bad):,} scores are {scores[bad[0]]}, the first of row {bad[0]:,}", wanted)


def mean_cost(scorer: Scorer, batch: CandidateBatch) -> float:
    """Return what a scorer's best candidates cost, on average."""
    if isinstance(scorer, FindsBest):
        best = np.asarray(scorer.best(batch))
    else:
        best = segments.argmax(np.asarray(scorer.scores(batch)), batch.offsets)
    return float(np.mean(batch.cost[batch.offsets[:-1] + best], dtype=np.float64))


def _from_path(
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
            raise broken(part, f"fit_path gave {_shown(step)}", "pairs of a name and a Fitted")
        name, fitted = step
        tried = dev is not None and _n(dev) > 0
        given = dev if dev is not None and tried else batch
        check_fitted(fitted, _some(given), part=f"{part}, step {name},")
        cost = mean_cost(fitted.scorer, dev) if dev is not None and tried else None
        path.append({"step": name, "dev_cost": cost})
        if wanted is not None:
            better = chosen is None or chosen[1] != wanted
        else:
            better = chosen is None or cost is None or cost < chosen[0]
        if better:
            chosen = (0.0 if cost is None else cost), name, fitted
    if chosen is None:
        raise broken(part, "fit_path gave nothing", "one step at least")
    _, name, fitted = chosen
    return Fitted(fitted.scorer, {**fitted.report, "path": path, "chosen": name})


def _some(batch: CandidateBatch) -> CandidateBatch:
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
