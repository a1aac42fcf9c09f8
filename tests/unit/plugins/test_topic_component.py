"""The component `disambig_topic`: probabilities in ``doc.cats``, in any pipeline, saved and read again."""

from __future__ import annotations

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from topic_documents import TOPICS, config, documents

from disambig.config import resolve
from disambig.errors import UserError
from disambig.models import save_model
from disambig.spacy.labellers import DocumentLabeller
from disambig.training import train_labelled

LABELS = sorted(TOPICS)
TEXTS = ["The referee left the stadium.", "Bake the bread in the oven.", "Snow and frost, then fog."]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    home = tmp_path_factory.mktemp("topic")
    for name, task in (("any", {}), ("german", {"language": "de", "name": "thema"})):
        said = config(labels=LABELS, **task)
        save_model(train_labelled(resolve(said), documents(), name="my/topic", config=said), home / name)
    return home


def pipeline(saved, language="en", factory="disambig_topic", **about):
    nlp = spacy.blank(language)
    nlp.add_pipe(factory, config={"model": str(saved / "any"), **about})
    return nlp


def best(doc):
    return max(doc.cats, key=doc.cats.get)


@pytest.mark.parametrize("language", ["en", "de", "ja", "xx"])
def test_probabilities_of_all_labels_in_any_language(saved, language):
    if language == "ja":
        pytest.importorskip("sudachipy")
    nlp = pipeline(saved, language)
    for text, label in zip(TEXTS, ("sport", "cooking", "weather"), strict=True):
        doc = nlp(text)
        assert set(doc.cats) == set(LABELS) and sum(doc.cats.values()) == pytest.approx(1)
        assert best(doc) == label and not doc.spans and not doc.user_data


def test_the_component_for_any_model_does_the_same(saved):
    nlp, other = pipeline(saved), pipeline(saved, factory="disambig")
    assert isinstance(other.get_pipe("disambig"), DocumentLabeller)
    assert [nlp(text).cats for text in TEXTS] == [other(text).cats for text in TEXTS]


def test_batches_processes_and_single_documents_agree(saved):
    nlp = pipeline(saved)
    texts = TEXTS * 5 + ["", "?!"]
    alone = [nlp(text).cats for text in texts]
    for processes in (1, 2):
        for doc, cats in zip(nlp.pipe(texts, batch_size=4, n_process=processes), alone, strict=True):
            assert doc.cats == pytest.approx(cats)


def test_without_words_and_of_other_components_the_cats_stay(saved):
    nlp = pipeline(saved)
    doc = nlp.make_doc("...")
    doc.cats = {"sport": 0.2, "polite": 0.9}
    assert nlp(doc).cats == {"sport": 0.2, "polite": 0.9}
    doc = nlp.make_doc(TEXTS[0])
    doc.cats = {"sport": 0.0, "polite": 0.9}
    assert nlp(doc).cats["polite"] == 0.9 and set(doc.cats) == {*LABELS, "polite"}
    assert doc.cats["sport"] > 0.9
    assert nlp(Doc(nlp.vocab)).cats == {}


def test_it_is_saved_with_its_pipeline_and_cats_survive_a_docbin(saved, tmp_path):
    nlp = pipeline(saved)
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    same = pipeline(saved).from_bytes(nlp.to_bytes())
    for text in TEXTS:
        assert again(text).cats == nlp(text).cats == same(text).cats
    assert "disambig" in "".join(again.meta["requirements"])
    (doc,) = DocBin(docs=[nlp(TEXTS[0])]).get_docs(nlp.vocab)
    assert doc.cats == pytest.approx(nlp(TEXTS[0]).cats)


def test_the_score_is_that_of_spacys_own_textcat(saved):
    nlp = pipeline(saved)
    wanted = ["sport", "cooking", "sport"]
    examples = [
        Example.from_dict(nlp.make_doc(text), {"cats": {label: float(label == right) for label in LABELS}})
        for text, right in zip(TEXTS, wanted, strict=True)
    ]
    scores = nlp.evaluate(examples)
    assert scores["cats_micro_f"] == pytest.approx(2 / 3)
    assert scores["cats_score_desc"] == "macro F" and set(scores["cats_f_per_type"]) == set(LABELS)
    assert nlp.get_pipe_meta("disambig_topic").default_score_weights["cats_score"] == 1.0
    assert nlp.get_pipe_meta("disambig_topic").assigns == ["doc.cats"]


def test_one_bad_document_does_not_lose_its_batch(saved, monkeypatch):
    nlp = pipeline(saved)
    pipe = nlp.get_pipe("disambig_topic")
    predict = DocumentLabeller.predict

    def fails(self, docs):
        if any("bad" in doc.text for doc in docs):
            raise RuntimeError("a bad document")
        return predict(self, docs)

    monkeypatch.setattr(DocumentLabeller, "predict", fails)
    seen = []
    pipe.set_error_handler(lambda name, proc, docs, error: seen.extend(doc.text for doc in docs))
    found = list(nlp.pipe([TEXTS[0], "bad bread", TEXTS[1]]))
    assert [best(doc) for doc in found] == ["sport", "cooking"] and seen == ["bad bread"]


def test_models_that_do_not_fit_are_refused_in_one_line(saved):
    nlp = spacy.blank("en")
    with pytest.raises(UserError, match=r"D480.*'mine'.*'disambig_topic'"):
        nlp.add_pipe("disambig_topic", name="mine")
    with pytest.raises(UserError, match=r"D504.*'disambig_en/it'"):
        nlp.add_pipe("disambig_topic", config={"model": "it"})
    with pytest.raises(UserError, match=r"D500.*'de'"):
        nlp.add_pipe("disambig_topic", config={"model": str(saved / "german")})
    with pytest.raises(UserError, match="D404"):
        nlp.add_pipe("disambig_topic", config={"model": "no such directory"})
    assert set(pipeline(saved, "de").pipe_names) == {"disambig_topic"}


def test_two_models_beside_each_other(saved):
    nlp = pipeline(saved, "de")
    nlp.add_pipe("disambig_topic", name="second", config={"model": str(saved / "german")})
    assert best(nlp(TEXTS[1])) == "cooking"
