"""Method II: sequentially thresholded least squares (Brunton, Proctor and Kutz, 2016), from statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray, KoopsieveError, check_fields
from koopsieve.identify.estimate import Estimate, require_statistics, statuses
from koopsieve.identify.linalg.standardise import StandardProblem, standardise
from koopsieve.identify.settle import settle
from koopsieve.regression import RegressionStatistics

MAX_PENALTY = 1e100  # of a weight in standard units; LAPACK does not return from what is infinite


@dataclass(frozen=True, eq=False)
class Selection:
    """State of the iteration: weights in standard units, and which regressors are still in."""

    w: FloatArray
    kept: BoolArray


@dataclass(frozen=True)
class STLSQ:
    """Fit by least squares, drop the small coefficients, and repeat until no more are dropped.

    Parameters
    ----------
    threshold : float
        Coefficients smaller than this in absolute value are dropped. Raising it gives sparser models.
    relative : bool
        If true, a coefficient is measured by what it moves: |coef|·rms(regressor) / rms(target), target by target, so
        that the choice does not depend on units. If false (the usual STLSQ), the coefficient itself is measured.
    ridge : float
        Squared-norm penalty on the coefficients while selecting, in the data's own units; the kept ones are refitted
        without it. Raising it makes the selection less sensitive to noise among regressors that are nearly copies.
    max_sweeps : int
        Threshold-and-refit sweeps at most.
    """

    threshold: float = 0.05
    relative: bool = False
    ridge: float = 0.0
    max_sweeps: int = 20

    def __post_init__(self) -> None:
        check_fields(self, numbers=("threshold", "ridge"), wholes=("max_sweeps",), flags=("relative",))
        if not (self.threshold >= 0 and self.ridge >= 0):
            raise KoopsieveError(
                f"threshold and ridge must not be negative. Got threshold={self.threshold}, ridge={self.ridge}."
            )

    def identify(self, statistics: RegressionStatistics) -> Estimate:
        """Infer the Koopman matrix of every target; inclusion is 1 for regressors that stayed and 0 for the others."""
        require_statistics(statistics)
        problem = standardise(statistics)
        targets = problem.S.shape[1]
        result = settle(
            start=self.init(problem),
            step=lambda state, open_: self.step(problem.take(open_), state),
            converged=lambda before, after: np.all(before.kept == after.kept, axis=0),
            targets=targets,
            max_sweeps=self.max_sweeps,
        )
        w = result.state.w if self.ridge == 0 else _solve(problem, result.state.kept, 0.0)
        coef = problem.original_coef(w)
        return Estimate.of(
            statistics,
            coef,
            inclusion=result.state.kept.astype(float),
            status=statuses(result.settled),
            sweeps=result.sweeps,
        )

    def init(self, problem: StandardProblem) -> Selection:
        """Return the least-squares weights with everything in."""
        kept = np.ones(problem.S.shape, dtype=bool)
        return Selection(_solve(problem, kept, self.ridge), kept)

    def step(self, problem: StandardProblem, state: Selection) -> Selection:
        """Drop what is below the threshold and refit the rest."""
        size = np.abs(state.w if self.relative else problem.original_coef(state.w))
        kept = state.kept & (size >= self.threshold)
        changed = np.flatnonzero(np.any(kept != state.kept, axis=0))
        w = state.w.copy()
        w[:, changed] = _solve(problem.take(changed), kept[:, changed], self.ridge)
        return Selection(w, kept)


def _solve(problem: StandardProblem, kept: BoolArray, ridge: float) -> FloatArray:
    """Return each target's least-squares weights on its own kept regressors; equal selections are solved together."""
    w = np.zeros(problem.S.shape)
    patterns, which = np.unique(kept, axis=1, return_inverse=True)
    for number in range(patterns.shape[1]):
        rows = np.flatnonzero(patterns[:, number])
        if rows.size:
            columns = np.flatnonzero(which.ravel() == number)
            w[np.ix_(rows, columns)] = _solve_one(problem, rows, columns, ridge)
    return w


def _solve_one(problem: StandardProblem, rows: IndexArray, columns: IndexArray, ridge: float) -> FloatArray:
    design, targets = problem.R[:, rows], problem.S[:, columns]
    if ridge > 0:
        with np.errstate(over="ignore"):  # an infinite penalty is as good as a very large one
            penalty = np.minimum(np.sqrt(ridge) / problem.column_scale[rows], MAX_PENALTY)
        design = np.vstack([design, np.diag(penalty)])
        targets = np.vstack([targets, np.zeros((rows.size, columns.size))])
    cutoff = np.finfo(float).eps * max(problem.rows, len(problem.R))
    return np.asarray(np.linalg.lstsq(design, targets, rcond=cutoff)[0], dtype=float)
