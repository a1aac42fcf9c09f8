"""Scored examples made for tests of judges: what a judge is fitted to, of each kind of candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.data.lists import CandidateLists
from disambig.text.view import TokenView
from disambig.types import Between, Decides, Scored

WORDS = (
    Group("quite/quiet", ("quite", "quiet")),
    Group("to/too/two", ("to", "too", "two"), (("to", "too"),)),
)
LISTS = (Group("list", ()),)


@dataclass(frozen=True)
class MadeTask:
    """A task that finds nothing: its examples are made."""

    decides: Decides
    groups: tuple[Group, ...]
    name: str = "made"
    language: str = ""
    metric: tuple[str, str | None] = ("accuracy", None)

    def instances(self, view: TokenView) -> Instances:
        """Return no instance."""
        nothing = np.zeros(0, np.int32)
        return Instances(np.zeros(0, np.int64), nothing, nothing, nothing)


@dataclass(frozen=True)
class MadeMaterial:
    """Examples of a task, as `disambig.types.Material` has them; random numbers are the same each time."""

    task: MadeTask
    parts: tuple[Scored, ...]
    n_words: int = 10_000

    @property
    def rng(self) -> np.random.Generator:
        """For what is drawn at random."""
        return np.random.default_rng(0)

    def scored(self, group: int, *, most: int | None = None) -> Scored:
        """Return the examples of a group, the first `most` of them."""
        part = self.parts[group]
        return part if most is None else taken(part, np.arange(min(most, len(part.offsets) - 1)))


def material(between: Between = "words", n: int = 60, *, seed: int = 0) -> MadeMaterial:
    """Return scored examples, of which three in four have the best score for the right candidate.

    Parameters
    ----------
    between : "words", "labels" or "own"
        Two groups of words or of labels, or lists of one to six candidates.
    n : int
        Examples of each group.
    seed : int
    """
    rng = np.random.default_rng(seed)
    groups = LISTS if between == "own" else WORDS
    parts = []
    for number, group in enumerate(groups):
        fixed = len(group.candidates)
        sizes = rng.integers(1, 7, n) if between == "own" else np.full(n, fixed)
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        right = rng.integers(0, sizes).astype(np.int32)
        rows = int(offsets[-1])
        cost = np.ones(rows, np.float32)
        cost[offsets[:-1] + right] = 0.0
        scores = rng.normal(size=rows) + 2.0 * (cost == 0)
        found = rng.integers(0, 4, rows).astype(np.int32)
        own = None
        if between == "own":
            own = replace(CandidateLists.of([[f"text {i}" for i in range(k)] for k in sizes]), costs=cost)
        asked = np.full(rows, 4, np.int32)
        parts.append(Scored(group, number, offsets, scores, right, found, asked, cost, own))
    decides = Decides("items" if between == "own" else "words", between)
    return MadeMaterial(MadeTask(decides, groups), tuple(parts))


def taken(scored: Scored, index: np.typing.NDArray[np.int64]) -> Scored:
    """Return the instances in `index`, in that order."""
    sizes = np.diff(scored.offsets)[index]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes) + np.repeat(scored.offsets[index], sizes)
    return replace(
        scored,
        offsets=offsets,
        scores=scored.scores[rows],
        observed=scored.observed[index],
        found=scored.found[rows],
        asked=scored.asked[rows],
        cost=scored.cost[rows],
        own=None if scored.own is None else scored.own.take(index),
        beside=None if scored.beside is None else scored.beside[index],
    )
