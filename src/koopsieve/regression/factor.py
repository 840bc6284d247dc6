"""The triangular factor of a regression: all that least squares and the Bayesian methods need to know of the data.

For a design Φ (rows × p) and targets T (rows × q) with Φ = QR, the factor holds R, S = QᵀT, the cross products of what
Q leaves over, and the number of rows. It is a monoid: `absorb` adds rows, `merge` joins two factors,
`empty` is the neutral element.

New rows are put under a factor in one of two ways, both as accurate as one QR of all rows.

`householder_update` is the QR of [R; Φ]. `innovation_update` writes the new rows as Φ = YR
and works on [I; Y] instead. Its Gram matrix I + YᵀY loses nothing as long as Y is of moderate size, that is, as long as
the new rows hold little that the old ones did not: then everything is matrix products, which run at the full speed of
every core and need a third less time. Y is the only place where R is inverted, row by row and backward stably, so the
condition number of the design is never squared.

The numerical rank and the condition number of a design come from its factor too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas, lapack

from koopsieve._types import BoolArray, FloatArray, KoopsieveError
from koopsieve.execution import one_blas_thread

if TYPE_CHECKING:
    from koopsieve.regression.statistics import RegressionStatistics

MAX_NORM = 1e150  # of a regressor or target over all rows: later stages square what is left of it
DEPENDENT = 1e-8  # norm outside the regressors before it, relative to its own: less is rounding
_PANEL_COLUMNS = 32  # columns per panel of the blocked QR
_FIRST_ROWS_PER_REGRESSOR = 4  # rows of the first QR, enough that those after it can be matrix products
_SOLVED_COLUMNS = 64  # columns of the triangular solve at a time; all but this diagonal band of it is matrix products
_BLOCK_ROWS = 2048  # rows at a time, so that what is worked on stays in the cache
# The leverage ‖Y‖² of all new rows together, up to which products are used. Rounding changes what is known of any
# direction, however weak, by at most ε·leverage of itself: 1e-11 here, where Householder promises ε of the largest.
_MAX_LEVERAGE = 5e4
_SAMPLE_EVERY = 32  # every 32nd row is tried first, to see whether the limit will be passed


@dataclass(frozen=True, eq=False)
class TriangularFactor:
    """R, S, cross products of what is left over, and row count of a regression problem.

    Parameters
    ----------
    R : array, shape (p, p)
        Upper triangular factor of the design, its diagonal not negative: one R per data set, whatever the chunks.
    S : array, shape (p, q)
        The targets seen through Q: QᵀT.
    leftover_products : array, shape (q, q)
        (T − QS)ᵀ(T − QS): cross products of the parts of the targets that no combination of regressors reaches.
    rows : float
        Number of rows behind the factor; not a whole number once old rows were discounted.
    """

    R: FloatArray
    S: FloatArray
    leftover_products: FloatArray
    rows: float

    @property
    def leftover(self) -> FloatArray:
        """Squared norm of T − QS, column by column, shape (q,)."""
        return np.diagonal(self.leftover_products)

    @property
    def independent(self) -> BoolArray:
        """Whether each regressor is more than a combination of those before it, shape (p,).

        A combination predicts nothing that they do not: with an input of two levels u² is one of the constant and u.
        """
        independent: BoolArray = np.diagonal(self.R) > DEPENDENT * np.linalg.norm(self.R, axis=0)
        return independent

    @classmethod
    def prior(cls, size: FloatArray, targets: int) -> TriangularFactor:
        """Return the factor of one row per regressor that says it is zero, with these weights; they are not counted."""
        return cls(np.diag(size), np.zeros((len(size), targets)), np.zeros((targets, targets)), 0)

    @classmethod
    def empty(cls, regressors: int, targets: int) -> TriangularFactor:
        """Return the factor of no rows at all."""
        shape = (regressors, targets)
        return cls(np.zeros((regressors, regressors)), np.zeros(shape), np.zeros((targets, targets)), 0)

    def absorb(self, design: ArrayLike, targets: ArrayLike) -> TriangularFactor:
        """Return the factor after the given rows: by matrix products where that is safe, by Householder QR elsewhere.

        Both ways are as accurate as one QR of all rows; neither argument is written to.
        """
        design, targets = np.asarray(design, dtype=float), np.asarray(targets, dtype=float)
        if len(self.R) == 0 or len(design) == 0:
            left = self.leftover_products + products(targets)
            return TriangularFactor(self.R, self.S, left, self.rows + len(targets))
        first = _FIRST_ROWS_PER_REGRESSOR * len(self.R)
        if len(design) > first and not self.R.any():
            return self.absorb(design[:first], targets[:first]).absorb(design[first:], targets[first:])
        updated = innovation_update(self.R, self.S, design, targets)
        R, S, rest = householder_update(self.R, self.S, design, targets) if updated is None else updated
        return TriangularFactor(R, S, self.leftover_products + rest, self.rows + len(design))

    def merge(self, other: TriangularFactor) -> TriangularFactor:
        """Return the factor of both sets of rows together, by one QR of two triangles on top of each other."""
        p, q = self.S.shape
        left, rows = self.leftover_products + other.leftover_products, self.rows + other.rows
        if p == 0:
            return TriangularFactor(self.R, self.S, left, rows)
        upper, lower = np.array(self.R, order="F"), np.array(other.R, order="F")
        R, V, block, _ = lapack.dtpqrt(p, min(_PANEL_COLUMNS, p), upper, lower, overwrite_a=1, overwrite_b=1)
        if q == 0:
            return TriangularFactor(*positive_diagonal(R, self.S), left, rows)
        over, under = np.array(self.S, order="F"), np.array(other.S, order="F")
        S, rest, _ = lapack.dtpmqrt(p, V, block, over, under, trans="T", overwrite_a=1, overwrite_b=1)
        return TriangularFactor(*positive_diagonal(R, S), left + products(rest), rows)

    def discount(self, forgetting: float) -> TriangularFactor:
        """Return the factor with every row's weight multiplied by `forgetting`."""
        root = np.sqrt(forgetting)
        left = forgetting * self.leftover_products
        return TriangularFactor(root * self.R, root * self.S, left, forgetting * self.rows)

    def only(self, targets: ArrayLike) -> TriangularFactor:
        """Return the factor of some of the targets, or of all in another order."""
        chosen = np.asarray(targets, dtype=np.intp)
        return TriangularFactor(self.R, self.S[:, chosen], self.leftover_products[np.ix_(chosen, chosen)], self.rows)

    def select(self, regressors: ArrayLike, targets: ArrayLike) -> TriangularFactor:
        """Return the factor of the same rows with only some regressors and targets, without the data."""
        chosen = self.only(targets)
        R = self.R[:, np.asarray(regressors, dtype=np.intp)]
        with one_blas_thread():  # one small QR, over before several threads have found each other
            smaller = TriangularFactor.empty(R.shape[1], chosen.S.shape[1]).absorb(R, chosen.S)
        left = smaller.leftover_products + chosen.leftover_products
        return TriangularFactor(smaller.R, smaller.S, left, self.rows)


