"""The pronoun "it": normalised words, fillers, frames, "its" for "it's"; training from labelled examples."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

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
from model_configs import model_config

from disambig.config import resolve
from disambig.counts import CountTable, build_table, write_table
from disambig.data import Group
from disambig.decision import Labels
from disambig.errors import UserError
from disambig.evaluation import cross_validate, evaluate, evaluate_labelled
from disambig.features import CONTEXTS, transform_checked
from disambig.formats import Labelled
from disambig.models import annotate, load_model, save_model
from disambig.text import Words, hash_word, hash_words
from disambig.training import label_instances, train_labelled


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


SOME_WORDS = st.sampled_from("it's don't its they We'll 12 a. B , \n\n caf\u00e9\u2019s".split(" "))
ANY_TEXTS = st.lists(st.text() | st.lists(SOME_WORDS).map(" ".join))


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


def write_fillers(path, texts):
    name = NormalisedWords.name
    write_table(path, [count_fillers(lambda: texts, minimum=1)], tokenisations=[name], gaps=[name])


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return a table of all n-grams, and a small one of the fillers that count."""
    home = tmp_path_factory.mktemp("counts")
    write_fillers(home / "small.counts", TEXTS)
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
    every, _ = count_fillers(lambda: TEXTS, minimum=1)
    some, counts = count_fillers(lambda: TEXTS, minimum=3)
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
    assert (features.n_hits <= features.n_queries).all() and features.n_hits.max() > 0
    assert columns.names[CONTEXTS.index((1, 2))] == "non-referential: . <it> . ."
    assert columns.names[-1] == "non-referential: bias" and len(set(columns.names)) == len(columns.names)


def test_only_the_word_it_is_decided():
    assert decided_places("It's its own fault, isn't it? Items of IT itself.") == ["It", "it", "IT"]
    assert (find_it(*TEXTS)[1].observed == -1).all()
    with pytest.raises(UserError, match="D454"):
        It().instances(Words()(["It is late."]))
    sentence = "I don't think we're ready, and he's sure it's true that she'll come."
    assert [start for _, start, _ in match_patterns(sentence, ["clause"])] == [sentence.index("it's")]


MATCHING = """
weather: In the evening it had rained again. | When we woke, it was getting dark. | It is beginning to snow.
weather: It looks like rain. | It has cleared up. | It thawed overnight. | It stays dark until nine.
weather: It was mild enough to sit by the pond. | Was it warm in the hall? | Has it been snowing again?
weather: It hardly ever rains in March. | Last night it was awfully cold.
time: It was the last of April. | It is her birthday. | It was a tiring ride back.
time: It may be weeks before they reply. | It's Friday, and nobody works.
time: By then it had been two years since the fire. | It took the plumber a whole week to come.
clause: It was lovely seeing you again. | It was rude of him to laugh. | It would be safer if everyone waited.
clause: It\u2019s clear that the plan has failed. | They found it hard to understand the map.
clause: It doesn't matter what they say. | Isn't it sad that he left? | It's sad he left.
clause: It takes patience to train a dog. | How long did it take to paint the boat? | I gather it he was late.
clause: He hates it when we are late. | They know what it means to be hungry.
clause: It turned out, nobody had locked the door.
idiom: They had to rough it. | As it turned out, nobody came. | Hold it, you two!
idiom: He trained for a year and never made it. | We should call it a day.
idiom: If it hadn't been for you, we would have lost.
cleft: It was my uncle who sold the farm. | It was only then that he noticed the smoke.
cleft: Was it your uncle who sold the farm?
thing: She put it on the shelf. | It contains two kinds of oil.
"""
"""Kinds of patterns, and sentences that match one of them."""


@pytest.mark.parametrize("line", MATCHING.strip().splitlines())
def test_patterns_that_match(line):
    kind, sentences = line.split(": ", 1)
    for sentence in sentences.split(" | "):
        result = list(match_patterns(sentence))
        kinds = {name for name, _, _ in result}
        assert kind in kinds and {LABELS[name] for name in kinds} == {LABELS[kind]}, sentence
        assert {sentence[start : start + 2].lower() for _, start, _ in result} == {"it"}


OTHERWISE = """
nothing: It was red. | Please close it. | He likes it a lot. | The visit was raining on our plans.
nothing: Its roof is clear that way. | I cannot hold it. | He told me of it as it happened.
nothing: It clears up the question. | It was warm enough.
things: It takes up the whole shelf. | It takes coins only. | It took him to the station.
things: The path is steep, and it is hard to climb. | Was it broken? | Does it have a lid?
things: Nobody knows what it means. | She found it dry. | It turned the corner.
"""
"""Sentences with the same words, which match no pattern, or one of things."""


