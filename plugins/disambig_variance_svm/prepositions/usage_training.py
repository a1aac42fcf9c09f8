"""Train the classifier of words that are used as prepositions.

Run ``python -m disambig_variance_svm.prepositions.usage_training DATA_DIR [OUTPUT_DIR]``.

It reads ``DATA_DIR/labelled/ewt`` (UD English EWT) and a sample of the text in `plain_text`, writes the
weights and prints an evaluation. The strength and the threshold are chosen on the development part, and the
report is on the test part. The same data give the same weights.

A word counts as a preposition if replacing it by another preposition would be a mistake for the task
*preposition*, that is, if it governs a noun phrase, a gerund or a question. By the tags and relations of UD
English (UPOS, Penn XPOS, deprel), these are

* UPOS ADP (or SCONJ, see below) with XPOS IN and the relation `case`; also stranded ones ("the house I live
  in": ADP and IN as `obl`, `nmod`, `conj`, `acl:relcl` or `root`);
* XPOS IN with the relation `mark`: "by going", "without his knowing", "on how it works", "in case it
  rains"; but not *as, until, for, except* unless a gerund follows ("as he left", "for him to go"), not
  "with" or "without" before a full clause, and not "in that";
* the last word of a fixed expression if it is such a word ("because of", "such as", "according to"), and
  its first word before a noun ("of course", "in order", "in case").

All other occurrences do not count: particles (RP), the infinitive's and stranded "to" (TO), adverbs (RB:
"about 50", "come in", "as good", "as well as"), the first word of "as to", "as of" and "up to", "kind of",
conjunctions, nouns, adjectives, parts of a compound ("walk-in"), and "to" between two numbers ("5 to 10")
unless "from" precedes them.

For the word classes, each frequent word gets a vector of the square root of the positive pointwise mutual
information with its neighbours, reduced to its main dimensions; spherical k-means makes the classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import Tokenisation, TokenView, Words
from disambig.api.arrays import Bools, Floats, Hashes, HashVocabulary
from disambig.api.formats import read_conllu
from disambig.api.text import hash_words

from .._script import run_script
from ..plain_text import COUNTED, find_files, sample_paragraphs
from .task import PREPOSITIONS
from .usage import N_CLASSES, WEIGHTS, PrepositionUsage, build_class_table, feature_buckets, neighbour_words

Matrix = NDArray[np.float32]


def frequent_words(hashes: Hashes, n: int) -> tuple[Hashes, NDArray[np.int64]]:
    """Return the `n` most frequent words, the most frequent first, and their counts."""
    words, counts = np.unique(hashes, return_counts=True)
    order = np.lexsort((words, -counts))[:n]
    return words[order], counts[order]


def word_classes(
    hashes: Hashes, words: Hashes, *, n_classes: int, n_near: int, n_far: int, dimensions: int, seed: int
) -> NDArray[np.uint8]:
    """Return the class of each of `words`, from 1 to ``n_classes - 1``.

    `hashes` are running text; `words` have the most frequent first. `n_near` and `n_far` are the numbers of
    most frequent words that are distinguished as neighbours, and as second neighbours.
    """
    order = np.argsort(words)
    ids = HashVocabulary(words[order]).get(hashes, order, len(words))
    parts = []
    for offset, n in ((-1, n_near), (1, n_near), (-2, n_far), (2, n_far)):
        counts = _cooccurrences(ids, offset, n_rows=len(words), n_columns=n)
        expected = counts.sum(axis=1, keepdims=True) * (counts.sum(axis=0) / counts.sum())
        # the square root of the positive pointwise mutual information
        parts.append(np.sqrt(np.log(np.maximum(counts / np.maximum(expected, 1e-9), 1.0))))
    matrix = np.hstack(parts)
    # project the rows on the main eigenvectors of ``matrix' matrix``, scaled, and normalise their length
    values, axes = np.linalg.eigh((matrix.T @ matrix).astype(np.float64))
    top = slice(len(values) - dimensions, None)
    vectors = matrix @ (axes[:, top] / np.maximum(values[top], 1e-9) ** 0.25).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return (_spherical_means(vectors, n_classes - 1, np.random.default_rng(seed)) + 1).astype(np.uint8)


def _cooccurrences(ids: NDArray[np.int64], offset: int, *, n_rows: int, n_columns: int) -> Matrix:
    """Count pairs of words at a distance of `offset`; words beyond `n_columns` share the last column."""
    words, neighbours = (ids[-offset:], ids[:offset]) if offset < 0 else (ids[:-offset], ids[offset:])
    has_row = words < n_rows
    cells = words[has_row] * (n_columns + 1) + np.minimum(neighbours[has_row], n_columns)
    counts = np.bincount(cells, minlength=n_rows * (n_columns + 1))
    return counts.reshape(n_rows, n_columns + 1).astype(np.float32)


_ROUNDS = 25
"""Number of iterations of k-means."""


def _spherical_means(vectors: Matrix, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the cluster of each row, 0 to ``k - 1``, by spherical k-means, seeded with frequent words."""
    centres = vectors[np.sort(rng.choice(min(len(vectors), 10 * k), size=k, replace=False))]
    nearest = np.zeros(len(vectors), dtype=np.int64)
    for _ in range(_ROUNDS):
        nearest = (vectors @ centres.T).argmax(axis=1).astype(np.int64)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, vectors)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(norms > 0, sums / np.maximum(norms, 1e-9), centres)
    return nearest


