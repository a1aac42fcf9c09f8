"""Train the frame model of "it": ``python -m disambig_variance_svm.pronoun_it.frame_training DATA_DIR``."""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Instances
from disambig.api.experiments import text_lines
from disambig.api.text import view_of_texts

from ..plain_text import PACK_DOMAINS, counted_files, find_files
from .frame_model import FRAME_MODEL, STEP, FrameModel, frame_keys
from .patterns import LABELS, match_patterns
from .task import NON_REFERENTIAL, It, NormalisedWords

UNTOLD = "untold"
"""The kind of the places of which no pattern says anything."""
EVERY: Mapping[str, int] = {
    "fiction": 40, "essays": 5, "encyclopedic": 6, "manuals": 8, "speeches": 15, "textbooks": 6, "guides": 4,
    "science": 40, "government": 4,
}  # fmt: skip
"""Of a domain's paragraphs one in so many is looked at for all kinds; of others all are."""
MORE = 5
"""Places of rare kinds are looked for in so many times as many paragraphs."""
COMMON = frozenset({"clause", "thing"})
SAME_WORDING = 6
"""Examples of one wording (the first words of what matched), at most."""
MOST: Mapping[str, int] = {"clause": 4000, "thing": 4000, UNTOLD: 8000}
UNTOLD_SHARE = 0.1
WEIGHT: Mapping[str, Mapping[str, float]] = {
    "clause": {UNTOLD: 0.3},
    "rare": {UNTOLD: 0.3, "weather": 8.0, "idiom": 4.0, "time": 2.0},
}
"""What an example of a kind counts in a set of weights, where it is not one: few are found of some."""
CLAUSE = frozenset({"clause"})
C = 3.0
"""Inverse strength of the L2 regulariser."""
LEAST = 2
"""How often a feature must be seen to get a weight."""
_SENTENCE = re.compile(r"[^.!?]*\bit\b[^.!?]*[.!?]?", re.IGNORECASE)
_WORDS = 5


@dataclass(frozen=True, slots=True)
class PatternExample:
    """An example.

    Attributes
    ----------
    text : str
        A sentence.
    start : int
        Where its "it" begins.
    kind : str
    wording : str
        The first words of what matched.
    """

    text: str
    start: int
    kind: str
    wording: str = ""


