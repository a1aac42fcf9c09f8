"""``disambig reproduce`` with the plugins' experiments and data that cannot be used: a line, no traceback."""

from __future__ import annotations

import json
import lzma
import os

import pytest
from commands import here
from disambig_variance_svm import COUNTED, DOMAINS, HELD_OUT, PACK_HELD_OUT, QUICK_COUNTED

from disambig.training import split

EXPERIMENTS = ("table1", "table2", "table3", "domains", "peers")
SAYING = "We went {} the house with bread and saw the {} of {} .\n"
PREPOSITIONS = "in on of to with from at for".split()
WORDS = "among between amount number cite sight site peace piece raise rise".split()
QA = "a\tb\tc\td\tI saw [[it]] . >>>>> [[It]] is true that {} .\t2,1\n"
ROW = "{}\t{}\t_\tX\tX\t_\t{}\t{}\t_\t_\n"
SENTENCE = ROW.format(1, "It", 2, "expl") + ROW.format(2, "rains", 0, "root") + "\n"


def paragraphs(n):
    return "".join(
        SAYING.format(PREPOSITIONS[i % 8], WORDS[i % 11], f"{WORDS[(3 * i + 1) % 11]} {i}") for i in range(n)
    )


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return a directory with all files that experiments need, each as small as can be."""
    monkeypatch.setenv("DISAMBIG_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DISAMBIG_PEERS", raising=False)
    home = tmp_path / "data"
    for folder in ("english", "labelled/qa-it", "labelled/ewt"):
        (home / folder).mkdir(parents=True)
    for name in {*COUNTED, *HELD_OUT, *PACK_HELD_OUT}:
        pack(home / name, paragraphs(3 if DOMAINS[0] in name or name == QUICK_COUNTED[0] else 0))
    (home / "labelled/qa-it/qa-it-v1.0.tsv").write_text(QA.format(1) + QA.format(2), encoding="utf8")
    pack(home / "labelled/ewt/a.train.conllu.xz", f"# newdoc id = d\n{SENTENCE}{SENTENCE}")
    return home


def pack(path, text):
    path.write_bytes(lzma.compress(text if isinstance(text, bytes) else text.encode()))


def run(name, data):
    done = here("reproduce", f"bergsma2010.{name}", "--quick", "--data", data)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    return done.stderr


def cut_short(path):
    path.write_bytes(lzma.compress(os.urandom(5000))[:3000])


def no_xz(path):
    path.write_bytes(b"no xz file")


def no_utf8(path):
    pack(path, b"caf\xe9 at the corner\n")


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize(("spoil", "code"), [(cut_short, "D30"), (no_xz, "D308"), (no_utf8, "D304")])
def test_a_damaged_text_is_named(data, name, spoil, code):
    path = data / (QUICK_COUNTED if name == "table3" else HELD_OUT)[0]
    spoil(path)
    output = run(name, data)
    assert f"[{code}" in output and str(path) in output


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_held_out_text_is_read_before_the_counting(data, name):
    for part in ("train", "heldout"):
        no_xz(data / "english" / f"{DOMAINS[0]}.{part}.txt.xz")
    assert HELD_OUT[0] in run(name, data)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_too_few_examples_are_an_error(data, name):
    assert "[D725]" in run(name, data)


@pytest.mark.parametrize(
    ("name", "missing"),
    [("table3", COUNTED[3]), ("domains", HELD_OUT[-1]), ("peers", PACK_HELD_OUT[-1])],
)
def test_every_domain_is_needed(data, name, missing):
    (data / missing).unlink()
    assert f"[D721] bergsma2010.{name} needs {missing}" in run(name, data)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_other_domains_are_not_read(data, name):
    for part in ("train", "heldout"):
        no_xz(data / "english" / f"another.{part}.txt.xz")
    assert "[D725]" in run(name, data)  # too few examples, no damaged file


@pytest.mark.parametrize(
    ("file", "text", "output"),
    [
        ("qa-it/qa-it-v1.0.tsv", QA.format(1) + "a\tb\n", "[D460] {path}, line 2: 2 columns"),
        ("qa-it/qa-it-v1.0.tsv", QA.format(1).replace("2,1", "2"), "line 1: 2 places in [[ ]] and 1 classes"),
        ("ewt/a.train.conllu.xz", SENTENCE + "1\tIt\n", "[D324] {path}: line 4: 2 columns"),
        ("ewt/a.train.conllu.xz", ROW.format("one", "It", 2, "expl"), "line 1: invalid id 'one'"),
    ],
)
def test_a_malformed_line_of_labelled_examples_is_named(data, file, text, output):
    path = data / "labelled" / file
    if path.suffix == ".xz":
        pack(path, text)
    else:
        path.write_text(text, encoding="utf8")
    no_xz(data / QUICK_COUNTED[0])  # which would be counted only after the examples are read
    assert output.format(path=path) in run("table3", data)


def test_sizes_beyond_the_examples_have_no_figures(data, tmp_path):
    parts = split(paragraphs(30).splitlines(keepends=True))
    pack(data / HELD_OUT[0], "".join(texts[0] for texts in parts.values()))
    target = tmp_path / "result.json"
    done = here("reproduce", "bergsma2010.table1", "--quick", "--data", data, "--json", target)
    assert done.returncode == 0
    output = json.loads(target.read_text(encoding="utf8"))
    tried = {row["setting"]: row["ours"] for row in output["rows"] if row["system"] == "VAR-SVM"}
    assert tried == {"10": None, "100": None, "1000": None} and output["claims"] == []
