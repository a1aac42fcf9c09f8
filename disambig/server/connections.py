"""Connections that do not wait for ever: who sends or reads too slowly is dropped."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


def bounded(seconds: float) -> type[H11Protocol]:
    """Return the protocol of connections whose clients have so many seconds for each step.

    The steps are: to send the head of a request, the first or the next; to read an answer. How long a body
    may take is watched where it is read (`disambig.server.bodies`).
    """

    class Bounded(H11Protocol):
        _alarm: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._expect()

        def data_received(self, data: bytes) -> None:
            cycle = self.cycle
            idle = cycle is None or cycle.response_complete
            super().data_received(data)
            if self.cycle is not cycle:
                self._relax()  # a whole head came: bodies.py watches the rest
            elif idle and self._alarm is None:
                self._expect()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._expect()

        def resume_writing(self) -> None:
            super().resume_writing()
            self._relax()

        def timeout_keep_alive_handler(self) -> None:
            super().timeout_keep_alive_handler()
            self._expect()  # what is left of an answer to be read before it is closed

        def connection_lost(self, exc: Exception | None) -> None:
            self._relax()
            super().connection_lost(exc)

        def _expect(self) -> None:
            self._relax()
            self._alarm = self.loop.call_later(seconds, self._drop)

        def _relax(self) -> None:
            if self._alarm is not None:
                self._alarm.cancel()
                self._alarm = None

        def _drop(self) -> None:
            self.transport.abort()

        def handle_websocket_upgrade(self, event: Any) -> None:
            self.transport.abort()

    return Bounded
