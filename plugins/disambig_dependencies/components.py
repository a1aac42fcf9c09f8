"""The spaCy component ``disambig_dependencies``: ``token.head`` and ``token.dep_``.

Only this module of the plugin imports spaCy, and only spaCy imports it, through its entry point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD
from spacy.language import Language
from spacy.pipeline.dep_parser import parser_score
from spacy.tokens import Doc
from spacy.training import Example

from disambig.api import Model, load_model
from disambig.api.components import SpanWriter, check_pipeline_language, declared_factory
from disambig.api.text import SpacyTokens, hash_words

from .parser import PACK, DependencyParser, check_tagger, load_parser

ROOT, SPACE = "ROOT", "dep"
"""Relations of roots and of white-space tokens, as spaCy's own parsers name them."""


@dataclass(frozen=True, slots=True, eq=False)
class Dependencies:
    """The parses of a batch of Docs."""

    heads: list[NDArray[np.int64]]  # for each Doc, the index of each token's head; a root's is its own
    relations: list[NDArray[np.uint64]]  # for each Doc, spaCy's number of each token's relation


class DependencyLabeller(SpanWriter):
    """Sets ``token.head`` and ``token.dep_``, and thereby ``doc.sents``.

    Sentences are those of the Doc; if it has none, they end at full stops. The tags of the Doc are used; a
    Doc without tags is tagged by the parser's tagger, but its tags are not set.

    Raises D500 for a pipeline of another language, D505 for a tagger that does not tag every token.
    """

    reference_file: ClassVar[str] = "dependencies.json"

    def __init__(self, nlp: Language, parser: DependencyParser, tagger: Model, *, name: str) -> None:
        check_pipeline_language(nlp, parser, name)
        check_tagger(tagger, name)
        super().__init__(name, "")
        self.parser, self.tagger = parser, tagger
        self._tokens = SpacyTokens(parser.language)
        self._names = (ROOT, *parser.relations)
        self._tags = hash_words(list(tagger.task.groups[0].candidates))

    @property
    def labels(self) -> tuple[str, ...]:
        """The relations of ``token.dep_``."""
        return self._names

    def predict(self, docs: Sequence[Doc]) -> Dependencies:
        """Return the parses of a batch of Docs without changing the Docs."""
        view = self._tokens.of_docs(docs)
        # the tags of the Docs, or those of the tagger, at the tokens of the view, which has no white space
        instances, chosen = self.tagger.choose(view)
        positions = instances.positions
        tags = np.zeros(len(view), np.uint64)
        tags[positions] = self._tags[chosen]
        bounds = positions.searchsorted(view.documents)
        masks = [np.array([not token.is_space for token in doc], bool) for doc in docs]
        for doc, first, last in zip(docs, bounds, bounds[1:], strict=False):
            if doc.has_annotation("TAG"):
                doc_tags = [token.tag_ for token in doc if not token.is_space]
                tags[positions[first:last]] = hash_words(doc_tags)

        # heads and relations of all tokens of each Doc; those of white space depend on its neighbours
        heads, relations = self.parser.parse_view(view, tags)
        parses = Dependencies([], [])
        for doc, mask, first, last in zip(docs, masks, bounds, bounds[1:], strict=False):
            doc_positions = positions[first:last]
            at = np.flatnonzero(mask)
            doc_heads = heads[doc_positions]
            words = np.where(doc_heads < 0, np.arange(len(at)), doc_positions.searchsorted(doc_heads))
            all_heads = _space_heads(doc, mask)
            all_heads[at] = at[words]
            all_relations = np.full(len(doc), doc.vocab.strings.add(SPACE), np.uint64)
            strings = np.array([doc.vocab.strings.add(name) for name in self._names], np.uint64)
            all_relations[at] = strings[relations[doc_positions]]
            is_root = all_heads == np.arange(len(doc))
            all_relations[is_root] = strings[0]
            parses.heads.append(all_heads)
            parses.relations.append(all_relations)
        return parses

    def set_annotations(self, docs: Sequence[Doc], predictions: Dependencies) -> None:
        """Write the parses of `predict` to the Docs."""
        for doc, heads, relations in zip(docs, predictions.heads, predictions.relations, strict=True):
            if len(doc):
                offsets = (heads - np.arange(len(doc))).astype(np.uint64)
                doc.from_array([HEAD, DEP], np.stack([offsets, relations], axis=1))

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Return the scores of spaCy's parser, ``dep_uas`` and ``dep_las``; punctuation counts as well."""
        scores: dict[str, Any] = parser_score(examples, **{"ignore_labels": (), **kwargs})
        return scores

    def reference(self) -> dict[str, Any]:
        """Return the parser's digest."""
        return {"digest": self.parser.digest()}


def _space_heads(doc: Doc, is_word: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the heads of white-space tokens: the word before, or the next one at the start of a sentence."""
    heads = np.arange(len(doc))
    before = -1
    for i in range(len(doc)):
        if is_word[i]:
            before = i
        elif before >= 0 and doc[i].sent_start != 1:
            heads[i] = before
        else:
            before = -1  # more white space belongs to the same word
            heads[i] = next((j for j in range(i, len(doc)) if is_word[j]), i)
    return heads


def _create(nlp: Language, name: str, model: str | None, beam: float | None) -> DependencyLabeller:
    parser = load_parser(model or PACK)
    if beam is not None:
        parser = parser.with_beam(beam)  # type: ignore[arg-type]  # D903 for a number that is not whole
    return DependencyLabeller(nlp, parser, load_model(parser.tagger), name=name)


make_dependencies = declared_factory(
    "disambig_dependencies",
    _create,
    defaults={"model": None, "beam": None},
    assigns=["token.dep", "token.head", "token.is_sent_start", "doc.sents"],
    scores={"dep_uas": 0.5, "dep_las": 0.5},
)
