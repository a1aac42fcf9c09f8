"""The treebanks of the experiments, and the lists of their sentences, which are made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from disambig.api.experiments import Progress, cached
from disambig_exponentiated_gradient.grammar.treebank_grammar import TreebankGrammar
from disambig_exponentiated_gradient.reranking.lists import FOLDS, K, TreeLists, candidates, jackknifed
from disambig_exponentiated_gradient.reranking.stored import read_lists, write_lists
from disambig_exponentiated_gradient.treebank import corpora
from disambig_exponentiated_gradient.treebank.corpora import CRAFT, LONGEST, PENN
from disambig_exponentiated_gradient.treebank.tree import Tree

LAYOUT = 1
"""Changes where lists are made in another way: those of before are made anew."""
CRAFT_TREES, CRAFT_LISTS, CRAFT_TEST = 8_000, 1_500, 1_500
"""Sentences of CRAFT, spread evenly over its articles: of the grammar; of these that get a list to learn
from; to test on."""
QUICK_TRAIN, QUICK_TEST, QUICK_K, QUICK_FOLDS = 300, 60, 20, 3


@dataclass(frozen=True, slots=True)
class Bank:
    """Trees to learn from and to test on.

    Attributes
    ----------
    name : str
    train, test : tuples of Tree
        In the order of the text.
    """

    name: str
    train: tuple[Tree, ...]
    test: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A treebank divided in a way.

    Attributes
    ----------
    name : str
        What tables call it.
    file : str
        In the directory of the data.
    folds : int
        For jack-knifing.
    train, test : str
        Sections of the Wall Street Journal; empty for CRAFT, whose articles are divided.
    """

    name: str
    file: str
    folds: int = FOLDS
    train: str = ""
    test: str = ""
    needs: ClassVar[tuple[str, ...]] = (PENN, CRAFT)

    def bank(self, data: Path) -> Bank:
        """Return the trees: the development part is learned from."""
        if self.file == CRAFT:
            split = corpora.craft_split(data)
        else:
            split = corpora.penn_split(data, self.train, self.test)
        train: Sequence[Tree] = (*split.train, *split.dev)
        return Bank(self.name, tuple(spread(train, CRAFT_TREES) if self.file == CRAFT else train), split.test)


SOURCES = (
    Source("WSJ 00 to 01", PENN, train="00", test="01"),
    Source("WSJ 01 to 00", PENN, train="01", test="00"),
    Source("CRAFT", CRAFT, folds=5),
)


def lists_of(source: Source, data: Path, *, quick: bool, progress: Progress) -> Mapping[str, TreeLists]:
    """Return the lists to learn from (``"train"``), by jack-knifing, and those to test on (``"test"``).

    Sentences of up to 40 words have one; with `quick` a few of those up to 20.
    """
    about = {"layout": LAYOUT, "train": source.train, "test": source.test, "quick": quick, "k": K}
    about |= {"longest": LONGEST}
    about |= {"some": (CRAFT_TREES, CRAFT_LISTS, CRAFT_TEST, source.folds)} if source.file == CRAFT else {}
    found = {}
    for part in ("train", "test"):

        def make(path: Path, part: str = part) -> None:
            write_lists(path, _made(source, part, data, quick=quick, progress=progress))

        path = cached(
            "tree-lists", ".npz", sources=[data / source.file], about={**about, "part": part}, make=make
        )
        found[part] = read_lists(path)
    return found


def _made(source: Source, part: str, data: Path, *, quick: bool, progress: Progress) -> TreeLists:
    bank = source.bank(data)
    train = bank.train[:QUICK_TRAIN] if quick else bank.train
    longest = LONGEST // 2 if quick else LONGEST
    k, folds = (QUICK_K, QUICK_FOLDS) if quick else (K, source.folds)

    def told(done: int, of: int) -> None:
        progress(f"{source.name}: parsing {part}", done, of)

    most = CRAFT_LISTS if source.file == CRAFT else None
    if part == "train":
        return jackknifed(train, longest=longest, k=k, folds=folds, most=most, told=told)
    test = corpora.no_longer(bank.test, longest)
    some = test[:QUICK_TEST] if quick else spread(test, CRAFT_TEST) if source.file == CRAFT else test
    return candidates(TreebankGrammar.of(train), some, k, told)


def spread(trees: Sequence[Tree], n: int) -> list[Tree]:
    """Return n of the trees, spread evenly over all."""
    places = np.linspace(0, len(trees) - 1, min(n, len(trees))).astype(int)
    return [trees[i] for i in places.tolist()]
