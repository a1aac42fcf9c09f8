"""What is answered under which path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from disambig.errors import UserError
from disambig.formats.jsonl.format import to_json
from disambig.formats.results import Annotated
from disambig.server.bodies import Bodies
from disambig.server.checker import Checker
from disambig.server.flags import MOST_FLAGS, shown_flags
from disambig.server.guard import Guard
from disambig.server.languagetool.answer import SOFTWARE, answer
from disambig.server.languagetool.languages import language_of, languages
from disambig.server.languagetool.request import CheckRequest, check_request, fields_of
from disambig.server.languagetool.rules import listed, rule_of
from disambig.server.limits import Limits
from disambig.server.openapi import openapi
from disambig.server.origins import Origins
from disambig.server.page import Page
from disambig.server.reasons import reasons, reasons_request
from disambig.server.records import records_request
from disambig.server.refusals import unclear
from disambig.server.worker import Make, Rates, Worker

Asked = TypeVar("Asked")

BASES = ("/v2", "/v2/v2")
_LONG = 1 << 15
"""Bytes of a body from which on it is read in a thread, while others are answered."""
_PIECE = 1 << 16
"""Bytes of an answer that are handed over at once."""
_NO_FORMS = ("multipart/", "application/json")


def make_app(
    checker: Checker,
    worker: Worker,
    *,
    limits: Limits,
    origins: Origins,
    tell: Callable[[str], None] = lambda line: None,
) -> Guard:
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
    return Guard(Router(routes, default=_nothing), origins, tell, routes)


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

    def __init__(self, checker: Checker, worker: Worker, limits: Limits) -> None:
        self._checker, self._worker, self._limits = checker, worker, limits
        self._bodies = Bodies(limits)
        self._page = Page.of(checker.flags_per_1000, least=checker.loaded.least)

    async def page(self, request: Request) -> Response:
        return Response(self._page.html, headers=self._page.headers, media_type="text/html")

    async def check(self, request: Request) -> Response:
        if request.headers.get("content-type", "").lower().startswith(_NO_FORMS):
            raise unclear("send a form: application/x-www-form-urlencoded")
        async with self._body(request) as body:
            asked = await self._read(body, _fields, request.scope["query_string"], body)
            language = language_of(asked.language, self._checker.languages)
            rates = self._checker.rates_for(asked.flags_per_1000, picky=asked.picky)

            def make(found: Sequence[Annotated]) -> bytes:
                flags = [each for one in found for each in shown_flags(asked.text, one, self._checker)]
                ruled = ((each, rule_of(self._checker.models[each.flag.task].task)) for each in flags)
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
            return await self._answer(request, [], {}, lambda found: reasons(asked, self._checker))

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
            raise unclear("missing 'language' parameter, e.g. 'language=en-US'")
        language_of(asked, self._checker.languages)
        rules = [listed(rule_of(model.task)) for model in self._checker.models.values()]
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
                raise unclear("the client left")
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

    def __init__(self, body: bytes, bodies: Bodies) -> None:
        super().__init__(media_type="application/json", headers={"content-length": str(len(body))})
        self._whole, self._bodies = body, bodies

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send it."""
        with self._bodies.holding(len(self._whole)):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            for at in range(0, len(self._whole), _PIECE):
                piece = self._whole[at : at + _PIECE]
                more = at + _PIECE < len(self._whole)
                await send({"type": "http.response.body", "body": piece, "more_body": more})


def _fields(query: bytes, body: bytes, *, max_text: int) -> CheckRequest:
    return check_request(fields_of(query, body), max_text=max_text)


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")
