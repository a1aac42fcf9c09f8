from __future__ import annotations

import gc
import gzip
import io
import zlib

import pytest
import srsly
from fake_models import annotate_texts
from hypothesis import given
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy")

from spacy.tokens import Doc, DocBin, Span  # noqa: E402

from disambig.errors import UserError  # noqa: E402
from disambig.formats import (  # noqa: E402
    AnnotatedDocument,
    Input,
    UnreadableDocument,
    docbin_documents,
    make_format,
    read,
)
from disambig.formats import docbin as docbin_reader  # noqa: E402

NLP = spacy.blank("en")


@pytest.fixture
def nlp():
    return NLP


def rich(nlp) -> Doc:
    """Return a Doc that carries one of everything."""
    doc = Doc(
        nlp.vocab,
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
    written: list[bytes] = []
    form = make_format("spacy")
    results = [AnnotatedDocument(one, tuple(annotate_texts([one.text]))) for one in documents(data)]
    form.join([form.encode(results[:1]), form.encode(results[1:])], written.append)
    return b"".join(written)


def test_the_attribute_of_forms_is_spacys():
    assert spacy.attrs.ORTH == docbin_reader.ORTH


@given(texts=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"))))
def test_documents_have_the_texts_of_the_docs(texts):
    found = documents(stored(*map(NLP.make_doc, texts)))
    assert [one.text for one in found] == [text for text in texts if text]
    assert [one.line for one in found] == [number for number, text in enumerate(texts, 1) if text]


def test_a_doc_of_words_without_spaces_reads_as_spacy_reads_it(nlp):
    doc = Doc(nlp.vocab, words=["a", "quite", "place"])
    assert [one.text for one in documents(stored(doc, user_data=False))] == [doc.text]


def test_spaces_that_are_not_known_are_read_as_spacy_reads_them(nlp):
    data = message(flags=[{"has_unknown_spaces": True}] * 2, spaces=b"\0" * 3)
    docs = DocBin().from_bytes(data).get_docs(nlp.vocab)
    assert [one.text for one in documents(data)] == [doc.text for doc in docs] == ["in it ", "of "]


def test_what_docs_carry_is_kept_beside_the_annotations(nlp):
    docs = [rich(nlp), nlp.make_doc("nothing in it"), rich(nlp)]
    found = list(DocBin().from_bytes(annotated(stored(*docs))).get_docs(nlp.vocab))
    assert len(found) == 3
    for before, after in zip(docs, found, strict=True):
        attributes = ["ORTH", "TAG", "HEAD", "DEP", "ENT_IOB", "ENT_TYPE", "LEMMA", "SPACY"]
        assert (before.to_array(attributes) == after.to_array(attributes)).all()
        assert after.cats == before.cats
        assert after.user_data.get("note") == before.user_data.get("note")
    assert [(span.text, span.label_) for span in found[0].spans["mine"]] == [("quite place", "KEPT")]
    (flagged,) = [span for span in found[0].spans["spelling"] if span._.disambig["flagged"]]
    assert (flagged.text, flagged.label_, flagged.id_) == ("quite", "quiet", "spelling")


def test_annotated_again_it_is_the_same(nlp):
    once = annotated(stored(rich(nlp), user_data=False))
    twice = annotated(once)
    assert zlib.decompress(twice) == zlib.decompress(once)


def message(**changes) -> bytes:
    found = srsly.msgpack_loads(zlib.decompress(stored(NLP.make_doc("in it"), NLP.make_doc("of"))))
    for key, value in changes.items():
        if value is None:
            del found[key]
        else:
            found[key] = value
    return zlib.compress(srsly.msgpack_dumps(found))


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
def test_a_hostile_file_is_one_message(data, part):
    try:
        problems = [one.error for one in documents(data) if isinstance(one, UnreadableDocument)]
    except UserError as error:
        problems = [error]
    assert gc.isenabled()
    assert problems
    for error in problems:
        assert error.code == "D325"
        assert str(error).startswith("[D325] a.spacy is not a spaCy DocBin: ")
        assert part in str(error)
        assert "\n" not in str(error)


def test_unpacking_has_a_limit():
    with pytest.raises(UserError, match=r"D872.*more than 1,000 bytes"):
        list(docbin_reader.docbin_documents(io.BytesIO(zlib.compress(b"\0" * 2000)), "a.spacy", limit=1000))


@given(data=st.binary(), place=st.integers(0, 400), value=st.integers(0, 255))
def test_nothing_that_is_read_raises(tmp_path_factory, data, place, value):
    path = tmp_path_factory.getbasetemp() / "any.spacy"
    whole = bytearray(zlib.decompress(message()))
    whole[place % len(whole)] = value
    for body in (data, zlib.compress(bytes(whole))):
        path.write_bytes(body)
        for found in read(Input(str(path), "any", "spacy")):
            assert isinstance(found, UnreadableDocument) or found.text


def test_packed_files_are_unpacked(tmp_path, nlp):
    path = tmp_path / "a.spacy.gz"
    path.write_bytes(gzip.compress(stored(rich(nlp))))
    (document,) = read(Input(str(path), "a", "spacy"))
    assert (document.text, document.id) == (rich(nlp).text, f"{path}:1")
