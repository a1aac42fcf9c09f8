"""Puts results into a Markdown document, between marks, so that no figure in it is typed.

    python -m disambig.experiments.document REPLICATION.md DIRECTORY

DIRECTORY holds what ``disambig reproduce NAME --json DIRECTORY/NAME.json --plots DIRECTORY`` wrote. What
stands between ``<!-- result: NAME -->`` and ``<!-- end -->`` is replaced.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from disambig.experiments.report import markdown, of_json

_PLACE = re.compile(r"(<!-- result: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(document: str, directory: Path, *, seen_from: Path) -> str:
    """Return `document` with each result in its place.

    Parameters
    ----------
    directory : path
        Where ``NAME.json`` and, if there is a plot, ``NAME.svg`` are; a name without a file is left alone.
    seen_from : path
        Directory of the document, from which it refers to the plots.
    """

    def filled(match: re.Match[str]) -> str:
        name = match[2]
        path = directory / f"{name}.json"
        if not path.is_file():
            return match[0]
        lines = markdown(of_json(json.loads(path.read_text(encoding="utf8"))))
        plot = directory / f"{name}.svg"
        if plot.is_file():
            lines += ["", f"![learning curves]({plot.relative_to(seen_from).as_posix()})"]
        return match[1] + "\n" + "\n".join(lines) + "\n\n" + match[3]

    return _PLACE.sub(filled, document)


if __name__ == "__main__":
    target, results = Path(sys.argv[1]), Path(sys.argv[2])
    text = fill(target.read_text(encoding="utf8"), results, seen_from=target.parent)
    target.write_text(text, encoding="utf8")
