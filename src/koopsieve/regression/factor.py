"""The triangular factor of a regression: all that least squares and the Bayesian methods need to know of the data.

For a design Φ (rows × p) and targets T (rows × q) with Φ = QR, the factor holds R, S = QᵀT, the cross products of what
Q leaves over, and the number of rows. It is a monoid: `absorb` adds rows, `merge` joins two factors,
`empty` is the neutral element.

New rows are put under a factor in one of two ways, both as accurate as one QR of all rows.

`householder_update` is the QR of [R; Φ]. `PendingRows` writes the new rows as Φ = YR and works on [I; Y] instead. Its
Gram matrix I + YᵀY loses nothing as long as Y is of moderate size, that is, as long as the new rows hold little that
the old ones did not: then everything is matrix products, which run at the full speed of every core and need half the
time. Y is the only place where R is inverted, row by row and backward stably, so the condition number of the design is
never squared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas, lapack

from koopsieve._types import BoolArray, FloatArray, KoopsieveError
from koopsieve.execution import one_blas_thread
from koopsieve.regression.qr import expected_leverage, householder_update, positive_diagonal, products, solve_right

MAX_NORM = 1e150  # of a regressor or target over all rows: later stages square what is left of it
MIN_PEAK = 1e-140  # largest value of a column below which the squares of its digits vanish
DEPENDENT = 1e-8  # norm outside the regressors before it, relative to its own: less is rounding
_PANEL_COLUMNS = 32  # columns per panel of the blocked QR
_FIRST_ROWS_PER_REGRESSOR = 4  # rows of the first QR, enough that those after it can be matrix products
_BLOCK_ROWS = 2048  # rows at a time, so that what is worked on stays in the cache
# The leverage ‖Y‖² of all new rows together, up to which products are used. Rounding changes what is known of any
# direction, however weak, by at most ε·leverage of itself: 1e-11 here, where Householder promises ε of the largest.
_MAX_LEVERAGE = 5e4
_MIN_UNEXPLAINED = 1e-5  # of a target's squares: more is subtracted in the end, with ε over this of rounding


@dataclass(frozen=True, eq=False)
class TriangularFactor:
    """R, S, cross products of what is left over, and row count of a regression problem."""

    # (p, p): upper triangular factor of the design, its diagonal not negative: one R per data set, whatever the chunks
    R: FloatArray
    S: FloatArray  # (p, q): the targets seen through Q: QᵀT
    # (q, q): (T − QS)ᵀ(T − QS): cross products of the parts of the targets that no combination of regressors reaches
    leftover_products: FloatArray
    rows: float  # number of rows behind the factor; not a whole number once old rows were discounted

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
    def prior(cls, size: FloatArray) -> TriangularFactor:
        """Return the factor of one target and weighted rows that say of each regressor that it is zero; not counted."""
        return cls(np.diag(size), np.zeros((len(size), 1)), np.zeros((1, 1)), 0)

    @classmethod
    def empty(cls, regressors: int, targets: int) -> TriangularFactor:
        """Return the factor of no rows at all."""
        shape = (regressors, targets)
        return cls(np.zeros((regressors, regressors)), np.zeros(shape), np.zeros((targets, targets)), 0)

    def absorb(self, design: ArrayLike, targets: ArrayLike) -> TriangularFactor:
        """Return the factor after the given rows: by matrix products where that is safe, by Householder QR elsewhere.

        Both ways are as accurate as one QR of all rows; neither argument is written to.
        """
        return PendingRows.under(self).absorb(design, targets).folded()

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


def refuse_vanishing(peaks: FloatArray, names: Sequence[str]) -> None:
    """Check that no column is so small that its squares vanish; `peaks` are the largest absolute values."""
    small = [name for name, peak in zip(names, peaks, strict=True) if 0 < peak < MIN_PEAK]
    if small:
        raise KoopsieveError(
            f"The values of {', '.join(small[:3])} are too near to zero: their squares vanish in 64-bit floats. Change "
            "the units, for example from metres to micrometres."
        )


@dataclass(frozen=True, eq=False)
class PendingRows:
    """A factor R, S and rows to be put under it, so far known by their products in coordinates in which R is I.

    With Y = ΦR⁻¹, UᵀU = I + YᵀY and the innovation E = T − YS (the new targets less what the old rows predict):
    R ← UR, S ← US + U⁻ᵀYᵀE, and EᵀE − (U⁻ᵀYᵀE)ᵀ(U⁻ᵀYᵀE) is left over, without cancellation because E is already small.
    Only products are kept, so that any number of rows costs one U, as long as all of them together stay below
    `_MAX_LEVERAGE`.

    Targets of which the old rows leave a good part unexplained need no E while rows come: T itself stands for it until
    the end, a third of the work less, and rounding changes what is left over by ε over that part.
    """

    factor: TriangularFactor  # of the rows before
    predicted: BoolArray  # (q,): targets whose E is formed row by row
    # square, cross, power (p, p), (p, q) and (q, q): yᵀY, YᵀE and EᵀE, with T for E where it is not `predicted`
    square: FloatArray
    cross: FloatArray
    power: FloatArray
    rows: int = 0  # how many are pending
    # whether every target is a regressor of the next row, the first ones in order: then TᵀT is ΦᵀΦ but for the ends of
    # what is absorbed, and follows from YᵀY in the end. Not where some targets are `predicted`
    following: bool = False

    @classmethod
    def under(cls, factor: TriangularFactor, following: bool = False) -> PendingRows:
        """Return no rows under a factor."""
        p, q = factor.S.shape
        factor = replace(factor, R=np.asfortranarray(factor.R))  # as BLAS takes it
        energy = np.einsum("ij,ij->j", factor.S, factor.S) + factor.leftover
        predicted = ~(factor.leftover >= _MIN_UNEXPLAINED * energy) | (energy == 0)
        nothing = np.zeros((p, p)), np.zeros((p, q)), np.zeros((q, q))
        return cls(factor, predicted, *nothing, following=following)

    def absorb(self, design: ArrayLike, targets: ArrayLike) -> PendingRows:
        """Return the same with more rows: by matrix products where that is safe, by Householder QR elsewhere."""
        design, targets = np.asarray(design, dtype=float), np.asarray(targets, dtype=float)
        R, first = self.factor.R, _FIRST_ROWS_PER_REGRESSOR * len(self.factor.R)
        if len(design) == 0:
            return self
        if len(R) == 0:
            return replace(self, power=self.power + products(targets), rows=self.rows + len(targets))
        if len(design) > first and not R.any():
            return self.absorb(design[:first], targets[:first]).absorb(design[first:], targets[first:])
        if not np.diagonal(R).all() or not self._bears(expected_leverage(R, design)):
            return self._anew(design, targets)
        pending = self
        for start in range(0, len(design), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            more = pending._with_block(design[block], targets[block])
            if more is None:
                return pending._with_ends(design[:start], targets[:start])._anew(design[start:], targets[start:])
            pending = more
        return pending._with_ends(design, targets)

    def _bears(self, leverage: float) -> bool:
        """Whether rows of this leverage may still be added; not if it is nan."""
        return bool(np.trace(self.square) + leverage <= _MAX_LEVERAGE)

    def _anew(self, design: FloatArray, targets: FloatArray) -> PendingRows:
        """Absorb rows that are too many for this factor: under the next one, or by Householder if this is it."""
        if self.rows:
            return PendingRows.under(self.folded(), self.following).absorb(design, targets)
        old = self.factor
        R, S, rest = householder_update(old.R, old.S, design, targets)
        new = TriangularFactor(R, S, old.leftover_products + rest, old.rows + len(design))
        return PendingRows.under(new, self.following)

    def _with_block(self, design: FloatArray, targets: FloatArray) -> PendingRows | None:
        with np.errstate(all="ignore"):  # an almost singular R overflows here; the test below then says no
            Y = solve_right(self.factor.R, design)
            square = Y.T @ Y
        if not self._bears(np.trace(square)):
            return None
        E = self._innovation(Y, targets)
        cross, power = Y.T @ E, self.power if self._known_by_square else self.power + products(E)
        square += self.square
        cross += self.cross
        return replace(self, square=square, cross=cross, power=power, rows=self.rows + len(design))

    def _with_ends(self, design: FloatArray, targets: FloatArray) -> PendingRows:
        """Return the same with the ends of what was absorbed: TᵀT − ΦᵀΦ, where it is not known from YᵀY."""
        if not self._known_by_square:
            return self
        power = products(targets[-1:]) - products(design[:1, : targets.shape[1]])
        return replace(self, power=self.power + power)

    @property
    def _known_by_square(self) -> bool:
        """Whether TᵀT is known from YᵀY, but for the ends."""
        return self.following and not self.predicted.any()

    def _innovation(self, Y: FloatArray, targets: FloatArray) -> FloatArray:
        """Return E where it is `predicted`, T elsewhere."""
        if not self.predicted.any():
            return targets
        E = np.array(targets, order="F")
        E[:, self.predicted] -= Y @ self.factor.S[:, self.predicted]
        return E

    def folded(self) -> TriangularFactor:
        """Return the factor of all rows."""
        if not self.rows:
            return self.factor
        R, S, rows = self.factor.R, self.factor.S, self.factor.rows + self.rows
        if len(R) == 0:
            return TriangularFactor(R, S, self.factor.leftover_products + self.power, rows)
        later = np.where(self.predicted, 0.0, S)  # what is still to be subtracted: E = T − Y·later
        cross = self.cross - self.square @ later
        subtracted = later.T @ (0.5 * (self.cross + cross))
        left = self.power - subtracted - subtracted.T
        if self._known_by_square:
            first = R[: len(left), : len(left)]
            left += first.T @ self.square[: len(left), : len(left)] @ first
        U = np.linalg.cholesky(self.square + np.eye(len(R))).T
        gain = blas.dtrsm(1.0, U, cross, trans_a=1)
        left -= products(gain)
        np.fill_diagonal(left, np.maximum(np.diagonal(left), 0.0))  # rounding must not make a square negative
        left += self.factor.leftover_products
        return TriangularFactor(np.triu(blas.dtrmm(1.0, U, R)), gain + blas.dtrmm(1.0, U, S), left, rows)
