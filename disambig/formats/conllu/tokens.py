"""Tokens and sentences of texts that come without any, for CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from disambig.formats.documents import Document


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text: offsets, sentences (first token, one past the last), new paragraphs.

    `paragraphs` holds the numbers, from 1, of the sentences that begin one.
    """

    starts: list[int]
    ends: list[int]
    sentences: list[tuple[int, int]]
    paragraphs: frozenset[int]


def tokenised(documents: Sequence[Document], language: str) -> Iterator[Tokens]:
    """Yield the tokens of spaCy's blank tokeniser and the sentences of ``disambig.words.v1``."""
    import numpy as np

    from disambig.text.tokenisations.spacy_tokens import tokeniser
    from disambig.text.tokenisations.words import Words

    tokenizer = tokeniser(language or "xx")
    view = Words()([document.text for document in documents])
    firsts = view.sentences[:-1]
    owners = view.document_of(firsts)
    for number, document in enumerate(documents):
        words = [token for token in tokenizer(document.text) if not token.is_space]
        starts = [token.idx for token in words]
        ends = [token.idx + len(token) for token in words]
        breaks = np.searchsorted(starts, view.starts[firsts[owners == number]]).tolist()
        bounds = sorted({0, len(words), *breaks} - ({len(words)} if not words else set()))
        sentences = list(pairwise(bounds))
        paragraphs = frozenset(
            at
            for at, (first, _) in enumerate(sentences, 1)
            if at > 1 and _is_blank_line(document.text[ends[first - 1] : starts[first]])
        )
        yield Tokens(starts, ends, sentences, paragraphs)


def _is_blank_line(between: str) -> bool:
    return len(between.splitlines()) > 2 or between.count("\n") > 1
