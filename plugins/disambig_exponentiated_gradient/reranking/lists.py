"""Lists of candidate trees: made by a parser, cross-fitted for training, and stored in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api.tasks import CandidateLists

from ..grammar.treebank_grammar import TreebankGrammar, TreebankParser, flat_tree
from ..treebank.parseval import Parseval, TreeBrackets
from ..treebank.reading import leave_out_folds
from ..treebank.tree import Tree, format_one_line

K = 50
"""Maximum number of trees per list."""
FOLDS = 10
UNKNOWN = "NN"
"""Tag of the words of a sentence without a parse."""
_AT_ONCE = 100
"""Number of sentences whose charts are in memory at a time."""
Report = Callable[[int, int], None]


_COUNTS = tuple(field.name for field in fields(Parseval))


@dataclass(frozen=True, slots=True, eq=False)
class TreeLists:
    """Sentences with their candidate trees."""

    # a candidate's text is its tree on one line, its score the log probability, and its cost the number of
    # missing and extra brackets
    lists: CandidateLists
    counts: Parseval  # counts of each candidate compared with the right tree
    references: tuple[str, ...]  # the right trees, on one line each

    def __len__(self) -> int:
        return len(self.references)

    def take(self, index: slice) -> TreeLists:
        """Return the lists of a range of sentences."""
        first, last, _ = index.indices(len(self))
        rows = slice(int(self.lists.offsets[first]), int(self.lists.offsets[last]))
        return TreeLists(self.lists.take(index), self.counts.take(rows), self.references[index])

    @classmethod
    def concat(cls, parts: Sequence[TreeLists]) -> TreeLists:
        """Return the sentences of all parts, concatenated."""
        columns = (np.concatenate([getattr(part.counts, name) for part in parts]) for name in _COUNTS)
        references = tuple(reference for part in parts for reference in part.references)
        return cls(CandidateLists.joined([part.lists for part in parts]), Parseval(*columns), references)


def candidate_trees(
    grammar: TreebankGrammar, gold: Sequence[Tree], k: int = K, report: Report | None = None
) -> TreeLists:
    """Return up to `k` trees from a grammar for each sentence, with the right trees.

    A sentence without a parse has one candidate, with all words directly below the top.

    Candidates are made only from the words of `gold`. `report` is called with the number of parsed sentences,
    and the number of sentences.
    """
    parser = TreebankParser(grammar)
    parts = []
    for first in range(0, len(gold), _AT_ONCE):
        if report is not None:
            report(first, len(gold))
        parts.append(_candidates(parser, gold[first : first + _AT_ONCE], k))
    return TreeLists.concat(parts)


def jackknife_lists(
    trees: Sequence[Tree],
    *,
    learn: Callable[[Sequence[Tree]], TreebankGrammar] = TreebankGrammar.from_trees,
    longest: int | None = None,
    maximum: int | None = None,
    k: int = K,
    folds: int = FOLDS,
    report: Report | None = None,
) -> TreeLists:
    """Return training lists: the grammar that parses a sentence is trained on the other folds only.

    Collins, Discriminative reranking for natural language parsing (ICML 2000), section 5: a parser is too
    good on its own training sentences, so their lists would differ from those of new sentences.

    Parameters
    ----------
    trees : sequence of Tree
        In text order: the sentences of a fold are adjacent.
    learn : callable
        Function from trees to a grammar.
    longest : int, optional
        Longer sentences are used for the grammars, but get no list.
    maximum : int, optional
        Maximum number of lists, for sentences spread evenly; grammars use all sentences.
    report : callable, optional
        Called with the number of parsed sentences, and the number of sentences.
    """
    parts, n_done = [], 0
    for others, fold in leave_out_folds(trees, folds, longest=longest, maximum=maximum):
        if report is not None:
            report(n_done, len(trees))
        if fold:
            parts.append(candidate_trees(learn(others), fold, k))
        n_done += len(trees) - len(others)
    return TreeLists.concat(parts)


def _candidates(parser: TreebankParser, gold: Sequence[Tree], k: int) -> TreeLists:
    """Return the lists of the k best trees of the gold trees' sentences."""
    sentences = [tree.words() for tree in gold]
    parsed = parser.parses(sentences, k=k)
    trees = [
        sentence.trees or (flat_tree(words, [UNKNOWN] * len(words)),)
        for sentence, words in zip(parsed, sentences, strict=True)
    ]
    plain = CandidateLists.from_texts([[format_one_line(tree) for tree in row] for row in trees])
    scores = [score for sentence in parsed for score in sentence.scores or (0.0,)]
    brackets = [TreeBrackets.from_tree(tree) for tree in gold]
    right = [gold_brackets for gold_brackets, row in zip(brackets, trees, strict=True) for _ in row]
    counts = Parseval.from_trees(right, [tree for row in trees for tree in row])
    lists = CandidateLists(
        plain.offsets, plain.texts, np.array(scores), plain.ranks, counts.errors.astype(np.float32)
    )
    return TreeLists(lists, counts, tuple(format_one_line(tree) for tree in gold))


def write_lists(path: Path, lists: TreeLists) -> None:
    """Write lists to a file of arrays (``.npz``)."""
    candidates = lists.lists
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            offsets=candidates.offsets,
            scores=candidates.scores,
            ranks=candidates.ranks,
            costs=candidates.costs,
            texts=_join_lines(candidates.texts),
            references=_join_lines(lists.references),
            **{name: getattr(lists.counts, name) for name in _COUNTS},
        )


def read_lists(path: Path) -> TreeLists:
    """Return the lists in a file of `write_lists`."""
    with np.load(path) as file:
        arrays: dict[str, NDArray[Any]] = dict(file)
    candidates = CandidateLists(
        arrays["offsets"], _split_lines(arrays["texts"]), arrays["scores"], arrays["ranks"], arrays["costs"]
    )
    counts = Parseval(*(arrays[name] for name in _COUNTS))
    return TreeLists(candidates, counts, tuple(_split_lines(arrays["references"])))


def _join_lines(texts: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


def _split_lines(letters: NDArray[np.uint8]) -> list[str]:
    return letters.tobytes().decode().split("\n")