_STRANDED = frozenset(("obl", "nmod", "conj", "acl:relcl", "root", "orphan", "obl:npmod", "nmod:npmod"))
_SUBORDINATORS = frozenset(("as", "until", "for", "except"))
_FINITE = frozenset(("VBD", "VBP", "VBZ", "MD"))


@dataclass(frozen=True, slots=True)
class TreebankWord:
    """One word of a CoNLL-U file."""

    form: str
    upos: str
    xpos: str
    head: int
    relation: str


@dataclass(frozen=True, slots=True)
class LabelledPrepositions:
    """One document: its text, and the occurrences of the 34 words."""

    text: str  # the sentences of the treebank, with a blank line between paragraphs
    # for the character span of each of the 34 words: True if it is used as a preposition
    spans: dict[tuple[int, int], bool]


def is_preposition(sentence: list[TreebankWord], i: int) -> bool:
    """Return True if word `i` of a sentence, one of the 34, is used as a preposition."""
    word = sentence[i]
    form = word.form.lower()
    if word.xpos != "IN" or word.upos not in ("ADP", "SCONJ"):
        return False
    if word.relation == "fixed":
        # the end of a fixed expression that works as a preposition ("because of")
        if any(other.head == word.head and other.relation == "fixed" for other in sentence[i + 1 :]):
            return False
        first = sentence[word.head - 1].relation
        return first == "case" or (first == "mark" and _precedes_gerund(sentence, i))
    rest = [other for other in sentence[i + 1 :] if other.head == i + 1 and other.relation == "fixed"]
    if rest:
        return rest[0].upos in ("NOUN", "ADV", "ADJ") and rest[0].form.lower() != "well"
    if word.relation == "case":
        is_between = 0 < i < len(sentence) - 1 and sentence[i - 1].upos == sentence[i + 1].upos == "NUM"
        is_range = is_between and all(other.form.lower() != "from" for other in sentence[max(0, i - 5) : i])
        return not (form == "to" and is_range)  # a range is between numbers, without "from": "5 to 10"
    if word.relation == "mark":
        return _governs_clause(sentence, i)
    return word.upos == "ADP" and word.relation in _STRANDED


def _governs_clause(sentence: list[TreebankWord], i: int) -> bool:
    """Return True if word `i`, which marks a clause, is used as a preposition ("by going")."""
    form = sentence[i].form.lower()
    if form in _SUBORDINATORS:
        return _precedes_gerund(sentence, i)
    following = sentence[i + 1].form.lower() if i + 1 < len(sentence) else ""
    if form == "in" and following == "that":
        return False
    if form in ("with", "without"):
        head = sentence[sentence[i].head - 1]
        return not (head.xpos in _FINITE and sentence[i + 1].xpos not in ("WP", "WRB", "WDT"))
    return True


def _precedes_gerund(sentence: list[TreebankWord], i: int) -> bool:
    """Return True if a gerund without a subject follows `i`, after at most three words such as adverbs."""
    for word in sentence[i + 1 : i + 5]:
        if word.xpos == "VBG":
            return True
        if word.upos in ("NOUN", "PRON", "PROPN", "VERB", "AUX", "DET", "PUNCT"):
            return False
    return False


def read_labelled(path: Path) -> Iterator[LabelledPrepositions]:
    """Yield the documents of a CoNLL-U file, compressed or not (errors: see `read_conllu`)."""
    text = ""
    spans: dict[tuple[int, int], bool] = {}
    for sentence in read_conllu(path):
        if sentence.begins_document:
            if text:
                yield LabelledPrepositions(text, spans)
            text, spans = "", {}
        if text:
            text += "\n\n" if sentence.begins_paragraph else " "
        words = [TreebankWord(row[1], row[3], row[4], int(row[6]), row[7]) for row in sentence.words]
        for token in sentence.tokens:
            # parts of "don't" are not labelled
            if token.columns[0].isdigit() and token.columns[1].lower() in PREPOSITIONS:
                span = len(text) + token.start, len(text) + token.end
                spans[span] = is_preposition(words, token.words[0])
        text += sentence.spelt.rstrip()
    if text:
        yield LabelledPrepositions(text, spans)


