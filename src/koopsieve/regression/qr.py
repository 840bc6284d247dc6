"""Orthogonal factors of plain arrays: Householder updates, triangular solves, and how well a design is determined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import blas, lapack

from koopsieve._types import FloatArray, or_one

if TYPE_CHECKING:
    from koopsieve.regression.statistics import RegressionStatistics

_SOLVED_COLUMNS = 64  # columns of the triangular solve at a time; all but this diagonal band of it is matrix products
_SAMPLE_EVERY = 32  # every 32nd row is tried first, to see whether the limit will be passed


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
    V, tau, _, _ = lapack.dgeqrf(V, lwork=_SOLVED_COLUMNS * p, overwrite_a=1)
    if q:
        T, _, _ = lapack.dormqr("L", "T", V, tau, T, lwork=_SOLVED_COLUMNS * q, overwrite_c=1)
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
    Y, R = np.array(rows, order="F"), np.asfortranarray(R)
    for start in range(0, len(R), _SOLVED_COLUMNS):
        block = slice(start, start + _SOLVED_COLUMNS)
        if start:  # whole columns: both are done in place
            blas.dgemm(-1.0, Y[:, :start], R[:start, block], beta=1.0, c=Y[:, block], overwrite_c=1)
        blas.dtrsm(1.0, R[block, block], Y[:, block], side=1, overwrite_b=1)
    return Y


@dataclass(frozen=True)
class DesignDiagnostics:
    """Numerical rank and condition number of the design with every column scaled to unit length.

    Scaling first makes both independent of the units of the observables. A column of zeros stays zero and counts as
    missing rank.
    """

    columns: int  # number of regressors, L + l
    # singular values above max(rows, columns)·ε times the largest: number of regressors that the data determine
    rank: int
    # largest over smallest singular value; inf when a column is zero or an exact combination of others
    condition_number: float


def design_diagnostics(statistics: RegressionStatistics) -> DesignDiagnostics:
    """Return rank and condition number of the column-scaled design, from its triangular factor alone."""
    R = statistics.R
    scaled = R / or_one(np.linalg.norm(R, axis=0))
    singular: FloatArray = np.linalg.svd(scaled, compute_uv=False).astype(float)
    columns = R.shape[1]
    smallest_seen = max(statistics.rows, columns) * np.finfo(float).eps * singular.max(initial=0.0)
    return DesignDiagnostics(columns, int(np.sum(singular > smallest_seen)), _ratio(singular))


def condition_number(matrix: FloatArray) -> float:
    """Return the ratio κ of the largest to the smallest singular value; inf for a singular or non-finite matrix.

    Examples
    --------
    >>> condition_number(np.diag([1.0, 100.0]))
    100.0
    """
    if not np.isfinite(matrix).all():
        return np.inf
    return _ratio(np.linalg.svd(matrix, compute_uv=False).astype(float))


def _ratio(singular: FloatArray) -> float:
    if singular.size == 0:
        return 1.0
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ratio = float(singular[0] / singular[-1])
    return np.inf if np.isnan(ratio) else ratio
