"""Annotations of a Doc are read back as they were written, also after changes of the Doc."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import spacy
from examples import fewer_examples
from fake_spacy_models import preposition_model, spelling_model
from hypothesis import given, strategies as st
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from disambig.data import CandidateLists, Decisions, Group
from disambig.errors import UserError
from disambig.spacy import read_decisions, write_annotations
from disambig.spacy.annotations import WITH_LISTS, token_extension, write_batch
from disambig.text import view_of_docs

TEXT = "She went to wrong places, quite wrong,  in\r\nall.\r\n\r\nTOO few stayed among us."

PIECES = (
    "in", "To", "TWO", "quite", "wrong", "it's", "cannot", " ", "  ", "\r\n", "\n\n", ". ", ",", "\u2019s",
    "é", "猫",
)  # fmt: skip

BLANK = spacy.blank("en")


def annotated(text=TEXT, nlp=BLANK):
    doc = nlp(text) if isinstance(text, str) else text
    for model in (preposition_model(), spelling_model()):
        write_annotations(doc, decide(model, doc), spans_key=model.task.name)
    return doc


def decide(model, *docs):
    return model.decide(view_of_docs(docs, model.tokenisation))


def shown(doc):
    """Return everything that a user sees of the annotations."""
    return {
        key: [(s.start, s.end, s.label_, s.id_, s._.disambig) for s in group]
        for key, group in doc.spans.items()
    }


def test_a_span_has_label_id_and_record():
    doc = annotated()
    span = doc.spans["preposition"][0]
    assert (span.text, span.label_, span.id_) == ("to", "from", "preposition")
    record = span._.disambig
    assert record["observed"] == TEXT[record["start"] : record["end"]] == "to"
    assert record["chosen"] == "from" and record["flagged"] is True
    assert record["candidates"][0] == ("from", 2.5) and len(record["candidates"]) == 6
    assert record["probability"] == 0.75 and record["model"] == "fake 0.0.1"
    assert [s._.disambig["replacement"] for s in doc.spans["spelling"]] == ["too", "quiet", "TOO"]


def test_two_tasks_on_the_same_word_keep_their_own_records():
    doc = annotated("He gave it to wrong people.")
    (preposition,), (spelling,) = doc.spans["preposition"], doc.spans["spelling"]
    assert (preposition.start, preposition.end) == (spelling.start, spelling.end)
    assert (preposition._.disambig["task"], preposition._.disambig["chosen"]) == ("preposition", "from")
    assert (spelling._.disambig["task"], spelling._.disambig["chosen"]) == ("spelling", "too")


documents = st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), min_size=1, max_size=4)


@fewer_examples
@given(documents)
def test_annotations_of_batches_round_trip(texts):
    docs = list(BLANK.pipe(texts))
    for model in (preposition_model(), spelling_model()):
        decisions = decide(model, *docs)
        write_batch(docs, decisions, spans_key="x")
        for number, doc in enumerate(docs):
            expected, back = decisions.in_document(number), read_decisions(doc, model.task.name)
            records = [expected.record(i, doc.text) for i in range(len(expected))]
            assert [back.record(i, doc.text) for i in range(len(back))] == records
            spans = [span for span in doc.spans["x"] if span.id_ == model.task.name]
            assert len(spans) == len(records)
            for span, record in zip(spans, records, strict=True):
                assert span.label_ == record["chosen"]
                assert span.start_char <= record["start"] < record["end"] <= span.end_char


@fewer_examples
@given(st.lists(st.sampled_from(PIECES), max_size=12), st.data())
def test_docs_made_from_words(words, data):
    spaces = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    doc = Doc(BLANK.vocab, words=words, spaces=spaces)
    model = spelling_model()
    decisions = decide(model, doc)
    write_annotations(doc, decisions, spans_key="spelling")
    for i, span in enumerate(doc.spans["spelling"]):
        assert span._.disambig["chosen"] == span.label_ == decisions.record(i, doc.text)["chosen"]
        assert span._.disambig["observed"].lower() in span.text.lower()


def through_bytes(doc):
    return Doc(Vocab(strings=doc.vocab.strings)).from_bytes(doc.to_bytes())


def through_docbin(doc):
    data = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    return next(DocBin().from_bytes(data).get_docs(Vocab()))


@pytest.mark.parametrize("journey", ["bytes", "docbin", "pickle", "copy", "disk"])
def test_annotations_survive(journey, tmp_path):
    doc = annotated()
    doc.to_disk(tmp_path / "doc")
    after = {
        "bytes": through_bytes,
        "docbin": through_docbin,
        "pickle": lambda doc: pickle.loads(pickle.dumps(doc)),
        "copy": Doc.copy,
        "disk": lambda doc: Doc(doc.vocab).from_disk(tmp_path / "doc"),
    }[journey](doc)
    assert shown(after) == shown(doc)


def test_annotations_survive_merged_tokens():
    doc = annotated("He went in to wrong rooms.")
    first, _ = (span._.disambig for span in doc.spans["preposition"])
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
    covers, moved = doc.spans["preposition"]
    assert (covers.text, covers._.disambig) == ("in to", first)
    with pytest.warns(UserWarning, match=r"D507.*doc\.spans\['preposition'\]"):
        assert (moved.text, moved._.disambig) == ("wrong", None)


def test_the_warning_about_moved_spans_names_their_key():
    doc, model = BLANK("He went in to wrong rooms."), preposition_model()
    for key in ("first", "second"):  # the second has the id second/preposition
        write_annotations(doc, decide(model, doc), spans_key=key)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
    for key in ("first", "second"):
        with pytest.warns(UserWarning, match=rf"D507.*doc\.spans\['{key}'\]"):
            assert doc.spans[key][1]._.disambig is None


def test_a_span_over_two_decisions_finds_its_own_by_label():
    doc = annotated(Doc(BLANK.vocab, words=["in-to", "wrong"]))
    first, second = doc.spans["preposition"]
    assert (first.start, first.end) == (second.start, second.end) == (0, 1)
    assert first._.disambig["observed"] == "in" and second._.disambig["observed"] == "to"


def test_overlapping_groups_on_one_word():
    model = spelling_model().with_groups([Group("quiet/silent/quite", ("quiet", "silent", "quite"))])
    doc = BLANK("It was quite good and quiet wrong.")
    write_annotations(doc, decide(model, doc), spans_key="spelling")
    records = [span._.disambig for span in doc.spans["spelling"]]
    assert [(r["observed"], r["chosen"]) for r in records] == [
        ("quite", "quite"),
        ("quite", "quite"),
        ("quiet", "quite"),
        ("quiet", "silent"),
    ]
    assert [r["group"] for r in records[2:]] == ["quite/quiet", "quiet/silent/quite"]
    exact = read_decisions(doc, "spelling")  # equal spans have the same record, but the columns differ
    assert [exact.record(i, doc.text)["group"] for i in (0, 1)] == ["quite/quiet", "quiet/silent/quite"]


def test_equal_spans_show_the_flagged_record():
    model = spelling_model().with_groups([Group("quit/quiet/quite", ("quit", "quiet", "quite"))])
    doc = BLANK("quite wrong")
    decisions = decide(model, doc)
    both = replace(decisions, chosen=np.array([1, 1], np.int32), flagged=np.array([False, True]))
    write_annotations(doc, both, spans_key="spelling")
    assert {span._.disambig["group"] for span in doc.spans["spelling"]} == {"quit/quiet/quite"}


def test_only_groups_that_occur_are_kept():
    kept = annotated("A quite good day.").user_data["disambig.spelling"]
    assert kept["table"] == (("quite/quiet", ("quite", "quiet")),)
    many = tuple(Group(f"g{i}", (f"a{i}", f"b{i}")) for i in range(500))
    model = spelling_model().with_groups(many)
    doc, small = BLANK("A quite good day."), BLANK("A quite good day.")
    write_annotations(doc, decide(model, doc), spans_key="x")
    write_annotations(small, decide(spelling_model(), small), spans_key="x")
    assert len(doc.to_bytes()) == len(small.to_bytes())


def test_other_spans_have_no_record():
    doc = annotated()
    assert doc[0:2]._.disambig is None
    assert Span(doc, 0, 1, span_id="preposition")._.disambig is None  # no decision at this place
    assert Span(doc, 2, 3, span_id="unheard of")._.disambig is None
    doc.user_data.clear()
    assert doc.spans["preposition"][0]._.disambig is None


def test_a_corrected_label_still_shows_what_was_decided():
    doc = annotated()
    span = doc.spans["preposition"][0]
    relabelled = Span(doc, span.start, span.end, label="during", span_id=span.id_)
    assert relabelled._.disambig == span._.disambig


def test_a_doc_without_decisions_says_that_the_task_ran():
    for text in ("", "  ", "Nothing."):
        doc = annotated(text)
        assert list(doc.spans["preposition"]) == []
        assert len(read_decisions(doc, "preposition")) == 0
    assert read_decisions(BLANK("Nothing."), "preposition") is None


def test_annotating_again_replaces_and_leaves_other_tasks_alone():
    doc = annotated()
    doc.spans["spelling"] = [doc[0:1]]  # spans of another program
    with pytest.warns(UserWarning, match="D522"):
        annotated(doc)
    assert [span.id_ for span in doc.spans["spelling"]] == ["spelling"] * 3
    first = shown(doc)
    assert shown(annotated(doc)) == first


def test_tasks_may_share_a_key():
    doc = BLANK(TEXT)
    for _ in range(2):
        for model in (preposition_model(), spelling_model()):
            write_annotations(doc, decide(model, doc), spans_key="both")
    result = [(span.text, span.id_) for span in doc.spans["both"]]
    assert sorted(result[:2]) == [("to", "preposition"), ("to", "spelling")]
    assert [text for text, _ in result[2:]] == ["quite", "in", "TOO", "among"]
    assert [span._.disambig["task"] for span in doc.spans["both"]] == [task for _, task in result]


def two_models():
    """Return two models of one task that agree on correct words, and choose differently on wrong ones."""
    mine = replace(spelling_model(), name="mine", version="7")
    return spelling_model(), mine.with_groups([Group("among/amid", ("among", "amid"))])


def decided_twice(keys, text=TEXT):
    doc = BLANK(text)
    for model, key in zip(two_models(), keys, strict=True):
        write_annotations(doc, decide(model, doc), spans_key=key)
    return doc


@pytest.mark.parametrize("keys", [("spelling", "mine"), ("mine", "spelling"), ("a", "b")])
@pytest.mark.parametrize("journey", [lambda doc: doc, through_bytes, through_docbin, Doc.copy])
def test_two_components_of_one_task_keep_their_own_records(keys, journey):
    doc = journey(decided_twice(keys))
    for model, key in zip(two_models(), keys, strict=True):
        decisions = decide(model, doc)
        records = [decisions.record(i, doc.text) for i in range(len(decisions))]
        assert [span._.disambig for span in doc.spans[key]] == records
        assert {record["model"] for record in records} == {f"{model.name} {model.version}"}
        back = read_decisions(doc, key)
        assert [back.record(i, doc.text) for i in range(len(back))] == records
    assert len(doc.spans[keys[0]]) == 3 and len(doc.spans[keys[1]]) == 4
    first, names = shown(doc), set(doc.user_data)
    for model, key in zip(two_models(), keys, strict=True):
        write_annotations(doc, decide(model, doc), spans_key=key)
    assert shown(doc) == first and set(doc.user_data) == names  # replaced, not added


def test_two_components_of_one_task_share_their_keys_with_another_task():
    doc = BLANK(TEXT)
    for _ in range(2):
        for model in (*two_models(), preposition_model()):
            key = "mine" if model.name == "mine" else "both"
            write_annotations(doc, decide(model, doc), spans_key=key)
        write_annotations(doc, decide(preposition_model(), doc), spans_key="mine")
    assert [len(doc.spans[key]) for key in ("both", "mine")] == [3 + 3, 4 + 3]
    for key in ("both", "mine"):
        models = {(span._.disambig["task"], span._.disambig["model"]) for span in doc.spans[key]}
        expected = "fake 0.0.1" if key == "both" else "mine 7"
        assert models == {("spelling", expected), ("preposition", "fake 0.0.1")}


@pytest.mark.parametrize(("keys", "expected"), [(("spelling", "mine"), 1), (("mine", "spelling"), 2)])
def test_tokens_show_the_decisions_under_the_usual_key(keys, expected):
    token_extension("test_size", task="spelling", values={"quite": 1, "quiet": 2})
    one, two = spelling_model(), replace(spelling_model(), name="other")
    doc = BLANK("quite")
    right = decide(one, doc)
    wrong = replace(decide(two, doc), chosen=np.array([1], np.int32))
    for decisions, key in zip((right, wrong), keys, strict=True):
        write_annotations(doc, decisions, spans_key=key)
    assert doc[0]._.test_size == expected


def test_decisions_are_found_beside_data_of_others():
    doc = decided_twice(("spelling", "mine"))
    doc.user_data = {3: "three", ("disambig.", 1): {}, "disambig.note": "ours?", **doc.user_data}
    assert len(read_decisions(doc, "mine")) == 4
    assert read_decisions(doc, "yours") is None


def test_docs_of_several_vocabularies():
    docs = [Doc(Vocab(), words=["in", "wrong"]), Doc(Vocab(), words=["to"])]
    write_batch(docs, decide(preposition_model(), *docs), spans_key="x")
    assert [[(s.label_, s.id_) for s in doc.spans["x"]] for doc in docs] == [[("to", "preposition")]] * 2


def test_decisions_without_groups():
    none = decide(spelling_model(), BLANK("Nothing."))
    doc = BLANK("Nothing.")
    write_annotations(doc, replace(none, table=()), spans_key="x")
    assert isinstance(read_decisions(doc, "spelling"), Decisions)


def test_another_layout_is_refused():
    doc = annotated()
    doc.user_data["disambig.spelling"] = {**doc.user_data["disambig.spelling"], "layout": 99}
    with pytest.raises(UserError, match=r"D502.*layout 99"):
        doc.spans["spelling"][0]._.disambig  # noqa: B018


def test_records_of_many_docs_in_any_order():
    docs = [annotated("in wrong"), annotated("to")]
    spans = [doc.spans["preposition"][0] for doc in (*docs, *docs)]
    assert [span._.disambig["observed"] for span in spans] == ["in", "to"] * 2


def test_known_limits_of_spacy():
    doc = annotated()
    assert "id" not in doc.to_json()["spans"]["preposition"][0]
    assert not doc[0:5].as_doc().spans
    with pytest.warns(UserWarning, match="W102"):
        merged = Doc.from_docs([doc, annotated()])
    assert merged.spans["preposition"][0].label_ == "from"
    assert merged.spans["preposition"][0]._.disambig is None


@pytest.mark.parametrize("setup", ["import disambig.spacy", "import disambig.spacy.factory"])
def test_the_getter_in_a_process_that_only_reads(tmp_path, setup):
    DocBin(store_user_data=True, docs=[annotated()]).to_disk(tmp_path / "docs.spacy")
    code = f"""{setup}
