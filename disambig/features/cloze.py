"""Words in context: how well a word, or no word, fits a place, scored by a network over its context."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import GroupedInstances, HashVocabulary, hash_candidates, row_owners, unique_inverse
from disambig.errors import UserError
from disambig.features.rows import StatelessExtractor, score_features
from disambig.files import HEADER, read_stored, write_stored
from disambig.runtime import KeepsResults, use_numba
from disambig.text import UNKNOWN, TokenView, hash_word, tokenisation_named
from disambig.type_aliases import Bools, Hashes
from disambig.types import Features

Ints = NDArray[np.int32]
ENDING_LENGTH = 3
"""Number of final letters by which unknown words are distinguished."""


@dataclass(frozen=True, eq=False)
class ClozeVocabulary:
    """The words that have their own number; frequent words have small numbers.

    Numbers from ``len(self)`` on stand for `endings` sets of other words, by their last letters.
    """

    words: Hashes  # uint64 (n_words,): word hashes, by number
    endings: int

    def __len__(self) -> int:
        return len(self.words)

    @property
    def outside(self) -> int:
        """The number for a place outside the sentence."""
        return len(self.words) + self.endings

    @cached_property
    def _sorted(self) -> tuple[HashVocabulary, Ints]:
        order = np.argsort(self.words)
        return HashVocabulary(self.words[order]), order.astype(np.int32)

    def hash_numbers(self, hashes: Hashes) -> Ints:
        """Return the number of each word, -1 if it has no number of its own; shape ``(n,)``."""
        words, numbers = self._sorted
        return words.get(hashes, numbers, np.int32(-1))

    def view_numbers(self, view: TokenView) -> Ints:
        """Return the number of each token in a view; words without their own number get their ending's."""
        numbers = self.hash_numbers(view.hashes)
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            _, first, which = np.unique(view.hashes[unknown], return_index=True, return_inverse=True)
            tokens = unknown[first]
            documents = view.document_indices(tokens).tolist()
            spans = zip(documents, view.starts[tokens].tolist(), view.ends[tokens].tolist(), strict=True)
            normal_form = get_normal_form(view.tokenisation)
            endings = [
                hash_word(normal_form(view.texts[d][start:end])[-ENDING_LENGTH:]) for d, start, end in spans
            ]
            unhashed = view.hashes[tokens] == UNKNOWN  # too long to be hashed: all are the same word
            buckets = np.where(unhashed, np.uint64(0), np.array(endings, np.uint64)) % np.uint64(self.endings)
            numbers[unknown] = (len(self) + buckets.astype(np.int32))[which]
        return numbers


@lru_cache(maxsize=8)
def get_normal_form(tokenisation: str) -> Callable[[str], str]:
    """Return the function that maps a word as written to its normal form, which is hashed."""
    rule = tokenisation_named(tokenisation)
    normal_form: Callable[[str], str] | None = getattr(rule, "normal_form", None)
    return normal_form or (lambda word: "".join(rule.words(word)[1:-1]))  # between the boundary words


CLOZE_FILE = "weights.npz"
LARGEST = 127
"""Largest quantised weight; -128 would also fit into 8 bits but is not used."""
PRODUCT_STEP = 1 / 256
"""Step to which the projections of words are rounded."""
STATE_STEP = 1 / 128
"""Step to which states are rounded."""
_MAX_SCALE = 2.0**20
_MAX_PLACES, _MAX_STATES = 1_000, 4_000
"""Limits that keep sums of projections and products of states within 32 bits."""
CLOZE_ARRAYS = (
    "words", "embeddings", "word_scale", "input_scale", "inputs", "hidden_bias", "hidden_step",
    "states", "state_scale", "state_bias", "outputs", "output_scale", "output_bias",
)  # fmt: skip
"""Names of the arrays in a folder."""


