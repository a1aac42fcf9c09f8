"""NOAD-MASC for the genre experiment: the words that occur often enough, in one view of all documents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from disambig.api import UserError
from disambig.api.formats import read_noad

from ..systems import tokens
from .genre_folds import KIND_OF, LEAST, LEAST_TESTS, Fold, folds
from .occurrences import Occurrence, Occurrences, located

ARCHIVE = "labelled/noad-masc/noad-masc.tar.xz"


def read(data: Path, *, every: int = 1) -> tuple[Occurrences, list[Fold]]:
    """Read the corpus and return the occurrences of frequent words of several senses, and their folds.

    Parameters
    ----------
    every : int
        Of these words, each so many-th is taken.

    Raises
    ------
    UserError
        D738 where no word occurs often enough in two kinds of text; those of the reader.
    """
    path = data / ARCHIVE
    documents = [each for each in read_noad(path).documents if each.genre in KIND_OF and each.text]
    counts: Counter[str] = Counter()
    senses: dict[str, set[str]] = {}
    for document in documents:
        for place in document.places:
            counts[place.word] += 1
            senses.setdefault(place.word, set()).add(place.sense)
    often = sorted(
        word for word, n in counts.items() if n >= 2 * LEAST + LEAST_TESTS and len(senses[word]) > 1
    )
    kept = set(often[::every])
    found = [
        Occurrence(text, place.start, place.end, place.word, (place.sense,))
        for text, document in enumerate(documents)
        for place in document.places
        if place.word in kept
    ]
    kinds = [KIND_OF[documents[each.text].genre] for each in found]
    names = [documents[each.text].name for each in found]
    occurrences = located(tokens()([each.text for each in documents]), found)
    cut = folds(occurrences.instances.groups, kinds, names)
    if not cut:
        raise UserError("D738", path=path, least=LEAST)
    return occurrences, cut
