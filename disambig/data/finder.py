"""Find the candidates of groups, and the instances of a task, in a token view."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.data.instances import MAX_WORDS, CandidateLists, Group, Instances, Interned, distinct_texts
from disambig.data.segments import HashVocabulary, expand_ranges, offsets_from_sizes
from disambig.errors import UserError, contract_error, describe_value
from disambig.registry import describe_component
from disambig.text import TokenView, characters, hash_word, hash_words, tokenisation_named
from disambig.types import HasExamples, Task, TaskTraits, decides, get_trait

_JOINERS = HashVocabulary(np.sort(hash_words(["-", "/", "_", "@", "\\", "+", "="])))
_HYPHEN = hash_word("-")
_FILTER_BITS = np.uint64(0xFFFF)  # the low 16 bits of a hash; a table of 65,536 bools fits the CPU cache


@dataclass(frozen=True, slots=True, eq=False)
class CandidateFinder:
    """An index of candidates by their first word: built once, used for many texts."""

    filter: NDArray[np.bool_]
    """Whether any candidate's first word has these low hash bits, shape (65536,); rejects most words fast."""
    first: NDArray[np.uint64]
    """Sorted hashes of first words, one per candidate; longer candidates come first among equals."""
    second: NDArray[np.uint64]
    """Hash of the second word; 0 for candidates of one word."""
    group: NDArray[np.int32]
    candidate: NDArray[np.int32]

    @classmethod
    def of(cls, groups: Sequence[Group], *, zero: bool = False) -> CandidateFinder:
        """Call `from_groups`: a deprecated alias."""
        warnings.warn("Finder.of is now called CandidateFinder.from_groups", DeprecationWarning, stacklevel=2)
        return cls.from_groups(groups, zero=zero)

    @classmethod
    def from_groups(cls, groups: Sequence[Group], *, zero: bool = False) -> CandidateFinder:
        """Index the candidates of `groups`; with `zero` a group may have an empty one, which is skipped.

        Raises
        ------
        UserError
            D450 for a candidate with more than two words or none.
        """
        entries = []
        for g, group in enumerate(groups):
            for c, candidate in enumerate(group.candidates):
                if not candidate and zero:
                    continue
                words = [hash_word(word) for word in candidate.split(" ")]
                if not candidate or len(words) > MAX_WORDS:
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

        Words joined to others by a hyphen, slash or similar ("follow-up", "and/or") are part of a
        larger word and left out. If one candidate is the beginning of another one of its group ("some",
        "some time"), the longer one is taken.
        """
        hashes = view.hashes
        possible = self.filter[(hashes & _FILTER_BITS).astype(np.uint16)].nonzero()[0]
        of_possible = hashes[possible]
        low = self.first.searchsorted(of_possible, side="left")
        sizes = self.first.searchsorted(of_possible, side="right") - low
        positions = possible.repeat(sizes)
        entries = expand_ranges(low, sizes)
        # the last token is a boundary, never a candidate: it may be compared with itself
        following = hashes[np.minimum(positions + 1, len(hashes) - 1)] if len(hashes) else hashes
        has_two_words = self.second[entries] != 0
        keep = ~has_two_words | (following == self.second[entries])
        positions, entries, has_two_words = positions[keep], entries[keep], has_two_words[keep]
        keys = positions * (1 + int(self.group.max(initial=0))) + self.group[entries]
        keep = ~glued(view, positions, positions + has_two_words)
        if not (keys[1:] > keys[:-1]).all():
            # the first entry of each group at a position, in the order of positions and groups
            first = np.unique(keys, return_index=True)[1]
            keep = first[keep[first]]
        entries, lengths = entries[keep], 1 + has_two_words[keep].astype(np.int32)
        return Instances(positions[keep], lengths, self.group[entries], self.candidate[entries])


def glued(view: TokenView, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask of the spans of tokens `first` to `last` that a hyphen or similar touches."""
    left, right = view.cached(_find_joined)
    return left[first] | right[last]


