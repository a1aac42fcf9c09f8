"""Annotate documents in batches, with models that workers load."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from disambig.data import join_offsets, minibatch
from disambig.errors import UserError
from disambig.files import without_compression
from disambig.formats import AnnotatedDocument, Document, UnreadableDocument
from disambig.formatting import describe_exception
from disambig.jobs.work import ProgressCallback
from disambig.markup import plain_text
from disambig.runtime import DeadlineExceeded, time_limit

if TYPE_CHECKING:
    from disambig.data import Decisions, Group
    from disambig.models import Model


Annotate = Callable[[Sequence[str]], "list[Decisions]"]
"""Function that maps a batch of texts to one `Decisions` per task."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelAnnotator:
    """An `Annotate` function that runs loaded models.

    Attributes
    ----------
    models : tuple of Model
        In the order of the results.
    rates : mapping from task to float
        Flag rates of tasks that do not use their default rate.
    ignore : tuple of str
        Words to ignore.
    detect_language : bool
        Whether paragraphs in another language than the model's are left alone.
    """

    models: tuple[Model, ...]
    rates: Mapping[str, float]
    ignore: tuple[str, ...] = ()
    detect_language: bool = True

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages of the models if paragraphs in other languages are left alone; otherwise empty."""
        from disambig.models import detected_languages

        return detected_languages(self.models) if self.detect_language else ()

    def __call__(self, texts: Sequence[str]) -> list[Decisions]:
        """Annotate every text with every model (see `disambig.models.annotate`)."""
        from disambig.models import annotate

        return annotate(
            texts,
            self.models,
            flags_per_1000=self.rates,
            ignore=self.ignore,
            detect_language=self.detect_language,
        )


@dataclass(frozen=True, slots=True, eq=False)
class WrappedAnnotator:
    """An `Annotate` function around another one, with the languages of its models.

    Attributes
    ----------
    call : Annotate
    languages : tuple of str
        See `ModelAnnotator.languages`.
    """

    call: Annotate
    languages: tuple[str, ...]

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
    """Installed models and model directories, with the settings of a user.

    Attributes
    ----------
    models : tuple of str
        Names or directories; if empty, the default models of installed packs.
    flags_per_1000 : float or mapping from task to float, optional
        For all models together, or for some tasks; by default the rate of each model (see
        `disambig.models.task_rates`).
    ignore : tuple of str
        Words to ignore.
    sets : tuple of Group
        Additional confusion sets, for the models that accept them.
    detect_language : bool
        Whether paragraphs in another language than the model's are left alone.
    writing : str, optional
        Kind of writing; the models assume as many mistakes as are usual in it (see
        `disambig.models.with_writing`).
    """

    models: tuple[str, ...] = ()
    flags_per_1000: float | Mapping[str, float] | None = None
    ignore: tuple[str, ...] = ()
    sets: tuple[Group, ...] = ()
    detect_language: bool = True
    writing: str | None = None

    def names(self) -> tuple[str, ...]:
        """Return the names of the models, by default those of installed packs.

        Raises
        ------
        UserError
            D323 if none is installed.
        """
        from disambig.packs import default_tasks

        names = self.models or default_tasks()
        if not names:
            raise UserError("D323")
        return names

    def load_models(self) -> list[Model]:
        """Load the models.

        Raises
        ------
        UserError
            D4xx for an unknown name or a damaged model; D322 if no model accepts additional sets; D953 for an
            unknown kind of writing.
        """
        from disambig.models import load, with_writing
        from disambig.types import decides

        models = [load(name) for name in self.names()]
        for model in models:
            if decides(model.task).where == "items":
                raise UserError("D338", model=model.name)
        models = with_sets(models, self.sets) if self.sets else models
        return list(with_writing(models, self.writing))

    def notes(self, models: Sequence[Model]) -> tuple[UserError, ...]:
        """Return notes for the user about loaded models: D954 if the kind of writing has no effect."""
        from disambig.models import unused_writing

        note = unused_writing(models, self.writing)
        return () if note is None else (note,)

    def load(self) -> Annotate:
        """Load the models and return the function that annotates texts.

        Raises
        ------
        UserError
            As for `load_models`; D333 for two models of one task, D401 and D950 for invalid rates.
        """
        models = self.load_models()
        _check_tasks(self.names(), models)
        return self._annotate(models)

    def correcting_models(self) -> list[Model]:
        """Load the models that correct words; models that choose labels are skipped.

        Raises
        ------
        UserError
            As for `load_models`; D644 if a model that was named chooses labels.
        """
        from disambig.types import RaisesFlags

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
        from disambig.models import task_rates

        rates = task_rates(models, self.flags_per_1000)
        return ModelAnnotator(tuple(models), rates, self.ignore, self.detect_language)

    def language(self) -> str:
        """Return the language of the first model."""
        from disambig.models import load

        return str(getattr(load(self.names()[0]), "language", "en"))

    def can_flag(self) -> bool:
        """Return True if any of the models corrects words; models that choose labels flag nothing."""
        from disambig.types import RaisesFlags

        return any(isinstance(model.judge, RaisesFlags) for model in self.load_models())

    def describe(self) -> dict[str, Any]:
        """Return names, versions and contents of the models, and all settings.

        Raises
        ------
        UserError
            As for `load`.
        """
        from disambig.models import load, task_rates
        from disambig.packs import available

        installed = available()
        names, models = self.names(), {}
        loaded = [load(name) for name in names]
        _check_tasks(names, loaded)
        for name, model in zip(names, loaded, strict=True):
            directory = Path(installed.get(name, name))
            models[name] = {"model": f"{model.name} {model.version}", "contents": _digest_sets(directory)}
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

    Raises
    ------
    UserError
        D322 if no model accepts them.
    """
    from disambig.types import Extensible

    takes = [isinstance(model.task, Extensible) for model in models]
    if not any(takes):
        raise UserError("D322", models=", ".join(model.name for model in models))
    return [model.with_groups(sets) if wanted else model for model, wanted in zip(models, takes, strict=True)]


