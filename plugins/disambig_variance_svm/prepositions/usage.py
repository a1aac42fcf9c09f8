"""Classify from the neighbouring words whether a word is used as a preposition.

"up" in "give up", "to" in "to go", "as" in "as he left" and "about" in "about 50 people" are not
prepositions, so a preposition task should not decide them. Instead of a tagger, a logistic regression over
hashed features of the two words on each side and of their classes is used; `usage_training` trains it on UD
English EWT. A class is a cluster of words with similar neighbours in raw text, so that a verb that is not
in the labelled text still looks like a verb.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import TokenView, UserError
from disambig.api.features import read_stored, write_stored
from disambig.api.text import hash_word, hash_words

START_HASH, END_HASH = np.uint64(hash_word("<S>")), np.uint64(hash_word("</S>"))
N_CLASSES = 128
"""Number of word classes; class 0 contains the words without a class."""

# The words that each feature combines: C is the word itself, l and r its neighbours, k and s the words next
# to these; L, R, K and S are the classes of these four.
TEMPLATES = (
    "C", "Cl", "Cr", "Ck", "Cs", "CL", "CR", "CK", "CS",
    "Clr", "ClR", "CLr", "CLR", "CRS", "CrS", "Crs", "CKL",
    "l", "r", "L", "R", "LR", "RS", "rS",
)  # fmt: skip
_ODD = np.uint64(1)
_MULTIPLIERS = {
    template: {part: np.uint64(hash_word(f"{template}/{part}")) | _ODD for part in template}
    for template in TEMPLATES
}
_SEEDS = hash_words(TEMPLATES)
_OF_CLASS = hash_words([f"class {i}" for i in range(N_CLASSES)])


def look_up_classes(hashes: NDArray[np.uint64], slots: NDArray[np.uint16]) -> NDArray[np.uint8]:
    """Return the class of each word.

    A slot is ``fingerprint << 8 | class`` of a word: the lowest bits of its hash are the index of the slot,
    the highest eight are the fingerprint. There is a power of two of slots; 0 is an empty one.
    """
    entries = slots[hashes & np.uint64(len(slots) - 1)]
    return np.where(entries >> 8 == hashes >> np.uint64(56), entries & 0xFF, 0).astype(np.uint8)


def build_class_table(
    words: NDArray[np.uint64], classes: NDArray[np.uint8], *, bits: int
) -> NDArray[np.uint16]:
    """Return the table for `look_up_classes`; if two words share a slot, the earlier one keeps it."""
    slots = np.zeros(1 << bits, dtype=np.uint16)
    entries = ((words >> np.uint64(56)) << np.uint64(8)).astype(np.uint16) | classes
    # written in reverse order, so that the earliest word of a slot overwrites the others
    slots[words[::-1] & np.uint64(len(slots) - 1)] = entries[::-1]
    return slots


def neighbour_words(
    hashes: NDArray[np.uint64], positions: NDArray[np.integer]
) -> dict[str, NDArray[np.uint64]]:
    """Return the words at, before (k, l) and after (r, s) each position, not beyond sentence boundaries."""
    at = np.asarray(positions)
    left, right = hashes[at - 1], hashes[at + 1]
    return {
        "C": hashes[at],
        "l": left,
        "r": right,
        "k": np.where(left == START_HASH, START_HASH, hashes[at - 2]),
        "s": np.where(right == END_HASH, END_HASH, hashes[np.minimum(at + 2, len(hashes) - 1)]),
    }


def feature_buckets(
    words: dict[str, NDArray[np.uint64]], slots: NDArray[np.uint16], *, bits: int
) -> NDArray[np.uint64]:
    """Return the hash bucket of every feature of every word, shape ``(len(TEMPLATES), n_words)``."""
    values = dict(words)
    for word, name in (("l", "L"), ("r", "R"), ("k", "K"), ("s", "S")):
        values[name] = _OF_CLASS[look_up_classes(words[word], slots)]
    out = np.empty((len(TEMPLATES), len(words["C"])), dtype=np.uint64)
    for row, template, seed in zip(out, TEMPLATES, _SEEDS, strict=True):
        row[:] = seed
        for part, multiplier in _MULTIPLIERS[template].items():
            row += values[part] * multiplier
    out >>= np.uint64(64 - bits)
    return out


WEIGHTS = Path(__file__).parent / "weights"
_BLOCK = 8192  # number of words per block, so that their features fit the processor's cache

_FILE = "weights.npz"


@dataclass(frozen=True, slots=True, eq=False)
class PrepositionUsage:
    """A trained classifier that selects the words which a preposition task decides."""

    weights: NDArray[np.int8]  # (a power of two,): one weight per bucket of hashed features
    slots: NDArray[np.uint16]  # (a power of two,): the classes of words (see `look_up_classes`)
    header: dict[str, Any]  # tokenisation, scale of the weights, bias, default threshold, sources, licence

    @classmethod
    def load(cls, folder: Path = WEIGHTS) -> PrepositionUsage:
        """Read the weights from a folder, by default those of this plugin.

        Raises D420 if a file is missing or was not written by `save`.
        """
        header, (weights, slots) = read_stored(folder, _FILE, ("weights", "slots"), code="D420")
        usage = cls(weights, slots, header)
        problem = usage._problem()
        if problem:
            raise UserError("D420", path=folder, problem=problem)
        return usage

    def _problem(self) -> str | None:
        """Return what is wrong with the arrays or the header, or None."""
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
        write_stored(folder, _FILE, self.header, weights=self.weights, slots=self.slots)

    def probability(self, view: TokenView, positions: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the probability that the word at each position is used as a preposition.

        Raises D421 if the view has another tokenisation.

        The view must come from the tokenisation that the weights were trained with. The result, shape
        ``(n,)``, is meaningless for words that are not among the 34.
        """
        if view.tokenisation != self.header["tokenisation"]:
            raise UserError("D421", seen=view.tokenisation, known=self.header["tokenisation"])
        positions = np.asarray(positions, dtype=np.int64)
        bits = len(self.weights).bit_length() - 1
        sums = np.empty(len(positions))
        for start in range(0, len(positions), _BLOCK):
            words = neighbour_words(view.hashes, positions[start : start + _BLOCK])
            buckets = feature_buckets(words, self.slots, bits=bits)
            sums[start : start + _BLOCK] = self.weights[buckets].sum(axis=0, dtype=np.int64)
        log_odds = sums * float(self.header["scale"]) + float(self.header["bias"])
        return 1.0 / (1.0 + np.exp(-log_odds))

    def is_preposition(self, view: TokenView, positions: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which words are used as prepositions, shape ``(n,)``.

        The minimum probability is stored with the weights (see `usage_training`). For the parameters, see
        `probability`.
        """
        return self.probability(view, positions) >= self.header["threshold"]
