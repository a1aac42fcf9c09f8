"""Reports of the linter: text, JSON, JSON Lines, SARIF, JUnit, rdjson, and those of GitHub and GitLab."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from disambig import __version__
from disambig.checking.changes import folders_with_git
from disambig.checking.flags import Flag, TextLines
from disambig.data import PrecisionEstimate
from disambig.errors import UserError
from disambig.formats import one_line_text
from disambig.formatting import escape_control_chars, shown_path
from disambig.rules import PAGE, Rule, find_rule, rule_link

if TYPE_CHECKING:
    from disambig.explain import FlagEvidence


WITH_OUTCOMES = ("text", "json", "jsonl")
"""Formats that show whether flags were corrected."""
WITH_EVIDENCE = ("json", "jsonl", "sarif")
"""Formats that can include the evidence for a flag."""


@dataclass(frozen=True, slots=True)
class ReportedFlag:
    """A flag with everything that reports need.

    Attributes
    ----------
    name : str
        Name of the file as the user gave it.
    path : str
        Path of the file with slashes, relative to the repository.
    flag : Flag
    lines : TextLines
        Lines and columns of the file.
    fingerprint : str
        Unique in the run, and stable if lines move.
    outcome : str
        "fixed" or "left"; "" if files are not corrected.
    reason : str
        Why the flag was left.
    evidence : FlagEvidence, optional
        The evidence for the flag, if requested.
    edit : (start, end, text), optional
        The edit of the flag with what it needs to keep the layout of tables and titles; None if it does not
        fit into its table.
    """

    name: str
    path: str
    flag: Flag
    lines: TextLines
    fingerprint: str
    outcome: str = ""
    reason: str = ""
    evidence: FlagEvidence | None = None
    edit: tuple[int, int, str] | None = None

    @property
    def message(self) -> str:
        """The flag as a question, without line ends."""
        observed, meant = (
            escape_control_chars(" ".join(text.split()))
            for text in (self.flag.observed, self.flag.replacement)
        )
        if not observed:
            question = f'Is "{meant}" missing here?'
        elif not meant:
            question = f'Is "{observed}" one word too many?'
        else:
            question = f'Did you mean "{meant}" in place of "{observed}"?'
        trust = self.flag.trust
        measured = "" if trust is None else f"; {trust} of such flags were right"
        return f"{question} ({self.flag.rule}{measured})"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The result of a run.

    Attributes
    ----------
    status : int
        The exit status.
    files, words : int
        Numbers of checked files and words.
    problems : sequence of UserError
        Files that could not be checked or corrected, and other errors.
    notes : sequence of UserError
        Notes that are not errors.
    """

    status: int
    files: int
    words: int
    problems: Sequence[UserError] = ()
    notes: Sequence[UserError] = ()


class FlagReport(Protocol):
    """A report that is built file by file; the returned strings are written to standard output in order."""

    def add(self, findings: Sequence[ReportedFlag]) -> str:
        """Add the flags of one file, in text order, and return the output that is complete."""

    def end(self, ended: RunSummary) -> str:
        """Return the rest of the output."""


def path_in_repository(name: str) -> str:
    """Return the path of a file relative to the repository of the current folder.

    Without a repository, the path is relative to the current folder. A file elsewhere keeps its absolute
    path. A name in angle brackets, such as ``<stdin>``, is returned unchanged.
    """
    if name.startswith("<"):
        return name
    here = os.getcwd()
    path = os.path.abspath(name)
    for top in (next(folders_with_git(here), here), here):
        if path.startswith(inside := os.path.join(top, "")):
            return path.removeprefix(inside).replace(os.sep, "/")
    return path.replace(os.sep, "/")


HELP = (
    "{description} Flags compare how well words fit their context, and some are wrong: read the sentence. To "
    "keep the text as it is, write <!-- disambig: ignore-next-line[{rule}] --> above the line (in other "
    "formats in their own comments). To silence the rule in a project, write "
    'ignore_rules = ["{rule}"] in disambig.toml.'
)


class LineReport:
    """A report with a line for each flag; problems are lines on standard error.

    Parameters
    ----------
    line : callable
        Returns the line of a flag.
    """

    def __init__(self, line: Callable[[ReportedFlag], str]) -> None:
        self._line = line

    def add(self, findings: Sequence[ReportedFlag]) -> str:
        """Return the lines of one file."""
        return "".join(map(self._line, findings))

    def end(self, ended: RunSummary) -> str:
        """Return nothing."""
        return ""


