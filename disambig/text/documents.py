r"""Views of texts and of spaCy Docs, and the protected spans of a text.

The words of a Doc come from ``doc.text``, so spaCy's tokeniser has no influence on what a word is, unless the
tokenisation reads the Doc's own tokens (see `disambig.text.ReadsDocs`).

Protected spans of a text (`protected_spans`):

quote
    Text between double quotes, straight, curly or « », if both marks are in one paragraph. A straight mark
    opens a quotation before a character that is not a space, unless a letter or digit precedes it; it closes
    one after a character that is not a space.
code
    Text between backticks within a paragraph; fenced blocks (three or more backticks or tildes; an unclosed
    fence extends to the end); lines indented by four spaces or a tab, after a blank line or at the start of
    the text, if one of them contains ``= { } $ |``, ``()`` or ``->`` or ends in ``;`` (other indented lines
    are prose); lines that begin with a prompt (``$`` and a blank before a lower-case letter or a path, or
    ``>>>``); HTML and XML tags, comments, and the contents of ``<code> <pre> <script> <style> <kbd>
    <samp>``; words with an underscore or two colons between letters or digits (``snake_case``, ``Net::FTP``).
url, email, tag, path
    Chunks without white space, stripped of the punctuation around them: a chunk with ``://`` or one that
    starts with ``www.`` or ``mailto:``; ``name@host``; ``@mention`` and ``#tag``; ``/usr/bin``, ``~/x``,
    ``./x``, ``a/b/c``, ``a/b.txt``, ``C:\x`` and names with a dot before a lower-case letter
    (``example.org``, ``os.path``), but not ``and/or``.

list
    Eight or more consecutive lines of one to four words without a stop at the end, such as a word list; the
    cells of a table after a ``|`` do not count. Six or more single words between commas in one paragraph.

Names are protected too, but only in `protected_layer`, since they depend on words and sentences: a word of
two letters or more that starts with a capital, contains lower-case letters and follows a word, comma, hyphen,
ampersand, apostrophe or full stop in the same sentence and line (except when it repeats the first word of the
sentence, "The The"); a word in capitals, of two letters or more, whose neighbours are not in capitals; and a
single capital other than "I" that follows such a word or mark ("press the A key").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from operator import is_
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.text import characters as ch
from disambig.text.view import Tokenisation, TokenView

if TYPE_CHECKING:
    from spacy.tokens import Doc


Span = tuple[int, int, str]

_QUOTES = re.compile('["\u201c\u201d\u201e\u201f\u00ab\u00bb]|\n[^\\S\n]*\n|\u2029')
_CLOSERS = {'"': '"', "\u201c": "\u201d", "\u201e": "\u201c\u201d", "\u201f": "\u201d"}
_CLOSERS |= {"\u00ab": "\u00bb", "\u00bb": "\u00ab"}
_TICKS = re.compile("`+|\n[^\\S\n]*\n")
_FENCES = re.compile("^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_INDENTED = re.compile("(?:\\A|\n)(?= {4}|\t)")
_LINES_INDENTED = re.compile("(?:(?: {4}|\t)[^\n]*(?:\n|\\Z))+")
_CODE_MARKS = re.compile("[={}$|]|\\(\\)|->|;[ \t\r]*$", re.MULTILINE)
_PROMPTS = re.compile("^[^\\S\n]*(?:\\$ (?=[a-z./~])|>>> )[^\n]*", re.MULTILINE)
_WORD_LISTS = re.compile(
    r"^(?:\w[^\s|]*(?: [^\s|]+){0,3}(?<![.,;:!?])[^\S\n]*(?:\|[^\n]*)?(?:\n|\Z)){8,}", re.MULTILINE
)
_WORDS_AND_COMMAS = re.compile(r"(?:,[^\S\n]*\n?[^\S\n]*\w[\w'\u2019-]*){6,},")
# a tag has no blank line and few line ends: else a stray "<" would hide the text up to any later ">"
_IN_TAG = "[^<>\n\u2029]*(?:\n(?![^\\S\n]*\n)[^<>\n\u2029]*){0,9}"
_TAGS = re.compile(f"<!--|-->|<(/?)([A-Za-z][\\w:.-]*)(?:(?=[\\s/]){_IN_TAG})?>|<[?!]{_IN_TAG}>")
_VERBATIM = frozenset(("code", "pre", "script", "style", "kbd", "samp"))
_CHUNKS = re.compile("[@/\\\\_#]|\\.(?=[a-z])|:(?://|:\\w)")
_REST = re.compile("\\S*")
_WORDS_PER_PIECE = 200_000
_MAX_LEFT = 256  # maximum number of characters of a chunk before its first mark
_EMAIL = re.compile("[\\w.+-]+@\\w[\\w-]*(?:\\.[\\w-]+)+")
_TAG = re.compile("[@#]\\w[\\w.-]*")
_PATH = re.compile("(?:~|\\.{1,2})?/\\w|[A-Za-z]:[\\\\/]|\\\\\\\\\\w|\\w*\\\\\\w")
_QUALIFIED = re.compile("[^\\W_](?:_+|::)[^\\W_]")
_DOTTED = re.compile("\\w\\.[a-z]")
_SURROUNDING = "()[]{}<>\"'`*_.,;:!?\u201c\u201d\u2018\u2019\u201e\u00ab\u00bb\u2026"


def protected_spans(text: str) -> list[Span]:
    """Return ``(start, end, kind)`` of each protected span of `text`; spans may overlap."""
    spans = list(_blocks_and_tags(text))
    if "$ " in text or ">>> " in text:
        spans.extend((match.start(), match.end(), "code") for match in _PROMPTS.finditer(text))
    spans.extend((match.start(), match.end(), "list") for match in _WORD_LISTS.finditer(text))
    spans.extend((match.start(), match.end(), "list") for match in _WORDS_AND_COMMAS.finditer(text))
    if any(mark in text for mark in _CLOSERS):
        spans.extend(_quotations(text))
    spans.extend(_chunks(text))
    return spans


def connected_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans in which code may extend across blank lines and paragraph separators.

    A text that is split only at blank lines and separators outside these spans has the same protected spans,
    piece by piece, as the whole text. A tag without its end tag extends to the end of the text.
    """
    return [(start, end) for start, end, _ in _blocks_and_tags(text, unclosed=True)]


