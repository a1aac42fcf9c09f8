"""Missing and extra words: spaces, positions and corrected text in all output of commands."""

from __future__ import annotations

import json
import re

import pytest
import spacy
from commands import here
from made_decisions import make_decisions

from disambig.checking import decisions_to_edits
from disambig.data import Group
from disambig.evaluation import corrects, touches
from disambig.formats import Fix, fix_kind
from disambig.models import ModelSource
from disambig.spacy.annotations import read_decisions, write_annotations

GROUP = Group("preposition", ("to", "about", "the", ""))
TEXT = (
    "We listen music and discuss about it.\n"
    "That is what we talk about.\n"
    "WE LISTEN MUSIC.\n"
    "Listen\n"
    "music.  About it we discuss.\n"
)
RIGHT = (
    "We listen to music and discuss it.\n"
    "That is what we talk.\n"
    "WE LISTEN TO MUSIC.\n"
    "Listen\n"
    "to music.  It we discuss.\n"
)
LINES = [
    '1:11: "" -> to',
    '1:29: about -> ""',
    '2:22: about -> ""',
    '3:11: "" -> {to}',
    '5:1: "" -> to',
    '5:9: About -> ""',
]


def annotate_texts(texts):
    """Insert "to" before each "music" without one, and remove each "about"."""
    rows = [
        (number, match.start(), match.start() if music else match.end(), 3 if music else 1, 0 if music else 3)
        for number, text in enumerate(texts)
        for match in re.finditer(r"(?<!to )music|about", text, re.IGNORECASE)
        for music in [match[0].lower() == "music"]
    ]
    return [decisions(rows)]


def decisions(rows, probability=0.75, *, task="preposition"):
    """Decisions that are all flagged: (document, start, end, observed, chosen)."""
    rows = [(*row[:3], 0, *row[3:]) for row in rows]
    return make_decisions([GROUP], rows, task=task, probabilities=probability, n_hits=3, n_queries=14)


def patch_models(monkeypatch, annotate):
    monkeypatch.setattr(ModelSource, "load", lambda source: annotate)
    monkeypatch.setattr("disambig.checking.load_checker", lambda settings: annotate)


@pytest.fixture
def decide(monkeypatch):
    """Make models return given decisions for one text, and none for others, such as the corrected text."""

    def decide(text, rows):
        none = [decisions([], task=item.task) for item in rows]
        patch_models(monkeypatch, lambda texts: list(rows) if texts == [text] else none)

    return decide


@pytest.fixture(autouse=True)
def note(tmp_path, monkeypatch):
    patch_models(monkeypatch, annotate_texts)
    monkeypatch.setattr(ModelSource, "language", lambda source: "en")
    monkeypatch.setattr(ModelSource, "can_flag", lambda source: True)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "note.txt"
    path.write_text(TEXT, encoding="utf8")
    return path


def in_lines(to, label):
    return [f"note.txt:{line.format(to=to)} ({label})" for line in LINES]


def test_check_prints_quotes_for_no_word_shows_a_diff_and_corrects(note):
    status, out, err = here("check", "note.txt")
    assert status == 1 and out.splitlines() == in_lines("TO", "preposition")
    assert "6 flags in 1 of 1 file" in err
    lines = here("check", "--diff", "note.txt")[1].splitlines()
    for sign, text in (("-", TEXT), ("+", RIGHT)):
        assert [line[1:] for line in lines[3:] if line[:1] in (sign, " ")] == text.splitlines()
    status, out, _ = here("check", "--fix", "note.txt")
    assert status == 1 and out.count(", fixed") == 6
    assert note.read_text(encoding="utf8") == RIGHT


def test_directives_hide_missing_words(note):
    note.write_text("We listen music. <!-- disambig: off -->\nWe listen music.\n<!-- disambig: on -->\n")
    assert here("check", "note.txt")[1].count("\n") == 1
    note.write_text("We discuss about it. <!-- disambig: ignore about -->\n")
    assert here("check", "note.txt")[0] == 0


