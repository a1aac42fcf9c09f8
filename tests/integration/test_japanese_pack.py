"""The Japanese pack: everyday sentences, its domains, the command line; a distribution of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from commands import here
from disambig_boosted_lasso import load_converter

from disambig.errors import UserError
from disambig.packs import pack, packs

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "corpora" / "disambig_ja"
EVERYDAY = ROOT / "tests" / "texts" / "kana.tsv"
DOMAINS = ("dialogue", "encyclopedia", "law", "news", "novels")


def everyday():
    """Return our own sentences: what is typed, and what is written."""
    lines = EVERYDAY.read_text(encoding="utf8").splitlines()
    pairs = [line.split("\t") for line in lines if not line.startswith("#")]
    return [kana for kana, _ in pairs], [written for _, written in pairs]


def test_without_the_pack_one_line_says_what_to_install():
    if "disambig_ja" in packs():
        pytest.skip("the pack is installed here")
    with pytest.raises(UserError, match=r"D901.*pip install ./corpora/disambig_ja"):
        load_converter()


def test_everyday_sentences_come_out_right(japanese_pack):
    """Of eighty; of the others about half are another way to write it, half wrong homophones."""
    conversion = load_converter()
    kana, written = everyday()
    right = [got == wanted for got, wanted in zip(conversion.best(kana), written, strict=True)]
    assert len(right) == 80
    assert sum(right) >= 60
    lists = conversion.nbest(kana)
    within = [wanted in {each.text for each in found} for found, wanted in zip(lists, written, strict=True)]
    assert sum(within) >= 78


def test_readings_in_di_and_du_are_both_accepted(japanese_pack):
    conversion = load_converter()
    typed = {"はなぢ": "鼻血", "はなじ": "鼻血", "みぢか": "身近", "まぢか": "間近", "てぢか": "手近"}
    assert conversion.best([f"{kana}なものです。" for kana in typed]) == [
        f"{written}なものです。" for written in typed.values()
    ]
    assert conversion.best(["ふかくうなづいた。"]) == ["深く頷いた。"]


def test_what_is_typed_otherwise_comes_out_all_the_same(japanese_pack):
    given = "ｷｮｳﾊ ｱﾒﾃﾞｽ｡\n\nキョウハ\nHello, 2026!\n" + "きょうはあめです。" * 1200 + "\n"
    done = here("convert", "-q", given=given)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, len(lines)) == (0, "", 5)
    assert lines[1] == "" and lines[3] == "Hello, 2026!"
    assert lines[0].endswith("雨です。") and lines[2].startswith("今日")
    assert lines[4] == "今日は雨です。" * 1200


@pytest.mark.parametrize(  # each is loaded for seconds, in the same way
    "domain", [DOMAINS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in DOMAINS[1:])]
)
def test_every_domain_converts(japanese_pack, domain):
    done = here("convert", "--domain", domain, "-q", given="にほんごをべんきょうする。\n")
    assert done.stdout == "日本語を勉強する。\n"


def test_the_domains_are_those_of_the_card(japanese_pack):
    place = pack("disambig_ja").folders["converter"] / "domains"
    assert sorted(path.name for path in place.iterdir()) == sorted(DOMAINS)
    assert "D692" in here("convert", "--domain", "sports", given="").stderr


def test_the_pack_says_what_it_is(japanese_pack):
    known = pack("disambig_ja")
    assert (known.language, known.counts, known.models) == ("ja", None, {})
    assert load_converter("disambig_ja", domain="news").reranker is None
    card = (SOURCE / "README.md").read_text(encoding="utf8")
    sources = ("SudachiDict", "wordfreq", "Mozc", "NOTICE", "KWDLC")
    for said in ("CC BY-SA 4.0", "CC BY 2.5", "CC BY 2.0 FR", *sources):
        assert said in card
    figures = json.loads((SOURCE / "figures.json").read_text(encoding="utf8"))
    assert not {"livedoor", "kwdlc"} & set(figures["text"])
    checked = figures["checked"]
    assert 100 * checked["first"] / checked["characters"] <= 5.3
    assert figures["nouns"]["right"] / figures["nouns"]["cases"] >= 0.93
    assert figures["sizes"]["all"] < 25


def test_the_doctor_names_it(japanese_pack):
    assert "disambig_ja 0.1.0, language ja" in here("doctor").stdout


@pytest.mark.slow
def test_it_is_built_and_found_as_a_distribution_of_its_own(tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w"]
    subprocess.run([*command, str(tmp_path), str(SOURCE)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("disambig_ja-*.whl")
    assert wheel.stat().st_size < 25e6
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert {"disambig_ja/models/converter/lexicon.npz", "disambig_ja/NOTICE"} <= set(names)
    assert not [name for name in names if name.endswith((".py", ".toml"))]
    paths = [str(tmp_path / "site"), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    done = subprocess.run(
        [sys.executable, "-m", "disambig.cli.main", "convert", "-q"],
        input="にほんごをべんきょうする。\n".encode(),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == "日本語を勉強する。\n"
