"""Corrections are made once: no second run takes back, or doubles, what the first one wrote."""

from __future__ import annotations

import os
import re
from functools import cache

import numpy as np
import pytest
from commands import here
from hypothesis import given, settings
from hypothesis import strategies as st

from disambig.checking import choose, corrected, find_flags, stable_decisions, stable_flags
from disambig.data import Decisions, Group
from disambig.markup import read_markup
from disambig.models import ModelSource

EXAMPLES = int(os.environ.get("DISAMBIG_STABLE_EXAMPLES", "15"))


def swapping(pairs: dict[str, str], sure: float = 0.9):
    """Return an annotator that flags some words, each to be replaced by another, whatever is around."""
    groups = tuple(Group(f"{old}/{new}", (old, new)) for old, new in pairs.items())

    def annotate(texts):
        rows = [
            (number, match.start(), match.end(), list(pairs).index(match[0]))
            for number, text in enumerate(texts)
            for match in re.finditer(r"[\w']+", text)
            if match[0] in pairs
        ]
        documents, starts, ends, numbers = np.array(rows, np.int32).reshape(-1, 4).T
        n = len(rows)
        zeros = np.zeros(n, np.int32)
        return [
            Decisions(
                task="t", model="m 1", table=groups, documents=documents, starts=starts, ends=ends,
                groups=numbers, observed=zeros, chosen=zeros + 1, offsets=np.arange(n + 1) * 2,
                scores=np.tile(np.array([0.0, 1.0], np.float32), n), margins=np.ones(n, np.float32),
                probabilities=np.full(n, sure, np.float32), flagged=np.ones(n, bool),
                found=zeros, asked=zeros,
            )
        ]  # fmt: skip

    return annotate


def fixed(name: str, text: str, annotate) -> tuple[str, list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the text as ``--fix`` writes it, what it replaced, and where it wrote."""
    plain = read_markup(name, text)
    checked = find_flags(name, text, plain, [each.in_document(0) for each in annotate([plain.text])])
    taken, _ = choose(checked.flags)
    kept = stable_flags(name, text, taken, annotate, ())
    written, length, at = [], 0, 0
    for start, end, new in (flag.edit for flag in kept):
        length += start - at
        written.append((length, length + len(new)))
        length, at = length + len(new), end
    return corrected(text, kept), [flag.edit[:2] for flag in kept], written


def test_what_would_be_taken_back_is_not_written():
    there_and_back = swapping({"your": "you're", "you're": "your", "quite": "quiet"})
    text = "Is it your turn?\n\nIt was a quite place, and you're late.\n"
    assert fixed("a.md", text, there_and_back)[0] == text.replace("quite", "quiet")


def test_a_chain_of_corrections_is_not_begun():
    chain = swapping({"one": "two", "two": "three", "three": "four"})
    assert fixed("a.txt", "one, then three.", chain)[0] == "one, then four."


def test_corrected_text_of_a_corpus_lasts_too():
    annotate = swapping({"your": "you're", "you're": "your", "quite": "quiet"})
    texts = ["your quite", "nothing", "a quite place, your turn"]
    (found,) = stable_decisions(texts, annotate(texts), annotate)
    shown = [texts[d][s:e] for d, s, e in zip(found.documents, found.starts, found.ends, strict=True)]
    assert [word for word, is_flagged in zip(shown, found.flagged, strict=True) if is_flagged] == [
        "quite"
    ] * 2


def test_only_what_was_corrected_is_decided_again():
    asked: list[int] = []
    inner = swapping({"quite": "quiet"})

    def spying(texts):
        asked.append(sum(map(len, texts)))
        return inner(texts)

    text = "\n\n".join(f"Paragraph {number} has some words of its own in it." for number in range(2000))
    fixed("a.md", text + "\n\nA quite place.\n", spying)
    assert asked[0] > 90_000 and sum(asked[1:]) < 1_000


SENTENCES = [
    "It was better {then} we had hoped.", "Thank you for {you're} call.", "{Your} late again, said my aunt.",
    "She has {went} home already.", "We were asked {too} bring the keys.", "This depends {of} the weather.",
    "He is {a} honest man.", "The cat chased {it's} tail around {the the} garden.", "Nobody {new} about it.",
    "They {was} waiting for {there} friends.", "I {seen} him {their} last week.", "You can't {loose} it.",
    "The {affect} of the rain was small.", "She {begun} to {sings}.",
    "He gave it {to to} me and {you're} sister.",
    "A {peace} of cake is on the {a} table.", "My {to} brothers {is} here, and {its} late.",
]  # fmt: skip
RIGHT = {"then": "than", "you're": "your", "Your": "You're", "went": "gone", "too": "to", "of": "on"}
PLAIN = ["The train was late.", "Nobody had seen the letter.", "It rained all day.", ""]
GLUE = st.sampled_from([" ", "\n", "\n\n", "\n- ", "\n\n# ", " <b>", "** "])


@st.composite
def mistakes(draw):
    """Texts of sentences in which some of the mistakes are made."""
    parts = []
    for sentence in draw(st.lists(st.sampled_from(SENTENCES + PLAIN), min_size=1, max_size=10)):
        keep = lambda match: match[1] if draw(st.booleans()) else RIGHT.get(match[1], match[1])  # noqa: E731
        parts += [re.sub(r"\{([^}]*)\}", keep, sentence), draw(GLUE)]
    return "".join(parts)


@cache
def models():
    return ModelSource(flags_per_1000=6.0).load_correcting()


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
@given(mistakes())
@settings(max_examples=EXAMPLES, deadline=None)
def test_a_second_run_raises_nothing_in_what_the_first_one_wrote(name, text):
    new, replaced, written = fixed(name, text, models())
    plain = read_markup(name, new)
    again = find_flags(name, new, plain, [each.in_document(0) for each in models()([plain.text])]).flags
    touched = [
        (flag.observed, flag.replacement)
        for flag in again
        for start, end in written
        if flag.start < end and start < flag.end
    ]
    assert touched == []
    assert outside(text, replaced) == outside(new, written)


def outside(text: str, places: list[tuple[int, int]]) -> list[str]:
    ends = [0, *(end for _, end in places)]
    return [text[end:start] for end, start in zip(ends, [*(start for start, _ in places), None], strict=True)]


def test_through_the_command(tmp_path):
    text = "\n\n".join(re.sub(r"[{}]", "", each) for each in SENTENCES)
    (tmp_path / "a.md").write_text(text)
    command = ("check", "--no-backup", "--quiet", "a.md", "--flags-per-1000", "6")

    def run(*options):
        return here(*command, *options, folder=tmp_path)

    shown = run("--diff").stdout
    run("--fix")
    once = (tmp_path / "a.md").read_text()
    assert once != text
    added = [line[1:] for line in shown.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert added and all(line in once.split("\n") for line in added)
