"""The fit of a hidden model over many steps.

The loop is that of `LevenbergMarquardt`. A Gauss–Newton regression costs as much as dozens of gradients by adjoints,
and changes slowly. So after every step L-BFGS goes on in coordinates in which the regression is the identity (D85).
Along changes of basis of the state it is singular; damping keeps the coordinates finite there (D86).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from koopsieve._types import BoolArray, FloatArray
from koopsieve.forms.hidden.problem import HiddenProblem, in_state_units, state_deviations
from koopsieve.sieve.simulation.levenberg_marquardt import Curve, FitStatus, LevenbergMarquardt, NormalEquations, State

SHRINKAGE = 10.0  # see `FreeCoefficients`
_CORRECTIONS = 50  # pairs that L-BFGS remembers
_MOST_DRIFT = 10.0  # of a state's deviation from one that shrinkage follows: a state may come to rest
_FEW = 150  # coefficients up to which a regression costs no more than some gradients
_PLAIN_STEPS, _PLAIN_TOLERANCE = 10, 1e-5  # plain steps for one that is polished, and where they end
_OVERFLOW = 1e3  # logarithm of the loss where a simulation is not finite


@dataclass(frozen=True, eq=False)
class FreeCoefficients:
    """A problem as a function of its free coefficients θ = coef[free], as `LevenbergMarquardt` takes it.

    Parameters
    ----------
    problem : HiddenProblem
    coef : array, shape (n + outputs, m)
        Those that are not free stay as they are here.
    free : array of bool, shape (n + outputs, m)
    rows : int, optional
        Of the Gauss–Newton regression, about; left out, all.
    shrinkage : float
        What a squared coefficient of a product adds to the logarithm of the loss, states at unit variance as they are
        at `coef` (D92). Linear terms are free: the dynamics must move.
    """

    problem: HiddenProblem
    coef: FloatArray
    free: BoolArray
    rows: int | None = None
    shrinkage: float = 0.0

    @cached_property
    def shrunk(self) -> FloatArray:
        """What the square of every free coefficient adds, shape (P,): nothing where the term is linear."""
        if not self.shrinkage:
            return np.zeros(int(self.free.sum()))
        deviations = np.clip(state_deviations(self.problem, self.coef), 1 / _MOST_DRIFT, _MOST_DRIFT)
        unit = in_state_units(self.problem, deviations)
        products = self.problem.structure.terms.degrees > 1
        found: FloatArray = (self.shrinkage * np.where(products, unit, 0.0) ** 2)[self.free]
        return found

    def placed(self, theta: FloatArray) -> FloatArray:
        """Return all coefficients."""
        coef = self.coef.copy()
        coef[self.free] = theta
        return coef

    def loss(self, theta: FloatArray) -> float:
        """Return the geometric mean over outputs of the mean squared error at θ, times what shrinkage makes of it.

        So units of outputs do not matter.
        """
        logs = np.log(np.maximum(self.problem.squared_errors(self.placed(theta)), 1e-300))
        with np.errstate(over="ignore", invalid="ignore"):  # of a trial step that goes too far
            return float(np.exp(np.mean(logs) + self.shrunk @ theta**2))

    def normal(self, theta: FloatArray) -> NormalEquations:
        """Return the products of the Jacobian at θ, errors in units of those left there; the score is exact."""
        coef = self.placed(theta)
        problem = self.problem.in_units_left(coef)
        products, counted = problem.products(coef, self.free, self.rows)
        _, slope = problem.gradient(coef)
        return NormalEquations(products / counted + np.diag(self.shrunk), -0.5 * slope[self.free] - self.shrunk * theta)


@dataclass(frozen=True)
class QuasiNewton:
    """L-BFGS in coordinates in which a damped Gauss–Newton regression is the identity (D85).

    Parameters
    ----------
    iterations : int
        At most.
    patience, tolerance : int, float
        It ends where `patience` iterations together lowered the logarithm of the loss by less than the tolerance.
    """

    iterations: int = 40
    patience: int = 8
    tolerance: float = 2e-3

    def __call__(self, free: FreeCoefficients, state: State, curve: Curve, end: FloatArray) -> FloatArray:
        """Return θ with a lower logarithm of the loss; the first step tried is as long as one that lowered it."""
        begun, towards = state.theta, curve.directions(state.damping)
        problem = free.problem.in_units_left(free.placed(begun))

        def objective(z: FloatArray) -> tuple[float, FloatArray]:
            theta = begun + towards @ z
            loss, slope = problem.gradient(free.placed(theta))
            if not (np.isfinite(loss) and np.isfinite(slope).all()):
                return _OVERFLOW, np.zeros_like(z)
            gradient = slope[free.free] / loss + 2 * free.shrunk * theta
            return float(np.log(loss) + free.shrunk @ theta**2), towards.T @ gradient

        _, steepest = objective(np.zeros_like(begun))
        length, slope = curve.length(end - begun, state.damping), float(np.linalg.norm(steepest))
        if not (length > 0 and slope > 0):
            return begun

        def scaled(z: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = objective(length * z)
            return value / (length * slope), gradient / slope

        trace = [np.inf] * self.patience

        def check(intermediate_result: OptimizeResult) -> None:
            trace.append(length * slope * intermediate_result.fun)
            if trace[-1 - self.patience] - trace[-1] < self.tolerance:
                raise StopIteration

        most = {"maxiter": self.iterations, "maxfun": 2 * self.iterations, "maxcor": _CORRECTIONS}
        options = most | {"ftol": 0, "gtol": 0}  # a short first step is no reason to stop
        start = np.zeros_like(begun)
        lowest = minimize(scaled, start, jac=True, method="L-BFGS-B", options=options, callback=check)
        found: FloatArray = begun + towards @ (length * lowest.x)
        return found


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


def without_polish(method: LevenbergMarquardt, size: int) -> LevenbergMarquardt:
    """Return the method for a number of coefficients: few are fitted by plain steps, which come to an end (D85).

    What L-BFGS leaves where it stops depends on rounding, and the order in which terms are removed on what it leaves.
    """
    if size > _FEW or method.polish is None:
        return method
    return replace(method, polish=None, iterations=_PLAIN_STEPS * method.iterations, tolerance=_PLAIN_TOLERANCE)


def fitted(
    method: LevenbergMarquardt,
    problem: HiddenProblem,
    coef: FloatArray,
    free: BoolArray,
    rows: int,
    until: float = np.inf,
    shrinkage: float = SHRINKAGE,
) -> HiddenFit:
    """Minimise the loss over the free coefficients; the others stay as they are.

    Parameters
    ----------
    method : LevenbergMarquardt
    problem : HiddenProblem
    coef, free : array, shape (n + outputs, m)
    rows : int
        Of a Gauss–Newton regression, per coefficient.
    until : float
        No round begins after it, in seconds of `time.perf_counter`.
    shrinkage : float
        See `FreeCoefficients`.
    """
    used = np.flatnonzero((free | (coef != 0)).any(axis=0))
    moving = FreeCoefficients(problem.select(used), coef[:, used], free[:, used], rows * int(free.sum()), shrinkage)
    end = method.fit(moving, coef[free], until=until)
    whole = coef.copy()
    whole[:, used] = moving.placed(end.theta)
    return HiddenFit(whole, replace(moving, shrinkage=0.0).loss(end.theta), end.trace, end.status is FitStatus.SETTLED)
