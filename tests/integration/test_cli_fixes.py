"""``disambig evaluate --fixes``: what it prints, what it refuses; once as a program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from disambig.checking import ModelChecker, decisions_to_edits
from disambig.cli import main
from disambig.cli.evaluating import fixes_lines
from disambig.decision import edit_slots, extend_to_next_word, surviving_edits, task_ranks
from disambig.formats import paragraph_digest, read_clean, read_fixes, read_flag_readings
from disambig.models import annotate

FIXES = [
    ("It was more then we had hoped for.", 12, "then", "than", "confusion", "a", 1),
    ("He did it and than he left.", 14, "than", "then", "confusion", "b", 1),
    ("We wait on the bus.", 8, "on", "for", "preposition", "b", 1),
    ("They accept for the last one.", 12, "for", "", "preposition", "b", 2),
]
CLEAN = ["We saw more than ever before.", "And then they went home for a week."]


def fixes_and_clean(folder):
    rows = [
        {"before": t, "start": s, "end": s + len(o), "old": o, "new": n, "class": c, "repo": r, "tier": tier}
        for t, s, o, n, c, r, tier in FIXES
    ]
    texts = [{"text": text, "repo": repo} for text, repo in zip(CLEAN, "ab", strict=True)]
    paths = folder / "fixes.jsonl", folder / "clean.jsonl"
    for path, each in zip(paths, (rows, texts), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in each), encoding="utf8")
    return tuple(map(str, paths))


def readings_of_flags(folder):
    """Readings of two flags in a paragraph of its own: of a mistake and of an accepted form."""
    text = "We wait in a quite place and see more then one of them."
    rows = []
    for old, new, about in (
        ("then", "than", {"label": "mistake", "right": True}),
        ("quite", "quiet", {"label": "taste"}),
    ):
        start = text.index(old)
        place = {"start": start, "end": start + len(old), "new": new}
        rows.append({"paragraph": paragraph_digest(text), **place, **about})
    paths = folder / "unread.jsonl", folder / "readings.jsonl"
    paths[0].write_text(json.dumps({"text": text, "repo": "c"}), encoding="utf8")
    paths[1].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return tuple(map(str, paths))


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as caught:
        main.run(["evaluate", *map(str, arguments)])
    said = capsys.readouterr()
    return caught.value.code, said.out, said.err


def test_a_table_of_what_ships(tmp_path, capsys):
    fixes, clean = fixes_and_clean(tmp_path)
    status, out, _ = run(capsys, "--fixes", fixes, "--clean", clean, "--rate", "1", "--rate", "4")
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "read 3 mistakes of 2 projects, 14 clean words of 2 projects"
    assert "disambig_en/preposition" in lines[1] and "disambig_en/spelling" in lines[1]
    table = {line.split()[0]: line.split()[1:] for line in lines[3:]}
    assert table["confusion"][:3] == ["2", "100.0%", "100.0%"]
    assert table["preposition"][0] == "1"
    assert any(line.startswith("false flags per 1,000 clean words: 0.00") for line in lines)
    assert [line.split()[0] for line in lines[-2:]] == ["1", "4"]


def test_json_and_a_plot(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    fixes, clean = fixes_and_clean(tmp_path)
    plot = tmp_path / "rates.svg"
    arguments = ("spelling", "--fixes", fixes, "--clean", clean, "--tier", 2, "--json", "--plot", plot)
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    said = json.loads(out)
    assert (said["all"]["n"], said["tier"], list(said["rates"])) == (4, 2, ["spelling"])
    assert [point["rate"] for point in said["curve"]] == [0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0]
    assert said["clean"]["words"] == 14
    assert "mistakes rightly corrected" in plot.read_text(encoding="utf8")


def test_rates_that_are_shared_or_one_a_task(tmp_path, capsys):
    fixes, _ = fixes_and_clean(tmp_path)

    def rates(*asked):
        said = run(capsys, "preposition+spelling", "--fixes", fixes, "--json", *asked)[1]
        return json.loads(said)["rates"]

    own = rates()
    assert sum(rates("--flags-per-1000", 1.5).values()) == pytest.approx(1.5)
    assert rates("--flags-per-1000", "spelling=0") == own | {"spelling": 0.0}
    lines = run(capsys, "spelling", "--fixes", fixes, "--flags-per-1000", 0)[1].splitlines()
    assert lines[1].endswith("set to flags per 1,000 words: spelling 0")
    assert lines[3].split()[:3] == ["all", "3", "0.0%"]


def test_two_checkers(tmp_path, capsys):
    fixes, clean = fixes_and_clean(tmp_path)
    status, out, _ = run(capsys, "preposition", "preposition+spelling", "--fixes", fixes, "--clean", clean)
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "rightly corrected (more is better) of 3 examples:"
    assert any("bootstrap over 2 projects" in line for line in lines)
    assert [line.split()[0] for line in lines if "disambig_en/spelling" in line] == ["B", "B"]


def test_files_without_clean_text_or_with_one_project(tmp_path, capsys):
    fixes, _ = fixes_and_clean(tmp_path)
    rows = Path(fixes).read_text(encoding="utf8").splitlines()
    Path(fixes).write_text(rows[0], encoding="utf8")
    status, out, _ = run(capsys, "spelling", "--fixes", fixes)
    assert status == 0
    assert "read 1 mistake of 1 project\n" in out and " to " not in out.split("set to", 1)[1]


def test_flags_that_were_read(tmp_path, capsys):
    fixes, _ = fixes_and_clean(tmp_path)
    clean, readings = readings_of_flags(tmp_path)
    arguments = ("spelling", "--fixes", fixes, "--clean", clean, "--readings", readings, "--rate", 4)
    status, out, _ = run(capsys, *arguments, "--json")
    at = json.loads(out)["clean"]
    counts = {name: line["flags"] for name, line in at["readings"].items()}
    assert (status, at["n_readings"], at["flags"], at["readings"]["mistake"]["right"]) == (0, 2, 2, 1)
    assert counts == {"mistake": 1, "taste": 1, "wrong": 0, "unread": 0, "wrong_or_unread": 0}
    lines = run(capsys, *arguments)[1].splitlines()
    assert "2 of 2 flags in clean text were read; per 1,000 words:" in lines
    assert lines[-2].endswith("plainly wrong") and lines[-1].endswith("0.00")
    Path(readings).write_text(Path(readings).read_text("utf8").splitlines()[1], "utf8")
    lines = run(capsys, *arguments)[1].splitlines()
    assert "1 of 2 flags in clean text were read; per 1,000 words:" in lines
    assert lines[-1].endswith("0.00, at most 76.92")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["tag", "--fixes", "F"], "D644"),
        (["spelling+spelling", "--fixes", "F"], "D333"),
        (["nothing", "--fixes", "F"], "D404"),
        (["--fixes", "none.jsonl"], "D300"),
        (["--fixes", "C"], "D345"),
        (["--fixes", "F", "--rate", "-1"], "--rate"),
        (["--fixes", "F", "--labelled", "x.tsv"], "--fixes can only be combined with"),
        (["a", "b", "c", "--fixes", "F"], "one or two models"),
        (["a", "b", "--fixes", "F", "--rate", "1"], "one or two models"),
        (["spelling", "--fixes", "F", "--flags-per-1000", "article=1"], "D950"),
        (["spelling", "--fixes", "F", "--flags-per-1000", "many"], "D951"),
        (["spelling", "text.txt", "--flags-per-1000", "1"], "requires --fixes FILE"),
        (["spelling", "--clean", "C"], "--clean requires --fixes"),
        (["spelling", "--readings", "R"], "--readings requires --fixes"),
        (["--fixes", "F", "--readings", "R"], "--readings requires --clean"),
        (["--fixes", "F", "--clean", "C", "--readings", "C"], "D345"),
        ([], "MODEL is required"),
    ],
)
def test_what_is_refused(tmp_path, capsys, arguments, problem):
    fixes, clean = fixes_and_clean(tmp_path)
    status, _, err = run(capsys, *({"F": fixes, "C": clean}.get(each, each) for each in arguments))
    assert status == 2
    assert problem in " ".join(err.replace("│", " ").split())


def test_as_a_program(tmp_path):
    fixes, _ = fixes_and_clean(tmp_path)
    clean, readings = readings_of_flags(tmp_path)
    arguments = ["evaluate", "spelling", "--fixes", fixes, "--clean", clean, "--readings", readings, "--json"]
    code = "import sys; from disambig.cli.main import run; run(sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["classes"]["confusion"]["right"] == 1.0
    assert printed["clean"]["readings"]["mistake"]["right"] == 1


def one_each(edits, text):
    """The edits that stand where several overlap, as `Trial.at` finds them."""
    places = np.array([(edit.start, edit.end) for edit in edits], np.int64).reshape(-1, 2).T
    slots = edit_slots(*places, np.array([edit.new == "" for edit in edits], bool))
    slots = extend_to_next_word(slots, np.zeros(len(edits), np.int64), places[1], [text])
    sure, tasks = np.array([edit.sure for edit in edits]), task_ranks([edit.task for edit in edits])
    stand = np.unique(surviving_edits(np.zeros(len(edits), np.int64), slots, sure, tasks))
    return [edits[i] for i in stand.tolist()]


@pytest.mark.data
@pytest.mark.slow
def test_real_mistakes():
    """At the models' own rates the flags are those that they raise when they are set to nothing else."""
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    folder = Path(data) / "labelled" / "fixes"
    mistakes = read_fixes(folder / "dev.jsonl.xz", tier=1)[:300]
    texts = [each.before for each in mistakes] + [
        each.text for each in read_clean(folder / "clean.dev.jsonl.xz")[:300]
    ]
    checker = ModelChecker.from_names()
    limits = checker.limits()
    above = [
        one_each([e for e in edits if e.sure > limits[e.task]], text)
        for text, edits in zip(texts, checker.edits(texts), strict=True)
    ]
    assert above == decisions_to_edits(annotate(texts, checker.models), texts)
    from disambig.checking import sweep_rates
    from disambig.evaluation import MistakeTrial, mistake_figures

    trial = MistakeTrial.from_checker(checker, mistakes)
    found = mistake_figures(trial, limits)
    assert found["classes"]["confusion"]["right"] > 0.5
    rising = [point["all"]["right"] for point in sweep_rates(checker, trial)]
    assert np.all(np.diff(rising) >= 0) and rising[0] > 0
    assert fixes_lines({"model": "", "rates": {}, "curve": [], **found})[0].startswith("read 300 mistakes")


