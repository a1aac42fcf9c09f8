"""``disambig convert`` and ``disambig adapt`` from the shell, with a converter of our own sentences."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from commands import here, process

from disambig.errors import UserError

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "plugins"))

from kana_folders import KANA, WRITTEN, folder_of

TEXT = ["私は橋を渡る。", "猫は庭にいる。", "鳥は庭で鳴く。", "彼は毎日パンを食べる。", "子が泣く。"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return folder_of(tmp_path_factory.mktemp("convert"))


def test_a_line_in_a_line_out(home, tmp_path):
    given = "\n".join([*KANA, "", "ﾈｺ ABC", "x" * 10_000]) + "\n"
    done = here("convert", "--model", home, given=given)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [*WRITTEN, "", "猫 ABC", "x" * 10_000]
    (tmp_path / "a.txt").write_text(given, encoding="utf8")
    assert here("convert", "a.txt", "--model", home, "-o", "b.txt", folder=tmp_path).returncode == 0
    assert (tmp_path / "b.txt").read_text(encoding="utf8") == done.stdout
    assert "D310" in here("convert", "a.txt", "--model", home, "-o", "b.txt", folder=tmp_path).stderr
    assert here("convert", "--model", home, given="").stdout == ""


def test_the_best_ones_with_scores_and_a_domain(home):
    done = here("convert", "--model", home, "--nbest", "2", "--no-rerank", given="はし\nねこ\n")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "2", "2"]
    assert [row[2] for row in rows[:3]] == ["橋", "箸", "猫"]
    domain = here("convert", "--model", home, "--domain", "eating", "--no-rerank", given="はしをわたる。\n")
    assert domain.stdout == "箸を渡る。\n"


def test_lists_that_a_model_is_trained_from(home, tmp_path):
    made = here("convert", "--model", home, "--format", "jsonl", given="\n".join(KANA * 10) + "\n")
    lines = [json.loads(line) for line in made.stdout.splitlines()]
    assert len(lines) == 40
    told = [
        {**line, "reference": WRITTEN[number % 4], "document": str(number)}
        for number, line in enumerate(lines)
    ]
    (tmp_path / "lists.jsonl").write_text("\n".join(map(json.dumps, told)) + "\n", encoding="utf8")
    config = Path(__file__).parents[2] / "plugins" / "disambig_boosted_lasso" / "kana_kanji.cfg"
    said = config.read_text(encoding="utf8").replace('"disambig_ja"', json.dumps(str(home / "converter")))
    (tmp_path / "my.cfg").write_text(said, encoding="utf8")
    done = here("train", "my.cfg", "--lists", "lists.jsonl", "--output", "model", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "digest = " in (tmp_path / "model" / "config.cfg").read_text(encoding="utf8")
    ranked = here("convert", "--model", "model", given="\n".join(KANA) + "\n", folder=tmp_path)
    assert ranked.stdout.splitlines() == WRITTEN


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--nbest", "0"], "D675"),
        (["--format", "csv"], "D671"),
        (["--domain", "cooking"], "D692"),
        (["--model", "nothing_ja"], "D901"),
        (["--model", __file__], "D943"),
        (["gone.txt"], "D300"),
    ],
)
def test_what_is_wrong_is_one_line(home, options, code):
    done = here("convert", "--model", home, *options, given="ねこ\n")
    assert done.returncode == 2
    assert done.stderr.startswith(f"disambig: [{code}]") and done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize(("end", "status"), [("interrupt", 130), ("closed output", 1), ("end", 0)])
def test_it_answers_at_once_and_ends_well_while_more_may_come(home, end, status):
    command = [sys.executable, "-m", "disambig.cli.main", "convert", "--model", str(home), "-q"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes) as run:
        for kana, written in (("ねこ\n", "猫\n"), ("はし\n", "橋\n")):
            run.stdin.write(kana.encode())
            run.stdin.flush()
            assert run.stdout.readline().decode() == written
        if end == "interrupt":
            run.send_signal(signal.SIGINT)
        elif end == "closed output":
            run.stdout.close()
            run.stdin.write("ねこ\n".encode())
            run.stdin.flush()
        else:
            run.stdin.close()
        assert run.wait(60) == status
        assert run.stderr.read() == b""


@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_shows_that_the_converter_is_loaded(home, quiet):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "disambig.cli.main", "convert", "--model", str(home)]
    with subprocess.Popen(
        [*command, *(["-q"] if quiet else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    ) as run:
        os.close(theirs)
        shown = b""
        # a terminal whose other end is closed reports an error instead of the end of the file
        with suppress(OSError):
            run.stdin.write("ねこ\n".encode())
            run.stdin.close()
            while part := os.read(ours, 10_000):
                shown += part
        assert run.stdout.read().decode() == "猫\n"
    os.close(ours)
    assert run.returncode == 0
    assert (b"the converter" in shown) is not quiet
    assert not quiet or shown == b""


def test_it_is_quick_to_explain_itself():
    shown = process("convert", "--help").stdout
    assert "--nbest" in shown and "--domain" in shown


def test_adapting_is_refused_before_the_long_work(home, tmp_path):
    (tmp_path / "text.txt").write_text("\n".join(TEXT), encoding="utf8")
    (tmp_path / "there").mkdir()
    said = ["adapt", "text.txt", "--model", home]
    assert "D310" in here(*said, "-o", "there", folder=tmp_path).stderr
    (tmp_path / "there" / "letter.txt").write_text("Dear Ann")
    for force in ([], ["--force"]):
        done = here(*said, "-o", "there", *force, folder=tmp_path)
        assert done.returncode == 2 and done.stderr.startswith("disambig: [D696] there ")
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["letter.txt"]
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    assert "D694" in here(*said, "-o", "new", folder=tmp_path).stderr
    assert "D901" in here("adapt", "text.txt", "--model", "nothing_ja", "-o", "new", folder=tmp_path).stderr
    assert not (tmp_path / "new").exists()


def test_without_sudachi_one_line_says_so(home, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sudachipy", None)
    (tmp_path / "text.txt").write_text("\n".join(TEXT), encoding="utf8")
    done = here("adapt", "text.txt", "--model", home, "-o", "new", folder=tmp_path)
    assert "D670" in done.stderr and "pip install 'sudachipy>=0.7'" in done.stderr and done.returncode == 2


@pytest.mark.parametrize("enough", [10_000, 40])
def test_adapted_to_a_text(home, tmp_path, monkeypatch, enough):
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    from disambig_boosted_lasso.kana import adaptation as adapting

    monkeypatch.setattr(adapting, "ENOUGH", enough)
    lines = [f"{line}{'ね' * (number % 3)}" for number in range(60) for line in [*TEXT, "箸を渡る人がいる。"]]
    (tmp_path / "text.txt").write_text("\n".join(lines), encoding="utf8")
    said = ["adapt", "text.txt", "--model", home, "-o", "new"]
    done = here(*said, "--weight", "0.3", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the old language model weighs 0.30" in done.stderr
    kana = "はしをわたるひとがいる。\n"
    assert here("convert", "--model", "new", given=kana, folder=tmp_path).stdout == "箸を渡る人がいる。\n"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert here(*said, "--force", "--no-rerank", "-q", folder=tmp_path).stderr == ""
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["README.md", "converter"]


def test_a_killed_run_leaves_what_was_there(home, tmp_path, monkeypatch):
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    from disambig_boosted_lasso.kana import adaptation as adapting

    (tmp_path / "text.txt").write_text("\n".join(TEXT * 10), encoding="utf8")
    folder_of(tmp_path, reranker=False)
    (tmp_path / "mine").rename(tmp_path / "new")
    (tmp_path / "new" / "notes").write_text("kept")
    full = UserError("D309", path="new", problem="disk full")
    monkeypatch.setattr(adapting, "error_rate", lambda *_: (_ for _ in ()).throw(full))
    done = here("adapt", "text.txt", "--model", home, "-o", "new", "--force", folder=tmp_path)
    assert "D309" in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name != "text.txt"] == ["new"]
    assert (tmp_path / "new" / "notes").read_text() == "kept"
    assert here("convert", "--model", "new", given="ねこ\n", folder=tmp_path).stdout == "猫\n"
