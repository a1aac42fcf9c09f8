"""Control characters of a file name or text do not reach a terminal."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import here
from fake_models import annotate_texts, fakes
from hypothesis import given, strategies as st

from disambig.checking import FORMATS, Flag, flag_line, left_flags_line
from disambig.cli import main
from disambig.cli.commands.explain import Console
from disambig.cli.main import fail
from disambig.cli.output import StandardOutput
from disambig.cli.progress import say
from disambig.formats import AnnotatedDocument, Document, make_format
from disambig.formatting import escape_control_chars

EVIL = "a\x1b[31m\x07\x9b2J\u202eb"
SHOWN = "a\\x1b[31m\\x07\\x9b2J\\u202eb"
RAW = ("\x1b", "\x07", "\x9b", "\u202e")


def is_escaped(text: str) -> bool:
    return SHOWN in text and not any(raw in text for raw in RAW)


def test_control_characters_are_escaped_as_text():
    assert escape_control_chars(EVIL) == SHOWN
    assert escape_control_chars("a\tb\n") == "a\\x09b\\x0a"
    assert escape_control_chars("a\tb\n", lines=True) == "a\tb\n"
    assert escape_control_chars("Zürich, 東京 \U0001f600 e\u0301") == "Zürich, 東京 \U0001f600 e\u0301"
    assert escape_control_chars("\udcff") == "\\udcff"


@given(st.text())
def test_escaping_is_idempotent(text):
    shown = escape_control_chars(text)
    assert escape_control_chars(shown) == shown
    shown.encode()
    assert "\x1b" not in shown


def test_control_characters_in_annotations_flags_messages_and_explanations(capsys, monkeypatch):
    document, decisions = Document("x", "a quite\x1b[2J place", EVIL), annotate_texts(["a quite place"])
    page = make_format("text").encode([AnnotatedDocument(document, tuple(decisions))])
    assert is_escaped(page.decode())
    flag = Flag(0, 1, 1, 1, EVIL, EVIL, "spelling", 0.9, (0, 1, ""))
    assert is_escaped(flag_line(EVIL, flag))
    assert is_escaped(left_flags_line([(flag, "reason")]))
    say(EVIL)
    StandardOutput().note(EVIL + "\n")
    fail(EVIL)
    output = capsys.readouterr().err
    assert output.count(SHOWN) == 3
    assert is_escaped(output)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    console = Console()
    console._console.file = sys.stdout
    console.line(EVIL)
    console.table(SimpleNamespace(head=(EVIL, "b"), rows=[(EVIL, EVIL)], numbers=1))
    assert sys.stdout.getvalue().count(SHOWN) == 4
    assert is_escaped(sys.stdout.getvalue())


def on_a_terminal(*arguments: str, cwd: Path) -> str:
    """Return the output of a command with fake models on a terminal."""
    ours, theirs = pty.openpty()
    parts = []

    def read() -> None:
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(ours, 1 << 16):
                parts.append(part)

    reader = threading.Thread(target=read)
    reader.start()
    with open(theirs, "w", encoding="utf8") as terminal, pytest.MonkeyPatch.context() as patch:
        for name, fake in fakes().items():
            patch.setitem(sys.modules, name, fake)
        for name in ("stdout", "stderr"):
            patch.setattr(sys, name, terminal)
        patch.chdir(cwd)
        with pytest.raises(SystemExit):
            main.run([*arguments])
    reader.join()
    os.close(ours)
    return b"".join(parts).decode()


@pytest.mark.parametrize("format", ["text", "corrected", "csv", "jsonl", "html"])
def test_annotated_text_on_a_terminal(tmp_path, format):
    name = f"{EVIL}.txt"
    (tmp_path / name).write_text(f"It was a quite place. {EVIL} Then a quite place.")
    output = on_a_terminal("annotate", name, "--format", format, "--quiet", cwd=tmp_path)
    assert "[31m" in output or "u001b" in output or format == "html"
    assert not any(raw in output for raw in ("\x1b[31m", "\x07", "\x9b2J", "\u202e"))


NAMES = (
    "a\n::error::evil\n--- b.md.md",
    "::error::evil.md",
    "##[error]evil.md",
    "a\x1b[31m\x07\x9b2J\u202e\u200f\u2066.md",
    "a\r::stop-commands::x.md",
    "a\udcff\tb.md",
    'a,line=9%0A::b".md',
)
RUNS = (
    *(("--format", name) for name in FORMATS),
    ("--diff",),
    ("--fix", "--no-backup"),
    ("--fix",),
    ("--write-baseline", "known.json"),
    ("--max-flags-per-1000", "1"),
)


@pytest.mark.parametrize("options", RUNS, ids=" ".join)
def test_file_names_in_every_output(tmp_path, monkeypatch, options):
    names = [os.fsencode(name if name.endswith(".md") else f"{name}.md") for name in NAMES]
    for name in names:
        with open(os.fsencode(tmp_path) + b"/" + name, "w") as file:
            file.write(
                "A quite place.\n\nA quite place, where quite\nplace <!-- disambig: ignore-x --> is.\n"
            )
    for name, fake in fakes().items():
        monkeypatch.setitem(sys.modules, name, fake)
    done = here("check", *options, "--", *map(os.fsdecode, names), folder=tmp_path)  # decodes as UTF-8
    assert done.returncode in (1, 2), done.stderr
    for text in (done.stdout, done.stderr, *(item.read_text("utf8") for item in tmp_path.glob("known.json"))):
        assert escape_control_chars(text, lines=True) == text
        for line in text.splitlines():
            assert not line.lstrip().startswith(("::error", "::stop", "##[")), line
            assert "\t" not in line or options == ("--diff",)
