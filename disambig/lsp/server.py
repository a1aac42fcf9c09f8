"""The pygls server: its protocol and its message handlers."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

import disambig
from disambig.errors import UserError
from disambig.lsp.actions import FIX_ALL, IGNORE
from disambig.lsp.scheduler import LoadedCheckers
from disambig.lsp.session import EditorSession

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
_log = logging.getLogger(__name__)
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
        elif not self._supports(method):
            code, problem = METHOD_NOT_FOUND, f"{method} is not supported"
        else:
            return True
        if message_id is not None:
            self._send_error(message_id, code, problem)
        return False

    def _supports(self, method: Any) -> bool:
        return (
            method in self.fm.builtin_features or method in self.fm.features or method == types.CANCEL_REQUEST
        )

    def _send_error(self, message_id: Any, code: int, problem: str) -> None:
        """Answer a message with an error; report an invalid notification to the user."""
        if message_id is None and code != PARSE_ERROR:  # a notification gets no response
            self.session.show_message(None, UserError("D847", problem=problem))
            return
        error = {"code": code, "message": str(UserError("D847", problem=problem))}
        self._send_data({"jsonrpc": "2.0", "id": message_id, "error": error})

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

    def initialized(params: types.InitializedParams) -> None:
        session.initialized()

    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        session.saved(params.text_document.uri)

    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        await session.configure(params.settings)

    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        session.refresh()

    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await session.actions(params)

    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await session.hover(params)

    def ignore(word: str) -> None:
        session.ignore(word)

    kinds = [types.CodeActionKind.QuickFix, FIX_ALL]
    features: list[tuple[str, Any, Any]] = [
        (types.INITIALIZE, initialize, None),
        (types.INITIALIZED, initialized, None),
        (types.TEXT_DOCUMENT_DID_SAVE, did_save, types.SaveOptions(include_text=False)),
        (types.WORKSPACE_DID_CHANGE_CONFIGURATION, did_change_configuration, None),
        (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, did_change_watched_files, None),
        (types.TEXT_DOCUMENT_CODE_ACTION, code_action, types.CodeActionOptions(code_action_kinds=kinds)),
        (types.TEXT_DOCUMENT_HOVER, hover, None),
    ]
    for method, handler, options in features:
        server.feature(method, options)(handler)
    server.command(IGNORE)(ignore)
    return protocol
