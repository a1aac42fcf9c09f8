"""Taggers for comparison: a CRF and spaCy's tagger, trained on the same sentences."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from disambig.api import UserError
from disambig.api.experiments import Progress, no_progress

from .tag_data import Sentence

AFFIX = 4
C1, C2, ITERATIONS = 0.1, 0.01, 100
_SHAPE = ((re.compile("[A-Z]"), "X"), (re.compile("[a-z]"), "x"), (re.compile("[0-9]"), "d"))
_RUN = re.compile(r"(.)\1{3,}")


def crf_tagger(
    train: Sequence[Sentence], *, c1: float = C1, c2: float = C2, iterations: int = ITERATIONS
) -> Callable[[Sequence[list[str]]], list[list[str]]]:
    """Return a tagger trained with L-BFGS and the penalties `c1` (L1) and `c2` (L2)."""
    import pycrfsuite  # type: ignore[import-untyped]

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    settings = {"c1": c1, "c2": c2, "max_iterations": iterations, "feature.possible_transitions": True}
    trainer.set_params(settings)
    for words, tags in train:
        trainer.append(attributes(words), tags)
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as directory:
        path = str(Path(directory) / "tagger.crfsuite")
        trainer.train(path)
        tagger.open(path)  # reads the whole file
    return lambda text: [tagger.tag(attributes(words)) if words else [] for words in text]


def attributes(words: Sequence[str]) -> list[list[str]]:
    """Return the attributes of each word: form, affixes, shape, and the neighbouring words and affixes."""
    alone = [_word_attributes(word) for word in words]
    padded = ["<s>", "<s>", *(word.lower() for word in words), "</s>", "</s>"]
    names = []
    for i, features in enumerate(alone):
        before2, before, here, after, after2 = padded[i : i + 5]
        names.append(
            [
                *features,
                *(f"-2={before2}", f"-1={before}", f"+1={after}", f"+2={after2}"),
                *(f"-1,0={before}|{here}", f"0,+1={here}|{after}", f"-1,+1={before}|{after}"),
                *(f"-1s={before[-3:]}", f"+1s={after[-3:]}"),
                f"-1h={alone[i - 1][1]}" if i else "first",
                f"+1h={alone[i + 1][1]}" if i + 1 < len(alone) else "last",
            ]
        )
    return names


def _word_attributes(word: str) -> list[str]:
    lower = word.lower()
    names = [f"w={lower}", f"h={shape(word)}", f"f={word}", "bias"]
    for n in range(1, min(AFFIX, len(lower)) + 1):
        names += [f"p={lower[:n]}", f"s={lower[-n:]}"]
    return names


def shape(word: str) -> str:
    """Return the shape of a word: X, x and d for letters and digits, with runs of at most three."""
    for pattern, letter in _SHAPE:
        word = pattern.sub(letter, word)
    return _RUN.sub(r"\1\1\1", word)


MAX_STEPS, PATIENCE, EVALUATION_INTERVAL = 6000, 1600, 200
"""Maximum number of steps, steps without a gain on development text, and steps between evaluations."""
_PATHS = ("--paths.train", "train.spacy", "--paths.dev", "dev.spacy")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def spacy_tagger(
    train: Sequence[Sentence], dev: Sequence[Sentence], *, max_steps: int = MAX_STEPS, seed: int = 0
) -> Callable[[Sequence[list[str]]], list[list[str]]]:
    """Return the tagger with the best accuracy on `dev` that ``spacy train`` finds within `max_steps`.

    Raises D736 with the last line of output if ``spacy train`` fails.
    """
    import spacy
    from spacy.cli.init_config import init_config
    from spacy.tokens import Doc, DocBin

    with tempfile.TemporaryDirectory() as name_of_directory:
        directory = Path(name_of_directory)
        config = init_config(lang="en", pipeline=["tagger"], optimize="efficiency", gpu=False)
        training = {"max_steps": max_steps, "patience": PATIENCE, "eval_frequency": EVALUATION_INTERVAL}
        config["training"] |= training | {"seed": seed}
        config.to_disk(directory / "config.cfg")
        vocab = spacy.blank("en").vocab
        for name, sentences in (("train", train), ("dev", dev)):
            docs = [Doc(vocab, words=words, tags=tags) for words, tags in sentences]
            DocBin(docs=docs).to_disk(directory / f"{name}.spacy")
        finished = subprocess.run(
            [sys.executable, "-m", "spacy", "train", "config.cfg", "--output", "out", *_PATHS],
            cwd=directory,
            env={**os.environ, **_ONE_THREAD},
            capture_output=True,
            text=True,
            encoding="utf8",
            errors="replace",
        )
        if finished.returncode:
            output = finished.stderr.strip() or finished.stdout.strip()
            last_line = output.splitlines()[-1] if output else f"exit status {finished.returncode}"
            raise UserError("D736", problem=last_line)
        nlp = spacy.load(directory / "out" / "model-best")

    def predict_tags(text: Sequence[list[str]]) -> list[list[str]]:
        docs = (Doc(nlp.vocab, words=words) for words in text)
        return [[token.tag_ for token in doc] for doc in nlp.pipe(docs)]

    return predict_tags


Tagger = Callable[[Sequence[list[str]]], list[list[str]]]
Fit = Callable[[Sequence[Sentence], Sequence[Sentence]], Tagger]
"""Trains on sentences; the second argument is for early stopping, if the tagger supports it."""
SPACY, CRF = "spaCy", "CRFsuite"
INSTALL = {SPACY: "pip install spacy", CRF: "pip install python-crfsuite"}
_MODULE = {SPACY: "spacy", CRF: "pycrfsuite"}
WARM_UP = 20
"""Number of sentences tagged before time is measured."""


@dataclass(frozen=True, slots=True)
class TaggerRun:
    """Results of one tagger."""

    system: str
    # predicted tags for each text; empty if the tagger is not installed
    tags: Mapping[str, list[list[str]]] = field(default_factory=dict)
    # in processor time on one core; the second over all texts, from words to tags
    training_seconds: float | None = None
    words_per_second: float | None = None
    note: str = ""  # reason why there are no tags


def train_baselines(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    tests: Mapping[str, Sequence[Sentence]],
    *,
    systems: Mapping[str, Fit] | None = None,
    progress: Progress = no_progress,
) -> list[TaggerRun]:
    """Return the results of spaCy's tagger and CRFsuite, or of other `systems`, on the same sentences.

    `dev` is for early stopping; the tags of `tests`, texts by name, are not used.
    """
    baselines = []
    chosen = PEERS if systems is None else systems
    for number, (name, fit) in enumerate(chosen.items()):
        progress(f"training and tagging: {name}", number, len(chosen))
        if name in _MODULE and find_spec(_MODULE[name]) is None:
            baselines.append(TaggerRun(name, note=f"{name} is not installed: {INSTALL[name]}"))
            continue
        began = cpu_seconds()
        tagger = fit(train, dev)
        baselines.append(run_tagger(name, tagger, tests, training_seconds=cpu_seconds() - began))
    return baselines


def run_tagger(
    system: str, tagger: Tagger, tests: Mapping[str, Sequence[Sentence]], *, training_seconds: float
) -> TaggerRun:
    """Return the results of a trained tagger, with its speed."""
    texts = {name: [words for words, _ in sentences] for name, sentences in tests.items()}
    tagger([words for text in texts.values() for words in text][:WARM_UP])
    began = time.process_time()
    tags = {name: tagger(text) for name, text in texts.items()}
    spent = time.process_time() - began
    n = sum(len(words) for text in texts.values() for words in text)
    return TaggerRun(system, tags, training_seconds, n / spent if n and spent else None)


def cpu_seconds() -> float:
    """Return the processor time of this process and of the child processes it has waited for.

    Unlike wall-clock time it does not depend on other load. Windows does not count child processes:
    there it is the wall-clock time.
    """
    return time.perf_counter() if os.name == "nt" else sum(os.times()[:4])


def baseline_taggers(*, quick: bool = False) -> dict[str, Fit]:
    """Return the taggers for comparison by name; with `quick` with a few training steps."""
    steps = {"max_steps": 200} if quick else {}
    rounds = {"iterations": 20} if quick else {}
    return {
        SPACY: lambda train, dev: spacy_tagger(train, dev, **steps),
        CRF: lambda train, dev: crf_tagger(train, **rounds),
    }


PEERS = baseline_taggers()
