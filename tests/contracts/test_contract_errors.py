"""Training and the checks for plugin authors report violations of a contract, with the component."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from itertools import count
from typing import ClassVar

import numpy as np
import pytest
from commands import here
from failing_checks import failures
from model_configs import model_config
from toy_learners import Constant, Perceptron
from toy_plugin import NearbyWords, Pairs
from toy_texts import CONFIG

from disambig.api import (
    CandidateFinder,
    Columns,
    DenseBlocks,
    Features,
    Group,
    LinearScorer,
    SparseRows,
    StatelessExtractor,
    by_group,
    fitted_field,
)
from disambig.api.tasks import CandidateLists, Correction, Rule, RuleSet
from disambig.config import resolve
from disambig.data import find_certain_mistakes, find_instances
from disambig.decision import Corrections
from disambig.errors import UserError
from disambig.formats import Document, Labelled
from disambig.models import ModelSet, annotate_documents, decide_together, save_model
from disambig.testing import check_judge, check_reader, check_task, check_tokenisation, make_calibration_data
from disambig.text import Words
from disambig.training import ResolvedConfig, TrainingPlan, read_plan, train
from disambig.types import Decides, Fitted, check_declarations

TEXTS = ["It was quite good. Keep quiet now, please.", "A piece of cake. We want peace today."] * 6
VIEW = Words()(TEXTS)


def trained(**parts):
    usual = {"task": Pairs(), "tokenisation": Words(), "extractors": {"near": NearbyWords()}}
    usual |= {"learner": Perceptron(), "baseline": Constant()}
    extractors = {"near": parts.pop("extractor")} if "extractor" in parts else usual["extractors"]
    return train(
        usual | parts | {"extractors": extractors},
        {"train": TEXTS, "dev": TEXTS},
        name="broken",
        min_examples=2,
    )


def changed(**changes):
    """Return a task with changed columns of its instances."""

    @dataclass(frozen=True)
    class Changed(Pairs):
        def instances(self, view):
            result = super().instances(view)
            return replace(result, **{name: of(getattr(result, name)) for name, of in changes.items()})

    return Changed()


def with_traits(**traits):
    """Return a task of pairs with other attributes."""
    task = type("Odd", (Pairs,), traits)()
    for name, value in traits.items():  # also in place of the fields of the dataclass
        if not callable(value):
            object.__setattr__(task, name, value)
    return task


OUTPUTS = [
    (changed(positions=list), "positions of instances is a list; expected an array of integers"),
    (changed(positions=lambda old: old + 10_000), r"position \d+ and length 1; expected places among the"),
    (changed(positions=lambda old: old[::-1].copy()), r"position \d+ after \d+; expected .* order of"),
    (changed(observed=lambda old: old + 7), "observed of instances is 7, with 2 candidates at most"),
    (changed(observed=lambda old: 1 - old), "an instance at 'quite' .* has the observed candidate 'quiet'"),
    (changed(positions=lambda old: old + 1), r"at 'good' \(token \d+\) has the observed candidate 'quite'"),
    (changed(lists=lambda _: CandidateLists.from_texts([])), "expected None, as it decides between 'words'"),
]


@pytest.mark.parametrize(("task", "message"), OUTPUTS)
def test_instances_are_checked_before_extractors_see_them(task, message):
    with pytest.raises(UserError, match=f"D414.*the task Changed: .*{message}"):
        trained(task=task)
    with pytest.raises(AssertionError, match=f"D414.*{message}"):
        check_task(task, TEXTS)[0]()


def misnamed(correction):
    return "nothing"


def failing(correction):
    raise KeyError(correction.observed)


RULE = Rule("pair", "A pair.")
DECLARATIONS = [
    (with_traits(decides=Decides("wrods", "words")), "where of decides is 'wrods'; expected one of words"),
    (with_traits(name="a/b c"), "its name is 'a/b c'"),
    (with_traits(language=None), "its language is None"),
    (with_traits(language="English"), 'its language is .English.; expected a code such as "en"'),
    (with_traits(folders="sets"), "folders is 'sets'; expected a tuple of names"),
    (with_traits(metric="f1"), "metric is 'f1'; expected a name and a candidate"),
    (with_traits(groups=(Group("a", "ab"),)), "the candidates of the group 'a' are 'ab'; expected a tuple"),
    (with_traits(groups=(Group("a", ["a", "b"]),)), r"the candidates of the group 'a' are \['a', 'b'\]"),
    (with_traits(groups=("fewer", "less")), "groups is a tuple with 'fewer'; expected a tuple of Group"),
    (with_traits(groups=(Group("one", ("one",)),)), r"the candidates of the group 'one' are \('one',\)"),
    (with_traits(groups=(Group("a", ("a", "b")), Group("a", ("b", "c")))), "two groups are called 'a'"),
    (with_traits(concerns="amounts"), "concerns is 'amounts'; expected one of grammar"),
    (with_traits(rules=("a", "b")), r"rules is \('a', 'b'\)"),
    (with_traits(rules=RuleSet(("a",), misnamed)), r"rules is RuleSet.*expected RuleSet\(\(Rule"),
    (with_traits(rules=RuleSet((RULE,), misnamed)), "contract_errors.misnamed.*returned 'nothing'.*'pair'"),
    (with_traits(rules=RuleSet((RULE,), failing)), r"'quite' .*contract_errors.py:\d+, in failing"),
]


@pytest.mark.parametrize(("task", "message"), DECLARATIONS)
def test_training_and_the_suite_check_what_a_task_declares(task, message):
    with pytest.raises(UserError, match=f"D414.*{message}"):
        trained(task=task)
    with pytest.raises(AssertionError, match="D414"):
        check_task(task, TEXTS)[0]()


@pytest.mark.parametrize("name", ["name", "groups", "instances"])
def test_a_task_without_an_attribute_is_named(name):
    class Bare:
        language = ""
        name = "bare"
        groups = Pairs().groups

        def instances(self, view):
            raise AssertionError("not called")

    delattr(Bare, name)
    with pytest.raises(UserError, match=f"D414.*the task Bare: it has no {name}; expected"):
        trained(task=Bare())


def test_errors_in_the_code_of_a_task_are_not_changed():
    class Failing(Pairs):
        @property
        def groups(self):
            return self.nothing

    with pytest.raises(AttributeError, match="nothing"):
        check_declarations(Failing())


CERTAIN = [
    (None, "certain_mistakes returned None"),
    (([0], [1], [0.9]), "certain_mistakes returned a tuple of a list, a list, a list"),
    ((np.array([500]), np.array([1]), np.array([0.9])), "certain_mistakes names instance 500 of"),
    ((np.array([0]), np.array([5]), np.array([0.9])), "certain_mistakes proposes candidate 5 of 2"),
    ((np.array([0]), np.array([1]), np.array([99.0])), "certain_mistakes gives the probability 99"),
    ((np.array([0]), np.array([1]), np.array([0.0])), "certain_mistakes gives the probability 0"),
    ((np.array([0]), np.array([1, 1]), np.array([0.9])), "as many integers"),
]


@pytest.mark.parametrize(("certain", "message"), CERTAIN)
def test_certain_mistakes_are_checked(certain, message):
    task = with_traits(certain_mistakes=lambda self, view, instances: certain)
    with pytest.raises(UserError, match=f"D414.*{message}"):
        trained(task=task)
    assert "D414" in failures(check_task(task, TEXTS))["certain_mistakes_are_valid"]


def test_certain_mistakes_that_are_valid_are_returned():
    good = np.array([0]), np.array([1]), np.array([1.0])
    task = with_traits(certain_mistakes=lambda self, view, instances: good)
    assert find_certain_mistakes(task, VIEW, task.instances(VIEW)) == good


@pytest.mark.parametrize(
    ("right", "message"),
    [
        ([True], "right_words returned a list"),
        (np.zeros(3, bool), "right_words returned"),
        (np.zeros(len(VIEW), np.int64), "right_words returned"),
    ],
)
def test_right_words_are_checked(right, message):
    task = with_traits(right_words=lambda self, view: right)
    with pytest.raises(UserError, match=f"D414.*{message}.*one for each token"):
        trained(task=task)
    assert "D414" in failures(check_task(task, TEXTS))["right_words_are_a_mask"]


def test_right_words_of_a_model_are_checked_when_it_decides():
    model = trained()
    for right in ([0], np.array([0]), np.zeros(len(VIEW) - 1, bool)):
        broken = replace(model, task=with_traits(right_words=lambda self, view, right=right: right))
        with pytest.raises(UserError, match=r"D414.*right_words returned.*one for each token"):
            decide_together([model, broken], [VIEW, VIEW], [None, None])


def test_right_words_are_not_flagged_by_other_models():
    model = trained()
    with_right_words = replace(
        model, task=with_traits(right_words=lambda self, view: np.ones(len(view), bool))
    )
    view = Words()(["It was quiet good. A peace of cake."])
    (alone,) = decide_together([model], [view], [np.inf])
    both = decide_together([model, with_right_words], [view, view], [np.inf, np.inf])
    assert alone.flagged.any() and not any(decisions.flagged.any() for decisions in both)
    assert all(np.array_equal(decisions.chosen, alone.chosen) for decisions in both)


@dataclass(frozen=True, eq=False)
class Failing(NearbyWords):
    """An extractor whose `transform` raises, always or only after it was restored from its state."""

    restored: bool = False
    only_restored: bool = False

    def fit(self, view, instances, groups):
        return replace(self, vocabulary=super().fit(view, instances, groups).vocabulary)

    def transform_group(self, view, instances, group):
        if not self.only_restored or self.restored:
            raise KeyError("in the middle")
        return super().transform_group(view, instances, group)

    def from_state(self, arrays):
        return replace(self, vocabulary=arrays["vocabulary"], restored=True)


def test_what_transform_raises_is_not_blamed_on_the_state():
    with pytest.raises(KeyError, match="in the middle"):
        trained(extractor=Failing())
    with pytest.raises(UserError, match=r"D414.*from_state needs 'in the middle', but state") as caught:
        trained(extractor=Failing(only_restored=True))
    assert isinstance(caught.value.__cause__, KeyError)


class Changing(StatelessExtractor):
    """An extractor that changes the features of nearby words."""

    def __init__(self, change):
        self.change = change

    @by_group
    def transform(self, view, instances, group):
        near = NearbyWords().fit(VIEW, Pairs().instances(VIEW), Pairs().groups)
        features = near.transform_group(view, instances, group)
        return replace(features, batch=self.change(features.batch))


def varying(batch):
    """Return blocks whose number of attributes depends on the number of instances."""
    n, k = batch.costs.shape
    d = 1 + n % 3
    meaning = Columns(np.repeat(np.arange(k, dtype=np.int32), d), np.zeros(k * d, np.int32), ("words",))
    return DenseBlocks(np.ones((n, k, d), np.float32), np.arange(k * d).reshape(k, d), meaning, batch.costs)


class Blocks(StatelessExtractor):
    """An extractor of class blocks with changed fields."""

    def __init__(self, **fields):
        self.fields = fields

    @by_group
    def transform(self, view, instances, group):
        n, k = len(instances), len(group.candidates)
        columns = Columns(np.full(2, -1, np.int32), np.zeros(2, np.int32), ("a",))
        costs = instances.costs(group).reshape(n, k)
        batch = DenseBlocks(np.ones((n, k, 2), np.float32), np.tile(np.arange(2), (k, 1)), columns, costs)
        none = np.zeros(n * k, np.int32)
        evidence = [self.fields.get(name, 0) + none for name in ("n_hits", "n_queries")]
        fields = {name: change(batch) for name, change in self.fields.items() if callable(change)}
        return Features(replace(batch, **fields), *evidence)


class FitsNothing(NearbyWords):
    """An extractor whose `fit` returns nothing."""

    def fit(self, view, instances, groups):
        return None


class RestoresNothing(NearbyWords):
    """An extractor whose `from_state` returns nothing."""

    def fit(self, view, instances, groups):
        return RestoresNothing(self.reach, super().fit(view, instances, groups).vocabulary)

    def from_state(self, arrays):
        return None


class RestoresItself(NearbyWords):
    """An extractor that changes itself in `from_state`."""

    def from_state(self, arrays):
        object.__setattr__(self, "vocabulary", arrays["vocabulary"])
        return self


class Absorbing(NearbyWords):
    """An extractor that learns in place."""

    def fit(self, view, instances, groups):
        object.__setattr__(self, "vocabulary", super().fit(view, instances, groups).vocabulary)
        return self


def test_a_layer_that_the_tokens_do_not_have_is_named():
    extractor = type("Tagged", (NearbyWords,), {"requires": ("tag",)})()
    with pytest.raises(UserError, match=r"D445.* requires the token layer 'tag'.*\.words\.v1 does not"):
        trained(extractor=extractor)


class TakesOne(Perceptron):
    """A learner whose `takes` is a storage, not a tuple."""

    takes = SparseRows


class Listed(Perceptron):
    """A learner whose weights are a list."""

    def fit(self, batch, *, dev=None, rng=None):
        return Fitted(LinearScorer([0.0] * len(batch.columns)))


class Shrinking:
    """A learner that changes its setting in each `fit`."""

    def __init__(self):
        self.passes = 9

    def fit(self, batch, *, dev=None, rng=None):
        self.passes -= 1
        return Perceptron().fit(batch, dev=dev, rng=rng)

    def from_state(self, arrays):
        return LinearScorer.from_state(arrays)


@dataclass(frozen=True)
class NoRate(Corrections):
    """A decision rule without an argument for the rate."""

    def judge(self, scored):
        return super().judge(scored)


@dataclass(frozen=True)
class ForText(Corrections):
    """A decision rule that declares a text instead of a tuple."""

    between: ClassVar = "words"


@dataclass(frozen=True)
class NoLimit(Corrections):
    """A decision rule without a limit."""

    def limit(self, flags_per_1000=None):
        return None


@dataclass(frozen=True)
class UndefinedLimit(Corrections):
    """A decision rule whose limit is not a number."""

    def limit(self, flags_per_1000=None):
        return float("nan")


@dataclass(frozen=True)
class Unsaved(Corrections):
    """A decision rule that does not save what it has learned."""

    fitted: int = fitted_field(0)

    def fit(self, material, *, progress=None):
        return replace(super().fit(material, progress=progress), fitted=1)

    def judge(self, scored, *, flags_per_1000=None):
        judged = super().judge(scored, flags_per_1000=flags_per_1000)
        return replace(judged, margins=judged.margins + self.fitted)


@dataclass(frozen=True)
class LearnsItself(Corrections):
    """A decision rule that learns in place."""

    def fit(self, material, *, progress=None):
        object.__setattr__(self, "flags_per_1000", 2.0)
        return super().fit(material, progress=progress)


@dataclass(frozen=True)
class NoFit:
    """A decision rule that lacks most methods."""


class Lists:
    """A tokenisation that returns lists."""

    name = "lists.words.v1"

    def __call__(self, texts):
        return [text.split() for text in texts]

    def words(self, text):
        return text.split()


class Shifted(Words):
    """A tokenisation with wrong offsets, whose views have another name."""

    name = "shifted.words.v1"

    def __call__(self, texts):
        view = super().__call__(texts)
        return replace(view, tokenisation="other.v1", starts=view.starts - 1, ends=view.ends + 1)


NUMBERS = count()


def with_view(**changes):
    """Return a tokenisation whose views have other columns."""

    class Odd(Words):
        name = f"odd.{'_'.join(changes)}{next(NUMBERS)}.v1"  # views are cached by name

        def __call__(self, texts):
            view = replace(super().__call__(texts), tokenisation=self.name)
            return replace(view, **{name: change(getattr(view, name)) for name, change in changes.items()})

    return Odd()


def odd(kind, **traits):
    """Return a component with other class attributes."""
    return type("Odd", (kind,), traits)()


FAULTS = {
    "extractor": [
        (Changing(varying), r"transform gave \d columns for .* instances"),
        (Changing(lambda batch: replace(batch, rows=batch.rows * np.nan)), ".* infinite or not a number"),
        (Changing(lambda batch: replace(batch, rows=batch.rows[:, :-1])), ".*; expected 2 columns, one"),
        (Changing(lambda batch: replace(batch, rows=batch.rows.astype(object))), ".*expected rows of number"),
        (Blocks(values=lambda batch: np.ones((*batch.costs.shape, 3))), ".*as column_of; expected"),
        (Blocks(values=lambda batch: np.ones((batch.costs.size, 2))), ".*as values; expected an array"),
        (Blocks(values=lambda batch: batch.values.tolist()), ".*a list as values; expected an array"),
        (Blocks(column_of=lambda batch: batch.column_of + 1), ".*column_of has 2, with 2 columns"),
        (Blocks(n_hits=-1), ".*candidate 0 has -1 hits of 0 look-ups"),
        (Blocks(n_hits=3, n_queries=2), ".*candidate 0 has 3 hits of 2 look-ups"),
        (FitsNothing(), "fit returned None; expected a fitted extractor"),
        (RestoresNothing(), "from_state returned None; expected"),
        (RestoresItself(), r"from_state changed the extractor itself \(vocabulary\)"),
        (Absorbing(), r"fit changed the extractor itself \(vocabulary\)"),
        (odd(NearbyWords, requires="tag"), r"requires is 'tag'; expected a tuple .*, such as \(.tag.,\)"),
        (odd(NearbyWords, folders="counts"), "folders is 'counts'; expected a tuple of names"),
        (odd(NearbyWords, rows_are_shared="no"), "rows_are_shared is 'no'; expected True or False"),
        (odd(NearbyWords, describes="groups"), "describes is 'groups'; expected one of group, lists, any"),
    ],
    "learner": [
        (Shrinking(), r"fit changed the learner itself \(passes\)"),
        (odd(Shrinking, needs_training="no"), "needs_training is 'no'; expected True or False"),
        (TakesOne(), "takes is SparseRows; expected a tuple"),
    ],
    "judge": [
        (NoRate(), r"judge\(scored\) cannot be called.*flags_per_1000"),
        (ForText(), "between is 'words'; expected a tuple"),
        (NoFit(), "it has no method fit"),
        (NoLimit(), "limit returned None; expected the probability"),
        (UndefinedLimit(), "limit returned nan; expected the probability"),
        (LearnsItself(), r"fit changed the decision rule itself \(flags_per_1000\)"),
        (Unsaved(), "decisions differ after from_state; state returned"),
    ],
    "tokenisation": [
        (Lists(), "it returned a list for no texts"),
        (with_view(tokenisation=lambda old: "other.v1"), "its view is of 'other.v1'; expected the name"),
        (with_view(hashes=lambda old: old.astype(np.int64)), "hashes of its view is an array of int64"),
        (with_view(starts=lambda old: old.tolist()), "starts of its view is a list; expected an array of"),
        (with_view(ends=lambda old: old[:-1]), r"ends of its view is an array of int32 .*one per token"),
        (with_view(ends=lambda old: old + 1), r"token \d+ is from \d+ to \d+; expected offsets in its own"),
        (with_view(sentences=lambda old: old[:-1]), r"sentences of its view ends with \d+; expected asc"),
        (with_view(sentences=lambda old: old[-1:]), r"sentences of its view begins with \d+; expected offs"),
        (with_view(documents=lambda old: old[1:]), "its view has 11 documents; expected 12, one for each"),
        (with_view(texts=lambda old: [text.upper() for text in old]), "its view has other texts"),
        (with_view(hashes=lambda old: old + np.uint64(1)), "sentence 0 of its view begins or ends with"),
    ],
}


@pytest.mark.parametrize(
    ("kind", "component", "message"), [(kind, *row) for kind, rows in FAULTS.items() for row in rows]
)
def test_training_names_the_component_and_its_fault(kind, component, message):
    name = {"judge": "decision rule"}.get(kind, kind)
    with pytest.raises(UserError, match=f"D414.*the {name} {type(component).__name__}: {message}"):
        trained(**{kind: component})


def test_a_scorer_is_named_with_its_learner():
    with pytest.raises(UserError, match=r"D414.*the scorer LinearScorer of the learner Listed"):
        trained(learner=Listed())


def test_the_suite_finds_these_faults_of_decision_rules_and_tokenisations():
    for rule, _ in FAULTS["judge"]:
        if not isinstance(rule, NoFit):
            assert failures(check_judge(rule, make_calibration_data()), also=(Exception,))
    assert failures(check_tokenisation(Words(), TEXTS)) == {}
    assert "D414" in failures(check_tokenisation(Lists(), TEXTS[:1]), also=(Exception,))["keeps_its_contract"]
    failed = failures(check_tokenisation(Shifted(), TEXTS[:2]))
    assert "its view is of 'other.v1'" in failed["keeps_its_contract"]


def test_the_name_of_a_tokenisation_is_the_registered_one(load_with, tmp_path, monkeypatch):
    (tmp_path / "odd_words.py").write_text(
        "from disambig.api import Words, hookimpl\n"
        "class Odd(Words):\n    name = 'odd.other.v1'\n"
        "@hookimpl\ndef disambig_register_tokenisations(register):\n    register('odd.words.v1', Odd)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    load_with(odd="odd_words")
    odd = sys.modules.pop("odd_words").Odd()
    with pytest.raises(UserError, match=r"D414.*its name is 'odd.other.v1'; expected .*, odd.words.v1"):
        trained(tokenisation=odd)


def test_candidates_that_the_tokenisation_changes_are_told():
    task, notes = Pairs(("quite/quiet", "Peace/piece")), []
    parts = {"task": task, "tokenisation": Words(), "extractors": {"near": NearbyWords()}}
    parts |= {"learner": Perceptron(), "baseline": Constant()}
    texts = {"train": TEXTS, "dev": TEXTS}
    model = train(parts, texts, name="odd", min_examples=2, tell=notes.append)
    (note,) = notes
    assert "'Peace' ('peace')" in note and "disambig.words.v1" in note
    assert note in model.provenance["notes"]
    parts["task"] = Pairs(("Quite/Quiet",))
    with pytest.raises(UserError, match=r"D412.*'Quite' \('quite'\), 'Quiet' \('quiet'\)"):
        train(parts, texts, name="odd")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('language = "English"', r"language in \[task\] is 'English': give a code such as"),
        ('name = "a/b c"', r"name in \[task\] is 'a/b c': give a name of letters"),
    ],
)
def test_an_invalid_trait_in_a_config_is_a_mistake_of_the_user(load_with, tmp_path, setting, message):
    load_with(toys="toy_plugin")
    path = tmp_path / "broken.cfg"
    path.write_text(CONFIG.replace('.Pairs.v1"', f'.Pairs.v1"\n{setting}'))
    with pytest.raises(UserError, match=f"D005.*{message}"):
        read_plan(path)


class Taken:
    """A reader of files that the core already reads."""

    suffixes = (".jsonl",)

    def read(self, source):
        return []


@pytest.mark.parametrize("suffix", [".jsonl", ".JSONL"])
@pytest.mark.parametrize("name", ["Taken", "JsonLines"])
def test_the_suite_finds_a_reader_of_files_that_others_read(tmp_path, name, suffix):
    path = tmp_path / "examples.jsonl"
    path.write_text("{}")
    reader = type(name, (Taken,), {"suffixes": (suffix,)})  # the core has a class JsonLines
    failed = failures(check_reader(reader(), path))
    assert "files in .jsonl are read by" in failed["shares_no_suffix_with_another_reader"]


@pytest.mark.parametrize("changed", [{"label": 3}, {"text": None}])
def test_the_suite_finds_examples_that_are_not_text(tmp_path, changed):
    class Numbers(Taken):
        def read(self, source):
            return [replace(Labelled("ab", 0, 1, "x", "d", "a.numbers:1"), **changed)]

    path = tmp_path / "a.numbers"
    path.write_text("3")
    ((name, value),) = changed.items()
    failed = failures(check_reader(Numbers(), path), also=(Exception,))
    assert f"{name} of an example is {value!r}: give a text" in failed["reads_examples"]


def test_words_of_two_groups_are_allowed():
    """Groups may share candidates, since each decides independently."""
    task = Pairs(("quite/quiet", "quiet/quit"))
    check_declarations(task)
    assert len(CandidateFinder.from_groups(task.groups).find(Words()(["Keep quiet."]))) == 2


def test_the_correction_that_a_rule_cannot_name_is_shown():
    with pytest.raises(UserError, match=r"Correction.*observed='less'") as caught:
        RuleSet((RULE,), failing).rule_name(Correction("less", "fewer"))
    assert isinstance(caught.value.__cause__, KeyError)


FRAGILE = """
import numpy as np
from dataclasses import dataclass, replace
from disambig.api import hookimpl
from disambig.api.tasks import Rule, RuleSet
from disambig.text import hash_word
from toy_plugin import NearbyWords, Pairs
from toy_texts import CONFIG

