"""Sentences for parsing: the words of a text, their treebank spelling, and their tags."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from disambig.api import Model, UserError, load_model
from disambig.api.text import SpacyTokens

from ..treebank.tree import escape_word

_OPENING, _CLOSING = ("``", "\N{LEFT DOUBLE QUOTATION MARK}"), ("''", "\N{RIGHT DOUBLE QUOTATION MARK}")
_SIGNS: dict[str, tuple[str, ...]] = {
    "[": ("[", "-LSB-", "-LRB-"),
    "]": ("]", "-RSB-", "-RRB-"),
    "{": ("{", "-LCB-", "-LRB-"),
    "}": ("}", "-RCB-", "-RRB-"),
    "\N{LEFT DOUBLE QUOTATION MARK}": _OPENING[::-1],
    "\N{RIGHT DOUBLE QUOTATION MARK}": _CLOSING[::-1],
    "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}": _OPENING,
    "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}": _CLOSING,
    "\N{DOUBLE LOW-9 QUOTATION MARK}": _OPENING,
    "\N{LEFT SINGLE QUOTATION MARK}": ("\N{LEFT SINGLE QUOTATION MARK}", "`", "'"),
    "\N{RIGHT SINGLE QUOTATION MARK}": ("'", "\N{RIGHT SINGLE QUOTATION MARK}"),
    "\N{EM DASH}": ("\N{EM DASH}", "--"),
    "\N{EN DASH}": ("\N{EN DASH}", "--", "-"),
    "--": ("--", "\N{EM DASH}", "\N{EN DASH}"),
    "\N{HORIZONTAL ELLIPSIS}": ("...", "\N{HORIZONTAL ELLIPSIS}"),
    "...": ("...", "\N{HORIZONTAL ELLIPSIS}"),
}


def as_in_treebank(words: Sequence[str], known_words: Container[str]) -> list[str]:
    """Return the words of a sentence in treebank spelling; all may occur in a bracketed tree.

    Straight double quotes among the words alternately open and close. `known_words` are the treebank's.
    """
    normalised = []
    is_open = False
    spellings: tuple[str, ...]
    for word in words:
        if word == '"':
            spellings, is_open = (_CLOSING if is_open else _OPENING), not is_open
        else:
            if word in _OPENING or word in _CLOSING:
                is_open = word in _OPENING
            spellings = _SIGNS.get(word) or _spellings(word)
        normalised.append(escape_word(next((way for way in spellings if way in known_words), spellings[0])))
    return normalised


def _spellings(word: str) -> tuple[str, ...]:
    """Return the spellings that a treebank may use for a word, the usual one first."""
    plain = word.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    escaped = plain.replace("/", "\\/").replace("*", "\\*")
    return (plain, word, escaped, escape_word(plain))


_HYPHEN = re.compile(r"[-\N{HYPHEN}]")


@dataclass(frozen=True, slots=True)
class ParserSentence:
    """A tokenised sentence."""

    text: str  # the text that contains it
    words: tuple[str, ...]  # in treebank spelling
    # position of each word in `text`, in characters
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    tags: tuple[str, ...] | None = None  # tag of each word, if known

    @property
    def source_text(self) -> str:
        """The sentence as in its text, on one line."""
        return " ".join(self.text[self.starts[0] : self.ends[-1]].split()) if self.words else ""

    @property
    def source_words(self) -> list[str]:
        """The words as in the text."""
        return [self.text[start:end] for start, end in zip(self.starts, self.ends, strict=True)]


@dataclass(frozen=True, slots=True)
class SentenceCutter:
    """Split texts into sentences of words."""

    known_words: Container[str]  # the treebank's words
    language: str = "en"  # language whose tokeniser is used
    cuts_hyphens: bool = True  # whether the treebank splits words at hyphens

    def __call__(self, texts: Sequence[str], *, whole: bool = False) -> list[list[ParserSentence]]:
        """Return the sentences of each text. `whole` says whether each text is one sentence."""
        view = SpacyTokens(self.language)(texts)
        starts, ends, bounds = view.starts.tolist(), view.ends.tolist(), view.sentences.tolist()
        results: list[list[ParserSentence]] = [[] for _ in texts]
        documents = view.document_indices(view.sentences[:-1]).tolist()
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
                results[document].append(self.sentence(text, spans))
        return results

    def sentence(
        self, text: str, spans: Sequence[tuple[int, int]], tags: Sequence[str] | None = None
    ) -> ParserSentence:
        """Return the sentence for some tokens of a text.

        `spans` are the start and end of each token, in characters. Joined tokens have the last one's tag.
        """
        if not self.cuts_hyphens:
            spans, tags = _join_words(text, spans, tags)
        words = as_in_treebank([text[start:end] for start, end in spans], self.known_words)
        starts, ends = zip(*spans, strict=True) if spans else ((), ())
        return ParserSentence(text, tuple(words), starts, ends, None if tags is None else tuple(tags))

    def from_words(self, words: Sequence[str], tags: Sequence[str] | None = None) -> ParserSentence:
        """Return the sentence for words that are already tokenised; they are not changed."""
        spans, at = [], 0
        for word in words:
            spans.append((at, at + len(word)))
            at += len(word) + 1
        starts, ends = zip(*spans, strict=True) if spans else ((), ())
        spelt = tuple(as_in_treebank(words, self.known_words))
        return ParserSentence(" ".join(words), spelt, starts, ends, None if tags is None else tuple(tags))


def _join_words(
    text: str, spans: Sequence[tuple[int, int]], tags: Sequence[str] | None
) -> tuple[list[tuple[int, int]], list[str] | None]:
    """Join tokens that are connected by a hyphen without spaces."""
    joined: list[tuple[int, int]] = []
    kept: list[str] = []
    for i, (start, end) in enumerate(spans):
        before, after = i > 0 and spans[i - 1][1] == start, i + 1 < len(spans) and spans[i + 1][0] == end
        is_hyphen = bool(_HYPHEN.fullmatch(text[start:end]))
        after_hyphen = before and _HYPHEN.fullmatch(text[slice(*spans[i - 1])]) is not None
        joins = (is_hyphen and before and after and text[end : end + 1].isalnum()) or (
            after_hyphen and i > 1 and spans[i - 2][1] == spans[i - 1][0] and text[start].isalnum()
        )
        if joins and joined and text[start - 1].isalnum() | (not is_hyphen):
            joined[-1] = (joined[-1][0], end)
            if tags is not None:
                kept[-1] = tags[i]
        else:
            joined.append((start, end))
            if tags is not None:
                kept.append(tags[i])
    return joined, None if tags is None else kept


@dataclass(frozen=True, slots=True, eq=False)
class ParserTagger:
    """Assigns tags to sentences."""

    model: Model  # a model for a task that labels every token of `disambig.spacy_tokens.v1`

    @classmethod
    def load(cls, name: str) -> ParserTagger:
        """Return the tagger given by a task such as ``"tag"``, by ``"PACK/TASK"`` or by a folder.

        Raises D404 for a model that does not exist, D909 for a model that does not label tokens.
        """
        model = load_model(name)
        decides = getattr(model.task, "decides", None)
        if getattr(decides, "where", "") != "tokens" or not isinstance(model.tokenisation, SpacyTokens):
            raise UserError("D909", name=name, task=model.task.name)
        return cls(model)

    def __call__(self, sentences: Sequence[ParserSentence]) -> list[ParserSentence]:
        """Return sentences with tags; sentences that have tags keep them."""
        untagged = [i for i, sentence in enumerate(sentences) if sentence.tags is None and sentence.words]
        processed = list(sentences)
        if not untagged:
            return processed
        view = SpacyTokens(self.model.language).of_sentences([sentences[i].source_words for i in untagged])
        labels = self.model.task.groups[0].candidates
        chosen = iter(self.model.choose(view)[1].tolist())
        for i in untagged:
            processed[i] = replace(processed[i], tags=tuple(labels[next(chosen)] for _ in processed[i].words))
        return processed
