"""Learning one structure after another, with any decoder: averaged perceptron and max-margin subgradients.

For lists, sequences and charts alike; slower than a kernel of their own, since each step decodes one example.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from disambig.decode.objectives import Structures

Floats = NDArray[np.float64]


def averaged_perceptron(
    examples: Structures, *, passes: int, seed: int, watch: Callable[[Floats], object] | None = None
) -> tuple[Floats, int]:
    """Return the averaged weights (Collins 2002) and the mistakes of the last pass.

    The features of the right candidate go up, those of the best one down; of several right candidates it is
    the one that scores best. The average is that of the weights after each example.
    """
    n = len(examples)
    weights = np.zeros(len(examples.batch.columns))
    late = np.zeros_like(weights)
    each = [examples.only(i) for i in np.random.default_rng(seed).permutation(n)]
    time, mistakes = 0, 0
    for _ in range(passes):
        mistakes = 0
        for one in each:
            scores = one.batch.scores(weights)
            guess = one.rival(scores, margin=0.0)
            if guess @ one.cost > 0:
                change = one.batch.adjoint(one.right(scores) - guess)
                weights += change
                late += time * change
                mistakes += 1
            time += 1
        if watch is not None:
            watch(weights - late / max(time, 1))
    return weights - late / max(time, 1), mistakes


def subgradient(examples: Structures, *, alpha: float, passes: int, seed: int) -> Floats:
    """Return weights of little structured hinge and squared norm, by stochastic subgradient descent.

    Each step asks for the best candidate by ``scores + cost``. Steps fall as ``1 / (alpha (t0 + t))`` with t0
    after Bottou's heuristic.

    Parameters
    ----------
    alpha : float
        Weight of half the squared norm; the loss is the mean over examples.
    """
    weights, scale, t = np.zeros(len(examples.batch.columns)), 1.0, 0.0
    t0 = 1.0 / (np.sqrt(1.0 / np.sqrt(alpha)) * alpha)
    each = [examples.only(i) for i in np.random.default_rng(seed).permutation(len(examples))]
    for _ in range(passes):
        for one in each:
            scores = scale * one.batch.scores(weights)
            right, rival = one.right(scores), one.rival(scores)
            step = 1.0 / (alpha * (t0 + t))
            scale *= max(0.0, 1.0 - step * alpha)
            if scale < 1e-9:
                weights, scale = weights * scale, 1.0
            if (rival - right) @ scores + rival @ one.cost > 0:
                weights += step / scale * one.batch.adjoint(right - rival)
            t += 1.0
    return weights * scale
