"""Train a model of words in context from running text."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.features._cloze_network import (
    LAST_RATE,
    WARM_UP,
    ClozeCandidates,
    ClozeExamples,
    ClozeNetwork,
    ClozeSettings,
    FloatWeights,
    Numbers,
    ThreadPool,
    WordEndings,
    check_integer,
)
from disambig.features.cloze import LARGEST, Cloze, ClozeVocabulary, get_normal_form
from disambig.files import UNREADABLE, parse_json, read_array, save_file
from disambig.text import END_HASH, SENTENCE_END, SENTENCE_START, START_HASH, UNKNOWN, TokenView, Words
from disambig.type_aliases import Ints, Progress, no_progress

_BOUNDARIES = {START_HASH: SENTENCE_START, END_HASH: SENTENCE_END}


def count_vocabulary(
    views: Iterable[TokenView], n_words: int, endings: int
) -> tuple[ClozeVocabulary, NDArray[np.int64], list[str]]:
    """Return the most frequent words of some text, their frequencies, and their normal forms.

    The sentence boundaries are always among them.

    Parameters
    ----------
    views : iterable of TokenView
        Iterated once.
    n_words : int
        Number of words that get a number; fewer if the text has fewer.
    endings : int
        Number of sets of other words, by their last letters.

    Raises
    ------
    UserError
        D993 for fewer than 3 words, or for no sets of other words.
    ValueError
        If there is no text.
    """
    check_integer("n_words", n_words, minimum=3)
    check_integer("endings", endings, minimum=1)
    counts: Counter[int] = Counter()
    spellings: dict[int, str] = dict(_BOUNDARIES)
    for view in views:
        hashes, first, n = np.unique(view.hashes, return_index=True, return_counts=True)
        is_hashed = hashes != UNKNOWN
        hashes, first, n = hashes[is_hashed], first[is_hashed], n[is_hashed]
        counts.update(dict(zip(hashes.tolist(), n.tolist(), strict=True)))
        normal_form = get_normal_form(view.tokenisation)
        documents, starts, ends = view.document_indices(first), view.starts[first], view.ends[first]
        for i, word in enumerate(hashes.tolist()):
            if word not in spellings:
                spellings[word] = normal_form(view.texts[documents[i]][starts[i] : ends[i]])
    if not counts:
        raise ValueError("there is no text to count")
    frequent = [word for word, _ in counts.most_common(n_words) if word not in _BOUNDARIES]
    kept = sorted([*_BOUNDARIES, *frequent[: n_words - len(_BOUNDARIES)]], key=lambda word: -counts[word])
    frequencies = np.array([counts[word] for word in kept], np.int64)
    return (
        ClozeVocabulary(np.array(kept, np.uint64), endings),
        frequencies,
        [spellings[word] for word in kept],
    )


Floats = NDArray[np.float32]
_MIN_STEP = 1e-9
"""Smallest quantisation step, so that a row of zeros has one too."""


def quantise(
    vocabulary: ClozeVocabulary,
    weights: dict[str, Floats],
    *,
    left: int,
    right: int,
    most_hidden: float,
    header: dict[str, Any],
) -> Cloze:
    """Return the quantised model from trained weights.

    `weights`: ``embeddings``, ``inputs`` (of shape ``(places, D, H)``), ``hidden_bias``, ``states``,
    ``state_bias``, ``outputs``, ``output_bias`` (see `Cloze`).
    `most_hidden`: the largest value of a hidden unit; larger ones are clipped.
    """
    embeddings, word_scale = _quantise_rows(weights["embeddings"])
    input_scale = np.float32(max(float(np.abs(weights["inputs"]).max()), _MIN_STEP) / LARGEST)
    states, state_scale = _quantise_rows(weights["states"].T)
    outputs, output_scale = _quantise_rows(weights["outputs"])
    return Cloze(
        vocabulary,
        left,
        right,
        embeddings,
        word_scale,
        np.round(weights["inputs"] / input_scale).astype(np.int8),
        np.array([input_scale], np.float32),
        weights["hidden_bias"].astype(np.float32),
        np.array([most_hidden / 255], np.float32),
        np.ascontiguousarray(states.T),
        state_scale,
        weights["state_bias"].astype(np.float32),
        outputs,
        output_scale,
        weights["output_bias"].astype(np.float32),
        header,
    )


def _quantise_rows(values: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Return each row in units of its own step, and the steps."""
    steps = np.maximum(np.abs(values).max(axis=1), _MIN_STEP) / LARGEST
    return np.round(values / steps[:, None]).astype(np.int8), steps.astype(np.float32)


