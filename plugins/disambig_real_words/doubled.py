"""Task *doubled*: a word that stands there twice, and function words that may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from disambig.api import Decides, Group, Instances, TokenView
from disambig.api.features import Cloze, open_cloze
from disambig.api.tasks import CandidateLists, word_tokens

from .between import ZERO, listed, missing
from .places import joined, untouchable

MISSING = (
    "to be is are was were been has have had do does not that and or it you we they can will would should if "
    "which when this so of in for with as on at by from"
).split()


@dataclass(frozen=True, kw_only=True)
class Doubled:
    """Decide whether a word belongs where it stands once more, and whether a function word is missing.

    Parameters
    ----------
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that brings one.
    missing : sequence of str
        Words that may be missing.
    least_missing : float
        The log-odds of one of them against no word from which on an empty place is decided.
    name, language : str
        Of the task: the name is the default key of its annotations.
    """

    words: str | Path = "disambig_en"
    missing: tuple[str, ...] | list[str] = tuple(MISSING)
    least_missing: float = 0.0
    name: str = "doubled"
    language: str = "en"
    decides: ClassVar[Decides] = Decides("words", "own")
    folders: ClassVar[tuple[str, ...]] = ("words",)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group, whose candidates are each place's own."""
        return (Group(self.name, ()),)

    @cached_property
    def model(self) -> Cloze:
        """The model of words in context."""
        return open_cloze(self.words)

    def instances(self, view: TokenView) -> Instances:
        """Return the words that are the one before once more, and places where a word may be missing."""
        beside = listed(tuple(self.missing)).find(view.hashes) >= 0
        none = np.zeros(len(view), bool)
        return joined(
            [
                _twice(view),
                missing(
                    self.model, view, tuple(self.missing), least=self.least_missing, beside=beside & none
                ),
            ]
        )


def _twice(view: TokenView) -> Instances:
    """Return the words that follow the same word, whatever the context says."""
    words = word_tokens(view)
    same = words[1:] & words[:-1] & (view.hashes[1:] == view.hashes[:-1])
    at = np.flatnonzero(same) + 1
    letters = [_is_word(view, i) for i in at.tolist()]
    at = at[np.array(letters, bool)] if len(at) else at
    at = at[~untouchable(view, at, np.ones(len(at), np.int32))]
    documents = view.document_of(at).tolist()
    spans = zip(documents, view.starts[at].tolist(), view.ends[at].tolist(), strict=True)
    own = CandidateLists.of([(view.texts[d][s:e].lower().replace("\u2019", "'"), ZERO) for d, s, e in spans])
    zeros = np.zeros(len(at), np.int32)
    return Instances(at, np.ones(len(at), np.int32), zeros, zeros.copy(), own)


def _is_word(view: TokenView, token: int) -> bool:
    document = int(view.document_of(np.array([token]))[0])
    return view.texts[document][view.starts[token] : view.ends[token]].replace("'", "").isalpha()
