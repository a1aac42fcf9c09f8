"""Where models come from: names and settings, and the folders of models that are not models of a task."""

from __future__ import annotations

import hashlib
import logging
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from disambig import registry
from disambig.counts import CountTable
from disambig.errors import UserError, nearest_first
from disambig.files import HEADER, read_json
from disambig.models.annotation import Annotate, ModelSet, task_rates, unused_writing, with_writing
from disambig.models.model import Model
from disambig.models.storage import load, read_precision
from disambig.packs import packs, require_undamaged_pack
from disambig.registry import describe_component
from disambig.types import Extensible, RaisesFlags, decides

if TYPE_CHECKING:
    from disambig.data import Group, PrecisionTable


_log = logging.getLogger(__name__)


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
        """Return the names of the models, by default those of installed packs (see `with_plugins`).

        Raises D323 if none is installed.
        """
        from disambig.packs import default_tasks

        names = self.models or with_plugins(default_tasks(), load)
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

        Raises UserError as for `load_models`; D333 for two models of one task, D401 and D950 for invalid
        rates, D862 for a damaged measurement of precision.
        """
        models = self.load_models()
        check_one_model_per_task(self.names(), models)
        return self._annotate(models)

    def correcting_models(self) -> list[Model]:
        """Load the models that correct words; models that choose labels are skipped.

        Raises `UserError` as for `load_models`; D644 if a model that was named raises no flags.
        """
        models = []
        try:
            loaded = self.load_models()
        except UserError as problem:
            raise list_correcting(problem) from None
        for model in loaded:
            if isinstance(model.judge, RaisesFlags):
                models.append(model)
            elif self.models:
                raise no_corrections_error(model)
        return models

    def load_correcting(self) -> ModelSet:
        """Load the `correcting_models` and return them as a set."""
        return self._annotate(self.correcting_models())

    def _annotate(self, models: Sequence[Model]) -> ModelSet:
        """Return the set of these models with the rates of this source."""
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
        check_one_model_per_task(names, loaded)
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


def with_plugins(names: Sequence[str], load: Callable[[str], object]) -> tuple[str, ...]:
    """Return those installed models whose plugins are installed and work; a process logs the others once.

    A pack of a third party must not stop the models of the other packs. Raises D001 or D007 if no model is
    left; the errors of `load` for a damaged model.

    `load`: loads a model by its name.
    """
    usable, problems = [], []
    for name in names:
        try:
            load(name)
        except UserError as problem:
            if problem.code not in ("D001", "D007"):  # an unknown entry, and one that cannot be imported
                raise
            problems.append(problem)
            _log_unusable(str(problem))
        else:
            usable.append(name)
    if problems and not usable:
        raise problems[0]
    return tuple(usable)


@lru_cache(maxsize=64)
def _log_unusable(problem: str) -> None:
    if multiprocessing.parent_process() is None:  # workers would repeat what their parent has logged
        _log.warning("%s; the other models are used without it", problem)


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


def list_correcting(problem: UserError) -> UserError:
    """Return an error about an unknown model (D404) with the models that correct words; others unchanged."""
    if problem.code != "D404":
        return problem
    names = nearest_correcting(str(problem.values["name"]))
    return UserError("D404", **{**problem.values, "names": names}) if names else problem


def check_one_model_per_task(names: Sequence[str], models: Sequence[Model]) -> None:
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


class StandaloneModel(Protocol):
    """A model that makes no decisions of a task: a parser, a converter.

    Its folder has a ``header.json`` with the name of its ``format``. A plugin registers its class with
    `disambig_register_models`.
    """

    formats: ClassVar[tuple[str, ...]]
    """The formats that `load` reads."""

    @property
    def language(self) -> str:
        """The language code."""
        ...

    @classmethod
    def load(cls, folder: str | Path) -> StandaloneModel:
        """Read the model in a folder; UserError if a file is missing or damaged."""
        ...

    def save(self, folder: str | Path) -> None:
        """Write the model into a folder."""
        ...

    def describe(self) -> str:
        """Return what the model is and how large it is, in a few words."""
        ...

    def records(self, texts: Sequence[str], *, n_best: int = 1) -> list[list[dict[str, Any]]]:
        """Return the results for each text, one per sentence or line, as values that JSON has.

        Parameters
        ----------
        texts : sequence of str
        n_best : int
            Maximum number of candidates per result, at least 1.
        """
        ...


def stored_format(folder: str | Path) -> str:
    """Return the format in the header of a folder; empty if the folder has no such header."""
    try:
        header = read_json(Path(folder) / HEADER)
    except (OSError, ValueError):
        return ""
    name = header.get("format") if isinstance(header, dict) else None
    return name if isinstance(name, str) else ""


def is_standalone(folder: str | Path) -> bool:
    """Return True if a registered class reads the format of a folder."""
    return stored_format(folder) in _classes()


def load_standalone(name_or_path: str | Path) -> StandaloneModel:
    """Load a model that is not a model of a task, from a directory or ``"PACK/FOLDER"`` (see ``pack.json``).

    The name of the pack is enough if it has only one such model.

    Raises
    ------
    UserError
        D404 for an unknown name, D403 for a damaged pack, D917 for a format that no plugin reads; errors of
        the class for a damaged folder.
    """
    folders = {f"{pack.name}/{key}": path for pack in packs().values() for key, path in pack.folders.items()}
    name = str(name_or_path)
    in_pack = [path for full, path in folders.items() if full.startswith(f"{name}/") and is_standalone(path)]
    folder = in_pack[0] if len(in_pack) == 1 else folders.get(name, Path(name_or_path))
    if not folder.is_dir():
        require_undamaged_pack(name)
        installed = [full for full, path in folders.items() if is_standalone(path)]
        names = nearest_first(name, installed) if installed else "none"
        raise UserError("D404", name=name, hint="", takes="give a model directory", names=names)
    classes = _classes()
    format_name = stored_format(folder)
    if format_name not in classes:
        problem = f"has the format {format_name!r}" if format_name else "has no header.json with a format"
        raise UserError("D917", path=folder, problem=problem, names=", ".join(sorted(classes)) or "none")
    return classes[format_name].load(folder)


def standalone_card(model: StandaloneModel, name: str, *, use: str, training: Sequence[str]) -> str:
    """Return the card of a model in Markdown.

    Parameters
    ----------
    model : StandaloneModel
    name : str
        The name of its folder.
    use : str
        A command that uses it.
    training : sequence of str
        What it learned from, and how good it is.
    """
    description = model.describe()
    about = f"{description[:1].upper()}{description[1:]}; language: {model.language}."
    facts = "\n".join(f"* {line}" for line in training)
    sections = (
        f"# {name}",
        about,
        "## Use",
        f"```console\n$ {use}\n```",
        "## Training and evaluation",
        facts,
    )
    return "\n\n".join(sections) + "\n"


def _classes() -> dict[str, type[StandaloneModel]]:
    """Return the registered classes by the formats that they read."""
    classes: dict[str, type[StandaloneModel]] = {}
    for entry, factory in registry.load_all("models").items():
        loaded = cast("type[StandaloneModel]", factory)
        for name in getattr(loaded, "formats", ()):
            if classes.setdefault(name, loaded) is not loaded:
                _log.warning("%s", UserError("D918", entry=entry, format=name, first=classes[name].__name__))
    return classes


def no_corrections_error(model: Model) -> UserError:
    """Return the error for a model that was named to correct words and raises no flags."""
    reason = "chooses labels"
    if decides(model.task).between != "labels":
        rule = describe_component("judges", model.judge)
        reason = f"has {rule}, which raises no flags, since it lacks `flags_per_1000` or the method `limit`"
    return UserError("D644", name=model.name, task=model.task.name, reason=reason)
