"""The components of the core: one for any model, and one for all models that correct words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from disambig.data import Decisions, replacement
from disambig.errors import UserError
from disambig.models import (
    Model,
    ModelSet,
    RequestedRates,
    check_one_model_per_task,
    decide_together,
    is_corrector,
    list_correcting,
    no_corrections_error,
    protect_words,
    task_rates,
    with_plugins,
)
from disambig.packs import default_tasks
from disambig.spacy.annotations import (
    PREFIX,
    clear_cache,
    id_under,
    pack_decisions,
    tokens_of_places,
    warn_of_replaced_spans,
)
from disambig.spacy.component import (
    SEVERAL_LANGUAGES,
    SHARED_DEFAULTS,
    Disambiguator,
    Rates,
    SpanWriter,
    check_pipeline_language,
    check_settings_of_factory,
    load_for_component,
    models_for_writing,
    protect_foreign_paragraphs,
    words_to_ignore,
)
from disambig.spacy.factory import require_distribution
from disambig.spacy.labellers import DocumentLabeller
from disambig.text import TokenView, view_of_docs
from disambig.types import decides

FACTORY = "disambig"
DEFAULTS: dict[str, Any] = {"model": None, "spans_key": None, **SHARED_DEFAULTS}


def make_any(
    nlp: Language,
    name: str,
    model: str | None,
    spans_key: str | None,
    flags_per_1000: float | None,
    ignore: list[str],
    protect: bool,
    detect_language: bool,
    writing: str | None,
) -> Disambiguator:
    """Create a component for the model in the config; a model that labels documents writes ``doc.cats``.

    Raises D480 if no model is named, D404 for an unknown model, D953 for an unknown kind of writing.

    `name`: name of the component in the pipeline; several components need different names.
    `model`: a model directory, a task or PACK/TASK.
    `spans_key`: key of ``doc.spans``; the name of the model's task if not given.
    `flags_per_1000`, `ignore`, `protect`, `detect_language`: see `Disambiguator`; not used for labels of
    documents.
    `writing`: kind of writing that the model assumes (see `disambig.models.with_writing`).
    """
    if not model:
        raise UserError("D480", name=name, factory=FACTORY)
    require_distribution(nlp, FACTORY)
    (loaded,) = models_for_writing([load_for_component(model)], writing, name)
    if decides(loaded.task).where == "documents":
        return DocumentLabeller(nlp, loaded, name=name)
    return Disambiguator(
        nlp,
        loaded,
        name=name,
        spans_key=spans_key or loaded.task.name,
        flags_per_1000=flags_per_1000,
        ignore=ignore,
        protect=protect,
        detect_language=detect_language,
    )


Language.factory(
    FACTORY,
    default_config=DEFAULTS,
    assigns=["doc.spans", "doc.user_data", "span._.disambig", "doc.cats"],
    func=check_settings_of_factory(make_any),
)


PROOFREAD_FACTORY = "disambig_proofread"
LocatedSpan = tuple[int, int, Span]
"""The offsets of a decision, which are equal for an empty place, and its Span."""
PROOFREAD_DEFAULTS: dict[str, Any] = {"models": [], **SHARED_DEFAULTS, "spans_key": "proofread"}


class Proofreader(SpanWriter):
    """Flag wrong words with several models: one Span per flagged place.

    ``label_`` is the replacement, ``id_`` the task, and ``span._.disambig`` the record; its ``alternatives``
    are the replacements of less certain tasks. The text is tokenised once for all models.

    Raises D500 for a pipeline of another language, D333 for two models of one task, D644 for a model that
    does not correct words, D401 for an invalid rate, D950 for the rate of an unknown task, D503 for an
    `ignore` that is not a list of words, phrases and corrections.

    `nlp`: the pipeline; its language must be that of the models.
    `models`: models of different tasks.
    `name`: name of the component in the pipeline.
    `spans_key`: key of ``doc.spans``.
    `flags_per_1000` (float or mapping from task to float): false alarms to accept per 1,000 correct words:
    for all models together, or for some tasks; by default each model's own rate.
    `ignore`: words to ignore, in any case, words with those beside them ("more then"), and corrections
    ("then -> than").
    `protect`: whether quotes, code, URLs and names are ignored.
    `detect_language`: whether paragraphs in other languages are left alone.
    """

    def __init__(
        self,
        nlp: Language,
        models: Sequence[Model],
        *,
        name: str,
        spans_key: str = "proofread",
        flags_per_1000: RequestedRates = None,
        ignore: Sequence[str] = (),
        protect: bool = True,
        detect_language: bool = True,
    ) -> None:
        for model in models:
            check_pipeline_language(nlp, model, name)
            if not is_corrector(model):
                raise no_corrections_error(model)
        check_one_model_per_task([model.name for model in models], models)
        super().__init__(name, spans_key)
        self.models = tuple(models)
        self.rates = task_rates(models, flags_per_1000)
        self.ignore = {model.tokenisation.name: words_to_ignore(model, name, ignore) for model in models}
        self.protect = protect
        self.detect_language = detect_language
        self.vocab = nlp.vocab
        self._add_strings()

    @property
    def span_tasks(self) -> tuple[str, ...] | None:
        """The tasks of the models."""
        return tuple(model.task.name for model in self.models)

    def predict(self, docs: Sequence[Doc]) -> list[Decisions]:
        """Return the flags of each model in a batch of Docs, without overlaps; the Docs are not changed."""
        views: dict[tuple[str, str], TokenView] = {}
        view_by_model = []
        for model in self.models:
            tokenisation = model.tokenisation.name
            key = tokenisation, model.language if self.detect_language else ""
            if key not in views:
                view = view_of_docs(docs, model.tokenisation, protected=self.protect)
                views[key] = protect_foreign_paragraphs(
                    protect_words(view, self.ignore[tokenisation]), key[1:]
                )
            view_by_model.append(views[key])
        rates = [self.rates.get(model.task.name) for model in self.models]
        decisions_by_task = [
            decisions.only_flags() for decisions in decide_together(self.models, view_by_model, rates)
        ]
        if not any(map(len, decisions_by_task)):
            return decisions_by_task
        model_set = ModelSet(self.models, self.rates, self.ignore, self.protect)
        return model_set.verify(decisions_by_task, view_by_model[0].texts, neighbours=True)

    def set_annotations(self, docs: Sequence[Doc], decisions: Sequence[Decisions]) -> None:
        """Write the flags of `predict` to the Docs; flags that lost to others are kept as alternatives."""
        clear_cache()
        spans: list[list[LocatedSpan]] = [[] for _ in docs]
        numbers = np.arange(len(docs) + 1)
        for task_decisions in decisions:
            bounds = task_decisions.documents.searchsorted(numbers).tolist()
            packed = pack_decisions(task_decisions, docs, bounds, self.spans_key, scope=self.spans_key)
            for number, (doc, packed_decisions) in enumerate(zip(docs, packed, strict=True)):
                span_id = id_under(doc, task_decisions.task, self.spans_key)
                doc.user_data[PREFIX + span_id] = packed_decisions
                first, last = bounds[number : number + 2]
                if first < last:
                    spans[number] += _flagged_spans(doc, task_decisions.slice(first, last), span_id)
        for doc, doc_spans in zip(docs, spans, strict=True):
            warn_of_replaced_spans(doc, self.spans_key, [model.task.name for model in self.models])
            in_order = [span for *_, span in sorted(doc_spans, key=lambda located: located[:2])]
            doc.spans[self.spans_key] = SpanGroup(doc, name=self.spans_key, spans=in_order)

    def reference(self) -> dict[str, Any]:
        """Return the name and version of each task's model."""
        return {"models": {model.task.name: f"{model.name} {model.version}" for model in self.models}}

    def check(self, saved: Any) -> None:
        """Warn if the pipeline was saved with other models."""
        self._add_strings()  # loading a pipeline also replaces its vocabulary
        if saved != self.reference():
            before, after = (
                ", ".join(reference.get("models", {}).values()) for reference in (saved, self.reference())
            )
            warnings.warn(f"{self.name} was saved with {before}, but now uses {after}", stacklevel=3)

    def _add_strings(self) -> None:
        for text in (self.spans_key, *(model.task.name for model in self.models)):
            self.vocab.strings.add(text)


