"""What a run found as a report: for people, for programs, for services. Nothing is decided or read here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from disambig.checking.reports.contract import Report

_MODULES = {
    "text": "lines:Lines",
    "json": "document:Document",
    "jsonl": "document:JSONLines",
    "sarif": "sarif:Sarif",
    "github": "github:GitHub",
    "gitlab": "gitlab:GitLab",
    "rdjson": "rdjson:RDJSON",
}
FORMATS = tuple(_MODULES)
WITH_OUTCOMES = ("text", "json", "jsonl")
"""Those that say which flags were corrected."""
WITH_EVIDENCE = ("json", "jsonl", "sarif")
"""Those that say what stands behind a flag."""


def make_report(format: str) -> Report:
    """Return an empty report in one of `FORMATS`."""
    module, name = _MODULES[format].split(":")
    return cast("Report", getattr(import_module(f"{__name__}.{module}"), name)())
