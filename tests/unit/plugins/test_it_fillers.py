"""Filler counts against counting by hand, and the small table against one of all n-grams with gaps."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from disambig_variance_svm.pronoun_it import (
    FILLERS,
    IT,
    PRONOUN,
    RARE,
    THEY,
    FillerCounts,
    It,
    NormalisedWords,
    count_fillers,
    filler_counts,
)

from disambig.counts import CountTable, build_table, write_table
from disambig.errors import UserError
from disambig.features import CONTEXTS, transform_checked

TEXTS = [
    "It is good to know. They are good to know. He is good to know.",
    "Was it good? Were they good? We saw it there. We saw them there and left.",
    "We saw Zzyqxa there. We saw bread there. It was good to see it there.",
    "I think that it is late. I think that they are late. I think that bread is late.",
]
NAME = NormalisedWords.name


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    path = tmp_path_factory.mktemp("counts") / "full.counts"
    return CountTable.open(build_table(path, TEXTS, NormalisedWords(), gaps=True))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("counts") / "small.counts"
    keys, counts = count_fillers(lambda: TEXTS, least=1)
    write_table(path, [(keys, counts)], tokenisations=[NAME], gaps=[NAME])
    return CountTable.open(path)


def instances():
    view = NormalisedWords()(TEXTS)
    return view, It().instances(view)


def counted_by_hand():
    """Return how often each kind of filler stands between given words, by looking at every place."""
    sentences, seen = [], Counter()
    for text in TEXTS:
        for word in NormalisedWords().words(text):
            if word == "<S>":
                sentences.append([])
            sentences[-1].append(word)
    kinds = {IT: 0, THEY: 1, PRONOUN: 2, RARE: 3}
    for words in sentences:
        for at in range(len(words)):
            for left, right in CONTEXTS:
                if at >= left and at + right < len(words):
                    context = (*words[at - left : at], None, *words[at + 1 : at + right + 1])
                    seen[context, kinds.get(words[at], 4)] += 1
    return seen


def test_counts_are_those_counted_by_hand(full):
    view, found = instances()
    counts = filler_counts(full, view, found)
    seen = counted_by_hand()
    words = [word for text in TEXTS for word in NormalisedWords().words(text)]
    compared = 0
    for i, at in enumerate(found.positions.tolist()):
        first = int(view.sentences[np.searchsorted(view.sentences, at, side="right") - 1])
        last = int(view.sentences[np.searchsorted(view.sentences, at, side="right")])
        for c, (left, right) in enumerate(CONTEXTS):
            if at - left < first or at + right >= last:
                assert not counts[i, c].any()
                continue
            context = (*words[at - left : at], None, *words[at + 1 : at + right + 1])
            assert counts[i, c].tolist() == [seen[context, kind] for kind in range(5)], context
            compared += 1
    assert compared > 50


def test_the_small_table_answers_like_that_of_all_ngrams(full, small):
    view, found = instances()
    np.testing.assert_array_equal(filler_counts(small, view, found), filler_counts(full, view, found))
    assert small.n_ngrams < full.n_ngrams / 2


def test_rare_contexts_are_left_out():
    every, _ = count_fillers(lambda: TEXTS, least=1)
    some, counts = count_fillers(lambda: TEXTS, least=3)
    assert 0 < len(some) < len(every)
    assert np.isin(some, every).all() and (counts > 0).all()


def test_attributes_are_logs_and_speak_for_the_second_candidate(full):
    view, found = instances()
    features = transform_checked(FillerCounts(counts=full), view, found, It().groups[0])
    values = features.batch.values
    assert values.shape == (len(found), 2, 14 * 5 + 1)
    assert not values[:, 0].any() and (values[:, 1, -1] == 1).all()
    counts = filler_counts(full, view, found)
    they = features.batch.columns.in_groups([FILLERS[1]])
    np.testing.assert_allclose(values[:, 1][:, they], np.log1p(counts[:, :, 1]), rtol=1e-6)
    assert (features.found <= features.asked).all() and features.found.max() > 0


def test_a_table_without_gaps_or_of_other_words_is_refused(tmp_path, full):
    view, found = instances()
    plain = CountTable.open(build_table(tmp_path / "plain.counts", TEXTS, NormalisedWords()))
    with pytest.raises(UserError, match="gaps"):
        transform_checked(FillerCounts(counts=plain), view, found, It().groups[0])
    with pytest.raises(UserError, match="D110"):
        filler_counts(CountTable.open(small_of_words(tmp_path)), view, found)


def small_of_words(folder):
    from disambig.text import Words

    return build_table(folder / "words.counts", TEXTS, Words())


def test_only_it_itself_is_asked_about():
    view = NormalisedWords()(["It's its own fault, isn't it? Items of IT itself."])
    found = It().instances(view)
    spans = zip(view.starts[found.positions].tolist(), view.ends[found.positions].tolist(), strict=True)
    assert [view.texts[0][a:b] for a, b in spans] == ["It", "it", "IT"]
    assert (found.observed == -1).all()


def test_another_tokenisation_is_refused():
    from disambig.text import Words

    with pytest.raises(UserError, match="D454"):
        It().instances(Words()(["It is late."]))


def test_attributes_have_names_for_people(full):
    view, found = instances()
    names = transform_checked(FillerCounts(counts=full), view, found, It().groups[0]).batch.columns.names
    assert names[CONTEXTS.index((1, 2))] == "non-referential: . <it> . ."
    assert names[-1] == "non-referential: bias" and len(set(names)) == len(names)
