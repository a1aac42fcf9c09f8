"""The component `disambig_parser`: constituents of the sentences of Docs as spans.

``doc.spans["constituents"]`` holds one Span a constituent, sentence by sentence, each before those in it
(preorder). ``label_`` is its label, ``id_`` the index of its parent in the same group, as text; empty of the
first of each sentence, which holds all of its words. spaCy keeps all of it in ``to_bytes``, `DocBin` and on
the disk. A sentence without a parse has one span, labelled ``TOP``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from disambig.api import UserError
from disambig.api.components import SpanWriter
from disambig.api.text import SpacyTokens
from disambig_exponentiated_gradient.parsers.parser import Parsed, Parser
from disambig_exponentiated_gradient.parsers.sentences import Sentence
from disambig_exponentiated_gradient.parsers.stored import digest_of
from disambig_exponentiated_gradient.treebank.constituents import constituents

from .extensions import KIND, MARK, set_extensions

SPACE_TAG = "_SP"
Found = list[list[Parsed]]
"""Of each Doc, its parsed sentences."""


class ConstituentParser(SpanWriter):
    """Parse the sentences of Docs.

    Sentences are those that a Doc has; where it has none, the core's rule finds them, and they are written.
    Tags are written where a Doc has none.

    Parameters
    ----------
    nlp : Language
        The pipeline; its language must be the parser's.
    parser : Parser
    name : str
        Name of the component in the pipeline.
    spans_key : str
        Key of ``doc.spans``.
    tags : bool
        Whether the parser keeps to the tags that a Doc has.

    Raises
    ------
    UserError
        D500 for a pipeline of another language.
    """

    reference_file: ClassVar[str] = "parser.json"

    def __init__(
        self, nlp: Language, parser: Parser, *, name: str, spans_key: str, tags: bool = False
    ) -> None:
        if nlp.lang != parser.language:
            raise UserError("D500", name=name, seen=nlp.lang, language=parser.language)
        super().__init__(name, spans_key)
        self.parser = parser
        self.tags = tags
        set_extensions()

    def predict(self, docs: Sequence[Doc]) -> Found:
        """Return the parsed sentences of each Doc; the Docs stay as they are."""
        given = self._sentences(docs)
        parsed = iter(self.parser.parses([sentence for sentences in given for sentence in sentences]))
        return [[next(parsed) for _ in sentences] for sentences in given]

    def set_annotations(self, docs: Sequence[Doc], found: Found) -> None:
        """Write what `predict` found to the Docs."""
        for doc, sentences in zip(docs, found, strict=True):
            self._write(doc, sentences)

    def _sentences(self, docs: Sequence[Doc]) -> list[list[Sentence]]:
        view = SpacyTokens(self.parser.language).of_docs(docs)
        starts, ends, bounds = view.starts.tolist(), view.ends.tolist(), view.sentences.tolist()
        found: list[list[Sentence]] = [[] for _ in docs]
        words = [[token for token in doc if not token.is_space] for doc in docs]
        tagged = [self.tags and doc.has_annotation("TAG") for doc in docs]
        seen = [0] * len(docs)
        documents = view.document_of(view.sentences[:-1]).tolist()
        for document, first, last in zip(documents, bounds, bounds[1:], strict=False):
            spans = [(starts[at], ends[at]) for at in range(first + 1, last - 1)]
            own = words[document][seen[document] : seen[document] + len(spans)]
            seen[document] += len(spans)
            tags = [token.tag_ for token in own] if tagged[document] else None
            found[document].append(self.parser.cutter.sentence(docs[document].text, spans, tags))
        return found

    def _write(self, doc: Doc, sentences: Sequence[Parsed]) -> None:
        first = {token.idx: token.i for token in doc}
        last = {token.idx + len(token): token.i + 1 for token in doc if not token.is_space}
        spans: list[Span] = []
        begins: set[int] = set()
        tags = [SPACE_TAG] * len(doc)
        for parsed in sentences:
            sentence, offset = parsed.sentence, len(spans)
            starts = [first[start] for start in sentence.starts]
            ends = [last[end] for end in sentence.ends]
            begins.add(starts[0] if begins else 0)  # white space before the first word is of its sentence
            for label, start, end, parent in constituents(parsed.best):
                above = "" if parent < 0 else str(offset + parent)
                spans.append(Span(doc, starts[start], ends[end - 1], label=label, span_id=above))
            for start, end, tag in zip(starts, ends, parsed.best.tags(), strict=True):
                tags[start:end] = [tag] * (end - start)
        if not doc.has_annotation("SENT_START"):
            for token in doc:
                token.is_sent_start = token.i in begins
        if not doc.has_annotation("TAG"):
            for token, tag in zip(doc, tags, strict=True):
                token.tag_ = tag
        doc.spans[self.spans_key] = SpanGroup(doc, name=self.spans_key, attrs={MARK: KIND}, spans=spans)

    def reference(self) -> dict[str, Any]:
        """Return the parser's digest."""
        return {"digest": digest_of(self.parser)}

    def check(self, saved: Any) -> None:
        """Warn where the pipeline was saved with another parser."""
        if saved != self.reference():
            warnings.warn(f"{self.name} was saved with another parser than it has now", stacklevel=3)
