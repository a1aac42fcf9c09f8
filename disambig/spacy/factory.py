"""Factories for plugins: one call per task, declared in the ``spacy_factories`` entry points.

spaCy loads the factories of every installed package whenever a pipeline is made: a module that declares one
must be importable without errors and must not load anything heavy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import get_minor_version_range, split_requirement

from disambig.data import Decisions, Group
from disambig.errors import UserError
from disambig.formatting import add_note
from disambig.models import Model
from disambig.packs import available, require_undamaged_pack
from disambig.registry import entry_points
from disambig.spacy.component import (
    SHARED_DEFAULTS,
    Component,
    Disambiguator,
    check_settings_of_factory,
    load_for_component,
    models_for_writing,
)

if TYPE_CHECKING:
    from typing_extensions import Self

Sets = str | list[str | list[str]]
"""A file of candidate lists, or the lists: ``["quite/quiet", ["lie", "lay"]]``."""
ReadSets = Callable[[str | Path | Sequence[str | Sequence[str]]], Sequence[Group]]


class SetsDisambiguator(Disambiguator):
    """A `Disambiguator` with candidate lists of the user, which a saved pipeline contains.

    Raises D300 for a missing file, by `predict`, `to_bytes` and `to_disk`.

    `sets` (str or list): a file of candidate lists, or the lists. A missing file is an error when the
    component is first used: spaCy creates the component before it reads the lists that a saved pipeline
    contains.
    `read_sets`: converts `sets` into groups.
    `**settings`: see `Disambiguator`.
    """

    sets_file = "sets.json"
    """Name of the file in the component's folder of a saved pipeline."""

    def __init__(
        self, nlp: Language, model: Model, *, sets: Sets, read_sets: ReadSets, **settings: Any
    ) -> None:
        self._base, self._read_sets = model, read_sets
        self._is_file = isinstance(sets, str)
        self._missing: UserError | None = None
        groups: Sequence[Group] = ()
        try:
            groups = read_sets(sets) if sets else ()
        except UserError as problem:
            if problem.code != "D300":
                raise
            add_note(problem, f"`sets` of the component {settings['name']!r}: a file, or a list of sets")
            self._missing = problem
        self._lists = [list(group.candidates) for group in groups]
        super().__init__(nlp, model.with_groups(groups), **settings)

    def predict(self, docs: Sequence[Doc]) -> Decisions:
        """Return the decisions in a batch of Docs without changing the Docs."""
        self._require_file()
        return super().predict(docs)

    def to_bytes(self, *, exclude: Sequence[str] = ()) -> bytes:
        """Return a reference to the model, and the candidate lists."""
        self._require_file()
        data: bytes = srsly.msgpack_dumps({**self.reference(), _SETS: self._lists})
        return data

    def from_bytes(self, data: bytes, *, exclude: Sequence[str] = ()) -> Self:
        """Use the saved candidate lists; warn if the saved reference is to another model."""
        saved = srsly.msgpack_loads(data)
        self._use_lists(saved.pop(_SETS, None))
        self.check(saved)
        return self

    def to_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> None:
        """Write a reference to the model, and the candidate lists of a file."""
        self._require_file()
        super().to_disk(path, exclude=exclude)
        if self._is_file:
            srsly.write_json(Path(path) / self.sets_file, self._lists)

    def from_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> Self:
        """Use the saved candidate lists; warn if the saved reference is to another model."""
        saved = Path(path) / self.sets_file
        if self._is_file and saved.is_file():
            self._use_lists(srsly.read_json(saved))
        super().from_disk(path, exclude=exclude)
        return self

    def _use_lists(self, lists: list[list[str]] | None) -> None:
        if lists is None or not self._is_file:
            return
        self._lists, self._missing = lists, None
        self.model = self._base.with_groups(self._read_sets(lists))

    def _require_file(self) -> None:
        if self._missing is not None:
            raise self._missing


_SETS = "sets"


def component_factory(
    name: str, *, task: str, spans_key: str | None = None, read_sets: ReadSets | None = None
) -> Callable[..., Disambiguator]:
    """Register a component factory with spaCy and return it.

    The component's config has ``model`` (a name or directory; by default the installed pack's model
    of `task`), ``spans_key``, ``flags_per_1000``, ``ignore``, ``protect``, ``detect_language``, ``writing``
    and, given `read_sets`, ``sets``.

    Parameters
    ----------
    name : str
        Name of the factory, such as ``"disambig_preposition"``.
    task : str
        What the component decides; it refuses models of other tasks.
    spans_key : str, optional
        Default key of ``doc.spans``; the task's name if not given.
    read_sets : callable, optional
        Converts the config's ``sets`` into groups, if users may add candidate lists.
    """
    factory = name
    defaults: dict[str, Any] = {"model": None, "spans_key": spans_key or task, **SHARED_DEFAULTS}
    if read_sets is not None:
        defaults["sets"] = []

    def create(
        nlp: Language,
        name: str,
        model: str | None,
        spans_key: str,
        flags_per_1000: float | None,
        ignore: list[str],
        protect: bool,
        detect_language: bool,
        writing: str | None,
        sets: Sets = "",
    ) -> Disambiguator:
        require_distribution(nlp, factory)
        (loaded,) = models_for_writing([load_task_model(name, model, task)], writing, name)
        settings: dict[str, Any] = {
            "name": name,
            "spans_key": spans_key,
            "flags_per_1000": flags_per_1000,
            "ignore": ignore,
            "protect": protect,
            "detect_language": detect_language,
        }
        if read_sets is None:
            return Disambiguator(nlp, loaded, **settings)
        return SetsDisambiguator(nlp, loaded, sets=sets, read_sets=read_sets, **settings)

    _register(name, create, defaults)
    return create


