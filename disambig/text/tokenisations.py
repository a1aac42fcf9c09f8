"""The tokenisations of the core, `disambig.words.v1` and `web1t.v1`, and looking up tokenisations by name.

`disambig.words.v1` works for any language, so it has no lists of abbreviations or contractions. There are two
implementations: regular expressions for short texts, which are also the reference, and a compiled function.

Words
    A run of letters, marks and digits. An apostrophe between two letters belongs to the word (``it's``,
    ``o'clock``), and so does a single ``.``, ``,`` or ``:`` between two digits (``3.14``). ``cannot`` is one
    word, ``can not`` two words, ``well-known`` three: hyphens are words. A run of the same other character
    is one word (``...``, ``--``). White space, control and format characters and lone surrogates only
    separate words.
Normal form
    Letters in lower case if that is a single character; every digit is ``0``; curly double quotes become
    ``"``, curly single quotes and apostrophes ``'``. A word of more than 255 bytes has the hash `UNKNOWN`.
Sentences
    A sentence ends after a run of ``. ! ? ...`` and the quotes and brackets that close directly after it, if
    white space follows and then an upper-case or caseless letter, a digit or an opening mark. A single ``.``
    after one letter, or after a capitalised word of two or three letters (``Mr.``, ``Fig.``), does not end a
    sentence. Full-width stops need nothing after them. A blank line or a paragraph separator always ends a
    sentence, a single line end never does.

`web1t.v1` follows the conventions of Google's Web 1T 5-gram counts, for English only. They are those of the
Penn Treebank, with these exceptions:

* case and numbers are kept;
* clitics are words: ``it 's``, ``ca n't``, ``we 'll``; ``cannot`` is ``can not``;
* hyphenated words are split at the hyphen, which is a word; numbers joined by ``. , : / -`` are one word;
* addresses (URL, e-mail), ``--`` and ``...`` are one word each; other punctuation is single characters;
* a full stop belongs to an abbreviation inside a sentence (``Mr.``) and to initials (``U.S.``), and is a
  word of its own at the end of a sentence;
* curly quotes and apostrophes become straight ones.

Its sentences are those of `disambig.words.v1`. A word of more than 255 bytes has the hash `UNKNOWN`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError, check_call, contract_error, describe_value
from disambig.registry import describe_component, get, registered_entries
from disambig.runtime import use_numba
from disambig.text import characters as ch
from disambig.text.view import (
    END_HASH,
    LONGEST_WORD,
    SENTENCE_END,
    SENTENCE_START,
    START_HASH,
    UNKNOWN,
    Arrays,
    Tokenisation,
    TokenView,
    hash_word,
    name_boundaries,
    with_boundaries,
)

_MAX_CACHED = 1 << 15
_BEYOND_ALPHABETS = re.compile(f"[\u3000-\U0010ffff](?<![{ch.CODE_SIGNS}])")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


@functools.lru_cache(maxsize=4)
def _patterns(size: int) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a word and of a sentence end, for texts of characters below `size`."""

    def char_class(*classes: int) -> str:
        return f"[{ch.character_set(size, *classes)}]"

    word = char_class(ch.DIGIT, ch.LETTER, ch.UPPER, ch.CASELESS)
    # next to a sign inside a word are letters or digits: the class of digits is compiled faster
    digit = char_class(ch.DIGIT)
    space = char_class(ch.SPACE, ch.LINE_FEED, ch.CARRIAGE_RETURN, ch.PARAGRAPH)
    other = f"[^{space[1:]}"  # anything but white space: words are tried first
    inside = f"(?<!{digit}){char_class(ch.APOSTROPHE)}(?!{digit})|(?<={digit})[.,:](?={digit})"
    # a word, or a run of the same other character
    words = re.compile(f"({word}+(?:(?:{inside}){word}+)*|({other})\\2*)")

    line = r"(?:\r\n|\r(?!\n)|\n)"
    blank = f"\u2029|{line}{space}*?{line}"
    closing = char_class(ch.CLOSING, ch.QUOTE, ch.APOSTROPHE)
    closing_any = char_class(ch.CLOSING, ch.QUOTE, ch.QUOTE_OPENING, ch.APOSTROPHE)
    opening = char_class(
        ch.DIGIT, ch.UPPER, ch.CASELESS, ch.OPENING, ch.QUOTE, ch.QUOTE_OPENING, ch.APOSTROPHE
    )
    # stops and what closes after them, before white space and a possible beginning of a sentence
    narrow = f"({char_class(ch.DOT, ch.STOP)}+){closing_any}*(?={space}+{opening})"
    wide = ""
    if size >= ch.PLANE_0:  # wide stops are East Asian characters
        stop = char_class(ch.DOT, ch.STOP, ch.WIDE_STOP)
        wide = f"|{stop}*{char_class(ch.WIDE_STOP)}{stop}*{closing}*"
        narrow = narrow.replace("+)", f"+)(?!{char_class(ch.WIDE_STOP)})", 1)
    return words, re.compile(f"{blank}{wide}|{narrow}")


