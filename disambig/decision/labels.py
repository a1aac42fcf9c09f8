"""Decision rules for labels and for per-instance candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Predictions, ScoreBatch, offsets_from_sizes, segments
from disambig.decision.calibration import pad, top_margins
from disambig.settings import NON_NEGATIVE, fitted_field
from disambig.type_aliases import Floats, Progress, no_progress
from disambig.types import Arrays, CalibrationData, decides, metric


@dataclass(frozen=True, slots=True, eq=False)
class BestOfList:
    """Decision rule for tasks with per-instance candidates, in lists of any length.

    The probabilities of candidates are the softmax of ``scale * score`` over their list; the scale maximises
    the likelihood of the right candidates. Nothing is flagged.

    Parameters
    ----------
    scale : float
        Fitted by `fit`.
    """

    scale: float = fitted_field(1.0)

    def fit(self, data: CalibrationData, *, progress: Progress = no_progress) -> BestOfList:
        """Fit the scale on held-out lists that have a right and a wrong candidate."""
        parts = [data.scored(g) for g in range(len(data.task.groups))]
        spreads = [  # the range of the scores of each list
            segments.maxima(part.scores, part.offsets) + segments.maxima(-part.scores, part.offsets)
            for part in parts
            if len(part.scores)
        ]
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
        """Choose the candidate with the best score; the first one of ties."""
        n = len(scored)
        if not n:
            empty = np.empty(0)
            return Predictions(np.empty(0, np.int64), empty, empty, np.empty(0, bool), np.empty(0, bool))
        chosen = segments.argmax(scored.scores, scored.offsets)
        margins = top_margins(pad(scored.scores, scored.offsets, -np.inf))
        probabilities = self.probabilities(scored)[scored.offsets[:-1] + chosen]
        return Predictions(chosen, margins, probabilities, np.zeros(n, bool), np.ones(n, bool))

    def probabilities(self, scored: ScoreBatch) -> Floats:
        """Return the probability of each candidate, shape ``(n_candidates,)``."""
        return segments.softmax(self.scale * scored.scores, scored.offsets)

    def state(self) -> Arrays:
        """Return the scale."""
        return {"scale": np.array([self.scale])}

    def from_state(self, arrays: Arrays, groups: Sequence[Group]) -> BestOfList:
        """Restore the decision rule from `state`; raise ValueError if the scale is not positive."""
        scale = float(arrays["scale"][0])
        if not 0 < scale < np.inf:
            raise ValueError("the scale must be positive and finite")
        return replace(self, scale=scale)


def _scale_loss(scored: ScoreBatch, scale: float) -> float:
    """Return the negative log-likelihood of the right candidates, adding up those of cost zero in a list."""
    scores, sizes = scale * scored.scores, np.diff(scored.offsets)
    right = np.where(scored.cost == 0, scores, -np.inf)
    has_right = segments.maxima(right, scored.offsets) > -np.inf
    if not has_right.any():
        return 0.0
    kept, offsets = np.repeat(has_right, sizes), offsets_from_sizes(sizes[has_right])
    return float((segments.log_sums(scores[kept], offsets) - segments.log_sums(right[kept], offsets)).sum())


RIDGE = 1.0
"""Strength of the pull of a calibration towards unscaled scores, in examples."""
_FITTED = ("scale", "bias", "offset")


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Decision rule for labels, with calibration and decision offsets of each group.

    The probability of candidate r is the softmax of ``scale * score_r + bias_r + offset_r``, and the most
    probable one is chosen. Scale and bias are Platt scaling. Offsets are zero unless the metric weights a
    label by more than its frequency, such as the F1 of a rare label. Of two labels, the log-odds on each side
    of the decision are scaled again, so that the probabilities are as often right as they say although the
    decision is not at even odds; of more labels, the probabilities are those of a text in which the label is
    more frequent.

    Attributes
    ----------
    scale : array of float64, shape (n_groups,)
    bias, offset : arrays of float64, shape (n_groups, most candidates)
        Fitted by `fit`. Without the offset, a probability is the frequency with which a label is right.
    least_margin : float
        Minimum lead of the chosen candidate over the next one, in log-odds; with less, the rule abstains.
    drawn : float
        Strength, in examples, with which `fit` pulls each of several groups towards the pooled scale and
        zero biases; 0 fits each group separately. For scores that already include the frequency of labels and
        must hold for texts in which labels have other frequencies.
    sides : array of float64, shape (n_groups, 2), optional
        Factors of the log-odds of two labels, if the first one is chosen and if the second one is. Fitted by
        `fit` for groups with an offset.
    """

    scale: Floats
    bias: Floats
    offset: Floats
    least_margin: float = 0.0
    drawn: float = 0.0
    sides: Floats | None = None
    between: ClassVar[tuple[str, ...]] = ("words", "labels")

    @classmethod
    def unfitted(cls, least_margin: float = 0.0, drawn: float = 0.0) -> Labels:
        """Decide between labels: choose the most probable one, with calibrated probabilities.

        Fitting learns the scale and the biases of each group, so that a probability says how often such a
        label is right. Nothing is flagged.

        Parameters
        ----------
        least_margin : float
            Minimum lead of the chosen label over the next one, in log-odds: 0.7 is twice as probable. With
            less, no label is given. 0 always gives one.
        drawn : float
            Strength, in examples, with which each of several groups is pulled towards the scale of all groups
            and zero biases; 0 fits each group separately. For scores that already include the frequency of
            labels and must hold for texts in which labels have other frequencies.

        Raises
        ------
        UserError
            D780 for a setting that is not a number, or below zero.
        """
        NON_NEGATIVE.check("Labels.least_margin", least_margin)
        NON_NEGATIVE.check("Labels.drawn", drawn)
        return cls(np.ones(0), np.zeros((0, 0)), np.zeros((0, 0)), least_margin, drawn)

    def fit(self, data: CalibrationData, *, progress: Progress = no_progress) -> Labels:
        """Fit scale, bias and offset of each group to held-out scores, for the metric of the task."""
        task = data.task
        name, label = metric(task)
        optimised: tuple[str, int | None] = ("accuracy", None)
        for group in task.groups:
            if name == "f1" and label in group.candidates:
                optimised = "f1", group.candidates.index(label)
                break
        scores, gold = [], []
        for g, group in enumerate(task.groups):
            scored = data.scored(g)
            scores.append(scored.scores.reshape(-1, len(group.candidates)))
            gold.append(scored.observed)
        biased = not decides(task).together
        fitted = fit_labels(scores, gold, metric=optimised, biased=biased, drawn=self.drawn)
        return replace(fitted, least_margin=self.least_margin, drawn=self.drawn)

    def judge(self, scored: ScoreBatch, *, flags_per_1000: float | None = None) -> Predictions:
        """Choose the most probable label; nothing is flagged."""
        return Predictions.by_group(scored, self._judge_group)

    def _judge_group(self, scored: ScoreBatch) -> Predictions:
        scores = scored.scores.reshape(-1, len(scored.group.candidates))
        chosen, margins, probabilities = self.choose(scores, scored.number)
        # margins are compared in the precision of saved records: a record filtered by its margin agrees
        if self.least_margin > 0:
            answered = margins.astype(np.float32) >= self.least_margin
        else:
            answered = ~np.isnan(margins)
        return Predictions(chosen, margins, probabilities, np.zeros(len(chosen), bool), answered)

    def probabilities(self, scored: ScoreBatch) -> Floats | None:
        """Return the probability of each label, shape ``(n_candidates,)``."""
        return scored.map_groups(self._group_probabilities)

    def _group_probabilities(self, scored: ScoreBatch) -> Floats:
        scores = scored.scores.reshape(-1, len(scored.group.candidates))
        return label_softmax(self.logits(scores, scored.number)).ravel()

    def with_least_margin(self, least_margin: float) -> Labels:
        """Return a copy that abstains if the margin is smaller."""
        return replace(self, least_margin=float(least_margin))

    def state(self) -> Arrays:
        """Return the fitted arrays and the least margin."""
        arrays = {name: getattr(self, name) for name in _FITTED}
        if self.sides is not None:
            arrays["sides"] = self.sides
        return {**arrays, "least_margin": np.array([self.least_margin])}

    def from_state(self, arrays: Arrays, groups: Sequence[Group]) -> Labels:
        """Restore the decision rule from `state`; raise ValueError for invalid shapes or numbers."""
        scale, bias, offset = (arrays[name] for name in _FITTED)
        minimum = float(arrays["least_margin"][0])
        shape = len(groups), max(len(group.candidates) for group in groups)
        sides = arrays.get("sides")  # older models have none
        is_valid = (
            (bias.shape, offset.shape, scale.shape) == (shape, shape, shape[:1])
            and bool((scale > 0).all())
            and minimum >= 0
            and (sides is None or (sides.shape == (len(groups), 2) and bool((sides > 0).all())))
        )
        if not is_valid:
            raise ValueError("invalid shapes or numbers in the calibration of labels")
        return Labels(scale, bias, offset, minimum, self.drawn, sides)

    def logits(self, scores: Floats, group: int) -> Floats:
        """Return unnormalised log-probabilities, shape ``(n, K)``."""
        shift = self.bias[group] + self.offset[group]
        logits: Floats = self.scale[group] * scores + shift[: scores.shape[1]]
        if self.sides is None or scores.shape[1] != 2:
            return logits
        lead = logits[:, 1] - logits[:, 0]
        lead = np.where(lead < 0, *self.sides[group]) * lead
        return np.stack([-lead / 2, lead / 2], axis=1)

    def choose(self, scores: Floats, group: int) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return the chosen candidate, its margin and its probability, each of shape ``(n,)``.

        The margin is in log-odds. An only candidate is compared with labels that were never seen: its
        margin is its bias (see `fit_labels`).

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
        return chosen, top_margins(logits), label_softmax(logits)[rows, chosen]


