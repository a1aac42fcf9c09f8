"""Systems side by side: the same places and errors for all, limits from other text, rows and claims."""

from __future__ import annotations

import json
import lzma
import sys
from dataclasses import replace

import numpy as np
import pytest
from disambig_variance_svm import PACK_DOMAINS as DOMAINS
from disambig_variance_svm import PACK_HELD_OUT as HELD_OUT
from disambig_variance_svm import Spelling
from disambig_variance_svm.experiments import SETTINGS, Bergsma2010Peers, read_external_settings
from disambig_variance_svm.experiments import external as peer_settings
from disambig_variance_svm.experiments import external as peers
from disambig_variance_svm.learners import ConditionalLogit, SumLM
from disambig_variance_svm.prepositions import Preposition, PrepositionOdds
from disambig_variance_svm.pronoun_it import NormalisedWords

from disambig.counts import build_table
from disambig.decision import BestOfList, Mistakes
from disambig.errors import UserError
from disambig.evaluation import SharedTestSet, flagged, judge, limits
from disambig.features import ContextProbabilities, NgramCounts
from disambig.text import Words
from disambig.training import FittedExtractor, train

SETS = "than/then\tcomparison, time\nquiet/quite\tstill, rather\n"
NAMES = "Ann Ben Cleo Dan Eva Finn Gus Hal Ida Jon".split()
LINES = (
    "{a} saw more than {b} did. And then {b} went home.",
    "{a} was quiet there, but {b} was quite happy, and then they left.",
    "It was no more than {a} had, so then {b} was quiet there.",
    "{a} was quite happy. Now and then {b} had more than that.",
)