@pytest.mark.parametrize("line", OTHERWISE.strip().splitlines())
def test_referential_sentences_with_the_same_words(line):
    may, sentences = line.split(": ", 1)
    for sentence in sentences.split(" | "):
        labels = {LABELS[kind] for kind, _, _ in match_patterns(sentence)}
        assert labels <= ({"referential"} if may == "things" else set()), sentence


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
    before = "We left it open. It was raining, and it's clear that it got wet."
    after = "Then he put it on the shelf. Towards noon it stopped raining."
    matched = matched_kinds(*find_it(before, "", after))
    kinds = [[kind for kind, holds in zip(KINDS, row, strict=True) if holds] for row in matched]
    assert kinds == [[], ["weather"], ["clause"], [], ["thing"], ["weather"]]


def test_attributes_of_patterns_are_antisymmetric():
    features = transform_checked(ItPatterns(), *find_it("It was raining.", "It was red."), It.groups[0])
    values = features.batch.values
    assert values.shape == (2, 2, len(KINDS))
    assert values[0, 1, KINDS.index("weather")] == SCALE and not values[1].any()
    assert np.array_equal(values[:, 0], -values[:, 1])
    assert not features.n_hits.any() and not features.n_queries.any()
    nothing = transform_checked(ItPatterns(), *find_it("Nothing of the kind."), It.groups[0])
    assert nothing.batch.values.shape == (0, 2, len(KINDS))
    with pytest.raises(UserError, match="D455"):  # it needs two labels
        transform_checked(ItPatterns(), *find_it("It was red."), Group("three", ("a", "b", "c")))


def frames(*texts):
    return frame_keys(*find_it(*texts))


@pytest.mark.parametrize(
    "sentences",
    [
        "It rained. | It had not really rained. | It had not really started.",  # no function words
        "It is raining now. | It had been raining. | It is red.",
        "It is Tuesday. | It is Friday. | It is mine.",  # classes of days, numbers and units
        "It has been three years since May. | It has been seven weeks since June. | It has been painted.",
        "It rains. | It rains. | It raids.",  # whole words
    ],
)
def test_shared_frames(sentences):
    """Sentences that mean nearly the same have more features in common."""
    its_frames, *others = ({*frames(text).ravel().tolist()} - {0} for text in sentences.split(" | "))
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
    texts = "It is clear that we are late.", "It had rained all night.", "It broke at once."
    clause, rare = frame_model.log_odds(frames(*texts))
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


ADJECTIVES = "important good hard easy nice late cold true wise fair".split()
VERBS = "ate broke lost sold won made took kept found used".split()
REFERENTIAL, NON_REFERENTIAL = "referential", "non-referential"


def label_examples(n=10):
    result = []
    for i in range(n):
        first = f"It is {ADJECTIVES[i]} to know that. Case {i}."
        second = f"Then it {VERBS[i]} the bread. Case {i}."
        result.append(Labelled(first, 0, 2, NON_REFERENTIAL, first, f"line {2 * i}"))
        result.append(Labelled(second, 5, 7, REFERENTIAL, second, f"line {2 * i + 1}"))
    return result


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    texts = [e.text for e in label_examples()] + ["They ate the bread. They sold the bread."]
    path = tmp_path_factory.mktemp("counts") / "it.counts"
    write_fillers(path, texts)
    counts = ("variance_svm.FillerCounts.v1", {"counts": str(path)})
    return model_config(
        "variance_svm.It.v1",
        {"counts": counts, "words": "disambig.SentenceWords.v1"},
        ("variance_svm.VarianceSVM.v1", {"variance": [["it"], ["they"]], "C": 1e-3}),
        ("variance_svm.SumLM.v1", {"patterns": ["it"], "minus": ["they"]}),
        NormalisedWords.name,
    )


def train_it(config, examples):
    return train_labelled(resolve(config), examples, name="it", config=config)


@pytest.fixture(scope="module")
def model(config):
    return train_it(config, label_examples())


def decide(model, text):
    (decisions,) = annotate([text], [model])
    return [decisions.record(i, text) for i in range(len(decisions))]


