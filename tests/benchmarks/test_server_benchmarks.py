"""The overhead of the server and of the language server; the table of speeds of the README.

    pytest -s -m benchmark tests/benchmarks/test_server_benchmarks.py

The server is a process of its own on the loopback address; so are the clients. The models alone are asked in
this process, in the same run. `DISAMBIG_SERVER_SECONDS` says how long all clients ask at once (default 10).
Nothing here fails for being slow: the figures are printed. It fails for a wrong answer, or memory that grows.
"""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from running_server import running

from disambig.checking import find_flags
from disambig.formats import Document
from disambig.markup import read_markup
from disambig.models import ModelSource, annotate_documents

pytestmark = pytest.mark.benchmark
SAMPLES = Path(__file__).parents[2] / "corpora" / "samples"
SECONDS = float(os.environ.get("DISAMBIG_SERVER_SECONDS", "10"))
CLIENTS = 64
ROUNDS = 60

ASKING = """
import http.client, json, sys, threading, time
port, seconds, clients = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
bodies = json.load(sys.stdin)
wrong, took, end = [], [], time.perf_counter() + seconds
def client(number):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    at = number
    while time.perf_counter() < end:
        began = time.perf_counter()
        try:
            connection.request("POST", "/v2/check", bodies[at % len(bodies)])
            answer = connection.getresponse()
            data = answer.read()
            if answer.status != 200 or b'"matches"' not in data:
                wrong.append(answer.status)
        except Exception as problem:
            wrong.append(repr(problem))
            return
        took.append(time.perf_counter() - began)
        at += 1
threads = [threading.Thread(target=client, args=(i,)) for i in range(clients)]
began = time.perf_counter()
[each.start() for each in threads]; [each.join() for each in threads]
print(json.dumps({"wrong": wrong, "took": took, "seconds": time.perf_counter() - began}))
"""


def texts(words=500):
    """Return parts of the samples with the given number of words each."""
    whole = "\n\n".join(path.read_text("utf8") for path in sorted(SAMPLES.glob("*.txt"))).split(" ")
    return [" ".join(whole[at : at + words]) for at in range(0, len(whole) - words, words)]


def run_clients(port, seconds, clients, forms):
    """Return the results of clients in a child process."""
    command = [sys.executable, "-c", ASKING, str(port), str(seconds), str(clients)]
    done = subprocess.run(command, input=json.dumps(forms), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def resident(pid):
    """Return the memory of a process in megabytes; 0 if it is unknown."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def models_alone(some, annotate, together):
    """Return the seconds that the models and the flags of each text take, so many texts in a call."""
    took = []
    for number in range(max(4, ROUNDS // together)):
        began = time.perf_counter()
        chosen = [some[(number + i) % len(some)] for i in range(together)]
        documents = [Document(str(i), text, str(i), kind="json") for i, text in enumerate(chosen)]
        annotated, _ = annotate_documents(documents, annotate)
        for result in annotated:
            text = result.document.text
            find_flags("text", text, read_markup("text", text), result.decisions)
        took.append((time.perf_counter() - began) / together)
    return statistics.median(took)


def test_one_client_and_many():
    some = texts()
    forms = [urlencode({"language": "en-US", "text": text}) for text in some]
    annotate = ModelSource().load_correcting()
    models_alone(some, annotate, CLIENTS)
    with running() as (port, process):
        run_clients(port, 2, 1, forms)
        alone = models_alone(some, annotate, 1)
        one = run_clients(port, 4, 1, forms)
        print(f"\n500 words, one client: median {1000 * statistics.median(one['took']):.1f} ms", end="")
        print(f" of {len(one['took'])} requests; models alone {1000 * alone:.1f} ms")
        at_once = models_alone(some, annotate, CLIENTS)
        run_clients(port, 5, CLIENTS, forms)
        memory = [resident(process.pid)]
        many = run_clients(port, SECONDS, CLIENTS, forms)
        memory.append(resident(process.pid))
        rate = len(many["took"]) / many["seconds"]
        print(f"{CLIENTS} clients, {SECONDS:g} s: {rate:.1f} requests/s, {500 * rate:,.0f} words/s", end="")
        print(f"; models alone, {CLIENTS} texts a call: {1 / at_once:.1f}/s; share {rate * at_once:.2f}")
        print(f"memory before and after: {memory[0]:.0f} and {memory[1]:.0f} MB; wrong: {many['wrong'][:3]}")
    assert not one["wrong"]
    assert not many["wrong"]
    assert memory[1] < memory[0] * 1.15


ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from lsp_wire import Wire, at  # noqa: E402

URI = "file:///nowhere/long.md"
STROKES = 300


def markdown(size: int) -> str:
    """Return that much Markdown: the documents of this repository."""
    texts = [path.read_text("utf8") for path in sorted(ROOT.glob("*/**/*.md")) if ".git" not in path.parts]
    return "\n\n".join(texts)[:size]


def test_start_to_first_diagnostics(tmp_path):
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        with Wire.started(tmp_path) as wire:
            wire.initialize()
            wire.open("It was better then we had hoped.\n")
            assert len(wire.diagnostics(1)["diagnostics"]) == 1
            seconds.append(time.perf_counter() - began)
    print(f"\nstart to first diagnostics: {min(seconds):.2f} s, at most {max(seconds):.2f} s; asked: 3 s")


def test_key_stroke_to_diagnostics(tmp_path):
    text, rng = markdown(100_000), random.Random(20)
    prose = [match.start() for match in re.finditer(r"^[A-Za-z][ -~]{60,}$", text, re.MULTILINE)]
    with Wire.started(tmp_path) as wire:
        wire.initialize()
        wire.open(text, uri=URI)
        began = time.perf_counter()
        wire.diagnostics(1)
        print(f"\nthe whole text, {len(text):,} characters: {time.perf_counter() - began:.2f} s")
        time.sleep(5)  # the kernels are loaded
        milliseconds, version = [], 1
        for number in range(STROKES):
            if number % 10 == 0:
                start = rng.choice(prose)
                line, column = text.count("\n", 0, start), text.index(" ", start + 20) - start + 1
            version += 1
            began = time.perf_counter()
            wire.change(version, {"range": at(line, column), "text": rng.choice("the quite then ")}, uri=URI)
            wire.diagnostics(version)
            milliseconds.append(1000 * (time.perf_counter() - began))
            column += 1
            time.sleep(0.03)
    median, high = np.percentile(milliseconds, [50, 99])
    print(f"key stroke to diagnostics, {STROKES}: median {median:.0f} ms, 99th percentile {high:.0f} ms")
    print("asked: 50 ms and 150 ms")
    assert len(milliseconds) == STROKES


SPEEDS = Path(__file__).with_name("speeds.py")


def test_the_table_has_a_line_for_each_measurement(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("It was a quite place.\n\nThey lived there since 1997 to 2001.\n")
    command = [sys.executable, SPEEDS, text, "--words", "100", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": ""}, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    for name in ("all tasks that correct words", "`preposition` alone", "`disambig check`"):
        assert any(line.startswith(f"| {name} | ") and "not measured" not in line for line in rows)
    (harper,) = (line for line in rows if line.startswith("| Harper | "))
    assert ("not measured: harper is not installed" in harper) == (find_spec("harper") is None)
