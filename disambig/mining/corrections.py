"""Find the words that a change of a paragraph corrected, and say what kind of mistake each one was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Protocol

from disambig.mining.languages import CorrectionWords
from disambig.mining.paragraphs import LEAST_WORDS, Paragraph, Token

MOST_EDITS = 6
"""Maximum number of changed places of a paragraph: more is another text."""
LEAST_SHARE = 0.6
"""Minimum share of equal words of a paragraph before and after a change."""
MOST_PAIRS = 40_000
"""Maximum number of pairs of paragraphs that are compared for one change of a file."""
_CAPITALS = re.compile(r"[^\W\d_]*[^\W\d_a-z][^\W\d_]*")
_SENTENCE_BEGIN = re.compile(r"(?:^|[.!?:;\u2026\"\u201c(\[*\u2013\u2014|-])\s*$")


class Vocabulary(Protocol):
    """The words that exist, and the confusion sets of the installed models."""

    def is_word(self, word: str) -> bool:
        """Return True if a word in lower case exists."""

    def confusion_set(self, one: str, other: str) -> str:
        """Return the name of a confusion set that contains two words; "" if there is none."""


@dataclass(frozen=True, slots=True)
class WordEdit:
    """A change of one word of a paragraph.

    Attributes
    ----------
    before, after : str
        The paragraph with only this change taken back, and with it.
    start, end : int
        Offsets of the place in `before`; equal if a word was inserted.
    old, new : str
        The words, "" for no word.
    n_edits : int
        Number of places at which the paragraph was changed.
    context : tuple of str
        The words before and after the place, in lower case, at most three of each: ``(before, after)``.
    """

    before: str
    after: str
    start: int
    end: int
    old: str
    new: str
    n_edits: int
    context: tuple[str, str]

    @property
    def pair(self) -> tuple[str, str]:
        """The words in lower case with straight apostrophes."""
        return _plain(self.old), _plain(self.new)


@dataclass(frozen=True, slots=True)
class CorrectionKind:
    """What kind of mistake an edit corrected.

    Attributes
    ----------
    category, sub : str
        As in `disambig.formats.Fix`.
    certain : bool
        Whether the pair leaves no doubt that it was a mistake, whatever the commit says.
    """

    category: str
    sub: str = ""
    certain: bool = False


def _plain(word: str) -> str:
    return word.lower().replace("\u2019", "'")


def changed_paragraphs(
    old: Sequence[Paragraph], new: Sequence[Paragraph]
) -> Iterator[tuple[Paragraph, Paragraph]]:
    """Yield the paragraphs of a file that were changed, before and after, in the order of the old file.

    A paragraph that was only moved is not changed. Each new paragraph is the later form of at most one old
    one, the most similar.

    Raises
    ------
    ValueError
        If so many paragraphs were changed that the file was rewritten.
    """
    counts = Counter(paragraph.text for paragraph in new)
    counts.subtract(Counter(paragraph.text for paragraph in old))
    removed = _surplus(old, {text: -n for text, n in counts.items()})
    added = _surplus(new, counts)
    if len(removed) * len(added) > MOST_PAIRS:
        raise ValueError("the file was rewritten")
    bags = [Counter(token.word for token in paragraph.tokens) for paragraph in added]
    scored = []
    for i, paragraph in enumerate(removed):
        words = [token.word for token in paragraph.tokens]
        bag = Counter(words)
        for j, other in enumerate(bags):
            size = max(len(words), other.total())
            if size < LEAST_WORDS or min(len(words), other.total()) < LEAST_SHARE * size:
                continue
            same = (bag & other).total() / size
            if same >= LEAST_SHARE:
                scored.append((-same, abs(i - j), i, j))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, i, j in sorted(scored):
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    for i in sorted(pairs):
        yield removed[i], added[pairs[i]]


def _surplus(paragraphs: Sequence[Paragraph], counts: dict[str, int] | Counter[str]) -> list[Paragraph]:
    """Return the last paragraphs of each text that occurs more often than on the other side."""
    left = {text: n for text, n in counts.items() if n > 0}
    surplus = []
    for paragraph in reversed(paragraphs):
        if left.get(paragraph.text, 0):
            left[paragraph.text] -= 1
            surplus.append(paragraph)
    return surplus[::-1]


def word_edits(old: Paragraph, new: Paragraph) -> list[WordEdit]:
    """Return the changes of single words between two versions of a paragraph.

    A change of one word into two, or of two into one, counts if the letters stay the same. Changes of code,
    capitals and punctuation do not count. There are none if the paragraph was changed at more than
    `MOST_EDITS` places.
    """
    hunks = _hunks([token.word for token in old.tokens], [token.word for token in new.tokens])
    if not 1 <= len(hunks) <= MOST_EDITS:
        return []
    edits = []
    for hunk in hunks:
        edit = _word_edit(old, new, hunk, len(hunks))
        if edit is not None:
            edits.append(edit)
    return edits


_Hunk = tuple[int, int, int, int]


def _hunks(old: Sequence[str], new: Sequence[str]) -> list[_Hunk]:
    """Return the places at which two sequences of words differ."""
    first, least = 0, min(len(old), len(new))
    while first < least and old[first] == new[first]:
        first += 1
    last = 0
    while last < least - first and old[-1 - last] == new[-1 - last]:
        last += 1
    inner_old, inner_new = old[first : len(old) - last], new[first : len(new) - last]
    if not inner_old and not inner_new:
        return []
    if min(len(inner_old), len(inner_new)) == 0 or (len(inner_old), len(inner_new)) == (1, 1):
        return [(first, len(old) - last, first, len(new) - last)]
    codes = SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_opcodes()
    return [(first + a, first + b, first + c, first + d) for tag, a, b, c, d in codes if tag != "equal"]


def _word_edit(old: Paragraph, new: Paragraph, hunk: _Hunk, n_edits: int) -> WordEdit | None:
    first, last, new_first, new_last = hunk
    removed, added = old.tokens[first:last], new.tokens[new_first:new_last]
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
    context = _context(old.tokens, first, last)
    if n_edits == 1:
        start, end = _old_place(old, new, removed, added, first)
        return WordEdit(old.text, new.text, start, end, old_text, new_text, 1, context)
    before, start, end = _taken_back(new, added, new_first, old_text)
    return WordEdit(before, new.text, start, end, old_text, new_text, n_edits, context)


def _joined(tokens: Sequence[Token]) -> str:
    return "".join(token.word for token in tokens)


def _slice(text: str, tokens: Sequence[Token]) -> str:
    return text[tokens[0].start : tokens[-1].end] if tokens else ""


def _context(tokens: Sequence[Token], first: int, last: int) -> tuple[str, str]:
    left, right = tokens[max(0, first - 3) : first], tokens[last : last + 3]
    return " ".join(token.word for token in left), " ".join(token.word for token in right)


def _old_place(
    old: Paragraph, new: Paragraph, removed: Sequence[Token], added: Sequence[Token], first: int
) -> tuple[int, int]:
    """Return the place of an edit in the old text; a missing word belongs just before the next word."""
    if removed:
        return removed[0].start, removed[-1].end
    ends_clause = not new.text[added[-1].end :].lstrip()[:1].isalnum()
    if first < len(old.tokens) and not (ends_clause and first):
        start = old.tokens[first].start
    else:
        start = old.tokens[first - 1].end if first else 0
    return start, start


def _taken_back(new: Paragraph, added: Sequence[Token], first: int, old_text: str) -> tuple[str, int, int]:
    """Return the new text with one edit taken back, and the place of the edit in it."""
    text = new.text
    if added:
        left, right = text[: added[0].start], text[added[-1].end :]
        if not old_text:
            if right.startswith(" ") and (not left or left.endswith(" ")):
                right = right[1:]
            elif left.endswith(" "):
                left = left[:-1]
        return left + old_text + right, len(left), len(left) + len(old_text)
    if first < len(new.tokens):
        at = new.tokens[first].start
        return f"{text[:at]}{old_text} {text[at:]}", at, at + len(old_text)
    at = new.tokens[-1].end if new.tokens else 0
    return f"{text[:at]} {old_text}{text[at:]}", at + 1, at + 1 + len(old_text)


def classify(edit: WordEdit, words: CorrectionWords, vocabulary: Vocabulary) -> CorrectionKind | str:
    """Return what kind of mistake an edit corrected, or the reason why it is not taken for a correction.

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
        return CorrectionKind("article", *(("a/an", True) if pair == {"a", "an"} else ("", False)))
    if (old in words.articles or new in words.articles) and distance(old, new) > 1:
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
    return _classify_alike(old, new, words)


