"""Systems side by side, whatever their judge: among which candidates, which flags, how sure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from toy_ways import CLEAN, FIXES, OR_NONE, TEXTS, WORDS, trained

from disambig.counts import build_table
from disambig.data import Group
from disambig.decision import BestOfList, Corrections, Mistakes
from disambig.evaluation import SharedTestSet, judge
from disambig.features import CandidateHashes, NgramCounts
from disambig.tasks import OwnCandidates
from disambig.text import Words

PARTS = {"one": TEXTS[:70], "two": TEXTS[70:]}
ERRORS = {Corrections: {}, Mistakes: {"mistakes": FIXES, "clean": CLEAN}}


@pytest.fixture(scope="module")
def extractor(tmp_path_factory):
    return NgramCounts(counts=build_table(tmp_path_factory.mktemp("side") / "t.counts", TEXTS, Words()))


@dataclass(frozen=True)
class WordsWithUnusedCandidate(OwnCandidates):
    """Places where a word stands, of a group that has no word as well; named like one without."""

    @property
    def groups(self):
        (group,) = super().groups
        return (Group("to/by", group.candidates),)


UNUSED_CANDIDATE = WordsWithUnusedCandidate(candidates=["to", "by", ""], gaps="none", name="way")


@pytest.mark.parametrize("rule", [Corrections, Mistakes])
def test_odds_agree_with_flags_at_every_rate(rule, extractor):
    model = trained(WORDS, extractor, rule(), **ERRORS[rule])
    test_set = SharedTestSet.from_texts(WORDS, PARTS, Words())
    decisions = judge(model, test_set)
    part = test_set.instances
    scored = model.scored(model.features(test_set.view, part, 0), part, 0, test_set.view)
    scores = scored.scores.reshape(len(part), -1)
    assert np.array_equal(decisions.chosen, scores.argmax(axis=1))
    assert np.array_equal(decisions.right, decisions.chosen == part.observed) and decisions.right.mean() > 0.9
    for rate in (0.1, 1.0, 12.0):
        decided = model.judge.judge(scored, flags_per_1000=rate)
        flagged = decided.flagged & ~test_set.shielded
        assert np.isfinite(decisions.odds[flagged]).all()
        limit = model.judge.limit(rate)
        probability = 1 / (1 + np.exp(-decisions.odds))
        assert np.array_equal(flagged, probability > limit + 1e-12)
        chosen = decided.chosen[flagged]
        lead = scores[flagged, chosen] - scores[flagged, part.observed[flagged]]
        assert np.allclose(decisions.margins[flagged], lead)
    assert np.isneginf(decisions.odds[test_set.shielded]).all()
    assert len(decisions.rows) > 10 and (decisions.error_odds > -np.inf).mean() > 0.9
    assert np.median(decisions.error_odds) > np.median(decisions.odds)


@pytest.mark.parametrize("rule", [Corrections, Mistakes])
def test_decides_among_the_candidates_of_the_test_set(rule, extractor):
    model = trained(UNUSED_CANDIDATE, extractor, rule(), **ERRORS[rule])
    test_set = SharedTestSet.from_texts(WORDS, PARTS, Words())
    decided = judge(model, test_set)
    assert set(decided.chosen.tolist()) == {0, 1} and decided.right.mean() > 0.9
    places = test_set.instances
    scored = model.scored(model.features(test_set.view, places, 0), places, 0, test_set.view)
    scores = scored.scores.reshape(len(places), 3)
    assert np.array_equal(decided.chosen, scores[:, :2].argmax(axis=1))
    flagged = np.isfinite(decided.margins)
    observed = test_set.instances.observed[flagged]
    other = scores[flagged, 1 - observed] - scores[flagged, observed]
    assert np.allclose(decided.margins[flagged], other)


def test_matches_candidates_by_name(extractor):
    class Reversed(OwnCandidates):
        @property
        def groups(self):
            return (Group("to/by", ("by", "to")),)

    test_set = SharedTestSet.from_texts(WORDS, PARTS, Words())
    plain = judge(trained(WORDS, extractor, Corrections()), test_set)
    other = judge(trained(Reversed(candidates=["by", "to"], name="way"), extractor, Corrections()), test_set)
    assert np.array_equal(plain.right, other.right) and np.array_equal(plain.chosen, other.chosen)


@pytest.mark.parametrize("rule", [Corrections, Mistakes])
def test_empty_places(rule, extractor):
    model = trained(OR_NONE, extractor, rule(), **ERRORS[rule])
    test_set = SharedTestSet.from_texts(OR_NONE, PARTS, Words())
    empty = test_set.instances.lengths == 0
    assert empty.any() and not empty.all()
    decided = judge(model, test_set)
    assert decided.right[~empty].mean() > 0.5 and len(decided.odds) == len(empty)
    built = np.concatenate([errors.instances.observed for errors in test_set.errors])
    lengths = CandidateHashes.from_group(OR_NONE.groups[0]).lengths
    assert len(built) and lengths[built].all()  # other words in the place of words
    assert not empty[decided.rows].any()


def test_rejects_models_that_cannot_be_compared(extractor):
    test_set = SharedTestSet.from_texts(WORDS, PARTS, Words())
    other = trained(OwnCandidates(candidates=["by", "home"], name="way"), extractor, Corrections())
    with pytest.raises(ValueError, match="made does not decide 'to/by' between"):
        judge(other, test_set)
    silent = replace(trained(WORDS, extractor, Corrections()), judge=BestOfList())
    with pytest.raises(TypeError, match="made does not correct words: its rule BestOfList raises no flags"):
        judge(silent, test_set)