def label_softmax(logits: Floats) -> Floats:
    """Return the softmax of each row, shape ``(n, K)``."""
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
    """Fit calibration and offsets on development scores, one group at a time.

    `scores` (sequence of arrays, each (n_g, K_g)): scores of examples that the scorers were not trained on.
    `gold`: sequence of arrays of int, each (n_g,).
    `metric`: what the offsets optimise: `("accuracy", None)`, or `("f1", candidate)` for the F1 of that
    candidate against all others.
    `biased`: whether labels may have biases; not for scores of sequences, whose best labelling must stay the
    best.
    `drawn`: see `Labels`.
    """
    n_groups, n_labels = len(scores), max((table.shape[1] for table in scores), default=2)
    scale, bias, offset = np.ones(n_groups), np.zeros((n_groups, n_labels)), np.zeros((n_groups, n_labels))
    sides = np.ones((n_groups, 2))
    has_spread = [bool(table.size and np.ptp(table, axis=1).any()) for table in scores]
    examples = list(zip(scores, gold, strict=True))
    usable = [pair for pair, varies in zip(examples, has_spread, strict=True) if varies]
    pooled = _pooled_scale(usable) if drawn else None
    for g, (table, right) in enumerate(examples):
        k = table.shape[1]
        if k == 1:
            # Laplace's rule of succession: after n of one kind, another one has probability 1 / (n + 2)
            bias[g] = np.log(len(table) + 1.0)
        elif len(table):
            towards = (pooled, drawn) if pooled and has_spread[g] else None
            scale[g], bias[g, :k] = _platt(table, right, biased=biased, towards=towards)
            if metric[0] == "f1" and metric[1] is not None:
                logits = scale[g] * table + bias[g, :k]
                lead = logits[:, metric[1]] - np.delete(logits, metric[1], axis=1).max(axis=1)
                offset[g, metric[1]] = -best_threshold(lead, right == metric[1])
                if k == 2:
                    logits += offset[g, :2]
                    sides[g] = _fit_sides(logits[:, 1] - logits[:, 0], right == 1)
    return Labels(scale, bias, offset, sides=sides if (sides != 1.0).any() else None)


