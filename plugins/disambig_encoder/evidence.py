"""Extractors that use the encoder: evidence for each candidate, and states of words in their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import (
    Arrays,
    Columns,
    CrossedRows,
    DenseBlocks,
    Features,
    Group,
    GroupedInstances,
    Instances,
    StatelessExtractor,
    TokenView,
    by_group,
    fitted_field,
)
from disambig.api.arrays import row_owners
from disambig.api.batches import CrossedColumns, DenseLists
from disambig.api.settings import ABOVE_ZERO, validate_settings

from .encoder import EVIDENCE, Encoder, encoder_folder

NAME = "encoder"
"""Feature group of the attributes of `EncoderEvidence` and `CandidateOdds`."""
STATES = "states"
"""Feature group of the attributes of `EncoderStates` and `WhitenedStates`."""


@lru_cache(maxsize=2)
def _open_encoder(folder: Path, threads: int | None) -> Encoder:
    """Return an encoder, which is opened once for all models that use it: it takes 60 MB of memory."""
    return Encoder.load(folder, threads=threads)


class CorrectionsExtractor(StatelessExtractor):
    """Base of the extractors that read each candidate in its sentence."""

    folders: ClassVar[tuple[str, ...]] = ("folder",)

    def __init__(self, *, folder: str | Path, threads: int | None = None) -> None:
        self.folder = folder
        self.threads = threads

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, opened on first use."""
        return _open_encoder(encoder_folder(self.folder).resolve(), self.threads)

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "threads": self.threads}


class EncoderEvidence(CorrectionsExtractor):
    """Extractor of the evidence of an encoder for each candidate against the observed one.

    The attributes are the columns of `Encoder.compare`; those of the observed candidate are zero. Every
    sentence with an instance is read once as written and once with each candidate, which takes milliseconds:
    use it for few instances.

    As evidence of the decision rule `disambig.SecondLook.v1`, it only reads sentences in which a correction
    is proposed.

    Parameters
    ----------
    folder : path
        Folder of the encoder, or the name of an installed pack that has one.
    threads : int, optional
        Number of threads (see `Encoder.load`).

    Raises
    ------
    UserError
        On first use D747, D748 (see `Encoder.load`).
    """

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the evidence for the candidates of instances of one group."""
        texts, edits, is_observed = candidate_edits(view, instances, group)
        values = np.zeros((len(edits), len(EVIDENCE)), np.float32)
        others = np.flatnonzero(~is_observed).tolist()
        if others:
            values[others] = self.encoder.compare([texts[i] for i in others], [edits[i] for i in others])
        none = np.zeros(len(values), np.int32)
        return Features(dense_batch(values, _evidence_columns(), instances, group), none, none)


class CandidateOdds(CorrectionsExtractor):
    """Extractor of one attribute: the log-odds that a candidate is right in its sentence.

    Every sentence with an instance is read once with each candidate, and the encoder is asked whether the
    word there is a mistake, as the discriminator of Clark et al. (2020, ELECTRA). What is written there has
    no influence, so that the scores compare with those of a language model. For an empty candidate, the word
    after it counts. Each reading takes milliseconds: use it for few instances.

    Parameters
    ----------
    folder, threads : settings of `EncoderEvidence`, with its errors
    """

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the log-odds of each candidate; each counts as one successful look-up."""
        texts, edits, _ = candidate_edits(view, instances, group)
        spans, candidates = [edit[:2] for edit in edits], [edit[2] for edit in edits]
        right = np.minimum(self.encoder.error_scores(texts, spans, candidates)[:, :1], -1e-6)
        values = right - np.log(-np.expm1(right))
        ones = np.ones(len(values), np.int32)
        return Features(dense_batch(values, _odds_columns(), instances, group), ones, ones)


def candidate_edits(
    view: TokenView, instances: Instances, group: Group
) -> tuple[list[str], list[tuple[int, int, str]], NDArray[np.bool_]]:
    """Return for each candidate of each instance its text, the edit that puts it there, and what is observed.

    An edit is the start and end of the place in the text, in characters, and the candidate.
    """
    offsets = instances.offsets(group)
    starts, ends = instances.spans(view)
    owners = row_owners(offsets)
    documents = view.document_indices(instances.positions)[owners].tolist()
    candidates = instances.texts(group)
    edits = list(zip(starts[owners].tolist(), ends[owners].tolist(), candidates, strict=True))
    is_observed = np.arange(len(owners)) - offsets[owners] == instances.observed[owners]
    return [view.texts[document] for document in documents], edits, is_observed


def dense_batch(
    values: NDArray[np.float32], columns: Columns, instances: Instances, group: Group
) -> DenseBlocks | DenseLists:
    """Return a batch of attributes that all candidates share.

    `values`, shape ``(n_candidates, n_columns)``, are the rows of the candidates of all instances of `group`.
    """
    costs = instances.costs(group)
    if instances.lists is not None:
        return DenseLists(values, instances.lists.offsets, costs, columns)
    k, n_columns = len(group.candidates), values.shape[1]
    shared = np.tile(np.arange(n_columns), (k, 1))
    return DenseBlocks(values.reshape(-1, k, n_columns), shared, columns, costs.reshape(-1, k))


