"""Corpora of word senses: Senseval (instances, keys, sense maps) and NOAD-MASC (texts, places, limits)."""

from __future__ import annotations

import io
import os
import tarfile
from xml.sax.saxutils import quoteattr

import pytest
from format_samples import CORPUS, HEADER, corpus, instance
from hypothesis import given, strategies as st

from disambig.errors import UserError
from disambig.files import opening
from disambig.formats import (
    BREAKS,
    parse_instances,
    read_answers,
    read_context,
    read_document,
    read_key,
    read_labelled,
    read_map,
    read_noad,
    read_sensemap,
    read_senseval,
    replace_entities,
)

TAGS = "<head>|</head>|<sat id='a'>|</sat>|<instance id='x'>|</instance>|<context>|</context>|</lexelt>"
ANSWER = "<answer instance='x' senseid='s'/>"
SIGNS = [*TAGS.split("|"), ANSWER, '<lexelt item="a.n">', *"<>&9\n \xe9", "&amp;", "&foo;", "&#0;"]


@pytest.fixture
def sample(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(CORPUS, encoding="iso-8859-1")
    notes = []
    return {item.id: item for item in read_senseval(path, tell=notes.append)}, notes


def part(instance, span=None):
    start, end = span or (instance.start, instance.end)
    return instance.text[start:end]


def test_heads_entities_and_answers(sample):
    first, second = sample[0]["bank.n.1"], sample[0]["bank.n.2"]
    assert (first.text, part(first)) == ("We sat on the\nbank of the Rh\xf4ne.", "bank")
    assert (first.word, first.senses, first.document) == ("bank.n", ("shore%1",), "bnc_A1")
    assert first.where.endswith("a.xml, line 4")
    assert (second.text, part(second)) == ("The \u201cBank\u201d \u2014 in \xbd an hour.", "Bank")
    assert (second.senses, second.document) == (("P", "money%1"), "bank.n.2")
    example = second.labelled()  # with the first sense
    assert (example.label, example.word, example.text[example.start : example.end]) == ("P", "bank.n", "Bank")


def test_satellites_in_text_order_and_the_first_of_several_heads(sample):
    call, twice = sample[0]["call.v.1"], sample[0]["call.v.2"]
    assert call.text == "They did call him up at 5 < 6 & AT&T."
    assert [part(call, span) for span in call.satellites] == ["did", "up"]
    assert part(call) == "call"
    assert (call.multiword, twice.multiword) == ("c:1", "")  # a name without a number
    assert (twice.start, part(twice)) == (4, "called")
    (message,) = sample[1]
    assert "call.v.2" in message and "2 heads" in message


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
    assert [item.multiword for item in read] == [multiword]


def test_the_part_of_speech_of_senseval_1_and_encodings(tmp_path):
    path = tmp_path / "a.xml"
    inside = '<instance id="1"><context><head>caf\xe9</head></context></instance>'
    body = f'<corpus><lexelt item="caf\xe9" pos="n">{inside}'
    named = ("utf-8", '<?xml version="1.0" encoding="utf-8"?>')
    for encoding, declared in (("utf-8", ""), ("iso-8859-1", ""), named):
        path.write_bytes((declared + body).encode(encoding))
        (only,) = read_senseval(path)
        assert (only.word, only.text, only.start, only.end) == ("caf\xe9.n", "caf\xe9", 0, 4)
    path.write_bytes(b'<?xml version="1.0" encoding="no-such"?><corpus>')
    with pytest.raises(UserError, match=r"D470.*xml.*no-such"):
        read_senseval(path)


BANK = instance("1", "A <head>bank</head>.")
BROKEN = {
    "no <head>": instance("1", "Nothing here."),
    "not in its context": instance("1", "Nothing <head> </head> here."),
    "does not end": '<instance id="1"><context>A <head>bank</head>.</context>\n',
    "no <context> that ends": '<instance id="1">A <head>bank</head>.</instance>\n',
    "without an id": "<instance><context>A <head>bank</head>.</context></instance>\n",
    "an answer for 'other'": BANK.replace("<context>", '<answer instance="other" senseid="s"/><context>'),
}


@pytest.mark.parametrize("problem", BROKEN)
def test_broken_instances_are_reported_with_their_line_and_skipped(tmp_path, problem):
    path = tmp_path / "a.xml"
    good = [instance("good", "A <head>bank</head>."), instance("last", "The <head>bank</head>.")]
    path.write_text(corpus(bank_n=[good[0], BROKEN[problem], good[1]]))
    notes = []
    assert [item.id for item in read_senseval(path, tell=notes.append)] == ["good", "last"]
    line = (HEADER + '<lexelt item="bank.n">\n' + good[0]).count("\n") + 1
    (note,) = notes
    assert note.startswith("[D488]") and f"line {line}:" in note and problem in note
    with pytest.raises(UserError, match=rf"D488.*line {line}:"):
        read_senseval(path, strict=True)


def test_odd_instances_and_entities(tmp_path):
    notes = []
    twice = corpus(bank_n=[BANK, BANK.replace("A", "B")])
    assert [item.text for item in parse_instances(twice, "x", tell=notes.append)] == ["A bank."]
    assert "twice" in notes[0]
    sentence = (
        '<corpus><text><sentence><instance id="1" lemma="bank">bank</instance></sentence></text></corpus>'
    )
    for without_words in (BANK, sentence):
        notes = []
        with pytest.raises(UserError, match=r"D490.*all-words"):
            parse_instances(without_words, "x", tell=notes.append)
        assert not notes
    notes = []
    text = corpus(a_n=[instance("1", "<head>a</head> &fomula; &fomula; &lt;head&gt; &#x41;&#0;")])
    (only,) = parse_instances(text, "x", tell=notes.append)
    assert only.text == "a [fomula] [fomula] <head> A"
    assert len(notes) == 1 and "&fomula;" in notes[0]
    (only,) = parse_instances(corpus(bank_n=[instance("1", "<head>bank</head>", ["s1 s2", "s2"])]), "x")
    assert only.senses == ("s1", "s2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("&agr;&OHgr;&ins;&rehy;", "\u03b1\u03a9\u2033-"),
        ("AT&T R&D; &copy &bquo x", "AT&T R[D] &copy \u201c x"),
        ("&amp;amp; &pound;3", "&amp; \xa33"),
    ],
)
def test_entities(text, expected):
    assert replace_entities(text, lambda name: None) == expected


