"""Reports of the linter: text, JSON, SARIF, JUnit, Checkstyle, rdjson, and those of GitHub and GitLab."""

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
from disambig.formatting import escape_control_chars, on_one_line, shown_path
from disambig.rules import PAGE, Rule, find_rule, rule_link

if TYPE_CHECKING:
    from disambig.explain import FlagEvidence


WITH_OUTCOMES = ("text", "json", "jsonl")
"""Formats that show whether flags were corrected."""
WITH_EVIDENCE = ("json", "jsonl", "sarif")
"""Formats that can include the evidence for a flag."""


@dataclass(frozen=True, slots=True)
class ReportedFlag:
    """A flag with everything that reports need."""

    name: str  # name of the file as the user gave it
    path: str  # path of the file with slashes, relative to the repository
    flag: Flag
    lines: TextLines  # the lines of the file
    fingerprint: str  # unique in the run, and stable if lines move
    outcome: str = ""  # "fixed" or "left"; "" if files are not corrected
    reason: str = ""  # why the flag was not corrected
    evidence: FlagEvidence | None = None  # the evidence for the flag, if requested
    # the edit of the flag, completed so that it keeps the layout of tables and titles; None if it does not
    # fit into its table
    edit: tuple[int, int, str] | None = None

    @property
    def message(self) -> str:
        """The flag as a question, without line ends."""
        return flag_question(self.flag)


