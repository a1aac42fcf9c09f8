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
NAME = NormalisedWords.name


@pytest.fixture(scope="module")
def full_table(tmp_path_factory):
    path = tmp_path_factory.mktemp("counts") / "full.counts"
    return CountTable.open(build_table(path, TEXTS, NormalisedWords(), gaps=True))


@pytest.fixture(scope="module")
def small_table_of_fillers(tmp_path_factory):
    path = tmp_path_factory.mktemp("counts") / "small.counts"
    keys, counts = count_fillers(lambda: TEXTS, least=1)
    write_table(path, [(keys, counts)], tokenisations=[NAME], gaps=[NAME])
    return CountTable.open(path)


def make_instances():
    view = NormalisedWords()(TEXTS)
    return view, It().instances(view)


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


def test_counts_equal_those_counted_by_hand(full_table):
    view, result = make_instances()
    counts = filler_counts(full_table, view, result)
    seen = count_by_hand()
    words = [word for text in TEXTS for word in NormalisedWords().words(text)]
    compared = 0
    for i, at in enumerate(result.positions.tolist()):
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


def test_small_table_equals_the_table_of_all_ngrams(full_table, small_table_of_fillers):
    view, result = make_instances()
    np.testing.assert_array_equal(
        filler_counts(small_table_of_fillers, view, result), filler_counts(full_table, view, result)
    )
    assert small_table_of_fillers.n_ngrams < full_table.n_ngrams / 2


def test_rare_contexts_are_left_out():
    every, _ = count_fillers(lambda: TEXTS, least=1)
    some, counts = count_fillers(lambda: TEXTS, least=3)
    assert 0 < len(some) < len(every)
    assert np.isin(some, every).all() and (counts > 0).all()


def test_attributes_of_filler_counts(full_table):
    view, instances = make_instances()
    features = transform_checked(FillerCounts(counts=full_table), view, instances, It().groups[0])
    values, columns = features.batch.values, features.batch.columns
    assert values.shape == (len(instances), 2, 14 * 5 + 1)
    assert not values[:, 0].any() and (values[:, 1, -1] == 1).all()
    counts = filler_counts(full_table, view, instances)
    they = columns.in_groups([FILLERS[1]])
    np.testing.assert_allclose(values[:, 1][:, they], np.log1p(counts[:, :, 1]), rtol=1e-6)
    assert (features.found <= features.asked).all() and features.found.max() > 0
    assert columns.names[CONTEXTS.index((1, 2))] == "non-referential: . <it> . ."
    assert columns.names[-1] == "non-referential: bias" and len(set(columns.names)) == len(columns.names)


def test_unsuitable_tables_are_refused(tmp_path):
    view, instances = make_instances()
    plain = CountTable.open(build_table(tmp_path / "plain.counts", TEXTS, NormalisedWords()))
    with pytest.raises(UserError, match="gaps"):
        transform_checked(FillerCounts(counts=plain), view, instances, It().groups[0])
    words = CountTable.open(build_table(tmp_path / "words.counts", TEXTS, Words()))
    with pytest.raises(UserError, match="D110"):
        filler_counts(words, view, instances)


def test_only_the_word_it_is_decided():
    view = NormalisedWords()(["It's its own fault, isn't it? Items of IT itself."])
    instances = It().instances(view)
    spans = zip(view.starts[instances.positions], view.ends[instances.positions], strict=True)
    assert [view.texts[0][a:b] for a, b in spans] == ["It", "it", "IT"]
    assert (instances.observed == -1).all()
    with pytest.raises(UserError, match="D454"):
        It().instances(Words()(["It is late."]))


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
    "sentence",
    [
        "It was red.",
        "Please close it.",
        "He likes it a lot.",
        "The visit was raining on our plans.",
        "Its roof is clear that way.",
        "I cannot hold it.",
        "He told me of it as it happened.",
        "It clears up the question.",
        "It was warm enough.",
    ],
)
def test_patterns_that_do_not_match(sentence):
    assert not list(match_patterns(sentence))


def test_offsets_after_contractions():
    sentence = "I don't think we're ready, and he's sure it's true that she'll come."
    assert [start for _, start, _ in match_patterns(sentence, ["clause"])] == [sentence.index("it's")]


@given(st.text(st.sampled_from("it's rain ed don't \u2019,.was who that to"), max_size=60))
def test_patterns_on_any_sentence(sentence):
    for kind, start, _ in match_patterns(sentence):
        assert kind in LABELS and sentence[start : start + 2].lower() == "it"