def test_annotate_shows_the_same_in_every_format():
    status, out, _ = here("annotate", "--format", "text", "note.txt")
    assert status == 0 and out.splitlines() == in_lines("TO", "preposition, 0.75")
    assert here("annotate", "--format", "corrected", "note.txt")[1] == RIGHT
    (row,) = map(json.loads, here("annotate", "--format", "jsonl", "note.txt")[1].splitlines())
    keys = ("start", "end", "observed", "replacement")
    first, second = ([record[key] for key in keys] for record in row["decisions"][:2])
    assert (first, second) == ([10, 10, "", "to "], [28, 33, "about", ""])
    assert row["flags"] == 6
    out = here("annotate", "--format", "html", "note.txt")[1]
    first, second = re.findall(r"<mark [^>]*>", out)[:2]
    assert 'gap"' in first and 'data-from="∅"' in first and 'data-to="to"' in first
    assert 'gap"' not in second and 'data-from="about"' in second and 'data-to="nothing"' in second
    assert re.search(r"We listen <mark.*?</mark>music and discuss <mark [^>]*>about<.*?</mark> it\.", out)
    rows = here("annotate", "--format", "conllu", "note.txt")[1].splitlines()
    expected = [tuple(row.split("\t")[k] for k in (1, -1)) for row in rows if "Disambig=" in row][:2]
    places = [("music", ":to"), ("about", "about:")]
    assert expected == [(word, f"Disambig=preposition:{change}:0.75:flag") for word, change in places]


@pytest.mark.parametrize(
    ("text", "sure", "other", "right"),
    [
        ("We listen music.", 0.75, ((0, 10, 10, 3, 2), 0.9), "We listen the music."),
        ("We listen about.", 0.9, ((0, 10, 15, 1, 2), 0.5), "We listen to about."),
        ("We listen about.", 0.1, ((0, 10, 15, 1, 2), 0.5), "We listen the."),
    ],
)
def test_the_more_certain_of_two_corrections_is_made(note, decide, text, sure, other, right):
    """Each decision assumes that the other word stays: both would turn "She begun" into "She had began"."""
    row, probability = other
    rows = decisions([(0, 10, 10, 3, 0)], sure, task="a"), decisions([row], probability, task="b")
    note.write_text(text)
    for both in (rows, rows[::-1]):
        decide(text, both)
        assert here("annotate", "--format", "corrected", "note.txt")[1] == right


def test_in_spacy_a_missing_word_is_the_span_of_the_next_one():
    doc = spacy.blank("en")(TEXT)
    (result,) = annotate_texts([TEXT])
    write_annotations(doc, result, spans_key="preposition")
    spans = list(doc.spans["preposition"])
    words = "music about about MUSIC music About".split()
    labels = ["to" if word.lower() == "music" else "" for word in words]
    assert [(span.text, span.label_) for span in spans] == list(zip(words, labels, strict=True))
    for span, start in zip(spans, result.starts.tolist(), strict=True):
        record = span._.disambig
        assert record["start"] == start == span.start_char
        assert (record["observed"] == "") == (record["start"] == record["end"]) == (span.label_ == "to")
        assert record["replacement"].strip().lower() == span.label_
    assert len(read_decisions(doc, "preposition")) == 6


def test_edits_count_as_corrections():
    fixes = [
        Fix("We listen music.", 10, 10, "", "to", "x", "", fix_kind("", "to"), 1, "a"),
        Fix("We discuss about it.", 11, 16, "about", "", "x", "", fix_kind("about", ""), 1, "a"),
    ]
    texts = [fix.before for fix in fixes]
    for fix, (edit,) in zip(fixes, decisions_to_edits(annotate_texts(texts), texts), strict=True):
        assert corrects(edit, fix) and touches(edit, fix)
