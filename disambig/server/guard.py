"""Around everything that is answered: who may ask, what is sent with every answer, refusals as plain text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from starlette.routing import Route

from disambig.errors import UserError
from disambig.server.origins import Origins
from disambig.server.refusals import said_of, status_of

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

ALWAYS: Sequence[Header] = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"vary", b"Origin"),
)
_DAY = b"86400"


class Guard:
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
        self, app: App, origins: Origins, tell: Callable[[str], None], routes: Sequence[Route] = ()
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
                await _plain(with_headers, 204, "", _preflight(headers) if foreign else ())
                return
            await self._app(scope, receive, with_headers)
        except UserError as problem:
            if started:
                raise
            await _plain(with_headers, status_of(problem), said_of(problem), _closing(problem))
        except Exception as problem:
            self._tell(_place_of(problem))
            if not started:
                await _plain(with_headers, 500, "Error: the server failed; its standard error says where")


async def _plain(send: Send, status: int, text: str, more: Sequence[Header] = ()) -> None:
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


def _place_of(problem: BaseException) -> str:
    """Return where a bug showed, without its message, which may hold something of a text."""
    trace, place = problem.__traceback__, "?"
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"a request failed: {type(problem).__name__} at {place}"
