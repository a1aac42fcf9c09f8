"""Find the words that a change of a paragraph corrected, and classify the mistakes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import tomlkit

from disambig.markup import NO_OPTIONS, iterate_units, read_markup
from disambig.text import CODE_SIGNS, HIDDEN, common_prefix, edit_distance

Pair = frozenset[str]


@dataclass(frozen=True)
class CorrectionWords:
    """The words of a language by which corrections are classified."""

    language: str  # ISO 639-1 code
    articles: frozenset[str]
    prepositions: frozenset[str]
    agreement: frozenset[Pair]  # forms that agree in number with another word, such as is/are
    forms: frozenset[Pair]  # other forms of one word that do not differ only in their endings, such as is/was
    endings: frozenset[str]  # endings of inflected and derived words
    taste: frozenset[Pair]  # prepositions that writers may exchange without a mistake
    opposites: frozenset[Pair]  # words whose exchange changes the meaning
    not_words: frozenset[str]  # numbers, days and months, whose exchange changes the meaning
    # substitutions that turn spelling variants of a word into one spelling
    variants: Mapping[str, str]
    # words in messages of commits that correct something, and of commits that correct language
    says_fix: re.Pattern[str]
    says_language: re.Pattern[str]

    @classmethod
    def read(cls, path: Path) -> CorrectionWords:
        """Return the words in a TOML file with an entry per field; white space in patterns is ignored."""
        entries = tomlkit.parse(path.read_text(encoding="utf8")).unwrap()
        for name in ("articles", "prepositions", "endings", "not_words"):
            entries[name] = frozenset(entries[name].split())
        for name in ("agreement", "forms", "taste", "opposites"):
            entries[name] = frozenset(frozenset(pair.split("/")) for pair in entries[name].split())
        for name in ("says_fix", "says_language"):
            entries[name] = re.compile(entries[name], re.IGNORECASE | re.VERBOSE)
        return cls(**entries)

    @cached_property
    def _variant_patterns(self) -> list[tuple[re.Pattern[str], str]]:
        return [(re.compile(pattern), replacement) for pattern, replacement in self.variants.items()]

    def are_variants(self, first: str, second: str) -> bool:
        """Return True if two words in lower case are spellings of the same word."""
        return self._normal_spelling(first) == self._normal_spelling(second)

    def _normal_spelling(self, word: str) -> str:
        for pattern, replacement in self._variant_patterns:
            word = pattern.sub(replacement, word)
        return word


ENGLISH = CorrectionWords.read(Path(__file__).with_name("english.toml"))
LANGUAGES = {ENGLISH.language: ENGLISH}
"""The languages in which corrections can be mined."""


MIN_WORDS = 5
"""Minimum number of words of a paragraph."""
MAX_WORDS = 1_000
"""Maximum number of words of a paragraph; longer ones are usually data."""
_PIECES = re.compile(rf"(?P<code>[{CODE_SIGNS}]+)|[{HIDDEN}]+|(?P<space>\s+)")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_CODE_NAME = re.compile(r"[\w.:/#<>()\[\]{}@*=+-]{1,60}")
_OTHER_CODE = "x"


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a paragraph."""

    word: str  # the word in lower case, with straight apostrophes
    # offsets in the paragraph
    start: int
    end: int
    is_code: bool = False  # whether the word is code, a formula or a part of a name such as ``well_known``


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, heading, list item or table cell."""

    text: str  # words separated by single spaces, without markup
    code: tuple[tuple[int, int], ...] = ()  # offsets of code and formulas in `text`

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The words of the paragraph."""
        return tuple(self._iterate_tokens())

    def _iterate_tokens(self) -> Iterator[Token]:
        spans = iter((*self.code, (len(self.text) + 1, len(self.text) + 1)))
        code_start, code_end = next(spans)
        for match in _WORD.finditer(self.text):
            start, end = match.span()
            while code_end <= start:
                code_start, code_end = next(spans)
            is_code = code_start < end and start < code_end
            word = match[0].lower().replace("\u2019", "'")
            yield Token(word, start, end, is_code or _is_part_of_name(self.text, start, end))