@given(st.lists(st.sampled_from(SIGNS), max_size=40).map("".join))
def test_nothing_crashes_the_scanner(text):
    for strict in (False, True):
        try:
            sample = parse_instances(text, "x", strict=strict)
        except UserError:
            continue
        for item in sample:
            assert 0 <= item.start < item.end <= len(item.text)
            assert item.text[item.start : item.end].strip() == item.text[item.start : item.end]


PLAIN = st.text(st.characters(exclude_characters="<>&", exclude_categories=["Cs", "Cc"]), max_size=12)


@given(PLAIN, PLAIN.filter(str.strip), PLAIN)
def test_heads_keep_their_words_and_white_space_is_collapsed(before, head, after):
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
def test_malicious_files_take_linear_time(hostile):
    with pytest.raises(UserError, match="D490"):
        parse_instances(f"{HEADER}<lexelt item='a.n'>{hostile}", "x")


@pytest.mark.data
@pytest.mark.skipif("DISAMBIG_DATA" not in os.environ, reason="DISAMBIG_DATA is not set")
def test_senseval_2_has_its_words_and_instances():
    notes = []
    folder = f"{os.environ['DISAMBIG_DATA']}/labelled/senseval2/eng-lex-sample"
    train = read_senseval(f"{folder}.training.xml.xz", strict=True, tell=notes.append)
    test = read_senseval(f"{folder}.evaluation.xml.xz", strict=True, tell=notes.append)
    assert (len(train), len(test)) == (8611, 4328)
    assert len({item.word for item in train}) == len({item.word for item in test}) == 73
    assert all(item.senses for item in train) and not any(item.senses for item in test)
    assert sum(bool(item.satellites) for item in train) == 344
    marked = [item for item in train if item.multiword]
    assert len(marked) == 344 and sum(bool(item.multiword) for item in test) == 177
    assert all(item.multiword in {sense.partition("%")[0] for sense in item.senses} for item in marked)
    assert len(notes) == 1 and "&formula;" in notes[0]


