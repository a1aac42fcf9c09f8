"""The topic task: training, validation, explanation, its component, and options chosen on folds."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import spacy
from disambig_random_subspace import TopicTask
from model_configs import model_config
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from disambig.config import resolve, write_config
from disambig.errors import UserError
from disambig.evaluation import (
    assess_model,
    assessment_line,
    comparison as judging,
    cross_validate,
    curve_of_labelled,
    evaluate_labelled,
)
from disambig.features import Tfidf
from disambig.formats import Labelled
from disambig.models import annotate, card, load_model, save_model
from disambig.spacy.labellers import DocumentLabeller
from disambig.tasks import OwnCandidates
from disambig.text import Words
from disambig.training import is_significantly_better, label_instances, read_plan, run, train, train_labelled

SPORT = "ball goal team match coach player referee stadium league trainer".split()
COOKING = "bread flour oven butter soup pan recipe onion dough sugar".split()
WEATHER = "rain cloud storm wind snow frost thunder sunny forecast fog".split()
TOPICS = {"cooking": COOKING, "sport": SPORT, "weather": WEATHER}


def topic_documents(n=12):
    """Return `n` labelled documents per topic."""
    result = []
    for label, words in TOPICS.items():
        for i in range(n):
            first, second, third = (words[(i * step + step) % 10] for step in (1, 3, 7))
            text = f"We talked about the {first} today. The {second} was there, and a {third}! Number {i}."
            result.append(Labelled(text, 0, len(text), label, text, f"{label} {i}"))
    return result


def topic_config(**task):
    extractors = {"words": "disambig.Tfidf.v1"}
    return model_config(("random_subspace.Topic.v1", task), extractors, "random_subspace.SGD.v1")


LABELS = sorted(TOPICS)


@pytest.fixture(scope="module")
def model():
    config = topic_config(labels=LABELS)
    return train_labelled(resolve(config), topic_documents(), name="my/topic", config=config)


def decide(model, text):
    (decisions,) = annotate([text], [model])
    return [decisions.record(i, text) for i in range(len(decisions))]


def test_instances_are_documents_with_words():
    view = Words()(["  (A b. C!)  ", "...", "", "d"])
    result = TopicTask(labels=LABELS).instances(view)
    last = result.positions + result.lengths - 1
    assert view.document_indices(result.positions).tolist() == [0, 3]
    assert list(zip(view.starts[result.positions], view.ends[last], strict=True)) == [(2, 11), (0, 1)]
    assert (result.observed == -1).all()
    task = OwnCandidates(candidates=["bring", "take"])
    texts = ("Take it.", "one"), ("Take it or bring it.", "two")
    whole = [Labelled(text, 0, len(text), "take", where, where) for text, where in texts]
    marked = label_instances(task, Words(), whole)
    assert len(marked.labelled) == 1 and marked.problems[0][0] == "two"
    assert "'Take it or bring it.' has 2 places" in marked.problems[0][1]


@pytest.mark.parametrize("labels", [["a"], ["a", "a"], ["a", " "], ["a", "b", "a"]])
def test_invalid_labels(labels):
    with pytest.raises(UserError, match="D466"):
        TopicTask(labels=labels)
    with pytest.raises(UserError, match="D487"):
        TopicTask(labels=LABELS, name="no name")


def test_decisions(model):
    for label, words in TOPICS.items():
        (record,) = decide(model, f"The {words[0]}, a {words[1]} and zebras.")
        assert record["chosen"] == label and 1 / 3 < record["probability"] < 1
        assert not record["flagged"]
        assert (record["asked"], record["found"]) == (6, 5)  # no document had zebras
    (unknown,) = decide(model, "Zebras yawn.")
    assert unknown["found"] == 0 and unknown["asked"] == 2
    assert decide(model, "?!") == []
    (record,) = decide(model, "The ball. " * 100)
    assert record["end"] - record["start"] == 999
    assert record["observed"] == record["replacement"] == ("The ball. " * 100)[:200] + " ..."
    texts = [example.text for example in topic_documents()]
    (decisions,) = annotate(texts, [model])
    shares = model.candidate_probabilities(decisions).reshape(len(texts), -1)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert [LABELS[row.argmax()] for row in shares] == [example.label for example in topic_documents()]


def test_saved_models_need_no_scikit_learn(model, tmp_path):
    save_model(model, tmp_path / "topic")
    again = load_model(tmp_path / "topic")
    text = "Rain and wind over the stadium."
    assert decide(again, text) == decide(model, text)
    code = (
        "import sys; from disambig.models.storage import load; from disambig.models.annotation import annotate; "  # noqa: E501
        f"assert len(annotate([{text!r}], [load({str(tmp_path / 'topic')!r})])[0]) == 1; "
        "assert 'sklearn' not in sys.modules and 'spacy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_damaged_vocabulary(model, tmp_path):
    (extractor,) = model.extractors
    for key in ("hashes", "documents", "ends", "letters"):

        class Damaged(Tfidf):
            def state(self, key=key):
                arrays = dict(super().state())
                return arrays | {key: arrays[key][:-1]}

        damaged = replace(model, extractors=(Damaged(vocabulary=extractor.vocabulary),))
        with pytest.raises(UserError, match=r"D415.*tf-idf"):
            save_model(damaged, tmp_path / "topic")
    examples = label_instances(model.task, Words(), topic_documents()).examples
    other = Tfidf(kept=5).fit(examples.view, examples.instances, model.task.groups)
    with pytest.raises(UserError, match=r"D415.*weights for 15 columns"):
        save_model(replace(model, extractors=(other,)), tmp_path / "topic")


def test_labels_from_the_documents(tmp_path):
    config = topic_config()
    del config["baseline"]
    write_config({"model": {"name": "my/topic"}, **config}, tmp_path / "topic.cfg")
    plan = read_plan(tmp_path / "topic.cfg")
    assert plan.parts.task.groups == ()
    named = plan.with_learned_settings(topic_documents()[::-1])
    assert named.parts.task.groups[0].candidates == tuple(LABELS)
    assert named.config["task"]["labels"] == LABELS
    assert named.config["baseline"] == {"@disambig_learners": "disambig.NoPreference.v1"}
    assert "labels" not in plan.config["task"]
    with pytest.raises(UserError, match=r"D467.*12.*'sport'"):
        plan.with_learned_settings([e for e in topic_documents() if e.label == "sport"])
    with pytest.raises(UserError, match="D463"):
        run(tmp_path / "topic.cfg", text=[str(tmp_path)])


def test_documents_that_cannot_be_used():
    extra = [
        Labelled("!?", 0, 2, "sport", "e", "file 1"),
        Labelled("", 0, 0, "sport", "f", "file 2"),
        Labelled("  ", 0, 2, "sport", "g", "file 3"),
        Labelled("A new law.", 0, 10, "politics", "h", "file 4"),
        replace(topic_documents()[0], label="weather", where="file 5"),
        topic_documents()[1],  # again, and the same
    ]  # equal texts are kept, whatever their labels
    marked = label_instances(TopicTask(labels=LABELS), Words(), [*topic_documents(), *extra])
    assert len(marked.labelled) == len(topic_documents()) + 2 == 38
    first = topic_documents()[0].text
    assert [item.where for item in marked.labelled if item.text == first] == ["cooking 0", "file 5"]
    assert marked.n_documents == len(topic_documents())  # and never split
    assert marked.problems == [
        ("file 1", "the task topic decides nothing at '!?'"),
        ("file 2", "the task topic decides nothing at ''"),
        ("file 3", "the task topic decides nothing at white space"),
        ("file 4", "the label 'politics' is not one of 'cooking', 'sport', 'weather'"),
    ]
    parts = resolve(topic_config(labels=LABELS))
    notes = train_labelled(parts, [*topic_documents(), *extra], name="t").provenance["notes"]
    different = [note for note in notes if "labelled in different ways" in note]
    shown = "'cooking' (cooking 0) and 'weather' (file 5)"
    assert different == [f"1 place labelled in different ways; the first: {shown}"]


def test_notes_on_few_documents():
    weather = [e for e in topic_documents() if e.label == "weather"]
    few = [e for e in topic_documents() if e.label != "weather"] + weather[:2]
    learned = train_labelled(resolve(topic_config(labels=LABELS)), few, name="t")
    assert any("fewer examples than folds: 'weather' (2)" in note for note in learned.provenance["notes"])
    assert decide(learned, "The bread was in the oven.")[0]["chosen"] == "cooking"
    one_each = [topic_documents()[i] for i in (0, 12)]
    nothing = train_labelled(resolve(topic_config(labels=LABELS)), one_each, name="t")
    assert nothing.scorers == (None,)
    assert any("too few examples to learn from" in note for note in nothing.provenance["notes"])
    assert len(decide(nothing, "Bread.")) == 1  # the frequencies of the labels decide


def test_cross_validation_card_and_curve(model):
    parts = resolve(topic_config(labels=LABELS))
    result = cross_validate(parts, topic_documents(), folds=4)
    assert set(result["systems"]) == {"model", "majority"} and result["documents"] == 36
    ours, majority = (result["systems"][name]["topic"]["accuracy"] for name in ("model", "majority"))
    assert ours > majority
    test = assess_model(model, parts, labelled=topic_documents())
    assert "unsupervised" not in assessment_line(test) and "most frequent candidate" in assessment_line(test)
    text = card(replace(model, provenance={**model.provenance, "test": test}), "my_topic")
    assert "Assigns labels to whole documents. Task `topic`, any language" in text and "doc.cats" in text
    assert "unsupervised" not in text and "| topic | 36 |" in text
    curve = curve_of_labelled(parts, topic_documents(), sizes=[10, 20], draws=2)
    assert curve["baseline_is"] == "most frequent"
    assert [point["size"] for point in curve["points"]] == [10, 20]


TEXTS = ["The referee left the stadium.", "Bake the bread in the oven.", "Snow and frost, then fog."]


@pytest.fixture(scope="module")
def saved_models(tmp_path_factory):
    home = tmp_path_factory.mktemp("topic")
    for name, task in (("any", {}), ("german", {"language": "de", "name": "thema"})):
        config = topic_config(labels=LABELS, **task)
        model = train_labelled(resolve(config), topic_documents(), name="my/topic", config=config)
        save_model(model, home / name)
    return home


def make_pipeline(saved_models, language="en", factory="disambig_topic", **about):
    nlp = spacy.blank(language)
    nlp.add_pipe(factory, config={"model": str(saved_models / "any"), **about})
    return nlp


def best_label(doc):
    return max(doc.cats, key=doc.cats.get)


@pytest.mark.parametrize("language", ["en", "de", "ja", "xx"])
def test_probabilities_of_all_labels_in_any_language(saved_models, language):
    if language == "ja":
        pytest.importorskip("sudachipy")
    nlp = make_pipeline(saved_models, language)
    for text, label in zip(TEXTS, ("sport", "cooking", "weather"), strict=True):
        doc = nlp(text)
        assert set(doc.cats) == set(LABELS) and sum(doc.cats.values()) == pytest.approx(1)
        assert best_label(doc) == label and not doc.spans and not doc.user_data


def test_batches_processes_and_single_documents_agree(saved_models):
    nlp, other = make_pipeline(saved_models), make_pipeline(saved_models, factory="disambig")
    texts = TEXTS * 5 + ["", "?!"]
    alone = [nlp(text).cats for text in texts]
    for processes in (1, 2):
        for doc, cats in zip(nlp.pipe(texts, batch_size=4, n_process=processes), alone, strict=True):
            assert doc.cats == pytest.approx(cats)
    assert isinstance(other.get_pipe("disambig"), DocumentLabeller)  # the component for any model
    assert [other(text).cats for text in TEXTS] == alone[:3]


def test_other_cats_are_kept(saved_models):
    nlp = make_pipeline(saved_models)
    doc = nlp.make_doc("...")
    doc.cats = {"sport": 0.2, "polite": 0.9}
    assert nlp(doc).cats == {"sport": 0.2, "polite": 0.9}
    doc = nlp.make_doc(TEXTS[0])
    doc.cats = {"sport": 0.0, "polite": 0.9}
    assert nlp(doc).cats["polite"] == 0.9 and set(doc.cats) == {*LABELS, "polite"}
    assert doc.cats["sport"] > 0.9
    assert nlp(Doc(nlp.vocab)).cats == {}


def test_saved_pipelines(saved_models, tmp_path):
    nlp = make_pipeline(saved_models)
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    same = make_pipeline(saved_models).from_bytes(nlp.to_bytes())
    for text in TEXTS:
        assert again(text).cats == nlp(text).cats == same(text).cats
    assert "disambig" in "".join(again.meta["requirements"])
    (doc,) = DocBin(docs=[nlp(TEXTS[0])]).get_docs(nlp.vocab)
    assert doc.cats == pytest.approx(nlp(TEXTS[0]).cats)


def test_scores_are_those_of_textcat(saved_models):
    nlp = make_pipeline(saved_models)
    expected = ["sport", "cooking", "sport"]
    examples = [
        Example.from_dict(nlp.make_doc(text), {"cats": {label: float(label == right) for label in LABELS}})
        for text, right in zip(TEXTS, expected, strict=True)
    ]
    scores = nlp.evaluate(examples)
    assert scores["cats_micro_f"] == pytest.approx(2 / 3)
    assert scores["cats_score_desc"] == "macro F" and set(scores["cats_f_per_type"]) == set(LABELS)
    assert nlp.get_pipe_meta("disambig_topic").default_score_weights["cats_score"] == 1.0
    assert nlp.get_pipe_meta("disambig_topic").assigns == ["doc.cats"]


def test_unsuitable_models_are_refused(saved_models):
    nlp = spacy.blank("en")
    with pytest.raises(UserError, match=r"D480.*'mine'.*'disambig_topic'"):
        nlp.add_pipe("disambig_topic", name="mine")
    with pytest.raises(UserError, match=r"D504.*'disambig_en/it'"):
        nlp.add_pipe("disambig_topic", config={"model": "it"})
    with pytest.raises(UserError, match=r"D500.*'de'"):
        nlp.add_pipe("disambig_topic", config={"model": str(saved_models / "german")})
    with pytest.raises(UserError, match="D404"):
        nlp.add_pipe("disambig_topic", config={"model": "no such directory"})
    assert set(make_pipeline(saved_models, "de").pipe_names) == {"disambig_topic"}
    nlp = make_pipeline(saved_models, "de")
    nlp.add_pipe("disambig_topic", name="second", config={"model": str(saved_models / "german")})
    assert best_label(nlp(TEXTS[1])) == "cooking"


ANIMALS = "dog cat horse bird cow goat pig hen".split()
OPTIONS = {
    "words": {"@disambig_extractors": "disambig.Tfidf.v1"},
    "pairs": {"@disambig_extractors": "disambig.Tfidf.v1", "pairs": True},
}


def config_with_options():
    config = topic_config(labels=["after", "before"])
    config["extractors"] = {"terms": {"@disambig_extractors": "disambig.OneOf.v1", "options": OPTIONS}}
    return config


def ordered_documents(*, ordered, n=120):
    """Return texts whose label depends on the order of two words, or on words of its own."""
    rng, result = np.random.default_rng(0), []
    for i in range(n):
        label = ("after", "before")[i % 2]
        order = "early late" if label == "after" else "late early"
        words = ("late", "soon") if label == "after" else ("early", "now")
        notes = order if ordered else words[i % 4 > 1]
        rest = " ".join(rng.choice(ANIMALS, 4))
        text = f"{rest} {notes} {i}"
        result.append(Labelled(text, 0, len(text), label, f"{label} {i}", f"made, line {i}"))
    return result


def test_option_chosen_on_folds(tmp_path):
    for ordered, taken in ((True, "pairs"), (False, "words")):
        config = config_with_options()
        labelled = ordered_documents(ordered=ordered)
        model = train_labelled(resolve(config), labelled, name="t", config=config)
        chosen = model.provenance["chosen"]["terms"]
        assert chosen["taken"] == taken and set(chosen["accuracy"]) == {"words", "pairs"}
        assert (chosen["accuracy"]["words"] < 0.7) == ordered
        assert chosen["accuracy"]["pairs"] > 0.9
        assert model.extractors[0].pairs == ordered
        assert model.config["extractors"]["terms"] == OPTIONS[taken]
        start = f"[extractors.terms]: option {taken!r} with "
        assert any(note.startswith(start) for note in model.provenance["notes"])
        save_model(model, tmp_path / taken)
        texts = [example.text for example in labelled]
        (one,), (other,) = annotate(texts, [model]), annotate(texts, [load_model(tmp_path / taken)])
        assert one.scores.tolist() == other.scores.tolist()
        assert evaluate_labelled(model, labelled)["overall"]["accuracy"] > 0.9


def test_an_option_must_be_significantly_better_than_the_first():
    hits = np.zeros(100, bool)
    hits[:50] = True
    one_more, other_ones = hits.copy(), hits[::-1].copy()
    one_more[50] = True
    assert not any(is_significantly_better(other, hits) for other in (one_more, other_ones, hits))
    one_more[51:60] = True
    assert is_significantly_better(one_more, hits)


def test_the_first_option_without_folds():
    options = {
        name: {"@disambig_extractors": "disambig.Tfidf.v1", "around": around}
        for name, around in (("near", 2), ("far", 9))
    }
    config = model_config(
        ("disambig.Candidates.v1", {"candidates": ["bring", "take"]}),
        {"around": ("disambig.OneOf.v1", {"options": options})},
        "random_subspace.SGD.v1",
    )
    texts = [
        f"They {word} it {place} number {i}."
        for i in range(40)
        for word, place in (("bring", "here"), ("take", "away"))
    ]
    model = train(resolve(config), {"train": texts[:60], "dev": texts[60:]}, name="t", config=config)
    assert model.extractors[0].around == 2 and model.config["extractors"]["around"]["around"] == 2
    assert model.provenance["chosen"] == {"around": {"taken": "near", "accuracy": {}}}
    note = "option 'near', the first one; choosing the best one requires labelled examples"
    assert f"[extractors.around]: {note}" in model.provenance["notes"]


def test_shipped_config_on_short_texts():
    labelled = ordered_documents(ordered=True)
    plan = read_plan("topic").with_learned_settings(labelled)
    assert list(plan.parts.extractors["words"].options) == ["pairs", "signs", "words"]
    model = train_labelled(plan.parts, labelled, name="t", config=plan.config)
    assert model.provenance["chosen"]["words"]["taken"] == "pairs"
    report = model.provenance["groups"]["topic"]
    assert f"{report['alpha']:g}" in report["accuracy"]


@pytest.mark.parametrize(
    ("enough", "decided", "n"), [(None, 4, 120), (30, 1, 30), (31, 2, 60), (500, 4, 120)]
)
def test_enough_examples_end_cross_validation(enough, decided, n):
    parts, labelled = resolve(config_with_options()), ordered_documents(ordered=True)
    result = cross_validate(parts, labelled, folds=4, enough=enough)
    assert (result["folds"], result["decided"], result["n"], result["documents"]) == (4, decided, n, n)
    assert {groups["topic"]["n"] for groups in result["systems"].values()} == {n}
    assert result["overall"]["model"]["accuracy"] > 0.9
    assert enough or result["systems"]["model"]["topic"]["accuracy"] > 0.9


def test_card_of_some_tested_folds(monkeypatch):
    labelled = ordered_documents(ordered=True)
    parts = resolve(config_with_options())
    model = train_labelled(parts, labelled, name="t")
    how = "5-fold cross-validation over documents"
    assert judging.assess_model(model, parts, labelled=labelled)["how"] == how
    monkeypatch.setattr(judging, "ENOUGH", 40)
    test = judging.assess_model(model, parts, labelled=labelled)
    assert test["how"] == f"{how}, 2 of them tested" and test["n"] == 48
