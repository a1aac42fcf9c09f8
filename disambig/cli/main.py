"""The command ``disambig``: its subcommands, which are imported when they are run, and exit statuses."""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer
from typer import Typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from disambig import __version__
from disambig.cli import COMMANDS, ON_ONE_THREAD, command_module
from disambig.cli.options import SETTINGS, show_help
from disambig.errors import UserError
from disambig.formatting import escape_control_chars, on_one_line

_METAVARS = {
    "domain": "NAME",
    "draws": "N",
    "field": "NAME",
    "flags_per_1000": "RATE",
    "folds": "N",
    "format": "NAME",
    "from_year": "YEAR",
    "licence": "TEXT",
    "max_clients": "N",
    "max_flags_per_1000": "NUMBER",
    "max_input": "SIZE",
    "max_text": "N",
    "memory": "SIZE",
    "orders": "N",
    "output": "PATH",
    "plot": "FILE",
    "rate": "NUMBER",
    "record": "FORM",
    "seed": "N",
    "shard_size": "NUMBER",
    "task": "NAME",
    "temporary": "DIR",
    "tier": "N",
    "to_year": "YEAR",
    "tokenisation": "NAME",
    "top": "N",
    "worker_memory": "SIZE",
    "workers": "N",
}


def set_metavars(command: Any) -> Any:
    """Set readable placeholders for values, and complete summaries of subcommands."""
    for subcommand in getattr(command, "commands", {}).values():
        set_metavars(subcommand)
        # Without a short help, click cuts the first sentence at the width of the terminal.
        subcommand.short_help = on_one_line((subcommand.help or "").partition("\n\n")[0])
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            _set_argument_metavar(parameter)
        elif parameter.metavar is None and not parameter.is_flag:
            parameter.metavar = _METAVARS.get(parameter.name, parameter.name.upper())
    return command


def _set_argument_metavar(argument: Any) -> None:
    name = (argument.metavar or argument.name).strip("[].").upper()
    shown = f"{name}..." if argument.nargs != 1 else name
    argument.metavar = name
    argument.get_usage_pieces = lambda context: [shown if argument.required else f"[{shown}]"]
    argument.get_help_record = lambda context: (shown, argument.help or "")


class LazyCommand(TyperCommand):
    """A command that is imported when it is run: only its name and one-line help are needed before.

    `load` imports the command and returns it.
    """

    def __init__(self, name: str, summary: str, load: Callable[[], Any]) -> None:
        super().__init__(name=name, callback=None, help=summary, short_help=summary, rich_markup_mode=None)
        self.load = load

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Import the command and parse its arguments."""
        from disambig.cli.output import begin_command

        begin_command()
        command = set_metavars(self.load())
        command.name = self.name
        return command.make_context(info_name, args, parent=parent, **extra)


def command_group() -> type[TyperGroup]:
    """Return a group class with the core's commands in their order, then those of plugins, sorted by name."""
    core = {name: LazyCommand(name, summary, _core_command(name)) for name, summary in COMMANDS.items()}

    class Commands(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**{**settings, "commands": dict(core)})

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name not in self.commands:
                self._add_plugin_commands()
            return super().get_command(ctx, cmd_name)

        def list_commands(self, ctx: Any) -> list[str]:
            self._add_plugin_commands()
            return list(self.commands)

        def _add_plugin_commands(self) -> None:
            for name, command in plugin_commands().items():
                self.commands.setdefault(name, command)

    return Commands


def plugin_commands() -> dict[str, LazyCommand]:
    """Return the commands of plugins by name, without importing them."""
    from disambig.registry import load_plugins, registered_entries

    load_plugins()
    entries = sorted(registered_entries("commands").values(), key=lambda entry: entry.command)
    return {
        entry.command: LazyCommand(entry.command, entry.summary, _plugin_command(entry))
        for entry in entries
        if entry.command not in COMMANDS
    }


def _core_command(name: str) -> Callable[[], Any]:
    def load() -> Any:
        if name in ON_ONE_THREAD:  # NumPy, which reads this variable, is imported by the command
            os.environ.setdefault("OMP_NUM_THREADS", "1")
        return get_command(import_module(command_module(name)).app)

    return load


def _plugin_command(entry: Any) -> Callable[[], Any]:
    """Return a function that builds the command of an entry, a Typer application or a function.

    It raises D007 for an invalid command.
    """

    def load() -> Any:
        command = entry.load()
        try:
            if isinstance(command, Typer):
                return get_command(command)
            application = Typer(**SETTINGS)
            application.command()(command)
            return get_command(application)
        except Exception as problem:  # typer raises various exceptions for an invalid command of a plugin
            raise entry.import_error(problem) from problem

    return load


GC_THRESHOLD = 500_000
"""Number of new objects after which Python searches for cycles: most objects live until the command ends."""
FAILURE = 2
INTERRUPTED = 130
TERMINATED = 143
CLOSED_PIPE = 141
"""The status that a shell reports for a program that SIGPIPE ends: the reader of its output has exited."""

