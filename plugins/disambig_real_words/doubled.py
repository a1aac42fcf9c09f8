"""Task *doubled*: a word that stands there twice, and function words that may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from disambig.api import Instances, TokenView
from disambig.api.features import Places, scores_of, states_at
from disambig.api.tasks import CandidateLists, word_tokens

from .between import ZERO, listed, missing
from .in_context import InContext
from .places import EVERY_PLACE, joined
from .relations import is_word, plain
from .running_text import apart_from_text, in_running_text

MISSING = (
    "to be is are was were been has have had do does not that and or it you we they can will would should if "
    "which when this so of in for with as on at by from"
).split()
NO_NAMES = 500
"""So many of the most frequent words are no names with a capital, as "The The" is none."""


@dataclass(frozen=True, kw_only=True)
class Doubled(InContext):
    """Decide whether a word belongs where it stands once more, and whether a function word is missing.

    Parameters
    ----------
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that brings one.
    missing : sequence of str
        Words that may be missing; none at all decides doubled words alone.
    most_twice : float
        The log-odds of a word that stands there twice against no word up to which it is decided: above, as
        in "had had" or "what it is is this", it may well be meant. Infinity decides all, without the model,
        but those with a capital, which are names unless the model knows them as frequent words.
    least_missing : float
        The log-odds of one of them against no word from which on an empty place is decided.
    name, language : str
        Of the task: the name is the default key of its annotations.

    Raises
    ------
    UserError
        On first use D996, where `missing` is no list of words.
    """

    missing: tuple[str, ...] | list[str] = tuple(MISSING)
    most_twice: float = -4.0
    least_missing: float = 0.0
    name: str = "doubled"
    concerns: ClassVar[str] = "repetition"

    def instances(self, view: TokenView) -> Instances:
        """Return the words that are the one before once more, and places where a word may be missing."""
        return self._places(view, self.least_missing)

    def examples(self, view: TokenView) -> Instances:
        """Return the words that stand there once more, and all places where a word may be missing."""
        return self._places(view, EVERY_PLACE)

    def _places(self, view: TokenView, least: float) -> Instances:
        parts = [self._doubled(view, least)]
        if self.missing:
            words = listed("missing", self.missing)
            parts.append(missing(self.model, view, words, least=least))
        return joined(parts)

    def _doubled(self, view: TokenView, least: float) -> Instances:
        """Return the words that stand there twice, but those that fit beside each other."""
        found = self._twice(view)
        if least == EVERY_PLACE or self.most_twice == np.inf or not len(found):
            return found
        model, row = self.model, np.arange(len(found))
        states = states_at(model, view, Places(found.positions, found.positions + 1))
        words = model.vocabulary.of_hashes(view.hashes[found.positions])
        nothing = np.full(len(found), model.nothing, np.int32)
        fits = scores_of(model, states, row, words) - scores_of(model, states, row, nothing)
        return found.take(np.flatnonzero(~(fits > self.most_twice)))  # an unknown word has no score

    def _twice(self, view: TokenView) -> Instances:
        """Return the words that follow the same word, whatever the context says; of names none."""
        words = word_tokens(view)
        at = np.flatnonzero(words[1:] & words[:-1] & (view.hashes[1:] == view.hashes[:-1])) + 1
        ones = np.ones(len(at), np.int32)
        both = at - 1, ones + 1  # the first of the two may be a part of a larger word, too
        at = at[~apart_from_text(view, *both) & in_running_text(view, *both)]
        documents = view.document_of(at).tolist()
        spans = zip(documents, view.starts[at].tolist(), view.ends[at].tolist(), strict=True)
        texts = [view.texts[document][start:end] for document, start, end in spans]
        names = [not text.islower() for text in texts]
        if any(names) and self.most_twice < np.inf:
            rank = self.model.vocabulary.of_hashes(view.hashes[at])
            names = (np.array(names) & ((rank < 0) | (rank >= NO_NAMES))).tolist()
        kept = [i for i, text in enumerate(texts) if is_word(plain(text)) and not names[i]]
        own = CandidateLists.of([(plain(texts[i]), ZERO) for i in kept])
        zeros = np.zeros(len(kept), np.int32)
        return Instances(at[kept], zeros + 1, zeros, zeros.copy(), own)