def _flagged_spans(doc: Doc, decisions: Decisions, span_id: str) -> list[LocatedSpan]:
    """Return the offsets and a Span for each flagged decision of one Doc."""
    rows = np.flatnonzero(decisions.flagged)
    starts, ends = decisions.starts[rows], decisions.ends[rows]
    first, last = tokens_of_places(doc, starts, ends)
    chosen = [decisions.candidate_texts(i)[decisions.chosen[i]] for i in rows.tolist()]
    text = doc.text  # spaCy builds it anew each time
    labels = [
        replacement(word, text, start, end).strip()
        for word, start, end in zip(chosen, starts.tolist(), ends.tolist(), strict=True)
    ]
    spans = [
        Span(doc, i, j, label=label, span_id=span_id) for i, j, label in zip(first, last, labels, strict=True)
    ]
    return list(zip(starts.tolist(), ends.tolist(), spans, strict=True))


def make_proofread(
    nlp: Language,
    name: str,
    models: list[str],
    flags_per_1000: Rates | None,
    ignore: list[str],
    protect: bool,
    detect_language: bool,
    writing: str | None,
    spans_key: str,
) -> Proofreader:
    """Create a component for the models in the config, or for all installed models that correct words.

    Raises D952 if no model is named or installed, D404 for an unknown model, D953 for an unknown kind of
    writing, and the errors of `Proofreader`.

    `name`: name of the component in the pipeline.
    `models`: tasks, PACK/TASK or directories; if empty, the installed models of the pipeline's language that
    correct words, except those that their pack marks as `by_name`.
    `flags_per_1000`, `ignore`, `protect`, `detect_language`, `spans_key`: see `Proofreader`.
    `writing`: kind of writing that the models assume (see `disambig.models.with_writing`).
    """
    require_distribution(nlp, PROOFREAD_FACTORY)
    takes = 'config={"models": [...]} takes model directories'
    try:
        load = partial(load_for_component, takes=takes, is_configured=bool(models))
        loaded = [load(one) for one in models or with_plugins(default_tasks(), load)]
    except UserError as problem:
        raise list_correcting(problem) from None
    if not models:
        languages = ("", nlp.lang)
        loaded = [
            model
            for model in loaded
            if is_corrector(model) and (model.language in languages or nlp.lang == SEVERAL_LANGUAGES)
        ]
    if not loaded:
        raise UserError("D952", name=name, language=nlp.lang)
    return Proofreader(
        nlp,
        models_for_writing(loaded, writing, name),
        name=name,
        spans_key=spans_key,
        flags_per_1000=flags_per_1000,
        ignore=ignore,
        protect=protect,
        detect_language=detect_language,
    )


Language.factory(
    PROOFREAD_FACTORY,
    default_config=PROOFREAD_DEFAULTS,
    assigns=["doc.spans", "doc.user_data", "span._.disambig"],
    default_score_weights={"spans_proofread_f": 1.0, "spans_proofread_p": 0.0, "spans_proofread_r": 0.0},
    func=check_settings_of_factory(make_proofread),
)
