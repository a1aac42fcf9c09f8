"""A plugin of small components from end to end; every learner with every storage and decoder it accepts."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace

import numpy as np
import pytest
from model_configs import model_config
from toy_learners import KernelScorer
from toy_plugin import Pairs

from disambig import registry
from disambig.config import resolve
from disambig.data import CandidateLists, Columns, DenseBlocks, DenseLists, JoinedRows, convert
from disambig.errors import UserError
from disambig.metrics import Outcomes
from disambig.models import LinearScorer, load_model, save_model
from disambig.settings import get_settings
from disambig.testing import (
    blocks,
    chains,
    check_kernel,
    check_learner,
    check_measure,
    check_task,
    check_tokenisation,
    crossed,
    crossed_lists,
    dense_lists,
    lists,
)
from disambig.text import Words
from disambig.training import to_accepted_storage, train
from disambig.types import needs_training

TEXTS = [
    "It was quite good. The room is quiet now. We want peace today. A piece of cake is here.",
    "He is quite sure. A quiet place is nice. They made peace at last. One piece of bread is left.",
    "I am quite happy. The quiet street is long. She found peace there. Have a piece of pie.",
    "You are quite right. Keep quiet now, please. The peace was short. Take a piece of wood.",
] * 3


def make_config(learner):
    near = ("toys.NearbyWords.v1", {"reach": 1})
    return model_config("toys.Pairs.v1", {"near": near}, f"toys.{learner}.v1", "toys.Constant.v1")


def trained(learner):
    config = make_config(learner)
    texts = {"train": TEXTS, "dev": TEXTS}
    return train(resolve(config), texts, name="toys", config=config, min_examples=5)


TOKENISATIONS = sorted(set(registry.entries("tokenisations")) - {"disambig.headwords.v1"})  # not for text


@pytest.mark.parametrize("name", TOKENISATIONS)
@pytest.mark.parametrize("settings", [{}, {"layers": ["stem"]}, {"language": "de"}], ids=str)
def test_tokenisation(name, settings):
    tokenisation = registry.get("tokenisations", name)
    if not settings.keys() <= get_settings(tokenisation).keys():
        pytest.skip("it has no such setting")
    texts = ["It's here, isn't it? Mr. Smith's e-mail (3.5%)!", "", "Nothing.\n\nAT&T: “quote”… naïve ß"]
    for check in check_tokenisation(tokenisation(**settings), texts):
        check()


ARTICLES = {"candidates": ["a", "an", "the", ""]}
TASKS = {  # the settings of every registered task that it needs to decide something in the texts
    "boosted_lasso.KanaKanji.v1": [{}],
    "disambig.Candidates.v1": [{"candidates": ["may be", "maybe"]}, {"sets": ["a/an", "in/on"]}, ARTICLES],
    "disambig.Lists.v1": [{}],
    "kernel_rls.Senses.v1": [{"words": [["cat.n", {"cat": 8, "cats": 2}, ["animal", "person"], []]]}],
    "random_subspace.Tags.v1": [{"tags": ["A", "B"]}],
    "random_subspace.Topic.v1": [{"labels": ["news", "sport"]}, {"labels": ["a", "b"], "language": "de"}],
    "real_words.Article.v1": [{}],
    "real_words.Doubled.v1": [{}],
    "real_words.Form.v1": [{}],
    "real_words.Slip.v1": [{}],
    "variance_svm.It.v1": [{}],
    "variance_svm.Preposition.v1": [
        {},
        {"only_as_preposition": False},
        {"or_none": True},
        {"or_none": True, "only_as_preposition": False, "least_odds": -4.0},
    ],
    "variance_svm.Spelling.v1": [{}],
}
TASK_TEXTS = [
    "They may be late. Maybe not! It's cold, and its tail is wet.",
    "",
    "The cat sat on the mat under a table. To whom did he go to speak? We walked toward it.",
    "He came form form in an old coat. They want go, go the them.\r\n\r\n\N{GRINNING FACE} They isn't.",
    " \n",
    "She ate a apple, and she saw old house. Whose turn is it? Their affect had no effect.",
]
TOKENISED = {
    "kernel_rls.Senses.v1": "disambig.spacy_tokens.v1",
    "random_subspace.Tags.v1": "disambig.spacy_tokens.v1",
    "variance_svm.It.v1": "variance_svm.NormalisedWords.v1",
}
KERNELS = [
    (f"kernel_rls.{kind}.v1", {"normalise": normalise})
    for kind in ("Linear", "Polynomial", "Gaussian")
    for normalise in ("row", "groups", "none")
] + [("kernel_rls.Linear.v1", {"normalise": "groups", "weights": {"words": 3.0, "bias": 1.0}})]
MEASURES = {"disambig.F1.v1": {"candidate": "to"}}  # the settings of measures that have no defaults
TREES = ["(S (NP (N birds)) (VP (V sing)))", "(S (N birds) (VP (V sing)))", "(S (N birds) (V sing))"]


def built(kind, name, **settings):
    """Return an entry that is built from a config."""
    return resolve({"entry": {f"@disambig_{kind}": name, **settings}})["entry"]


def test_every_task_kernel_and_measure_is_checked():
    """An entry without a row here is a fault of this file: plugins that are not installed have no entries."""
    assert registry.entries("tasks").keys() <= TASKS.keys()
    assert registry.entries("kernels").keys() <= {name for name, _ in KERNELS}


@pytest.mark.parametrize("name", sorted(registry.entries("tasks")))
def test_tasks_keep_their_contract(name):
    texts = ["ははは。", ""] if "Kana" in name else TASK_TEXTS
    tokenisation = built("tokenisations", TOKENISED.get(name, "disambig.words.v1"))
    for settings in TASKS[name]:
        for check in check_task(built("tasks", name, **settings), texts, tokenisation):
            check()


@pytest.mark.parametrize(("name", "settings"), KERNELS, ids=str)
def test_kernels_keep_their_contract(name, settings):
    if name not in registry.entries("kernels"):
        pytest.skip("no plugin")
    for check in check_kernel(built("kernels", name, **settings)):
        check()


@pytest.mark.parametrize("name", sorted(registry.entries("measures")))
def test_measures_keep_their_contract(name):
    lists = CandidateLists.from_texts([TREES, TREES[::-1], TREES[:2]])
    trees = Outcomes.from_lists(lists, scores=np.arange(8.0) % 5, references=[TREES[0]] * 3)
    problem = trees if "Bracket" in name else None
    for check in check_measure(built("measures", name, **MEASURES.get(name, {})), problem):
        if problem is None or check.name != "right_texts_have_no_cost":  # these texts are words
            check()


@pytest.mark.parametrize(("learner", "kind"), [("Perceptron", LinearScorer), ("KernelRidge", KernelScorer)])
def test_one_scorer_per_group(learner, kind, load_with, tmp_path):
    load_with(toys="toy_plugin")
    model = trained(learner)
    assert [type(scorer) for scorer in model.scorers] == [kind, kind]
    view = Words()(["It was quite nice, a quiet day. Peace! We had a piece of cake."])
    decisions = model.decide(view)
    assert [decisions.record(i, view.texts[0])["group"] for i in range(4)] == ["quite/quiet"] * 2 + [
        "peace/piece"
    ] * 2
    assert np.array_equal(decisions.chosen, decisions.observed)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model").decide(view)
    assert np.array_equal(again.scores, decisions.scores)
    assert np.array_equal(again.probabilities, decisions.probabilities)


def test_a_group_without_examples_keeps_the_baseline(load_with):
    load_with(toys="toy_plugin")
    config = make_config("Perceptron") | {
        "task": {"@disambig_tasks": "toys.Pairs.v1", "pairs": ["quite/quiet", "lose/loose"]}
    }
    model = train(resolve(config), {"train": TEXTS, "dev": TEXTS}, name="toys", config=config, min_examples=5)
    assert model.scorers[1] is None
    decisions = model.decide(Words()(["They lose it."]))
    assert decisions.scores.tolist() == [0.0, 0.0]
    assert not decisions.flagged.any()


def test_a_task_of_labels_flags_nothing(load_with):
    """Labels such as senses are not in the text, so nothing is compared or flagged."""
    load_with(toys="toy_plugin")
    model = trained("Perceptron")
    view = Words()([TEXTS[0]])

    class Senses(Pairs):
        def instances(self, view):
            result = super().instances(view)
            result.observed[:] = -1
            return result

    decisions = replace(model, task=Senses()).decide(view)
    expected = model.decide(view)
    assert np.array_equal(decisions.chosen, expected.chosen)
    assert not decisions.flagged.any()
    assert (decisions.probabilities == 0).all()
    record = decisions.record(0, TEXTS[0])
    assert record["replacement"] == record["observed"] == "quite"


ENTRIES = [
    pytest.param(factory, id=name)
    for kind in ("tasks", "extractors", "kernels", "learners", "judges", "decoders", "measures", "readers")
    for name, factory in registry.load_all(kind).items()
]


def described(factory):
    """Return the parameter names in the output of `disambig plugins`."""
    message = inspect.getdoc(factory) or ""
    return {name for line in re.findall(r"^(\w[\w, ]*) : ", message, re.M) for name in line.split(", ")}


@pytest.mark.parametrize("factory", ENTRIES)
def test_every_setting_is_described(factory):
    assert set(get_settings(factory)) <= described(factory)


def test_fitted_fields_are_not_settings():
    learned = {"seen", "tables", "known", "keys", "weights", "calibration", "operating"}
    parts = {**registry.load_all("extractors"), **registry.load_all("judges")}
    assert not [name for name, part in parts.items() if learned & set(get_settings(part))]


def shared(n):
    """Return blocks whose candidates share their columns: lists of equal length."""
    batch = blocks(n)
    columns = Columns(np.full(5, -1, np.int32), np.arange(5, dtype=np.int32), batch.columns.group_names)
    return DenseBlocks(batch.values, np.tile(np.arange(5), (3, 1)), columns, batch.costs)


PROBLEMS = {
    "blocks": blocks(30),
    "crossed rows": crossed(30),
    "words and counts": JoinedRows.from_parts([blocks(30), replace(crossed(30), costs=blocks(30).costs)]),
    "sparse lists": lists(30),
    "dense lists": dense_lists(30),
    "equal lists": convert(shared(30), DenseLists),
    "crossed lists": crossed_lists(30),
    "joined lists": JoinedRows.from_parts([lists(30), dense_lists(30)]),
    "chains": chains(15),
}

LISTS = {"sparse lists", "dense lists", "equal lists", "crossed lists", "joined lists"}
"""What every linear learner learns from."""
SETTINGS = {
    "random_subspace.RandomSubspaces.v1": {"n_subspaces": 9},
    "variance_svm.KSVM.v1": {"C": 0.3},
    "variance_svm.OneVersusAll.v1": {"C": 0.3},
}

WITH_GROUPS = {"variance_svm.VarianceSVM.v1": "variance", "variance_svm.SumLM.v1": "patterns"}
"""The setting that names feature groups: all that there are."""
CHAIN = {"@disambig_decoders": "disambig.Chain.v1"}
REFUSED = {
    "boosted_lasso.AveragedPerceptron.v1": {"chains"},
    "boosted_lasso.BLasso.v1": {"chains"},
    "boosted_lasso.Boosting.v1": {"chains"},
    "boosted_lasso.FBoosting.v1": {"chains"},
    "boosted_lasso.FSLR.v1": {"chains"},
    "boosted_lasso.PairwiseL2.v1": {"chains"},
    "exponentiated_gradient.EG.v1": {"chains"},
    "kernel_rls.RLSC.v1": {"chains"},
    "kernel_rls.RLSCComb.v1": {"chains"},
    "kernel_rls.RLSCLin.v1": {"chains"},
    "kernel_rls.SVMComb.v1": {"chains"},
    "kernel_rls.SVMLin.v1": {"chains"},
    "random_subspace.ConfidenceWeighted.v1": {"chains"},
    "random_subspace.PassiveAggressive.v1": {"chains"},
    "random_subspace.Perceptron.v1": {"chains"},
    "random_subspace.RandomSubspaces.v1": {"chains"},
    "random_subspace.SGD.v1": {"chains"},
    "random_subspace.StructuredPerceptron.v1": set(PROBLEMS) - {"chains"},
    "variance_svm.KSVM.v1": {"chains"},
    "variance_svm.OneVersusAll.v1": {"chains"},
    "variance_svm.VarianceSVM.v1": {"chains"},
}
"""The storages that a learner says it does not take; without a decoder sequences are none."""
LEARNERS = sorted(registry.load_all("learners"))
CASES = [(name, problem) for name in LEARNERS for problem in PROBLEMS if problem not in REFUSED.get(name, ())]


def build_learner(name, batch, **settings):
    """Return a learner that is built from a config."""
    section = {"@disambig_learners": name, **SETTINGS.get(name, {}), **settings}
    if name in WITH_GROUPS:
        section[WITH_GROUPS[name]] = [group for group in batch.columns.group_names if group != "bias"]
    return resolve({"learner": section})["learner"]


@pytest.mark.parametrize(("name", "problem"), CASES, ids=[f"{name}-{problem}" for name, problem in CASES])
def test_learners_keep_their_contract(name, problem):
    batch = PROBLEMS[problem]
    if name == "variance_svm.Majority.v1" and "bias" not in batch.columns.group_names:
        pytest.skip("it counts by bias columns")
    for check in check_learner(build_learner(name, batch), batch, least=0.0):
        check()


@pytest.mark.parametrize("name", [name for name in LEARNERS if name in REFUSED])
def test_other_storages_are_refused(name):
    for problem in REFUSED[name]:
        batch = PROBLEMS[problem]
        with pytest.raises(UserError, match="D459"):
            to_accepted_storage(build_learner(name, batch), batch)


def test_every_linear_learner_learns_from_lists():
    for name in LEARNERS:
        if needs_training(build_learner(name, PROBLEMS["blocks"])):
            assert name == "random_subspace.StructuredPerceptron.v1" or not REFUSED.get(name, set()) & LISTS


LEARN_STRUCTURES = (
    "exponentiated_gradient.EG.v1",
    "random_subspace.SGD.v1",
    "variance_svm.ConditionalLogit.v1",
)


@pytest.mark.parametrize("problem", ["chains", "sparse lists"])
@pytest.mark.parametrize("name", [*LEARN_STRUCTURES, "random_subspace.StructuredPerceptron.v1"])
def test_a_decoder_comes_from_the_config(name, problem):
    if name not in LEARNERS:
        pytest.skip("no plugin")
    decoder = CHAIN if problem == "chains" else {"@disambig_decoders": "disambig.Enumerated.v1"}
    learner = build_learner(name, PROBLEMS[problem], decoder=decoder)
    for check in check_learner(learner, PROBLEMS[problem], least=0.9):
        check()


@pytest.mark.parametrize("problem", sorted(LISTS))
def test_learners_of_lists_learn(problem):
    batch = PROBLEMS[problem]
    for name in ("random_subspace.ConfidenceWeighted.v1", "variance_svm.KSVM.v1"):
        if name in LEARNERS:
            learns = {
                check.name: check for check in check_learner(build_learner(name, batch), batch, least=0.9)
            }
            learns["learns"]()
