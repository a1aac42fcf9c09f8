"""Training of the network of words in context: settings, batches of places, and gradient steps."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Ragged, offsets_from_sizes
from disambig.errors import UserError
from disambig.features.cloze import LARGEST, ClozeVocabulary
from disambig.text import END_HASH, START_HASH
from disambig.type_aliases import Ints

_PARTS = 4
"""Number of row slices. It must not depend on the threads: sums in matrix products depend on their sizes."""


class ThreadPool:
    """Runs work on several threads; the work must release the GIL and write to its own slice only."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def map(self, work: Callable[[Any], object], parts: Iterable[Any]) -> None:
        """Call `work` with each item."""
        if self._pool is None:
            for part in parts:
                work(part)
        else:
            list(self._pool.map(work, parts))  # consumed so that exceptions of the threads are raised here

    def map_rows(self, work: Callable[[slice], object], n: int) -> None:
        """Call `work` with slices that cover n rows."""
        self.map(work, [slice(i * n // _PARTS, (i + 1) * n // _PARTS) for i in range(_PARTS)])

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()


Floats = NDArray[np.float32]
_FIRST_DECAY, _SECOND_DECAY = 0.9, 0.999
"""Decay of the first and second moments in Adam."""


def adagrad(
    values: Floats, seen: Floats, rows: NDArray[np.int32], gradient: Floats, rate: np.float32
) -> None:
    """Update some distinct rows in place (Duchi, Hazan and Singer 2011, with one sum per row).

    `values`: float32 (n, d).
    `seen` (float32 (n,)): sum of the mean squared gradients of each row so far.
    `rows`: int32 (m,).
    `gradient`: float32 (m, d).
    """
    seen[rows] += np.square(gradient).mean(axis=1)
    values[rows] -= gradient * (rate / np.sqrt(seen[rows]))[:, None]


def adam(values: Floats, first: Floats, second: Floats, gradient: Floats, rate: float, number: int) -> None:
    """Update values and their moments in place (Kingma and Ba 2015); steps are numbered from 1."""
    first *= np.float32(_FIRST_DECAY)
    first += np.float32(1 - _FIRST_DECAY) * gradient
    second *= np.float32(_SECOND_DECAY)
    second += np.float32(1 - _SECOND_DECAY) * np.square(gradient)
    # bias correction: both moments start at zero
    scaled_rate = np.float32(rate / (1 - _FIRST_DECAY**number))
    root_scale = np.float32(1 / np.sqrt(1 - _SECOND_DECAY**number))
    values -= scaled_rate * first / (np.sqrt(second) * root_scale + np.float32(1e-8))


NEGATIVES = 64
"""Number of words that compete at all places of a batch, drawn by the square root of their frequency."""
_EMPTY_SHARE = 0.25
"""Share of the places between two words that are used for training; the right answer there is no word."""
_SPARSE_FACTOR = 40.0
"""Factor on the learning rate of embeddings and outputs, of which a batch sees only a part."""
LAST_RATE = 0.03
"""Final learning rate, as a share of the initial one."""
WARM_UP = 50
"""Steps of warm-up: with the full rate at once, the first words would be thrown far off."""
_EXACT = 2**24


def check_integer(name: str, value: object, *, minimum: int) -> None:
    """Raise UserError D993 if a setting is not a whole number or is too small."""
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        raise UserError("D993", setting=name, value=value, wanted=f"a whole number of at least {minimum}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClozeSettings:
    """Settings of `learn_cloze`.

    Raises D993 for an invalid value, or for layers too wide for exact sums of small integers.
    """

    dimensions: int
    hidden: int
    left: int
    right: int
    epochs: int
    seed: int
    batch: int
    rate: float

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name == "rate":
                if not isinstance(value, float) or not 0 < value < 1:
                    raise UserError("D993", setting=name, value=value, wanted="a number between 0 and 1")
                continue
            check_integer(name, value, minimum={"seed": 0, "dimensions": 2}.get(name, 1))
        # The quantised model multiplies small integers with float32 BLAS; sums are exact, and equal on every
        # machine, only while they stay below 2**24.
        widest = {"dimensions": (_EXACT - 1) // LARGEST**2, "hidden": (_EXACT - 1) // (255 * LARGEST)}
        for name, maximum in widest.items():
            if getattr(self, name) > maximum:
                raise UserError("D993", setting=name, value=getattr(self, name), wanted=f"{maximum} at most")

    @property
    def places(self) -> int:
        """Number of words seen around a place."""
        return self.left + self.right


_LONGEST_ENDING = 4
"""Maximum number of letters of an ending; shorter endings are used as well."""
_MIN_WORDS = 10
"""Minimum number of words with an ending."""
_N_WITHOUT_ENDINGS = 64
"""This many of the most frequent words share nothing with other words."""
ENDING_SHARE = 0.25
"""Learning rate of endings, relative to that of words."""


class WordEndings:
    """The endings of words; empty if no spellings are given.

    `spellings` are the spellings of all words of a vocabulary, by number.
    """

    def __init__(self, spellings: Sequence[str]) -> None:
        from scipy.sparse import csr_array

        numbers: dict[str, int] = {}
        words, endings = [], []
        for word, spelling in enumerate(spellings):
            if word < _N_WITHOUT_ENDINGS or not spelling[:1].isalpha():
                continue
            for length in range(1, min(_LONGEST_ENDING, len(spelling) - 2) + 1):
                words.append(word)
                endings.append(numbers.setdefault(spelling[-length:], len(numbers)))
        kept = np.flatnonzero(np.bincount(endings, minlength=len(numbers)) >= _MIN_WORDS)
        ones = np.ones(len(words), np.float32)
        shape = (len(spellings), len(numbers))
        self._endings_by_word: Any = csr_array((ones, (words, endings)), shape=shape)[:, kept].tocsr()
        self._words_by_ending: Any = self._endings_by_word.T.tocsr()

    def __len__(self) -> int:
        return int(self._endings_by_word.shape[1])

    def digest(self) -> str:
        """Return a hash of the assignment of endings to words."""
        rows = self._endings_by_word
        return hashlib.sha256(rows.indptr.tobytes() + rows.indices.tobytes()).hexdigest()

    def spread(self, values: Floats, slopes: Floats, seen: Floats, rate: np.float32) -> None:
        """Take an Adagrad step for each ending, applied to the rows of all its words.

        `values` (float32 (n_words, d)): updated in place.
        `slopes` (float32 (n_words, d)): gradient of each row, summed over a batch.
        `seen` (float32 (n_endings,)): sum of the mean squared gradients of each ending so far; updated in
        place.
        """
        steps: Floats = self._words_by_ending @ slopes
        seen += np.square(steps).mean(axis=1)
        steps *= (np.float32(ENDING_SHARE) * rate / np.sqrt(seen))[:, None]
        values -= self._endings_by_word @ steps


Numbers = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ClozeCandidates:
    """The candidates at the place of each word, and at a place without a word; the right one comes first."""

    offsets: Ints  # int64 (n_words + 2,)
    # The candidates, list after list. The last list is that of no word, whose number is `n_words`
    numbers: Numbers

    @classmethod
    def from_rivals(cls, n_words: int, rivals: tuple[Ints, Ints], none_beside: Ints) -> ClozeCandidates:
        """Return the candidate lists: each word with its rivals, and no word with the words in `none_beside`.

        The words in `none_beside` also compete with no word and with each other.

        Raises `ValueError` if rivals are not word numbers, or not given for `n_words` words.

        `rivals`: offsets and numbers of the rivals of each word, ``(n_words + 1,)`` and ``(n_rivals,)``.
        """
        offsets, numbers = (np.asarray(part, np.int64) for part in rivals)
        fits = len(offsets) == n_words + 1 and offsets[0] == 0 and offsets[-1] == len(numbers)
        if not fits or (np.diff(offsets) < 0).any():
            raise ValueError(f"rivals of {len(offsets) - 1} words for a vocabulary of {n_words}")
        for named in (numbers, none_beside):
            if len(named) and not (named.min() >= 0 and named.max() < n_words):
                raise ValueError("a number that is not a word number")
        # the right candidate must come first: compiled functions rely on it
        lists = [[word, *numbers[offsets[word] : offsets[word + 1]].tolist()] for word in range(n_words)]
        insertable = none_beside.tolist()
        for word in insertable:
            lists[word] += [n_words, *insertable]
        lists.append([n_words, *insertable])
        lists = [list(dict.fromkeys(candidates)) for candidates in lists]
        ragged = Ragged.from_lists(lists, np.int32)
        return cls(ragged.offsets, ragged.values)

    def digest(self) -> str:
        """Return a hash of all lists."""
        return hashlib.sha256(self.offsets.tobytes() + self.numbers.tobytes()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPlaces:
    """The places of a batch."""

    words: Numbers  # int32 (n_different,): the distinct words of the text
    # int32 (n, places): the words around each place as indices into `words`, the nearest on the left first
    around: Numbers
    truth: Numbers  # int32 (n,): the right answer at each place
    negatives: Numbers  # int32 (n_negatives,): distinct words that compete at all places


class ClozeExamples:
    """Blocks of text as word numbers.

    Raises `ValueError` without text, for a vocabulary without sentence boundaries, or for an invalid word
    number.

    `blocks`: whole sentences, including their boundaries.
    `is_target` (bool (n_words,)): words to be predicted; the other words only serve as context.
    Attribute `sizes`: int64 (n_blocks,).
    Attribute `digest`: hash of the text, the words and `is_target`.
    """

    def __init__(
        self,
        blocks: Sequence[NDArray[np.uint16] | Numbers],
        vocabulary: ClozeVocabulary,
        is_target: NDArray[np.bool_] | None,
        settings: ClozeSettings,
    ) -> None:
        self._blocks, self._settings = blocks, settings
        self._outside, self._nothing = vocabulary.outside, len(vocabulary)
        ends = vocabulary.hash_numbers(np.array([START_HASH, END_HASH], np.uint64))
        if ends.min() < 0:
            raise ValueError("a vocabulary without sentence boundaries")
        self._start = int(ends[0])
        self._is_target = np.zeros(vocabulary.outside + 1, bool)
        self._is_target[: len(vocabulary)] = True if is_target is None else is_target
        self._is_target[ends] = False
        self.sizes = np.fromiter(map(len, blocks), np.int64, len(blocks))
        # Blocks may be memory-mapped and larger than memory: read them once, some thousands at a time. The
        # digest identifies the text in checkpoints.
        counts = np.zeros(vocabulary.outside, np.int64)
        digest = hashlib.sha256(vocabulary.words.tobytes() + self._is_target.tobytes() + self.sizes.tobytes())
        for first in range(0, len(blocks), 4096):
            text = np.concatenate(blocks[first : first + 4096])
            if len(text) and not 0 <= int(text.min()) <= int(text.max()) < len(counts):
                raise ValueError("text with a number that the vocabulary does not have")
            counts += np.bincount(text, minlength=len(counts))
            digest.update(text.tobytes())
        if not counts[self._is_target[: len(counts)]].any():
            raise ValueError("no text to learn from")
        self.digest = digest.hexdigest()
        self._drawn = np.cumsum(np.sqrt(counts[: len(vocabulary)]))

    def batches(self) -> list[Ints]:
        """Return the blocks of each step: all of them once per epoch, each time in another order."""
        steps = []
        for epoch in range(self._settings.epochs):
            # a generator of its own for each epoch: a resumed run gets the same batches without drawing
            # earlier ones
            order = np.random.default_rng([self._settings.seed, 1, epoch]).permutation(len(self.sizes))
            sizes = self.sizes[order]
            number = offsets_from_sizes(sizes)[:-1] // self._settings.batch
            steps += np.split(order, np.flatnonzero(np.diff(number)) + 1)
        return steps

    def places(self, batch: Ints, rng: np.random.Generator) -> TrainingPlaces:
        """Return the training places in some blocks."""
        text = np.concatenate([self._blocks[i] for i in batch.tolist()]).astype(np.int32)
        is_asked = self._is_target[text]
        filled = np.flatnonzero(is_asked)
        empty = np.flatnonzero(is_asked[1:] & is_asked[:-1]) + 1
        empty = empty[rng.random(len(empty)) < _EMPTY_SHARE]
        positions = np.concatenate([filled, empty])
        ends = np.concatenate([filled + 1, empty])
        truth = np.concatenate([text[filled], np.full(len(empty), self._nothing, np.int32)])
        order = np.argsort(positions, kind="stable")
        words, word_index = np.unique(np.append(text, np.int32(self._outside)), return_inverse=True)
        around = self._around(text, word_index.astype(np.int32), positions[order], ends[order])
        drawn = np.searchsorted(self._drawn, rng.random(NEGATIVES) * self._drawn[-1], side="right")
        return TrainingPlaces(words, around, truth[order], np.unique(drawn).astype(np.int32))

    def _around(self, text: Numbers, word_index: Numbers, positions: Ints, ends: Ints) -> Numbers:
        """Return the words around places; outside the sentence, the last number of `word_index`."""
        sentence = np.cumsum(text == self._start)
        left = positions[:, None] - 1 - np.arange(self._settings.left)
        right = ends[:, None] + np.arange(self._settings.right)
        tokens = np.concatenate([left, right], axis=1)
        inside = (tokens >= 0) & (tokens < len(text))
        tokens = np.where(inside, tokens, 0)
        inside &= sentence[tokens] == sentence[positions][:, None]
        return np.where(inside, word_index[tokens], word_index[-1])


DENSE = ("inputs", "hidden_bias", "states", "state_bias")
"""Weights that are updated completely in every batch."""
HALVES = 2
"""Number of column slices in which the outputs are learned."""


@dataclass(frozen=True, slots=True, eq=False)
class FloatWeights:
    """Weights as in `Cloze`, in float32."""

    embeddings: Floats
    inputs: Floats
    hidden_bias: Floats
    states: Floats
    state_bias: Floats
    outputs: Floats
    output_bias: Floats

    @classmethod
    def initial(cls, settings: ClozeSettings, n_words: int, outside: int) -> FloatWeights:
        """Return initial weights: small random ones, and no preference among words."""
        rng = np.random.default_rng([settings.seed, 0])
        d, h = settings.dimensions, settings.hidden

        def normal(*shape: int, scale: float) -> Floats:
            return rng.standard_normal(shape, np.float32) * np.float32(scale)

        return cls(
            normal(outside + 1, d, scale=0.1),
            normal(settings.places, d, h, scale=0.6 / float(np.sqrt(d))),
            np.zeros(h, np.float32),
            normal(h, d, scale=1 / float(np.sqrt(h))),
            np.zeros(d, np.float32),
            np.zeros((n_words + 1, d), np.float32),
            np.zeros(n_words + 1, np.float32),
        )

    def arrays(self) -> dict[str, Floats]:
        """Return the weights by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True, eq=False)
class ForwardPass:
    """Values of a batch: embeddings of its words; hidden units, states and errors of its places."""

    embedded: Floats  # float32 (n_different, D)
    units: Floats  # float32 (n, H)
    states: Floats  # float32 (n, D)
    begins: NDArray[np.int64]  # (n,): where the candidates of each place begin in `errors`
    # float32 (n_candidates,): probability of each candidate, minus one for the right one: the gradient of the
    # log loss
    errors: Floats
    shared: Floats  # float32 (n, n_negatives): the same for the negatives
    losses: Floats  # float32 (n,)


class ClozeNetwork:
    """Weights and the state of their optimisers.

    `weights`: updated in place.
    `endings`: endings that words share; by default none.
    """

    def __init__(
        self,
        weights: FloatWeights,
        candidates: ClozeCandidates,
        pool: ThreadPool,
        endings: WordEndings | None = None,
    ) -> None:
        self.weights, self._candidates, self._pool = weights, candidates, pool
        self._endings = endings or WordEndings(())
        arrays, n = weights.arrays(), len(weights.outputs)
        self.moments = {name: (np.zeros_like(arrays[name]), np.zeros_like(arrays[name])) for name in DENSE}
        # Adagrad divides by the roots of these sums; the initial values limit the first steps of rare words.
        self.embeddings_seen = np.full(len(weights.embeddings), 1e-6, np.float32)
        self.outputs_seen = np.full((n, HALVES), 1e-3, np.float32)
        self.bias_seen = np.full(n, 1e-1, np.float32)
        self.shared_outputs_seen = np.full((HALVES, len(self._endings)), 1e-1, np.float32)
        self.shared_embeddings_seen = np.full(len(self._endings), 1e-2, np.float32)

    def state(self) -> dict[str, Floats]:
        """Return all arrays that a step changes, by name; they are not copied."""
        sums = (
            "embeddings_seen",
            "outputs_seen",
            "bias_seen",
            "shared_outputs_seen",
            "shared_embeddings_seen",
        )
        arrays = self.weights.arrays() | {name: getattr(self, name) for name in sums}
        for name, (first, second) in self.moments.items():
            arrays |= {f"{name}_first": first, f"{name}_second": second}
        return arrays

    def forward(self, batch: TrainingPlaces) -> ForwardPass:
        """Compute the values of a batch."""
        from disambig.features._network_kernels import hidden_units, output_errors

        w, candidates = self.weights, self._candidates
        embedded = w.embeddings[batch.words]
        projections = np.empty((len(w.inputs), len(embedded), len(w.hidden_bias)), np.float32)
        products = zip(w.inputs, projections, strict=True)
        self._pool.map(lambda pair: np.matmul(embedded, pair[0], out=pair[1]), products)
        sizes = np.diff(candidates.offsets)[batch.truth]
        starts = offsets_from_sizes(sizes)[:-1]
        n = len(batch.truth)
        units = np.empty((n, len(w.hidden_bias)), np.float32)
        states = np.empty((n, len(w.state_bias)), np.float32)
        shared = np.empty((n, len(batch.negatives)), np.float32)
        errors, losses = np.empty(int(sizes.sum()), np.float32), np.empty(n, np.float32)
        # contiguous, so that BLAS does not copy the transpose once per thread
        negatives, negative_bias = w.outputs[batch.negatives].T.copy(), w.output_bias[batch.negatives]

        def rows(part: slice) -> None:
            hidden_units(projections, batch.around[part], w.hidden_bias, units[part])
            np.matmul(units[part], w.states, out=states[part])
            states[part] += w.state_bias
            np.matmul(states[part], negatives, out=shared[part])
            shared[part] += negative_bias
            output_errors(
                states[part],
                batch.truth[part],
                candidates.offsets,
                candidates.numbers,
                w.outputs,
                w.output_bias,
                starts[part],
                batch.negatives,
                shared[part],
                errors,
                losses[part],
            )

        self._pool.map_rows(rows, n)
        return ForwardPass(embedded, units, states, starts, errors, shared, losses)

    def step(self, batch: TrainingPlaces, rate: float, number: int) -> float:
        """Train on one batch; steps are numbered from 1. Return the mean log loss before the step."""
        forward, sparse = self.forward(batch), np.float32(rate * _SPARSE_FACTOR)
        before = self.weights.outputs.copy() if len(self._endings) else self.weights.outputs
        state_gradients = self._outputs(batch, forward, sparse)
        slopes, embeddings = self.gradients(batch, forward, state_gradients)
        embeddings *= np.float32(len(state_gradients))  # gradient of the sum over places, not of the mean

        def words(part: slice) -> None:
            w, seen = self.weights.embeddings, self.embeddings_seen
            adagrad(w, seen, batch.words[part], embeddings[part], sparse)

        self._pool.map_rows(words, len(batch.words))
        if len(self._endings):
            self._update_endings(batch, before, embeddings, sparse)
        for name, gradient in slopes.items():
            adam(getattr(self.weights, name), *self.moments[name], gradient, rate, number)
        return float(forward.losses.mean(dtype=np.float64))

    def _update_endings(
        self, batch: TrainingPlaces, before: Floats, embeddings: Floats, rate: np.float32
    ) -> None:
        """Update the endings; `before` are the outputs before the step, `embeddings` the gradients."""
        w, n = self.weights, len(self.weights.outputs) - 1
        d = w.outputs.shape[1]

        def outputs(half: int) -> None:
            part = slice(half * d // HALVES, (half + 1) * d // HALVES)
            # The gradient of each word is recovered from its own Adagrad step, which was applied candidate by
            # candidate without storing gradients.
            slopes = before[:n, part] - w.outputs[:n, part]
            slopes *= np.sqrt(self.outputs_seen[:n, half, None]) / rate
            self._endings.spread(w.outputs[:n, part], slopes, self.shared_outputs_seen[half], rate)

        def update_words() -> None:
            slopes = np.zeros((n, d), np.float32)
            in_vocabulary = batch.words < n
            slopes[batch.words[in_vocabulary]] = embeddings[in_vocabulary]
            self._endings.spread(w.embeddings[:n], slopes, self.shared_embeddings_seen, rate)

        work = [update_words, *(partial(outputs, half) for half in range(HALVES))]
        self._pool.map(lambda update: update(), work)

    def _outputs(self, batch: TrainingPlaces, forward: ForwardPass, rate: np.float32) -> Floats:
        """Update the outputs candidate by candidate; return the gradients of the states."""
        from disambig.features._network_kernels import learn_outputs

        w, candidates = self.weights, self._candidates
        n, d = forward.states.shape
        negatives = w.outputs[batch.negatives]  # a copy from before the update
        state_gradients = np.empty((n, d), np.float32)

        # Threads divide the columns, not the rows: a word may be a candidate of many rows, and two threads
        # must not update the same numbers.
        def columns(half: int) -> None:
            part = slice(half * d // HALVES, (half + 1) * d // HALVES)
            learn_outputs(
                forward.states,
                batch.truth,
                candidates.offsets,
                candidates.numbers,
                forward.begins,
                forward.errors,
                w.outputs,
                self.outputs_seen,
                w.output_bias,
                self.bias_seen,
                rate,
                state_gradients,
                half,
                part.start,
                part.stop,
            )
            gradient = forward.shared.T @ forward.states[:, part]
            adagrad(w.outputs[:, part], self.outputs_seen[:, half], batch.negatives, gradient, rate)

        self._pool.map(columns, range(HALVES))
        gradient = forward.shared.sum(axis=0)[:, None]
        adagrad(w.output_bias[:, None], self.bias_seen, batch.negatives, gradient, rate)

        def rows(part: slice) -> None:
            state_gradients[part] += forward.shared[part] @ negatives
            state_gradients[part] /= np.float32(n)

        self._pool.map_rows(rows, n)
        return state_gradients

    def gradients(
        self, batch: TrainingPlaces, forward: ForwardPass, state_gradients: Floats
    ) -> tuple[dict[str, Floats], Floats]:
        """Return the gradients of the mean loss: of the dense weights by name, and of the batch's embeddings.

        `state_gradients`, shape ``(n, D)``, are the gradients of the states.
        """
        from disambig.features._network_kernels import gather_errors

        w, (n, h), different = self.weights, forward.units.shape, len(batch.words)
        units = np.empty((n, h), np.float32)
        states, inputs = np.empty_like(w.states), np.empty_like(w.inputs)
        by_place = np.empty((len(w.inputs), *forward.embedded.shape), np.float32)

        def rows(part: slice) -> None:
            np.matmul(state_gradients[part], w.states.T, out=units[part])
            units[part] *= forward.units[part] > 0

        def hidden(part: slice) -> None:
            np.matmul(forward.units[:, part].T, state_gradients, out=states[part])

        def place(p: int) -> None:
            sums = np.empty((different, h), np.float32)
            gather_errors(units, batch.around, p, sums)
            np.matmul(forward.embedded.T, sums, out=inputs[p])
            np.matmul(sums, w.inputs[p].T, out=by_place[p])

        self._pool.map_rows(rows, n)
        self._pool.map_rows(hidden, h)
        self._pool.map(place, range(len(w.inputs)))
        dense = inputs, units.sum(axis=0), states, state_gradients.sum(axis=0)
        return dict(zip(DENSE, dense, strict=True)), by_place.sum(axis=0)
