"""Which columns of one linear regression to keep: proposals for the path, from a triangular factor alone.

Comes in: the Gauss–Newton regression at a simulated solution (D51), one target. Goes out: flags. Spike and slab gives
the set that the evidence supports at some prior odds (D53); backward elimination, forward selection and exchanges give
sets of an exact size (D54). All work on orthogonal factors: the Jacobian's columns are nearly dependent, and a Gram
matrix would lose the digits that tell them apart. A search begins with the forward order of the one-step regression.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import solve_triangular

from koopsieve._types import BoolArray, FloatArray, IndexArray, or_one
from koopsieve.identify import SpikeSlab, SpikeSlabPrior, Start
from koopsieve.regression import TriangularFactor
from koopsieve.regression.statistics import SomeTargets

_DEPENDENT = 1e-6  # norm outside the kept columns, of a column of norm one, below which it adds nothing
_NO_ENERGY = 1e-9  # share of a column's energy outside those chosen below which forward selection never takes it
_ALIKE = 1e-6  # relative difference of gains and costs that rounding may cause
_BETTER = 1e-6  # relative fall of the squared error for which an exchange is made


def supported(factor: TriangularFactor, log_odds: float) -> BoolArray:
    """Return the columns that spike and slab finds more likely in than out, the prior log odds lowered so far (D53)."""
    statistics = SomeTargets(factor, ("simulated outputs",), every=tuple(map(str, range(len(factor.R)))))
    prior = replace(SpikeSlabPrior.strict(), worth=2 * log_odds / max(factor.rows, 1.0))
    found = SpikeSlab(prior, starts=(Start.GREEDY, Start.RIDGE), averaged=False).identify(statistics)
    flags: BoolArray = found.inclusion[:, 0] > 0.5
    return flags


def eliminate(factor: TriangularFactor, kept: BoolArray, size: int) -> BoolArray:
    """Return `kept` cut down to `size` by backward elimination, the others fitted anew after each (D54).

    With X = R⁻¹ of the kept columns and w their least squares, taking out i adds w_i²/‖X_i‖² to the squared error, and
    what is left is X less its part along the direction of row i.
    """
    places = np.flatnonzero(kept)
    if len(places) <= size:
        return kept
    X, w = _inverse(_scaled(factor)[:, places], factor.S[:, 0])
    alive = np.ones(len(places), dtype=bool)
    for _ in range(len(places) - size):
        spread = np.einsum("ij,ij->i", X, X)
        cost = np.where(alive, w**2 / np.where(alive, spread, 1.0), np.inf)
        i = _first(cost <= (1 + _ALIKE) * cost.min())
        direction = X[i] / np.sqrt(spread[i])
        part = X @ direction
        w = w - part * (w[i] / np.sqrt(spread[i]))
        X = X - np.outer(part, direction)
        alive[i] = False
        X[i], w[i] = 0.0, 0.0
    return _flags(places[alive], len(kept))


def extend(factor: TriangularFactor, kept: BoolArray, size: int) -> BoolArray:
    """Return `kept` filled up to `size` by forward selection; fewer where the rest depends on what is in."""
    flags = kept.copy()
    while flags.sum() < size:
        gains = _gains(_scaled(factor), factor.S[:, 0], flags)
        best = _first(gains >= (1 - _ALIKE) * gains.max())
        if gains[best] <= 0:
            break
        flags[best] = True
    return flags


def exchange(factor: TriangularFactor, kept: BoolArray, tries: int, most: int) -> BoolArray:
    """Return `kept` after exchanges of one column for another, each of which lowers the squared error, at most `most`.

    The `tries` columns that would help most are each put in, and what is then missed least is taken out.
    """
    R, s = _scaled(factor), factor.S[:, 0]
    error = _squared_error(R, s, kept)
    for _ in range(most):
        newcomers = _largest(_gains(R, s, kept), tries)
        trials = [eliminate(factor, kept | _flags(np.array([j]), len(kept)), int(kept.sum())) for j in newcomers]
        errors = [_squared_error(R, s, trial) for trial in trials]
        best = _first(np.asarray(errors) <= (1 + _ALIKE) * min(errors)) if errors else -1
        if best < 0 or not errors[best] < (1 - _BETTER) * error:
            break
        kept, error = trials[best], errors[best]
    return kept


def forward_order(factor: TriangularFactor, target: int, most: int) -> IndexArray:
    """Return the columns in the order in which orthogonal least squares takes them, at most `most`.

    Columns are scaled to unit norm; one that depends on those before it is never taken.
    """
    R = _scaled(factor)
    gram, score = R.T @ R, R.T @ factor.S[:, target]
    outside = np.diagonal(gram).copy()
    basis, order = np.empty((min(most, len(gram)), len(gram))), []
    for step in range(len(basis)):
        gains = np.where(outside > _NO_ENERGY, score**2 / np.maximum(outside, _NO_ENERGY), -1.0)
        best = _first(gains >= (1 - _ALIKE) * gains.max())
        if gains[best] <= 0:
            break
        order.append(best)
        basis[step] = (gram[best] - basis[:step, best] @ basis[:step]) / np.sqrt(outside[best])
        score = score - basis[step] * (score[best] / np.sqrt(outside[best]))
        outside = outside - basis[step] ** 2
        outside[best] = 0.0
    return np.array(order, dtype=np.intp)


def _first(flags: BoolArray) -> int:
    """Return the first of several that are alike, so that rounding does not choose."""
    return int(np.argmax(flags))


def _largest(gains: FloatArray, count: int) -> IndexArray:
    """Return the places of the largest gains; of about equal ones those that come first."""
    digits = np.round(np.log(np.maximum(gains, np.finfo(float).tiny)) / _ALIKE)
    return np.argsort(-digits, kind="stable")[:count]


def _scaled(factor: TriangularFactor) -> FloatArray:
    scaled: FloatArray = factor.R / or_one(np.linalg.norm(factor.R, axis=0))
    return scaled


def _inverse(R: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the inverse of the triangle of some columns, and their least squares."""
    Q, triangle = np.linalg.qr(R)
    diagonal = np.diagonal(triangle)
    floor = _DEPENDENT**2 * np.max(np.abs(diagonal), initial=0.0)
    weak = np.abs(diagonal) <= floor  # exactly dependent: given a little length of its own, it is the first to leave
    triangle[weak, weak] = floor or 1.0
    X = solve_triangular(triangle, np.eye(len(triangle)))
    return X, X @ (Q.T @ s)


def _gains(R: FloatArray, s: FloatArray, kept: BoolArray) -> FloatArray:
    """Return by how much each column would lower the squared error; −1 for what is in or depends on what is in."""
    Q = np.linalg.qr(R[:, kept])[0]
    outside, left = R - Q @ (Q.T @ R), s - Q @ (Q.T @ s)
    norm = np.linalg.norm(outside, axis=0)
    able = ~kept & (norm > _DEPENDENT)
    gains: FloatArray = np.where(able, (left @ outside / np.where(able, norm, 1.0)) ** 2, -1.0)
    return gains


def _squared_error(R: FloatArray, s: FloatArray, kept: BoolArray) -> float:
    Q = np.linalg.qr(R[:, kept])[0]
    left = s - Q @ (Q.T @ s)
    return float(left @ left)


def _flags(places: IndexArray, size: int) -> BoolArray:
    flags = np.zeros(size, dtype=bool)
    flags[places] = True
    return flags