def flag_question(flag: Flag, quotes: str = '""') -> str:
    """Return a flag as a question on one line, with its rule and the measured precision of such flags.

    `quotes`: the opening and the closing quotation mark.
    """
    opening, closing = quotes[0], quotes[1]
    observed, meant = (
        f"{opening}{escape_control_chars(on_one_line(text))}{closing}"
        for text in (flag.observed, flag.replacement)
    )
    if not flag.observed.strip():
        question = f"Is {meant} missing here?"
    elif not flag.replacement.strip():
        question = f"Is {observed} one word too many?"
    else:
        question = f"Did you mean {meant} in place of {observed}?"
    measured = "" if flag.trust is None else f"; {flag.trust} of such flags were right"
    return f"{question} ({flag.rule}{measured})"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The result of a run."""

    status: int  # the exit status
    # number of checked files and words
    files: int
    words: int
    problems: Sequence[UserError] = ()  # files that could not be checked or corrected, and other errors
    notes: Sequence[UserError] = ()  # notes that are not errors


class FlagReport(Protocol):
    """A report that is built file by file; the returned strings are written in order."""

    def add(self, reported_flags: Sequence[ReportedFlag]) -> str:
        """Add the flags of one file, in text order, and return the output that is complete so far."""

    def end(self, summary: RunSummary) -> str:
        """Return the rest of the output."""


def path_in_repository(name: str) -> str:
    """Return the path of a file relative to the repository of the current folder.

    Without a repository, the path is relative to the current folder. A file elsewhere keeps its absolute
    path. A name in angle brackets, such as ``<stdin>``, is returned unchanged.
    """
    if name.startswith("<"):
        return name
    current = os.getcwd()
    path = os.path.abspath(name)
    for top in (next(folders_with_git(current), current), current):
        if path.startswith(inside := os.path.join(top, "")):
            return path.removeprefix(inside).replace(os.sep, "/")
    return path.replace(os.sep, "/")


class LineReport:
    """A report with one line per flag; problems go to standard error. `line` returns the line of a flag."""

    def __init__(self, line: Callable[[ReportedFlag], str]) -> None:
        self._line = line

    def add(self, reported_flags: Sequence[ReportedFlag]) -> str:
        """Return the lines of one file."""
        return "".join(map(self._line, reported_flags))

    def end(self, summary: RunSummary) -> str:
        """Return nothing."""
        return ""


class JSONReport:
    """A report that is one JSON document.

    `entry`: returns the JSON value of a flag.
    `document`: returns the document, given the values of all flags and the summary of the run.
    """

    def __init__(
        self, entry: Callable[[ReportedFlag], Any], document: Callable[[list[Any], RunSummary], Any]
    ) -> None:
        self._entry, self._document = entry, document
        self._entries: list[Any] = []

    def add(self, reported_flags: Sequence[ReportedFlag]) -> str:
        """Keep the flags of one file."""
        self._entries += map(self._entry, reported_flags)
        return ""

    def end(self, summary: RunSummary) -> str:
        """Return the whole document."""
        return json.dumps(self._document(self._entries, summary), indent=1) + "\n"


def _text_line(reported: ReportedFlag) -> str:
    """Return a flag as text: ``notes.md:9:36: then -> than (confused-words, 98 % right)``."""
    return flag_line(reported.name, reported.flag, reported.outcome, reported.reason)


def flag_line(name: str, flag: Flag, outcome: str = "", reason: str = "") -> str:
    """Return the line of a flag in the file `name`, with its outcome and the reason for it."""
    change = f"{one_line_text(flag.observed)} -> {one_line_text(flag.replacement)}"
    place = f"{shown_path(name)}:{flag.line}:{flag.column}"
    line = f"{change} ({flag.label})"
    return f"{place}: {line}{', ' if outcome else ''}{outcome}{f': {reason}' if reason else ''}\n"


def left_flags_line(left: Sequence[tuple[Flag, str]]) -> str:
    """Return the first five flags that are not corrected, with the reasons, for a message."""
    shown = [
        f"{flag.line}:{flag.column} {one_line_text(flag.observed)} ({reason})" for flag, reason in left[:5]
    ]
    return ", ".join(shown + (["..."] if len(left) > 5 else []))


def _json_document(flags: list[Any], summary: RunSummary) -> dict[str, Any]:
    return {
        "version": __version__,
        "files": summary.files,
        "words": summary.words,
        "flags": flags,
        "problems": [{"code": problem.code, "message": problem.text} for problem in summary.problems],
        "notes": [{"code": note.code, "message": note.text} for note in summary.notes],
    }


def _json_flag(reported: ReportedFlag) -> dict[str, Any]:
    end_line, end_column = reported.lines.line_and_column(reported.flag.end)
    trust = reported.flag.trust
    return {
        "path": reported.name,
        **asdict(reported.flag),
        "edit": reported.edit,
        "trust": None if trust is None else {**asdict(trust), "precision": trust.level},
        "end_line": end_line,
        "end_column": end_column,
        "fingerprint": reported.fingerprint,
        **({"outcome": reported.outcome} if reported.outcome else {}),
        **({"reason": reported.reason} if reported.reason else {}),
        **({"evidence": asdict(reported.evidence)} if reported.evidence else {}),
    }


def _github_notice(reported: ReportedFlag) -> str:
    """Return a notice in the form of a workflow command of GitHub Actions."""
    end_line, end_column = reported.lines.line_and_column(reported.flag.end)
    values = {"file": escape_control_chars(reported.path), "line": reported.flag.line, "endLine": end_line}
    if end_line == reported.flag.line:  # GitHub does not accept columns for a range of several lines
        values |= {"col": reported.flag.column, "endColumn": end_column}
    values["title"] = _qualified_rule(reported.flag)
    properties = ",".join(f"{key}={_escape_github_property(str(value))}" for key, value in values.items())
    link = rule_link(find_rule(reported.flag.rule))
    # the log of a step shows only the message, and annotations are limited in number
    place = f"{values['file']}:{reported.flag.line}:{reported.flag.column}"
    message = f"{place}: {reported.message}{f' - {link}' if link else ''}"
    return f"::notice {properties}::{_escape_github(message)}\n"


def _qualified_rule(flag: Flag) -> str:
    """Return the name of a rule for programs that show it without the name of the tool."""
    return f"disambig/{flag.rule}"


def _escape_github(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_github_property(text: str) -> str:
    return _escape_github(text).replace(":", "%3A").replace(",", "%2C")


def _gitlab_issue(reported: ReportedFlag) -> dict[str, Any]:
    lines = {"begin": reported.flag.line, "end": reported.lines.line_and_column(reported.flag.end)[0]}
    return {
        "description": reported.message,
        "check_name": _qualified_rule(reported.flag),
        "fingerprint": reported.fingerprint,
        "severity": "info",
        "location": {"path": reported.path, "lines": lines},
    }


def _rdjson_document(diagnostics: list[Any], summary: RunSummary) -> dict[str, Any]:
    return {"source": {"name": "disambig"}, "severity": "INFO", "diagnostics": diagnostics}


def _rdjson_diagnostic(reported: ReportedFlag) -> dict[str, Any]:
    rule = find_rule(reported.flag.rule)
    place = _rdjson_range(reported, reported.flag.start, reported.flag.end)
    return {
        "message": reported.message,
        "location": {"path": reported.path, "range": place},
        "severity": "INFO",
        "code": {"value": rule.name, **({"url": rule.url} if rule.url else {})},
        **_rdjson_suggestions(reported),
    }


def _rdjson_suggestions(reported: ReportedFlag) -> dict[str, Any]:
    if reported.edit is None:
        return {}
    first, last, new = reported.edit
    return {"suggestions": [{"range": _rdjson_range(reported, first, last), "text": new}]}


def _rdjson_range(reported: ReportedFlag, start: int, end: int) -> dict[str, Any]:
    (line, column), (end_line, end_column) = (reported.lines.in_utf8(offset) for offset in (start, end))
    return {"start": {"line": line, "column": column}, "end": {"line": end_line, "column": end_column}}


class _ReportByFile:
    """Base of reports whose document has an element for each file with flags."""

    def __init__(self) -> None:
        self._files: list[Sequence[ReportedFlag]] = []

    def add(self, reported_flags: Sequence[ReportedFlag]) -> str:
        """Keep the flags of one file."""
        self._files += [reported_flags] if reported_flags else []
        return ""


class JUnitReport(_ReportByFile):
    """A JUnit report with one test suite per file and one failed test case per flag.

    A file that could not be checked is an error. A run without flags and errors has one passed test case,
    because some programs reject a report without test cases.
    """

    def end(self, summary: RunSummary) -> str:
        """Return the whole document."""
        from xml.etree.ElementTree import Element, SubElement, indent, tostring

        n_flags, n_errors = sum(map(len, self._files)), len(summary.problems)

        def suite(name: str, failures: int, errors: int) -> Element:
            tests = max(failures + errors, 1)
            counts = {"tests": f"{tests}", "failures": f"{failures}", "errors": f"{errors}"}
            return SubElement(root, "testsuite", {"name": name, **counts})

        counts = {"tests": f"{max(n_flags + n_errors, 1)}", "failures": f"{n_flags}", "errors": f"{n_errors}"}
        root = Element("testsuites", {"name": "disambig", **counts})
        for reported_flags in self._files:
            path = _xml_text(reported_flags[0].path)
            cases = suite(path, len(reported_flags), 0)
            for reported in reported_flags:
                flag = reported.flag
                place = {"file": path, "line": f"{flag.line}", "column": f"{flag.column}"}
                names = {"name": _qualified_rule(flag), "classname": path}
                case = SubElement(cases, "testcase", names | place)
                failure = SubElement(case, "failure", {"message": _xml_text(reported.message)})
                failure.text = _xml_text(f"{reported.path}:{flag.line}:{flag.column}: {reported.message}")
        if summary.problems or not self._files:
            cases = suite("disambig", 0, n_errors)
            if not summary.problems:
                SubElement(cases, "testcase", {"name": "no flags", "classname": "disambig"})
            for problem in summary.problems:
                case = SubElement(cases, "testcase", {"name": problem.code, "classname": "disambig"})
                SubElement(case, "error", {"message": _xml_text(problem.text)})
        indent(root, " ")
        return f"{_XML_DECLARATION}{tostring(root, 'unicode')}\n"


class CheckstyleReport(_ReportByFile):
    """A report of Checkstyle: one element per file with flags, and in it one per flag."""

    def end(self, summary: RunSummary) -> str:
        """Return the whole document."""
        from xml.etree.ElementTree import Element, SubElement, indent, tostring

        root = Element("checkstyle", {"version": "4.3"})
        for reported_flags in self._files:
            file = SubElement(root, "file", {"name": _xml_text(reported_flags[0].path)})
            for reported in reported_flags:
                place = {"line": f"{reported.flag.line}", "column": f"{reported.flag.column}"}
                what = {"severity": "info", "message": _xml_text(reported.message)}
                SubElement(file, "error", {**place, **what, "source": _qualified_rule(reported.flag)})
        indent(root, " ")
        return f"{_XML_DECLARATION}{tostring(root, 'unicode')}\n"


_XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def _xml_text(text: str) -> str:
    """Return a text without the characters that XML does not allow."""
    return escape_control_chars(text).translate({0xFFFE: "\ufffd", 0xFFFF: "\ufffd"})


_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_MAX_DESCRIPTION = 1024
"""Maximum number of characters of a rule's description on GitHub."""
_RULE_HELP = (
    "{description} Flags compare how well words fit their context, and some are wrong: read the sentence. To "
    "keep the text as it is, write <!-- disambig: ignore-next-line[{rule}] --> above the line (in other "
    "formats in their own comments). To silence the rule in a project, write "
    'ignore_rules = ["{rule}"] in disambig.toml.'
)


