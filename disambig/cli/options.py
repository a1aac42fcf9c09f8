"""Options shared by several commands, and their validation."""

from __future__ import annotations

import functools
import inspect
import math
import os
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disambig.errors import UserError

if TYPE_CHECKING:
    from disambig.configuration import SettingsSource


def show_help(context: typer.Context) -> None:
    """Print the help of a group of commands if it is called without a command."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


# No rich markup: importing rich would take a third of the time budget of `disambig --help`.
SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
"""Settings of the Typer applications of all commands."""
GROUP_SETTINGS = SETTINGS | {"callback": show_help, "invoke_without_command": True}
"""Settings of the application of a command that has subcommands."""


def complete_from(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a function that completes names in a shell; `names` is called when a user presses TAB."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def _model_names() -> Iterable[str]:
    from disambig.packs import available

    return available()


def _writing_names() -> Iterable[str]:
    from disambig.data import WORDS_PER_MISTAKE

    return WORDS_PER_MISTAKE


Tasks = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        autocompletion=complete_from(_model_names),
        help="Name of an installed model; can be repeated. Default: all.",
    ),
]
Models = Annotated[
    list[str] | None, typer.Option("--model", metavar="DIR", help="Directory of a model; can be repeated.")
]
Rate = Annotated[
    list[str] | None,
    typer.Option(
        "--flags-per-1000",
        help="Accept this many false alarms per 1,000 correct words: one number for all tasks together, "
        "which is divided so that most mistakes are found, or one per task, such as "
        "spelling=0.2,article=0.1; can be repeated. Default: the rate of each model.",
    ),
]
Trusted = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Show only flags of which at least this share was right on human errors: 4/5, "
        '"4 in 5" or 80%; instead of --flags-per-1000.',
    ),
]
Most = Annotated[
    float | None,
    typer.Option(
        "--max-flags-per-1000",
        help="Show at most this many flags per 1,000 words of a file or text (rounded up), the most certain "
        "first.",
    ),
]


def _list_file(lines: str) -> Callable[[str | None], str | None]:
    """Return a callback that raises an error if the value of an option is not a file of such lines."""

    def check(path: str | None) -> str | None:
        from disambig.files import STDIN

        if path is not None and path != STDIN and not os.path.exists(path):
            raise typer.BadParameter(f"there is no file {path!r}: name a file with one {lines} per line")
        return path

    return check


Sets = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        callback=_list_file("confusion set, like accept/except,"),
        help="Additional confusion sets, one per line, like accept/except.",
    ),
]
Ignore = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        callback=_list_file("word or correction"),
        help="Words and corrections (login -> log in) to ignore, one per line.",
    ),
]
Rules = Annotated[
    list[str] | None,
    typer.Option(
        "--rule", metavar="RULE", help="Show only flags of this rule (see disambig rules); can be repeated."
    ),
]
IgnoreRules = Annotated[
    list[str] | None,
    typer.Option("--ignore-rule", metavar="RULE", help="Hide the flags of this rule; can be repeated."),
]


def _check_writing(writing: str | None) -> str | None:
    """Raise D953 for an unknown kind of writing."""
    if writing is None:
        return None
    from disambig.data import check_writing

    return check_writing(writing)


Writing = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        callback=_check_writing,
        autocompletion=complete_from(_writing_names),
        help="How carefully the text was written: published, edited, draft or learner, with one mistake in "
        "2,000, 400, 100 or 15 words. The more mistakes a writer makes, the more is flagged. Default: the "
        "rate that each model was fitted to.",
    ),
]
DetectLanguage = Annotated[
    bool | None,
    typer.Option(
        "--detect-language/--no-detect-language",
        help="Leave alone, and count, paragraphs that are not in the language of the models. Default: yes.",
        show_default=False,
    ),
]
Texts = Annotated[
    list[str] | None,
    typer.Option("--text", metavar="PATH", help="Files or directories of correct text; can be repeated."),
]
Lines = Annotated[
    bool | None,
    typer.Option(
        "--lines/--files",
        help="Treat each line of a text file, or each whole file, as a document.",
        show_default=False,
    ),
]
Labelled = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH",
        help="Labelled examples instead of text: .jsonl, .tsv, .csv, .xml of Senseval or NOAD-MASC, formats "
        "of plugins, or a directory with one folder per label and one file per document; can be repeated.",
    ),
]
Lists = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE", help="N-best lists: JSON Lines with candidates and either a reference or costs."
    ),
]
Fixes = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="Human errors with their corrections (.jsonl); can be repeated."),
]
Clean = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="With --fixes: paragraphs without errors (.jsonl); can be repeated."),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of the labelled examples, such as latin-1. Default: utf-8."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at an invalid example in XML instead of skipping it.")
]

Engine = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Where the work is done: local (processes on this machine), dask (a cluster; needs the extra "
        "dask) or an engine of a plugin.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of a running cluster, such as tcp://HOST:8786. Default: start one on this machine.",
    ),
]
Workers = Annotated[
    int,
    typer.Option(min=1, help="Number of worker processes; with --scheduler, number of workers to wait for."),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Maximum time of a worker for a shard (without a job, for a batch); then it is stopped and "
        "another worker retries. Default: no limit.",
    ),
]


def _set_quiet(quiet: bool) -> bool:
    if quiet:
        from disambig.cli.output import set_quiet

        set_quiet(True)
    return quiet


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", callback=_set_quiet, is_eager=True, help="Show only problems, no progress."
    ),
]
"""Its callback takes effect before the command starts, so that commands can ignore the value."""


def share_options(
    common: Callable[..., Any], name: str = "choices"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of the function `common`.

    The options take the place of the command's parameter `name`, which receives the result of `common`.
    """
    shared_names = inspect.signature(common).parameters

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**values: Any) -> None:
            shared = {shared_name: values.pop(shared_name) for shared_name in shared_names}
            command(**values, **{name: common(**shared)})

        parameters = _keyword_parameters(command)
        index = [parameter.name for parameter in parameters].index(name)
        parameters[index : index + 1] = _keyword_parameters(common)
        _set_signature(run, parameters)
        return run

    return decorate


