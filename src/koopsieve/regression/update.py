"""Two ways to put new rows under a triangular factor, both as accurate as one QR of all rows.

`householder_update` is the QR of [R; Φ]. `innovation_update` writes the new rows as Φ = YR and works on [I; Y] instead.
Its Gram matrix I + YᵀY loses nothing as long as Y is of moderate size, that is, as long as the new rows hold little
that the old ones did not: then everything is matrix products, which run at the full speed of every core and need a
third less time. Y is the only place where R is inverted, row by row and backward stably, so the condition number of the
design is never squared.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from koopsieve._types import FloatArray

_PANEL_COLUMNS = 64  # columns of the triangular solve at a time; all but this diagonal band of it is matrix products
_BLOCK_ROWS = 2048  # rows at a time, so that what is worked on stays in the cache
# The leverage ‖Y‖² of all new rows together, up to which products are used. Rounding changes what is known of any
# direction, however weak, by at most ε·leverage of itself: 1e-11 here, where Householder promises ε of the largest.
_MAX_LEVERAGE = 5e4
_SAMPLE_EVERY = 32  # every 32nd row is tried first, to see whether the limit will be passed


def innovation_update(
    R: FloatArray, S: FloatArray, design: FloatArray, targets: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return R, S and the cross products left over after new rows, or None where the new rows outweigh the old.

    With Y = ΦR⁻¹, UᵀU = I + YᵀY and the innovation E = T − YS (the new targets less what the old rows predict):
    R ← UR, S ← US + U⁻ᵀYᵀE, and EᵀE − (U⁻ᵀYᵀE)ᵀ(U⁻ᵀYᵀE) is left over, without cancellation because E is already small.
    """
    if not np.diagonal(R).all() or not expected_leverage(R, design) <= _MAX_LEVERAGE:
        return None
    p, q = S.shape
    square, cross, left = np.eye(p), np.zeros((p, q)), np.zeros((q, q))
    for start in range(0, len(design), _BLOCK_ROWS):
        with np.errstate(all="ignore"):  # an almost singular R overflows here; the test below then says no
            Y = solve_right(R, design[start : start + _BLOCK_ROWS])
            square += Y.T @ Y
        if not np.trace(square) <= p + _MAX_LEVERAGE:
            return None
        E = np.empty((len(Y), q), order="F")
        np.subtract(targets[start : start + _BLOCK_ROWS], np.matmul(Y, S, out=E), out=E)
        cross += Y.T @ E
        left += products(E)
    U = np.linalg.cholesky(square).T
    gain = blas.dtrsm(1.0, U, cross, trans_a=1)
    left -= products(gain)
    np.fill_diagonal(left, np.maximum(np.diagonal(left), 0.0))  # rounding must not make a square negative
    return np.triu(blas.dtrmm(1.0, U, R)), gain + blas.dtrmm(1.0, U, S), left


def expected_leverage(R: FloatArray, design: FloatArray) -> float:
    """Return ‖ΦR⁻¹‖², estimated from a sample of the rows of Φ; not finite where R is almost singular.

    A guess is enough: it spares most of the work that would be thrown away, and either update is right.
    """
    sample = design[::_SAMPLE_EVERY]
    with np.errstate(all="ignore"):
        Y = solve_right(R, sample)
        return float(np.einsum("ij,ij->", Y, Y)) * len(design) / max(len(sample), 1)


def householder_update(
    R: FloatArray, S: FloatArray, design: FloatArray, targets: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return R, S and the cross products left over after new rows, by LAPACK's blocked QR of [R; Φ]."""
    p, q = S.shape
    known = p if R.any() else 0  # nothing above the very first rows
    rows = max(known + len(design), p)
    V, T = np.zeros((rows, p), order="F"), np.zeros((rows, q), order="F")
    V[:known], T[:known] = R[:known], S[:known]
    V[known : known + len(design)], T[known : known + len(design)] = design, targets
    V, tau, _, _ = lapack.dgeqrf(V, lwork=_PANEL_COLUMNS * p, overwrite_a=1)
    if q:
        T, _, _ = lapack.dormqr("L", "T", V, tau, T, lwork=_PANEL_COLUMNS * q, overwrite_c=1)
    return *positive_diagonal(V[:p], T[:p]), products(T[p:])


def products(columns: FloatArray) -> FloatArray:
    """Return the products of all columns with each other; data that are too large overflow, and are refused later."""
    with np.errstate(over="ignore", invalid="ignore"):
        found: FloatArray = columns.T @ columns
    return found


def positive_diagonal(R: FloatArray, S: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return R and S with the signs that make the diagonal of R not negative, and zeros below it."""
    signs = np.where(np.diagonal(R) < 0, -1.0, 1.0)[:, None]
    return signs * np.triu(R), signs * S


def solve_right(R: FloatArray, rows: FloatArray) -> FloatArray:
    """Return Y with YR = rows, block column by block column."""
    Y = np.array(rows, order="F")
    known = np.empty(
        (len(Y), min(_PANEL_COLUMNS, len(R))), order="F"
    )  # once: fresh memory costs as much as the product
    for start in range(0, len(R), _PANEL_COLUMNS):
        block = slice(start, start + _PANEL_COLUMNS)
        width = len(R[block])
        Y[:, block] -= np.matmul(Y[:, :start], R[:start, block], out=known[:, :width])
        blas.dtrsm(1.0, R[block, block], Y[:, block], side=1, overwrite_b=1)  # whole columns: done in place
    return Y
