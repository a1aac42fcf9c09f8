"""A slow tagger that teaches the shipped one: a neural network over an encoder's states.

The encoder of the pack `disambig_en` reads whole sentences. A network with one hidden layer maps two of its
layers at a word, and what is known of the word and its neighbours, to tags. It is about twenty times slower
than the shipped tagger, which learns from sentences that it has tagged. The encoder ignores capitals, so the
network sees shapes, and classes of words by their capitals, as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from disambig_encoder.encoder import batches_by_length, import_onnxruntime
from disambig_encoder.pieces import WordPieces
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from disambig.api.arrays import minibatch
from disambig.api.experiments import Progress, no_progress
from disambig.api.features import WordClasses
from disambig.features import adam
from disambig.text import hash_words

Floats = NDArray[np.float32]
Words = Sequence[str]
LAYERS = (2, 4)
"""Layers of the encoder that the network reads, counted from one; the graph ends at the last of them."""
MAX_PIECES, PIECES_A_WORD = 120, 6
N_AFFIXES = 64
"""Number of columns for suffixes, and for prefixes, which share them by their hashes."""
PLACES = (-2, -1, 0, 1, 2)


class LayerReader:
    """Reads words in their sentences with the first layers of an encoder; needs onnx and onnxruntime."""

    def __init__(self, folder: Path, layers: Sequence[int] = LAYERS) -> None:
        import onnx
        from onnx.utils import Extractor

        onnxruntime = import_onnxruntime()
        graph = onnx.load(str(folder / "encoder.onnx"))
        norms = [node.output[0] for node in graph.graph.node if node.op_type == "LayerNormalization"]
        # one norm after the embeddings, two in each layer
        self._outputs = [norms[2 * layer] for layer in layers]
        for name in self._outputs:
            shape = ["n", None]
            graph.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape))
        part = Extractor(graph).extract_model(["ids"], self._outputs)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(part.SerializeToString(), options)
        self._pieces = WordPieces.from_file(folder / "vocab.txt")

    def read(self, sentences: Sequence[Words]) -> NDArray[np.float16]:
        """Return the states of all words, the mean over the pieces of a word, shape (n_words, width)."""
        jobs = list(self._jobs(sentences))
        states: Any = None
        for batch in batches_by_length([2 + sum(map(len, pieces)) for _, pieces in jobs]):
            where, values = self._run([jobs[i] for i in batch])
            if states is None:
                states = np.zeros((sum(map(len, sentences)), values.shape[1]), np.float16)
            states[where] = values
        return states

    def _jobs(self, sentences: Sequence[Words]) -> Iterator[tuple[int, list[list[int]]]]:
        """Yield the number of the first word and the pieces of the words of sentences, long ones in parts."""
        first = 0
        for words in sentences:
            part: list[list[int]] = []
            for word in words:
                pieces = self._pieces(word)[:PIECES_A_WORD]
                if part and sum(map(len, part)) + len(pieces) > MAX_PIECES - 2:
                    yield first, part
                    first, part = first + len(part), []
                part.append(pieces)
            if part:
                yield first, part
            first += len(part)

    def _run(self, jobs: Sequence[tuple[int, list[list[int]]]]) -> tuple[NDArray[np.int64], Floats]:
        """Return the numbers of the words of some sentences, and their states."""
        length = max(2 + sum(map(len, pieces)) for _, pieces in jobs)
        ids = np.zeros((len(jobs), length), np.int64)
        for row, (_, pieces) in zip(ids, jobs, strict=True):
            flat = [self._pieces.cls, *(piece for word in pieces for piece in word), self._pieces.sep]
            row[: len(flat)] = flat
        # the states of the pieces in a row, without those of the signs at the ends, and means over words
        sizes = np.array([len(word) for _, pieces in jobs for word in pieces])
        n_pieces = [sum(map(len, pieces)) for _, pieces in jobs]
        places = np.concatenate([row * length + 1 + np.arange(n) for row, n in enumerate(n_pieces)])
        outputs = np.concatenate(self._session.run(self._outputs, {"ids": ids}), axis=1)[places]
        means = np.add.reduceat(outputs, np.cumsum(sizes) - sizes, axis=0) / sizes[:, None]
        where = np.concatenate([first + np.arange(len(pieces)) for first, pieces in jobs])
        return where, means.astype(np.float32)


N_SHAPES = 12


def shape_number(word: str) -> int:
    """Return the number of a word's shape, below `N_SHAPES`.

    Of letters: small (0), capitals (1), one capital (2), a capital at the beginning (3), mixed (4). With
    other signs: an address (5), with digits (6), a capital at the beginning (7), others (8). Without letters:
    with digits (9), one sign (10), several (11).
    """
    if word.isalpha():
        if word.islower():
            return 0
        if word.isupper():
            return 1 if len(word) > 1 else 2
        return 3 if word[0].isupper() and word[1:].islower() else 4
    if any(c.isalpha() for c in word):
        if any(c in "@/" for c in word) or "www." in word or ".com" in word:
            return 5
        if any(c.isdigit() for c in word):
            return 6
        return 7 if word[0].isupper() else 8
    return 9 if any(c.isdigit() for c in word) else 10 if len(word) == 1 else 11


def attributes_of_words(sentences: Sequence[Words], classes: WordClasses, near: Sequence[int]) -> Floats:
    """Return what the network sees besides the encoder's states, shape (n_words, n).

    The shapes of a word and its neighbours, their classes (those of `classes` in the columns `near`), hashed
    prefixes and suffixes of the word, its place, and the share of capitals in the sentence.
    """
    # the sentence and the place of each word, its shape and its classes as columns of zeros and ones
    words = [word for sentence in sentences for word in sentence]
    lengths = np.array([len(sentence) for sentence in sentences])
    owner = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(words)) - (np.cumsum(lengths) - lengths)[owner]
    shapes = np.array([shape_number(word) for word in words])
    of_words = classes.lookup(hash_words([word.lower() for word in words]))[:, near].astype(np.int64)
    sizes = classes.classes[:, near].max(axis=0).astype(int) + 2
    of_class = [_one_hot(column, n) for column, n in zip(of_words.T, sizes, strict=True)]
    single = np.concatenate([_one_hot(shapes, N_SHAPES), *of_class], axis=1)

    # those of the word and its neighbours
    columns = []
    for step in PLACES:
        at = np.arange(len(words)) + step
        inside = (place + step >= 0) & (place + step < lengths[owner])
        columns.append(np.where(inside[:, None], single[np.where(inside, at, 0)], np.float32(0)))

    # what all words of a sentence share: how much of it is in capitals
    capital, letters = np.isin(shapes, (1, 2, 3, 4, 7)), shapes < 9
    n_letters = np.maximum(np.bincount(owner, letters, len(lengths)), 1)
    share = np.bincount(owner, capital, len(lengths)) / n_letters
    all_capitals = np.bincount(owner, shapes == 1, len(lengths)) / n_letters
    heading = (share > 0.6) & (n_letters > 2)
    of_sentence = np.stack([share, all_capitals, heading, np.log1p(lengths) / 3], axis=1)
    ends = np.stack([place == 0, place == 1, place == lengths[owner] - 1], axis=1)
    return np.concatenate([*columns, _affixes(words), of_sentence[owner], ends], axis=1).astype(np.float32)


def _one_hot(numbers: NDArray[np.int64], n: int) -> Floats:
    return np.eye(n, dtype=np.float32)[numbers]


def _affixes(words: Words) -> Floats:
    """Return the hashed suffixes and prefixes of words, shape (n_words, 2 * N_AFFIXES)."""
    columns = np.zeros((len(words), 2 * N_AFFIXES), np.float32)
    columns_by_word: dict[str, list[int]] = {}
    for row, word in zip(columns, words, strict=True):
        lower = word.lower()
        if lower not in columns_by_word:
            suffixes = [crc32(f"-{lower[-n:]}".encode("utf8", "replace")) % N_AFFIXES for n in (1, 2, 3, 4)]
            prefixes = [crc32(f"{lower[:n]}-".encode("utf8", "replace")) % N_AFFIXES for n in (1, 2, 3)]
            columns_by_word[lower] = [*suffixes, *(N_AFFIXES + prefix for prefix in prefixes)]
        row[columns_by_word[lower]] = 1.0
    return columns


@dataclass(kw_only=True)
class Network:
    """A network with one hidden layer of rectified units and a softmax, trained by Adam with dropout.

    `rate` is the largest learning rate, which falls to zero. `dropout` is the share of hidden units that are
    left out in training; of the inputs half as many are.
    """

    hidden: int = 384
    epochs: int = 6
    batch: int = 256
    rate: float = 1e-3
    dropout: float = 0.3
    seed: int = 0
    weights: list[Floats] = field(init=False, default_factory=list)

    def fit(
        self, inputs: Callable[[NDArray[np.int64]], Floats], labels: NDArray[np.int64], n_labels: int,
        progress: Progress,
    ) -> Network:  # fmt: skip
        """Train on rows; `inputs` returns some of them by their numbers."""
        rng = np.random.default_rng(self.seed)
        width, n = inputs(np.zeros(1, np.int64)).shape[1], len(labels)
        self.weights = [
            _normal(rng, (width, self.hidden), 2 / width),
            np.zeros(self.hidden, np.float32),
            _normal(rng, (self.hidden, n_labels), 1 / self.hidden),
            np.zeros(n_labels, np.float32),
        ]
        moments = [(np.zeros_like(array), np.zeros_like(array)) for array in self.weights]
        step, steps = 0, self.epochs * (n // self.batch)
        for epoch in range(self.epochs):
            progress("network", epoch, self.epochs)
            order = rng.permutation(n)
            for first in range(0, n - self.batch + 1, self.batch):
                rows = order[first : first + self.batch]
                gradients = self._gradients(inputs(rows), labels[rows], rng)
                rate = self.rate * min(1.0, (step + 1) / 200) * max(0.02, 1 - step / steps)
                step += 1
                for weights, gradient, (mean, square) in zip(self.weights, gradients, moments, strict=True):
                    adam(weights, mean, square, gradient, rate, step)
        return self

    def log_probabilities(self, inputs: Floats) -> Floats:
        """Return the log-probabilities of the labels of rows, shape (n, n_labels)."""
        scores = np.maximum(inputs @ self.weights[0] + self.weights[1], 0) @ self.weights[2] + self.weights[3]
        result: Floats = log_softmax(scores, axis=1)
        return result

    def _gradients(self, inputs: Floats, labels: NDArray[np.int64], rng: np.random.Generator) -> list[Floats]:
        """Return the gradients of the mean log loss of some rows."""
        first, first_bias, second, second_bias = self.weights
        kept = inputs * _mask(rng, inputs.shape, self.dropout / 2)
        before = kept @ first + first_bias
        mask = _mask(rng, before.shape, self.dropout) * (before > 0)
        units = before * mask
        shares = softmax(units @ second + second_bias, axis=1)
        shares[np.arange(len(labels)), labels] -= 1
        shares /= len(labels)
        hidden = (shares @ second.T) * mask
        return [kept.T @ hidden, hidden.sum(axis=0), units.T @ shares, shares.sum(axis=0)]


def _normal(rng: np.random.Generator, shape: tuple[int, int], variance: float) -> Floats:
    return (rng.standard_normal(shape, dtype=np.float32) * np.sqrt(variance)).astype(np.float32)


def _mask(rng: np.random.Generator, shape: tuple[int, ...], share: float) -> Floats:
    """Return zeros for a share of the places and larger ones elsewhere, so that the expected value is one."""
    return (rng.random(shape, dtype=np.float32) >= share) / np.float32(1 - share)


class Teacher:
    """The network with its inputs: tags sentences whose encoder's states are given.

    `near` are the columns of the classes of a word and its neighbours that the network sees.
    """

    _AT_ONCE = 20_000  # words

    def __init__(self, classes: WordClasses, near: Sequence[int], network: Network | None = None) -> None:
        self.classes, self.near, self.network = classes, list(near), network or Network()
        self.tags: tuple[str, ...] = ()

    def fit(
        self,
        sentences: Sequence[tuple[Words, Sequence[str]]],
        states: NDArray[np.float16],
        progress: Progress = no_progress,
    ) -> Teacher:
        """Train on tagged sentences and the states of their words."""
        self.tags = tuple(sorted({tag for _, tags in sentences for tag in tags}))
        numbers = {tag: i for i, tag in enumerate(self.tags)}
        labels = np.array([numbers[tag] for _, tags in sentences for tag in tags])
        sample = states[:: max(1, len(states) // self._AT_ONCE)].astype(np.float32)
        self._mean, self._spread = sample.mean(axis=0), sample.std(axis=0) + np.float32(1e-3)
        attributes = attributes_of_words([words for words, _ in sentences], self.classes, self.near)

        def inputs(rows: NDArray[np.int64]) -> Floats:
            return np.concatenate([self._scaled(states[rows]), attributes[rows]], axis=1)

        self.network.fit(inputs, labels, len(self.tags), progress)
        return self

    def tag(
        self, sentences: Sequence[tuple[Words, Sequence[Collection[str]]]], states: NDArray[np.float16]
    ) -> Iterator[tuple[list[str], list[str]]]:
        """Yield words and tags of sentences; a word has one of its possible tags, any if there are none."""
        numbers = {tag: i for i, tag in enumerate(self.tags)}
        first = 0
        for block in minibatch(sentences, self._AT_ONCE, lambda sentence: len(sentence[0])):
            n = sum(len(words) for words, _ in block)
            attributes = attributes_of_words([words for words, _ in block], self.classes, self.near)
            inputs = np.concatenate([self._scaled(states[first : first + n]), attributes], axis=1)
            scores = self.network.log_probabilities(inputs)
            for row, possible in zip(scores, (tags for _, by_word in block for tags in by_word), strict=True):
                allowed = [numbers[tag] for tag in possible if tag in numbers]
                if allowed:
                    kept = row[allowed]
                    row[:] = -np.inf
                    row[allowed] = kept
            chosen = iter(scores.argmax(axis=1).tolist())
            for words, _ in block:
                yield list(words), [self.tags[i] for i in islice(chosen, len(words))]
            first += n

    def _scaled(self, states: NDArray[np.float16]) -> Floats:
        scaled: Floats = (states.astype(np.float32) - self._mean) / self._spread
        return scaled