def _blocks_and_tags(text: str, *, unclosed: bool = False) -> Iterator[Span]:
    """Yield the spans of code and tags; those of tags without an end tag only if `unclosed`."""
    if "```" in text or "~~~" in text:
        yield from _fenced(text)
    if "`" in text:
        yield from _between_backticks(text)
    if "<" in text:
        yield from _tags(text, unclosed=unclosed)
    if "    " in text or "\t" in text:
        yield from _indented(text)


def _fenced(text: str) -> Iterator[Span]:
    fence, start = "", 0
    for match in _FENCES.finditer(text):
        mark = match[1]
        if not fence:
            if mark[0] == "~" or "`" not in match[2]:
                fence, start = mark, match.start()
        elif mark[0] == fence[0] and len(mark) >= len(fence) and not match[2].strip():
            yield start, match.end(), "code"
            fence = ""
    if fence:
        yield start, len(text), "code"


def _between_backticks(text: str) -> Iterator[Span]:
    opened: dict[int, int] = {}
    for match in _TICKS.finditer(text):
        if match[0][0] != "`":
            opened.clear()
            continue
        start = opened.get(len(match[0]))
        if start is None:
            opened[len(match[0])] = match.start()
        else:
            yield start, match.end(), "code"
            opened.clear()


def _tags(text: str, *, unclosed: bool = False) -> Iterator[Span]:
    verbatim, start = "", 0
    for match in _TAGS.finditer(text):
        mark, name = match[0], (match[2] or "").lower()
        if verbatim:
            if (mark == "-->" and verbatim == "<!--") or (match[1] and name == verbatim):
                yield start, match.end(), "code"
                verbatim = ""
                continue
        elif mark == "<!--" or (name in _VERBATIM and not match[1] and not mark.endswith("/>")):
            verbatim, start = name or mark, match.start()
        if mark not in ("<!--", "-->"):
            yield match.start(), match.end(), "code"
    if unclosed and verbatim:
        yield start, len(text), "code"


