"""The count table of "it" that experiments ask: the fillers of contexts in the counted text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from disambig.api.counts import write_table
from disambig.api.experiments import cached, text_lines

from ..plain_text import COUNTED, files
from .counting import count_fillers
from .normalised import STEMS, NormalisedWords

LEAST = 2
"""How often "it" and "they" together must be seen in a context for its fillers to be kept."""
LAYOUT = 1


def fillers_of(data: Path, *, progress: Callable[[str, int, int], None]) -> Path:
    """Return a table of the fillers of the contexts of "it" and "they" in the counted text."""
    sources = files(data, COUNTED)
    times = 0

    def texts() -> Iterator[str]:
        nonlocal times
        times += 1
        for number, path in enumerate(sources):
            progress(f"counting fillers, pass {times} of 2", number, len(sources))
            yield from text_lines(path)

    def make(path: Path) -> None:
        counted = count_fillers(texts, least=LEAST)
        name = NormalisedWords.name
        write_table(path, [counted], tokenisations=[name], gaps=[name], record="exact", info={})

    about = {"layout": LAYOUT, "least": LEAST, "tokenisation": NormalisedWords.name}
    return cached("fillers", ".counts", sources=[*sources, STEMS], about=about, make=make)
