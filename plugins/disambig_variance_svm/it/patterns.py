"""Patterns that tell for sure, of some "it", whether it refers: what `learning` looks for in running text.

Treebanks label few of the places that people notice: weather and time, clefts, fixed phrases. The patterns
(``patterns.txt``) are of high precision and say nothing of most places; what words stand there is learned
from where they hold (`frames`), so that it is known elsewhere, too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from .task import NON_REFERENTIAL, REFERENTIAL

PATTERNS = Path(__file__).parent / "patterns.txt"
LABELS: Mapping[str, str] = {
    **dict.fromkeys(("weather", "time", "cleft", "clause", "idiom"), NON_REFERENTIAL),
    "thing": REFERENTIAL,
}
"""What each kind of pattern says."""
_IT = re.compile(r"\bit\b")
_CLITIC = re.compile(r"(?<=\w)(?=(?:n't|'(?:s|re|ve|ll|d|m))\b)")
_PIECE = re.compile("<([A-Z_]+)>")


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    """Return one expression a kind."""
    pieces: dict[str, str] = {}
    some: dict[str, list[str]] = defaultdict(list)
    for line in PATTERNS.read_text(encoding="utf8").splitlines():
        if line and not line.startswith("#"):
            name, _, pattern = line.partition("\t")
            whole = _PIECE.sub(lambda match: pieces[match[1]], pattern)
            if name.isupper():
                pieces[name] = whole
            else:
                some[name].append(f"(?:{whole})")
    return {kind: re.compile(r"(?<![\w'-])(?:" + "|".join(some[kind]) + ")") for kind in LABELS}


def told(sentence: str, kinds: Iterable[str] = tuple(LABELS)) -> Iterator[tuple[str, int, str]]:
    """Yield kind, place and words of each pattern of some kinds that holds in a sentence.

    The place is where its "it" begins, in characters.
    """
    plain = sentence.replace("\u2019", "'").lower()
    cuts = [match.start() for match in _CLITIC.finditer(plain)] if "'" in plain else []
    spread = " ".join(plain[start:end] for start, end in pairwise([0, *cuts, len(plain)]))
    for kind in kinds:
        for match in _patterns()[kind].finditer(spread):
            it = _IT.search(spread, match.start(), match.end())
            if it is not None:
                before = sum(cut + number < it.start() for number, cut in enumerate(cuts))
                yield kind, it.start() - before, match[0]
