"""NgramCounts and smoothed context probabilities: plain counts, formulas, evidence, own candidates."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from feature_places import instances_at
from hypothesis import HealthCheck, example, given, settings, strategies as st
from toy_texts import SENTENCES

from disambig.counts import CountTable, build_table
from disambig.data import CandidateFinder, CandidateLists, Group, GroupedInstances, Instances
from disambig.errors import UserError
from disambig.features import (
    BIAS,
    CONTEXTS,
    DISCOUNT,
    ONE_SIDED,
    ContextProbabilities,
    ContextWindow,
    ContextWords,
    NgramCounts,
    SentenceWords,
    SourceFeatures,
    TextNgrams,
    WordNetwork,
    fit_checked,
    ngram_text,
    transform_checked,
)
from disambig.tasks import OwnCandidates
from disambig.text import SpacyTokens, Web1T, Words
from disambig.types import ExplainsFeatures

VOCABULARY = ("cat", "dog", "on", "in", "may", "be", "may be", "maybe", "the")


def counted(texts, most=5):
    """Count n-grams of words, sentence by sentence, boundaries included."""
    counts = Counter()
    for text in texts:
        for sentence in sentences(text):
            for size in range(1, most + 1):
                counts.update(tuple(sentence[i : i + size]) for i in range(len(sentence) - size + 1))
    return counts


def sentences(text):
    words = Words().words(text)
    starts = [i for i, word in enumerate(words) if word == "<S>"]
    return [words[a:b] for a, b in zip(starts, [*starts[1:], len(words)], strict=True)]


def expected(counts, sentence, position, length, candidates):
    """Return the values (K, 14), hits (K,) and number of queries of one place, by definition."""
    longest = max(len(candidate.split()) for candidate in candidates)
    values = np.zeros((len(candidates), len(CONTEXTS)))
    n_queries = 0
    for c, (left, right) in enumerate(CONTEXTS):
        after = position + length
        if "" in candidates and not (left and right):
            continue  # the empty candidate has features between words only
        if left + longest + right > 5 or position - left < 0 or after + right > len(sentence):
            continue
        n_queries += 1
        before, behind = sentence[position - left : position], sentence[after : after + right]
        for r, candidate in enumerate(candidates):
            values[r, c] = np.log(counts[(*before, *candidate.split(), *behind)] + 1)
    return values, (values > 0).sum(axis=1), n_queries


class Everywhere:
    """A task that finds every occurrence of the candidates of its only group."""

    name, language = "everywhere", ""

    def __init__(self, *candidates):
        self.groups = (Group("all", candidates),)

    def instances(self, view):
        return CandidateFinder.from_groups(self.groups).find(view)


def features_in(table, text, *candidates, tokenisation=None, kind=NgramCounts):
    """Return the features of every place of candidates in a text."""
    task, view = Everywhere(*candidates), (tokenisation or Words())([text])
    return transform_checked(kind(counts=table), view, task.instances(view), task.groups[0])


TEXT_WORDS = st.lists(st.sampled_from([*VOCABULARY, ".", ". The"]), min_size=1, max_size=25).map(" ".join)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(corpus=["the cat may be in the dog"] * 2, texts=["the cat may be in the dog"])
@given(
    corpus=st.lists(TEXT_WORDS, min_size=1, max_size=4), texts=st.lists(TEXT_WORDS, min_size=1, max_size=3)
)
@pytest.mark.parametrize("candidates", [("on", "in"), ("may be", "maybe", "in"), ("the", "may be", "")])
def test_against_counting_by_hand(engine, candidates, corpus, texts, tmp_path_factory):
    path = build_table(tmp_path_factory.mktemp("tables") / "t.counts", corpus, Words())
    counts = counted(corpus)
    task = OwnCandidates(candidates=candidates) if "" in candidates else Everywhere(*candidates)
    view = Words()(texts)
    instances = task.instances(view)
    features = transform_checked(NgramCounts(counts=CountTable.open(path)), view, instances, task.groups[0])
    k = len(candidates)
    result, n_queries = features.n_hits.reshape(-1, k), features.n_queries.reshape(-1, k)
    words = [word for text in texts for word in Words().words(text)]
    for i, (at, length) in enumerate(zip(instances.positions, instances.lengths.tolist(), strict=True)):
        behind = np.searchsorted(view.sentences, at, side="right")
        start, stop = view.sentences[behind - 1], view.sentences[behind]
        values, hits, n_expected = expected(counts, words[start:stop], int(at - start), length, candidates)
        assert features.batch.values[i, :, :BIAS] == pytest.approx(values, abs=1e-5)
        assert (features.batch.values[i, :, BIAS] == 1).all()
        assert result[i].tolist() == hits.tolist()
        assert n_queries[i].tolist() == [n_expected] * k
        assert features.batch.costs[i].argmin() == instances.observed[i]


def test_sentence_ends_and_overlong_words_stop_a_context(small_table):
    texts = "Quiet.", "It was a quiet place in it."
    alone, inside = (features_in(small_table, text, "quiet", "quite") for text in texts)
    assert alone.n_queries[0] == sum(left <= 1 and right <= 2 for left, right in CONTEXTS)  # <S> quiet . </S>
    assert inside.n_queries[0] == 14
    assert inside.n_hits.tolist() == [11, 0]  # all except those that contain "place in it"
    long = "x" * 300
    for _ in range(2):
        features = features_in(small_table, f"{long} quite {long}", "quite", "quiet")
        assert features.n_hits.tolist() == [0, 0]
        assert (features.batch.values[:, :, :BIAS] == 0).all()


def test_candidates_of_two_words_shorten_the_contexts(small_table):
    view = Words()(["They say the train may be late and so it was."])
    extractor = NgramCounts(counts=small_table)
    there = instances_at(np.flatnonzero(view.hashes == Words()(["may"]).hashes[1]), 2)
    double = transform_checked(extractor, view, there, Group("all", ("may be", "maybe")))
    assert double.n_queries.tolist() == [9, 9]  # 2- to 4-gram contexts
    single = transform_checked(extractor, view, there, Group("all", ("maybe", "late")))
    assert single.n_queries.tolist() == [14, 14]


def test_views_of_another_tokenisation_are_refused(small_table, engine):
    with pytest.raises(UserError, match=r"^\[D110\]"):
        features_in(small_table, "It was quite good .", "quite", "quiet", tokenisation=Web1T())


def test_a_pickle_has_only_the_path_of_the_table(small_table):
    extractor = NgramCounts(counts=small_table)
    assert extractor.table is not None
    again = pickle.loads(pickle.dumps(extractor))
    assert vars(again) == {"counts": small_table}
    assert again.table is extractor.table


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(corpus=st.lists(TEXT_WORDS, min_size=2, max_size=6), keep=st.booleans())
def test_skipping_absent_parts_changes_nothing(engine, corpus, keep, monkeypatch, tmp_path_factory):
    """N-grams that are skipped because a part of them is absent are absent themselves."""
    task, least = Everywhere("on", "in"), {3: 2, 4: 2, 5: 3}
    words = ["on", "in"] if keep else None
    corpus = [*corpus, "on"]  # without a kept word, no table is written
    path = tmp_path_factory.mktemp("tables") / "t.counts"
    table = CountTable.open(build_table(path, corpus, Words(), min_counts=least, keep_words=words))
    view = Words()(corpus)
    result = task.instances(view)
    assert table.is_nested(["on", "in"]) and table.is_nested(["cat"]) is not keep
    with_parts = transform_checked(NgramCounts(counts=table), view, result, task.groups[0]).batch.values
    with monkeypatch.context() as patch:
        patch.setattr(CountTable, "is_nested", lambda self, words: False)
        alone = transform_checked(NgramCounts(counts=table), view, result, task.groups[0]).batch.values
    np.testing.assert_array_equal(with_parts, alone)


@pytest.mark.parametrize("least", [{2: 3, 3: 2}, {5: 1, 4: 9}])
def test_a_table_pruned_less_for_longer_ngrams_is_not_nested(least, tmp_path):
    path = build_table(tmp_path / "t.counts", ["the cat on the dog"], Words(), min_counts=least)
    assert not CountTable.open(path).is_nested(["on"])


def test_false_hits_of_small_records_are_rare(engine, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in rng.integers(0, 400, 12)) + " on the roof" for _ in range(400)]
    table = CountTable.open(build_table(tmp_path / "t.counts", texts, Words(), record="small"))
    task = Everywhere("on", "in")
    queries = [" ".join(f"v{n}" for n in rng.integers(0, 400, 4)) + " on some hill" for _ in range(4000)]
    view = Words()(queries)
    result = task.instances(view)
    longer = np.flatnonzero([left + right > 1 for left, right in CONTEXTS])
    values = transform_checked(NgramCounts(counts=table), view, result, task.groups[0]).batch.values
    monkeypatch.setattr(CountTable, "is_nested", lambda self, words: False)
    alone = transform_checked(NgramCounts(counts=table), view, result, task.groups[0]).batch.values
    assert np.count_nonzero(alone[:, :, longer]) > 20  # one in 1,024; many are looked up again
    assert np.count_nonzero(values[:, :, longer]) < 5


@pytest.mark.parametrize(("cut", "shown"), [(Words(), "an 00"), (Web1T(), "an 18")])
def test_ngrams_are_shown_as_they_are_counted(cut, shown):
    view = cut(["She wrote an 18 there."])
    assert ngram_text(view, 3, 1, (0, 1), "an") == shown


QUITE = Group("quite/quiet", ("quite", "quiet"))
QUITE_TEXTS = ["We like a quiet place.", "We like a quiet garden.", "It is quite old."]


@pytest.mark.parametrize("extractor", [NgramCounts, ContextProbabilities])
def test_evidence_has_the_count_of_each_ngram(extractor, tmp_path):
    table = CountTable.open(build_table(tmp_path / "t", QUITE_TEXTS, Words(), min_counts={4: 2}))
    view = Words()(["A quite place."])
    result = CandidateFinder.from_groups((QUITE,)).find(view)
    built = extractor(counts=table)
    assert isinstance(built, ExplainsFeatures) and not isinstance(SentenceWords(), ExplainsFeatures)
    evidence = built.evidence(view, result.take(np.array([0])), QUITE)
    names = list(transform_checked(built, view, result, QUITE).batch.columns.names)
    assert {f"{candidate}: {column}" for candidate, column in evidence} <= set(names)
    assert len(evidence) == transform_checked(built, view, result, QUITE).n_queries.sum()
    quiet = evidence["quiet", ". _"]
    assert (quiet.text, quiet.count, quiet.least) == ("a quiet", 2, 1)
    assert evidence["quite", "_ ."].text == "quite place" and evidence["quite", "_ ."].count == 0
    assert evidence["quite", ". . _ . ."].text == "<S> a quite place ."
    assert evidence["quite", ". . _ . ."].least == 2
    for item in evidence.values():
        assert item.count == table.count(item.text)


def test_the_least_count_of_a_table(tmp_path):
    plain = CountTable.open(build_table(tmp_path / "a", QUITE_TEXTS, Words(), orders=3, min_counts={2: 5}))
    assert [plain.least_count(n, ["quite"]) for n in range(1, 5)] == [1, 5, 5, None]
    some = CountTable.open(build_table(tmp_path / "b", QUITE_TEXTS, Words(), keep_words=["quite", "quiet"]))
    assert some.least_count(3, ["quite", "quiet"]) == 1
    assert some.least_count(3, ["quite", "old"]) is None


GROUP = Group("the/is/quite a", ("the", "is", "quite a"))


@pytest.fixture
def places():
    view = Words()(SENTENCES)
    return view, CandidateFinder.from_groups([GROUP]).find(view)


def with_candidates(instances: Instances, lists) -> Instances:
    return replace(instances, lists=CandidateLists.from_texts(lists))


@pytest.mark.parametrize("tokenisation", [Words(), Web1T(), SpacyTokens("de")], ids=lambda item: item.name)
def test_candidates_are_tokenised_like_the_text(tmp_path, tokenisation):
    """The counts of a candidate are those of a text that contains it."""
    table = build_table(tmp_path / "cut.counts", ["The well-known one.", "The isn't one."], tokenisation)
    view = tokenisation(["The X one."])
    at = np.flatnonzero(view.ends == 5)
    with_lists = with_candidates(instances_at(at), [("well-known", "isn't", "other")])
    extractor, group = NgramCounts(counts=table), Group("any", ())
    features = transform_checked(extractor, view, with_lists, group)
    between = CONTEXTS.index((1, 1))
    assert (features.batch.values[:, between] > 0).tolist() == [True, True, False]
    shown = {key: behind.text for key, behind in extractor.evidence(view, with_lists, group).items()}
    words = [word for word in tokenisation.words("well-known") if word not in ("<S>", "</S>")]
    assert shown["well-known", ". _ ."] == " ".join(["the", *words, "one"])


def test_rows_are_crossed_with_the_candidates_of_the_instance(places):
    view, instances = places
    extractor = ContextWindow().fit(view, instances, [GROUP])
    lists = [GROUP.candidates[: 2 + i % 2] for i in range(len(instances))]
    batch = transform_checked(extractor, view, with_candidates(instances, lists), GROUP).batch
    assert batch.labels is not None and len(batch.labels) == len(instances)
    whole = transform_checked(extractor, view, instances, GROUP).batch
    weights = np.random.default_rng(0).normal(size=len(whole.columns))
    table = whole.scores(weights).reshape(len(instances), 3)
    expected = np.concatenate([row[: len(candidates)] for row, candidates in zip(table, lists, strict=True)])
    np.testing.assert_allclose(batch.scores(weights), expected)


def test_candidates_that_an_extractor_cannot_describe_are_an_error(places):
    view, instances = places
    strange = with_candidates(instances, [("the", "strange")] * len(instances))
    with pytest.raises(UserError, match=r"D419.*ContextWindow \(group .*strange"):
        transform_checked(ContextWindow().fit(view, instances, [GROUP]), view, strange, GROUP)
    unfit = [("D419", strange, item) for item in (ContextWords(), SentenceWords(), WordNetwork())]
    unfit += [("D418", instances, item) for item in (SourceFeatures(), TextNgrams())]
    for code, rejected, extractor in unfit:
        with pytest.raises(UserError, match=f"{code}.* {type(extractor).__name__} "):
            transform_checked(extractor, view, rejected, GROUP)
        with pytest.raises(UserError, match=f"{code}.* {type(extractor).__name__} "):
            fit_checked(extractor, view, rejected, [GROUP])


SMOOTHED_GROUP = Group("place", ("in", "on", "in to"))
TEXTS = ["We sat in town.", "We sat in town today.", "We sat on top.", "They ran in to town."]
TEXTS += ["They sat in town. They sat."]
ANY = Group("any", ())
WORDS = st.lists(st.sampled_from("we they sat ran in on to town top today .".split()), max_size=25)
a_fixture_may_stay = [HealthCheck.function_scoped_fixture]
fixture_may_stay = settings(suppress_health_check=a_fixture_may_stay, deadline=None, max_examples=50)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("counts") / "few.counts"
    return CountTable.open(build_table(path, TEXTS, Words()))


@pytest.fixture(scope="module")
def extractor(table):
    return ContextProbabilities(counts=table)


def transform(extractor, texts, group=SMOOTHED_GROUP):
    view = Words()(texts)
    return view, transform_checked(extractor, view, CandidateFinder.from_groups([group]).find(view), group)


def written_out(table, words, position, length, group):
    """Return the probabilities (K, 14) of one place, by the formula, from counts of texts."""

    def count(left, candidate, right):
        ngram = [*words[position - left : position], *candidate.split()]
        return table.count(" ".join([*ngram, *words[position + length : position + length + right]]))

    prior = np.array([count(0, candidate, 0) + 1.0 for candidate in group.candidates])
    result = {(0, 0): prior / prior.sum()}
    for left, right in CONTEXTS:
        shorter = [result[c] for c in ((left - 1, right), (left, right - 1)) if c in result and c != (0, 0)]
        back = sum(shorter) / len(shorter) if shorter else result[0, 0]
        outside = position - left < 0 or position + length + right > len(words) or left + right + 2 > 5
        counts = np.array([0 if outside else count(left, candidate, right) for candidate in group.candidates])
        if counts.sum():
            given_back = DISCOUNT * (counts > 0).sum() * back
            back = (np.maximum(counts - DISCOUNT, 0) * (counts > 0) + given_back) / counts.sum()
        result[left, right] = back
    return np.stack([result[context] for context in CONTEXTS], axis=1)


def test_scores_follow_the_formula(table, extractor, engine):
    for text in ["We sat in town.", "They sat on town today.", "We ran in to top.", "On."]:
        view, features = transform(extractor, [text])
        place = CandidateFinder.from_groups([SMOOTHED_GROUP]).find(view)
        at = int(place.positions[0]), int(place.lengths[0])
        expected = written_out(table, Words().words(text), *at, SMOOTHED_GROUP)
        assert np.exp(features.batch.values[0, :, :BIAS]) == pytest.approx(expected, rel=1e-5)


@given(WORDS, st.booleans())
@fixture_may_stay
def test_backends_agree_bit_for_bit_and_probabilities_sum_to_one(extractor, monkeypatch, words, or_none):
    """In contexts of one side, a place without a word has half of the probability."""
    candidates = ("in", "on", "") if or_none else SMOOTHED_GROUP.candidates
    task = OwnCandidates(name="place", candidates=candidates)
    view, values = Words()([" ".join(words)]), []
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        values.append(transform_checked(extractor, view, task.instances(view), task.groups[0]).batch.values)
    assert np.array_equal(*values)
    shares = np.exp(values[0][:, :, :BIAS])
    assert shares.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    if or_none:
        assert shares[:, 2, ONE_SIDED] == pytest.approx(0.5)


def test_columns_and_evidence_equal_those_of_the_counts(table, extractor):
    _, smooth = transform(extractor, TEXTS)
    _, raw = transform(NgramCounts(counts=table), TEXTS)
    assert np.array_equal(smooth.n_hits, raw.n_hits)
    assert np.array_equal(smooth.n_queries, raw.n_queries)
    assert list(smooth.batch.columns.names) == list(raw.batch.columns.names)
    assert (smooth.batch.values[:, :, BIAS] == 1).all()


def test_the_empty_candidate_has_a_probability_and_keeps_the_ratios_of_words(extractor):
    view, group = Words()(["We sat in town."]), Group("to", ("", "in"))
    places = OwnCandidates(name="place", candidates=["", "in"]).instances(view)
    values = transform_checked(extractor, view, places, group).batch.values
    assert len(places) and np.isfinite(values).all()
    assert np.exp(values[:, :, :BIAS]).sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    view, words = Words()(["They sat in"]), Group("place", ("in", "on"))
    place = CandidateFinder.from_groups([words]).find(view)
    both = (transform_checked(extractor, view, place, g) for g in (Group("place", ("in", "on", "")), words))
    beside, alone = (features.batch.values[0, :2, :BIAS][:, ONE_SIDED] for features in both)
    assert np.diff(beside, axis=0) == pytest.approx(np.diff(alone, axis=0), rel=1e-5)


@pytest.mark.parametrize("kind", [NgramCounts, ContextProbabilities])
def test_groups_decided_together_equal_each_group_alone(table, engine, kind):
    lists = ("in", "on"), ("in to", "on", "at"), ("in", "", "of")
    groups, view = [Group("/".join(candidates), candidates) for candidates in lists], Words()(TEXTS)
    places = instances_at(np.flatnonzero(view.ends > view.starts), observed=-1)
    parts = [(places.take(slice(g, None, 2)), group) for g, group in enumerate(groups)]
    for some_parts in (parts, parts[:2], [(places.take(slice(0, 0)), groups[1]), parts[0]]):
        together = kind(counts=table).transform(view, GroupedInstances.from_parts(some_parts))
        for (part, group), result in zip(some_parts, together, strict=True):
            alone = transform_checked(kind(counts=table), view, part, group)
            assert np.array_equal(result.batch.values, alone.batch.values)
            assert result.batch.columns is alone.batch.columns
            assert np.array_equal(result.n_hits, alone.n_hits)
            assert np.array_equal(result.n_queries, alone.n_queries)
    assert together[1].n_hits.any()


def listed(instances, any_lists):
    return replace(instances, lists=CandidateLists.from_texts(any_lists))


some_texts = st.sampled_from(["in", "on", "in to", "to", "", "on top of it all", "unheard"])
any_lists = st.lists(st.lists(some_texts, min_size=1, unique=True), min_size=1, max_size=8)


@given(any_lists)
@fixture_may_stay
def test_a_list_does_not_depend_on_the_others(extractor, monkeypatch, any_lists):
    """With or without the empty candidate, beside longer lists or alone, in both backends."""
    view = Words()(TEXTS)
    result = OwnCandidates(candidates=["in", "on", ""]).instances(view).without_labels()
    result = result.take(np.arange(min(len(any_lists), len(result))))
    given_lists = any_lists[: len(result)]
    values = []
    for engine in ("numpy", "numba"):
        monkeypatch.setenv("DISAMBIG_ENGINE", engine)
        values.append(transform_checked(extractor, view, listed(result, given_lists), ANY).batch)
    assert np.array_equal(values[0].values, values[1].values)
    for i, candidates in enumerate(given_lists):
        place = listed(result.take(np.array([i])), [candidates])
        alone = transform_checked(extractor, view, place, ANY).batch.values
        assert np.array_equal(alone, values[0].values[slice(*values[0].offsets[i : i + 2])])
        assert np.exp(alone[:, :BIAS]).sum(axis=0) == pytest.approx(1.0, abs=1e-4)


def test_evidence_is_of_the_contexts_that_were_used(extractor):
    view = Words()(["They sat in town."])
    result = OwnCandidates(candidates=["in", "on"]).instances(view)
    one = listed(result, [("in", "")])
    shown = extractor.evidence(view, one, ANY)
    group = Group("in or none", ("in", ""))
    assert shown == extractor.evidence(view, result, group)
    assert shown["in", ". _"].text == "sat in" and shown["in", ". _"].count > 0
