"""Documents of the editor: lines and columns, changes, names, settings, and scheduled checks."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from disambig.configuration import CheckSettings
from disambig.errors import UserError
from disambig.lsp import (
    CheckScheduler,
    EditorSettings,
    LoadedCheckers,
    ProtocolLines,
    TextDocument,
    document_name,
    documents as lines_module,
    uri_to_path,
)
from disambig.markup import FORMATS
from disambig.runtime import check_time

WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"

CHARACTERS = ["a", "b ", "\u00e9", "e\u0301", "\U0001f600", "\u4e2d", FAMILY]
CHARACTERS += ["\n", "\r\n", "\r", "\u2028", "\x0c", "\x85"]

texts = st.lists(st.sampled_from(CHARACTERS), max_size=20).map("".join)
encodings = st.sampled_from(sorted(WIDTHS))


def units(text: str, encoding: str) -> int:
    codec, width = WIDTHS[encoding]
    return len(text.encode(codec)) // width


@given(texts, encodings)
def test_offsets_and_positions_round_trip(text, encoding):
    lines = ProtocolLines(text, encoding)
    split = re.split("\r\n|\r|\n", text)
    assert len(lines) == len(split)
    for offset in range(len(text) + 1):
        line, column = lines.position(offset)
        if text[offset - 1 : offset + 1] == "\r\n":  # between the two there is no place
            continue
        before = text[:offset]
        assert column == units(re.split("\r\n|\r|\n", before)[-1], encoding)
        assert line == len(re.findall("\r\n|\r|\n", before))
        assert lines.offset(line, column) == offset


@given(texts, encodings, st.integers(0, 30), st.integers(0, 60))
def test_positions_outside_of_the_text(text, encoding, line, column):
    lines = ProtocolLines(text, encoding)
    if line > len(lines):
        with pytest.raises(UserError, match="D842"):
            lines.offset(line, column)
    else:
        result = lines.offset(line, column)
        assert 0 <= result <= len(text)
        assert lines.position(result)[1] <= column or line == len(lines)


@given(texts, st.integers(0, 25), st.integers(0, 6), texts, encodings)
def test_changed_lines_equal_those_of_the_new_text(text, start, taken, put, encoding):
    start, end = min(start, len(text)), min(start + taken, len(text))
    lines = ProtocolLines(text, encoding).changed(start, end, put)
    anew = ProtocolLines(text[:start] + put + text[end:], encoding)
    assert lines.text == anew.text
    assert len(lines) == len(anew)
    assert all(lines.line_at(number) == anew.line_at(number) for number in range(len(anew)))
    assert len(ProtocolLines(text, encoding)) == len(re.split("\r\n|\r|\n", text))  # as it was


def test_a_change_scans_only_the_changed_lines(monkeypatch):
    actual: list[int] = []
    text = "It was so.\n" * 1000
    before = ProtocolLines(text, "utf-16")
    real = lines_module._line_ends
    monkeypatch.setattr(
        lines_module,
        "_line_ends",
        lambda text, *place: actual.append(place[1] - place[0]) or real(text, *place),
    )
    after = before.changed(5504, 5506, "is")
    assert actual[0] <= 2 * len("It was so.\n")
    assert (len(actual), len(after)) == (1, 1001)


def test_columns_of_long_lines_are_found_quickly(monkeypatch):
    lengths: list[int] = []
    lines = ProtocolLines("a \U0001f600 b" * 1000, "utf-16")
    real = ProtocolLines._units
    monkeypatch.setattr(
        ProtocolLines, "_units", lambda self, text: lengths.append(len(text)) or real(self, text)
    )
    assert lines.offset(0, 6 * 900 + 4) == 5 * 900 + 3
    assert sum(lengths) < 3 * len(lines.text)
    assert len(lengths) < 30


def test_columns_in_three_encodings():
    text = "e\u0301 \U0001f600 then"
    at = text.index("then")
    assert ProtocolLines(text, "utf-8").position(at) == (0, 9)
    assert ProtocolLines(text, "utf-16").position(at) == (0, 6)
    assert ProtocolLines(text, "utf-32").position(at) == (0, 5)
    assert ProtocolLines(text, "utf-16").offset(0, 4) == text.index("\U0001f600")  # within the character


def test_lone_surrogates():
    assert ProtocolLines("\ud83d then", "utf-16").position(2) == (0, 2)
    assert ProtocolLines("\ud83d then", "utf-8").position(2) == (0, 4)


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


def test_a_byte_order_mark_in_the_text_of_the_editor_is_a_character():
    lines = ProtocolLines("\ufeffIts late.\nMore.", "utf-16")
    assert lines.position(1) == (0, 1) and lines.offset(0, 1) == 1 and lines.offset(1, 0) == 11


def opened(text: str, encoding="utf-16") -> TextDocument:
    return TextDocument.opened("file:///notes.md", "/notes.md", 1, text, encoding)


def partial(lines: ProtocolLines, start: int, end: int, text: str) -> Partial:
    return Partial(Range(Position(*lines.position(start)), Position(*lines.position(end))), text)


short_texts = st.text(alphabet="a\u00e9\U0001f600\n\r \u2028", max_size=8)


@given(
    short_texts,
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), short_texts), max_size=6),
    st.booleans(),
)
def test_changes_give_the_text_of_the_editor(text, changes, at_once):
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
def test_an_invalid_edit_is_an_error_until_the_whole_text_is_sent(bad):
    document = opened("One.\nTwo.")
    with pytest.raises(UserError, match=r"D843.*/notes\.md"):
        document.change(2, [Partial(bad, "x"), Partial(Range(Position(0, 0), Position(0, 0)), "y")])
    assert document.state.version == 2
    with pytest.raises(UserError, match="D843"):
        document.change(3, [])
    document.change(4, [Whole("Three.")])
    assert (document.state.text, document.sync_error) == ("Three.", None)
    after_the_last_line = Range(Position(0, 0), Position(1, 0))
    document.change(5, [Partial(after_the_last_line, "Four.")])
    assert document.state.text == "Four."


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
def test_document_name(uri, language, name):
    assert document_name(uri, language, "/texts") == name


def test_uri_to_path():
    assert uri_to_path("git:/a/b.md?x") == ""
    assert uri_to_path("http://[bad") == ""
    assert uri_to_path("file:///a%25b/%C3%A9.md") == "/a%b/\u00e9.md"


def test_vs_code_extension_names_every_language():
    manifest = json.loads((VSCODE / "package.json").read_text("utf8"))
    languages = manifest["contributes"]["configuration"]["properties"]["disambig.languages"]["default"]
    named = {document_name("untitled:x", language, "/") for language in languages}
    suffixes = [entry.suffixes[0] for entry in FORMATS if entry.languages]
    assert named == {f"/untitled{suffix}" for suffix in (*suffixes, ".txt")}


def settings_for(folder: Path, values, name: str = "notes.md", **more):
    return EditorSettings(values, str(folder), **more).for_file(str(folder / name))


@pytest.mark.parametrize("wrapped", [False, True])
def test_editor_settings_take_precedence_over_files(tmp_path, wrapped):
    (tmp_path / "disambig.toml").write_text('tasks = ["spelling"]\nignore = ["affect"]\nflags_per_1000 = 1\n')
    values = {"tasks": ["slip"], "ignore": ["then"], "max_flags_per_1000": 2.0, "baseline": None}
    result = settings_for(tmp_path, {"disambig": values} if wrapped else values)
    assert result.tasks == ("slip",)
    assert result.ignore == ("affect", "then")
    assert (result.flags_per_1000, result.max_flags_per_1000, result.baseline) == (1, 2.0, None)


def test_paths_and_patterns_are_relative_to_the_folder(tmp_path):
    values = {
        "ignore_files": ["words.txt"],
        "exclude": ["old/"],
        "overrides": {"*.tex": {"tasks": ["spelling"], "ignore": ["b"]}, "b.tex": {"models": ["mine"]}},
        "ignore": ["a"],
    }
    result = settings_for(tmp_path, values)
    assert result.ignore_files == (str(tmp_path / "words.txt"),)
    assert not result.excluded
    assert settings_for(tmp_path, values, "old/notes.md").excluded
    of_tex, of_b = settings_for(tmp_path, values, "a.tex"), settings_for(tmp_path, values, "b.tex")
    assert (of_tex.tasks, of_tex.ignore) == (("spelling",), ("a", "b"))
    assert (of_b.tasks, of_b.models) == ((), (str(tmp_path / "mine"),))  # one choice, replaced together
    assert not settings_for(tmp_path, values, "../old/notes.md").excluded


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"ignor": ["a"]}, "D970"),
        ({"ignore": "a"}, "D971"),
        (["a"], "D849"),
        ({"overrides": {"*": {"x": 1}}}, "D970"),
    ],
)
def test_errors_name_the_editor(tmp_path, values, code):
    with pytest.raises(UserError, match=rf"{code}.*settings of the editor"):
        EditorSettings(values, str(tmp_path))


@pytest.mark.parametrize(
    ("values", "ignored"),
    [
        *((values, ("a",)) for values in (None, {}, {"disambig": None}, {"disambig": {}})),
        ({"ignore": ["b"]}, ("b",)),
        ({"ignore": None}, ()),
    ],
)
def test_later_settings_take_precedence_over_initial_ones(tmp_path, values, ignored):
    result = settings_for(tmp_path, values, initial={"ignore": ["a"], "tasks": ["slip"]})
    assert (result.ignore, result.tasks) == (ignored, ("slip",))


def test_words_that_are_not_saved_yet(tmp_path):
    preferences = EditorSettings({"ignore": ["a"]}, str(tmp_path)).with_word("b")
    assert preferences.reloaded().for_file(str(tmp_path / "x.md")).ignore == ("a", "b")


def test_caches_and_reloads_settings_files(tmp_path):
    preferences = EditorSettings(None, str(tmp_path))
    assert preferences.for_file(str(tmp_path / "x.md")).ignore == ()
    (tmp_path / "disambig.toml").write_text('ignore = ["a"]\n')
    assert preferences.for_file(str(tmp_path / "x.md")).ignore == ()
    assert preferences.reloaded().for_file(str(tmp_path / "x.md")).ignore == ("a",)


def check_while(change) -> tuple[TextDocument, list[int]]:
    """Check a text; when its settings are read for the first time, `change` is called with it."""
    document = TextDocument.opened("file:///a.md", "/a.md", 1, "It was so.", "utf-16")
    published: list[int] = []
    loads: list[str] = []

    class NoModels(LoadedCheckers):
        def get(self, settings):
            loads.append("once more")
            if len(loads) == 1:
                change(document)
                loop.call_soon_threadsafe(scheduler.schedule, document)
            return lambda texts: []

    async def run() -> None:
        nonlocal loop, scheduler
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def publish(_, result) -> None:
            published.append(len(loads))
            done.set()

        scheduler = CheckScheduler(NoModels(), lambda path: CheckSettings(), publish, lambda *codes: None)
        scheduler.schedule(document, after=0.0)
        await asyncio.wait_for(done.wait(), 60)
        scheduler.worker.end()

    loop: asyncio.AbstractEventLoop
    scheduler: CheckScheduler
    asyncio.run(run())
    return document, published


def test_settings_that_change_while_they_are_read():
    def change(document: TextDocument) -> None:
        document.settings_version += 1

    document, published = check_while(change)
    assert published == [2]  # nothing of the settings before
    assert document.live_settings_version == document.settings_version == 1


def test_a_change_of_the_text_does_not_reload_settings():
    def change(document: TextDocument) -> None:
        document.change(2, [])

    assert check_while(change)[1] == [1]


def test_a_request_does_not_wait_long_for_other_documents(monkeypatch):
    monkeypatch.setattr("disambig.lsp.scheduler.CATCH_UP_SECONDS", 0.1)
    scheduler = CheckScheduler(LoadedCheckers(), lambda path: CheckSettings(), print, print)
    free = threading.Event()
    scheduler.worker.submit(lambda: free.wait(60))
    document = TextDocument.opened("file:///a.md", "/a.md", 1, "a", "utf-16")
    try:
        asyncio.run(asyncio.wait_for(scheduler.catch_up(document), 30))
    finally:
        free.set()
        scheduler.worker.end()


def check_all(annotate, texts: list[str], suffix: str = ".txt") -> tuple[list[str], list[str]]:
    """Check texts at once; return the published names in order, and the codes of reported problems."""
    published: list[str] = []
    codes: list[str] = []

    class Models(LoadedCheckers):
        def get(self, settings):
            return annotate

    async def run() -> None:
        done = asyncio.Event()

        def publish(document, result) -> None:
            published.append(document.name)
            if len(published) == len(texts):
                done.set()

        def tell(document, problem) -> None:
            codes.append(problem.code)

        scheduler = CheckScheduler(Models(), lambda path: CheckSettings(), publish, tell)
        for number, text in enumerate(texts):
            name = f"/{number}{suffix}"
            scheduler.schedule(TextDocument.opened(f"file://{name}", name, 1, text, "utf-16"), after=0.0)
        await asyncio.wait_for(done.wait(), 60)
        scheduler.worker.end()

    asyncio.run(run())
    return published, codes


def test_checks_a_long_text_in_slices(monkeypatch):
    monkeypatch.setattr("disambig.lsp.scheduler.SLICE_SECONDS", 0.05)
    actual: list[int] = []

    def annotate(texts):
        end = time.thread_time() + 0.04
        while time.thread_time() < end:
            pass
        actual.append(sum(map(len, texts)))
        return []

    long = "\n\n".join(f"{number} " + "so it is " * 6_000 for number in range(6))
    published, codes = check_all(annotate, [long, "short"])
    assert published == ["/1.txt", "/0.txt"]
    assert set(codes) == {"D894"}
    assert len(actual) == 7  # nothing is decided twice


def test_abandons_a_slow_text(monkeypatch):
    monkeypatch.setattr("disambig.lsp.scheduler.LIMIT_SECONDS", 0.05)

    def annotate(texts):
        while "slow" in texts:
            check_time()
        return []

    published, codes = check_all(annotate, ["slow", "short"])
    assert published == ["/0.txt", "/1.txt"]
    assert codes == ["D895"]


def test_reports_a_very_long_text_at_once():
    published, codes = check_all(lambda texts: [], ["so it is\n\n" * 60_000])
    assert codes == ["D894"]
    assert published == ["/0.txt"]


@pytest.mark.parametrize("suffix", [".geojson", ".plist", ".bib"])
def test_data_are_not_checked_as_text(suffix):
    published, codes = check_all(lambda texts: [], ["It was a quite place."], suffix)
    assert (published, codes) == ([f"/0{suffix}"], ["D340"])
