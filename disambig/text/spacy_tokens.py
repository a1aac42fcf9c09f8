"""The tokenisation `disambig.spacy_tokens.v1`, and layers of token attributes: tags, stems and lemmas.

Words
    The tokens of a Doc as they are, including merged and split ones; for a plain text, the tokens of the
    language's blank pipeline. White-space tokens are left out. The normal form is lower case.
Sentences
    The sentences of the Doc. If the Doc does not set them, a sentence ends after a run of stops, those of any
    script, with the quotes and brackets that close directly after it, and at a blank line.
Layers
    Tags, stems and lemmas beside the words, if requested. Plain texts are tagged by an installed model; the
    tags and lemmas of Docs are taken from the Docs. Stems are those of Porter (1980) and Snowball; stop
    words and punctuation have no stem.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.text.characters import CODE_SIGNS
from disambig.text.view import TokenView, hash_word, hash_words, name_boundaries, with_boundaries

if TYPE_CHECKING:
    from spacy.tokens import Doc


_MAX_CACHED_STEMS = 1 << 16
"""Maximum number of words whose stems are cached; most words of a batch also occur in the previous one."""


def stem_layer(view: TokenView, language: str) -> NDArray[np.uint64]:
    """Return the hash of each word's stem, shape ``(n_tokens,)``; 0 for words without one.

    Raises D203 for a language without a stemmer or stop words.
    """
    stems = _stem_cache(language)
    words, first, which = np.unique(view.hashes, return_index=True, return_inverse=True)
    documents = view.document_indices(first).tolist()
    starts, ends = view.starts[first].tolist(), view.ends[first].tolist()
    hashes = words.tolist()
    with stems.lock:
        if len(stems.hash_by_word) > _MAX_CACHED_STEMS:
            stems.hash_by_word.clear()
        for hashed, document, start, end in zip(hashes, documents, starts, ends, strict=True):
            if hashed not in stems.hash_by_word:
                stems.hash_by_word[hashed] = stems.stem_hash(view.texts[document][start:end].lower())
        stem_hashes = np.array([stems.hash_by_word[hashed] for hashed in hashes], np.uint64)
    return stem_hashes[which] if len(stem_hashes) else stem_hashes


def content_words(view: TokenView, language: str) -> NDArray[np.bool_]:
    """Return the mask of words that have a stem (stop words have none), shape ``(n_tokens,)``."""
    return stem_layer(view, language) != 0


class _StemCache:
    """The stemmer of one language with a cache of its results.

    Snowball stemmers store the current word in the object, so only one thread may use it at a time: hold
    `lock`.
    """

    def __init__(self, stemmer: Any, stop_words: frozenset[str]) -> None:
        self.lock = Lock()
        self.hash_by_word: dict[int, int] = {}
        self._stemmer, self._stop_words = stemmer, stop_words

    def stem_hash(self, word: str) -> int:
        if word in self._stop_words or not any(map(str.isalnum, word)):
            return 0
        return hash_word(self._stemmer.stemWord(word))


@lru_cache(maxsize=4)
def _stem_cache(language: str) -> _StemCache:
    """Return the stemmer of a language with its stop words; D203 if there is none."""
    import snowballstemmer
    from spacy.util import get_lang_class

    try:
        language_class = get_lang_class(language)
        name = "porter" if language == "en" else _NAMES[language]
        return _StemCache(snowballstemmer.stemmer(name), frozenset(language_class.Defaults.stop_words))
    except (ImportError, KeyError):
        raise UserError("D203", language=language, names=", ".join(sorted(_NAMES))) from None


_NAMES = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "eu": "basque", "fi": "finnish", "fr": "french", "hu": "hungarian", "id": "indonesian", "it": "italian",
    "nb": "norwegian", "nl": "dutch", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""Snowball's language names by language code; English uses Porter's original stemmer."""


LAYERS = ("tag", "stem", "lemma")
Layers = dict[str, NDArray[np.generic]]


def check_layers(layers: Sequence[str]) -> None:
    """Raise `UserError` D204 if a layer name is unknown."""
    unknown = [layers] if isinstance(layers, str) else [name for name in layers if name not in LAYERS]
    if unknown:
        raise UserError("D204", name=unknown[0], names=", ".join(LAYERS))


