"""SARIF 2.1.0, which code scanning services read. Columns count code units of UTF-16.

A flag is a note: text is no defect. What could not be checked is a notification of the invocation.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

from disambig import __version__
from disambig.checking.reports.contract import Ended, Finding
from disambig.checking.reports.paths import path_in_repository
from disambig.checking.reports.rules import HELP, description
from disambig.data.trust import Share
from disambig.errors import UserError

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LONGEST = 1024  # characters that GitHub takes of a description


class Sarif:
    """One run with its rules, results and notifications."""

    def __init__(self) -> None:
        self._tasks: dict[str, int] = {}
        self._least: dict[str, Share] = {}
        self._results: list[dict[str, Any]] = []

    def add(self, findings: Sequence[Finding]) -> str:
        """Keep the flags of one file."""
        for each in findings:
            task, trust = each.flag.task, each.flag.trust
            rule = self._tasks.setdefault(task, len(self._tasks))
            if trust is not None and (task not in self._least or trust.share < self._least[task].share):
                self._least[task] = trust
            self._results.append(_result(each, rule))
        return ""

    def end(self, ended: Ended) -> str:
        """Return the whole log."""
        notifications = [_notification(each, "error") for each in ended.problems]
        notifications += [_notification(each, "note") for each in ended.notes]
        invocation = {
            "executionSuccessful": not ended.problems,
            "exitCode": ended.status,
            "toolExecutionNotifications": notifications,
        }
        rules = [_rule(task, self._least.get(task)) for task in self._tasks]
        driver = {"name": "disambig", "version": __version__, "rules": rules}
        run = {
            "tool": {"driver": driver},
            "columnKind": "utf16CodeUnits",
            "invocations": [invocation],
            "results": self._results,
        }
        return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(task: str, least: Share | None) -> dict[str, Any]:
    """Return a rule; its precision is that of all flags as sure as the least sure one here."""
    measured = {} if least is None else {"precision": least.level, "trust": asdict(least)}
    return {
        "id": f"disambig/{task}",
        "shortDescription": {"text": f"Another word may be meant ({task})"},
        "fullDescription": {"text": description(task)[:_LONGEST]},
        "help": {"text": HELP.format(task=task)},
        "defaultConfiguration": {"level": "note"},
        "properties": {"problem.severity": "recommendation", "tags": ["prose"], **measured},
    }


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    flag = finding.flag
    first, last, new = flag.edit
    artifact = {"uri": _uri(finding.path)}
    change = {"deletedRegion": _region(finding, first, last), "insertedContent": {"text": new}}
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": "note",
        "message": {"text": finding.message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": artifact,
                    "region": _region(finding, flag.start, flag.end),
                }
            }
        ],
        "partialFingerprints": {"primaryLocationLineHash": finding.fingerprint},
        "rank": round(100 * flag.probability, 2),
        **_properties(finding),
        "fixes": [{"artifactChanges": [{"artifactLocation": artifact, "replacements": [change]}]}],
    }


def _properties(finding: Finding) -> dict[str, Any]:
    trust, evidence = finding.flag.trust, finding.evidence
    found = {} if trust is None else {"precision": trust.level, "trust": asdict(trust)}
    found |= {"evidence": asdict(evidence)} if evidence else {}
    return {"properties": found} if found else {}


def _region(finding: Finding, start: int, end: int) -> dict[str, int]:
    line, column = finding.places.in_utf16(start)
    end_line, end_column = finding.places.in_utf16(end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _notification(problem: UserError, level: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "descriptor": {"id": problem.code},
        "level": level,
        "message": {"text": problem.text},
    }
    path, line = problem.values.get("path"), problem.values.get("line")
    if path is not None:
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(path_in_repository(str(path)))}}
        if isinstance(line, int):
            place["region"] = {"startLine": line}
        found["locations"] = [{"physicalLocation": place}]
    return found


def _uri(path: str) -> str:
    return Path(path).as_uri() if Path(path).is_absolute() else quote(path, errors="surrogateescape")