def lines(seed, n):
    rng = np.random.default_rng(seed)
    picked = rng.integers(0, [len(LINES), len(NAMES), len(NAMES)], (n, 3))
    return [f"{LINES[i].format(a=NAMES[a], b=NAMES[b])} {k}" for k, (i, a, b) in enumerate(picked.tolist())]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a directory with data, a count table and confusion sets."""
    home = tmp_path_factory.mktemp("peers")
    (home / "english").mkdir()
    for seed, name in enumerate(HELD_OUT):
        with lzma.open(home / name, "wt", encoding="utf8") as out:
            out.write("\n".join(lines(seed, 120 if name in (HELD_OUT[0], HELD_OUT[3]) else 40)) + "\n")
    build_table(home / "t.counts", lines(9, 300), Words())
    (home / "sets.tsv").write_text(SETS, encoding="utf8")
    return home


@pytest.fixture
def model(place):
    build = peers.train_systems(NgramCounts(counts=place / "t.counts"), SumLM(patterns=["2-gram", "3-gram"]))
    return build(Spelling(sets=place / "sets.tsv"), peers.read(place))


def test_judging_agrees_with_deciding_and_errors_are_the_same_for_all(place, model):
    texts = peers.read(place)
    ground, again = (SharedTestSet.from_texts(model.task, texts["test"], Words()) for _ in range(2))
    judged = judge(model, ground)
    decided = model.decide(ground.view)
    assert np.array_equal(judged.chosen, decided.chosen) and judged.right.mean() > 0.9
    assert np.array_equal(judged.right, decided.chosen == decided.observed)
    for made, other in zip(ground.errors, again.errors, strict=True):
        assert np.array_equal(made.view.hashes, other.view.hashes) and np.array_equal(made.rows, other.rows)
        truth = ground.instances.observed[made.rows]
        assert made.seen.all() and (made.instances.observed != truth).all()
    assert not ground.shielded[judged.rows].any()
    assert np.isneginf(judged.odds[judged.right]).all()  # no flag where the word in the text is the best
    assert (judged.error_odds > -np.inf).mean() > 0.8


def test_parts_and_groups(place, model):
    texts = peers.read(place)
    ground = SharedTestSet.from_texts(model.task, texts["dev"], Words(), groups=["quiet/quite"])
    assert ground.names == DOMAINS and set(ground.instances.groups) == {1}
    first = SharedTestSet.from_texts(
        model.task, {DOMAINS[0]: texts["dev"][DOMAINS[0]]}, Words(), groups=["quiet/quite"]
    )
    assert (ground.parts == 0).sum() == len(first.instances) < len(ground.instances)


def test_a_limit_leaves_no_more_than_its_share_above_it(place, model):
    ground = SharedTestSet.from_texts(model.task, peers.read(place)["dev"], Words())
    flags = np.random.default_rng(0).normal(size=len(ground.instances))
    free = ~ground.shielded
    for by_group in (False, True):
        limit = limits(ground, flags, 0.1, by_group=by_group)
        hits = flagged(ground, flags, None, limit)
        assert 0.05 < hits[free].mean() <= 0.1
    assert limit[0] != limit[1]
    rows = np.flatnonzero(ground.instances.groups == 1)[:3]
    assert flagged(ground, limit[[1, 1, 1]] + [1, -1, 0], rows, limit).tolist() == [True, False, False]


def test_the_experiment_puts_systems_side_by_side(place, monkeypatch):
    settings = place / "peers.json"
    settings.write_text(json.dumps({"counts": str(place / "t.counts")}), encoding="utf8")
    monkeypatch.setenv(SETTINGS, str(settings))
    monkeypatch.setattr(peers, "TASKS", {"spelling": lambda: Spelling(sets=place / "sets.tsv")})
    result = Bergsma2010Peers().run(data=place, quick=False, progress=lambda *_: None)
    figures = {(row.system, row.setting): row for row in result.rows}
    assert {system for system, _ in figures} == {"n-gram ratio rule", "SumLM", "VAR-SVM"}
    for system in ("n-gram ratio rule", "SumLM", "VAR-SVM"):
        accuracy = figures[system, "spelling: accuracy"]
        parts = [figures[system, f"spelling: accuracy, {domain}"] for domain in DOMAINS]
        assert accuracy.n == sum(part.n for part in parts)
        assert accuracy.ours == pytest.approx(sum(part.ours * part.n for part in parts) / accuracy.n)
    assert figures["SumLM", "spelling: accuracy"].ours > 90
    assert figures["SumLM", "spelling: found at 0.5 % false alarms"].ours > 60
    assert not result.claims and json.dumps(result.details)


def test_a_given_model_is_shown_whole_and_by_its_extractors(place, model, monkeypatch):
    extractors = (*model.extractors, ContextProbabilities(counts=place / "t.counts"))
    parts = {
        "task": model.task,
        "tokenisation": Words(),
        "extractors": {"logs": FittedExtractor(extractors[0]), "smoothed": extractors[1]},
        "learner": ConditionalLogit(),
        "baseline": SumLM(patterns=["2-gram", "3-gram"]),
    }
    texts = peers.read(place)
    joined = {part: [line for lines in texts[part].values() for line in lines] for part in ("train", "dev")}
    two = train(parts, joined, name="two")
    monkeypatch.setattr(peers, "load_model", lambda place: two)
    settings = {"counts": str(place / "t.counts"), "models": {"spelling": {"two": "two"}}}
    names = [name for name, _ in peers.extractor_builders("spelling", settings)]
    assert names[-3:] == ["two", "two, its NgramCounts alone", "two, its ContextProbabilities alone"]
    alone = dict(peers.extractor_builders("spelling", settings))[names[-1]](model.task, texts)
    assert [type(extractor).__name__ for extractor in alone.extractors] == ["ContextProbabilities"]


def test_a_model_that_knows_no_word_takes_part_among_the_words(place, model, monkeypatch):
    """Its judge is of mistakes, as that of the pack; what says nothing of words is not shown alone."""
    task, asked = (
        Preposition(words=["than", "then"], or_none=each, least_odds=-99.0) for each in (True, False)
    )
    parts = {
        "task": replace(task, only_as_preposition=False),
        "tokenisation": Words(),
        "extractors": {
            "counts": FittedExtractor(ContextProbabilities(counts=place / "t.counts")),
            "place": PrepositionOdds(),
        },
        "learner": ConditionalLogit(),
        "baseline": SumLM(patterns=["3-gram"]),
        "judge": Mistakes(),
    }
    texts = peers.read(place)
    joined = {part: [line for lines in texts[part].values() for line in lines] for part in ("train", "dev")}
    whole = train(parts, joined, name="whole")
    monkeypatch.setattr(peers, "load_model", lambda place: whole)
    monkeypatch.setattr(peer_settings, "load_model", lambda place: whole)
    said = {"counts": str(place / "t.counts"), "models": {"every": {"pack": "pack"}}}
    (place / "said.json").write_text(json.dumps(said), encoding="utf8")
    monkeypatch.setenv(SETTINGS, str(place / "said.json"))
    monkeypatch.setattr(peers, "TASKS", {"every": lambda: replace(asked, only_as_preposition=False)})
    result = Bergsma2010Peers().run(data=place, quick=False, progress=lambda *_: None)
    figures = {(row.system, row.setting): row for row in result.rows}
    systems = ["n-gram ratio rule", "SumLM", "VAR-SVM", "pack", "pack, its ContextProbabilities alone"]
    assert list(dict.fromkeys(system for system, _ in figures)) == systems
    assert len({figures[system, "every: accuracy"].n for system in systems}) == 1
    assert all(figures[system, "every: accuracy"].ours > 90 for system in systems)


def test_claims_are_against_the_better_language_model():
    def one(right):
        return type("One", (), {"right": right})()

    half, most, all_right = np.arange(200) % 2 == 0, np.arange(200) % 10 > 0, np.ones(200, bool)
    judged = {"KenLM, a": one(half), "KenLM, b": one(most), "SumLM": one(half), "new": one(all_right)}
    claims = list(peers.compare_systems("every", judged))
    assert [(claim.claim, claim.holds) for claim in claims] == [
        ("every: new chooses better than KenLM, b", True)
    ]
    assert "+10.00 points" in claims[0].evidence
    assert not next(peers.compare_systems("every", {**judged, "new": one(half)})).holds


def read_as(place, monkeypatch, said, sets=None):
    """Read settings that say this, for a task spelling."""
    (place / "said.json").write_text(said if isinstance(said, str) else json.dumps(said), encoding="utf8")
    monkeypatch.setenv(SETTINGS, str(place / "said.json"))
    return read_external_settings({"spelling": Spelling(sets=sets or place / "sets.tsv").groups}, ("SumLM",))


def test_without_settings_nothing_is_said(monkeypatch):
    monkeypatch.delenv(SETTINGS, raising=False)
    assert read_external_settings({}, ()) == {}


def test_settings_that_can_be_used_are_returned(place, model, monkeypatch):
    monkeypatch.setattr(peer_settings, "load_model", lambda place: model)
    said = {"counts": str(place / "t.counts"), "models": {"spelling": {"mine": "mine"}}}
    assert read_as(place, monkeypatch, said) == said


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("[1]", "it is [1]"),
        ("{", "Expecting"),
        ({"kenml": {}}, "no key is called 'kenml': there are kenlm"),
        ({"kenlm": []}, "kenlm is []"),
        ({"kenlm": {"KenLM": 3}}, "kenlm: KenLM is 3"),
        ({"models": []}, "models is []"),
        ({"models": {"speling": {}}}, "no task is called 'speling': there are spelling"),
        ({"models": {"spelling": "x"}}, "models: spelling is 'x'"),
        ({"models": {"spelling": {"x": "/none"}}}, "models: spelling: x: [D404]"),
        ({"models": {"spelling": {"SumLM": "x"}}}, "two systems are called 'SumLM'"),
        ({"kenlm": {"x": "a"}, "models": {"spelling": {"x": "a"}}}, "two systems are called 'x'"),
        ({"counts": 3}, "counts is 3"),
        ({"ratio": "none"}, "ratio: [D402]"),
        ({"counts": "none.counts"}, "counts: [D100]"),
    ],
)
def test_settings_that_cannot_be_used_are_named(place, monkeypatch, said, problem):
    with pytest.raises(UserError) as caught:
        read_as(place, monkeypatch, said)
    assert caught.value.code == "D743"
    assert f"said.json, named by DISAMBIG_PEERS: {problem}" in str(caught.value)


def test_kenlm_is_tried_before_the_work(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(UserError, match=r"D743.*kenlm: KenLM: \[D740\]"):
        read_as(place, monkeypatch, {"kenlm": {"KenLM": "a.bin"}})


def test_a_model_of_other_words_or_candidates_is_refused(place, model, monkeypatch):
    monkeypatch.setattr(peer_settings, "load_model", lambda place: model)
    said = {"models": {"spelling": {"mine": "mine"}}}
    other = place / "other.tsv"
    other.write_text("loose/lose\ta, b\n", encoding="utf8")
    with pytest.raises(UserError, match=r"D743.*mine: its task spelling does not decide 'loose/lose'"):
        read_as(place, monkeypatch, said, sets=other)
    elsewhere = replace(model, tokenisation=NormalisedWords())
    monkeypatch.setattr(peer_settings, "load_model", lambda place: elsewhere)
    with pytest.raises(
        UserError, match=r"D743.*mine: it reads variance_svm.NormalisedWords.v1, not disambig"
    ):
        read_as(place, monkeypatch, said)


def test_a_model_that_flags_nothing_is_refused(place, model, monkeypatch):
    silent = replace(model, judge=BestOfList())
    monkeypatch.setattr(peer_settings, "load_model", lambda place: silent)
    with pytest.raises(UserError, match=r"D743.*mine: it flags no words"):
        read_as(place, monkeypatch, {"models": {"spelling": {"mine": "mine"}}})


def test_settings_are_read_before_the_texts(place, monkeypatch):
    monkeypatch.setattr(peers, "read", None)
    (place / "said.json").write_text('{"counts": 3}', encoding="utf8")
    monkeypatch.setenv(SETTINGS, str(place / "said.json"))
    with pytest.raises(UserError, match="D743"):
        Bergsma2010Peers().run(data=place, quick=True, progress=lambda *_: None)
