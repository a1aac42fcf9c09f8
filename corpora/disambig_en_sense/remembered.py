"""Texts that are cut into words once, for many trainings on parts of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disambig.text.documents import view_of_texts
from disambig.text.view import Tokenisation, TokenView


class Remembered:
    """A tokenisation of some texts and no others."""

    def __init__(self, tokenisation: Tokenisation, texts: Sequence[str]) -> None:
        self.name = tokenisation.name
        self._number = {text: i for i, text in enumerate(texts)}
        self._view = view_of_texts(list(texts), tokenisation)

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Return the view of some of the texts."""
        return self._view.take(np.array([self._number[text] for text in texts]))
