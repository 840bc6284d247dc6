"""The multi-step fit as a least-squares problem: simulated windows against measured ones.

Comes in: a model's structure, windows, and which coefficients are free. Goes out: the loss of any coefficients, and the
Gauss–Newton regression at them as a `TriangularFactor` (D51), folded chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.simulate import Reprojected
from koopsieve.sieve.simulation.windows import Windows

_CHUNK = 1 << 21  # entries of the Jacobian held at once


@dataclass(frozen=True, eq=False)
class WindowFit:
    """The squared error of simulated windows, as a function of the free coefficients.

    Parameters
    ----------
    model : Reprojected
        The structure.
    windows : Windows
        What was measured.
    scale : array, shape (T, n)
        Unit of each output's error after each step.
    free : array of bool, shape (p, n)
        The coefficients that may differ from zero; θ lists them in the order of `coef[free]`.
    """

    model: Reprojected
    windows: Windows
    scale: FloatArray
    free: BoolArray

    def coef(self, theta: FloatArray) -> FloatArray:
        """Return the coefficient matrix (p, n) of the free coefficients (P,)."""
        coef = np.zeros(self.free.shape)
        coef[self.free] = theta
        return coef

    def errors(self, theta: FloatArray) -> FloatArray:
        """Return measured less simulated outputs in their own units, shape (W, T, n)."""
        return self.windows.outputs - self.model.simulate(self.coef(theta), self.windows.starts, self.windows.inputs)

    def loss(self, theta: FloatArray) -> float:
        """Return the mean squared error over windows, steps and outputs, in the units of `scale`."""
        return float(np.mean((self.errors(theta) / self.scale) ** 2))

    def factor(self, theta: FloatArray) -> TriangularFactor:
        """Return the factor of J against r + Jθ (D51): one row per window, step and output."""
        coef, P = self.coef(theta), len(theta)
        factor = TriangularFactor.empty(P, 1)
        for part in self._chunks(P):
            simulated, slopes = self.model.sensitivities(coef, self.free, part.starts, part.inputs)
            J = (slopes / self.scale[:, :, None]).reshape(-1, P)
            residual = ((part.outputs - simulated) / self.scale).ravel()
            factor = factor.absorb(J, (residual + J @ theta)[:, None])
        return factor

    def _chunks(self, P: int) -> Iterator[Windows]:
        most = max(_CHUNK // max(self.scale.size * P, 1), 1)
        for first in range(0, self.windows.count, most):
            yield self.windows.take(slice(first, first + most))
