"""Trees on one line each as columns of nodes, many thousand a second."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from disambig_exponentiated_gradient.treebank.cleaning import EMPTY, first_tree
from disambig_exponentiated_gradient.treebank.heads import head_child
from disambig_exponentiated_gradient.treebank.reading import DEEPEST
from disambig_exponentiated_gradient.treebank.tree import TOP
from disambig_exponentiated_gradient.treebank.writing import one_line

from .symbols import Symbols

Column = NDArray[np.int32]
Ints = NDArray[np.int64]
_TOKEN = re.compile(r"[()]|[^() \t\r\n\f\v]+")
_BEGIN = f"({TOP} ("
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """The nodes of trees, those of a tree in preorder and behind one another.

    Attributes
    ----------
    nodes, words : arrays of int64, shape (n_trees + 1,)
        Where the nodes, and the words, of each tree begin.
    label, word : arrays of int32, shape (n_nodes,)
        Symbols; the word of a constituent is -1.
    parent, after : arrays of int32, shape (n_nodes,)
        A node's parent, and the next of its parent's children; -1 for none. The first child of a constituent
        is the next node.
    start, end : arrays of int32, shape (n_nodes,)
        Its words are those from `start` to before `end`, counted through all trees.
    head, leaf : arrays of int32, shape (n_nodes,)
        Head child (-1 of a word), and the node of the head word.
    leaf_of : array of int32, shape (n_words,)
        The node of each word.
    """

    nodes: Ints
    words: Ints
    label: Column
    word: Column
    parent: Column
    after: Column
    start: Column
    end: Column
    head: Column
    leaf: Column
    leaf_of: Column

    def __len__(self) -> int:
        return len(self.nodes) - 1

    @property
    def arrays(self) -> tuple[Column, ...]:
        """What kernels take."""
        return (
            self.label, self.word, self.parent, self.after, self.start, self.end, self.head, self.leaf,
            self.leaf_of,
        )  # fmt: skip


@dataclass(slots=True)
class ForestReader:
    """Read trees, again and again, with the same symbols.

    Attributes
    ----------
    symbols : Symbols
    """

    symbols: Symbols = field(default_factory=Symbols)
    _heads: dict[tuple[int, ...], int] = field(default_factory=dict)
    _heads_of_keys: dict[int, int] = field(default_factory=dict)

    def read(self, texts: Sequence[str]) -> Forest:
        """Return the nodes of the first tree of each text; a text without a tree has none.

        Labels are without function tags, traces are left out.

        Raises
        ------
        UserError
            D630, D631 for brackets that make no tree.
        """
        cut = [text if text.startswith(_BEGIN) and EMPTY not in text else _clean(text) for text in texts]
        forest, sound = self._read(cut)
        if not sound.all():
            cut = [text if good else _clean(text) for text, good in zip(cut, sound.tolist(), strict=True)]
            forest, sound = self._read(cut)
            assert sound.all()
        return forest

    def _read(self, texts: Sequence[str]) -> tuple[Forest, NDArray[np.bool_]]:
        from .forest_kernels import OPEN, head_words, read_forest

        n, found = len(texts), [_TOKEN.findall(text) for text in texts]
        token_starts = np.concatenate([[0], np.cumsum([len(each) for each in found], dtype=np.int64)])
        number = self.symbols.number
        tokens = np.fromiter(
            (number[token] for each in found for token in each), np.int32, int(token_starts[-1])
        )
        is_open = tokens == OPEN
        nodes = np.concatenate([[0], np.cumsum(is_open)])[token_starts].astype(np.int64)
        total = int(nodes[-1])
        label, word, parent, after, start, end = (np.zeros(total, np.int32) for _ in range(6))
        columns = label, word, parent, after, start, end
        is_word = np.zeros(len(tokens) + 1, np.bool_)
        # a word stands behind a label; a text that is no tree may have more of them, and never less
        is_word[2:-1] = (tokens[2:] > 1) & (tokens[1:-1] > 1)
        words = np.concatenate([[0], np.cumsum(is_word)])[token_starts].astype(np.int64)
        leaves, sound = np.zeros(int(words[-1]), np.int32), np.zeros(n, np.bool_)
        read_forest(tokens, token_starts, DEEPEST, nodes, words, *columns, leaves, sound)
        if not sound.all():
            empty = np.zeros(0, np.int32)
            return Forest(nodes, words, *columns, empty, empty, leaves), sound
        np.take(self.symbols.plain, label, out=label)
        head, leaf = np.empty(total, np.int32), np.empty(total, np.int32)
        head_words(word, after, self._which(label, word, after), head, leaf)
        return Forest(nodes, words, *columns, head, leaf, leaves), sound

    def _which(self, label: Column, word: Column, after: Column) -> Column:
        """Return which child is the head of each node, found once for each rule."""
        from .forest_kernels import rule_keys

        keys = np.empty(len(label), np.uint64)
        rule_keys(label, word, after, keys, _MIX)
        rules, at, which = np.unique(keys, return_index=True, return_inverse=True)
        known = self._heads_of_keys
        heads = np.zeros(len(rules), np.int32)
        for i, (key, node) in enumerate(zip(rules.tolist(), at.tolist(), strict=True)):
            if key and key not in known:
                below, child = [], node + 1
                while child >= 0:
                    below.append(self.symbols.name(int(label[child])))
                    child = int(after[child])
                known[key] = head_child(self.symbols.name(int(label[node])), below)
            heads[i] = known[key] if key else 0
        found: Column = heads[which.ravel()]
        return found


def _clean(text: str) -> str:
    tree = first_tree(text)
    return "" if tree is None else one_line(tree)
