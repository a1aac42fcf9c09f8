"""The task *sense* (Popescu 2004), with one model per word, and word inventories from labelled examples.

A word is named with its part of speech, ``"bank.n"``, or without. The letters are n (noun), v (verb), a, j
or s (adjective) and r (adverb); any other name with a full stop is a plain name. If the text has tags, a
form belongs to the word of its part of speech; otherwise to the word that had it most often in training. A
proper name ("Bank" in "Lloyds Bank") is not a noun, unless the form mostly had a capital in training.

For words with too few examples for a model, the most frequent sense is stored and used on request.
"""

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
"""Minimum number of examples, and minimum share of all its occurrences, for a form to be certain."""
_RUN = re.compile(r"[^\W_]+")
_ENDS = '.!?:\n"\u201c([-\u2014\u2022*'


@dataclass(slots=True)
class WordStatistics:
    """Counts of the forms and senses in the examples of a word."""

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
            if form[0].isupper() and not _may_begin_sentence(example):
                self.forms[form.capitalize()] += 1

    def inventory_entry(self, name: str) -> list[Any]:
        """Return the name, forms with their counts, senses, and glosses if there are any."""
        senses = _by_frequency(self.senses)
        glosses = [self.glosses.get(sense, "") for sense in senses] if self.glosses else []
        return [name, {form: self.forms[form] for form in _by_frequency(self.forms)}, senses, glosses]


def _collect_statistics(labelled: Sequence[Labelled], language: str) -> dict[str, WordStatistics]:
    """Return the statistics of all words in the examples by name."""
    named: defaultdict[str, WordStatistics] = defaultdict(WordStatistics)
    stemmed: defaultdict[str, WordStatistics] = defaultdict(WordStatistics)
    stem = _stemmer(language)
    for example in labelled:
        form = example.text[example.start : example.end].strip().lower()
        if not any(map(str.isalnum, form)) or not example.label:
            continue
        (named[example.word] if example.word else stemmed[stem(form)]).add(example)
    words = dict(named)
    for statistics in stemmed.values():
        name = next((form for form in _by_frequency(statistics.forms) if form not in words), "")
        if name:
            words[name] = statistics
    return words


def certain_forms(labelled: Sequence[Labelled]) -> list[str]:
    """Return the forms whose occurrences in the texts of the examples are nearly always labelled.

    They belong to their word regardless of the tag: "least" is an adverb in a dictionary and an adjective in
    the Penn Treebank.
    """
    examples = Counter(example.text[example.start : example.end].strip().lower() for example in labelled)
    frequent = {form: n for form, n in examples.items() if n >= CERTAIN_EXAMPLES}
    if not frequent:
        return []
    texts = dict.fromkeys(example.text for example in labelled)
    occurrences = Counter(word for text in texts for word in _RUN.findall(text.lower()) if word in frequent)
    return sorted(form for form, n in frequent.items() if n >= CERTAIN_SHARE * occurrences[form] > 0)


def _by_frequency(counts: Counter[str]) -> list[str]:
    """Return the counted names, the most frequent first, ties in alphabetical order."""
    return sorted(counts, key=lambda key: (-counts[key], key))


def _may_begin_sentence(example: Labelled) -> bool:
    """Return True if the place may begin a sentence, where a capital does not indicate a name."""
    before = example.text[: example.start][-40:].rstrip(" \t")
    return not before or before[-1] in _ENDS


def _stemmer(language: str) -> Callable[[str], str]:
    """Return a function that maps the forms of a word to one string; outside English each form is a word."""
    if language not in ("", "en"):
        return str
    from snowballstemmer import stemmer

    return stemmer("porter").stemWord


PLURALS = {NOUN: "nouns", VERB: "verbs", ADJECTIVE: "adjectives", ADVERB: "adverbs"}