def _is_part_of_name(text: str, start: int, end: int) -> bool:
    """Return True if a word is joined with others by an underscore, slash, dot or hyphen, or has digits."""
    before, after = text[start - 1 : start], text[end : end + 1]
    is_joined = before in tuple("_/\\@#$-") or after in tuple("_/\\@=(-")
    is_dotted = after in (".", ":") and text[end + 1 : end + 2].isalnum()
    is_dotted = is_dotted or (before in (".", ":") and start > 1 and text[start - 2].isalnum())
    return is_joined or is_dotted or any(character.isdigit() for character in text[start:end])


def read_paragraphs(
    path: str, text: str, options: Mapping[str, Any] = NO_OPTIONS, *, keep_code: bool = True
) -> list[Paragraph]:
    """Return the paragraphs of a document; the suffix of `path` determines its format.

    `options`: see `disambig.markup.read_markup`.
    `keep_code`: whether inline code is part of the text. Otherwise, each piece of code is one character that
    no count table contains, as in a document that is checked.
    Returns the paragraphs with 1 to `MAX_WORDS` words; an empty list if the format of the text is invalid.
    """
    plain = read_markup(path, text, options)
    if plain.problem:
        return []
    paragraphs = []
    for start, end in iterate_units(plain.text):
        paragraph = _render(plain.text[start:end], text[start:end], keep_code)
        if paragraph.text and paragraph.text.count(" ") < MAX_WORDS:
            paragraphs.append(paragraph)
    return paragraphs


def _render(plain: str, original: str, keep_code: bool) -> Paragraph:
    """Return a part of a document as a paragraph, with each run of white space as one space.

    `plain`: the part without markup: signs replace markup and code (see `disambig.markup.read_markup`).
    `original`: the same part with markup, as long as `plain`.
    `keep_code`: see `read_paragraphs`.
    """
    parts: list[str] = []
    code: list[tuple[int, int]] = []
    length = position = 0

    def add(part: str) -> None:
        nonlocal length
        parts.append(part)
        length += len(part)

    after_space = True
    for match in _PIECES.finditer(plain):
        if match.start() > position:
            add(plain[position : match.start()])
            after_space = False
        position = match.end()
        if match["code"]:
            code_text = _code_text(original[slice(*match.span())]) if keep_code else match["code"][:1]
            code.append((length, length + len(code_text)))
            add(code_text)
            after_space = False
        elif match["space"] and not after_space:
            add(" ")
            after_space = True
    add(plain[position:])
    return Paragraph("".join(parts).rstrip(), tuple(code))


def _code_text(original: str) -> str:
    """Return the text of code for readers: a name without its marks, or "x" for formulas and other code."""
    name = original.strip("`'\"$ ")
    return name if _CODE_NAME.fullmatch(name) else _OTHER_CODE


MAX_EDITS = 6
"""Maximum number of places at which a paragraph was changed; with more, it is another text."""
MIN_SHARE = 0.6
"""Minimum share of words that a paragraph has in common with its earlier version."""
MAX_PAIRS = 40_000
"""Maximum number of pairs of paragraphs that are compared for one change of a file."""
_SENTENCE_BEGIN = re.compile(r"(?:^|[.!?:;\u2026\"\u201c(\[*\u2013\u2014|-])\s*$")


class Vocabulary(Protocol):
    """The words of a language, and the confusion sets of the installed models."""

    def is_word(self, word: str) -> bool:
        """Return True if a word in lower case exists in the language."""

    def confusion_set(self, first: str, second: str) -> str:
        """Return the name of a confusion set that contains two words; "" if there is none."""


@dataclass(frozen=True, slots=True)
class WordEdit:
    """A change of one word in a paragraph."""

    # the new paragraph with this change undone, and the new paragraph
    before: str
    after: str
    # offsets of the old word in `before`; equal if a word was inserted
    start: int
    end: int
    # the old and new words, "" for no word
    old: str
    new: str
    n_edits: int  # number of places at which the paragraph was changed
    context: tuple[str, str]  # up to three words before the change and after it, in lower case

    @property
    def pair(self) -> tuple[str, str]:
        """The words in lower case with straight apostrophes."""
        return _plain(self.old), _plain(self.new)


