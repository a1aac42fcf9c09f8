"""The two treebanks of the experiments: sections of the Wall Street Journal, articles of CRAFT.

Marcus, Santorini and Marcinkiewicz, Building a large annotated corpus of English: the Penn Treebank
(Computational Linguistics 19, 1993); Verspoor et al., A corpus of full-text journal articles is a robust
evaluation tool (BMC Bioinformatics 13:207, 2012).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from disambig.api import UserError

from .files import treebank
from .tree import Tree

PENN = "labelled/ptb-sample/treebank-combined.tar.xz"
CRAFT = "labelled/craft/craft-penn.tar.xz"
LONGEST = 40
"""Words of a sentence that the field's figures are given for, at most."""
_WSJ = re.compile(r"wsj_(\d\d)\d\d")


@dataclass(frozen=True, slots=True)
class Split:
    """Trees to learn from, to choose settings by, and to test on.

    Attributes
    ----------
    train, dev, test : tuples of Tree
    """

    train: tuple[Tree, ...]
    dev: tuple[Tree, ...]
    test: tuple[Tree, ...]


def penn_sections(data: Path, *, functions: bool = False) -> dict[str, dict[str, list[Tree]]]:
    """Return the trees of each file of each section of the sample, such as ``["00"]["wsj_0003"]``.

    Parameters
    ----------
    data : Path
        Folder of the research data.
    functions : bool
        Whether function tags stay.

    Raises
    ------
    UserError
        D632 where a file does not say its section, and what `treebank` raises.
    """
    sections: dict[str, dict[str, list[Tree]]] = {}
    for name, trees in treebank(data / PENN, functions=functions).items():
        section = _WSJ.fullmatch(name)
        if section is None:
            raise UserError("D632", path=data / PENN, problem=f"{name!r} is not called like wsj_0003")
        sections.setdefault(section[1], {})[name] = trees
    return sections


def craft_articles(data: Path, *, functions: bool = False) -> dict[str, list[Tree]]:
    """Return the trees of each article of CRAFT, by its PubMed number."""
    return treebank(data / CRAFT, functions=functions)


def penn_split(data: Path, train: str = "00", test: str = "01", *, functions: bool = False) -> Split:
    """Return one section to learn from, its last tenth of files to choose by, and another one to test on."""
    sections = penn_sections(data, functions=functions)
    for section in (train, test):
        if section not in sections:
            problem = f"there is no section {section!r}, only {', '.join(sorted(sections))}"
            raise UserError("D632", path=data / PENN, problem=problem)
    learned, chosen = without_last(list(sections[train].values()))
    return Split(learned, chosen, _joined(list(sections[test].values())))


def craft_split(data: Path, *, seed: int = 0, functions: bool = False) -> Split:
    """Return articles of CRAFT, in a random order: a fifth to test on, a tenth of the others to choose by."""
    articles = list(craft_articles(data, functions=functions).values())
    order = np.random.default_rng(seed).permutation(len(articles)).tolist()
    n_test = max(1, len(order) // 5)
    learned, chosen = without_last([articles[i] for i in order[n_test:]])
    return Split(learned, chosen, _joined([articles[i] for i in order[:n_test]]))


def without_last(
    files: Sequence[Sequence[Tree]], share: float = 0.1
) -> tuple[tuple[Tree, ...], tuple[Tree, ...]]:
    """Return the trees of the first files, and those of the last ones, which hold about a `share` of all."""
    total, behind, first = sum(map(len, files)), 0, len(files)
    while first > 1 and behind < share * total:
        first -= 1
        behind += len(files[first])
    return _joined(files[:first]), _joined(files[first:])


def no_longer(trees: Sequence[Tree], most: int = LONGEST) -> list[Tree]:
    """Return the trees of at most so many words, punctuation counted."""
    return [tree for tree in trees if len(tree.words()) <= most]


def _joined(files: Sequence[Sequence[Tree]]) -> tuple[Tree, ...]:
    return tuple(tree for file in files for tree in file)
