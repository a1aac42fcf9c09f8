"""The server that pygls runs: which messages it knows, and who answers them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

import disambig
from disambig.lsp.actions import FIX_ALL, IGNORE
from disambig.lsp.desk import Checkers
from disambig.lsp.protocol import Protocol
from disambig.lsp.session import Session


def make_server(
    checkers: Checkers, watch: Callable[[int], None] = lambda pid: None
) -> tuple[LanguageServer, Protocol]:
    """Return a server for one editor, and its protocol.

    Parameters
    ----------
    watch : callable
        Given the number of the editor's process, with which the server is to end, if the editor names one.
    """
    server = LanguageServer(
        "disambig",
        disambig.__version__,
        text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
        protocol_cls=Protocol,
        converter_factory=default_converter,
    )
    protocol = cast(Protocol, server.protocol)
    session = protocol.session = Session(server, checkers)

    def initialize(params: types.InitializeParams) -> None:
        session.begin(params)
        if params.process_id is not None:
            watch(params.process_id)

    def initialized(params: types.InitializedParams) -> None:
        session.begun()

    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        session.saved(params.text_document.uri)

    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        await session.configure(params.settings)

    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        session.refresh()

    def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return session.actions(params)

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
    for name, answer, options in features:
        server.feature(name, options)(answer)
    server.command(IGNORE)(ignore)
    return server, protocol
