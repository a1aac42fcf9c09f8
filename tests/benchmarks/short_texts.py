"""Short labelled texts, made of running text: what field a sentence is of, which word was taken out of it.

Four sets, always the same: sentences of twelve fields ("domains"), or halves of them ("halves"), with the
field as label; sentences without a word of praise or blame, and which of the two it was ("polarity");
questions without their first word, which is the label ("questions").
"""

from __future__ import annotations

import lzma
import random
import re
from collections import defaultdict
from pathlib import Path

LEARN, TEST = 10_000, 5_000
FIELDS = (
    "encyclopedic essays fiction government guides health manuals mixed science speeches technical textbooks"
).split()
FIRST_WORDS = frozenset("what how why who when where which is do can".split())
PRAISE = (
    "good great better best beautiful excellent wonderful happy pleasant useful helpful successful easy nice"
    " lovely"
).split()
BLAME = (
    "bad worse worst terrible ugly awful horrible sad unpleasant useless harmful difficult poor cruel"
    " dreadful"
).split()
_NEXT = re.compile(r"(?<=[.!?])[\"\u201d\u2019)]*\s+(?=[A-Z\u201c\"])")

Texts = list[tuple[str, str]]


def short_texts(data: Path) -> dict[str, tuple[Texts, Texts]]:
    """Return the training and test texts of each set, with their labels."""
    rng = random.Random(1)
    held_out = {field: _sentences(data, field, "heldout", 20_000) for field in FIELDS}
    counted = {field: _sentences(data, field, "train", 15_000) for field in FIELDS}
    domains = [
        (text, field)
        for field, some in held_out.items()
        for text in rng.sample(some, min(LEARN + TEST, 12 * len(some)) // 12)
    ]
    rng.shuffle(domains)
    made = {
        "domains": domains,
        "halves": [(_half(text, rng), field) for text, field in domains],
        "polarity": _polarity(held_out, counted, rng),
        "questions": _questions(held_out, counted, rng),
    }
    cut = {name: min(LEARN, len(texts) * 4 // 5) for name, texts in made.items()}
    return {name: (texts[: cut[name]], texts[cut[name] :][:TEST]) for name, texts in made.items()}


def _sentences(data: Path, field: str, part: str, most: int) -> list[str]:
    sentences: list[str] = []
    with lzma.open(data / "english" / f"{field}.{part}.txt.xz", "rt", encoding="utf8") as lines:
        for _, line in zip(range(most), lines, strict=False):
            sentences += [
                sentence for sentence in _NEXT.split(line.strip()) if 4 <= len(sentence.split()) <= 60
            ]
    return sentences


def _half(text: str, rng: random.Random) -> str:
    words = text.split()
    middle = len(words) // 2
    return " ".join(words[:middle] if rng.random() < 0.5 else words[middle:])


def _polarity(held_out, counted, rng: random.Random) -> Texts:
    patterns = {
        label: re.compile(rf"\b({'|'.join(words)})\b", re.I)
        for label, words in (("praise", PRAISE), ("blame", BLAME))
    }
    texts_by_label = defaultdict(set)
    for texts in (*counted.values(), *held_out.values()):
        for text in texts:
            there = [label for label, pattern in patterns.items() if pattern.search(text)]
            if len(there) == 1:
                texts_by_label[there[0]].add(patterns[there[0]].sub("", text))
    return _sampled(texts_by_label, (LEARN + TEST) // 2, rng)


def _questions(held_out, counted, rng: random.Random) -> Texts:
    texts_by_label = defaultdict(set)
    for texts in (*counted.values(), *held_out.values()):
        for text in texts:
            first, _, rest = text.partition(" ")
            if text.endswith("?") and first.lower() in FIRST_WORDS:
                texts_by_label[first.lower()].add(rest)
    return _sampled(texts_by_label, 2_000, rng)


def _sampled(texts_by_label: dict[str, set[str]], most: int, rng: random.Random) -> Texts:
    made = [
        (text, label)
        for label, texts in sorted(texts_by_label.items())
        for text in rng.sample(sorted(texts), min(most, len(texts)))
    ]
    rng.shuffle(made)
    return made
