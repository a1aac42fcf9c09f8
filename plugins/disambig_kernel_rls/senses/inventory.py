"""What labelled examples say of words: their forms, senses and glosses, each the most frequent first."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from disambig.api.formats import Labelled

CERTAIN_EXAMPLES, CERTAIN_SHARE = 10, 0.7
"""How many examples, and which share of all its occurrences, make a form certain."""
_RUN = re.compile(r"[^\W_]+")
_ENDS = '.!?:\n"\u201c([-\u2014\u2022*'


@dataclass(slots=True)
class Seen:
    """The examples of a word, counted."""

    forms: Counter[str] = field(default_factory=Counter)
    senses: Counter[str] = field(default_factory=Counter)
    glosses: dict[str, str] = field(default_factory=dict)
    examples: int = 0

    def add(self, example: Labelled) -> None:
        """Count an example."""
        form = example.text[example.start : example.end].strip()
        self.examples += 1
        self.senses.update([example.label, *example.also])
        if example.gloss:
            self.glosses.setdefault(example.label, example.gloss)
        if form and not any(map(str.isspace, form)):
            self.forms[form.lower()] += 1
            if form[0].isupper() and not _begins(example):
                self.forms[form.capitalize()] += 1

    def word(self, name: str) -> list[Any]:
        """Return name, forms with their counts, senses, and glosses if there are any."""
        senses = _ordered(self.senses)
        glosses = [self.glosses.get(sense, "") for sense in senses] if self.glosses else []
        return [name, {form: self.forms[form] for form in _ordered(self.forms)}, senses, glosses]


def learned_words(labelled: Sequence[Labelled], *, least: int, language: str) -> list[list[Any]]:
    """Return the words that have `least` examples at least and a form without blanks, by their names.

    Examples without a word are put together by the stems of their forms; such a word is named by its most
    frequent form.
    """
    kept = {
        name: seen
        for name, seen in _words(labelled, language).items()
        if seen.forms and seen.examples >= least
    }
    return [kept[name].word(name) for name in sorted(kept)]


def with_fewer(
    labelled: Sequence[Labelled], words: Sequence[Sequence[Any]], least: int, *, language: str
) -> list[str]:
    """Return the names of those of some words (see `learned_words`) that have fewer examples than `least`."""
    if least <= 1:
        return []
    seen = _words(labelled, language)
    return [word[0] for word in words if seen[word[0]].examples < least]


def _words(labelled: Sequence[Labelled], language: str) -> dict[str, Seen]:
    """Return all words of examples, counted, by their names."""
    named: defaultdict[str, Seen] = defaultdict(Seen)
    stemmed: defaultdict[str, Seen] = defaultdict(Seen)
    stem = _stemmer(language)
    for example in labelled:
        form = example.text[example.start : example.end].strip().lower()
        if not any(map(str.isalnum, form)) or not example.label:
            continue
        (named[example.word] if example.word else stemmed[stem(form)]).add(example)
    words = dict(named)
    for seen in stemmed.values():
        name = next((form for form in _ordered(seen.forms) if form not in words), "")
        if name:
            words[name] = seen
    return words


def certain_forms(labelled: Sequence[Labelled]) -> list[str]:
    """Return the forms that are nearly always labelled where they stand in the texts of the examples.

    They belong to their word whatever their tag: "least" is an adverb for a dictionary and an adjective for
    the Penn Treebank.
    """
    examples = Counter(example.text[example.start : example.end].strip().lower() for example in labelled)
    often = {form: n for form, n in examples.items() if n >= CERTAIN_EXAMPLES}
    if not often:
        return []
    texts = dict.fromkeys(example.text for example in labelled)
    there = Counter(word for text in texts for word in _RUN.findall(text.lower()) if word in often)
    return sorted(form for form, n in often.items() if n >= CERTAIN_SHARE * there[form] > 0)


def _ordered(counts: Counter[str]) -> list[str]:
    """Return what was counted, the most frequent first, equal ones by their names."""
    return sorted(counts, key=lambda each: (-counts[each], each))


def _begins(example: Labelled) -> bool:
    """Tell whether the place may begin a sentence, so that a capital says nothing."""
    before = example.text[: example.start][-40:].rstrip(" \t")
    return not before or before[-1] in _ENDS


def _stemmer(language: str) -> Callable[[str], str]:
    """Return what puts the forms of a word together; of languages but English each form is a word."""
    if language not in ("", "en"):
        return str
    from snowballstemmer import stemmer

    return stemmer("porter").stemWord
