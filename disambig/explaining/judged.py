"""What a judge of labels makes of a score, part by part: a scale, the bias of the label, an offset for F1."""

from __future__ import annotations

from dataclasses import dataclass

from disambig.judges.labels import Labels
from disambig.types import Judge

SCALED = "the score, calibrated"
BIAS = "bias of the label"
OFFSET = "for the best F1"
SUM = "sum: what decides"


@dataclass(frozen=True, slots=True)
class Weighed:
    """What decides for one candidate.

    Attributes
    ----------
    parts : tuple of (str, float)
        What is added, in order. The candidate of the greatest sum is chosen; its margin is its lead on the
        next one. The probabilities are the softmax of the sums.
    """

    parts: tuple[tuple[str, float], ...]

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return sum(part for _, part in self.parts)


def weighed(judge: Judge, group: int, scores: dict[str, float]) -> dict[str, Weighed]:
    """Return what decides for each candidate of a group; nothing where the scores alone do.

    Parameters
    ----------
    judge : Judge
        Only `Labels` makes more of scores than their order.
    group : int
    scores : dict of str to float
        Of all candidates, in the order of the group.
    """
    if not isinstance(judge, Labels) or len(scores) < 2:  # an only candidate is always given
        return {}
    scale, bias, offset = float(judge.scale[group]), judge.bias[group].tolist(), judge.offset[group].tolist()
    if scale == 1.0 and not any(bias) and not any(offset):
        return {}
    found = {}
    for number, (name, score) in enumerate(scores.items()):
        more = [(BIAS, bias[number]), (OFFSET, offset[number])]
        parts = ((f"{SCALED}: {scale:.3g} times", scale * score), *(part for part in more if part[1]))
        found[name] = Weighed(parts)
    return found
