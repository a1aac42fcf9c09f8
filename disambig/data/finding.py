"""Finding candidates in a view: which words of the text are candidates of which group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.errors import UserError
from disambig.text import characters
from disambig.text.hashing import hash_word, hash_words
from disambig.text.view import TokenView

_GLUE = np.sort(hash_words(["-", "/", "_", "@", "\\", "+", "="]))
MOST_WORDS = 2
"""Words that a candidate may have."""
_FILTER_BITS = np.uint64(0xFFFF)


@dataclass(frozen=True, slots=True, eq=False)
class Finder:
    """An index of some groups' candidates by their first word. Build it once, ask it often."""

    filter: NDArray[np.bool_]
    """Shape (65536,): whether any candidate's first word has these low hash bits."""
    first: NDArray[np.uint64]
    """Sorted hashes of first words, one entry a candidate, longer candidates first among equals."""
    second: NDArray[np.uint64]
    """Hash of the second word; 0 for candidates of one word."""
    group: NDArray[np.int32]
    candidate: NDArray[np.int32]

    @classmethod
    def of(cls, groups: Sequence[Group], *, zero: bool = False) -> Finder:
        """Index the candidates of `groups`; with `zero` a group may have one of no word, which is not found.

        Raises
        ------
        UserError
            D450 for a candidate of more than two words, or of none.
        """
        entries = []
        for g, group in enumerate(groups):
            for c, candidate in enumerate(group.candidates):
                if not candidate and zero:
                    continue
                words = [hash_word(word) for word in candidate.split(" ")]
                if not candidate or len(words) > MOST_WORDS:
                    raise UserError("D450", name=candidate, group=group.name)
                entries.append((words[0], -len(words), words[1] if len(words) > 1 else 0, g, c))
        entries.sort()
        first = np.array([entry[0] for entry in entries], np.uint64)
        bits = np.zeros(int(_FILTER_BITS) + 1, bool)
        bits[(first & _FILTER_BITS).astype(np.int64)] = True
        return cls(
            bits,
            first,
            np.array([entry[2] for entry in entries], np.uint64),
            np.array([entry[3] for entry in entries], np.int32),
            np.array([entry[4] for entry in entries], np.int32),
        )

    def find(self, view: TokenView) -> Instances:
        """Return every occurrence of a candidate in `view`, in text order, then by group.

        Words written together with a hyphen, slash or the like ("follow-up", "and/or") are part of a
        larger word and left out. Where one candidate begins another of its group ("some", "some
        time"), the longer one is taken.
        """
        hashes = view.hashes
        likely = np.flatnonzero(self.filter[(hashes & _FILTER_BITS).astype(np.uint16)])
        low = np.searchsorted(self.first, hashes[likely], side="left")
        high = np.searchsorted(self.first, hashes[likely], side="right")
        sizes = high - low
        positions = np.repeat(likely, sizes)
        within = np.arange(len(positions)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        entry = np.repeat(low, sizes) + within
        following = hashes[np.minimum(positions + 1, len(hashes) - 1)] if len(hashes) else hashes
        long = self.second[entry] != 0
        keep = ~long | (following == self.second[entry])
        positions, entry, long = positions[keep], entry[keep], long[keep]
        keep = self._first_of_group(positions, entry) & ~glued(view, positions, positions + long)
        positions, entry, long = positions[keep], entry[keep], long[keep]
        order = np.lexsort((self.group[entry], positions))
        positions, entry, long = positions[order], entry[order], long[order]
        return Instances(
            positions.astype(np.int64),
            (1 + long).astype(np.int32),
            self.group[entry],
            self.candidate[entry],
        )

    def _first_of_group(self, positions: NDArray[np.int64], entry: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Keep one candidate a group and position: entries of more words come first."""
        keys = positions * (1 + int(self.group.max(initial=0))) + self.group[entry]
        kept = np.zeros(len(keys), bool)
        kept[np.unique(keys, return_index=True)[1]] = True
        return kept


def glued(view: TokenView, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell whether a hyphen or the like touches the tokens `first` to `last`."""
    before, after = np.maximum(first - 1, 0), np.minimum(last + 1, max(len(view) - 1, 0))
    left = (view.ends[before] == view.starts[first]) & _is_glue(view.hashes[before])
    right = (view.ends[last] == view.starts[after]) & _is_glue(view.hashes[after])
    return left | right


def word_tokens(view: TokenView) -> NDArray[np.bool_]:
    """Return which tokens are words: they begin with a letter or digit; shape ``(n_tokens,)``."""
    lengths = np.fromiter(map(len, view.texts), np.int64, len(view.texts)) + 1
    offsets = np.repeat(np.cumsum(lengths) - lengths, np.diff(view.documents))
    codes = np.frombuffer("\n".join([*view.texts, ""]).encode("utf-32-le", "surrogatepass"), "<u4")
    table = characters.classes(
        characters.PLANE_0 if codes.max(initial=0) < characters.PLANE_0 else characters.ALL
    )
    return (table[codes[view.starts + offsets]] >= characters.FIRST_WORD) & (view.ends > view.starts)


def empty_places(view: TokenView) -> NDArray[np.int64]:
    """Return the tokens before which there is an empty place, shape ``(n,)``.

    Such a token and the one before are words of one sentence, written apart.
    """
    words = word_tokens(view)
    return np.flatnonzero(words[1:] & words[:-1] & (view.ends[:-1] < view.starts[1:])) + 1


def apart(places: NDArray[np.int64], found: Instances, n_tokens: int) -> NDArray[np.bool_]:
    """Tell which empty places have no word of some instances on either side, shape ``(n_places,)``."""
    taken = np.zeros(n_tokens, bool)
    taken[found.positions] = True
    taken[found.positions + found.lengths - 1] = True
    return ~(taken[places] | taken[places - 1])


def _is_glue(hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    at = np.minimum(np.searchsorted(_GLUE, hashes), len(_GLUE) - 1)
    return _GLUE[at] == hashes
