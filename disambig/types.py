"""Protocols of all components, and the traits that they can declare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static
from itertools import pairwise
from types import FunctionType, MethodType
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.data import Columns, Group, GroupedInstances, Instances, Predictions, ScoreBatch
from disambig.errors import check_call, contract_error, describe_value
from disambig.registry import describe_component
from disambig.rules import Concern, Correction, Rule, RuleSet, default_rules
from disambig.text import ReadsDocs as ReadsDocs, Tokenisation as Tokenisation, TokenView
from disambig.type_aliases import Floats, Progress, no_progress

Where = Literal["words", "tokens", "sentences", "documents", "items"]
Between = Literal["words", "labels", "lists"]
Describes = Literal["group", "lists", "any"]


@dataclass(frozen=True, slots=True)
class Decides:
    """Where a task decides, and between what; the trait `TaskTraits.decides`.

    Attributes
    ----------
    where : str
        ``"words"``: one or more words, or an empty position between two; ``"tokens"``: single tokens, any of
        which can be an example; ``"sentences"``, ``"documents"``: whole ones; ``"items"``: items that are
        not part of a text, such as n-best lists from a reader.
    between : str
        ``"words"``: the words of a group, one of which can be in the text; ``"labels"``: labels of a group,
        which are not in the text; ``"lists"``: per-instance candidates (`Instances.lists`).
    together : bool
        Whether the decisions of a sentence are made jointly, so that the sentence must not be split.
    """

    where: Where = "words"
    between: Between = "words"
    together: bool = False

    @property
    def corrects(self) -> bool:
        """Whether the decisions are between words of a text, and so can correct mistakes."""
        return self.where != "items" and self.between != "labels"


class TaskTraits:
    """Fields and methods that a task can have, with their defaults."""

    decides: Decides = Decides()
    """What the task decides; by default between the words of a group, at words or empty positions."""
    metric: tuple[str, str | None] = ("accuracy", None)
    """The measure to optimise, and its candidate if it concerns a single one."""
    concerns: Concern = "other"
    """The kind of errors that the task flags, for programs that group flags by task."""
    rules: RuleSet | None = None
    """The rules of its flags (see `disambig.rules`); by default one, with the name of the task."""
    folders: Sequence[str] = ()
    """Settings that can name a folder or file; a saved model stores such paths relative to itself."""

    def check_files(self) -> str | None:
        """Read the files that the task uses besides its model, and return a line that describes them.

        Return None if there are none; raise UserError if one is invalid.
        """
        return None

    def warnings(self, view: TokenView, instances: Instances) -> list[str]:
        """Return warnings about labelled positions as lines of text."""
        return []

    def with_fallback(self) -> Task | None:
        """Return the task including positions that no model decides (see `Group.learned`)."""
        return None

    def certain_mistakes(
        self, view: TokenView, instances: Instances
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Return mistakes that are known by a rule or a table: row, intended candidate, and probability.

        The probabilities are those that the observed word is a mistake, between 0 and 1. If the decision rule
        of the model is more certain of that, its probability counts.
        """
        return np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0)

    def right_words(self, view: TokenView) -> NDArray[np.bool_] | None:
        """Return which tokens are known to be right in their context, shape ``(n_tokens,)``, or None.

        Of models that decide together, none flags such a token, or the empty place before it.
        """
        return None


class ExtractorTraits:
    """Fields and methods that an extractor can have, with their defaults."""

    requires: Sequence[str] = ()
    """Layers that the view must have."""
    rows_are_shared: bool = False
    """Whether rows do not depend on the candidates (`CrossedRows`); then their evidence counts once."""
    cross_fit: bool = False
    """Whether `fit` learns from labels; then training examples are transformed out of fold."""
    folders: Sequence[str] = ()
    """See `TaskTraits.folders`."""
    describes: str = "any"
    """The candidates it supports: ``"group"``, ``"lists"`` (per-instance candidates), or ``"any"``."""
    feature_source: object = None
    """What features are computed from, such as a count table, if they depend on nothing else.

    Of models that decide together, extractors of one class with the same object transform instances once. A
    subclass has to declare it again."""

    def with_names(self, view: TokenView, instances: Instances) -> Any:
        """Return the extractor with names for the columns that occur in `instances`, if it stores none."""
        return self


