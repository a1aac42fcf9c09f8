"""CoNLL-U and spaCy DocBins: documents read from them, and annotations written into them."""

from __future__ import annotations

import gc
import gzip
import io
import lzma
import zlib

import pytest
import srsly
from examples import fewer_examples
from fake_models import annotate_texts
from format_samples import annotated, encode
from hypothesis import given, strategies as st
from spacy.tokens import Doc, DocBin, Span

from disambig.api.formats import read_conllu
from disambig.errors import UserError
from disambig.formats import (
    KEY,
    AnnotatedDocument,
    ConlluFormat,
    Document,
    Input,
    UnreadableDocument,
    check_inputs,
    conllu,
    conllu_cuts,
    conllu_documents,
    docbin as docbin_reader,
    docbin_documents,
    documents as limits,
    escaped,
    make_format,
    parse_document,
    read,
    read_lines,
    records,
    sentences,
)


def token(name: str, form: str, misc: str = "_") -> str:
    return "\t".join([name, form, *["_"] * 7, misc]) + "\n"


FRENCH = (
    "# newdoc id = one\n# sent_id = a\n# text = Vamos al  mar.\n"
    + "".join(token(*pair.split("=")) for pair in "1=Vamos 2-3=al 2=a 3=el 3.1=gran 3.2=gran".split())
    + token("4", "mar", "SpaceAfter=No|Gloss=sea")
    + token("5", ".")
    + "\n"
    + token("1", "Heading")
    + "\n# newpar\n"
    + token("0.1", "and")
    + token("1", "Ab")
    + token("2", "c", "SpaceAfter=No")
    + token("3", "!", "SpaceAfter=No")
    + "\n\n# a comment that belongs to nothing\n"
)


def documents(data: bytes) -> list[Document | UnreadableDocument]:
    return list(conllu_documents(read_lines(io.BytesIO(data)), "a.conllu"))


def test_text_and_token_offsets():
    (document,) = documents(FRENCH.encode())
    assert document.text == "Vamos al  mar. Heading\n\nAb c!"
    assert (document.id, document.line, document.kind) == ("one", 1, "conllu")
    assert document.source == FRENCH.encode()
    actual = parse_document(FRENCH, "a.conllu")
    words, lines = "Vamos al mar . Heading Ab c !".split(), FRENCH.split("\n")
    assert [document.text[a:b] for a, b in zip(actual.starts, actual.ends, strict=True)] == words
    assert [lines[at].split("\t")[1] for at in actual.lines] == words


def test_documents_begin_at_newdoc_or_after_a_fixed_number_of_sentences(monkeypatch):
    one = "# sent_id = 1\n# newdoc id = first\n" + token("1", "One") + "\n"
    two = "#newdoc\n" + token("1", "Two") + "\n" + token("1", "more") + "\n"
    first, second = documents((one + two).encode())
    assert (first.id, first.text, first.line) == ("first", "One", 1)
    assert (second.id, second.text, second.line) == ("a.conllu:5", "Two\n\nmore", 5)
    assert first.source + second.source == (one + two).encode()
    monkeypatch.setattr(conllu, "SENTENCES", 2)
    data = "".join(token("1", f"w{i}.") + "\n" for i in range(5)).encode()
    actual = documents(data)
    assert [document.text for document in actual] == ["w0. w1.", "w2. w3.", "w4."]
    assert [document.line for document in actual] == [1, 5, 9]
    assert b"".join(document.source for document in actual) == data


LONG_COMMENT, LONG_ROW = "# " + "x" * 200 + "\n", token("2", "dog", "x" * 200)


@pytest.mark.parametrize(
    ("name", "text", "places", "line"),
    [
        ("# newdoc\n", token("1", "Two") + LONG_ROW + token("3", "."), [1, 9], 6),
        ("", token("1", "Two") + LONG_ROW + token("3", "."), [1, 7], 4),
        ("", LONG_COMMENT + "# newdoc\n" + token("1", "Two"), [1, 7], 3),
        ("# newdoc\n", "# newdoc id = " + LONG_COMMENT + token("1", "Two"), [1, 8], 5),
    ],
)
def test_a_line_that_is_too_long_only_affects_its_sentence(monkeypatch, name, text, places, line):
    monkeypatch.setattr(limits, "LINE_LIMIT", 100)
    one, three = (name + token("1", word) + "\n" for word in ("One", "Three"))
    first, bad, last = documents((one + name + text + "\n" + three).encode())
    assert (first.text, last.text, [first.line, last.line]) == ("One", "Three", places)
    assert (bad.error.code, bad.error.values["line"]) == ("D305", line)


