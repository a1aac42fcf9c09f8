"""The pronoun "it": normalised words, filler counts, patterns, frames, and "its" for "it's"."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from disambig_variance_svm.pronoun_it import (
    APOSTROPHES,
    FILLERS,
    FRAME_MODEL,
    IT,
    KINDS,
    LABELS,
    PRONOUN,
    RARE,
    SCALE,
    THEY,
    FillerCounts,
    FrameModel,
    It,
    ItHabits,
    ItPatterns,
    NextWords,
    NormalisedWords,
    PatternExample,
    apostrophes,
    count_fillers,
    count_next_words,
    filler_counts,
    frame_keys,
    frame_model as frame_models,
    frequent_stems,
    learn_frame_model,
    match_patterns,
    matched_kinds,
    next_words,
    normal_order,
)
from hypothesis import given, settings, strategies as st

from disambig.counts import CountTable, build_table, write_table
from disambig.data import Group
from disambig.errors import UserError
from disambig.features import CONTEXTS, transform_checked
from disambig.text import Words, hash_word, hash_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's important.", "<S> it 's impo . </S>"),
        ("They don't know themselves.", "<S> they do n't know they . </S>"),
        ("Give ME 42 of hers!", "<S> give <pronoun> <number> of <pronoun> ! </S>"),
        ("Its roof", "<S> it roof </S>"),
        ("We\u2019ll zzzyqx", "<S> <pronoun> 'll <rare> </S>"),
        ("items", "<S> item </S>"),
        ("", ""),
    ],
)
def test_words_become_classes_and_stems(text, words):
    assert NormalisedWords().words(text) == words.split()


ANY_TEXTS = st.lists(
    st.text()
    | st.lists(st.sampled_from("it's don't its they We'll 12 a. B , \n\n caf\u00e9\u2019s".split(" "))).map(
        " ".join
    )
)


@given(ANY_TEXTS)
def test_hashes_and_offsets_of_any_text(texts):
    view = NormalisedWords()(texts)
    plain = Words()(texts)
    spelled = [hash_word(word) for text in texts for word in NormalisedWords().words(text)]
    is_word = view.hashes != 0
    assert view.hashes[is_word].tolist() == np.array(spelled, np.uint64)[is_word].tolist()
    assert (view.ends >= view.starts).all()
    # the parts of a word cover it without a hole
    assert np.isin(plain.starts, view.starts).all() and np.isin(plain.ends, view.ends).all()
    inner = ~np.isin(view.starts, plain.starts)
    assert (view.starts[np.flatnonzero(inner)] == view.ends[np.flatnonzero(inner) - 1]).all()
    assert len(view.documents) == len(plain.documents)
    assert view.documents[-1] == len(view) and view.sentences[-1] == len(view)
    assert (view.hashes[view.sentences[:-1]] == hash_word("<S>")).all()


def test_frequent_stems():
    stems = frequent_stems()
    assert len(stems) == 5000
    assert max(map(len, stems)) <= 4
    assert {"the", "impo", ".", "'s", "n't"} <= stems


TEXTS = [
    "It is good to know. They are good to know. He is good to know.",
    "Was it good? Were they good? We saw it there. We saw them there and left.",
    "We saw Zzyqxa there. We saw bread there. It was good to see it there.",
    "I think that it is late. I think that they are late. I think that bread is late.",
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return a table of all n-grams, and a small one of the fillers that count."""
    home = tmp_path_factory.mktemp("counts")
    write_table(
        home / "small.counts",
        [count_fillers(lambda: TEXTS, least=1)],
        tokenisations=[NormalisedWords.name],
        gaps=[NormalisedWords.name],
    )
    full = build_table(home / "full.counts", TEXTS, NormalisedWords(), gaps=True)
    return CountTable.open(full), CountTable.open(home / "small.counts")


def count_by_hand():
    """Count each kind of filler in each context, word by word."""
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


def test_counts_equal_those_counted_by_hand(tables):
    view, result = find_it(*TEXTS)
    counts = filler_counts(tables[0], view, result)
    seen = count_by_hand()
    words = [word for text in TEXTS for word in NormalisedWords().words(text)]
    compared = 0
    for i, at in enumerate(result.positions.tolist()):
        sentence = np.searchsorted(view.sentences, at, side="right")
        first, last = view.sentences[sentence - 1 : sentence + 1]
        for c, (left, right) in enumerate(CONTEXTS):
            if at - left < first or at + right >= last:
                assert not counts[i, c].any()
                continue
            context = (*words[at - left : at], None, *words[at + 1 : at + right + 1])
            assert counts[i, c].tolist() == [seen[context, kind] for kind in range(5)], context
            compared += 1
    assert compared > 50
    np.testing.assert_array_equal(filler_counts(tables[1], view, result), counts)
    assert tables[1].n_ngrams < tables[0].n_ngrams / 2


