"""Terms that zero is far from, such as a temperature in kelvin: taken about their means where least squares is solved.

Such a term is nearly a multiple of the constant, and damping and weak priors, which are relative to the norm of a
column, would hold back what the term does beside it. Comes in: the one-step regression. Goes out: a change of
coordinates, in which each of these terms is taken about its mean and the constant makes up for it (D95).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.regression import TriangularFactor

FAR = 100.0  # deviations between zero and the mean of a term
_ROUNDING = 1e-10  # deviation, relative to the mean, below which a term is a constant but for rounding


@dataclass(frozen=True, eq=False)
class FarTerms:
    """Means of the terms that are far from zero.

    Parameters
    ----------
    constant : int
        Place of the constant among all terms.
    mean : array, shape (p,)
        Zero for terms that are not far from it.
    """

    constant: int
    mean: FloatArray

    @classmethod
    def of(cls, one_step: TriangularFactor, constant: int | None) -> FarTerms | None:
        """Return those of a regression; none where there is no constant, or no term is far from zero."""
        if constant is None:
            return None
        ones = one_step.R[:, constant]
        mean = ones @ one_step.R / (ones @ ones)
        deviation = np.linalg.norm(one_step.R - np.outer(ones, mean), axis=0) / np.linalg.norm(ones)
        far = (deviation > _ROUNDING * np.abs(mean)) & (np.abs(mean) > FAR * deviation)
        far[constant] = False
        return cls(constant, np.where(far, mean, 0.0)) if far.any() else None

    def about(self, one_step: TriangularFactor) -> TriangularFactor:
        """Return the regression on the terms about their means."""
        moved = one_step.R - np.outer(one_step.R[:, self.constant], self.mean)
        p, q = one_step.S.shape
        found = TriangularFactor.empty(p, q).absorb(moved, one_step.S)
        left = found.leftover_products + one_step.leftover_products
        return TriangularFactor(found.R, found.S, left, one_step.rows)

    def turn(self, free: BoolArray) -> FloatArray | None:
        """Return T, shape (P, P): free coefficients are T times those of terms about their means; none if T is 1."""
        place = np.full(free.shape, -1)
        place[free] = np.arange(free.sum())
        terms, sums = np.nonzero(free & free[self.constant] & (self.mean != 0)[:, None])
        if not len(terms):
            return None
        turn = np.eye(int(free.sum()))
        turn[place[self.constant, sums], place[terms, sums]] = -self.mean[terms]
        return turn


def back(turn: FloatArray) -> FloatArray:
    """Return the inverse of T: only the constant takes part in it, so that (T − 1)² is zero."""
    inverse: FloatArray = 2 * np.eye(len(turn)) - turn
    return inverse
