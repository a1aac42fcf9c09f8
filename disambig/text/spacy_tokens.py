"""The tokenisation `disambig.spacy_tokens.v1`: spaCy's own tokens, for tasks that label each of them.

Words
    The tokens of a Doc as they are, merged and split ones too; of a text, those of the tokeniser of its
    language's blank pipeline. Tokens of white space are left out. Normal form: lower case.
Sentences
    Those that the Doc has; otherwise one ends after a run of stops with the quotes and brackets that close
    right after it, and at a blank line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.text.hashing import hash_word
from disambig.text.view import END_HASH, SENTENCE_END, SENTENCE_START, START_HASH, TokenView

if TYPE_CHECKING:
    from spacy.tokens import Doc

_SYMBOLS = 10_000
"""spaCy gives some words ("mark", "root") numbers below, in place of hashes."""
_STOPS = frozenset(".!?\u2026")
_CLOSING = frozenset("\"'\u201d\u2019\u00bb)]}") | {"''"}


@dataclass(frozen=True, slots=True)
class SpacyTokens:
    """Take spaCy's tokens for words (see the module).

    Parameters
    ----------
    language : str
        Code of the language whose tokeniser cuts plain texts.
    """

    language: str = "en"
    registered: ClassVar[str] = "disambig.spacy_tokens.v1"

    @property
    def name(self) -> str:
        """The registered name; with the language, where it is another than English."""
        return self.registered if self.language == "en" else f"{self.registered}/{self.language}"

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Return the tokens of `texts`, one document each."""
        docs = list(_tokeniser(self.language).pipe(texts))
        return _view(self.name, texts, docs)

    def of_docs(self, docs: Sequence[Doc]) -> TokenView:
        """Return the tokens of `docs` as they are."""
        return _view(self.name, [doc.text for doc in docs], docs)

    def of_sentences(self, sentences: Iterable[Sequence[str]]) -> TokenView:
        """Return the view of sentences that are cut into tokens already, one document each."""
        given = [list(words) for words in sentences]
        lengths = [np.fromiter(map(len, words), np.int64, len(words)) for words in given]
        ends = [np.cumsum(each + 1) - 1 for each in lengths]
        starts = [stop - each for stop, each in zip(ends, lengths, strict=True)]
        hashes = [np.array([hash_word(word.lower()) for word in words], np.uint64) for words in given]
        return _assembled(self.name, [" ".join(words) for words in given], hashes, starts, ends,
                          [np.zeros(len(words), bool) for words in given])  # fmt: skip

    def words(self, text: str) -> list[str]:
        """Return the tokens of one text in lower case, boundary words included."""
        view = self([text])
        found = [text[s:e].lower() for s, e in zip(view.starts.tolist(), view.ends.tolist(), strict=True)]
        for first in view.sentences[:-1].tolist():
            found[first] = SENTENCE_START
        for stop in view.sentences[1:].tolist():
            if stop:
                found[stop - 1] = SENTENCE_END
        return found


@lru_cache(maxsize=4)
def _tokeniser(language: str) -> Any:
    import spacy

    return spacy.blank(language).tokenizer


def _view(name: str, texts: Sequence[str], docs: Sequence[Doc]) -> TokenView:
    hashes, starts, ends, breaks = [], [], [], []
    for doc in docs:
        columns = doc.to_array(["IDX", "LENGTH", "LOWER", "IS_SPACE"]).reshape(-1, 4)
        words = np.flatnonzero(columns[:, 3] == 0)
        lower = columns[words, 2].copy()
        for at in np.flatnonzero(lower < _SYMBOLS).tolist():
            lower[at] = hash_word(doc.vocab.strings[int(lower[at])])
        starts.append(columns[words, 0].astype(np.int64))
        ends.append(starts[-1] + columns[words, 1].astype(np.int64))
        hashes.append(lower)
        breaks.append(_breaks(doc, words))
    return _assembled(name, texts, hashes, starts, ends, breaks)


def _breaks(doc: Doc, words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which words begin a sentence; the first need not."""
    begins = np.zeros(len(doc) + 1, bool)
    if doc.has_annotation("SENT_START"):
        begins[:-1] = doc.to_array(["SENT_START"]).astype(np.int64) == 1
    else:
        ending = False
        for i, text in enumerate([token.text for token in doc]):
            if text.isspace():
                begins[i + 1] |= text.count("\n") > 1
            elif not _STOPS.isdisjoint(text) and _STOPS.issuperset(text):
                ending = True
            elif not (ending and text in _CLOSING):
                begins[i] |= ending
                ending = False
    number = np.cumsum(begins[:-1])[words]
    return np.diff(number, prepend=number[:1]) > 0


def _assembled(
    name: str,
    texts: Sequence[str],
    hashes: list[NDArray[np.uint64]],
    starts: list[NDArray[np.int64]],
    ends: list[NDArray[np.int64]],
    breaks: list[NDArray[np.bool_]],
) -> TokenView:
    """Put boundary words around each sentence and all documents behind each other."""
    sizes = np.array([len(each) for each in hashes], np.int64)
    begins = np.concatenate([np.zeros(0, bool), *breaks])
    firsts = np.cumsum(sizes) - sizes
    begins[firsts[sizes > 0]] = True
    first = np.flatnonzero(begins)  # of each sentence, in words
    n_words = int(sizes.sum())
    sentence = np.cumsum(begins) - 1
    at = np.arange(n_words) + 2 * sentence + 1  # of each word, among words and boundaries
    sentences = np.append(at[first] - 1, n_words + 2 * len(first)).astype(np.int64)
    n = n_words + 2 * len(first)
    own, left, right = np.zeros(n, np.uint64), np.zeros(n, np.int32), np.zeros(n, np.int32)
    own[at] = np.concatenate([own[:0], *hashes])
    left[at] = np.concatenate([left[:0], *starts])
    right[at] = np.concatenate([right[:0], *ends])
    opening, closing = sentences[:-1], sentences[1:] - 1
    own[opening], own[closing] = START_HASH, END_HASH
    left[opening] = right[opening] = left[opening + 1]
    left[closing] = right[closing] = right[closing - 1]
    before = np.cumsum(begins)  # sentences up to and with each word
    counts = np.concatenate([[0], before])[np.concatenate([[0], np.cumsum(sizes)])]
    documents = np.concatenate([[0], np.cumsum(sizes)]) + 2 * counts
    return TokenView(name, texts, own, left, right, sentences, documents.astype(np.int64))