@pytest.mark.parametrize(
    ("data", "line", "part"),
    [
        ("1\tword\n", 1, "2 columns instead of 10"),
        ("1 word\n", 1, "1 column instead of 10"),
        ("# c\n" + token("2", "a"), 2, "id 2 instead of 1"),
        (token("1", "a") + token("3", "b"), 2, "id 3 instead of 2"),
        (token("1", "a") + token("1", "b"), 2, "id 1 instead of 2"),
        (token("1", "a") + token("1.2", "b"), 2, "id 1.2 instead of 1.1"),
        (token("1", "a") + token("2.1", "b"), 2, "id 2.1 instead of 1.1"),
        (token("1-2", "a") + token("1", "b"), 2, "ends before word 2"),
        (token("1", "a") + token("1-2", "b"), 2, "range 1-2 after word 1"),
        (token("1-3", "a") + token("2-3", "b"), 2, "range 2-3 after word 0"),
        (token("1", "a") + token("2", "b") + token("1-2", "c"), 3, "after word 2 (a blank line is missing"),
        (token("2-1", "a"), 1, "range 2-1"),
        (token("x", "a"), 1, "invalid id 'x'"),
        (token("01", "a"), 1, "invalid id '01'"),
        (token("9" * 5000, "a"), 1, "invalid id"),
        (token("1", ""), 1, "an empty form"),
        ("# text = a b\n" + token("1", "a") + token("2", "c"), 3, "'c', but `# text` has 'b'"),
        ("# text = a b c\n" + token("1", "a") + token("2", "b"), 1, "continues with 'c'"),
        ("# text = a b\n\n", 1, "without words"),
        ("# a comment\r1\ta\r\n", 1, "a carriage return inside the line; end lines with LF"),
        ("# text = cafe\u0301\n" + token("1", "caf\xe9"), 2, "are not in the same Unicode normal form"),
    ],
)
def test_names_the_number_of_a_malformed_line(data, line, part):
    good = token("1", "Good") + "\n"
    (first, bad, last) = documents((f"{good}# newdoc\n{data}\n# newdoc\n{good}").encode())
    assert (first.text, last.text) == ("Good", "Good")
    message = str(bad.error)
    assert bad.error.code == "D324" and "\n" not in message
    assert f"a.conllu: line {line + 3}: " in message and part in message


def test_only_the_malformed_sentences_of_a_document_are_left_out():
    good, bad = [(token("1", form) + "\n").encode() for form in ("Yes", "Yes\tno")]
    latin = good.replace(b"Yes", b"\xe9")
    data = b"# newdoc id = a\n" + good * 2 + bad + b"\n" + good + latin + bad + good * 2
    actual = documents(data)
    read = [one for one in actual if isinstance(one, Document)]
    assert [(one.id, one.line, one.text) for one in read] == [
        ("a", 1, "Yes\n\nYes"),
        ("a.conllu:9", 9, "Yes"),
        ("a.conllu:15", 15, "Yes\n\nYes"),
    ]
    left_out = [str(one.error) for one in actual if isinstance(one, UnreadableDocument)]
    assert [error.split("]")[0] for error in left_out] == ["[D324", "[D304", "[D324"]
    assert "line 6:" in left_out[0] and f"offset {data.index(0xE9)}" in left_out[1]
    assert b"".join(one.source for one in read) == data.replace(bad + b"\n", b"").replace(latin + bad, b"")


