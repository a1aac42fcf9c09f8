"""python-crfsuite as a tagger: a first-order linear-chain CRF with the usual features of words."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from .tag_data_penn import Sentence

AFFIX = 4
C1, C2, ITERATIONS = 0.1, 0.01, 100
_SHAPE = ((re.compile("[A-Z]"), "X"), (re.compile("[a-z]"), "x"), (re.compile("[0-9]"), "d"))
_RUN = re.compile(r"(.)\1{3,}")


def crf_tagger(
    train: Sequence[Sentence], *, c1: float = C1, c2: float = C2, iterations: int = ITERATIONS
) -> Callable[[Sequence[list[str]]], list[list[str]]]:
    """Return a tagger trained with L-BFGS, penalties `c1` (L1) and `c2` (L2)."""
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
        tagger.open(path)  # read as a whole
    return lambda text: [tagger.tag(attributes(words)) if words else [] for words in text]


def attributes(words: Sequence[str]) -> list[list[str]]:
    """Return the attributes of each word: form, affixes, shape, and the words and affixes beside it."""
    alone = [_of_word(word) for word in words]
    padded = ["<s>", "<s>", *(word.lower() for word in words), "</s>", "</s>"]
    found = []
    for i, own in enumerate(alone):
        before2, before, here, after, after2 = padded[i : i + 5]
        found.append(
            [
                *own,
                f"-2={before2}",
                f"-1={before}",
                f"+1={after}",
                f"+2={after2}",
                f"-1,0={before}|{here}",
                f"0,+1={here}|{after}",
                f"-1,+1={before}|{after}",
                f"-1s={before[-3:]}",
                f"+1s={after[-3:]}",
                *([f"-1h={alone[i - 1][1]}"] if i else ["first"]),
                *([f"+1h={alone[i + 1][1]}"] if i + 1 < len(alone) else ["last"]),
            ]
        )
    return found


def _of_word(word: str) -> list[str]:
    lower = word.lower()
    found = [f"w={lower}", f"h={shape(word)}", f"f={word}", "bias"]
    for n in range(1, min(AFFIX, len(lower)) + 1):
        found += [f"p={lower[:n]}", f"s={lower[-n:]}"]
    return found


def shape(word: str) -> str:
    """Return the word with X, x and d for letters and digits, and runs no longer than three."""
    for pattern, letter in _SHAPE:
        word = pattern.sub(letter, word)
    return _RUN.sub(r"\1\1\1", word)
