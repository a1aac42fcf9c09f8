"""Names of any bytes, very many tiny files, and damaged inputs and packs: an error of one line at most."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import Done, here
from disambig_dependencies import load_parser as load_dependency_parser  # before there are fake models
from fake_models import install_fakes
from fault_tools import (
    CORPORA,
    DRIVER,
    LABELLED,
    TEXTS,
    amount,
    begun,
    chance,
    check,
    inside,
    lists,
    mutated,
    within,
)

from disambig.errors import UserError
from disambig.models import annotate, load

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks into /proc"),
]

ROOT = Path(__file__).resolve().parents[2]
MEMORY = 2 << 30
"""Bytes that opening a changed model may take beyond what the process has."""


def _convert(folder: Path) -> object:
    from disambig_boosted_lasso.kana import Converter

    return Converter.load(folder).best(["きょうはいいてんきです"])


def _parse(folder: Path) -> object:
    from disambig_exponentiated_gradient import load_parser

    return [str(tree) for tree in load_parser(folder).parse("The old house fell.")]


def _dependencies(folder: Path) -> object:
    return load_dependency_parser(folder).parse("The old house fell.")


def _decide(folder: Path) -> object:
    text = "Its then that we wanted too see a quite place."
    return [
        [decisions.record(i, text) for i in range(len(decisions))]
        for decisions in annotate([text], [load(folder)])
    ]


MODELS = {
    "kana": (ROOT / "corpora" / "disambig_ja" / "models" / "converter", _convert),
    "dependencies": (
        ROOT / "corpora" / "disambig_en_dependencies" / "models" / "dependencies",
        _dependencies,
    ),
    "parser": (ROOT / "corpora" / "disambig_en_parser" / "models" / "parser", _parse),
    "topic": (ROOT / "tests" / "goldens" / "models" / "topic_Perceptron", _decide),
}
HUGE = (10**12, 2**63, 10**400, -1, 1e308, True, None, "x" * 1000, [[[]]], {})


def changed(path: Path, numbers) -> bytes:
    """Return a file changed anywhere; or with another value in its JSON, or in a member of its archive."""
    data = path.read_bytes()
    way = numbers.randrange(3)
    if path.suffix == ".json" and way:
        value = json.loads(data)
        spot = value
        while isinstance(spot, dict | list) and spot:
            key = numbers.choice(list(spot) if isinstance(spot, dict) else range(len(spot)))
            if not isinstance(spot[key], dict | list) or not spot[key] or numbers.random() < 0.3:
                spot[key] = numbers.choice(HUGE)
                break
            spot = spot[key]
        return json.dumps(value).encode()
    if path.suffix == ".npz" and way:
        return _changed_archive(path, numbers)
    return mutated(data, numbers)


def _changed_archive(path: Path, numbers) -> bytes:
    """Change what is in an archive, so that its own checksums hold; often the shape in the header."""
    import io

    sink = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as new:
        victim = numbers.choice(old.namelist())
        for name in old.namelist():
            data = old.read(name)
            if name == victim:
                head = data[:128]
                if numbers.random() < 0.5 and b"(" in head:
                    at = head.index(b"(") + 1
                    digits = numbers.choice((b"9" * 12, b"1", b"-1", b"0", b"9" * 30))
                    data = data[:at] + digits + data[at + len(digits) :]
                else:
                    data = mutated(data, numbers)
            new.writestr(name, data)
    return sink.getvalue()


@contextmanager
def bounded(what: object):
    """Let a block hang no longer than `within`, and take no more than `MEMORY` bytes of addresses."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, limits[1]))
    try:
        with within(what):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize("name", MODELS)
