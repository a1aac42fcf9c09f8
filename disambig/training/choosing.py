"""What a config leaves open of its extractors is chosen on folds: that by which most examples are decided right.

Each option is tried as it would be used: its features made, the learner fitted without each fold in turn. What
was found with the one that is taken is kept, so that nothing is done twice. Where a plan has no folds the first
option is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from disambig.training.plan import Plan, Progress, Ready
from disambig.types import FeatureExtractor, LeavesOpen


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """What training goes on with.

    Attributes
    ----------
    ready : Ready
        The plan, its extractors fitted.
    parts, config : dict
        Those given, with the options that were taken in the places of the extractors that left it open.
    said : dict
        Of each such extractor the option that was ``taken``, and the ``accuracy`` of each that was tried.
    """

    ready: Ready
    parts: dict[str, Any]
    config: dict[str, Any]
    said: dict[str, Any]

    def notes(self) -> list[str]:
        """Return lines for people."""
        return [_note(name, **about) for name, about in self.said.items()]


def prepared(plan: Plan, parts: dict[str, Any], config: dict[str, Any], tell: Progress) -> Chosen:
    """Prepare a plan with the best options of its extractors; where several leave it open, one after another."""
    open_ones = {name: each for name, each in parts["extractors"].items() if isinstance(each, LeavesOpen)}
    said: dict[str, Any] = {}
    for name, extractor in open_ones.items():
        parts = _with(parts, name, extractor.options[next(iter(extractor.options))])
    ready = plan.prepare(parts, tell)
    first = _accuracy(ready, parts) if open_ones else None
    for name, extractor in open_ones.items():
        taken, *others = extractor.options
        tried: dict[str, float] = {}
        if first is not None:
            tried[taken] = first
            for number, option in enumerate(others, 1):
                tell(f"trying {name}", number, len(others) + 1)
                other = _with(parts, name, extractor.options[option])
                attempt = plan.prepare(other, tell)
                found = _accuracy(attempt, other)
                assert found is not None
                tried[option] = found
                if found > first:
                    ready, parts, first, taken = attempt, other, found, option
        said[name] = {"taken": taken, "accuracy": tried}
    return Chosen(ready, parts, _config(config, said), said)


def _with(parts: dict[str, Any], name: str, extractor: FeatureExtractor) -> dict[str, Any]:
    return {**parts, "extractors": {**parts["extractors"], name: extractor}}


def _accuracy(ready: Ready, parts: dict[str, Any]) -> float | None:
    return ready.accuracy(parts["task"], parts["learner"], parts["baseline"])


def _config(config: dict[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config that names what was taken; as it is where it says nothing of these extractors."""
    extractors = dict(config.get("extractors", {}))
    for name, about in said.items():
        if name in extractors:
            extractors[name] = extractors[name]["options"][about["taken"]]
    return {**config, "extractors": extractors} if extractors else config


def _note(name: str, *, taken: str, accuracy: Mapping[str, float]) -> str:
    if not accuracy:
        return f"{name}: {taken}, the first option; folds of labelled examples would tell the best"
    others = ", ".join(f"{other} {value:.1%}" for other, value in accuracy.items() if other != taken)
    return f"{name}: {taken} is taken, {accuracy[taken]:.1%} right on folds not seen ({others})"
