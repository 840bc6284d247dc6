"""Levenberg–Marquardt on a triangular factor: a configuration, a pure step, one loop.

Comes in: a problem that gives its loss and its Gauss–Newton regression at any θ. Goes out: a
`LeastSquaresFit`. Columns are scaled by their norms inside, so units do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.regression import TriangularFactor

_LEAST_DAMPING, _MOST_DAMPING = 1e-6, 1e9


class LeastSquaresProblem(Protocol):
    """A sum of squares with a Gauss–Newton model."""

    def loss(self, theta: FloatArray) -> float:
        """Return the mean squared error at θ."""
        ...

    def factor(self, theta: FloatArray) -> TriangularFactor:
        """Return the factor of J against r + Jθ at θ."""
        ...


class FitStatus(Enum):
    """How a fit ended."""

    SETTLED = "Settled."
    MAX_ITERATIONS = "The loss still fell after the last iteration; raise iterations."
    STUCK = "No step lowered the loss: a minimum, or a point where the loss is not smooth."


@dataclass(frozen=True, eq=False)
class State:
    """One iterate.

    Parameters
    ----------
    theta : array, shape (P,)
    loss : float
        At θ.
    damping : float
        Of the next trial step.
    """

    theta: FloatArray
    loss: float
    damping: float


@dataclass(frozen=True, eq=False)
class LeastSquaresFit:
    """Where Levenberg–Marquardt ended.

    Parameters
    ----------
    theta : array, shape (P,)
    loss : float
    trace : tuple of float
        The loss at the start and after every accepted step; it never rises.
    status : FitStatus
    """

    theta: FloatArray
    loss: float
    trace: tuple[float, ...]
    status: FitStatus


@dataclass(frozen=True)
class LevenbergMarquardt:
    """Damped Gauss–Newton steps.

    Parameters
    ----------
    iterations : int
        Accepted steps at most.
    tolerance : float
        Relative fall of the loss in one step below which the fit has settled.
    damping : float
        Of the first step, relative to the squared norm of each column.
    tries : int
        Trial steps per iteration; each multiplies the damping by ten.
    stiffness : float
        Share of the largest column's norm that is added to the norm of every column where it is damped. Zero where
        coefficients have units of their own; one where they have a common unit, so that a coefficient that the data
        hardly see does not run away (D86).
    """

    iterations: int = 20
    tolerance: float = 1e-4
    damping: float = 1e-4
    tries: int = 10
    stiffness: float = 0.0

    def fit(self, problem: LeastSquaresProblem, theta: FloatArray) -> LeastSquaresFit:
        """Minimise the loss from θ."""
        state = State(theta, _finite(problem.loss(theta)), self.damping)
        trace = [state.loss]
        for _ in range(self.iterations):
            following = self.step(problem, state)
            if following is None:
                return LeastSquaresFit(state.theta, state.loss, tuple(trace), FitStatus.STUCK)
            fall, state = state.loss - following.loss, following
            trace.append(state.loss)
            if fall <= self.tolerance * state.loss:
                return LeastSquaresFit(state.theta, state.loss, tuple(trace), FitStatus.SETTLED)
        return LeastSquaresFit(state.theta, state.loss, tuple(trace), FitStatus.MAX_ITERATIONS)

    def step(self, problem: LeastSquaresProblem, state: State) -> State | None:
        """Return the next iterate, or None where no damping lowers the loss."""
        curve = Curve.of(problem.factor(state.theta), state.theta, self.stiffness)
        damping = state.damping
        for _ in range(self.tries):
            theta = state.theta + curve.step(damping)
            loss = _finite(problem.loss(theta))
            if loss < state.loss:
                return State(theta, loss, max(damping / 10, _LEAST_DAMPING))
            if damping >= _MOST_DAMPING:
                break
            damping *= 10
        return None


@dataclass(frozen=True, eq=False)
class Curve:
    """The steps −(RᵀR + λD²)⁻¹·gradient for all λ at once, D the column norms of R, through one SVD of R·D⁻¹."""

    scale: FloatArray
    turn: FloatArray
    spread: FloatArray
    towards: FloatArray

    @classmethod
    def of(cls, factor: TriangularFactor, theta: FloatArray, stiffness: float = 0.0) -> Curve:
        """Return the steps from θ."""
        scale = damping_scale(factor, stiffness)
        left, spread, turn = np.linalg.svd(factor.R / scale, full_matrices=False)
        gap = factor.S[:, 0] - factor.R @ theta
        return cls(scale, turn.T, spread, left.T @ gap)

    def step(self, damping: float) -> FloatArray:
        """Return the step at one damping."""
        filtered = self.towards * self.spread / (self.spread**2 + damping)
        step: FloatArray = (self.turn @ filtered) / self.scale
        return step


def damping_scale(factor: TriangularFactor, stiffness: float) -> FloatArray:
    """Return the norms of the columns, the largest of them added in parts, shape (P,); one where that is zero."""
    norm = np.linalg.norm(factor.R, axis=0)
    scale = np.hypot(norm, stiffness * norm.max(initial=0.0))
    return np.where(scale > 0, scale, 1.0)


def _finite(loss: float) -> float:
    return loss if np.isfinite(loss) else np.inf
