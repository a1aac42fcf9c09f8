"""A server from its start to its end: the port, the models, the loop, the signals."""

from __future__ import annotations

import logging
import math
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from disambig.configuration import CheckSettings
from disambig.errors import UserError
from disambig.server.checker import ModelThread, ServerChecker
from disambig.server.middleware import AllowedOrigins, ServerLimits

ENDING = 3
"""Seconds that answers may still take when the server is to end."""
_WARM = (
    "She wrote that the people in the first row had their reasons, and that it was quite hard to say which "
    "of them was right. Nobody knew whether a meeting in the morning would change that; the others went on "
    "with the work as if nothing had happened, then asked for advice on how to go about it. "
)


def serve(
    settings: CheckSettings,
    *,
    host: str,
    port: int,
    origins: AllowedOrigins,
    limits: ServerLimits,
    say: Callable[[str], None],
    note: Callable[[str], None],
) -> None:
    """Load the models, answer requests, and return after SIGINT or SIGTERM, when the last one is answered.

    Parameters
    ----------
    host, port
        Where to listen; port 0 is any that is free.
    say : callable
        Is told in a line where the server listens.
    note : callable
        Is told of bugs.

    Raises
    ------
    UserError
        D880 without the extra, D881 where nobody can listen there; what is wrong with settings or models.
    """
    _check_extra()
    with _open_socket(host, port) as found:
        checker = ServerChecker.from_settings(settings)
        for each in checker.loaded.notes:
            note(str(each))
        checker.warm_up([_WARM * 10, *[_WARM] * 30])
        worker = ModelThread(checker.annotate, seconds=limits.text_seconds)
        try:
            from disambig.server.app import make_app

            app = make_app(checker, worker, limits=limits, origins=origins, tell=note)
            shown = f"[{host}]" if ":" in host else host
            line = f"listening on http://{shown}:{found.getsockname()[1]} ({', '.join(checker.models)})"
            _run_server(app, found, limits, lambda: say(line))
        finally:
            worker.end()


def _check_extra() -> None:
    from importlib.util import find_spec

    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise UserError("D880")


@contextmanager
def _open_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Give a socket that is bound, and closed in the end; nobody is answered before the loop runs."""
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        family, kind, number, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, number)
    except (OSError, UnicodeError) as problem:
        raise UserError("D881", address=address, problem=_announce(problem)) from None
    with found:
        try:
            if os.name == "posix":
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(where)
        except (OSError, OverflowError) as problem:
            raise UserError("D881", address=address, problem=_announce(problem)) from None
        yield found


def _announce(problem: Exception) -> str:
    said = getattr(problem, "strerror", None) or str(problem)
    return said[:1].lower() + said[1:]


def _run_server(app: object, found: socket.socket, limits: ServerLimits, ready: Callable[[], None]) -> None:
    import uvicorn

    from disambig.server.app import protocol_with_timeout

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """End well after a signal, and do not raise it again."""
            ended = (signal.SIGINT, signal.SIGTERM)
            before = [signal.signal(each, self._end) for each in ended]
            try:
                yield
            finally:
                for each, handler in zip(ended, before, strict=True):
                    signal.signal(each, handler)

        def _end(self, *_: object) -> None:
            self.should_exit = True

    logging.getLogger("uvicorn").setLevel(logging.CRITICAL + 1)
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=protocol_with_timeout(limits.client_seconds),
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=limits.max_clients + 1,
        timeout_keep_alive=math.ceil(limits.client_seconds),
        timeout_graceful_shutdown=ENDING,
    )
    Server(config).run(sockets=[found])