def test_a_named_encoding_is_used_strictly(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(corpus(bank_n=[instance("1", "A <head>bank</head> of the Rh\xf4ne.")]).encode("latin-1"))
    with pytest.raises(UserError, match=r"D469.*not utf-8: byte 0xf4"):
        read_senseval(path, encoding="utf-8")
    with pytest.raises(UserError, match="D469"):
        read_labelled(path, encoding="utf-8")
    with pytest.raises(UserError, match="D470"):
        read_senseval(path, encoding="no-such")
    notes = []
    assert read_senseval(path, tell=notes.append)[0].text.endswith("Rh\xf4ne.") and notes == []
    path.write_bytes(path.read_bytes().replace(b"iso-8859-1", b"utf-8"))
    assert read_senseval(path, tell=notes.append)[0].text.endswith("Rh\xf4ne.")
    assert notes == [f"[D489] {path}: not utf-8: read as iso-8859-1"]


@pytest.mark.parametrize(("encoding", "output"), [("utf-8", "offset"), ("utf-16", "--encoding utf-16")])
def test_rejects_nul_bytes(tmp_path, encoding, output):
    path = tmp_path / "a.xml"
    path.write_bytes(corpus(bank_n=[instance("1", "A\0 <head>bank</head>.")]).encode(encoding))
    for named in (None, encoding):
        with pytest.raises(UserError, match="D303" + (f".*{output}" if named is None else "")):
            read_senseval(path, encoding=named)
    with pytest.raises(UserError, match=r"D30[34]"):
        read_noad(path)


def test_comments_are_not_read_and_lines_stay(tmp_path):
    old = instance("old", "The <head>bank</head> <!-- of old -->.", ["s"])
    hidden = f"<!-- no longer -- {instance('hidden', 'The <head>bank</head>.', ['s'])} -->"
    text = corpus(bank_n=[hidden, old, instance("bad", "None.")])
    notes = []
    (only,) = parse_instances(text, "x", tell=notes.append)
    assert (only.id, only.text) == ("old", "The bank .")
    assert f"line {text[: text.index('bad')].count(chr(10)) + 1}:" in notes[0]
    open_ended = corpus(bank_n=[old.replace("<!-- of old -->", "<!-- x")])
    assert [item.text for item in parse_instances(open_ended, "x")] == ["The bank <!-- x."]
    path = tmp_path / "a.xml"
    path.write_text("<!-- a <list> of words -->" + text)
    assert [item.word for item in read_labelled(path)] == ["bank.n"]


NAMES = st.text("abc%:.19", min_size=1, max_size=6).filter(lambda name: "!!" not in name)


def write_key(folder, text):
    path = folder / "key"
    path.write_text(text, encoding="utf8")
    return path


def test_senses_weights_and_comments(tmp_path):
    text = "art art.1 P art%1:04:00::\n\nart art.2 a/50 b/25 !! not sure c\nart art.3 a b c d\n"
    path = write_key(tmp_path, text)
    answers = {"art.1": {"P": 0.5, "art%1:04:00::": 0.5}, "art.2": {"a": 0.5, "b": 0.25}}
    answers["art.3"] = dict.fromkeys("abcd", 0.25)
    assert read_answers(path) == answers
    assert read_key(path) == {name: tuple(senses) for name, senses in answers.items()}


@given(st.dictionaries(NAMES, st.lists(NAMES, min_size=1, max_size=4, unique=True), max_size=5))
def test_a_key_round_trips(tmp_path_factory, key):
    lines = [f"word {instance} {' '.join(senses)}" for instance, senses in key.items()]
    path = write_key(tmp_path_factory.mktemp("key"), "\n".join(lines))
    assert read_key(path) == {instance: tuple(senses) for instance, senses in key.items()}


INVALID = ("art.1", "art.1 a/x", "art.1 a/-1", "art.1 a/101", "art.1 /1", "art.1 a/0 b/0", "art.9 b")


@pytest.mark.parametrize("line", INVALID)
def test_an_invalid_answer_is_an_error_with_its_line(tmp_path, line):
    twice = ".*twice" if "art.9" in line else ""
    with pytest.raises(UserError, match=rf"D492.*line 2{twice}"):
        read_key(write_key(tmp_path, f"art art.9 a\nart {line}\n"))


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("a\nb 3 a\nc 2 b\nd 3 a\nd 2 e\nf 2 g 3 a\n", "a; b a; c b a; d a e; e; f g a; g a"),
        (
            "1913001 1913002 1913003\ns%1:2:: s%1:0::\nalone\n",
            "1913001; 1913002 1913001; 1913003 1913001; s%1:2::; s%1:0:: s%1:2::; alone",
        ),
    ],
    ids=["Senseval-2, transitive", "Senseval-3, lines of groups"],
)
def test_maps_of_senses(tmp_path, text, groups):
    expected = {senses.split()[0]: set(senses.split()) for senses in groups.split(";")}
    assert read_sensemap(write_key(tmp_path, text)) == expected


@given(st.lists(st.lists(st.sampled_from("ab12"), min_size=1, max_size=6).map(" ".join), max_size=6))
def test_cycles_in_a_map_end(tmp_path_factory, lines):
    actual = read_sensemap(write_key(tmp_path_factory.mktemp("map"), "\n".join(lines)))
    assert all(sense in groups for sense, groups in actual.items())


