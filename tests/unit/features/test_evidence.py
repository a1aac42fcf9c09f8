from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from disambig.counts import CountTable, build_table
from disambig.data import CandidateFinder, CandidateLists, Group
from disambig.features import ContextProbabilities, NgramCounts, SentenceWords, transform_checked
from disambig.text import Words
from disambig.types import ExplainsFeatures

GROUP = Group("quite/quiet", ("quite", "quiet"))
TEXTS = ["We like a quiet place.", "We like a quiet garden.", "It is quite old."]


@pytest.mark.parametrize("extractor", [NgramCounts, ContextProbabilities])
def test_each_ngram_that_is_asked_has_its_count_under_its_columns_name(extractor, tmp_path):
    table = CountTable.open(build_table(tmp_path / "t", TEXTS, Words(), min_counts={4: 2}))
    view = Words()(["A quite place."])
    found = CandidateFinder.from_groups((GROUP,)).find(view)
    made = extractor(counts=table)
    assert isinstance(made, ExplainsFeatures) and not isinstance(SentenceWords(), ExplainsFeatures)
    evidence = made.evidence(view, found.take(np.array([0])), GROUP)
    names = list(transform_checked(made, view, found, GROUP).batch.columns.names)
    assert {f"{candidate}: {column}" for candidate, column in evidence} <= set(names)
    assert len(evidence) == transform_checked(made, view, found, GROUP).asked.sum()
    quiet = evidence["quiet", ". _"]
    assert (quiet.text, quiet.count, quiet.least) == ("a quiet", 2, 1)
    assert evidence["quite", "_ ."].text == "quite place" and evidence["quite", "_ ."].count == 0
    assert evidence["quite", ". . _ . ."].text == "<S> a quite place ."
    assert evidence["quite", ". . _ . ."].least == 2
    for each in evidence.values():
        assert each.count == table.count(each.text)


def test_candidates_of_the_places_own_have_evidence_too(tmp_path):
    table = CountTable.open(build_table(tmp_path / "t", TEXTS, Words()))
    view = Words()(["A quite place."])
    found = CandidateFinder.from_groups((GROUP,)).find(view).take(np.array([0]))
    own = replace(found, own=CandidateLists.from_texts([("quiet", "quite", "old")]))
    made = NgramCounts(counts=table)
    evidence = made.evidence(view, own, GROUP)
    assert evidence["quiet", ". _"].count == 2 and evidence["old", ". _"].text == "a old"
    columns = transform_checked(made, view, own, GROUP).batch.columns.names
    assert {column for _, column in evidence} <= set(columns)


def test_how_often_an_ngram_must_be_seen(tmp_path):
    plain = CountTable.open(build_table(tmp_path / "a", TEXTS, Words(), orders=3, min_counts={2: 5}))
    assert [plain.least_count(n, ["quite"]) for n in range(1, 5)] == [1, 5, 5, None]
    some = CountTable.open(build_table(tmp_path / "b", TEXTS, Words(), keep_words=["quite", "quiet"]))
    assert some.least_count(3, ["quite", "quiet"]) == 1
    assert some.least_count(3, ["quite", "old"]) is None


def test_the_packs_table_has_a_rule_for_words_of_its_tasks_and_another_for_others():
    pytest.importorskip("disambig_en")
    table = NgramCounts(counts="disambig_en").table
    rules = table.header["info"]["least"]
    nested = table.header["info"]["nested"]
    assert table.least_count(5, nested[:1]) == max(
        rule["5"] for name, rule in rules.items() if name != "elsewhere"
    )
    assert table.least_count(2, ["zebra"]) == rules["elsewhere"]["2"]
    assert table.least_count(5, ["zebra"]) is None
