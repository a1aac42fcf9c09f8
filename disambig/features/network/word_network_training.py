"""How a word network is learned: stochastic gradient descent in float32, then rounding to 8-bit integers.

The hidden layer steps by Adam, embeddings and outputs by AdaGrad, all with rates that fall to zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.features.network.word_network_weights import (
    FIRST_KNOWN,
    LARGEST_OUTPUT,
    OUTSIDE,
    TOPIC_SHIFT,
    Weights,
)
from disambig.features.rows.surroundings import Surroundings
from disambig.features.words.learned_words import number_of
from disambig.text.hashing import directory_of
from disambig.text.view import TokenView

Floats = NDArray[np.float32]
BATCH = 256
HIDDEN_RATE, EMBEDDING_RATE, OUTPUT_RATE = 0.002, 0.3, 0.1
"""Learning rates at the start, of Adam and of AdaGrad; they fall linearly to `_LAST_SHARE` of it."""
_LAST_SHARE = 0.02
_TOPIC_SCALE = np.float32(1 / (1 << TOPIC_SHIFT))
_MOST_SAMPLED = 20_000
"""Instances from which the range of the hidden units is taken."""


class Settings(Protocol):
    """What is to be learned, and how: see `disambig.features.network.word_network.WordNetwork`."""

    @property
    def near(self) -> int: ...  # noqa: D102
    @property
    def far(self) -> int: ...  # noqa: D102
    @property
    def places(self) -> int: ...  # noqa: D102
    @property
    def dimensions(self) -> int: ...  # noqa: D102
    @property
    def hidden(self) -> int: ...  # noqa: D102
    @property
    def vocabulary(self) -> int: ...  # noqa: D102
    @property
    def examples(self) -> int: ...  # noqa: D102
    @property
    def epochs(self) -> int: ...  # noqa: D102
    @property
    def seed(self) -> int: ...  # noqa: D102
    def heads(self, view: TokenView, instances: Instances) -> NDArray[np.int64]: ...  # noqa: D102


@dataclass(slots=True, eq=False)
class _Floats:
    """The network while it is learned: as `Weights`, in float32."""

    near: Floats
    far: Floats
    hidden: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    @classmethod
    def start(cls, settings: Settings, words: int, outputs: int, rng: np.random.Generator) -> _Floats:
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
        from disambig.features.network.word_network_kernels import embed

        inputs = np.empty((len(near), len(self.hidden)), np.float32)
        embed(self.near, self.far, near, far, _TOPIC_SCALE, inputs)
        return inputs


@dataclass(frozen=True, slots=True, eq=False)
class _Material:
    """What is learned from: the embedding row of every word of the text, and the instances."""

    rows: NDArray[np.int32]
    view: TokenView
    instances: Instances
    settings: Settings

    def around(self, index: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the rows of near and of far words, shapes (n, places) and (n, 2 * (far - near))."""
        instances = self.instances.take(index)
        places = Surroundings.of(self.view, instances, self.settings.near, self.settings.far)
        heads = self.settings.heads(self.view, instances)
        near = np.concatenate(
            [self._rows_at(*places.near_places()), self._rows_at(heads, heads >= 0)], axis=1
        )
        return near, self._rows_at(*places.far_places())

    def _rows_at(self, at: NDArray[np.int64], inside: NDArray[np.bool_]) -> NDArray[np.int32]:
        return np.where(inside, self.rows[np.where(inside, at, 0)], np.int32(OUTSIDE))


