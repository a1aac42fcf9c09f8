"""Make the English file of words that are confused with each other, from the counted words.

    python corpora/disambig_en/relations.py DATA LOOKUPS

LOOKUPS is a directory with ``en_lemma_lookup.json.gz`` and ``en_lemma_exc.json.gz`` of the package
spacy-lookups-data (MIT; the exceptions are WordNet's). Forms of the same word come from these tables and from
spelling rules; only words that occur in the text are kept. Slips are words that differ by one letter.
`confused.tsv` has pairs chosen by hand, in the same format as the relations file.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import typer
from contexts import counted_words
from disambig_real_words import ENGLISH_RELATIONS, compile_relations, read_relations, write_relations
from disambig_variance_svm import PACK_DOMAINS

MIN_FAMILY = 300
"""Minimum count of words that are related as members of a family (see `_families`)."""
UNRELATED = frozenset(
    tuple(pair.split("/"))
    for pair in (
        "admire/admiral cooper/cooperate curse/cursor custom/customer depart/department engine/engineer "
        "flow/flower forge/forgive state/station tense/tensor universe/university verse/version"
    ).split()
)
"""Words that only look related."""
MIN_WRITTEN, MIN_MEANT, MIN_SHORT = 60, 2000, 1000
"""Minimum counts: of a word written by a slip, of the word meant, and of both if they have 3 letters."""
MAX_FORMS = 14
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_LETTERS = "abcdefghijklmnopqrstuvwxyz'"
_DOUBLED = re.compile(r"[^aeiou][aeiou][bdfgklmnprt]$")
"""Words such as "stop", whose last consonant may be doubled: "stopped"."""
CONFUSED = Path(__file__).parent / "confused.tsv"
"""Pairs that were chosen by hand, in the format of the file of relations."""
ARTICLES = frozenset(("a", "an", "the"))
"""Left out as forms and as slips for each other, because they have a task of their own."""
FUNCTION_WORDS = (
    "is are am was were be",
    "be been being",
    "isn't aren't wasn't weren't",
    "has have had having",
    "hasn't haven't hadn't",
    "do does did done doing",
    "don't doesn't didn't",
    "this these those that",
    "it they them",
    "its their",
    "they their",
    "them their",
    "he his",
    "us our",
    "much many",
)
"""Paradigms of irregular words. They are kept apart: "is" is hardly ever written for "been" or "isn't"."""
PRONOUNS = frozenset("i he she we me us him her they them you".split())
"""Not slips for each other: nobody confuses them, and context does not separate them."""


def relations(data: Path, lookups: Path) -> dict[str, list[tuple[str, ...]]]:
    """Return sets of related words by the kind of their relation."""
    counts = {word: n for word, n in counted_words(data, PACK_DOMAINS) if _WORD.fullmatch(word)}
    chosen = {kind: [tuple(words) for words in sets] for kind, sets in read_relations(CONFUSED).items()}
    return {
        "form": [
            *(tuple(word for word in line.split() if word in counts) for line in FUNCTION_WORDS),
            *_forms(counts, lookups),
        ],
        "derived": sorted({*_derived(counts), *_families(counts), *chosen["derived"]}),
        "possessive": sorted(set(_possessives(counts))),
        "slip": sorted({*_slips(counts), *chosen["slip"]}),
    }


def _forms(counts: Mapping[str, int], lookups: Path) -> Iterator[tuple[str, ...]]:
    """Yield the forms of each lemma, the lemma first."""
    # from the tables, then from the rules of spelling for frequent words
    forms_by_lemma: dict[str, set[str]] = defaultdict(set)
    for form, lemma in _read_json(lookups / "en_lemma_lookup.json.gz").items():
        forms_by_lemma[lemma].update((form, lemma))
    for exceptions in _read_json(lookups / "en_lemma_exc.json.gz").values():
        for form, lemmas in exceptions.items():
            for lemma in lemmas:
                forms_by_lemma[lemma].update((form, lemma))
    for word, n in counts.items():
        if n > 100 and len(word) > 2 and "'" not in word:
            regular = {form for form in _regular_forms(word) if form in counts}
            forms_by_lemma[word] |= regular | ({word} if regular else set())
    seen = set()
    for lemma in sorted(forms_by_lemma.keys() - {"be"}):  # see FUNCTION_WORDS
        counted = (form for form in forms_by_lemma[lemma] - ARTICLES if form in counts)
        forms = tuple(sorted(counted, key=lambda form: (form != lemma, form)))
        if 1 < len(forms) <= MAX_FORMS and frozenset(forms) not in seen:
            seen.add(frozenset(forms))
            yield forms


def _regular_forms(word: str) -> Iterator[str]:
    """Yield the regular forms of a word as a noun and as a verb."""
    if re.search(r"(?:s|x|z|ch|sh)$", word):
        yield word + "es"
    elif re.search(r"[^aeiou]y$", word):
        yield from (word[:-1] + "ies", word[:-1] + "ied")
    else:
        yield word + "s"
    if word.endswith("e"):
        yield from (word + "d", word[:-1] + "ing")
        return
    yield from (word + "ed", word + "ing")
    if _DOUBLED.search(word):
        yield from (word + word[-1] + "ed", word + word[-1] + "ing")


def _derived(counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield words with adverbs, nouns and adjectives derived from them."""
    for word in counts:
        if len(word) < 3 or "'" in word:
            continue
        made = [word + ending for ending in ("ly", "al", "y", "ion", "er", "able", "ment", "ness")]
        stem = word[:-1]
        if word.endswith("le"):
            made.append(stem + "y")
        if word.endswith("y"):
            made.append(stem + "ily")
        if word.endswith("ic"):
            made.append(word + "ally")
        if word.endswith("e"):
            made += [stem + "ion", word + "r", stem + "able"]
        if word.endswith("t"):
            made.append(stem + "ce")
        yield from ((word, other) for other in made if other in counts)


