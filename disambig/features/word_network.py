"""A small neural network over the words around a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, GroupedInstances, HashVocabulary, Instances, offsets_from_sizes
from disambig.errors import UserError
from disambig.features._network_weights import (
    FIRST_KNOWN,
    LARGEST_OUTPUT,
    OUTSIDE,
    TOPIC_SHIFT,
    UNKNOWN,
    NetworkWeights,
)
from disambig.features.heads import N_HEADS, find_heads, parts_of_speech_in
from disambig.features.learned_words import attribute_columns, group_number
from disambig.features.rows import Surroundings, dense_features
from disambig.runtime import use_numba
from disambig.settings import COUNT, NON_NEGATIVE_COUNT, fitted_field, validate_settings
from disambig.text import TokenView, top_bits_directory
from disambig.type_aliases import Bools, Ints
from disambig.types import Arrays, Features

Floats = NDArray[np.float32]
BATCH = 256
HIDDEN_RATE, EMBEDDING_RATE, OUTPUT_RATE = 0.002, 0.3, 0.1
"""Initial learning rates of Adam and AdaGrad; they fall linearly to a share of `_LAST_SHARE`."""
_LAST_SHARE = 0.02
_TOPIC_SCALE = np.float32(1 / (1 << TOPIC_SHIFT))
_MOST_SAMPLED = 20_000
"""Number of instances from which the range of the hidden units is estimated."""


@dataclass(slots=True, eq=False)
class _FloatWeights:
    """The network during training: as `NetworkWeights`, in float32."""

    near: Floats
    far: Floats
    hidden: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    @classmethod
    def start(
        cls, settings: WordNetwork, words: int, outputs: int, rng: np.random.Generator
    ) -> _FloatWeights:
        def normal(rows: int, columns: int, scale: float) -> Floats:
            return (rng.standard_normal((rows, columns)) * scale).astype(np.float32)

        d, h = settings.dimensions, settings.hidden
        near = normal(words + FIRST_KNOWN, d, 0.1)
        far = normal(len(near) if settings.far > settings.near else FIRST_KNOWN, d, 0.02)
        far[:FIRST_KNOWN] = 0
        inputs = (settings.places + 1) * d
        return cls(
            near,
            far,
            normal(inputs, h, float(np.sqrt(2 / inputs))),
            np.zeros(h, np.float32),
            np.zeros((outputs, h), np.float32),
            np.zeros(outputs, np.float32),
        )

    def inputs(self, near: NDArray[np.int32], far: NDArray[np.int32]) -> Floats:
        from disambig.features._network_kernels import embed

        inputs = np.empty((len(near), len(self.hidden)), np.float32)
        embed(self.near, self.far, near, far, _TOPIC_SCALE, inputs)
        return inputs


@dataclass(frozen=True, slots=True, eq=False)
class _TrainingExamples:
    """Training data: the embedding row of every word in the text, and the instances."""

    rows: NDArray[np.int32]
    view: TokenView
    instances: Instances
    settings: WordNetwork

    def around(self, index: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the rows of near and far words, shapes (n, places) and (n, 2 * (far - near))."""
        instances = self.instances.take(index)
        places = Surroundings.from_instances(self.view, instances, self.settings.near, self.settings.far)
        heads = self.settings.heads(self.view, instances)
        near = np.concatenate(
            [self._rows_at(*places.near_places()), self._rows_at(heads, heads >= 0)], axis=1
        )
        return near, self._rows_at(*places.far_places())

    def _rows_at(self, at: Ints, inside: Bools) -> NDArray[np.int32]:
        return np.where(inside, self.rows[np.where(inside, at, 0)], np.int32(OUTSIDE))


def learn_network(
    settings: WordNetwork, view: TokenView, instances: Instances, groups: Sequence[Group]
) -> NetworkWeights | None:
    """Return the network trained on the observed candidates of `instances`; None if no group is usable."""
    from threadpoolctl import threadpool_limits

    from disambig.features._network_kernels import rows_of_words

    rng = np.random.default_rng(settings.seed)
    kept = [g for g in range(len(groups)) if _all_occur(instances, g, groups[g])]
    if not kept:
        return None
    vocabulary = most_frequent(view.hashes, settings.vocabulary)
    rows = rows_of_words(view.hashes, vocabulary, top_bits_directory(vocabulary))
    material = _TrainingExamples(rows, view, instances, settings)
    sizes = np.array([len(groups[g].candidates) for g in kept], np.int64)
    number = np.full(len(groups), -1, np.int64)
    number[kept] = np.arange(len(kept))
    order = _sample(instances, kept, settings.examples, rng)
    net = _FloatWeights.start(settings, len(vocabulary), int(sizes.sum()), rng)
    with threadpool_limits(limits=1, user_api="blas"):  # the same result with any number of processors
        _descend(net, material, order, number, sizes, settings.epochs, rng)
        sample = material.around(rng.permutation(order)[:_MOST_SAMPLED])
        numbers = np.array([group_number(groups[g]) for g in kept], np.int64)
        return _quantise(net, sample, vocabulary, numbers, sizes)