class SarifReport:
    """A SARIF log of one run with its rules, results and notifications."""

    def __init__(self) -> None:
        self._rule_numbers: dict[str, int] = {}
        self._lowest_precision: dict[str, PrecisionEstimate] = {}  # by rule
        self._results: list[dict[str, Any]] = []

    def add(self, reported_flags: Sequence[ReportedFlag]) -> str:
        """Keep the flags of one file."""
        for reported in reported_flags:
            rule, trust = reported.flag.rule, reported.flag.trust
            number = self._rule_numbers.setdefault(rule, len(self._rule_numbers))
            if trust is not None:
                lowest = self._lowest_precision.get(rule, trust)
                self._lowest_precision[rule] = min(lowest, trust, key=lambda estimate: estimate.share)
            self._results.append(_sarif_result(reported, number))
        return ""

    def end(self, summary: RunSummary) -> str:
        """Return the whole log."""
        notifications = [_sarif_notification(problem, "error") for problem in summary.problems]
        notifications += [_sarif_notification(note, "note") for note in summary.notes]
        invocation = {
            "executionSuccessful": not summary.problems,
            "exitCode": summary.status,
            "toolExecutionNotifications": notifications,
        }
        rules = [
            _sarif_rule(find_rule(name), self._lowest_precision.get(name)) for name in self._rule_numbers
        ]
        driver = {"name": "disambig", "version": __version__, "informationUri": PAGE, "rules": rules}
        run = {
            "tool": {"driver": driver},
            "columnKind": "utf16CodeUnits",
            "invocations": [invocation],
            "results": self._results,
        }
        return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _sarif_rule(rule: Rule, precision: PrecisionEstimate | None) -> dict[str, Any]:
    """Return the description of a rule; `precision` is that of its least certain flag in this run."""
    measured = {} if precision is None else {"precision": precision.level, "trust": asdict(precision)}
    description = rule.description or rule.title
    text = _RULE_HELP.format(description=description, rule=rule.name)
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


