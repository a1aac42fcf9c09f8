"""`check --fix` settles in one run: a second run changes nothing, and nothing else changes by a byte."""

from __future__ import annotations

import difflib
import json
import random
import re
from pathlib import Path

import pytest
from commands import here

SENTENCES = [
    "The old bridge was closed because the river had risen during the night.",
    "She left the keys on the table before she went to the station.",
    "We could have taken the later train, but nobody knew about it.",
    "Their garden is larger than ours, and it has an apple tree.",
    "He told me that the meeting would start an hour earlier.",
    "You should have seen the view from the top of the tower.",
    "It depends on the weather whether they sail to the island.",
    "A small child was looking for its mother in the crowd.",
    "They must have forgotten to close the window in the kitchen.",
    "The letter was written by a friend who lives in the north.",
    "There are two reasons why the new plan is better than the old one.",
    "I would have called you if I had known your number.",
    "The teacher gave an honest answer to the question.",
    "Nobody wanted to lose the game on the last day.",
    "We have been waiting for an answer since the beginning of May.",
]
SLIPS = [
    (r"\b(could|should|would|must) have\b", r"\1 of"), (r"\bthan\b", "then"), (r"\bTheir\b", "There"),
    (r"\ban (?=[aeh])", "a "), (r"\b[aA] (?=[bcfls])", lambda match: match[0][0] + "n "),
    (r"\b(the|to|in|of|was|a) ", r"\1 \1 "), (r"\bits\b", "it's"), (r"\bdepends on\b", "depends of"),
    (r"\blose\b", "loose"), (r"\bknew\b", "new"), (r"\byour\b", "you're"), (r"\bthere are\b", "their are"),
    (r"\bto the\b", "too the"), (r"\bhad risen\b", "had rose"), (r"\bwere\b", "was"),
]  # fmt: skip


def with_mistakes(random_state: random.Random) -> str:
    """Return a paragraph with several mistakes, often next to each other."""
    sentences = random_state.sample(SENTENCES, random_state.randint(1, 3))
    text = " ".join(sentences)
    for _ in range(random_state.randint(1, 5)):
        pattern, slip = random_state.choice(SLIPS)
        places = list(re.finditer(pattern, text))
        if places:
            place = random_state.choice(places)
            changed = place.expand(slip) if isinstance(slip, str) else slip(place)
            text = text[: place.start()] + changed + text[place.end() :]
    return text


def fix(folder: Path, *options: str) -> list[dict]:
    ended = here("check", "--fix", "--no-backup", "--quiet", "--format", "json", *options, ".", folder=folder)
    assert ended.returncode in (0, 1), ended.stderr
    return json.loads(ended.stdout)["flags"]


def written_places(before: str, after: str) -> list[tuple[int, int]]:
    """Return where the words of a corrected text differ from those before."""
    words = re.compile(r"\S+|\s+")
    old, new = (list(words.finditer(text)) for text in (before, after))
    matcher = difflib.SequenceMatcher(
        None, [word[0] for word in old], [word[0] for word in new], autojunk=False
    )
    return [
        (new[first].start(), new[last - 1].end())
        for kind, _, _, first, last in matcher.get_opcodes()
        if kind != "equal" and last > first
    ]


@pytest.mark.parametrize("rate", [None, "6"])
def test_a_second_run_changes_nothing(tmp_path: Path, rate: str | None):
    """160 paragraphs with mistakes, each in a file of its own."""
    random_state = random.Random(20)
    texts = {f"{number}.md": with_mistakes(random_state) + "\n" for number in range(160)}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode())
    options = () if rate is None else ("--flags-per-1000", rate)
    first = fix(tmp_path, *options)
    once = {name: (tmp_path / name).read_bytes().decode() for name in texts}
    second = fix(tmp_path, *options)
    twice = {name: (tmp_path / name).read_bytes().decode() for name in texts}
    assert sum(once[name] != texts[name] for name in texts) > 60
    assert {name: once[name] for name in texts if once[name] != twice[name]} == {}
    again = [
        (once[name], flag["observed"], flag["replacement"])
        for flag in second
        for name in [Path(flag["path"]).name]
        for start, end in written_places(texts[name], once[name])
        if flag["start"] < end and start < flag["end"]
    ]
    assert again == []
    for name, text in texts.items():  # the edits of the report make the text
        edits = sorted(
            flag["edit"] for flag in first if Path(flag["path"]).name == name and flag["outcome"] == "fixed"
        )
        made, at = "", 0
        for start, end, new in edits:
            assert start >= at or made == ""
            made, at = made + text[at:start] + new, end
        assert made + text[at:] == once[name]


DOCUMENT = (
    "\ufeff# Notes \U0001f600 on on the trip\r\n\r\nThey must of left.  You might of seen it. "
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\r\n\r\n"
    "* `the the` stays, and a a word goes\r\n* Its a [link](http://a.b/of-of) to to it.\r\n\r\n"
    "```\r\nyou could of of\r\n```\r\n\r\n| a | then |\r\n|---|---|\r\n| x | y |\r\n\r\n"
    "Give my the chance. caf\u00e9\tand   na\u00efve\r\nI'd of gone home, it's better then nothing.\r\n"
)


def test_a_document_keeps_every_other_byte(tmp_path: Path):
    path = tmp_path / "notes.md"
    path.write_bytes(DOCUMENT.encode())
    fix(tmp_path)
    once = path.read_bytes().decode()
    fix(tmp_path)
    assert path.read_bytes().decode() == once
    for old, new in [
        ("must of", "must have"), ("might of", "might have"), ("on on", "on"), ("a a word", "a word"),
        ("to to it", "to it"), ("my the", "me the"), ("I'd of", "I'd have"), ("better then", "better than"),
        ("Its a", "It's a"),
    ]:  # fmt: skip
        once = once.replace(new, old, 1) if old not in once else once
    assert once == DOCUMENT


def test_sentences_that_did_not_settle(tmp_path: Path):
    (tmp_path / "a.txt").write_text("They must of left. You might of seen it.\n")
    fix(tmp_path)
    assert (tmp_path / "a.txt").read_text() == "They must have left. You might have seen it.\n"
    assert fix(tmp_path) == []


def test_two_corrections_of_one_mistake_are_never_both_made(tmp_path: Path):
    (tmp_path / "a.txt").write_text("Please give my the chance to see it.\n")
    fix(tmp_path, "--flags-per-1000", "8")
    assert (tmp_path / "a.txt").read_text() == "Please give me the chance to see it.\n"