def layers_of_text(view: TokenView, wanted: Sequence[str], *, language: str, tagger: str) -> Layers:
    """Return the layers of a view of plain text: tags from the model `tagger`, stems, but no lemmas."""
    layers: Layers = {}
    if "tag" in wanted:
        from disambig.models import load

        model = load(tagger)
        instances, chosen = model.choose(view)
        tags = np.zeros(len(view), np.uint64)
        tags[instances.positions] = hash_words(list(model.task.groups[0].candidates))[chosen]
        layers["tag"] = tags
    if "stem" in wanted:
        layers["stem"] = stem_layer(view, language)
    if "lemma" in wanted:
        _warn("lemma", "plain text has none: annotate Docs of a pipeline with a lemmatizer")
    return layers


def layers_of_docs(
    view: TokenView, docs: Sequence[Doc], words: NDArray[np.bool_], wanted: Sequence[str], *, language: str
) -> Layers:
    """Return the layers of a view of Docs; a layer that no Doc has is left out, with a warning.

    `words`, shape ``(n_doc_tokens,)``, is the mask of the tokens of all Docs, concatenated, that are words of
    the view.
    """
    layers: Layers = {}
    for name in wanted:
        if name == "stem":
            layers[name] = stem_layer(view, language)
            continue
        attributes = [_attribute(doc, name) for doc in docs]
        if any(not attribute and len(doc) for attribute, doc in zip(attributes, docs, strict=True)):
            _warn(name, _ADVICE[name])
        if not any(attributes) and docs:
            continue
        values = [_values(doc, attribute) for doc, attribute in zip(docs, attributes, strict=True)]
        layer = np.zeros(len(view), np.uint64)
        layer[view.ends > view.starts] = np.concatenate([np.zeros(0, np.uint64), *values])[words]
        layers[name] = np.where(content_words(view, language), layer, 0) if name == "lemma" else layer
    return layers


_ADVICE = {
    "tag": "put a tagger before this component, such as disambig_tagger",
    "lemma": "put a lemmatizer before this component",
}


def _warn(name: str, advice: str) -> None:
    warnings.warn(f"no {name}s here: features that need them are left out; {advice}", stacklevel=5)


def _attribute(doc: Doc, name: str) -> str:
    """Return the token attribute that a layer is made from; "" if the Doc does not have it.

    The coarse tags of Universal Dependencies are used if a Doc has no fine-grained tags.
    """
    possible = {"tag": ("TAG", "POS"), "lemma": ("LEMMA",)}[name]
    return next((attribute for attribute in possible if doc.has_annotation(attribute)), "")


def _values(doc: Doc, attribute: str) -> NDArray[np.uint64]:
    """Return the hash of each token's tag or lemma; 0 for tokens without one."""
    if not attribute:
        return np.zeros(len(doc), np.uint64)
    numbers, which = np.unique(doc.to_array([attribute]), return_inverse=True)
    strings = [doc.vocab.strings[number] if number else "" for number in numbers.tolist()]
    hashes = [hash_word(text.lower() if attribute == "LEMMA" else text) if text else 0 for text in strings]
    return np.array(hashes, np.uint64)[which.ravel()]


_ATTRIBUTES = ["ORTH", "LOWER", "IDX", "LENGTH", "SENT_START"]
_SURROGATE = re.compile("[\ud800-\udfff]")
_CODE = re.compile(f"[{CODE_SIGNS}]+")
_PLAIN, _STOP, _CLOSER, _SPACE, _BLANK = range(5)
_SYMBOLS = 10_000
"""spaCy identifies some words ("mark", "root") by numbers below this limit instead of hashes."""
_MAX_CACHE_SIZE = 100_000
"""Number of words that spaCy's tokeniser caches; its default of 10,000 makes long texts six times slower."""
_CLOSING = frozenset({'"', "'", "''"})
"""Quotes that may close; others have the Unicode category of final quotes or closing brackets."""