def write_state(path: Path, run: Mapping[str, Any], done: int, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the state after `done` steps of a run; `run` identifies the run with plain values.

    Raises D309 if it cannot be written.
    """
    buffer = io.BytesIO()
    np.savez(buffer, run=np.array(json.dumps(run, sort_keys=True)), done=np.array(done), **arrays)  # type: ignore[arg-type]
    with save_file(path) as write:
        write(buffer.getvalue())


def read_state(path: Path, run: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> int:
    """Fill arrays from the stored state of the same run; return the number of steps done, 0 without a file.

    Raises D994 for a file that is not a state, or belongs to another run.
    """
    if not os.path.lexists(path):
        return 0
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as archive:
            stored_run, done = parse_json(str(archive["run"])), int(archive["done"])
            values = {name: read_array(archive, name) for name in arrays}
    except UNREADABLE as problem:
        raise UserError("D994", path=path, problem=problem) from problem
    if stored_run != json.loads(json.dumps(run)):
        changed = [
            name for name in run if not isinstance(stored_run, dict) or stored_run.get(name) != run[name]
        ]
        raise UserError("D994", path=path, problem=f"it belongs to a run with other {', '.join(changed)}")
    for name, array in arrays.items():
        if values[name].shape != array.shape or values[name].dtype != array.dtype:
            raise UserError("D994", path=path, problem=f"{name} has another shape")
    for name, array in arrays.items():
        array[...] = values[name]
    return done


STAGE = "learning words in context"
_SAMPLED = 4
"""Number of batches from which the range of hidden units is estimated."""
_KEPT_UNITS = 0.9995
"""Share of hidden units below the largest value; the rest are clipped."""
_LAST_LOSSES = 500
"""Number of batches over which the loss in the header is averaged."""


def learn_cloze(
    blocks: Sequence[NDArray[np.uint16] | Numbers],
    vocabulary: ClozeVocabulary,
    rivals: tuple[Ints, Ints],
    *,
    none_beside: Ints,
    asked: NDArray[np.bool_] | None = None,
    spellings: Sequence[str] = (),
    dimensions: int = 96,
    hidden: int = 256,
    left: int = 6,
    right: int = 6,
    epochs: int = 1,
    seed: int = 0,
    batch: int = 8192,
    rate: float = 0.0014,
    threads: int = 2,
    checkpoint: Path | None = None,
    checkpoint_every: int = 500,
    progress: Progress = no_progress,
    tokenisation: str = Words.name,
    header: dict[str, Any] | None = None,
) -> Cloze:
    """Train a model of words in context.

    Parameters
    ----------
    blocks : sequence of arrays of uint16 or int32
        Text as word numbers (`ClozeVocabulary.view_numbers`): blocks of a few hundred words, each some whole
        sentences with their boundaries; they are shuffled.
    vocabulary : ClozeVocabulary
        Must contain the sentence boundaries.
    rivals : (offsets, numbers)
        The rivals of each word as word numbers, shapes ``(n_words + 1,)`` and ``(n_rivals,)``.
    none_beside : array of int
        Words that compete with each other and with no word at all, such as function words.
    asked : array of bool, shape (n_words,), optional
        The words to be predicted; by default all except the sentence boundaries.
    spellings : sequence of str
        Spellings of all words by number. Words with the same ending then share part of their weights;
        without spellings, each word is learned separately.
    dimensions, hidden : int
        Width of the embeddings and outputs, and of the hidden layer.
    left, right : int
        Number of words seen on each side.
    epochs : int
        Number of passes over the blocks.
    batch : int
        Approximate number of words of text per step.
    rate : float
        Initial learning rate; it falls linearly to 3 %.
    threads : int
        Number of threads; they change only the time. More than four help little.
    checkpoint : path, optional
        File for the state, written every `checkpoint_every` steps. If it exists, training resumes from it.
        It is not deleted.
    progress : callable, optional
        Called with a stage, the step and the number of steps.
    tokenisation : str
        Registry name of the tokenisation of the text.
    header : dict, optional
        Other entries of the header: sources, licence.

    Raises
    ------
    UserError
        D993 for an invalid setting; D994 for a checkpoint of another run; D309 if a checkpoint cannot be
        written.
    ValueError
        For rivals, spellings or text that do not fit the vocabulary, and if there is no text.
    """
    from threadpoolctl import threadpool_limits

    settings = ClozeSettings(
        dimensions=dimensions,
        hidden=hidden,
        left=left,
        right=right,
        epochs=epochs,
        seed=seed,
        batch=batch,
        rate=rate,
    )
    check_integer("threads", threads, minimum=1)
    check_integer("checkpoint_every", checkpoint_every, minimum=1)
    n_words = len(vocabulary)
    candidates = ClozeCandidates.from_rivals(n_words, rivals, np.asarray(none_beside, np.int64))
    if len(spellings) not in (0, n_words):
        raise ValueError(f"spellings of {len(spellings)} words for a vocabulary of {n_words}")
    endings = WordEndings(spellings)
    examples = ClozeExamples(blocks, vocabulary, asked, settings)
    batches = examples.batches()
    losses = np.zeros(len(batches), np.float32)
    with threadpool_limits(limits=1, user_api="blas"), ThreadPool(threads) as pool:
        network = ClozeNetwork(
            FloatWeights.initial(settings, n_words, vocabulary.outside), candidates, pool, endings
        )
        # the arrays themselves, which `read_state` fills
        state, done = {**network.state(), "losses": losses}, 0
        run = {**asdict(settings), "text": examples.digest, "candidates": candidates.digest()}
        run["endings"] = endings.digest()
        if checkpoint is not None:
            done = read_state(checkpoint, run, state)
        for number in range(done, len(batches)):
            progress(STAGE, number, len(batches))
            # a random generator for each step, so that a run that is resumed goes on as if it had not stopped
            places = examples.places(batches[number], np.random.default_rng([settings.seed, 2, number]))
            rate_share = min((number + 1) / WARM_UP, max(LAST_RATE, 1 - number / len(batches)))
            losses[number] = network.step(places, settings.rate * rate_share, number + 1)
            if checkpoint is not None and (number + 1) % checkpoint_every == 0:
                write_state(checkpoint, run, number + 1, state)
        # hidden units are stored as bytes, whose scale must suit most of them
        units = [
            network.forward(examples.places(part, np.random.default_rng([settings.seed, 3]))).units
            for part in batches[:_SAMPLED]
        ]
    most_hidden = max(float(np.quantile(np.concatenate(units), _KEPT_UNITS)), 1e-6)
    learned = {"loss": round(float(losses[-_LAST_LOSSES:].mean()), 4), **asdict(settings)}
    return quantise(
        vocabulary,
        dict(network.weights.arrays()),
        left=left,
        right=right,
        most_hidden=most_hidden,
        header={"tokenisation": tokenisation, "learned": learned, **(header or {})},
    )
