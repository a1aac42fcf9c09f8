"""The experiments: tables of the paper, domains, external systems; what they compute and claim."""

from __future__ import annotations

import json
import lzma
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from disambig_variance_svm import PACK_DOMAINS, PACK_HELD_OUT, Spelling, plain_text
from disambig_variance_svm.experiments import (
    AS_IS,
    NEAR,
    PLAIN,
    POOLED,
    PRIOR,
    SETTINGS,
    SUM,
    WORDS,
    Bergsma2010Peers,
    FiveConfusionSets,
    as_in_the_paper,
    best_threshold,
    check_folds,
    check_parts,
    claim_free_bias_helps,
    complete,
    domains,
    external,
    learning_curves as curves,
    people,
    read_external_settings,
    table1,
    table2,
    table3,
    with_difference,
)
from disambig_variance_svm.learners import ConditionalLogit, SumLM
from disambig_variance_svm.prepositions import Preposition, PrepositionOdds
from disambig_variance_svm.pronoun_it import NormalisedWords
from hypothesis import given, strategies as st

from disambig.counts import build_table
from disambig.data import Columns, DenseBlocks
from disambig.decision import BestOfList, Mistakes
from disambig.errors import UserError
from disambig.evaluation import SharedTestSet, flagged, judge, limits
from disambig.experiments import CurveOutcome
from disambig.features import ContextProbabilities, NgramCounts
from disambig.testing import blocks
from disambig.text import Words, view_of_texts
from disambig.training import FittedExtractor, train


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=12))
def test_best_threshold(examples):
    scores = np.array([float(score) for score, _ in examples])
    gold = np.array([label for _, label in examples])
    limit = best_threshold(scores, gold)
    share = ((scores > limit) == gold).mean()
    tried = [((scores > t) == gold).mean() for t in (-np.inf, *np.arange(-3.5, 4.0), np.inf)]
    assert share == max(tried)


def make_it_batch(n=6):
    values = np.zeros((n, 2, 4), np.float32)
    values[:, 1] = np.random.default_rng(0).random((n, 4))
    groups = "it", "they", "other", "bias"
    columns = Columns(np.ones(4, np.int32), np.arange(4, dtype=np.int32), groups, list("abcd"))
    costs = np.tile(np.array([[0.0, 1.0]], np.float32), (n, 1))
    costs[0] = [1.0, 0.0]
    return DenseBlocks(values, np.tile(np.arange(4), (2, 1)), columns, costs)


def test_difference_attribute_and_share_of_non_referential_examples():
    batch = make_it_batch()
    wider = with_difference(batch)
    assert wider.values[:, 1, 4] == pytest.approx(batch.values[:, 1, 0] - batch.values[:, 1, 1])
    assert not wider.values[:, 0].any()
    assert wider.scores(np.eye(5)[4]) == pytest.approx(batch.scores(np.array([1.0, -1.0, 0.0, 0.0])))
    assert wider.columns.in_groups(["sum"]).tolist() == [False] * 4 + [True]
    rows = as_in_the_paper(make_it_batch(10))
    assert 0 in rows
    assert len(rows) == 1 + round(0.594 / 0.406)


def make_outcomes(**shares):
    """Return outcomes of 100 examples; a system with k right ones has the first k right."""
    result = {}
    for name, by_size in shares.items():
        for size, right in by_size.items():
            result[f"{name}-SVM", size] = CurveOutcome([np.arange(100) < right], [{"C": 1.0}], [0.1])
    return result


def test_claims_about_curves():
    outcomes = make_outcomes(K={10: 20, 100: 50, 10_000: 70}, VAR={10: 70, 100: 71, 1000: 72})
    good = curves.mean_accuracies(outcomes)
    assert [curves.claim_no_worse_than_sum(good, least)[0].holds for least in (70.4, 70.6)] == [True, False]
    assert [claim.holds for claim in curves.claim_worth_ten_times(good, "K-SVM")] == [True]
    assert curves.claim_worth_ten_times(good, "CS-SVM") == []
    assert [claim.holds for claim in curves.claim_order(good, ("K-SVM", "VAR-SVM"))] == [True, True]
    assert [claim.holds for claim in curves.claim_order(good, ("VAR-SVM", "K-SVM"))] == [False, False]
    (shrinking,) = curves.claim_gains_shrink(good, "K-SVM")
    assert shrinking.holds
    assert shrinking.evidence == "10: +50.0, 100: +21.0"
    figures = {"VAR-SVM+FreeB": {100: 80.0}, "VAR-SVM": {100: 79.0}}
    for p, holds in ((0.5, False), (0.01, True)):
        tests = {"100": {"VAR-SVM": {"difference": 1.0, "mcnemar": p}}}
        assert claim_free_bias_helps(figures, tests)[0].holds is holds


