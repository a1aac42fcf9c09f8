"""Senseval's instances: what the files leave irregular is read, what is broken is named by its line."""

from __future__ import annotations

import lzma
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_senseval import CORPUS, HEADER, corpus, instance

from disambig.errors import UserError
from disambig.formats import (
    parse_instances,
    read_context,
    read_labelled,
    read_noad,
    read_senseval,
    replace_entities,
)

TAGS = "<head>|</head>|<sat id='a'>|</sat>|<instance id='x'>|</instance>|<context>|</context>|</lexelt>"
ANSWER = "<answer instance='x' senseid='s'/>"
SIGNS = st.sampled_from(
    [*TAGS.split("|"), ANSWER, '<lexelt item="a.n">', *"<>&9\n \xe9", "&amp;", "&foo;", "&#0;"]
)


@pytest.fixture
def found(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(CORPUS, encoding="iso-8859-1")
    told = []
    return {each.id: each for each in read_senseval(path, tell=told.append)}, told


def part(instance, span=None):
    start, end = span or (instance.start, instance.end)
    return instance.text[start:end]


def test_heads_entities_and_answers(found):
    first, second = found[0]["bank.n.1"], found[0]["bank.n.2"]
    assert (first.text, part(first)) == ("We sat on the\nbank of the Rh\xf4ne.", "bank")
    assert (first.word, first.senses, first.document) == ("bank.n", ("shore%1",), "bnc_A1")
    assert first.where.endswith("a.xml, line 4")
    assert (second.text, part(second)) == ("The \u201cBank\u201d \u2014 in \xbd an hour.", "Bank")
    assert (second.senses, second.document) == (("P", "money%1"), "bank.n.2")


def test_satellites_before_and_behind_in_text_order(found):
    call = found[0]["call.v.1"]
    assert call.text == "They did call him up at 5 < 6 & AT&T."
    assert [part(call, span) for span in call.satellites] == ["did", "up"]
    assert part(call) == "call"
    assert (call.multiword, found[0]["call.v.2"].multiword) == ("c:1", "")  # a name without a number


@pytest.mark.parametrize(
    ("sats", "multiword"),
    [
        ("call_for.159:0", "call_for"),
        ("Draw_a_blank.087:0 draw_a_blank.087:1", "draw_a_blank"),
        ("a.b.1:0", "a.b"),
        ("", ""),
    ],
)
def test_the_multiword_is_the_name_of_the_satellites(sats, multiword):
    read = parse_instances(corpus(call_v=[instance("1", f'We <head sats="{sats}">call</head> for it.')]), "x")
    assert [each.multiword for each in read] == [multiword]


def test_of_several_heads_the_first_is_taken_and_told(found):
    twice = found[0]["call.v.2"]
    assert (twice.start, part(twice)) == (4, "called")
    assert [message for message in found[1] if "call.v.2" in message and "2 heads" in message]
    assert len(found[1]) == 1


def test_a_labelled_example_has_the_first_sense(found):
    example = found[0]["bank.n.2"].labelled()
    assert (example.label, example.word, example.text[example.start : example.end]) == ("P", "bank.n", "Bank")


def test_packed_and_without_answers(tmp_path):
    path = tmp_path / "test.xml.xz"
    path.write_bytes(lzma.compress(corpus(bank_n=[instance("1", "A <head>bank</head>.")]).encode()))
    assert [(each.id, each.senses) for each in read_senseval(path)] == [("1", ())]


def test_the_part_of_speech_of_senseval_1_and_encodings(tmp_path):
    path = tmp_path / "a.xml"
    inside = '<instance id="1"><context><head>caf\xe9</head></context></instance>'
    body = f'<corpus><lexelt item="caf\xe9" pos="n">{inside}'
    for encoding, declared in (
        ("utf-8", ""),
        ("iso-8859-1", ""),
        ("utf-8", '<?xml version="1.0" encoding="utf-8"?>'),
    ):
        path.write_bytes((declared + body).encode(encoding))
        (only,) = read_senseval(path)
        assert (only.word, only.text, only.start, only.end) == ("caf\xe9.n", "caf\xe9", 0, 4)
    path.write_bytes(b'<?xml version="1.0" encoding="no-such"?><corpus>')
    with pytest.raises(UserError, match=r"D470.*xml.*no-such"):
        read_senseval(path)


BROKEN = {
    "no <head>": instance("1", "Nothing here."),
    "not in its context": instance("1", "Nothing <head> </head> here."),
    "does not end": '<instance id="1"><context>A <head>bank</head>.</context>\n',
    "no <context> that ends": '<instance id="1">A <head>bank</head>.</instance>\n',
    "without an id": "<instance><context>A <head>bank</head>.</context></instance>\n",
    "an answer for 'other'": instance("1", "A <head>bank</head>.").replace(
        "<context>", '<answer instance="other" senseid="s"/><context>'
    ),
}


@pytest.mark.parametrize("problem", BROKEN)
def test_what_is_broken_is_told_with_its_line_and_left_out_or_stops(tmp_path, problem):
    path = tmp_path / "a.xml"
    good = [instance("good", "A <head>bank</head>."), instance("last", "The <head>bank</head>.")]
    path.write_text(corpus(bank_n=[good[0], BROKEN[problem], good[1]]))
    told = []
    assert [each.id for each in read_senseval(path, tell=told.append)] == ["good", "last"]
    line = (HEADER + '<lexelt item="bank.n">\n' + good[0]).count("\n") + 1
    assert (
        len(told) == 1 and told[0].startswith("[D488]") and f"line {line}:" in told[0] and problem in told[0]
    )
    with pytest.raises(UserError, match=rf"D488.*line {line}:"):
        read_senseval(path, strict=True)


def test_twice_the_same_id_and_no_word_around(tmp_path):
    told = []
    twice = corpus(bank_n=[instance("1", "A <head>bank</head>."), instance("1", "B <head>bank</head>.")])
    assert [each.text for each in parse_instances(twice, "x", tell=told.append)] == ["A bank."]
    assert "twice" in told[0]
    with pytest.raises(UserError, match="D490"):
        parse_instances(instance("1", "A <head>bank</head>."), "x")


def test_an_unknown_entity_is_told_once(tmp_path):
    told = []
    text = corpus(a_n=[instance("1", "<head>a</head> &fomula; &fomula; &lt;head&gt; &#x41;&#0;")])
    (only,) = parse_instances(text, "x", tell=told.append)
    assert only.text == "a [fomula] [fomula] <head> A"
    assert len(told) == 1 and "&fomula;" in told[0]


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("&agr;&OHgr;&ins;&rehy;", "\u03b1\u03a9\u2033-"),
        ("AT&T R&D; &copy &bquo x", "AT&T R[D] &copy \u201c x"),
        ("&amp;amp; &pound;3", "&amp; \xa33"),
    ],
)
def test_entities(given_, expected):
    assert replace_entities(given_, lambda name: None) == expected


