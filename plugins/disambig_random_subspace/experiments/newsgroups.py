"""20 Newsgroups: archive, hierarchy of the paper's figure 4, problem instances, and TF-IDF rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.api import Columns, CrossedRows, UserError
from disambig.api.formats import corpus_files

ARCHIVE = "labelled/20newsgroups/20news-bydate.tar.xz"
PARTS = {"20news-bydate-train": "train", "20news-bydate-test": "test"}
HIERARCHY = {
    "comp": (
        ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
        ("comp.graphics", "comp.os.ms-windows.misc", "comp.windows.x"),
    ),
    "rec": (("rec.sport.baseball", "rec.sport.hockey"), ("rec.autos", "rec.motorcycles")),
    "sci": (("sci.crypt", "sci.electronics", "sci.med", "sci.space"),),
    "talk": (
        ("talk.politics.guns", "talk.politics.mideast", "talk.politics.misc"),
        ("alt.atheism", "soc.religion.christian", "talk.religion.misc"),
    ),
    "misc": (("misc.forsale",),),
}
"""Top-level categories, their sub-domains ((a) to (h) in the paper), and their groups."""

TOP_OF = {group: top for top, subs in HIERARCHY.items() for groups in subs for group in groups}
SUB_OF = {group: (top, n) for top, subs in HIERARCHY.items() for n, sub in enumerate(subs) for group in sub}

Documents = dict[tuple[str, str], list[str]]


def read_newsgroups(path: Path) -> Documents:
    """Return the documents of each part (``"train"``, ``"test"``) and group, sorted by file name.

    Files outside ``20news-bydate-PART/GROUP/`` are ignored.

    Raises D731 if a part lacks a group; the errors of `corpus_files`.
    """
    by_group: dict[tuple[str, str], list[tuple[str, str]]] = {
        (part, group): [] for part in PARTS.values() for group in TOP_OF
    }
    for file in corpus_files(str(path), lambda name: True):
        folder, _, rest = file.name.removeprefix("./").partition("/")
        group, _, number = rest.partition("/")
        key = PARTS.get(folder, ""), group
        if key in by_group:
            by_group[key].append((number, file.data.decode("latin-1")))
    missing = [f"{group} ({part})" for (part, group), documents in by_group.items() if not documents]
    if missing:
        raise UserError("D731", path=path, first=missing[0], n=len(missing))
    return {key: [text for _, text in sorted(documents)] for key, documents in by_group.items()}


Pair = tuple[str, str]


class ProblemInstance(NamedTuple):
    """The pair of groups to train on and the pair to test on; both in the order of their categories."""

    train: Pair
    test: Pair


def _all_instances() -> tuple[ProblemInstance, ...]:
    groups = {top: [group for group, category in TOP_OF.items() if category == top] for top in HIERARCHY}
    pairs = (product(groups[first], groups[second]) for first, second in combinations(HIERARCHY, 2))
    return tuple(ProblemInstance(train, test) for of_two in pairs for train, test in permutations(of_two, 2))


def _changes(instance: ProblemInstance, category: Callable[[str], object] = lambda group: group) -> int:
    """Return how many of the two groups change, or move to another sub-domain."""
    return sum(category(old) != category(new) for old, new in zip(*instance, strict=True))


DIFFERENT = _all_instances()
"""Instances with any other test pair of the problem."""
SHIFTED = tuple(instance for instance in DIFFERENT if _changes(instance) == 2)
"""Instances in which both groups change."""
ONE_SIDE = tuple(
    instance for instance in DIFFERENT if _changes(instance) == _changes(instance, SUB_OF.__getitem__) == 1
)
"""Instances in which one group changes to another sub-domain and the other stays."""


def sample_instances(instances: Sequence[ProblemInstance], n: int, seed: Sequence[int]) -> list[int]:
    """Return the sorted indices of `n` random instances; of all instances if there are no more."""
    if len(instances) <= n:
        return list(range(len(instances)))
    return sorted(np.random.default_rng(seed).permutation(len(instances))[:n].tolist())


def pair_instances(instances: Sequence[ProblemInstance], every: int) -> list[ProblemInstance]:
    """Return the instances for each `every`-th training pair."""
    kept = set(list(dict.fromkeys(instance.train for instance in instances))[::every])
    return [instance for instance in instances if instance.train in kept]


@dataclass(frozen=True, slots=True, eq=False)
class CountedDocuments:
    """Token counts of all documents."""

    counts: Any  # shape (n_documents, n_words)
    rows: dict[tuple[str, str], NDArray[np.int64]]  # rows for each part and group

    def training_pair(self, pair: Pair) -> TrainingPair:
        """Return the training problem of a pair of groups, from the words of its training documents only."""
        from sklearn.feature_extraction.text import TfidfTransformer

        documents = [self.rows["train", group] for group in pair]
        counts = self.counts[np.concatenate(documents)]
        words = np.unique(counts.indices)
        weigher = TfidfTransformer().fit(counts[:, words])
        return TrainingPair(self, pair, words, weigher)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPair:
    """A training pair of groups with its vocabulary and its idf weights."""

    counted: CountedDocuments
    pair: Pair
    words: NDArray[np.int64]  # columns of the counts that occur in the training documents
    weigher: Any

    def batch(self, part: str, groups: Sequence[str]) -> CrossedRows:
        """Return the documents of some groups of the pair's categories, one group after the other.

        Candidate 0 is right for groups of the first category, candidate 1 for those of the second.
        """
        from scipy import sparse

        rows = [self.counted.rows[part, group] for group in groups]
        weighed = self.weigher.transform(self.counted.counts[np.concatenate(rows)][:, self.words])
        first = TOP_OF[self.pair[0]]
        side = np.repeat(
            [int(TOP_OF[group] != first) for group in groups], [len(members) for members in rows]
        )
        columns = Columns.of_group("words", len(self.words), candidates=2)
        return CrossedRows(sparse.csr_array(weighed), np.eye(2, dtype=np.float32)[1 - side], columns)

    def removed(self, group_rows: NDArray[np.int64]) -> float:
        """Return the share of the pair's words that do not occur in any of these documents."""
        seen = np.unique(self.counted.counts[group_rows].indices)
        return 1.0 - float(np.isin(self.words, seen, assume_unique=True).mean())


def read_corpus(data: Path) -> CountedDocuments:
    """Read and count 20 Newsgroups.

    Raises the errors of `read_newsgroups`; D725 for groups whose documents have no words.
    """
    documents = read_newsgroups(data / ARCHIVE)
    counted = count_words(documents)
    empty = [
        f"{group} ({part})" for (part, group), rows in counted.rows.items() if not counted.counts[rows].nnz
    ]
    if empty:
        raise UserError("D725", path=data / ARCHIVE, problem=f"no word in the documents of {empty[0]}")
    return counted


def count_words(documents: Documents) -> CountedDocuments:
    """Count the tokens of all documents."""
    from scipy import sparse
    from sklearn.feature_extraction.text import CountVectorizer

    vectoriser = CountVectorizer(dtype=np.float64)
    texts = [text for of_group in documents.values() for text in of_group]
    split = vectoriser.build_analyzer()
    counts = vectoriser.fit_transform(texts) if any(map(split, texts)) else np.zeros((len(texts), 1))
    ends = np.cumsum([len(of_group) for of_group in documents.values()])
    rows = {
        key: np.arange(end - len(of_group), end)
        for (key, of_group), end in zip(documents.items(), ends, strict=True)
    }
    return CountedDocuments(sparse.csr_array(counts), rows)
