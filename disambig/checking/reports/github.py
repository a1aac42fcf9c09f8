"""Commands of a GitHub workflow, which shows them beside the changed lines. Columns count characters.

GitHub shows ten notices a step; SARIF has no such bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from disambig.checking.reports.contract import Ended, Finding
from disambig.visible import visible


class GitHub:
    """A notice a flag."""

    def add(self, findings: Sequence[Finding]) -> str:
        """Return the notices of one file."""
        return "".join(map(_notice, findings))

    def end(self, ended: Ended) -> str:
        """Return nothing: problems are lines on standard error."""
        return ""


def _notice(finding: Finding) -> str:
    end_line, end_column = finding.places.of(finding.flag.end)
    values = {"file": visible(finding.path), "line": finding.flag.line, "endLine": end_line}
    if end_line == finding.flag.line:  # GitHub takes no columns of a range over lines
        values |= {"col": finding.flag.column, "endColumn": end_column}
    values["title"] = finding.rule
    said = ",".join(f"{key}={_value(str(value))}" for key, value in values.items())
    return f"::notice {said}::{_escaped(finding.message)}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