def _indented(text: str) -> Iterator[Span]:
    done = 0
    for start in _INDENTED.finditer(text):
        if start.end() < done or not (match := _LINES_INDENTED.match(text, start.end())):
            continue
        done = match.end()
        before = text.rfind("\n", 0, max(match.start() - 1, 0))
        blank = not text[before + 1 : match.start()].strip()
        if blank and _CODE_MARKS.search(text, match.start(), match.end()):
            yield match.start(), match.end(), "code"


def _quotations(text: str) -> Iterator[Span]:
    """Yield quotations within one paragraph."""
    opened, start = "", 0
    for match in _QUOTES.finditer(text):
        mark, at = match[0], match.start()
        if mark[0] in "\n\u2029":
            opened = ""
            continue
        before, after = _around(text, at)
        if opened and mark in _CLOSERS[opened] and not (mark == '"' and before.isspace()):
            yield start, at + 1, "quote"
            opened = ""
        elif (
            mark in _CLOSERS
            and (not opened or mark == opened)
            and (mark != '"' or (after and not after.isspace() and not before.isalnum()))
        ):
            opened, start = mark, at


def _around(text: str, at: int) -> tuple[str, str]:
    """Return the characters before and after another one, across hidden markup; "" at an end of the text."""
    before, after = at - 1, at + 1
    while before >= 0 and text[before] == ch.HIDDEN:
        before -= 1
    while after < len(text) and text[after] == ch.HIDDEN:
        after += 1
    return text[before] if before >= 0 else "", text[after : after + 1]


def _chunks(text: str) -> Iterator[Span]:
    """Yield spans without white space that contain signs of code, such as a path or an address."""
    end = 0
    for match in _CHUNKS.finditer(text):
        at = match.start()
        if at < end:
            continue
        left = max(end, at - _MAX_LEFT)
        start = at
        while start > left and not text[start - 1].isspace():
            start -= 1
        rest = _REST.match(text, at)
        end = rest.end() if rest else at + 1
        chunk = text[start:end]
        trimmed = chunk.strip(_SURROUNDING)
        kind = _chunk_kind(chunk, trimmed)
        if kind:
            offset = start + chunk.index(trimmed)
            yield offset, offset + len(trimmed), kind


def _chunk_kind(chunk: str, trimmed: str) -> str:
    """Return the kind of a chunk without white space, "" for prose; `trimmed` lacks its outer punctuation."""
    if "://" in trimmed or trimmed.startswith(("www.", "mailto:")):
        return "url"
    if trimmed[:1] in "@#":
        return "tag" if _TAG.match(trimmed) else ""
    if "@" in trimmed:
        return "email" if _EMAIL.match(trimmed) else ""
    slashes = trimmed.count("/")
    dotted = _DOTTED.search(trimmed)
    if slashes > 1 or dotted or _PATH.match(trimmed) or (slashes and _PATH.match(chunk)):
        return "path"
    return "code" if ("_" in trimmed or "::" in trimmed) and _QUALIFIED.search(trimmed) else ""