from spacy.tokens import DocBin
from spacy.vocab import Vocab
doc, = DocBin().from_disk({str(tmp_path / "docs.spacy")!r}).get_docs(Vocab())
print(doc.spans["spelling"][1]._.disambig["chosen"])"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "quiet\n"


VERBS = ["gone went", "", "go"]
VERB_LISTS = [["gone", "went", "goes"], ["go", "gone"], ["went"]]


def list_decisions():
    lists = CandidateLists.from_texts(VERB_LISTS)
    lists = CandidateLists(
        lists.offsets,
        lists.texts,
        np.arange(6) / 4,
        lists.ranks[::-1].copy(),
        lists.costs,
    )
    return Decisions(
        task="forms",
        model="m 1",
        table=(Group("verb", ()),),
        documents=np.array([0, 0, 2], np.int32),
        starts=np.array([0, 5, 0], np.int32),
        ends=np.array([4, 9, 2], np.int32),
        groups=np.zeros(3, np.int32),
        observed=np.array([0, -1, -1], np.int32),
        chosen=np.array([2, 1, 0], np.int32),
        offsets=lists.offsets,
        scores=np.array([1, 2, 3, 0, 5, 4], np.float32),
        margins=np.array([1, 5, np.inf], np.float32),
        probabilities=np.array([0.6, 0.9, 1.0], np.float32),
        flagged=np.array([True, False, False]),
        n_hits=np.zeros(3, np.int32),
        n_queries=np.zeros(3, np.int32),
        lists=lists,
    )


