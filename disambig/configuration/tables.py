"""The tables of a settings file, their checks and their JSON schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from disambig.configuration.patterns import (
    MAX_LENGTH,
    MAX_PATTERNS,
    MAX_TOTAL_LENGTH,
    MAX_TOTAL_SEGMENTS,
    GitIgnorePatterns,
)
from disambig.data import SHARE, confusion_set, parse_share
from disambig.errors import UserError, nearest_first


def _check_set(said: str) -> str:
    confusion_set(said)
    return said


Name = Annotated[str, Field(min_length=1)]
Rate = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Set = Annotated[str, AfterValidator(_check_set)]
Share = Annotated[
    Any,
    AfterValidator(parse_share),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": SHARE},
                {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            ]
        }
    ),
]


class OverrideTable(BaseModel):
    """What may hold for some files only."""

    model_config = ConfigDict(extra="forbid", strict=True, title="Override")

    tasks: list[Name] | None = Field(None, description="Installed models that check; default: all.")
    models: list[Name] | None = Field(
        None, description="Directories of models that check, relative to this file of settings."
    )
    flags_per_1000: Rate | dict[Name, Rate] | None = Field(
        None,
        description="False alarms to accept per 1,000 correct words: a number, or a table of numbers by "
        "task. Default: what each model is set to.",
    )
    trust: Share | None = Field(
        None,
        description='How many of the flags that are shown were right at least, such as "4 in 5", measured on '
        "mistakes that people made; in place of flags_per_1000.",
        examples=["4 in 5", "9 in 10", 0.8],
    )
    max_flags_per_1000: Rate | None = Field(
        None, description="Most flags per 1,000 words of a file, rounded up; the surest are shown."
    )
    ignore: list[Name] | None = Field(
        None, description="Words to leave alone, beside those that are already."
    )
    ignore_files: list[Name] | None = Field(
        None, description="Files of words to leave alone, one a line; relative to this file of settings."
    )
    sets: list[Set] | None = Field(
        None, description='More confusion sets, such as "hop/hope", beside those that are there already.'
    )
    sets_files: list[Name] | None = Field(
        None, description="Files of confusion sets, one a line; relative to this file of settings."
    )


class SettingsTable(OverrideTable):
    """The settings of a project: disambig.toml, or [tool.disambig] in pyproject.toml."""

    model_config = ConfigDict(extra="forbid", strict=True, title="Settings of disambig")

    include: list[Name] | None = Field(
        None,
        description="Which files of a directory are checked, as patterns of .gitignore; default: text, "
        "Markdown and LaTeX. A file that is named is checked whatever this says.",
    )
    exclude: list[Name] | None = Field(
        None, description="Which files are never checked, named or not, as patterns of .gitignore."
    )
    baseline: Name | None = Field(
        None, description="File of flags that are known and not shown, relative to this file of settings."
    )
    overrides: dict[Name, OverrideTable] | None = Field(
        None,
        description="Settings for the files of a pattern of .gitignore; of several that fit the last one "
        "holds. Lists of words and sets are added to, all else is replaced.",
    )


def read_table(values: dict[str, Any], *, path: str, section: str) -> dict[str, Any]:
    """Return the keys of a table that are set, checked; `overrides` by pattern, in order.

    Raises
    ------
    UserError
        D970 for an unknown key, with the nearest one; D971 for a value that is none.
    """
    try:
        table = SettingsTable.model_validate(values)
    except ValidationError as problem:
        raise _describe_problem(problem.errors(), path, section) from None
    settings = table.model_dump(exclude_unset=True, exclude_none=True)
    _check_patterns(settings, path, section)
    _check_lists(settings, path, section)
    return settings


def _check_patterns(settings: dict[str, Any], path: str, section: str) -> None:
    """Raise D971 for a pattern that is invalid or too long, and for too many of them."""
    patterns = [
        (key, pattern) for key in ("include", "exclude", "overrides") for pattern in settings.get(key, ())
    ]
    n_characters = n_segments = 0
    for number, (key, pattern) in enumerate(patterns, 1):
        n_characters += len(pattern)
        n_segments += pattern.count("/") + 1
        problem = ""
        if len(pattern) > MAX_LENGTH:
            problem = f"a pattern has at most {MAX_LENGTH:,} characters"
        elif number > MAX_PATTERNS or n_characters > MAX_TOTAL_LENGTH or n_segments > MAX_TOTAL_SEGMENTS:
            problem = (
                f"there are too many patterns before it: all together have at most {MAX_PATTERNS:,} lines, "
                f"{MAX_TOTAL_LENGTH:,} characters and {MAX_TOTAL_SEGMENTS:,} names between slashes"
            )
        else:
            try:
                GitIgnorePatterns([pattern])
            except ValueError as error:
                problem = str(error)
        if problem:
            key = ".".join(filter(None, [section, key]))
            raise UserError("D971", path=path, key=key, problem=problem, value=repr(pattern)[:60])


def _check_lists(settings: dict[str, Any], path: str, section: str) -> None:
    """Raise D971 for more models, files or confusion sets than a project needs: each costs time."""
    tables = {"": settings} | {
        f"overrides.{_quoted(name)}": at for name, at in settings.get("overrides", {}).items()
    }
    for key, most in _MOST.items():
        total = 0
        for name, table in tables.items():
            total += len(table.get(key, ()))
            if total > most:
                whole = ".".join(filter(None, [section, name, key]))
                problem = f"one settings file names at most {most:,}"
                raise UserError(
                    "D971", path=path, key=whole, problem=problem, value=f"a list, {total:,} in all"
                )


_MOST = {"tasks": 1_000, "models": 100, "ignore_files": 100, "sets_files": 100, "sets": 1_000}
"""Maximum number of entries of a list in one file of settings."""


def _describe_problem(errors: list[Any], path: str, section: str) -> UserError:
    """Return the first thing that is wrong as a message; of both sides of a rate the one that was meant."""
    first = errors[0]["loc"][0]
    error = max((each for each in errors if each["loc"][0] == first), key=lambda each: len(each["loc"]))
    parts = [str(part) for part in error["loc"]]
    if _RATE in parts:
        del parts[parts.index(_RATE) + 1 : parts.index(_RATE) + 2]  # pydantic's name of the side
    *tables, key = parts
    place = ".".join([*filter(None, [section]), *map(_quoted, tables)])
    if error["type"] == "extra_forbidden":
        names = nearest_first(key, OverrideTable.model_fields if tables else SettingsTable.model_fields)
        return UserError("D970", path=path, key=key, where=f" in [{place}]" if place else "", names=names)
    said = error["msg"].removeprefix("Value error, ")
    for theirs, ours in _WORDS.items():
        said = said.replace(theirs, ours)
    whole = ".".join([*filter(None, [place]), _quoted(key)])
    return UserError("D971", path=path, key=whole, problem=said, value=repr(error["input"])[:60])


_RATE = "flags_per_1000"
_WORDS = {
    "Input should": "it must",
    "String should": "it must",
    "valid dictionary or instance of Override": "table",
    "valid dictionary": "table",
    "valid list": "list",
    "valid ": "",
}
"""From the words of pydantic to those of TOML."""


def _quoted(part: str) -> str:
    return part if part.replace("_", "").replace("-", "").isalnum() else f'"{part}"'


SCHEMA_FILE = Path(__file__).with_name("schema.json")


def settings_schema() -> dict[str, Any]:
    """Return the schema of ``disambig.toml``, in the dialect that editors of TOML know (draft 7)."""
    made = SettingsTable.model_json_schema(ref_template="#/definitions/{model}")
    definitions = made.pop("$defs")
    return _plain({"$schema": "http://json-schema.org/draft-07/schema#", **made, "definitions": definitions})


def schema_text() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(settings_schema(), indent=2) + "\n"


def _plain(value: Any) -> Any:
    """Return a schema without what TOML cannot say, null, and without titles that repeat the key."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _plain(each) for key, each in value.items() if not (key == "default" and each is None)}
    for said in kept.get("properties", {}).values():
        said.pop("title", None)
    sides = [side for side in kept.get("anyOf", ()) if side != {"type": "null"}]
    if len(sides) == 1:
        return {**{key: each for key, each in kept.items() if key != "anyOf"}, **sides[0]}
    return {**kept, "anyOf": sides} if sides else kept


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
