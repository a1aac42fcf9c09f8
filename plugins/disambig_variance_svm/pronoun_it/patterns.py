"""Patterns that show for some uses of "it" whether it is referential, and the extractor based on them.

Treebanks label few of the cases that people notice: weather and time, clefts, fixed phrases. The patterns
(``patterns.txt``) have a high precision, but match few places; the frame model generalises from their
matches.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Features, Group, Instances, StatelessExtractor, TokenView, by_group
from disambig.api.settings import ABOVE_ZERO, validate_settings

from .task import NON_REFERENTIAL, REFERENTIAL, check_two_labels, opposite_attributes

PATTERNS = Path(__file__).parent / "patterns.txt"
LABELS: Mapping[str, str] = {
    **dict.fromkeys(("weather", "time", "cleft", "clause", "idiom"), NON_REFERENTIAL),
    **dict.fromkeys(("thing", "same"), REFERENTIAL),
}
"""The label that each kind of pattern indicates."""
UNMATCHED = "untold"
"""The kind of an "it" that no pattern matches: most of them are referential."""
_SENTENCE = re.compile(r"[^.!?]*\bit\b[^.!?]*[.!?]?", re.IGNORECASE)
_ANY_IT = re.compile(r"\bit\b", re.IGNORECASE)
_WORDING = 5
"""Maximum number of words in a wording."""
_IT = re.compile(r"\bit\b")
_WORD = re.compile(r"(?<![\w'-])\w")
_CLITIC = re.compile(r"(?<=\w)(?=(?:n't|'(?:s|re|ve|ll|d|m))\b)")
"""The place where a clitic begins within a word: "it|'s", "do|n't"."""
_PIECE = re.compile("<([A-Z_]+)>")
_INVERTED = re.compile(
    r"(^|[-,;:.!?(\"\u201c] ?|\b(?:why|when|where|how(?: \w+){0,2}|what|then|and|but|nor|or|so|oh|well) )"
    r"((?:is|was|does|did|has|had|will|would|can|could|should|might|must|wo|ca|'s|'d|'ll)(?: n't| not)?) it "
)
"""An auxiliary verb before "it", at the start of a clause or after a question word."""
_NO_ADVERBS = (
    "ally anomaly apply assembly barely belly billy bully butterfly chilly comply costly curly daily deadly "
    "drizzly early elderly emily family finally fly friendly godly hilly holy imply italy jelly july kindly "
    "likely lily lively lonely lovely melancholy monthly multiply oily only orderly ply rely reply sally "
    "silly sly smelly supply timely ugly unlikely weekly yearly"
).split()
# a word in -ly that is no noun or adjective, or another adverb, and the space after it
_ADVERB = re.compile(
    rf"\b(?:(?!(?:{'|'.join(_NO_ADVERBS)})\b)[a-z]{{2,}}ly|rarely|seldom|never|always|often|sometimes|ever|still"
    r"|already|just|also|even|quite|very) (?=\S)"
)
# the common beginnings of patterns, which are matched once: "it", with optional auxiliary verbs
_BEGIN = re.compile(r"it (?:<BEFORE>|(?:<AUX>|\(\?:<AUX>\))\{0,\d\}\?)")


@lru_cache(maxsize=1)
def _patterns() -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    """Return two expressions per kind: one of patterns that begin with "it", which is tried there only."""
    pieces: dict[str, str] = {}
    patterns: dict[tuple[str, bool], list[str]] = defaultdict(list)  # by kind, and whether "it" begins them
    for line in PATTERNS.read_text(encoding="utf8").splitlines():
        if line and not line.startswith("#"):
            name, _, pattern = line.partition("\t")
            if name.isupper():
                pieces[name] = _whole_pattern(pattern, pieces)
            else:
                patterns[name, pattern.startswith("it ")].append(pattern)
    return {
        kind: (_alternation(patterns[kind, True], pieces), _alternation(patterns[kind, False], pieces))
        for kind in LABELS
    }


def _whole_pattern(pattern: str, pieces: Mapping[str, str]) -> str:
    """Replace the names of pieces, such as ``<AUX>``, by their patterns."""
    return _PIECE.sub(lambda match: pieces[match[1]], pattern)


def _alternation(patterns: Iterable[str], pieces: Mapping[str, str]) -> re.Pattern[str]:
    """Return an alternation of all patterns, in which common beginnings are matched only once."""
    rests: dict[str, list[str]] = defaultdict(list)
    for pattern in patterns:
        start = _BEGIN.match(pattern)
        first = start[0] if start else ""
        rests[first].append(f"(?:{_whole_pattern(pattern[len(first) :], pieces)})")
    alternatives = (_whole_pattern(first, pieces) + f"(?:{'|'.join(rest)})" for first, rest in rests.items())
    return re.compile("|".join(alternatives) or "(?!)")


def match_patterns(sentence: str, kinds: Iterable[str] = tuple(LABELS)) -> Iterator[tuple[str, int, str]]:
    """Yield the kind, the offset of "it" and the matched words of each match in a sentence.

    The sentence is matched as written and in `normal_order`.
    """
    plain = sentence.replace("\u2019", "'").lower()
    cuts = [match.start() for match in _CLITIC.finditer(plain)] if "'" in plain else []
    spread = " ".join(plain[start:end] for start, end in pairwise([0, *cuts, len(plain)]))
    written = [match.start() for match in _IT.finditer(spread)]
    if not written:
        return
    before = [at - sum(cut + number < at for number, cut in enumerate(cuts)) for at in written]
    # every "it" stays, and in the same order, so that a number identifies it in both versions
    versions = [
        (version, list(_starts(version))) for version in dict.fromkeys((spread, normal_order(spread)))
    ]
    for kind in kinds:
        with_it, others = _patterns()[kind]
        wordings: dict[int, str] = {}
        for version, (places, words) in versions:
            for number, at in enumerate(places):
                if number not in wordings and (match := with_it.match(version, at)) is not None:
                    wordings[number] = match[0]
            for word in words:
                if (match := others.match(version, word)) is not None:
                    within = next((n for n, at in enumerate(places) if word <= at < match.end()), None)
                    if within is not None:
                        wordings.setdefault(within, match[0])
        yield from ((kind, before[number], wording) for number, wording in sorted(wordings.items()))


def find_examples(sentence: str, kinds: Iterable[str] = tuple(LABELS)) -> list[tuple[str, int, str]]:
    """Return the kind, the offset of "it" and the wording of each match that shows a label.

    If a non-referential pattern matches an "it", matches of referential patterns do not count: "it stopped
    raining". The wording is the first words of the match.
    """
    matches = list(match_patterns(sentence, kinds))
    non_referential = {start for kind, start, _ in matches if LABELS[kind] == NON_REFERENTIAL}
    return [
        (kind, start, " ".join(words.split()[:_WORDING]))
        for kind, start, words in matches
        if LABELS[kind] == NON_REFERENTIAL or start not in non_referential
    ]


def sentences_with_it(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph that contain an "it"."""
    return (match[0].strip() for match in _SENTENCE.finditer(paragraph))