@pytest.fixture
def docs_with_lists():
    docs = [BLANK(text) for text in VERBS]
    write_batch(docs, list_decisions(), spans_key="forms")
    return docs


def spans_of_lists(doc):
    return [(span.text, span.label_, span.id_, span._.disambig) for span in doc.spans["forms"]]


def test_spans_and_records_of_lists(docs_with_lists):
    first, second = spans_of_lists(docs_with_lists[0])
    assert first[:3] == ("gone", "goes", "forms") and second[:3] == ("went", "gone", "forms")
    assert first[3]["candidates"] == (("goes", 3.0), ("went", 2.0), ("gone", 1.0))
    assert (first[3]["base"], first[3]["rank"]) == (0.5, int(list_decisions().lists.ranks[2]))
    assert first[3]["replacement"] == "goes" and second[3]["replacement"] == "went"
    assert spans_of_lists(docs_with_lists[1]) == [] and [
        row[1] for row in spans_of_lists(docs_with_lists[2])
    ] == ["went"]
    packed = [doc.user_data["disambig.forms"] for doc in docs_with_lists]
    assert [item["layout"] for item in packed] == [WITH_LISTS] * 3
    assert [item["lists"]["texts"] for item in packed] == [(*VERB_LISTS[0], *VERB_LISTS[1]), (), ("went",)]


