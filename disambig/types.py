"""The contracts between the rooms: small protocols, plain data. Nothing is implemented here.

All that the core asks of a part stands here: as a method or property of its contract; as a field that it
may declare, with the value that stands where it does not (`TaskOptions` and its kin, read by
`disambig.fields`); or as an optional ability, a protocol that the core looks for with ``isinstance``. What
judges are asked for is in `disambig.judge_types`, and can be had from here.

What ``observed`` means and who fills costs is said once, in `disambig.data.instances`: in use an instance's
observed candidate is what stands in the text (-1: none of them), in training it is the right one. Extractors
put ``instances.costs(group)`` into their batch; nobody else makes costs of places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.data.scored import Judged as Judged
from disambig.data.scored import Scored as Scored
from disambig.declared import Between as Between
from disambig.declared import Decides as Decides
from disambig.declared import ExtractorOptions as ExtractorOptions
from disambig.declared import JudgeOptions as JudgeOptions
from disambig.declared import LearnerOptions as LearnerOptions
from disambig.declared import TaskOptions as TaskOptions
from disambig.declared import Where as Where
from disambig.judge_types import Flags as Flags
from disambig.judge_types import HasMistakes as HasMistakes
from disambig.judge_types import Judge as Judge
from disambig.judge_types import JudgesTogether as JudgesTogether
from disambig.judge_types import KeepsSilent as KeepsSilent
from disambig.judge_types import KnowsGains as KnowsGains
from disambig.judge_types import Material as Material
from disambig.text.view import ReadsDocs as ReadsDocs
from disambig.text.view import Tokenisation as Tokenisation
from disambig.text.view import TokenView

Arrays = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]


# What is decided


class Task(Protocol):
    """What is decided: where, and between which candidates."""

    @property
    def name(self) -> str:
        """Also the default key of the annotations, such as ``"preposition"``."""

    @property
    def language(self) -> str:
        """Language code, or ``""`` for any."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """The lists of candidates, one model each; instances with lists of their own have a group, too."""

    def instances(self, view: TokenView) -> Instances:
        """Return the decisions to take in `view`, in text order."""


@runtime_checkable
class LearnsSettings(Protocol):
    """A task that finds settings of its own, such as labels in labelled examples; for lists it gets none."""

    def settings_of(
        self, labelled: Sequence[Any], tokenisation: Tokenisation | None = None
    ) -> dict[str, Any]:
        """Return the settings that the config leaves open, as the task's constructor takes them."""


@runtime_checkable
class HasFiles(Protocol):
    """A task that reads files beside the model, which are read where the task first needs them."""

    def check_files(self) -> str:
        """Read all of them, and return a line about them; UserError where something is wrong with them."""


@runtime_checkable
class Remarks(Protocol):
    """A task that has something to say of the places that are labelled."""

    def remarks(self, view: TokenView, instances: Instances) -> list[str]:
        """Return the lines of it."""


@runtime_checkable
class Grows(Protocol):
    """A task to which a user may add groups of candidates."""

    def with_groups(self, groups: Sequence[Group]) -> Task:
        """Return the task with further groups behind its own."""


@runtime_checkable
class FallsBack(Protocol):
    """A task that knows of places where no model decides, and leaves them alone unless told otherwise."""

    def with_fallback(self) -> Task:
        """Return the task with these places found, too (see `Group.learned`)."""


@runtime_checkable
class TakesGroups(Protocol):
    """A task whose groups come from elsewhere than its config, such as a file, which may change.

    A saved model gives it those that it was trained for, before anything asks for `groups`.
    """

    def of_groups(self, groups: Sequence[Group]) -> Task:
        """Return the task with these groups in place of its own."""


@runtime_checkable
class HasExamples(Protocol):
    """A task that is learned from other places of running text than it decides, such as more of them."""

    def examples(self, view: TokenView) -> Instances:
        """Return the places of a view to learn from; their observed candidates are taken as right."""


# What is known about it


