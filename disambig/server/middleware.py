"""Middleware: allowed origins, limits, request bodies and HTTP errors."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.routing import Route

from disambig.errors import UserError

HTTP_STATUS = {
    "D883": 400,
    "D884": 400,
    "D885": 413,
    "D886": 403,
    "D887": 503,
    "D888": 404,
    "D889": 408,
    "D890": 405,
    "D891": 413,
}
"""By the code of the error; any other is a 500."""


def http_status(problem: UserError) -> int:
    """Return the HTTP status of a refusal."""
    return HTTP_STATUS.get(problem.code, 500)


def client_message(problem: UserError) -> str:
    """Return what a client is told."""
    return f"Error: {problem}"


def unclear_request(problem: str) -> UserError:
    """Return the refusal of a request that cannot be understood."""
    return UserError("D883", problem=problem)


_BYTES_A_CHARACTER = 16
"""Of a form: a character outside the basic plane takes twelve, and annotations have marks of their own."""
_LEAST_BODY = 1 << 16


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Bounds of a server.

    Attributes
    ----------
    max_text : int
        Characters of one text.
    max_clients : int
        Connections at once; what is above is answered with 503.
    client_seconds : float
        How long a client may take to send a request, to read its answer, or until the next request, before
        it is dropped.
    text_seconds : float
        Processor time that a text may take to be decided; one that takes longer is answered with 413.
    held : int
        Bytes of requests that wait, and of answers that are not sent yet; what is above is answered with 503.
    """

    max_text: int = 500_000
    max_clients: int = 256
    client_seconds: float = 10.0
    text_seconds: float = 10.0
    held: int = 1 << 28

    @property
    def max_body(self) -> int:
        """Most bytes of a request."""
        return max(_LEAST_BODY, _BYTES_A_CHARACTER * self.max_text)


EXTENSIONS = ("chrome-extension", "moz-extension", "safari-web-extension")
"""Schemes of origins of which all may be allowed at once: their names are made at installation."""
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s?#@]+")
_NO_HOST = re.compile(r"[/?#@]")
_LOCAL = ("localhost", "")


@dataclass(frozen=True, slots=True)
class AllowedOrigins:
    """What is allowed.

    Attributes
    ----------
    hosts : frozenset of str
        Names under which the server may be reached, beside addresses and ``localhost``.
    allowed : frozenset of str
        Origins, in lower case; ``moz-extension://*`` stands for all of a scheme in `EXTENSIONS`.
    """

    hosts: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()

    @classmethod
    def from_options(cls, *, hosts: list[str], origins: list[str]) -> AllowedOrigins:
        """Return what options allow.

        Raises
        ------
        UserError
            D882 for what is no origin, or more than one.
        """
        return cls(frozenset(map(str.lower, hosts)), frozenset(map(_checked, origins)))

    def check(self, method: str, headers: Mapping[str, str]) -> str:
        """Return the foreign origin that asks and is allowed to; "" for programs and the page itself.

        Parameters
        ----------
        headers : mapping
            With names in lower case.

        Raises
        ------
        UserError
            D886 where host or origin is not allowed.
        """
        host = headers.get("host", "")
        if not self._is_known(host):
            raise UserError("D886", what="the host", value=host, option="--allow-host")
        origin = headers.get("origin", "").lower()
        if not origin:
            embedded = headers.get("sec-fetch-mode") == "no-cors"
            if embedded and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
                named = headers.get("referer", "another site")
                raise UserError("D886", what="a page of", value=named, option="--allow-origin")
            return ""
        if origin == f"http://{host.lower()}":
            return ""
        if origin in self.allowed or f"{origin.partition('://')[0]}://*" in self.allowed:
            return headers["origin"]
        raise UserError("D886", what="the origin", value=headers["origin"], option="--allow-origin")

    def _is_known(self, host: str) -> bool:
        if _NO_HOST.search(host):
            return False
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        if name in _LOCAL or name in self.hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _checked(origin: str) -> str:
    origin = origin.strip().lower().rstrip("/")
    scheme, _, rest = origin.partition("://")
    problem = ""
    if origin in ("*", "null"):
        problem = "that would be any page in any browser of this machine"
    elif "*" in origin and not (rest == "*" and scheme in EXTENSIONS):
        problem = "a * stands for all extensions of a browser, and for nothing else"
    elif not _ORIGIN.fullmatch(origin):
        problem = "this is no origin"
    if problem:
        raise UserError("D882", value=origin, problem=problem)
    return origin


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

