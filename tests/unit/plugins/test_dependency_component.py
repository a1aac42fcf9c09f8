"""The component disambig_dependencies: heads, relations and sentences in Docs of a pipeline."""

from __future__ import annotations

import warnings

import pytest
import spacy
from disambig_dependencies import save_parser
from hypothesis import given, settings
from hypothesis import strategies as st
from made_treebank import parser, sentences
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from disambig.errors import UserError

TEXT = "The cat saw a dog. The dog slept."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("dependencies")
    save_parser(parser(), home)
    return str(home)


@pytest.fixture(scope="module")
def nlp(folder):
    made = spacy.blank("en")
    made.add_pipe("disambig_dependencies", config={"model": folder})
    return made


def parse(doc):
    return [(token.text, token.dep_, token.head.i) for token in doc]


def test_heads_relations_and_sentences(nlp):
    doc = nlp(TEXT)
    assert parse(doc)[:6] == [
        ("The", "det", 1),
        ("cat", "nsubj", 2),
        ("saw", "ROOT", 2),
        ("a", "det", 4),
        ("dog", "obj", 2),
        (".", "punct", 2),
    ]
    assert [sent.text for sent in doc.sents] == ["The cat saw a dog.", "The dog slept."]
    assert [sent.root.text for sent in doc.sents] == ["saw", "slept"]
    assert doc.has_annotation("DEP") and not doc.has_annotation("TAG")
    assert [token.text for token in doc[2].lefts] == ["cat"]


def test_the_tags_of_the_doc_are_used(nlp):
    words, tags, heads, relations = sentences()[3]
    doc = nlp.get_pipe("disambig_dependencies")(Doc(nlp.vocab, words=words, tags=tags))
    assert [token.head.i for token in doc] == [i if head < 0 else head for i, head in enumerate(heads)]
    assert [token.dep_ for token in doc] == ["ROOT" if name == "root" else name for name in relations]


def test_sentences_that_others_set_are_kept(nlp):
    words = ["A", "dog", "slept", "the", "cat", "saw", "a", "dog"]
    doc = Doc(nlp.vocab, words=words, sent_starts=[True, False, False, True, False, False, False, False])
    nlp.get_pipe("disambig_dependencies")(doc)
    assert [sent.text for sent in doc.sents] == ["A dog slept", "the cat saw a dog"]
    one = nlp.get_pipe("disambig_dependencies")(
        Doc(nlp.vocab, words=["A", ".", "B", "."], sent_starts=[1, -1, -1, -1])
    )
    assert len(list(one.sents)) == 1


def test_docs_of_nothing_of_one_word_and_of_white_space(nlp):
    assert parse(nlp("")) == []
    assert parse(nlp("Cats")) == [("Cats", "ROOT", 0)]
    assert parse(nlp(" \n")) == [(" \n", "ROOT", 0)]
    doc = nlp("  The cat \n slept.  \n\n The dog slept. ")
    assert [sent.root.text for sent in doc.sents] == ["slept", "slept"]
    assert {token.dep_ for token in doc if token.is_space} == {"dep"}
    assert not any(token.is_space for token in (token.head for token in doc))


@settings(deadline=None, max_examples=80)
@given(st.text("ab .!?\n\t(\"'", max_size=25))
def test_any_text_becomes_one_tree_per_sentence(nlp, text):
    doc = nlp(text)
    assert doc.text == text
    assert sum(token.head.i == token.i for token in doc) == len(list(doc.sents))
    for sent in doc.sents:
        assert all(token.head in sent for token in sent)


def test_a_stream_gives_what_single_docs_give(nlp):
    texts = [TEXT, "", "Keys", "She can't see the bell in the house.", " "] * 3
    assert [parse(doc) for doc in nlp.pipe(texts, batch_size=4)] == [parse(nlp(text)) for text in texts]
    stored = DocBin(docs=nlp.pipe(texts)).to_bytes()
    again = DocBin().from_bytes(stored).get_docs(nlp.vocab)
    assert [parse(doc) for doc in again] == [parse(nlp(text)) for text in texts]


def test_processes(nlp):
    texts = [TEXT, "The dog slept."] * 2
    assert [parse(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=2)] == [
        parse(nlp(t)) for t in texts
    ]


def test_pipelines_are_saved_and_loaded(nlp, tmp_path, folder):
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert parse(again(TEXT)) == parse(nlp(TEXT))
    other = spacy.blank("en")
    other.add_pipe("disambig_dependencies", config={"model": folder})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.from_bytes(nlp.to_bytes())
    assert parse(other(TEXT)) == parse(nlp(TEXT))
    wide = spacy.blank("en")
    wide.add_pipe("disambig_dependencies", config={"model": folder, "beam": 4})
    assert wide.get_pipe("disambig_dependencies").parser.beam == 4


def test_another_parser_than_saved_gives_a_warning(nlp, tmp_path):
    from disambig_dependencies import train_parser

    nlp.to_disk(tmp_path / "pipeline")
    save_parser(train_parser(sentences()[:4]), tmp_path / "other")
    config = spacy.util.load_config(tmp_path / "pipeline" / "config.cfg")
    config["components"]["disambig_dependencies"]["model"] = str(tmp_path / "other")
    config.to_disk(tmp_path / "pipeline" / "config.cfg")
    with pytest.warns(UserWarning, match="saved with another parser"):
        spacy.load(tmp_path / "pipeline")


def test_scores(nlp):
    words, tags, heads, relations = sentences()[0]
    gold = Doc(
        nlp.vocab,
        words=words,
        heads=[i if head < 0 else head for i, head in enumerate(heads)],
        deps=["ROOT" if name == "root" else name for name in relations],
    )
    component = nlp.get_pipe("disambig_dependencies")
    scores = component.score([Example(component(Doc(nlp.vocab, words=words, tags=tags)), gold)])
    assert scores["dep_uas"] == scores["dep_las"] == 1.0
    assert {"nsubj", "ROOT"} <= set(component.labels)


def test_what_is_refused(folder):
    with pytest.raises(UserError, match="D500"):
        spacy.blank("de").add_pipe("disambig_dependencies", config={"model": folder})
    with pytest.raises(UserError, match="D901"):
        spacy.blank("en").add_pipe("disambig_dependencies", config={"model": "no_such_pack"})
    with pytest.raises(UserError, match="D903"):
        spacy.blank("en").add_pipe("disambig_dependencies", config={"model": folder, "beam": 0})


def test_a_tagger_that_is_none_is_refused(tmp_path):
    from dataclasses import replace

    save_parser(replace(parser(), tagger="preposition"), tmp_path)
    with pytest.raises(UserError, match="D505"):
        spacy.blank("en").add_pipe("disambig_dependencies", config={"model": str(tmp_path)})
