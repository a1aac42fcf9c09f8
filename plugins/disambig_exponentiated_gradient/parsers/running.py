"""A run of the parser over sentences that come in lists: what is written, and what is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from disambig.api import UserError

from .parser import COARSE, LONG, MOST_BEST, NONE, Parser, check_whole
from .shown import FORMATS, Showing
from .tagging import Tagger
from .units import CONLLU, INPUTS, Placed

_AT_ONCE = 16
"""Sentences that are parsed before something is written."""


@dataclass(slots=True)
class Run:
    """Parse sentences and say what became of them.

    Attributes
    ----------
    parser : Parser
    showing : Showing
    nbest : int
        Trees a sentence, at most.
    tagger : Tagger, optional
        Tags words that have no tags.
    done : int
        Sentences so far.
    kinds : Counter of str
        How many of each `Parsed.kind`.
    """

    parser: Parser
    showing: Showing
    nbest: int = 1
    tagger: Tagger | None = None
    done: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def texts(self, sentences: Sequence[Placed]) -> Iterator[str]:
        """Yield what is written for some sentences, a few at a time."""
        for first in range(0, len(sentences), _AT_ONCE):
            some = sentences[first : first + _AT_ONCE]
            given = [sentence for _, sentence in some]
            tagged = given if self.tagger is None else self.tagger(given)
            parsed = self.parser.parses(tagged, k=self.nbest)
            made = []
            for (where, _), each in zip(some, parsed, strict=True):
                self.done += 1
                self.kinds[each.kind] += 1
                made.append(self.showing.one(self.done, where, each))
            yield "".join(made)

    def remarks(self) -> Iterator[str]:
        """Yield the lines that tell of sentences without a parse."""
        of = f"of {self.done:,} sentence{'s' * (self.done != 1)}"
        if n := self.kinds[NONE]:
            yield f"{n:,} {of}: no parse, {_flat(n)}"
        if n := self.kinds[LONG]:
            longest = self.parser.max_length
            yield f"{n:,} {of}: more than {longest:,} words (--max-length), {_flat(n)}"
        if n := self.kinds[COARSE]:
            yield f"{n:,} {of}: parsed by the grammar of plain labels alone, the other one has no parse"


def _flat(n: int) -> str:
    return "a flat tree stands in for it" if n == 1 else "flat trees stand in for them"


def check(
    format: str,
    input: str,
    nbest: int | None,
    width: int | None,
    max_length: int,
    output: Path | None,
    *,
    force: bool,
) -> None:
    """Refuse settings that cannot be, before anything is loaded (D671, D903, D310)."""
    for setting, value, names in (("--format", format, FORMATS), ("--input", input, INPUTS)):
        if value not in names:
            raise UserError("D671", setting=setting, value=value, names=", ".join(names))
    if nbest is not None:
        check_whole("--nbest", nbest, 1, MOST_BEST)
    if width is not None:
        check_whole("--width", width, 20, 10_000)
    check_whole("--max-length", max_length, 1, 10_000)
    if output is not None and output.exists() and not force:
        raise UserError("D310", path=output)


def kinds_of(paths: Sequence[str], kind: str) -> list[tuple[str, list[str]]]:
    """Return files that are read alike, in their order: those that end in .conllu are always CoNLL-U."""

    def of(path: str) -> str:
        plain = path
        for packed in (".gz", ".xz", ".zst"):
            plain = plain.removesuffix(packed)
        return CONLLU if plain.endswith(".conllu") else kind

    return [(each, list(group)) for each, group in groupby(paths, of)]
