"""How a plugin declares its components: one call a task, named in its ``spacy_factories`` entry points.

spaCy loads the factories of every installed package when a pipeline is made, whoever makes it: a
module that declares one must import without fail and load nothing heavy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from spacy.language import Language

from disambig.data.groups import Group
from disambig.errors import UserError
from disambig.model.model import Model
from disambig.model.packs import load
from disambig.spacy.component import Disambiguator

Sets = str | list[str | list[str]]
"""A file of candidate lists, or the lists: ``["quite/quiet", ["lie", "lay"]]``."""
ReadSets = Callable[[str | Path | Sequence[str | Sequence[str]]], Sequence[Group]]


def component_factory(
    name: str, *, task: str, spans_key: str | None = None, read_sets: ReadSets | None = None
) -> Callable[..., Disambiguator]:
    """Register a component factory with spaCy and return it; to be called by the plugin's own module.

    The component's config has ``model`` (a name or directory; by default the installed pack's model
    of `task`), ``spans_key``, ``flags_per_1000``, ``ignore``, ``protect`` and, given `read_sets`, ``sets``.

    Parameters
    ----------
    name : str
        Name of the factory, such as ``"disambig_preposition"``.
    task : str
        What the component decides; it refuses models of other tasks.
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

    def create(
        nlp: Language,
        name: str,
        model: str | None,
        spans_key: str,
        flags_per_1000: float | None,
        ignore: list[str],
        protect: bool,
    ) -> Disambiguator:
        return Disambiguator(
            nlp,
            _model(name, model, task),
            name=name,
            spans_key=spans_key,
            flags_per_1000=flags_per_1000,
            ignore=ignore,
            protect=protect,
        )

    def create_with_sets(
        nlp: Language,
        name: str,
        model: str | None,
        spans_key: str,
        flags_per_1000: float | None,
        ignore: list[str],
        protect: bool,
        sets: Sets,
    ) -> Disambiguator:
        return Disambiguator(
            nlp,
            _with_sets(_model(name, model, task), read_sets(sets) if read_sets and sets else ()),
            name=name,
            spans_key=spans_key,
            flags_per_1000=flags_per_1000,
            ignore=ignore,
            protect=protect,
        )

    chosen: Callable[..., Disambiguator] = create
    if read_sets is not None:
        defaults["sets"] = []
        chosen = create_with_sets
    # `spacy package` makes the distribution of this module a requirement: it has to be the plugin's,
    # where the names in the annotations, by which spaCy checks configs, would not be found any more
    chosen.__annotations__ = get_type_hints(chosen)
    chosen.__module__ = sys._getframe(1).f_globals["__name__"]
    key = f"spans_{defaults['spans_key']}"
    Language.factory(
        name,
        default_config=defaults,
        assigns=["doc.spans", "doc.user_data", "span._.disambig"],
        default_score_weights={f"{key}_f": 1.0, f"{key}_p": 0.0, f"{key}_r": 0.0},
        func=chosen,
    )
    return chosen


def _model(name: str, model: str | None, task: str) -> Model:
    """Load the model of a component.

    Raises
    ------
    UserError
        D404, with the models there are, for a missing one; D501 for a model of another task.
    """
    loaded = load(model or task)
    if loaded.task.name != task:
        raise UserError("D501", name=name, asked=task, model=loaded.name, seen=loaded.task.name)
    return loaded


def _with_sets(model: Model, sets: Sequence[Group]) -> Model:
    """Return `model` with the sets that it does not know already, in whatever order they are written."""
    known = {frozenset(group.candidates): group for group in (*sets[::-1], *model.task.groups)}
    new = [group for group in sets if known[frozenset(group.candidates)] is group]
    return model.with_groups(new) if new else model
