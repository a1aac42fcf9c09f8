"""The corpora: a newspaper-like background and the domains to adapt to, cut into words once and kept.

Every sentence is read by SudachiPy; its reading is what is converted, and the sentence what should come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api.experiments import Progress, cached, text_lines

from ..kana.readings import version, words_of
from ..kana.segmented import Segmented, read_segmented, write_segmented
from ..kana.settings import ConverterSettings

BACKGROUND = ("livedoor", "wikinews")
SIZES = (800, 8_000, 72_000)
DEV, TEST = 1_500, 3_000
"""Sentences, at most."""
DEV_SHARE = 0.3
"""Of the held-out documents, the first so many are for choosing, the others for testing."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain to adapt to.

    Attributes
    ----------
    name : str
    like : str
        The paper's domain that it is most like; empty where there is none.
    sizes : tuple of int
        Sentences to learn from.
    """

    name: str
    like: str = ""
    sizes: tuple[int, ...] = SIZES


DOMAINS = (
    Domain("dialogue"),
    Domain("wikipedia", "Encarta", SIZES[:2]),
    Domain("law"),
    Domain("novels", "Shincho"),
)


@dataclass(frozen=True, slots=True)
class Parts:
    """Sentences of a domain: to learn from, to choose by, to test on; no document is in two of these.

    Attributes
    ----------
    train : Segmented
        All that there are; `some` takes as many as are wanted.
    dev, test : Segmented
    """

    train: Segmented
    dev: Segmented
    test: Segmented

    def some(self, size: int) -> Segmented:
        """Return so many sentences to learn from, spread evenly over the documents."""
        return spread(self.train, size)


def files_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return what must be in the data directory for some corpora."""
    return tuple(f"japanese/{name}{part}.txt.xz" for name in names for part in ("", ".heldout"))


def background(data: Path, progress: Progress, *, every: int = 1) -> Segmented:
    """Return the text of the background, of which each so many-th sentence is taken."""
    texts = [segmented(data / f"japanese/{name}.txt.xz", progress) for name in BACKGROUND]
    return Segmented.joined([text.take(np.arange(0, len(text), every)) for text in texts])


def parts_of(data: Path, name: str, progress: Progress, *, dev: int = DEV, test: int = TEST) -> Parts:
    """Return the sentences of a domain."""
    held_out = segmented(data / f"japanese/{name}.heldout.txt.xz", progress)
    first = int(DEV_SHARE * len(held_out))
    return Parts(
        segmented(data / f"japanese/{name}.txt.xz", progress),
        spread(held_out[:first], dev),
        spread(held_out[first:], test),
    )


def spread(text: Segmented, most: int) -> Segmented:
    """Return so many sentences at most, spread evenly."""
    return text if len(text) <= most else text.take(evenly(np.arange(len(text)), most))


def evenly(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return so many of some rows at most, spread evenly."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def segmented(path: Path, progress: Progress) -> Segmented:
    """Return the sentences of a file, cut into words with their readings; kept in the user's cache.

    Raises
    ------
    UserError
        D670 where SudachiPy or its dictionary is not installed; those of `text_lines` for the file.
    """
    mode = ConverterSettings().mode
    progress(f"cutting {path.name} into words", 0, 1)

    def make(unfinished: Path) -> None:
        write_segmented(unfinished, words_of(text_lines(path), mode=mode))

    about = {"mode": mode, "cut by": version()}
    return read_segmented(cached("segmented", ".tsv", sources=[path], about=about, make=make))
