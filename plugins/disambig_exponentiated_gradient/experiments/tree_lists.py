"""Shared by the experiments on lists of trees: the lists, their features, and the rerankers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api import CandidateBatch, FeatureExtractor, Group, Instances, SparseRows, Words, resolve
from disambig.api.arrays import Floats, Ints, offsets_from_sizes
from disambig.api.batches import join, segments
from disambig.api.decoding import averaged_perceptron, structured_examples
from disambig.api.experiments import Progress, cached
from disambig.api.features import transform_checked
from disambig.api.formats import list_instances
from disambig.api.tasks import CandidateLists

from ..grammar.treebank_grammar import TreebankGrammar
from ..learners.eg import EG
from ..reranking.lists import FOLDS, K, TreeLists, candidate_trees, jackknife_lists, read_lists, write_lists
from ..treebank import reading as corpora
from ..treebank.reading import CRAFT, MAX_WORDS, PENN, spread_evenly
from ..treebank.tree import Tree

FEATURES = {
    "base": {"@disambig_extractors": "disambig.SourceFeatures.v1", "rank": False, "features": False},
    "trees": {"@disambig_extractors": "exponentiated_gradient.TreeFeatures.v1", "least": 5},
}
"""Extractors as in a config: the log probability, scaled by the second candidate's, and tree features."""
_GROUP = Group("tree", ())
_AT_ONCE = 500
"""Number of lists whose features are in memory at a time, unless a learner needs all."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeListFeatures:
    """Features that differ between candidates."""

    extractors: list[FeatureExtractor]
    train: CandidateBatch  # the lists on which the features were fitted

    @classmethod
    def from_lists(cls, lists: CandidateLists) -> TreeListFeatures:
        """Fit features on training lists."""
        instances, view = list_instances(lists), Words()([])
        unfitted = resolve({"extractors": FEATURES})["extractors"].values()
        extractors = [extractor.fit(view, instances, [_GROUP]) for extractor in unfitted]
        return cls(extractors, _batch(extractors, instances))

    def parts(self, lists: CandidateLists) -> Iterator[CandidateBatch]:
        """Yield the features of other lists, some lists at a time."""
        for first in range(0, len(lists), _AT_ONCE):
            yield _batch(self.extractors, list_instances(lists.take(slice(first, first + _AT_ONCE))))

    def scores(self, lists: CandidateLists, weights: Sequence[Floats]) -> list[Floats]:
        """Return the scores of all candidates of other lists for each of several weight vectors."""
        scores_by_batch = [[batch.scores(vector) for vector in weights] for batch in self.parts(lists)]
        return [np.concatenate(columns) for columns in zip(*scores_by_batch, strict=True)]


def chosen_trees(lists: TreeLists, scores: Floats) -> Ints:
    """Return the row of the candidate with the best score in each list; the first of equals."""
    return segments.best_rows(scores, lists.lists.offsets)


def choice_f1(lists: TreeLists, scores: Floats) -> float:
    """Return the bracket F1 of the best candidates by some scores, in %."""
    return 100 * lists.counts.take(chosen_trees(lists, scores)).f1


def _batch(extractors: Sequence[FeatureExtractor], instances: Instances) -> CandidateBatch:
    view: Any = Words()([])
    return informative_features(
        join([transform_checked(extractor, view, instances, _GROUP) for extractor in extractors]).batch
    )


def informative_features(batch: Any) -> CandidateBatch:
    """Return lists of sparse rows without features that all candidates of a list share: they cancel out."""
    from scipy.sparse import csr_array

    rows, width = csr_array(batch.rows), batch.rows.shape[1]
    kept = np.zeros(len(rows.data), np.bool_)
    bounds = rows.indptr[batch.offsets].tolist()
    for start, end, size in zip(bounds[:-1], bounds[1:], np.diff(batch.offsets).tolist(), strict=True):
        columns, values = rows.indices[start:end], rows.data[start:end]
        n = np.bincount(columns, minlength=width)
        total, squares = (np.bincount(columns, data, minlength=width) for data in (values, values**2))
        alike = (n == size) & (size * squares == total**2)  # counts are integers, so this is exact
        kept[start:end] = ~alike[columns]
    starts = offsets_from_sizes(kept)[rows.indptr]
    fewer = csr_array((rows.data[kept], rows.indices[kept], starts), rows.shape)
    return SparseRows(fewer, batch.offsets, batch.cost, batch.columns)


PCFG, PERCEPTRON, HINGE, COST, LOG, ORACLE = (
    "PCFG",
    "averaged perceptron",
    "EG, hinge",
    "EG, cost-sensitive",
    "EG, log-linear",
    "oracle",
)
LEARNED = (PERCEPTRON, HINGE, COST, LOG)
PASSES = 10
"""Maximum number of passes of the perceptron."""
DEV = 0.2
"""Share of the lists, the last ones, for tuning; the final training uses all."""
_LOSSES = {HINGE: "hinge", COST: "cost", LOG: "log"}


def split_lists(batch: CandidateBatch) -> tuple[CandidateBatch, CandidateBatch]:
    """Return the lists for training while settings are tuned, and those for tuning."""
    n = len(batch.offsets) - 1
    first = n - max(1, int(DEV * n))
    return batch.take(np.arange(first)), batch.take(np.arange(first, n))


def train_reranker(name: str, batch: CandidateBatch) -> tuple[Floats, dict[str, Any]]:
    """Return the weights of a reranker, and its setting, tuning results and training time as plain values.

    C or the number of passes has the lowest mean cost of winners on the development part.
    """
    started = time.perf_counter()
    learn, dev = split_lists(batch)
    if name == PERCEPTRON:
        costs: list[float] = []

        def watch(weights: Floats) -> None:
            at = segments.best_rows(dev.scores(weights), dev.offsets)
            costs.append(float(dev.cost[at].mean(dtype=np.float64)))

        averaged_perceptron(structured_examples(learn, None), passes=PASSES, seed=0, watch=watch)
        passes = int(np.argmin(costs)) + 1
        weights, mistakes = averaged_perceptron(structured_examples(batch, None), passes=passes, seed=0)
        details: dict[str, Any] = {
            "passes": passes,
            "mistakes of the last pass": mistakes,
            "mean cost on development lists by pass": [round(cost, 4) for cost in costs],
        }
    else:
        loss = _LOSSES[name]
        tried = EG(loss=loss, updates="online").fit(learn, dev=dev).report
        fitted = EG(loss=loss, updates="online", C=tried["C"]).fit(batch)
        weights = fitted.scorer.weights  # type: ignore[attr-defined]
        details = {key: fitted.report[key] for key in ("C", "epochs", "gap")}
        details["mean cost on development lists by C"] = tried.get("dev_cost", {})
    return weights, {**details, "seconds": round(time.perf_counter() - started, 1)}


LAYOUT = 2
"""Version of the cached lists; change it if they are made differently, so that older ones are not used."""
CRAFT_TREES, CRAFT_LISTS, CRAFT_TEST = 8_000, 1_500, 1_500
"""Numbers of CRAFT's sentences, spread evenly over its articles: for the grammar; of these with a training
list; for testing."""
QUICK_TRAIN, QUICK_TEST, QUICK_K, QUICK_FOLDS = 300, 60, 20, 3


@dataclass(frozen=True, slots=True)
class TreebankSource:
    """A treebank and its split."""

    name: str  # name in tables
    file: str  # file name in the data directory
    folds: int = FOLDS  # number of folds for jack-knifing
    # sections of the Wall Street Journal; empty for CRAFT, which is split by article
    train: str = ""
    test: str = ""
    needs: ClassVar[tuple[str, ...]] = (PENN, CRAFT)

    def split(self, data: Path) -> tuple[list[Tree], list[Tree]]:
        """Return the trees for training and testing; the development part is used for training, too."""
        if self.file == CRAFT:
            trees = corpora.craft_split(data)
            return spread_evenly((*trees.train, *trees.dev), CRAFT_TREES), list(trees.test)
        trees = corpora.penn_split(data, self.train, self.test)
        return [*trees.train, *trees.dev], list(trees.test)


SOURCES = (
    TreebankSource("WSJ 00 to 01", PENN, train="00", test="01"),
    TreebankSource("WSJ 01 to 00", PENN, train="01", test="00"),
    TreebankSource("CRAFT", CRAFT, folds=5),
)


def load_lists(
    source: TreebankSource, data: Path, *, quick: bool, progress: Progress
) -> Mapping[str, TreeLists]:
    """Return the jack-knifed training lists (``"train"``) or the test lists (``"test"``).

    Sentences of up to 40 words have a list; with `quick` a few sentences of up to 20 words.
    """
    details = {"layout": LAYOUT, "train": source.train, "test": source.test, "quick": quick, "k": K}
    details |= {"longest": MAX_WORDS}
    details |= {"some": (CRAFT_TREES, CRAFT_LISTS, CRAFT_TEST, source.folds)} if source.file == CRAFT else {}
    lists = {}
    for part in ("train", "test"):

        def make(path: Path, part: str = part) -> None:
            write_lists(path, _make_lists(source, part, data, quick=quick, progress=progress))

        path = cached(
            "tree-lists", ".npz", sources=[data / source.file], details={**details, "part": part}, make=make
        )
        lists[part] = read_lists(path)
    return lists


def _make_lists(
    source: TreebankSource, part: str, data: Path, *, quick: bool, progress: Progress
) -> TreeLists:
    train, test = source.split(data)
    train = train[:QUICK_TRAIN] if quick else train
    longest = MAX_WORDS // 2 if quick else MAX_WORDS
    k, folds = (QUICK_K, QUICK_FOLDS) if quick else (K, source.folds)

    def report(done: int, total: int) -> None:
        progress(f"{source.name}: parsing {part}", done, total)

    maximum = CRAFT_LISTS if source.file == CRAFT else None
    if part == "train":
        return jackknife_lists(train, longest=longest, k=k, folds=folds, maximum=maximum, report=report)
    test = corpora.filter_by_length(test, longest)
    if quick:
        test = test[:QUICK_TEST]
    elif source.file == CRAFT:
        test = spread_evenly(test, CRAFT_TEST)
    return candidate_trees(TreebankGrammar.from_trees(train), test, k, report)