def flag_options(
    task: Tasks = None,
    model: Models = None,
    flags_per_1000: Rate = None,
    trust: Trusted = None,
    max_flags_per_1000: Most = None,
    sets: Sets = None,
    rule: Rules = None,
    ignore_rule: IgnoreRules = None,
    ignore: Ignore = None,
    writing: Writing = None,
    detect_language: DetectLanguage = None,
) -> dict[str, Any]:
    """Return the options of `check` and `serve` that determine what is flagged."""
    return locals()


def record_command(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Pass a command its own invocation as the argument `command`, for `disambig job resume`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**values: Any) -> None:
            options = {option: _as_json(value) for option, value in values.items()}
            command(**values, command={"command": name, "directory": os.getcwd(), "options": options})

        _set_signature(run, [option for option in _keyword_parameters(command) if option.name != "command"])
        return run

    return decorate


def _keyword_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a function as keyword-only ones, with evaluated annotations."""
    # get_type_hints of Python 3.10 would add Optional where the default is None, which hides Typer's settings
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters]


def _set_signature(function: Any, parameters: list[inspect.Parameter]) -> None:
    function.__signature__ = inspect.Signature(parameters)
    function.__annotations__ = {p.name: p.annotation for p in parameters}


def _as_json(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def check_form_options(context: typer.Context, forms: Mapping[str, Collection[str]], form: str) -> None:
    """Check that every option on the command line belongs to the form of the command.

    Raises `typer.BadParameter` for the first option that belongs only to other forms.

    `forms`: names of the parameters of each form. A parameter that is in none of them belongs to all forms.
    `form`: the form that the arguments select.
    """
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        allowed = [other for other, names in forms.items() if name in names]
        if allowed and form not in allowed and source is not None and source.name == "COMMANDLINE":
            option = parameter.opts[0]
            where = " and ".join(other for other in allowed if other != option)
            advice = f"; it is for {where}" if where else ""
            raise typer.BadParameter(f"{option} cannot be used with {form}{advice}")


def settings_from_options(options: Mapping[str, Any], *, baseline: str | None = None) -> SettingsSource:
    """Return the options of `flag_options` that were given as a source of settings.

    Raises D602 and D951 for an invalid rate, D860 for an invalid share.
    """
    from disambig.configuration import SettingsSource
    from disambig.data import parse_share

    rates, trust = parse_rates(options["flags_per_1000"]), options["trust"]
    check_rate(options["max_flags_per_1000"], option="--max-flags-per-1000")
    values: Mapping[str, Any] = {
        "tasks": options["task"],
        "models": options["model"],
        "flags_per_1000": rates,
        "trust": None if trust is None else parse_share(trust),
        "max_flags_per_1000": options["max_flags_per_1000"],
        "sets_files": options["sets"] and [options["sets"]],
        "ignore_files": options["ignore"] and [options["ignore"]],
        "baseline": baseline,
        "writing": options["writing"],
        "detect_language": options["detect_language"],
        "rules": options["rule"],
        "ignore_rules": options["ignore_rule"],
    }
    given_values = {key: value for key, value in values.items() if value not in (None, [], "")}
    return SettingsSource("command line", given_values)


def check_rate(flags_per_1000: float | None, *, option: str = "--flags-per-1000") -> None:
    """Raise an error if the rate is not a finite number of at least 0. Raises D602."""
    if flags_per_1000 is not None and not (math.isfinite(flags_per_1000) and flags_per_1000 >= 0):
        problem = "give a number such as 1, or 0 for no flags"
        raise UserError("D602", option=f"{option} {flags_per_1000}", problem=problem)


def parse_rates(values: Sequence[str] | None) -> float | dict[str, float] | None:
    """Return the value of ``--flags-per-1000``: one number, a number per task, or None if it is not given.

    Raises D951 for a value of another form, D602 for a number that is not a valid rate.
    """
    if not values:
        return None
    option_value = ",".join(values)
    parts = [part.strip() for part in option_value.split(",")]
    if len(parts) == 1 and "=" not in parts[0]:
        return _parse_rate(parts[0], option_value)
    rates: dict[str, float] = {}
    for part in parts:
        task, separator, number = (piece.strip() for piece in part.partition("="))
        if not (task and separator):
            raise UserError("D951", value=option_value, problem=f"{part!r} is not of the form task=number")
        if task in rates:
            raise UserError("D951", value=option_value, problem=f"{task!r} is given twice")
        rates[task] = _parse_rate(number, option_value)
    return rates


def _parse_rate(number: str, option_value: str) -> float:
    try:
        rate = float(number)
    except ValueError:
        raise UserError("D951", value=option_value, problem=f"{number!r} is not a number") from None
    check_rate(rate)
    return rate


def text_argument(text: str) -> str:
    """Return standard input for ``-``, otherwise the argument itself.

    A note is shown if the argument is the name of a file, which is probably a mistake.

    Raises D307 for a text without words.
    """
    from disambig.cli.output import remark
    from disambig.files import STDIN, decode, open_bytes

    if text == STDIN:
        with open_bytes(STDIN) as stdin:
            text = decode(stdin.read(), "standard input")
    elif len(text) <= _MAX_PATH and "\n" not in text and os.path.isfile(text):
        remark(f"disambig: {UserError('D352', name=text, how=f'disambig explain - < {shlex.quote(text)}')}")
    if not text.strip():
        raise UserError("D307", what="the text")
    return text


_MAX_PATH = 4096
