"""Compare `disambig check` with what a reader wants flagged in the texts of ``writing.tsv``.

Each row is a short text after a public report on a writing tool (column ``source``). A line break is
written ⏎; the suffix of the id is the suffix of the file. Three columns hold flags as
``line:column observed -> replacement``, separated by ``; ``:

* ``flags``: raised, and right;
* ``missed``: a reader wants them, and they are not raised yet;
* ``false``: raised today, and wrong.

``python -m tests.cases.writing_cases`` prints the rows in which the program differs from the table. With
``--write`` it moves flags that are raised now out of ``missed`` and drops those from ``false`` that are
gone. It never adds a flag.
"""

import csv
import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # also as ``python -m``

from commands import here

TABLE = Path(__file__).with_name("writing.tsv")
HEADER = ["id", "about", "source", "text", "flags", "missed", "false"]


@dataclass
class Case:
    """One text, and the flags that belong to it."""

    id: str
    about: str
    source: str
    text: str
    flags: set[str] = field(default_factory=set)
    missed: set[str] = field(default_factory=set)
    false: set[str] = field(default_factory=set)

    @property
    def file_name(self) -> str:
        return self.id.replace("/", "-")

    def difference(self, raised: set[str]) -> str:
        """Return what is not as the table says, or an empty string."""
        parts = [
            ("lost", self.flags - raised),
            ("new", raised - self.flags - self.missed - self.false),
            ("raised now, move out of missed", self.missed & raised),
            ("gone, take out of false", self.false - raised),
        ]
        return "; ".join(f"{name}: {sorted(flags)}" for name, flags in parts if flags)


def read_cases() -> list[Case]:
    with TABLE.open(encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Case(
            *(row[name] for name in HEADER[:3]),
            row["text"].replace("⏎", "\n"),
            *({flag for flag in (row[name] or "").split("; ") if flag} for name in HEADER[4:]),
        )
        for row in rows
    ]


def raised_flags(cases: list[Case]) -> dict[str, set[str]]:
    """Check all texts with one command. Returns the flags of each case by its id."""
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            (Path(folder) / case.file_name).write_text(case.text, encoding="utf8")
        paths = [case.file_name for case in cases]
        ended = here("check", "--format", "json", *paths, folder=folder)
    if ended.returncode not in (0, 1):
        raise AssertionError(ended.stderr)
    by_file: dict[str, set[str]] = {case.file_name: set() for case in cases}
    for flag in json.loads(ended.stdout)["flags"]:
        place = f"{flag['line']}:{flag['column']}"
        by_file[flag["path"]].add(f"{place} {flag['observed']} -> {flag['replacement']}")
    return {case.id: by_file[case.file_name] for case in cases}


def position(flag: str) -> tuple[int, ...]:
    return tuple(int(number) for number in flag.split(" ", 1)[0].split(":"))


def main(arguments: list[str]) -> None:
    cases = read_cases()
    raised = raised_flags(cases)
    for case in cases:
        difference = case.difference(raised[case.id])
        if difference:
            print(case.id, repr(case.text), difference, sep="\n    ")
        case.flags |= case.missed & raised[case.id]
        case.missed -= raised[case.id]
        case.false &= raised[case.id]
    if "--write" in arguments:
        lines = ["\t".join(HEADER)]
        for case in cases:
            columns = [
                "; ".join(sorted(flags, key=position)) for flags in (case.flags, case.missed, case.false)
            ]
            text = case.text.replace("\n", "⏎")
            lines.append("\t".join([case.id, case.about, case.source, text, *columns]))
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf8")


if __name__ == "__main__":
    main(sys.argv[1:])