def learn(
    settings: Settings, view: TokenView, instances: Instances, groups: Sequence[Group]
) -> Weights | None:
    """Return the network learned from the observed candidates of `instances`; None without any group."""
    from threadpoolctl import threadpool_limits

    from disambig.features.network.word_network_kernels import rows_of_words

    rng = np.random.default_rng(settings.seed)
    kept = [g for g in range(len(groups)) if _all_occur(instances, g, groups[g])]
    if not kept:
        return None
    vocabulary = most_frequent(view.hashes, settings.vocabulary)
    rows = rows_of_words(view.hashes, vocabulary, directory_of(vocabulary))
    material = _Material(rows, view, instances, settings)
    sizes = np.array([len(groups[g].candidates) for g in kept], np.int64)
    number = np.full(len(groups), -1, np.int64)
    number[kept] = np.arange(len(kept))
    order = _sample(instances, kept, settings.examples, rng)
    net = _Floats.start(settings, len(vocabulary), int(sizes.sum()), rng)
    with threadpool_limits(limits=1, user_api="blas"):  # the same bits with any number of processors
        _descend(net, material, order, number, sizes, settings.epochs, rng)
        sample = material.around(rng.permutation(order)[:_MOST_SAMPLED])
        numbers = np.array([number_of(groups[g]) for g in kept], np.int64)
        return _rounded(net, sample, vocabulary, numbers, sizes)


def most_frequent(hashes: NDArray[np.uint64], most: int) -> NDArray[np.uint32]:
    """Return the upper halves of the most frequent words' hashes, ascending."""
    words, counts = np.unique((hashes >> np.uint64(32)).astype(np.uint32), return_counts=True)
    return np.sort(words[np.argsort(-counts, kind="stable")[:most]])


def _all_occur(instances: Instances, group: int, table: Group) -> bool:
    seen = np.unique(instances.observed[instances.groups == group])
    return len(seen[seen >= 0]) == len(table.candidates)


def _sample(
    instances: Instances, groups: Sequence[int], most: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return at most `most` instances of each group, all groups mixed."""
    parts = []
    for g in groups:
        rows = np.flatnonzero((instances.groups == g) & (instances.observed >= 0))
        parts.append(rng.permutation(rows)[:most])
    return rng.permutation(np.concatenate(parts))


def _descend(
    net: _Floats,
    material: _Material,
    order: NDArray[np.int64],
    number: NDArray[np.int64],
    sizes: NDArray[np.int64],
    epochs: int,
    rng: np.random.Generator,
) -> None:
    from disambig.features.network.word_network_kernels import learn_embeddings, output_gradients

    begins = np.cumsum(sizes) - sizes
    near_seen, far_seen = (np.full(len(net.near), 1e-6, np.float32) for _ in range(2))
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
    """Adam (Kingma and Ba 2015) on arrays that it changes in place."""

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


def _rounded(
    net: _Floats,
    sample: tuple[NDArray[np.int32], NDArray[np.int32]],
    vocabulary: NDArray[np.uint32],
    groups: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> Weights:
    """Round to 8-bit integers; scales of the inputs move into the hidden weights, theirs into the outputs."""
    units = np.maximum(net.inputs(*sample) @ net.hidden + net.hidden_bias, 0)
    unit_step = np.maximum(np.quantile(units, 0.9995, axis=0), 1e-6).astype(np.float32) / 255
    d = net.near.shape[1]
    near, near_step = _integers(net.near, axis=0)
    far, far_step = _integers(net.far, axis=0)
    places = len(net.hidden) // d - 1
    steps = np.concatenate([np.tile(near_step, places), far_step])
    hidden, hidden_step = _integers(net.hidden * steps[:, None], axis=0)
    output, output_step = _integers(net.output * unit_step, axis=1, largest=LARGEST_OUTPUT)
    return Weights(
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


def _integers(values: Floats, *, axis: int, largest: int = 127) -> tuple[NDArray[Any], Floats]:
    """Return `values` in steps of their own along the other axis, and the steps; few extremes are cut."""
    step = np.maximum(np.quantile(np.abs(values), 0.9999, axis=axis), 1e-12).astype(np.float32) / largest
    scaled = np.round(values / (step if axis == 0 else step[:, None]))
    return np.clip(scaled, -largest, largest).astype(np.int8 if largest < 128 else np.int16), step
