"""Comparison of models on the same examples; learning curves, their plot and command."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from commands import here
from model_configs import model_config
from toy_components import toy_components
from toy_plugin import Marks, NearbyWords
from toy_texts import CONFIG, QUIET_PLACES
from toy_ways import CLEAN, FIXES, OR_NONE, TEXTS, WORDS, trained

from disambig.cli.commands.curve import curve_lines
from disambig.cli.commands.evaluate import comparison_lines
from disambig.config import resolve
from disambig.counts import build_table
from disambig.data import Group
from disambig.decision import BestOfList, Corrections, Mistakes
from disambig.errors import UserError
from disambig.evaluation import (
    SharedDecisions,
    SharedTestSet,
    compare,
    compare_configs,
    cross_validate,
    curve_of_labelled,
    curve_of_texts,
    evaluate_labelled,
    judge,
    on_labelled,
    on_lists,
    on_texts,
    plot_curve,
    plot_reliability,
    why_untested,
)
from disambig.features import CandidateHashes, NgramCounts
from disambig.formats import Labelled, parse_line
from disambig.metrics import Accuracy, Outcomes, mcnemar_from_counts, reliability
from disambig.models import NoPreference, save_model
from disambig.tasks import OwnCandidates
from disambig.testing import outcomes
from disambig.text import Words
from disambig.training import ResolvedConfig, TrainingPlan, train_labelled, train_lists

LEARNERS = ("disambig.NoPreference.v1", "random_subspace.Perceptron.v1")
PLACES = ("room", "house", "park", "road", "street", "library")
ADJECTIVES = ("warm", "cold", "dark", "late", "good", "old")


def config(learner, candidates=("quite", "quiet")):
    task = ("disambig.Candidates.v1", {"candidates": list(candidates)})
    return model_config(task, {"words": "disambig.ContextWindow.v1"}, learner)


LISTS = model_config(
    ("disambig.Lists.v1", {"measure": "cer"}), {"source": "disambig.SourceFeatures.v1"}, learner=None
)


def example(number, text, label):
    start = text.index("[")
    end = text.index("]") - 1
    plain = text.replace("[", "").replace("]", "")
    return Labelled(plain, start, end, label, f"document {number}", f"made, line {number + 1}")


EXAMPLES = [example(i, f"The {place} was [quiet] today.", "quiet") for i, place in enumerate(PLACES)]
EXAMPLES += [example(i + 6, f"It was [quite] {word} today.", "quite") for i, word in enumerate(ADJECTIVES)]


def train_model(name, examples, config):
    return train_labelled(resolve(config), examples, name=name, config=config, min_examples=2)


@pytest.fixture(scope="module")
def models():
    return tuple(train_model(f"model {i}", EXAMPLES, config(learner)) for i, learner in enumerate(LEARNERS))


def test_labelled_places(models):
    decisions = on_labelled(*models, EXAMPLES)
    result = compare(models, decisions)
    assert result["n"] == 12
    assert result["account"]["left_out"] == {}
    accuracy = [system["value"] for system in result["systems"]]
    assert accuracy[1] == 1.0 > accuracy[0]
    table = result["table"]
    assert (table["both"], table["second"]) == (round(12 * accuracy[0]), 12 - round(12 * accuracy[0]))
    assert table["first"] == table["neither"] == 0
    assert result["mcnemar"] == mcnemar_from_counts(0, table["second"])
    assert result["difference"]["value"] == pytest.approx(1 - accuracy[0])
    assert result["difference"]["p"] < 0.05
    (pair,) = result["pairs"]
    assert {pair["first"], pair["second"]} == {"quite", "quiet"}
    assert (pair["right"], pair["n"]) == (pair["second"], table["second"])
    assert result["units"] == {"what": "instances", "n": 12}
    lines = comparison_lines(result)
    assert sum(line.startswith("B minus A: ") for line in lines) == 1
    assert lines[0] == "accuracy (more is better) of 12 examples:"
    assert f"only B {table['second']}" in "\n".join(lines)
    reversed_comparison = compare(models[::-1], on_labelled(*models[::-1], EXAMPLES))
    assert reversed_comparison["difference"]["value"] == -result["difference"]["value"]
    assert reversed_comparison["table"] == table | {"first": table["second"], "second": 0}


def test_reports_examples_that_one_model_cannot_use_and_texts(models):
    more = [*EXAMPLES, example(99, "A [cat] sat.", "quite"), example(98, "So [quite] right.", "very")]
    result = compare(models, on_labelled(*models, more))
    assert result["n"] == 12
    assert sum(result["account"]["left_out"].values()) == 2
    assert result["account"]["read"] == 14
    assert len(on_labelled(*models, [*EXAMPLES, *EXAMPLES[:3]]).first) in (12, 15)  # equal texts
    decisions = on_texts(*models, [item.text for item in EXAMPLES])
    assert len(decisions.first) == 12
    assert np.array_equal(decisions.first.gold, decisions.second.gold)
    assert compare(models, decisions, draws=200)["table"]["both"] >= 6


def test_reasons_do_not_depend_on_the_names_of_files(models):
    wrong = replace(example(98, "So [quite] right.", "very"), where="part 1: texts.tsv, line 3")
    reasons = on_labelled(*models, [*EXAMPLES, wrong]).left_out
    assert reasons == ["model 0: the label 'very' is not one of 'quite', 'quiet'"]
    account = evaluate_labelled(models[0], [*EXAMPLES, wrong])["account"]
    assert account["left_out"] == {"the label ... is not one of ...": 1}


def test_rejects_models_that_decide_at_different_places(models):
    examples = [example(0, "A [cat] sat.", "cat"), example(1, "A [dog] sat.", "dog")]
    other = train_model("other", examples, config(LEARNERS[0], ("cat", "dog")))
    with pytest.raises(UserError, match=r"D436.*model 0 and other"):
        on_texts(models[0], other, ["It is quite good.", "A cat sat."])


def test_the_area_under_the_curve_names_its_candidate_if_there_are_three(models):
    gold, scores = np.arange(30) % 3, np.random.default_rng(0).random((30, 3))
    same = Outcomes.from_group(("a", "b", "c"), gold, scores.argmax(axis=1), scores=scores)
    result = compare(models, SharedDecisions(same, same, []), measure="auc", draws=20)
    assert result["measure"]["name"] == "AUC of 'b'"
    value = result["systems"][0]["value"]
    same_by_name = compare(models, SharedDecisions(same, same, []), measure="auc:b", draws=20)
    assert value == same_by_name["systems"][0]["value"]


def test_resamples_whole_documents(models):
    one, other = outcomes(90, seed=1), outcomes(90, seed=2)
    result = compare(models, SharedDecisions(one, other, []), measure="cost", draws=500)
    assert result["units"] == {"what": "documents", "n": 30}
    assert result["mcnemar"] is None
    assert result["measure"] == {"name": "mean cost", "unit": "cost", "more_is_better": False}
    assert "mean cost, cost (less is better) of 90 examples:" in comparison_lines(result)
    exact = compare(models, SharedDecisions(one, other, []), measure="exact", draws=500)
    assert exact["mcnemar"] is not None
    assert exact["systems"][0]["value"] == pytest.approx(Accuracy().value(one))


def test_shows_undefined_figures(models):
    one = Outcomes.from_group(("a", "b"), [0, 0], [0, 0])
    result = compare(models, SharedDecisions(one, one, []), measure="f1:b", draws=50)
    lines = comparison_lines(result)
    assert "A  - (- to -)" in lines[1] and not any("nan" in line for line in lines)


@pytest.fixture(scope="module")
def saved(models, tmp_path_factory):
    home = tmp_path_factory.mktemp("models")
    for name, model in zip(("a", "b"), models, strict=True):
        save_model(model, home / name)
    lines = [json.dumps({"text": e.text, "start": e.start, "end": e.end, "label": e.label}) for e in EXAMPLES]
    (home / "examples.jsonl").write_text("\n".join(lines))
    (home / "text.txt").write_text("\n".join(item.text for item in EXAMPLES))
    return home


def evaluate(*arguments, status=0):
    done = here("evaluate", *arguments)
    assert done.returncode == status
    return done


def test_command(saved):
    a, b = saved / "a", saved / "b"
    labelled = ["--labelled", saved / "examples.jsonl"]
    shown = evaluate(a, b, *labelled)
    assert "accuracy (more is better) of 12 examples:" in shown.stdout
    assert "read 12 examples: 12 used, none left out" in shown.stderr
    assert evaluate(a, b, *labelled, "--quiet").stderr == ""
    result = json.loads(evaluate(a, b, *labelled, "--measure", "macro_f1", "--json").stdout)
    assert result["measure"]["name"] == "macro F1"
    assert result["systems"][1]["value"] == 1.0
    by_text = json.loads(evaluate(a, b, "--text", saved / "text.txt", "--lines", "--json").stdout)
    assert by_text["n"] == 12
    one = json.loads(evaluate(a, "--text", saved / "text.txt", "--json").stdout)  # as without the option
    assert one["decisions"] == 12


def test_command_measures_one_model(saved):
    labelled = ["--labelled", saved / "examples.jsonl"]
    first, *rest = evaluate(saved / "b", *labelled, "--measure", "macro_f1").stdout.splitlines()[1:]
    assert first.startswith("model: macro F1 (more is better) 100.00% (")
    assert rest == evaluate(saved / "b", *labelled).stdout.splitlines()[1:]


def test_command_distinguishes_models_of_one_name(saved, models):
    """Two models that were trained from one config have the same name."""
    a, twin = saved / "a", saved / "twin"
    save_model(replace(models[1], name=models[0].name, version=models[0].version), twin)

    def named(second):
        out = evaluate(a, second, "--labelled", saved / "examples.jsonl").stdout
        return [line.split("  ")[-1] for line in out.splitlines()[1:3]]

    name = f"{models[0].name} {models[0].version}"
    assert named(twin) == [f"{a}: {name}", f"{twin}: {name}"]
    assert named(saved / "b") == [name, f"{models[1].name} {models[1].version}"]


def test_command_rejects_invalid_comparisons(saved):
    a, b, labelled = saved / "a", saved / "b", ("--labelled", saved / "examples.jsonl")
    of_none = ("--lists", saved / "none.jsonl", "--measure", "f1:to")
    no_such_measure = "D437.*available: accuracy"
    for arguments, message in (
        ((a, b), "to compare two models, give --text PATH, --labelled PATH or --lists FILE"),
        ((a, b, *labelled, "--measure", "acuracy"), "D431"),
        ((a, "--text", saved / "text.txt", "--measure", "auc"), "--measure cannot be used with --text"),
        ((a, *labelled, "--measure", "acuracy"), "D431"),
        ((a, saved / "text.txt", *labelled), "D525"),
        ((a, b, *labelled, "--measure", "cer"), "D433"),
        ((a, b, *labelled, "--measure", "f1:quit"), "D443.*'quit' of .* f1:quit; candidates: quiet, quite"),
        ((a, b, "--lists", saved / "examples.jsonl"), "D336"),
        ((a, *of_none), no_such_measure),
        ((a, b, *of_none), no_such_measure),
    ):
        assert re.search(message, evaluate(*arguments, status=2).stderr)


def test_undefined_figures_are_null_in_json(saved, tmp_path):
    one_label = tmp_path / "quiet.tsv"
    one_label.write_text("The room was [[quiet]] today.\tquiet\nThe park was [[quiet]].\tquiet\n")
    undefined = ("--labelled", one_label, "--measure", "auc", "--json")
    shown = evaluate(saved / "a", saved / "b", *undefined).stdout
    result = json.loads(shown, parse_constant=lambda name: pytest.fail(f"no JSON: {name}"))
    assert [system["value"] for system in result["systems"]] == [None, None]


def test_lists():
    items = []
    for number, word in enumerate("he she it Ann Bob Eve Tom Kim Sue Max Lee Pat".split() * 3):
        wrong = {"text": f"{word} go", "score": 1.0, "features": {"s": 0}}
        right = {"text": f"{word} goes", "score": 0.5, "features": {"s": 1}}
        line = json.dumps({"reference": f"{word} goes", "candidates": [wrong, right]})
        items.append(parse_line(line, f"made:{number}"))
    built = []
    for learner in LEARNERS:
        plan = LISTS | {"learner": {"@disambig_learners": learner}}
        built.append(train_lists(resolve(plan), items, name=learner, config=plan, min_examples=2))
    result = compare(tuple(built), on_lists(*built, items), measure="cer", draws=300)
    assert result["measure"]["name"] == "CER"
    assert result["systems"][1]["value"] == 0.0 < result["systems"][0]["value"]
    assert result["units"] == {"what": "instances", "n": 36}
    assert result["table"]["second"] == 36


def make_model(documents, **more):
    provenance = {"examples": {"documents": documents}, **more}
    return SimpleNamespace(provenance=provenance, task=SimpleNamespace(name="words"))


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ({"train": 2, "dev": 0, "test": 0}, "but none of these 2; add more"),
        ({"train": 9, "dev": 2, "test": 3}, "for the task words is in the 3 documents held out for testing"),
        ({"train": 9, "dev": 2, "test": 1}, "is in the 1 document held out for testing"),
        (1, r"at least two documents \(there are 1\)"),
    ],
)
def test_reason_for_an_untested_model(documents, expected):
    assert re.search(f"^not tested: .*{expected}", why_untested(make_model(documents)))


def test_no_reason_for_a_tested_model():
    assert why_untested(make_model({"test": 1}, test={"n": 3})) == ""
    assert why_untested(make_model({"test": 0}, notes=["not tested: [D461] ..."])) == ""


@pytest.mark.parametrize(
    ("options", "expected"), [((), "give other text"), (("--test-part",), "a fifth of them")]
)
def test_command_names_text_without_decisions(tmp_path, options, expected):
    text = tmp_path / "nothing.txt"
    text.write_text("Zebras sleep.\n")
    shown = evaluate("spelling", "--text", text, *options, status=2)
    assert shown.stdout == ""
    assert (
        shown.stderr.startswith("disambig: [D664]") and str(text) in shown.stderr and expected in shown.stderr
    )
    assert "decisions of the task 'spelling': none" in shown.stderr


PARTS = {"one": TEXTS[:70], "two": TEXTS[70:]}
ERRORS = {Corrections: {}, Mistakes: {"mistakes": FIXES, "clean": CLEAN}}


@pytest.fixture(scope="module")
def extractor(tmp_path_factory):
    return NgramCounts(counts=build_table(tmp_path_factory.mktemp("side") / "t.counts", TEXTS, Words()))


@dataclass(frozen=True)
class WordsWithUnusedCandidate(OwnCandidates):
    """Places of words in a group with the empty candidate; it is named like a group without it."""

    @property
    def groups(self):
        (group,) = super().groups
        return (Group("to/by", group.candidates),)


UNUSED_CANDIDATE = WordsWithUnusedCandidate(candidates=["to", "by", ""], gaps="none", name="way")


@pytest.mark.parametrize("rule", [Corrections, Mistakes])
def test_odds_agree_with_flags_at_every_rate(rule, extractor):
    model = trained(WORDS, extractor, rule(), **ERRORS[rule])
    test_set = SharedTestSet.from_texts(WORDS, PARTS, Words())
    decisions = judge(model, test_set)
    part = test_set.instances
    scored = model.scored(model.features(test_set.view, part, 0), part, 0, test_set.view)
    scores = scored.scores.reshape(len(part), -1)
    assert np.array_equal(decisions.chosen, scores.argmax(axis=1))
    assert np.array_equal(decisions.right, decisions.chosen == part.observed) and decisions.right.mean() > 0.9
    for rate in (0.1, 1.0, 12.0):
        decided = model.judge.judge(scored, flags_per_1000=rate)
        flagged = decided.flagged & ~test_set.shielded
        assert np.isfinite(decisions.odds[flagged]).all()
        limit = model.judge.limit(rate)
        probability = 1 / (1 + np.exp(-decisions.odds))
        assert np.array_equal(flagged, probability > limit + 1e-12)
        chosen = decided.chosen[flagged]
        lead = scores[flagged, chosen] - scores[flagged, part.observed[flagged]]
        assert np.allclose(decisions.margins[flagged], lead)
    assert np.isneginf(decisions.odds[test_set.shielded]).all()
    assert len(decisions.rows) > 10 and (decisions.error_odds > -np.inf).mean() > 0.9
    assert np.median(decisions.error_odds) > np.median(decisions.odds)


@pytest.mark.parametrize("rule", [Corrections, Mistakes])
def test_decides_among_the_candidates_of_the_test_set(rule, extractor):
    model = trained(UNUSED_CANDIDATE, extractor, rule(), **ERRORS[rule])
    test_set = SharedTestSet.from_texts(WORDS, PARTS, Words())
    decided = judge(model, test_set)
    assert set(decided.chosen.tolist()) == {0, 1} and decided.right.mean() > 0.9
    places = test_set.instances
    scored = model.scored(model.features(test_set.view, places, 0), places, 0, test_set.view)
    scores = scored.scores.reshape(len(places), 3)
    assert np.array_equal(decided.chosen, scores[:, :2].argmax(axis=1))
    flagged = np.isfinite(decided.margins)
    observed = test_set.instances.observed[flagged]
    other = scores[flagged, 1 - observed] - scores[flagged, observed]
    assert np.allclose(decided.margins[flagged], other)


def test_matches_candidates_by_name(extractor):
    class Reversed(OwnCandidates):
        @property
        def groups(self):
            return (Group("to/by", ("by", "to")),)

    test_set = SharedTestSet.from_texts(WORDS, PARTS, Words())
    plain = judge(trained(WORDS, extractor, Corrections()), test_set)
    other = judge(trained(Reversed(candidates=["by", "to"], name="way"), extractor, Corrections()), test_set)
    assert np.array_equal(plain.right, other.right) and np.array_equal(plain.chosen, other.chosen)


@pytest.mark.parametrize("rule", [Corrections, Mistakes])
def test_empty_places(rule, extractor):
    model = trained(OR_NONE, extractor, rule(), **ERRORS[rule])
    test_set = SharedTestSet.from_texts(OR_NONE, PARTS, Words())
    empty = test_set.instances.lengths == 0
    assert empty.any() and not empty.all()
    decided = judge(model, test_set)
    assert decided.right[~empty].mean() > 0.5 and len(decided.odds) == len(empty)
    built = np.concatenate([errors.instances.observed for errors in test_set.errors])
    lengths = CandidateHashes.from_group(OR_NONE.groups[0]).lengths
    assert len(built) and lengths[built].all()  # tokens of another tokenisation
    assert not empty[decided.rows].any()


def test_rejects_models_that_cannot_be_compared(extractor):
    test_set = SharedTestSet.from_texts(WORDS, PARTS, Words())
    other = trained(OwnCandidates(candidates=["by", "home"], name="way"), extractor, Corrections())
    with pytest.raises(ValueError, match="made does not decide 'to/by' between"):
        judge(other, test_set)
    silent = replace(trained(WORDS, extractor, Corrections()), judge=BestOfList())
    with pytest.raises(TypeError, match="made does not correct words: its rule BestOfList raises no flags"):
        judge(silent, test_set)


LABELLED = [
    Labelled(text, start, start + 5, text[start : start + 5], text, f"line {number}")
    for number, text in enumerate(QUIET_PLACES[:60])
    for start in [text.index("qui")]
]


def test_more_examples_are_better():
    result = curve_of_texts(toy_components(), QUIET_PLACES, sizes=(2, 30), draws=6)
    few, many = result["points"]
    assert (few["size"], many["size"]) == (2, 30) and few["draws"] == 6
    assert few["examples"] == 2 and many["examples"] == 30
    assert few["lowest"] <= few["accuracy"] <= few["highest"]
    assert few["accuracy"] < many["accuracy"] and many["accuracy"] == 1.0
    assert 0.3 < result["majority"] < 0.7 and result["baseline"] < 0.8
    low, high = result["baseline_interval"]
    assert low < result["baseline"] < high
    assert result["source"] == "text" and result["task"] == "pairs"


def test_seed_determines_the_curve():
    one, same, other = (
        curve_of_texts(toy_components(), QUIET_PLACES, sizes=(3, 6), seed=seed)["points"]
        for seed in (1, 1, 2)
    )
    assert [p["accuracy"] for p in one] == [p["accuracy"] for p in same] != [p["accuracy"] for p in other]


def test_sizes_are_limited_by_the_examples():
    result = curve_of_texts(toy_components(), QUIET_PLACES, draws=1)
    assert [point["size"] for point in result["points"]] == [10, 30, result["available"]]
    assert result["points"][-1]["spread"] is None
    result = curve_of_texts(toy_components(), QUIET_PLACES, sizes=[500, 4], draws=1, max_examples=20)
    assert [point["size"] for point in result["points"]] == [4, 20]
    assert [point["asked"] for point in result["points"]] == [[], [500]]
    few, many = curve_of_texts(toy_components(), QUIET_PLACES, sizes=(5, 30), draws=2, min_examples=10)[
        "points"
    ]
    assert (few["learned"], many["learned"]) == (0, 1) and few["groups"] == many["groups"] == 1
    assert few["p_baseline"] == 1.0


def test_draws_small_samples_more_often():
    reported = []
    result = curve_of_texts(
        toy_components(), QUIET_PLACES, sizes=[5], progress=lambda *note: reported.append(note)
    )
    assert result["points"][0]["draws"] == 10
    assert [note[1:] for note in reported] == [(done, 10) for done in range(10)]


def test_training_and_test_documents_are_disjoint():
    draws = []  # of each, the texts that extractors are fitted on, and those that they describe, in order

    class Watched(NearbyWords):
        def fit(self, view, instances, groups):
            draws[-1]["fit"].update(texts_at(view, instances))
            return Watched(self.reach, super().fit(view, instances, groups).vocabulary)

        def transform_group(self, view, instances, group):
            draws[-1]["described"].append(texts_at(view, instances))
            return super().transform_group(view, instances, group)

    def texts_at(view, instances):
        return frozenset(view.texts[d] for d in view.document_indices(instances.positions))

    components = toy_components(extractors={"near": Watched()})
    settings = {"sizes": [10], "progress": lambda *_: draws.append({"fit": set(), "described": []})}
    curve_of_texts(components, QUIET_PLACES, draws=2, **settings)
    curve_of_labelled(components, LABELLED, **settings)
    tested = [draw["described"][-1] for draw in draws]  # the test documents come last
    assert len(draws) == 12
    for draw, texts in zip(draws, tested, strict=True):
        assert draw["fit"] and texts and not draw["fit"] & texts
    assert len(set(tested[:2])) == 1 and len(set(tested[2:])) == 5  # all labelled documents in turn
    assert frozenset().union(*tested[2:]) == {example.text for example in LABELLED}


def test_labelled_words_and_labels():
    result = curve_of_labelled(toy_components(), LABELLED, sizes=[4, 10_000])
    assert [point["size"] for point in result["points"]] == [4, result["available"]]
    assert [point["draws"] for point in result["points"]] == [10, 10]
    assert result["tested"] == len(LABELLED)  # each document once, whatever the number of draws
    assert result["points"][-1]["accuracy"] > 0.9 > result["majority"]
    # the labels are not the observed words
    marks = [replace(e, label="quiet" if "quite" in e.text else "quite") for e in LABELLED]
    result = curve_of_labelled(toy_components(task=Marks()), marks, sizes=[40], draws=5)
    assert result["points"][0]["accuracy"] > 0.9


def test_without_a_baseline_the_most_frequent_candidate_is_the_baseline():
    """It is the one that `train` and `evaluate --folds` compare with, not the first candidate of a group."""
    components = toy_components(baseline=NoPreference())
    for result in (
        curve_of_texts(components, QUIET_PLACES, sizes=[30], draws=2),
        curve_of_labelled(components, LABELLED, sizes=[4]),
    ):
        assert result["baseline_is"] == "most frequent" and result["baseline"] == result["majority"]
    folds = cross_validate(ResolvedConfig.from_parts(components), LABELLED, folds=5, min_examples=2)
    assert result["majority"] == folds["overall"]["majority"]["accuracy"]
    assert curve_of_texts(toy_components(), QUIET_PLACES, sizes=[4], draws=1)["baseline_is"] == "unsupervised"


def config_plan(**changes) -> TrainingPlan:
    parts = ResolvedConfig.from_parts(toy_components(**changes))
    return TrainingPlan(parts, {}, {"min_examples": 2}, {}, "toy", "1")


def test_compares_configs_in_the_same_folds():
    """The figures are those of `cross_validate`; documents of different folds differ."""
    plans = config_plan(), config_plan(learner=NoPreference())
    result = compare_configs(plans, LABELLED, folds=5)
    for system, plan in zip(result["systems"], plans, strict=True):
        figures = cross_validate(plan.parts, LABELLED, folds=5, min_examples=2)
        assert system["value"] == figures["overall"]["model"]["accuracy"]
    assert result["folds"] == 5 and result["n"] == len(LABELLED) == result["units"]["n"]
    assert result["difference"]["value"] < -0.3 and result["difference"]["p"] < 0.01 > result["mcnemar"]
    assert sum(result["table"].values()) == len(LABELLED)
    assert [counts["n"] for counts in result["unlearned"]] == [0, 0]
    same = compare_configs((plans[0], plans[0]), LABELLED, folds=3, measure="macro_f1")
    assert same["difference"]["value"] == 0 and same["measure"]["name"] == "macro F1"
    for folds in (1, len(LABELLED) + 1):
        with pytest.raises(UserError, match="D464"):
            compare_configs(plans, LABELLED, folds=folds)


def test_folds_with_too_few_examples_are_counted():
    few = replace(config_plan(), settings={"min_examples": 1000})
    result = compare_configs((few, config_plan()), LABELLED, folds=4)
    assert result["unlearned"] == ({"n": 4, "of": 4}, {"n": 0, "of": 4})
    figures = cross_validate(few.parts, LABELLED, folds=4, **few.settings)
    assert figures["unlearned"] == {"n": 4, "of": 4}


def test_rejects_invalid_sizes_and_too_little_test_data():
    for sizes in ([1], [10, 0], [-3]):
        with pytest.raises(UserError, match="D481"):
            curve_of_texts(toy_components(), QUIET_PLACES, sizes=sizes)
    with pytest.raises(UserError, match=r"D412.*none of the documents kept to \w+ \w+ contains a candidate"):
        curve_of_texts(toy_components(), QUIET_PLACES[:1])
    with pytest.raises(UserError, match="D464"):
        curve_of_labelled(toy_components(), LABELLED[:1])


@pytest.mark.parametrize("ending", ["svg", "PNG", "pdf"])
def test_plot(tmp_path, ending):
    pytest.importorskip("matplotlib")
    result = curve_of_texts(toy_components(), QUIET_PLACES, sizes=[3, 9], draws=2)
    path = tmp_path / f"curve.{ending}"
    plot_curve(result, path)
    first = path.read_bytes()
    plot_curve(result, path)
    assert path.read_bytes() == first and len(first) > 1000
    if ending == "svg":
        shown = " ".join("".join(node.itertext()) for node in ElementTree.fromstring(first).iter())
        assert "unsupervised baseline" in shown
        assert "pairs: accuracy by number of training examples" in shown
        plot_curve(curve_of_texts(toy_components(), QUIET_PLACES, sizes=[3], draws=2, measure="auc"), path)
        shown = "".join(ElementTree.fromstring(path.read_bytes()).itertext())
        assert "pairs: AUC by number of training examples" in shown


def test_rejects_plots_that_cannot_be_drawn(tmp_path, monkeypatch):
    with pytest.raises(UserError, match=r"D483.*curve\.jpg.*\.svg, \.png, \.pdf"):
        plot_curve({}, tmp_path / "curve.jpg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"D482.*matplotlib>=3.10"):
        plot_curve({}, tmp_path / "curve.svg")


def test_reliability_plot_is_reproducible_and_its_suffix_is_checked(tmp_path):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    result = reliability(rng.random(200), rng.random(200) < 0.5)
    for name in ("one.svg", "two.svg"):
        plot_reliability(result, tmp_path / name, title="pairs")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "pairs" in "".join(ElementTree.parse(tmp_path / "one.svg").getroot().itertext())
    with pytest.raises(UserError, match="D483"):
        plot_reliability(result, tmp_path / "plot.txt", title="pairs")


@pytest.fixture
def call(load_with, tmp_path):
    load_with(toys="toy_plugin")
    (tmp_path / "small.cfg").write_text(CONFIG)
    (tmp_path / "texts.txt").write_text("\n".join(QUIET_PLACES))
    rows = [e.text[: e.start] + f"[[{e.label}]]" + e.text[e.end :] + f"\t{e.label}" for e in LABELLED]
    (tmp_path / "labelled.tsv").write_text("\n".join(rows))

    return partial(here, "curve", tmp_path / "small.cfg")


def test_command_on_text_and_on_labelled_examples(call, tmp_path):
    status, out, _ = call("--text", tmp_path / "texts.txt", "--lines", "--sizes", "4, 20", "--draws", 2)
    lines = out.splitlines()
    assert status == 0 and lines[0].startswith("pairs: tested on ") and "the test part" in lines[0]
    assert [line.split()[0] for line in lines[2:]] == ["4", "20", "baseline", "majority"]
    assert "2 draws" in lines[2] and "cut from" not in out and "repeat" not in lines[3]
    status, out, _ = call("--labelled", tmp_path / "labelled.tsv", "--sizes", "4", "--draws", 1, "--json")
    result = json.loads(out)
    assert status == 0 and result["source"] == "labelled" and result["points"][0]["size"] == 4


def test_command_reports_reduced_and_unlearned_sizes(call, tmp_path):
    with (tmp_path / "small.cfg").open("a") as config:
        config.write("min_examples = 9\n")
    status, out, _ = call("--text", tmp_path / "texts.txt", "--lines", "--sizes", "4,9000,8000", "--draws", 1)
    lines = out.splitlines()
    assert status == 0 and len(lines) == 6
    assert lines[2].endswith("; repeats the baseline: too few examples to learn from")
    assert lines[3].endswith("; cut from 8,000, 9,000: there are no more examples")


@pytest.mark.parametrize(
    ("groups", "learned", "note"),
    [
        (1, 1.0, "80.0% to 99.0%"),
        (1, 0.75, "; repeats the baseline in 25% of draws: too few examples to learn from"),
        (4, 3.0, "; repeats the baseline in 25% of groups and draws: too few examples to learn from"),
        (4, 0.0, "; repeats the baseline: too few examples to learn from"),
    ],
)
def test_reports_the_share_of_the_baseline(groups, learned, note):
    point = {"size": 10, "asked": [], "draws": 4, "examples": 10.0, "groups": groups, "learned": learned}
    point |= {"accuracy": 0.9, "spread": 0.01, "lowest": 0.8, "highest": 0.99, "p_before": None}
    point |= {"p_baseline": 0.0}
    result = {"task": "x", "source": "text", "points": [point], "tested": 9, "baseline": 0.5}
    result |= {"baseline_interval": (0.4, 0.6), "baseline_is": "unsupervised", "majority": 0.5}
    result["one_label"] = False
    line = curve_lines(result)[2]
    assert line.endswith(note) and "< 0.0001" in line


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--sizes", "ten", "--text", "x"], "whole numbers"),
        (["--text", "x", "--labelled", "y"], "D484"),
        (["--plot", "curve.gif", "--text", "x"], "D483"),
        ([], "D412"),
    ],
)
def test_command_rejects_invalid_options(call, arguments, expected):
    status, _, err = call(*arguments)
    assert status == 2 and expected in err and err.count("\n") == 1
