from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.lsp import ProtocolLines, TextDocument, document_name, uri_to_path
from disambig.markup import FORMATS

VSCODE = Path(__file__).parents[3] / "disambig" / "lsp" / "vscode"  # not part of the wheel


@dataclass
class Position:
    line: int
    character: int


@dataclass
class Range:
    start: Position
    end: Position


@dataclass
class Partial:
    range: Range
    text: str


@dataclass
class Whole:
    text: str


def opened(text: str, encoding="utf-16") -> TextDocument:
    return TextDocument.opened("file:///notes.md", "/notes.md", 1, text, encoding)


def partial(lines: ProtocolLines, start: int, end: int, text: str) -> Partial:
    return Partial(Range(Position(*lines.position(start)), Position(*lines.position(end))), text)


pieces = st.text(alphabet="a\u00e9\U0001f600\n\r \u2028", max_size=8)


@given(pieces, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), pieces), max_size=6), st.booleans())
def test_changes_come_to_the_text_that_the_editor_has(text, changes, at_once):
    document = opened(text)
    sent = []
    for version, (start, taken, put) in enumerate(changes, 2):
        start, end = min(start, len(text)), min(start + taken, len(text))
        if "\r\n" in (text[start - 1 : start + 1], text[end - 1 : end + 1]):
            continue  # no editor has a place between the two
        sent.append(partial(ProtocolLines(text, "utf-16"), start, end, put))
        text = text[:start] + put + text[end:]
        if not at_once:
            document.change(version, sent)
            assert document.state.text == text
            assert document.state.version == version
            sent = []
    document.change(99, sent)
    assert document.state.text == text


@pytest.mark.parametrize(
    "bad", [Range(Position(4, 0), Position(4, 1)), Range(Position(1, 2), Position(0, 1))]
)
def test_an_edit_outside_the_text_is_an_error_until_all_of_it_is_sent(bad):
    document = opened("One.\nTwo.")
    with pytest.raises(UserError, match=r"D843.*/notes\.md"):
        document.change(2, [Partial(bad, "x"), Partial(Range(Position(0, 0), Position(0, 0)), "y")])
    assert document.state.version == 2
    with pytest.raises(UserError, match="D843"):
        document.change(3, [])
    document.change(4, [Whole("Three.")])
    assert (document.state.text, document.unchecked) == ("Three.", None)


def test_the_line_behind_the_last_is_the_end():
    document = opened("One.\nTwo.")
    document.change(2, [Partial(Range(Position(0, 0), Position(2, 0)), "x")])
    assert document.state.text == "x"


@pytest.mark.parametrize(
    ("uri", "language", "name"),
    [
        ("file:///a%20b/notes.md", "markdown", "/a b/notes.md"),
        ("file:///a/notes.md", "plaintext", "/a/notes.md"),
        ("file:///a/README", "markdown", "/a/README.md"),
        ("file:///a/README", "plaintext", "/a/README"),
        ("untitled:Untitled-1", "latex", "/texts/untitled.tex"),
        ("untitled:Untitled-1", "typescriptreact", "/texts/untitled.tsx"),
        ("http://[bad", "markdown", "/texts/untitled.md"),
        ("untitled:Untitled-1", "something", "/texts/untitled.txt"),
    ],
)
def test_what_a_text_is_called(uri, language, name):
    assert document_name(uri, language, "/texts") == name


def test_a_uri_of_no_file_has_no_path():
    assert uri_to_path("git:/a/b.md?x") == ""
    assert uri_to_path("http://[bad") == ""
    assert uri_to_path("file:///a%25b/%C3%A9.md") == "/a%b/\u00e9.md"


def test_the_extension_for_vs_code_names_every_language_that_is_read():
    manifest = json.loads((VSCODE / "package.json").read_text("utf8"))
    languages = manifest["contributes"]["configuration"]["properties"]["disambig.languages"]["default"]
    named = {document_name("untitled:x", language, "/") for language in languages}
    suffixes = [entry.suffixes[0] for entry in FORMATS if entry.languages]
    assert named == {f"/untitled{suffix}" for suffix in (*suffixes, ".txt")}
