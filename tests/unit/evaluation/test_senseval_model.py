"""A model answers Senseval: each head is decided, whatever its tag; words that are unknown are not."""

from __future__ import annotations

import pytest

from disambig.cli.evaluating import labelled_lines
from disambig.config import resolve
from disambig.evaluation import cross_validate, evaluate_labelled, judge_senseval, model_answers
from disambig.formats import Labelled, SenseInstance
from disambig.training import train_labelled

CONFIG = {
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
def model():
    return train_labelled(resolve(CONFIG), examples(), name="senses", config=CONFIG)


def test_every_instance_of_a_known_word_has_an_answer(model):
    found = model_answers(
        model,
        [
            instance("1", "A river bank 7", "bank"),
            instance("2", "A rich bank 7", "bank"),
            instance("3", "A river bank 7", "bank"),  # the same place under another name
            instance("4", "A rich embankment", "embankment"),  # no form of the word
            instance("5", "A river bank 7", "river", "river.n"),
            instance("6", "How odd of it", "odd", "odd.a"),
        ],
    )
    assert found == {"1": "shore", "2": "money", "3": "shore", "4": "money", "6": "strange"}


def test_a_model_that_knows_none_of_the_words_answers_nothing(model):
    assert model_answers(model, [instance("5", "A river", "river", "river.n")]) == {}


def test_small_margins_are_not_attempted(model, tmp_path):
    instances = [instance("1", "A river bank 7", "bank"), instance("2", "The bank", "bank")]
    silent = model.with_least_margin(1.0)
    assert model_answers(model, instances).keys() == {"1", "2"}
    assert model_answers(silent, instances) == {"1": "shore"}
    (tmp_path / "key").write_text("bank 1 shore\nbank 2 shore money\n")
    texts = [each.text.replace("bank", "<head>bank</head>") for each in instances]
    xml = [f'<instance id="{n}"><context>{text}</context></instance>' for n, text in enumerate(texts, 1)]
    (tmp_path / "a.xml").write_text('<corpus><lexelt item="bank.n">' + "\n".join(xml) + "</lexelt></corpus>")
    labelled, found = judge_senseval(silent, [str(tmp_path / "a.xml")], key=str(tmp_path / "key"))
    assert (found["senseval"]["fine"]["precision"], found["senseval"]["fine"]["recall"]) == (1.0, 0.5)
    figures = evaluate_labelled(silent, labelled)["groups"]["bank.n"]
    assert (figures["accuracy"], figures["attempted"], figures["confusions"]) == (0.5, 0.5, [])
    assert "attempted 50.00%" in labelled_lines("model", {"bank.n": figures})[0]
    figures = evaluate_labelled(model, labelled)["groups"]["bank.n"]
    assert figures["attempted"] == 1.0 and "attempted" not in labelled_lines("model", {"bank.n": figures})[0]


def test_of_several_right_senses_silence_is_none(model):
    text = "The bank"
    both = Labelled(text, 4, 8, "money", text, text, "bank.n", also=("shore",))
    assert evaluate_labelled(model, [both])["groups"]["bank.n"]["accuracy"] == 1.0
    silent = model.with_least_margin(50.0)
    assert evaluate_labelled(silent, [both])["groups"]["bank.n"]["accuracy"] == 0.0
    found = cross_validate(resolve(CONFIG), examples(), folds=3, least_margin=50.0)["systems"]
    assert found["model"]["bank.n"]["attempted"] == found["model"]["bank.n"]["accuracy"] == 0.0
    assert found["majority"]["bank.n"]["attempted"] == 1.0
