"""Linear algebra on stacks of small positive definite matrices, shape (n, k, k), in place but for `factorise`.

LAPACK works column by column, so it is given the transpose of a row-major matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from koopsieve._types import FloatArray

LOST = 1e-14  # of the mean square: what the diagonal gets, times the size, where rounding made a matrix indefinite


def factorise(A: FloatArray, rows: float) -> FloatArray:
    """Return the Cholesky factors of A, with as much more on the diagonal as rounding needs."""
    try:
        return np.asarray(np.linalg.cholesky(A), dtype=float)
    except np.linalg.LinAlgError:
        return np.stack([_propped(one, LOST * rows * len(one)) for one in A])


def _propped(A: FloatArray, extra: float) -> FloatArray:
    """Return the factor of one matrix, or of the first that has one when more and more stands on its diagonal."""
    propped = A
    while True:
        try:
            return np.asarray(np.linalg.cholesky(propped), dtype=float)
        except np.linalg.LinAlgError:
            propped, extra = A + extra * np.eye(len(A)), 10 * extra


def solve(L: FloatArray, right: FloatArray) -> FloatArray:
    """Turn the right-hand sides, shape (n, k), into the solutions of LLᵀx = right."""
    for factor, side in zip(L, right, strict=True):
        lapack.dpotrs(factor.T, side, lower=0, overwrite_b=1)
    return right


def forward(L: FloatArray, right: FloatArray) -> FloatArray:
    """Turn the right-hand sides, shape (n, k, p), into L⁻¹·right."""
    for factor, side in zip(L, right, strict=True):
        blas.dtrsm(1.0, factor.T, side.T, side=1, lower=0, overwrite_b=1)
    return right


def inverse(L: FloatArray) -> FloatArray:
    """Turn the factors into (LLᵀ)⁻¹."""
    for factor in L:
        lapack.dpotri(factor.T, lower=0, overwrite_c=1)
    np.copyto(L, L.transpose(0, 2, 1), where=~np.tri(L.shape[1], dtype=bool))
    return L
