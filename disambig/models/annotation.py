"""Annotate texts with several models: rates of flags, kinds of writing, overlaps, minimum precision.

Documents are annotated in batches of limited size, with a time limit, and the pieces of long ones are joined.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CandidateLists,
    Decisions,
    PrecisionTable,
    is_ignored,
    minibatch,
    mistakes_per_1000,
    plain_word,
    replacement,
)
from disambig.decision import check_rate, resolve_overlaps, share_budget
from disambig.errors import UserError
from disambig.files import without_compression
from disambig.formats import AnnotatedDocument, Document, UnreadableDocument
from disambig.formatting import describe_failure
from disambig.markup import PlainText, invalid_markup, read_markup
from disambig.models.model import Model, decide_together
from disambig.models.verification import DroppedFlag, verify_flags
from disambig.registry import plugin_packages
from disambig.rules import ALL_RULES, RuleSelection
from disambig.runtime import DeadlineExceeded, return_free_memory, time_limit
from disambig.text import TokenView, foreign_layer, foreign_to_all, hash_words, view_of_texts
from disambig.types import DecisionRuleTraits, RaisesFlags, decides, get_trait

RequestedRates = float | Mapping[str, float] | None
"""Flags per 1,000 correct words: for all models together, or per task."""

Annotate = Callable[[Sequence[str]], list[Decisions]]
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


def task_rates(models: Sequence[Model], requested: RequestedRates) -> dict[str, float]:
    """Return the rate of each task whose rate differs from its model's default.

    Raises D401 for an invalid rate, D950 for the rate of a task that no model flags.

    `requested` (float or mapping from task to float): a number is a budget that all flagging models share,
    such that together they find as many mistakes as possible (`disambig.decision.calibration`); a single
    model gets all of it.
    """
    if requested is None:
        return {}
    flagging = [model for model in models if isinstance(model.judge, RaisesFlags)]
    tasks = [model.task.name for model in flagging]
    if isinstance(requested, Mapping):
        for task, rate in requested.items():
            check_rate(rate)
            if task not in tasks:
                raise UserError("D950", where="", task=task, names=", ".join(sorted(tasks)) or "none")
        return {task: float(rate) for task, rate in requested.items()}
    rules = [model.judge for model in flagging]
    curves = [get_trait(rule, DecisionRuleTraits, "gains")() for rule in rules]
    return dict(zip(tasks, share_budget(curves, check_rate(float(requested))), strict=True))


def with_writing(models: Sequence[Model], writing: str | None) -> tuple[Model, ...]:
    """Return models that assume as many mistakes as there are in a kind of writing.

    Raises D953 if there is no such kind of writing.

    `models`: those whose decision rule makes no assumption about how often a writer makes a mistake are
    returned unchanged; `unused_writing` returns a note if all are.
    `writing`: a key of `disambig.data.WORDS_PER_MISTAKE`; by default each model assumes what it was fitted
    to.
    """
    if writing is None:
        return tuple(models)
    density = mistakes_per_1000(writing)
    return tuple(model.with_mistakes_per_1000(density) for model in models)


def unused_writing(models: Sequence[Model], writing: str | None) -> UserError | None:
    """Return a note (D954) if a kind of writing is given and has no effect on any of the models."""
    if writing is None or any(model.mistakes_per_1000 is not None for model in models):
        return None
    return UserError("D954", writing=writing, models=", ".join(model.name for model in models))


@dataclass(frozen=True, slots=True, eq=False)
class ModelSet:
    """Several models that decide the same texts."""

    models: tuple[Model, ...]
    # flags per 1,000 correct words, as `task_rates` returns them; other tasks have the rate of their model
    rates: Mapping[str, float] = field(default_factory=dict)
    # Words (in lower case) that are never flagged, and corrections that are never proposed, such as ``login
    # -> log in``. Nothing else is proposed in their place
    ignore: Collection[str] | Mapping[str, Collection[str]] = ()
    protect: bool = True  # whether quotes, code, URLs and names are protected from flags
    # whether paragraphs in another language than a model's are protected from its flags (see
    # `disambig.text.find_foreign_paragraphs`)
    detect_language: bool = True
    # measured precision of the flags of each task
    trust: Mapping[str, PrecisionTable] = field(default_factory=dict)
    # minimum share of correct flags (see `PrecisionTable`); a task without a table raises no flags then
    least: float | None = None
    selection: RuleSelection = ALL_RULES  # the rules whose flags are raised

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages of the models if paragraphs in other languages are left alone; otherwise empty."""
        return detected_languages(self.models) if self.detect_language else ()

    def __call__(self, texts: Sequence[str]) -> list[Decisions]:
        """Call `annotate`: a set of models is an `Annotate` function."""
        return self.annotate(texts)

    def annotate(self, texts: Sequence[str]) -> list[Decisions]:
        """Decide every text with every model, and verify the flags (see `annotate`)."""
        verified = self.verify(self._decide(texts), texts, neighbours=True)
        return [self._selected(decisions, texts) for decisions in verified]

    def verify(
        self,
        decisions: Sequence[Decisions],
        texts: Sequence[str],
        *,
        neighbours: bool = False,
        dropped: dict[tuple[int, int], DroppedFlag] | None = None,
    ) -> list[Decisions]:
        """Return decisions of these models with one flag in every place, and verified ones only.

        What is to be ignored is not flagged. See `disambig.models.verify_flags`.
        """
        rules = {model.task.name: model.judge for model in self.models}
        limits = {task: rule.limit() for task, rule in rules.items() if isinstance(rule, RaisesFlags)}
        verified = verify_flags(
            texts, decisions, self._decide_near, limits, neighbours=neighbours, dropped=dropped
        )
        # This comes after overlaps are resolved, as in `disambig.checking.find_flags`: a flag is ignored
        # because the words are right, so a less certain flag in its place would be wrong as well.
        return [self._without_ignored(task_decisions, texts) for task_decisions in verified]

    def annotate_separately(self, texts: Sequence[str]) -> list[Decisions]:
        """Decide every text with each model; flags of different models may overlap."""
        return [self._without_ignored(decisions, texts) for decisions in self._decide(texts)]

    def _decide(self, texts: Sequence[str]) -> list[Decisions]:
        """Decide every text with each model, including words that are ignored."""
        views: dict[tuple[str, str], TokenView] = {}
        model_views = []
        for model in self.models:
            key = model.tokenisation.name, model.language if self.detect_language else ""
            if key not in views:
                view = view_of_texts(texts, model.tokenisation, protected=self.protect)
                views[key] = protect_foreign(view, key[1])
            model_views.append(views[key])
        rates = [self.rates.get(model.task.name) for model in self.models]
        by_model = decide_together(self.models, model_views, rates)
        return [self._with_trust(decisions.without_empty(), texts) for decisions in by_model]

    def _decide_near(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[Decisions]:
        """Decide near some spans of each text only."""
        views: dict[tuple[str, str], tuple[TokenView, NDArray[np.bool_]]] = {}
        models = [model for model in self.models if decides(model.task).corrects]
        # a paragraph that one model corrects is foreign to models of other languages only
        several = len(self.languages) > 1
        keys = [(model.tokenisation.name, model.language if several else "") for model in models]
        for model, key in zip(models, keys, strict=True):
            if key not in views:
                view = view_of_texts(texts, model.tokenisation, protected=self.protect, keep=False)
                near = _tokens_near(view, spans)
                views[key] = protect_foreign(view.with_layer("near", near), key[1]), near
        model_views = [views[key] for key in keys]
        decided = decide_together(
            models,
            [view for view, _ in model_views],
            [self.rates.get(model.task.name) for model in models],
            near=[near for _, near in model_views],
        )
        resolved = resolve_overlaps([self._with_trust(decisions, texts) for decisions in decided], texts)
        return [self._without_ignored(decisions, texts) for decisions in resolved]

    def _without_ignored(self, decisions: Decisions, texts: Sequence[str]) -> Decisions:
        """Return the decisions without flags of words, and of corrections, to ignore."""
        lists = self.ignore.values() if isinstance(self.ignore, Mapping) else [self.ignore]
        ignored = {plain_word(entry) for entries in lists for entry in entries}
        if not ignored:
            return decisions
        flagged = decisions.flagged.copy()
        for i in np.flatnonzero(flagged).tolist():
            text = texts[int(decisions.documents[i])]
            place = int(decisions.starts[i]), int(decisions.ends[i])
            flagged[i] = not is_ignored(ignored, text, *place, _words_of_flag(decisions, i, texts)[1])
        return replace(decisions, flagged=flagged)

    def _with_trust(self, decisions: Decisions, texts: Sequence[str]) -> Decisions:
        """Return the decisions with the precision table of their task, and no flags below the minimum."""
        table = self.trust.get(decisions.task)
        if self.least is None:
            return decisions if table is None else replace(decisions, trust=table)
        flagged = decisions.flagged.copy()
        for i in np.flatnonzero(flagged).tolist():
            observed, replaced_by = _words_of_flag(decisions, i, texts)
            probability = float(decisions.probabilities[i])
            flagged[i] = (
                table is not None and table.estimate(observed, replaced_by, probability).share >= self.least
            )
        return replace(decisions, flagged=flagged, trust=table)

    def _selected(self, decisions: Decisions, texts: Sequence[str]) -> Decisions:
        """Return the decisions with the flags of the selected rules only."""
        rows = np.flatnonzero(decisions.flagged).tolist() if self.selection else []
        names = {i: decisions.rule_name(i, texts[int(decisions.documents[i])]) for i in rows}
        hidden = [i for i in rows if not self.selection.shows(names[i], _agreeing_tasks(decisions, i))]
        if not hidden:
            return decisions
        flagged = decisions.flagged.copy()
        flagged[hidden] = False
        return replace(decisions, flagged=flagged)


def _agreeing_tasks(decisions: Decisions, row: int) -> list[str]:
    """Return the task of a flag, and the less certain tasks that propose the same correction."""
    if decisions.settled is None:
        return [decisions.task]
    candidate = decisions.candidate_texts(row)[decisions.chosen[row]]
    correction = int(decisions.starts[row]), int(decisions.ends[row]), candidate
    alternatives = decisions.settled.decision_alternatives(row)
    agreeing = [other for other in alternatives if (other.start, other.end, other.chosen) == correction]
    return [decisions.task, *(other.task for other in agreeing)]


def _words_of_flag(decisions: Decisions, row: int, texts: Sequence[str]) -> tuple[str, str]:
    """Return the written words of a flag, and its replacement."""
    text = texts[int(decisions.documents[row])]
    start, end = int(decisions.starts[row]), int(decisions.ends[row])
    candidate = decisions.candidate_texts(row)[decisions.chosen[row]]
    return text[start:end], replacement(candidate, text, start, end)


def _tokens_near(view: TokenView, spans: Sequence[Sequence[tuple[int, int]]]) -> NDArray[np.bool_]:
    """Return which tokens overlap or touch spans of their document, shape ``(n_tokens,)``."""
    near = np.zeros(len(view), bool)
    documents = view.document_indices(np.arange(len(view)))
    bounds = np.searchsorted(documents, np.arange(len(spans) + 1)).tolist()
    for document, text_spans in enumerate(spans):
        tokens = slice(*bounds[document : document + 2])
        for start, end in text_spans:
            near[tokens] |= (view.starts[tokens] <= end) & (view.ends[tokens] >= start)
    return near


def annotate(
    texts: Sequence[str],
    models: Sequence[Model],
    *,
    flags_per_1000: RequestedRates = None,
    ignore: Collection[str] = (),
    protect: bool = True,
    detect_language: bool = True,
    writing: str | None = None,
) -> list[Decisions]:
    """Decide every text with every model, keep one flag where flags overlap, and verify the flags.

    Parameters
    ----------
    texts : sequence of str
        The documents.
    models : sequence of Model
    flags_per_1000 : float or mapping from task to float, optional
        Accepted false alarms per 1,000 correct words: one number, which is shared among the flagging models
        according to what each gains from it, or one number per task; by default each model's own.
    ignore : collection of str
        Words (in lower case) that are never flagged, and corrections that are never proposed, such as
        ``login -> log in``.
    protect : bool
        Whether quotes, code, URLs and names are protected from flags.
    detect_language : bool
        Whether paragraphs in another language than a model's are protected from its flags (see
        `disambig.text.find_foreign_paragraphs`).
    writing : str, optional
        How carefully the texts were written: ``"published"``, ``"edited"``, ``"draft"`` or ``"learner"``, one
        mistake in 2,000, 400, 100 or 15 words. The more mistakes there are, the more is flagged. By default
        each model assumes what it was fitted to. A warning says so if none of the models uses this (D954).

    Returns
    -------
    list of Decisions
        One per model, over all texts; places that are empty and stay empty are left out. Of flags whose edits
        overlap, the most certain one is kept, with the others as alternatives (`disambig.decision.overlaps`).
        The models do not flag the text that a correction writes (`disambig.models.verification`).

    Raises
    ------
    UserError
        D401 for an invalid rate, D950 for the rate of a task that no model decides, D953 for an unknown kind
        of writing.
    """
    texts, models = _check_arguments(texts, models)
    rates = task_rates(models, flags_per_1000)
    model_set = ModelSet(with_writing(models, writing), rates, ignore, protect, detect_language)
    _warn_of_unused_writing(models, writing)
    return model_set.annotate(texts)


def annotate_separately(
    texts: Sequence[str],
    models: Sequence[Model],
    *,
    flags_per_1000: RequestedRates = None,
    writing: str | None = None,
) -> list[Decisions]:
    """Decide as `annotate` does, but each model separately: their flags may overlap and are not verified."""
    texts, models = _check_arguments(texts, models)
    model_set = ModelSet(with_writing(models, writing), task_rates(models, flags_per_1000))
    _warn_of_unused_writing(models, writing)
    return model_set.annotate_separately(texts)


def _check_arguments(texts: Iterable[str], models: Iterable[Model]) -> tuple[Sequence[str], Sequence[Model]]:
    """Return texts and models as sequences; raise TypeError for one text, one model, or something else."""
    if isinstance(texts, str):
        raise TypeError("texts must be a sequence of str, not a str: pass [text]")
    if isinstance(models, Model):
        raise TypeError("models must be a sequence of models, not a Model: pass [model]")
    models = [models] if isinstance(models, str) else list(models)
    if names := [model for model in models if isinstance(model, str | os.PathLike)]:
        raise TypeError(f"models must be Model objects, not names: pass load_model({names[0]!r})")
    texts = list(texts)
    if others := [text for text in texts if not isinstance(text, str)]:
        raise TypeError(f"texts must be a sequence of str, not of {type(others[0]).__name__}")
    return texts, models


def _warn_of_unused_writing(models: Sequence[Model], writing: str | None) -> None:
    if note := unused_writing(models, writing):
        warnings.warn(str(note), stacklevel=3)


def protect_words(view: TokenView, ignore: Collection[str]) -> TokenView:
    """Return `view` with the words in `ignore` added to its protected words."""
    if not ignore:
        return view
    return protect_tokens(view, np.isin(view.hashes, hash_words([word.lower() for word in ignore])))


def protect_foreign(view: TokenView, language: str) -> TokenView:
    """Return `view` with the paragraphs that are not in `language` added to its protected words."""
    return protect_tokens(view, foreign_layer(view, language))


def protect_tokens(view: TokenView, tokens: NDArray[np.bool_] | None) -> TokenView:
    """Return `view` with more protected tokens, given by a mask; None for none."""
    if tokens is None or not tokens.any():
        return view
    if "protected" in view.layers:
        tokens = tokens | view.layers["protected"].astype(bool)
    return view.with_layer("protected", tokens)


def detected_languages(models: Sequence[Model]) -> tuple[str, ...]:
    """Return the languages of the models that respect protected words: those that correct words."""
    correcting = [model for model in models if decides(model.task).between != "labels"]
    return tuple(dict.fromkeys(model.language for model in correcting if model.language))


def check_lists(model: Model) -> None:
    """Raise D336 unless the model decides between candidates of lists."""
    if decides(model.task).where != "items":
        raise UserError("D336", model=model.name, task=model.task.name)


def decide_lists(model: Model, lists: CandidateLists) -> Decisions:
    """Decide each list; ``scores`` has one number per candidate, and ``chosen`` is the best candidate.

    Costs of the lists are ignored.

    Raises
    ------
    UserError
        D336 for a model that does not decide between candidates of lists.
    """
    from disambig.formats import list_instances

    check_lists(model)
    return model.decide_at(list_instances(lists).without_labels(), model.tokenisation([]))


HIGHEST_RATE = 1000.0
"""A rate of flags per 1,000 words at which models raise every flag that they can."""


def rates_for_precision(
    models: Sequence[Model], trust: Mapping[str, PrecisionTable], minimum: float
) -> dict[str, float]:
    """Return for each task a rate at which it raises every flag of the required precision, and few others.

    A task without such flags gets 0.
    """
    rates = {}
    for model in models:
        assert isinstance(model.judge, RaisesFlags)
        table = trust.get(model.task.name)
        probability = None if table is None else table.least_for(minimum)
        rate = 0.0
        if probability is not None:
            rate = model.judge.flags_per_1000 or 1.0
            while rate < HIGHEST_RATE and model.judge.limit(rate) >= probability:
                rate *= 2
        rates[model.task.name] = min(rate, HIGHEST_RATE)
    return rates


BATCH_CHARACTERS = PIECE_CHARACTERS = 100_000
_CUT_WINDOW = 20_000
"""Number of characters before the maximum size in which the end of a piece is searched for."""
_BATCH_DOCUMENTS = 2_000
_log = logging.getLogger(__name__)


def batch_documents(
    documents: Iterable[Document], *, size: int = BATCH_CHARACTERS
) -> Iterator[list[Document]]:
    """Yield batches of documents with at least `size` characters in all."""
    return minibatch(documents, size, lambda document: len(document.text), maximum=_BATCH_DOCUMENTS)


def annotate_documents(
    documents: Sequence[Document], annotate: Annotate, *, seconds: float | None = None
) -> tuple[list[AnnotatedDocument], list[UnreadableDocument]]:
    """Annotate a batch.

    If `annotate` fails, or takes longer than `seconds`, the documents are retried one at a time; those that
    fail again are returned as unreadable.
    """
    try:
        with time_limit(seconds):
            return _annotate(documents, annotate), []
    except (Exception, DeadlineExceeded) as problem:  # DeadlineExceeded is a BaseException
        if len(documents) > 1:
            _log.debug("a batch of %d documents failed; trying one by one", len(documents), exc_info=True)
            annotated, unreadable = [], []
            for document in documents:
                good, bad = annotate_documents([document], annotate, seconds=seconds)
                annotated += good
                unreadable += bad
            return annotated, unreadable
        _log.debug("%s could not be annotated", documents[0].id, exc_info=True)
        return [], [UnreadableDocument(documents[0].path, _failure(documents[0], problem, seconds))]


def _failure(document: Document, problem: BaseException, seconds: float | None) -> UserError:
    """Return the error for a document whose annotation raised `problem`."""
    if isinstance(problem, UserError) and problem.code == "D344":  # it names the path itself
        return problem
    if isinstance(problem, DeadlineExceeded):
        text = f"it took longer than {seconds:g} seconds"
    else:
        is_user_error = isinstance(problem, UserError)
        text = str(problem) if is_user_error else describe_failure(problem, plugin_packages())
        text = ": ".join([*getattr(problem, "__notes__", ()), text])  # a note names the model
    path = f"{document.path}:{document.line}" if document.line else document.path
    error = UserError("D313", path=path, problem=text)
    error.__cause__ = problem
    return error


def _annotate(documents: Sequence[Document], annotate: Annotate) -> list[AnnotatedDocument]:
    """Annotate documents in pieces of limited size, and join the decisions of each document."""
    plain_texts = [_plain_text(document) for document in documents]
    pieces: list[str] = []
    places: list[list[tuple[int, int]]] = []  # for each document: (index in pieces, offset)
    for plain in plain_texts:
        bounds = cut_pieces(plain.text)
        places.append([(len(pieces) + i, start) for i, (start, _) in enumerate(bounds)])
        pieces += [plain.text[start:end] for start, end in bounds]
    by_piece: list[list[Decisions]] = []
    for first, last in _batch_bounds([len(piece) for piece in pieces]):
        batch = pieces[first:last]
        by_task = annotate(batch)
        by_piece += [[decisions.in_document(index) for decisions in by_task] for index in range(len(batch))]
        del by_task
        return_free_memory(sum(map(len, batch)))
    languages = annotator_languages(annotate)
    annotated = [
        AnnotatedDocument(
            document,
            _in_file(join_pieces([(by_piece[index], offset) for index, offset in place]), plain),
            tuple(foreign_to_all(plain.text, languages)),
        )
        for document, place, plain in zip(documents, places, plain_texts, strict=True)
    ]
    for result in annotated:  # a function of a plugin that names rules may fail: then only for its documents
        for decisions in result.decisions:
            for row in np.flatnonzero(decisions.flagged).tolist():
                decisions.rule_name(row, result.document.text)
    return annotated


def _plain_text(document: Document) -> PlainText:
    """Return the text with its markup painted over, if it is a whole file."""
    if document.kind != "file":
        return PlainText(document.text)
    path = without_compression(document.path)
    plain = read_markup(path, document.text)
    if plain.problem:
        raise invalid_markup(path, plain)
    return plain


def _in_file(decisions: Sequence[Decisions], plain: PlainText) -> tuple[Decisions, ...]:
    """Return decisions of a plain text with offsets into the file; the start of a word is always the same."""
    if not plain.shortened:
        return tuple(decisions)
    moved = []
    for part in decisions:
        settled, offset = part.settled, plain.file_offset
        if settled is not None:
            alternatives = (replace(other, end=offset(other.end)) for other in settled.alternatives)
            settled = replace(settled, alternatives=tuple(alternatives))
        ends = np.array([offset(end) for end in part.ends.tolist()], np.int32)
        moved.append(replace(part, ends=ends, settled=settled))
    return tuple(moved)


def cut_pieces(
    text: str, *, size: int = PIECE_CHARACTERS, window: int = _CUT_WINDOW
) -> list[tuple[int, int]]:
    """Split a long text at the ends of paragraphs, lines, sentences or words, in this order of preference.

    `size`: maximum number of characters of a piece.
    `window`: a piece may be up to this number of characters shorter; if nothing ends there, a word is cut.
    Returns start and end of each piece; the pieces cover the text.
    """
    pieces, start = [], 0
    while len(text) - start > size:
        end = start + size
        for mark in ("\n\n", "\n", ". ", " "):
            position = text.rfind(mark, max(start, end - window), end)
            if position >= 0:
                end = position + len(mark)
                break
        pieces.append((start, end))
        start = end
    return [*pieces, (start, len(text))]


def _batch_bounds(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts with at most `BATCH_CHARACTERS` characters together, or of one longer text."""
    first, size = 0, 0
    for index, length in enumerate(lengths):
        if index > first and size + length > BATCH_CHARACTERS:
            yield first, index
            first, size = index, 0
        size += length
    if lengths:
        yield first, len(lengths)


def join_pieces(parts: Sequence[tuple[Sequence[Decisions], int]]) -> tuple[Decisions, ...]:
    """Join the decisions of the pieces of a document, which begin at the given offsets, for each task."""
    if len(parts) == 1 and not parts[0][1]:
        return tuple(parts[0][0])
    return tuple(
        Decisions.joined([(by_task[task], offset) for by_task, offset in parts])
        for task in range(len(parts[0][0]))
    )