@dataclass(frozen=True, slots=True)
class CorrectionKind:
    """The kind of mistake that an edit corrected."""

    # see `disambig.formats.Fix`
    category: str
    sub: str = ""
    # whether the pair of words is certainly a mistake, whatever the commit message says
    certain: bool = False


def _plain(word: str) -> str:
    return word.lower().replace("\u2019", "'")


def changed_paragraphs(
    old: Sequence[Paragraph], new: Sequence[Paragraph]
) -> Iterator[tuple[Paragraph, Paragraph]]:
    """Yield the old and new versions of changed paragraphs of a file, in the order of the old file.

    A paragraph that was only moved is not changed. Old and new paragraphs are matched one to one, the most
    similar ones first.

    Raises `ValueError` if so many paragraphs were changed that the file was rewritten.
    """
    old_counts, new_counts = (Counter(paragraph.text for paragraph in side) for side in (old, new))
    removed = _surplus(old, old_counts - new_counts)
    added = _surplus(new, new_counts - old_counts)
    if len(removed) * len(added) > MAX_PAIRS:
        raise ValueError("the file was rewritten")
    removed_words, added_words = (
        [Counter(token.word for token in paragraph.tokens) for paragraph in side] for side in (removed, added)
    )
    candidates = []
    for i, old_words in enumerate(removed_words):
        for j, new_words in enumerate(added_words):
            shorter, longer = sorted((old_words.total(), new_words.total()))
            if longer < MIN_WORDS or shorter < MIN_SHARE * longer:
                continue
            share = (old_words & new_words).total() / longer
            if share >= MIN_SHARE:
                candidates.append((-share, abs(i - j), i, j))
    matches: dict[int, int] = {}
    matched: set[int] = set()
    for _, _, i, j in sorted(candidates):
        if i not in matches and j not in matched:
            matches[i] = j
            matched.add(j)
    for i in sorted(matches):
        yield removed[i], added[matches[i]]


def _surplus(paragraphs: Sequence[Paragraph], surplus_counts: Counter[str]) -> list[Paragraph]:
    """Return the given number of paragraphs of each text, the last ones."""
    remaining = surplus_counts.copy()
    surplus = []
    for paragraph in reversed(paragraphs):
        if remaining[paragraph.text]:
            remaining[paragraph.text] -= 1
            surplus.append(paragraph)
    return surplus[::-1]


def word_edits(old: Paragraph, new: Paragraph) -> list[WordEdit]:
    """Return the changes of single words between two versions of a paragraph.

    A change of one word into two, or of two into one, is included if the letters stay the same. Changes of
    code, capitals and punctuation are not included. If the paragraph was changed at more than `MAX_EDITS`
    places, the list is empty.
    """
    hunks = _hunks([token.word for token in old.tokens], [token.word for token in new.tokens])
    if not 1 <= len(hunks) <= MAX_EDITS:
        return []
    edits = (_word_edit(old, new, hunk, len(hunks)) for hunk in hunks)
    return [edit for edit in edits if edit is not None]


_Hunk = tuple[int, int, int, int]
"""The start and stop of a change in the old words, and in the new words."""


def _hunks(old: Sequence[str], new: Sequence[str]) -> list[_Hunk]:
    """Return the places at which two sequences of words differ."""
    n_shared = min(len(old), len(new))
    n_start = 0  # equal words at the start
    while n_start < n_shared and old[n_start] == new[n_start]:
        n_start += 1
    n_end = 0  # equal words at the end
    while n_end < n_shared - n_start and old[-1 - n_end] == new[-1 - n_end]:
        n_end += 1
    inner_old, inner_new = old[n_start : len(old) - n_end], new[n_start : len(new) - n_end]
    if not inner_old and not inner_new:
        return []
    if min(len(inner_old), len(inner_new)) == 0 or (len(inner_old), len(inner_new)) == (1, 1):
        return [(n_start, len(old) - n_end, n_start, len(new) - n_end)]
    codes = SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_opcodes()
    return [
        (n_start + a, n_start + b, n_start + c, n_start + d) for tag, a, b, c, d in codes if tag != "equal"
    ]


