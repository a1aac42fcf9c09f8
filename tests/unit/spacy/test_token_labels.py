"""The tagger as a component: tags, parts of speech, Docs of any shape, saving, scoring."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import spacy
from disambig_random_subspace.tagger import train_tagger
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab

from disambig.errors import UserError
from disambig.models import save_model

SENTENCES = [
    ("the dog is loud .".split(), "DT NN VBZ JJ .".split()),
    ("a cat sleeps .".split(), "DT NN VBZ .".split()),
    ("dogs bark .".split(), "NNS VBP .".split()),
    ("I think that cats sleep .".split(), "PRP VBP IN NNS VBP .".split()),
] * 3

TEXT = "The dog is loud.\n\nI think  that cats sleep."


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    path = tmp_path_factory.mktemp("tagger") / "tag"
    save_model(train_tagger(SENTENCES, SENTENCES, name="tiny/tag"), path)
    return str(path)


@pytest.fixture
def nlp(nlp, home):
    nlp.add_pipe("disambig_tagger", config={"model": home})
    return nlp


def test_every_token_gets_a_tag_and_a_part_of_speech(nlp):
    doc = nlp(TEXT)
    words = [(token.text, token.tag_, token.pos_) for token in doc if not token.is_space]
    assert words[:5] == [
        ("The", "DT", "DET"),
        ("dog", "NN", "NOUN"),
        ("is", "VBZ", "AUX"),
        ("loud", "JJ", "ADJ"),
        (".", ".", "PUNCT"),
    ]
    assert ("that", "IN", "SCONJ") in words and ("sleep", "VBP", "VERB") in words
    assert {(token.tag_, token.pos_) for token in doc if token.is_space} == {("_SP", "SPACE")}
    assert doc.has_annotation("TAG") and not doc.spans


def test_universal_tags_are_parts_of_speech_themselves(tmp_path):
    german = [("der Hund bellt .".split(), "DET NOUN VERB PUNCT".split())] * 3
    save_model(train_tagger(german, german, name="tiny/upos", language="de"), tmp_path / "upos")
    nlp = spacy.blank("de")
    nlp.add_pipe("disambig_tagger", config={"model": str(tmp_path / "upos")})
    tagged = [(token.tag_, token.pos_) for token in nlp("Der Hund bellt.")]
    assert tagged == [("DET", "DET"), ("NOUN", "NOUN"), ("VERB", "VERB"), ("PUNCT", "PUNCT")]


def test_without_pos_only_tags_are_written(home):
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_tagger", config={"model": home, "pos": False})
    doc = nlp(TEXT)
    assert doc[1].tag_ == "NN" and not doc.has_annotation("POS")


def test_docs_without_words_stay_as_they_are(nlp):
    docs = list(nlp.pipe(["", "  ", TEXT, "\n"]))
    assert [len(doc) for doc in docs] == [0, 1, len(docs[2]), 1]
    assert docs[1][0].tag_ == "_SP" and docs[2][1].tag_ == "NN"


def test_a_stream_equals_single_documents(nlp):
    texts = [TEXT, "Dogs bark.", "", "A cat"] * 5
    together = [[token.tag_ for token in doc] for doc in nlp.pipe(texts, batch_size=3)]
    assert together == [[token.tag_ for token in nlp(text)] for text in texts]


def test_tokens_of_the_docs_own_are_tagged(nlp):
    tagger = nlp.get_pipe("disambig_tagger")
    doc = tagger(Doc(nlp.vocab, words=["the", "dog", "is loud"], sent_starts=[1, 0, 0]))
    assert [token.tag_ for token in doc][:2] == ["DT", "NN"]


def test_a_doc_of_another_vocabulary(nlp):
    doc = nlp.get_pipe("disambig_tagger")(spacy.blank("en").make_doc("the dog"))
    assert [token.tag_ for token in doc] == ["DT", "NN"]


def test_a_doc_of_a_vocabulary_without_word_attributes(nlp):
    doc = Doc(Vocab()).from_bytes(nlp.make_doc("the  dog is").to_bytes())
    tagged = nlp.get_pipe("disambig_tagger")(doc)
    assert [token.tag_ for token in tagged] == ["DT", "_SP", "NN", "VBZ"]
    assert tagged[3].pos_ == "AUX"


def test_other_components_annotations_stay(nlp):
    doc = nlp.make_doc("the dog")
    doc[1].lemma_ = "hound"
    doc.cats["x"] = 1.0
    tagged = nlp.get_pipe("disambig_tagger")(doc)
    assert tagged[1].lemma_ == "hound" and tagged.cats == {"x": 1.0}


def test_the_tagger_survives_saving_and_processes(nlp, home, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    expected = [token.tag_ for token in nlp(TEXT)]
    assert [token.tag_ for token in again(TEXT)] == expected
    empty = spacy.blank("en")
    empty.add_pipe("disambig_tagger", config={"model": home})
    assert [token.tag_ for token in empty.from_bytes(nlp.to_bytes())(TEXT)] == expected
    assert [
        t.tag_ for t in pickle.loads(pickle.dumps(nlp.get_pipe("disambig_tagger")))(nlp.make_doc(TEXT))
    ] == expected
    docs = list(nlp.pipe([TEXT] * 4, n_process=2))
    assert [[token.tag_ for token in doc] for doc in docs] == [expected] * 4
    binary = DocBin(attrs=["TAG", "POS"], docs=docs).to_bytes()
    assert [t.tag_ for t in next(DocBin().from_bytes(binary).get_docs(nlp.vocab))] == expected


def test_the_tagger_has_the_usual_scores(nlp):
    gold = Doc(nlp.vocab, words=["the", "dog", "bark"], tags=["DT", "NN", "XX"], pos=["DET", "NOUN", "X"])
    scores = nlp.evaluate([Example(nlp.make_doc("the dog bark"), gold)])
    assert scores["tag_acc"] == scores["pos_acc"] == pytest.approx(2 / 3)


def test_one_bad_doc_does_not_lose_its_batch(nlp, monkeypatch):
    tagger = nlp.get_pipe("disambig_tagger")
    right = tagger.predict

    def predict(docs):
        if any(doc.text == "bad" for doc in docs):
            raise RuntimeError("bad")
        return right(docs)

    monkeypatch.setattr(tagger, "predict", predict)
    seen = []
    tagger.set_error_handler(lambda name, component, docs, problem: seen.append(docs[0].text))
    docs = list(tagger.pipe([nlp.make_doc(text) for text in ("the dog", "bad", "a cat")]))
    assert [doc.text for doc in docs] == ["the dog", "a cat"] and seen == ["bad"]
    assert docs[1][1].tag_ == "NN"


def test_models_of_other_tasks_and_languages_are_refused(home):
    with pytest.raises(UserError, match=r"D501.*'tag'.*'spelling'"):
        spacy.blank("en").add_pipe("disambig_tagger", config={"model": "spelling"})
    with pytest.raises(UserError, match="D500"):
        spacy.blank("de").add_pipe("disambig_tagger", config={"model": home})


def test_predicting_changes_nothing(nlp):
    doc = nlp.make_doc(TEXT)
    result = nlp.get_pipe("disambig_tagger").predict([doc])
    assert not doc.has_annotation("TAG")
    assert result.documents.tolist() == [0, len(result.labels)]
    assert result.labels.dtype == np.int64


def test_analysis_names_what_it_assigns(nlp):
    result = nlp.analyze_pipes()["summary"]["disambig_tagger"]
    assert set(result["assigns"]) == {"token.tag", "token.pos"}
