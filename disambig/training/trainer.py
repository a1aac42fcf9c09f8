"""Train a model: choose extractors, fit a scorer for each group, then fit the decision rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.config import resolve
from disambig.data import find_examples, find_instances
from disambig.decision import check_decision_rule, check_error_corpus, default_rule_config
from disambig.errors import UserError
from disambig.features import ExtractorChoice
from disambig.formats import Clean, Fix, Labelled
from disambig.models import Model
from disambig.text import view_of_texts
from disambig.training import diagnostics as notes
from disambig.training.examples import ErrorCorpus, TextExamples, why_empty
from disambig.training.fitting import FittedResampling, HasTrialScores, Progress, Resampling
from disambig.training.labelled_dataset import LabelledDataset, label_instances
from disambig.training.resampling import FOLDS, FoldResampling, HeldOutResampling, count_dataset
from disambig.types import DecisionRule, FeatureExtractor, Learner, Scorer, SharesWeights, decides


@dataclass(frozen=True, slots=True)
class FittedExtractor:
    """What `train` takes for an extractor and does not teach again."""

    extractor: FeatureExtractor

    def fit(self, *_: object) -> FeatureExtractor:
        """Return the extractor as it is."""
        return self.extractor


def configured_rule(parts: Mapping[str, Any], settings: Mapping[str, Any]) -> DecisionRule:
    """Return the judge of a resolved config, with those of the settings that it has.

    Parameters
    ----------
    parts : mapping
        With a ``task`` and, optionally, a ``judge``.
    settings : mapping
        Of ``[training]``, such as ``flags_per_1000`` and ``least_margin``.

    Raises
    ------
    UserError
        D422 for a judge that is for other tasks.
    """
    judge = parts.get("judge") or resolve({"judge": default_rule_config(parts["task"])})["judge"]
    check_decision_rule(judge, parts["task"])
    return replace(judge, **rule_settings(judge, settings))


def with_error_rule(
    parts: dict[str, Any], config: dict[str, Any] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return parts, and their config, with a judge that learns from mistakes where they have none.

    Raises
    ------
    UserError
        D427 for a task that corrects no words, D429 for a judge that does not learn from mistakes.
    """
    config = config or {}
    if not parts.get("judge"):
        section = default_rule_config(parts["task"], mistakes=True)
        parts, config = {**parts, **resolve({"judge": section})}, {**config, "judge": section}
    check_error_corpus(parts["judge"], parts["task"])
    return parts, config


