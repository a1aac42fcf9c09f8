"""The tokenisation `disambig.spacy_tokens.v1`: spaCy's own tokens, for tasks that label each of them.

Words
    The tokens of a Doc as they are, merged and split ones too; of a text, those of the tokeniser of its
    language's blank pipeline. Tokens of white space are left out. Normal form: lower case.
Sentences
    Those that the Doc has; where it says nothing, one ends after a run of stops with the quotes and brackets
    that close right after it, and at a blank line.
Layers
    Tags, stems, lemmas beside the words, where they are asked for (see `disambig.text.layers`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.text.hashing import hash_word, hash_words
from disambig.text.layers import check_layers, layers_of_docs, layers_of_text
from disambig.text.tokenisations.boundaries import named, with_boundaries
from disambig.text.view import TokenView

if TYPE_CHECKING:
    from spacy.tokens import Doc

_ATTRIBUTES = ["ORTH", "LOWER", "IDX", "LENGTH", "SENT_START"]
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN, _STOP, _CLOSER, _SPACE, _BLANK = range(5)
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
    layers : sequence of str
        Of ``"tag"``, ``"stem"`` and ``"lemma"``: the layers that views get.
    tagger : str
        The model that tags plain texts: a task such as ``"tag"``, ``"PACK/TASK"``, or a directory. Docs bring
        tags of their own.

    Raises
    ------
    UserError
        D202, when a text is cut, for a language that spaCy has no tokeniser for, D203 for one without
        stemmer, D204 for a layer that there is not, D404 for a tagger that there is not.
    """

    language: str = "en"
    layers: Sequence[str] = ()
    tagger: str = "tag"
    registered: ClassVar[str] = "disambig.spacy_tokens.v1"

    def __post_init__(self) -> None:
        check_layers(self.layers)

    @property
    def name(self) -> str:
        """The registered name; with the language, where it is another than English, and the layers."""
        name = self.registered if self.language == "en" else f"{self.registered}/{self.language}"
        layers = [f"tag={self.tagger}" if layer == "tag" else layer for layer in self.layers]
        return "+".join([name, *layers])

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Return the tokens of `texts`, one document each."""
        sound = (_SURROGATE.sub("\ufffd", text) for text in texts)  # spaCy takes no half of a pair
        docs = list(tokeniser(self.language).pipe(sound))
        return self._layered(_view(self.name, texts, docs)[0])

    def of_docs(self, docs: Sequence[Doc]) -> TokenView:
        """Return the tokens of `docs` as they are."""
        view, words = _view(self.name, [doc.text for doc in docs], docs)
        if not self.layers:
            return view
        return replace(view, layers=layers_of_docs(view, docs, words, self.layers, language=self.language))

    def of_sentences(self, sentences: Iterable[Sequence[str]]) -> TokenView:
        """Return the view of sentences that are cut into tokens already, one document each."""
        given = [list(words) for words in sentences]
        sizes = np.array([len(words) for words in given], np.int64)
        lengths = [np.fromiter(map(len, words), np.int64, len(words)) for words in given]
        ends = np.concatenate([np.zeros(0, np.int64), *(np.cumsum(each + 1) - 1 for each in lengths)])
        starts = ends - np.concatenate([np.zeros(0, np.int64), *lengths])
        distinct = list({word.lower() for words in given for word in words})
        known = dict(zip(distinct, hash_words(distinct).tolist(), strict=True))
        hashes = np.array([known[word.lower()] for words in given for word in words], np.uint64)
        texts = [" ".join(words) for words in given]
        columns = hashes, starts.astype(np.int32), ends.astype(np.int32)
        return self._layered(_assembled(self.name, texts, *columns, sizes, np.zeros(len(hashes), bool)))

    def _layered(self, view: TokenView) -> TokenView:
        """Return a view of plain text with its layers."""
        if not self.layers:
            return view
        layers = layers_of_text(view, self.layers, language=self.language, tagger=self.tagger)
        return replace(view, layers=layers)

    def words(self, text: str) -> list[str]:
        """Return the tokens of one text in lower case, boundary words included."""
        view = self([text])
        found = [text[s:e].lower() for s, e in zip(view.starts.tolist(), view.ends.tolist(), strict=True)]
        return named(found, view.sentences)


@lru_cache(maxsize=4)
def tokeniser(language: str) -> Any:
    """Return spaCy's tokeniser of a language, made once.

    Raises
    ------
    UserError
        D202 for a language that spaCy does not know, or not without a package more.
    """
    import spacy

    try:
        return spacy.blank(language).tokenizer
    except ImportError as problem:
        raise UserError("D202", language=language, problem=" ".join(str(problem).split())) from problem


def _view(name: str, texts: Sequence[str], docs: Sequence[Doc]) -> tuple[TokenView, NDArray[np.bool_]]:
    """Return the view, and which of the Docs' tokens are in it."""
    columns = [doc.to_array(_ATTRIBUTES).reshape(-1, len(_ATTRIBUTES)) for doc in docs]
    own = np.concatenate([np.zeros((0, len(_ATTRIBUTES)), np.uint64), *columns])
    sizes = np.array([len(each) for each in columns], np.int64)
    documents = np.concatenate([[0], np.cumsum(sizes)])
    orths, which = np.unique(own[:, 0], return_inverse=True)
    strings = {id(doc.vocab): doc.vocab.strings for doc in docs}.values()
    kind = np.array([_kind(_string(orth, strings)) for orth in orths.tolist()], np.int8)[which]
    of_token = np.repeat(np.arange(len(sizes)), sizes)
    begins = _begins(own[:, 4], kind, of_token)
    words = kind < _SPACE
    lower = own[:, 1]
    for at in np.flatnonzero(words & (lower < _SYMBOLS)).tolist():
        # a vocabulary without spaCy's word attributes says nothing of the lower case
        word = _string(int(lower[at]), strings) if lower[at] else _string(int(own[at, 0]), strings).lower()
        lower[at] = hash_word(word)
    number = np.cumsum(begins)[words]
    sizes = np.diff(np.concatenate([[0], np.cumsum(words)])[documents])
    starts = own[words, 2].astype(np.int32)
    ends = starts + own[words, 3].astype(np.int32)
    begins = np.diff(number, prepend=number[:1]) > 0
    return _assembled(name, texts, lower[words], starts, ends, sizes, begins), words


