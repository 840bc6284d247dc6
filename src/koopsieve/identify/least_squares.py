"""Method I: least squares as extended dynamic mode decomposition uses it; and a refit for several horizons.

The refit is beyond the paper. Least squares one step ahead fits all observables equally well. Here A and B are moved
from there so that the outputs predicted by the model fit best at all horizons. In come statistics with horizons, out
comes an `Estimate`; no data are touched. See (D40) to (D48) in docs/derivation.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from koopsieve._types import FloatArray, IndexArray, KoopsieveError, check_fields, real_number
from koopsieve.execution import one_blas_thread
from koopsieve.identify.estimate import Estimate, Status, require_statistics
from koopsieve.identify.horizon_loss import HorizonLoss, whitening
from koopsieve.identify.linalg.stacks import clip_eigenvalues
from koopsieve.identify.linalg.standardise import StandardProblem, standardise
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
        if self.relative_cutoff is not None and not 0 <= real_number("relative_cutoff", self.relative_cutoff) < 1:
            raise KoopsieveError(f"relative_cutoff must lie in [0, 1). Got {self.relative_cutoff}.")

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
        check_fields(self, numbers=("tie", "emphasis", "tolerance"), wholes=("max_sweeps",))
        if not self.tolerance >= 0:
            raise KoopsieveError(f"tolerance must not be negative. Got {self.tolerance}.")
        if not (self.tie >= 0 and np.isfinite(self.tie) and np.isfinite(self.emphasis) and self.max_sweeps >= 0):
            raise KoopsieveError(
                "tie and max_sweeps must not be negative, and all must be finite. Got "
                f"tie={self.tie}, emphasis={self.emphasis}, max_sweeps={self.max_sweeps}."
            )

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
