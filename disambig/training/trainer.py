"""Train a model: choose extractors, fit a scorer for each group, then fit the decision rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.config import resolve
from disambig.data import (
    Decisions,
    ScoreBatch,
    find_certain_mistakes,
    find_examples,
    find_instances,
    find_right_words,
    minibatch,
    record_edit,
    segments,
)
from disambig.decision import (
    LabelledProposals,
    SecondLook,
    check_methods,
    check_predictions,
    passage_paragraphs,
)
from disambig.errors import UserError, contract_error
from disambig.features import (
    ExtractorChoice,
    attributes,
    changed_attributes,
    check_same_numbers,
    restore_checked,
)
from disambig.files import ErrorCallback
from disambig.formats import Clean, Fix, Labelled
from disambig.models import Model
from disambig.registry import describe_component
from disambig.text import check_view, passage_offsets, view_of_texts
from disambig.training import diagnostics
from disambig.training.fitting import FittedResampling, Parts, Resampling, ResolvedConfig
from disambig.training.labelled_dataset import (
    ErrorCorpus,
    LabelledDataset,
    TextExamples,
    explain_empty_part,
    label_instances,
    protected_instances,
)
from disambig.training.resampling import (
    FOLDS,
    FittedFolds,
    FoldResampling,
    HeldOutResampling,
    count_dataset,
    few_scored,
)
from disambig.type_aliases import Floats, Progress, no_progress
from disambig.types import (
    CalibrationData,
    DecisionRule,
    FeatureExtractor,
    HasExamples,
    RaisesFlags,
    Scorer,
    SharesWeights,
    decides,
)


@dataclass(frozen=True, slots=True)
class FittedExtractor:
    """An extractor that `train` uses as it is, without fitting it again."""

    extractor: FeatureExtractor

    def fit(self, *_: object) -> FeatureExtractor:
        """Return the extractor unchanged."""
        return self.extractor


@dataclass(frozen=True, slots=True, eq=False)
class ChosenExtractors:
    """The result of choosing extractors: what training continues with."""

    fitted: FittedResampling  # the resampling with fitted extractors
    # the given config, with each choice between extractors replaced by the option that was taken
    config: dict[str, Any]
    # for each choice, the option that was ``taken`` and the ``accuracy`` of every option that was tried
    report: dict[str, Any]

    def notes(self) -> list[str]:
        """Return the choices as notes for the user."""
        return [_note(name, **choice) for name, choice in self.report.items()]


def choose_extractors(
    resampling: Resampling, parts: ResolvedConfig, config: dict[str, Any], progress: Progress
) -> ChosenExtractors:
    """Fit the extractors, choosing the best option of each `ExtractorChoice`, one choice after another.

    An option replaces the best one so far if it decides more examples correctly, by more than one standard
    error of the difference. Open settings of the learner are chosen with the first options.
    """
    options = {
        name: extractor.options
        for name, extractor in parts.extractors.items()
        if isinstance(extractor, ExtractorChoice)
    }
    for name, choice in options.items():
        parts = replace(parts, extractors={**parts.extractors, name: choice[next(iter(choice))]})
    fitted = resampling.prepare(parts, progress)
    best = _hits(fitted, parts) if options else None
    if best is not None and isinstance(fitted, FittedFolds):
        parts = replace(parts, learner=fitted.with_tuned(parts.learner))
    report: dict[str, Any] = {}
    for name, choice in options.items():
        best_option, *others = choice
        accuracies = {} if best is None else {best_option: float(best.mean())}
        for number, option in enumerate(others if best is not None else (), 1):
            progress(f"trying {name}", number, len(choice))
            trial_parts = replace(parts, extractors={**parts.extractors, name: choice[option]})
            trial = resampling.prepare(trial_parts, progress)
            hits = _hits(trial, trial_parts)
            assert hits is not None and best is not None
            accuracies[option] = float(hits.mean())
            if is_significantly_better(hits, best):
                fitted, parts, best, best_option = trial, trial_parts, hits, option
        report[name] = {"taken": best_option, "accuracy": accuracies}
    return ChosenExtractors(fitted, _select_options(config, report), report)


def is_significantly_better(hits: NDArray[np.bool_], than: NDArray[np.bool_]) -> bool:
    """Return True if `hits` has more correct decisions than `than`, by more than one standard error."""
    # under the null hypothesis the variance of the difference is the number of discordant examples
    difference = hits.astype(np.int64) - than
    return bool(difference.sum() > np.sqrt(np.abs(difference).sum()))


def _hits(fitted: FittedResampling, parts: ResolvedConfig) -> NDArray[np.bool_] | None:
    """Return which held-out examples are decided correctly; None if the resampling cannot say."""
    return fitted.hits(parts) if isinstance(fitted, FittedFolds) else None


def _select_options(config: dict[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config with each choice replaced by the option taken; unchanged if it names none of them."""
    extractors = dict(config.get("extractors", {}))
    for name, choice in report.items():
        if name in extractors:
            extractors[name] = extractors[name]["options"][choice["taken"]]
    return {**config, "extractors": extractors} if report and extractors else config