@pytest.mark.parametrize(
    ("line", "weights"),
    [
        ("a/99 b/1", {"a": 0.99, "b": 0.01}),
        ("a/1 b/99", {"a": 0.01, "b": 0.99}),
        ("a/1 b/0", {"a": 1.0}),
        ("a/0 b/40 c/40", {"b": 0.4, "c": 0.4}),
        ("a/1 b/1", {"a": 0.5, "b": 0.5}),
        ("a/0.4 b/0.2", {"a": 0.4, "b": 0.2}),
    ],
)
def test_the_weights_of_a_line_have_one_scale(tmp_path, line, weights):
    path = write_key(tmp_path, f"art art.1 {line}")
    assert read_answers(path)["art.1"] == pytest.approx(weights)
    assert read_key(path)["art.1"] == tuple(weights)


SENSE = "/dictionary/sense/d1/"
NOAD_SIGNS = st.sampled_from(
    [*'<word|text="a"|break_level="NO_BREAK"|sense="s"|lemma="|/>|&#39;'.split("|"), *'<> "\n']
)


def word_xml(text, gap="SPACE", **more):
    output = "".join(f" {name}={quoteattr(value)}" for name, value in more.items())
    return f'  <word text={quoteattr(text)}{output} break_level="{gap}_BREAK"/>\n'


def doc_xml(name, *words):
    head = f'<?xml version="1.0"?>\n<!DOCTYPE d SYSTEM "x.dtd">\n<SimpleWsdDoc name={quoteattr(name)}>\n'
    path = "".join(
        word_xml(part, "NO") for part in ("/", "written", "/", "jokes", "/", name.rpartition("/")[2])
    )
    return f"{head}{path}{''.join(words)}</SimpleWsdDoc>\n"


def sensed(text, lemma, sense, pos="NOUN", gap="SPACE"):
    return word_xml(text, gap, lemma=lemma, pos=pos, sense=SENSE + sense)


