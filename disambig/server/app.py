"""The web application: routes, the demo page, and connections with time limits."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib.resources import files
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from uvicorn.protocols.http.h11_impl import H11Protocol

from disambig.errors import UserError
from disambig.formats import AnnotatedDocument, to_json
from disambig.rules import PAGE, Rule, share_text
from disambig.server._endpoints import (
    describe_standalone,
    explain_flag,
    openapi,
    parse_explain_request,
    parse_records_request,
    parse_standalone_request,
)
from disambig.server.checker import CheckOptions, MakeResponse, ModelThread, ServerChecker
from disambig.server.languagetool import (
    MAX_FLAGS,
    SOFTWARE,
    CheckRequest,
    check_response,
    find_language,
    languages,
    languagetool_rule,
    parse_check_request,
    parse_form,
    rule_as_json,
    visible_flags,
)
from disambig.server.middleware import (
    NOTE_HEADER,
    AllowedOrigins,
    BodyReader,
    RequestGuard,
    ServerLimits,
    unclear_request,
)

_INLINE_CODE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
_RATE_ATTRIBUTE = 'data-rate=""'
_EMPHASIS = re.compile(r"\*([^*]+)\*")


@dataclass(frozen=True, slots=True)
class DemoPage:
    """The demo page and its HTTP headers."""

    html: str
    headers: dict[str, str]

    @classmethod
    def for_rate(cls, flags_per_1000: float, *, min_precision: float | None = None) -> DemoPage:
        """Return the page of a server with the given rate or minimum precision.

        `flags_per_1000`: false alarms per 1,000 correct words.
        `min_precision`: minimum share of flags that are right; it replaces the rate.
        """
        html = files(__package__).joinpath("page.html").read_text(encoding="utf8")
        # The policy allows only this script and this style, by their hashes.
        hashes = {kind: _hash(text) for kind, text in _INLINE_CODE.findall(html)}
        policy = (
            "default-src 'none'; "
            f"script-src '{hashes['script']}'; style-src '{hashes['style']}'; "
            "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        headers = {"content-security-policy": policy, "x-frame-options": "DENY"}
        if min_precision is None:
            attribute = f'data-rate="{flags_per_1000:g}"'
        else:
            attribute = f'data-share="{min_precision:g}"'
        return cls(html.replace(_RATE_ATTRIBUTE, attribute), headers)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def protocol_with_timeout(seconds: float) -> type[H11Protocol]:
    """Return a protocol class that closes the connection of a client that is too slow.

    The client has `seconds` to send the head of a request, and again to read a response; `BodyReader` limits
    the time of the body.
    """

    # uvicorn only limits the time between two requests of a connection. Without the timer below, clients that
    # connect and send nothing, or send a head byte by byte, would occupy all connections of the server.
    class ProtocolWithTimeout(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._start_timer()

        def data_received(self, data: bytes) -> None:
            cycle = self.cycle  # uvicorn makes a new one when the head of a request is complete
            is_idle = cycle is None or cycle.response_complete
            super().data_received(data)
            if self.cycle is not cycle:
                self._stop_timer()  # the head is complete: `BodyReader` limits the rest
            elif is_idle and self._timer is None:
                # The first bytes of a further request, which stop uvicorn's own timer. A running timer is not
                # started again: then each byte would extend the time for the head.
                self._start_timer()

        def pause_writing(self) -> None:
            # asyncio calls this when its buffer is full, because the client does not read the response
            super().pause_writing()
            self._start_timer()

        def resume_writing(self) -> None:
            super().resume_writing()
            self._stop_timer()

        def timeout_keep_alive_handler(self) -> None:
            super().timeout_keep_alive_handler()
            self._start_timer()  # for reading the rest of a response before the connection is closed

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _start_timer(self) -> None:
            self._stop_timer()
            self._timer = self.loop.call_later(seconds, self._abort)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _abort(self) -> None:
            # `close` would first wait until the client has read what is buffered
            self.transport.abort()

    return ProtocolWithTimeout


ParsedRequest = TypeVar("ParsedRequest")

BASES = ("/v2", "/v2/v2")
_MAX_INLINE_BODY = 1 << 15
"""Bodies with more bytes are parsed in a thread, while other requests are answered."""
_CHUNK_BYTES = 1 << 16
"""Number of bytes of a response that are sent at a time."""
_UNSUPPORTED_FORMS = ("multipart/", "application/json")


def make_app(
    checker: ServerChecker,
    worker: ModelThread,
    *,
    limits: ServerLimits,
    origins: AllowedOrigins,
    report_bug: Callable[[str], None] = lambda line: None,
) -> RequestGuard:
    """Return the application.

    `checker`: the models, which only `worker` runs.
    `report_bug`: called with a line about each bug; the line contains no part of a text.
    """
    views = _Views(checker, worker, limits)
    routes = [
        _Route("/", views.page),
        _Route("/annotate", views.annotate, methods=["POST"]),
        _Route("/explain", views.explain, methods=["POST"]),
        _Route("/models", views.models),
        _Route("/models/{name:path}", views.standalone, methods=["POST"]),
        _Route("/openapi.json", views.openapi),
        _Route("/rules", views.rules),
    ]
    for base in BASES:  # clients that are configured with an address ending in /v2/ add another /v2
        routes += [
            _Route(base, views.about),
            _Route(f"{base}/check", views.check, methods=["GET", "POST"]),
            _Route(f"{base}/languages", views.languages),
            _Route(f"{base}/info", views.info),
            _Route(f"{base}/healthcheck", views.health),
            _Route(f"{base}/maxtextlength", views.max_text_length),
            _Route(f"{base}/configinfo", views.configuration),
        ]
    return RequestGuard(Router(routes, default=_not_found), origins, report_bug, routes)


class _Route(Route):
    """A route that raises D890 for methods it does not accept.

    Starlette would answer by itself, in another form than that of our errors.
    """

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request with one of the accepted methods."""
        methods = sorted(self.methods or ())
        if scope["method"] not in methods:
            raise UserError(
                "D890", path=scope["path"][:100], method=scope["method"], allowed=", ".join(methods)
            )
        await super().handle(scope, receive, send)