def test_lists_survive_bytes_docbin_and_pickle(docs_with_lists):
    for doc in docs_with_lists:
        for again in (through_bytes(doc), through_docbin(doc), pickle.loads(pickle.dumps(doc))):
            assert spans_of_lists(again) == spans_of_lists(doc)


def test_decisions_with_lists_round_trip(docs_with_lists):
    kept = read_decisions(Doc(BLANK.vocab).from_bytes(docs_with_lists[0].to_bytes()), "forms")
    lists, expected = kept.lists, list_decisions().in_document(0)
    assert lists.offsets.dtype == np.int64 and lists.offsets.tolist() == [0, 3, 5]
    assert [lists.instance_candidates(i) for i in range(2)] == [tuple(item) for item in VERB_LISTS[:2]]
    for name in ("scores", "ranks"):
        assert np.array_equal(getattr(lists, name), getattr(expected.lists, name)), name
    assert np.isnan(lists.costs).all()  # no component writes the right answers
    for name in ("scores", "chosen", "margins", "flagged", "observed"):
        assert np.array_equal(getattr(kept, name), getattr(expected, name)), name


def test_a_later_layout_is_refused(docs_with_lists):
    docs_with_lists[0].user_data["disambig.forms"]["layout"] = WITH_LISTS + 1
    with pytest.raises(UserError, match=r"D502.*4.*1 to 3"):
        read_decisions(docs_with_lists[0], "forms")
