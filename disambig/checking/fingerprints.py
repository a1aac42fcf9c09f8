"""What a flag is known by when lines move: its file, its task, its words and the sentence around them.

Neither the place nor what is proposed is in it, so a flag keeps its fingerprint when text is added above,
when its paragraph is wrapped anew, and when a new model proposes another word.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from disambig.checking.flags import Flag
from disambig.text.markup.canvas import BREAK

_ENDS = re.compile(rf"[.!?:;][\"'\u201d\u2019)\]]*\s+|(?:\r\n|\r|\n)[^\S\r\n]*(?:\r\n|\r|\n)|{BREAK}")
_FURTHEST = 500
"""Characters to look for the end of a sentence, on each side."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a flag is known by.

    Attributes
    ----------
    path : str
        Of its file, relative to whatever compares, with slashes.
    task : str
    observed : str
    sentence : str
        With single blanks.
    """

    path: str
    task: str
    observed: str
    sentence: str

    @property
    def digest(self) -> str:
        """A hash of it, 32 hexadecimal digits; the same in every version of Python."""
        whole = "\0".join((self.path, self.task, self.observed, self.sentence))
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def known_by(path: str, plain: str, flag: Flag) -> Known:
    """Return what a flag is known by.

    Parameters
    ----------
    path : str
        Of its file, relative to whatever compares, with slashes.
    plain : str
        The text without its markup, of the same length.
    """
    observed = " ".join(flag.observed.split())
    return Known(path, flag.task, observed, sentence_around(plain, flag.start, flag.end))


def numbered(known: Iterable[Known]) -> list[str]:
    """Return a fingerprint for each, no two alike: those that are alike are numbered, in their order."""
    seen: Counter[Known] = Counter()
    fingerprints = []
    for each in known:
        seen[each] += 1
        fingerprints.append(f"{each.digest}:{seen[each]}")
    return fingerprints


def sentence_around(plain: str, start: int, end: int) -> str:
    """Return the sentence that holds ``start:end``, with single blanks; of a long one what is near."""
    first = max(0, start - _FURTHEST)
    for match in _ENDS.finditer(plain, first, start):
        first = match.end()
    following = _ENDS.search(plain, end, end + _FURTHEST)
    last = following.end() if following else min(len(plain), end + _FURTHEST)
    return " ".join(plain[first:last].split())
