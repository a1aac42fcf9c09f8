"""Labelled examples of "it" that patterns pick out of held-out text: of kinds that treebanks hardly label.

They teach what the treebanks' examples leave open, and how far the habits (`habits`) may be believed; how
frequent anything is, and so the probabilities, is left to the examples of the treebanks (`Labelled.picked`).
The text is none that was counted or that the habits were learned from.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from disambig.api.experiments import text_lines
from disambig.api.formats import Labelled
from disambig_variance_svm.it.patterns import LABELS, told
from disambig_variance_svm.plain_text import PACK_DOMAINS, files, held_out

MOST: Mapping[str, int] = {"weather": 36, "time": 60, "idiom": 60, "cleft": 30}
"""Examples of each kind, at most."""
SAME_WORDING = 3
"""Examples of one wording (the first words of what matched), at most."""
_SENTENCE = re.compile(r"[^.!?]*\bit\b[^.!?]*[.!?]?", re.IGNORECASE)
_WORDS = 3


def picked(data: Path, *, most: Mapping[str, int] = MOST, seed: int = 0) -> list[Labelled]:
    """Return examples from the held-out text of the pack's domains; a sentence is a document.

    Raises
    ------
    UserError
        Those of `text_lines` for the files.
    """
    found: dict[str, list[tuple[str, str, int, str]]] = defaultdict(list)
    for domain, path in zip(PACK_DOMAINS, files(data, held_out(PACK_DOMAINS)), strict=True):
        for paragraph in text_lines(path):
            for match in _SENTENCE.finditer(paragraph):
                sentence = match[0].strip()
                for kind, start, words in told(sentence, most):
                    found[kind].append((domain, sentence, start, " ".join(words.split()[:_WORDS])))
    rng = random.Random(seed)
    return [each for kind, n in most.items() for each in _some(kind, found[kind], n, rng)]


def _some(kind: str, found: list[tuple[str, str, int, str]], most: int, rng: random.Random) -> list[Labelled]:
    """Return some in random order, each sentence once and few of each wording."""
    distinct = list(dict.fromkeys(found))
    rng.shuffle(distinct)
    kept: list[Labelled] = []
    seen = Counter[str]()
    for domain, sentence, start, wording in distinct:
        seen[wording] += 1
        if seen[wording] <= SAME_WORDING and len(kept) < most:
            where = f"{domain}, a pattern of {kind}"
            kept.append(
                Labelled(sentence, start, start + 2, LABELS[kind], f"picked {sentence}", where, picked=True)
            )
    return kept