def test_differences_are_tested_both_ways():
    result = make_outcomes(K={10: 20, 100: 69}, VAR={10: 70, 100: 71})
    tests = curves.differences(result, "VAR-SVM")
    assert tests["10"]["K-SVM"]["difference"] == 50.0
    assert tests["10"]["K-SVM"]["chi_squared"] < 1e-9
    assert tests["10"]["K-SVM"]["mcnemar"] < 1e-9
    assert tests["100"]["K-SVM"]["chi_squared"] > 0.5
    assert tests["100"]["K-SVM"]["mcnemar"] == 0.5
    (claim,) = curves.claim_significantly_best(tests, ["K-SVM"])
    assert not claim.holds
    assert "K-SVM at 100" in claim.evidence
    assert "K-SVM at 10 " not in claim.evidence


def test_no_claims_about_sizes_that_were_not_tried():
    few = curves.mean_accuracies(make_outcomes(K={1000: 50}, VAR={1000: 70}))
    assert curves.claim_no_worse_than_sum(few, 60.0) == curves.claim_worth_ten_times(few, "K-SVM") == []
    assert curves.claim_order(few, ("K-SVM", "VAR-SVM")) == curves.claim_gains_shrink(few, "K-SVM") == []
    assert curves.claim_significantly_best({}, ["K-SVM"]) == claim_free_bias_helps(few, {}) == []
    tests = {"100": {"K-SVM": {"difference": 9, "chi_squared": 0.01, "mcnemar": 0.01}}}
    (claim,) = curves.claim_significantly_best(tests, ["K-SVM"])
    assert claim.holds
    assert "up to 100 examples" in claim.claim
    figures = {"VAR-SVM": {1000: 70}, "K-SVM": {10_000: 69}}
    (claim,) = curves.claim_worth_ten_times(figures, "K-SVM", unfinished=2)
    assert "did not converge in 2 draws" in claim.evidence


def test_rounds_of_folds_and_parts_without_examples(tmp_path):
    """Only complete rounds are averaged, and every fold and part needs an example."""
    result = make_outcomes(K={10: 20, 100: 69})
    assert [len(item.hits) for item in complete(result, {10: 1, 100: 2}).values()] == [1, 0]
    check_folds(tmp_path, "it", np.array([2, 0, 1, 1]), 3)
    with pytest.raises(UserError, match=r"D725.*only 2 of 3 folds have an example of it"):
        check_folds(tmp_path, "it", np.array([2, 0, 2]), 3)
    check_parts(tmp_path, "it", {"to test on": 1})
    with pytest.raises(UserError, match=r"D725.*no example of it to tune on and to test on"):
        check_parts(tmp_path, "it", {"to learn from": 1, "to tune on": 0, "to test on": 0})


def test_the_five_sets_find_their_words():
    task = FiveConfusionSets()
    result = task.instances(view_of_texts(["The number of sites that raise the peace ."], Words()))
    pairs = zip(result.groups, result.observed, strict=True)
    assert [task.groups[g].candidates[o] for g, o in pairs] == ["number", "raise", "peace"]
    assert len(WORDS) == 11


def test_systems_and_sizes_of_the_domains():
    parts = "train", "dev", "test"
    target, first, second = ({p: blocks(60, seed=s + i) for i, p in enumerate(parts)} for s in (1, 11, 21))
    result = domains.run_trials(target, [first, second], sizes=(10, 30, 1000), quick=True)
    assert set(result) == {PLAIN, PRIOR, NEAR, POOLED, AS_IS, SUM}
    assert set(result[PLAIN]) == {10, 30} and set(result[SUM]) == set(result[AS_IS]) == {0}
    assert [len(result[PRIOR][10]), len(result[POOLED][10])] == [2, domains.POOLED_DRAWS]
    assert all(hit.shape == (60,) for by_size in result.values() for hits in by_size.values() for hit in hits)
    assert domains.first(blocks(12, seed=1), 5).values.shape[0] == 5


