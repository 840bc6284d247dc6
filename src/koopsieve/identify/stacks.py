"""Linear algebra on stacks of small positive definite matrices, shape (n, k, k), in place.

LAPACK works column by column, so it is given the transpose of a row-major matrix. A factor L lies in the lower
triangle, and what stands above the diagonal means nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from koopsieve._types import FloatArray

LOST = 1e-14  # of the mean square: what the diagonal gets, times the size, where rounding made a matrix indefinite


def factorise(A: FloatArray, rows: float) -> FloatArray:
    """Turn A into its Cholesky factors, with as much more on the diagonal as rounding needs."""
    diagonal = np.einsum("nkk->nk", A).copy()
    for number, one in enumerate(A):
        extra = LOST * rows * len(one)
        while lapack.dpotrf(one.T, lower=0, clean=0, overwrite_a=1)[1]:
            np.copyto(one, one.T, where=np.tri(len(one), k=-1, dtype=bool))
            np.einsum("kk->k", one)[:] = diagonal[number] + extra
            extra *= 10
    return A


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
    upper = np.triu_indices(L.shape[1], 1)
    for factor in L:
        lapack.dpotri(factor.T, lower=0, overwrite_c=1)
    L[:, upper[0], upper[1]] = L[:, upper[1], upper[0]]
    return L
