"""Trees as text: on one line, or a constituent a line."""

from __future__ import annotations

from collections.abc import Callable

from .tree import Tree


def one_line(tree: Tree) -> str:
    """Return a tree on one line, such as ``(TOP (S (NP (PRP I)) (VP (VBP agree))))``."""
    return _written(tree, lambda node, depth: " ")


def indented(tree: Tree, step: int = 2) -> str:
    """Return a tree with each constituent on a line of its own, words beside their parent.

    Parameters
    ----------
    tree : Tree
    step : int
        Blanks a level.
    """
    return _written(tree, lambda node, depth: " " if node.word is not None else "\n" + " " * (depth * step))


def _written(tree: Tree, gap: Callable[[Tree, int], str]) -> str:
    parts: list[str] = []
    open_: list[tuple[Tree | None, int]] = [(tree, 0)]
    while open_:
        node, depth = open_.pop()
        if node is None:
            parts.append(")")
            continue
        if depth:
            parts.append(gap(node, depth))
        if node.word is not None:
            parts.append(f"({node.label} {node.word})")
            continue
        parts.append(f"({node.label}")
        open_.append((None, depth))
        open_.extend((child, depth + 1) for child in reversed(node.children))
    return "".join(parts)
