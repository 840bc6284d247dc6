"""Linear algebra on stacks of small positive definite matrices, shape (n, k, k), in place but for `factorise`.

LAPACK works column by column, so it is given the transpose of a row-major matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from koopsieve._types import FloatArray

FIRST_JITTER = np.finfo(float).eps  # of the diagonal, times the size: added where rounding made a matrix indefinite


def factorise(A: FloatArray, overwrite: bool = False) -> FloatArray:
    """Return the Cholesky factors of A; where rounding made one indefinite, its diagonal is raised until it has one.

    With `overwrite` they may take the place of A.
    """
    if A.shape[1] == 0:  # which LAPACK refuses
        return A
    L = np.ascontiguousarray(A) if overwrite else np.array(A, order="C")  # row-major, or LAPACK works on a copy
    for one, own in zip(L, diagonals(A).copy(), strict=True):
        if lapack.dpotrf(one.T, lower=0, clean=0, overwrite_a=1)[1]:
            np.fill_diagonal(one, own)  # all that LAPACK overwrote: it reads and writes one triangle
            one[...] = _jittered_cholesky(np.triu(one, 1) + np.triu(one).T)
    L *= np.tri(L.shape[1])
    return L


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
    if L.shape[1] == 0:  # which LAPACK refuses
        return L
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


def diagonals(A: FloatArray) -> FloatArray:
    """Return the diagonal of each, shape (n, k)."""
    diagonal: FloatArray = np.einsum("nkk->nk", A)
    return diagonal


def log_determinant(L: FloatArray) -> FloatArray:
    """Return log|LLᵀ| of each."""
    log_det: FloatArray = 2 * np.sum(np.log(diagonals(L)), axis=1)
    return log_det
