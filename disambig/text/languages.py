"""Find paragraphs that are not in the language of a model.

The evidence is the share of frequent words of each language (articles, pronouns, prepositions, conjunctions,
auxiliaries), and the script. A paragraph is in another language only if frequent words of that language are
in it and hardly any of the model's language: names, code, headings and short lists without such words are
never taken for another language. A quotation inside a paragraph has no influence, since the rest of the
paragraph contains frequent words. A longer paragraph with hardly any frequent word of any of these languages,
such as rows of names, is not in a language (`NO_LANGUAGE`).

Libraries that detect any language are not used: on short paragraphs with names and identifiers they are
often wrong (see `tests/unit/text/test_foreign_paragraphs.py`), and their models take some megabytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.formatting import pluralize
from disambig.text.view import TokenView, paragraph_gaps

LANGUAGE_NAMES = {
    "ar": "Arabic", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi",
    "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "la": "Latin",
    "nb": "Norwegian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sr": "Serbian", "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese",
    "zh": "Chinese", "zxx": "lists or data",
}  # fmt: skip
"""Names of the languages that can be recognised, by ISO 639-1 code."""
NO_LANGUAGE = "zxx"
"""Code of ISO 639-2 for text that is not in a language."""

_WEAK = frozenset(
    "s me end e ve non come man war d per co men care sense o door v n met com son min ten al l c sub plus y"
    " till die sit car ons var hat era mere pod ma z pro ad wy w u bare vain pot ex em solo j ser im num id"
    " et en pan van de la del un os i a dir fi bin us ki be du do in on to is as at an so no was he we am"
    "".split()
)
"""Words that are also English words, names or symbols: they are weak evidence for another language."""
_LETTERS = {
    "de": "äöüß", "fr": "éèêàçùœîôâë", "es": "ñáíóú", "pt": "ãõçáéêóâ", "it": "àèéìòù", "pl": "ąćęłńóśźż",
    "sv": "åäö", "da": "æøå", "nb": "æøå", "fi": "äö", "cs": "ěščřžýáíéůú", "hu": "őűáéíóúö", "ro": "ăâîșşțţ",
    "tr": "ığşçöü", "ca": "àèéíòóúç", "vi": "ạảấầậắằặẹẻẽếềệịọỏốồộớờợụủứừựỳỵđ",
}  # fmt: skip
_PARTICLES = frozenset(
    "de la le du des del el los las da do dos das di della van der von den y e et ten ter al".split()
)
"""Words in names: before a capitalised word, they are evidence for German only, whose nouns have capitals."""
_WEAK_SHARE = 0.25
_LETTER_SHARE = 0.75
_MIN_EVIDENCE = 2.0
_MIN_SHARE = 0.12
"""Minimum share of the evidence in the words; in prose it is 0.3 to 0.5."""
_LITTLE_EVIDENCE = 1.25
_LARGE_SHARE = 0.3
"""Less evidence is enough if its share is large and there is no evidence for the model's language."""
_MAX_CONTRARY = 1 / 3
"""Maximum evidence for the model's language, as a share of that for the other language."""
_BEGINNING = 240
"""Number of characters at the beginning of a paragraph, which usually suffice to recognise its language."""
_SURE_WORDS, _SURE_RATIO = 3, 8
"""A beginning is surely in the model's language if it has at least three words that are frequent in no other
language, and at least one in eight of its words is such a word.
"""
_MIN_DATA_WORDS, _DATA_RATIO = 20, 40
"""A paragraph of at least 20 words is data if at most one word in 40 is frequent in the model's language.

In prose it is one in three; of 23,366 paragraphs of documentation with 15 words or more, eight had fewer than
one in 40.
"""
_CAPITALISES_NOUNS = "de"
_LONG_LINE = 120
"""Lines longer than this were not wrapped: each is a paragraph."""
_MIN_LETTERS = 4
_LETTERS_PER_CJK_CHARACTER = 2
"""A character of Chinese, Japanese or Korean counts as this many letters of an alphabet."""

