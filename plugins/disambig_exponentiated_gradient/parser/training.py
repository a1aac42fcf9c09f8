"""Training of a parser on a user's treebank, with measurements on held-out trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disambig.api import UserError
from disambig.api.arrays import minibatch
from disambig.api.experiments import Progress, no_progress
from disambig.api.packs import standalone_card

from ..grammar.treebank_grammar import TreebankGrammar
from ..treebank.binarisation import Binarisation
from ..treebank.parseval import Parseval
from ..treebank.reading import MAX_WORDS, filter_by_length, read_treebank, split_last
from ..treebank.tree import Tree
from .parser import Parser

SHARE = 0.1
"""Share of the trees that are held out."""
_MIN_TREES = 2
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class ParserTrainingData:
    """Trees for training and for measurements."""

    learned: tuple[Tree, ...]
    held_out: tuple[Tree, ...]
    # whether the held-out trees are part of the treebank, so that the final parser is trained on them, too
    is_own: bool

    @classmethod
    def from_files(
        cls,
        paths: Sequence[str | Path],
        held_out: str | Path | None = None,
        *,
        encoding: str | None = None,
        note: Callable[[str], object] = lambda line: None,
    ) -> ParserTrainingData:
        """Return the trees of files, directories or archives.

        If there are several files, the last ones with about a tenth of all trees are held out; of a single
        file, the last tenth of its trees.

        `held_out` are other trees for measurements. `encoding` is that of all files, by default UTF-8. `note`
        is called with a line about files that are not read. Raises the errors of `read_treebank`, D905 if
        there are too few trees.
        """
        files: list[list[Tree]] = []
        for path in paths:
            files += read_treebank(path, encoding=encoding, note=note).values()
        files = [trees for trees in files if trees]
        n = sum(map(len, files))
        if held_out is not None:
            other_files = read_treebank(held_out, encoding=encoding, note=note).values()
            others = tuple(tree for trees in other_files for tree in trees)
            if not n or not others:
                raise UserError("D905", n=n if not n else 0, least=1, path=paths[0] if not n else held_out)
            return cls(tuple(tree for trees in files for tree in trees), others, False)
        if n < _MIN_TREES:
            raise UserError("D905", n=n, least=_MIN_TREES, path=", ".join(map(str, paths)))
        if len(files) == 1:
            first = min(n - 1, n - round(SHARE * n)) or 1
            return cls(tuple(files[0][:first]), tuple(files[0][first:]), True)
        return cls(*split_last(files, SHARE), True)


@dataclass(frozen=True, slots=True)
class TrainedParser:
    """A trained parser with its measurements."""

    parser: Parser
    trees: int  # number of training trees of the final parser, without those of a separate held-out file
    # number of training trees of the measured grammar, and of trees that it was measured on
    learned: int
    held_out: int
    counts: Parseval  # counts for the held-out trees of at most 40 words

    @property
    def details(self) -> dict[str, Any]:
        """The measurements as plain values, for the header of a stored parser."""
        return {
            "trees": self.trees,
            "held_out": self.held_out,
            "measured": len(self.counts),
            **parse_figures(self.counts),
        }


def parse_figures(counts: Parseval) -> dict[str, Any]:
    """Return the PARSEVAL figures, rounded; None if there are no brackets."""
    names = ("f1", "precision", "recall", "exact", "tagging")
    values = {name: round(float(getattr(counts, name)), 5) for name in names}
    return {name: None if value != value else value for name, value in values.items()}


def train_on(
    data: ParserTrainingData,
    *,
    horizontal: int = 2,
    vertical: int = 2,
    language: str = "en",
    progress: Progress = no_progress,
) -> TrainedParser:
    """Train a parser on a treebank, and measure one that was trained without the held-out trees.

    If the held-out trees were split off from `data`, the parser that is returned is trained on all trees.

    `horizontal` and `vertical` are the context in the symbols (see `treebank.Binarisation`).
    """
    binarisation = Binarisation(horizontal, vertical)
    progress("learning", 0, 1)
    grammar = TreebankGrammar.from_trees(data.learned, binarisation)
    progress("learning", 1, 1)
    measured = filter_by_length(data.held_out, MAX_WORDS)
    parser = Parser(grammar, language, max_length=MAX_WORDS)
    counts = Parseval.from_trees(measured, parse_again(parser, measured, progress))
    n_learned, n_held_out = len(data.learned), len(data.held_out)
    if not data.is_own:
        return TrainedParser(Parser(grammar, language), n_learned, n_learned, n_held_out, counts)
    progress("learning from all", 0, 1)
    grammar = TreebankGrammar.from_trees((*data.learned, *data.held_out), binarisation)
    progress("learning from all", 1, 1)
    return TrainedParser(Parser(grammar, language), n_learned + n_held_out, n_learned, n_held_out, counts)


def parse_again(parser: Parser, trees: Sequence[Tree], progress: Progress = no_progress) -> list[Tree | None]:
    """Return a parser's trees for the words of other trees."""
    reparsed: list[Tree | None] = []
    for batch in minibatch(trees, _AT_ONCE):
        reparsed += parser.parse_words([tree.words() for tree in batch])
        progress("measuring", len(reparsed), len(trees))
    return reparsed


def training_card(trained: TrainedParser, name: str) -> str:
    """Return the card of the parser in Markdown."""
    use = f"disambig parse --model {name} text.txt"
    return standalone_card(trained.parser, name, use=use, training=training_summary(trained, name))


def training_summary(trained: TrainedParser, name: str) -> list[str]:
    """Return lines that summarise the training."""
    counts = trained.counts
    lines = [f"{name}: learned from {trained.trees:,} trees"]
    if counts.f1 != counts.f1:
        return [*lines, f"not evaluated: no held-out tree of at most {MAX_WORDS} words has a bracket"]
    n = f"{len(counts):,} tree{'s' * (len(counts) != 1)}"
    lines.append(
        f"F1 {100 * counts.f1:.1f} on {n} of at most {MAX_WORDS} words, held out, with a grammar learned "
        f"from {trained.learned:,} other trees (precision {100 * counts.precision:.1f}, recall "
        f"{100 * counts.recall:.1f}; {100 * counts.tagging:.1f}% of the tags are right)"
    )
    return lines