@pytest.mark.parametrize("head", ["_", "x", "3", "-1", "", "\u00b2"])
def test_a_head_that_is_not_a_word_is_named_with_its_line(tmp_path, head):
    path = tmp_path / "a.conllu"
    rows = [("1", "Dogs", "_", "NOUN", "NNS", "_", "2"), ("2", "bark", "_", "VERB", "VBP", "_", "0")]
    lines = ["\t".join([*row, "dep", "_", "_"]) for row in rows]
    path.write_text("\n".join(["# text = Dogs bark", *lines, "", ""]), encoding="utf8")
    (sentence,) = read_conllu(path)
    assert (sentence.heads, sentence.universal_tags) == ([1, -1], ["NOUN", "VERB"])
    path.write_text("\n".join([lines[0], lines[1].replace("\t0\t", f"\t{head}\t"), "", ""]), encoding="utf8")
    (sentence,) = read_conllu(path)
    with pytest.raises(UserError, match=r"D324.*a\.conllu: line 2: head"):
        _ = sentence.heads


@pytest.mark.parametrize(
    ("heads", "line", "problem"),
    [
        ((0, 1, 0), 4, "a second root: word 1 is one already"),
        ((3, 0, 1), 2, "the heads from word 1 lead back to it"),
        ((2, 0, 3), 4, "the heads from word 3 lead back to it"),
        ((2, 3, 2), 3, "the heads from word 2 lead back to it"),
    ],
)
def test_heads_that_are_not_a_tree_are_named_with_their_line(tmp_path, heads, line, problem):
    rows = [token(str(i), "a").replace("\t_\t_\t_\t_\n", f"\t{h}\t_\t_\t_\n") for i, h in enumerate(heads, 1)]
    (tmp_path / "a.conllu").write_text("# a\n" + "".join(rows) + "\n")
    (sentence,) = read_conllu(tmp_path / "a.conllu")
    with pytest.raises(UserError, match=rf"D324.*a\.conllu: line {line}: {problem}"):
        _ = sentence.heads


def test_invalid_bytes_and_compressed_files(tmp_path):
    good = (token("1", "Good") + "\n").encode()
    (latin, last) = documents(b"# newdoc\n" + token("1", "caf").encode()[:-2] + b"\xe9\n\n# newdoc\n" + good)
    assert latin.error.code == "D304"
    assert last.text == "Good"
    (_, nul) = documents(good + b"# newdoc\n\0\n\n# newdoc\n" + good)
    assert nul.error.code == "D303"
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + FRENCH.replace("\n", "\r\n").encode()))
    (document,) = read(Input(str(path), "a", "conllu"))
    assert document.text == parse_document(FRENCH, "").text
    path.write_bytes(gzip.compress(b""))
    (bad,) = read(Input(str(path), "a", "conllu"))
    assert bad.error.code == "D302"


@given(data=st.text(st.sampled_from("1 2\t-.#ab=\n\r_")) | st.text())
def test_nothing_that_is_read_raises(data):
    for actual in documents(data.encode(errors="ignore")):
        assert isinstance(actual, UnreadableDocument) or actual.text


FORMS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=6)
MISCS = st.sampled_from(["_", "SpaceAfter=No", "Gloss=x%7Cy", "A=b|SpaceAfter=No", f"{KEY}=old:a:b:0.10|B=c"])
SENTENCES = st.lists(
    st.tuples(st.sampled_from(["quite", "place", "during", "1997", "in"]) | FORMS, MISCS), min_size=1
)


def corpus(sentences, newline: str, breaks) -> str:
    lines = []
    for number, sentence in enumerate(sentences):
        if breaks[number % len(breaks)]:
            lines.append(f"# newdoc id = d{number}")
        lines += [token(str(i), form, misc)[:-1] for i, (form, misc) in enumerate(sentence, 1)]
        lines.append("")
    return "".join(line + newline for line in lines)


@given(
    sentences=st.lists(SENTENCES, min_size=1, max_size=8),
    newline=st.sampled_from(["\n", "\r\n"]),
    breaks=st.lists(st.booleans(), min_size=1),
)
def test_annotating_changes_only_its_own_key(sentences, newline, breaks):
    data = corpus(sentences, newline, breaks).encode()
    before = documents(data)
    results = [annotated_again(document) for document in before]
    form, output = ConlluFormat(), io.BytesIO()
    form.join([form.encode(results[:1]), form.encode(results[1:])], output.write)
    after = output.getvalue()
    assert [document.text for document in documents(after)] == [document.text for document in before]
    assert without_key(after) == without_key(data)
    values = [value for values in read_values(after) for value in values.split(";")]
    keys = sum(not value.startswith("old") for value in values)
    assert keys == sum(len(list(records(result))) for result in results)
    assert len(values) - keys == len(read_values(data))  # of another task