class LearnerTraits:
    """Fields that a learner can declare, with their defaults."""

    needs_training: bool = True
    """False if `fit` ignores the examples, as in an unsupervised sum."""
    takes: tuple[type, ...] = ()
    """Batch storages that it accepts, the preferred one first; others are converted if possible, or refused
    (D459). Empty: any batch."""
    own_labels: bool = False
    """Whether it accepts `CrossedRows` whose instances have labels of their own; others are converted."""


class DecisionRuleTraits:
    """Fields and methods that a decision rule can have, with their defaults."""

    between: tuple[Between, ...] = ("words", "labels", "lists")
    """The values of `Decides.between` that it supports."""
    learns_mistakes: bool = False
    """Whether it learns from human errors (`HasErrorCorpus`), if there are any."""
    sees_beside: bool = False
    """Whether it uses the words before and after a position."""
    sees_parts: bool = False
    """Whether it uses the contributions of feature groups to a score."""
    mistakes_per_1000: float | None = None
    """How many mistakes per 1,000 words it assumes; ``with_mistakes_per_1000(number)`` changes that.

    More mistakes never lower a probability. None if it makes no such assumption or is not fitted.
    """
    least_margin: float | None = None
    """The margin below which it abstains, in log-odds; with ``with_least_margin(margin)``.

    None if it never abstains.
    """

    def gains(self) -> tuple[Floats, Floats] | None:
        """Return ascending rates and the recall of errors at each, so that models can share a budget."""
        return None


Arrays = Mapping[str, NDArray[Any]]


class CalibrationData(Protocol):
    """Held-out examples to which a decision rule is fitted (`disambig.api.judges.CalibrationData`)."""

    @property
    def task(self) -> Task:
        """The task."""

    @property
    def n_words(self) -> int:
        """Number of words of the text around the examples; 0 if there is none."""

    @property
    def rng(self) -> np.random.Generator:
        """The random generator."""

    def scored(self, group: int, *, maximum: int | None = None) -> ScoreBatch:
        """Return the scored examples of a group, or a random sample of `maximum` of them."""


@runtime_checkable
class HasErrorCorpus(Protocol):
    """Calibration data with human errors, and correct words of text that was not counted."""

    @property
    def n_mistakes(self) -> int:
        """Number of all errors in the text, including those that the task does not decide."""

    @property
    def n_right_words(self) -> int:
        """Number of words of the text around the correct words."""

    def right(self, group: int) -> ScoreBatch:
        """Return correct words of a group, in text order."""

    def mistakes(self, group: int) -> ScoreBatch:
        """Return errors of a group: the written word is observed, the intended word has cost 0."""


@runtime_checkable
class DecisionRule(Protocol):
    """Turns scores into decisions: a frozen configuration with the learned state."""

    def fit(self, data: CalibrationData, *, progress: Progress = no_progress) -> DecisionRule:
        """Return a decision rule fitted to the examples of each group."""

    def judge(self, scored: ScoreBatch, *, flags_per_1000: float | None = None) -> Predictions:
        """Decide instances of any groups, at its own or the given rate of flags.

        The result is a `disambig.api.judges.JudgedScores`, as plugins call `disambig.data.Predictions`. Its
        method ``JudgedScores.by_group(scored, function)`` calls a function for the scores of each group.
        """

    def probabilities(self, scored: ScoreBatch) -> Floats | None:
        """Return the probability that each candidate is right, ``(n_candidates,)``, or None if unknown.

        As in `judge`, the instances are of any groups; see `ScoreBatch.map_groups`.
        """

    def state(self) -> Arrays:
        """Return the learned state as arrays."""

    def from_state(self, arrays: Arrays, groups: Sequence[Group]) -> DecisionRule:
        """Return a decision rule with the given state; raise ValueError if it does not fit."""


@runtime_checkable
class RaisesFlags(Protocol):
    """A decision rule that flags words; at an infinite rate it flags everything it can flag at any rate."""

    flags_per_1000: float
    """The current rate of flags per 1,000 correct words."""

    def limit(self, flags_per_1000: float | None = None) -> float:
        """Return the probability threshold for flags at a rate; raise D401 for an invalid rate."""


# Tasks


@runtime_checkable
class Task(Protocol):
    """Defines where decisions are made, and between which candidates."""

    @property
    def name(self) -> str:
        """The name, which is also the default key of the annotations, such as ``"preposition"``."""

    @property
    def language(self) -> str:
        """Language code, or ``""`` for any."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of candidates, each with its own model; per-instance candidates have a group, too."""

    def instances(self, view: TokenView) -> Instances:
        """Return the decisions to make in `view`, in text order."""