def most_frequent(hashes: NDArray[np.uint64], most: int) -> NDArray[np.uint32]:
    """Return the upper halves of the hashes of the most frequent words, ascending."""
    words, counts = np.unique((hashes >> np.uint64(32)).astype(np.uint32), return_counts=True)
    return np.sort(words[np.argsort(-counts, kind="stable")[:most]])


def _all_occur(instances: Instances, group: int, table: Group) -> bool:
    seen = np.unique(instances.observed[instances.groups == group])
    return len(seen[seen >= 0]) == len(table.candidates)


def _sample(instances: Instances, groups: Sequence[int], most: int, rng: np.random.Generator) -> Ints:
    """Return at most `most` instances of each group, shuffled together."""
    parts = []
    for g in groups:
        rows = np.flatnonzero((instances.groups == g) & (instances.observed >= 0))
        parts.append(rng.permutation(rows)[:most])
    return rng.permutation(np.concatenate(parts))


def _descend(
    net: _FloatWeights,
    material: _TrainingExamples,
    order: Ints,
    number: Ints,
    sizes: Ints,
    epochs: int,
    rng: np.random.Generator,
) -> None:
    """Train the network in place: AdaGrad for embeddings and outputs, Adam for the hidden layer."""
    from disambig.features._network_kernels import learn_embeddings, output_gradients

    begins = offsets_from_sizes(sizes)[:-1]
    near_seen, far_seen = (np.full(len(net.near), 1e-6, np.float32) for _ in range(2))
    # above zero, because AdaGrad divides by the roots of these sums
    output_seen = np.full(len(net.output), 1e-4, np.float32)
    output_step, bias_step = np.empty_like(net.output), np.empty_like(net.output_bias)
    adam = _Adam([net.hidden, net.hidden_bias])
    n_batches = epochs * -(-len(order) // BATCH)
    done = 0
    for _ in range(epochs):
        for start in range(0, len(order), BATCH):
            index = order[start : start + BATCH]
            share = max(1 - done / n_batches, _LAST_SHARE)
            near, far = material.around(index)
            inputs = net.inputs(near, far)
            units = np.maximum(inputs @ net.hidden + net.hidden_bias, 0)
            back = np.empty_like(units)
            part = material.instances
            output_gradients(
                units,
                net.output,
                net.output_bias,
                begins,
                sizes,
                number[part.groups[index]],
                part.observed[index],
                output_step,
                bias_step,
                back,
            )
            back *= units > 0
            gradient = back @ net.hidden.T
            n = np.float32(len(index))
            adam.step([inputs.T @ back / n, back.mean(axis=0)], HIDDEN_RATE * share)
            output_seen += (output_step**2).mean(axis=1) + bias_step**2
            rate = np.float32(OUTPUT_RATE * share) / np.sqrt(output_seen)
            net.output -= rate[:, None] * output_step
            net.output_bias -= rate * bias_step
            learn_embeddings(
                net.near,
                net.far,
                near_seen,
                far_seen,
                near,
                far,
                _TOPIC_SCALE,
                gradient,
                np.float32(EMBEDDING_RATE * share),
            )
            done += 1
        order = rng.permutation(order)


class _Adam:
    """Adam (Kingma and Ba 2015) for arrays that are updated in place."""

    def __init__(self, parameters: list[Floats]) -> None:
        self.parameters = parameters
        self.first = [np.zeros_like(p) for p in parameters]
        self.second = [np.zeros_like(p) for p in parameters]
        self.steps = 0

    def step(self, gradients: list[Any], rate: float) -> None:
        self.steps += 1
        first_share, second_share = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        for p, g, m, v in zip(self.parameters, gradients, self.first, self.second, strict=True):
            m *= np.float32(0.9)
            m += np.float32(0.1) * g
            v *= np.float32(0.999)
            v += np.float32(0.001) * g * g
            p -= (
                np.float32(rate)
                * (m / np.float32(first_share))
                / (np.sqrt(v / np.float32(second_share)) + np.float32(1e-8))
            )


def _quantise(
    net: _FloatWeights,
    sample: tuple[NDArray[np.int32], NDArray[np.int32]],
    vocabulary: NDArray[np.uint32],
    groups: Ints,
    sizes: Ints,
) -> NetworkWeights:
    """Quantise to small integers; scales of inputs move into the hidden weights, theirs into the outputs."""
    units = np.maximum(net.inputs(*sample) @ net.hidden + net.hidden_bias, 0)
    unit_step = np.maximum(np.quantile(units, 0.9995, axis=0), 1e-6).astype(np.float32) / 255
    d = net.near.shape[1]
    near, near_step = _to_integers(net.near, axis=0)
    far, far_step = _to_integers(net.far, axis=0)
    places = len(net.hidden) // d - 1
    steps = np.concatenate([np.tile(near_step, places), far_step])
    hidden, hidden_step = _to_integers(net.hidden * steps[:, None], axis=0)
    output, output_step = _to_integers(net.output * unit_step, axis=1, largest=LARGEST_OUTPUT)
    return NetworkWeights(
        vocabulary,
        near,
        far,
        hidden,
        (hidden_step / unit_step).astype(np.float32),
        (net.hidden_bias / unit_step).astype(np.float32),
        groups,
        sizes,
        output,
        output_step,
        net.output_bias,
    )


def _to_integers(values: Floats, *, axis: int, largest: int = 127) -> tuple[NDArray[Any], Floats]:
    """Return `values` in units of a step per row or column, and the steps; a few extremes are clipped."""
    step = np.maximum(np.quantile(np.abs(values), 0.9999, axis=axis), 1e-12).astype(np.float32) / largest
    scaled = np.round(values / (step if axis == 0 else step[:, None]))
    return np.clip(scaled, -largest, largest).astype(np.int8 if largest < 128 else np.int16), step


GROUP_NAME = "context"
_STEP = 1 / 64
_CHUNK = 4096
_EXACT = 2**24
"""Float32 represents all integers up to this."""


@dataclass(frozen=True, slots=True, eq=False)
class WordNetwork:
    """Extractor of one score per candidate from the words around it, near and far.

    Parameters
    ----------
    near : int
        Words on each side, within the sentence, that are used with their position.
    far : int
        Words on each side, within the document; those beyond the near ones are summed.
    vocabulary : int
        Number of most frequent words that are known.
    dimensions : int
        Length of a word's embedding.
    hidden : int
        Number of units in the hidden layer.
    examples : int
        Maximum number of training instances per group; a random sample if there are more.
    epochs : int
        Number of passes over the instances.
    seed : int
    parts_of_speech : path, optional
        A folder with a lexicon of word kinds (see `PartsOfSpeech`): the head words of a place are then used
        too, each with its role.
    """

    near: int = 6
    far: int = 25
    vocabulary: int = 50_000
    dimensions: int = 48
    hidden: int = 256
    examples: int = 1_000_000
    epochs: int = 1
    seed: int = 0
    parts_of_speech: str | Path | None = None
    weights: NetworkWeights | None = fitted_field(None)
    describes: ClassVar[str] = "group"

    def __post_init__(self) -> None:
        counts = ("near", "far", "vocabulary", "dimensions", "hidden", "examples", "epochs")
        validate_settings(self, **dict.fromkeys(counts, COUNT), seed=NON_NEGATIVE_COUNT)
        if self.far < self.near:
            raise UserError("D453", near=self.near, far=self.far)
        places = self.places + (2 * (self.far - self.near) >> TOPIC_SHIFT) + 1
        if 127 * 127 * self.dimensions * places >= _EXACT:
            raise UserError("D456", near=self.near, far=self.far, dimensions=self.dimensions)

    @property
    def places(self) -> int:
        """Number of words that are used with their position or role."""
        return 2 * self.near + (len(N_HEADS) if self.parts_of_speech is not None else 0)

    def heads(self, view: TokenView, instances: Instances) -> Ints:
        """Return the tokens of head words, -1 if there is none, shape (n, 3), or (n, 0) without a lexicon."""
        if self.parts_of_speech is None:
            return np.empty((len(instances), 0), np.int64)
        return find_heads(parts_of_speech_in(str(self.parts_of_speech)), view, instances)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> WordNetwork:
        """Learn from text whose words are assumed to be right.

        Groups with a candidate that never occurs are left out.
        """
        return replace(self, weights=learn_network(self, view, instances, groups))

    def transform(self, view: TokenView, table: GroupedInstances) -> list[Features]:
        """Return one attribute per candidate, shape ``(n, K, 1)``; zero for a group that was not learned.

        Words around a place do not count as n-gram hits, so they never cause a flag on their own.

        Raises
        ------
        ValueError
            If the network has another number of candidates for a group.
        """
        values = np.zeros((table.n_rows, 1), np.float32)
        outputs = [self._outputs(group) for group in table.groups]
        sizes = [len(group.candidates) for group in table.groups]
        places = list(zip(outputs, table.slices, table.rows, sizes, strict=True))
        for start in range(0, len(table), _CHUNK) if any(outputs) else ():
            stop = min(start + _CHUNK, len(table))
            units = self._units(view, table.instances.take(slice(start, stop)))
            for output, here, rows, k in places:
                low, high = max(here.start, start), min(here.stop, stop)
                if output is not None and low < high:
                    scores = self._scores(units[low - start : high - start], output)
                    at = rows.start + (low - here.start) * k
                    values[at : at + scores.size, 0] = scores.ravel()
        nothing = np.zeros(table.n_rows, np.int32)
        return dense_features(table, values, nothing, nothing, attribute_columns)

    def state(self) -> Arrays:
        """Return the weights."""
        if self.weights is None:
            return {}
        return {name: getattr(self.weights, name) for name in NetworkWeights.__dataclass_fields__}

    def from_state(self, arrays: Arrays) -> WordNetwork:
        """Return an extractor with the weights of `state`; ValueError if they do not fit."""
        if not arrays:
            return replace(self, weights=None)
        weights = NetworkWeights(**{name: arrays[name] for name in NetworkWeights.__dataclass_fields__})
        weights.check(
            places=self.places, near=self.near, far=self.far, dimensions=self.dimensions, hidden=self.hidden
        )
        return replace(self, weights=weights)

    def _outputs(self, group: Group) -> slice | None:
        """Return the outputs of `group`."""
        outputs = None if self.weights is None else self.weights.group_slices.get(group_number(group))
        size = 0 if outputs is None else outputs.stop - outputs.start
        if outputs is not None and size != len(group.candidates):
            raise ValueError(f"word network: {size} outputs for {len(group.candidates)} candidates")
        return outputs

    def _scores(self, units: NDArray[np.uint8], rows: slice) -> NDArray[np.float32]:
        """Return the log-probability of each candidate, in multiples of 1/64, shape (n, K)."""
        assert self.weights is not None
        w = self.weights
        outputs = units.astype(np.float64) @ w.output_floats[rows].T  # integers, so exact
        scores = (outputs * w.output_scale[rows] + w.output_bias[rows]).astype(np.float32)
        scores -= scores.max(axis=1, keepdims=True)
        total = np.log(np.exp(scores.astype(np.float64)).sum(axis=1, keepdims=True))
        return (np.round((scores - total) / _STEP) * _STEP).astype(np.float32)

    def _units(self, view: TokenView, instances: Instances) -> NDArray[np.uint8]:
        """Return the hidden units, shape (n, H)."""
        assert self.weights is not None
        w = self.weights
        around = Surroundings.from_instances(view, instances, self.near, self.far)
        heads = self.heads(view, instances)
        if use_numba(len(instances) * 2 * self.far):
            from disambig.features._network_kernels import network_hidden_units

            return network_hidden_units(view.hashes, around, heads, w)
        sums = self._inputs(view, around, heads) @ w.hidden_floats  # integers, so exact
        units = np.clip(np.floor(sums * w.hidden_scale + w.hidden_bias + np.float32(0.5)), 0, 255)
        return units.astype(np.uint8)

    def _inputs(self, view: TokenView, around: Surroundings, heads: Ints) -> NDArray[np.float32]:
        """Return the embeddings side by side, the sum of far words last, shape (n, (places + 1) * d)."""
        assert self.weights is not None
        w = self.weights

        def look_up_rows(at: Ints, inside: Bools) -> Ints:
            words = (view.hashes[np.where(inside, at, 0)] >> np.uint64(32)).astype(np.uint32)
            place = HashVocabulary(w.vocabulary).lookup(words)
            return np.where(inside, np.where(place >= 0, place + FIRST_KNOWN, UNKNOWN), OUTSIDE)

        at, inside = around.near_places()
        at, inside = np.concatenate([at, heads], axis=1), np.concatenate([inside, heads >= 0], axis=1)
        near = w.near[look_up_rows(at, inside)].reshape(len(heads), -1)
        far = w.far[look_up_rows(*around.far_places())].sum(axis=1, dtype=np.int32) >> TOPIC_SHIFT
        return np.concatenate([near, far], axis=1, dtype=np.float32)
