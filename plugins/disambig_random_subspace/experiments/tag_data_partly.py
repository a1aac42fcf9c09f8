"""Sentences that say something of their words' tags: parts of speech of NOAD-MASC, CRAFT's trees.

NOAD-MASC's senses give the part of speech of content words. CRAFT has Penn's tags, but its conventions differ
from EWT's for signs, letters and numbers, and for names of genes: these are left to the tagger.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from disambig.api import UserError
from disambig.api.formats import read_noad

from .tag_data_penn import TRACE, as_written, files_of

NOAD = "labelled/noad-masc/noad-masc.tar.xz"
CRAFT = "labelled/craft/craft-penn.tar.xz"
OF_KIND = {
    "NOUN": ("NN", "NNS", "NNP", "NNPS"),
    "VERB": ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"),
    "ADJ": ("JJ", "JJR", "JJS", "NNP", "DT", "PDT"),
    "ADV": tuple("RB RBR RBS RP WRB IN DT PDT EX UH CC JJR JJS".split()),
}
"""What a word with a sense of this part of speech may be."""
_UNSURE = frozenset(": , HYPH SYM LS FW AFX `` '' -LRB- -RRB- CD XX POS".split())
_NAMES = {"NN": ("NN", "NNP"), "NNS": ("NNS", "NNPS")}
_NAMES |= {"NNP": _NAMES["NN"], "NNPS": _NAMES["NNS"]}
_LEAF = re.compile(r"\(([^() ]+) ([^() ]+)\)")
SHORTEST, LONGEST = 3, 80
Partly = tuple[list[str], list[Collection[str]]]


def noad_partly(data: Path) -> Iterator[Partly]:
    """Yield the sentences of NOAD-MASC with what their words may be (errors: `read_noad`)."""
    for document in read_noad(data / NOAD).documents:
        kinds = {(place.start, place.end): place.pos for place in document.places}
        for spans in document.sentences:
            if SHORTEST <= len(spans) <= LONGEST:
                may = [OF_KIND.get(kinds.get(span, ""), ()) for span in spans]
                yield [document.text[start:end] for start, end in spans], list(may)


def craft_partly(data: Path) -> Iterator[Partly]:
    """Yield the sentences of CRAFT with what their words may be, file by file.

    Raises
    ------
    UserError
        D732 for an archive that cannot be read, is too large or has no tree.
    """
    path, found = data / CRAFT, False
    for _, text in files_of(path, ".tree"):
        for line in text.split("\n"):
            leaves = [(as_written(word), tag) for tag, word in _LEAF.findall(line) if tag != TRACE]
            found = found or bool(leaves)
            if SHORTEST <= len(leaves) <= LONGEST:
                yield [word for word, _ in leaves], [_may(tag) for _, tag in leaves]
    if not found:
        raise UserError("D732", path=path, problem="no tree in it")


def _may(tag: str) -> Collection[str]:
    return () if tag in _UNSURE else _NAMES.get(tag, (tag,))
