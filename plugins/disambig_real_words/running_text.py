"""Decide which places are in running text, not in headings, lists, verse, tables or parts of larger words.

In headings, lists and tables, articles and other small words are omitted on purpose. The layout of a line
shows in its markers, in how it ends and in the lines around it; lines between blank lines are a block. A
hyphen joins two words to a larger one; a wide blank means that something was cut out, or that a column
begins; a bracket or a sign that touches a word indicates code or two alternatives in one word. Quotations,
code and names are protected elsewhere.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import compress, pairwise

import numpy as np
from numpy.typing import NDArray

from disambig.api import TokenView
from disambig.api.arrays import Bools, Ints
from disambig.api.tasks import glued
from disambig.api.text import CODE_SIGNS, HIDDEN, START_HASH, hash_word, visible_width

TextLine = tuple[int, int, str]
"""Begin, end and stripped text of a line."""

_LINES = re.compile("[^\r\n\u2029]+")
# an item of a list: after a bullet, or a number or letter such as "1.", "(1)" or "a)"
_ITEM = re.compile(r"(?:[-*+\u2022\u2023\u25aa\u25e6\u00b7]|\d{1,3}[.)]|\(\d{1,3}\)|\(?[a-z]\))\s+\S")
_TITLE = re.compile(r"#{1,6}\s")
_UNDERLINE = re.compile(r"(?:=+|-+|~+)\s*")
# cells of a table, between which are TABs or bars
_CELLS = re.compile(r"\S\s*\t+\s*\S|(?:^|\s)\|(?:\s|$)")
# two or more blanks, with hidden markup between them, and the word behind
_COLUMN = re.compile(rf"(?:[^\S{HIDDEN}]{HIDDEN}*){{2,}}(?=(\S+))")
_SENTENCE_END = re.compile(r"[.!?\u2026:;,][)\]\"'\u2019\u201d\u00bb*_]*$")
_LONGEST_TITLE, _LONGEST_VERSE = 100, 60
"""Maximum numbers of characters of a title, and of a line of verse."""
_MIN_VERSES = 3
"""Minimum number of lines of a verse."""
_LETTER = re.compile(r"[^\W\d_]")
_MIN_SENTENCE, _MIN_COMMENT = 10, 4
"""Minimum numbers of words of a sentence that is no title, and of a comment in code that is a sentence."""
_CODE = "\u00a0"
"""What stands in place of code around comments."""


def layout_lines(text: str, *, comments: bool = False) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the begins and ends of the lines that are not running text, shapes ``(m,)``, ascending.

    `comments` says whether comments in code that stand alone in their lines are running text; otherwise they
    are titles if they do not end like a sentence.
    """
    blocks, spans = _blocks(text), []
    for block in blocks:
        is_layout = _is_layout(block, alone=len(blocks) == 1 or (comments and _is_comment(block)))
        spans += [(start, end) for start, end, _ in compress(block, is_layout)]
    places = np.array(spans, np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1]


def _blocks(text: str) -> list[list[TextLine]]:
    """Return the lines that are not empty, grouped into blocks that empty lines separate."""
    blocks: list[list[TextLine]] = []
    previous_end = -1
    for match in _LINES.finditer(text):
        start, end = match.span()
        if not match[0].strip():
            continue
        between = text[previous_end:start] if blocks else ""
        if not blocks or "\u2029" in between or len(re.findall("\r\n|\r|\n", between)) > 1:
            blocks.append([])
        blocks[-1].append((start, end, match[0].strip()))
        previous_end = end
    return blocks


def _has_cells(line: str) -> bool:
    """Return True for a row of a table."""
    return ("\t" in line or "|" in line) and bool(_CELLS.search(line))