class JSONReport:
    """A report that is one JSON document.

    Parameters
    ----------
    entry : callable
        Returns the values of a flag.
    document : callable
        Returns the document, given the values of all flags and the result of the run.
    """

    def __init__(
        self, entry: Callable[[ReportedFlag], Any], document: Callable[[list[Any], RunSummary], Any]
    ) -> None:
        self._entry, self._document = entry, document
        self._entries: list[Any] = []

    def add(self, findings: Sequence[ReportedFlag]) -> str:
        """Keep the flags of one file."""
        self._entries += map(self._entry, findings)
        return ""

    def end(self, ended: RunSummary) -> str:
        """Return the whole document."""
        return json.dumps(self._document(self._entries, ended), indent=1) + "\n"


def _text_line(finding: ReportedFlag) -> str:
    """Return a flag as text: ``notes.md:9:36: then -> than (confused-words, 98 % right)``."""
    return flag_line(finding.name, finding.flag, finding.outcome, finding.reason)


def flag_line(name: str, flag: Flag, outcome: str = "", reason: str = "") -> str:
    """Return the line of a flag in the file `name`, with its outcome and the reason for it."""
    change = f"{one_line_text(flag.observed)} -> {one_line_text(flag.replacement)}"
    place = f"{shown_path(name)}:{flag.line}:{flag.column}"
    line = f"{change} ({flag.label})"
    return f"{place}: {line}{', ' if outcome else ''}{outcome}{f': {reason}' if reason else ''}\n"


def left_flags_line(left: Sequence[tuple[Flag, str]]) -> str:
    """Return the first flags that are not corrected, and why, for a message."""
    shown = (
        f"{flag.line}:{flag.column} {one_line_text(flag.observed)} ({reason})" for flag, reason in left[:5]
    )
    return ", ".join([*shown, *(["..."] if len(left) > 5 else [])])


def _json_document(flags: list[Any], ended: RunSummary) -> dict[str, Any]:
    """Return one object with the flags, problems, notes, and numbers of files and words."""
    return {
        "version": __version__,
        "files": ended.files,
        "words": ended.words,
        "flags": flags,
        "problems": [{"code": problem.code, "message": problem.text} for problem in ended.problems],
        "notes": [{"code": note.code, "message": note.text} for note in ended.notes],
    }


def _plain(finding: ReportedFlag) -> dict[str, Any]:
    end_line, end_column = finding.lines.line_and_column(finding.flag.end)
    trust = finding.flag.trust
    return {
        "path": finding.name,
        **asdict(finding.flag),
        "edit": finding.edit,
        "trust": None if trust is None else {**asdict(trust), "precision": trust.level},
        "end_line": end_line,
        "end_column": end_column,
        "fingerprint": finding.fingerprint,
        **({"outcome": finding.outcome} if finding.outcome else {}),
        **({"reason": finding.reason} if finding.reason else {}),
        **({"evidence": asdict(finding.evidence)} if finding.evidence else {}),
    }


def _notice(finding: ReportedFlag) -> str:
    """Return a notice, as a workflow command of GitHub Actions."""
    end_line, end_column = finding.lines.line_and_column(finding.flag.end)
    values = {"file": escape_control_chars(finding.path), "line": finding.flag.line, "endLine": end_line}
    if end_line == finding.flag.line:  # GitHub does not accept columns for a range of several lines
        values |= {"col": finding.flag.column, "endColumn": end_column}
    values["title"] = _qualified(finding.flag)
    properties = ",".join(f"{key}={_value(str(value))}" for key, value in values.items())
    link = rule_link(find_rule(finding.flag.rule))
    message = f"{finding.message}{f' - {link}' if link else ''}"
    return f"::notice {properties}::{_escaped(message)}\n"


def _qualified(flag: Flag) -> str:
    """Return the name of a rule for programs that show it without the name of the tool."""
    return f"disambig/{flag.rule}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _issue(finding: ReportedFlag) -> dict[str, Any]:
    lines = {"begin": finding.flag.line, "end": finding.lines.line_and_column(finding.flag.end)[0]}
    return {
        "description": finding.message,
        "check_name": _qualified(finding.flag),
        "fingerprint": finding.fingerprint,
        "severity": "info",
        "location": {"path": finding.path, "lines": lines},
    }


