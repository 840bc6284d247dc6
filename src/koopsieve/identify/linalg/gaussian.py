"""The Gaussian posterior of the weights at given precisions, target by target on that target's own regressors.

Comes in: a problem in standard units and diagonal precisions. Goes out: posterior means, variances and log
determinants: (D26) in docs/derivation.md.
"""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.identify.linalg import stacks
from koopsieve.identify.linalg.batches import batches
from koopsieve.identify.linalg.standardise import StandardProblem

STACK = 1 << 15  # numbers per stack: few enough that targets of different sizes need little padding


def posterior(
    problem: StandardProblem, precision: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean and variance of the weights and log|ρG + Λ| per target; regressors of infinite precision are out.

    Parameters
    ----------
    problem : StandardProblem
        p regressors, q targets.
    precision : array, shape (p, q)
        Λ, prior precision of each weight.
    noise : array, shape (q,)
        ρ, noise precision of each target.
    """
    mean, variance = np.zeros_like(precision), np.zeros_like(precision)
    kept = np.isfinite(precision)
    log_det = np.count_nonzero(kept, axis=0) * np.log(noise)
    ridge = precision / noise
    for batch in batches(problem, kept, numbers=STACK):
        L = stacks.factorise(batch.system(batch.gather(ridge, 0.0)))
        log_det[batch.targets] += stacks.log_determinant(L)
        root = stacks.inverse_root(L)
        half = np.matmul(root, batch.gather(problem.projected, 0.0)[:, :, None])
        batch.scatter(mean, np.matmul(half.transpose(0, 2, 1), root)[:, 0])
        batch.scatter(variance, np.einsum("nij,nij->nj", root, root) / noise[batch.targets, None])
    return mean, variance, log_det
