"""Task *sense*: which sense a word has where it stands (Popescu 2004): one model per word.

A word is named with its part of speech, ``"bank.n"``, or without. The letters are n (noun), v (verb), a, j or
s (adjective) and r (adverb); any other name with a full stop is just a name. Where the text has tags, a form
belongs to the word of its part of speech; where it has none, to the word that had it most often in training.
A proper name ("Bank" in "Lloyds Bank") is no noun, unless training showed the form mostly with a capital.

Of words with too few examples for a model the most frequent sense is known, and said where one asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Decides, Group, Instances, Tokenisation, TokenView, UserError
from disambig.api.formats import Labelled
from disambig.api.text import view_of_texts

from .forms import Forms
from .inventory import certain_forms, learned_words, with_fewer
from .tagging import disagreements, mostly_missed

Word = Sequence[Any]
"""Name, forms (a list, or how often each was seen), senses, glosses (none, or one a sense)."""


@dataclass(frozen=True, kw_only=True)
class Senses:
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
    def forms(self) -> Forms:
        """The index of the forms of `decided` words."""
        words = [(self.words[number][0], self.words[number][1]) for number in self.decided.tolist()]
        return Forms.of(words, language=self.language, certain=self.certain)

    @cached_property
    def decided(self) -> NDArray[np.int32]:
        """The numbers of the words that are looked for, those with a model first."""
        learned = np.array([group.learned for group in self.groups], bool)
        rest = np.flatnonzero(~learned) if self.fallback else np.zeros(0, np.int64)
        return np.append(np.flatnonzero(learned), rest).astype(np.int32)

    def with_fallback(self) -> Senses:
        """Return the task that finds words without a model, too."""
        return replace(self, fallback=True)

    def instances(self, view: TokenView) -> Instances:
        """Return each token that is a form of a word, in text order."""
        positions, found = self.forms.found(view)
        n = len(positions)
        return Instances(positions, np.ones(n, np.int32), self.decided[found], np.full(n, -1, np.int32))

    def settings_of(
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
        words = learned_words(labelled, least=self.least, language=self.language)
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

    def remarks(self, view: TokenView, labelled: Instances) -> list[str]:
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