_WORDS = re.compile(r"[^\W\d_]+")
_IN_CODE = re.compile(r"[\w,;=()/|+*<>\[\]{}@#&-]|[.:][^\s.]")
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff]")),
    ("ko", re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")),
    ("ru", re.compile("[\u0400-\u052f]{2,}")),
    ("el", re.compile("[\u0370-\u03ff\u1f00-\u1fff]{2,}")),
    ("ar", re.compile("[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc]{2,}")),
    ("he", re.compile("[\u0590-\u05ff]{2,}")),
    ("hi", re.compile("[\u0900-\u097f]{2,}")),
    ("th", re.compile("[\u0e00-\u0e7f]{2,}")),
)  # fmt: skip
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_CYRILLIC = (
    ("uk", re.compile("[\u0456\u0457\u0454\u0491]", re.IGNORECASE)),
    ("sr", re.compile("[\u0452\u0458-\u045b\u045f]", re.IGNORECASE)),
)


@dataclass(frozen=True, slots=True)
class ForeignParagraph:
    """A paragraph that is not in the language of a model."""

    # offsets in the text
    start: int
    end: int
    # code of the language that it looks like, a key of `LANGUAGE_NAMES`; `NO_LANGUAGE` for data
    language: str


@cache
def _frequent_words() -> dict[str, frozenset[str]]:
    """Return the frequent words of each language, by its code, in lower case."""
    lines = Path(__file__).with_name("frequent_words.tsv").read_text(encoding="utf8").splitlines()
    return {code: frozenset(words.split()) for code, words in (line.split("\t") for line in lines)}


class _Profile:
    """The frequent words of a language, and those of all other languages with their weights."""

    def __init__(self, language: str) -> None:
        tables = dict(_frequent_words())
        self.words = tables.pop(language)
        self.others: dict[str, dict[str, float]] = {}
        for code, table in tables.items():
            for word in table - self.words:
                weight = _WEAK_SHARE if word in _WEAK or len(word) == 1 else 1.0
                self.others.setdefault(word, {})[code] = weight
        self.only_words = self.words.difference(*tables.values())
        self.shared = {
            word: frozenset(code for code in tables if word in tables[code])
            for word in self.words - self.only_words
        }
        self._letters = {
            code: re.compile(f"[{letters}]") for code, letters in _LETTERS.items() if code != language
        }

    def evidence(self, word: str) -> dict[str, float]:
        """Return the weight of a word, in lower case, for each other language."""
        if word in self.others:
            return self.others[word]
        if word.isascii():
            return {}
        return {code: _LETTER_SHARE for code, letters in self._letters.items() if letters.search(word)}


class _RecentResults(dict[tuple[str, str], tuple[ForeignParagraph, ...]]):
    """Results by language and text, since models, components and reports ask for the same texts."""

    n_characters = 0

    def add(self, language: str, text: str, result: tuple[ForeignParagraph, ...]) -> None:
        """Add a result; if too much is kept, all others are forgotten."""
        if self.n_characters > _MAX_CACHED_CHARACTERS:
            self.clear()
            self.n_characters = 0
        self[language, text] = result
        self.n_characters += len(text) + _ENTRY_SIZE


_profiles: dict[str, _Profile] = {}
_recent = _RecentResults()
_MAX_CACHED_CHARACTERS, _ENTRY_SIZE = 1_000_000, 200
"""Maximum number of characters of cached texts; an entry itself counts as many."""
_FEW_WORDS = 2
"""Number of a language's own words from which a paragraph counts as one in it."""
_MIN_FOREIGN = 3
"""Minimum number of paragraphs in another language, in a text that is mostly in that language."""


def find_foreign_paragraphs(text: str, language: str) -> tuple[ForeignParagraph, ...]:
    """Return the paragraphs of a text that are not in `language`, in text order.

    `text`: a text without markup. Paragraphs end at blank lines and paragraph separators; lines of more than
    120 characters are paragraphs as well.
    `language`: code of a language. If its frequent words are not known, nothing is returned.
    """
    if language not in _frequent_words():
        return ()
    result = _recent.get((language, text))
    if result is None:
        result = tuple(_find(text, language))
        _recent.add(language, text, result)
    return result


