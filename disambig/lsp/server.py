"""The session of one editor, with its open documents and settings, and the pygls server of its messages."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

import disambig
from disambig.checking import Flag, Recheck, select_compatible, stable_flags
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
from disambig.lsp.actions import (
    FIX_ALL,
    IGNORE,
    code_actions,
    is_requested,
    is_safe,
    overlap,
    supported_edit,
)
from disambig.lsp.documents import CheckResult, Encoding, TextDocument, TextState, document_name, uri_to_path
from disambig.lsp.scheduler import CheckScheduler, LoadedCheckers

_log = logging.getLogger(__name__)
ORIGIN = "settings of the editor"
SECTION = "disambig"


class EditorSettings:
    """The settings of one editor, merged with those of settings files.

    Raises D849 if `values` is not a table, D970 for an unknown key, D971 for an invalid value.

    `values`: settings from the editor: a table as in ``disambig.toml``, or one below the key ``disambig``;
    None for no settings. Paths and patterns are relative to `root`.
    `root`: folder that is open in the editor.
    `words`: words to ignore that are not in a file yet.
    `initial`: settings that the editor sent when it started; they apply to keys that are not in `values`. A
    key that is null in `values` has no value.
    `defaults`: valid settings for keys that the editor did not send.
    """

    def __init__(
        self,
        values: Any,
        root: str,
        words: frozenset[str] = frozenset(),
        *,
        initial: Any = None,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        self._root = root
        initial_values, later_values = _read_values(initial), _read_values(values)
        # a null takes a setting back that the editor sent when it started
        kept = {key: value for key, value in initial_values.items() if key not in _null_keys(values)}
        self._values = {**(defaults or {}), **kept, **later_values}
        self.words = words
        self._projects: dict[tuple[str, ...], ProjectSettings] = {}

    def for_file(self, path: str) -> CheckSettings:
        """Return the settings of a text.

        Raises the errors of `disambig.configuration.ProjectSettings.for_file`.
        """
        overrides: Mapping[str, Any] = self._values.get("overrides", {})
        matches = tuple(pattern for pattern in overrides if self._matches([pattern], path))
        if matches not in self._projects:
            tables = [self._values, *(overrides[pattern] for pattern in matches)]
            values = _merge_tables([from_folder(table, self._root) for table in tables])
            if self.words:
                values["ignore"] = [*values.get("ignore", ()), *sorted(self.words)]
            self._projects[matches] = ProjectSettings(SettingsSource(ORIGIN, values))
        settings = self._projects[matches].for_file(path)
        excluded = self._matches(self._values.get("exclude", ()), path)
        return replace(settings, excluded=True) if excluded else settings

    def with_word(self, word: str) -> EditorSettings:
        """Return settings with one more word to ignore."""
        return EditorSettings(self._values, self._root, self.words | {word})

    def reloaded(self) -> EditorSettings:
        """Return settings of the same editor that read settings files again."""
        return EditorSettings(self._values, self._root, self.words)

    def _matches(self, patterns: Any, path: str) -> bool:
        if not patterns:
            return False
        relative = os.path.relpath(path, self._root)
        return not relative.startswith(os.pardir) and GitIgnorePatterns(patterns).match(relative)


def _section(values: Any) -> Any:
    """Return the settings for this server in what an editor sent."""
    return values[SECTION] if isinstance(values, Mapping) and SECTION in values else values


def _null_keys(values: Any) -> set[str]:
    """Return the keys that an editor sent without a value."""
    section = _section(values)
    return {key for key, value in section.items() if value is None} if isinstance(section, Mapping) else set()


def _read_values(values: Any) -> dict[str, Any]:
    """Return the valid settings in what an editor sent."""
    values = _section(values)
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise UserError("D849", value=repr(values)[:60])
    set_values = {key: value for key, value in values.items() if value is not None}
    return read_table(set_values, path=ORIGIN, section="")


def _merge_tables(tables: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge several tables into one, with the rules of `disambig.configuration.project.merge_sources`."""
    merged: dict[str, Any] = {}
    for table in tables:
        for choice in CHOICES:  # settings that exclude each other: a later one replaces the earlier ones
            if any(key in table for key in choice):
                merged = {key: value for key, value in merged.items() if key not in choice}
        for key, value in table.items():
            if key != "overrides":
                merged[key] = [*merged.get(key, ()), *value] if key in ADDED else value
    return merged


