"""How much of the suite is done and by which seed; commands and their processes; inputs and damage to them.

The environment variable ``DISAMBIG_FAULTS`` is ``short`` (the default), ``whole``, or a share of the whole
such as 0.1. ``DISAMBIG_FAULTS_SEED`` repeats a failed test, which prints its seed.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import lzma
import os
import random
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

DRIVER = Path(__file__).parents[1] / "integration" / "fake_models.py"
FAKE = (str(DRIVER),)
REAL = ("-m", "disambig.cli.main")
LIMIT = 240.0  # seconds after which a command is considered to hang
SECONDS = 60  # the same for a call in this process


@contextlib.contextmanager
def within(what: object):
    """Fail if a block takes longer than `SECONDS`."""

    def end(*_: object) -> None:
        raise AssertionError(f"it hangs: {what}")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def begun(*arguments: object, folder: Path, python: tuple[str, ...] = FAKE, **settings: Any):
    """Start ``disambig ARGUMENTS`` as the leader of a session; temporary files are in `folder`/tmp."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary), **settings.pop("env", {})}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, *python, *map(str, arguments)],
        cwd=folder,
        env=environment,
        start_new_session=True,
        **(streams | settings),
    )


def ended(running: subprocess.Popen, case: object = "") -> str:
    """Wait for a command and return its standard error; fail, naming the case, if it hangs."""
    try:
        return running.communicate(timeout=LIMIT)[1].decode(errors="replace")
    except subprocess.TimeoutExpired:
        left = [named(pid) for pid in members(running.pid)]
        raise AssertionError(f"it hangs: {case} {left}") from None


def members(session: int) -> list[int]:
    """Return the running processes of a session, its leader first."""
    pids = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = _stat(int(entry))
            if len(fields) > 3 and fields[3] == str(session) and fields[0] not in "ZX":
                pids.append(int(entry))
    return sorted(pids, key=lambda pid: (pid != session, pid))


def workers(session: int) -> list[int]:
    """Return the worker processes of a command, local ones or those of Dask."""
    return [pid for pid in members(session) if pid != session and "spawn_main" in named(pid)]


def hears(pid: int, number: int) -> bool:
    """Return True if a process has a handler for a signal, so that the command has started."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def check(holds: object, *what: object) -> None:
    """Fail with a complete description of the case if a condition does not hold."""
    if not holds:
        raise AssertionError("\n".join(map(str, what)))


def named(pid: int) -> str:
    """Return the command line of a process, or "" if it has exited."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def own_mb(pid: int) -> float:
    """Return the private memory of a process without files, in megabytes; 0 if it has exited."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def _stat(pid: int) -> list[str]:
    """Return the fields of ``/proc/PID/stat``, beginning with the state."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def until(holds: Callable[[], object], seconds: float, what: str) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited {seconds} seconds for this: {what}"
        time.sleep(0.02)


def held(job: Path) -> dict[str, Any]:
    """Return the files of a job by name, without values that differ between runs."""
    contents: dict[str, Any] = {}
    for path in sorted(path for path in job.rglob("*") if path.is_file() and path.name != ".lock"):
        name = path.relative_to(job).as_posix()
        contents[name] = path.read_bytes()
        if path.suffix == ".json":
            contents[name] = {**json.loads(contents[name]), "seconds": 0, "command": 0}
    return contents


def leftovers(folder: Path, *, but: Iterable[str] = ()) -> list[str]:
    """Return the temporary files below a folder, including those in its folder tmp."""
    drafts = [str(path) for path in folder.rglob(".tmp-*")]
    return drafts + [name for name in os.listdir(folder / "tmp") if name not in but]


TEXTS = [
    "It was a quite place, in Russia, during 1997.",
    "Zwölf “quoted” words of a naïve text \U0001f600 with 2,5 in it.",
    '=1+2 is, they said, a "cell"; it was\tat rest.',
    "",
    "A long one. " + "The bridge is quiet to the north of it. " * 40,
] * 3
LONG = "\n".join(TEXTS)


def plain() -> bytes:
    return LONG.encode()


def rows() -> bytes:
    return "".join(
        json.dumps({"text": text, "id": f"n{number}", "n": [number]}, ensure_ascii=number % 2 == 0) + "\n"
        for number, text in enumerate(TEXTS)
    ).encode()


def table(mark: str) -> bytes:
    import csv

    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=mark)
    writer.writerow(["id", "text", "note"])
    writer.writerows((f"n{number}", text, "a\nb") for number, text in enumerate(TEXTS))
    return sink.getvalue().encode()


def conllu() -> bytes:
    lines = []
    for number, text in enumerate(filter(None, TEXTS)):
        lines += [f"# newdoc id = d{number}", f"# text = {text}"]
        lines += [
            f"{place}\t{word}" + "\t_" * 7 + "\tSpaceAfter=No" * (place % 3 == 0) + "\t_" * (place % 3 != 0)
            for place, word in enumerate(text.split(), 1)
        ]
        lines.append("")
    return "\n".join([*lines, ""]).encode()


def docbin() -> bytes:
    import spacy
    from spacy.tokens import DocBin

    nlp = spacy.blank("en")
    return DocBin(store_user_data=True, docs=[nlp(text) for text in TEXTS if text]).to_bytes()


def parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    sink = io.BytesIO()
    columns = {"text": TEXTS, "n": list(range(len(TEXTS)))}
    pyarrow.parquet.write_table(pyarrow.table(columns), sink, row_group_size=4)
    return sink.getvalue()


def page() -> bytes:
    return "".join(f"# A title\n\nSome *{text}* and `code`.\n\n" for text in TEXTS).encode()


def lists() -> bytes:
    lists = [
        {"id": f"l{number}", "candidates": [{"text": text, "score": -1.5}, {"text": "else", "score": -2}]}
        for number, text in enumerate(filter(None, TEXTS))
    ]
    return "".join(json.dumps(one) + "\n" for one in lists).encode()


def zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".xz": lzma.compress,
    ".zst": zstd,
}
CORPORA: dict[str, Callable[[], bytes]] = {
    "a.txt": plain,
    "a.md": page,
    "a.tex": page,
    "a.jsonl": rows,
    "a.csv": lambda: table(","),
    "a.tsv": lambda: table("\t"),
    "a.conllu": conllu,
    "a.spacy": docbin,
    "a.parquet": parquet,
    "a.txt.gz": lambda: PACKED[".gz"](plain()),
    "a.jsonl.xz": lambda: PACKED[".xz"](rows()),
    "a.csv.zst": lambda: PACKED[".zst"](table(",")),
}
LEXICAL = """<?xml version="1.0" encoding="utf-8" ?>
<corpus lang="en"><lexelt item="bank.n">
<instance id="bank.n.1" docsrc="a_b"><answer instance="bank.n.1" senseid="shore"/>
<context>The <head>bank</head> of the &frac12; river, <sat id="c:1">up</sat>.</context></instance>
<instance id="bank.n.2"><answer instance="bank.n.2" senseid="money"/>
<context>A <head>bank</head> lends, AT&amp;T.</context></instance></lexelt></corpus>
"""
NOAD = """<SimpleWsdDoc name="written/jokes/a.txt">
<word text="A" break_level="NO_BREAK"/>
<word text="bank" lemma="bank" pos="NOUN" sense="m1.001" break_level="SPACE_BREAK"/>
<word text="lends" lemma="lend" pos="VERB" sense="m2.001" break_level="SPACE_BREAK"/></SimpleWsdDoc>
"""
LABELLED: dict[str, Callable[[], bytes]] = {
    "a.jsonl": lambda: b'{"text": "It rains.", "start": 0, "end": 2, "label": "empty"}\n' * 20,
    "a.tsv": lambda: b"[[It]] rains.\tempty\td1\nIs [[it]] far?\tfull\n" * 10,
    "a.csv": lambda: b'text,label,document\n"It rains, often.",weather,d1\nWe sat.,rest,d2\n' * 5,
    "a.xml": LEXICAL.encode,
    "b.xml": NOAD.encode,
}


def mutated(data: bytes, numbers: random.Random) -> bytes:
    """Return bytes cut short, or changed in one to four ways."""
    for _ in range(numbers.choice((1, 1, 1, 2, 4))):
        first, last = sorted(numbers.randrange(len(data) + 1) for _ in range(2))
        last = min(last, first + numbers.choice((1, 4, 64, 1 << 20)))
        one = first - (first == len(data) > 0)
        data = numbers.choice(
            (
                lambda: data[:first],  # noqa: B023  called at once
                lambda: data[first:],  # noqa: B023
                lambda: data[:first] + data[last:],  # noqa: B023
                lambda: data[:last] + data[first:last] * numbers.choice((1, 2, 50)) + data[last:],  # noqa: B023
                lambda: data[:first] + numbers.randbytes(last - first) + data[last:],  # noqa: B023
                lambda: data[:first] + bytes(last - first) + data[last:],  # noqa: B023
                lambda: data[:one] + bytes([data[one] ^ (1 << numbers.randrange(8))]) + data[one + 1 :],  # noqa: B023
                lambda: data[:first] + numbers.choice(_HOSTILE) + data[first:],  # noqa: B023
            )
        )()
        if not data:
            break
    return data


_HOSTILE = (
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n\n",
    b'"',
    b"\\ud800",
    b"\x1b[2J",
    b"9" * 400,
    b"[" * 2000,
    b"\t" * 12,
    b"\xe2\x80\xae",
)


def inside(name: str, data: bytes, numbers: random.Random) -> bytes:
    """Return a packed file whose packing is sound and whose content is changed."""
    if name.endswith(".spacy"):
        return zlib.compress(mutated(zlib.decompress(data), numbers))
    for suffix, pack in PACKED.items():
        if suffix and name.endswith(suffix):
            made = CORPORA[name.removesuffix(suffix)]()
            return pack(mutated(made, numbers))
    return mutated(data, numbers)


DIAL = os.environ.get("DISAMBIG_FAULTS", "short")
SEED = int(os.environ.get("DISAMBIG_FAULTS_SEED") or random.SystemRandom().randrange(1 << 32))


def amount(short: int, whole: int) -> int:
    """Return how many of something there are: documents, kills, seconds."""
    if DIAL == "short":
        return short
    return whole if DIAL == "whole" else max(short, round(whole * float(DIAL)))


def chance(*what: object) -> random.Random:
    """Return the random numbers of one trial, the same whichever trials were before it."""
    return random.Random(zlib.crc32(repr((SEED, what)).encode()))
