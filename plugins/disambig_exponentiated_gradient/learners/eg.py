"""EG: exponentiated-gradient training of global linear models (Collins 2005; Collins et al., JMLR 2008)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Enumerated, Fitted, LinearScorer, Scorer, UserError
from disambig.api.arrays import Floats
from disambig.api.batches import PartRows, SequenceRows
from disambig.api.decoding import Chain, ChainScorer, Hypergraph, Hypergraphs, structured_examples
from disambig.api.settings import (
    ABOVE_ZERO,
    COUNT,
    DECODER,
    NON_NEGATIVE_COUNT,
    SVM_C,
    choice,
    validate_settings,
)
from disambig.api.training import with_median

from .list_dual import STORAGES, ListDual, ReducedLists
from .pairwise import PairwiseCharts, PairwiseLists
from .part_duals import ChainDual, ChartDual, PackedDual

_SKIPPED_GAP = 0.1
"""Visits of an instance end when its gap is below this share of the mean gap that is allowed."""


class DualProblem(Protocol):
    """A dual problem with its current alphas (see `ListDual`)."""

    C: float
    dual: float

    @property
    def weights(self) -> Floats:
        """W, shape (n_columns,)."""

    def __len__(self) -> int:
        """Return the number of instances."""

    def epoch(self, order: NDArray[np.int64], enough: float = 0.0) -> None:
        """Visit the instances in an order."""

    def gap(self) -> float:
        """Return primal minus dual."""

    def at(self, C: float) -> None:
        """Continue with another C."""


@runtime_checkable
class BatchDual(DualProblem, Protocol):
    """A dual problem whose alphas can all be moved at once."""

    def batch_step(self) -> None:
        """Move all alphas at once."""


@dataclass(slots=True)
class TrainingHistory:
    """Figures by epoch, and the weights of the lowest primal so far."""

    weights: Floats  # (n_columns,)
    # after each epoch; the gap is relative: (lowest primal so far - dual) / that primal. Seconds count the
    # updates from the beginning, without the time for figures. The mean cost of winners on development data
    # is present if there are any
    primal: list[float] = field(default_factory=list)
    dual: list[float] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    dev_cost: list[float] = field(default_factory=list)

    @property
    def least(self) -> float:
        """The lowest primal so far."""
        return min(self.primal, default=np.inf)

    def report(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        figures: dict[str, Any] = {
            "epochs": len(self.dual),
            "gap": float(f"{self.gap[-1]:.4g}"),
            "path": {
                name: [float(f"{value:.10g}") for value in getattr(self, name)]
                for name in ("primal", "dual", "gap", "seconds")
            },
        }
        if self.dev_cost:
            figures["path"]["dev_cost"] = [float(f"{value:.6g}") for value in self.dev_cost]
        return figures


def run_epochs(
    dual: DualProblem,
    *,
    updates: str,
    epochs: int,
    gap: float,
    rng: Generator,
    watch: Callable[[Floats], float] | None = None,
) -> TrainingHistory:
    """Train until the relative gap is `gap`, for at most `epochs` epochs; return the history.

    `dual` is updated in place. The updates ``"batch"`` are of all instances of a `BatchDual` at once, others
    one at a time, in random order. `watch` returns the cost of weights on development data.
    """
    history, enough, spent = TrainingHistory(dual.weights.copy()), 0.0, 0.0
    for _ in range(epochs):
        started = time.perf_counter()
        if updates == "batch":
            assert isinstance(dual, BatchDual)
            dual.batch_step()
        else:
            dual.epoch(rng.permutation(len(dual)), enough)
        spent += time.perf_counter() - started
        primal = dual.dual + dual.gap()
        if primal < history.least:
            history.weights = dual.weights.copy()
        history.primal.append(primal)
        history.dual.append(dual.dual)
        history.gap.append((history.least - dual.dual) / max(history.least, 1e-300))
        history.seconds.append(round(spent, 4))
        if watch is not None:
            history.dev_cost.append(watch(dual.weights))
        if history.gap[-1] <= gap:
            break
        enough = _SKIPPED_GAP * gap * history.least / (len(dual) * dual.C)
    return history


GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Values of C tried on development data; each starts from the alphas of the previous one."""
DEFAULT = 1.0
_PATIENCE = 2
"""The search ends after this many consecutive values of C without an improvement."""
_LOSS = choice("D671", ("hinge", "cost", "log"))
_UPDATES = choice("D671", ("online", "batch", "pairwise"))


