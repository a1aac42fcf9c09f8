"""Reading of treebanks: brackets to cleaned trees; files, folders, archives; the Penn and CRAFT banks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np

from disambig.api import UserError
from disambig.api.formats import corpus_files

from .tree import TOP, Tree, fold_tree

Item = TypeVar("Item")

DEEPEST = 500
"""Maximum depth of brackets (30 in the Penn Treebank)."""
MAX_WORD_LENGTH = 10_000
"""Maximum length of a label or a word in characters."""
MAX_WORDS_PER_TREE = 20_000
"""Maximum number of words in a tree (376 in CRAFT)."""
ROOTS = frozenset({"", "ROOT", "S1", TOP})
"""Labels of the bracket around a sentence in known treebanks and parsers."""
TOKEN = re.compile(r"[()]|[^() \t\r\n\f\v]+")
COMMENTS = ("#", "%", ";", "*x*")
"""Beginnings of comments between trees, which extend to the end of the line (``*x*``: Penn's licence)."""


@dataclass(slots=True)
class _OpenNode:
    """An open bracket, and its position in the text."""

    at: int
    label: str = ""
    word: str | None = None
    children: list[Tree] = field(default_factory=list)


def read_raw_trees(text: str, path: str = "trees") -> Iterator[Tree]:
    """Yield the trees of a text without changes, each in a bracket `TOP`; comments between trees are skipped.

    `path` is the source of the text, for messages. Raises D630, with `path` and line, for brackets that do
    not form a tree; D631 for a tree that exceeds the limits.
    """
    open_: list[_OpenNode] = []  # the brackets that are open, the outermost first
    n_words = root = comment_end = 0  # words of the tree; begins of the tree and of what follows a comment
    try:
        for match in TOKEN.finditer(text):
            at, token = match.start(), match[0]
            if at < comment_end:
                continue
            if token == "(":
                root = root if open_ else at
                if open_ and open_[-1].word is not None:
                    raise _BracketProblem(at, f"a bracket opens after the word {open_[-1].word[:40]!r}")
                open_.append(_OpenNode(at))
                _check_limit(at, "brackets in each other", len(open_), DEEPEST)
            elif token == ")":
                if not open_:
                    raise _BracketProblem(at, "a bracket closes that none opened")
                tree = _closed(open_.pop(), at, is_root=not open_)
                if tree.word is not None:
                    n_words += 1
                    _check_limit(at, "words in a tree", n_words, MAX_WORDS_PER_TREE)
                if open_:
                    open_[-1].children.append(tree)
                else:
                    n_words = 0
                    yield tree
            elif not open_:  # a comment
                if not token.startswith(COMMENTS):
                    raise _BracketProblem(at, f"{token[:40]!r} is outside of all brackets")
                comment_end = _line_end(text, at)
            else:  # a label, or the word after a label
                _check_limit(at, "characters in a word", len(token), MAX_WORD_LENGTH)
                node = open_[-1]
                if node.children or node.word is not None:
                    problem = f"{token[:40]!r} follows what ({node.label[:40]} already contains"
                    raise _BracketProblem(at, problem)
                if node.label:
                    node.word = token
                else:
                    node.label = token
        if open_:
            raise _BracketProblem(open_[-1].at, "the bracket that opens here is never closed")
    except _BracketProblem as problem:
        line, first = (1 + text.count("\n", 0, at) for at in (problem.at, root))
        if problem.most:
            raise UserError("D631", path=path, line=line, what=problem.message, most=problem.most) from None
        # the mistake may be in an earlier line of the tree, such as a bracket that is never closed
        where = f", in the tree that begins on line {first:,}" if open_ and first < line else ""
        raise UserError("D630", path=path, line=line, problem=problem.message + where) from None


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


class _BracketProblem(Exception):
    """A problem and its position; lines are counted only if there is one."""

    def __init__(self, at: int, message: str, maximum: int = 0) -> None:
        super().__init__(message)
        self.at, self.message, self.most = at, message, maximum


def _check_limit(at: int, what: str, seen: int, maximum: int) -> None:
    if seen > maximum:
        raise _BracketProblem(at, what, maximum)


def _closed(node: _OpenNode, at: int, *, is_root: bool) -> Tree:
    """Return the tree of a bracket that closes."""
    if node.word is None and not node.children:
        raise _BracketProblem(at, f"there is nothing in ({node.label[:40]})")
    if not is_root:
        if not node.label:
            raise _BracketProblem(node.at, "a bracket in a tree has no label")
        return Tree(node.label, tuple(node.children), node.word)
    if node.word is None and node.label in ROOTS:
        children = node.children
        if len(children) > 1 and children[-1].label == "ID" and children[-1].word is not None:
            children = children[:-1]  # the number of the sentence in .psd files
        return Tree(TOP, tuple(children))
    return Tree(TOP, (Tree(node.label, tuple(node.children), node.word),))


EMPTY = "-NONE-"
"""Tag of traces and other empty elements."""
_FIRST = re.compile(r"[-=|]")


@lru_cache(10_000)
def strip_label(label: str) -> str:
    """Return a label without suffixes after its category.

    ``NP-SBJ-1``, ``NP=2`` and ``ADVP|PRT`` become ``NP``, ``NP`` and ``ADVP``; a label that starts with a
    special character, such as ``-LRB-``, is unchanged.
    """
    end = _FIRST.search(label, 1) if label[:1] not in "-=|" else None
    return label[: end.start()] if end else label


def clean_trees(tree: Tree) -> Tree | None:
    """Return a tree without traces, empty constituents, indices and function tags.

    The result is None if no word is left.
    """

    def make(node: Tree, children: Sequence[Tree | None]) -> Tree | None:
        if node.word is not None:
            if node.label == EMPTY:
                return None
            tag = strip_label(node.label)
            return node if tag == node.label else Tree(tag, (), node.word)
        kept = tuple(child for child in children if child is not None)
        return Tree(strip_label(node.label), kept) if kept else None

    return fold_tree(tree, make)


def read_trees(text: str, path: str = "trees") -> Iterator[Tree]:
    """Yield the clean trees of a text, except those without words.

    `path` is the source of the text, for messages. Raises D630 and D631, with `path` and line.
    """
    for raw in read_raw_trees(text, path):
        tree = clean_trees(raw)
        if tree is not None:
            yield tree


_NO_PARSE = re.compile(r"\s*\(\s*(\(\s*\)\s*)?\)\s*")
"""``(())``, what parsers write for a sentence that they cannot parse."""


def single_tree(text: str) -> Tree | None:
    """Return the tree of a candidate's text, clean; None for a text without words and for ``(())``.

    Raises D630, also for several trees, and D631; the value ``text`` lets the core name the candidate and
    list.
    """
    if _NO_PARSE.fullmatch(text):
        return None
    try:
        trees = list(read_trees(text, "a tree of a list"))
        if len(trees) > 1:
            problem = f"{len(trees):,} trees instead of one"
            raise UserError("D630", path="a tree of a list", line=1, problem=problem)
        return trees[0] if trees else None
    except UserError as error:
        raise UserError(error.code, **error.values, text=text) from None


ENDINGS = (".mrg", ".tree", ".trees", ".ptb", ".psd", ".parse", ".bracket", ".brackets")
"""Suffixes of the files that are read from directories and archives; a single file may have any name."""
_TREES = re.compile(rf"({'|'.join(map(re.escape, ENDINGS))})?(\.gz|\.bz2|\.xz|\.zst)?$", re.IGNORECASE)


def read_treebank(
    path: str | Path, *, encoding: str | None = None, note: Callable[[str], object] = lambda line: None
) -> dict[str, list[Tree]]:
    """Return the clean trees of each file, sorted by file name without folder and suffix.

    The folder remains part of the name of files that would have the same name without it.

    Raises D630 and D631 for brackets that do not form a tree, with file and line; D632 for a path that
    contains no file of trees, and for files that differ only in their suffix; the errors of `corpus_files`.

    The path is a file (also compressed), a directory, or a tar archive, compressed or not. `encoding` is that
    of the files, by default UTF-8. `note` is called with a line about files in it that are not read.
    """
    others: list[str] = []

    def is_wanted(name: str) -> bool:
        is_tree_file = bool(_ending(name)[1])
        if not is_tree_file:
            others.append(name)
        return is_tree_file

    files = list(corpus_files(str(path), is_wanted))
    if not files:
        raise UserError("D632", path=path, problem=f"no file in it ends in {', '.join(ENDINGS)}")
    if others:
        shown = f"{others[0]}{', ...' if others[1:] else ''}"
        note(f"{path}: not read, since they do not end in {', '.join(ENDINGS)}: {shown} ({len(others):,})")
    stems = Counter(_stem(file.name) for file in files)
    trees: dict[str, list[Tree]] = {}
    for file in sorted(files, key=lambda file: (_stem(file.name), file.name)):
        stem = _stem(file.name)
        key = stem if stems[stem] == 1 else _ending(file.name)[0]
        if key in trees:
            raise UserError("D632", path=path, problem=f"two files are called {key!r}")
        trees[key] = list(read_trees(file.decoded(encoding or "utf-8"), file.where))
    return trees


def _ending(name: str) -> tuple[str, str]:
    """Return a file name without the suffixes of trees and of a compression, and the former."""
    match = _TREES.search(name)
    assert match is not None  # both suffixes are optional
    return name[: match.start()], match[1] or ""


def _stem(name: str) -> str:
    return _ending(name.replace("\\", "/").rpartition("/")[2])[0] or name


PENN = "labelled/ptb-sample/treebank-combined.tar.xz"
CRAFT = "labelled/craft/craft-penn.tar.xz"
MAX_WORDS = 40
"""Maximum number of words of the sentences on which figures are usually reported."""
_WSJ = re.compile(r"wsj_(\d\d)\d\d")


@dataclass(frozen=True, slots=True)
class CorpusSplit:
    """Trees for training, tuning and testing."""

    train: tuple[Tree, ...]
    dev: tuple[Tree, ...]
    test: tuple[Tree, ...]


def penn_sections(data: Path) -> dict[str, dict[str, list[Tree]]]:
    """Return the trees of each file in each section of the sample, such as ``["00"]["wsj_0003"]``.

    Raises D632 if a file name contains no section, and the errors of `read_treebank`.

    `data` is the folder of the research data.
    """
    sections: dict[str, dict[str, list[Tree]]] = {}
    for name, trees in read_treebank(data / PENN).items():
        section = _WSJ.fullmatch(name)
        if section is None:
            raise UserError("D632", path=data / PENN, problem=f"{name!r} is not called like wsj_0003")
        sections.setdefault(section[1], {})[name] = trees
    return sections


def craft_articles(data: Path) -> dict[str, list[Tree]]:
    """Return the trees of each article of CRAFT, by its PubMed number."""
    return read_treebank(data / CRAFT)


def penn_split(data: Path, train: str = "00", test: str = "01") -> CorpusSplit:
    """Return one section for training, its last tenth of files for tuning, and another one for testing."""
    sections = penn_sections(data)
    for section in (train, test):
        if section not in sections:
            problem = f"there is no section {section!r}, only {', '.join(sorted(sections))}"
            raise UserError("D632", path=data / PENN, problem=problem)
    learned, chosen = split_last(list(sections[train].values()))
    return CorpusSplit(learned, chosen, _join_sections(list(sections[test].values())))


def craft_split(data: Path) -> CorpusSplit:
    """Return the articles of CRAFT in random order: a fifth for testing, a tenth of the rest for tuning."""
    articles = list(craft_articles(data).values())
    order = np.random.default_rng(0).permutation(len(articles)).tolist()
    n_test = max(1, len(order) // 5)
    learned, chosen = split_last([articles[i] for i in order[n_test:]])
    return CorpusSplit(learned, chosen, _join_sections([articles[i] for i in order[:n_test]]))


def split_last(
    files: Sequence[Sequence[Tree]], share: float = 0.1
) -> tuple[tuple[Tree, ...], tuple[Tree, ...]]:
    """Return the trees of the first files, and those of the last ones, with about a `share` of all trees."""
    total, n_held_out, first = sum(map(len, files)), 0, len(files)
    while first > 1 and n_held_out < share * total:
        first -= 1
        n_held_out += len(files[first])
    return _join_sections(files[:first]), _join_sections(files[first:])


def spread_evenly(items: Sequence[Item], maximum: int | None) -> list[Item]:
    """Return at most a given number of items at equal distances; all if `maximum` is None."""
    if maximum is None or len(items) <= maximum:
        return list(items)
    return [items[i] for i in np.linspace(0, len(items) - 1, maximum).astype(int).tolist()]


def leave_out_folds(
    trees: Sequence[Tree], folds: int, *, longest: int | None = None, maximum: int | None = None
) -> Iterator[tuple[list[Tree], list[Tree]]]:
    """Yield for each fold, a run of trees, all trees outside of it, and some trees of the fold.

    These have at most `longest` words; at most `maximum` of all trees, spread evenly, are among them.
    """
    short = [i for i, tree in enumerate(trees) if longest is None or len(tree.words()) <= longest]
    chosen = set(spread_evenly(short, maximum))
    bounds = np.linspace(0, len(trees), min(folds, len(trees)) + 1).astype(int).tolist()
    for first, last in pairwise(bounds):
        yield [*trees[:first], *trees[last:]], [trees[i] for i in range(first, last) if i in chosen]


def filter_by_length(trees: Sequence[Tree], maximum: int = MAX_WORDS) -> list[Tree]:
    """Return the trees with at most a given number of words, including punctuation."""
    return [tree for tree in trees if len(tree.words()) <= maximum]


def _join_sections(files: Sequence[Sequence[Tree]]) -> tuple[Tree, ...]:
    return tuple(tree for file in files for tree in file)
