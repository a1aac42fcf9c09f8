"""What was measured of a model, on disk beside it: read as written, of that very model, or refused."""

from __future__ import annotations

import json

import pytest

from disambig.data import PrecisionPoint, PrecisionTable
from disambig.errors import UserError
from disambig.models import PRECISION_FILE, read_precision, write_precision

LOW, HIGH = PrecisionPoint(0.0, 0.4, 0.2, 0.6, 20, 1, 9), PrecisionPoint(0.7, 0.9, 0.6, 0.98, 15, 0, 1)
TRUST = PrecisionTable("spelling", "notes of 3 projects", 5.0, (LOW, HIGH), {"it's/its": (LOW,)})


@pytest.fixture
def home(tmp_path):
    (tmp_path / "model.json").write_text('{"name": "a"}')
    write_precision(tmp_path, TRUST)
    return tmp_path


def test_what_is_written_is_read(home):
    assert read_precision(home) == TRUST


def test_nothing_is_known_of_a_model_that_was_not_measured_or_trained_anew(home):
    (home / "model.json").write_text('{"name": "b"}')
    assert read_precision(home) is None
    (home / PRECISION_FILE).unlink()
    assert read_precision(home) is None


def test_there_must_be_a_model_to_write_of(tmp_path):
    with pytest.raises(UserError) as caught:
        write_precision(tmp_path, TRUST)
    assert caught.value.code == "D405"


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"points": []},
        {"points": [{"least": 0.5}]},
        {"points": [dict.fromkeys(PrecisionPoint.__slots__, 2)]},
        {"pairs": []},
        {"pairs": {"a/b": None}},
        {"text": None, "per_1000": None},
    ],
)
def test_a_damaged_file_is_told(home, change):
    said = json.loads((home / PRECISION_FILE).read_text())
    (home / PRECISION_FILE).write_text(json.dumps(said | change))
    with pytest.raises(UserError) as caught:
        read_precision(home)
    assert caught.value.code == "D862" and str(home / PRECISION_FILE) in caught.value.text


@pytest.mark.parametrize("text", ["", "{", "[]", "1", "\xff"])
def test_a_file_that_is_no_json_is_told(home, text):
    (home / PRECISION_FILE).write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError) as caught:
        read_precision(home)
    assert caught.value.code == "D862"
