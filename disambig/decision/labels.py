"""Decide between labels, and between the candidates of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Predictions, ScoreBatch, segments
from disambig.decision.padded_scores import pad
from disambig.errors import UserError
from disambig.settings import fitted_field
from disambig.types import Arrays, CalibrationData, decides, metric

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BestOfList:
    """The judge of tasks whose instances have candidates of their own, lists of any length.

    The probability of a candidate is its share of ``exp(scale * score)`` in its list; the scale is that of
    greatest likelihood of the right candidates. Nothing is flagged.

    Parameters
    ----------
    scale : float
        What `fit` learns.
    """

    scale: float = fitted_field(1.0)

    def fit(self, material: CalibrationData, *, progress: Any = None) -> BestOfList:
        """Find the scale on held-out lists that have a right candidate and a wrong one."""
        parts = [material.scored(g) for g in range(len(material.task.groups))]
        spreads = [_score_spread(part) for part in parts if len(part.scores)]
        unit = float(np.mean(np.concatenate(spreads))) if spreads else 0.0
        if not unit > 0.0:
            return self
        from scipy.optimize import minimize_scalar

        def loss(log_scale: float) -> float:
            return sum(_scale_loss(part, float(np.exp(log_scale))) for part in parts if len(part.scores))

        middle = -float(np.log(unit))
        result = minimize_scalar(loss, bounds=(middle - 8.0, middle + 8.0), method="bounded")
        return replace(self, scale=float(np.exp(result.x)))

    def judge(self, scored: ScoreBatch, *, flags_per_1000: float | None = None) -> Predictions:
        """Choose the candidate of the best score; of equal ones the first of the list."""
        n = len(scored.offsets) - 1
        if not n:
            none = np.empty(0)
            return Predictions(np.empty(0, np.int64), none, none, np.empty(0, bool), np.empty(0, bool))
        chosen = segments.argmax(scored.scores, scored.offsets)
        ordered = np.sort(pad(scored.scores, scored.offsets, -np.inf), axis=1)
        margins = ordered[:, -1] - ordered[:, -2] if ordered.shape[1] > 1 else np.full(n, np.inf)
        shares = self.probabilities(scored)
        at = scored.offsets[:-1] + chosen
        return Predictions(chosen, margins, shares[at], np.zeros(n, bool), np.ones(n, bool))

    def probabilities(self, scored: ScoreBatch) -> Floats:
        """Return each candidate's share, shape ``(n_candidates,)``."""
        return segments.softmax(self.scale * scored.scores, scored.offsets)

    def state(self) -> Arrays:
        """Return the scale."""
        return {"scale": np.array([self.scale])}

    def from_state(self, arrays: Arrays, groups: Sequence[Group]) -> BestOfList:
        """Return the judge of `state`; ValueError for a scale that is not above zero."""
        scale = float(arrays["scale"][0])
        if not 0 < scale < np.inf:
            raise ValueError("scale of the best of a list")
        return replace(self, scale=scale)


def _score_spread(scored: ScoreBatch) -> Floats:
    """Return how far the scores of each list lie apart."""
    return segments.maxima(scored.scores, scored.offsets) + segments.maxima(-scored.scores, scored.offsets)


def _scale_loss(scored: ScoreBatch, scale: float) -> float:
    """Return the negative log-likelihood of the right candidates, all that cost nothing together."""
    scores = scale * scored.scores
    right = np.where(scored.cost == 0, scores, -np.inf)
    has_right = segments.maxima(right, scored.offsets) > -np.inf
    kept = np.repeat(has_right, np.diff(scored.offsets))
    sizes = np.diff(scored.offsets)[has_right]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if not len(sizes):
        return 0.0
    return float((segments.log_sums(scores[kept], offsets) - segments.log_sums(right[kept], offsets)).sum())


