"""The network of words in context while it is trained: settings, batches of places, and gradient steps."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.features.cloze import LARGEST, ClozeVocabulary
from disambig.text import END_HASH, START_HASH

PARTS = 4
"""Of rows: never of how many threads there are, for the sums of matrix products depend on their sizes."""


class ThreadPool:
    """Some threads that work at once; what they call must release the GIL and write to its own part alone."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def map(self, work: Callable[[Any], object], parts: Iterable[Any]) -> None:
        """Call `work` with each part."""
        if self._pool is None:
            for part in parts:
                work(part)
        else:
            list(self._pool.map(work, parts))

    def map_rows(self, work: Callable[[slice], object], n: int) -> None:
        """Call `work` with slices that cover n rows."""
        self.map(work, [slice(i * n // PARTS, (i + 1) * n // PARTS) for i in range(PARTS)])

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()


Floats = NDArray[np.float32]
_FIRST, _SECOND = 0.9, 0.999
"""How much of its moments Adam keeps from step to step."""


def adagrad(
    values: Floats, seen: Floats, rows: NDArray[np.int32], gradient: Floats, rate: np.float32
) -> None:
    """Change some rows in place, each at most once (Duchi, Hazan and Singer 2011, one sum a row).

    Parameters
    ----------
    values : array of float32, shape (n, d)
    seen : array of float32, shape (n,)
        The sum of the mean squares of each row's gradients so far.
    rows : array of int32, shape (m,)
    gradient : array of float32, shape (m, d)
    """
    seen[rows] += np.square(gradient).mean(axis=1)
    values[rows] -= gradient * (rate / np.sqrt(seen[rows]))[:, None]


def adam(values: Floats, first: Floats, second: Floats, gradient: Floats, rate: float, number: int) -> None:
    """Change values and their moments in place (Kingma and Ba 2015); steps are numbered from 1 on."""
    first *= np.float32(_FIRST)
    first += np.float32(1 - _FIRST) * gradient
    second *= np.float32(_SECOND)
    second += np.float32(1 - _SECOND) * np.square(gradient)
    mean = np.float32(rate / (1 - _FIRST**number))
    root = np.float32(1 / np.sqrt(1 - _SECOND**number))
    values -= mean * first / (np.sqrt(second) * root + np.float32(1e-8))


NEGATIVES = 64
"""Words that all places of a batch compete with, drawn by the square root of their frequency."""
EMPTY = 0.25
"""Share of the places between two words that is learned from: what stands there is no word."""
SPARSE = 40.0
"""The rate of embeddings and outputs, of which a batch sees a part, is so many times that of the others."""
LAST_RATE = 0.03
"""Share of the rate to which it falls."""
WARM_UP = 50
"""Steps over which the rate rises first: at once the full one throws the first words far off."""
_EXACT = 2**24


def check_integer(name: str, value: object, *, least: int) -> None:
    """Raise UserError D993 for a setting that is no whole number, or too small."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UserError("D993", setting=name, value=value, wanted=f"a whole number from {least} on")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClozeSettings:
    """What `learn_cloze` takes.

    Raises
    ------
    UserError
        D993 for a value that cannot be meant, or layers too wide for sums of small integers to be exact.
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
            check_integer(name, value, least={"seed": 0, "dimensions": 2}.get(name, 1))
        widest = {"dimensions": (_EXACT - 1) // LARGEST**2, "hidden": (_EXACT - 1) // (255 * LARGEST)}
        for name, most in widest.items():
            if getattr(self, name) > most:
                raise UserError("D993", setting=name, value=getattr(self, name), wanted=f"{most} at most")

    @property
    def places(self) -> int:
        """Words around a place that are seen."""
        return self.left + self.right


LONGEST = 4
"""Letters of an ending; shorter ones count besides."""
LEAST_WORDS = 10
"""Words that an ending must have."""
APART = 64
"""So many of the most frequent words are like no others."""
ENDING_SHARE = 0.25
"""The rate of endings, beside that of words."""


class WordEndings:
    """Which words end how; none where no spellings are given.

    Parameters
    ----------
    spellings : sequence of str
        Of all words of a vocabulary, by number.
    """

    def __init__(self, spellings: Sequence[str]) -> None:
        from scipy.sparse import csr_array

        numbers: dict[str, int] = {}
        words, endings = [], []
        for word, spelling in enumerate(spellings):
            if word < APART or not spelling[:1].isalpha():
                continue
            for length in range(1, min(LONGEST, len(spelling) - 2) + 1):
                words.append(word)
                endings.append(numbers.setdefault(spelling[-length:], len(numbers)))
        kept = np.flatnonzero(np.bincount(endings, minlength=len(numbers)) >= LEAST_WORDS)
        ones = np.ones(len(words), np.float32)
        shape = (len(spellings), len(numbers))
        self._of_word: Any = csr_array((ones, (words, endings)), shape=shape)[:, kept].tocsr()
        self._of_ending: Any = self._of_word.T.tocsr()

    def __len__(self) -> int:
        return int(self._of_word.shape[1])

    def digest(self) -> str:
        """Return a hash of which words end how."""
        held = self._of_word
        return hashlib.sha256(held.indptr.tobytes() + held.indices.tobytes()).hexdigest()

    def spread(self, values: Floats, slopes: Floats, seen: Floats, rate: np.float32) -> None:
        """Take a step of Adagrad for each ending, in the rows of all its words.

        Parameters
        ----------
        values : array of float32, shape (n_words, d)
            Changed in place.
        slopes : array of float32, shape (n_words, d)
            Of each row, for the sum over a batch.
        seen : array of float32, shape (n_endings,)
            The sum of the mean squares of each ending's slopes so far; changed in place.
        """
        of_endings: Floats = self._of_ending @ slopes
        seen += np.square(of_endings).mean(axis=1)
        of_endings *= (np.float32(ENDING_SHARE) * rate / np.sqrt(seen))[:, None]
        values -= self._of_word @ of_endings


Numbers = NDArray[np.int32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClozeCandidates:
    """Who competes for the place of each word, and for a place without one; what is right comes first.

    Attributes
    ----------
    offsets : array of int64, shape (n_words + 2,)
    numbers : array of int32
        The last list is that of no word at all, whose number is `n_words`.
    """

    offsets: Ints
    numbers: Numbers

    @classmethod
    def from_rivals(cls, n_words: int, rivals: tuple[Ints, Ints], none_beside: Ints) -> ClozeCandidates:
        """Join each word, its rivals, and no word and one another for the words of `none_beside`.

        Parameters
        ----------
        rivals : (offsets, numbers)
            Of each word, shapes ``(n_words + 1,)`` and ``(n_rivals,)``.

        Raises
        ------
        ValueError
            Where rivals are none of words, or none of `n_words`.
        """
        offsets, numbers = (np.asarray(part, np.int64) for part in rivals)
        whole = len(offsets) == n_words + 1 and offsets[0] == 0 and offsets[-1] == len(numbers)
        if not whole or (np.diff(offsets) < 0).any():
            raise ValueError(f"rivals of {len(offsets) - 1} words, and there are {n_words}")
        for named in (numbers, none_beside):
            if len(named) and not (named.min() >= 0 and named.max() < n_words):
                raise ValueError("a number that no word has")
        lists = [[word, *numbers[offsets[word] : offsets[word + 1]].tolist()] for word in range(n_words)]
        beside = none_beside.tolist()
        for word in beside:
            lists[word] += [n_words, *beside]
        lists.append([n_words, *beside])
        lists = [list(dict.fromkeys(each)) for each in lists]
        begins = np.concatenate([[0], np.cumsum([len(each) for each in lists])])
        return cls(begins.astype(np.int64), np.array([c for each in lists for c in each], np.int32))

    def digest(self) -> str:
        """Return a hash of all lists."""
        return hashlib.sha256(self.offsets.tobytes() + self.numbers.tobytes()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPlaces:
    """The places of a batch.

    Attributes
    ----------
    words : array of int32, shape (n_different,)
        The different words of the text.
    around : array of int32, shape (n, places)
        The words around each place, the nearest of the left first, as places in `words`.
    truth : array of int32, shape (n,)
        What stands there.
    negatives : array of int32, shape (n_negatives,)
        Words that all places compete with, each once.
    """

    words: Numbers
    around: Numbers
    truth: Numbers
    negatives: Numbers


class ClozeExamples:
    """Blocks of text as numbers of words.

    Parameters
    ----------
    blocks : sequence of arrays of unsigned 16-bit or of 32-bit integers
        Whole sentences, their ends included.
    asked : array of bool, shape (n_words,)
        Which words are learned to be told from others; the rest only stand beside them.

    Attributes
    ----------
    sizes : array of int64, shape (n_blocks,)
    digest : str
        Of text, words and what is asked.

    Raises
    ------
    ValueError
        Without any text, for a vocabulary without sentence ends, or a number that it does not have.
    """

    def __init__(
        self,
        blocks: Sequence[NDArray[np.uint16] | Numbers],
        vocabulary: ClozeVocabulary,
        asked: NDArray[np.bool_] | None,
        settings: ClozeSettings,
    ) -> None:
        self._blocks, self._settings = blocks, settings
        self._outside, self._nothing = vocabulary.outside, len(vocabulary)
        ends = vocabulary.hash_numbers(np.array([START_HASH, END_HASH], np.uint64))
        if ends.min() < 0:
            raise ValueError("a vocabulary without sentence ends")
        self._start = int(ends[0])
        self._asked = np.zeros(vocabulary.outside + 1, bool)
        self._asked[: len(vocabulary)] = True if asked is None else asked
        self._asked[ends] = False
        self.sizes = np.fromiter(map(len, blocks), np.int64, len(blocks))
        counts = np.zeros(vocabulary.outside, np.int64)
        digest = hashlib.sha256(vocabulary.words.tobytes() + self._asked.tobytes() + self.sizes.tobytes())
        for first in range(0, len(blocks), 4096):
            text = np.concatenate(blocks[first : first + 4096])
            if len(text) and not 0 <= int(text.min()) <= int(text.max()) < len(counts):
                raise ValueError("text with a number that the vocabulary does not have")
            counts += np.bincount(text, minlength=len(counts))
            digest.update(text.tobytes())
        if not counts[self._asked[: len(counts)]].any():
            raise ValueError("no text to learn from")
        self.digest = digest.hexdigest()
        self._drawn = np.cumsum(np.sqrt(counts[: len(vocabulary)]))

    def batches(self) -> list[Ints]:
        """Return the blocks of each step: all of them once an epoch, each time in another order."""
        found = []
        for epoch in range(self._settings.epochs):
            order = np.random.default_rng([self._settings.seed, 1, epoch]).permutation(len(self.sizes))
            sizes = self.sizes[order]
            number = (np.cumsum(sizes) - sizes) // self._settings.batch
            found += np.split(order, np.flatnonzero(np.diff(number)) + 1)
        return found

    def places(self, batch: Ints, rng: np.random.Generator) -> TrainingPlaces:
        """Return what is learned from some blocks."""
        text = np.concatenate([self._blocks[i] for i in batch.tolist()]).astype(np.int32)
        is_asked = self._asked[text]
        filled = np.flatnonzero(is_asked)
        empty = np.flatnonzero(is_asked[1:] & is_asked[:-1]) + 1
        empty = empty[rng.random(len(empty)) < EMPTY]
        positions = np.concatenate([filled, empty])
        behind = np.concatenate([filled + 1, empty])
        truth = np.concatenate([text[filled], np.full(len(empty), self._nothing, np.int32)])
        order = np.argsort(positions, kind="stable")
        words, which = np.unique(np.append(text, np.int32(self._outside)), return_inverse=True)
        around = self._around(text, which.astype(np.int32), positions[order], behind[order])
        drawn = np.searchsorted(self._drawn, rng.random(NEGATIVES) * self._drawn[-1], side="right")
        return TrainingPlaces(words, around, truth[order], np.unique(drawn).astype(np.int32))

    def _around(self, text: Numbers, which: Numbers, positions: Ints, behind: Ints) -> Numbers:
        """Return the words around places within their sentences; the last of `which` is beyond them."""
        sentence = np.cumsum(text == self._start)
        left = positions[:, None] - 1 - np.arange(self._settings.left)
        right = behind[:, None] + np.arange(self._settings.right)
        at = np.concatenate([left, right], axis=1)
        inside = (at >= 0) & (at < len(text))
        at = np.where(inside, at, 0)
        inside &= sentence[at] == sentence[positions][:, None]
        return np.where(inside, which[at], which[-1])


DENSE = ("inputs", "hidden_bias", "states", "state_bias")
"""What every batch sees whole."""
HALVES = 2
"""Outputs are learned in so many parts of their columns."""


@dataclass(frozen=True, slots=True, eq=False)
class FloatWeights:
    """As in `model.Cloze`, in float32."""

    embeddings: Floats
    inputs: Floats
    hidden_bias: Floats
    states: Floats
    state_bias: Floats
    outputs: Floats
    output_bias: Floats

    @classmethod
    def start(cls, settings: ClozeSettings, n_words: int, outside: int) -> FloatWeights:
        """Return weights to begin with: small ones at random, and no preference among words."""
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
    """What a batch gives: embeddings of its words, hidden units, states and errors of its places.

    Attributes
    ----------
    embedded : array of float32, shape (n_different, D)
    units : array of float32, shape (n, H)
    states : array of float32, shape (n, D)
    begins : array of int64, shape (n,)
        Where the candidates of each place begin in `errors`.
    errors : array of float32, shape (n_candidates,)
        The probability of each candidate, less one for what is right: the slope of the log loss.
    shared : array of float32, shape (n, n_negatives)
        The same of the negatives.
    losses : array of float32, shape (n,)
    """

    embedded: Floats
    units: Floats
    states: Floats
    begins: NDArray[np.int64]
    errors: Floats
    shared: Floats
    losses: Floats


class ClozeNetwork:
    """Weights, and what the optimisers remember of them.

    Parameters
    ----------
    weights : Weights
        Changed in place.
    candidates : Candidates
    team : Team
    endings : Endings, optional
        What words share; by default nothing.
    """

    def __init__(
        self,
        weights: FloatWeights,
        candidates: ClozeCandidates,
        team: ThreadPool,
        endings: WordEndings | None = None,
    ) -> None:
        self.weights, self._candidates, self._team = weights, candidates, team
        self._endings = endings or WordEndings(())
        arrays, n = weights.arrays(), len(weights.outputs)
        self.moments = {name: (np.zeros_like(arrays[name]), np.zeros_like(arrays[name])) for name in DENSE}
        self.embeddings_seen = np.full(len(weights.embeddings), 1e-6, np.float32)
        self.outputs_seen = np.full((n, HALVES), 1e-3, np.float32)
        self.bias_seen = np.full(n, 1e-1, np.float32)
        self.shared_outputs_seen = np.full((HALVES, len(self._endings)), 1e-1, np.float32)
        self.shared_embeddings_seen = np.full(len(self._endings), 1e-2, np.float32)

    def state(self) -> dict[str, Floats]:
        """Return all that a step changes, by name; the arrays themselves."""
        found = {**self.weights.arrays(), "embeddings_seen": self.embeddings_seen}
        found.update(outputs_seen=self.outputs_seen, bias_seen=self.bias_seen)
        found.update(shared_outputs_seen=self.shared_outputs_seen)
        found.update(shared_embeddings_seen=self.shared_embeddings_seen)
        for name, (first, second) in self.moments.items():
            found.update({f"{name}_first": first, f"{name}_second": second})
        return found

    def forward(self, batch: TrainingPlaces) -> ForwardPass:
        """Return what a batch gives."""
        from disambig.features._cloze_kernels import hidden_units, output_errors

        w, candidates = self.weights, self._candidates
        embedded = w.embeddings[batch.words]
        given = np.empty((len(w.inputs), len(embedded), len(w.hidden_bias)), np.float32)
        products = zip(w.inputs, given, strict=True)
        self._team.map(lambda each: np.matmul(embedded, each[0], out=each[1]), products)
        sizes = np.diff(candidates.offsets)[batch.truth]
        begins = np.cumsum(sizes) - sizes
        n = len(batch.truth)
        units = np.empty((n, len(w.hidden_bias)), np.float32)
        states = np.empty((n, len(w.state_bias)), np.float32)
        shared = np.empty((n, len(batch.negatives)), np.float32)
        errors, losses = np.empty(int(sizes.sum()), np.float32), np.empty(n, np.float32)
        negatives, negative_bias = w.outputs[batch.negatives].T.copy(), w.output_bias[batch.negatives]

        def rows(part: slice) -> None:
            hidden_units(given, batch.around[part], w.hidden_bias, units[part])
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
                begins[part],
                batch.negatives,
                shared[part],
                errors,
                losses[part],
            )

        self._team.map_rows(rows, n)
        return ForwardPass(embedded, units, states, begins, errors, shared, losses)

    def step(self, batch: TrainingPlaces, rate: float, number: int) -> float:
        """Take the step of one batch; steps are numbered from 1 on. Return the mean log loss before it."""
        found, sparse = self.forward(batch), np.float32(rate * SPARSE)
        before = self.weights.outputs.copy() if len(self._endings) else self.weights.outputs
        back = self._outputs(batch, found, sparse)
        slopes, embeddings = self.gradients(batch, found, back)
        embeddings *= np.float32(len(back))  # of sums over places, not of means

        def words(part: slice) -> None:
            w, seen = self.weights.embeddings, self.embeddings_seen
            adagrad(w, seen, batch.words[part], embeddings[part], sparse)

        self._team.map_rows(words, len(batch.words))
        if len(self._endings):
            self._share(batch, before, embeddings, sparse)
        for name, gradient in slopes.items():
            adam(getattr(self.weights, name), *self.moments[name], gradient, rate, number)
        return float(found.losses.mean(dtype=np.float64))

    def _share(self, batch: TrainingPlaces, before: Floats, embeddings: Floats, rate: np.float32) -> None:
        """Take the step of endings; `before` are the outputs before their own, `embeddings` slopes."""
        w, n = self.weights, len(self.weights.outputs) - 1
        d = w.outputs.shape[1]

        def outputs(half: int) -> None:
            part = slice(half * d // HALVES, (half + 1) * d // HALVES)
            slopes = before[:n, part] - w.outputs[:n, part]
            slopes *= np.sqrt(self.outputs_seen[:n, half, None]) / rate
            self._endings.spread(w.outputs[:n, part], slopes, self.shared_outputs_seen[half], rate)

        def of_words() -> None:
            slopes = np.zeros((n, d), np.float32)
            known = batch.words < n
            slopes[batch.words[known]] = embeddings[known]
            self._endings.spread(w.embeddings[:n], slopes, self.shared_embeddings_seen, rate)

        works = [partial(outputs, half) for half in range(HALVES)]
        self._team.map(lambda work: work(), [of_words, *works])

    def _outputs(self, batch: TrainingPlaces, found: ForwardPass, rate: np.float32) -> Floats:
        """Take the step of the outputs, candidate by candidate; return the slopes of the states."""
        from disambig.features._cloze_kernels import learn_outputs

        w, candidates = self.weights, self._candidates
        n, d = found.states.shape
        negatives = w.outputs[batch.negatives]  # as they were
        back = np.empty((n, d), np.float32)

        def columns(half: int) -> None:
            part = slice(half * d // HALVES, (half + 1) * d // HALVES)
            learn_outputs(
                found.states,
                batch.truth,
                candidates.offsets,
                candidates.numbers,
                found.begins,
                found.errors,
                w.outputs,
                self.outputs_seen,
                w.output_bias,
                self.bias_seen,
                rate,
                back,
                half,
                part.start,
                part.stop,
            )
            gradient = found.shared.T @ found.states[:, part]
            adagrad(w.outputs[:, part], self.outputs_seen[:, half], batch.negatives, gradient, rate)

        self._team.map(columns, range(HALVES))
        gradient = found.shared.sum(axis=0)[:, None]
        adagrad(w.output_bias[:, None], self.bias_seen, batch.negatives, gradient, rate)

        def rows(part: slice) -> None:
            back[part] += found.shared[part] @ negatives
            back[part] /= np.float32(n)

        self._team.map_rows(rows, n)
        return back

    def gradients(
        self, batch: TrainingPlaces, found: ForwardPass, back: Floats
    ) -> tuple[dict[str, Floats], Floats]:
        """Return the gradients of the mean loss: of the dense weights by name, and of a batch's embeddings.

        Parameters
        ----------
        back : array of float32, shape (n, D)
            Those of the states.
        """
        from disambig.features._cloze_kernels import gather_errors

        w, (n, h), different = self.weights, found.units.shape, len(batch.words)
        units = np.empty((n, h), np.float32)
        states, inputs = np.empty_like(w.states), np.empty_like(w.inputs)
        by_place = np.empty((len(w.inputs), *found.embedded.shape), np.float32)

        def rows(part: slice) -> None:
            np.matmul(back[part], w.states.T, out=units[part])
            units[part] *= found.units[part] > 0

        def hidden(part: slice) -> None:
            np.matmul(found.units[:, part].T, back, out=states[part])

        def place(p: int) -> None:
            sums = np.empty((different, h), np.float32)
            gather_errors(units, batch.around, p, sums)
            np.matmul(found.embedded.T, sums, out=inputs[p])
            np.matmul(sums, w.inputs[p].T, out=by_place[p])

        self._team.map_rows(rows, n)
        self._team.map_rows(hidden, h)
        self._team.map(place, range(len(w.inputs)))
        dense = inputs, units.sum(axis=0), states, back.sum(axis=0)
        return dict(zip(DENSE, dense, strict=True)), by_place.sum(axis=0)
