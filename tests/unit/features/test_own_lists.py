"""Candidates of each instance's own go through the extractors; a list that is a group's is the group's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_texts import SENTENCES

from disambig.counts import CountTable, build_table
from disambig.data import CandidateFinder, CandidateLists, DenseLists, Group, Instances
from disambig.errors import UserError
from disambig.features import (
    CONTEXTS,
    ContextProbabilities,
    ContextWindow,
    ContextWords,
    NgramCounts,
    SentenceWords,
    SourceFeatures,
    TextNgrams,
    WordNetwork,
    fit_checked,
    transform_checked,
)
from disambig.text import SpacyTokens, Web1T, Words

GROUP = Group("the/is/quite a", ("the", "is", "quite a"))


@pytest.fixture
def found():
    view = Words()(SENTENCES)
    return view, CandidateFinder.from_groups([GROUP]).find(view)


def with_lists(instances: Instances, lists) -> Instances:
    return Instances(
        instances.positions,
        instances.lengths,
        instances.groups,
        instances.observed,
        CandidateLists.from_texts(lists),
    )


def test_a_list_that_is_the_groups_has_the_groups_counts(found, small_table):
    view, instances = found
    assert len(instances) > 3
    extractor = NgramCounts(counts=small_table)
    fixed = transform_checked(extractor, view, instances, GROUP)
    listed = transform_checked(
        extractor, view, with_lists(instances, [GROUP.candidates] * len(instances)), GROUP
    )
    assert isinstance(listed.batch, DenseLists)
    assert np.array_equal(listed.batch.values, fixed.batch.values.reshape(-1, 15))
    assert np.array_equal(listed.batch.cost, fixed.batch.cost)
    assert np.array_equal(listed.found, fixed.found) and np.array_equal(listed.asked, fixed.asked)
    assert (listed.found > 0).any()


def test_lists_differ_from_instance_to_instance(found, small_table):
    view, instances = found
    lists = [("in",) if i % 2 else ("on", "out of", "at", "") for i in range(len(instances))]
    own = with_lists(instances.without_labels(), lists)
    whole = transform_checked(NgramCounts(counts=small_table), view, own, Group("any", ()))
    for i in range(len(instances)):
        alone = transform_checked(
            NgramCounts(counts=small_table), view, own.take(np.array([i])), Group("any", ())
        )
        rows = slice(*whole.batch.offsets[i : i + 2])
        assert np.array_equal(alone.batch.values, whole.batch.values[rows])


@pytest.mark.parametrize("tokenisation", [Words(), Web1T(), SpacyTokens("de")], ids=lambda each: each.name)
def test_candidates_are_cut_as_the_text_is(tmp_path, tokenisation):
    """The counts of a candidate are those of a text that it stands in."""
    table = build_table(tmp_path / "cut.counts", ["The well-known one.", "The isn't one."], tokenisation)
    view = tokenisation(["The X one."])
    at = np.flatnonzero(view.ends == 5)
    place = Instances(at, np.ones(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32))
    own = replace(place, own=CandidateLists.from_texts([("well-known", "isn't", "other")]))
    extractor, group = NgramCounts(counts=table), Group("any", ())
    found = transform_checked(extractor, view, own, group)
    between = CONTEXTS.index((1, 1))
    assert (found.batch.values[:, between] > 0).tolist() == [True, True, False]
    shown = {key: behind.text for key, behind in extractor.evidence(view, own, group).items()}
    assert shown["well-known", ". _ ."] == " ".join(["the", *cut(tokenisation, "well-known"), "one"])


def cut(tokenisation, text):
    return [word for word in tokenisation.words(text) if word not in ("<S>", "</S>")]


def test_rows_of_a_place_are_crossed_with_the_labels_that_it_may_have(found):
    view, instances = found
    extractor = ContextWindow().fit(view, instances, [GROUP])
    lists = [GROUP.candidates[: 2 + i % 2] for i in range(len(instances))]
    batch = transform_checked(extractor, view, with_lists(instances, lists), GROUP).batch
    assert batch.labels is not None and len(batch.labels) == len(instances)
    whole = transform_checked(extractor, view, instances, GROUP).batch
    weights = np.random.default_rng(0).normal(size=len(whole.columns))
    table = whole.scores(weights).reshape(len(instances), 3)
    expected = np.concatenate([row[: len(own)] for row, own in zip(table, lists, strict=True)])
    np.testing.assert_allclose(batch.scores(weights), expected)


def test_what_an_extractor_cannot_describe_is_said(found, small_table):
    view, instances = found
    own = with_lists(instances, [("the", "strange")] * len(instances))
    with pytest.raises(UserError, match=r"D419.*ContextWindow \(group .*strange"):
        transform_checked(ContextWindow().fit(view, instances, [GROUP]), view, own, GROUP)


@pytest.mark.parametrize("own", [True, False])
def test_an_extractor_for_other_candidates_is_named(found, small_table, own):
    view, instances = found
    extractors = [ContextWords(), SentenceWords(), WordNetwork()]
    given, code = with_lists(instances, [("the", "strange")] * len(instances)), "D419"
    if not own:
        extractors, given, code = [SourceFeatures(), TextNgrams()], instances, "D418"
    for extractor in extractors:
        for ask in (
            lambda each=extractor: transform_checked(each, view, given, GROUP),
            lambda each=extractor: fit_checked(each, view, given, [GROUP]),
        ):
            with pytest.raises(UserError, match=f"{code}.* {type(extractor).__name__} "):
                ask()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw=st.data())
def test_the_kernel_finds_what_numpy_finds(draw, small_table):
    texts = st.lists(st.sampled_from([*SENTENCES, "", "Is the quite a?"]), min_size=1, max_size=4)
    view = Words()(draw.draw(texts))
    words = np.flatnonzero(view.ends > view.starts)
    if not len(words):
        return
    positions = words[sorted(draw.draw(st.sets(st.integers(0, len(words) - 1), min_size=1, max_size=6)))]
    lengths = np.array([draw.draw(st.integers(0, 1)) for _ in positions], np.int32)
    known = st.sampled_from(["the", "is", "", "quite a", "a b c d e f", "never seen"])
    lists = CandidateLists.from_texts([draw.draw(st.lists(known, min_size=1, max_size=4)) for _ in positions])
    zeros = np.zeros(len(positions), np.int32)
    places, zero = Instances(positions, lengths, zeros, zeros, lists), draw.draw(st.booleans())
    found = []
    for engine in ("numpy", "numba"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DISAMBIG_ENGINE", engine)
            table = CountTable.open(small_table)
            extractor = (ContextProbabilities if zero else NgramCounts)(counts=table)
            found.append(extractor.ranks_of_candidates(view, places, GROUP))
    assert np.array_equal(found[0][0], found[1][0]) and np.array_equal(found[0][1], found[1][1])
