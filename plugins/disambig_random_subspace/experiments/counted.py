"""Documents as TF-IDF rows: counted once, weighed anew for each pair of groups to learn from.

What scikit-learn's ``TfidfVectorizer`` with its defaults gives if it is fitted on the training documents
of the pair: lower-cased tokens of two letters or digits at least, smoothed idf, rows of length one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Columns, CrossedRows, UserError

from .instances import Pair
from .newsgroups import ARCHIVE, TOP_OF, Documents, read


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Token counts of all documents.

    Attributes
    ----------
    counts : scipy.sparse.csr_array, shape (n_documents, n_words)
    rows : dict
        Rows of each part and group.
    """

    counts: Any
    rows: dict[tuple[str, str], NDArray[np.int64]]

    def lesson(self, pair: Pair) -> Lesson:
        """Return what is learned from a pair of groups, by the words of its training documents alone."""
        from sklearn.feature_extraction.text import TfidfTransformer

        both = [self.rows["train", group] for group in pair]
        counts = self.counts[np.concatenate(both)]
        words = np.unique(counts.indices)
        weigher = TfidfTransformer().fit(counts[:, words])
        return Lesson(self, pair, words, weigher)


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A pair of groups, its vocabulary and its idf weights.

    Attributes
    ----------
    words : array of int64
        Columns of the counts that the training documents have.
    """

    counted: Counted
    pair: Pair
    words: NDArray[np.int64]
    weigher: Any

    def batch(self, part: str, groups: Sequence[str]) -> CrossedRows:
        """Return the documents of some groups of the pair's categories, group by group.

        Candidate 0 is right for groups of the first category, candidate 1 for those of the second.
        """
        from scipy import sparse

        rows = [self.counted.rows[part, group] for group in groups]
        weighed = self.weigher.transform(self.counted.counts[np.concatenate(rows)][:, self.words])
        first = TOP_OF[self.pair[0]]
        side = np.repeat([int(TOP_OF[group] != first) for group in groups], [len(each) for each in rows])
        n = 2 * len(self.words)
        columns = Columns(
            np.repeat(np.arange(2, dtype=np.int32), n // 2), np.zeros(n, dtype=np.int32), ("words",)
        )
        return CrossedRows(sparse.csr_array(weighed), np.eye(2, dtype=np.float32)[1 - side], columns)

    def removed(self, group_rows: NDArray[np.int64]) -> float:
        """Return the share of its words that documents lack altogether: dimensions that the shift removes."""
        seen = np.unique(self.counted.counts[group_rows].indices)
        return 1.0 - float(np.isin(self.words, seen, assume_unique=True).mean())


def corpus(data: Path) -> Counted:
    """Read and count 20 Newsgroups.

    Raises
    ------
    UserError
        Those of `read`; D725 for groups whose documents have no word.
    """
    documents = read(data / ARCHIVE)
    found = count(documents)
    empty = [f"{group} ({part})" for (part, group), rows in found.rows.items() if not found.counts[rows].nnz]
    if empty:
        raise UserError("D725", path=data / ARCHIVE, problem=f"no word in the documents of {empty[0]}")
    return found


def count(documents: Documents) -> Counted:
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
    return Counted(sparse.csr_array(counts), rows)
