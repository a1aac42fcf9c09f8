"""The web application: routes, the page to try it, and connections with time limits."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from uvicorn.protocols.http.h11_impl import H11Protocol

from disambig.errors import UserError
from disambig.formats import AnnotatedDocument, to_json
from disambig.server._endpoints import explain_flag, reasons_request, records_request
from disambig.server._openapi import openapi
from disambig.server.checker import Make, ModelThread, Rates, ServerChecker
from disambig.server.languagetool import (
    MOST_FLAGS,
    SOFTWARE,
    CheckRequest,
    answer,
    check_request,
    find_language,
    languages,
    parse_form,
    rule_as_json,
    shown_flags,
    task_rule,
)
from disambig.server.middleware import AllowedOrigins, BodyReader, RequestGuard, ServerLimits, unclear_request

_INSIDE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
_RATE = 'data-rate=""'


@dataclass(frozen=True, slots=True)
class DemoPage:
    """The page and the headers that it is sent with.

    Attributes
    ----------
    html : str
    headers : dict
    """

    html: str
    headers: dict[str, str]

    @classmethod
    def for_rate(cls, flags_per_1000: float, *, least: float | None = None) -> DemoPage:
        """Return the page of a server that shows flags at a rate.

        Parameters
        ----------
        flags_per_1000 : float
            In 1,000 words that are right.
        least : float, optional
            In place of the rate, the share of flags that is right.
        """
        html = files(__package__).joinpath("page.html").read_text(encoding="utf8")
        allowed = {kind: _hash(text) for kind, text in _INSIDE.findall(html)}
        policy = (
            "default-src 'none'; "
            f"script-src '{allowed['script']}'; style-src '{allowed['style']}'; "
            "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        headers = {"content-security-policy": policy, "x-frame-options": "DENY"}
        shown = f'data-rate="{flags_per_1000:g}"' if least is None else f'data-share="{least:g}"'
        return cls(html.replace(_RATE, shown), headers)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def protocol_with_timeout(seconds: float) -> type[H11Protocol]:
    """Return the protocol of connections whose clients have so many seconds for each step.

    The steps are: to send the head of a request, the first or the next; to read an answer. How long a body
    may take is watched where it is read (`disambig.server.middleware`).
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


Asked = TypeVar("Asked")

BASES = ("/v2", "/v2/v2")
_LONG = 1 << 15
"""Bytes of a body from which on it is read in a thread, while others are answered."""
_PIECE = 1 << 16
"""Bytes of an answer that are handed over at once."""
_NO_FORMS = ("multipart/", "application/json")


def make_app(
    checker: ServerChecker,
    worker: ModelThread,
    *,
    limits: ServerLimits,
    origins: AllowedOrigins,
    tell: Callable[[str], None] = lambda line: None,
) -> RequestGuard:
    """Return the application.

    Parameters
    ----------
    checker : Checker
        The models, which only `worker` asks.
    worker : Worker
    limits : Limits
    origins : Origins
        Who may ask.
    tell : callable
        Is told of bugs, in a line that holds nothing of a text.
    """
    views = _Views(checker, worker, limits)
    routes = [_Route("/", views.page), _Route("/annotate", views.annotate, methods=["POST"])]
    routes += [_Route("/explain", views.explain, methods=["POST"])]
    routes += [_Route("/openapi.json", views.openapi)]
    for base in BASES:  # clients that are given an address with /v2/ ask for the second
        routes += [
            _Route(base, views.about),
            _Route(f"{base}/check", views.check, methods=["GET", "POST"]),
            _Route(f"{base}/languages", views.languages),
            _Route(f"{base}/info", views.info),
            _Route(f"{base}/healthcheck", views.health),
            _Route(f"{base}/maxtextlength", views.longest),
            _Route(f"{base}/configinfo", views.configuration),
        ]
    return RequestGuard(Router(routes, default=_nothing), origins, tell, routes)