def _find(text: str, language: str) -> Iterator[ForeignParagraph]:
    """Yield the paragraphs in another language; short ones count as in that of most others."""
    if language not in _profiles:
        _profiles[language] = _Profile(language)
    profile = _profiles[language]
    only_words = profile.only_words
    others: list[ForeignParagraph] = []
    counts: dict[str, int] = {}
    n_own = 0
    for start, end in _paragraphs(text):
        beginning = text[start : min(end, start + _BEGINNING)].split()
        if sum(map(only_words.__contains__, beginning)) >= max(_SURE_WORDS, len(beginning) / _SURE_RATIO):
            n_own += 1
            continue
        other = _language_of_paragraph(text[start:end], profile)
        n_own += not other and sum(map(only_words.__contains__, beginning)) >= _FEW_WORDS
        if other:
            counts[other] = counts.get(other, 0) + 1
        elif _is_data(text[start:end], profile):
            other = NO_LANGUAGE
        others.append(ForeignParagraph(start, end, other))
    main = max(counts, key=lambda code: (counts[code], code), default="")
    is_foreign = bool(main) and main != language and counts[main] >= max(_MIN_FOREIGN, n_own + 1)
    for paragraph in others:
        code = paragraph.language
        if not code and is_foreign and _may_be(text[paragraph.start : paragraph.end], main, profile):
            code = main
        if code and code != language:
            yield ForeignParagraph(paragraph.start, paragraph.end, code)


def _may_be(text: str, code: str, profile: _Profile) -> bool:
    """Return True if a short paragraph of a text that is in another language can be in that language too."""
    words = [word.lower() for word in _WORDS.findall(text)]
    own_words = [word for word in words if word in profile.words and code not in profile.shared.get(word, ())]
    return not own_words and any(code in profile.evidence(word) for word in words)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap_start, gap_end in paragraph_gaps(text):
        yield from _long_lines(text, start, gap_start)
        start = gap_end
    yield from _long_lines(text, start, len(text))


