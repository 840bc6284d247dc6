"""Linear algebra that several stages share: stacks of small matrices, and eigenvalues brought inside a circle.

Stacks are of positive definite matrices, shape (n, k, k), and are worked on in place but for `factorise`. LAPACK works
column by column, so it is given the transpose of a row-major matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from koopsieve._types import FloatArray

ROUNDING = 1e-9  # a spectral radius this far above the bound is rounding, not growth
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


def clip_eigenvalues(A: FloatArray, radius: float, scale: FloatArray | None = None) -> FloatArray:
    """Return A with the eigenvalues outside a circle moved radially onto it, the eigenvectors kept.

    Where the eigenvectors are too nearly dependent to be told apart the whole matrix is shrunk instead; where no
    eigenvalue lies outside, A itself is returned. With the `scale` (n,) of each coordinate units do not matter.

    Examples
    --------
    >>> clip_eigenvalues(np.diag([2.0, 0.5]), radius=1.0)
    array([[1. , 0. ],
           [0. , 0.5]])
    """
    size = np.ones(len(A)) if scale is None else scale
    balanced = A / size[:, None] * size
    values, vectors = np.linalg.eig(balanced)
    modulus = np.abs(values)
    if not modulus.size or modulus.max() <= radius:
        return A
    clipped = values * np.minimum(1, radius / np.maximum(modulus, radius))
    try:
        moved = np.real(np.linalg.solve(vectors.T, (vectors * clipped).T).T)
    except np.linalg.LinAlgError:
        moved = balanced
    reached = _spectral_radius(moved)
    if not reached <= radius * (1 + ROUNDING):
        source, reached = (moved, reached) if reached <= modulus.max() else (balanced, float(modulus.max()))
        moved = source * (radius / reached)
    result: FloatArray = moved * size[:, None] / size
    return result


def _spectral_radius(A: FloatArray) -> float:
    """Return the largest absolute eigenvalue; inf for a matrix that is not finite."""
    return float(np.max(np.abs(np.linalg.eigvals(A)))) if np.isfinite(A).all() else np.inf