class _StatesExtractor:
    """Base of the extractors of the encoder's state at each word."""

    __slots__ = ()
    folder: str | Path
    threads: int | None
    centre: NDArray[np.float32] | None
    folders: ClassVar[tuple[str, ...]] = ("folder",)
    describes: ClassVar[str] = "group"

    @property
    def encoder(self) -> Encoder:
        """The encoder, opened on first use."""
        return _open_encoder(encoder_folder(self.folder).resolve(), self.threads)

    def _training_states(self, view: TokenView, instances: Instances) -> NDArray[np.float32]:
        """Return the states at the instances, shape ``(n, width)``; one of zeros if there are none.

        The encoder keeps them from now on, since cross-validation asks for the same ones in every fold, and
        as many others for testing.
        """
        encoder = self.encoder
        encoder.most_kept = max(encoder.most_kept, 2 * len(instances))
        states = _read_states(encoder, view, instances)
        return states if len(states) else np.zeros((1, states.shape[1]), np.float32)

    def _centred_states(self, view: TokenView, instances: Instances) -> NDArray[np.float32]:
        """Return the states at the instances less the mean in training, shape ``(n, width)``.

        Raises `ValueError` if the extractor is not fitted, or for another encoder than it was fitted with.
        """
        centre = _fitted(self.centre)
        states = _read_states(self.encoder, view, instances)
        if states.shape[1] != len(centre):
            raise ValueError(f"states of {states.shape[1]} numbers, fitted with {len(centre)}")
        return states - centre