@pytest.mark.data
def test_the_readings_that_ship():
    """Every reading is of a paragraph of the data, and most flags at the models' own rates were read."""
    data = os.environ.get("DISAMBIG_DATA")
    if not data:
        pytest.skip("DISAMBIG_DATA is not set")
    folder = Path(data) / "labelled" / "fixes"
    readings = read_flag_readings(Path(__file__).parents[2] / "corpora" / "disambig_en" / "readings.jsonl")
    clean = [p for part in ("dev", "test") for p in read_clean(folder / f"clean.{part}.jsonl.xz")]
    texts = {paragraph_digest(paragraph.text): paragraph.text for paragraph in clean}
    assert len(readings) >= 700 and {read.paragraph for read in readings} <= set(texts)
    assert len({(read.paragraph, read.start, read.end, read.new) for read in readings}) == len(readings)
    for read in readings:
        old = texts[read.paragraph][read.start : read.end]
        assert len(old) == read.end - read.start and old.split() != read.new.split()
    from disambig.evaluation import MistakeTrial, mistake_figures

    digests = {read.paragraph for read in readings}
    some = [paragraph for paragraph in clean if paragraph_digest(paragraph.text) in digests][:150]
    checker = ModelChecker.from_names()
    trial = MistakeTrial.from_checker(checker, [], some, readings)
    figures = mistake_figures(trial, checker.limits())["clean"]
    assert figures["flags"] > 20 and figures["readings"]["unread"]["flags"] < 0.2 * figures["flags"]
