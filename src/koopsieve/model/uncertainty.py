"""How far predictions may stray: the one-step noise carried through the linear model."""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray


def output_deviation(A: FloatArray, C: FloatArray, noise_variance: FloatArray, horizon: int) -> FloatArray:
    """Return the standard deviation of the outputs 1, …, `horizon` steps ahead, shape (horizon, n_outputs).

    The covariance of the lifted state follows P[h] = A·P[h−1]·Aᵀ + diag(noise_variance), P[0] = 0; only the diagonal of
    C·P·Cᵀ = Σ_j (C·Aʲ)·diag(noise_variance)·(C·Aʲ)ᵀ is needed, so only the rows C·Aʲ are carried.
    """
    rows, variance, found = C, np.zeros(len(C)), np.empty((horizon, len(C)))
    with np.errstate(over="ignore", invalid="ignore"):
        for h in range(horizon):
            variance = variance + np.where(rows == 0, 0.0, rows**2 * noise_variance).sum(axis=1)
            found[h] = np.sqrt(variance)
            rows = rows @ A
    return found