def _note(name: str, *, taken: str, accuracy: Mapping[str, float]) -> str:
    option = f"[extractors.{name}]: option {taken!r}"
    if not accuracy:
        return f"{option}, the first one; choosing the best one requires labelled examples"
    others = ", ".join(f"{other!r}: {value:.1%}" for other, value in accuracy.items() if other != taken)
    note = f"{option} with {accuracy[taken]:.1%} correct on held-out folds ({others})"
    if max(accuracy.values()) > accuracy[taken]:
        note += "; a later option is only chosen if it is better by more than one standard error"
    return note


def train(
    parts: Parts,
    texts: Mapping[str, Sequence[str]],
    *,
    name: str,
    version: str = "0.1.0",
    config: dict[str, Any] | None = None,
    mistakes: Sequence[Fix] = (),
    clean: Sequence[Clean] = (),
    tell: ErrorCallback | None = None,
    progress: Progress = no_progress,
    **settings: Any,
) -> Model:
    """Train a model on raw text, whose own words are taken as correct.

    Parameters
    ----------
    parts : dict or ResolvedConfig
        The resolved config: ``task``, ``tokenisation``, ``extractors`` (name to extractor), ``learner``,
        ``baseline`` and, optionally, ``judge``.
    texts : dict of str to sequence of str
        Documents to learn from (``"train"``) and to tune on (``"dev"``) and, optionally, documents for the
        extractors (``"background"``), which should differ from those of the learner.
    mistakes, clean : sequences of Fix and of Clean
        Mistakes that people made, and paragraphs without mistakes, preferably not from the counted text, for
        a decision rule that learns from them (by default `disambig.Mistakes.v1`). Give both or neither.
    tell : callable, optional
        Called, before the training, with one line for each count table that does not fit, and one for
        candidates that the tokenisation turns into other words.
    progress : callable, optional
        Called with the name of the stage, the number of steps done and the total.
    **settings
        ``flags_per_1000`` (the default operating point, 0.5), ``max_examples`` (maximum per group, sampled at
        random; 20,000), ``min_examples`` (groups with fewer, or in which only one candidate occurs, keep the
        unsupervised baseline; 20), ``seed`` (0).

    Raises
    ------
    UserError
        D412 if the text contains nothing to learn from, D426 to D429 for mistakes that cannot be used.
    """
    parts, error_corpus = ResolvedConfig.from_parts(parts), None
    if mistakes or clean:
        parts, config = parts.with_error_rule(config or {})
        error_corpus = ErrorCorpus.from_texts(parts.task, parts.tokenisation, mistakes, clean)
    learn = _examples(parts, texts["train"], decided=False)
    tune = _examples(parts, texts["dev"], decided=True)
    if not len(learn.instances) or not len(tune.instances):
        task = parts.task.name
        hint = f"none has a candidate of the task {task}"
        for unfindable in diagnostics.unfindable_candidates(parts, learn.instances):
            hint = f"{hint}; {unfindable}"
        if len(learn.instances) or len(tune.instances):
            hint = explain_empty_part(texts, "dev" if len(learn.instances) else "train", task)
        raise UserError("D412", what="the texts", hint=hint)
    background = _examples(parts, texts["background"], decided=False) if "background" in texts else learn
    notes = diagnostics.unfindable_candidates(parts, learn.instances)
    notes += diagnostics.count_table_warnings(parts, texts["train"])
    _report_notes(notes, tell)
    options: dict[str, Any] = {"name": name, "version": version, "config": config, "progress": progress}
    model = train_examples(parts, learn, tune, background, error_corpus=error_corpus, **options, **settings)
    return with_notes(model, notes)


