"""The scorer of Senseval: fine or coarse, precision, recall and how much was attempted.

As the official scorer (scorer2) is described, after Melamed and Resnik; it was not run beside this one. An
instance gives as much credit as the answer puts on right senses. So where the key has several senses, an
answer of any one of them gets full credit, and an answer of two senses of which one is right gets half. P (a
proper name) and U (no sense fits) are senses like others. With a sense map an answer is right that is in a
group with a sense of the key. Answers to instances that are not in the key do not count.

One published figure speaks for it, the fine score 0.476 of the most frequent sense of Senseval-2's training
data. But what that scores depends on what is counted there: 0.476 with the first sense of each instance, P
and U left out, which is the default for that reason; 0.477 with the first sense of each; 0.482 with all its
senses, P and U left out; 0.483 with all its senses. The coarse score, and precision and attempted of answers
with weights below one, were compared with nothing official.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from disambig.formats.senseval.keys import Sensemap, Weights
from disambig.formats.senseval.reader import SenseInstance

UNASSIGNED = ("P", "U")
Answer = str | Sequence[str] | Weights
"""A sense, several that share one weight, or senses with their weights."""


@dataclass(frozen=True, slots=True)
class Score:
    """What answers are worth.

    Attributes
    ----------
    precision : float
        Credit by what was attempted; 0 where nothing was.
    recall : float
        Credit by the instances of the key.
    attempted : float
        Part of the key's instances that was attempted.
    n : int
        Instances of the key.
    right, tried : float
        The credit, and the weight of all answers.
    """

    precision: float
    recall: float
    attempted: float
    n: int
    right: float
    tried: float


def score(
    answers: Mapping[str, Answer],
    key: Mapping[str, Sequence[str]],
    sensemap: Sensemap | None = None,
    *,
    any_of: bool = False,
) -> Score:
    """Score answers as Senseval does.

    Parameters
    ----------
    answers : mapping of instance to sense, senses, or senses with weights
        An instance that is left out, or has no sense, is not attempted.
    key : mapping of instance to right senses
    sensemap : mapping, optional
        For the coarse score: see `disambig.formats.senseval.keys.read_sensemap`.
    any_of : bool
        Give full credit where any sense of an answer is right, however many it names.
    """
    credits = credit(answers, key, sensemap, any_of=any_of)
    right = sum(credits.values())
    tried = sum(sum(_weights(answers[instance]).values()) for instance in credits)
    n = len(key)
    return Score(
        right / tried if tried else 0.0, right / n if n else 0.0, tried / n if n else 0.0, n, right, tried
    )


def credit(
    answers: Mapping[str, Answer],
    key: Mapping[str, Sequence[str]],
    sensemap: Sensemap | None = None,
    *,
    any_of: bool = False,
) -> dict[str, float]:
    """Return the credit, 0 to 1, of each instance that was attempted; parameters are those of `score`."""
    found = {}
    for instance, senses in key.items():
        weights = _weights(answers.get(instance, ()))
        if weights:
            groups = _groups(senses, sensemap)
            right = sum(weight for sense, weight in weights.items() if groups & _groups([sense], sensemap))
            found[instance] = sum(weights.values()) if any_of and right else right
    return found


def most_frequent(
    instances: Iterable[SenseInstance], *, every: bool = False, unassigned: bool = False
) -> dict[str, str]:
    """Return the sense of each word that its instances have most often, the earlier seen of equal ones.

    Parameters
    ----------
    instances : iterable of SenseInstance
    every : bool
        Count all senses of an instance, not its first alone.
    unassigned : bool
        Count P and U as well. A word that has nothing else gets one of these in any case.
    """
    counts: dict[str, Counter[str]] = {}
    others: dict[str, Counter[str]] = {}
    for instance in instances:
        senses = [sense for sense in instance.senses if unassigned or sense not in UNASSIGNED]
        counts.setdefault(instance.word, Counter()).update(senses if every else senses[:1])
        others.setdefault(instance.word, Counter()).update(instance.senses)
    return {
        word: (seen or others[word]).most_common(1)[0][0]
        for word, seen in counts.items()
        if seen or others[word]
    }


def _weights(answer: Answer) -> Weights:
    if isinstance(answer, Mapping):
        return answer
    senses = [answer] if isinstance(answer, str) else list(dict.fromkeys(answer))
    return {sense: 1 / len(senses) for sense in senses if sense}


def _groups(senses: Iterable[str], sensemap: Sensemap | None) -> set[str]:
    """Return senses with, if there is a map, all groups that they are in."""
    given = set(senses)
    return given if sensemap is None else given.union(*(sensemap.get(sense, ()) for sense in given))
