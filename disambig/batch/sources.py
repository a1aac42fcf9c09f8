"""Where a job's annotator comes from: small values that can go to a worker, which loads the models."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from disambig.errors import UserError

if TYPE_CHECKING:
    from disambig.data.decisions import Decisions
    from disambig.data.groups import Group
    from disambig.model.model import Model

Annotate = Callable[[Sequence[str]], "list[Decisions]"]
"""Texts in, one `Decisions` a task out, over the whole batch."""


@dataclass(frozen=True, slots=True, eq=False)
class Annotator:
    """Loaded models as an `Annotate`.

    Attributes
    ----------
    models : tuple of Model
        In the order of what a call returns.
    rates : mapping from task to float
        The rates of those that have not their own.
    ignore : tuple of str
        Words that are left alone.
    """

    models: tuple[Model, ...]
    rates: Mapping[str, float]
    ignore: tuple[str, ...] = ()

    def __call__(self, texts: Sequence[str]) -> list[Decisions]:
        """Decide in every text with every model (`disambig.model.annotate.annotate`)."""
        from disambig.model.annotate import annotate

        return annotate(texts, self.models, flags_per_1000=self.rates, ignore=self.ignore)


class Source(Protocol):
    """What a worker needs to make its `Annotate`; sent to other processes."""

    def load(self) -> Annotate:
        """Load the models and return the function that annotates texts."""
        ...

    def language(self) -> str:
        """Return the language of the texts, such as ``"en"``."""
        ...

    def can_flag(self) -> bool:
        """Tell whether any of the models flags anything."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return plain values that change whenever the decisions might: kept in a job's manifest."""
        ...


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Installed models and model directories, with what a user sets at run time.

    Attributes
    ----------
    models : tuple of str
        Names or directories; empty: the installed models that are for all texts.
    flags_per_1000 : float or mapping from task to float, optional
        Of all models together, or of some tasks; by default each model's own (see `disambig.model.rates`).
    ignore : tuple of str
        Words that are left alone.
    sets : tuple of Group
        Extra confusion sets, for the models that take any.
    """

    models: tuple[str, ...] = ()
    flags_per_1000: float | Mapping[str, float] | None = None
    ignore: tuple[str, ...] = ()
    sets: tuple[Group, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Return the names of the models; if none was named, the installed ones that are for all texts.

        Raises
        ------
        UserError
            D323 where none is installed.
        """
        from disambig.packs import usual

        names = self.models or usual()
        if not names:
            raise UserError("D323")
        return names

    def load_models(self) -> list[Model]:
        """Load the models.

        Raises
        ------
        UserError
            D4xx for an unknown name or a damaged model; D322 if no model takes extra sets.
        """
        from disambig.fields import decides
        from disambig.model.loading import load

        models = [load(name) for name in self.names()]
        for model in models:
            if decides(model.task).where == "items":
                raise UserError("D338", model=model.name)
        return with_sets(models, self.sets) if self.sets else models

    def load(self) -> Annotate:
        """Load the models and return the function that annotates texts.

        Raises
        ------
        UserError
            As for `load_models`; D333 for two models of one task, D401 and D950 for impossible rates.
        """
        models = self.load_models()
        _check_tasks(self.names(), models)
        return self._annotate(models)

    def correcting_models(self) -> list[Model]:
        """Load the models that correct words; those that choose labels are left out.

        Raises
        ------
        UserError
            As for `load_models`; D644 where a model that was named chooses labels.
        """
        from disambig.types import Flags

        models = []
        for model in self.load_models():
            if isinstance(model.judge, Flags):
                models.append(model)
            elif self.models:
                raise UserError("D644", name=model.name, task=model.task.name)
        return models

    def load_correcting(self) -> Annotate:
        """Load the `correcting_models` and return the function that annotates texts."""
        return self._annotate(self.correcting_models())

    def _annotate(self, models: Sequence[Model]) -> Annotate:
        from disambig.model.rates import rates_of

        return Annotator(tuple(models), rates_of(models, self.flags_per_1000), self.ignore)

    def language(self) -> str:
        """Return the language of the first model."""
        from disambig.model.loading import load

        return str(getattr(load(self.names()[0]), "language", "en"))

    def can_flag(self) -> bool:
        """Tell whether any of the models corrects words: others choose labels and flag nothing."""
        from disambig.types import Flags

        return any(isinstance(model.judge, Flags) for model in self.load_models())

    def describe(self) -> dict[str, Any]:
        """Return names, versions and contents of the models, and all settings.

        Raises
        ------
        UserError
            As for `load`.
        """
        from disambig.model.loading import load
        from disambig.model.rates import rates_of
        from disambig.packs import available

        installed = available()
        names, models = self.names(), {}
        loaded = [load(name) for name in names]
        _check_tasks(names, loaded)
        for name, model in zip(names, loaded, strict=True):
            directory = Path(installed.get(name, name))
            models[name] = {"model": f"{model.name} {model.version}", "contents": _digest(directory)}
        return {
            "models": models,
            "flags_per_1000": rates_of(loaded, self.flags_per_1000) or None,
            "ignore": sorted(self.ignore),
            "sets": [list(group.candidates) for group in self.sets],
        }


def with_sets(models: Sequence[Model], sets: Sequence[Group]) -> list[Model]:
    """Give `sets` to the models whose task takes extra groups (spelling).

    Raises
    ------
    UserError
        D322 where none takes any.
    """
    from disambig.types import Grows

    takes = [isinstance(model.task, Grows) for model in models]
    if not any(takes):
        raise UserError("D322", models=", ".join(model.name for model in models))
    return [model.with_groups(sets) if wanted else model for model, wanted in zip(models, takes, strict=True)]


def _check_tasks(names: Sequence[str], models: Sequence[Model]) -> None:
    """Make sure that the task of a decision says which model took it."""
    first: dict[str, str] = {}
    for name, model in zip(names, models, strict=True):
        task = model.task.name
        if task in first:
            raise UserError("D333", first=first[task], second=name, task=task)
        first[task] = name


def _digest(directory: Path) -> str:
    """Return a hash over the names and contents of a model's files; "" where there is no directory."""
    if not directory.is_dir():
        return ""
    whole = hashlib.sha256()
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        digest = hashlib.sha256(path.read_bytes()).digest()
        whole.update(path.relative_to(directory).as_posix().encode() + b"\0" + digest)
    return whole.hexdigest()
