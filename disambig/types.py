"""The contracts between the rooms: small protocols, plain data. Nothing is implemented here.

Capability is declared by attributes, never guessed from signatures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.data.columns import Columns
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.text.view import Tokenisation, TokenView

Arrays = Mapping[str, NDArray[Any]]

__all__ = [
    "Arrays",
    "CandidateBatch",
    "Decoder",
    "FeatureExtractor",
    "Features",
    "Fitted",
    "Kernel",
    "Learner",
    "Scorer",
    "Task",
    "Tokenisation",
]


@runtime_checkable
class CandidateBatch(Protocol):
    """The one matrix form every learner reads: a linear map from flat weights to row scores.

    Rows are candidates, or the parts (edges, rules) of structured candidates. The rows of
    instance i are ``offsets[i]:offsets[i + 1]``; every instance has one at least.
    """

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each instance's rows begin, shape ``(n + 1,)``."""
        ...

    @property
    def cost(self) -> NDArray[np.float32]:
        """What choosing a row costs, zero for the right ones, shape ``(n_rows,)``."""
        ...

    @property
    def columns(self) -> Columns:
        """What the flat weights mean."""
        ...

    @property
    def layout(self) -> Any:
        """How rows combine, for the decoder: `offsets` where each row is a candidate of its own."""
        ...

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each row, shape ``(n_rows,)``, for flat weights ``(n_columns,)``."""
        ...

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the rows' features weighted by `mass`, shape ``(n_columns,)``."""
        ...

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each row's features, shape ``(n_rows,)``."""
        ...

    def take(self, index: NDArray[np.int64]) -> CandidateBatch:
        """Return the batch of the instances in `index`, in that order."""
        ...


class Decoder(Protocol):
    """Turns row scores into winning rows or their marginals; `layout` says how rows combine.

    With ``scores + cost`` `best` is loss-augmented; with wrong rows at minus infinity it finds the
    right candidate nearest to winning.
    """

    def best(self, scores: NDArray[np.float64], layout: Any) -> NDArray[np.float64]:
        """Return a mass of one on each row of the winners, zero elsewhere."""
        ...

    def marginals(
        self, scores: NDArray[np.float64], layout: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return row marginals under softmax, and the log partition of each instance."""
        ...


class Task(Protocol):
    """What is decided: where, and between which candidates.

    One that learns settings of its own from labelled examples has ``settings_of(labelled, tokenisation) ->
    dict``; what the config has named already is not in it. One that has something to say of labelled places
    has ``remarks(view, instances)``, the lines of it.
    """

    @property
    def name(self) -> str:
        """Also the default key of the annotations, such as ``"preposition"``."""
        ...

    @property
    def language(self) -> str:
        """Language code, or ``""`` for any."""
        ...

    @property
    def groups(self) -> tuple[Group, ...]:
        """The lists of candidates, one model each."""
        ...

    def instances(self, view: TokenView) -> Instances:
        """Return the decisions to take in `view`, in text order."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """What an extractor found about one group's instances.

    Attributes
    ----------
    batch : CandidateBatch
    found, asked : arrays of int32, shape (n_candidates,)
        Evidence behind each candidate: sources that knew it, of those asked.
    """

    batch: CandidateBatch
    found: NDArray[np.int32]
    asked: NDArray[np.int32]


class FeatureExtractor(Protocol):
    """What is known about each candidate."""

    @property
    def requires(self) -> Sequence[str]:
        """Layers that a view must have."""
        ...

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> FeatureExtractor:
        """Learn vocabularies and thresholds; return a fitted extractor."""
        ...

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the features of the candidates of instances that all belong to `group`."""
        ...

    def state(self) -> Arrays:
        """Return all that `fit` learned, as arrays."""
        ...

    def from_state(self, arrays: Arrays) -> FeatureExtractor:
        """Return an extractor of this configuration with the given state."""
        ...


class Kernel(Protocol):
    """How alike two instances are: a frozen configuration that learns nothing."""

    @property
    def is_linear(self) -> bool:
        """Whether the kernel is the inner product of what `rows` gives, which has the batch's columns."""
        ...

    def rows(self, batch: CandidateBatch) -> Any:
        """Return the rows as the kernel sees them, a scipy.sparse.csr_array of shape ``(n, d)``."""
        ...

    def gram(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return the kernel of each of two sets of such rows with each other, shape ``(n, m)``."""
        ...


class Scorer(Protocol):
    """A fitted decision function.

    One that is linear also has ``linear(batch) -> (same, weights)``: the same examples and rows in whatever
    columns it weighs, and flat weights over these, so that ``same.scores(weights)`` are its scores.
    """

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return one score a row, shape ``(n_rows,)``."""
        ...

    def state(self) -> Arrays:
        """Return all that is needed to rebuild the scorer, as arrays."""
        ...


@dataclass(frozen=True, slots=True)
class Fitted:
    """A scorer and how it was found (plain values only: saved with the model)."""

    scorer: Scorer
    report: dict[str, Any] = field(default_factory=dict)


class Learner(Protocol):
    """A frozen configuration that finds a scorer from a batch. It never sees groups.

    One that declares ``shares = True`` can learn weights from several groups together, in
    ``fit_shared(batches)``, and draws to them in ``towards(shared).fit(batch)``; what
    ``shared_from_state(arrays)`` rebuilds decides for groups with too few examples, or none.
    """

    @property
    def needs_training(self) -> bool:
        """False where `fit` ignores the examples (an unsupervised sum)."""
        ...

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer learned from `batch`; settings left open are tuned on `dev`."""
        ...

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        ...
