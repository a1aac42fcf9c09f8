"""The language server as an editor sees it: pytest-lsp is the client."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

COMMAND = [sys.executable, "-m", "disambig.cli.main", "lsp"]
BAD = "It was better then we had hoped.\n"
pytestmark = pytest.mark.asyncio(loop_scope="function")


def columns(text: str, encoding: str) -> int:
    codec, width = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
    return len(text.encode(codec)) // width


class Editor:
    """A client with one folder open, and what an editor does in it."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.version = 1
        self.texts: dict[str, str] = {}

    async def begin(self, options: Any = None, editor: str = "visual-studio-code") -> None:
        result = await self.client.initialize_session(
            types.InitializeParams(
                capabilities=client_capabilities(editor),
                root_uri=self.folder.as_uri(),
                initialization_options=options,
            )
        )
        chosen = result.capabilities.position_encoding
        self.encoding = str(getattr(chosen, "value", chosen))

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    async def opened(self, name: str, text: str, language: str = "markdown") -> list[types.Diagnostic]:
        self.texts[name] = text
        item = types.TextDocumentItem(self.uri(name), language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics(name, 1)

    async def changed(self, name: str, start: int, end: int, put: str) -> list[types.Diagnostic]:
        """Type something within a text of one line."""
        text = self.texts[name]
        encoding = self.encoding
        self.version += 1
        where = types.Range(
            types.Position(0, columns(text[:start], encoding)),
            types.Position(0, columns(text[:end], encoding)),
        )
        change = types.TextDocumentContentChangePartial(text=put, range=where)
        identifier = types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri(name))
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        self.texts[name] = text[:start] + put + text[end:]
        return await self.diagnostics(name, self.version)

    async def diagnostics(self, name: str, version: int | None = None) -> list[types.Diagnostic]:
        while True:
            params = await asyncio.wait_for(
                self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS), 60
            )
            if params.uri == self.uri(name) and (version is None or params.version == version):
                return list(params.diagnostics)

    async def actions(
        self, name: str, diagnostics: list[types.Diagnostic], only: list[str] | None = None
    ) -> dict[str, types.CodeAction]:
        where = (
            diagnostics[0].range if diagnostics else types.Range(types.Position(0, 0), types.Position(0, 0))
        )
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(self.uri(name)), where, types.CodeActionContext(diagnostics, only)
        )
        found = await self.client.text_document_code_action_async(params) or []
        return {action.title: action for action in found}

    def corrected(self, name: str, action: types.CodeAction) -> str:
        """Return a text of one line after the edits of an action."""
        text = self.texts[name]
        (change,) = [
            each
            for each in action.edit.document_changes
            if isinstance(each, types.TextDocumentEdit) and each.text_document.uri == self.uri(name)
        ]
        places = {columns(text[:at], self.encoding): at for at in range(len(text) + 1)}
        for edit in sorted(change.edits, key=lambda each: -each.range.start.character):
            start, end = (places[place.character] for place in (edit.range.start, edit.range.end))
            text = text[:start] + edit.new_text + text[end:]
        return text


@pytest_lsp.fixture(config=ClientServerConfig(server_command=COMMAND))
async def client(lsp_client: LanguageClient):
    lsp_client.registered = []

    @lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        lsp_client.registered += params.registrations

    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def editor(client: LanguageClient, tmp_path: Path) -> Editor:
    return Editor(client, tmp_path)


def shown(diagnostics: list[types.Diagnostic]) -> list[str]:
    return [each.message.split(" (")[0] for each in diagnostics]


async def test_a_mistake_is_flagged_and_goes_when_it_is_corrected(editor):
    await editor.begin()
    assert await editor.opened("notes.md", "It was better than we had hoped.\n") == []
    (found,) = await editor.changed("notes.md", 16, 17, "e")
    assert re.fullmatch(r"then -> than \((\d+ %|about \d in 10) right\)", found.message)
    assert found.severity == types.DiagnosticSeverity.Information
    assert (found.source, found.code) == ("disambig", "confused-words")
    assert found.code_description.href.endswith("/rules/README.md#confused-words")
    assert Path(url2pathname(urlsplit(found.code_description.href).path)).is_file()
    assert (found.range.start.character, found.range.end.character) == (14, 18)
    assert found.data["fixes"][0]["newText"] == "than"
    actions = await editor.actions("notes.md", [found])
    first = next(iter(actions.values()))
    assert first.is_preferred
    assert editor.corrected("notes.md", first) == "It was better than we had hoped.\n"
    assert await editor.changed("notes.md", 14, 18, "than") == []


@pytest.mark.parametrize(
    ("name", "encoding"), [("neovim", "utf-8"), ("visual-studio-code", "utf-16"), ("emacs", "utf-32")]
)
async def test_places_are_right_in_each_encoding(editor, name, encoding):
    await editor.begin(editor=name)
    assert editor.encoding == encoding
    before = "\U0001f600 e\u0301 \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2028 "
    await editor.opened("notes.txt", before, "plaintext")
    (found,) = await editor.changed("notes.txt", len(before), len(before), BAD)
    start = columns(before + "It was better ", encoding)
    assert (found.range.start.line, found.range.start.character) == (0, start)
    assert found.range.end.character == start + 4
    first = next(iter((await editor.actions("notes.txt", [found])).values()))
    assert editor.corrected("notes.txt", first) == before + BAD.replace("then", "than")