@runtime_checkable
class LearnsSettings(Protocol):
    """A task that learns settings, such as its labels, from labelled examples (none for lists)."""

    def learn_settings(
        self, labelled: Sequence[Any], tokenisation: Tokenisation | None = None
    ) -> dict[str, Any]:
        """Return the settings that the config leaves open, as arguments of the task's constructor."""


@runtime_checkable
class Extensible(Protocol):
    """A task to which users can add groups of candidates."""

    def with_groups(self, groups: Sequence[Group]) -> Task:
        """Return the task with further groups after its own."""


@runtime_checkable
class TakesGroups(Protocol):
    """A task whose groups come from outside its config, such as a file that can change.

    A saved model sets the groups that it was trained for before `groups` is used.
    """

    def of_groups(self, groups: Sequence[Group]) -> Task:
        """Return the task with these groups instead of its own."""


@runtime_checkable
class HasExamples(Protocol):
    """A task that learns from other positions in text than it decides, such as additional ones."""

    def examples(self, view: TokenView) -> Instances:
        """Return the positions to learn from; their observed candidates are assumed to be right."""


# Features


@runtime_checkable
class CandidateBatch(Protocol):
    """The one matrix form every learner reads: a linear map from flat weights to row scores.

    Rows are candidates, or the parts (edges, rules) of structured candidates. The rows of
    instance i are ``offsets[i]:offsets[i + 1]``; every instance has at least one.
    """

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The first row of each instance, shape ``(n + 1,)``."""

    @property
    def cost(self) -> NDArray[np.float32]:
        """The cost of each row, zero for right ones, shape ``(n_rows,)``."""

    @property
    def columns(self) -> Columns:
        """The meaning of the flat weights."""

    @property
    def layout(self) -> Any:
        """How rows combine, for the decoder: `offsets` if each row is a candidate."""

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
    """Features of the instances of one group.

    Attributes
    ----------
    batch : CandidateBatch
    n_hits, n_queries : arrays of int32, shape (n_candidates,)
        Evidence for each candidate: number of successful look-ups, and of all look-ups. Where an extractor
        looks things up, as in a count table, no correction is proposed that it found nothing for. An
        extractor that looks nothing up gives zeros for both.
    """

    batch: CandidateBatch
    n_hits: NDArray[np.int32]
    n_queries: NDArray[np.int32]


@runtime_checkable
class FeatureExtractor(Protocol):
    """Describes each candidate by features."""

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> FeatureExtractor:
        """Learn vocabularies and thresholds; return a fitted extractor."""

    def transform(self, view: TokenView, table: GroupedInstances) -> list[Features]:
        """Return the features of the candidates of the instances of each group of `table`.

        `disambig.api.by_group` makes such a method out of one for a single group.
        """

    def state(self) -> Arrays:
        """Return the learned state as arrays."""

    def from_state(self, arrays: Arrays) -> FeatureExtractor:
        """Return an extractor of this configuration with the given state."""


@runtime_checkable
class ReadsCountTable(Protocol):
    """An extractor that uses a count table, which is not stored in the model."""

    @property
    def table(self) -> Any:
        """The table, opened on first use; its ``identity`` (str) is unique."""


@runtime_checkable
class Kernel(Protocol):
    """The similarity of two instances: a frozen configuration that learns nothing."""

    @property
    def is_linear(self) -> bool:
        """Whether the kernel is the inner product of `rows`, which have the columns of the batch."""

    def rows(self, batch: CandidateBatch) -> Any:
        """Return the rows that the kernel compares, a scipy.sparse.csr_array of shape ``(n, d)``."""

    def gram(self, left: Any, right: Any) -> Floats:
        """Return the kernel matrix of two sets of such rows, shape ``(n, m)``."""


# Learning


@runtime_checkable
class Decoder(Protocol):
    """Turns row scores into the best rows or marginals; `layout` says how rows combine.

    With ``scores + cost``, `best` is loss-augmented; rows with score minus infinity are forbidden.
    """

    def best(self, scores: Floats, layout: Any) -> Floats:
        """Return 1 for each row of the best candidates, 0 for others."""

    def marginals(self, scores: Floats, layout: Any) -> tuple[Floats, Floats]:
        """Return row marginals under softmax, and the log partition of each instance."""


@runtime_checkable
class FindsTop(Protocol):
    """A decoder that can also find the k best candidates."""

    def top(self, scores: Floats, layout: Any, k: int) -> list[tuple[Floats, Any]]:
        """Return scores and candidates of each instance, best first, at most `k`."""


class Scorer(Protocol):
    """A fitted decision function."""

    def scores(self, batch: CandidateBatch) -> Floats:
        """Return one score per row, shape ``(n_rows,)``."""

    def state(self) -> Arrays:
        """Return the state of the scorer as arrays."""


@runtime_checkable
class LinearScores(Protocol):
    """A linear scorer, whose decisions can be explained."""

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, Floats]:
        """Return the batch in the columns of the scorer, and flat weights for these columns.

        ``same.scores(weights)`` are its scores.
        """


@runtime_checkable
class FindsBest(Protocol):
    """A scorer that finds the best candidates faster than by scoring all."""

    def best(self, batch: CandidateBatch) -> NDArray[np.int64]:
        """Return the index of the best candidate of each instance, shape ``(n,)``."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A scorer and a report of its training, plain values that are saved with the model."""

    scorer: Scorer
    report: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class Learner(Protocol):
    """A frozen configuration that learns a scorer from a batch, independent of groups."""

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
class HasOpenSettings(Protocol):
    """A learner with an open setting, which is chosen on folds before the final training."""

    def with_tuned(self, reports: Sequence[Mapping[str, Any]]) -> Learner:
        """Return the learner with the setting chosen from the reports of several fits."""