def test_claims_and_rows_of_the_domains():
    right, wrong = np.ones(100, bool), np.arange(100) % 2 == 0
    even = {10: [wrong, wrong]}
    one = {PLAIN: even, PRIOR: even, POOLED: even}
    one |= {NEAR: {10: [right]}, AS_IS: {0: [right]}, SUM: {0: [wrong]}}
    result = {"first": one, "second": one}
    held = {claim.claim: claim for claim in domains.domain_claims(result)}
    assert held[domains.CLAIMS[PLAIN].format(10)].holds
    assert "+50.00 points, ahead in 2 of 2" in held[domains.CLAIMS[PLAIN].format(10)].evidence
    assert not held[domains.CLAIMS[AS_IS].format(10)].holds
    rows = list(domains.domain_rows(result))
    mean = next(row for row in rows if (row.system, row.setting) == (PLAIN, "10"))
    assert (mean.ours, mean.n, mean.spread) == (50.0, 200, 0.0)
    assert {row.setting for row in rows if row.system == SUM} == {"", "first", "second"}


def test_pooling_is_compared_on_its_draw():
    right, wrong, half = np.ones(100, bool), np.zeros(100, bool), np.arange(100) % 2 == 0
    one = {PLAIN: {10: [half, half]}, PRIOR: {10: [half, half]}, POOLED: {10: [half]}, AS_IS: {0: [half]}}
    one |= {NEAR: {10: [right, wrong]}, SUM: {0: [half]}}
    leads = {at["rival"]: at["lead"] for at in domains.domain_pairs({"one": one}).values()}
    assert leads == {PLAIN: 0.0, AS_IS: 0.0, PRIOR: 0.0, POOLED: 50.0}
    evidence = {claim.claim: claim.evidence for claim in domains.domain_claims({"one": one})}
    first_draw = "+50.00 points, ahead in 1 of 1 domains (first draw)"
    assert first_draw in evidence[domains.CLAIMS[POOLED].format(10)]
    assert "(all draws), McNemar p" in evidence[domains.CLAIMS[PLAIN].format(10)]


EIGHT = "fiction government health mixed science speeches technical textbooks".split()


def test_domains_of_the_tables_and_of_the_pack():
    assert tuple(f"english/{domain}.train.txt.xz" for domain in EIGHT) == plain_text.COUNTED
    assert tuple(f"english/{domain}.heldout.txt.xz" for domain in EIGHT) == plain_text.HELD_OUT
    tables = table1.Bergsma2010Table1, table2.Bergsma2010Table2, table3.Bergsma2010Table3
    for experiment in (*tables, domains.Bergsma2010Domains):
        english = {name for name in experiment.needs if name.startswith("english/")}
        assert english <= {*plain_text.COUNTED, *plain_text.HELD_OUT}
    assert len(set(plain_text.PACK_DOMAINS)) == 12 and set(EIGHT) < set(plain_text.PACK_DOMAINS)
    assert external.Bergsma2010Peers.needs == plain_text.PACK_HELD_OUT
    needs = people.PeopleMistakes().needs  # KenLM may be left out
    assert not any(name.startswith("english/") for name in needs)


