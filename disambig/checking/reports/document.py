"""Flags as JSON of our own: one document, or an object a line. Columns count characters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from disambig import __version__
from disambig.checking.reports.contract import Ended, Finding


class Document:
    """One object: the flags, what went wrong, and of how many files and words."""

    def __init__(self) -> None:
        self._flags: list[dict[str, Any]] = []

    def add(self, findings: Sequence[Finding]) -> str:
        """Keep the flags of one file."""
        self._flags += map(_plain, findings)
        return ""

    def end(self, ended: Ended) -> str:
        """Return the whole document."""
        whole = {
            "version": __version__,
            "files": ended.files,
            "words": ended.words,
            "flags": self._flags,
            "problems": [{"code": each.code, "message": each.text} for each in ended.problems],
            "notes": [{"code": each.code, "message": each.text} for each in ended.notes],
        }
        return json.dumps(whole, indent=1) + "\n"


class JSONLines:
    """An object a flag, each in a line."""

    def add(self, findings: Sequence[Finding]) -> str:
        """Return the lines of one file."""
        return "".join(json.dumps(_plain(each)) + "\n" for each in findings)

    def end(self, ended: Ended) -> str:
        """Return nothing: problems are lines on standard error."""
        return ""


def _plain(finding: Finding) -> dict[str, Any]:
    end_line, end_column = finding.places.of(finding.flag.end)
    trust = finding.flag.trust
    return {
        "path": finding.name,
        **asdict(finding.flag),
        "trust": None if trust is None else {**asdict(trust), "precision": trust.level},
        "end_line": end_line,
        "end_column": end_column,
        "rule": finding.rule,
        "fingerprint": finding.fingerprint,
        **({"outcome": finding.outcome} if finding.outcome else {}),
        **({"evidence": asdict(finding.evidence)} if finding.evidence else {}),
    }