def protected_layer(view: TokenView) -> NDArray[np.bool_]:
    """Return the mask of protected words, shape ``(n_tokens,)``; boundary words are never protected."""
    if not len(view):
        return np.zeros(0, dtype=bool)
    lengths = np.fromiter(map(len, view.texts), dtype=np.int64, count=len(view.texts))
    offsets = np.cumsum(lengths + 1) - lengths - 1
    total = int(offsets[-1] + lengths[-1])
    dtype = np.int32 if total < 2**31 - 1 else np.int64
    shift = np.repeat(offsets.astype(dtype), np.diff(view.documents))
    starts, ends = view.starts + shift, view.ends + shift
    del shift
    protected = _name_mask("\n".join(view.texts), starts, ends)
    spans = [
        (start + offset, end + offset)
        for text, offset in zip(view.texts, offsets.tolist(), strict=True)
        for start, end, _ in protected_spans(text)
    ]
    if spans:
        # a span that touches a word adds one from its first word on, and takes it away after its last one
        bounds = np.array(spans, dtype=dtype)
        depth = np.zeros(len(view) + 1, dtype=np.int32)
        np.add.at(depth, np.searchsorted(ends, bounds[:, 0], side="right"), 1)
        np.add.at(depth, np.searchsorted(starts, bounds[:, 1], side="left"), -1)
        protected |= np.cumsum(depth, out=depth)[:-1] > 0
    return protected & (ends > starts)


