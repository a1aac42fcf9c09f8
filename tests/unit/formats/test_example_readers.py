"""Readers of labelled examples: choice of the reader, and a reader of a plugin in all commands."""

from __future__ import annotations

import gzip
import json
import sys
import types

import pytest
from commands import here

from disambig.api import hookimpl
from disambig.errors import UserError
from disambig.formats import (
    ExampleSource,
    JsonLines,
    Labelled,
    MarkedTables,
    NoadMasc,
    Senseval,
    find_reader,
    read_labelled,
)
from disambig.testing import check_reader

LEXELT = """<corpus lang="en"><lexelt item="bank.n">
<instance id="bank.n.1"><answer instance="bank.n.1" senseid="shore"/>
<context>The <head>bank</head> of the river.</context></instance></lexelt></corpus>"""
WORDS = """<SimpleWsdDoc name="written/jokes/a.txt">
<word text="A" break_level="NO_BREAK"/>
<word text="bank" lemma="bank" pos="NOUN" sense="m1.001" break_level="SPACE_BREAK"/></SimpleWsdDoc>"""
FILES = {
    "a.jsonl": ('{"text": "It rains.", "start": 0, "end": 2, "label": "empty"}\n', JsonLines),
    "a.tsv": ("[[It]] rains.\tempty\n", MarkedTables),
    "b.csv": ("text,label\nIt rains.,weather\n", MarkedTables),
    "a.xml": (LEXELT, Senseval),
    "b.xml": (WORDS, NoadMasc),
}


@pytest.fixture
def files(tmp_path):
    for name, (content, _) in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf8")
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_readers_of_the_core_keep_their_contract(files, name):
    reader = find_reader(ExampleSource(str(files / name)))
    assert type(reader) is FILES[name][1]
    for check in check_reader(reader, files / name):
        check()


CONFIG = """
[model]
name = "my/words"

[task]
@disambig_tasks = "disambig.Candidates.v1"
candidates = ["quite", "quiet"]

[tokenisation]
@disambig_tokenisations = "disambig.words.v1"

[extractors]

[extractors.words]
@disambig_extractors = "disambig.ContextWindow.v1"

[learner]
@disambig_learners = "disambig.NoPreference.v1"

[baseline]
@disambig_learners = "disambig.NoPreference.v1"
"""


class Stars:
    """A reader of lines such as ``empty: *It* rains.``, which begin with the label."""

    suffixes = (".stars", ".special.jsonl")
    elements = ("stars",)

    def read(self, source):
        for number, line in enumerate(source.text.splitlines(), 1):
            label, colon, marked = line.removeprefix("<stars>").partition(": ")
            before, _, rest = marked.partition("*")
            inside, star, after = rest.partition("*")
            where = f"{source.path}, line {number}"
            if not colon or not star:
                source.broken(where, "no label and no place between stars")
                continue
            text = before + inside + after
            yield Labelled(text, len(before), len(before) + len(inside), label, text, where)


@pytest.fixture
def register_reader(load_with, monkeypatch):
    """Return a function that loads a plugin with one reader."""

    def load(reader):
        name = reader.__name__
        module = types.ModuleType(f"{name.lower()}_plugin")

        @hookimpl
        def disambig_register_readers(register):
            register(f"{name.lower()}.{name}.v1", reader)

        module.disambig_register_readers = disambig_register_readers
        monkeypatch.setitem(sys.modules, module.__name__, module)
        assert not [report for report in load_with(**{name.lower(): module.__name__}) if report.error]

    return load


@pytest.fixture
def stars(register_reader):
    register_reader(Stars)


