"""Standard units: every column of the design and every target brought to unit mean square before inference (D1).

Comes in: regression statistics in the data's own units. Goes out: the same problem with ‖φ_i‖² = ‖t_j‖² = rows, and the
way back (D2). Priors and thresholds then mean the same for metres and for millimetres.

Arrays over regressors and targets lie in memory target by target (Fortran order), as they are worked on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from koopsieve._types import BoolArray, FloatArray, IndexArray, magnitude, or_one
from koopsieve.regression import RegressionStatistics, TriangularFactor

NOISE_FLOOR = 1e-12  # relative root mean square below which a residual is rounding, not noise
SMALLEST_FLOAT = 5e-324  # the smallest number above zero
MAX_DENSE_WEIGHTS = 1 << 13  # up to this number, searching for zeros costs more than multiplying them


@dataclass(frozen=True, eq=False)
class StandardProblem:
    """A regression in standard units."""

    # R, S, leftover, rows: as in `TriangularFactor`, after scaling
    R: FloatArray
    S: FloatArray
    leftover: FloatArray
    rows: float
    # (p,): root mean square of each regressor in the data's units; 1 for a regressor that is zero throughout
    column_scale: FloatArray
    target_scale: FloatArray  # (q,): the same for the targets

    @cached_property
    def gram(self) -> FloatArray:
        """G = ΦᵀΦ; its diagonal is the paper's ‖φ_i‖²."""
        gram: FloatArray = self.R.T @ self.R
        return gram

    @cached_property
    def padded_gram(self) -> FloatArray:
        """G with a row and a column of zeros after the last."""
        return np.pad(self.gram, (0, 1))

    @cached_property
    def _transposed(self) -> FloatArray:
        """Rᵀ, row by row in memory."""
        return np.ascontiguousarray(self.R.T)

    @cached_property
    def energy(self) -> FloatArray:
        """‖φ_i‖² of each regressor: the row count, or zero."""
        energy: FloatArray = np.einsum("ij,ij->j", self.R, self.R)
        return energy

    @cached_property
    def target_energy(self) -> FloatArray:
        """‖t_j‖² of each target: the row count, or zero."""
        energy: FloatArray = np.einsum("ij,ij->j", self.S, self.S) + self.leftover
        return energy

    @cached_property
    def projected(self) -> FloatArray:
        """ΦᵀT."""
        projected: FloatArray = (self.S.T @ self.R).T
        return projected

    @property
    def zero_target(self) -> BoolArray:
        """True for targets that are zero throughout."""
        zero: BoolArray = self.target_energy == 0
        return zero

    @property
    def floor(self) -> float:
        """The squared error that rounding alone may leave."""
        return NOISE_FLOOR**2 * self.rows

    def exact(self, squared_error: FloatArray) -> BoolArray:
        """Return which targets are reproduced but for rounding."""
        return squared_error <= 4 * self.floor

    def gap(self, w: FloatArray) -> FloatArray:
        """Return S − Rw: the part of the residual that the design can still see."""
        return self.S - _product(w, self._transposed)

    def correlation(self, w: FloatArray) -> FloatArray:
        """Return Φᵀ(T − Φw)."""
        return self.projected - _product(w, self.gram)  # symmetric, so its own transpose

    def squared_residual(self, w: FloatArray) -> FloatArray:
        """Return ‖t − Φw‖² per target, through R and never through the Gram matrix: (D3)."""
        gap = self.gap(w)
        squared: FloatArray = np.einsum("ij,ij->j", gap, gap) + self.leftover
        return squared

    def take(self, targets: IndexArray) -> StandardProblem:
        """Return the same problem with only some targets."""
        if len(targets) == self.S.shape[1] and (targets == np.arange(len(targets))).all():
            return self
        smaller = StandardProblem(
            self.R, self.S[:, targets], self.leftover[targets], self.rows, self.column_scale, self.target_scale[targets]
        )
        for shared in ("gram", "padded_gram", "energy", "_transposed"):
            if shared in self.__dict__:
                smaller.__dict__[shared] = self.__dict__[shared]
        if "projected" in self.__dict__:
            smaller.__dict__["projected"] = self.projected[:, targets]
        return smaller

    def original_coef(self, w: FloatArray) -> FloatArray:
        """Map weights from standard units back to the data's own: (D2)."""
        with np.errstate(over="ignore", invalid="ignore"):  # what leaves the range of floats, the estimate says
            coef: FloatArray = w * (self.target_scale / self.column_scale[:, None])
        return coef

    def original_variance(self, variance: FloatArray) -> FloatArray:
        """Map variances of weights back to the data's own units."""
        with np.errstate(over="ignore", invalid="ignore"):
            original: FloatArray = np.square(self.original_coef(np.sqrt(np.maximum(variance, 0.0))))
        return original

    def original_precision(self, precision: FloatArray) -> FloatArray:
        """Map noise precisions back to the data's own units; inf where that is not in the range of floats."""
        with np.errstate(over="ignore", divide="ignore"):
            original: FloatArray = precision / self.target_scale / self.target_scale
        return original


def standardise(statistics: RegressionStatistics | TriangularFactor) -> StandardProblem:
    """Bring a regression to standard units."""
    rows = float(statistics.rows)
    # First by powers of two, which round nothing: 1e-310 has few digits, and squares of 1e-200 would vanish.
    unit, target_unit = magnitude(statistics.R), magnitude(np.vstack([statistics.S, np.sqrt(statistics.leftover)]))
    R, S, left = statistics.R / unit, statistics.S / target_unit, np.sqrt(statistics.leftover) / target_unit
    column_scale = _root_mean_square(np.linalg.norm(R, axis=0), rows)
    target_scale = _root_mean_square(np.hypot(np.linalg.norm(S, axis=0), left), rows)
    return StandardProblem(
        R=R / column_scale,
        S=np.divide(S, target_scale, order="F"),
        leftover=(left / target_scale) ** 2,
        rows=rows,
        column_scale=np.maximum(unit * column_scale, SMALLEST_FLOAT),
        target_scale=np.maximum(target_unit * target_scale, SMALLEST_FLOAT),
    )


def _product(w: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return (wᵀ·matrix)ᵀ; a w that is mostly zeros is multiplied as such."""
    flat = w.T.ravel()
    if w.size < MAX_DENSE_WEIGHTS or len(places := np.flatnonzero(flat != 0)) > 0.1 * w.size:
        return np.asarray((w.T @ matrix).T, dtype=float)
    target, regressor = np.divmod(places, len(w))
    begins = np.searchsorted(target, np.arange(w.shape[1] + 1))
    sparse = csr_array((flat[places], regressor, begins), shape=w.T.shape)  # faster than from w itself
    return np.asarray((sparse @ matrix).T, dtype=float)


def _root_mean_square(norm: FloatArray, rows: float) -> FloatArray:
    return or_one(norm / np.sqrt(max(rows, 1.0)))
