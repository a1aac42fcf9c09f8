"""Phrases that are mistakes in any context, and their corrections, and phrases that are right: a table.

"I could of come" is a mistake whatever the rest of the text is, and "on Monday mornings" is right, so that no
model has to decide it. Each language has a table. A line has a pattern, a TAB and the correction, and may
have another TAB and exceptions. Lines that begin with ``#`` are comments.

**Pattern**: items separated by blanks, each for one word or sign.

* ``could|should`` is one of several words, in lower case.
* ``*ed`` is a word that ends in these letters, ``un*`` one that begins with them, ``*`` any word.
* ``NAME`` (capital letters) is one of the words of a set. A line that begins with ``set`` defines it:
  ``set NAME``, a TAB and its items, separated by blanks. A set must be defined before it is used. The set
  ``MENTION`` has the words that tell of a sentence that an emphasised phrase in it is mentioned, not used:
  "some write *could of*". Without this set, every emphasised phrase counts as mentioned.
* A line that begins with ``pairs`` defines words with their corrections: ``pairs NAME``, a TAB and
  ``went=gone took=taken``. In a pattern, ``NAME`` is one of the words; in a correction, what it should be.
* ``S`` is the beginning or the end of a sentence.
* ``CODE`` is a word of code, which may have several tokens: one that markup hides, or one that shows by its
  signs, such as ``max_size``, ``compose()``, ``--force`` or ``index.html``. It stands in brackets.
  A phrase with such an item counts only in running text: headings and lists leave out small words there.
* Items in brackets are context: they must stand there, but are not replaced: ``could of [been|gone]``. At
  least one item is outside the brackets, and the items outside are next to each other.

**Correction**: words. ``$1`` is the first word of the text that is replaced, ``$2`` the second one, and
letters may follow, as in ``$1s``; ``-`` alone removes the words. The case follows the text. ``=`` alone says
that the words are right, so that they are not decided.

**Exceptions**: separated by ``;``. In each, ``_`` is the text that is replaced, and items stand before it,
after it, or both: ``as _; _ course``. ``...`` next to ``_`` means that words may stand between within the
sentence: ``what|all ... _``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import compress, pairwise, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import TokenView, UserError
from disambig.api.arrays import Hashes, HashVocabulary, Ints
from disambig.api.text import END_HASH, START_HASH, hash_word

from .relations import normalise_word, read_table_lines
from .repeated import is_enclosed
from .running_text import code_end, code_start, has_small_words, in_running_text, is_word_part

ENGLISH_PHRASES = Path(__file__).parent / "languages" / "en.phrases.tsv"
_MENTION = "MENTION"
_SET, _PAIRS, _BOUND, _PLACE, _GAP, _NOTHING, _SAME = "set", "pairs", "S", "_", "...", "-", "="
_CODE = "CODE"
_NAME = re.compile("[A-Z]{2,}")
_REFERENCE = re.compile(r"\$(\d)(.*)")
_MAX_GAP = 12
"""Maximum number of words between a phrase and an exception that need not stand next to it."""
_PAIR = np.uint64(0x9E3779B97F4A7C15)
"""Odd number by which the hashes of two neighbouring words are combined."""


@dataclass(frozen=True, slots=True)
class PhraseItem:
    """The words that may stand in one place of a pattern: hashes of words, endings and beginnings."""

    hashes: frozenset[int]
    endings: tuple[str, ...] = ()
    beginnings: tuple[str, ...] = ()
    is_code: bool = False  # whether the item is code, which may have several tokens

    def end(self, view: TokenView, start: int) -> int:
        """Return the end of the tokens that the item matches from `start` on; `start` if there are none."""
        if self.is_code:
            return code_end(view, start)
        return start + self.matches(view, start)

    def start(self, view: TokenView, end: int) -> int:
        """Return the first of the tokens that the item matches before `end`; `end` if there are none."""
        if self.is_code:
            return code_start(view, end)
        return end - self.matches(view, end - 1)

    def matches(self, view: TokenView, position: int) -> bool:
        """Return True if the word at a position is one of these."""
        if int(view.hashes[position]) in self.hashes:
            return True
        if not (self.endings or self.beginnings):
            return False
        word = normalise_word(view.written(position))
        return word.endswith(self.endings) or word.startswith(self.beginnings)

    @property
    def is_open(self) -> bool:
        """Whether the words are not all listed."""
        return self.is_code or bool(self.endings or self.beginnings)


@dataclass(frozen=True, slots=True)
class PhraseException:
    """What stands before or after a phrase that is right; with gaps, anywhere near it in the sentence."""

    before: tuple[PhraseItem, ...]
    after: tuple[PhraseItem, ...]
    gap_before: bool
    gap_after: bool

    def applies(self, view: TokenView, first: int, last: int, bounds: tuple[int, int]) -> bool:
        """Return True if the phrase from `first` to `last` is right.

        `bounds` are the first token of its sentence, and the end of the sentence.
        """
        low, high = bounds
        n, m = len(self.before), len(self.after)
        starts = range(first - n, max(low, first - n - _MAX_GAP) - 1, -1) if self.gap_before else [first - n]
        ends = range(last + 1, min(high - m, last + 1 + _MAX_GAP) + 1) if self.gap_after else [last + 1]
        return any(start >= low and _match(self.before, view, start) for start in starts) and any(
            end + m <= high and _match(self.after, view, end) for end in ends
        )


@dataclass(frozen=True, slots=True)
class Phrase:
    """A pattern with its correction."""

    items: tuple[PhraseItem, ...]
    first: int  # first item that is replaced
    last: int  # the item after the last one that is replaced
    correction: tuple[str, ...]  # words, and references such as ``$1``
    exceptions: tuple[PhraseException, ...]
    # by the name of pairs in the correction: its item in the pattern, and the correction of each word
    pairs: Mapping[str, tuple[int, Mapping[str, str]]] = field(default_factory=dict)
    has_code: bool = False  # whether an item is code

    def find(self, view: TokenView, token: int, at: int) -> tuple[int, int] | None:
        """Return the first token that is replaced and the end of the last one; None without a match.

        `token`, `at`: a token of the text, and the index of the item that begins with it.
        """
        if not self.has_code:  # each item is one token, which is faster to match
            start = token - at
            if start < 0 or start + len(self.items) > len(view) or not _match(self.items, view, start):
                return None
            return start + self.first, start + self.last
        bounds = [token]
        for item in reversed(self.items[:at]):
            start = item.start(view, bounds[0]) if bounds[0] else 0
            if start == bounds[0]:
                return None
            bounds.insert(0, start)
        for item in self.items[at:]:
            end = item.end(view, bounds[-1]) if bounds[-1] < len(view) else len(view)
            if end == bounds[-1]:
                return None
            bounds.append(end)
        return bounds[self.first], bounds[self.last]

    def anchor(self) -> tuple[int, int]:
        """Return the first item of the pair of neighbours with the fewest words, and 2; or an item, and 1."""
        sizes = [0 if item.is_open else len(item.hashes) for item in self.items]  # 0: too many to list
        pairs = [(one * other, at) for at, (one, other) in enumerate(pairwise(sizes)) if one and other]
        if pairs:
            return min(pairs)[1], 2
        return min((size, at) for at, size in enumerate(sizes) if size)[1], 1

    def listed_beside(self, at: int, size: int) -> tuple[tuple[int, frozenset[int]], ...]:
        """Return the words of the other items that list theirs, with their distances from an anchor.

        If an item is code, these distances are unknown.
        """
        others = () if self.has_code else enumerate(self.items)
        anchor = range(at, at + size)
        return tuple((i - at, item.hashes) for i, item in others if i not in anchor and not item.is_open)


@dataclass(frozen=True, slots=True)
class PhraseMatches:
    """Mistaken phrases in a text, or phrases that are right, in text order and without overlaps."""

    positions: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # int64 (n,): first token of each
    # int32 (n,): number of tokens
    lengths: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    # the written phrase and its correction; both are the same for a phrase that is right
    texts: tuple[tuple[str, str], ...] = ()

    def select(self, *, right: bool) -> PhraseMatches:
        """Return the phrases that are right, or those that are mistakes."""
        rows = [i for i, (written, correction) in enumerate(self.texts) if (written == correction) == right]
        return PhraseMatches(self.positions[rows], self.lengths[rows], tuple(self.texts[i] for i in rows))

    def covers(self, positions: Ints) -> NDArray[np.bool_]:
        """Return which of some tokens are in one of the phrases."""
        if not len(self.positions):
            return np.zeros(len(positions), bool)
        phrase = np.searchsorted(self.positions, positions, side="right") - 1
        ends = self.positions[phrase] + self.lengths[phrase]
        covered: NDArray[np.bool_] = (phrase >= 0) & (positions < ends)
        return covered


class PhraseTable:
    """The mistaken phrases of a language, and phrases that are right.

    Of phrases that overlap in a text, the first one counts. `mention` are the words of sentences that mention
    an emphasised phrase; by default any word.
    """

    def __init__(self, phrases: Sequence[Phrase] = (), mention: PhraseItem | None = None) -> None:
        self.phrases = tuple(phrases)
        self.mention = mention
        self._anchors = [phrase.anchor() for phrase in self.phrases]
        self._index = {size: self._index_anchors(size) for size in (1, 2)}
        self._beside_anchors = [
            phrase.listed_beside(*anchor) for phrase, anchor in zip(self.phrases, self._anchors, strict=True)
        ]
        self._longest = max((len(phrase.items) for phrase in self.phrases), default=0)

    def __len__(self) -> int:
        return len(self.phrases)

    def _index_anchors(self, size: int) -> tuple[Hashes, Ints]:
        """Return the keys of the anchors of `size` words in ascending order, and the phrase of each."""
        words: list[tuple[int, ...]] = []
        numbers: list[int] = []
        for number, (at, length) in enumerate(self._anchors):
            if length == size:
                items = self.phrases[number].items[at : at + size]
                words += product(*(item.hashes for item in items))
                numbers += [number] * (len(words) - len(numbers))
        columns = np.array(words, np.uint64).reshape(-1, size).T
        keys = columns[0] if size == 1 else _pair_keys(*columns)
        order = np.argsort(keys, kind="stable")
        return keys[order], np.array(numbers, np.int64)[order]

    def find(self, view: TokenView) -> PhraseMatches:
        """Return the phrases in a view, which are searched once."""
        return view.cached(self._find)

    def right_words(self, view: TokenView) -> NDArray[np.bool_] | None:
        """Return which tokens are in a phrase that is right, shape ``(n_tokens,)``; None if there is none.

        The mask is computed once per view, and cannot be written to.
        """
        return view.cached(self._find_right_words)

    def _find_right_words(self, view: TokenView) -> NDArray[np.bool_] | None:
        phrases = self.find(view).select(right=True)
        if not len(phrases.positions):
            return None
        right = phrases.covers(np.arange(len(view)))
        right.flags.writeable = False
        return right

    def _find(self, view: TokenView) -> PhraseMatches:
        """Return the matches in a view, without overlaps; the first phrase of the file wins."""
        taken: dict[int, tuple[int, int, int]] = {}  # the match at each token
        for match in sorted(set(self._candidates(view))):
            number, first, last = match
            if not any(at in taken for at in range(first, last)):
                taken.update(dict.fromkeys(range(first, last), match))
        chosen = sorted(set(taken.values()), key=lambda match: match[1])
        texts, places = [], []
        for number, first, last in chosen:
            first, last, written, correction = self._texts(view, self.phrases[number], first, last)
            texts.append((written, written if self._is_mention(view, first, last) else correction))
            places.append((first, last - first))
        if not places:
            return PhraseMatches()
        positions, lengths = np.array(places, np.int64).T
        kept = ~is_word_part(view, positions, lengths.astype(np.int32))
        kept &= in_running_text(view, positions, lengths.astype(np.int32), any_line=True)
        rows = np.array([self.phrases[number].has_code for number, _, _ in chosen]).nonzero()[0]
        if len(rows):
            kept[rows] &= has_small_words(view, positions[rows])
        lengths = lengths.astype(np.int32)[kept]
        return PhraseMatches(positions[kept], lengths, tuple(compress(texts, kept.tolist())))

    def _candidates(self, view: TokenView) -> Iterator[tuple[int, int, int]]:
        """Yield the number, first token and end of each phrase that no exception excuses; some overlap."""
        n = len(view)
        hashes = view.hashes.tolist() + [0] * self._longest  # beyond the end is no word
        for size, (anchors, numbers) in self._index.items():
            if not len(anchors) or n < size:
                continue
            # tokens at which an anchor begins, and for each the range of the phrases with this anchor
            keys = view.hashes if size == 1 else _pair_keys(view.hashes[:-1], view.hashes[1:])
            tokens = np.flatnonzero(HashVocabulary(anchors).contains(keys))
            bounds = (np.searchsorted(anchors, keys[tokens], side).tolist() for side in ("left", "right"))
            for token, low, high in zip(tokens.tolist(), *bounds, strict=True):
                for number in numbers[low:high].tolist():
                    # nearly all phrases fail at a word beside the anchor, which takes fewer steps than `find`
                    for distance, words in self._beside_anchors[number]:
                        if hashes[token + distance] not in words:
                            break
                    else:
                        phrase = self.phrases[number]
                        replaced = phrase.find(view, token, self._anchors[number][0])
                        if replaced and self._applies(view, phrase, *replaced):
                            yield number, *replaced

    def _applies(self, view: TokenView, phrase: Phrase, first: int, last: int) -> bool:
        """Return True if words that match a pattern are that phrase, and not code, a name or an exception."""
        bounds = view.sentence_bounds(first)
        text = view.document_text(first)
        gaps = pairwise(range(first, last))
        if not all(text[view.ends[one] : view.starts[other]].isspace() for one, other in gaps):
            return False
        others = (view.written(at) for at in range(first + 1, last))
        if any(word[1:].islower() and word[0].isupper() and word[1] != "'" for word in others):
            return False  # a name
        return not any(exception.applies(view, first, last - 1, bounds) for exception in phrase.exceptions)

    def _is_mention(self, view: TokenView, first: int, last: int) -> bool:
        """Return True for a phrase that is emphasised because it is mentioned: some write *could of*."""
        if not is_enclosed(view, first, last - 1):
            return False
        if self.mention is None:
            return True
        around = range(*view.sentence_bounds(first))
        return any(self.mention.matches(view, at) for at in around if not first <= at < last)

    def _texts(self, view: TokenView, phrase: Phrase, first: int, last: int) -> tuple[int, int, str, str]:
        """Return the first and last token, what is written there, and its correction.

        A phrase over two lines is shortened to the words that change, since a correction must not join lines.
        """
        text = view.document_text(first)
        if phrase.correction == (_SAME,):
            written = text[view.starts[first] : view.ends[last - 1]]
            return first, last, written, written
        words = [view.written(at) for at in range(first, last)]
        meant = {
            name: corrections[normalise_word(view.written(first - phrase.first + item))]
            for name, (item, corrections) in phrase.pairs.items()
        }
        new = []
        for word in phrase.correction:
            match = _REFERENCE.fullmatch(word)
            new.append(words[int(match[1]) - 1] + match[2] if match else meant.get(word, word))
        if any(sign in text[view.starts[first] : view.ends[last - 1]] for sign in "\r\n"):
            while len(words) > 1 and new and words[0] == new[0]:
                first, words, new = first + 1, words[1:], new[1:]
            while len(words) > 1 and new and words[-1] == new[-1]:
                last, words, new = last - 1, words[:-1], new[:-1]
        return first, last, text[view.starts[first] : view.ends[last - 1]], " ".join(new)


def _pair_keys(first: Hashes, second: Hashes) -> Hashes:
    """Return the key of each pair of neighbouring words, from their hashes."""
    return first * _PAIR ^ second


def _match(items: Sequence[PhraseItem], view: TokenView, start: int) -> bool:
    """Return True if each token from `start` on matches its item."""
    for at, item in enumerate(items, start):  # noqa: SIM110 - all() of a generator takes twice the time
        if not item.matches(view, at):
            return False
    return True


class _InvalidLine(ValueError):
    """A line that is not in the format of the table."""


@lru_cache(maxsize=8)
def read_phrases(path: str | Path) -> PhraseTable:
    """Return the table in a file; it is read once.

    Raises D995 for a file that cannot be read, or for an invalid line, with its number.
    """
    items = _Items()
    phrases = []
    for number, line in read_table_lines(path):
        columns = line.split("\t")
        try:
            kind, _, name = columns[0].partition(" ")
            if kind == _SET:
                items.define(_check_set_name(name), " ".join(columns[1:]).split())
            elif kind == _PAIRS:
                _check_set_name(name)
                pairs = _read_pairs(" ".join(columns[1:]))
                items.define(name, pairs)
                items.pairs[name] = pairs
            else:
                phrases.append(_read_phrase(columns, items))
        except _InvalidLine as problem:
            raise UserError("D995", path=path, problem=f"line {number}: {problem}") from problem
    return PhraseTable(phrases, items.sets.get(_MENTION))


class _Items(dict[str, PhraseItem]):
    """The items of a table by their text; each is read once, since lines repeat them."""

    def __init__(self) -> None:
        super().__init__()
        self.sets: dict[str, PhraseItem] = {}
        self.pairs: dict[str, dict[str, str]] = {}

    def __missing__(self, text: str) -> PhraseItem:
        item = self[text] = _read_item(text, self.sets)
        return item

    def define(self, name: str, words: Iterable[str]) -> None:
        """Define a set; if it replaces one of that name, items are read anew."""
        if name in self.sets:
            self.clear()
        self.sets[name] = _read_item("|".join(words), self.sets)
        self.pairs.pop(name, None)


def _check_set_name(name: str) -> str:
    if not _NAME.fullmatch(name) or name == _CODE:
        raise _InvalidLine(f"{name!r} is not the name of a set, in capital letters")
    return name


def _read_pairs(text: str) -> dict[str, str]:
    pairs = [pair.split("=") for pair in text.split()]
    wrong = next((pair for pair in pairs if len(pair) != 2 or not all(pair)), None)
    if wrong or not pairs:
        raise _InvalidLine(f"{'='.join(wrong or ())!r} is not a pair, such as went=gone")
    return {written: meant for written, meant in pairs}


def _read_phrase(columns: Sequence[str], named: _Items) -> Phrase:
    """Return the phrase of a line: a pattern, a correction and possibly exceptions.

    Items in square brackets are context; those outside are replaced by the correction.
    """
    if not 2 <= len(columns) <= 3:
        raise _InvalidLine("expected a pattern, a correction and possibly exceptions, separated by TABs")

    # the items, and the numbers of those outside brackets
    names, replaced, inside = [], [], False
    for word in columns[0].split():
        starts, ends = word.startswith("["), word.endswith("]")
        inside = inside or starts
        names.append(word[starts : len(word) - ends])
        if not inside:
            replaced.append(len(names) - 1)
        inside = inside and not ends
    if inside or not replaced or replaced != list(range(replaced[0], replaced[-1] + 1)):
        raise _InvalidLine("expected items in a row outside of brackets")
    items = [named[name] for name in names]
    if all(item.is_open for item in items):
        raise _InvalidLine("expected an item of whole words")
    has_code = any(item.is_code for item in items)
    if any(items[number].is_code for number in replaced):
        raise _InvalidLine(f"{_CODE} outside of brackets: code is never replaced")

    # the correction, its references to words of the text, and its names of pairs
    correction = columns[1].split()
    references = [int(match[1]) for match in map(_REFERENCE.match, correction) if match]
    if not correction or not set(references) <= set(range(1, len(replaced) + 1)):
        raise _InvalidLine(f"{columns[1]!r} is not a correction")
    pairs = {}
    for name in filter(named.pairs.__contains__, correction):
        if names.count(name) != 1:
            raise _InvalidLine(f"{name} in a correction needs one {name} in the pattern")
        if has_code and names.index(name) not in replaced:
            raise _InvalidLine(f"{name} in brackets, in a pattern with {_CODE}")
        pairs[name] = names.index(name), named.pairs[name]

    parts = (part for part in "".join(columns[2:]).split(";") if part.strip())
    exceptions = tuple(_read_exception(part, named) for part in parts)
    words = () if correction == [_NOTHING] else tuple(correction)
    return Phrase(tuple(items), replaced[0], replaced[-1] + 1, words, exceptions, pairs, has_code)


def _read_exception(text: str, named: _Items) -> PhraseException:
    words = text.split()
    if words.count(_PLACE) != 1:
        raise _InvalidLine(f"the exception {text.strip()!r} needs one {_PLACE}")
    at = words.index(_PLACE)
    before, after = words[:at], words[at + 1 :]
    if _CODE in words:
        raise _InvalidLine(f"the exception {text.strip()!r} has {_CODE}, which belongs in patterns only")
    gap_before, gap_after = before[-1:] == [_GAP], after[:1] == [_GAP]
    before, after = before[: len(before) - gap_before], after[gap_after:]
    if not before and not after:
        raise _InvalidLine(f"the exception {text.strip()!r} needs words")
    items_before, items_after = (tuple(named[word] for word in side) for side in (before, after))
    return PhraseException(items_before, items_after, gap_before, gap_after)


@cache  # the lines of a table repeat their words
def _plain_hash(word: str) -> int | None:
    """Return the hash of a word in lower case; None if it is something else."""
    return hash_word(word) if "*" not in word and word == word.lower() else None


def _read_item(text: str, sets: Mapping[str, PhraseItem]) -> PhraseItem:
    """Return one item of a pattern: alternatives between bars, which may be names of sets."""
    if text == _CODE:
        return PhraseItem(frozenset(), is_code=True)
    words = [word for word in text.split("|") if word]
    hashes = {value for word in words if (value := _plain_hash(word)) is not None}
    endings: list[str] = []
    beginnings: list[str] = []
    for word in words:
        if _plain_hash(word) is not None:
            continue
        if word == _BOUND:
            hashes |= {START_HASH, END_HASH}
        elif word[0].isupper() and _NAME.fullmatch(word):
            if word not in sets:  # also code, which is an item of its own
                raise _InvalidLine(f"there is no set {word!r} above")
            hashes |= sets[word].hashes
            endings += sets[word].endings
            beginnings += sets[word].beginnings
        elif word != word.lower():
            raise _InvalidLine(f"{word!r} is not in lower case")
        elif word.startswith("*"):
            endings.append(word[1:])
        elif word.endswith("*") and word[:-1].isalnum():
            beginnings.append(word[:-1])
        else:
            hashes.add(hash_word(word))
    if not hashes and not endings and not beginnings:
        raise _InvalidLine("an item is empty")
    return PhraseItem(frozenset(hashes), tuple(endings), tuple(beginnings))
