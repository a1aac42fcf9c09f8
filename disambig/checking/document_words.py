"""Words that a document uses as its own: names in its code, and words that it repeats.

A word such as *exit* or *decimals* is rare in prose, so that a model prefers a more frequent word that looks
like it. In a document whose code has the same name, or that uses the word again and again, the word is most
likely meant.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cached_property

from disambig.markup import PlainText
from disambig.text import HIDDEN, OPAQUE

CERTAIN_PROBABILITY = 0.9
"""A flag on one of the document's own words is kept only if its probability is at least this."""
MIN_REPETITIONS = 5
"""Minimum number of occurrences of a word that the document repeats."""
MIN_REPETITION_RATIO = 4
"""Minimum ratio of the occurrences of a repeated word to those of its replacement."""
_STEM_LENGTH = 4
"""Two words that share this many initial letters may be forms of one word, and people repeat wrong forms.

Words with the same last letter and different consonants, as *contest* and *context*, are no forms of one
word. Those with the same consonants sound alike, as *complement* and *compliment*.
"""
_VOWELS = str.maketrans("", "", "aeiouy")
_NAME = re.compile(r"[^\W\d_]\w*")
_WORD = re.compile(r"[^\W\d_]+")
_PRECEDING_NAME = re.compile(r"(?<!\w)_*([^\W\d_]\w*s_*)[*`]*\s+\Z")
_MAX_NAME_LENGTH = 80
_AGREEING_VERBS = frozenset(
    "is are was were has have does do isn't aren't wasn't weren't hasn't haven't doesn't don't".split()
)
"""Verbs whose form depends on the number of their subject."""
_MARKUP_PREFIXES = ("](", "<", "&", "---", "+++", "-- ")
"""Hidden text with one of these prefixes is markup, an address or a signature, not code."""
_QUOTED_LINE = re.compile("^>(?!>>)[^\n]*", re.MULTILINE)
"""A line that quotes somebody else; ``>>>`` begins code of Python."""
_UNIT = r"[\w\ufffc][\w'\u2019\ufffc-]*"
_NEXT = r"[^\S\n\u2029]*[\n\u2029][\s\u2029]*"
_WORD_RUN = re.compile(
    rf"(?:\A|(?<=[\n\u2029]))[^\S\n\u2029]*{_UNIT}(?:{_NEXT}{_UNIT}){{2,}}(?=[^\S\n\u2029]*(?:[\n\u2029]|\Z))"
)
"""Three or more lines, list items or table cells in a row with one word each."""
_MARK = rf"(?<!{HIDDEN}){HIDDEN}{{1,12}}(?!{HIDDEN})"
"""A whole mark of emphasis: as long as ``*`` or ``</emphasis>``, and not a part of a longer one."""
_EMPHASISED = rf"{_MARK}[^{HIDDEN}{OPAQUE}\n\u2029]{{1,40}}{_MARK}"
_GAP = rf"[^\S\n\u2029{HIDDEN}]*"
_EXAMPLES = re.compile(rf"{_EMPHASISED}(?:,?{_GAP}\n?{_GAP}(?:(?:and|or|for)[ \n])?{_EMPHASISED}){{2,}}")
"""Three or more emphasised words or phrases in an enumeration, which are mentioned and not used."""
_LINK = re.compile(r"\]\(|<a\s", re.IGNORECASE)
_ENCLOSED = re.compile(
    rf"{_MARK}(?=\w)(?P<marked>[^{HIDDEN}\n\u2029]{{1,40}})(?<![^\S{HIDDEN}]){_MARK}"
    r"|(?<![\w*_])(?P<mark>[*_]{1,3})(?![\s*_])(?P<written>[^*_\n\u2029]{1,40})(?<!\s)(?P=mark)(?![\w*_])"
    r"|(?<!\w)['\u2018](?=\w)(?!(?:em|n|til|tis|twas|cause|\d\ds)\b)(?P<quoted>[^'\u2018\u2019\n\u2029]{1,40})(?<=\w)['\u2019](?!\w)"
)
"""Words that are emphasised, in any markup or in text without markup, or between single quotation marks."""
_SINGLE_QUOTES = "'\u2018"
_GAP_MARKS = f" \t\r\n*_'\u2018\u2019{HIDDEN}"
_MAX_GAP = 20
"""Maximum number of characters between a word and a phrase beside it."""
_SENTENCE_END = re.compile(rf"[.!?]['\")\]{HIDDEN}\u2019]*\s|\n[^\S\n]*\n|\u2029")
_MAX_SENTENCE = 300
"""Number of characters before and after an emphasised phrase in which the ends of its sentence are sought."""
_ABOUT_LANGUAGE = re.compile(
    r"\b(?:(?:mis)?spell(?:s|ed|ing|ings)?|(?:mis)?spelt|phrases?|words?|expressions?|writ(?:e|es|ing|ten)|wrote"
    r"|say(?:s|ing)?|mean(?:s|t)?|typos?|mistakes?|wrong(?:ly)?|incorrect(?:ly)?|confus(?:e|es|ed|ing)"
    r"|grammar|grammatical(?:ly)?|instead of|in place of)\b",
    re.IGNORECASE,
)
"""Words of sentences that mention words and phrases."""
_COMMON_WORDS = frozenset(
    """
    a about after all also an and another any are as at be because been before being between both but by can
    could did do does done down each either else every few first for from get gets given good had has have he
    her here him his how however i if in into is it its just least less like made make makes many may me might
    more most much must my need needs neither new next no nor not now of off often on once one only or other
    our out over own per same see set she should since so some such take than that the their them then there
    these they this those through to too two under until up us use used uses using very was we well were what
    when where whether which while who whose why will with within without would yet you your
    """.split()
)
"""Words so common in prose that neither a name in code nor repetition is evidence for them."""


