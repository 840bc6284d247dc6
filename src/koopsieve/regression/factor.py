"""The triangular factor of a regression: all that least squares and the Bayesian methods need to know of the data.

For a design Φ (rows × p) and targets T (rows × q) with Φ = QR, the factor holds R, S = QᵀT, the cross products of what
Q leaves over, and the number of rows. It is a monoid: `absorb` adds rows, `merge` joins two factors,
`empty` is the neutral element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from koopsieve._types import BoolArray, FloatArray, KoopsieveError
from koopsieve.execution import one_blas_thread
from koopsieve.regression.update import householder_update, innovation_update, positive_diagonal, products

MAX_NORM = 1e150  # of a regressor or target over all rows: later stages square what is left of it
DEPENDENT = 1e-8  # norm outside the regressors before it, relative to its own: less is rounding
_PANEL_COLUMNS = 32  # columns per panel of the blocked QR
_FIRST_ROWS_PER_REGRESSOR = 4  # rows of the first QR, enough that those after it can be matrix products


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
    def empty(cls, regressors: int, targets: int) -> TriangularFactor:
        """Return the factor of no rows at all."""
        shape = (regressors, targets)
        return cls(np.zeros((regressors, regressors)), np.zeros(shape), np.zeros((targets, targets)), 0)

    def absorb(self, design: ArrayLike, targets: ArrayLike) -> TriangularFactor:
        """Return the factor after the given rows: by matrix products where that is safe, by Householder QR elsewhere.

        Both are as accurate as one QR of all rows (see `koopsieve.regression.update`); neither argument is written to.
        """
        design, targets = np.asarray(design, dtype=float), np.asarray(targets, dtype=float)
        if len(self.R) == 0 or len(design) == 0:
            left = self.leftover_products + products(targets)
            return TriangularFactor(self.R, self.S, left, self.rows + len(targets))
        first = _FIRST_ROWS_PER_REGRESSOR * len(self.R)
        if self.rows == 0 and len(design) > first:
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
