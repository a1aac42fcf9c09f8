"""The objects of a resolved config; fitting a learner and checking its result; protocols of resampling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.config import resolve
from disambig.data import Columns, Group, convert, offsets_from_sizes, segments
from disambig.decision import check_decision_rule, check_error_corpus, check_fit, default_rule_config
from disambig.errors import UserError, check_call, contract_error, describe_value
from disambig.features import attributes, changed_attributes, check_same_numbers, restore_checked
from disambig.files import is_plain
from disambig.models import LinearScorer, Model, NoPreference
from disambig.registry import describe_component
from disambig.text import Tokenisation, check_tokens
from disambig.type_aliases import Progress
from disambig.types import (
    CalibrationData,
    CandidateBatch,
    Decides,
    DecisionRule,
    FeatureExtractor,
    FindsBest,
    Fitted,
    Learner,
    Scorer,
    SharesWeights,
    Task,
    accepts_own_labels,
    check_declarations,
    decides,
    needs_training,
    takes,
)


@dataclass(frozen=True, eq=False)
class ResolvedConfig:
    """The objects that a config describes; without a `judge`, the task's default decision rule is used."""

    task: Task
    tokenisation: Tokenisation
    extractors: Mapping[str, FeatureExtractor]
    learner: Learner
    baseline: Learner
    judge: DecisionRule | None = None

    @classmethod
    def from_parts(cls, parts: Parts) -> ResolvedConfig:
        """Return the parts that `disambig.config.resolve` built; a `ResolvedConfig` is returned unchanged.

        The sections ``[model]`` and ``[training]`` of a config, which describe no part, are ignored.

        Raises
        ------
        TypeError
            If a part is missing or unknown.
        UserError
            D414 if the task, the tokenisation or the decision rule declares something that its contract
            excludes.
        """
        if isinstance(parts, ResolvedConfig):
            return parts
        resolved = cls(**{name: part for name, part in parts.items() if name not in ("model", "training")})
        check_declarations(resolved.task)
        check_tokens(resolved.tokenisation)
        if resolved.judge is not None:
            check_fit(resolved.judge)
        return resolved

    @cached_property
    def decides(self) -> Decides:
        """What the task decides."""
        return decides(self.task)

    @cached_property
    def has_baseline(self) -> bool:
        """Whether the baseline prefers some candidates to others."""
        return not isinstance(self.baseline, NoPreference)

    def decision_rule(self, settings: Mapping[str, Any]) -> DecisionRule:
        """Return the decision rule, by default that of the task, with the settings that apply to it.

        These are the fields of its dataclass, such as ``flags_per_1000``; other settings are ignored.

        Raises
        ------
        UserError
            D422 if the decision rule is for other tasks.
        """
        judge: Any = self.judge or resolve({"judge": default_rule_config(self.task)})["judge"]
        check_decision_rule(judge, self.task)
        names = {field.name for field in fields(judge)}
        accepted = {name: value for name, value in settings.items() if name in names and value is not None}
        rule: DecisionRule = replace(judge, **accepted)
        return rule

    def with_error_rule(self, config: dict[str, Any]) -> tuple[ResolvedConfig, dict[str, Any]]:
        """Return parts and config; if they have no decision rule, add one that learns from mistakes.

        Raises
        ------
        UserError
            D427 for a task that does not correct words, D429 for a decision rule that does not learn from
            mistakes.
        """
        if self.judge is not None:
            check_error_corpus(self.judge, self.task)
            return self, config
        section = default_rule_config(self.task, mistakes=True)
        parts = replace(self, **resolve({"judge": section}))
        return parts.with_error_rule({**config, "judge": section})


Parts = Mapping[str, Any] | ResolvedConfig
"""What the public functions of training accept: the dict that `resolve` returns, or a `ResolvedConfig`."""


class FittedResampling(Protocol):
    """A resampling with fitted extractors."""

    @property
    def extractors(self) -> tuple[FeatureExtractor, ...]:
        """The fitted extractors of the model."""
        ...

    def shared(self, model: Model, learner: SharesWeights, rng: np.random.Generator) -> Scorer | None:
        """Return a scorer shared by all groups; None if the resampling or the examples do not allow one."""
        ...

    def fit(
        self, model: Model, learner: Learner, group: int, rng: np.random.Generator
    ) -> tuple[Scorer | None, dict[str, Any]]:
        """Return a group's scorer and report; the scorer is None if there are too few examples."""
        ...

    def calibration_data(self, model: Model, rng: np.random.Generator) -> CalibrationData:
        """Return the data for the decision rule: examples that their scorers did not learn from."""
        ...

    def provenance(self, model: Model) -> dict[str, Any]:
        """Return counts and warnings about the examples as plain values."""
        ...


@runtime_checkable
class FitsFolds(Protocol):
    """A learner that fits all examples, and the examples without each fold, in one pass, which is faster."""

    def fit_folds(
        self, batch: CandidateBatch, folds: NDArray[np.int64]
    ) -> tuple[Fitted, NDArray[np.float64]] | None:
        """Return the result of fitting all instances, and out-of-fold scores of each row.

        Return None to have `fit` called for each fold instead. `folds`, shape (n,), numbers the folds from 0;
        there are at least two. An open setting gets the value that decides most held-out instances correctly.
        """
        ...