def _fitted(array: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """Return an array that `fit` sets; ValueError if the extractor is not fitted."""
    if array is None:
        raise ValueError("the extractor is not fitted")
    return array


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EncoderStates(_StatesExtractor):
    """Extractor of the encoder's state at each word: a vector that stands for the word in its sentence.

    The dimensions are centred and scaled to unit variance over the training instances. Every candidate has
    weights of its own. Reading a sentence takes milliseconds: use it for words that are not frequent.

    Parameters
    ----------
    folder : path
        Folder of the encoder, or the name of an installed pack that has one.
    scale : float
        Factor of the states after scaling: learners shrink the weights of large attributes less.
    threads : int, optional
        See `Encoder.load`.
    centre, spread : arrays of float32, shape (width,)
        Mean and standard deviation of each dimension; fitted by `fit`.

    Raises
    ------
    UserError
        D760 for a scale that is not above 0; on first use D520, D747, D748 (see `Encoder.states`).
    """

    folder: str | Path
    scale: float = 1.0
    threads: int | None = None
    centre: NDArray[np.float32] | None = fitted_field(None)
    spread: NDArray[np.float32] | None = fitted_field(None)

    def __post_init__(self) -> None:
        validate_settings(self, scale=ABOVE_ZERO)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> EncoderStates:
        """Learn mean and standard deviation of each dimension."""
        states = self._training_states(view, instances)
        return replace(self, centre=states.mean(axis=0), spread=np.maximum(states.std(axis=0), 1e-6))

    def state(self) -> Arrays:
        """Return mean and standard deviation; ValueError if the extractor is not fitted."""
        return {"centre": _fitted(self.centre), "spread": _fitted(self.spread)}

    def from_state(self, arrays: Arrays) -> EncoderStates:
        """Restore the extractor from `state`; raise ValueError for invalid arrays."""
        centre, spread = (arrays[name].astype(np.float32) for name in ("centre", "spread"))
        if centre.ndim != 1 or centre.shape != spread.shape or not bool((spread > 0).all()):
            raise ValueError("mean and standard deviation of states do not fit together")
        return replace(self, centre=centre, spread=spread)

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the scaled states once per candidate, shape ``(n, K, width)`` (see `_centred_states`)."""
        scaled = self.scale * self._centred_states(view, instances) / _fitted(self.spread)
        n, width = scaled.shape
        k = len(group.candidates)
        values = np.broadcast_to(scaled[:, None], (n, k, width)).astype(np.float32)
        columns = _state_columns(group.candidates, width)
        none = np.zeros(n * k, np.int32)
        column_of = np.arange(k * width).reshape(k, width)  # columns of each candidate
        blocks = DenseBlocks(values, column_of, columns, instances.costs(group).reshape(-1, k))
        return Features(blocks, none, none)


@lru_cache(maxsize=1)
def _evidence_columns() -> Columns:
    """Return the columns of `EncoderEvidence`: one object, as `_state_columns`."""
    return Columns.of_group(NAME, len(EVIDENCE), names=EVIDENCE)


@lru_cache(maxsize=1)
def _odds_columns() -> Columns:
    """Return the column of `CandidateOdds`: one object, as `_state_columns`."""
    return Columns.of_group(NAME, 1, names=["candidate is right"])


@lru_cache(maxsize=64)
def _state_columns(candidates: tuple[str, ...], width: int) -> Columns:
    """Return the columns of a group: one object, so that what is computed from it is computed once."""
    names = [f"{candidate}: state {d}" for candidate in candidates for d in range(width)]
    return Columns.of_group(STATES, width, candidates=len(candidates), names=names)


SHRINKAGE = 0.1
"""Share of the mean variance in the covariance matrix: directions without variance are not blown up."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WhitenedStates(_StatesExtractor):
    """Extractor of the encoder's state at each word as one row, shared by the candidates (`CrossedRows`).

    The rows are whitened over the training instances within their groups: the few directions in which all
    states differ most no longer dominate their inner products, with which kernels compare words. The mean of
    all groups is subtracted, not that of each: what the states of a group share serves as an intercept.
    All sentences of a table are read together, each once, which takes milliseconds.

    Parameters
    ----------
    folder : path
        Folder of the encoder, or the name of an installed pack that has one.
    threads : int, optional
        Number of threads (see `Encoder.load`).
    centre : array of float32, shape (width,)
        Mean state; fitted by `fit`.
    whitening : array of float32, shape (width, width)
        The inverse square root of the covariance within groups; fitted by `fit`.

    Raises
    ------
    UserError
        On first use D520, D747, D748 (see `Encoder.states`).
    """

    folder: str | Path
    threads: int | None = None
    centre: NDArray[np.float32] | None = fitted_field(None)
    whitening: NDArray[np.float32] | None = fitted_field(None)
    rows_are_shared: ClassVar[bool] = True

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> WhitenedStates:
        """Learn the mean and the covariance within groups."""
        states = self._training_states(view, instances)
        centre, spread = states.mean(axis=0), np.maximum(states.std(axis=0), 1e-6)
        whitening = whitening_matrix((states - centre) / spread, instances.groups) / spread[:, None]
        return replace(self, centre=centre, whitening=whitening.astype(np.float16).astype(np.float32))

    def state(self) -> Arrays:
        """Return the mean, and the whitening matrix in half precision; ValueError if they are not fitted."""
        return {"centre": _fitted(self.centre), "whitening": _fitted(self.whitening).astype(np.float16)}

    def from_state(self, arrays: Arrays) -> WhitenedStates:
        """Restore the extractor from `state`; raise ValueError for invalid arrays."""
        centre, whitening = (arrays[name].astype(np.float32) for name in ("centre", "whitening"))
        if centre.ndim != 1 or whitening.shape != (len(centre), len(centre)):
            raise ValueError("mean and whitening matrix of states do not fit together")
        return replace(self, centre=centre, whitening=whitening)

    def transform(self, view: TokenView, table: GroupedInstances) -> list[Features]:
        """Return the whitened states, one row per instance, without evidence (see `_centred_states`)."""
        states = self._centred_states(view, table.instances)
        width = states.shape[1]
        rows = (states @ _fitted(self.whitening)).astype(np.float32)
        columns = Columns.of_group(STATES, width)
        features = []
        for group_rows, (instances, group) in zip(table.slices, table.parts, strict=True):
            k = len(group.candidates)
            none = np.zeros(k * len(instances), np.int32)
            costs, crossed = instances.costs(group).reshape(-1, k), CrossedColumns(columns, group.candidates)
            batch = CrossedRows(_as_sparse(rows[group_rows]), costs, crossed)
            features.append(Features(batch, none, none))
        return features


def whitening_matrix(states: NDArray[np.float32], groups: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the inverse square root of the covariance within groups, shape ``(width, width)``.

    The covariance is shrunk towards a multiple of the unit matrix (see `SHRINKAGE`).
    """
    width = states.shape[1]
    scatter = np.zeros((width, width))
    degrees_of_freedom = 0
    for group in np.unique(groups):
        centred = states[groups == group].astype(np.float64)
        centred -= centred.mean(axis=0)
        scatter += centred.T @ centred
        degrees_of_freedom += len(centred) - 1
    covariance = scatter / max(degrees_of_freedom, 1)
    mean_variance = max(float(np.trace(covariance)) / width, 1e-9)
    covariance = (1 - SHRINKAGE) * covariance + SHRINKAGE * mean_variance * np.eye(width)
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def _as_sparse(rows: NDArray[np.float32]) -> Any:
    """Return rows in the form of other extractors of shared rows, with whose rows they are joined."""
    from scipy.sparse import csr_array

    return csr_array(rows.astype(np.float64))


def _read_states(encoder: Encoder, view: TokenView, instances: Instances) -> NDArray[np.float32]:
    """Return the states of the words of instances; a place without a word is read at the next one."""
    starts, ends = instances.spans(view)
    texts = [view.texts[document] for document in view.document_indices(instances.positions).tolist()]
    return encoder.states(texts, list(zip(starts.tolist(), ends.tolist(), strict=True)))
