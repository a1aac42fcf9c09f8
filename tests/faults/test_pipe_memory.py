"""Very many documents through `nlp.pipe` with the components that ship: memory and strings stay level."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from fault_dial import SEED, amount
from fault_runs import check

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks into /proc"),
]
SCRIPT = """
import gc, json, os, random, sys
import spacy
sys.path[:0] = sys.argv[1].split(os.pathsep)
from fault_runs import own_mb
from test_soak import sentence
n, seed, components = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split()
nlp = spacy.blank("en")
for component in components:
    nlp.add_pipe(component)
numbers = random.Random(seed)
texts = (sentence(numbers, 12) for _ in range(n))
step, samples, decided = max(1, n // 48), [], 0
# small batches, so that there are many: memory moves by some ten megabytes from one to the next
for number, doc in enumerate(nlp.pipe(texts, batch_size=50)):
    decided += sum(map(len, doc.spans.values()))
    if number % step == 0:
        gc.collect()
        samples.append((own_mb(os.getpid()), len(nlp.vocab.strings), len(nlp.vocab)))
print(json.dumps({"samples": samples, "decided": decided}))
"""
MODELS = {"disambig_preposition": "preposition", "disambig_spelling": "spelling", "disambig_it": "it"}


def test_memory_is_level_but_for_the_strings_of_spacy():
    from disambig.packs import available

    components = [name for name, model in MODELS.items() if model in available()]
    if not components:
        pytest.skip("no pack is installed")
    n = amount(8_000, 200_000)  # memory takes one step of 40 MB after some 2,000 documents
    here = Path(__file__).parent
    folders = os.pathsep.join(map(str, (here, here.parent, here.parent / "integration")))
    command = [sys.executable, "-c", SCRIPT, folders, str(n), str(SEED), " ".join(components)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    megabytes, strings, words = zip(*said["samples"], strict=True)
    quarter = len(megabytes) // 4
    second, last = (statistics.median(megabytes[place * quarter : (place + 1) * quarter]) for place in (1, 3))
    print(
        f"{n:,} documents, {said['decided']:,} decisions by {', '.join(components)}: {second:.1f} MB in the "
        f"second quarter, {last:.1f} MB in the last; {strings[-1]:,} strings, {words[-1]:,} words"
    )
    check(said["decided"] > n, "next to nothing was decided")
    check(strings[-1] - strings[quarter] < 100, "strings", strings)
    check(last <= 1.02 * second + 8, f"{second:.1f} MB grew to {last:.1f}", megabytes)
