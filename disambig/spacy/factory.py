"""How a plugin declares its components: one call a task, named in its ``spacy_factories`` entry points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from spacy.language import Language

from disambig.data.groups import Group
from disambig.model.packs import load
from disambig.spacy.component import Disambiguator

Sets = str | Path | Sequence[str | Sequence[str]]
ReadSets = Callable[[Sets], Sequence[Group]]


def component_factory(
    name: str, *, task: str, spans_key: str | None = None, read_sets: ReadSets | None = None
) -> Callable[..., Disambiguator]:
    """Register a component factory with spaCy and return it.

    Parameters
    ----------
    name : str
        Name of the factory, such as ``"disambig_preposition"``.
    task : str
        Model to load where the config names none: that of the installed pack.
    spans_key : str, optional
        Default key of ``doc.spans``; the task's name if not given.
    read_sets : callable, optional
        Where users may add candidate lists: turns the config's ``sets`` into groups.
    """
    defaults: dict[str, Any] = {
        "model": None,
        "spans_key": spans_key or task,
        "flags_per_1000": None,
        "ignore": [],
        "protect": True,
    }
    if read_sets is not None:
        defaults["sets"] = []

    def make(
        nlp: Language,
        name: str,
        model: str | None,
        spans_key: str,
        flags_per_1000: float | None,
        ignore: list[str],
        protect: bool,
        sets: Any,
    ) -> Disambiguator:
        loaded = load(model or task)
        groups = read_sets(sets) if read_sets is not None and sets else ()
        return Disambiguator(
            nlp,
            loaded.with_groups(groups) if groups else loaded,
            name=name,
            spans_key=spans_key,
            flags_per_1000=flags_per_1000,
            ignore=ignore,
            protect=protect,
        )

    if read_sets is None:

        def create(
            nlp: Language,
            name: str,
            model: str | None,
            spans_key: str,
            flags_per_1000: float | None,
            ignore: list[str],
            protect: bool,
        ) -> Disambiguator:
            return make(nlp, name, model, spans_key, flags_per_1000, ignore, protect, None)

        chosen: Callable[..., Disambiguator] = create
    else:

        def create_with_sets(
            nlp: Language,
            name: str,
            model: str | None,
            spans_key: str,
            flags_per_1000: float | None,
            ignore: list[str],
            protect: bool,
            sets: str | list[str | list[str]],
        ) -> Disambiguator:
            return make(nlp, name, model, spans_key, flags_per_1000, ignore, protect, sets)

        chosen = create_with_sets
    weights = {f"spans_{defaults['spans_key']}_{figure}": value for figure, value in _WEIGHTS.items()}
    Language.factory(
        name, default_config=defaults, assigns=["doc.spans"], default_score_weights=weights, func=chosen
    )
    return chosen


_WEIGHTS: dict[str, float | None] = {"f": 1.0, "p": 0.0, "r": 0.0}
