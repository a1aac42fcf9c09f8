"""A client of the language server that can send any bytes, valid or not."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

EDITS = {"workspace": {"workspaceEdit": {"documentChanges": True, "resourceOperations": ["create"]}}}
"""Capabilities of an editor that applies edits in any form."""
TIMEOUT = 60.0
"""Seconds to wait for a message."""


class Wire:
    """A connection to a server in a child process, or over any two streams."""

    def __init__(
        self, source: BinaryIO, target: BinaryIO, process: subprocess.Popen[bytes] | None = None
    ) -> None:
        self.source, self.target, self.process = source, target, process
        self.received: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.seen: list[dict[str, Any]] = []
        self.number = 0
        self.reading = threading.Thread(target=self._read, daemon=True)
        self.reading.start()

    @classmethod
    def started(cls, folder: Path | str = ".", *options: str, **settings: Any) -> Wire:
        command = [sys.executable, "-m", "disambig.cli.main", "lsp", *options]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, **settings
        )
        assert process.stdin and process.stdout
        return cls(process.stdout, process.stdin, process)

    def _read(self) -> None:
        while True:
            length = 0
            while line := self.source.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = self.source.read(length)
            if not body:
                self.received.put(None)
                return
            self.received.put(json.loads(body))

    def raw(self, data: bytes) -> None:
        self.target.write(data)
        self.target.flush()

    def body(self, body: bytes) -> None:
        self.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def send(self, method: str, params: Any = None, **more: Any) -> None:
        self.body(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode())

    def next(self, wanted: Callable[[dict[str, Any]], bool], seconds: float = TIMEOUT) -> dict[str, Any]:
        """Return the next message for which `wanted` is true; all messages are added to `seen`."""
        while True:
            message = self.received.get(timeout=seconds)
            assert message is not None, f"the server closed the connection after {self.seen}"
            self.seen.append(message)
            if wanted(message):
                return message

    def ask(self, method: str, params: Any = None) -> Any:
        """Send a request and return the complete response."""
        self.number += 1
        self.send(method, params, id=self.number)
        return self.next(lambda message: message.get("id") == self.number and "method" not in message)

    def next_params(self, method: str = "window/showMessage") -> Any:
        return self.next(lambda message: message.get("method") == method)["params"]

    def diagnostics(self, version: int | None = None) -> dict[str, Any]:
        def wanted(message: dict[str, Any]) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics":
                return False
            return version is None or message["params"].get("version") == version

        return self.next(wanted)["params"]

    def initialize(
        self, options: Any = None, root: Path | None = None, **capabilities: Any
    ) -> dict[str, Any]:
        answer = self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri() if root else None,
                "capabilities": capabilities or EDITS,
                "initializationOptions": options,
            },
        )
        self.send("initialized", {})
        return answer["result"]

    def open(self, text: str, uri: str = "file:///nowhere/notes.md", language: str = "markdown") -> None:
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.send("textDocument/didOpen", {"textDocument": item})

    def change(self, version: int, *changes: dict[str, Any], uri: str = "file:///nowhere/notes.md") -> None:
        text = {"uri": uri, "version": version}
        self.send("textDocument/didChange", {"textDocument": text, "contentChanges": list(changes)})

    def end(self) -> int:
        """Ask the server to exit, and return its exit status."""
        self.ask("shutdown")
        self.send("exit")
        assert self.process is not None
        return self.process.wait(TIMEOUT)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *problem: object) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                if stream:
                    with contextlib.suppress(OSError):
                        stream.close()


def at(line: int, first: int, last: int | None = None) -> dict[str, Any]:
    """Return the range of characters `first` to `last` of a line; empty without `last`."""
    end = first if last is None else last
    return {"start": {"line": line, "character": first}, "end": {"line": line, "character": end}}
