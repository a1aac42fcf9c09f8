"""Hours of work, and the memory of `nlp.pipe`: what is used does not grow."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest
from fault_tools import DIAL, REAL, SEED, amount, begun, chance, check, members, own_mb, until, workers
from lsp_wire import Wire
from running_server import running as running_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks into /proc"),
]

SECONDS = amount(6, 3_600)
PAUSE = 0.25 if SECONDS < 600 else 2.0
"""Seconds between two samples."""
WARM, LEAST = 40, 20
"""Answers of a server before the first sample, and its minimum number of samples."""
MORE, SHARE = 8.0, 0.05
"""Megabytes, and of its own memory, that the last quarter may have more than the second."""
SENTENCES = (
    "{} waited at the old bridge until {}.",
    "The weather was quite pleasant, and {} went to the river.",
    "It was a quiet place in {}, and they lived there.",
    "{} accepted their advice in {}.",
    "They have had peace since {}, except in the north.",
    "He worked in {} for a year, then moved to {}.",
    "Maybe {} will lose a piece of the cake.",
    "It affects the house of {} more than it should.",
)
NAMES = ("Russia", "Rome", "Monday", "Anna", "Peter", "Lisbon", "1997", "2001", "May", "Ida", "Omar", "York")


def sentence(numbers: random.Random, most: int = 40) -> str:
    """Return a line with some plain sentences, of up to about `most` words.

    Words in random order would nearly all look wrong and be looked at twice, as in no text that people write.
    """
    chosen = numbers.choices(SENTENCES, k=numbers.randrange(1, 2 + most // 20))
    return " ".join(text.format(*numbers.choices(NAMES, k=text.count("{}"))) for text in chosen) + "\n"


def fed(running, numbers: random.Random, over: threading.Event) -> None:
    """Write lines to a command until its time is over."""
    with contextlib.suppress(BrokenPipeError, ValueError):
        while not over.is_set():
            running.stdin.write("".join(sentence(numbers) for _ in range(200)).encode())
        running.stdin.close()


@pytest.mark.parametrize("kind", ["stream", "job", *(["dask"] if DIAL != "short" else [])])
def test_memory_is_level(tmp_path, kind):
    from disambig.packs import available

    if not available():
        pytest.skip("no pack is installed")
    if kind == "dask":
        pytest.importorskip("distributed")
    numbers = chance("soak", kind)
    over = threading.Event()
    files = [open(tmp_path / name, "wb") for name in ("said", "stream")]  # noqa: SIM115
    streams: dict[str, object] = {"stderr": files[0], "stdout": files[1]}
    options: tuple[object, ...] = ("--only-flags", "--no-text", "--workers", 2)
    if kind == "stream":
        streams["stdin"] = subprocess.PIPE
        options = ("-", "--from", "lines", *options)
    else:
        _corpus(tmp_path / "in", numbers)
        options = ("in", "--lines", "--shard-size", "0.05", "--output", "out", *options)
        options += ("--engine", "dask") if kind == "dask" else ()
    running = begun("annotate", *options, folder=tmp_path, python=REAL, **streams)
    try:
        if kind == "stream":
            threading.Thread(target=fed, args=(running, numbers, over), daemon=True).start()
        until(lambda: _warm(tmp_path) or running.poll() is not None, 300, "both workers are warm")
        samples = _sampled(running, time.monotonic() + SECONDS)
        over.set()
        if kind != "stream" and running.poll() is None:
            os.kill(running.pid, signal.SIGTERM)
        status = running.wait(300)
    finally:
        over.set()
        for file in files:
            file.close()
        for pid in members(running.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    text = (tmp_path / "said").read_text(errors="replace")
    check(status in (0, 143) and "Traceback" not in text, kind, status, text)
    check(
        running.pid in samples and len(samples) >= 3, kind, "the command and two workers were seen", samples
    )
    for pid, megabytes in samples.items():
        _level(f"{kind}, {'parent' if pid == running.pid else 'worker'}", megabytes)


def test_memory_of_the_server_is_level(tmp_path):
    """Texts of many sizes, each of them new, one request at a time."""
    numbers = chance("soak", "server")
    with running_server(folder=tmp_path) as (port, process), ExitStack() as stack:
        sampler = _Sampler(process.pid)
        connection = stack.enter_context(closing(HTTPConnection("127.0.0.1", port, timeout=60)))
        while sampler.goes_on():
            text = "".join(sentence(numbers) for _ in range(numbers.randrange(1, 60)))
            connection.request("POST", "/v2/check", urlencode({"language": "en", "text": text}), FORM)
            response = connection.getresponse()
            body = response.read()
            check(response.status == 200, "server", response.status, body[:200])
    _level("server", sampler.samples)


def test_memory_of_the_language_server_is_level(tmp_path):
    """A document that is edited line by line, among others that are opened and closed."""
    numbers, version = chance("soak", "lsp"), 1
    with Wire.started(tmp_path) as wire:
        wire.initialize()
        wire.open("It was a quiet place.\n" * 40)
        wire.diagnostics(version)
        sampler = _Sampler(wire.process.pid)
        while sampler.goes_on():
            version += 1
            line = numbers.randrange(40)
            places = {"start": {"line": line, "character": 0}, "end": {"line": line + 1, "character": 0}}
            wire.change(version, {"range": places, "text": sentence(numbers)})
            wire.diagnostics(version)
            if version % 10 == 0:
                uri = f"file:///nowhere/{version}.md"
                wire.open("".join(sentence(numbers) for _ in range(20)), uri)
                wire.next(lambda message, uri=uri: message.get("params", {}).get("uri") == uri)
                wire.send("textDocument/didClose", {"textDocument": {"uri": uri}})
            wire.seen.clear()
        check(wire.end() == 0, "lsp")
    _level("language server", sampler.samples)


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class _Sampler:
    """Samples of the memory of a process that answers requests, after the first `WARM` answers."""

    def __init__(self, pid: int) -> None:
        self.samples: list[float] = []
        self._pid = pid
        self._answers = -1
        self._next = self._end = 0.0

    def goes_on(self) -> bool:
        """Take a sample if it is time; return False after `SECONDS`, if there are `LEAST` samples."""
        self._answers += 1
        now = time.monotonic()
        if self._answers <= WARM:
            self._next, self._end = now, now + SECONDS
        elif now >= self._next:
            self.samples.append(own_mb(self._pid))
            self._next = now + PAUSE
        return now < self._end or len(self.samples) < LEAST


def _warm(folder: Path) -> bool:
    """Tell whether each worker has had some work."""
    return len([*folder.glob("out/part-*")]) >= 6 or (folder / "stream").stat().st_size > 1_000_000


def _corpus(folder: Path, numbers: random.Random) -> None:
    """Write files enough for the time: one text under many names."""
    folder.mkdir()
    first = folder / "0.txt"
    first.write_text("".join(sentence(numbers) for _ in range(1500)))
    for number in range(1, 20 + SECONDS * 6):
        os.link(first, folder / f"{number}.txt")


def _sampled(running, end: float) -> dict[int, list[float]]:
    """Return the memory of the command and each worker, in megabytes, from its first steady moment on."""
    samples: dict[int, list[float]] = defaultdict(list)
    while time.monotonic() < end and running.poll() is None:
        for pid in (running.pid, *workers(running.pid)):
            samples[pid].append(own_mb(pid))
        time.sleep(PAUSE)
    return samples


def _level(who: str, megabytes: list[float]) -> None:
    quarter = len(megabytes) // 4
    check(quarter > 3, who, "too few samples", megabytes)
    second, last = (statistics.median(megabytes[place * quarter : (place + 1) * quarter]) for place in (1, 3))
    n = len(megabytes)
    print(f"{who}: {second:.1f} MB in the second quarter, {last:.1f} MB in the last, of {n} samples")
    room = (MORE if DIAL != "short" else 4 * MORE) + SHARE * second  # some seconds are hardly warm
    check(
        last <= second + room,
        who,
        f"{second:.1f} MB grew to {last:.1f}",
        megabytes[:: max(1, n // 50)],
    )


SCRIPT = """
import gc, json, os, random, sys
import spacy
sys.path[:0] = sys.argv[1].split(os.pathsep)
from fault_tools import own_mb
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
    report = json.loads(done.stdout)
    megabytes, strings, words = zip(*report["samples"], strict=True)
    quarter = len(megabytes) // 4
    second, last = (statistics.median(megabytes[place * quarter : (place + 1) * quarter]) for place in (1, 3))
    print(
        f"{n:,} documents, {report['decided']:,} decisions by {', '.join(components)}: {second:.1f} MB in "
        f"the second quarter, {last:.1f} MB in the last; {strings[-1]:,} strings, {words[-1]:,} words"
    )
    check(report["decided"] > n, "next to nothing was decided")
    check(strings[-1] - strings[quarter] < 100, "strings", strings)
    check(last <= 1.02 * second + 8, f"{second:.1f} MB grew to {last:.1f}", megabytes)
