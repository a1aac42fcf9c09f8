from __future__ import annotations

import dataclasses
import json
from dataclasses import replace

import numpy as np
import pytest
from fake_models import annotate_texts
from hypothesis import given
from hypothesis import strategies as st

from disambig.formats import Document, count_words, records
from disambig.jobs import count_totals, totals_from_plain
from disambig.models import annotate_documents, batch_documents, cut_pieces, documents


def document(text: str, name: str = "a") -> Document:
    return Document(name, text, name)


@given(text=st.text(st.sampled_from("ab. \n")), size=st.integers(1, 12), back=st.integers(0, 12))
def test_pieces_cover_a_text_without_gap_and_none_is_too_long(text, size, back):
    cuts = cut_pieces(text, size=size, back=back)
    assert "".join(text[start:end] for start, end in cuts) == text
    assert [end for _, end in cuts[:-1]] == [start for start, _ in cuts[1:]]
    assert all(0 < end - start <= size + 2 for start, end in cuts) or not text


def test_pieces_end_where_a_paragraph_or_line_does():
    assert cut_pieces("aaa. b\n\nc\nd e f", size=11, back=9) == [(0, 8), (8, 15)]
    assert cut_pieces("a b\nc d e", size=6, back=6) == [(0, 4), (4, 9)]
    assert cut_pieces("x" * 9, size=4, back=2) == [(0, 4), (4, 8), (8, 9)]


def test_a_long_document_in_pieces_gets_the_decisions_of_the_whole(monkeypatch):
    text = "It was a quite place, during 1997\r\nto 2001. \U0001f600 In it!\n\n" * 30
    (whole,), _ = annotate_documents([document(text)], annotate_texts)
    monkeypatch.setattr(documents, "cut_pieces", lambda text: cut_pieces(text, size=200, back=100))
    monkeypatch.setattr(documents, "PIECE", 350)
    results, bad = annotate_documents([document("in"), document(text), document("")], annotate_texts)
    assert not bad
    assert list(records(results[1])) == list(records(whole))
    assert [len(list(records(result))) for result in results] == [1, 30 * 4, 0]
    for cut, full in zip(results[1].decisions, whole.decisions, strict=True):
        for field in dataclasses.fields(cut):
            one, other = getattr(cut, field.name), getattr(full, field.name)
            assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


def test_batches_hold_all_documents_in_order():
    documents = [document("x" * length) for length in (3, 3, 3, 20, 1)]
    assert [len(batch) for batch in batch_documents(documents, size=6)] == [2, 2, 1]
    assert [one for batch in batch_documents(documents, size=6) for one in batch] == documents


def test_one_bad_document_does_not_lose_its_batch():
    good, bad = annotate_documents(
        [document("in", "a"), Document("b:2", "RAISE", "b", 2, "line"), document("of", "c")], annotate_texts
    )
    assert [result.document.id for result in good] == ["a", "c"]
    assert [str(one.error) for one in bad] == [
        "[D313] b:2: could not be annotated: RuntimeError: the fake model was asked to fail"
    ]


def test_totals_add_up_and_come_back_from_plain_values():
    results, _ = annotate_documents([document("a quite place in Rome"), document("?!")], annotate_texts)
    totals = count_totals(results)
    assert totals.plain() == {
        "documents": 2,
        "words": 5,
        "tasks": {"preposition": [1, 0], "spelling": [1, 1]},
    }
    assert totals_from_plain(totals.plain()) == totals
    totals.add(count_totals(results[:1]))
    assert totals.tasks["spelling"] == (2, 2)


def test_labels_are_counted_without_flags():
    (found,), _ = annotate_documents([document("a quite place in Rome")], annotate_texts)
    _, spelling = found.decisions
    none = np.full(len(spelling), -1, np.int32)
    labels = replace(found, decisions=(replace(spelling, observed=none, flagged=none > 0),))
    nothing = replace(found, decisions=(spelling.slice(0, 0),))
    totals = count_totals([labels, nothing, labels])
    assert totals.tasks == {"spelling": (2, None)}
    assert totals_from_plain(json.loads(json.dumps(totals.plain()))) == totals
    totals.add(count_totals([nothing, found, labels]))
    assert totals.tasks["spelling"] == (4, 1)


@pytest.mark.parametrize(
    ("text", "words"), [("", 0), (" \n", 0), ("?! -- ...", 0), ("a - b", 3), ("\u3042", 1)]
)
def test_words_are_counted_only_where_there_are_any(text, words):
    assert count_words(text) == words


@pytest.mark.parametrize(("name", "seen"), [("a.md", 2), ("a.tex.gz", 2), ("a.txt", 3)])
def test_markup_is_read_over_and_offsets_are_those_of_the_file(name, seen):
    text = r"` a quite place ` and \ref{ a quite place } and a quite place"
    ((result,), _) = annotate_documents([document(text, name)], annotate_texts)
    flags = [record for record in records(result) if record["flagged"]]
    assert len(flags) == seen
    assert all(text[record["start"] : record["end"]] == "quite" for record in flags)
    ((line,), _) = annotate_documents([dataclasses.replace(result.document, kind="line")], annotate_texts)
    assert len([record for record in records(line) if record["flagged"]]) == 3
