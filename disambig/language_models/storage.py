"""Save and load language models, and write ARPA files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import minibatch, offsets_from_sizes
from disambig.errors import UserError
from disambig.files import ArrayFolder, digest_arrays, save_file
from disambig.language_models.mixture import Mixture, check_weight
from disambig.language_models.model import (
    START,
    Float32s,
    LanguageModel,
    NgramLevel,
    suffix_rows,
    vocabulary_from_state,
)
from disambig.type_aliases import Ints
from disambig.types import Arrays

BITS = (8, 32)
NAMES = ("lengths", "children", "steps", "log_probs", "back_offs", "values")
_VALUES = 256


def pack_levels(levels: Sequence[NgramLevel], bits: int) -> Arrays:
    """Return `levels` as arrays to be stored.

    `levels`: the levels of a model.
    `bits` ({8, 32}): precision of logarithms: 8 bits (256 different values per level), or unchanged.
    Returns ``lengths`` (order,): number of n-grams of each level; ``children``: how many n-grams begin with
    each n-gram below the longest level; ``steps``: difference from one word to the next with the same
    context, from the second level on. The last two are stored by byte plane, the lowest bytes of all numbers
    first, because that compresses best. ``log_probs`` of all n-grams and ``back_offs`` of those with children
    are indices into ``values`` (2 order - 1, 256), or unchanged floats.
    """
    steps = [np.diff(level.words, prepend=np.int32(0)) for level in levels]
    for level, step in zip(levels, steps, strict=True):
        # the first word of each context is stored itself, the others as differences, which are small
        first = level.begins[:-1][np.diff(level.begins) > 0]
        step[first] = level.words[first]
    logs: list[NDArray[Any]] = []
    back_offs: list[NDArray[Any]] = []
    value_tables: list[Float32s] = []
    for level, longer in zip(levels, [*levels[1:], None], strict=True):
        sources = [(logs, _replace_infinity(level.log_probs))]
        if longer is not None:
            sources.append((back_offs, level.back_offs[np.diff(longer.begins) > 0]))
        for codes, values in sources:
            coded, table = (values, np.zeros(0, np.float32)) if bits == 32 else quantise(values)
            codes.append(coded)
            value_tables.append(table)
    return {
        "lengths": np.array([len(level) for level in levels], np.int64),
        "children": _to_bytes([np.diff(level.begins).astype(np.int32) for level in levels[1:]]),
        "steps": _to_bytes(steps[1:]),
        "log_probs": np.concatenate(logs),
        "back_offs": np.concatenate([logs[0][:0], *back_offs]),
        "values": np.array(value_tables, np.float32),
    }


def unpack_levels(arrays: Arrays) -> list[NgramLevel]:
    """Return the levels from the arrays of `pack_levels`.

    Raises `ValueError` if the arrays are inconsistent. All contents are checked, because the file may come
    from anyone.
    """
    lengths = arrays["lengths"]
    if lengths.ndim != 1 or lengths.dtype != np.int64 or not 1 <= len(lengths) <= 5 or (lengths < 0).any():
        raise ValueError("invalid numbers of n-grams")
    n, n_contexts = int(lengths.sum()), int(lengths[:-1].sum())
    children = _from_bytes(arrays["children"], n_contexts)
    steps = _from_bytes(arrays["steps"], n - int(lengths[0]))
    starts = offsets_from_sizes(lengths)
    for below, longer in zip(range(len(lengths) - 1), lengths[1:], strict=True):
        if int(children[starts[below] : starts[below + 1]].sum()) != longer:
            raise ValueError("the numbers of n-grams and of their contexts differ")
    parents = np.concatenate([children > 0, np.zeros(n - n_contexts, bool)])
    values = arrays["values"]
    if values.dtype != np.float32 or values.ndim != 2 or len(values) != 2 * len(lengths) - 1:
        raise ValueError(f"values of {values.dtype} {values.shape}")
    log_probs = _check_codes(arrays["log_probs"], n)
    back_offs = _check_codes(arrays["back_offs"], int(parents.sum()))
    levels, n_back_offs = [], 0
    for k, length in enumerate(lengths.tolist()):
        rows = slice(int(starts[k]), int(starts[k + 1]))
        is_parent, weights = parents[rows], np.zeros(length, np.float32)
        logs = _dequantise(log_probs[rows], values[2 * k])
        if k + 1 < len(lengths):
            stop = n_back_offs + int(is_parent.sum())
            weights[is_parent] = _dequantise(back_offs[n_back_offs:stop], values[2 * k + 1])
            n_back_offs = stop
        begins, words = np.array([0, length], np.int64), np.arange(length, dtype=np.int32)
        if k:
            sizes = children[starts[k - 1] : starts[k]].astype(np.int64)
            begins = offsets_from_sizes(sizes)
            level_steps = steps[starts[k] - starts[1] : starts[k + 1] - starts[1]]
            words = _words_from_steps(level_steps, begins, int(lengths[0]))
        levels.append(NgramLevel(begins, words, logs, weights))
    _check_numbers(levels)
    # stored as another value, since a bin for minus infinity would waste codes (see `_replace_infinity`)
    levels[0].log_probs[START] = -np.inf
    if any((rows < 0).any() for rows in suffix_rows([(level.begins, level.words) for level in levels])):
        raise ValueError("an n-gram exists although its suffix does not")
    return levels


def quantise(values: Float32s) -> tuple[NDArray[np.uint8], Float32s]:
    """Return, for each value, the index of a close value, and 256 values in ascending order.

    The values are the means of bins of equal width: perplexities change by at most 0.05%. Bins with equal
    numbers of values (quantiles, Lloyd's algorithm) change them by 1%, because the probable n-grams, which
    are few and queried often, become too coarse.
    """
    if not len(values):
        return np.zeros(0, np.uint8), np.zeros(_VALUES, np.float32)
    exact = values.astype(np.float64)
    minimum, maximum = float(exact.min()), float(exact.max())
    width = (maximum - minimum) / _VALUES or 1.0
    codes = np.minimum(((exact - minimum) / width).astype(np.int64), _VALUES - 1)
    counts = np.bincount(codes, minlength=_VALUES)
    middles = minimum + (np.arange(_VALUES) + 0.5) * width
    means = np.where(counts > 0, np.bincount(codes, exact, _VALUES) / np.maximum(counts, 1), middles)
    return codes.astype(np.uint8), means.astype(np.float32)


def _replace_infinity(log_probs: Float32s) -> Float32s:
    """Return logarithms with minus infinity replaced by the first of them, so that no bin is spent on it."""
    return np.where(np.isfinite(log_probs), log_probs, log_probs[:1])


def _to_bytes(numbers: list[NDArray[np.int32]]) -> NDArray[np.uint8]:
    """Return numbers by byte plane, shape ``(4, n)``, the lowest bytes first."""
    joined = np.concatenate([np.zeros(0, np.int32), *numbers])
    return np.ascontiguousarray(joined.astype("<i4").view(np.uint8).reshape(-1, 4).T)


def _from_bytes(planes: NDArray[np.generic], n: int) -> NDArray[np.int32]:
    """Return the numbers from the planes of `_to_bytes`; raise ValueError for others than n, or negative."""
    if planes.dtype != np.uint8 or planes.shape != (4, n):
        raise ValueError(f"numbers of {planes.dtype} {planes.shape}, not for {n} n-grams")
    numbers = np.ascontiguousarray(planes.T).reshape(-1).view("<i4").astype(np.int32)
    if numbers.min(initial=0) < 0:
        raise ValueError("a negative number")
    return numbers


def _words_from_steps(steps: NDArray[np.int32], begins: Ints, n_words: int) -> NDArray[np.int32]:
    """Return the words of n-grams from the differences within each context; raise ValueError if invalid."""
    # int64: the steps of a damaged file may add up to more than int32 holds
    sums = np.cumsum(steps, dtype=np.int64)
    lengths = np.diff(begins)
    first = begins[:-1][lengths > 0]
    words = sums - np.repeat(sums[first] - steps[first], lengths[lengths > 0])
    inner = np.ones(len(steps), bool)
    inner[first] = False
    if (steps[inner] == 0).any() or words.max(initial=0) >= n_words:
        raise ValueError("words do not ascend, or are not in the vocabulary")
    return words.astype(np.int32)


def _check_codes(codes: NDArray[np.generic], n: int) -> NDArray[np.generic]:
    """Return the codes; raise ValueError unless they are n bytes or floats."""
    if codes.shape != (n,) or codes.dtype not in (np.uint8, np.float32):
        raise ValueError(f"logarithms of {codes.dtype} {codes.shape}, not for {n} n-grams")
    return codes


def _dequantise(codes: NDArray[np.generic], values: Float32s) -> Float32s:
    if codes.dtype == np.float32:
        return codes.astype(np.float32)
    if len(values) != _VALUES:
        raise ValueError("too few values for the logarithms")
    return values[codes.astype(np.int64)]


def _check_numbers(levels: Sequence[NgramLevel]) -> None:
    """Raise ValueError for logarithms that are infinite, or of probabilities above one."""
    for level in levels:
        if not (np.isfinite(level.log_probs).all() and np.isfinite(level.back_offs).all()):
            raise ValueError("logarithms that are not finite")
        if level.log_probs.max(initial=0) > 1e-3:  # quantised probabilities may exceed one slightly
            raise ValueError("probabilities above one")


FILE = "ngrams.npz"
FORMAT = "disambig.language_model.v1"
_MIXTURE = "disambig.language_model_mixture.v1"
_WORDS = ("letters", "ends")
MODEL_FOLDER = ArrayFolder(FILE, (*NAMES, *_WORDS), "D655", FORMAT)
_MIXTURE_FOLDER = ArrayFolder("mixture.npz", ("weight",), "D655", _MIXTURE, has_digest=False)


def save_language_model(model: LanguageModel, folder: Path, *, bits: int = 32) -> None:
    """Write a model to a folder, which is created: ``header.json`` and ``ngrams.npz``.

    Parameters
    ----------
    model : LanguageModel
        Its header is written too and must contain plain values.
    folder : path
        Files of another model in this folder are replaced.
    bits : {8, 32}
        Precision of logarithms. With 8 bits the file is half as large, perplexities change by at most
        0.05%, and probabilities add up to one only approximately (within 1%).

    Raises
    ------
    UserError
        D654 (bits).
    """
    if bits not in BITS:
        raise UserError("D654", what="number of bits", name=bits, names=", ".join(map(str, BITS)))
    arrays = {**pack_levels(model.levels, bits), **model.vocabulary.state()}
    header = {**model.header, "bits": bits, "ngrams": [len(level) for level in model.levels]}
    MODEL_FOLDER.write(Path(folder), header, arrays)


def load_language_model(folder: Path) -> LanguageModel:
    """Read the model from a folder.

    Raises
    ------
    UserError
        D655 if a file is missing, damaged or was not written by `save_language_model`.
    """
    folder = Path(folder)
    header, arrays = MODEL_FOLDER.read(folder)
    try:
        levels, vocabulary = unpack_levels(arrays), vocabulary_from_state(arrays)
        if len(levels[0]) != len(vocabulary):
            raise ValueError(f"{len(levels[0])} single words for a vocabulary of {len(vocabulary)}")
    # everything that a damaged or forged file can make the checks above raise
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise UserError("D655", path=folder, problem=error) from None
    return LanguageModel(vocabulary, levels, header)


def save_mixture(mixture: Mixture, folder: Path, *, bits: int = 32) -> None:
    """Write what a mixture adds to its background to a folder: the other model and the weight.

    Raises
    ------
    UserError
        D654 (bits).
    """
    save_language_model(mixture.adaptation, Path(folder) / "adaptation", bits=bits)
    n_words = len(mixture.background.vocabulary)
    weight = np.array([mixture.weight])
    digest = digest_arrays({"letters": mixture.background.vocabulary.spellings.letters})
    _MIXTURE_FOLDER.write(Path(folder), {"background": n_words, "words": digest}, {"weight": weight})


def load_mixture(folder: Path, background: LanguageModel) -> Mixture:
    """Read a mixture, given the background for which it was made.

    Raises
    ------
    UserError
        D655 if files are missing or damaged, or if the background has other words.
    """
    folder = Path(folder)
    header, arrays = _MIXTURE_FOLDER.read(folder)
    adaptation, weight = load_language_model(folder / "adaptation"), arrays["weight"]
    try:
        if header.get("words") != digest_arrays({"letters": background.vocabulary.spellings.letters}):
            raise ValueError("it was made for a background with other words")
        check_weight(float(weight.item()))
        return Mixture(background, adaptation, float(weight.item()))
    except UserError as error:
        raise UserError("D655", path=folder, problem=error.text) from None
    except (ValueError, TypeError, LookupError) as error:
        raise UserError("D655", path=folder, problem=error) from None


_NEVER = -99.0
"""Value in ARPA files for the start of a sentence, which is never predicted."""
_LINES = 10_000


def to_arpa(model: LanguageModel, path: str | Path) -> None:
    """Write a model as an ARPA file with logarithms to base ten; ``.gz`` and ``.xz`` files are compressed.

    Raises
    ------
    UserError
        D658 for a word that contains white space or is empty, which these files cannot hold; D309 if the
        file cannot be written.
    """
    words = list(model.vocabulary.spellings)
    for word in words:
        if word.split() != [word]:
            raise UserError("D658", path=path, word=word)
    with save_file(Path(path)) as write:
        counts = (f"ngram {n}={len(level)}\n" for n, level in enumerate(model.levels, 1))
        write(f"\\data\\\n{''.join(counts)}".encode())
        contexts = [""]
        # written level by level: the texts of one level, not of all, are in memory as contexts of the next
        for n, level in enumerate(model.levels, 1):
            write(f"\n\\{n}-grams:\n".encode())
            is_longest = n == model.order
            following: list[str] = []
            lines = _arpa_lines(level, words, contexts, last=is_longest)
            for block in minibatch(lines, _LINES):
                write("".join(line for line, _ in block).encode())
                if not is_longest:
                    following += [f"{ngram} " for _, ngram in block]
            contexts = following
        write(b"\n\\end\\\n")


def _arpa_lines(
    level: NgramLevel, words: list[str], contexts: list[str], *, last: bool
) -> Iterator[tuple[str, str]]:
    """Yield the line of each n-gram, and the n-gram itself."""
    bounds = level.begins.tolist()
    for context, (start, end) in zip(contexts, pairwise(bounds), strict=True):
        if start == end:
            continue
        rows = slice(start, end)
        columns = (level.words[rows], level.log_probs[rows], level.back_offs[rows])
        for word, log_prob, back_off in zip(*(column.tolist() for column in columns), strict=True):
            ngram = context + words[word]
            shown = log_prob / math.log(10) if log_prob > -math.inf else _NEVER
            weight = "" if last else f"\t{back_off / math.log(10):.7g}"
            yield f"{shown:.7g}\t{ngram}{weight}\n", ngram
