"""Parsing with a pruned grammar of a treebank's size, and kana to kanji, on one core.

    DISAMBIG_DATA=... pytest -s -m benchmark tests/benchmarks/test_parser_and_converter_benchmarks.py

The grammar is made (`made_grammar`): 2,000 symbols, some 15,000 rules of two children, 90 coarse symbols. The
whole way is timed: the coarse pass, the pruned chart, the best parse. The Japanese pack is beside libkkc
(Debian's ``libkkc-utils``) on sentences read by people: lines a second and mistakes; ``KANA_LINES=2000`` asks
for so many lines, not 400.
"""

from __future__ import annotations

import lzma
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from disambig_boosted_lasso import load_converter
from disambig_boosted_lasso.kana import full_width, has_kanji, normalise_kana
from made_grammar import MadeGrammar

from disambig.api.measures import measure_named, text_costs
from disambig.decode import ChartParser, Hypergraph

pytestmark = pytest.mark.benchmark
WORDS, SENTENCES, LEAST = 20, 60, 50.0


@pytest.fixture(scope="module")
def made():
    source = MadeGrammar()
    return source.grammar, [source.sentence(WORDS) for _ in range(SENTENCES)]


def rate(work, n, rounds=3):
    """Return how many of `n` a second are done, in the best of some rounds."""
    best = np.inf
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return n / best


def test_sentences_a_second(made):
    grammar, sentences = made
    size = f"{len(grammar.symbols):,} symbols, {len(grammar.binary):,} rules of two children"
    print(f"\n{size}, {len(grammar.coarser.binary):,} coarse ones; sentences of {WORDS} words, one core")
    decoder, rates = Hypergraph(), {}
    for threshold in (1e-3, 1e-4, 1e-5):
        parser = ChartParser(grammar, threshold=threshold)
        parser.best(sentences[:1])
        charts = parser.charts(sentences)
        assert not len(charts.without_parse) and not len(charts.too_large)
        rates[threshold] = rate(lambda parser=parser: parser.best(sentences), SENTENCES)
        decoder.top(charts.scores, charts.graphs, 2)
        others = {
            "charts": lambda parser=parser: parser.charts(sentences),
            "best of a chart": lambda charts=charts: decoder.best(charts.scores, charts.graphs),
            "marginals": lambda charts=charts: decoder.marginals(charts.scores, charts.graphs),
            "50 best": lambda charts=charts: decoder.top(charts.scores, charts.graphs, 50),
        }
        summary = ", ".join(f"{name} {rate(work, SENTENCES):,.0f}" for name, work in others.items())
        edges, retried = len(charts.scores) / SENTENCES, int((charts.thresholds < threshold).sum())
        print(f"{threshold:g}: {edges:,.0f} edges a chart, {retried} retried; a second: ", end="")
        print(f"best parses {rates[threshold]:,.0f}, {summary}")
    assert rates[ChartParser.__dataclass_fields__["threshold"].default] >= LEAST


LINES = int(os.environ.get("KANA_LINES", "400"))
NATIVE = re.compile(r"[ぁ-んァ-ンー一-龥々、。]+")
SEGMENT = re.compile(r"<([^/>]*)/[^>]*>")


@pytest.fixture(scope="module")
def sentences() -> tuple[list[str], list[str]]:
    """Return what is typed and what is written, of sentences without numbers, Latin letters and signs."""
    if "DISAMBIG_DATA" not in os.environ:
        pytest.skip("no DISAMBIG_DATA")
    pairs = []
    path = Path(os.environ["DISAMBIG_DATA"], "japanese", "kwdlc.gold.traindev.tsv.xz")
    with lzma.open(path, "rt", encoding="utf8") as file:
        for line in file:
            words = [word.partition("/")[::2] for word in line.rstrip("\n").split("\t")[3].split(" ")]
            written = full_width("".join(surface for surface, _ in words))
            if has_kanji(written) and NATIVE.fullmatch(written):
                pairs.append((normalise_kana("".join(reading for _, reading in words)), written))
    some = pairs[:: max(len(pairs) // LINES, 1)][:LINES]
    return [kana for kana, _ in some], [written for _, written in some]


def report_speed_and_cer(name: str, seconds: float, texts: list[str], written: list[str]) -> float:
    """Print lines a second and edits for each 100 characters, and return the latter."""
    cer = 100 * float(text_costs(measure_named("cer"), texts, written).sum()) / sum(map(len, written))
    print(f"\n{name}: {len(texts) / seconds:,.0f} lines/s, CER {cer:.2f}")
    return cer


def test_the_pack_beside_libkkc(japanese_pack: Path, sentences: tuple[list[str], list[str]]) -> None:
    kana, written = sentences
    began = time.process_time()
    conversion = load_converter("disambig_ja", rerank=False)
    conversion.best(kana[:5])
    print(f"\nloading and compiling: {time.process_time() - began:.1f} s")
    began = time.process_time()
    ours = conversion.best(kana)
    cer = report_speed_and_cer("disambig_ja", time.process_time() - began, ours, written)
    kkc = shutil.which("kkc")
    if kkc is None:
        pytest.skip("no kkc here: apt-get install libkkc-utils")
    subprocess.run([kkc, "decoder"], input=kana[0] + "\n", capture_output=True, text=True, check=True)
    began = time.perf_counter()
    done = subprocess.run([kkc, "decoder"], input="\n".join(kana) + "\n", capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if "0: <" in line]
    theirs = ["".join(SEGMENT.findall(line)) for line in lines]
    assert len(theirs) == len(kana)
    assert cer < report_speed_and_cer("libkkc", time.perf_counter() - began, theirs, written)
