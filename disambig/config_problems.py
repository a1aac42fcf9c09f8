"""What is wrong with a config, said in its own terms: which section, which key, what to put there.

The libraries under configs speak of roots, factories and types; nothing of that comes through here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from disambig.errors import UserError, nearest_first
from disambig.settings import settings_of

PARTS = {
    "task": "tasks",
    "tokenisation": "tokenisations",
    "learner": "learners",
    "baseline": "learners",
    "judge": "judges",
}
"""The sections of a training config that name one part each, and the shelf it lies on."""
_PLAIN = {
    "float": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "str": 'a text in double quotes, such as "x"',
    "collections.abc.Sequence[str]": 'a list of texts, such as ["x", "y"]',
    "dict": "a section of its own",
}
_NOT = re.compile(r"at (\S+): (.*) is not (.*)", re.DOTALL)
_SYNTAX: tuple[tuple[str, str], ...] = (
    (
        r"no section headers.*line: (\d+) '(.*?)(?:\\n)?'",
        "line {0}: {1!r} stands in no section; begin with [model]",
    ),
    (r"\[line +(\d+)\]: '(.*?)(?:\\n)?'", "line {0}: {1!r} is neither a [section] nor a setting = value"),
    (r"\[line +(\d+)\]: section '(.*)' already exists", "line {0}: the section [{1}] is there twice"),
    (r"\[line +(\d+)\]: option '(.*)' in section '(.*)' already", "line {0}: {1} is set twice in [{2}]"),
    (
        r"option '(.*)' in section '(.*)' contains an interpolation key '(.*?)'",
        "{0} in [{1}] refers to ${{{2}}}, and this config sets no {2}",
    ),
)


def not_read(problem: Exception) -> str:
    """Say why a text is no config."""
    if isinstance(problem, OSError):
        return (problem.strerror or str(problem)).lower()
    if isinstance(problem, UnicodeDecodeError):
        return f"not UTF-8: byte 0x{problem.object[problem.start]:02x} at offset {problem.start:,}"
    said = _one_line(problem)
    for pattern, ours in _SYNTAX:
        if match := re.search(pattern, said):
            return ours.format(*match.groups())
    return said.removeprefix("Config validation error ")


def not_built(problem: Exception, config: Mapping[str, Any]) -> str:
    """Say which setting a part of a config refuses."""
    errors = getattr(problem, "errors", None)
    if not isinstance(errors, list) or not errors:
        return _one_line(problem)
    name = str(getattr(problem, "title", "")).partition("'")[2].rstrip("'")
    said = []
    for error in errors:
        where, setting = [str(one) for one in error["loc"]], ""
        if len(where) > 1:
            setting = ".".join(where[1:])
        section = next((path for path, at in _sections(config) if _named(at) == name), where[0])
        match = _NOT.search(str(error["msg"]))
        if match is None:
            said.append(f"[{section}] {setting}: {error['msg']}")
            continue
        inside = "" if match[1] == "root" else f" at {match[1]}"
        said.append(f"{setting} in [{section}] is {match[2]}{inside}: give {_plain(match[3])}")
    return "; ".join(said)


def check_settings(
    config: Mapping[str, Any], factory_of: Callable[[str, str], Callable[..., Any]], path: str | Path
) -> None:
    """Refuse settings that a part does not have, and parts without those that they need.

    Parameters
    ----------
    factory_of : callable
        Returns what makes a part, by its kind and registered name.

    Raises
    ------
    UserError
        D005.
    """
    for section, at in _sections(config):
        kind = next(key for key in at if key.startswith("@"))
        made = settings_of(factory_of(kind.removeprefix("@disambig_"), at[kind]))
        if any(each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL) for each in made.values()):
            continue
        unknown = [key for key in at if not key.startswith("@") and key not in made and key != "*"]
        missing = [key for key, each in made.items() if each.default is each.empty and key not in at]
        if unknown:
            known = f"it has {nearest_first(unknown[0], made)}" if made else "it has none"
            problem = f"[{section}] {at[kind]} has no setting {unknown[0]!r}: {known}"
            raise UserError("D005", path=path, problem=problem)
        if missing and "*" not in at:
            problem = (
                f"[{section}] {at[kind]} needs the setting {missing[0]!r}: write {missing[0]} = ... under it"
            )
            raise UserError("D005", path=path, problem=problem)


def check_parts(config: Mapping[str, Any], path: str | Path) -> None:
    """Refuse sections of a training config that do not name the part that they describe.

    Raises
    ------
    UserError
        D661 for a section without a name or with one of another kind, D662 for no extractor or an extractor
        that has no section of its own.
    """
    for section, kind in PARTS.items():
        if section in config:
            _check_part(section, kind, config[section], path)
    extractors = config.get("extractors", {})
    if (
        not isinstance(extractors, Mapping)
        or not extractors
        or any(key.startswith("@") for key in extractors)
    ):
        what = "it names none" if not extractors else "it is one itself"
        raise UserError("D662", path=path, problem=what)
    for name, section in extractors.items():
        _check_part(f"extractors.{name}", "extractors", section, path)


def _check_part(section: str, kind: str, at: Any, path: str | Path) -> None:
    keys = [key for key in at if key.startswith("@")] if isinstance(at, Mapping) else []
    wanted = f"@disambig_{kind}"
    if wanted in keys:
        return
    seen = f"it has {keys[0]}" if keys else "it names none"
    raise UserError("D661", path=path, section=section, seen=seen, wanted=wanted)


def _sections(config: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the sections that name a part, with their dotted names."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            name = f"{path}.{key}" if path else key
            if any(isinstance(one, str) and one.startswith("@") for one in value):
                yield name, value
            yield from _sections(value, name)


def _named(section: Mapping[str, Any]) -> str:
    return str(next((value for key, value in section.items() if key.startswith("@")), ""))


def _plain(kind: str) -> str:
    name = kind.strip().removeprefix("<class '").removesuffix("'>")
    return _PLAIN.get(name, name)


def _one_line(problem: Exception) -> str:
    return " ".join(str(problem).split())