def _is_layout(block: list[TextLine], *, alone: bool) -> list[bool]:
    """Return which lines of a block are not running text; `alone` means that there is no other block."""
    lines = [line for _, _, line in block]
    if _is_verse(lines) or (len(lines) == 1 and not alone and _is_title(lines[0])):
        return [True] * len(lines)
    is_layout = [
        (line.isupper() and len(line) > 1) or bool(_TITLE.match(line)) or _has_cells(line) for line in lines
    ]
    is_list = False
    for i, line in enumerate(lines):
        opens = not i or is_list or lines[i - 1].endswith(":")
        is_list = is_list or (opens and bool(_ITEM.match(line)))  # a list reaches to the end of its block
        is_layout[i] |= is_list
    columns = [_columns(line) for line in lines]
    for i, (above, below) in enumerate(pairwise(columns)):
        if above & below:  # their columns are aligned
            is_layout[i] = is_layout[i + 1] = True
        if _UNDERLINE.fullmatch(lines[i + 1]):
            is_layout[i] = True
    return is_layout


def _is_comment(block: list[TextLine]) -> bool:
    """Return True for one line with enough words for a sentence."""
    return len(block) == 1 and len(block[0][2].split()) >= _MIN_COMMENT


def _is_title(line: str) -> bool:
    return len(line) <= _LONGEST_TITLE and not _SENTENCE_END.search(line)


def _is_verse(lines: list[str]) -> bool:
    """Return True if all lines are short and begin with a capital, and not all of them begin a sentence."""
    short = len(lines) >= _MIN_VERSES and all(len(line) <= _LONGEST_VERSE for line in lines)
    capitals = short and all(line.lstrip("\"'\u201c\u2018(")[:1].isupper() for line in lines)
    return capitals and any(line[-1] not in ".!?" for line in lines[:-1])


def _columns(line: str) -> set[int]:
    """Return the offsets at which words after a wide blank begin and end in a line."""
    return {at for match in _COLUMN.finditer(line) for at in match.span(1)}


_ENDS = re.compile("[\r\n]")
_BEFORE = "([{\"'\u2018\u201c\u201e\u00ab\u2013\u2014\u2026"
_AFTER = ")]}\"'\u2019\u201d\u00bb\u2013\u2014\u2026,;"
_STOPS = ".:!?"
"""These may follow a word if no other word follows immediately."""
_ELLIPSES = np.array([hash_word("..."), hash_word("\u2026")], np.uint64)
_TABLE = 0x2100
"""Properties of characters below this code are looked up in a table, others are computed one by one."""


def is_word_part(
    view: TokenView, positions: Ints, lengths: NDArray[np.int32], *, inner_blanks: bool = False
) -> Bools:
    """Return which places are parts of larger words, or next to a wide blank or what was cut off.

    A place has its first token and its number of tokens; an empty place has the token that follows. With
    `inner_blanks`, blanks before the last token of a place may be wide. The result has the shape ``(n,)``.
    """
    wide = view.cached(_find_wide_blanks)
    first, last = _ends_of_places(positions, lengths)
    is_part = glued(view, first, last) | wide[first] | wide[last + 1] | view.cached(_find_cut_off)[last]
    return is_part if inner_blanks else is_part | wide[last]


def _find_wide_blanks(view: TokenView) -> Bools:
    """Return which words follow another word in the same line after a wide blank, shape ``(n_tokens,)``."""
    is_wide = np.zeros(len(view), bool)
    is_word = view.ends > view.starts
    may_be = (is_word[1:] & is_word[:-1] & (view.starts[1:] - view.ends[:-1] > 1)).nonzero()[0] + 1
    for token, document in zip(may_be.tolist(), view.document_indices(may_be).tolist(), strict=True):
        blank = view.texts[document][view.ends[token - 1] : view.starts[token]]
        is_wide[token] = visible_width(blank) > 1 and not blank.strip() and not _ENDS.search(blank)
    return is_wide


def _find_cut_off(view: TokenView) -> Bools:
    """Return which words are followed by a blank and an ellipsis, shape ``(n_tokens,)``.

    What follows was cut off ("Creates a new list from an ..."), or the word may be repeated ("value ...").
    """
    is_cut = np.zeros(len(view), bool)
    is_cut[:-1] = np.isin(view.hashes[1:], _ELLIPSES) & (view.starts[1:] > view.ends[:-1])
    return is_cut


