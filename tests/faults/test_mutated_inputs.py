"""Inputs cut short or changed: what comes out is right, or one line a fault names the file."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from commands import here
from fake_models import fakes
from fault_dial import amount, chance
from fault_inputs import CORPORA, LABELLED, TEXTS, inside, lists, mutated
from fault_runs import within

from disambig.errors import UserError

pytestmark = pytest.mark.slow
_LINE = re.compile(r"disambig: \[D\d{3}\] [^\x00-\x08\x0b-\x1f\x7f-\x9f]+")
_SUMMARY = re.compile(
    r"[0-9,]+ document|skipped, since they could not be annotated: |(spelling|preposition): |[0-9,]+ words"
    r"|[0-9,]+ more message"
)


@pytest.fixture
def fake(monkeypatch):
    for name, module in fakes().items():
        monkeypatch.setitem(sys.modules, name, module)


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
        said = [line for line in done.stderr.splitlines() if not _SUMMARY.match(line)]
        assert done.returncode == (2 if said else 0), (case, done.stderr)
        assert texts or said, case
        for line in said:
            assert _LINE.fullmatch(line) and name in line, (case, line)
        assert _right(name, path.read_bytes(), texts, deep, bool(said), bool(lines)), (case, texts)


def _right(name: str, data: bytes, texts: list[str], deep: bool, said: bool, lines: bool) -> bool:
    """Tell whether texts are what the bytes say, as far as another reader can tell."""
    if name in ("a.txt", "a.md", "a.tex"):
        if said and not lines:
            return not texts
        whole = data.decode(errors="replace")
        return (
            texts == [whole] if not lines else set(texts) <= {one.rstrip("\r") for one in whole.split("\n")}
        )
    if name == "a.jsonl":
        return all(text in _said(data) for text in texts)
    if name == "a.parquet":
        return said or texts == [text or "" for text in _parquet(data)]
    if name == "a.txt.gz" and not deep:  # what is changed in it does not come out; its end may be missing
        return said or "\n".join(texts) in "\n".join(filter(None, TEXTS) if lines else TEXTS) + "\n"
    return True


def _said(data: bytes) -> set[str]:
    found = set()
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            found.add(json.loads(line.decode())["text"])
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
    return found


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