def mostly_missed_forms(
    forms: Iterable[str],
    labelled: Sequence[Labelled],
    view: TokenView,
    texts: Sequence[str],
    instances: Instances,
) -> list[str]:
    """Return the forms that are not found by their tags at most of their labelled places.

    `instances` are those of the task in `view`, the view of `texts`.
    """
    number = {text: i for i, text in enumerate(texts)}
    starts, documents = view.starts[instances.positions], view.document_indices(instances.positions)
    located = set(zip(documents.tolist(), starts.tolist(), strict=True))
    places: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for example in labelled:
        place = example.text[example.start : example.end]
        form = place.strip().lower()
        start = example.start + len(place) - len(place.lstrip())
        places[form] += 1
        missed[form] += (number[example.text], start) not in located
    return [form for form in forms if 2 * missed[form] > places[form]]


def tag_disagreements(
    groups: Sequence[Group], labelled: Instances, by_tag_only: Instances, by_either: Instances
) -> list[str]:
    """Return notes on words whose labelled places mostly have tags of another part of speech.

    The instances are those found by tags only, and those found by tags or certain forms.
    """
    places_by_tag, places_by_either = (
        set(zip(i.positions.tolist(), i.groups.tolist(), strict=True)) for i in (by_tag_only, by_either)
    )
    notes = []
    for g, group in enumerate(groups):
        lemma, _, letter = group.name.rpartition(".")
        rows = np.flatnonzero(labelled.groups == g)
        missed = [pair for p in labelled.positions[rows].tolist() if (pair := (p, g)) not in places_by_tag]
        if not group.learned or not lemma or letter not in PARTS or 2 * len(missed) <= len(rows):
            continue
        consequence = "it is decided regardless of its tag"
        if not all(pair in places_by_either for pair in missed):
            consequence = "in other text such places get no decision"
        summary = f"{len(missed):,} of {len(rows):,} labelled places are not {PLURALS[PARTS[letter]]}"
        notes.append(f"{group.name}: {summary} by their tags: {consequence}")
    return notes


Word = Sequence[Any]
"""Name, forms (a list, or a mapping to their counts), senses, glosses (none, or one per sense)."""


