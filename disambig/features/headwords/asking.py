"""The name under which headword n-grams stand in a count table, among its tokenisations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from disambig.errors import UserError
from disambig.text.tokenisations.words import Words
from disambig.text.view import TokenView

NAME = "disambig.headwords.v1"
"""Its hash seeds the keys of headword n-grams."""


@dataclass(frozen=True, slots=True)
class HeadwordNgrams:
    """Cuts n-grams into words, for asking; no running text is a row of head words."""

    name: ClassVar[str] = NAME

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Refuse: the words of a text are not its head words.

        Raises
        ------
        UserError
            D440.
        """
        raise UserError("D440", name=NAME)

    def words(self, text: str) -> list[str]:
        """Return the words of an n-gram, between the two boundary words that all tokenisations put there."""
        return Words().words(text)