def _word_edit(old: Paragraph, new: Paragraph, hunk: _Hunk, n_edits: int) -> WordEdit | None:
    """Return the change of one word at a place; None if something else was changed there."""
    old_start, old_stop, new_start, new_stop = hunk
    removed, added = old.tokens[old_start:old_stop], new.tokens[new_start:new_stop]
    sizes = len(removed), len(added)
    if any(token.is_code for token in (*removed, *added)):
        return None
    is_split = sizes in ((1, 2), (2, 1)) and _joined(removed) == _joined(added)
    if sizes not in ((0, 1), (1, 0), (1, 1)) and not is_split:
        return None
    old_text = _slice(old.text, removed)
    new_text = _slice(new.text, added)
    if len(old_text.split()) > len(removed) or len(new_text.split()) > len(added):
        return None  # punctuation between the words
    context = _context(old.tokens, old_start, old_stop)
    if n_edits == 1:
        start, end = _old_span(old, new, removed, added, old_start)
        return WordEdit(old.text, new.text, start, end, old_text, new_text, 1, context)
    before, start, end = _undo(new, added, new_start, old_text)
    return WordEdit(before, new.text, start, end, old_text, new_text, n_edits, context)


def _joined(tokens: Sequence[Token]) -> str:
    return "".join(token.word for token in tokens)


def _slice(text: str, tokens: Sequence[Token]) -> str:
    return text[tokens[0].start : tokens[-1].end] if tokens else ""


def _context(tokens: Sequence[Token], first: int, last: int) -> tuple[str, str]:
    left, right = tokens[max(0, first - 3) : first], tokens[last : last + 3]
    return " ".join(token.word for token in left), " ".join(token.word for token in right)


def _old_span(
    old: Paragraph, new: Paragraph, removed: Sequence[Token], added: Sequence[Token], index: int
) -> tuple[int, int]:
    """Return the span of an edit in the old text, at the token `index`.

    A missing word belongs before the next word or, at the end of a clause, after the previous one.
    """
    if removed:
        return removed[0].start, removed[-1].end
    ends_clause = not new.text[added[-1].end :].lstrip()[:1].isalnum()
    if index < len(old.tokens) and not (ends_clause and index):
        start = old.tokens[index].start
    else:
        start = old.tokens[index - 1].end if index else 0
    return start, start


def _undo(new: Paragraph, added: Sequence[Token], index: int, old_text: str) -> tuple[str, int, int]:
    """Return the new text with the edit at the token `index` undone, and the span of the old word in it."""
    text = new.text
    if added:
        left, right = text[: added[0].start], text[added[-1].end :]
        if not old_text:
            if right.startswith(" ") and (not left or left.endswith(" ")):
                right = right[1:]
            elif left.endswith(" "):
                left = left[:-1]
        return left + old_text + right, len(left), len(left) + len(old_text)
    if index < len(new.tokens):
        start = new.tokens[index].start
        return f"{text[:start]}{old_text} {text[start:]}", start, start + len(old_text)
    end = new.tokens[-1].end if new.tokens else 0
    return f"{text[:end]} {old_text}{text[end:]}", end + 1, end + 1 + len(old_text)


