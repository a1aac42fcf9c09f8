"""A lexicon as the lattice's kernels ask it: readings in a trie, words of the language model, hashes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .decoding import ENTRY, LexiconTables
from .lexicon import LONGEST, NUMBERS, Lexicon, Trie, unseen_weights
from .settings import ConverterSettings

UNKNOWN = 0
OTHER_READING = 0.01
"""What a word of a dictionary has of the probability of one that is written alike and known."""


def lexicon_tables(
    lexicon: Lexicon,
    vocabulary: Any,
    spelling: NDArray[np.float64],
    settings: ConverterSettings,
) -> tuple[LexiconTables, NDArray[np.int32]]:
    """Return the tables of a lexicon, and its entries in their order.

    Parameters
    ----------
    lexicon : Lexicon
    vocabulary : Vocabulary
        Of the language model.
    spelling : array, shape (2, 88, 88)
        By `learn_spelling`.
    settings : ConverterSettings
        Of unknown words' probability the entries have a share that text has and the language model does not
        know, by their counts, and those of a dictionary alone, by their kind; all times their usage.
    """
    from .lattice_kernels import hash_texts

    pairs = zip(lexicon.surfaces, lexicon.readings, strict=True)
    known = vocabulary.ids_of(settings.unit_of(surface, reading) for surface, reading in pairs)
    others = _other_readings(lexicon, known) if settings.unit == "pair" else np.zeros(0, np.int64)
    extras = _extras(lexicon, known == UNKNOWN, settings)
    extras[others] = np.log(OTHER_READING)
    ranks = np.lexsort((-extras, known == UNKNOWN))
    trie = Trie.of([lexicon.readings[i] for i in ranks.tolist()])
    order = ranks[trie.entries].astype(np.int32)
    codes = np.frombuffer("".join(lexicon.surfaces).encode("utf-32-le", "surrogatepass"), np.uint32)
    offsets = np.concatenate([[0], np.cumsum([len(surface) for surface in lexicon.surfaces])])
    hashes, powers = np.zeros((2, len(lexicon)), np.uint64)
    hash_texts(codes.astype(np.int32), offsets.astype(np.int64), hashes, powers)
    entries = np.zeros(len(lexicon), ENTRY)
    entries["word"], entries["extra"], entries["hash"], entries["power"] = known, extras, hashes, powers
    numbers = vocabulary.ids_of(NUMBERS)
    numbers[0] = UNKNOWN
    deepest = max(LONGEST, max(map(len, lexicon.readings), default=0))
    tables = LexiconTables(
        trie.begins,
        trie.labels,
        trie.entry_begins,
        entries[order],
        numbers,
        spelling,
        np.array([LONGEST], np.int64),
        np.array([deepest], np.int64),
    )
    return tables, order


def _other_readings(lexicon: Lexicon, known: NDArray[np.int32]) -> NDArray[np.int64]:
    """Give words of a dictionary that text has with another reading that word's number, and return them.

    Text may have had them, too: a reading is one that a program chose.
    """
    first: dict[str, int] = {}
    for row in np.flatnonzero(known != UNKNOWN).tolist():
        first.setdefault(lexicon.surfaces[row], row)  # the most frequent entries come first
    rows = np.flatnonzero((known == UNKNOWN) & (lexicon.counts == 0)).tolist()
    found = [row for row in rows if lexicon.surfaces[row] in first]
    known[found] = known[[first[lexicon.surfaces[row]] for row in found]]
    return np.array(found, np.int64)


def _extras(lexicon: Lexicon, unknown: NDArray[np.bool_], settings: ConverterSettings) -> NDArray[np.float64]:
    """Return ln of what each entry has of its word's probability."""
    weighed = settings.weighed and settings.unit == "spelling"
    extras = np.log(lexicon.shares) if weighed else np.zeros(len(lexicon))
    in_text, of_dictionary = settings.unknown[2:]
    some = unknown & (lexicon.counts > 0)
    extras[some] = np.log(in_text * lexicon.counts[some] / max(lexicon.counts[some].sum(), 1))
    some = unknown & (lexicon.counts == 0)
    weights = unseen_weights(lexicon)[some]
    extras[some] = np.log(of_dictionary * weights / max(weights.sum(), 1e-9))
    return extras if lexicon.usage is None else extras + lexicon.usage