WORDS = [
    word_xml("She", "PARAGRAPH"),
    sensed("saw", "see", "m2.001", "VERB"),
    word_xml("``", "SPACE"),
    sensed("Banks", "bank", "m1.003", gap="NO"),
    word_xml("''", "NO"),
    word_xml("&", "LINE"),
    sensed("well", "well", "m3.001", "ADV", gap="PARAGRAPH"),
    word_xml("!", "NO"),
    sensed("OK", "OK", "m4.001", "X", gap="SENTENCE"),
]
FILES = {
    "noad/masc/written/jokes/a.xml": doc_xml("/written/jokes/a's.txt", *WORDS),
    "noad/masc/written/jokes/b.xml": doc_xml("/written/jokes/b.txt", word_xml("Hm", "PARAGRAPH")),
    "noad/manual_map.txt": f"{SENSE}m1.003\tbank%1:17:01::,bank%1:17:00::\n{SENSE}m9.001\tx%1\n",
    "noad/README.md": "nothing",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf8")
    return tmp_path / "noad"


def packed(path, files, extra=()):
    with tarfile.open(path, "w:xz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
        for member in extra:
            archive.addfile(member)
    return path


def test_text_places_and_glosses(folder):
    actual = read_noad(folder, strict=True)
    first, second = actual.documents
    assert (first.name, first.genre) == ("written/jokes/a's.txt", "jokes")
    assert first.text == 'She saw "Banks"\n&\n\nwell! OK'
    shown = [(first.text[p.start : p.end], p.word, p.sense) for p in first.places]
    assert shown == [
        ("saw", "see.v", "m2.001"),
        ("Banks", "bank.n", "m1.003"),
        ("well", "well.r", "m3.001"),
        ("OK", "OK.x", "m4.001"),
    ]
    assert (second.text, second.places) == ("Hm", ())
    bank = actual.labelled()[1]
    assert (bank.label, bank.word, bank.document) == ("m1.003", "bank.n", "written/jokes/a's.txt")
    assert bank.gloss == "bank%1:17:01::,bank%1:17:00::"
    assert "character 9" in bank.where


def test_the_archive_equals_the_folder_and_other_files_are_reported(folder, tmp_path):
    path = packed(tmp_path / "noad.tar.xz", FILES)
    assert read_noad(path).documents == read_noad(folder).documents
    assert [item.label for item in read_labelled(path)] == ["m2.001", "m1.003", "m3.001", "m4.001"]
    single = read_labelled(folder / "masc/written/jokes/a.xml")
    assert [item.word for item in single] == ["see.v", "bank.n", "well.r", "OK.x"]
    (folder / "masc" / "other.xml").write_text("<other/>")
    notes = []
    assert len(read_noad(folder, tell=notes.append).documents) == 2
    assert "other.xml, line 1" in notes[0] and "SimpleWsdDoc" in notes[0]
    with pytest.raises(UserError, match=r"D491.*<other"):
        read_labelled(folder / "masc" / "other.xml")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_only_plain_files_are_read(tmp_path, kind):
    member = tarfile.TarInfo("noad/masc/c.xml")
    member.type, member.linkname = kind, "/etc/hosts"
    with pytest.raises(UserError, match=r"D494.*c\.xml"):
        read_noad(packed(tmp_path / "a.tar.xz", FILES, [member]))


@pytest.mark.parametrize(("name", "most"), [("MAX_BYTES", 500), ("MAX_FILES", 2)])
def test_sizes_are_bounded(folder, tmp_path, monkeypatch, name, most):
    path = packed(tmp_path / "a.tar.xz", FILES)
    monkeypatch.setattr(opening, name, most)
    for item in (path, folder):
        with pytest.raises(UserError, match="D493"):
            read_noad(item)


def test_unreadable_archives_and_empty_folders(tmp_path):
    whole = packed(tmp_path / "a.tar.xz", FILES).read_bytes()
    (tmp_path / "empty").mkdir()
    names = [("none.xml", "D300"), ("empty", "D490")]
    for number, broken in enumerate((b"", b"no archive", whole[: len(whole) // 2])):
        (tmp_path / f"{number}.tar.xz").write_bytes(broken)
        names.append((f"{number}.tar.xz", "D308"))
    for name, code in names:
        with pytest.raises(UserError, match=code):
            read_noad(tmp_path / name)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('<word text="a" break_level="NO_BREAK"\n', "does not end"),
        ('<word break_level="NO_BREAK"/>\n', "has no text"),
        (word_xml("a", "NEW"), "no known break"),
        (word_xml("a", sense="m1"), "no lemma"),
    ],
)
def test_a_broken_word_is_reported_with_its_line_or_raises(tmp_path, line, problem):
    path = tmp_path / "a.xml"
    path.write_text(doc_xml("/written/jokes/a.txt", word_xml("One", "PARAGRAPH"), line, word_xml("two")))
    notes = []
    (actual,) = read_noad(path, tell=notes.append).documents
    assert actual.text in ("One two", "One a two")
    assert len(notes) == 1 and "line 11:" in notes[0] and problem in notes[0]
    with pytest.raises(UserError, match=r"D488.*line 11:"):
        read_noad(path, strict=True)


@given(st.lists(NOAD_SIGNS, max_size=30).map("".join))
def test_nothing_crashes_the_scanner_of_noad(text):
    read_document('<SimpleWsdDoc name="n">' + text, "x", lambda where, problem: None)


TOKENS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)


@given(st.lists(st.tuples(TOKENS.filter(str.strip), st.sampled_from(sorted(BREAKS))), min_size=1, max_size=8))
def test_words_and_breaks_round_trip(words):
    source = doc_xml("/a.txt", *(word_xml(text, gap.removesuffix("_BREAK")) for text, gap in words))
    source = source.replace("/a.txt", "\u2020")  # a path that no word begins
    actual = read_document(source, "x", lambda where, problem: pytest.fail(problem))
    shown = {"``": '"', "''": '"'}
    texts = ["/", "written", "/", "jokes", "/", "a.txt"] + [shown.get(text, text) for text, _ in words]
    gaps = ["NO_BREAK"] * 6 + [gap for _, gap in words]
    assert actual.text == "".join(BREAKS[gap] + text for text, gap in zip(texts, gaps, strict=True))


@pytest.mark.slow
@pytest.mark.data
def test_noad_masc_is_whole():
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    actual = read_noad(f"{data}/labelled/noad-masc/noad-masc.tar.xz", strict=True)
    assert len(actual.documents) == len({item.name for item in actual.documents}) == 390
    assert sum(len(item.places) for item in actual.documents) == 136_544 - 205  # with the paths in the files
    assert len(actual.wordnet) == 18_932
    assert len({item.genre for item in actual.documents}) == 20
    assert not any(item.text.startswith("/") for item in actual.documents)
    for item in actual.documents[::40]:
        for place in item.places:
            assert not any(map(str.isspace, item.text[place.start : place.end]))


def test_keys_of_one_lemma_written_together():
    text, notes = "x/m1.003\tbe%2:42:00::;2:42:03::,be%2:42:03::, am%1\n\nx/m2\n", []
    actual = read_map(text, "map", lambda *say: notes.append(say))
    assert list(actual.values()) == [("be%2:42:00::", "be%2:42:03::", "am%1")]
    assert [where for where, _ in notes] == ["map, line 3"]
