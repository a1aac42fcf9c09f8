"""Token views: the words of a batch of documents as plain arrays; hashes of words and of n-grams.

The boundaries of sentences are words of no width (``<S>`` before the first word and ``</S>`` after the last),
so that every n-gram is a run of consecutive entries and none extends into another sentence.

A word's hash is MurmurHash64A (Appleby) of its UTF-8 bytes with seed 1, as in spaCy, so no vocabulary is
stored and tables that were built separately can be merged. An n-gram's key, which count tables share with all
look-ups, mixes the hashes of its words with their positions and with the seed of the tokenisation:

    key = fmix(seed + n * ORDER + sum_i place_i * h_i)    (mod 2**64)

The sum lets a pattern that is filled with many candidates add one term per candidate. The hashes here are the
reference in Python and NumPy; `kernels` has the compiled functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.runtime import KeepsResults

if TYPE_CHECKING:
    from spacy.tokens import Doc

UNKNOWN = 0
"""The hash value that stands for "not a word": beyond the end of a sentence, or a word that is too long."""

LONGEST_WORD = 255
"""Maximum length in bytes of a word with a hash of its own; longer ones have the hash `UNKNOWN`."""

MASK = 0xFFFFFFFFFFFFFFFF
MURMUR_MULTIPLIER = 0xC6A4A7935BD1E995
WORD_SEED = 1
ORDER = 0x9E3779B97F4A7C15
PLACES = (0xA24BAED4963EE407, 0x9FB21C651E98DF25, 0xD6E8FEB86659FD93, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
"""One odd multiplier per position of an n-gram, which limits its length to five words."""
MAX_ORDER = len(PLACES)
FMIX = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)


def hash_word(word: str | bytes) -> int:
    """Return the 64-bit hash of a word: MurmurHash64A, seed 1, over its UTF-8 bytes."""
    data = word.encode("utf8", "surrogatepass") if isinstance(word, str) else word
    length = len(data)
    value = (WORD_SEED ^ (length * MURMUR_MULTIPLIER)) & MASK
    whole = length - length % 8
    for start in range(0, whole, 8):
        block = int.from_bytes(data[start : start + 8], "little") * MURMUR_MULTIPLIER & MASK
        block = (block ^ (block >> 47)) * MURMUR_MULTIPLIER & MASK
        value = ((value ^ block) * MURMUR_MULTIPLIER) & MASK
    if whole < length:
        value = ((value ^ int.from_bytes(data[whole:], "little")) * MURMUR_MULTIPLIER) & MASK
    value = ((value ^ (value >> 47)) * MURMUR_MULTIPLIER) & MASK
    return value ^ (value >> 47)


GAP = "<*>"
"""The wildcard word of a pattern, which matches any word; no tokenisation produces it."""
GAP_HASH = hash_word(GAP)
NOTHING = "<0>"
"""The word that marks an empty position in a pattern; no tokenisation produces it."""


_MIN_WORDS, _MAX_BYTES = 32, 24
"""Minimum number of words, and maximum length in bytes, for which words are hashed together."""


def hash_words(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hashes of `words`, shape ``(len(words),)``."""
    if len(words) < _MIN_WORDS:
        return np.fromiter(map(hash_word, words), dtype=np.uint64, count=len(words))
    data = [word.encode("utf8", "surrogatepass") for word in words]
    lengths = np.fromiter(map(len, data), np.int64, len(data))
    short = lengths <= _MAX_BYTES
    blocks = np.frombuffer(b"".join(encoded[:_MAX_BYTES].ljust(_MAX_BYTES, b"\0") for encoded in data), "<u8")
    hashes = _hash_blocks(blocks.reshape(len(data), -1).astype(np.uint64), lengths)
    for i in np.flatnonzero(~short).tolist():
        hashes[i] = hash_word(data[i])
    return hashes


