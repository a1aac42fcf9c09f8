"""Kana to kanji: the Japanese pack beside libkkc, lines a second and mistakes, on sentences read by people.

    DISAMBIG_DATA=... pytest -s -m benchmark tests/benchmarks/test_kana_benchmarks.py

libkkc is Debian's ``libkkc-utils``. ``-s`` shows what was measured; ``KANA_LINES=2000`` asks for so many
lines, not 400. Loading is timed for itself.
"""

from __future__ import annotations

import lzma
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from disambig_boosted_lasso import load_converter
from disambig_boosted_lasso.kana import full_width, has_kanji, normalise_kana

from disambig.api.measures import measure_named, text_costs

pytestmark = pytest.mark.benchmark
LINES = int(os.environ.get("KANA_LINES", "400"))
NATIVE = re.compile(r"[ぁ-んァ-ンー一-龥々、。]+")
SEGMENT = re.compile(r"<([^/>]*)/[^>]*>")


@pytest.fixture(scope="module")
def sentences() -> tuple[list[str], list[str]]:
    """Return what is typed and what is written, of sentences without numbers, Latin letters and signs."""
    if "DISAMBIG_DATA" not in os.environ:
        pytest.skip("no DISAMBIG_DATA")
    found = []
    path = Path(os.environ["DISAMBIG_DATA"], "japanese", "kwdlc.gold.traindev.tsv.xz")
    with lzma.open(path, "rt", encoding="utf8") as file:
        for line in file:
            words = [word.partition("/")[::2] for word in line.rstrip("\n").split("\t")[3].split(" ")]
            written = full_width("".join(surface for surface, _ in words))
            if has_kanji(written) and NATIVE.fullmatch(written):
                found.append((normalise_kana("".join(reading for _, reading in words)), written))
    some = found[:: max(len(found) // LINES, 1)][:LINES]
    return [kana for kana, _ in some], [written for _, written in some]


def said(name: str, seconds: float, texts: list[str], written: list[str]) -> float:
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
    cer = said("disambig_ja", time.process_time() - began, ours, written)
    kkc = shutil.which("kkc")
    if kkc is None:
        pytest.skip("no kkc here: apt-get install libkkc-utils")
    subprocess.run([kkc, "decoder"], input=kana[0] + "\n", capture_output=True, text=True, check=True)
    began = time.perf_counter()
    done = subprocess.run([kkc, "decoder"], input="\n".join(kana) + "\n", capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if "0: <" in line]
    theirs = ["".join(SEGMENT.findall(line)) for line in lines]
    assert len(theirs) == len(kana)
    assert cer < said("libkkc", time.perf_counter() - began, theirs, written)
