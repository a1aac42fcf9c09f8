"""The tables of a settings file, their checks and their JSON schema."""

from __future__ import annotations

import json
import re
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
from disambig.data import (
    IGNORE_ENTRY,
    SHARE,
    WORDS_PER_MISTAKE,
    check_entry,
    check_writing,
    confusion_set,
    parse_share,
)
from disambig.errors import UserError, nearest_first


def _check_set(text: str) -> str:
    confusion_set(text)
    return text


Name = Annotated[str, Field(min_length=1)]
Ignored = Annotated[
    str,
    Field(min_length=1),
    AfterValidator(check_entry),
    WithJsonSchema({"type": "string", "minLength": 1, "pattern": IGNORE_ENTRY}),
]
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

Writing = Annotated[
    Any, AfterValidator(check_writing), WithJsonSchema({"type": "string", "enum": list(WORDS_PER_MISTAKE)})
]


class OverrideTable(BaseModel):
    """Settings that can be overridden for the files that match a pattern."""

    model_config = ConfigDict(extra="forbid", strict=True, title="Override")

    tasks: list[Name] | None = Field(
        None, description="Installed models to use; default: all of them.", min_length=1
    )
    models: list[Name] | None = Field(
        None, description="Directories of models to use, relative to this settings file."
    )
    flags_per_1000: Rate | dict[Name, Rate] | None = Field(
        None,
        description="False alarms to accept per 1,000 correct words: a number, or a table with one number "
        "per task. Default: the rate of each model.",
    )
    trust: Share | None = Field(
        None,
        description='Minimum share of the shown flags that are right, such as "4 in 5", as measured on '
        "mistakes that people made. Replaces flags_per_1000.",
        examples=["4 in 5", "9 in 10", 0.8],
    )
    max_flags_per_1000: Rate | None = Field(
        None,
        description="Show at most this many flags per 1,000 words of a file, rounded up, the most certain "
        "first.",
    )
    rules: list[Name] | None = Field(
        None,
        description="Rules, or tasks, whose flags are shown; default: all.",
        min_length=1,
        examples=[["a-an", "doubled-word"]],
    )
    ignore_rules: list[Name] | None = Field(
        None,
        description="Rules, or tasks, whose flags are hidden, in addition to those already hidden.",
        examples=[["article"]],
    )
    ignore: list[Ignored] | None = Field(
        None,
        description="Words to ignore, and corrections such as 'login -> log in', in addition to those "
        "already ignored.",
    )
    ignore_files: list[Name] | None = Field(
        None, description="Files with words to ignore, one per line, relative to this settings file."
    )
    sets: list[Set] | None = Field(None, description='Additional confusion sets, such as "hop/hope".')
    sets_files: list[Name] | None = Field(
        None, description="Files with confusion sets, one per line, relative to this settings file."
    )
    writing: Writing | None = Field(
        None,
        description="How carefully the text was written: published, edited, draft or learner, with one "
        "mistake in 2,000, 400, 100 or 15 words. The more mistakes a writer makes, the more is flagged. "
        "Default: the rate that each model was fitted to.",
    )
    detect_language: bool | None = Field(
        None,
        description="Whether paragraphs that are not in the language of the models are left alone and "
        "counted. Default: true.",
    )
    yaml_fields: list[Name] | None = Field(
        None,
        description="Names of fields of YAML files whose values are text to check, in any case; * for all "
        "fields. Default: description and summary.",
        examples=[["description", "summary"]],
    )


class SettingsTable(OverrideTable):
    """The settings of a project: disambig.toml, or [tool.disambig] in pyproject.toml."""

    model_config = ConfigDict(extra="forbid", strict=True, title="Settings of disambig")

    include: list[Name] | None = Field(
        None,
        description="Files of a directory to check, as .gitignore patterns; default: text and "
        "documents. Files that are named on the command line are always checked.",
    )
    exclude: list[Name] | None = Field(
        None, description="Files that are never checked, even if they are named, as .gitignore patterns."
    )
    baseline: Name | None = Field(
        None, description="Baseline file with flags that are hidden, relative to this settings file."
    )
    overrides: dict[Name, OverrideTable] | None = Field(
        None,
        description="Settings for the files that match a .gitignore pattern; if several patterns match, the "
        "last one takes precedence. Lists of words and sets are extended, other values are replaced.",
    )


