"""One editor: its open texts, its settings, and what it is told."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from disambig.configuration.finding import OWN, SHARED
from disambig.errors import UserError
from disambig.lsp.actions import actions_of
from disambig.lsp.desk import Checkers, Desk
from disambig.lsp.documents import Found, State, TextDocument, name_of, path_of
from disambig.lsp.lines import Encoding
from disambig.lsp.preferences import SECTION, Preferences

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

_log = logging.getLogger(__name__)
_SETTINGS = (*OWN, SHARED)


class Session:
    """What the server knows of one editor. All is called on the thread of the protocol.

    Parameters
    ----------
    server : LanguageServer
        Through which the editor is told.
    checkers : Checkers
    """

    def __init__(self, server: LanguageServer, checkers: Checkers) -> None:
        self._server = server
        self._documents: dict[str, TextDocument] = {}
        self._encoding: Encoding = "utf-16"
        self._root = os.getcwd()
        self._preferences = Preferences(None, self._root)
        self._begun: Any = None
        self._told: set[str] = set()
        self.desk = Desk(checkers, self._settings_of, self._publish, self.tell)

    def begin(self, params: types.InitializeParams) -> None:
        """Take what the editor says of itself."""
        uri = params.workspace_folders[0].uri if params.workspace_folders else params.root_uri
        self._root = path_of(uri or "") or params.root_path or self._root
        encoding = self._server.workspace.position_encoding
        said = str(getattr(encoding, "value", encoding))
        self._encoding = "utf-8" if said == "utf-8" else "utf-32" if said == "utf-32" else "utf-16"
        self._preferences = Preferences(None, self._root)
        self._said(None, begun=params.initialization_options)

    def begun(self) -> None:
        """Load models before there is a text to check, and ask to be told of files of settings."""
        self.desk.load(os.path.join(self._root, "untitled.txt"))
        workspace = self._server.client_capabilities.workspace
        watched = workspace.did_change_watched_files if workspace else None
        if watched and watched.dynamic_registration:
            watchers = [types.FileSystemWatcher(glob_pattern=f"**/{name}") for name in _SETTINGS]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registration = types.Registration(
                id=f"{SECTION}-settings", method=method, register_options=options
            )
            self._server.client_register_capability(types.RegistrationParams([registration]))

    def open(self, item: types.TextDocumentItem) -> None:
        """Open a text."""
        self._drop(item.uri)
        name = name_of(item.uri, item.language_id, self._root)
        document = TextDocument.opened(item.uri, name, item.version, item.text, self._encoding)
        self._documents[item.uri] = document
        self.desk.ask(document, after=0.0)

    def change(self, text: types.VersionedTextDocumentIdentifier, changes: Sequence[Any]) -> None:
        """Change a text that is open."""
        document = self._documents.get(text.uri)
        if document is None:
            problem = "a change of a text that is not open"
            self.tell(None, UserError("D846", path=path_of(text.uri) or text.uri, problem=problem))
            return
        try:
            document.change(text.version, changes)
        except UserError as problem:
            self.tell(document, problem)
            self._publish(document, Found(text.version, (), (), []))
            return
        self.desk.ask(document)

    def close(self, uri: str) -> None:
        """Close a text, and take its diagnostics away."""
        if self._drop(uri):
            self._server.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri=uri, diagnostics=[])
            )

    def saved(self, uri: str) -> None:
        """Read the files of settings anew, if one was saved: not all editors watch them."""
        if os.path.basename(path_of(uri)) in _SETTINGS:
            self.refresh()

    def refresh(self) -> None:
        """Read the files of settings anew, and check all texts."""
        self._prefer(self._preferences.anew())

    async def configure(self, said: Any) -> None:
        """Take settings of the editor; where it sends none it is asked for them."""
        workspace = self._server.client_capabilities.workspace
        if not said and workspace and workspace.configuration:
            items = [types.ConfigurationItem(section=SECTION)]
            found = await self._server.workspace_configuration_async(types.ConfigurationParams(items=items))
            said = found[0] if found else None
        self._said(said)

    def ignore(self, word: str) -> None:
        """Leave a word alone from now on."""
        self._prefer(self._preferences.with_word(word))

    def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return what may be done in a range of a text."""
        document = self._documents.get(params.text_document.uri)
        if document is None:
            return []
        texts = {os.path.realpath(each.name): each.state.text for each in self._documents.values()}
        return actions_of(document, params.context, params.range, root=self._root, texts=texts)

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Return what is said of the flag at a place; None where there is none."""
        document = self._documents.get(params.text_document.uri)
        if document is None or document.found is None or document.found.version != document.state.version:
            return None
        found, live, place = document.found, document.live, params.position
        for flag, candidates, diagnostic in zip(
            found.flags, found.candidates, found.diagnostics, strict=True
        ):
            start, end = diagnostic.range.start, diagnostic.range.end
            inside = (
                (start.line, start.character) <= (place.line, place.character) <= (end.line, end.character)
            )
            if not inside or live is None:
                continue

            def work(state: State, what: Any = (flag, candidates, live)) -> str | None:
                from disambig.lsp.hovering import said_of

                return said_of(*what) if state.version == found.version else None

            said = await self.desk.done_with(document, work)
            if said is None:
                return None
            content = types.MarkupContent(kind=types.MarkupKind.Markdown, value=said)
            return types.Hover(contents=content, range=diagnostic.range)
        return None

    def tell(self, document: TextDocument | None, problem: UserError) -> None:
        """Show the user a message, once until settings change or the text is opened anew."""
        said = str(problem)
        if said in self._told:
            return
        self._told.add(said)
        _log.info("%s", said)
        kind = types.MessageType.Warning
        self._server.window_show_message(types.ShowMessageParams(type=kind, message=f"disambig: {said}"))

    def _said(self, said: Any, *, begun: Any = None) -> None:
        begun = self._begun if begun is None else begun
        try:
            preferences = Preferences(said, self._root, self._preferences.words, begun=begun)
        except UserError as problem:  # what held before goes on
            self.tell(None, problem)
            return
        self._begun = begun
        self._prefer(preferences)

    def _prefer(self, preferences: Preferences) -> None:
        self._preferences = preferences
        self._told.clear()
        for document in self._documents.values():
            document.settings += 1
            self.desk.ask(document)

    def _settings_of(self, path: str) -> Any:
        return self._preferences.settings_of(path)

    def _publish(self, document: TextDocument, found: Found) -> None:
        document.found = found
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(
                uri=document.uri,
                version=found.version,
                diagnostics=[*found.diagnostics, *(diagnostic for diagnostic, _ in found.unused)],
            )
        )

    def _drop(self, uri: str) -> bool:
        document = self._documents.pop(uri, None)
        if document is None:
            return False
        document.is_open = False
        self.desk.forget(document)
        self._told = {said for said in self._told if document.name not in said}
        return True
