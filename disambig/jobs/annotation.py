"""Annotate documents in batches, with models that workers load."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from disambig.errors import UserError
from disambig.files import without_compression
from disambig.formats import AnnotatedDocument, Document, UnreadableDocument
from disambig.jobs.work import ProgressCallback
from disambig.markup import plain_text
from disambig.runtime import DeadlineExceeded, time_limit

if TYPE_CHECKING:
    from disambig.data import Decisions, Group
    from disambig.models import Model


Annotate = Callable[[Sequence[str]], "list[Decisions]"]
"""Texts in, one `Decisions` a task out, over the whole batch."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelAnnotator:
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
        """Decide in every text with every model (`disambig.models.annotation.annotate`)."""
        from disambig.models import annotate

        return annotate(texts, self.models, flags_per_1000=self.rates, ignore=self.ignore)


class AnnotatorSource(Protocol):
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
        Of all models together, or of some tasks; by default each model's own (see
        `disambig.models.annotation`).
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
            D4xx for an unknown name or a damaged model; D322 if no model takes extra sets.
        """
        from disambig.models import load
        from disambig.types import decides

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
        from disambig.models import task_rates

        return ModelAnnotator(tuple(models), task_rates(models, self.flags_per_1000), self.ignore)

    def language(self) -> str:
        """Return the language of the first model."""
        from disambig.models import load

        return str(getattr(load(self.names()[0]), "language", "en"))

    def can_flag(self) -> bool:
        """Tell whether any of the models corrects words: others choose labels and flag nothing."""
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
        }


def with_sets(models: Sequence[Model], sets: Sequence[Group]) -> list[Model]:
    """Give `sets` to the models whose task takes extra groups (spelling).

    Raises
    ------
    UserError
        D322 where none takes any.
    """
    from disambig.types import Extensible

    takes = [isinstance(model.task, Extensible) for model in models]
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


def _digest_sets(directory: Path) -> str:
    """Return a hash over the names and contents of a model's files; "" where there is no directory."""
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
    """Group documents until a group has `size` characters."""
    batch: list[Document] = []
    held = 0
    for document in documents:
        batch.append(document)
        held += len(document.text)
        if held >= size or len(batch) >= _BATCH_DOCUMENTS:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def annotate_documents(
    documents: Sequence[Document], annotate: Annotate, *, seconds: float | None = None
) -> tuple[list[AnnotatedDocument], list[UnreadableDocument]]:
    """Annotate a batch.

    A document on which `annotate` fails is tried alone and, failing again, is reported; the others
    get their decisions. So does one that alone takes longer than `seconds` (see `limited`).
    """
    try:
        with time_limit(seconds):
            parts_and_errors = _annotate(documents, annotate)
        return parts_and_errors, []
    except (Exception, DeadlineExceeded) as problem:
        if len(documents) > 1:
            _log.debug("a batch of %d documents failed; trying one by one", len(documents), exc_info=True)
            parts = [annotate_documents([document], annotate, seconds=seconds) for document in documents]
            return [good for results, _ in parts for good in results], [
                bad for _, results in parts for bad in results
            ]
        _log.debug("%s could not be annotated", documents[0].id, exc_info=True)
        where = documents[0].path if not documents[0].line else f"{documents[0].path}:{documents[0].line}"
        text = str(problem) if isinstance(problem, UserError) else f"{type(problem).__name__}: {problem}"
        text = f"it took longer than {seconds:g} seconds" if isinstance(problem, DeadlineExceeded) else text
        failed = UserError("D313", path=where, problem=text)
        failed.__cause__ = problem
        return [], [UnreadableDocument(documents[0].path, failed)]


def with_progress(annotate: Annotate, tell: ProgressCallback, most: int) -> Annotate:
    """Return `annotate` that tells after each call how many characters it was given so far, up to `most`."""
    done = 0

    def run(texts: Sequence[str]) -> list[Decisions]:
        nonlocal done
        results = annotate(texts)
        done += sum(map(len, texts))
        tell(min(done, most))
        return results

    return run


def _annotate(documents: Sequence[Document], annotate: Annotate) -> list[AnnotatedDocument]:
    texts: list[str] = []
    places: list[list[tuple[int, int]]] = []  # of each document: (index in texts, offset)
    for text in map(_plain, documents):
        cuts = cut_pieces(text)
        places.append([(len(texts) + i, start) for i, (start, _) in enumerate(cuts)])
        texts.extend(text[start:end] for start, end in cuts)
    by_text: list[list[Decisions]] = []
    for first, last in _runs([len(text) for text in texts]):
        results = annotate(texts[first:last])
        for index in range(last - first):
            by_text.append([decisions.in_document(index) for decisions in results])
    return [
        AnnotatedDocument(document, join_pieces([(by_text[index], offset) for index, offset in place]))
        for document, place in zip(documents, places, strict=True)
    ]


def _plain(document: Document) -> str:
    """Return the text without its markup, of the same length, if it is a whole file in Markdown or LaTeX."""
    if document.kind != "file":
        return document.text
    return plain_text(without_compression(document.path), document.text)


def cut_pieces(text: str, *, size: int = PIECE, back: int = _BACK) -> list[tuple[int, int]]:
    """Cut a long text where a paragraph, line, sentence or word ends; a short one stays whole."""
    cuts, start = [], 0
    while len(text) - start > size:
        end = start + size
        for mark in ("\n\n", "\n", ". ", " "):
            position = text.rfind(mark, max(start, end - back), end)
            if position >= 0:
                end = position + len(mark)
                break
        cuts.append((start, end))
        start = end
    return [*cuts, (start, len(text))]


def _runs(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield stretches of texts that have about a piece's characters together."""
    first, held = 0, 0
    for index, length in enumerate(lengths):
        if index > first and held + length > PIECE:
            yield first, index
            first, held = index, 0
        held += length
    if lengths:
        yield first, len(lengths)


def join_pieces(parts: Sequence[tuple[Sequence[Decisions], int]]) -> tuple[Decisions, ...]:
    """Return one `Decisions` a task for a document whose pieces lie at the given offsets."""
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
    sizes = np.concatenate([np.diff(part.offsets) for part, _ in parts])
    columns["offsets"] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if first.own is not None:
        columns["own"] = CandidateLists.joined([part.own for part, _ in parts if part.own is not None])
    columns["settled"] = join_resolutions([(part.settled, len(part), offset) for part, offset in parts])
    return dataclasses.replace(first, **columns)