def _find_joined(view: TokenView) -> NDArray[np.bool_]:
    """Return masks of the tokens that a joiner touches, on the left and on the right.

    A word that is hyphenated at the end of a line goes on at the beginning of the next one.
    """
    touches = view.ends[:-1] == view.starts[1:]
    is_joiner = _JOINERS.contains(view.hashes)
    joined = np.zeros((2, len(view)), bool)
    joined[0, 1:], joined[1, :-1] = touches & is_joiner[:-1], touches & is_joiner[1:]
    hyphens = ((view.hashes[1:-1] == _HYPHEN) & touches[:-1] & ~touches[1:]).nonzero()[0] + 1
    for at, document in zip(hyphens.tolist(), view.document_indices(hyphens).tolist(), strict=True):
        text, end = view.texts[document], int(view.ends[at])
        if view.starts[at + 1] > end and text[view.ends[at - 1] - 1].isalpha():
            joined[0, at + 1] = "\n" in text[end : view.starts[at + 1]]
    return joined


def word_tokens(view: TokenView) -> NDArray[np.bool_]:
    """Return a mask of the tokens that are words (begin with a letter or digit), shape ``(n_tokens,)``.

    The mask is computed once per view, and cannot be written to.
    """
    return view.cached(_find_first_classes)[0]


def capitalised_tokens(view: TokenView) -> NDArray[np.bool_]:
    """Return a mask of the tokens that begin with a capital letter, shape ``(n_tokens,)``.

    The mask is computed once per view, and cannot be written to.
    """
    return view.cached(_find_first_classes)[1]


def _find_first_classes(view: TokenView) -> NDArray[np.bool_]:
    lengths = np.fromiter(map(len, view.texts), np.int64, len(view.texts)) + 1
    offsets = np.repeat(offsets_from_sizes(lengths)[:-1], np.diff(view.documents))
    codes = characters.code_points("\n".join([*view.texts, ""]))
    table = characters.classes(characters.size_for(int(codes.max(initial=0))))
    classes, is_written = table[codes[view.starts + offsets]], view.ends > view.starts
    masks = np.stack([classes >= characters.FIRST_WORD, classes == characters.UPPER]) & is_written
    masks.flags.writeable = False
    return masks


def empty_places(view: TokenView) -> NDArray[np.int64]:
    """Return the tokens that have an empty place before them, shape ``(n,)``.

    The token and the one before it are words of one sentence, separated by white space. The array is computed
    once per view, and cannot be written to.
    """
    return view.cached(_find_empty_places)


def _find_empty_places(view: TokenView) -> NDArray[np.int64]:
    words = word_tokens(view)
    places = (words[1:] & words[:-1] & (view.ends[:-1] < view.starts[1:])).nonzero()[0] + 1
    places.flags.writeable = False
    return places


def apart(places: NDArray[np.int64], instances: Instances, n_tokens: int) -> NDArray[np.bool_]:
    """Return a mask of the empty places with no word of `instances` on either side, shape ``(n_places,)``."""
    occupied = np.zeros(n_tokens, bool)
    occupied[instances.positions] = True
    occupied[instances.positions + instances.lengths - 1] = True
    return ~(occupied[places] | occupied[places - 1])


def neighbour_words(view: TokenView, instances: Instances) -> NDArray[np.uint64]:
    """Return the hashes of the words before and after each instance, shape ``(n, 2)``.

    At the start and end of a sentence, this is the boundary word.
    """
    neighbours = np.empty((len(instances.positions), 2), np.uint64)
    neighbours[:, 0] = view.hashes[instances.positions - 1]
    neighbours[:, 1] = view.hashes[instances.positions + instances.lengths]
    return neighbours


WordHashes = tuple[int, ...]
MAX_CACHED = 1 << 14
"""Maximum number of candidates whose words are cached, per tokenisation."""
_cached_words: dict[str, dict[str, WordHashes]] = {}