_SETTINGS_FILES = (*OWN, SHARED)
_INFO_CODES = ("D348",)
"""Codes of messages that are not warnings."""


class EditorSession:
    """The state of one editor; all methods are called in the thread of the protocol."""

    def __init__(self, server: LanguageServer, checkers: LoadedCheckers) -> None:
        self._server = server
        self._defaults = checkers.defaults
        self._documents: dict[str, TextDocument] = {}
        self._encoding: Encoding = "utf-16"
        self._root = os.getcwd()
        self._settings = self._make_settings(None)
        self._initial_values: Any = None
        self._shown_messages: set[str] = set()
        # `_settings` is replaced whenever settings change
        self.scheduler = CheckScheduler(
            checkers, lambda path: self._settings.for_file(path), self._publish, self.show_message
        )

    def initialize(self, params: types.InitializeParams) -> None:
        """Store the parameters of the ``initialize`` request."""
        uri = params.workspace_folders[0].uri if params.workspace_folders else params.root_uri
        self._root = uri_to_path(uri or "") or params.root_path or self._root
        # pygls has chosen it from what the editor offers; UTF-16 is the default of the specification
        encoding = self._server.workspace.position_encoding
        name = str(getattr(encoding, "value", encoding))
        self._encoding = "utf-8" if name == "utf-8" else "utf-32" if name == "utf-32" else "utf-16"
        # First settings without those of the editor: they remain if those of the editor are invalid.
        self._settings = self._make_settings(None)
        self._update_settings(None, initial=params.initialization_options)

    def initialized(self) -> None:
        """Load models in advance, and ask the editor to report changes of settings files."""
        self.scheduler.load(os.path.join(self._root, "untitled.txt"))
        # File watchers cannot be declared in the response to ``initialize``: the specification only allows a
        # registration, which is a request and may not be sent before ``initialized``.
        workspace = self._server.client_capabilities.workspace
        capability = workspace.did_change_watched_files if workspace else None
        if capability and capability.dynamic_registration:
            watchers = [types.FileSystemWatcher(glob_pattern=f"**/{name}") for name in _SETTINGS_FILES]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registration = types.Registration(
                id=f"{SECTION}-settings", method=method, register_options=options
            )
            self._server.client_register_capability(types.RegistrationParams([registration]))

    def open(self, item: types.TextDocumentItem) -> None:
        """Open a document and check it."""
        self._drop(item.uri)  # an editor may open a text again without closing it
        name = document_name(item.uri, item.language_id, self._root)
        document = TextDocument.opened(item.uri, name, item.version, item.text, self._encoding)
        self._documents[item.uri] = document
        self.scheduler.schedule(document, after=0.0)

    def change(self, text: types.VersionedTextDocumentIdentifier, changes: Sequence[Any]) -> None:
        """Change an open document and check it soon."""
        document = self._documents.get(text.uri)
        if document is None:
            path, problem = uri_to_path(text.uri) or text.uri, "a change of a text that is not open"
            self.show_message(None, UserError("D846", path=path, problem=problem))
            return
        try:
            document.change(text.version, changes)
        except UserError as problem:
            self.show_message(document, problem)
            self._publish(document, CheckResult(text.version, (), (), []))
            return
        self.scheduler.schedule(document)

    def close(self, uri: str) -> None:
        """Close a document and remove its diagnostics."""
        if self._drop(uri):
            self._server.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri=uri, diagnostics=[])
            )

    def saved(self, uri: str) -> None:
        """Read settings files again if one was saved, because not all editors watch files."""
        if os.path.basename(uri_to_path(uri)) in _SETTINGS_FILES:
            self.refresh()

    def refresh(self) -> None:
        """Read settings files again and check all documents."""
        self._apply(self._settings.reloaded())

    async def configure(self, values: Any) -> None:
        """Apply changed settings of the editor; if the notification has none, request them."""
        workspace = self._server.client_capabilities.workspace
        if not values and workspace and workspace.configuration:  # as the specification recommends
            items = [types.ConfigurationItem(section=SECTION)]
            answers = await self._server.workspace_configuration_async(types.ConfigurationParams(items=items))
            values = answers[0] if answers else None
        self._update_settings(values)

    def ignore(self, word: str) -> None:
        """Ignore a word from now on."""
        self._apply(self._settings.with_word(word))

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return the code actions in a range of a document."""
        document = await self._checked_document(params.text_document.uri)
        if document is None:
            return []
        texts = {os.path.realpath(other.name): other.state.text for other in self._documents.values()}
        safe_flags = await self._safe_flags(document) if is_requested(params.context, FIX_ALL) else ()
        actions = code_actions(
            document, params.context, params.range, root=self._root, texts=texts, safe_flags=safe_flags
        )
        workspace = self._server.client_capabilities.workspace
        supported = workspace.workspace_edit if workspace else None
        for action in actions:
            if action.edit is not None:
                action.edit = supported_edit(action.edit, supported)
        return actions

    async def _checked_document(self, uri: str) -> TextDocument | None:
        """Return an open document; if it has just changed, its new text is checked first."""
        document = self._documents.get(uri)
        if document is not None:
            result = document.check_result
            if result is None or result.version != document.state.version:
                await self.scheduler.catch_up(document)
        return document

    async def _safe_flags(self, document: TextDocument) -> Sequence[Flag]:
        """Return the flags that may be corrected without review; none if the text changes meanwhile."""
        # `result` is kept: the document may have another one after the call into the worker thread
        result, live = document.check_result, document.live
        if result is None or live is None:
            return ()
        candidates = select_compatible(filter(is_safe, result.flags))

        def work(state: TextState) -> Sequence[Flag]:
            if state.version != result.version:
                return ()
            recheck = Recheck(
                live.annotate, live.ignored_words, live.settings.markup_options, live.settings.project_names
            )
            return stable_flags(live.name, state.text, candidates, recheck)

        stable: Sequence[Flag] = await self.scheduler.run_with(document, work) if candidates else ()
        return stable if document.check_result is result else ()

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Return the hover text of the flag at a position; None if there is none."""
        document = await self._checked_document(params.text_document.uri)
        if document is None or document.check_result is None or document.live is None:
            return None
        result, live = document.check_result, document.live
        cursor = types.Range(params.position, params.position)
        number = next((i for i, flag in enumerate(result.diagnostics) if overlap(flag.range, cursor)), None)
        if number is None or result.version != document.state.version:
            return None

        def work(state: TextState) -> str | None:
            from disambig.lsp.documents import hover_text

            if state.version != result.version:
                return None
            return hover_text(result.flags[number], result.candidates[number], live)

        hover = await self.scheduler.run_with(document, work)
        if hover is None:
            return None
        content = types.MarkupContent(kind=types.MarkupKind.Markdown, value=hover)
        return types.Hover(contents=content, range=result.diagnostics[number].range)

    def show_message(self, document: TextDocument | None, problem: UserError) -> None:
        """Show the user a message, but only once until settings change or the document is opened again."""
        message = str(problem)
        if message in self._shown_messages:  # each check of a text finds the same problem again
            return
        self._shown_messages.add(message)
        _log.info("%s", message)
        kind = types.MessageType.Info if problem.code in _INFO_CODES else types.MessageType.Warning
        self._server.window_show_message(types.ShowMessageParams(type=kind, message=f"disambig: {message}"))

    def _update_settings(self, values: Any, *, initial: Any = None) -> None:
        """Apply new settings of the editor; if they are invalid, the previous ones remain."""
        initial = self._initial_values if initial is None else initial
        try:
            settings = self._make_settings(values, self._settings.words, initial=initial)
        except UserError as problem:
            self.show_message(None, problem)
            return
        self._initial_values = initial
        self._apply(settings)

    def _make_settings(
        self, values: Any, words: frozenset[str] = frozenset(), *, initial: Any = None
    ) -> EditorSettings:
        return EditorSettings(values, self._root, words, initial=initial, defaults=self._defaults)

    def _apply(self, settings: EditorSettings) -> None:
        """Use settings from now on, and check all documents again."""
        self._settings = settings
        self._shown_messages.clear()
        # A check that runs now sees that the version changed, and its result is not published.
        for document in self._documents.values():
            document.settings_version += 1
            self.scheduler.schedule(document)

    def _publish(self, document: TextDocument, result: CheckResult) -> None:
        """Store the result of a check and send its diagnostics to the editor."""
        document.check_result = result
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(
                uri=document.uri,
                version=result.version,
                diagnostics=[*result.diagnostics, *(diagnostic for diagnostic, _ in result.unused)],
            )
        )

    def _drop(self, uri: str) -> bool:
        """Remove a document; return False if it was not open."""
        document = self._documents.pop(uri, None)
        if document is None:
            return False
        document.is_open = False
        self.scheduler.cancel(document)
        self._shown_messages = {message for message in self._shown_messages if document.name not in message}
        return True