@pytest.fixture
def pack_build(monkeypatch):
    """Import the module of the pack's build."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[4] / "corpora" / "disambig_en"))
    monkeypatch.delitem(sys.modules, "material", raising=False)
    import material

    yield material
    sys.modules.pop("material", None)


def test_the_build_counts_the_same_paragraphs(pack_build, tmp_path):
    (tmp_path / "english").mkdir()
    for name in plain_text.PACK_COUNTED:
        with lzma.open(tmp_path / name, "wt", encoding="utf8") as out:
            out.write("".join(f"{name} {n}\n" for n in range(8)))
    for domain in plain_text.PACK_DOMAINS:
        ours = list(plain_text.pack_paragraphs(tmp_path, domain))
        assert ours == list(pack_build.read_text(tmp_path, "train", [domain]))
        assert len(ours) == (3 if domain == "fiction" else 8)


SETS = "than/then\tcomparison, time\nquiet/quite\tstill, rather\n"
NAMES = "Ann Ben Cleo Dan Eva Finn Gus Hal Ida Jon".split()
LINES = (
    "{a} saw more than {b} did. And then {b} went home.",
    "{a} was quiet there, but {b} was quite happy, and then they left.",
    "It was no more than {a} had, so then {b} was quiet there.",
    "{a} was quite happy. Now and then {b} had more than that.",
)


def make_lines(seed, n):
    rng = np.random.default_rng(seed)
    picked = rng.integers(0, [len(LINES), len(NAMES), len(NAMES)], (n, 3))
    return [f"{LINES[i].format(a=NAMES[a], b=NAMES[b])} {k}" for k, (i, a, b) in enumerate(picked.tolist())]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a directory with data, a count table and confusion sets."""
    home = tmp_path_factory.mktemp("external")
    (home / "english").mkdir()
    for seed, name in enumerate(PACK_HELD_OUT):
        lines = make_lines(seed, 120 if name in (PACK_HELD_OUT[0], PACK_HELD_OUT[3]) else 40)
        with lzma.open(home / name, "wt", encoding="utf8") as out:
            out.writelines(f"{line}\n" for line in lines)
    build_table(home / "t.counts", make_lines(9, 300), Words())
    (home / "sets.tsv").write_text(SETS, encoding="utf8")
    return home


@pytest.fixture(scope="module")
def texts(data):
    return external.read_parts(data)


@pytest.fixture(scope="module")
def model(data, texts):
    extractor, learner = NgramCounts(counts=data / "t.counts"), SumLM(patterns=["2-gram", "3-gram"])
    return external.trained_system(extractor, learner)(Spelling(sets=data / "sets.tsv"), texts)


def train_whole(texts, task, **extractors):
    """Train a model of several extractors with the texts of all domains."""
    parts = {"task": task, "tokenisation": Words(), "extractors": extractors, "judge": Mistakes()}
    parts |= {"learner": ConditionalLogit(), "baseline": SumLM(patterns=["3-gram"])}
    joined = {part: [line for lines in texts[part].values() for line in lines] for part in ("train", "dev")}
    return train(parts, joined, name="whole")


def write_settings(data, monkeypatch, settings):
    text = settings if isinstance(settings, str) else json.dumps(settings)
    (data / "settings.json").write_text(text, encoding="utf8")
    monkeypatch.setenv(SETTINGS, str(data / "settings.json"))


def run_peers(data, monkeypatch, task, settings):
    """Run the experiment with one task; return its result, and its rows by system and setting."""
    write_settings(data, monkeypatch, {"counts": str(data / "t.counts"), **settings})
    monkeypatch.setattr(external, "TASKS", task)
    result = Bergsma2010Peers().run(data=data, quick=False, progress=lambda *_: None)
    return result, {(row.system, row.setting): row for row in result.rows}


def test_judge_agrees_with_decide(texts, model):
    ground, again = (SharedTestSet.from_texts(model.task, texts["test"], Words()) for _ in range(2))
    judged, decided = judge(model, ground), model.decide(ground.view)
    assert np.array_equal(judged.chosen, decided.chosen) and judged.right.mean() > 0.9
    assert np.array_equal(judged.right, decided.chosen == decided.observed)
    for expected, other in zip(ground.errors, again.errors, strict=True):
        assert np.array_equal(expected.view.hashes, other.view.hashes)
        assert np.array_equal(expected.rows, other.rows)
        truth = ground.instances.observed[expected.rows]
        assert expected.seen.all() and (expected.instances.observed != truth).all()
    assert not ground.shielded[judged.rows].any()
    assert np.isneginf(judged.odds[judged.right]).all()  # no flag where the word in the text is the best
    assert (judged.error_odds > -np.inf).mean() > 0.8
    dev, groups = texts["dev"], ["quiet/quite"]
    ground = SharedTestSet.from_texts(model.task, dev, Words(), groups=groups)
    assert ground.names == PACK_DOMAINS and set(ground.instances.groups) == {1}
    only = {PACK_DOMAINS[0]: dev[PACK_DOMAINS[0]]}
    first = SharedTestSet.from_texts(model.task, only, Words(), groups=groups)
    assert (ground.parts == 0).sum() == len(first.instances) < len(ground.instances)