class _Route(Route):
    """A path; that it is not asked by some method is a refusal like others."""

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer what is asked by one of its methods."""
        methods = sorted(self.methods or ())
        if scope["method"] not in methods:
            raise UserError(
                "D890", path=scope["path"][:100], method=scope["method"], allowed=", ".join(methods)
            )
        await super().handle(scope, receive, send)


async def _nothing(scope: Any, receive: Any, send: Any) -> None:
    raise UserError("D888", path=scope["path"][:100])


class _Views:
    """What is answered, a method a path; a `UserError` is answered by the `Guard`."""

    def __init__(self, checker: ServerChecker, worker: ModelThread, limits: ServerLimits) -> None:
        self._checker, self._worker, self._limits = checker, worker, limits
        self._bodies = BodyReader(limits)
        self._page = DemoPage.for_rate(checker.flags_per_1000, least=checker.loaded.least)

    async def page(self, request: Request) -> Response:
        return Response(self._page.html, headers=self._page.headers, media_type="text/html")

    async def check(self, request: Request) -> Response:
        if request.headers.get("content-type", "").lower().startswith(_NO_FORMS):
            raise unclear_request("send a form: application/x-www-form-urlencoded")
        async with self._body(request) as body:
            asked = await self._read(body, _fields, request.scope["query_string"], body)
            language = find_language(asked.language, self._checker.languages)
            rates = self._checker.rates_for(asked.flags_per_1000, picky=asked.picky)

            def make(found: Sequence[AnnotatedDocument]) -> bytes:
                flags = [each for one in found for each in shown_flags(asked.text, one, self._checker)]
                ruled = ((each, task_rule(self._checker.models[each.flag.task].task)) for each in flags)
                matches = [(each, rule) for each, rule in ruled if asked.wants(rule)]
                whole = len(flags) < MOST_FLAGS
                return to_json(answer(matches, asked.text, language=language, whole=whole))

            texts = [] if asked.nothing else [asked.text.read]
            return await self._answer(request, texts, rates, make)

    async def annotate(self, request: Request) -> Response:
        async with self._body(request) as body:
            asked = await self._read(body, records_request, body)
            rates = self._checker.rates_for(asked.flags_per_1000)
            return await self._answer(request, asked.texts, rates, asked.answer)

    async def explain(self, request: Request) -> Response:
        async with self._body(request) as body:
            asked = await self._read(body, reasons_request, body)
            return await self._answer(request, [], {}, lambda found: explain_flag(asked, self._checker))

    async def openapi(self, request: Request) -> Response:
        return _json(to_json(openapi(self._limits, BASES)))

    async def about(self, request: Request) -> Response:
        return PlainTextResponse("disambig: see /v2/check and /v2/languages")

    async def languages(self, request: Request) -> Response:
        return _json(to_json(languages(self._checker.languages)))

    async def info(self, request: Request) -> Response:
        return _json(to_json({"software": SOFTWARE}))

    async def health(self, request: Request) -> Response:
        return PlainTextResponse("OK")

    async def longest(self, request: Request) -> Response:
        return PlainTextResponse(str(self._limits.max_text))

    async def configuration(self, request: Request) -> Response:
        asked = request.query_params.get("language", "")
        if not asked:
            raise unclear_request("missing 'language' parameter, e.g. 'language=en-US'")
        find_language(asked, self._checker.languages)
        rules = [rule_as_json(task_rule(model.task)) for model in self._checker.models.values()]
        parameter = {"maxTextLength": self._limits.max_text}
        return _json(to_json({"software": SOFTWARE, "parameter": parameter, "rules": rules}))

    def _body(self, request: Request) -> AbstractAsyncContextManager[bytes]:
        return self._bodies.read(request.receive, request.headers.get("content-length"))

    async def _answer(self, request: Request, texts: Sequence[str], rates: Rates, make: Make) -> Response:
        """Ask the models, as long as the client waits for it."""
        asking = asyncio.ensure_future(self._worker.ask(texts, rates, make))
        leaving = asyncio.ensure_future(request.receive())
        try:
            await asyncio.wait({asking, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise unclear_request("the client left")
            return _Answer(asking.result(), self._bodies)
        finally:
            asking.cancel()
            leaving.cancel()

    async def _read(self, body: bytes, reader: Callable[..., Asked], *parts: bytes) -> Asked:
        """Read a request; a long one in a thread, while others are answered."""
        read = partial(reader, *parts, max_text=self._limits.max_text)
        return await asyncio.to_thread(read) if len(body) > _LONG else read()


class _Answer(Response):
    """JSON that counts as held until it is sent: a piece is handed over when the one before is on its way."""

    def __init__(self, body: bytes, bodies: BodyReader) -> None:
        super().__init__(media_type="application/json", headers={"content-length": str(len(body))})
        self._whole, self._bodies = body, bodies

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send it."""
        with self._bodies.hold(len(self._whole)):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            for at in range(0, len(self._whole), _PIECE):
                piece = self._whole[at : at + _PIECE]
                more = at + _PIECE < len(self._whole)
                await send({"type": "http.response.body", "body": piece, "more_body": more})


def _fields(query: bytes, body: bytes, *, max_text: int) -> CheckRequest:
    return check_request(parse_form(query, body), max_text=max_text)


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")
