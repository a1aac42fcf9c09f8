"""What a config leaves open of its extractors is chosen on folds, before anything else is learned.

Each option is tried as it would be used: its features made, the learner fitted without each fold in turn.
What was found with the one that is taken is kept, so that nothing is done twice. Where a plan has no folds
the first option is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.features.one_of import OneOf
from disambig.training.plan import Plan, Progress, Ready, Tries
from disambig.types import FeatureExtractor


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
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

    ready: Ready
    config: dict[str, Any]
    said: dict[str, Any]

    def notes(self) -> list[str]:
        """Return lines for people."""
        return [_note(name, **about) for name, about in self.said.items()]


def prepared(plan: Plan, parts: dict[str, Any], config: dict[str, Any], tell: Progress) -> Chosen:
    """Prepare a plan with the best options of its extractors; where several leave it open, one after another.

    Another option than the first, and then than the best so far, is taken if it decides more examples right
    by more than one standard error of the difference. What the learner leaves open comes out of the first.
    """
    extractors = parts["extractors"]
    options = {name: each.options for name, each in extractors.items() if isinstance(each, OneOf)}
    for name, each in options.items():
        parts = _with(parts, name, each[next(iter(each))])
    ready = plan.prepare(parts, tell)
    best = _hits(ready, parts) if options else None
    if best is not None and isinstance(ready, Tries):
        parts = {**parts, "learner": ready.settled(parts["learner"])}
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
    return Chosen(ready, _taken(config, said), said)


def _better(hits: NDArray[np.bool_], than: NDArray[np.bool_]) -> bool:
    """Tell whether more examples are decided right, by more than a standard error."""
    difference = hits.astype(np.int64) - than
    return bool(difference.sum() > np.sqrt(np.abs(difference).sum()))


def _with(parts: dict[str, Any], name: str, extractor: FeatureExtractor) -> dict[str, Any]:
    return {**parts, "extractors": {**parts["extractors"], name: extractor}}


def _hits(ready: Ready, parts: dict[str, Any]) -> NDArray[np.bool_] | None:
    """Return which examples are decided right that were not seen; None where the plan cannot tell."""
    if not isinstance(ready, Tries):
        return None
    return ready.hits(parts["task"], parts["learner"], parts["baseline"])


def _taken(config: dict[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
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