RIDGE = 1.0
"""Strength of the pull of a calibration towards plain scores, in examples."""
_FITTED = ("scale", "bias", "offset")


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Calibration and decision offsets of each group.

    The probability of candidate r is the softmax of ``scale * score_r + bias_r + offset_r``, and the most
    probable one is chosen. Scale and bias are Platt scaling; offsets are zero but for a metric that weighs a
    label by more than how frequent it is, such as the F1 of a rare one: then its probability is what it would
    be if the label were that much more frequent.

    Attributes
    ----------
    scale : array of float64, shape (n_groups,)
    bias, offset : arrays of float64, shape (n_groups, most candidates)
        What `fit` learns; without its offset a probability is the frequency with which a label is right.
    least_margin : float
        Nothing is said where the chosen candidate leads the next one by less; in units of log-odds.
    drawn : float
        How strongly `fit` draws each of several groups to the scale of all together and to no biases, in
        examples; 0 fits each by itself. For scores that know by themselves how frequent labels are, and are
        to hold for other kinds of text, where these are as frequent as they please.
    """

    scale: Floats
    bias: Floats
    offset: Floats
    least_margin: float = 0.0
    drawn: float = 0.0
    between: ClassVar[tuple[str, ...]] = ("words", "labels")

    @classmethod
    def unfitted(cls, least_margin: float = 0.0, drawn: float = 0.0) -> Labels:
        """Return a judge that has learned nothing yet: what a config describes.

        Raises
        ------
        UserError
            D780 for a `drawn` below zero.
        """
        if isinstance(drawn, bool) or not isinstance(drawn, int | float) or not 0 <= drawn < np.inf:
            raise UserError("D780", setting="Labels.drawn", value=drawn)
        return cls(np.ones(0), np.zeros((0, 0)), np.zeros((0, 0)), least_margin, drawn)

    def fit(self, material: CalibrationData, *, progress: Any = None) -> Labels:
        """Fit scale, bias and offset of each group to held-out scores, for the metric of the task."""
        task = material.task
        name, label = metric(task)
        wanted: tuple[str, int | None] = ("accuracy", None)
        for group in task.groups:
            if name == "f1" and label in group.candidates:
                wanted = "f1", group.candidates.index(label)
                break
        scores, gold = [], []
        for g, group in enumerate(task.groups):
            scored = material.scored(g)
            scores.append(scored.scores.reshape(-1, len(group.candidates)))
            gold.append(scored.observed)
        fitted = fit_labels(scores, gold, metric=wanted, biased=not decides(task).together, drawn=self.drawn)
        return replace(fitted, least_margin=self.least_margin, drawn=self.drawn)

    def judge(self, scored: ScoreBatch, *, flags_per_1000: float | None = None) -> Predictions:
        """Choose the most probable label; nothing is flagged."""
        scores = scored.scores.reshape(-1, len(scored.group.candidates))
        chosen, margins, probabilities = self.choose(scores, scored.number)
        # a margin is compared as records keep it
        answered = (
            margins.astype(np.float32) >= self.least_margin if self.least_margin > 0 else margins == margins
        )
        return Predictions(chosen, margins, probabilities, np.zeros(len(chosen), bool), answered)

    def probabilities(self, scored: ScoreBatch) -> Floats:
        """Return the probability of each label, shape ``(n_candidates,)``."""
        scores = scored.scores.reshape(-1, len(scored.group.candidates))
        return label_softmax(self.logits(scores, scored.number)).ravel()

    def with_least_margin(self, least_margin: float) -> Labels:
        """Return a judge that says nothing where its margin is smaller."""
        return replace(self, least_margin=float(least_margin))

    def state(self) -> Arrays:
        """Return what was fitted, and the least margin."""
        arrays = {name: getattr(self, name) for name in _FITTED}
        return {**arrays, "least_margin": np.array([self.least_margin])}

    def from_state(self, arrays: Arrays, groups: Sequence[Group]) -> Labels:
        """Return the judge of `state`; ValueError where shapes or numbers make no sense."""
        scale, bias, offset = (arrays[name] for name in _FITTED)
        least = float(arrays["least_margin"][0])
        shape = len(groups), max(len(group.candidates) for group in groups)
        good = (bias.shape, offset.shape, scale.shape) == (shape, shape, shape[:1])
        if not (good and bool((scale > 0).all()) and least >= 0):
            raise ValueError("shapes of the calibration of labels")
        return Labels(scale, bias, offset, least, self.drawn)

    def logits(self, scores: Floats, group: int) -> Floats:
        """Return unnormalised log-probabilities, shape ``(n, K)``."""
        shift = self.bias[group] + self.offset[group]
        return self.scale[group] * scores + shift[: scores.shape[1]]

    def choose(self, scores: Floats, group: int) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return which candidate is chosen, by what margin, and its probability, each shape ``(n,)``.

        The margin is in units of log-odds. An only candidate is weighed against what was never seen: its bias
        is its margin (see `fit`).

        Parameters
        ----------
        scores : array of float64, shape (n, K)
        """
        logits = self.logits(scores, group)
        chosen = logits.argmax(axis=1) if len(scores) else np.empty(0, np.int64)
        rows = np.arange(len(scores))
        if scores.shape[1] == 1:
            odds = self.bias[group, 0]
            return chosen, np.full(len(rows), odds), np.full(len(rows), 1.0 / (1.0 + np.exp(-odds)))
        ordered = np.sort(logits, axis=1)
        return chosen, ordered[:, -1] - ordered[:, -2], label_softmax(logits)[rows, chosen]


def label_softmax(logits: Floats) -> Floats:
    """Return probabilities, shape ``(n, K)``."""
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    return shifted / shifted.sum(axis=1, keepdims=True)