names = {}

def name_rule(correction):
    return names["rule"]

@dataclass(frozen=True)
class Named(Pairs):
    rules = RuleSet((Rule("pair", "A pair."),), name_rule)

@dataclass(frozen=True, eq=False)
class Fragile(NearbyWords):
    def fit(self, view, instances, groups):
        return replace(self, vocabulary=super().fit(view, instances, groups).vocabulary)

    def transform_group(self, view, instances, group):
        if hash_word("zebra") in view.hashes:
            raise IndexError("zebra")
        if hash_word("zebu") in view.hashes:
            return None
        return super().transform_group(view, instances, group)

    def from_state(self, arrays):
        return replace(self, vocabulary=arrays["vocabulary"])

@hookimpl
def disambig_register_tasks(register):
    register("fragile.Named.v1", Named)

@hookimpl
def disambig_register_extractors(register):
    register("fragile.Fragile.v1", Fragile)
"""


@pytest.fixture
def fragile(tmp_path, monkeypatch, load_with):
    """Return a trained model of a plugin that fails for some words, and the module of the plugin."""
    (tmp_path / "fragile_plugin.py").write_text(FRAGILE)
    monkeypatch.syspath_prepend(tmp_path)
    load_with(fragile="fragile_plugin", toys="toy_plugin")
    plugin = sys.modules["fragile_plugin"]
    plugin.names["rule"] = "pair"
    learners = "toys.Perceptron.v1", "toys.Constant.v1"
    config = model_config("fragile.Named.v1", {"near": "fragile.Fragile.v1"}, *learners)
    texts = {"train": TEXTS, "dev": TEXTS}
    settings = {"config": config, "min_examples": 2, "flags_per_1000": 1000.0}
    yield train(resolve(config), texts, name="my/fragile", **settings), plugin
    del sys.modules["fragile_plugin"]


FAILED = [
    ("zebra", r"the model my/fragile: IndexError: zebra \(fragile_plugin.py:\d+, in transform_group\)"),
    ("zebu", r"the model my/fragile: \[D414\] the extractor fragile.Fragile.v1 of the plugin fragile: .* No"),
]


@pytest.mark.parametrize(("word", "message"), FAILED)
def test_a_failure_in_use_names_the_model_and_the_line_of_the_plugin(word, message, fragile):
    documents = [Document("1", "It is quite good.", "good.txt"), Document("2", f"A quiet {word}.", "bad.txt")]
    annotated, failed = annotate_documents(documents, ModelSet((fragile[0],)))
    assert [result.document.path for result in annotated] == ["good.txt"]
    (bad,) = failed
    assert re.fullmatch(rf"\[D313\] bad.txt: could not be annotated: {message}.*", str(bad.error))
    assert bad.error.__cause__ is not None


def test_certain_mistakes_in_use_are_checked_where_there_are_some(fragile):
    model, _ = fragile
    wrong = np.array([0]), np.array([1]), np.array([99.0])
    task = with_traits(certain_mistakes=lambda self, view, instances: wrong)
    with pytest.raises(UserError, match=r"D414.*gives the probability 99; expected") as caught:
        replace(model, task=task).decide(VIEW)
    assert caught.value.__notes__ == ["the model my/fragile"]


def test_other_exceptions_are_not_changed(fragile):
    with pytest.raises(IndexError, match="zebra") as caught:
        fragile[0].decide(Words()(["A quiet zebra."]))
    assert caught.value.__notes__ == ["the model my/fragile"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({}, r"raised KeyError: 'rule' \(fragile_plugin.py:\d+, in name_rule\)"),
        ({"rule": "x"}, "returned 'x'"),
    ],
)
def test_a_rule_that_cannot_be_named_fails_one_file_of_check(names, message, fragile, tmp_path):
    model, plugin = fragile
    save_model(model, tmp_path / "model")
    (tmp_path / "bad.txt").write_text("It was quiet good.\n")
    (tmp_path / "good.txt").write_text("Nothing is here.\n")
    plugin.names.clear()
    plugin.names.update(names)
    options = ("--model", tmp_path / "model", "--flags-per-1000", "1000")
    done = here("check", tmp_path / "bad.txt", tmp_path / "good.txt", *options)
    assert done.returncode == 2 and "1 file" in done.stderr
    problem = rf"\[D313\] .*bad.txt: could not be annotated: \[D414\] .*name_rule.*{message}"
    assert re.search(problem, done.stderr)


TONE = """
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from disambig.api import Decides, Group, Instances, hookimpl