def test_rare_contexts_and_unsuitable_tables(tmp_path):
    every, _ = count_fillers(lambda: TEXTS, least=1)
    some, counts = count_fillers(lambda: TEXTS, least=3)
    assert 0 < len(some) < len(every)
    assert np.isin(some, every).all() and (counts > 0).all()
    view, instances = find_it(*TEXTS)
    plain = CountTable.open(build_table(tmp_path / "plain.counts", TEXTS, NormalisedWords()))
    with pytest.raises(UserError, match="gaps"):
        transform_checked(FillerCounts(counts=plain), view, instances, It.groups[0])
    words = CountTable.open(build_table(tmp_path / "words.counts", TEXTS, Words()))
    with pytest.raises(UserError, match="D110"):
        filler_counts(words, view, instances)


def test_attributes_of_filler_counts(tables):
    view, instances = find_it(*TEXTS)
    features = transform_checked(FillerCounts(counts=tables[0]), view, instances, It.groups[0])
    values, columns = features.batch.values, features.batch.columns
    assert values.shape == (len(instances), 2, 14 * 5 + 1)
    assert not values[:, 0].any() and (values[:, 1, -1] == 1).all()
    counts = filler_counts(tables[0], view, instances)
    they = columns.in_groups([FILLERS[1]])
    np.testing.assert_allclose(values[:, 1][:, they], np.log1p(counts[:, :, 1]), rtol=1e-6)
    assert (features.found <= features.asked).all() and features.found.max() > 0
    assert columns.names[CONTEXTS.index((1, 2))] == "non-referential: . <it> . ."
    assert columns.names[-1] == "non-referential: bias" and len(set(columns.names)) == len(columns.names)


def test_only_the_word_it_is_decided():
    assert decided_places("It's its own fault, isn't it? Items of IT itself.") == ["It", "it", "IT"]
    assert (find_it(*TEXTS)[1].observed == -1).all()
    with pytest.raises(UserError, match="D454"):
        It().instances(Words()(["It is late."]))
    sentence = "I don't think we're ready, and he's sure it's true that she'll come."
    assert [start for _, start, _ in match_patterns(sentence, ["clause"])] == [sentence.index("it's")]


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("In the evening it had rained again.", "weather"),
        ("When we woke, it was getting dark.", "weather"),
        ("It is beginning to snow.", "weather"),
        ("It looks like rain.", "weather"),
        ("It has cleared up.", "weather"),
        ("It thawed overnight.", "weather"),
        ("It stays dark until nine.", "weather"),
        ("It was mild enough to sit by the pond.", "weather"),
        ("It was the last of April.", "time"),
        ("It is her birthday.", "time"),
        ("It was a tiring ride back.", "time"),
        ("It may be weeks before they reply.", "time"),
        ("It was lovely seeing you again.", "clause"),
        ("It was rude of him to laugh.", "clause"),
        ("It would be safer if everyone waited.", "clause"),
        ("They had to rough it.", "idiom"),
        ("As it turned out, nobody came.", "idiom"),
        ("Hold it, you two!", "idiom"),
        ("It's Friday, and nobody works.", "time"),
        ("By then it had been two years since the fire.", "time"),
        ("It took the plumber a whole week to come.", "time"),
        ("It was my uncle who sold the farm.", "cleft"),
        ("It was only then that he noticed the smoke.", "cleft"),
        ("It\u2019s clear that the plan has failed.", "clause"),
        ("They found it hard to understand the map.", "clause"),
        ("It doesn't matter what they say.", "clause"),
        ("He trained for a year and never made it.", "idiom"),
        ("We should call it a day.", "idiom"),
        ("She put it on the shelf.", "thing"),
        ("It contains two kinds of oil.", "thing"),
        ("Was it warm in the hall?", "weather"),
        ("Has it been snowing again?", "weather"),
        ("It hardly ever rains in March.", "weather"),
        ("Last night it was awfully cold.", "weather"),
        ("Isn't it sad that he left?", "clause"),
        ("It's sad he left.", "clause"),
        ("It takes patience to train a dog.", "clause"),
        ("How long did it take to paint the boat?", "clause"),
        ("I gather it he was late.", "clause"),
        ("He hates it when we are late.", "clause"),
        ("They know what it means to be hungry.", "clause"),
        ("It turned out, nobody had locked the door.", "clause"),
        ("Was it your uncle who sold the farm?", "cleft"),
        ("If it hadn't been for you, we would have lost.", "idiom"),
    ],
)
def test_patterns_that_match(sentence, kind):
    result = list(match_patterns(sentence))
    kinds = {name for name, _, _ in result}
    assert kind in kinds and {LABELS[name] for name in kinds} == {LABELS[kind]}
    assert {sentence[start : start + 2].lower() for _, start, _ in result} == {"it"}