def iterate_sentences(data: Path) -> Iterator[tuple[bool, str]]:
    """Yield sentences with an "it", and whether they are looked at for all kinds or for rare ones alone."""
    for domain, path in zip(PACK_DOMAINS, find_files(data, counted_files(PACK_DOMAINS)), strict=True):
        every = EVERY.get(domain, 1)
        rare = max(every // MORE, 1)
        for number, paragraph in enumerate(text_lines(path)):
            if number % rare == 0:
                for match in _SENTENCE.finditer(paragraph):
                    yield number % every == 0, match[0].strip()


def find_pattern_examples(data: Path, *, seed: int = 0) -> list[PatternExample]:
    """Return the examples of all kinds in the counted text, few of each wording."""
    rng = random.Random(seed)
    found: dict[str, list[PatternExample]] = defaultdict(list)
    kinds = list(LABELS)
    non_referential = {kind for kind, label in LABELS.items() if label == NON_REFERENTIAL}
    for whole, sentence in iterate_sentences(data):
        told_here = list(
            match_patterns(sentence, kinds if whole else [kind for kind in kinds if kind not in COMMON])
        )
        nothing = {start for kind, start, _ in told_here if kind in non_referential}
        for kind, start, words in told_here:
            if kind in non_referential or start not in nothing:
                found[kind].append(PatternExample(sentence, start, kind, " ".join(words.split()[:_WORDS])))
        if whole and not told_here and rng.random() < UNTOLD_SHARE:
            match = re.search(r"\bit\b", sentence, re.IGNORECASE)
            assert match is not None
            found[UNTOLD].append(PatternExample(sentence, match.start(), UNTOLD, str(len(found[UNTOLD]))))
    return [
        each
        for kind in (*kinds, UNTOLD)
        for each in _limit_examples(found[kind], MOST.get(kind, len(found[kind])), rng)
    ]


def _limit_examples(found: Sequence[PatternExample], most: int, rng: random.Random) -> list[PatternExample]:
    """Return some of the examples in random order, each sentence once and few of each wording."""
    distinct = list(dict.fromkeys(found))
    rng.shuffle(distinct)
    kept, seen = [], Counter[str]()
    for each in distinct:
        seen[each.wording] += 1
        if seen[each.wording] <= SAME_WORDING:
            kept.append(each)
    return kept[:most]


def learn_frame_model(found: Sequence[PatternExample], *, sources: Sequence[str]) -> FrameModel:
    """Return the weights of two logistic regressions over the frames of the examples."""
    from scipy.sparse import csr_array

    keys, used = example_frames(found)
    kinds = np.array([found[n].kind for n in used.tolist()])
    vocabulary, column, seen = np.unique(keys, return_inverse=True, return_counts=True)
    kept = (seen >= LEAST) & (vocabulary != 0)
    places = np.where(kept, np.cumsum(kept) - 1, -1)[column.reshape(keys.shape)]
    rows, at = np.nonzero(places >= 0)
    shape = len(keys), int(kept.sum())
    x = csr_array((np.ones(len(rows)), (rows.astype(np.int32), places[rows, at].astype(np.int32))), shape)
    nothing = {kind for kind, label in LABELS.items() if label == NON_REFERENTIAL}
    clause, clause_bias = _fit_weights(x, kinds, CLAUSE, nothing - CLAUSE, WEIGHT["clause"])
    rare, rare_bias = _fit_weights(x, kinds, nothing - CLAUSE, frozenset(), WEIGHT["rare"])
    weights = np.stack([clause, rare])
    told = weights.any(axis=0)
    header = {"sources": list(sources), "examples": dict(Counter(each.kind for each in found)), "step": STEP}
    return FrameModel(vocabulary[kept][told], weights[:, told], (clause_bias, rare_bias), header)


def _fit_weights(
    x: Any, kinds: NDArray[np.str_], right: Set[str], left_out: Set[str], weight: Mapping[str, float]
) -> tuple[NDArray[np.int8], float]:
    """Return the weights, in steps, and the bias that tell some kinds from the others."""
    from sklearn.linear_model import LogisticRegression

    used = np.flatnonzero(~np.isin(kinds, sorted(left_out)))
    each = np.array([weight.get(kind, 1.0) for kind in kinds[used].tolist()])
    learned = LogisticRegression(C=C, solver="liblinear")
    learned.fit(x[used], np.isin(kinds[used], sorted(right)), sample_weight=each)
    steps = np.clip(np.round(learned.coef_[0] / STEP), -127, 127).astype(np.int8)
    return steps, float(learned.intercept_[0])


def example_frames(found: Sequence[PatternExample]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the features of the examples that can be used, shape (n, F), and the numbers of these."""
    view = view_of_texts([each.text for each in found], NormalisedWords())
    instances: Instances = It().instances(view)
    documents, starts = view.document_indices(instances.positions), view.starts[instances.positions]
    at = {place: row for row, place in enumerate(zip(documents.tolist(), starts.tolist(), strict=True))}
    pairs = [(n, at[n, each.start]) for n, each in enumerate(found) if (n, each.start) in at]
    used, rows = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    return frame_keys(view, instances.take(rows)), used


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--show", type=int, metavar="N", help="print N examples of each kind")
    options = parser.parse_args()
    found = find_pattern_examples(options.data)
    if options.show:
        seen = Counter[str]()
        for each in found:
            seen[each.kind] += 1
            if seen[each.kind] <= options.show:
                sys.stdout.write(
                    f"{each.kind}\t{each.text[: each.start]}[[it]]{each.text[each.start + 2 :]}\n"
                )
        return
    learn_frame_model(found, sources=counted_files(PACK_DOMAINS)).save(FRAME_MODEL)


if __name__ == "__main__":
    main()
