"""What adapting writes: whole or not at all, and over nothing that is not its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from disambig_boosted_lasso.kana import (
    CONVERTER,
    ConverterLocation,
    SegmentedText,
    adaptation as adapting,
    converter_fingerprint,
    locate_converter,
)
from kana_words import converter, sentences

from disambig.errors import UserError
from disambig.files import TempFiles, saving as swapping

LINES = ["猫。"] * 50


@pytest.fixture
def place(tmp_path):
    converter().save(tmp_path / "base" / CONVERTER)
    return ConverterLocation(tmp_path / "base" / CONVERTER)


@pytest.fixture
def adapt(place, monkeypatch):
    """Adapt to sentences that are cut into words already; `adapt.begun` has an entry for each long work."""
    begun = []

    def cut(given, made, tell):
        begun.append(len(given))
        return SegmentedText.from_sentences(sentences() * 6)

    def run(output, weight=0.5):
        return adapting.adapt_converter(LINES, place, output, weight=weight, rerank=False)

    monkeypatch.setattr(adapting, "_segment_texts", cut)
    run.begun = begun
    return run


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def unfinished(monkeypatch, output, problem):
    """Let no folder get the output's name but the one that had it before; systems exchange no names."""
    monkeypatch.setattr(swapping, "exchange_names", lambda one, other: False)
    for name in ("rename", "replace"):
        real = getattr(os, name)

        def fail(source, target, real=real):
            if Path(target) == output and ".old-" not in str(source):
                raise problem
            real(source, target)

        monkeypatch.setattr(os, name, fail)


def test_one_that_was_adapted_before_is_replaced(adapt, tmp_path):
    output = tmp_path / "new"
    adapt(output)
    first = converter_fingerprint(output / CONVERTER)
    adapt(output, 0.25)
    assert converter_fingerprint(output / CONVERTER) != first
    assert names(output) == ["README.md", CONVERTER]
    assert names(tmp_path) == ["base", "new"]


def test_what_cannot_get_its_name_leaves_the_old_one(adapt, tmp_path, monkeypatch):
    output = tmp_path / "new"
    adapt(output)
    first = converter_fingerprint(output / CONVERTER)
    unfinished(monkeypatch, output, OSError(28, "disk full"))
    with pytest.raises(UserError, match=r"D309.*cannot write .*new: disk full"):
        adapt(output, 0.25)
    assert converter_fingerprint(output / CONVERTER) == first
    assert names(tmp_path) == ["base", "new"]


def test_one_killed_between_two_renames_is_found_again(adapt, tmp_path, monkeypatch):
    output = tmp_path / "new"
    adapt(output)
    first = converter_fingerprint(output / CONVERTER)
    with monkeypatch.context() as killed:
        unfinished(killed, output, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            adapt(output, 0.25)
    assert not output.exists()
    assert converter_fingerprint(locate_converter(output).converter) == first


def test_what_a_killed_run_left_is_cleaned_away(adapt, tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = TempFiles.for_target(tmp_path / "new").new()
    left = left.with_name(left.name.replace(f"-{os.getpid()}-", f"-{ended.pid}-"))
    (left / CONVERTER).mkdir(parents=True)
    adapt(tmp_path / "new")
    assert names(tmp_path) == ["base", "new"]


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_is_no_converter_is_not_touched(adapt, tmp_path, what):
    output = tmp_path / "thesis"
    if what == "folder":
        output.mkdir()
    kept = output / "chapter.txt" if what == "folder" else output
    kept.write_text("kept")
    with pytest.raises(UserError, match=r"D696.*thesis"):
        adapt(output)
    assert kept.read_text() == "kept"
    assert names(tmp_path) == ["base", "thesis"]
    assert not adapt.begun


def test_an_empty_folder_is_filled(adapt, tmp_path):
    (tmp_path / "new").mkdir()
    adapt(tmp_path / "new")
    assert names(tmp_path / "new") == ["README.md", CONVERTER]


def test_where_nothing_can_be_written_is_said_before_the_long_work(adapt, tmp_path):
    (tmp_path / "file").write_text("")
    for output in (tmp_path / "file" / "new", Path("/proc/none/new")):
        with pytest.raises(UserError, match="D309"):
            adapt(output)
    assert not adapt.begun