@dataclass(frozen=True, eq=False)
class Cloze(KeepsResults):
    """A model of words in context.

    Attributes
    ----------
    vocabulary : ClozeVocabulary
    left, right : int
        Number of words seen on each side.
    embeddings : array of int8, shape (vocabulary.outside + 1, D)
        In units of `word_scale`, one per row.
    inputs : array of int8, shape (left + right, D, H)
        Per place, the nearest first, left ones before right ones; in units of `input_scale`.
    hidden_bias : array of float32, shape (H,)
    hidden_step : array of float32, shape (1,)
        Unit of the hidden units, which are stored as 0 to 255.
    states : array of int8, shape (H, S)
        In units of `state_scale`, one per column.
    state_bias : array of float32, shape (S,)
    outputs : array of int8, shape (len(vocabulary) + 1, S)
        Per word, the last row for no word; in units of `output_scale`, one per row.
    output_bias : array of float32, shape (len(vocabulary) + 1,)
    header : dict
        ``tokenisation``, and a description of the training.
    """

    vocabulary: ClozeVocabulary
    left: int
    right: int
    embeddings: NDArray[np.int8]
    word_scale: NDArray[np.float32]
    inputs: NDArray[np.int8]
    input_scale: NDArray[np.float32]
    hidden_bias: NDArray[np.float32]
    hidden_step: NDArray[np.float32]
    states: NDArray[np.int8]
    state_scale: NDArray[np.float32]
    state_bias: NDArray[np.float32]
    outputs: NDArray[np.int8]
    output_scale: NDArray[np.float32]
    output_bias: NDArray[np.float32]
    header: dict[str, Any]

    @classmethod
    def load(cls, folder: str | Path) -> Cloze:
        """Read the model from a folder.

        Raises
        ------
        UserError
            D990 if a file is missing or was not written by `save`.
        """
        header, arrays = read_stored(folder, CLOZE_FILE, CLOZE_ARRAYS, code="D990")
        try:
            words, *weights = arrays
            endings, left, right = (_check_size(header[name]) for name in ("endings", "left", "right"))
            if not isinstance(header["tokenisation"], str):
                raise ValueError("its tokenisation is not a name")
            by_name = dict(zip(CLOZE_ARRAYS[1:], weights, strict=True))
            model = cls(ClozeVocabulary(words, endings), left, right, **by_name, header=header)
            model._check()
        except (ValueError, LookupError, TypeError, OverflowError) as problem:
            raise UserError("D990", path=folder, problem=problem) from problem
        return model

    def save(self, folder: str | Path) -> None:
        """Write the model to a folder, which is created."""
        sizes = {"left": self.left, "right": self.right, "endings": self.vocabulary.endings}
        arrays = {"words": self.vocabulary.words} | {name: getattr(self, name) for name in CLOZE_ARRAYS[1:]}
        write_stored(folder, CLOZE_FILE, {**self.header, **sizes}, compress=False, **arrays)

    @property
    def nothing(self) -> int:
        """The number of the empty candidate (no word)."""
        return len(self.vocabulary)

    def require(self, tokenisation: str) -> None:
        """Raise UserError D992 if `tokenisation` is not that of the model."""
        if tokenisation != self.header["tokenisation"]:
            raise UserError("D992", seen=tokenisation, known=self.header["tokenisation"])

    def numbers_of_candidates(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Return the number of each candidate: `nothing` for the empty one, -1 for an unknown one.

        Candidates are tokenised like the text. A candidate of several words is unknown.
        """
        words, lengths = hash_candidates(texts, self.header["tokenisation"])
        numbers = np.where(lengths == 0, np.int32(self.nothing), np.int32(-1))
        alone = lengths == 1
        numbers[alone] = self.vocabulary.hash_numbers(words[alone, 0])
        return numbers

    @cached_property
    def input_floats(self) -> NDArray[np.float32]:
        """The inputs of all places side by side, for BLAS, shape ``(D, places * H)``."""
        places, d, h = self.inputs.shape
        wide = self.inputs.transpose(1, 0, 2).reshape(d, places * h)
        return np.ascontiguousarray(wide, np.float32)

    @cached_property
    def outside_projection(self) -> NDArray[np.int16]:
        """The projection of what is outside the sentence (see `Projections`), shape ``(1, places * H)``."""
        return _compute_projections(self, np.array([self.vocabulary.outside], np.int32))

    @cached_property
    def hidden_offsets(self) -> NDArray[np.int32]:
        """The bias of the hidden units, in `PRODUCT_STEP`."""
        return np.rint(self.hidden_bias / np.float32(PRODUCT_STEP)).astype(np.int32)

    @cached_property
    def state_floats(self) -> NDArray[np.float32]:
        """The weights of states, for BLAS."""
        return self.states.astype(np.float32)

    def _check(self) -> None:
        """Raise ValueError if arrays have other types, sizes or contents than a model of this shape."""
        vocabulary, n = self.vocabulary, len(self.vocabulary)
        (places, d, h), (_, s) = self.inputs.shape, self.states.shape
        shapes = {
            "embeddings": (np.int8, (vocabulary.outside + 1, d)),
            "word_scale": (np.float32, (vocabulary.outside + 1,)),
            "inputs": (np.int8, (self.left + self.right, d, h)),
            "input_scale": (np.float32, (1,)),
            "hidden_bias": (np.float32, (h,)),
            "hidden_step": (np.float32, (1,)),
            "states": (np.int8, (h, s)),
            "state_scale": (np.float32, (s,)),
            "state_bias": (np.float32, (s,)),
            "outputs": (np.int8, (n + 1, s)),
            "output_scale": (np.float32, (n + 1,)),
            "output_bias": (np.float32, (n + 1,)),
        }
        if min(places, d, h, s) < 1 or places > _MAX_PLACES or s > _MAX_STATES:
            raise ValueError(f"layers of {places}, {d}, {h} and {s} units are not supported")
        # float32 represents all integers below 2**24 exactly
        if max(d * (LARGEST + 1), 255 * h) * (LARGEST + 1) >= 2**24:
            raise ValueError("its layers are too wide for exact sums")
        if vocabulary.words.dtype != np.uint64 or vocabulary.words.shape != (n,) or n < 1:
            raise ValueError("its words are not hashes")
        if len(np.unique(vocabulary.words)) < n:
            raise ValueError("a word occurs twice")
        for name, (dtype, shape) in shapes.items():
            array = getattr(self, name)
            if array.dtype != dtype or array.shape != shape:
                raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, not of shape {shape}")
            if dtype == np.float32 and not (np.abs(array) <= _MAX_SCALE).all():
                raise ValueError(f"{name} is too large")
        if not self.hidden_step[0] >= 1 / _MAX_SCALE:
            raise ValueError("hidden_step is not above zero")


@lru_cache(maxsize=4)
def _load_cached(folder: str, stamps: tuple[tuple[int, int], ...]) -> Cloze:
    # times and sizes of the files are only part of the cache key: changed files are read again
    return Cloze.load(Path(folder))


def load_cloze(folder: str | Path) -> Cloze:
    """Return the model in a folder; it is read once, and again if its files change. Raises D990."""
    try:
        path = Path(folder).resolve()
        stats = [os.stat(path / name) for name in (HEADER, CLOZE_FILE)]
    except (OSError, ValueError) as problem:
        raise UserError("D990", path=folder, problem=getattr(problem, "strerror", problem)) from problem
    return _load_cached(str(path), tuple((stat.st_mtime_ns, stat.st_size) for stat in stats))


def _check_size(value: Any) -> int:
    """Return a number of the header; raise ValueError unless it is between 1 and 2**16."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 2**16:
        raise ValueError(f"{value!r} is not a number from 1 to 65536")
    return value


FREQUENT = 1024
"""Number of the most frequent words whose projections are kept: 12 kB each with 512 hidden units."""
_BLOCK = 512
"""Number of words that are projected at a time; the sums of one take 24 kB with 512 hidden units."""
_FEW_PRODUCTS = 12
"""Up to this number of words are projected one by one: for more, BLAS first copies the weights (2 MB)."""
_LARGEST_PRODUCT = 32_767


@dataclass(frozen=True, slots=True, eq=False)
class ProjectionCache:
    """Cached projections of frequent words into the hidden layer, one per context position."""

    # bool (n_frequent,): which rows are filled. Two threads may fill a row at the same time: they write the
    # same values
    is_known: Bools
    rows: NDArray[np.int16]  # (n_frequent, places * H): by word number

    @classmethod
    def from_model(cls, model: Cloze) -> ProjectionCache:
        """Return an empty cache for the frequent words; pages that are never written take no memory."""
        n, width = min(FREQUENT, len(model.vocabulary)), model.input_floats.shape[1]
        # an array of this size that NumPy allocates has huge pages, which a few rows fill
        memory = mmap.mmap(-1, max(1, n * width * np.dtype(np.int16).itemsize))
        rows = np.frombuffer(memory, np.int16, n * width)
        return cls(np.zeros(n, bool), rows.reshape(n, width))

    def fill(self, model: Cloze, words: Ints) -> None:
        """Fill the rows of some words, which must all be frequent ones."""
        new = words[~self.is_known[words]]
        # rows before flags: another thread must never see a flag without its row
        self.rows[new] = _compute_projections(model, new)
        self.is_known[new] = True


@dataclass(frozen=True, slots=True, eq=False)
class Projections:
    """Projections of some words into the hidden layer, in `PRODUCT_STEP`."""

    # int16 (n_frequent, places * H): of frequent words; the rows of all views, except for few words
    frequent: NDArray[np.int16]
    # int16 (n_rare, places * H): of the others. Their row numbers continue those of the frequent words.
    rare: NDArray[np.int16]

    def take(self, which: NDArray[np.int32], hidden: int) -> NDArray[np.int16]:
        """Return the part of each word's projection that belongs to its place, ``(n, places, hidden)``."""
        places = np.arange(which.shape[1])
        n = len(self.frequent)
        if not len(self.rare):
            return self.frequent.reshape(n, len(places), hidden)[which, places]
        taken = np.empty((*which.shape, hidden), np.int16)
        for is_part, projections, rows in (
            (which < n, self.frequent, which),
            (which >= n, self.rare, which - n),
        ):
            index = np.nonzero(is_part)
            taken[index] = projections.reshape(len(projections), len(places), hidden)[rows[index], index[1]]
        return taken


_FEW = 256
"""The projections of at most this number of words are copied, since they then lie together in memory."""


def project_words(model: Cloze, words: Ints) -> tuple[Projections, NDArray[np.int32]]:
    """Return the projections of words into the hidden layer, and the row of each word in them.

    `words` (int32 (n,)): word numbers, ascending.
    """
    cache = model.cached(ProjectionCache.from_model)
    n_cached = len(cache.is_known)
    n_frequent = int(np.searchsorted(words, n_cached))
    cache.fill(model, words[:n_frequent])
    rare = np.empty((len(words) - n_frequent, cache.rows.shape[1]), np.int16)
    ends_outside = len(rare) > 0 and words[-1] == model.vocabulary.outside
    n_computed = len(rare) - ends_outside
    _compute_projections(model, words[n_frequent : n_frequent + n_computed], rare[:n_computed])
    if ends_outside:  # every view has this one
        rare[-1] = model.outside_projection
    if len(words) <= _FEW:
        copied = np.concatenate([cache.rows[words[:n_frequent]], rare])
        return Projections(copied, rare[:0]), np.arange(len(words), dtype=np.int32)
    rows = words.astype(np.int32)
    rows[n_frequent:] = np.arange(n_cached, n_cached + len(rare))
    return Projections(cache.rows, rare), rows


def _compute_projections(
    model: Cloze, words: Ints, products: NDArray[np.int16] | None = None
) -> NDArray[np.int16]:
    """Return the projections of words in `PRODUCT_STEP`, ``(n, places * H)``, or write them to `products`."""
    if products is None:
        products = np.empty((len(words), model.input_floats.shape[1]), np.int16)
    for start in range(0, len(words), _BLOCK):
        part = words[start : start + _BLOCK]
        embedded = model.embeddings[part].astype(np.float32)
        if len(part) <= _FEW_PRODUCTS:
            exact = np.matmul(embedded[:, None], model.input_floats)[:, 0]
        else:
            exact = embedded @ model.input_floats  # integers, so exact
        exact *= (model.word_scale[part] * (model.input_scale[0] / np.float32(PRODUCT_STEP)))[:, None]
        np.clip(np.rint(exact, out=exact), -_LARGEST_PRODUCT, _LARGEST_PRODUCT, out=exact)
        products[start : start + _BLOCK] = exact
    return products


IntArray = NDArray[np.int64]
BLOCK = 512
"""Number of places or candidates at a time, which limits memory: 512 places take 6 MB with NumPy."""
_LARGEST_STATE = 4_095
"""Limit that keeps the product of states and candidate weights exact."""
MAX_KEPT = 8192
"""Maximum number of distinct words of a view whose projections are all kept."""


@dataclass(frozen=True, slots=True)
class ContextPlaces:
    """Places in a view.

    Attributes
    ----------
    positions : array of int64, shape (n,)
        The token at the place; for an empty place the token that follows.
    ends : array of int64, shape (n,)
        The first token after the place.
    """

    positions: IntArray
    ends: IntArray


@dataclass(slots=True, eq=False)
class ViewCache:
    """Cached values of a view for its lifetime, because several tasks query the same places."""

    # int32 (n_tokens + 1,): word numbers of the tokens, and that of what is outside a sentence
    numbers: NDArray[np.int32]
    projections: Projections | None  # projections of each word, if the view has few enough distinct ones
    rows: NDArray[np.int32]  # (n_tokens + 1,): their rows in `projections`; empty without these
    # for empty places and places of one word: which are computed, ``(2, n_tokens)``, and their states,
    # ``(2, n_tokens, S)``
    is_known: Bools
    states: NDArray[np.int16]

    @classmethod
    def from_view(cls, view: TokenView, model: Cloze) -> ViewCache:
        """Find the word numbers of a view, and their projections if there are not too many distinct words."""
        numbers = np.empty(len(view) + 1, np.int32)
        numbers[:-1], numbers[-1] = model.vocabulary.view_numbers(view), model.vocabulary.outside
        words, index = unique_inverse(numbers)
        is_known = np.zeros((2, len(view)), bool)
        states = np.empty((2, len(view), model.states.shape[1]), np.int16)
        if len(words) > MAX_KEPT:
            return cls(numbers, None, np.empty(0, np.int32), is_known, states)
        projections, rows = project_words(model, words)
        return cls(numbers, projections, rows[index], is_known, states)


SHORT_VIEW = 64
"""In a view of at most this many tokens, all states are computed at once: some task needs most of them."""


def context_vectors(model: Cloze, view: TokenView, places: ContextPlaces) -> NDArray[np.int16]:
    """Return the state of each place, in units of `STATE_STEP`, shape ``(n, S)``.

    Raises
    ------
    UserError
        D992 for a view with another tokenisation than the model's.
    """
    model.require(view.tokenisation)
    positions, lengths = places.positions, places.ends - places.positions
    if lengths.max(initial=0) > 1:  # these are few
        vectors = np.empty((len(positions), model.states.shape[1]), np.int16)
        for length in np.unique(lengths).tolist():
            rows = np.flatnonzero(lengths == length)
            part = ContextPlaces(positions[rows], places.ends[rows])
            vectors[rows] = (
                _in_blocks(model, view, part.positions, length)
                if length > 1
                else context_vectors(model, view, part)
            )
        return vectors
    cache = view.cached(ViewCache.from_view, model)
    is_unknown = ~cache.is_known[lengths, positions]
    for length in (0, 1) if is_unknown.any() else ():
        wanted = positions[is_unknown & (lengths == length)]
        if len(wanted):
            wanted = np.arange(len(view)) if len(view) <= SHORT_VIEW else np.unique(wanted)
            # states before flags, as in `ProjectionCache.fill`
            cache.states[length, wanted] = _in_blocks(model, view, wanted, length)
            cache.is_known[length, wanted] = True
    return cache.states[lengths, positions]


def _in_blocks(model: Cloze, view: TokenView, positions: IntArray, length: int) -> NDArray[np.int16]:
    vectors = np.empty((len(positions), model.states.shape[1]), np.int16)
    for start in range(0, len(vectors), BLOCK):
        part = positions[start : start + BLOCK]
        vectors[start : start + BLOCK] = _compute_vectors(model, view, part, part + length)
    return vectors


def score_candidates(
    model: Cloze, states: NDArray[np.int16], rows: IntArray, candidates: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Return the score of some candidates, shape ``(m,)``; minus infinity for candidate number -1.

    Parameters
    ----------
    states : array of int16, shape (n, S)
    rows : array of int64, shape (m,)
        The place of each candidate.
    candidates : array of int32, shape (m,)
        The number of each candidate; `Cloze.nothing` is the empty one.
    """
    numbers = np.maximum(candidates, 0)
    sums = np.empty(len(candidates), np.int32)
    if use_numba(candidates.size * states.shape[1], nanoseconds=4.0):
        from disambig.features._network_kernels import candidate_products

        candidate_products(states, rows, numbers, model.outputs, sums)
    else:
        for start in range(0, len(candidates), BLOCK):
            part = slice(start, start + BLOCK)
            outputs = model.outputs[numbers[part]]
            np.einsum("ms,ms->m", states[rows[part]], outputs, dtype=np.int32, out=sums[part])
    scale = model.output_scale[numbers] * np.float32(STATE_STEP)
    scores = sums.astype(np.float32) * scale + model.output_bias[numbers]
    return np.where(candidates < 0, np.float32(-np.inf), scores).astype(np.float32)


def _compute_vectors(model: Cloze, view: TokenView, positions: IntArray, ends: IntArray) -> NDArray[np.int16]:
    """Return the states of places in `STATE_STEP`, shape ``(n, S)``, without the cache."""
    cache = view.cached(ViewCache.from_view, model)
    around = _tokens_around(model, view, positions, ends)  # (n, places)
    if cache.projections is not None:
        hidden = _hidden_units(model, cache.projections, cache.rows[around])
    else:
        words, which = np.unique(cache.numbers[around], return_inverse=True)
        projections, rows = project_words(model, words)
        hidden = _hidden_units(model, projections, rows[which.reshape(around.shape)])
    states = hidden @ model.state_floats  # integers, so exact
    states *= model.state_scale * (model.hidden_step[0] / np.float32(STATE_STEP))
    states += model.state_bias / np.float32(STATE_STEP)
    np.clip(np.rint(states, out=states), -_LARGEST_STATE, _LARGEST_STATE, out=states)
    return states.astype(np.int16)


def _hidden_units(model: Cloze, projections: Projections, which: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return the hidden units, whole numbers from 0 to 255, shape ``(n, H)``."""
    n, places = which.shape
    h = len(model.hidden_bias)
    scale = np.float32(PRODUCT_STEP) / model.hidden_step[0]
    if use_numba(n * places * h, nanoseconds=1.5):
        from disambig.features._network_kernels import fill_cloze_units

        units = np.empty((n, h), np.float32)
        fill_cloze_units(projections.frequent, projections.rare, which, model.hidden_offsets, scale, units)
        return units
    units = model.hidden_offsets + projections.take(which, h).sum(axis=1, dtype=np.int32)
    units = units.astype(np.float32) * scale
    return np.clip(np.rint(units, out=units), 0, 255, out=units)


def _tokens_around(model: Cloze, view: TokenView, positions: IntArray, ends: IntArray) -> IntArray:
    """Return the tokens around places within their sentences, shape ``(n, left + right)``.

    The number of tokens of the view stands for what is outside the sentence.
    """
    sentence = view.sentence_indices(positions)
    first, end = view.sentences[sentence][:, None], view.sentences[sentence + 1][:, None]
    left = positions[:, None] - 1 - np.arange(model.left)
    right = ends[:, None] + np.arange(model.right)
    tokens = np.concatenate([left, right], axis=1)
    return np.where((tokens >= first) & (tokens < end), tokens, len(view))


CLOZE_FOLDER = "words"
"""Name of the folder in packs."""


def open_cloze(words: str | Path) -> Cloze:
    """Return a model of words in context; a folder is read once per process.

    Parameters
    ----------
    words : str or path
        A folder, or the name of an installed pack that provides a model.

    Raises
    ------
    UserError
        D402 for an unknown pack, D403 for a damaged one, D991 for one without such a model, D990 for a folder
        without a model.
    """
    if not isinstance(words, str | Path) or not str(words):
        raise UserError("D990", path=words, problem="expected a folder or the name of a pack")
    path = Path(words)
    if path.name == str(words) and not path.suffix:
        from disambig.packs import find_pack, pack

        # installed packs take precedence over a folder of the same name in the current directory
        if find_pack(str(words)) or not path.is_dir():
            folder = pack(str(words)).folders.get(CLOZE_FOLDER)
            if folder is None:
                raise UserError("D991", name=words)
            path = folder
    return load_cloze(path)


GROUP_NAME = "words in context"
UNKNOWN_WORD_SCORE = 12.0
"""An unknown candidate gets a score this much (log-odds) below the best candidate."""


class WordsInContext(StatelessExtractor):
    """Extractor of one score per candidate, for groups and for per-instance candidates.

    Parameters
    ----------
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that provides one.

    Raises
    ------
    UserError
        On first use D990, D991, D402 (see `open_cloze`); D992 for a view with another tokenisation.
    """

    def __init__(self, *, words: str | Path) -> None:
        self.words = words

    @cached_property
    def model(self) -> Cloze:
        """The model, read on first use."""
        return open_cloze(self.words)

    @property
    def feature_source(self) -> Cloze:
        """The model."""
        return self.model

    def transform(self, view: TokenView, table: GroupedInstances) -> list[Features]:
        """Return the scores. They do not count as n-gram hits, and so never cause a flag on their own."""
        model, instances, offsets = self.model, table.instances, table.offsets
        states = context_vectors(
            model, view, ContextPlaces(instances.positions, instances.positions + instances.lengths)
        )
        if table.lists is not None:
            numbers = model.numbers_of_candidates(table.lists.texts)
        else:
            of_groups = [model.numbers_of_candidates(group.candidates) for group in table.groups]
            numbers = np.concatenate(
                [
                    np.tile(of_group, part.stop - part.start)
                    for of_group, part in zip(of_groups, table.slices, strict=True)
                ]
            )
        scores = score_candidates(model, states, row_owners(offsets), numbers)
        if len(table):
            best = np.maximum.reduceat(scores, offsets[:-1])
            floor = np.where(np.isfinite(best), best, np.float32(0)) - np.float32(UNKNOWN_WORD_SCORE)
            scores = np.maximum(scores, floor.repeat(table.sizes))
        return score_features(table, scores, GROUP_NAME)

    def __getstate__(self) -> dict[str, Any]:
        return {"words": self.words}
