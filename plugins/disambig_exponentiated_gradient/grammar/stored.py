"""What was counted in a treebank as arrays of numbers, and back: every size and number is checked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, UserError
from disambig_exponentiated_gradient.treebank.binarising import Binarisation

from .counting import Labels, RuleCounts
from .lexicon import Counts, Lexicon, LexiconSettings

Ints = NDArray[np.int64]
MOST = 1 << 31
"""Counts, strings and bytes, at most."""


def arrays_of(binarisation: Binarisation, counts: RuleCounts, lexicon: Lexicon) -> Arrays:
    """Return settings, counts of rules and counts of words as arrays."""
    symbols = counts.symbols()
    number = {symbol: i for i, symbol in enumerate(symbols)}
    chains = [
        (number[above], number[below], len(path), n)
        for (above, below, path), n in sorted(counts.chains.items())
    ]
    labels = [label for _, _, path in sorted(counts.chains) for label in path]
    binary = [(*(number[symbol] for symbol in rule), n) for rule, n in sorted(counts.binary.items())]
    settings = {"binarisation": asdict(binarisation), "lexicon": asdict(lexicon.settings)}
    return {
        "settings": np.frombuffer(json.dumps(settings).encode(), np.uint8),
        "binary": _table(binary, 4),
        "chains": _table(chains, 4),
        "unchanged": _table([(number[symbol], n) for symbol, n in sorted(counts.unchanged.items())], 2),
        "lexical": _table([(number[symbol], n) for symbol, n in sorted(counts.lexical.items())], 2),
        **_strings("symbols", symbols),
        **_strings("labels", labels),
        **_counted("words", lexicon.words),
        **_counted("looks", lexicon.looks),
    }


def counts_of(arrays: Mapping[str, NDArray[Any]]) -> tuple[Binarisation, RuleCounts, Lexicon]:
    """Return settings, rules and words of `arrays_of`.

    Raises
    ------
    UserError
        D635 for arrays that are missing, of wrong sizes, or hold what cannot be.
    """
    try:
        settings = json.loads(_array(arrays, "settings", np.uint8, 1).tobytes())
        binarisation = Binarisation(
            **settings["binarisation"] | {"splits": tuple(settings["binarisation"]["splits"])}
        )
        chosen = LexiconSettings(**settings["lexicon"])
    except UserError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as problem:
        raise UserError("D635", problem=f"have no settings ({problem})") from problem
    symbols = _texts(arrays, "symbols")
    counts = RuleCounts()
    for parent, left, right, n in _numbers(arrays, "binary", 4, (symbols,) * 3):
        counts.binary[symbols[parent], symbols[left], symbols[right]] = n
    labels, at = _texts(arrays, "labels"), 0
    for above, below, n_labels, n in _numbers(arrays, "chains", 4, (symbols,) * 2):
        path: Labels = tuple(labels[at : at + n_labels])
        counts.chains[symbols[above], symbols[below], path] = n
        at += n_labels
    if at != len(labels):
        raise UserError("D635", problem="have another number of labels than their chains")
    for name, counter in (("unchanged", counts.unchanged), ("lexical", counts.lexical)):
        for symbol, n in _numbers(arrays, name, 2, (symbols,)):
            counter[symbols[symbol]] = n
    return binarisation, counts, Lexicon(_counters(arrays, "words"), _counters(arrays, "looks"), chosen)


def _table(rows: Iterable[Sequence[int]], width: int) -> Ints:
    made = list(rows)
    return np.array(made, np.int64).reshape(len(made), width)


def _strings(name: str, strings: Sequence[str]) -> Arrays:
    data = [string.encode("utf8", "surrogatepass") for string in strings]
    return {
        name: np.frombuffer(b"".join(data), np.uint8),
        f"{name}_sizes": np.array([len(each) for each in data], np.int64),
    }


def _texts(arrays: Mapping[str, NDArray[Any]], name: str) -> list[str]:
    data = _array(arrays, name, np.uint8, 1).tobytes()
    sizes = _array(arrays, f"{name}_sizes", np.int64, 1)
    if (sizes < 0).any() or (sizes > MOST).any() or int(sizes.sum()) != len(data):
        raise UserError("D635", problem=f"have other sizes than the text of {name}")
    ends = [0, *np.cumsum(sizes).tolist()]
    try:
        return [data[start:end].decode("utf8", "surrogatepass") for start, end in pairwise(ends)]
    except UnicodeDecodeError as problem:
        raise UserError("D635", problem=f"have no UTF-8 in {name}") from problem


def _counted(name: str, counts: Counts) -> Arrays:
    """Return the counters of each string: which names each has, and how often."""
    names = sorted({each for counter in counts.values() for each in counter})
    number = {each: i for i, each in enumerate(names)}
    owners = sorted(counts)
    rows = [
        (i, number[each], n) for i, owner in enumerate(owners) for each, n in sorted(counts[owner].items())
    ]
    return {
        **_strings(name, owners),
        **_strings(f"{name}_names", names),
        f"{name}_counts": _table(rows, 3),
    }


def _counters(arrays: Mapping[str, NDArray[Any]], name: str) -> Counts:
    owners, names = _texts(arrays, name), _texts(arrays, f"{name}_names")
    found: Counts = {owner: Counter() for owner in owners}
    for owner, each, n in _numbers(arrays, f"{name}_counts", 3, (owners, names)):
        found[owners[owner]][names[each]] = n
    return found


def _numbers(
    arrays: Mapping[str, NDArray[Any]], name: str, width: int, of: Sequence[Sequence[str]]
) -> list[list[int]]:
    """Return rows of indices of strings and, last, counts above zero."""
    table = _array(arrays, name, np.int64, 2)
    is_right = table.shape[1] == width and not (table < 0).any() and not (table > MOST).any()
    is_right = is_right and not (table[:, -1] == 0).any()
    if not is_right or any((table[:, i] >= len(strings)).any() for i, strings in enumerate(of)):
        raise UserError("D635", problem=f"have numbers in {name} that cannot be")
    return table.tolist()


def _array(arrays: Mapping[str, NDArray[Any]], name: str, kind: type, dimensions: int) -> NDArray[Any]:
    if name not in arrays:
        raise UserError("D635", problem=f"lack {name}")
    array = arrays[name]
    if array.dtype != kind or array.ndim != dimensions:
        raise UserError("D635", problem=f"have {name} in another form")
    return array
