"""Fitting a hidden model: quasi-Newton steps in the coordinates of a Gauss–Newton factor.

A triangular factor of the Jacobian costs as much as dozens of gradients by adjoints, and changes slowly. So it is
computed once per round, from some of the windows, and L-BFGS goes on in coordinates in which it is the identity (D85).
Along changes of basis of the state the factor is singular; damping keeps the coordinates finite there (D86).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from koopsieve._types import BoolArray, FloatArray
from koopsieve.forms.hidden.problem import HiddenProblem
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.levenberg_marquardt import damping_scale

_CORRECTIONS = 50  # pairs that L-BFGS remembers
_OVERFLOW = 1e3  # logarithm of the loss where a simulation is not finite


@dataclass(frozen=True, eq=False)
class HiddenFit:
    """Where a fit ended.

    Parameters
    ----------
    coef : array, shape (n + outputs, m)
    loss : float
        Geometric mean over outputs of the mean squared error, in units of the outputs' variances.
    trace : tuple of float
        The loss at the start and after every round; it never rises.
    settled : bool
        False if the loss still fell by more than the tolerance in the last round.
    """

    coef: FloatArray
    loss: float
    trace: tuple[float, ...]
    settled: bool


@dataclass(frozen=True)
class QuasiNewton:
    """L-BFGS in the coordinates of a Gauss–Newton factor that is computed anew in every round.

    Parameters
    ----------
    rounds, iterations : int
        Factors, and steps of L-BFGS with each, at most.
    damping : float
        Of the first factor, relative to the squared norm of each column; a third of it in every later round.
    least_damping : float
        Where that ends.
    rows : int
        Of a factor, per coefficient.
    tolerance : float
        Relative fall of the root of the loss in one round below which the fit has settled.
    """

    rounds: int = 8
    iterations: int = 40
    damping: float = 1e-2
    least_damping: float = 1e-4
    rows: int = 10
    tolerance: float = 0.01

    def later(self, done: int) -> QuasiNewton:
        """Return the rounds that are left after some."""
        damping = max(self.damping / 3**done, self.least_damping)
        return replace(self, rounds=max(self.rounds - done, 0), damping=damping)

    def fit(self, problem: HiddenProblem, coef: FloatArray, free: BoolArray, until: float = np.inf) -> HiddenFit:
        """Minimise the loss over the free coefficients; the others stay as they are.

        No round begins after `until`, in seconds of `time.monotonic`.
        """
        used = np.flatnonzero((free | (coef != 0)).any(axis=0))
        small, moving, found = problem.select(used), free[:, used], coef[:, used].copy()
        damping, trace, settled = self.damping, [_geometric(small, found)], False
        for _ in range(self.rounds):
            if settled or time.monotonic() > until:
                break
            found = self.round(small.in_units_left(found), found, moving, damping)
            trace.append(_geometric(small, found))
            settled = trace[-1] > (1 - self.tolerance) ** 2 * trace[-2]
            damping = max(damping / 3, self.least_damping)
        whole = coef.copy()
        whole[:, used] = found
        return HiddenFit(whole, trace[-1], tuple(trace), settled)

    def round(self, problem: HiddenProblem, coef: FloatArray, free: BoolArray, damping: float) -> FloatArray:
        """Return the coefficients after one factor and its steps."""
        factor = problem.factor(coef, free, self.rows * int(free.sum()))
        coordinates = Coordinates.of(factor, problem.loss(coef), damping)
        theta = coef[free]

        def placed(z: FloatArray) -> FloatArray:
            trial = coef.copy()
            trial[free] = theta + coordinates.step(z)
            return trial

        def objective(z: FloatArray) -> tuple[float, FloatArray]:
            loss, slope = problem.gradient(placed(z))
            if not (np.isfinite(loss) and np.isfinite(slope).all()):
                return _OVERFLOW, np.zeros_like(z)
            return float(np.log(loss)), coordinates.pulled(slope[free]) / loss

        options = {"maxiter": self.iterations, "maxfun": 2 * self.iterations, "maxcor": _CORRECTIONS, "ftol": 1e-10}
        end = minimize(objective, np.zeros_like(theta), jac=True, method="L-BFGS-B", options=options)
        return placed(end.x)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """z with θ = θ₀ + D⁻¹U⁻¹z, UᵀU the damped Gauss–Newton Hessian of the logarithm of the loss (D85)."""

    scale: FloatArray
    triangle: FloatArray

    @classmethod
    def of(cls, factor: TriangularFactor, loss: float, damping: float) -> Coordinates:
        """Return the coordinates at a point where the mean squared error is `loss`."""
        scale = damping_scale(np.linalg.norm(factor.R, axis=0), 0.0)
        stacked = np.vstack([factor.R / scale, np.sqrt(damping) * np.eye(len(scale))])
        unit = np.sqrt(2 / (max(factor.rows, 1.0) * loss))
        return cls(scale, unit * np.linalg.qr(stacked, mode="r"))

    def step(self, z: FloatArray) -> FloatArray:
        """Return how far z moves the coefficients."""
        moved: FloatArray = solve_triangular(self.triangle, z) / self.scale
        return moved

    def pulled(self, slope: FloatArray) -> FloatArray:
        """Return derivatives by z from those by the coefficients."""
        pulled: FloatArray = solve_triangular(self.triangle, slope / self.scale, trans="T")
        return pulled


def _geometric(problem: HiddenProblem, coef: FloatArray) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(problem.squared_errors(coef), 1e-300)))))