def read_table(values: dict[str, Any], *, path: str, section: str) -> dict[str, Any]:
    """Validate a settings table and return the keys that are set; `overrides` by pattern, in order.

    Raises D970 for an unknown key, with the most similar key; D971 for an invalid value, and for a key in
    `overrides` that is only allowed for the whole project.
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
    """Raise D971 if a pattern is invalid or too long, or if there are too many patterns."""
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
    """Raise D971 if a settings file names too many models, files or confusion sets, which all cost time."""
    tables = {"": settings} | {
        f"overrides.{_quoted(pattern)}": table for pattern, table in settings.get("overrides", {}).items()
    }
    for key, limit in _MAX_ENTRIES.items():
        total = 0
        for name, table in tables.items():
            total += len(table.get(key, ()))
            if total > limit:
                full_key = ".".join(filter(None, [section, name, key]))
                problem = f"a settings file can name at most {limit:,}"
                value = f"a list, {total:,} in all"
                raise UserError("D971", path=path, key=full_key, problem=problem, value=value)


_MAX_ENTRIES = {
    "tasks": 1_000,
    "models": 100,
    "ignore_files": 100,
    "sets_files": 100,
    "sets": 1_000,
    "rules": 1_000,
    "ignore_rules": 1_000,
}
"""Maximum number of entries per list in one settings file."""


def _describe_problem(errors: list[Any], path: str, section: str) -> UserError:
    """Return a message for the first of pydantic's errors."""
    first = errors[0]["loc"][0]
    # A rate is a number or a table, and pydantic reports an error for both; the deeper one fits the value.
    same_place = [error for error in errors if error["loc"][0] == first]
    error = max(same_place, key=lambda error: len(error["loc"]))
    parts = [str(part) for part in error["loc"]]
    if _RATE in parts:
        del parts[parts.index(_RATE) + 1 : parts.index(_RATE) + 2]  # pydantic's name of the union member
    *tables, key = parts
    table = ".".join([*filter(None, [section]), *map(_quoted, tables)])
    full_key = ".".join([*filter(None, [table]), _quoted(key)])
    if error["type"] == "extra_forbidden" and tables and key in SettingsTable.model_fields:
        problem = "this key is only allowed for the whole project, not in overrides"
        return UserError("D971", path=path, key=full_key, problem=problem, value="set")
    if error["type"] == "extra_forbidden":
        names = nearest_first(key, OverrideTable.model_fields if tables else SettingsTable.model_fields)
        return UserError("D970", path=path, key=key, where=f" in [{table}]" if table else "", names=names)
    message = _CODE.sub("", error["msg"].removeprefix("Value error, "))
    if error["type"] == "too_short" and error["input"] == []:
        message = "leave it out for the default, or see `exclude` for files that are not checked"
    for pydantic_words, toml_words in _REPLACED_WORDS.items():
        message = message.replace(pydantic_words, toml_words)
    return UserError("D971", path=path, key=full_key, problem=message, value=repr(error["input"])[:60])


_CODE = re.compile(r"\A\[D\d{3}\] ")
"""The code of an error in the message of another one, which has a code of its own."""
_RATE = "flags_per_1000"
_REPLACED_WORDS = {
    "Input should": "it must",
    "String should": "it must",
    "valid dictionary or instance of Override": "table",
    "valid dictionary": "table",
    "valid list": "list",
    "valid ": "",
}
"""Terms of pydantic's messages and the terms of TOML that replace them."""


def _quoted(part: str) -> str:
    return part if part.replace("_", "").replace("-", "").isalnum() else f'"{part}"'


SCHEMA_FILE = Path(__file__).with_name("schema.json")


def settings_schema() -> dict[str, Any]:
    """Return the JSON schema of ``disambig.toml`` (draft 7, which TOML editors support)."""
    schema = SettingsTable.model_json_schema(ref_template="#/definitions/{model}")
    definitions = schema.pop("$defs")
    return _simplify(
        {"$schema": "http://json-schema.org/draft-07/schema#", **schema, "definitions": definitions}
    )


def schema_text() -> str:
    """Return the contents of the schema file."""
    return json.dumps(settings_schema(), indent=2) + "\n"


def _simplify(value: Any) -> Any:
    """Return a schema without null, which TOML does not have, and without titles that repeat the key."""
    if isinstance(value, list):
        return [_simplify(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _simplify(item) for key, item in value.items() if not (key == "default" and item is None)}
    for table in kept.get("properties", {}).values():
        table.pop("title", None)
    options = [option for option in kept.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        return {**{key: item for key, item in kept.items() if key != "anyOf"}, **options[0]}
    return {**kept, "anyOf": options} if options else kept


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