@pytest.mark.parametrize(
    ("sentence", "labels"),
    [
        ("It was red.", []),
        ("Please close it.", []),
        ("He likes it a lot.", []),
        ("The visit was raining on our plans.", []),
        ("Its roof is clear that way.", []),
        ("I cannot hold it.", []),
        ("He told me of it as it happened.", []),
        ("It clears up the question.", []),
        ("It was warm enough.", []),
        ("It takes up the whole shelf.", ["referential"]),
        ("It takes coins only.", ["referential"]),
        ("It took him to the station.", ["referential"]),
        ("The path is steep, and it is hard to climb.", ["referential"]),
        ("Was it broken?", ["referential"]),
        ("Does it have a lid?", ["referential"]),
        ("Nobody knows what it means.", ["referential"]),
        ("She found it dry.", ["referential"]),
        ("It turned the corner.", ["referential"]),
    ],
)
def test_referential_sentences_with_the_same_words(sentence, labels):
    """They match no pattern, or one of things."""
    assert {LABELS[kind] for kind, _, _ in match_patterns(sentence)} <= set(labels)


@given(st.text(st.sampled_from("it's rain ed don't \u2019,.was who that to"), max_size=60))
def test_patterns_on_any_sentence(sentence):
    for kind, start, _ in match_patterns(sentence):
        assert kind in LABELS and sentence[start : start + 2].lower() == "it"


@pytest.mark.parametrize(
    ("sentence", "normal"),
    [
        ("is it really snowing ?", "it is snowing ?"),
        ("why does n't it ever snow here ?", "why it does n't snow here ?"),
        ("rarely is it necessary to call .", "it is necessary to call ."),
        ("he said it was likely .", "he said it was likely ."),
        ("what i like is it .", "what i like is it ."),
    ],
)
def test_normal_order(sentence, normal):
    assert normal_order(sentence) == normal


def find_it(*texts):
    view = NormalisedWords()(texts)
    return view, It().instances(view)


def test_matched_kinds():
    view, instances = find_it(
        "We left it open. It was raining, and it's clear that it got wet.",
        "",
        "Then he put it on the shelf. Towards noon it stopped raining.",
    )
    kinds = [
        [kind for kind, holds in zip(KINDS, row, strict=True) if holds]
        for row in matched_kinds(view, instances)
    ]
    assert kinds == [[], ["weather"], ["clause"], [], ["thing"], ["weather"]]


def test_attributes_of_patterns_are_antisymmetric():
    features = transform_checked(ItPatterns(), *find_it("It was raining.", "It was red."), It.groups[0])
    values = features.batch.values
    assert values.shape == (2, 2, len(KINDS))
    assert values[0, 1, KINDS.index("weather")] == SCALE and not values[1].any()
    assert np.array_equal(values[:, 0], -values[:, 1])
    assert not features.found.any() and not features.asked.any()
    nothing = transform_checked(ItPatterns(), *find_it("Nothing of the kind."), It.groups[0])
    assert nothing.batch.values.shape == (0, 2, len(KINDS))
    with pytest.raises(UserError, match="D455"):  # it needs two labels
        transform_checked(ItPatterns(), *find_it("It was red."), Group("three", ("a", "b", "c")))


def frames(*texts):
    return frame_keys(*find_it(*texts))


@pytest.mark.parametrize(
    ("sentence", "near", "far"),
    [
        (
            "It rained.",
            "It had not really rained.",
            "It had not really started.",
        ),  # function words are left out
        ("It is raining now.", "It had been raining.", "It is red."),
        ("It is Tuesday.", "It is Friday.", "It is mine."),  # classes of days, numbers and units
        (
            "It has been three years since the fire.",
            "It has been seven weeks since the party.",
            "It has been painted.",
        ),
        ("It rains.", "It rains.", "It raids."),  # whole words
    ],
)
def test_shared_frames(sentence, near, far):
    """Sentences that mean nearly the same have more features in common."""
    its_frames, *others = ({*frames(text).ravel().tolist()} - {0} for text in (sentence, near, far))
    n_near, n_far = (len(its_frames & other) for other in others)
    assert n_near > n_far


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("it is Tuesday rained,.\n who that since"), max_size=40), max_size=5))
def test_frames_do_not_depend_on_the_batch(texts):
    together = frames(*texts)
    alone = [frames(text) for text in texts]
    assert np.array_equal(together, np.concatenate([frames(), *alone]))


