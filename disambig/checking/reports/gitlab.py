"""A code quality report of GitLab. It shows lines, not columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from disambig.checking.reports.contract import Ended, Finding


class GitLab:
    """A list with an object a flag."""

    def __init__(self) -> None:
        self._issues: list[dict[str, Any]] = []

    def add(self, findings: Sequence[Finding]) -> str:
        """Keep the flags of one file."""
        self._issues += map(_issue, findings)
        return ""

    def end(self, ended: Ended) -> str:
        """Return the whole list."""
        return json.dumps(self._issues, indent=1) + "\n"


def _issue(finding: Finding) -> dict[str, Any]:
    lines = {"begin": finding.flag.line, "end": finding.places.of(finding.flag.end)[0]}
    return {
        "description": finding.message,
        "check_name": finding.rule,
        "fingerprint": finding.fingerprint,
        "severity": "info",
        "location": {"path": finding.path, "lines": lines},
    }