def _classify_missing(edit: WordEdit, words: CorrectionWords) -> CorrectionKind | str:
    """Return the kind of a word that was missing or one too many."""
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


def _classify_alike(old: str, new: str, words: CorrectionWords) -> CorrectionKind | str:
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
    same = 0
    while same < len(short) and short[same] == long[same]:
        same += 1
    stem = max(3, (len(short) + 1) // 2)
    if same >= stem and _endings(old, same, words) and _endings(new, same, words):
        return CorrectionKind("other-real-word", "form")
    n_edits = distance(old, new)
    if n_edits <= (1 if len(short) <= 3 else 2) or (n_edits == 3 and len(short) >= 7 and same >= 3):
        return CorrectionKind("other-real-word", "alike")
    return "another word"


def _endings(word: str, same: int, words: CorrectionWords) -> bool:
    """Return True if what follows the common beginning is an ending, maybe after a doubled consonant."""
    ending = word[same:]
    doubled = len(ending) > 2 and ending[0] == word[same - 1] and ending[1:] in words.endings
    return ending in words.endings or doubled


def _is_name(edit: WordEdit) -> bool:
    """Return True if a word looks like a name: capitals inside it, or at its beginning in a sentence."""
    for word in (edit.old, edit.new):
        if any(character.isupper() for character in word[1:]):
            return True
    if not (edit.old[0].isupper() and edit.new[0].isupper()):
        return False
    if _SENTENCE_BEGIN.search(edit.before[: edit.start]):
        return False
    # in a title, most words begin with a capital
    others = [word for word in edit.before.split() if word[:1].isalpha() and len(word) > 3]
    return sum(word[0].isupper() for word in others) <= len(others) / 2 and edit.old not in ("I", "It")


def distance(one: str, other: str, most: int = 4) -> int:
    """Return the number of letters to insert, delete, replace or exchange with the next; at most `most`."""
    if abs(len(one) - len(other)) >= most:
        return most
    older: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        previous, row = row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        older = previous
    return min(row[-1], most)
