"""The contract of a learner and of the scorer it finds."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.fields import needs_training, takes
from disambig.testing.checks import (
    Check,
    accuracy,
    checks_of,
    plain,
    require,
    require_close,
    require_equal,
    require_state,
)
from disambig.testing.problems import blocks
from disambig.training.fitting import as_taken, fit, mean_cost
from disambig.types import CandidateBatch, FitsPath, Fitted, Learner


def check_learner(
    learner: Learner, batch: CandidateBatch | None = None, *, least: float | None = None
) -> list[Check]:
    """Return the checks of a learner.

    Parameters
    ----------
    learner : Learner
    batch : CandidateBatch, optional
        Examples, which are converted to a storage that the learner takes; the scorer gets them as they are.
        By default `disambig.testing.blocks`.
    least : float, optional
        Accuracy on its own training examples that a trained scorer must reach; by default that of
        the best constant row.
    """
    return checks_of(_Checks(learner, blocks() if batch is None else batch, least))


@dataclass
class _Checks:
    _learner: Learner
    _batch: CandidateBatch
    _least: float | None

    def says_whether_it_needs_training(self) -> None:
        flag = needs_training(self._learner)
        require(isinstance(flag, bool), f"needs_training is {flag!r}: set it to True or False")

    def says_which_storages_it_takes(self) -> None:
        storages = takes(self._learner)
        good = isinstance(storages, tuple) and all(isinstance(storage, type) for storage in storages)
        require(good, f"takes is {storages!r}, not a tuple of classes")
        taken = as_taken(self._learner, self._batch)
        require(not storages or isinstance(taken, storages), f"{type(taken).__name__} is none of {storages}")

    def keeps_its_contract(self) -> None:
        """Come through `disambig.training.fitting.fit`, as before a model is made."""
        half = np.arange(len(self._batch.offsets) - 1)
        train, dev = self._batch.take(half[::2]), self._batch.take(half[1::2])
        try:
            fitted = fit(self._learner, train, dev=dev, rng=np.random.default_rng(0))
        except UserError as problem:
            if problem.code == "D414":
                raise AssertionError(str(problem)) from problem
            raise
        if isinstance(self._learner, FitsPath):
            costs = {step["step"]: step["dev_cost"] for step in fitted.report["path"]}
            least = min(costs.values())
            require(costs[fitted.report["chosen"]] == least, f"not the step of least cost: {costs}")
            require(mean_cost(fitted.scorer, dev) == least, "the scorer is another step's")

    def gives_one_finite_score_a_row(self) -> None:
        scores = self._fit().scorer.scores(self._batch)
        require(scores.shape == self._batch.cost.shape, f"scores of shape {scores.shape}")
        require(bool(np.isfinite(scores).all()), "some scores are not finite")

    def reports_plain_values(self) -> None:
        report = self._fit().report
        require(plain(report), f"the report is saved as JSON and holds other things: {report}")

    def is_repeatable(self) -> None:
        first, second = self._fit(), self._fit()
        require_equal(second.scorer.scores(self._batch), first.scorer.scores(self._batch), "a second fit")

    def leaves_examples_alone(self) -> None:
        given = copy.deepcopy(self._batch)
        self._learner.fit(as_taken(self._learner, given), rng=np.random.default_rng(0))
        probe = np.random.default_rng(0).normal(size=len(given.columns))
        require_equal(given.cost, self._batch.cost, "costs after fit")
        require_equal(given.scores(probe), self._batch.scores(probe), "features after fit")

    def keeps_all_in_its_state(self) -> None:
        scorer = self._fit().scorer
        state = scorer.state()
        require_state(state, "scorer")
        again = self._learner.from_state({name: array.copy() for name, array in state.items()})
        require_equal(again.scores(self._batch), scorer.scores(self._batch), "scores after from_state")

    def scores_each_instance_by_itself(self) -> None:
        scorer = self._fit().scorer
        together = scorer.scores(self._batch)
        for i in {0, len(self._batch.offsets) - 2}:
            own = self._decided_with(i)
            alone = scorer.scores(self._batch.take(own))
            rows = slice(self._batch.offsets[own[0]], self._batch.offsets[own[-1] + 1])
            require_close(alone, together[rows], f"instance {i} scored alone", within=1e-5)

    def _decided_with(self, i: int) -> NDArray[np.int64]:
        """Return the instances of the sequence that instance `i` is in; itself where there are none."""
        if not hasattr(self._batch, "sequences"):
            return np.array([i])
        runs = self._batch.layout
        run = int(runs.searchsorted(i, side="right")) - 1
        return np.arange(runs[run], runs[run + 1])

    def takes_development_data(self) -> None:
        half = np.arange(len(self._batch.offsets) - 1)
        train, dev = self._batch.take(half[::2]), self._batch.take(half[1::2])
        taken, development = as_taken(self._learner, train), as_taken(self._learner, dev)
        fitted = self._learner.fit(taken, dev=development, rng=np.random.default_rng(0))
        require(bool(np.isfinite(fitted.scorer.scores(dev)).all()), "scores of the development data")

    def takes_a_single_example(self) -> None:
        one = as_taken(self._learner, self._batch.take(self._decided_with(0)))
        scores = self._learner.fit(one, rng=np.random.default_rng(0)).scorer.scores(self._batch)
        require(bool(np.isfinite(scores).all()), "scores after one example are not finite")

    def learns(self) -> None:
        if not needs_training(self._learner):
            return
        reached = accuracy(self._batch, self._fit().scorer.scores(self._batch))
        least = self._constant() if self._least is None else self._least
        require(
            reached >= least, f"{reached:.1%} of the training examples are right, at least {least:.1%} asked"
        )

    def _constant(self) -> float:
        """Return the accuracy of the best choice that looks at nothing."""
        first, sizes = self._batch.offsets[:-1], np.diff(self._batch.offsets)
        rows = range(int(sizes.min()))
        return max(float(np.mean(self._batch.cost[first + row] == 0)) for row in rows)

    def _fit(self) -> Fitted:
        examples = as_taken(self._learner, copy.deepcopy(self._batch))
        fitted = self._learner.fit(examples, rng=np.random.default_rng(0))
        require(isinstance(fitted, Fitted), f"fit returned {type(fitted).__name__}, not Fitted")
        return fitted
