"""Senseval: the scorer, the most frequent sense, and the answers of a model."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, strategies as st

from disambig.cli.evaluating import labelled_lines
from disambig.config import resolve
from disambig.evaluation import (
    credit,
    cross_validate,
    evaluate_labelled,
    judge_senseval,
    model_answers,
    most_frequent,
    score,
)
from disambig.formats import Labelled, SenseInstance, read_key, read_sensemap, read_senseval
from disambig.training import train_labelled

KEY = {"1": ("a",), "2": ("a", "b"), "3": ("P",), "4": ("c", "U")}


def test_credit_of_answers():
    result = score({"1": "a", "2": "b", "3": "a", "99": "a"}, KEY)
    assert (result.right, result.tried, result.n) == (2.0, 3.0, 4)
    assert (result.precision, result.recall, result.attempted) == (2 / 3, 2 / 4, 3 / 4)
    assert score({}, KEY).precision == score({}, {}).recall == 0.0
    assert credit({"1": ["a", "b"], "2": ["a", "b"], "4": ()}, KEY) == {"1": 0.5, "2": 1.0}
    assert credit({"1": {"a": 0.75, "b": 0.25}}, KEY) == {"1": 0.75}
    half = score({"1": {"a": 0.5}}, KEY)
    assert (half.precision, half.recall, half.attempted) == (1.0, 1 / 8, 1 / 8)
    assert credit({"1": ["a", "b"]}, KEY, any_of=True) == {"1": 1.0}
    assert credit({"1": ["x", "b"]}, KEY, any_of=True) == {"1": 0.0}
    groups = {"a": frozenset("a"), "b": frozenset("ab"), "c": frozenset("ca")}
    assert credit({"1": "b", "2": "x", "4": "b"}, KEY) == {"1": 0.0, "2": 0.0, "4": 0.0}
    assert credit({"1": "b", "2": "x", "4": "b"}, KEY, groups) == {"1": 1.0, "2": 0.0, "4": 1.0}


@given(st.dictionaries(st.sampled_from("1234"), st.lists(st.sampled_from("abcPU"), max_size=3)))
def test_coarse_scores_are_at_least_the_fine_ones(answers):
    groups = {"a": frozenset("a"), "b": frozenset("ab")}
    fine, coarse = score(answers, KEY), score(answers, KEY, groups)
    assert 0 <= fine.recall <= coarse.recall <= 1 and fine.recall <= fine.attempted <= 1
    assert score(answers, KEY, any_of=True).recall >= fine.recall


def test_most_frequent_sense():
    senses = [("P", "a"), ("a", "b"), ("b",), ("b", "P"), ("P",), ("P",)]
    instances = [SenseInstance(str(i), "w.n", "w", 0, 1, item) for i, item in enumerate(senses)]
    instances.append(SenseInstance("9", "only.n", "w", 0, 1, ("U",)))
    assert most_frequent(instances) == {"w.n": "a", "only.n": "U"}
    assert most_frequent(instances, every=True) == {"w.n": "b", "only.n": "U"}
    assert most_frequent(instances, every=True, unassigned=True)["w.n"] == "P"


@pytest.mark.data
@pytest.mark.skipif("DISAMBIG_DATA" not in os.environ, reason="DISAMBIG_DATA is not set")
def test_senseval_2_most_frequent_sense():
    folder = f"{os.environ['DISAMBIG_DATA']}/labelled/senseval2"
    train = read_senseval(f"{folder}/eng-lex-sample.training.xml.xz")
    test = read_senseval(f"{folder}/eng-lex-sample.evaluation.xml.xz")
    key, groups = read_key(f"{folder}/key.sorted.xz"), read_sensemap(f"{folder}/sensemap.xz")
    assert set(key) == {item.id for item in test}
    assert len(groups) == 814 and not {"P", "U"} & set(groups)

    def found(**options):
        senses = most_frequent(train, **options)
        answers = {item.id: senses[item.word] for item in test}
        fine = score(answers, key)
        assert fine.attempted == 1.0 and fine.precision == fine.recall
        return round(fine.recall, 3), round(score(answers, key, groups).recall, 3)

    assert found() == (0.476, 0.552)
    assert found(every=True) == (0.482, 0.558)
    assert found(every=True, unassigned=True) == (0.483, 0.557)


SENSE_CONFIG = {
    "task": {
        "@disambig_tasks": "kernel_rls.Senses.v1",
        "words": [["bank.n", ["bank"], ["money", "shore"], []], ["odd.a", ["odd"], ["strange"], []]],
    },
    "tokenisation": {"@disambig_tokenisations": "disambig.spacy_tokens.v1"},
    "extractors": {"local": {"@disambig_extractors": "disambig.ContextWindow.v1"}},
    "learner": {"@disambig_learners": "kernel_rls.RLSCLin.v1"},
    "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
}


def instance(name, text, head, word="bank.n"):
    start = text.index(head)
    return SenseInstance(name, word, text, start, start + len(head), (), (), name, name)


def examples():
    labelled = []
    for number in range(6):
        for label, text in (("shore", f"river bank {number}"), ("money", f"rich bank {number}")):
            start = text.index("bank")
            labelled.append(Labelled(text, start, start + 4, label, text, text, "bank.n"))
    return labelled


@pytest.fixture(scope="module")
def sense_model():
    return train_labelled(resolve(SENSE_CONFIG), examples(), name="senses", config=SENSE_CONFIG)


def test_answers_every_instance_of_a_known_word(sense_model):
    asked = [
        instance("1", "A river bank 7", "bank"),
        instance("2", "A rich bank 7", "bank"),
        instance("3", "A river bank 7", "bank"),  # the same place under another name
        instance("4", "A rich embankment", "embankment"),  # no form of the word
        instance("5", "A river bank 7", "river", "river.n"),
        instance("6", "How odd of it", "odd", "odd.a"),
    ]
    result = model_answers(sense_model, asked)
    assert result == {"1": "shore", "2": "money", "3": "shore", "4": "money", "6": "strange"}
    assert model_answers(sense_model, [instance("5", "A river", "river", "river.n")]) == {}


def test_does_not_attempt_small_margins(sense_model, tmp_path):
    instances = [instance("1", "A river bank 7", "bank"), instance("2", "The bank", "bank")]
    silent = sense_model.with_least_margin(1.0)
    assert model_answers(sense_model, instances).keys() == {"1", "2"}
    assert model_answers(silent, instances) == {"1": "shore"}
    (tmp_path / "key").write_text("bank 1 shore\nbank 2 shore money\n")
    texts = [item.text.replace("bank", "<head>bank</head>") for item in instances]
    xml = [f'<instance id="{n}"><context>{text}</context></instance>' for n, text in enumerate(texts, 1)]
    (tmp_path / "a.xml").write_text('<corpus><lexelt item="bank.n">' + "\n".join(xml) + "</lexelt></corpus>")
    labelled, result = judge_senseval(silent, [str(tmp_path / "a.xml")], key=str(tmp_path / "key"))
    assert (result["senseval"]["fine"]["precision"], result["senseval"]["fine"]["recall"]) == (1.0, 0.5)
    figures = evaluate_labelled(silent, labelled)["groups"]["bank.n"]
    assert (figures["accuracy"], figures["attempted"], figures["confusions"]) == (0.5, 0.5, [])
    assert "attempted 50.00%" in labelled_lines("model", {"bank.n": figures})[0]
    figures = evaluate_labelled(sense_model, labelled)["groups"]["bank.n"]
    assert figures["attempted"] == 1.0 and "attempted" not in labelled_lines("model", {"bank.n": figures})[0]


def test_abstaining_is_wrong_if_several_senses_are_right(sense_model):
    text = "The bank"
    both = Labelled(text, 4, 8, "money", text, text, "bank.n", also=("shore",))
    assert evaluate_labelled(sense_model, [both])["groups"]["bank.n"]["accuracy"] == 1.0
    silent = sense_model.with_least_margin(50.0)
    assert evaluate_labelled(silent, [both])["groups"]["bank.n"]["accuracy"] == 0.0
    result = cross_validate(resolve(SENSE_CONFIG), examples(), folds=3, least_margin=50.0)["systems"]
    assert result["model"]["bank.n"]["attempted"] == result["model"]["bank.n"]["accuracy"] == 0.0
    assert result["majority"]["bank.n"]["attempted"] == 1.0