app = typer.Typer(**SETTINGS | {"cls": command_group(), "add_completion": True})
_ClickException: type[Exception] = typer.BadParameter.__mro__[2]  # typer has no public name for it


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"disambig {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def disambig(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Find mistakes that spelling checkers miss, such as wrong prepositions and confused words."""
    show_help(context)


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with 0 for success, 2 for a `UserError`, 130 or 143 if interrupted.

    143 is for SIGTERM, 141 for output that nobody reads to its end (``| head``). Any other exception is a bug
    and shows its traceback.
    """
    gc.set_threshold(GC_THRESHOLD)
    atexit.register(gc.freeze)  # otherwise Python searches all objects for cycles before it exits
    if isinstance(sys.stdout, io.TextIOWrapper):  # as for stderr: an encoding may lack characters
        sys.stdout.reconfigure(errors="backslashreplace")
    with _sigterm_interrupts() as arrival_times:
        try:
            status = _run(sys.argv[1:] if arguments is None else arguments)
        except KeyboardInterrupt:
            status = INTERRUPTED
    status = _close_stdout(TERMINATED if arrival_times else status)
    if arrival_times:  # a second signal must not disturb Python while it exits
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(status)


@contextmanager
def _sigterm_interrupts() -> Iterator[list[float]]:
    """Handle SIGTERM like SIGINT, so that no partial output remains; yield the times of its arrival."""
    arrival_times: list[float] = []

    def interrupt(*_: object) -> None:
        # The command `timeout` sends the signal twice: the second one must not interrupt the clean-up.
        if not arrival_times or time.monotonic() - arrival_times[-1] > 1:
            arrival_times.append(time.monotonic())
            raise KeyboardInterrupt

    is_handled = os.name == "posix" and threading.current_thread() is threading.main_thread()
    is_handled = is_handled and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if is_handled:
        signal.signal(signal.SIGTERM, interrupt)
    try:
        yield arrival_times
    finally:
        if is_handled:
            signal.signal(signal.SIGTERM, _exit_at_once if arrival_times else signal.SIG_DFL)


def _exit_at_once(*_: object) -> None:
    """Exit at once on a second SIGTERM: the first one has already cleaned up."""
    os._exit(TERMINATED)


@contextmanager
def _coded_warnings_on_one_line() -> Iterator[None]:
    """Show the coded warnings of our functions like other notes, without the line of code that warns."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_note(message: Warning | str, *details: Any, **more: Any) -> None:
            if str(message).startswith("[D"):
                from disambig.cli.output import say

                say(f"disambig: {message}")
            else:
                show(message, *details, **more)

        warnings.showwarning = show_note
        yield


def _run(arguments: list[str]) -> int:
    """Run a command and return its exit status; errors are printed as one line."""
    from disambig.cli.output import refuse_closed_stdout

    try:
        with refuse_closed_stdout(), _coded_warnings_on_one_line():
            status = typer.main.get_command(app).main(arguments, prog_name="disambig", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except UserError as problem:
        return fail(str(problem))
    except _ClickException as problem:
        command = _command_path(problem, arguments)
        return fail(str(UserError("D600", problem=_click_message(problem), command=command)))
    except typer.Abort:
        return INTERRUPTED
    except OSError as problem:
        if problem.errno != errno.ENAMETOOLONG:
            raise
        return fail(str(UserError("D308", path=problem.filename, problem=problem.strerror)))
    except SystemExit as exiting:  # click turns a closed pipe into status 1, which would mean flags
        if isinstance(exiting.__context__, BrokenPipeError):
            return CLOSED_PIPE
        raise


def fail(message: str) -> int:
    """Write an error message, and return the exit status."""
    print(f"disambig: {escape_control_chars(message, lines=True)}", file=sys.stderr)
    return FAILURE


def _click_message(problem: Any) -> str:
    """Return the message of click; for an unknown command of a group such as `fixes`, with its commands."""
    message = on_one_line(problem.format_message()).rstrip(".")
    context = getattr(problem, "ctx", None)
    if message.startswith("No such command") and context is not None and context.parent is not None:
        names = context.command.list_commands(context)
        return f"{message}; available: {', '.join(f'{context.command_path} {name}' for name in names)}"
    return message


def _command_path(problem: Any, arguments: Sequence[str]) -> str:
    """Return the command whose help explains a wrong option, with the names of its groups."""
    if (context := getattr(problem, "ctx", None)) is not None:
        return str(context.command_path)
    path = "disambig"
    no_context: Any = None
    command: Any = typer.main.get_command(app)
    for name in arguments:  # the error about an option without its value has no context
        command = command.get_command(no_context, name) if isinstance(command, TyperGroup) else None
        if command is None:
            break
        path = f"{path} {name}"
        if isinstance(command, LazyCommand):
            command = command.load()
    return path


def _close_stdout(status: int) -> int:
    """Flush standard output; without it, a closed pipe would cause an error message when Python exits."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as problem:
        # Python flushes standard output again at exit; redirect it, so that this does not fail as well.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(problem, BrokenPipeError):
            return status or CLOSED_PIPE
        return fail(str(UserError("D309", path="standard output", problem=problem.strerror)))
    return status


if __name__ == "__main__":
    run()