def classify(edit: WordEdit, words: CorrectionWords, vocabulary: Vocabulary) -> CorrectionKind | str:
    """Return the kind of mistake that an edit corrected, or the reason why it is not a correction.

    The reasons are short phrases for a summary, such as ``"not a word"``.
    """
    old, new = edit.pair
    if old == new:
        return "capitals or punctuation"
    if not old or not new:
        return _classify_missing(edit, words)
    if " " in old or " " in new:
        if not all(map(vocabulary.is_word, (*old.split(), *new.split()))):
            return "not a word"
        if name := vocabulary.confusion_set(old, new):
            return CorrectionKind("confusion", name, certain=True)
        return CorrectionKind("other-real-word", "split")
    pair = frozenset((old, new))
    if pair in words.opposites or pair <= words.not_words:
        return "another meaning"
    if old in words.articles and new in words.articles:
        is_a_an = pair == {"a", "an"}
        return CorrectionKind("article", "a/an" if is_a_an else "", certain=is_a_an)
    if (old in words.articles or new in words.articles) and edit_distance(old, new) > 1:
        return "another word"
    if len(min(old, new, key=len)) == 1 and not pair & words.articles:
        return "not a word"
    if _is_name(edit):
        return "names"
    if not (vocabulary.is_word(old) and vocabulary.is_word(new)):
        return "not a word"
    if words.are_variants(old, new):
        return "spelling variants"
    if old in words.prepositions and new in words.prepositions:
        if name := "" if pair in words.taste else vocabulary.confusion_set(old, new):
            return CorrectionKind("confusion", name, certain=True)
        return CorrectionKind("preposition", "pref" if pair in words.taste else "")
    if pair in words.agreement:
        return CorrectionKind("agreement", "function")
    if name := vocabulary.confusion_set(old, new):
        return CorrectionKind("confusion", name, certain=True)
    return _classify_similar(old, new, words)


def _classify_missing(edit: WordEdit, words: CorrectionWords) -> CorrectionKind | str:
    """Return the kind of a word that was missing or superfluous."""
    old, new = edit.pair
    left, right = (side.split() for side in edit.context)
    if old and old in (*left[-1:], *right[:1]):
        return CorrectionKind("doubled", "doubled", certain=True)
    word = old or new
    if word in words.articles:
        return CorrectionKind("article")
    if word in words.prepositions:
        return CorrectionKind("preposition")
    return "another word inserted or removed"


def _classify_similar(old: str, new: str, words: CorrectionWords) -> CorrectionKind | str:
    """Return the kind of a word that was replaced by a similar one."""
    short, long = sorted((old, new), key=len)
    if (long.removesuffix("s") == short or long.removesuffix("es") == short) or (
        short.endswith("y") and long == f"{short[:-1]}ies"
    ):
        return CorrectionKind("agreement", "s")
    if "'" in long and short.removesuffix("s") == re.sub("'s?$", "", long).removesuffix("s"):
        return CorrectionKind("other-real-word", "possessive")
    if frozenset((old, new)) in words.forms:
        return CorrectionKind("other-real-word", "form")
    n_same = len(common_prefix(old, new))
    min_stem = max(3, (len(short) + 1) // 2)
    if n_same >= min_stem and _has_ending(old, n_same, words) and _has_ending(new, n_same, words):
        return CorrectionKind("other-real-word", "form")
    distance = edit_distance(old, new)
    if distance <= (1 if len(short) <= 3 else 2) or (distance == 3 and len(short) >= 7 and n_same >= 3):
        return CorrectionKind("other-real-word", "alike")
    return "another word"


def _has_ending(word: str, stem_length: int, words: CorrectionWords) -> bool:
    """Return True if an ending follows the stem of a word, possibly after a doubled consonant."""
    ending = word[stem_length:]
    is_doubled = len(ending) > 2 and ending[0] == word[stem_length - 1] and ending[1:] in words.endings
    return not ending or ending in words.endings or is_doubled


def _is_name(edit: WordEdit) -> bool:
    """Return True if a word is probably a name: it has inner capitals, or a capital inside a sentence."""
    for word in (edit.old, edit.new):
        if any(character.isupper() for character in word[1:]):
            return True
    if not (edit.old[0].isupper() and edit.new[0].isupper()):
        return False
    if _SENTENCE_BEGIN.search(edit.before[: edit.start]):
        return False
    # In a title, most words begin with a capital.
    words = [word for word in edit.before.split() if word[:1].isalpha() and len(word) > 3]
    return sum(word[0].isupper() for word in words) <= len(words) / 2 and edit.old not in ("I", "It")
