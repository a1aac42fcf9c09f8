"""Judging scores of many groups: some at a time, where the judge is the quicker for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from disambig.types import Judge, Judged, JudgesTogether, Scored

Rows = NDArray[np.int64]
HELD = 4096
"""Instances that wait for others to be judged with them."""


def judged(
    judge: Judge, parts: Iterable[tuple[Rows, Scored]], *, flags_per_1000: float | None = None
) -> Iterator[tuple[Rows, Judged]]:
    """Yield what a judge makes of scores of a group each, which come with the numbers of their instances."""
    if not isinstance(judge, JudgesTogether):
        for rows, scored in parts:
            yield rows, judge.judge(scored, flags_per_1000=flags_per_1000)
        return
    held: list[tuple[Rows, Scored]] = []
    waiting = 0
    for rows, scored in parts:
        held.append((rows, scored))
        waiting += len(rows)
        if waiting >= HELD:
            yield from _at_once(judge, held, flags_per_1000)
            held, waiting = [], 0
    if held:
        yield from _at_once(judge, held, flags_per_1000)


def _at_once(
    judge: JudgesTogether, held: list[tuple[Rows, Scored]], flags_per_1000: float | None
) -> Iterator[tuple[Rows, Judged]]:
    found = judge.judge_all([scored for _, scored in held], flags_per_1000=flags_per_1000)
    yield from zip((rows for rows, _ in held), found, strict=True)
