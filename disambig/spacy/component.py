"""The component that decides in Docs with a model, its base classes and its settings."""

from __future__ import annotations

import inspect
import warnings
import weakref
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import srsly
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import raise_error

from disambig.data import ARROW, Decisions, check_entry, minibatch, plain_word
from disambig.decision import check_rate
from disambig.errors import UserError
from disambig.formatting import add_note
from disambig.models import (
    Model,
    ModelSet,
    detected_languages,
    load,
    protect_tokens,
    protect_words,
    unused_writing,
    with_writing,
)
from disambig.packs import nearest_models
from disambig.settings import is_number
from disambig.spacy.annotations import check_extensions, write_batch
from disambig.text import TokenView, describe_foreign, find_foreign_paragraphs, foreign_layer, view_of_docs
from disambig.types import decides

if TYPE_CHECKING:
    from typing_extensions import Self


SEVERAL_LANGUAGES = "xx"
"""spaCy's code of pipelines for several languages."""
_MAX_TOKENS = 100_000
"""Maximum number of tokens per batch; larger batches are not faster."""


class BatchComponent(ABC):
    """Base class of components that make predictions for a batch of Docs and write them to the Docs.

    Parameters
    ----------
    name : str
        Name of the component in the pipeline.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.error_handler: Callable[..., None] | None = None

    @abstractmethod
    def predict(self, docs: Sequence[Doc]) -> Any:
        """Return predictions for a batch of Docs without changing the Docs."""

    @abstractmethod
    def set_annotations(self, docs: Sequence[Doc], predictions: Any) -> None:
        """Write the predictions of `predict` to the Docs."""

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one Doc."""
        if self in _PIPELINES:
            _check_order(self)
        try:
            self.set_annotations([doc], self.predict([doc]))
        except Exception as problem:  # spaCy's protocol: the handler decides whether to go on
            self.get_error_handler()(self.name, self, [doc], problem)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 256) -> Iterator[Doc]:
        """Annotate a stream of Docs batch by batch; a Doc that fails does not affect the rest of its batch.

        Parameters
        ----------
        stream : iterable of Doc
        batch_size : int
            Maximum number of Docs per batch; batches of long Docs are smaller.
        """
        if self in _PIPELINES:
            _check_order(self)
        # limited by tokens as well, so that long Docs do not need too much memory
        for docs in minibatch(stream, _MAX_TOKENS, len, maximum=max(batch_size, 1)):
            try:
                self.set_annotations(docs, self.predict(docs))
            except Exception:
                yield from self._one_by_one(docs)
            else:
                yield from docs

    def _one_by_one(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        """Annotate Docs one at a time, and pass those that fail to the error handler."""
        for doc in docs:
            try:
                self.set_annotations([doc], self.predict([doc]))
            except Exception as problem:
                self.get_error_handler()(self.name, self, [doc], problem)
            else:
                yield doc

    def set_error_handler(self, error_handler: Callable[..., None]) -> None:
        """Set the function that is called with (name, component, docs, error) for a Doc that fails."""
        self.error_handler = error_handler

    def get_error_handler(self) -> Callable[..., None]:
        """Return the function that is called for a Doc that fails; by default it raises the error."""
        handler: Callable[..., None] = self.error_handler or raise_error
        return handler


class SpanWriter(BatchComponent):
    """Base class of components that write spans: scoring, and references to models in saved pipelines.

    Parameters
    ----------
    name : str
        Name of the component in the pipeline.
    spans_key : str
        Key of ``doc.spans``.
    """

    reference_file: ClassVar[str] = "model.json"
    """Name of the file in the component's folder of a saved pipeline."""

    def __init__(self, name: str, spans_key: str) -> None:
        super().__init__(name)
        self.spans_key = spans_key

    @abstractmethod
    def reference(self) -> dict[str, Any]:
        """Return plain values that identify the model."""

    def check(self, saved: Any) -> None:
        """Warn if the pipeline was saved with another model."""
        if saved != self.reference():
            warnings.warn(f"{self.name} was saved with another model than it has now", stacklevel=3)

    @property
    def span_tasks(self) -> tuple[str, ...] | None:
        """The tasks whose spans this component writes; empty if it writes none, None for other spans."""
        return None

    def overwrites(self, other: SpanWriter) -> bool:
        """Return True if this component replaces the spans of one that runs before it.

        By default it replaces all spans under its key.
        """
        return self.spans_key == other.spans_key and () not in (self.span_tasks, other.span_tasks)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Return precision, recall and F of the spans, as ``spacy evaluate --spans-key`` shows them."""
        key, prefix = self.spans_key, "spans_"
        scores: dict[str, Any] = Scorer.score_spans(
            examples,
            attr=f"{prefix}{key}",
            getter=lambda doc, attr: doc.spans.get(attr.removeprefix(prefix), []),
            has_annotation=lambda doc: key in doc.spans,
            allow_overlap=True,
            labeled=kwargs.get("labeled", True),
        )
        return scores

    def to_bytes(self, *, exclude: Sequence[str] = ()) -> bytes:
        """Return a reference to the model; the model itself is not copied."""
        data: bytes = srsly.msgpack_dumps(self.reference())
        return data

    def from_bytes(self, data: bytes, *, exclude: Sequence[str] = ()) -> Self:
        """Warn if the saved reference is to another model."""
        self.check(srsly.msgpack_loads(data))
        return self

    def to_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> None:
        """Write a reference to the model."""
        home = Path(path)
        home.mkdir(parents=True, exist_ok=True)
        srsly.write_json(home / self.reference_file, self.reference())

    def from_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> Self:
        """Warn if the saved reference is to another model."""
        reference = Path(path) / self.reference_file
        self.check(srsly.read_json(reference) if reference.is_file() else self.reference())
        return self


Component = TypeVar("Component")
_PASSED_BY_SPACY = ("nlp", "name")
"""Parameters of a factory that spaCy itself passes."""


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def _is_sets(value: Any) -> bool:
    is_list = isinstance(value, list | tuple)
    return isinstance(value, str) or (
        is_list and all(isinstance(item, str) or _is_list_of_texts(item) for item in value)
    )


def _is_rates(value: Any) -> bool:
    is_table = isinstance(value, Mapping) and all(isinstance(task, str) for task in value)
    return is_number(value) or (is_table and all(map(is_number, value.values())))


_SPANS_KEY = "spans_key"
_NOT_EMPTY = {_SPANS_KEY: "a key of doc.spans", "model": "a model directory or the name of a model"}


def _warn_of_lost_spans(nlp: Language, component: SpanWriter) -> None:
    """Warn if a new component writes the same spans as one that is in the pipeline already."""
    for name, other in nlp.components:
        if isinstance(other, SpanWriter) and component.overwrites(other):
            _warn_of_overwriting(name, other, component.name, component)
            return
        if isinstance(other, SpanWriter) and other.overwrites(component):
            _PIPELINES[component] = weakref.ref(nlp)  # where the new component will be is not known yet


_PIPELINES: weakref.WeakKeyDictionary[BatchComponent, weakref.ref[Language]] = weakref.WeakKeyDictionary()
"""The pipelines of components whose spans are lost if they run before another one, until they first run."""


def _check_order(component: BatchComponent) -> None:
    """Warn once if a component of the pipeline that runs later replaces the spans of this one."""
    nlp = _PIPELINES.pop(component)()
    assert isinstance(component, SpanWriter)
    running = [] if nlp is None else nlp.pipeline
    at = next((i for i, (_, other) in enumerate(running) if other is component), len(running))
    for name, other in running[at + 1 :]:
        if isinstance(other, SpanWriter) and other.overwrites(component):
            _warn_of_overwriting(running[at][0], component, name, other)
            return


def _warn_of_overwriting(name: str, first: SpanWriter, second_name: str, second: SpanWriter) -> None:
    part, key = "", second.spans_key
    if isinstance(second, Disambiguator) and len(first.span_tasks or ()) > 1:  # it keeps some
        part = f" for the task {second.model.task.name!r}"
    problem = UserError("D508", first=name, second=second_name, key=key, part=part)
    # the line that adds or runs the component: spaCy's own frames are between it and this one
    warnings.warn(str(problem), stacklevel=5)


Rates = float | Mapping[str, float]
"""One number, or one number per task."""
SETTING_TYPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "str": (lambda value: isinstance(value, str), "a text"),
    "float": (is_number, "a number"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "list[str]": (_is_list_of_texts, 'a list of texts, such as ["x", "y"]'),
    "Rates": (_is_rates, 'a number or a table of numbers by task, such as {"spelling": 0.2}'),
    "Sets": (_is_sets, 'a file or a list of sets, such as ["quite/quiet", ["lie", "lay"]]'),
}
"""Check of a setting by the annotation of its parameter, and the description of its type in messages."""


SHARED_DEFAULTS: dict[str, Any] = {
    "flags_per_1000": None,
    "ignore": [],
    "protect": True,
    "detect_language": True,
    "writing": None,
}
"""Settings of all components that correct words, with their defaults."""


def check_settings_of_factory(
    create: Callable[..., Component], settings: Collection[str] | None = None
) -> Callable[..., Component]:
    """Return a factory that checks its settings, and warns if two components write the same spans (D508).

    The factory returned raises D516, and D521 for an attribute such as ``span._.disambig`` of other code.

    `create`: a factory whose parameters are annotated with keys of `SETTING_TYPES`, optional ones with ``|
    None``.
    `settings`: the parameters that a config can set; the others must have defaults. By default all
    parameters.
    """
    signature = inspect.signature(create)
    used = {
        name: parameter
        for name, parameter in signature.parameters.items()
        if settings is None or name in _PASSED_BY_SPACY or name in settings
    }
    types = {name: used[name].annotation for name in used if name not in _PASSED_BY_SPACY}

    def create_checked(*, nlp: Language, name: str, **settings: Any) -> Component:
        for setting, value in settings.items():
            annotation = types[setting]
            accepts, wanted = SETTING_TYPES[annotation.removesuffix(" | None")]
            if not (accepts(value) or (value is None and annotation.endswith(" | None"))):
                raise UserError("D516", name=name, setting=setting, value=value, wanted=wanted)
        for setting, wanted in _NOT_EMPTY.items():
            if settings.get(setting) == "":
                raise UserError("D516", name=name, setting=setting, value="", wanted=wanted)
        try:
            component = create(nlp=nlp, name=name, **settings)
        except UserError as problem:
            if repr(name) not in str(problem):  # a pipeline has several components with the same settings
                add_note(problem, f"in the config of the component {name!r}")
            raise
        if isinstance(component, SpanWriter) and component.span_tasks:
            check_extensions(name, component.span_tasks)
        if isinstance(component, SpanWriter) and _SPANS_KEY in settings:
            _warn_of_lost_spans(nlp, component)
        return component

    # spaCy makes a pydantic model from the signature: with `Any`, the check of the types is left to us
    parameters = [
        parameter if name in _PASSED_BY_SPACY else parameter.replace(annotation=Any)
        for name, parameter in used.items()
    ]
    create_checked.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    create_checked.__annotations__ = {parameter.name: Any for parameter in parameters}
    create_checked.__name__, create_checked.__doc__ = create.__name__, create.__doc__
    create_checked.__dict__.update(create.__dict__)
    return create_checked


class Disambiguator(SpanWriter):
    """Decide between candidates in Docs.

    `predict` is pure; `set_annotations` alone writes.

    Raises D500 for a pipeline of another language, D401 for an invalid rate, D503 for an `ignore` that is not
    a list of words, phrases and corrections.

    Parameters
    ----------
    nlp : Language
        The pipeline; its language must be the model's.
    name : str
        Name of the component in the pipeline.
    spans_key : str
        Key of ``doc.spans``.
    flags_per_1000 : float, optional
        False alarms to accept per 1,000 correct words; by default the model's own rate.
    ignore : sequence of str
        Words to ignore, in any case, words with those beside them ("more then"), and corrections
        ("then -> than").
    protect : bool
        Whether quotes, code, URLs and names are ignored.
    detect_language : bool
        Whether a model that corrects words leaves paragraphs in other languages alone.

    Warns
    -----
    UserWarning
        D509 for a rate if the model chooses labels, which are never flagged.
    """

    def __init__(
        self,
        nlp: Language,
        model: Model,
        *,
        name: str,
        spans_key: str,
        flags_per_1000: float | None = None,
        ignore: Sequence[str] = (),
        protect: bool = True,
        detect_language: bool = True,
    ) -> None:
        check_pipeline_language(nlp, model, name)
        if decides(model.task).where == "items":
            raise UserError("D338", model=model.name)
        if flags_per_1000 is not None:
            check_rate(flags_per_1000)
            if decides(model.task).between == "labels":
                warnings.warn(str(UserError("D509", name=name, model=model.name)), stacklevel=4)
        super().__init__(name, spans_key)
        self.model = model
        self.flags_per_1000 = flags_per_1000
        self.ignore = words_to_ignore(model, name, ignore)
        self.protect = protect
        self.languages = detected_languages([model]) if detect_language else ()
        self.vocab = nlp.vocab
        self._add_strings()

    @property
    def model_set(self) -> ModelSet:
        """The model with the settings of the component."""
        rates = {} if self.flags_per_1000 is None else {self.model.task.name: self.flags_per_1000}
        return ModelSet((self.model,), rates, self.ignore, self.protect)

    def predict(self, docs: Sequence[Doc]) -> Decisions:
        """Return the decisions in a batch of Docs without changing the Docs."""
        view = view_of_docs(docs, self.model.tokenisation, protected=self.protect)
        view = protect_foreign_paragraphs(protect_words(view, self.ignore), self.languages)
        decisions = self.model.decide(view, flags_per_1000=self.flags_per_1000).without_empty()
        if not decisions.flagged.any():
            return decisions
        (verified,) = self.model_set.verify([decisions], view.texts)
        return verified

    @property
    def span_tasks(self) -> tuple[str, ...] | None:
        """The task of the model."""
        return (self.model.task.name,)

    def overwrites(self, other: SpanWriter) -> bool:
        """Return True if this component replaces the spans of one that runs before it.

        It keeps those of other tasks.
        """
        tasks = other.span_tasks
        return super().overwrites(other) and (tasks is None or self.model.task.name in tasks)

    def set_annotations(self, docs: Sequence[Doc], decisions: Decisions) -> None:
        """Write the decisions of `predict` to the Docs."""
        write_batch(docs, decisions, spans_key=self.spans_key)

    def reference(self) -> dict[str, Any]:
        """Return the task, name and version of the model."""
        return {"task": self.model.task.name, "model": f"{self.model.name} {self.model.version}"}

    def check(self, saved: Any) -> None:
        """Warn if the pipeline was saved with another model."""
        self._add_strings()  # loading a pipeline also replaces its vocabulary
        if saved != self.reference():
            warnings.warn(
                f"{self.name} was saved with {saved.get('model')}, but now uses "
                f"{self.model.name} {self.model.version}",
                stacklevel=3,
            )

    def _add_strings(self) -> None:
        for text in (self.model.task.name, self.spans_key):
            self.vocab.strings.add(text)
        for group in self.model.task.groups:
            for candidate in group.candidates:
                self.vocab.strings.add(candidate)


class _HasLanguage(Protocol):
    @property
    def language(self) -> str: ...


def check_pipeline_language(nlp: Language, model: _HasLanguage, name: str) -> None:
    """Raise D500 for a model of another language than the pipeline's, unless that has several (``xx``).

    `model` has a `language`, which is empty if the model is for any language; `name` is the component's name.
    """
    if model.language and nlp.lang not in (model.language, SEVERAL_LANGUAGES):
        raise UserError("D500", name=name, seen=nlp.lang, language=model.language)


def load_for_component(
    model: str,
    takes: str = 'config={"model": ...} takes a model directory',
    *,
    is_configured: bool = True,
    task: str | None = None,
) -> Model:
    """Load the model that the config of a component names.

    Raises D404 for an unknown model; the message says what the config takes and relative to which directory
    paths are. See `disambig.models.load` for other errors.

    `takes`: what the config takes, for messages.
    `is_configured`: whether the config gives this name; if not, it is the default, which is not a path.
    `task`: the task of the component's models; the message lists only these, if any is installed.
    """
    try:
        return load(model)
    except UserError as problem:
        if problem.code != "D404":
            raise
        if is_configured and not problem.values["hint"] and not Path(model).is_absolute():
            setting = "models" if '"models"' in takes else "model"
            takes += _RELATIVE_PATH.format(folder=Path.cwd(), setting=setting)
        names = nearest_models(model, task) if task else problem.values["names"]
        raise UserError("D404", **{**problem.values, "takes": takes, "names": names}) from None


_RELATIVE_PATH = (
    " (a relative path, also that of a saved pipeline, is relative to the current directory, {folder}: "
    "give the full path, for a saved pipeline with "
    'spacy.load(..., config={{"components.NAME.{setting}": ...}}))'
)


def models_for_writing(models: Sequence[Model], writing: str | None, name: str) -> tuple[Model, ...]:
    """Return the models with the rate of mistakes of a kind of writing; warn if that has no effect (D954).

    Raises D953 for an unknown kind of writing.
    """
    adapted = with_writing(models, writing)
    if note := unused_writing(adapted, writing):
        warnings.warn(f"component {name!r}: {note}", stacklevel=3)
    return adapted


_warned_languages: set[str] = set()
"""Languages of models for which this process has already warned about paragraphs in other languages."""


def protect_foreign_paragraphs(view: TokenView, languages: Sequence[str]) -> TokenView:
    """Protect the words of paragraphs that are not in the languages; warn once per process and language."""
    for language in languages:
        foreign = foreign_layer(view, language)
        if foreign is None:
            continue
        if language not in _warned_languages:
            _warned_languages.add(language)
            counts = Counter(
                paragraph.language
                for text in view.texts
                for paragraph in find_foreign_paragraphs(text, language)
            )
            what = describe_foreign(counts, [language])
            warnings.warn(str(UserError("D348", where="Docs", what=what)), stacklevel=4)
        view = protect_tokens(view, foreign)
    return view


def words_to_ignore(model: Model, name: str, ignore: Sequence[str]) -> tuple[str, ...]:
    """Return the normal forms of what to ignore: words, words with those beside them, and corrections.

    Those of single words follow the model's tokenisation; they are not decided at all.

    Raises D503 for an `ignore` that is not a list of these; the message names the component.
    """
    if isinstance(ignore, str):
        raise UserError("D503", name=name, word=ignore)
    return tuple(_normal_entry(model, name, entry) for entry in ignore)


def _normal_entry(model: Model, name: str, entry: str) -> str:
    """Return the normal form of an entry to ignore."""
    words = model.tokenisation.words(entry)[1:-1]  # between the boundary words
    try:
        check_entry(entry)
    except ValueError:
        words = []
    if not words:
        raise UserError("D503", name=name, word=entry)
    return words[0] if len(words) == 1 and ARROW not in entry else plain_word(entry)
