"""Run the server: open the port, load the models, run the event loop, and stop on signals."""

from __future__ import annotations

import logging
import math
import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from disambig.configuration import CheckSettings
from disambig.errors import UserError
from disambig.server.checker import ModelThread, ServerChecker
from disambig.server.middleware import AllowedOrigins, ServerLimits

SHUTDOWN_SECONDS = 3
"""Time for unfinished responses after a signal to stop."""
_WARM_UP_TEXT = (
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
    show_address: Callable[[str], None],
    show_note: Callable[[str], None],
    standalone: Sequence[str] = (),
) -> None:
    """Load the models and answer requests until SIGINT or SIGTERM; running requests are finished first.

    Raises D880 if the extra is not installed, D881 if the address cannot be used, and the errors of invalid
    settings or models.

    `host` and `port`: address to listen on; port 0 stands for any free port.
    `show_address`: called with a line that gives the address, once the server listens.
    `show_note`: called with lines about bugs, and notes of the models.
    `standalone`: names or folders of parsers and converters to serve under ``/models``.
    """
    from importlib.util import find_spec

    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise UserError("D880")
    # The port is opened first: that it is in use is known at once, and models take seconds to load. Until
    # uvicorn listens, connections are refused.
    with _open_socket(host, port) as bound:
        checker = ServerChecker.from_settings(settings, standalone=standalone)
        for note in checker.loaded.notes:
            show_note(str(note))
        checker.warm_up([_WARM_UP_TEXT * 10, *[_WARM_UP_TEXT] * 30])
        worker = ModelThread(checker.annotate, seconds=limits.text_seconds)
        try:
            from disambig.server.app import make_app  # it imports the packages of the extra

            app = make_app(checker, worker, limits=limits, origins=origins, report_bug=show_note)
            shown = f"[{host}]" if ":" in host else host
            names = ", ".join([*checker.models, *checker.standalone])
            line = f"listening on http://{shown}:{bound.getsockname()[1]} ({names})"
            _run_server(app, bound, limits, lambda: show_address(line))
        finally:
            worker.end()


@contextmanager
def _open_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a bound socket and close it afterwards."""
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        family, kind, number, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, number)
    except (OSError, UnicodeError) as problem:
        raise UserError("D881", address=address, problem=_reason(problem)) from None
    with bound:
        try:
            # On POSIX this allows a restart while old connections are in TIME_WAIT; on Windows it would allow
            # two servers to use the same port.
            if os.name == "posix":
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(where)
        except (OSError, OverflowError) as problem:
            raise UserError("D881", address=address, problem=_reason(problem)) from None
        yield bound


def _reason(problem: Exception) -> str:
    message = getattr(problem, "strerror", None) or str(problem)
    return message[:1].lower() + message[1:]


def _run_server(app: object, bound: socket.socket, limits: ServerLimits, ready: Callable[[], None]) -> None:
    """Serve an application on a bound socket until a signal; call `ready` once it accepts requests."""
    import uvicorn

    from disambig.server.app import protocol_with_timeout

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Stop on a signal without raising it again, as uvicorn does, so that the exit status is 0."""
            stop_signals = (signal.SIGINT, signal.SIGTERM)
            old_handlers = [signal.signal(number, self._stop) for number in stop_signals]
            try:
                yield
            finally:
                for number, handler in zip(stop_signals, old_handlers, strict=True):
                    signal.signal(number, handler)

        def _stop(self, *_: object) -> None:
            self.should_exit = True

    # uvicorn logs tracebacks, which can contain texts; `RequestGuard` reports bugs without them
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL + 1)
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=protocol_with_timeout(limits.client_seconds),
        ws="none",  # no WebSocket: a request to upgrade is answered as an ordinary one
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # any client could send them
        limit_concurrency=limits.max_clients + 1,  # uvicorn rejects the connection that reaches this number
        timeout_keep_alive=math.ceil(limits.client_seconds),
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    Server(config).run(sockets=[bound])