def _families(counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield frequent words with further words derived from them, and forms of one with forms of the other."""
    frequent = {word for word, n in counts.items() if n >= MIN_FAMILY and len(word) > 4 and "'" not in word}
    for word in frequent:
        stem = word[:-1]
        nouns = [word + ending for ending in ("ion", "ment", "ance", "ence", "er", "or")]
        made = [word + ending for ending in ("ful", "ity", "ive", "ous", "ual", "ial", "ize", "ise", "ate")]
        if word.endswith("e"):
            nouns += [stem + "ion", stem + "ation", stem + "ance", stem + "ence", stem + "or", word + "r"]
            made += [stem + ending for ending in ("ity", "ive", "ous", "al")]
        if word.endswith("y"):
            made += [stem + "ize", stem + "ise", stem + "ious"]
        if word.endswith("le"):
            made.append(word[:-2] + "ility")
        if word.endswith("t"):
            made.append(stem + "cy")
        if word.endswith("ate"):
            made.append(word[:-2] + "cy")
        for (
            noun
        ) in nouns:  # "decide" and "decision": also "decided" and "decision", "decides" and "decisions"
            if noun in frequent and (word, noun) not in UNRELATED:
                forms = [form for form in _regular_forms(word) if form.endswith(("ed", "ing"))]
                yield from ((form, noun) for form in (word, *forms) if form in frequent)
                if {word + "s", noun + "s"} <= frequent:
                    yield word + "s", noun + "s"
        yield from ((word, other) for other in made if other in frequent and (word, other) not in UNRELATED)


def _possessives(counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield possessives with the noun and its plural."""
    for word in counts:
        if word.endswith("'s"):
            bare = word[:-2]
            yield from ((other, word) for other in (bare, bare + "s") if other in counts)


def _slips(counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield pairs that differ by an added, missing, changed or swapped letter; apostrophes are letters."""
    for word, n in counts.items():
        if n < MIN_MEANT:
            continue
        for other in _one_letter_away(word):
            short = min(len(word), len(other)) <= 3
            minimum = MIN_SHORT if short else MIN_WRITTEN
            kept_apart = {word, other} <= ARTICLES or {word, other} <= PRONOUNS
            if other != word and counts.get(other, 0) >= minimum and not kept_apart:
                yield (word, other) if word < other else (other, word)


def _one_letter_away(word: str) -> Iterator[str]:
    """Yield what differs from a word by an added, missing, changed or swapped letter."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    for left, right in cuts:
        if right:
            yield left + right[1:]
            yield from (left + letter + right[1:] for letter in _LETTERS)
        yield from (left + letter + right for letter in _LETTERS)
    for (left, right), _ in pairwise(cuts):
        if len(right) > 1:
            yield left + right[1] + right[0] + right[2:]


def _read_json(path: Path) -> dict:
    with gzip.open(path, "rt", encoding="utf8") as file:
        return json.load(file)


def main(data: Path, lookups: Path) -> None:
    """Write the English file of relations."""
    write_relations(ENGLISH_RELATIONS, relations(data, lookups))
    compile_relations(ENGLISH_RELATIONS)


if __name__ == "__main__":
    typer.run(main)
