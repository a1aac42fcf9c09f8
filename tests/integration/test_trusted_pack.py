"""The models that ship are measured, and `disambig check --trust` shows what is right as often as asked."""

from __future__ import annotations

import json
import shutil

import pytest
from commands import here

from disambig.checking import load_checker
from disambig.configuration import CheckSettings
from disambig.models import PRECISION_FILE, read_precision
from disambig.packs import model_folder

TEXT = """The weather was better then we had hoped. I went to the the shop, and its late.

She have an cat. It depends of the weather, and the results shows that it is quite.
"""
CORRECTING = ("article", "doubled", "form", "preposition", "slip", "spelling")
AGAIN = "measure them again: python corpora/disambig_en/build.py DATA --trust"


@pytest.fixture
def home(tmp_path):
    (tmp_path / "note.md").write_text(TEXT)
    return tmp_path


def flags(home, *options):
    done = here("check", "note.md", "--format", "json", *options, folder=home)
    return json.loads(done.stdout)["flags"], done


@pytest.mark.parametrize("task", CORRECTING)
def test_each_model_was_measured_as_it_is(task):
    trust = read_precision(model_folder(task))
    assert trust is not None, AGAIN
    assert trust.task == task
    assert sum((trust.points[0].right, trust.points[0].wrong, trust.points[0].false)) > 50


def test_flags_say_how_often_such_ones_were_right(home):
    found, _ = flags(home)
    assert len(found) >= 3
    assert all(0 < each["trust"]["low"] <= each["trust"]["share"] < 1 for each in found)


def test_a_threshold_shows_what_is_right_as_often_and_asks_no_rate(home):
    before, _ = flags(home)
    shown, done = flags(home, "--trust", "4/5")
    assert {each["task"] for each in shown} & {"doubled", "slip", "spelling", "article"}
    assert all(each["trust"]["share"] >= 0.8 for each in shown)
    assert {each["start"] for each in before if each["trust"]["share"] >= 0.8} <= {
        each["start"] for each in shown
    }
    assert "D86" not in done.stderr
    more, _ = flags(home, "--trust", "1 in 3")
    assert {each["start"] for each in shown} <= {each["start"] for each in more}
    done = here("check", "note.md", "--trust", "1", folder=home)
    assert done.returncode == 2 and "[D864] no flags are right in 100% of cases" in done.stderr


def test_settings_and_options_are_one_choice(home):
    (home / "disambig.toml").write_text('trust = "4 in 5"\n')
    assert flags(home)[0] == flags(home, "--trust", "80 %")[0]
    done = here("check", "--show-settings", "note.md", "--flags-per-1000", "2", folder=home)
    assert "# trust: " in done.stdout and "flags_per_1000 = 2.0  # command line" in done.stdout
    (home / "disambig.toml").write_text("trust = 0.5\nflags_per_1000 = 0.0\n")
    assert flags(home)[0] == []  # both hold


def test_a_model_that_was_not_measured_shows_nothing_and_that_is_told(home):
    own = home / "own"
    shutil.copytree(model_folder("doubled"), own, ignore=shutil.ignore_patterns(PRECISION_FILE))
    found, _ = flags(home, "--model", "own")
    assert found and found[0]["trust"] is None
    done = here("check", "note.md", "--model", "own", "--trust", "4/5", folder=home)
    assert done.returncode == 2 and "[D861]" in done.stderr
    both, done = flags(home, "--model", "own", "--task", "article", "--trust", "1/3")
    assert {each["task"] for each in both} <= {"article"}
    assert "[D863] disambig_en/doubled was not measured" in done.stderr


def test_checkers_tell_their_notes(tmp_path):
    own = tmp_path / "own"
    shutil.copytree(model_folder("doubled"), own, ignore=shutil.ignore_patterns(PRECISION_FILE))
    checker = load_checker(CheckSettings(tasks=("slip",), models=(str(own),), trust=0.8))
    assert [note.code for note in checker.notes] == ["D863"]
    assert load_checker(CheckSettings(tasks=("slip",), trust=0.8)).notes == ()


@pytest.mark.parametrize("said", ["2", "0/5", "often", "4 in 0", ""])
def test_what_is_no_share(home, said):
    done = here("check", "note.md", "--trust", said, folder=home)
    assert done.returncode == 2 and "[D860]" in done.stderr


def test_evidence_is_likely_words_and_counted_ngrams(home):
    found, _ = flags(home, "--evidence", "--task", "spelling")
    (flag,) = [each for each in found if each["observed"] == "then"]
    candidates = flag["evidence"]["candidates"]
    assert candidates[0]["word"] == "than"
    assert "then" not in {each["word"] for each in candidates}
    assert sum(each["probability"] for each in candidates) == pytest.approx(flag["probability"], abs=1e-3)
    counts = {(each["word"], each["ngram"]): each["count"] for each in flag["evidence"]["counts"]}
    assert {word for word, _ in counts} == {"then", "than"}
    assert counts["than", "better than"] > counts["then", "better then"]
    assert "evidence" not in flags(home, "--task", "spelling")[0][0]


def test_evidence_is_that_of_the_place_also_below_markup_and_code(home):
    (home / "a.py").write_text(
        "x = 1\n" * 2000 + "# The weather was better then we had hoped.\n" + "y = 2\n" * 2000
    )
    done = here("check", "a.py", "--format", "sarif", "--evidence", folder=home)
    (run,) = json.loads(done.stdout)["runs"]
    (result,) = run["results"]
    assert result["properties"]["evidence"]["candidates"][0]["word"] == "than"
    assert result["properties"]["evidence"]["counts"]


@pytest.mark.parametrize("options", [[], ["--format", "github"], ["--diff"], ["--write-baseline", "b.json"]])
def test_evidence_goes_with_reports_for_programs(home, options):
    done = here("check", "note.md", "--evidence", *options, folder=home)
    assert (
        done.returncode == 2 and "--evidence can only be used with --format json, jsonl, sarif" in done.stderr
    )
