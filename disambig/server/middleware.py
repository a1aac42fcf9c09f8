"""Middleware: allowed origins, limits, request bodies and HTTP errors."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from disambig.errors import UserError

if TYPE_CHECKING:
    from starlette.routing import Route  # the command imports this module before it checks for the extra

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
"""HTTP status by error code; other errors have status 500."""


def unclear_request(problem: str) -> UserError:
    """Return the error for a request that cannot be understood."""
    return UserError("D883", problem=problem)


_BYTES_PER_CHARACTER = 16
"""Maximum size of a character in a form: up to twelve bytes if percent-encoded, and annotations add JSON."""
_MIN_BODY_LIMIT = 1 << 16


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Limits of a server."""

    max_text: int = 500_000  # maximum number of characters per text
    # Maximum number of connections at the same time; further ones are answered with 503
    max_clients: int = 256
    # Time a client may take to send a request, to read its response, or to start the next request, before its
    # connection is closed
    client_seconds: float = 10.0
    # Processor time for checking one text; texts that take longer are answered with 413
    text_seconds: float = 10.0
    # Maximum number of bytes of requests and responses that are held in memory; further requests are answered
    # with 503
    held: int = 1 << 28

    @property
    def max_body(self) -> int:
        """Maximum number of bytes per request."""
        return max(_MIN_BODY_LIMIT, _BYTES_PER_CHARACTER * self.max_text)


EXTENSIONS = ("chrome-extension", "moz-extension", "safari-web-extension")
"""Schemes of which all origins may be allowed at once, because each installation has a different origin."""
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s?#@]+")
_INVALID_IN_HOST = re.compile(r"[/?#@]")
_LOCAL_NAMES = ("localhost", "")


@dataclass(frozen=True, slots=True)
class AllowedOrigins:
    """The hosts and origins that requests may come from."""

    # Host names that the server answers to, in addition to IP addresses and ``localhost``
    hosts: frozenset[str] = frozenset()
    # Allowed origins in lower case; ``moz-extension://*`` allows all origins of a scheme in `EXTENSIONS`
    allowed: frozenset[str] = frozenset()

    @classmethod
    def from_options(cls, *, hosts: list[str], origins: list[str]) -> AllowedOrigins:
        """Return the hosts and origins that the options of a command allow.

        Raises D882 for an invalid origin, or one that stands for too many.
        """
        return cls(frozenset(map(str.lower, hosts)), frozenset(map(_check_origin, origins)))

    def check(self, method: str, headers: Mapping[str, str]) -> str:
        """Return the foreign origin of a request; "" for programs and the demo page.

        `headers` are the request headers with names in lower case. Raises D886 if the host or the origin is
        not allowed.
        """
        host = headers.get("host", "")
        # With DNS rebinding, a foreign page could reach the server under another host name.
        if not self._is_allowed_host(host):
            raise UserError("D886", what="the host", value=host, option="--allow-host")
        origin = headers.get("origin", "").lower()
        if not origin:
            # Browsers send no origin for images, scripts and the like in a page of another site, but they say
            # so in the headers of the Fetch Metadata specification.
            is_embedded = headers.get("sec-fetch-mode") == "no-cors"
            if is_embedded and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
                site = headers.get("referer", "another site")
                raise UserError("D886", what="a page of", value=site, option="--allow-origin")
            return ""
        if origin == f"http://{host.lower()}":  # the demo page
            return ""
        if origin in self.allowed or f"{origin.partition('://')[0]}://*" in self.allowed:
            return headers["origin"]  # as it was sent: browsers compare the response with it, case included
        raise UserError("D886", what="the origin", value=headers["origin"], option="--allow-origin")

    def _is_allowed_host(self, host: str) -> bool:
        if _INVALID_IN_HOST.search(host):  # `urlsplit` would find the name in another part of the value
            return False
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        if name in _LOCAL_NAMES or name in self.hosts:
            return True
        # DNS rebinding needs a name, so a page that addresses the server by a number cannot use it.
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _check_origin(origin: str) -> str:
    origin = origin.strip().lower().rstrip("/")
    scheme, _, rest = origin.partition("://")
    problem = ""
    if origin in ("*", "null"):
        problem = "it would allow any page in any browser on this machine"
    elif "*" in origin and not (rest == "*" and scheme in EXTENSIONS):
        problem = "* is only allowed for all extensions of a browser"
    elif not _ORIGIN.fullmatch(origin):
        problem = "it is not an origin"
    if problem:
        raise UserError("D882", value=origin, problem=problem)
    return origin


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

COMMON_HEADERS: Sequence[Header] = (
    (b"cache-control", b"no-store"),  # responses contain parts of private texts
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"vary", b"Origin"),  # the headers of `_cors_headers` differ between origins
)
_PREFLIGHT_SECONDS = b"86400"
NOTE_HEADER = "Disambig-Note"
"""Response header with a note about an option that has no effect."""