def annotated_again(document: Document) -> AnnotatedDocument:
    return AnnotatedDocument(document, tuple(annotate_texts([document.text])))


def read_misc(data: bytes) -> list[list[str]]:
    """Return the parts of the last column of each line."""
    return [line.removesuffix("\r").split("\t")[-1].split("|") for line in data.decode().split("\n")]


def read_values(data: bytes) -> list[str]:
    start = f"{KEY}="
    return [part.removeprefix(start) for parts in read_misc(data) for part in parts if part.startswith(start)]


def without_key(data: bytes) -> list[str]:
    lines = []
    for line, parts in zip(data.decode().split("\n"), read_misc(data), strict=True):
        kept = [part for part in parts if not part.startswith(f"{KEY}=")] or ["_"]
        lines.append("\t".join([*line.split("\t")[:-1], "|".join(kept), "\r" * line.endswith("\r")]))
    return lines


def test_a_decision_is_written_at_its_token_or_range():
    data = "# newdoc id = x\n" + token("1", "a") + token("2-3", "quite", "A=b") + token("2", "qui", "C=d")
    data += token("3", "te") + token("4", "place") + "\n"
    (document,) = documents(data.encode())
    after = ConlluFormat().encode([annotated_again(document)]).decode().split("\n")
    assert after[2].endswith("\tA=b|Disambig=spelling:quite:quiet:0.90:flag")
    assert [after[i] for i in (0, 1, 3, 4, 5)] == [data.split("\n")[i] for i in (0, 1, 3, 4, 5)]


def test_values_of_other_tasks_are_kept_and_old_ones_of_the_same_task_are_not():
    first = token("1", "a", "Disambig=tag:a:DT:0.9;spelling:a:b:0.5|A=b")
    last = token("3", "place", "Disambig=spelling:old:x:0.5")
    (document,) = documents((first + token("2", "quite", "Disambig=tag:quite:RB:1.00") + last).encode())
    after = ConlluFormat().encode([annotated_again(document)]).decode().split("\n")
    assert after[0].endswith("\tA=b|Disambig=tag:a:DT:0.9")
    assert after[1].endswith("\tDisambig=tag:quite:RB:1.00;spelling:quite:quiet:0.90:flag")
    assert after[2].endswith("\t_")


@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_comments_without_words_stay_with_the_next_document(bom):
    comments = f"{bom}# newdoc id = nothing\n# a note\n\n"
    one, two = "# newdoc id = x\n" + token("1", "a") + "\n", "# newdoc id = y\n" + token("1", "b")
    data = (comments + one + two).encode()
    assert [(document.id, document.source) for document in documents(data)] == [
        ("x", (comments + one).encode()),
        ("y", two.encode()),
    ]


CHARACTERS = st.sampled_from(list('quitéin. Aß\n\t"|=;%\u2003'))


@fewer_examples
@given(text=st.text(CHARACTERS | st.characters(codec="utf-8", exclude_categories=["C"])))
def test_a_plain_text_round_trips_as_tokens(text):
    pytest.importorskip("spacy")
    text = "It was a quite place. " + text
    (document,) = documents(make_format("conllu").encode([annotated(text)]))
    assert isinstance(document, Document), document.error
    assert "".join(document.text.split()) == "".join(text.split())
    assert document.id == "a.txt"


def test_a_text_becomes_tokens_sentences_and_paragraphs():
    pytest.importorskip("spacy")
    text = "It's  a quite place.\nNext, in\u2003it.\n\nEnd"
    lines = make_format("conllu").encode([annotated(text), annotated("\n")]).decode().split("\n")
    comments = ["newdoc id = a.txt", "sent_id = 1", "text = It's a quite place."]
    comments += ["sent_id = 2", "text = Next, in it.", "newpar", "sent_id = 3", "text = End"]
    assert [line[2:] for line in lines if line.startswith("# ")] == [*comments, "newdoc id = a.txt"]
    assert token("1", "It", "SpaceAfter=No")[:-1] in lines
    assert token("4", "quite", "Disambig=spelling:quite:quiet:0.90:flag")[:-1] in lines
    assert escaped("a|b=c:d;e%f g\n") == "a%7Cb%3Dc%3Ad%3Be%25f%20g%0A"
    assert [escaped(word) for word in ("during", "whö's")] == ["during", "whö's"]


