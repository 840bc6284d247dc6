"""Method I: least squares through the pseudo-inverse, as extended dynamic mode decomposition uses it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, real_number
from koopsieve.identify.estimate import Estimate, require_statistics
from koopsieve.identify.linalg.standardise import StandardProblem, standardise
from koopsieve.regression import RegressionStatistics


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