def normalised(raw: str) -> str:
    """Return the normal form of one raw word: lower case, digits as 0, plain quotes."""
    return "".join(map(ch.fold_character, raw))


class _Hashes(dict[str, int]):
    """Cache of the hash of each raw word, that of its normal form."""

    def __init__(self, normal_form: Callable[[str], str]) -> None:
        super().__init__()
        self._normal_form = normal_form

    def __missing__(self, raw: str) -> int:
        word = self._normal_form(raw).encode("utf8", "surrogatepass")
        value = hash_word(word) if len(word) <= LONGEST_WORD else UNKNOWN
        if len(self) >= _MAX_CACHED:
            self.clear()
        if len(word) <= LONGEST_WORD:
            self[raw] = value
        return value


_hashes = _Hashes(normalised)


def _size_for(text: str) -> int:
    """Return the size of the smallest character table for a text; signs of hidden code need no entry."""
    if text.isascii():
        return ch.ASCII
    if not _BEYOND_ALPHABETS.search(text):
        return ch.ALPHABETS
    return ch.ALL if _ASTRAL.search(text) else ch.PLANE_0


def raw_words(text: str) -> list[str]:
    """Return the words of `text` as they are written, without boundary words."""
    return _patterns(_size_for(text))[0].split(text)[1::3]


def tokenise_text(text: str, offsets: NDArray[np.int64]) -> Arrays:
    """Return the columns of the documents at `offsets` in `text`, which are separated by blank lines."""
    raw, starts, ends, first = _raw_sentences(text)
    hashes = np.fromiter(map(_hashes.__getitem__, raw), dtype=np.uint64, count=len(raw))
    documents = np.append(np.searchsorted(starts, offsets), len(raw))
    shift = np.repeat(offsets, np.diff(documents))
    return with_boundaries(hashes, starts - shift, ends - shift, sentences=first, documents=documents)


