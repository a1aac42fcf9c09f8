"""Semirings: general sums over all derivations (Goodman 1999; Li and Eisner 2009).

The sum is over derivations, the product over the edges of each:

| semiring | weight of an edge | sum | fast method |
|---|---|---|---|
| `BEST` | its score | the score of the best derivation | `Hypergraph.best` |
| `k_best(k)` | its score, alone in a tuple | the scores of the `k` best | `Hypergraph.top` |
| `LOG_SUM` | its score | the log partition | `Hypergraph.marginals` |
| `EXPECTATION` | p, p times its value | Z, and Z times the expected sum of values | `Hypergraph.expected` |
| `COUNT` | 1, or 0 if forbidden | the number of derivations | |

`totals` takes any semiring, in plain Python. It is the reference for the tests of the compiled functions,
which are a hundred times as fast, and can be used with your own semirings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise
from operator import add, mul
from typing import Generic, TypeVar

import numpy as np

from disambig.decode.hypergraph import Hypergraphs

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Semiring(Generic[T]):
    """Addition of the weights of alternatives, and multiplication of the weights of parts."""

    # neutral elements of addition and multiplication
    zero: T
    one: T
    plus: Callable[[T, T], T]
    times: Callable[[T, T], T]


def totals(layout: Hypergraphs, weights: Sequence[T], semiring: Semiring[T]) -> list[T]:
    """Return the sum over the derivations of each instance (inside algorithm), with one weight per row."""
    results = []
    for i, (start, stop) in enumerate(pairwise(layout.offsets.tolist())):
        of_nodes = [semiring.zero] * int(layout.nodes[i + 1] - layout.nodes[i])
        for row in range(start, stop):
            product = weights[row]
            for tail in layout.tails[row].tolist():
                if tail >= 0:
                    product = semiring.times(product, of_nodes[tail])
            head = int(layout.heads[row])
            of_nodes[head] = semiring.plus(of_nodes[head], product)
        results.append(of_nodes[-1])
    return results


BEST: Semiring[float] = Semiring(-np.inf, 0.0, max, add)
LOG_SUM: Semiring[float] = Semiring(-np.inf, 0.0, lambda a, b: float(np.logaddexp(a, b)), add)
COUNT: Semiring[int] = Semiring(0, 1, add, mul)
EXPECTATION: Semiring[tuple[float, float]] = Semiring(
    (0.0, 0.0),
    (1.0, 0.0),
    lambda a, b: (a[0] + b[0], a[1] + b[1]),
    lambda a, b: (a[0] * b[0], a[0] * b[1] + a[1] * b[0]),  # Li and Eisner 2009, table 1
)


def k_best(k: int) -> Semiring[tuple[float, ...]]:
    """Return the semiring of the `k` best scores, in tuples, best first."""
    return Semiring(
        (),
        (0.0,),
        lambda a, b: tuple(nlargest(k, a + b)),
        lambda a, b: tuple(nlargest(k, (x + y for x in a for y in b))),
    )
