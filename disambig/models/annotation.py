"""Annotate texts with several models: rates of flags, kinds of writing, overlaps, minimum precision."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    CandidateLists,
    Decisions,
    PrecisionTable,
    ignore_entries,
    mistakes_per_1000,
    plain_word,
    replacement,
)
from disambig.decision import check_rate, resolve_overlaps, share_budget
from disambig.errors import UserError
from disambig.models.model import Model, decide_together
from disambig.models.verification import DroppedFlag, verify_flags
from disambig.rules import ALL_RULES, RuleSelection
from disambig.text import TokenView, hash_words
from disambig.types import DecisionRuleTraits, RaisesFlags, decides, get_trait

RequestedRates = float | Mapping[str, float] | None
"""Flags per 1,000 correct words: for all models together, or per task."""


def task_rates(models: Sequence[Model], requested: RequestedRates) -> dict[str, float]:
    """Return the rate of each task whose rate differs from its model's default.

    Raises D401 for an invalid rate, D950 for the rate of a task that no model flags.

    Parameters
    ----------
    requested : float or mapping from task to float, optional
        A number is a budget that all flagging models share, such that together they find as many mistakes as
        possible (`disambig.decision.thresholds`); a single model gets all of it.
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

    Parameters
    ----------
    models : sequence of Model
        Those whose decision rule makes no assumption about how often a writer makes a mistake are returned
        unchanged; `unused_writing` returns a note if all are.
    writing : str, optional
        A key of `disambig.data.WORDS_PER_MISTAKE`; by default each model assumes what it was fitted to.
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

    models: tuple[Model, ...]  # given `writing`, these are the models that assume it
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
    # kind of writing: ``"published"``, ``"edited"``, ``"draft"`` or ``"learner"`` (see `with_writing`)
    writing: str | None = None
    selection: RuleSelection = ALL_RULES  # the rules whose flags are raised

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", with_writing(self.models, self.writing))

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
        from disambig.text import view_of_texts

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
        from disambig.text import view_of_texts

        views: dict[str, tuple[TokenView, NDArray[np.bool_]]] = {}
        models = [model for model in self.models if decides(model.task).corrects]
        for model in models:
            name = model.tokenisation.name
            if name not in views:
                view = view_of_texts(texts, model.tokenisation, protected=self.protect, keep=False)
                near = _tokens_near(view, spans)
                views[name] = replace(view, layers={**view.layers, "near": near}), near
        model_views = [views[model.tokenisation.name] for model in models]
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
            flagged[i] = ignored.isdisjoint(
                ignore_entries(text, *place, _words_of_flag(decisions, i, texts)[1])
            )
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
        hidden = [
            i
            for i in rows
            if not self.selection.shows(
                decisions.rule_name(i, texts[int(decisions.documents[i])]), decisions.task
            )
        ]
        if not hidden:
            return decisions
        flagged = decisions.flagged.copy()
        flagged[hidden] = False
        return replace(decisions, flagged=flagged)


def _words_of_flag(decisions: Decisions, row: int, texts: Sequence[str]) -> tuple[str, str]:
    """Return the written words of a flag, and its replacement."""
    text = texts[int(decisions.documents[row])]
    start, end = int(decisions.starts[row]), int(decisions.ends[row])
    return text[start:end], replacement(
        decisions.candidate_texts(row)[decisions.chosen[row]], text, start, end
    )


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
    rates = task_rates(models, flags_per_1000)
    model_set = ModelSet(tuple(models), rates, ignore, protect, detect_language, writing=writing)
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
    model_set = ModelSet(tuple(models), task_rates(models, flags_per_1000), writing=writing)
    _warn_of_unused_writing(models, writing)
    return model_set.annotate_separately(texts)


def _warn_of_unused_writing(models: Sequence[Model], writing: str | None) -> None:
    if note := unused_writing(models, writing):
        warnings.warn(str(note), stacklevel=3)


def protect_words(view: TokenView, ignore: Collection[str]) -> TokenView:
    """Return `view` with the words in `ignore` added to its protected words."""
    if not ignore:
        return view
    return _protect(view, np.isin(view.hashes, hash_words([word.lower() for word in ignore])))


def protect_foreign(view: TokenView, language: str) -> TokenView:
    """Return `view` with the paragraphs that are not in `language` added to its protected words."""
    from disambig.text import foreign_layer

    return _protect(view, foreign_layer(view, language))


def _protect(view: TokenView, tokens: NDArray[np.bool_]) -> TokenView:
    """Return `view` with more protected tokens, given by a mask."""
    if not tokens.any():
        return view
    if "protected" in view.layers:
        tokens = tokens | view.layers["protected"].astype(bool)
    return replace(view, layers={**view.layers, "protected": tokens})


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
    models: Sequence[Model], trust: Mapping[str, PrecisionTable], least: float
) -> dict[str, float]:
    """Return for each task a rate at which it raises every flag of the required precision, and few others.

    A task without such flags gets 0.
    """
    rates = {}
    for model in models:
        assert isinstance(model.judge, RaisesFlags)
        table = trust.get(model.task.name)
        probability = None if table is None else table.least_for(least)
        rate = 0.0
        if probability is not None:
            rate = model.judge.flags_per_1000 or 1.0
            while rate < HIGHEST_RATE and model.judge.limit(rate) >= probability:
                rate *= 2
        rates[model.task.name] = min(rate, HIGHEST_RATE)
    return rates
