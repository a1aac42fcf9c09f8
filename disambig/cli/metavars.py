"""What stands for a value in ``--help``: words, and not the types that each typer shows in its own way."""

from __future__ import annotations

from typing import Any

_OF_OPTION = {
    "draws": "N",
    "field": "NAME",
    "flags_per_1000": "RATE",
    "folds": "N",
    "format": "NAME",
    "from_year": "YEAR",
    "licence": "TEXT",
    "max_flags_per_1000": "NUMBER",
    "max_input": "SIZE",
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
    "text": "PATH",
    "to_year": "YEAR",
    "tokenisation": "NAME",
    "top": "N",
    "worker_memory": "SIZE",
    "workers": "N",
}


def in_words(command: Any) -> Any:
    """Return a command, and those in it, with words for the values of its arguments and options."""
    for each in getattr(command, "commands", {}).values():
        in_words(each)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            _argument(parameter)
        elif parameter.metavar is None and not parameter.is_flag:
            parameter.metavar = _OF_OPTION.get(parameter.name, parameter.name.upper())
    return command


def _argument(argument: Any) -> None:
    name = (argument.metavar or argument.name).strip("[].").upper()
    shown = f"{name}..." if argument.nargs != 1 else name
    argument.metavar = name
    argument.get_usage_pieces = lambda context: [shown if argument.required else f"[{shown}]"]
    argument.get_help_record = lambda context: (shown, argument.help or "")
