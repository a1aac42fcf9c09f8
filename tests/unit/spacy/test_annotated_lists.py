"""Annotations whose candidates are each decision's own go through bytes and come back."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin

from disambig.data import CandidateLists, Decisions, Group
from disambig.errors import UserError
from disambig.spacy import read_decisions
from disambig.spacy.annotations import WITH_LISTS, write_batch

BLANK = spacy.blank("en")
TEXTS = ["gone went", "", "go"]
LISTS = [["gone", "went", "goes"], ["go", "gone"], ["went"]]


def decisions():
    own = CandidateLists.from_texts(LISTS)
    own = CandidateLists(own.offsets, own.texts, np.arange(6) / 4, own.ranks[::-1].copy(), own.costs)
    return Decisions(
        task="forms",
        model="m 1",
        table=(Group("verb", ()),),
        documents=np.array([0, 0, 2], np.int32),
        starts=np.array([0, 5, 0], np.int32),
        ends=np.array([4, 9, 2], np.int32),
        groups=np.zeros(3, np.int32),
        observed=np.array([0, -1, -1], np.int32),
        chosen=np.array([2, 1, 0], np.int32),
        offsets=own.offsets,
        scores=np.array([1, 2, 3, 0, 5, 4], np.float32),
        margins=np.array([1, 5, np.inf], np.float32),
        probabilities=np.array([0.6, 0.9, 1.0], np.float32),
        flagged=np.array([True, False, False]),
        found=np.zeros(3, np.int32),
        asked=np.zeros(3, np.int32),
        own=own,
    )


@pytest.fixture
def docs():
    made = [BLANK(text) for text in TEXTS]
    write_batch(made, decisions(), spans_key="forms")
    return made


def shown(doc):
    return [(span.text, span.label_, span.id_, span._.disambig) for span in doc.spans["forms"]]


def test_spans_and_records_are_those_of_the_lists(docs):
    first, second = shown(docs[0])
    assert first[:3] == ("gone", "goes", "forms") and second[:3] == ("went", "gone", "forms")
    assert first[3]["candidates"] == (("goes", 3.0), ("went", 2.0), ("gone", 1.0))
    assert (first[3]["base"], first[3]["rank"]) == (0.5, int(decisions().own.ranks[2]))
    assert first[3]["replacement"] == "goes" and second[3]["replacement"] == "went"
    assert shown(docs[1]) == [] and [row[1] for row in shown(docs[2])] == ["went"]
    packed = [doc.user_data["disambig.forms"] for doc in docs]
    assert [each["layout"] for each in packed] == [WITH_LISTS] * 3
    assert [each["lists"]["texts"] for each in packed] == [(*LISTS[0], *LISTS[1]), (), ("went",)]


def test_they_survive_bytes_docbin_and_pickle(docs):
    for doc in docs:
        again = [
            Doc(BLANK.vocab).from_bytes(doc.to_bytes()),
            *DocBin(store_user_data=True, docs=[doc]).get_docs(spacy.blank("en").vocab),
            pickle.loads(pickle.dumps(doc)),
        ]
        for each in again:
            assert shown(each) == shown(doc)


def test_decisions_come_back_with_their_lists(docs):
    kept = read_decisions(Doc(BLANK.vocab).from_bytes(docs[0].to_bytes()), "forms")
    own, expected = kept.own, decisions().in_document(0)
    assert own.offsets.dtype == np.int64 and own.offsets.tolist() == [0, 3, 5]
    assert [own.instance_candidates(i) for i in range(2)] == [tuple(each) for each in LISTS[:2]]
    for name in ("scores", "ranks"):
        assert np.array_equal(getattr(own, name), getattr(expected.own, name)), name
    assert np.isnan(own.costs).all()  # nobody annotates with what is right
    for name in ("scores", "chosen", "margins", "flagged", "observed"):
        assert np.array_equal(getattr(kept, name), getattr(expected, name)), name


def test_a_later_layout_is_refused(docs):
    docs[0].user_data["disambig.forms"]["layout"] = WITH_LISTS + 1
    with pytest.raises(UserError, match=r"D502.*4.*1 to 3"):
        read_decisions(docs[0], "forms")
