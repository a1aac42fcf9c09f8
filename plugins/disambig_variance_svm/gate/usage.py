"""Tell from the words around it whether a word is used as a preposition.

"up" in "give up", "to" in "to go", "as" in "as he left" and "about" in "about 50 people" are no
prepositions, so no preposition task should decide them. No tagger is asked: a logistic regression
over hashed features of the two words on each side and of their classes (`features`) was
trained on UD English EWT (`truth` says what counts as a preposition, `training` how).
No text is read here and nothing is learned.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import TokenView, UserError
from disambig_variance_svm.gate.features import buckets, neighbours

WEIGHTS = Path(__file__).parent / "weights"
_BLOCK = 8192  # words at a time: their features stay in the cache

_UNREADABLE = (
    OSError, EOFError, ValueError, LookupError, RuntimeError, MemoryError, SyntaxError, TokenError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """A trained gate before a preposition task.

    Attributes
    ----------
    weights : array of int8, shape (a power of two,)
        One weight a bucket of hashed features.
    slots : array of uint16, shape (a power of two,)
        The classes of words (see `features.classes_of`).
    header : dict
        Tokenisation, scale of the weights, bias, default threshold, sources, licence.
    """

    weights: NDArray[np.int8]
    slots: NDArray[np.uint16]
    header: dict[str, Any]

    @classmethod
    def load(cls, folder: Path = WEIGHTS) -> Usage:
        """Read the weights that ship, or those in another folder.

        Raises
        ------
        UserError
            D420, where a file is missing or is not what `save` writes.
        """
        try:
            header = json.loads((folder / "header.json").read_text(encoding="utf8"))
            with open(folder / "weights.npz", "rb") as file:
                arrays = np.load(file, allow_pickle=False)
                usage = cls(arrays["weights"], arrays["slots"], header)
        except _UNREADABLE as error:
            raise UserError("D420", path=folder, problem=error) from None
        problem = usage._problem()
        if problem:
            raise UserError("D420", path=folder, problem=problem)
        return usage

    def _problem(self) -> str | None:
        """Return what is wrong with the arrays or the header, if anything."""
        for name, array, kind in (("weights", self.weights, np.int8), ("slots", self.slots, np.uint16)):
            if array.dtype != kind or array.ndim != 1 or array.size < 2 or array.size & array.size - 1:
                return f"{name} of {array.dtype} {array.shape}"
        if not isinstance(self.header, dict) or not isinstance(self.header.get("tokenisation"), str):
            return "no tokenisation in its header"
        for name in ("scale", "bias", "threshold"):
            if not isinstance(self.header.get(name), float):
                return f"no {name} in its header"
        return None

    def save(self, folder: Path) -> None:
        """Write `header.json` and `weights.npz` into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        header = json.dumps(self.header, indent=1, ensure_ascii=False)
        (folder / "header.json").write_text(header + "\n", encoding="utf8")
        np.savez_compressed(folder / "weights.npz", weights=self.weights, slots=self.slots)

    def probability(self, view: TokenView, positions: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return how likely the word at each position is used as a preposition.

        Parameters
        ----------
        view : TokenView
            Made by the tokenisation that the weights were trained with.
        positions : array of int, shape (n,)
            Tokens of `view`, each one of the 34 words; of other words the answer means nothing.

        Returns
        -------
        array of float64, shape (n,)
            Probabilities.

        Raises
        ------
        UserError
            D421, where another tokenisation made the view.
        """
        if view.tokenisation != self.header["tokenisation"]:
            raise UserError("D421", seen=view.tokenisation, known=self.header["tokenisation"])
        positions = np.asarray(positions, dtype=np.int64)
        bits = len(self.weights).bit_length() - 1
        sums = np.empty(len(positions))
        for start in range(0, len(positions), _BLOCK):
            words = neighbours(view.hashes, positions[start : start + _BLOCK])
            found = buckets(words, self.slots, bits=bits)
            sums[start : start + _BLOCK] = self.weights[found].sum(axis=0, dtype=np.int64)
        log_odds = sums * float(self.header["scale"]) + float(self.header["bias"])
        return 1.0 / (1.0 + np.exp(-log_odds))

    def is_preposition(
        self, view: TokenView, positions: NDArray[np.integer], *, threshold: float | None = None
    ) -> NDArray[np.bool_]:
        """Return whether the word at each position is used as a preposition, shape ``(n,)``.

        `threshold` is the least probability that will do; the weights name one of their own (see
        `training`). Otherwise like `probability`.
        """
        least = self.header["threshold"] if threshold is None else threshold
        return self.probability(view, positions) >= least
