"""The spaCy components of this plugin's tasks, which spaCy loads through its entry points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from disambig.api import Group, component_factory
from disambig.api.components import token_extension
from disambig.api.tasks import confusion_set, read_confusion_sets

from .pronoun_it.task import NON_REFERENTIAL, REFERENTIAL


def read_sets(sets: str | Path | Sequence[str | Sequence[str]]) -> tuple[Group, ...]:
    """Return the groups from a file of sets or from a list such as ``["quite/quiet", ["lie", "lay"]]``."""
    if isinstance(sets, (str, Path)):
        return read_confusion_sets(sets)
    return tuple(confusion_set(words) for words in sets)


make_it = component_factory("disambig_it", task="it")
make_preposition = component_factory("disambig_preposition", task="preposition")
make_spelling = component_factory("disambig_spelling", task="spelling", read_sets=read_sets)
make_confused_words = component_factory("disambig_confused_words", task="spelling", read_sets=read_sets)

token_extension("is_referential", task="it", values={REFERENTIAL: True, NON_REFERENTIAL: False})