def test_limits(texts, model):
    ground = SharedTestSet.from_texts(model.task, texts["dev"], Words())
    flags = np.random.default_rng(0).normal(size=len(ground.instances))
    free = ~ground.shielded
    for by_group in (False, True):
        limit = limits(ground, flags, 0.1, by_group=by_group)
        hits = flagged(ground, flags, None, limit)
        assert 0.05 < hits[free].mean() <= 0.1
    assert limit[0] != limit[1]
    rows = np.flatnonzero(ground.instances.groups == 1)[:3]
    assert flagged(ground, limit[[1, 1, 1]] + [1, -1, 0], rows, limit).tolist() == [True, False, False]


def test_the_experiment_puts_systems_side_by_side(data, monkeypatch):
    task = {"spelling": lambda: Spelling(sets=data / "sets.tsv")}
    result, figures = run_peers(data, monkeypatch, task, {})
    systems = {"n-gram ratio rule", "SumLM", "VAR-SVM"}
    assert {system for system, _ in figures} == systems
    for system in systems:
        accuracy = figures[system, "spelling: accuracy"]
        parts = [figures[system, f"spelling: accuracy, {domain}"] for domain in PACK_DOMAINS]
        assert accuracy.n == sum(part.n for part in parts)
        assert accuracy.ours == pytest.approx(sum(part.ours * part.n for part in parts) / accuracy.n)
    assert figures["SumLM", "spelling: accuracy"].ours > 90
    assert figures["SumLM", "spelling: found at 0.5 % false alarms"].ours > 60
    assert not result.claims and json.dumps(result.details)
    all_places = figures["SumLM", "spelling: accuracy"].n
    most = all_places // 3
    fewer, _ = run_peers(data, monkeypatch, task, {"most_places": most})
    places = {row.n for row in fewer.rows if row.setting == "spelling: accuracy"}
    assert len(places) == 1 and most / 2 < places.pop() < 1.5 * most


def test_each_extractor_separately(data, texts, model, monkeypatch):
    """Those of a model of several extractors, and those that the settings name."""
    smoothed = ContextProbabilities(counts=data / "t.counts")
    two = train_whole(texts, model.task, logs=FittedExtractor(model.extractors[0]), smoothed=smoothed)
    monkeypatch.setattr(external, "load_model", lambda data: two)
    section = {"@disambig_extractors": "disambig.ContextProbabilities.v1", "counts": str(data / "t.counts")}
    settings = {"counts": str(data / "t.counts"), "models": {"spelling": {"two": "two"}}}
    of_model = dict(external.system_builders("spelling", settings))
    named = ["two", "two, its NgramCounts alone", "two, its ContextProbabilities alone"]
    assert list(of_model)[-3:] == named
    settings = {"counts": str(data / "t.counts"), "extractors": {"spelling": {"probabilities": section}}}
    of_settings = dict(external.system_builders("spelling", settings))
    assert list(of_settings) == ["n-gram ratio rule", "probabilities", "SumLM", "VAR-SVM"]
    for build in (of_model[named[-1]], of_settings["probabilities"]):
        extractors = build(model.task, texts).extractors
        assert [type(extractor).__name__ for extractor in extractors] == ["ContextProbabilities"]


def test_a_model_with_the_empty_candidate_decides_among_the_words(data, texts, monkeypatch):
    """Its decision rule is `Mistakes`, as in the pack; extractors without words are not shown alone."""
    settings = {"words": ["than", "then"], "least_odds": -99.0, "only_as_preposition": False}
    task, requested = (Preposition(or_none=or_none, **settings) for or_none in (True, False))
    smoothed = FittedExtractor(ContextProbabilities(counts=data / "t.counts"))
    whole = train_whole(texts, task, counts=smoothed, place=PrepositionOdds())
    monkeypatch.setattr(external, "load_model", lambda data: whole)
    settings = {"models": {"every": {"pack": "pack"}}}
    _, figures = run_peers(data, monkeypatch, {"every": lambda: requested}, settings)
    systems = ["n-gram ratio rule", "SumLM", "VAR-SVM", "pack", "pack, its ContextProbabilities alone"]
    assert list(dict.fromkeys(system for system, _ in figures)) == systems
    assert len({figures[system, "every: accuracy"].n for system in systems}) == 1
    assert all(figures[system, "every: accuracy"].ours > 90 for system in systems)