def test_a_changed_model_gives_a_result_or_one_coded_error(tmp_path, name):
    source, use = MODELS[name]
    use(source)  # what is imported and compiled by it is not part of the bound
    copy = tmp_path / "copy"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("domains"))  # which are not opened here
    files = sorted(path.relative_to(copy) for path in copy.rglob("*") if path.is_file())
    sound = repr(use(copy))
    outcomes = {"the same": 0, "another result": 0, "coded": 0}
    for trial in range(amount(12, 220)):
        numbers = chance("pack", name, trial)
        path = numbers.choice(files)
        (copy / path).write_bytes(changed(source / path, numbers))
        what = ("pack", name, trial, str(path))
        with bounded(what):
            try:
                result = repr(use(copy))
                outcomes["the same" if result == sound else "another result"] += 1
            except UserError as problem:
                outcomes["coded"] += 1
                check("\n" not in str(problem), what, str(problem))
            except Exception as problem:  # whatever is not coded is a fault
                check(False, what, f"{type(problem).__name__}: {problem}")
        shutil.copy2(source / path, copy / path)
    print(name, outcomes)


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


def random_name(numbers) -> bytes:
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
    paths = []
    for _ in range(numbers.randrange(1, 25)):
        place = os.fsencode(folder)
        below = [random_name(numbers) for _ in range(numbers.choice((0, 0, 1, 3)))]
        path = os.path.join(place, *below, random_name(numbers) + b".txt")
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "x") as file:
                file.write(TEXT)
        except OSError:  # taken, or not for this file system
            continue
        paths.append(os.path.relpath(path, place))
    return paths


@pytest.fixture
def fake(monkeypatch):
    install_fakes(monkeypatch)


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
        messages = _lines(done, (format, trial))
        came = _came(home, format, paths)
        check(came + len(messages) == len(paths), (format, trial), paths, came, done.stderr)
        check(done.returncode == (2 if messages else 0), (format, trial), done.stderr)


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
        message = done.stderr.decode()
        check("Traceback" not in message and not _CONTROL.search(message), paths, message)
        check(done.returncode == 0 and done.stdout.count(b"\n") == len(paths), paths, message)
        done.stdout.decode()


def test_outputs_of_such_names(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    for trial in range(amount(2, 200)):
        name = random_name(chance("output", trial)).replace(b".", b"_")[:200] + b".jsonl"
        command = [sys.executable, str(DRIVER), "annotate", "--force", "--output", b"./" + name, "a.txt"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
        message = done.stderr.decode()
        check("Traceback" not in message and not _CONTROL.search(message), name, message)
        path = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name)))
        check(done.returncode == 0 and path.read_bytes().count(b"\n") == 1, name, message)


BASE, EACH = 120.0, 0.0004
"""Megabytes that the parent may take, and in addition for each file."""


def made(folder: Path, files: int) -> None:
    for number in range(files):
        if number % 1000 == 0:
            place = folder / f"{number // 1000:04}"
            place.mkdir(parents=True)
        (place / f"{number % 1000}.txt").write_text(f"File {number} tells of a quite place.\n")


