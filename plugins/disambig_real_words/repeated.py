"""When a repeated word is a mistake: a table of the words that may stand twice, and beside which words.

A word that is written twice is nearly always a mistake ("the the"), whatever the rest of the sentence is. Few
words are repeated on purpose ("very very", "had had", "log in in a hurry"), and for these there are rules. So
the rules decide, and the model of words in context decides only the words of the kind ``leave``.

A line of the table has a kind, words, and for some kinds a second list of words, separated by TABs. Lines
that begin with ``#`` are comments. The first kind that applies counts, in this order:

``wrong_after``, ``wrong_before``
    Words whose repetition is a mistake after, or before, one of the second list.
``emphasis``
    Words that are repeated for emphasis, as an interjection or as a name.
``name``
    Words that are a name if both begin with a capital and one of the second list follows.
``right_after``, ``right_before``
    Words whose repetition is right after, or before, one of the second list.
``right_clause``
    Words that end a clause that is itself a subject: "what it does does not matter". It begins with a word of
    the second list, at the beginning of a sentence or after a conjunction or a comma, and at least one word
    stands between.
``right_relative``
    Words that end a clause about a word of the second list: "the person she was was gone". It begins with a
    pronoun.
``leave``
    Words that the model of words in context decides.

A letter that stands for itself ("x x x", "press d d") is right without a line of the table. It is a word only
in "a a", unless other letters or signs of formulas are beside it, and in "I I" before a word of
``wrong_before``. A word that stands four times and more is filler text.
Repetitions of all other words are mistakes. In the second list, ``S`` is the beginning of a sentence.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import TokenView, UserError
from disambig.api.arrays import Ints
from disambig.api.text import END_HASH, HIDDEN, START_HASH, hash_word

from .relations import read_table_lines

ENGLISH_REPEATED = Path(__file__).parent / "languages" / "en.repeated.tsv"
RIGHT, UNDECIDED, WRONG = -1, 0, 1
"""What the table says about a repetition."""
_ALONE = ("emphasis", "leave")
_WITH_OTHERS = ("name", "wrong_after", "wrong_before", "right_after", "right_before")
_KINDS = (*_ALONE, *_WITH_OTHERS, "right_clause", "right_relative")
_START = "S"
_CLAUSE_ENDS = frozenset(map(hash_word, ";:()"))
_BEGINS_CLAUSE = frozenset(
    (START_HASH, *map(hash_word, ", that and but or so if because think know".split()))
)
"""What stands before the first word of a clause."""
_SUBJECTS = frozenset(map(hash_word, "i you he she it we they there who that which".split()))
_OBJECTS = frozenset(map(hash_word, "it them him her me us you this that".split()))
_CODE_BEFORE, _CODE_AFTER = (frozenset(map(hash_word, signs)) for signs in ("=]}|\\#", "={|\\#"))
_ARTICLE, _PRONOUN = hash_word("a"), hash_word("i")
_LETTER_OR_SIGN = re.compile(r"[^\W\d_]|[-+*/=<>^|&\\]+")
"""A single letter or a sign of a formula; beside "a a" it shows that the letters stand for themselves."""
_FILLER_LENGTH = 4
"""Number of times from which a word that is repeated is filler text and no mistake."""
_LONGEST_CLAUSE = 12
"""Maximum number of words between the first word of a clause and the repetition that ends it."""
_MAX_BEFORE = _LONGEST_CLAUSE + 4
"""Number of words before the second one of a repetition on which its judgement depends, or more."""

_Pairs = dict[int, frozenset[int]]
"""For each word the words of the second list, as hashes."""


@dataclass(frozen=True, eq=False)
class RepeatedWords:
    """The words that may stand twice."""

    # hashes of the words of the kinds without a second list
    alone: dict[str, frozenset[int]] = field(default_factory=dict)
    # for the other kinds, hashes of the words of the second list by the hash of the repeated word
    beside: dict[str, _Pairs] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.alone.get("emphasis", ())) + sum(map(len, self.beside.values()))

    def judge(self, view: TokenView, positions: Ints) -> NDArray[np.int8]:
        """Return whether each repetition is `RIGHT`, `WRONG` or `UNDECIDED`, shape ``(n,)``.

        `positions` are those of the second word of each repetition.
        """
        results = np.zeros(len(positions), np.int8)
        first_tokens = view.sentences[view.sentence_indices(positions)].tolist()
        for row, (at, first) in enumerate(zip(positions.tolist(), first_tokens, strict=True)):
            is_letter = view.ends[at] - view.starts[at] == 1
            if (is_letter and not self._is_one_letter_word(view, first, at)) or self._is_filler(view, at):
                results[row] = RIGHT
                continue
            text = view.document_text(at)
            capitals = [text[view.starts[i]].isupper() for i in (at - 1, at)]
            is_pronoun = all(capitals) and int(view.hashes[at]) == _PRONOUN
            is_name = all(capitals) and not is_pronoun and (at - 2 != first or self._is_name(view, at))
            if is_name or (is_enclosed(view, at - 1) and is_enclosed(view, at)):
                results[row] = RIGHT
            elif capitals == [False, True] or (
                capitals == [True, False]
                and at - 2 != first
                and text[view.starts[at - 1] - 1] != HIDDEN  # the text of a link may begin with a capital
            ):
                results[row] = UNDECIDED  # "the type String string", or a name
            else:
                start = max(first, at - _MAX_BEFORE)  # a text without punctuation is one sentence
                results[row] = self._judge_words(view.hashes[start : at + 2].tolist())
        return results

    def _is_filler(self, view: TokenView, at: int) -> bool:
        """Return True if a word, the second of a repetition at a position, stands at least four times."""
        low, high = at - _FILLER_LENGTH + 1, at + _FILLER_LENGTH
        same = (view.hashes[max(low, 0) : high] == view.hashes[at]).tolist()
        return any(is_same and len(list(run)) >= _FILLER_LENGTH for is_same, run in groupby(same))

    def _is_one_letter_word(self, view: TokenView, first: int, at: int) -> bool:
        """Return True if a repeated letter, the second at a position, is "a" or "I" as in running text.

        `first` is the position of the token that begins the sentence.
        """
        word, after = int(view.hashes[at]), int(view.hashes[at + 1])
        if word == _PRONOUN:
            return at - 2 == first or after in self._others("wrong_before", word)
        text = view.document_text(at)
        beside = [text[view.starts[i] : view.ends[i]] for i in (at - 2, at + 1) if i > first]
        return word == _ARTICLE and not any(_LETTER_OR_SIGN.fullmatch(other) for other in beside)

    def _is_name(self, view: TokenView, at: int) -> bool:
        return int(view.hashes[at + 1]) in self.beside.get("name", {}).get(int(view.hashes[at]), ())

    def _judge_words(self, words: list[int]) -> int:
        """Return the judgement of a repetition from the words of its sentence up to the one after it.

        Words further away than `_MAX_BEFORE` are not needed.
        """
        *before, _, word, after = words
        if before[-1] in _CODE_BEFORE or after in _CODE_AFTER:
            return RIGHT
        if before[-1] == START_HASH and after == END_HASH:
            return RIGHT  # a name, or a mention of the mistake
        if before[-1] in self._others("wrong_after", word) or after in self._others("wrong_before", word):
            return WRONG
        if word in self.alone.get("emphasis", ()):
            return RIGHT
        verbs = self._others("right_after", word)
        if before[-1] in verbs or (before[-1] in _OBJECTS and verbs.intersection(before[-2:-1])):
            return RIGHT  # "log in in the morning", "put it on on Monday"
        if after in self._others("right_before", word) or self._ends_clause(before, word):
            return RIGHT
        return UNDECIDED if word in self.alone.get("leave", ()) else WRONG

    def _ends_clause(self, before: list[int], word: int) -> bool:
        """Return True if a word ends a clause, and its repetition goes on with the clause around that one."""
        openers, heads = self._others("right_clause", word), self._others("right_relative", word)
        for at in range(len(before) - 2, max(len(before) - 2 - _LONGEST_CLAUSE, -1), -1):
            if before[at] in _CLAUSE_ENDS:
                return False
            starts = at == 0 or before[at - 1] in _BEGINS_CLAUSE
            if (before[at] in openers and starts) or (before[at] in heads and before[at + 1] in _SUBJECTS):
                return True
        return False

    def _others(self, kind: str, word: int) -> frozenset[int]:
        return self.beside.get(kind, {}).get(word, frozenset())


def is_enclosed(view: TokenView, position: int, last: int | None = None) -> bool:
    """Return True if markup encloses a word alone, or the words up to another one, as in ``the *word*``."""
    text = view.document_text(position)
    start, end = int(view.starts[position]), int(view.ends[position if last is None else last])
    return text[start - 1 : start] == HIDDEN and text[end : end + 1] == HIDDEN


@lru_cache(maxsize=8)
def read_repeated(path: str | Path) -> RepeatedWords:
    """Return the table in a file; it is read once.

    Raises D995 for a file that cannot be read, or for an invalid line, with its number.
    """
    alone: dict[str, set[int]] = defaultdict(set)
    beside: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for number, line in read_table_lines(path):
        kind, *columns = line.split("\t")
        if len(columns) != 1 + (kind not in _ALONE) or kind not in _KINDS:
            wrong = f"line {number}: expected a kind ({', '.join(_KINDS)}) and one list of words, or two"
            raise UserError("D995", path=path, problem=wrong)
        words = [hash_word(word) for word in columns[0].split()]
        if kind in _ALONE:
            alone[kind].update(words)
            continue
        others = {START_HASH if word == _START else hash_word(word) for word in columns[1].split()}
        for word in words:
            beside[kind][word] |= others
    return RepeatedWords(
        {kind: frozenset(words) for kind, words in alone.items()},
        {kind: {word: frozenset(others) for word, others in pairs.items()} for kind, pairs in beside.items()},
    )
