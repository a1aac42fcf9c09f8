"""Read the text from which the pack is built, and leave out dialect.

In stories people speak dialect, which would teach that "they was" is correct. Paragraphs with a word of
dialect, and their surroundings if there are several, are left out: 28 % of 17.5 million words of fiction.
"""

from __future__ import annotations

import lzma
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from disambig_variance_svm import EVERY_NTH, PACK_DOMAINS as DOMAINS

from disambig.formats import Clean, Fix, read_clean, read_fixes

__all__ = [
    "CORRECTING",
    "DOMAINS",
    "FIRST_TRAINING_PART",
    "HOME",
    "TASKS",
    "VERSION",
    "read_kept_back",
    "read_part",
    "read_people",
    "read_text",
]
HOME = Path(__file__).parent
CORRECTING = ("preposition", "spelling")
"""Tasks that correct words; *it* labels them."""
TASKS = (*CORRECTING, "it")
VERSION = "0.3.0"
FIXES = "labelled/fixes"
"""Mistakes that people made, and clean paragraphs of the same projects."""
FIRST_TRAINING_PART, SECOND_TRAINING_PART = "train", "train2"


def read_text(data: Path, part: str, domains: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of domains; for text to count, every n-th one of the domains in `EVERY_NTH`."""
    for domain in domains:
        step = EVERY_NTH.get(domain, 1) if part == "train" else 1
        with lzma.open(data / "english" / f"{domain}.{part}.txt.xz", "rt", encoding="utf8") as lines:
            for number, line in enumerate(lines):
                if number % step == 0:
                    yield line.rstrip("\n")


@lru_cache(maxsize=4)
def read_people(data: Path, part: str) -> tuple[list[Fix], list[Clean]]:
    """Return the most reliable mistakes of a part, and its clean paragraphs.

    The part ``train`` consists of both training parts, without the projects that `read_kept_back` returns.
    """
    mistakes, clean = read_part(data, part)
    if part == "train":
        more_mistakes, more_clean = read_part(data, SECOND_TRAINING_PART)
        mistakes = [*mistakes, *(fix for fix in more_mistakes if not is_kept_back(fix.repo))]
        clean = [*clean, *(paragraph for paragraph in more_clean if not is_kept_back(paragraph.repo))]
    return mistakes, clean


def read_kept_back(data: Path) -> tuple[list[Fix], list[Clean]]:
    """Return mistakes and clean paragraphs that no model was trained on, for fitting the second looks."""
    mistakes, clean = read_part(data, SECOND_TRAINING_PART)
    return (
        [fix for fix in mistakes if is_kept_back(fix.repo)],
        [paragraph for paragraph in clean if is_kept_back(paragraph.repo)],
    )


def is_kept_back(repo: str) -> bool:
    """Return True for the third of the projects of the second training part that `read_kept_back` returns."""
    return zlib.crc32(repo.encode()) % 3 == 0


def read_part(data: Path, part: str) -> tuple[list[Fix], list[Clean]]:
    """Return the most reliable mistakes of one part as it is, and its clean paragraphs."""
    folder = data / FIXES
    return (
        read_fixes(folder / f"{part}.jsonl.xz", tier=1),
        read_clean(folder / f"clean.{part}.jsonl.xz"),
    )


DIALECT_DOMAIN = "fiction"
NEAR = 15
"""Number of neighbouring paragraphs on each side that count as near."""
TOO_MANY = 2
"""A paragraph is left out if it has dialect, or if this many paragraphs near it have."""
_DIALECT = re.compile(
    r"\b(?:they|you|we) was\b|\b(?:he|she|it) don't\b|\bi has\b|\b(?:have|has|had) went\b|\bthem things\b|"
    r"\b(?:i|he|she|we|they) (?:seen|done)\b|\bcould of\b|"
    r"\b(?:ain't|hain't|warn't|wuz|thar|yer|ye|thet|gwine|sez|jest|git|fer|o'|an'|th'|'em|dat|dis|dey|de|wot|"
    r"ole|sah|massa|nuthin|somethin|wi'|tak|nae|dinna|canna|wouldna|didna|ken|wisht|knowed|afeard|allus|"
    r"mebbe|naow|feller|reckon|ther)(?=\W)|\b\w+in'(?=\W)",
    re.IGNORECASE,
)


def without_dialect_paragraphs(data: Path, part: str, domains: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of domains (see `read_text`) that are in standard English."""
    for domain in domains:
        texts = read_text(data, part, [domain])
        yield from _without_dialect([text for text in texts if text]) if domain == DIALECT_DOMAIN else texts


def _without_dialect(texts: Sequence[str]) -> Iterator[str]:
    has_dialect = np.array([_DIALECT.search(text) is not None for text in texts], float)
    near = np.convolve(has_dialect, np.ones(2 * NEAR + 1), "same") + TOO_MANY * has_dialect
    yield from (text for text, number in zip(texts, near.tolist(), strict=True) if number < TOO_MANY)
