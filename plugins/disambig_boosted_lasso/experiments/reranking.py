"""Lists of conversions and what reranks them: features, learners, and what their choices cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disambig.api import CandidateBatch, FeatureExtractor, Group, Instances, Scorer, Words, resolve
from disambig.api.batches import join, segments
from disambig.api.measures import Outcomes, measure_named
from disambig.api.tasks import CandidateLists

from ..kana.converter import Converter
from ..kana.reranking import HEADWORDS
from ..kana.segmented import Segmented

K = 20
CER = measure_named("cer")
_GROUP = Group("conversion", ())
_BASE = {"@disambig_extractors": "disambig.SourceFeatures.v1", "rank": False, "features": False}
_WORDS = {"@disambig_extractors": "disambig.TextNgrams.v1", "unit": "words", "order": 2, "least": 2}


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """Sentences with their n-best lists.

    Attributes
    ----------
    lists : CandidateLists
        Costs are edits of characters.
    references : list of str
    """

    lists: CandidateLists
    references: list[str]

    @classmethod
    def of(cls, converter: Converter, text: Segmented, k: int = K) -> Listed:
        """Return the k best conversions of some text's readings."""
        references = text.column(0)
        return cls(converter.nbest(text.column(1), k, references=references), references)

    @property
    def characters(self) -> int:
        """Characters of all references."""
        return sum(map(len, self.references))

    def first(self) -> list[str]:
        """Return the first candidate of each list."""
        return [self.lists.texts[i] for i in self.lists.offsets[:-1].tolist()]

    def chosen(self, scorer: Scorer, batch: CandidateBatch) -> list[str]:
        """Return what a scorer chooses."""
        at = self.lists.offsets[:-1] + segments.argmax(scorer.scores(batch), self.lists.offsets)
        return [self.lists.texts[i] for i in at.tolist()]

    def outcomes(self, texts: Sequence[str], *, units: Sequence[int] | None = None) -> Outcomes:
        """Return some choices beside the references; each sentence is a unit, unless they are given."""
        lists = CandidateLists.of([[text] for text in texts])
        return Outcomes.of_lists(lists, references=self.references, units=units)

    def error_rate(self, texts: Sequence[str]) -> float:
        """Return the character error rate of some choices."""
        return CER.value(self.outcomes(texts))

    def oracle(self) -> float:
        """Return the error rate of the best candidates."""
        least = np.minimum.reduceat(self.lists.costs, self.lists.offsets[:-1])
        return float(least.sum(dtype=np.float64)) / max(self.characters, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """The features of lists, found on those to learn from.

    Attributes
    ----------
    extractors : list of FeatureExtractor
    train : CandidateBatch
    """

    extractors: list[FeatureExtractor]
    train: CandidateBatch

    @classmethod
    def of(cls, lists: CandidateLists, *, heads: bool = False) -> Described:
        """Return the base score and counts of word unigrams and bigrams; with `heads`, head words too."""
        config = {"extractors": {"base": _BASE, "words": _WORDS, **({"heads": HEADWORDS} if heads else {})}}
        instances, view = instances_of(lists), Words()([])
        made = resolve(config)["extractors"].values()
        extractors = [each.fit(view, instances, [_GROUP]) for each in made]
        return cls(extractors, _batch(extractors, instances))

    def batch(self, lists: CandidateLists) -> CandidateBatch:
        """Return the features of other lists."""
        return _batch(self.extractors, instances_of(lists))


def _batch(extractors: Sequence[FeatureExtractor], instances: Instances) -> CandidateBatch:
    view = Words()([])
    return join([each.transform(view, instances, _GROUP) for each in extractors]).batch


def instances_of(lists: CandidateLists) -> Instances:
    """Return lists as instances, the first candidate of least cost observed."""
    n = len(lists)
    observed = segments.argmax(-lists.costs.astype(np.float64), lists.offsets).astype(np.int32)
    nothing = np.zeros(n, np.int32)
    return Instances(np.arange(n, dtype=np.int64), nothing, nothing, observed, lists)


def learner(name: str, **settings: Any) -> Any:
    """Return a learner of this plugin by name."""
    return resolve({"learner": {"@disambig_learners": f"boosted_lasso.{name}.v1", **settings}})["learner"]
