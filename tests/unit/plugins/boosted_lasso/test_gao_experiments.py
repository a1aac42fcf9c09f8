"""Pieces of the experiments on kana and kanji: parts of corpora, lists, curves, claims."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from disambig_boosted_lasso.experiments import (
    ALL_LEARNERS,
    CER,
    LEARNERS,
    MAP,
    AdaptationResults,
    ConversionDomain,
    ConversionFeatures,
    ConversionLists,
    DomainLists,
    DomainParts,
    DomainResults,
    adapt_every_way,
    adapt_with_one_lexicon,
    adaptation,
    add_words,
    headwords,
    make_learner,
    measure_curves,
    rerank_lists,
    spread_sentences,
    table1 as table1_claims,
    table1_rows,
)
from disambig_boosted_lasso.experiments.adaptation import BLASSO, SETTINGS
from disambig_boosted_lasso.kana import Converter
from kana_words import TEXT, converter, segmented

K = 6


@pytest.fixture(scope="module")
def small():
    return converter()


@pytest.fixture(scope="module")
def other():
    """Sentences that the converter gets wrong: other words of the same readings."""
    return segmented(TEXT.replace("橋/はし", "端/はし").replace("泣く/なく", "鳴く/なく"))


def test_sentences_are_spread_evenly_and_have_error_rates(small):
    text = segmented()
    some = spread_sentences(text, 4)
    assert [some.sentence(i) for i in range(4)] == [text.sentence(i) for i in (0, 3, 6, 9)]
    assert spread_sentences(text, 100) is text
    assert text.take(np.array([2, 0])).column(0) == [text.column(0)[2], text.column(0)[0]]
    listed = ConversionLists.from_text(small, segmented(), K)
    assert listed.error_rate(listed.references) == 0.0
    wrong = [text + "誤" for text in listed.references]
    assert listed.error_rate(wrong) == pytest.approx(len(wrong) / listed.characters)
    assert 0.0 <= listed.oracle() <= listed.error_rate(listed.first())


def test_reranking_learns_what_the_language_model_does_not_know(small, other):
    found, lists = AdaptationResults(), ConversionLists.from_text(small.adapted(other, weight=0.99), other, K)
    rerank_lists(lists, lists, lists, {"mine": BLASSO}, found)
    assert lists.error_rate(found.texts["mine"]) < lists.error_rate(lists.first())
    assert found.about["mine"]["non-zero"] >= 2 and set(found.texts) == {"mine"}


def test_every_way_to_adapt_has_its_texts(small, other, monkeypatch):
    monkeypatch.setattr(adaptation, "FOLDS", 2)
    parts = DomainParts(other, other, other)
    lists = ConversionLists.from_text(small, other)
    found = adapt_every_way(small, parts, lists, lists, 8)
    assert set(found.texts) == {"Baseline", MAP, ALL_LEARNERS, *LEARNERS}
    assert all(len(texts) == len(other) for texts in found.texts.values())
    assert lists.error_rate(found.texts[MAP]) < lists.error_rate(found.texts["Baseline"])
    tried = DomainResults(ConversionDomain("tried"), 5.0, lists.references, {8: found})
    rows = {(row.system, row.setting): row.ours for row in table1_rows(tried)}
    assert rows["own words: tried, MAP", "8"] == pytest.approx(100 * lists.error_rate(found.texts[MAP]))
    assert rows["own words: tried, best of 20, MAP", "8"] <= rows["own words: tried, MAP", "8"]
    assert len(table1_claims.table1_claims([tried])) == 10


def test_with_one_lexicon_all_systems_choose_from_the_same_lists(other):
    """The domain's words are in the lexicon, with no count, and the language model does not know them."""
    background = segmented(TEXT)
    learned = Converter.learn(background, settings=SETTINGS, dictionary=add_words(None, [other]))
    pairs = list(zip(learned.lexicon.surfaces, learned.lexicon.readings, strict=True))
    new = pairs.index(("端", "はし"))
    assert learned.lexicon.counts[new] == 0
    assert not learned.model.vocabulary.word_ids([learned.settings.language_model_unit("端", "はし")])[0]
    parts = DomainParts(other, other, other)
    lists = ConversionLists.from_text(learned, other)
    found = adapt_with_one_lexicon(learned, parts, lists, lists, 8)
    assert set(found.texts) == {"Baseline", MAP, *LEARNERS} and set(found.oracles) == {"Baseline"}
    ends = zip(lists.lists.offsets.tolist(), lists.lists.offsets[1:].tolist(), strict=False)
    candidates = [set(lists.lists.texts[begin:end]) for begin, end in ends]
    for texts in found.texts.values():
        assert all(text in some for text, some in zip(texts, candidates, strict=True))
    assert lists.error_rate(found.texts[MAP]) < lists.error_rate(found.texts["Baseline"])
    tried = DomainResults(
        ConversionDomain("tried", "Encarta"),
        5.0,
        lists.references,
        {8: found},
        panel=table1_claims.ONE_LEXICON,
    )
    assert {row.system.partition(":")[0] for row in table1_rows(tried)} == {"one lexicon"}
    claims = table1_claims.table1_claims([tried])
    assert any("18,000, 20,000, 25,000 steps" in claim.claim for claim in claims)
    assert len({claim.claim for claim in claims}) == len(claims) == 9


