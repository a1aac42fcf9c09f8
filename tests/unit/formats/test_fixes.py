"""Mistakes and clean paragraphs as they are read: what is kept, and what is wrong with a line."""

from __future__ import annotations

import json
import lzma

import pytest

from disambig.errors import UserError
from disambig.formats import (
    Clean,
    Fix,
    FlagReading,
    paragraph_digest,
    read_clean,
    read_fixes,
    read_flag_readings,
)

ROW = {"before": "We rely in it.", "start": 8, "end": 10, "old": "in", "new": "on"}


def write_rows(tmp_path, *rows, name="fixes.jsonl"):
    path = tmp_path / name
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_bytes(lzma.compress(text.encode()) if name.endswith(".xz") else text.encode())
    return path


def test_every_field_of_a_mistake_is_read(tmp_path):
    about = {"class": "preposition", "sub": "pref", "kind": "replace", "tier": 2, "repo": "a/b", "id": "x1"}
    path = write_rows(tmp_path, {**ROW, **about, "year": 2019}, "", name="fixes.jsonl.xz")
    where = f"{path}, line 1"
    assert read_fixes(path) == [
        Fix("We rely in it.", 8, 10, "in", "on", "preposition", "pref", "replace", 2, "a/b", where, "x1")
    ]


def test_missing_fields_have_defaults(tmp_path):
    missing = {**ROW, "before": "We rely it.", "end": 8, "old": "", "repo": None}
    extra = {**ROW, "before": "We saw in it.", "start": 7, "end": 9, "new": ""}
    one, other, third = read_fixes(write_rows(tmp_path, ROW, missing, extra))
    assert (one.category, one.sub, one.kind, one.tier, one.repo) == ("other", "", "replace", 1, one.before)
    assert (other.kind, other.repo, third.kind) == ("insert", "We rely it.", "delete")


def test_higher_tiers_can_be_excluded(tmp_path):
    path = write_rows(tmp_path, ROW, {**ROW, "tier": 2})
    assert [fix.tier for fix in read_fixes(path)] == [1, 2]
    assert [fix.tier for fix in read_fixes(path, tier=1)] == [1]
    with pytest.raises(UserError, match=r"D346.*contains no mistake of tier 1"):
        read_fixes(write_rows(tmp_path, {**ROW, "tier": 2}), tier=1)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ({**ROW, "before": 3}, "'before' is not valid text"),
        ({**ROW, "new": None}, "'new' is missing"),
        ({**ROW, "new": "\ud800"}, "'new' is not valid text"),
        ({**ROW, "class": 3}, "'class' is not valid text"),
        ({**ROW, "start": True}, "must be whole numbers"),
        ({**ROW, "end": 99}, "8 to 99 is not a range in 14 characters"),
        ({**ROW, "start": 7}, "the text at 7 to 10 is ' in', not 'in'"),
        ({**ROW, "new": " in "}, "are the same: 'in'"),
        ({**ROW, "kind": "insert"}, "the kind is insert, but changing 'in' to 'on' is replace"),
        ({**ROW, "kind": "swap"}, "the kind is 'swap'"),
        ({**ROW, "tier": 3}, "the tier is 3, not 1 or 2"),
        ({**ROW, "tier": "1"}, "the tier is '1'"),
    ],
)
def test_a_broken_line_is_named(tmp_path, row, problem):
    path = write_rows(tmp_path, ROW, row)
    with pytest.raises(UserError) as caught:
        read_fixes(path)
    assert caught.value.code == "D345"
    assert f"{path}, line 2: " in str(caught.value) and problem in str(caught.value)


def test_clean_paragraphs(tmp_path):
    path = write_rows(tmp_path, {"text": "All is well.", "repo": "a/b"}, {"text": "Here too."})
    assert read_clean(path) == [
        Clean("All is well.", "a/b", f"{path}, line 1"),
        Clean("Here too.", "Here too.", f"{path}, line 2"),
    ]


@pytest.mark.parametrize("row", [ROW, {"text": 3}, {"text": "a", "repo": 3}])
def test_a_broken_paragraph_is_named(tmp_path, row):
    with pytest.raises(UserError, match=r"D345.*line 1: '(text|repo)' is (missing|not valid text)"):
        read_clean(write_rows(tmp_path, row))


READING = {
    "paragraph": paragraph_digest("All is well."),
    "start": 4,
    "end": 6,
    "new": "are",
    "label": "wrong",
}


def test_readings_of_flags(tmp_path):
    mistake = {**READING, "label": "mistake", "right": True}
    path = write_rows(tmp_path, READING, mistake)
    about = READING["paragraph"], 4, 6, "are"
    assert read_flag_readings(path) == [
        FlagReading(*about, "wrong", False, f"{path}, line 1"),
        FlagReading(*about, "mistake", True, f"{path}, line 2"),
    ]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"text": "All is well."}, "'paragraph' is missing"),
        ({**READING, "label": None}, "'label' is missing"),
        ({**READING, "paragraph": "All is well."}, "not a SHA-256 of 64 hexadecimal digits"),
        ({**READING, "start": "4"}, "must be whole numbers"),
        ({**READING, "end": 3}, "4 to 3 is not a range of characters"),
        ({**READING, "new": 1}, "'new' is not valid text"),
        ({**READING, "end": 4, "new": " "}, "nothing is replaced or inserted"),
        ({**READING, "label": "bad"}, "the label is 'bad', not one of mistake, taste, wrong"),
        ({**READING, "label": ["wrong"]}, "the label is ['wrong']"),
        ({**READING, "label": "mistake", "right": 1}, '"right" is 1, not true or false'),
        ({**READING, "right": True}, '"right" is true, but the label is wrong'),
    ],
)
def test_a_broken_reading_is_named(tmp_path, row, problem):
    path = write_rows(tmp_path, READING, row)
    with pytest.raises(UserError) as caught:
        read_flag_readings(path)
    assert caught.value.code == "D345"
    assert f"{path}, line 2: " in str(caught.value) and problem in str(caught.value)


def test_files_without_anything(tmp_path):
    for read in (read_fixes, read_clean, read_flag_readings):
        with pytest.raises(UserError, match="D346"):
            read(write_rows(tmp_path, "", ""))
        with pytest.raises(UserError, match="D300"):
            read(tmp_path / "none.jsonl")
