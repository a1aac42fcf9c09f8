"""One editor: its open texts and its settings."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from disambig.checking import Flag, choose, stable_flags
from disambig.configuration import (
    ADDED,
    CHOICES,
    OWN,
    SHARED,
    CheckSettings,
    GitIgnorePatterns,
    ProjectSettings,
    SettingsSource,
    from_folder,
    read_table,
)
from disambig.errors import UserError
from disambig.lsp.actions import FIX_ALL, SAFE, code_actions, wants
from disambig.lsp.documents import CheckResult, Encoding, TextDocument, TextState, document_name, uri_to_path
from disambig.lsp.scheduler import CheckScheduler, LoadedCheckers

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer


ORIGIN = "settings of the editor"
SECTION = "disambig"


class EditorSettings:
    """Settings by file, read once; made anew where files of settings or the editor's changed.

    Parameters
    ----------
    said : Any
        What the editor says: a table as in ``disambig.toml``, or one below the key ``disambig``; None for
        nothing. Paths and patterns are relative to `root`.
    begun : Any
        What it said when it began: keys that `said` has not hold on.
    root : str
        Folder that is open in the editor.
    words : frozenset of str
        Words to leave alone that no file holds yet.

    Raises
    ------
    UserError
        D849 for what is no table, D970 for an unknown key, D971 for a value that is none.
    """

    def __init__(
        self, said: Any, root: str, words: frozenset[str] = frozenset(), *, begun: Any = None
    ) -> None:
        self._root = root
        self._values = {**_read(begun), **_read(said)}
        self.words = words
        self._projects: dict[tuple[str, ...], ProjectSettings] = {}

    def for_file(self, path: str) -> CheckSettings:
        """Return what holds for a text.

        Raises
        ------
        UserError
            As `disambig.configuration.project.ProjectSettings.settings_of`.
        """
        overrides: Mapping[str, Any] = self._values.get("overrides", {})
        fits = tuple(pattern for pattern in overrides if self._fits([pattern], path))
        if fits not in self._projects:
            layers = [self._values, *(overrides[pattern] for pattern in fits)]
            values = _flat([from_folder(layer, self._root) for layer in layers])
            if self.words:
                values["ignore"] = [*values.get("ignore", ()), *sorted(self.words)]
            self._projects[fits] = ProjectSettings(SettingsSource(ORIGIN, values))
        settings = self._projects[fits].for_file(path)
        excluded = self._fits(self._values.get("exclude", ()), path)
        return replace(settings, excluded=True) if excluded else settings

    def with_word(self, word: str) -> EditorSettings:
        """Return the same with one more word to leave alone."""
        return EditorSettings(self._values, self._root, self.words | {word})

    def reloaded(self) -> EditorSettings:
        """Return the same, files of settings not yet read."""
        return EditorSettings(self._values, self._root, self.words)

    def _fits(self, patterns: Any, path: str) -> bool:
        if not patterns:
            return False
        relative = os.path.relpath(path, self._root)
        return not relative.startswith(os.pardir) and GitIgnorePatterns(patterns).match(relative)


def _read(said: Any) -> dict[str, Any]:
    if isinstance(said, Mapping) and SECTION in said:
        said = said[SECTION]
    if said is None:
        return {}
    if not isinstance(said, Mapping):
        raise UserError("D849", value=repr(said)[:60])
    return read_table(
        {key: value for key, value in said.items() if value is not None}, path=ORIGIN, section=""
    )


def _flat(layers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one layer for several, as `disambig.configuration.settings.merge_sources` lays them."""
    values: dict[str, Any] = {}
    for layer in layers:
        for choice in CHOICES:
            if any(key in layer for key in choice):
                values = {key: value for key, value in values.items() if key not in choice}
        for key, value in layer.items():
            if key != "overrides":
                values[key] = [*values.get(key, ()), *value] if key in ADDED else value
    return values


_log = logging.getLogger(__name__)
_SETTINGS = (*OWN, SHARED)


