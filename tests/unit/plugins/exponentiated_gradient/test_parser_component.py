"""The component disambig_parser: constituents as spans with their parents, for any Doc."""

from __future__ import annotations

import warnings

import pytest
import spacy
from disambig_exponentiated_gradient.grammar import TreebankGrammar
from disambig_exponentiated_gradient.parser import Parser, save_parser
from disambig_exponentiated_gradient.spacy import _component as extensions
from disambig_exponentiated_gradient.treebank import list_constituents, read_trees
from examples import fewer_examples
from hypothesis import given, strategies as st
from made_trees import TEXT, parser
from spacy.tokens import Doc, DocBin

from disambig.errors import UserError

SPACED = "  The cat saw the dog \n with a bell.\n\n She can't see it.  "


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("parser")
    save_parser(parser(), home)
    return str(home)


@pytest.fixture(scope="module")
def nlp(folder):
    made = spacy.blank("en")
    made.add_pipe("disambig_parser", config={"model": folder})
    return made


def rows(doc, key="constituents"):
    return [(span.start, span.end, span.label_, span.id_) for span in doc.spans[key]]


def test_constituents_and_their_parents(nlp):
    doc = nlp(TEXT)
    group = doc.spans["constituents"]
    sentences = ["The cat saw the dog with a bell.", "She can't see it (well)."]
    assert [sent.text for sent in doc.sents] == sentences
    assert [span.text for span in group if not span.id_] == sentences
    for number, span in enumerate(group):
        if span.id_:
            above = group[int(span.id_)]
            assert int(span.id_) < number and above.start <= span.start and span.end <= above.end
    trees = parser().parse(TEXT)
    assert [span.label_ for span in group] == [row.label for tree in trees for row in list_constituents(tree)]
    for sent, tree in zip(doc.sents, trees, strict=True):
        assert next(read_trees(sent._.parse_string)) == tree


def test_names_as_benepar_has_them(nlp):
    doc = nlp(SPACED)
    first, second = doc.sents
    assert first._.parse_string == (
        "(S (NP (DT The) (NN cat)) "
        "(VP (VBD saw) (NP (DT the) (NN dog)) (PP (IN with) (NP (DT a) (NN bell)))) (. .))"
    )
    assert first._.labels == ("S",) and first._.parent is None
    children = [" ".join(span.text.split()) for span in first._.children]
    assert children == ["The cat", "saw the dog with a bell", "."]
    labels = [span._.labels for span in first._.constituents]
    assert labels == [(label,) for label in ("S", "NP", "VP", "NP", "PP", "NP")]
    cat = next(token for token in doc if token.text == "cat")
    assert (cat._.labels, cat._.parse_string, cat._.parent.text) == ((), "(NN cat)", "The cat")
    assert [span._.parse_string for span in cat._.parent._.children] == ["(DT The)", "(NN cat)"]
    she = next(token for token in doc if token.text == "She")
    assert (she._.labels, she._.parse_string) == (("NP",), "(NP (PRP She))")
    assert she._.parent._.parse_string == second._.parse_string
    assert doc[0:1]._.parse_string == "" and doc[0:1]._.labels == ()
    with pytest.raises(UserError, match="D907"):
        doc[2:4]._.parse_string  # noqa: B018
    with pytest.raises(UserError, match="D908"):
        spacy.blank("en")("x")[0:1]._.labels  # noqa: B018


def test_threads_do_not_mix_up_their_docs(nlp, monkeypatch):
    doc, other = nlp(TEXT), nlp("The cat saw a dog.")
    wanted = [span._.labels for span in doc.spans["constituents"]]

    class Shared(list):
        """A cache to which another thread writes directly after this one."""

        def __setitem__(self, at, value):
            super().__setitem__(at, theirs)

    assert other[:2]._.labels == ("NP",)
    theirs = list(extensions._recent)
    monkeypatch.setattr(extensions, "_recent", Shared())
    assert [span._.labels for span in doc.spans["constituents"]] == wanted