def _report_notes(notes: Sequence[str], tell: ErrorCallback | None) -> None:
    if tell is not None:
        for note in notes:
            tell(note)


def with_notes(model: Model, notes: Sequence[str]) -> Model:
    """Return a model with further notes on its training."""
    if not notes:
        return model
    before = model.provenance.get("notes", ())
    return replace(model, provenance={**model.provenance, "notes": [*before, *notes]})


def train_examples(
    parts: ResolvedConfig,
    learn: TextExamples,
    tune: TextExamples,
    background: TextExamples,
    *,
    name: str,
    max_examples: int = 20_000,
    min_examples: int = 20,
    error_corpus: ErrorCorpus | None = None,
    **about: Any,
) -> Model:
    """Train a model on instances whose observed candidates are right; `background` is for the extractors.

    The other parameters are those of `train`.
    """
    for examples in (tune,) if isinstance(parts.task, HasExamples) else (learn, tune):
        # checked here, because a model does not check them again
        find_certain_mistakes(parts.task, examples.view, examples.instances)
        find_right_words(parts.task, examples.view)
    resampling = HeldOutResampling(learn, tune, background, max_examples, min_examples, error_corpus)
    return train_by(resampling, parts, name=name, max_examples=max_examples, **about)


def train_by(
    resampling: Resampling,
    parts: Parts,
    *,
    name: str,
    version: str = "0.1.0",
    config: dict[str, Any] | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
    **settings: Any,
) -> Model:
    """Train a model with a resampling; every other training function calls this one.

    Parameters
    ----------
    **settings
        Settings of the decision rule, such as ``flags_per_1000``; others are ignored.
    """
    parts = ResolvedConfig.from_parts(parts)
    task, learner = parts.task, parts.learner
    chosen = choose_extractors(resampling, parts, config or {}, progress)
    fitted = chosen.fitted
    judge = parts.decision_rule(settings)
    model = Model(
        name=name,
        version=version,
        task=task,
        tokenisation=parts.tokenisation,
        extractors=fitted.extractors,
        baseline=parts.baseline,
        scorers=(None,) * len(task.groups),
        judge=judge,
        config=chosen.config,
    )
    rng = np.random.default_rng(seed)
    if isinstance(learner, SharesWeights) and len(task.groups) > 1:
        shared = fitted.shared(model, learner, rng)
        if shared is not None:
            model, learner = replace(model, shared=shared), learner.with_prior(shared)
    scorers: list[Scorer | None] = []
    reports: dict[str, Any] = {}
    for g, group in enumerate(task.groups):
        progress("learning", g, len(task.groups))
        scorer, reports[group.name] = fitted.fit(model, learner, g, rng)
        scorers.append(scorer)
    model = replace(model, scorers=tuple(scorers))
    calibration_data = fitted.calibration_data(model, rng)
    fitted_rule = _fitted_rule(judge, calibration_data, progress)
    model = replace(model, judge=fitted_rule)
    provenance = fitted.provenance(model)
    if "settings" in provenance:
        provenance["settings"] = {**provenance["settings"], "seed": seed}
    if chosen.report:
        provenance |= {"chosen": chosen.report, "notes": [*provenance.get("notes", ()), *chosen.notes()]}
    return replace(model, provenance={**provenance, "groups": reports})


def _fitted_rule(judge: DecisionRule, calibration_data: CalibrationData, progress: Progress) -> DecisionRule:
    """Fit a decision rule; check what it returns, and that it decides in the same way after it was saved.

    Raises D414.
    """
    component, before = describe_component("judges", judge), attributes(judge)
    fitted = judge.fit(calibration_data, progress=progress)
    check_methods(fitted, component)
    if changed := changed_attributes(judge, before):
        seen = f"fit changed the decision rule itself ({', '.join(changed)})"
        raise contract_error(component, seen, "a new decision rule, such as dataclasses.replace(self, ...)")
    samples, groups = few_scored(calibration_data), calibration_data.task.groups
    if samples:
        check_predictions(fitted, ScoreBatch.joined(samples))

    def decide(rule: DecisionRule) -> Floats:
        judged = [rule.judge(scored) for scored in samples]
        columns = [np.stack([j.chosen, j.margins, j.probabilities, j.flagged, j.answered]) for j in judged]
        return np.concatenate([np.zeros(0), *(column.ravel() for column in columns)])

    state = fitted.state()
    restored = restore_checked(component, state, lambda arrays: judge.from_state(arrays, groups), decide)
    check_same_numbers(component, "decisions", restored, decide(fitted), state)
    return fitted


