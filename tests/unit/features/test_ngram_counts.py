"""The extractor of n-gram counts against counting by hand, by both engines."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from disambig.counts import CountTable, build_table
from disambig.data import Group, Instances
from disambig.errors import UserError
from disambig.features import BIAS, CONTEXTS, ContextWords, NgramCounts, ngram_text, transform_checked
from disambig.tasks import OwnCandidates
from disambig.testing import check_extractor
from disambig.text import Web1T, Words

ENGINES = ("numpy", "numba")
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
    """Return values (K, 14), found (K,) and asked of one place, straight from the definition."""
    longest = max(len(candidate.split()) for candidate in candidates)
    values = np.zeros((len(candidates), len(CONTEXTS)))
    asked = 0
    for c, (left, right) in enumerate(CONTEXTS):
        after = position + length
        if "" in candidates and not (left and right):
            continue  # no word at all says something only between words
        if left + longest + right > 5 or position - left < 0 or after + right > len(sentence):
            continue
        asked += 1
        for r, candidate in enumerate(candidates):
            ngram = (
                *sentence[position - left : position],
                *candidate.split(),
                *sentence[after : after + right],
            )
            values[r, c] = np.log(counts[ngram] + 1)
    return values, (values > 0).sum(axis=1), asked


class Everywhere:
    """Finds every place where a candidate of its only group stands."""

    name, language = "everywhere", ""

    def __init__(self, *candidates):
        self.groups = (Group("all", candidates),)

    def instances(self, view):
        from disambig.data import CandidateFinder

        return CandidateFinder.from_groups(self.groups).find(view)


TEXT_WORDS = st.lists(st.sampled_from([*VOCABULARY, ".", ". The"]), min_size=1, max_size=25).map(" ".join)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(corpus=["the cat may be in the dog"] * 2, texts=["the cat may be in the dog"])
@given(
    corpus=st.lists(TEXT_WORDS, min_size=1, max_size=4), texts=st.lists(TEXT_WORDS, min_size=1, max_size=3)
)
@pytest.mark.parametrize("candidates", [("on", "in"), ("may be", "maybe", "in"), ("the", "may be", "")])
def test_against_counting_by_hand(engine, candidates, corpus, texts, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("DISAMBIG_ENGINE", engine)
    path = build_table(tmp_path_factory.mktemp("tables") / "t.counts", corpus, Words())
    counts = counted(corpus)
    task = OwnCandidates(candidates=candidates) if "" in candidates else Everywhere(*candidates)
    view = Words()(texts)
    instances = task.instances(view)
    extractor = NgramCounts(counts=CountTable.open(path))
    features = transform_checked(extractor, view, instances, task.groups[0])
    k = len(candidates)
    found = features.found.reshape(-1, k)
    asked = features.asked.reshape(-1, k)
    words = [word for text in texts for word in Words().words(text)]
    for i in range(len(instances)):
        start = view.sentences[np.searchsorted(view.sentences, instances.positions[i], side="right") - 1]
        stop = view.sentences[np.searchsorted(view.sentences, instances.positions[i], side="right")]
        place = int(instances.positions[i] - start)
        values, hits, n_asked = expected(
            counts, words[start:stop], place, int(instances.lengths[i]), candidates
        )
        assert features.batch.values[i, :, :BIAS] == pytest.approx(values, abs=1e-5)
        assert (features.batch.values[i, :, BIAS] == 1).all()
        assert found[i].tolist() == hits.tolist()
        assert asked[i].tolist() == [n_asked] * k
        assert features.batch.costs[i].argmin() == instances.observed[i]


@pytest.mark.parametrize(
    "check",
    [
        pytest.param((kind, number), id=f"{kind.__name__}-{number}")
        for kind in (NgramCounts, ContextWords)
        for number in range(8)
    ],
)
def test_contract(check, small_table):
    from toy_texts import SENTENCES

    kind, number = check
    extractor = NgramCounts(counts=small_table) if kind is NgramCounts else ContextWords(examples=50)
    checks = check_extractor(extractor, Everywhere("quite", "quiet", "piece"), SENTENCES * 3)
    assert len(checks) == 8
    checks[number]()


def test_sentence_ends_are_words_and_stop_a_context(small_table):
    task = Everywhere("quiet", "quite")
    extractor = NgramCounts(counts=small_table)
    values = {}
    for text in ("Quiet.", "It was a quiet place in it."):
        view = Words()([text])
        values[text] = transform_checked(extractor, view, task.instances(view), task.groups[0])
    alone, inside = values.values()
    assert alone.asked[0] == sum(left <= 1 and right <= 2 for left, right in CONTEXTS)  # <S> quiet . </S>
    assert inside.asked[0] == 14
    assert inside.found.tolist() == [11, 0]  # all but those that see "place in it"


def test_two_words_mask_what_some_candidate_cannot_fill(small_table):
    view = Words()(["They say the train may be late and so it was."])
    single, double = Everywhere("maybe", "late"), Everywhere("may be", "maybe")
    at = np.flatnonzero(view.hashes == Words()(["may"]).hashes[1])
    there = Instances(at, np.array([2], np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32))
    extractor = NgramCounts(counts=small_table)
    assert transform_checked(extractor, view, there, double.groups[0]).asked.tolist() == [
        9,
        9,
    ]  # 2- to 4-gram contexts
    assert transform_checked(extractor, view, there, single.groups[0]).asked.tolist() == [14, 14]


def test_a_word_that_no_table_knows_finds_nothing_through_it(small_table):
    long = "x" * 300
    task = Everywhere("quite", "quiet")
    view = Words()([f"{long} quite {long}"])
    for _ in range(2):
        features = transform_checked(
            NgramCounts(counts=small_table), view, task.instances(view), task.groups[0]
        )
        assert features.found.tolist() == [0, 0]
        assert (features.batch.values[:, :, :BIAS] == 0).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_views_of_another_tokenisation_are_refused(small_table, engine, monkeypatch):
    monkeypatch.setenv("DISAMBIG_ENGINE", engine)
    task = Everywhere("quite", "quiet")
    view = Web1T()(["It was quite good ."])
    with pytest.raises(UserError) as caught:
        transform_checked(NgramCounts(counts=small_table), view, task.instances(view), task.groups[0])
    assert caught.value.code == "D110"


def test_columns_say_what_each_weight_means(small_table):
    task = Everywhere("quite", "quiet")
    view = Words()(["It was quite good."])
    columns = transform_checked(
        NgramCounts(counts=small_table), view, task.instances(view), task.groups[0]
    ).batch.columns
    assert len(columns) == 30
    assert columns.group_names == ("2-gram", "3-gram", "4-gram", "5-gram", "bias")
    sizes = [int(columns.in_groups([name]).sum()) for name in columns.group_names]
    assert sizes == [4, 6, 8, 10, 2]
    assert columns.labels.tolist() == [0] * 15 + [1] * 15
    assert columns.names[0] == "quite: . _"
    assert columns.names[-1] == "quiet: bias"


def test_pickled_it_keeps_the_name_of_its_table_only(small_table):
    import pickle

    extractor = NgramCounts(counts=small_table)
    assert extractor.table is not None
    again = pickle.loads(pickle.dumps(extractor))
    assert vars(again) == {"counts": small_table}
    assert again.table is extractor.table


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(corpus=st.lists(TEXT_WORDS, min_size=2, max_size=6), keep=st.booleans())
def test_parts_of_ngrams_change_no_answer_of_a_nested_table(
    engine, corpus, keep, monkeypatch, tmp_path_factory
):
    """What is skipped because a shorter part is absent is absent itself."""
    monkeypatch.setenv("DISAMBIG_ENGINE", engine)
    task, least = Everywhere("on", "in"), {3: 2, 4: 2, 5: 3}
    words = ["on", "in"] if keep else None
    path = tmp_path_factory.mktemp("tables") / "t.counts"
    table = CountTable.open(build_table(path, corpus, Words(), min_counts=least, keep_words=words))
    view = Words()(corpus)
    found = task.instances(view)
    assert table.is_nested(["on", "in"]) and table.is_nested(["cat"]) is not keep
    with_parts = transform_checked(NgramCounts(counts=table), view, found, task.groups[0]).batch.values
    with monkeypatch.context() as patch:
        patch.setattr(CountTable, "is_nested", lambda self, words: False)
        alone = transform_checked(NgramCounts(counts=table), view, found, task.groups[0]).batch.values
    np.testing.assert_array_equal(with_parts, alone)


@pytest.mark.parametrize("least", [{2: 3, 3: 2}, {5: 1, 4: 9}])
def test_a_table_pruned_less_for_longer_ngrams_is_not_nested(least, tmp_path):
    path = build_table(tmp_path / "t.counts", ["the cat on the dog"], Words(), min_counts=least)
    assert not CountTable.open(path).is_nested(["on"])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_small_record_is_taken_for_another_only_where_its_parts_are_too(engine, monkeypatch, tmp_path):
    monkeypatch.setenv("DISAMBIG_ENGINE", engine)
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in rng.integers(0, 400, 12)) + " on the roof" for _ in range(400)]
    table = CountTable.open(build_table(tmp_path / "t.counts", texts, Words(), record="small"))
    task = Everywhere("on", "in")
    asked = [" ".join(f"v{n}" for n in rng.integers(0, 400, 4)) + " on some hill" for _ in range(4000)]
    view = Words()(asked)
    found = task.instances(view)
    values = transform_checked(NgramCounts(counts=table), view, found, task.groups[0]).batch.values[
        :, :, :BIAS
    ]
    longer = np.array([left + right > 1 for left, right in CONTEXTS])
    monkeypatch.setattr(CountTable, "is_nested", lambda self, words: False)
    alone = transform_checked(NgramCounts(counts=table), view, found, task.groups[0]).batch.values[
        :, :, :BIAS
    ]
    assert np.count_nonzero(alone[:, :, longer]) > 20  # one in 1,024; many are asked again
    assert np.count_nonzero(values[:, :, longer]) < 5


@pytest.mark.parametrize(("cut", "shown"), [(Words(), "an 00"), (Web1T(), "an 18")])
def test_ngrams_are_shown_as_they_are_counted(cut, shown):
    view = cut(["She wrote an 18 there."])
    assert ngram_text(view, 3, 1, (0, 1), "an") == shown
