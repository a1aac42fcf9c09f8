"""The topic task from labelled documents to a saved model: finding, learning, validating, explaining."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from disambig_random_subspace import TopicTask
from topic_documents import TOPICS, config, documents

from disambig.config import resolve, write_config
from disambig.errors import UserError
from disambig.evaluation import (
    assess_model,
    assessment_line,
    cross_validate,
    curve_of_labelled,
    evaluate_labelled,
)
from disambig.explain import explain_decision
from disambig.features import Tfidf
from disambig.formats import Labelled
from disambig.models import annotate, card, load_model, save_model
from disambig.testing import check_extractor, check_task
from disambig.text import Words
from disambig.training import label_instances, read_plan, run, train_labelled

LABELS = sorted(TOPICS)
TEXTS = ["The match. It was late!", "!!!", "Bake the bread.", "", " \n"]


def checks():
    for task in (TopicTask(labels=LABELS), TopicTask(labels=("a", "b"), name="part", language="de")):
        yield from check_task(task, TEXTS)
    for extractor in (Tfidf(), Tfidf(min_documents=2, sublinear_tf=True), Tfidf(kept=3), Tfidf(bits=5)):
        yield from check_extractor(extractor, TopicTask(labels=LABELS), [*TEXTS, "The late match."])


@pytest.mark.parametrize("check", list(checks()), ids=str)
def test_contract(check):
    check()


@pytest.fixture(scope="module")
def model():
    said = config(labels=LABELS)
    return train_labelled(resolve(said), documents(), name="my/topic", config=said)


def decided(model, text):
    (decisions,) = annotate([text], [model])
    return [decisions.record(i, text) for i in range(len(decisions))]


def test_a_document_with_words_is_one_instance_from_its_first_token_to_its_last():
    view = Words()(["  (A b. C!)  ", "...", "", "d"])
    found = TopicTask(labels=LABELS).instances(view)
    last = found.positions + found.lengths - 1
    assert view.document_indices(found.positions).tolist() == [0, 3]
    assert list(zip(view.starts[found.positions], view.ends[last], strict=True)) == [(2, 11), (0, 1)]
    assert (found.observed == -1).all()


@pytest.mark.parametrize("labels", [["a"], ["a", "a"], ["a", " "], ["a", "b", "a"]])
def test_labels_that_make_no_sense_are_refused(labels):
    with pytest.raises(UserError, match="D466"):
        TopicTask(labels=labels)
    with pytest.raises(UserError, match="D487"):
        TopicTask(labels=LABELS, name="no name")


def test_what_was_learned_decides(model):
    for label, words in TOPICS.items():
        (record,) = decided(model, f"The {words[0]}, a {words[1]} and zebras.")
        assert record["chosen"] == label and 1 / 3 < record["probability"] < 1
        assert not record["flagged"]
        assert (record["asked"], record["found"]) == (6, 5)  # no document had zebras
    (unknown,) = decided(model, "Zebras yawn.")
    assert unknown["found"] == 0 and unknown["asked"] == 2
    assert decided(model, "?!") == []


def test_long_documents_are_not_repeated_in_their_record(model):
    (record,) = decided(model, "The ball. " * 100)
    assert record["end"] - record["start"] == 999
    assert record["observed"] == record["replacement"] == ("The ball. " * 100)[:200] + " ..."


def test_the_probabilities_of_the_labels_sum_to_one(model):
    texts = [example.text for example in documents()]
    (decisions,) = annotate(texts, [model])
    shares = model.candidate_probabilities(decisions).reshape(len(texts), -1)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert [LABELS[row.argmax()] for row in shares] == [example.label for example in documents()]


def test_the_reasons_add_up_and_are_words(model):
    text = "The referee stopped the match."
    view = Words()([text])
    reasons = explain_decision(model, view, 0)
    (decisions,) = annotate([text], [model])
    for label, score in decisions.record(0, text)["candidates"]:
        own = [reason for reason in reasons if reason.candidate == label]
        assert sum(reason.contribution for reason in own) == pytest.approx(score, abs=1e-3)
        assert {reason.evidence for reason in own} == {"the", "referee", "match", "intercept"}
    heaviest = max((r for r in reasons if r.candidate == "sport"), key=lambda r: r.contribution)
    assert heaviest.evidence in ("referee", "match") and heaviest.count is None


def test_the_saved_model_decides_the_same_without_scikit_learn(model, tmp_path):
    save_model(model, tmp_path / "topic")
    again = load_model(tmp_path / "topic")
    text = "Rain and wind over the stadium."
    assert decided(again, text) == decided(model, text)
    code = (
        "import sys; from disambig.models.storage import load; from disambig.models.annotation import annotate; "  # noqa: E501
        f"assert len(annotate([{text!r}], [load({str(tmp_path / 'topic')!r})])[0]) == 1; "
        "assert 'sklearn' not in sys.modules and 'spacy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("key", ["hashes", "documents", "ends", "letters"])
def test_a_damaged_vocabulary_is_one_line(model, tmp_path, key):
    class Damaged(Tfidf):
        def state(self):
            arrays = dict(super().state())
            return arrays | {key: arrays[key][:-1]}

    (extractor,) = model.extractors
    damaged = replace(model, extractors=(Damaged(known=extractor.known),))
    with pytest.raises(UserError, match=r"D415.*tf-idf"):
        save_model(damaged, tmp_path / "topic")


def test_weights_of_another_vocabulary_are_refused(model, tmp_path):
    examples = label_instances(model.task, Words(), documents()).examples
    other = Tfidf(kept=5).fit(examples.view, examples.instances, model.task.groups)
    with pytest.raises(UserError, match=r"D415.*weights for 15 columns"):
        save_model(replace(model, extractors=(other,)), tmp_path / "topic")


def test_labels_come_from_the_documents_where_the_config_leaves_them_open(tmp_path):
    said = config()
    del said["baseline"]
    write_config({"model": {"name": "my/topic"}, **said}, tmp_path / "topic.cfg")
    plan = read_plan(tmp_path / "topic.cfg")
    assert plan.parts["task"].groups == ()
    named = plan.with_learned_settings(documents()[::-1])
    assert named.parts["task"].groups[0].candidates == tuple(LABELS)
    assert named.config["task"]["labels"] == LABELS
    assert named.config["baseline"] == {"@disambig_learners": "disambig.NoPreference.v1"}
    assert "labels" not in plan.config["task"]
    with pytest.raises(UserError, match=r"D467.*12.*'sport'"):
        plan.with_learned_settings([e for e in documents() if e.label == "sport"])
    with pytest.raises(UserError, match="D463"):
        run(tmp_path / "topic.cfg", text=[str(tmp_path)])


def test_what_cannot_be_used_is_said():
    extra = [
        Labelled("!?", 0, 2, "sport", "e", "file 1"),
        Labelled("", 0, 0, "sport", "f", "file 2"),
        Labelled("  ", 0, 2, "sport", "g", "file 3"),
        Labelled("A new law.", 0, 10, "politics", "h", "file 4"),
        replace(documents()[0], label="weather", where="file 5"),
        documents()[1],  # again, and the same
    ]  # equal texts are kept, whatever their labels
    marked = label_instances(TopicTask(labels=LABELS), Words(), [*documents(), *extra])
    assert len(marked.labelled) == len(documents()) + 2 == 38
    assert [each.where for each in marked.labelled if each.text == documents()[0].text] == [
        "cooking 0",
        "file 5",
    ]
    assert marked.n_documents == len(documents())  # and never split
    assert marked.problems == [
        "file 1: the task topic decides nothing at '!?'",
        "file 2: the task topic decides nothing at ''",
        "file 3: the task topic decides nothing at white space",
        "file 4: the label 'politics' is not one of 'cooking', 'sport', 'weather'",
    ]


def test_a_whole_text_with_several_places_is_no_place():
    from disambig.tasks import OwnCandidates

    task = OwnCandidates(candidates=["bring", "take"])
    text = "Take it or bring it."
    marked = label_instances(
        task,
        Words(),
        [Labelled("Take it.", 0, 8, "take", "a", "one"), Labelled(text, 0, 20, "take", "b", "two")],
    )
    assert len(marked.labelled) == 1 and "two: 'Take it or bring it.' has 2 places" in marked.problems[0]


@pytest.mark.parametrize("learner", ["Perceptron", "SGD", "PassiveAggressive", "ConfidenceWeighted"])
def test_any_learner_takes_the_documents(learner):
    said = config(labels=LABELS)
    said["learner"] = {"@disambig_learners": f"random_subspace.{learner}.v1"}
    learned = train_labelled(resolve(said), documents(), name="t", config=said)
    assert evaluate_labelled(learned, documents())["groups"]["topic"]["accuracy"] > 0.95


def test_few_documents_and_rare_labels_train_and_are_noted():
    few = [e for e in documents() if e.label != "weather"] + [e for e in documents() if e.label == "weather"][
        :2
    ]
    learned = train_labelled(resolve(config(labels=LABELS)), few, name="t")
    assert any("fewer examples than folds: 'weather' (2)" in note for note in learned.provenance["notes"])
    assert decided(learned, "The bread was in the oven.")[0]["chosen"] == "cooking"
    one_each = [documents()[i] for i in (0, 12)]
    nothing = train_labelled(resolve(config(labels=LABELS)), one_each, name="t")
    assert nothing.scorers == (None,)
    assert any("too few examples to learn from" in note for note in nothing.provenance["notes"])
    assert len(decided(nothing, "Bread.")) == 1  # the frequencies of the labels decide


def test_cross_validation_card_and_curve_compare_with_the_majority_alone(model):
    parts = resolve(config(labels=LABELS))
    found = cross_validate(parts, documents(), folds=4)
    assert set(found["systems"]) == {"model", "majority"} and found["documents"] == 36
    assert found["systems"]["model"]["topic"]["accuracy"] > found["systems"]["majority"]["topic"]["accuracy"]
    test = assess_model(model, parts, labelled=documents())
    assert "unsupervised" not in assessment_line(test) and "most frequent candidate" in assessment_line(test)
    text = card(replace(model, provenance={**model.provenance, "test": test}), "my_topic")
    assert "Assigns labels to whole documents. Task `topic`, any language" in text and "doc.cats" in text
    assert "unsupervised" not in text and "| topic | 36 |" in text
    curve = curve_of_labelled(parts, documents(), sizes=[10, 20], draws=2)
    assert curve["baseline_is"] == "most frequent"
    assert [point["size"] for point in curve["points"]] == [10, 20]


def test_labels_that_mean_nothing_cannot_be_foretold():
    rng = np.random.default_rng(2)
    labels = rng.permutation([example.label for example in documents()])
    shuffled = [replace(e, label=str(label)) for e, label in zip(documents(), labels, strict=True)]
    found = cross_validate(resolve(config(labels=LABELS)), shuffled, folds=4)
    assert found["systems"]["model"]["topic"]["accuracy"] < 0.6


def test_the_doctor_counts_words_and_no_n_grams(model):
    from disambig.doctor import check_sample

    coverage, speed = check_sample([model], None)
    assert (coverage.status, speed.status) == ("ok", "ok")
    assert (
        "1 decision, " in coverage.what and "words found (" in coverage.what
    )  # few: another field, or language


def test_a_docbin_holds_the_document_as_one_span(model, tmp_path):
    import spacy
    from spacy.tokens import DocBin

    from disambig.formats import AnnotatedDocument, Document, SpacyFormat

    text = "The match. It was late!"
    result = AnnotatedDocument(Document("a", text, "a"), tuple(annotate([text], [model])))
    data = SpacyFormat(language=model.language).encode([result])
    (doc,) = DocBin().from_bytes(data).get_docs(spacy.blank("xx").vocab)
    assert [(span.text, span.label_) for span in doc.spans["topic"]] == [(text, "sport")]
