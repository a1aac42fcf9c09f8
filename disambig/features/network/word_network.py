"""A small neural network over the words around a place: what each candidate's company looks like.

One attribute a candidate. N-gram counts know only contexts that were seen word for word; the network
knows that *Tuesday* is like *Wednesday*. Words are embedded (Bengio et al. 2003): the near ones each by
its place, those further off summed, as for a topic; one hidden layer; an output for each candidate of
each group, so that rare groups learn from frequent ones what words are like. It is learned from running
text whose words are taken as right; text used here should not be used for the learner too.

Kept weights are integers of 8 bits, those of the outputs of 16, and all sums are of integers small enough to
be exact: the answer does not depend on the machine, the size of a batch or the order of summing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.engine import use_numba
from disambig.errors import UserError
from disambig.features.headwords.heads import HEADS, heads_of
from disambig.features.headwords.parts_of_speech import parts_of_speech_in
from disambig.features.network.word_network_weights import FIRST_KNOWN, OUTSIDE, TOPIC_SHIFT, UNKNOWN, Weights
from disambig.features.rows.several_groups import Part, SeveralGroups
from disambig.features.rows.surroundings import Surroundings
from disambig.features.words.learned_words import columns_of, number_of
from disambig.settings import no_setting
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

GROUP_NAME = "context"
_STEP = 1 / 64
_CHUNK = 4096
_EXACT = 2**24
"""Float32 holds all integers up to here."""


@dataclass(frozen=True, slots=True, eq=False)
class WordNetwork:
    """Extractor of one score a candidate from the words around it, near and far.

    Parameters
    ----------
    near : int
        Words on each side, within the sentence, that enter by their place.
    far : int
        Words on each side, within the document, of which those beyond the near ones enter as a sum.
    vocabulary : int
        Most frequent words that are known.
    dimensions : int
        Length of a word's embedding.
    hidden : int
        Units of the hidden layer.
    examples : int
        Instances of a group to learn from; a random sample where there are more.
    epochs : int
        Times that each is looked at.
    seed : int
    parts_of_speech : path, optional
        A folder with kinds of words (see `disambig.features.headwords`): the head words of a place enter by
        what they are to it, too.
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
    weights: Weights | None = no_setting(None)
    describes: ClassVar[str] = "group"

    def __post_init__(self) -> None:
        for name in ("near", "far", "vocabulary", "dimensions", "hidden", "examples", "epochs"):
            if not _is_whole(getattr(self, name), least=1):
                raise UserError("D452", setting=f"WordNetwork.{name}", value=getattr(self, name))
        if not _is_whole(self.seed, least=0):
            raise UserError("D457", setting="WordNetwork.seed", value=self.seed)
        if self.far < self.near:
            raise UserError("D453", near=self.near, far=self.far)
        places = self.places + (2 * (self.far - self.near) >> TOPIC_SHIFT) + 1
        if 127 * 127 * self.dimensions * places >= _EXACT:
            raise UserError("D456", near=self.near, far=self.far, dimensions=self.dimensions)

    @property
    def places(self) -> int:
        """Number of words that enter each by its place."""
        return 2 * self.near + (len(HEADS) if self.parts_of_speech is not None else 0)

    def heads(self, view: TokenView, instances: Instances) -> NDArray[np.int64]:
        """Return the tokens of head words, -1 where there is none, shape (n, 3), or (n, 0) without any."""
        if self.parts_of_speech is None:
            return np.empty((len(instances), 0), np.int64)
        return heads_of(parts_of_speech_in(str(self.parts_of_speech)), view, instances)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> WordNetwork:
        """Learn from text whose words are taken as right.

        Groups with a candidate that never occurs stay out.
        """
        from disambig.features.network.word_network_training import learn

        return replace(self, weights=learn(self, view, instances, groups))

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return one attribute a candidate, shape ``(n, K, 1)``; zero for a group that was not learned.

        Words around are no n-gram found: they alone never make a flag.

        Raises
        ------
        ValueError
            Where the network has another number of candidates for `group`.
        """
        return self.transform_all(view, [(instances, group)])[0]

    def transform_all(self, view: TokenView, parts: Sequence[Part]) -> list[Features]:
        """Return the same of instances of several groups (see `DescribesTogether`)."""
        several = SeveralGroups.of(parts)
        values = np.zeros((several.n_rows, 1), np.float32)
        outputs = [self._outputs(group) for group in several.groups]
        places = list(zip(outputs, several.slices, several.rows, several.sizes.tolist(), strict=True))
        for start in range(0, len(several.instances), _CHUNK) if any(outputs) else ():
            stop = min(start + _CHUNK, len(several.instances))
            units = self._units(view, several.instances.take(slice(start, stop)))
            for output, here, rows, k in places:
                low, high = max(here.start, start), min(here.stop, stop)
                if output is not None and low < high:
                    scores = self._scores(units[low - start : high - start], output)
                    at = rows.start + (low - here.start) * k
                    values[at : at + scores.size, 0] = scores.ravel()
        nothing = np.zeros(several.n_rows, np.int32)
        return several.blocks(values, nothing, nothing, columns_of)

    def state(self) -> Arrays:
        """Return the weights."""
        if self.weights is None:
            return {}
        return {name: getattr(self.weights, name) for name in Weights.__dataclass_fields__}

    def from_state(self, arrays: Arrays) -> WordNetwork:
        """Return an extractor with the weights of `state`; ValueError where they do not fit."""
        if not arrays:
            return replace(self, weights=None)
        weights = Weights(**{name: arrays[name] for name in Weights.__dataclass_fields__})
        weights.check(
            places=self.places, near=self.near, far=self.far, dimensions=self.dimensions, hidden=self.hidden
        )
        return replace(self, weights=weights)

    def _outputs(self, group: Group) -> slice | None:
        """Return the outputs of `group`."""
        found = None if self.weights is None else self.weights.of_groups.get(number_of(group))
        size = 0 if found is None else found.stop - found.start
        if found is not None and size != len(group.candidates):
            raise ValueError(f"word network: {size} outputs for {len(group.candidates)} candidates")
        return found

    def _scores(self, units: NDArray[np.uint8], rows: slice) -> NDArray[np.float32]:
        """Return the log-probability of each candidate, in steps of 1/64, shape (n, K)."""
        assert self.weights is not None
        w = self.weights
        outputs = units.astype(np.float64) @ w.output_floats[rows].T  # integers again
        scores = (outputs * w.output_scale[rows] + w.output_bias[rows]).astype(np.float32)
        scores -= scores.max(axis=1, keepdims=True)
        total = np.log(np.exp(scores.astype(np.float64)).sum(axis=1, keepdims=True))
        return (np.round((scores - total) / _STEP) * _STEP).astype(np.float32)

    def _units(self, view: TokenView, instances: Instances) -> NDArray[np.uint8]:
        """Return the hidden units, shape (n, H)."""
        assert self.weights is not None
        w = self.weights
        around = Surroundings.of(view, instances, self.near, self.far)
        heads = self.heads(view, instances)
        if use_numba(len(instances) * 2 * self.far):
            from disambig.features.network.word_network_kernels import hidden_units

            return hidden_units(view.hashes, around, heads, w)
        sums = self._inputs(view, around, heads) @ w.hidden_floats  # integers, so exact
        units = np.clip(np.floor(sums * w.hidden_scale + w.hidden_bias + np.float32(0.5)), 0, 255)
        return units.astype(np.uint8)

    def _inputs(self, view: TokenView, around: Surroundings, heads: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the embeddings side by side, the sum of far words last, shape (n, (places + 1) * d)."""
        assert self.weights is not None
        w = self.weights

        def rows_of(at: NDArray[np.int64], inside: NDArray[np.bool_]) -> NDArray[np.int64]:
            words = (view.hashes[np.where(inside, at, 0)] >> np.uint64(32)).astype(np.uint32)
            place = np.minimum(np.searchsorted(w.vocabulary, words), len(w.vocabulary) - 1)
            row = np.where(w.vocabulary[place] == words, place + FIRST_KNOWN, UNKNOWN)
            return np.where(inside, row, OUTSIDE)

        at, inside = around.near_places()
        at, inside = np.concatenate([at, heads], axis=1), np.concatenate([inside, heads >= 0], axis=1)
        near = w.near[rows_of(at, inside)].reshape(len(heads), -1)
        far = w.far[rows_of(*around.far_places())].sum(axis=1, dtype=np.int32) >> TOPIC_SHIFT
        return np.concatenate([near, far], axis=1, dtype=np.float32)


def _is_whole(value: object, *, least: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)
