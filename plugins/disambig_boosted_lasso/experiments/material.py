"""The lists of each domain that the figures and the table of head words start from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from disambig.api.experiments import Progress

from ..kana.converter import Converter
from ..kana.dictionary import sudachi_lexicon
from .corpora import background, parts_of
from .reranking import Listed

SIZE, QUICK_SIZE, QUICK_EVERY, QUICK_DEV, QUICK_TEST = 8_000, 400, 20, 200, 300


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """The lists of one domain, of the background's language model.

    Attributes
    ----------
    domain : str
    train, dev, test : Listed
    """

    domain: str
    train: Listed
    dev: Listed
    test: Listed


def material(data: Path, names: Sequence[str], *, quick: bool, progress: Progress) -> Iterator[Material]:
    """Yield the lists of some domains."""
    text = background(data, progress, every=QUICK_EVERY if quick else 1)
    progress("learning the background", 0, 1)
    converter = Converter.learn(text, dictionary=None if quick else sudachi_lexicon())
    for number, name in enumerate(names):
        progress("converting kana", number, len(names))
        sizes = {"dev": QUICK_DEV, "test": QUICK_TEST} if quick else {}
        parts = parts_of(data, name, progress, **sizes)
        learned = parts.some(QUICK_SIZE if quick else SIZE)
        yield Material(name, *(Listed.of(converter, part) for part in (learned, parts.dev, parts.test)))
