"""Levenberg–Marquardt on normal equations: a configuration, a pure step, one loop.

Comes in: a problem that gives its loss and its Gauss–Newton regression at any θ. Goes out: a
`LeastSquaresFit`. Columns are scaled by their norms inside, so units do not matter.

Here, and only here, the products of the Jacobian's columns are all that is kept of it. Every step is damped by at least
1e-6 of each column's squared norm, so what is solved has a condition number of at most 1e6 times the number of columns,
and products cost a third of an orthogonal factor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol

import numpy as np

from koopsieve._types import FloatArray, or_one
from koopsieve.regression import TriangularFactor

_LEAST_DAMPING, _MOST_DAMPING = 1e-6, 1e9
_LEAST_POLISHED = 1e-4  # damping where steps are polished: its coordinates hold further than a step does


class LeastSquaresProblem(Protocol):
    """A sum of squares with a Gauss–Newton model."""

    def loss(self, theta: FloatArray) -> float:
        """Return the mean squared error at θ."""
        ...

    def normal(self, theta: FloatArray) -> NormalEquations:
        """Return the products of the Jacobian at θ."""
        ...


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """JᵀJ, shape (P, P), and Jᵀr, shape (P,), with J = ∂(prediction)/∂θ and r what is left of the measurement."""

    products: FloatArray
    score: FloatArray

    @classmethod
    def of(cls, factor: TriangularFactor, theta: FloatArray) -> NormalEquations:
        """Return those of a factor of J against r + Jθ."""
        return cls(factor.R.T @ factor.R, factor.R.T @ (factor.S[:, 0] - factor.R @ theta))


class FitStatus(Enum):
    """How a fit ended."""

    SETTLED = "Settled."
    MAX_ITERATIONS = "The loss still fell after the last iteration; raise iterations."
    STUCK = "No step lowered the loss: a minimum, or a point where the loss is not smooth."


@dataclass(frozen=True, eq=False)
class State:
    """One iterate."""

    theta: FloatArray  # (P,)
    loss: float  # at θ
    damping: float  # of the next trial step


@dataclass(frozen=True, eq=False)
class LeastSquaresFit:
    """Where Levenberg–Marquardt ended."""

    theta: FloatArray  # (P,)
    loss: float
    trace: tuple[float, ...]  # the loss at the start and after every accepted step; it never rises
    status: FitStatus


@dataclass(frozen=True)
class LevenbergMarquardt:
    """Damped Gauss–Newton steps."""

    iterations: int = 20  # accepted steps at most
    tolerance: float = 1e-4  # relative fall of the loss in one step below which the fit has settled
    damping: float = 1e-4  # of the first step, relative to the squared norm of each column
    tries: int = 10  # trial steps per iteration; each multiplies the damping by ten
    # share of the largest column's norm that is added to the norm of every column where it is damped. Zero where
    # coefficients have units of their own; one where they have a common unit, so that a coefficient that the data
    # hardly see does not run away (D86)
    stiffness: float = 0.0
    # called after every accepted step with the problem, the `State` and `Curve` where the step began, and
    # its end. It returns a θ with a lower loss; where the loss is not lower, the step itself is taken
    polish: Callable[[Any, State, Curve, FloatArray], FloatArray] | None = None

    def fit(
        self, problem: LeastSquaresProblem, theta: FloatArray, loss: float | None = None, until: float = np.inf
    ) -> LeastSquaresFit:
        """Minimise the loss from θ; give the loss there if it is known already.

        No iteration begins after `until`, in seconds of `time.perf_counter`.
        """
        state = State(theta, _finite(problem.loss(theta) if loss is None else loss), self.damping)
        trace = [state.loss]
        for _ in range(self.iterations):
            if time.perf_counter() > until:
                break
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
        curve = Curve.of(problem.normal(state.theta), self.stiffness)
        damping = max(state.damping, _LEAST_DAMPING)
        for _ in range(self.tries):
            theta = state.theta + curve.step(damping)
            loss = _finite(problem.loss(theta))
            if loss < state.loss:
                following = State(theta, loss, max(damping / 10, _LEAST_DAMPING))
                return following if self.polish is None else self._polished(problem, state, curve, following)
            if damping >= _MOST_DAMPING:
                break
            damping *= 10
        return None

    def _polished(self, problem: LeastSquaresProblem, state: State, curve: Curve, following: State) -> State:
        """Return the iterate after polishing, or where that gained nothing the step before."""
        theta = self.polish(problem, state, curve, following.theta) if self.polish else following.theta
        loss = _finite(problem.loss(theta))
        better = replace(following, theta=theta, loss=loss) if loss < following.loss else following
        return replace(better, damping=max(state.damping / 3, _LEAST_POLISHED))


@dataclass(frozen=True, eq=False)
class Curve:
    """The steps (JᵀJ + λD²)⁻¹Jᵀr for all λ at once, D the column norms of J, through the eigenvectors of D⁻¹JᵀJD⁻¹."""

    scale: FloatArray
    turn: FloatArray
    spread: FloatArray
    towards: FloatArray

    @classmethod
    def of(cls, normal: NormalEquations, stiffness: float = 0.0) -> Curve:
        """Return the steps of a regression."""
        if not np.isfinite(normal.products).all():  # a simulation overflowed: no direction is known
            normal = NormalEquations(np.zeros_like(normal.products), np.zeros_like(normal.score))
        scale = damping_scale(np.sqrt(np.diagonal(normal.products)), stiffness)
        scaled = normal.products / scale / scale[:, None]
        spread, turn = np.linalg.eigh(scaled)
        return cls(scale, turn, np.maximum(spread, 0.0), turn.T @ (normal.score / scale))

    def step(self, damping: float) -> FloatArray:
        """Return the step at one damping."""
        step: FloatArray = (self.turn @ (self.towards / (self.spread + damping))) / self.scale
        return step

    def directions(self, damping: float) -> FloatArray:
        """Return T, shape (P, P), for which TᵀHT is the identity, H = JᵀJ + λD² (D85)."""
        turned: FloatArray = self.turn / np.sqrt(self.spread + damping)
        return turned / self.scale[:, None]

    def length(self, step: FloatArray, damping: float) -> float:
        """Return the length of T⁻¹ step."""
        return float(np.linalg.norm(np.sqrt(self.spread + damping) * (self.turn.T @ (self.scale * step))))


def damping_scale(norm: FloatArray, stiffness: float) -> FloatArray:
    """Return the norms of the columns, the largest of them added in parts, shape (P,); one where that is zero."""
    return or_one(np.hypot(norm, stiffness * norm.max(initial=0.0)))


def _finite(loss: float) -> float:
    return loss if np.isfinite(loss) else np.inf
