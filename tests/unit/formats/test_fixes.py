"""Reading mistakes and clean paragraphs: kept values, and errors in lines."""

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
PARAGRAPH = paragraph_digest("All is well.")
READING = {"paragraph": PARAGRAPH, "start": 4, "end": 6, "new": "are", "label": "wrong"}
MISTAKE = {**READING, "label": "mistake", "right": True}
GOOD = {read_fixes: ROW, read_clean: {"text": "All is well."}, read_flag_readings: READING}


def write_rows(tmp_path, *rows, name="fixes.jsonl"):
    path = tmp_path / name
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_bytes(lzma.compress(text.encode()) if name.endswith(".xz") else text.encode())
    return path


def test_every_field_of_a_mistake_is_read_or_has_a_default(tmp_path):
    about = {"class": "preposition", "sub": "pref", "kind": "replace", "tier": 2, "repo": "a/b", "id": "x1"}
    path = write_rows(tmp_path, {**ROW, **about, "year": 2019}, "", name="fixes.jsonl.xz")
    where = f"{path}, line 1"
    assert read_fixes(path) == [
        Fix("We rely in it.", 8, 10, "in", "on", "preposition", "pref", "replace", 2, "a/b", where, "x1")
    ]
    missing = {**ROW, "before": "We rely it.", "end": 8, "old": "", "repo": None}
    extra = {**ROW, "before": "We saw in it.", "start": 7, "end": 9, "new": ""}
    one, other, third = read_fixes(write_rows(tmp_path, ROW, missing, extra))
    assert (one.category, one.sub, one.kind, one.tier, one.repo) == ("other", "", "replace", 1, one.before)
    assert (other.kind, other.repo, third.kind) == ("insert", "We rely it.", "delete")


def test_files_without_anything_of_a_tier_or_at_all(tmp_path):
    path = write_rows(tmp_path, ROW, {**ROW, "tier": 2})
    assert [fix.tier for fix in read_fixes(path)] == [1, 2]
    assert [fix.tier for fix in read_fixes(path, tier=1)] == [1]
    with pytest.raises(UserError, match=r"D346.*contains no mistake of tier 1"):
        read_fixes(write_rows(tmp_path, {**ROW, "tier": 2}), tier=1)
    for read in (read_fixes, read_clean, read_flag_readings):
        with pytest.raises(UserError, match="D346"):
            read(write_rows(tmp_path, "", ""))
        with pytest.raises(UserError, match="D300"):
            read(tmp_path / "none.jsonl")


def test_clean_paragraphs_and_readings_of_flags(tmp_path):
    path = write_rows(tmp_path, {"text": "All is well.", "repo": "a/b"}, {"text": "Here too."})
    assert read_clean(path) == [
        Clean("All is well.", "a/b", f"{path}, line 1"),
        Clean("Here too.", "Here too.", f"{path}, line 2"),
    ]
    path = write_rows(tmp_path, READING, MISTAKE)
    about = PARAGRAPH, 4, 6, "are"
    assert read_flag_readings(path) == [
        FlagReading(*about, "wrong", False, f"{path}, line 1"),
        FlagReading(*about, "mistake", True, f"{path}, line 2"),
    ]


@pytest.mark.parametrize(
    ("read", "row", "problem"),
    [
        (read_fixes, "{", "not JSON"),
        (read_fixes, "[]", "not a JSON object"),
        (read_fixes, {**ROW, "before": 3}, "'before' is not valid text"),
        (read_fixes, {**ROW, "new": None}, "'new' is missing"),
        (read_fixes, {**ROW, "new": "\ud800"}, "'new' is not valid text"),
        (read_fixes, {**ROW, "class": 3}, "'class' is not valid text"),
        (read_fixes, {**ROW, "start": True}, "must be whole numbers"),
        (read_fixes, {**ROW, "end": 99}, "8 to 99 is not a range in 14 characters"),
        (read_fixes, {**ROW, "start": 7}, "the text at 7 to 10 is ' in', not 'in'"),
        (read_fixes, {**ROW, "new": " in "}, "are the same: 'in'"),
        (read_fixes, {**ROW, "kind": "insert"}, "the kind is insert, but changing 'in' to 'on' is replace"),
        (read_fixes, {**ROW, "kind": "swap"}, "the kind is 'swap'"),
        (read_fixes, {**ROW, "tier": 3}, "the tier is 3, not 1 or 2"),
        (read_fixes, {**ROW, "tier": "1"}, "the tier is '1'"),
        (read_clean, ROW, "'text' is missing"),
        (read_clean, {"text": 3}, "'text' is not valid text"),
        (read_clean, {"text": "a", "repo": 3}, "'repo' is not valid text"),
        (read_flag_readings, {"text": "All is well."}, "'paragraph' is missing"),
        (read_flag_readings, {**READING, "label": None}, "'label' is missing"),
        (
            read_flag_readings,
            {**READING, "paragraph": "All is well."},
            "not a SHA-256 of 64 hexadecimal digits",
        ),
        (read_flag_readings, {**READING, "start": "4"}, "must be whole numbers"),
        (read_flag_readings, {**READING, "end": 3}, "4 to 3 is not a range of characters"),
        (read_flag_readings, {**READING, "new": 1}, "'new' is not valid text"),
        (read_flag_readings, {**READING, "end": 4, "new": " "}, "nothing is replaced or inserted"),
        (
            read_flag_readings,
            {**READING, "label": "bad"},
            "the label is 'bad', not one of mistake, taste, wrong",
        ),
        (read_flag_readings, {**READING, "label": ["wrong"]}, "the label is ['wrong']"),
        (read_flag_readings, {**MISTAKE, "right": 1}, '"right" is 1, not true or false'),
        (read_flag_readings, {**READING, "right": True}, '"right" is true, but the label is wrong'),
    ],
)
def test_names_an_invalid_line(tmp_path, read, row, problem):
    path = write_rows(tmp_path, GOOD[read], row)
    with pytest.raises(UserError) as caught:
        read(path)
    assert caught.value.code == "D345"
    assert f"{path}, line 2: " in str(caught.value) and problem in str(caught.value)


@pytest.mark.parametrize("read", GOOD)
def test_names_all_invalid_lines(tmp_path, read):
    path = write_rows(tmp_path, "{", GOOD[read], "[]", {"some": "thing"})
    with pytest.raises(UserError, match=r"line 1: not JSON .*; 2 more lines are invalid: 3, 4; a "):
        read(path)
