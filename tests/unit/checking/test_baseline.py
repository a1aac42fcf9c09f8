"""Baselines: known flags are hidden even if lines move, and new flags are shown."""

from __future__ import annotations

import json

import pytest

from disambig.checking import Baseline, Flag, new_baseline, read_baseline
from disambig.errors import UserError


def flag(start, observed="quite", task="spelling"):
    end = start + len(observed)
    return Flag(start, end, 1, start + 1, observed, "quiet", task, 0.9, (start, end, "quiet"))


TEXT = "A quite place. A quite place. A quite day."
FLAGS = [flag(2), flag(17), flag(32)]


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    baseline = new_baseline("known.json")
    baseline.add("docs/a.md", TEXT, FLAGS)
    baseline.write()
    return tmp_path / "known.json"


def test_baseline_file_format(path):
    entry = {"path": "docs/a.md", "task": "spelling", "observed": "quite"}
    flags = [{**entry, "sentence": "A quite day."}, {**entry, "sentence": "A quite place.", "count": 2}]
    assert json.loads(path.read_text()) == {"disambig_baseline": 1, "flags": flags}


def test_known_flags_are_hidden_from_any_folder(path, monkeypatch):
    assert read_baseline("known.json").new_flags("docs/a.md", TEXT, FLAGS) == []
    (path.parent / "docs").mkdir()
    monkeypatch.chdir("docs")
    baseline = read_baseline("../known.json")
    assert baseline.new_flags("a.md", TEXT, FLAGS) == []
    assert baseline.n_unmatched() == 0
    baseline = new_baseline("odd.json")
    baseline.add("b\udcff.md", TEXT, FLAGS)  # a file name that is not UTF-8
    baseline.write()
    assert read_baseline("odd.json").new_flags("b\udcff.md", TEXT, FLAGS) == []


def test_repeated_flags_are_counted_and_unmatched_entries_reported(path):
    text = f"{TEXT} A quite place. A quiet quite. "
    more = [*FLAGS, flag(45), flag(60)]
    assert read_baseline("known.json").new_flags("docs/a.md", text, more) == more[3:]
    assert read_baseline("known.json").new_flags("docs/b.md", TEXT, FLAGS) == FLAGS
    assert read_baseline("known.json").new_flags("docs/a.md", TEXT, [flag(2, task="it")]) == [
        flag(2, task="it")
    ]
    baseline = read_baseline("known.json")
    assert baseline.n_unmatched() == 0
    baseline.new_flags("docs/a.md", TEXT, FLAGS[:1])
    assert baseline.n_unmatched() == 2


FLAG = '{"path": "a", "task": "t", "observed": "o", "sentence": "s", "count": COUNT}'
COUNTS = ("1e400", "10" + "0" * 300, "NaN", "-1", "0", "null", '"2"', "[]", "true", "1.5")


def document(flags, version=1, more=""):
    return f'{{"disambig_baseline": {version}, "flags": {flags}{more}}}'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "D966"),
        ("[]", "D966"),
        ("{}", "D966"),
        ("\0", "D303"),
        ("[" * 100_000, "D966"),
        (document("[]", version=2), "D966"),
        (document("[]", version="true"), "D966"),
        (document('[{"path": "a"}]'), "D966"),
        (document("1"), "D966"),
        ('{"disambig_baseline": 1, "flags": ' + "[" * 100_000, "D966"),
        (document("[" + "9" * 5_000 + "]"), "D966"),
        (document("[]", more=', "x": NaN'), "D966"),
        (document("[]", more=', "x": 1e400'), "D966"),
        (document("[]", more=', "disambig_baseline": 1'), "D966"),
        *((document(f"[{FLAG.replace('COUNT', count)}]"), "D966") for count in COUNTS),
        (document('[{"path": 1, "task": [], "observed": {}, "sentence": 0}]'), "D966"),
    ],
)
def test_invalid_baselines_are_rejected(tmp_path, text, code):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        read_baseline(str(path))
    assert caught.value.code == code
    with pytest.raises(UserError) as caught:
        new_baseline(str(path))
    assert caught.value.code == "D967" and caught.value.text.count("is not a baseline") == 1
    assert path.read_text() == text


def test_missing_baselines_and_overwriting(path, tmp_path):
    with pytest.raises(UserError, match="D300"):
        read_baseline(str(tmp_path / "no.json"))
    new_baseline("known.json").write()
    assert json.loads(path.read_text())["flags"] == []
    assert isinstance(read_baseline("known.json"), Baseline)
