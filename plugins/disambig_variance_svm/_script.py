"""Command lines of the modules that learn what ships with this plugin: ``python -m MODULE DATA``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from disambig.api import UserError


def run_script(
    document: str | None,
    main: Callable[..., str | None],
    *,
    output: Path | None = None,
    options: Callable[[argparse.ArgumentParser], Any] | None = None,
) -> NoReturn:
    """Call `main` with the arguments of the command line, print what it returns, and exit.

    The exit status is 2, after one line on standard error, for invalid arguments and for a `UserError`.

    `document` is the docstring of the module, whose first line is the description. `main` is called with the
    directory of the data, the output folder if its default `output` is given, and further options, which
    `options` adds to the parser.
    """
    parser = argparse.ArgumentParser(description=(document or "").partition("\n")[0])
    parser.add_argument("data", type=Path, help="directory of the data (see `disambig data`)")
    if output is not None:
        parser.add_argument(
            "output", type=Path, nargs="?", default=output, help="folder to write to; default: the plugin's"
        )
    if options is not None:
        options(parser)
    arguments = vars(parser.parse_args())
    try:
        report = main(**arguments)
    except UserError as problem:
        sys.stderr.write(f"{problem}\n")
        sys.exit(2)
    sys.stdout.write(f"{report}\n" if report else "")
    sys.exit(0)
