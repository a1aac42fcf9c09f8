"""Features of candidate trees after Collins (2000) and Charniak and Johnson (2005)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, Features, Group, Instances, TokenView, by_group, fitted_field
from disambig.api.arrays import Ints, offsets_from_sizes
from disambig.api.features import (
    KnownNgrams,
    Occurrences,
    as_features,
    columns_named,
    count_known,
    distinguishing_ngrams,
    known_ngrams_from_state,
    require_lists,
)
from disambig.api.settings import COUNT, validate_settings

from ..treebank.binarisation import head_child
from ..treebank.reading import DEEPEST, EMPTY, TOKEN, single_tree
from ..treebank.tree import TOP, format_one_line
from .symbols import TEMPLATES, TreeSymbols

Column = NDArray[np.int32]
_BEGIN = f"({TOP} ("


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """The nodes of trees: each tree in preorder, one after the other."""

    # int64 (n_trees + 1,): start of each tree's nodes, and of its words
    nodes: Ints
    words: Ints
    # int32 (n_nodes,): symbols; the word of a constituent is -1
    label: Column
    word: Column
    # int32 (n_nodes,): a node's parent, and its next sibling; -1 for none. The first child of a constituent
    # is the next node
    parent: Column
    after: Column
    # int32 (n_nodes,): its words are those from `start` to before `end`, numbered across all trees
    start: Column
    end: Column
    # int32 (n_nodes,): head child (-1 for a word), and the node of the head word
    head: Column
    leaf: Column
    leaf_of: Column  # int32 (n_words,): the node of each word

    def __len__(self) -> int:
        return len(self.nodes) - 1

    @property
    def arrays(self) -> tuple[Column, ...]:
        """Arguments of the compiled functions."""
        return (
            self.label, self.word, self.parent, self.after, self.start, self.end, self.head, self.leaf,
            self.leaf_of,
        )  # fmt: skip


@dataclass(slots=True)
class ForestReader:
    """Reads trees repeatedly with the same symbols."""

    symbols: TreeSymbols = field(default_factory=TreeSymbols)
    _heads_by_key: dict[int, int] = field(default_factory=dict)

    def read(self, texts: Sequence[str]) -> Forest:
        """Return the nodes of the first tree of each text; a text without a tree has none.

        Function tags and traces are removed.

        Raises D630, D631 for brackets that do not form a tree.
        """
        cleaned = [text if text.startswith(_BEGIN) and EMPTY not in text else _clean(text) for text in texts]
        forest, is_tree = self._read(cleaned)
        if not is_tree.all():
            cleaned = [
                text if valid else _clean(text) for text, valid in zip(cleaned, is_tree.tolist(), strict=True)
            ]
            forest, is_tree = self._read(cleaned)
            assert is_tree.all()
        return forest

    def _read(self, texts: Sequence[str]) -> tuple[Forest, NDArray[np.bool_]]:
        """Return bracketed trees as a forest, and which of them were read completely."""
        from ._kernels import OPEN, head_words, read_forest

        n, token_lists = len(texts), [TOKEN.findall(text) for text in texts]
        token_starts = offsets_from_sizes(map(len, token_lists))
        numbers = self.symbols.number
        tokens = np.fromiter(
            (numbers[token] for row in token_lists for token in row), np.int32, int(token_starts[-1])
        )
        is_open = tokens == OPEN
        nodes = offsets_from_sizes(is_open)[token_starts].astype(np.int64)
        total = int(nodes[-1])
        label, word, parent, after, start, end = (np.zeros(total, np.int32) for _ in range(6))
        columns = label, word, parent, after, start, end
        is_word = np.zeros(len(tokens) + 1, np.bool_)
        # a word follows a label; a text that is not a tree may have more labels, and never fewer
        is_word[2:-1] = (tokens[2:] > 1) & (tokens[1:-1] > 1)
        words = offsets_from_sizes(is_word)[token_starts].astype(np.int64)
        leaves, sound = np.zeros(int(words[-1]), np.int32), np.zeros(n, np.bool_)
        read_forest(tokens, token_starts, DEEPEST, nodes, words, *columns, leaves, sound)
        if not sound.all():
            empty = np.zeros(0, np.int32)
            return Forest(nodes, words, *columns, empty, empty, leaves), sound
        np.take(self.symbols.plain, label, out=label)
        head, leaf = np.empty(total, np.int32), np.empty(total, np.int32)
        head_words(word, after, self._head_children(label, word, after), head, leaf)
        return Forest(nodes, words, *columns, head, leaf, leaves), sound

    def _head_children(self, label: Column, word: Column, after: Column) -> Column:
        """Return the head child of each node, computed once per rule."""
        from ._kernels import rule_keys

        keys = np.empty(len(label), np.uint64)
        rule_keys(label, word, after, keys)
        rules, at, which = np.unique(keys, return_index=True, return_inverse=True)
        known_keys = self._heads_by_key
        heads = np.zeros(len(rules), np.int32)
        for i, (key, node) in enumerate(zip(rules.tolist(), at.tolist(), strict=True)):
            if key and key not in known_keys:
                children, child = [], node + 1
                while child >= 0:
                    children.append(self.symbols.name(int(label[child])))
                    child = int(after[child])
                known_keys[key] = head_child(self.symbols.name(int(label[node])), children)
            heads[i] = known_keys[key] if key else 0
        numbers: Column = heads[which.ravel()]
        return numbers


def _clean(text: str) -> str:
    """Return the tree of a text on one line, without traces; an empty text if it has none."""
    tree = single_tree(text)
    return "" if tree is None else format_one_line(tree)


_FEATURES_PER_NODE = 24
"""Approximate number of features per bracket."""
_SYMBOLS_PER_FEATURE = 8
"""Approximate number of symbols per feature."""
_BITS = 32
"""Low bits of a feature's position for its number within its tree; the candidate's index is above them."""
_TREES_AT_ONCE = 400
"""Number of trees whose features are named at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeOccurrences:
    """Features of candidates whose texts are trees."""

    texts: Sequence[str]
    reader: ForestReader = field(default_factory=ForestReader)

    @property
    def sizes(self) -> Ints:
        """Approximate number of features per candidate, shape ``(n_candidates,)``, for equal blocks."""
        return _FEATURES_PER_NODE * np.fromiter(
            (text.count("(") for text in self.texts), np.int64, len(self.texts)
        )

    def occur(self, first: int, last: int) -> Occurrences:
        """Return the features of candidates `first` to `last` (exclusive); rows count from 0."""
        from ._kernels import write_keys

        forest = self.reader.read(self.texts[first:last])
        out, ends = self._describe(forest)
        keys = np.empty(out[1], np.uint64)
        write_keys(out, self.reader.symbols.hashes, keys)
        sizes = np.diff(ends, prepend=0)
        rows = np.repeat(np.arange(len(sizes)), sizes)
        numbers = np.arange(len(keys)) - np.repeat(ends - sizes, sizes)
        return Occurrences(keys, rows, ((rows + first) << _BITS) | numbers)

    def names(self, places: Ints) -> list[str]:
        """Return the names of features."""
        from ._kernels import write_starts

        trees, numbers = places >> _BITS, places & ((1 << _BITS) - 1)
        wanted, ranks = np.unique(trees, return_inverse=True)
        order = np.argsort(ranks.ravel(), kind="stable")
        by_tree = offsets_from_sizes(np.bincount(ranks.ravel(), minlength=len(wanted)))
        names = [""] * len(places)
        for first in range(0, len(wanted), _TREES_AT_ONCE):
            block = wanted[first : first + _TREES_AT_ONCE].tolist()
            out, ends = self._describe(self.reader.read([self.texts[i] for i in block]))
            starts = np.empty(out[1], np.int64)
            write_starts(out, starts)
            before = np.concatenate([[0], ends])
            for i in range(len(block)):
                for place in order[by_tree[first + i] : by_tree[first + i + 1]].tolist():
                    at = int(starts[before[i] + numbers[place]])
                    names[place] = self._name(out[at + 1 : at + 1 + out[at]].tolist())
        return names

    def _name(self, symbols: list[int]) -> str:
        template, *rest = map(self.reader.symbols.name, symbols)
        return f"{template}: {' '.join(rest)}"

    def _describe(self, forest: Forest) -> tuple[NDArray[np.int32], Ints]:
        """Return the features (see `emit`), and the number of features up to each tree."""
        from ._kernels import write_features

        capacity = 2 + _FEATURES_PER_NODE * _SYMBOLS_PER_FEATURE * len(forest.label)
        while True:
            out, ends = np.empty(capacity, np.int32), np.zeros(len(forest), np.int64)
            write_features(forest.nodes, forest.words, forest.arrays, self.reader.symbols.closed, out, ends)
            if out[0] <= capacity:
                return out, ends
            capacity = int(out[0])