@runtime_checkable
class CandidateBatch(Protocol):
    """The one matrix form every learner reads: a linear map from flat weights to row scores.

    Rows are candidates, or the parts (edges, rules) of structured candidates. The rows of
    instance i are ``offsets[i]:offsets[i + 1]``; every instance has one at least.
    """

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each instance's rows begin, shape ``(n + 1,)``."""

    @property
    def cost(self) -> NDArray[np.float32]:
        """What choosing a row costs, zero for the right ones, shape ``(n_rows,)``."""

    @property
    def columns(self) -> Columns:
        """What the flat weights mean."""

    @property
    def layout(self) -> Any:
        """How rows combine, for the decoder: `offsets` where each row is a candidate of its own."""

    def scores(self, weights: Floats) -> Floats:
        """Return the score of each row, shape ``(n_rows,)``, for flat weights ``(n_columns,)``."""

    def adjoint(self, mass: Floats) -> Floats:
        """Return the sum of the rows' features weighted by `mass`, shape ``(n_columns,)``."""

    def row_sqnorm(self) -> Floats:
        """Return the squared norm of each row's features, shape ``(n_rows,)``."""

    def take(self, index: NDArray[np.int64]) -> CandidateBatch:
        """Return the batch of the instances in `index`, in that order."""


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

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> FeatureExtractor:
        """Learn vocabularies and thresholds; return a fitted extractor."""

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the features of the candidates of instances that all belong to `group`."""

    def state(self) -> Arrays:
        """Return all that `fit` learned, as arrays."""

    def from_state(self, arrays: Arrays) -> FeatureExtractor:
        """Return an extractor of this configuration with the given state."""


@runtime_checkable
class DescribesTogether(Protocol):
    """An extractor that describes instances of several groups at once, sooner than one by one."""

    def transform_all(self, view: TokenView, parts: Sequence[tuple[Instances, Group]]) -> list[Features]:
        """Return what `transform` gives of each part; there is one at least, none with own lists."""


@runtime_checkable
class ReadsTable(Protocol):
    """An extractor that asks a count table, which the model refers to and does not hold."""

    @property
    def table(self) -> Any:
        """The table, opened on first use; its ``identity`` (str) tells it from any other."""


class Kernel(Protocol):
    """How alike two instances are: a frozen configuration that learns nothing."""

    @property
    def is_linear(self) -> bool:
        """Whether the kernel is the inner product of what `rows` gives, which has the batch's columns."""

    def rows(self, batch: CandidateBatch) -> Any:
        """Return the rows as the kernel sees them, a scipy.sparse.csr_array of shape ``(n, d)``."""

    def gram(self, left: Any, right: Any) -> Floats:
        """Return the kernel of each of two sets of such rows with each other, shape ``(n, m)``."""


# How weights are found


class Decoder(Protocol):
    """Turns row scores into winning rows or their marginals; `layout` says how rows combine.

    With ``scores + cost`` `best` is loss-augmented; rows at minus infinity are forbidden.
    """

    def best(self, scores: Floats, layout: Any) -> Floats:
        """Return a mass of one on each row of the winners, zero elsewhere."""

    def marginals(self, scores: Floats, layout: Any) -> tuple[Floats, Floats]:
        """Return row marginals under softmax, and the log partition of each instance."""


@runtime_checkable
class FindsTop(Protocol):
    """A decoder that finds the k best candidates, too."""

    def top(self, scores: Floats, layout: Any, k: int) -> list[tuple[Floats, Any]]:
        """Return scores and candidates of each instance, best first; fewer where there are fewer."""


class Scorer(Protocol):
    """A fitted decision function."""

    def scores(self, batch: CandidateBatch) -> Floats:
        """Return one score a row, shape ``(n_rows,)``."""

    def state(self) -> Arrays:
        """Return all that is needed to rebuild the scorer, as arrays."""


@runtime_checkable
class Linear(Protocol):
    """A scorer that is linear: its decisions can be explained."""

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, Floats]:
        """Return the same examples and rows in whatever columns it weighs, and flat weights over these.

        ``same.scores(weights)`` are its scores.
        """


@runtime_checkable
class FindsBest(Protocol):
    """A scorer that finds the best candidates by itself, quicker than by scoring all."""

    def best(self, batch: CandidateBatch) -> NDArray[np.int64]:
        """Return the best candidate of each instance, as an index among its own, shape ``(n,)``."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A scorer and how it was found (plain values only: saved with the model)."""

    scorer: Scorer
    report: dict[str, Any] = field(default_factory=dict)


class Learner(Protocol):
    """A frozen configuration that finds a scorer from a batch. It never sees groups."""

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer learned from `batch`; settings left open are tuned on `dev`."""

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""


@runtime_checkable
class FitsPath(Protocol):
    """A learner with a sequence of scorers; the trainer takes that of least cost on development data."""

    def fit_path(
        self, batch: CandidateBatch, *, rng: np.random.Generator | None = None
    ) -> Iterator[tuple[str, Fitted]]:
        """Yield scorers, each with the name of its step, from the simplest on."""


@runtime_checkable
class Settles(Protocol):
    """A learner that leaves a setting open, to be chosen on folds before it learns from all examples."""

    def settled(self, reports: Sequence[Mapping[str, Any]]) -> Learner:
        """Return the learner with that setting as it came out in some fits, whose reports are given."""


@runtime_checkable
class SharesWeights(Protocol):
    """A learner that can learn weights from several groups together, and draw each group's towards them."""

    def fit_shared(self, batches: Sequence[CandidateBatch]) -> Scorer:
        """Return the scorer of all groups; it also decides for groups with too few examples, or none."""

    def towards(self, shared: Scorer) -> Learner:
        """Return this learner, drawn towards what all groups share."""

    def shared_from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild the saved scorer of all groups."""