# Error codes of JSON-RPC 2.0 (section 5.1) and, for `NOT_INITIALIZED`, of the Language Server Protocol
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
_ALLOWED_BEFORE = ("initialize", "exit")


class EditorProtocol(LanguageServerProtocol):
    """The protocol of pygls with stricter checks of messages; an `EditorSession` handles valid ones."""

    session: EditorSession
    _is_initialized = False

    def handle_bytes(self, body: bytes) -> None:
        """Handle the bytes of a message; an invalid one is answered with an error or reported."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as problem:
            # JSON-RPC 2.0, section 5: the id is null if it could not be read
            self._send_error(None, PARSE_ERROR, f"not valid JSON: {problem}")
            return
        try:
            self._handle(data)
        except OSError:  # the editor is gone
            raise
        except Exception as problem:
            _log.exception("a message could not be answered")
            self._send_error(_message_id(data), INTERNAL_ERROR, f"{type(problem).__name__}: {problem}"[:300])

    def _handle(self, data: Any) -> None:
        """Handle one decoded message, or send an error if it is invalid."""
        if invalid := _message_problem(data):
            self._send_error(_message_id(data), INVALID_REQUEST, invalid)
            return
        if "method" in data and not self._is_allowed(data):
            return
        try:
            message = self.structure_message(data)
        except JsonRpcException as problem:
            if "method" not in data:  # an invalid response is ignored
                return
            reason = f"{data['method']}: {problem.__cause__ or problem}"
            self._send_error(_message_id(data), INVALID_PARAMS, " ".join(reason.split())[:300])
            return
        self.handle_message(message)

    def _is_allowed(self, data: dict[str, Any]) -> bool:
        """Return True if a message is allowed in this state; otherwise send an error to a request."""
        # The life of a server (specification, "Server lifecycle"): initialize, any messages, shutdown, exit.
        method, message_id = data["method"], _message_id(data)
        if method == "initialize" and self._is_initialized:
            self._send_error(message_id, INVALID_REQUEST, "initialize was sent twice")
            return False
        if method == "initialize":
            self._is_initialized = True
            return True
        if not self._is_initialized and method not in _ALLOWED_BEFORE:
            code, problem = NOT_INITIALIZED, f"{method} was sent before initialize"
        elif self._shutdown and method != "exit":
            code, problem = INVALID_REQUEST, f"{method} was sent after shutdown"
        elif method not in {*self.fm.builtin_features, *self.fm.features, types.CANCEL_REQUEST}:
            code, problem = METHOD_NOT_FOUND, f"{method} is not supported"
        else:
            return True
        if message_id is not None:  # a notification is dropped, as the specification requires
            self._send_error(message_id, code, problem)
        return False

    def _send_error(self, message_id: Any, code: int, problem: str) -> None:
        """Answer a message with an error; report an invalid notification to the user."""
        if message_id is None and code != PARSE_ERROR:  # a notification gets no response
            self.session.show_message(None, UserError("D847", problem=problem))
            return
        error = {"code": code, "message": str(UserError("D847", problem=problem))}
        self._send_data({"jsonrpc": "2.0", "id": message_id, "error": error})

    # These three replace the handlers of pygls, which would keep and edit a copy of each text.
    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Open a text."""
        self.session.open(params.text_document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Change a text."""
        self.session.change(params.text_document, params.content_changes)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Close a text."""
        self.session.close(params.text_document.uri)


def _message_problem(data: Any) -> str:
    """Return why `data` is not a valid message of any method; "" if it is valid."""
    if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
        return 'a message must be an object with "jsonrpc": "2.0"'
    if not isinstance(data.get("method", ""), str):
        return "a method must be a string"
    ids = [data.get("id")]
    if data.get("method") == types.CANCEL_REQUEST and isinstance(data.get("params"), dict):
        ids.append(data["params"].get("id"))
    if any(isinstance(message_id, dict | list) for message_id in ids):
        return "an id must be a string or a number"
    return ""


def _message_id(data: Any) -> Any:
    """Return the id of a request; None if there is none."""
    message_id = data.get("id") if isinstance(data, dict) else None
    return message_id if isinstance(message_id, str | int) else None


def make_protocol(
    checkers: LoadedCheckers, watch: Callable[[int], None] = lambda pid: None
) -> EditorProtocol:
    """Return the protocol of a new server for one editor.

    `watch` is called with the id of the editor's process if the editor sends it, so that the server can end
    with it.
    """
    server = LanguageServer(
        "disambig",
        disambig.__version__,
        text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
        protocol_cls=EditorProtocol,
        converter_factory=default_converter,
    )
    protocol = cast(EditorProtocol, server.protocol)
    session = protocol.session = EditorSession(server, checkers)

    def initialize(params: types.InitializeParams) -> None:
        session.initialize(params)
        if params.process_id is not None:
            watch(params.process_id)

    # Functions, not the methods themselves: pygls sets attributes of the handlers.
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        await session.configure(params.settings)

    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await session.actions(params)

    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await session.hover(params)

    def ignore(word: str) -> None:
        session.ignore(word)

    kinds, saving = [types.CodeActionKind.QuickFix, FIX_ALL], types.SaveOptions(include_text=False)
    features: list[tuple[str, Any, Any]] = [
        (types.INITIALIZE, initialize, None),
        (types.INITIALIZED, lambda params: session.initialized(), None),
        (types.TEXT_DOCUMENT_DID_SAVE, lambda params: session.saved(params.text_document.uri), saving),
        (types.WORKSPACE_DID_CHANGE_CONFIGURATION, did_change_configuration, None),
        (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, lambda params: session.refresh(), None),
        (types.TEXT_DOCUMENT_CODE_ACTION, code_action, types.CodeActionOptions(code_action_kinds=kinds)),
        (types.TEXT_DOCUMENT_HOVER, hover, None),
    ]
    for method, handler, options in features:
        server.feature(method, options)(handler)
    server.command(IGNORE)(ignore)
    return protocol