ALWAYS: Sequence[Header] = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"vary", b"Origin"),
)
_DAY = b"86400"


class RequestGuard:
    """An application of ASGI that lets through to another what may be asked.

    Parameters
    ----------
    app : ASGI application
    origins : Origins
    tell : callable
        Is told of bugs, in a line that holds nothing of a text.
    routes : sequence of Route
        What `app` answers.
    """

    def __init__(
        self, app: ASGIApp, origins: AllowedOrigins, tell: Callable[[str], None], routes: Sequence[Route] = ()
    ) -> None:
        self.routes = routes
        self._app, self._origins, self._tell = app, origins, tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        started = False
        added = list(ALWAYS)

        async def with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message.get("headers", ()), *added]
            await send(message)

        try:
            foreign = self._origins.check(scope["method"], headers)
            added += _allowing(foreign)
            if scope["method"] == "OPTIONS":
                await _plain_response(with_headers, 204, "", _preflight(headers) if foreign else ())
                return
            await self._app(scope, receive, with_headers)
        except UserError as problem:
            if started:
                raise
            await _plain_response(
                with_headers, http_status(problem), client_message(problem), _closing(problem)
            )
        except Exception as problem:
            self._tell(_origin_place(problem))
            if not started:
                await _plain_response(
                    with_headers, 500, "Error: the server failed; its standard error says where"
                )


async def _plain_response(send: Send, status: int, text: str, more: Sequence[Header] = ()) -> None:
    body = text.encode()
    length = [] if status == 204 else [(b"content-length", str(len(body)).encode())]
    kind = (b"content-type", b"text/plain; charset=utf-8")
    await send({"type": "http.response.start", "status": status, "headers": [kind, *length, *more]})
    await send({"type": "http.response.body", "body": body})


def _allowing(origin: str) -> list[Header]:
    """Return who may use an answer: an origin, or only what is of the same."""
    if not origin:
        return [(b"cross-origin-resource-policy", b"same-origin")]
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"cross-origin-resource-policy", b"cross-origin"),
    ]


def _preflight(headers: MutableMapping[str, str]) -> list[Header]:
    asked = headers.get("access-control-request-headers", "content-type").encode("latin-1")
    found = [
        (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
        (b"access-control-allow-headers", asked),
        (b"access-control-max-age", _DAY),
    ]
    if headers.get("access-control-request-private-network") == "true":
        found.append((b"access-control-allow-private-network", b"true"))
    return found


def _closing(problem: UserError) -> list[Header]:
    """Return what is said beside a refusal: a body that was not read whole ends its connection."""
    if problem.code in ("D885", "D889", "D887"):
        again = [(b"retry-after", b"1")] if problem.code == "D887" else []
        return [(b"connection", b"close"), *again]
    if problem.code == "D890":
        return [(b"allow", str(problem.values["allowed"]).encode())]
    return []


def _origin_place(problem: BaseException) -> str:
    """Return where a bug showed, without its message, which may hold something of a text."""
    trace, place = problem.__traceback__, "?"
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"a request failed: {type(problem).__name__} at {place}"


ReceiveBody = Callable[[], Awaitable[MutableMapping[str, Any]]]


class BodyReader:
    """Reads bodies, and knows how many bytes of them and of answers are held.

    Parameters
    ----------
    limits : Limits
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self.held = 0

    @asynccontextmanager
    async def read(self, receive: ReceiveBody, announced: str | None) -> AsyncIterator[bytes]:
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
    def hold(self, size: int) -> Iterator[None]:
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

    async def _parts(self, receive: ReceiveBody) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._limits.client_seconds
        more = True
        while more:
            try:
                message = await asyncio.wait_for(receive(), max(0.0, end - loop.time()))
            except asyncio.TimeoutError:
                raise UserError("D889", seconds=self._limits.client_seconds) from None
            if message["type"] == "http.disconnect":
                raise unclear_request("the client left before its request was whole")
            yield message.get("body", b"")
            more = message.get("more_body", False)