def refuse_too_large(factor: TriangularFactor, names: Sequence[str]) -> None:
    """Check that no regressor or target, named in this order, overflowed or would in later stages.

    A single name stands for all of them.
    """
    targets = (np.abs(factor.S) < MAX_NORM).all(axis=0) & (np.sqrt(factor.leftover) < MAX_NORM)
    large = ~np.concatenate([(np.abs(factor.R) < MAX_NORM).all(axis=0), targets])
    if large.any():
        every = names if len(names) == large.size else tuple(names) * large.size
        listed = ", ".join(dict.fromkeys([every[i] for i in np.flatnonzero(large)[:3]]))
        raise KoopsieveError(
            f"The squares of {listed} are too large to be added up in 64-bit floats. Scale the data, or look for "
            "samples that are far too large."
        )


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
    Y = np.array(rows, order="F")
    known = np.empty(
        (len(Y), min(_SOLVED_COLUMNS, len(R))), order="F"
    )  # once: fresh memory costs as much as the product
    for start in range(0, len(R), _SOLVED_COLUMNS):
        block = slice(start, start + _SOLVED_COLUMNS)
        width = len(R[block])
        Y[:, block] -= np.matmul(Y[:, :start], R[:start, block], out=known[:, :width])
        blas.dtrsm(1.0, R[block, block], Y[:, block], side=1, overwrite_b=1)  # whole columns: done in place
    return Y


@dataclass(frozen=True)
class DesignDiagnostics:
    """Numerical rank and condition number of the design with every column scaled to unit length.

    Scaling first makes both independent of the units of the observables. A column of zeros stays zero and counts as
    missing rank.

    Parameters
    ----------
    columns : int
        Number of regressors, L + l.
    rank : int
        Singular values above max(rows, columns)·ε times the largest: number of regressors that the data determine.
    condition_number : float
        Largest over smallest singular value; inf when a column is zero or an exact combination of others.
    """

    columns: int
    rank: int
    condition_number: float


def design_diagnostics(statistics: RegressionStatistics) -> DesignDiagnostics:
    """Return rank and condition number of the column-scaled design, from its triangular factor alone."""
    R = statistics.R
    length = np.linalg.norm(R, axis=0)
    singular: FloatArray = np.linalg.svd(R / np.where(length > 0, length, 1.0), compute_uv=False).astype(float)
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
