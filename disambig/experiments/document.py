"""Insert results into a Markdown document, between markers, so that no figure is typed by hand.

    python -m disambig.experiments.document REPLICATION.md DIRECTORY

DIRECTORY holds the output of ``disambig reproduce NAME --json DIRECTORY/NAME.json --plots DIRECTORY``. The
text between ``<!-- result: NAME -->`` and ``<!-- end -->`` is replaced.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from disambig.errors import UserError
from disambig.experiments.data import text_lines
from disambig.experiments.results import ExperimentResult, from_json, markdown
from disambig.files import parse_json, save_file

_PLACE = re.compile(r"(<!-- result: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(document: str, directory: Path, *, seen_from: Path) -> str:
    """Return `document` with each result inserted at its marker.

    Raises D726 for a ``NAME.json`` that does not hold a result; those of `text_lines` if it cannot be read.

    Parameters
    ----------
    directory : path
        Directory of ``NAME.json`` and, if there is a plot, ``NAME.svg``; markers without a file are left
        alone.
    seen_from : path
        Directory of the document; paths of plots are relative to it.
    """

    def replacement(match: re.Match[str]) -> str:
        name = match[2]
        path = directory / f"{name}.json"
        if not path.is_file():
            return match[0]
        result = read_result(path)
        lines = markdown(result)
        plot = directory / f"{name}.svg"
        if plot.is_file():
            relative = Path(os.path.relpath(plot, seen_from)).as_posix()
            lines += ["", f"![{'figure' if result.panels else 'learning curves'}]({relative})"]
        return match[1] + "\n" + "\n".join(lines) + "\n\n" + match[3]

    return _PLACE.sub(replacement, document)


def read_result(path: Path) -> ExperimentResult:
    """Read a file written by ``disambig reproduce --json``; D726 if it is not one."""
    try:
        return from_json(parse_json(_text(path)))
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise UserError("D726", path=path, problem=f"{type(problem).__name__}: {problem}") from problem


def main(arguments: Sequence[str]) -> int:
    """Insert results into a document; return 0, or 2 after writing one line that describes the error."""
    try:
        if len(arguments) != 2:
            raise UserError("D727", seen=len(arguments))
        target, results = map(Path, arguments)
        if not results.is_dir():
            raise UserError("D300", path=results)
        text = fill(_text(target), results, seen_from=target.parent)
        with save_file(target) as write:
            write(text.encode())
    except UserError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    return 0


def _text(path: Path) -> str:
    return "".join(f"{line}\n" for line in text_lines(path))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