def hash_candidates(texts: Sequence[str], tokenisation: str) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the words of candidates as hashes, and the number of words of each.

    `texts`: sequence of str, shape (n,).
    `tokenisation`: registry name of the tokenisation, which must be that of the text.
    Returns `words` (uint64 (n, most words)): padded with zeros; has at least one column.
    `lengths`: int64 (n,).
    """
    words, lengths, row = hash_distinct_candidates(texts, tokenisation)
    return words[row], lengths[row]


def hash_distinct_candidates(
    texts: Sequence[str], tokenisation: str
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """Return words and lengths of the distinct candidates, and the index of each candidate among them.

    See `hash_candidates`.
    """
    if not isinstance(texts, Interned):
        return _hash_distinct(texts, tokenisation)
    by_tokenisation = _hashed_candidates.setdefault(texts, {})
    if tokenisation not in by_tokenisation:
        by_tokenisation[tokenisation] = _hash_distinct(texts, tokenisation)
    return by_tokenisation[tokenisation]


HashedCandidates = tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]
_hashed_candidates: WeakKeyDictionary[Interned, dict[str, HashedCandidates]] = WeakKeyDictionary()
"""Cache, because several extractors describe the same candidates."""


def _hash_distinct(texts: Sequence[str], tokenisation: str) -> HashedCandidates:
    distinct, row = distinct_texts(texts)
    hashed = _hash_each(distinct, tokenisation)
    lengths = np.fromiter(map(len, hashed), np.int64, len(hashed))
    words = np.zeros((len(hashed), int(lengths.max(initial=1))), np.uint64)
    inside = np.arange(words.shape[1]) < lengths[:, None]
    words[inside] = np.fromiter(chain.from_iterable(hashed), np.uint64, int(lengths.sum()))
    return words, lengths, row


def _hash_each(texts: Sequence[str], tokenisation: str) -> list[WordHashes]:
    """Return the hashes of the words of each text, from the cache where possible."""
    cache = _cached_words.setdefault(tokenisation, {})
    hashed = list(map(cache.get, texts))
    new = [text for text, words in zip(texts, hashed, strict=True) if words is None]
    if new:
        tokenised = dict(zip(new, _tokenise_texts(new, tokenisation), strict=True))
        # a full cache is emptied, which is cheaper than tracking the last use
        if len(cache) + len(tokenised) > MAX_CACHED:
            cache.clear()
        if len(tokenised) <= MAX_CACHED:
            cache.update(tokenised)
        hashed = [
            tokenised[text] if words is None else words for text, words in zip(texts, hashed, strict=True)
        ]
    return [words for words in hashed if words is not None]


def _tokenise_texts(texts: Sequence[str], tokenisation: str) -> Iterator[WordHashes]:
    """Return the hashes of the words of each text, without a cache."""
    view = tokenisation_named(tokenisation)(texts)
    tokens = np.flatnonzero(view.ends > view.starts)
    ends = np.searchsorted(view.document_indices(tokens), np.arange(len(texts)), side="right").tolist()
    hashes = view.hashes[tokens].tolist()
    return (tuple(hashes[start:end]) for start, end in zip([0, *ends], ends, strict=False))


_COLUMNS = ("positions", "lengths", "groups", "observed")


def find_instances(task: Task, view: TokenView) -> Instances:
    """Return the instances that a task decides in a view, after checking them.

    Raises D414 if the task has no such method, or returns instances that do not fit the view, the groups of
    the task and what it decides.
    """
    if not callable(getattr(task, "instances", None)):
        raise _contract_error(task, "it has no method instances", "instances(view) -> Instances")
    return _checked_instances(task, view, task.instances(view), "instances")


def find_examples(task: Task, view: TokenView) -> Instances:
    """Return the instances of a view that a task is trained on, checked; by default those that it decides.

    Raises D414.
    """
    if isinstance(task, HasExamples) and callable(task.examples):
        return _checked_instances(task, view, task.examples(view), "examples")
    return find_instances(task, view)


CertainMistakes = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]
"""Instances, intended candidates and probabilities (see `TaskTraits.certain_mistakes`)."""


def find_certain_mistakes(task: Task, view: TokenView, instances: Instances) -> CertainMistakes:
    """Return the mistakes that a task knows without a model, checked.

    Raises D414 if they are not three arrays, or name no instance, no candidate or no probability.
    """
    certain = get_trait(task, TaskTraits, "certain_mistakes")(view, instances)
    return check_certain_mistakes(task, instances, certain)


def find_right_words(task: Task, view: TokenView) -> NDArray[np.bool_] | None:
    """Return the tokens that a task knows to be right (see `TaskTraits.right_words`), checked.

    Raises D414 if it returns neither None nor a mask of the tokens.
    """
    right = get_trait(task, TaskTraits, "right_words")(view)
    if right is None or (
        isinstance(right, np.ndarray) and right.dtype == np.bool_ and right.shape == (len(view),)
    ):
        return right
    problem = f"right_words returned {describe_value(right)}"
    raise _contract_error(task, problem, f"None, or an array of {len(view):,} bools, one for each token")


def check_certain_mistakes(task: Task, instances: Instances, certain: object) -> CertainMistakes:
    """Return what `certain_mistakes` of a task returned, or raise D414 (see `find_certain_mistakes`)."""
    method, n = "certain_mistakes", len(instances)
    columns = certain if isinstance(certain, tuple) and len(certain) == 3 else ()
    if not columns or not all(isinstance(column, np.ndarray) and column.ndim == 1 for column in columns):
        returned = describe_value(certain)
        if isinstance(certain, tuple):
            returned = "a tuple of " + ", ".join(map(describe_value, certain))
        wanted = "three arrays: instances, candidates and probabilities"
        raise _contract_error(task, f"{method} returned {returned}", wanted)
    rows, intended, probabilities = columns
    kinds = rows.dtype.kind + intended.dtype.kind
    if len({len(column) for column in columns}) > 1 or not set(kinds) <= set("iu"):
        problem = f"{method} returned {', '.join(map(describe_value, columns))}"
        raise _contract_error(task, problem, "as many integers, integers and floats")
    if (outside := rows[(rows < 0) | (rows >= n)]).size:
        raise _contract_error(
            task, f"{method} names instance {outside[0]:,} of {n:,}", "indices of instances, from 0"
        )
    sizes = np.diff(instances.candidate_offsets(task.groups))[rows]
    if (invalid := np.flatnonzero((intended < 0) | (intended >= sizes))).size:
        problem = f"{method} proposes candidate {intended[invalid[0]]:,} of {sizes[invalid[0]]:,}"
        raise _contract_error(task, problem, "indices of candidates, from 0")
    if (improbable := probabilities[~((probabilities > 0) & (probabilities <= 1))]).size:
        problem = f"{method} gives the probability {improbable[0]:g}"
        raise _contract_error(task, problem, "numbers above 0 and at most 1")
    return rows, intended, probabilities


def _checked_instances(task: Task, view: TokenView, instances: Instances, method: str) -> Instances:
    """Return the instances of a task if they fit the contract; raise D414 otherwise."""
    if not isinstance(instances, Instances):
        raise _contract_error(task, f"{method} returned {describe_value(instances)}", "Instances")
    n = len(instances)
    for name in _COLUMNS:
        column: object = getattr(instances, name)
        if not isinstance(column, np.ndarray) or column.shape != (n,) or column.dtype.kind not in "iu":
            problem = f"{name} of {method} is {describe_value(column)}"
            raise _contract_error(task, problem, f"an array of integers of shape ({n},), one per instance")
    _check_lists(task, instances, method)
    if not n:
        return instances
    n_groups = len(task.groups)
    if not n_groups:
        wanted = "a group for each instance; groups of labels come from the config or from learn_settings"
        raise _contract_error(task, f"{method} has {n:,} instances, but groups is empty", wanted)
    if index := _outside(instances.groups, 0, n_groups):
        raise _contract_error(
            task, f"an instance is of group {index}, with {n_groups} in groups", "an index into groups"
        )
    sizes = np.diff(instances.candidate_offsets(task.groups))
    if index := _outside(instances.observed, -1, sizes):
        problem = f"observed of {method} is {index}, with {sizes.max():,} candidates at most"
        raise _contract_error(task, problem, "an index into the candidates, or -1 for none")
    if decides(task).where != "items":
        _check_places(task, view, instances, method)
        _check_observed(task, view, instances)
    return instances


_CHECKED_TEXTS = 1000
"""Maximum number of per-instance candidates that are checked to be texts."""


def _check_lists(task: Task, instances: Instances, method: str) -> None:
    """Raise D414 unless there are per-instance candidates exactly if the task decides between them."""
    n, lists, between = len(instances), instances.lists, decides(task).between
    if lists is None and (between != "lists" or not n):
        return
    if not isinstance(lists, CandidateLists) or between != "lists":
        wanted = "CandidateLists" if between == "lists" else "None"
        problem = f"lists of {method} is {describe_value(lists)}"
        raise _contract_error(task, problem, f"{wanted}, as it decides between {between!r}")
    if len(lists) != n:
        problem = f"lists of {method} has {len(lists):,} lists for {n:,} instances"
        raise _contract_error(task, problem, "a list of candidates for each instance")
    if (empty := np.flatnonzero(np.diff(lists.offsets) <= 0)).size:
        problem = f"lists of {method} has an empty list for instance {empty[0]:,}"
        raise _contract_error(task, problem, "a list of candidates for each instance")
    for text in islice(lists.texts, _CHECKED_TEXTS):
        if not isinstance(text, str):
            problem = f"lists of {method} has the candidate {text!r}"
            raise _contract_error(task, problem, "candidates that are texts")


def _check_places(task: Task, view: TokenView, instances: Instances, method: str) -> None:
    """Raise D414 unless the places of instances are in the text, and in its order."""
    positions, lengths = instances.positions, instances.lengths
    outside = (positions < 0) | (lengths < 0) | (positions + np.maximum(lengths, 1) > len(view))
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        problem = f"an instance has position {positions[row]} and length {lengths[row]}"
        raise _contract_error(task, problem, f"places among the {len(view):,} tokens of the view")
    back = np.flatnonzero(np.diff(positions) < 0)
    if len(back):
        problem = f"{method} has position {positions[back[0] + 1]} after {positions[back[0]]}"
        raise _contract_error(task, problem, "instances in the order of the text")


_COMPARED = 20
"""Maximum number of instances whose observed candidate is compared with the text."""


def _check_observed(task: Task, view: TokenView, instances: Instances) -> None:
    """Raise D414 unless the first instances are at the words of their observed candidates."""
    for row in np.flatnonzero(instances.observed >= 0)[:_COMPARED].tolist():
        names = instances.candidates(row, task.groups[instances.groups[row]])
        candidate = names[instances.observed[row]]
        position, length = int(instances.positions[row]), int(instances.lengths[row])
        hashes = view.hashes[position : position + length]
        if not np.array_equal(hashes, hash_words(candidate.split(" ") if candidate else [])):
            written = " ".join(view.written(token) for token in range(position, position + length))
            problem = (
                f"an instance at {written!r} (token {position:,}) has the observed candidate {candidate!r}"
            )
            raise _contract_error(task, problem, "the candidate that is in the text there, or -1 for none")


def _outside(values: NDArray[np.integer], minimum: int, end: int | NDArray[np.integer]) -> str:
    """Return the first value that is below `minimum` or not below `end`; "" if there is none."""
    outside = values[(values < minimum) | (values >= end)]
    return str(outside[0]) if len(outside) else ""


def _contract_error(task: Task, problem: str, wanted: str) -> UserError:
    return contract_error(describe_component("tasks", task), problem, wanted)
