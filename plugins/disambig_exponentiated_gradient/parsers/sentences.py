"""Sentences to parse: the words of a text, where each stands in it, and as the treebank writes them.

Words are spaCy's tokens, so that a text and a Doc of it are parsed alike; where a treebank does not cut words
at hyphens (the Penn Treebank; CRAFT does), the tokens of such a word are put together again.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from disambig.api.text import SpacyTokens

from .spellings import as_in_treebank

_HYPHEN = re.compile(r"[-\N{HYPHEN}]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, cut into words.

    Attributes
    ----------
    text : str
        The text that it stands in.
    words : tuple of str
        As the treebank writes them.
    starts, ends : tuples of int
        Where each stands in `text`, in characters.
    tags : tuple of str, or None
        Of each word, where they are known.
    """

    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    tags: tuple[str, ...] | None = None

    @property
    def shown(self) -> str:
        """The sentence as it stands in its text, on one line."""
        return " ".join(self.text[self.starts[0] : self.ends[-1]].split()) if self.words else ""

    @property
    def written(self) -> list[str]:
        """The words as they stand in the text."""
        return [self.text[start:end] for start, end in zip(self.starts, self.ends, strict=True)]


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cut texts into sentences of words.

    Attributes
    ----------
    known : container of str
        The treebank's words.
    language : str
        Whose tokeniser cuts.
    cuts_hyphens : bool
        Whether the treebank cuts words at hyphens.
    """

    known: Container[str]
    language: str = "en"
    cuts_hyphens: bool = True

    def __call__(self, texts: Sequence[str], *, whole: bool = False) -> list[list[Sentence]]:
        """Return the sentences of each text.

        Parameters
        ----------
        texts : sequence of str
        whole : bool
            Whether each text is one sentence.
        """
        view = SpacyTokens(self.language)(texts)
        starts, ends, bounds = view.starts.tolist(), view.ends.tolist(), view.sentences.tolist()
        found: list[list[Sentence]] = [[] for _ in texts]
        documents = view.document_of(view.sentences[:-1]).tolist()
        rows: list[list[list[int]]] = [[] for _ in texts]
        for document, first, last in zip(documents, bounds, bounds[1:], strict=False):
            tokens = list(range(first + 1, last - 1))  # without the boundary words
            if whole and rows[document]:
                rows[document][-1] += tokens
            else:
                rows[document].append(tokens)
        for document, (text, sentences) in enumerate(zip(texts, rows, strict=True)):
            for tokens in sentences:
                spans = [(starts[token], ends[token]) for token in tokens]
                found[document].append(self.sentence(text, spans))
        return found

    def sentence(
        self, text: str, spans: Sequence[tuple[int, int]], tags: Sequence[str] | None = None
    ) -> Sentence:
        """Return the sentence of some tokens of a text.

        Parameters
        ----------
        text : str
        spans : sequence of (int, int)
            Where each token begins and ends, in characters.
        tags : sequence of str, optional
            Of each token; of tokens that are put together the last one's.
        """
        if not self.cuts_hyphens:
            spans, tags = _joined(text, spans, tags)
        words = as_in_treebank([text[start:end] for start, end in spans], self.known)
        starts, ends = zip(*spans, strict=True) if spans else ((), ())
        return Sentence(text, tuple(words), starts, ends, None if tags is None else tuple(tags))

    def of_words(self, words: Sequence[str], tags: Sequence[str] | None = None) -> Sentence:
        """Return the sentence of words that are cut already; they stay as they are cut."""
        spans, at = [], 0
        for word in words:
            spans.append((at, at + len(word)))
            at += len(word) + 1
        starts, ends = zip(*spans, strict=True) if spans else ((), ())
        spelt = tuple(as_in_treebank(words, self.known))
        return Sentence(" ".join(words), spelt, starts, ends, None if tags is None else tuple(tags))


def _joined(
    text: str, spans: Sequence[tuple[int, int]], tags: Sequence[str] | None
) -> tuple[list[tuple[int, int]], list[str] | None]:
    """Put tokens together that a hyphen between them, and no space, makes one word."""
    found: list[tuple[int, int]] = []
    kept: list[str] = []
    for i, (start, end) in enumerate(spans):
        before, behind = i > 0 and spans[i - 1][1] == start, i + 1 < len(spans) and spans[i + 1][0] == end
        is_hyphen = bool(_HYPHEN.fullmatch(text[start:end]))
        after_hyphen = before and _HYPHEN.fullmatch(text[slice(*spans[i - 1])]) is not None
        joins = (is_hyphen and before and behind and text[end : end + 1].isalnum()) or (
            after_hyphen and i > 1 and spans[i - 2][1] == spans[i - 1][0] and text[start].isalnum()
        )
        if joins and found and text[start - 1].isalnum() | (not is_hyphen):
            found[-1] = (found[-1][0], end)
            if tags is not None:
                kept[-1] = tags[i]
        else:
            found.append((start, end))
            if tags is not None:
                kept.append(tags[i])
    return found, None if tags is None else kept