def fit_labels(
    scores: Sequence[Floats],
    gold: Sequence[NDArray[np.int32]],
    *,
    metric: tuple[str, int | None],
    biased: bool = True,
    drawn: float = 0.0,
) -> Labels:
    """Fit calibration and offsets on development scores, a group at a time.

    Parameters
    ----------
    scores : sequence of arrays, each (n_g, K_g)
        Of examples that the scorers did not learn from.
    gold : sequence of arrays of int, each (n_g,)
    metric : ("accuracy", None) or ("f1", candidate)
        What the offsets serve; F1 of that candidate against all others.
    biased : bool
        Whether labels may have biases: not where the scores are those of sequences, whose best one must win.
    drawn : float
        See `Labels`.
    """
    most = max((s.shape[1] for s in scores), default=2)
    scale, bias, offset = np.ones(len(scores)), np.zeros((len(scores), most)), np.zeros((len(scores), most))
    tells = [bool(table.size and np.ptp(table, axis=1).any()) for table in scores]
    usable = zip(scores, gold, tells, strict=True)
    common = _common_scale([entry[:2] for entry in usable if entry[2]]) if drawn else None
    for g, (table, right) in enumerate(zip(scores, gold, strict=True)):
        k = table.shape[1]
        if k == 1:  # Laplace: after n of one kind the next one is of another with probability 1 / (n + 2)
            bias[g] = np.log(len(table) + 1.0)
        elif len(table):
            towards = (common, drawn) if common and tells[g] else None
            scale[g], bias[g, :k] = _platt(table, right, biased=biased, towards=towards)
            if metric[0] == "f1" and metric[1] is not None:
                logits = scale[g] * table + bias[g, :k]
                offset[g, metric[1]] = -best_threshold(_lead(logits, metric[1]), right == metric[1])
    return Labels(scale, bias, offset)


def _common_scale(fitted_from: Sequence[tuple[Floats, NDArray[np.int32]]]) -> float | None:
    """Return the scale of least cross-entropy for some groups together; None for fewer than two."""
    if len(fitted_from) < 2:
        return None
    from scipy.optimize import minimize_scalar

    spread = float(
        np.sqrt(np.mean(np.concatenate([_centred(table).ravel() for table, _ in fitted_from]) ** 2))
    )

    def loss(log_scale: float) -> float:
        scale = np.exp(log_scale) / spread
        return float(sum(-np.log(_right_scores(scale * table, right)).sum() for table, right in fitted_from))

    return float(np.exp(minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded").x) / spread)


def _centred(scores: Floats) -> Floats:
    return scores - scores.mean(axis=1, keepdims=True)


def _right_scores(logits: Floats, gold: NDArray[np.int32]) -> Floats:
    """Return the probability of the right label of each example."""
    probabilities: Floats = np.maximum(label_softmax(logits)[np.arange(len(gold)), gold], 1e-300)
    return probabilities


def _platt(
    scores: Floats, gold: NDArray[np.int32], *, biased: bool, towards: tuple[float, float] | None = None
) -> tuple[float, Floats]:
    """Return scale and biases of least cross-entropy, drawn to one and zero; the scale stays positive.

    Parameters
    ----------
    towards : (float, float), optional
        The scale of all groups together, and how strongly this one is drawn to it.
    """
    from scipy.optimize import minimize

    n, k = scores.shape
    # so that the pull means the same whatever the units of the scores
    unit = 1.0 / towards[0] if towards else float(np.std(_centred(scores))) or 1.0
    ridge = towards[1] if towards else RIDGE
    x = scores / unit
    right = np.eye(k)[gold]

    def objective(b: Floats) -> tuple[float, Floats]:
        logits = b[0] * x + b[1:]
        shares = label_softmax(logits)
        loss = -np.log(np.maximum(shares[np.arange(n), gold], 1e-300)).sum()
        pull = np.append(b[0] - 1.0, b[1:])
        error = shares - right
        slope = np.append((error * x).sum(), error.sum(axis=0))
        return float(loss + 0.5 * ridge * pull @ pull), slope + ridge * pull

    start = np.append(1.0, np.zeros(k))
    result = minimize(
        objective, start, jac=True, bounds=[(1e-3, None), *[(None, None) if biased else (0.0, 0.0)] * k]
    ).x
    return float(result[0] / unit), np.asarray(result[1:])


def _lead(logits: Floats, candidate: int) -> Floats:
    """Return how far a candidate leads the best of the others."""
    others = np.delete(logits, candidate, axis=1)
    lead: Floats = logits[:, candidate] - others.max(axis=1)
    return lead


def best_threshold(scores: Floats, positive: NDArray[np.bool_]) -> float:
    """Return the threshold above which calling the scores positive has the best F1.

    It lies half-way between the two scores that it separates; 0 where nothing is positive.
    """
    order = np.argsort(-scores, kind="stable")
    right = np.cumsum(positive[order])
    called = np.arange(1, len(scores) + 1)
    f1 = 2 * right / (called + max(int(positive.sum()), 1))
    ends = np.append(np.diff(scores[order]) < 0, True)  # equal scores fall on one side
    if not positive.any():
        return 0.0
    best = int(np.where(ends, f1, -1.0).argmax())
    last = scores[order[best]]
    below = scores[order[best + 1]] if best + 1 < len(scores) else last - 1.0
    return float((last + below) / 2)