def _name_mask(text: str, starts: NDArray[np.integer], ends: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return the mask of words that look like names; offsets refer to the texts joined by line feeds."""
    n = len(starts)
    are_names = np.empty(n, dtype=bool)
    # piecewise, so that memory use does not grow with the size of the text
    for first in range(0, n, _WORDS_PER_PIECE):
        stop = min(first + _WORDS_PER_PIECE, n)
        left, right = max(first - 2, 0), min(stop + 1, n)  # the decision depends on neighbouring words
        start = int(starts[left])
        piece = text[start : int(ends[right - 1])] + "\n"
        mask = _name_mask_of_piece(piece, starts[left:right] - start, ends[left:right] - start)
        are_names[first:stop] = mask[first - left : stop - left]
    return are_names


_PRECEDE_NAMES = np.zeros(128, bool)
"""Characters that may stand before a name inside a sentence, besides words, apostrophes and dots."""
_PRECEDE_NAMES[[ord(character) for character in ",-&"]] = True


def _name_mask_of_piece(
    text: str, starts: NDArray[np.integer], ends: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Return the mask of `_name_mask` for one piece of text, which ends in a line feed."""
    codes = ch.code_points(text)
    classes = ch.classes(ch.size_for(int(codes.max())))[codes]
    width = ends - starts
    first_codes = codes[starts]
    first, second = classes[starts], classes[np.minimum(starts + 1, len(codes) - 1)]
    begins_upper = first == ch.UPPER
    upper = begins_upper & (width > 1) & (second >= ch.FIRST_LETTER)
    # number of lower-case letters before each character
    lower = np.zeros(len(codes) + 1, np.int32)
    (classes == ch.LETTER).cumsum(dtype=np.int32, out=lower[1:])
    capitals = upper & (lower[ends] == lower[starts])

    before = np.zeros(len(starts) + 1, bool)  # whether a word follows what may stand before a name
    before[1:] = (first >= ch.FIRST_WORD) | _PRECEDE_NAMES[np.minimum(first_codes, len(_PRECEDE_NAMES) - 1)]
    before[1:] |= (first == ch.APOSTROPHE) | (first == ch.DOT)
    before[1:] &= width > 0
    before[starts.searchsorted((codes == ord("\n")).nonzero()[0])] = False
    alone = capitals.copy()  # words in capitals whose neighbours are not
    alone[1:] &= ~capitals[:-1]
    alone[:-1] &= ~capitals[1:]
    letter = begins_upper & (width == 1) & (first_codes != ord("I"))
    are_names: NDArray[np.bool_] = ((upper & ~capitals) | letter) & before[:-1] | alone
    # the first word of a sentence, in lower case or not: "The The"
    may_repeat = are_names[1:] & upper[:-1] & ~before[:-2]
    if may_repeat.any():
        may_repeat &= (width[1:] == width[:-1]) & (second[1:] == second[:-1])
    for word in (may_repeat & (first_codes[1:] == first_codes[:-1])).nonzero()[0].tolist():
        are_names[word + 1] = text[starts[word] : ends[word]] != text[starts[word + 1] : ends[word + 1]]
    return are_names


PROTECTED = "protected"
_MAX_CACHED_CHARACTERS = 4_000_000  # lets two components that share a batch tokenise it only once
_MAX_CACHED_TOKENS = 1_000_000
_cached_texts: dict[str, tuple[bool, tuple[str, ...], TokenView]] = {}
_cached_docs: dict[str, tuple[bool, tuple[Doc, ...], TokenView]] = {}


def view_of_docs(docs: Sequence[Doc], tokenisation: Tokenisation, *, protected: bool = False) -> TokenView:
    """Return the words of `docs`, which are the same as the words of their texts.

    The last batch and its view are cached for each tokenisation, so that the next component reuses them.

    `docs`: a batch. Any spaCy tokenisation is accepted, including merged and split tokens and Docs made from
    words.
    `protected`: whether to add the layer ``"protected"`` (see `disambig.text.documents`).
    """
    of_docs = getattr(tokenisation, "of_docs", None)  # `isinstance(tokenisation, ReadsDocs)` takes longer
    if of_docs is not None:
        return _with_protected(of_docs(docs), protected)
    cached = _cached_docs.get(tokenisation.name)
    if (
        cached is not None
        and cached[0] == protected
        and len(cached[1]) == len(docs)
        and all(map(is_, cached[1], docs))  # the text of a Doc never changes
    ):
        return cached[2]
    _cached_docs.pop(tokenisation.name, None)
    view = view_of_texts([doc.text for doc in docs], tokenisation, protected=protected)
    if sum(map(len, docs)) <= _MAX_CACHED_TOKENS:
        _cached_docs[tokenisation.name] = protected, tuple(docs), view
    return view


def view_of_texts(
    texts: Sequence[str], tokenisation: Tokenisation, *, protected: bool = False, keep: bool = True
) -> TokenView:
    """Return the words of `texts`; with `protected`, with a layer of that name; with `keep`, it is cached."""
    cached = _cached_texts.get(tokenisation.name)
    key = tuple(texts)
    if not keep:
        return _with_protected(tokenisation(key), protected)
    if cached is not None and cached[:2] == (protected, key):
        return cached[2]
    _cached_texts.pop(tokenisation.name, None)
    view = _with_protected(tokenisation(key), protected)
    if sum(map(len, key)) <= _MAX_CACHED_CHARACTERS:
        _cached_texts[tokenisation.name] = protected, key, view
    return view


def _with_protected(view: TokenView, protected: bool) -> TokenView:
    return view.with_layer(PROTECTED, protected_layer(view)) if protected else view


def align_tokens(
    doc: Doc, starts: NDArray[np.integer], ends: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the spaCy tokens that cover each character span, as first token and one past the last.

    `doc`: the Doc whose tokens are returned.
    `starts` and `ends` (int (n,)): character offsets into ``doc.text``. A span that cuts a token is extended
    to the whole token; an empty span, or one over white space outside all tokens, gives an empty range.
    """
    if not len(doc):
        nothing = np.zeros(len(starts), dtype=np.int64)
        return nothing, nothing.copy()
    columns = doc.to_array(["IDX", "LENGTH"]).astype(np.int64)
    token_starts = columns[:, 0]
    token_ends = token_starts + columns[:, 1]
    first = token_ends.searchsorted(starts, side="right")
    stop = token_starts.searchsorted(ends, side="left")
    empty = np.asarray(starts) >= np.asarray(ends)
    return first, np.where(empty, first, np.maximum(first, stop))