def _sarif_result(reported: ReportedFlag, rule_number: int) -> dict[str, Any]:
    flag = reported.flag
    artifact = {"uri": _uri(reported.path)}
    place = {"artifactLocation": artifact, "region": _sarif_region(reported, flag.start, flag.end)}
    return {
        "ruleId": flag.rule,
        "ruleIndex": rule_number,
        "level": "note",
        "message": {"text": reported.message},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"primaryLocationLineHash": reported.fingerprint},
        **({} if flag.trust is None else {"rank": round(100 * flag.trust.share, 2)}),
        **_sarif_properties(reported),
        **_sarif_fixes(reported, artifact),
    }


def _sarif_fixes(reported: ReportedFlag, artifact: dict[str, str]) -> dict[str, Any]:
    if reported.edit is None:
        return {}
    first, last, new = reported.edit
    change = {"deletedRegion": _sarif_region(reported, first, last), "insertedContent": {"text": new}}
    return {"fixes": [{"artifactChanges": [{"artifactLocation": artifact, "replacements": [change]}]}]}


def _sarif_properties(reported: ReportedFlag) -> dict[str, Any]:
    trust, evidence = reported.flag.trust, reported.evidence
    properties = {} if trust is None else {"precision": trust.level, "trust": asdict(trust)}
    properties |= {"evidence": asdict(evidence)} if evidence else {}
    return {"properties": properties} if properties else {}


def _sarif_region(reported: ReportedFlag, start: int, end: int) -> dict[str, int]:
    line, column = reported.lines.in_utf16(start)
    end_line, end_column = reported.lines.in_utf16(end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _sarif_notification(problem: UserError, level: str) -> dict[str, Any]:
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
    "json": lambda: JSONReport(_json_flag, _json_document),
    "jsonl": lambda: LineReport(lambda reported: json.dumps(_json_flag(reported)) + "\n"),
    "sarif": SarifReport,
    "github": lambda: LineReport(_github_notice),
    "gitlab": lambda: JSONReport(_gitlab_issue, lambda issues, summary: issues),
    "junit": JUnitReport,
    "checkstyle": CheckstyleReport,
    "rdjson": lambda: JSONReport(_rdjson_diagnostic, _rdjson_document),
}
FORMATS = tuple(_REPORTS)
"""Names of the formats, for the command line."""


def make_report(format: str) -> FlagReport:
    """Return an empty report in one of `FORMATS`."""
    return _REPORTS[format]()
