"""``disambig convert`` and ``disambig adapt``, with a small converter and with the Japanese pack."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "plugins" / "boosted_lasso"))

from commands import here
from disambig_boosted_lasso import load_converter
from disambig_boosted_lasso.kana import load_in_domain
from kana_words import KANA, WRITTEN, make_folder

from disambig.errors import UserError
from disambig.packs import pack, packs

TEXT = ["私は橋を渡る。", "猫は庭にいる。", "鳥は庭で鳴く。", "彼は毎日パンを食べる。", "子が泣く。"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("convert"))


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
    lists = here("convert", "--model", home, "--format", "jsonl", given="\n".join(KANA * 10) + "\n")
    lines = [json.loads(line) for line in lists.stdout.splitlines()]
    assert len(lines) == 40
    message = [
        {**line, "reference": WRITTEN[number % 4], "document": str(number)}
        for number, line in enumerate(lines)
    ]
    (tmp_path / "lists.jsonl").write_text("\n".join(map(json.dumps, message)) + "\n", encoding="utf8")
    config = Path(__file__).parents[2] / "plugins" / "disambig_boosted_lasso" / "kana_kanji.cfg"
    output = config.read_text(encoding="utf8").replace('"disambig_ja"', json.dumps(str(home / "converter")))
    (tmp_path / "my.cfg").write_text(output, encoding="utf8")
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
def test_command_errors_are_one_line(home, options, code):
    done = here("convert", "--model", home, *options, given="ねこ\n")
    assert done.returncode == 2
    assert done.stderr.startswith(f"disambig: [{code}]") and done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("end", "status"), [("interrupt", 130), pytest.param("closed output", 141, marks=pytest.mark.slow)]
)
def test_converting_answers_at_once_and_ends_cleanly(home, end, status):
    command = [sys.executable, "-m", "disambig.cli.main", "convert", "--model", str(home), "-q"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes) as run:
        for kana, written in (("ねこ\n", "猫\n"), ("はし\n", "橋\n")):
            run.stdin.write(kana.encode())
            run.stdin.flush()
            assert run.stdout.readline().decode() == written
        if end == "interrupt":
            run.send_signal(signal.SIGINT)
        else:
            run.stdout.close()
            run.stdin.write("ねこ\n".encode())
            run.stdin.flush()
        assert run.wait(60) == status
        assert run.stderr.read() == b""


@pytest.mark.parametrize("quiet", [False, pytest.param(True, marks=pytest.mark.slow)])
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


def test_adapting_is_refused_before_the_long_work(home, tmp_path):
    (tmp_path / "text.txt").write_text("\n".join(TEXT), encoding="utf8")
    (tmp_path / "there").mkdir()
    output = ["adapt", "text.txt", "--model", home]
    assert "D310" in here(*output, "-o", "there", folder=tmp_path).stderr
    (tmp_path / "there" / "letter.txt").write_text("Dear Ann")
    for force in ([], ["--force"]):
        done = here(*output, "-o", "there", *force, folder=tmp_path)
        assert done.returncode == 2 and done.stderr.startswith("disambig: [D696] there ")
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["letter.txt"]
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    assert "D694" in here(*output, "-o", "new", folder=tmp_path).stderr
    assert "D901" in here("adapt", "text.txt", "--model", "nothing_ja", "-o", "new", folder=tmp_path).stderr
    assert not (tmp_path / "new").exists()


def test_without_sudachi_it_is_an_error(home, tmp_path, monkeypatch):
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
    output = ["adapt", "text.txt", "--model", home, "-o", "new"]
    done = here(*output, "--weight", "0.3", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "weight of the original language model 0.30" in done.stderr
    kana = "はしをわたるひとがいる。\n"
    assert here("convert", "--model", "new", given=kana, folder=tmp_path).stdout == "箸を渡る人がいる。\n"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert here(*output, "--force", "--no-rerank", "-q", folder=tmp_path).stderr == ""
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["README.md", "converter"]


def test_a_killed_run_does_not_change_existing_files(home, tmp_path, monkeypatch):
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    from disambig_boosted_lasso.kana import adaptation as adapting

    (tmp_path / "text.txt").write_text("\n".join(TEXT * 10), encoding="utf8")
    make_folder(tmp_path, reranker=False)
    (tmp_path / "mine").rename(tmp_path / "new")
    (tmp_path / "new" / "notes").write_text("kept")
    full = UserError("D309", path="new", problem="disk full")
    monkeypatch.setattr(adapting, "error_rate", lambda *_: (_ for _ in ()).throw(full))
    done = here("adapt", "text.txt", "--model", home, "-o", "new", "--force", folder=tmp_path)
    assert "D309" in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name != "text.txt"] == ["new"]
    assert (tmp_path / "new" / "notes").read_text() == "kept"
    assert here("convert", "--model", "new", given="ねこ\n", folder=tmp_path).stdout == "猫\n"


ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "corpora" / "disambig_ja"
EVERYDAY = ROOT / "tests" / "texts" / "kana.tsv"
DOMAINS = ("dialogue", "encyclopedia", "law", "news", "novels")


@cache
def shipped_converter():
    """Return the converter of the pack, which takes many seconds to load."""
    return load_converter()


def everyday():
    """Return sentences written for this test: typed kana and the intended text."""
    lines = EVERYDAY.read_text(encoding="utf8").splitlines()
    pairs = [line.split("\t") for line in lines if not line.startswith("#")]
    return [kana for kana, _ in pairs], [written for _, written in pairs]


def test_without_the_pack_one_line_says_what_to_install():
    if "disambig_ja" in packs():
        pytest.skip("the pack is installed here")
    with pytest.raises(UserError, match=r"D901.*pip install ./corpora/disambig_ja"):
        load_converter()


def test_everyday_sentences_are_converted_correctly(japanese_pack):
    """Of eighty sentences; about half of the others are spelling variants, half wrong homophones."""
    conversion = shipped_converter()
    kana, written = everyday()
    lists = conversion.nbest(kana)
    right = [result[0].text == expected for result, expected in zip(lists, written, strict=True)]
    assert len(right) == 80
    assert sum(right) >= 60
    within = [
        expected in {item.text for item in result} for result, expected in zip(lists, written, strict=True)
    ]
    assert sum(within) >= 78


def test_readings_in_di_and_du_are_both_accepted(japanese_pack):
    conversion = shipped_converter()
    typed = {"はなぢ": "鼻血", "はなじ": "鼻血", "みぢか": "身近", "まぢか": "間近", "てぢか": "手近"}
    assert conversion.best([f"{kana}なものです。" for kana in typed]) == [
        f"{written}なものです。" for written in typed.values()
    ]
    assert conversion.best(["ふかくうなづいた。"]) == ["深く頷いた。"]


def test_variants_of_input_convert_alike(japanese_pack):
    given = ["ｷｮｳﾊ ｱﾒﾃﾞｽ｡", "", "キョウハ", "Hello, 2026!", "きょうはあめです。" * 1200]
    lines = shipped_converter().best(given)
    assert lines[1] == "" and lines[3] == "Hello, 2026!"
    assert lines[0].endswith("雨です。") and lines[2].startswith("今日")
    assert lines[4] == "今日は雨です。" * 1200


@pytest.mark.slow  # building the tables of each takes seconds
@pytest.mark.parametrize("domain", DOMAINS)
def test_every_domain_converts(japanese_pack, domain):
    folder = pack("disambig_ja").folders["converter"]
    converter = load_in_domain(shipped_converter().converter, folder, domain)
    assert converter.best(["にほんごをべんきょうする。"]) == ["日本語を勉強する。"]


def test_the_domains_are_those_of_the_card(japanese_pack):
    place = pack("disambig_ja").folders["converter"] / "domains"
    assert sorted(path.name for path in place.iterdir()) == sorted(DOMAINS)
    assert "D692" in here("convert", "--domain", "sports", given="").stderr


def test_the_pack_describes_itself(japanese_pack):
    shipped_pack = pack("disambig_ja")
    assert (shipped_pack.language, shipped_pack.counts, shipped_pack.models) == ("ja", None, {})
    assert shipped_converter().reranker is None
    card = (SOURCE / "README.md").read_text(encoding="utf8")
    sources = ("SudachiDict", "wordfreq", "Mozc", "NOTICE", "KWDLC")
    for output in ("CC BY-SA 4.0", "CC BY 2.5", "CC BY 2.0 FR", *sources):
        assert output in card
    figures = json.loads((SOURCE / "figures.json").read_text(encoding="utf8"))
    assert not {"livedoor", "kwdlc"} & set(figures["text"])
    checked = figures["checked"]
    assert 100 * checked["first"] / checked["characters"] <= 5.3
    assert figures["nouns"]["right"] / figures["nouns"]["cases"] >= 0.93
    assert figures["sizes"]["all"] < 25


def test_the_doctor_names_it(japanese_pack, short_doctor):
    assert "disambig_ja 0.1.0, language ja" in here("doctor").stdout