@given(
    sentences=st.lists(st.integers(1, 4), min_size=1, max_size=20),
    breaks=st.lists(st.booleans(), min_size=1),
    size=st.integers(1, 200),
)
def test_cuts_lie_between_documents_or_else_sentences(sentences, breaks, size):
    data = corpus([[("w.", "_")] * n for n in sentences], "\n", breaks).encode()
    cuts = conllu_cuts(io.BytesIO(data), size)
    ends = [offset for offset, _ in cuts[1:]] + [len(data)]
    parts = [data[start:end] for (start, _), end in zip(cuts, ends, strict=True)]
    assert b"".join(parts) == data
    assert [data[:start].count(b"\n") + 1 for start, _ in cuts] == [line for _, line in cuts]
    assert all(len(part) >= size for part in parts[:-1])
    whole = [one.text for one in documents(data)]
    actual = [one.text for part in parts for one in documents(part)]
    if not any(breaks[i % len(breaks)] for i in range(len(sentences))):
        actual, whole = [" ".join(actual)], [" ".join(whole)]
    assert actual == whole


def test_flags_for_people_point_at_the_line_of_the_token():
    data = token("1", "Good") + "\n" + token("1-2", "a") + token("1", "x") + token("2", "y")
    data += token("3", "quite") + token("4", "place") + "\n"
    (document,) = documents(data.encode())
    written = make_format("text").encode([annotated_again(document)])
    assert written == b"a.conllu:6:3: quite -> quiet (spelling, 0.90)\n"
    with pytest.raises(UserError, match="D321"):
        check_inputs(make_format("corrected"), [Input("a.conllu", "a", "conllu")])
    check_inputs(make_format("html"), [Input("a.conllu", "a", "conllu")])


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n\r\n"])
def test_a_missing_final_blank_line_does_not_join_files(end):
    (document,) = documents((token("1", "in")[:-1] + end).encode())
    whole = encode("conllu", *[annotated_again(document)] * 3, chunks=2)
    assert [document.text for document in documents(whole)] == ["in\n\nin\n\nin"]
    assert whole.endswith(end.encode())
    assert whole.count(b"\n") == 4 + (2 if len(end) > 2 else end.count("\n"))


THREE_SENTENCES = """# newdoc id = first
# newpar
# sent_id = 1
# text = Don't go.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
3.1\tgone\tgo\tVERB\tVB\t_\t_\t_\t_\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

1\tNo\tno\tINTJ\tUH\t_\t0\troot\t_\t_

# newdoc id = second
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\tSpaceAfter=No|x=y
"""