def _check_tasks(names: Sequence[str], models: Sequence[Model]) -> None:
    """Raise an error if two models have the same task, since the output identifies models by task."""
    first: dict[str, str] = {}
    for name, model in zip(names, models, strict=True):
        task = model.task.name
        if task in first:
            raise UserError("D333", first=first[task], second=name, task=task)
        first[task] = name


def _digest_sets(directory: Path) -> str:
    """Return a hash of the names and contents of a model's files, or "" if there is no directory."""
    if not directory.is_dir():
        return ""
    whole = hashlib.sha256()
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        digest = hashlib.sha256(path.read_bytes()).digest()
        whole.update(path.relative_to(directory).as_posix().encode() + b"\0" + digest)
    return whole.hexdigest()


BATCH = 200_000  # characters
PIECE = 500_000
_BACK = 50_000
_BATCH_DOCUMENTS = 2_000
_log = logging.getLogger(__name__)


def batch_documents(documents: Iterable[Document], *, size: int = BATCH) -> Iterator[list[Document]]:
    """Yield batches of documents with at least `size` characters in all."""
    return minibatch(documents, size, lambda document: len(document.text), most=_BATCH_DOCUMENTS)


def annotate_documents(
    documents: Sequence[Document], annotate: Annotate, *, seconds: float | None = None
) -> tuple[list[AnnotatedDocument], list[UnreadableDocument]]:
    """Annotate a batch.

    If `annotate` fails, or takes longer than `seconds`, the documents are retried one at a time; those that
    fail again are returned as unreadable.
    """
    try:
        with time_limit(seconds):
            parts_and_errors = _annotate(documents, annotate)
        return parts_and_errors, []
    except (Exception, DeadlineExceeded) as problem:  # DeadlineExceeded is a BaseException
        if len(documents) > 1:
            _log.debug("a batch of %d documents failed; trying one by one", len(documents), exc_info=True)
            parts = [annotate_documents([document], annotate, seconds=seconds) for document in documents]
            return [good for results, _ in parts for good in results], [
                bad for _, results in parts for bad in results
            ]
        _log.debug("%s could not be annotated", documents[0].id, exc_info=True)
        where = documents[0].path if not documents[0].line else f"{documents[0].path}:{documents[0].line}"
        text = str(problem) if isinstance(problem, UserError) else describe_exception(problem)
        text = f"it took longer than {seconds:g} seconds" if isinstance(problem, DeadlineExceeded) else text
        failed = UserError("D313", path=where, problem=text)
        failed.__cause__ = problem
        if isinstance(problem, UserError) and problem.code == "D344":  # it names the path itself
            failed = problem
        return [], [UnreadableDocument(documents[0].path, failed)]


