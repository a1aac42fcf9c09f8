"""Train the frame model of "it".

Run ``python -m disambig_variance_svm.pronoun_it.frame_training DATA_DIR``.

Sentences of ``DATA_DIR/english/*.train.txt.xz`` in which a pattern matches (`patterns`) are the examples,
few of each wording. Sentences without a match are taken as referential, as most are, with a lower weight.
The same data give the same weights. With ``--show N`` it prints N examples of each kind instead.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Instances
from disambig.api.experiments import text_lines
from disambig.api.text import view_of_texts

from .._script import run_script
from ..plain_text import PACK_DOMAINS, counted_files, find_files
from .frame_model import FRAME_MODEL, STEP, FrameModel, frame_keys
from .patterns import LABELS, UNMATCHED, find_examples, first_it, sample_wordings, sentences_with_it
from .task import NON_REFERENTIAL, It, NormalisedWords

EVERY: Mapping[str, int] = {
    "fiction": 40, "essays": 5, "encyclopedic": 6, "manuals": 8, "speeches": 15, "textbooks": 6, "guides": 4,
    "science": 40, "government": 4,
}  # fmt: skip
"""One in this many paragraphs of a domain is searched for all kinds; in other domains every paragraph is."""
MORE = 5
"""Rare kinds are searched in this many times as many paragraphs."""
COMMON = frozenset({"clause", "thing"})
SAME_WORDING = 6
"""Maximum number of examples with the same wording (the first words of the match)."""
MAX_BY_KIND: Mapping[str, int] = {"clause": 4000, "thing": 4000, UNMATCHED: 8000}
UNMATCHED_SHARE = 0.1
"""Share of the sentences without a match that become examples."""
WEIGHT: Mapping[str, Mapping[str, float]] = {
    "clause": {UNMATCHED: 0.3},
    "rare": {UNMATCHED: 0.3, "weather": 8.0, "idiom": 4.0, "time": 2.0},
}
"""Weights of examples by kind in each set, if not 1: some kinds have few examples."""
CLAUSE = frozenset({"clause"})
C = 3.0
"""Inverse strength of the L2 regulariser."""
MIN_COUNT = 2
"""Minimum count of a feature to get a weight."""


@dataclass(frozen=True, slots=True)
class PatternExample:
    """An "it" in a sentence, with the kind of the pattern that matches."""

    text: str  # the sentence
    start: int  # offset of the "it"
    kind: str
    wording: str = ""  # the first words of the match


def iterate_sentences(data: Path) -> Iterator[tuple[bool, str]]:
    """Yield sentences with an "it", each with True if it is searched for all kinds, not only rare ones."""
    for domain, path in zip(PACK_DOMAINS, find_files(data, counted_files(PACK_DOMAINS)), strict=True):
        every = EVERY.get(domain, 1)
        rare = max(every // MORE, 1)
        for number, paragraph in enumerate(text_lines(path)):
            if number % rare == 0:
                for sentence in sentences_with_it(paragraph):
                    yield number % every == 0, sentence


def find_pattern_examples(data: Path) -> list[PatternExample]:
    """Return examples of all kinds from the counted text, few of each wording."""
    rng = random.Random(0)
    by_kind: dict[str, list[PatternExample]] = {kind: [] for kind in (*LABELS, UNMATCHED)}
    rare_kinds = [kind for kind in LABELS if kind not in COMMON]
    unmatched = by_kind[UNMATCHED]
    for all_kinds, sentence in iterate_sentences(data):
        matches = find_examples(sentence, LABELS if all_kinds else rare_kinds)
        for kind, start, wording in matches:
            by_kind[kind].append(PatternExample(sentence, start, kind, wording))
        if all_kinds and not matches and rng.random() < UNMATCHED_SHARE:
            unmatched.append(PatternExample(sentence, first_it(sentence), UNMATCHED, str(len(unmatched))))
    sampled: list[PatternExample] = []
    for kind, examples in by_kind.items():
        n = MAX_BY_KIND.get(kind, len(examples))
        sampled += sample_wordings(
            examples, attrgetter("wording"), maximum=n, most_same=SAME_WORDING, rng=rng
        )
    return sampled


def learn_frame_model(examples: Sequence[PatternExample], *, sources: Sequence[str]) -> FrameModel:
    """Return the weights of two logistic regressions over the frame features of the examples."""
    from scipy.sparse import csr_array

    keys, used = example_frames(examples)
    kinds = np.array([examples[n].kind for n in used.tolist()])
    vocabulary, column, counts = np.unique(keys, return_inverse=True, return_counts=True)
    kept = (counts >= MIN_COUNT) & (vocabulary != 0)
    places = np.where(kept, np.cumsum(kept) - 1, -1)[column.reshape(keys.shape)]
    rows, at = np.nonzero(places >= 0)
    shape = len(keys), int(kept.sum())
    x = csr_array((np.ones(len(rows)), (rows.astype(np.int32), places[rows, at].astype(np.int32))), shape)
    rare_kinds = {kind for kind, label in LABELS.items() if label == NON_REFERENTIAL} - CLAUSE
    clause, clause_bias = _fit_weights(x, kinds, CLAUSE, rare_kinds, WEIGHT["clause"])
    rare, rare_bias = _fit_weights(x, kinds, rare_kinds, frozenset(), WEIGHT["rare"])
    weights = np.stack([clause, rare])
    is_used = weights.any(axis=0)
    header = {
        "sources": list(sources),
        "examples": dict(Counter(example.kind for example in examples)),
        "step": STEP,
    }
    return FrameModel(vocabulary[kept][is_used], weights[:, is_used], (clause_bias, rare_bias), header)


def _fit_weights(
    x: Any, kinds: NDArray[np.str_], positive: Set[str], left_out: Set[str], weight: Mapping[str, float]
) -> tuple[NDArray[np.int8], float]:
    """Return the weights, in steps, and the bias of a classifier of `positive` kinds against others."""
    from sklearn.linear_model import LogisticRegression

    used = np.flatnonzero(~np.isin(kinds, sorted(left_out)))
    sample_weights = np.array([weight.get(kind, 1.0) for kind in kinds[used].tolist()])
    classifier = LogisticRegression(C=C, solver="liblinear")
    classifier.fit(x[used], np.isin(kinds[used], sorted(positive)), sample_weight=sample_weights)
    steps = np.clip(np.round(classifier.coef_[0] / STEP), -127, 127).astype(np.int8)
    return steps, float(classifier.intercept_[0])


def example_frames(examples: Sequence[PatternExample]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the features of the usable examples, shape (n, F), and the indices of these examples."""
    view = view_of_texts([example.text for example in examples], NormalisedWords())
    instances: Instances = It().instances(view)
    documents, starts = view.document_indices(instances.positions), view.starts[instances.positions]
    at = {place: row for row, place in enumerate(zip(documents.tolist(), starts.tolist(), strict=True))}
    pairs = [(n, at[n, example.start]) for n, example in enumerate(examples) if (n, example.start) in at]
    used, rows = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    return frame_keys(view, instances.take(rows)), used


def main(data: Path, show: int | None) -> str | None:
    """Find the examples, and return some of them or train and save the model."""
    examples = find_pattern_examples(data)
    if not show:
        learn_frame_model(examples, sources=counted_files(PACK_DOMAINS)).save(FRAME_MODEL)
        return None
    lines, seen = [], Counter[str]()
    for example in examples:
        seen[example.kind] += 1
        if seen[example.kind] <= show:
            before, after = example.text[: example.start], example.text[example.start + 2 :]
            lines.append(f"{example.kind}\t{before}[[it]]{after}")
    return "\n".join(lines)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--show", type=int, metavar="N", help="print N examples of each kind")


if __name__ == "__main__":
    run_script(__doc__, main, options=_add_options)