@pytest.mark.parametrize(
    "sentence",
    [
        "It takes up the whole shelf.",
        "It takes coins only.",
        "It took him to the station.",
        "The path is steep, and it is hard to climb.",
        "Was it broken?",
        "Does it have a lid?",
        "Nobody knows what it means.",
        "She found it dry.",
        "It turned the corner.",
    ],
)
def test_referential_sentences_with_the_same_words(sentence):
    labels = {LABELS[kind] for kind, _, _ in match_patterns(sentence)}
    assert "non-referential" not in labels


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


def test_patterns_need_two_labels():
    with pytest.raises(UserError, match="D455"):
        transform_checked(ItPatterns(), *find_it("It was red."), Group("three", ("a", "b", "c")))


def frames(*texts):
    view = NormalisedWords()(texts)
    return frame_keys(view, It().instances(view))


def n_shared_frames(first, second):
    """Return how many features two sentences with one "it" each have in common."""
    a, b = frames(first, second)
    return len((set(a.tolist()) & set(b.tolist())) - {0})


def test_frames_skip_function_words():
    plain = "It rained."
    assert n_shared_frames(plain, "It had not really rained.") > n_shared_frames(
        plain, "It had not really started."
    )
    assert n_shared_frames("It is raining now.", "It had been raining.") > n_shared_frames(
        "It is raining now.", "It is red."
    )


def test_frames_have_classes_of_numbers_days_and_units():
    assert n_shared_frames("It is Tuesday.", "It is Friday.") > n_shared_frames(
        "It is Tuesday.", "It is mine."
    )
    same = "It has been three years since the fire."
    assert n_shared_frames(same, "It has been seven weeks since the party.") > n_shared_frames(
        same, "It has been painted."
    )


def test_frames_have_whole_words():
    assert n_shared_frames("It rains.", "It rains.") > n_shared_frames("It rains.", "It raids.")


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("it is Tuesday rained,.\n who that since"), max_size=40), max_size=5))
def test_frames_do_not_depend_on_the_batch(texts):
    together = frames(*texts)
    alone = [frames(text) for text in texts]
    assert np.array_equal(together, np.concatenate([frames(), *alone]))


def make_examples(*sentences, kind):
    return [PatternExample(text, text.lower().index("it"), kind, text) for text in sentences]


@pytest.fixture(scope="module")
def frame_model():
    clear = (f"It is {a} that the {b} is." for a in ("clear", "true") for b in "abcdefg")
    clauses = make_examples(*clear, kind="clause")
    weather = make_examples(
        *(f"It {a} in the {b}." for a in ("rained", "snowed") for b in "abcdefg"), kind="weather"
    )
    things = make_examples(
        *(f"It {a} in the {b}." for a in ("broke", "opened") for b in "abcdefg"), kind="thing"
    )
    return learn_frame_model([*weather, *clauses, *things], sources=["made"])


def test_frame_model_learns_from_patterns(frame_model):
    clause, rare = frame_model.log_odds(
        frames("It is clear that we are late.", "It had rained all night.", "It broke at once.")
    )
    assert clause[0] > 0 > clause[2]
    assert rare[1] > 0 > rare[0] and rare[2] < 0


def test_frame_model_round_trip(frame_model, tmp_path):
    frame_model.save(tmp_path / "habits")
    again = FrameModel.load(tmp_path / "habits")
    assert np.array_equal(again.keys, frame_model.keys) and np.array_equal(again.weights, frame_model.weights)
    assert again.biases == frame_model.biases and again.header["sources"] == ["made"]


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


def test_shipped_frame_model_knows_the_weather():
    view = NormalisedWords()(["It was raining.", "She put it on the table."])
    instances = It().instances(view)
    values = transform_checked(ItHabits(), view, instances, It.groups[0]).batch.values
    assert values[0, 1, 1] > 0 > values[1, 1, 1]  # by the set of rare kinds
    assert np.array_equal(values[:, 0], -values[:, 1])
    assert FRAME_MODEL.is_dir()


def decided_places(text):
    view = NormalisedWords()([text])
    positions = It().instances(view).positions
    return [text[start:end] for start, end in zip(view.starts[positions], view.ends[positions], strict=True)]


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


def test_next_words_round_trip(tmp_path):
    texts = ["It's red. It's red. It's red, and its roof is its roof, its roof."]
    counted = count_next_words(texts, sources=["made"])
    red, roof, other = counted.log_odds(hash_words(["red", "roof", "green"]))
    assert red > 0 > roof and other == 0
    counted.save(tmp_path / "words")
    again = NextWords.load(tmp_path / "words")
    assert np.array_equal(again.words, counted.words) and np.array_equal(again.odds, counted.odds)


def test_damaged_next_words(tmp_path):
    next_words().save(tmp_path)
    (tmp_path / apostrophes.FILE).write_bytes(b"nothing")
    with pytest.raises(UserError, match="D498"):
        NextWords.load(tmp_path)
    assert APOSTROPHES.is_dir()
