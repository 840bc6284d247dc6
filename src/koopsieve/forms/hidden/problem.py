"""The multi-step fit of a hidden model as a least-squares problem: simulated windows against measured ones.

Comes in: a structure, and windows that start from encoded delay lines. Goes out: the loss of any coefficients, its
gradient by adjoints, and the Gauss–Newton regression as a `TriangularFactor`, folded chunk by chunk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.forms.hidden.structure import Aim, HiddenStructure
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.levenberg_marquardt import NormalEquations

_CHUNK = 1 << 22  # entries of the Jacobian held at once
_FLOOR = 1e-14  # squared error relative to the output's variance below which differences are rounding


@dataclass(frozen=True, eq=False)
class HiddenProblem:
    """Windows to learn from, and the structure that is fitted to them; all signals are standardised.

    Parameters
    ----------
    structure : HiddenStructure
        With all candidate terms.
    starts : array, shape (W, n)
        Hidden states at the starts.
    inputs : array, shape (W, T, l)
        The inputs that act.
    aim : Aim
        The measured outputs (W, T, outputs), their units, and the burn-in.
    """

    structure: HiddenStructure
    starts: FloatArray
    inputs: FloatArray
    aim: Aim

    @property
    def rows(self) -> int:
        """Number of errors that count."""
        W, T, outputs = self.aim.outputs.shape
        return int(W * (T - self.aim.burn) * outputs)

    def select(self, terms: IndexArray) -> HiddenProblem:
        """Return the problem with only some of the terms."""
        return replace(self, structure=self.structure.select(terms))

    def take(self, windows: IndexArray | slice) -> HiddenProblem:
        """Return the problem of some of the windows."""
        return replace(self, starts=self.starts[windows], inputs=self.inputs[windows], aim=self.aim.take(windows))

    def squared_errors(self, coef: FloatArray) -> FloatArray:
        """Return the mean squared error of every output after the burn-in, shape (outputs,); inf where it overflows."""
        simulated = self.structure.simulate(coef, self.starts, self.inputs)
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.mean((simulated - self.aim.outputs)[:, self.aim.burn :] ** 2, axis=(0, 1))
        return np.where(np.isfinite(found), found, np.inf)

    def in_units_left(self, coef: FloatArray) -> HiddenProblem:
        """Return the problem with errors in units of those that `coef` leaves, so that all outputs weigh the same."""
        left = np.maximum(self.squared_errors(coef), _FLOOR)
        unit = np.sqrt(np.where(np.isfinite(left), left, 1.0))
        return replace(self, aim=replace(self.aim, unit=unit))

    def loss(self, coef: FloatArray) -> float:
        """Return the mean squared error in units of `aim.unit`."""
        return float(np.mean(self.squared_errors(coef) / self.aim.unit**2))

    def gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return the loss and its derivatives, shape of `coef`."""
        loss, slope = self.structure.gradient(coef, self.starts, self.inputs, self.aim)
        return loss / self.rows, slope / self.rows

    def factor(self, coef: FloatArray, free: BoolArray, rows: int | None = None) -> TriangularFactor:
        """Return the factor of J against r + Jθ, θ = coef[free] (D51), from about so many rows; left out, all.

        Fewer rows come from every second, third, … step of all windows: neighbours in a window are alike.
        """
        burn, (W, T, outputs) = self.aim.burn, self.aim.outputs.shape
        theta, P = coef[free], int(free.sum())
        stride = 1 if rows is None else max(self.rows // max(rows, 1), 1)
        counted = np.arange(burn + (T - 1 - burn) % stride, T, stride)
        factor, most = TriangularFactor.empty(P, 1), max(_CHUNK // max(len(counted) * outputs * P, 1), 1)
        for first in range(0, W, most):
            part = self.take(slice(first, first + most))
            simulated, slopes = self.structure.sensitivities(coef, free, part.starts, part.inputs, counted)
            J = (slopes / self.aim.unit[:, None]).reshape(-1, P)
            residual = ((part.aim.outputs[:, counted] - simulated) / self.aim.unit).ravel()
            factor = factor.absorb(J, (residual + J @ theta)[:, None])
        return factor


@dataclass(frozen=True, eq=False)
class FreeCoefficients:
    """A problem as a function of its free coefficients θ = coef[free], as `LevenbergMarquardt` takes it."""

    problem: HiddenProblem
    coef: FloatArray
    free: BoolArray
    rows: int | None = None

    def placed(self, theta: FloatArray) -> FloatArray:
        """Return all coefficients."""
        coef = self.coef.copy()
        coef[self.free] = theta
        return coef

    def loss(self, theta: FloatArray) -> float:
        """Return the mean squared error at θ."""
        return self.problem.loss(self.placed(theta))

    def normal(self, theta: FloatArray) -> NormalEquations:
        """Return the products of the Jacobian at θ."""
        return NormalEquations.of(self.problem.factor(self.placed(theta), self.free, self.rows), theta)