@runtime_checkable
class SharesWeights(Protocol):
    """A learner that can share weights between groups and use them as a prior of each group."""

    def fit_shared(self, batches: Sequence[CandidateBatch]) -> Scorer:
        """Return the scorer of all groups, which also decides groups with too few examples."""

    def with_prior(self, shared: Scorer) -> Learner:
        """Return this learner with the shared scorer as prior."""

    def shared_from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild the saved scorer of all groups."""


_UNDECLARED = object()


def get_trait(component: object, traits: type, name: str) -> Any:
    """Return a trait of a component, or its default in `traits`; a default method is bound to it."""
    value = getattr(component, name, _UNDECLARED)
    if value is not _UNDECLARED:
        return value
    default = vars(traits)[name]
    return MethodType(default, component) if isinstance(default, FunctionType) else default


def decides(task: Task) -> Decides:
    """Return what a task decides.

    Raises D414 if it declares something other than a `Decides`.
    """
    traits = get_trait(task, TaskTraits, "decides")
    if not isinstance(traits, Decides):
        raise contract_error(describe_component("tasks", task), f"decides is {traits!r}", "a Decides(...)")
    return traits


_FEW_CANDIDATES = 10
"""Number of candidates of a group whose corrections are named when a task is checked."""


def check_declarations(task: Task) -> None:
    """Check what a task declares, before it is given a text.

    Raises D414 for a missing or invalid name, language, trait or method, invalid groups, or rules that do not
    name the corrections of its groups.
    """
    component = describe_component("tasks", task)
    for name, wanted in _DECLARED.items():
        if not hasattr(task, name) and getattr_static(task, name, None) is None:
            raise contract_error(component, f"it has no {name}", wanted)
    check_call(component, task, "instances", _DECLARED["instances"], None)
    if not isinstance(task.name, str) or not task.name.isidentifier():
        raise contract_error(component, f"its name is {task.name!r}", _DECLARED["name"])
    if not isinstance(task.language, str) or not is_language_code(task.language):
        raise contract_error(component, f"its language is {task.language!r}", _DECLARED["language"])
    folders(task)
    if (concern := get_trait(task, TaskTraits, "concerns")) not in get_args(Concern):
        raise contract_error(component, f"concerns is {concern!r}", f"one of {', '.join(get_args(Concern))}")
    for name, choices in (("where", get_args(Where)), ("between", get_args(Between))):
        if (value := getattr(decides(task), name)) not in choices:
            raise contract_error(component, f"{name} of decides is {value!r}", f"one of {', '.join(choices)}")
    _check_metric(task, component)
    _check_groups(task, component)
    _check_rules(task, component)


def is_language_code(language: str) -> bool:
    """Return True for a code such as ``"en"`` or ``"pt-BR"``, and for ``""``, any language."""
    return re.fullmatch("|[a-z]{2,3}([-_][A-Za-z0-9]+)*", language) is not None


_DECLARED = {
    "name": "a name of letters, digits and underscores that does not begin with a digit",
    "language": 'a code such as "en", or "" for any language',
    "groups": "a tuple of Group",
    "instances": "a method instances(view) that returns Instances",
}
"""The attributes that every task must have, and what is expected of each."""


def _check_metric(task: Task, component: str) -> None:
    """Raise D414 unless the metric of a task is a name and a candidate of its groups, or None."""
    declared: Any = get_trait(task, TaskTraits, "metric")
    if not isinstance(declared, tuple | list) or len(declared) != 2 or not isinstance(declared[0], str):
        wanted = 'a name and a candidate or None, such as ("f1", "referential")'
        raise contract_error(component, f"metric is {declared!r}", wanted)


def _check_groups(task: Task, component: str) -> None:
    """Raise D414 for groups that a model cannot be trained for."""
    groups: Any = task.groups
    if not isinstance(groups, tuple | list) or not all(isinstance(group, Group) for group in groups):
        first = f" with {groups[0]!r}" if isinstance(groups, tuple | list) and groups else ""
        seen = f"groups is {describe_value(groups)}{first}"
        raise contract_error(component, seen, _DECLARED["groups"])
    name, count = Counter(group.name for group in groups).most_common(1)[0] if groups else ("", 0)
    if count > 1:
        raise contract_error(component, f"two groups are called {name!r}", "different names")
    for group in groups:
        candidates: Any = group.candidates
        is_tuple = isinstance(candidates, tuple) and all(isinstance(one, str) for one in candidates)
        if not is_tuple:
            seen = f"the candidates of the group {group.name!r} are {candidates!r}"
            raise contract_error(component, seen, 'a tuple of texts, such as ("a", "an")')
    between = decides(task).between
    for group in groups if between != "lists" else ():
        distinct = set(group.candidates)
        if len(distinct) < len(group.candidates) or (between == "words" and len(distinct) < 2):
            seen = f"the candidates of the group {group.name!r} are {group.candidates!r}"
            raise contract_error(component, seen, "two or more different ones")


def _check_rules(task: Task, component: str) -> None:
    """Raise D414 if the rules of a task are invalid, or do not name the corrections of its groups."""
    declared, rules = get_trait(task, TaskTraits, "rules"), task_rules(task)
    for rule_set in (rules, declared if declared is not None else rules):
        members: Any = rule_set.rules
        is_valid = isinstance(members, tuple | list) and all(isinstance(rule, Rule) for rule in members)
        if not is_valid or not callable(rule_set.name_correction):
            raise contract_error(component, f"rules is {rule_set!r}", "RuleSet((Rule(...), ...), function)")
    if decides(task).between == "labels":
        return
    for group in task.groups:
        for written, meant in pairwise(group.candidates[:_FEW_CANDIDATES]):
            rules.rule_name(Correction.plain(written, meant, group.name))


def metric(task: Task) -> tuple[str, str | None]:
    """Return the measure of a task and its candidate (see `TaskTraits.metric`)."""
    name, candidate = get_trait(task, TaskTraits, "metric")
    return str(name), candidate


def concerns(task: Task) -> str:
    """Return the kind of errors that a task flags."""
    return str(get_trait(task, TaskTraits, "concerns"))


def task_rules(task: Task) -> RuleSet:
    """Return the rules of a task's flags: those that it declares for its language, or a single one.

    Raises D414 if it declares something other than a `RuleSet`.
    """
    rules = get_trait(task, TaskTraits, "rules")
    if rules is None or (isinstance(rules, RuleSet) and rules.language not in ("", task.language)):
        return default_rules(task.name, type(task), get_trait(task, TaskTraits, "concerns"))
    if not isinstance(rules, RuleSet):
        raise contract_error(describe_component("tasks", task), f"rules is {rules!r}", "a RuleSet(...)")
    return rules


def folders(component: type | Task | FeatureExtractor) -> tuple[str, ...]:
    """Return the settings of a task or extractor, or of its class, that can name folders.

    Raises
    ------
    UserError
        D414 if it declares something other than a tuple of names.
    """
    kind = "tasks" if hasattr(component, "instances") else "extractors"
    return _trait_names(kind, component, get_trait(component, TaskTraits, "folders"), "folders", "counts")


def requires(extractor: FeatureExtractor) -> tuple[str, ...]:
    """Return the layers that an extractor needs.

    Raises D414 if it declares something other than a tuple of names.
    """
    layers = get_trait(extractor, ExtractorTraits, "requires")
    return _trait_names("extractors", extractor, layers, "requires", "tag")


def _trait_names(kind: str, component: object, names: Any, trait: str, example: str) -> tuple[str, ...]:
    """Return the names that a trait lists; a text instead of a tuple would be read letter by letter."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        wanted = f'a tuple of names, such as ("{example}",)'
        raise contract_error(describe_component(kind, component), f"{trait} is {names!r}", wanted)
    return tuple(names)


