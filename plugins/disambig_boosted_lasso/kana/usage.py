"""How often words are used in general, which text of a few kinds does not say: the `usage` of a lexicon.

Frequencies of other text rescale what the model says, P'(w | h) ~ P(w | h) (P_other(w) / P_text(w)) ** weight
(M. Federico, *Efficient language model adaptation through MDI estimation*, Eurospeech 1999, there with a
weight chosen so, too). Nothing is normalised: candidates of one line are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .lexicon import Lexicon, unseen_weights

LEAST = 1e-8
"""The frequency of words that the other text lacks, where its list ends."""


def usage_of(
    lexicon: Lexicon,
    frequencies: Mapping[str, float],
    *,
    weight: float = 0.2,
    most: float = 3.0,
    share: float = 0.5,
) -> NDArray[np.float32]:
    """Return ln of what the probability of each entry is multiplied by, shape (n,).

    Parameters
    ----------
    lexicon : Lexicon
    frequencies : mapping of str to float
        Shares of spellings in other text.
    weight : float
        The power of the ratio of frequencies.
    most : float
        What ln of the ratio is at most, and minus it at least.
    share : float
        Of the probability of words that the text lacks, what is divided as the other text has them; the rest
        is divided by part of speech and length.
    """
    told = np.array([frequencies.get(surface, 0.0) for surface in lexicon.surfaces])
    counts: Counter[str] = Counter()
    for surface, count in zip(lexicon.surfaces, lexicon.counts.tolist(), strict=True):
        counts[surface] += count
    own = np.array([counts[surface] for surface in lexicon.surfaces]) / max(counts.total(), 1)
    seen = own > 0
    ratios = np.log(np.maximum(told[seen], LEAST)) - np.log(own[seen])
    found = np.zeros(len(lexicon))
    found[seen] = weight * np.clip(np.where(told[seen] > 0, ratios, np.minimum(ratios, 0.0)), -most, most)
    never = lexicon.counts == 0
    its = np.where(seen, 0.0, told)[never]
    if share and its.sum() > 0:
        weights = unseen_weights(lexicon)[never]
        weights /= weights.sum()
        found[never] += np.log((1.0 - share) + share * its / its.sum() / weights)
    return found.astype(np.float32)