@given(st.lists(SIGNS, max_size=40).map("".join))
def test_nothing_crashes_the_scanner(text):
    for strict in (False, True):
        try:
            found = parse_instances(text, "x", strict=strict)
        except UserError:
            continue
        for each in found:
            assert 0 <= each.start < each.end <= len(each.text)
            assert each.text[each.start : each.end].strip() == each.text[each.start : each.end]


PLAIN = st.text(st.characters(exclude_characters="<>&", exclude_categories=["Cs", "Cc"]), max_size=12)


@given(PLAIN, PLAIN.filter(str.strip), PLAIN)
def test_a_head_keeps_its_words_and_white_space_collapses(before, head, after):
    context = read_context(f"{before}<head>{head}</head>{after}", lambda name: None)
    ((start, end, _),) = context.heads
    assert context.text[start:end].split() == head.split()
    assert context.text.replace(" ", "") == "".join(f"{before}{head}{after}".split())
    assert "  " not in context.text and context.text.strip() == context.text


@pytest.mark.parametrize(
    "hostile",
    [
        "<instance id='x'" * 20_000 + "<head" * 20_000 + "&" * 50_000,
        f"<instance {'a' * 300_000}>",
        f"<instance id{' ' * 300_000}x>",
        f"<instance id='1'><context><head>{'<sat ' * 50_000}</head></context>" + "<context>" * 50_000,
        f"<instance id='1'>{'<context>' * 50_000}</instance>",
        f"<instance id='1' docsrc='{'_1' * 100_000}x'><context>{'<head>' * 50_000}</context></instance>",
    ],
)
def test_hostile_files_take_linear_time(hostile):
    with pytest.raises(UserError, match="D490"):
        parse_instances(f"{HEADER}<lexelt item='a.n'>{hostile}", "x")


