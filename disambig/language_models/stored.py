"""Models in folders: written small, read without trust."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from disambig.errors import UserError
from disambig.features.stored import read_stored, write_stored
from disambig.language_models.mixture import Mixture, check_weight
from disambig.language_models.model import LanguageModel
from disambig.language_models.packing import BITS, NAMES, packed, unpacked
from disambig.language_models.vocabulary import vocabulary_of
from disambig.types import Arrays

FILE = "ngrams.npz"
FORMAT = "disambig.language_model.v1"
_MIXTURE = "disambig.language_model_mixture.v1"
_WORDS = ("letters", "ends")


def save_language_model(model: LanguageModel, folder: Path, *, bits: int = 32) -> None:
    """Write a model into a folder, which is made: ``header.json`` and ``ngrams.npz``.

    Parameters
    ----------
    model : LanguageModel
        Its header is written with it: plain values.
    folder : path
        What lies there of another model is replaced.
    bits : {8, 32}
        How precise logarithms are; 8 make the file half as large and change
        perplexities by 0.05% at most; probabilities then add up to one only nearly (within 1%).

    Raises
    ------
    UserError
        D654 (bits).
    """
    if bits not in BITS:
        raise UserError("D654", what="number of bits", name=bits, names=", ".join(map(str, BITS)))
    arrays = {**packed(model.levels, bits), **model.vocabulary.state()}
    said = {"format": FORMAT, "bits": bits, "ngrams": [len(level) for level in model.levels]}
    write_stored(Path(folder), FILE, {**model.header, **said, "digest": digest_of(arrays)}, **arrays)


def load_language_model(folder: Path) -> LanguageModel:
    """Read the model in a folder.

    Raises
    ------
    UserError
        D655, where a file is missing, is damaged or was never written by `save_language_model`.
    """
    folder = Path(folder)
    header, found = read_stored(folder, FILE, (*NAMES, *_WORDS), code="D655")
    arrays = dict(zip((*NAMES, *_WORDS), found, strict=True))
    try:
        _check_header(header, FORMAT)
        if header.get("digest") != digest_of(arrays):
            raise ValueError("header and arrays do not belong together, or are damaged")
        levels, vocabulary = unpacked(arrays), vocabulary_of(arrays)
        if len(levels[0]) != len(vocabulary):
            raise ValueError(f"{len(levels[0])} single words for a vocabulary of {len(vocabulary)}")
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise UserError("D655", path=folder, problem=error) from None
    return LanguageModel(vocabulary, levels, header)


def save_mixture(mixture: Mixture, folder: Path, *, bits: int = 32) -> None:
    """Write what a mixture adds to its background into a folder: the other model, and the weight.

    Raises
    ------
    UserError
        D654 (bits).
    """
    save_language_model(mixture.adaptation, Path(folder) / "adaptation", bits=bits)
    header = {"format": _MIXTURE, "background": len(mixture.background.vocabulary)}
    weight = np.array([mixture.weight])
    digest = digest_of({"letters": mixture.background.vocabulary.spellings.letters})
    write_stored(Path(folder), "mixture.npz", {**header, "words": digest}, weight=weight)


def load_mixture(folder: Path, background: LanguageModel) -> Mixture:
    """Read a mixture with the background it was made for.

    Raises
    ------
    UserError
        D655, where files are missing or damaged, or the background has other words.
    """
    folder = Path(folder)
    header, (weight,) = read_stored(folder, "mixture.npz", ("weight",), code="D655")
    adaptation = load_language_model(folder / "adaptation")
    try:
        _check_header(header, _MIXTURE)
        if header.get("words") != digest_of({"letters": background.vocabulary.spellings.letters}):
            raise ValueError("it was made for a background with other words")
        check_weight(float(weight.item()))
        return Mixture(background, adaptation, float(weight.item()))
    except UserError as error:
        raise UserError("D655", path=folder, problem=error.text) from None
    except (ValueError, TypeError, LookupError) as error:
        raise UserError("D655", path=folder, problem=error) from None


def digest_of(arrays: Arrays) -> str:
    """Return the SHA-256 of arrays: their names, kinds, shapes and what they hold."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _check_header(header: Any, wanted: str) -> None:
    if not isinstance(header, Mapping) or header.get("format") != wanted:
        raise ValueError(f"its header does not say {wanted}")
