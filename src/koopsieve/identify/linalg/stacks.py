"""Linear algebra on stacks of small positive definite matrices, shape (n, k, k), in place but for `factorise`.

LAPACK works column by column, so it is given the transpose of a row-major matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from koopsieve._types import FloatArray

FIRST_JITTER = np.finfo(float).eps  # of the diagonal, times the size: added where rounding made a matrix indefinite


def factorise(A: FloatArray) -> FloatArray:
    """Return the Cholesky factors of A; where rounding made one indefinite, its diagonal is raised until it has one."""
    try:
        return np.asarray(np.linalg.cholesky(A), dtype=float)
    except np.linalg.LinAlgError:
        return np.stack([_jittered_cholesky(one) for one in A])


def _jittered_cholesky(A: FloatArray) -> FloatArray:
    """Return the factor of A, or of the first matrix that has one when its diagonal grows by more and more."""
    raised, jitter = A, FIRST_JITTER * len(A)
    while True:
        try:
            return np.asarray(np.linalg.cholesky(raised), dtype=float)
        except np.linalg.LinAlgError:
            if not jitter < 1:  # not rounding: the matrix is not positive at all
                raise
            raised, jitter = A + jitter * np.diag(np.diagonal(A)), 10 * jitter


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


def inverse_root(L: FloatArray) -> FloatArray:
    """Turn the factors into W = L⁻¹, for which WᵀW = (LLᵀ)⁻¹."""
    for factor in L:
        lapack.dtrtri(factor.T, lower=0, overwrite_c=1)
    return L


def inverse(L: FloatArray) -> FloatArray:
    """Turn the factors into (LLᵀ)⁻¹."""
    if L.shape[1] == 0:  # which LAPACK refuses
        return L
    for factor in L:
        lapack.dpotri(factor.T, lower=0, overwrite_c=1)
    np.copyto(L, L.transpose(0, 2, 1), where=~np.tri(L.shape[1], dtype=bool))
    return L


def log_determinant(L: FloatArray) -> FloatArray:
    """Return log|LLᵀ| of each."""
    log_det: FloatArray = 2 * np.sum(np.log(np.einsum("nkk->nk", L)), axis=1)
    return log_det