async def _not_found(scope: Any, receive: Any, send: Any) -> None:
    raise UserError("D888", path=scope["path"][:100])


class _Views:
    """The endpoints, one method per path; `RequestGuard` turns a `UserError` into a response."""

    def __init__(self, checker: ServerChecker, worker: ModelThread, limits: ServerLimits) -> None:
        self._checker, self._worker, self._limits = checker, worker, limits
        self._bodies = BodyReader(limits)
        self._page = DemoPage.for_rate(checker.flags_per_1000, min_precision=checker.loaded.least)

    async def page(self, request: Request) -> Response:
        return Response(self._page.html, headers=self._page.headers, media_type="text/html")

    async def check(self, request: Request) -> Response:
        if request.headers.get("content-type", "").lower().startswith(_UNSUPPORTED_FORMS):
            raise unclear_request("send a form: application/x-www-form-urlencoded; /annotate accepts JSON")
        async with self._body(request) as body:
            query = await self._read(body, _parse_check, request.scope["query_string"], body)
            # Errors of the language and of the rate are raised here, before the request waits for the models.
            language = find_language(query.language, self._checker.languages, query.preferred_variants)
            options = self._checker.options_for(
                query.flags_per_1000, picky=query.picky, writing=query.writing
            )

            # It runs in the thread of the models: the candidates of a flag may need them.
            def make_response(results: Sequence[AnnotatedDocument]) -> bytes:
                flags = [
                    flag for result in results for flag in visible_flags(query.text, result, self._checker)
                ]
                with_rules = [(flag, languagetool_rule(self._checker.rule(flag.flag.rule))) for flag in flags]
                matches = [(flag, rule) for flag, rule in with_rules if query.includes(rule, flag.flag.task)]
                response = check_response(
                    matches,
                    query.text,
                    language=language,
                    is_complete=len(flags) < MAX_FLAGS,
                    foreign=[paragraph for result in results for paragraph in result.foreign],
                )
                return to_json(response)

            texts = [] if query.text_level_only else [query.text.plain]
            return await self._answer(request, texts, options, make_response)

    async def annotate(self, request: Request) -> Response:
        async with self._body(request) as body:
            query = await self._read(body, parse_records_request, body)
            options = self._checker.options_for(query.flags_per_1000, writing=query.writing)
            return await self._answer(request, query.texts, options, query.answer)

    async def explain(self, request: Request) -> Response:
        async with self._body(request) as body:
            query = await self._read(body, parse_explain_request, body)
            options = self._checker.options_for()
            return await self._answer(
                request, [], options, lambda results: explain_flag(query, self._checker)
            )

    async def models(self, request: Request) -> Response:
        return _json(describe_standalone(self._checker.standalone))

    async def standalone(self, request: Request) -> Response:
        name = request.path_params["name"]
        model = self._checker.standalone.get(name)
        if model is None:
            raise UserError("D888", path=request.scope["path"][:100])
        async with self._body(request) as body:
            query = await self._read(body, parse_standalone_request, body)
            seconds = self._limits.text_seconds
            options = self._checker.options_for()
            return await self._answer(request, [], options, lambda results: query.answer(model, seconds))

    async def openapi(self, request: Request) -> Response:
        return _json(to_json(openapi(self._limits, BASES)))

    async def rules(self, request: Request) -> Response:
        page = rules_as_html(self._checker.rules)
        (style,) = (text for _, text in _INLINE_CODE.findall(page))
        policy = f"default-src 'none'; style-src '{_hash(style)}'; img-src data:; frame-ancestors 'none'"
        return Response(page, headers={"content-security-policy": policy}, media_type="text/html")

    async def about(self, request: Request) -> Response:
        return PlainTextResponse("disambig: see /v2/check and /v2/languages")

    async def languages(self, request: Request) -> Response:
        return _json(to_json(languages(self._checker.languages)))

    async def info(self, request: Request) -> Response:
        return _json(to_json({"software": SOFTWARE}))

    async def health(self, request: Request) -> Response:
        return PlainTextResponse("OK")

    async def max_text_length(self, request: Request) -> Response:
        return PlainTextResponse(str(self._limits.max_text))

    async def configuration(self, request: Request) -> Response:
        language = request.query_params.get("language", "")
        if not language:
            raise unclear_request("missing 'language' parameter, e.g. 'language=en-US'")
        find_language(language, self._checker.languages)
        rules = [rule_as_json(languagetool_rule(rule)) for _, rule in sorted(self._checker.rules.items())]
        parameter = {"maxTextLength": self._limits.max_text}
        return _json(to_json({"software": SOFTWARE, "parameter": parameter, "rules": rules}))

    @asynccontextmanager
    async def _body(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body of a request. Raises D883 if it is compressed; see `BodyReader.read`."""
        async with self._bodies.read(request.receive, request.headers.get("content-length")) as body:
            # Only now: a connection whose request was not read to its end could not be used again.
            encoding = request.headers.get("content-encoding", "").lower()
            if encoding not in ("", "identity"):
                raise unclear_request(f"the body is compressed ({encoding[:20]}): send it uncompressed")
            yield body

    async def _answer(
        self, request: Request, texts: Sequence[str], options: CheckOptions, make_response: MakeResponse
    ) -> Response:
        """Run the models, unless the client closes the connection first."""
        response = asyncio.ensure_future(self._worker.ask(texts, options, make_response))
        # The body was read, so the next message can only be "http.disconnect" (ASGI specification, HTTP).
        disconnect = asyncio.ensure_future(request.receive())
        try:
            await asyncio.wait({response, disconnect}, return_when=asyncio.FIRST_COMPLETED)
            if not response.done():
                raise unclear_request("the client left")  # nobody receives this; it ends the request
            return _HeldResponse(response.result(), self._bodies, self._checker.note(options))
        finally:
            response.cancel()  # a job that is still in the queue is then dropped
            disconnect.cancel()

    async def _read(self, body: bytes, parser: Callable[..., ParsedRequest], *parts: bytes) -> ParsedRequest:
        """Parse a request; a long one is parsed in a thread, while other requests are answered."""
        parse = partial(parser, *parts, max_text=self._limits.max_text)
        return await asyncio.to_thread(parse) if len(body) > _MAX_INLINE_BODY else parse()


class _HeldResponse(Response):
    """A JSON response that counts as held in memory until it is sent, chunk by chunk."""

    def __init__(self, body: bytes, bodies: BodyReader, note: UserError | None = None) -> None:
        headers = {"content-length": str(len(body))}
        if note is not None:  # LanguageTool's response format has no place for notes
            # header fields have no encoding for other characters (RFC 9110, section 5.5)
            headers[NOTE_HEADER] = str(note).encode("ascii", "backslashreplace").decode()
        super().__init__(media_type="application/json", headers=headers)
        self._content, self._bodies = body, bodies

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send the response."""
        size = len(self._content)
        with self._bodies.hold(size):
            # In chunks: `send` waits while the client does not read, so uvicorn copies only a part at a time.
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            for start in range(0, size, _CHUNK_BYTES):
                chunk = self._content[start : start + _CHUNK_BYTES]
                more = start + _CHUNK_BYTES < size
                await send({"type": "http.response.body", "body": chunk, "more_body": more})


def rules_as_html(rules: Mapping[str, Rule]) -> str:
    """Return a page that describes rules, each with the anchor of its name."""
    html = files(__package__).joinpath("rules.html").read_text(encoding="utf8")
    sections = "\n".join(_rule_as_html(rule) for _, rule in sorted(rules.items()))
    return html.replace("<!-- rules -->", sections)


def _rule_as_html(rule: Rule) -> str:
    name = escape(rule.name)
    description = _EMPHASIS.sub(r"<em>\1</em>", escape(f"{rule.title} {rule.description}".strip()))
    examples = "".join(
        f"<li><del>{escape(example.wrong)}</del> → <ins>{escape(example.right)}</ins></li>"
        for example in rule.examples
    )
    comment = escape(f"<!-- disambig: ignore-next-line[{rule.name}] -->")
    setting = escape(f'ignore_rules = ["{rule.name}"]')
    is_shared = rule.url.startswith(PAGE)
    more = f' <a href="{escape(rule.url)}">More</a>' if rule.url and not is_shared else ""
    return (
        f'<section id="{name}"><h2>{name}</h2>\n<p>{description}{more}</p>\n'
        f"{f'<ul>{examples}</ul>' if examples else ''}\n"
        f'<p class="soft">Right: {escape(share_text(rule))}. To silence it, write <code>{comment}</code> '
        f"above a line, or <code>{setting}</code> in <code>disambig.toml</code>.</p></section>"
    )


def _parse_check(query: bytes, body: bytes, *, max_text: int) -> CheckRequest:
    return parse_check_request(parse_form(query, body), max_text=max_text)


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")
