"""Train a model of words in context from running text."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    Ints,
    Numbers,
    ThreadPool,
    WordEndings,
    check_integer,
)
from disambig.features.cloze import LARGEST, Cloze, ClozeVocabulary, get_normal_form
from disambig.files import UNREADABLE, parse_json, save_file
from disambig.text import END_HASH, SENTENCE_END, SENTENCE_START, START_HASH, UNKNOWN, TokenView, Words

_BOUNDARIES = {START_HASH: SENTENCE_START, END_HASH: SENTENCE_END}


def count_vocabulary(
    views: Iterable[TokenView], n_words: int, endings: int
) -> tuple[ClozeVocabulary, NDArray[np.int64], list[str]]:
    """Return the most frequent words of some text, how often each is there, and in its normal form.

    Sentence ends are always among them.

    Parameters
    ----------
    views : iterable of TokenView
        Each is looked at once.
    n_words : int
        How many words get a number; fewer where the text has fewer.
    endings : int
        Sets of other words, by their last letters.

    Raises
    ------
    UserError
        D993 for fewer than 3 words, or none that others could share.
    ValueError
        Without any text.
    """
    check_integer("n_words", n_words, least=3)
    check_integer("endings", endings, least=1)
    counts: Counter[int] = Counter()
    spellings: dict[int, str] = dict(_BOUNDARIES)
    for view in views:
        hashes, first, seen = np.unique(view.hashes, return_index=True, return_counts=True)
        own = hashes != UNKNOWN
        hashes, first, seen = hashes[own], first[own], seen[own]
        counts.update(dict(zip(hashes.tolist(), seen.tolist(), strict=True)))
        normal_form = get_normal_form(view.tokenisation)
        documents, starts, ends = view.document_indices(first), view.starts[first], view.ends[first]
        for i, word in enumerate(hashes.tolist()):
            if word not in spellings:
                spellings[word] = normal_form(view.texts[documents[i]][starts[i] : ends[i]])
    if not counts:
        raise ValueError("no text to count")
    frequent = [word for word, _ in counts.most_common(n_words) if word not in _BOUNDARIES]
    kept = sorted([*_BOUNDARIES, *frequent[: n_words - len(_BOUNDARIES)]], key=lambda word: -counts[word])
    found = np.array([counts[word] for word in kept], np.int64)
    return ClozeVocabulary(np.array(kept, np.uint64), endings), found, [spellings[word] for word in kept]


Floats = NDArray[np.float32]
_LEAST = 1e-9
"""What is smaller counts as this, so that a row of zeros has a step, too."""


def quantise(
    vocabulary: ClozeVocabulary,
    weights: dict[str, Floats],
    *,
    left: int,
    right: int,
    most_hidden: float,
    header: dict[str, Any],
) -> Cloze:
    """Return the model of learned weights.

    Parameters
    ----------
    weights : dict of arrays of float32
        ``embeddings``, ``inputs`` (of shape ``(places, D, H)``), ``hidden_bias``, ``states``, ``state_bias``,
        ``outputs``, ``output_bias`` (see `Cloze`).
    most_hidden : float
        The largest value of a hidden unit that is told from larger ones.
    """
    embeddings, word_scale = _quantise_rows(weights["embeddings"])
    input_scale = np.float32(max(float(np.abs(weights["inputs"]).max()), _LEAST) / LARGEST)
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
    """Return each row in steps of its own, and the steps."""
    steps = np.maximum(np.abs(values).max(axis=1), _LEAST) / LARGEST
    return np.round(values / steps[:, None]).astype(np.int8), steps.astype(np.float32)


def write_state(path: Path, run: Mapping[str, Any], done: int, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the state after `done` steps of a run; `run` says in plain values which it is.

    Raises
    ------
    UserError
        D309 where it cannot be written.
    """
    held = io.BytesIO()
    np.savez(held, run=np.array(json.dumps(run, sort_keys=True)), done=np.array(done), **arrays)  # type: ignore[arg-type]
    with save_file(path) as write:
        write(held.getvalue())