@dataclass(frozen=True, slots=True)
class SpacyTokens:
    """Use spaCy's tokens as words: those of a Doc, or of the language's blank pipeline for plain text.

    Parameters
    ----------
    language : str
        Code of the language whose tokeniser splits plain texts.
    layers : sequence of str
        Layers to add to views: ``"tag"``, ``"stem"``, ``"lemma"``.
    tagger : str
        The model that tags plain texts: a task such as ``"tag"``, ``"PACK/TASK"``, or a directory. Docs have
        their own tags.

    Raises
    ------
    UserError
        D202, when a text is tokenised, for a language without a spaCy tokeniser; D203 for a language
        without a stemmer; D204 for an unknown layer; D404 for an unknown tagger.
    """

    language: str = "en"
    layers: Sequence[str] = ()
    tagger: str = "tag"
    registered: ClassVar[str] = "disambig.spacy_tokens.v1"

    def __post_init__(self) -> None:
        check_layers(self.layers)

    @property
    def name(self) -> str:
        """The registered name, with the language unless it is English, and with the layers."""
        name = self.registered if self.language == "en" else f"{self.registered}/{self.language}"
        layers = [f"tag={self.tagger}" if layer == "tag" else layer for layer in self.layers]
        return "+".join([name, *layers])

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Return the tokens of `texts`, one document each."""
        cleaned = [_SURROGATE.sub("\ufffd", text) for text in texts]  # spaCy rejects lone surrogates
        # spaCy would split a run of signs of hidden code, which is one word
        cleaned = [_CODE.sub(lambda code: "x" * len(code[0]), text) for text in cleaned]
        docs = list(spacy_docs(cleaned, self.language)) if cleaned else []
        return self._layered(_view(self.name, texts, docs)[0])

    def of_docs(self, docs: Sequence[Doc]) -> TokenView:
        """Return the tokens of `docs`, one document each."""
        view, words = _view(self.name, [doc.text for doc in docs], docs)
        if not self.layers:
            return view
        return replace(view, layers=layers_of_docs(view, docs, words, self.layers, language=self.language))

    def of_sentences(self, sentences: Iterable[Sequence[str]]) -> TokenView:
        """Return the view of sentences that are already split into tokens, one document each."""
        words_by_sentence = [list(words) for words in sentences]
        sizes = np.array([len(words) for words in words_by_sentence], np.int64)
        lengths = [np.fromiter(map(len, words), np.int64, len(words)) for words in words_by_sentence]
        ends = np.concatenate(
            [np.zeros(0, np.int64), *(np.cumsum(word_lengths + 1) - 1 for word_lengths in lengths)]
        )
        starts = ends - np.concatenate([np.zeros(0, np.int64), *lengths])
        distinct = list({word.lower() for words in words_by_sentence for word in words})
        hash_by_word = dict(zip(distinct, hash_words(distinct).tolist(), strict=True))
        hashes = np.array(
            [hash_by_word[word.lower()] for words in words_by_sentence for word in words], np.uint64
        )
        texts = [" ".join(words) for words in words_by_sentence]
        columns = hashes, starts.astype(np.int32), ends.astype(np.int32)
        return self._layered(_assemble(self.name, texts, *columns, sizes, np.zeros(len(hashes), bool)))

    def _layered(self, view: TokenView) -> TokenView:
        """Return a view of plain text with its layers added."""
        if not self.layers:
            return view
        layers = layers_of_text(view, self.layers, language=self.language, tagger=self.tagger)
        return replace(view, layers=layers)

    def words(self, text: str) -> list[str]:
        """Return the tokens of one text in lower case, boundary words included."""
        view = self([text])
        words = [text[s:e].lower() for s, e in zip(view.starts.tolist(), view.ends.tolist(), strict=True)]
        return name_boundaries(words, view.sentences)


@lru_cache(maxsize=4)
def _tokeniser(language: str) -> Any:
    """Return spaCy's tokeniser for a language; it is created once.

    Raises D202 for a language that spaCy does not support, or only with an additional package.
    """
    import spacy

    try:
        spacy_tokeniser = spacy.blank(language).tokenizer
    except ImportError as problem:
        raise UserError("D202", language=language, problem=" ".join(str(problem).split())) from problem
    spacy_tokeniser.max_cache_size = _MAX_CACHE_SIZE
    return spacy_tokeniser


_LONGEST = {"ja": 12_000}
"""Maximum number of characters that a language's tokeniser accepts (SudachiPy: 49,149 bytes of UTF-8)."""
_BREAK = re.compile(r".*[\n\u3002\uff01\uff1f]", re.DOTALL)


def spacy_docs(texts: Iterable[str], language: str) -> Iterator[Doc]:
    """Yield the Docs of spaCy's blank pipeline; a text that is too long for its tokeniser is split in pieces.

    Raises D202 for a language that spaCy does not support, or only with an additional package.
    """
    from spacy.tokens import Doc

    spacy_tokeniser, longest = _tokeniser(language), _LONGEST.get(language)
    if longest is None:
        yield from spacy_tokeniser.pipe(texts)
        return
    for text in texts:
        pieces = [spacy_tokeniser(piece) for piece in _pieces(text, longest)]
        yield (
            Doc.from_docs(pieces, ensure_whitespace=False, exclude=["user_data"]) if pieces[1:] else pieces[0]
        )


