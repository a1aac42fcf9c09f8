"""Find the candidates of groups in a view, and the instances of a task."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.instances import Instances, distinct_texts
from disambig.errors import UserError, contract_error
from disambig.text import TokenView, characters, hash_word, hash_words, tokenisation_named
from disambig.types import HasExamples, Task

_GLUE = np.sort(hash_words(["-", "/", "_", "@", "\\", "+", "="]))
MOST_WORDS = 2
"""Words that a candidate may have."""
_FILTER_BITS = np.uint64(0xFFFF)


@dataclass(frozen=True, slots=True, eq=False)
class CandidateFinder:
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
    def of(cls, groups: Sequence[Group], *, zero: bool = False) -> CandidateFinder:
        """Call `from_groups`, which this method was called in the last release."""
        warnings.warn("Finder.of is now called CandidateFinder.from_groups", DeprecationWarning, stacklevel=2)
        return cls.from_groups(groups, zero=zero)

    @classmethod
    def from_groups(cls, groups: Sequence[Group], *, zero: bool = False) -> CandidateFinder:
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


def apart(places: NDArray[np.int64], instances: Instances, n_tokens: int) -> NDArray[np.bool_]:
    """Tell which empty places have no word of some instances on either side, shape ``(n_places,)``."""
    taken = np.zeros(n_tokens, bool)
    taken[instances.positions] = True
    taken[instances.positions + instances.lengths - 1] = True
    return ~(taken[places] | taken[places - 1])


def _is_glue(hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    at = np.minimum(np.searchsorted(_GLUE, hashes), len(_GLUE) - 1)
    return _GLUE[at] == hashes


def neighbour_words(view: TokenView, instances: Instances) -> NDArray[np.uint64]:
    """Return the hashes of the words before and after each place of a view, shape ``(n, 2)``.

    At a sentence's end it is the boundary word.
    """
    before = instances.positions - 1
    after = instances.positions + instances.lengths
    neighbours: NDArray[np.uint64] = view.hashes[np.stack([before, after], axis=1)]
    return neighbours


Words = tuple[int, ...]
MOST_KEPT = 1 << 16
"""Candidates of a tokenisation whose words are kept."""
_kept: dict[str, dict[str, Words]] = {}


def hash_candidates(texts: Sequence[str], tokenisation: str) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the words of candidates as hashes, and how many each has.

    Parameters
    ----------
    texts : sequence of str, shape (n,)
    tokenisation : str
        Registry name: what one word is in the text is one here.

    Returns
    -------
    words : array of uint64, shape (n, most words)
        Zero behind the last word of a candidate; one column at least.
    lengths : array of int64, shape (n,)
    """
    distinct, row = distinct_texts(texts)
    hashed = _words(distinct, tokenisation)
    lengths = np.fromiter(map(len, hashed), np.int64, len(hashed))
    words = np.zeros((len(hashed), int(lengths.max(initial=1))), np.uint64)
    inside = np.arange(words.shape[1]) < lengths[:, None]
    words[inside] = np.fromiter(chain.from_iterable(hashed), np.uint64, int(lengths.sum()))
    return words[row], lengths[row]


def _words(texts: Sequence[str], tokenisation: str) -> list[Words]:
    """Return the hashes of the words of different texts."""
    kept = _kept.setdefault(tokenisation, {})
    hashed = list(map(kept.get, texts))
    new = [text for text, words in zip(texts, hashed, strict=True) if words is None]
    if new:
        cut = dict(zip(new, _tokenise_texts(new, tokenisation), strict=True))
        if len(kept) + len(cut) > MOST_KEPT:
            kept.clear()
        if len(cut) <= MOST_KEPT:
            kept.update(cut)
        hashed = [cut[text] if words is None else words for text, words in zip(texts, hashed, strict=True)]
    return [words for words in hashed if words is not None]


def _tokenise_texts(texts: Sequence[str], tokenisation: str) -> Iterator[Words]:
    view = tokenisation_named(tokenisation)(texts)
    tokens = np.flatnonzero(view.ends > view.starts)
    ends = np.searchsorted(view.document_indices(tokens), np.arange(len(texts)), side="right").tolist()
    hashes = view.hashes[tokens].tolist()
    return (tuple(hashes[start:end]) for start, end in zip([0, *ends], ends, strict=False))


_COLUMNS = ("positions", "lengths", "groups", "observed")


def find_instances(task: Task, view: TokenView) -> Instances:
    """Return the decisions that a task takes in a view, checked.

    Raises
    ------
    UserError
        D414 where it cannot be asked, or gives columns that are no whole numbers or of different lengths.
    """
    if not callable(getattr(task, "instances", None)):
        raise _fault(task, "it has no method instances", "a task")
    return _checked(task, task.instances(view), "instances")


def find_examples(task: Task, view: TokenView) -> Instances:
    """Return the places of a view that a task is learned from, checked; by default those that it decides.

    Raises
    ------
    UserError
        D414.
    """
    if isinstance(task, HasExamples) and callable(task.examples):
        return _checked(task, task.examples(view), "examples")
    return find_instances(task, view)


def _checked(task: Task, instances: Instances, name_of_method: str) -> Instances:
    if not isinstance(instances, Instances):
        raise _fault(task, f"{name_of_method} returned {type(instances).__name__}", "Instances")
    n = len(instances)
    for name in _COLUMNS:
        column = np.asarray(getattr(instances, name))
        if column.shape != (n,) or column.dtype.kind not in "iu":
            seen = f"{name} is of {column.dtype} and shape {column.shape}"
            raise _fault(task, seen, f"whole numbers of shape ({n},): one an instance")
    if n and not (instances.groups.min() >= 0 and instances.groups.max() < len(task.groups)):
        seen = f"an instance is of group {int(instances.groups.max())}, with {len(task.groups)} in groups"
        raise _fault(task, seen, "an index into groups")
    return instances


def _fault(task: Task, seen: str, wanted: str) -> UserError:
    return contract_error(f"the task {type(task).__name__}", seen, wanted)