def test_tags_and_sentences_are_written_where_there_are_none(nlp, folder):
    doc = nlp("The cat saw a dog.")
    assert [token.tag_ for token in doc] == ["DT", "NN", "VBD", "DT", "NN", "."]
    assert nlp.analyze_pipes()["summary"]["disambig_parser"]["assigns"]
    other = spacy.blank("en")
    other.add_pipe("disambig_tagger")
    other.add_pipe("sentencizer", config={"punct_chars": ["!"]})
    other.add_pipe("disambig_parser", config={"model": folder, "tags": True, "spans_key": "mine"})
    doc = other("The zebra slept. It slept! The cat saw it.")
    assert len(list(doc.sents)) == 2 == sum(not span.id_ for span in doc.spans["mine"])
    assert [token.tag_ for token in doc[:3]] == ["DT", "NN", "VBD"]
    assert "constituents" not in doc.spans and doc[0]._.parent is not None


def test_many_docs_at_once_are_as_one_by_one(nlp):
    texts = [
        TEXT,
        "",
        " \n ",
        SPACED,
        "x" * 10_000,
        "word " * 400,
        "(((",
        "\u79c1\u306f\u3002",
        "a\x00b \u202e.",
    ]
    for one, doc in zip(texts, nlp.pipe(texts, batch_size=4), strict=True):
        assert rows(doc) == rows(nlp(one)) and doc.text == one
        for sent in doc.sents:
            if sent.text.strip():
                assert sent._.parse_string.startswith("(")
    found = list(nlp.pipe([TEXT] * 4, n_process=2, batch_size=2))
    assert [rows(doc) for doc in found] == [rows(nlp(TEXT))] * 4


def test_all_is_kept_on_the_disk(nlp, tmp_path):
    doc = nlp(SPACED)
    nlp.to_disk(tmp_path / "pipe")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = spacy.load(tmp_path / "pipe")
    (kept,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(again.vocab)
    also = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    for copy in (kept, also, again(SPACED)):
        assert rows(copy) == rows(doc)
        assert [s._.parse_string for s in copy.sents] == [s._.parse_string for s in doc.sents]


def test_loading_with_another_parser_warns(nlp, tmp_path):
    data = nlp.get_pipe("disambig_parser").to_bytes()
    save_parser(Parser(TreebankGrammar.from_trees(list(read_trees("(S (NN x) (NN y))")))), tmp_path)
    other = spacy.blank("en").add_pipe("disambig_parser", config={"model": str(tmp_path)})
    with pytest.warns(UserWarning, match="another parser"):
        other.from_bytes(data)


def test_where_there_is_no_parse_there_is_one_span(folder):
    nlp = spacy.blank("en")
    nlp.add_pipe("disambig_parser", config={"model": folder, "max_length": 3})
    doc = nlp("The cat saw the dog. It slept.")
    assert rows(doc)[0] == (0, 6, "TOP", "")
    assert next(doc.sents)._.parse_string.startswith("(TOP (DT The) (NN cat)")


@pytest.mark.parametrize(
    ("config", "code", "language"),
    [
        ({"model": "nothing_en"}, "D901", "en"),
        ({"max_length": 0}, "D903", "en"),
        ({"max_length": "x"}, "D516", "en"),
        ({"tags": 1}, "D516", "en"),
        ({"spans_key": None}, "D516", "en"),
        ({}, "D500", "de"),
    ],
)
def test_settings_that_cannot_be(folder, config, code, language):
    with pytest.raises(UserError, match=code):
        spacy.blank(language).add_pipe("disambig_parser", config={"model": folder} | config)


@fewer_examples
@given(st.text(st.sampled_from('The cat saw it. \n(\u2019s"-!'), max_size=60))
def test_every_word_is_in_one_sentence(nlp, text):
    doc = nlp(text)
    covered = sorted(
        i for span in doc.spans["constituents"] if not span.id_ for i in range(span.start, span.end)
    )
    assert len(set(covered)) == len(covered)
    assert {token.i for token in doc if not token.is_space} <= set(covered)