learned = {}

@dataclass(frozen=True)
class Tone:
    labels: Sequence[str] = ()
    fixed: tuple[str, ...] = ()
    least: int = 2
    wrong: list[str] = ()
    name: str = "tone"
    language: str = ""
    decides: ClassVar[Decides] = Decides("documents", "labels")

    @property
    def groups(self):
        return (Group("tone", tuple(self.labels)),) if self.labels else ()

    def learn_settings(self, labelled, tokenisation=None):
        return learned["as"]

    def instances(self, view):
        n = len(view.texts)
        zeros = np.zeros(n, np.int32)
        return Instances(view.documents[:-1] + 1, zeros + 1, zeros, zeros - 1)

@hookimpl
def disambig_register_tasks(register):
    register("tone.Tone.v1", Tone)
"""


@pytest.fixture
def tone(tmp_path, monkeypatch, load_with):
    """Return a function that makes a section of a task of labels, and what its `learn_settings` returns."""
    (tmp_path / "tone_plugin.py").write_text(TONE)
    monkeypatch.syspath_prepend(tmp_path)
    load_with(tone="tone_plugin")

    def section(**settings):
        return {"@disambig_tasks": "tone.Tone.v1", "wrong": [], **settings}

    yield section, sys.modules["tone_plugin"].learned
    del sys.modules["tone_plugin"]


LEARNED = [
    (None, "learn_settings returned None; expected a dict of settings"),
    (["a", "b"], "learn_settings returned a list; expected a dict of settings"),
    ({"label": ["a"]}, "learn_settings returned the setting 'label'; expected settings of the task: "),
    ({"labels": {"a"}}, r"learn_settings returned \{'labels': \{'a'\}\}; expected values of JSON"),
    ({"fixed": ["a"]}, "settings that a saved config cannot have .*fixed in .task. is .'a'.: give tuple"),
    ({"labels": ["a", "a"]}, r"the candidates of the group 'tone' are \('a', 'a'\)"),
]


@pytest.mark.parametrize(("learned", "message"), LEARNED)
def test_learned_settings_are_checked(tone, learned, message):
    section, returned = tone
    returned["as"] = learned
    config = {"task": section(), "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"}}
    parts = ResolvedConfig(**resolve(config), extractors={}, learner=Perceptron(), baseline=Constant())
    plan = TrainingPlan(parts, {}, {}, config, "my/tone", "1")
    examples = [Labelled("It rains.", 0, 9, label, document=label, where=label) for label in "ab"]
    with pytest.raises(UserError, match=f"D414.*the task tone.Tone.v1 of the plugin tone: .*{message}"):
        plan.with_learned_settings(examples)


def test_a_task_without_groups_is_told_where_labels_come_from(tone):
    section, _ = tone
    task = resolve({"task": section()})["task"]
    with pytest.raises(UserError, match=r"D414.*12 instances, but groups is empty; .*learn_settings"):
        find_instances(task, VIEW)


SETTINGS = [
    ({"least": "2"}, r"least in \[task\] is '2': give a whole number"),
    ({"labels": "ab"}, r"labels in \[task\] is 'ab': give a list of texts"),
    ({"wrong": "ab"}, r"wrong in \[task\] is 'ab': give a list of texts"),
    ({"fixed": ["a"]}, r"give tuple\[str, ...\], which a config cannot hold .*use Sequence\[str\]"),
]


@pytest.mark.parametrize(("settings", "message"), SETTINGS)
def test_a_text_is_not_taken_for_a_number_or_a_list(tone, settings, message):
    with pytest.raises(UserError, match=f"D005.*{message}"):
        resolve({"task": tone[0](**settings)})


def test_a_default_of_another_type_is_a_mistake_of_the_plugin(tone):
    section = tone[0]()
    del section["wrong"]
    message = r"\[task\] tone.Tone.v1 has the default wrong = \(\), which is not of its type list\[str\]"
    with pytest.raises(UserError, match=message):
        resolve({"task": section})
