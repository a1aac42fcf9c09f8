"""Options that several commands share, and their checks."""

from __future__ import annotations

import functools
import inspect
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from disambig.errors import UserError

Tasks = Annotated[
    list[str] | None, typer.Option("--task", help="An installed model; may be repeated. Default: all.")
]
Models = Annotated[
    list[str] | None, typer.Option("--model", metavar="DIR", help="A model's directory; may be repeated.")
]
Rate = Annotated[
    list[str] | None,
    typer.Option(
        "--flags-per-1000",
        help="False alarms to accept per 1,000 correct words: one number, which all tasks share so that they "
        "find most, or one a task, spelling=0.2,article=0.1; may be repeated. Default: each model's own.",
    ),
]
Trusted = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Show the flags of which at least so many were right on mistakes that people made: 4/5, "
        '"4 in 5", 80%; in place of --flags-per-1000.',
    ),
]
Most = Annotated[
    float | None,
    typer.Option(
        "--max-flags-per-1000",
        help="Most flags per 1,000 words of a file or text, rounded up; the surest are shown.",
    ),
]
Sets = Annotated[
    str | None, typer.Option(metavar="FILE", help="More confusion sets: a line each, like accept/except.")
]
Ignore = Annotated[str | None, typer.Option(metavar="FILE", help="Words to leave alone, one a line.")]
Labelled = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH",
        help="Labelled examples in place of text: .jsonl, .tsv, .csv, .xml of Senseval or NOAD-MASC, what "
        "plugins read, or a directory with a folder a label and a file a document; may be repeated.",
    ),
]
Lists = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="N-best lists: JSON Lines with candidates, and a reference or costs."),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of the labelled examples, such as latin-1; default: utf-8."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at a broken example in XML, in place of leaving it out.")
]

Engine = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Where work is done: local (processes of this machine), dask (a cluster; with the extra dask) "
        "or what a plugin brings.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Of a cluster that is there, such as tcp://HOST:8786; default: the engine makes one here.",
    ),
]
Workers = Annotated[
    int, typer.Option(min=1, help="Worker processes; with --scheduler, how many to wait for.")
]
Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="How long a worker may take for a shard (without a job, for a batch) before it is ended and "
        "another tries. Default: as long as it likes.",
    ),
]


def _set_quiet(quiet: bool) -> bool:
    if quiet:
        from disambig.cli.progress import set_quiet

        set_quiet(True)
    return quiet


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", callback=_set_quiet, is_eager=True, help="Say nothing of progress, only of problems."
    ),
]
"""What it means is done before the command begins, which need not look at it."""


def share_options(
    common: Callable[..., Any], name: str = "choices"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `common`; it gets what that makes of them as the argument `name`."""
    theirs = inspect.signature(common).parameters

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**given: Any) -> None:
            shared = {name: given.pop(name) for name in theirs}
            command(**given, **{name: common(**shared)})

        _take_options(run, [*_options(command, without=name), *_options(common)])
        return run

    return decorated


def record_command(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the argument `command`: how it was called, for `disambig job resume`."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**given: Any) -> None:
            options = {option: _plain(value) for option, value in given.items()}
            command(**given, command={"command": name, "directory": os.getcwd(), "options": options})

        _take_options(run, _options(command, without="command"))
        return run

    return decorated


def _options(function: Callable[..., Any], *, without: str = "") -> list[inspect.Parameter]:
    hints = get_type_hints(function, include_extras=True)
    found = inspect.signature(function).parameters.values()
    return [p.replace(kind=p.KEYWORD_ONLY, annotation=hints[p.name]) for p in found if p.name != without]


def _take_options(run: Any, parameters: list[inspect.Parameter]) -> None:
    run.__signature__ = inspect.Signature(parameters)
    run.__annotations__ = {p.name: p.annotation for p in parameters}


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def check_rate(flags_per_1000: float | None, *, option: str = "--flags-per-1000") -> None:
    """Refuse a rate that is none.

    Raises
    ------
    UserError
        D602.
    """
    if flags_per_1000 is not None and not (math.isfinite(flags_per_1000) and flags_per_1000 >= 0):
        problem = "give a number such as 1, or 0 for no flags"
        raise UserError("D602", option=option, value=flags_per_1000, problem=problem)


def parse_rates(values: Sequence[str] | None) -> float | dict[str, float] | None:
    """Return what ``--flags-per-1000`` asks for: one number, or one a task; None where it is not given.

    Raises
    ------
    UserError
        D951 for what is neither, D602 for a number that is no rate.
    """
    if not values:
        return None
    said = ",".join(values)
    parts = [part.strip() for part in said.split(",")]
    if len(parts) == 1 and "=" not in parts[0]:
        return _parse_rate(parts[0], said)
    rates: dict[str, float] = {}
    for part in parts:
        task, separator, number = (each.strip() for each in part.partition("="))
        if not (task and separator):
            raise UserError("D951", value=said, problem=f"{part!r} names no task and its number")
        if task in rates:
            raise UserError("D951", value=said, problem=f"{task!r} has two numbers")
        rates[task] = _parse_rate(number, said)
    return rates


def _parse_rate(number: str, said: str) -> float:
    try:
        rate = float(number)
    except ValueError:
        raise UserError("D951", value=said, problem=f"{number!r} is no number") from None
    check_rate(rate)
    return rate
