"""Protocols of all components, and the traits that they may declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.data import Columns, Group, Instances, Predictions, ScoreBatch
from disambig.errors import contract_error
from disambig.text import ReadsDocs as ReadsDocs
from disambig.text import Tokenisation as Tokenisation
from disambig.text import TokenView

Where = Literal["words", "tokens", "sentences", "documents", "items"]
Between = Literal["words", "labels", "own"]
Concern = Literal["grammar", "confusion", "repetition", "other"]
"""Kinds of mistakes: of grammar, one word written for another, a word written twice, none of these."""


@dataclass(frozen=True, slots=True)
class Decides:
    """What a task decides: its one declared value.

    Attributes
    ----------
    where : str
        ``"words"``: a word or more, or an empty place between two; ``"tokens"``: single tokens, of which an
        example may name any; ``"sentences"``, ``"documents"``: these as a whole; ``"items"``: things outside
        any text, such as n-best lists, which a reader brings.
    between : str
        ``"words"``: the words of a group, of which one may stand in the text; ``"labels"``: labels of a
        group, nothing of which stands there; ``"own"``: candidates of each instance's own (`Instances.own`).
    together : bool
        Whether the decisions of a sentence are taken together, so that none may be cut off.
    """

    where: Where = "words"
    between: Between = "words"
    together: bool = False


class TaskTraits:
    """Fields that a task may declare; the values here stand where it does not."""

    decides: Decides = Decides()
    """What the task decides; by default words or empty places, between the words of a group."""
    metric: tuple[str, str | None] = ("accuracy", None)
    """The measure that decisions are to serve, and the candidate that it is about, if it is about one."""
    concerns: Concern = "other"
    """The kind of mistakes that its flags are, for whoever shows them by kind."""
    folders: Sequence[str] = ()
    """Settings that may name a folder or file it reads: a saved model names it by its place beside it."""


class ExtractorTraits:
    """Fields that an extractor may declare; the values here stand where it does not."""

    requires: Sequence[str] = ()
    """Layers that a view must have."""
    rows_are_shared: bool = False
    """Whether the rows say nothing of the candidates (`CrossedRows`): found once for all groups."""
    cross_fit: bool = False
    """Whether `fit` learns from the labels: then examples are described out of fold."""
    folders: Sequence[str] = ()
    """As of a task."""
    describes: str = "any"
    """Whose candidates it knows: ``"group"``, ``"own"`` (lists of each instance's own), or ``"any"``."""


class LearnerTraits:
    """Fields that a learner may declare; the values here stand where it does not."""

    needs_training: bool = True
    """False where `fit` ignores the examples (an unsupervised sum)."""
    takes: tuple[type, ...] = ()
    """Storages of a batch that it learns from, the best first; others are converted. None: any batch."""


class DecisionRuleTraits:
    """Fields that a judge may declare; the values here stand where it does not."""

    between: tuple[Between, ...] = ("words", "labels", "own")
    """What the tasks that it is for may decide between."""
    learns_mistakes: bool = False
    """Whether it learns from mistakes that people made (`HasErrorCorpus`), where there are some."""
    sees_beside: bool = False
    """Whether it looks at the words before and after a place of a text (``Scored.beside``)."""
    sees_parts: bool = False
    """Whether it looks at what each group of features adds to a score (``Scored.parts``)."""


Arrays = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]


class CalibrationData(Protocol):
    """Examples that scorers did not learn from: what a judge is fitted to."""

    @property
    def task(self) -> Task:
        """The task."""

    @property
    def n_words(self) -> int:
        """Words of the text around the examples; 0 where there is none."""

    @property
    def rng(self) -> np.random.Generator:
        """For what is drawn at random."""

    def scored(self, group: int, *, most: int | None = None) -> ScoreBatch:
        """Return the examples of a group, scored: all, or a random sample of `most`."""


@runtime_checkable
class HasErrorCorpus(Protocol):
    """Material with mistakes that people made, and right words of text unlike the counted one."""

    @property
    def n_mistakes(self) -> int:
        """All mistakes of the text, those that the task does not decide among them."""

    @property
    def n_right_words(self) -> int:
        """Words of the text around the right words."""

    def right(self, group: int) -> ScoreBatch:
        """Return right words of a group, in text order."""

    def mistakes(self, group: int) -> ScoreBatch:
        """Return mistakes of a group: what was written is observed, and what was meant costs nothing."""


