"""Decisions by columns: slices, records, and the case of a replacement."""

from __future__ import annotations

import numpy as np
import pytest

from disambig.data import Columns, Decisions, DenseBlocks, Group, follow_case
from disambig.features import join
from disambig.testing import blocks
from disambig.types import Features

TEXTS = ["It is QUITE good, quiet?", "", "A Piece of it."]


TABLE = (Group("quite/quiet", ("quite", "quiet")), Group("peace/piece/peas", ("peace", "piece", "peas")))


DECISIONS = Decisions(
    task="spelling",
    model="toy 1.0",
    table=TABLE,
    documents=np.array([0, 0, 2], np.int32),
    starts=np.array([6, 18, 2], np.int32),
    ends=np.array([11, 23, 7], np.int32),
    groups=np.array([0, 0, 1], np.int32),
    observed=np.array([0, 1, 1], np.int32),
    chosen=np.array([1, 1, 0], np.int32),
    offsets=np.array([0, 2, 4, 7]),
    scores=np.array([1, 2, 0, 3, 5, 4, 4.5], np.float32),
    margins=np.array([1, 3, 0.5], np.float32),
    probabilities=np.array([0.9, 0.01, 0.5], np.float32),
    flagged=np.array([True, False, True]),
    found=np.array([3, 0, 2], np.int32),
    asked=np.array([9, 9, 9], np.int32),
)


def test_records_are_plain_and_follow_the_text():
    record = DECISIONS.record(0, TEXTS[0])
    assert record["observed"] == "QUITE"
    assert record["replacement"] == "QUIET"
    assert record["candidates"] == (("quiet", 2.0), ("quite", 1.0))
    assert {type(value) for value in record.values()} == {str, int, bool, float, tuple}
    assert DECISIONS.record(1, TEXTS[0])["replacement"] == "quiet"
    assert DECISIONS.record(2, TEXTS[2])["replacement"] == "Peace"


def test_decisions_of_a_document_are_a_slice():
    assert [len(DECISIONS.in_document(document)) for document in range(3)] == [2, 0, 1]
    last = DECISIONS.in_document(2)
    assert last.offsets.tolist() == [0, 3]
    assert last.scores.tolist() == [5, 4, 4.5]
    assert last.record(0, TEXTS[2]) == DECISIONS.record(2, TEXTS[2])


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        ("its", "it's"),
        ("Its", "It's"),
        ("ITS", "IT'S"),
        ("I", "It's"),
        ("iTs", "it's"),
        ("12", "it's"),
        ("", "it's"),
    ],
)
def test_replacements_follow_the_case_of_the_text(observed, expected):
    assert follow_case("it's", observed) == expected


def test_joined_features_keep_every_score():
    first, second = blocks(6, seed=1), blocks(6, seed=2)
    renamed = Columns(second.columns.labels, second.columns.groups, ("2-gram", "x", "y", "z", "bias"))
    second = DenseBlocks(second.values, second.column_of[::-1], renamed, second.costs)
    evidence = np.arange(18, dtype=np.int32)
    both = join([Features(first, evidence, evidence + 1), Features(second, evidence, evidence)])
    weights = np.random.default_rng(0).normal(size=(2, len(first.columns)))
    a = weights[0][first.column_of]
    b = weights[1][second.column_of]
    joint = np.concatenate([a, b], axis=1).ravel()
    expected = first.scores(weights[0]) + second.scores(weights[1])
    assert both.batch.scores(joint) == pytest.approx(expected, abs=1e-5)
    assert both.batch.columns.group_names == ("2-gram", "3-gram", "4-gram", "5-gram", "bias", "x", "y", "z")
    assert both.batch.columns.in_groups(["2-gram"]).sum() == 6
    assert both.batch.columns.names[0] == "0: 2-gram"
    assert both.batch.columns.names[5] == ""
    assert both.found.tolist() == (2 * evidence).tolist()
    assert both.asked.tolist() == (2 * evidence + 1).tolist()
