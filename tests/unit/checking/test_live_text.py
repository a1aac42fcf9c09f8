"""Edited text: only changed parts are annotated again, and the flags equal those of a whole check."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from disambig.checking import (
    CONTEXT_WORDS,
    MAX_CONTEXT_PARTS,
    CheckedText,
    LiveText,
    ParagraphCutter,
    find_flags,
    flag_candidates,
    live as decided,
    new_baseline,
)
from disambig.configuration import CheckSettings
from disambig.data import plain_word
from disambig.markup import read_markup
from disambig.models import ModelSource

SENTENCES = [
    "The weather was better then we had hoped.",
    "It depends of the weather, and it was hard to find a quite place.",
    "A large number people ate a peace of cake.",
    "He has went to to the shop a hour ago.",
    "Nobody new weather they would come too late.",
    "She said \"it was better then that\" and left.",
    "Their is no reason, as far as the others could see, for the delay of the train from the coast.",
    "The old bridge, which had been closed for a year, was opened again.",
    "Rain fell. Dr. Lee ran (slowly) home; see `then` or <b>quite</b> there.",
    "THE MEETING IS OVER",
    "Chapter One",
]  # fmt: skip
LINES = [
    *SENTENCES, *SENTENCES, "", "", "", "", "- an item that is better then most", "    the code = then()",
    "    ", "```", "<pre>", "</pre>", "<!--", "-->", "a ` tick", "# A better heading then this",
    "| better then | it |",
    "|---|---|", "1. one of to much", "Rows  in  columns", "\u2029", "<!-- disambig: ignore-next-line -->",
    "Who", "On the quite hill", "[then]: https://example.org", "$$", "\U0001f600 then better then",
]  # fmt: skip
texts = st.lists(st.sampled_from(LINES), min_size=1, max_size=25).map("\n".join)
PUT = st.sampled_from(["then ", "\n", "\n\n", "`", "<pre>", "x", ""])
edits = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), PUT), min_size=1, max_size=5)


@cache
def models():
    return ModelSource(flags_per_1000=6.0).load_correcting()


def from_scratch(name: str, text: str) -> CheckedText:
    plain = read_markup(name, text)
    return find_flags(name, text, plain, [item.in_document(0) for item in models()([plain.text])])


def flag_fields(checked: CheckedText) -> list[tuple]:
    return [
        (f.start, f.end, f.replacement, f.task, f.edit, [item["task"] for item in f.alternatives])
        for f in checked.flags
    ]


def live_text(text: str, **settings) -> CheckedText:
    """Check a text for the first time, with some settings."""
    return LiveText("notes.txt", CheckSettings(**settings), models()).check(text)


@pytest.mark.parametrize("name", ["notes.md", "notes.txt", "notes.tex"])
@given(texts, edits)
@settings(max_examples=int(os.environ.get("DISAMBIG_LIVE_EXAMPLES", "4")))
def test_edits_give_the_flags_of_the_whole_text(name, text, changes):
    live = LiveText(name, CheckSettings(), models())
    live.check(text)
    for where, taken, put in changes:
        at = int(where * len(text))
        text = text[:at] + put + text[at + taken :]
        result, expected = live.check(text), from_scratch(name, text)
        assert result is not None
        assert flag_fields(result) == flag_fields(expected)
        ours, theirs = ([f.probability for f in checked.flags] for checked in (result, expected))
        assert np.allclose(ours, theirs, atol=1e-4)
        assert (result.words, len(result.unused)) == (expected.words, len(expected.unused))


@pytest.mark.slow
def test_samples_give_the_flags_of_the_whole_text():
    folder = Path(__file__).parents[3] / "corpora" / "samples"
    paths = [path for path in sorted(folder.iterdir()) if path.suffix != ".png"]
    assert len(paths) > 3
    for path in paths:
        text = path.read_text("utf8")
        live = LiveText(path.name, CheckSettings(), models())
        for version in (text, text.replace(" to ", " too ", 3), text.replace("\n\n", "\n", 2)):
            assert flag_fields(live.check(version)) == flag_fields(from_scratch(path.name, version))


def make_paragraphs(n: int) -> str:
    return "\n\n".join(f"{number}. {' '.join(SENTENCES[:8])}" for number in range(n))


class Asked:
    """Models that record the texts that they annotate."""

    def __init__(self) -> None:
        self.texts: list[list[str]] = []

    def __call__(self, given):
        self.texts.append(list(given))
        return models()(given)


def test_only_what_changed_is_decided_again():
    asked = Asked()
    live = LiveText("notes.txt", CheckSettings(), asked)
    text = make_paragraphs(8)
    live.check(text)
    asked.texts.clear()
    live.check(text)
    assert asked.texts == []
    middle = text.index("4. ") + 260
    live.check(text[:middle] + "x" + text[middle:])
    ((document,),) = asked.texts
    assert "4. " in document
    assert len(document.split()) < 3 * CONTEXT_WORDS + len(text.split()) // 8
    asked.texts.clear()
    start = text.index("4. ") + 3  # near enough to the paragraph before
    live.check(text[:start] + "x" + text[start:])
    assert "3. " in asked.texts[0][0]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("One.\n\nTwo.\n\nThree.", [6, 12, 18]),
        ("One.\n\n<pre>\n\nTwo.\n\n</pre> it.\n\nThree.", [6, 31, 37]),
        ("One.\n\n```\n\nTwo.", [6, 15]),
        ("\u2029 one\n\u2029 two\n  \u2029 three", [6, 14, 21]),
        ("\u2029 one `\n\u2029 two` b\n\u2029 c", [17, 20]),
        ("    a = 1\n    \n    b\n\nc", [22, 23]),
        ("    a, b\n    \n    c\n\nd", [14, 21, 22]),
        ("", []),
    ],
)
def test_parts_end_outside_of_code(text, ends):
    assert [part.end for part in ParagraphCutter().cut(text)] == ends


def test_parts_have_the_context_that_models_see():
    text = f"{'word ' * 60}\n\nFew here.\n\n{'more ' * 60}"
    first, second, third = ParagraphCutter().cut(text)
    assert (second.start, second.end) == (len("word " * 60) + 2, len("word " * 60) + 13)
    assert text[second.context_start : second.start].split() == ["word"] * CONTEXT_WORDS
    assert text[second.end : second.context_end].split() == ["more"] * CONTEXT_WORDS
    assert len(text[first.end : first.context_end].split()) == CONTEXT_WORDS + 2
    assert third.context_end == len(text)


def test_the_context_of_parts_without_words_is_bounded():
    code = "\u2029      \n"
    text = f"{'word ' * 60}\n\n{code * 3000}\n{'more ' * 60}"
    parts = ParagraphCutter().cut(text)
    assert len(parts) > 3000
    assert max(part.context_end - part.context_start for part in parts[100:-100]) == (
        2 * MAX_CONTEXT_PARTS + 1
    ) * len(code)
    near = parts[MAX_CONTEXT_PARTS]
    assert text[near.context_start : near.start].split("\u2029")[0].split() == ["word"] * CONTEXT_WORDS
    assert near.context_end - near.end == MAX_CONTEXT_PARTS * len(code)


def test_a_check_can_be_cancelled(monkeypatch):
    monkeypatch.setattr(decided, "BATCH_CHARACTERS", 500)
    asked = Asked()
    live = LiveText("notes.txt", CheckSettings(), asked)
    text = make_paragraphs(6)
    assert live.check(text, lambda: len(asked.texts) >= 2) is None
    done = len(asked.texts)
    result = live.check(text)
    assert flag_fields(result) == flag_fields(from_scratch("notes.txt", text))
    assert done == 2
    assert len(asked.texts) <= 7  # what was done was kept


def test_settings_apply_as_in_a_run(tmp_path):
    (tmp_path / "words.txt").write_text("quite\n")
    text = "\n\n".join(SENTENCES[:3])
    everything = live_text(text)
    left = [flag for flag in everything.flags if plain_word(flag.observed) not in ("then", "quite")]
    assert 0 < len(left) < len(everything.flags)
    some = live_text(text, ignore=("THEN",), ignore_files=(str(tmp_path / "words.txt"),))
    assert list(some.flags) == left
    one = live_text(text, max_flags_per_1000=1.0)
    assert len(one.flags) == 1
    assert one.left_out == len(everything.flags) - 1
    assert live_text(text, excluded=True).flags == ()


def test_a_baseline_hides_flags_in_every_check(tmp_path):
    name, text = str(tmp_path / "notes.txt"), "\n\n".join(SENTENCES[:3])
    flags = from_scratch(name, text).flags
    baseline = new_baseline(str(tmp_path / "known.json"))
    baseline.add(name, text, flags[:1])
    baseline.write()
    live = LiveText(name, CheckSettings(baseline=baseline.path), models())
    for _ in range(3):
        assert list(live.check(text).flags) == list(flags[1:])


def test_candidates_are_edits_with_the_suggestion_first():
    text = "\n\n".join(SENTENCES[:4])
    live = LiveText("notes.txt", CheckSettings(), models())
    flags = live.check(text).flags
    candidates = flag_candidates(flags, live.decisions, text, live.annotate)
    assert len(candidates) == len(flags) > 3
    for flag, own in zip(flags, candidates, strict=True):
        first = (own[0].text, own[0].edit, own[0].probability)
        assert first == (flag.replacement, flag.edit, flag.probability)
        assert len({item.edit for item in own}) == len(own) <= 5
        assert all(text[item.edit[0] : item.edit[1]] != item.edit[2] for item in own)
        assert all(0 < item.probability <= 1 for item in own)
    assert any(len(own) > 1 for own in candidates)
    proposed_only = flag_candidates(flags, live.decisions, text, lambda given: models()(given))
    assert all(len(own) <= 1 + len(flag.alternatives) for flag, own in zip(flags, proposed_only, strict=True))


def test_context_around_an_offset():
    text = make_paragraphs(3)
    live = LiveText("notes.txt", CheckSettings(), models())
    live.check(text)
    at = text.index("1. ") + 40
    around, offset = live.around(at)
    assert text[offset : offset + len(around)] == around
    assert around[at - offset :].startswith(text[at : at + 10])