def _fit_sides(lead: Floats, second: NDArray[np.bool_]) -> Floats:
    """Return the factors of negative and of other log-odds of the second label with the lowest cross-entropy.

    Both are pulled towards one with the strength of one example.
    """
    from scipy.optimize import minimize_scalar

    factors = np.ones(2)
    for side, rows in enumerate((lead < 0, lead >= 0)):
        signed = np.where(second[rows], lead[rows], -lead[rows])

        def loss(log_factor: float, signed: Floats = signed) -> float:
            return float(np.logaddexp(0.0, -np.exp(log_factor) * signed).sum() + 0.5 * log_factor**2)

        if len(signed):
            factors[side] = np.exp(minimize_scalar(loss, bounds=(-4.0, 4.0), method="bounded").x)
    return factors


def _pooled_scale(examples: Sequence[tuple[Floats, NDArray[np.int32]]]) -> float | None:
    """Return the scale with the lowest cross-entropy over all groups; None for fewer than two.

    Each of the examples has the scores of a group, and its right labels.
    """
    if len(examples) < 2:
        return None
    from scipy.optimize import minimize_scalar

    centred = np.concatenate([_centred(scores).ravel() for scores, _ in examples])
    spread = float(np.sqrt(np.mean(centred**2)))

    def loss(log_scale: float) -> float:
        scale = np.exp(log_scale) / spread
        right = (label_softmax(scale * s)[np.arange(len(gold)), gold] for s, gold in examples)
        return float(sum(-np.log(np.maximum(p, 1e-300)).sum() for p in right))

    return float(np.exp(minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded").x) / spread)


def _centred(scores: Floats) -> Floats:
    return scores - scores.mean(axis=1, keepdims=True)


def _platt(
    scores: Floats, gold: NDArray[np.int32], *, biased: bool, towards: tuple[float, float] | None = None
) -> tuple[float, Floats]:
    """Fit scale and biases by cross-entropy, pulled towards one and zero; the scale stays positive.

    `towards` holds the pooled scale and the strength of the pull towards it.
    """
    from scipy.optimize import minimize

    n, k = scores.shape
    # scores in units of their spread, so that the strength of the pull does not depend on their units
    unit = 1.0 / towards[0] if towards else float(np.std(_centred(scores))) or 1.0
    ridge = towards[1] if towards else RIDGE
    x = scores / unit
    truth = np.eye(k)[gold]

    def objective(b: Floats) -> tuple[float, Floats]:
        probabilities = label_softmax(b[0] * x + b[1:])
        loss = -np.log(np.maximum(probabilities[np.arange(n), gold], 1e-300)).sum()
        pull = np.append(b[0] - 1.0, b[1:])
        error = probabilities - truth
        gradient = np.append((error * x).sum(), error.sum(axis=0))
        return float(loss + 0.5 * ridge * pull @ pull), gradient + ridge * pull

    bounds = [(1e-3, None), *[(None, None) if biased else (0.0, 0.0)] * k]
    fitted = minimize(objective, np.append(1.0, np.zeros(k)), jac=True, bounds=bounds).x
    return float(fitted[0] / unit), np.asarray(fitted[1:])


def best_threshold(scores: Floats, positive: NDArray[np.bool_]) -> float:
    """Return the threshold on the scores with the best F1.

    It lies half-way between the two scores that it separates; 0 if nothing is positive.
    """
    if not positive.any():
        return 0.0
    order = np.argsort(-scores, kind="stable")
    n_right = np.cumsum(positive[order])
    n_predicted = np.arange(1, len(scores) + 1)
    f1 = 2 * n_right / (n_predicted + int(positive.sum()))
    is_cut = np.append(np.diff(scores[order]) < 0, True)  # a threshold cannot separate equal scores
    best = int(np.where(is_cut, f1, -1.0).argmax())
    above = scores[order[best]]
    below = scores[order[best + 1]] if best + 1 < len(scores) else above - 1.0
    return float((above + below) / 2)