def rule_settings(judge: DecisionRule, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings that the judge has: fields of the dataclass that it is."""
    known: set[str] = {field.name for field in fields(judge)} if is_dataclass(judge) else set()
    return {name: value for name, value in settings.items() if name in known and value is not None}


@dataclass(frozen=True, slots=True, eq=False)
class ChosenExtractors:
    """What training goes on with.

    Attributes
    ----------
    ready : Ready
        The plan, its extractors fitted.
    config : dict
        That given, with the options that were taken in the places of the extractors that left it open.
    said : dict
        Of each such extractor the option that was ``taken``, and the ``accuracy`` of each that was tried.
    """

    ready: FittedResampling
    config: dict[str, Any]
    report: dict[str, Any]

    def notes(self) -> list[str]:
        """Return lines for people."""
        return [_note(name, **about) for name, about in self.report.items()]


def choose_extractors(
    plan: Resampling, parts: dict[str, Any], config: dict[str, Any], tell: Progress
) -> ChosenExtractors:
    """Prepare a plan with the best options of its extractors; where several leave it open, one after another.

    Another option than the first, and then than the best so far, is taken if it decides more examples right
    by more than one standard error of the difference. What the learner leaves open comes out of the first.
    """
    extractors = parts["extractors"]
    options = {name: each.options for name, each in extractors.items() if isinstance(each, ExtractorChoice)}
    for name, each in options.items():
        parts = _with(parts, name, each[next(iter(each))])
    ready = plan.prepare(parts, tell)
    best = _hits(ready, parts) if options else None
    if best is not None and isinstance(ready, HasTrialScores):
        parts = {**parts, "learner": ready.with_tuned(parts["learner"])}
    said: dict[str, Any] = {}
    for name, each in options.items():
        taken, *others = each
        tried = {} if best is None else {taken: float(best.mean())}
        for number, option in enumerate(others if best is not None else (), 1):
            tell(f"trying {name}", number, len(each))
            other = _with(parts, name, each[option])
            attempt = plan.prepare(other, tell)
            found = _hits(attempt, other)
            assert found is not None and best is not None
            tried[option] = float(found.mean())
            if _better(found, best):
                ready, parts, best, taken = attempt, other, found, option
        said[name] = {"taken": taken, "accuracy": tried}
    return ChosenExtractors(ready, _select_options(config, said), said)


def _better(hits: NDArray[np.bool_], than: NDArray[np.bool_]) -> bool:
    """Tell whether more examples are decided right, by more than a standard error."""
    difference = hits.astype(np.int64) - than
    return bool(difference.sum() > np.sqrt(np.abs(difference).sum()))


def _with(parts: dict[str, Any], name: str, extractor: FeatureExtractor) -> dict[str, Any]:
    return {**parts, "extractors": {**parts["extractors"], name: extractor}}


def _hits(ready: FittedResampling, parts: dict[str, Any]) -> NDArray[np.bool_] | None:
    """Return which examples are decided right that were not seen; None where the plan cannot tell."""
    if not isinstance(ready, HasTrialScores):
        return None
    return ready.hits(parts["task"], parts["learner"], parts["baseline"])


def _select_options(config: dict[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config that names what was taken; as it is where it says nothing of these extractors."""
    extractors = dict(config.get("extractors", {}))
    for name, about in said.items():
        if name in extractors:
            extractors[name] = extractors[name]["options"][about["taken"]]
    return {**config, "extractors": extractors} if said and extractors else config


def _note(name: str, *, taken: str, accuracy: Mapping[str, float]) -> str:
    if not accuracy:
        return f"{name}: {taken}, the first option; folds of labelled examples would tell the best"
    others = ", ".join(f"{other} {value:.1%}" for other, value in accuracy.items() if other != taken)
    return f"{name}: {taken}, {accuracy[taken]:.1%} right in folds not seen ({others})"


def train(
    parts: dict[str, Any],
    texts: Mapping[str, Sequence[str]],
    *,
    name: str,
    version: str = "0.1.0",
    config: dict[str, Any] | None = None,
    mistakes: Sequence[Fix] = (),
    clean: Sequence[Clean] = (),
    progress: Progress | None = None,
    **settings: Any,
) -> Model:
    """Train a model from raw text, whose own words are taken as right.

    Parameters
    ----------
    parts : dict
        The resolved config: ``task``, ``tokenisation``, ``extractors`` (name to extractor), ``learner``,
        ``baseline`` and, optionally, ``judge``.
    texts : dict of str to sequence of str
        Documents to learn from (``"train"``) and to tune on (``"dev"``); and, optionally, those that
        extractors learn from (``"background"``), which should be others than the learner's.
    mistakes, clean : sequences of Fix and of Clean
        Mistakes that people made, and paragraphs without any, best unlike the counted text: for a judge that
        learns from them, which is `disambig.Mistakes.v1` where the parts have none; both or none.
    progress : callable, optional
        Called with a stage, how far it is, and how far it goes.
    **settings
        ``flags_per_1000`` (the default operating point, 0.5), ``max_examples`` (of a group to learn from, a
        random sample where there are more; 20,000), ``min_examples`` (groups with fewer, or in which only one
        candidate occurs, keep the unsupervised baseline; 20), ``seed`` (0).

    Raises
    ------
    UserError
        D412 where the text holds nothing to learn from, D426 to D429 for mistakes that cannot be used.
    """
    people = None
    if mistakes or clean:
        parts, config = with_error_rule(parts, config)
        people = ErrorCorpus.from_texts(parts["task"], parts["tokenisation"], mistakes, clean)
    learn = _examples(parts, texts["train"], decided=False)
    tune = _examples(parts, texts["dev"], decided=True)
    if not len(learn.instances) or not len(tune.instances):
        task = parts["task"].name
        hint = f"none has a candidate of the task {task}"
        if len(learn.instances) or len(tune.instances):
            hint = why_empty(texts, "dev" if len(learn.instances) else "train", task)
        raise UserError("D412", what="the texts", hint=hint)
    around = _examples(parts, texts["background"], decided=False) if "background" in texts else learn
    about: dict[str, Any] = {"name": name, "version": version, "config": config, "progress": progress}
    return train_examples(parts, learn, tune, around, people=people, **about, **settings)


def train_examples(
    parts: dict[str, Any],
    learn: TextExamples,
    tune: TextExamples,
    around: TextExamples,
    *,
    name: str,
    max_examples: int = 20_000,
    min_examples: int = 20,
    people: ErrorCorpus | None = None,
    **about: Any,
) -> Model:
    """Train a model from instances whose observed candidates are right; `around` serves the extractors.

    The other parameters are those of `train`.
    """
    plan = HeldOutResampling(learn, tune, around, max_examples, min_examples, people)
    return train_by(plan, parts, name=name, max_examples=max_examples, **about)


def train_by(
    plan: Resampling,
    parts: dict[str, Any],
    *,
    name: str,
    version: str = "0.1.0",
    config: dict[str, Any] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: Any,
) -> Model:
    """Train a model by a plan; the one trainer there is.

    Parameters
    ----------
    **settings
        Settings of the judge, such as ``flags_per_1000``; those that it does not have are left alone.
    """
    tell = progress or (lambda stage, done, total: None)
    task = parts["task"]
    learner: Learner = parts["learner"]
    chosen = choose_extractors(plan, parts, config or {}, tell)
    ready = chosen.ready
    judge = configured_rule(parts, settings)
    model = Model(
        name=name,
        version=version,
        task=task,
        tokenisation=parts["tokenisation"],
        extractors=ready.extractors,
        baseline=parts["baseline"],
        scorers=(None,) * len(task.groups),
        judge=judge,
        config=chosen.config,
    )
    rng = np.random.default_rng(seed)
    if isinstance(learner, SharesWeights) and len(task.groups) > 1:
        shared = ready.shared(model, learner, rng)
        if shared is not None:
            model, learner = replace(model, shared=shared), learner.with_prior(shared)
    scorers: list[Scorer | None] = []
    reports: dict[str, Any] = {}
    for g, group in enumerate(task.groups):
        tell("learning", g, len(task.groups))
        scorer, reports[group.name] = ready.fit(model, learner, g, rng)
        scorers.append(scorer)
    model = replace(model, scorers=tuple(scorers))
    model = replace(model, judge=judge.fit(ready.material(model, rng), progress=tell))
    said = ready.provenance(model)
    if "settings" in said:
        said["settings"] = {**said["settings"], "seed": seed}
    if chosen.report:
        said |= {"chosen": chosen.report, "notes": [*said.get("notes", ()), *chosen.notes()]}
    return replace(model, provenance={**said, "groups": reports})


def _examples(parts: dict[str, Any], texts: Sequence[str], *, decided: bool) -> TextExamples:
    """Return the places of texts that are learned from or, with `decided`, those that are decided in use."""
    view = view_of_texts(texts, parts["tokenisation"], protected=decided)
    instances = (find_instances if decided else find_examples)(parts["task"], view)
    if decides(parts["task"]).between != "labels":  # where no candidate stands nothing is known to be right
        instances = instances.take(instances.observed >= 0)
    if decided:
        shielded = view.layers["protected"].astype(bool)
        last = instances.positions + instances.lengths - 1
        instances = instances.take(~(shielded[instances.positions] | shielded[last]))
    return TextExamples.from_view(view, instances)


def train_labelled(
    parts: dict[str, Any], labelled: Sequence[Labelled], *, name: str, **settings: Any
) -> Model:
    """Train a model from labelled examples.

    Parameters
    ----------
    parts : dict
        The resolved config, as for `trainer.train`.
    labelled : sequence of Labelled
    **settings
        As for `trainer.train`; tasks of labels have ``least_margin``, and learn from all examples.

    Raises
    ------
    UserError
        D462 where no example can be used.
    """
    return train_marked(
        parts, label_instances(parts["task"], parts["tokenisation"], labelled), name=name, **settings
    )


def train_marked(parts: dict[str, Any], marked: LabelledDataset, *, name: str, **settings: Any) -> Model:
    """Train a model from examples whose places are found; parameters are those of `train_labelled`."""
    if decides(parts["task"]).between == "labels":
        return train_by(FoldResampling(marked), parts, name=name, **settings)
    folds = marked.folds(FOLDS)
    learn, tune = marked.take(folds > 0), marked.take(folds == 0)
    said = notes.example_warnings(marked)
    if marked.n_documents < FOLDS:
        learn = tune = marked
        few = "1 document is" if marked.n_documents == 1 else f"{marked.n_documents} documents are"
        said.append(f"{few} too few to put any aside for tuning")
    model = train_examples(parts, learn.examples, tune.examples, learn.examples, name=name, **settings)
    return replace(model, provenance={**model.provenance, **count_dataset(marked), "notes": said})