@pytest.mark.data
def test_senseval_2_has_its_words_and_instances():
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    told = []
    folder = f"{data}/labelled/senseval2/eng-lex-sample"
    train = read_senseval(f"{folder}.training.xml.xz", strict=True, tell=told.append)
    test = read_senseval(f"{folder}.evaluation.xml.xz", strict=True, tell=told.append)
    assert (len(train), len(test)) == (8611, 4328)
    assert len({each.word for each in train}) == len({each.word for each in test}) == 73
    assert all(each.senses for each in train) and not any(each.senses for each in test)
    assert sum(bool(each.satellites) for each in train) == 344
    marked = [each for each in train if each.multiword]
    assert len(marked) == 344 and sum(bool(each.multiword) for each in test) == 177
    assert all(each.multiword in {sense.partition("%")[0] for sense in each.senses} for each in marked)
    assert len(told) == 1 and "&formula;" in told[0]


def test_an_encoding_that_is_named_is_not_read_around(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(corpus(bank_n=[instance("1", "A <head>bank</head> of the Rh\xf4ne.")]).encode("latin-1"))
    with pytest.raises(UserError, match=r"D469.*not utf-8: byte 0xf4"):
        read_senseval(path, encoding="utf-8")
    with pytest.raises(UserError, match="D469"):
        read_labelled(path, encoding="utf-8")
    with pytest.raises(UserError, match="D470"):
        read_senseval(path, encoding="no-such")
    told = []
    assert read_senseval(path, tell=told.append)[0].text.endswith("Rh\xf4ne.") and told == []
    path.write_bytes(path.read_bytes().replace(b"iso-8859-1", b"utf-8"))
    assert read_senseval(path, tell=told.append)[0].text.endswith("Rh\xf4ne.")
    assert told == [f"[D489] {path}: not utf-8: read as iso-8859-1"]


@pytest.mark.parametrize(("encoding", "said"), [("utf-8", "offset"), ("utf-16", "--encoding utf-16")])
def test_nul_bytes_are_refused(tmp_path, encoding, said):
    path = tmp_path / "a.xml"
    path.write_bytes(corpus(bank_n=[instance("1", "A\0 <head>bank</head>.")]).encode(encoding))
    for named in (None, encoding):
        with pytest.raises(UserError, match="D303" + (f".*{said}" if named is None else "")):
            read_senseval(path, encoding=named)
    with pytest.raises(UserError, match="D303"):
        read_noad(path)


def test_comments_are_not_read_and_lines_stay(tmp_path):
    old = instance("old", "The <head>bank</head> <!-- of old -->.", ["s"])
    hidden = f"<!-- no longer -- {instance('hidden', 'The <head>bank</head>.', ['s'])} -->"
    text = corpus(bank_n=[hidden, old, instance("bad", "None.")])
    told = []
    (only,) = parse_instances(text, "x", tell=told.append)
    assert (only.id, only.text) == ("old", "The bank .")
    assert f"line {text[: text.index('bad')].count(chr(10)) + 1}:" in told[0]
    open_ended = corpus(bank_n=[old.replace("<!-- of old -->", "<!-- x")])
    assert [each.text for each in parse_instances(open_ended, "x")] == ["The bank <!-- x."]
    path = tmp_path / "a.xml"
    path.write_text("<!-- a <list> of words -->" + text)
    assert [each.word for each in read_labelled(path)] == ["bank.n"]


def test_senses_of_one_answer_are_cut_at_blanks():
    (only,) = parse_instances(corpus(bank_n=[instance("1", "<head>bank</head>", ["s1 s2", "s2"])]), "x")
    assert only.senses == ("s1", "s2")