def first_it(sentence: str) -> int:
    """Return the offset of the first "it" of a sentence that contains one."""
    match = _ANY_IT.search(sentence)
    assert match is not None
    return match.start()


Example = TypeVar("Example", bound=Hashable)


def sample_wordings(
    examples: Iterable[Example],
    wording: Callable[[Example], str],
    *,
    maximum: int,
    most_same: int,
    rng: random.Random,
) -> list[Example]:
    """Return up to `maximum` distinct examples in random order, up to `most_same` with the same wording."""
    distinct = list(dict.fromkeys(examples))
    rng.shuffle(distinct)
    kept: list[Example] = []
    seen = Counter[str]()
    for example in distinct:
        seen[wording(example)] += 1
        if seen[wording(example)] <= most_same:
            kept.append(example)
    return kept[:maximum]


def _starts(sentence: str) -> tuple[list[int], list[int]]:
    """Return where each "it" begins, and each word up to the last "it"."""
    places = [match.start() for match in _IT.finditer(sentence)]
    return places, [match.start() for match in _WORD.finditer(sentence, 0, places[-1] + 1)]


def normal_order(sentence: str) -> str:
    """Return a sentence without adverbs, and with the auxiliary verb of a question after its "it".

    "is it really snowing ?" becomes "it is snowing ?".

    The sentence is in lower case; clitics are words.
    """
    return _INVERTED.sub(r"\1it \2 ", _ADVERB.sub("", sentence))


NAME = "patterns"
KINDS = tuple(LABELS)
_NAMES = tuple(f"a pattern of {kind}" for kind in KINDS)
_IS_REFERENTIAL = np.array([LABELS[kind] == REFERENTIAL for kind in KINDS])
SCALE = 2.0
"""Usual attribute value of a match."""


@dataclass(frozen=True, slots=True)
class ItPatterns(StatelessExtractor):
    """Extractor of one attribute per kind of pattern, for a task that labels "it" with one of two labels.

    Parameters
    ----------
    scale : float
        Attribute value of a match; learners shrink the weights of attributes with small values.

    Raises
    ------
    UserError
        D760 for a scale that is not above 0.
    """

    scale: float = SCALE
    describes: ClassVar[str] = "group"

    def __post_init__(self) -> None:
        validate_settings(self, scale=ABOVE_ZERO)

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return one attribute per candidate for each of `KINDS`, shape ``(n, 2, len(KINDS))``.

        Raises D455 for a group that does not have two candidates.
        """
        check_two_labels(group)
        indicators = self.scale * matched_kinds(view, instances)
        return opposite_attributes(indicators, instances, group, name=NAME, names=_NAMES)


def matched_kinds(view: TokenView, instances: Instances) -> NDArray[np.bool_]:
    """Return which kinds of patterns match each place within its sentence, shape ``(n, len(KINDS))``.

    If a non-referential pattern matches, matches of referential patterns are dropped: "it stopped raining".
    """
    matched = np.zeros((len(instances), len(KINDS)), bool)
    sentences = view.sentence_indices(instances.positions)
    documents = view.document_indices(instances.positions)
    for sentence in np.unique(sentences).tolist():
        rows = np.flatnonzero(sentences == sentence)
        first, stop = view.sentences[sentence : sentence + 2].tolist()
        start, end = int(view.starts[first:stop].min()), int(view.ends[first:stop].max())
        row_of = {int(view.starts[instances.positions[row]]) - start: row for row in rows.tolist()}
        for kind, place, _ in match_patterns(view.texts[documents[rows[0]]][start:end]):
            if place in row_of:
                matched[row_of[place], KINDS.index(kind)] = True
    matched[:, _IS_REFERENTIAL] &= ~matched[:, ~_IS_REFERENTIAL].any(axis=1, keepdims=True)
    return matched