class Resampling(Protocol):
    """A way to obtain held-out scores: held-out examples, or folds (see `disambig.training.resampling`)."""

    def prepare(self, parts: ResolvedConfig, progress: Progress) -> FittedResampling:
        """Fit the extractors of a resolved config."""
        ...


EMPTY_CANDIDATE = ""


def balanced_sample(
    rows: NDArray[np.int64],
    observed: NDArray[np.int32],
    group: Group,
    *,
    maximum: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return a sample of at most `maximum` rows in which empty places do not outnumber the others.

    `rows` (int64 (n,)): all instances of the group.
    `observed` (int32 (n,)): the candidate in the text at each.
    """
    empty = observed == group.candidates.index(EMPTY_CANDIDATE)
    others, empties = rows[~empty], rows[empty]
    n_others = max(maximum // 2, maximum - len(empties))
    if len(others) > n_others:
        others = rng.choice(others, n_others, replace=False)
    n = min(len(empties), max(len(others), 1), maximum - len(others))
    return np.sort(np.concatenate([others, rng.choice(empties, n, replace=False)]))


def bias_column(columns: Columns, group: Group) -> int | None:
    """Return the bias column of the empty candidate; None if there is none."""
    if EMPTY_CANDIDATE not in group.candidates or "bias" not in columns.group_names:
        return None
    bias = columns.groups == columns.group_names.index("bias")
    indices = np.flatnonzero(bias & (columns.labels == group.candidates.index(EMPTY_CANDIDATE)))
    return int(indices[0]) if len(indices) else None


def restore_bias(
    scorer: LinearScorer, column: int, scores: NDArray[np.float64], gold: NDArray[np.int32], group: Group
) -> tuple[Scorer, float]:
    """Shift the bias of the empty candidate so that most decisions are right; return scorer and shift.

    `column`: the bias column of the empty candidate, whose value is one everywhere.
    `scores` (float64 (n, K)): scores of development instances, with empty places at their true rate.
    `gold`: int32 (n,).
    """
    empty = group.candidates.index(EMPTY_CANDIDATE)
    rivals = np.delete(np.arange(scores.shape[1]), empty)
    best = rivals[scores[:, rivals].argmax(axis=1)]
    needed = scores[np.arange(len(scores)), best] - scores[:, empty]
    order = np.argsort(needed, kind="stable")
    # n_right[i]: correct decisions if the i places that need the smallest shift are left empty
    n_left_empty = offsets_from_sizes((gold == empty)[order])
    n_filled = offsets_from_sizes((gold == best)[order])
    n_right = n_left_empty + n_filled[-1] - n_filled
    ordered = needed[order]
    ends = np.concatenate([[ordered[0] - 1.0], ordered, [ordered[-1] + 1.0]])
    middles = (ends[:-1] + ends[1:]) / 2
    possible = ends[:-1] < ends[1:]  # no shift separates places that need the same one
    top = np.flatnonzero(possible & (n_right == n_right[possible].max()))
    # of equally good shifts the smallest one, which changes the fitted model least
    shift = float(middles[top[np.abs(middles[top]).argmin()]])
    weights = scorer.weights.copy()
    weights[column] += shift
    return replace(scorer, weights=weights), shift


_CHECKED = 100
"""Number of instances on which a scorer's contract is checked."""


def fit(
    learner: Learner,
    batch: CandidateBatch,
    *,
    dev: CandidateBatch | None = None,
    rng: np.random.Generator | None = None,
) -> Fitted:
    """Fit a learner and check its result; `batch` and `dev` are as the extractors return them.

    Raises D414 if the learner or its scorer breaks the contract; D459 if the examples cannot be converted to
    a storage that the learner accepts; and whatever the learner raises.
    """
    part = describe_component("learners", learner)
    examples = to_accepted_storage(learner, batch, part=part)
    development = None if dev is None else to_accepted_storage(learner, dev, part=part)
    before = attributes(learner)
    fitted = learner.fit(examples, dev=development, rng=rng)
    if changed := changed_attributes(learner, before):
        seen = f"fit changed the learner itself ({', '.join(changed)})"
        raise contract_error(part, seen, "what it learns in the scorer, and settings as they are")
    sample = _sample_rows(batch if dev is None or not _n_instances(dev) else dev)
    check_fitted(learner, fitted, sample, part=part)
    return fitted


def fit_folds(
    learner: FitsFolds, batch: CandidateBatch, folds: NDArray[np.int64]
) -> tuple[Fitted, NDArray[np.float64]] | None:
    """Fit a learner on all examples and return the result with out-of-fold scores.

    Return None if the learner prefers to be fitted for each fold separately.

    Raises the errors of `fit`.
    """
    part = describe_component("learners", learner)
    result = learner.fit_folds(to_accepted_storage(learner, batch, part=part), folds)  # type: ignore[arg-type]
    if result is None:
        return None
    if not (isinstance(result, tuple) and len(result) == 2):
        wanted = "(Fitted(scorer, report), scores), or None"
        raise contract_error(part, f"fit_folds gave {describe_value(result)}", wanted)
    fitted, scores = result
    check_fitted(learner, fitted, _sample_rows(batch), part=part)  # type: ignore[arg-type]
    check_scores(scores, batch, part=f"fit_folds of {part}")
    return fitted, scores


def to_accepted_storage(learner: Learner, batch: CandidateBatch, *, part: str = "") -> CandidateBatch:
    """Convert a batch to the best storage that a learner accepts; it stays as it is if that is accepted.

    Raises D414 if `takes` is not a tuple of classes; D459 if the batch cannot be converted.
    """
    part = part or describe_component("learners", learner)
    storages = takes(learner)
    if not callable(getattr(learner, "fit", None)):
        raise contract_error(part, "it has no method fit", "fit(batch, *, dev, rng) -> Fitted")
    if not callable(getattr(learner, "from_state", None)):
        wanted = "from_state(arrays), which rebuilds a saved scorer"
        raise contract_error(part, "it has no method from_state", wanted)
    check_call(part, learner, "fit", "fit(batch, *, dev=None, rng=None) -> Fitted", None, dev=None, rng=None)
    needs_training(learner)  # raises D414 for a value of another type
    if not storages:
        return batch
    try:
        converted: CandidateBatch = convert(batch, *storages, own_labels=accepts_own_labels(learner))
    except UserError as problem:
        if problem.code != "D459":
            raise
        wanted = f"{problem.values['wanted']} ({part.removeprefix('the learner ')})"
        raise UserError("D459", wanted=wanted, seen=problem.values["seen"]) from problem
    return converted


def check_fitted(learner: Learner, fitted: object, batch: CandidateBatch, *, part: str) -> None:
    """Raise unless `fitted` is a `Fitted` whose scorer gives one finite number for each row of a batch.

    The learner must also restore the scorer from its state, with the same scores.

    Raises D414, which names the learner, its result and the contract.
    """
    if not isinstance(fitted, Fitted):
        raise contract_error(part, f"fit gave {describe_value(fitted)}", "Fitted(scorer, report)")
    scorer_name = f"the scorer {type(fitted.scorer).__name__} of {part}"
    for method, contract in (("scores", "scores(batch), one number a row"), ("state", "state(), its arrays")):
        if not callable(getattr(fitted.scorer, method, None)):
            raise contract_error(scorer_name, f"it has no method {method}", contract)
    try:
        scores = fitted.scorer.scores(batch)
    except (AttributeError, TypeError, ValueError, LookupError) as problem:
        if isinstance(problem, UserError):
            raise
        wanted = "one number for each row of a batch"
        if (storages := takes(learner)) and not isinstance(batch, storages):
            wanted = f"one number for each row of {type(batch).__name__}: only examples for fit are converted"
        raise contract_error(scorer_name, f"scores raised {problem!r}", wanted) from problem
    check_scores(scores, batch, part=scorer_name)
    state = fitted.scorer.state()
    again = restore_checked(scorer_name, state, learner.from_state, lambda scorer: scorer.scores(batch))
    check_same_numbers(scorer_name, "scores", np.asarray(again), scores, state)
    if not isinstance(fitted.report, dict):
        raise contract_error(part, f"its report is {describe_value(fitted.report)}", "a dict")
    for key, value in fitted.report.items():
        if not isinstance(key, str) or not is_plain(value):
            seen = f"its report has {describe_value(value)} under {key!r}"
            raise contract_error(part, seen, "plain values, as in JSON")


def check_scores(scores: object, batch: CandidateBatch, *, part: str) -> None:
    """Raise D414 unless `scores` has one finite float for each row of a batch."""
    n, wanted = len(batch.cost), f"one finite float for each of {len(batch.cost):,} rows"
    if not isinstance(scores, np.ndarray):
        raise contract_error(part, f"scores gave {describe_value(scores)}", wanted)
    if scores.shape != (n,):
        raise contract_error(part, f"scores gave an array of shape {scores.shape}", wanted)
    if scores.dtype.kind != "f":
        raise contract_error(part, f"scores gave an array of {scores.dtype}", wanted)
    # NaN would lose every comparison silently, and the first candidate would be chosen
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        seen = f"{len(bad):,} scores are {scores[bad[0]]}, the first of row {bad[0]:,}"
        raise contract_error(part, seen, wanted)


def mean_cost(scorer: Scorer, batch: CandidateBatch) -> float:
    """Return the mean cost of a scorer's best candidates."""
    if isinstance(scorer, FindsBest):
        best = np.asarray(scorer.best(batch))
    else:
        best = segments.argmax(np.asarray(scorer.scores(batch)), batch.offsets)
    return float(np.mean(batch.cost[batch.offsets[:-1] + best], dtype=np.float64))


def _sample_rows(batch: CandidateBatch) -> CandidateBatch:
    """Return a few instances: a broken contract shows in any of them."""
    return batch.take(np.arange(min(_n_instances(batch), _CHECKED)))


def _n_instances(batch: CandidateBatch) -> int:
    return len(batch.offsets) - 1
