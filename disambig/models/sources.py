"""Where models come from: names and settings, from which each process loads its models."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from disambig.counts import CountTable
from disambig.errors import UserError, nearest_first
from disambig.models.annotation import ModelSet, task_rates, unused_writing, with_writing
from disambig.models.model import Model
from disambig.models.storage import load, read_precision
from disambig.types import Extensible, RaisesFlags, decides

if TYPE_CHECKING:
    from disambig.data import Decisions, Group, PrecisionTable


Annotate = Callable[[Sequence[str]], "list[Decisions]"]
"""Function that maps a batch of texts to one `Decisions` per task."""


@dataclass(frozen=True, slots=True, eq=False)
class WrappedAnnotator:
    """An `Annotate` function around another one, with the languages of its models."""

    call: Annotate
    languages: tuple[str, ...]  # see `ModelSet.languages`

    def __call__(self, texts: Sequence[str]) -> list[Decisions]:
        """Annotate every text."""
        return self.call(texts)


def annotator_languages(annotate: Annotate) -> tuple[str, ...]:
    """Return the languages outside of which paragraphs are left alone; empty if all are annotated."""
    languages: tuple[str, ...] = getattr(annotate, "languages", ())
    return languages


def wrap_annotator(call: Annotate, annotate: Annotate) -> Annotate:
    """Return `call`, which runs `annotate`, with the languages of `annotate`."""
    return WrappedAnnotator(call, annotator_languages(annotate))


class AnnotatorSource(Protocol):
    """A picklable description from which each worker creates its `Annotate` function."""

    def load(self) -> Annotate:
        """Load the models and return the function that annotates texts."""
        ...

    def language(self) -> str:
        """Return the language of the texts, such as ``"en"``."""
        ...

    def can_flag(self) -> bool:
        """Return True if any of the models can flag words."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return plain values that change whenever the decisions could; stored in the manifest of a job."""
        ...


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Installed models and model directories, with the settings of a user."""

    models: tuple[str, ...] = ()  # names or directories; if empty, the default models of installed packs
    # for all models together, or for some tasks; by default the rate of each model (see
    # `disambig.models.task_rates`)
    flags_per_1000: float | Mapping[str, float] | None = None
    ignore: tuple[str, ...] = ()  # words to ignore
    sets: tuple[Group, ...] = ()  # additional confusion sets, for the models that accept them
    detect_language: bool = True  # whether paragraphs in another language than the model's are left alone
    # kind of writing; the models assume as many mistakes as are usual in it (see
    # `disambig.models.with_writing`)
    writing: str | None = None

    def names(self) -> tuple[str, ...]:
        """Return the names of the models, by default those of installed packs.

        Raises D323 if none is installed.
        """
        from disambig.packs import default_tasks

        names = self.models or default_tasks()
        if not names:
            raise UserError("D323")
        return names

    def load_models(self) -> list[Model]:
        """Load the models.

        Raises D4xx for an unknown name or a damaged model; D322 if no model accepts additional
        sets; D953 for an unknown kind of writing.
        """
        models = [load(name) for name in self.names()]
        for model in models:
            if decides(model.task).where == "items":
                raise UserError("D338", model=model.name)
        models = with_sets(models, self.sets) if self.sets else models
        return list(with_writing(models, self.writing))

    def notes(self, models: Sequence[Model]) -> tuple[UserError, ...]:
        """Return notes for the user about loaded models.

        D954 if the kind of writing has no effect; D955 for a set with words that a model has not seen.
        """
        note = unused_writing(models, self.writing)
        return (*(() if note is None else (note,)), *_unseen_words(models, self.sets))

    def load(self) -> Annotate:
        """Load the models and return the function that annotates texts.

        Raises
        ------
        UserError
            As for `load_models`; D333 for two models of one task, D401 and D950 for invalid rates, D862 for a
            damaged measurement of precision.
        """
        models = self.load_models()
        _check_one_model_per_task(self.names(), models)
        return self._annotate(models)

    def correcting_models(self) -> list[Model]:
        """Load the models that correct words; models that choose labels are skipped.

        Raises `UserError` as for `load_models`; D644 if a model that was named chooses labels.
        """
        models = []
        for model in self.load_models():
            if isinstance(model.judge, RaisesFlags):
                models.append(model)
            elif self.models:
                raise UserError("D644", name=model.name, task=model.task.name)
        return models

    def load_correcting(self) -> Annotate:
        """Load the `correcting_models` and return the function that annotates texts."""
        return self._annotate(self.correcting_models())

    def _annotate(self, models: Sequence[Model]) -> Annotate:
        """Return the function that annotates texts with these models at the rates of this source."""
        return ModelSet(
            tuple(models),
            task_rates(models, self.flags_per_1000),
            self.ignore,
            detect_language=self.detect_language,
            trust=self.measured_precision() if models else {},
        )

    def measured_precision(self) -> dict[str, PrecisionTable]:
        """Return the measured precision of the models, by task; models that were not measured are left out.

        Raises D862 for a damaged measurement.
        """
        from disambig.packs import model_folder

        tables = (read_precision(model_folder(name)) for name in self.names())
        return {table.task: table for table in tables if table is not None}

    def language(self) -> str:
        """Return the language of the first model."""
        return str(getattr(load(self.names()[0]), "language", "en"))

    def can_flag(self) -> bool:
        """Return True if any of the models corrects words; models that choose labels flag nothing."""
        return any(isinstance(model.judge, RaisesFlags) for model in self.load_models())

    def describe(self) -> dict[str, Any]:
        """Return names, versions and contents of the models, and all settings.

        Raises `UserError` as for `load`.
        """
        from disambig.packs import available

        installed = available()
        names, models = self.names(), {}
        loaded = [load(name) for name in names]
        _check_one_model_per_task(names, loaded)
        for name, model in zip(names, loaded, strict=True):
            directory = Path(installed.get(name, name))
            models[name] = {"model": f"{model.name} {model.version}", "contents": _digest_folder(directory)}
        return {
            "models": models,
            "flags_per_1000": task_rates(loaded, self.flags_per_1000) or None,
            "ignore": sorted(self.ignore),
            "sets": [list(group.candidates) for group in self.sets],
            **({} if self.detect_language else {"detect_language": False}),
            **({} if self.writing is None else {"writing": self.writing}),
        }


def with_sets(models: Sequence[Model], sets: Sequence[Group]) -> list[Model]:
    """Add `sets` to the models whose task accepts additional groups (spelling).

    Raises D322 if no model accepts them.
    """
    if not any(isinstance(model.task, Extensible) for model in models):
        raise UserError("D322", where="", models=", ".join(model.name for model in models))
    return [model.with_groups(sets) if isinstance(model.task, Extensible) else model for model in models]


def _unseen_words(models: Sequence[Model], sets: Sequence[Group]) -> Iterator[UserError]:
    """Yield a note (D955) for each set with words that are in none of the count tables of a model."""
    for model in models if sets else ():
        name = model.tokenisation.name
        extractor_tables = (getattr(extractor, "table", None) for extractor in model.extractors)
        tables = [
            table
            for table in extractor_tables
            if isinstance(table, CountTable) and name in table.tokenisations
        ]
        if not tables or not isinstance(model.task, Extensible):
            continue
        for group in sets:
            words = list(dict.fromkeys(word for candidate in group.candidates for word in candidate.split()))
            by_table = [table.counts_of_texts(words, tokenisation=name) for table in tables]
            unseen = [word for word, *counts in zip(words, *by_table, strict=True) if not any(counts)]
            if unseen:
                yield UserError("D955", set=group.name, words=", ".join(map(repr, unseen)), model=model.name)


def nearest_correcting(name: str) -> str:
    """Join the names of installed models that correct words for a message, those nearest to `name` first.

    This loads the installed models.
    """
    from disambig.packs import available

    names = []
    for installed in available():
        if "/" in installed:
            continue
        with suppress(UserError):  # a damaged model is reported when it is used
            if isinstance(load(installed).judge, RaisesFlags):
                names.append(installed)
    return nearest_first(name, names)


def _check_one_model_per_task(names: Sequence[str], models: Sequence[Model]) -> None:
    """Raise an error if two models have the same task, since the output identifies models by task."""
    first: dict[str, str] = {}
    for name, model in zip(names, models, strict=True):
        task = model.task.name
        if task in first:
            raise UserError("D333", first=first[task], second=name, task=task)
        first[task] = name


def _digest_folder(directory: Path) -> str:
    """Return a hash of the names and contents of a model's files, or "" if there is no directory."""
    if not directory.is_dir():
        return ""
    folder_hash = hashlib.sha256()
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        file_hash = hashlib.sha256(path.read_bytes()).digest()
        folder_hash.update(path.relative_to(directory).as_posix().encode() + b"\0" + file_hash)
    return folder_hash.hexdigest()