def with_progress(annotate: Annotate, tell: ProgressCallback, most: int) -> Annotate:
    """Wrap `annotate` so that each call reports the characters processed so far, at most `most`."""
    done = 0

    def run(texts: Sequence[str]) -> list[Decisions]:
        nonlocal done
        results = annotate(texts)
        done += sum(map(len, texts))
        tell(min(done, most))
        return results

    return wrap_annotator(run, annotate)


def _annotate(documents: Sequence[Document], annotate: Annotate) -> list[AnnotatedDocument]:
    """Annotate documents in pieces of limited size, and join the decisions of each document."""
    from disambig.text import foreign_to_all

    texts: list[str] = []
    places: list[list[tuple[int, int]]] = []  # for each document: (index in texts, offset)
    plain = [_plain(document) for document in documents]
    for text in plain:
        pieces = cut_pieces(text)
        places.append([(len(texts) + i, start) for i, (start, _) in enumerate(pieces)])
        texts.extend(text[start:end] for start, end in pieces)
    by_text: list[list[Decisions]] = []
    for first, last in _runs([len(text) for text in texts]):
        results = annotate(texts[first:last])
        for index in range(last - first):
            by_text.append([decisions.in_document(index) for decisions in results])
    languages = annotator_languages(annotate)
    return [
        AnnotatedDocument(
            document,
            join_pieces([(by_text[index], offset) for index, offset in place]),
            tuple(foreign_to_all(text, languages)),
        )
        for document, place, text in zip(documents, places, plain, strict=True)
    ]


def _plain(document: Document) -> str:
    """Return the text with its markup painted over, if it is a whole file."""
    if document.kind != "file":
        return document.text
    return plain_text(without_compression(document.path), document.text)


def cut_pieces(text: str, *, size: int = PIECE, back: int = _BACK) -> list[tuple[int, int]]:
    """Split a long text at the end of a paragraph, line, sentence or word."""
    pieces, start = [], 0
    while len(text) - start > size:
        end = start + size
        for mark in ("\n\n", "\n", ". ", " "):
            position = text.rfind(mark, max(start, end - back), end)
            if position >= 0:
                end = position + len(mark)
                break
        pieces.append((start, end))
        start = end
    return [*pieces, (start, len(text))]


def _runs(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts with about `PIECE` characters together."""
    first, held = 0, 0
    for index, length in enumerate(lengths):
        if index > first and held + length > PIECE:
            yield first, index
            first, held = index, 0
        held += length
    if lengths:
        yield first, len(lengths)


def join_pieces(parts: Sequence[tuple[Sequence[Decisions], int]]) -> tuple[Decisions, ...]:
    """Join the decisions of the pieces of a document, which begin at the given offsets, for each task."""
    if len(parts) == 1 and not parts[0][1]:
        return tuple(parts[0][0])
    return tuple(
        _join_task([(predictions[task], offset) for predictions, offset in parts])
        for task in range(len(parts[0][0]))
    )


def _join_task(parts: Sequence[tuple[Decisions, int]]) -> Decisions:
    import numpy as np

    from disambig.data import CandidateLists, join_resolutions

    first = parts[0][0]
    columns: dict[str, Any] = {
        field.name: np.concatenate([getattr(part, field.name) for part, _ in parts])
        for field in dataclasses.fields(first)
        if field.name
        not in ("task", "model", "table", "starts", "ends", "offsets", "own", "settled", "trust")
    }
    columns["documents"] = np.zeros(len(columns["documents"]), np.int32)
    for name in ("starts", "ends"):
        columns[name] = np.concatenate([getattr(part, name) + np.int32(offset) for part, offset in parts])
    columns["offsets"] = join_offsets(part.offsets for part, _ in parts)
    if first.own is not None:
        columns["own"] = CandidateLists.joined([part.own for part, _ in parts if part.own is not None])
    columns["settled"] = join_resolutions([(part.settled, len(part), offset) for part, offset in parts])
    return dataclasses.replace(first, **columns)