class EditorSession:
    """What the server knows of one editor. All is called on the thread of the protocol.

    Parameters
    ----------
    server : LanguageServer
        Through which the editor is told.
    checkers : Checkers
    """

    def __init__(self, server: LanguageServer, checkers: LoadedCheckers) -> None:
        self._server = server
        self._documents: dict[str, TextDocument] = {}
        self._encoding: Encoding = "utf-16"
        self._root = os.getcwd()
        self._preferences = EditorSettings(None, self._root)
        self._begun: Any = None
        self._told: set[str] = set()
        self.desk = CheckScheduler(checkers, self._document_settings, self._publish, self.tell)

    def begin(self, params: types.InitializeParams) -> None:
        """Take what the editor says of itself."""
        uri = params.workspace_folders[0].uri if params.workspace_folders else params.root_uri
        self._root = uri_to_path(uri or "") or params.root_path or self._root
        encoding = self._server.workspace.position_encoding
        said = str(getattr(encoding, "value", encoding))
        self._encoding = "utf-8" if said == "utf-8" else "utf-32" if said == "utf-32" else "utf-16"
        self._preferences = EditorSettings(None, self._root)
        self._told_messages(None, begun=params.initialization_options)

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
        name = document_name(item.uri, item.language_id, self._root)
        document = TextDocument.opened(item.uri, name, item.version, item.text, self._encoding)
        self._documents[item.uri] = document
        self.desk.schedule(document, after=0.0)

    def change(self, text: types.VersionedTextDocumentIdentifier, changes: Sequence[Any]) -> None:
        """Change a text that is open."""
        document = self._documents.get(text.uri)
        if document is None:
            problem = "a change of a text that is not open"
            self.tell(None, UserError("D846", path=uri_to_path(text.uri) or text.uri, problem=problem))
            return
        try:
            document.change(text.version, changes)
        except UserError as problem:
            self.tell(document, problem)
            self._publish(document, CheckResult(text.version, (), (), []))
            return
        self.desk.schedule(document)

    def close(self, uri: str) -> None:
        """Close a text, and take its diagnostics away."""
        if self._drop(uri):
            self._server.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri=uri, diagnostics=[])
            )

    def saved(self, uri: str) -> None:
        """Read the files of settings anew, if one was saved: not all editors watch them."""
        if os.path.basename(uri_to_path(uri)) in _SETTINGS:
            self.refresh()

    def refresh(self) -> None:
        """Read the files of settings anew, and check all texts."""
        self._prefer(self._preferences.reloaded())

    async def configure(self, said: Any) -> None:
        """Take settings of the editor; where it sends none it is asked for them."""
        workspace = self._server.client_capabilities.workspace
        if not said and workspace and workspace.configuration:
            items = [types.ConfigurationItem(section=SECTION)]
            found = await self._server.workspace_configuration_async(types.ConfigurationParams(items=items))
            said = found[0] if found else None
        self._told_messages(said)

    def ignore(self, word: str) -> None:
        """Leave a word alone from now on."""
        self._prefer(self._preferences.with_word(word))

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return what may be done in a range of a text."""
        document = self._documents.get(params.text_document.uri)
        if document is None:
            return []
        texts = {os.path.realpath(each.name): each.state.text for each in self._documents.values()}
        sure = await self._sure(document) if wants(params.context, FIX_ALL) else ()
        return code_actions(document, params.context, params.range, root=self._root, texts=texts, sure=sure)

    async def _sure(self, document: TextDocument) -> Sequence[Flag]:
        """Return the flags that may be corrected all at once; none where the text changes meanwhile."""
        found, live = document.found, document.live
        if found is None or live is None:
            return ()
        taken, _ = choose([flag for flag in found.flags if flag.probability >= SAFE])

        def work(state: TextState) -> Sequence[Flag]:
            if state.version != found.version:
                return ()
            return stable_flags(live.name, state.text, taken, live.annotate, live.ignored_words)

        kept: Sequence[Flag] = await self.desk.run_with(document, work) if taken else ()
        return kept if document.found is found else ()

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

            def work(state: TextState, what: Any = (flag, candidates, live)) -> str | None:
                from disambig.lsp._diagnostics import hover_text

                return hover_text(*what) if state.version == found.version else None

            said = await self.desk.run_with(document, work)
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

    def _told_messages(self, said: Any, *, begun: Any = None) -> None:
        begun = self._begun if begun is None else begun
        try:
            preferences = EditorSettings(said, self._root, self._preferences.words, begun=begun)
        except UserError as problem:  # what held before goes on
            self.tell(None, problem)
            return
        self._begun = begun
        self._prefer(preferences)

    def _prefer(self, preferences: EditorSettings) -> None:
        self._preferences = preferences
        self._told.clear()
        for document in self._documents.values():
            document.settings += 1
            self.desk.schedule(document)

    def _document_settings(self, path: str) -> Any:
        return self._preferences.for_file(path)

    def _publish(self, document: TextDocument, found: CheckResult) -> None:
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
        self.desk.cancel(document)
        self._told = {said for said in self._told if document.name not in said}
        return True
