"""The experiments on kana and kanji and on English lists: parts of corpora, lists, curves, claims."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from disambig_boosted_lasso.experiments import (
    ALL_LEARNERS,
    CER,
    FIRST,
    LEARNERS,
    MAP,
    MAX_CANDIDATES,
    OTHERS,
    OURS,
    PAIRS,
    SHIPS,
    SYSTEMS,
    AdaptationResults,
    ConversionDomain,
    ConversionFeatures,
    ConversionLists,
    DomainLists,
    DomainParts,
    DomainResults,
    NgramFamily,
    RowExtractor,
    ScoredChoice,
    WordLists,
    adapt_every_way,
    adaptation,
    add_words,
    apply_edits,
    build_correction_lists,
    choice_costs,
    claim_lower_cost,
    claim_more_corrections,
    correction_choice,
    correction_rows,
    default_choice,
    edit_features,
    english_lists as english_corrections,
    english_lists as english_tags,
    fit_best_setting,
    headwords,
    make_learner,
    measure_curves,
    oracle_choice,
    possible_edits,
    restrained_choice,
    select_lists,
    spread_sentences,
    table1 as table1_claims,
    table1_rows,
    tag_accuracy,
    unchanged_choice,
)
from disambig_boosted_lasso.experiments.adaptation import BLASSO, SETTINGS
from disambig_boosted_lasso.experiments.english_systems import BLASSO as ENGLISH_BLASSO
from disambig_boosted_lasso.kana import Converter
from hypothesis import given, strategies as st
from kana_words import TEXT, converter, segmented

from disambig.api.batches import segments
from disambig.api.evaluation import ProposedEdit
from disambig.api.formats import Clean, Fix, list_instances
from disambig.api.tasks import CandidateLists, CandidateWords
from disambig.testing import lists as lists_batch

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


def test_every_way_to_adapt_has_its_texts(small, other, monkeypatch):
    monkeypatch.setattr(adaptation, "FOLDS", 2)
    parts = DomainParts(other, other, other)
    lists = ConversionLists.from_text(small, other)
    results = adapt_every_way(small, parts, lists, lists, 8)
    assert set(results.texts) == {"Baseline", MAP, ALL_LEARNERS, *LEARNERS}
    assert all(len(texts) == len(other) for texts in results.texts.values())
    assert lists.error_rate(results.texts[MAP]) < lists.error_rate(results.texts["Baseline"])
    tried = DomainResults(ConversionDomain("tried"), 5.0, lists.references, {8: results})
    rows = {(row.system, row.setting): row.ours for row in table1_rows(tried)}
    assert rows["own words: tried, MAP", "8"] == pytest.approx(100 * lists.error_rate(results.texts[MAP]))
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
    results = adapt_every_way(learned, parts, lists, lists, 8, one_lexicon=True)
    assert set(results.texts) == {"Baseline", MAP, *LEARNERS} and set(results.oracles) == {"Baseline"}
    ends = zip(lists.lists.offsets.tolist(), lists.lists.offsets[1:].tolist(), strict=False)
    candidates = [set(lists.lists.texts[begin:end]) for begin, end in ends]
    for texts in results.texts.values():
        assert all(text in some for text, some in zip(texts, candidates, strict=True))
    assert lists.error_rate(results.texts[MAP]) < lists.error_rate(results.texts["Baseline"])
    domain, panel = ConversionDomain("tried", "Encarta"), table1_claims.ONE_LEXICON
    tried = DomainResults(domain, 5.0, lists.references, {8: results}, panel=panel)
    assert {row.system.partition(":")[0] for row in table1_rows(tried)} == {"one lexicon"}
    claims = table1_claims.table1_claims([tried])
    assert any("18,000, 20,000, 25,000 steps" in claim.claim for claim in claims)
    assert len({claim.claim for claim in claims}) == len(claims) == 9


def test_rare_words_of_a_domain_can_stay_unknown(small):
    """Otherwise its model has no unknown words, and the mixture nearly none."""
    domain_text = segmented(TEXT.replace("猫/ねこ", "犬/いぬ"))
    every, frequent = (small.adapted(domain_text, weight=0.5, minimum=least) for least in (1, 2))
    assert len(frequent.model.vocabulary) < len(every.model.vocabulary)
    strict = replace(small, settings=replace(small.settings, least=2)).adapted(domain_text, weight=0.5)
    assert strict.model.vocabulary == frequent.model.vocabulary
    unknown = [some.model.log_probability("no such word") for some in (every, frequent)]
    assert unknown[1] > unknown[0]
    assert frequent.lexicon.surfaces == every.lexicon.surfaces


def test_curves_show_the_choices_of_models_along_the_path(small, other):
    adapted = small.adapted(other, weight=0.99)
    part = DomainLists("own", *(ConversionLists.from_text(adapted, other, K) for _ in range(3)))
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
    results = {size: AdaptationResults({BLASSO: good, MAP: bad}) for size in (800, 8_000)}
    tried = SimpleNamespace(references=lists.references, by_size=results)
    claim = table1_claims._over_domains([(tried, 800), (tried, 8_000)], BLASSO, MAP)
    assert claim.holds and f"{len(lists.references):,} sentences" in claim.evidence
    assert not table1_claims._over_domains([(tried, 800)], MAP, BLASSO).holds
    assert CER.name == "CER"


MISTAKEN = "We relied in it and than left the the house."


class Fixed:
    """A checker with fixed proposals."""

    name, tasks = "fixed", ("preposition", "spelling")

    def __init__(self, **edits):
        self.said = edits

    def limits(self):
        return {"preposition": 0.3, "spelling": 0.3}

    def edits(self, texts):
        return [self.said["mistake"] if text == MISTAKEN else self.said.get("clean", []) for text in texts]


def edit(text, old, new, sure, task="preposition"):
    start = text.index(old)
    return ProposedEdit(start, start + len(old), new, task, sure)


@pytest.fixture
def part():
    relied, than = edit(MISTAKEN, "in", "on", 0.4), edit(MISTAKEN, "than", "then", 0.9, "spelling")
    fix = Fix(MISTAKEN, relied.start, relied.end, "in", "on", "preposition", "", "replace", 1, "who/wrote")
    clean = [Clean("It was in the house.", "who/wrote"), Clean("Nothing here.", "who/else")]
    doubtful = edit(clean[0].text, "in", "on", 0.35)
    checker = Fixed(mistake=[than, relied], clean=[doubtful])
    return build_correction_lists(checker, [fix], clean[:1])


def test_candidates_are_all_ways_to_make_edits_apart():
    edits = [edit(MISTAKEN, old, new, sure) for old, new, sure in (("in", "on", 0.9), ("than", "then", 0.5))]
    assert possible_edits(edits) == [(), (0,), (1,), (0, 1)]
    beside = [*edits, edit(MISTAKEN, "in it", "at it", 0.3)]
    assert (0, 2) not in possible_edits(beside) and (1, 2) in possible_edits(beside)
    assert possible_edits([]) == [()]
    put_in = ProposedEdit(MISTAKEN.index("left"), MISTAKEN.index("left"), "had ", "preposition", 0.8)
    taken = edit(MISTAKEN, "the ", "", 0.5)
    assert apply_edits(MISTAKEN, [taken, put_in]) == "We relied in it and than had left the house."
    features = edit_features(MISTAKEN, [taken, put_in])
    assert features["changes"] == 2
    assert features["preposition: delete"] == features["preposition: insert"] == 1
    assert features["preposition:  > had"] == 1
    assert features["preposition: log odds"] == pytest.approx(np.log(4.0))
    words = english_corrections.comparison_words("It\u2019s its, isn't it")
    assert words == ["it's", "its", ",", "isn't", "it"]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.floats(0.01, 0.99)), max_size=24))
def test_candidates_are_few_and_never_overlap(places):
    edits = [ProposedEdit(start, start + length, "x", "preposition", sure) for start, length, sure in places]
    edits.sort(key=lambda candidate: -candidate.sure)
    possible = possible_edits(edits)
    assert len(possible) <= MAX_CANDIDATES and len(set(possible)) == len(possible) and possible[0] == ()
    for chosen_edits in possible:
        for i, j in combinations(chosen_edits, 2):
            first, second = sorted(
                (edits[i], edits[j]), key=lambda candidate: (candidate.start, candidate.end)
            )
            assert first.end < second.start


def test_lists_of_corrections_know_their_costs(part):
    lists = part.lists
    assert lists.offsets.tolist() == [0, 4, 6]
    # log odds 2.2 and -0.4: then alone, both, nothing, on alone
    assert part.changes[:4].tolist() == [1, 2, 0, 1]
    assert lists.costs[:4].tolist() == [2, 1, 1, 0]
    assert part.mends[:4].tolist() == [False, True, False, True]
    assert part.default.tolist() == [1, 1]  # both are surer than 0.3; so is the one in clean text
    assert lists.costs[4:].tolist() == [0, 1] and not part.mends[4:].any()
    assert part.units.tolist() == [0, 0] and part.n_fixes == 1
    words = part.seen.words[0]
    assert words.candidate_words(0) == ("we", "relied", "in", "it", "and", "then", "left", "the")
    assert "on" in words.candidate_words(3) and "house" not in words.candidate_words(3)
    turned = select_lists(part, np.array([1, 0]))
    assert turned.n_fixes == 1 and turned.lists.costs.tolist() == part.lists.costs.tolist()
    clean = select_lists(part, np.array([1]))
    assert clean.n_fixes == 0 and clean.lists.offsets.tolist() == [0, 2]
    assert clean.changes.tolist() == part.changes[4:].tolist()


def test_choices_are_scored(part):
    first, ships = correction_choice(part, part.lists.scores), default_choice(part)
    none, best = unchanged_choice(part), oracle_choice(part)
    assert first.cost.tolist() == [2, 0] and first.false.tolist() == [0] and not first.right.any()
    assert ships.cost.tolist() == [1, 1] and ships.false.tolist() == [1] and ships.right.all()
    assert none.cost.tolist() == [1, 0] and best.cost.tolist() == [0, 0]
    assert first.equal.all()  # as many false changes as what ships: one is allowed
    rows = correction_rows("dev", {"ships": ships}, part.words, 5)
    ours = {row.setting: row.ours for row in rows}
    assert ours["dev: right"] == 100 and ours["dev: false"] == 2000
    assert ours["dev: edits left"] == pytest.approx(10_000 * 2 / part.words.sum())


@pytest.mark.parametrize("allowed", [0, 1])
def test_as_many_false_changes_as_are_allowed(part, allowed):
    scores = part.lists.scores
    least = restrained_choice(part, scores, allowed)

    def false(limit):
        winners = segments.best_rows(scores - limit * part.changes, part.lists.offsets)
        return part.changes[winners[part.n_fixes :]].sum()

    assert false(least) <= allowed
    assert allowed or false(least - 1e-3) > allowed  # of the two limits only one has to hold anything back


TAGS = ("A", "B", "C")


def draw_paths(rng, n_words, k=6):
    """Return sequences that differ in a few places only."""
    paths = np.repeat(rng.integers(0, 3, (1, n_words)), k, axis=0)
    for path in paths[1:]:
        at = rng.integers(0, n_words, 2)
        path[at] = rng.integers(0, 3, 2)
    return paths


def test_lists_of_tags_cost_their_wrong_tags():
    paths = np.array([[0, 1, 2], [0, 0, 2]])
    sentence = ["we", "did", "it"], ["A", "A", "D"]
    seen = english_tags.tag_sequence_lists([sentence], [(np.array([2.0, 1.0]), paths)], TAGS)
    assert seen.lists.costs.tolist() == [2, 1]  # D is a tag that the tagger does not know
    assert seen.lists.ranks.tolist() == [0, 1] and seen.lists.scores.tolist() == [2, 1]
    assert seen.words[english_tags.TAGS].candidate_words(1) == ("A", "A", "C")
    assert "A_did/A" in seen.words[english_tags.LEXICAL].candidate_words(1)
    sentences = [(["the", "dog", "barks"], ["D", "N", "V"]), (["a", "cat", "sleeps"], ["D", "N", "V"])] * 4
    tagger = english_tags.ChainTagger.train(sentences, ("D", "N", "V"))
    ((scores, paths),) = tagger.best([(["the", "cat", "barks"], ["D", "N", "V"])], 4)
    assert paths[0].tolist() == [0, 1, 2] and (np.diff(scores) <= 0).all() and len(paths) == 4


def test_runs_near_differences_tell_what_whole_sequences_tell():
    rng = np.random.default_rng(5)
    sentences, nbest, whole = [], [], []
    for _ in range(30):
        paths = draw_paths(rng, 40)
        words = [f"w{i}" for i in rng.integers(0, 9, 40)]
        sentences.append((words, [TAGS[i] for i in paths[0]]))
        nbest.append((np.arange(6.0)[::-1], paths))
        whole += [[TAGS[i] for i in path] for path in paths]
    seen = english_tags.tag_sequence_lists(sentences, nbest, TAGS)
    assert any(english_tags._GAP in seen.words[0].candidate_words(i) for i in range(6))
    family = [NgramFamily(0, 4, 1)]
    tables = []
    for words in (seen.words[0], CandidateWords.from_words(whole)):
        other = WordLists(seen.lists, (words,))
        batch = RowExtractor.fit(other, family, rank=False).rows(other)
        dense = batch.rows.toarray()
        differences = dense - dense[np.repeat(batch.offsets[:-1], 6)]
        names = list(batch.columns.names)
        by_name = {name: differences[:, i] for i, name in enumerate(names) if differences[:, i].any()}
        tables.append(by_name)
    assert set(tables[0]) == set(tables[1]) and len(tables[0]) > 50
    assert all(np.array_equal(tables[0][name], tables[1][name]) for name in tables[0])


def test_no_tagger_sees_the_sentences_that_it_tags(monkeypatch):
    sentences = [([f"w{i}"], ["A"]) for i in range(1300)]
    tagged = []

    class Watched:
        def __init__(self, seen):
            self.seen = {words[0] for words, _ in seen}

        def best(self, batch, k):
            tagged.extend(words[0] for words, _ in batch)
            assert self.seen.isdisjoint(words[0] for words, _ in batch)
            return [(np.array([1.0, 0.0]), np.array([[0], [1]]))] * len(batch)

    monkeypatch.setattr(english_tags.ChainTagger, "train", lambda others, tags: Watched(others))
    seen = english_tags.cross_fitted_tags(sentences, TAGS, lambda *values: None)
    assert sorted(tagged) == sorted(words[0] for words, _ in sentences)
    assert len(seen.lists) == 1300 and seen.lists.costs[:2].tolist() == [0, 1]


def test_the_cheapest_candidate_is_observed_and_lists_can_be_taken():
    lists = CandidateLists.from_texts([["a", "b", "c"], ["d"]])
    costs = np.array([1, 0, 0, 2], np.float32)
    lists = CandidateLists(lists.offsets, lists.texts, lists.scores, lists.ranks, costs)
    assert list_instances(lists).observed.tolist() == [1, 0]
    seen = WordLists(lists, (CandidateWords.from_words([["a"], ["b"], ["c"], ["d"]]),))
    last = seen.take(np.array([False, True]))
    assert last.lists.texts == ["d"] and last.words[0].candidate_words(0) == ("d",)
    both = WordLists.concat([last, seen])
    assert both.words[0].candidate_words(1) == ("a",) and len(both.lists) == 3


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_learns_from_lists_and_beats_chance(name):
    assert (name in OURS) != (name in OTHERS)
    train, tune = lists_batch(seed=1), lists_batch(seed=2)
    learned = fit_best_setting(SYSTEMS[name], train, tune)
    chance = float(np.mean([tune.cost[a:b].mean() for a, b in pairwise(tune.offsets)]))
    cost = choice_costs(tune, learned.scorer.scores(tune)).mean()
    assert learned.report["tune_cost"] == pytest.approx(cost)
    assert cost < chance


def choice(cost, right=()):
    none = np.zeros(0, np.int64)
    return ScoredChoice(np.array(cost, float), np.array(right, bool), none, np.array(right, bool))


def test_claims_hold_where_costs_fall():
    names = {name for pair in PAIRS for name in pair}
    even = {name: choice([1] * 60) for name in names}
    better = even | {ENGLISH_BLASSO: choice([0] * 50 + [1] * 10)}
    claims = list(claim_lower_cost("here", better, np.arange(60), "sentences"))
    held = {claim.claim: claim.holds for claim in claims}
    assert len(held) == len(PAIRS)
    for name, other in PAIRS:
        assert held[f"here: {name} has a lower cost than {other} (p < 0.05)"] == (name == ENGLISH_BLASSO)
    alike = {name: better[FIRST] for name in names}
    assert not any(claim.holds for claim in claim_lower_cost("here", alike, np.arange(60), "x"))
    every = {name: choice([0.0], [False] * 40) for name in (SHIPS, "Boosting", "conditional logit")}
    more = every | {ENGLISH_BLASSO: choice([0.0], [True] * 30 + [False] * 10)}
    # of mended mistakes, projects are drawn
    claims = claim_more_corrections("dev", more, np.arange(40) % 20)
    assert [claim.holds for claim in claims] == [True, False, False]
    assert "over 20 projects" in claims[0].evidence
    assert tag_accuracy(np.array([0.0, 2.0])).right.tolist() == [True, False]
