"""Task *it*: does this "it" refer to anything? (Bergsma et al. 2010, section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from disambig.api import Decides, Group, Instances, TokenView, UserError
from disambig.api.text import hash_word

from .apostrophes import SURE, next_words
from .normalised import IT, WORD, NormalisedWords

REFERENTIAL, NON_REFERENTIAL = "referential", "non-referential"
_ITS, _CLITIC = "its", "'s"


@dataclass(frozen=True, slots=True, kw_only=True)
class It:
    """Label each "it" as referential ("it lost money") or not ("it is important to ...").

    Parameters
    ----------
    name, language : str
        Of the task: the name is the default key of its annotations.
    """

    name: str = "it"
    language: str = "en"
    decides: ClassVar[Decides] = Decides(between="labels")
    metric: ClassVar[tuple[str, str]] = ("f1", NON_REFERENTIAL)
    groups: ClassVar[tuple[Group, ...]] = (Group("it", (REFERENTIAL, NON_REFERENTIAL)),)

    def instances(self, view: TokenView) -> Instances:
        """Return every "it", that of "it's" too, in a view of normalised words.

        Also every "its" that the next word shows to be an "it's" without its apostrophe ("its raining"), and
        no "it's" that it shows to be an "its" ("it's tail"); see `apostrophes`.

        Raises
        ------
        UserError
            D454 for a view of another tokenisation.
        """
        if view.tokenisation != NormalisedWords.name:
            raise UserError("D454", task=self.name, needed=NormalisedWords.name, seen=view.tokenisation)
        same_class = view.hashes == np.uint64(hash_word(IT))
        positions = np.flatnonzero(same_class).astype(np.int64)
        length = (view.ends - view.starts)[positions]
        clitic = view.hashes[positions + 1] == np.uint64(hash_word(_CLITIC))
        following = view.layers[WORD][positions + 1 + clitic].astype(np.uint64)
        odds = next_words().log_odds(following)
        meant = np.where(
            length == len(_ITS),
            ~clitic & (odds >= SURE),
            (length == len(IT)) & ~(clitic & (odds <= -SURE)),
        )
        positions = positions[meant]
        n = len(positions)
        return Instances(positions, np.ones(n, np.int32), np.zeros(n, np.int32), np.full(n, -1, np.int32))
