"""The checks for plugin authors accept correct components and report faults of others."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from failing_checks import failures
from scipy.sparse import csr_array
from toy_decoders import Chart, bracketings, derivations, packed, paths
from toy_learners import Constant, Perceptron
from toy_plugin import Marks, NearbyWords, Pairs

from disambig import testing
from disambig.api import (
    Columns,
    DenseBlocks,
    Enumerated,
    Features,
    Fitted,
    LinearScorer,
    SparseRows,
    StatelessExtractor,
    UserError,
    by_group,
)
from disambig.api.decoding import Chain, Hypergraph
from disambig.api.formats import Labelled
from disambig.api.runners import ProgressCounter, WorkOutcome, ignore_progress
from disambig.data import CandidateLists, CrossedRows, Group, Instances
from disambig.tasks import Lists
from disambig.testing import (
    blocks,
    check_decoder,
    check_extractor,
    check_kernel,
    check_learner,
    check_measure,
    check_reader,
    check_runner,
    check_standalone,
    check_task,
    check_tokenisation,
    crossed,
    lists,
)
from disambig.testing.checks import require_batch
from disambig.text import Words, hash_word
from disambig.types import Decides

TEXTS = ["It is quite quiet.", "A piece of cake."]


def test_a_check_is_a_pair_of_a_name_and_a_function():
    name, run = check_learner(Constant())[0]
    assert name == str(check_learner(Constant())[0]) == "keeps_its_contract"
    assert run() is None


class Fussy(Constant):
    """A learner that finds an error of the user."""

    def fit(self, batch, *, dev=None, rng=None):
        raise UserError("D995", path="words.tsv", problem="it is empty")


def test_errors_of_users_are_raised_as_they_are():
    with pytest.raises(UserError, match="D995"):
        check_learner(Fussy())[0]()


def test_every_function_of_the_suite_is_in_its_documentation():
    message = inspect.getdoc(testing)
    assert message is not None
    assert "check_learner(MyLearner())" in message
    parts = "batch decoder extractor judge kernel learner measure reader runner standalone task tokenisation"
    assert [name for name in testing.__all__ if name.startswith("check_")] == [
        f"check_{part}" for part in parts.split()
    ]


@pytest.mark.parametrize("batch", [blocks(), lists(), crossed()], ids=lambda batch: type(batch).__name__)
def test_the_shipped_problems_are_in_order_and_can_be_solved(batch):
    require_batch(batch, "problem")
    assert failures(check_learner(Perceptron(), batch, least=1.0)) == {}


class Moody(Perceptron):
    """A learner with other results in each call and an incomplete state."""

    def fit(self, batch, *, dev=None, rng=None):
        noise = np.random.default_rng().normal(size=len(batch.columns))
        return Fitted(LinearScorer(noise), {"array": noise})

    def from_state(self, arrays):
        return LinearScorer(np.zeros_like(arrays["weights"]))


def test_a_broken_learner_is_found():
    failed = failures(check_learner(Moody(), least=1.0))
    assert {"is_repeatable", "keeps_its_contract", "state_is_complete", "learns"} <= set(failed)
    assert "expected at least 100.0%" in failed["learns"]
    assert "returns_one_finite_score_per_row" not in failed


class Undefined(Perceptron):
    """A learner whose scores are NaN."""

    def fit(self, batch, *, dev=None, rng=None):
        return Fitted(LinearScorer(np.full(len(batch.columns), np.nan)), {})


def test_nan_scores_are_repeatable_but_not_finite():
    failed = failures(check_learner(Undefined()))
    assert "is_repeatable" not in failed and "state_is_complete" not in failed
    assert failed["learns"] == failed["returns_one_finite_score_per_row"] == "some scores are not finite"
    assert max(map(len, failed.values())) < 300


class OnlyCrossed(Perceptron):
    """A learner whose scorer only accepts converted batches."""

    takes = (CrossedRows,)


def test_a_scorer_gets_batches_that_are_not_converted():
    checks = {check.name: check for check in check_learner(OnlyCrossed())}
    with pytest.raises(AssertionError, match="DenseBlocks: only examples for fit are converted"):
        checks["keeps_its_contract"]()
    assert failures(check_learner(OnlyCrossed(), crossed())) == {}


class Greedy(Perceptron):
    """A learner that changes its examples."""

    def fit(self, batch, *, dev=None, rng=None):
        batch.values[:] = 0
        return super().fit(batch)


def test_a_learner_that_changes_its_examples_is_found():
    assert "does_not_change_examples" in failures(check_learner(Greedy(epochs=3), blocks(20)))


@dataclass(frozen=True)
class Shuffled(Pairs):
    """A task with instances in reverse order, some of them at a boundary word."""

    def instances(self, view):
        result = super().instances(view)
        return replace(result, positions=result.positions[::-1] + 1)


@pytest.mark.parametrize(
    ("task", "texts", "check", "message"),
    [
        (Shuffled(), TEXTS, "keeps_its_contract", "instances has position 5 after 10"),
        (Pairs(("same/same",)), TEXTS, "keeps_its_contract", "two or more different ones"),
        (Pairs(), ["Nothing."], "finds_instances", "give texts with something to decide"),
    ],
    ids=["order", "equal candidates", "no instance"],
)
def test_a_broken_task_is_found(task, texts, check, message):
    assert message in failures(check_task(task, texts))[check]


class Forgetful(NearbyWords):
    """An extractor with a wrong state."""

    def fit(self, view, instances, groups):
        return Forgetful(self.reach, super().fit(view, instances, groups).vocabulary)

    def from_state(self, arrays):
        return Forgetful(self.reach, arrays["vocabulary"][::-1])


def test_a_broken_extractor_is_found():
    failed = failures(check_extractor(Forgetful(), Pairs(), TEXTS))
    assert set(failed) == {"state_is_complete", "keeps_its_contract"}
    assert "features differ after from_state" in failed["keeps_its_contract"]


class WithoutFit(NearbyWords):
    """An extractor with a misspelt method."""

    fit = None


class Free(NearbyWords):
    """An extractor whose candidates all have cost 0."""

    def fit(self, view, instances, groups):
        return Free(self.reach, super().fit(view, instances, groups).vocabulary)

    def transform_group(self, view, instances, group):
        features = super().transform_group(view, instances, group)
        batch = replace(features.batch, costs=np.zeros_like(features.batch.costs))
        return replace(features, batch=batch)


@pytest.mark.parametrize(
    ("extractor", "message"),
    [
        (WithoutFit(), "it has no method fit; expected fit(view, instances, groups)"),
        (Free(), "the cost of candidate 1 is 0; expected 1, as in instances.costs(group)"),
    ],
)
def test_an_extractor_without_fit_or_with_other_costs_is_found(extractor, message):
    assert message in failures(check_extractor(extractor, Pairs(), TEXTS))["keeps_its_contract"]


class Lopsided(SparseRows):
    """A batch whose adjoint does not match its scores."""

    def adjoint(self, mass):
        return 2 * super().adjoint(mass)


def test_a_broken_batch_is_found():
    good = lists(5)
    bad = Lopsided(good.rows, good.offsets, good.cost, good.columns)
    with pytest.raises(AssertionError, match="adjoint and scores do not match"):
        require_batch(bad, "lists")
    with pytest.raises(AssertionError, match="an instance has no row"):
        require_batch(replace(good, offsets=np.insert(good.offsets, 1, 0)), "lists")


TASK_TEXTS = ["It is quite quiet.", "A quiet piece of cake."]
FORMS = {"quite": ("quite", "quiet"), "quiet": ("quiet",), "piece": ("peace", "piece", "peas")}


@dataclass(frozen=True)
class Forms:
    """A task that decides between the forms of each word (per-instance candidates)."""

    decides = Decides("words", "lists")
    name: str = "forms"
    language: str = ""
    groups: tuple = (Group("forms", ()),)

    def instances(self, view):
        words = {hash_word(word): word for word in FORMS}
        at = [i for i, key in enumerate(view.hashes.tolist()) if key in words]
        seen = [words[int(view.hashes[i])] for i in at]
        n = len(at)
        observed = [FORMS[word].index(word) for word in seen]
        change_lists = CandidateLists.from_texts([FORMS[word] for word in seen])
        ones = np.ones(n, np.int32)
        return Instances(np.array(at, np.int64), ones, 0 * ones, np.array(observed, np.int32), change_lists)


@pytest.mark.parametrize("task", [Pairs(), Marks(), Forms(), Lists()], ids=lambda task: type(task).__name__)
def test_tasks_in_order(task):
    assert failures(check_task(task, TASK_TEXTS)) == {}


@dataclass(frozen=True)
class Spoiled(Forms):
    """A task whose instances are changed by a function."""

    change: object = None

    def instances(self, view):
        result = super().instances(view)
        return self.change(result) if len(result) else result


def change_lists(**changes):
    return lambda result: replace(
        result, lists=replace(result.lists, **{name: of(result.lists) for name, of in changes.items()})
    )


INVALID_LISTS = {
    "keeps_its_contract": [
        (lambda result: replace(result, lists=None), "lists of instances is None"),
        (lambda result: replace(result, lists=[["a"]] * len(result)), "lists of instances is a list"),
        (lambda result: replace(result, lists=result.lists.take(slice(1, None))), "3 lists for 4 instances"),
        (change_lists(offsets=lambda held: np.insert(held.offsets[:-1], 0, 0)), "an empty list for instance"),
        *(
            (change_lists(texts=lambda held, other=other: [other, *held.texts[1:]]), f"candidate {other!r};")
            for other in (None, 1, b"lose")
        ),
        (lambda result: replace(result, observed=result.observed + 2), "observed of instances is "),
        (change_lists(texts=lambda held: held.texts[::-1]), "has the observed candidate 'peas'"),
    ],
    "lists_are_complete": [
        (change_lists(texts=lambda held: held.texts[:-1]), "texts of 6 candidates"),
        (change_lists(costs=lambda held: held.costs[1:]), "costs of 6 candidates"),
        (change_lists(texts=lambda held: [1] * len(held.texts)), "is not a text"),
        (change_lists(scores=lambda held: held.scores + np.inf), "base score"),
        (change_lists(ranks=lambda held: held.ranks - 1), "a rank is below 0"),
        (change_lists(costs=lambda held: 0 * held.scores - 1), "a cost is negative"),
        (change_lists(features=lambda held: csr_array(np.ones((2, 2)))), "shape (2, 2), not (7, 0)"),
    ],
    "places_are_inside_sentences": [
        (lambda result: replace(result, lengths=0 * result.lengths), "an instance has no token"),
    ],
}


@pytest.mark.parametrize(
    ("check", "change", "message"), [(check, *row) for check, rows in INVALID_LISTS.items() for row in rows]
)
def test_invalid_lists_are_found(check, change, message):
    assert message in failed_one(Spoiled(change=change), check)


def failed_one(task, name):
    """Return the message of one failed check; with invalid lists, other checks may not run at all."""
    (check,) = (item for item in check_task(task, TASK_TEXTS) if item.name == name)
    with pytest.raises(AssertionError) as caught:
        check()
    return str(caught.value)


class MoodyForms(Forms):
    """A task with other candidate lists in each call."""

    def instances(self, view):
        result = super().instances(view)
        rng = np.random.default_rng()
        texts = [f"{text}{rng.integers(10**9)}" for text in result.lists.texts]
        return replace(result, lists=replace(result.lists, texts=texts), observed=0 * result.observed - 1)


def test_lists_that_differ_from_call_to_call_are_named():
    failed = failures(check_task(MoodyForms(), TASK_TEXTS))
    assert "other candidates in the second call" in failed["is_repeatable"]
    assert "single texts have other candidates" in failed["texts_do_not_affect_each_other"]


class Nonsense(Pairs):
    decides = "labels"


class AboutNothing(Pairs):
    metric = ("f1", "cake")


class SeenLabels(Pairs):
    """A task of labels that are observed in the text."""

    decides = Decides(between="labels")


class ItemsInTexts(Forms):
    decides = Decides("items", "lists")


class LongTokens(Pairs):
    """A task of single tokens whose instances have two."""

    decides = Decides("tokens", "words")

    def instances(self, view):
        result = super().instances(view)
        return replace(result, lengths=result.lengths + 1)


@pytest.mark.parametrize(
    ("task", "check", "message"),
    [
        (AboutNothing(), "metric_is_about_a_candidate", "metric 'f1' is about 'cake'"),
        (SeenLabels(), "labels_are_not_in_the_text", "the text contains no labels"),
        (ItemsInTexts(), "finds_instances", "which come from a reader"),
        (LongTokens(), "places_are_inside_sentences", "an instance has several"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_task_that_does_not_do_what_it_declares_is_named(task, check, message):
    assert message in failures(check_task(task, TASK_TEXTS))[check]


def test_a_task_of_lists_needs_no_candidates_in_its_groups_and_others_do():
    none = (Group("none", ()),)

    class Empty(Pairs):
        groups = none

        def instances(self, view):
            return Pairs().instances(view).take(slice(0, 0))

    assert "has_groups_of_candidates" not in failures(check_task(Forms(groups=none), TASK_TEXTS))
    assert "fewer than two" in failures(check_task(Empty(), TASK_TEXTS))["has_groups_of_candidates"]


def test_decides_must_be_a_decides():
    assert "decides is 'labels'" in failed_one(Nonsense(), "keeps_its_contract")


@dataclass(frozen=True)
class LearnsMore(Forms):
    """A task with separate examples, which are its instances after a change by `spoil`."""

    spoil: dict = field(default_factory=dict)

    def examples(self, view):
        return replace(self.instances(view), **self.spoil)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ({}, None),
        ({"observed": np.array([9, 0, 0, 0], np.int32)}, "observed of examples is 9"),
        ({"observed": np.array([1, 0, 0, 1], np.int32)}, "at 'quite' (token 3) has the observed candidate"),
        ({"positions": np.array([4, 3, 9, 10])}, "examples has position 3 after 4"),
    ],
)
def test_the_places_that_a_task_learns_from_are_looked_at_too(spoil, message):
    failed = failures(check_task(LearnsMore(spoil=spoil), TASK_TEXTS))
    if message is None:
        assert failed == {}
    else:
        (name,) = failed
        assert name == "examples_are_valid_instances" and message in failed[name]


LENGTHS = (1, 3, 2)
CHAIN_OFFSETS = np.concatenate([[0], np.cumsum([2 + 4 * (length - 1) for length in LENGTHS])])

CHAINS = [
    [[start + row for row in rows] for rows in paths(2, length)]
    for start, length in zip(CHAIN_OFFSETS, LENGTHS, strict=False)
]

FORESTS = (bracketings(3), bracketings(4), bracketings(2))
FOREST_STARTS = np.concatenate([[0], np.cumsum([len(forest.edges) for forest in FORESTS])])

PARSES = [
    [[start + edge for edge in edges] for edges in derivations(forest)]
    for start, forest in zip(FOREST_STARTS, FORESTS, strict=False)
]

DECODERS = {
    "enumerated": check_decoder(
        Enumerated(), np.array([0, 2, 3, 7]), [[[0], [1]], [[2]], [[3], [4], [5], [6]]]
    ),
    "chain": check_decoder(Chain(2), CHAIN_OFFSETS, CHAINS),
    "chart": check_decoder(Chart(), FORESTS, PARSES),
    "hypergraph": check_decoder(Hypergraph(), packed(FORESTS), PARSES),
}


@pytest.mark.parametrize(
    "check",
    [pytest.param(check, id=f"{name}-{check}") for name, checks in DECODERS.items() for check in checks],
)
def test_decoder(check):
    check()


def test_counts_of_structures():
    assert [len(parses) for parses in PARSES] == [2, 5, 1]
    assert [len(sequences) for sequences in CHAINS] == [2, 8, 4]


class Unnormalised(Enumerated):
    """A decoder whose marginals are not normalised."""

    def marginals(self, scores, layout):
        shares, partition = super().marginals(scores, layout)
        return 2 * shares, partition


def test_a_wrong_decoder_is_found():
    failed = []
    for check in check_decoder(Unnormalised(), np.array([0, 2]), [[[0], [1]]]):
        try:
            check()
        except AssertionError:
            failed.append(check.name)
    assert "marginals_are_right" in failed
    assert "marginals_are_the_gradient" in failed
    assert "finds_the_best" not in failed


def altered(entry, **attributes):
    """Return an object of a subclass that has other attributes."""
    return type("Altered", (type(entry),), attributes)()


class Jaccard:
    """A kernel: the share of common features."""

    is_linear = False

    def rows(self, batch):
        return csr_array(batch.rows)

    def gram(self, left, right):
        common = np.asarray(((left != 0).astype(float) @ (right != 0).astype(float).T).todense())
        sizes = [np.diff(rows.indptr).astype(float) for rows in (left, right)]
        return common / np.maximum(sizes[0][:, None] + sizes[1] - common, 1.0)


class InOrder:
    """A runner that processes items one after the other."""

    def run(self, work, items, *, ordered=False, report_progress=ignore_progress):
        process = None
        for index, item in enumerate(items):
            process = process or work.start()
            progress = ProgressCounter(report_progress)
            try:
                yield WorkOutcome(index, item, process(item, progress), progress=progress.amount)
            except KeyError as problem:
                yield WorkOutcome(index, item, problem=f"KeyError: {problem}")


class Accuracy:
    """A measure."""

    name, unit, more_is_better = "accuracy", "share", True

    def value(self, outcomes):
        return float(outcomes.right.mean()) if len(outcomes) else float("nan")


class Bars:
    """A reader of lines with a label, a bar and a text."""

    suffixes = (".bars",)

    def read(self, source):
        for number, line in enumerate(source.text.splitlines(), 1):
            label, _, text = line.partition("|")
            yield Labelled(text, 0, len(text), label, document=text, where=f"{source.path}:{number}")


def work_alone(self, work, items, *, ordered=False, report_progress=None):
    """Process the items one by one, so that the first exception ends the run."""
    return (WorkOutcome(i, item, work.start()(item, report_progress)) for i, item in enumerate(items))


def first_check(component):
    """Return the first of the checks for components of this kind."""
    if isinstance(component, Enumerated):
        return check_decoder(component, np.array([0, 2]), [[[0], [1]]])[0]
    if isinstance(component, InOrder):
        return check_runner(lambda timeout: component, processes=False)[0]
    if isinstance(component, Words):
        return check_tokenisation(component, TEXTS)[0]
    return check_kernel(component)[0]


FIRST_FAULTS = [
    (Enumerated(), "best", lambda self, scores: scores, r"cannot be called: .*best\(scores, layout\)"),
    (Enumerated(), "best", lambda self, scores, layout: None, "best returned None; expected an array"),
    (Enumerated(), "best", lambda self, scores, layout: scores > 0, "best returned an array of bool"),
    (Enumerated(), "best", lambda self, scores, layout: np.add(scores, 1, out=scores), "scores after best: "),
    (Enumerated(), "marginals", None, "it has no method marginals"),
    (Enumerated(), "marginals", lambda self, scores, layout: scores, "returned .*; expected a tuple of two"),
    (Enumerated(), "marginals", lambda self, scores, layout: (scores, scores), r"second .* of shape \(1,\)"),
    (Jaccard(), "gram", lambda self, left: left, r"gram\(left\) cannot be called"),
    (Jaccard(), "gram", lambda self, left, right: left @ right.T, "gram returned a csr_array .*of floats"),
    (Jaccard(), "gram", lambda self, left, right: None, "gram returned None"),
    (Jaccard(), "rows", lambda self, batch: None, "rows returned None; expected a csr_array"),
    (InOrder(), "run", lambda self, work, items: iter(()), r"run\(work, items\) cannot be .*'ordered'"),
    (InOrder(), "run", lambda self, *args, **options: None, "run returned None"),
    (InOrder(), "run", lambda self, *args, **options: iter([1]), "run gave an int; expected"),
    (InOrder(), "run", work_alone, "an exception in an item ended the run"),
    (Words(), "__call__", lambda self: None, r"__call__\(\) cannot be called"),
    (Words(), "words", lambda self: [], r"words\(\) cannot be called.*words\(text\)"),
]


@pytest.mark.parametrize(("component", "name", "method", "message"), FIRST_FAULTS)
def test_the_first_check_names_the_method_and_its_fault(component, name, method, message):
    first_check(component)()
    with pytest.raises(AssertionError, match=message):
        first_check(altered(component, **{name: method}))()


def test_faults_of_readers_are_named(tmp_path):
    path = tmp_path / "a.bars"
    path.write_text("request|Please wait.\nreport|It rained.\n")
    assert failures(check_reader(Bars(), path)) == {}

    def with_float_starts(self, source):
        return (replace(example, start=0.0) for example in Bars().read(source))

    for read, message in (
        (lambda self: [], r"read\(\) cannot be called"),
        (lambda self, source: None, "read returned None; expected to yield Labelled"),
        (lambda self, source: ["a"], "it gave str, not Labelled"),
        (with_float_starts, "start of an example is 0.0: give a whole number"),
    ):
        checks = {check.name: check for check in check_reader(altered(Bars(), read=read), path)}
        with pytest.raises(AssertionError, match=message):
            checks["keeps_its_contract"]()


def test_faults_of_measures_are_named():
    assert failures(check_measure(Accuracy())) == {}
    failed = failures(check_measure(altered(Accuracy(), value=lambda self: 1.0)), also=(TypeError,))
    assert "value() cannot be called" in failed["describes_itself"]

    def changes(self, outcomes):
        outcomes.scores[:] = 0.0
        return Accuracy().value(outcomes)

    assert "does_not_change_outcomes" in failures(check_measure(altered(Accuracy(), value=changes)))


def test_methods_of_tasks_and_extractors_are_called_as_documented():
    short = altered(Pairs(), instances=lambda self: None)
    with pytest.raises(AssertionError, match=r"the task .*instances\(\) cannot be called.*instances\(view\)"):
        check_task(short, TEXTS)[0]()
    for attributes, message in (
        ({"transform": by_group(lambda self, view, instances: None)}, r"transform\(view, instances\) cannot"),
        ({"fit": lambda self, view: self}, r"fit\(view\) cannot be called"),
        ({"from_state": lambda self: self}, r"from_state\(\) cannot be called"),
        ({"state": lambda self: {"a": np.array([1.0, np.nan])}}, "state returned NaN or infinity under 'a'"),
    ):
        extractor = altered(Echo(), **attributes)
        with pytest.raises(AssertionError, match=f"the extractor .*{message}"):
            check_extractor(extractor, Pairs(), TEXTS)[0]()


class Echo(StatelessExtractor):
    """An extractor of one constant column."""

    @by_group
    def transform(self, view, instances, group):
        n, k = len(instances), len(group.candidates)
        columns = Columns(np.full(1, -1, np.int32), np.zeros(1, np.int32), ("all",), ["one"])
        costs = instances.costs(group).reshape(n, k)
        values = np.ones((n, k, 1), np.float32)
        nothing = np.zeros(n * k, np.int32)
        return Features(DenseBlocks(values, np.zeros((k, 1), int), columns, costs), nothing, nothing)


@dataclass
class WordLengths:
    """A model without a task: the lengths of the words of each line, up to a maximum."""

    longest: int = 4
    language = "en"
    formats = ("toy-lengths",)

    @classmethod
    def load(cls, folder):
        try:
            header = json.loads((Path(folder) / "header.json").read_text(encoding="utf8"))
            return cls(header["longest"])
        except (OSError, ValueError) as problem:
            raise UserError("D995", path=folder, problem=problem) from problem

    def save(self, folder):
        Path(folder).mkdir()
        header = {"format": self.formats[0], "longest": self.longest}
        (Path(folder) / "header.json").write_text(json.dumps(header), encoding="utf8")

    def describe(self):
        return f"lengths of words up to {self.longest}"

    def records(self, texts, *, n_best=1):
        return [[self.line(line) for line in text.splitlines()] for text in texts]

    def line(self, line):
        return {"lengths": [min(len(word), self.longest) for word in line.split()]}


def load_anything(cls, folder):
    try:
        return WordLengths.load.__func__(cls, folder)
    except UserError:
        return cls()


def load_unchecked(cls, folder):
    return cls(**json.loads((Path(folder) / "header.json").read_text(encoding="utf8")))


def load_with_longest(difference):
    return classmethod(lambda cls, folder: cls(WordLengths.load(folder).longest + difference))


def with_records(change):
    """Return a method `records` that changes the right results; it takes the results and the texts."""
    return {"records": lambda self, texts, n_best=1: change(WordLengths.records(self, texts), texts)}


BROKEN_STANDALONES = {
    "describes_itself": [
        *(({"formats": value}, "formats is") for value in ((), "toy", ("",), ("toy", 1))),
        *(({"language": value}, "language is") for value in ("", None)),
        *(
            ({"describe": lambda self, value=value: value}, "expected a line of text")
            for value in ("", "two\nlines", None)
        ),
    ],
    "returns_one_json_list_per_text": [
        (with_records(lambda right, _: right[:1]), "1 lists for 2 texts"),
        (with_records(lambda right, _: [[], *right[1:]]), "no result for"),
        ({"line": lambda self, _: {"lengths": {3}}}, "written as JSON"),
    ],
    "texts_do_not_affect_each_other": [
        (with_records(lambda right, texts: [[*lines, len(texts)] for lines in right]), "other results alone"),
    ],
    "empty_texts_have_no_results": [
        (with_records(lambda right, _: right or [[]]), "is not []"),
        (with_records(lambda right, texts: [["no text"]] if texts == [""] else right), "is not [[]]"),
        (
            with_records(lambda right, texts: [lines or ["none"] for lines in right] if texts[1:] else right),
            "an empty text among others",
        ),
    ],
    "n_best_keeps_the_number_of_results": [
        (
            {"records": lambda self, texts, n_best=1: [["one"] * (n_best if text else 0) for text in texts]},
            "changes the number of sentences",
        ),
    ],
    "saved_model_gives_the_same_results": [
        ({"load": load_with_longest(+1)}, "another description"),
        ({"load": load_with_longest(-3), "describe": lambda self: "lengths of words"}, "other results"),
        (
            {"formats": ("toy-other",), "save": lambda self, folder: WordLengths().save(folder)},
            "'toy-lengths', is not in formats",
        ),
    ],
    "damaged_folders_raise_user_errors": [
        ({"load": classmethod(load_anything)}, "header.json is cut short, but it was loaded as"),
        ({"load": classmethod(load_unchecked)}, "header.json is cut short: JSONDecodeError"),
    ],
}


@pytest.mark.parametrize(
    ("check", "changes", "message"),
    [(check, *row) for check, rows in BROKEN_STANDALONES.items() for row in rows],
)
def test_a_broken_standalone_model_is_found(check, changes, message):
    texts = ["Lines of words\nand more", "Other lines"]
    assert failures(check_standalone(WordLengths(), [*texts, ""])) == {}
    broken = altered(WordLengths(), **changes)
    assert message in failures(check_standalone(broken, texts), also=(Exception,))[check]


def with_gram(change):
    return {"gram": lambda self, left, right: change(Jaccard().gram(left, right))}


@pytest.mark.parametrize(
    ("changes", "check", "message"),
    [
        ({"is_linear": None}, "declares_whether_it_is_linear", "set it to True or False"),
        ({"rows": lambda self, batch: batch.rows[1:]}, "returns_one_row_per_instance", "59 rows for 60"),
        ({"rows": lambda self, batch: batch.rows.toarray()}, "returns_one_row_per_instance", "csr_array"),
        (with_gram(lambda right: right[:, 1:]), "is_symmetric_and_finite", "shape (60, 59) for 60 instances"),
        (with_gram(lambda right: right + np.inf), "is_symmetric_and_finite", "some numbers are not finite"),
        (with_gram(np.triu), "is_symmetric_and_finite", "the transposed Gram matrix"),
        (with_gram(np.negative), "is_positive_semidefinite", "an eigenvalue of the Gram matrix is -"),
    ],
)
def test_a_broken_kernel_is_found(changes, check, message):
    assert failures(check_kernel(Jaccard())) == {}
    broken = altered(Jaccard(), **changes)
    assert message in failures(check_kernel(broken), also=(Exception,))[check]
