"""Learning a model of words in context from running text whose words are taken as right.

Each place of the text is a question: which of the words that compete for it stands there, or none? The order
of the text, what is drawn and every sum depend on the seed alone: a run that was interrupted, or one with
more threads, comes to the same weights to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.features.cloze.learning_endings import Endings
from disambig.features.cloze.learning_network import Network, Weights
from disambig.features.cloze.learning_places import Candidates, Ints, Material, Numbers
from disambig.features.cloze.learning_settings import LAST, WARM_UP, Settings, check_whole
from disambig.features.cloze.learning_state import read_state, write_state
from disambig.features.cloze.model import Cloze
from disambig.features.cloze.quantising import quantised
from disambig.features.cloze.team import Team
from disambig.features.cloze.vocabulary import Vocabulary
from disambig.text.tokenisations.words import Words

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
    vocabulary: Vocabulary,
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

    settings = Settings(
        dimensions=dimensions,
        hidden=hidden,
        left=left,
        right=right,
        epochs=epochs,
        seed=seed,
        batch=batch,
        rate=rate,
    )
    check_whole("threads", threads, least=1)
    check_whole("checkpoint_every", checkpoint_every, least=1)
    n_words = len(vocabulary)
    candidates = Candidates.of(n_words, rivals, np.asarray(none_beside, np.int64))
    if len(spellings) not in (0, n_words):
        raise ValueError(f"spellings of {len(spellings)} words, and there are {n_words}")
    endings = Endings(spellings)
    material = Material(blocks, vocabulary, asked, settings)
    batches = material.batches()
    losses = np.zeros(len(batches), np.float32)
    with threadpool_limits(limits=1, user_api="blas"), Team(threads) as team:
        network = Network(Weights.start(settings, n_words, vocabulary.outside), candidates, team, endings)
        state, done = {**network.state(), "losses": losses}, 0
        run = {**asdict(settings), "text": material.digest, "candidates": candidates.digest()}
        run["endings"] = endings.digest()
        if checkpoint is not None:
            done = read_state(checkpoint, run, state)
        for number in range(done, len(batches)):
            if progress is not None:
                progress(STAGE, number, len(batches))
            places = material.places(batches[number], np.random.default_rng([settings.seed, 2, number]))
            share = min((number + 1) / WARM_UP, max(LAST, 1 - number / len(batches)))
            losses[number] = network.step(places, settings.rate * share, number + 1)
            if checkpoint is not None and (number + 1) % checkpoint_every == 0:
                write_state(checkpoint, run, number + 1, state)
        units = [
            network.forward(material.places(part, np.random.default_rng([settings.seed, 3]))).units
            for part in batches[:_SAMPLED]
        ]
    most_hidden = max(float(np.quantile(np.concatenate(units), _KEPT_UNITS)), 1e-6)
    said = {"loss": round(float(losses[-_LAST_LOSSES:].mean()), 4), **asdict(settings)}
    return quantised(
        vocabulary,
        dict(network.weights.arrays()),
        left=left,
        right=right,
        most_hidden=most_hidden,
        header={"tokenisation": tokenisation, "learned": said, **(header or {})},
    )