_WORDS = "words"


@dataclass(frozen=True, slots=True, eq=False)
class TreeFeatures:
    """Extractor with one sparse row per candidate tree: the number of occurrences of each feature.

    Features are rules with their ancestors and contents, pairs and triples of children, heads with their
    modifiers, phrases with their attachments, the shape of constituents, and paths between words
    (see `TEMPLATES`). Traces and function tags are ignored; a text without a tree has no features.

    Parameters
    ----------
    least : int
        Minimum number of training lists in which some candidates have a feature and others do not.

    Raises
    ------
    UserError
        D452 for an invalid setting.
    """

    least: int = 5
    ngrams: KnownNgrams | None = fitted_field(None)
    describes: ClassVar[str] = "lists"

    def __post_init__(self) -> None:
        validate_settings(self, least=COUNT)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> TreeFeatures:
        """Keep the features that separate the candidates of enough lists.

        Raises D630, D631 for texts whose brackets do not form a tree.
        """
        lists = require_lists(instances, self)
        fragments = TreeOccurrences(lists.texts)
        return replace(self, ngrams=distinguishing_ngrams(fragments, lists.offsets, self.least))

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the rows of all candidates; ValueError if the extractor is not fitted.

        Raises D630, D631 for texts whose brackets do not form a tree.
        """
        if self.ngrams is None:
            raise ValueError("no feature is known yet: fit the extractor first")
        lists = require_lists(instances, self)
        rows, held = count_known(TreeOccurrences(lists.texts), lists.offsets, self.ngrams)
        numbers = {name: i for i, name in enumerate(TEMPLATES)}
        kinds = np.fromiter(
            (numbers[name.partition(":")[0]] for name in self.ngrams.names), np.int32, len(self.ngrams)
        )
        columns = columns_named(self.ngrams.names, kinds, TEMPLATES)
        return as_features(rows, columns, instances, group, held)

    def state(self) -> Arrays:
        """Return the features."""
        return {} if self.ngrams is None else self.ngrams.state()

    def from_state(self, arrays: Arrays) -> TreeFeatures:
        """Return an extractor with the features of a saved state; ValueError for invalid arrays."""
        return replace(self, ngrams=known_ngrams_from_state(arrays, _WORDS) if arrays else None)