def _trait_flag(kind: str, component: object, traits: type, trait: str) -> bool:
    """Return a trait that is true or false; raise D414 for another value, such as a text."""
    value = get_trait(component, traits, trait)
    if not isinstance(value, bool | np.bool_):
        raise contract_error(describe_component(kind, component), f"{trait} is {value!r}", "True or False")
    return bool(value)


def rows_are_shared(extractor: FeatureExtractor) -> bool:
    """Return True if the extractor's rows do not depend on the candidates."""
    return _trait_flag("extractors", extractor, ExtractorTraits, "rows_are_shared")


def describes(extractor: FeatureExtractor) -> str:
    """Return the kind of candidates that an extractor supports."""
    return str(get_trait(extractor, ExtractorTraits, "describes"))


def feature_source(extractor: FeatureExtractor) -> tuple[type, int]:
    """Return a key that is equal for extractors that give the same features.

    The trait of a base class does not count: its subclass may have settings of its own.
    """
    source = None
    if "feature_source" in vars(type(extractor)):
        source = get_trait(extractor, ExtractorTraits, "feature_source")
    return type(extractor), id(extractor if source is None else source)


def cross_fits(extractor: FeatureExtractor) -> bool:
    """Return True if an extractor learns from labels."""
    return _trait_flag("extractors", extractor, ExtractorTraits, "cross_fit")


