"""The bodies of requests and answers: never more of them than fits, and none that takes for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from disambig.errors import UserError
from disambig.server.limits import Limits
from disambig.server.refusals import unclear

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class Bodies:
    """Reads bodies, and knows how many bytes of them and of answers are held.

    Parameters
    ----------
    limits : Limits
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.held = 0

    @asynccontextmanager
    async def read(self, receive: Receive, announced: str | None) -> AsyncIterator[bytes]:
        """Give the body of a request; it counts as held until the block is left.

        Parameters
        ----------
        receive : callable
            As ASGI gives it.
        announced : str, optional
            The header ``Content-Length``.

        Raises
        ------
        UserError
            D885 for a body that is too long, as soon as that is known; D887 where too much is held; D889
            where it does not come in time; D883 where the client leaves.
        """
        taken = 0
        try:
            if announced is not None and announced.isdecimal():
                self._check(int(announced))
            parts = []
            async for part in self._parts(receive):
                taken += len(part)
                self.held += len(part)
                self._check(taken)
                parts.append(part)
            yield b"".join(parts)
        finally:
            self.held -= taken

    @contextmanager
    def holding(self, size: int) -> Iterator[None]:
        """Count so many bytes of an answer as held until the block is left.

        Raises
        ------
        UserError
            D887 where too much is held.
        """
        self.held += size
        try:
            if self.held > self._limits.held:
                raise UserError("D887")
            yield
        finally:
            self.held -= size

    def _check(self, size: int) -> None:
        limit = self._limits.max_body
        if size > limit:
            raise UserError("D885", what="the request", limit=limit, unit="bytes")
        if self.held > self._limits.held:
            raise UserError("D887")

    async def _parts(self, receive: Receive) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._limits.client_seconds
        more = True
        while more:
            try:
                message = await asyncio.wait_for(receive(), max(0.0, end - loop.time()))
            except asyncio.TimeoutError:
                raise UserError("D889", seconds=self._limits.client_seconds) from None
            if message["type"] == "http.disconnect":
                raise unclear("the client left before its request was whole")
            yield message.get("body", b"")
            more = message.get("more_body", False)
