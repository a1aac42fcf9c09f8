"""A model answers Senseval: each head is decided, whatever its tag; words that are unknown are not."""

from __future__ import annotations

import pytest

from disambig.config import resolve
from disambig.corpora.labelled import Labelled
from disambig.corpora.senseval import SenseInstance
from disambig.evaluation.senseval_model import answers_of
from disambig.training.labelled import train_labelled

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


@pytest.fixture(scope="module")
def model():
    labelled = []
    for number in range(6):
        for label, text in (("shore", f"river bank {number}"), ("money", f"rich bank {number}")):
            start = text.index("bank")
            labelled.append(Labelled(text, start, start + 4, label, text, text, "bank.n"))
    return train_labelled(resolve(CONFIG), labelled, name="senses", config=CONFIG)


def test_every_instance_of_a_known_word_has_an_answer(model):
    found = answers_of(
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
    assert answers_of(model, [instance("5", "A river", "river", "river.n")]) == {}
