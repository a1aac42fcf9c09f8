"""A small neural network over the words around a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, GroupedInstances, HashVocabulary, Instances, offsets_from_sizes
from disambig.errors import UserError
from disambig.features._cloze_network import adam
from disambig.features.heads import HEAD_ROLES, find_heads, load_parts_of_speech
from disambig.features.rows import Surroundings, attribute_columns, dense_features, group_number
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
_MAX_SAMPLED = 20_000
"""Number of instances from which the range of the hidden units is estimated."""


UNKNOWN, OUTSIDE, FIRST_KNOWN = 0, 1, 2
"""Rows of the embeddings: a word outside the vocabulary, no word, and the first word of the vocabulary."""
TOPIC_SHIFT = 3
"""Sums of far words are shifted right by this: they stay exact and have the size of single embeddings."""
_TOPIC_SCALE = np.float32(1 / (1 << TOPIC_SHIFT))
LARGEST_OUTPUT = 32_767
"""Output weights have smaller steps than the others: they are few, and a large one would hide the rest."""
_MAX_SCALE = 2.0**64
"""Limit of scales and biases; multiplied by the largest sums, they stay far below the float32 maximum."""
_DTYPES = {
    "vocabulary": np.uint32,
    **dict.fromkeys(("near", "far", "hidden"), np.int8),
    **dict.fromkeys(("hidden_scale", "hidden_bias", "output_scale", "output_bias"), np.float32),
    **dict.fromkeys(("groups", "sizes"), np.int64),
}
"""The types of the arrays of `NetworkWeights`, except `output`."""


@dataclass(frozen=True, eq=False)
class NetworkWeights:
    """A network in small integers."""

    # uint32 (V,): upper halves of word hashes, ascending; word i has row ``i + FIRST_KNOWN`` of the
    # embeddings
    vocabulary: NDArray[np.uint32]
    # int8 (V + FIRST_KNOWN, d): embeddings of words used by position, and of words that are summed. `far` has
    # only its first two rows if no far words are used
    near: NDArray[np.int8]
    far: NDArray[np.int8]
    hidden: NDArray[np.int8]  # ((places + 1) * d, H)
    # float32 (H,): the hidden units, between 0 and 255, are ``hidden_scale * (input @ hidden) + hidden_bias``
    hidden_scale: NDArray[np.float32]
    hidden_bias: NDArray[np.float32]
    # int64 (G,): number (`group_number`) and number of candidates of each group
    groups: Ints
    sizes: Ints
    # int16 (sum of sizes, H): int8 in models of earlier versions
    output: NDArray[np.int16] | NDArray[np.int8]
    # float32 (sum of sizes,)
    output_scale: NDArray[np.float32]
    output_bias: NDArray[np.float32]

    @cached_property
    def hidden_floats(self) -> NDArray[np.float32]:
        """The hidden weights as float32, for BLAS."""
        return self.hidden.astype(np.float32)

    @cached_property
    def output_floats(self) -> NDArray[np.float64]:
        """The output weights as float64, for BLAS."""
        return self.output.astype(np.float64)

    @cached_property
    def group_slices(self) -> dict[int, slice]:
        """The slice of outputs of each group, by its number; the first one if numbers are equal."""
        ends = np.cumsum(self.sizes).tolist()
        places = zip(self.groups.tolist(), self.sizes.tolist(), ends, strict=True)
        return {number: slice(end - size, end) for number, size, end in reversed(list(places))}

    @cached_property
    def directory(self) -> tuple[NDArray[np.int32], np.uint32]:
        """See `top_bits_directory`."""
        return top_bits_directory(self.vocabulary)

    def check(self, *, places: int, near: int, far: int, dimensions: int, hidden: int) -> None:
        """Raise ValueError if arrays have other types, sizes or contents than a network of this shape."""
        for name, dtype in _DTYPES.items():
            if getattr(self, name).dtype != dtype:
                raise ValueError(f"word network: {name} is of another type than {np.dtype(dtype).name}")
        if self.output.dtype not in (np.int16, np.int8):
            raise ValueError("word network: output is of another type than int16")
        d, h, n_words, n_outputs = dimensions, hidden, self.vocabulary.size, self.output_bias.size
        n_far_words = n_words if far > near else 0
        fits = (
            self.vocabulary.shape == (n_words,)
            and self.near.shape == (n_words + FIRST_KNOWN, d)
            and self.far.shape == (n_far_words + FIRST_KNOWN, d)
            and self.hidden.shape == ((places + 1) * d, h)
            and self.hidden_scale.shape == self.hidden_bias.shape == (h,)
            and self.groups.shape == self.sizes.shape == (self.sizes.size,)
            and bool(((self.sizes > 0) & (self.sizes <= n_outputs)).all())  # their sum cannot overflow
            and int(self.sizes.sum()) == n_outputs
            and self.output.shape == (n_outputs, h)
            and self.output_scale.shape == self.output_bias.shape == (n_outputs,)
        )
        if not fits:
            raise ValueError("word network: its arrays differ in size")
        if not n_words or not (self.vocabulary[1:] > self.vocabulary[:-1]).all():
            raise ValueError("word network: its vocabulary is empty or not in ascending order")
        if min(array.min(initial=0) for array in (self.near, self.far, self.hidden)) < -127:
            raise ValueError("word network: weights of -128")
        floats = self.hidden_scale, self.hidden_bias, self.output_scale, self.output_bias
        if not all((np.abs(array) <= _MAX_SCALE).all() for array in floats):
            raise ValueError("word network: scales or biases without bounds")


@dataclass(slots=True, eq=False)
class _TrainingWeights:
    """The network during training: as `NetworkWeights`, in float32."""

    near: Floats
    far: Floats
    hidden: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    @classmethod
    def initial(
        cls, settings: WordNetwork, words: int, outputs: int, rng: np.random.Generator
    ) -> _TrainingWeights:
        """Return small random weights, and zeros for the outputs and biases."""

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
        """Return the inputs of the hidden layer from the rows of near and far words, shape (n, inputs)."""
        from disambig.features._network_kernels import embed

        inputs = np.empty((len(near), len(self.hidden)), np.float32)
        embed(self.near, self.far, near, far, _TOPIC_SCALE, inputs)
        return inputs


@dataclass(frozen=True, slots=True, eq=False)
class _TrainingData:
    """The embedding row of every word in the text, and the instances."""

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
    pairs = np.unique(np.stack([instances.groups, instances.observed], axis=1), axis=0)
    n_observed = np.bincount(pairs[pairs[:, 1] >= 0, 0], minlength=len(groups))
    # a candidate that never occurs would get an arbitrary score
    learned = [g for g, group in enumerate(groups) if n_observed[g] == len(group.candidates)]
    if not learned:
        return None
    vocabulary = most_frequent(view.hashes, settings.vocabulary)
    rows = rows_of_words(view.hashes, vocabulary, top_bits_directory(vocabulary))
    data = _TrainingData(rows, view, instances, settings)
    sizes = np.array([len(groups[g].candidates) for g in learned], np.int64)
    learned_index = np.full(len(groups), -1, np.int64)
    learned_index[learned] = np.arange(len(learned))
    order = _sample(instances, learned, settings.examples, rng)
    net = _TrainingWeights.initial(settings, len(vocabulary), int(sizes.sum()), rng)
    with threadpool_limits(limits=1, user_api="blas"):  # the same result with any number of processors
        _train(net, data, order, learned_index, sizes, settings.epochs, rng)
        sample = data.around(rng.permutation(order)[:_MAX_SAMPLED])
        numbers = np.array([group_number(groups[g]) for g in learned], np.int64)
        return _quantise(net, sample, vocabulary, numbers, sizes)


def most_frequent(hashes: NDArray[np.uint64], maximum: int) -> NDArray[np.uint32]:
    """Return the upper halves of the hashes of the most frequent words, ascending."""
    words, counts = np.unique((hashes >> np.uint64(32)).astype(np.uint32), return_counts=True)
    return np.sort(words[np.argsort(-counts, kind="stable")[:maximum]])


def _sample(instances: Instances, groups: Sequence[int], maximum: int, rng: np.random.Generator) -> Ints:
    """Return at most `maximum` instances of each group, shuffled together."""
    parts = []
    for g in groups:
        rows = np.flatnonzero((instances.groups == g) & (instances.observed >= 0))
        parts.append(rng.permutation(rows)[:maximum])
    return rng.permutation(np.concatenate(parts))


def _train(
    net: _TrainingWeights,
    data: _TrainingData,
    order: Ints,
    learned_index: Ints,
    sizes: Ints,
    epochs: int,
    rng: np.random.Generator,
) -> None:
    """Train the network in place: AdaGrad for embeddings and outputs, Adam for the hidden layer.

    `order`: the instances in the order of the first epoch.
    `learned_index` (int64 (n_groups,)): index of each group among the learned ones, whose numbers of
    candidates are `sizes`.
    """
    from disambig.features._network_kernels import learn_embeddings, output_gradients

    starts = offsets_from_sizes(sizes)[:-1]
    near_seen, far_seen = (np.full(len(net.near), 1e-6, np.float32) for _ in range(2))
    # above zero, because AdaGrad divides by the roots of these sums
    output_seen = np.full(len(net.output), 1e-4, np.float32)
    output_gradient, bias_gradient = np.empty_like(net.output), np.empty_like(net.output_bias)
    instances = data.instances
    moments = [(np.zeros_like(weights), np.zeros_like(weights)) for weights in (net.hidden, net.hidden_bias)]
    n_batches = epochs * -(-len(order) // BATCH)
    done = 0
    for _ in range(epochs):
        for start in range(0, len(order), BATCH):
            index = order[start : start + BATCH]
            share = max(1 - done / n_batches, _LAST_SHARE)
            # forward pass; the units are rectified linear
            near, far = data.around(index)
            inputs = net.inputs(near, far)
            units = np.maximum(inputs @ net.hidden + net.hidden_bias, 0)
            # gradients, from the outputs back to the embeddings
            units_gradient = np.empty_like(units)
            output_gradients(
                units,
                net.output,
                net.output_bias,
                starts,
                sizes,
                learned_index[instances.groups[index]],
                instances.observed[index],
                output_gradient,
                bias_gradient,
                units_gradient,
            )
            units_gradient *= units > 0
            inputs_gradient = units_gradient @ net.hidden.T
            # steps
            n = np.float32(len(index))
            adam(net.hidden, *moments[0], inputs.T @ units_gradient / n, HIDDEN_RATE * share, done + 1)
            adam(net.hidden_bias, *moments[1], units_gradient.mean(axis=0), HIDDEN_RATE * share, done + 1)
            output_seen += (output_gradient**2).mean(axis=1) + bias_gradient**2
            output_rate = np.float32(OUTPUT_RATE * share) / np.sqrt(output_seen)
            net.output -= output_rate[:, None] * output_gradient
            net.output_bias -= output_rate * bias_gradient
            learn_embeddings(
                net.near,
                net.far,
                near_seen,
                far_seen,
                near,
                far,
                _TOPIC_SCALE,
                inputs_gradient,
                np.float32(EMBEDDING_RATE * share),
            )
            done += 1
        order = rng.permutation(order)


def _quantise(
    net: _TrainingWeights,
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
        return 2 * self.near + (len(HEAD_ROLES) if self.parts_of_speech is not None else 0)

    def heads(self, view: TokenView, instances: Instances) -> Ints:
        """Return the tokens of head words, -1 if there is none, shape (n, 3), or (n, 0) without a lexicon."""
        if self.parts_of_speech is None:
            return np.empty((len(instances), 0), np.int64)
        return find_heads(load_parts_of_speech(str(self.parts_of_speech)), view, instances)

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
        n, outputs = len(table.group_of), [self._outputs(group) for group in table.groups]
        values, nothing = np.zeros((table.n_rows, 1), np.float32), np.zeros(table.n_rows, np.int32)
        # chunks may cross the boundaries of groups, so that many small groups are computed together
        for start in range(0, n, _CHUNK) if any(outputs) else ():
            stop = min(start + _CHUNK, n)
            is_all = stop - start == n
            units = self._units(view, table.instances if is_all else table.instances.take(slice(start, stop)))
            for output, of_group, rows, group in zip(
                outputs, table.slices, table.rows, table.groups, strict=True
            ):
                low, high = max(of_group.start, start), min(of_group.stop, stop)
                if output is not None and low < high:
                    scores = self._scores(units[low - start : high - start], output)
                    first = rows.start + (low - of_group.start) * len(group.candidates)
                    values[first : first + scores.size, 0] = scores.ravel()
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
        """Return the outputs of `group`; None if it was not learned."""
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
        if use_numba(len(heads) * 2 * self.far):
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
