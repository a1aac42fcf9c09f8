"""Sentences of running Japanese text: a line or, in it, what a mark of a sentence's end closes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .characters import full_width, is_native
from .pieces import LONGEST

_SENTENCE = re.compile("[^。！？!?]*[。！？!?]+[」』）)】〉》”’\"']*|[^。！？!?]+")
_SPACE = " \t\u3000"


def sentences_in(lines: Iterable[str]) -> Iterator[str]:
    """Yield the sentences of lines; those without kana and kanji, and very long ones, are left out.

    A closing bracket or quotation mark behind the end belongs to the sentence. Half-width kana become
    full-width.
    """
    for line in lines:
        for found in _SENTENCE.finditer(full_width(line)):
            sentence = found[0].strip(_SPACE)
            if len(sentence) <= LONGEST and is_native(sentence):
                yield sentence
