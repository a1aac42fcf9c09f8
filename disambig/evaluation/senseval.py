"""The scorer of Senseval, and the score of a model on Senseval files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from disambig.errors import UserError
from disambig.evaluation.labelled import decide
from disambig.files import ErrorCallback
from disambig.formats import (
    Labelled,
    SenseInstance,
    Sensemap,
    Weights,
    read_key,
    read_sensemap,
    read_senseval,
)
from disambig.models import Model
from disambig.training import label_instances

UNASSIGNED = ("P", "U")
Answer = str | Sequence[str] | Weights
"""A sense, several senses of equal weight, or senses with their weights."""


@dataclass(frozen=True, slots=True)
class SensevalScore:
    """The score of answers."""

    precision: float  # credit divided by the weight of all answers; 0 if there is none
    recall: float  # credit divided by the number of instances in the key
    attempted: float  # share of the key's instances that were attempted
    n: int  # number of instances in the key
    # total credit, and total weight of all answers
    right: float
    tried: float


def score(
    answers: Mapping[str, Answer],
    key: Mapping[str, Sequence[str]],
    sensemap: Sensemap | None = None,
    *,
    any_of: bool = False,
) -> SensevalScore:
    """Score answers as Senseval does.

    Parameters
    ----------
    answers : mapping of instance to sense, senses, or senses with weights
        An instance that is missing, or has no sense, counts as not attempted.
    key : mapping of instance to right senses
    sensemap : mapping, optional
        For the coarse score: see `disambig.formats.senseval.read_sensemap`.
    any_of : bool
        Give full credit if any sense of an answer is right, however many it has.
    """
    credits = credit(answers, key, sensemap, any_of=any_of)
    right = sum(credits.values())
    tried = sum(sum(_weights(answers[instance]).values()) for instance in credits)
    n = len(key)
    return SensevalScore(
        precision=right / tried if tried else 0.0,
        recall=right / n if n else 0.0,
        attempted=tried / n if n else 0.0,
        n=n,
        right=right,
        tried=tried,
    )


def credit(
    answers: Mapping[str, Answer],
    key: Mapping[str, Sequence[str]],
    sensemap: Sensemap | None = None,
    *,
    any_of: bool = False,
) -> dict[str, float]:
    """Return the credit (0 to 1) of each attempted instance; the parameters are those of `score`."""
    credits = {}
    for instance, senses in key.items():
        weights = _weights(answers.get(instance, ()))
        if weights:
            groups = _groups(senses, sensemap)
            right = sum(weight for sense, weight in weights.items() if groups & _groups([sense], sensemap))
            credits[instance] = sum(weights.values()) if any_of and right else right
    return credits


def most_frequent(
    instances: Iterable[SenseInstance], *, every: bool = False, unassigned: bool = False
) -> dict[str, str]:
    """Return the most frequent sense of each word; if several are equally frequent, the one seen first.

    Parameters
    ----------
    instances : iterable of SenseInstance
    every : bool
        Count all senses of an instance, not only the first.
    unassigned : bool
        Also count P and U. A word with no other sense gets one of these in any case.
    """
    counts: dict[str, Counter[str]] = {}
    with_unassigned: dict[str, Counter[str]] = {}
    for instance in instances:
        senses = [sense for sense in instance.senses if unassigned or sense not in UNASSIGNED]
        counts.setdefault(instance.word, Counter()).update(senses if every else senses[:1])
        with_unassigned.setdefault(instance.word, Counter()).update(instance.senses)
    return {
        word: (assigned or with_unassigned[word]).most_common(1)[0][0]
        for word, assigned in counts.items()
        if assigned or with_unassigned[word]
    }


def _weights(answer: Answer) -> Weights:
    if isinstance(answer, Mapping):
        return answer
    senses = [answer] if isinstance(answer, str) else list(dict.fromkeys(answer))
    return {sense: 1 / len(senses) for sense in senses if sense}


def _groups(senses: Iterable[str], sensemap: Sensemap | None) -> set[str]:
    """Return the senses and, if there is a sense map, all groups that contain them."""
    accepted = set(senses)
    return accepted if sensemap is None else accepted.union(*(sensemap.get(sense, ()) for sense in accepted))


def judge_senseval(
    model: Model,
    paths: Sequence[str],
    *,
    key: str,
    sensemap: str | None = None,
    encoding: str | None = None,
    strict: bool = False,
    tell: ErrorCallback | None = None,
) -> tuple[list[Labelled], dict[str, Any]]:
    """Score a model on the instances of files, with the right senses from a key file.

    Raises D497 if the key contains none of the instances; and the errors of reading and labelling.

    Returns
    -------
    list of Labelled
        The instances as examples; of several right senses, the label is the model's choice or else the first.
    dict
        ``senseval``: ``fine`` and, with a sense map, ``coarse``, each with precision, recall, attempted, n,
        right and tried.
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
    answers = model_answers(model, instances)
    scores = {"fine": asdict(score(answers, right))}
    if sensemap is not None:
        scores["coarse"] = asdict(score(answers, right, read_sensemap(sensemap)))
    examples = [
        replace(instance.labelled(), label=answer if answer in right[instance.id] else right[instance.id][0])
        for instance in instances
        for answer in [answers.get(instance.id, "")]
    ]
    return examples, {"senseval": scores}


def model_answers(model: Model, instances: Sequence[SenseInstance]) -> dict[str, str]:
    """Return the sense that a model gives to each instance.

    Words that the model does not know, and decisions below its ``least_margin``, have no answer.
    """
    groups = {group.name: group for group in model.task.groups}
    ids: dict[tuple[str, int, str], list[str]] = {}
    examples = []
    for instance in instances:
        if group := groups.get(instance.word):  # the label is irrelevant: it only has to be a candidate
            ids.setdefault((instance.text, instance.start, instance.word), []).append(instance.id)
            examples.append(replace(instance.labelled(), label=group.candidates[0]))
    if not examples:
        return {}
    dataset = label_instances(model.task, model.tokenisation, examples)
    answers = {}
    for g, group in enumerate(model.task.groups):
        rows = np.flatnonzero(dataset.examples.instances.groups == g)
        if len(rows):
            chosen, _ = decide(model, dataset.take(rows), g)
            for row, c in zip(rows.tolist(), chosen.tolist(), strict=True):
                example = dataset.labelled[row]
                if c >= 0:
                    names = ids[example.text, example.start, example.word]
                    answers.update(dict.fromkeys(names, group.candidates[c]))
    return answers
