"""The odds that a word of a list stands between two words: a logistic regression over the words around.

A text has far more empty places than words of any task, so a task that decides these, too, needs a quick
answer to where one could be missing. Asked are the two words on each side, alone and together, as hashed
features of one weight each; no tagger is asked. No text is read here and nothing is learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.engine import use_numba
from disambig.errors import UserError
from disambig.features.gaps.hashed import buckets
from disambig.features.stored import read_stored, write_stored
from disambig.text.view import TokenView

FILE = "weights.npz"
_BLOCK = 8192  # places at a time: their features stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Where a word of a list may stand.

    Attributes
    ----------
    weights : array of int8, shape (a power of two,)
        One a bucket of hashed features.
    header : dict
        ``tokenisation``, ``scale`` of the weights, and what else is known: words, sources, licence.
    """

    weights: NDArray[np.int8]
    header: dict[str, Any]

    @classmethod
    def load(cls, folder: Path) -> Gaps:
        """Read the weights in a folder.

        Raises
        ------
        UserError
            D424, where a file is missing or is not what `save` writes.
        """
        header, (weights,) = read_stored(folder, FILE, ("weights",), code="D424")
        gaps = cls(weights, header)
        problem = gaps._problem()
        if problem:
            raise UserError("D424", path=folder, problem=problem)
        return gaps

    def save(self, folder: Path) -> None:
        """Write `header.json` and `weights.npz` into `folder`."""
        write_stored(folder, FILE, self.header, weights=self.weights)

    def log_odds(
        self, view: TokenView, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the log-odds that a word of the list stands between two tokens, shape ``(n,)``.

        Parameters
        ----------
        view : TokenView
            Made by the tokenisation that the weights were learned with.
        left, right : arrays of int64, shape (n,)
            Tokens of `view`, before and after the place; what stands in it is not looked at. None of them
            is beyond the sentence: its ends are tokens too.

        Raises
        ------
        UserError
            D425, where another tokenisation made the view.
        """
        if view.tokenisation != self.header["tokenisation"]:
            raise UserError("D425", seen=view.tokenisation, known=self.header["tokenisation"])
        bits = len(self.weights).bit_length() - 1
        sums = np.empty(len(left), np.int32)
        if use_numba(len(left) * 8):
            from disambig.features.gaps.kernels import add_up

            add_up(view.hashes, left, right, self.weights, bits, sums)
        else:
            for start in range(0, len(left), _BLOCK):
                part = slice(start, start + _BLOCK)
                found = buckets(view.hashes, left[part], right[part], bits)
                sums[part] = self.weights[found].sum(axis=0, dtype=np.int32)
        return sums.astype(np.float32) * np.float32(self.header["scale"])

    def _problem(self) -> str | None:
        """Return what is wrong with the array or the header, if anything."""
        array = self.weights
        if array.dtype != np.int8 or array.ndim != 1 or array.size < 2 or array.size & array.size - 1:
            return f"weights of {array.dtype} {array.shape}"
        if not isinstance(self.header, dict) or not isinstance(self.header.get("tokenisation"), str):
            return "no tokenisation in its header"
        scale = self.header.get("scale")
        if not isinstance(scale, float) or not 0 < scale < 1e6:
            return "no scale in its header"
        return None