def make_examples(sentence, *words, kind):
    texts = [sentence.format(word, noun) for word in words for noun in "abcdefg"]
    return [PatternExample(text, text.lower().index("it"), kind, text) for text in texts]


@pytest.fixture(scope="module")
def frame_model():
    weather = make_examples("It {} in the {}.", "rained", "snowed", kind="weather")
    clauses = make_examples("It is {} that the {} is.", "clear", "true", kind="clause")
    things = make_examples("It {} in the {}.", "broke", "opened", kind="thing")
    return learn_frame_model([*weather, *clauses, *things], sources=["made"])


def test_frame_models(frame_model, tmp_path):
    clause, rare = frame_model.log_odds(
        frames("It is clear that we are late.", "It had rained all night.", "It broke at once.")
    )
    assert clause[0] > 0 > clause[2]
    assert rare[1] > 0 > rare[0] and rare[2] < 0
    frame_model.save(tmp_path / "habits")
    again = FrameModel.load(tmp_path / "habits")
    assert np.array_equal(again.keys, frame_model.keys) and np.array_equal(again.weights, frame_model.weights)
    assert again.biases == frame_model.biases and again.header["sources"] == ["made"]
    places = find_it("It was raining.", "She put it on the table.")
    values = transform_checked(ItHabits(), *places, It.groups[0]).batch.values
    assert values[0, 1, 1] > 0 > values[1, 1, 1]  # by the set of rare kinds
    assert np.array_equal(values[:, 0], -values[:, 1])
    assert FRAME_MODEL.is_dir()


@pytest.mark.parametrize("broken", ["nothing", "cut", "descending", "types", "header"])
def test_damaged_frame_models(frame_model, tmp_path, broken):
    folder = tmp_path / "habits"
    if broken == "descending":
        frame_model = FrameModel(frame_model.keys[::-1], frame_model.weights, (0.0, 0.0), {})
    if broken == "types":
        frame_model = FrameModel(frame_model.keys, frame_model.weights.astype(np.float64), (0.0, 0.0), {})
    if broken != "nothing":
        frame_model.save(folder)
    if broken == "cut":
        (folder / frame_models.FILE).write_bytes((folder / frame_models.FILE).read_bytes()[:100])
    if broken == "header":
        (folder / "header.json").write_text("[]")
    with pytest.raises(UserError, match="D498"):
        FrameModel.load(folder)


def decided_places(text):
    view, instances = find_it(text)
    spans = zip(view.starts[instances.positions], view.ends[instances.positions], strict=True)
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Its raining, and its not fair.", ["Its", "its"]),
        ("The bird broke its wing.", []),
        ("The bird broke it's wing.", ["it"]),  # seldom seen after either: the text is believed
        ("It does this in it's own way.", ["It"]),
        ("It\u2019s mine.", ["It"]),
        ("Its", []),
        ("it's", ["it"]),
        ("Itself it is.", ["it"]),
    ],
)
def test_its_for_it_s(text, places):
    assert decided_places(text) == places


@given(st.text(st.sampled_from("it's \u2019 a\n."), max_size=30))
def test_places_of_any_text(text):
    assert {place.lower() for place in decided_places(text)} <= {"it", "its"}


def test_next_words(tmp_path):
    texts = ["It's red. It's red. It's red, and its roof is its roof, its roof."]
    counted = count_next_words(texts, sources=["made"])
    red, roof, other = counted.log_odds(hash_words(["red", "roof", "green"]))
    assert red > 0 > roof and other == 0
    counted.save(tmp_path / "words")
    again = NextWords.load(tmp_path / "words")
    assert np.array_equal(again.words, counted.words) and np.array_equal(again.odds, counted.odds)
    next_words().save(tmp_path / "shipped")
    (tmp_path / "shipped" / apostrophes.FILE).write_bytes(b"nothing")
    with pytest.raises(UserError, match="D498"):
        NextWords.load(tmp_path / "shipped")
    assert APOSTROPHES.is_dir()
