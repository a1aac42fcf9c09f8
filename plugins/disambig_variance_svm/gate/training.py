"""Train `usage`: ``python -m disambig_variance_svm.gate.training DATA_DIR [OUTPUT_DIR]``.

Reads ``DATA_DIR/labelled/ewt`` (UD English EWT) and a sample of the text of `plain_text`
(for classes of words only), writes the weights and prints how well they do. Strength and
threshold are chosen on the development part, everything reported comes from the test part. The same
data gives the same weights.
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import Tokenisation
from disambig_variance_svm.gate.classes import frequent_words, word_classes
from disambig_variance_svm.gate.examples import ewt, swap
from disambig_variance_svm.gate.features import N_CLASSES, buckets, neighbours, slots_of
from disambig_variance_svm.gate.report import report
from disambig_variance_svm.gate.truth import PREPOSITIONS
from disambig_variance_svm.gate.usage import WEIGHTS, Usage
from disambig_variance_svm.plain_text import COUNTED, files

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

RAW_CHARACTERS = 15_000_000
"""How much of each domain's raw text is read, at most: 20 million words in all."""
WORDS_WITH_CLASS = 20_000
SLOT_BITS = 17
BUCKET_BITS = 17
STRENGTH = 1.0
SWAPPED = 0.05
"""What a preposition swapped for another counts, beside an occurrence as it stands."""
PRECISION = 0.97
"""What share of the words let through must be prepositions, on the development part."""
SOURCES = (
    {
        "name": "UD English EWT (train; threshold: dev)",
        "use": "labels",
        "licence": "CC BY-SA 4.0",
        "by": "Silveira et al. 2014, Universal Dependencies",
    },
    {
        "name": "sample of the project's raw English text",
        "use": "classes of words",
        "licence": "public domain, CC0, OGL, CC BY 4.0, CC BY-SA 2.5 and 4.0",
    },
)
LICENCE = "CC BY-SA 4.0"


def raw_words(
    texts: Iterable[Path], tokenisation: Tokenisation, *, characters: int = RAW_CHARACTERS
) -> NDArray[np.uint64]:
    """Return the word hashes of a sample of packed texts, a domain each: `characters` of each, at most.

    Paragraphs are taken at equal distances, so that every source of a domain has its share.
    """
    parts = [tokenisation([paragraphs]).hashes for path in texts for paragraphs in _sample(path, characters)]
    return np.concatenate(parts)


def _sample(path: Path, characters: int) -> Iterator[str]:
    with lzma.open(path, "rt", encoding="utf8") as lines:
        paragraphs = lines.readlines()
    step = max(1, round(sum(map(len, paragraphs)) / characters))
    yield "\n".join(paragraphs[::step])


def fit(
    features: NDArray[np.uint64], truth: Bools, importance: Floats, *, bits: int, strength: float
) -> tuple[Floats, float]:
    """Return the weights and the bias of a logistic regression under an L2 penalty, found by L-BFGS.

    Parameters
    ----------
    features : array of uint64, shape (n_features, n)
        The buckets of each example.
    truth, importance : arrays, shape (n,)
        What each example is and how much it counts.
    strength : float
        The penalty is ``strength / 2 * |w|^2``.
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix

    n_features, n = features.shape
    ends = np.arange(0, n_features * n + 1, n_features)
    rows = csr_matrix((np.ones(n_features * n), features.T.ravel().astype(np.int64), ends), (n, 1 << bits))
    used, columns = np.unique(rows.indices, return_inverse=True)
    rows = csr_matrix((rows.data, columns, ends), (n, len(used)))
    transposed = rows.T.tocsr()
    signs = np.where(truth, 1.0, -1.0)

    def loss(point: Floats) -> tuple[float, Floats]:
        margins = signs * (rows @ point[:-1] + point[-1])
        value = importance @ np.logaddexp(0.0, -margins) + 0.5 * strength * point[:-1] @ point[:-1]
        pull = -importance * signs * np.exp(-np.logaddexp(0.0, margins))
        return float(value), np.append(transposed @ pull + strength * point[:-1], pull.sum())

    found = minimize(loss, np.zeros(len(used) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    weights = np.zeros(1 << bits)
    weights[used] = found.x[:-1]
    return weights, float(found.x[-1])


def train(data: Path, tokenisation: Tokenisation) -> Usage:
    """Return the gate trained on ``data/labelled/ewt`` and ``data/english``."""
    raw = raw_words(files(data, COUNTED), tokenisation)
    words, _ = frequent_words(raw, WORDS_WITH_CLASS)
    classes = word_classes(raw, words, n_classes=N_CLASSES, n_near=500, n_far=200, dimensions=100, seed=0)
    slots = slots_of(words, classes, bits=SLOT_BITS)

    part = ewt(data, "train", tokenisation)
    right = neighbours(part.view.hashes, part.positions[part.truth])
    swapped = buckets(swap(right, np.random.default_rng(0)), slots, bits=BUCKET_BITS)
    as_it_stands = buckets(neighbours(part.view.hashes, part.positions), slots, bits=BUCKET_BITS)
    weights, bias = fit(
        np.concatenate((as_it_stands, swapped), axis=1),
        np.concatenate((part.truth, np.ones(swapped.shape[1], dtype=bool))),
        np.repeat((1.0, SWAPPED), (len(part.truth), swapped.shape[1])),
        bits=BUCKET_BITS,
        strength=STRENGTH,
    )
    scale = float(np.abs(weights).max()) / 127
    header = {
        "what": "whether one of 34 words is used as a preposition (disambig_variance_svm.gate.usage)",
        "words": PREPOSITIONS,
        "tokenisation": tokenisation.name,
        "scale": scale,
        "bias": bias,
        "threshold": 0.5,
        "raw_words": len(raw),
        "sources": SOURCES,
        "licence": LICENCE,
    }
    usage = Usage(np.rint(weights / scale).astype(np.int8), slots, header)
    dev = ewt(data, "dev", tokenisation)
    header["threshold"] = threshold_for(usage.probability(dev.view, dev.positions), dev.truth, PRECISION)
    return usage


def threshold_for(probability: Floats, truth: Bools, precision: float) -> float:
    """Return the lowest threshold above which `precision` of the words are prepositions, to three places."""
    order = np.argsort(-probability, kind="stable")
    shares = np.cumsum(truth[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(shares >= precision)
    return float(np.ceil(probability[order[enough[-1]]] * 1000) / 1000) if len(enough) else 1.0


def main(data: str, output: str | Path = WEIGHTS) -> str:
    """Train, write the weights and return the tables."""
    from disambig.api import Words

    tokenisation = Words()
    usage = train(Path(data), tokenisation)
    usage.save(Path(output))
    return report(usage, ewt(Path(data), "train", tokenisation), ewt(Path(data), "test", tokenisation))


if __name__ == "__main__":
    sys.stdout.write(main(*sys.argv[1:3]) + "\n")