def _examples(parts: ResolvedConfig, texts: Sequence[str], *, decided: bool) -> TextExamples:
    """Return the places to learn from or, with `decided`, the places that a model would decide in use."""
    view = view_of_texts(texts, parts.tokenisation, protected=decided)
    check_view(parts.tokenisation, view, texts)
    instances = (find_instances if decided else find_examples)(parts.task, view)
    if parts.decides.between != "labels":  # without an observed candidate the right one is unknown
        instances = instances.take(instances.observed >= 0)
    if decided:
        instances = instances.take(~protected_instances(view, instances))
    return TextExamples.from_view(view, instances)


def train_labelled(
    parts: Parts,
    labelled: Sequence[Labelled],
    *,
    name: str,
    tell: ErrorCallback | None = None,
    **settings: Any,
) -> Model:
    """Train a model on labelled examples.

    Parameters
    ----------
    parts : dict or ResolvedConfig
        The resolved config, as for `trainer.train`.
    labelled : sequence of Labelled
    tell : callable, optional
        As for `trainer.train`.
    **settings
        As for `trainer.train`; tasks with labels have ``least_margin``, and learn from all examples.

    Raises
    ------
    UserError
        D462 if no example can be used.
    """
    parts = ResolvedConfig.from_parts(parts)
    dataset = label_instances(parts.task, parts.tokenisation, labelled)
    return train_dataset(parts, dataset, name=name, tell=tell, **settings)


def train_dataset(
    parts: ResolvedConfig,
    dataset: LabelledDataset,
    *,
    name: str,
    tell: ErrorCallback | None = None,
    **settings: Any,
) -> Model:
    """Train a model on a labelled dataset; the parameters are those of `train_labelled`."""
    tables = diagnostics.count_table_warnings(parts, dataset.examples.view.texts)
    _report_notes(tables, tell)
    if parts.decides.between == "labels":
        return with_notes(train_by(FoldResampling(dataset), parts, name=name, **settings), tables)
    folds = dataset.folds(FOLDS)
    learn, tune = dataset.take(folds > 0), dataset.take(folds == 0)
    messages = [*diagnostics.example_warnings(dataset), *tables]
    if dataset.n_documents < FOLDS:
        learn = tune = dataset
        few = "1 document is" if dataset.n_documents == 1 else f"{dataset.n_documents} documents are"
        messages.append(f"{few} too few to put any aside for tuning")
    model = train_examples(parts, learn.examples, tune.examples, learn.examples, name=name, **settings)
    messages += diagnostics.unwritten_candidates(parts.task, model.judge, dataset)
    return replace(model, provenance={**model.provenance, **count_dataset(dataset), "notes": messages})


_WORDS = re.compile(r"\w+|[^\w\s]")
_BATCH_CHARACTERS = 200_000
"""Number of characters of the texts that are decided together."""


def fit_second_look(
    model: Model,
    section: Mapping[str, Any],
    mistakes: Sequence[Fix],
    clean: Sequence[Clean],
    *,
    progress: Progress = no_progress,
) -> Model:
    """Return the model with a second look at its proposals (see `SecondLook`).

    `model`: a model that flags words. Neither it nor the extractors of the evidence may have been trained on
    the texts: evidence that has seen a mistake looks better than it is.
    `section`: settings of `SecondLook` as in a config, such as ``{"evidence": {"syntax":
    {"@disambig_extractors": "dependencies.Agreement.v1"}}}``.
    `mistakes` and `clean`: texts with one mistake each, and texts without.
    Raises D427 for a model whose decision rule raises no flags; D428 if it proposes nothing in these texts.
    """
    if not isinstance(model.judge, RaisesFlags):
        raise UserError("D427", task=model.task.name, seen=decides(model.task).between)
    first_config = model.config["judge"]
    first: DecisionRule = model.judge
    if isinstance(model.judge, SecondLook):
        first, first_config = model.judge.first, first_config["first"]
    settings = {"flags_per_1000": model.flags_per_1000, **section}
    config = {"@disambig_judges": "disambig.SecondLook.v1", "first": first_config, **settings}
    rule: SecondLook = replace(resolve({"judge": config})["judge"], first=first)
    proposals = label_proposals(model, rule, mistakes, clean, progress=progress)
    if not proposals.right.any() or not proposals.clean.any():
        problem = "the model proposes nothing right, or nothing in clean text"
        raise UserError("D428", task=model.task.name, problem=problem)
    return replace(model, judge=rule.fit_proposals(proposals), config={**model.config, "judge": config})


