"""From a config and examples to a model: fit each group, then the judge.

Examples come from a text's own words (`train`), from labelled places (`training.labelled`) or from lists of
candidates (`training.lists`); who sees which of them is a `Plan`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from disambig.errors import UserError
from disambig.fields import decides
from disambig.formats.fixes.fix import Clean, Fix
from disambig.model.model import Model
from disambig.tasks.contract import examples_of, instances_of
from disambig.text.documents import view_of_texts
from disambig.training.choosing import prepared
from disambig.training.examples import Examples
from disambig.training.held_out import HeldOut
from disambig.training.judged import judge_of, with_judge_of_mistakes
from disambig.training.mistakes import People
from disambig.training.plan import Plan, Progress
from disambig.training.splits import why_empty
from disambig.types import Learner, Scorer, SharesWeights


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
        parts, config = with_judge_of_mistakes(parts, config)
        people = People.of(parts["task"], parts["tokenisation"], mistakes, clean)
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
    learn: Examples,
    tune: Examples,
    around: Examples,
    *,
    name: str,
    max_examples: int = 20_000,
    min_examples: int = 20,
    people: People | None = None,
    **about: Any,
) -> Model:
    """Train a model from instances whose observed candidates are right; `around` serves the extractors.

    The other parameters are those of `train`.
    """
    plan = HeldOut(learn, tune, around, max_examples, min_examples, people)
    return train_by(plan, parts, name=name, max_examples=max_examples, **about)


def train_by(
    plan: Plan,
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
    chosen = prepared(plan, parts, config or {}, tell)
    ready = chosen.ready
    judge = judge_of(parts, settings)
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
            model, learner = replace(model, shared=shared), learner.towards(shared)
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
    if chosen.said:
        said |= {"chosen": chosen.said, "notes": [*said.get("notes", ()), *chosen.notes()]}
    return replace(model, provenance={**said, "groups": reports})


def _examples(parts: dict[str, Any], texts: Sequence[str], *, decided: bool) -> Examples:
    """Return the places of texts that are learned from or, with `decided`, those that are decided in use."""
    view = view_of_texts(texts, parts["tokenisation"], protected=decided)
    instances = (instances_of if decided else examples_of)(parts["task"], view)
    if decides(parts["task"]).between != "labels":  # where no candidate stands nothing is known to be right
        instances = instances.take(instances.observed >= 0)
    if decided:
        shielded = view.layers["protected"].astype(bool)
        last = instances.positions + instances.lengths - 1
        instances = instances.take(~(shielded[instances.positions] | shielded[last]))
    return Examples.of(view, instances)