def _raw_sentences(
    text: str,
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the words of `text` as written, their starts and ends, and the first word of each sentence."""
    words, breaks = _patterns(_size_for(text))
    # the pattern has two groups: the parts are, in turn, a gap between words, a word, and its first character
    parts = words.split(text)
    raw = parts[1::3]
    n = len(raw)
    length = np.fromiter(map(len, raw), dtype=np.int64, count=n)
    gap = np.fromiter(map(len, parts[:-1:3]), dtype=np.int64, count=n)
    ends = np.cumsum(length + gap)
    starts = ends - length

    matches = list(breaks.finditer(text))
    at = np.fromiter((match.end() for match in matches), dtype=np.int64, count=len(matches))
    dots = [(i, match.start()) for i, match in enumerate(matches) if match[1] == "."]
    if dots:  # a single full stop after an abbreviation or an initial does not end a sentence
        which, dot = np.array(dots, dtype=np.int64).T
        before = np.searchsorted(starts, dot) - 1
        adjacent = (before >= 0) & (ends[before] == dot)
        keep = np.ones(len(matches), dtype=bool)
        for i, start, width in zip(
            which[adjacent], starts[before[adjacent]], length[before[adjacent]], strict=True
        ):
            kind = ch.character_class(text[start])
            keep[i] = not ((width == 1 and kind >= ch.FIRST_LETTER) or (width <= 3 and kind == ch.UPPER))
        at = at[keep]
    first = np.unique(np.concatenate(([0], np.searchsorted(starts, at))))
    return raw, starts, ends, first[first < n]


BETWEEN = "\n\n"
"""Separator of documents: a blank line, so that no sentence extends into the next document."""
_NANOSECONDS_AFTER = 4_000.0
"""What the models of the English pack take longer for a character of text with NumPy than with Numba."""
_LONGEST_TEXT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Words:
    """Split texts of any language into words in lower case, with 0 for every digit.

    A run of letters and digits is a word (``it's``, ``3.14``); hyphens and other characters are words of
    their own. A sentence ends after ``.``, ``!`` or ``?`` before a capital letter, and at a blank line. The
    module `disambig.text.tokenisations` has the details.
    """

    name: ClassVar[str] = "disambig.words.v1"

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Return the words of `texts`, one document each.

        Raises
        ------
        UserError
            D201 if a text has more than 2**31 - 1 characters.
        """
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        if len(texts) and lengths.max() > _LONGEST_TEXT:
            raise UserError("D201", number=int(lengths.argmax()) + 1, length=int(lengths.max()))
        offsets = np.cumsum(lengths + len(BETWEEN)) - lengths - len(BETWEEN)
        joined = BETWEEN.join(texts)
        is_long = use_numba(len(joined), nanoseconds_after=_NANOSECONDS_AFTER)
        tokenise = _tokenise_compiled if is_long else tokenise_text
        return TokenView(self.name, texts, *tokenise(joined, offsets))

    @staticmethod
    def normal_form(word: str) -> str:
        """Return the normal form of one word as it is written in a text."""
        return normalised(word)

    def words(self, text: str) -> list[str]:
        """Return the normalised words of one text, boundary words included."""
        view = TokenView(self.name, [text], *tokenise_text(text, np.zeros(1, dtype=np.int64)))
        words = [
            normalised(text[start:end])
            for start, end in zip(view.starts.tolist(), view.ends.tolist(), strict=True)
        ]
        return name_boundaries(words, view.sentences)


def _tokenise_compiled(text: str, offsets: NDArray[np.int64]) -> Arrays:
    """Return the hashes, starts and ends of tokens, and the first tokens of sentences and of documents."""
    from disambig.text.kernels import tokenise

    codes = ch.code_points(text)
    table = ch.table_for(codes)
    documents = np.zeros(len(offsets) + 1, dtype=np.int64)
    if not len(offsets):
        offsets = np.zeros(1, dtype=np.int64)
    # if each character is a word, and every second one ends a sentence with its two boundary words
    upper_bound = 2 * len(codes) + 64
    capacity = len(codes) // 3 + 64  # enough for ordinary text; otherwise the arrays grow
    while True:
        hashes = np.empty(capacity, dtype=np.uint64)
        starts = np.empty(capacity, dtype=np.int32)
        ends = np.empty(capacity, dtype=np.int32)
        sentences = np.empty(capacity // 3 + 2, dtype=np.int64)
        columns = hashes, starts, ends, sentences, documents
        tokens, n_sentences, done = tokenise(codes, offsets, table, *columns)
        if done == len(codes):
            break
        del hashes, starts, ends, sentences, columns
        capacity = min(upper_bound, max(2 * capacity, int(1.1 * tokens * len(codes) / done)))
    del columns
    for column in (hashes, starts, ends):
        column.resize(tokens, refcheck=False)
    sentences.resize(n_sentences + 1, refcheck=False)
    return hashes, starts, ends, sentences, documents


_PLAIN = str.maketrans("\u2018\u2019\u201b\u02bc\u201c\u201d\u201e\u201f", "''''\"\"\"\"")
_CLITIC = re.compile("(?<=.)(?:n't|'(?:s|re|ve|ll|d|m))$", re.IGNORECASE)


@functools.lru_cache(maxsize=4)
def _pattern(size: int) -> re.Pattern[str]:
    """Return the regular expression of one Penn token, for texts of characters below `size`."""
    word = "[" + ch.character_set(size, ch.DIGIT, ch.LETTER, ch.UPPER, ch.CASELESS)
    word += "\U00010000-\U0003ffff]"
    space = "[" + ch.character_set(size, *range(ch.LAST_SPACE + 1)) + "]"
    address = (
        '(?:[A-Za-z][A-Za-z0-9+.-]{1,20}://|www\\.)[^\\s<>"]*[^\\s<>".,;:!?)\\]\']'
        "|[\\w.+-]{1,64}@[\\w-]{1,64}(?:\\.[\\w-]{1,64})+"
    )
    number = "\\d+(?:[.,:/-]\\d+)+(?!{word})".replace("{word}", word)
    initials = "(?:(?<!{word})[^\\W\\d_]\\.){2,}".replace("{word}", word)
    plain = f"{word}+(?:'{word}+)*"
    last = "(?=[)\\]}\"']*\\Z)"  # a full stop at this position ends the sentence
    return re.compile(
        f"{address}|{number}|{initials}|{plain}(?:\\.(?!{last}|\\.|{word}))?|--+|\\.\\.+|(?!{space}).",
        re.DOTALL,
    )


def _word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each word of one sentence, whose quotes are already straight."""
    for match in _pattern(min(_size_for(text), ch.PLANE_0)).finditer(text):
        start, end = match.span()
        is_cannot = end - start == len("cannot") and match[0].lower() == "cannot"
        cuts = [start + len("can")] if is_cannot else []
        stop = end
        while "'" in match[0]:
            clitic = _CLITIC.search(text[start:stop])
            if not clitic:
                break
            stop = start + clitic.start()
            cuts.insert(0, stop)
        for cut in cuts:
            yield start, cut
            start = cut
        yield start, end


@dataclass(frozen=True, slots=True)
class Web1T:
    """Split English texts into words as in the Web 1T counts.

    The case is kept, and ``it's`` becomes ``it 's``.
    The module `disambig.text.tokenisations` has the details.
    """

    name: ClassVar[str] = "web1t.v1"

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Return the words of `texts`, one document each."""
        hashes: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        sentences = [0]
        documents = [0]
        for text in texts:
            for start, end in _sentences(text):
                spans = list(_word_spans(text[start:end].translate(_PLAIN)))
                hashes += [
                    START_HASH,
                    *(_plain_hashes[text[start + a : start + b]] for a, b in spans),
                    END_HASH,
                ]
                starts += [start, *(start + a for a, _ in spans), end]
                ends += [start, *(start + b for _, b in spans), end]
                sentences.append(len(hashes))
            documents.append(len(hashes))
        return TokenView(
            self.name,
            texts,
            np.array(hashes, dtype=np.uint64),
            np.array(starts, dtype=np.int32),
            np.array(ends, dtype=np.int32),
            np.array(sentences, dtype=np.int64),
            np.array(documents, dtype=np.int64),
        )

    def words(self, text: str) -> list[str]:
        """Return the words of one text, boundary words included."""
        words = []
        for start, end in _sentences(text):
            sentence = text[start:end].translate(_PLAIN)
            words += [SENTENCE_START, *(sentence[a:b] for a, b in _word_spans(sentence)), SENTENCE_END]
        return words


def _sentences(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each sentence of `text`, without the space around it."""
    raw, starts, ends, first = _raw_sentences(text)
    last = np.append(first[1:], len(raw))[: len(first)] - 1
    return list(zip(starts[first].tolist(), ends[last].tolist(), strict=True))


_plain_hashes = _Hashes(lambda raw: raw.translate(_PLAIN))


def tokenisation_named(name: str) -> Tokenisation:
    """Return the tokenisation with a registered name, optionally with a language: ``"NAME/LANGUAGE"``.

    Raises
    ------
    UserError
        D001 for an unknown name.
    """
    registered, _, language = name.partition("/")
    settings: dict[str, Any] = {"language": language} if language else {}
    made: Tokenisation = get("tokenisations", registered)(**settings)
    return made


def check_tokens(tokenisation: Tokenisation) -> None:
    """Check that a tokenisation has a name and returns a view. Raises D414."""
    component = describe_component("tokenisations", tokenisation)
    if not isinstance(getattr(tokenisation, "name", None), str):
        raise contract_error(component, "it has no name", "its registered name")
    entries = registered_entries("tokenisations").values()
    names = [entry.name for entry in entries if entry.has_factory(type(tokenisation))]
    registered = re.split("[/+]", tokenisation.name)[0]  # a language and layers may follow
    if names and registered not in names:
        raise contract_error(
            component, f"its name is {tokenisation.name!r}", f"the registered name, {names[0]}"
        )
    check_call(component, tokenisation, "__call__", "__call__(texts), which returns a TokenView", None)
    check_call(component, tokenisation, "words", "words(text), which returns a list of texts", None)
    view: object = tokenisation([])
    if not isinstance(view, TokenView):
        raise contract_error(component, f"it returned {describe_value(view)} for no texts", "a TokenView")


_COLUMNS = {"hashes": np.uint64, "starts": np.int32, "ends": np.int32}
_BOUNDARIES = "sentences that begin and end with a token without width, START_HASH and END_HASH"


def check_view(tokenisation: Tokenisation, view: TokenView, texts: Sequence[str]) -> None:
    """Check that the tokens of some texts are inside them and in order, sentence by sentence. Raises D414."""
    if problem := _view_problem(tokenisation, view, texts):
        raise contract_error(describe_component("tokenisations", tokenisation), *problem)


def _view_problem(
    tokenisation: Tokenisation, view: TokenView, texts: Sequence[str]
) -> tuple[str, str] | None:
    """Return what is wrong with a view and what is expected instead; None if nothing is wrong."""
    if view.tokenisation != tokenisation.name:
        return f"its view is of {view.tokenisation!r}", f"the name of the tokenisation, {tokenisation.name!r}"
    n = len(view.hashes)
    for name, dtype in _COLUMNS.items():
        column: Any = getattr(view, name)
        if not isinstance(column, np.ndarray) or column.shape != (n,) or column.dtype != dtype:
            wanted = f"an array of {np.dtype(dtype)} of shape ({n},), one per token"
            return f"{name} of its view is {describe_value(column)}", wanted
    for name in ("sentences", "documents"):
        offsets: Any = getattr(view, name)
        if not isinstance(offsets, np.ndarray) or offsets.ndim != 1 or offsets.dtype.kind not in "iu":
            return f"{name} of its view is {describe_value(offsets)}", "an array of integers"
        if not len(offsets) or offsets[-1] != n or bool((np.diff(offsets) < 0).any()):
            end = f"ends with {offsets[-1]}" if len(offsets) else "is empty"
            return f"{name} of its view {end}", f"ascending offsets that end with the number of tokens, {n}"
    if len(view.documents) != len(texts) + 1:
        return f"its view has {len(view.documents) - 1:,} documents", f"{len(texts):,}, one for each text"
    for name in ("sentences", "documents"):
        if begin := int(getattr(view, name)[0]):
            return f"{name} of its view begins with {begin}", "offsets that begin with 0"
    if list(view.texts) != list(texts):
        return "its view has other texts than it was called with", "the same texts, unchanged"
    lengths = np.repeat(np.array([len(text) for text in texts], np.int64), np.diff(view.documents))
    outside = np.flatnonzero((view.starts < 0) | (view.starts > view.ends) | (view.ends > lengths))
    if len(outside):
        token = int(outside[0])
        seen = f"token {token:,} is from {view.starts[token]} to {view.ends[token]}"
        return seen, f"offsets in its own text, which has {lengths[token]} characters"
    if n:
        first, last = view.sentences[:-1], view.sentences[1:] - 1
        empty = (view.starts[first] == view.ends[first]) & (view.starts[last] == view.ends[last])
        marked = (view.hashes[first] == START_HASH) & (view.hashes[last] == END_HASH)
        if not bool((empty & marked).all()):
            number = int(np.flatnonzero(~(empty & marked))[0])
            return f"sentence {number:,} of its view begins or ends with another token", _BOUNDARIES
    return None