@pytest.mark.parametrize("rows", [[0, 3, 4, 11, 12], [7], [], list(range(20))])
def test_compacted_examples_equal_separately_labelled_ones(config, rows):
    parts, examples = resolve(config), label_examples()
    every = [  # two places of a text, and two texts of a document
        replace(e, text=pair, start=e.start + shift, end=e.end + shift, document=str(i // 4))
        for i, e in enumerate(examples)
        for pair in [f"{examples[i // 2 * 2].text} {examples[i // 2 * 2 + 1].text}"]
        for shift in [pair.index(e.text)]
    ]
    marked = label_instances(parts["task"], parts["tokenisation"], every)
    alone = marked.compacted(np.array(rows, np.int64))
    if not rows:
        assert len(alone.examples.view) == len(alone.documents) == alone.n_documents == 0
        return
    again = label_instances(parts["task"], parts["tokenisation"], [marked.labelled[i] for i in rows])
    assert alone.labelled == again.labelled
    assert alone.documents.tolist() == again.documents.tolist()
    assert alone.examples.n_words == again.examples.n_words
    assert alone.examples.view.texts == again.examples.view.texts
    for name in ("positions", "lengths", "groups", "observed"):
        mine, other = getattr(alone.examples.instances, name), getattr(again.examples.instances, name)
        assert mine.dtype == other.dtype and mine.tolist() == other.tolist()


def test_labels_are_matched_to_instances():
    text = "It's late. It ate it."
    labelled = [
        Labelled(text, 0, 4, NON_REFERENTIAL, "a", "line 1"),  # the whole word that the author sees
        Labelled(text, 18, 20, REFERENTIAL, "a", "line 2"),
        Labelled(text, 5, 9, REFERENTIAL, "a", "line 3"),
        Labelled(text, 11, 13, "neither", "b", "line 4"),
    ]
    marked = label_instances(It(), NormalisedWords(), labelled)
    view, result = marked.examples.view, marked.examples.instances
    assert view.starts[result.positions].tolist() == [0, 18]
    assert result.observed.tolist() == [1, 0]
    assert [e.where for e in marked.labelled] == ["line 1", "line 2"]
    assert marked.documents.tolist() == [0, 0] and marked.n_documents == 1
    assert ("line 3", "the task it decides nothing at 'late'") in marked.problems
    unknown = "the label 'neither' is not one of 'referential', 'non-referential'"
    assert ("line 4", unknown) in marked.problems
    with pytest.raises(UserError, match=r"D462.*line 0.*'is'"):
        label_instances(It(), NormalisedWords(), [replace(label_examples()[0], start=3, end=5)])


def test_folds_keep_documents_together(config):
    labelled = [replace(e, document=f"d{i % 7}") for i, e in enumerate(label_examples())]
    marked = label_instances(It(), NormalisedWords(), labelled)
    folds = marked.folds(3)
    for document in range(7):
        assert len(set(folds[marked.documents == document])) == 1
    sizes = np.bincount([int(folds[marked.documents == d][0]) for d in range(7)])
    assert sizes.tolist() == [3, 2, 2]
    for n in (1, 21):
        with pytest.raises(UserError, match="D464"):
            cross_validate(resolve(config), label_examples(), folds=n)


def test_models_of_labels_decide_and_are_saved(model, tmp_path):
    text = 'It was good to see. "It broke the cup."'
    first, second = decide(model, text)
    assert (first["chosen"], second["chosen"]) == (NON_REFERENTIAL, REFERENTIAL)
    assert second["observed"] == second["replacement"] == "It"  # quotes are left alone by corrections only
    for record in (first, second):
        assert not record["flagged"] and 0 < record["probability"] <= 1 and record["margin"] >= 0
    assert not annotate([text], [model], flags_per_1000=1000)[0].flagged.any()
    damaged = replace(model, judge=Labels(np.ones(2), np.zeros((1, 2)), np.zeros((1, 2))))
    with pytest.raises(UserError, match=r"D415.*calibration of labels"):
        save_model(damaged, tmp_path / "it")
    save_model(model, tmp_path / "it")
    again = load_model(tmp_path / "it")
    text = "It is wise to wait. It took the bread."
    assert decide(again, text) == decide(model, text)
    assert again.provenance["notes"] == model.provenance["notes"]


def test_notes_on_few_examples(model, config):
    (first, *rest) = (note for note in model.provenance["notes"] if "counts it.counts" not in note)
    assert "20 labelled examples are few" in first
    assert "95 % interval" in rest[-1] and "calibration was fitted to" in rest[-1]
    notes = train_it(config, label_examples(5)).provenance["notes"]
    assert any("10 labelled examples" in note and "more examples are needed" in note for note in notes)
    one = train_it(config, label_examples(1))
    assert one.scorers == (None,)  # nothing to learn from: the baseline decides
    assert len(decide(one, "It is late.")) == 1
    two = train_it(config, [replace(e, document=e.label) for e in label_examples()])
    assert two.scorers == (None,)
    assert "it: too few documents to learn from; add more of each label" in two.provenance["notes"]


def test_cross_validation(config):
    examples = label_examples()
    result = cross_validate(resolve(config), examples, folds=3)
    systems = result["systems"]
    assert result["n"] == 20 and result["documents"] == 20 and result["folds"] == 3
    assert systems["majority"]["it"]["accuracy"] <= 0.5
    assert systems["model"]["it"]["accuracy"] > 0.8 and systems["model"]["it"]["auc"] > 0.7
    labels = np.random.default_rng(1).permutation([e.label for e in examples])
    shuffled = [replace(e, label=label) for e, label in zip(examples, labels, strict=True)]
    chance = cross_validate(resolve(config), shuffled, folds=2)["systems"]["model"]["it"]
    assert chance["accuracy"] < 0.8  # labels that mean nothing cannot be foretold


def test_models_of_labels_are_evaluated_on_labels(model, config):
    result = evaluate_labelled(model, label_examples())
    at = result["groups"]["it"]
    assert at["n"] == 20 and at["accuracy"] > 0.9 and at["candidates"][NON_REFERENTIAL]["f1"] > 0.9
    with pytest.raises(UserError, match="D463"):
        evaluate(model, ["It is late."])
    again = train_it(config, label_examples()[::-1])
    np.testing.assert_allclose(again.scorers[0].weights, model.scorers[0].weights)
