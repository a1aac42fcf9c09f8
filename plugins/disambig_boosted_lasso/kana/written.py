"""Paths through the lattice as lists of candidates: texts, words, parts of speech."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.api.tasks import CandidateLists, CandidateWords

from .characters import katakana_of
from .decoding import Paths
from .lexicon import Lexicon
from .pieces import whole_lines

NOUN, NUMERAL, SIGN = "名詞-普通名詞", "名詞-数詞", "補助記号-一般"
_HIRAGANA, _KATAKANA, _AS_TYPED, _NUMBER = -1, -2, -3, -4


class Writer:
    """Writes paths with the words of a lexicon.

    Parameters
    ----------
    lexicon : Lexicon
    order : array of int32, shape (n_entries,)
        Its entries as paths number them.
    """

    def __init__(self, lexicon: Lexicon, order: NDArray[np.int32]) -> None:
        self._numbers: dict[str, int] = {}
        spelt = [self._numbers.setdefault(text, len(self._numbers)) for text in lexicon.surfaces]
        self._spellings = list(self._numbers)
        self._of_entry = np.array(spelt, np.int32)[order] if len(order) else np.zeros(0, np.int32)
        names = lexicon.tag_names
        self._tag_names = (*names, *(name for name in (NOUN, NUMERAL, SIGN) if name not in names))
        self._tags = lexicon.tags[order].astype(np.int16)

    def lists(self, paths: Paths, counts: Sequence[int], lines: Sequence[str], k: int) -> CandidateLists:
        """Return the candidates of lines, of whose pieces (`counts` a line) the paths are."""
        paths = whole_lines(paths, counts, k)
        ids, tags, spellings = self._words(paths, lines)
        texts = _texts(spellings, ids.tolist(), paths.word_offsets.tolist())
        offsets = paths.offsets
        ranks = np.arange(len(texts)) - np.repeat(offsets[:-1], np.diff(offsets))
        nothing = np.full(len(texts), np.nan, np.float32)
        words = CandidateWords(ids, paths.word_offsets, spellings, tags, self._tag_names)
        found = CandidateLists(offsets, texts, paths.scores, ranks.astype(np.int32), nothing, words=words)
        return found if max(counts, default=1) == 1 else _once(found)

    def _words(
        self, paths: Paths, lines: Sequence[str]
    ) -> tuple[NDArray[np.int32], NDArray[np.int16], list[str]]:
        """Return the words as numbers of spellings, their tags, and the spellings."""
        kinds = paths.words["kind"]
        known = kinds >= 0
        ids, tags = np.zeros(len(kinds), np.int32), np.zeros(len(kinds), np.int16)
        ids[known], tags[known] = self._of_entry[kinds[known]], self._tags[kinds[known]]
        open_words = np.flatnonzero(~known)
        if not len(open_words):
            return ids, tags, self._spellings
        line_of = np.repeat(np.arange(len(lines)), np.diff(paths.offsets))
        beside = np.repeat(line_of, np.diff(paths.word_offsets))[open_words].tolist()
        more: dict[str, int] = {}
        tag = {name: self._tag_names.index(name) for name in (NOUN, NUMERAL, SIGN)}
        columns = (paths.words[name][open_words].tolist() for name in ("kind", "start", "end"))
        for at, line, kind, start, end in zip(open_words.tolist(), beside, *columns, strict=True):
            text = lines[line][start:end]
            if kind == _KATAKANA:
                text = katakana_of(text)
            number = self._numbers.get(text)
            if number is None:
                number = more.setdefault(text, len(self._spellings) + len(more))
            ids[at] = number
            signs = kind == _AS_TYPED and not text[0].isalnum()
            tags[at] = tag[SIGN if signs else NUMERAL if kind == _NUMBER else NOUN]
        return ids, tags, [*self._spellings, *more] if more else self._spellings


def _texts(spellings: Sequence[str], ids: Sequence[int], bounds: Sequence[int]) -> list[str]:
    words = [spellings[number] for number in ids]
    return ["".join(words[a:b]) for a, b in itertools.pairwise(bounds)]


def _once(lists: CandidateLists) -> CandidateLists:
    """Return lists without candidates whose text a better one has."""
    beside = np.repeat(np.arange(len(lists)), np.diff(lists.offsets)).tolist()
    firsts = dict.fromkeys(zip(beside, lists.texts, strict=True))
    if len(firsts) == len(lists.texts):
        return lists
    first = {pair: at for at, pair in reversed(list(enumerate(zip(beside, lists.texts, strict=True))))}
    rows = np.array([first[pair] for pair in firsts])
    sizes = np.bincount([line for line, _ in firsts], minlength=len(lists))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    ranks = (np.arange(len(rows)) - np.repeat(offsets[:-1], sizes)).astype(np.int32)
    words = None if lists.words is None else lists.words.take(rows)
    texts = [lists.texts[row] for row in rows.tolist()]
    return CandidateLists(offsets, texts, lists.scores[rows], ranks, lists.costs[rows], words=words)