async def test_words_are_left_alone_in_a_line_and_in_a_file(editor):
    await editor.begin()
    found = await editor.opened("notes.md", BAD)
    actions = await editor.actions("notes.md", found)
    for title, wanted in (
        ('disambig: ignore "then" in this line', BAD[:-1] + " <!-- disambig: ignore-line then -->\n"),
        ('disambig: ignore "then" in this file', "<!-- disambig: ignore then -->\n\n" + BAD),
    ):
        text = editor.corrected("notes.md", actions[title])
        assert text == wanted
        assert await editor.opened("notes.md", text) == []
        found = await editor.opened("notes.md", BAD)


async def test_hover_says_why(editor):
    await editor.begin()
    (found,) = await editor.opened("notes.md", BAD)
    identifier = types.TextDocumentIdentifier(editor.uri("notes.md"))
    hover = await editor.client.text_document_hover_async(types.HoverParams(identifier, found.range.start))
    said = hover.contents.value
    assert re.match(r"\*\*`then` -> `than`\*\* \(confused-words; \d+ % of such flags were right\)", said)
    assert '"better than" was seen' in said
    assert "| better then |" in said
    assert hover.range == found.range
    nothing = types.HoverParams(identifier, types.Position(0, 3))
    assert await editor.client.text_document_hover_async(nothing) is None


async def test_all_that_is_sure_is_corrected_at_once(editor):
    await editor.begin()
    text = "It was better then we had hoped, and he ate a apple in the the garden.\n"
    found = await editor.opened("notes.md", text)
    sure = [each for each in found if re.search(r"\((9\d %|about 9 in 10) right", each.message)]
    assert sure
    only = await editor.actions("notes.md", [], only=["source.fixAll"])
    assert list(only) == ["disambig: correct all flags of which 9 in 10 are right"]
    (action,) = only.values()
    left = await editor.opened("again.md", editor.corrected("notes.md", action))
    assert len(left) < len(found)
    assert "the the" not in editor.texts["again.md"]
    assert await editor.actions("notes.md", found, only=["refactor"]) == {}
    assert set(only).isdisjoint(await editor.actions("notes.md", found))


async def test_settings_of_files_and_of_the_editor(editor):
    (editor.folder / "disambig.toml").write_text('ignore = ["then"]\nexclude = ["old/"]\n')
    await editor.begin({"tasks": ["spelling", "slip"]})
    text = "It was better then we had hoped to find a quite place.\n"
    assert await editor.opened("old/notes.md", text) == []
    identifier = types.TextDocumentIdentifier(editor.uri("old/notes.md"))
    editor.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
    assert await editor.diagnostics("old/notes.md") == []
    assert shown(await editor.opened("notes.md", text)) == ["quite -> quiet"]
    (editor.folder / "disambig.toml").write_text("")
    event = types.FileEvent(editor.uri("disambig.toml"), types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    assert shown(await editor.diagnostics("notes.md", 1)) == ["then -> than", "quite -> quiet"]
    for settings in (
        {"disambig": {"ignore": ["quite"]}},
        {"overrides": {"*.md": {"ignore": ["quite"]}}},
    ):
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        assert shown(await editor.diagnostics("notes.md", 1)) == ["then -> than"]


async def test_an_unknown_key_of_the_editor_is_told_with_the_nearest(editor):
    await editor.begin({"ignor": ["then"]})
    assert len(await editor.opened("notes.md", BAD)) == 1
    (message,) = editor.client.messages
    assert "[D970] settings of the editor: unknown key 'ignor'" in message.message
    assert "ignore" in message.message


async def test_markup_and_directives_are_read_as_check_reads_them(editor):
    await editor.begin()
    text = "`better then`\n\n<!-- disambig: ignore-next-line -->\nIt was better then that.\n"
    assert await editor.opened("notes.md", text) == []
    assert len(await editor.opened("notes.txt", "It was better then that. % better then\n", "plaintext")) == 2
    assert await editor.opened("notes.tex", "% It was better then that.\n", "latex") == []
    assert len(await editor.opened("untitled", "It was better then that.\n", "latex")) == 1


async def test_paragraphs_in_another_language_are_told_once(editor):
    await editor.begin()
    german = "Das ist besser then nichts, und es wird auch nicht schlechter.\n\n"
    assert len(await editor.opened("notes.md", german + BAD)) == 1
    await editor.changed("notes.md", 0, 0, german)
    (message,) = editor.client.messages
    assert message.type == types.MessageType.Info
    assert "[D348]" in message.message and "1 paragraph that is not in English" in message.message


async def test_what_is_closed_has_no_diagnostics(editor):
    await editor.begin()
    assert len(await editor.opened("notes.md", BAD)) == 1
    identifier = types.TextDocumentIdentifier(editor.uri("notes.md"))
    editor.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
    assert await editor.diagnostics("notes.md") == []
