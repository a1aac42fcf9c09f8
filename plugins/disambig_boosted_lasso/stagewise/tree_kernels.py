"""Machine code of a tournament: which feature has the greatest key, kept while single keys change.

`tree` has ``2 * size`` places, `size` a power of two: the winner of place i is the better of those of 2i and
2i + 1, the winner of all is at 1; feature k begins at ``size + k``, and -1 is nobody. Ties go to the first.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

from disambig.api.kernels import compiled


@compiled
def better(key, left, right):
    """Return the winner of two, the left one of equals."""
    if right < 0:
        return left
    if left < 0:
        return right
    return right if key[right] > key[left] else left


@compiled
def build(key, tree):
    """Play all matches."""
    size = len(tree) >> 1
    for k in range(size):
        tree[size + k] = k if k < len(key) else -1
    for place in range(size - 1, 0, -1):
        tree[place] = better(key, tree[2 * place], tree[2 * place + 1])


@compiled
def change(key, tree, k, value):
    """Give feature k another key. Matches are played again up to the first that comes out as before."""
    key[k] = value
    place = ((len(tree) >> 1) + k) >> 1
    while place >= 1:
        winner = better(key, tree[2 * place], tree[2 * place + 1])
        if tree[place] == winner and winner != k:
            return
        tree[place] = winner
        place >>= 1
