"""The task *sense* (Popescu 2004): one model per word, and the inventory of words from labelled examples."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Decides, Group, Instances, Tokenisation, TokenView, UserError
from disambig.api.formats import Labelled
from disambig.api.text import view_of_texts

from .forms import ADJECTIVE, ADVERB, NOUN, PARTS, VERB, WordForms

CERTAIN_EXAMPLES, CERTAIN_SHARE = 10, 0.7
"""How many examples, and which share of all its occurrences, make a form certain."""
_RUN = re.compile(r"[^\W_]+")
_ENDS = '.!?:\n"\u201c([-\u2014\u2022*'


@dataclass(slots=True)
class WordStatistics:
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
        senses = _by_frequency(self.senses)
        glosses = [self.glosses.get(sense, "") for sense in senses] if self.glosses else []
        return [name, {form: self.forms[form] for form in _by_frequency(self.forms)}, senses, glosses]


def build_inventory(labelled: Sequence[Labelled], *, least: int, language: str) -> list[list[Any]]:
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
    """Return the names of those of some words (see `build_inventory`) that have fewer examples than `least`."""
    if least <= 1:
        return []
    seen = _words(labelled, language)
    return [word[0] for word in words if seen[word[0]].examples < least]


def _words(labelled: Sequence[Labelled], language: str) -> dict[str, WordStatistics]:
    """Return all words of examples, counted, by their names."""
    named: defaultdict[str, WordStatistics] = defaultdict(WordStatistics)
    stemmed: defaultdict[str, WordStatistics] = defaultdict(WordStatistics)
    stem = _stemmer(language)
    for example in labelled:
        form = example.text[example.start : example.end].strip().lower()
        if not any(map(str.isalnum, form)) or not example.label:
            continue
        (named[example.word] if example.word else stemmed[stem(form)]).add(example)
    words = dict(named)
    for seen in stemmed.values():
        name = next((form for form in _by_frequency(seen.forms) if form not in words), "")
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


def _by_frequency(counts: Counter[str]) -> list[str]:
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


PLURALS = {NOUN: "nouns", VERB: "verbs", ADJECTIVE: "adjectives", ADVERB: "adverbs"}


def mostly_missed(
    forms: Iterable[str], labelled: Sequence[Labelled], view: TokenView, texts: Sequence[str], own: Instances
) -> list[str]:
    """Return those of some forms that are not found, by their tags, at most of their labelled places.

    Parameters
    ----------
    view : TokenView
        Of `texts`.
    own : Instances
        What is found in the view.
    """
    number = {text: i for i, text in enumerate(texts)}
    starts, documents = view.starts[own.positions], view.document_indices(own.positions)
    found = set(zip(documents.tolist(), starts.tolist(), strict=True))
    places: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for example in labelled:
        place = example.text[example.start : example.end]
        form = place.strip().lower()
        begin = example.start + len(place) - len(place.lstrip())
        places[form] += 1
        missed[form] += (number[example.text], begin) not in found
    return [form for form in forms if 2 * missed[form] > places[form]]


def disagreements(
    groups: Sequence[Group], labelled: Instances, own: Instances, certain: Instances
) -> list[str]:
    """Say of which words most labelled places have tags of another part of speech, and what that means.

    Parameters
    ----------
    labelled : Instances
    own, certain : Instances
        What is found by the tags, and what is found with the forms that need none.
    """
    by_tag, at_all = (set(zip(i.positions.tolist(), i.groups.tolist(), strict=True)) for i in (own, certain))
    notes = []
    for g, group in enumerate(groups):
        lemma, _, letter = group.name.rpartition(".")
        rows = np.flatnonzero(labelled.groups == g)
        missed = [pair for p in labelled.positions[rows].tolist() if (pair := (p, g)) not in by_tag]
        if not group.learned or not lemma or letter not in PARTS or 2 * len(missed) <= len(rows):
            continue
        then = "it is decided whatever its tag is"
        if not all(pair in at_all for pair in missed):
            then = "in other text such places get no decision"
        said = f"{len(missed):,} of {len(rows):,} labelled places are no {PLURALS[PARTS[letter]]}"
        notes.append(f"{group.name}: {said} by their tags: {then}")
    return notes


Word = Sequence[Any]
"""Name, forms (a list, or how often each was seen), senses, glosses (none, or one a sense)."""


@dataclass(frozen=True, kw_only=True)
class SenseTask:
    """Decide which of its senses each known word has.

    Parameters
    ----------
    words : sequence of (name, forms, senses, glosses)
        Left out, they are those of the labelled examples; the config saved with the model names them. Forms
        are in lower case; one with a capital stands for those inside a sentence. Senses are the most frequent
        first.
    certain : sequence of str
        Forms that belong to a word whatever their tag is. Left out together with `words`, they are those
        whose occurrences in the texts of the examples are nearly all labelled; in training from a config
        those of them whose tags, in most examples, are not of the word's part of speech.
    least : int
        Words with fewer labelled examples are left out.
    learned : int
        Those with fewer get no model.
    rest : sequence of str
        The words that have none, for `fallback`; left out together with `words`, they are those with fewer
        than `learned` examples.
    fallback : bool
        Whether the most frequent sense of these is said; such decisions have asked for no evidence.
    name : str
        Name of the task: letters, digits and underscores.
    language : str
        Code of the language of the texts; empty for any. English words get their regular inflections.

    Raises
    ------
    UserError
        D487 for a name that is none, D495 for a word that is none.
    """

    words: Sequence[Word] = ()
    certain: Sequence[str] = ()
    least: int = 1
    learned: int = 1
    rest: Sequence[str] = ()
    fallback: bool = False
    name: str = "sense"
    language: str = "en"
    decides: ClassVar[Decides] = Decides("tokens", "labels")

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise UserError("D487", name=self.name)
        names = set()
        for word in self.words:
            if problem := _problem(word):
                raise UserError("D495", word=repr(word)[:80], problem=problem)
            if word[0] in names:
                raise UserError("D495", word=repr(word[0]), problem="it stands there twice")
            names.add(word[0])

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group a word; none where the words are still to come from the data."""
        rest = set(self.rest)
        return tuple(
            Group(name, tuple(senses), glosses=tuple(glosses), learned=name not in rest)
            for name, _, senses, glosses in self.words
        )

    @cached_property
    def forms(self) -> WordForms:
        """The index of the forms of `decided` words."""
        words = [(self.words[number][0], self.words[number][1]) for number in self.decided.tolist()]
        return WordForms.from_words(words, language=self.language, certain=self.certain)

    @cached_property
    def decided(self) -> NDArray[np.int32]:
        """The numbers of the words that are looked for, those with a model first."""
        learned = np.array([group.learned for group in self.groups], bool)
        rest = np.flatnonzero(~learned) if self.fallback else np.zeros(0, np.int64)
        return np.append(np.flatnonzero(learned), rest).astype(np.int32)

    def with_fallback(self) -> SenseTask:
        """Return the task that finds words without a model, too."""
        return replace(self, fallback=True)

    def instances(self, view: TokenView) -> Instances:
        """Return each token that is a form of a word, in text order."""
        positions, found = self.forms.find(view)
        n = len(positions)
        return Instances(positions, np.ones(n, np.int32), self.decided[found], np.full(n, -1, np.int32))

    def learn_settings(
        self, labelled: Sequence[Labelled], tokenisation: Tokenisation | None = None
    ) -> dict[str, Any]:
        """Return the settings that the config leaves open: the words of labelled examples.

        Examples that name no word are put together by the Porter stems of their forms. With a tokenisation,
        forms whose tags suit their word are not certain: ``bank.n`` is decided at nouns alone, however often
        each "bank" of the examples is labelled, while "least", an adverb for its dictionary and an adjective
        for the tagger, still is found.

        Raises
        ------
        UserError
            D496 where no word has examples enough.
        """
        if self.words:
            return {}
        words = build_inventory(labelled, least=self.least, language=self.language)
        if not words:
            raise UserError("D496", n=len(labelled), least=self.least)
        rest = with_fewer(labelled, words, self.learned, language=self.language)
        known = {form for name, forms, _, _ in words if name not in rest for form in forms}
        of_known = [example for example in labelled if example.word not in rest]
        certain = [form for form in certain_forms(of_known) if form in known]
        if certain and tokenisation is not None:
            texts = list(dict.fromkeys(example.text for example in labelled))
            view = view_of_texts(texts, tokenisation)
            own = replace(self, words=words, rest=rest, certain=()).instances(view)
            certain = mostly_missed(certain, labelled, view, texts, own)
        return {"words": words, "certain": certain, **({"rest": rest} if rest else {})}

    def warnings(self, view: TokenView, labelled: Instances) -> list[str]:
        """Say of which words most labelled places have tags of another part of speech."""
        own = replace(self, certain=()).instances(view)
        return disagreements(self.groups, labelled, own, self.instances(view))


def _problem(word: Any) -> str:
    """Say why this is no word with its forms and senses, empty if it is one."""
    if isinstance(word, str) or not isinstance(word, Sequence) or len(word) != 4:
        return "it is no list [name, forms, senses, glosses]"
    name, forms, senses, glosses = word
    if not isinstance(name, str) or not name:
        return "its name is empty"
    if not _are_texts(list(forms) if isinstance(forms, Mapping) else forms):
        return "its forms are no list of words"
    if isinstance(forms, Mapping) and not all(isinstance(n, int) and n >= 0 for n in forms.values()):
        return "how often its forms were seen is no whole number"
    if not senses or not _are_texts(senses) or len(set(senses)) < len(senses):
        return "its senses are no list of different names"
    if not _are_texts(glosses, empty=True) or len(glosses) not in (0, len(senses)):
        return "its glosses are neither none nor one for each sense"
    if any("${" in text for text in (name, *forms, *senses, *glosses)):
        return "it has ${ in it, which a config takes for a reference"
    return ""


def _are_texts(given: Any, *, empty: bool = False) -> bool:
    if isinstance(given, str) or not isinstance(given, Sequence):
        return False
    return all(isinstance(each, str) and (each or empty) for each in given)
