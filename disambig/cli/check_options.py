"""Convert the options of ``disambig check`` to settings, and validate them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from disambig.cli.options import check_rate, parse_rates
from disambig.configuration import SettingsSource
from disambig.data import parse_share
from disambig.errors import UserError, nearest_first

ORIGIN = "command line"


def options_over_settings(options: Mapping[str, Any], *, baseline: str | None = None) -> SettingsSource:
    """Return the settings that are given as options; those of `flag_options` are `options`.

    Raises
    ------
    UserError
        D602 and D951 for an invalid rate, D860 for an invalid share.
    """
    rates, trust = parse_rates(options["flags_per_1000"]), options["trust"]
    check_rate(options["max_flags_per_1000"], option="--max-flags-per-1000")
    values: Mapping[str, Any] = {
        "tasks": options["task"],
        "models": options["model"],
        "flags_per_1000": rates,
        "trust": None if trust is None else parse_share(trust),
        "max_flags_per_1000": options["max_flags_per_1000"],
        "sets_files": options["sets"] and [options["sets"]],
        "ignore_files": options["ignore"] and [options["ignore"]],
        "baseline": baseline,
        "writing": options["writing"],
        "detect_language": options["detect_language"],
        "rules": options["rule"],
        "ignore_rules": options["ignore_rule"],
    }
    return SettingsSource(
        ORIGIN, {key: value for key, value in values.items() if value not in (None, [], "")}
    )


def check_options(
    paths: list[str],
    *,
    fix: bool,
    diff: bool,
    format: str,
    backup: str | None,
    since: str | None,
    staged: bool,
    write_baseline: str | None,
    evidence: bool = False,
) -> None:
    """Raise an error if options exclude each other.

    Raises
    ------
    UserError
        D600; D601 for an unknown format.
    """
    from disambig.checking import FORMATS, WITH_EVIDENCE, WITH_OUTCOMES
    from disambig.files import STDIN

    if format not in FORMATS:
        raise UserError("D601", name=format, names=nearest_first(format, FORMATS))
    writes = {"--fix": fix, "--diff": diff, "--write-baseline": write_baseline is not None}
    chooses = {"--since": since is not None, "--staged": staged}
    given = {name for name, is_given in {**writes, **chooses}.items() if is_given}
    for first, second in _EXCLUDE:
        if {first, second} <= given:
            raise _excluded(f"{first} and {second} exclude each other")
    for name, formats in {"--diff": ("text",), "--write-baseline": ("text",), "--fix": WITH_OUTCOMES}.items():
        if name in given and format not in formats:
            raise _excluded(f"{name} and --format {format} exclude each other")
    if evidence and (format not in WITH_EVIDENCE or {"--diff", "--write-baseline"} & given):
        raise _excluded(f"--evidence can only be used with --format {', '.join(WITH_EVIDENCE)}")
    if STDIN in paths and (since is not None or staged):
        raise _excluded("standard input is not tracked by git: omit --since and --staged")
    if backup is not None and (not backup or os.sep in backup):
        raise _excluded(f"invalid --backup-suffix {backup!r}; use --no-backup to keep no copy")


_EXCLUDE = (
    ("--fix", "--diff"),
    ("--since", "--staged"),
    ("--fix", "--staged"),  # the staged text can differ from the file
    ("--diff", "--staged"),
    ("--fix", "--write-baseline"),
    ("--diff", "--write-baseline"),
    ("--since", "--write-baseline"),  # a baseline must contain all flags
    ("--staged", "--write-baseline"),
)


def _excluded(problem: str) -> UserError:
    return UserError("D600", problem=problem, command="disambig check")
