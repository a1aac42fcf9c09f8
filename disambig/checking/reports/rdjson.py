"""The diagnostic format of reviewdog. Columns count bytes of UTF-8; ends are exclusive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from disambig.checking.reports.contract import Ended, Finding


class RDJSON:
    """One object with a diagnostic a flag."""

    def __init__(self) -> None:
        self._diagnostics: list[dict[str, Any]] = []

    def add(self, findings: Sequence[Finding]) -> str:
        """Keep the flags of one file."""
        self._diagnostics += map(_diagnostic, findings)
        return ""

    def end(self, ended: Ended) -> str:
        """Return the whole object."""
        whole = {"source": {"name": "disambig"}, "severity": "INFO", "diagnostics": self._diagnostics}
        return json.dumps(whole, indent=1) + "\n"


def _diagnostic(finding: Finding) -> dict[str, Any]:
    first, last, new = finding.flag.edit
    return {
        "message": finding.message,
        "location": {
            "path": finding.path,
            "range": _range(finding, finding.flag.start, finding.flag.end),
        },
        "severity": "INFO",
        "code": {"value": finding.rule},
        "suggestions": [{"range": _range(finding, first, last), "text": new}],
    }


def _range(finding: Finding, start: int, end: int) -> dict[str, Any]:
    return {"start": _position(finding, start), "end": _position(finding, end)}


def _position(finding: Finding, offset: int) -> dict[str, int]:
    line, column = finding.places.in_utf8(offset)
    return {"line": line, "column": column}
