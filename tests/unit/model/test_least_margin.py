"""A model of labels says nothing where its margin is too small; keys of glosses go where the labels go."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import spacy
from scipy.sparse import csr_array
from spacy.tokens import DocBin

from disambig.data import Columns, CrossedColumns, CrossedRows, Group, Instances
from disambig.decision import Corrections, Labels
from disambig.errors import UserError
from disambig.formats import AnnotatedDocument, Document, records
from disambig.models import LinearScorer, Model, NoPreference
from disambig.spacy.component import Disambiguator
from disambig.text import Words, hash_word
from disambig.types import Decides, Features

BANK = Group("bank.n", ("money", "river"), glosses=("bank%1", "bank%2"))
BAT = Group("bat.n", ("animal",), glosses=("",))
TEXT = "near the bank, far from a bank; a bat"


@dataclass(frozen=True)
class Words2:
    """Finds "bank" and "bat"."""

    name: str = "sense"
    language: str = "en"
    decides = Decides(between="labels")
    groups: tuple = (BANK, BAT)

    def instances(self, view):
        numbers = np.full(len(view), -1, np.int32)
        for g, word in enumerate(("bank", "bat")):
            numbers[view.hashes == hash_word(word)] = g
        at = np.flatnonzero(numbers >= 0)
        return Instances(at, np.ones(len(at), np.int32), numbers[at], np.full(len(at), -1, np.int32))


@dataclass(frozen=True)
class WordsBefore:
    """How many words stand before the place."""

    rows_are_shared: bool = True

    def transform(self, view, instances, group):
        n, k = len(instances), len(group.candidates)
        own = Columns(np.full(1, -1, np.int32), np.zeros(1, np.int32), ("before",))
        rows = csr_array(instances.positions[:, None].astype(float))
        ones = np.ones(n * k, np.int32)
        columns = CrossedColumns(own, group.candidates)
        return Features(CrossedRows(rows, np.ones((n, k), np.float32), columns), ones, ones)


@pytest.fixture
def model():
    scorers = LinearScorer(np.array([-1.0, 0.0])), LinearScorer(np.array([1.0]))
    bias = np.array([[5.0, 0.0], [5.0, 0.0]])  # margins of 5 - position: 2 and -3; 5 for an only sense
    return Model(
        "fake/sense",
        "0.0.1",
        Words2(),
        Words(),
        (WordsBefore(),),
        NoPreference(),
        scorers,
        Labels(np.ones(2), bias, np.zeros((2, 2))),
    )


def seen(decisions):
    return [
        (record["chosen"], record["margin"]) for record in map(record_of(decisions), range(len(decisions)))
    ]


def record_of(decisions):
    return lambda index: decisions.record(index, TEXT)


def test_labels_of_small_margins_are_left_out(model):
    view = model.tokenisation([TEXT])
    assert seen(model.decide(view)) == [("money", 2.0), ("river", 3.0), ("animal", 5.0)]
    surer = model.with_least_margin(2.5)
    assert seen(surer.decide(view)) == [("river", 3.0), ("animal", 5.0)]
    assert seen(surer.with_least_margin(0).decide(view)) == seen(model.decide(view))
    assert len(model.with_least_margin(10).decide(view)) == 0


@pytest.mark.parametrize("value", [-0.1, 99.5, 1e308, 10**400, float("nan"), float("inf"), "2", True, None])
def test_least_margins_that_are_none(model, value):
    with pytest.raises(UserError, match="D477"):
        model.with_least_margin(value)


def test_a_model_of_words_has_no_least_margin(model):
    with pytest.raises(UserError, match="D477"):
        replace(model, judge=Corrections()).with_least_margin(1.0)


def test_records_and_spans_hold_the_keys_of_glosses(model):
    nlp = spacy.blank("en")
    component = Disambiguator(nlp, model, name="sense", spans_key="sense", protect=False)
    doc = component(nlp(TEXT))
    expected = [("bank", "money", "bank%1"), ("bank", "river", "bank%2"), ("bat", "animal", "")]
    assert [(span.text, span.label_, span.kb_id_) for span in doc.spans["sense"]] == expected
    (again,) = DocBin(store_user_data=True, docs=[doc]).get_docs(spacy.blank("en").vocab)
    assert [(span.text, span.label_, span.kb_id_) for span in again.spans["sense"]] == expected
    assert [span._.disambig["gloss"] for span in again.spans["sense"]] == ["bank%1", "bank%2", ""]


def test_where_some_groups_have_glosses_all_records_have_one(model):
    some = replace(model, task=Words2(groups=(BANK, replace(BAT, glosses=()))))
    decisions = some.decide(some.tokenisation([TEXT]))
    expected = ["bank%1", "bank%2", ""]
    assert [decisions.record(i, TEXT)["gloss"] for i in range(3)] == expected
    found = records(AnnotatedDocument(Document("a", TEXT, "a.txt"), (decisions,)))
    assert [record["gloss"] for record in found] == expected
    nlp = spacy.blank("en")
    component = Disambiguator(nlp, some, name="sense", spans_key="sense", protect=False)
    for text, glosses in ((TEXT, expected), ("a bat", [""])):
        doc = component(nlp(text))
        assert [span._.disambig["gloss"] for span in doc.spans["sense"]] == glosses
        assert [span.kb_id_ for span in doc.spans["sense"]] == glosses


def test_annotations_with_glosses_have_a_layout_of_their_own(model):
    nlp = spacy.blank("en")
    plain = replace(model, task=Words2(groups=(replace(BANK, glosses=()), replace(BAT, glosses=()))))
    kept = []
    for each in (model, plain):
        component = Disambiguator(nlp, each, name="sense", spans_key="sense", protect=False)
        kept.append(component(nlp(TEXT)).user_data["disambig.sense"])
    assert [each["layout"] for each in kept] == [2, 1]
    assert [[len(row) for row in each["table"]] for each in kept] == [[3, 3], [2, 2]]


def test_groups_without_glosses_have_none_in_records(model):
    plain = replace(model, task=Words2(groups=(replace(BANK, glosses=()), replace(BAT, glosses=()))))
    decisions = plain.decide(plain.tokenisation([TEXT]))
    assert "gloss" not in decisions.record(0, TEXT)
