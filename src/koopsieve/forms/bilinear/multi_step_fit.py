"""The multi-step fit of the bilinear (or linear) form, tied to one-step least squares.

Comes in: the one-step regression of the lifted state and windows. Goes out: K of φ⁺ = [φ, u, u₁φ, …]·K. The unknown is
the change from one-step least squares, in units in which it costs the one-step fit the same in every direction (D66):
so no units matter, nearly dependent observables do no harm, and stopping early means to stay close to that fit.

One step (D64): φ⁺ = Aφ + Bu + Σ_j u_j N_j φ, written row by row as φ⁺ = [φ, u, u₁φ, …, u_lφ]·K, the products with those
observables only that vary. The lifted state is propagated and never lifted anew. Without inputs this is the linear
form. The gradient of the loss takes one backward pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from koopsieve._types import NOT_NEGATIVE, BoolArray, FloatArray, IndexArray, check_fields, or_one
from koopsieve.execution import one_blas_thread
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.simulation_problem import FLOOR


@dataclass(frozen=True, eq=False)
class LiftedWindows:
    """Windows of a lifted model."""

    starts: FloatArray  # (W, L): the observables at the start of each window
    inputs: FloatArray  # (W, T, l): the input that acts in each step
    outputs: FloatArray  # (W, T, n): the outputs measured after each step
    varying: IndexArray  # (V,): the observables that are multiplied with the inputs

    def shortened(self, length: int) -> LiftedWindows:
        """Return the same windows, ended after `length` steps."""
        return replace(self, inputs=self.inputs[:, :length], outputs=self.outputs[:, :length])


def bilinear_design(lifted: FloatArray, inputs: FloatArray, varying: IndexArray) -> FloatArray:
    """Return [φ, u, u₁φ, …, u_lφ] of every row, shape (N, L + l + l·V)."""
    products = (inputs[:, :, None] * lifted[:, None, varying]).reshape(len(lifted), -1)
    return np.hstack([lifted, inputs, products])


def simulate_lifted(K: FloatArray, windows: LiftedWindows) -> FloatArray:
    """Return the lifted states at the start and after each step, shape (T + 1, W, L), (D64)."""
    steps = windows.inputs.shape[1]
    states = np.empty((steps + 1, *windows.starts.shape))
    states[0] = windows.starts
    for t in range(steps):
        states[t + 1] = bilinear_design(states[t], windows.inputs[:, t], windows.varying) @ K
    return states


def log_error_and_gradient(
    K: FloatArray, windows: LiftedWindows, columns: IndexArray, weight: FloatArray
) -> tuple[float, FloatArray]:
    """Return Σ weight·log(squared error) over steps and outputs, and its gradient by K (D52, D65).

    K has shape (L + l + l·V, L); `columns` (n,) are the observables that are the outputs; the weights (T, n) sum to
    one. The loss is inf where the simulation overflows.
    """
    states = simulate_lifted(K, windows)
    errors = states[1:, :, columns] - windows.outputs.transpose(1, 0, 2)  # (T, W, n)
    variance = or_one(np.var(windows.outputs, axis=(0, 1)))
    squared = np.mean(errors**2, axis=1) / variance
    if not np.isfinite(squared).all():
        return np.inf, np.zeros_like(K)
    held = np.maximum(squared, FLOOR)
    slopes = 2 * errors * (weight / held * (squared > FLOOR) / variance)[:, None]
    gradient = _adjoint(K, states, windows, columns, slopes / errors.shape[1])
    return float(np.sum(weight * np.log(held))), gradient


def _adjoint(
    K: FloatArray, states: FloatArray, windows: LiftedWindows, columns: IndexArray, slopes: FloatArray
) -> FloatArray:
    """Return the gradient by K, given that by the outputs after every step (T, W, n): the steps backwards (D65)."""
    W, T, inputs_count = windows.inputs.shape
    L, varying = states.shape[2], windows.varying
    gradient, carried = np.zeros_like(K), np.zeros((W, L))
    for t in range(T - 1, -1, -1):
        carried[:, columns] += slopes[t]
        gradient += bilinear_design(states[t], windows.inputs[:, t], varying).T @ carried
        back = carried @ K.T
        products = back[:, L + inputs_count :].reshape(W, inputs_count, len(varying))
        carried = back[:, :L]
        carried[:, varying] += np.einsum("wj,wji->wi", windows.inputs[:, t], products)
    return gradient


_SINGULAR = 1e-9  # directions of the design with less than this of the largest singular value are left as they are
_LEAST_UNIT = 1e-8  # root mean square left by the one-step fit, relative to the observable's own, at least


@dataclass(frozen=True, eq=False)
class LiftedFit:
    """A multi-step fit of a lifted model."""

    K: FloatArray  # (L + l + l·V, L)
    loss: float  # geometric mean over steps and outputs of the squared error relative to the output's variance
    start: float  # the same for one-step least squares; inf where its simulation overflows


@dataclass(frozen=True)
class MultiStepBilinear:
    """Lower the logarithm of the squared errors along windows, tied to the one-step fit."""

    # weight of the one-step misfit added, relative to what least squares leaves, mean over the observables
    tie: float = 0.03
    iterations: int = 60  # quasi-Newton iterations at most, for each length of windows; 0 is one-step least squares

    def __post_init__(self) -> None:
        check_fields(self, wholes=("iterations",), ranges={"tie": NOT_NEGATIVE})

    def fit(
        self, one_step: TriangularFactor, windows: LiftedWindows, columns: IndexArray, exact: BoolArray | None = None
    ) -> LiftedFit:
        """Fit K to windows of 2, 4, 8, … steps and at last to whole ones (D55).

        `one_step` is φ⁺ on [φ, u, u₁φ, …]; `columns` are the observables that are the outputs. The one-step regression
        of those in `exact` (delays, constants) stays as it is.
        """
        frame = _Frame.of(one_step, np.zeros(one_step.S.shape[1], dtype=bool) if exact is None else exact)
        change = np.zeros(frame.shape)
        with np.errstate(all="ignore"), one_blas_thread():
            start = _level(frame.K, windows, columns)
            if self.iterations == 0:  # the minimiser would make one step even so
                return LiftedFit(frame.K, start, start)
            for length in _growing(windows.outputs.shape[1]):
                part = windows.shortened(length)
                end = minimize(
                    self._loss,
                    change.ravel(),
                    (frame, part, columns),
                    "L-BFGS-B",
                    jac=True,
                    options={"maxiter": self.iterations, "maxcor": 10},
                )
                change = end.x.reshape(frame.shape)
            K = frame.coef(change)
            loss = _level(K, windows, columns)
        return LiftedFit(K, loss, start) if loss <= start else LiftedFit(frame.K, start, start)

    def _loss(
        self, flat: FloatArray, frame: _Frame, windows: LiftedWindows, columns: IndexArray
    ) -> tuple[float, FloatArray]:
        change = flat.reshape(frame.shape)
        loss, gradient = log_error_and_gradient(frame.coef(change), windows, columns, _even(windows))
        if not np.isfinite(loss):
            return 1e10 + float(flat @ flat), 2 * flat  # towards one-step least squares
        weight = self.tie / max(frame.shape[1], 1)
        return loss + weight * float(flat @ flat), (frame.inward(gradient) + 2 * weight * change).ravel()


@dataclass(frozen=True, eq=False)
class _Frame:
    """K = K₁ + Z·Δ·diag(unit): Δ in units in which ‖Δ‖² is the relative one-step misfit added (D66)."""

    K: FloatArray
    Z: FloatArray
    unit: FloatArray
    moving: IndexArray

    @classmethod
    def of(cls, one_step: TriangularFactor, exact: BoolArray) -> _Frame:
        rows = max(one_step.rows, 1.0)
        scale = or_one(np.linalg.norm(one_step.R, axis=0))
        left, spread, turn = np.linalg.svd(one_step.R / scale, full_matrices=False)
        kept = spread > _SINGULAR * spread[0]
        Z = turn[kept].T / spread[kept] / scale[:, None]
        K = Z @ (left[:, kept].T @ one_step.S)
        power = np.sqrt((np.sum(one_step.S**2, axis=0) + one_step.leftover) / rows)
        rest = np.sqrt((np.sum((one_step.S - one_step.R @ K) ** 2, axis=0) + one_step.leftover) / rows)
        moving = np.flatnonzero(~exact & (power > 0))
        unit = np.maximum(rest, _LEAST_UNIT * power)[moving]
        return cls(K, Z * np.sqrt(rows), unit, moving)

    @property
    def shape(self) -> tuple[int, int]:
        return self.Z.shape[1], len(self.moving)

    def coef(self, change: FloatArray) -> FloatArray:
        K = self.K.copy()
        K[:, self.moving] += self.Z @ (change * self.unit)
        return K

    def inward(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient by Δ, given that by K."""
        inward: FloatArray = (self.Z.T @ gradient[:, self.moving]) * self.unit
        return inward


def _growing(length: int) -> list[int]:
    return [*(2**i for i in range(1, 20) if 2**i < length), length]


def _even(windows: LiftedWindows) -> FloatArray:
    shape = windows.outputs.shape[1:]
    return np.full(shape, 1.0 / (shape[0] * shape[1]))


def _level(K: FloatArray, windows: LiftedWindows, columns: IndexArray) -> float:
    """Return the geometric mean of the squared errors."""
    return float(np.exp(log_error_and_gradient(K, windows, columns, _even(windows))[0]))
