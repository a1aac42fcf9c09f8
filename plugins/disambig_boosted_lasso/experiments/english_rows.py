"""What learners read of English lists: rows of features, and the extractors that make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from disambig.api import FeatureExtractor, Features, Group, Instances, SparseRows, resolve
from disambig.api.batches import convert, join
from disambig.api.tasks import CandidateLists, CandidateWords
from disambig.api.text import view_of_texts

Ints = NDArray[np.int64]
_GROUP = Group("lists", ())


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Lists with the words that each family of features counts.

    Attributes
    ----------
    lists : CandidateLists
        With costs.
    words : tuple of CandidateWords
        Units that are counted, of the same candidates: one entry a family.
    """

    lists: CandidateLists
    words: tuple[CandidateWords, ...]

    def take(self, index: NDArray[np.generic]) -> Seen:
        """Return some of the lists."""
        rows = candidates_of(self.lists.offsets, np.arange(len(self.lists))[index])
        return Seen(self.lists.take(index), tuple(words.take(rows) for words in self.words))

    @classmethod
    def joined(cls, parts: Sequence[Seen]) -> Seen:
        """Return the lists of all parts, one after the other."""
        families = zip(*(part.words for part in parts), strict=True)
        return cls(
            CandidateLists.joined([part.lists for part in parts]),
            tuple(CandidateWords.joined(family) for family in families),
        )


@dataclass(frozen=True, slots=True)
class Family:
    """N-grams of one kind of words.

    Attributes
    ----------
    number : int
        Which of `Seen.words` are counted.
    order : int
    least : int
        As for ``disambig.TextNgrams.v1``.
    """

    number: int
    order: int
    least: int


@dataclass(frozen=True, slots=True)
class Describer:
    """Extractors that learned what there is to know.

    Attributes
    ----------
    source : FeatureExtractor
    families : tuple of Family
    counting : tuple of FeatureExtractor
        One for each family.
    """

    source: FeatureExtractor
    families: tuple[Family, ...]
    counting: tuple[FeatureExtractor, ...]

    @classmethod
    def fit(cls, seen: Seen, families: Sequence[Family], *, rank: bool = True) -> Describer:
        """Return extractors that learned from lists of the training part."""
        config = {"source": {"@disambig_extractors": "disambig.SourceFeatures.v1", "least": 5, "rank": rank}}
        for i, family in enumerate(families):
            name = "disambig.TextNgrams.v1"
            config[f"n{i}"] = {
                "@disambig_extractors": name,
                "order": family.order,
                "least": family.least,
            }
        made = resolve(config)
        source = made.pop("source").fit(_NOWHERE, instances_of(seen.lists), (_GROUP,))
        counting = tuple(
            each.fit(_NOWHERE, _counted(seen, family), (_GROUP,))
            for each, family in zip(made.values(), families, strict=True)
        )
        return cls(source, tuple(families), counting)

    def rows(self, seen: Seen) -> SparseRows:
        """Return a row for each candidate."""
        parts: list[Features] = [self.source.transform(_NOWHERE, instances_of(seen.lists), _GROUP)]
        parts += [
            each.transform(_NOWHERE, _counted(seen, family), _GROUP)
            for each, family in zip(self.counting, self.families, strict=True)
        ]
        batch = convert(join(parts).batch, SparseRows)
        assert isinstance(batch, SparseRows)
        return batch


def instances_of(lists: CandidateLists) -> Instances:
    """Return lists with costs as instances outside any text; the candidate of least cost is observed."""
    n, nothing = len(lists), np.zeros(len(lists), np.int32)
    return Instances(np.arange(n, dtype=np.int64), nothing, nothing, first_cheapest(lists), lists)


def first_cheapest(lists: CandidateLists) -> NDArray[np.int32]:
    """Return the candidate of least cost in each list, the first of equals."""
    least = np.minimum.reduceat(lists.costs, lists.offsets[:-1])
    is_least = np.flatnonzero(lists.costs == np.repeat(least, np.diff(lists.offsets)))
    of_list = np.searchsorted(lists.offsets, is_least, side="right") - 1
    first = is_least[np.unique(of_list, return_index=True)[1]]
    return (first - lists.offsets[:-1]).astype(np.int32)


def candidates_of(offsets: Ints, lists: Ints) -> Ints:
    """Return the rows of the candidates of some lists, in the order of these."""
    sizes = np.diff(offsets)[lists]
    begins = np.cumsum(sizes) - sizes
    return np.repeat(offsets[lists] - begins, sizes) + np.arange(int(sizes.sum()))


def _counted(seen: Seen, family: Family) -> Instances:
    return instances_of(replace(seen.lists, words=seen.words[family.number], features=None, feature_names=()))


_NOWHERE = view_of_texts([], resolve({"t": {"@disambig_tokenisations": "disambig.words.v1"}})["t"])