def test_rare_words_of_a_domain_can_stay_unknown(small):
    """Otherwise its model has no unknown words, and the mixture nearly none."""
    own = segmented(TEXT.replace("猫/ねこ", "犬/いぬ"))
    every, frequent = (small.adapted(own, weight=0.5, least=least) for least in (1, 2))
    assert len(frequent.model.vocabulary) < len(every.model.vocabulary)
    strict = replace(small, settings=replace(small.settings, least=2)).adapted(own, weight=0.5)
    assert strict.model.vocabulary == frequent.model.vocabulary
    unknown = [some.model.log_probability("no such word") for some in (every, frequent)]
    assert unknown[1] > unknown[0]
    assert frequent.lexicon.surfaces == every.lexicon.surfaces


def test_curves_show_the_choices_of_models_along_the_path(small, other):
    part = DomainLists(
        "own", *(ConversionLists.from_text(small.adapted(other, weight=0.99), other, K) for _ in range(3))
    )
    for heads in (False, True):
        described = ConversionFeatures.from_lists(part.train.lists, heads=heads)
        batch = described.batch(part.test.lists)
        curve = measure_curves(part, heads=heads)[BLASSO]
        path = make_learner("BLasso").path(described.train)
        for step in (0, 1, len(path)):
            chosen = part.test.best_texts(path.scorer(step), batch)
            assert curve.rates[step] == pytest.approx(100 * part.test.error_rate(chosen))
        assert curve.rates[curve.stop] == pytest.approx(curve.stopped) == pytest.approx(curve.rates.min())
    part = DomainLists("own", *(ConversionLists.from_text(small, other, K) for _ in range(3)))
    assert 0.0 <= headwords.shared_errors(part) <= 1.0


def test_a_sentence_is_one_unit_at_all_sizes():
    lists = ConversionLists.from_text(converter(), segmented(), 1)
    good, bad = list(lists.references), ["誤" + text for text in lists.references]
    found = {size: AdaptationResults({BLASSO: good, MAP: bad}) for size in (800, 8_000)}
    tried = SimpleNamespace(references=lists.references, by_size=found)
    claim = table1_claims._over_domains([(tried, 800), (tried, 8_000)], BLASSO, MAP)
    assert claim.holds and f"{len(lists.references):,} sentences" in claim.evidence
    assert not table1_claims._over_domains([(tried, 800)], MAP, BLASSO).holds
    assert CER.name == "CER"
