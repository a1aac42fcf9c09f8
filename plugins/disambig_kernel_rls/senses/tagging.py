"""How far the tags of labelled places agree with the parts of speech of their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from disambig.api import Group, Instances, TokenView
from disambig.api.formats import Labelled

from .forms import ADJECTIVE, ADVERB, NOUN, PARTS, VERB

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
    starts, documents = view.starts[own.positions], view.document_of(own.positions)
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
