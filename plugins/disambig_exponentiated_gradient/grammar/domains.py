"""Which of several treebanks the words of a sentence are typical of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from .lexicon import TagLexicon

_UNSEEN = 0.5
"""Count that is added to that of each word in each treebank."""


@dataclass(frozen=True, slots=True, eq=False)
class WordDomains:
    """Words with their log probability in each of several treebanks.

    Words that are in none of them do not count.

    Attributes
    ----------
    scores : dict
        For each word a tuple of ln P(word | treebank), one for each treebank.
    """

    scores: dict[str, tuple[float, ...]]

    @classmethod
    def from_lexicons(cls, lexicons: Sequence[TagLexicon]) -> WordDomains:
        """Return the domains of the treebanks that lexicons come from; one lexicon needs no words."""
        if len(lexicons) == 1:
            return cls({})
        counts = [{word: tags.total() for word, tags in lexicon.words.items()} for lexicon in lexicons]
        words = {word for frequencies in counts for word in frequencies}
        totals = [sum(frequencies.values()) + _UNSEEN * len(words) for frequencies in counts]
        return cls(
            {
                word: tuple(
                    log((frequencies.get(word, 0) + _UNSEEN) / total)
                    for frequencies, total in zip(counts, totals, strict=True)
                )
                for word in sorted(words)
            }
        )

    def choose(self, words: Sequence[str]) -> int:
        """Return the index of the treebank under which the words are most probable; of equals the first."""
        word_scores = [
            scores for i, word in enumerate(words) if (scores := self._scores(word, i == 0)) is not None
        ]
        sums = [sum(column) for column in zip(*word_scores, strict=True)]
        return max(range(len(sums)), key=lambda i: sums[i]) if sums else 0

    def _scores(self, word: str, is_first: bool) -> tuple[float, ...] | None:
        scores = self.scores.get(word)
        if scores is None and is_first:
            scores = self.scores.get(word[:1].lower() + word[1:])
        return scores