def _long_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of a paragraph that are paragraphs themselves, or else the whole paragraph."""
    if end - start > _LONG_LINE:
        at = start
        while (stop := text.find("\n", at, end)) >= 0:
            if stop - at > _LONG_LINE:
                if start < at:
                    yield start, at
                yield at, stop
                start = stop + 1
            at = stop + 1
        if start < at and end - at > _LONG_LINE:
            yield start, at
            start = at
    if start < end:
        yield start, end


def _language_of_paragraph(text: str, profile: _Profile) -> str:
    """Return the code of a paragraph's language; "" if that is the profile's language, or not clear."""
    if not text.isascii() and (code := _script(text)):
        return code
    words = _WORDS.findall(text)
    counted = _counted_words(text, profile)
    if not counted:
        return ""
    evidence: dict[str, float] = {}
    distinct: dict[str, set[str]] = {}
    weights = {word: profile.evidence(word) for word in {word for word, _ in counted}}
    for word, following in counted:
        for code, weight in weights[word].items():
            if following and word in _PARTICLES and code != _CAPITALISES_NOUNS:
                continue
            evidence[code] = evidence.get(code, 0.0) + weight
            distinct.setdefault(code, set()).add(word)
    if not evidence:
        return ""
    code = max(evidence, key=lambda code: (evidence[code], code))
    amount = evidence[code]
    own_words = [word for word in map(str.lower, words) if word in profile.words]
    shared = sum(code in profile.shared.get(word, ()) for word in own_words)
    against, share = len(own_words) - shared, (amount + shared / 2) / len(words)
    if len(distinct[code]) < 2:
        return ""
    if amount >= _MIN_EVIDENCE and share >= _MIN_SHARE and against <= _MAX_CONTRARY * amount:
        return code
    return code if amount >= _LITTLE_EVIDENCE and share >= _LARGE_SHARE and not against else ""


def _is_data(text: str, profile: _Profile) -> bool:
    """Return True if a paragraph is long enough to have frequent words, but has hardly any."""
    words = [word.lower() for word in _WORDS.findall(text) if len(word) > 1]
    n_frequent = sum(map(profile.words.__contains__, words))
    return len(words) >= _MIN_DATA_WORDS and _DATA_RATIO * n_frequent <= len(words)


def _counted_words(text: str, profile: _Profile) -> list[tuple[str, bool]]:
    """Return the words that may be evidence for another language, and whether a name follows each.

    Items of lists of single words, parts of code and capitalised words inside a sentence do not count.
    """
    counted: list[tuple[str, bool]] = []
    matches = list(_WORDS.finditer(text))
    for number, match in enumerate(matches):
        written, word = match[0], match[0].lower()
        if word in profile.words or not (word in profile.others or not word.isascii()):
            continue
        before = text[match.start() - 1] if match.start() else " "
        if (number and written != word) or _IN_CODE.match(text, match.end()) or before in "_.@/\\=-([":
            continue
        following = next(
            (other[0] for other in matches[number + 1 : number + 4] if other[0] not in _PARTICLES), ""
        )
        counted.append((word, following[:1].isupper()))
    return counted


def _script(text: str) -> str:
    """Return the code of the language whose script most letters of a text are in; "" for Latin script."""
    sizes: dict[str, int] = {}
    for code, pattern in _SCRIPTS:
        letters = sum(map(len, pattern.findall(text)))
        sizes[code] = letters * _LETTERS_PER_CJK_CHARACTER if code in ("ja", "zh", "ko") else letters
    if sizes["ja"]:
        sizes["ja"] += sizes.pop("zh")
    code = max(sizes, key=sizes.__getitem__)
    if sizes[code] < _MIN_LETTERS or sizes[code] < len(_LATIN.findall(text)):
        return ""
    if code == "ru":
        return next((other for other, pattern in _CYRILLIC if pattern.search(text)), code)
    return code


def foreign_to_all(text: str, languages: Collection[str]) -> list[ForeignParagraph]:
    """Return the paragraphs of a text that are in none of the languages; see `find_foreign_paragraphs`."""
    results = [find_foreign_paragraphs(text, language) for language in languages]
    if not results:
        return []
    spans = [{(paragraph.start, paragraph.end) for paragraph in result} for result in results]
    in_all = set.intersection(*spans)
    return [paragraph for paragraph in results[0] if (paragraph.start, paragraph.end) in in_all]


def describe_foreign(counts: Mapping[str, int], languages: Collection[str]) -> str:
    """Return a phrase for messages: "3 paragraphs that are not in English (most look like German)"."""
    n = sum(counts.values())
    main = max(counts, key=lambda code: (counts[code], code))
    other = LANGUAGE_NAMES.get(main, main)
    wanted = " or ".join(LANGUAGE_NAMES.get(code, code) for code in languages)
    share = "it looks" if n == 1 else "they look" if counts[main] == n else "most look"
    return (
        f"{pluralize(n, 'paragraph')} that {'is' if n == 1 else 'are'} not in {wanted} ({share} like {other})"
    )


def foreign_layer(view: TokenView, language: str) -> NDArray[np.bool_] | None:
    """Return the mask of the words in paragraphs that are not in `language`, shape ``(n_tokens,)``.

    None if there is no such paragraph.
    """
    mask = None
    for number, text in enumerate(view.texts):
        for paragraph in find_foreign_paragraphs(text, language):
            if mask is None:
                mask = np.zeros(len(view), bool)
            first, last = view.documents[number : number + 2].tolist()
            starts = view.starts[first:last]
            low, high = np.searchsorted(starts, (paragraph.start, paragraph.end)).tolist()
            mask[first + low : first + high] = True
    return mask