def _rdjson_document(diagnostics: list[Any], ended: RunSummary) -> dict[str, Any]:
    return {"source": {"name": "disambig"}, "severity": "INFO", "diagnostics": diagnostics}


def _diagnostic(finding: ReportedFlag) -> dict[str, Any]:
    rule = find_rule(finding.flag.rule)
    return {
        "message": finding.message,
        "location": {
            "path": finding.path,
            "range": _range(finding, finding.flag.start, finding.flag.end),
        },
        "severity": "INFO",
        "code": {"value": rule.name, **({"url": rule.url} if rule.url else {})},
        **_suggestions(finding),
    }


def _suggestions(finding: ReportedFlag) -> dict[str, Any]:
    if finding.edit is None:
        return {}
    first, last, new = finding.edit
    return {"suggestions": [{"range": _range(finding, first, last), "text": new}]}


def _range(finding: ReportedFlag, start: int, end: int) -> dict[str, Any]:
    return {"start": _position(finding, start), "end": _position(finding, end)}


def _position(finding: ReportedFlag, offset: int) -> dict[str, int]:
    line, column = finding.lines.in_utf8(offset)
    return {"line": line, "column": column}


class JUnitReport:
    """A test suite per file, and a failed test case per flag, as linters write them for Jenkins and others.

    A file that could not be checked is an error. A run without flags and errors has one passed test case,
    since some programs refuse a report without any.
    """

    def __init__(self) -> None:
        self._suites: list[list[ReportedFlag]] = []

    def add(self, findings: Sequence[ReportedFlag]) -> str:
        """Keep the flags of one file."""
        if findings:
            self._suites.append(list(findings))
        return ""

    def end(self, ended: RunSummary) -> str:
        """Return the whole document."""
        from xml.etree.ElementTree import Element, SubElement, indent, tostring

        n_flags, n_errors = sum(map(len, self._suites)), len(ended.problems)

        def suite(name: str, failures: int, errors: int) -> Element:
            tests = max(failures + errors, 1)
            counts = {"tests": f"{tests}", "failures": f"{failures}", "errors": f"{errors}"}
            return SubElement(whole, "testsuite", {"name": name, **counts})

        counts = {"tests": f"{max(n_flags + n_errors, 1)}", "failures": f"{n_flags}", "errors": f"{n_errors}"}
        whole = Element("testsuites", {"name": "disambig", **counts})
        for findings in self._suites:
            path = _xml_text(findings[0].path)
            cases = suite(path, len(findings), 0)
            for finding in findings:
                flag = finding.flag
                place = {"line": f"{flag.line}", "column": f"{flag.column}"}
                case = SubElement(
                    cases, "testcase", {"name": _qualified(flag), "classname": path, "file": path, **place}
                )
                failure = SubElement(case, "failure", {"message": _xml_text(finding.message)})
                failure.text = _xml_text(f"{finding.path}:{flag.line}:{flag.column}: {finding.message}")
        if ended.problems or not self._suites:
            cases = suite("disambig", 0, n_errors)
            if not ended.problems:
                SubElement(cases, "testcase", {"name": "no flags", "classname": "disambig"})
            for problem in ended.problems:
                case = SubElement(cases, "testcase", {"name": problem.code, "classname": "disambig"})
                SubElement(case, "error", {"message": _xml_text(problem.text)})
        indent(whole, " ")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(whole, "unicode")}\n'


def _xml_text(text: str) -> str:
    """Return a text with only the characters that XML allows."""
    return escape_control_chars(text).translate({0xFFFE: "\ufffd", 0xFFFF: "\ufffd"})


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_MAX_DESCRIPTION = 1024  # maximum number of characters on GitHub


