"""Runs of ``disambig check`` with the fake models."""

from __future__ import annotations

import io
import json
import types

import pytest
from fake_models import annotate_texts

from disambig.cli.main import run as run_command
from disambig.decision import Labels
from disambig.errors import UserError
from disambig.models import ModelSource

TEXT = "# A title\r\n\r\nIt was a quite place, and I lived there during 1997.\r\n"
FIXED = TEXT.replace("quite", "quiet").replace("during", "from")


@pytest.fixture(autouse=True)
def fakes(monkeypatch):
    monkeypatch.setattr(ModelSource, "load_correcting", lambda source: annotate_texts)


@pytest.fixture
def note(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "note.md"
    path.write_bytes(TEXT.encode())
    return path


def check(capfd, *arguments):
    """Return exit status, what is printed, and what is said of it."""
    with pytest.raises(SystemExit) as ended:
        run_command(["check", *map(str, arguments)])
    shown = capfd.readouterr()
    return ended.value.code, shown.out, shown.err


def test_flags_a_line_each(note, capfd):
    status, out, err = check(capfd, "note.md")
    assert status == 1
    assert out == ("note.md:3:10: quite -> quiet (spelling)\nnote.md:3:41: during -> from (preposition)\n")
    assert err == "disambig: 2 flags in 1 of 1 file, 13 words\n"
    assert note.read_bytes() == TEXT.encode()


def test_no_flags(note, capfd):
    note.write_text("All is well.")
    assert check(capfd, "note.md") == (0, "", "disambig: no flags in 1 file, 3 words\n")


def test_json(note, capfd):
    status, out, _ = check(capfd, "--format", "json", "note.md")
    found = json.loads(out)["flags"]
    lines = check(capfd, "--format", "jsonl", "note.md")[1].splitlines()
    assert [json.loads(line) for line in lines] == found
    assert status == 1
    assert [(f["path"], f["line"], f["column"], f["replacement"]) for f in found] == [
        ("note.md", 3, 10, "quiet"),
        ("note.md", 3, 41, "from"),
    ]


def test_a_file_that_cannot_be_read_does_not_stop_the_rest(note, capfd):
    (note.parent / "bad.md").write_bytes(b"\xff")
    status, out, err = check(capfd, "gone.md", "bad.md", note.parent)
    assert status == 2
    assert out.count("note.md:3:") == 2
    assert "[D300] gone.md" in err and err.count("[D304]") == 1 and "1 file, 13 words; 2 problems" in err


def test_fix(note, capfd):
    status, out, err = check(capfd, "--fix", "note.md")
    assert status == 1
    assert note.read_bytes() == FIXED.encode()
    assert (note.parent / "note.md.bak").read_bytes() == TEXT.encode()
    assert out.splitlines()[0] == "note.md:3:10: quite -> quiet (spelling), fixed"
    assert "the old text is in note.md.bak" in err and "2 corrected" in err
    assert check(capfd, "--fix", "note.md")[0] == 0
    assert not (note.parent / "note.md.bak2").exists()


def test_fix_without_a_backup_or_with_another_suffix(note, capfd):
    check(capfd, "--fix", "--no-backup", "note.md")
    assert [path.name for path in note.parent.iterdir()] == ["note.md"]
    note.write_bytes(TEXT.encode())
    check(capfd, "--fix", "--backup-suffix", "~", "note.md")
    assert (note.parent / "note.md~").read_bytes() == TEXT.encode()


def test_a_read_only_file_is_not_fixed(note, capfd):
    note.chmod(0o444)
    other = note.with_name("other.md")
    other.write_bytes(TEXT.encode())
    status, out, err = check(capfd, "--fix", "note.md", "other.md")
    assert status == 2
    assert "[D642] note.md" in err
    assert out.splitlines()[0].endswith(", left") and out.splitlines()[2].endswith(", fixed")
    assert note.read_bytes() == TEXT.encode() and other.read_bytes() == FIXED.encode()


def test_diff(note, capfd):
    status, out, _ = check(capfd, "--diff", "note.md")
    assert status == 1
    assert out.startswith("--- note.md\n+++ note.md\n@@ -1,3 +1,3 @@\n")
    assert note.read_bytes() == TEXT.encode()


def test_standard_input(note, capfd, monkeypatch):
    def given(text):
        monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(text.encode())))

    given(TEXT)
    assert check(capfd, "-")[1].startswith("<stdin>:3:10: quite -> quiet")
    given(TEXT)
    status, out, err = check(capfd, "--fix", "--stdin-filename", "x.md", "-")
    assert (status, out) == (1, FIXED.replace("\r\n", "\n") if "\r\n" not in out else FIXED)
    assert "x.md:3:10: quite -> quiet (spelling), fixed" in err


def test_a_file_on_which_a_model_fails_does_not_stop_the_rest(note, capfd):
    (note.parent / "bad.md").write_text("RAISE an error")
    status, out, err = check(capfd, "bad.md", "note.md")
    assert status == 2
    assert out.count("note.md:3:") == 2 and "[D313] bad.md" in err


def test_most_flags_and_words_to_ignore(note, capfd):
    status, out, err = check(capfd, "--max-flags-per-1000", "1", "note.md")
    assert (status, out.count("\n")) == (1, 1)
    assert "1 flag left out by --max-flags-per-1000 (note.md: 1)" in err
    (note.parent / "words").write_text("Quite # a word\nduring\n")
    assert check(capfd, "--ignore", "words", "note.md")[0] == 0


def test_a_wrong_comment_is_trouble(note, capfd):
    note.write_text("Well. <!-- disambig: ingore well -->")
    status, _, err = check(capfd, "note.md")
    assert status == 2 and "[D641] note.md, line 1: unknown instruction 'ingore well'" in err
    assert "followed by [RULE], WORD" in err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fix", "--diff"], "D600"),
        (["--diff", "--format", "json"], "D600"),
        (["--fix", "--format", "sarif"], "D600"),
        (["--fix", "--staged"], "D600"),
        (["--since", "HEAD", "--staged"], "D600"),
        (["--since", "HEAD", "-"], "D600"),
        (["--write-baseline", "x", "--fix"], "D600"),
        (["--write-baseline", "x", "--format", "json"], "D600"),
        (["--write-baseline", "note.md"], "D967"),
        (["--baseline", "nowhere"], "D300"),
        (["--since", "HEAD"], "D962"),
        (["--backup-suffix", ""], "D600"),
        (["--backup-suffix", "/x"], "D600"),
        (["--format", "xml"], "D601"),
        (["--max-flags-per-1000", "-1"], "D602"),
        (["--flags-per-1000", "nan"], "D602"),
        (["--ignore", "nowhere"], "D300"),
        (["--sets", "nowhere"], "D300"),
    ],
)
def test_wrong_options(note, capfd, options, code):
    status, out, err = check(capfd, *options, "note.md")
    assert (status, out) == (2, "")
    assert err.startswith(f"disambig: [{code}]") and err.count("\n") == 1


def test_an_empty_directory(note, capfd):
    note.unlink()
    assert check(capfd, ".") == (0, "", "disambig: no file to check\n")


def test_models_that_choose_labels_have_nothing_to_say(monkeypatch):
    monkeypatch.undo()
    label = types.SimpleNamespace(
        name="en/it", judge=Labels.unfitted(), task=types.SimpleNamespace(name="it")
    )
    monkeypatch.setattr(ModelSource, "load_models", lambda source: [label])
    assert ModelSource().load_correcting()(["it rains"]) == []
    with pytest.raises(UserError, match="D644"):
        ModelSource(models=("it",)).load_correcting()
