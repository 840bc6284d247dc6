"""The triangular factor of a regression: all that least squares and the Bayesian methods need to know of the data.

For a design Φ (rows × p) and targets T (rows × q) with Φ = QR, the factor holds R, S = QᵀT, the squared norm per
target of what Q leaves over, and the number of rows. It is a monoid: `absorb` adds rows, `merge` joins two factors,
`empty` is the neutral element.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from koopsieve._types import FloatArray

_BLOCK = 64  # columns per panel of the blocked QR


@dataclass(frozen=True, eq=False)
class TriangularFactor:
    """R, S, leftover squared norms and row count of a regression problem.

    Parameters
    ----------
    R : array, shape (p, p)
        Upper triangular factor of the design.
    S : array, shape (p, q)
        The targets seen through Q: QᵀT.
    leftover : array, shape (q,)
        Squared norm of T − QS, column by column.
    rows : float
        Number of rows behind the factor; not a whole number once old rows were discounted.
    """

    R: FloatArray
    S: FloatArray
    leftover: FloatArray
    rows: float

    @classmethod
    def empty(cls, regressors: int, targets: int) -> TriangularFactor:
        """Return the factor of no rows at all."""
        shape = (regressors, targets)
        return cls(np.zeros((regressors, regressors)), np.zeros(shape), np.zeros(targets), 0)

    def absorb(self, design: ArrayLike, targets: ArrayLike) -> TriangularFactor:
        """Return the factor after the given rows, by one blocked QR of R on top of the new rows."""
        design = np.array(design, dtype=float, order="F")  # LAPACK works in place on these copies
        targets = np.array(targets, dtype=float, order="F")
        return self._stack(design, targets, triangular=False, leftover=0.0, rows=len(design))

    def merge(self, other: TriangularFactor) -> TriangularFactor:
        """Return the factor of both sets of rows together."""
        R, S = np.array(other.R, order="F"), np.array(other.S, order="F")
        return self._stack(R, S, triangular=True, leftover=other.leftover, rows=other.rows)

    def discount(self, forgetting: float) -> TriangularFactor:
        """Return the factor with every row's weight multiplied by `forgetting`."""
        root = np.sqrt(forgetting)
        return TriangularFactor(root * self.R, root * self.S, forgetting * self.leftover, forgetting * self.rows)

    def select(self, regressors: ArrayLike, targets: ArrayLike) -> TriangularFactor:
        """Return the factor of the same rows with only some regressors and targets, without the data."""
        R, S = self.R[:, np.asarray(regressors, dtype=np.intp)], self.S[:, np.asarray(targets, dtype=np.intp)]
        smaller = TriangularFactor.empty(R.shape[1], S.shape[1]).absorb(R, S)
        leftover = smaller.leftover + self.leftover[np.asarray(targets, dtype=np.intp)]
        return TriangularFactor(smaller.R, smaller.S, leftover, self.rows)

    def _stack(
        self, R: FloatArray, S: FloatArray, *, triangular: bool, leftover: FloatArray | float, rows: float
    ) -> TriangularFactor:
        p, q = self.S.shape
        if p == 0 or len(R) == 0:
            total = self.leftover + leftover + np.einsum("ij,ij->j", S, S)
            return TriangularFactor(self.R, self.S, total, self.rows + rows)
        upper = np.array(self.R, order="F")
        R_new, V, block, _ = lapack.dtpqrt(
            p if triangular else 0, min(_BLOCK, p), upper, R, overwrite_a=1, overwrite_b=1
        )
        signs = np.where(np.diagonal(R_new) < 0, -1.0, 1.0)[:, None]  # one R per data set, whatever the order of chunks
        if q == 0:
            return TriangularFactor(signs * np.triu(R_new), self.S, self.leftover, self.rows + rows)
        S_new, rest, _ = lapack.dtpmqrt(
            p if triangular else 0, V, block, np.array(self.S, order="F"), S, trans="T", overwrite_a=1, overwrite_b=1
        )
        total = self.leftover + leftover + np.einsum("ij,ij->j", rest, rest)
        return TriangularFactor(signs * np.triu(R_new), signs * S_new, total, self.rows + rows)