def read_state(path: Path, run: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> int:
    """Fill arrays from the state of the same run; return how many steps were done, 0 without any file.

    Raises
    ------
    UserError
        D994 for a file that is no state, or one of another run.
    """
    if not os.path.lexists(path):
        return 0
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as found:
            said, done = parse_json(str(found["run"])), int(found["done"])
            values = {name: found[name] for name in arrays}
    except UNREADABLE as problem:
        raise UserError("D994", path=path, problem=problem) from problem
    if said != json.loads(json.dumps(run)):
        other = [name for name in run if not isinstance(said, dict) or said.get(name) != run[name]]
        raise UserError("D994", path=path, problem=f"it is of a run with other {', '.join(other)}")
    for name, array in arrays.items():
        if values[name].shape != array.shape or values[name].dtype != array.dtype:
            raise UserError("D994", path=path, problem=f"{name} is of another shape")
    for name, array in arrays.items():
        array[...] = values[name]
    return done


Progress = Callable[[str, int, int], None]
STAGE = "learning words in context"
_SAMPLED = 4
"""Batches by which the range of hidden units is found."""
_KEPT_UNITS = 0.9995
"""Share of hidden units that are told from larger ones."""
_LAST_LOSSES = 500
"""Batches whose mean loss the header says."""


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
    progress: Progress | None = None,
    tokenisation: str = Words.name,
    header: dict[str, Any] | None = None,
) -> Cloze:
    """Learn a model of words in context.

    Parameters
    ----------
    blocks : sequence of arrays of uint16 or int32
        Stretches of text as numbers of words (`Vocabulary.of_view`), some sentences each with their ends, a
        few hundred words; they are shuffled.
    vocabulary : Vocabulary
        Sentence ends among its words.
    rivals : (offsets, numbers)
        What each word competes with: numbers of words, shapes ``(n_words + 1,)`` and ``(n_rivals,)``.
    none_beside : array of int
        Words that compete with each other and with no word at all, as function words do.
    asked : array of bool, shape (n_words,), optional
        The words that are learned to be told from others; by default all but sentence ends.
    spellings : sequence of str
        Of all words, by number: what words that end alike have in common is learned from all of them. Without
        any each word is learned for itself.
    dimensions, hidden : int
        Width of embeddings and outputs, and of the hidden layer.
    left, right : int
        Words that are seen on each side.
    epochs : int
        How often each block is looked at.
    batch : int
        Words of text a step, about.
    rate : float
        The first step size; it falls linearly to 3 %.
    threads : int
        They change the time alone. More than four are of little use.
    checkpoint : path, optional
        A file for the state: written every so many steps and gone on from where it is there. It stays.
    checkpoint_every : int
    progress : callable, optional
        Told a stage, the step and how many there are.
    tokenisation : str
        Registry name of that of the text.
    header : dict, optional
        What else is to be kept with the weights: sources, licence.

    Raises
    ------
    UserError
        D993 for a setting that cannot be meant; D994 for a checkpoint of another run; D309 for one that
        cannot be written.
    ValueError
        For rivals, spellings or text that are not of the vocabulary, and without any text.
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
    check_integer("threads", threads, least=1)
    check_integer("checkpoint_every", checkpoint_every, least=1)
    n_words = len(vocabulary)
    candidates = ClozeCandidates.from_rivals(n_words, rivals, np.asarray(none_beside, np.int64))
    if len(spellings) not in (0, n_words):
        raise ValueError(f"spellings of {len(spellings)} words, and there are {n_words}")
    endings = WordEndings(spellings)
    material = ClozeExamples(blocks, vocabulary, asked, settings)
    batches = material.batches()
    losses = np.zeros(len(batches), np.float32)
    with threadpool_limits(limits=1, user_api="blas"), ThreadPool(threads) as team:
        network = ClozeNetwork(
            FloatWeights.start(settings, n_words, vocabulary.outside), candidates, team, endings
        )
        state, done = {**network.state(), "losses": losses}, 0
        run = {**asdict(settings), "text": material.digest, "candidates": candidates.digest()}
        run["endings"] = endings.digest()
        if checkpoint is not None:
            done = read_state(checkpoint, run, state)
        for number in range(done, len(batches)):
            if progress is not None:
                progress(STAGE, number, len(batches))
            places = material.places(batches[number], np.random.default_rng([settings.seed, 2, number]))
            share = min((number + 1) / WARM_UP, max(LAST_RATE, 1 - number / len(batches)))
            losses[number] = network.step(places, settings.rate * share, number + 1)
            if checkpoint is not None and (number + 1) % checkpoint_every == 0:
                write_state(checkpoint, run, number + 1, state)
        units = [
            network.forward(material.places(part, np.random.default_rng([settings.seed, 3]))).units
            for part in batches[:_SAMPLED]
        ]
    most_hidden = max(float(np.quantile(np.concatenate(units), _KEPT_UNITS)), 1e-6)
    said = {"loss": round(float(losses[-_LAST_LOSSES:].mean()), 4), **asdict(settings)}
    return quantise(
        vocabulary,
        dict(network.weights.arrays()),
        left=left,
        right=right,
        most_hidden=most_hidden,
        header={"tokenisation": tokenisation, "learned": said, **(header or {})},
    )
