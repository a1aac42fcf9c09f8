"""Names of files of any bytes and lengths: each document comes out, or is named in one clear line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Done, here
from fake_models import fakes
from fault_dial import amount, chance
from fault_runs import DRIVER, check

pytestmark = pytest.mark.slow
TEXT = "It was a quite place.\n"
PIECES = (
    b"a",
    b"Z9",
    b" ",
    b"\n",
    b"\r",
    b"\t",
    b"\x1b[31m",
    b"\x07",
    b"\x7f",
    b"\xff\xfe",
    b"\xe9",
    b"\xed\xa0\x80",
    "é".encode(),
    "e\u0301".encode(),
    "\u202e".encode(),
    "\U0001f600".encode(),
    b"-",
    b"--force",
    b"'",
    b'"',
    b"\\",
    b"%s",
    b"{0}",
    b"$(x)",
    b"*",
    b"=1+2",
    b"<b>",
    b"part-00000",
    b"shards",
    b"manifest",
    b".",
    b"..",
)
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


def name_of(numbers) -> bytes:
    """Return the name of a file or folder, without an ending, of up to 255 bytes."""
    length = numbers.choice((1, 3, 8, 40, 240, 251))
    name = b""
    while len(name) < length:
        name += numbers.choice(PIECES) if numbers.random() < 0.8 else numbers.randbytes(2)
    name = name[:length].replace(b"/", b"_").replace(b"\0", b"_")
    return b"x" + name[1:] if name.startswith(b".") else name


def laid(folder: Path, trial: int) -> list[bytes]:
    """Write files under such names; return their paths below the folder."""
    numbers = chance("names", trial)
    found = []
    for _ in range(numbers.randrange(1, 25)):
        place = os.fsencode(folder)
        below = [name_of(numbers) for _ in range(numbers.choice((0, 0, 1, 3)))]
        path = os.path.join(place, *below, name_of(numbers) + b".txt")
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "x") as file:
                file.write(TEXT)
        except OSError:  # taken, or not for this file system
            continue
        found.append(os.path.relpath(path, place))
    return found


@pytest.fixture
def fake(monkeypatch):
    for name, module in fakes().items():
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize(
    "format", ["jsonl", "corrected", "csv", "html", "m2", "parquet", "spacy", "conllu", "text"]
)
def test_a_folder_of_such_names(fake, tmp_path, format):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    for trial in range(amount(3, 500)):
        home = tmp_path / str(trial)
        home.mkdir()
        paths = laid(home / "in", trial)
        if not paths:
            continue
        done = here("annotate", "in", "--format", format, "--output", "out", folder=home)
        said = _lines(done, (format, trial))
        came = _came(home, format, paths)
        check(came + len(said) == len(paths), (format, trial), paths, came, done.stderr)
        check(done.returncode == (2 if said else 0), (format, trial), done.stderr)


def _lines(done: Done, what: object) -> list[str]:
    """Return the lines that name what was left out."""
    check(not _CONTROL.search(done.stderr) and "Traceback" not in done.stderr, what, done.stderr)
    return [line for line in done.stderr.splitlines() if line.startswith("disambig: [D")]


def _came(home: Path, format: str, paths: list[bytes]) -> int:
    """Return how many documents came out."""
    out = home / "out"
    parts = b"".join(path.read_bytes() for path in sorted(out.glob("part-*")) if path.is_file())
    if format == "corrected":
        whole = TEXT.replace("quite", "quiet").encode()
        at = [Path(os.fsdecode(os.path.join(os.fsencode(out), path))) for path in paths]
        return sum(path.is_file() and path.read_bytes() == whole for path in at)
    if format == "jsonl":
        # not splitlines: a name may have U+2028, which JSON does not escape
        return len({json.loads(line)["id"] for line in parts.splitlines()})
    if format == "parquet":
        import pyarrow.parquet

        return sum(pyarrow.parquet.read_table(path).num_rows for path in out.glob("part-*"))
    if format == "spacy":
        from spacy.tokens import DocBin

        return sum(len(DocBin().from_disk(path)) for path in out.glob("part-*"))
    parts.decode()
    marks = {
        "csv": b",quite,",
        "html": b"quite",
        "m2": b"\nA ",
        "conllu": b"\tquite\t",
        "text": b": quite -> ",
    }
    counted = parts.count(marks[format])
    return min(counted, len(paths)) if format == "html" else counted


def test_such_names_as_arguments(tmp_path):
    for trial in range(amount(2, 200)):
        home = tmp_path / str(trial)
        home.mkdir()
        paths = [path for path in laid(home, 10_000 + trial) if b"/" not in path]
        if not paths:
            continue
        command = [sys.executable, str(DRIVER), "annotate", "--format", "jsonl", "--", *paths]
        done = subprocess.run(command, cwd=home, capture_output=True, timeout=120, check=False)
        said = done.stderr.decode()
        check("Traceback" not in said and not _CONTROL.search(said), paths, said)
        check(done.returncode == 0 and done.stdout.count(b"\n") == len(paths), paths, said)
        done.stdout.decode()


def test_outputs_of_such_names(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    for trial in range(amount(2, 200)):
        name = name_of(chance("output", trial)).replace(b".", b"_")[:200] + b".jsonl"
        command = [sys.executable, str(DRIVER), "annotate", "--force", "--output", b"./" + name, "a.txt"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
        said = done.stderr.decode()
        check("Traceback" not in said and not _CONTROL.search(said), name, said)
        path = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name)))
        check(done.returncode == 0 and path.read_bytes().count(b"\n") == 1, name, said)