@pytest.mark.parametrize("name", ["a.conllu", "a.conllu.xz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sentences(tmp_path, name, end):
    data = THREE_SENTENCES.replace("\n", end).encode()
    (tmp_path / name).write_bytes(lzma.compress(data) if name.endswith("xz") else data)
    one, two, three = read_conllu(tmp_path / name)
    assert [row[1] for row in one.words] == ["Do", "n't", "go", "."]
    assert one.lines == [6, 7, 8, 10]
    assert one.spelt == "Don't go. "
    assert [one.spelt[token.start : token.end] for token in one.tokens] == ["Don't", "go", "."]
    assert [list(token.words) for token in one.tokens] == [[0, 1], [2], [3]]
    assert [token.line for token in one.tokens] == [5, 8, 10]
    assert [token.spaced for token in one.tokens] == [True, False, True]
    assert (one.line, one.text_line, one.comments["sent_id"]) == (1, 4, "1")
    assert [s.document for s in (one, two, three)] == ["first", "first", "second"]
    assert [s.begins_document for s in (one, two, three)] == [True, False, True]
    assert [s.begins_paragraph for s in (one, two, three)] == [True, False, False]
    assert (three.spelt, three.tokens[0].spaced) == ("Yes", False)


WORD_FORMS = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=6)
SENTENCE_ROWS = st.lists(st.lists(st.tuples(WORD_FORMS, st.booleans()), min_size=1, max_size=5), max_size=4)


@given(SENTENCE_ROWS)
def test_sentences_round_trip(rows):
    lines = []
    for sentence in rows:
        for number, (form, spaced) in enumerate(sentence, 1):
            lines.append(token(str(number), form, "_" if spaced else "SpaceAfter=No")[:-1])
        lines.append("")
    actual = list(sentences(lines, "made"))
    assert [[word[1] for word in item.words] for item in actual] == [[form for form, _ in s] for s in rows]
    assert [item.spelt for item in actual] == ["".join(f + " " * spaced for f, spaced in s) for s in rows]
    for item in actual:
        assert [item.spelt[t.start : t.end] for t in item.tokens] == [t.columns[1] for t in item.tokens]


def test_rejects_unreadable_files_of_sentences(tmp_path):
    path = tmp_path / "a.conllu"
    with pytest.raises(UserError, match="D300"):
        list(read_conllu(path))
    for data, message in ((b"1\t\0", "D303"), (b"# sent_id = 1\n1\tgo\n", r"D324.*line 2.*2 columns")):
        path.write_bytes(data)
        with pytest.raises(UserError, match=message):
            list(read_conllu(path))


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


def docs_in(data: bytes) -> list:
    return list(docbin_documents(io.BytesIO(data), "a.spacy"))


def annotated_docbin(data: bytes) -> bytes:
    return encode("spacy", *(AnnotatedDocument(d, tuple(annotate_texts([d.text]))) for d in docs_in(data)))


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
    actual = docs_in(stored(*map(NLP.make_doc, texts)))
    assert [one.text for one in actual] == texts
    assert [one.line for one in actual] == list(range(1, len(texts) + 1))


def test_unknown_spaces_are_read_as_by_spacy():
    doc = Doc(NLP.vocab, words=["a", "quite", "place"])
    assert [one.text for one in docs_in(stored(doc, user_data=False))] == [doc.text]
    data = message(flags=[{"has_unknown_spaces": True}] * 2, spaces=b"\0" * 3)
    docs = DocBin().from_bytes(data).get_docs(NLP.vocab)
    assert [one.text for one in docs_in(data)] == [doc.text for doc in docs] == ["in it ", "of "]


def test_annotations_of_others_are_kept():
    docs = [rich(), NLP.make_doc("nothing in it"), NLP.make_doc(""), rich()]
    actual = list(DocBin().from_bytes(annotated_docbin(stored(*docs))).get_docs(NLP.vocab))
    for before, after in zip(docs, actual, strict=True):
        attributes = ["ORTH", "TAG", "HEAD", "DEP", "ENT_IOB", "ENT_TYPE", "LEMMA", "SPACY"]
        assert (before.to_array(attributes) == after.to_array(attributes)).all()
        assert after.cats == before.cats
        assert after.user_data.get("note") == before.user_data.get("note")
    assert [(span.text, span.label_) for span in actual[0].spans["mine"]] == [("quite place", "KEPT")]
    (flagged,) = [span for span in actual[0].spans["spelling"] if span._.disambig["flagged"]]
    assert (flagged.text, flagged.label_, flagged.id_) == ("quite", "quiet", "spelling")


def test_annotating_a_docbin_twice_changes_nothing():
    once = annotated_docbin(stored(rich(), user_data=False))
    twice = annotated_docbin(once)
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
        problems = [one.error for one in docs_in(data) if isinstance(one, UnreadableDocument)]
    except UserError as error:
        problems = [error]
    assert gc.isenabled() and problems
    for error in problems:
        assert error.code == "D325"
        assert str(error).startswith("[D325] a.spacy is not a spaCy DocBin: ")
        assert part in str(error) and "\n" not in str(error)


@given(data=st.binary(), place=st.integers(0, 400), value=st.integers(0, 255))
def test_no_damage_to_a_docbin_raises(tmp_path_factory, data, place, value):
    path = tmp_path_factory.getbasetemp() / "any.spacy"
    whole = bytearray(zlib.decompress(message()))
    whole[place % len(whole)] = value
    for body in (data, zlib.compress(bytes(whole))):
        path.write_bytes(body)
        for actual in read(Input(str(path), "any", "spacy")):
            assert isinstance(actual, UnreadableDocument) or actual.text