def run(folder: Path, *more: object) -> tuple[str, float, float]:
    """Run the job; return its messages, the peak megabytes of its parent, and its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    most = 0.0
    with open(folder / "log", "w+b") as log:
        running = begun("annotate", "many", *more, "--workers", 2, folder=folder, stderr=log)
        while running.poll() is None:
            most = max(most, _peak(running.pid))
            time.sleep(0.1)
        log.seek(0)
        text = log.read().decode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert running.returncode == 0, text
    return text, most, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _peak(pid: int) -> float:
    try:
        peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0.0
    return int(peak[1]) / 1e3 if peak else 0.0


@pytest.mark.parametrize(
    ("format", "files"), [("jsonl", amount(1_000, 10**6)), ("corrected", amount(300, 10**5))]
)
def test_a_million_of_tiny_files(tmp_path, format, files):
    made(tmp_path / "many", files)
    job = ("--format", format, "--output", "out", "--shard-size", "0.1")
    messages, first, work = run(tmp_path, *job)
    assert f"{files:,} documents" in messages
    documents = _documents(tmp_path / "out", format)
    assert documents == files
    messages, second, again = run(tmp_path, *job)
    assert "nothing left to do: an earlier run finished the job" in messages
    print(f"{files:,} files: {work:.1f} s of processors, then {again:.1f}; {first:.0f} MB, then {second:.0f}")
    check(max(first, second) < BASE + EACH * files, "memory of the parent", first, second)
    check(again < 3 + 0.5 * work, "to go on costs as much as to do it", work, again)


def _documents(out: Path, format: str) -> int:
    if format == "jsonl":
        return sum(path.read_bytes().count(b"\n") for path in out.glob("part-*"))
    return sum(path.read_text().count("quiet") for path in out.rglob("*.txt"))


_LINE = re.compile(r"disambig: \[D\d{3}\] [^\x00-\x08\x0b-\x1f\x7f-\x9f]+")
_SUMMARY = re.compile(
    r"[0-9,]+ document|skipped, since they could not be annotated: |(spelling|preposition): |[0-9,]+ words"
    r"|[0-9,]+ more message"
)


def _needs(name: str) -> None:
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    if name.endswith(".zst"):
        pytest.importorskip("zstandard")


@pytest.mark.parametrize("name", CORPORA)
def test_a_changed_corpus_is_annotated_or_named(fake, tmp_path, name):
    _needs(name)
    sound = CORPORA[name]()
    path = tmp_path / name
    for number in range(amount(8, 5_000)):
        numbers = chance(name, number)
        deep = numbers.random() < 0.5
        path.write_bytes(inside(name, sound, numbers) if deep else mutated(sound, numbers))
        lines = ["--lines"] if numbers.random() < 0.5 else []
        case = (name, number)
        with within(case):
            done = here("annotate", name, *lines, folder=tmp_path)
        texts = [json.loads(line)["text"] for line in done.stdout.splitlines()]
        messages = [line for line in done.stderr.splitlines() if not _SUMMARY.match(line)]
        assert done.returncode == (2 if messages else 0), (case, done.stderr)
        assert texts or messages, case
        for line in messages:
            assert _LINE.fullmatch(line) and name in line, (case, line)
        assert _right(name, path.read_bytes(), texts, deep, bool(messages), bool(lines)), (case, texts)


def _right(name: str, data: bytes, texts: list[str], deep: bool, has_messages: bool, lines: bool) -> bool:
    """Return True if the texts are those of the bytes, as far as another reader can check this."""
    if name in ("a.txt", "a.md", "a.tex"):
        if has_messages and not lines:
            return not texts
        whole = data.decode(errors="replace")
        return (
            texts == [whole] if not lines else set(texts) <= {one.rstrip("\r") for one in whole.split("\n")}
        )
    if name == "a.jsonl":
        return all(text in _parse_texts(data) for text in texts)
    if name == "a.parquet":
        return has_messages or texts == [text or "" for text in _parquet(data)]
    if name == "a.txt.gz" and not deep:  # what is changed in it does not come out; its end may be missing
        return has_messages or "\n".join(texts) in "\n".join(filter(None, TEXTS) if lines else TEXTS) + "\n"
    return True


def _parse_texts(data: bytes) -> set[str]:
    texts = set()
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            texts.add(json.loads(line.decode())["text"])
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
    return texts


def _parquet(data: bytes) -> list[str]:
    import io

    import pyarrow.parquet

    return pyarrow.parquet.read_table(io.BytesIO(data), columns=["text"])["text"].to_pylist()


@pytest.mark.parametrize("name", LABELLED)
def test_changed_examples_are_read_or_named(tmp_path, name):
    from disambig.formats import read_labelled

    sound = LABELLED[name]()
    _read(tmp_path / name, sound, ("labelled", name), lambda path: read_labelled(path))


def test_changed_lists_are_read_or_named(tmp_path):
    from disambig.formats import read_nbest

    _read(tmp_path / "a.jsonl", lists(), ("lists",), lambda path: list(read_nbest(str(path))))


def test_changed_fixes_are_read_or_named(tmp_path):
    from disambig.formats import read_clean, read_fixes

    for read in (read_fixes, read_clean):
        _read(tmp_path / "a.jsonl", CORPORA["a.jsonl"](), (read.__name__,), read)


def _read(path: Path, sound: bytes, what: tuple[object, ...], read) -> None:
    """Read changed files: examples, or an error that names the file in one line."""
    for number in range(amount(10, 5_000)):
        path.write_bytes(mutated(sound, chance(*what, number)))
        with within((what, number)):
            try:
                read(path)
            except UserError as error:
                assert path.name in str(error) and "\n" not in str(error), (what, number, str(error))
