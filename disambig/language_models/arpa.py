"""Models as ARPA files, which KenLM, SRILM and others read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from disambig.errors import UserError
from disambig.files.saving import saved
from disambig.language_models.levels import Level
from disambig.language_models.model import LanguageModel

_NEVER = -99.0
"""What such files have for the start of a sentence, which no model predicts."""
_LINES = 10_000


def to_arpa(model: LanguageModel, path: str | Path) -> None:
    """Write a model as an ARPA file: logarithms to the base of ten; packed where the name ends in .gz or .xz.

    Raises
    ------
    UserError
        D658, for a word with a blank in it or without letters, which such files cannot hold; D309, where it
        cannot be written.
    """
    words = list(model.vocabulary.spellings)
    for word in words:
        if word.split() != [word]:
            raise UserError("D658", path=path, word=word)
    with saved(Path(path)) as write:
        counts = (f"ngram {n}={len(level)}\n" for n, level in enumerate(model.levels, 1))
        write(f"\\data\\\n{''.join(counts)}".encode())
        contexts = [""]
        for n, level in enumerate(model.levels, 1):
            write(f"\n\\{n}-grams:\n".encode())
            last = n == model.order
            following: list[str] = []
            gathered: list[str] = []
            for line, ngram in _lines(level, words, contexts, last=last):
                gathered.append(line)
                if not last:
                    following.append(f"{ngram} ")
                if len(gathered) == _LINES:
                    write("".join(gathered).encode())
                    gathered = []
            write("".join(gathered).encode())
            contexts = following
        write(b"\n\\end\\\n")


def _lines(level: Level, words: list[str], contexts: list[str], *, last: bool) -> Iterator[tuple[str, str]]:
    """Yield the line of each n-gram, and the n-gram."""
    bounds = level.begins.tolist()
    for context, (start, end) in zip(contexts, pairwise(bounds), strict=True):
        if start == end:
            continue
        rows = slice(start, end)
        columns = (level.words[rows], level.log_probs[rows], level.back_offs[rows])
        for word, log_prob, back_off in zip(*(column.tolist() for column in columns), strict=True):
            ngram = context + words[word]
            shown = log_prob / math.log(10) if log_prob > -math.inf else _NEVER
            weight = "" if last else f"\t{back_off / math.log(10):.7g}"
            yield f"{shown:.7g}\t{ngram}{weight}\n", ngram
