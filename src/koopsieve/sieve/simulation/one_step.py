"""The one-step regression: where the multi-step fit starts, and which candidates it looks at.

Comes in: regressors and embedded episodes. Goes out: one `TriangularFactor` of y[k+1] on p(x[k], u[k]), its least
squares on any support, and the order in which forward selection would take the regressors.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.regression import TriangularFactor
from koopsieve.regression.factor import refuse_too_large
from koopsieve.sieve.simulation.protocol import Regressors
from koopsieve.sieve.simulation.windows import Episode

_ROWS = 4096  # rows lifted at once
_DEPENDENT = 1e-9  # share of a column's energy outside those chosen below which it counts as dependent on them
_SINGULAR = 1e-12  # relative singular value below which a direction is left out of least squares


def one_step_factor(regressors: Regressors, episodes: Iterable[Episode], outputs: int) -> TriangularFactor:
    """Return the factor of the next outputs on all regressors; the rows are lifted and folded piece by piece."""
    factor = TriangularFactor.empty(regressors.size, outputs)
    for states, inputs in episodes:
        for first in range(0, len(inputs), _ROWS):
            rows = slice(first, first + _ROWS)
            z = np.hstack([states[:-1][rows], inputs[rows]])
            factor = factor.absorb(regressors.evaluate(z), states[1:, :outputs][rows])
    refuse_too_large(factor, ("the regressors",))
    return factor


def least_squares(factor: TriangularFactor, columns: IndexArray, target: int = 0) -> FloatArray:
    """Return the least-squares weights of one target on some columns, scaled inside, shape (len(columns),)."""
    R = factor.R[:, columns]
    norm = np.linalg.norm(R, axis=0)
    scale = np.where(norm > 0, norm, 1.0)
    weights: FloatArray = np.linalg.lstsq(R / scale, factor.S[:, target], rcond=_SINGULAR)[0] / scale
    return weights


def one_step_theta(factor: TriangularFactor, free: BoolArray) -> FloatArray:
    """Return the one-step least squares of every output on its free coefficients, in the order of `coef[free]`."""
    coef = np.zeros(free.shape)
    for output, column in enumerate(free.T):
        chosen = np.flatnonzero(column)
        coef[chosen, output] = least_squares(factor, chosen, output)
    theta: FloatArray = coef[free]
    return theta


def forward_order(factor: TriangularFactor, target: int, most: int) -> IndexArray:
    """Return the columns in the order in which orthogonal least squares takes them, at most `most`.

    Columns are scaled to unit norm; one that depends on those before it is never taken.
    """
    norm = np.linalg.norm(factor.R, axis=0)
    R = factor.R / np.where(norm > 0, norm, 1.0)
    gram, score = R.T @ R, R.T @ factor.S[:, target]
    outside = np.diagonal(gram).copy()
    basis, order = np.empty((min(most, len(gram)), len(gram))), []
    for step in range(len(basis)):
        gains = np.where(outside > _DEPENDENT, score**2 / np.maximum(outside, _DEPENDENT), -1.0)
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        order.append(best)
        basis[step] = (gram[best] - basis[:step, best] @ basis[:step]) / np.sqrt(outside[best])
        score = score - basis[step] * (score[best] / np.sqrt(outside[best]))
        outside = outside - basis[step] ** 2
        outside[best] = 0.0
    return np.array(order, dtype=np.intp)