class SarifReport:
    """One run with its rules, results and notifications."""

    def __init__(self) -> None:
        self._rules: dict[str, int] = {}
        self._least: dict[str, PrecisionEstimate] = {}
        self._results: list[dict[str, Any]] = []

    def add(self, findings: Sequence[ReportedFlag]) -> str:
        """Keep the flags of one file."""
        for finding in findings:
            rule, trust = finding.flag.rule, finding.flag.trust
            index = self._rules.setdefault(rule, len(self._rules))
            if trust is not None and (rule not in self._least or trust.share < self._least[rule].share):
                self._least[rule] = trust
            self._results.append(_result(finding, index))
        return ""

    def end(self, ended: RunSummary) -> str:
        """Return the whole log."""
        notifications = [_notification(problem, "error") for problem in ended.problems]
        notifications += [_notification(note, "note") for note in ended.notes]
        invocation = {
            "executionSuccessful": not ended.problems,
            "exitCode": ended.status,
            "toolExecutionNotifications": notifications,
        }
        rules = [_rule(find_rule(name), self._least.get(name)) for name in self._rules]
        driver = {"name": "disambig", "version": __version__, "informationUri": PAGE, "rules": rules}
        run = {
            "tool": {"driver": driver},
            "columnKind": "utf16CodeUnits",
            "invocations": [invocation],
            "results": self._results,
        }
        return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(rule: Rule, least: PrecisionEstimate | None) -> dict[str, Any]:
    """Return a rule; its precision is that of the least certain flag in this run."""
    measured = {} if least is None else {"precision": least.level, "trust": asdict(least)}
    description = rule.description or rule.title
    text = HELP.format(description=description, rule=rule.name)
    examples = "".join(f"\n* {example.wrong} -> {example.right}" for example in rule.examples)
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": description[:_MAX_DESCRIPTION]},
        "help": {"text": text, "markdown": f"{text}\n{examples}".strip()},
        **({"helpUri": rule.url} if rule.url else {}),
        "defaultConfiguration": {"level": "note"},
        "properties": {"problem.severity": "recommendation", "tags": ["prose"], **measured},
    }


def _result(finding: ReportedFlag, rule: int) -> dict[str, Any]:
    flag = finding.flag
    artifact = {"uri": _uri(finding.path)}
    return {
        "ruleId": flag.rule,
        "ruleIndex": rule,
        "level": "note",
        "message": {"text": finding.message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": artifact,
                    "region": _sarif_region(finding, flag.start, flag.end),
                }
            }
        ],
        "partialFingerprints": {"primaryLocationLineHash": finding.fingerprint},
        **({} if flag.trust is None else {"rank": round(100 * flag.trust.share, 2)}),
        **_properties(finding),
        **_fixes(finding, artifact),
    }


def _fixes(finding: ReportedFlag, artifact: dict[str, str]) -> dict[str, Any]:
    if finding.edit is None:
        return {}
    first, last, new = finding.edit
    change = {"deletedRegion": _sarif_region(finding, first, last), "insertedContent": {"text": new}}
    return {"fixes": [{"artifactChanges": [{"artifactLocation": artifact, "replacements": [change]}]}]}


def _properties(finding: ReportedFlag) -> dict[str, Any]:
    trust, evidence = finding.flag.trust, finding.evidence
    properties = {} if trust is None else {"precision": trust.level, "trust": asdict(trust)}
    properties |= {"evidence": asdict(evidence)} if evidence else {}
    return {"properties": properties} if properties else {}


def _sarif_region(finding: ReportedFlag, start: int, end: int) -> dict[str, int]:
    line, column = finding.lines.in_utf16(start)
    end_line, end_column = finding.lines.in_utf16(end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _notification(problem: UserError, level: str) -> dict[str, Any]:
    notification: dict[str, Any] = {
        "descriptor": {"id": problem.code},
        "level": level,
        "message": {"text": problem.text},
    }
    path, line = problem.values.get("path"), problem.values.get("line")
    if path is not None:
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(path_in_repository(str(path)))}}
        if isinstance(line, int):
            place["region"] = {"startLine": line}
        notification["locations"] = [{"physicalLocation": place}]
    return notification


def _uri(path: str) -> str:
    return Path(path).as_uri() if Path(path).is_absolute() else quote(path, errors="surrogateescape")


_REPORTS: dict[str, Callable[[], FlagReport]] = {
    "text": lambda: LineReport(_text_line),
    "json": lambda: JSONReport(_plain, _json_document),
    "jsonl": lambda: LineReport(lambda finding: json.dumps(_plain(finding)) + "\n"),
    "sarif": SarifReport,
    "github": lambda: LineReport(_notice),
    "gitlab": lambda: JSONReport(_issue, lambda issues, ended: issues),
    "junit": JUnitReport,
    "rdjson": lambda: JSONReport(_diagnostic, _rdjson_document),
}
FORMATS = tuple(_REPORTS)
"""Names of the formats, for the command line."""


def make_report(format: str) -> FlagReport:
    """Return an empty report in one of `FORMATS`."""
    return _REPORTS[format]()
