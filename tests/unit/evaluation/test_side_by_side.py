"""Systems side by side, whatever their judge: among which candidates, which flags, how sure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from toy_ways import CLEAN, FIXES, OR_NONE, TEXTS, WORDS, trained

from disambig.decision import BestOfList, Corrections, Mistakes
from disambig.evaluation import SharedTestSet, judge
from disambig.features import CandidateHashes, NgramCounts
from disambig.tasks import OwnCandidates
from disambig.text import Words

PARTS = {"one": TEXTS[:70], "two": TEXTS[70:]}


@pytest.fixture(scope="module")
def extractor(tmp_path_factory):
    from disambig.counts import build_table

    return NgramCounts(counts=build_table(tmp_path_factory.mktemp("side") / "t.counts", TEXTS, Words()))


@dataclass(frozen=True)
class WordsOfAll(OwnCandidates):
    """Places where a word stands, of a group that has no word as well; named like one without."""

    @property
    def groups(self):
        (group,) = super().groups
        return (type(group)("to/by", group.candidates),)


MORE = WordsOfAll(candidates=["to", "by", ""], gaps="none", name="way")


@pytest.mark.parametrize("kind", [Corrections, Mistakes])
def test_any_judge_that_flags_is_asked_for_all_that_it_could_flag(kind, extractor):
    model = trained(WORDS, extractor, kind(), mistakes=FIXES[:10], clean=CLEAN) if kind is Mistakes else None
    model = model or trained(WORDS, extractor, kind())
    ground = SharedTestSet.from_texts(WORDS, PARTS, Words())
    judged = judge(model, ground)
    n = len(ground.instances)
    part = ground.instances
    scored = model.scored(model.features(ground.view, part, 0), part, 0, ground.view)
    scores = scored.scores.reshape(n, -1)
    assert np.array_equal(judged.chosen, scores.argmax(axis=1))
    assert np.array_equal(judged.right, judged.chosen == part.observed) and judged.right.mean() > 0.9
    for rate in (0.1, 1.0, 12.0):
        said = model.judge.judge(scored, flags_per_1000=rate)
        flagged = said.flagged & ~ground.shielded
        assert np.isfinite(judged.odds[flagged]).all()
        limit = model.judge.limit(rate)
        sure = 1 / (1 + np.exp(-judged.odds))
        assert np.array_equal(flagged, sure > limit + 1e-12)
        chosen = said.chosen[flagged]
        lead = scores[flagged, chosen] - scores[flagged, part.observed[flagged]]
        assert np.allclose(judged.margins[flagged], lead)
    assert np.isneginf(judged.odds[ground.shielded]).all()
    assert len(judged.rows) > 10 and (judged.error_odds > -np.inf).mean() > 0.9
    assert np.median(judged.error_odds) > np.median(judged.odds)


@pytest.mark.parametrize("kind", [Corrections, Mistakes])
def test_a_model_that_knows_no_word_decides_among_the_words_of_the_ground(kind, extractor):
    about = {"mistakes": FIXES[:10], "clean": CLEAN} if kind is Mistakes else {}
    model = trained(MORE, extractor, kind(), **about)
    ground = SharedTestSet.from_texts(WORDS, PARTS, Words())
    judged = judge(model, ground)
    assert set(judged.chosen.tolist()) == {0, 1} and judged.right.mean() > 0.9
    features = model.features(ground.view, ground.instances, 0)
    scores = model.scored(features, ground.instances, 0, ground.view).scores.reshape(len(ground.instances), 3)
    assert np.array_equal(judged.chosen, scores[:, :2].argmax(axis=1))
    flagged = np.isfinite(judged.margins)
    observed = ground.instances.observed[flagged]
    other = scores[flagged, 1 - observed] - scores[flagged, observed]
    assert np.allclose(judged.margins[flagged], other)


def test_candidates_are_matched_by_name_not_by_order(extractor):
    turned = OwnCandidates(candidates=["by", "to"], name="way")

    class Turned(OwnCandidates):
        @property
        def groups(self):
            return (type(turned.groups[0])("to/by", ("by", "to")),)

    ground = SharedTestSet.from_texts(WORDS, PARTS, Words())
    plain = judge(trained(WORDS, extractor, Corrections()), ground)
    other = judge(trained(Turned(candidates=["by", "to"], name="way"), extractor, Corrections()), ground)
    assert np.array_equal(plain.right, other.right) and np.array_equal(plain.chosen, other.chosen)


@pytest.mark.parametrize("kind", [Corrections, Mistakes])
def test_a_ground_with_empty_places(kind, extractor):
    about = {"mistakes": FIXES, "clean": CLEAN} if kind is Mistakes else {}
    model = trained(OR_NONE, extractor, kind(), **about)
    ground = SharedTestSet.from_texts(OR_NONE, PARTS, Words())
    empty = ground.instances.lengths == 0
    assert empty.any() and not empty.all()
    judged = judge(model, ground)
    assert judged.right[~empty].mean() > 0.5 and len(judged.odds) == len(empty)
    made = np.concatenate([errors.instances.observed for errors in ground.errors])
    lengths = CandidateHashes.from_group(OR_NONE.groups[0]).lengths
    assert len(made) and lengths[made].all()  # other words in the place of words
    assert not empty[judged.rows].any()


def test_what_cannot_be_compared_is_said(extractor):
    ground = SharedTestSet.from_texts(WORDS, PARTS, Words())
    other = trained(OwnCandidates(candidates=["by", "home"], name="way"), extractor, Corrections())
    with pytest.raises(ValueError, match="made does not decide 'to/by' between"):
        judge(other, ground)
    silent = replace(trained(WORDS, extractor, Corrections()), judge=BestOfList())
    with pytest.raises(TypeError, match="made does not correct words: its rule BestOfList raises no flags"):
        judge(silent, ground)
