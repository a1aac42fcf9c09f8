"""The network of `model` in floats while it is learned: scores of the places of a batch, and a step down.

The loss is that of a softmax over what competes for each place and some words that all places share. A step
is taken by rows, places or columns that do not touch each other, so that threads can share it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial

import numpy as np
from numpy.typing import NDArray

from disambig.features.cloze.learning_endings import Endings
from disambig.features.cloze.learning_places import Candidates, Places
from disambig.features.cloze.learning_settings import SPARSE, Settings
from disambig.features.cloze.learning_steps import Floats, adagrad, adam
from disambig.features.cloze.team import Team

DENSE = ("inputs", "hidden_bias", "states", "state_bias")
"""What every batch sees whole."""
HALVES = 2
"""Outputs are learned in so many parts of their columns."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """As in `model.Cloze`, in float32."""

    embeddings: Floats
    inputs: Floats
    hidden_bias: Floats
    states: Floats
    state_bias: Floats
    outputs: Floats
    output_bias: Floats

    @classmethod
    def start(cls, settings: Settings, n_words: int, outside: int) -> Weights:
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
class Forward:
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


class Network:
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
        self, weights: Weights, candidates: Candidates, team: Team, endings: Endings | None = None
    ) -> None:
        self.weights, self._candidates, self._team = weights, candidates, team
        self._endings = endings or Endings(())
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

    def forward(self, batch: Places) -> Forward:
        """Return what a batch gives."""
        from disambig.features.cloze.learning_kernels import errors_of, hidden_units

        w, candidates = self.weights, self._candidates
        embedded = w.embeddings[batch.words]
        given = np.empty((len(w.inputs), len(embedded), len(w.hidden_bias)), np.float32)
        products = zip(w.inputs, given, strict=True)
        self._team.each(lambda each: np.matmul(embedded, each[0], out=each[1]), products)
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
            errors_of(
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

        self._team.rows(rows, n)
        return Forward(embedded, units, states, begins, errors, shared, losses)

    def step(self, batch: Places, rate: float, number: int) -> float:
        """Take the step of one batch; steps are numbered from 1 on. Return the mean log loss before it."""
        found, sparse = self.forward(batch), np.float32(rate * SPARSE)
        before = self.weights.outputs.copy() if len(self._endings) else self.weights.outputs
        back = self._outputs(batch, found, sparse)
        slopes, embeddings = self.slopes(batch, found, back)
        embeddings *= np.float32(len(back))  # of sums over places, not of means

        def words(part: slice) -> None:
            w, seen = self.weights.embeddings, self.embeddings_seen
            adagrad(w, seen, batch.words[part], embeddings[part], sparse)

        self._team.rows(words, len(batch.words))
        if len(self._endings):
            self._share(batch, before, embeddings, sparse)
        for name, gradient in slopes.items():
            adam(getattr(self.weights, name), *self.moments[name], gradient, rate, number)
        return float(found.losses.mean(dtype=np.float64))

    def _share(self, batch: Places, before: Floats, embeddings: Floats, rate: np.float32) -> None:
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
        self._team.each(lambda work: work(), [of_words, *works])

    def _outputs(self, batch: Places, found: Forward, rate: np.float32) -> Floats:
        """Take the step of the outputs, candidate by candidate; return the slopes of the states."""
        from disambig.features.cloze.learning_kernels import learn_outputs

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

        self._team.each(columns, range(HALVES))
        gradient = found.shared.sum(axis=0)[:, None]
        adagrad(w.output_bias[:, None], self.bias_seen, batch.negatives, gradient, rate)

        def rows(part: slice) -> None:
            back[part] += found.shared[part] @ negatives
            back[part] /= np.float32(n)

        self._team.rows(rows, n)
        return back

    def slopes(self, batch: Places, found: Forward, back: Floats) -> tuple[dict[str, Floats], Floats]:
        """Return the gradients of the mean loss: of the dense weights by name, and of a batch's embeddings.

        Parameters
        ----------
        back : array of float32, shape (n, D)
            Those of the states.
        """
        from disambig.features.cloze.learning_kernels import gathered

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
            gathered(units, batch.around, p, sums)
            np.matmul(found.embedded.T, sums, out=inputs[p])
            np.matmul(sums, w.inputs[p].T, out=by_place[p])

        self._team.rows(rows, n)
        self._team.rows(hidden, h)
        self._team.each(place, range(len(w.inputs)))
        dense = inputs, units.sum(axis=0), states, back.sum(axis=0)
        return dict(zip(DENSE, dense, strict=True)), by_place.sum(axis=0)