def _string(number: int, stores: Iterable[Any]) -> str:
    """Return the string of a number; Docs of one batch can have several vocabularies."""
    for store in stores:
        if number in store:
            return str(store[number])
    return ""


def _kind(text: str) -> int:
    if text.isspace():
        return _BLANK if text.count("\n") > 1 else _SPACE
    if _STOPS.issuperset(text):
        return _STOP
    return _CLOSER if text in _CLOSING else _PLAIN


def _begins(
    said: NDArray[np.uint64], kind: NDArray[np.int8], document: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which tokens, white space included, begin a sentence; the first of a document need not.

    `said` is what a Doc says of each: 1 where a sentence begins, 0 where it does not know, another number
    where none does. `document` is the number of each one's Doc: what stands in another one says nothing.
    """
    begins = np.zeros(len(kind) + 1, bool)
    solid = np.flatnonzero(kind <= _STOP)  # what neither closes nor is white space
    after_stop = (kind[solid[1:]] == _PLAIN) & (kind[solid[:-1]] == _STOP)
    begins[solid[1:]] = after_stop & (document[solid[1:]] == document[solid[:-1]])
    begins[1:] |= kind == _BLANK
    return (said == 1) | ((said == 0) & begins[:-1])


def _assembled(
    name: str,
    texts: Sequence[str],
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    sizes: NDArray[np.int64],
    breaks: NDArray[np.bool_],
) -> TokenView:
    """Put boundary words around each sentence of documents of `sizes` words, all behind each other."""
    begins = breaks.copy()
    documents = np.concatenate([[0], np.cumsum(sizes)])
    begins[documents[:-1][sizes > 0]] = True
    first = np.flatnonzero(begins)
    return TokenView(
        name, texts, *with_boundaries(hashes, starts, ends, sentences=first, documents=documents)
    )
