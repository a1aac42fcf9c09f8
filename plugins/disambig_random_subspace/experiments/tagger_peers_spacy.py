"""spaCy's own tagger: the settings of ``spacy init config`` for a CPU, trained by ``spacy train``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from disambig.api import UserError

from .tag_data_penn import Sentence

MAX_STEPS, PATIENCE, EVERY = 6000, 1600, 200
"""Steps at most, without a gain on the development text, and between looks at it."""
_PATHS = ("--paths.train", "train.spacy", "--paths.dev", "dev.spacy")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def spacy_tagger(
    train: Sequence[Sentence], dev: Sequence[Sentence], *, max_steps: int = MAX_STEPS, seed: int = 0
) -> Callable[[Sequence[list[str]]], list[list[str]]]:
    """Return the best tagger that ``spacy train`` finds within `max_steps`, as accuracy on `dev` says.

    Raises
    ------
    UserError
        D736 where ``spacy train`` fails, with its last line.
    """
    import spacy
    from spacy.cli.init_config import init_config
    from spacy.tokens import Doc, DocBin

    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        config = init_config(lang="en", pipeline=["tagger"], optimize="efficiency", gpu=False)
        config["training"] |= {"max_steps": max_steps, "patience": PATIENCE, "eval_frequency": EVERY}
        config["training"]["seed"] = seed
        config.to_disk(directory / "config.cfg")
        vocab = spacy.blank("en").vocab
        for name, sentences in (("train", train), ("dev", dev)):
            docs = [Doc(vocab, words=words, tags=tags) for words, tags in sentences]
            DocBin(docs=docs).to_disk(directory / f"{name}.spacy")
        done = subprocess.run(
            [sys.executable, "-m", "spacy", "train", "config.cfg", "--output", "out", *_PATHS],
            cwd=directory,
            env={**os.environ, **_ONE_THREAD},
            capture_output=True,
            text=True,
            encoding="utf8",
            errors="replace",
        )
        if done.returncode:
            said = (
                done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}"
            ).splitlines()
            raise UserError("D736", problem=said[-1])
        nlp = spacy.load(directory / "out" / "model-best")

    def tags_of(text: Sequence[list[str]]) -> list[list[str]]:
        docs = (Doc(nlp.vocab, words=words) for words in text)
        return [[token.tag_ for token in doc] for doc in nlp.pipe(docs)]

    return tags_of
