"""What may stand in settings, what is wrong with them, and the schema for editors."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from jsonschema import Draft7Validator

from disambig.configuration import (
    ADDED,
    CHOICES,
    PATHS,
    SCHEMA_FILE,
    CheckSettings,
    SettingsTable,
    read_table,
    schema_text,
    settings_schema,
)
from disambig.errors import UserError

GOOD = {
    "tasks": ["spelling"],
    "models": ["my_model"],
    "flags_per_1000": {"spelling": 0.2, "preposition": 1},
    "trust": 0.8,
    "max_flags_per_1000": 2,
    "rules": ["a-an"],
    "ignore_rules": ["article"],
    "ignore": ["quite"],
    "ignore_files": ["words.txt"],
    "sets": ["lie/lay"],
    "sets_files": ["sets.txt"],
    "writing": "draft",
    "detect_language": False,
    "yaml_fields": ["description"],
    "include": ["*.md"],
    "exclude": ["vendor/"],
    "baseline": "known.json",
    "overrides": {"docs/": {"flags_per_1000": 0.5, "ignore": ["then"]}},
}
NEAREST = "available, the nearest first:"
RATE = "tool.disambig.flags_per_1000"
BAD = [
    ({"flag_per_1000": 1}, "D970", f"'flag_per_1000' in [tool.disambig]; {NEAREST} flags_per_1000, "),
    ({"overrides": {"a/*": {"set": []}}}, "D970", f'in [tool.disambig.overrides."a/*"]; {NEAREST} sets, '),
    ({"overrides": {"docs": {"exclude": []}}}, "D970", "'exclude' in [tool.disambig.overrides.docs]"),
    ({"flags_per_1000": -1}, "D971", f"{RATE} is -1: it must be greater than or equal to 0"),
    ({"flags_per_1000": "1"}, "D971", f"{RATE} is '1': it must be a number"),
    ({"flags_per_1000": float("nan")}, "D971", "is nan: it must be a finite number"),
    ({"flags_per_1000": {"spelling": "x"}}, "D971", f"{RATE}.spelling is 'x': it must be a number"),
    (
        {"trust": 0},
        "D971",
        "tool.disambig.trust is 0: [D860] 0 is not a share of flags: give a number above 0",
    ),
    ({"trust": "often"}, "D971", "tool.disambig.trust is 'often': [D860] 'often' is not a share of flags"),
    ({"trust": [1]}, "D971", "tool.disambig.trust is [1]: [D860] [1] is not a share of flags"),
    ({"writing": "darft"}, "D971", "writing is 'darft': [D953] unknown kind of writing 'darft'"),
    ({"writing": 1}, "D971", "tool.disambig.writing is 1: [D953]"),
    ({"overrides": {"a": {"writing": "Draft"}}}, "D971", "available: draft"),
    ({"max_flags_per_1000": True}, "D971", "is True: it must be a number"),
    ({"ignore": "quite"}, "D971", "tool.disambig.ignore is 'quite': it must be a list"),
    ({"ignore": [1]}, "D971", "tool.disambig.ignore.0 is 1: it must be a string"),
    ({"tasks": [""]}, "D971", "tool.disambig.tasks.0 is '': it must have at least 1 character"),
    ({"sets": ["lie"]}, "D971", "tool.disambig.sets.0 is 'lie': [D411]"),
    ({"overrides": {"docs": 1}}, "D971", "tool.disambig.overrides.docs is 1: it must be a table"),
]


def test_all_keys_at_once():
    assert read_table(GOOD, path="x", section="") == GOOD
    assert set(GOOD) == set(settings_schema()["properties"])


@pytest.mark.parametrize(("values", "code", "said"), BAD, ids=[str(values) for values, *_ in BAD])
def test_what_is_wrong_is_told(values, code, said):
    with pytest.raises(UserError) as caught:
        read_table(values, path="p.toml", section="tool.disambig")
    assert caught.value.code == code
    assert caught.value.text.startswith("p.toml: ") and said in caught.value.text


def test_a_file_of_its_own_has_no_section():
    with pytest.raises(UserError, match=r"p.toml: unknown key 'x'; available, the nearest first: "):
        read_table({"x": 1}, path="p.toml", section="")


def test_the_shipped_schema_is_that_of_the_code():
    assert SCHEMA_FILE.read_text("utf8") == schema_text(), "python -m disambig.configuration.tables"


@pytest.mark.parametrize("values", [values for values, *_ in BAD if values.get("sets") is None], ids=str)
def test_editors_see_what_is_wrong(values):
    Draft7Validator.check_schema(settings_schema())
    assert Draft7Validator(settings_schema()).is_valid(GOOD)
    seen = json.dumps(values)
    if "NaN" not in seen:  # JSON has none
        assert not Draft7Validator(settings_schema()).is_valid(json.loads(seen))


def test_what_holds_has_the_same_keys():
    keys = {each.name for each in fields(CheckSettings)} - {"excluded", "origins"}
    assert keys == set(SettingsTable.model_fields) - {"overrides"}
    assert {*ADDED, *CHOICES[0], *CHOICES[1], *PATHS} <= keys


def test_every_key_is_described():
    described = [
        *settings_schema()["properties"].values(),
        *settings_schema()["definitions"]["OverrideTable"]["properties"].values(),
    ]
    assert all(each["description"] for each in described)
    assert "null" not in schema_text()
