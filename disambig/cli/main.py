"""``disambig``: the list of commands, and what the shell is told when one of them fails."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from disambig import __version__
from disambig.cli.lazy import known_commands
from disambig.cli.names import COMMANDS as COMMANDS
from disambig.errors import UserError
from disambig.visible import visible

FAILURE = 2
INTERRUPTED = 130
TERMINATED = 143

# No rich markup: it would cost a third of the time that `disambig --help` may take.
app = typer.Typer(
    cls=known_commands(),
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_ClickException: type[Exception] = typer.BadParameter.__mro__[2]  # typer gives it no public name


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"disambig {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def disambig(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Decide between candidates in text: prepositions, confusable words, and what plugins add."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 well, 2 for what the user can put right, 130 and 143 interrupted.

    143 is for SIGTERM. A bug is no `UserError` and shows its traceback.
    """
    with _sigterm_interrupts() as came:
        try:
            status = _run(sys.argv[1:] if arguments is None else arguments)
        except KeyboardInterrupt:
            status = INTERRUPTED
    status = _close_stdout(TERMINATED if came else status)
    if came:  # Python hears nothing more while it ends
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(status)


@contextmanager
def _sigterm_interrupts() -> Iterator[list[float]]:
    """Make SIGTERM end the work as SIGINT does, nothing half-written left; yield when it came."""
    came: list[float] = []

    def end(*_: object) -> None:
        if not came or time.monotonic() - came[-1] > 1:  # `timeout` sends it twice: once is enough
            came.append(time.monotonic())
            raise KeyboardInterrupt

    ours = os.name == "posix" and threading.current_thread() is threading.main_thread()
    ours = ours and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, end)
    try:
        yield came
    finally:
        if ours:
            signal.signal(signal.SIGTERM, _end_at_once if came else signal.SIG_DFL)


def _end_at_once(*_: object) -> None:
    """End with the status that the first SIGTERM has made: all is cleaned up."""
    os._exit(TERMINATED)


def _run(arguments: list[str]) -> int:
    try:
        status = typer.main.get_command(app).main(arguments, prog_name="disambig", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except UserError as problem:
        return _fail(str(problem))
    except _ClickException as problem:
        return _fail(str(UserError("D600", problem=_one_line(problem), command=_command(problem))))
    except typer.Abort:
        return INTERRUPTED


def _fail(message: str) -> int:
    print(f"disambig: {visible(message, lines=True)}", file=sys.stderr)
    return FAILURE


def _one_line(problem: Any) -> str:
    return " ".join(str(problem.format_message()).split()).rstrip(".")


def _command(problem: Any) -> str:
    context = getattr(problem, "ctx", None)
    return str(context.command_path) if context is not None else "disambig"


def _close_stdout(status: int) -> int:
    """Flush now, so that a reader who has gone away makes no noise when Python ends."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return status or 1
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _fail(str(UserError("D309", path="standard output", problem=problem.strerror)))
    return status


if __name__ == "__main__":
    run()