@dataclass(frozen=True, slots=True, kw_only=True)
class EG:
    """Exponentiated gradient for lists, sequences and charts: each alpha is multiplied and renormalised.

    It minimises ``C sum_i max_y (L_iy - M_iy)_+ + 1/2 |W|^2`` over W, where M_iy is the margin of the gold
    candidate over candidate y; all columns are regularised equally, including constants and base scores.
    Steps are made on the dual, which never falls, and the gap between primal and dual bounds the error.

    Parameters
    ----------
    C : float, optional
        Weight of the loss. By default the value of `GRID` whose winners have the lowest cost on development
        data; among equals the one with the lowest hinge loss there; without development data 1, as in the
        slides.
    loss : str
        ``"hinge"``: L is 1 for each wrong candidate; ``"cost"``: its cost; ``"log"``: the log loss instead
        of the hinge, ``C sum_i log sum_y exp(-M_iy)``. With a decoder only ``"cost"`` or ``"log"``, since
        losses must be sums over parts.
    updates : str, optional
        ``"online"``: instance by instance in random order; ``"batch"``: all at once, as in the slides;
        ``"pairwise"``: steps between two candidates of a list, or two derivations of a chart, which are not
        exponentiated (see `PairwiseSteps`); not for the log loss. By default pairwise for lists and charts
        unless the loss is the log loss, and otherwise online.
    epochs : int
        Maximum number of passes over the examples for each value of C.
    gap : float
        The relative duality gap at which training stops.
    decoder : Decoder, optional
        Combines parts into structures; dual variables are then kept by part. By default each row is a
        candidate.
    seed : int
        Seed for the order of the instances.
    """

    C: float | None = None
    loss: str = "cost"
    updates: str | None = None
    epochs: int = 20
    gap: float = 0.01
    decoder: Any = None
    seed: int = 0

    def __post_init__(self) -> None:
        validate_settings(self, C=SVM_C.or_none, loss=_LOSS, updates=_UPDATES.or_none, epochs=COUNT)
        validate_settings(self, gap=ABOVE_ZERO, decoder=DECODER, seed=NON_NEGATIVE_COUNT)
        if self._has_part_duals and self.loss == "hinge":
            raise UserError("D611")

    @property
    def own_labels(self) -> bool:
        """Crossed rows may have labels of their own for each instance."""
        return True

    @property
    def takes(self) -> tuple[type, ...]:
        """Lists of candidates in several storages; with a decoder of parts any batch."""
        return () if self._has_part_duals else STORAGES

    @property
    def _has_part_duals(self) -> bool:
        """Whether dual variables are kept for parts of structures, and not for candidates."""
        return self.decoder is not None and not isinstance(self.decoder, Enumerated)

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer for the weights with the lowest objective; `seed` sets the order, not `rng`.

        The report contains ``C``, the final ``epochs`` and relative ``gap``, and the ``path``: primal,
        dual, gap, seconds and, if there are development data, their cost after each epoch; also
        ``gold_missing``, the number of instances without a right candidate, for which the candidate with the
        lowest cost is used.

        Raises D703 for features and D610 for costs that are NaN or infinite, D705 if there are no instances,
        D459 for a batch that the learner does not support.
        """
        if len(batch.offsets) < 2:
            raise UserError("D705")
        dev_blocks, watch = None, None
        if dev is not None and len(dev.offsets) > 1:
            dev_blocks = structured_examples(dev, self.decoder).blocks()
            watch = partial(_mean_cost, dev_blocks)
        if self.C is not None:
            values: tuple[float, ...] = (self.C,)
        else:
            values = (DEFAULT,) if dev_blocks is None else GRID
        dual, missing = self._dual(batch, values[0])
        best: tuple[tuple[float, float], float, TrainingHistory] | None = None
        tried: dict[str, float] = {}
        n_worse = 0
        for C in values:
            dual.at(C)
            order = np.random.default_rng(self.seed)
            updates = self.updates or "online"
            history = run_epochs(
                dual, updates=updates, epochs=self.epochs, gap=self.gap, rng=order, watch=watch
            )
            quality = 0.0, 0.0
            if dev_blocks is not None and len(values) > 1:
                quality = (
                    _mean_cost(dev_blocks, history.weights),
                    _mean_hinge_loss(dev_blocks, history.weights),
                )
                tried[f"{C:g}"] = quality[0]
            if best is None or quality < best[0]:
                best, n_worse = (quality, C, history), 0
            else:
                n_worse += 1
            if n_worse >= _PATIENCE:
                break
        assert best is not None
        _, C, history = best
        report = {"C": C, "gold_missing": missing, **history.report()}
        if len(values) > 1:
            report["dev_cost"] = tried
        return Fitted(self._scorer(history.weights, batch), report)

    def _dual(self, batch: CandidateBatch, C: float) -> tuple[DualProblem, int]:
        """Return the initial problem, and the number of instances without a right candidate."""
        charts = isinstance(self.decoder, Hypergraph) and isinstance(batch, PartRows)
        charts = charts and isinstance(batch.layout, Hypergraphs)
        can_be_pairwise = self.loss != "log" and (charts or not self._has_part_duals)
        if self.updates == "pairwise" and not can_be_pairwise:
            raise UserError("D616")
        pairwise = self.updates in (None, "pairwise") and can_be_pairwise
        if not self._has_part_duals:
            lists = ReducedLists.from_batch(batch)
            kind = PairwiseLists if pairwise else ListDual
            return kind(lists, self.loss, C), lists.missing
        packed: ChainDual | ChartDual | PackedDual | PairwiseCharts
        if isinstance(self.decoder, Chain) and isinstance(batch, SequenceRows):
            packed = ChainDual(batch, self.loss, C)
        elif not (charts and isinstance(batch, PartRows)):
            packed = PackedDual(batch, self.decoder, self.loss, C)
        elif pairwise:
            packed = PairwiseCharts(batch, C)
        else:
            packed = ChartDual(batch, self.loss, C)
        return packed, packed.missing

    def _scorer(self, weights: Floats, batch: CandidateBatch) -> Scorer:
        if self._has_part_duals and isinstance(batch, SequenceRows):
            return ChainScorer.of_weights(weights, batch.costs.shape[1])
        return LinearScorer(weights)

    def with_tuned(self, reports: Sequence[Mapping[str, Any]]) -> EG:
        """Return the learner with the median C of earlier fits, if its own is not set."""
        return with_median(self, "C", reports)

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        if "weights" not in arrays:
            return ChainScorer.from_state(arrays)
        return LinearScorer.from_state(arrays)


def _mean_cost(blocks: Sequence[Any], weights: Floats) -> float:
    """Return the mean cost of the winners above each instance's lowest cost."""
    n = sum(map(len, blocks))
    return sum(float(one.rival(one.batch.scores(weights), margin=0.0) @ one.cost) for one in blocks) / n


def _mean_hinge_loss(blocks: Sequence[Any], weights: Floats) -> float:
    loss = 0.0
    for block in blocks:
        scores = block.batch.scores(weights)
        augmented = scores + block.cost
        loss += float(block.rival(scores) @ augmented) - float(block.right(scores) @ scores)
    return loss / sum(map(len, blocks))
