"""What spans say: ``span._.labels``, ``parse_string``, ``constituents``, ``parent`` and ``children``.

The names and their meaning are benepar's: constituents over the same words are one place, whose labels stand
from the top down. All is read from the group of spans, so that it is there in Docs that were saved, too, once
`set_extensions` was called or a component was made.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spacy.tokens import Doc, Span, SpanGroup, Token

from disambig.api import UserError
from disambig_exponentiated_gradient.treebank.tree import TOP, Tree
from disambig_exponentiated_gradient.treebank.writing import one_line
from disambig_exponentiated_gradient.treebank.written_words import as_in_brackets

MARK, KIND = "disambig", "constituents"
"""What ``attrs`` of the group of spans says, by which it is found whatever its key is."""
Place = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The constituents of a Doc by their places.

    Attributes
    ----------
    group : SpanGroup
    size : int
        Spans in it.
    places : list of (int, int)
        First token and token behind the last, of each place once, in preorder.
    labels : dict
        The labels of each place, from the top down.
    """

    group: SpanGroup
    size: int
    places: list[Place]
    labels: dict[Place, list[str]]


_recent: list[Index] = []
"""That of the group that was asked last: whoever asks of one span asks of the next."""


def set_extensions() -> None:
    """Make ``span._.labels``, ``span._.parse_string`` and so on known to spaCy; names that are taken stay."""
    getters: dict[str, Callable[[Span], Any]] = {
        "constituents": constituents,
        "labels": labels,
        "parse_string": parse_string,
        "parent": parent,
        "children": children,
    }
    for name, getter in getters.items():
        if not Span.has_extension(name):
            Span.set_extension(name, getter=getter)
        if not Token.has_extension(name):
            Token.set_extension(name, getter=_of_token(getter))


def constituents(span: Span) -> tuple[Span, ...]:
    """Return the constituents in a span, itself the first if it is one, each before those in it."""
    index, span = _index(span.doc), _trimmed(span)
    first = bisect_left(index.places, (span.start, -span.end), key=_order)  # larger ones come before
    found = []
    for start, end in index.places[first:]:
        if start >= span.end:
            break
        if end <= span.end:
            found.append(span.doc[start:end])
    return tuple(found)


def labels(span: Span) -> tuple[str, ...]:
    """Return the labels of a constituent, from the top down; of a word alone there may be none."""
    span = _trimmed(span)
    index, place = _index(span.doc), (span.start, span.end)
    if place not in index.labels and len(span) > 1:
        raise UserError("D907", text=span.text[:40])
    return tuple(index.labels.get(place, ()))


def parse_string(span: Span) -> str:
    """Return a constituent in brackets, such as ``(NP (DT the) (NN cat))``."""
    span = _trimmed(span)
    if not labels(span):
        return "".join(one_line(_leaf(token)) for token in span)
    index = _index(span.doc)
    open_: list[tuple[int, list[str], list[Tree]]] = []

    def close(before: int) -> None:
        """Make a node of each place that ends before a token, the outermost one stays open."""
        while len(open_) > 1 and open_[-1][0] <= before:
            _, names, below = open_.pop()
            open_[-1][2].append(_chain(names, below))

    begins: dict[int, list[int]] = {}
    for each in constituents(span):
        begins.setdefault(each.start, []).append(each.end)
    for token in _words(span):
        close(token.i)
        open_ += [(end, index.labels[token.i, end], []) for end in begins.get(token.i, ())]
        open_[-1][2].append(_leaf(token))
    close(span.end)
    return one_line(_chain(open_[0][1], open_[0][2]))


def parent(span: Span) -> Span | None:
    """Return the smallest constituent around a constituent or a word, None of the first of a sentence."""
    span = _trimmed(span)
    labels(span)
    best: Place | None = None
    for start, end in _index(span.doc).places:
        if start > span.start:
            break
        if end >= span.end and (start, end) != (span.start, span.end):
            best = start, end  # in preorder the last one is the smallest
    return None if best is None else span.doc[best[0] : best[1]]


def children(span: Span) -> tuple[Span, ...]:
    """Return the largest constituents and words in a constituent."""
    span = _trimmed(span)
    if not labels(span):
        return ()
    below = [each for each in constituents(span) if (each.start, each.end) != (span.start, span.end)]
    found: list[Span] = []
    at = span.start
    for each in below:
        if each.start < at:
            continue
        found += [span.doc[i : i + 1] for i in range(at, each.start) if not span.doc[i].is_space]
        found.append(each)
        at = each.end
    return (*found, *(span.doc[i : i + 1] for i in range(at, span.end) if not span.doc[i].is_space))


def _of_token(getter: Callable[[Span], Any]) -> Callable[[Token], Any]:
    return lambda token: getter(token.doc[token.i : token.i + 1])


def _index(doc: Doc) -> Index:
    group = next((each for each in doc.spans.values() if each.attrs.get(MARK) == KIND), None)
    if group is None:
        raise UserError("D908")
    recent = next(iter(_recent), None)  # once: another thread may put its own there at any time
    if recent is not None and recent.group is group and recent.size == len(group):
        return recent
    found: dict[Place, list[str]] = {}
    for span in group:
        found.setdefault((span.start, span.end), []).append(span.label_)
    index = Index(group, len(group), sorted(found, key=_order), found)
    _recent[:] = [index]
    return index


def _order(place: Place) -> Place:
    return place[0], -place[1]


def _trimmed(span: Span) -> Span:
    """Return a span without the white space at its ends, as sentences have it."""
    start, end = span.start, span.end
    while start < end and span.doc[start].is_space:
        start += 1
    while start < end and span.doc[end - 1].is_space:
        end -= 1
    return span.doc[start:end]


def _words(span: Span) -> list[Token]:
    return [token for token in span if not token.is_space]


def _leaf(token: Token) -> Tree:
    return Tree(token.tag_ or TOP, (), as_in_brackets(token.text))


def _chain(names: list[str], below: list[Tree]) -> Tree:
    """Return a node with the labels of a place, from the top down."""
    tree = Tree(names[-1], tuple(below))
    for name in reversed(names[:-1]):
        tree = Tree(name, (tree,))
    return tree