class DecisionRule(Protocol):
    """What makes decisions of scores: a frozen configuration, with what `fit` learned."""

    def fit(self, material: CalibrationData, *, progress: Any = None) -> DecisionRule:
        """Return a judge fitted to examples, `task`'s groups one by one."""

    def judge(self, scored: ScoreBatch, *, flags_per_1000: float | None = None) -> Predictions:
        """Decide for instances of one group, at a rate of flags other than its own if one is given."""

    def probabilities(self, scored: ScoreBatch) -> Floats | None:
        """Return the probability of each candidate to be right, ``(n_candidates,)``; None: not known."""

    def state(self) -> Arrays:
        """Return all that `fit` learned, as arrays."""

    def from_state(self, arrays: Arrays, groups: Sequence[Group]) -> DecisionRule:
        """Return a judge of this configuration with the given state; ValueError where it does not fit."""


@runtime_checkable
class DecidesBatches(Protocol):
    """A judge that decides for several groups at once, sooner than one by one."""

    def judge_all(
        self, parts: Sequence[ScoreBatch], *, flags_per_1000: float | None = None
    ) -> list[Predictions]:
        """Return what `judge` makes of each part; there is one at least."""


@runtime_checkable
class RaisesFlags(Protocol):
    """A judge that flags what should be another word: at an infinite rate all that it can flag at any."""

    flags_per_1000: float
    """The rate of flags per 1,000 correct words that it is set to."""

    def limit(self, flags_per_1000: float | None = None) -> float:
        """Return the probability above which it flags at a rate; UserError D401 for an impossible one."""


@runtime_checkable
class KnowsRecall(Protocol):
    """A judge that knows what it finds at each rate of flags: it can share a budget with others."""

    def gains(self) -> tuple[Floats, Floats] | None:
        """Return rates, rising, and the share of all mistakes rightly flagged at each; None: not known."""


@runtime_checkable
class Abstains(Protocol):
    """A judge that says nothing where it is not sure enough."""

    @property
    def least_margin(self) -> float:
        """The margin below which nothing is said, in units of log-odds."""

    def with_least_margin(self, least_margin: float) -> DecisionRule:
        """Return the judge with another least margin."""


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

    def learn_settings(
        self, labelled: Sequence[Any], tokenisation: Tokenisation | None = None
    ) -> dict[str, Any]:
        """Return the settings that the config leaves open, as the task's constructor takes them."""


@runtime_checkable
class HasFiles(Protocol):
    """A task that reads files beside the model, which are read where the task first needs them."""

    def check_files(self) -> str:
        """Read all of them, and return a line about them; UserError where something is wrong with them."""


@runtime_checkable
class HasWarnings(Protocol):
    """A task that has something to say of the places that are labelled."""

    def warnings(self, view: TokenView, instances: Instances) -> list[str]:
        """Return the lines of it."""


@runtime_checkable
class Extensible(Protocol):
    """A task to which a user may add groups of candidates."""

    def with_groups(self, groups: Sequence[Group]) -> Task:
        """Return the task with further groups behind its own."""


@runtime_checkable
class HasFallback(Protocol):
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
class TransformsBatches(Protocol):
    """An extractor that describes instances of several groups at once, sooner than one by one."""

    def transform_all(self, view: TokenView, parts: Sequence[tuple[Instances, Group]]) -> list[Features]:
        """Return what `transform` gives of each part; there is one at least, none with own lists."""


@runtime_checkable
class ReadsCountTable(Protocol):
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
class LinearScores(Protocol):
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
class HasOpenSettings(Protocol):
    """A learner that leaves a setting open, to be chosen on folds before it learns from all examples."""

    def with_tuned(self, reports: Sequence[Mapping[str, Any]]) -> Learner:
        """Return the learner with that setting as it came out in some fits, whose reports are given."""