def needs_training(learner: Learner) -> bool:
    """Return True if a learner uses the examples."""
    return _trait_flag("learners", learner, LearnerTraits, "needs_training")


def judged_between(judge: DecisionRule) -> tuple[Between, ...]:
    """Return the values of `Decides.between` that a decision rule supports.

    Raises D414 if it declares something other than a tuple of these values.
    """
    between = get_trait(judge, DecisionRuleTraits, "between")
    if not isinstance(between, tuple | list) or not set(between) <= set(get_args(Between)):
        wanted = f"a tuple of some of {', '.join(get_args(Between))}, such as ('words',)"
        raise contract_error(describe_component("judges", judge), f"between is {between!r}", wanted)
    return tuple(between)


def learns_mistakes(judge: DecisionRule) -> bool:
    """Return True if a decision rule learns from human errors."""
    return bool(get_trait(judge, DecisionRuleTraits, "learns_mistakes"))


def sees_beside(judge: DecisionRule) -> bool:
    """Return True if a decision rule uses the words before and after a position."""
    return bool(get_trait(judge, DecisionRuleTraits, "sees_beside"))


def sees_parts(judge: DecisionRule) -> bool:
    """Return True if a decision rule uses the contributions of feature groups."""
    return bool(get_trait(judge, DecisionRuleTraits, "sees_parts"))


def takes(learner: Learner) -> tuple[type, ...]:
    """Return the batch storages that a learner accepts; empty for any.

    Raises D414 if it declares something other than a tuple of classes.
    """
    storages = get_trait(learner, LearnerTraits, "takes")
    if not isinstance(storages, tuple | list) or not all(isinstance(storage, type) for storage in storages):
        shown = storages.__name__ if isinstance(storages, type) else repr(storages)
        wanted = "a tuple of classes, such as (SparseRows,)"
        raise contract_error(describe_component("learners", learner), f"takes is {shown}", wanted)
    return tuple(storages)


def accepts_own_labels(learner: Learner) -> bool:
    """Return True if a learner accepts crossed rows whose instances have labels of their own."""
    return _trait_flag("learners", learner, LearnerTraits, "own_labels")


@dataclass(frozen=True, slots=True)
class FeatureEvidence:
    """The result of a look-up for one attribute of one instance."""

    text: str  # what was looked up, such as an n-gram
    count: int  # its count; 0 if the source does not contain it
    # Minimum count for the source to contain it: 1 if the source is complete, None if it can lack n-grams of
    # any count
    least: int | None = 1


@runtime_checkable
class ExplainsFeatures(Protocol):
    """An extractor that can explain its columns."""

    def evidence(
        self, view: TokenView, instances: Instances, group: Group
    ) -> Mapping[tuple[str, str], FeatureEvidence]:
        """Return the evidence for the attributes of a single instance, by candidate and column.

        A column is identified by its name without the prefix ``"candidate: "``. Attributes without a look-up,
        such as a bias, are omitted.
        """
