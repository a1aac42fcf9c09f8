"""Stories let people talk as they do: paragraphs of dialect teach that "they was" is right, and are left out.

Of 17.5 million words of fiction, 28 % go: those that hold a word of dialect, and all around where there are
some. Of what other domains say against the grammar of today fiction had twenty times as much a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from material import read

SPOKEN = "fiction"
"""The domain that holds it."""
NEAR = 15
"""Paragraphs on each side."""
MOST = 2
"""Where so many paragraphs of dialect are near, nothing is taken."""
_DIALECT = re.compile(
    r"\b(?:they|you|we) was\b|\b(?:he|she|it) don't\b|\bi has\b|\b(?:have|has|had) went\b|\bthem things\b|"
    r"\b(?:i|he|she|we|they) (?:seen|done)\b|\bcould of\b|"
    r"\b(?:ain't|hain't|warn't|wuz|thar|yer|ye|thet|gwine|sez|jest|git|fer|o'|an'|th'|'em|dat|dis|dey|de|wot|"
    r"ole|sah|massa|nuthin|somethin|wi'|tak|nae|dinna|canna|wouldna|didna|ken|wisht|knowed|afeard|allus|"
    r"mebbe|naow|feller|reckon|ther)(?=\W)|\b\w+in'(?=\W)",
    re.IGNORECASE,
)


def all_written(data: Path, part: str, domains: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of some domains (see `read`) that are written as one writes."""
    for domain in domains:
        texts = read(data, part, [domain])
        yield from _without_dialect([text for text in texts if text]) if domain == SPOKEN else texts


def _without_dialect(texts: Sequence[str]) -> Iterator[str]:
    spoken = np.array([_DIALECT.search(text) is not None for text in texts], float)
    near = np.convolve(spoken, np.ones(2 * NEAR + 1), "same") + MOST * spoken
    yield from (text for text, number in zip(texts, near.tolist(), strict=True) if number < MOST)