@runtime_checkable
class SharesWeights(Protocol):
    """A learner that can learn weights from several groups together, and draw each group's towards them."""

    def fit_shared(self, batches: Sequence[CandidateBatch]) -> Scorer:
        """Return the scorer of all groups; it also decides for groups with too few examples, or none."""

    def with_prior(self, shared: Scorer) -> Learner:
        """Return this learner, drawn towards what all groups share."""

    def shared_from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild the saved scorer of all groups."""


def get_trait(part: object, options: type, name: str) -> Any:
    """Return a field of a part, or what its options say where it does not declare it."""
    return getattr(part, name, vars(options)[name])


def decides(task: Task) -> Decides:
    """Return what a task decides.

    Raises
    ------
    UserError
        D414 where it declares something else than a `Decides`.
    """
    traits = get_trait(task, TaskTraits, "decides")
    if not isinstance(traits, Decides):
        name = type(task).__name__
        raise contract_error(f"the task {name}", f"decides is {traits!r}", "a Decides(...)")
    return traits


def metric(task: Task) -> tuple[str, str | None]:
    """Return the measure that a task's decisions serve, and the candidate that it is about."""
    name, candidate = get_trait(task, TaskTraits, "metric")
    return str(name), candidate


def concerns(task: Task) -> str:
    """Return the kind of mistakes that a task's flags are."""
    return str(get_trait(task, TaskTraits, "concerns"))


def folders(part: type | Task | FeatureExtractor) -> tuple[str, ...]:
    """Return the settings of a task or an extractor, or of a class of them, that may name folders."""
    return tuple(get_trait(part, TaskTraits, "folders"))


def requires(extractor: FeatureExtractor) -> tuple[str, ...]:
    """Return the layers that an extractor needs."""
    return tuple(get_trait(extractor, ExtractorTraits, "requires"))


def rows_are_shared(extractor: FeatureExtractor) -> bool:
    """Tell whether an extractor's rows say nothing of the candidates."""
    return bool(get_trait(extractor, ExtractorTraits, "rows_are_shared"))


def describes(extractor: FeatureExtractor) -> str:
    """Return whose candidates an extractor can describe."""
    return str(get_trait(extractor, ExtractorTraits, "describes"))


def cross_fits(extractor: FeatureExtractor) -> bool:
    """Tell whether an extractor learns from labels."""
    return bool(get_trait(extractor, ExtractorTraits, "cross_fit"))


def needs_training(learner: Learner) -> bool:
    """Tell whether a learner looks at the examples."""
    return bool(get_trait(learner, LearnerTraits, "needs_training"))


def judged_between(judge: DecisionRule) -> tuple[Between, ...]:
    """Return what the tasks that a judge is for may decide between."""
    return tuple(get_trait(judge, DecisionRuleTraits, "between"))


def learns_mistakes(judge: DecisionRule) -> bool:
    """Tell whether a judge learns from mistakes that people made."""
    return bool(get_trait(judge, DecisionRuleTraits, "learns_mistakes"))


def sees_beside(judge: DecisionRule) -> bool:
    """Tell whether a judge looks at the words before and after a place."""
    return bool(get_trait(judge, DecisionRuleTraits, "sees_beside"))


def sees_parts(judge: DecisionRule) -> bool:
    """Tell whether a judge looks at what each group of features adds to a score."""
    return bool(get_trait(judge, DecisionRuleTraits, "sees_parts"))


def takes(learner: Learner) -> tuple[type, ...]:
    """Return the storages that a learner learns from; none: any."""
    return tuple(get_trait(learner, LearnerTraits, "takes"))


@dataclass(frozen=True, slots=True)
class FeatureEvidence:
    """What was looked up for one attribute of one instance.

    Attributes
    ----------
    text : str
        Such as the n-gram that was asked for.
    count : int
        How often it was seen; 0 where the source does not have it.
    least : int, optional
        How often it must have been seen for the source to have it: 1 where nothing is left out, None where
        the source may lack it however often it was seen.
    """

    text: str
    count: int
    least: int | None = 1


@runtime_checkable
class ExplainsFeatures(Protocol):
    """An extractor that says for its columns what stands behind them."""

    def evidence(
        self, view: TokenView, instances: Instances, group: Group
    ) -> Mapping[tuple[str, str], FeatureEvidence]:
        """Return the evidence behind the attributes of a single instance, by candidate and column.

        A column is known by its name, without the ``"candidate: "`` before it where there is one. Attributes
        of which nothing was looked up, such as a bias, are left out.
        """


@runtime_checkable
class NamesFeatures(Protocol):
    """An extractor that keeps no names of its features, and finds those of the features of given places."""

    def with_names(self, view: TokenView, instances: Instances) -> FeatureExtractor:
        """Return an extractor of the same features, whose columns that `instances` have are named."""
