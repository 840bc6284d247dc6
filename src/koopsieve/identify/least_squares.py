"""Methods I and II: least squares, as extended dynamic mode decomposition uses it, also thresholded; and a refit.

The refit is beyond the paper. Least squares one step ahead fits all observables equally well. Here A and B are moved
from there so that the outputs predicted by the model fit best at all horizons. In come statistics with horizons, out
comes an `Estimate`; no data are touched. See (D40) to (D48) in docs/derivation.md.

Sequentially thresholded least squares is that of Brunton, Proctor and Kutz (2016), from statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from koopsieve._types import (
    FINITE,
    NOT_NEGATIVE,
    BoolArray,
    FloatArray,
    IndexArray,
    KoopsieveError,
    Range,
    check_fields,
    real_number,
)
from koopsieve.execution import one_blas_thread
from koopsieve.identify.estimate import Estimate, Status, require_statistics, statuses
from koopsieve.identify.horizon_loss import HorizonLoss, whitening
from koopsieve.identify.settle import settle
from koopsieve.identify.stacks import clip_eigenvalues
from koopsieve.identify.standardise import StandardProblem, standardise
from koopsieve.regression import HorizonStatistics, RegressionStatistics, required_multistep


@dataclass(frozen=True)
class LeastSquares:
    """Least squares by the singular value decomposition of the column-scaled triangular factor.

    Parameters
    ----------
    relative_cutoff : float, optional
        Singular values below this fraction of the largest count as zero. By default machine epsilon times the larger of
        rows and regressors, as `numpy.linalg.lstsq` does. Raising it gives smaller coefficients and larger residuals.

    Examples
    --------
    >>> import numpy as np
    >>> from koopsieve.regression import RegressionStatistics, TriangularFactor
    >>> x = np.random.default_rng(0).normal(size=(50, 2))
    >>> factor = TriangularFactor.empty(2, 2).absorb(x, x @ [[0.9, 0.0], [0.1, 0.8]])
    >>> LeastSquares().identify(RegressionStatistics(factor, ("x1", "x2"))).coef.round(12)
    array([[0.9, 0. ],
           [0.1, 0.8]])
    """

    relative_cutoff: float | None = None

    def __post_init__(self) -> None:
        if self.relative_cutoff is not None:
            real_number("relative_cutoff", self.relative_cutoff, Range(0, 1, open_high=True))

    def identify(self, statistics: RegressionStatistics) -> Estimate:
        """Infer the Koopman matrix of every target; every regressor counts as included."""
        require_statistics(statistics)
        problem = standardise(statistics)
        coef = problem.original_coef(pseudo_solve(problem, self.relative_cutoff))
        return Estimate.of(statistics, coef)


def pseudo_solve(problem: StandardProblem, relative_cutoff: float | None = None) -> FloatArray:
    """Return the least-norm minimiser of ‖t − Φw‖² for every target, in standard units."""
    if not len(problem.R):
        return np.zeros(problem.S.shape)
    U, singular, Vt = np.linalg.svd(problem.R)
    if relative_cutoff is None:
        relative_cutoff = np.finfo(float).eps * max(problem.rows, len(singular))
    kept = singular > relative_cutoff * singular[0]
    solution: FloatArray = Vt[kept].T @ ((U[:, kept].T @ problem.S) / singular[kept, None])
    return solution


STORED_STEPS = 10  # past steps from which the quasi-Newton method learns the curvature
STOPPED_AT_LIMIT = 1  # how scipy's L-BFGS-B says that it ran out of iterations


@dataclass(frozen=True)
class HorizonLeastSquares:
    """Least squares over several horizons of the model's own predictions, tied to one-step least squares.

    Minimises, by a quasi-Newton method from the one-step solution,
    mean over targets of (squared error − least) / least + tie·mean over observables of the one-step misfit added,
    where `least` is the squared error of the direct regression at that horizon, which no model can go below.
    Observables are whitened inside, so units do not matter. All targets are fitted together.

    Parameters
    ----------
    tie : float
        Weight of the one-step fit of all observables. Raising it stays closer to `LeastSquares`.
    emphasis : float
        Targets at horizon h weigh in proportion to h to this power.
    max_sweeps : int
        Quasi-Newton iterations at most. Stopping early only means to stay closer to the one-step solution.
    tolerance : float
        Fall of the loss in one step below which it has settled, as a share of the least squared error.
    """

    tie: float = 10.0
    emphasis: float = 0.5
    max_sweeps: int = 100
    tolerance: float = 2e-9

    def __post_init__(self) -> None:
        ranges = {"tie": NOT_NEGATIVE, "emphasis": FINITE, "tolerance": Range(0)}
        check_fields(self, wholes=("max_sweeps",), ranges=ranges)

    def identify(self, statistics: RegressionStatistics) -> Estimate:
        """Infer the Koopman matrix; every regressor counts as included.

        Raises
        ------
        KoopsieveError
            If the statistics hold no horizons, or the outputs are not among the observables.
        """
        require_statistics(statistics)
        multistep = required_multistep(statistics)
        outputs = _output_columns(statistics, multistep)
        frame = whitening(statistics)
        one_step = frame.inward(LeastSquares().identify(statistics).coef)
        loss = HorizonLoss.of(multistep, frame, outputs, one_step, self.tie, self.emphasis)
        options = {"maxiter": self.max_sweeps, "maxcor": STORED_STEPS, "ftol": self.tolerance}
        with np.errstate(all="ignore"), one_blas_thread():
            end = minimize(loss, _bounded(one_step).ravel(), jac=True, method="L-BFGS-B", options=options)
        coef = frame.outward(end.x.reshape(one_step.shape))
        return Estimate.of(statistics, coef, status=(_status(end),) * coef.shape[1], sweeps=max(end.nit, 1))


def _bounded(white: FloatArray) -> FloatArray:
    """Return the start with eigenvalues outside the unit circle moved onto it: long horizons must not overflow."""
    rank = white.shape[1]
    return np.vstack([clip_eigenvalues(white[:rank], 1.0), white[rank:]])


def _status(end: Any) -> Status:
    """Return what the optimiser says of its ending."""
    if end.success:
        return Status.SETTLED
    return Status.MAX_SWEEPS if end.status == STOPPED_AT_LIMIT else Status.STALLED


def _output_columns(statistics: RegressionStatistics, multistep: HorizonStatistics) -> IndexArray:
    if len(statistics.outputs) < len(multistep.outputs):
        raise KoopsieveError(
            f"Of the outputs {list(multistep.outputs)} not all are among the observables, so the model could not "
            "predict them. Add a States() block, and keep the outputs when reducing."
        )
    return np.array(statistics.outputs, dtype=np.intp)


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
        ranges = {"threshold": Range(0), "ridge": Range(0)}
        check_fields(self, wholes=("max_sweeps",), flags=("relative",), ranges=ranges)

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