def _hash_blocks(blocks: NDArray[np.uint64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the same hashes as `hash_word`, for words given as zero-padded blocks of eight bytes."""
    multiplier, shift = np.uint64(MURMUR_MULTIPLIER), np.uint64(47)
    values = np.uint64(WORD_SEED) ^ (lengths.astype(np.uint64) * multiplier)
    for i in range(blocks.shape[1]):
        mixed = blocks[:, i] * multiplier
        mixed = (mixed ^ (mixed >> shift)) * multiplier
        # MurmurHash64A mixes complete blocks, and adds the last bytes as they are
        whole, part = lengths >= 8 * (i + 1), (lengths > 8 * i) & (lengths < 8 * (i + 1))
        values = np.where(whole, (values ^ mixed) * multiplier, values)
        values = np.where(part, (values ^ blocks[:, i]) * multiplier, values)
    values = (values ^ (values >> shift)) * multiplier
    hashes: NDArray[np.uint64] = values ^ (values >> shift)
    return hashes


def fmix(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return MurmurHash3's 64-bit finaliser of each value: every bit depends on every bit."""
    keys = keys ^ (keys >> np.uint64(33))
    keys = keys * np.uint64(FMIX[0])
    keys = keys ^ (keys >> np.uint64(33))
    keys = keys * np.uint64(FMIX[1])
    return keys ^ (keys >> np.uint64(33))


def ngram_keys(words: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Return the key of each row of 1 to 5 word hashes, from left to right, shape ``(n_ngrams, order)``.

    Rows that contain `UNKNOWN` get a key like any other; look-ups must return zero for them. The seed is
    that of the tokenisation, ``hash_word(tokenisation.name)``.
    """
    order = words.shape[1]
    places = np.array(PLACES[:order], dtype=np.uint64)
    start = np.uint64((seed + order * ORDER) & MASK)
    return fmix((words * places).sum(axis=1, dtype=np.uint64) + start)


def top_bits_directory(halves: NDArray[np.uint32]) -> tuple[NDArray[np.int32], np.uint32]:
    """Return the first word with each value of its top bits, and the shift that extracts these bits.

    `halves` are the upper halves of word hashes, in ascending order. Hashes are spread evenly, so each value
    of the top bits has about one word, and a look-up in compiled code reads one or two of them.
    """
    bits = min(max(len(halves).bit_length(), 1), 18)
    bounds = np.arange((1 << bits) + 1, dtype=np.uint64) << np.uint64(32 - bits)
    return np.searchsorted(halves, bounds).astype(np.int32), np.uint32(32 - bits)


SENTENCE_START = "<S>"
SENTENCE_END = "</S>"
START_HASH = hash_word(SENTENCE_START)
END_HASH = hash_word(SENTENCE_END)
PARAGRAPH_SEPARATOR = "\u2029"
_BLANK_LINE = re.compile("\n[^\\S\n]*\n")
_PARAGRAPH_GAP = re.compile(f"{_BLANK_LINE.pattern}|{PARAGRAPH_SEPARATOR}+")
LONGEST_PASSAGE = 100
"""Maximum number of tokens of a passage that has several sentences."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenView(KeepsResults):
    """The words of a batch of documents, as parallel arrays.

    Attributes
    ----------
    tokenisation : str
        Registry name of the tokenisation that made the view.
    texts : sequence of str
        The original text of each document.
    hashes : array of uint64, shape (n_tokens,)
        Word hashes, boundary words included.
    starts, ends : arrays of int32, shape (n_tokens,)
        Character offsets into the token's *own* document text; equal for boundary words.
    sentences : array of int64, shape (n_sentences + 1,)
        First token of each sentence (its ``<S>``), and the number of tokens.
    documents : array of int64, shape (n_documents + 1,)
        First token of each document, and the number of tokens. A document without words has none.
    layers : mapping of str to array, shape (n_tokens,)
        Optional columns, such as ``"protected"`` (bool), ``"tag"`` or ``"lemma"`` (hashes). If there is a
        layer ``"near"`` (bool), a task may leave out the places without one of these tokens.
    """

    tokenisation: str
    texts: Sequence[str]
    hashes: NDArray[np.uint64]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    sentences: NDArray[np.int64]
    documents: NDArray[np.int64]
    layers: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.hashes)

    def with_layer(self, name: str, layer: NDArray[np.generic]) -> TokenView:
        """Return the view with one more layer, or another one of this name."""
        return replace(self, layers={**self.layers, name: layer})

    def document_indices(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of the document that contains each token position."""
        return self.documents.searchsorted(positions, side="right") - 1

    def sentence_indices(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of the sentence that contains each token position."""
        return self.sentences.searchsorted(positions, side="right") - 1

    def sentence_bounds(self, position: int) -> tuple[int, int]:
        """Return the first token of the sentence that contains a token, and the end of the sentence."""
        end = int(self.sentences.searchsorted(position, "right"))
        return int(self.sentences[end - 1]), int(self.sentences[end])

    def locate(self, positions: NDArray[np.int64]) -> list[tuple[str, int, int]]:
        """Return the text of the document that contains each token, and the offsets of the token in it."""
        texts = [self.texts[document] for document in self.document_indices(positions).tolist()]
        return list(zip(texts, self.starts[positions].tolist(), self.ends[positions].tolist(), strict=True))

    def document_text(self, position: int) -> str:
        """Return the text of the document that contains a token."""
        return self.texts[int(self.documents.searchsorted(position, "right")) - 1]

    def written(self, position: int) -> str:
        """Return a token as it is written in its text."""
        return self.document_text(position)[self.starts[position] : self.ends[position]]

    def take(self, documents: NDArray[np.int64]) -> TokenView:
        """Return the view of some documents, in the order of their indices."""
        first = self.documents[documents]
        lengths = self.documents[documents + 1] - first
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        tokens = np.repeat(first - starts[:-1], lengths) + np.arange(starts[-1])
        opens = np.zeros(len(self), bool)
        opens[self.sentences[:-1]] = True
        return TokenView(
            self.tokenisation,
            tuple(self.texts[document] for document in documents.tolist()),
            self.hashes[tokens],
            self.starts[tokens],
            self.ends[tokens],
            np.append(np.flatnonzero(opens[tokens]), starts[-1]),
            starts,
            {name: layer[tokens] for name, layer in self.layers.items()},
        )


def paragraph_gaps(text: str) -> list[tuple[int, int]]:
    """Return the offsets of the blank lines and paragraph separators between the paragraphs of a text."""
    # a pattern that begins with one certain character is searched for 30 times faster than alternatives
    pattern = _PARAGRAPH_GAP if PARAGRAPH_SEPARATOR in text else _BLANK_LINE
    return [gap.span() for gap in pattern.finditer(text)]


def paragraph_offsets(view: TokenView) -> NDArray[np.int64]:
    """Return the first token of each paragraph, and the number of tokens, shape ``(n_paragraphs + 1,)``.

    Each document begins a paragraph. Paragraphs without words are left out. The array is computed once per
    view, and cannot be written to.
    """
    return view.cached(_find_paragraphs)


def _find_paragraphs(view: TokenView) -> NDArray[np.int64]:
    offsets = [view.documents]
    for number, text in enumerate(view.texts):
        gaps = [end for _, end in paragraph_gaps(text)]
        if gaps:
            first, last = view.documents[number : number + 2]
            offsets.append(first + np.searchsorted(view.starts[first:last], gaps))
    paragraphs = np.unique(np.concatenate(offsets))
    paragraphs.flags.writeable = False
    return paragraphs


def passage_offsets(view: TokenView) -> NDArray[np.int64]:
    """Return the first token of each passage, and the number of tokens, shape ``(n_passages + 1,)``.

    A passage is a paragraph, or a part of one that has more than `LONGEST_PASSAGE` tokens, such as a text
    without blank lines. Passages end between sentences. The array is computed once per view, and cannot be
    written to.
    """
    return view.cached(_find_passages)


def _find_passages(view: TokenView) -> NDArray[np.int64]:
    offsets = paragraph_offsets(view)
    cuts: list[int] = []
    for row in np.flatnonzero(np.diff(offsets) > LONGEST_PASSAGE).tolist():
        start, end = offsets[row : row + 2].tolist()
        sentences = view.sentences[slice(*np.searchsorted(view.sentences, [start + 1, end]))]
        while end - start > LONGEST_PASSAGE and len(sentences):
            at = max(0, int(np.searchsorted(sentences, start + LONGEST_PASSAGE, side="right")) - 1)
            start = int(sentences[at])
            sentences = sentences[at + 1 :]
            cuts.append(start)
    if not cuts:
        return offsets
    passages = np.union1d(offsets, cuts).astype(np.int64)
    passages.flags.writeable = False
    return passages


class Tokenisation(Protocol):
    """A named, versioned rule that defines words."""

    @property
    def name(self) -> str:
        """Registry name, such as ``"disambig.words.v1"``; its hash seeds the n-gram keys."""
        ...

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Return the words of `texts`, one document each."""
        ...

    def words(self, text: str) -> list[str]:
        """Return the normalised words of one text for display, ``<S>`` and ``</S>`` included."""
        ...


@runtime_checkable
class ReadsDocs(Protocol):
    """A tokenisation that reads the tokens of spaCy Docs instead of their texts."""

    def of_docs(self, docs: Sequence[Doc]) -> TokenView:
        """Return the words of `docs`, one document each."""


Arrays = tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]
"""The columns of a `TokenView`: hashes, starts, ends, sentences and documents."""


def with_boundaries(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.integer],
    ends: NDArray[np.integer],
    *,
    sentences: NDArray[np.int64],
    documents: NDArray[np.int64],
) -> Arrays:
    """Add boundary words around each sentence.

    `hashes`, `starts`, `ends` (shape (n_words,)): the words of all documents; offsets refer to the text of
    each document.
    `sentences` (int64 (n_sentences,)): the first word of each sentence. The first word of every document that
    has words is included.
    `documents` (int64 (n_documents + 1,)): the first word of each document, and the number of words.
    """
    n = len(hashes)
    total = n + 2 * len(sentences)
    bounds = np.append(sentences + 2 * np.arange(len(sentences)), total)
    opens, closes = bounds[:-1], bounds[1:] - 1
    place = np.ones(total, dtype=bool)
    place[opens] = place[closes] = False
    last = np.append(sentences[1:], n)[: len(sentences)] - 1
    out = np.empty(total, dtype=np.uint64)
    out[place], out[opens], out[closes] = hashes, START_HASH, END_HASH
    spans = np.empty((2, total), dtype=np.int32)
    spans[0, place], spans[1, place] = starts, ends
    spans[:, opens] = starts[sentences]
    spans[:, closes] = ends[last]
    return out, spans[0], spans[1], bounds, documents + 2 * np.searchsorted(sentences, documents)


def name_boundaries(words: list[str], sentences: NDArray[np.int64]) -> list[str]:
    """Return the words of a view with ``<S>`` and ``</S>`` in place of the boundary words."""
    named = list(words)
    for first in sentences[:-1].tolist():
        named[first] = SENTENCE_START
    for stop in sentences[1:].tolist():
        named[stop - 1] = SENTENCE_END
    return named
