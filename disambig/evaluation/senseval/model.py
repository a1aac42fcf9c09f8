"""Senseval's score of a model: it decides at each head, whatever its task would find there.

So a head that the tagger takes for another part of speech is attempted here, and left out by ``annotate``. A
margin below the model's least one is no answer: not attempted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from disambig.errors import UserError
from disambig.evaluation.labelled import decide
from disambig.evaluation.senseval.scorer import score
from disambig.files.telling import Tell
from disambig.formats.labelled.example import Labelled
from disambig.formats.senseval.keys import read_key, read_sensemap
from disambig.formats.senseval.reader import SenseInstance, read_senseval
from disambig.model.model import Model
from disambig.training.marking import mark


def judge_senseval(
    model: Model,
    paths: Sequence[str],
    *,
    key: str,
    sensemap: str | None = None,
    encoding: str | None = None,
    strict: bool = False,
    tell: Tell | None = None,
) -> tuple[list[Labelled], dict[str, Any]]:
    """Score a model on the instances of files, with the right senses of a key.

    Returns
    -------
    list of Labelled
        The instances as examples: of several right senses that which the model chose, else the first one.
    dict
        ``senseval``: ``fine`` and with a sense map ``coarse``, each precision, recall, attempted, n, right
        and tried.

    Raises
    ------
    UserError
        D497 where the key knows none of the instances; whatever reading and marking raise.
    """
    right = read_key(key)
    instances = [
        instance
        for path in paths
        for instance in read_senseval(path, encoding=encoding, strict=strict, tell=tell)
        if instance.id in right
    ]
    if not instances:
        raise UserError("D497", path=key, n=len(right), other=", ".join(paths))
    answers = answers_of(model, instances)
    scores = {"fine": asdict(score(answers, right))}
    if sensemap is not None:
        scores["coarse"] = asdict(score(answers, right, read_sensemap(sensemap)))
    examples = [
        replace(each.labelled(), label=answer if answer in right[each.id] else right[each.id][0])
        for each in instances
        for answer in [answers.get(each.id, "")]
    ]
    return examples, {"senseval": scores}


def answers_of(model: Model, instances: Sequence[SenseInstance]) -> dict[str, str]:
    """Return the sense that a model gives each instance; none for words that it does not know.

    Nor is there one where the margin is below the least one of the model.
    """
    groups = {group.name: group for group in model.task.groups}
    ids: dict[tuple[str, int, str], list[str]] = {}
    examples = []
    for instance in instances:
        if group := groups.get(instance.word):  # any candidate: mark only has to find the place
            ids.setdefault((instance.text, instance.start, instance.word), []).append(instance.id)
            examples.append(replace(instance.labelled(), label=group.candidates[0]))
    if not examples:
        return {}
    marked = mark(model.task, model.tokenisation, examples)
    answers = {}
    for g, group in enumerate(model.task.groups):
        rows = np.flatnonzero(marked.examples.instances.groups == g)
        if len(rows):
            chosen, _ = decide(model, marked.take(rows), g)
            for row, c in zip(rows.tolist(), chosen.tolist(), strict=True):
                example = marked.labelled[row]
                if c >= 0:
                    names = ids[example.text, example.start, example.word]
                    answers.update(dict.fromkeys(names, group.candidates[c]))
    return answers