def label_factory(
    name: str,
    *,
    task: str,
    pack: str,
    spans_key: str | None = None,
    requires: Sequence[str] = (),
    falls_back: bool = False,
) -> Callable[..., Disambiguator]:
    """Register a component factory for a task of labels with spaCy and return it.

    The component's config has ``model`` (a name or directory; by default the installed pack's model of
    `task`), ``spans_key`` and ``least_margin``: if the best label leads the next one by less, in log-odds, no
    span is written; by default the model's own margin.

    Parameters
    ----------
    name : str
        Name of the factory, such as ``"disambig_sense"``.
    task : str
        What the component decides; it refuses models of other tasks.
    pack : str
        The distribution with such a model; messages name it if none is installed (D506, D404).
    spans_key : str, optional
        Default key of ``doc.spans``; the task's name if not given.
    requires : sequence of str
        What the component reads, such as ``"token.tag"``, for spaCy's analysis of pipelines.
    falls_back : bool
        Whether there is a setting ``fallback``, false by default: use the most frequent label of groups that
        the model has not learned. The records of such spans have no evidence (``asked`` is 0).
    """
    factory = name

    def create(
        nlp: Language,
        name: str,
        model: str | None,
        spans_key: str,
        least_margin: float | None,
        fallback: bool = False,
    ) -> Disambiguator:
        require_distribution(nlp, factory)
        if model is None and task not in available():
            require_undamaged_pack(task, pack)
            raise UserError("D506", name=name, task=task, pack=pack)
        loaded = load_task_model(name, model, task)
        if least_margin is not None:
            loaded = loaded.with_least_margin(least_margin)
        if fallback:
            loaded = loaded.with_fallback()
        return Disambiguator(nlp, loaded, name=name, spans_key=spans_key, protect=False)

    create.pack = pack  # type: ignore[attr-defined]  # read by `packs.providing_pack`
    defaults: dict[str, Any] = {"model": None, "spans_key": spans_key or task, "least_margin": None}
    _register(name, create, defaults | ({"fallback": False} if falls_back else {}), requires)
    return create


def declared_factory(
    name: str,
    create: Callable[..., Component],
    *,
    defaults: Mapping[str, Any],
    assigns: Sequence[str],
    requires: Sequence[str] = (),
    scores: Mapping[str, float] | None = None,
) -> Callable[..., Component]:
    """Register a factory for a component whose class is the caller's own, and return `create`.

    Parameters
    ----------
    name : str
        Name of the factory, such as ``"disambig_parser"``.
    create : callable
        Creates the component from ``nlp``, ``name`` and the settings. It annotates the settings with ``str``,
        ``float``, ``bool`` or ``list[str]`` (and ``| None``): values of other types are refused (D516).
    defaults : mapping
        The settings with their defaults.
    assigns, requires : sequences of str
        What the component writes and reads, such as ``"doc.spans"``, for spaCy's analysis of pipelines.
    scores : mapping of str to float, optional
        Weights of the scores that the component computes.
    """
    factory = name

    @wraps(create)
    def create_with_requirement(*, nlp: Language, name: str, **settings: Any) -> Component:
        require_distribution(nlp, factory)
        return create(nlp=nlp, name=name, **settings)

    Language.factory(
        name,
        default_config=dict(defaults),
        assigns=list(assigns),
        requires=list(requires),
        default_score_weights=dict(scores or {}),
        func=check_settings_of_factory(create_with_requirement),
    )
    return create


def _register(
    name: str, create: Callable[..., Disambiguator], defaults: dict[str, Any], requires: Sequence[str] = ()
) -> None:
    key = f"spans_{defaults['spans_key']}"
    Language.factory(
        name,
        default_config=defaults,
        requires=list(requires),
        assigns=["doc.spans", "doc.user_data", "span._.disambig"],
        default_score_weights={f"{key}_f": 1.0, f"{key}_p": 0.0, f"{key}_r": 0.0},
        func=check_settings_of_factory(create, defaults),
    )


def load_task_model(name: str, model: str | None, task: str) -> Model:
    """Load the model of a component for one task.

    Raises D404 for a missing model, with the available ones; D501 for a model of another task.
    """
    loaded = load_for_component(model or task, is_configured=bool(model), task=task)
    if loaded.task.name != task:
        raise UserError("D501", name=name, asked=task, model=loaded.name, seen=loaded.task.name)
    return loaded


def require_distribution(nlp: Language, factory: str) -> None:
    """Add the distribution of a factory to the requirements of the pipeline.

    `spacy package` itself only finds distributions that were built with setuptools.
    """
    for entry in entry_points(group="spacy_factories", name=factory):
        if entry.dist is not None:
            requirements = nlp.meta.setdefault("requirements", [])
            if all(split_requirement(other)[0] != entry.dist.name for other in requirements):
                requirements.append(entry.dist.name + (get_minor_version_range(entry.dist.version) or ""))
