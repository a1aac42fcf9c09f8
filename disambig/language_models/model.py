"""A language model: its words, its n-grams by length, and the arrays that compiled functions ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from disambig.language_models.arrays import NgramArrays, arrays_of
from disambig.language_models.levels import Level
from disambig.language_models.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """An n-gram model with back-off.

    P(w | h) is that of the n-gram ``h w`` where it is there; else the back-off weight of ``h`` times
    P(w | h'), where h' is ``h`` without its first word.

    Attributes
    ----------
    vocabulary : Vocabulary
        What it can predict, but for the start of a sentence.
    levels : sequence of Level
        N-grams of one word, of two, and so on.
    header : mapping
        How it was estimated: ``smoothing``, ``tokens``, ``discounts`` by length, ``fallbacks`` (the lengths
        whose counts allowed no discounts as intended), ``min_counts``; and what its maker adds.
    """

    vocabulary: Vocabulary
    levels: Sequence[Level]
    header: Mapping[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> int:
        """The length of its longest n-grams."""
        return len(self.levels)

    def __len__(self) -> int:
        return sum(map(len, self.levels))

    @cached_property
    def arrays(self) -> NgramArrays:
        """What the functions of `lookup_kernels` ask; made when first asked for."""
        return arrays_of([(self.levels, 0.0)], len(self.vocabulary))

    def log_probability(self, word: str, context: Sequence[str] = ()) -> float:
        """Return ln P(word | context), for people; ``</s>`` is the end of a sentence, ``<s>`` its start.

        Slow: for many words there are `score_sentences` and the functions of `lookup_kernels`.
        """
        return log_probability(self.arrays, self.vocabulary, word, context)


def log_probability(
    arrays: NgramArrays, vocabulary: Vocabulary, word: str, context: Sequence[str] = ()
) -> float:
    """Return ln P(word | context) by what `arrays` hold; see `LanguageModel.log_probability`."""
    from disambig.language_models import lookup_kernels
    from disambig.language_models.vocabulary import SPECIAL

    ends = {word: at for at, word in enumerate(SPECIAL)}
    ids = [ends[each] if each in ends else int(vocabulary.ids_of([each])[0]) for each in (*context, word)]
    history = np.array(ids[:-1], np.int32)
    return float(lookup_kernels.word_log_probability(arrays, history, len(history), ids[-1]))