def test_readers_of_plugins_are_found_by_suffix_and_first_element(stars, tmp_path):
    data = b"empty: *It* rains.\nbroken\nfull: *It* is red.\n"
    for name in ("a.stars", "a.stars.gz", "a.special.jsonl"):
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        notes = []
        actual = read_labelled(tmp_path / name, tell=notes.append)
        assert [(item.text, item.label) for item in actual] == [
            ("It rains.", "empty"),
            ("It is red.", "full"),
        ]
        assert len(notes) == 1 and "line 2" in notes[0]
        with pytest.raises(UserError, match=r"D488.*line 2"):
            read_labelled(tmp_path / name, strict=True)
    (tmp_path / "a.xml").write_text("<stars>empty: *It* rains.\n")
    assert [item.label for item in read_labelled(tmp_path / "a.xml")] == ["empty"]
    for check in check_reader(Stars(), tmp_path / "a.stars.gz"):
        check()
    (tmp_path / "a.xml").write_text("<html></html>")
    with pytest.raises(UserError, match=r"D491.*<html>.*<SimpleWsdDoc>, <corpus>, <lexelt>, <stars>"):
        read_labelled(tmp_path / "a.xml")


def test_readers_of_plugins_do_not_read_files_of_the_core(register_reader, files):
    class Greedy(Stars):
        suffixes = (".jsonl",)
        elements = ("corpus",)

    register_reader(Greedy)
    assert isinstance(find_reader(ExampleSource(str(files / "a.jsonl"))), JsonLines)
    assert isinstance(find_reader(ExampleSource(str(files / "a.xml"))), Senseval)


@pytest.mark.parametrize(
    ("example", "message"),
    [
        (Labelled("short", 0, 99, "a", "a", "a.odd:7"), "a.odd:7: an example is from 0 to 99 in 5 char"),
        ({"text": "a"}, "a.odd: it returned a dict"),
        (Labelled("short", 0, 5, 3, "a"), "a.odd: label of an example is an int, not a text"),
        (Labelled(b"short", 0, 5, "a", "a"), "a.odd: text of an example is a bytes, not a text"),
        (Labelled("short", 0, 5, "a", None), "a.odd: document of an example is None, not a text"),
    ],
)
def test_a_reader_that_returns_other_objects_is_reported(register_reader, tmp_path, example, message):
    class Odd:
        suffixes = (".odd",)

        def read(self, source):
            yield example

    register_reader(Odd)
    (tmp_path / "a.odd").write_text("x")
    with pytest.raises(UserError, match=rf"D414.*the reader odd.Odd.v1 of the plugin odd: .*{message}"):
        read_labelled(tmp_path / "a.odd")


def test_a_reader_that_returns_nothing_is_reported(register_reader, tmp_path):
    class Silent:
        suffixes = (".odd",)

        def read(self, source):
            return None

    register_reader(Silent)
    (tmp_path / "a.odd").write_text("x")
    with pytest.raises(
        UserError, match=r"D414.*the reader silent.*: read returned None for .*a.odd; expected"
    ):
        read_labelled(tmp_path / "a.odd")


class Sloppy(Stars):
    """A reader with faults: no suffixes, no line numbers, and other exceptions for damaged files."""

    suffixes = ("stars",)

    def read(self, source):
        for item in super().read(source):
            yield Labelled(item.text, 5, 99, item.label, "", "")
        json.loads(source.text[-1])


def test_the_checks_find_a_broken_reader(tmp_path):
    path = tmp_path / "a.stars"
    path.write_text("empty: *It* rains.1")
    failed = {}
    for check in check_reader(Sloppy(), path):
        try:
            check()
        except AssertionError as problem:
            failed[check.name] = str(problem)
    assert set(failed) == {
        "declares_which_files_it_reads",
        "places_are_inside_their_texts",
        "names_document_and_line",
        "damaged_files_raise_user_errors",
    }


def test_a_reader_from_outside_works_in_train_and_evaluate(stars, tmp_path):
    lines = [f"quiet: The {place} was *quiet* today." for place in ("room", "house", "park", "road")]
    lines += [f"quite: It was *quite* {how} today." for how in ("warm", "cold", "dark", "late")]
    (tmp_path / "a.stars").write_text("\n".join(lines))
    (tmp_path / "words.cfg").write_text(CONFIG)
    for command in (
        "train words.cfg --labelled a.stars --output model",
        "evaluate model --labelled a.stars --json",
    ):
        assert here(*command.split(), folder=tmp_path).returncode == 0