def label_proposals(
    model: Model,
    rule: SecondLook,
    mistakes: Sequence[Fix],
    clean: Sequence[Clean],
    *,
    progress: Progress = no_progress,
) -> LabelledProposals:
    """Return what the first decision rule proposes in the texts, with the evidence for it.

    Raises D428 if nothing is proposed.

    `rule`: with the fitted first rule.
    """
    proposing = replace(model, judge=rule.as_proposer())
    texts = [*(fix.before for fix in mistakes), *(paragraph.text for paragraph in clean)]
    texts_as_meant = (fix.before[: fix.start] + fix.new + " " + fix.before[fix.end :] for fix in mistakes)
    corrected = list(map(_WORDS.findall, texts_as_meant))
    features, right, text_numbers, passages, n_tokens, paragraphs, margins = [], [], [], [], [], [], []
    n_passages = n_paragraphs = n_clean_tokens = 0
    for first, batch in _batches(texts):
        progress("looking again", first, len(texts))
        view = view_of_texts(batch, model.tokenisation, protected=True)
        # passages and paragraphs are numbered over all batches
        offsets = passage_offsets(view)
        n_tokens.append(np.diff(offsets))
        paragraphs.append(n_paragraphs + passage_paragraphs(view, offsets))
        n_paragraphs = int(paragraphs[-1][-1]) + 1 if len(offsets) > 1 else n_paragraphs
        n_clean_tokens += len(view) - int(view.documents[min(max(len(mistakes) - first, 0), len(batch))])
        first_passage, n_passages = n_passages, n_passages + len(offsets) - 1
        instances = proposing.instances(view)
        decisions = proposing.decide_at(instances, view)
        if not decisions.flagged.any():
            continue
        rows, columns = rule.features(view, instances, decisions)
        documents = decisions.documents[rows].astype(np.int64)
        features.append(columns)
        text_numbers.append(first + documents)
        positions = instances.positions[rows]
        passages.append(first_passage + np.searchsorted(offsets, positions, side="right") - 1)
        margins.append(_margins(decisions.take(rows)))
        # a proposal is right if it makes the text that the writer meant, in another spacing if need be
        for row, document in zip(rows.tolist(), documents.tolist(), strict=True):
            number = first + document
            edit = record_edit(decisions.record(row, texts[number]), texts[number])
            proposed = texts[number][: edit["start"]] + edit["replacement"] + texts[number][edit["end"] :]
            right.append(number < len(mistakes) and _WORDS.findall(proposed) == corrected[number])
    if not features:
        raise UserError("D428", task=model.task.name, problem="the model proposes nothing")
    number = np.concatenate(text_numbers)
    names = [*(fix.repo or fix.before for fix in mistakes), *(paragraph.repo for paragraph in clean)]
    units = np.unique(np.array(names, object).astype(str), return_inverse=True)[1]
    n_words = sum(len(paragraph.text.split()) for paragraph in clean)
    return LabelledProposals(
        np.concatenate(features),
        np.array(right, bool),
        number >= len(mistakes),
        units[number],
        np.concatenate(passages).astype(np.int64),
        np.concatenate(n_tokens),
        np.concatenate(paragraphs).astype(np.int64),
        len(mistakes),
        n_words,
        n_clean_tokens,
        np.concatenate(margins),
    )


def _margins(decisions: Decisions) -> NDArray[np.float64]:
    """Return how much higher the best score of another candidate is than that of the observed one."""
    scores = decisions.scores.astype(np.float64)
    observed_rows = decisions.offsets[:-1] + np.maximum(decisions.observed, 0)
    observed = scores[observed_rows]
    scores[observed_rows] = -np.inf
    return segments.maxima(scores, decisions.offsets) - observed


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first text of each batch, and its texts."""
    first = 0
    for batch in minibatch(texts, _BATCH_CHARACTERS, len):
        yield first, batch
        first += len(batch)