HASHES = hash_words(PREPOSITIONS)


@dataclass(frozen=True, slots=True, eq=False)
class PrepositionExamples:
    """Occurrences of the 34 words: their positions, and which are used as prepositions."""

    view: TokenView
    positions: NDArray[np.int64]
    truth: Bools

    def words(self) -> NDArray[np.int64]:
        """Return the index in `PREPOSITIONS` of each occurrence."""
        return preposition_indices(self.view.hashes[self.positions])


def preposition_indices(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the index of each word in `PREPOSITIONS`."""
    order = np.argsort(HASHES)
    return order[np.searchsorted(HASHES, hashes, sorter=order)].astype(np.int64)


def find_examples(paths: list[Path], tokenisation: Tokenisation) -> PrepositionExamples:
    """Return the occurrences in CoNLL-U files that are also tokens for `tokenisation`."""
    documents = [document for path in paths for document in read_labelled(path)]
    view = tokenisation([document.text for document in documents])
    positions = np.flatnonzero(np.isin(view.hashes, HASHES))
    spans = zip(
        view.document_indices(positions).tolist(),
        view.starts[positions].tolist(),
        view.ends[positions].tolist(),
        strict=True,
    )
    truth = [documents[number].spans.get((start, end)) for number, start, end in spans]
    is_labelled = np.array([value is not None for value in truth])
    return PrepositionExamples(
        view, positions[is_labelled], np.array([value for value in truth if value is not None])
    )


def read_ewt_examples(data: Path, part: str, tokenisation: Tokenisation) -> PrepositionExamples:
    """Return the occurrences in one part of UD English EWT: train, dev or test."""
    return find_examples(sorted((data / "labelled" / "ewt").glob(f"*.{part}.conllu*")), tokenisation)


def swap_prepositions(words: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.uint64]:
    """Replace each preposition by a random other one: synthetic mistakes, which the task must decide."""
    step = rng.integers(1, len(HASHES), size=len(words))
    return HASHES[(preposition_indices(words) + step) % len(HASHES)]


THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
_HEAD = f"{'':<28}{'n':>6}{'is':>7}{'passed':>8}{'precision':>11}{'recall':>8}{'F1':>7}{'accuracy':>10}"


def report_row(name: str, passed: Bools, truth: Bools) -> str:
    """Return one line of the report: the share of prepositions, and their agreement with `passed`, in %."""
    true_positives = int((passed & truth).sum())
    precision = true_positives / passed.sum() if passed.any() else np.nan
    recall = true_positives / truth.sum() if truth.any() else np.nan
    f1 = 2 * true_positives / max(1, passed.sum() + truth.sum())
    accuracy = float((passed == truth).mean())
    figures = f"{100 * truth.mean():7.1f}{100 * passed.mean():8.1f}{100 * precision:11.1f}{100 * recall:8.1f}"
    return f"{name:<28}{len(truth):6d}{figures}{100 * f1:7.1f}{100 * accuracy:10.1f}"


def usage_report(usage: PrepositionUsage, train: PrepositionExamples, test: PrepositionExamples) -> str:
    """Return the report: all words, a curve over thresholds, mistakes that pass, and each word."""
    probability = usage.probability(test.view, test.positions)
    passed = probability >= usage.header["threshold"]
    lines = [
        "All 34 words",
        _HEAD,
        report_row("always", np.ones_like(passed), test.truth),
        report_row("rules", by_rules(train, test), test.truth),
        report_row("usage, 0.5", probability >= 0.5, test.truth),
        report_row(f"usage, {usage.header['threshold']}", passed, test.truth),
        "",
        "By threshold",
        _HEAD,
        *(report_row(f"{threshold}", probability >= threshold, test.truth) for threshold in THRESHOLDS),
        "",
        f"Prepositions swapped for another of the 34, let through: {100 * swapped_recall(usage, test):.1f} %",
        "",
        f"By word, {usage.header['threshold']}",
        _HEAD,
    ]
    words = test.words()
    for i, word in enumerate(PREPOSITIONS):
        of_word = words == i
        if of_word.any():
            lines.append(report_row(word, passed[of_word], test.truth[of_word]))
    return "\n".join(lines)


def by_rules(train: PrepositionExamples, test: PrepositionExamples) -> Bools:
    """Predict by simple rules: "to" is a preposition unless a known verb follows, other words by majority."""
    words, to = train.words(), PREPOSITIONS.index("to")
    shares = [train.truth[words == i].sum() / max(1, (words == i).sum()) for i in range(len(PREPOSITIONS))]
    after_to = train.view.hashes[train.positions[words == to] + 1]
    following, which = np.unique(after_to, return_inverse=True)
    verbs = following[np.bincount(which, weights=train.truth[words == to]) < 0.5 * np.bincount(which)]
    is_verb = np.isin(test.view.hashes[test.positions + 1], verbs)
    return np.where(test.words() == to, ~is_verb, np.array(shares)[test.words()] >= 0.5)


def swapped_recall(usage: PrepositionUsage, test: PrepositionExamples) -> float:
    """Return the share of prepositions that still pass after each was swapped for another one."""
    positions = test.positions[test.truth]
    swapped = swap_prepositions(test.view.hashes[positions], np.random.default_rng(0))
    passed = []
    for parity in (0, 1):  # every other occurrence at a time, so that few have swapped neighbours
        at = positions[parity::2]
        hashes = test.view.hashes.copy()
        hashes[at] = swapped[parity::2]
        passed.append(usage.is_preposition(replace(test.view, hashes=hashes), at))
    return float(np.concatenate(passed).mean())


RAW_CHARACTERS = 15_000_000
"""Maximum number of characters that are read from each domain's raw text: 20 million words in all."""
WORDS_WITH_CLASS = 20_000
SLOT_BITS = 17
BUCKET_BITS = 17
STRENGTH = 1.0
SWAPPED = 0.05
"""Weight of a swapped preposition in training, relative to an original occurrence."""
PRECISION = 0.97
"""Required share of prepositions among the words that pass, on the development part."""
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


def fit_weights(
    features: NDArray[np.uint64], truth: Bools, importance: Floats, *, bits: int, strength: float
) -> tuple[Floats, float]:
    """Return the weights and the bias of a logistic regression with an L2 penalty, fitted by L-BFGS.

    `features`, shape ``(n_features, n)``, are the buckets of each example; `truth` and `importance` are its
    label and its weight. The penalty is ``strength / 2 * |w|^2``.
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

    result = minimize(loss, np.zeros(len(used) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    weights = np.zeros(1 << bits)
    weights[used] = result.x[:-1]
    return weights, float(result.x[-1])


def train_usage(data: Path, tokenisation: Tokenisation) -> PrepositionUsage:
    """Return the classifier trained on ``data/labelled/ewt`` and ``data/english``."""
    samples = ("\n\n".join(sample_paragraphs(path, RAW_CHARACTERS)) for path in find_files(data, COUNTED))
    raw = np.concatenate([tokenisation([sample]).hashes for sample in samples])
    words, _ = frequent_words(raw, WORDS_WITH_CLASS)
    classes = word_classes(raw, words, n_classes=N_CLASSES, n_near=500, n_far=200, dimensions=100, seed=0)
    slots = build_class_table(words, classes, bits=SLOT_BITS)

    part = read_ewt_examples(data, "train", tokenisation)
    prepositions = neighbour_words(part.view.hashes, part.positions[part.truth])
    swapped_words = swap_prepositions(prepositions["C"], np.random.default_rng(0))
    swapped = feature_buckets({**prepositions, "C": swapped_words}, slots, bits=BUCKET_BITS)
    original = feature_buckets(neighbour_words(part.view.hashes, part.positions), slots, bits=BUCKET_BITS)
    weights, bias = fit_weights(
        np.concatenate((original, swapped), axis=1),
        np.concatenate((part.truth, np.ones(swapped.shape[1], dtype=bool))),
        np.repeat((1.0, SWAPPED), (len(part.truth), swapped.shape[1])),
        bits=BUCKET_BITS,
        strength=STRENGTH,
    )
    scale = float(np.abs(weights).max()) / 127
    header = {
        "what": "whether one of 34 words is used as a preposition (disambig_variance_svm.prepositions.usage)",
        "words": PREPOSITIONS,
        "tokenisation": tokenisation.name,
        "scale": scale,
        "bias": bias,
        "threshold": 0.5,
        "raw_words": len(raw),
        "sources": SOURCES,
        "licence": LICENCE,
    }
    usage = PrepositionUsage(np.rint(weights / scale).astype(np.int8), slots, header)
    dev = read_ewt_examples(data, "dev", tokenisation)
    header["threshold"] = threshold_for(usage.probability(dev.view, dev.positions), dev.truth, PRECISION)
    return usage


def threshold_for(probability: Floats, truth: Bools, precision: float) -> float:
    """Return the lowest threshold with at least this precision, rounded up to three places."""
    order = np.argsort(-probability, kind="stable")
    shares = np.cumsum(truth[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(shares >= precision)
    return float(np.ceil(probability[order[enough[-1]]] * 1000) / 1000) if len(enough) else 1.0


def main(data: Path, output: Path) -> str:
    """Train, write the weights and return the report."""
    tokenisation = Words()
    usage = train_usage(data, tokenisation)
    usage.save(output)
    train, test = (read_ewt_examples(data, part, tokenisation) for part in ("train", "test"))
    return usage_report(usage, train, test)


if __name__ == "__main__":
    run_script(__doc__, main, output=WEIGHTS)
