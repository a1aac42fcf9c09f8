"""The spaCy component ``disambig_parser`` and the extension attributes of its spans.

Only this module of the plugin imports spaCy, and only spaCy imports it, through its entry point.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from spacy.attrs import SENT_START
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup, Token

from disambig.api import UserError
from disambig.api.components import SpanWriter, check_pipeline_language, declared_factory
from disambig.api.text import SpacyTokens

from .parser.parser import PACK, ParsedSentence, Parser, grammar_digest
from .parser.sentences import ParserSentence
from .treebank.tree import TOP, Tree, escape_word, format_one_line, list_constituents

MARK, KIND = "disambig", "constituents"
"""Entry in ``attrs`` of the group of spans, by which the group is found under any key."""
Place = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class ConstituentIndex:
    """The constituents of a Doc by position."""

    group: SpanGroup
    sizes: tuple[int, int]  # number of spans in it, and of tokens in the Doc
    places: list[Place]  # first token and token after the last, for each position once, in preorder
    labels: dict[Place, list[str]]  # the labels at each position, from the top down
    parents: dict[Place, Place | None]  # the smallest place around each place

    def around(self, place: Place) -> Place | None:
        """Return the smallest place around a place or a word, None for a root."""
        if place in self.parents:
            return self.parents[place]
        before = bisect_right(self.places, _order(place), key=_order) - 1
        above = self.places[before] if before >= 0 else None
        while above is not None and above[1] < place[1]:
            above = self.parents[above]
        return above


_recent: list[ConstituentIndex] = []
"""The index of the last group: successive calls are mostly about spans of the same group."""


def set_extensions() -> None:
    """Register ``span._.labels``, ``span._.parse_string`` and so on with spaCy; existing names are kept."""
    getters: dict[str, Callable[[Span], Any]] = {
        "constituents": span_constituents,
        "labels": labels,
        "parse_string": parse_string,
        "parent": parent,
        "children": children,
    }
    for name, getter in getters.items():
        if not Span.has_extension(name):
            Span.set_extension(name, getter=getter)
        if not Token.has_extension(name):
            Token.set_extension(name, getter=partial(_get_of_token, getter))


def span_constituents(span: Span) -> tuple[Span, ...]:
    """Return the constituents in a span, including itself if it is one, each before those inside it."""
    index, span = _index(span.doc), _trim(span)
    first = bisect_left(index.places, (span.start, -span.end), key=_order)  # larger ones come before
    constituents = []
    for start, end in index.places[first:]:
        if start >= span.end:
            break
        if end <= span.end:
            constituents.append(span.doc[start:end])
    return tuple(constituents)


def labels(span: Span) -> tuple[str, ...]:
    """Return the labels of a constituent, from the top down; a single word may have none."""
    span = _trim(span)
    index, place = _index(span.doc), (span.start, span.end)
    if place not in index.labels and len(span) > 1:
        raise UserError("D907", text=span.text[:40])
    return tuple(index.labels.get(place, ()))


def parse_string(span: Span) -> str:
    """Return a constituent in brackets, such as ``(NP (DT the) (NN cat))``."""
    span = _trim(span)
    if not labels(span):
        return "".join(format_one_line(_leaf(token)) for token in span)
    index = _index(span.doc)
    open_: list[tuple[int, list[str], list[Tree]]] = []

    def close(before: int) -> None:
        """Make nodes for the positions that end before a token; the outermost one stays open."""
        while len(open_) > 1 and open_[-1][0] <= before:
            _, names, below = open_.pop()
            open_[-1][2].append(_chain(names, below))

    starts: dict[int, list[int]] = {}
    for constituent in span_constituents(span):
        starts.setdefault(constituent.start, []).append(constituent.end)
    for token in (token for token in span if not token.is_space):
        close(token.i)
        open_ += [(end, index.labels[token.i, end], []) for end in starts.get(token.i, ())]
        open_[-1][2].append(_leaf(token))
    close(span.end)
    return format_one_line(_chain(open_[0][1], open_[0][2]))


def parent(span: Span) -> Span | None:
    """Return the smallest constituent around a constituent or a word, None for the root."""
    span = _trim(span)
    labels(span)
    above = _index(span.doc).around((span.start, span.end))
    return None if above is None else span.doc[above[0] : above[1]]


def children(span: Span) -> tuple[Span, ...]:
    """Return the largest constituents and words inside a constituent."""
    span = _trim(span)
    if not labels(span):
        return ()
    below = [
        constituent
        for constituent in span_constituents(span)
        if (constituent.start, constituent.end) != (span.start, span.end)
    ]
    children: list[Span] = []
    at = span.start
    for constituent in below:
        if constituent.start < at:
            continue
        children += [span.doc[i : i + 1] for i in range(at, constituent.start) if not span.doc[i].is_space]
        children.append(constituent)
        at = constituent.end
    return (*children, *(span.doc[i : i + 1] for i in range(at, span.end) if not span.doc[i].is_space))


def _get_of_token(getter: Callable[[Span], Any], token: Token) -> Any:
    return getter(token.doc[token.i : token.i + 1])


def _index(doc: Doc) -> ConstituentIndex:
    """Return the constituents of a Doc; D908 if it has none, or tokens were merged or split afterwards."""
    group = next((spans for spans in doc.spans.values() if spans.attrs.get(MARK) == KIND), None)
    if group is None:
        raise UserError("D908")
    sizes = len(group), len(doc)
    recent = next(iter(_recent), None)  # read once: another thread may replace it at any time
    if recent is not None and recent.group is group and recent.sizes == sizes:
        return recent
    labels: dict[Place, list[str]] = {}
    try:
        for span in group:
            last = doc[span.end - 1]
            # spaCy does not adjust the spans of a group when tokens are merged or split
            if (span.start_char, span.end_char) != (doc[span.start].idx, last.idx + len(last)):
                raise UserError("D908")
            labels.setdefault((span.start, span.end), []).append(span.label_)
    except IndexError:  # beyond the last token
        raise UserError("D908") from None
    places = sorted(labels, key=_order)
    index = ConstituentIndex(group, sizes, places, labels, _parents(places))
    _recent[:] = [index]
    return index


def _order(place: Place) -> Place:
    return place[0], -place[1]


def _parents(places: Sequence[Place]) -> dict[Place, Place | None]:
    """Return the smallest place around each of some places in preorder."""
    parents: dict[Place, Place | None] = {}
    open_: list[Place] = []
    for place in places:
        while open_ and open_[-1][1] < place[1]:
            open_.pop()
        parents[place] = open_[-1] if open_ else None
        open_.append(place)
    return parents


def _trim(span: Span) -> Span:
    """Return a span without white space at its ends, as in sentences."""
    start, end = span.start, span.end
    while start < end and span.doc[start].is_space:
        start += 1
    while start < end and span.doc[end - 1].is_space:
        end -= 1
    return span.doc[start:end]


def _leaf(token: Token) -> Tree:
    return Tree(token.tag_ or TOP, (), escape_word(token.text))


def _chain(names: list[str], below: list[Tree]) -> Tree:
    """Return a node with the labels at a position, from the top down."""
    tree = Tree(names[-1], tuple(below))
    for name in reversed(names[:-1]):
        tree = Tree(name, (tree,))
    return tree


SPACE_TAG = "_SP"
Found = list[list[ParsedSentence]]
"""The parsed sentences of each Doc."""


class ConstituentParser(SpanWriter):
    """Parses the sentences of Docs.

    Uses the sentences of a Doc; if there are none, the core's rule splits them, and they are set.
    Tags are set if a Doc has none; `tags` says whether the parser uses those that a Doc has.

    Raises D500 for a pipeline of another language.
    """

    reference_file: ClassVar[str] = "parser.json"

    def __init__(
        self, nlp: Language, parser: Parser, *, name: str, spans_key: str, tags: bool = False
    ) -> None:
        check_pipeline_language(nlp, parser, name)
        super().__init__(name, spans_key)
        self.parser = parser
        self.tags = tags
        set_extensions()

    def predict(self, docs: Sequence[Doc]) -> Found:
        """Return the parsed sentences of each Doc without changing the Docs."""
        sentences_by_doc = self._sentences(docs)
        parsed = iter(
            self.parser.parses([sentence for sentences in sentences_by_doc for sentence in sentences])
        )
        return [[next(parsed) for _ in sentences] for sentences in sentences_by_doc]

    def set_annotations(self, docs: Sequence[Doc], parsed: Found) -> None:
        """Write the results of `predict` to the Docs."""
        for doc, sentences in zip(docs, parsed, strict=True):
            self._write(doc, sentences)

    def _sentences(self, docs: Sequence[Doc]) -> list[list[ParserSentence]]:
        view = SpacyTokens(self.parser.language).of_docs(docs)
        starts, ends, bounds = view.starts.tolist(), view.ends.tolist(), view.sentences.tolist()
        sentences: list[list[ParserSentence]] = [[] for _ in docs]
        words = [[token for token in doc if not token.is_space] for doc in docs]
        tagged = [self.tags and doc.has_annotation("TAG") for doc in docs]
        seen = [0] * len(docs)
        documents = view.document_indices(view.sentences[:-1]).tolist()
        for document, first, last in zip(documents, bounds, bounds[1:], strict=False):
            spans = [(starts[at], ends[at]) for at in range(first + 1, last - 1)]
            tokens = words[document][seen[document] : seen[document] + len(spans)]
            seen[document] += len(spans)
            tags = [token.tag_ for token in tokens] if tagged[document] else None
            sentences[document].append(self.parser.cutter.sentence(view.texts[document], spans, tags))
        return sentences

    def _write(self, doc: Doc, sentences: Sequence[ParsedSentence]) -> None:
        """Write the sentences, tags and constituents of a Doc."""
        first = {token.idx: token.i for token in doc}
        last = {token.idx + len(token): token.i + 1 for token in doc if not token.is_space}
        spans: list[Span] = []
        begins: set[int] = set()
        tags = [SPACE_TAG] * len(doc)
        for parsed in sentences:
            sentence, offset = parsed.sentence, len(spans)
            starts = [first[start] for start in sentence.starts]
            ends = [last[end] for end in sentence.ends]
            # white space before the first word belongs to its sentence
            begins.add(starts[0] if begins else 0)
            for label, start, end, parent in list_constituents(parsed.best):
                above = "" if parent < 0 else str(offset + parent)
                spans.append(Span(doc, starts[start], ends[end - 1], label=label, span_id=above))
            for start, end, tag in zip(starts, ends, parsed.best.tags(), strict=True):
                tags[start:end] = [tag] * (end - start)
        if not doc.has_annotation("SENT_START"):
            # setting `token.is_sent_start` takes time in proportion to the length of the Doc
            starts_sentence = [1 if i in begins else -1 for i in range(len(doc))]
            doc.from_array([SENT_START], np.array(starts_sentence, np.int64).astype(np.uint64))
        if not doc.has_annotation("TAG"):
            for token, tag in zip(doc, tags, strict=True):
                token.tag_ = tag
        doc.spans[self.spans_key] = SpanGroup(doc, name=self.spans_key, attrs={MARK: KIND}, spans=spans)

    def reference(self) -> dict[str, Any]:
        """Return the parser's digest."""
        return {"digest": grammar_digest(self.parser)}


def _create(
    nlp: Language, name: str, model: str | None, spans_key: str, tags: bool, max_length: float
) -> ConstituentParser:
    parser = Parser.load(model or PACK, max_length=max_length)  # type: ignore[arg-type]  # D903 for another
    return ConstituentParser(nlp, parser, name=name, spans_key=spans_key, tags=tags)


make_parser = declared_factory(
    "disambig_parser",
    _create,
    defaults={"model": None, "spans_key": "constituents", "tags": False, "max_length": 150},
    assigns=["doc.spans", "token.sent_start", "token.tag", "span._.parse_string", "span._.labels"],
    scores={"spans_constituents_f": 1.0, "spans_constituents_p": 0.0, "spans_constituents_r": 0.0},
)
