"""spaCy's DocBin as an input and as an output."""

from __future__ import annotations

import gc
import gzip
import io
import zlib

import pytest
import srsly
from annotated_documents import encode
from examples import fewer_examples
from fake_models import annotate_texts
from hypothesis import given, strategies as st
from spacy.tokens import Doc, DocBin, Span

from disambig.errors import UserError
from disambig.formats import (
    AnnotatedDocument,
    Input,
    UnreadableDocument,
    docbin as docbin_reader,
    docbin_documents,
    read,
)

spacy = pytest.importorskip("spacy")
NLP = spacy.blank("en")


def rich() -> Doc:
    """Return a Doc with one of each kind of annotation."""
    doc = Doc(
        NLP.vocab,
        words=["It", "was", "a", "quite", "place", "in", "Rome", "."],
        spaces=[True] * 6 + [False, False],
        tags=["PRP", "VBD", "DT", "RB", "NN", "IN", "NNP", "."],
        heads=[4, 4, 4, 4, 4, 6, 4, 4],
        deps=["nsubj", "cop", "det", "amod", "ROOT", "case", "nmod", "punct"],
        ents=["O"] * 6 + ["B-GPE", "O"],
        lemmas=["it", "be", "a", "quiet", "place", "in", "Rome", "."],
    )
    doc.cats = {"travel": 0.75}
    doc.spans["mine"] = [Span(doc, 3, 5, label="KEPT")]
    doc.user_data["note"] = "kept"
    return doc


def stored(*docs: Doc, user_data: bool = True) -> bytes:
    return DocBin(store_user_data=user_data, docs=docs).to_bytes()


def documents(data: bytes) -> list:
    return list(docbin_documents(io.BytesIO(data), "a.spacy"))


def annotated(data: bytes) -> bytes:
    return encode("spacy", *(AnnotatedDocument(d, tuple(annotate_texts([d.text]))) for d in documents(data)))


def test_decompresses_files_within_a_limit(tmp_path):
    assert spacy.attrs.ORTH == docbin_reader.ORTH
    with pytest.raises(UserError, match=r"D872.*more than 1,000 bytes"):
        list(docbin_reader.docbin_documents(io.BytesIO(zlib.compress(b"\0" * 2000)), "a.spacy", limit=1000))
    path = tmp_path / "a.spacy.gz"
    path.write_bytes(gzip.compress(stored(rich())))
    (document,) = read(Input(str(path), "a", "spacy"))
    assert (document.text, document.id) == (rich().text, f"{path}:1")


@fewer_examples
@given(texts=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"))))
def test_documents_have_the_texts_of_the_docs(texts):
    actual = documents(stored(*map(NLP.make_doc, texts)))
    assert [one.text for one in actual] == texts
    assert [one.line for one in actual] == list(range(1, len(texts) + 1))


def test_unknown_spaces_are_read_as_by_spacy():
    doc = Doc(NLP.vocab, words=["a", "quite", "place"])
    assert [one.text for one in documents(stored(doc, user_data=False))] == [doc.text]
    data = message(flags=[{"has_unknown_spaces": True}] * 2, spaces=b"\0" * 3)
    docs = DocBin().from_bytes(data).get_docs(NLP.vocab)
    assert [one.text for one in documents(data)] == [doc.text for doc in docs] == ["in it ", "of "]


def test_annotations_of_others_are_kept():
    docs = [rich(), NLP.make_doc("nothing in it"), NLP.make_doc(""), rich()]
    actual = list(DocBin().from_bytes(annotated(stored(*docs))).get_docs(NLP.vocab))
    for before, after in zip(docs, actual, strict=True):
        attributes = ["ORTH", "TAG", "HEAD", "DEP", "ENT_IOB", "ENT_TYPE", "LEMMA", "SPACY"]
        assert (before.to_array(attributes) == after.to_array(attributes)).all()
        assert after.cats == before.cats
        assert after.user_data.get("note") == before.user_data.get("note")
    assert [(span.text, span.label_) for span in actual[0].spans["mine"]] == [("quite place", "KEPT")]
    (flagged,) = [span for span in actual[0].spans["spelling"] if span._.disambig["flagged"]]
    assert (flagged.text, flagged.label_, flagged.id_) == ("quite", "quiet", "spelling")


def test_annotating_twice_changes_nothing():
    once = annotated(stored(rich(), user_data=False))
    twice = annotated(once)
    assert zlib.decompress(twice) == zlib.decompress(once)


def message(**changes) -> bytes:
    actual = srsly.msgpack_loads(zlib.decompress(stored(NLP.make_doc("in it"), NLP.make_doc("of"))))
    actual = {key: value for key, value in {**actual, **changes}.items() if value is not None}
    return zlib.compress(srsly.msgpack_dumps(actual))


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"no DocBin at all", "cannot be decompressed"),
        (message()[:-9], "truncated"),
        (zlib.compress(b"\xc1\xc1"), "not msgpack"),
        (zlib.compress(b"\xdf\xff\xff\xff\xff"), "not msgpack"),
        (zlib.compress(b"\x93" * 100_000), "not msgpack"),
        (zlib.compress(srsly.msgpack_dumps([1, 2])), "not a DocBin"),
        (message(strings=None), "'strings' is missing"),
        (message(strings=[1]), "not strings"),
        (message(attrs=[]), "ORTH"),
        (message(attrs=[74, 65]), "ORTH"),
        (message(tokens=b"123"), "inconsistent sizes"),
        (message(lengths=b"\xff\xff\xff\xff" * 2), "add up"),
        (message(lengths=b"\xff\xff\xff\x7f" * 2), "add up"),
        (message(spaces=b""), "add up"),
        (message(cats=[{}]), "does not have one value for each"),
        (message(user_data=[3, 3]), "'user_data' has values that are not of type bytes"),
        (message(strings=["in"]), "string"),
    ],
)
def test_a_malicious_file_is_a_one_line_error(data, part):
    try:
        problems = [one.error for one in documents(data) if isinstance(one, UnreadableDocument)]
    except UserError as error:
        problems = [error]
    assert gc.isenabled() and problems
    for error in problems:
        assert error.code == "D325"
        assert str(error).startswith("[D325] a.spacy is not a spaCy DocBin: ")
        assert part in str(error) and "\n" not in str(error)


@given(data=st.binary(), place=st.integers(0, 400), value=st.integers(0, 255))
def test_nothing_that_is_read_raises(tmp_path_factory, data, place, value):
    path = tmp_path_factory.getbasetemp() / "any.spacy"
    whole = bytearray(zlib.decompress(message()))
    whole[place % len(whole)] = value
    for body in (data, zlib.compress(bytes(whole))):
        path.write_bytes(body)
        for actual in read(Input(str(path), "any", "spacy")):
            assert isinstance(actual, UnreadableDocument) or actual.text
