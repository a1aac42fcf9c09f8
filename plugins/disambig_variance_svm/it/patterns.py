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
    **dict.fromkeys(("thing", "same"), REFERENTIAL),
}
"""What each kind of pattern says."""
_IT = re.compile(r"\bit\b")
_WORD = re.compile(r"(?<![\w'-])\w")
_CLITIC = re.compile(r"(?<=\w)(?=(?:n't|'(?:s|re|ve|ll|d|m))\b)")
_PIECE = re.compile("<([A-Z_]+)>")
_BEGIN = re.compile(r"it (?:<BEFORE>|(?:<AUX>|\(\?:<AUX>\))\{0,\d\}\?)")


@lru_cache(maxsize=1)
def _patterns() -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    """Return two expressions a kind: of what begins with an "it", tried there, and of all else."""
    pieces: dict[str, str] = {}
    some: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for line in PATTERNS.read_text(encoding="utf8").splitlines():
        if line and not line.startswith("#"):
            name, _, pattern = line.partition("\t")
            if name.isupper():
                pieces[name] = _whole(pattern, pieces)
            else:
                some[name, pattern.startswith("it ")].append(pattern)
    return {kind: (_one_of(some[kind, True], pieces), _one_of(some[kind, False], pieces)) for kind in LABELS}


def _whole(pattern: str, pieces: Mapping[str, str]) -> str:
    return _PIECE.sub(lambda match: pieces[match[1]], pattern)


def _one_of(patterns: Iterable[str], pieces: Mapping[str, str]) -> re.Pattern[str]:
    """Return an expression of all; little words with which several begin are gone over once for them."""
    rests: dict[str, list[str]] = defaultdict(list)
    for pattern in patterns:
        begin = _BEGIN.match(pattern)
        first = begin[0] if begin else ""
        rests[first].append(f"(?:{_whole(pattern[len(first) :], pieces)})")
    some = [_whole(first, pieces) + f"(?:{'|'.join(each)})" for first, each in rests.items()]
    return re.compile("|".join(some) or "(?!)")


def told(sentence: str, kinds: Iterable[str] = tuple(LABELS)) -> Iterator[tuple[str, int, str]]:
    """Yield of each "it" in a sentence the kinds of which a pattern holds: kind, place and the words.

    The place is where the "it" begins, in characters.
    """
    plain = sentence.replace("\u2019", "'").lower()
    cuts = [match.start() for match in _CLITIC.finditer(plain)] if "'" in plain else []
    spread = " ".join(plain[start:end] for start, end in pairwise([0, *cuts, len(plain)]))
    places = [match.start() for match in _IT.finditer(spread)]
    if not places:
        return
    before = [at - sum(cut + number < at for number, cut in enumerate(cuts)) for at in places]
    words = [match.start() for match in _WORD.finditer(spread, 0, places[-1] + 1)]
    for kind in kinds:
        with_it, others = _patterns()[kind]
        found: dict[int, str] = {}
        for number, at in enumerate(places):
            if (match := with_it.match(spread, at)) is not None:
                found[number] = match[0]
        for word in words:
            if (match := others.match(spread, word)) is not None:
                within = next((n for n, at in enumerate(places) if word <= at < match.end()), None)
                if within is not None:
                    found.setdefault(within, match[0])
        yield from ((kind, before[number], wording) for number, wording in sorted(found.items()))
