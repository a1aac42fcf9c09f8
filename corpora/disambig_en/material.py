"""Read the text from which the pack is built, and leave out dialect.

In stories people speak dialect, which would teach that "they was" is correct. Paragraphs with a word of
dialect, and their surroundings if there are several, are left out: 28 % of 17.5 million words of fiction.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
from disambig_variance_svm import EVERY_NTH

from disambig.experiments import text_lines
from disambig.formats import Clean, Fix, read_clean, read_fixes

HOME = Path(__file__).parent
CORRECTING = ("preposition", "spelling")
"""Tasks that correct words; *it* labels them."""
TASKS = (*CORRECTING, "it")
VERSION = "0.3.0"
People = tuple[list[Fix], list[Clean]]
"""Mistakes that people made, and clean paragraphs of the same projects."""
FIXES = "labelled/fixes"
FIRST_TRAINING_PART, SECOND_TRAINING_PART = "train", "train2"


def read_text(data: Path, part: str, domains: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of domains; for text to count, every n-th one of the domains in `EVERY_NTH`."""
    for domain in domains:
        step = EVERY_NTH.get(domain, 1) if part == "train" else 1
        yield from islice(text_lines(data / "english" / f"{domain}.{part}.txt.xz"), 0, None, step)


@lru_cache(maxsize=4)
def read_people(data: Path, part: str) -> People:
    """Return the most reliable mistakes of a part, and its clean paragraphs.

    The part ``train`` consists of both training parts, without the projects that `read_kept_back` returns.
    """
    mistakes, clean = read_part(data, part)
    if part == "train":
        more = select_projects(read_part(data, SECOND_TRAINING_PART), lambda repo: not is_kept_back(repo))
        mistakes, clean = [*mistakes, *more[0]], [*clean, *more[1]]
    return mistakes, clean


def read_kept_back(data: Path) -> People:
    """Return mistakes and clean paragraphs that no model was trained on, for fitting the second looks."""
    return select_projects(read_part(data, SECOND_TRAINING_PART), is_kept_back)


def select_projects(people: People, is_selected: Callable[[str], bool]) -> People:
    """Return the mistakes and clean paragraphs of some projects."""
    mistakes, clean = people
    return [fix for fix in mistakes if is_selected(fix.repo)], [x for x in clean if is_selected(x.repo)]


def is_kept_back(repo: str) -> bool:
    """Return True for the third of the projects of the second training part that `read_kept_back` returns."""
    return zlib.crc32(repo.encode()) % 3 == 0


def read_part(data: Path, part: str) -> People:
    """Return the most reliable mistakes of one part as it is, and its clean paragraphs."""
    folder = data / FIXES
    return read_fixes(folder / f"{part}.jsonl.xz", tier=1), read_clean(folder / f"clean.{part}.jsonl.xz")


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
    # paragraphs with dialect within `NEAR`; one with dialect itself has too many in any case
    near = np.convolve(has_dialect, np.ones(2 * NEAR + 1), "same") + TOO_MANY * has_dialect
    yield from (text for text, number in zip(texts, near.tolist(), strict=True) if number < TOO_MANY)