class DocumentWords:
    """The names in the code of a document, and the word counts of its prose.

    `text`: the text of the file.
    `plain`: the same text without markup.
    `project_names`: names of the project, in lower case.
    """

    def __init__(self, text: str, plain: PlainText, project_names: Collection[str] = ()) -> None:
        self._text, self._plain, self._project_names = text, plain, project_names

    @cached_property
    def names(self) -> frozenset[str]:
        """Names in the code of the document: hidden text other than comments, markup and addresses."""
        names: set[str] = set()
        for hidden in self._hidden_stretches():
            if not hidden.startswith(_MARKUP_PREFIXES) and "://" not in hidden:
                names.update(_NAME.findall(_QUOTED_LINE.sub("", hidden)))
        return frozenset(name for name in names if name.lower() not in _COMMON_WORDS)

    @cached_property
    def counts(self) -> Counter[str]:
        """Number of occurrences of each word in the prose, in lower case."""
        return Counter(_WORD.findall(self._plain.text.lower()))

    @cached_property
    def word_runs(self) -> tuple[tuple[int, int], ...]:
        """Spans of the prose whose words have no context.

        They are lines, list items or cells of one word each, and emphasised phrases in an enumeration.
        """
        text = self._plain.text
        runs = [run.span() for run in _WORD_RUN.finditer(text)]
        if HIDDEN in text:
            examples = (run.span() for run in _EXAMPLES.finditer(text))
            runs += [run for run in examples if not _LINK.search(self._text, *run)]
        return tuple(sorted(runs))

    @cached_property
    def enclosed(self) -> tuple[tuple[int, int], ...]:
        """Spans of short phrases that are emphasised or between single quotation marks, in text order."""
        phrases = _ENCLOSED.finditer(self._plain.text)
        return tuple(phrase.span(phrase.lastgroup or 0) for phrase in phrases)

    def is_listed(self, start: int, end: int) -> bool:
        """Return True if a flagged word stands alone, as its neighbours do, or is one of several examples."""
        number = bisect_right(self.word_runs, start, key=lambda run: run[0]) - 1
        return number >= 0 and end <= self.word_runs[number][1]

    def is_mentioned(self, start: int, end: int, replacement: str) -> bool:
        """Return True if a flagged word is in a phrase that is mentioned and not used.

        Such a phrase is between single quotation marks, as in 'could of', or it is emphasised, and its
        sentence is about language, or has the corrected phrase as well: write *could have*, never *could of*.
        In a sentence about language with several of them, words beside them are not flagged either: they are
        their context.

        `start` and `end`: span of the written word.
        `replacement`: its replacement, "" for no word.
        """
        text, phrases = self._plain.text, self.enclosed
        number = bisect_right(phrases, end, key=lambda phrase: phrase[0]) - 1
        inside = number >= 0 and phrases[number][0] <= start and end <= phrases[number][1]
        for first, last in phrases[number : number + 1] if inside else phrases[max(number, 0) : number + 2]:
            if not (inside or _are_beside(text, (start, end), (first, last))):
                continue
            if inside and text[first - 1] in _SINGLE_QUOTES:
                return True
            begin, stop = self._sentence_around(first, last)
            others = phrases[bisect_left(phrases, (begin, begin)) : bisect_left(phrases, (stop, stop))]
            if _ABOUT_LANGUAGE.search(text, begin, first) or _ABOUT_LANGUAGE.search(text, last, stop):
                if inside or len(others) > 1:
                    return True
            elif inside:
                corrected = f"{text[first:start]}{replacement}{text[end:last]}".lower().split()
                return any(text[slice(*phrase)].lower().split() == corrected for phrase in others)
        return False

    def _sentence_around(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the sentence around a phrase, as far as it is near."""
        text = self._plain.text
        first = max(0, start - _MAX_SENTENCE)
        for match in _SENTENCE_END.finditer(text, first, start):
            first = match.end()
        following = _SENTENCE_END.search(text, end, end + _MAX_SENTENCE)
        return first, following.end() if following else min(end + _MAX_SENTENCE, len(text))

    def is_document_word(self, observed: str, replacement: str, end: int) -> bool:
        """Return True if a flagged word is a name in the document's code, or repeated in its prose.

        If a word is missing, the word that follows the gap is looked up instead, only among the names.

        `observed` and `replacement`: the written word and its replacement, "" for no word.
        `end`: offset of the end of the written word.
        """
        if not observed:
            following = _WORD.search(self._plain.text, end, end + 100)
            return following is not None and following[0] in self.names
        if replacement.replace(" ", "") == observed or "'" in observed + replacement:
            return False  # joined words such as "setup" are names in code, and still wrong as verbs in prose
        word = observed.lower()
        return observed in self.names or word in self.names or self._is_repeated(word, replacement)

    def follows_plural_name(self, observed: str, replacement: str, end: int) -> bool:
        """Return True if a correction only changes the number of a verb after a name that ends in "s".

        After a name in the document's code, such as ``options``, which may be singular or plural, only verbs
        such as "is" are considered. After the name of the project, such as "pandas", which is singular, all
        verbs are.

        `observed` and `replacement`: the written verb and its replacement.
        `end`: offset of the end of the verb.
        """
        start = end - len(observed)
        before = _PRECEDING_NAME.search(self._plain.text[max(0, start - _MAX_NAME_LENGTH) : start])
        if before is None:
            return False
        if before[1].lower() in self._project_names:
            only_drops_s = observed.removesuffix("s").removesuffix("e") == replacement.removesuffix("e")
            return only_drops_s or observed.lower() in _AGREEING_VERBS
        return before[1] in self.names and observed.lower() in _AGREEING_VERBS

    def _is_repeated(self, word: str, replacement: str) -> bool:
        other = replacement.lower()
        if word in _COMMON_WORDS or (
            word[:_STEM_LENGTH] == other[:_STEM_LENGTH] and _may_be_forms(word, other)
        ):
            return False
        return self.counts[word] >= max(MIN_REPETITIONS, MIN_REPETITION_RATIO * self.counts[other])

    def _hidden_stretches(self) -> Iterator[str]:
        """Yield the stretches of text that are not prose, without comments."""
        text, plain = self._text, self._plain.text
        if text == plain:
            return
        position = 0
        for start, end in (*self._plain.comments, (len(text), len(text))):
            yield from _differing_stretches(text, plain, position, start)
            position = max(position, end)


def _may_be_forms(word: str, other: str) -> bool:
    """Return True if two words with the same beginning may be forms of one word, or sound alike."""
    return word[-1] != other[-1:] or word.translate(_VOWELS) == other.translate(_VOWELS)


def _are_beside(text: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return True if two spans have nothing but blanks and marks between them."""
    (_, end), (start, _) = sorted((one, other))
    return start - end <= _MAX_GAP and not text[end:start].strip(_GAP_MARKS)


def _differing_stretches(text: str, plain: str, start: int, end: int) -> Iterator[str]:
    """Yield the stretches of ``text[start:end]`` that differ from `plain`, a text of the same length."""
    first = -1
    for i in range(start, end):
        if text[i] == plain[i]:
            # Blanks are equal in both texts, and do not end a stretch by themselves.
            if first >= 0 and not text[i].isspace():
                yield text[first:i]
                first = -1
        elif first < 0:
            first = i
    if first >= 0:
        yield text[first:end]