def test_claims_are_against_the_better_language_model():
    shares = np.arange(200) % 2 == 0, np.arange(200) % 10 > 0, np.ones(200, bool)
    half, most, every = (SimpleNamespace(right=right) for right in shares)
    judged = {"KenLM, a": half, "KenLM, b": most, "SumLM": half, "new": every}
    (claim,) = external.compare_systems("every", judged)
    assert (claim.claim, claim.holds) == ("every: new chooses better than KenLM, b", True)
    assert "+10.00 points" in claim.evidence
    assert not next(external.compare_systems("every", {**judged, "new": half})).holds


def read_settings(data, monkeypatch, settings, sets=None):
    """Write and read settings for the task spelling."""
    write_settings(data, monkeypatch, settings)
    return read_external_settings({"spelling": Spelling(sets=sets or data / "sets.tsv").groups}, ("SumLM",))


def test_valid_settings_and_when_they_are_read(data, model, monkeypatch):
    monkeypatch.setattr(external, "load_model", lambda data: model)
    settings = {"counts": str(data / "t.counts"), "models": {"spelling": {"mine": "mine"}}}
    assert read_settings(data, monkeypatch, settings) == settings
    monkeypatch.delenv(SETTINGS)
    assert read_external_settings({}, ()) == {}
    monkeypatch.setattr(external, "read_parts", None)
    write_settings(data, monkeypatch, {"counts": 3})
    with pytest.raises(UserError, match="D743"):
        Bergsma2010Peers().run(data=data, quick=True, progress=lambda *_: None)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("[1]", "it is [1]"),
        ("{", "Expecting"),
        ({"most_places": 0}, "most_places is 0, not a whole number from 1 on"),
        ({"kenml": {}}, "no key is called 'kenml': there are kenlm"),
        ({"kenlm": []}, "kenlm is []"),
        ({"kenlm": {"KenLM": 3}}, "kenlm: KenLM is 3"),
        ({"models": []}, "models is []"),
        ({"models": {"speling": {}}}, "no task is called 'speling': there are spelling"),
        ({"models": {"spelling": "x"}}, "models: spelling is 'x'"),
        ({"models": {"spelling": {"x": "/none"}}}, "models: spelling: x: [D404]"),
        ({"models": {"spelling": {"SumLM": "x"}}}, "two systems are called 'SumLM'"),
        ({"kenlm": {"x": "a"}, "models": {"spelling": {"x": "a"}}}, "two systems are called 'x'"),
        ({"extractors": []}, "extractors is []"),
        ({"extractors": {"speling": {}}}, "no task is called 'speling': there are spelling"),
        ({"extractors": {"spelling": []}}, "extractors: spelling is []"),
        ({"extractors": {"spelling": {"x": "encoder"}}}, "extractors: spelling: x is 'encoder'"),
        (
            {"extractors": {"spelling": {"x": {"@disambig_extractors": "no.X.v1"}}}},
            "extractors: spelling: x: [D",
        ),
        ({"extractors": {"spelling": {"SumLM": {}}}}, "two systems are called 'SumLM'"),
        ({"counts": 3}, "counts is 3"),
        ({"ratio": "none"}, "ratio: [D402]"),
        ({"counts": "none.counts"}, "counts: [D100]"),
        ({"kenlm": {"KenLM": "a.bin"}}, "kenlm: KenLM: [D740]"),
    ],
)
def test_invalid_settings(data, monkeypatch, settings, problem):
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(UserError) as caught:
        read_settings(data, monkeypatch, settings)
    assert caught.value.code == "D743"
    assert f"settings.json, named by DISAMBIG_PEERS: {problem}" in str(caught.value)


def test_unsuitable_models_are_refused(data, model, monkeypatch):
    other = data / "other.tsv"
    other.write_text("loose/lose\ta, b\n", encoding="utf8")
    normalised = replace(model, tokenisation=NormalisedWords())
    for loaded, sets, problem in (
        (model, other, "its task spelling does not decide 'loose/lose'"),
        (normalised, None, "it reads variance_svm.NormalisedWords.v1, not disambig"),
        (replace(model, judge=BestOfList()), None, "it flags no words"),
    ):
        monkeypatch.setattr(external, "load_model", lambda data, loaded=loaded: loaded)
        with pytest.raises(UserError, match=rf"D743.*mine: {problem}"):
            read_settings(data, monkeypatch, {"models": {"spelling": {"mine": "mine"}}}, sets=sets)