def _ends_of_places(positions: Ints, lengths: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """Return the first and the last word of each place; an empty place has a word on both sides."""
    is_empty = lengths == 0
    return positions - is_empty, positions + lengths - 1 + is_empty


def in_running_text(
    view: TokenView, positions: Ints, lengths: NDArray[np.int32], *, any_line: bool = False
) -> Bools:
    """Return which places are in running text by their lines and the adjacent characters, shape ``(n,)``.

    Words in capitals are not, and neither are empty places next to a number.

    With `any_line`, places within one line of a heading, list or table count as well: small words are omitted
    there, but not doubled. A short line of a comment in code may be code if it begins with a small letter.
    """
    if any_line or len(view) > _SHORT_VIEW or lengths.max(initial=0) > 1:
        return _find_running(view, positions, lengths, any_line=any_line)
    return view.cached(_find_running_everywhere)[lengths, positions]


def _find_running_everywhere(view: TokenView) -> Bools:
    """Return masks of the empty places and of the words in running text, shape ``(2, n_tokens)``."""
    words = (view.ends > view.starts).nonzero()[0]
    lengths = np.repeat(np.array([0, 1], np.int32), len(words))
    masks = np.zeros((2, len(view)), bool)
    masks[:, words] = _find_running(view, np.concatenate([words, words]), lengths).reshape(2, -1)
    return masks


def has_small_words(view: TokenView, positions: Ints) -> Bools:
    """Return which tokens are not in a heading, list, table or comment, where small words are omitted."""
    text = view.cached(_TextCharacters)
    documents = view.document_indices(positions)
    base = text.bases[documents]
    starts, ends = base + view.starts[positions], base + view.ends[positions]
    return text.in_lines(np.unique(documents), starts, ends, comments=False)


_SHORT_VIEW = 64
"""Maximum number of tokens of a view that is searched as a whole, because several tasks need most places."""


def _find_running(
    view: TokenView, positions: Ints, lengths: NDArray[np.int32], *, any_line: bool = False
) -> Bools:
    if not len(positions):
        return np.zeros(0, bool)
    text = view.cached(_TextCharacters)
    first, last = _ends_of_places(positions, lengths)
    documents = view.document_indices(positions)
    base = text.bases[documents]
    starts, ends = base + view.starts[first], base + view.ends[last]
    # what is beside the place, then its line, then capitals and numbers
    is_running = text.is_free(starts, ends)
    for has_word in (False, True):  # small words are omitted in comments, those that stand there are not odd
        rows = np.flatnonzero(is_running & ((lengths > 0) == has_word))
        used = np.unique(documents[rows])
        is_running[rows] = text.in_lines(used, starts[rows], ends[rows], comments=has_word)
    if any_line:
        rows = rows[~is_running[rows]]
        is_running[rows] = text.is_in_line(starts[rows], ends[rows]) & _is_in_title(view, first[rows])
    rows = np.flatnonzero(is_running)
    for tokens in (first[rows], last[rows]):
        begins, ends = base[rows] + view.starts[tokens], base[rows] + view.ends[tokens]
        is_running[rows] &= ~text.in_capitals(begins, ends) & (
            (lengths[rows] > 0) | ~text.has_property("isdigit", begins)
        )
    return is_running


def _is_in_title(view: TokenView, positions: Ints) -> Bools:
    """Return which tokens are in a title, and not in an example of code inside a comment."""
    sentences = view.sentence_indices(positions)
    first, last = view.sentences[sentences] + 1, view.sentences[sentences + 1] - 2
    is_title = last - first >= _MIN_SENTENCE
    for row, document in enumerate(view.document_indices(positions).tolist()):
        text = view.texts[document]
        if not is_title[row]:
            letter = _LETTER.search(text, int(view.starts[first[row]]), int(view.ends[last[row]]))
            is_title[row] = _CODE not in text or letter is None or not letter[0].islower()
    return is_title


def is_repeated(view: TokenView) -> Bools:
    """Return which tokens are the same word as the previous or the next one, shape ``(n_tokens,)``.

    The mask is computed once per view.
    """
    return view.cached(_find_repeated)


def _find_repeated(view: TokenView) -> Bools:
    repeated = np.zeros(len(view), bool)
    repeated[1:] = (view.hashes[1:] == view.hashes[:-1]) & (view.ends[1:] > view.starts[1:])
    repeated[:-1] |= repeated[1:]
    return repeated


def is_before_punctuation(view: TokenView, position: int) -> bool:
    """Return True if a word is followed by punctuation or the end of a sentence."""
    start, end = view.starts[position + 1], view.ends[position + 1]
    return bool(end <= start or not view.document_text(position)[start : start + 1].isalnum())


def is_alone_in_line(view: TokenView, position: int) -> bool:
    """Return True if a word is all that its line has, and another line follows."""
    text, start, end = view.document_text(position), int(view.starts[position]), int(view.ends[position])
    first, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    return stop >= 0 and text[first:stop].strip() == text[start:end]


_CODE_SIGNS = frozenset(CODE_SIGNS)
_BEFORE_SENTENCE = frozenset((int(START_HASH), *map(hash_word, ".!?:")))
_RELATIVES = frozenset(map(hash_word, ("that", "which", "who")))
# a name of code: with "_", "." or ":" inside, or a capital after a small letter, and "s" at the end
_PLURAL_NAME = re.compile(r"(?=\w*[_.:]+\w|\w*[a-z0-9][A-Z])[\w.:]*[sS]")
_CHUNK = re.compile(r"[\w.:]+\s*\Z")
_LONGEST_CHUNK = 80


def is_code(view: TokenView, position: int) -> bool:
    """Return True if a word is code that markup hides."""
    start = view.starts[position]
    return view.document_text(position)[start : start + 1] in _CODE_SIGNS


_CODE_WORD = re.compile(
    rf"[{CODE_SIGNS}]+"  # hidden by markup
    r"|[@$.]?\w+(?:[.:/-]+\w+)*\(\)"  # compose(), client.emit()
    r"|(?=.*[^\W_]_[^\W_])[@$./]?\w+(?:[.:/-]+\w+)*"  # max_size, kfp.dsl.run_all
    r"|[@$]\w+(?:[./-]\w+)*|--?[a-z][\w-]*"  # @Inject, $path, --force
    r"|(?:\w+\.)*[a-z]{2,}[A-Z]\w*"  # getDoc, app.useStrict
    r"|(?!.*\.(?:js|net|com|org|io)$)[a-z]\w+(?:\.[a-z]\w+)+"  # request.user
    r"|(?:\.{0,2}/)?(?:[\w.-]+/)+|\.{0,2}(?:/[\w.-]+)+"  # src/lib/, /users
    r"|(?:\.{0,2}/)?(?:[\w.-]+/)*[\w-]*\.(?:cfg|conf|cpp|css|csv|html|ini|java|json|lock|md|php|py|rb|rs|rst|sh"
    r"|sql|toml|ts|tsx|txt|xml|ya?ml)"  # index.html
)
_STYLES = frozenset(
    ("camelCase", "lowerCamelCase", "mixedCase", "snake_case", "kebab-case", "macOS", "watchOS", "openSUSE")
)
"""Names that look like code."""


def code_end(view: TokenView, start: int) -> int:
    """Return the end of the word of code that begins at a token; `start` if there is none."""
    if _touches(view, start):
        return start
    end = start + 1
    while _touches(view, end):
        end += 1
    return end if _is_code_word(view, start, end) else start


def code_start(view: TokenView, end: int) -> int:
    """Return the first token of the word of code that ends before a token; `end` if there is none."""
    if _touches(view, end):
        return end
    start = end - 1
    while _touches(view, start):
        start -= 1
    return start if _is_code_word(view, start, end) else end


def _touches(view: TokenView, position: int) -> bool:
    """Return True if neither a blank nor the end of a sentence is between a token and the one before."""
    if not 0 < position < len(view):
        return False
    ends = view.ends[position - 1 : position + 1]
    return bool((ends > view.starts[position - 1 : position + 1]).all() and ends[0] == view.starts[position])


def _is_code_word(view: TokenView, start: int, end: int) -> bool:
    word = view.document_text(start)[view.starts[start] : view.ends[end - 1]]
    return word not in _STYLES and bool(_CODE_WORD.fullmatch(word))


def has_hidden_subject(view: TokenView, position: int) -> bool:
    """Return True if the subject of a verb is the first word of its sentence, and code that markup hides.

    A relative pronoun may stand between: "`foo` that occur".
    """
    first = position - 1
    if int(view.hashes[first]) in _RELATIVES:
        first -= 1
    return first > 0 and int(view.hashes[first - 1]) in _BEFORE_SENTENCE and is_code(view, first)


def is_after_plural_name(text: str, start: int) -> bool:
    """Return True if a word, which begins at `start`, follows a name such as ``MAX_ARGS``.

    Such a name of code ends in "s", as ``Server.connections``, and may mean one thing or several.
    """
    chunk = _CHUNK.search(text[max(0, start - _LONGEST_CHUNK) : start])
    return bool(chunk and _PLURAL_NAME.fullmatch(chunk[0].rstrip()))


class _TextCharacters:
    """The concatenated characters of all documents, and the lines that are not running text."""

    def __init__(self, view: TokenView) -> None:
        whole = "\n".join(["", *view.texts, "", ""])
        self._view, self._whole = view.texts, whole
        self._codes = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32)
        sizes = np.fromiter(map(len, view.texts), np.int64, len(view.texts))
        self.bases: Ints = np.concatenate([[1], 1 + np.cumsum(sizes + 1)])
        self._lines: dict[tuple[int, bool], tuple[Ints, Ints]] = {}

    def in_lines(self, documents: Ints, starts: Ints, ends: Ints, *, comments: bool) -> Bools:
        """Return which places overlap no layout line of the given documents (see `layout_lines`)."""
        keys = [(i, comments and _CODE in self._view[i]) for i in documents.tolist()]
        for key in keys:
            if key not in self._lines:
                self._lines[key] = layout_lines(self._view[key[0]], comments=key[1])
        lines = [(self.bases[key[0]], *self._lines[key]) for key in keys]
        if not any(len(begins) for _, begins, _ in lines):
            return np.ones(len(starts), bool)
        begins = np.concatenate([*(base + begins for base, begins, _ in lines), [len(self._whole) + 1]])
        stops = np.concatenate([np.empty(0, np.int64), *(base + stops for base, _, stops in lines)])
        # the first layout line that ends after the place's begin must begin after the place's end
        inside: Bools = begins[np.searchsorted(stops, starts, side="right")] >= ends
        return inside

    def is_in_line(self, starts: Ints, ends: Ints) -> Bools:
        """Return which pieces of text do not extend over the end of a line."""
        pieces = zip(starts.tolist(), ends.tolist(), strict=True)
        return np.array([not _ENDS.search(self._whole, start, end) for start, end in pieces], bool)

    def is_free(self, starts: Ints, ends: Ints) -> Bools:
        """Return which pieces of text have only blanks or punctuation next to them."""
        before = self.has_property("isspace", starts - 1, _BEFORE)
        after, after_stop = self.has_property("isspace", ends, _AFTER), self.has_property("", ends, _STOPS)
        return before & (after | (after_stop & ~self.has_property("isalnum", ends + 1, "_")))

    def in_capitals(self, starts: Ints, ends: Ints) -> Bools:
        """Return which words of more than one letter are written in capitals."""
        capitals = ends - starts > 1
        for letter in (starts, starts + 1):  # the first two letters decide for nearly all words
            capitals &= ~self.has_property("islower", letter)
        for i in capitals.nonzero()[0].tolist():
            capitals[i] = self._whole[starts[i] : ends[i]].isupper()
        return capitals

    def has_property(self, kind: str, places: Ints, others: str = "") -> Bools:
        """Return for which characters a string method, such as ``isspace``, is true.

        It is also true for the characters `others`; without a method (""), only for these.
        """
        codes = self._codes[places]
        values = _table(kind, others)[np.minimum(codes, _TABLE - 1)]
        for i in (codes >= _TABLE).nonzero()[0].tolist():
            values[i] = _has_property(chr(codes[i]), kind, others)
        return values


@lru_cache(maxsize=16)
def _table(kind: str, others: str) -> Bools:
    return np.array([_has_property(chr(code), kind, others) for code in range(_TABLE)], bool)


def _has_property(character: str, kind: str, others: str) -> bool:
    return character in others or (kind != "" and getattr(character, kind)())