@dataclass(frozen=True, kw_only=True)
class SenseTask:
    """Decide which of its senses each known word has.

    Parameters
    ----------
    words : sequence of (name, forms, senses, glosses)
        If omitted, the words of the labelled examples; the config saved with the model contains them. Forms
        are in lower case; a form with a capital stands for occurrences inside a sentence. The most frequent
        sense is first.
    certain : sequence of str
        Forms that belong to a word regardless of their tag. If omitted together with `words`, the forms whose
        occurrences in the texts of the examples are nearly all labelled; in training from a config, only
        those of them whose tags differ from the word's part of speech in most examples.
    least : int
        Words with fewer labelled examples are left out.
    learned : int
        Words with fewer labelled examples get no model.
    rest : sequence of str
        The words without a model, for `fallback`. If omitted together with `words`, the words with fewer than
        `learned` examples.
    fallback : bool
        Whether words without a model get their most frequent sense; such decisions are based on no evidence.
    name : str
        Name of the task: letters, digits and underscores.
    language : str
        Code of the language of the texts; empty for any. English words get their regular inflections.

    Raises
    ------
    UserError
        D487 for an invalid name, D495 for an invalid word.
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
                raise UserError("D495", word=repr(word[0]), problem="it occurs twice")
            names.add(word[0])

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group per word; empty if the words are still to be taken from the data."""
        rest = set(self.rest)
        return tuple(
            Group(name, tuple(senses), glosses=tuple(glosses), learned=name not in rest)
            for name, _, senses, glosses in self.words
        )

    @cached_property
    def forms(self) -> WordForms:
        """The index of the forms of the `decided` words."""
        words = [(self.words[number][0], self.words[number][1]) for number in self.decided.tolist()]
        return WordForms.from_words(words, language=self.language, certain=self.certain)

    @cached_property
    def decided(self) -> NDArray[np.int32]:
        """The indices of the words that are decided, those with a model first."""
        learned = np.array([group.learned for group in self.groups], bool)
        rest = np.flatnonzero(~learned) if self.fallback else np.zeros(0, np.int64)
        return np.append(np.flatnonzero(learned), rest).astype(np.int32)

    def with_fallback(self) -> SenseTask:
        """Return the task that also decides words without a model, by their most frequent sense."""
        return replace(self, fallback=True)

    def instances(self, view: TokenView) -> Instances:
        """Return each token that is a form of a word, in text order."""
        positions, words = self.forms.find(view)
        n = len(positions)
        return Instances(positions, np.ones(n, np.int32), self.decided[words], np.full(n, -1, np.int32))

    def learn_settings(
        self, labelled: Sequence[Labelled], tokenisation: Tokenisation | None = None
    ) -> dict[str, Any]:
        """Return the settings that the config leaves open: the words of labelled examples.

        Examples without a word are grouped by the Porter stems of their forms, and such a word is named after
        its most frequent form. With a tokenisation, forms whose tags match their word are not certain:
        ``bank.n`` is only decided at nouns, even if every "bank" in the examples is labelled, while "least",
        an adverb in its dictionary and an adjective for the tagger, is still found.

        Raises D496 if no word has enough examples.
        """
        if self.words:
            return {}
        statistics = _collect_statistics(labelled, self.language)
        words = [
            word.inventory_entry(name)
            for name, word in sorted(statistics.items())
            if word.forms and word.examples >= self.least
        ]
        if not words:
            raise UserError("D496", n=len(labelled), least=self.least)
        rest = [name for name, *_ in words if statistics[name].examples < self.learned]
        learned_forms = {form for name, forms, _, _ in words if name not in rest for form in forms}
        learned_examples = [example for example in labelled if example.word not in rest]
        certain = [form for form in certain_forms(learned_examples) if form in learned_forms]
        if certain and tokenisation is not None:
            texts = list(dict.fromkeys(example.text for example in labelled))
            view = view_of_texts(texts, tokenisation)
            instances = replace(self, words=words, rest=rest, certain=()).instances(view)
            certain = mostly_missed_forms(certain, labelled, view, texts, instances)
        return {"words": words, "certain": certain, **({"rest": rest} if rest else {})}

    def warnings(self, view: TokenView, labelled: Instances) -> list[str]:
        """Return notes on words whose labelled places mostly have tags of another part of speech."""
        with_certain = replace(self, certain=()).instances(view)
        return tag_disagreements(self.groups, labelled, with_certain, self.instances(view))


def _problem(word: Any) -> str:
    """Return why this is not a valid entry of `words`, or an empty string if it is valid."""
    if isinstance(word, str) or not isinstance(word, Sequence) or len(word) != 4:
        return "it is not a list [name, forms, senses, glosses]"
    name, forms, senses, glosses = word
    if not isinstance(name, str) or not name:
        return "its name is empty"
    if not _are_texts(list(forms) if isinstance(forms, Mapping) else forms):
        return "its forms are not a list of words"
    if isinstance(forms, Mapping) and not all(isinstance(n, int) and n >= 0 for n in forms.values()):
        return "the counts of its forms are not whole numbers"
    if not senses or not _are_texts(senses) or len(set(senses)) < len(senses):
        return "its senses are not a list of different names"
    if not _are_texts(glosses, empty=True) or len(glosses) not in (0, len(senses)):
        return "its glosses are not one per sense"
    if any("${" in text for text in (name, *forms, *senses, *glosses)):
        return "it contains ${, which is a reference in a config"
    return ""


def _are_texts(values: Any, *, empty: bool = False) -> bool:
    if isinstance(values, str) or not isinstance(values, Sequence):
        return False
    return all(isinstance(text, str) and (text or empty) for text in values)
