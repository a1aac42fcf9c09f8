"""Labelled examples that name the word which decides: tables, JSON and Senseval's XML."""

from __future__ import annotations

import json

import pytest
from made_senseval import CORPUS, corpus, instance

from disambig.errors import UserError
from disambig.formats import Labelled, read_labelled


@pytest.mark.parametrize(("name", "sign"), [("a.tsv", "\t"), ("a.csv", ",")])
def test_a_table_with_a_column_of_words_has_marked_places(tmp_path, name, sign):
    rows = [("text", "label", "word", "document"), ("The [[bank]] was steep.", "shore", "bank.n", "d1")]
    rows.append(("Its [[banks]] closed.", " money", "", ""))
    path = tmp_path / name
    path.write_text("\n".join(sign.join(row) for row in rows))
    assert read_labelled(path) == [
        Labelled("The bank was steep.", 4, 8, "shore", "d1", f"{path}, line 2", "bank.n"),
        Labelled("Its banks closed.", 4, 9, "money", "Its banks closed.", f"{path}, line 3", ""),
    ]
    path.write_text(path.read_text().replace("[[banks]]", "banks"))
    with pytest.raises(UserError, match=r"D460.*line 3"):
        read_labelled(path)


def test_without_such_a_column_marks_are_text(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabel\nThe [[bank]].\tx\n")
    (only,) = read_labelled(path)
    assert (only.text, only.start, only.end, only.word) == ("The [[bank]].", 0, 13, "")


def test_json_names_words_and_glosses(tmp_path):
    path = tmp_path / "a.jsonl"
    place = {"start": 4, "end": 8, "label": "shore", "word": "bank.n", "gloss": "bank%1:17:01::"}
    path.write_text(
        json.dumps({"text": "The bank.", "places": [place, place | {"word": None, "gloss": None}]})
    )
    first, second = read_labelled(path)
    assert (first.word, first.gloss, second.word, second.gloss) == ("bank.n", "bank%1:17:01::", "", "")
    path.write_text(json.dumps({"text": "The bank.", **place, "word": 3}))
    with pytest.raises(UserError, match=r"D460.*line 1"):
        read_labelled(path)


def test_senseval_gives_the_instances_that_have_a_sense(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(CORPUS, encoding="iso-8859-1")
    found = read_labelled(path, tell=lambda message: None)
    assert [each.also for each in found] == [(), ("money%1",), (), ()]
    assert [(each.word, each.label) for each in found] == [
        ("bank.n", "shore%1"),
        ("bank.n", "P"),
        ("call.v", "call_up%2"),
        ("call.v", "U"),
    ]


def test_the_form_of_senseval_3(tmp_path):
    path = tmp_path / "EnglishLS.train.xml"
    name = "smell.v.bnc.00000042"
    text = corpus(
        smell_v=[instance(name, "It <head>smelt</head> of R & D , <b .", ["1913001"], ' docsrc="BNC"')]
    )
    path.write_text(text.replace("<corpus", '<!DOCTYPE corpus SYSTEM "lexical-sample.dtd">\n<corpus'))
    (only,) = read_labelled(path, strict=True)
    assert (only.text, only.word, only.label) == ("It smelt of R & D , <b .", "smell.v", "1913001")
    assert (only.text[only.start : only.end], only.document) == ("smelt", name)


def test_a_broken_instance_is_told_or_stops(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(
        corpus(bank_n=[instance("1", "A <head>bank</head>.", ["s"]), instance("2", "None.", ["s"])])
    )
    told = []
    assert len(read_labelled(path, tell=told.append)) == len(told) == 1
    assert len(read_labelled(path)) == 1
    with pytest.raises(UserError, match="D488"):
        read_labelled(path, strict=True)


def test_xml_of_another_kind_and_a_test_without_answers(tmp_path):
    path = tmp_path / "a.xml"
    for text, code in (("<html><p>x</p></html>", "D491"), ("nothing", "D491")):
        path.write_text(text)
        with pytest.raises(UserError, match=code):
            read_labelled(path)
    path.write_text(corpus(bank_n=[instance("1", "A <head>bank</head>.")]))
    with pytest.raises(UserError, match="D461"):
        read_labelled(path)


def test_blanks_around_a_label_are_not_part_of_it(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("The [[bank]] was steep.\tshore \nA [[]] gap.\t \n")
    assert [each.label for each in read_labelled(path)] == ["shore", ""]
    path = tmp_path / "a.jsonl"
    place = {"start": 4, "end": 8, "label": " shore\n", "word": " bank.n"}
    path.write_text(json.dumps({"text": "The bank.", "places": [place, place | {"label": ""}]}))
    assert [(each.label, each.word) for each in read_labelled(path)] == [("shore", "bank.n"), ("", "bank.n")]