def _pieces(text: str, longest: int) -> list[str]:
    """Return a text in pieces of a maximum length, cut after sentences and lines where possible."""
    pieces: list[str] = []
    start = 0
    while len(text) - start > longest:
        piece = text[start : start + longest]
        pieces.append(match[0] if (match := _BREAK.match(piece)) else piece)
        start += len(pieces[-1])
    return [*pieces, text[start:]]


def _view(name: str, texts: Sequence[str], docs: Sequence[Doc]) -> tuple[TokenView, NDArray[np.bool_]]:
    """Return the view, and the mask of the Docs' tokens that are in it."""
    columns = [doc.to_array(_ATTRIBUTES).reshape(-1, len(_ATTRIBUTES)) for doc in docs]
    attributes = np.concatenate([np.zeros((0, len(_ATTRIBUTES)), np.uint64), *columns])
    orth, lower, offset, length, sent_start = attributes.T
    sizes = np.array([len(rows) for rows in columns], np.int64)
    documents = np.concatenate([[0], np.cumsum(sizes)])
    orths, which = np.unique(orth, return_inverse=True)
    strings = {id(doc.vocab): doc.vocab.strings for doc in docs}.values()
    kind = np.array([_kind(_string(orth, strings)) for orth in orths.tolist()], np.int8)[which]
    document = np.repeat(np.arange(len(sizes)), sizes)
    begins = _sentence_starts(sent_start, kind, document)
    words = kind < _SPACE
    for at in np.flatnonzero(words & (lower < _SYMBOLS)).tolist():
        # a vocabulary without lexical attributes does not provide the lower-case form
        word = _string(int(lower[at]), strings) if lower[at] else _string(int(orth[at]), strings).lower()
        lower[at] = hash_word(word)
    sentence = np.cumsum(begins)[words]
    sizes = np.diff(np.concatenate([[0], np.cumsum(words)])[documents])
    starts = offset[words].astype(np.int32)
    ends = starts + length[words].astype(np.int32)
    begins = np.diff(sentence, prepend=sentence[:1]) > 0
    return _assemble(name, texts, lower[words], starts, ends, sizes, begins), words


def _string(number: int, stores: Iterable[Any]) -> str:
    """Return the string with a given hash, or ""; the Docs of a batch can have several vocabularies."""
    for store in stores:
        if number in store:
            return str(store[number])
    return ""


def _kind(text: str) -> int:
    if text.isspace():
        return _BLANK if text.count("\n") > 1 else _SPACE
    if _stops().issuperset(text):
        return _STOP
    is_closing = text in _CLOSING or (len(text) == 1 and unicodedata.category(text) in ("Pe", "Pf"))
    return _CLOSER if is_closing else _PLAIN


@lru_cache(maxsize=1)
def _stops() -> frozenset[str]:
    """Return the characters that end sentences, in any script."""
    from spacy.pipeline import Sentencizer

    return frozenset(Sentencizer.default_punct_chars) | {"\u2026"}


def _sentence_starts(
    sent_start: NDArray[np.uint64], kind: NDArray[np.int8], document: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return the mask of tokens, white space included, that begin a sentence.

    The first token of a document need not be marked. `sent_start` holds spaCy's values: 1 if a sentence
    begins, 0 if that is unknown, another value if none begins. `document` is the index of each token's Doc;
    stops of one Doc have no effect on the next one.
    """
    starts = np.zeros(len(kind) + 1, bool)
    solid = np.flatnonzero(kind <= _STOP)  # neither closing punctuation nor white space
    after_stop = (kind[solid[1:]] == _PLAIN) & (kind[solid[:-1]] == _STOP)
    starts[solid[1:]] = after_stop & (document[solid[1:]] == document[solid[:-1]])
    starts[1:] |= kind == _BLANK
    return (sent_start == 1) | ((sent_start == 0) & starts[:-1])


def _assemble(
    name: str,
    texts: Sequence[str],
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    sizes: NDArray[np.int64],
    breaks: NDArray[np.bool_],
) -> TokenView:
    """Return the view with boundary words around each sentence; `sizes` are the words of each document."""
    begins = breaks.copy()
    documents = np.concatenate([[0], np.cumsum(sizes)])
    begins[documents[:-1][sizes > 0]] = True
    first = np.flatnonzero(begins)
    return TokenView(
        name, texts, *with_boundaries(hashes, starts, ends, sentences=first, documents=documents)
    )
