"""Machine code of one visit to one list: steps of exponentiated gradient on its own dual variables.

A list is given by its columns `cols`, the weights of these, and the entries ``ptr[y]:ptr[y + 1]`` of each
candidate (`local`, an index into `cols`, and `values`). `loss` holds L_y: zero for the gold candidate, below
zero for a candidate that takes no part. `theta` are the logarithms of alpha.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled

_NEVER = -np.inf
_HARDLY = 1e-9
"""A change of alpha, summed over candidates, that is too little to tell how long a step should be."""


@compiled
def normalise(theta, alpha):
    """Make logarithms of shares of `theta`, and put the shares into `alpha`."""
    most = _NEVER
    for y in range(len(theta)):
        most = max(most, theta[y])
    total = 0.0
    for y in range(len(theta)):
        alpha[y] = np.exp(theta[y] - most)
        total += alpha[y]
    shift = most + np.log(total)
    for y in range(len(theta)):
        theta[y] -= shift
        alpha[y] /= total


@compiled
def score(ptr, local, values, weights, out):
    """Put the score of each candidate into `out`, by the weights of the list's columns."""
    for y in range(len(out)):
        total = 0.0
        for at in range(ptr[y], ptr[y + 1]):
            total += values[at] * weights[local[at]]
        out[y] = total


@compiled
def spread(ptr, local, values, mass, out):
    """Put the sum of the candidates' features, weighted by `mass`, into `out`; return its squared norm."""
    for c in range(len(out)):
        out[c] = 0.0
    for y in range(len(mass)):
        m = mass[y]
        if m != 0.0:
            for at in range(ptr[y], ptr[y + 1]):
                out[local[at]] += m * values[at]
    total = 0.0
    for c in range(len(out)):
        total += out[c] * out[c]
    return total


@compiled
def slopes(loss, scores, gold, theta, log_linear, out):
    """Put nabla into `out`: L - M (slides), or -log alpha - M for the log-linear dual (JMLR 2008)."""
    for y in range(len(out)):
        if loss[y] < 0.0:
            out[y] = 0.0
        elif log_linear:
            out[y] = scores[y] - scores[gold] - theta[y]
        else:
            out[y] = loss[y] + scores[y] - scores[gold]


@compiled
def own_gap(nabla, alpha, theta, log_linear):
    """Return what the list adds to the gap between primal and dual, as a share of C."""
    mean, most = 0.0, _NEVER
    for y in range(len(alpha)):
        mean += alpha[y] * nabla[y]
        if theta[y] > _NEVER:
            most = max(most, nabla[y] + theta[y] if log_linear else nabla[y])
    if not log_linear:
        return most - mean
    total = 0.0  # log sum exp(-M) less (H(alpha) - alpha M), with -M = nabla + theta
    for y in range(len(alpha)):
        if theta[y] > _NEVER:
            total += np.exp(nabla[y] + theta[y] - most)
    return most + np.log(total) - mean


@compiled
def moved(theta, nabla, eta, floor, out):
    """Put ``theta + eta nabla``, normalised in effect by the caller, into `out`; none falls far behind."""
    most = _NEVER
    for y in range(len(theta)):
        out[y] = theta[y] + eta * nabla[y] if theta[y] > _NEVER else _NEVER
        most = max(most, out[y])
    for y in range(len(theta)):
        if theta[y] > _NEVER:
            out[y] = max(out[y], most - floor)


@compiled
def visit(
    cols, ptr, local, values, loss, gold, C, log_linear, floor, eta, safe, steps, enough, theta, weights,
    room, wide,
):  # fmt: skip
    """Take up to `steps` steps on one list; return eta, the gain of the dual, and the steps taken.

    Each step is ``theta <- theta + eta nabla``. The dual gains ``C delta . nabla - 1/2 |dW|^2`` by it, with
    delta the change of alpha (the entropy's second-order part comes on top for the log-linear dual): eta is
    halved until this is no loss, and next time is longer or shorter as the best step on the line along delta
    is: ``t = C delta . nabla / |dW|^2``, within a factor of two.

    Parameters
    ----------
    safe : float
        An eta with which the dual never falls but for rounding: it is not halved beyond.
    steps : int
    enough : float
        The list's own gap at which it is left alone.
    theta : array of float64, shape (K,)
        Logarithms of alpha; changed.
    weights : array of float64, shape (n_columns,)
        W; changed.
    room : array of float64, shape (5, at least K)
    wide : array of float64, shape (2, at least the list's columns)
    """
    k, m = len(theta), len(cols)
    alpha, other, then = room[0, :k], room[1, :k], room[2, :k]
    scores, nabla = room[3, :k], room[4, :k]
    own, change = wide[0, :m], wide[1, :m]
    for c in range(m):
        own[c] = weights[cols[c]]
    for y in range(k):
        alpha[y] = np.exp(theta[y])
    gained, taken = 0.0, 0
    for _ in range(steps):
        score(ptr, local, values, own, scores)
        slopes(loss, scores, gold, theta, log_linear, nabla)
        if own_gap(nabla, alpha, theta, log_linear) <= enough:
            break
        least, most = 0.0, 0.0
        for y in range(k):
            least, most = min(least, nabla[y]), max(most, nabla[y])
        if not log_linear:
            eta = min(eta, 2.0 * floor / (most - least))  # a longer step comes to the same
        accepted = False
        while True:
            moved(theta, nabla, eta, floor, then)
            normalise(then, other)
            linear, bent, far = 0.0, 0.0, 0.0
            for y in range(k):
                delta = other[y] - alpha[y]
                linear += delta * nabla[y]
                far += abs(delta)
                if log_linear and other[y] > 0.0:
                    bent += other[y] * (then[y] - theta[y])  # KL: the entropy falls behind its slope
                alpha[y] = -delta
            square = spread(ptr, local, values, alpha, change)
            for y in range(k):
                alpha[y] = np.exp(theta[y])
            linear *= C
            loss_of_bend = C * bent + 0.5 * C * C * square
            gain = linear - loss_of_bend
            if gain >= 0.0:
                accepted = True
                break
            if eta <= safe:  # what is left to gain is lost in rounding
                break
            eta = max(0.5 * eta, safe)
        if not accepted:
            break
        taken += 1
        gained += gain
        for c in range(m):
            own[c] += C * change[c]
        for y in range(k):
            theta[y] = then[y]
            alpha[y] = other[y]
        if loss_of_bend > 0.0 and far > _HARDLY:
            eta *= min(2.0, max(0.5, 0.5 * linear / loss_of_bend))
        else:
            eta *= 2.0
        if log_linear:
            eta = min(eta, 1.0)
    if taken:
        for c in range(m):
            weights[cols[c]] = own[c]
    return eta, gained, taken