class RequestGuard:
    """ASGI middleware: check the origin of requests, add headers, and turn errors into responses.

    `report_bug`: called with a line about each bug; the line contains no part of a text.
    """

    def __init__(
        self,
        app: ASGIApp,
        origins: AllowedOrigins,
        report_bug: Callable[[str], None],
        routes: Sequence[Route] = (),
    ) -> None:
        self.routes = routes
        self._app, self._origins, self._report_bug = app, origins, report_bug

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        # ASGI gives headers as bytes, with names in lower case; Latin-1 decodes any of them
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        has_started = is_read = False
        extra_headers = list(COMMON_HEADERS)

        async def receive_and_note_end() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = not message.get("more_body", False)
            return message

        async def send_with_headers(message: Message) -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                has_started = True
                message["headers"] = [*message.get("headers", ()), *extra_headers]
            await send(message)

        try:
            # Before any other work. A rejected origin gets no CORS headers: its page cannot read the error.
            foreign = self._origins.check(scope["method"], headers)
            extra_headers += _cors_headers(foreign)
            if scope["method"] == "OPTIONS":  # a CORS preflight (Fetch standard), whatever the path is
                await _send_text(send_with_headers, 204, "", _preflight(headers) if foreign else ())
                return
            await self._app(scope, receive_and_note_end, send_with_headers)
        except UserError as problem:
            if has_started:  # only closing the connection is left, and uvicorn does that
                raise
            await _send_text(
                send_with_headers,
                HTTP_STATUS.get(problem.code, 500),
                f"Error: {problem}",
                _error_headers(problem),
                unread=receive if problem.code in ("D885", "D887") and not is_read else None,
            )
        except Exception as problem:
            # The message of the exception is not reported, because it may contain a part of a text.
            frames = traceback.extract_tb(problem.__traceback__)
            place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "?"
            self._report_bug(f"a request failed: {type(problem).__name__} at {place}")
            if not has_started:
                message = "Error: the server failed; see its standard error for the place"
                await _send_text(send_with_headers, 500, message)


async def _send_text(
    send: Send, status: int, text: str, headers: Sequence[Header] = (), *, unread: Receive | None = None
) -> None:
    """Send a response in plain text, and then discard the unread rest of the request, if there is any.

    If the connection was closed while the client still sends, the client would see an error instead of the
    response (RFC 9112, section 9.6).
    """
    body = text.encode()
    # RFC 9110, section 8.6: a response with status 204 must not have the header
    length = [] if status == 204 else [(b"content-length", str(len(body)).encode())]
    kind = (b"content-type", b"text/plain; charset=utf-8")
    await send({"type": "http.response.start", "status": status, "headers": [kind, *length, *headers]})
    # While more of the body may follow, uvicorn keeps the connection open.
    await send({"type": "http.response.body", "body": body, "more_body": unread is not None})
    if unread is not None:
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(_discard(unread), _LINGER_SECONDS)
        await send({"type": "http.response.body", "body": b""})


_LINGER_SECONDS = 5.0
_LINGER_BYTES = 1 << 26
"""Maximum time and size for discarding the rest of a rejected request."""


async def _discard(receive: Receive) -> None:
    size, more = 0, True
    while more and size < _LINGER_BYTES:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)


def _cors_headers(origin: str) -> list[Header]:
    """Return the headers that let a foreign origin, or ("") only the page itself, read the response."""
    if not origin:
        return [(b"cross-origin-resource-policy", b"same-origin")]
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        # scripts may otherwise read only a few standard headers
        (b"access-control-expose-headers", NOTE_HEADER.encode("ascii")),
        (b"cross-origin-resource-policy", b"cross-origin"),
    ]


def _preflight(headers: MutableMapping[str, str]) -> list[Header]:
    # The origin was accepted, so it may send any header. "*" would not do: it excludes Authorization.
    requested = headers.get("access-control-request-headers", "content-type").encode("latin-1")
    response_headers = [
        (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
        (b"access-control-allow-headers", requested),
        (b"access-control-max-age", _PREFLIGHT_SECONDS),
    ]
    # Chrome asks for this before a public page may reach an address of this machine (Private Network Access)
    if headers.get("access-control-request-private-network") == "true":
        response_headers.append((b"access-control-allow-private-network", b"true"))
    return response_headers


def _error_headers(problem: UserError) -> list[Header]:
    """Return the extra headers of an error response."""
    # The bodies of these requests were not read to their ends, so the connection cannot be used again.
    if problem.code in ("D885", "D889", "D887"):
        retry = [(b"retry-after", b"1")] if problem.code == "D887" else []
        return [(b"connection", b"close"), *retry]
    if problem.code == "D890":
        return [(b"allow", str(problem.values["allowed"]).encode())]
    return []


class BodyReader:
    """Read request bodies, and count the bytes of requests and responses that are held in memory.

    Attribute `held`: number of bytes that are held now. It needs no lock: only the event loop changes it.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self.held = 0

    @asynccontextmanager
    async def read(self, receive: Receive, content_length: str | None) -> AsyncIterator[bytes]:
        """Yield the body of a request; it counts as held until the block is left.

        Raises D885 as soon as the body is known to be too long; D887 if too many bytes are held; D889 if the
        body does not arrive in time; D883 if the client closes the connection.
        """
        size = 0
        try:
            if content_length is not None and content_length.isdecimal():  # missing if the body is chunked
                self._check(int(content_length))
            chunks = []
            async for chunk in self._chunks(receive):
                size += len(chunk)
                self.held += len(chunk)
                self._check(size)
                chunks.append(chunk)
            yield b"".join(chunks)
        finally:
            self.held -= size

    @contextmanager
    def hold(self, size: int) -> Iterator[None]:
        """Count `size` bytes of a response as held until the block is left.

        Raises D887 if too many bytes are held.
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

    async def _chunks(self, receive: Receive) -> AsyncIterator[bytes]:
        """Yield the chunks of a request body; raise D889 if the client is too slow."""
        loop = asyncio.get_running_loop()
        # One limit for the whole body: a limit for each chunk would allow a client to send byte by byte.
        end = loop.time() + self._limits.client_seconds
        more = True
        while more:
            try:
                message = await asyncio.wait_for(receive(), max(0.0, end - loop.time()))
            except asyncio.TimeoutError:
                raise UserError("D889", seconds=self._limits.client_seconds) from None
            if message["type"] == "http.disconnect":
                raise unclear_request("the client left before its request was complete")
            yield message.get("body", b"")
            more = message.get("more_body", False)
